//! What sample entries and tracks say of themselves, against published examples and the answers of
//! other programs.

use std::{fmt::Write as _, fs, path::Path, process::Command};

use crate::common::movie;
use lanelock_mp4::{AudioFacts, Colour, FourCc, Movie, SampleEntry, Track, TrackRole};
use lanelock_testkit::{
    self as testkit, CLIPS, Mutator, Rng, Scratch, Watchdog,
    boxes::{boxed, full, words},
    hex, mutants, small_clip, unhex,
};

/// A movie of one track.
struct Sample<'a> {
    handler: &'a [u8; 4],
    /// What `hdlr` has in front of the handler.
    component: &'a [u8; 4],
    language: u16,
    entry: Vec<u8>,
    /// More boxes of `mdia`.
    mdia: Vec<u8>,
    /// More boxes of `trak`.
    trak: Vec<u8>,
}

impl<'a> Sample<'a> {
    fn new(handler: &'a [u8; 4], entry: Vec<u8>) -> Self {
        let (mdia, trak) = (Vec::new(), Vec::new());
        Self { handler, component: &[0; 4], language: 0x55c4, entry, mdia, trak }
    }

    fn moov(&self) -> Vec<u8> {
        let stsd = boxed(b"stsd", &[&words(&[0, 1]), &self.entry]);
        let tables = [
            full(b"stts", &[0, 0]),
            full(b"stsc", &[0, 0]),
            full(b"stsz", &[0, 0, 0]),
            full(b"stco", &[0, 0]),
        ];
        let stbl = boxed(b"stbl", &[&stsd, &tables.concat()]);
        let header = match self.handler {
            b"vide" => full(b"vmhd", &[1, 0, 0]),
            b"soun" => full(b"smhd", &[0, 0]),
            _ => full(b"nmhd", &[0]),
        };
        let dref = boxed(b"dref", &[&words(&[0, 1]), &full(b"url ", &[1])]);
        let minf = boxed(b"minf", &[&header, &boxed(b"dinf", &[&dref]), &stbl]);
        let mdhd = full(b"mdhd", &[0, 0, 0, 1000, 0, u32::from(self.language) << 16]);
        let hdlr = boxed(b"hdlr", &[&[0; 4], self.component, self.handler, &[0; 13]]);
        let mdia = boxed(b"mdia", &[&mdhd, &self.mdia, &hdlr, &minf]);
        let tkhd = boxed(b"tkhd", &[&words(&[7, 0, 0, 1]), &[0; 68]]);
        let mvhd = boxed(b"mvhd", &[&words(&[0, 0, 0, 1000, 0, 0x1_0000]), &[0; 76]]);
        boxed(b"moov", &[&mvhd, &boxed(b"trak", &[&tkhd, &mdia, &self.trak])])
    }

    fn track(&self) -> Track {
        Movie::parse(self.moov(), 0).unwrap().tracks.remove(0)
    }

    /// A file that other programs read.
    fn write(&self, path: &Path) {
        let ftyp = boxed(b"ftyp", &[b"isom\0\0\0\0isom"]);
        fs::write(path, [ftyp, self.moov()].concat()).unwrap();
    }
}

fn video_entry(format: &[u8; 4], children: &[Vec<u8>]) -> Vec<u8> {
    let mut fields = [0; 78];
    fields[7] = 1;
    fields[24..28].copy_from_slice(&[7, 0x80, 4, 0x38]); // 1920 x 1080
    boxed(format, &[&fields, &children.concat()])
}

/// Two channels of 16 bits at 48 kHz.
fn audio_entry(format: &[u8; 4], children: &[Vec<u8>]) -> Vec<u8> {
    let mut fields = [0; 28];
    fields[7] = 1;
    fields[16..20].copy_from_slice(&[0, 2, 0, 16]);
    fields[24..26].copy_from_slice(&48_000_u16.to_be_bytes());
    boxed(format, &[&fields, &children.concat()])
}

fn video(format: &[u8; 4], children: &[Vec<u8>]) -> SampleEntry {
    Sample::new(b"vide", video_entry(format, children)).track().entries.remove(0)
}

fn audio(format: &[u8; 4], children: &[Vec<u8>]) -> SampleEntry {
    Sample::new(b"soun", audio_entry(format, children)).track().entries.remove(0)
}

/// A box with a payload in hexadecimal digits.
fn config(kind: &[u8; 4], payload: &str) -> Vec<u8> {
    boxed(kind, &[&unhex(&payload.replace(' ', ""))])
}

