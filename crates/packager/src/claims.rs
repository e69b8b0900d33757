//! Which bytes of the media data are accounted for.
//!
//! Every byte of an `mdat` belongs to a sample, to auxiliary information of samples (`saio`), to an
//! item (`iloc`), or to a gap. A gap of zeros is padding, and one that is shorter than a box header
//! cannot hold anything that a reader would find. Any other range that nothing refers to may be media
//! whose description is damaged or hidden: it would be copied as it is, and so leave unprotected. The
//! same goes for what is in a box of size 0, which ends with the file, if the box is not an `mdat`.

use std::{collections::BTreeMap, ops::Range};

use lanelock_mp4::{FourCc, Fragment, Sample};
use serde::Serialize;

use crate::{
    Error,
    io::Input,
    piece::{Bytes, Heads, Part},
    skeleton::{MediaRanges, Skeleton},
};

/// Gaps of fewer bytes are never reported: a box header has 8.
const SHORTEST: u64 = 8;

/// The most ranges that are kept apart. Ranges side by side become one, so an ordinary file has a
/// handful, and one whose chunks are aligned with padding has one a chunk.
const MOST_RANGES: usize = 1 << 22;

/// The most ranges that a summary lists.
const MOST_LISTED: usize = 100;

/// What to do with media data that no sample and no item refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnclaimedPolicy {
    /// They are an error that names them.
    #[default]
    Refuse,
    /// They stay as they are, clear, where the layout keeps the place of the media data, and are left
    /// out of fragments that are made from progressive input. The summary lists them.
    Keep,
}

/// Media data that no sample and no item refers to.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct UnclaimedMedia {
    /// How many ranges.
    pub ranges: u64,
    /// Bytes of all ranges.
    pub bytes: u64,
    /// The first hundred ranges.
    pub listed: Vec<UnclaimedRange>,
}

/// A range of media data that no sample and no item refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnclaimedRange {
    /// Where it begins in the input.
    pub offset: u64,
    /// Its size.
    pub bytes: u64,
    /// What its first bytes look like.
    pub looks_like: String,
}

/// The ranges of the input that something refers to.
pub(crate) struct Claims<'a> {
    input: &'a Input<'a>,
    media: &'a MediaRanges,
    open_ended: Option<&'a (FourCc, Range<u64>)>,
    /// Whether the first range that nothing refers to ends the run at once: what has been written to a
    /// pipe cannot be taken back.
    at_once: bool,
    found: UnclaimedMedia,
    /// What lies between the `mdat` boxes counts as claimed, so that fragments side by side become one
    /// range.
    ranges: RangeSet,
}

/// Start and end of ranges that neither touch nor overlap.
#[derive(Default)]
struct RangeSet(BTreeMap<u64, u64>);

impl RangeSet {
    /// Adds a range, which becomes one with those that it touches.
    fn insert(
        &mut self,
        input: &Input<'_>,
        Range { mut start, mut end }: Range<u64>,
    ) -> Result<(), Error> {
        if let Some((&before, &its_end)) = self.0.range(..=start).next_back()
            && its_end >= start
        {
            if its_end >= end {
                return Ok(());
            }
            start = before;
        }
        while let Some((&next, &its_end)) = self.0.range(start..).next()
            && next <= end
        {
            end = end.max(its_end);
            self.0.remove(&next);
        }
        if self.0.len() == MOST_RANGES {
            return Err(input.unsuitable(
                "its samples lie in more than 4 million separate ranges, which is too much to \
                 account for; remux it first (ffmpeg -i IN -c copy OUT)",
            ));
        }
        self.0.insert(start, end);
        Ok(())
    }

    /// The parts of `range` that are in none of the ranges.
    fn gaps(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut at = range.start;
        let mut gaps = Vec::new();
        let first = self.0.range(..=at).next_back().map_or(at, |(start, _)| *start);
        for (&start, &end) in self.0.range(first..range.end) {
            if start > at {
                gaps.push(at..start);
            }
            at = at.max(end);
        }
        if at < range.end {
            gaps.push(at..range.end);
        }
        gaps
    }

