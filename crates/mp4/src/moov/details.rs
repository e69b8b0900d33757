//! What boxes beside the codec configuration, in a sample entry, say.

use super::colour::Colour;
use crate::{
    BoxRef,
    source::{be16, be32},
};

/// What they say. What cannot be read is as if it were not there: it describes the track, and nothing
/// else depends on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Details {
    /// Of `colr`, by the types that ISO and `QuickTime` know.
    pub(super) nclx: Option<Colour>,
    pub(super) nclc: Option<Colour>,
    pub(super) pixel_aspect_ratio: Option<(u32, u32)>,
    /// The beginning of the configuration record of Dolby Vision.
    pub(super) dolby: Option<[u8; 5]>,
    /// Type and parameters of the content, of `mime`.
    pub(super) mime: Option<String>,
    /// What stands behind `stpp.` in a codec string.
    pub(super) ttml: Option<String>,
    /// Sampling rate that the fixed fields cannot hold.
    pub(super) wide_rate: Option<u32>,
    /// Channels that the fixed fields cannot hold.
    pub(super) wide_channels: Option<u16>,
}

impl Details {
    /// Takes what a child of the sample entry says.
    pub(super) fn take(&mut self, child: &BoxRef<'_>) {
        let d = child.payload();
        match &child.kind().0 {
            b"pasp" => self.pixel_aspect_ratio = self.pixel_aspect_ratio.or_else(|| aspect(d)),
            b"colr" => match (d.get(..4), d.get(4..10)) {
                (Some(b"nclx"), Some(codes)) if self.nclx.is_none() => {
                    self.nclx = d.get(10).map(|flags| points(codes, flags & 0x80 != 0));
                }
                (Some(b"nclc"), Some(codes)) => self.nclc = Some(points(codes, false)),
                _ => {}
            },
            b"dvcC" | b"dvvC" | b"dvwC" => {
                self.dolby = self.dolby.or_else(|| d.first_chunk().copied());
            }
            // `MIMEBox` of ISO/IEC 14496-12: a full box with a string.
            b"mime" => {
                let text = d.get(4..).and_then(|text| text.split(|&byte| byte == 0).next());
                self.mime = text.map(|text| String::from_utf8_lossy(text).into_owned());
            }
            // `SamplingRateBox` of ISO/IEC 14496-12: the sampling rate that does not fit 16 bits.
            b"srat" => {
                let rate = d.get(4..8).map(|rate| be32(rate, 0));
                self.wide_rate = self.wide_rate.or(rate);
            }
            _ => {}
        }
    }

    /// Takes the sampling rate and the channels of version 2 of `QuickTime`'s sound description.
    pub(super) fn take_quicktime(&mut self, payload: &[u8]) -> Option<()> {
        if be16(payload.get(8..10)?, 0) != 2 {
            return None;
        }
        let rate = f64::from_be_bytes(payload.get(32..40)?.try_into().ok()?);
        let channels = be32(payload.get(40..44)?, 0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "what is out of range becomes the nearest value"
        )]
        let rate = rate as u32;
        self.wide_rate = Some(rate);
        self.wide_channels = u16::try_from(channels).ok();
        Some(())
    }
}

/// `hSpacing` and `vSpacing`.
fn aspect(d: &[u8]) -> Option<(u32, u32)> {
    let (width, height) = (be32(d.get(..4)?, 0), be32(d.get(4..8)?, 0));
    if width == 0 || height == 0 {
        return None;
    }
    let (mut divisor, mut rest) = (width, height);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    Some((width / divisor, height / divisor))
}

/// Three code points of 16 bits.
fn points(codes: &[u8], full_range: bool) -> Colour {
    let [primaries, transfer, matrix] = [0, 2, 4].map(|at| be16(codes, at));
    Colour { primaries, transfer, matrix, full_range }
}
