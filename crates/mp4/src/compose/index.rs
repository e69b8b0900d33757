//! `sidx` and `mfra` (ISO/IEC 14496-12, 8.16.3 and 8.8.9).

use crate::{
    Error, ErrorKind, Result,
    writer::{put_box, put_full_box, put16, put32, put64},
};

/// One reference of a `sidx`, to a media range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SidxReference {
    /// Bytes of the range, below 2^31.
    pub size: u32,
    /// Duration in the timescale of the index.
    pub duration: u32,
    /// The range begins with a stream access point.
    pub starts_with_sap: bool,
    /// Type of that point: 1 for a closed group of pictures.
    pub sap_type: u8,
}

impl SidxReference {
    /// A range of `size` bytes, of which nothing is said about stream access points.
    pub fn new(size: u32, duration: u32) -> Self {
        Self { size, duration, starts_with_sap: false, sap_type: 0 }
    }

    /// Begins the range with a stream access point of a type from 1 to 6.
    #[must_use]
    pub fn with_sap(self, sap_type: u8) -> Self {
        Self { starts_with_sap: true, sap_type, ..self }
    }
}

/// Builds a segment index, version 0 if it holds the values.
///
/// `first_offset` is the distance from the end of this box to the first range.
pub fn sidx(
    reference_id: u32,
    timescale: u32,
    earliest_presentation_time: u64,
    first_offset: u64,
    references: &[SidxReference],
) -> Result<Vec<u8>> {
    let fail = |what| Error::new("sidx".to_owned(), 0, ErrorKind::Overflow { what });
    let count = u16::try_from(references.len()).map_err(|_| fail("reference_count"))?;
    if references.iter().any(|reference| reference.size >> 31 != 0) {
        return Err(fail("referenced_size"));
    }
    let narrow = (u32::try_from(earliest_presentation_time), u32::try_from(first_offset));
    let mut out = Vec::with_capacity(40 + 12 * references.len());
    put_full_box(&mut out, *b"sidx", u8::from(!matches!(narrow, (Ok(_), Ok(_)))), 0, |out| {
        put32(out, reference_id);
        put32(out, timescale);
        if let (Ok(time), Ok(first)) = narrow {
            put32(out, time);
            put32(out, first);
        } else {
            put64(out, earliest_presentation_time);
            put64(out, first_offset);
        }
        put16(out, 0);
        put16(out, count);
        for reference in references {
            put32(out, reference.size);
            put32(out, reference.duration);
            let sap = u32::from(reference.starts_with_sap) << 31;
            put32(out, sap | u32::from(reference.sap_type & 7) << 28);
        }
    });
    Ok(out)
}

/// Random access entries of one track.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MfraTrack<'a> {
    /// The track.
    pub track_id: u32,
    /// Pairs of decoding time and `moof` offset; the first sample of the first run is meant.
    pub entries: &'a [(u64, u64)],
}

impl<'a> MfraTrack<'a> {
    /// The entries of a track.
    pub fn new(track_id: u32, entries: &'a [(u64, u64)]) -> Self {
        Self { track_id, entries }
    }
}

/// Builds a movie fragment random access box with its `mfro`; 64-bit fields where needed.
pub fn mfra(tracks: &[MfraTrack<'_>]) -> Result<Vec<u8>> {
    let fail = |what| Error::new("mfra".to_owned(), 0, ErrorKind::Overflow { what });
    let mut counts = Vec::with_capacity(tracks.len());
    for track in tracks {
        let count = u32::try_from(track.entries.len()).map_err(|_| fail("number_of_entry"))?;
        counts.push(count);
    }
    let mut out = Vec::new();
    put_box(&mut out, *b"mfra", |out| {
        for (track, count) in tracks.iter().zip(counts) {
            let limit = u64::from(u32::MAX);
            let wide = track.entries.iter().any(|&(time, at)| time > limit || at > limit);
            put_full_box(out, *b"tfra", u8::from(wide), 0, |out| {
                put32(out, track.track_id);
                // One byte each for the numbers of traf, trun and sample.
                put32(out, 0);
                put32(out, count);
                for &(time, at) in track.entries {
                    for value in [time, at] {
                        let bytes = value.to_be_bytes();
                        out.extend_from_slice(if wide { &bytes } else { &bytes[4..] });
                    }
                    out.extend_from_slice(&[1, 1, 1]);
                }
            });
        }
        put_full_box(out, *b"mfro", 0, 0, |out| put32(out, 0));
    });
    let len = out.len();
    let size = u32::try_from(len).map_err(|_| fail("size"))?;
    out[len - 4..].copy_from_slice(&size.to_be_bytes());
    Ok(out)
}
