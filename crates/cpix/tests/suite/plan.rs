//! From documents to the packager's keys.

use std::time::Duration;

use lanelock_cpix::{
    AudioFilter, ContentKey, Document, DrmSystem, KeyPeriod, KeyPlan, ReadOptions, Span, UsageRule,
    VideoFilter,
};
use lanelock_packager::{Key, KeyMap, KeyPeriods, PictureLimits, Scheme, drm};

fn document(count: u8) -> Document {
    let mut document = Document::default();
    for number in 1..=count {
        document.keys.push(ContentKey::new(Key::new([number; 16], [0x70 + number; 16])));
    }
    document
}

fn video(number: u8, min: Option<u64>, max: Option<u64>) -> UsageRule {
    let mut filter = VideoFilter::default();
    filter.min_pixels = min;
    filter.max_pixels = max;
    let mut rule = UsageRule::new([number; 16]);
    rule.video.push(filter);
    rule
}

fn audio(number: u8) -> UsageRule {
    let mut rule = UsageRule::new([number; 16]);
    rule.audio.push(AudioFilter::default());
    rule
}

/// Selector, period and the number of the key.
fn lines(plan: &KeyPlan) -> Vec<String> {
    plan.keys.entries().map(|line| format!("{} {}", line.place(), line.key.kid[0])).collect()
}

fn plan(document: &Document) -> Result<KeyPlan, String> {
    document.key_plan(Scheme::Cbcs).map_err(|error| error.to_string())
}

#[test]
fn kinds_and_sizes_become_selectors() {
    assert_eq!(lines(&plan(&document(1)).unwrap()), ["all 1"]);
    assert!(plan(&document(2)).unwrap_err().contains("2 keys and no usage rules"));
    let mut kinds = document(2);
    kinds.rules = vec![video(1, None, None), audio(2)];
    assert_eq!(lines(&plan(&kinds).unwrap()), ["video 1", "audio 2"]);
    kinds.rules = vec![video(1, None, None)];
    assert_eq!(lines(&plan(&kinds).unwrap()), ["video 1"]);
    let mut all = video(1, None, None);
    all.audio.push(AudioFilter::default());
    kinds.rules = vec![all];
    assert_eq!(lines(&plan(&kinds).unwrap()), ["video 1", "audio 1"]);

    let mut sizes = document(4);
    sizes.rules = vec![
        video(1, None, Some(768 * 576)),
        video(2, Some(768 * 576 + 1), Some(1920 * 1080)),
        video(3, Some(1920 * 1080 + 1), None),
        audio(4),
    ];
    let made = plan(&sizes).unwrap();
    assert_eq!(lines(&made), ["sd 1", "hd 2", "uhd1 3", "uhd2 3", "audio 4"]);
    let limits = made.picture_limits.unwrap();
    assert_eq!((limits.sd, limits.hd), (768 * 576, 1920 * 1080));
    assert_ne!(limits, PictureLimits::default());
    // A gap: pictures between have no key.
    sizes.rules[1] = video(2, Some(1_000_000), Some(1920 * 1080));
    assert_eq!(lines(&plan(&sizes).unwrap()), ["sd 1", "uhd1 2", "uhd2 3", "audio 4"]);
    sizes.rules[2] = video(3, Some(3_000_000), None);
    // More sizes than there are classes.
    assert!(lines(&plan(&sizes).unwrap())[1].starts_with("usage rule 2 (KID 02020202-"));
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let mut rules = document(2);
    let mut multichannel = audio(2);
    multichannel.audio[0].min_channels = Some(3);
    multichannel.unknown_filter = Some("a filter of others".into());
    rules.rules = vec![video(1, None, None), multichannel];
    assert!(plan(&rules).unwrap_err().contains("usage rule 2 (KID 02020202-"));
    rules.rules[1].unknown_filter = None;
    rules.rules[1].kid = [9; 16];
    assert!(plan(&rules).unwrap_err().contains("its key is not in the document"));
    rules.rules[1].kid = [2; 16];
    rules.rules[1].period_ids.push("p".into());
    assert!(plan(&rules).is_err());
    rules.rules = vec![video(1, None, None), video(2, Some(5), None)];
    assert!(plan(&rules).unwrap_err().contains("several keys"));
    let mut other = document(1);
    other.keys[0].common_encryption_scheme = Some("cenc".into());
    assert!(plan(&other).unwrap_err().contains("is for cenc, not for cbcs"));
    assert!(other.key_plan(Scheme::Cenc).is_ok());
}

fn with_periods(spans: &[Option<Span>]) -> Document {
    let mut document = document(u8::try_from(spans.len()).unwrap() + 1);
    for (number, span) in (1..).zip(spans) {
        let mut period = KeyPeriod::default();
        period.id = Some(format!("p{number}"));
        period.index = Some(10 + u32::from(number));
        period.span = *span;
        document.periods.insert(0, period);
        let mut rule = video(number, None, None);
        rule.period_ids.push(format!("p{number}"));
        document.rules.push(rule);
    }
    document.rules.push(audio(u8::try_from(spans.len()).unwrap() + 1));
    document
}

