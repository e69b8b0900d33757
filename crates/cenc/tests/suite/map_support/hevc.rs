//! Writes random HEVC parameter sets and slice segments by the syntax tables of ITU-T H.265 clause
//! 7.3, so that the length of every slice header is known by construction.
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

/// A short-term reference picture set: differences and whether they are used, nearest first.
#[derive(Clone, Default)]
struct ShortTerm {
    negative: Vec<(i64, bool)>,
    positive: Vec<(i64, bool)>,
}

/// A sequence parameter set and a picture parameter set, with what slices depend on.
pub(crate) struct Sets {
    pub(crate) sps: Vec<u8>,
    pub(crate) pps: Vec<u8>,
    /// With what cros-codecs 0.0.6 misreads: it takes an extension's payload for the flags of the
    /// next one, and reads chroma weights of list 1 when planes are separate.
    pub(crate) misread_by_cros: bool,
    pps_id: u64,
    separate_planes: bool,
    chroma: bool,
    order_bits: u32,
    address_bits: u32,
    sao: bool,
    short_terms: Vec<ShortTerm>,
    /// Use flags of the long-term pictures of the sequence parameter set.
    long_terms: Option<Vec<bool>>,
    temporal_mvp: bool,
    choose_mv_resolution: bool,
    dependent_slices: bool,
    output_flag: bool,
    extra_bits: u32,
    cabac_init: bool,
    references: [u64; 2],
    chroma_qp_offsets: bool,
    weighted_pred: bool,
    weighted_bipred: bool,
    entry_points: bool,
    across_slices: bool,
    deblocking_override: bool,
    deblocking_disabled: bool,
    list_modification: bool,
    extension: bool,
    chroma_qp_list: bool,
    act_qp_offsets: bool,
    current_picture: bool,
}

impl Sets {
    /// `screen`: with screen content coding extensions.
    pub(crate) fn random(rng: &mut Rng, screen: bool) -> Self {
        let mut sets = Self {
            sps: vec![],
            pps: vec![],
            misread_by_cros: screen,
            pps_id: rng.below(64) as u64,
            separate_planes: false,
            chroma: false,
            order_bits: 4 + rng.below(13) as u32,
            address_bits: 0,
            sao: rng.one_in(2),
            short_terms: vec![],
            long_terms: None,
            temporal_mvp: rng.one_in(2),
            choose_mv_resolution: false,
            dependent_slices: rng.one_in(2),
            output_flag: rng.one_in(2),
            extra_bits: rng.below(8) as u32 * u32::from(rng.one_in(2)),
            cabac_init: rng.one_in(2),
            references: [1 + rng.below(15) as u64, 1 + rng.below(15) as u64],
            chroma_qp_offsets: rng.one_in(2),
            weighted_pred: rng.one_in(2),
            weighted_bipred: rng.one_in(2),
            entry_points: false,
            across_slices: rng.one_in(2),
            deblocking_override: false,
            deblocking_disabled: false,
            list_modification: rng.one_in(2),
            extension: rng.one_in(2),
            chroma_qp_list: false,
            act_qp_offsets: false,
            current_picture: false,
        };
        let sps_id = rng.below(16) as u64;
        let sps = sets.write_sps(rng, sps_id, screen);
        sets.sps = sps.nal(&[33 << 1, 1], &[]);
        let pps = sets.write_pps(rng, sps_id, screen);
        sets.misread_by_cros |= sets.separate_planes && sets.weighted_bipred;
        sets.pps = pps.nal(&[34 << 1, 1], &[]);
        sets
    }

