//! Segments of WebVTT for HLS (RFC 8216bis, 3.1.4): each is a WebVTT file of its own.

use std::ops::Range;

use super::{Cue, WebVtt, timestamp};

/// Writes the segments of a file one after the other; in time that is proportional to what it writes.
#[derive(Clone, Debug)]
pub(crate) struct SegmentWriter<'a> {
    document: &'a WebVtt,
    /// The first cue that starts behind the last segment.
    next: usize,
    /// Cues before it that were not over.
    active: Vec<&'a Cue>,
}

impl<'a> SegmentWriter<'a> {
    /// Of a whole file.
    pub(crate) fn new(document: &'a WebVtt) -> Self {
        Self { document, next: 0, active: Vec::new() }
    }

    /// The segment of a time range in milliseconds, which starts no earlier than the one before.
    ///
    /// It has the whole header and each cue that is shown in the range, with the times of the whole file:
    /// a player knows by them that a cue in two segments is the same. Without cues it is valid, too.
    pub(crate) fn segment(&mut self, range: Range<u64>) -> String {
        self.active.retain(|cue| cue.end > range.start);
        let later = self.document.cues.get(self.next..).unwrap_or_default();
        let count = later.partition_point(|cue| cue.start < range.end);
        self.next += count;
        let new = later.iter().take(count).filter(|cue| cue.end > range.start);
        self.active.extend(new);
        let header = &self.document.header;
        let (first, rest) = header.split_once('\n').unwrap_or((header, ""));
        // Media time 0 is time 0 of the cues, without an offset of MPEG-2 transport streams.
        let mut out = format!("{first}\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n");
        if !rest.is_empty() {
            out.push_str(rest);
            out.push('\n');
        }
        for cue in &self.active {
            put_cue(&mut out, cue);
        }
        out
    }
}

/// Appends a cue and the empty line in front of it.
fn put_cue(out: &mut String, cue: &Cue) {
    let (start, end) = (timestamp(cue.start), timestamp(cue.end));
    let settings = if cue.settings.is_empty() { "" } else { " " };
    let timing = format!("{start} --> {end}{settings}{}", cue.settings);
    out.push('\n');
    for line in [&cue.id, &timing, &cue.payload] {
        if !line.is_empty() {
            out.push_str(line);
            out.push('\n');
        }
    }
}