/// `esds` with an object type and a decoder specific info.
fn esds(object_type: u8, specific: &str) -> Vec<u8> {
    let specific = unhex(&specific.replace(' ', ""));
    let len = u8::try_from(specific.len()).unwrap();
    let mut out = vec![0, 0, 0, 0, 3, 20 + len, 0, 1, 0, 4, 15 + len, object_type, 0x15];
    out.extend_from_slice(&[0; 11]);
    out.extend_from_slice(&[5, len]);
    out.extend_from_slice(&specific);
    boxed(b"esds", &[&out])
}

fn nclx(primaries: u8, transfer: u8, matrix: u8, flags: u8) -> Vec<u8> {
    boxed(b"colr", &[b"nclx", &[0, primaries, 0, transfer, 0, matrix, flags]])
}

#[test]
fn strings_of_video() {
    // ISO/IEC 14496-15, annex E; RFC 6381, 3.3; the parameters of the examples there.
    let avcc = config(b"avcC", "0142e01e ff e000");
    assert_eq!(video(b"avc1", std::slice::from_ref(&avcc)).codec_string(), "avc1.42E01E");
    assert_eq!(video(b"avc3", &[avcc]).codec_string(), "avc3.42E01E");
    let hvcc = config(b"hvcC", "01 01 60000000 b00000000000 5d f000 fc fd f8 f8 0000 0f 00");
    assert_eq!(video(b"hev1", &[hvcc]).codec_string(), "hev1.1.6.L93.B0");
    let high = config(b"hvcC", "01 a4 00000010 b023000000 00 ba f000 fc fd f8 f8 0000 0f 00");
    assert_eq!(video(b"hvc1", &[high]).codec_string(), "hvc1.B4.8000000.H186.B0.23");
    // ISO/IEC 14496-15:2022, annex E (the example there goes on with output layers).
    let vvcc = config(b"vvcC", "00000000 ff 0000 00 01 02 33 80 00");
    assert_eq!(video(b"vvc1", &[vvcc]).codec_string(), "vvc1.1.L51.CQA");
    let vvcc = config(b"vvcC", "00000000 ff 0000 00 06 23 53 4010204080 ff 00");
    assert_eq!(video(b"vvi1", &[vvcc]).codec_string(), "vvi1.17.H83.CIAICAQEA74");
    let vvcc = config(b"vvcC", "00000000 ff 0000 00 01 02 33 00 00");
    assert_eq!(video(b"vvc1", &[vvcc]).codec_string(), "vvc1.1.L51");
    // Simple profile, level 0 of MPEG-4 visual: RFC 6381, 3.3.
    let visual = esds(0x20, "000001b009");
    assert_eq!(video(b"mp4v", &[visual]).codec_string(), "mp4v.20.9");
    // Without a configuration.
    assert_eq!(video(b"hvc1", &[]).codec_string(), "hvc1");
}

#[test]
fn strings_of_av1() {
    // The examples of AV1-ISOBMFF, 5.
    let hdr = config(b"av1C", "81 04 4e 00");
    let entry = video(b"av01", &[hdr, nclx(9, 16, 9, 0)]);
    assert_eq!(entry.codec_string(), "av01.0.04M.10.0.112.09.16.09.0");
    let colour = Colour { primaries: 9, transfer: 16, matrix: 9, full_range: false };
    assert_eq!(entry.video().unwrap().colour, Some(colour));
    let sdr = config(b"av1C", "81 01 0c 00");
    assert_eq!(video(b"av01", std::slice::from_ref(&sdr)).codec_string(), "av01.0.01M.08");
    assert_eq!(video(b"av01", &[sdr.clone(), nclx(1, 1, 1, 0)]).codec_string(), "av01.0.01M.08");
    // The note there: 2/2/2 has to be said.
    let unknown = video(b"av01", &[sdr, nclx(2, 2, 2, 0x80)]);
    assert_eq!(unknown.codec_string(), "av01.0.01M.08.0.110.02.02.02.1");
    assert_eq!(unknown.video().unwrap().colour, None);
    // High tier, 12 bits, monochrome.
    let mono = config(b"av1C", "81 4d f0 00");
    assert_eq!(video(b"av01", &[mono]).codec_string(), "av01.2.13H.12.1.000.01.01.01.0");
}

#[test]
fn strings_of_vp9() {
    // The examples of the VP Codec ISO Media File Format Binding.
    let hdr = config(b"vpcC", "01000000 02 0a a3 09 10 09 0000");
    let entry = video(b"vp09", &[hdr]);
    assert_eq!(entry.codec_string(), "vp09.02.10.10.01.09.16.09.01");
    let colour = Colour { primaries: 9, transfer: 16, matrix: 9, full_range: true };
    assert_eq!(entry.video().unwrap().colour, Some(colour));
    let sdr = config(b"vpcC", "01000000 00 29 82 01 01 01 0000");
    assert_eq!(video(b"vp09", &[sdr]).codec_string(), "vp09.00.41.08");
}

