//! Picture header (ITU-T H.266 clause 7.3.2.8), in a NAL unit of its own or in a slice header.

use std::sync::Arc;

use super::VvcSets;
use super::lists::read_lists;
use super::pps::VvcPps;
use super::sps::{VvcSps, skip_boundaries, skip_tree};
use super::weights::{WeightCount, skip_weights};
use crate::map::bits::BitReader;
use crate::map::error::Fault;

/// What slice headers depend on.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are the standard's flags")]
pub(super) struct VvcPicture {
    pub(super) sps: Arc<VvcSps>,
    pub(super) pps: Arc<VvcPps>,
    /// `ph_inter_slice_allowed_flag`.
    pub(super) inter_slices: bool,
    pub(super) luma_mapping: bool,
    pub(super) scaling_lists: bool,
    pub(super) temporal_mvp: bool,
    /// `num_ref_entries`, where the reference picture lists stand here.
    pub(super) entries: [u8; 2],
}

impl VvcPicture {
    /// Reads `picture_header_structure()`.
    pub(super) fn read(r: &mut BitReader<'_>, sets: &VvcSets) -> Result<Self, Fault> {
        let random_access = r.flag()?; // ph_gdr_or_irap_pic_flag
        let no_reference = r.flag()?; // ph_non_ref_pic_flag
        let gradual = random_access && r.flag()?; // ph_gdr_pic_flag
        let inter_slices = r.flag()?;
        let intra_slices = !inter_slices || r.flag()?;
        let pps = sets.pps(r.ue_byte(63, "ph_pic_parameter_set_id")?)?;
        let sps = sets.sps(pps.sps)?;
        if pps.partition.as_ref().is_some_and(|partition| partition.block_log2 != sps.block_log2) {
            return Err(Fault::Invalid("pps_log2_ctu_size_minus5"));
        }
        let mut picture = Self {
            sps: Arc::clone(sps),
            pps: Arc::clone(pps),
            inter_slices,
            luma_mapping: false,
            scaling_lists: false,
            temporal_mvp: false,
            entries: [0; 2],
        };
        picture.read_order(r, gradual)?;
        picture.read_filters(r)?;
        if pps.output_flag && !no_reference {
            r.flag()?; // ph_pic_output_flag
        }
        if pps.lists_in_picture {
            picture.entries = read_lists(r, sps, pps)?;
        }
        let partition = sps.partition_override && r.flag()?;
        if intra_slices {
            if partition {
                skip_tree(r)?;
                if sps.dual_tree {
                    skip_tree(r)?;
                }
            }
            picture.skip_subdivisions(r)?;
        }
        if inter_slices {
            if partition {
                skip_tree(r)?;
            }
            picture.skip_subdivisions(r)?;
            picture.read_inter(r)?;
        }
        picture.skip_rest(r)?;
        Ok(picture)
    }

    fn read_order(&self, r: &mut BitReader<'_>, gradual: bool) -> Result<(), Fault> {
        let sps = &self.sps;
        r.bits(u32::from(sps.list_syntax.order_bits))?; // ph_pic_order_cnt_lsb
        if gradual {
            r.ue()?; // ph_recovery_poc_cnt
        }
        r.bits(sps.extra_picture_bits)?;
        if let Some(bits) = sps.order_cycle_bits
            && r.flag()?
        {
            r.bits(u32::from(bits))?; // ph_poc_msb_cycle_val
        }
        Ok(())
    }

    /// From the adaptive loop filter to virtual boundaries.
    fn read_filters(&mut self, r: &mut BitReader<'_>) -> Result<(), Fault> {
        let sps = &self.sps;
        if sps.adaptive_loop_filter && self.pps.alf_in_picture {
            skip_adaptive_loop_filter(r, sps)?;
        }
        self.luma_mapping = sps.luma_mapping && r.flag()?;
        if self.luma_mapping {
            r.bits(2 + u32::from(sps.chroma))?; // ph_lmcs_aps_id, ph_chroma_residual_scale_flag
        }
        self.scaling_lists = sps.scaling_lists && r.flag()?;
        if self.scaling_lists {
            r.bits(3)?; // ph_scaling_list_aps_id
        }
        if sps.picture_boundaries && r.flag()? {
            skip_boundaries(r)?;
        }
        Ok(())
    }

