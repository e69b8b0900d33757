//! Documents, in and out.

use lanelock_cpix::{
    At, AudioFilter, BitrateFilter, ContentKey, CpixError, Document, DrmSystem, HlsSignaling,
    KeyPeriod, Playlist, ReadOptions, RuleError, Span, TrackFacts, TrackSort, UsageRule,
    VideoFilter,
};
use lanelock_packager::{Key, Scheme, drm};
use lanelock_testkit::{Rng, mutants};
use std::time::Duration;

const KEY: &str = "Dx4tPEtaaXiHlqW0w9Lh8A==";

fn read(xml: &str) -> Result<Document, CpixError> {
    Document::read(xml.as_bytes(), &ReadOptions::default())
}

/// A document with this inside of its root.
fn with(inside: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<c:CPIX xmlns:c=\"urn:dashif:org:cpix\" \
         xmlns:p=\"urn:ietf:params:xml:ns:keyprov:pskc\" xmlns:x=\"urn:example\">\n{inside}\n</c:CPIX>\n"
    )
}

fn kid(number: u8) -> String {
    format!("00000000-0000-0000-0000-0000000000{number:02x}")
}

fn key(number: u8) -> String {
    format!(
        "<c:ContentKey kid=\"{}\"><c:Data><p:Secret><p:PlainValue>{KEY}</p:PlainValue></p:Secret></c:Data>\
         </c:ContentKey>",
        kid(number)
    )
}

fn keys(count: u8) -> String {
    let keys: String = (1..=count).map(key).collect();
    format!("<c:ContentKeyList>{keys}</c:ContentKeyList>")
}

fn rules(rules: &str) -> String {
    format!("<c:ContentKeyUsageRuleList>{rules}</c:ContentKeyUsageRuleList>")
}

fn rule(number: u8, filters: &str) -> String {
    format!("<c:ContentKeyUsageRule kid=\"{}\">{filters}</c:ContentKeyUsageRule>", kid(number))
}

fn fault(inside: &str) -> String {
    let error = read(&with(inside)).expect_err(inside).to_string();
    assert!(!error.contains(KEY) && !error.contains("Dx4t"), "{error}");
    error
}

#[test]
fn a_request_that_was_published_is_read() {
    let request = read(include_str!("../fixtures/speke-v2-request.xml")).unwrap();
    assert_eq!(request.content_id.as_deref(), Some("cenc_test_001"));
    assert_eq!(request.version.as_deref(), Some("2.3"));
    assert_eq!(request.keys.len(), 2);
    assert!(request.keys.iter().all(|key| key.key.is_none() && key.suits(Scheme::Cenc)));
    assert_eq!(request.drm_systems.len(), 6);
    assert_eq!(request.drm_systems[2].hls_signaling[1].playlist, Playlist::Multivariant);
    assert_eq!(request.rules[0].video, [VideoFilter::default()]);
    let video = TrackFacts::new(TrackSort::Audio { channels: None });
    assert!(
        matches!(request.key_for(&video, At::NoPeriod), Err(RuleError::NoValue(kid)) if kid.starts_with("041f"))
    );
    assert_eq!(read(&request.to_xml().unwrap()).unwrap(), request);
}

