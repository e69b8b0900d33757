//! The parts of a frame header that stand behind the tiles (AV1, 5.9.12 to 5.9.30).

use super::sequence::{Color, Sequence};
use super::tiles::ns;
use crate::map::bits::{BitError, BitReader};
use crate::map::error::Fault;

/// The quantizer deltas of segments (`SEG_LVL_ALT_Q`); none for segments without.
pub(super) type Segmentation = [Option<i16>; 8];

#[derive(Clone, Copy, Debug)]
pub(super) struct Quantizer {
    /// `base_q_idx`.
    pub(super) base: u8,
    /// Whether there is a delta for some coefficients.
    has_deltas: bool,
}

impl Quantizer {
    /// `CodedLossless`: every segment has the quantizer 0.
    pub(super) fn is_lossless(self, segmentation: &Segmentation) -> bool {
        let index = |delta: &Option<i16>| i16::from(self.base) + delta.unwrap_or(0);
        !self.has_deltas && segmentation.iter().all(|delta| index(delta) <= 0)
    }
}

/// `quantization_params`.
pub(super) fn quantization(r: &mut BitReader<'_>, color: Color) -> Result<Quantizer, BitError> {
    let base = r.bits(8)?.to_be_bytes()[3];
    let mut has_deltas = delta_q(r)?;
    if !color.mono {
        let different = color.separate_uv_delta_q && r.flag()?;
        for _ in 0..if different { 4 } else { 2 } {
            has_deltas |= delta_q(r)?;
        }
    }
    if r.flag()? {
        r.bits(if color.separate_uv_delta_q { 12 } else { 8 })?; // qm_y, qm_u, qm_v
    }
    Ok(Quantizer { base, has_deltas })
}

/// Whether a delta is there, and not 0.
fn delta_q(r: &mut BitReader<'_>) -> Result<bool, BitError> {
    Ok(r.flag()? && r.bits(7)? != 0)
}

/// `segmentation_params`. `before` is the segmentation of the primary reference frame, if there is one,
/// or its slot if that frame has not been seen.
pub(super) fn segmentation(
    r: &mut BitReader<'_>,
    before: Option<Result<Segmentation, usize>>,
) -> Result<Segmentation, Fault> {
    /// Bits of each feature, its sign among them.
    const FEATURE_BITS: [u32; 8] = [9, 7, 7, 7, 7, 3, 0, 0];
    let mut segments = Segmentation::default();
    if !r.flag()? {
        return Ok(segments);
    }
    if let Some(before) = before {
        if r.flag()? {
            r.bits(1)?; // segmentation_temporal_update
        }
        if !r.flag()? {
            return before.map_err(Fault::NoReference);
        }
    }
    for segment in &mut segments {
        for (feature, bits) in FEATURE_BITS.into_iter().enumerate() {
            if r.flag()? {
                let value = r.bits(bits)?;
                if feature == 0 {
                    *segment = Some(signed_9(value));
                }
            }
        }
    }
    Ok(segments)
}

/// su(9).
fn signed_9(value: u32) -> i16 {
    let value = i16::try_from(value).unwrap_or_default();
    if value & 0x100 == 0 { value } else { value - 0x200 }
}

/// `delta_q_params` and `delta_lf_params`.
pub(super) fn deltas(
    r: &mut BitReader<'_>,
    quantized: bool,
    intra_block_copy: bool,
) -> Result<(), BitError> {
    if quantized && r.flag()? {
        r.bits(2)?; // delta_q_res
        if !intra_block_copy && r.flag()? {
            r.bits(3)?; // delta_lf_res, delta_lf_multi
        }
    }
    Ok(())
}

/// `loop_filter_params`, where there is something to filter.
pub(super) fn loop_filter(r: &mut BitReader<'_>, color: Color) -> Result<(), BitError> {
    let levels = r.bits(12)?;
    if !color.mono && levels != 0 {
        r.bits(12)?;
    }
    r.bits(3)?; // loop_filter_sharpness
    if r.flag()? && r.flag()? {
        for _ in 0..8 + 2 {
            if r.flag()? {
                r.bits(7)?; // loop_filter_ref_deltas, loop_filter_mode_deltas
            }
        }
    }
    Ok(())
}

