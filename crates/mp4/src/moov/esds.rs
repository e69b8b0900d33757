//! Decoder configuration of MPEG-4 systems: `esds` and what is inside (ISO/IEC 14496-1, 7.2.6;
//! 14496-3, 1.6.2).

use super::{bits::ConfigBits, cicp};

/// Decoder configuration of an `esds` (ISO/IEC 14496-1, 7.2.6; 14496-3, 1.6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EsdsInfo {
    /// Object type indication: 0x40 is MPEG-4 audio.
    pub object_type: u8,
    /// Audio object type of the decoder specific info: 2 is AAC-LC. Absent without such info.
    pub audio_object_type: Option<u8>,
    /// Sampling rate of the decoder specific info.
    pub sample_rate: Option<u32>,
    /// Channel configuration of the decoder specific info.
    pub channels: Option<u8>,
    /// What a decoder of all extensions plays: 5 with spectral band replication (HE-AAC), 29 with
    /// parametric stereo as well (HE-AAC v2), otherwise the audio object type. It does not matter
    /// whether the extension is signalled in front of the core or, backward compatibly, behind it.
    pub full_object_type: Option<u8>,
    /// Sampling rate that such a decoder puts out, if it is another.
    pub extension_rate: Option<u32>,
    /// Channels that are heard: those of the channel configuration, or of the program configuration
    /// in its place; two with parametric stereo.
    pub speakers: Option<u8>,
    /// `profile_and_level_indication` of MPEG-4 visual (object type 0x20).
    pub visual_profile: Option<u8>,
}

/// Table 1.18 of ISO/IEC 14496-3.
const RATES: [u32; 13] = [
    96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000,
    7350,
];

// Audio object types, table 1.17 of ISO/IEC 14496-3.
const SBR: u32 = 5;
const PS: u32 = 29;
const USAC: u32 = 42;

/// Object type indication of MPEG-4 audio.
pub(super) const MPEG4_AUDIO: u8 = 0x40;
/// Object type indication of MPEG-4 visual.
pub(super) const MPEG4_VISUAL: u8 = 0x20;

impl EsdsInfo {
    pub(super) fn parse(mut d: &[u8]) -> Option<Self> {
        let mut es = descriptor(&mut d, 3)?;
        let flags = *es.get(2)?;
        es = es.get(3..)?;
        if flags & 0x80 != 0 {
            es = es.get(2..)?;
        }
        if flags & 0x40 != 0 {
            es = es.get(1 + usize::from(*es.first()?)..)?;
        }
        if flags & 0x20 != 0 {
            es = es.get(2..)?;
        }
        let mut config = descriptor(&mut es, 4)?;
        let object_type = *config.first()?;
        config = config.get(13..)?;
        let mut info = Self {
            object_type,
            audio_object_type: None,
            sample_rate: None,
            channels: None,
            full_object_type: None,
            extension_rate: None,
            speakers: None,
            visual_profile: None,
        };
        if let Some(specific) = descriptor(&mut config, 5) {
            match (object_type, specific) {
                // visual_object_sequence_start_code
                (MPEG4_VISUAL, [0, 0, 1, 0xb0, profile, ..]) => {
                    info.visual_profile = Some(*profile);
                }
                (MPEG4_VISUAL, _) => {}
                _ => drop(info.audio(ConfigBits::new(specific))),
            }
        }
        Some(info)
    }

    /// `AudioSpecificConfig()`, table 1.15. What is read before it ends early is kept.
    fn audio(&mut self, mut bits: ConfigBits<'_>) -> Option<()> {
        let first = object_type(&mut bits)?;
        self.audio_object_type = u8::try_from(first).ok();
        self.full_object_type = self.audio_object_type;
        self.sample_rate = Some(rate(&mut bits)?);
        let channels = bits.byte(4)?;
        self.channels = Some(channels);
        self.speakers = cicp::channels(channels);
        let mut core = first;
        if matches!(first, SBR | PS) {
            self.extension_rate = Some(rate(&mut bits)?);
            core = object_type(&mut bits)?;
            if core == 22 {
                bits.skip(4)?; // extensionChannelConfiguration
            }
        }
        if first == PS {
            self.parametric_stereo();
        }
        match core {
            1..=4 | 6 | 7 | 17 | 19..=23 => self.general_audio(&mut bits, core, channels)?,
            USAC if channels == 0 => {
                // UsacConfig(), ISO/IEC 23003-3, 5.2.
                if bits.take(5)? == 31 {
                    bits.skip(24)?;
                }
                bits.skip(3)?; // coreSbrFrameLengthIndex
                self.speakers = cicp::channels(bits.byte(5)?);
            }
            _ => {}
        }
        if matches!(core, 17 | 19..=27) {
            bits.skip(2)?; // epConfig
        }
        // What the extensions below stand behind is read for these alone.
        let is_general = matches!(core, 1..=4 | 6 | 7 | 17 | 19..=23);
        if core == first && is_general && bits.left() >= 16 {
            self.compatible_extension(&mut bits)?;
        }
        Some(())
    }

