//! Maps of access units: sums, alignment and limits as the standards have them, the same result from bytes
//! that come piece by piece, and what encryption by a map leaves clear.

use std::ops::Range;

use lanelock::Aes128;
use lanelock_cenc::{
    AccessUnit, Cipher, Scheme, decrypt, encrypt,
    map::{Alignment, Codec, MapError, Subsample, UnitBytes, max_entries},
};

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
