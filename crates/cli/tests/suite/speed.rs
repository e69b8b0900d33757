//! `lanelock speed`: what it prints, not how fast it is.

use std::{fs, path::PathBuf, process::Command};

use lanelock::AesLevel;
use serde_json::Value;

/// The exit code, standard output and standard error.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_lanelock"))
        .env_remove("LANELOCK_LEVEL")
        .arg("speed")
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn objects(arguments: &[&str]) -> Vec<Value> {
    let (code, out, err) = run(&[arguments, &["--passes", "1", "--json"]].concat());
    assert_eq!((code, &*err), (Some(0), ""), "{arguments:?}");
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn temporary(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn json_has_an_object_a_row() {
    let rows = objects(&["ctr", "--size", "64,1k"]);
    assert_eq!(rows.len(), 2);
    for (row, size) in rows.iter().zip([64, 1024]) {
        for (name, value) in [
            ("algorithm", "ctr".into()),
            ("operation", "encrypt".into()),
            ("key_bits", 128.into()),
            ("level", AesLevel::fastest().name().into()),
            ("size", size.into()),
            ("streams", 1.into()),
            ("keys", Value::from("one")),
        ] {
            assert_eq!(row[name], value, "{name}");
        }
        for name in ["cpb", "cycles", "gb_per_s", "limit_cpb", "limit_cycles", "clock_ghz"] {
            assert!(row[name].as_f64().unwrap() > 0.0, "{name}");
        }
        assert!(row["spread"].as_f64().unwrap() >= 0.0);
        assert_eq!(row.as_object().unwrap().len(), 16);
    }
}

#[test]
fn every_level_lane_key_and_key_size() {
    let options = ["cbc", "--level", "all", "--lanes", "5", "--keys", "each", "--key-bits", "all"];
    let rows = objects(&[&options[..], &["--size", "16"]].concat());
    assert_eq!(rows.len(), 3 * AesLevel::available().len());
    assert!(rows.iter().all(|row| row["streams"] == 5 && row["keys"] == "each"));
    for level in AesLevel::available() {
        assert!(rows.iter().any(|row| row["level"] == level.name()), "{level}");
    }
    // An expansion has a row for each key size, and no message.
    let rows = objects(&["key-expansion"]);
    let bits: Vec<_> = rows.iter().map(|row| row["key_bits"].as_u64().unwrap()).collect();
    assert_eq!(bits, [128, 192, 256]);
}

#[test]
fn the_table_is_for_people() {
    let (code, out, err) = run(&["cbc", "--size", "64", "--passes", "1", "--level", "portable"]);
    assert_eq!((code, &*err), (Some(0), ""));
    assert!(out.starts_with("level portable, core clock "), "{out}");
    for words in ["cbc encrypt", "cbc decrypt", " 32 ", "of limit"] {
        assert!(out.contains(words), "{words} is missing in {out}");
    }
}

#[test]
fn the_overview_is_one_screen() {
    let (code, out, err) = run(&["--passes", "1", "--size", "16,1k"]);
    assert_eq!((code, &*err), (Some(0), ""));
    for heading in ["Modes", "AEADs", "MACs, hashes and checksums", "Keys"] {
        assert!(out.lines().any(|line| line == heading), "{heading} is missing in {out}");
    }
    let rows = out.lines().filter(|line| line.starts_with("  ") && line.trim() == &line[2..]);
    assert!((20..=30).contains(&rows.count()), "{out}");
    assert!(out.lines().all(|line| line.len() <= 100), "{out}");
    assert!(
        out.contains("32 messages at once") && out.contains("key expansion: 128 bits "),
        "{out}"
    );
}

#[test]
fn names_have_key_sizes() {
    for (names, bits) in [
        (&["aes-256-gcm"][..], &[256; 3][..]),
        (&["AES128-GCM"], &[128; 3]),
        (&["aes-gcm"], &[128; 3]),
        (&["aes-192-gcm", "aes-128-gcm"], &[128, 192, 128, 192, 128, 192]),
    ] {
        let rows = objects(&[names, &["--size", "16", "--lanes", "1"]].concat());
        let of: Vec<_> = rows.iter().map(|row| row["key_bits"].as_u64().unwrap()).collect();
        assert_eq!(of, bits, "{names:?}");
        assert!(rows.iter().all(|row| row["algorithm"] == "gcm"));
    }
    let rows = objects(&["sweep", "aes-256-cbc", "--size", "16"]);
    assert!(rows.iter().all(|row| row["key_bits"] == 256));
}

#[test]
fn additional_data_and_threads() {
    let rows = objects(&["gcm", "ctr", "--size", "64", "--aad", "13", "--threads", "2"]);
    assert_eq!(rows.len(), 6);
    for row in rows {
        let aad = if row["algorithm"] == "gcm" { 13 } else { 0 };
        assert_eq!((row["aad"].as_u64(), row["threads"].as_u64()), (Some(aad), Some(2)));
        assert!(row["limit_cpb"].is_null() && row["gb_per_s"].as_f64().unwrap() > 0.0);
    }
    let (_, out, _) =
        run(&["gcm", "--size", "64", "--aad", "1", "--threads", "2", "--passes", "1"]);
    assert!(out.contains("2 threads at once, 1 byte of AAD"), "{out}");
}

#[test]
fn table1_stands_beside_what_was_published() {
    let rows = objects(&["table1", "--level", "portable"]);
    assert_eq!(rows.len(), 6);
    let (skylake, ours) = (&rows[3], &rows[5]);
    assert_eq!((&skylake["row"], skylake["published"].as_bool()), (&"Skylake".into(), Some(true)));
    assert_eq!(skylake["cbc_encrypt"], 2.65);
    assert_eq!((&ours["row"], ours["published"].as_bool()), (&"portable".into(), Some(false)));
    assert!(ours["ctr"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_arm_table_stands_beside_what_was_published() {
    let rows = objects(&["arm-table", "--level", "portable", "--key-bits", "128"]);
    let (published, ours) = rows.split_at(5);
    assert_eq!(
        (&published[1]["ns_1k"], published[1]["published"].as_bool()),
        (&2560.72.into(), Some(true))
    );
    assert_eq!(ours.len(), 6);
    for row in ours {
        assert_eq!((&row["level"], row["published"].as_bool()), (&"portable".into(), Some(false)));
        assert_eq!(row["ns_16"].is_null(), row["in_flight"] != 1, "{row}");
        let [kib, mib] = ["ns_1k", "ns_1m"].map(|name| row[name].as_f64().unwrap());
        assert!(0.0 < kib && kib < mib, "{row}");
    }
}

/// qemu-user shows itself; here, that the program that is run is another one than it seems.
#[test]
fn no_figure_comes_from_an_emulator() {
    if cfg!(not(target_arch = "x86_64")) {
        return lanelock_testkit::skip("qemu-x86_64 runs programs for x86-64");
    }
    let qemu = "qemu-x86_64";
    if Command::new(qemu).arg("--version").output().is_err() {
        return lanelock_testkit::skip("qemu-x86_64 (Debian: qemu-user) is not installed");
    }
    for arguments in [&["arm-table"][..], &["ctr", "--size", "16", "--passes", "1"]] {
        let output = Command::new(qemu)
            .arg(env!("CARGO_BIN_EXE_lanelock"))
            .arg("speed")
            .args(arguments)
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{error}");
        assert!(error.contains("figures would say nothing") && error.contains("qemu"), "{error}");
    }
}

#[test]
fn a_sweep_names_the_best() {
    let rows = objects(&["sweep", "cbc", "--size", "16"]);
    assert!(rows.len() > 5);
    assert_eq!(rows.iter().filter(|row| row["best"] == true).count(), 1);
    assert!(rows.iter().all(|row| row["algorithm"] == "cbc" && row["cpb"].as_f64().unwrap() > 0.0));
}

#[test]
fn a_plot_is_a_picture() {
    let path = temporary("speed-plot.svg");
    let plot = path.to_str().unwrap();
    for (sizes, lines) in [("16,64", 3), ("16", 3)] {
        let rows = objects(&["ctr", "cbc", "--size", sizes, "--lanes", "1", "--plot", plot]);
        assert_eq!(rows.len(), lines * sizes.split(',').count());
        let text = fs::read_to_string(&path).unwrap();
        let document = roxmltree::Document::parse(&text).unwrap();
        assert_eq!(document.root_element().tag_name().name(), "svg");
        let words: Vec<_> = document.descendants().filter_map(|node| node.text()).collect();
        for word in ["ctr encrypt", "cbc encrypt", "cbc decrypt", "16", "limit of the units"] {
            assert!(words.contains(&word), "{word} is missing in {words:?}");
        }
        let drawn = document.descendants().filter(|n| n.tag_name().name() == "polyline").count();
        assert!(drawn >= lines, "{drawn} lines");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
    fs::remove_file(&path).unwrap();
}

#[test]
fn a_plot_that_cannot_be_written_leaves_nothing() {
    let folder = temporary("speed-no-plot");
    fs::create_dir_all(&folder).unwrap();
    let arguments = ["ctr", "--size", "16", "--passes", "1", "--plot"];
    for path in [folder.clone(), folder.join("none/speed.svg")] {
        let (code, out, err) = run(&[&arguments[..], &[path.to_str().unwrap()]].concat());
        assert_eq!((code, &*out), (Some(3), ""), "it is said before anything is measured: {err}");
        assert!(err.starts_with("error: cannot write "), "{err}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    fs::remove_dir(&folder).unwrap();
}

#[test]
fn wrong_arguments_say_what_is_right() {
    for (arguments, words) in [
        (&["ctrl"][..], &["ctrl", "similar", "'ctr'", "cbcs"][..]),
        (&["ctr", "--level", "avx9000"], &["avx9000", "portable"]),
        (&["ctr", "--size", "16x"], &["16x", "16k"]),
        (&["ctr", "--size", "0"], &["64"]),
        (&["ctr", "--size", "2048M"], &["1024M"]),
        (&["cbc", "--size", "17"], &["cbc", "multiple of 16"]),
        (&["ctr", "--lanes", "2"], &["ctr has no call", "--lanes", "cbc"]),
        (&["cbc", "--lanes", "0"], &["1 to 4096"]),
        (&["cbc", "--lanes", "4096", "--size", "1M"], &["1 GiB"]),
        (&["cbc", "--key-bits", "160"], &["128", "192", "256"]),
        (&["aegis-256", "--key-bits", "128"], &["aegis-256", "--key-bits 256"]),
        (&["ctr", "--passes", "0"], &["1..=1000"]),
        (&["--plot", "speed.svg"], &["name algorithms"]),
        (&["aes-129-gcm"], &["aes-129-gcm", "gcm"]),
        (&["aes-128-aegis-256"], &["aegis-256"]),
        (&["ctr", "--aad", "13"], &["--aad has no effect", "gcm"]),
        (&["gcm", "--aad", "1M"], &["64k"]),
        (&["ctr", "--threads", "0"], &["1 to 1024"]),
        (&["xts", "--lanes", "4", "--keys", "each"], &["xts has one key", "--keys"]),
        (&["sweep", "xts", "--keys", "each"], &["xts has one key", "--keys"]),
        (&["sweep", "ctr"], &["ctr", "cbc"]),
        (&["sweep", "cbc", "--size", "17"], &["multiple of 16"]),
        (&["table1", "cbc"], &["cbc"]),
    ] {
        let (code, out, err) = run(arguments);
        assert_eq!((code, &*out), (Some(2), ""), "{arguments:?}: {err}");
        for word in words {
            assert!(err.contains(word), "{arguments:?}: {word} is missing in {err}");
        }
    }
    let (_, _, err) = run(&["ctr", "--level", "avx9000", "--json"]);
    assert!(serde_json::from_str::<Value>(&err).unwrap()["error"].is_string(), "{err}");
}

#[test]
fn sizes_have_units() {
    for (size, bytes) in
        [("2k", 2048), ("2KiB", 2048), ("2kB", 2048), ("100", 100), ("1M", 1 << 20)]
    {
        assert_eq!(objects(&["ctr", "--size", size])[0]["size"], bytes, "{size}");
    }
}

#[test]
fn help_tells_of_every_option() {
    let common = ["--level", "--passes", "--json", "Examples:"];
    for (arguments, words) in [
        (
            &["--help"][..],
            &["--size", "--lanes", "--keys", "--key-bits", "--aad", "--threads", "--plot", "sweep"]
                [..],
        ),
        (&["table1", "--help"], &["--lanes"]),
        (&["arm-table", "--help"], &["--key-bits"]),
        (&["sweep", "--help"], &["--size", "--keys"]),
    ] {
        let (code, out, _) = run(arguments);
        assert_eq!(code, Some(0));
        for word in words.iter().chain(&common) {
            assert!(out.contains(word), "{arguments:?} does not tell of {word}");
        }
    }
}
