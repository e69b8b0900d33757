//! Slice header (ITU-T H.266 clause 7.3.7). Only the length matters: values are read to find it.

use super::layout::SliceLayout;
use super::lists::read_lists;
use super::picture::{VvcPicture, skip_adaptive_loop_filter, skip_deblocking, skip_extension};
use super::subpictures::Subpictures;
use super::weights::{WeightCount, skip_weights};
use super::{CRA, GDR, IDR_N_LP, IDR_W_RADL, VvcSets, read_trailing};
use crate::map::bits::BitReader;
use crate::map::error::Fault;

/// Reads `slice_header()` of a NAL unit of this type to its end, alignment included.
pub(super) fn header(r: &mut BitReader<'_>, nal_type: u8, sets: &VvcSets) -> Result<(), Fault> {
    let own;
    let (picture, embedded) = if r.flag()? {
        own = VvcPicture::read(r, sets)?;
        (&own, true)
    } else {
        let missing = Fault::Malformed("a slice without a picture header before it");
        (sets.picture.as_ref().ok_or(missing)?, false)
    };
    Header { picture, embedded, nal_type }.read(r)
}

struct Header<'p> {
    picture: &'p VvcPicture,
    /// The picture header is a part of the slice header.
    embedded: bool,
    nal_type: u8,
}

/// `sh_slice_type`, table 9.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum VvcSliceKind {
    B,
    P,
    I,
}

