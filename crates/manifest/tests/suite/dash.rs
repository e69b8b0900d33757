//! The MPD, read back by another program's parser.

use crate::support::*;
use dash_mpd_core::{AdaptationSet, ContentProtection, MPD, Representation, parse};
use lanelock_manifest::{
    DashOptions, Error, Files, HlsOptions, Media, Presentation, SwitchingSet, Template, Text,
    Track, UsedBy, Video, VideoRange, dash, hls,
};
use lanelock_testkit::dash_rules;

fn read(presentation: &Presentation) -> MPD {
    parse(&dash(presentation, &DashOptions::default()).unwrap()).unwrap()
}

fn one(tracks: Vec<Track>) -> Presentation {
    Presentation { sets: vec![set(None, tracks)] }
}

fn sets(mpd: &MPD) -> &[AdaptationSet] {
    &mpd.periods[0].adaptations
}

fn representation(mpd: &MPD, id: &str) -> Representation {
    let all = sets(mpd).iter().flat_map(|set| &set.representations);
    all.into_iter().find(|representation| representation.id.as_deref() == Some(id)).unwrap().clone()
}

fn duration(presentation: &Presentation) -> Result<String, Error> {
    dash(presentation, &DashOptions::default().with_template(Template::Duration))
}

#[test]
fn a_film_obeys_the_rules() {
    for scheme in [*b"cenc", *b"cbcs"] {
        for film in [film(scheme), film_in_files(scheme), film_in_motion(scheme)] {
            let sizes = sizes(&film);
            let mpd = dash(&film, &DashOptions::default()).unwrap();
            assert_eq!(dash_rules(&mpd, &|path| sizes.get(path).copied()), [""; 0], "{mpd}");
        }
    }
}

#[test]
fn random_films_obey_the_rules() {
    let mut regular = 0;
    for seed in 0..300 {
        let film = random_film(seed);
        let sizes = sizes(&film);
        let size = |path: &str| sizes.get(path).copied();
        let mpd = dash(&film, &DashOptions::default()).unwrap();
        assert_eq!(dash_rules(&mpd, &size), [""; 0], "seed {seed}: {mpd}");
        if let Ok(mpd) = duration(&film) {
            assert_eq!(dash_rules(&mpd, &size), [""; 0], "seed {seed}: {mpd}");
            regular += 1;
        }
    }
    assert!(regular > 30, "{regular} films have segments of one duration");
}

#[test]
fn it_has_what_players_choose_by() {
    let mpd = read(&film(*b"cbcs"));
    assert_eq!(mpd.mediaPresentationDuration.unwrap().as_micros(), 19_270_000);
    let [main, trick, english, atmos, french, described, german, sdh] = sets(&mpd) else {
        panic!("{} sets", sets(&mpd).len())
    };
    let value = |property: &Option<String>| property.clone().unwrap_or_default();
    assert_eq!(main.par.as_deref(), Some("16:9"));
    assert_eq!((main.maxWidth, main.maxHeight), (Some(1280), Some(720)));
    assert_eq!(main.maxFrameRate.as_deref(), Some("24000/1001"));
    assert_eq!((main.segmentAlignment, main.startWithSAP), (Some(true), Some(1)));
    assert_eq!(value(&main.Role[0].value), "main");
    assert_eq!(trick.essential_property[0].schemeIdUri, "http://dashif.org/guidelines/trickmode");
    assert_eq!(trick.essential_property[0].value, main.id);
    assert_eq!((trick.codingDependency, trick.maxPlayoutRate), (Some(false), Some(47.0)));
    assert_eq!(english.lang.as_deref(), Some("en"));
    assert_eq!(english.Label[0].content, "English & 'more'");
    assert_eq!(value(&english.AudioChannelConfiguration[0].value), "2");
    assert_eq!(
        (
            atmos.AudioChannelConfiguration[0].schemeIdUri.as_str(),
            value(&atmos.AudioChannelConfiguration[0].value)
        ),
        ("tag:dolby.com,2014:dash:audio_channel_configuration:2011", "F801".to_owned())
    );
    let joc: Vec<_> =
        atmos.supplemental_property.iter().map(|property| value(&property.value)).collect();
    assert_eq!(joc, ["JOC", "16"]);
    assert_eq!(french.lang.as_deref(), Some("fr"));
    let purposes: Vec<_> = described.Accessibility.iter().map(|whom| value(&whom.value)).collect();
    assert_eq!(purposes, ["1", "description"]);
    // WebVTT in MP4 is for DASH, the files for HLS.
    let names: Vec<_> = german.representations.iter().map(|r| value(&r.id)).collect();
    assert_eq!((german.lang.as_deref(), names), (Some("de-CH"), vec!["de-wvtt".to_owned()]));
    assert_eq!(value(&sdh.Role[0].value), "caption");
    assert_eq!(value(&sdh.representations[0].codecs), "stpp.ttml.im1t");
}

