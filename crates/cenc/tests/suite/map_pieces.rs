//! Maps of access units that come in pieces: the same as of units in memory, from a small part of
//! their bytes.

use crate::map_support::bits::{Bits, avcc, hvcc, unit};
use crate::map_support::mp4::Clip;
use crate::map_support::tiny::{tiny_avcc, tiny_slice, tiny_sps};
use crate::map_support::{avc, hevc, mapper_of, seeds};
use core::ops::Range;
use lanelock_cenc::map::{Alignment, MapError, Mapper, Subsample, UnitBytes};
use lanelock_testkit::{Mutator, Rng, Watchdog, longest_clip, mutants};

const MUTANTS: usize = 20_000;
const EXACT: Alignment = Alignment::Exact;

/// Hands out copies of what is asked for, each by itself, and keeps a list.
struct Pieces<'u> {
    unit: &'u [u8],
    head: usize,
    piece: Vec<u8>,
    asked: Vec<Range<usize>>,
    /// How many pieces can be had.
    limit: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PieceError {
    Map(MapError),
    /// The number of the piece.
    Read(usize),
}

impl From<MapError> for PieceError {
    fn from(error: MapError) -> Self {
        Self::Map(error)
    }
}

impl<'u> Pieces<'u> {
    const fn new(unit: &'u [u8], head: usize) -> Self {
        Self { unit, head, piece: Vec::new(), asked: Vec::new(), limit: usize::MAX }
    }

    fn bytes(&self) -> usize {
        self.asked.iter().map(Range::len).sum()
    }
}

impl UnitBytes for Pieces<'_> {
    type Error = PieceError;

    fn len(&self) -> usize {
        self.unit.len()
    }

    fn head(&self) -> usize {
        self.head
    }

    fn get(&mut self, range: Range<usize>) -> Result<&[u8], PieceError> {
        if self.asked.len() == self.limit {
            return Err(PieceError::Read(self.limit));
        }
        self.piece = self.unit[range.clone()].to_vec();
        self.asked.push(range);
        Ok(&self.piece)
    }
}

/// A mapper that maps every unit twice, whole and in pieces, and compares.
struct Both {
    whole: Mapper,
    pieces: Mapper,
}

impl Both {
    fn new(mapper: Mapper) -> Self {
        Self { pieces: mapper.clone(), whole: mapper }
    }

    fn of(clip: &Clip) -> Self {
        Self::new(crate::map_support::mapper(clip))
    }

    /// The map, and the ranges that were asked for.
    fn map(
        &mut self,
        unit: &[u8],
        head: usize,
        rule: Alignment,
    ) -> (Result<Vec<Subsample>, MapError>, Vec<Range<usize>>) {
        let mut want = Vec::new();
        let result = self.whole.map(unit, rule, &mut want);
        let mut got = Vec::new();
        let mut reader = Pieces::new(unit, head);
        let pieces = self.pieces.map_bytes(&mut reader, rule, &mut got);
        assert_eq!(pieces, result.map_err(PieceError::Map), "head {head}: {unit:02x?}");
        assert_eq!(got, want, "head {head}: {unit:02x?}");
        (result.map(|_| want), reader.asked)
    }

    /// Whether both hold the same parameter sets.
    fn assert_same_state(&self) {
        assert_eq!(format!("{:?}", self.pieces), format!("{:?}", self.whole));
    }
}

#[test]
fn clips_and_written_streams() {
    let mut rng = Rng::from_env("pieces_of_clips");
    for clip in seeds(&mut rng) {
        for head in [0, 1, 2, 5, 16, 64, 256, usize::MAX] {
            let mut both = Both::of(&clip);
            for unit in &clip.units {
                let (map, _) = both.map(unit, head, EXACT);
                assert!(map.is_ok(), "{map:?}");
            }
            both.assert_same_state();
        }
    }
}

#[test]
fn random_headers_at_every_border() {
    let mut rng = Rng::from_env("pieces_of_random_headers");
    let mut escaped = 0;
    for round in 0..150 {
        let sets = avc::Sets::random(&mut rng, round % 4 == 0);
        let kind = *rng.pick(&[1, 2, 5]);
        let (a, clear) = sets.slice(&mut rng, kind);
        escaped += usize::from(a[..clear].windows(3).any(|bytes| bytes == [0, 0, 3]));
        let avc = (Mapper::avc(&avcc(&[&sets.sps], &[&sets.pps])), a, clear);
        let sets = hevc::Sets::random(&mut rng, round % 3 == 0);
        let (a, clear) = sets.slice(&mut rng);
        escaped += usize::from(a[..clear].windows(3).any(|bytes| bytes == [0, 0, 3]));
        let hevc = (Mapper::hevc(&hvcc(&[&sets.sps], &[&sets.pps])), a, clear);
        for (mapper, slice, clear) in [avc, hevc] {
            let mut both = Both::new(mapper.expect("written by the syntax"));
            let unit = unit(&[&slice, &slice]);
            for head in 0..=slice.len() {
                let (map, asked) = both.map(&unit, head, EXACT);
                assert!(map.is_ok(), "{map:?}");
                assert_eq!(asked.len() == 2, head >= clear, "{asked:?} for {clear} bytes");
            }
        }
    }
    assert!(escaped > 30, "the walk meets emulation prevention");
}