    fn write_sps(&mut self, rng: &mut Rng, id: u64, screen: bool) -> Bits {
        let mut bits = Bits::new();
        let sub_layers = if rng.one_in(2) { 1 } else { 1 + rng.below(7) };
        bits.u(4, 0).u(3, sub_layers as u64 - 1).u(1, 1);
        write_profile_tier_level(rng, &mut bits, sub_layers);
        let chroma_format = rng.below(4) as u64;
        bits.ues(&[id, chroma_format]);
        if chroma_format == 3 {
            self.separate_planes = rng.one_in(2);
            bits.flag(self.separate_planes);
        }
        self.chroma = chroma_format != 0 && !self.separate_planes;
        let block = 1 << (4 + rng.below(3));
        let (width, height) = (8 * (1 + rng.below(400)) as u64, 8 * (1 + rng.below(300)) as u64);
        let blocks = width.div_ceil(block) * height.div_ceil(block);
        self.address_bits = (0..).find(|n| 1 << n >= blocks).expect("it ends");
        bits.ues(&[width, height]);
        if rng.one_in(2) {
            bits.u(1, 1).ues(&[0, 1, 2, 0]);
        } else {
            bits.u(1, 0);
        }
        let [luma_depth, chroma_depth] = [8 + rng.below(5) as u64, 8 + rng.below(5) as u64];
        bits.ues(&[luma_depth - 8, chroma_depth - 8, u64::from(self.order_bits) - 4]);
        let each = rng.one_in(2);
        bits.flag(each);
        (0..if each { sub_layers } else { 1 }).for_each(|_| {
            bits.ues(&[15, 2, 0]);
        });
        bits.ues(&[0, u64::from(block.ilog2()) - 3, 0, 2, 1, 1]);
        let lists = rng.one_in(3);
        bits.flag(lists);
        if lists {
            bits.u(1, 1);
            write_scaling_lists(rng, &mut bits);
        }
        bits.flag(rng.one_in(2)).flag(self.sao);
        let pcm = rng.one_in(3);
        bits.flag(pcm);
        if pcm {
            bits.u(4, 7).u(4, 7).ues(&[0, 1]).u(1, 0);
        }
        let sets = rng.below(9) * usize::from(!rng.one_in(4));
        bits.ue(sets as u64);
        for _ in 0..sets {
            let set = ShortTerm::write(rng, &mut bits, &self.short_terms, false);
            self.short_terms.push(set);
        }
        let long_terms = rng.one_in(2);
        bits.flag(long_terms);
        if long_terms {
            let used: Vec<_> = (0..rng.below(7)).map(|_| rng.one_in(2)).collect();
            bits.ue(used.len() as u64);
            for &used in &used {
                bits.u(self.order_bits, wild(rng, self.order_bits)).flag(used);
            }
            self.long_terms = Some(used);
        }
        bits.flag(self.temporal_mvp).flag(rng.one_in(2));
        let vui = rng.one_in(2);
        bits.flag(vui);
        if vui {
            write_vui(rng, &mut bits, sub_layers);
        }
        let range = rng.one_in(2);
        self.misread_by_cros |= range;
        bits.flag(screen || range);
        if screen || range {
            bits.flag(range).flags(&[0, 0]).flag(screen).u(4, 0);
            if range {
                bits.u(9, wild(rng, 9));
            }
            if screen {
                bits.u(1, 1);
                let palette = rng.one_in(2);
                bits.flag(palette);
                if palette {
                    bits.ues(&[31, 32]);
                    let preset = rng.one_in(2);
                    bits.flag(preset);
                    if preset {
                        let entries = 1 + rng.below(9) as u64;
                        bits.ue(entries - 1);
                        let components = if chroma_format == 0 { 1 } else { 3 };
                        for depth in
                            [luma_depth, chroma_depth, chroma_depth].iter().take(components)
                        {
                            (0..entries).for_each(|_| {
                                bits.u(*depth as u32, wild(rng, 8));
                            });
                        }
                    }
                }
                let control = rng.below(3) as u64;
                self.choose_mv_resolution = control == 2;
                bits.u(2, control).u(1, 0);
            }
        }
        bits.stop();
        bits
    }