#[test]
fn segments_of_one_set_are_told_once() {
    let mpd = read(&film(*b"cbcs"));
    let template = sets(&mpd)[0].SegmentTemplate.clone().unwrap();
    assert_eq!(template.media.as_deref(), Some("$RepresentationID$/$Number$.m4s"));
    assert_eq!(template.initialization.as_deref(), Some("$RepresentationID$/init.mp4"));
    let timeline = template.SegmentTimeline.unwrap().segments;
    let runs: Vec<_> = timeline.iter().map(|s| (s.t, s.d, s.r)).collect();
    assert_eq!(runs, [(Some(0), 48_048, Some(8)), (None, 30_030, None)]);
    // Names that are no folder cannot be shared.
    let mut flat = one(vec![video("a", 360, 500_000), video("b", 720, 900_000)]);
    for track in &mut flat.sets[0].tracks {
        let name = &track.name;
        track.files = Files::Segments {
            init: Some(format!("{name}.mp4")),
            media: format!("{name}-$Number$$.m4s"),
        };
    }
    let mpd = read(&flat);
    assert_eq!(sets(&mpd)[0].SegmentTemplate, None);
    let template = representation(&mpd, "b").SegmentTemplate.unwrap();
    assert_eq!(template.media.as_deref(), Some("b-$Number$$$.m4s"), "a dollar is doubled");
}

#[test]
fn times_are_kept_exactly() {
    let film = film(*b"cenc");
    let mpd = read(&film);
    for (set, of) in sets(&mpd).iter().zip(film.sets.iter()) {
        for (read, track) in
            set.representations.iter().zip(of.tracks.iter().filter(|t| t.used_by != UsedBy::Hls))
        {
            let template = read.SegmentTemplate.as_ref().or(set.SegmentTemplate.as_ref()).unwrap();
            assert_eq!(template.timescale, Some(track.timescale.into()));
            let (mut time, mut times) = (0, Vec::new());
            for s in &template.SegmentTimeline.as_ref().unwrap().segments {
                time = s.t.unwrap_or(time);
                for _ in 0..=s.r.unwrap_or(0) {
                    times.push((time, s.d));
                    time += s.d;
                }
            }
            let expected: Vec<_> = track.segments.iter().map(|s| (s.start, s.duration)).collect();
            assert_eq!(times, expected, "{}", track.name);
        }
    }
}

#[test]
fn a_gap_in_the_timeline_is_written_as_a_time() {
    let mut film = one(vec![video("v", 360, 500_000)]);
    for segment in &mut film.sets[0].tracks[0].segments[4..] {
        segment.start += 1000;
        segment.key_frames.clear();
    }
    let mpd = read(&film);
    let timeline = sets(&mpd)[0].SegmentTemplate.clone().unwrap().SegmentTimeline.unwrap().segments;
    let runs: Vec<_> = timeline.iter().map(|s| (s.t, s.r)).collect();
    assert_eq!(runs, [(Some(0), Some(3)), (Some(4 * 48_048 + 1000), Some(4)), (None, None)]);
}

