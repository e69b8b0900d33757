//! The command against other programs: what it encrypts, Shaka Packager and ffmpeg decrypt; what
//! Shaka Packager encrypts, it decrypts; and the packets are those of the clear clip.

use crate::{
    peers::{Expectations, Job, Reading, shaka_all},
    support::{
        Dir, FRAGMENTED, KEY, KID, OTHER_KEY, OTHER_KID, Packets, Read, SCHEMES, boxes, compare,
        decrypt, encrypt, encrypt_with, ffmpeg_makes, lanelock, other_pair, packets, pair,
        senc_entries, shaka, shaka_keys, stderr, succeed,
    },
};
use lanelock_testkit::{
    ProtectedClip, boxes::media, ffmpeg, fingerprint, hex, is_long, longest_clip, protected_clips,
    shaka_packager, skip,
};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

const CLIPS: [&str; 12] = [
    "avc",
    "avc_slices",
    "hevc",
    "av1",
    "av1_tiles",
    "vp9",
    "avc_aac",
    "aac",
    "ac3",
    "eac3",
    "opus",
    "flac",
];

/// How a clip comes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Form {
    Progressive,
    /// A fragment for each group of pictures, or one for all of the audio.
    Fragmented,
    /// Many fragments.
    ManyFragments,
}

fn has_video(name: &str) -> bool {
    name.starts_with("av") || matches!(name, "hevc" | "vp9")
}

/// AV1 has `cenc` and `cbcs` alone.
fn has_scheme(name: &str, scheme: &str) -> bool {
    !name.starts_with("av1") || matches!(scheme, "cenc" | "cbcs")
}

fn has_audio(name: &str) -> bool {
    !has_video(name) || name == "avc_aac"
}

/// The bytes of clips in their forms.
type Clips = HashMap<(String, Form), Vec<u8>>;

/// The clip in that form; made by ffmpeg once.
fn clip(ffmpeg: &Path, dir: &Dir, name: &str, form: Form) -> PathBuf {
    static KNOWN: LazyLock<Mutex<Clips>> = LazyLock::new(Mutex::default);
    if form == Form::Progressive {
        return longest_clip(&format!("{name}.mp4"));
    }
    let output = dir.file(&format!("{name}.clear.mp4"));
    let mut known = KNOWN.lock().unwrap();
    let bytes = known.entry((name.into(), form)).or_insert_with(|| {
        fragmented(ffmpeg, &output, name, form);
        fs::read(&output).unwrap()
    });
    fs::write(&output, bytes).unwrap();
    output
}

fn fragmented(ffmpeg: &Path, output: &Path, name: &str, form: Form) {
    // ffmpeg must see a packet of AC-3 before it can describe it.
    let flags = format!("{FRAGMENTED}+delay_moov");
    let mut args = vec!["-map", "0", "-c", "copy", "-strict", "-2", "-movflags", &flags];
    if form == Form::ManyFragments {
        args.extend(["-frag_duration", "200000"]);
    }
    ffmpeg_makes(ffmpeg, &[], &longest_clip(&format!("{name}.mp4")), &args, output);
}

/// The packets of a clear clip; asked of ffmpeg once.
fn clear_packets(ffmpeg: &Path, name: &str) -> Arc<Packets> {
    static KNOWN: LazyLock<Mutex<HashMap<String, Arc<Packets>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap();
    let packets = known.entry(name.into()).or_insert_with(|| {
        let path = longest_clip(&format!("{name}.mp4"));
        Arc::new(packets(ffmpeg, &path, Read::File, None, "0").unwrap())
    });
    packets.clone()
}

/// What decrypts with the keys.
fn decryption(keys: &str) -> [&str; 3] {
    ["--enable_raw_key_decryption", "--keys", keys]
}

fn shaka_decrypts(
    packager: &Path,
    dir: &Dir,
    input: &Path,
    name: &str,
    keys: &str,
) -> Result<Vec<PathBuf>, String> {
    shaka(packager, dir, input, name, &streams(name), &decryption(keys))
}

/// As a file of one stream each.
fn plain(paths: &[PathBuf]) -> impl Iterator<Item = Reading> {
    paths.iter().map(|path| Reading::plain(path, Read::File))
}

