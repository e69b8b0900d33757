//! What a sample entry says about pictures.

use super::{
    bits::ConfigBits,
    colour::{Colour, av1_colour, vpx_colour},
    entry::{Media, SampleEntry},
};
use crate::FourCc;

/// What a visual sample entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VideoFacts {
    /// Coded width in pixels.
    pub width: u16,
    /// Coded height in pixels.
    pub height: u16,
    /// Width and height of a pixel without a common factor, of `pasp` (ISO/IEC 14496-12, 12.1.4);
    /// 1:1 without.
    pub pixel_aspect_ratio: (u32, u32),
    /// Of `colr`, else of the configuration of AV1 and VP9. None where neither says the transfer
    /// characteristics: the parameter sets of AVC and HEVC may then.
    pub colour: Option<Colour>,
}

/// Dolby Vision in a track (Dolby Vision Streams within the ISO Base Media File Format, 2.4).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DolbyVision {
    /// `dv_profile`.
    pub profile: u8,
    /// `dv_level`.
    pub level: u8,
    /// `dv_bl_signal_compatibility_id`: what decoders without Dolby Vision see. 1 is HDR10, 2 is SDR,
    /// 4 is Hybrid Log-Gamma, 0 nothing of use.
    pub compatibility: u8,
    /// The codec string of a decoder with Dolby Vision, such as `dvh1.08.01`. It is that of the sample
    /// entry itself if its format is Dolby Vision's own; otherwise a supplemental one.
    pub codec_string: String,
    /// The brand to name with a supplemental codec string: `SUPPLEMENTAL-CODECS="dvh1.08.01/db1p"` in
    /// HLS, `scte214:supplementalProfiles` in DASH. None if the codec string is no supplemental one, or
    /// the base layer is not compatible with anything.
    pub brand: Option<FourCc>,
}

impl SampleEntry {
    /// What it says about pictures; none if it is no visual sample entry.
    pub fn video(&self) -> Option<VideoFacts> {
        let Media::Video { width, height } = self.media else { return None };
        let details = &self.details;
        let coded = || {
            let config = self.config.as_ref()?;
            match &config.kind.0 {
                b"av1C" => av1_colour(&config.data)
                    .filter(|(_, described)| *described)
                    .map(|(colour, _)| colour),
                b"vpcC" => vpx_colour(&config.data),
                _ => None,
            }
        };
        let known = |colour: Option<Colour>| colour.filter(|colour| colour.is_specified());
        Some(VideoFacts {
            width,
            height,
            pixel_aspect_ratio: details.pixel_aspect_ratio.unwrap_or((1, 1)),
            colour: known(details.nclx).or(known(details.nclc)).or_else(|| known(coded())),
        })
    }

    /// Dolby Vision of the track; none without a configuration record of it, or of a codec that has
    /// no Dolby Vision.
    pub fn dolby_vision(&self) -> Option<DolbyVision> {
        let format = self.original_format;
        let mut bits = ConfigBits::new(self.details.dolby.as_ref()?);
        bits.skip(8 + 8)?; // dv_version_major, dv_version_minor
        let (profile, level) = (bits.byte(7)?, bits.byte(6)?);
        bits.skip(3)?; // which layers are present
        let compatibility = bits.byte(4)?;
        let own = match &format.0 {
            b"hvc1" => FourCc::new(b"dvh1"),
            b"hev1" => FourCc::new(b"dvhe"),
            b"avc1" => FourCc::new(b"dva1"),
            b"avc3" => FourCc::new(b"dvav"),
            b"av01" => FourCc::new(b"dav1"),
            _ if is_dolby_vision(format) => format,
            _ => return None,
        };
        // MPEG-4 Registration Authority, brands. 4 stands for Hybrid Log-Gamma with the transfer
        // characteristics of H.273 or, compatible with decoders of SDR, those of ITU-R BT.2020.
        let brand = match compatibility {
            _ if own == format => None,
            1 => Some(b"db1p"),
            2 => Some(b"db2g"),
            4 if self.video().and_then(|facts| facts.colour).is_some_and(|c| c.transfer == 14) => {
                Some(b"db4g")
            }
            4 => Some(b"db4h"),
            _ => None,
        };
        Some(DolbyVision {
            profile,
            level,
            compatibility,
            codec_string: format!("{own}.{profile:02}.{level:02}"),
            brand: brand.map(FourCc::new),
        })
    }
}

/// Whether the format is one of Dolby Vision's own.
pub(super) fn is_dolby_vision(format: FourCc) -> bool {
    matches!(&format.0, b"dvh1" | b"dvhe" | b"dvav" | b"dva1" | b"dav1")
}
