//! Every row runs, at every level, again and again; how fast is not asked.

#![allow(clippy::unwrap_used, reason = "tests")]

use lanelock::AesLevel;
use lanelock_speed::{
    arm_table::{Cell, IN_FLIGHT},
    clock,
    limit::{Limits, multiply_adds},
    plot::{Bar, BarChart, Group, Line, LineChart},
    row::MeasuredRow,
    table1,
    workload::{
        Buffer, KINDS, Keys, Kind, LONGEST_UNIT, Lengths, Place, Streams, Traffic, UNITS, Workload,
    },
};

/// Some workloads of every kind.
fn workloads() -> Vec<Workload> {
    let mut workloads = Vec::new();
    for kind in KINDS {
        for &key_bits in kind.key_bits {
            let key = usize::from(key_bits) / 8;
            let sizes = [kind.least, 80 / kind.unit * kind.unit, 1024, key];
            for (streams, keys) in [(1, Keys::One), (5, Keys::One), (5, Keys::Each)] {
                let workload = |size| kind.workload(key_bits, size, streams, keys);
                workloads.extend(sizes.map(workload).into_iter().filter(Workload::exists));
                workloads.extend(
                    traffic()
                        .into_iter()
                        .map(|(size, traffic)| {
                            let aad = if kind.takes_aad() { 13 } else { 0 };
                            Workload { aad, traffic, ..workload(size) }
                        })
                        .filter(Workload::exists),
                );
            }
        }
    }
    workloads
}

/// Sizes, and how messages of that size can differ from equal ones.
fn traffic() -> Vec<(usize, Traffic)> {
    let plain = Traffic::default();
    let units = Traffic { lengths: Lengths::Units, ..plain };
    let random = Traffic { lengths: Lengths::Random, ..plain };
    vec![
        (LONGEST_UNIT, units),
        (LONGEST_UNIT, Traffic { one_by_one: true, ..units }),
        (256, random),
        (256, Traffic { one_by_one: true, ..random }),
        (64, Traffic { place: Place::Page, ..plain }),
        (64, Traffic { place: Place::Odd, one_by_one: true, ..plain }),
        (1400, Traffic { cold: true, ..plain }),
    ]
}

#[test]
fn lengths_are_those_that_are_named() {
    let units = Lengths::Units.of_calls(LONGEST_UNIT, 130);
    let whole = |unit: u16| usize::from(unit) / 16 * 16;
    assert_eq!(units.now()[..125], UNITS.map(whole));
    assert_eq!(units.now()[125..], UNITS.map(whole)[..5]);
    assert_eq!(units.now().iter().max(), Some(&LONGEST_UNIT));
    assert_eq!(units.bytes(), units.now().iter().sum::<usize>());

    let mut random = Lengths::Random.of_calls(256, 64);
    let first = random.now().to_vec();
    let mut seen = [false; 257];
    for _ in 0..200 {
        random.advance();
        assert_ne!(random.now(), first);
        random.now().iter().for_each(|length| seen[*length] = true);
    }
    assert!(!seen[..16].contains(&true) && !seen[16..].contains(&false));
    assert!((64 * 130..64 * 142).contains(&random.bytes()), "{}", random.bytes());
}

#[test]
fn buffers_are_where_they_should_be() {
    for i in 0..40 {
        let buffer = |place| Buffer::new(place, i, 0..100);
        let page = buffer(Place::Page);
        assert_eq!(page.as_ptr().align_offset(4096), 0);
        for place in [Place::Spread, Place::Page, Place::Odd] {
            assert!(buffer(place).iter().copied().eq(0..100));
        }
    }
}

#[test]
fn every_row_runs() {
    let workloads = workloads();
    for level in AesLevel::available() {
        for workload in &workloads {
            let mut runner = workload.runner(level).unwrap();
            // A row that opens has to find something to open again.
            for _ in 0..3 {
                runner.run();
            }
        }
    }
    for kind in KINDS {
        let of_kind =
            |w: &&Workload| (w.algorithm, w.operation) == (kind.algorithm, kind.operation);
        let streams: Vec<_> = workloads.iter().filter(of_kind).map(|w| w.streams).collect();
        assert!(streams.contains(&1), "{kind:?}");
        let many = kind.streams != Streams::One || kind.lengths.is_some();
        assert_eq!(streams.contains(&5), many, "{kind:?}");
    }
}

#[test]
fn blocks_in_flight_do_not_change_them() {
    let portable: AesLevel = "portable".parse().unwrap();
    let data: Vec<[u8; 16]> =
        (0..64).map(|i| core::array::from_fn(|j| i ^ [3, 80, 200, 7][j % 4])).collect();
    for (key_bits, decrypt) in
        [(128, false), (128, true), (192, false), (192, true), (256, false), (256, true)]
    {
        let result = |level, in_flight| {
            let mut data = data.clone();
            Cell { decrypt, key_bits, in_flight, size: 1024 }.run(level, &mut data);
            data
        };
        let expected = result(portable, 1);
        assert!(expected.iter().zip(&data).all(|(a, b)| a != b));
        for level in AesLevel::available() {
            for in_flight in IN_FLIGHT {
                assert_eq!(result(level, in_flight), expected, "{level} {key_bits} {in_flight}");
            }
        }
    }
}

