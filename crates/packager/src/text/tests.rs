//! Text against what others say of it: the WebVTT tests of web-platform-tests, Shaka Packager, ffprobe
//! and roxmltree.

use std::{fs, process::Command};

use lanelock_mp4::{Fragment, Movie, Sample, load, top_level};
use lanelock_testkit::{Mutator, Rng, Scratch, ffprobe, mutants, shaka_packager};

use super::*;

fn webvtt(text: impl AsRef<[u8]>) -> WebVtt {
    WebVtt::parse("in.vtt", text.as_ref()).unwrap()
}

fn webvtt_error(text: impl AsRef<[u8]>) -> String {
    WebVtt::parse("in.vtt", text.as_ref()).unwrap_err().to_string()
}

fn ttml(text: impl AsRef<[u8]>) -> Ttml {
    Ttml::parse("in.ttml", text.as_ref()).unwrap()
}

fn ttml_error(text: impl AsRef<[u8]>) -> String {
    Ttml::parse("in.ttml", text.as_ref()).unwrap_err().to_string()
}

/// A movie with one track, and its samples: start, end and bytes.
fn samples_of(file: &[u8]) -> (Movie, Vec<(u64, u64, Vec<u8>)>) {
    let (mut movie, mut found) = (None, Vec::new());
    let len = file.len() as u64;
    for header in top_level(&file).map(|header| header.unwrap()) {
        if header.kind == b"moov" {
            let moov = Movie::parse(load(&file, &header).unwrap(), header.offset).unwrap();
            let samples = moov.samples(&moov.tracks[0], len).unwrap();
            found.extend(samples.map(|sample| sample.unwrap()));
            movie = Some(moov);
        } else if header.kind == b"moof" {
            let moof = load(&file, &header).unwrap();
            let movie = movie.as_ref().unwrap();
            let fragment = Fragment::parse(&moof, header.offset, movie, len).unwrap();
            found.extend(fragment.tracks[0].samples());
        }
    }
    let bytes = |Sample { offset, size, decode_time: start, duration, .. }| {
        let at = usize::try_from(offset).unwrap();
        (start, start + u64::from(duration), file[at..at + size as usize].to_vec())
    };
    (movie.unwrap(), found.into_iter().map(bytes).collect())
}

fn read_back(file: &[u8]) -> WebVtt {
    let (movie, samples) = samples_of(file);
    let header = wvtt_header(&movie, 0).unwrap();
    let samples = samples.into_iter().map(Ok);
    cues_of_wvtt("in.vtt", header.as_deref(), movie.tracks[0].timescale, samples).unwrap()
}

const FILM: &str = "\
WEBVTT

STYLE
::cue(b) { color: yellow }

REGION
id:fred
width:40%

1
00:00:01.000 --> 00:00:04.000 align:start
Hello <b>world</b>
second line

NOTE not shown

00:00:03.000 --> 00:00:06.000 align:center
Overlap

karaoke
00:00:10.000 --> 00:00:12.500 align:left
Late <00:00:11.000>&amp; last
";