/// The streams of a clip, as Shaka Packager calls them.
fn streams(name: &str) -> Vec<&'static str> {
    let all = [("video", has_video(name)), ("audio", has_audio(name))];
    all.into_iter().filter(|(_, there)| *there).map(|(stream, _)| stream).collect()
}

/// The packets of several files of one stream each.
fn joined(ffmpeg: &Path, paths: &[PathBuf]) -> Packets {
    paths.iter().flat_map(|path| packets(ffmpeg, path, Read::File, None, "0").unwrap()).collect()
}

/// Where ffmpeg reads the standard in another way than we and Shaka Packager: it encrypts the last,
/// partial block of whole samples under `cens` (as GPAC and Bento4 do). Samples of AC-3 are whole
/// blocks.
fn ffmpeg_differs(name: &str, scheme: &str) -> bool {
    let differs = scheme == "cens" && matches!(name, "avc_aac" | "aac" | "opus" | "flac");
    if differs {
        skip(&format!("{name} {scheme}: ffmpeg encrypts the partial block at the end of a sample"));
    }
    differs
}

/// Whether a change meets the clip in that scheme and form; `make long` meets all of them.
fn is_chosen(name: &str, scheme: &str, form: Form) -> bool {
    let some = ["avc_slices", "av1_tiles", "avc_aac", "opus"].contains(&name);
    let usual = matches!(scheme, "cenc" | "cbcs");
    is_long() || usual && (some || form == Form::ManyFragments) || some && form == Form::Fragmented
}

/// A clip that is encrypted, with what the others make of it in the same folder.
struct Case {
    name: &'static str,
    /// The clip, scheme and form.
    what: String,
    dir: Dir,
    input: PathBuf,
    encrypted: PathBuf,
    clear: Arc<Packets>,
}

impl Case {
    fn new(ffmpeg: &Path, name: &'static str, scheme: &str, form: Form) -> Self {
        let dir = Dir::new();
        let input = clip(ffmpeg, &dir, name, form);
        let encrypted = dir.file("encrypted.mp4");
        encrypt(&input, &encrypted, scheme);
        let (what, clear) = (format!("{name} {scheme} {form:?}"), clear_packets(ffmpeg, name));
        Self { name, what, dir, input, encrypted, clear }
    }

    /// What ffmpeg reads and decrypts, and what we decrypt.
    fn alone(&self, scheme: &str, form: Form, expected: &mut Expectations) {
        let Self { name, what, dir, input, encrypted, clear } = self;
        let without_key = Reading::plain(encrypted, Read::Pipe);
        expected.hidden(format!("{what}: without key"), without_key, clear);
        if !ffmpeg_differs(name, scheme) {
            let theirs = [Reading::sealed(encrypted, Read::Pipe)];
            expected.same(format!("{what}: ffmpeg decrypts"), theirs, clear);
        }
        // It is the file that it was, or at least its packets.
        let back = dir.file("back.mp4");
        decrypt(encrypted, &back, &pair());
        let we = format!("{what}: we decrypt");
        if form == Form::Progressive {
            expected.same(we, [Reading::plain(&back, Read::File)], clear);
        } else {
            let same = fs::read(&back).unwrap() == fs::read(input).unwrap();
            expected.judge(we, if same { Ok(()) } else { Err("other bytes".into()) });
        }
    }

    /// What Shaka Packager made of our file.
    fn decrypted(&self, scheme: &str, theirs: &[PathBuf], expected: &mut Expectations) {
        let Self { name, what, clear, .. } = self;
        let shaka = format!("{what}: Shaka decrypts");
        if *name == "avc_aac" && matches!(scheme, "cbcs" | "cens") {
            // The test of two keys asks about the audio.
            skip(&format!(
                "{name} {scheme}: Shaka Packager has one pattern for all tracks of a KID"
            ));
            expected.same(shaka, plain(&theirs[..1]), &clear[..1].to_vec());
        } else {
            expected.same(shaka, plain(theirs), clear);
        }
    }

