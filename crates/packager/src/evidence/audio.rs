//! What audio access units begin with. Common Encryption protects them whole, so a wrong key leaves
//! nothing of it.

use lanelock_mp4::SampleEntry;

use super::aac::Aac;

/// What is looked for in the access units of an audio codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audio {
    Ac3,
    Eac3,
    Flac,
    Alac,
    Mhas,
    /// Streams in each packet.
    Opus {
        streams: u8,
    },
    Aac(Aac),
}

impl Audio {
    /// None for codecs that are not looked into.
    pub(super) fn new(entry: &SampleEntry) -> Option<Self> {
        Some(match &entry.original_format.0 {
            b"ac-3" => Self::Ac3,
            b"ec-3" => Self::Eac3,
            b"fLaC" => Self::Flac,
            b"alac" => Self::Alac,
            b"mhm1" | b"mhm2" => Self::Mhas,
            b"Opus" => match entry.config.as_ref()?.data.get(10..)? {
                // Channel mapping family 0: one stream. The others say how many.
                [0, ..] => Self::Opus { streams: 1 },
                [_, streams, ..] => Self::Opus { streams: *streams },
                _ => return None,
            },
            b"mp4a" => Self::Aac(Aac::new(entry)?),
            _ => return None,
        })
    }

    /// Whether `unit` begins as the codec demands; none if that cannot be said.
    pub(super) fn check(self, unit: &[u8]) -> Option<bool> {
        match self {
            Self::Ac3 => Some(ac3(unit)),
            Self::Eac3 => Some(eac3(unit)),
            Self::Flac => Some(flac(unit)),
            Self::Alac => Some(alac(unit)),
            Self::Mhas => Some(mhas(unit).is_some()),
            Self::Opus { streams } => Some(opus(unit, streams).is_some()),
            Self::Aac(aac) => aac.check(unit),
        }
    }

    /// What an access unit is expected to be, for messages.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::Ac3 => "AC-3 with its sync word",
            Self::Eac3 => "Enhanced AC-3 with its sync word",
            Self::Flac => "FLAC with its frame header",
            Self::Alac => "ALAC with its element header",
            Self::Mhas => "MPEG-H 3D Audio in packets",
            Self::Opus { .. } => "Opus with a possible packet length",
            Self::Aac(_) => "AAC with a possible channel element",
        }
    }

    /// The share of noise that is refused, and what a unit that passes tells in bits. For AAC both
    /// were measured on noise, as for Opus, whose packets have little that could be wrong.
    pub(super) fn power(self) -> (f64, f64) {
        match self {
            Self::Aac(_) => (0.9, 3.5),
            Self::Opus { .. } => (0.3, 0.5),
            Self::Alac => (1.0, 12.0),
            _ => (1.0, 16.0),
        }
    }
}

/// `syncinfo()` and `bsid` (ETSI TS 102 366, 4.3.1 and 4.3.2).
fn ac3(unit: &[u8]) -> bool {
    let [0x0b, 0x77, _, _, rate_and_size, bsid, ..] = *unit else { return false };
    rate_and_size >> 6 != 3 && rate_and_size & 63 < 38 && bsid >> 3 <= 10
}

/// The same in Enhanced AC-3 (annex E); the independent substream may be AC-3.
fn eac3(unit: &[u8]) -> bool {
    matches!(*unit, [0x0b, 0x77, _, _, _, bsid, ..] if bsid >> 3 <= 16)
}

/// The frame header (RFC 9639, 9.1): sync code, and no reserved value in the fields behind it.
fn flac(unit: &[u8]) -> bool {
    let [0xff, 0xf8 | 0xf9, size_and_rate, channels_and_depth, ..] = *unit else { return false };
    size_and_rate >> 4 != 0
        && size_and_rate & 15 != 15
        && channels_and_depth >> 4 <= 10
        && channels_and_depth >> 1 & 7 != 3
        && channels_and_depth & 1 == 0
}

/// The element header of the published decoder: single, pair or LFE channel, an instance tag, and 12
/// unused bits that must be 0.
fn alac(unit: &[u8]) -> bool {
    let [first, second, third, ..] = *unit else { return false };
    matches!(first >> 5, 0 | 1 | 3) && first & 1 == 0 && second == 0 && third >> 5 == 0
}

/// MHAS packets (ISO/IEC 23008-3, 14.2) that fill the unit.
fn mhas(unit: &[u8]) -> Option<()> {
    let mut rest = unit;
    while !rest.is_empty() {
        let mut at = 0;
        escaped(rest, &mut at, [3, 8, 8])?; // MHASPacketType
        escaped(rest, &mut at, [2, 8, 32])?; // MHASPacketLabel
        let length = usize::try_from(escaped(rest, &mut at, [11, 24, 24])?).ok()?;
        rest = rest.get(at / 8..)?.get(length..)?;
    }
    Some(())
}

/// `escapedValue()` (ISO/IEC 23003-3, 5.2): a field of all ones is followed by a longer one.
fn escaped(bytes: &[u8], at: &mut usize, widths: [u32; 3]) -> Option<u64> {
    let mut sum = 0;
    for width in widths {
        let mut value = 0_u64;
        for _ in 0..width {
            value = value << 1 | u64::from(bytes.get(*at / 8)? >> (7 - *at % 8) & 1);
            *at += 1;
        }
        sum += value;
        if value != (1 << width) - 1 {
            break;
        }
    }
    Some(sum)
}