/// web-platform-tests, webvtt/parsing/file-parsing/support: each case is named after its test there, which
/// says how many cues there are and what they say.
#[test]
fn cues_are_those_of_web_platform_tests() {
    const CUE: &str = "00:00:00.000 --> 00:00:01.000\n";
    let ids = |text: &str| webvtt(text).cues.into_iter().map(|cue| cue.id).collect::<Vec<_>>();
    let texts =
        |text: &str| webvtt(text).cues.into_iter().map(|cue| cue.payload).collect::<Vec<_>>();

    // signature-*
    for text in ["WEBVTT", "WEBVTT ", "WEBVTT\t", "WEBVTT\n", "\u{feff}WEBVTT\n"] {
        assert_eq!(texts(text), <[&str; 0]>::default());
    }
    for text in ["", "\n", "WEBVT", "WEBVTTx", "webvtt\n", " WEBVTT\n", "\u{feff}\u{feff}WEBVTT\n"]
    {
        let error = webvtt_error(text);
        assert!(error.contains("does not begin with WEBVTT"), "{error}");
    }
    // header-timings, and nulls for the header of two lines
    assert_eq!(texts(&format!("WEBVTT\n{CUE}text")), ["text"]);
    assert_eq!(texts(&format!("WEBVTT\n\0\nmore header\n{CUE}text1")), ["text1"]);
    // arrows: a line with an arrow that is no timing begins no cue, and ends the one before
    let arrows = ["-->", "foo-->", "-->foo", "--->", "-->-->"].iter().enumerate();
    let arrows = arrows.map(|(number, arrow)| format!("{arrow}\n{CUE}text{}\n", number + 1));
    let arrows = arrows.collect::<Vec<_>>().concat();
    let arrows = format!("WEBVTT\n\n{arrows}{CUE}text6\n\n00:00:00.000 -- -->\n");
    assert_eq!(texts(&arrows), ["text1", "text2", "text3", "text4", "text5", "text6"]);
    assert_eq!(webvtt(&arrows).left_out, [3, 6, 9, 12, 15, 21]);
    // ids
    let names = [" leading space", "trailing space ", "-- >", "->", " "];
    let text = names.map(|id| format!("\n{id}\n{CUE}text\n")).concat();
    assert_eq!(ids(&format!("WEBVTT\n{text}")), names);
    // newlines
    let text = format!("WEBVTT\n\ncr\r{CUE}text1\r\rlf\n{CUE}text2\n\ncrlf\r\n{CUE}text3\r\n");
    assert_eq!(ids(&text), ["cr", "lf", "crlf"]);
    assert_eq!(texts(&text), ["text1", "text2", "text3"]);
    // whitespace-chars: form feeds are white space, vertical tabs are not
    let text = "WEBVTT\n\n   00:00:00.000    -->  00:00:01.000 \n   text1\n\n\
                \t00:00:00.000\t-->\t00:00:01.000\t\ntext2\n\n\
                \x0c00:00:00.000\x0c-->\x0c00:00:01.000\x0c\ntext3\n\n\
                \x0b00:00:00.000\x0b-->\x0b00:00:01.000\x0b\ntext4\n";
    assert_eq!(texts(text), ["   text1", "text2", "text3"]);
    // timings-omitted-hours, timings-too-long, timings-too-short, timings-60
    for (start, end) in [
        ("00:00.000", "00:00:01.000"),
        ("00:00:00.000", "00:01.000"),
        ("000:00:00.000", "00:00:01.000"),
        ("0:00:00.000", "00:00:01.000"),
        ("00:00:00.000", "000:00:01.000"),
    ] {
        let cues = webvtt(format!("WEBVTT\n\n{start} --> {end}\ntext")).cues;
        assert_eq!((cues[0].start, cues[0].end), (0, 1000), "{start} {end}");
    }
    for time in [
        "00::00:00.000",
        "00:000:00.000",
        "00:00::00.000",
        "00:00:000.000",
        "00:00:00..000",
        "00:00:00.0000",
        "00:00.0000",
        "000:00.000",
        "00::00.000",
        "00:000.000",
        "00:00..000",
        "0000:00.000",
        "00:0:00.000",
        "00:00:00000",
        "00:00:00.00",
        "00:00:00.",
        "00:00:00",
        "00:00:0",
        "00:00:",
        "00:00",
        "00:",
        "00",
        "0",
        "",
        "0:00.000",
        "00:0.000",
        ":00.",
        ".",
        "60:00.000",
        "00:60.000",
        "00:60:00.000",
        "00:00:60.000",
        "-00:00.000",
        "00:00:00:00.000",
    ] {
        let document = webvtt(format!("WEBVTT\n\n{time} --> 00:00:01.000\ninvalid"));
        assert_eq!((document.cues.len(), &document.left_out[..]), (0, &[3][..]), "{time}");
    }
    // nulls
    let text = "WEBVTT\n\n\0 id\n00:00:00.000 --> 00:00:01.000\0align:end\n\0text\0\n";
    let [cue] = &webvtt(text).cues[..] else { panic!("one cue") };
    assert_eq!((&*cue.id, &*cue.payload), ("\u{fffd} id", "\u{fffd}text\u{fffd}"));
    // stylesheets-newlines: a style sheet ends at an empty line, and is none behind the first cue
    let text = format!(
        "WEBVTT\n\nSTYLE\n::cue(#foo) {{}} /*\nNOTE hello\n00:00 -- > 00:01\n*/\n\n.bar {{}}\n\n\
         foo\n{CUE}text\n\nSTYLE\n::cue(::bar) {{}}\n\nbar\n{CUE}text\n"
    );
    let document = webvtt(&text);
    let style = "STYLE\n::cue(#foo) {} /*\nNOTE hello\n00:00 -- > 00:01\n*/";
    assert_eq!(document.header, format!("WEBVTT\n\n{style}"));
    assert_eq!(document.cues.len(), 2);
}

