//! The WebVTT parser (W3C WebVTT, 6.1 to 6.3). Cue text and settings are not looked into: a player does.

use std::cmp::Reverse;

use super::{
    kind::{has_comma_timing, is_srt},
    unsuitable, utf8,
};
use crate::Error;

/// A WebVTT file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WebVtt {
    /// Name of the file, for errors.
    pub(crate) name: String,
    /// What stands before the cues: the line `WEBVTT`, the lines that follow it, and the blocks `STYLE`,
    /// `REGION` and `NOTE`, separated by empty lines; without one at the end.
    pub(crate) header: String,
    /// Cues in the order of presentation (W3C WebVTT, "text track cue order"): by start, the one that
    /// ends last first, then as in the file.
    pub(crate) cues: Vec<Cue>,
    /// TextLines of cues that were left out, counted from 1: their timing is none.
    pub(crate) left_out: Vec<u64>,
}

/// A cue, which ends behind its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cue {
    /// Start, in milliseconds.
    pub(crate) start: u64,
    /// End, in milliseconds.
    pub(crate) end: u64,
    /// Identifier; may be empty.
    pub(crate) id: String,
    /// Settings, as they stand behind the timing; may be empty.
    pub(crate) settings: String,
    /// Text, lines separated by `\n`; may be empty.
    pub(crate) payload: String,
}

impl WebVtt {
    /// Parses a file.
    ///
    /// As the standard has it, blocks that are none are passed over, and a cue whose timing is not one is
    /// left out; [`Self::warning`] says so. What the standard accepts, and is an error here: a cue that
    /// ends before it starts, and `X-TIMESTAMP-MAP`, by which a segment of HLS says that its times are
    /// others. A cue that ends where it starts is never shown, and goes.
    pub(crate) fn parse(name: &str, bytes: &[u8]) -> Result<Self, Error> {
        let text = utf8(name, bytes)?;
        let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "\u{fffd}");
        let mut lines = TextLines { text: &text, at: 0, number: 0 };
        let first = lines.next().unwrap_or_default();
        if !matches!(first.strip_prefix("WEBVTT"), Some(rest) if rest.is_empty() || rest.starts_with([' ', '\t']))
        {
            let what = if is_srt(&text) {
                "it is a SubRip file (SRT); make a WebVTT file of it (ffmpeg -i IN OUT.vtt)"
            } else {
                "it is no WebVTT file: the first line does not begin with WEBVTT; put that line before \
                 all others, with an empty line behind it"
            };
            return Err(unsuitable(name, what));
        }
        let mut this = Self { name: name.into(), header: first.into(), ..Self::default() };
        this.read_header(&mut lines)?;
        let mut seen_cue = false;
        while !lines.is_at_end() {
            this.read_block(&mut lines, &mut seen_cue)?;
        }
        this.sort();
        Ok(this)
    }

    /// Brings the cues into the order of presentation.
    pub(super) fn sort(&mut self) {
        self.cues.sort_by_key(|cue| (cue.start, Reverse(cue.end)));
    }

    /// When the last cue ends, in milliseconds; 0 without cues.
    pub(crate) fn end(&self) -> u64 {
        self.cues.iter().map(|cue| cue.end).max().unwrap_or(0)
    }

    /// What to tell about cues that were left out.
    pub(crate) fn warning(&self) -> Option<String> {
        const NAMED: usize = 10;
        let (name, count) = (&self.name, self.left_out.len());
        let lines = self.left_out.iter().take(NAMED).map(u64::to_string);
        let lines = lines.collect::<Vec<_>>().join(", ");
        let more = if count > NAMED { ", ..." } else { "" };
        (count != 0).then(|| {
            format!(
                "{name}: cues left out, since their timing is not of the form HH:MM:SS.mmm --> \
                 HH:MM:SS.mmm: {count} (line {lines}{more})"
            )
        })
    }

    /// The lines behind the first one, up to an empty line or a timing.
    fn read_header(&mut self, lines: &mut TextLines<'_>) -> Result<(), Error> {
        loop {
            let before = *lines;
            match lines.next() {
                None | Some("") => return Ok(()),
                Some(line) if line.contains("-->") => {
                    *lines = before;
                    return Ok(());
                }
                Some(line) if line.starts_with("X-TIMESTAMP-MAP") => {
                    self.check_map(line, lines.number)?;
                }
                Some(line) => {
                    self.header.push('\n');
                    self.header.push_str(line);
                }
            }
        }
    }

    /// Refuses a map of times (RFC 8216, 3.5) but the one that changes nothing.
    fn check_map(&self, line: &str, number: u64) -> Result<(), Error> {
        let map = line.split_once('=').map_or("", |(_, map)| map);
        let is_zero = |part: &str| match part.trim().split_once(':') {
            Some(("MPEGTS", time)) => time.parse() == Ok(0),
            Some(("LOCAL", time)) => Timing::time(&mut time.trim()) == Some(0),
            _ => false,
        };
        if map.split(',').all(is_zero) {
            return Ok(());
        }
        let reason = format!(
            "line {number}: it is a segment of an HLS stream, whose times count from elsewhere \
             (X-TIMESTAMP-MAP); give the file that it was made of, or remove the line if its times count \
             from the start of the film"
        );
        Err(unsuitable(&self.name, reason))
    }

    /// One block: a cue, or another one that goes to the header if no cue was before it.
    fn read_block(&mut self, lines: &mut TextLines<'_>, seen_cue: &mut bool) -> Result<(), Error> {
        let (mut count, mut text) = (0_u64, String::new());
        let mut timing = None; // of the block's line with an arrow: none if it is no timing
        loop {
            let before = *lines;
            let Some(line) = lines.next().filter(|line| !line.is_empty()) else { break };
            count += 1;
            if line.contains("-->") {
                // The next cue, which no empty line is in front of.
                if timing.is_some() || count > 2 {
                    *lines = before;
                    break;
                }
                let parsed = Timing::parse(line);
                match &parsed {
                    Some(_) => *seen_cue = true,
                    None => self.check_bad_timing(line, lines.number)?,
                }
                timing = Some((parsed, lines.number, std::mem::take(&mut text)));
                continue;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(line);
        }
        match timing {
            Some((Some(Timing { start, end, settings }), number, id)) => {
                if end < start {
                    let (start, end) = (super::timestamp(start), super::timestamp(end));
                    let reason = format!(
                        "line {number}: the cue ends ({end}) before it starts ({start}); correct its times"
                    );
                    return Err(unsuitable(&self.name, reason));
                }
                if end > start {
                    let settings = settings.to_owned();
                    self.cues.push(Cue { start, end, id, settings, payload: text });
                }
            }
            Some((None, number, _)) => self.left_out.push(number),
            None if !*seen_cue && is_header_block(&text) => {
                self.header.push_str("\n\n");
                self.header.push_str(&text);
            }
            None => {}
        }
        Ok(())
    }

    /// Refuses SubRip below a line `WEBVTT`: every cue of it would be left out.
    fn check_bad_timing(&self, line: &str, number: u64) -> Result<(), Error> {
        if !has_comma_timing(line) {
            return Ok(());
        }
        let reason = format!(
            "line {number}: the times are those of a SubRip file (SRT), with a comma; write a point, or \
             make a WebVTT file of the SubRip file (ffmpeg -i IN OUT.vtt)"
        );
        Err(unsuitable(&self.name, reason))
    }
}

