//! Picture parameter set (ITU-T H.264 clause 7.3.2.2), as far as slice headers depend on it:
//! reading ends before the transform and scaling extension.

use crate::map::bits::{BitReader, ceil_log2};
use crate::map::error::Fault;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are the standard's flags")]
pub(super) struct AvcPps {
    pub(super) sps: u8,
    pub(super) cabac: bool,
    /// `bottom_field_pic_order_in_frame_present_flag`.
    pub(super) bottom_field_order: bool,
    /// `SliceGroupChangeRate`, when slice headers hold `slice_group_change_cycle`.
    pub(super) slice_group_change_rate: Option<u32>,
    /// `num_ref_idx_l0_default_active_minus1` + 1 and the same for list 1.
    pub(super) references: [u8; 2],
    pub(super) weighted_pred: bool,
    /// `weighted_bipred_idc` is 1.
    pub(super) weighted_bipred: bool,
    pub(super) deblocking_control: bool,
    pub(super) redundant_pictures: bool,
}

impl AvcPps {
    pub(super) fn read(r: &mut BitReader<'_>) -> Result<(u8, Self), Fault> {
        let id = r.ue_byte(255, "pic_parameter_set_id")?;
        let sps = r.ue_byte(31, "seq_parameter_set_id")?;
        let cabac = r.flag()?;
        let bottom_field_order = r.flag()?;
        let slice_group_change_rate = match r.ue_max(7, "num_slice_groups_minus1")? {
            0 => None,
            more => read_slice_groups(r, more)?,
        };
        let references = [
            1 + r.ue_byte(31, "num_ref_idx_l0_default_active_minus1")?,
            1 + r.ue_byte(31, "num_ref_idx_l1_default_active_minus1")?,
        ];
        let weighted_pred = r.flag()?;
        let weighted_bipred = match r.bits(2)? {
            3 => return Err(Fault::Invalid("weighted_bipred_idc")),
            idc => idc == 1,
        };
        r.skip_codes(3)?; // pic_init_qp_minus26, pic_init_qs_minus26, chroma_qp_index_offset
        let deblocking_control = r.flag()?;
        r.flag()?; // constrained_intra_pred_flag
        let redundant_pictures = r.flag()?;
        Ok((
            id,
            Self {
                sps,
                cabac,
                bottom_field_order,
                slice_group_change_rate,
                references,
                weighted_pred,
                weighted_bipred,
                deblocking_control,
                redundant_pictures,
            },
        ))
    }
}

/// The slice group map for `more` + 1 groups; the change rate of map types 3 to 5.
fn read_slice_groups(r: &mut BitReader<'_>, more: u32) -> Result<Option<u32>, Fault> {
    match r.ue()? {
        0 => r.skip_codes(more + 1)?, // run_length_minus1
        1 => {}
        2 => r.skip_codes(2 * more)?, // top_left, bottom_right
        3..=5 => {
            r.flag()?; // slice_group_change_direction_flag
            return Ok(Some(1 + r.ue_max(1 << 28, "slice_group_change_rate_minus1")?));
        }
        6 => {
            let units = 1 + u64::from(r.ue()?);
            r.skip(units * u64::from(ceil_log2(more + 1)))?; // slice_group_id
        }
        _ => return Err(Fault::Invalid("slice_group_map_type")),
    }
    Ok(None)
}
