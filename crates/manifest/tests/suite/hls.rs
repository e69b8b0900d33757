//! Playlists, read back by another program's parser.

use std::collections::BTreeMap;

use crate::support::*;
use lanelock_manifest::{
    Error, HlsOptions, Presentation, Protection, ProtectionSpan, ProtectionSystem, SwitchingSet,
    Text, Track, UsedBy, hls,
};
use lanelock_testkit::hls_rules;
use m3u8_rs::{
    AlternativeMediaType, KeyMethod, MasterPlaylist, MediaPlaylist, MediaPlaylistType,
    VariantStream,
};

fn written(film: &Presentation) -> BTreeMap<String, String> {
    hls(film, &HlsOptions::default()).expect("playlists").into_iter().collect()
}

fn main_of(files: &BTreeMap<String, String>) -> MasterPlaylist {
    let (rest, playlist) =
        m3u8_rs::parse_master_playlist(files["main.m3u8"].as_bytes()).expect("a playlist");
    assert_eq!(rest.len(), 0);
    playlist
}

fn media_of(files: &BTreeMap<String, String>, name: &str) -> MediaPlaylist {
    let (rest, playlist) =
        m3u8_rs::parse_media_playlist(files[name].as_bytes()).expect("a playlist");
    assert_eq!(rest.len(), 0);
    assert!(playlist.end_list);
    assert_eq!(playlist.playlist_type, Some(MediaPlaylistType::Vod));
    playlist
}

fn one(tracks: Vec<Track>) -> Presentation {
    Presentation { sets: vec![set(None, tracks)] }
}

fn broken(film: &Presentation) -> Vec<String> {
    let (files, sizes) = (written(film), sizes(film));
    hls_rules("main.m3u8", &|path| files.get(path).cloned(), &|path| sizes.get(path).copied())
}

#[test]
fn a_film_obeys_the_rules() {
    for scheme in [*b"cenc", *b"cbcs"] {
        assert_eq!(broken(&film(scheme)), [""; 0]);
        assert_eq!(broken(&film_in_files(scheme)), [""; 0]);
    }
}

#[test]
fn random_films_obey_the_rules() {
    for seed in 0..300 {
        let film = random_film(seed);
        assert_eq!(broken(&film), [""; 0], "seed {seed}: {}", written(&film)["main.m3u8"]);
    }
}

#[test]
fn small_presentations_obey_the_rules() {
    let films = [
        one(vec![video("v", 360, 500_000)]),
        one(vec![audio("a", 64_000)]),
        one(vec![in_one_file(audio("a", 64_000)), in_one_file(audio("b", 128_000))]),
        Presentation {
            sets: vec![
                set(Some("en"), vec![audio("en", 64_000)]),
                set(Some("fr"), vec![audio("fr", 64_000)]),
                set(Some("en"), vec![text("text", Text::WebVtt)]),
            ],
        },
        // Each language in another codec.
        Presentation {
            sets: vec![
                set(Some("en"), vec![dolby("en")]),
                set(Some("fr"), vec![audio("fr", 64_000)]),
            ],
        },
        // Segments of less than half the target duration: bit rates of several in a row count.
        one(vec![track("a", "opus", audio("a", 1).media, 10, segments(&[3; 40], 10, 64_000, 1))]),
        one(vec![track(
            "a",
            "opus",
            audio("a", 1).media,
            10,
            segments(&[2, 30, 1, 25, 9, 1, 1, 31], 10, 64_000, 2),
        )]),
        // Nothing that tells two of them apart.
        Presentation {
            sets: vec![set(None, vec![audio("a", 64_000)]), set(None, vec![audio("b", 65_000)])],
        },
    ];
    for film in films {
        assert_eq!(broken(&film), [""; 0], "{}", written(&film)["main.m3u8"]);
    }
}

