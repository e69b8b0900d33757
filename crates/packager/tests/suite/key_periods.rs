//! Keys that change, clear leads, and keys by the size of pictures: what each fragment says, and that its
//! access units have the key of their time.

use std::{fs, process::Command, sync::Arc, time::Duration};

use lanelock_packager::{
    ClearLead, DecryptOptions, EncryptOptions, Error, Iv, Key, KeyLine, KeyMap, KeyPeriods, Layout,
    MoviePlan, PictureClass, PictureLimits, PlanOptions, Protection, Quiet, Scheme,
    SegmentEncryptor, Selector, Summary, decrypt, encrypt, encrypt_segment, inspect,
    io::{MemorySink, MemorySource},
    rewrap,
};
use lanelock_testkit::{
    Scratch,
    boxes::{all, child, children, media},
    demo_clip, ffmpeg, gop_clip, shaka_packager, small_clip, unhex,
};

const SCHEMES: [Scheme; 4] = [Scheme::Cenc, Scheme::Cens, Scheme::Cbc1, Scheme::Cbcs];
const MP4_CLIPS: [&str; 4] = ["avc_aac.mp4", "hevc.mp4", "av1.mp4", "vp9.mp4"];

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// The key of a period, for video or for audio.
fn key(period: u8, kind: u8) -> Key {
    Key::new([kind << 4 | period; 16], [0x80 | kind << 4 | period; 16])
}

fn line(selector: Selector, period: u8, kind: u8) -> KeyLine {
    KeyLine { selector, period: Some(period.into()), key: key(period, kind) }
}

/// Keys for so many periods.
fn keys(periods: u8) -> KeyMap {
    let mut keys = KeyMap::new();
    for period in 0..periods {
        keys.add(line(Selector::Video, period, 1)).unwrap();
        keys.add(line(Selector::Audio, period, 2)).unwrap();
    }
    keys
}

fn constant_keys() -> KeyMap {
    let mut map = KeyMap::new();
    map.insert(Selector::Video, key(0, 1)).unwrap();
    map.insert(Selector::Audio, key(0, 2)).unwrap();
    map
}

fn options(scheme: Scheme, keys: KeyMap) -> EncryptOptions {
    EncryptOptions::new(scheme, keys).with_fragment_duration(ms(200))
}

/// Changes at 400 ms and at 800 ms.
fn rotating(scheme: Scheme) -> EncryptOptions {
    options(scheme, keys(3)).with_key_periods(KeyPeriods::From(vec![ms(400), ms(800)]))
}

fn run(input: &[u8], options: &EncryptOptions) -> Result<(Vec<u8>, Summary), Error> {
    let sink = MemorySink::new();
    let source = MemorySource::new("in.mp4", input.to_vec());
    let summary = encrypt(&source, Box::new(sink.clone()), options, &Quiet)?;
    Ok((sink.into_bytes().unwrap(), summary))
}

fn unlock(input: &[u8], keys: Vec<Key>) -> Result<Vec<u8>, Error> {
    let sink = MemorySink::new();
    let source = MemorySource::new("out.mp4", input.to_vec());
    decrypt(&source, Box::new(sink.clone()), &DecryptOptions::new(keys), &Quiet)?;
    Ok(sink.into_bytes().unwrap())
}

fn all_keys() -> Vec<Key> {
    (0..4).flat_map(|period| [key(period, 1), key(period, 2)]).collect()
}

/// The `moof` boxes of a file, and the `mdat` behind each.
fn fragments(file: &[u8]) -> Vec<(&[u8], &[u8])> {
    let boxes: Vec<_> = children(file).collect();
    let pairs = boxes.windows(2).filter(|pair| pair[0].0 == *b"moof");
    pairs.map(|pair| (pair[0].1, pair[1].1)).collect()
}

/// The KID that a `traf` says by its group; none if it says none.
fn group_kid(traf: &[u8]) -> Option<Vec<u8>> {
    let sgpd = all(traf, *b"sgpd").into_iter().find(|sgpd| sgpd[4..8] == *b"seig")?;
    // Version and flags, type, length, count, reserved, pattern, isProtected, IV size.
    Some(sgpd[20..36].to_vec())
}

