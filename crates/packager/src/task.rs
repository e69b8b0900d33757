//! A piece of a file, and how it is cut.

use std::{iter, ops::Range, sync::Arc};

use lanelock_cenc::{AccessUnit, Cipher, map::Subsample};
use lanelock_mp4::compose::NewSample;

use crate::{Error, Place, evidence::KeyCheck, io::Input};

/// Bytes of such a part: it stays in the cache from read to write.
const PART: usize = 1 << 20;

/// A piece of the input on its way to the output.
#[derive(Debug)]
pub(crate) struct Task {
    /// What to read, side by side into one buffer.
    pub(crate) spans: Vec<Range<u64>>,
    pub(crate) kind: TaskKind,
    /// Access units to encrypt or decrypt, filled in by the map stage like all that follows.
    pub(crate) units: Vec<AccessUnit>,
    pub(crate) subsamples: Vec<Subsample>,
    pub(crate) ciphers: Arc<[Cipher]>,
    /// What each of the ciphers is judged by, on decryption.
    pub(crate) key_checks: Arc<[Arc<KeyCheck>]>,
    /// The unit's place in the input, for each of `units`.
    pub(crate) places: Vec<Place>,
    /// What to write in front of the buffer.
    pub(crate) head: Vec<u8>,
    /// Where to write it.
    pub(crate) out: u64,
}

/// What a piece is.
#[derive(Debug)]
pub(crate) enum TaskKind {
    /// Bytes that stay as they are.
    Copy,
    /// Bytes that take the place of the metadata box at `at`.
    Replace { at: u64, bytes: Vec<u8> },
    /// A `sidx` or `mfra`, to be set right when everything has its place.
    Index { at: u64, bytes: Vec<u8> },
    /// A `moof`, and in the buffer the boxes behind it.
    Fragment { at: u64, moof: Vec<u8> },
    /// Samples of a progressive file that become a fragment: side by side in the buffer, track by
    /// track.
    NewFragment(Vec<NewTrack>),
    /// A stretch of a progressive file, with the samples in it.
    Stretch(Vec<StretchSample>),
}

/// The samples of a track in a new fragment.
#[derive(Debug)]
pub(crate) struct NewTrack {
    /// Index in the tracks of the movie.
    pub(crate) track: usize,
    pub(crate) description_index: u32,
    pub(crate) decode_time: u64,
    pub(crate) samples: Vec<NewSample>,
    /// Where each sample begins in the input.
    pub(crate) offsets: Vec<u64>,
}

/// A sample in a stretch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StretchSample {
    /// Index in the tracks of the movie.
    pub(crate) track: usize,
    pub(crate) description_index: u32,
    pub(crate) offset: u64,
    pub(crate) size: u32,
}

impl Task {
    /// A piece that reads one range.
    pub(crate) fn of(kind: TaskKind, range: Range<u64>) -> Self {
        Self::new(kind, iter::once(range).collect())
    }

    pub(crate) fn new(kind: TaskKind, spans: Vec<Range<u64>>) -> Self {
        Self {
            spans,
            kind,
            units: Vec::new(),
            subsamples: Vec::new(),
            ciphers: Arc::new([]),
            key_checks: Arc::new([]),
            places: Vec::new(),
            head: Vec::new(),
            out: 0,
        }
    }

    /// Bytes of the piece.
    pub(crate) fn len(&self) -> u64 {
        self.spans.iter().map(|span| span.end - span.start).sum()
    }

    /// The same as the size of a buffer. The largest `usize` stands for sizes beyond it, which no
    /// buffer can have.
    pub(crate) fn buffer_len(&self) -> usize {
        usize::try_from(self.len()).unwrap_or(usize::MAX)
    }

    /// Cuts a mapped piece between access units.
    pub(crate) fn into_parts(self) -> Vec<Self> {
        let Self { spans, units, subsamples, ciphers, key_checks, places, out, .. } = self;
        let mut order: Vec<usize> = (0..units.len()).collect();
        order.sort_by_key(|&unit| units[unit].range.start);
        let len: usize = spans.iter().map(span_len).sum();
        let mut parts = Vec::new();
        let (mut start, mut end) = (0, 0);
        let mut inside: Vec<usize> = Vec::new();
        let mut cut = |range: Range<usize>, inside: &mut Vec<usize>| {
            let mut part = Self::new(TaskKind::Copy, cut_spans(&spans, range.clone()));
            part.ciphers = ciphers.clone();
            part.key_checks = key_checks.clone();
            part.out = out + range.start as u64;
            for unit in inside.drain(..) {
                let unit_subsamples = &subsamples[units[unit].subsamples.clone()];
                let first = part.subsamples.len();
                part.subsamples.extend_from_slice(unit_subsamples);
                part.places.push(places[unit]);
                part.units.push(AccessUnit {
                    range: units[unit].range.start - range.start
                        ..units[unit].range.end - range.start,
                    subsamples: first..part.subsamples.len(),
                    ..units[unit].clone()
                });
            }
            parts.push(part);
        };
        for unit in order {
            let range = &units[unit].range;
            // No unit spans `range.start`: it is a place to cut, once the part is large enough.
            if range.start >= end && range.start - start >= PART {
                cut(start..range.start, &mut inside);
                start = range.start;
            }
            inside.push(unit);
            end = end.max(range.end);
        }
        // Bytes behind the last unit may be cut anywhere.
        while len - start > 0 {
            let next = len.min(end.max(start + PART));
            cut(start..next, &mut inside);
            start = next;
        }
        parts
    }
}

