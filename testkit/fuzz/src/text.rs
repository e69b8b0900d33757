//! Text: keys, selectors, codes, times, `LANELOCK_LEVEL`, CPIX documents, and the manifests that are written of
//! any texts. What is printed is read again as what it was; nothing that may be secret is repeated.

use arbitrary::{Result, Unstructured};
use lanelock_cpix::{Document, ReadOptions, WallClock};
use lanelock_isa::{Choice, Family, Policy, Why, choices_of, families};
use lanelock_manifest::{
    Accessibility, Audio, DashOptions, Files, HlsOptions, KeyLines, Media, Presentation,
    Protection, ProtectionSystem, Role, Segment, SwitchingSet, Template, Text, Track, UsedBy,
    Video, dash, hls,
};
use lanelock_packager::{FourCc, Key, KeyLine, KeyMap, Selector, drm::System};
use lanelock_testkit::dash_rules;

/// The target: the first byte says what the text is.
pub fn text(data: &[u8]) {
    let Some((&kind, rest)) = data.split_first() else { return };
    if kind % 8 == MANIFEST {
        let _ = manifest(rest);
        return;
    }
    if kind % 8 == CPIX {
        cpix(rest);
        return;
    }
    let Ok(text) = str::from_utf8(rest) else { return };
    match kind % 8 {
        KEY => key(text),
        KEYS => keys(text),
        LEVEL => level(text),
        _ => {
            small(text);
        }
    }
}

pub(crate) const KEY: u8 = 0;
pub(crate) const KEYS: u8 = 1;
pub(crate) const LEVEL: u8 = 2;
pub(crate) const CPIX: u8 = 3;
pub(crate) const MANIFEST: u8 = 4;
pub(crate) const SMALL: u8 = 5;

/// A line of a key file.
fn key(text: &str) {
    let result: std::result::Result<KeyLine, _> = text.parse();
    let Ok(line) = result else {
        let shown = result.map_or_else(|error| format!("{error} {error:?}"), |_| String::new());
        silent(text, &shown);
        return;
    };
    let secret = line.key.secret_text();
    let printed = format!("{}={}", line.place(), secret.as_str());
    assert_eq!(printed.parse().as_ref(), Ok(&line), "printed");
    let (kid, hex) = secret.split_once(':').expect("KID:KEY");
    assert_eq!(secret.parse().as_ref(), Ok(&line.key));
    assert!(kid == hex || !format!("{line:?}").replace('-', "").contains(hex), "a key is shown");
    assert_eq!(Key::new(line.key.kid, array(hex)), line.key);
}

/// Nothing of 16 or more digits that stands behind a colon, and so may be a part of a key, is shown.
fn silent(text: &str, shown: &str) {
    let Some((_, secret)) = text.split_once(':') else { return };
    let runs = secret.split(|c: char| !c.is_ascii_hexdigit()).filter(|run| run.len() >= 16);
    for run in runs {
        assert!(!shown.contains(run), "an error shows what may be a key: {shown}");
    }
}

fn array(hex: &str) -> [u8; 16] {
    lanelock_testkit::unhex(hex).try_into().expect("32 digits")
}

/// A key file: no selector has two keys for the same time, no KID two keys.
fn keys(text: &str) {
    let mut map = KeyMap::new();
    let mut known: Vec<KeyLine> = Vec::new();
    for line in text.lines().take(50) {
        let result = map.parse_insert(line);
        match line.parse::<KeyLine>() {
            Ok(line) if result.is_ok() => {
                assert!(known.iter().all(|other| {
                    (&other.selector, other.period) != (&line.selector, line.period)
                        && (other.key.kid != line.key.kid || other.key == line.key)
                }));
                known.push(line);
            }
            Ok(_) => {}
            Err(error) => assert_eq!(result, Err(error)),
        }
        if let Err(error) = map.parse_insert(line) {
            silent(line, &format!("{error} {error:?}"));
        }
    }
    assert!(map.entries().eq(&known));
}

/// `LANELOCK_LEVEL`, beside a second reading of its rules.
fn level(text: &str) {
    let result = choices_of(text).map(|choices| {
        let facts =
            |(family, choice): &(&Family, Choice)| (family.name(), choice.level.name, choice.why);
        choices.iter().map(facts).collect::<Vec<_>>()
    });
    assert_eq!(result.as_ref().ok(), read_level(text).as_ref(), "LANELOCK_LEVEL={text:?}");
    if let Err(error) = result {
        assert!(!error.to_string().is_empty());
    }
}