    /// What we make of a file that Shaka Packager encrypted.
    fn encrypted_by_shaka(
        &self,
        ffmpeg: &Path,
        scheme: &str,
        theirs: &[PathBuf],
        expected: &mut Expectations,
    ) {
        let Self { name, what, dir, input, encrypted, clear } = self;
        let back = |path: &PathBuf| path.with_extension("back.mp4");
        for path in theirs {
            decrypt(path, &back(path), &pair());
        }
        let backs: Vec<_> = theirs.iter().map(back).collect();
        expected.same(format!("{what}: we decrypt Shaka's"), plain(&backs), clear);
        if scheme == "cbcs" && has_video(name) {
            let theirs = senc_entries(&fs::read(&theirs[0]).unwrap());
            let ours = only_video_senc(ffmpeg, dir, input, encrypted, name);
            assert!(ours.len() >= 8 * clear[0].len(), "no entries for every access unit");
            let same = if ours == theirs { Ok(()) } else { Err("differ".into()) };
            expected.judge(format!("{what}: senc and Shaka's"), same);
        }
    }
}

/// Everything for one scheme and one form of input.
fn scheme_and_form(scheme: &str, form: Form) {
    let Some(ffmpeg) = ffmpeg() else { return };
    let chosen = |name: &&str| has_scheme(name, scheme) && is_chosen(name, scheme, form);
    let names = CLIPS.into_iter().filter(chosen);
    let cases: Vec<_> = names.map(|name| Case::new(&ffmpeg, name, scheme, form)).collect();
    let mut expected = Expectations::default();
    for case in &cases {
        case.alone(scheme, form, &mut expected);
    }
    if let Some(packager) = shaka_packager() {
        let keys = shaka_keys();
        let jobs = |name: &'static str, input: fn(&Case) -> &PathBuf| {
            let job = move |case| job(case, name, input(case));
            cases.iter().map(job).collect::<Vec<_>>()
        };
        let decrypted = jobs("decrypted", |case| &case.encrypted);
        let decrypted = shaka_all(&packager, &decrypted, &decryption(&keys));
        for (case, theirs) in cases.iter().zip(decrypted) {
            match theirs {
                Ok(theirs) => case.decrypted(scheme, &theirs, &mut expected),
                Err(why) => expected.judge(format!("{}: Shaka decrypts", case.what), Err(why)),
            }
        }
        let args = ["--enable_raw_key_encryption", "--keys", &keys, "--protection_scheme", scheme];
        let args = [&args[..], &["--clear_lead", "0"]].concat();
        let sealed = shaka_all(&packager, &jobs("sealed", |case| &case.input), &args);
        for (case, theirs) in cases.iter().zip(sealed) {
            match theirs {
                Ok(theirs) => case.encrypted_by_shaka(&ffmpeg, scheme, &theirs, &mut expected),
                Err(why) => expected.judge(format!("{}: Shaka encrypts", case.what), Err(why)),
            }
        }
    }
    expected.assert(&ffmpeg);
}

fn job<'c>(case: &'c Case, name: &'c str, input: &'c Path) -> Job<'c> {
    Job { dir: &case.dir, name, input, streams: streams(case.name) }
}

/// Our `senc` entries of the video; of a clip without its audio if it has some.
fn only_video_senc(
    ffmpeg: &Path,
    dir: &Dir,
    input: &Path,
    encrypted: &Path,
    name: &str,
) -> Vec<u8> {
    if !has_audio(name) {
        return senc_entries(&fs::read(encrypted).unwrap());
    }
    let [video, output] = ["video.mp4", "video.encrypted.mp4"].map(|name| dir.file(name));
    ffmpeg_makes(ffmpeg, &[], input, &["-map", "0:v", "-c", "copy"], &video);
    encrypt(&video, &output, "cbcs");
    senc_entries(&fs::read(output).unwrap())
}

#[test]
fn cenc_progressive() {
    scheme_and_form("cenc", Form::Progressive);
}

#[test]
fn cenc_fragmented() {
    scheme_and_form("cenc", Form::Fragmented);
}

#[test]
fn cenc_many_fragments() {
    scheme_and_form("cenc", Form::ManyFragments);
}

#[test]
fn cens_progressive() {
    scheme_and_form("cens", Form::Progressive);
}