#[test]
fn faults_say_where_and_what_to_do() {
    let times = |line: &str| webvtt_error(format!("WEBVTT\n\nid\n{line}\ntext\n"));
    for (error, expected) in [
        (webvtt_error(b"WEBVTT\n\n\xe9t\xe9"), "in.vtt: it is not UTF-8 text: byte 8"),
        (webvtt_error(b"WEBVTT\n\n\xe9t\xe9"), "iconv"),
        (webvtt_error(b"\xff\xfeW\0E\0"), "UTF-16"),
        (webvtt_error("1\n00:00:01,000 --> 00:00:02,000\nHi\n"), "ffmpeg -i IN OUT.vtt"),
        (times("00:00:01,000 --> 00:00:02,000"), "line 4: the times are those of a SubRip file"),
        (times("00:01:00.000 --> 00:00:59.999"), "line 4: the cue ends (00:00:59.999) before it"),
        (
            webvtt_error("WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n"),
            "line 2: it is a",
        ),
        (webvtt_error("WEBVTT\nX-TIMESTAMP-MAP\n"), "line 2"),
    ] {
        assert!(error.contains(expected), "{error}");
    }
    let map = "WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:0\nKind: captions\n";
    assert_eq!(webvtt(map).header, "WEBVTT\nKind: captions");
    let document =
        webvtt("WEBVTT\n\n00:01 --> 00:02\nlost\n\n00:03.000 --> 00:03.000\nnever shown\n");
    assert!(document.cues.is_empty());
    assert!(document.warning().unwrap().ends_with("1 (line 3)"));
}

/// "Text track cue order" of the standard, hours of three digits, and what the header keeps.
#[test]
fn cues_are_in_the_order_of_presentation() {
    let text = "WEBVTT title\nKind: captions\n\nNOTE first\n\nSTYLE \n::cue {}\n\n\
                01:00.000 --> 01:01.000\nlater\n\n00:01.000 --> 00:02.000\nshort\n\n\
                00:01.000 --> 00:03.000 line:0 align:end\nlong\n\nNOTE dropped\n\n\
                100:00:00.000 --> 100:00:01.000\n";
    let document = webvtt(text);
    assert_eq!(document.header, "WEBVTT title\nKind: captions\n\nNOTE first\n\nSTYLE \n::cue {}");
    let cues: Vec<_> = document.cues.iter().map(|cue| (&*cue.payload, cue.start)).collect();
    assert_eq!(cues, [("long", 1000), ("short", 1000), ("later", 60_000), ("", 360_000_000)]);
    assert_eq!((&*document.cues[0].settings, document.end()), ("line:0 align:end", 360_001_000));
}

