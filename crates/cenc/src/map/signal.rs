//! The video signal of video usability information: what AVC and HEVC have in common of it (ITU-T H.264,
//! E.1.1; H.265, E.2.1).

use super::bits::BitReader;
use super::error::Fault;

/// Reads from `aspect_ratio_info_present_flag` to `matrix_coefficients`, and returns the
/// `transfer_characteristics` if they are described.
pub(super) fn transfer_characteristics(r: &mut BitReader<'_>) -> Result<Option<u8>, Fault> {
    if r.flag()? && r.bits(8)? == EXTENDED_SAR {
        r.skip(32)?; // sar_width, sar_height
    }
    if r.flag()? {
        r.flag()?; // overscan_appropriate_flag
    }
    if r.flag()? {
        r.skip(4)?; // video_format, video_full_range_flag
        if r.flag()? {
            r.skip(8)?; // colour_primaries
            let transfer = r.bits(8)?;
            r.skip(8)?; // matrix_coefficients
            return Ok(u8::try_from(transfer).ok());
        }
    }
    Ok(None)
}

const EXTENDED_SAR: u32 = 255;
