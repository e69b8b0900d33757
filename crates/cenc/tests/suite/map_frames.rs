//! Maps of AV1 and VP9: random headers, which `cros-codecs` reads as well, and single cases for what must
//! be clear or refused.

use crate::map_support::bits::Bits;
use crate::map_support::mp4::{Clip, Codec};
use crate::map_support::opinion::Opinion;
use crate::map_support::{map, mapper};
use lanelock_cenc::map::{Alignment, MapError, Mapper, Subsample, UnitPlace, UnitSource};
use lanelock_testkit::{Rng, small_clip};
use std::panic::{AssertUnwindSafe, catch_unwind};

const EXACT: Alignment = Alignment::Exact;
const BLOCKS: Alignment = Alignment::Blocks;

#[test]
fn random_av1_headers() {
    let mut rng = Rng::from_env("random_av1_headers");
    let (mut confirmed, mut refused) = (0, 0);
    for _ in 0..3000 {
        let clip = Clip {
            codec: Codec::Av1,
            configuration: [&[0x81, 0, 0, 0][..], &obu(1, &sequence_header(&mut rng))].concat(),
            units: Vec::new(),
        };
        let (mut ours, mut theirs) = (mapper(&clip), Opinion::new(&clip).expect("it reads it"));
        // A key frame, and frames that may refer to those before them.
        for number in 0..8 {
            let mut header = Bits::new();
            if number == 0 {
                header.u(4, 0b0001);
            }
            if !agree(&mut ours, &mut theirs, || obu(6, &frame(&mut rng, &header))) {
                refused += 1;
                break;
            }
            confirmed += 1;
        }
    }
    eprintln!("{confirmed} frames confirmed by cros-codecs, {refused} refused");
    assert!(confirmed > 10_000, "{confirmed}");
}

#[test]
fn random_vp9_headers() {
    let mut rng = Rng::from_env("random_vp9_headers");
    let clip = Clip { codec: Codec::Vp9, configuration: Vec::new(), units: Vec::new() };
    let (mut confirmed, mut refused) = (0, 0);
    for _ in 0..3000 {
        let (mut ours, mut theirs) =
            (mapper(&clip), Opinion::new(&clip).expect("it needs nothing"));
        for number in 0..8 {
            let profile = rng.below(4) as u64;
            let mut header = Bits::new();
            header.u(2, 2).u(1, profile & 1).u(1, profile >> 1);
            if profile == 3 {
                header.u(1, 0);
            }
            header.u(1, 0);
            let kind = if number == 0 { 0 } else { rng.below(3) };
            match kind {
                0 => {
                    header.u(1, 0).u(1, 1).u(1, 0).u(24, 0x49_83_42);
                }
                1 => {
                    // Intra only: error resilient, so that no reset_frame_context stands in between.
                    header.u(1, 1).u(1, 0).u(1, 1).u(1, 1).u(24, 0x49_83_42);
                }
                _ => {
                    header.u(1, 1);
                }
            }
            if !agree(&mut ours, &mut theirs, || frame(&mut rng, &header)) {
                refused += 1;
                break;
            }
            confirmed += 1;
        }
    }
    eprintln!("{confirmed} frames confirmed by cros-codecs, {refused} refused");
    assert!(confirmed > 10_000, "{confirmed}");
}

/// Makes units until we read one, whose header ends in zeros among other things, and compares. False
/// if there is none, or if `cros-codecs` does not read it: random headers make it panic now and then.
/// What each of them has learnt by then may differ.
fn agree(ours: &mut Mapper, theirs: &mut Opinion, mut unit: impl FnMut() -> Vec<u8>) -> bool {
    let good = (0..30).find_map(|_| {
        let (unit, mut mapper) = (unit(), ours.clone());
        let map = map(&mut mapper, &unit, EXACT).ok()?;
        Some((unit, map, mapper))
    });
    let Some((unit, map, mapper)) = good else { return false };
    *ours = mapper;
    let Ok(Ok(theirs)) = catch_unwind(AssertUnwindSafe(|| theirs.map(&unit))) else { return false };
    assert_eq!(map, theirs, "cros-codecs (right) disagrees: {:02x?}", &unit[..200]);
    true
}

/// A header that begins with those bits and goes on at random, with more ones or more zeros, and data
/// behind it that are zeros: sizes of one byte for all tiles.
fn frame(rng: &mut Rng, header: &Bits) -> Vec<u8> {
    let mut bits = header.clone();
    let ones = *rng.pick(&[1, 2, 4, 6, 8]);
    let len = 8 * (20 + rng.below(100));
    while bits.len() < len {
        bits.flag(rng.below(16) < ones);
    }
    [bits.bytes(), vec![0; 5000]].concat()
}