    fn write_pps(&mut self, rng: &mut Rng, sps_id: u64, screen: bool) -> Bits {
        let mut bits = Bits::new();
        bits.ues(&[self.pps_id, sps_id]).flag(self.dependent_slices).flag(self.output_flag);
        bits.u(3, u64::from(self.extra_bits)).flag(rng.one_in(2)).flag(self.cabac_init);
        bits.ues(&[self.references[0] - 1, self.references[1] - 1]).se(-7).flag(rng.one_in(2));
        let transform_skip = rng.one_in(2);
        bits.flag(transform_skip);
        let qp_delta = rng.one_in(2);
        bits.flag(qp_delta);
        if qp_delta {
            bits.ue(1);
        }
        bits.se(-3).se(4).flag(self.chroma_qp_offsets).flag(self.weighted_pred);
        bits.flag(self.weighted_bipred).flag(rng.one_in(2));
        let [tiles, wavefronts] = [rng.one_in(2), rng.one_in(2)];
        self.entry_points = tiles || wavefronts;
        bits.flag(tiles).flag(wavefronts);
        if tiles {
            bits.ues(&[2, 1]);
            let uniform = rng.one_in(2);
            bits.flag(uniform);
            if !uniform {
                bits.ues(&[0, 0, 0]);
            }
            bits.flag(rng.one_in(2));
        }
        bits.flag(self.across_slices);
        let control = rng.one_in(2);
        bits.flag(control);
        if control {
            [self.deblocking_override, self.deblocking_disabled] = [rng.one_in(2), rng.one_in(2)];
            bits.flag(self.deblocking_override).flag(self.deblocking_disabled);
            if !self.deblocking_disabled {
                bits.se(2).se(-3);
            }
        }
        let lists = rng.one_in(3);
        bits.flag(lists);
        if lists {
            write_scaling_lists(rng, &mut bits);
        }
        bits.flag(self.list_modification).ue(1).flag(self.extension);
        let range = rng.one_in(2);
        let multilayer = screen && rng.one_in(3);
        self.misread_by_cros |= range;
        bits.flag(range || screen);
        if range || screen {
            bits.flag(range).flag(multilayer).u(1, 0).flag(screen).u(4, 0);
            if range {
                if transform_skip {
                    bits.ue(1);
                }
                self.chroma_qp_list = self.chroma && rng.one_in(2);
                bits.u(1, 0).flag(self.chroma_qp_list);
                if self.chroma_qp_list {
                    bits.ues(&[0, 1]).se(1).se(-1).se(2).se(-2);
                }
                bits.ues(&[0, 0]);
            }
            if multilayer {
                bits.u(1, 0).u(1, 1).u(6, 3).ue(2);
                bits.u(6, 1).u(1, 1).se(1).se(-1).se(200).se(0).u(1, 0).u(1, 1).ues(&[1, 2, 8, 9]);
                bits.u(6, 2).u(1, 0).u(1, 1).se(1).se(-1).se(200).se(0).u(1, 0).u(1, 0);
            }
            if screen {
                [self.current_picture, self.act_qp_offsets] = [rng.one_in(2), rng.one_in(2)];
                if self.current_picture {
                    // Weights would need the order of the reference pictures.
                    self.current_picture = !self.weighted_pred && !self.weighted_bipred;
                }
                bits.flag(self.current_picture).u(1, 1).flag(self.act_qp_offsets).se(1).se(2).se(3);
                bits.u(1, 0);
            }
        }
        bits.stop();
        bits
    }

    /// A slice segment and the number of clear bytes at its start.
    pub(crate) fn slice(&self, rng: &mut Rng) -> (Vec<u8>, usize) {
        let kind = *rng.pick(&[0, 1, 8, 9, 16, 19, 20, 21]);
        let mut bits = self.header(rng, kind);
        let header = bits.stop().len();
        (bits.nal(&[kind << 1, 1], &super::data(rng)), 2 + bits.escaped_len(header))
    }

    fn header(&self, rng: &mut Rng, kind: u8) -> Bits {
        let mut bits = Bits::new();
        let first = rng.one_in(2);
        bits.flag(first);
        if kind >= 16 {
            bits.flag(rng.one_in(2));
        }
        bits.ue(self.pps_id);
        let mut dependent = false;
        if !first {
            if self.dependent_slices {
                dependent = rng.one_in(2);
                bits.flag(dependent);
            }
            bits.u(self.address_bits, wild(rng, self.address_bits.saturating_sub(1)));
        }
        if !dependent {
            self.independent(rng, &mut bits, kind);
        }
        if self.entry_points {
            let points = rng.below(6) as u64 * u64::from(rng.one_in(2));
            let points = points.min((1 << self.address_bits) / 2);
            bits.ue(points);
            if points > 0 {
                let width = 1 + rng.below(32) as u32;
                bits.ue(u64::from(width) - 1);
                (0..points).for_each(|_| {
                    bits.u(width, wild(rng, width));
                });
            }
        }
        if self.extension {
            let bytes = rng.below(20) as u64;
            bits.ue(bytes);
            (0..bytes).for_each(|_| {
                bits.u(8, wild(rng, 8));
            });
        }
        bits
    }