#[test]
fn protection_is_told_where_it_is_shared() {
    let mpd = read(&film(*b"cbcs"));
    let scheme = |protection: &[ContentProtection]| {
        protection.iter().map(|p| (p.schemeIdUri.clone(), p.value.clone())).collect::<Vec<_>>()
    };
    let main = &sets(&mpd)[0];
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        scheme(&main.ContentProtection),
        [
            ("urn:mpeg:dash:mp4protection:2011".to_owned(), some("cbcs")),
            ("urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed".to_owned(), None),
            ("urn:uuid:9a04f079-9840-4286-ab92-e65be0885f95".to_owned(), some("MSPR 2.0")),
            ("urn:uuid:e2719d58-a985-b3c9-781a-b030af78d30e".to_owned(), some("ClearKey1.0")),
        ]
    );
    assert!(main.representations.iter().all(|r| r.ContentProtection.is_empty()));
    assert_eq!(
        main.ContentProtection[0].default_KID.as_deref(),
        Some("01010101-0101-0101-0101-010101010101")
    );
    assert!(main.ContentProtection[2].msprpro.is_some());
}

/// Qualities that have keys of their own are in sets of their own, between which players switch.
#[test]
fn a_set_has_one_key() {
    let mut film = film(*b"cenc");
    film.sets[0].tracks[1].protection = protection(*b"cenc", 9).of_all_segments();
    let mpd = read(&film);
    let sets = sets(&mpd);
    let switching = |set: &AdaptationSet| {
        let scheme = "urn:mpeg:dash:adaptation-set-switching:2016";
        set.supplemental_property
            .iter()
            .find(|p| p.schemeIdUri == scheme)
            .and_then(|p| p.value.clone())
    };
    for (set, id, other, kid, track) in [
        (&sets[0], "1", "2", "01010101-0101-0101-0101-010101010101", "v360"),
        (&sets[1], "2", "1", "09090909-0909-0909-0909-090909090909", "v720"),
    ] {
        assert_eq!(set.id.as_deref(), Some(id));
        assert_eq!(switching(set).as_deref(), Some(other));
        assert_eq!(set.ContentProtection[0].default_KID.as_deref(), Some(kid));
        let names: Vec<_> = set.representations.iter().map(|r| r.id.as_deref().unwrap()).collect();
        assert_eq!(names, [track]);
        assert!(set.representations[0].ContentProtection.is_empty());
    }
    let text = dash(&film, &DashOptions::default()).unwrap();
    assert_eq!(text.matches("segmentAlignment=\"1\"").count(), 2);
    // Key frames belong to both.
    let trick = r#"schemeIdUri="http://dashif.org/guidelines/trickmode" value="1 2""#;
    assert!(text.contains(trick), "{text}");
    // Sets whose segments begin at other times are not linked.
    for segment in &mut film.sets[0].tracks[1].segments[3..] {
        segment.start += 4004;
        segment.key_frames.clear();
    }
    assert!(!dash(&film, &DashOptions::default()).unwrap().contains("adaptation-set-switching"));
}

#[test]
fn license_servers_have_the_names_that_players_look_for() {
    // dash-mpd-core knows laurl in lower case only: shaka-player and dash.js look for Laurl of this namespace.
    let text = dash(&film(*b"cenc"), &DashOptions::default()).unwrap();
    assert!(text.contains("xmlns:dashif=\"https://dashif.org/CPS\""));
    assert!(
        text.contains("<dashif:Laurl>https://keys.example/widevine?a=1&amp;b=2</dashif:Laurl>"),
        "{text}"
    );
    assert!(text.contains(
        "<dashif:Laurl Lic_type=\"EME-1.0\">https://keys.example/clear?a=1&amp;b=2</dashif:Laurl>"
    ));
    // Namespaces of what is not there are not there.
    let clear = dash(&one(vec![video("v", 360, 500_000)]), &DashOptions::default()).unwrap();
    assert_eq!(clear.matches("xmlns").count(), 1, "{clear}");
}

