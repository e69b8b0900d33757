//! `uncompressed_header` (AV1, 5.9.2), read for its length.

use super::obu::Layer;
use super::params::{self, Segmentation};
use super::refs::{self, Slot, Slots};
use super::sequence::Sequence;
use super::tiles::Tiles;
use crate::map::bits::{BitError, BitReader};
use crate::map::error::Fault;

/// What a header says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// None for a frame that is shown again (`show_existing_frame`).
    pub(super) tiles: Option<Tiles>,
    /// The reference frames behind the frame.
    pub(super) slots: Slots,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FrameType {
    Key,
    Inter,
    IntraOnly,
    Switch,
}

/// The first fields of a header, which most others depend on.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the bitstream")]
pub(super) struct Kind {
    pub(super) frame_type: FrameType,
    show_frame: bool,
    /// Whether the frame is shown, now or later.
    pub(super) showable: bool,
    pub(super) error_resilient: bool,
    pub(super) intra: bool,
}

/// `FrameWidth` and `UpscaledWidth`, `FrameHeight`.
#[derive(Clone, Copy, Debug)]
struct Size {
    width: u32,
    upscaled: u32,
    height: u32,
}

/// Reads the header that `r` is at.
pub(super) fn read(
    r: &mut BitReader<'_>,
    sequence: &Sequence,
    slots: &Slots,
    layer: Layer,
) -> Result<Frame, Fault> {
    if !sequence.reduced_still_picture && r.flag()? {
        return show_existing_frame(r, sequence, slots);
    }
    let kind = Kind::read(r, sequence)?;
    let disable_cdf_update = r.flag()?;
    let screen_content = choice(r, sequence.screen_content_tools)?;
    let integer_mv = screen_content && choice(r, sequence.integer_mv)? || kind.intra;
    if let Some(ids) = sequence.frame_ids {
        r.bits(ids.bits)?; // current_frame_id
    }
    let size_override = match kind.frame_type {
        FrameType::Switch => true,
        _ if sequence.reduced_still_picture => false,
        _ => r.flag()?,
    };
    let order_hint = r.bits(sequence.order_hint_bits)?;
    let mut primary = None;
    if !kind.intra && !kind.error_resilient {
        primary = Some(r.bits(3)? as usize).filter(|&primary| primary != NO_PRIMARY);
    }
    buffer_removal_times(r, sequence, layer)?;
    let refresh = kind.refresh_frame_flags(r)?;
    let mut refs = *slots;
    if (!kind.intra || refresh != ALL) && kind.error_resilient && sequence.order_hint_bits > 0 {
        for slot in &mut refs {
            let hint = r.bits(sequence.order_hint_bits)?; // ref_order_hint
            // Decoders differ in what they put in the place of a frame that was lost.
            *slot = slot.filter(|slot| slot.order_hint == hint);
        }
    }
    let mut reader = Reader { r, sequence, kind, refs: &refs, order_hint };
    let references = reader.references(size_override, screen_content, integer_mv)?;
    if !sequence.reduced_still_picture && !disable_cdf_update {
        reader.r.bits(1)?; // disable_frame_end_update_cdf
    }
    let size = references.size;
    let tiles = Tiles::read(reader.r, sequence, size.width, size.height)?;
    let segmentation = reader.coding(&references, primary)?;
    if sequence.film_grain && kind.showable {
        params::film_grain(reader.r, sequence.color, kind.frame_type == FrameType::Inter)?;
    }
    let slot = Slot {
        key_frame: kind.frame_type == FrameType::Key,
        size: (size.upscaled, size.height),
        order_hint,
        segmentation,
    };
    for (number, to) in refs.iter_mut().enumerate() {
        if refresh & 1 << number != 0 {
            *to = Some(slot);
        }
    }
    Ok(Frame { tiles: Some(tiles), slots: refs })
}

/// `allFrames`.
const ALL: u8 = 0xff;
/// `PRIMARY_REF_NONE`.
const NO_PRIMARY: usize = 7;

/// A flag of the sequence header, or of this one.
fn choice(r: &mut BitReader<'_>, fixed: Option<bool>) -> Result<bool, BitError> {
    fixed.map_or_else(|| r.flag(), Ok)
}

