//! The rules of MPDs find planted faults, each by its clause.

use crate::support::*;
use lanelock_manifest::{DashOptions, Presentation, Template, dash};
use lanelock_testkit::dash_rules;

/// Replaces the first `from` in an MPD, and says which rules are broken then.
fn with(film: &Presentation, template: Template, from: &str, to: &str) -> Vec<String> {
    let sizes = sizes(film);
    let text = dash(film, &DashOptions::default().with_template(template)).unwrap();
    assert!(text.contains(from), "{from} is not in {text}");
    let changed = text.replacen(from, to, 1);
    dash_rules(&changed, &|path| sizes.get(path).copied())
}

fn finds(broken: &[String], clause: &str, fault: &str) {
    assert!(
        broken.iter().any(|line| line.starts_with(&format!("{clause}:"))),
        "{fault}: {broken:?}"
    );
}

#[test]
fn faults_of_segments_in_files() {
    let film = film(*b"cbcs");
    for (clause, from, to) in [
        ("XML", "</MPD>", ""),
        ("5.3.1.2", "schema:mpd:2011", "schema:mpd:2012"),
        ("5.3.1.2", "minBufferTime=\"PT2.006S\" ", ""),
        ("5.3.1.2", "mediaPresentationDuration=\"PT19.27S\" ", ""),
        ("5.3.1.2", "maxSegmentDuration=\"PT2.006S\"", "maxSegmentDuration=\"PT2S\""),
        ("5.3.3.2", "AdaptationSet id=\"2\"", "AdaptationSet id=\"1\""),
        ("5.3.3.2", "AdaptationSet id=\"2\"", "AdaptationSet id=\"two\""),
        ("5.3.3.2", "lang=\"en\"", "lang=\"english_1\""),
        ("5.3.3.2", "maxWidth=\"1280\"", "maxWidth=\"1279\""),
        ("5.3.3.2", "maxFrameRate=\"24000/1001\"", "maxFrameRate=\"24000/1002\""),
        ("5.3.3.2", "par=\"16:9\"", "par=\"1.78\""),
        ("5.3.5.2", "Representation id=\"v720\"", "Representation id=\"v360\""),
        ("5.3.5.2", " bandwidth=\"", " bandwidth=\"0\" x=\""),
        ("5.3.5.2", "minBufferTime=\"PT2.006S\"", "minBufferTime=\"PT2.005S\""),
        ("5.3.7.2", "mimeType=\"video/mp4\"", "mimeType=\"audio/mp4\""),
        ("5.3.7.2", "mimeType=\"video/mp4\" ", ""),
        ("IOP", " codecs=\"avc1.64001f\"", ""),
        ("IOP", " width=\"640\"", ""),
        ("IOP", " audioSamplingRate=\"48000\"", ""),
        ("IOP", "contentType=\"video\"", "contentType=\"film\""),
        (
            "IOP",
            "      <AudioChannelConfiguration schemeIdUri=\"urn:mpeg:mpegB:cicp:ChannelConfiguration\" value=\"2\"/>\n",
            "",
        ),
        ("5.8.5.5", "role:2011\" value=\"main\"", "role:2011\" value=\"captions\""),
        ("5.3.9.2", "<SegmentTemplate ", "<SegmentTemplate duration=\"1\" "),
        ("5.3.9.4.4", "/$Number$.m4s", "/1.m4s"),
        ("5.3.9.4", "$RepresentationID$/init.mp4", "$RepresentationID$/int.mp4"),
        ("5.3.9.5.3", "startNumber=\"1\"", "startNumber=\"2\""),
        ("5.3.9.5.3", "r=\"8\"", "r=\"7\""),
        ("5.3.9.5.3", "r=\"8\"", "r=\"9\""),
        ("5.3.9.6", "<S d=\"30030\"/>", "<S t=\"5\" d=\"30030\"/>"),
        ("5.3.9.6", "<S d=\"30030\"/>", "<S d=\"0\"/>"),
        ("5.3.9.6", "d=\"48048\"", "d=\"24024\""),
        ("5.3.9.6", "d=\"48048\"", "d=\"96096\""),
        ("Annex B", "<SegmentTemplate ", "<Label>x</Label><SegmentTemplate "),
        ("Annex B", "<Role ", "<Rolle "),
        ("IOP 3.2.9", "trickmode\" value=\"1\"", "trickmode\" value=\"3\""),
        ("IOP 3.2.9", "trickmode\" value=\"1\"", "trickmode\" value=\"2\""),
        ("IOP 3.2.9", " codingDependency=\"false\"", ""),
        ("8.4", "<SegmentTimeline>", "<SegmentBase/><SegmentTimeline>"),
        (
            "IOP 7",
            "urn:uuid:9a04f079-9840-4286-ab92-e65be0885f95",
            "urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed",
        ),
        (
            "IOP 7",
            "urn:uuid:9a04f079-9840-4286-ab92-e65be0885f95",
            "urn:uuid:94ce86fb-07ff-4f43-adb8-93d2fa968ca2",
        ),
        ("5.8.4.1", "urn:uuid:edef8ba9", "urn:uuid:EDEF8BA9"),
        ("5.8.5.2", "value=\"cbcs\"", "value=\"sbcs\""),
        ("23001-7, 11.2", "cenc:default_KID=\"0101", "cenc:default_KID=\"{101"),
        ("23001-7, 11.2", "<cenc:pssh>AAAAJH", "<cenc:pssh>AAAAIH"),
        ("23001-7, 11.2", "<cenc:pssh>AAAAJHBzc2gAAAAA7e", "<cenc:pssh>AAAAJHBzc2gAAAAA6e"),
        (
            "23001-7, 11.2",
            "urn:mpeg:dash:mp4protection:2011",
            "urn:uuid:1177efec-c0b2-4d02-ace3-3c1e52e2fb4b",
        ),
        ("PlayReady Header Object", "<mspr:pro>DgAAAAEA", "<mspr:pro>DQAAAAEA"),
    ] {
        finds(&with(&film, Template::Timeline, from, to), clause, &format!("{from} -> {to}"));
    }
    finds(
        &with(
            &film,
            Template::Timeline,
            "dashif:Laurl>https://keys.example/widevine?a=1&amp;b=2</dashif:Laurl",
            "dashif:laurl>x</dashif:laurl",
        ),
        "DASH-IF CPIX",
        "laurl",
    );
}

