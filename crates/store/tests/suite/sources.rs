//! Objects as sources: the bytes are those of the object, memory is bounded, and what a server does wrong is an
//! error that says so.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use crate::support::{http, s3, store_with};
use lanelock_packager::{
    Error,
    io::{ReadAt as _, Source},
};
use lanelock_store::{Location, Settings, Store};
use lanelock_testkit::{
    Rng, Watchdog,
    object_server::{Answer, ObjectServer},
    pattern,
};

/// What the source holds at most, with as many threads as the test has.
const MOST: u64 = (12 + 4) * (4 << 20);

/// Reads of all kinds, from several threads at once.
#[test]
fn reads_are_the_bytes_of_the_object() {
    let watchdog = Watchdog::new();
    let server = ObjectServer::new();
    let bytes = pattern(70 << 20);
    server.store("bucket/a b.mp4", bytes.clone());
    let store = store_with(&server, 2);
    for location in [http(&server, "bucket/a%20b.mp4"), s3("bucket/a b.mp4")] {
        watchdog.begins(location.to_string());
        let source = store.source(&location).unwrap();
        assert_eq!(source.len(), bytes.len() as u64);
        thread::scope(|scope| {
            for number in 0..4 {
                let (source, bytes) = (&source, &bytes);
                scope.spawn(move || read_at_random(source, bytes, number));
            }
        });
        assert!(source.peak() <= MOST, "{} bytes in memory", source.peak());
        assert_eq!(source.change().unwrap(), None);
        let beyond = source.read_exact_at(&mut [0; 2], bytes.len() as u64 - 1).unwrap_err();
        assert_eq!(beyond.kind(), io::ErrorKind::UnexpectedEof);
    }
}

fn read_at_random(source: &impl Source, bytes: &[u8], number: usize) {
    let mut rng = Rng::from_env(&format!("read_at_random {number}"));
    let len = bytes.len();
    // In order, as the first pass over a file.
    let (mut at, step) = (number * 1000, 700_000 + number);
    while at + step < len / 2 {
        let mut buf = vec![0; step];
        source.read_exact_at(&mut buf, at as u64).unwrap();
        assert!(buf == bytes[at..at + step], "{at}");
        at += step + rng.below(100_000);
    }
    for _ in 0..60 {
        let most = *rng.clone().pick(&[10, 5_000, 300_000, 9 << 20]);
        let size = rng.below(most);
        let at = rng.below(len - size);
        let mut buf = vec![0; size];
        source.read_exact_at(&mut buf, at as u64).unwrap();
        assert!(buf == bytes[at..at + size], "{at}, {size} bytes");
    }
    // Spans, close together and far apart.
    for gap in [0, 3_000, 90_000, 2_000_000] {
        let mut at = rng.below(1 << 20);
        let mut spans = Vec::new();
        let mut expected = Vec::new();
        while at + 40_000 < len && spans.len() < 25 {
            let size = rng.below(40_000);
            spans.push(at as u64..(at + size) as u64);
            expected.extend_from_slice(&bytes[at..at + size]);
            at += size + rng.below(gap + 1);
        }
        let mut buf = vec![0; expected.len()];
        source.read_spans(&spans, &mut buf).unwrap();
        assert!(buf == expected, "gaps of {gap}");
    }
}

/// Reading in order asks for each block once, and for whole blocks.
#[test]
fn reading_in_order_takes_few_requests() {
    let server = ObjectServer::new();
    let bytes = pattern(33 << 20);
    server.store("b/o", bytes.clone());
    let source = store_with(&server, 0).source(&http(&server, "b/o")).unwrap();
    let mut buf = vec![0; 512 << 10];
    for at in (0..bytes.len()).step_by(buf.len()) {
        source.read_exact_at(&mut buf, at as u64).unwrap();
        assert!(buf == bytes[at..at + buf.len()]);
    }
    // The first 64 KiB, the first read, and the blocks.
    let requests = server.requests();
    assert!(requests.len() <= 2 + 9, "{} requests", requests.len());
    assert!(requests.iter().all(|request| request.method == "GET" && request.range.is_some()));
}

/// A walk over small fragments does not take a request for each of them.
#[test]
fn walks_take_few_requests() {
    let server = ObjectServer::new();
    let bytes = pattern(40 << 20);
    server.store("b/o", bytes.clone());
    let source = store_with(&server, 0).source(&http(&server, "b/o")).unwrap();
    for at in (0..bytes.len() - 300).step_by(100_000) {
        let mut buf = [0; 256];
        source.read_exact_at(&mut buf, at as u64).unwrap();
        assert!(buf == bytes[at..at + 256]);
    }
    let requests = server.requests().len();
    assert!(requests <= 1 + 6 + 10, "{requests} requests");
}

