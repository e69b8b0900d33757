//! What decrypted AVC and HEVC slices can never hold.
//!
//! The headers that a wrong key would destroy are clear, so the evidence is what an encoder must not
//! write: three bytes that look like a start code, an emulation prevention byte with nothing to
//! prevent, a zero byte at the end of a NAL unit (ITU-T H.264 and H.265, 7.4.1 and 7.4.2), and an
//! arithmetic decoder that starts with an offset of 510 or 511 (H.264 9.3.1.2, H.265 9.3.2.5). A
//! right key leaves none of them in a conforming stream. Noise has them now and then, and how often
//! is known.

use std::ops::Range;

use lanelock_cenc::{
    Scheme,
    map::{Alignment, Mapper, Subsample},
};
use lanelock_mp4::SampleEntry;

use super::{
    noise::SeenNoise,
    runs::{BLOCK, CryptRuns},
};

/// What is known of a track of AVC or HEVC, and of how it is encrypted.
#[derive(Debug)]
pub(super) struct NalRules {
    /// Bytes of the length before each NAL unit.
    length_size: usize,
    /// Finds slice data; none if the parameter sets cannot be read.
    mapper: Option<Mapper>,
    runs: CryptRuns,
    /// Whether protection begins with slice data, whatever their length.
    exact: bool,
    /// Where equal slices may be encrypted alike: what was looked at so far.
    seen: Option<SeenNoise>,
}

/// What was looked at, and what was found in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NalEvidence {
    /// Bytes that were decrypted.
    pub(super) bytes: u64,
    /// Start codes, and emulation prevention bytes that prevent nothing.
    pub(super) codes: u64,
    /// NAL units whose last byte was decrypted.
    pub(super) ends: u64,
    /// Those that end in a zero byte.
    pub(super) zero_ends: u64,
    /// Slices whose first byte of data was decrypted and is known to be CABAC's.
    pub(super) starts: u64,
    /// Those that begin with an offset of 510 or 511.
    pub(super) bad_starts: u64,
}

impl NalEvidence {
    pub(super) fn add(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.codes += other.codes;
        self.ends += other.ends;
        self.zero_ends += other.zero_ends;
        self.starts += other.starts;
        self.bad_starts += other.bad_starts;
    }

    /// Without the ends, if so many are zero that the encoder must have padded: noise has one of 256.
    pub(super) fn without_padding(mut self) -> Self {
        if self.zero_ends >= 2 && self.zero_ends > self.ends / 16 {
            (self.ends, self.zero_ends) = (0, 0);
        }
        self
    }

    /// All that cannot be.
    pub(super) fn impossible(&self) -> u64 {
        self.codes + self.zero_ends + self.bad_starts
    }

    /// How much of that noise would hold: at each byte the values 00 00 00, 00 00 01, 00 00 02 and
    /// 00 00 03 with a byte above 03 behind it; at each end and each start one byte of 256 values.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn expected(&self) -> f64 {
        (3.0 + 252.0 / 256.0) / f64::from(1 << 24) * self.bytes as f64
            + (self.ends + self.starts) as f64 / 256.0
    }
}

impl NalRules {
    /// None if the entry is of another codec, or cannot be read.
    pub(super) fn new(
        entry: &SampleEntry,
        scheme: Scheme,
        runs: CryptRuns,
        seen: Option<SeenNoise>,
    ) -> Option<Self> {
        let config = entry.config.as_ref()?;
        let mapper = match &config.kind.0 {
            b"avcC" => Mapper::avc(&config.data),
            b"hvcC" => Mapper::hevc(&config.data),
            _ => return None,
        };
        let length_size = usize::from(entry.nal_length_size()?);
        let mapper = mapper.ok().map(|mapper| mapper.with_max_entries(usize::MAX));
        let exact = scheme.alignment() == Alignment::Exact;
        Some(Self { length_size, mapper, runs, exact, seen })
    }

