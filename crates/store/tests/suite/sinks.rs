//! Objects as sinks and folders: they appear whole or not at all, manifests last, and nothing is left of a run
//! that fails.

use std::{
    io::IoSlice,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use crate::support::{http, s3, store_with};
use lanelock_packager::{
    EncryptOptions, Error, Iv, KeyMap, Quiet, Scheme, encrypt,
    io::{Finish, Folder as _, MemoryFolder, MemorySink, MemorySource, Sink, Source},
    package::{Package, PackageOptions, Storage},
};
use lanelock_store::Location;
use lanelock_testkit::{
    Rng, Watchdog, demo_clip,
    object_server::{Answer, ObjectServer, Request},
    pattern,
};

/// Writes `bytes` in pieces, in any order and from two threads.
fn write(sink: &dyn Sink, bytes: &[u8], rng: &mut Rng) -> std::io::Result<()> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = bytes.len().min(at + 1 + rng.below(2 << 20));
        pieces.push(at..end);
        at = end;
    }
    // Workers are never far apart; the second piece comes last, like an index.
    for near in pieces.chunks_mut(5) {
        rng.shuffle(near);
    }
    if pieces.len() > 1 {
        let late = pieces.remove(1);
        pieces.push(late);
    }
    let (front, back) = pieces.split_at(pieces.len() / 2);
    thread::scope(|scope| {
        let run = |pieces: &[std::ops::Range<usize>]| {
            pieces.iter().try_for_each(|piece| {
                let middle = piece.start + (piece.end - piece.start) / 2;
                let parts = [&bytes[piece.start..middle], &bytes[middle..piece.end]];
                sink.write_all_at(&mut parts.map(IoSlice::new), piece.start as u64)
            })
        };
        let other = scope.spawn(move || run(front));
        run(back).and(other.join().unwrap())
    })
}

/// What `store_with` sets.
const PART: usize = 5 << 20;

#[test]
fn objects_are_what_was_written() {
    let watchdog = Watchdog::new();
    let server = ObjectServer::new();
    let store = store_with(&server, 1);
    let mut rng = Rng::from_env("objects_are_what_was_written");
    for len in [0, 1, 1000, PART - 1, PART, PART + 1, 2 * PART, 23 << 20] {
        let bytes = pattern(len);
        for location in [http(&server, "bucket/one"), s3("bucket/one")] {
            watchdog.begins(format!("{location}, {len} bytes"));
            server.store("bucket/one", b"what was there".to_vec());
            let sink = store.sink(&location).unwrap();
            write(&sink, &bytes, &mut rng).unwrap();
            assert_eq!(**server.object("bucket/one").unwrap(), *b"what was there");
            Box::new(sink).finish(Finish::new(len as u64, false)).unwrap();
            assert!(**server.object("bucket/one").unwrap() == bytes, "{location}, {len} bytes");
            assert_eq!(server.uploads(), 0);
        }
    }
    let largest = server.requests().iter().map(|request| request.len).max().unwrap();
    assert_eq!(largest, 23 << 20, "the one request of HTTP");
    let parts =
        server.requests().into_iter().filter(|request| request.query.contains("partNumber"));
    assert!(parts.map(|part| part.len).all(|len| len <= PART));
}

/// A sink that is dropped, or whose upload fails in any place, leaves what was there, and no upload.
#[test]
fn nothing_is_left_of_a_sink_that_fails() {
    let watchdog = Watchdog::new();
    let mut rng = Rng::from_env("nothing_is_left_of_a_sink_that_fails");
    let bytes = pattern(17 << 20);
    for status in [403, 500] {
        // Which request of this object fails: those of four parts, their beginning and their end, none.
        for bad in 0..=6 {
            watchdog.begins(format!("{status} for request {bad}"));
            let server = ObjectServer::new();
            server.store("bucket/o", b"old".to_vec());
            let store = store_with(&server, 0);
            let mut count = 0;
            server.answers(move |request| {
                let is_bad = count == bad && request.method != "DELETE";
                count += usize::from(request.method != "DELETE");
                if is_bad { Answer::Status(status) } else { Answer::Right }
            });
            let sink = store.sink(&s3("bucket/o")).unwrap();
            let result = write(&sink, &bytes, &mut rng)
                .and_then(|()| Box::new(sink).finish(Finish::new(bytes.len() as u64, false)));
            let expected = if bad < 6 { b"old" } else { &bytes[..] };
            assert_eq!(result.is_ok(), bad == 6, "{bad}: {result:?}");
            assert!(**server.object("bucket/o").unwrap() == *expected, "{bad}");
            assert_eq!(server.uploads(), 0, "{bad}");
            assert_eq!(store.take_complaints(), [""; 0]);
        }
    }
    let server = ObjectServer::new();
    let store = store_with(&server, 0);
    let sink = store.sink(&s3("bucket/o")).unwrap();
    write(&sink, &bytes[..13 << 20], &mut rng).unwrap();
    assert_eq!(server.uploads(), 1, "the test has no upload to abort");
    drop(sink);
    assert_eq!((server.uploads(), server.paths().len()), (0, 0));
    // Where it cannot be aborted, that is told.
    let sink = store.sink(&s3("bucket/o")).unwrap();
    write(&sink, &bytes[..13 << 20], &mut rng).unwrap();
    server.answers(|_| Answer::Status(403));
    drop(sink);
    let complaints = store.take_complaints();
    assert!(complaints.len() == 1 && complaints[0].contains("could not be aborted"));
}