#[test]
fn variants_are_of_all_videos_and_audio_groups() {
    let files = written(&film(*b"cbcs"));
    let main = main_of(&files);
    assert_eq!(main.version, Some(6));
    assert!(main.independent_segments);
    let (key_frames, variants): (Vec<_>, Vec<_>) =
        main.variants.iter().partition(|variant| variant.is_i_frame);
    let short = |variant: &&VariantStream| (variant.uri.clone(), variant.audio.clone().unwrap());
    let pair = |uri: &str, audio: &str| (uri.to_owned(), audio.to_owned());
    assert_eq!(
        variants.iter().map(short).collect::<Vec<_>>(),
        [
            pair("v360.m3u8", "audio-mp4a"),
            pair("v720.m3u8", "audio-mp4a"),
            pair("v360.m3u8", "audio-mp4a-2"),
            pair("v720.m3u8", "audio-mp4a-2"),
            pair("v360.m3u8", "audio-ec-3-joc"),
            pair("v720.m3u8", "audio-ec-3-joc"),
        ]
    );
    let first = variants[0];
    assert_eq!(first.codecs.as_deref(), Some("avc1.64001f,mp4a.40.2,stpp.ttml.im1t"));
    assert_eq!(variants[5].codecs.as_deref(), Some("avc1.64001f,ec-3,mp4a.40.2,stpp.ttml.im1t"));
    let resolution = first.resolution.unwrap();
    assert_eq!((resolution.width, resolution.height), (640, 360));
    assert!(files["main.m3u8"].contains("VIDEO-RANGE=SDR,FRAME-RATE=23.976,AUDIO="));
    assert_eq!(first.subtitles.as_deref(), Some("text-vtt"));
    assert!(files["main.m3u8"].matches("CLOSED-CAPTIONS=NONE").count() == 6);
    assert_eq!(
        key_frames.iter().map(|variant| variant.uri.as_str()).collect::<Vec<_>>(),
        ["v360-iframes.m3u8", "v720-iframes.m3u8"]
    );
    assert!(
        !files.keys().any(|name| name.contains("trick") || name.contains("wvtt")),
        "those are of DASH"
    );
}

#[test]
fn renditions_say_what_they_are() {
    let main = main_of(&written(&film(*b"cbcs")));
    let members = |group: &str| -> Vec<_> {
        main.alternatives.iter().filter(|media| media.group_id == group).collect()
    };
    let names =
        |group: &str| -> Vec<_> { members(group).iter().map(|media| media.name.clone()).collect() };
    assert_eq!(names("audio-mp4a"), ["English & 'more'", "fr", "en (audio description)"]);
    assert_eq!(names("audio-ec-3-joc"), names("audio-mp4a"));
    let uris: Vec<_> =
        members("audio-ec-3-joc").iter().map(|media| media.uri.clone().unwrap()).collect();
    assert_eq!(
        uris,
        ["en-atmos.m3u8", "fr128.m3u8", "en-ad.m3u8"],
        "what has no Dolby is there in AAC"
    );
    let channels = |group| {
        members(group).iter().map(|media| format!("{:?}", media.channels)).collect::<Vec<_>>()
    };
    assert!(channels("audio-ec-3-joc")[0].contains("16/JOC"), "{:?}", channels("audio-ec-3-joc"));
    let described = members("audio-mp4a")[2];
    assert_eq!(described.characteristics.as_deref(), Some("public.accessibility.describes-video"));
    assert_eq!((described.default, described.autoselect), (false, true));
    assert_eq!(members("audio-mp4a").iter().filter(|media| media.default).count(), 1);
    let text = members("text-vtt");
    assert!(text.iter().all(|media| media.media_type == AlternativeMediaType::Subtitles));
    let short: Vec<_> = text
        .iter()
        .map(|media| (media.name.as_str(), media.language.as_deref(), media.forced))
        .collect();
    assert_eq!(
        short,
        [
            ("de-CH", Some("de-CH"), false),
            ("en (SDH)", Some("en"), false),
            ("en (forced)", Some("en"), true),
        ]
    );
    assert_eq!(
        text[1].characteristics.as_deref(),
        Some(
            "public.accessibility.transcribes-spoken-dialog,public.accessibility.describes-music-and-sound"
        )
    );
}

#[test]
fn bit_rates_are_sums_of_the_largest() {
    let film = film(*b"cenc");
    let main = main_of(&written(&film));
    let tracks: Vec<_> = film.sets.iter().flat_map(|set| &set.tracks).collect();
    let track = |name: &str| *tracks.iter().find(|track| track.name == name).unwrap();
    let rate = |bytes: u64, time: u64, track: &Track| {
        (bytes * 8 * u64::from(track.timescale)).div_ceil(time)
    };
    let average = |name: &str| {
        let track = track(name);
        let bytes = track.segments.iter().map(|s| s.bytes.end - s.bytes.start).sum();
        rate(bytes, track.segments.iter().map(|s| s.duration).sum(), track)
    };
    let peak = |name: &str| {
        let track = track(name);
        // Each segment is from half to one and a half of the target duration, and two of them are more.
        track
            .segments
            .iter()
            .map(|s| rate(s.bytes.end - s.bytes.start, s.duration, track))
            .max()
            .unwrap()
    };
    let largest =
        |names: &[&str], of: &dyn Fn(&str) -> u64| names.iter().map(|name| of(name)).max().unwrap();
    let (audio, text) = (["en64", "fr128", "en-ad"], ["de-vtt", "en-stpp", "en-forced"]);
    let expected = |of: &dyn Fn(&str) -> u64| of("v360") + largest(&audio, of) + largest(&text, of);
    let first = &main.variants[0];
    assert_eq!(first.bandwidth, expected(&peak));
    assert_eq!(first.average_bandwidth, Some(expected(&average)));
}