/// A frame that was decoded before. A key frame among them becomes all reference frames (7.21).
fn show_existing_frame(
    r: &mut BitReader<'_>,
    sequence: &Sequence,
    slots: &Slots,
) -> Result<Frame, Fault> {
    let shown = slots[r.bits(3)? as usize];
    presentation_time(r, sequence)?;
    if let Some(ids) = sequence.frame_ids {
        r.bits(ids.bits)?; // display_frame_id
    }
    let slots = match shown {
        Some(slot) if !slot.key_frame => *slots,
        // Of a frame that has not been seen it is not known whether it is one.
        slot => [slot; 8],
    };
    Ok(Frame { tiles: None, slots })
}

/// `temporal_point_info`, if it is there.
fn presentation_time(r: &mut BitReader<'_>, sequence: &Sequence) -> Result<(), BitError> {
    match sequence.decoder_model {
        Some(model) if !sequence.equal_interval => r.skip(model.presentation_time.into()),
        _ => Ok(()),
    }
}

fn buffer_removal_times(
    r: &mut BitReader<'_>,
    sequence: &Sequence,
    layer: Layer,
) -> Result<(), BitError> {
    let Some(model) = sequence.decoder_model else { return Ok(()) };
    if !r.flag()? {
        return Ok(());
    }
    for point in sequence.operating_points.iter().filter(|point| point.has_model) {
        let temporal = point.idc >> layer.temporal & 1;
        let spatial = point.idc >> (layer.spatial + 8) & 1;
        if point.idc == 0 || temporal & spatial == 1 {
            r.skip(model.removal_time.into())?;
        }
    }
    Ok(())
}

impl Kind {
    fn read(r: &mut BitReader<'_>, sequence: &Sequence) -> Result<Self, BitError> {
        let mut this = Self {
            frame_type: FrameType::Key,
            show_frame: true,
            showable: true,
            error_resilient: true,
            intra: true,
        };
        if sequence.reduced_still_picture {
            return Ok(this);
        }
        this.frame_type = match r.bits(2)? {
            0 => FrameType::Key,
            1 => FrameType::Inter,
            2 => FrameType::IntraOnly,
            _ => FrameType::Switch,
        };
        this.intra = matches!(this.frame_type, FrameType::Key | FrameType::IntraOnly);
        this.show_frame = r.flag()?;
        if this.show_frame {
            presentation_time(r, sequence)?;
        } else {
            this.showable = r.flag()?;
        }
        this.error_resilient = this.is_reset() || r.flag()?;
        Ok(this)
    }

    /// Whether the frame becomes all reference frames.
    const fn is_reset(self) -> bool {
        match self.frame_type {
            FrameType::Switch => true,
            FrameType::Key => self.show_frame,
            FrameType::Inter | FrameType::IntraOnly => false,
        }
    }

    fn refresh_frame_flags(self, r: &mut BitReader<'_>) -> Result<u8, Fault> {
        if self.is_reset() {
            return Ok(ALL);
        }
        let flags = r.bits(8)?.to_be_bytes()[3];
        if flags == ALL && self.frame_type == FrameType::IntraOnly {
            return Err(Fault::Invalid("refresh_frame_flags"));
        }
        Ok(flags)
    }
}

/// The frames that a frame refers to, and its size, which may be one of theirs.
struct References {
    size: Size,
    /// `ref_frame_idx`.
    slots: [usize; 7],
    /// `allow_high_precision_mv`.
    high_precision: bool,
    /// `allow_intrabc`.
    intra_block_copy: bool,
}

/// A header on its way.
struct Reader<'r, 'd> {
    r: &'r mut BitReader<'d>,
    sequence: &'r Sequence,
    kind: Kind,
    refs: &'r Slots,
    order_hint: u32,
}

impl Reader<'_, '_> {
    fn references(
        &mut self,
        size_override: bool,
        screen_content: bool,
        integer_mv: bool,
    ) -> Result<References, Fault> {
        if self.kind.intra {
            let size = self.frame_size(size_override)?;
            self.render_size()?;
            let intra_block_copy =
                screen_content && size.upscaled == size.width && self.r.flag()?;
            return Ok(References { size, slots: [0; 7], high_precision: false, intra_block_copy });
        }
        let slots = self.ref_frame_idx()?;
        let size = if size_override && !self.kind.error_resilient {
            self.frame_size_with_refs(&slots)?
        } else {
            let size = self.frame_size(size_override)?;
            self.render_size()?;
            size
        };
        let high_precision = !integer_mv && self.r.flag()?;
        self.motion()?;
        Ok(References { size, slots, high_precision, intra_block_copy: false })
    }