/// A sequence header with random tools, and small pictures.
fn sequence_header(rng: &mut Rng) -> Vec<u8> {
    let mut bits = Bits::new();
    let profile = rng.below(3) as u64;
    bits.u(3, profile).u(1, 0).u(1, 0);
    // No timing_info, no initial display delay, one operating point of level 2.0.
    bits.u(1, 0).u(1, 0).u(5, 0).u(12, 0).u(5, 0);
    bits.u(4, 9).u(4, 8);
    bits.u(10, rng.below(1000) as u64).u(9, rng.below(500) as u64);
    let frame_ids = rng.one_in(4);
    bits.flag(frame_ids);
    if frame_ids {
        bits.u(4, rng.below(8) as u64).u(3, rng.below(4) as u64);
    }
    random(rng, &mut bits, 3); // superblocks, filter_intra, intra_edge_filter
    random(rng, &mut bits, 4); // compound tools, warped motion, dual filter
    let order_hint = !rng.one_in(4);
    bits.flag(order_hint);
    if order_hint {
        random(rng, &mut bits, 2);
    }
    let choose = rng.one_in(2);
    bits.flag(choose);
    let mut screen_content = true;
    if !choose {
        screen_content = rng.one_in(2);
        bits.flag(screen_content);
    }
    if screen_content {
        let choose = rng.one_in(2);
        bits.flag(choose);
        if !choose {
            random(rng, &mut bits, 1);
        }
    }
    if order_hint {
        bits.u(3, rng.below(8) as u64);
    }
    random(rng, &mut bits, 3); // superres, CDEF, restoration
    let high_bit_depth = rng.one_in(2);
    bits.flag(high_bit_depth);
    let twelve_bits = profile == 2 && high_bit_depth && rng.one_in(2);
    if profile == 2 && high_bit_depth {
        bits.flag(twelve_bits);
    }
    let mono = profile != 1 && rng.one_in(4);
    if profile != 1 {
        bits.flag(mono);
    }
    bits.u(1, 0).u(1, 0); // no description, color_range
    if !mono {
        let mut is_420 = profile == 0;
        if twelve_bits {
            let (x, y) = (rng.one_in(2), rng.one_in(2));
            bits.flag(x);
            if x {
                bits.flag(y);
            }
            is_420 = x && y;
        }
        if is_420 {
            bits.u(2, 1);
        }
        random(rng, &mut bits, 1); // separate_uv_delta_q
    }
    random(rng, &mut bits, 1); // film_grain_params_present
    bits.stop().bytes()
}

fn random(rng: &mut Rng, bits: &mut Bits, count: u32) {
    bits.u(count, rng.next_u64() & ((1 << count) - 1));
}

/// An OBU with a size of two bytes.
fn obu(kind: u8, payload: &[u8]) -> Vec<u8> {
    let low = 0x80 | u8::try_from(payload.len() & 0x7f).expect("seven bits");
    let high = u8::try_from(payload.len() >> 7).expect("short");
    [&[kind << 3 | 2, low, high][..], payload].concat()
}

/// The units of a clip, and a mapper for it.
fn clip(name: &str) -> (Mapper, Vec<Vec<u8>>) {
    let clip = Clip::read(&small_clip(name).path);
    (mapper(&clip), clip.units)
}

#[test]
fn short_tiles() {
    // The clip has four tiles in each frame.
    let (mut exact, units) = clip("av1_tiles.mp4");
    let mut blocks = exact.clone();
    let mut short = 0;
    for unit in &units {
        let whole = map(&mut exact, unit, EXACT).expect("good");
        let tiles: Vec<_> = whole.iter().map(|entry| entry.protected).collect();
        assert_eq!(tiles.len(), 4, "every tile has an entry, of whatever length");
        short += tiles.iter().filter(|&&len| len < 16).count();
        let aligned: Vec<_> = map(&mut blocks, unit, BLOCKS)
            .expect("good")
            .iter()
            .map(|entry| entry.protected)
            .filter(|&len| len > 0)
            .collect();
        let want: Vec<_> = tiles.iter().map(|len| len / 16 * 16).filter(|&len| len > 0).collect();
        assert_eq!(aligned, want, "tiles of less than 16 bytes are clear");
    }
    assert!(short > 0, "there are short tiles");
}

#[test]
fn the_last_obu_may_have_no_size() {
    let (mut with, units) = clip("av1.mp4");
    let mut without = with.clone();
    for unit in &units {
        let want = map(&mut with, unit, EXACT).expect("good");
        let (mut at, mut last) = (0, 0);
        while at < unit.len() {
            let (header, size) = size_field(&unit[at + 1..]);
            last = at;
            at += 1 + header + size;
        }
        let (field, _) = size_field(&unit[last + 1..]);
        let mut cut = unit.clone();
        cut[last] &= !2;
        cut.drain(last + 1..last + 1 + field);
        let got = map(&mut without, &cut, EXACT).expect("good");
        let sum = |map: &[Subsample]| map.iter().map(|entry| entry.protected).sum::<u32>();
        assert_eq!(sum(&got), sum(&want));
    }
}

