//! Sequence parameter set (ITU-T H.266 clause 7.3.2.4), as far as headers depend on it.

use super::read_trailing;
use super::refs::{ListSyntax, VvcRefList};
use super::subpictures::{MAX_SIDE, Subpictures};
use crate::map::bits::BitReader;
use crate::map::error::Fault;

#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are the standard's flags")]
pub(super) struct VvcSps {
    /// `CtbLog2SizeY`.
    pub(super) block_log2: u32,
    /// `sps_chroma_format_idc` is not 0.
    pub(super) chroma: bool,
    /// With `sps_subpic_info_present_flag`.
    pub(super) subpictures: Option<Subpictures>,
    pub(super) entropy_sync: bool,
    pub(super) entry_points: bool,
    /// Bits of `ph_poc_msb_cycle_val`.
    pub(super) order_cycle_bits: Option<u8>,
    pub(super) extra_picture_bits: u32,
    pub(super) extra_slice_bits: u32,
    pub(super) partition_override: bool,
    pub(super) dual_tree: bool,
    pub(super) transform_skip: bool,
    pub(super) joint_chroma: bool,
    pub(super) sample_adaptive_offset: bool,
    pub(super) adaptive_loop_filter: bool,
    pub(super) cross_component_filter: bool,
    pub(super) luma_mapping: bool,
    pub(super) idr_lists: bool,
    pub(super) list_syntax: ListSyntax,
    pub(super) lists: [Vec<VvcRefList>; 2],
    pub(super) temporal_mvp: bool,
    pub(super) bdof_control: bool,
    pub(super) dmvr_control: bool,
    pub(super) full_pel_mmvd: bool,
    pub(super) prof_control: bool,
    pub(super) scaling_lists: bool,
    pub(super) dependent_quantization: bool,
    pub(super) sign_data_hiding: bool,
    /// Virtual boundaries are in use and stand in picture headers.
    pub(super) picture_boundaries: bool,
    pub(super) rice_in_slice: bool,
    pub(super) reverse_last_coefficient: bool,
    /// `vui_transfer_characteristics`.
    pub(super) transfer: Option<u8>,
}

/// What the parts of the syntax below share.
struct Basics {
    sub_layers: u32,
    profile: bool,
    chroma_format: u32,
    block_log2: u32,
}

/// Coding tools of inter prediction.
#[expect(clippy::struct_excessive_bools, reason = "they are the standard's flags")]
struct InterTools {
    temporal_mvp: bool,
    bdof_control: bool,
    dmvr_control: bool,
    full_pel_mmvd: bool,
    prof_control: bool,
}