#[test]
fn what_is_not_cpix_is_refused_with_its_place() {
    for (inside, what) in [
        (
            "<c:ContentKeys/>",
            "line 3, column 1: ContentKeys: this element is unknown here (in CPIX)",
        ),
        ("<ContentKeyList/>", "no namespace"),
        ("<p:Secret/>", "pskc:Secret: this element is unknown"),
        ("text", "text where elements belong"),
        ("&lt;", "text where elements belong"),
        ("&nbsp;", "reference to an entity"),
        ("&#1;", "control character"),
        ("<c:ContentKeyList id=\"&#1;\"/>", "control character"),
        ("\u{1}", "control character"),
        ("<c:ContentKeyList a=\"&lol;\"/>", "reference to an entity"),
        ("<c:ContentKeyList/><c:ContentKeyList/>", "it comes too often"),
        ("<c:ContentKeyList a=\"1\"/>", "the attribute a is unknown"),
        ("<c:ContentKeyList id=\"1\" id=\"2\"/>", "the attribute id twice"),
        ("<c:ContentKeyList><c:ContentKey/></c:ContentKeyList>", "kid is missing"),
        ("<c:ContentKeyList><c:ContentKey kid=\"1\"/></c:ContentKeyList>", "kid is not a UUID"),
        ("</c:ContentKeyList>", "end tag"),
        ("<c:ContentKeyList z:id=\"1\"/>", "unknown prefix"),
        ("<z:ContentKeyList/>", "no namespace"),
        ("<!DOCTYPE a>", "DOCTYPE"),
    ] {
        let error = fault(inside);
        assert!(
            error.contains(what) && (error.starts_with("line 3") || what.starts_with("text")),
            "{inside}: {error}"
        );
    }
    let of = |attributes: &str, data: &str| {
        let kid = kid(1);
        format!(
            "<c:ContentKeyList><c:ContentKey kid=\"{kid}\" {attributes}>{data}</c:ContentKey></c:ContentKeyList>"
        )
    };
    let value = |text: &str| {
        of(
            "",
            &format!("<c:Data><p:Secret><p:PlainValue>{text}</p:PlainValue></p:Secret></c:Data>"),
        )
    };
    for (inside, what) in [
        (keys(1) + &keys(1), "too often"),
        (format!("<c:ContentKeyList>{}{}</c:ContentKeyList>", key(1), key(1)), "there twice"),
        (value("Dx4tPEtaaXiHlqW0w9Lh8A="), "not base64"),
        (value("Dx4tPEtaaXiHlqW0w9Lh"), "not 16 bytes long"),
        (value(&format!("{KEY}<x:y/>")), "element in pskc:PlainValue"),
        (of("explicitIV=\"AAAA\"", ""), "explicitIV is not 16 bytes"),
        (of("commonEncryptionScheme=\"\"", ""), "not the name of a scheme"),
        (of(&format!("dependsOnKey=\"{}\"", kid(2)), ""), "hierarchies"),
        (keys(1) + &rules(&rule(2, "")), "no ContentKey with the KID 00000000"),
        (keys(1) + &rules(&rule(1, "<c:KeyPeriodFilter periodId=\"a\"/>")), "names a period"),
        (keys(1) + &rules(&rule(1, "<c:BitrateFilter/>")), "neither minBitrate"),
        (keys(1) + &rules(&rule(1, "<c:VideoFilter minPixels=\"2\" maxPixels=\"1\"/>")), "more than"),
        (keys(1) + &rules(&rule(1, "<c:VideoFilter hdr=\"yes\"/>")), "neither true nor false"),
        (keys(1) + &rules(&rule(1, "<c:VideoFilter minPixels=\"-1\"/>")), "not a number"),
        ("<c:ContentKeyPeriodList><c:ContentKeyPeriod start=\"2026-01-01T00:00:00Z\"/></c:ContentKeyPeriodList>".into(), "start and end"),
        ("<c:ContentKeyPeriodList><c:ContentKeyPeriod index=\"1\"/><c:ContentKeyPeriod index=\"1\"/></c:ContentKeyPeriodList>".into(), "same index"),
        ("<c:ContentKeyPeriodList id=\"a\"><c:ContentKeyPeriod id=\"a\"/></c:ContentKeyPeriodList>".into(), "same id"),
        ("<c:ContentKeyPeriodList><c:ContentKeyPeriod startOffset=\"PT2S\" endOffset=\"PT1S\"/></c:ContentKeyPeriodList>".into(), "end after"),
    ] {
        let error = fault(&inside);
        assert!(error.contains(what), "{inside}: {error}");
    }
    for (xml, what) in [
        ("", "no element"),
        ("<a/>", "root element is not CPIX"),
        ("<CPIX/>", "root element is not CPIX"),
        ("<CPIX xmlns=\"urn:dashif:org:cpix\" version=\"3.0\"/>", "version"),
        ("<CPIX xmlns=\"urn:dashif:org:cpix\"/><a/>", "second root"),
        ("<CPIX xmlns=\"urn:dashif:org:cpix\"/>a", "outside of the root"),
        ("<CPIX xmlns=\"urn:dashif:org:cpix\"", "well-formed"),
        ("<CPIX xmlns=\"urn:dashif:org:cpix\">", "cut short"),
        (
            "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><CPIX xmlns=\"urn:dashif:org:cpix\"/>",
            "encoding",
        ),
    ] {
        let error = read(xml).expect_err(xml).to_string();
        assert!(error.contains(what), "{xml}: {error}");
    }
    assert_eq!(Document::read(&[b'<', 0xff], &ReadOptions::default()), Err(CpixError::NotUtf8(1)));
}

