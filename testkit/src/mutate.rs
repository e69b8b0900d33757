//! Damaged copies of good input, for tests that nothing bad comes of them.

use std::env;

use crate::Rng;
use crate::boxes::word;

/// Makes damaged copies of one good input.
#[derive(Clone, Debug)]
pub struct Mutator<'a> {
    good: &'a [u8],
    /// Where the bytes are that most changes are to hit.
    places: Vec<usize>,
    /// Where the types of boxes are (and what looks like them).
    types: Vec<usize>,
    one_box: bool,
}

impl<'a> Mutator<'a> {
    /// Of one or several boxes: mostly sizes, types and fields are changed, and
    /// hardly ever the payload of `mdat`. If it is one box, its size is often
    /// set right afterwards, so that the change gets past the first check.
    ///
    /// # Panics
    /// If there is no type of a box in it.
    #[must_use]
    pub fn of_boxes(good: &'a [u8]) -> Self {
        let types = types(good);
        assert!(!types.is_empty(), "the input consists of boxes");
        let one_box = word(good, 0) as usize == good.len();
        Self { good, places: metadata(good), types, one_box }
    }

    /// Of anything, where most changes hit the first `depth` bytes.
    #[must_use]
    pub fn of_head(good: &'a [u8], depth: usize) -> Self {
        let places = (0..good.len().min(depth)).collect();
        Self { good, places, types: Vec::new(), one_box: false }
    }

    /// A copy with one to four changes; never empty.
    ///
    /// # Panics
    /// If the input has 4 GiB.
    #[must_use]
    pub fn mutant(&self, rng: &mut Rng) -> Vec<u8> {
        let mut bytes = self.good.to_vec();
        for _ in 0..=rng.below(4) {
            let place = self.place(rng).min(bytes.len().saturating_sub(1));
            if self.types.is_empty() || rng.below(14) >= 3 {
                change(rng, &mut bytes, place);
            } else {
                self.change_boxes(rng, &mut bytes);
            }
            if bytes.is_empty() {
                bytes.push(0);
            }
        }
        if self.one_box && bytes.len() >= 4 && !rng.one_in(4) {
            let size = u32::try_from(bytes.len()).expect("inputs of tests are small");
            bytes[..4].copy_from_slice(&size.to_be_bytes());
        }
        bytes
    }

    fn place(&self, rng: &mut Rng) -> usize {
        match rng.below(8) {
            0 => rng.below(self.good.len().max(1)),
            // A size field, or the first field of a full box.
            1 | 2 if !self.types.is_empty() => {
                (*rng.pick(&self.types) + 12).saturating_sub(16 - 4 * rng.below(5))
            }
            _ if self.places.is_empty() => 0,
            _ => *rng.pick(&self.places),
        }
    }

    /// One type for another, a whole box twice, or a 32-bit field that is off by
    /// one, doubled, or the length of the input.
    fn change_boxes(&self, rng: &mut Rng, bytes: &mut Vec<u8>) {
        let (to, from) = (*rng.pick(&self.types), *rng.pick(&self.types));
        if to + 4 > bytes.len() {
            return;
        }
        match rng.below(3) {
            0 => bytes[to..to + 4].copy_from_slice(&self.good[from..from + 4]),
            1 => {
                let (at, start) = (to - 4, from - 4);
                let size = word(self.good, start) as usize;
                if let Some(copy) = self.good.get(start..start.saturating_add(size)) {
                    bytes.splice(at..at, copy.to_vec());
                }
            }
            _ => {
                let at = (to + 12).saturating_sub(16 - 4 * rng.below(5)).min(bytes.len() - 4);
                let old = word(bytes, at);
                let len = u32::try_from(bytes.len()).expect("inputs of tests are small");
                let value = *rng.pick(&[
                    len,
                    len - 1,
                    old.wrapping_add(1),
                    old.wrapping_sub(1),
                    old.wrapping_mul(2),
                ]);
                bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
            }
        }
    }
}

