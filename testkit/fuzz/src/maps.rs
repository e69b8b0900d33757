//! Maps of access units: sums, alignment and limits as the standards have them, the same result from bytes
//! that come piece by piece, and what encryption by a map leaves clear.

use std::ops::Range;

use lanelock::Aes128;
use lanelock_cenc::{
    AccessUnit, Cipher, Scheme, decrypt, encrypt,
    map::{Alignment, Codec, MapError, Subsample, UnitBytes, max_entries},
};
use lanelock_testkit::Rng;

use crate::input::Change;

/// The target: a byte each for codec and alignment, then a configuration and access units, each behind its
/// length in two bytes. One that is longer than what is left is what is left.
pub fn maps(data: &[u8]) {
    let [codec, how, rest @ ..] = data else { return };
    let codec = CODECS[usize::from(*codec) % CODECS.len()];
    let rule = if how & 1 == 0 { Alignment::Exact } else { Alignment::Blocks };
    let limit = if how & 2 == 0 {
        usize::MAX
    } else {
        max_entries(*[0, 8, 16].get(usize::from(how >> 2 & 3)).unwrap_or(&0))
    };
    let mut parts = Parts(rest);
    let configuration = parts.next().unwrap_or_default();
    let _ = codec.transfer_characteristics(configuration);
    let Ok(mapper) = codec.mapper(configuration) else { return };
    let mut unlimited = mapper.clone().with_max_entries(usize::MAX);
    let mut from_pieces = mapper.clone().with_max_entries(limit);
    let mut mapper = mapper.with_max_entries(limit);
    let lengths = length_size(codec, configuration);
    for unit in parts.take(40) {
        let before = [Subsample { clear: 9, protected: 9 }];
        let mut out = before.to_vec();
        let result = mapper.map(unit, rule, &mut out);
        let entries = out.split_off(1);
        assert_eq!(out, before, "what was there before");
        let mut again = Vec::new();
        let pieces = from_pieces.map_bytes(&mut Pieces::new(unit, *how), rule, &mut again);
        assert_eq!((&pieces, &again), (&result, &entries), "from bytes that come piece by piece");
        let mut all = Vec::new();
        let count = unlimited.map(unit, rule, &mut all);
        match (&result, &count) {
            (Ok(count), _) => {
                assert_eq!(*count, entries.len());
                assert!(*count <= limit && all == entries, "the limit changes nothing else");
            }
            (Err(MapError::TooManyEntries { entries: found, limit: told }), Ok(count)) => {
                assert!(found == count && *told == limit && *count > limit, "{found} of {limit}");
            }
            (Err(error), count) => assert_eq!(Err(error), count.as_ref().map(drop)),
        }
        if result.is_err() {
            assert!(entries.is_empty(), "an error leaves no entries");
            continue;
        }
        check(codec, rule, unit, &entries, mapper.has_subsamples());
        if let Some(lengths) = lengths {
            nal_units(codec, lengths, unit, &entries);
        }
        apply(codec, rule, unit, &entries, mapper.has_subsamples());
    }
}

pub(crate) const CODECS: [Codec; 7] =
    [Codec::Avc, Codec::Hevc, Codec::Vvc, Codec::Av1, Codec::Vp9, Codec::Ac4, Codec::Whole];

/// Byte strings, each behind its length.
struct Parts<'a>(&'a [u8]);

impl<'a> Iterator for Parts<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk()?;
        let (part, rest) = rest.split_at(usize::from(u16::from_be_bytes(*length)).min(rest.len()));
        self.0 = rest;
        Some(part)
    }
}

/// An access unit of which no more is given than was asked for, and heads of another length.
struct Pieces<'a> {
    unit: &'a [u8],
    head: usize,
    given: Vec<u8>,
}

impl<'a> Pieces<'a> {
    fn new(unit: &'a [u8], how: u8) -> Self {
        let head = [1, 4, 16, 64, 200, 4096, 3, 33][usize::from(how >> 4 & 7)];
        Self { unit, head, given: Vec::new() }
    }
}

impl UnitBytes for Pieces<'_> {
    type Error = MapError;

    fn len(&self) -> usize {
        self.unit.len()
    }

    fn head(&self) -> usize {
        self.head
    }

    fn get(&mut self, range: Range<usize>) -> Result<&[u8], MapError> {
        self.given = self.unit[range].to_vec();
        Ok(&self.given)
    }
}

fn sum(entries: &[Subsample]) -> usize {
    entries.iter().map(|entry| usize::from(entry.clear) + entry.protected as usize).sum()
}

