//! Picture parameter set (ITU-T H.266 clause 7.3.2.5), as far as headers depend on it.

use super::layout::Partition;
use super::read_trailing;
use super::subpictures::{MAX_SIDE, MAX_SUBPICTURES};
use crate::map::bits::BitReader;
use crate::map::error::Fault;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are the standard's flags")]
pub(super) struct VvcPps {
    pub(super) sps: u8,
    /// `pps_pic_height_in_luma_samples`.
    pub(super) height: u32,
    pub(super) output_flag: bool,
    /// Identifiers of subpictures: their bits, and they.
    pub(super) subpicture_ids: Option<(u32, Vec<u32>)>,
    /// Tiles and slices; none with `pps_no_pic_partition_flag`.
    pub(super) partition: Option<Partition>,
    pub(super) cabac_init: bool,
    /// `pps_num_ref_idx_default_active_minus1` + 1.
    pub(super) references: [u8; 2],
    /// `pps_rpl1_idx_present_flag`.
    pub(super) list1_index: bool,
    pub(super) weighted_pred: bool,
    pub(super) weighted_bipred: bool,
    pub(super) qp_delta: bool,
    pub(super) chroma_tool_offsets: bool,
    pub(super) slice_chroma_qp_offsets: bool,
    pub(super) chroma_qp_offset_list: bool,
    pub(super) deblocking_override: bool,
    pub(super) deblocking_disabled: bool,
    pub(super) deblocking_in_picture: bool,
    pub(super) lists_in_picture: bool,
    pub(super) sao_in_picture: bool,
    pub(super) alf_in_picture: bool,
    pub(super) weights_in_picture: bool,
    pub(super) qp_in_picture: bool,
    pub(super) picture_extension: bool,
    pub(super) slice_extension: bool,
}

impl VvcPps {
    pub(super) fn read(r: &mut BitReader<'_>) -> Result<(u8, Self), Fault> {
        let ids = r.bits(6 + 4)?;
        let byte = |value: u32| u8::try_from(value).map_err(|_| Fault::Invalid("u(8)"));
        let (id, sps) = (byte(ids >> 4)?, byte(ids & 15)?);
        let mut pps = Self { sps, ..Self::default() };
        r.flag()?; // pps_mixed_nalu_types_in_pic_flag
        let width = r.ue_max(MAX_SIDE, "pps_pic_width_in_luma_samples")?;
        pps.height = r.ue_max(MAX_SIDE, "pps_pic_height_in_luma_samples")?;
        if r.flag()? {
            r.skip_codes(4)?; // conformance window
        }
        if r.flag()? {
            r.skip_codes(4)?; // scaling window
        }
        pps.output_flag = r.flag()?;
        let partitioned = !r.flag()?;
        if r.flag()? {
            let last = MAX_SUBPICTURES - 1;
            let last = if partitioned { r.ue_max(last, "pps_num_subpics_minus1")? } else { 0 };
            let bits = 1 + r.ue_max(15, "pps_subpic_id_len_minus1")?;
            let ids = (0..=last).map(|_| r.bits(bits)).collect::<Result<_, _>>()?;
            pps.subpicture_ids = Some((bits, ids));
        }
        if partitioned {
            pps.partition = Some(Partition::read(r, width, pps.height)?);
        }
        pps.read_references(r)?;
        pps.read_quantization(r)?;
        if r.flag()? {
            pps.read_deblocking(r)?;
        }
        if partitioned {
            pps.lists_in_picture = r.flag()?;
            pps.sao_in_picture = r.flag()?;
            pps.alf_in_picture = r.flag()?;
            let weighted = pps.weighted_pred || pps.weighted_bipred;
            pps.weights_in_picture = weighted && pps.lists_in_picture && r.flag()?;
            pps.qp_in_picture = r.flag()?;
        }
        pps.picture_extension = r.flag()?;
        pps.slice_extension = r.flag()?;
        if !r.flag()? {
            // Data of an extension (clause 7.4.3.5) change no header.
            read_trailing(r)?;
        }
        Ok((id, pps))
    }

    /// From `pps_cabac_init_present_flag` to the wrap-around.
    fn read_references(&mut self, r: &mut BitReader<'_>) -> Result<(), Fault> {
        self.cabac_init = r.flag()?;
        for default in &mut self.references {
            *default = 1 + r.ue_byte(14, "pps_num_ref_idx_default_active_minus1")?;
        }
        self.list1_index = r.flag()?;
        self.weighted_pred = r.flag()?;
        self.weighted_bipred = r.flag()?;
        if r.flag()? {
            r.ue()?; // pps_pic_width_minus_wraparound_offset
        }
        Ok(())
    }

    /// From `pps_init_qp_minus26` to the offsets of chroma.
    fn read_quantization(&mut self, r: &mut BitReader<'_>) -> Result<(), Fault> {
        r.se()?; // pps_init_qp_minus26
        self.qp_delta = r.flag()?;
        self.chroma_tool_offsets = r.flag()?;
        if !self.chroma_tool_offsets {
            return Ok(());
        }
        r.skip_codes(2)?; // pps_cb_qp_offset, pps_cr_qp_offset
        let joint = r.flag()?;
        if joint {
            r.se()?; // pps_joint_cbcr_qp_offset_value
        }
        self.slice_chroma_qp_offsets = r.flag()?;
        self.chroma_qp_offset_list = r.flag()?;
        if self.chroma_qp_offset_list {
            let offsets = 1 + r.ue_max(5, "pps_chroma_qp_offset_list_len_minus1")?;
            r.skip_codes(offsets * if joint { 3 } else { 2 })?;
        }
        Ok(())
    }

    /// Behind `pps_deblocking_filter_control_present_flag`.
    fn read_deblocking(&mut self, r: &mut BitReader<'_>) -> Result<(), Fault> {
        self.deblocking_override = r.flag()?;
        self.deblocking_disabled = r.flag()?;
        self.deblocking_in_picture =
            self.partition.is_some() && self.deblocking_override && r.flag()?;
        if !self.deblocking_disabled {
            self.skip_deblocking_offsets(r)?;
        }
        Ok(())
    }

    /// Offsets of the deblocking filter, as they stand in the PPS and in headers.
    pub(super) fn skip_deblocking_offsets(&self, r: &mut BitReader<'_>) -> Result<(), Fault> {
        Ok(r.skip_codes(if self.chroma_tool_offsets { 6 } else { 2 })?)
    }
}
