//! WebVTT in MP4 (ISO/IEC 14496-30, clause 7): a sample holds all cues of its interval, each in a box
//! `vttc`; `vtte` stands for none.

use lanelock_hash::Crc64Xz;
use lanelock_mp4::{BoxRef, Movie};

use super::{
    Cue, MAX_SAMPLES, WebVtt,
    samples::{ENTRY_FIELDS, TextSamples, put_box, sample_bounds, too_many},
    timestamp, unsuitable,
    webvtt::is_space,
};
use crate::Error;

/// Makes an MP4 file of a WebVTT file: one track `wvtt` from 0 to `end` in milliseconds, with a sample
/// from each start, end or boundary to the next. What is behind `end` is left out.
///
/// Segments can begin at the boundaries, for a sample does. `language` is a BCP 47 tag.
pub(crate) fn wvtt_movie(
    document: &WebVtt,
    boundaries: &[u64],
    end: u64,
    language: Option<&str>,
) -> Result<Vec<u8>, Error> {
    let mut samples = TextSamples::new(&document.name, end)?;
    let cues = &document.cues;
    let times = cues.iter().flat_map(|cue| [cue.start, cue.end]);
    let bounds = sample_bounds(end, times.chain(boundaries.iter().copied()));
    let is_split = |cue: &Cue| {
        let first = bounds.partition_point(|bound| *bound <= cue.start);
        bounds.get(first).is_some_and(|bound| *bound < cue.end.min(end))
    };
    // Before any of them is made: each cue is in the samples of all intervals that it is shown in.
    let least = cues.iter().fold(0_usize, |sum, cue| {
        let at = |time: u64| bounds.partition_point(|bound| *bound < time.min(end));
        // With the headers of `vttc` and `payl`.
        let text = 16 + cue.id.len() + cue.settings.len() + cue.payload.len();
        sum.saturating_add(text.saturating_mul(at(cue.end).saturating_sub(at(cue.start))))
    });
    if least > MAX_SAMPLES {
        return Err(too_many(&document.name));
    }
    let (mut next, mut active) = (0, Vec::new());
    for (&from, &to) in bounds.iter().zip(bounds.iter().skip(1)) {
        active.retain(|(cue, _): &(&Cue, Option<u32>)| cue.end > from);
        while let Some(cue) = cues.get(next).filter(|cue| cue.start <= from) {
            // Any number that no other cue has: 64 MiB are fewer than 2^32 cues.
            let id = u32::try_from(next).ok().filter(|_| is_split(cue));
            active.push((cue, id));
            next += 1;
        }
        if active.is_empty() {
            samples.push(to - from, [EMPTY])?;
        } else {
            samples.push(to - from, active.iter().map(|(cue, id)| cue_box(cue, *id, from)))?;
        }
    }
    let (mut boxes, mut entry) = (Vec::new(), Vec::new());
    put_box(&mut boxes, *b"vttC", &[document.header.as_bytes()]);
    // The standard recommends a label that names the source, and Shaka Packager reads no file without.
    let checksum = Crc64Xz::checksum(samples.data());
    let checksum = checksum.map_err(|error| Error::Options(error.to_string()))?;
    put_box(&mut boxes, *b"vlab", &[format!("webvtt-{checksum:016x}").as_bytes()]);
    put_box(&mut entry, *b"wvtt", &[&ENTRY_FIELDS, &boxes]);
    samples.movie(*b"text", &entry, language)
}

/// A sample without cues.
const EMPTY: [u8; 8] = *b"\0\0\0\x08vtte";

/// The box of a cue in a sample that starts at `from`. `source` is for a cue that is in several samples:
/// a player takes them for one by it.
fn cue_box(cue: &Cue, source: Option<u32>, from: u64) -> Vec<u8> {
    let mut parts = Vec::with_capacity(cue.payload.len() + cue.settings.len() + 64);
    if let Some(source) = source {
        put_box(&mut parts, *b"vsid", &[&source.to_be_bytes()]);
    }
    let mut put = |kind, text: &str| {
        if !text.is_empty() {
            put_box(&mut parts, kind, &[text.as_bytes()]);
        }
    };
    put(*b"iden", &cue.id);
    if has_times(&cue.payload) {
        put(*b"ctim", &timestamp(from));
    }
    put(*b"sttg", &cue.settings);
    put(*b"payl", &cue.payload);
    let mut out = Vec::with_capacity(parts.len() + 8);
    put_box(&mut out, *b"vttc", &[&parts]);
    out
}

/// Whether cue text has times inside (`<00:00:05.000>`), which are relative to the whole file: a player
/// needs the time of the sample with them.
fn has_times(payload: &str) -> bool {
    payload.split('<').skip(1).any(|behind| behind.starts_with(|c: char| c.is_ascii_digit()))
}

/// The WebVTT header that a `wvtt` track's sample entry has (`vttC`), by the track's index in
/// [`Movie::tracks`].
pub(crate) fn wvtt_header(movie: &Movie, track: usize) -> lanelock_mp4::Result<Option<Vec<u8>>> {
    let traks = movie.root()?.children();
    let mut traks = traks.filter(|child| !matches!(child, Ok(child) if child.kind() != b"trak"));
    let Some(trak) = traks.nth(track).transpose()? else { return Ok(None) };
    let stbl = trak.require(b"mdia")?.require(b"minf")?.require(b"stbl")?;
    for entry in stbl.require(b"stsd")?.children() {
        let entry = entry?;
        if entry.kind() == b"wvtt" {
            let config = entry.children_at(ENTRY_FIELDS.len()).only(b"vttC")?;
            return Ok(config.map(|config| config.payload().to_vec()));
        }
    }
    Ok(None)
}

