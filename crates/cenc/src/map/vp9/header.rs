//! `uncompressed_header` (VP9 bitstream specification, 6.2), read for its length.

use super::RefSizes;
use crate::map::bits::{BitError, BitReader};
use crate::map::error::Fault;

/// What the walk needs of a header.
pub(super) struct Header {
    /// Bytes of the uncompressed header.
    pub(super) bytes: usize,
    /// Bytes of the compressed header behind it; none for a frame that is shown again.
    pub(super) compressed: Option<usize>,
    /// The slots that take the frame.
    pub(super) refresh: u8,
    pub(super) size: (u32, u32),
}

impl Header {
    /// Reads the header that `head` begins with.
    pub(super) fn read(head: &[u8], refs: &RefSizes) -> Result<Self, Fault> {
        let mut r = BitReader::plain(head);
        if r.bits(2)? != 2 {
            return Err(Fault::Invalid("frame_marker"));
        }
        let profile = r.bits(1)? | r.bits(1)? << 1;
        if profile == 3 && r.flag()? {
            return Err(Fault::Invalid("reserved_zero"));
        }
        if r.flag()? {
            r.bits(3)?; // frame_to_show_map_idx
            return Ok(Self { bytes: r.bytes(), compressed: None, refresh: 0, size: (0, 0) });
        }
        let non_key = r.flag()?;
        let show_frame = r.flag()?;
        let error_resilient = r.flag()?;
        let (refresh, size) = if non_key {
            non_key_frame(&mut r, profile, show_frame, error_resilient, refs)?
        } else {
            sync_code(&mut r)?;
            color_config(&mut r, profile)?;
            let size = frame_size(&mut r)?;
            render_size(&mut r)?;
            (0xff, size)
        };
        if !error_resilient {
            r.bits(2)?; // refresh_frame_context, frame_parallel_decoding_mode
        }
        r.bits(2)?; // frame_context_idx
        loop_filter_params(&mut r)?;
        r.bits(8)?; // base_q_idx
        for _ in 0..3 {
            if r.flag()? {
                r.bits(5)?; // delta_q
            }
        }
        segmentation_params(&mut r)?;
        tile_info(&mut r, size.0)?;
        let compressed = r.bits(16)? as usize; // header_size_in_bytes
        if compressed == 0 {
            return Err(Fault::Invalid("header_size_in_bytes"));
        }
        if !r.align() {
            return Err(Fault::Malformed("its header does not end where its syntax does"));
        }
        Ok(Self { bytes: r.bytes(), compressed: Some(compressed), refresh, size })
    }
}

/// The fields of frames that are no key frames: `refresh_frame_flags` and the size.
fn non_key_frame(
    r: &mut BitReader<'_>,
    profile: u32,
    show_frame: bool,
    error_resilient: bool,
    refs: &RefSizes,
) -> Result<(u8, (u32, u32)), Fault> {
    let intra_only = !show_frame && r.flag()?;
    if !error_resilient {
        r.bits(2)?; // reset_frame_context
    }
    if intra_only {
        sync_code(r)?;
        if profile > 0 {
            color_config(r, profile)?;
        }
        let refresh = refresh_frame_flags(r)?;
        let size = frame_size(r)?;
        render_size(r)?;
        return Ok((refresh, size));
    }
    let refresh = refresh_frame_flags(r)?;
    let mut slots = [0; 3];
    for slot in &mut slots {
        *slot = r.bits(3)? as usize;
        r.bits(1)?; // ref_frame_sign_bias
    }
    let size = frame_size_with_refs(r, slots, refs)?;
    render_size(r)?;
    r.bits(1)?; // allow_high_precision_mv
    if !r.flag()? {
        r.bits(2)?; // raw_interpolation_filter
    }
    Ok((refresh, size))
}

fn refresh_frame_flags(r: &mut BitReader<'_>) -> Result<u8, BitError> {
    Ok(r.bits(8)?.to_be_bytes()[3])
}

