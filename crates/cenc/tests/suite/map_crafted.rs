//! Maps of hand-made streams, whose slice header lengths are known because a bit writer made them:
//! random walks through the syntax tables, and single cases for what must be refused.

use crate::map_support::bits::{self, avcc, hvcc, unit};
use crate::map_support::mp4::{Clip, Codec};
use crate::map_support::opinion::Opinion;
use crate::map_support::tiny::{tiny_avcc, tiny_pps, tiny_slice, tiny_sps};
use crate::map_support::{avc, hevc, map};
use lanelock_cenc::map::{
    Alignment, MapError, Mapper, ParameterSet, Subsample, UnitPlace, max_entries,
};
use lanelock_testkit::Rng;

const EXACT: Alignment = Alignment::Exact;

#[test]
fn random_avc_headers() {
    let mut rng = Rng::from_env("random_avc_headers");
    let mut tally = Tally::default();
    for round in 0..4000 {
        let sets = avc::Sets::random(&mut rng, round % 4 == 0);
        let configuration = avcc(&[&sets.sps], &[&sets.pps]);
        let slices: Vec<_> = [1, 5, 1].map(|kind| sets.slice(&mut rng, kind)).into();
        tally.check(Codec::Avc, configuration.clone(), &slices, !sets.slice_groups);
        if round % 4 == 1 {
            let partitions =
                [sets.slice(&mut rng, 2), sets.partition(&mut rng, 3), sets.partition(&mut rng, 4)];
            tally.check(Codec::Avc, configuration, &partitions, false);
        }
    }
    tally.report();
}

#[test]
fn random_hevc_headers() {
    let mut rng = Rng::from_env("random_hevc_headers");
    let mut tally = Tally::default();
    for round in 0..4000 {
        let sets = hevc::Sets::random(&mut rng, round % 3 == 0);
        let slices: Vec<_> = (0..4).map(|_| sets.slice(&mut rng)).collect();
        tally.check(Codec::Hevc, hvcc(&[&sets.sps], &[&sets.pps]), &slices, !sets.misread_by_cros);
    }
    tally.report();
}

/// What the random walks met.
#[derive(Default)]
struct Tally {
    slices: usize,
    escaped: usize,
    second_opinions: usize,
    refusals: usize,
}

impl Tally {
    fn check(
        &mut self,
        codec: Codec,
        configuration: Vec<u8>,
        slices: &[(Vec<u8>, usize)],
        ask: bool,
    ) {
        let nals: Vec<_> = slices.iter().map(|slice| slice.0.as_slice()).collect();
        let want: Vec<_> = slices
            .iter()
            .map(|(nal, clear)| Subsample {
                clear: u16::try_from(4 + clear).expect("short"),
                protected: u32::try_from(nal.len() - clear).expect("short"),
            })
            .collect();
        let clip = Clip { codec, configuration, units: vec![unit(&nals)] };
        let mut mapper = crate::map_support::mapper(&clip);
        assert_eq!(map(&mut mapper, &clip.units[0], EXACT), Ok(want.clone()), "{clip:02x?}");
        self.slices += slices.len();
        self.escaped += slices
            .iter()
            .filter(|(nal, clear)| nal[..*clear].windows(3).any(|w| w == [0, 0, 3]))
            .count();
        if ask {
            match Opinion::new(&clip).and_then(|mut cros| cros.map(&clip.units[0])) {
                Ok(theirs) => {
                    assert_eq!(theirs, want, "cros-codecs (left) disagrees: {clip:02x?}");
                    self.second_opinions += slices.len();
                }
                Err(_) => self.refusals += slices.len(),
            }
        }
    }

    fn report(&self) {
        eprintln!(
            "{} slices, {} with emulation prevention in the header, {} confirmed by cros-codecs; {} refused",
            self.slices, self.escaped, self.second_opinions, self.refusals
        );
        assert!(self.escaped > self.slices / 20, "the walk meets emulation prevention");
    }
}

#[test]
fn short_slices() {
    let mut mapper = tiny_avc();
    for (data, exact, blocks) in [
        (0, &[(7, 0)][..], &[(7, 0)][..]),
        (1, &[(7, 1)], &[(8, 0)]),
        (15, &[(7, 15)], &[(22, 0)]),
        (16, &[(7, 16)], &[(7, 16)]),
        (47, &[(7, 47)], &[(22, 32)]),
    ] {
        let unit = unit(&[&tiny_slice(data)]);
        assert_eq!(entries(&mut mapper, &unit, EXACT), Ok(exact.to_vec()), "{data}");
        assert_eq!(entries(&mut mapper, &unit, Alignment::Blocks), Ok(blocks.to_vec()), "{data}");
    }
}