fn options(storage: Storage) -> PackageOptions {
    let mut keys = KeyMap::new();
    keys.parse_insert("00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0").unwrap();
    let protection = EncryptOptions::new(Scheme::Cbcs, keys).with_iv(Iv::Given(vec![0x33; 16]));
    PackageOptions::new()
        .with_protection(Some(protection))
        .with_segment_duration(std::time::Duration::from_millis(500))
        .with_storage(storage)
}

fn package(storage: Storage) -> Package {
    let source = MemorySource::new("movie.mp4", std::fs::read(demo_clip()).unwrap());
    let sources: Vec<Arc<dyn Source>> = vec![Arc::new(source)];
    Package::new(sources, options(storage), &Quiet).unwrap()
}

fn is_manifest(path: &str) -> bool {
    matches!(path.rsplit('.').next(), Some("mpd" | "m3u8"))
}

#[test]
fn streams_are_those_of_memory_and_manifests_come_last() {
    let watchdog = Watchdog::new();
    for storage in [Storage::Segments, Storage::Single] {
        let package = package(storage);
        let memory = MemoryFolder::new();
        package.write(Box::new(memory.clone()), &Quiet).unwrap();
        let expected = memory.into_objects().unwrap();
        for is_s3 in [false, true] {
            watchdog.begins(format!("{storage:?}, S3: {is_s3}"));
            let server = ObjectServer::new();
            let store = store_with(&server, 1);
            let to = if is_s3 { s3("bucket/out") } else { http(&server, "bucket/out/") };
            let folder = store.folder(&to).unwrap();
            package.write(Box::new(folder), &Quiet).unwrap();
            let found = server.paths();
            let wanted: Vec<String> =
                expected.keys().map(|path| format!("bucket/out/{path}")).collect();
            assert_eq!(found, wanted);
            for (path, bytes) in &expected {
                assert!(
                    **server.object(&format!("bucket/out/{path}")).unwrap() == *bytes,
                    "{path}"
                );
            }
            for request in server.requests().iter().filter(|request| request.method == "PUT") {
                let expected = match request.path.rsplit('.').next().unwrap() {
                    "m3u8" => "application/vnd.apple.mpegurl",
                    "mpd" => "application/dash+xml",
                    _ => "video/mp4",
                };
                assert_eq!(request.content_type.as_deref(), Some(expected), "{}", request.path);
            }
            let puts: Vec<String> = server
                .requests()
                .into_iter()
                .filter(|request| request.method == "PUT")
                .map(|request| request.path)
                .collect();
            let first = puts.iter().position(|path| is_manifest(path)).unwrap();
            assert!(puts[first..].iter().all(|path| is_manifest(path)), "{puts:?}");
            let place = |name: &str| puts.iter().position(|path| path.ends_with(name)).unwrap();
            assert_eq!(place("main.m3u8"), puts.len() - 2);
            assert_eq!(place("manifest.mpd"), puts.len() - 1);
            // What is there is not added to.
            let error = store.folder(&to).map(drop);
            if is_s3 {
                let error = error.unwrap_err().to_string();
                assert!(error.contains("s3://bucket/out: there are objects below it"), "{error}");
            } else {
                // A server that cannot list is asked for each object.
                error.unwrap();
                let folder = store.folder(&to).unwrap();
                let error = package.write(Box::new(folder), &Quiet).unwrap_err().to_string();
                assert!(error.contains("there is an object of that name"), "{error}");
                assert_eq!(server.paths(), wanted, "foreign objects were deleted");
            }
        }
    }
}