fn sync_code(r: &mut BitReader<'_>) -> Result<(), Fault> {
    if r.bits(24)? == 0x49_83_42 { Ok(()) } else { Err(Fault::Invalid("frame_sync_code")) }
}

fn color_config(r: &mut BitReader<'_>, profile: u32) -> Result<(), Fault> {
    const CS_RGB: u32 = 7;
    if profile >= 2 {
        r.bits(1)?; // ten_or_twelve_bit
    }
    let with_subsampling = profile & 1 == 1;
    if r.bits(3)? != CS_RGB {
        r.bits(1)?; // color_range
        if !with_subsampling {
            return Ok(());
        }
        if r.bits(2)? == 3 {
            return Err(Fault::Invalid("subsampling of profile 1 or 3"));
        }
    } else if !with_subsampling {
        return Err(Fault::Invalid("color_space of profile 0 or 2"));
    }
    if r.flag()? { Err(Fault::Invalid("reserved_zero")) } else { Ok(()) }
}

fn frame_size(r: &mut BitReader<'_>) -> Result<(u32, u32), BitError> {
    Ok((r.bits(16)? + 1, r.bits(16)? + 1))
}

fn render_size(r: &mut BitReader<'_>) -> Result<(), BitError> {
    if r.flag()? { r.skip(32) } else { Ok(()) }
}

/// The size of one of the frames referred to, or one of its own.
fn frame_size_with_refs(
    r: &mut BitReader<'_>,
    slots: [usize; 3],
    refs: &RefSizes,
) -> Result<(u32, u32), Fault> {
    for slot in slots {
        if r.flag()? {
            return refs[slot].ok_or(Fault::NoReference(slot));
        }
    }
    Ok(frame_size(r)?)
}

fn loop_filter_params(r: &mut BitReader<'_>) -> Result<(), BitError> {
    r.bits(6 + 3)?; // loop_filter_level, loop_filter_sharpness
    if r.flag()? && r.flag()? {
        for _ in 0..4 + 2 {
            if r.flag()? {
                r.bits(7)?; // loop_filter_ref_deltas, loop_filter_mode_deltas
            }
        }
    }
    Ok(())
}

fn segmentation_params(r: &mut BitReader<'_>) -> Result<(), BitError> {
    /// Bits of each feature, its sign among them.
    const FEATURE_BITS: [u32; 4] = [9, 7, 2, 0];
    if !r.flag()? {
        return Ok(());
    }
    if r.flag()? {
        probabilities(r, 7)?; // segmentation_tree_probs
        if r.flag()? {
            probabilities(r, 3)?; // segmentation_pred_prob
        }
    }
    if r.flag()? {
        r.bits(1)?; // segmentation_abs_or_delta_update
        for _ in 0..8 {
            for bits in FEATURE_BITS {
                if r.flag()? {
                    r.bits(bits)?;
                }
            }
        }
    }
    Ok(())
}

fn probabilities(r: &mut BitReader<'_>, count: u32) -> Result<(), BitError> {
    for _ in 0..count {
        if r.flag()? {
            r.bits(8)?;
        }
    }
    Ok(())
}

fn tile_info(r: &mut BitReader<'_>, width: u32) -> Result<(), BitError> {
    const MIN_TILE_WIDTH_B64: u32 = 4;
    const MAX_TILE_WIDTH_B64: u32 = 64;
    let columns = width.div_ceil(64);
    let mut log2 = columns.div_ceil(MAX_TILE_WIDTH_B64).next_power_of_two().ilog2();
    let max_log2 = (columns / MIN_TILE_WIDTH_B64).max(1).ilog2();
    while log2 < max_log2 && r.flag()? {
        log2 += 1; // increment_tile_cols_log2
    }
    if r.flag()? {
        r.bits(1)?; // increment_tile_rows_log2
    }
    Ok(())
}