    fn independent(&self, rng: &mut Rng, bits: &mut Bits, kind: u8) {
        let idr = kind == 19 || kind == 20;
        bits.u(self.extra_bits, wild(rng, self.extra_bits));
        let intra_only = (16..=23).contains(&kind) && !self.current_picture;
        let slice_type = if intra_only { 2 } else { rng.below(3) as u64 };
        bits.ue(slice_type);
        if self.output_flag {
            bits.flag(rng.one_in(2));
        }
        if self.separate_planes {
            bits.u(2, rng.below(3) as u64);
        }
        let mut pictures = u64::from(self.current_picture);
        let mut temporal_mvp = false;
        if !idr {
            pictures += self.picture_sets(rng, bits);
            if self.temporal_mvp {
                temporal_mvp = rng.one_in(2);
                bits.flag(temporal_mvp);
            }
        }
        let [luma, chroma] = [self.sao && rng.one_in(2), self.sao && self.chroma && rng.one_in(2)];
        if self.sao {
            bits.flag(luma);
            if self.chroma {
                bits.flag(chroma);
            }
        }
        if slice_type < 2 {
            self.inter(rng, bits, slice_type == 0, pictures, temporal_mvp);
        }
        bits.se(rng.below(20) as i64 - 10);
        for offsets in [2 * u32::from(self.chroma_qp_offsets), 3 * u32::from(self.act_qp_offsets)] {
            (0..offsets).for_each(|_| {
                bits.se(rng.below(9) as i64 - 4);
            });
        }
        if self.chroma_qp_list {
            bits.flag(rng.one_in(2));
        }
        let mut disabled = self.deblocking_disabled;
        if self.deblocking_override {
            let replace = rng.one_in(2);
            bits.flag(replace);
            if replace {
                disabled = rng.one_in(2);
                bits.flag(disabled);
                if !disabled {
                    bits.se(-2).se(3);
                }
            }
        }
        if self.across_slices && (luma || chroma || !disabled) {
            bits.flag(rng.one_in(2));
        }
    }

    /// Writes the picture sets; how many pictures the current one uses.
    fn picture_sets(&self, rng: &mut Rng, bits: &mut Bits) -> u64 {
        bits.u(self.order_bits, wild(rng, self.order_bits));
        let known = !self.short_terms.is_empty() && rng.one_in(2);
        bits.flag(known);
        let set = if known {
            let index = rng.below(self.short_terms.len());
            let width = (0..).find(|n| 1 << n >= self.short_terms.len()).expect("it ends");
            bits.u(width, index as u64);
            self.short_terms[index].clone()
        } else {
            ShortTerm::write(rng, bits, &self.short_terms, true)
        };
        let mut used = set.negative.iter().chain(&set.positive).filter(|p| p.1).count() as u64;
        if let Some(long_terms) = &self.long_terms {
            let mut by_number = 0;
            if !long_terms.is_empty() {
                by_number = rng.below(long_terms.len() + 1);
                bits.ue(by_number as u64);
            }
            let by_order = rng.below(4);
            bits.ue(by_order as u64);
            for i in 0..by_number + by_order {
                if i < by_number {
                    let index = rng.below(long_terms.len());
                    let width = (0..).find(|n| 1 << n >= long_terms.len()).expect("it ends");
                    bits.u(width, index as u64);
                    used += u64::from(long_terms[index]);
                } else {
                    let by_current = rng.one_in(2);
                    bits.u(self.order_bits, wild(rng, self.order_bits)).flag(by_current);
                    used += u64::from(by_current);
                }
                let msb = rng.one_in(2);
                bits.flag(msb);
                if msb {
                    bits.ue(wild(rng, 10));
                }
            }
        }
        used
    }