#[test]
fn each_fragment_says_the_key_of_its_time() {
    let Some(clip) = gop_clip("192x108") else { return };
    let clear = unlock(&run(&clip, &options(Scheme::Cbcs, constant_keys())).unwrap().0, all_keys());
    let clear = clear.unwrap();
    for scheme in SCHEMES {
        let (file, summary) = run(&clip, &rotating(scheme)).unwrap();
        let found = fragments(&file);
        assert_eq!(found.len(), 6);
        for (number, (moof, _)) in found.iter().enumerate() {
            let period = u8::try_from(number / 2).unwrap();
            let trafs = all(moof, *b"traf");
            assert_eq!(trafs.len(), 2);
            for (kind, traf) in (1..).zip(trafs) {
                assert_eq!(group_kid(traf).unwrap(), key(period, kind).kid, "{scheme} {number}");
            }
            // The common box (W3C) of both KIDs, in order: SystemID, number of KIDs, KIDs.
            let pssh = child(moof, *b"pssh").unwrap();
            let kids = [key(period, 1).kid, key(period, 2).kid].concat();
            assert_eq!((&pssh[20..24], &pssh[24..56]), (&[0, 0, 0, 2][..], &kids[..]));
        }
        let kids: Vec<&str> = summary.tracks[0].kids.iter().map(String::as_str).collect();
        assert_eq!(kids.len(), 3);
        assert_eq!(summary.tracks[0].kid.as_deref(), Some(kids[0]));
        assert_eq!(unlock(&file, all_keys()).unwrap(), clear, "{scheme}");
        let report = inspect(&MemorySource::new("out.mp4", file)).unwrap();
        assert_eq!(report.tracks[0].protection.as_ref().unwrap().kids, kids);
    }
}

#[test]
fn a_wrong_key_of_a_period_is_noticed_and_a_missing_one_is_an_error() {
    let Some(clip) = gop_clip("192x108") else { return };
    let file = run(&clip, &rotating(Scheme::Cenc)).unwrap().0;
    let without: Vec<Key> = all_keys().into_iter().filter(|key| key.kid != [0x12; 16]).collect();
    let error = unlock(&file, without.clone()).unwrap_err().to_string();
    assert!(error.contains("12121212-1212-1212-1212-121212121212"), "{error}");
    let wrong = [without, vec![Key::new([0x12; 16], [9; 16])]].concat();
    let right = unlock(&file, all_keys()).unwrap();
    match unlock(&file, wrong) {
        // Too short a time for a verdict: then period 2 alone has other bytes.
        Ok(other) => {
            let (right, other) = (fragments(&right), fragments(&other));
            for (number, (right, other)) in right.iter().zip(&other).enumerate() {
                assert_eq!(right.1 == other.1, number < 4, "{number}");
            }
        }
        Err(error) => assert!(error.to_string().contains("is wrong"), "{error}"),
    }
}

#[test]
fn fragments_of_a_period_play_with_its_key_in_ffmpeg() {
    let (Some(clip), Some(ffmpeg)) = (gop_clip("192x108"), ffmpeg()) else { return };
    let dir = Scratch::new();
    for scheme in [Scheme::Cenc, Scheme::Cbcs] {
        let file = run(&clip, &rotating(scheme)).unwrap().0;
        let clear = unlock(&file, all_keys()).unwrap();
        let front = |file: &[u8]| -> Vec<u8> {
            let boxes = children(file).take_while(|(kind, _)| kind != b"moof");
            let len: usize = boxes.map(|(_, body)| 8 + body.len()).sum();
            file[..len].to_vec()
        };
        for period in 0..3 {
            let part = |file: &[u8]| {
                let mut part = front(file);
                for (moof, mdat) in fragments(file).into_iter().skip(period * 2).take(2) {
                    for (kind, body) in [(b"moof", moof), (b"mdat", mdat)] {
                        part.extend((u32::try_from(body.len()).unwrap() + 8).to_be_bytes());
                        part.extend(kind);
                        part.extend(body);
                    }
                }
                part
            };
            let number = u8::try_from(period).unwrap();
            for (kind, stream) in [(1, "0:v"), (2, "0:a")] {
                let hash = |name: &str, bytes: &[u8], options: &[&str]| {
                    let path = dir.file(name);
                    fs::write(&path, part(bytes)).unwrap();
                    // By a pipe: a file makes FFmpeg 5.1 lose auxiliary information.
                    let run = Command::new(&ffmpeg)
                        .args(["-v", "error"])
                        .args(options)
                        .args(["-i", "pipe:0", "-map", stream, "-c", "copy", "-f", "md5", "-"])
                        .stdin(fs::File::open(path).unwrap())
                        .output()
                        .unwrap();
                    assert!(run.status.success());
                    run.stdout
                };
                let secret: String = key(number, kind).secret_text()[33..].into();
                let encrypted = hash("encrypted.mp4", &file, &["-decryption_key", &secret]);
                let wrong = key(number + 1, kind).secret_text()[33..].to_owned();
                let wrong = hash("encrypted.mp4", &file, &["-decryption_key", &wrong]);
                let expected = hash("clear.mp4", &clear, &[]);
                assert_eq!(encrypted, expected, "{scheme}, period {period}, {stream}");
                assert_ne!(wrong, expected);
            }
        }
    }
}