    /// Forgets what lies in front of `offset`.
    fn forget(&mut self, offset: u64) {
        let across = self.0.range(..offset).next_back().map_or(offset, |(_, end)| *end);
        self.0 = self.0.split_off(&offset);
        if across > offset {
            self.0.insert(offset, across);
        }
    }

    fn overlaps(&self, range: &Range<u64>) -> bool {
        let before = self.0.range(..range.end).next_back();
        !range.is_empty() && before.is_some_and(|(_, &end)| end > range.start)
    }
}

/// Refuses a progressive file where what is to be encrypted shares bytes with a track that stays clear
/// or with an item: the clear one would either give these bytes away or be spoilt.
pub(crate) fn refuse_shared(
    input: &Input<'_>,
    skeleton: &Skeleton,
    is_encrypted: impl Fn(usize) -> bool,
) -> Result<(), Error> {
    let Skeleton { movie, items, .. } = skeleton;
    let container = |error| input.container(error);
    let samples = |track| movie.samples(track, input.len()).map_err(container);
    let range = |sample: Sample| sample.offset..sample.offset.saturating_add(sample.size.into());
    let mut clear = RangeSet::default();
    for item in items {
        clear.insert(input, item.clone())?;
    }
    for (_, track) in movie.tracks.iter().enumerate().filter(|(index, _)| !is_encrypted(*index)) {
        for sample in samples(track)? {
            let range = range(sample.map_err(container)?);
            if !range.is_empty() {
                clear.insert(input, range)?;
            }
        }
    }
    if clear.0.is_empty() {
        return Ok(());
    }
    for (_, track) in movie.tracks.iter().enumerate().filter(|(index, _)| is_encrypted(*index)) {
        for sample in samples(track)? {
            let range = range(sample.map_err(container)?);
            if clear.overlaps(&range) {
                return Err(input.unsuitable(format!(
                    "track {}: the sample at file offset {} is to be encrypted and shares bytes with \
                     a track that stays clear, or with an item",
                    track.id, range.start
                )));
            }
        }
    }
    Ok(())
}

/// Refuses a run whose bytes are also those of a track that is encrypted, or encrypted otherwise.
pub(crate) fn check_shared(
    input: &Input<'_>,
    fragment: &Fragment<'_>,
    is_encrypted: impl Fn(usize) -> bool,
) -> Result<(), Error> {
    let mut runs: Vec<_> = fragment
        .tracks
        .iter()
        .flat_map(|traf| traf.runs().iter().map(move |run| (run.offset, run.data_size, traf)))
        .filter(|(_, size, _)| *size > 0)
        .collect();
    runs.sort_by_key(|(offset, ..)| *offset);
    let mut end = (0, false);
    for (offset, size, traf) in runs {
        let encrypted = is_encrypted(traf.track_index);
        if offset < end.0 && (encrypted || end.1) {
            return Err(input.unsuitable(format!(
                "track {}: the samples at file offset {offset} share bytes with others, and some of \
                 them are encrypted; remux the file first (ffmpeg -i IN -c copy OUT)",
                traf.track_id
            )));
        }
        let run_end = offset.saturating_add(size);
        if run_end > end.0 {
            end = (run_end, encrypted);
        }
    }
    Ok(())
}

impl<'a> Claims<'a> {
    /// What metadata refer to: items, and the auxiliary information of a progressive file. Samples
    /// follow as they are seen.
    pub(crate) fn of(input: &'a Input<'a>, skeleton: &'a Skeleton) -> Result<Self, Error> {
        let Skeleton { movie, media, items, .. } = skeleton;
        let open_ended = skeleton.open_ended.as_ref();
        let (found, ranges) = (UnclaimedMedia::default(), RangeSet::default());
        let mut this = Self { input, media, open_ended, at_once: false, found, ranges };
        for item in items {
            this.claim(item.clone())?;
        }
        for track in &movie.tracks {
            let ranges = movie.aux_ranges(track, input.len());
            for range in ranges.map_err(|error| input.container(error))? {
                this.claim(range)?;
            }
        }
        Ok(this)
    }