impl VvcSps {
    pub(super) fn read(r: &mut BitReader<'_>) -> Result<(u8, Self), Fault> {
        let id = byte(r, 4)?;
        let video_set = r.bits(4)?;
        let (basics, subpictures) = read_picture_format(r)?;
        let Basics { sub_layers, profile, block_log2, .. } = basics;
        let chroma = basics.chroma_format != 0;
        r.ue_max(8, "sps_bitdepth_minus8")?;
        let entropy_sync = r.flag()?;
        let entry_points = r.flag()?;
        let order_bits = 4 + byte(r, 4)?;
        if order_bits > 16 {
            return Err(Fault::Invalid("sps_log2_max_pic_order_cnt_lsb_minus4"));
        }
        let order_cycle_bits = if r.flag()? {
            Some(1 + r.ue_byte(31 - order_bits, "sps_poc_msb_cycle_len_minus1")?)
        } else {
            None
        };
        let extra_picture_bits = read_extra_bits(r, "sps_num_extra_ph_bytes")?;
        let extra_slice_bits = read_extra_bits(r, "sps_num_extra_sh_bytes")?;
        if profile {
            let each = sub_layers > 1 && r.flag()?;
            r.skip_codes(3 * if each { sub_layers } else { 1 })?; // dpb_parameters()
        }
        let (partition_override, dual_tree) = read_partition(r, chroma)?;
        let large_transform = block_log2 > 5 && r.flag()?;
        let transform_skip = r.flag()?;
        if transform_skip {
            r.ue()?; // sps_log2_transform_skip_max_size_minus2
            r.flag()?; // sps_bdpcm_enabled_flag
        }
        if r.flag()? {
            r.skip(2)?; // sps_explicit_mts_intra_enabled_flag, sps_explicit_mts_inter_enabled_flag
        }
        let low_frequency_transform = r.flag()?;
        let joint_chroma = chroma && read_chroma_tables(r)?;
        let sample_adaptive_offset = r.flag()?;
        let adaptive_loop_filter = r.flag()?;
        let cross_component_filter = adaptive_loop_filter && chroma && r.flag()?;
        let luma_mapping = r.flag()?;
        let weighted_pred = r.flag()?;
        let weighted_bipred = r.flag()?;
        let long_term = r.flag()?;
        let inter_layer = video_set > 0 && r.flag()?;
        let idr_lists = r.flag()?;
        let weighted = weighted_pred || weighted_bipred;
        let list_syntax = ListSyntax { order_bits, long_term, inter_layer, weighted };
        let lists = read_known_lists(r, list_syntax)?;
        r.flag()?; // sps_ref_wraparound_enabled_flag
        let inter = read_inter_tools(r)?;
        let colour_transform = read_intra_tools(r, basics.chroma_format, large_transform)?;
        if transform_skip || colour_transform.1 {
            r.ue()?; // sps_min_qp_prime_ts
        }
        let scaling_lists = read_late_tools(r, low_frequency_transform, colour_transform.0)?;
        let dependent_quantization = r.flag()?;
        let sign_data_hiding = r.flag()?;
        let picture_boundaries = read_boundaries(r)?;
        if profile && r.flag()? {
            skip_timing(r, sub_layers)?;
        }
        r.flag()?; // sps_field_seq_flag
        let transfer = if r.flag()? { read_vui(r)? } else { None };
        let (rice_in_slice, reverse_last_coefficient) = read_extensions(r, transform_skip)?;
        Ok((
            id,
            Self {
                block_log2,
                chroma,
                subpictures,
                entropy_sync,
                entry_points,
                order_cycle_bits,
                extra_picture_bits,
                extra_slice_bits,
                partition_override,
                dual_tree,
                transform_skip,
                joint_chroma,
                sample_adaptive_offset,
                adaptive_loop_filter,
                cross_component_filter,
                luma_mapping,
                idr_lists,
                list_syntax,
                lists,
                temporal_mvp: inter.temporal_mvp,
                bdof_control: inter.bdof_control,
                dmvr_control: inter.dmvr_control,
                full_pel_mmvd: inter.full_pel_mmvd,
                prof_control: inter.prof_control,
                scaling_lists,
                dependent_quantization,
                sign_data_hiding,
                picture_boundaries,
                rice_in_slice,
                reverse_last_coefficient,
                transfer,
            },
        ))
    }
}

/// `n` bits, at most 8.
fn byte(r: &mut BitReader<'_>, n: u32) -> Result<u8, Fault> {
    u8::try_from(r.bits(n)?).map_err(|_| Fault::Invalid("u(8)"))
}

/// From `sps_max_sublayers_minus1` to the subpictures.
fn read_picture_format(r: &mut BitReader<'_>) -> Result<(Basics, Option<Subpictures>), Fault> {
    let sub_layers = 1 + r.bits(3)?;
    if sub_layers > 7 {
        return Err(Fault::Invalid("sps_max_sublayers_minus1"));
    }
    let chroma_format = r.bits(2)?;
    let block_log2 = 5 + r.bits(2)?;
    if block_log2 > 7 {
        return Err(Fault::Invalid("sps_log2_ctu_size_minus5"));
    }
    let profile = r.flag()?;
    if profile {
        skip_profile_tier_level(r, sub_layers)?;
    }
    r.flag()?; // sps_gdr_enabled_flag
    if r.flag()? {
        r.flag()?; // sps_res_change_in_clvs_allowed_flag
    }
    let width = r.ue_max(MAX_SIDE, "sps_pic_width_max_in_luma_samples")?;
    let height = r.ue_max(MAX_SIDE, "sps_pic_height_max_in_luma_samples")?;
    if r.flag()? {
        r.skip_codes(4)?; // conformance window
    }
    let blocks = (width.div_ceil(1 << block_log2), height.div_ceil(1 << block_log2));
    let basics = Basics { sub_layers, profile, chroma_format, block_log2 };
    let subpictures = if r.flag()? { Some(Subpictures::read(r, blocks)?) } else { None };
    Ok((basics, subpictures))
}

