//! The rules of playlists find planted faults, each by its section.

use std::collections::BTreeMap;

use crate::support::*;
use lanelock_manifest::{HlsOptions, Presentation, hls};
use lanelock_testkit::hls_rules;

/// Replaces the first `from` in a playlist, and says which rules are broken then.
fn with(film: &Presentation, name: &str, from: &str, to: &str) -> Vec<String> {
    let mut files: BTreeMap<_, _> =
        hls(film, &HlsOptions::default()).unwrap().into_iter().collect();
    let sizes = sizes(film);
    let text = files.get_mut(name).unwrap();
    assert!(text.contains(from), "{from} is not in {text}");
    *text = text.replacen(from, to, 1);
    hls_rules("main.m3u8", &|path| files.get(path).cloned(), &|path| sizes.get(path).copied())
}

fn finds(broken: &[String], section: &str, fault: &str) {
    assert!(
        broken.iter().any(|line| line.starts_with(&format!("{section}:"))),
        "{fault}: {broken:?}"
    );
}

#[test]
fn faults_of_the_multivariant_playlist() {
    let film = film(*b"cbcs");
    for (section, from, to) in [
        ("4.4.1.1", "#EXTM3U\n", ""),
        ("4.4.1.2", "#EXT-X-VERSION:6\n", "#EXT-X-VERSION:6\n#EXT-X-VERSION:7\n"),
        ("4.1", "#EXT-X-INDEPENDENT-SEGMENTS\n", "#EXT-X-ENDLIST\n"),
        ("4.1", "#EXT-X-INDEPENDENT-SEGMENTS\n", "v360.m3u8\n"),
        ("4.2", "TYPE=AUDIO,", "TYPE=AUDIO,TYPE=AUDIO,"),
        ("4.2", "TYPE=AUDIO,", "TYPE=,"),
        ("4.2", "NAME=\"fr\"", "NAME=\"f\"r\""),
        ("4.2", "RESOLUTION=640x360", "RESOLUTION=640*360"),
        ("4.4.6", "URI=\"fr128.m3u8\"", "URI=\"fr129.m3u8\""),
        ("4.4.6.1", "TYPE=AUDIO", "TYPE=SOUND"),
        ("4.4.6.1", "NAME=\"fr\",", ""),
        ("4.4.6.1", "DEFAULT=YES,AUTOSELECT=YES", "DEFAULT=YES,AUTOSELECT=NO"),
        ("4.4.6.1", "CHANNELS=\"2\"", "FORCED=YES"),
        ("4.4.6.1", ",URI=\"de-vtt.m3u8\"", ""),
        ("4.4.6.1.1", "NAME=\"fr\"", "NAME=\"English & 'more'\""),
        ("4.4.6.1.1", "LANGUAGE=\"fr\",DEFAULT=NO", "LANGUAGE=\"fr\",DEFAULT=YES"),
        ("4.4.6.1.1", "LANGUAGE=\"fr\"", "LANGUAGE=\"en\""),
        ("4.4.6.1.1", "NAME=\"fr\"", "NAME=\"French\""),
        ("4.4.6.2", "BANDWIDTH=", "BADWIDTH="),
        ("4.4.6.2", "CODECS=", "CODEX="),
        ("4.4.6.2", "VIDEO-RANGE=SDR", "VIDEO-RANGE=HDR"),
        ("4.4.6.2", "FRAME-RATE=23.976", "FRAME-RATE=23.9760"),
        ("4.4.6.2", "AUDIO=\"audio-mp4a\"", "AUDIO=\"audio-mp4\""),
        ("4.4.6.2", "SUBTITLES=\"text-vtt\"", "SUBTITLES=\"audio-mp4a\""),
        ("4.4.6.2", ",CLOSED-CAPTIONS=NONE", ""),
        ("4.4.6.2", "CLOSED-CAPTIONS=NONE\nv360.m3u8\n", "CLOSED-CAPTIONS=NONE\n"),
        ("4.4.6.2", "CLOSED-CAPTIONS=NONE\nv360.m3u8\n", "CLOSED-CAPTIONS=NONE\nv720.m3u8\n"),
        (
            "4.4.3.6",
            "CLOSED-CAPTIONS=NONE\nv360.m3u8\n",
            "CLOSED-CAPTIONS=NONE\nv360-iframes.m3u8\n",
        ),
        ("4.4.6.3", "URI=\"v360-iframes.m3u8\"", "URI=\"v360.m3u8\""),
        ("4.4.6.3", ",URI=\"v360-iframes.m3u8\"", ""),
        ("4.4.6.3", ",URI=\"v360-iframes.m3u8\"", ",FRAME-RATE=1,URI=\"v360-iframes.m3u8\""),
        ("4.4.6.5", "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,", "#EXT-X-SESSION-KEY:METHOD=NONE,"),
        ("4.4.6.5", "KEYID=0x0101", "KEYID=0x0201"),
        (
            "4.4.6.5",
            "#EXT-X-SESSION-KEY:",
            "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"skd://asset/1\",\
             KEYFORMAT=\"com.apple.streamingkeydelivery\",KEYFORMATVERSIONS=\"1\"\n#EXT-X-SESSION-KEY:",
        ),
    ] {
        finds(&with(&film, "main.m3u8", from, to), section, &format!("{from} -> {to}"));
    }
}

