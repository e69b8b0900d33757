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

/// MediaRanges data that no sample and no item refers to.
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
    input: &'a Input,
    media: &'a MediaRanges,
    open_ended: Option<&'a (FourCc, Range<u64>)>,
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
        input: &Input,
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

    fn overlaps(&self, range: &Range<u64>) -> bool {
        let before = self.0.range(..range.end).next_back();
        !range.is_empty() && before.is_some_and(|(_, &end)| end > range.start)
    }
}

/// Refuses a progressive file where what is to be encrypted shares bytes with a track that stays clear
/// or with an item: the clear one would either give these bytes away or be spoilt.
pub(crate) fn refuse_shared(
    input: &Input,
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

impl<'a> Claims<'a> {
    /// What metadata refer to: items, and the auxiliary information of a progressive file. Samples
    /// follow as they are seen.
    pub(crate) fn of(input: &'a Input, skeleton: &'a Skeleton) -> Result<Self, Error> {
        let Skeleton { movie, media, items, .. } = skeleton;
        let open_ended = skeleton.open_ended.as_ref();
        let mut this = Self { input, media, open_ended, ranges: RangeSet::default() };
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

    /// The samples of a fragment, of all tracks, and their auxiliary information.
    pub(crate) fn fragment(&mut self, fragment: &Fragment<'_>) -> Result<(), Error> {
        for traf in &fragment.tracks {
            for run in traf.runs() {
                self.claim(run.offset..run.offset.saturating_add(run.data_size))?;
            }
            let ranges = traf.aux_ranges(self.input.len());
            for range in ranges.map_err(|error| self.input.container(error))? {
                self.claim(range)?;
            }
        }
        Ok(())
    }

    /// Something refers to these bytes.
    pub(crate) fn claim(&mut self, range: Range<u64>) -> Result<(), Error> {
        if range.is_empty() {
            return Ok(());
        }
        self.ranges.insert(self.input, self.media.widen(range))
    }

    /// Looks at what nothing refers to, when all is claimed.
    pub(crate) fn finish(&self, policy: UnclaimedPolicy) -> Result<UnclaimedMedia, Error> {
        let mut found = UnclaimedMedia::default();
        let open_ended = self.open_ended.map(|(kind, range)| (Some(kind), range.clone()));
        for (kind, gap) in self.gaps().map(|gap| (None, gap)).chain(open_ended) {
            let bytes = gap.end - gap.start;
            if bytes < SHORTEST || self.is_zero(gap.clone())? {
                continue;
            }
            found.ranges += 1;
            found.bytes += bytes;
            if found.listed.len() < MOST_LISTED {
                let looks_like = match kind {
                    Some(kind) => format!("they are in a {kind} box whose size is damaged or open"),
                    None => self.looks_like(&gap)?,
                };
                found.listed.push(UnclaimedRange { offset: gap.start, bytes, looks_like });
            }
        }
        match (found.listed.first(), policy) {
            (Some(first), UnclaimedPolicy::Refuse) => Err(self.refusal(&found, first)),
            _ => Ok(found),
        }
    }

    /// The parts of the media data that nothing refers to, in file order.
    fn gaps(&self) -> impl Iterator<Item = Range<u64>> {
        let ends = self.ranges.0.iter().map(|(&start, &end)| (start, end));
        let mut at = 0;
        ends.chain([(u64::MAX, u64::MAX)])
            .map(move |(start, end)| std::mem::replace(&mut at, end)..start)
            .flat_map(|hole| self.media.parts(hole))
    }

    fn is_zero(&self, range: Range<u64>) -> Result<bool, Error> {
        let mut buffer = [0; 1 << 14];
        let mut at = range.start;
        while at < range.end {
            let len = (range.end - at).min(buffer.len() as u64);
            let piece = &mut buffer[..usize::try_from(len).unwrap_or(0)];
            self.input.read(piece, at)?;
            if piece.iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            at += len;
        }
        Ok(true)
    }

    fn looks_like(&self, range: &Range<u64>) -> Result<String, Error> {
        let mut head = [0; 16];
        let len = (range.end - range.start).min(16);
        let head = &mut head[..usize::try_from(len).unwrap_or(0)];
        self.input.read(head, range.start)?;
        Ok(looks_like(head, range.end - range.start))
    }

    fn refusal(&self, found: &UnclaimedMedia, first: &UnclaimedRange) -> Error {
        let UnclaimedRange { offset, bytes, looks_like } = first;
        let more = match found.ranges {
            1 => String::new(),
            2 => format!(" (and one more range, {} bytes in all)", found.bytes),
            n => format!(" (and {} more ranges, {} bytes in all)", n - 1, found.bytes),
        };
        self.input.unsuitable(format!(
            "{bytes} bytes of media data at file offset {offset} belong to no sample and no item: \
             {looks_like}{more}. They would not be processed like the rest; repair the file (ffmpeg -i \
             IN -c copy OUT), or take them as they are with --keep-unclaimed"
        ))
    }
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