/// Skips `profile_tier_level( 1, sub_layers - 1 )`, clause 7.3.3.1.
fn skip_profile_tier_level(r: &mut BitReader<'_>, sub_layers: u32) -> Result<(), Fault> {
    r.skip(8 + 8 + 2)?; // profile and tier, level, two flags
    if r.flag()? {
        // general_constraints_info(), clause 7.3.3.2: 71 flags and numbers, and as many as it says.
        r.skip(71)?;
        let more = r.bits(8)?;
        r.skip(u64::from(more))?;
    }
    if !r.align() {
        return Err(Fault::Invalid("gci_alignment_zero_bit"));
    }
    let levels = r.bits(sub_layers - 1)?.count_ones();
    if !r.align() {
        return Err(Fault::Invalid("ptl_reserved_zero_bit"));
    }
    r.skip(8 * u64::from(levels))?;
    let sub_profiles = r.bits(8)?;
    Ok(r.skip(32 * u64::from(sub_profiles))?)
}

/// The number of extra bits that headers have: bytes of flags say which of them are present.
fn read_extra_bits(r: &mut BitReader<'_>, field: &'static str) -> Result<u32, Fault> {
    let bytes = r.bits(2)?;
    if bytes > 2 {
        return Err(Fault::Invalid(field));
    }
    Ok(r.bits(8 * bytes)?.count_ones())
}

/// How blocks are divided: whether pictures may override it, and whether luma and chroma of intra
/// slices are divided apart (`sps_qtbtt_dual_tree_intra_flag`).
fn read_partition(r: &mut BitReader<'_>, chroma: bool) -> Result<(bool, bool), Fault> {
    r.ue()?; // sps_log2_min_luma_coding_block_size_minus2
    let can_override = r.flag()?;
    skip_tree(r)?; // intra, luma
    let dual_tree = chroma && r.flag()?;
    if dual_tree {
        skip_tree(r)?; // intra, chroma
    }
    skip_tree(r)?; // inter
    Ok((can_override, dual_tree))
}

/// Skips the quad tree's smallest size and the depth and sizes of the trees below it.
pub(super) fn skip_tree(r: &mut BitReader<'_>) -> Result<(), Fault> {
    r.ue()?; // log2_diff_min_qt_min_cb
    if r.ue()? != 0 {
        r.skip_codes(2)?; // log2_diff_max_bt_min_qt, log2_diff_max_tt_min_qt
    }
    Ok(())
}

/// Reads `sps_joint_cbcr_enabled_flag` and the tables behind it.
fn read_chroma_tables(r: &mut BitReader<'_>) -> Result<bool, Fault> {
    let joint = r.flag()?;
    let tables = match (r.flag()?, joint) {
        (true, _) => 1,
        (false, true) => 3,
        (false, false) => 2,
    };
    for _ in 0..tables {
        r.se()?; // sps_qp_table_start_minus26
        let points = 1 + r.ue_max(26 + 48 + 36, "sps_num_points_in_qp_table_minus1")?;
        r.skip_codes(2 * points)?;
    }
    Ok(joint)
}

fn read_known_lists(
    r: &mut BitReader<'_>,
    syntax: ListSyntax,
) -> Result<[Vec<VvcRefList>; 2], Fault> {
    let same = r.flag()?; // sps_rpl1_same_as_rpl0_flag
    let mut lists = [Vec::new(), Vec::new()];
    for list in &mut lists[..if same { 1 } else { 2 }] {
        for _ in 0..r.ue_max(64, "sps_num_ref_pic_lists")? {
            list.push(VvcRefList::read(r, syntax, true)?);
        }
    }
    if same {
        let [first, second] = &mut lists;
        second.clone_from(first);
    }
    Ok(lists)
}