#[test]
fn wvtt_is_read_back() {
    let document = webvtt(FILM);
    for boundaries in [&[][..], &[4000, 8000, 12_000], &[0, 1000, 1001, 20_000, 3000, 3000]] {
        let file = wvtt_movie(&document, boundaries, 16_000, Some("en-GB")).unwrap();
        assert_eq!(read_back(&file), document);
        let (_, samples) = samples_of(&file);
        let starts: Vec<_> = samples.iter().map(|(start, ..)| *start).collect();
        for boundary in boundaries.iter().filter(|boundary| **boundary < 16_000) {
            assert!(starts.contains(boundary), "{boundary} in {starts:?}");
        }
        assert_eq!(samples.last().unwrap().1, 16_000);
    }
    // What is cut off by the end.
    let file = wvtt_movie(&document, &[], 11_000, None).unwrap();
    assert_eq!(read_back(&file).cues[2].end, 11_000);
    // Times in cue text count from the time in `ctim`.
    let (_, samples) = samples_of(&wvtt_movie(&document, &[12_000], 16_000, None).unwrap());
    let ctim = samples.iter().find(|(start, ..)| *start == 12_000).unwrap();
    assert!(ctim.2.windows(16).any(|bytes| bytes == b"ctim00:00:12.000"));
    assert!(wvtt_movie(&document, &[], 0, None).is_err());
    assert!(wvtt_movie(&document, &[], 1 << 32, None).is_err());
}

/// What a sample says may not become a timing or end a cue in a WebVTT file.
#[test]
fn text_of_samples_is_made_safe() {
    let mut parts = Vec::new();
    samples::put_box(&mut parts, *b"iden", &[b"a ---> b\nc"]);
    samples::put_box(&mut parts, *b"payl", &[b"one\r\n\r\n00:00.000 --> 00:01.000\n\nthree\0"]);
    let mut sample = Vec::new();
    samples::put_box(&mut sample, *b"vttc", &[&parts]);
    let document = cues_of_wvtt("a", None, 90_000, [Ok((90_000, 180_000, sample))]).unwrap();
    let [cue] = &document.cues[..] else { panic!("one cue") };
    assert_eq!((cue.start, cue.end, &*cue.id), (1000, 2000, "a ---&gt; b c"));
    assert_eq!(cue.payload, "one\n00:00.000 --&gt; 00:01.000\nthree");
    let segment = SegmentWriter::new(&document).segment(0..2000);
    assert_eq!(webvtt(segment), WebVtt { name: "in.vtt".into(), ..document });
}

#[test]
fn segments_hold_what_is_shown_in_them() {
    let document = webvtt(FILM);
    let mut writer = SegmentWriter::new(&document);
    let segments: Vec<_> =
        (0..4).map(|n| webvtt(writer.segment(n * 4000..(n + 1) * 4000))).collect();
    let first = &document.cues;
    for (segment, expected) in
        segments.iter().zip([&first[..2], &first[1..2], &first[2..], &first[2..]])
    {
        assert_eq!((&segment.header, &segment.cues[..]), (&document.header, expected));
    }
    let mut writer = SegmentWriter::new(&document);
    let empty = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n\nSTYLE\n";
    assert!(writer.segment(6000..8000).starts_with(empty));
    assert!(webvtt(writer.segment(8000..8001)).cues.is_empty());
}

