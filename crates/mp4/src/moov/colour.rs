//! Colour descriptions, and where codec configurations have them.

use super::bits::ConfigBits;

/// A colour description in the code points of ITU-T H.273 (ISO/IEC 23091-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    /// `ColourPrimaries`: 1 is ITU-R BT.709, 9 is ITU-R BT.2020.
    pub primaries: u16,
    /// `TransferCharacteristics`: 16 is PQ, 18 is Hybrid Log-Gamma.
    pub transfer: u16,
    /// `MatrixCoefficients`.
    pub matrix: u16,
    /// `VideoFullRangeFlag`.
    pub full_range: bool,
}

impl Colour {
    pub(super) const BT709: Self = Self { primaries: 1, transfer: 1, matrix: 1, full_range: false };

    /// Code point 2 says that they are unknown.
    pub(super) fn is_specified(self) -> bool {
        self.transfer != 2
    }
}

/// The colour that `vpcC` states (VP Codec ISO Media File Format Binding).
pub(super) fn vpx_colour(d: &[u8]) -> Option<Colour> {
    let &[flags, primaries, transfer, matrix] = d.get(6..10)? else { return None };
    Some(Colour {
        primaries: primaries.into(),
        transfer: transfer.into(),
        matrix: matrix.into(),
        full_range: flags & 1 != 0,
    })
}

/// The colour of the sequence header in `av1C`, and whether it is described there. If it is not, all
/// but the range is what AV1-ISOBMFF, 5, has a reader assume.
pub(super) fn av1_colour(d: &[u8]) -> Option<(Colour, bool)> {
    let mut obus = d.get(4..)?;
    // AV1 Bitstream Specification, 5.3.
    loop {
        let &header = obus.first()?;
        let mut at = if header & 4 == 0 { 1 } else { 2 };
        let mut size = 0_usize;
        if header & 2 == 0 {
            size = obus.len().checked_sub(at)?;
        } else {
            for shift in (0..28).step_by(7) {
                let byte = *obus.get(at)?;
                at += 1;
                size |= usize::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    break;
                }
            }
        }
        let payload = obus.get(at..at.checked_add(size)?)?;
        if header >> 3 & 15 == 1 {
            return sequence_colour(&mut ConfigBits::new(payload));
        }
        obus = &obus[at + size..];
    }
}

/// `sequence_header_obu()` up to `color_config()`, AV1 Bitstream Specification, 5.5.
fn sequence_colour(bits: &mut ConfigBits<'_>) -> Option<(Colour, bool)> {
    let profile = bits.take(3)?;
    bits.skip(1)?; // still_picture
    let reduced = bits.flag()?;
    if reduced {
        bits.skip(5)?; // seq_level_idx
    } else {
        let mut delay_bits = None;
        if bits.flag()? {
            bits.skip(32 + 32)?; // num_units_in_display_tick, time_scale
            if bits.flag()? {
                // num_ticks_per_picture_minus_1, as uvlc()
                let mut zeros = 0;
                while !bits.flag()? {
                    zeros += 1;
                }
                bits.skip(if zeros < 32 { zeros } else { 0 })?;
            }
            if bits.flag()? {
                delay_bits = Some(1 + bits.take(5)? as usize);
                bits.skip(32 + 5 + 5)?;
            }
        }
        let display_delay = bits.flag()?;
        for _ in 0..=bits.take(5)? {
            bits.skip(12)?; // operating_point_idc
            if bits.take(5)? > 7 {
                bits.skip(1)?; // seq_tier
            }
            if let Some(delay_bits) = delay_bits
                && bits.flag()?
            {
                bits.skip(2 * delay_bits + 1)?;
            }
            if display_delay && bits.flag()? {
                bits.skip(4)?;
            }
        }
    }
    let sides = (1 + bits.take(4)?) + (1 + bits.take(4)?);
    bits.skip(sides as usize)?; // max_frame_width_minus_1, max_frame_height_minus_1
    if !reduced && bits.flag()? {
        bits.skip(4 + 3)?; // lengths of frame identifiers
    }
    bits.skip(1 + 1 + 1)?; // superblocks, intra tools
    if !reduced {
        bits.skip(1 + 1 + 1 + 1)?; // inter tools
        let order_hint = bits.flag()?;
        if order_hint {
            bits.skip(1 + 1)?;
        }
        let screen_content = bits.flag()? || bits.flag()?;
        if screen_content && !bits.flag()? {
            bits.skip(1)?; // seq_force_integer_mv
        }
        if order_hint {
            bits.skip(3)?; // order_hint_bits_minus_1
        }
    }
    bits.skip(1 + 1 + 1)?; // superres, CDEF, restoration
    // color_config(), 5.5.2.
    if bits.flag()? && profile == 2 {
        bits.skip(1)?; // twelve_bit
    }
    let mono = profile != 1 && bits.flag()?;
    if !bits.flag()? {
        return Some((Colour { full_range: bits.flag()?, ..Colour::BT709 }, false));
    }
    let mut point = || bits.take(8).and_then(|point| u16::try_from(point).ok());
    let (primaries, transfer, matrix) = (point()?, point()?, point()?);
    // sRGB has the full range without saying so.
    let srgb = !mono && (primaries, transfer, matrix) == (1, 13, 0);
    let full_range = srgb || bits.flag()?;
    Some((Colour { primaries, transfer, matrix, full_range }, true))
}