    /// The fields from `quantization_params` to `global_motion_params`. `primary` is the place of the
    /// primary reference frame among the references.
    fn coding(
        &mut self,
        references: &References,
        primary: Option<usize>,
    ) -> Result<Segmentation, Fault> {
        let Self { sequence, kind, refs, .. } = *self;
        let References { size, slots, high_precision, intra_block_copy } = references;
        let intra_block_copy = *intra_block_copy;
        let quantizer = params::quantization(self.r, sequence.color)?;
        let before = primary.map(|primary| {
            let slot = slots[primary];
            refs[slot].map(|slot| slot.segmentation).ok_or(slot)
        });
        let segmentation = params::segmentation(self.r, before)?;
        params::deltas(self.r, quantizer.base > 0, intra_block_copy)?;
        let lossless = quantizer.is_lossless(&segmentation);
        if !lossless && !intra_block_copy {
            params::loop_filter(self.r, sequence.color)?;
            if sequence.cdef {
                params::cdef(self.r, sequence.color)?;
            }
        }
        let all_lossless = lossless && size.width == size.upscaled;
        if sequence.restoration && !all_lossless && !intra_block_copy {
            params::loop_restoration(self.r, sequence)?;
        }
        if !lossless {
            self.r.bits(1)?; // tx_mode_select
        }
        if !kind.intra {
            self.compound(slots)?;
            if !kind.error_resilient && sequence.warped_motion {
                self.r.bits(1)?; // allow_warped_motion
            }
        }
        self.r.bits(1)?; // reduced_tx_set
        if !kind.intra {
            params::global_motion(self.r, *high_precision)?;
        }
        Ok(segmentation)
    }

    /// The slots of the frames that this one refers to.
    fn ref_frame_idx(&mut self) -> Result<[usize; 7], Fault> {
        let Self { sequence, refs, order_hint, .. } = *self;
        let mut short = None;
        if sequence.order_hint_bits > 0 && self.r.flag()? {
            let (last, gold) = (self.r.bits(3)? as usize, self.r.bits(3)? as usize);
            let hints = refs::hints(refs, order_hint, sequence.order_hint_bits)?;
            short = Some(refs::frame_refs(&hints, last, gold)?);
        }
        let mut named = short.unwrap_or_default();
        for slot in &mut named {
            if short.is_none() {
                *slot = self.r.bits(3)? as usize;
            }
            if let Some(ids) = sequence.frame_ids {
                self.r.bits(ids.delta_bits)?; // delta_frame_id_minus_1
            }
        }
        Ok(named)
    }

    fn frame_size(&mut self, size_override: bool) -> Result<Size, BitError> {
        let Self { sequence, .. } = *self;
        let (mut width, mut height) = (sequence.max_width, sequence.max_height);
        if size_override {
            width = self.r.bits(sequence.width_bits)? + 1;
            height = self.r.bits(sequence.height_bits)? + 1;
        }
        self.superres(width, height)
    }

    /// `superres_params`.
    fn superres(&mut self, upscaled: u32, height: u32) -> Result<Size, BitError> {
        let mut width = upscaled;
        if self.sequence.superres && self.r.flag()? {
            let denominator = self.r.bits(3)? + 9;
            width = (upscaled * 8 + denominator / 2) / denominator;
        }
        Ok(Size { width, upscaled, height })
    }

    fn render_size(&mut self) -> Result<(), BitError> {
        if self.r.flag()? { self.r.skip(32) } else { Ok(()) }
    }

    fn frame_size_with_refs(&mut self, named: &[usize; 7]) -> Result<Size, Fault> {
        for &slot in named {
            if self.r.flag()? {
                let (width, height) = self.refs[slot].ok_or(Fault::NoReference(slot))?.size;
                return Ok(self.superres(width, height)?);
            }
        }
        let size = self.frame_size(true)?;
        self.render_size()?;
        Ok(size)
    }

    /// The fields between the size of an inter frame and its tiles.
    fn motion(&mut self) -> Result<(), BitError> {
        if !self.r.flag()? {
            self.r.bits(2)?; // interpolation_filter
        }
        self.r.bits(1)?; // is_motion_mode_switchable
        if self.sequence.ref_frame_mvs && !self.kind.error_resilient {
            self.r.bits(1)?; // use_ref_frame_mvs
        }
        Ok(())
    }

    /// `frame_reference_mode` and `skip_mode_params` of an inter frame.
    fn compound(&mut self, named: &[usize; 7]) -> Result<(), Fault> {
        let bits = self.sequence.order_hint_bits;
        if self.r.flag()?
            && bits > 0
            && refs::is_skip_mode_allowed(self.refs, named, self.order_hint, bits)?
        {
            self.r.bits(1)?; // skip_mode_present
        }
        Ok(())
    }
}