#[test]
fn cens_fragmented() {
    scheme_and_form("cens", Form::Fragmented);
}

#[test]
fn cens_many_fragments() {
    scheme_and_form("cens", Form::ManyFragments);
}

#[test]
fn cbc1_progressive() {
    scheme_and_form("cbc1", Form::Progressive);
}

#[test]
fn cbc1_fragmented() {
    scheme_and_form("cbc1", Form::Fragmented);
}

#[test]
fn cbc1_many_fragments() {
    scheme_and_form("cbc1", Form::ManyFragments);
}

#[test]
fn cbcs_progressive() {
    scheme_and_form("cbcs", Form::Progressive);
}

#[test]
fn cbcs_fragmented() {
    scheme_and_form("cbcs", Form::Fragmented);
}

#[test]
fn cbcs_many_fragments() {
    scheme_and_form("cbcs", Form::ManyFragments);
}

/// Progressive files that stay progressive, with `moov` behind the media and in front of it.
#[test]
fn layout_keep() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let dir = Dir::new();
    let mut expected = Expectations::default();
    // A change meets one clip of each codec but AC-3's and FLAC, `make long` all of them.
    let some = ["avc_slices", "hevc", "av1_tiles", "vp9", "avc_aac", "opus"];
    for name in CLIPS.into_iter().filter(|name| is_long() || some.contains(name)) {
        let path = longest_clip(&format!("{name}.mp4"));
        let clear = clear_packets(&ffmpeg, name);
        let first = dir.file("first.mp4");
        let faststart = ["-map", "0", "-c", "copy", "-strict", "-2", "-movflags", "+faststart"];
        ffmpeg_makes(&ffmpeg, &[], &path, &faststart, &first);
        for (place, input) in [("behind", &path), ("in front", &first)] {
            for scheme in SCHEMES.into_iter().filter(|scheme| has_scheme(name, scheme)) {
                let what = format!("{name} {scheme}, moov {place}");
                let encrypted = dir.file(&format!("{what}.mp4"));
                let back = dir.file("back.mp4");
                encrypt_with(input, &encrypted, scheme, &["--key", &pair(), "--layout", "keep"]);
                assert!(boxes(&fs::read(&encrypted).unwrap(), *b"moof").is_empty());
                decrypt(&encrypted, &back, &pair());
                let same = fs::read(&back).unwrap() == fs::read(input).unwrap();
                let result = if same { Ok(()) } else { Err("other bytes".into()) };
                expected.judge(format!("{what}: we decrypt"), result);
                if !ffmpeg_differs(name, scheme) {
                    let theirs = [Reading::sealed(&encrypted, Read::File)];
                    expected.same(format!("{what}: ffmpeg decrypts"), theirs, &clear);
                }
            }
        }
    }
    expected.assert(&ffmpeg);
}

/// Image sequences (`pict`) and auxiliary video (`auxv`) of every codec, scheme and layout. The
/// decrypters take only `vide`, so the handler is changed to that for them: what they decrypt with
/// are the sample entries and the subsamples that were written for the other handler.
#[test]
fn handlers_of_video() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let dir = Dir::new();
    let mut expected = Expectations::default();
    let mut for_shaka = Vec::new();
    let names: &[_] = if is_long() { &["avc_slices", "hevc"] } else { &["hevc"] };
    for name in names.iter().copied() {
        for (form, layout) in [
            (Form::Progressive, "fragmented"),
            (Form::Progressive, "keep"),
            (Form::Fragmented, "fragmented"),
        ] {
            let input = clip(&ffmpeg, &dir, name, form);
            let clear = clear_packets(&ffmpeg, name);
            for (handler, scheme) in
                ["pict", "auxv"].into_iter().flat_map(|handler| SCHEMES.map(|s| (handler, s)))
            {
                let what = format!("{name} {form:?} {layout} {handler} {scheme}");
                let [encrypted, back] = sealed_with_handler(&dir, &input, handler, scheme, layout);
                let ours = [Reading::plain(&back, Read::File)];
                expected.same(format!("{what}: we decrypt"), ours, &clear);
                let read = if layout == "keep" { Read::File } else { Read::Pipe };
                let theirs = [Reading::sealed(&encrypted, read)];
                expected.same(format!("{what}: ffmpeg decrypts"), theirs, &clear);
                if layout != "keep" {
                    for_shaka.push((what, name, encrypted, clear.clone()));
                }
            }
        }
    }
    if let Some(packager) = shaka_packager() {
        shaka_decrypts_all(&packager, &dir, &for_shaka, &mut expected);
    }
    expected.assert(&ffmpeg);
}