#[test]
fn segments_are_where_they_are() {
    let film = film(*b"cbcs");
    let playlist = media_of(&written(&film), "v720.m3u8");
    let track = &film.sets[0].tracks[1];
    assert_eq!((playlist.version, playlist.target_duration), (Some(6), 2));
    assert_eq!(playlist.segments[0].map.as_ref().unwrap().uri, "v720/init.mp4");
    for (number, (segment, of)) in playlist.segments.iter().zip(&track.segments).enumerate() {
        assert_eq!(segment.uri, format!("v720/{}.m4s", number + 1));
        assert_eq!(
            format!("{:.3}", segment.duration),
            if of.duration == 48_048 { "2.002" } else { "1.251" }
        );
        assert_eq!(segment.byte_range, None);
    }
    let in_files = film_in_files(*b"cbcs");
    let files = written(&in_files);
    let playlist = media_of(&files, "v720.m3u8");
    let map = playlist.segments[0].map.clone().unwrap();
    assert_eq!(map.uri, "v720.mp4");
    assert_eq!(map.byte_range.map(|range| (range.length, range.offset)), Some((1000, Some(0))));
    for (segment, of) in playlist.segments.iter().zip(&in_files.sets[0].tracks[1].segments) {
        let range = segment.byte_range.clone().unwrap();
        assert_eq!(
            (range.length, range.offset),
            (of.bytes.end - of.bytes.start, Some(of.bytes.start))
        );
    }
    let main = &files["main.m3u8"];
    assert!(main.contains("VIDEO-RANGE=PQ"), "{main}");
}

#[test]
fn durations_do_not_drift() {
    // 1/3 s each: a rounded duration would be off by 0.1 s after 300,000 segments.
    let track = track("a", "opus", audio("a", 1).media, 3, segments(&vec![1; 3000], 3, 64_000, 1));
    let text = &written(&one(vec![track]))["a.m3u8"];
    let durations = text.lines().filter_map(|line| line.strip_prefix("#EXTINF:"));
    let micros =
        durations.map(|line| line.trim_end_matches(',').replace('.', "").parse::<u64>().unwrap());
    assert_eq!(micros.sum::<u64>(), 1_000_000_000);
}

#[test]
fn key_frames_last_until_the_next() {
    let film = film(*b"cbcs");
    let files = written(&film);
    let playlist = media_of(&files, "v360-iframes.m3u8");
    assert!(playlist.i_frames_only);
    assert_eq!(playlist.version, Some(5));
    let frames: Vec<_> = film.sets[0].tracks[0]
        .segments
        .iter()
        .enumerate()
        .flat_map(|(n, s)| s.key_frames.iter().map(move |f| (n, f)))
        .collect();
    assert_eq!(playlist.segments.len(), 20);
    for (segment, (number, frame)) in playlist.segments.iter().zip(&frames) {
        assert_eq!(segment.uri, format!("v360/{}.m4s", number + 1));
        let range = segment.byte_range.clone().unwrap();
        assert_eq!(
            (range.length, range.offset),
            (frame.bytes.end - frame.bytes.start, Some(frame.bytes.start))
        );
    }
    let durations: f64 = playlist.segments.iter().map(|segment| f64::from(segment.duration)).sum();
    assert!((durations - 19.269_25).abs() < 1e-3);
    // Without them there is no such playlist.
    let mut without = video("v", 360, 500_000);
    for segment in &mut without.segments {
        segment.key_frames.clear();
    }
    assert_eq!(
        written(&one(vec![without])).into_keys().collect::<Vec<_>>(),
        ["main.m3u8", "v.m3u8"]
    );
}