#[test]
fn bombs_end_early() {
    let doctype = "<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>";
    assert!(
        read(&format!("{doctype}{}", with("&b;"))).unwrap_err().to_string().contains("DOCTYPE")
    );
    let long = " ".repeat(lanelock_cpix::MOST_BYTES);
    assert_eq!(read(&with(&long)), Err(CpixError::TooLarge));
    let deep = "<x:a>".repeat(100_000);
    assert!(fault(&deep).contains("nested"));
    let many = "<x:a/>".repeat(300_000);
    assert!(fault(&many).contains("more than 200000 elements"));
    let wide = (0..1000).map(|n| format!(" a{n}=\"\"")).collect::<Vec<_>>().concat();
    assert!(fault(&format!("<x:a{wide}/>")).contains("attributes"));
    // Text in as many pieces as there can be.
    let text = "&lt;".repeat(1 << 20);
    assert!(fault(&text).contains("text where"));
}

#[test]
fn extensions_are_left_out_but_for_filters() {
    let xml = with(&format!(
        "<x:a><x:b/>text</x:a>{}{}<!-- a --><?a b?>",
        keys(2),
        rules(&(rule(1, "<c:VideoFilter x:a=\"1\"/><x:filter/>") + &rule(2, "<c:AudioFilter/>")))
    ));
    let document = read(&xml).unwrap();
    let audio = TrackFacts::new(TrackSort::Audio { channels: Some(2) });
    let error = document.key_for(&audio, At::NoPeriod).unwrap_err().to_string();
    assert!(error.contains("usage rule 1 (KID ") && error.contains("(filter)"), "{error}");
}

fn video(pixels: u64) -> TrackFacts {
    let sort = TrackSort::Video { pixels: Some(pixels), frame_rate: None, hdr: None, wcg: None };
    TrackFacts::new(sort)
}

fn number(document: &Document, track: &TrackFacts, at: At) -> Result<u8, String> {
    document.key_for(track, at).map(|key| key.kid[15]).map_err(|error| error.to_string())
}

#[test]
fn a_track_gets_its_key() {
    let audio = |channels| TrackFacts::new(TrackSort::Audio { channels: Some(channels) });
    let text = TrackFacts::new(TrackSort::Other);
    // The limits of SPEKE v2's presets (Encryption contract).
    let document = read(&with(
        &(keys(4)
            + &rules(
                &(rule(1, "<c:VideoFilter maxPixels=\"589824\"/>")
                    + &rule(2, "<c:VideoFilter minPixels=\"589825\" maxPixels=\"2073600\"/>")
                    + &rule(3, "<c:VideoFilter minPixels=\"2073601\"/>")
                    + &rule(
                        4,
                        "<c:AudioFilter maxChannels=\"2\"/><c:AudioFilter minChannels=\"6\"/>",
                    )),
            )),
    ))
    .unwrap();
    for (track, expected) in [
        (video(1024 * 576), 1),
        (video(1280 * 720), 2),
        (video(1920 * 1080), 2),
        (video(3840 * 2160), 3),
        (audio(2), 4),
        (audio(6), 4),
    ] {
        assert_eq!(number(&document, &track, At::NoPeriod), Ok(expected));
    }
    assert!(number(&document, &audio(3), At::NoPeriod).unwrap_err().contains("none of the 4"));
    assert!(number(&document, &text, At::NoPeriod).unwrap_err().contains("none of the 4"));
    let sort = TrackSort::Video { pixels: None, frame_rate: None, hdr: None, wcg: None };
    let error = number(&document, &TrackFacts::new(sort), At::NoPeriod).unwrap_err();
    assert!(error.contains("usage rule 1") && error.contains("picture size"), "{error}");

    // Without rules.
    assert_eq!(number(&read(&with(&keys(1))).unwrap(), &text, At::NoPeriod), Ok(1));
    assert!(
        number(&read(&with(&keys(2))).unwrap(), &text, At::NoPeriod)
            .unwrap_err()
            .contains("2 keys and no")
    );
    assert!(
        number(&read(&with("")).unwrap(), &text, At::NoPeriod)
            .unwrap_err()
            .contains("no content keys")
    );

    // Two keys for one track, and two rules for one key.
    let twice =
        rules(&(rule(1, "<c:VideoFilter/>") + &rule(2, "<c:BitrateFilter minBitrate=\"5\"/>")));
    let document = read(&with(&(keys(2) + &twice))).unwrap();
    let mut track = video(1);
    let error = number(&document, &track, At::NoPeriod).unwrap_err();
    assert!(error.contains("usage rule 2") && error.contains("bit rate"), "{error}");
    track.bit_rate = Some(5);
    let error = number(&document, &track, At::NoPeriod).unwrap_err();
    assert!(
        error.contains("usage rule 1 (KID") && error.contains(" and usage rule 2 (KID"),
        "{error}"
    );
    track.bit_rate = Some(4);
    assert_eq!(number(&document, &track, At::NoPeriod), Ok(1));
    let twice = rules(&(rule(1, "<c:VideoFilter/>") + &rule(1, "")));
    assert_eq!(number(&read(&with(&(keys(2) + &twice))).unwrap(), &track, At::NoPeriod), Ok(1));
}