impl Header<'_> {
    fn read(&self, r: &mut BitReader<'_>) -> Result<(), Fault> {
        let VvcPicture { sps, pps, .. } = self.picture;
        let subpicture = match &sps.subpictures {
            Some(all) => self.read_subpicture(r, all)?,
            None => 0,
        };
        let rows = pps.height.div_ceil(1 << sps.block_log2);
        let parts = SliceLayout::new(pps.partition.as_ref(), rows, sps.subpictures.as_ref()).read(
            r,
            subpicture,
            sps.extra_slice_bits,
        )?;
        let kind = self.read_kind(r)?;
        if matches!(self.nal_type, IDR_W_RADL | IDR_N_LP | CRA | GDR) {
            r.flag()?; // sh_no_output_of_prior_pics_flag
        }
        if sps.adaptive_loop_filter && !pps.alf_in_picture {
            skip_adaptive_loop_filter(r, sps)?;
        }
        if !self.embedded {
            // sh_lmcs_used_flag, sh_explicit_scaling_list_used_flag
            let flags = [self.picture.luma_mapping, self.picture.scaling_lists];
            r.bits(flags.into_iter().map(u32::from).sum())?;
        }
        let idr = matches!(self.nal_type, IDR_W_RADL | IDR_N_LP);
        let entries = if !pps.lists_in_picture && (!idr || sps.idr_lists) {
            read_lists(r, sps, pps)?
        } else {
            self.picture.entries
        };
        self.read_references(r, kind, entries)?;
        self.skip_quantization(r)?;
        self.skip_filters(r)?;
        self.skip_residual_coding(r)?;
        if pps.slice_extension {
            skip_extension(r, "sh_slice_header_extension_length")?;
        }
        let points = if sps.entry_points { parts.entry_points(sps.entropy_sync) } else { 0 };
        if points > 0 {
            let bits = 1 + r.ue_max(31, "sh_entry_offset_len_minus1")?;
            r.skip(u64::from(points) * u64::from(bits))?; // sh_entry_point_offset_minus1
        }
        read_trailing(r)
    }

    /// Reads `sh_subpic_id` and returns `CurrSubpicIdx`.
    fn read_subpicture(&self, r: &mut BitReader<'_>, all: &Subpictures) -> Result<usize, Fault> {
        let id = r.bits(all.id_bits)?;
        let number = if all.explicit_ids {
            let ids = match &self.picture.pps.subpicture_ids {
                Some((bits, ids)) if *bits == all.id_bits => Some(ids),
                Some(_) => return Err(Fault::Invalid("pps_subpic_id_len_minus1")),
                None => all.ids.as_ref(),
            };
            ids.and_then(|ids| ids.iter().position(|&other| other == id))
        } else {
            usize::try_from(id).ok()
        };
        number.filter(|&number| number < all.places.len()).ok_or(Fault::Invalid("sh_subpic_id"))
    }

    fn read_kind(&self, r: &mut BitReader<'_>) -> Result<VvcSliceKind, Fault> {
        let kind = match if self.picture.inter_slices { r.ue()? } else { 2 } {
            0 => VvcSliceKind::B,
            1 => VvcSliceKind::P,
            2 => VvcSliceKind::I,
            _ => return Err(Fault::Invalid("sh_slice_type")),
        };
        // Slices of random access pictures are intra slices, but in layers that refer to others.
        if kind != VvcSliceKind::I && matches!(self.nal_type, IDR_W_RADL..=CRA) {
            return Err(Fault::Invalid("sh_slice_type"));
        }
        Ok(kind)
    }

    /// From `sh_num_ref_idx_active_override_flag` to the weights.
    fn read_references(
        &self,
        r: &mut BitReader<'_>,
        kind: VvcSliceKind,
        entries: [u8; 2],
    ) -> Result<(), Fault> {
        let VvcPicture { sps, pps, .. } = self.picture;
        let lists = match kind {
            VvcSliceKind::I => return Ok(()),
            VvcSliceKind::P => 1,
            VvcSliceKind::B => 2,
        };
        let mut active = [0; 2]; // NumRefIdxActive
        let choice = entries[..lists].iter().any(|&entries| entries > 1);
        let override_default = !choice || r.flag()?;
        for list in 0..lists {
            active[list] = if !override_default {
                entries[list].min(pps.references[list])
            } else if choice && entries[list] > 1 {
                1 + r.ue_byte(14, "sh_num_ref_idx_active_minus1")?
            } else {
                1
            };
        }
        if pps.cabac_init {
            r.flag()?; // sh_cabac_init_flag
        }
        if self.picture.temporal_mvp && !pps.lists_in_picture {
            let from_second = lists == 2 && !r.flag()?; // sh_collocated_from_l0_flag
            if active[usize::from(from_second)] > 1 {
                r.ue()?; // sh_collocated_ref_idx
            }
        }
        let weighted = if lists == 2 { pps.weighted_bipred } else { pps.weighted_pred };
        if weighted && !pps.weights_in_picture {
            skip_weights(r, sps.chroma, active.map(WeightCount::Given))?;
        }
        Ok(())
    }

    fn skip_quantization(&self, r: &mut BitReader<'_>) -> Result<(), Fault> {
        let VvcPicture { sps, pps, .. } = self.picture;
        if !pps.qp_in_picture {
            r.se()?; // sh_qp_delta
        }
        if pps.slice_chroma_qp_offsets {
            r.skip_codes(2 + u32::from(sps.joint_chroma))?;
        }
        if pps.chroma_qp_offset_list {
            r.flag()?; // sh_cu_chroma_qp_offset_enabled_flag
        }
        Ok(())
    }

    fn skip_filters(&self, r: &mut BitReader<'_>) -> Result<(), Fault> {
        let VvcPicture { sps, pps, .. } = self.picture;
        if sps.sample_adaptive_offset && !pps.sao_in_picture {
            r.bits(1 + u32::from(sps.chroma))?; // sh_sao_luma_used_flag, sh_sao_chroma_used_flag
        }
        if pps.deblocking_override && !pps.deblocking_in_picture && r.flag()? {
            skip_deblocking(r, pps)?;
        }
        Ok(())
    }

    fn skip_residual_coding(&self, r: &mut BitReader<'_>) -> Result<(), Fault> {
        let sps = &self.picture.sps;
        let dependent = sps.dependent_quantization && r.flag()?;
        let hiding = sps.sign_data_hiding && !dependent && r.flag()?;
        let disabled = sps.transform_skip && !dependent && !hiding && r.flag()?;
        if sps.rice_in_slice && !disabled {
            r.bits(3)?; // sh_ts_residual_coding_rice_idx_minus1
        }
        if sps.reverse_last_coefficient {
            r.flag()?; // sh_reverse_last_sig_coeff_flag
        }
        Ok(())
    }
}