#[test]
fn files_of_shaka_packager_whose_keys_change() {
    let Some(packager) = shaka_packager() else { return };
    let dir = Scratch::new();
    let output = dir.file("out.mp4");
    let package = |options: &[&str]| {
        let (input, to) = (demo_clip().display().to_string(), output.display());
        let run = Command::new(&packager)
            .arg(format!("in={input},stream=video,output={to},drm_label=x"))
            .args(["--segment_duration", "1"])
            .args(options)
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        fs::read(&output).unwrap()
    };
    let clear = media(&package(&[]));
    let (kid, secret) = ("00112233445566778899aabbccddeeff", "0f1e2d3c4b5a69788796a5b4c3d2e1f0");
    // With raw keys, each period has KID and key of the one before, a byte further.
    let rotated = |period: usize| {
        let (mut kid, mut secret) = (unhex(kid), unhex(secret));
        kid.rotate_left(period);
        secret.rotate_left(period);
        Key::new(kid.try_into().unwrap(), secret.try_into().unwrap())
    };
    for scheme in ["cenc", "cbcs"] {
        for lead in ["0", "1"] {
            let file = package(&[
                "--enable_raw_key_encryption",
                "--keys",
                &format!("label=x:key_id={kid}:key={secret}"),
                "--crypto_period_duration",
                "2",
                "--clear_lead",
                lead,
                "--protection_scheme",
                scheme,
            ]);
            let found = unlock(&file, (0..3).map(rotated).collect()).unwrap();
            assert_eq!(media(&found), clear, "{scheme}, clear lead {lead}");
        }
    }
}

#[test]
fn a_clear_lead_is_clear_and_the_rest_is_as_without_it() {
    for name in MP4_CLIPS {
        let clip =
            if name == "avc_aac.mp4" { gop_clip("192x108") } else { Some(small_clip(name).read()) };
        let Some(clip) = clip else { continue };
        for scheme in SCHEMES {
            let is_limited = matches!(name, "av1.mp4" | "vp9.mp4");
            if is_limited && !matches!(scheme, Scheme::Cenc | Scheme::Cbcs) {
                continue;
            }
            let plain = options(scheme, constant_keys()).with_iv(Iv::Given(vec![7; 16]));
            let whole = run(&clip, &plain).unwrap().0;
            let clear = unlock(&whole, all_keys()).unwrap();
            let count = fragments(&whole).len();
            if count < 2 {
                continue;
            }
            for form in [ClearLead::SampleEntry, ClearLead::SampleGroup] {
                let lead = plain.clone().with_clear_lead(ms(1)).with_clear_lead_form(form);
                let (file, summary) = run(&clip, &lead).unwrap();
                let (file_f, whole_f, clear_f) =
                    (fragments(&file), fragments(&whole), fragments(&clear));
                assert_eq!(file_f[0].1, clear_f[0].1, "{name} {scheme} {form:?}");
                for number in 1..count {
                    // IVs go on as if the lead were encrypted.
                    assert_eq!(file_f[number].1, whole_f[number].1, "{name} {scheme} {number}");
                }
                let traf = all(file_f[0].0, *b"traf")[0];
                let has = |kind: &[u8; 4]| !all(traf, *kind).is_empty();
                assert!(!has(b"senc") && !has(b"saiz") && !has(b"saio"));
                assert_eq!(has(b"sgpd"), form == ClearLead::SampleGroup);
                assert!(summary.tracks[0].clear_access_units > 0);
                let back = unlock(&file, all_keys()).unwrap();
                assert_eq!(media(&back), media(&clear));
                if form == ClearLead::SampleGroup {
                    assert_eq!(back, clear);
                }
            }
        }
    }
}

#[test]
fn a_lead_longer_than_the_file_is_an_error() {
    let clip = small_clip("avc_aac.mp4").read();
    let options = options(Scheme::Cbcs, constant_keys()).with_clear_lead(ms(3_600_000));
    let error = run(&clip, &options).unwrap_err().to_string();
    assert!(error.contains("nothing would be protected"), "{error}");
}