    fn inter(&self, rng: &mut Rng, bits: &mut Bits, b: bool, pictures: u64, temporal_mvp: bool) {
        let lists = if b { 2 } else { 1 };
        let mut references = self.references;
        let replace = rng.one_in(2);
        bits.flag(replace);
        if replace {
            for list in &mut references[..lists] {
                *list = 1 + rng.below(15) as u64;
                bits.ue(*list - 1);
            }
        }
        if self.list_modification && pictures > 1 {
            let width = (0..).find(|n| 1 << n >= pictures).expect("it ends");
            for list in &references[..lists] {
                let modify = rng.one_in(2);
                bits.flag(modify);
                let entries = if modify { *list } else { 0 };
                (0..entries).for_each(|_| {
                    bits.u(width, rng.below(pictures as usize) as u64);
                });
            }
        }
        if b {
            bits.flag(rng.one_in(2));
        }
        if self.cabac_init {
            bits.flag(rng.one_in(2));
        }
        if temporal_mvp {
            let first = !b || rng.one_in(2);
            if b {
                bits.flag(first);
            }
            let entries = references[usize::from(!first)];
            if entries > 1 {
                bits.ue(rng.below(entries as usize) as u64);
            }
        }
        if if b { self.weighted_bipred } else { self.weighted_pred } {
            bits.ue(rng.below(8) as u64);
            if self.chroma {
                bits.se(0);
            }
            for &entries in &references[..lists] {
                let luma: Vec<_> = (0..entries).map(|_| rng.one_in(2)).collect();
                let chroma: Vec<_> = (0..entries).map(|_| self.chroma && rng.one_in(2)).collect();
                for &flag in &luma {
                    bits.flag(flag);
                }
                if self.chroma {
                    for &flag in &chroma {
                        bits.flag(flag);
                    }
                }
                for (luma, chroma) in luma.into_iter().zip(chroma) {
                    let values = 2 * u32::from(luma) + 4 * u32::from(chroma);
                    (0..values).for_each(|_| {
                        bits.se(rng.below(200) as i64 - 100);
                    });
                }
            }
        }
        bits.ue(rng.below(5) as u64);
        if self.choose_mv_resolution {
            bits.flag(rng.one_in(2));
        }
    }
}

impl ShortTerm {
    fn write(rng: &mut Rng, bits: &mut Bits, earlier: &[Self], in_slice: bool) -> Self {
        let predict = !earlier.is_empty() && rng.one_in(2);
        if !earlier.is_empty() {
            bits.flag(predict);
        }
        if predict { Self::predict(rng, bits, earlier, in_slice) } else { Self::list(rng, bits) }
    }

    fn list(rng: &mut Rng, bits: &mut Bits) -> Self {
        let mut set = Self::default();
        let counts = [rng.below(5), rng.below(4)];
        bits.ues(&counts.map(|n| n as u64));
        for (count, side, sign) in
            [(counts[0], &mut set.negative, -1), (counts[1], &mut set.positive, 1)]
        {
            let mut delta = 0;
            for _ in 0..count {
                let step = 1 + wild(rng, 3);
                let used = rng.one_in(2);
                bits.ue(step - 1).flag(used);
                delta += sign * step as i64;
                side.push((delta, used));
            }
        }
        set
    }

    fn predict(rng: &mut Rng, bits: &mut Bits, earlier: &[Self], in_slice: bool) -> Self {
        let back = if in_slice { rng.below(earlier.len()) } else { 0 };
        if in_slice {
            bits.ue(back as u64);
        }
        let reference = &earlier[earlier.len() - 1 - back];
        let shift = (1 + rng.below(4) as i64) * if rng.one_in(2) { 1 } else { -1 };
        bits.flag(shift < 0).ue(shift.unsigned_abs() - 1);
        let pictures = reference.negative.iter().chain(&reference.positive).map(|p| p.0);
        let mut kept = Vec::new();
        let room = 8;
        for delta in pictures.chain([0]).collect::<Vec<_>>() {
            let used = rng.one_in(2) && kept.len() < room;
            bits.flag(used);
            let keep = used || (rng.one_in(2) && kept.len() < room);
            if !used {
                bits.flag(keep);
            }
            if keep && delta + shift != 0 {
                kept.push((delta + shift, used));
            }
        }
        // The result of equations 7-61 and 7-62 is what was kept, sorted by distance.
        kept.sort_by_key(|p| p.0.abs());
        let (negative, positive) = kept.into_iter().partition(|p| p.0 < 0);
        Self { negative, positive }
    }
}