    /// A mapper for the units of a piece. Parameter sets among the units change it.
    pub(super) fn mapper(&self) -> Option<Mapper> {
        self.mapper.clone()
    }

    /// Whether noise that comes again is told from new noise.
    pub(super) fn tells_repeats(&self) -> bool {
        self.seen.is_some()
    }

    /// Whether nearly every slice shows where its data begin, and whether they are CABAC's.
    pub(super) fn finds_starts(&self) -> bool {
        self.exact && self.mapper.as_ref().is_some_and(Mapper::is_cabac)
    }

    /// Whether the length of the first NAL unit was encrypted, which it is only in units without
    /// subsamples.
    pub(super) fn is_opaque(&self, subsamples: &[Subsample]) -> bool {
        subsamples.first().is_none_or(|s| usize::from(s.clear) < self.length_size)
    }

    /// Whether NAL units fill `unit` exactly.
    pub(super) fn is_whole(&self, unit: &[u8]) -> bool {
        let mut at = 0;
        while at < unit.len() {
            match self.next(unit, at) {
                Some(nal) => at = nal.end,
                None => return false,
            }
        }
        true
    }

    /// The NAL unit whose length is at `at`.
    fn next(&self, unit: &[u8], at: usize) -> Option<Range<usize>> {
        let start = at.checked_add(self.length_size)?;
        let length = unit.get(at..start)?.iter().fold(0, |n, &byte| n << 8 | usize::from(byte));
        let end = start.checked_add(length).filter(|&end| end <= unit.len())?;
        Some(start..end)
    }

    /// Looks at a decrypted access unit. `mapper` finds slice data, if that is to be done.
    pub(super) fn look(
        &self,
        unit: &[u8],
        subsamples: &[Subsample],
        mapper: Option<&mut Mapper>,
        scratch: &mut Vec<Subsample>,
        found: &mut NalEvidence,
    ) {
        let data = mapper.and_then(|mapper| {
            scratch.clear();
            mapper.map(unit, Alignment::Exact, scratch).ok()?;
            mapper.is_cabac().then_some(&scratch[..])
        });
        let mut slices = protected(data.unwrap_or_default()).peekable();
        let mut nal = 0..0;
        for range in protected(subsamples) {
            // The NAL unit that the range lies in. Ranges over several would hold length fields.
            while nal.end <= range.start {
                match self.next(unit, nal.end) {
                    Some(next) => nal = next,
                    None => return,
                }
            }
            if range.start < nal.start || range.end > nal.end {
                continue;
            }
            let mut bytes = &unit[range.clone()];
            let mut here = NalEvidence::default();
            if range.end == nal.end {
                let zero = bytes.last() == Some(&0);
                if self.runs.covers_last(bytes.len()) {
                    here.ends += 1;
                    here.zero_ends += u64::from(zero);
                }
                // Some encoders pad with zeros that are not part of the NAL unit.
                if zero {
                    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                    bytes = &bytes[..end];
                }
            }
            self.scan(bytes, range.len(), &mut here);
            let last = self.runs.last_block(range.len());
            if self.is_new(last.end, &unit[range.clone()][last]) {
                found.add(&here);
            }
            while slices.next_if(|slice| slice.start < range.start).is_some() {}
            if slices.next_if_eq(&range).is_some() && self.runs.covers_first(range.len()) {
                let first = &unit[range.clone()][..range.len().min(BLOCK)];
                if self.is_new(0, first) {
                    found.starts += 1;
                    // The offset has 9 bits: 510 and 511 are those that begin with eight ones. No
                    // emulation prevention byte is taken for them, which is 03.
                    found.bad_starts += u64::from(unit[range.start] == 0xff);
                }
            }
        }
    }

    /// Whether noise whose last block ends at this position of a range was not there before; 0 says that
    /// it is about the start alone.
    fn is_new(&self, position: usize, block: &[u8]) -> bool {
        self.seen.as_ref().is_none_or(|seen| seen.is_new(position, block))
    }

