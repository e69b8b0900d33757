//! A piece that is mapped, and the parts of a large one.

use std::{io::IoSlice, ops::Range, sync::Arc};

use lanelock_cenc::{AccessUnit, Cipher, Scheme, map::Subsample};

use super::planned::span_len;
use crate::{Place, evidence::KeyCheck, io::Object};

/// Access units to encrypt or to decrypt in a buffer.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) direction: Direction,
    pub(crate) units: Vec<AccessUnit>,
    pub(crate) subsamples: Vec<Subsample>,
    pub(crate) ciphers: Arc<[Cipher]>,
    /// What each of the ciphers is judged by, on decryption.
    pub(crate) key_checks: Arc<[Arc<KeyCheck>]>,
    /// The unit's place in the input, for each of `units`.
    pub(crate) places: Vec<Place>,
}

/// What a stage does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Encrypt,
    Decrypt,
}

/// A piece that is mapped: what to do to the buffer, what to write, and where.
pub(crate) struct Mapped {
    pub(crate) stage: Stage,
    /// What to write, side by side.
    pub(crate) writes: Vec<Write>,
    /// Where to write it.
    pub(crate) out: u64,
    /// What to write it to; none if it is the one output of the run.
    pub(crate) object: Option<Arc<Object>>,
    /// What else is made of the same bytes, such as with another scheme.
    pub(crate) others: Vec<Self>,
}

/// New bytes, and bytes of the buffer behind them.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) head: Vec<u8>,
    pub(crate) body: Range<usize>,
}

/// Part of a large piece, without metadata.
pub(crate) struct LargePart {
    pub(crate) spans: Vec<Range<u64>>,
    pub(crate) mapped: Mapped,
}

impl Stage {
    /// Nothing to do.
    pub(crate) fn new(direction: Direction, ciphers: Arc<[Cipher]>) -> Self {
        Self {
            direction,
            units: Vec::new(),
            subsamples: Vec::new(),
            ciphers,
            key_checks: Arc::new([]),
            places: Vec::new(),
        }
    }
}

impl Stage {
    /// What undoes it.
    pub(crate) fn inverse(self) -> Self {
        let direction = match self.direction {
            Direction::Encrypt => Direction::Decrypt,
            Direction::Decrypt => Direction::Encrypt,
        };
        Self { direction, ..self }
    }
}

impl Mapped {
    /// What to write, side by side.
    pub(crate) fn slices<'b>(&'b self, buffer: &'b [u8]) -> Vec<IoSlice<'b>> {
        let mut slices = Vec::with_capacity(2 * self.writes.len());
        let mut body = 0..0;
        for write in &self.writes {
            if write.head.is_empty() && write.body.start == body.end {
                body.end = write.body.end;
                continue;
            }
            slices.push(IoSlice::new(&buffer[body]));
            slices.push(IoSlice::new(&write.head));
            body = write.body.clone();
        }
        slices.push(IoSlice::new(&buffer[body]));
        slices
    }

    /// Takes the metadata in front of a large piece out; what is left are the bytes of the buffer.
    pub(crate) fn take_head(&mut self) -> Vec<u8> {
        let head = self.writes.first_mut().map(|write| std::mem::take(&mut write.head));
        let head = head.unwrap_or_default();
        self.out += head.len() as u64;
        head
    }

    /// Cuts a large piece, which has one body in the buffer of `spans`, between access units. What is made of
    /// the same bytes has the same access units, so that it is cut at the same places.
    pub(crate) fn into_parts(mut self, spans: &[Range<u64>]) -> Vec<LargePart> {
        let others = std::mem::take(&mut self.others);
        let mut parts = self.into_own_parts(spans);
        for other in others {
            for (part, other) in parts.iter_mut().zip(other.into_own_parts(spans)) {
                part.mapped.others.push(other.mapped);
            }
        }
        parts
    }