    /// `GASpecificConfig()`, table 4.1.
    fn general_audio(&mut self, bits: &mut ConfigBits<'_>, core: u32, channels: u8) -> Option<()> {
        bits.skip(1)?; // frameLengthFlag
        if bits.flag()? {
            bits.skip(14)?; // coreCoderDelay
        }
        let extended = bits.flag()?;
        if channels == 0 {
            self.speakers = program_channels(bits);
            self.speakers?;
        }
        if matches!(core, 6 | 20) {
            bits.skip(3)?; // layerNr
        }
        if extended {
            match core {
                22 => bits.skip(5 + 11)?,
                17 | 19 | 20 | 23 => bits.skip(3)?,
                _ => {}
            }
            bits.skip(1)?; // extensionFlag3
        }
        Some(())
    }

    /// The extensions that decoders of the core alone pass over.
    fn compatible_extension(&mut self, bits: &mut ConfigBits<'_>) -> Option<()> {
        if bits.take(11)? != 0x2b7 || object_type(bits)? != SBR || !bits.flag()? {
            return Some(());
        }
        self.extension_rate = Some(rate(bits)?);
        self.full_object_type = u8::try_from(SBR).ok();
        if bits.left() >= 12 && bits.take(11)? == 0x548 && bits.flag()? {
            self.full_object_type = u8::try_from(PS).ok();
            self.parametric_stereo();
        }
        Some(())
    }

    fn parametric_stereo(&mut self) {
        if self.speakers == Some(1) {
            self.speakers = Some(2);
        }
    }
}

/// `GetAudioObjectType()`, table 1.16.
fn object_type(bits: &mut ConfigBits<'_>) -> Option<u32> {
    match bits.take(5)? {
        31 => Some(32 + bits.take(6)?),
        aot => Some(aot),
    }
}

/// A sampling rate; none as well if its index is reserved.
fn rate(bits: &mut ConfigBits<'_>) -> Option<u32> {
    match bits.take(4)? {
        15 => bits.take(24),
        index => RATES.get(index as usize).copied(),
    }
}

/// The channels of a `program_config_element()`, table 4.2.
fn program_channels(bits: &mut ConfigBits<'_>) -> Option<u8> {
    bits.skip(4 + 2 + 4)?; // element_instance_tag, object_type, sampling_frequency_index
    let elements = bits.take(4)? + bits.take(4)? + bits.take(4)?; // front, side, back
    let lfe = bits.byte(2)?;
    let data = bits.take(3)?;
    let coupling = bits.take(4)?;
    for width in [4, 4, 3] {
        // Mono, stereo and matrix mixdown.
        if bits.flag()? {
            bits.skip(width)?;
        }
    }
    let mut channels = lfe;
    for _ in 0..elements {
        channels += if bits.flag()? { 2 } else { 1 };
        bits.skip(4)?; // element_tag_select
    }
    bits.skip(4 * usize::from(lfe) + 4 * data as usize + 5 * coupling as usize)?;
    bits.align();
    let comment = bits.take(8)?;
    bits.skip(8 * comment as usize)?;
    Some(channels)
}

/// Takes the descriptor with this tag from the front, skipping others.
fn descriptor<'a>(d: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    loop {
        let found = *d.first()?;
        let (mut at, mut len) = (1, 0_usize);
        for _ in 0..4 {
            let byte = *d.get(at)?;
            at += 1;
            len = len << 7 | usize::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                break;
            }
        }
        let body = d.get(at..at.checked_add(len)?)?;
        *d = &d[at + len..];
        if found == tag {
            return Some(body);
        }
    }
}