#[test]
fn single_files_have_their_ranges() {
    let film = film_in_files(*b"cenc");
    let mpd = read(&film);
    assert!(mpd.profiles.clone().unwrap().contains("urn:mpeg:dash:profile:isoff-on-demand:2011"));
    let read = representation(&mpd, "v360");
    assert_eq!(read.BaseURL[0].base, "v360.mp4");
    let base = read.SegmentBase.unwrap();
    assert_eq!(base.indexRange.as_deref(), Some("1000-1163"));
    assert_eq!(base.Initialization.unwrap().range.as_deref(), Some("0-999"));
    let set = &sets(&mpd)[0];
    assert_eq!(
        (set.subsegmentAlignment, set.subsegmentStartsWithSAP, set.segmentAlignment),
        (Some(true), Some(1), None)
    );
    assert_eq!(set.essential_property[0].value.as_deref(), Some("16"), "PQ");
    assert_eq!((mpd.maxSegmentDuration, mpd.maxSubsegmentDuration.is_some()), (None, true));
}

/// The set says the highest type of all, and HLS does not say that segments stand for themselves.
#[test]
fn open_groups_of_pictures_are_told() {
    for (sap_type, independent) in [(1, true), (2, true), (3, false)] {
        let open = Track { sap_type, ..video("b", 720, 900_000) };
        let film = one(vec![video("a", 360, 500_000), open]);
        assert_eq!(sets(&read(&film))[0].startWithSAP, Some(sap_type.into()));
        let playlists = hls(&film, &HlsOptions::default()).unwrap();
        let main = &playlists.iter().find(|(name, _)| name == "main.m3u8").unwrap().1;
        assert_eq!(main.contains("#EXT-X-INDEPENDENT-SEGMENTS"), independent);
    }
    let none = one(vec![Track { sap_type: 0, ..video("a", 360, 500_000) }]);
    let error = dash(&none, &DashOptions::default()).unwrap_err().to_string();
    assert!(error.contains("stream access points of type 0"), "{error}");
}

#[test]
fn a_text_file_is_named_as_it_is() {
    let mut film = one(vec![video("v", 360, 500_000)]);
    film.sets.push(set(Some("en"), vec![whole_text("en", Text::Ttml)]));
    let mpd = read(&film);
    let read = representation(&mpd, "en");
    assert_eq!((read.mimeType.as_deref(), read.codecs), (Some("application/ttml+xml"), None));
    assert_eq!(read.BaseURL[0].base, "en.ttml");
}

#[test]
fn hlg_can_be_shown_by_all() {
    let mut hlg = video("v", 360, 500_000);
    if let Media::Video(video) = &mut hlg.media {
        *video = Video { range: VideoRange::Hlg, ..video.clone() };
    }
    let mpd = read(&one(vec![hlg]));
    assert!(sets(&mpd)[0].essential_property.is_empty());
    assert_eq!(sets(&mpd)[0].supplemental_property[0].value.as_deref(), Some("18"));
}

#[test]
fn bandwidth_is_what_is_needed_and_no_more() {
    // One bit per second less, and a client that starts somewhere waits: the rule of the checker says so.
    let film = film(*b"cbcs");
    let sizes = sizes(&film);
    let text = dash(&film, &DashOptions::default()).unwrap();
    let mpd = parse(&text).unwrap();
    for read in sets(&mpd).iter().flat_map(|set| &set.representations) {
        let bandwidth = read.bandwidth.unwrap();
        let less = text.replacen(
            &format!("id=\"{}\" bandwidth=\"{bandwidth}\"", read.id.as_ref().unwrap()),
            &format!("id=\"{}\" bandwidth=\"{}\"", read.id.as_ref().unwrap(), bandwidth - 1),
            1,
        );
        assert_ne!(less, text);
        let broken = dash_rules(&less, &|path| sizes.get(path).copied());
        assert_eq!(broken.len(), 1, "{broken:?}");
        assert!(broken[0].starts_with("5.3.5.2"), "{broken:?}");
    }
}

