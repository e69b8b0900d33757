//! Slice header (ITU-T H.264 clause 7.3.3) and what stands before the data in slice data
//! partitions (clause 7.3.2.9). Only the length matters: values are read to find it.

use super::AvcSets;
use super::pps::AvcPps;
use super::sps::{AvcSps, PictureOrder};
use crate::map::bits::{BitReader, ceil_log2};
use crate::map::error::Fault;

/// The fields of the NAL unit header that the syntax of the slice header depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct NalHeader {
    /// `nal_ref_idc`.
    pub(super) ref_idc: u8,
    /// `IdrPicFlag`.
    pub(super) idr: bool,
}

/// Reads `slice_header()` to its end and returns the picture parameter set it uses.
pub(super) fn header<'s>(
    r: &mut BitReader<'_>,
    nal: NalHeader,
    sets: &'s AvcSets,
) -> Result<&'s AvcPps, Fault> {
    r.ue()?; // first_mb_in_slice
    let kind = AvcSliceKind::read(r)?;
    let pps = sets.pps(r.ue_byte(255, "pic_parameter_set_id")?)?;
    let sps = sets.sps(pps.sps)?;
    if sps.separate_colour_planes {
        r.bits(2)?; // colour_plane_id
    }
    r.bits(u32::from(sps.frame_num_bits))?; // frame_num
    let mut field = false;
    if !sps.frames_only {
        field = r.flag()?;
        if field {
            r.flag()?; // bottom_field_flag
        }
    }
    if nal.idr {
        r.ue()?; // idr_pic_id
    }
    read_picture_order(r, sps.order, pps.bottom_field_order && !field)?;
    if pps.redundant_pictures {
        r.ue()?; // redundant_pic_cnt
    }
    if kind == AvcSliceKind::B {
        r.flag()?; // direct_spatial_mv_pred_flag
    }
    if kind.lists() > 0 {
        read_references(r, kind, pps, sps)?;
    }
    if nal.ref_idc != 0 {
        read_marking(r, nal.idr)?;
    }
    if pps.cabac && kind.lists() > 0 {
        r.ue_max(2, "cabac_init_idc")?;
    }
    r.se()?; // slice_qp_delta
    if kind == AvcSliceKind::Sp {
        r.flag()?; // sp_for_switch_flag
    }
    if matches!(kind, AvcSliceKind::Sp | AvcSliceKind::Si) {
        r.se()?; // slice_qs_delta
    }
    if pps.deblocking_control && r.ue_max(2, "disable_deblocking_filter_idc")? != 1 {
        r.skip_codes(2)?; // slice_alpha_c0_offset_div2, slice_beta_offset_div2
    }
    if let Some(rate) = pps.slice_group_change_rate {
        // Ceil(Log2(PicSizeInMapUnits / rate + 1)) of the exact quotient, clause 7.4.3
        r.bits(ceil_log2(sps.map_units.div_ceil(rate) + 1))?; // slice_group_change_cycle
    }
    Ok(pps)
}

/// Slice data coded with CABAC begins with one-bits up to a byte border (clause 7.3.4). Any
/// other bits mean that the header was parsed wrongly.
pub(super) fn check_cabac_alignment(r: &BitReader<'_>) -> Result<(), Fault> {
    let (rest, bits) = r.rest_of_byte();
    if rest == (1 << bits) - 1 { Ok(()) } else { Err(Fault::Invalid("cabac_alignment_one_bit")) }
}

/// The data partition A that partitions B and C belong to.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartitionA {
    slice_id: u32,
    redundant_pictures: bool,
    sps: u8,
}

impl PartitionA {
    /// Reads what follows the slice header in partition A.
    pub(super) fn read(r: &mut BitReader<'_>, pps: &AvcPps) -> Result<Self, Fault> {
        Ok(Self { slice_id: r.ue()?, redundant_pictures: pps.redundant_pictures, sps: pps.sps })
    }

    /// Reads what precedes the data in partition B or C.
    pub(super) fn follow(self, r: &mut BitReader<'_>, sets: &AvcSets) -> Result<(), Fault> {
        if r.ue()? != self.slice_id {
            return Err(Fault::Invalid("slice_id"));
        }
        if sets.sps(self.sps)?.separate_colour_planes {
            r.bits(2)?; // colour_plane_id
        }
        if self.redundant_pictures {
            r.ue()?; // redundant_pic_cnt
        }
        Ok(())
    }
}

