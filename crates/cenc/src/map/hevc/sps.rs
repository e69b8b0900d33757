//! Sequence parameter set (ITU-T H.265 clause 7.3.2.2), as far as slice headers depend on it.

use super::rps::ShortTermSet;
use super::vui::read_vui;
use crate::map::bits::{BitReader, ceil_log2};
use crate::map::error::Fault;

#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are the standard's flags")]
pub(super) struct HevcSps {
    pub(super) separate_colour_planes: bool,
    /// `ChromaArrayType` is not 0.
    pub(super) chroma: bool,
    pub(super) order_bits: u8,
    /// `PicSizeInCtbsY`.
    pub(super) blocks: u32,
    pub(super) sample_adaptive_offset: bool,
    pub(super) short_term_sets: Vec<ShortTermSet>,
    pub(super) long_term: Option<LongTerm>,
    pub(super) temporal_mvp: bool,
    /// `motion_vector_resolution_control_idc` is 2: slices choose.
    pub(super) slices_choose_mv_resolution: bool,
    /// `transfer_characteristics` of the video usability information.
    pub(super) transfer: Option<u8>,
}

/// Long-term pictures that slices may pick by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LongTerm {
    /// `num_long_term_ref_pics_sps`.
    pub(super) count: u32,
    /// Bit i: `used_by_curr_pic_lt_sps_flag[i]`.
    pub(super) used: u32,
}

impl HevcSps {
    pub(super) fn read(r: &mut BitReader<'_>) -> Result<(u8, Self), Fault> {
        r.bits(4)?; // sps_video_parameter_set_id
        let sub_layers = 1 + r.bits(3)?;
        if sub_layers > 7 {
            return Err(Fault::Invalid("sps_max_sub_layers_minus1"));
        }
        r.flag()?; // sps_temporal_id_nesting_flag
        skip_profile_tier_level(r, sub_layers)?;
        let id = r.ue_byte(15, "sps_seq_parameter_set_id")?;
        let chroma_format = r.ue_max(3, "chroma_format_idc")?;
        let separate_colour_planes = chroma_format == 3 && r.flag()?;
        let width = r.ue_max(MAX_SIDE, "pic_width_in_luma_samples")?;
        let height = r.ue_max(MAX_SIDE, "pic_height_in_luma_samples")?;
        if r.flag()? {
            r.skip_codes(4)?; // conformance window
        }
        let luma_depth = 8 + r.ue_max(8, "bit_depth_luma_minus8")?;
        let chroma_depth = 8 + r.ue_max(8, "bit_depth_chroma_minus8")?;
        let order_bits = 4 + r.ue_byte(12, "log2_max_pic_order_cnt_lsb_minus4")?;
        let each_sub_layer = r.flag()?;
        r.skip_codes(3 * if each_sub_layer { sub_layers } else { 1 })?;
        let blocks = read_block_count(r, width, height)?;
        r.skip_codes(4)?; // transform block sizes and hierarchy depths
        if r.flag()? && r.flag()? {
            skip_scaling_lists(r)?;
        }
        r.flag()?; // amp_enabled_flag
        let sample_adaptive_offset = r.flag()?;
        if r.flag()? {
            r.skip(4 + 4)?; // PCM bit depths
            r.skip_codes(2)?;
            r.flag()?;
        }
        let sets = r.ue_max(64, "num_short_term_ref_pic_sets")?;
        let mut short_term_sets = Vec::new();
        for _ in 0..sets {
            let set = ShortTermSet::read(r, &short_term_sets, false)?;
            short_term_sets.push(set);
        }
        let long_term = if r.flag()? { Some(LongTerm::read(r, order_bits)?) } else { None };
        let temporal_mvp = r.flag()?;
        r.flag()?; // strong_intra_smoothing_enabled_flag
        let transfer = if r.flag()? { read_vui(r, sub_layers)? } else { None };
        let components = if chroma_format == 0 { 1 } else { 3 };
        let depths = [luma_depth, chroma_depth, chroma_depth];
        let slices_choose_mv_resolution = read_extensions(r, &depths[..components])?;
        Ok((
            id,
            Self {
                separate_colour_planes,
                chroma: chroma_format != 0 && !separate_colour_planes,
                order_bits,
                blocks,
                sample_adaptive_offset,
                short_term_sets,
                long_term,
                temporal_mvp,
                slices_choose_mv_resolution,
                transfer,
            },
        ))
    }

