//! Presentations for tests, and the sizes of the files that they describe.

use std::collections::BTreeMap;

use lanelock_manifest::{
    Accessibility, Audio, Files, KeyFrame, Media, Presentation, Protection, ProtectionSpan,
    ProtectionSystem, Role, Segment, SwitchingSet, Text, Track, UsedBy, Video, VideoRange,
};
use lanelock_testkit::{Rng, unhex};

pub(crate) const WIDEVINE: &str = "edef8ba979d64acea3c827dcd51d21ed";
pub(crate) const PLAYREADY: &str = "9a04f07998404286ab92e65be0885f95";
pub(crate) const FAIRPLAY: &str = "94ce86fb07ff4f43adb893d2fa968ca2";
pub(crate) const CLEAR_KEY: &str = "e2719d58a985b3c9781ab030af78d30e";
pub(crate) const COMMON: &str = "1077efecc0b24d02ace33c1e52e2fb4b";

pub(crate) fn id(hex: &str) -> [u8; 16] {
    unhex(hex).try_into().expect("16 bytes")
}

/// A version 0 box with some data.
pub(crate) fn pssh(system: &str) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, 36, b'p', b's', b's', b'h', 0, 0, 0, 0];
    bytes.extend(id(system));
    bytes.extend([0, 0, 0, 4, 1, 2, 3, 4]);
    bytes
}

/// A PlayReady Object of one record.
pub(crate) fn playready_object() -> Vec<u8> {
    vec![14, 0, 0, 0, 1, 0, 1, 0, 4, 0, b'<', 0, b'>', 0]
}

pub(crate) fn protection(scheme: [u8; 4], kid: u8) -> Protection {
    let system = |hex: &str| ProtectionSystem {
        id: id(hex),
        pssh: Some(pssh(hex)),
        ..ProtectionSystem::default()
    };
    let url = |path: &str| Some(format!("https://keys.example/{path}?a=1&b=2"));
    let systems = vec![
        ProtectionSystem { license_url: url("widevine"), ..system(WIDEVINE) },
        ProtectionSystem { playready_object: Some(playready_object()), ..system(PLAYREADY) },
        ProtectionSystem { pssh: None, license_url: url("clear"), ..system(CLEAR_KEY) },
        system(COMMON),
        ProtectionSystem { pssh: None, key_uri: Some("skd://asset/1".into()), ..system(FAIRPLAY) },
    ];
    Protection { scheme: scheme.into(), kid: [kid; 16], systems }
}

/// A clear lead of two segments, then a key for three, then another one, and clear at the end.
pub(crate) fn in_motion(scheme: [u8; 4], kid: u8) -> Vec<ProtectionSpan> {
    let key = |kid: u8| {
        let mut key = protection(scheme, kid);
        for system in &mut key.systems {
            system.key_uri = system.key_uri.is_some().then(|| format!("skd://asset/{kid}"));
        }
        Some(key)
    };
    let spans = [(0, None), (2, key(kid)), (5, key(kid + 7)), (9, None)];
    spans.map(|(first, protection)| ProtectionSpan { first, protection }).to_vec()
}

/// Segments in files of their own, of these durations; sizes by a bit rate that varies.
pub(crate) fn segments(durations: &[u64], timescale: u32, bitrate: u64, seed: u64) -> Vec<Segment> {
    let mut rng = Rng::new(seed);
    let mut start = 0;
    let mut all = Vec::new();
    for duration in durations {
        let mean = duration * bitrate / 8 / u64::from(timescale);
        let size = mean / 2 + rng.next_u64() % (mean + 1) + 1;
        all.push(Segment { start, duration: *duration, bytes: 0..size, key_frames: Vec::new() });
        start += duration;
    }
    all
}

/// With a key frame at the beginning of each segment, and one in the middle of those that are long.
fn with_key_frames(mut segments: Vec<Segment>) -> Vec<Segment> {
    for segment in &mut segments {
        let range = segment.bytes.clone();
        let third = (range.end - range.start) / 3;
        let frame = |start, from| KeyFrame { start, bytes: from..from + third };
        segment.key_frames = vec![
            frame(segment.start, range.start),
            frame(segment.start + segment.duration / 2, range.start + third),
        ];
    }
    segments
}

pub(crate) fn in_folder(name: &str) -> Files {
    Files::Segments {
        init: Some(format!("{name}/init.mp4")),
        media: format!("{name}/$Number$.m4s"),
    }
}

pub(crate) fn track(
    name: &str,
    codecs: &str,
    media: Media,
    timescale: u32,
    segments: Vec<Segment>,
) -> Track {
    Track {
        name: name.into(),
        codecs: codecs.into(),
        media,
        timescale,
        files: in_folder(name),
        segments,
        sap_type: 1,
        protection: Vec::new(),
        used_by: UsedBy::Both,
    }
}