#[test]
fn frame_rates_labels_and_words() {
    let at = |frame_rate| {
        let sort = TrackSort::Video {
            pixels: None,
            frame_rate: Some(frame_rate),
            hdr: Some(false),
            wcg: None,
        };
        TrackFacts::new(sort)
    };
    // The least is not in the range, the most is (CPIX 2.4, VideoFilter).
    let document = read(&with(
        &(keys(2)
            + &rules(
                &(rule(1, "<c:VideoFilter maxFps=\"30\" hdr=\"0\"/>")
                    + &rule(2, "<c:VideoFilter minFps=\"30\"/>")),
            )),
    ))
    .unwrap();
    assert_eq!(number(&document, &at((30, 1)), At::NoPeriod), Ok(1));
    assert_eq!(number(&document, &at((30_000, 1001)), At::NoPeriod), Ok(1));
    assert_eq!(number(&document, &at((60_000, 1001)), At::NoPeriod), Ok(2));
    assert!(number(&document, &at((1, 0)), At::NoPeriod).unwrap_err().contains("frame rate"));

    let document = read(&with(
        &(keys(2)
            + &rules(
                &(rule(
                    1,
                    "<c:LabelFilter label=\"a\"/><c:LabelFilter label=\"b\"/><c:VideoFilter/>",
                ) + &rule(2, "<c:LabelFilter label=\"c\"/>")),
            )),
    ))
    .unwrap();
    let mut track = video(1);
    for (label, expected) in [("a", Some(1)), ("b", Some(1)), ("c", Some(2)), ("d", None)] {
        track.labels = Some(vec![label.into()]);
        assert_eq!(number(&document, &track, At::NoPeriod).ok(), expected);
    }

    let named = |number: u8, name: &str| {
        format!("<c:ContentKeyUsageRule kid=\"{}\" intendedTrackType=\"{name}\"/>", kid(number))
    };
    let document =
        read(&with(&(keys(2) + &rules(&(named(1, "VIDEO") + &named(2, "AUDIO")))))).unwrap();
    assert_eq!(number(&document, &video(1), At::NoPeriod), Ok(1));
    let document =
        read(&with(&(keys(2) + &rules(&(named(1, "SD+HD") + &named(2, "UHD")))))).unwrap();
    assert!(number(&document, &video(1), At::NoPeriod).unwrap_err().contains("rule 1 (SD+HD, KID"));
    track.labels = Some(vec!["HD".into()]);
    assert_eq!(number(&document, &track, At::NoPeriod), Ok(1));
    // The rule of SPEKE v2 for all tracks.
    let all =
        read(&with(&(keys(1) + &rules(&rule(1, "<c:VideoFilter/><c:AudioFilter/>"))))).unwrap();
    assert_eq!(number(&all, &video(1), At::NoPeriod), Ok(1));
    assert_eq!(
        number(&all, &TrackFacts::new(TrackSort::Audio { channels: None }), At::NoPeriod),
        Ok(1)
    );
    assert!(number(&all, &TrackFacts::new(TrackSort::Other), At::NoPeriod).is_err());
}