/// Makes a WebVTT file of the samples of a `wvtt` track: start and end of each, in units of the
/// timescale, and its bytes. `header` is that of [`wvtt_header`].
///
/// A cue that goes on in the next sample is one cue: it has the same content there, and the same
/// `vsid` if it has one.
pub(crate) fn cues_of_wvtt<B: AsRef<[u8]>>(
    name: &str,
    header: Option<&[u8]>,
    timescale: u32,
    samples: impl IntoIterator<Item = Result<(u64, u64, B), Error>>,
) -> Result<WebVtt, Error> {
    let mut document = WebVtt::parse(name, header.unwrap_or(b"WEBVTT"))?;
    document.cues.clear();
    let ms = |time: u64| {
        let time = u128::from(time) * 1000 / u128::from(timescale.max(1));
        u64::try_from(time).unwrap_or(u64::MAX)
    };
    // Cues of the last sample with their index in the document, in order.
    let mut open: Vec<(StoredCue, usize)> = Vec::new();
    let (mut last_end, mut kept) = (0, 0_usize);
    for (number, sample) in samples.into_iter().enumerate() {
        let (start, end, bytes) = sample?;
        let place = |error| unsuitable(name, format!("sample {} of `wvtt`: {error}", number + 1));
        let stored = stored_cues(bytes.as_ref()).map_err(place)?;
        let mut before = std::mem::take(&mut open);
        if start != last_end {
            before.clear();
        }
        for cue in stored {
            let same = before.iter().position(|(other, _)| *other == cue);
            let index = if let Some(at) = same {
                before.remove(at).1
            } else {
                kept += cue.id.len() + cue.settings.len() + cue.payload.len() + size_of::<Cue>();
                if kept > MAX_SAMPLES {
                    return Err(too_many(name));
                }
                let StoredCue { id, settings, payload, .. } = cue.clone();
                document.cues.push(Cue { start: ms(start), end: 0, id, settings, payload });
                document.cues.len() - 1
            };
            document.cues[index].end = ms(end);
            open.push((cue, index));
        }
        last_end = end;
    }
    document.cues.retain(|cue| cue.end > cue.start);
    document.sort();
    Ok(document)
}

/// The most cues of a sample that is read: they are compared with those of the next one.
const MAX_AT_ONCE: usize = 1000;

/// A cue as a sample has it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StoredCue {
    source: Option<[u8; 4]>,
    id: String,
    settings: String,
    payload: String,
}

/// The cues of a sample. Other boxes (`vtte`, and `vtta` for comments) say nothing that is shown.
fn stored_cues(mut sample: &[u8]) -> Result<Vec<StoredCue>, String> {
    let mut cues = Vec::new();
    while !sample.is_empty() {
        let size = sample.first_chunk().map(|size| u32::from_be_bytes(*size) as usize);
        let size = size.filter(|size| *size >= 8);
        let Some((this, rest)) = size.and_then(|size| sample.split_at_checked(size)) else {
            return Err("a box is cut short".into());
        };
        sample = rest;
        if this.get(4..8) == Some(b"vttc") {
            if cues.len() == MAX_AT_ONCE {
                return Err(format!("more than {MAX_AT_ONCE} cues are shown at once"));
            }
            let vttc = BoxRef::root(this, 0).map_err(|error| error.to_string())?;
            cues.push(stored_cue(&vttc)?);
        }
    }
    Ok(cues)
}

fn stored_cue(vttc: &BoxRef<'_>) -> Result<StoredCue, String> {
    let (mut source, mut id, mut settings, mut payload) = (None, "", "", "");
    for child in vttc.children_at(0) {
        let child = child.map_err(|error| error.to_string())?;
        let to = match &child.kind().0 {
            b"vsid" => {
                source = child.payload().first_chunk().copied();
                continue;
            }
            b"iden" => &mut id,
            b"sttg" => &mut settings,
            b"payl" => &mut payload,
            _ => continue,
        };
        let text = child.payload();
        let text = text.strip_suffix(b"\0").unwrap_or(text); // some writers end strings so
        *to = str::from_utf8(text).map_err(|_| format!("`{}` is not UTF-8", child.kind()))?;
    }
    Ok(StoredCue {
        source,
        id: one_line(id),
        settings: one_line(settings).trim_matches(is_space).to_owned(),
        payload: paragraph(payload),
    })
}

/// Text as a line of a WebVTT file.
fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split(['\r', '\n', '\0']).filter(|part| !part.is_empty()).collect();
    without_arrow(&words.join(" "))
}

/// Cue text as lines of a WebVTT file, where an empty one would end it.
fn paragraph(text: &str) -> String {
    let lines = text.split(['\r', '\n']).filter(|line| !line.is_empty());
    without_arrow(&lines.collect::<Vec<_>>().join("\n")).replace('\0', "\u{fffd}")
}

/// The arrow stands in timings alone; in cue text, this is how it is written.
fn without_arrow(text: &str) -> String {
    text.replace("-->", "--&gt;")
}