    /// For a part of a file whose media data were all accounted for before.
    pub(crate) fn of_part(input: &'a Input<'a>, skeleton: &'a Skeleton) -> Self {
        let (found, ranges) = (UnclaimedMedia::default(), RangeSet::default());
        let media = &skeleton.media;
        Self { input, media, open_ended: None, at_once: false, found, ranges }
    }

    /// The first range that nothing refers to ends the run at once, if `at_once` says so.
    pub(crate) fn with_refusal_at_once(self, at_once: bool) -> Self {
        Self { at_once, ..self }
    }

    /// The samples of a fragment, of all tracks, and their auxiliary information.
    pub(crate) fn fragment(&mut self, fragment: &Fragment<'_>) -> Result<(), Error> {
        for traf in &fragment.tracks {
            let runs = traf.runs().iter().map(|run| run.offset..run.end());
            let aux = traf.aux_ranges(self.input.len());
            for range in runs.chain(aux.map_err(|error| self.input.container(error))?) {
                if !range.is_empty() {
                    self.ranges.insert(self.input, range)?;
                }
            }
        }
        Ok(())
    }

    /// Something refers to these bytes of a progressive file.
    pub(crate) fn claim(&mut self, range: Range<u64>) -> Result<(), Error> {
        if range.is_empty() {
            return Ok(());
        }
        self.ranges.insert(self.input, self.media.widen(range))
    }

    /// Looks at the media data of a part of a fragmented file. All that refers to them has been seen:
    /// samples are in the part of their `moof`.
    pub(crate) fn settle(
        &mut self,
        part: &Part,
        media: &MediaRanges,
        bytes: &mut Bytes<'_>,
    ) -> Result<(), Error> {
        if media.is_empty() {
            return Ok(());
        }
        let place = |offset| part.buffer.start.saturating_add(distance(part.at, offset));
        for mdat in media.iter() {
            for gap in self.ranges.gaps(mdat) {
                self.examine(gap, &place, bytes)?;
            }
        }
        self.ranges.forget(part.at + part.buffer.len() as u64);
        Ok(())
    }

    /// Looks at all media data of a progressive file, when all is claimed.
    pub(crate) fn settle_all(&mut self) -> Result<(), Error> {
        let mut buffer = Vec::new();
        let heads = Heads::default();
        let mut bytes = Bytes::File(&[], &heads, &mut buffer);
        for mdat in self.media.iter() {
            for gap in self.ranges.gaps(mdat) {
                self.examine(gap, &|_| 0, &mut bytes)?;
            }
        }
        Ok(())
    }

    /// Looks at a range that nothing refers to; `place` gives the place of an offset in the piece.
    fn examine(
        &mut self,
        gap: Range<u64>,
        place: &dyn Fn(u64) -> usize,
        bytes: &mut Bytes<'_>,
    ) -> Result<(), Error> {
        let len = gap.end - gap.start;
        if len < SHORTEST {
            return Ok(());
        }
        let mut is_zero = true;
        let mut at = gap.start;
        while is_zero && at < gap.end {
            let size = distance(at, gap.end).min(1 << 14);
            let some = bytes.at(self.input, place(at), at, size)?;
            is_zero = some.iter().all(|byte| *byte == 0);
            at += size as u64;
        }
        if is_zero {
            return Ok(());
        }
        let head = bytes.at(self.input, place(gap.start), gap.start, distance(0, len).min(16))?;
        let looks_like = looks_like(head, len);
        self.add(gap.start, len, looks_like)
    }