#[test]
fn one_duration_serves_segments_that_keep_to_it() {
    let film = film(*b"cbcs");
    let sizes = sizes(&film);
    let text = duration(&film).unwrap();
    assert_eq!(dash_rules(&text, &|path| sizes.get(path).copied()), [""; 0]);
    let mpd = parse(&text).unwrap();
    assert_eq!(sets(&mpd)[0].SegmentTemplate.clone().unwrap().duration, Some(48_048.0));
    // Bounds, DASH-IF IOP: half a segment.
    let shifted = |by: u64| {
        let mut film = one(vec![video("v", 360, 500_000)]);
        let segments = &mut film.sets[0].tracks[0].segments;
        segments[4].duration += by;
        segments[5].start += by;
        segments[5].duration -= by;
        for segment in segments.iter_mut() {
            segment.key_frames.clear();
        }
        duration(&film)
    };
    assert!(shifted(24_024).is_ok());
    let error = shifted(24_025).unwrap_err().to_string();
    assert_eq!(
        error,
        "track v: segment 6 (from 11.011 s to 12.012 s) is more than half a segment away from where @duration \
         expects it, 10.010 s; use the segment timeline, or encode with segments of one duration"
    );
}

#[test]
fn one_duration_counts_as_many_segments_as_there_are() {
    // The last one is longer than the others: clients would ask for one more.
    let mut film = one(vec![video("v", 360, 500_000)]);
    let last = film.sets[0].tracks[0].segments.last_mut().unwrap();
    last.duration = 48_048 + 20_000;
    let sizes = sizes(&film);
    let text = duration(&film).unwrap();
    assert_eq!(dash_rules(&text, &|path| sizes.get(path).copied()), [""; 0], "{text}");
    film.sets[0].tracks[0].segments.last_mut().unwrap().duration = 48_048 * 9;
    let error = duration(&film).unwrap_err().to_string();
    assert!(error.starts_with("track v: segment 3 (from 4.004 s"), "{error}");
}