/// `cdef_params`, where there is something to filter.
pub(super) fn cdef(r: &mut BitReader<'_>, color: Color) -> Result<(), BitError> {
    r.bits(2)?; // cdef_damping_minus_3
    let strengths = 1 << r.bits(2)?;
    r.skip(strengths * if color.mono { 6 } else { 12 })
}

/// `lr_params`, where there is something to restore.
pub(super) fn loop_restoration(r: &mut BitReader<'_>, sequence: &Sequence) -> Result<(), BitError> {
    let (mut used, mut used_for_chroma) = (false, false);
    for plane in 0..sequence.color.planes() {
        let is_used = r.bits(2)? != 0; // lr_type
        used |= is_used;
        used_for_chroma |= is_used && plane > 0;
    }
    if used {
        // lr_unit_shift, lr_unit_extra_shift
        if r.flag()? && !sequence.use_128x128_superblock {
            r.bits(1)?;
        }
        if sequence.color.is_420 && used_for_chroma {
            r.bits(1)?; // lr_uv_shift
        }
    }
    Ok(())
}

/// `global_motion_params` of an inter frame. The parameters are coded as differences from those of the
/// primary reference frame; how many bits they take does not depend on it.
pub(super) fn global_motion(r: &mut BitReader<'_>, high_precision: bool) -> Result<(), BitError> {
    for _ in 0..7 {
        if !r.flag()? {
            continue;
        }
        let is_rot_zoom = r.flag()?;
        let pairs = if is_rot_zoom {
            2
        } else if r.flag()? {
            two_parameters(r, if high_precision { 9 } else { 8 })?; // TRANSLATION
            continue;
        } else {
            3 // AFFINE
        };
        for _ in 0..pairs {
            two_parameters(r, 12)?;
        }
    }
    Ok(())
}

/// Two times `read_global_param`, of a parameter with so many `absBits`.
fn two_parameters(r: &mut BitReader<'_>, bits: u32) -> Result<(), BitError> {
    let symbols = (2 << bits) + 1;
    subexp(r, symbols)?;
    subexp(r, symbols)
}

/// `decode_subexp`.
fn subexp(r: &mut BitReader<'_>, symbols: u32) -> Result<(), BitError> {
    let (mut low, mut bits) = (0, 3);
    let mut first = true;
    loop {
        if symbols <= low + (3 << bits) {
            return ns(r, symbols - low).map(drop);
        }
        if !r.flag()? {
            return r.bits(bits).map(drop);
        }
        low += 1 << bits;
        // The first two ranges have the same size.
        bits += u32::from(!first);
        first = false;
    }
}

/// `film_grain_params` of a frame that is shown.
pub(super) fn film_grain(
    r: &mut BitReader<'_>,
    color: Color,
    is_inter: bool,
) -> Result<(), BitError> {
    if !r.flag()? {
        return Ok(());
    }
    r.bits(16)?; // grain_seed
    if is_inter && !r.flag()? {
        return r.bits(3).map(drop); // film_grain_params_ref_idx
    }
    let luma = points(r)?;
    let from_luma = !color.mono && r.flag()?;
    let (mut cb, mut cr) = (0, 0);
    if !color.mono && !from_luma && (luma > 0 || !color.is_420) {
        cb = points(r)?;
        cr = points(r)?;
    }
    r.bits(2)?; // grain_scaling_minus_8
    let lag = u64::from(r.bits(2)?);
    let coefficients = 2 * lag * (lag + 1);
    let has_luma = u64::from(luma > 0);
    r.skip(8 * coefficients * has_luma)?;
    for chroma in [cb, cr] {
        if from_luma || chroma > 0 {
            r.skip(8 * (coefficients + has_luma))?;
        }
    }
    r.bits(4)?; // ar_coeff_shift_minus_6, grain_scale_shift
    for chroma in [cb, cr] {
        if chroma > 0 {
            r.bits(25)?; // mult, luma_mult, offset
        }
    }
    r.bits(2).map(drop) // overlap_flag, clip_to_restricted_range
}

/// The points of a scaling function; their number.
fn points(r: &mut BitReader<'_>) -> Result<u32, BitError> {
    let points = r.bits(4)?;
    r.skip(16 * u64::from(points))?;
    Ok(points)
}
