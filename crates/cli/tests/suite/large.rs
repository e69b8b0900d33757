//! Fragments of many megabytes, which are read and written part by part.

use std::fs;

use crate::support::{
    Dir, FRAGMENTED, KEY, Read, SCHEMES, boxes, compare, decrypt, encrypt_with, packets, pair,
    succeed,
};
use lanelock_testkit as testkit;

const IV: &str = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf";

#[test]
fn fragments_of_megabytes() {
    let Some(ffmpeg) = testkit::ffmpeg() else { return };
    let dir = Dir::new();
    let noise = "color=gray:s=640x360:d=2:r=25,noise=alls=100:allf=t";
    let (progressive, fragmented) = (dir.file("in.mp4"), dir.file("frag.mp4"));
    for (path, flags) in [(&progressive, "+faststart"), (&fragmented, FRAGMENTED)] {
        let mut command = std::process::Command::new(&ffmpeg);
        command.args(["-v", "error", "-f", "lavfi", "-i", noise, "-c:v", "libx264"]);
        command
            .args("-preset ultrafast -qp 20 -g 25 -pix_fmt yuv420p -slices 2 -movflags".split(' '));
        succeed(command.arg(flags).arg(path));
    }
    let most = |bytes: &[u8]| boxes(bytes, *b"mdat").into_iter().map(<[u8]>::len).max().unwrap();
    assert!(most(&fs::read(&fragmented).unwrap()) > 5 << 20, "a fragment is larger than a part");
    let clear = packets(&ffmpeg, &fragmented, Read::File, None, "0").unwrap();

    // The others read and write in the same way: `make long` takes them too.
    let schemes = if testkit::is_long() { &SCHEMES[..] } else { &["cenc", "cbcs"] };
    for scheme in schemes.iter().copied() {
        for (input, layout) in
            [(&fragmented, "fragmented"), (&progressive, "fragmented"), (&progressive, "keep")]
        {
            let what = format!("{scheme}, {layout} of {}", input.display());
            let made = |workers: &str| {
                let output = dir.file(&format!("{workers}.mp4"));
                let iv = if scheme == "cenc" || scheme == "cens" { &IV[..16] } else { IV };
                let mut args =
                    vec!["--key", "", "--iv", iv, "--workers", workers, "--memory", "24"];
                let key = pair();
                args[1] = &key;
                if input == &progressive {
                    args.extend(["--layout", layout]);
                }
                encrypt_with(input, &output, scheme, &args);
                output
            };
            let (one, four) = (made("1"), made("4"));
            assert!(fs::read(&one).unwrap() == fs::read(&four).unwrap(), "{what}");
            let (ours, back) =
                (packets(&ffmpeg, &four, Read::Pipe, Some(KEY), "0"), dir.file("back.mp4"));
            if layout != "keep" {
                compare(&ours.unwrap(), &clear).unwrap_or_else(|error| panic!("{what}: {error}"));
            }
            decrypt(&four, &back, &pair());
            let decrypted = packets(&ffmpeg, &back, Read::File, None, "0").unwrap();
            compare(&decrypted, &clear).unwrap_or_else(|error| panic!("{what}: {error}"));
            if input == &fragmented {
                assert!(fs::read(&back).unwrap() == fs::read(input).unwrap(), "{what}");
            }
        }
    }
}