pub(crate) fn video(name: &str, height: u32, bitrate: u64) -> Track {
    // 24000/1001 frames per second, groups of 48 frames; the last segment is shorter.
    let durations: Vec<u64> = (0..10).map(|n| if n == 9 { 30_030 } else { 48_048 }).collect();
    let media = Video {
        width: height * 16 / 9,
        height,
        pixel_aspect_ratio: (1, 1),
        frame_rate: Some((24_000, 1001)),
        range: VideoRange::Sdr,
    };
    let segments = with_key_frames(segments(&durations, 24_000, bitrate, u64::from(height)));
    track(name, "avc1.64001f", Media::Video(media), 24_000, segments)
}

/// AAC of 48 kHz in segments of about two seconds: 93 or 94 frames.
pub(crate) fn audio(name: &str, bitrate: u64) -> Track {
    let durations: Vec<u64> =
        (0..10).map(|n| if n == 9 { 60 * 1024 } else { (94 - n % 3 / 2) * 1024 }).collect();
    let media = Audio { sample_rate: 48_000, channels: 2, ..Audio::default() };
    track(
        name,
        "mp4a.40.2",
        Media::Audio(media),
        48_000,
        segments(&durations, 48_000, bitrate, bitrate),
    )
}

pub(crate) fn dolby(name: &str) -> Track {
    let media = Audio {
        sample_rate: 48_000,
        channels: 6,
        dolby_channels: Some("F801".into()),
        joc_complexity: Some(16),
    };
    Track { codecs: "ec-3".into(), media: Media::Audio(media), ..audio(name, 768_000) }
}

pub(crate) fn text(name: &str, format: Text) -> Track {
    let durations = [2000; 9].into_iter().chain([1270]).collect::<Vec<_>>();
    let (codecs, files) = match format {
        Text::Wvtt => ("wvtt", in_folder(name)),
        Text::Stpp => ("stpp.ttml.im1t", in_folder(name)),
        Text::WebVtt | Text::Ttml => {
            ("", Files::Segments { init: None, media: format!("{name}/$Number$.vtt") })
        }
    };
    Track {
        files,
        ..track(name, codecs, Media::Text(format), 1000, segments(&durations, 1000, 800, 7))
    }
}

pub(crate) fn whole_text(name: &str, format: Text) -> Track {
    let path = format!("{name}.{}", if format == Text::Ttml { "ttml" } else { "vtt" });
    let segments =
        vec![Segment { start: 0, duration: 19_270, bytes: 0..4321, key_frames: Vec::new() }];
    Track { files: Files::Whole { path }, codecs: String::new(), segments, ..text(name, format) }
}

pub(crate) fn set(language: Option<&str>, tracks: Vec<Track>) -> SwitchingSet {
    SwitchingSet { language: language.map(str::to_owned), tracks, ..SwitchingSet::default() }
}

/// A film with a clear lead and keys that change.
pub(crate) fn film_in_motion(scheme: [u8; 4]) -> Presentation {
    let mut film = film(scheme);
    for track in film.sets.iter_mut().flat_map(|set| &mut set.tracks) {
        if let Some(ProtectionSpan { protection: Some(protection), .. }) = track.protection.first()
        {
            track.protection = in_motion(scheme, protection.kid[0]);
        }
    }
    film
}

/// Everything that a film may have, in files of segments.
pub(crate) fn film(scheme: [u8; 4]) -> Presentation {
    let protected = |track: Track, kid| Track {
        protection: protection(scheme, kid).of_all_segments(),
        ..track
    };
    let trick = {
        let video = video("trick", 360, 60_000);
        let Media::Video(media) = video.media.clone() else { panic!("it is video") };
        let media = Media::Video(Video { frame_rate: Some((1, 2)), ..media });
        Track { used_by: UsedBy::Dash, media, ..video }
    };
    let sets = vec![
        SwitchingSet {
            roles: vec![Role::Main],
            ..set(
                None,
                vec![
                    protected(video("v360", 360, 800_000), 1),
                    protected(video("v720", 720, 3_000_000), 1),
                ],
            )
        },
        SwitchingSet { trick_play_of: Some(0), ..set(None, vec![protected(trick, 1)]) },
        SwitchingSet {
            is_default: true,
            label: Some("English & \"more\"".replace('"', "'")),
            roles: vec![Role::Main],
            ..set(
                Some("en"),
                vec![protected(audio("en64", 64_000), 2), protected(audio("en128", 128_000), 2)],
            )
        },
        SwitchingSet {
            label: Some("English & 'more'".into()),
            roles: vec![Role::Main],
            ..set(Some("en"), vec![protected(dolby("en-atmos"), 2)])
        },
        SwitchingSet {
            roles: vec![Role::Dub],
            ..set(Some("fr"), vec![protected(audio("fr128", 127_000), 2)])
        },
        SwitchingSet {
            roles: vec![Role::Alternate],
            accessibility: vec![Accessibility::AudioDescription],
            ..set(Some("en"), vec![audio("en-ad", 65_000)])
        },
        SwitchingSet {
            roles: vec![Role::Subtitle],
            ..set(
                Some("de-CH"),
                vec![
                    Track { used_by: UsedBy::Dash, ..text("de-wvtt", Text::Wvtt) },
                    Track { used_by: UsedBy::Hls, ..text("de-vtt", Text::WebVtt) },
                ],
            )
        },
        SwitchingSet {
            roles: vec![Role::Caption],
            accessibility: vec![Accessibility::Sdh],
            ..set(Some("en"), vec![text("en-stpp", Text::Stpp)])
        },
        SwitchingSet {
            roles: vec![Role::ForcedSubtitle],
            ..set(
                Some("en"),
                vec![Track { used_by: UsedBy::Hls, ..whole_text("en-forced", Text::WebVtt) }],
            )
        },
    ];
    Presentation { sets }
}

