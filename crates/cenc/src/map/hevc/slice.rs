//! Slice segment header (ITU-T H.265 clause 7.3.6). Only the length matters: values are read to
//! find it.

use super::HevcSets;
use super::pps::HevcPps;
use super::rps::ShortTermSet;
use super::sps::{HevcSps, LongTerm};
use crate::map::bits::{BitReader, ceil_log2};
use crate::map::error::Fault;

/// Reads `slice_segment_header()` of a NAL unit of this type to its end, alignment included.
pub(super) fn header(r: &mut BitReader<'_>, nal_type: u8, sets: &HevcSets) -> Result<(), Fault> {
    let first_in_picture = r.flag()?;
    if nal_type >= BLA_W_LP {
        r.flag()?; // no_output_of_prior_pics_flag
    }
    let pps = sets.pps(r.ue_byte(63, "slice_pic_parameter_set_id")?)?;
    let sps = sets.sps(pps.sps)?;
    let mut dependent = false;
    if !first_in_picture {
        dependent = pps.dependent_slices && r.flag()?;
        r.bits(sps.address_bits())?; // slice_segment_address
    }
    if !dependent {
        let idr = matches!(nal_type, IDR_W_RADL | IDR_N_LP);
        Independent { pps, sps, idr }.read(r)?;
    }
    if pps.entry_points {
        let points = r.ue_max(sps.blocks, "num_entry_point_offsets")?;
        if points > 0 {
            let bits = 1 + r.ue_max(31, "offset_len_minus1")?;
            r.skip(u64::from(points) * u64::from(bits))?;
        }
    }
    if pps.header_extension {
        let bytes = r.ue_max(256, "slice_segment_header_extension_length")?;
        r.skip(8 * u64::from(bytes))?;
    }
    read_alignment(r)
}

/// `byte_alignment()`: a one and zeros. Any other bits mean that the header was parsed
/// wrongly.
fn read_alignment(r: &mut BitReader<'_>) -> Result<(), Fault> {
    let one = r.flag()?;
    let (rest, _) = r.rest_of_byte();
    if one && rest == 0 { Ok(()) } else { Err(Fault::Invalid("byte_alignment")) }
}

/// A slice segment that does not depend on the one before.
struct Independent<'s> {
    pps: &'s HevcPps,
    sps: &'s HevcSps,
    idr: bool,
}

/// `slice_type`, table 7-7.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum HevcSliceKind {
    B,
    P,
    I,
}