#[test]
fn damaged_units() {
    let mut rng = Rng::from_env("pieces_of_damaged_units");
    let clips = seeds(&mut rng);
    let watchdog = Watchdog::new();
    let (mut mapped, mut refused) = (0, 0);
    let total = mutants(MUTANTS);
    for number in 0..total {
        if number % 256 == 0 {
            watchdog.begins(format!("mutant {number} or one of the next 255"));
        }
        let clip = rng.pick(&clips);
        let mut configuration = clip.configuration.clone();
        if rng.one_in(4) {
            configuration = Mutator::of_head(&configuration, usize::MAX).mutant(&mut rng);
        }
        let mapper = mapper_of(clip.codec, &configuration);
        let Ok(mapper) = mapper else { continue };
        let mut both = Both::new(mapper);
        // Parameter sets that a damaged unit leaves behind apply to the next one.
        for _ in 0..2 {
            let unit: &Vec<u8> = rng.pick(&clip.units);
            let unit = Mutator::of_head(unit, 64).mutant(&mut rng);
            let rule = *rng.pick(&[Alignment::Exact, Alignment::Blocks]);
            let head = *rng.pick(&[0, 1, 2, 3, 4, 8, 13, 32, 100, 256]);
            match both.map(&unit, head, rule).0 {
                Ok(_) => mapped += 1,
                Err(_) => refused += 1,
            }
        }
        both.assert_same_state();
    }
    eprintln!("{mapped} units mapped, {refused} refused");
    assert!(mapped > total / 20 && refused > total / 20, "both outcomes are met");
}

#[test]
fn a_small_part_of_a_large_unit() {
    let slice = tiny_slice(1 << 20);
    let message = [&[6, 5][..], &vec![0xaa; 70_000]].concat();
    let sps = tiny_sps(4);
    let unit = unit(&[&[9, 0xf0], &sps, &message, &slice, &slice, &slice]);
    let mut both = Both::new(tiny());
    let (map, asked) = both.map(&unit, 256, EXACT);
    assert_eq!(map.map(|entries| entries.len()), Ok(4));
    assert_eq!(asked.len(), 6, "once for each NAL unit: {asked:?}");
    assert!(asked.iter().all(|range| range.len() == 4 + 256), "{asked:?}");
    let mut next = 0;
    for range in asked {
        assert_eq!(range.start, next, "at its length field");
        let length: [u8; 4] = unit[next..next + 4].try_into().expect("four bytes");
        next += 4 + u32::from_be_bytes(length) as usize;
    }
    assert_eq!(next, unit.len());
}

#[test]
fn heads_of_frames_and_sizes_of_tiles() {
    for name in ["av1.mp4", "av1_tiles.mp4", "vp9.mp4"] {
        let clip = Clip::read(&longest_clip(name));
        let mut both = Both::of(&clip);
        for unit in &clip.units {
            let (map, asked) = both.map(unit, 64, EXACT);
            let tiles = map.expect("good").iter().filter(|entry| entry.protected > 0).count();
            // A header and a head for each OBU, the size of each tile; the index of a superframe.
            assert!(asked.len() <= 10 + 2 * tiles, "{name}: {asked:?}");
            assert!(asked.iter().all(|range| range.len() <= 128), "{name}: {asked:?}");
        }
    }
}

#[test]
fn nothing_of_a_full_sample() {
    let mut reader = Pieces::new(&[7; 5000], 256);
    let mut out = Vec::new();
    assert_eq!(Mapper::full_sample().map_bytes(&mut reader, EXACT, &mut out), Ok(0));
    assert_eq!((reader.bytes(), out.len()), (0, 0));
}

