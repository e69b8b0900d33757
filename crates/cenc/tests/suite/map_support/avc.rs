//! Writes random AVC parameter sets and slices by the syntax tables of ITU-T H.264 clause 7.3, so
//! that the length of every slice header is known by construction.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::maybe_infinite_iter,
    clippy::struct_excessive_bools,
    reason = "numbers are small, searches end, and the flags are the standard's"
)]

use super::bits::Bits;
use super::wild;
use lanelock_testkit::Rng;

/// A sequence parameter set and a picture parameter set, with what slices depend on.
pub(crate) struct Sets {
    pub(crate) sps: Vec<u8>,
    pub(crate) pps: Vec<u8>,
    pps_id: u64,
    separate_planes: bool,
    chroma: bool,
    frame_num_bits: u32,
    order_type: u64,
    order_bits: u32,
    delta_always_zero: bool,
    frames_only: bool,
    map_units: u64,
    cabac: bool,
    bottom_field_order: bool,
    pub(crate) slice_groups: bool,
    change_rate: Option<u64>,
    references: [u64; 2],
    weighted_pred: bool,
    weighted_bipred: bool,
    deblocking: bool,
    redundant: bool,
}

impl Sets {
    pub(crate) fn random(rng: &mut Rng, slice_groups: bool) -> Self {
        let mut bits = Bits::new();
        let profile = *rng.pick(&[66, 77, 88, 100, 110, 122, 244, 118, 128]);
        let sps_id = rng.below(32) as u64;
        bits.u(8, profile).u(8, 0).u(8, 40).ue(sps_id);
        let (mut chroma_format, mut separate_planes) = (1, false);
        if profile >= 100 {
            chroma_format = rng.below(4) as u64;
            bits.ue(chroma_format);
            if chroma_format == 3 {
                separate_planes = rng.one_in(2);
                bits.flag(separate_planes);
            }
            bits.ues(&[rng.below(7) as u64, rng.below(7) as u64]).flag(rng.one_in(9));
            let matrix = rng.one_in(2);
            bits.flag(matrix);
            if matrix {
                for list in 0..if chroma_format == 3 { 12 } else { 8 } {
                    write_scaling_list(rng, &mut bits, if list < 6 { 16 } else { 64 });
                }
            }
        }
        let frame_num_bits = 4 + rng.below(13) as u32;
        let order_type = rng.below(3) as u64;
        let order_bits = 4 + rng.below(13) as u32;
        let delta_always_zero = rng.one_in(2);
        bits.ue(u64::from(frame_num_bits) - 4).ue(order_type);
        match order_type {
            0 => {
                bits.ue(u64::from(order_bits) - 4);
            }
            1 => {
                let cycle = rng.below(6);
                bits.flag(delta_always_zero).se(-300).se(70_000).ue(cycle as u64);
                (0..cycle).for_each(|i| {
                    bits.se(i as i64 * 1000 - 2000);
                });
            }
            _ => {}
        }
        let (width, height) = (1 + rng.below(60) as u64, 1 + rng.below(60) as u64);
        let frames_only = rng.one_in(2);
        bits.ue(4).flag(false).ues(&[width - 1, height - 1]).flag(frames_only);
        if !frames_only {
            bits.flag(rng.one_in(2));
        }
        bits.flags(&[1, 0, 0]).stop();
        let sps = bits.nal(&[0x67], &[]);

        let mut bits = Bits::new();
        let pps_id = rng.below(256) as u64;
        let [cabac, bottom_field_order] = [rng.one_in(2), rng.one_in(2)];
        bits.ues(&[pps_id, sps_id]).flag(cabac).flag(bottom_field_order);
        let map_units = width * height;
        let change_rate =
            if slice_groups { write_slice_groups(rng, &mut bits, map_units) } else { None };
        if !slice_groups {
            bits.ue(0);
        }
        let references = [1 + rng.below(16) as u64, 1 + rng.below(16) as u64];
        let [weighted_pred, weighted_bipred, deblocking, redundant] =
            std::array::from_fn(|_| rng.one_in(2));
        bits.ues(&[references[0] - 1, references[1] - 1]).flag(weighted_pred);
        bits.u(2, if weighted_bipred { 1 } else { 2 * rng.below(2) as u64 });
        bits.se(-3).se(5).se(-12).flag(deblocking).flag(rng.one_in(2)).flag(redundant);
        if profile >= 100 && rng.one_in(2) {
            bits.flags(&[1, 0]).se(2);
        }
        let pps = bits.stop().nal(&[0x68], &[]);
        Self {
            sps,
            pps,
            pps_id,
            separate_planes,
            chroma: chroma_format != 0 && !separate_planes,
            frame_num_bits,
            order_type,
            order_bits,
            delta_always_zero,
            frames_only,
            map_units,
            cabac,
            bottom_field_order,
            slice_groups,
            change_rate,
            references,
            weighted_pred,
            weighted_bipred,
            deblocking,
            redundant,
        }
    }

