//! Sample entries: `stsd` and what is inside (ISO/IEC 14496-12, 8.5.2 and 12).

use super::codec::{CONFIG_BOXES, CodecConfig};
use crate::{
    BoxRef, ErrorKind, FourCc, Result, header::Header, protection::Protection, source::be16,
};

/// What the fixed fields of a sample entry say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Media {
    /// Visual sample entry.
    Video {
        /// Coded width in pixels.
        width: u16,
        /// Coded height in pixels.
        height: u16,
    },
    /// Audio sample entry.
    Audio {
        /// Channel count; codecs with their own field may mean that one.
        channels: u16,
        /// Bits per sample.
        sample_size: u16,
        /// Samples per second; 0 when it does not fit 16 bits.
        sample_rate: u32,
    },
    /// Any other.
    Other,
}

/// One sample entry.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SampleEntry {
    /// Format as stored: `avc1`, `encv`, …
    pub format: FourCc,
    /// Format before protection; the same as `format` for a clear entry.
    pub original_format: FourCc,
    /// Index into `dref`, from 1.
    pub data_reference_index: u16,
    /// Fixed fields.
    pub media: Media,
    /// What `sinf` says; `None` for a clear entry.
    pub protection: Option<Protection>,
    /// The codec configuration box, if one this crate knows by name is there.
    pub config: Option<CodecConfig>,
}

impl SampleEntry {
    fn from_box(entry: &BoxRef<'_>, handler: FourCc, stsd_version: u8) -> Result<Self> {
        let mut reader = entry.reader();
        reader.bytes(6, "reserved")?;
        let data_reference_index = reader.u16("data_reference_index")?;
        let payload = entry.payload();
        let media = match family(handler) {
            Family::Visual => {
                reader.bytes(70, "visual sample entry")?;
                Media::Video { width: be16(payload, 24), height: be16(payload, 26) }
            }
            Family::Audio => {
                reader.bytes(20, "audio sample entry")?;
                Media::Audio {
                    channels: be16(payload, 16),
                    sample_size: be16(payload, 18),
                    sample_rate: u32::from(be16(payload, 24)),
                }
            }
            Family::Other => Media::Other,
        };
        let format = entry.kind();
        let mut this = Self {
            format,
            original_format: format,
            data_reference_index,
            media,
            protection: None,
            config: None,
        };
        let mut sinf = None;
        let offset = children_offset(format, handler, stsd_version, payload);
        for child in offset.map(|offset| entry.children_at(offset)).into_iter().flatten() {
            let child = child?;
            if child.kind() == b"sinf" {
                child.once(&mut sinf)?;
            } else if this.config.is_none() && CONFIG_BOXES.iter().any(|kind| child.kind() == *kind)
            {
                let (kind, data) = (child.kind(), child.payload().into());
                this.config = Some(CodecConfig { kind, data });
            }
        }
        if let Some(sinf) = sinf {
            let (original, protection) = Protection::from_box(&sinf)?;
            // Without its `sinf` such an entry could not be read again.
            if is_protected_format(original) {
                let (what, value) = ("original format", u32::from_be_bytes(original.0).into());
                return Err(sinf.error(ErrorKind::InvalidValue { what, value }));
            }
            this.original_format = original;
            this.protection = Some(protection);
        } else if is_protected_format(format) {
            return Err(entry.error(ErrorKind::Missing { kind: FourCc::new(b"sinf") }));
        }
        Ok(this)
    }

    /// Parameter of a MIME type (RFC 6381): `avc1.64001E`, `hvc1.1.6.L63.90`, `mp4a.40.2`, …
    ///
    /// The bare format where the configuration is missing or of no known kind.
    pub fn codec_string(&self) -> String {
        self.config
            .as_ref()
            .and_then(|config| config.codec_string(self.original_format))
            .unwrap_or_else(|| self.original_format.to_string())
    }

    /// Bytes of the length before each NAL unit: 1, 2 or 4; `None` if no NAL codec.
    pub fn nal_length_size(&self) -> Option<u8> {
        self.config.as_ref()?.nal_length_size()
    }
}

/// Reads all entries of an `stsd`.
pub(crate) fn read_all(stsd: &BoxRef<'_>, handler: FourCc) -> Result<Vec<SampleEntry>> {
    let mut reader = stsd.reader();
    let (version, _) = reader.version_upto(1)?;
    let count = reader.u32("entry_count")?;
    // An entry has 16 bytes at least.
    reader.records(count, 16, "sample entries")?;
    let mut entries = Vec::new();
    for entry in stsd.children() {
        entries.push(SampleEntry::from_box(&entry?, handler, version)?);
    }
    if entries.len() != count as usize {
        return Err(stsd.error(ErrorKind::Mismatch {
            what: "sample entries",
            expected: u64::from(count),
            found: entries.len() as u64,
        }));
    }
    Ok(entries)
}

