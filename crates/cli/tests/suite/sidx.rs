//! `--sidx`: the library's tests look into the indexes; these look at the option.

use std::fs;

use crate::support::{Dir, boxes, encrypt_with, lanelock, pair, stderr, without_indexes};

#[test]
fn kept_built_or_dropped() {
    let dir = Dir::new();
    let (without, with, out) = (dir.file("in.mp4"), dir.file("sidx.mp4"), dir.file("out.mp4"));
    fs::write(&without, without_indexes()).unwrap();
    let run = |input, how: &[&str]| {
        encrypt_with(input, &out, "cbcs", &[&["--key", &pair()], how].concat());
        boxes(&fs::read(&out).unwrap(), *b"sidx").len()
    };
    assert_eq!(run(&without, &[]), 0);
    assert_eq!(run(&without, &["--sidx", "build"]), 2, "one for each track");
    fs::copy(&out, dir.file("encrypted.mp4")).unwrap();
    let mut command = lanelock();
    command
        .args(["decrypt", "--quiet", "--key", &pair()])
        .args([dir.file("encrypted.mp4"), with.clone()]);
    crate::support::succeed(&mut command);
    for (how, indexes) in [(&[][..], 2), (&["--sidx", "keep"], 2), (&["--sidx", "drop"], 0)] {
        assert_eq!(run(&with, how), indexes, "{how:?}");
    }
    let output =
        lanelock().args(["encrypt", "-", "-", "--scheme", "cbcs", "--sidx", "build"]).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}