/// One change at `place`: of a bit, a byte, a word, or of the length.
fn change(rng: &mut Rng, bytes: &mut Vec<u8>, place: usize) {
    let room = bytes.len() - place;
    match rng.below(13) {
        0..=3 if room > 0 => bytes[place] ^= 1 << rng.below(8),
        4 | 5 if room > 0 => bytes[place] = *rng.pick(&[0, 1, 0x7f, 0x80, 0xfe, 0xff]),
        6 if room > 0 => bytes[place] = rng.array::<1>()[0],
        7 | 8 if room >= 4 => {
            const EDGES: [u32; 11] = [
                0,
                1,
                7,
                8,
                1_000_000,
                0x7fff_ffff,
                1 << 31,
                1 << 29,
                1 << 30,
                u32::MAX - 7,
                u32::MAX,
            ];
            bytes[place..place + 4].copy_from_slice(&rng.pick(&EDGES).to_be_bytes());
        }
        9 if room >= 8 => {
            let value = *rng.pick(&[u64::MAX, 1 << 63, u64::from(u32::MAX) + 1, 0, 1]);
            bytes[place..place + 8].copy_from_slice(&value.to_be_bytes());
        }
        10 if rng.one_in(2) => bytes.truncate(place + 1),
        10 | 11 => {
            let len = room.min(1 + rng.below(40));
            bytes.drain(place..place + len);
        }
        _ => {
            let new = 1 + rng.below(40);
            // Bytes that may be anything, or a piece that is there already.
            let new = if rng.one_in(2) || room == 0 {
                rng.bytes(new)
            } else {
                bytes[place..place + new.min(room)].to_vec()
            };
            bytes.splice(place..place, new);
        }
    }
}

/// How many mutants a test makes: `LANELOCK_MUTANTS`, or `short`.
///
/// # Panics
/// If the variable is set and is no number.
#[must_use]
pub fn mutants(short: usize) -> usize {
    env::var("LANELOCK_MUTANTS")
        .map_or(short, |count| count.parse().expect("LANELOCK_MUTANTS is a number"))
}

/// Where the bytes of metadata are: all but the payload of `mdat`.
fn metadata(bytes: &[u8]) -> Vec<usize> {
    let (mut at, mut places) = (0, Vec::new());
    while at + 8 <= bytes.len() {
        let rest = bytes.len() - at;
        let size = word(bytes, at) as usize;
        let size = if size < 8 { rest } else { size.min(rest) };
        let head = if &bytes[at + 4..at + 8] == b"mdat" { 8 } else { size };
        places.extend(at..at + head);
        at += size;
    }
    places
}

fn types(bytes: &[u8]) -> Vec<usize> {
    const KINDS: [&[u8; 4]; 40] = [
        b"moov", b"moof", b"mdat", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"stsz", b"stsc",
        b"stco", b"stts", b"ctts", b"stss", b"traf", b"tfhd", b"trun", b"tfdt", b"senc", b"saiz",
        b"saio", b"sgpd", b"sbgp", b"tenc", b"sinf", b"schi", b"schm", b"frma", b"avcC", b"hvcC",
        b"avc1", b"encv", b"enca", b"mp4a", b"mvex", b"trex", b"pssh", b"sidx", b"mfra", b"hdlr",
    ];
    (4..bytes.len().saturating_sub(3))
        .filter(|&at| KINDS.iter().any(|kind| bytes[at..].starts_with(*kind)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boxes::boxed;

    #[test]
    fn mutants_differ_and_repeat() {
        let good = boxed(b"moov", &[&boxed(b"trak", &[&[7; 50]]), &boxed(b"mdat", &[&[9; 500]])]);
        let mutator = Mutator::of_boxes(&good);
        let (mut rng, mut again) = (Rng::new(1), Rng::new(1));
        let mut changed = 0;
        for _ in 0..1000 {
            let mutant = mutator.mutant(&mut rng);
            assert_eq!(mutant, mutator.mutant(&mut again));
            changed += usize::from(mutant != good);
        }
        assert!(changed > 900, "{changed}");
    }

    #[test]
    fn changes_stay_near_the_head() {
        let good = [7; 1000];
        let mutator = Mutator::of_head(&good, 10);
        let mut rng = Rng::new(1);
        let near = (0..1000)
            .filter(|_| {
                let mutant = mutator.mutant(&mut rng);
                mutant.iter().zip(&good).position(|(a, b)| a != b).is_some_and(|at| at < 10)
            })
            .count();
        assert!(near > 600, "{near}");
    }

    #[test]
    fn very_short_inputs_are_no_trouble() {
        let mut rng = Rng::new(2);
        for good in [&[][..], &[1], &[1, 2, 3]] {
            for _ in 0..1000 {
                assert!(!Mutator::of_head(good, 8).mutant(&mut rng).is_empty());
            }
        }
    }
}