/// Whichever request fails for good: no manifest, no object, no upload.
#[test]
fn nothing_is_left_of_a_stream_that_fails() {
    let watchdog = Watchdog::new();
    let package = package(Storage::Segments);
    let run = |server: &ObjectServer| {
        let store = store_with(server, 0);
        let folder = store.folder(&s3("bucket/out"))?;
        let result = package.write(Box::new(folder), &Quiet);
        assert_eq!(store.take_complaints(), [""; 0]);
        result.map(drop)
    };
    let server = ObjectServer::new();
    run(&server).unwrap();
    let puts = server.requests().iter().filter(|request| request.method == "PUT").count();
    assert!(puts > 10, "{puts} objects");
    for bad in 0..puts {
        watchdog.begins(format!("object {bad} of {puts}"));
        let server = ObjectServer::new();
        let count = AtomicUsize::new(0);
        server.answers(move |request| {
            let is_put = request.method == "PUT";
            let is_bad = is_put && count.fetch_add(1, Ordering::Relaxed) == bad;
            if is_bad { Answer::Status(403) } else { Answer::Right }
        });
        let error = run(&server).unwrap_err();
        assert!(matches!(error, Error::Write { .. }), "{bad}: {error}");
        assert!(error.to_string().contains("403"), "{bad}: {error}");
        assert_eq!(server.paths(), [""; 0], "object {bad} of {puts}");
    }
    // Objects that must not be deleted are told, and none of them is a manifest.
    let server = ObjectServer::new();
    let judge = |request: &Request| {
        let is_deletion = request.method == "DELETE" || request.query.contains("delete");
        let is_bad = is_deletion || is_manifest(&request.path) && request.method == "PUT";
        if is_bad { Answer::Status(403) } else { Answer::Right }
    };
    server.answers(judge);
    let store = store_with(&server, 0);
    let folder = store.folder(&s3("bucket/out")).unwrap();
    package.write(Box::new(folder), &Quiet).unwrap_err();
    assert!(server.paths().len() > 10 && !server.paths().iter().any(|path| is_manifest(path)));
    let complaints = store.take_complaints();
    assert!(
        complaints.len() == 1 && complaints[0].contains("could not be deleted"),
        "{complaints:?}"
    );
}

/// From object to object, all schemes.
#[test]
fn encrypted_objects_are_those_of_memory() {
    let watchdog = Watchdog::new();
    let server = ObjectServer::new();
    let clip = std::fs::read(demo_clip()).unwrap();
    server.store("bucket/in.mp4", clip.clone());
    let store = store_with(&server, 1);
    for scheme in Scheme::ALL {
        watchdog.begins(scheme.to_string());
        let mut keys = KeyMap::new();
        for track in ["video=00", "audio=a0"] {
            let key = format!(
                "{track}112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1{}",
                &track[6..]
            );
            keys.parse_insert(&key).unwrap();
        }
        let options = EncryptOptions::new(scheme, keys).with_iv(Iv::Given(vec![0x33; 16]));
        let memory = MemorySink::new();
        let source = MemorySource::new("in.mp4", clip.clone());
        encrypt(&source, Box::new(memory.clone()), &options, &Quiet).unwrap();
        let expected = memory.into_bytes().unwrap();
        for (from, to) in [
            (s3("bucket/in.mp4"), s3("bucket/out.mp4")),
            (http(&server, "bucket/in.mp4"), http(&server, "bucket/out.mp4")),
        ] {
            let source = store.source(&from).unwrap();
            encrypt(&source, Box::new(store.sink(&to).unwrap()), &options, &Quiet).unwrap();
            assert!(**server.object("bucket/out.mp4").unwrap() == expected, "{scheme}, {to}");
        }
    }
}

#[test]
fn what_is_no_object_is_refused() {
    let server = ObjectServer::new();
    let store = store_with(&server, 0);
    for text in ["s3://bucket", "s3://bucket/", "s3://bucket/folder/"] {
        let error = store.sink(&Location::parse(text).unwrap()).err().unwrap();
        assert!(error.to_string().contains("names no object"), "{error}");
    }
    let mut folder = Some(store.folder(&s3("bucket/new")).unwrap());
    assert_eq!(folder.as_ref().unwrap().name(), "s3://bucket/new");
    Box::new(folder.take().unwrap()).finish(false).unwrap();
}