    /// A slice and the number of clear bytes at its start. `kind` is 1, 2 or 5.
    pub(crate) fn slice(&self, rng: &mut Rng, kind: u8) -> (Vec<u8>, usize) {
        let idr = kind == 5;
        let ref_idc = if idr { 1 + rng.below(3) as u8 } else { rng.below(4) as u8 };
        let slice_type = if idr { *rng.pick(&[2, 4, 7, 9]) } else { rng.below(10) as u64 };
        let mut bits = self.header(rng, idr, ref_idc != 0, slice_type);
        if kind == 2 {
            bits.ue(0); // slice_id
        }
        let header = bits.len();
        if self.cabac && kind != 2 {
            bits.ones();
        } else {
            (0..24).for_each(|_| {
                bits.flag(rng.one_in(2));
            });
        }
        let data = super::data(rng);
        let nal = bits.nal(&[ref_idc << 5 | kind], &data);
        let filled = [bits.bytes(), data].concat();
        (nal, 1 + super::bits::escape(&filled[..header.div_ceil(8)]).len())
    }

    /// Partition B or C that follows a partition A made by [`Self::slice`].
    pub(crate) fn partition(&self, rng: &mut Rng, kind: u8) -> (Vec<u8>, usize) {
        let mut bits = Bits::new();
        bits.ue(0);
        if self.separate_planes {
            bits.u(2, 1);
        }
        if self.redundant {
            bits.ue(0);
        }
        let header = bits.len();
        (bits.ones().nal(&[0x60 | kind], &super::data(rng)), 1 + bits.escaped_len(header))
    }

    fn header(&self, rng: &mut Rng, idr: bool, reference: bool, slice_type: u64) -> Bits {
        let mut bits = Bits::new();
        bits.ues(&[wild(rng, 6), slice_type, self.pps_id]);
        if self.separate_planes {
            bits.u(2, rng.below(3) as u64);
        }
        bits.u(self.frame_num_bits, wild(rng, self.frame_num_bits));
        let mut field = false;
        if !self.frames_only {
            field = rng.one_in(2);
            bits.flag(field);
            if field {
                bits.flag(rng.one_in(2));
            }
        }
        if idr {
            bits.ue(wild(rng, 16));
        }
        let bottom = self.bottom_field_order && !field;
        match self.order_type {
            0 => {
                bits.u(self.order_bits, wild(rng, self.order_bits));
                if bottom {
                    bits.se(wild(rng, 30) as i64 - 5);
                }
            }
            1 if !self.delta_always_zero => {
                bits.se(-(wild(rng, 30) as i64));
                if bottom {
                    bits.se(wild(rng, 20) as i64);
                }
            }
            _ => {}
        }
        if self.redundant {
            bits.ue(wild(rng, 7));
        }
        let kind = slice_type % 5;
        let (p, b, sp, si) = (kind == 0, kind == 1, kind == 3, kind == 4);
        if b {
            bits.flag(rng.one_in(2));
        }
        if p || b || sp {
            self.references(rng, &mut bits, b, field);
        }
        if reference {
            write_marking(rng, &mut bits, idr);
        }
        if self.cabac && (p || b || sp) {
            bits.ue(rng.below(3) as u64);
        }
        bits.se(rng.below(20) as i64 - 10);
        if sp {
            bits.flag(rng.one_in(2));
        }
        if sp || si {
            bits.se(rng.below(20) as i64 - 10);
        }
        if self.deblocking {
            let idc = rng.below(3) as u64;
            bits.ue(idc);
            if idc != 1 {
                bits.se(rng.below(13) as i64 - 6).se(rng.below(13) as i64 - 6);
            }
        }
        if let Some(rate) = self.change_rate {
            // Ceil( Log2( PicSizeInMapUnits / SliceGroupChangeRate + 1 ) ), in exact arithmetic
            let width = (0..).find(|n| (1 << n) * rate >= self.map_units + rate).expect("it ends");
            bits.u(width, wild(rng, width));
        }
        bits
    }

