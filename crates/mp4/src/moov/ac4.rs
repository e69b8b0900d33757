//! AC-4 in ISO files (ETSI TS 103 190-2, annex E).

use super::bits::ConfigBits;

/// What `dac4` says of the presentation that most decoders can play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ac4 {
    pub(super) bitstream_version: u8,
    pub(super) presentation_version: u8,
    pub(super) mdcompat: u8,
    pub(super) sample_rate: u32,
    /// `presentation_channel_mask_v1`; none if it consists of objects.
    pub(super) channel_mask: Option<u32>,
}

impl Ac4 {
    /// `ac4_dsi_v1()`, E.6. None for the older form, which no player of DASH or HLS takes.
    pub(super) fn parse(d: &[u8]) -> Option<Self> {
        let mut bits = ConfigBits::new(d);
        if bits.take(3)? != 1 {
            return None;
        }
        let bitstream_version = bits.byte(7)?;
        let sample_rate = if bits.flag()? { 48_000 } else { 44_100 };
        bits.skip(4)?; // frame_rate_index
        let presentations = bits.take(9)?;
        if bitstream_version > 1 && bits.flag()? {
            bits.skip(16)?; // short_program_id
            if bits.flag()? {
                bits.skip(128)?; // program_uuid
            }
        }
        bits.skip(2 + 32 + 32)?; // ac4_bitrate_dsi()
        bits.align();
        let mut best: Option<Self> = None;
        for _ in 0..presentations {
            let presentation_version = bits.byte(8)?;
            let mut len = bits.take(8)? as usize;
            if len == 255 {
                len += bits.take(16)? as usize;
            }
            let inside = bits.clone();
            bits.skip(8 * len)?;
            if matches!(presentation_version, 1 | 2)
                && let Some((mdcompat, channel_mask)) = presentation(inside)
                // Dolby AC-4 in MPEG-DASH: the lowest compatibility level of all presentations.
                && best.is_none_or(|best| mdcompat < best.mdcompat)
            {
                let versions = (bitstream_version, presentation_version);
                let (bitstream_version, presentation_version) = versions;
                best = Some(Self {
                    bitstream_version,
                    presentation_version,
                    mdcompat,
                    sample_rate,
                    channel_mask,
                });
            }
        }
        best
    }

    /// The channels of the mask: some of its bits stand for pairs.
    pub(super) fn channels(&self) -> Option<u16> {
        const PAIRS: u32 = 0x7_21bd;
        let mask = self.channel_mask? & 0x7_ffff;
        let channels = mask.count_ones() + (mask & PAIRS).count_ones();
        u16::try_from(channels).ok().filter(|&channels| channels > 0)
    }
}

/// The beginning of `ac4_presentation_v1_dsi()`, E.10: `mdcompat` and the channel mask.
fn presentation(mut bits: ConfigBits<'_>) -> Option<(u8, Option<u32>)> {
    if bits.take(5)? == 6 {
        return None; // additional metadata without a presentation
    }
    let mdcompat = bits.byte(3)?;
    if bits.flag()? {
        bits.skip(5)?; // presentation_id
    }
    bits.skip(2 + 2 + 5 + 10)?; // frame rate, metadata version, key
    let mask = if bits.flag()? {
        if matches!(bits.take(5)?, 11..=14) {
            bits.skip(1 + 2)?; // back channels, top channel pairs
        }
        Some(bits.take(24)?)
    } else {
        None
    };
    Some((mdcompat, mask))
}