/// The file with another handler of its video, encrypted, and decrypted by us; both with `vide` again.
fn sealed_with_handler(
    dir: &Dir,
    clear: &Path,
    handler: &str,
    scheme: &str,
    layout: &str,
) -> [PathBuf; 2] {
    let number = dir.names().len();
    let input = dir.file("in.mp4");
    let [encrypted, back] =
        ["encrypted", "back"].map(|name| dir.file(&format!("{name}.{number}.mp4")));
    let bytes = fs::read(clear).unwrap();
    fs::write(&input, with_handler(bytes, b"vide", handler.as_bytes())).unwrap();
    encrypt_with(&input, &encrypted, scheme, &["--key", &pair(), "--layout", layout]);
    decrypt(&encrypted, &back, &pair());
    for path in [&encrypted, &back] {
        let bytes = fs::read(path).unwrap();
        fs::write(path, with_handler(bytes, handler.as_bytes(), b"vide")).unwrap();
    }
    [encrypted, back]
}

/// Shaka Packager's decryption of files, each with its description and the clip that it is.
fn shaka_decrypts_all(
    packager: &Path,
    dir: &Dir,
    files: &[(String, &'static str, PathBuf, Arc<Packets>)],
    expected: &mut Expectations,
) {
    let names: Vec<_> = (0..files.len()).map(|i| i.to_string()).collect();
    let jobs: Vec<_> = files
        .iter()
        .zip(&names)
        .map(|((_, clip, input, _), name)| Job { dir, name, input, streams: streams(clip) })
        .collect();
    let theirs = shaka_all(packager, &jobs, &decryption(&shaka_keys()));
    for ((what, _, _, clear), theirs) in files.iter().zip(theirs) {
        let what = format!("{what}: Shaka decrypts");
        match theirs {
            Ok(theirs) => expected.same(what, plain(&theirs), clear),
            Err(why) => expected.judge(what, Err(why)),
        }
    }
}

/// The file with another handler type in the `hdlr` of its track.
fn with_handler(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    // Size, type, version and flags, pre_defined, handler_type.
    let is_hdlr = |window: &[u8]| &window[..4] == b"hdlr" && &window[12..] == from;
    let at = bytes.windows(16).position(is_hdlr).unwrap() + 12;
    bytes[at..at + 4].copy_from_slice(to);
    bytes
}

/// The binding of AV1 has `cenc`, and `cbcs` with three patterns: others are refused before anything is
/// written.
#[test]
fn schemes_and_patterns_of_av1() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let dir = Dir::new();
    let input = clip(&ffmpeg, &dir, "av1_tiles", Form::Fragmented);
    let clear = clear_packets(&ffmpeg, "av1_tiles");
    let before = dir.names();
    for args in [&["cens"][..], &["cbc1"], &["cbcs", "--pattern", "2:3"]] {
        let mut command = lanelock();
        command.arg("encrypt").args([&input, &dir.file("out.mp4")]).arg("--scheme").args(args);
        let output = command.args(["--key", &pair()]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let text = stderr(&output);
        for part in
            [&input.display().to_string()[..], "track 1", "av01", "cbcs", "1:9, 5:5 or 10:0"]
        {
            assert!(text.contains(part), "{args:?}: no {part} in {text}");
        }
        assert_eq!(dir.names(), before, "{args:?}");
    }
    for pattern in ["1:9", "5:5", "10:0"] {
        let [encrypted, back] = ["encrypted.mp4", "back.mp4"].map(|name| dir.file(name));
        // Truncated runs as Shaka Packager has them; the option is refused where there are none.
        let runs = ["--truncated-runs", "encrypt"];
        let runs_if_any = if pattern == "5:5" { &runs[..] } else { &[] };
        let args = ["--key", &pair(), "--pattern", pattern];
        encrypt_with(&input, &encrypted, "cbcs", &[&args[..], runs_if_any].concat());
        let mut command = lanelock();
        command.arg("decrypt").args([&encrypted, &back]).args(runs);
        succeed(command.args(["--quiet", "--key", &pair()]));
        assert_eq!(fs::read(&back).unwrap(), fs::read(&input).unwrap(), "{pattern}");
        let Some(packager) = shaka_packager() else { continue };
        let theirs = shaka_decrypts(&packager, &dir, &encrypted, "av1_tiles", &shaka_keys());
        assert_eq!(compare(&joined(&ffmpeg, &theirs.unwrap()), &clear), Ok(()), "{pattern}");
    }
}

/// Patterns other than 1:9, in both readings of truncated runs: ffmpeg leaves them clear, Shaka
/// Packager 3.8 encrypts their whole blocks. N:0 has none for Shaka Packager and for us; ffmpeg leaves
/// its last blocks clear all the same.
#[test]
fn other_patterns() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let dir = Dir::new();
    let mut expected = Expectations::default();
    let mut for_shaka = Vec::new();
    let names: &[_] =
        if is_long() { &["avc", "avc_slices", "hevc"] } else { &["avc_slices", "hevc"] };
    for name in names.iter().copied() {
        let input = clip(&ffmpeg, &dir, name, Form::Progressive);
        let clear = clear_packets(&ffmpeg, name);
        for (scheme, pattern) in ["cbcs", "cens"]
            .into_iter()
            .flat_map(|scheme| ["5:5", "10:0", "1:0", "2:3", "15:1"].map(|p| (scheme, p)))
        {
            for runs in ["clear", "encrypt"] {
                let what = format!("{name} {scheme} {pattern}, truncated runs {runs}");
                // A comma in a name would end it for Shaka Packager.
                let number = dir.names().len();
                let [encrypted, back] =
                    ["encrypted", "back"].map(|file| dir.file(&format!("{file}.{number}.mp4")));
                let runs_as = ["--truncated-runs", runs];
                let args = ["--key", &pair(), "--pattern", pattern];
                // The option is refused for patterns without such runs.
                let none = pattern.ends_with(":0");
                let runs_if_any = if none { &[][..] } else { &runs_as };
                encrypt_with(&input, &encrypted, scheme, &[&args[..], runs_if_any].concat());
                let mut command = lanelock();
                command.arg("decrypt").args([&encrypted, &back]).args(runs_as);
                succeed(command.args(["--quiet", "--key", &pair()]));
                let ours = [Reading::plain(&back, Read::File)];
                expected.same(format!("{what}: we decrypt"), ours, &clear);
                if runs == "clear" && (!none || pattern == "1:0") {
                    let theirs = [Reading::sealed(&encrypted, Read::Pipe)];
                    expected.same(format!("{what}: ffmpeg decrypts"), theirs, &clear);
                } else {
                    for_shaka.push((what, name, encrypted, clear.clone()));
                }
            }
        }
    }
    if let Some(packager) = shaka_packager() {
        shaka_decrypts_all(&packager, &dir, &for_shaka, &mut expected);
    }
    expected.assert(&ffmpeg);
}

/// Given IVs of both lengths.
#[test]
fn given_ivs() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let short = "fffffffffffffffe"; // counts samples beyond 2^64
    let long = "a0a1a2a3a4a5a6a7fffffffffffffff0"; // counts blocks beyond 2^64
    let dir = Dir::new();
    let mut expected = Expectations::default();
    for name in ["avc", "hevc", "aac"] {
        let input = clip(&ffmpeg, &dir, name, Form::Fragmented);
        let clear = clear_packets(&ffmpeg, name);
        for scheme in SCHEMES {
            for iv in [short, long] {
                if scheme == "cbc1" && iv == short {
                    continue;
                }
                let what = format!("{name} {scheme} {iv}");
                let encrypted = dir.file(&format!("{what}.mp4"));
                let [again, back] = ["again.mp4", "back.mp4"].map(|name| dir.file(name));
                let args = ["--key", &pair(), "--iv", iv];
                encrypt_with(&input, &encrypted, scheme, &args);
                encrypt_with(&input, &again, scheme, &args);
                let bytes = fs::read(&encrypted).unwrap();
                assert_eq!(bytes, fs::read(&again).unwrap(), "{what}: repeatable");
                assert!(hex(&bytes).contains(iv), "{what}: the IV is in the file");
                decrypt(&encrypted, &back, &pair());
                assert_eq!(fs::read(&back).unwrap(), fs::read(&input).unwrap(), "{what}");
                if !ffmpeg_differs(name, scheme) {
                    let theirs = [Reading::sealed(&encrypted, Read::Pipe)];
                    expected.same(format!("{what}: ffmpeg decrypts"), theirs, &clear);
                }
            }
        }
    }
    expected.assert(&ffmpeg);
}