/// Family, level and reason.
fn read_level(text: &str) -> Option<Vec<(&'static str, &'static str, Why)>> {
    let mut entries: Vec<(&str, &str)> = Vec::new();
    for entry in text.split(',').filter(|_| !text.is_empty()) {
        let entry = entry.split_once('=').unwrap_or(("aes", entry));
        if entries.iter().any(|(family, _)| *family == entry.0) {
            return None;
        }
        entries.push(entry);
    }
    let max = entries.iter().position(|(family, _)| *family == "max");
    let max = match max.map(|at| entries.remove(at).1) {
        None => Policy::host().max_bits(),
        Some("128") => 128,
        Some("256") => 256,
        Some("512") => 512,
        Some(_) => return None,
    };
    let mut choices = Vec::new();
    for family in families() {
        let here = || family.levels().iter().filter(|level| family.has(level.name));
        let named = entries.iter().position(|(name, _)| *name == family.name());
        choices.push(if let Some(name) = named.map(|at| entries.remove(at).1) {
            let level = here().find(|level| level.name == name && level.bits <= max)?;
            (family.name(), level.name, Why::Override)
        } else {
            let level = here().rfind(|level| level.bits <= max).expect("one without vectors");
            let all = here().all(|level| level.bits <= max);
            (family.name(), level.name, if all { Why::Fastest } else { Why::Policy })
        });
    }
    entries.is_empty().then_some(choices)
}

/// Codes, names, times.
fn small(text: &str) {
    fn again<T>(text: &str)
    where
        T: std::str::FromStr<Err: std::fmt::Debug> + ToString + PartialEq + std::fmt::Debug,
    {
        if let Ok(value) = text.parse::<T>() {
            assert_eq!(value.to_string().parse::<T>().expect("printed"), value, "{text:?}");
        }
    }
    again::<Selector>(text);
    again::<FourCc>(text);
    again::<WallClock>(text);
    if let Ok(system) = text.parse::<System>() {
        assert_eq!(system.name().parse(), Ok(system));
    }
}