#[test]
fn faults_of_one_duration() {
    let film = film(*b"cenc");
    for (clause, from, to) in [
        ("5.3.9.5.3", "duration=\"48048\"", "duration=\"54000\""),
        ("5.3.9.5.3", "duration=\"48048\"", "duration=\"46000\""),
        ("5.3.9.2", "duration=\"48048\"", "duration=\"0\""),
        ("5.3.9.2", " duration=\"48048\"", ""),
        ("5.3.1.2", "PT2.006S\">", "PT2S\">"),
    ] {
        finds(&with(&film, Template::Duration, from, to), clause, &format!("{from} -> {to}"));
    }
}

/// Qualities with keys of their own: sets that are linked.
#[test]
fn faults_of_linked_sets() {
    for mut film in [film(*b"cbcs"), film_in_files(*b"cbcs")] {
        film.sets[0].tracks[1].protection = protection(*b"cbcs", 9).of_all_segments();
        let link = "switching:2016\" value=\"2\"";
        assert_eq!(with(&film, Template::Timeline, link, link), [""; 0]);
        for (clause, from, to) in [
            ("5.3.3.5", link, "switching:2016\" value=\"1\""),
            ("5.3.3.5", link, "switching:2016\" value=\"3\""),
            ("5.3.3.5", link, "switching:2016\" value=\"99\""),
            ("5.3.3.2", "egmentAlignment=\"1\"", "egmentAlignment=\"true\""),
            ("5.3.3.2", "egmentAlignment=\"1\"", "egmentAlignment=\"2\""),
            ("23000-19, 7.3.4", "value=\"cbcs\"", "value=\"cenc\""),
            ("IOP 7.7.1", "</Representation>", "<ContentProtection/></Representation>"),
            (
                "IOP 7.7.1",
                "sar=\"1:1\" frameRate=\"24000/1001\"/>",
                "><ContentProtection/></Representation>",
            ),
        ] {
            let text = dash(&film, &DashOptions::default()).unwrap();
            if clause == "IOP 7.7.1" && !text.contains(from) {
                continue;
            }
            finds(&with(&film, Template::Timeline, from, to), clause, &format!("{from} -> {to}"));
        }
    }
}

#[test]
fn faults_of_single_files() {
    let film = film_in_files(*b"cenc");
    for (clause, from, to) in [
        ("5.3.9.2", "indexRange=\"1000-1163\"", "indexRange=\"1000-99999999\""),
        ("5.3.9.2", "indexRange=\"1000-1163\"", "indexRange=\"1000-999\""),
        ("5.3.9.2", "<Initialization range=\"0-999\"", "<Initialization range=\"0\""),
        ("8.3", " indexRange=\"1000-1163\"", ""),
        ("8.3", "<SegmentBase ", "<SegmentTemplate/><SegmentBase "),
        ("5.3.9.1", "v360.mp4", "v361.mp4"),
    ] {
        finds(&with(&film, Template::Timeline, from, to), clause, &format!("{from} -> {to}"));
    }
}

#[test]
fn faults_of_alignment() {
    // The two tracks of a set begin their segments at other times, but the set says that they are aligned.
    let mut film = film(*b"cbcs");
    for segment in &mut film.sets[0].tracks[1].segments[3..] {
        segment.start += 240;
        segment.key_frames.clear();
    }
    let broken = with(
        &film,
        Template::Timeline,
        "contentType=\"video\"",
        "contentType=\"video\" segmentAlignment=\"true\"",
    );
    finds(&broken, "5.3.3.2", "alignment");
    assert_eq!(with(&film, Template::Timeline, "", ""), [""; 0], "it does not say so itself");
}