/// Published files: what decryption gives is what was published with them.
#[test]
fn published_vectors() {
    let ffmpeg = ffmpeg();
    for ProtectedClip { clip: encrypted, key, clear_media } in protected_clips() {
        let name = &encrypted.name;
        let dir = Dir::new();
        let back = dir.file("back.mp4");
        let bytes = encrypted.read();
        let mut command = lanelock();
        command.arg("decrypt").args([&encrypted.path, &back]).arg("--quiet");
        let mut kids: Vec<_> =
            boxes(&bytes, *b"tenc").into_iter().map(|tenc| hex(&tenc[8..24])).collect();
        kids.sort();
        kids.dedup();
        assert!(!kids.is_empty(), "{name}");
        for kid in kids {
            command.args(["--key", &format!("{kid}:{key}")]);
        }
        succeed(&mut command);
        let ours = media(&fs::read(&back).unwrap());
        assert_eq!(fingerprint(&ours), clear_media, "{name}: mdat differs");
        let Some(ffmpeg) = &ffmpeg else { continue };
        // Not beside what ffmpeg decrypts: version 5.1 reads a part of these files, or nothing.
        let ours = packets(ffmpeg, &back, Read::Pipe, None, "0").unwrap();
        assert!(!ours.is_empty() && ours[0].len() > 100, "{name}: ffmpeg reads the result");
    }
}