fn check(codec: Codec, rule: Alignment, unit: &[u8], entries: &[Subsample], subsamples: bool) {
    if !subsamples {
        assert!(entries.is_empty(), "a track that is protected whole");
        return;
    }
    assert_eq!(sum(entries), unit.len(), "{codec:?}: a map covers its unit");
    for (number, entry) in entries.iter().enumerate() {
        assert!(entry.clear > 0 || entry.protected > 0, "{codec:?}: entry {number} is empty");
        let blocks = rule == Alignment::Blocks && codec != Codec::Ac4 || codec == Codec::Vp9;
        assert!(!blocks || entry.protected % 16 == 0, "{codec:?}: entry {number}: {entry:?}");
        // More clear bytes than an entry can say go on in the next one (ISO/IEC 23001-7, 7.2).
        let last = number + 1 == entries.len();
        assert!(
            last || entry.protected > 0 || entry.clear == u16::MAX,
            "{codec:?}: entry {number}"
        );
    }
    if let Some(first) = entries.first() {
        assert!(first.clear > 0, "{codec:?}: no unit begins with protected bytes");
    }
}

/// The bytes of the lengths in front of NAL units, as the configuration says.
fn length_size(codec: Codec, configuration: &[u8]) -> Option<usize> {
    let field = match codec {
        Codec::Avc => *configuration.get(4)?,
        Codec::Hevc => *configuration.get(21)?,
        Codec::Vvc => configuration.get(4)? >> 1,
        _ => return None,
    };
    Some(usize::from(field & 3) + 1)
}

/// Protected ranges end with NAL units that have slices, and leave lengths and headers clear.
fn nal_units(codec: Codec, lengths: usize, unit: &[u8], entries: &[Subsample]) {
    let (mut slices, mut at) = (Vec::new(), 0);
    while let Some(bytes) = unit.get(at..at + lengths) {
        let length = bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        let start = at + lengths;
        at = start + length;
        assert!(at <= unit.len() && length > 0, "{codec:?}: a unit that was mapped");
        let second = unit.get(start + 1).copied().unwrap_or_default();
        let (is_slice, header) = match codec {
            Codec::Avc => ((1..=5).contains(&(unit[start] & 31)), 1),
            Codec::Hevc => (unit[start] >> 1 & 63 < 32, 2),
            _ => (second >> 3 < 12, 2),
        };
        if is_slice {
            slices.push(start + header..at);
        }
    }
    assert_eq!(at, unit.len(), "{codec:?}: bytes behind the last NAL unit");
    let mut at = 0;
    for entry in entries {
        let start = at + usize::from(entry.clear);
        at = start + entry.protected as usize;
        let fits = |slice: &Range<usize>| slice.start < start && slice.end == at;
        assert!(
            entry.protected == 0 || slices.iter().any(fits),
            "{codec:?}: {start}..{at} of {slices:?}"
        );
    }
}

/// What the map says is clear stays as it is, and decryption gives the unit back.
fn apply(codec: Codec, rule: Alignment, unit: &[u8], entries: &[Subsample], subsamples: bool) {
    let scheme = if rule == Alignment::Exact { Scheme::Cbcs } else { Scheme::Cenc };
    let key = Aes128::new(&[7; 16]).expect("a level");
    let cipher = [Cipher::new(scheme, key).with_pattern(1, 9)];
    let units =
        [AccessUnit { range: 0..unit.len(), subsamples: 0..entries.len(), iv: [9; 16], cipher: 0 }];
    let mut bytes = unit.to_vec();
    encrypt(&mut bytes, &units, entries, &cipher).expect("a map fits its unit");
    let mut at = 0;
    for entry in entries {
        let clear = at..at + usize::from(entry.clear);
        assert_eq!(bytes[clear.clone()], unit[clear], "{codec:?}: clear bytes");
        at += usize::from(entry.clear) + entry.protected as usize;
    }
    let long =
        if subsamples { entries.iter().any(|e| e.protected >= 16) } else { unit.len() >= 16 };
    assert!(!long || bytes != unit, "{codec:?}: nothing was encrypted");
    decrypt(&mut bytes, &units, entries, &cipher).expect("what was encrypted");
    assert_eq!(bytes, unit, "{codec:?}: decrypted");
}

/// An input for this target.
pub(crate) fn input(codec: Codec, how: u8, configuration: &[u8], units: &[Vec<u8>]) -> Vec<u8> {
    let number = CODECS.iter().position(|known| *known == codec).expect("all are there");
    let mut input = vec![u8::try_from(number).expect("a few"), how];
    for part in [configuration].into_iter().chain(units.iter().map(Vec::as_slice)) {
        input.extend(u16::try_from(part.len()).unwrap_or(u16::MAX).to_be_bytes());
        input.extend(&part[..part.len().min(u16::MAX.into())]);
    }
    input
}

