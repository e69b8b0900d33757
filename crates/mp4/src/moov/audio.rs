//! What a sample entry says about sound.

use super::{
    ac4::Ac4,
    bits::ConfigBits,
    cicp,
    codec::CodecConfig,
    entry::{Media, SampleEntry},
};
use crate::source::be32;

/// What is heard, by the codec's own configuration, else by the fields of the sample entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AudioFacts {
    /// Samples per second that a decoder of all extensions puts out.
    pub sample_rate: Option<u32>,
    /// Channels that it puts out; for what has objects, those without them.
    pub channels: Option<u16>,
    /// `ChannelConfiguration` of ISO/IEC 23091-3 where the codec has that number: AAC and MPEG-H. It
    /// tells layouts of equal size apart.
    pub channel_configuration: Option<u8>,
    /// The channels of AC-3 and E-AC-3 as a mask: in four hexadecimal digits, the value in DASH of
    /// `tag:dolby.com,2014:dash:audio_channel_configuration:2011` (ETSI TS 102 366, annex I).
    pub dolby_channels: Option<u16>,
    /// The channels of AC-4 as a mask of 24 bits: in six hexadecimal digits, the value in DASH of
    /// `tag:dolby.com,2015:dash:audio_channel_configuration:2015` (ETSI TS 103 190-2, annex G).
    pub ac4_channels: Option<u32>,
    /// Complexity index of the objects that E-AC-3 carries (Dolby Atmos, "JOC"; ETSI TS 103 420);
    /// none without objects.
    pub joc_complexity: Option<u8>,
}

impl SampleEntry {
    /// What it says about sound; none if it is no audio sample entry.
    pub fn audio(&self) -> Option<AudioFacts> {
        let Media::Audio { channels, sample_rate, .. } = self.media else { return None };
        let rate = self.details.wide_rate.unwrap_or(sample_rate);
        let count = self.details.wide_channels.unwrap_or(channels);
        let coded = self.config.as_ref().and_then(coded).unwrap_or_default();
        Some(AudioFacts {
            sample_rate: coded.sample_rate.or(Some(rate)).filter(|&rate| rate > 0),
            channels: coded.channels.or(Some(count)).filter(|&count| count > 0),
            ..coded
        })
    }
}

/// What the configuration says.
fn coded(config: &CodecConfig) -> Option<AudioFacts> {
    let d = &*config.data;
    match &config.kind.0 {
        b"esds" => mpeg4(config),
        b"dac3" => ac3(d),
        b"dec3" => eac3(d),
        b"dac4" => {
            let ac4 = Ac4::parse(d)?;
            Some(AudioFacts {
                sample_rate: Some(ac4.sample_rate),
                channels: ac4.channels(),
                ac4_channels: ac4.channel_mask,
                ..AudioFacts::default()
            })
        }
        // Encapsulation of Opus in ISO Base Media File Format, 4.3.2. It always decodes at 48 kHz.
        b"dOps" => Some(of(48_000, *d.get(1)?)),
        // Encapsulation of FLAC in ISO Base Media File Format, 3.3.2: a full box, the header of a
        // metadata block, then STREAMINFO (RFC 9639, 8.2).
        b"dfLa" => {
            let mut bits = ConfigBits::new(d.get(4 + 4 + 10..)?);
            Some(of(bits.take(20)?, bits.byte(3)? + 1))
        }
        // ALACSpecificConfig behind version and flags.
        b"alac" => Some(of(be32(d.get(24..28)?, 0), *d.get(13)?)),
        b"mhaC" => {
            let layout = *d.get(2)?;
            let channels = cicp::channels(layout);
            Some(AudioFacts {
                channels: channels.map(u16::from),
                channel_configuration: channels.and(Some(layout)),
                ..AudioFacts::default()
            })
        }
        _ => None,
    }
}

fn of(rate: u32, channels: u8) -> AudioFacts {
    AudioFacts {
        sample_rate: Some(rate).filter(|&rate| rate > 0),
        channels: Some(u16::from(channels)).filter(|&channels| channels > 0),
        ..AudioFacts::default()
    }
}

