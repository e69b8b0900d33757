//! A progressive file of one text track: what a subtitle file is turned into.

use super::ftyp;
use crate::{
    Error, ErrorKind, FourCc, Result,
    writer::{put_box, put_full_box, put16, put32, put64},
};

/// A text sample: what `stts` and `stsz` say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextSample {
    /// Duration in media timescale.
    pub duration: u32,
    /// Size in bytes.
    pub size: u32,
}

/// A text track to build a file of.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NewTextTrack<'a> {
    /// `text` for WebVTT, `subt` for TTML (ISO/IEC 14496-30).
    pub handler: FourCc,
    /// The sample entry, a whole box.
    pub sample_entry: &'a [u8],
    /// Units per second of movie and track.
    pub timescale: u32,
    /// BCP 47 tag; `und` if it is not known.
    pub language: &'a str,
    /// Samples from time 0 on, all of them sync samples.
    pub samples: &'a [TextSample],
}

impl<'a> NewTextTrack<'a> {
    /// A track in an undetermined language.
    pub fn new(
        handler: FourCc,
        sample_entry: &'a [u8],
        timescale: u32,
        samples: &'a [TextSample],
    ) -> Self {
        Self { handler, sample_entry, timescale, language: "und", samples }
    }

    /// Sets the language, a BCP 47 tag.
    #[must_use]
    pub fn with_language(self, language: &'a str) -> Self {
        Self { language, ..self }
    }
}

/// Builds a whole file, `ftyp`, `moov` and `mdat`, of one text track with the ID 1.
///
/// `data` are the samples in a row. A file that does not fit 32-bit sizes is
/// [`ErrorKind::Overflow`]; samples that are not all of `data`, [`ErrorKind::Mismatch`].
pub fn text_movie(track: &NewTextTrack<'_>, data: &[u8]) -> Result<Vec<u8>> {
    let fail = |kind| Error::new("moov/trak".to_owned(), 0, kind);
    let overflow = |what| fail(ErrorKind::Overflow { what });
    let found: u64 = track.samples.iter().map(|sample| u64::from(sample.size)).sum();
    if found != data.len() as u64 {
        let (what, expected) = ("bytes of samples", data.len() as u64);
        return Err(fail(ErrorKind::Mismatch { what, expected, found }));
    }
    let count = u32::try_from(track.samples.len()).map_err(|_| overflow("sample_count"))?;
    let mut out = ftyp(FourCc(*b"iso6"), 0, &[FourCc(*b"iso6"), FourCc(*b"mp41")]);
    let mut offset_at = 0;
    put_box(&mut out, *b"moov", |out| {
        let duration = track.samples.iter().map(|sample| u64::from(sample.duration)).sum();
        put_times(
            out,
            *b"mvhd",
            0,
            duration,
            |out| put32(out, track.timescale),
            |out| {
                put32(out, 0x0001_0000); // rate
                put32(out, 0x0100_0000); // volume and reserved bits
                out.extend_from_slice(&[0; 8]);
                put_matrix(out);
                out.extend_from_slice(&[0; 24]);
                put32(out, 2); // next_track_ID
            },
        );
        put_box(out, *b"trak", |out| {
            // Enabled, in the movie. No place on the screen: the text says where it is shown.
            let id = |out: &mut Vec<u8>| {
                put32(out, 1);
                put32(out, 0);
            };
            put_times(out, *b"tkhd", 3, duration, id, |out| {
                out.extend_from_slice(&[0; 16]);
                put_matrix(out);
                out.extend_from_slice(&[0; 8]);
            });
            put_box(out, *b"mdia", |out| {
                let timescale = |out: &mut Vec<u8>| put32(out, track.timescale);
                let code = iso_639_2(track.language);
                put_times(out, *b"mdhd", 0, duration, timescale, |out| {
                    put16(out, packed(code.unwrap_or(*b"und")));
                    put16(out, 0);
                });
                put_full_box(out, *b"hdlr", 0, 0, |out| {
                    put32(out, 0);
                    out.extend_from_slice(&track.handler.0);
                    out.extend_from_slice(&[0; 13]); // reserved words, and no name
                });
                if code.is_none() {
                    put_full_box(out, *b"elng", 0, 0, |out| put_string(out, track.language));
                }
                put_box(out, *b"minf", |out| offset_at = put_minf(out, track, count));
            });
        });
    });
    let offset = u32::try_from(out.len() + 8).map_err(|_| overflow("chunk_offset"))?;
    let size = u32::try_from(data.len() + 8).map_err(|_| overflow("size of `mdat`"))?;
    offset.checked_add(size).ok_or_else(|| overflow("size of the file"))?;
    out[offset_at..offset_at + 4].copy_from_slice(&offset.to_be_bytes());
    put32(&mut out, size);
    out.extend_from_slice(b"mdat");
    out.extend_from_slice(data);
    Ok(out)
}