/// Length and value of an `obu_size`.
fn size_field(data: &[u8]) -> (usize, usize) {
    let len = data.iter().position(|byte| byte & 0x80 == 0).expect("it ends") + 1;
    let value = data[..len].iter().rev().fold(0, |n, byte| n << 7 | usize::from(byte & 0x7f));
    (len, value)
}

#[test]
fn obus_out_of_place() {
    let (first, units) = clip("av1.mp4");
    let place = |index, offset| UnitPlace { index, offset, ..UnitPlace::in_access_unit("OBU") };
    let map = |unit: &[u8]| map(&mut first.clone(), unit, EXACT);
    let end = units[0].len();
    // Padding and metadata are clear.
    let good = map(&units[0]).expect("good");
    let padded = map(&[&units[0][..], &obu(15, &[1; 40]), &obu(5, &[1; 40])].concat());
    let last = Subsample { clear: 2 * 43, protected: 0 };
    assert_eq!(padded, Ok([&good[..], &[last]].concat()));
    for (kind, what) in [(0, "reserved type"), (9, "reserved type"), (8, "tile list")] {
        let error = map(&[&units[0][..], &obu(kind, &[1; 4])].concat()).expect_err("refused");
        let MapError::Unsupported { place: at, what: why } = error else { panic!("{error}") };
        assert!(at == place_of(&units[0], &place) && why.contains(what), "{error}");
    }
    // A tile group and a copy of a header without frame, and units without any.
    for unit in [obu(4, &[0; 40]), obu(7, &[0; 40]), obu(15, &[0; 40]), obu(2, &[])] {
        assert!(matches!(map(&unit), Err(MapError::Malformed { .. })), "{unit:02x?}");
    }
    assert!(map(&units[0][..end - 1]).is_err(), "an OBU that is cut");
    assert_eq!(map(&[]), Ok(vec![]));
}

/// The place behind the OBUs of a unit.
fn place_of(unit: &[u8], place: &dyn Fn(usize, usize) -> UnitPlace) -> UnitPlace {
    let (mut at, mut index) = (0, 0);
    while at < unit.len() {
        let (header, size) = size_field(&unit[at + 1..]);
        at += 1 + header + size;
        index += 1;
    }
    place(index, at)
}

#[test]
fn sequence_headers_are_needed() {
    let (_, units) = clip("av1.mp4");
    let mut none = Mapper::av1(&[0x81, 0, 0, 0]).expect("a record need not have one");
    // The clip has its sequence header in front of the key frame; the next unit has none.
    let error = map(&mut none.clone(), &units[1], EXACT).expect_err("refused");
    assert!(matches!(error, MapError::NoSequenceHeader { .. }), "{error}");
    map(&mut none, &units[0], EXACT).expect("it brings its own");

    for (record, offset) in [(&[0x81, 0, 0][..], 0), (&[0x01, 0, 0, 0], 0)] {
        let error = Mapper::av1(record).expect_err("refused");
        assert!(
            matches!(error, MapError::Configuration { record: "av1C", offset: at, .. } if at == offset)
        );
    }
    let cut = [&[0x81, 0, 0, 0][..], &obu(1, &[0, 0])].concat();
    let error = Mapper::av1(&cut).expect_err("refused");
    let MapError::TruncatedHeader { place } = error else { panic!("{error}") };
    assert_eq!((place.source, place.offset), (UnitSource::Configuration, 4));
}

/// A track may be mapped from anywhere; what depends on frames that were not seen is refused.
#[test]
fn maps_from_the_middle() {
    for name in ["av1.mp4", "av1_tiles.mp4", "vp9.mp4"] {
        let (first, units) = clip(name);
        let mut whole = first.clone();
        let all: Vec<_> = units.iter().map(|unit| map(&mut whole, unit, EXACT)).collect();
        let (mut same, mut refused) = (0, 0);
        for start in 1..units.len() {
            let mut late = first.clone();
            for (unit, want) in units[start..].iter().zip(&all[start..]) {
                match map(&mut late, unit, EXACT) {
                    Err(MapError::NoReference { .. }) => {
                        refused += 1;
                        break;
                    }
                    got => assert_eq!(got, *want, "{name} from unit {start}"),
                }
                same += 1;
            }
        }
        eprintln!("{name}: {same} units are the same, {refused} starts are refused");
        assert!(same + refused > 0);
    }
}