#[test]
fn periods_without_keys_and_keys_without_periods_are_errors() {
    let Some(clip) = gop_clip("192x108") else { return };
    let every = KeyPeriods::From(vec![ms(400), ms(800)]);
    let error = |options: EncryptOptions| run(&clip, &options).unwrap_err().to_string();
    let two = error(options(Scheme::Cbcs, keys(2)).with_key_periods(every.clone()));
    assert!(
        two.contains("key period 2, which begins at 0.8 s") && two.contains("only for 0, 1;"),
        "{two}"
    );
    let none = error(options(Scheme::Cbcs, constant_keys()).with_key_periods(every.clone()));
    assert!(none.contains("--rotate") && none.contains("all time"), "{none}");
    let single = error(options(Scheme::Cbcs, keys(2)));
    assert!(single.contains("--rotate"), "{single}");
    let falling = KeyPeriods::From(vec![ms(400), ms(400)]);
    let falling = error(options(Scheme::Cbcs, keys(3)).with_key_periods(falling));
    assert!(falling.contains("do not rise"), "{falling}");
    let keep = error(rotating(Scheme::Cbcs).with_layout(Layout::Keep));
    assert!(keep.contains("progressive"), "{keep}");
    // Audio may have one key, where that of video changes.
    let mut mixed = keys(3);
    mixed = mixed.entries().filter(|line| line.selector == Selector::Video).fold(
        KeyMap::new(),
        |mut map, line| {
            map.add(line.clone()).unwrap();
            map
        },
    );
    mixed.insert(Selector::Audio, key(0, 2)).unwrap();
    let file = run(&clip, &options(Scheme::Cbcs, mixed).with_key_periods(every)).unwrap().0;
    for (number, (moof, _)) in fragments(&file).into_iter().enumerate() {
        let trafs = all(moof, *b"traf");
        let period = u8::try_from(number / 2).unwrap();
        assert_eq!(group_kid(trafs[0]).unwrap(), key(period, 1).kid);
        assert_eq!(group_kid(trafs[1]), None);
    }
    unlock(&file, all_keys()).unwrap();
}

#[test]
fn segments_made_one_by_one_are_those_of_the_file() {
    let Some(clip) = gop_clip("192x108") else { return };
    for scheme in SCHEMES {
        for lead in [0, 300] {
            let options =
                rotating(scheme).with_iv(Iv::Given(vec![5; 16])).with_clear_lead(ms(lead));
            let whole = run(&clip, &options).unwrap().0;
            let source = Arc::new(MemorySource::new("in.mp4", clip.clone()));
            let plan = PlanOptions::new().with_fragment_duration(ms(200));
            let plan = MoviePlan::new(source, &plan, &Quiet).unwrap();
            let protection = Protection::new(&plan, options, &Quiet).unwrap();
            let whole = fragments(&whole);
            for number in (0..plan.len()).rev() {
                let segment = protection.segment(number).unwrap();
                assert_eq!(fragments(&segment)[0], whole[number], "{scheme} {number}");
            }
        }
    }
}

#[test]
fn segments_in_files_of_their_own() {
    let Some(clip) = gop_clip("192x108") else { return };
    let clear = run(&clip, &options(Scheme::Cbcs, constant_keys())).unwrap().0;
    let clear = unlock(&clear, all_keys()).unwrap();
    let (mut init, mut segments) = (Vec::new(), Vec::new());
    for (kind, body) in children(&clear) {
        let bytes =
            [&(u32::try_from(body.len()).unwrap() + 8).to_be_bytes()[..], &kind, body].concat();
        match &kind {
            b"ftyp" | b"moov" => init.extend(bytes),
            b"moof" => segments.push(bytes),
            b"mdat" => segments.last_mut().unwrap().extend(bytes),
            _ => {}
        }
    }
    let init = MemorySource::new("init.mp4", init);
    let mut encryptor = SegmentEncryptor::new(&init, rotating(Scheme::Cbcs)).unwrap();
    encryptor.init(Box::new(MemorySink::new()), &Quiet).unwrap();
    for (number, segment) in segments.iter().enumerate() {
        let segment = MemorySource::new("1.m4s", segment.clone());
        let sink = MemorySink::new();
        encryptor.segment(&segment, Box::new(sink.clone()), &Quiet).unwrap();
        let bytes = sink.into_bytes().unwrap();
        let period = u8::try_from(number / 2).unwrap();
        let trafs = all(fragments(&bytes)[0].0, *b"traf");
        assert_eq!(group_kid(trafs[0]).unwrap(), key(period, 1).kid);
        // Alone it does not say when it is.
        let alone = rotating(Scheme::Cbcs).with_iv(Iv::Given(vec![5; 16]));
        let error = encrypt_segment(&init, &segment, Box::new(MemorySink::new()), &alone, &Quiet);
        assert!(error.unwrap_err().to_string().contains("key period"));
    }
    encryptor.finish().unwrap();
}