/// Whether a block is one of those that stand before the cues.
fn is_header_block(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    match first.split_at_checked(4) {
        Some(("NOTE", rest)) => rest.is_empty() || rest.starts_with([' ', '\t']),
        _ => matches!(first.trim_end_matches(is_space), "STYLE" | "REGION"),
    }
}

/// ASCII white space as the standard has it.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0c' | '\r')
}

/// What a line with an arrow says.
struct Timing<'a> {
    start: u64,
    end: u64,
    settings: &'a str,
}

impl<'a> Timing<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut rest = line.trim_start_matches(is_space);
        let start = Self::time(&mut rest)?;
        rest = rest.trim_start_matches(is_space).strip_prefix("-->")?.trim_start_matches(is_space);
        let end = Self::time(&mut rest)?;
        Some(Self { start, end, settings: rest.trim_matches(is_space) })
    }

    /// Takes a time from the front, in milliseconds (6.3, "collect a WebVTT timestamp").
    fn time(rest: &mut &str) -> Option<u64> {
        let first = digits(rest)?;
        let mut value: u64 = first.parse().ok()?;
        let has_hours = first.len() != 2 || value > 59;
        let mut parts = vec![];
        while let Some(behind) = rest.strip_prefix(':').filter(|_| parts.len() < 2) {
            *rest = behind;
            let part = digits(rest).filter(|part| part.len() == 2)?;
            parts.push(part.parse().ok().filter(|part| *part < 60)?);
        }
        if parts.is_empty() || has_hours && parts.len() < 2 {
            return None;
        }
        for part in parts {
            value = value.checked_mul(60)?.checked_add(part)?;
        }
        *rest = rest.strip_prefix('.')?;
        let fraction: u64 = digits(rest).filter(|part| part.len() == 3)?.parse().ok()?;
        value.checked_mul(1000)?.checked_add(fraction)
    }
}

/// Takes ASCII digits from the front, at least one.
fn digits<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, behind) = rest.split_at(end);
    *rest = behind;
    (!digits.is_empty()).then_some(digits)
}

/// TextLines of normalized text, and how many were taken.
#[derive(Clone, Copy)]
struct TextLines<'a> {
    text: &'a str,
    at: usize,
    number: u64,
}

impl<'a> TextLines<'a> {
    fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let line = rest.split('\n').next().unwrap_or(rest);
        self.at += line.len() + 1;
        self.number += 1;
        Some(line)
    }
}