#[test]
fn dolby_vision() {
    // dv_version 1.0, profile, level, layers, compatibility.
    let record = |profile: u16, level: u16, compatibility: u8| {
        let [high, low] = (profile << 9 | level << 3 | 5).to_be_bytes();
        let kind = if profile > 7 { b"dvvC" } else { b"dvcC" };
        boxed(kind, &[&[1, 0, high, low, compatibility << 4], &[0; 19]])
    };
    let hvcc = config(b"hvcC", "01 02 20000000 b00000000000 99 f000 fc fd fa fa 0000 0f 00");
    // Dolby Vision Streams within the MPEG-DASH Format: profile 5.
    let entry = video(b"dvh1", &[hvcc.clone(), record(5, 6, 0)]);
    assert_eq!(entry.codec_string(), "dvh1.05.06");
    let dolby = entry.dolby_vision().unwrap();
    assert_eq!((dolby.profile, dolby.level, dolby.compatibility), (5, 6, 0));
    assert_eq!((&dolby.codec_string[..], dolby.brand), ("dvh1.05.06", None));
    // ANSI/SCTE 214-1: a compatible base layer, and Dolby Vision as a supplement. The formats are
    // those of Apple's HLS Authoring Specification, the brands those of the registration authority.
    let pq = nclx(9, 16, 9, 0);
    let entry = video(b"hvc1", &[hvcc.clone(), pq, record(8, 9, 1)]);
    assert_eq!(entry.codec_string(), "hvc1.2.4.L153.B0");
    let dolby = entry.dolby_vision().unwrap();
    assert_eq!(&dolby.codec_string[..], "dvh1.08.09");
    assert_eq!(dolby.brand, Some(FourCc(*b"db1p")));
    for (format, compatibility, transfer, string, brand) in [
        (b"hev1", 2, 1, "dvhe.08.03", Some(b"db2g")),
        (b"hvc1", 4, 18, "dvh1.08.03", Some(b"db4h")),
        (b"hvc1", 4, 14, "dvh1.08.03", Some(b"db4g")),
        (b"av01", 4, 18, "dav1.08.03", Some(b"db4h")),
        (b"avc1", 2, 1, "dva1.08.03", Some(b"db2g")),
        (b"avc3", 0, 1, "dvav.08.03", None),
    ] {
        let entry = video(format, &[nclx(9, transfer, 9, 0), record(8, 3, compatibility)]);
        let dolby = entry.dolby_vision().unwrap();
        assert_eq!(dolby.codec_string, string);
        assert_eq!(dolby.brand, brand.copied().map(FourCc), "{string}");
    }
    assert_eq!(video(b"hvc1", &[hvcc]).dolby_vision(), None);
    assert_eq!(video(b"vp09", &[record(8, 3, 1)]).dolby_vision(), None);
    assert_eq!(video(b"dvh1", &[]).codec_string(), "dvh1");
}

#[test]
fn pictures() {
    let square = video(b"avc1", &[]).video().unwrap();
    assert_eq!((square.width, square.height), (1920, 1080));
    assert_eq!((square.pixel_aspect_ratio, square.colour), ((1, 1), None));
    for (pasp, ratio) in [
        ([64, 45], (64, 45)),
        ([40, 30], (4, 3)),
        ([u32::MAX, u32::MAX], (1, 1)),
        ([0, 1], (1, 1)),
        ([1, 0], (1, 1)),
    ] {
        let entry = video(b"avc1", &[boxed(b"pasp", &[&words(&pasp)])]);
        assert_eq!(entry.video().unwrap().pixel_aspect_ratio, ratio);
    }
    let profile = boxed(b"colr", &[b"prof", &[0; 40]]);
    let nclc = boxed(b"colr", &[b"nclc", &[0, 9, 0, 18, 0, 9]]);
    let entry = video(b"avc1", &[profile, nclc]);
    let hlg = Colour { primaries: 9, transfer: 18, matrix: 9, full_range: false };
    assert_eq!(entry.video().unwrap().colour, Some(hlg));
    assert_eq!(audio(b"mp4a", &[]).video(), None);
    assert_eq!(entry.audio(), None);
}