/// A VP9 inter frame, shown, with the size of the frame in the slot that it refers to first.
fn vp9_inter() -> Vec<u8> {
    let mut bits = Bits::new();
    bits.u(2, 2).u(2, 0).u(1, 0).u(1, 1).u(1, 1).u(1, 1); // error resilient
    bits.u(8, 1).u(3, 0).u(1, 0).u(3, 1).u(1, 0).u(3, 2).u(1, 0);
    bits.u(1, 1).u(1, 0).u(1, 0).u(1, 1); // found_ref, render size, precision, filter
    bits.u(2, 0); // frame_context_idx
    bits.u(9, 0).u(1, 0).u(8, 60).u(3, 0).u(1, 0); // loop filter, quantizer, segmentation
    bits.u(1, 0).u(16, 5); // tile rows (a column alone below 512 pixels), header_size_in_bytes
    [bits.bytes(), vec![0x5a; 100]].concat()
}

fn vp9_shown_again() -> Vec<u8> {
    let mut bits = Bits::new();
    bits.u(2, 2).u(2, 0).u(1, 1).u(3, 3);
    bits.bytes()
}

/// Frames and the index behind them, with sizes of two bytes.
fn superframe(frames: &[&[u8]]) -> Vec<u8> {
    let marker = 0xc0 | 1 << 3 | u8::try_from(frames.len() - 1).expect("few");
    let mut unit = frames.concat();
    unit.push(marker);
    for frame in frames {
        unit.extend(u16::try_from(frame.len()).expect("short").to_le_bytes());
    }
    unit.push(marker);
    unit
}

#[test]
fn superframes() {
    let (mut mapper, units) = clip("vp9.mp4");
    map(&mut mapper, &units[0], EXACT).expect("a key frame");
    let (inter, again) = (vp9_inter(), vp9_shown_again());
    let header = inter.len() - 100;
    let map = |unit: &[u8], rule| {
        let map = map(&mut mapper.clone(), unit, rule)?;
        Ok(map.iter().map(|entry| (usize::from(entry.clear), entry.protected)).collect::<Vec<_>>())
    };
    assert_eq!(map(&inter, EXACT), Ok(vec![(header, 96), (4, 0)]), "whole blocks, from the header");
    assert_eq!(map(&inter, BLOCKS), Ok(vec![(header + 4, 96)]), "whole blocks, to the end");
    let index = 2 + 3 * 2;
    let unit = superframe(&[&inter, &inter, &again]);
    let exact = vec![(header, 96), (4 + header, 96), (4 + 1 + index, 0)];
    assert_eq!(map(&unit, EXACT), Ok(exact));
    assert_eq!(map(&unit, BLOCKS), Ok(vec![(header + 4, 96), (header + 4, 96), (1 + index, 0)]));

    assert_eq!(map(&again, EXACT), Ok(vec![(1, 0)]), "a frame that is shown again is clear");
    assert_eq!(map(&[&again[..], &[0; 15]].concat(), EXACT), Ok(vec![(16, 0)]), "and padded");
    let malformed = |unit: &[u8]| {
        let error = map(unit, EXACT).expect_err("refused");
        assert!(matches!(error, MapError::Malformed { .. }), "{error}");
    };
    malformed(&[&again[..], &[0; 16]].concat());
    malformed(&[&again[..], &[1]].concat());
    // The sizes of an index have to fill the unit.
    let unit = superframe(&[&inter, &inter]);
    let size = unit.len() - 3;
    let mut short = unit;
    short[size] -= 1;
    malformed(&short);
}

#[test]
fn superframes_with_wrong_sizes() {
    let (mut mapper, units) = clip("vp9.mp4");
    map(&mut mapper, &units[0], EXACT).expect("a key frame");
    let unit = superframe(&[&vp9_inter(), &vp9_inter()]);
    let size = unit.len() - 3;
    let mut long = unit.clone();
    long[size] += 1;
    let error = map(&mut mapper, &long, EXACT).expect_err("refused");
    assert!(matches!(error, MapError::LengthBeyondUnit { .. }), "{error}");
    let mut none = unit.clone();
    none[size] = 0;
    none[size - 2] = u8::try_from(unit.len() - 6).expect("short");
    let error = map(&mut mapper, &none, EXACT).expect_err("refused");
    assert!(matches!(error, MapError::Empty { .. }), "{error}");
    // Without its second marker it is no index, and belongs to the frame.
    let mut frame = unit;
    let first = frame.len() - 6;
    frame[first] = 0;
    let entries = map(&mut mapper, &frame, EXACT).expect("one frame");
    assert_eq!(entries.iter().filter(|entry| entry.protected > 0).count(), 1);

    let error = map(&mut Mapper::vp9(), &vp9_inter(), EXACT).expect_err("the size is unknown");
    assert!(matches!(error, MapError::NoReference { slot: 0, .. }), "{error}");
    assert!(error.to_string().contains("begin with a key frame"), "{error}");
}