#[test]
fn kinds_of_an_algorithm_stand_together() {
    let mut names: Vec<_> = KINDS.iter().map(|kind| kind.algorithm).collect();
    names.dedup();
    let groups = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), groups);
}

#[test]
fn what_does_not_exist_has_no_runner() {
    let level = AesLevel::fastest();
    let row = Workload {
        algorithm: "cbc",
        operation: "encrypt",
        key_bits: 128,
        size: 64,
        streams: 2,
        keys: Keys::One,
        aad: 0,
        traffic: Traffic::default(),
    };
    assert!(row.runner(level).is_some());
    for wrong in [
        Workload { algorithm: "des", ..row },
        Workload { operation: "seal", ..row },
        Workload { key_bits: 160, ..row },
        Workload { size: 0, ..row },
        Workload { size: 65, ..row },
        Workload { streams: 0, ..row },
        Workload { algorithm: "ctr", ..row },
        Workload { aad: 13, ..row },
    ] {
        assert!(wrong.runner(level).is_none(), "{wrong:?}");
    }
}

#[test]
fn rows_have_sensible_numbers() {
    let level = AesLevel::fastest();
    let limits = Limits::measure(level);
    let [ctr, ..] = table1::workloads(32);
    let row = MeasuredRow::measure(ctr, level, &limits, 1, 1).unwrap();
    assert!(row.cycles() > 0.0 && row.sample.spread >= 0.0);
    assert!((row.cycles() / row.cycles_per_byte() - 8192.0).abs() < 0.01);
    let seconds = row.cycles() / row.gigahertz / 1e9;
    assert!((row.gigabytes_per_second() * 1e9 * seconds - 8192.0).abs() < 0.01);
    assert!(row.of_limit().unwrap() > 0.0);
}

#[test]
fn every_limit_is_a_number() {
    let level = AesLevel::fastest();
    let limits = Limits::measure(level);
    for workload in workloads() {
        let limit = limits.cycles_per_byte(&workload);
        assert!(limit.is_none_or(|limit| limit.is_finite() && limit > 0.0), "{workload:?}");
        let bulk = Workload { size: 48_000, ..workload };
        let portable_crc = level.name() == "portable" && bulk.algorithm.starts_with("crc");
        // One message whose hash has no instructions of its own waits for each of its additions.
        let one_hash = bulk.streams == 1
            && matches!(
                bulk.algorithm,
                "sha-512" | "sha3-256" | "shake128" | "sm3" | "pbkdf2-sha-256"
            );
        let public = bulk.kind().is_some_and(Kind::has_public_keys);
        if bulk.algorithm.contains("sha-") || (public && !bulk.streams.is_multiple_of(8)) {
            continue; // as the processor has it
        }
        let chacha = bulk.algorithm == "chacha20-poly1305";
        let unknown = bulk.operation == "expand" || portable_crc || one_hash || chacha;
        assert_eq!(limits.cycles_per_byte(&bulk).is_none(), unknown, "{bulk:?}");
    }
}

#[test]
fn the_clock_counts_what_is_called() {
    let mut calls = 0_u64;
    let sample = clock::measure(3, 2, || calls += 1);
    assert!(calls > 1 && sample.cycles >= 0.0);
    assert!(clock::gigahertz() > 0.0);
}

#[test]
fn charts_escape_what_they_show() {
    let name = "a < b & \"c\"".to_owned();
    let line = Line { name: name.clone(), points: vec![(16.0, 1.0), (64.0, 0.5)], limit: vec![] };
    let lines = LineChart { title: name.clone(), lines: vec![line], ..LineChart::default() }.svg();
    let bar = Bar { name: name.clone(), value: 2.0, ours: true };
    let group = Group { name, limit: Some(1.0), bars: vec![bar] };
    let bars = BarChart { groups: vec![group], ..BarChart::default() }.svg();
    for svg in [lines, bars, LineChart::default().svg(), BarChart::default().svg()] {
        let document = roxmltree::Document::parse(&svg).unwrap();
        assert_eq!(document.root_element().tag_name().name(), "svg");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

/// What was known of RSA before anything was written, in thousand multiply-adds of an operation in eight lanes.
#[test]
fn counts_of_rsa() {
    for (operation, bits, expected) in [
        ("sign", 2048, 413.0),
        ("sign", 3072, 1367.0),
        ("sign", 4096, 3207.0),
        ("verify", 2048, 12.2),
    ] {
        let kind = KINDS.iter().find(|k| (k.algorithm, k.operation) == ("rsa", operation));
        let workload = kind.unwrap().workload(bits, 32, 8, Keys::One);
        let vectors = u32::try_from(multiply_adds(&workload).unwrap()).unwrap();
        let count = f64::from(vectors) / 8000.0;
        assert!((count / expected - 1.0).abs() < 0.04, "{operation} {bits}: {count}");
    }
}