/// What a server does, and what is said of it. Faults begin behind the first request, which opens.
#[test]
fn faults_of_servers_are_told() {
    let watchdog = Watchdog::new();
    let cases: [(Answer, &[&str]); 8] = [
        (Answer::Status(404), &["no such object"]),
        (Answer::Status(403), &["403", "credentials"]),
        (Answer::Status(401), &["401", "credentials"]),
        (Answer::Status(500), &["the server answers 500", "tried 2 times"]),
        (Answer::WithoutRange, &["ranges", "fetch the file first"]),
        (Answer::Close, &["tried 2 times"]),
        (Answer::Cut(1000), &["cut short"]),
        (Answer::Short(1000), &["cut short"]),
    ];
    for (answer, words) in cases {
        for opens in [false, true] {
            for is_s3 in [false, true] {
                let case = format!("{answer:?}, opens: {opens}, S3: {is_s3}");
                watchdog.begins(case.clone());
                let server = ObjectServer::new();
                server.store("bucket/o", pattern(3 << 20));
                let mut first = opens;
                server.answers(
                    move |_| {
                        if std::mem::take(&mut first) { Answer::Right } else { answer }
                    },
                );
                let store = store_with(&server, 1);
                let secret =
                    format!("http://me:hunter2@{}/bucket/o?sig=SECRET", &server.url()[7..]);
                let location =
                    if is_s3 { s3("bucket/o") } else { Location::parse(&secret).unwrap() };
                let result = store.source(&location).map_err(|error| {
                    assert!(matches!(error, Error::Read { .. }), "{case}: {error}");
                    error.to_string()
                });
                let error = match result {
                    Ok(source) => {
                        assert!(opens, "{case}: opened");
                        let read = source.read_exact_at(&mut vec![0; 200_000], 1 << 20);
                        format!("{}: {}", source.name(), read.expect_err(&case))
                    }
                    Err(error) => error,
                };
                assert!(error.contains("bucket/o"), "{case}: {error}");
                for word in words {
                    assert!(error.contains(word), "{case}: {error}");
                }
                for secret in ["hunter2", "SECRET", "testing"] {
                    assert!(!error.contains(secret), "{case}: {error}");
                }
            }
        }
    }
}

/// A server that fails now and then is asked again, also for the rest of a body.
#[test]
fn what_passes_is_tried_again() {
    let watchdog = Watchdog::new();
    for answer in [Answer::Status(503), Answer::Status(500), Answer::Close, Answer::Cut(70_000)] {
        for with_tag in [true, false] {
            watchdog.begins(format!("{answer:?}"));
            let server = ObjectServer::new();
            let bytes = pattern(2 << 20);
            server.store("b/o", bytes.clone());
            let mut count = 0;
            server.answers(move |_| {
                count += 1;
                if count % 3 == 0 { answer } else { Answer::Right }
            });
            if !with_tag {
                server.without_tags();
            }
            let source = store_with(&server, 3).source(&http(&server, "b/o")).unwrap();
            for at in (0..bytes.len() - 100_000).step_by(100_000) {
                let mut buf = vec![0; 100_000];
                let read = source.read_exact_at(&mut buf, at as u64);
                read.unwrap_or_else(|error| panic!("{answer:?} at {at}: {error}"));
                assert!(buf == bytes[at..at + 100_000]);
            }
        }
    }
}

/// An object that changes while it is read is an error for each read, and at the end.
#[test]
fn changes_are_seen() {
    let server = ObjectServer::new();
    let store = store_with(&server, 0);
    // Another version of the same length, and another length.
    for len in [6 << 20, 5 << 20] {
        server.store("b/o", pattern(6 << 20));
        let source = store.source(&http(&server, "b/o")).unwrap();
        source.read_exact_at(&mut [0; 100], 1 << 20).unwrap();
        assert_eq!(source.change().unwrap(), None);
        server.store("b/o", vec![7; len]);
        let error = source.read_exact_at(&mut vec![0; 200_000], 2 << 20).unwrap_err();
        assert!(error.to_string().contains("changed"), "{error}");
        assert!(source.change().unwrap().is_some());
    }
    // A server without ETags, and one that loses the object.
    server.without_tags();
    let source = store.source(&http(&server, "b/o")).unwrap();
    server.store("b/o", vec![7; 100]);
    let error = source.read_exact_at(&mut vec![0; 200_000], 2 << 20).unwrap_err();
    assert!(error.to_string().contains("changed"), "{error}");
    server.clear();
    assert!(source.change().unwrap().unwrap().contains("removed"));
}

/// The user of a URL is sent, and its query with each request; an empty object is one.
#[test]
fn credentials_of_urls_are_sent() {
    let server = ObjectServer::new();
    server.store("b/o", Vec::new());
    let url = format!("http://me:hunter2@{}/b/o?sig=SECRET", &server.url()[7..]);
    let source = store_with(&server, 0).source(&Location::parse(&url).unwrap()).unwrap();
    assert_eq!(source.len(), 0);
    assert_eq!(source.change().unwrap(), None);
    for request in server.requests() {
        assert_eq!(request.query, "sig=SECRET");
        // `me:hunter2` (RFC 7617).
        assert_eq!(request.authorization.as_deref(), Some("Basic bWU6aHVudGVyMg=="));
    }
}

/// Who waits for a server that does not answer can be told to stop.
#[test]
fn a_wait_can_be_cancelled() {
    let _watchdog = Watchdog::new();
    let server = ObjectServer::new();
    server.store("b/o", pattern(9 << 20));
    let cancel = Arc::new(AtomicBool::new(false));
    let store = Store::new(Settings::new().with_cancel(cancel.clone())).unwrap();
    let source = store.source(&http(&server, "b/o")).unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let seen = asked.clone();
    server.answers(move |_| {
        seen.fetch_add(1, Ordering::Relaxed);
        Answer::Late(Duration::from_secs(100))
    });
    thread::scope(|scope| {
        let read = scope.spawn(|| source.read_exact_at(&mut vec![0; 8 << 20], 1 << 19));
        while asked.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        cancel.store(true, Ordering::Relaxed);
        let error = read.join().unwrap().unwrap_err();
        assert!(error.to_string().contains("interrupted"), "{error}");
    });
}
