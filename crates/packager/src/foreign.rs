//! What a file is that is no MP4 file, by its first bytes, and how an MP4 file is made of it.

use crate::{Error, io::Input};

/// Refuses an input that is something else, if its first bytes say what.
pub(crate) fn refuse(input: &Input<'_>) -> Result<(), Error> {
    let start = head(input, 8)?;
    if input.len() == 0 {
        return Err(input.unsuitable("the file is empty"));
    }
    // A pipe that begins with a box is not asked for more: the rest may come much later.
    if is_box(&start) {
        return Ok(());
    }
    let head = head(input, HEAD)?;
    let Some((_, what, todo)) = TABLE.iter().find(|(is, ..)| is(&head)) else { return Ok(()) };
    Err(input.unsuitable(format!("it is {what}, not an MP4 file; {todo}")))
}

/// Whether a file begins with the header of a box: a type in printable characters and a size of up to
/// 16 MiB. One that is larger goes on to the table, where nothing matches it.
fn is_box(start: &[u8]) -> bool {
    let Some((size, kind)) = start.split_first_chunk() else { return false };
    let printable = |kind: &[u8]| kind.iter().all(|byte| matches!(byte, b' '..=b'~'));
    match u32::from_be_bytes(*size) {
        _ if kind.len() < 4 => false,
        // A size of 64 bits follows; in a start code and H.264's parameters, the level: 62 at most, which
        // is no letter.
        1 => printable(kind) && kind.get(3).is_some_and(u8::is_ascii_alphabetic),
        0 | 8..0x0100_0000 => printable(kind),
        _ => false,
    }
}

/// Whether a file that begins with `ftyp` and has no movie is a picture, by its brand.
pub(crate) fn is_picture(ftyp: &[u8]) -> bool {
    let brands: [&[u8; 4]; 8] =
        [b"heic", b"heix", b"heim", b"heis", b"mif1", b"mif2", b"avif", b"jpeg"];
    ftyp.get(8..12).is_some_and(|brand| brands.iter().any(|picture| *picture == brand))
}

/// The first bytes, `len` of them if there are so many.
fn head(input: &Input<'_>, len: usize) -> Result<Vec<u8>, Error> {
    // Of a pipe, this finds out whether it ends before; where it does is its length then.
    let _ = input.source.ends_at(len as u64);
    let len = usize::try_from(input.len()).unwrap_or(len).min(len);
    let mut bytes = vec![0; len];
    input.read(&mut bytes, 0)?;
    Ok(bytes)
}

/// Three packets of an MPEG transport stream.
const HEAD: usize = 3 * 192;

/// By what a kind is known, what it is, and what to do.
type Kind = (fn(&[u8]) -> bool, &'static str, &'static str);

