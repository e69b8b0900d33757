//! Text files as input: WebVTT, and TTML with its profile IMSC 1.
//!
//! For DASH and CMAF, a text file becomes an MP4 file in memory whose samples are the text (ISO/IEC
//! 14496-30), and goes on as any other clear track. For HLS, WebVTT becomes segment files. Times are
//! milliseconds from the start of the presentation, which both formats are written in.

mod kind;
mod samples;
mod segments;
mod stpp;
#[cfg(test)]
mod tests;
mod ttml;
mod webvtt;
mod wvtt;

pub(crate) use kind::{TextKind, kind};
pub(crate) use segments::SegmentWriter;
pub(crate) use stpp::stpp_movie;
pub(crate) use ttml::Ttml;
pub(crate) use webvtt::{Cue, WebVtt};
pub(crate) use wvtt::{cues_of_wvtt, wvtt_header, wvtt_movie};

use crate::Error;

/// The largest text file that is read: a film's subtitles have a few hundred KiB.
pub(crate) const MAX_TEXT: u64 = 64 << 20;

/// The most bytes that the samples of a text track may have together: a cue is in the sample of each
/// interval that it is shown in, so a small file of very many cues at once would need any amount.
const MAX_SAMPLES: usize = 64 << 20;

/// What to tell about UTF-16.
const UTF16: &str = "it is UTF-16 text; make it UTF-8 (iconv -f UTF-16 -t UTF-8 IN > OUT)";

fn unsuitable(name: &str, reason: impl Into<String>) -> Error {
    Error::Unsuitable { name: name.to_owned(), reason: reason.into() }
}

/// The text of a file, without its byte order mark.
fn utf8<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, Error> {
    if bytes.len() as u64 > MAX_TEXT {
        let mib = MAX_TEXT >> 20;
        let reason =
            format!("it has more than {mib} MiB, which no text for one film has; split it");
        return Err(unsuitable(name, reason));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(unsuitable(name, UTF16));
    }
    let text = str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let todo =
            "make it UTF-8 (iconv -f WINDOWS-1252 -t UTF-8 IN > OUT, with the encoding it has)";
        unsuitable(name, format!("it is not UTF-8 text: byte {at} begins no character; {todo}"))
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// A time as WebVTT has it: `01:02:03.004`.
fn timestamp(ms: u64) -> String {
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}.{:03}", ms % 1000)
}