#[test]
fn what_cannot_be_expressed_is_named() {
    let error = |film: Presentation| dash(&film, &DashOptions::default()).unwrap_err().to_string();
    let with = |change: fn(&mut Track)| {
        let mut track = video("v1", 360, 500_000);
        change(&mut track);
        error(one(vec![track]))
    };
    assert_eq!(
        with(|track| track.timescale = 0),
        "track v1: its timescale is 0; it must be the units per second"
    );
    assert_eq!(
        with(|track| track.media = Media::Video(Video::default())),
        "track v1: its size, the shape of its pixels or its frame rate has a 0"
    );
    assert_eq!(with(|track| track.segments.clear()), "track v1: it has no segments; leave it out");
    assert_eq!(with(|track| track.segments[2].duration = 0), "track v1: segment 3 has no duration");
    assert_eq!(
        with(|track| track.segments[1].start = 5),
        "track v1: segment 2 starts at 5, before the end of the one before it (48048)"
    );
    assert_eq!(with(|track| track.segments[1].bytes = 5..5), "track v1: segment 2 has no bytes");
    assert_eq!(
        with(|track| track.segments[9].duration = u64::MAX),
        "track v1: segment 10 ends after 2^50 units or 2^32 seconds"
    );
    assert_eq!(
        with(|track| track.segments[9].bytes = 0..1 << 51),
        "track v1: segment 10 has bytes beyond 2^50 of its track"
    );
    assert_eq!(
        with(|track| track.segments[1].key_frames[0].start = 5),
        "track v1: segment 2 has a key frame that is not inside of it, or out of order"
    );
    assert_eq!(
        with(|track| track.name = "a b".into()),
        "track a b: a name must be of letters, digits, - and _"
    );
    assert_eq!(
        with(|track| track.codecs.clear()),
        "track v1: its codecs are not known; without them no player can choose it"
    );
    assert_eq!(
        with(|track| track.files = Files::Segments { init: None, media: "a/$Number$.m4s".into() }),
        "track v1: it has no initialization segment; only text files go without"
    );
    assert_eq!(
        with(|track| track.files =
            Files::Segments { init: Some("i".into()), media: "a/1.m4s".into() }),
        "track v1: the path of its segments must have $Number$ in it, once"
    );
    assert_eq!(
        with(|track| track.files =
            Files::Segments { init: Some("a b".into()), media: "a/$Number$.m4s".into() }),
        "a path of track v1 is \"a b\", but a URL must not be empty, begin with # or have quotes or white space; escape it"
    );
    assert_eq!(
        with(|track| track.protection = protection(*b"cens", 1).of_all_segments()),
        "track v1: it is protected by cens, which manifests cannot express; use cenc or cbcs"
    );
    assert_eq!(with(|track| track.used_by = UsedBy::Hls), "there is no track for DASH");
    assert_eq!(error(Presentation::default()), "there is no track for DASH");
    assert_eq!(error(one(Vec::new())), "set 0 of the presentation: it has no tracks; leave it out");
    assert_eq!(
        error(one(vec![video("v", 360, 500_000), video("v", 720, 500_000)])),
        "track v: there is another of this name; names must differ"
    );
    assert_eq!(
        error(one(vec![video("v", 360, 500_000), audio("a", 64_000)])),
        "set 0 of the presentation: v is video, but a is audio; put them into sets of their own"
    );
    let trick = |main| SwitchingSet {
        trick_play_of: Some(main),
        ..set(None, vec![video("t", 360, 10_000)])
    };
    assert_eq!(
        error(Presentation { sets: vec![trick(7)] }),
        "set 0 of the presentation: it is for trick play of set 7, which does not exist"
    );
    assert_eq!(
        error(Presentation { sets: vec![set(None, vec![audio("a", 64_000)]), trick(0)] }),
        "set 1 of the presentation: it is for trick play of set 0, but both must be video, and that one the main content"
    );
    let hls_alone = Track { used_by: UsedBy::Hls, ..video("v", 360, 500_000) };
    assert_eq!(
        error(Presentation { sets: vec![set(None, vec![hls_alone]), trick(0)] }),
        "set 1 of the presentation: it is for trick play of set 0, of which DASH uses no track"
    );
    let labelled =
        SwitchingSet { label: Some("a\nb".into()), ..set(None, vec![audio("a", 64_000)]) };
    assert_eq!(
        error(Presentation { sets: vec![labelled] }),
        "Label in the MPD is \"a\\nb\", but it must not have control characters"
    );
}

#[test]
fn text_is_escaped() {
    let label = "<a> & \"b\" 'c' ]]> é \u{1f3ac}";
    let labelled =
        SwitchingSet { label: Some(label.into()), ..set(None, vec![audio("a", 64_000)]) };
    let mpd = read(&Presentation { sets: vec![labelled] });
    assert_eq!(sets(&mpd)[0].Label[0].content, label);
}

#[test]
fn extreme_numbers_neither_overflow_nor_hang() {
    let mut track = video("v", 360, 500_000);
    track.segments.truncate(2);
    for segment in &mut track.segments {
        segment.key_frames.clear();
    }
    track.segments[0].bytes = 0..1 << 49;
    for (timescale, end) in [(1, (1 << 32) - 48_048), (90_000, 1 << 48), (u32::MAX, 1 << 49)] {
        track.timescale = timescale;
        track.segments[1].duration = end;
        let film = one(vec![track.clone()]);
        assert!(dash(&film, &DashOptions::default()).is_ok());
        assert!(duration(&film).is_err());
        assert!(hls(&film, &HlsOptions::default()).is_ok());
    }
}