/// The `sinf` of an entry that was parsed before.
pub(crate) fn sinf_of<'a>(
    entry: &BoxRef<'a>,
    handler: FourCc,
    stsd_version: u8,
) -> Result<Option<BoxRef<'a>>> {
    match children_offset(entry.kind(), handler, stsd_version, entry.payload()) {
        Some(offset) => entry.children_at(offset).only(b"sinf"),
        None => Ok(None),
    }
}

/// Where `sinf` goes in an entry: after its last child.
pub(crate) fn sinf_position(
    entry: &BoxRef<'_>,
    handler: FourCc,
    stsd_version: u8,
) -> Result<usize> {
    match children_offset(entry.kind(), handler, stsd_version, entry.payload()) {
        Some(offset) => entry.children_at(offset).end(),
        // Nothing but the common fields.
        None if entry.payload().len() == 8 => Ok(entry.range().end),
        None => {
            let what = "protecting a sample entry of unknown layout";
            Err(entry.error(ErrorKind::Unsupported(what)))
        }
    }
}

enum Family {
    Visual,
    Audio,
    Other,
}

fn family(handler: FourCc) -> Family {
    match &handler.0 {
        b"vide" | b"pict" | b"auxv" => Family::Visual,
        b"soun" => Family::Audio,
        _ => Family::Other,
    }
}

/// Format of a protected sample entry (ISO/IEC 14496-12, 8.12); `None` if there is none.
pub(crate) fn protected_format(handler: FourCc) -> Option<FourCc> {
    Some(FourCc::new(match &handler.0 {
        b"vide" | b"pict" | b"auxv" => b"encv",
        b"soun" => b"enca",
        b"text" | b"subt" | b"sbtl" | b"clcp" => b"enct",
        b"meta" => b"encm",
        _ => return None,
    }))
}

fn is_protected_format(format: FourCc) -> bool {
    matches!(
        &format.0,
        b"encv" | b"enca" | b"enct" | b"encs" | b"encm" | b"encf" | b"encu" | b"encp"
    )
}

/// Where the child boxes of an entry begin in its payload; `None` if it has none.
pub(crate) fn children_offset(
    format: FourCc,
    handler: FourCc,
    stsd_version: u8,
    payload: &[u8],
) -> Option<usize> {
    match family(handler) {
        Family::Visual => Some(78),
        // QuickTime's versions 1 and 2 have more fields; ISO's version 1 has none and
        // demands an `stsd` of version 1.
        Family::Audio => Some(match payload.get(8..10) {
            Some([0, 1]) if stsd_version == 0 => 44,
            Some([0, 2]) if stsd_version == 0 => 64,
            _ => 28,
        }),
        Family::Other => match &format.0 {
            b"wvtt" | b"c608" | b"c708" | b"mp4s" => Some(8),
            b"tx3g" => Some(38),
            b"sbtt" | b"stxt" | b"mett" => after_strings(payload, 2),
            b"stpp" | b"metx" => after_strings(payload, 3),
            // The original format is known from the children only: take the first layout
            // under which they run exactly to the end.
            _ => [Some(8), after_strings(payload, 2), after_strings(payload, 3), Some(38)]
                .into_iter()
                .flatten()
                .find(|&offset| is_box_sequence(payload.get(offset..))),
        },
    }
}

/// Offset after `count` zero-terminated strings that follow the common fields.
fn after_strings(payload: &[u8], count: usize) -> Option<usize> {
    let mut at = 8;
    for _ in 0..count {
        at += payload.get(at..)?.iter().position(|&byte| byte == 0)? + 1;
    }
    Some(at)
}

/// Whether boxes, at least one, fill `bytes` but for a terminator of up to 7 bytes.
fn is_box_sequence(bytes: Option<&[u8]>) -> bool {
    let Some(mut bytes) = bytes.filter(|bytes| bytes.len() >= 8) else {
        return false;
    };
    while bytes.len() >= 8 {
        let size = Header::parse(bytes).ok().and_then(|head| head.size);
        match size.and_then(|size| bytes.get(usize::try_from(size).ok()?..)) {
            Some(rest) => bytes = rest,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_of_text_entries() {
        let text = FourCc::new(b"text");
        let stpp = b"\0\0\0\0\0\0\0\x01ns\0loc\0\0\0\0\0\x08btrt";
        assert_eq!(children_offset(FourCc::new(b"stpp"), text, 0, stpp), Some(16));
        assert_eq!(children_offset(FourCc::new(b"enct"), text, 0, stpp), Some(16));
        let wvtt = b"\0\0\0\0\0\0\0\x01\0\0\0\x08vttC";
        assert_eq!(children_offset(FourCc::new(b"enct"), text, 0, wvtt), Some(8));
        assert_eq!(children_offset(FourCc::new(b"????"), text, 0, &[0; 8]), None);
    }

    #[test]
    fn quicktime_audio_versions() {
        let soun = FourCc::new(b"soun");
        let mut payload = [0; 28];
        payload[9] = 1;
        assert_eq!(children_offset(FourCc::new(b"mp4a"), soun, 0, &payload), Some(44));
        assert_eq!(children_offset(FourCc::new(b"mp4a"), soun, 1, &payload), Some(28));
    }
}