    /// Skips `ph_cu_qp_delta_subdiv` and `ph_cu_chroma_qp_offset_subdiv`, of intra or inter slices.
    fn skip_subdivisions(&self, r: &mut BitReader<'_>) -> Result<(), Fault> {
        let codes = u32::from(self.pps.qp_delta) + u32::from(self.pps.chroma_qp_offset_list);
        Ok(r.skip_codes(codes)?)
    }

    /// From `ph_temporal_mvp_enabled_flag` to the weights.
    fn read_inter(&mut self, r: &mut BitReader<'_>) -> Result<(), Fault> {
        let (sps, pps) = (&self.sps, &self.pps);
        self.temporal_mvp = sps.temporal_mvp && r.flag()?;
        if self.temporal_mvp && pps.lists_in_picture {
            let from_second = self.entries[1] > 0 && !r.flag()?; // ph_collocated_from_l0_flag
            if self.entries[usize::from(from_second)] > 1 {
                r.ue()?; // ph_collocated_ref_idx
            }
        }
        if sps.full_pel_mmvd {
            r.flag()?; // ph_mmvd_fullpel_only_flag
        }
        if !pps.lists_in_picture || self.entries[1] > 0 {
            r.flag()?; // ph_mvd_l1_zero_flag
            r.bits(u32::from(sps.bdof_control) + u32::from(sps.dmvr_control))?;
        }
        if sps.prof_control {
            r.flag()?; // ph_prof_disabled_flag
        }
        if pps.weights_in_picture {
            let first = WeightCount::Coded(self.entries[0]);
            let second = if pps.weighted_bipred && self.entries[1] > 0 {
                WeightCount::Coded(self.entries[1])
            } else {
                WeightCount::Given(0)
            };
            skip_weights(r, sps.chroma, [first, second])?;
        }
        Ok(())
    }

    /// From `ph_qp_delta` to the end.
    fn skip_rest(&self, r: &mut BitReader<'_>) -> Result<(), Fault> {
        let (sps, pps) = (&self.sps, &self.pps);
        if pps.qp_in_picture {
            r.se()?; // ph_qp_delta
        }
        if sps.joint_chroma {
            r.flag()?; // ph_joint_cbcr_sign_flag
        }
        if sps.sample_adaptive_offset && pps.sao_in_picture {
            r.bits(1 + u32::from(sps.chroma))?; // ph_sao_luma_enabled_flag, ph_sao_chroma_enabled_flag
        }
        if pps.deblocking_in_picture && r.flag()? {
            skip_deblocking(r, pps)?;
        }
        if pps.picture_extension {
            skip_extension(r, "ph_extension_length")?;
        }
        Ok(())
    }
}

/// Skips the adaptive loop filter, from `ph_alf_enabled_flag` or `sh_alf_enabled_flag` on.
pub(super) fn skip_adaptive_loop_filter(r: &mut BitReader<'_>, sps: &VvcSps) -> Result<(), Fault> {
    if !r.flag()? {
        return Ok(());
    }
    let luma_sets = r.bits(3)?;
    r.bits(3 * luma_sets)?; // alf_aps_id_luma
    if sps.chroma && r.bits(2)? != 0 {
        r.bits(3)?; // alf_aps_id_chroma
    }
    if sps.cross_component_filter {
        for _ in 0..2 {
            if r.flag()? {
                r.bits(3)?; // alf_cc_cb_aps_id, alf_cc_cr_aps_id
            }
        }
    }
    Ok(())
}

/// Skips the parameters of the deblocking filter behind the flag that says they are present.
pub(super) fn skip_deblocking(r: &mut BitReader<'_>, pps: &VvcPps) -> Result<(), Fault> {
    // Where the PPS disables the filter, these parameters enable it.
    let disabled = !pps.deblocking_disabled && r.flag()?;
    if disabled { Ok(()) } else { pps.skip_deblocking_offsets(r) }
}

/// Skips an extension behind its length in bytes.
pub(super) fn skip_extension(r: &mut BitReader<'_>, field: &'static str) -> Result<(), Fault> {
    let bytes = r.ue_max(256, field)?;
    Ok(r.skip(8 * u64::from(bytes))?)
}