/// `slice_type` modulo 5, table 7-6.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AvcSliceKind {
    P,
    B,
    I,
    Sp,
    Si,
}

impl AvcSliceKind {
    fn read(r: &mut BitReader<'_>) -> Result<Self, Fault> {
        match r.ue()? {
            0 | 5 => Ok(Self::P),
            1 | 6 => Ok(Self::B),
            2 | 7 => Ok(Self::I),
            3 | 8 => Ok(Self::Sp),
            4 | 9 => Ok(Self::Si),
            _ => Err(Fault::Invalid("slice_type")),
        }
    }

    /// Reference picture lists of such slices.
    const fn lists(self) -> usize {
        match self {
            Self::I | Self::Si => 0,
            Self::P | Self::Sp => 1,
            Self::B => 2,
        }
    }
}

fn read_picture_order(
    r: &mut BitReader<'_>,
    order: PictureOrder,
    bottom_field: bool,
) -> Result<(), Fault> {
    match order {
        PictureOrder::Lsb { bits } => {
            r.bits(u32::from(bits))?; // pic_order_cnt_lsb
        }
        PictureOrder::Delta => {
            r.se()?; // delta_pic_order_cnt[0]
        }
        PictureOrder::Implied => return Ok(()),
    }
    if bottom_field {
        r.se()?; // delta_pic_order_cnt_bottom or delta_pic_order_cnt[1]
    }
    Ok(())
}

/// List sizes, list modification (clause 7.3.3.1) and weights (clause 7.3.3.2).
fn read_references(
    r: &mut BitReader<'_>,
    kind: AvcSliceKind,
    pps: &AvcPps,
    sps: &AvcSps,
) -> Result<(), Fault> {
    let mut references = pps.references;
    let references = &mut references[..kind.lists()];
    if r.flag()? {
        for entries in &mut *references {
            *entries = 1 + r.ue_byte(31, "num_ref_idx_active_minus1")?;
        }
    }
    for _ in &*references {
        if r.flag()? {
            read_list_modification(r)?;
        }
    }
    let weighted = if kind == AvcSliceKind::B { pps.weighted_bipred } else { pps.weighted_pred };
    if weighted {
        r.ue_max(7, "luma_log2_weight_denom")?;
        if sps.chroma {
            r.ue_max(7, "chroma_log2_weight_denom")?;
        }
        for entries in &*references {
            for _ in 0..*entries {
                if r.flag()? {
                    r.skip_codes(2)?;
                }
                if sps.chroma && r.flag()? {
                    r.skip_codes(4)?;
                }
            }
        }
    }
    Ok(())
}

fn read_list_modification(r: &mut BitReader<'_>) -> Result<(), Fault> {
    for _ in 0..=MAX_REFERENCES {
        match r.ue()? {
            0..=2 => r.ue()?, // abs_diff_pic_num_minus1 or long_term_pic_num
            3 => return Ok(()),
            _ => break,
        };
    }
    Err(Fault::Invalid("modification_of_pic_nums_idc"))
}

/// `dec_ref_pic_marking()`, clause 7.3.3.3.
fn read_marking(r: &mut BitReader<'_>, idr: bool) -> Result<(), Fault> {
    if idr {
        r.bits(2)?; // no_output_of_prior_pics_flag, long_term_reference_flag
        return Ok(());
    }
    if !r.flag()? {
        return Ok(());
    }
    for _ in 0..=MAX_MARKINGS {
        match r.ue()? {
            0 => return Ok(()),
            1 | 2 | 4 | 6 => r.skip_codes(1)?,
            3 => r.skip_codes(2)?,
            5 => {}
            _ => break,
        }
    }
    Err(Fault::Invalid("memory_management_control_operation"))
}

/// Entries of a list of fields, and so the most modifications of one.
const MAX_REFERENCES: u32 = 32;

/// Every field in the buffer may be marked once or twice, and the operations 4 to 6 come once.
const MAX_MARKINGS: u32 = 2 * MAX_REFERENCES + 3;