/// Decoder specific infos of MPEG-4 audio: the string, sampling rate, channels, their configuration.
const AAC: [(&str, &str, u32, u16, Option<u8>); 13] = [
    // AAC-LC: stereo, 5.1, 7.1 of configuration 7 and of 12.
    ("1190", "mp4a.40.2", 48_000, 2, Some(2)),
    ("11b0", "mp4a.40.2", 48_000, 6, Some(6)),
    ("11b8", "mp4a.40.2", 48_000, 8, Some(7)),
    ("11e0", "mp4a.40.2", 48_000, 8, Some(12)),
    // HE-AAC, signalled in front of the core.
    ("2b920800", "mp4a.40.5", 44_100, 2, Some(2)),
    // And behind it.
    ("131056e598", "mp4a.40.5", 48_000, 2, Some(2)),
    // HE-AAC v2, both ways.
    ("eb8a0800", "mp4a.40.29", 44_100, 2, Some(2)),
    ("130856e59d4880", "mp4a.40.29", 48_000, 2, Some(2)),
    // The synchronization word with the flag that says there is none.
    ("119056e500", "mp4a.40.2", 48_000, 2, Some(2)),
    // Program configurations that ffmpeg writes, with a comment: 5.1 with speakers at the sides, 2.1
    // and eight channels without low frequencies.
    ("118004c844002000c40d4c61766335392e33372e31303056e500", "mp4a.40.2", 48_000, 6, None),
    ("118004c4010020000d4c61766335392e33372e31303056e500", "mp4a.40.2", 48_000, 3, None),
    ("118004c848002008c8200d4c61766335392e33372e31303056e500", "mp4a.40.2", 48_000, 8, None),
    // xHE-AAC: object type 42, 48 kHz, stereo.
    ("f946400000", "mp4a.40.42", 48_000, 2, Some(2)),
];

#[test]
fn mpeg4_audio() {
    for (specific, string, rate, channels, configuration) in AAC {
        let entry = audio(b"mp4a", &[esds(0x40, specific)]);
        assert_eq!(entry.codec_string(), string, "{specific}");
        let facts = entry.audio().unwrap();
        assert_eq!((facts.sample_rate, facts.channels), (Some(rate), Some(channels)), "{specific}");
        assert_eq!(facts.channel_configuration, configuration, "{specific}");
    }
    // RFC 6381, 3.3, and what the registration authority lists as object types.
    for (object_type, string) in [
        (0x67, "mp4a.67"),
        (0x69, "mp4a.69"),
        (0x6b, "mp4a.6B"),
        (0xa5, "mp4a.A5"),
        (0xad, "mp4a.AD"),
    ] {
        assert_eq!(audio(b"mp4a", &[esds(object_type, "")]).codec_string(), string);
    }
    assert_eq!(audio(b".mp3", &[]).codec_string(), "mp4a.6B");
    // Where QuickTime puts it.
    let wave = boxed(b"wave", &[&boxed(b"frma", &[b"mp4a"]), &esds(0x40, "1190")]);
    assert_eq!(audio(b"mp4a", &[wave]).codec_string(), "mp4a.40.2");
}

fn dolby(entry: &SampleEntry) -> (Option<u32>, Option<u16>, String, Option<u8>) {
    let AudioFacts { sample_rate, channels, dolby_channels, joc_complexity, .. } =
        entry.audio().unwrap();
    let mask = format!("{:04X}", dolby_channels.unwrap());
    (sample_rate, channels, mask, joc_complexity)
}

#[test]
fn dolby_audio() {
    // DASH-IF, Dolby channel configurations: 2.0 is A000, 5.1 is F801, 7.1 is FA01.
    let ac3 = audio(b"ac-3", &[config(b"dac3", "10 3d c0")]);
    assert_eq!(ac3.codec_string(), "ac-3");
    assert_eq!(dolby(&ac3), (Some(48_000), Some(6), "F801".into(), None));
    let stereo = audio(b"ac-3", &[config(b"dac3", "50 11 40")]);
    assert_eq!(dolby(&stereo), (Some(44_100), Some(2), "A000".into(), None));
    let eac3 = |payload: &str| audio(b"ec-3", &[config(b"dec3", payload)]);
    assert_eq!(eac3("0600 20 0f 00").codec_string(), "ec-3");
    assert_eq!(dolby(&eac3("0600 20 0f 00")), (Some(48_000), Some(6), "F801".into(), None));
    // A dependent substream with Lrs and Rrs.
    assert_eq!(dolby(&eac3("0c00 20 0f 02 02")), (Some(48_000), Some(8), "FA01".into(), None));
    // ETSI TS 103 420: 5.1 with 16 objects, as Dolby's encoders write it.
    let joc = eac3("1800 20 0f 00 01 10");
    assert_eq!(dolby(&joc), (Some(48_000), Some(6), "F801".into(), Some(16)));
    // One surround channel is in the middle.
    assert_eq!(dolby(&eac3("0600 20 08 00")), (Some(48_000), Some(3), "A100".into(), None));
    // A second programme, which nobody asked for.
    let two = eac3("0601 20 0f 00 20 04 00");
    assert_eq!(dolby(&two), (Some(48_000), Some(6), "F801".into(), None));
    // LFE2.
    assert_eq!(dolby(&eac3("0600 20 0f 03 00")), (Some(48_000), Some(7), "F803".into(), None));
    // Broken ones: the fields of the sample entry hold.
    let short = eac3("0600 20").audio().unwrap();
    assert_eq!(
        (short.sample_rate, short.channels, short.dolby_channels),
        (Some(48_000), Some(2), None)
    );
}