#[test]
fn periods_by_index_and_time() {
    let periods = "<c:ContentKeyPeriodList>\
        <c:ContentKeyPeriod id=\"a\" index=\"7\" start=\"2026-01-01T00:00:00Z\" end=\"2026-01-01T01:00:00Z\"/>\
        <c:ContentKeyPeriod id=\"b\" index=\"8\" start=\"2026-01-01T01:00:00Z\" duration=\"PT1H\"/>\
        </c:ContentKeyPeriodList>";
    let filters = rules(
        &(rule(1, "<c:KeyPeriodFilter periodId=\"a\"/>")
            + &rule(2, "<c:KeyPeriodFilter periodId=\"b\"/>")),
    );
    let document = read(&with(&(keys(2) + periods + &filters))).unwrap();
    let track = video(1);
    let wall = |text: &str| At::Wall(text.parse().unwrap());
    assert_eq!(number(&document, &track, At::Index(7)), Ok(1));
    assert_eq!(number(&document, &track, At::Index(8)), Ok(2));
    assert_eq!(number(&document, &track, wall("2026-01-01T00:59:59.999999Z")), Ok(1));
    assert_eq!(number(&document, &track, wall("2026-01-01T02:00:00+01:00")), Ok(2));
    assert!(
        number(&document, &track, wall("2026-01-01T02:00:00Z")).unwrap_err().contains("none of")
    );
    assert!(number(&document, &track, At::Index(9)).unwrap_err().contains("none of"));
    assert!(number(&document, &track, At::NoPeriod).unwrap_err().contains("by period"));
    let media = At::Media(Duration::ZERO);
    assert!(number(&document, &track, media).unwrap_err().contains("startOffset"));
}

fn everything() -> Document {
    let mut document = Document::default();
    document.content_id = Some("a & \"b\" <c> ü".into());
    document.version = Some("2.4".into());
    let keys = [[1; 16], [2; 16]].map(|kid| Key::new(kid, [kid[0] + 0x70; 16]));
    for key in &keys {
        let mut content = ContentKey::new(key.clone());
        content.explicit_iv = Some([9; 16]);
        content.common_encryption_scheme = Some("cbcs".into());
        document.keys.push(content);
        for system in [drm::System::Widevine, drm::System::PlayReady] {
            let mut data = DrmSystem::new(system.id(), key.kid);
            data.name = Some("name".into());
            data.pssh =
                Some(drm::pssh(system, Scheme::Cbcs, std::slice::from_ref(key)).unwrap().raw);
            data.content_protection_data = Some("<a>ü</a>".into());
            data.robustness = Some("HW".into());
            data.hls_allowed_cpc = Some("a/b".into());
            data.uri_ext_x_key = Some("skd://a".into());
            data.smooth_streaming_protection_header = Some("<b>&".into());
            data.hls_signaling.push(HlsSignaling::new(Playlist::Media, "#EXT-X-KEY:METHOD=NONE\n"));
            data.hls_signaling
                .push(HlsSignaling::new(Playlist::Multivariant, "#EXT-X-SESSION-KEY\n"));
            document.drm_systems.push(data);
        }
    }
    for (index, id) in (3..).zip(["p3", "p4", "p5"]) {
        let mut period = KeyPeriod::default();
        period.id = Some(id.into());
        period.index = Some(index);
        period.label = Some("label".into());
        document.periods.push(period);
    }
    document.periods[1].span = Some(Span::Wall {
        start: "2026-01-01T00:00:00Z".parse().unwrap(),
        end: "2026-01-01T00:00:00.25Z".parse().unwrap(),
    });
    document.periods[2].span =
        Some(Span::Media { start: Duration::ZERO, end: Duration::from_millis(1500) });
    let mut rule = UsageRule::new([1; 16]);
    rule.intended_track_type = Some("HD".into());
    rule.period_ids = vec!["p3".into(), "p4".into()];
    rule.labels = vec!["<label>".into()];
    let mut video = VideoFilter::default();
    video.min_pixels = Some(1);
    video.max_pixels = Some(u64::MAX);
    video.hdr = Some(true);
    video.wcg = Some(false);
    video.min_fps = Some(25);
    video.max_fps = Some(60);
    rule.video.push(video);
    let mut bit_rate = BitrateFilter::default();
    bit_rate.min_bitrate = Some(1);
    rule.bit_rates.push(bit_rate);
    document.rules.push(rule);
    let mut rule = UsageRule::new([2; 16]);
    let mut audio = AudioFilter::default();
    audio.max_channels = Some(6);
    rule.audio = vec![audio, AudioFilter::default()];
    document.rules.push(rule);
    document
}