/// A key for video, another for audio.
#[test]
fn two_keys() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let packager = shaka_packager();
    let dirs = [Form::Progressive, Form::ManyFragments].map(|form| (form, Dir::new()));
    let clear = clear_packets(&ffmpeg, "avc_aac");
    let mut expected = Expectations::default();
    for (form, dir) in &dirs {
        let input = clip(&ffmpeg, dir, "avc_aac", *form);
        for scheme in SCHEMES {
            let what = format!("{scheme} {form:?}");
            let [encrypted, back] =
                ["encrypted", "back"].map(|name| dir.file(&format!("{scheme}.{name}.mp4")));
            let keys = [format!("video={}", pair()), format!("audio={}", other_pair())];
            encrypt_with(&input, &encrypted, scheme, &["--key", &keys[0], "--key", &keys[1]]);
            for (key, map, stream) in [(KEY, "0:v", 0), (OTHER_KEY, "0:a", 1)] {
                if stream == 1 && ffmpeg_differs("avc_aac", scheme) {
                    continue;
                }
                let theirs = Reading::sealed(&encrypted, Read::Pipe).with_key(key).with_map(map);
                expected.same(format!("{what} {map}"), [theirs], &clear[stream..=stream].to_vec());
            }
            decrypt_both(&encrypted, &back);
            expected.same(&*what, [Reading::plain(&back, Read::File)], &clear);
            let Some(packager) = &packager else { continue };
            let keys = format!(
                "label=A:key_id={KID}:key={KEY},label=B:key_id={OTHER_KID}:key={OTHER_KEY}"
            );
            let theirs =
                shaka(packager, dir, &encrypted, scheme, &streams("avc_aac"), &decryption(&keys));
            expected.same(format!("{what}: Shaka"), plain(&theirs.unwrap()), &clear);
        }
    }
    expected.assert(&ffmpeg);
}

