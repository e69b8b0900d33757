//! Sequence headers (AV1, 5.5), as far as frame headers depend on them.

use crate::map::bits::{BitError, BitReader};
use crate::map::error::Fault;

#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the bitstream")]
pub(super) struct Sequence {
    pub(super) reduced_still_picture: bool,
    pub(super) decoder_model: Option<DecoderModel>,
    /// `equal_picture_interval`.
    pub(super) equal_interval: bool,
    pub(super) operating_points: Vec<OperatingPoint>,
    pub(super) width_bits: u32,
    pub(super) height_bits: u32,
    pub(super) max_width: u32,
    pub(super) max_height: u32,
    pub(super) frame_ids: Option<FrameIds>,
    pub(super) use_128x128_superblock: bool,
    pub(super) warped_motion: bool,
    pub(super) ref_frame_mvs: bool,
    /// `seq_force_screen_content_tools`; none where each frame says it.
    pub(super) screen_content_tools: Option<bool>,
    /// `seq_force_integer_mv`; none where each frame says it.
    pub(super) integer_mv: Option<bool>,
    /// `OrderHintBits`; 0 without order hints.
    pub(super) order_hint_bits: u32,
    pub(super) superres: bool,
    pub(super) cdef: bool,
    pub(super) restoration: bool,
    pub(super) color: Color,
    pub(super) film_grain: bool,
}

/// Bits of the times in headers.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecoderModel {
    buffer_delay: u32,
    pub(super) removal_time: u32,
    pub(super) presentation_time: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OperatingPoint {
    /// `operating_point_idc`.
    pub(super) idc: u32,
    /// `decoder_model_present_for_this_op`.
    pub(super) has_model: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct FrameIds {
    pub(super) bits: u32,
    pub(super) delta_bits: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Color {
    pub(super) mono: bool,
    /// Whether chroma has half the width and half the height of luma.
    pub(super) is_420: bool,
    pub(super) separate_uv_delta_q: bool,
}

impl Color {
    pub(super) const fn planes(self) -> u32 {
        if self.mono { 1 } else { 3 }
    }
}

impl Sequence {
    pub(super) fn read(r: &mut BitReader<'_>) -> Result<Self, Fault> {
        let mut this = Self::default();
        let profile = r.bits(3)?;
        if profile > 2 {
            return Err(Fault::Invalid("seq_profile"));
        }
        let still_picture = r.flag()?;
        this.reduced_still_picture = r.flag()?;
        if this.reduced_still_picture {
            if !still_picture {
                return Err(Fault::Invalid("reduced_still_picture_header"));
            }
            r.bits(5)?; // seq_level_idx
        } else {
            this.operating_points(r)?;
        }
        this.width_bits = r.bits(4)? + 1;
        this.height_bits = r.bits(4)? + 1;
        this.max_width = r.bits(this.width_bits)? + 1;
        this.max_height = r.bits(this.height_bits)? + 1;
        if !this.reduced_still_picture && r.flag()? {
            let delta_bits = r.bits(4)? + 2;
            this.frame_ids = Some(FrameIds { bits: r.bits(3)? + delta_bits + 1, delta_bits });
        }
        this.use_128x128_superblock = r.flag()?;
        r.bits(2)?; // enable_filter_intra, enable_intra_edge_filter
        if !this.reduced_still_picture {
            this.tools(r)?;
        }
        this.superres = r.flag()?;
        this.cdef = r.flag()?;
        this.restoration = r.flag()?;
        this.color = color_config(r, profile)?;
        this.film_grain = r.flag()?;
        Ok(this)
    }

    fn operating_points(&mut self, r: &mut BitReader<'_>) -> Result<(), BitError> {
        if r.flag()? {
            r.skip(64)?; // num_units_in_display_tick, time_scale
            self.equal_interval = r.flag()?;
            if self.equal_interval {
                r.ue()?; // num_ticks_per_picture_minus_1
            }
            if r.flag()? {
                let buffer_delay = r.bits(5)? + 1;
                r.bits(32)?; // num_units_in_decoding_tick
                self.decoder_model = Some(DecoderModel {
                    buffer_delay,
                    removal_time: r.bits(5)? + 1,
                    presentation_time: r.bits(5)? + 1,
                });
            }
        }
        let display_delay = r.flag()?;
        for _ in 0..=r.bits(5)? {
            let idc = r.bits(12)?;
            if r.bits(5)? > 7 {
                r.bits(1)?; // seq_tier
            }
            let mut has_model = false;
            if let Some(model) = self.decoder_model {
                has_model = r.flag()?;
                if has_model {
                    r.skip(2 * u64::from(model.buffer_delay) + 1)?;
                }
            }
            if display_delay && r.flag()? {
                r.bits(4)?; // initial_display_delay_minus_1
            }
            self.operating_points.push(OperatingPoint { idc, has_model });
        }
        Ok(())
    }

    fn tools(&mut self, r: &mut BitReader<'_>) -> Result<(), BitError> {
        r.bits(2)?; // enable_interintra_compound, enable_masked_compound
        self.warped_motion = r.flag()?;
        r.bits(1)?; // enable_dual_filter
        let order_hint = r.flag()?;
        if order_hint {
            r.bits(1)?; // enable_jnt_comp
            self.ref_frame_mvs = r.flag()?;
        }
        self.screen_content_tools = if r.flag()? { None } else { Some(r.flag()?) };
        if self.screen_content_tools != Some(false) {
            self.integer_mv = if r.flag()? { None } else { Some(r.flag()?) };
        }
        if order_hint {
            self.order_hint_bits = r.bits(3)? + 1;
        }
        Ok(())
    }
}

fn color_config(r: &mut BitReader<'_>, profile: u32) -> Result<Color, BitError> {
    /// `CP_BT_709`, `TC_SRGB`, `MC_IDENTITY`.
    const SRGB: u32 = 0x01_0d_00;
    let high_bit_depth = r.flag()?;
    let twelve_bits = profile == 2 && high_bit_depth && r.flag()?;
    let mono = profile != 1 && r.flag()?;
    let description = if r.flag()? { r.bits(24)? } else { 0x02_02_02 };
    if mono {
        r.bits(1)?; // color_range
        return Ok(Color { mono, is_420: true, separate_uv_delta_q: false });
    }
    let mut is_420 = false;
    if description != SRGB {
        r.bits(1)?; // color_range
        is_420 = match profile {
            0 => true,
            2 if twelve_bits => r.flag()? && r.flag()?,
            _ => false,
        };
        if is_420 {
            r.bits(2)?; // chroma_sample_position
        }
    }
    Ok(Color { mono, is_420, separate_uv_delta_q: r.flag()? })
}