/// From `sps_temporal_mvp_enabled_flag` to `sps_log2_parallel_merge_level_minus2`.
fn read_inter_tools(r: &mut BitReader<'_>) -> Result<InterTools, Fault> {
    let temporal_mvp = r.flag()?;
    if temporal_mvp {
        r.flag()?; // sps_sbtmvp_enabled_flag
    }
    let adaptive_resolution = r.flag()?;
    let bdof_control = r.flag()? && r.flag()?;
    r.flag()?; // sps_smvd_enabled_flag
    let dmvr_control = r.flag()? && r.flag()?;
    let full_pel_mmvd = r.flag()? && r.flag()?;
    let candidates = 6 - r.ue_max(5, "sps_six_minus_max_num_merge_cand")?;
    r.flag()?; // sps_sbt_enabled_flag
    let mut prof_control = false;
    if r.flag()? {
        r.ue()?; // sps_five_minus_max_num_subblock_merge_cand
        r.flag()?; // sps_6param_affine_enabled_flag
        if adaptive_resolution {
            r.flag()?; // sps_affine_amvr_enabled_flag
        }
        prof_control = r.flag()? && r.flag()?;
    }
    r.skip(2)?; // sps_bcw_enabled_flag, sps_ciip_enabled_flag
    if candidates >= 2 && r.flag()? && candidates >= 3 {
        r.ue()?; // sps_max_num_merge_cand_minus_max_num_gpm_cand
    }
    r.ue()?; // sps_log2_parallel_merge_level_minus2
    Ok(InterTools { temporal_mvp, bdof_control, dmvr_control, full_pel_mmvd, prof_control })
}

/// From `sps_isp_enabled_flag` to `sps_act_enabled_flag`: whether that is set, and whether
/// `sps_palette_enabled_flag` is.
fn read_intra_tools(
    r: &mut BitReader<'_>,
    chroma_format: u32,
    large_transform: bool,
) -> Result<(bool, bool), Fault> {
    r.skip(3)?; // sps_isp_enabled_flag, sps_mrl_enabled_flag, sps_mip_enabled_flag
    if chroma_format != 0 {
        r.flag()?; // sps_cclm_enabled_flag
    }
    if chroma_format == 1 {
        r.skip(2)?; // sps_chroma_horizontal_collocated_flag, sps_chroma_vertical_collocated_flag
    }
    let palette = r.flag()?;
    let colour_transform = chroma_format == 3 && !large_transform && r.flag()?;
    Ok((colour_transform, palette))
}

/// From `sps_ibc_enabled_flag` to the scaling matrices: whether there are explicit ones.
fn read_late_tools(
    r: &mut BitReader<'_>,
    low_frequency_transform: bool,
    colour_transform: bool,
) -> Result<bool, Fault> {
    if r.flag()? {
        r.ue()?; // sps_six_minus_max_num_ibc_merge_cand
    }
    if r.flag()? {
        let intervals = 1 + r.bits(2)?; // sps_num_ladf_intervals_minus2
        r.skip_codes(1 + 2 * intervals)?;
    }
    let scaling_lists = r.flag()?;
    if low_frequency_transform && scaling_lists {
        r.flag()?; // sps_scaling_matrix_for_lfnst_disabled_flag
    }
    if colour_transform && scaling_lists && r.flag()? {
        r.flag()?; // sps_scaling_matrix_designated_colour_space_flag
    }
    Ok(scaling_lists)
}

/// Reads the virtual boundaries; whether picture headers may have others.
fn read_boundaries(r: &mut BitReader<'_>) -> Result<bool, Fault> {
    if !r.flag()? {
        return Ok(false);
    }
    if !r.flag()? {
        return Ok(true);
    }
    skip_boundaries(r)?;
    Ok(false)
}