/// A track in one file: the segments one after the other, behind the initialization segment and the index.
pub(crate) fn in_one_file(mut track: Track) -> Track {
    let mut end = 1000 + 44 + 12 * track.segments.len() as u64;
    let index = 1000..end;
    for segment in &mut track.segments {
        let shift = end - segment.bytes.start;
        for frame in &mut segment.key_frames {
            frame.bytes = frame.bytes.start + shift..frame.bytes.end + shift;
        }
        segment.bytes = end..segment.bytes.end + shift;
        end = segment.bytes.end;
    }
    track.files = Files::Single { path: format!("{}.mp4", track.name), init: 0..1000, index };
    track
}

/// The film in one file for each track; pictures in PQ.
pub(crate) fn film_in_files(scheme: [u8; 4]) -> Presentation {
    let mut film = film(scheme);
    for track in film.sets.iter_mut().flat_map(|set| &mut set.tracks) {
        if let Media::Video(video) = &mut track.media {
            video.range = VideoRange::Pq;
        }
        if matches!(track.media, Media::Text(Text::WebVtt | Text::Ttml)) {
            *track = Track { used_by: track.used_by, ..whole_text(&track.name, Text::WebVtt) };
        } else {
            *track = in_one_file(track.clone());
        }
    }
    film
}

/// Sizes of the files of a presentation, by path.
pub(crate) fn sizes(presentation: &Presentation) -> BTreeMap<String, u64> {
    let mut sizes = BTreeMap::new();
    for track in presentation.sets.iter().flat_map(|set| &set.tracks) {
        let last = track.segments.last().map_or(0, |last| last.bytes.end);
        match &track.files {
            Files::Segments { init, media } => {
                sizes.extend(init.clone().map(|init| (init, 1000)));
                for (index, segment) in track.segments.iter().enumerate() {
                    sizes.insert(
                        media.replace("$Number$", &(index + 1).to_string()),
                        segment.bytes.end,
                    );
                }
            }
            Files::Single { path, .. } | Files::Whole { path } => {
                sizes.insert(path.clone(), last);
            }
        }
    }
    sizes
}

/// A film whose sets have other timescales, but the same segments: of one duration, about one, or any.
pub(crate) fn random_film(seed: u64) -> Presentation {
    let mut rng = Rng::new(seed + 1);
    let mut below = |limit: u64| rng.next_u64() % limit;
    let mean = 500 + below(6000);
    let spread = [1, mean / 2, 2 * mean][usize::try_from(below(3)).expect("below 3")];
    let mut boundaries = vec![0];
    for _ in 0..=below(12) {
        boundaries.push(boundaries[boundaries.len() - 1] + mean + below(spread));
    }
    let mut sets = Vec::new();
    let timescales = [1000, 12_800, 24_000, 48_000, 90_000, 10_000_000];
    for number in 0..=below(5) {
        let timescale = timescales[usize::try_from(below(6)).expect("below 6")];
        let times: Vec<_> =
            boundaries.iter().map(|time| time * u64::from(timescale) / 1000).collect();
        let durations: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mut tracks = Vec::new();
        for quality in 0..=below(3) {
            let name = format!("t{number}-{quality}");
            let like = match number {
                0 => video("", 360 << quality, 1),
                1 if below(2) == 0 => dolby(""),
                1..=3 => audio("", 1),
                _ => text("", Text::Stpp),
            };
            let segments = segments(&durations, timescale, 1000 + below(5_000_000), below(1000));
            let segments = if number == 0 { with_key_frames(segments) } else { segments };
            let mut track = track(&name, &like.codecs, like.media, timescale, segments);
            if below(2) == 0 {
                let spans = in_motion(*b"cbcs", 1);
                let count = track.segments.len();
                track.protection = match below(3) {
                    0 => spans.into_iter().filter(|span| span.first < count).collect(),
                    kid => {
                        protection(*b"cbcs", u8::try_from(kid).expect("1 or 2")).of_all_segments()
                    }
                };
            }
            tracks.push(track);
        }
        let language =
            ["en", "fr", "de-AT"].get(usize::try_from(below(4)).expect("below 4")).copied();
        let roles = if below(2) == 0 { vec![Role::Main] } else { Vec::new() };
        sets.push(SwitchingSet { roles, is_default: below(3) == 0, ..set(language, tracks) });
    }
    let mut film = Presentation { sets };
    if below(3) == 0 {
        for track in film.sets.iter_mut().flat_map(|set| &mut set.tracks) {
            *track = in_one_file(track.clone());
        }
    }
    film
}