fn write_profile_tier_level(rng: &mut Rng, bits: &mut Bits, sub_layers: usize) {
    let profile = |bits: &mut Bits| {
        bits.u(8, 4).u(32, 0x0800_0000).u(48, 0);
    };
    profile(bits);
    bits.u(8, 120);
    let present: Vec<_> = (1..sub_layers).map(|_| [rng.one_in(2), rng.one_in(2)]).collect();
    for [profile, level] in &present {
        bits.flag(*profile).flag(*level);
    }
    if sub_layers > 1 {
        (sub_layers - 1..8).for_each(|_| {
            bits.u(2, 0);
        });
    }
    for [has_profile, has_level] in present {
        if has_profile {
            profile(bits);
        }
        if has_level {
            bits.u(8, 90);
        }
    }
}

fn write_scaling_lists(rng: &mut Rng, bits: &mut Bits) {
    for size in 0..4 {
        for matrix in (0..6).step_by(if size == 3 { 3 } else { 1 }) {
            let explicit = rng.one_in(2);
            bits.flag(explicit);
            if explicit {
                if size > 1 {
                    bits.se(rng.below(200) as i64);
                }
                (0..if size == 0 { 16 } else { 64 }).for_each(|_| {
                    bits.se(rng.below(2) as i64);
                });
            } else {
                bits.ue(if size == 3 { matrix / 3 } else { matrix });
            }
        }
    }
}

fn write_vui(rng: &mut Rng, bits: &mut Bits, sub_layers: usize) {
    let [aspect, overscan, signal, location, window, timing, restriction] =
        std::array::from_fn(|_| rng.one_in(2));
    bits.flag(aspect);
    if aspect {
        let extended = rng.one_in(2);
        bits.u(8, if extended { 255 } else { 1 });
        if extended {
            bits.u(32, wild(rng, 32));
        }
    }
    bits.flag(overscan);
    if overscan {
        bits.u(1, 1);
    }
    bits.flag(signal);
    if signal {
        let colours = rng.one_in(2);
        bits.u(3, 5).u(1, 0).flag(colours);
        if colours {
            bits.u(24, 0x01_01_01);
        }
    }
    bits.flag(location);
    if location {
        bits.ues(&[2, 2]);
    }
    bits.u(3, 0).flag(window);
    if window {
        bits.ues(&[0, 2, 0, 4]);
    }
    bits.flag(timing);
    if timing {
        bits.u(32, 1001).u(32, 60_000);
        let [proportional, hrd] = [rng.one_in(2), rng.one_in(2)];
        bits.flag(proportional);
        if proportional {
            bits.ue(3);
        }
        bits.flag(hrd);
        if hrd {
            write_hrd(rng, bits, sub_layers);
        }
    }
    bits.flag(restriction);
    if restriction {
        bits.u(3, 2).ues(&[0, 2, 1, 15, 15]);
    }
}

fn write_hrd(rng: &mut Rng, bits: &mut Bits, sub_layers: usize) {
    let [nal, vcl] = [rng.one_in(2), rng.one_in(2)];
    bits.flag(nal).flag(vcl);
    let mut sub_pictures = false;
    if nal || vcl {
        sub_pictures = rng.one_in(2);
        bits.flag(sub_pictures);
        if sub_pictures {
            bits.u(8, 50).u(5, 4).u(1, 0).u(5, 6);
        }
        bits.u(4, 1).u(4, 2);
        if sub_pictures {
            bits.u(4, 3);
        }
        bits.u(5, 23).u(5, 23).u(5, 23);
    }
    for _ in 0..sub_layers {
        let general = rng.one_in(2);
        bits.flag(general);
        let in_sequence = general || rng.one_in(2);
        if !general {
            bits.flag(in_sequence);
        }
        let mut low_delay = false;
        if in_sequence {
            bits.ue(wild(rng, 9));
        } else {
            low_delay = rng.one_in(2);
            bits.flag(low_delay);
        }
        let mut buffers = 1;
        if !low_delay {
            buffers = 1 + rng.below(4);
            bits.ue(buffers as u64 - 1);
        }
        for _ in 0..buffers * (usize::from(nal) + usize::from(vcl)) {
            bits.ues(&[wild(rng, 20), wild(rng, 20)]);
            if sub_pictures {
                bits.ues(&[wild(rng, 20), wild(rng, 20)]);
            }
            bits.flag(rng.one_in(2));
        }
    }
}
