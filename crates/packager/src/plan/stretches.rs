//! Pieces of a progressive file that stays so: stretches of the file, cut between samples.

use std::{collections::VecDeque, iter::Peekable, ops::Range};

use lanelock_mp4::{Movie, Samples};

use super::{PIECE, cut};
use crate::{
    Error,
    io::Input,
    piece::{PartKind, Planned, StretchSample},
    pipeline::Plan,
    skeleton::{MediaRanges, Replacement},
};

/// Cuts a progressive file in the order of its bytes.
pub(crate) struct Stretches<'a> {
    input: &'a Input<'a>,
    movie: &'a Movie,
    tracks: Vec<Peekable<Samples<'a>>>,
    /// Where the next piece begins.
    at: u64,
    /// Boxes whose bytes are replaced, in file order.
    replaced: VecDeque<Replacement>,
    queue: VecDeque<Planned>,
}

impl<'a> Stretches<'a> {
    pub(crate) fn new(
        input: &'a Input<'a>,
        movie: &'a Movie,
        replaced: Vec<Replacement>,
    ) -> Result<Self, Error> {
        let tracks = movie
            .tracks
            .iter()
            .map(|track| Ok(movie.samples(track, input.len())?.peekable()))
            .collect::<Result<_, lanelock_mp4::Error>>()
            .map_err(|error| input.container(error))?;
        let (replaced, queue) = (replaced.into(), VecDeque::new());
        Ok(Self { input, movie, tracks, at: 0, replaced, queue })
    }

    /// The sample that is next in the file, without taking it.
    fn peek(&mut self) -> Result<Option<StretchSample>, Error> {
        let mut first: Option<StretchSample> = None;
        for (track, samples) in self.tracks.iter_mut().enumerate() {
            if let Some(Err(error)) = samples.next_if(Result::is_err) {
                return Err(self.input.container(error));
            }
            if let Some(Ok(sample)) = samples.peek()
                && first.is_none_or(|first| sample.offset < first.offset)
            {
                let (description_index, offset) = (sample.description_index, sample.offset);
                let size = sample.size;
                let sample = StretchSample { track, description_index, offset, size };
                if size == 0 {
                    // A sample without bytes may have any offset, but has auxiliary information like all
                    // others: it comes where the plan stands.
                    return Ok(Some(StretchSample { offset: self.at, ..sample }));
                }
                first = Some(sample);
            }
        }
        Ok(first)
    }

    /// Goes on to `end` without samples.
    fn skip_to(&mut self, end: u64) {
        while let Some(Replacement { range, bytes, .. }) =
            self.replaced.pop_front_if(|next| next.range.end <= end)
        {
            self.copy(self.at..range.start);
            let nothing = range.start..range.start;
            self.queue.push_back(Planned::of(PartKind::Replace(bytes), nothing));
            self.at = range.end;
        }
        self.copy(self.at..end);
        self.at = end;
    }

    /// Queues a range that stays as it is.
    fn copy(&mut self, range: Range<u64>) {
        // The media data of a progressive file are known as a whole.
        let pieces = cut(range).map(|r| Planned::of(PartKind::Copy(MediaRanges::default()), r));
        self.queue.extend(pieces);
    }
}

impl Plan for Stretches<'_> {
    fn next(&mut self) -> Result<Option<Planned>, Error> {
        if let Some(task) = self.queue.pop_front() {
            return Ok(Some(task));
        }
        let mut samples = Vec::new();
        let mut start = self.at;
        while let Some(sample) = self.peek()? {
            let end = sample.offset + u64::from(sample.size);
            if sample.offset < self.at {
                return Err(self.input.unsuitable(format!(
                    "track {}: the sample at file offset {} shares bytes with another one or is not \
                     in the order of the file; write fragments instead (--layout fragmented)",
                    self.movie.tracks[sample.track].id, sample.offset
                )));
            }
            let inside = |b: &&Replacement| sample.offset < b.range.end && end > b.range.start;
            if let Some(Replacement { kind, .. }) = self.replaced.iter().find(inside) {
                return Err(self.input.unsuitable(format!(
                    "the sample at file offset {} lies in the {kind} box",
                    sample.offset
                )));
            }
            if samples.is_empty() {
                if sample.offset > self.at {
                    self.skip_to(sample.offset);
                }
                start = self.at;
            } else if sample.offset > self.at || end - start > PIECE {
                break;
            }
            self.tracks[sample.track].next();
            self.at = end;
            samples.push(sample);
        }
        if samples.is_empty() {
            if self.at < self.input.len() {
                self.skip_to(self.input.len());
            }
        } else {
            self.queue.push_back(Planned::of(PartKind::Stretch(samples), start..self.at));
        }
        Ok(self.queue.pop_front())
    }
}