fn mpeg4(config: &CodecConfig) -> Option<AudioFacts> {
    // MPEG-4 and MPEG-2 AAC: the decoder specific infos of other object types are no AudioSpecificConfig.
    let info = config.esds().filter(|info| matches!(info.object_type, 0x40 | 0x66..=0x68))?;
    // With parametric stereo, two channels come of a configuration of one.
    let as_configured = info.channels.and_then(cicp::channels) == info.speakers;
    let stereo = (info.speakers == Some(2)).then_some(2);
    Some(AudioFacts {
        sample_rate: info.extension_rate.or(info.sample_rate).filter(|&rate| rate > 0),
        channels: info.speakers.map(u16::from),
        channel_configuration: if as_configured {
            info.channels.filter(|&n| n > 0)
        } else {
            stereo
        },
        ..AudioFacts::default()
    })
}

// Bits of a custom channel map, ETSI TS 102 366, table E.1.4.
const L: u16 = 1 << 15;
const C: u16 = 1 << 14;
const R: u16 = 1 << 13;
const LS: u16 = 1 << 12;
const RS: u16 = 1 << 11;
const CS: u16 = 1 << 8;
const LFE2: u16 = 1 << 1;
const LFE: u16 = 1;
/// Those that stand for two channels.
const DOLBY_PAIRS: u16 = 1 << 10 | 1 << 9 | 1 << 6 | 1 << 5 | 1 << 4 | 1 << 2;

/// By `acmod`, ETSI TS 102 366, 4.4.2.3. A single surround channel is in the middle.
const CODING_MODES: [u16; 8] =
    [L | R, C, L | R, L | C | R, L | R | CS, L | C | R | CS, L | R | LS | RS, L | C | R | LS | RS];

/// By `fscod`, 4.4.1.3; 3 is reserved.
const DOLBY_RATES: [u32; 3] = [48_000, 44_100, 32_000];

fn dolby(rate: u32, mask: u16) -> AudioFacts {
    let channels = mask.count_ones() + (mask & DOLBY_PAIRS).count_ones();
    AudioFacts {
        sample_rate: DOLBY_RATES.get(rate as usize).copied(),
        channels: u16::try_from(channels).ok(),
        dolby_channels: Some(mask),
        ..AudioFacts::default()
    }
}

/// `AC3SpecificBox`, F.4.
fn ac3(d: &[u8]) -> Option<AudioFacts> {
    let mut bits = ConfigBits::new(d);
    let rate = bits.take(2)?;
    bits.skip(5 + 3)?; // bsid, bsmod
    let mode = CODING_MODES[bits.take(3)? as usize];
    Some(dolby(rate, mode | if bits.flag()? { LFE } else { 0 }))
}

/// `EC3SpecificBox`, F.6: the first independent substream with those that depend on it. The others
/// are further programmes.
fn eac3(d: &[u8]) -> Option<AudioFacts> {
    let mut bits = ConfigBits::new(d);
    bits.skip(13)?; // data_rate
    let more = bits.take(3)?;
    let mut facts = eac3_substream(&mut bits)?;
    for _ in 0..more {
        eac3_substream(&mut bits)?;
    }
    // ETSI TS 103 420: what older readers pass over.
    if bits.skip(7).is_some() && bits.flag() == Some(true) {
        facts.joc_complexity = bits.byte(8);
    }
    Some(facts)
}

fn eac3_substream(bits: &mut ConfigBits<'_>) -> Option<AudioFacts> {
    let rate = bits.take(2)?;
    bits.skip(5 + 1 + 1 + 3)?; // bsid, reserved, asvc, bsmod
    let mut mask = CODING_MODES[bits.take(3)? as usize];
    if bits.flag()? {
        mask |= LFE;
    }
    bits.skip(3)?;
    if bits.take(4)? > 0 {
        // chan_loc, table F.6.1: from the lowest bit on, the channels of the map behind Rs; then LFE2.
        if bits.flag()? {
            mask |= LFE2;
        }
        mask |= u16::from(bits.byte(8)?.reverse_bits()) << 3;
    } else {
        bits.skip(1)?;
    }
    Some(dolby(rate, mask))
}