/// A track that is to stay clear does, and has no traces of protection.
#[test]
fn clear_audio() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let dirs = [Form::Progressive, Form::ManyFragments].map(|form| (form, Dir::new()));
    let clear = clear_packets(&ffmpeg, "avc_aac");
    let mut expected = Expectations::default();
    for (form, dir) in &dirs {
        let input = clip(&ffmpeg, dir, "avc_aac", *form);
        for scheme in SCHEMES {
            let what = format!("{scheme} {form:?}");
            let [encrypted, back] =
                ["encrypted", "back"].map(|name| dir.file(&format!("{scheme}.{name}.mp4")));
            encrypt_with(&input, &encrypted, scheme, &["--key", &pair(), "--clear", "audio"]);
            let bytes = fs::read(&encrypted).unwrap();
            assert_eq!(boxes(&bytes, *b"tenc").len(), 1);
            assert!(boxes(&bytes, *b"enca").is_empty() && !boxes(&bytes, *b"mp4a").is_empty());
            let raw = Reading::plain(&encrypted, Read::Pipe);
            let video = raw.clone().with_map("0:v");
            expected.hidden(format!("{what}: video"), video, &clear[..1].to_vec());
            expected.same(format!("{what}: audio"), [raw.with_map("0:a")], &clear[1..].to_vec());
            let theirs = [Reading::sealed(&encrypted, Read::Pipe)];
            expected.same(format!("{what}: ffmpeg decrypts"), theirs, &clear);
            decrypt(&encrypted, &back, &pair());
            let ours = [Reading::plain(&back, Read::File)];
            expected.same(format!("{what}: we decrypt"), ours, &clear);
        }
    }
    expected.assert(&ffmpeg);
}

/// The common `pssh` lists the KIDs; given ones are passed through; `--no-pssh` leaves it out.
#[test]
fn pssh_boxes() {
    let path = longest_clip("avc_aac.mp4");
    let dir = Dir::new();
    let output = dir.file("out.mp4");
    let pssh = || {
        let bytes = fs::read(&output).unwrap();
        boxes(&bytes, *b"pssh").into_iter().map(hex).collect::<Vec<_>>()
    };
    let common = "1077efecc0b24d02ace33c1e52e2fb4b";
    let keys = [format!("video={}", other_pair()), format!("audio={}", pair())];
    let keys = ["--key", &keys[0], "--key", &keys[1]];
    encrypt_with(&path, &output, "cbcs", &keys);
    let both = format!("01000000{common}00000002{KID}{OTHER_KID}00000000");
    assert_eq!(pssh(), std::slice::from_ref(&both));
    // The same key for both: one KID.
    encrypt(&path, &output, "cbcs");
    assert_eq!(pssh(), [format!("01000000{common}00000001{KID}00000000")]);
    encrypt_with(&path, &output, "cbcs", &[&keys[..], &["--no-pssh"]].concat());
    assert!(pssh().is_empty());
    // A Widevine box with a little data, as hexadecimal digits, base64 and from a file.
    let payload = "00000000edef8ba979d64acea3c827dcd51d21ed0000000412345678";
    let given = format!("00000024{}{payload}", hex(b"pssh"));
    let bytes = lanelock_testkit::unhex(&given);
    let file = dir.file("given.pssh");
    fs::write(&file, &bytes).unwrap();
    let file = format!("@{}", file.display());
    let base64 = "AAAAJHBzc2gAAAAA7e+LqXnWSs6jyCfc1R0h7QAAAAQSNFZ4";
    for text in [&given[..], &file, base64] {
        encrypt_with(&path, &output, "cbcs", &[&keys[..], &["--pssh", text]].concat());
        assert_eq!(pssh(), [payload.to_string(), both.clone()], "{text}");
        let only = [&keys[..], &["--no-pssh", "--pssh", text]].concat();
        encrypt_with(&path, &output, "cbcs", &only);
        assert_eq!(pssh(), [payload], "{text}");
    }
    // Decryption takes them away.
    let back = dir.file("back.mp4");
    decrypt_both(&output, &back);
    assert!(boxes(&fs::read(back).unwrap(), *b"pssh").is_empty());
}

fn decrypt_both(input: &Path, output: &Path) {
    let mut command = lanelock();
    command.arg("decrypt").args([input, output]);
    command.args(["--quiet", "--key", &pair(), "--key", &other_pair()]);
    succeed(&mut command);
}
