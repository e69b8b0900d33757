//! Picture parameter set (ITU-T H.265 clause 7.3.2.3), as far as slice headers depend on it.

use super::sps::skip_scaling_lists;
use crate::map::bits::BitReader;
use crate::map::error::Fault;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are the standard's flags")]
pub(super) struct HevcPps {
    pub(super) sps: u8,
    pub(super) dependent_slices: bool,
    pub(super) output_flag: bool,
    pub(super) extra_header_bits: u8,
    pub(super) cabac_init: bool,
    /// `num_ref_idx_l0_default_active_minus1` + 1 and the same for list 1.
    pub(super) references: [u8; 2],
    pub(super) chroma_qp_offsets: bool,
    pub(super) weighted_pred: bool,
    pub(super) weighted_bipred: bool,
    /// Tiles or wavefronts: slices hold entry points.
    pub(super) entry_points: bool,
    pub(super) loop_filter_across_slices: bool,
    pub(super) deblocking_override: bool,
    pub(super) deblocking_disabled: bool,
    pub(super) list_modification: bool,
    pub(super) header_extension: bool,
    /// `chroma_qp_offset_list_enabled_flag`.
    pub(super) chroma_qp_offset_list: bool,
    /// `pps_curr_pic_ref_enabled_flag`.
    pub(super) current_picture_reference: bool,
    /// `pps_slice_act_qp_offsets_present_flag`.
    pub(super) colour_transform_qp_offsets: bool,
}

impl HevcPps {
    pub(super) fn read(r: &mut BitReader<'_>) -> Result<(u8, Self), Fault> {
        let id = r.ue_byte(63, "pps_pic_parameter_set_id")?;
        let mut pps = Self { sps: r.ue_byte(15, "pps_seq_parameter_set_id")?, ..Self::default() };
        pps.dependent_slices = r.flag()?;
        pps.output_flag = r.flag()?;
        for _ in 0..3 {
            pps.extra_header_bits = pps.extra_header_bits << 1 | u8::from(r.flag()?);
        }
        r.flag()?; // sign_data_hiding_enabled_flag
        pps.cabac_init = r.flag()?;
        pps.references = [
            1 + r.ue_byte(14, "num_ref_idx_l0_default_active_minus1")?,
            1 + r.ue_byte(14, "num_ref_idx_l1_default_active_minus1")?,
        ];
        r.se()?; // init_qp_minus26
        r.flag()?; // constrained_intra_pred_flag
        let transform_skip = r.flag()?;
        if r.flag()? {
            r.ue()?; // diff_cu_qp_delta_depth
        }
        r.skip_codes(2)?; // pps_cb_qp_offset, pps_cr_qp_offset
        pps.chroma_qp_offsets = r.flag()?;
        pps.weighted_pred = r.flag()?;
        pps.weighted_bipred = r.flag()?;
        r.flag()?; // transquant_bypass_enabled_flag
        let tiles = r.flag()?;
        let wavefronts = r.flag()?;
        pps.entry_points = tiles || wavefronts;
        if tiles {
            skip_tiles(r)?;
        }
        pps.loop_filter_across_slices = r.flag()?;
        if r.flag()? {
            pps.deblocking_override = r.flag()?;
            pps.deblocking_disabled = r.flag()?;
            if !pps.deblocking_disabled {
                r.skip_codes(2)?; // pps_beta_offset_div2, pps_tc_offset_div2
            }
        }
        if r.flag()? {
            skip_scaling_lists(r)?;
        }
        pps.list_modification = r.flag()?;
        r.ue()?; // log2_parallel_merge_level_minus2
        pps.header_extension = r.flag()?;
        if r.flag()? {
            pps.read_extensions(r, transform_skip)?;
        }
        Ok((id, pps))
    }

    fn read_extensions(
        &mut self,
        r: &mut BitReader<'_>,
        transform_skip: bool,
    ) -> Result<(), Fault> {
        let [range, multilayer, three_d, screen] = [r.flag()?, r.flag()?, r.flag()?, r.flag()?];
        r.bits(4)?; // pps_extension_4bits
        if range {
            self.read_range_extension(r, transform_skip)?;
        }
        if !screen {
            return Ok(());
        }
        if multilayer {
            skip_multilayer_extension(r)?;
        }
        if three_d {
            return Err(Fault::Unsupported("pps_3d_extension before pps_scc_extension"));
        }
        // Clause 7.3.2.3.3; palette initializers behind these do not matter.
        self.current_picture_reference = r.flag()?;
        if r.flag()? {
            self.colour_transform_qp_offsets = r.flag()?;
        }
        Ok(())
    }

    /// Clause 7.3.2.3.2.
    fn read_range_extension(
        &mut self,
        r: &mut BitReader<'_>,
        transform_skip: bool,
    ) -> Result<(), Fault> {
        if transform_skip {
            r.ue()?; // log2_max_transform_skip_block_size_minus2
        }
        r.flag()?; // cross_component_prediction_enabled_flag
        self.chroma_qp_offset_list = r.flag()?;
        if self.chroma_qp_offset_list {
            r.ue()?; // diff_cu_chroma_qp_offset_depth
            let offsets = 1 + r.ue_max(5, "chroma_qp_offset_list_len_minus1")?;
            r.skip_codes(2 * offsets)?;
        }
        Ok(r.skip_codes(2)?) // log2_sao_offset_scale_luma, log2_sao_offset_scale_chroma
    }
}

fn skip_tiles(r: &mut BitReader<'_>) -> Result<(), Fault> {
    let columns = r.ue_max(MAX_TILES, "num_tile_columns_minus1")?;
    let rows = r.ue_max(MAX_TILES, "num_tile_rows_minus1")?;
    if !r.flag()? {
        r.skip_codes(columns + rows)?; // column_width_minus1, row_height_minus1
    }
    r.flag()?; // loop_filter_across_tiles_enabled_flag
    Ok(())
}

/// `pps_multilayer_extension()`, clause F.7.3.2.3.4.
fn skip_multilayer_extension(r: &mut BitReader<'_>) -> Result<(), Fault> {
    r.flag()?; // poc_reset_info_present_flag
    if r.flag()? {
        r.bits(6)?; // pps_scaling_list_ref_layer_id
    }
    for _ in 0..r.ue_max(63, "num_ref_loc_offsets")? {
        r.bits(6)?; // ref_loc_offset_layer_id
        for _ in 0..3 {
            if r.flag()? {
                r.skip_codes(4)?; // scaled reference, reference region, resampling phases
            }
        }
    }
    if r.flag()? {
        return Err(Fault::Unsupported("colour_mapping_table before pps_scc_extension"));
    }
    Ok(())
}

/// More than the 20 columns and 22 rows of level 6.2, as a bound on work.
const MAX_TILES: u32 = 1023;