    /// Counts start codes and the like in a protected range of `len` bytes without its padding, where
    /// it was decrypted and up to three bytes beside that.
    fn scan(&self, range: &[u8], len: usize, found: &mut NalEvidence) {
        found.bytes += self.runs.bytes(range.len()) as u64;
        for run in self.runs.of(len).take_while(|run| run.start < range.len()) {
            let end = run.end.min(range.len());
            // Short runs are many, and one of 16 bytes seldom has a zero.
            if run.len() <= SHORT && !has_zero(&range[run.start..end]) {
                continue;
            }
            let around = run.start.saturating_sub(3)..range.len().min(end + 3);
            for window in Windows(&range[around]) {
                if has_two_zeros(window) {
                    found.codes += codes(window);
                }
            }
        }
    }
}

/// Bytes of a short run.
const SHORT: usize = 64;

/// Pieces of a run that overlap by three bytes: small enough that looking closer at one is cheap.
struct Windows<'a>(&'a [u8]);

/// Bytes of a window that has a successor.
const WINDOW: usize = 4096;

impl<'a> Iterator for Windows<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let window = &self.0[..self.0.len().min(WINDOW)];
        self.0 = if window.len() < WINDOW { &[] } else { &self.0[WINDOW - 3..] };
        Some(window)
    }
}

/// Whether a byte is zero, of blocks of 16: subtracting one borrows from the high bit of the first zero.
fn has_zero(bytes: &[u8]) -> bool {
    const ONES: u128 = u128::MAX / 255;
    let (blocks, rest) = bytes.as_chunks::<16>();
    let zero = |block: &[u8; 16]| {
        let block = u128::from_le_bytes(*block);
        block.wrapping_sub(ONES) & !block & (ONES << 7) != 0
    };
    !rest.is_empty() || blocks.iter().any(zero)
}

/// Whether two zero bytes stand side by side. Without early exit, so that it becomes vector code: the
/// smallest of `a | b` is 0.
fn has_two_zeros(bytes: &[u8]) -> bool {
    let Some(later) = bytes.get(1..) else { return false };
    bytes.iter().zip(later).fold(u8::MAX, |least, (a, b)| least.min(a | b)) == 0
}

/// How many places there are that begin with a code. A window that has a successor leaves its last three
/// places to that.
fn codes(bytes: &[u8]) -> u64 {
    let places = if bytes.len() == WINDOW { WINDOW - 3 } else { bytes.len() };
    (0..places).filter(|&at| is_code(&bytes[at..])).count() as u64
}

/// Whether bytes begin with a start code (00 00 00, 00 00 01), 00 00 02, or 00 00 03 before a byte above
/// 03.
fn is_code(bytes: &[u8]) -> bool {
    match bytes {
        [0, 0, 0..=2, ..] => true,
        [0, 0, 3, next, ..] => *next > 3,
        _ => false,
    }
}