#[test]
fn other_audio() {
    for (format, kind, payload, string, rate, channels) in [
        (b"Opus", b"dOps", "00 06 0138 00003e80 0000 01", "Opus", 48_000, 6),
        (b"fLaC", b"dfLa", "00000000 80000022 1000 1000 000000 000000 17700af0", "fLaC", 96_000, 6),
        (
            b"alac",
            b"alac",
            "00000000 00001000 00 18 28 0a 0e 08 00ff 00000000 00000000 00017700",
            "alac",
            96_000,
            8,
        ),
        // ISO/IEC 23008-3: low complexity profile, level 3; configuration 19 is 7.1 and four above.
        (b"mhm1", b"mhaC", "01 0d 13 0000", "mhm1.0x0D", 48_000, 12),
        (b"mha1", b"mhaC", "01 0b 06 0000", "mha1.0x0B", 48_000, 6),
        (b"mp4a", b"free", "", "mp4a", 48_000, 2),
        (b"dtsx", b"udts", "", "dtsx", 48_000, 2),
    ] {
        let entry = audio(format, &[config(kind, payload)]);
        assert_eq!(entry.codec_string(), string);
        let facts = entry.audio().unwrap();
        assert_eq!((facts.sample_rate, facts.channels), (Some(rate), Some(channels)), "{string}");
    }
}

#[test]
fn ac4() {
    // Bits of `ac4_dsi_v1` with two presentations, ETSI TS 103 190-2, E.6 and E.10: a 5.1 one of
    // level 3 and a stereo one of level 5.
    let mut bits = String::new();
    let mut put = |value: u32, width: usize| write!(bits, "{value:0width$b}").unwrap();
    for (value, width) in [(1, 3), (2, 7), (1, 1), (1, 4), (2, 9), (0, 1)] {
        put(value, width);
    }
    for (value, width) in [(0, 2), (0, 32), (0, 32), (0, 5)] {
        put(value, width);
    }
    for (level, mode, mask) in [(5, 1, 1), (3, 4, 0x47)] {
        put(1, 8);
        put(8, 8);
        for (value, width) in [(31, 5), (level, 3), (0, 1), (0, 2 + 2 + 5 + 10), (1, 1), (mode, 5)]
        {
            put(value, width);
        }
        for (value, width) in [(mask, 24), (0, 6)] {
            put(value, width);
        }
    }
    assert_eq!(bits.len() % 8, 0);
    let bytes: Vec<_> = bits
        .as_bytes()
        .chunks(8)
        .map(|byte| u8::from_str_radix(str::from_utf8(byte).unwrap(), 2).unwrap())
        .collect();
    let entry = audio(b"ac-4", &[boxed(b"dac4", &[&bytes])]);
    // The example of Dolby AC-4 in MPEG-DASH.
    assert_eq!(entry.codec_string(), "ac-4.02.01.03");
    let facts = entry.audio().unwrap();
    assert_eq!((facts.sample_rate, facts.channels), (Some(48_000), Some(6)));
    assert_eq!(facts.ac4_channels, Some(0x47), "{}", hex(&bytes));
}

#[test]
fn text() {
    let entry = |handler, entry: Vec<u8>| {
        Sample::new(handler, entry).track().entries.remove(0).codec_string()
    };
    let common = [0, 0, 0, 0, 0, 0, 0, 1];
    let vttc = boxed(b"vttC", &[b"WEBVTT"]);
    assert_eq!(entry(b"text", boxed(b"wvtt", &[&common, &vttc])), "wvtt");
    let stpp =
        |strings: &[u8], more: &[u8]| entry(b"subt", boxed(b"stpp", &[&common, strings, more]));
    let namespace = b"http://www.w3.org/ns/ttml\0\0\0";
    assert_eq!(stpp(namespace, &[]), "stpp.ttml.im1t");
    assert_eq!(stpp(b"http://www.w3.org/ns/ttml\0\0image/png\0", &[]), "stpp.ttml.im1i");
    let mime = boxed(b"mime", &[&[0; 4], b"application/ttml+xml;codecs=im2t\0"]);
    assert_eq!(stpp(namespace, &mime), "stpp.ttml.im2t");
    assert_eq!(stpp(b"urn:ebu:style\0\0\0", &[]), "stpp");
}