/// Shaka Packager makes the same samples at the same times; it has no `vsid`. Its segments for HLS hold
/// the same cues. It reads no text of MP4 files, not even its own, but parses ours.
#[test]
fn samples_and_segments_are_those_of_shaka_packager() {
    let Some(packager) = shaka_packager() else { return };
    let scratch = Scratch::new();
    fs::write(scratch.file("in.vtt"), FILM).unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(&packager).args(arguments).current_dir(scratch.path()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["in=in.vtt,stream=text,format=mp4,output=theirs.mp4", "--segment_duration", "4"]);
    let (_, theirs) = samples_of(&fs::read(scratch.file("theirs.mp4")).unwrap());
    let document = webvtt(FILM);
    let end = theirs.last().unwrap().1;
    let file = wvtt_movie(&document, &[4000, 8000, 12_000], end, Some("en")).unwrap();
    let (_, ours) = samples_of(&file);
    let times = |samples: &[(u64, u64, Vec<u8>)]| {
        samples.iter().map(|(start, end, _)| (*start, *end)).collect::<Vec<_>>()
    };
    assert_eq!(times(&ours), times(&theirs));
    let read = cues_of_wvtt("theirs", None, 1000, theirs.into_iter().map(Ok)).unwrap();
    assert_eq!(read.cues, document.cues);

    let template = "in=in.vtt,stream=text,segment_template=theirs_$Number$.vtt";
    run(&[template, "--segment_duration", "4", "--hls_master_playlist_output", "main.m3u8"]);
    let mut writer = SegmentWriter::new(&document);
    for number in 0..4_u64 {
        let name = format!("theirs_{}.vtt", number + 1);
        let theirs = fs::read_to_string(scratch.file(&name)).unwrap();
        let theirs = theirs.lines().filter(|line| !line.starts_with("X-TIMESTAMP-MAP"));
        let theirs = webvtt(theirs.collect::<Vec<_>>().join("\n"));
        let ours = webvtt(writer.segment(number * 4000..(number + 1) * 4000));
        assert_eq!(ours.cues, theirs.cues, "{name}");
    }

    fs::write(scratch.file("ours.mp4"), file).unwrap();
    run(&["in=ours.mp4", "--dump_stream_info"]);
}

const IMSC: &str = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<tt xmlns=\"http://www.w3.org/ns/ttml\" xmlns:ttp=\"http://www.w3.org/ns/ttml#parameter\"
    ttp:profile=\"http://www.w3.org/ns/ttml/profile/imsc1/text\" ttp:frameRate=\"25\" xml:lang=\"de-CH\">
  <head><layout><region xml:id=\"bottom\"/></layout></head>
  <body>
    <div begin=\"10s\">
      <p xml:id=\"one\" region=\"bottom\" begin=\"0s\" end=\"2s\">Grüezi</p>
      <p xml:id=\"two\" begin=\"00:00:03:05\" dur=\"1.5s\">A <span>&amp;</span><br/>B</p>
    </div>
    <div begin=\"1s\" end=\"12s\">
      <p xml:id=\"three\">whole</p>
      <p xml:id=\"four\"><span begin=\"2s\" end=\"3s\">inside</span></p>
      <p xml:id=\"five\" begin=\"10s\" end=\"60s\"/>
    </div>
  </body>
</tt>
";

#[test]
fn ttml_is_understood() {
    let document = ttml(IMSC);
    assert_eq!(document.language.as_deref(), Some("de-CH"));
    assert_eq!(document.profile, Some("im1t"));
    assert_eq!(document.end, Some(14_700));
    let plain = ttml("<tt xmlns='http://www.w3.org/ns/ttml'><body><div><p>x</p></div></body></tt>");
    assert_eq!((plain.end, plain.profile), (None, None));
    let ebu = "<tt:tt xmlns:tt='http://www.w3.org/ns/ttml' xmlns:m='urn:ebu:tt:metadata'><tt:head>\
               <tt:metadata><m:documentMetadata><m:conformsToStandard>urn:ebu:tt:distribution:2018-04\
               </m:conformsToStandard></m:documentMetadata></tt:metadata></tt:head></tt:tt>";
    assert_eq!(ttml(ebu).profile, Some("etd2"));
    let older = "<tt xmlns='http://www.w3.org/ns/ttml'><head><p:profile \
                 xmlns:p='http://www.w3.org/ns/ttml#parameter' \
                 use='http://www.w3.org/ns/ttml/profile/imsc1.1/text'/></head>\
                 <body end='5s'><div><metadata>not shown</metadata><p end='2s'>x</p></div></body></tt>";
    assert_eq!((ttml(older).profile, ttml(older).end), (Some("im2t"), Some(2000)));
    // Children that follow one another have times that are not computed.
    let seq = IMSC.replacen("<div begin", "<div timeContainer=\"seq\" begin", 1);
    assert_eq!(ttml(seq).end, None);
}