    fn into_own_parts(self, spans: &[Range<u64>]) -> Vec<LargePart> {
        let Self { stage, writes, out, object, others: _ } = self;
        let Stage { direction, units, subsamples, ciphers, key_checks, places } = stage;
        let body = writes.first().map_or(0..0, |write| write.body.clone());
        // Under `cbc1` an access unit is one chain: to fill the lanes takes more of them than stay in
        // the cache.
        let chained = ciphers.iter().any(|cipher| cipher.scheme() == Scheme::Cbc1);
        let size = if chained && direction == Direction::Encrypt { 4 * PART } else { PART };
        let mut order: Vec<usize> = (0..units.len()).collect();
        order.sort_by_key(|&unit| units[unit].range.start);
        let mut parts = Vec::new();
        let (mut start, mut end) = (body.start, body.start);
        let mut inside: Vec<usize> = Vec::new();
        let mut cut = |range: Range<usize>, inside: &mut Vec<usize>| {
            let mut stage = Stage::new(direction, ciphers.clone());
            stage.key_checks = key_checks.clone();
            for unit in inside.drain(..) {
                let unit_subsamples = &subsamples[units[unit].subsamples.clone()];
                let first = stage.subsamples.len();
                stage.subsamples.extend_from_slice(unit_subsamples);
                stage.places.push(places[unit]);
                stage.units.push(AccessUnit {
                    range: units[unit].range.start - range.start
                        ..units[unit].range.end - range.start,
                    subsamples: first..stage.subsamples.len(),
                    ..units[unit].clone()
                });
            }
            let writes = vec![Write { head: Vec::new(), body: 0..range.len() }];
            let out = out + (range.start - body.start) as u64;
            let others = Vec::new();
            let mapped = Self { stage, writes, out, object: object.clone(), others };
            parts.push(LargePart { spans: cut_spans(spans, range), mapped });
        };
        for unit in order {
            let range = &units[unit].range;
            // No unit spans `range.start`: it is a place to cut, once the part is large enough.
            if range.start >= end && range.start - start >= size {
                cut(start..range.start, &mut inside);
                start = range.start;
            }
            inside.push(unit);
            end = end.max(range.end);
        }
        // Bytes behind the last unit may be cut anywhere.
        while body.end > start {
            let next = body.end.min(end.max(start + size));
            cut(start..next, &mut inside);
            start = next;
        }
        parts
    }
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

/// Bytes of a part of a large piece: it stays in the cache from read to write.
const PART: usize = 1 << 20;

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
            let mut stage = Stage::new(Direction::Encrypt, Arc::new([]));
            let (mut at, units) = (0, rng.below(40));
            for number in 0..units {
                at += rng.below(*rng.clone().pick(&[1, 100, 3 << 20]));
                let len = rng.below(*rng.clone().pick(&[1, 1000, 3 << 20]));
                stage
                    .subsamples
                    .push(Subsample { clear: 0, protected: u32::try_from(len).unwrap() });
                let (subsamples, iv) = (number..number + 1, [0; 16]);
                stage.units.push(AccessUnit { range: at..at + len, subsamples, iv, cipher: 0 });
                let (track, access_unit, offset) = (1, number as u64, 5000 + at as u64);
                stage.places.push(Place { track, access_unit, offset });
                at += len;
            }
            let len = at + rng.below(3 << 20);
            // Units of several tracks come in any order.
            let mut order: Vec<usize> = (0..units).collect();
            rng.shuffle(&mut order);
            stage.units = order.iter().map(|&i| stage.units[i].clone()).collect();
            stage.places = order.iter().map(|&i| stage.places[i]).collect();

            let (mut next, mut seen) = (0, 0);
            let writes = vec![Write { head: Vec::new(), body: 0..len }];
            let other = Stage {
                units: stage.units.clone(),
                ..Stage::new(Direction::Encrypt, Arc::new([]))
            };
            let (subsamples, places) = (stage.subsamples.clone(), stage.places.clone());
            let other = Stage { subsamples, places, ..other };
            let other_writes = vec![Write { head: Vec::new(), body: 0..len }];
            let (object, others) = (None, Vec::new());
            let other = Mapped { stage: other, writes: other_writes, out: 7000, object, others };
            let mapped = Mapped { stage, writes, out: 1000, object: None, others: vec![other] };
            for LargePart { spans, mapped } in mapped.into_parts(&[5000..5000 + len as u64]) {
                let Mapped { stage, out, .. } = &mapped;
                let part_len = mapped.writes[0].body.len() as u64;
                assert_eq!(*out, 1000 + next);
                let [other] = &mapped.others[..] else { panic!() };
                assert_eq!((other.out, &other.stage.places), (7000 + next, &stage.places));
                assert_eq!(spans, [5000 + next..5000 + next + part_len]);
                for (unit, place) in stage.units.iter().zip(&stage.places) {
                    assert!(unit.range.end as u64 <= part_len, "a unit leaves its part");
                    assert_eq!(5000 + next + unit.range.start as u64, place.offset);
                    let [subsample] = stage.subsamples[unit.subsamples.clone()] else { panic!() };
                    assert_eq!(subsample.protected as usize, unit.range.len());
                    seen += 1;
                }
                next += part_len;
            }
            assert_eq!((next, seen), (len as u64, units));
        }
    }
}