#[test]
fn languages_and_roles() {
    let entry = || audio_entry(b"mp4a", &[]);
    let elng = |text: &str| boxed(b"elng", &[&[0; 4], text.as_bytes(), &[0]]);
    let with =
        |elng: Vec<u8>| Sample { language: 0x15c7, mdia: elng, ..Sample::new(b"soun", entry()) };
    let german = Sample { language: 0x1cb2, ..Sample::new(b"soun", entry()) };
    assert_eq!(german.track().bcp47.as_deref(), Some("de")); // `ger`, the bibliographic code
    assert_eq!(Sample::new(b"soun", entry()).track().bcp47, None);
    assert_eq!(with(elng("zh-Hant-TW")).track().bcp47.as_deref(), Some("zh-Hant-TW"));
    assert_eq!(with(elng("eng-US")).track().bcp47.as_deref(), Some("en-US"));
    assert_eq!(with(elng("<script>")).track().bcp47.as_deref(), Some("en"));
    assert_eq!(with(boxed(b"elng", &[&[0; 2]])).track().bcp47.as_deref(), Some("en"));
    let old = Sample { component: b"mhlr", language: 11, ..Sample::new(b"soun", entry()) };
    assert_eq!(old.track().bcp47.as_deref(), Some("ja"));

    let kind = |strings: &[u8]| boxed(b"kind", &[&[0; 4], strings]);
    let scheme = "urn:mpeg:dash:role:2011";
    let udta = boxed(
        b"udta",
        &[
            &kind(b"urn:mpeg:dash:role:2011\0commentary\0"),
            &kind(b"\xff\0\0"),
            &boxed(b"name", &[b"sound"]),
            &kind(b"urn:mpeg:dash:role:2011\0main\0"),
            &[0; 4],
        ],
    );
    let track = Sample { trak: udta, ..Sample::new(b"soun", entry()) }.track();
    let role = |value: &str| TrackRole { scheme: scheme.into(), value: value.into() };
    assert_eq!(track.roles, [role("commentary"), role("main")]);
}

/// All attributes of that name in a manifest, without regard to the case of their values.
fn attributes(text: &str, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in text.split(&format!(" {name}=\"")).skip(1) {
        found.push(part.split('"').next().unwrap().to_ascii_lowercase());
    }
    found
}

#[test]
fn clips_as_shaka_packager_describes_them() {
    let Some(shaka) = testkit::shaka_packager() else { return };
    let dir = Scratch::new();
    for clip in CLIPS.map(small_clip) {
        let movie = movie(&clip.read());
        for (index, track) in movie.tracks.iter().enumerate() {
            let (mpd, media) = (dir.file("out.mpd"), dir.file("out.mp4"));
            let stream =
                format!("in={},stream={index},output={}", clip.path.display(), media.display());
            let output =
                Command::new(&shaka).arg(stream).arg("--mpd_output").arg(&mpd).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let text = fs::read_to_string(&mpd).unwrap();
            let entry = &track.entries[0];
            let ours = entry.codec_string().to_ascii_lowercase();
            assert_eq!(attributes(&text, "codecs"), [ours], "{}", clip.path.display());
            if let Some(video) = entry.video() {
                assert_eq!(attributes(&text, "width"), [video.width.to_string()]);
                assert_eq!(attributes(&text, "height"), [video.height.to_string()]);
            }
            if let Some(audio) = entry.audio() {
                let rate = audio.sample_rate.unwrap().to_string();
                assert_eq!(attributes(&text, "audioSamplingRate"), [rate]);
            }
        }
    }
}

/// The manifest that Shaka Packager makes of an audio clip.
fn shaka_manifest(shaka: &Path, dir: &Scratch, clip: &[u8]) -> String {
    let [input, mpd, media] = ["in.mp4", "out.mpd", "out.mp4"].map(|name| dir.file(name));
    fs::write(&input, clip).unwrap();
    let stream = format!("in={},stream=audio,output={}", input.display(), media.display());
    let output = Command::new(shaka).arg(stream).arg("--mpd_output").arg(&mpd).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(&mpd).unwrap()
}