/// A changed copy of an input: another codec or other choices, other parts, or a part that is changed while the
/// lengths of what it has inside follow.
pub(crate) fn mutate(data: &[u8], rng: &mut Rng, change: &mut Change<'_>) -> Vec<u8> {
    let &[codec, mut how, ref rest @ ..] = data else { return data.to_vec() };
    let mut codec = CODECS[usize::from(codec) % CODECS.len()];
    let mut parts: Vec<_> = Parts(rest).map(<[u8]>::to_vec).collect();
    if parts.len() < 2 {
        parts.resize(2, vec![0; 4]);
    }
    for _ in 0..=rng.below(3) {
        // The first part is the configuration.
        let at = 1 + rng.below(parts.len() - 1);
        match rng.below(16) {
            0 if rng.one_in(8) => codec = *rng.pick(&CODECS),
            0 | 1 => how ^= 1 << rng.below(8),
            2 => change(&mut parts[0]),
            3 if parts.len() > 2 => drop(parts.remove(at)),
            4 => {
                let unit = parts[at].clone();
                parts.insert(1 + rng.below(parts.len()), unit);
            }
            5 => {
                let other = 1 + rng.below(parts.len() - 1);
                parts.swap(at, other);
            }
            6 => change(&mut parts[at]),
            _ => {
                let framing = Framing::of(codec, &parts[0]);
                parts[at] = framing.mutate(&parts[at], rng, change);
            }
        }
    }
    let (configuration, units) = parts.split_first().expect("two at least");
    input(codec, how, configuration, units)
}

/// How the units of an access unit say where they end.
#[derive(Clone, Copy)]
enum Framing {
    /// By a length of so many bytes.
    Lengths(usize),
    /// By the size field behind the header of an OBU.
    Obus,
    /// There are none.
    Whole,
}

impl Framing {
    fn of(codec: Codec, configuration: &[u8]) -> Self {
        match (codec, length_size(codec, configuration)) {
            (_, Some(lengths)) => Self::Lengths(lengths),
            (Codec::Av1, _) => Self::Obus,
            _ => Self::Whole,
        }
    }

    fn mutate(self, unit: &[u8], rng: &mut Rng, change: &mut Change<'_>) -> Vec<u8> {
        let mut parts = self.split(unit);
        if !parts.is_empty() {
            let at = rng.below(parts.len());
            match rng.below(8) {
                0 => drop(parts.remove(at)),
                1 => parts.insert(rng.below(parts.len() + 1), parts[at].clone()),
                2 => {
                    let other = rng.below(parts.len());
                    parts.swap(at, other);
                }
                // Headers are at the front.
                3 | 4 => {
                    let mut front = parts[at].clone();
                    let rest = front.split_off(front.len().min(1 + rng.below(24)));
                    change(&mut front);
                    front.extend(rest);
                    parts[at] = front;
                }
                _ => change(&mut parts[at]),
            }
        }
        self.join(&parts)
    }

    fn split(self, mut unit: &[u8]) -> Vec<Vec<u8>> {
        let mut parts = Vec::new();
        while !unit.is_empty() {
            let (part, rest) = self.first(unit).unwrap_or((unit.to_vec(), &[]));
            parts.push(part);
            unit = rest;
        }
        parts
    }

    /// The first part, without the field that says its length.
    fn first(self, unit: &[u8]) -> Option<(Vec<u8>, &[u8])> {
        match self {
            Self::Lengths(size) => {
                let (length, rest) = unit.split_at_checked(size)?;
                let length = length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
                let (part, rest) = rest.split_at_checked(length)?;
                Some((part.to_vec(), rest))
            }
            Self::Obus => {
                // Bit 2 says that a byte of extension follows, bit 1 that there is a size.
                let header = if unit[0] & 4 == 0 { 1 } else { 2 };
                let (header, mut rest) = unit.split_at_checked(header)?;
                let mut length = rest.len();
                if unit[0] & 2 != 0 {
                    length = 0;
                    for shift in (0..56).step_by(7) {
                        let (&byte, behind) = rest.split_first()?;
                        length |= usize::from(byte & 0x7f) << shift;
                        rest = behind;
                        if byte & 0x80 == 0 {
                            break;
                        }
                    }
                }
                let (payload, rest) = rest.split_at_checked(length)?;
                Some(([header, payload].concat(), rest))
            }
            Self::Whole => None,
        }
    }

    fn join(self, parts: &[Vec<u8>]) -> Vec<u8> {
        let mut unit = Vec::new();
        for part in parts {
            match (self, part.first()) {
                (Self::Lengths(size), _) => {
                    unit.extend(&part.len().to_be_bytes()[size_of::<usize>() - size..]);
                    unit.extend(part);
                }
                (Self::Obus, Some(first)) if first & 2 != 0 => {
                    let header = if first & 4 == 0 { 1 } else { 2 };
                    let (header, payload) = part.split_at(part.len().min(header));
                    unit.extend(header);
                    let mut length = payload.len();
                    while length >= 0x80 {
                        unit.push(length.to_le_bytes()[0] | 0x80);
                        length >>= 7;
                    }
                    unit.push(length.to_le_bytes()[0]);
                    unit.extend(payload);
                }
                _ => unit.extend(part),
            }
        }
        unit
    }
}
