//! Sequence parameter set (ITU-T H.264 clause 7.3.2.1.1), as far as slice headers depend on it, and the
//! colour behind that.

use crate::map::bits::BitReader;
use crate::map::error::Fault;
use crate::map::signal::transfer_characteristics;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AvcSps {
    pub(super) separate_colour_planes: bool,
    /// `ChromaArrayType` is not 0.
    pub(super) chroma: bool,
    pub(super) frame_num_bits: u8,
    pub(super) order: PictureOrder,
    pub(super) frames_only: bool,
    /// `PicSizeInMapUnits`.
    pub(super) map_units: u32,
    /// `transfer_characteristics` of the video usability information.
    pub(super) transfer: Option<u8>,
}

/// `pic_order_cnt_type`, with what the slice header holds for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PictureOrder {
    Lsb {
        bits: u8,
    },
    Delta,
    /// Type 2, or type 1 with `delta_pic_order_always_zero_flag`.
    Implied,
}

impl AvcSps {
    /// `whole` if there is no more of the NAL unit than `r` has.
    pub(super) fn read(r: &mut BitReader<'_>, whole: bool) -> Result<(u8, Self), Fault> {
        let profile = r.bits(8)?;
        r.skip(16)?; // constraint flags, level
        let id = r.ue_byte(31, "seq_parameter_set_id")?;
        let mut chroma_format = 1;
        let mut separate_colour_planes = false;
        if HAS_CHROMA_FORMAT.contains(&profile) {
            chroma_format = r.ue_max(3, "chroma_format_idc")?;
            separate_colour_planes = chroma_format == 3 && r.flag()?;
            r.ue_max(6, "bit_depth_luma_minus8")?;
            r.ue_max(6, "bit_depth_chroma_minus8")?;
            r.flag()?; // qpprime_y_zero_transform_bypass_flag
            if r.flag()? {
                for list in 0..if chroma_format == 3 { 12 } else { 8 } {
                    if r.flag()? {
                        skip_scaling_list(r, if list < 6 { 16 } else { 64 })?;
                    }
                }
            }
        }
        let frame_num_bits = 4 + r.ue_byte(12, "log2_max_frame_num_minus4")?;
        let order = PictureOrder::read(r)?;
        r.ue()?; // max_num_ref_frames
        r.flag()?; // gaps_in_frame_num_value_allowed_flag
        let width = 1 + r.ue_max(MAX_SIDE, "pic_width_in_mbs_minus1")?;
        let height = 1 + r.ue_max(MAX_SIDE, "pic_height_in_map_units_minus1")?;
        let frames_only = r.flag()?;
        // No slice header depends on what is left, so it may be broken.
        let transfer = match read_transfer(r, frames_only) {
            Err(Fault::Truncated) if !whole => return Err(Fault::Truncated),
            transfer => transfer.unwrap_or(None),
        };
        Ok((
            id,
            Self {
                separate_colour_planes,
                chroma: chroma_format != 0 && !separate_colour_planes,
                frame_num_bits,
                order,
                frames_only,
                map_units: width * height,
                transfer,
            },
        ))
    }
}

/// From behind `frame_mbs_only_flag` to the colour.
fn read_transfer(r: &mut BitReader<'_>, frames_only: bool) -> Result<Option<u8>, Fault> {
    if !frames_only {
        r.flag()?; // mb_adaptive_frame_field_flag
    }
    r.flag()?; // direct_8x8_inference_flag
    if r.flag()? {
        r.skip_codes(4)?; // cropping window
    }
    if r.flag()? { transfer_characteristics(r) } else { Ok(None) }
}

impl PictureOrder {
    fn read(r: &mut BitReader<'_>) -> Result<Self, Fault> {
        match r.ue()? {
            0 => Ok(Self::Lsb { bits: 4 + r.ue_byte(12, "log2_max_pic_order_cnt_lsb_minus4")? }),
            1 => {
                let always_zero = r.flag()?;
                r.skip_codes(2)?; // offset_for_non_ref_pic, offset_for_top_to_bottom_field
                let cycle = r.ue_max(255, "num_ref_frames_in_pic_order_cnt_cycle")?;
                r.skip_codes(cycle)?;
                Ok(if always_zero { Self::Implied } else { Self::Delta })
            }
            2 => Ok(Self::Implied),
            _ => Err(Fault::Invalid("pic_order_cnt_type")),
        }
    }
}

/// `scaling_list()`, clause 7.3.2.1.1.1.
fn skip_scaling_list(r: &mut BitReader<'_>, size: u32) -> Result<(), Fault> {
    let mut last = 8;
    for _ in 0..size {
        let delta = r.se()?;
        if !(-128..=127).contains(&delta) {
            return Err(Fault::Invalid("delta_scale"));
        }
        match (last + delta).rem_euclid(256) {
            0 => break, // the rest repeats the last value
            next => last = next,
        }
    }
    Ok(())
}

/// Values of `profile_idc` with `chroma_format_idc` in the set.
const HAS_CHROMA_FORMAT: [u32; 13] = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];

/// 262144 samples: far above level 6.2 and small enough that areas fit 32 bits.
const MAX_SIDE: u32 = (1 << 14) - 1;
