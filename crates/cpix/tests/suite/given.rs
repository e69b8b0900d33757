//! What documents give for protection systems is in files and manifests as it is given.
#![allow(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "names are as they are written"
)]

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use lanelock_cpix::{
    AudioFilter, ContentKey, Document, DrmSystem, HlsSignaling, KeyPeriod, Playlist, UsageRule,
    VideoFilter,
};
use lanelock_mp4::Pssh;
use lanelock_packager::{
    EncryptOptions, Iv, Key, KeyPeriods, Quiet, Scheme,
    drm::System,
    encrypt,
    io::{MemoryFolder, MemorySink, MemorySource},
    package::{Package, PackageOptions},
};
use lanelock_testkit::{
    boxes::{all, children},
    gop_clip,
};

const WIDEVINE: &str = "edef8ba9-79d6-4ace-a3c8-27dcd51d21ed";

/// A box with the number of its key, as nothing here would make it.
fn raw(number: u8) -> Vec<u8> {
    Pssh::new(System::Widevine.id(), &[], &[0xa0, number, number, 0xa0]).raw
}

fn base64(bytes: &[u8]) -> String {
    use base64ct::{Base64, Encoding as _};
    Base64::encode_string(bytes)
}

fn line(tag: &str, number: u8) -> String {
    format!(
        "#{tag}:METHOD=SAMPLE-AES,URI=\"data:text/plain;base64,{}\",KEYFORMAT=\"urn:uuid:{WIDEVINE}\",\
         X-OF=\"key {number}\"",
        base64(&raw(number))
    )
}

/// Video has the keys 1 and 2 in two key periods, audio the key 3 in both.
fn document() -> Document {
    let mut document = Document::default();
    for number in 1..=3_u8 {
        document.keys.push(ContentKey::new(Key::new([number; 16], [0x70 + number; 16])));
        let mut rule = UsageRule::new([number; 16]);
        if number == 3 {
            rule.audio.push(AudioFilter::default());
        } else {
            let mut period = KeyPeriod::default();
            (period.id, period.index) = (Some(format!("p{number}")), Some(number.into()));
            document.periods.push(period);
            rule.period_ids.push(format!("p{number}"));
            rule.video.push(VideoFilter::default());
        }
        document.rules.push(rule);
        let mut system = DrmSystem::new(System::Widevine.id(), [number; 16]);
        system.pssh = Some(raw(number));
        system.content_protection_data = Some(format!(
            "<cenc:pssh xmlns:cenc=\"urn:mpeg:cenc:2013\">{}</cenc:pssh>\
             <dashif:Laurl>https://example.com/?key={number}&amp;a=b</dashif:Laurl>",
            base64(&raw(number))
        ));
        for (playlist, tag) in
            [(Playlist::Media, "EXT-X-KEY"), (Playlist::Multivariant, "EXT-X-SESSION-KEY")]
        {
            system.hls_signaling.push(HlsSignaling::new(playlist, line(tag, number) + "\r\n"));
        }
        document.drm_systems.push(system);
    }
    document
}

fn options(document: &Document) -> EncryptOptions {
    let plan = document.key_plan(Scheme::Cbcs).unwrap();
    EncryptOptions::new(Scheme::Cbcs, plan.keys)
        .with_iv(Iv::Given(vec![7; 16]))
        .with_given(plan.given)
        .with_key_periods(KeyPeriods::From(vec![Duration::from_millis(600)]))
}

type Objects = BTreeMap<String, Vec<u8>>;

fn package(clip: &[u8], document: &Document) -> Result<Objects, String> {
    let given = document.given_systems().map_err(|error| error.to_string())?;
    let protection = options(document).with_given(given);
    let options = PackageOptions::new()
        .with_protection(Some(protection.with_drm(vec![System::Widevine, System::ClearKey])))
        .with_segment_duration(Duration::from_millis(200));
    let source = Arc::new(MemorySource::new("in.mp4", clip.to_vec()));
    let package = Package::new(vec![source], options, &Quiet).map_err(|error| error.to_string())?;
    let folder = MemoryFolder::new();
    package.write(Box::new(folder.clone()), &Quiet).map_err(|error| error.to_string())?;
    Ok(folder.into_objects().unwrap())
}

/// The boxes of Widevine, by the `moov` and `moof` boxes that they are in.
fn boxes(file: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let holders = children(file).filter(|(kind, _)| matches!(kind, b"moov" | b"moof"));
    let of = |holder: &[u8]| -> Vec<Vec<u8>> {
        let all = all(holder, *b"pssh").into_iter().filter(|of| of[4..20] == System::Widevine.id());
        all.map(<[u8]>::to_vec).collect()
    };
    holders.map(|(_, holder)| of(holder)).collect()
}

fn payload(number: u8) -> Vec<u8> {
    raw(number)[8..].to_vec()
}