    fn references(&self, rng: &mut Rng, bits: &mut Bits, b: bool, field: bool) {
        let mut references = self.references;
        let lists = if b { 2 } else { 1 };
        let replace = rng.one_in(2);
        bits.flag(replace);
        if replace {
            for list in &mut references[..lists] {
                *list = 1 + rng.below(if field { 32 } else { 16 }) as u64;
                bits.ue(*list - 1);
            }
        }
        for list in &references[..lists] {
            let modify = rng.one_in(2);
            bits.flag(modify);
            if modify {
                for _ in 0..=rng.below(*list as usize) {
                    let operation = rng.below(3) as u64;
                    bits.ues(&[operation, wild(rng, if operation == 2 { 4 } else { 10 })]);
                }
                bits.ue(3);
            }
        }
        if if b { self.weighted_bipred } else { self.weighted_pred } {
            bits.ue(rng.below(8) as u64);
            if self.chroma {
                bits.ue(rng.below(8) as u64);
            }
            for _ in 0..references[..lists].iter().sum() {
                for (present, values) in [(true, 2), (self.chroma, 4)] {
                    if present {
                        let weighted = rng.one_in(2);
                        bits.flag(weighted);
                        let values = if weighted { values } else { 0 };
                        (0..values).for_each(|_| {
                            bits.se(rng.below(256) as i64 - 128);
                        });
                    }
                }
            }
        }
    }
}

fn write_scaling_list(rng: &mut Rng, bits: &mut Bits, size: usize) {
    let present = rng.one_in(3);
    bits.flag(present);
    if present {
        let mut last = 8;
        for _ in 0..size {
            let next = if rng.one_in(20) { 0 } else { 1 + rng.below(255) as i64 };
            bits.se((next - last + 128).rem_euclid(256) - 128);
            if next == 0 {
                return;
            }
            last = next;
        }
    }
}

fn write_slice_groups(rng: &mut Rng, bits: &mut Bits, map_units: u64) -> Option<u64> {
    let map_type = rng.below(7) as u64;
    let groups = if (3..6).contains(&map_type) { 2 } else { 2 + rng.below(7) as u64 };
    bits.ues(&[groups - 1, map_type]);
    match map_type {
        0 => (0..groups).for_each(|_| {
            bits.ue(wild(rng, 9));
        }),
        2 => (1..groups).for_each(|_| {
            bits.ues(&[wild(rng, 9), wild(rng, 9)]);
        }),
        3..=5 => {
            let rate = 1 + rng.below(map_units as usize) as u64;
            bits.flag(rng.one_in(2)).ue(rate - 1);
            return Some(rate);
        }
        6 => {
            bits.ue(map_units - 1);
            let width = (1..).find(|n| 1 << n >= groups).expect("it ends");
            (0..map_units).for_each(|_| {
                bits.u(width, rng.below(groups as usize) as u64);
            });
        }
        _ => {}
    }
    None
}

fn write_marking(rng: &mut Rng, bits: &mut Bits, idr: bool) {
    if idr {
        bits.flag(rng.one_in(2)).flag(rng.one_in(2));
        return;
    }
    let adaptive = rng.one_in(2);
    bits.flag(adaptive);
    if adaptive {
        for _ in 0..rng.below(12) {
            match 1 + rng.below(6) as u64 {
                3 => bits.ues(&[3, wild(rng, 12), wild(rng, 4)]),
                5 => bits.ue(5),
                operation => bits.ues(&[operation, wild(rng, 4)]),
            };
        }
        bits.ue(0);
    }
}