#[test]
fn what_is_written_is_read_again() {
    let mut document = everything();
    let xml = document.to_xml().unwrap();
    assert_eq!(read(&xml).unwrap(), document);
    assert!(xml.contains("\"multiVariant\""));
    document.version = Some("2.3".into());
    assert!(document.to_xml().unwrap().contains("\"master\""));
    assert!(!format!("{document:?}").contains("7171"));
    // Another reader of XML finds it well-formed, and the keys where they belong.
    let tree = roxmltree::Document::parse(&xml).unwrap();
    let values = tree
        .descendants()
        .filter(|node| node.has_tag_name(("urn:ietf:params:xml:ns:keyprov:pskc", "PlainValue")));
    assert_eq!(
        values.map(|node| node.text().unwrap()).collect::<Vec<_>>(),
        ["cXFxcXFxcXFxcXFxcXFxcQ==", "cnJycnJycnJycnJycnJycg=="]
    );

    document.content_id = Some("\u{1}".into());
    assert!(matches!(document.to_xml(), Err(CpixError::Document(_))));
    document.content_id = None;
    document.rules[0].kid = [8; 16];
    assert!(
        document.to_xml().unwrap_err().to_string().contains("no ContentKey with the KID 08080808")
    );
}

/// Mutants of documents: any bytes are an error or a document that is written and read again.
#[test]
fn mutants_do_no_harm() {
    let seeds = [
        everything().to_xml().unwrap().as_bytes().to_vec(),
        include_bytes!("../fixtures/speke-v2-request.xml").to_vec(),
        include_bytes!("../fixtures/encrypted.xml").to_vec(),
        include_bytes!("../fixtures/signed.xml").to_vec(),
    ];
    let pieces: Vec<&[u8]> = vec![
        b"<",
        b">",
        b"/",
        b"\"",
        b"&",
        b"&amp;",
        b"&#0;",
        b"&#x10FFFF;",
        b"<![CDATA[",
        b"]]>",
        b"<!--",
        b"-->",
        b"<?",
        b"xmlns=\"\"",
        b"xmlns:pskc=\"urn:dashif:org:cpix\"",
        b"<!DOCTYPE a [",
        b"\xff",
        b"\0",
        b"kid",
        b"99999999999999999999",
        b"=",
        b" ",
        b"PT1S",
        b"\xc3\xbc",
    ];
    let mut rng = Rng::from_env("cpix::mutants");
    let mut documents = 0;
    for _ in 0..mutants(4000) {
        let mut bytes = rng.pick(&seeds).clone();
        for _ in 0..=rng.below(4) {
            let at = rng.below(bytes.len());
            match rng.below(5) {
                0 => bytes[at] = rng.array::<1>()[0],
                1 => {
                    let end = (at + rng.below(40)).min(bytes.len());
                    bytes.drain(at..end);
                }
                2 => {
                    let piece = *rng.pick(&pieces);
                    bytes.splice(at..at, piece.iter().copied());
                }
                3 => {
                    let end = (at + rng.below(200)).min(bytes.len());
                    let copy = bytes[at..end].to_vec();
                    let to = rng.below(bytes.len());
                    bytes.splice(to..to, copy);
                }
                _ => bytes.truncate(at),
            }
            if bytes.is_empty() {
                break;
            }
        }
        if let Ok(document) = Document::read(&bytes, &ReadOptions::default()) {
            documents += 1;
            if document.rules.iter().all(|rule| rule.unknown_filter.is_none()) {
                // Elements that mean nothing here, such as an empty list of DRM systems, are not kept.
                let _ = document.to_xml();
            }
            let _ = document.key_for(&video(1), At::Index(3));
        }
    }
    assert!(documents > 0);
}