/// Skips the positions of virtual boundaries, as they stand in an SPS and in a picture header.
pub(super) fn skip_boundaries(r: &mut BitReader<'_>) -> Result<(), Fault> {
    for field in ["num_ver_virtual_boundaries", "num_hor_virtual_boundaries"] {
        let boundaries = r.ue_max(3, field)?;
        r.skip_codes(boundaries)?;
    }
    Ok(())
}

/// Skips `general_timing_hrd_parameters()` and `ols_timing_hrd_parameters()`, clause 7.3.5.
fn skip_timing(r: &mut BitReader<'_>, sub_layers: u32) -> Result<(), Fault> {
    r.skip(64)?; // num_units_in_tick, time_scale
    let models = u32::from(r.flag()?) + u32::from(r.flag()?); // of NAL and of VCL units
    let mut decoding_units = false;
    let mut buffers = 1;
    if models > 0 {
        r.flag()?; // general_same_pic_timing_in_all_ols_flag
        decoding_units = r.flag()?;
        r.skip(if decoding_units { 8 + 8 + 4 } else { 8 })?; // tick_divisor_minus2, scales
        buffers = 1 + r.ue_max(31, "hrd_cpb_cnt_minus1")?;
    }
    let each = sub_layers > 1 && r.flag()?; // sps_sublayer_cpb_params_present_flag
    for _ in 0..if each { sub_layers } else { 1 } {
        let fixed_in_general = r.flag()?;
        if fixed_in_general || r.flag()? {
            r.ue()?; // elemental_duration_in_tc_minus1
        } else if models > 0 && buffers == 1 {
            r.flag()?; // low_delay_hrd_flag
        }
        for _ in 0..models * buffers {
            r.skip_codes(if decoding_units { 4 } else { 2 })?;
            r.flag()?; // cbr_flag
        }
    }
    Ok(())
}

/// Reads `vui_payload()` (clause D.1), which says its length, and returns the transfer
/// characteristics if they are described (ITU-T H.274, 7.2).
fn read_vui(r: &mut BitReader<'_>) -> Result<Option<u8>, Fault> {
    let bytes = 1 + u64::from(r.ue_max(1023, "sps_vui_payload_size_minus1")?);
    if !r.align() {
        return Err(Fault::Invalid("sps_vui_alignment_zero_bit"));
    }
    let mut payload = *r;
    r.skip(8 * bytes)?;
    payload.skip(4)?; // progressive, interlaced, not packed, not projected
    if payload.flag()? {
        payload.flag()?; // vui_aspect_ratio_constant_flag
        if payload.bits(8)? == EXTENDED_SAR {
            payload.skip(32)?; // vui_sar_width, vui_sar_height
        }
    }
    if payload.flag()? {
        payload.flag()?; // vui_overscan_appropriate_flag
    }
    if !payload.flag()? {
        return Ok(None);
    }
    payload.skip(8)?; // vui_colour_primaries
    Ok(Some(byte(&mut payload, 8)?))
}

/// Reads the extensions to the end of the set: `sps_ts_residual_coding_rice_present_in_sh_flag` and
/// `sps_reverse_last_sig_coeff_enabled_flag` (clause 7.3.2.22).
fn read_extensions(r: &mut BitReader<'_>, transform_skip: bool) -> Result<(bool, bool), Fault> {
    let (mut rice, mut reverse) = (false, false);
    if r.flag()? {
        let range = r.flag()?;
        let unknown = r.bits(7)? != 0;
        if range {
            r.flag()?; // sps_extended_precision_flag
            rice = transform_skip && r.flag()?;
            r.skip(2)?; // sps_rrc_rice_extension_flag, sps_persistent_rice_adaptation_enabled_flag
            reverse = r.flag()?;
        }
        if unknown {
            // Data of other extensions (clause 7.4.3.4) change no header.
            return Ok((rice, reverse));
        }
    }
    read_trailing(r)?;
    Ok((rice, reverse))
}

const EXTENDED_SAR: u32 = 255;