#[test]
fn each_system_has_a_key() {
    let files = written(&film(*b"cbcs"));
    let lines: Vec<_> =
        files["v360.m3u8"].lines().filter(|line| line.starts_with("#EXT-X-KEY")).collect();
    // "DgAAAA..." and "AQEB..." are the base64 of the PlayReady Object and the KID.
    assert_eq!(
        lines,
        [
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"data:text/plain;base64,AAAAJHBzc2gAAAAA7e+LqXnWSs6jyCfc1R0h7QAAAAQBAgME\",\
         KEYID=0x01010101010101010101010101010101,KEYFORMAT=\"urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed\",KEYFORMATVERSIONS=\"1\"",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"data:text/plain;charset=UTF-16;base64,DgAAAAEAAQAEADwAPgA=\",\
         KEYFORMAT=\"com.microsoft.playready\",KEYFORMATVERSIONS=\"1\"",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"data:text/plain;base64,AQEBAQEBAQEBAQEBAQEBAQ==\",\
         KEYFORMAT=\"org.w3.clearkey\",KEYFORMATVERSIONS=\"1\"",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://asset/1\",\
         KEYFORMAT=\"com.apple.streamingkeydelivery\",KEYFORMATVERSIONS=\"1\"",
        ]
    );
    let place = |tag: &str| files["v360.m3u8"].find(tag);
    assert!(
        place("#EXT-X-MAP") < place("#EXT-X-KEY"),
        "the initialization segment is not encrypted"
    );
    // FairPlay does not decrypt cenc.
    let files = written(&film(*b"cenc"));
    let playlist = media_of(&files, "v360.m3u8");
    assert_eq!(
        playlist.segments[0].key.as_ref().unwrap().method,
        KeyMethod::Other("SAMPLE-AES-CTR".into())
    );
    assert!(!files["v360.m3u8"].contains("skd"));
    // Of two keys, Clear Key has two session keys, and others one box or object for both.
    let session = main_of(&files).session_key;
    assert_eq!(
        session.len(),
        4,
        "Clear Key of two keys, Widevine and PlayReady with what they have for both"
    );
    // A key that can be fetched.
    let mut film = one(vec![video("v", 360, 500_000)]);
    let clear = ProtectionSystem {
        id: id(COMMON),
        key_uri: Some("v.key".into()),
        ..ProtectionSystem::default()
    };
    film.sets[0].tracks[0].protection =
        Protection { systems: vec![clear], ..protection(*b"cbcs", 1) }.of_all_segments();
    let text = &written(&film)["v.m3u8"];
    assert!(text.contains("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"v.key\",KEYFORMAT=\"identity\",KEYFORMATVERSIONS=\"1\"\n"), "{text}");
}

/// A clear lead, two keys and a clear end: lines where something changes, and nowhere else.
#[test]
fn keys_change_where_spans_begin() {
    let film = film_in_motion(*b"cbcs");
    let files = written(&film);
    let changes = |name: &str| -> Vec<(usize, String)> {
        let playlist = media_of(&files, name);
        let mut before = Vec::new();
        let mut segments = 0;
        for line in files[name].lines() {
            if let Some(key) = line.strip_prefix("#EXT-X-KEY:") {
                if key.contains("skd://") || key.contains("NONE") {
                    before.push((
                        segments,
                        key[..key.find(",KEYFORMAT").unwrap_or(key.len())].to_owned(),
                    ));
                }
            } else if !line.starts_with('#') {
                segments += 1;
            }
        }
        assert_eq!(playlist.segments.len(), segments);
        before
    };
    let key = |kid: u8| format!("METHOD=SAMPLE-AES,URI=\"skd://asset/{kid}\"");
    let none = || "METHOD=NONE".to_owned();
    assert_eq!(changes("v360.m3u8"), [(2, key(1)), (5, key(8)), (9, none())]);
    // Two key frames in each segment.
    assert_eq!(changes("v360-iframes.m3u8"), [(4, key(1)), (10, key(8)), (18, none())]);
    // All keys, before a player needs them.
    let session = main_of(&files).session_key;
    for uri in ["skd://asset/1", "skd://asset/8"] {
        assert_eq!(session.iter().filter(|key| key.0.uri.as_deref() == Some(uri)).count(), 1);
    }
    let sizes = sizes(&film);
    let broken =
        hls_rules("main.m3u8", &|path| files.get(path).cloned(), &|path| sizes.get(path).copied());
    assert_eq!(broken, [""; 0]);
}