impl Independent<'_> {
    fn read(&self, r: &mut BitReader<'_>) -> Result<(), Fault> {
        let Self { pps, sps, .. } = self;
        r.bits(u32::from(pps.extra_header_bits))?; // slice_reserved_flag
        let kind = match r.ue()? {
            0 => HevcSliceKind::B,
            1 => HevcSliceKind::P,
            2 => HevcSliceKind::I,
            _ => return Err(Fault::Invalid("slice_type")),
        };
        if pps.output_flag {
            r.flag()?; // pic_output_flag
        }
        if sps.separate_colour_planes {
            r.bits(2)?; // colour_plane_id
        }
        let mut pictures = u32::from(pps.current_picture_reference); // NumPicTotalCurr
        let mut temporal_mvp = false;
        if !self.idr {
            pictures += self.read_picture_sets(r)?;
            temporal_mvp = sps.temporal_mvp && r.flag()?;
        }
        let mut filters = false;
        if sps.sample_adaptive_offset {
            let luma = r.flag()?;
            let chroma = sps.chroma && r.flag()?;
            filters = luma || chroma;
        }
        match kind {
            HevcSliceKind::I => {}
            HevcSliceKind::P => self.read_inter::<1>(r, pictures, temporal_mvp)?,
            HevcSliceKind::B => self.read_inter::<2>(r, pictures, temporal_mvp)?,
        }
        r.se()?; // slice_qp_delta
        if pps.chroma_qp_offsets {
            r.skip_codes(2)?;
        }
        if pps.colour_transform_qp_offsets {
            r.skip_codes(3)?;
        }
        if pps.chroma_qp_offset_list {
            r.flag()?; // cu_chroma_qp_offset_enabled_flag
        }
        let mut deblocking_disabled = pps.deblocking_disabled;
        if pps.deblocking_override && r.flag()? {
            deblocking_disabled = r.flag()?;
            if !deblocking_disabled {
                r.skip_codes(2)?; // slice_beta_offset_div2, slice_tc_offset_div2
            }
        }
        if pps.loop_filter_across_slices && (filters || !deblocking_disabled) {
            r.flag()?; // slice_loop_filter_across_slices_enabled_flag
        }
        Ok(())
    }

    /// Reads which pictures may be referred to; how many of them the current picture uses.
    fn read_picture_sets(&self, r: &mut BitReader<'_>) -> Result<u32, Fault> {
        let order_bits = u32::from(self.sps.order_bits);
        let sets = &self.sps.short_term_sets;
        r.bits(order_bits)?; // slice_pic_order_cnt_lsb
        let short = if r.flag()? {
            #[expect(clippy::cast_possible_truncation, reason = "at most 64 sets")]
            let index = r.bits(ceil_log2(sets.len() as u32))?;
            sets.get(index as usize).ok_or(Fault::Invalid("short_term_ref_pic_set_idx"))?.used
        } else {
            ShortTermSet::read(r, sets, true)?.used
        };
        let long = match self.sps.long_term {
            Some(known) => read_long_term(r, known, order_bits)?,
            None => 0,
        };
        Ok(u32::from(short) + long)
    }

    /// What P slices (one list) and B slices (two) have more than I slices.
    fn read_inter<const LISTS: usize>(
        &self,
        r: &mut BitReader<'_>,
        pictures: u32,
        temporal_mvp: bool,
    ) -> Result<(), Fault> {
        let Self { pps, sps, .. } = self;
        let mut entries = pps.references.map(u32::from);
        let entries = &mut entries[..LISTS];
        if r.flag()? {
            for list in &mut *entries {
                *list = 1 + r.ue_max(14, "num_ref_idx_active_minus1")?;
            }
        }
        if pps.list_modification && pictures > 1 {
            for list in &*entries {
                if r.flag()? {
                    r.skip(u64::from(list * ceil_log2(pictures)))?; // list_entry
                }
            }
        }
        if LISTS == 2 {
            r.flag()?; // mvd_l1_zero_flag
        }
        if pps.cabac_init {
            r.flag()?; // cabac_init_flag
        }
        if temporal_mvp {
            let from_second = LISTS == 2 && !r.flag()?; // collocated_from_l0_flag
            if entries[usize::from(from_second)] > 1 {
                r.ue()?; // collocated_ref_idx
            }
        }
        if if LISTS == 2 { pps.weighted_bipred } else { pps.weighted_pred } {
            if pps.current_picture_reference {
                // Which entries have flags then depends on where the current picture stands.
                return Err(Fault::Unsupported("weights with the current picture as reference"));
            }
            skip_weights(r, entries, sps.chroma)?;
        }
        r.ue_max(4, "five_minus_max_num_merge_cand")?;
        if sps.slices_choose_mv_resolution {
            r.flag()?; // use_integer_mv_flag
        }
        Ok(())
    }
}

/// Reads the long-term pictures; how many of them the current picture uses.
fn read_long_term(r: &mut BitReader<'_>, known: LongTerm, order_bits: u32) -> Result<u32, Fault> {
    let by_number = if known.count > 0 { r.ue_max(known.count, "num_long_term_sps")? } else { 0 };
    let by_order = r.ue_max(32, "num_long_term_pics")?;
    let mut used = 0;
    for i in 0..by_number + by_order {
        if i < by_number {
            let index = r.bits(ceil_log2(known.count))?; // lt_idx_sps
            if index >= known.count {
                return Err(Fault::Invalid("lt_idx_sps"));
            }
            used += known.used >> index & 1;
        } else {
            r.bits(order_bits)?; // poc_lsb_lt
            used += r.bits(1)?;
        }
        if r.flag()? {
            r.ue()?; // delta_poc_msb_cycle_lt
        }
    }
    Ok(used)
}

/// `pred_weight_table()`, clause 7.3.6.3.
fn skip_weights(r: &mut BitReader<'_>, lists: &[u32], chroma: bool) -> Result<(), Fault> {
    r.ue_max(7, "luma_log2_weight_denom")?;
    if chroma {
        r.se()?; // delta_chroma_log2_weight_denom
    }
    for &entries in lists {
        let luma = r.bits(entries)?.count_ones();
        let chroma = if chroma { r.bits(entries)?.count_ones() } else { 0 };
        r.skip_codes(2 * luma + 4 * chroma)?;
    }
    Ok(())
}

// nal_unit_type, table 7-1.
const BLA_W_LP: u8 = 16;
const IDR_W_RADL: u8 = 19;
const IDR_N_LP: u8 = 20;