/// The rules on packets (RFC 6716, 3.4) that the lengths can break, for `streams` packets of which all
/// but the last say how long they are (appendix B; RFC 7845, 5.1.1).
fn opus(mut packet: &[u8], streams: u8) -> Option<()> {
    for _ in 1..streams {
        packet = opus_packet(packet, true)?;
    }
    opus_packet(packet, false).map(drop)
}

/// What follows a packet that says how long it is; nothing for one that goes to the end.
fn opus_packet(packet: &[u8], delimited: bool) -> Option<&[u8]> {
    let (&toc, mut rest) = packet.split_first()?;
    let (mut frames, mut padding, mut varied) =
        ([1, 2, 2, 0][usize::from(toc & 3)], 0, toc & 3 == 2);
    if toc & 3 == 3 {
        let (&count, later) = rest.split_first()?;
        rest = later;
        frames = usize::from(count & 63);
        varied = count & 0x80 != 0;
        // 120 ms at most.
        if frames == 0 || frames * opus_duration(toc >> 3) > 48 * 120 {
            return None;
        }
        let mut more = count & 0x40 != 0;
        while more {
            let (&byte, later) = rest.split_first()?;
            rest = later;
            padding += usize::from(byte.min(254));
            more = byte == 255;
        }
    }
    // Lengths of the frames but the last one, if they differ; then that of the last one, or of all.
    let mut sum = 0;
    for _ in 1..if varied { frames } else { 1 } {
        let (length, later) = opus_length(rest)?;
        (rest, sum) = (later, sum + length);
    }
    let alike = if varied { 1 } else { frames };
    if delimited {
        let (length, later) = opus_length(rest)?;
        return later.get(sum + alike * length + padding..);
    }
    let left = rest.len().checked_sub(padding)?.checked_sub(sum)?;
    (left % alike == 0 && left / alike <= 1275).then_some(&[])
}

/// A frame length of one or two bytes (3.2.1), and what follows it.
fn opus_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    match *bytes {
        [first @ ..252, ref rest @ ..] => Some((usize::from(first), rest)),
        [first, second, ref rest @ ..] => {
            Some((usize::from(second) * 4 + usize::from(first), rest))
        }
        _ => None,
    }
}

/// Samples of a frame at 48 kHz, by the configuration number (table 2).
fn opus_duration(config: u8) -> usize {
    let config = usize::from(config);
    match config {
        0..12 => [480, 960, 1920, 2880][config % 4],
        12..16 => [480, 960][config % 2],
        _ => [120, 240, 480, 960][config % 4],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanelock_testkit::Rng;

    const OPUS: Audio = Audio::Opus { streams: 1 };

    #[test]
    fn power_is_not_overstated() {
        let mut rng = Rng::from_env("power_is_not_overstated");
        for audio in [Audio::Ac3, Audio::Eac3, Audio::Flac, Audio::Alac, Audio::Mhas, OPUS] {
            let (rounds, mut refused) = (4000, 0);
            for _ in 0..rounds {
                let mut unit = vec![0; 100 + rng.below(400)];
                rng.fill(&mut unit);
                refused += i32::from(audio.check(&unit) == Some(false));
            }
            let (share, _) = audio.power();
            assert!(f64::from(refused) > 0.97 * share * f64::from(rounds), "{audio:?} {refused}");
        }
    }

    #[test]
    fn headers() {
        assert!(ac3(&[0x0b, 0x77, 1, 2, 0x14, 0x40, 0]));
        assert!(!ac3(&[0x0b, 0x77, 1, 2, 0xd4, 0x40, 0]));
        assert!(eac3(&[0x0b, 0x77, 1, 2, 0xff, 0x80, 0]));
        assert!(!eac3(&[0x0b, 0x77, 1, 2, 0xff, 0x88, 0]));
        assert!(flac(&[0xff, 0xf8, 0xc9, 0x18, 0]));
        assert!(!flac(&[0xff, 0xf8, 0x09, 0x18, 0]));
        assert!(alac(&[0x20, 0, 0x12, 0]));
        assert!(!alac(&[0x20, 1, 0x12, 0]));
        // A packet of type 2 with 3 bytes, then a sync packet.
        let packets = [0x40, 3, 9, 9, 9, 0xc0, 0x01, 0xa5];
        assert!(mhas(&packets).is_some());
        assert!(mhas(&packets[..7]).is_none());
        assert!(opus(&[0xfd, 9, 9], 1).is_some(), "two frames of one byte");
        assert!(opus(&[0xfd, 9, 9, 9], 1).is_none());
        assert!(opus(&[0xff, 7, 0], 1).is_none(), "140 ms");
        assert!(opus(&[0xff, 6, 0, 0, 0, 0, 0, 0], 1).is_some(), "120 ms");
        assert!(opus(&[0xff, 0xc2, 1, 2, 9, 9, 9, 9], 1).is_some(), "lengths, and padding");
        assert!(opus(&[0xff, 0xc2, 1, 7, 9, 9, 9, 9], 1).is_none());
        // A frame of two bytes that says so, then two frames of one byte.
        assert!(opus(&[0xfc, 2, 9, 9, 0xfd, 9, 9], 2).is_some());
        assert!(opus(&[0xfc, 2, 9, 9, 0xfd, 9], 2).is_none());
        assert!(opus(&[0xfc, 2, 9, 9], 2).is_none());
        for bytes in [&[][..], &[0x0b, 0x77], &[0xff], &[3], &[2, 255]] {
            for audio in [Audio::Ac3, Audio::Eac3, Audio::Flac, Audio::Alac, OPUS] {
                assert_eq!(audio.check(bytes), Some(false), "{audio:?} {bytes:?}");
            }
        }
    }
}