/// A clip with another decoder specific info, or another coding mode: its frames stay.
#[test]
fn other_configurations_as_shaka_packager_describes_them() {
    let Some(shaka) = testkit::shaka_packager() else { return };
    let dir = Scratch::new();
    let aac = small_clip("aac.mp4").read();
    let old = unhex("141056e500");
    let at = aac.windows(5).position(|bytes| bytes == old).unwrap();
    for new in ["131056e598", "2b92080000", "eb8a080000", "f946400000", "11b856e500", "11b0000000"]
    {
        let mut clip = aac.clone();
        clip[at..at + 5].copy_from_slice(&unhex(new));
        let text = shaka_manifest(&shaka, &dir, &clip);
        let entry = &movie(&clip).tracks[0].entries[0];
        let facts = entry.audio().unwrap();
        assert_eq!(attributes(&text, "codecs"), [entry.codec_string()], "{new}");
        let rate = facts.sample_rate.unwrap().to_string();
        assert_eq!(attributes(&text, "audioSamplingRate"), [rate], "{new}");
        let channels = facts.channels.unwrap().to_string();
        assert_eq!(attributes(&text, "value"), [channels], "{new}");
    }

    let eac3 = small_clip("eac3.mp4").read();
    let at = testkit::boxes::find(&eac3, b"dec3") + 8 + 3;
    for mode in 0..16 {
        // Shaka Packager has two channels of one surround channel.
        if matches!(mode >> 1, 4 | 5) {
            continue;
        }
        let mut clip = eac3.clone();
        clip[at] = clip[at] & 0xf0 | mode;
        let text = shaka_manifest(&shaka, &dir, &clip);
        let facts = movie(&clip).tracks[0].entries[0].audio().unwrap();
        let scheme = attributes(&text, "schemeIdUri").concat();
        let ours = if scheme.contains("dolby") {
            format!("{:04x}", facts.dolby_channels.unwrap())
        } else {
            // A number of ISO/IEC 23091-3: 10 is the one among these that is not its own size.
            let channels = facts.channels.unwrap();
            if mode == 12 { "10".into() } else { channels.to_string() }
        };
        assert_eq!(attributes(&text, "value"), [ours], "{mode} {scheme}");
    }
}

/// What ffprobe reads in a file for the first stream.
fn probe(ffprobe: &Path, path: &Path, fields: &str) -> Vec<String> {
    let mut command = Command::new(ffprobe);
    command.args(["-v", "error", "-of", "default=nw=1:nk=1", "-show_entries"]);
    let output = command.arg(format!("stream={fields}")).arg(path).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    text.lines().map(str::to_owned).collect()
}

#[test]
fn audio_as_ffprobe_reads_it() {
    let Some(ffprobe) = testkit::ffprobe() else { return };
    let dir = Scratch::new();
    let path = dir.file("audio.mp4");
    // ffprobe says the channels of the configuration, with parametric stereo as well, and ffmpeg 5
    // has no xHE-AAC.
    let aac = AAC.iter().filter(|(_, string, ..)| matches!(*string, "mp4a.40.2" | "mp4a.40.5"));
    for (specific, ..) in aac {
        let sample = Sample::new(b"soun", audio_entry(b"mp4a", &[esds(0x40, specific)]));
        sample.write(&path);
        let facts = sample.track().entries[0].audio().unwrap();
        let ours = [facts.sample_rate.unwrap().to_string(), facts.channels.unwrap().to_string()];
        assert_eq!(probe(&ffprobe, &path, "sample_rate,channels"), ours, "{specific}");
    }
    for payload in ["10 3d c0", "10 11 40", "10 09 40", "10 2c 40"] {
        let sample = Sample::new(b"soun", audio_entry(b"ac-3", &[config(b"dac3", payload)]));
        sample.write(&path);
        let facts = sample.track().entries[0].audio().unwrap();
        let ours = facts.channels.unwrap().to_string();
        assert_eq!(probe(&ffprobe, &path, "channels"), [ours], "{payload}");
    }
}

#[test]
fn video_as_ffmpeg_makes_it() {
    let (Some(ffmpeg), Some(ffprobe)) = (testkit::ffmpeg(), testkit::ffprobe()) else { return };
    let dir = Scratch::new();
    let path = dir.file("video.mp4");
    for encoder in ["libx264", "libx265", "libvpx-vp9", "libaom-av1", "mpeg4"] {
        let mut command = Command::new(&ffmpeg);
        command.args(["-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=d=0.1:r=20:s=96x64"]);
        command.args(["-vf", "setsar=40/33", "-pix_fmt", "yuv420p", "-c:v", encoder]);
        command.args(["-color_primaries", "bt2020", "-color_trc", "smpte2084"]);
        command.args(["-colorspace", "bt2020nc", "-color_range", "tv"]);
        if encoder == "libaom-av1" {
            command.args(["-cpu-used", "8"]);
        }
        let output = command.arg(&path).output().unwrap();
        if !output.status.success() {
            testkit::skip(&format!("this ffmpeg has no {encoder}"));
            continue;
        }
        let movie = movie(&fs::read(&path).unwrap());
        let video = movie.tracks[0].entries[0].video().unwrap();
        let (width, height) = video.pixel_aspect_ratio;
        let ours = [video.width.to_string(), video.height.to_string(), format!("{width}:{height}")];
        let theirs = probe(&ffprobe, &path, "width,height,sample_aspect_ratio");
        assert_eq!(theirs, ours, "{encoder}");
        let pq = Colour { primaries: 9, transfer: 16, matrix: 9, full_range: false };
        assert_eq!(video.colour, Some(pq), "{encoder}");
        // The same without `colr`: of the sequence header, or of `vpcC`.
        if matches!(encoder, "libvpx-vp9" | "libaom-av1") {
            let string = movie.tracks[0].entries[0].codec_string();
            let mut bytes = movie.into_bytes();
            let at = testkit::boxes::find(&bytes, b"colr");
            bytes[at + 4..at + 8].copy_from_slice(b"free");
            let entry = &Movie::parse(bytes, 0).unwrap().tracks[0].entries[0];
            assert_eq!(entry.video().unwrap().colour, Some(pq), "{encoder}");
            assert_eq!(entry.codec_string(), string);
        }
    }
}