#[test]
fn clear_units_join_the_next_slice() {
    let slice = tiny_slice(100);
    let sei = [&[6, 5][..], &vec![0xaa; 69_993]].concat();
    let unit = unit(&[&[9, 0xf0], &sei, &slice, &slice, &[12, 0xff]]);
    let want = [(65_535, 0), (4_477, 100), (7, 100), (6, 0)];
    assert_eq!(entries(&mut tiny_avc(), &unit, EXACT), Ok(want.to_vec()));
}

#[test]
fn zero_length_units_and_padding_are_refused() {
    let slice = tiny_slice(20);
    let good = unit(&[&slice]);
    let place = place(1, good.len());
    for (tail, error) in [
        (&[0, 0, 0, 0][..], MapError::Empty { place }),
        (&[0, 0], MapError::LengthTruncated { place, left: 2 }),
        (&[0, 0, 0, 2, 9], MapError::LengthBeyondUnit { place, length: 2, left: 1 }),
    ] {
        let padded = [&good, tail].concat();
        assert_eq!(entries(&mut tiny_avc(), &padded, EXACT), Err(error));
    }
    assert_eq!(entries(&mut tiny_avc(), &[], EXACT), Ok(vec![]));
}

#[test]
fn length_sizes() {
    let slice = tiny_slice(30);
    for (field, head) in [(0, &[33][..]), (1, &[0, 33]), (3, &[0, 0, 0, 33])] {
        let mut configuration = tiny_avcc();
        configuration[4] = 0xfc | field;
        let mut mapper = Mapper::avc(&configuration).expect("good");
        let unit = [head, &slice].concat();
        let clear = u16::try_from(head.len()).expect("short") + 3;
        assert_eq!(entries(&mut mapper, &unit, EXACT), Ok(vec![(clear, 30)]));
    }
    let mut configuration = tiny_avcc();
    configuration[4] = 0xfe;
    assert_eq!(Mapper::avc(&configuration).err(), Some(MapError::LengthSize(3)));
}

#[test]
fn sets_in_the_unit_take_effect_where_they_stand() {
    // The second set has frame_num of 16 bits, so the same slice is read differently behind it.
    let slice = tiny_slice(40);
    let wide = tiny_sps(16);
    let mut mapper = tiny_avc();
    let changed = unit(&[&slice, &wide, &slice]);
    let sps = u16::try_from(wide.len()).expect("short");
    assert_eq!(entries(&mut mapper, &changed, EXACT), Ok(vec![(7, 40), (4 + sps + 9, 38)]));
    assert_eq!(entries(&mut mapper, &unit(&[&slice]), EXACT), Ok(vec![(9, 38)]), "it stays");
    let narrow = tiny_sps(4);
    let sps = u16::try_from(narrow.len()).expect("short");
    let back = unit(&[&narrow, &slice]);
    assert_eq!(entries(&mut mapper, &back, EXACT), Ok(vec![(4 + sps + 7, 40)]));
}

#[test]
fn missing_sets() {
    let missing = |kind| MapError::MissingParameterSet { place: place(0, 0), kind, id: 0 };
    let unit = unit(&[&tiny_slice(9)]);
    let mut none = Mapper::avc(&avcc(&[], &[])).expect("empty records are good (avc3)");
    assert_eq!(entries(&mut none, &unit, EXACT), Err(missing(ParameterSet::Picture)));
    let mut no_sps = Mapper::avc(&avcc(&[], &[&tiny_pps()])).expect("good");
    assert_eq!(entries(&mut no_sps, &unit, EXACT), Err(missing(ParameterSet::Sequence)));
    let mut hevc = Mapper::hevc(&hvcc(&[], &[])).expect("empty records are good (hev1)");
    let slice = bits::unit(&[&[2, 1, 0xd0, 0x80, 0x80]]);
    assert_eq!(entries(&mut hevc, &slice, EXACT), Err(missing(ParameterSet::Picture)));
}