#[test]
fn spans_that_cannot_be_are_refused() {
    let error = |spans: Vec<ProtectionSpan>| {
        let mut film = one(vec![video("v", 360, 500_000)]);
        film.sets[0].tracks[0].protection = spans;
        hls(&film, &HlsOptions::default()).unwrap_err().to_string()
    };
    let span = |first, kid| ProtectionSpan { first, protection: Some(protection(*b"cbcs", kid)) };
    for firsts in [[1, 2], [0, 0], [0, 10]] {
        let message = error(firsts.map(|first| span(first, 1)).to_vec());
        assert!(message.starts_with("track v: protection span "), "{message}");
    }
    let cenc = ProtectionSpan { first: 3, protection: Some(protection(*b"cenc", 1)) };
    assert_eq!(
        error(vec![span(0, 1), cenc]),
        "track v: it is protected by cbcs and by cenc; a track has one scheme"
    );
    let mut film = film(*b"cbcs");
    film.sets[0].tracks[1].protection = protection(*b"cenc", 1).of_all_segments();
    assert_eq!(
        hls(&film, &HlsOptions::default()).unwrap_err().to_string(),
        "set 0 of the presentation: v360 is protected by cbcs, but v720 by cenc; put them into sets of their own"
    );
    let mut fewer = span(4, 2);
    fewer.protection.as_mut().unwrap().systems.pop();
    assert_eq!(
        error(vec![span(0, 1), fewer]),
        "track v: the key from segment 5 on has no KEYFORMAT com.apple.streamingkeydelivery, which the one before \
         it has and which would go on to apply; give all keys of a track the same protection systems"
    );
}

#[test]
fn what_cannot_be_expressed_is_named() {
    let error = |film: &Presentation| hls(film, &HlsOptions::default()).unwrap_err().to_string();
    let with = |change: &dyn Fn(&mut Track)| {
        let mut track = video("v1", 360, 500_000);
        change(&mut track);
        error(&one(vec![track]))
    };
    let systems = |systems: Vec<ProtectionSystem>| {
        with(&|track: &mut Track| {
            let protection = Protection { systems: systems.clone(), ..protection(*b"cbcs", 1) };
            track.protection = protection.of_all_segments();
        })
    };
    assert_eq!(
        systems(Vec::new()),
        "track v1: no protection system tells HLS players where to get its key; add one (Clear Key for tests), \
         FairPlay with the scheme cbcs alone"
    );
    let system = |hex| ProtectionSystem { id: id(hex), ..ProtectionSystem::default() };
    assert_eq!(
        systems(vec![system(FAIRPLAY)]),
        "track v1: FairPlay needs the URI of the key, skd://..."
    );
    assert_eq!(
        systems(vec![system(PLAYREADY)]),
        "track v1: PlayReady needs its PlayReady Object for HLS"
    );
    assert_eq!(
        systems(vec![ProtectionSystem { key_uri: Some("skd://a\"b".into()), ..system(FAIRPLAY) }]),
        "URI of EXT-X-KEY in HLS is \"skd://a\\\"b\", but it must not have double quotes or control characters"
    );
    assert_eq!(
        with(&|track| track.used_by = UsedBy::Dash),
        "there is no video or audio track for HLS"
    );
    assert_eq!(
        error(&Presentation { sets: vec![set(None, vec![text("t", Text::Stpp)])] }),
        "there is no video or audio track for HLS"
    );
    let label = |label: &str| {
        let set = SwitchingSet { label: Some(label.into()), ..set(None, vec![audio("a", 64_000)]) };
        error(&Presentation { sets: vec![set] })
    };
    assert_eq!(
        label("a \"b\""),
        "NAME of EXT-X-MEDIA in HLS is \"a \\\"b\\\"\", but it must not have double quotes or control characters"
    );
    assert!(label("a\nb").starts_with("NAME of EXT-X-MEDIA in HLS is \"a\\nb\""));
    let mut film = one(vec![video("v", 360, 500_000)]);
    film.sets.push(set(None, vec![whole_text("t", Text::Ttml)]));
    assert_eq!(error(&film), "track t: HLS has no TTML files; use WebVTT or TTML in MP4");
    let clash = one(vec![video("v", 360, 500_000), video("v-iframes", 720, 900_000)]);
    assert_eq!(
        error(&clash),
        "the name of a playlist is \"v-iframes.m3u8\", but another one has it; give the track or the multivariant \
         playlist another name"
    );
    for name in ["a.m3u8", "", "x/main.m3u8"] {
        let main = hls(&one(vec![audio("a", 64_000)]), &HlsOptions::default().with_name(name));
        assert!(matches!(main, Err(Error::Text { .. })), "{name}");
    }
}