const TABLE: [Kind; 29] = [
    (|b| ebml(b) && has(b, b"webm"), "a WebM file", ENCODE),
    (ebml, "a Matroska file", COPY),
    (|b| packets(b, 0, 188), "an MPEG transport stream", COPY),
    (|b| packets(b, 4, 192), "an MPEG transport stream with time codes (M2TS)", COPY),
    (|b| b.starts_with(&[0, 0, 1, 0xba]), "an MPEG program stream", ENCODE),
    (|b| riff(b, b"AVI "), "an AVI file", ENCODE),
    (|b| riff(b, b"WAVE"), "a WAVE file", "make an MP4 file of it (ffmpeg -i IN -c:a aac OUT.mp4)"),
    (|b| b.starts_with(b"FLV\x01"), "a Flash video (FLV)", COPY),
    (|b| b.starts_with(b"OggS") && has(b, b"OpusHead"), "an Ogg file", COPY),
    (|b| b.starts_with(b"OggS"), "an Ogg file", ENCODE),
    (|b| b.starts_with(b"0&\xb2u\x8ef\xcf\x11"), "a Windows Media file (ASF)", ENCODE),
    (|b| b.starts_with(b"DKIF"), "an IVF file", ENCODE),
    (|b| nal(b).is_some_and(hevc), "a raw H.265 stream (Annex B)", RAW),
    (|b| nal(b).is_some_and(avc), "a raw H.264 stream (Annex B)", RAW),
    (|b| audio(b, 0xf6, 0xf0), "raw AAC (ADTS)", COPY),
    (|b| b.starts_with(b"ID3") || audio(b, 0xe6, 0xe2), "an MP3 file", ENCODE),
    (|b| b.starts_with(&[0x0b, 0x77]), "raw AC-3 or E-AC-3", COPY),
    (
        |b| b.starts_with(b"fLaC"),
        "a FLAC file",
        "make an MP4 file of it (ffmpeg -i IN -c copy -strict -2 OUT.mp4)",
    ),
    (|b| text(b, "#extm3u"), "an HLS playlist", MANIFEST),
    (|b| xml(b, b"<MPD"), "a DASH manifest", MANIFEST),
    (|b| xml(b, b"<SmoothStreamingMedia"), "a Smooth Streaming manifest", MANIFEST),
    (
        |b| text(b, "<!doctype html") || text(b, "<html"),
        "an HTML page",
        "a server may have answered with it in the place of the file; fetch the file again",
    ),
    (
        |b| text(b, "webvtt"),
        "a WebVTT file",
        "serve it as it is: only text in MP4 can be protected",
    ),
    (|b| b.starts_with(b"PK\x03\x04"), "a ZIP archive", "unpack it first"),
    (|b| b.starts_with(&[0x1f, 0x8b]), "compressed with gzip", "unpack it first (gunzip)"),
    (|b| b.starts_with(&[0xff, 0xd8, 0xff]), "a picture (JPEG)", "give the video"),
    (|b| b.starts_with(b"\x89PNG\r\n"), "a picture (PNG)", "give the video"),
    (|b| b.starts_with(b"GIF8"), "a picture (GIF)", "give the video"),
    (|b| b.starts_with(b"%PDF"), "a PDF document", "give the video"),
];

/// The codecs are, as a rule, those of MP4 files.
const COPY: &str = "make an MP4 file of it (ffmpeg -i IN -c copy OUT.mp4)";
/// They are others, as a rule.
const ENCODE: &str = "make an MP4 file of it (ffmpeg -i IN -c:v libx264 -c:a aac OUT.mp4)";
/// Such a stream has no times; ffmpeg takes its order for that of presentation.
const RAW: &str = "make an MP4 file of it, with its frame rate (MP4Box -add IN:fps=25 -new OUT.mp4; without \
    B-frames also ffmpeg -framerate 25 -i IN -c copy OUT.mp4)";
const MANIFEST: &str =
    "give the media that it names, or fetch them as one file (ffmpeg -i URL -c copy OUT.mp4)";

fn has(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

fn ebml(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1a, 0x45, 0xdf, 0xa3])
}

/// Packets of `size` bytes with a sync byte at `at` in each: three, or what there is of them.
fn packets(bytes: &[u8], at: usize, size: usize) -> bool {
    let mut packets = bytes.get(at..).unwrap_or_default().iter().step_by(size).take(3);
    bytes.len() >= size && packets.all(|sync| *sync == 0x47)
}

fn riff(bytes: &[u8], form: &[u8]) -> bool {
    bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(form)
}

/// The header of the first NAL unit behind a start code.
fn nal(bytes: &[u8]) -> Option<[u8; 2]> {
    let unit = bytes.strip_prefix(&[0, 0, 0, 1]).or_else(|| bytes.strip_prefix(&[0, 0, 1]))?;
    unit.first_chunk().copied()
}

/// Parameter sets, delimiters and SEI of H.264.
fn avc([first, _]: [u8; 2]) -> bool {
    first & 0x80 == 0 && matches!(first & 0x1f, 6..=9)
}

/// The same of H.265, in the base layer.
fn hevc([first, second]: [u8; 2]) -> bool {
    first & 0x81 == 0 && second == 1 && matches!(first >> 1, 32..=35 | 39)
}

/// The sync word of MPEG audio with the bits of its layer.
fn audio(bytes: &[u8], mask: u8, layer: u8) -> bool {
    matches!(bytes, [0xff, second, ..] if second & mask == layer)
}

/// Whether text begins so, whatever its case, behind white space.
fn text(bytes: &[u8], start: &str) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    bytes.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start.as_bytes()))
}

fn xml(bytes: &[u8], element: &[u8]) -> bool {
    text(bytes, "<") && has(bytes, element)
}