#[test]
fn faults_of_media_playlists() {
    let film = film(*b"cbcs");
    for (section, from, to) in [
        ("4.4.1.1", "#EXTM3U\n", "\u{feff}#EXTM3U\n"),
        ("8", "#EXT-X-VERSION:6", "#EXT-X-VERSION:5"),
        ("8", "#EXT-X-VERSION:6\n", ""),
        ("6.2.1", "#EXT-X-VERSION:6", "#EXT-X-VERSION:7"),
        ("6.2.1", "#EXT-X-ENDLIST\n", ""),
        ("6.2.4", "#EXT-X-TARGETDURATION:2", "#EXT-X-TARGETDURATION:3"),
        ("4.4.3.1", "#EXT-X-TARGETDURATION:2", "#EXT-X-TARGETDURATION:1"),
        ("4.4.3.1", "#EXT-X-TARGETDURATION:2\n", ""),
        ("4.4.3.5", "#EXT-X-PLAYLIST-TYPE:VOD\n", ""),
        ("6.2.4", "#EXT-X-PLAYLIST-TYPE:VOD", "#EXT-X-PLAYLIST-TYPE:EVENT"),
        ("4.4.4.1", "#EXTINF:2.002000,\n", ""),
        ("4.4.4.1", "#EXTINF:2.002000,\n", "#EXTINF:2.002000\n"),
        ("4.4.4.1", "#EXTINF:2.002000,\n", "#EXTINF:0.0,\n"),
        ("4.4.4.2", "v360/3.m4s", "v360/11.m4s"),
        ("4.4.4.4", "METHOD=SAMPLE-AES", "METHOD=SAMPLE"),
        ("4.4.4.4", ",URI=\"skd://asset/1\"", ""),
        ("4.4.4.4", "METHOD=SAMPLE-AES,URI=\"skd", "METHOD=SAMPLE-AES-CTR,URI=\"skd"),
        ("4.4.6.5", "skd://asset/1", "skd://asset/2"),
        (
            "4.4.4.4",
            "#EXTINF:2.002000,\nv360/3.m4s",
            "#EXT-X-KEY:METHOD=NONE,IV=0x1\n#EXTINF:2.002000,\nv360/3.m4s",
        ),
        (
            "4.4.4.4",
            "#EXTINF:2.002000,\nv360/3.m4s",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://b\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n\
             #EXTINF:2.002000,\nv360/3.m4s",
        ),
        (
            "4.4.4.4",
            "#EXTINF:2.002000,\nv360/1.m4s",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://b\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n\
             #EXTINF:2.002000,\nv360/1.m4s",
        ),
        ("4.4.4.5", "#EXT-X-MAP:URI=\"v360/init.mp4\"", "#EXT-X-MAP:URI=\"v360/int.mp4\""),
        ("3.1.2", "#EXT-X-MAP:URI=\"v360/init.mp4\"\n", ""),
        ("4.1", "#EXTINF:2.002000,\n", "#EXT-X-STREAM-INF:BANDWIDTH=1\n#EXTINF:2.002000,\n"),
        // It is shorter than others by more than a segment.
        ("6.2.4", "#EXTINF:2.002000,\nv360/1.m4s\n#EXTINF:2.002000,\nv360/2.m4s\n", ""),
        // Bit rates are measured with the durations here.
        ("4.4.6.2", "#EXTINF:2.002000,", "#EXTINF:1.002000,"),
    ] {
        finds(&with(&film, "v360.m3u8", from, to), section, &format!("{from} -> {to}"));
    }
    finds(
        &with(&film, "v360-iframes.m3u8", "#EXT-X-I-FRAMES-ONLY\n", ""),
        "4.4.6.3",
        "no I-FRAMES-ONLY",
    );
    finds(
        &with(&film, "v360-iframes.m3u8", "#EXT-X-VERSION:5", "#EXT-X-VERSION:4"),
        "8",
        "version",
    );
}

/// A clear lead and two keys obey the rules; what is missing at a change is found.
#[test]
fn faults_of_changing_keys() {
    let film = film_in_motion(*b"cbcs");
    assert_eq!(with(&film, "v360.m3u8", "", ""), [""; 0]);
    let [clear, first, second] =
        ["NONE", "SAMPLE-AES", "SAMPLE-AES"].map(|method| format!("#EXT-X-KEY:METHOD={method}"));
    let lines = hls(&film, &HlsOptions::default()).unwrap();
    let text = &lines.iter().find(|(name, _)| name == "v360.m3u8").unwrap().1;
    assert_eq!(text.matches(&clear).count(), 1, "{text}");
    assert_eq!((text.matches(&first).count(), &first), (8, &second));
    // One of the second key's is missing.
    let place = text.find("skd://asset/8").unwrap();
    let line = &text[text[..place].rfind('\n').unwrap() + 1..];
    let line = &line[..=line.find('\n').unwrap()];
    finds(&with(&film, "v360.m3u8", line, ""), "4.4.4.4", "a key goes on to apply");
}

#[test]
fn faults_of_byte_ranges() {
    let film = film_in_files(*b"cenc");
    for (section, from, to) in [
        ("4.4.4.2", "@1164\n", "@99999999\n"),
        ("4.4.4.2", "@1164\n", "\n"),
        ("4.4.4.5", "BYTERANGE=\"1000@0\"", "BYTERANGE=\"99999999@0\""),
    ] {
        finds(&with(&film, "v360.m3u8", from, to), section, &format!("{from} -> {to}"));
    }
}
