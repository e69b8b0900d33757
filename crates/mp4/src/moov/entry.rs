//! Sample entries: `stsd` and what is inside (ISO/IEC 14496-12, 8.5.2 and 12).

use super::{
    codec::{CONFIG_BOXES, CodecConfig},
    details::Details,
    ttml,
};
use crate::{
    BoxRef, ErrorKind, FourCc, Result,
    nesting::{EntryFamily, entry_children_offset, family},
    protection::Protection,
    source::be16,
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
    pub(super) details: Details,
}

impl SampleEntry {
    fn from_box(entry: &BoxRef<'_>, handler: FourCc, stsd_version: u8) -> Result<Self> {
        let mut reader = entry.reader();
        reader.bytes(6, "reserved")?;
        let data_reference_index = reader.u16("data_reference_index")?;
        let payload = entry.payload();
        let media = match family(handler) {
            EntryFamily::Visual => {
                reader.bytes(70, "visual sample entry")?;
                Media::Video { width: be16(payload, 24), height: be16(payload, 26) }
            }
            EntryFamily::Audio => {
                reader.bytes(20, "audio sample entry")?;
                Media::Audio {
                    channels: be16(payload, 16),
                    sample_size: be16(payload, 18),
                    sample_rate: u32::from(be16(payload, 24)),
                }
            }
            EntryFamily::Other => Media::Other,
        };
        let format = entry.kind();
        let mut this = Self {
            format,
            original_format: format,
            data_reference_index,
            media,
            protection: None,
            config: None,
            details: Details::default(),
        };
        let mut sinfs = Vec::new();
        let offset = entry_children_offset(format, handler, stsd_version, payload);
        if let (Media::Audio { .. }, Some(offset)) = (media, offset) {
            // What is added behind shorter fields would be taken for a part of them.
            reader.bytes(offset - 28, "sound description of QuickTime")?;
        }
        for child in offset.map(|offset| entry.children_at(offset)).into_iter().flatten() {
            let child = child?;
            match &child.kind().0 {
                b"sinf" => sinfs.push(child),
                // Where QuickTime puts the configuration of sound.
                b"wave" => child.children_at(0).map_while(Result::ok).for_each(|child| {
                    this.take_config(&child);
                }),
                _ => {
                    this.take_config(&child);
                    this.details.take(&child);
                }
            }
        }
        if let Some((original, protection)) = Protection::from_boxes(&sinfs)? {
            // Without its `sinf` such an entry could not be read again: `uuid` would take the first of its fields
            // for a user type.
            if is_protected_format(original) || original == b"uuid" {
                let (what, value) = ("original format", u32::from_be_bytes(original.0).into());
                return Err(sinfs[0].error(ErrorKind::InvalidValue { what, value }));
            }
            this.original_format = original;
            this.protection = Some(protection);
        } else if is_protected_format(format) {
            return Err(entry.error(ErrorKind::Missing { kind: FourCc::new(b"sinf") }));
        }
        if stsd_version == 0 && matches!(media, Media::Audio { .. }) {
            let _ = this.details.take_quicktime(payload);
        }
        if this.original_format == b"stpp" {
            this.details.ttml = ttml::profile(payload, this.details.mime.take().as_deref());
        }
        Ok(this)
    }

    /// Keeps a codec configuration box, the first one.
    fn take_config(&mut self, child: &BoxRef<'_>) {
        if self.config.is_none() && CONFIG_BOXES.iter().any(|kind| child.kind() == *kind) {
            self.config = Some(CodecConfig::new(child.kind(), child.payload()));
        }
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

/// The `sinf` boxes of an entry that was parsed before.
pub(crate) fn sinfs_of<'a>(
    entry: &BoxRef<'a>,
    handler: FourCc,
    stsd_version: u8,
) -> Result<Vec<BoxRef<'a>>> {
    let offset = entry_children_offset(entry.kind(), handler, stsd_version, entry.payload());
    let children = offset.map(|offset| entry.children_at(offset)).into_iter().flatten();
    children.filter(|child| !matches!(child, Ok(child) if child.kind() != b"sinf")).collect()
}

/// Where `sinf` goes in an entry: after its last child.
pub(crate) fn sinf_position(
    entry: &BoxRef<'_>,
    handler: FourCc,
    stsd_version: u8,
) -> Result<usize> {
    match entry_children_offset(entry.kind(), handler, stsd_version, entry.payload()) {
        Some(offset) => entry.children_at(offset).end(),
        // Nothing but the common fields.
        None if entry.payload().len() == 8 => Ok(entry.range().end),
        None => {
            let what = "protecting a sample entry of unknown layout";
            Err(entry.error(ErrorKind::Unsupported(what)))
        }
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
