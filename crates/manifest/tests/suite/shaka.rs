//! Segments, keys and manifests that Shaka Packager made: its manifests by the rules, and ours of its segments.

use std::{fs, path::Path, process::Command};

use crate::support::*;
use base64ct::{Base64, Encoding as _};
use dash_mpd_core::{AdaptationSet, MPD, parse};
use lanelock_manifest::{
    Audio, DashOptions, HlsOptions, Media, Presentation, Protection, ProtectionSystem, Segment,
    Track, Video, dash, hls,
};
use lanelock_testkit::{Scratch, dash_rules, hls_rules, shaka_packager, small_clip};

/// Packages a clip with audio and video, each in a folder of its own with two segments.
fn package(packager: &Path, folder: &Path) {
    let clip = small_clip("avc_aac.mp4");
    let stream = |kind: &str, name: &str, more: &str| {
        let input = clip.path.display();
        format!(
            "in={input},stream={kind},init_segment={name}/init.mp4,segment_template={name}/$Number$.m4s,playlist_name={name}.m3u8{more}"
        )
    };
    let key = "00112233445566778899aabbccddeeff";
    let output = Command::new(packager)
        .current_dir(folder)
        .args([stream("video", "v", ""), stream("audio", "a", ",hls_group_id=audio,hls_name=en")])
        .args(["--segment_duration", "1", "--enable_raw_key_encryption", "--clear_lead", "0"])
        .args(["--keys", &format!("label=:key_id={key}:key={key}"), "--protection_scheme", "cbcs"])
        .args(["--protection_systems", "Widevine,PlayReady", "--generate_static_live_mpd"])
        .args(["--mpd_output", "main.mpd", "--hls_master_playlist_output", "main.m3u8"])
        .args(["--hls_playlist_type", "VOD"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What one of its sets says, in our words.
fn described(set: &AdaptationSet, name: &str, folder: &Path) -> Track {
    let representation = &set.representations[0];
    let template = representation.SegmentTemplate.as_ref().unwrap();
    let mut segments = Vec::new();
    let mut start = 0;
    for s in &template.SegmentTimeline.as_ref().unwrap().segments {
        start = s.t.unwrap_or(start);
        for _ in 0..=s.r.unwrap_or(0) {
            let size = fs::metadata(folder.join(format!("{name}/{}.m4s", segments.len() + 1)))
                .unwrap()
                .len();
            segments.push(Segment { start, duration: s.d, bytes: 0..size, key_frames: Vec::new() });
            start += s.d;
        }
    }
    let media = match set.contentType.as_deref() {
        Some("video") => {
            let (width, height) =
                (u32::try_from(set.width.unwrap()), u32::try_from(set.height.unwrap()));
            let size = Video { width: width.unwrap(), height: height.unwrap(), ..Video::default() };
            Media::Video(Video { frame_rate: Some((25, 1)), ..size })
        }
        _ => Media::Audio(Audio { sample_rate: 48_000, channels: 2, ..Audio::default() }),
    };
    let timescale = template.timescale.unwrap().try_into().unwrap();
    let codecs = representation.codecs.clone().unwrap();
    Track {
        protection: protection_of(set).of_all_segments(),
        ..track(name, &codecs, media, timescale, segments)
    }
}

fn protection_of(set: &AdaptationSet) -> Protection {
    let (scheme, systems) = set.ContentProtection.split_first().unwrap();
    let decoded = |text: &Option<String>| Base64::decode_vec(text.as_ref().unwrap()).unwrap();
    let system = |descriptor: &dash_mpd_core::ContentProtection| ProtectionSystem {
        id: id(&descriptor.schemeIdUri.trim_start_matches("urn:uuid:").replace('-', "")),
        pssh: descriptor.cenc_pssh.first().map(|pssh| decoded(&pssh.content)),
        playready_object: descriptor.msprpro.as_ref().map(|pro| decoded(&pro.content)),
        ..ProtectionSystem::default()
    };
    Protection {
        scheme: scheme.value.as_ref().unwrap().parse().unwrap(),
        kid: id(&scheme.default_KID.as_ref().unwrap().replace('-', "")),
        systems: systems.iter().map(system).collect(),
    }
}

#[test]
fn its_segments_are_described_as_it_does() {
    let Some(packager) = shaka_packager() else { return };
    let scratch = Scratch::new();
    let folder = scratch.path();
    package(&packager, folder);
    let size = |path: &str| fs::metadata(folder.join(path)).ok().map(|metadata| metadata.len());
    let its_mpd = fs::read_to_string(folder.join("main.mpd")).unwrap();
    let its_main = fs::read_to_string(folder.join("main.m3u8")).unwrap();
    // The rules hold for its manifests, too: they are not of our making alone.
    assert_eq!(dash_rules(&its_mpd, &size), [""; 0], "{its_mpd}");
    let its_text = |path: &str| fs::read_to_string(folder.join(path)).ok();
    assert_eq!(hls_rules("main.m3u8", &its_text, &size), [""; 0], "{its_main}");

    let its: MPD = parse(&its_mpd).unwrap();
    let [video, audio] = its.periods[0].adaptations.as_slice() else { panic!("two sets") };
    let film = Presentation {
        sets: vec![
            set(None, vec![described(video, "v", folder)]),
            set(None, vec![described(audio, "a", folder)]),
        ],
    };
    let our_mpd = dash(&film, &DashOptions::default()).unwrap();
    assert_eq!(dash_rules(&our_mpd, &size), [""; 0], "{our_mpd}");
    let ours = parse(&our_mpd).unwrap();
    assert_eq!(ours.mediaPresentationDuration, its.mediaPresentationDuration);
    for (our, its) in ours.periods[0].adaptations.iter().zip(&its.periods[0].adaptations) {
        assert_eq!(our.par, its.par);
        let protection = |set: &AdaptationSet| {
            let mut all: Vec<_> = set.ContentProtection.iter().map(|p| format!("{p:?}")).collect();
            all.sort();
            all
        };
        assert_eq!(protection(our), protection(its));
    }

    let files = hls(&film, &HlsOptions::default()).unwrap();
    let text =
        |path: &str| files.iter().find(|(name, _)| name == path).map(|(_, text)| text.clone());
    assert_eq!(hls_rules("main.m3u8", &text, &size), [""; 0]);
    // It measures bit rates as well.
    let variant =
        |text: &str| m3u8_rs::parse_master_playlist(text.as_bytes()).unwrap().1.variants[0].clone();
    let (our, its) = (variant(&text("main.m3u8").unwrap()), variant(&its_main));
    assert_eq!(
        (our.codecs, our.resolution, our.frame_rate),
        (its.codecs, its.resolution, its.frame_rate)
    );
    assert!(our.bandwidth.abs_diff(its.bandwidth) <= 2, "{} and {}", our.bandwidth, its.bandwidth);
    assert!(our.average_bandwidth.unwrap().abs_diff(its.average_bandwidth.unwrap()) <= 2);
}