/// A document that is read is written and read as the same.
fn cpix(bytes: &[u8]) {
    let document = match Document::read(bytes, &ReadOptions::default()) {
        Ok(document) => document,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let shown = format!("{document:?}");
    for key in document.keys.iter().filter_map(|key| key.key.as_ref()) {
        let secret = key.secret_text();
        let (kid, hex) = secret.split_once(':').expect("KID:KEY");
        assert!(
            kid == hex
                || !shown.contains(hex)
                || str::from_utf8(bytes).is_ok_and(|t| t.contains(hex)),
            "a key is shown"
        );
    }
    let Ok(written) = document.to_xml() else { return };
    let again = Document::read(written.as_bytes(), &ReadOptions::default());
    let again = again.unwrap_or_else(|error| panic!("{error}: {}", written.as_str()));
    let strip = |mut document: Document| {
        document.version = None; // it is written in the version that is new
        document
    };
    assert_eq!(strip(again), strip(document), "{}", written.as_str());
}

/// A presentation with any texts in it: the MPD is XML that keeps the rules, and no text of a playlist adds a line.
fn manifest(data: &[u8]) -> Result<()> {
    let u = &mut Unstructured::new(data);
    let mut presentation = Presentation::default();
    for number in 0..u.int_in_range(1..=3)? {
        presentation.sets.push(switching_set(u, number)?);
    }
    let template = *u.choose(&[Template::Timeline, Template::Duration])?;
    if let Ok(mpd) = dash(&presentation, &DashOptions::default().with_template(template)) {
        let broken = dash_rules(&mpd, &|_| Some(1 << 20));
        let xml: Vec<_> = broken.iter().filter(|rule| rule.starts_with("XML")).collect();
        assert!(xml.is_empty(), "{xml:?}: {mpd}");
    }
    if let Ok(files) = hls(&presentation, &HlsOptions::default()) {
        for (name, playlist) in files {
            assert!(playlist.starts_with("#EXTM3U\n") && playlist.ends_with('\n'), "{name}");
            for line in playlist.lines() {
                let control = line.chars().any(char::is_control);
                assert!(!line.is_empty() && !control, "{name}: {line:?} in {playlist}");
                assert_eq!(line.matches('"').count() % 2, 0, "{name}: {line}");
            }
        }
    }
    Ok(())
}

fn switching_set(u: &mut Unstructured<'_>, number: usize) -> Result<SwitchingSet> {
    let protection = if u.arbitrary()? { vec![protection(u)?.of_all_segments()] } else { vec![] };
    let mut start = u.int_in_range(0..=1000)?;
    let mut segments = Vec::new();
    for at in 0..u.int_in_range(1..=4)? {
        let (duration, size) = (u.int_in_range(0..=90_000)?, u.int_in_range(1..=100_000)?);
        segments.push(Segment {
            start,
            duration,
            bytes: at * 100_000..at * 100_000 + size,
            key_frames: vec![],
        });
        start += duration;
    }
    let media = match u.arbitrary::<u8>()? % 4 {
        0 => Media::Text(*u.choose(&[Text::Wvtt, Text::Stpp, Text::WebVtt, Text::Ttml])?),
        1 => Media::Audio(Audio {
            sample_rate: u.arbitrary()?,
            channels: u.arbitrary()?,
            dolby_channels: u.arbitrary()?,
            joc_complexity: u.arbitrary()?,
        }),
        _ => Media::Video(Video {
            width: u.arbitrary()?,
            height: u.arbitrary()?,
            frame_rate: u.arbitrary()?,
            ..Video::default()
        }),
    };
    let text = |u: &mut Unstructured<'_>| u.arbitrary::<&str>().map(ToOwned::to_owned);
    let files = match u.arbitrary::<u8>()? % 3 {
        0 => Files::Single { path: text(u)?, init: 0..900, index: 900..1000 },
        1 => Files::Segments {
            init: Some("init.mp4".into()),
            media: format!("{}$Number$.m4s", text(u)?),
        },
        _ => Files::Segments { init: Some(text(u)?), media: "$Number$.m4s".into() },
    };
    let track = Track {
        name: if u.arbitrary()? { text(u)? } else { format!("track{number}") },
        codecs: if u.arbitrary()? { text(u)? } else { "avc1.64001f".into() },
        media,
        timescale: u.int_in_range(1..=100_000)?,
        files,
        segments,
        sap_type: u.int_in_range(1..=3)?,
        protection: protection.into_iter().flatten().collect(),
        used_by: UsedBy::Both,
    };
    Ok(SwitchingSet {
        language: u.arbitrary()?,
        label: u.arbitrary()?,
        is_default: u.arbitrary()?,
        roles: if u.arbitrary()? { vec![Role::Main] } else { vec![] },
        accessibility: if u.arbitrary()? { vec![Accessibility::Captions] } else { vec![] },
        trick_play_of: None,
        tracks: vec![track],
    })
}

fn protection(u: &mut Unstructured<'_>) -> Result<Protection> {
    let system = *u.choose(&System::ALL)?;
    let mut line = |tag: &str| -> Result<Vec<String>> {
        Ok(match u.arbitrary::<u8>()? % 4 {
            0 => vec![u.arbitrary()?],
            1 => vec![format!("{tag}METHOD=SAMPLE-AES,URI=\"{}", u.arbitrary::<&str>()?)],
            2 => vec![format!("{tag}{}", u.arbitrary::<&str>()?)],
            _ => vec![],
        })
    };
    let (media, multivariant) = (line("#EXT-X-KEY:")?, line("#EXT-X-SESSION-KEY:")?);
    let given = !media.is_empty() || !multivariant.is_empty();
    let system = ProtectionSystem {
        id: system.id(),
        pssh: u.arbitrary()?,
        playready_object: u.arbitrary()?,
        license_url: u.arbitrary()?,
        key_uri: u.arbitrary()?,
        key_lines: given.then_some(KeyLines { media, multivariant }),
    };
    let scheme = *u.choose(&[*b"cenc", *b"cbcs"])?;
    Ok(Protection { scheme: FourCc(scheme), kid: u.arbitrary()?, systems: vec![system] })
}