#[test]
fn faults_of_ttml_say_where() {
    for (from, to, expected) in [
        ("</body>", "", "not well-formed"),
        ("</tt>", "", "cut short"),
        ("</tt>", "</tt><tt/>", "second element"),
        ("</tt>", "</tt>text", "outside"),
        ("ns/ttml\"", "ns/other\"", "line 2: it is no TTML file"),
        ("imsc1/text", "imsc1/image", "images cannot"),
        ("<layout>", "<image/><layout>", "images cannot"),
        ("begin=\"0s\"", "begin=\"0,5s\"", "line 7: begin=\"0,5s\" is no time"),
        ("&amp;", "&nbsp;", "line 8: the entity &nbsp; is not defined"),
        ("encoding=\"UTF-8\"", "encoding=\"ISO-8859-1\"", "iconv -f ISO-8859-1"),
        ("?>\n<tt", "?>\n<!DOCTYPE tt>\n<tt", "line 2: document type"),
        ("ttp:frameRate=\"25\"", "ttp:frameRate=\"x\"", "frameRate"),
        ("ttp:frameRate=\"25\"", "ttp:timeBase=\"smpte\"", "time base smpte"),
    ] {
        let error = ttml_error(IMSC.replacen(from, to, 1));
        assert!(error.contains(expected), "{to}: {error}");
    }
    let deep = "<a>".repeat(1000);
    let error = ttml_error(format!("<tt xmlns='http://www.w3.org/ns/ttml'>{deep}"));
    assert!(error.contains("inside of one another"), "{error}");
}

/// Each sample is XML, of which roxmltree is the judge, with the paragraphs that are shown in it.
#[test]
fn stpp_samples_hold_what_is_shown_in_them() {
    let document = ttml(IMSC);
    let file = stpp_movie(&document, &[5000, 12_000, 13_000], 20_000, Some("gsw")).unwrap();
    let (_, samples) = samples_of(&file);
    let shown = [
        ((0, 5000), &["three", "four"][..]),
        ((5000, 12_000), &["one", "three", "four", "five"]),
        ((12_000, 13_000), &[]),
        ((13_000, 20_000), &["two"]),
    ];
    for ((start, end, bytes), (times, expected)) in samples.iter().zip(shown) {
        assert_eq!((*start, *end), times);
        let text = str::from_utf8(bytes).unwrap();
        let xml = roxmltree::Document::parse(text).unwrap();
        let is_p =
            |node: &roxmltree::Node<'_, '_>| node.has_tag_name(("http://www.w3.org/ns/ttml", "p"));
        let name = |node: roxmltree::Node<'_, '_>| {
            node.attribute((roxmltree::NS_XML_URI, "id")).unwrap().to_owned()
        };
        let found: Vec<_> = xml.descendants().filter(is_p).map(name).collect();
        assert_eq!(found, expected);
        assert!(text.contains("<region xml:id=\"bottom\"/>"));
    }
    // Without boundaries, the file as it is.
    let (_, samples) = samples_of(&stpp_movie(&document, &[], 20_000, None).unwrap());
    assert_eq!(samples.len(), 1);
}

/// ffprobe sees the same packets in both kinds of files, as it sees the languages.
#[test]
fn ffprobe_reads_the_files() {
    let Some(ffprobe) = ffprobe() else { return };
    let scratch = Scratch::new();
    let wvtt = wvtt_movie(&webvtt(FILM), &[4000], 16_000, Some("deu")).unwrap();
    let stpp = stpp_movie(&ttml(IMSC), &[4000], 16_000, Some("deu")).unwrap();
    for (name, file) in [("wvtt", wvtt), ("stpp", stpp)] {
        let path = scratch.file(name);
        fs::write(&path, &file).unwrap();
        let show = ["-v", "error", "-of", "csv=p=0", "-show_entries"];
        let what = "packet=pts,duration,size:stream=codec_tag_string:stream_tags=language";
        let output = Command::new(&ffprobe).args(show).arg(what).arg(&path).output().unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        let packets = samples_of(&file).1.into_iter();
        let packets = packets.map(|(start, end, b)| format!("{start},{},{}", end - start, b.len()));
        let expected: Vec<_> = packets.chain([format!("{name},deu")]).collect();
        let lines = output.lines().filter(|line| !line.is_empty());
        let found: Vec<_> = lines.map(|line| line.trim_end_matches(',')).collect();
        assert_eq!(found, expected);
    }
}