#[test]
fn periods_become_numbers() {
    let expected = ["video@0 1", "video@1 2", "video@2 3", "audio 4"];
    let made = plan(&with_periods(&[None; 3])).unwrap();
    assert_eq!(lines(&made), expected);
    assert!(made.rotates && made.periods.is_none());

    let seconds = Duration::from_secs;
    let media = |start, end| Some(Span::Media { start: seconds(start), end: seconds(end) });
    let made = plan(&with_periods(&[media(0, 60), media(60, 90), media(90, 100)])).unwrap();
    assert_eq!(lines(&made), expected);
    assert_eq!(made.periods, Some(KeyPeriods::From(vec![seconds(60), seconds(90), seconds(100)])));
    for bad in [
        [media(1, 60), media(60, 90)],
        [media(0, 60), media(61, 90)],
        [media(0, 60), media(59, 90)],
    ] {
        assert!(plan(&with_periods(&bad)).is_err());
    }

    let time = |minute: u8| format!("2026-01-01T00:{minute:02}:00Z").parse().unwrap();
    let wall = |start, end| Some(Span::Wall { start: time(start), end: time(end) });
    let made = plan(&with_periods(&[wall(5, 6), wall(6, 8), wall(8, 9)])).unwrap();
    assert_eq!(lines(&made), expected);
    assert_eq!(made.periods, Some(KeyPeriods::From(vec![seconds(60), seconds(180), seconds(240)])));
    assert!(plan(&with_periods(&[wall(5, 6), media(0, 60)])).is_err());

    let mut gap = with_periods(&[None; 3]);
    gap.periods[0].index = Some(20);
    assert!(plan(&gap).unwrap_err().contains("leave one out"));
}

#[test]
fn boxes_and_ivs_are_taken_as_given() {
    let mut document = document(2);
    document.rules = vec![video(1, None, None), audio(2)];
    let mut boxes = Vec::new();
    for key in &document.keys {
        let made = drm::pssh(drm::System::Widevine, Scheme::Cbcs, &[key.key.clone().unwrap()]);
        boxes.push(made.unwrap().raw);
        for raw in [boxes.last().unwrap().clone(), Vec::new()] {
            let mut system = DrmSystem::new(drm::System::Widevine.id(), key.kid);
            system.pssh = Some(raw);
            document.drm_systems.push(system);
        }
    }
    let given = plan(&document).unwrap().given;
    let given: Vec<_> = given.into_iter().filter_map(|given| given.pssh).collect();
    assert_eq!(given, boxes);
    assert_eq!(plan(&document).unwrap().iv, None);
    document.keys[0].explicit_iv = Some([5; 16]);
    assert_eq!(plan(&document).unwrap().iv, None);
    document.keys[1].explicit_iv = Some([5; 16]);
    assert_eq!(plan(&document).unwrap().iv, Some([5; 16]));
}

#[test]
fn keys_become_documents_and_keys_again() {
    let map = |selectors: &[&str]| {
        let mut keys = KeyMap::new();
        for (number, selector) in (0..).zip(selectors) {
            let (kid, key) = (format!("{number:032x}"), "71".repeat(16));
            keys.parse_insert(&format!("{selector}={kid}:{key}")).unwrap();
        }
        keys
    };
    let limits = PictureLimits::default();
    for selectors in [
        &["all"][..],
        &["video", "audio"],
        &["sd", "hd", "uhd1", "uhd2", "audio"],
        &["video@0", "video@1", "audio"],
        &["all@0", "all@1"],
        &["audio"],
    ] {
        let document = Document::of_keys(&map(selectors), limits, Some(Scheme::Cbcs)).unwrap();
        let xml = document.to_xml().unwrap();
        let read = Document::read(xml.as_bytes(), &ReadOptions::default()).unwrap();
        let made = plan(&read).unwrap();
        let places: Vec<_> = made.keys.entries().map(lanelock_packager::KeyLine::place).collect();
        assert_eq!(places, selectors);
        assert!(read.key_plan(Scheme::Cenc).is_err());
        if let Some(made) = made.picture_limits {
            assert_eq!(made, limits);
        }
    }
    for bad in
        [&["all", "video"][..], &["video", "sd"], &["uhd", "uhd2"], &["text"], &["avc1"], &["7"]]
    {
        let error = Document::of_keys(&map(bad), limits, None).unwrap_err().to_string();
        assert!(error.contains(bad.last().unwrap()), "{error}");
    }
    let mut document = Document::of_keys(&map(&["video", "audio"]), limits, None).unwrap();
    let systems = [drm::System::Widevine, drm::System::PlayReady];
    document.add_boxes(&systems, Scheme::Cbcs).unwrap();
    assert_eq!(document.drm_systems.len(), 4);
    assert!(document.to_xml().is_ok());
    assert!(document.add_boxes(&[drm::System::FairPlay], Scheme::Cbcs).is_err());
}