#[test]
fn boxes_of_each_key_are_where_it_is_used() {
    let Some(clip) = gop_clip("192x108") else { return };
    let document = document();
    let sink = MemorySink::new();
    let mut options = options(&document)
        .with_drm(vec![System::Widevine])
        .with_fragment_duration(Duration::from_millis(200));
    let source = MemorySource::new("in.mp4", clip);
    encrypt(&source, Box::new(sink.clone()), &options, &Quiet).unwrap();
    let found = boxes(&sink.into_bytes().unwrap());
    assert_eq!(found[0], [payload(1), payload(3)]);
    let mut of_fragments = found[1..].to_vec();
    of_fragments.dedup();
    assert_eq!(of_fragments, [vec![payload(1)], vec![payload(2)]]);

    // One box for two keys is there once, and keys without one get one.
    options.given[2].pssh = Some(raw(1));
    let both = |options: &EncryptOptions| {
        let sink = MemorySink::new();
        encrypt(&source, Box::new(sink.clone()), options, &Quiet).map(|_| sink.into_bytes())
    };
    assert_eq!(boxes(&both(&options).unwrap().unwrap())[0], [payload(1)]);
    options.given.pop();
    assert_eq!(boxes(&both(&options).unwrap().unwrap())[0].len(), 2);
    options.given[0].pssh = Some(vec![0; 8]);
    let error = both(&options).unwrap_err().to_string();
    assert!(error.contains(WIDEVINE) && error.contains("01010101-0101"), "{error}");
}

#[test]
fn manifests_say_what_is_given() {
    let Some(clip) = gop_clip("192x108") else { return };
    let objects = package(&clip, &document()).unwrap();
    let text = |name: &str| String::from_utf8(objects[name].clone()).unwrap();
    let mpd = text("manifest.mpd");
    for number in [1, 3] {
        assert!(mpd.contains(&format!("<cenc:pssh>{}</cenc:pssh>", base64(&raw(number)))), "{mpd}");
        assert!(mpd.contains(&format!("https://example.com/?key={number}&amp;a=b<")), "{mpd}");
    }
    assert_eq!(mpd.matches(&format!("urn:uuid:{WIDEVINE}")).count(), 2);
    let playlists: Vec<String> =
        objects.keys().filter(|name| name.ends_with(".m3u8")).map(|name| text(name)).collect();
    let lines = |number| {
        let line = line("EXT-X-KEY", number);
        playlists.iter().flat_map(|text| text.lines()).filter(|other| *other == line).count()
    };
    // Video has a playlist of key frames as well.
    assert_eq!([lines(1), lines(2), lines(3)], [2, 2, 1]);
    let main = text("main.m3u8");
    assert!((1..=3).all(|number| main.contains(&line("EXT-X-SESSION-KEY", number))), "{main}");
    // Nothing else was made for the system.
    let of_system = |text: &String| text.matches(WIDEVINE).count();
    assert_eq!(playlists.iter().map(of_system).sum::<usize>(), 8);
    // Segments of the second key period have its box.
    let mut names = objects.keys();
    let init = names.find(|name| name.starts_with("video") && name.ends_with("/init.mp4")).unwrap();
    let video = |number: u8| boxes(&objects[&init.replace("init.mp4", &format!("{number}.m4s"))]);
    assert_eq!((video(1), video(6)), (vec![vec![payload(1)]], vec![vec![payload(2)]]));
    assert_eq!(boxes(&objects[init]), [[payload(1)]]);
}

#[test]
fn what_would_be_smuggled_in_is_refused() {
    let Some(clip) = gop_clip("192x108") else { return };
    let key = line("EXT-X-KEY", 1);
    for bad in [
        "<script>x</script>".to_owned(),
        "</ContentProtection><script/>".into(),
        format!("<cenc:pssh>{}</cenc:pssh>", base64(&[0; 32])),
        " ".repeat(1 << 20),
    ] {
        let mut document = document();
        document.drm_systems[0].content_protection_data = Some(bad);
        let error = package(&clip, &document).unwrap_err();
        assert!(error.contains(WIDEVINE) && error.contains("01010101-0101"), "{error}");
    }
    for bad in [
        format!("{key}\n#EXT-X-ENDLIST"),
        format!("{key}\nhttps://example.com/other.m4s"),
        key.replace("SAMPLE-AES", "SAMPLE-AES-CTR"),
        key.replace("key 1", "key\u{85}1"),
        key.replace("key 1", &"k".repeat(1 << 17)),
    ] {
        let mut document = document();
        document.drm_systems[0].hls_signaling[0].lines = bad;
        let error = package(&clip, &document).unwrap_err();
        assert!(error.contains(WIDEVINE) && error.contains("01010101-0101"), "{error}");
    }
}