#[test]
fn what_is_not_read_is_refused() {
    let slice = tiny_slice(20);
    for kind in [19, 20, 21] {
        let other = [&[0x60 | kind], &slice[1..]].concat();
        let error = entries(&mut tiny_avc(), &unit(&[&slice, &other]), EXACT);
        let at = place(1, 4 + slice.len());
        assert!(matches!(error, Err(MapError::Unsupported { place, .. }) if place == at), "{kind}");
    }
    let mut hevc = Mapper::hevc(&hvcc(&[], &[])).expect("good");
    for head in [[2, 9], [3, 1], [10 << 1, 1], [22 << 1, 1], [31 << 1, 1]] {
        let error = entries(&mut hevc, &unit(&[&[head[0], head[1], 0xd0]]), EXACT);
        assert!(matches!(error, Err(MapError::Unsupported { .. })), "{head:?}");
    }
    for (head, field) in [([0x82, 1], "forbidden_zero_bit"), ([2, 8], "nuh_temporal_id_plus1")] {
        let error = MapError::Invalid { place: place(0, 0), field };
        assert_eq!(entries(&mut hevc, &unit(&[&[head[0], head[1], 0xd0]]), EXACT), Err(error));
    }
}

#[test]
fn broken_headers_leave_nothing_behind() {
    let good = tiny_slice(20);
    let mut cut = good.clone();
    cut.truncate(2);
    let mut misaligned = good.clone();
    misaligned[2] &= 0xfe;
    let at = place(1, 4 + good.len());
    for (bad, error) in [
        (cut, MapError::TruncatedHeader { place: at }),
        (misaligned, MapError::Invalid { place: at, field: "cabac_alignment_one_bit" }),
        (vec![0x65, 0x8b], MapError::Invalid { place: at, field: "slice_type" }),
        (vec![7, 66], MapError::TruncatedHeader { place: at }),
    ] {
        let mut out = vec![Subsample { clear: 1, protected: 2 }];
        let result = tiny_avc().map(&unit(&[&good, &bad]), EXACT, &mut out);
        assert_eq!((result, out.len()), (Err(error), 1), "{bad:02x?}");
    }
    let mut long = unit(&[&good]);
    long[3] += 1;
    let error = MapError::LengthBeyondUnit { place: place(0, 0), length: 24, left: 23 };
    assert_eq!(entries(&mut tiny_avc(), &long, EXACT), Err(error));
    assert_eq!(
        error.to_string(),
        "NAL unit 0 at byte 0 of the access unit: 24 bytes long, but 23 bytes left"
    );
}

#[test]
fn more_entries_than_saiz_can_say() {
    assert_eq!([0, 8, 16].map(max_entries), [42, 40, 39]);
    let slice = tiny_slice(20);
    let full = unit(&vec![slice.as_slice(); 42]);
    let over = unit(&vec![slice.as_slice(); 43]);
    let mut mapper = tiny_avc();
    assert_eq!(entries(&mut mapper, &full, EXACT).map(|map| map.len()), Ok(42));
    let error = MapError::TooManyEntries { entries: 43, limit: 42 };
    assert_eq!(entries(&mut mapper, &over, EXACT), Err(error));
    let mut mapper = mapper.with_max_entries(max_entries(16));
    let error = MapError::TooManyEntries { entries: 42, limit: 39 };
    assert_eq!(entries(&mut mapper, &full, EXACT), Err(error));
    let mut mapper = mapper.with_max_entries(43);
    assert_eq!(entries(&mut mapper, &over, EXACT).map(|map| map.len()), Ok(43));
}

#[test]
fn cut_configurations_are_refused() {
    let mut rng = Rng::from_env("cut_configurations");
    let avc = avc::Sets::random(&mut rng, true);
    let hevc = hevc::Sets::random(&mut rng, true);
    let [avc, hevc] = [avcc(&[&avc.sps], &[&avc.pps]), hvcc(&[&hevc.sps], &[&hevc.pps])];
    for len in 0..avc.len() {
        assert!(Mapper::avc(&avc[..len]).is_err(), "{len}");
    }
    for len in 0..hevc.len() {
        assert!(Mapper::hevc(&hevc[..len]).is_err(), "{len}");
    }
    assert!(Mapper::avc(&avc).is_ok() && Mapper::hevc(&hevc).is_ok());
}

#[test]
fn mappers_travel() {
    fn travels<T: Send + Sync + Clone>(_: &T) {}
    travels(&tiny_avc());
    assert_eq!(entries(&mut Mapper::full_sample(), &[1, 2, 3], EXACT), Ok(vec![]));
}

fn entries(mapper: &mut Mapper, unit: &[u8], rule: Alignment) -> Result<Vec<(u16, u32)>, MapError> {
    Ok(map(mapper, unit, rule)?.iter().map(|entry| (entry.clear, entry.protected)).collect())
}

const fn place(index: usize, offset: usize) -> UnitPlace {
    UnitPlace { index, offset, ..UnitPlace::in_access_unit("NAL unit") }
}

fn tiny_avc() -> Mapper {
    Mapper::avc(&tiny_avcc()).expect("the tiny configuration is good")
}