/// Damaged files are errors or other text, and what is read can be written and read again.
#[test]
fn damaged_text_does_not_panic() {
    let mut rng = Rng::from_env("text");
    let timings = FILM.replace("00:00:", "");
    let count = mutants(2000);
    for _ in 0..count {
        let seed = if rng.one_in(2) { FILM } else { &timings };
        let bytes = Mutator::of_head(seed.as_bytes(), seed.len()).mutant(&mut rng);
        let _ = kind(&bytes, "in.vtt");
        let Ok(document) = WebVtt::parse("in.vtt", &bytes) else { continue };
        let _ = document.warning();
        let mut writer = SegmentWriter::new(&document);
        let written = webvtt(writer.segment(0..u64::MAX));
        assert_eq!(written.cues, document.cues, "{}", bytes.escape_ascii());
        let Ok(file) = wvtt_movie(&document, &[4000, 9000], 40_000, None) else { continue };
        read_back(&file);
    }
    for _ in 0..count {
        let bytes = Mutator::of_head(IMSC.as_bytes(), IMSC.len()).mutant(&mut rng);
        let _ = kind(&bytes, "in.ttml");
        let Ok(document) = Ttml::parse("in.ttml", &bytes) else { continue };
        stpp_movie(&document, &[4000, 9000], 40_000, None).unwrap();
    }
    let (_, samples) = samples_of(&wvtt_movie(&webvtt(FILM), &[], 16_000, None).unwrap());
    for _ in 0..count {
        let (.., sample) = rng.pick(&samples);
        let bytes = Mutator::of_head(sample, sample.len()).mutant(&mut rng);
        let Ok(document) = cues_of_wvtt("a", None, 1000, [Ok((0, 1000, bytes))]) else { continue };
        let written = webvtt(SegmentWriter::new(&document).segment(0..1000));
        assert_eq!(written.cues, document.cues);
    }
}

/// As many cues at once as there are segments would need memory without limit.
#[test]
fn too_much_at_once_is_refused() {
    let cue = format!("00:00.000 --> 99:00:00.000\n{}\n\n", "x".repeat(100_000));
    let document = webvtt(format!("WEBVTT\n\n{}", cue.repeat(60)));
    let boundaries: Vec<_> = (0..1000).map(|second| second * 1000).collect();
    let error = wvtt_movie(&document, &boundaries, 1_000_000, None).unwrap_err().to_string();
    assert!(error.contains("64 MiB when"), "{error}");
    // Cues that each begin a little later need no boundaries for that.
    let cues: Vec<_> = (0..3000)
        .map(|n| format!("00:{:02}.{:03} --> 59:00.000\nA\n\n", n / 1000, n % 1000))
        .collect();
    let document = webvtt(format!("WEBVTT\n\n{}", cues.concat()));
    let error = wvtt_movie(&document, &[], 3_600_000, None).unwrap_err().to_string();
    assert!(error.contains("64 MiB when"), "{error}");
    let paragraph = format!("<p end=\"99h\">{}</p>", "x".repeat(100_000));
    let body = paragraph.repeat(60);
    let text = format!("<tt xmlns='http://www.w3.org/ns/ttml'><body><div>{body}</div></body></tt>");
    let error = stpp_movie(&ttml(text), &boundaries, 1_000_000, None).unwrap_err().to_string();
    assert!(error.contains("64 MiB when"), "{error}");
}