/// Configurations of every kind, damaged.
#[test]
fn damaged_configurations() {
    let mut entries = vec![
        Sample::new(
            b"vide",
            video_entry(
                b"hvc1",
                &[
                    config(b"hvcC", &"01".repeat(40)),
                    nclx(9, 16, 9, 0),
                    boxed(b"dvvC", &[&[1; 24]]),
                ],
            ),
        ),
        Sample::new(
            b"vide",
            video_entry(b"dvh1", &[boxed(b"dvcC", &[&[1; 24]]), boxed(b"pasp", &[&[1; 8]])]),
        ),
        Sample::new(
            b"vide",
            video_entry(
                b"vvc1",
                &[config(b"vvcC", "00000000 ff 0000 00 06 23 53 4010204080 ff 00")],
            ),
        ),
        Sample::new(
            b"vide",
            video_entry(b"av01", &[config(b"av1C", "81 04 4e 00 0a 0b 00000024c4ff dfc0b0a0c0")]),
        ),
        Sample::new(
            b"vide",
            video_entry(b"vp09", &[config(b"vpcC", "01000000 02 0a a3 09 10 09 0000")]),
        ),
        Sample::new(
            b"soun",
            audio_entry(b"ec-3", &[config(b"dec3", "0c01 20 0f 02 02 20 0f 00 01 10")]),
        ),
        Sample::new(b"soun", audio_entry(b"ac-4", &[config(b"dac4", &"21".repeat(60))])),
        Sample::new(b"soun", audio_entry(b"fLaC", &[config(b"dfLa", &"11".repeat(42))])),
        Sample::new(b"soun", audio_entry(b"alac", &[config(b"alac", &"11".repeat(28))])),
        Sample::new(b"soun", audio_entry(b"mhm1", &[config(b"mhaC", "01 0d 13 0000")])),
        Sample::new(
            b"soun",
            audio_entry(b"Opus", &[config(b"dOps", "00 06 0138 00003e80 0000 01")]),
        ),
        Sample::new(
            b"subt",
            boxed(
                b"stpp",
                &[
                    &[0; 8],
                    b"http://www.w3.org/ns/ttml\0\0\0",
                    &boxed(b"mime", &[&[0; 4], b"a;codecs=b\0"]),
                ],
            ),
        ),
    ];
    entries.extend(
        AAC.iter().map(|(dsi, ..)| Sample::new(b"soun", audio_entry(b"mp4a", &[esds(0x40, dsi)]))),
    );
    let mut rng = Rng::from_env("damaged_configurations");
    let watchdog = Watchdog::new();
    for sample in &mut entries {
        sample.mdia = boxed(b"elng", &[&[0; 4], b"de-CH\0"]);
        sample.trak = boxed(b"udta", &[&boxed(b"kind", &[&[0; 4], b"urn:x\0main\0"])]);
        let moov = sample.moov();
        let name = String::from_utf8_lossy(&sample.entry[4..8]).into_owned();
        // Of the entry alone, so that most of the damage is in the configuration.
        let at = moov.windows(sample.entry.len()).position(|bytes| bytes == sample.entry).unwrap();
        let whole = Mutator::of_boxes(&moov);
        let mut parsed = 0;
        for number in 0..mutants(1000) {
            watchdog.begins(format!("{name}, mutant {number}"));
            let bytes = if rng.one_in(4) {
                whole.mutant(&mut rng)
            } else {
                let mut bytes = moov.clone();
                for _ in 0..4 {
                    let offsets: Vec<_> = (at + 16..at + sample.entry.len()).collect();
                    bytes[*rng.pick(&offsets)] = rng.array::<1>()[0];
                }
                bytes
            };
            let Ok(movie) = Movie::parse(bytes, 0) else { continue };
            parsed += 1;
            for entry in movie.tracks.iter().flat_map(|track| &track.entries) {
                let string = entry.codec_string();
                assert!(string.len() < 1000, "{string}");
                let _ = (entry.video(), entry.audio(), entry.dolby_vision());
            }
        }
        assert!(parsed > 0, "{name}");
    }
}