/// Bytes of a span.
pub(crate) fn span_len(span: &Range<u64>) -> usize {
    usize::try_from(span.end - span.start).unwrap_or(usize::MAX)
}

/// The part `range` of spans that stand side by side.
fn cut_spans(spans: &[Range<u64>], range: Range<usize>) -> Vec<Range<u64>> {
    let mut at = 0;
    let mut cut = Vec::new();
    for span in spans {
        let len = span_len(span);
        let from = range.start.max(at) - at;
        let to = range.end.clamp(at, at + len) - at;
        if from < to {
            cut.push(span.start + from as u64..span.start + to as u64);
        }
        at += len;
    }
    cut
}

/// The first `len` bytes of `buffer`, which grows to it.
pub(crate) fn grow<'b>(
    input: &Input,
    buffer: &'b mut Vec<u8>,
    len: usize,
) -> Result<&'b mut [u8], Error> {
    if buffer.capacity() < len {
        *buffer = Vec::new();
        buffer.try_reserve_exact(len).map_err(|_| {
            input.unsuitable(format!("{len} bytes must be in memory at once, which is too much"))
        })?;
    }
    // Bytes that are there already need not be zeroed again.
    if buffer.len() < len {
        buffer.resize(len, 0);
    }
    Ok(&mut buffer[..len])
}

/// The bytes of a piece while it is mapped.
pub(crate) enum Bytes<'b> {
    /// The whole piece.
    Buffer(&'b [u8]),
    /// The piece is too large: a buffer for one access unit at a time.
    File(&'b mut Vec<u8>),
}

impl Bytes<'_> {
    /// `size` bytes that are at `start` of the piece and at `offset` of the input.
    pub(crate) fn at(
        &mut self,
        input: &Input,
        start: usize,
        offset: u64,
        size: usize,
    ) -> Result<&[u8], Error> {
        match self {
            Self::Buffer(buffer) => {
                buffer.get(start..).and_then(|rest| rest.get(..size)).ok_or_else(|| {
                    input.unsuitable(format!("the sample at file offset {offset} leaves its piece"))
                })
            }
            Self::File(buffer) => {
                let buffer = grow(input, buffer, size)?;
                input.read(buffer, offset)?;
                Ok(buffer)
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "a span")]
mod tests {
    use super::*;
    use lanelock_testkit::Rng;

    #[test]
    fn spans_are_cut() {
        let spans = [100..110, 200..230, 300..305];
        assert_eq!(cut_spans(&spans, 0..45), spans);
        assert_eq!(cut_spans(&spans, 5..12), [105..110, 200..202]);
        assert_eq!(cut_spans(&spans, 10..40), [200..230]);
        assert_eq!(cut_spans(&spans, 39..42), [229..230, 300..302]);
        assert_eq!(cut_spans(&spans, 45..45), []);
    }

    /// Parts lie side by side, and hold every unit whole and at its place.
    #[test]
    fn parts_are_the_piece() {
        let mut rng = Rng::from_env("parts_are_the_piece");
        for _ in 0..200 {
            let mut task = Task::new(TaskKind::Copy, Vec::new());
            task.out = 1000;
            let (mut at, units) = (0, rng.below(40));
            for number in 0..units {
                at += rng.below(*rng.clone().pick(&[1, 100, 3 << 20]));
                let len = rng.below(*rng.clone().pick(&[1, 1000, 3 << 20]));
                task.subsamples
                    .push(Subsample { clear: 0, protected: u32::try_from(len).unwrap() });
                let (subsamples, iv) = (number..number + 1, [0; 16]);
                task.units.push(AccessUnit { range: at..at + len, subsamples, iv, cipher: 0 });
                let (track, access_unit, offset) = (1, number as u64, 5000 + at as u64);
                task.places.push(Place { track, access_unit, offset });
                at += len;
            }
            let len = at + rng.below(3 << 20);
            task.spans = vec![5000..5000 + len as u64];
            // Units of several tracks come in any order.
            let mut order: Vec<usize> = (0..units).collect();
            rng.shuffle(&mut order);
            task.units = order.iter().map(|&i| task.units[i].clone()).collect();
            task.places = order.iter().map(|&i| task.places[i]).collect();

            let (mut next, mut seen) = (0, 0);
            for part in task.into_parts() {
                assert_eq!(part.out, 1000 + next);
                assert_eq!(part.spans, [5000 + next..5000 + next + part.len()]);
                for (unit, place) in part.units.iter().zip(&part.places) {
                    assert!(unit.range.end as u64 <= part.len(), "a unit leaves its part");
                    assert_eq!(5000 + next + unit.range.start as u64, place.offset);
                    let [subsample] = part.subsamples[unit.subsamples.clone()] else { panic!() };
                    assert_eq!(subsample.protected as usize, unit.range.len());
                    seen += 1;
                }
                next += part.len();
            }
            assert_eq!((next, seen), (len as u64, units));
        }
    }
}