    /// Enters a range that nothing refers to.
    fn add(&mut self, offset: u64, bytes: u64, looks_like: String) -> Result<(), Error> {
        let UnclaimedMedia { ranges, bytes: all, listed } = &mut self.found;
        *all += bytes;
        match listed.last_mut() {
            // A box that was cut to pieces.
            Some(last) if last.offset + last.bytes == offset => last.bytes += bytes,
            _ => {
                *ranges += 1;
                if listed.len() < MOST_LISTED {
                    listed.push(UnclaimedRange { offset, bytes, looks_like });
                }
            }
        }
        if self.at_once { self.refuse() } else { Ok(()) }
    }

    /// What nothing refers to, when all has been looked at: an error, unless `policy` keeps it.
    pub(crate) fn finish(mut self, policy: UnclaimedPolicy) -> Result<UnclaimedMedia, Error> {
        if let Some((kind, range)) = self.open_ended {
            let mut buffer = Vec::new();
            self.examine(
                range.clone(),
                &|_| 0,
                &mut Bytes::File(&[], &Heads::default(), &mut buffer),
            )?;
            if let Some(last) = self.found.listed.last_mut()
                && last.offset == range.start
            {
                last.looks_like = format!("they are in a {kind} box whose size is damaged or open");
            }
        }
        if policy == UnclaimedPolicy::Refuse {
            self.refuse()?;
        }
        Ok(self.found)
    }

    fn refuse(&self) -> Result<(), Error> {
        let found = &self.found;
        let Some(UnclaimedRange { offset, bytes, looks_like }) = found.listed.first() else {
            return Ok(());
        };
        let more = match found.ranges {
            1 => String::new(),
            2 => format!(" (and one more range, {} bytes in all)", found.bytes),
            n => format!(" (and {} more ranges, {} bytes in all)", n - 1, found.bytes),
        };
        Err(self.input.unsuitable(format!(
            "{bytes} bytes of media data at file offset {offset} belong to no sample and no item: \
             {looks_like}{more}. They would not be processed like the rest; repair the file (ffmpeg -i \
             IN -c copy OUT), or take them as they are with --keep-unclaimed"
        )))
    }
}

/// From `start` to `end`, in memory.
fn distance(start: u64, end: u64) -> usize {
    usize::try_from(end - start).unwrap_or(usize::MAX)
}

/// What data of `len` bytes that begin with `head` may be.
fn looks_like(head: &[u8], len: u64) -> String {
    let word = |at: usize| head.get(at..at + 4).and_then(|word| word.first_chunk::<4>());
    let size = word(0).map_or(0, |word| u64::from(u32::from_be_bytes(*word)));
    let kind = word(4).filter(|kind| kind.iter().all(|byte| matches!(byte, b' '..=b'~')));
    match (kind, head) {
        (Some(kind), _) if size == 1 || (SHORTEST..=len).contains(&size) => {
            format!("they look like a box of type {}", kind.escape_ascii())
        }
        _ if (2..len).contains(&size) && head.get(4).is_some_and(|byte| byte & 0x80 == 0) => {
            "they look like NAL units, or other data with length fields".into()
        }
        (_, [0, 0, 0, 1, ..] | [0, 0, 1, ..]) => "they look like an Annex B byte stream".into(),
        (_, [0xff, second, ..]) if second & 0xf6 == 0xf0 => "they look like AAC in ADTS".into(),
        (_, [0x0b, 0x77, ..]) => "they look like AC-3".into(),
        (_, [0xff, 0xd8, 0xff, ..]) => "they look like a JPEG picture".into(),
        (_, [0x89, b'P', b'N', b'G', ..]) => "they look like a PNG picture".into(),
        _ if head.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~')) => {
            "they look like text".into()
        }
        _ => {
            let digits: Vec<_> = head.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            format!("they begin with {}", digits.join(" "))
        }
    }
}
