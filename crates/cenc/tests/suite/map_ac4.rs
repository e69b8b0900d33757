//! AC-4: tables of contents of every form, written by hand.

use crate::map_support::{ac4, bits::Bits, map};
use lanelock_cenc::map::{Alignment, MapError, Mapper, Subsample};
use lanelock_testkit::{Rng, mutants};

#[test]
fn contents_are_clear() {
    let mut rng = Rng::from_env("contents_are_clear");
    for _ in 0..mutants(20_000) {
        let (frame, contents) = ac4::frame(&mut rng);
        let rest = frame.len() - contents;
        let exact = map(&mut Mapper::ac4(), &frame, Alignment::Exact).expect("a good frame");
        let sum = |entries: &[Subsample]| {
            entries.iter().fold((0, 0), |(clear, protected), entry| {
                (clear + usize::from(entry.clear), protected + entry.protected as usize)
            })
        };
        assert_eq!(sum(&exact), (contents, rest));
        let blocks = map(&mut Mapper::ac4(), &frame, Alignment::Blocks).expect("a good frame");
        assert_eq!(sum(&blocks), (contents + rest % 16, rest - rest % 16));
    }
}

/// A frame that ends inside its table of contents, or in a substream that the table describes.
#[test]
fn short_frames() {
    let mut rng = Rng::from_env("short_frames");
    for _ in 0..mutants(2_000) {
        let (frame, contents) = ac4::frame(&mut rng);
        for len in 1..contents {
            let error = map(&mut Mapper::ac4(), &frame[..len], Alignment::Exact);
            let place = lanelock_cenc::map::UnitPlace::in_access_unit("frame");
            assert_eq!(error, Err(MapError::TruncatedHeader { place }), "{len} of {contents}");
        }
    }
}

#[test]
fn what_is_not_read_is_refused() {
    let refused = |bits: &Bits, what: &str| {
        let unit = [bits.bytes(), vec![0x5a; 400]].concat();
        let error = map(&mut Mapper::ac4(), &unit, Alignment::Exact).expect_err(what);
        assert!(error.to_string().contains(what), "{error}");
    };
    for (version, what) in [(0, "bitstream_version 0 or 1"), (1, "0 or 1"), (3, "above 2")] {
        refused(Bits::new().u(2, version), what);
    }
    // One presentation with one group, as far as the field in question.
    let head = |frame_rate: u64| {
        let mut bits = Bits::new();
        bits.u(2, 2).u(10, 0).u(1, 0).u(1, 1).u(4, frame_rate).u(1, 1).u(1, 1).u(1, 0).u(1, 0);
        bits.u(1, 1).u(1, 0).u(3, 0).u(1, 0); // b_single_substream_group to b_presentation_id
        bits
    };
    refused(&head(15), "reserved frame_rate_index");
    refused(head(13).u(2, 0).u(3, 0).u(1, 0).u(2, 0), "protection_length_primary");
    let group = |channel_mode: u64| {
        let mut bits = head(13);
        bits.u(2, 0).u(3, 0).u(1, 0).u(2, 1).u(2, 0).u(8, 0); // emdf_info()
        bits.u(1, 0).u(3, 0).u(1, 0).u(1, 0).u(2, 0).u(2, 0); // to ac4_presentation_substream_info()
        bits.u(1, 1).u(1, 0).u(1, 1).u(1, 1).u(9, channel_mode);
        bits
    };
    refused(&group(0x1ff), "reserved channel_mode");
    // 22.2 channels: one substream of 1023 bytes, which the frame has not.
    let mut long = group(0x1fe);
    long.u(1, 0).u(1, 0).u(1, 0).u(2, 0).u(1, 0).u(2, 1).u(1, 1).u(1, 0).u(10, 1023);
    refused(&long, "reach beyond the frame");
}