/// The protected ranges of a unit; empty ones are left out.
fn protected(subsamples: &[Subsample]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    subsamples.iter().filter_map(move |s| {
        let start = at + usize::from(s.clear);
        at = start + s.protected as usize;
        (s.protected > 0).then_some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanelock_testkit::Rng;

    #[test]
    fn places_that_cannot_be() {
        for (bytes, count) in [
            (&[1, 0, 0, 1][..], 1),
            (&[0, 0, 0, 0], 2),
            (&[0, 0, 2], 1),
            (&[0, 0, 3], 0),
            (&[0, 0, 3, 3, 0, 0, 3, 0, 0, 3, 1], 0),
            (&[0, 0, 3, 4], 1),
            (&[9, 0, 0, 4], 0),
            (&[0, 0], 0),
            (&[], 0),
        ] {
            assert_eq!(codes(bytes), count, "{bytes:?}");
            assert_eq!(has_zero(&bytes.repeat(16)), bytes.contains(&0));
            assert_eq!(has_two_zeros(bytes), bytes.windows(2).any(|w| w == [0, 0]), "{bytes:?}");
        }
    }

    /// Windows find all places of a run, none twice.
    #[test]
    fn windows_overlap() {
        let mut rng = Rng::from_env("windows_overlap");
        let mut total = 0;
        for _ in 0..200 {
            let mut bytes = vec![0; rng.below(9000)];
            rng.fill(&mut bytes);
            for byte in &mut bytes {
                *byte &= 0x83;
            }
            let windows = || Windows(&bytes);
            assert!(windows().all(|window| window.len() <= WINDOW));
            let found: u64 = windows().map(codes).sum();
            let all = (0..bytes.len()).filter(|&at| is_code(&bytes[at..])).count();
            assert_eq!(found, all as u64, "{}", bytes.len());
            total += found;
        }
        assert!(total > 1000);
    }

    /// NAL units behind lengths of one byte, of which all but the first byte is protected.
    fn found(units: &[&[u8]]) -> NalEvidence {
        let runs = CryptRuns::new(Scheme::Cenc, 0, 0);
        let nal = NalRules { length_size: 1, mapper: None, runs, exact: false, seen: None };
        let (mut unit, mut subsamples) = (Vec::new(), Vec::new());
        for bytes in units {
            unit.push(u8::try_from(bytes.len()).unwrap());
            unit.extend_from_slice(bytes);
            let protected = u32::try_from(bytes.len() - 1).unwrap();
            subsamples.push(Subsample { clear: 2, protected });
        }
        assert!(nal.is_whole(&unit) && !nal.is_whole(&unit[..unit.len() - 1]));
        assert!(nal.is_opaque(&[]) && !nal.is_opaque(&subsamples));
        let mut found = NalEvidence::default();
        nal.look(&unit, &subsamples, None, &mut Vec::new(), &mut found);
        found
    }

    #[test]
    fn ends_and_padding() {
        let sound = found(&[&[1, 2, 3, 4], &[1, 0, 0, 3, 1, 5]]);
        assert_eq!((sound.bytes, sound.ends, sound.impossible()), (8, 2, 0));
        let noise = found(&[&[1, 0, 0, 1, 4], &[1, 7, 0]]);
        assert_eq!((noise.codes, noise.zero_ends), (1, 1));
        // A start code that reaches into the next length is none.
        assert_eq!(found(&[&[1, 7, 0, 0, 9], &[1, 2, 3]]).impossible(), 0);
        // Zeros behind each NAL unit: an encoder that pads, rather than noise.
        let padded = found(&[&[1, 7, 0, 0, 0, 0][..]; 5]);
        assert_eq!((padded.codes, padded.zero_ends), (0, 5));
        assert_eq!(padded.without_padding().impossible(), 0);
        assert!(padded.without_padding().expected() < 0.01);
        let two = NalEvidence { ends: 2, zero_ends: 2, ..NalEvidence::default() };
        assert_eq!(two.without_padding().impossible(), 0);
        let few = NalEvidence { ends: 1000, zero_ends: 4, ..NalEvidence::default() };
        assert_eq!(few.without_padding(), few);
    }

    /// A range over several NAL units is passed over: it holds their lengths.
    #[test]
    fn ranges_across_units() {
        let runs = CryptRuns::new(Scheme::Cenc, 0, 0);
        let nal = NalRules { length_size: 2, mapper: None, runs, exact: false, seen: None };
        let unit = [0, 2, 1, 9, 0, 0, 0, 1, 7];
        let mut found = NalEvidence::default();
        for subsamples in [
            &[Subsample { clear: 3, protected: 6 }][..],
            &[Subsample { clear: 3, protected: 100 }],
            &[Subsample { clear: 900, protected: 1 }],
        ] {
            nal.look(&unit, subsamples, None, &mut Vec::new(), &mut found);
        }
        assert_eq!(found, NalEvidence::default());
    }
}