#[test]
fn rewrap_reads_and_writes_keys_that_change() {
    let Some(clip) = gop_clip("192x108") else { return };
    let mut new = KeyMap::new();
    for period in 0..3 {
        for (selector, kind) in [(Selector::Video, 3), (Selector::Audio, 4)] {
            new.add(line(selector, period, kind)).unwrap();
        }
    }
    let single = {
        let mut single = KeyMap::new();
        single.insert(Selector::All, key(0, 5)).unwrap();
        single
    };
    let news: Vec<Key> = new.keys().cloned().chain([key(0, 5)]).collect();
    let periods = KeyPeriods::From(vec![ms(400), ms(800)]);
    for form in [ClearLead::SampleEntry, ClearLead::SampleGroup] {
        for (from, lead) in [(Scheme::Cenc, 0), (Scheme::Cbcs, 0), (Scheme::Cbcs, 300)] {
            let old = rotating(from).with_clear_lead(ms(lead)).with_clear_lead_form(form);
            let file = run(&clip, &old).unwrap().0;
            let clear = media(&unlock(&file, all_keys()).unwrap());
            for (keys, periods, lead) in [
                (single.clone(), KeyPeriods::Single, 0),
                (new.clone(), periods.clone(), 0),
                (new.clone(), periods.clone(), 300),
            ] {
                let to = EncryptOptions::new(Scheme::Cbcs, keys)
                    .with_key_periods(periods)
                    .with_clear_lead(ms(lead))
                    .with_clear_lead_form(form);
                let sink = MemorySink::new();
                let source = MemorySource::new("old.mp4", file.clone());
                let from = DecryptOptions::new(all_keys());
                rewrap(&source, Box::new(sink.clone()), &from, &to, &Quiet).unwrap();
                let bytes = sink.into_bytes().unwrap();
                assert_eq!(
                    fragments(&bytes)[0].0.windows(4).any(|kind| kind == b"senc"),
                    lead == 0
                );
                assert_eq!(media(&unlock(&bytes, news.clone()).unwrap()), clear);
            }
        }
    }
}

#[test]
fn keys_by_the_size_of_pictures() {
    // 320 x 180 pixels or so: SD, unless the limits say otherwise.
    let clip = fs::read(demo_clip()).unwrap();
    let with = |classes: &[(PictureClass, u8)], limits: PictureLimits| {
        let mut keys = KeyMap::new();
        for (class, kind) in classes {
            keys.insert(Selector::Picture(*class), key(0, *kind)).unwrap();
        }
        keys.insert(Selector::Audio, key(0, 6)).unwrap();
        let options = EncryptOptions::new(Scheme::Cbcs, keys).with_picture_limits(limits);
        run(&clip, &options).map(|(_, summary)| summary.tracks[0].kid.clone())
    };
    let kid = |kind| Some(key(0, kind).kid_text());
    let all = [(PictureClass::Sd, 1), (PictureClass::Hd, 2), (PictureClass::Uhd, 3)];
    let limits = |sd, hd, uhd1| PictureLimits::new(sd, hd, uhd1).unwrap();
    let report = inspect(&MemorySource::new("in.mp4", clip.clone())).unwrap();
    let pixels = u64::from(report.tracks[0].width) * u64::from(report.tracks[0].height);
    assert_eq!(with(&all, limits(pixels, pixels + 1, pixels + 2)).unwrap(), kid(1));
    assert_eq!(with(&all, limits(pixels - 1, pixels, pixels + 1)).unwrap(), kid(2));
    assert_eq!(with(&all, limits(1, pixels - 1, pixels)).unwrap(), kid(3));
    let uhd1 = [&all[..], &[(PictureClass::Uhd1, 4), (PictureClass::Uhd2, 5)]].concat();
    assert_eq!(with(&uhd1, limits(1, pixels - 1, pixels)).unwrap(), kid(4));
    assert_eq!(with(&uhd1, limits(1, 2, pixels - 1)).unwrap(), kid(5));
    let error = with(&all[..1], limits(1, 2, 3)).unwrap_err().to_string();
    assert!(error.contains("there is no key for it"), "{error}");
}