#[test]
fn headers_longer_than_the_head() {
    let (slice, clear) = long_slice();
    assert!(clear > 2 * 256, "{clear}");
    let long = [&slice[..], &vec![0x5a; 100_000]].concat();
    let mut both = Both::new(weighting());
    let long_unit = unit(&[&long, &slice]);
    let second = 4 + long.len();
    let (map, asked) = both.map(&long_unit, 256, EXACT);
    assert_eq!(map.map(|entries| entries.len()), Ok(2));
    let doubled = [0..260, 0..520, 0..1040];
    let whole = [260, 520, 4 + slice.len()].map(|len| second..second + len);
    assert_eq!(asked, [doubled, whole].concat());

    // Cut anywhere, it is the whole NAL unit that ends inside its header.
    for len in 1..clear {
        let unit = unit(&[&slice[..len]]);
        let (map, asked) = both.map(&unit, 256, EXACT);
        assert!(matches!(map, Err(MapError::TruncatedHeader { .. })), "{len}: {map:?}");
        assert_eq!(asked.last().expect("asked").end, unit.len(), "{len}");
    }
}

#[test]
fn long_parameter_sets() {
    // A picture parameter set with a group of one bit for each of 5600 units of the picture.
    let mut pps = Bits::new();
    pps.ues(&[0, 0]).flags(&[1, 0]).ues(&[1, 6, 8 * 700 - 1]);
    (0..700).for_each(|_| {
        pps.u(8, 0x5a);
    });
    pps.ues(&[0, 0]).u(3, 0).se(0).se(0).se(0).flags(&[0, 0, 0]);
    let pps = pps.stop().nal(&[0x68], &[]);
    let (slice, cut) = (tiny_slice(20), &pps[..500]);
    let mut both = Both::new(Mapper::avc(&avcc(&[&tiny_sps(4)], &[])).expect("good"));
    assert!(both.map(&unit(&[cut, &slice]), 256, EXACT).0.is_err());
    both.assert_same_state();
    assert!(both.map(&unit(&[&slice]), 256, EXACT).0.is_err(), "the cut set is not learnt");
    assert!(both.map(&unit(&[&pps, &slice]), 256, EXACT).0.is_ok());
    both.assert_same_state();
}

#[test]
fn readers_that_fail() {
    let (slice, _) = long_slice();
    let unit = unit(&[&tiny_sps(4), &slice, &slice, &tiny_slice(300)]);
    let mut reader = Pieces::new(&unit, 256);
    let mut out = vec![Subsample { clear: 1, protected: 2 }];
    let before = out.clone();
    weighting().map_bytes(&mut reader, EXACT, &mut out).expect("all pieces can be had");
    let pieces = reader.asked.len();
    assert!(pieces > 4, "some are asked for twice: {:?}", reader.asked);
    for limit in 0..pieces {
        let mut reader = Pieces { limit, ..Pieces::new(&unit, 256) };
        out.clone_from(&before);
        let result = weighting().map_bytes(&mut reader, EXACT, &mut out);
        assert_eq!(result, Err(PieceError::Read(limit)));
        assert_eq!(out, before);
    }
}

#[test]
fn too_many_entries() {
    let unit = unit(&vec![tiny_slice(20).as_slice(); 43]);
    let error = MapError::TooManyEntries { entries: 43, limit: 42 };
    assert_eq!(Both::new(tiny()).map(&unit, 256, EXACT).0, Err(error));
}

fn tiny() -> Mapper {
    Mapper::avc(&tiny_avcc()).expect("good")
}

/// A mapper for [`long_slice`] and for tiny slices.
fn weighting() -> Mapper {
    let mut pps = Bits::new();
    pps.ues(&[1, 0]).flags(&[1, 0]).ues(&[0, 0, 0]).flag(true).u(2, 0);
    let pps = pps.se(0).se(0).se(0).flags(&[0, 0, 0]).stop().nal(&[0x68], &[]);
    let mut mapper = tiny();
    let mut out = Vec::new();
    mapper.map(&unit(&[&pps]), EXACT, &mut out).expect("good");
    mapper
}

/// A P slice with 32 references, all of them moved and weighted, and the length of its header.
fn long_slice() -> (Vec<u8>, usize) {
    let mut bits = Bits::new();
    // first_mb_in_slice, slice_type 0, PPS 1, frame_num, override of the number of references
    bits.ues(&[0, 0, 1]).u(4, 0).flag(true).ue(31).flag(true);
    for _ in 0..32 {
        bits.ues(&[0, 40_000]);
    }
    bits.ues(&[3, 0, 0]);
    for _ in 0..32 {
        bits.flag(true).se(-128).se(-128).flag(true).se(-128).se(-128).se(-128).se(-128);
    }
    bits.ue(0).se(0); // cabac_init_idc, slice_qp_delta
    let header = bits.len();
    (bits.ones().nal(&[0x01], &[0xff; 200]), 1 + bits.escaped_len(header))
}