    /// Bits of `slice_segment_address`.
    pub(super) const fn address_bits(&self) -> u32 {
        ceil_log2(self.blocks)
    }
}

impl LongTerm {
    fn read(r: &mut BitReader<'_>, order_bits: u8) -> Result<Self, Fault> {
        let count = r.ue_max(32, "num_long_term_ref_pics_sps")?;
        let mut used = 0;
        for i in 0..count {
            r.bits(u32::from(order_bits))?; // lt_ref_pic_poc_lsb_sps
            used |= r.bits(1)? << i;
        }
        Ok(Self { count, used })
    }
}

/// Skips `profile_tier_level( 1, sub_layers - 1 )`, clause 7.3.3.
fn skip_profile_tier_level(r: &mut BitReader<'_>, sub_layers: u32) -> Result<(), Fault> {
    const PROFILE: u64 = 88;
    const LEVEL: u64 = 8;
    r.skip(PROFILE + LEVEL)?;
    let lower = sub_layers - 1;
    let mut bits = 0;
    for _ in 0..lower {
        bits += if r.flag()? { PROFILE } else { 0 };
        bits += if r.flag()? { LEVEL } else { 0 };
    }
    if lower > 0 {
        r.skip(2 * u64::from(8 - lower))?; // reserved_zero_2bits
    }
    Ok(r.skip(bits)?)
}

/// Reads the coding block sizes and returns the number of coding tree blocks in a picture.
fn read_block_count(r: &mut BitReader<'_>, width: u32, height: u32) -> Result<u32, Fault> {
    let smallest = 3 + r.ue_max(3, "log2_min_luma_coding_block_size_minus3")?;
    let log2 = smallest + r.ue_max(3, "log2_diff_max_min_luma_coding_block_size")?;
    if log2 > 6 {
        return Err(Fault::Invalid("log2_diff_max_min_luma_coding_block_size"));
    }
    Ok(width.div_ceil(1 << log2) * height.div_ceil(1 << log2))
}

/// Skips `scaling_list_data()`, clause 7.3.4.
pub(super) fn skip_scaling_lists(r: &mut BitReader<'_>) -> Result<(), Fault> {
    for size in 0..4 {
        let lists = if size == 3 { 2 } else { 6 };
        for _ in 0..lists {
            if r.flag()? {
                if size > 1 {
                    r.se()?; // scaling_list_dc_coef_minus8
                }
                r.skip_codes(64.min(1 << (4 + 2 * size)))?; // scaling_list_delta_coef
            } else {
                r.ue()?; // scaling_list_pred_matrix_id_delta
            }
        }
    }
    Ok(())
}

/// Reads the SPS extensions; whether slices choose the motion vector resolution.
fn read_extensions(r: &mut BitReader<'_>, depths: &[u32]) -> Result<bool, Fault> {
    if !r.flag()? {
        return Ok(false);
    }
    let [range, multilayer, three_d, screen] = [r.flag()?, r.flag()?, r.flag()?, r.flag()?];
    r.bits(4)?; // sps_extension_4bits
    if range {
        r.skip(9)?; // clause 7.3.2.2.2: nine flags
    }
    if multilayer {
        r.flag()?; // inter_view_mv_vert_constraint_flag
    }
    if !screen {
        return Ok(false);
    }
    if three_d {
        return Err(Fault::Unsupported("sps_3d_extension before sps_scc_extension"));
    }
    r.flag()?; // sps_curr_pic_ref_enabled_flag
    if r.flag()? {
        r.skip_codes(2)?; // palette_max_size, delta_palette_max_predictor_size
        if r.flag()? {
            let entries = 1 + u64::from(r.ue_max(MAX_PALETTE, PALETTE_ENTRIES)?);
            let bits: u32 = depths.iter().sum();
            r.skip(entries * u64::from(bits))?;
        }
    }
    Ok(r.bits(2)? == 2)
}

/// Twice the largest width of level 6.2 and small enough that areas fit 32 bits.
const MAX_SIDE: u32 = (1 << 15) - 1;

const PALETTE_ENTRIES: &str = "sps_num_palette_predictor_initializers_minus1";

/// `PaletteMaxPredictorSize` is at most 128 in all profiles; this leaves room.
const MAX_PALETTE: u32 = 4095;