/// Appends `minf`; gives the position of the chunk offset.
fn put_minf(out: &mut Vec<u8>, track: &NewTextTrack<'_>, count: u32) -> usize {
    let media_header = if track.handler == b"subt" { *b"sthd" } else { *b"nmhd" };
    put_full_box(out, media_header, 0, 0, |_| {});
    put_box(out, *b"dinf", |out| {
        put_full_box(out, *b"dref", 0, 0, |out| {
            put32(out, 1);
            put_full_box(out, *b"url ", 0, 1, |_| {}); // in this file
        });
    });
    let mut offset_at = 0;
    put_box(out, *b"stbl", |out| {
        put_full_box(out, *b"stsd", 0, 0, |out| {
            put32(out, 1);
            out.extend_from_slice(track.sample_entry);
        });
        let same = |a: &TextSample, b: &TextSample| a.duration == b.duration;
        let runs = || track.samples.chunk_by(same);
        put_full_box(out, *b"stts", 0, 0, |out| {
            // At most the number of samples.
            put32(out, u32::try_from(runs().count()).unwrap_or(count));
            for run in runs() {
                put32(out, u32::try_from(run.len()).unwrap_or(count));
                put32(out, run.first().map_or(0, |sample| sample.duration));
            }
        });
        put_full_box(out, *b"stsc", 0, 0, |out| {
            // One chunk of all samples.
            for word in [1, 1, count, 1] {
                put32(out, word);
            }
        });
        put_full_box(out, *b"stsz", 0, 0, |out| {
            put32(out, 0);
            put32(out, count);
            track.samples.iter().for_each(|sample| put32(out, sample.size));
        });
        put_full_box(out, *b"stco", 0, 0, |out| {
            put32(out, 1);
            offset_at = out.len();
            put32(out, 0);
        });
    });
    offset_at
}

/// `mvhd`, `tkhd` or `mdhd`: times, what stands between them and the duration, and the rest.
fn put_times(
    out: &mut Vec<u8>,
    kind: [u8; 4],
    flags: u32,
    duration: u64,
    between: impl FnOnce(&mut Vec<u8>),
    rest: impl FnOnce(&mut Vec<u8>),
) {
    let narrow = u32::try_from(duration).ok().filter(|&duration| duration != u32::MAX);
    put_full_box(out, kind, u8::from(narrow.is_none()), flags, |out| {
        // Not when it was made: the same input gives the same file.
        out.extend_from_slice(if narrow.is_none() { &[0; 16] } else { &[0; 8] });
        between(out);
        match narrow {
            Some(duration) => put32(out, duration),
            None => put64(out, duration),
        }
        rest(out);
    });
}

/// No turn, no scaling.
fn put_matrix(out: &mut Vec<u8>) {
    for word in [0x0001_0000, 0, 0, 0, 0x0001_0000, 0, 0, 0, 0x4000_0000] {
        put32(out, word);
    }
}

fn put_string(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes().filter(|byte| *byte != 0));
    out.push(0);
}

/// The tag itself, where it is a language code that `mdhd` can hold: three letters (8.4.2). Any other
/// tag needs an `elng` box (8.4.6).
fn iso_639_2(tag: &str) -> Option<[u8; 3]> {
    let code: [u8; 3] = tag.as_bytes().try_into().ok()?;
    code.iter().all(u8::is_ascii_lowercase).then_some(code)
}

/// Three letters in 15 bits.
fn packed(code: [u8; 3]) -> u16 {
    code.iter().fold(0, |packed, letter| packed << 5 | u16::from(letter & 0x1f))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Movie, load, top_level};

    fn movie_of(file: &[u8]) -> Movie {
        let moov = top_level(&file).map(|header| header.unwrap()).find(|h| h.kind == b"moov");
        let moov = moov.unwrap();
        Movie::parse(load(&file, &moov).unwrap(), moov.offset).unwrap()
    }

    #[test]
    fn is_read_back() {
        let mut entry = Vec::new();
        put_box(&mut entry, *b"wvtt", |out| out.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 1]));
        let samples = [(1000, 3), (1000, 0), (u32::MAX, 5)];
        let samples = samples.map(|(duration, size)| TextSample { duration, size });
        let track = NewTextTrack::new(FourCc(*b"text"), &entry, 1000, &samples);
        let file = text_movie(&track.with_language("de-CH"), b"abcdefgh").unwrap();
        let movie = movie_of(&file);
        let [track] = &movie.tracks[..] else { panic!("one track") };
        assert_eq!((track.id, track.timescale, track.duration), (1, 1000, 2000 + 0xffff_ffff));
        let read = movie.samples(track, file.len() as u64).unwrap();
        let read: Vec<_> = read.map(|sample| sample.unwrap()).collect();
        for (sample, made) in read.iter().zip(samples) {
            assert_eq!(
                (sample.duration, sample.size, sample.sync),
                (made.duration, made.size, true)
            );
        }
        let at = usize::try_from(read[2].offset).unwrap();
        assert_eq!((read.len(), &file[at..]), (3, &b"defgh"[..]));
        let mdia = movie.root().unwrap().require(b"trak").unwrap().require(b"mdia").unwrap();
        assert_eq!(mdia.require(b"elng").unwrap().payload(), b"\0\0\0\0de-CH\0");
    }

    #[test]
    fn data_must_be_that_of_the_samples() {
        let track = NewTextTrack::new(FourCc(*b"subt"), &[], 1000, &[]);
        assert!(matches!(
            text_movie(&track, b"more").unwrap_err().kind(),
            ErrorKind::Mismatch { expected: 4, found: 0, .. }
        ));
    }

    /// ISO 639-2 in five bits a letter: `und` is 0x55c4 (ISO/IEC 14496-12, 8.4.2).
    #[test]
    fn languages_are_packed() {
        assert_eq!(packed(*b"und"), 0x55c4);
        assert_eq!(
            (iso_639_2("eng"), iso_639_2("en"), iso_639_2("ENG")),
            (Some(*b"eng"), None, None)
        );
    }
}
