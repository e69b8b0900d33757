//! `sidx` and `mfra` (ISO/IEC 14496-12, 8.16.3 and 8.8.9).

use crate::{
    Error, ErrorKind, Result,
    writer::{put_box, put_full_box, put16, put32},
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

    /// As [`Self::new`], for lengths that may be too large for the fields: [`ErrorKind::Overflow`].
    /// A file that has such a fragment goes without index.
    pub fn of_range(size: u64, duration: u64) -> Result<Self> {
        let narrow = |value, limit, what| match u32::try_from(value) {
            Ok(value) if value <= limit => Ok(value),
            _ => Err(sidx_overflow(what)),
        };
        let size = narrow(size, MAX_SIZE, "referenced_size")?;
        Ok(Self::new(size, narrow(duration, u32::MAX, "subsegment_duration")?))
    }

    /// Begins the range with a stream access point of a type from 1 to 6.
    #[must_use]
    pub fn with_sap(self, sap_type: u8) -> Self {
        Self { starts_with_sap: true, sap_type, ..self }
    }
}

/// Builds a segment index, version 0 if it holds the values.
///
/// `first_offset` is the distance in bytes from the end of this box to the first range
/// (ISO/IEC 14496-12, 8.16.3).
///
/// ```
/// use lanelock_mp4::compose::{SidxReference, sidx};
///
/// // Two fragments of a second, which begin with sync samples, right behind the index of track 1.
/// let fragments = [70_000, 65_000].map(|bytes| SidxReference::new(bytes, 90_000).with_sap(1));
/// assert_eq!(sidx(1, 90_000, 0, 0, &fragments)?.len(), 32 + 2 * 12);
/// # Ok::<(), lanelock_mp4::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Overflow`] if there are more than 65,535 references, or a size does not fit 31 bits.
pub fn sidx(
    reference_id: u32,
    timescale: u32,
    earliest_presentation_time: u64,
    first_offset: u64,
    references: &[SidxReference],
) -> Result<Vec<u8>> {
    let narrow = u32::try_from(earliest_presentation_time.max(first_offset)).is_ok();
    let mut out = Vec::with_capacity(40 + 12 * references.len());
    let fields = Sidx { reference_id, timescale, earliest_presentation_time, first_offset };
    fields.put(&mut out, !narrow, references)?;
    Ok(out)
}

/// The fields of a `sidx` before its references.
struct Sidx {
    reference_id: u32,
    timescale: u32,
    earliest_presentation_time: u64,
    first_offset: u64,
}

impl Sidx {
    /// Appends the box, of version 1 if `wide`; without `wide`, times and offsets are below 2^32.
    fn put(&self, out: &mut Vec<u8>, wide: bool, references: &[SidxReference]) -> Result<()> {
        let count =
            u16::try_from(references.len()).map_err(|_| sidx_overflow("reference_count"))?;
        if references.iter().any(|reference| reference.size > MAX_SIZE) {
            return Err(sidx_overflow("referenced_size"));
        }
        put_full_box(out, *b"sidx", u8::from(wide), 0, |out| {
            put32(out, self.reference_id);
            put32(out, self.timescale);
            for value in [self.earliest_presentation_time, self.first_offset] {
                let bytes = value.to_be_bytes();
                out.extend_from_slice(if wide { &bytes } else { &bytes[4..] });
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
        Ok(())
    }
}

fn sidx_overflow(what: &'static str) -> Error {
    Error::new("sidx".to_owned(), 0, ErrorKind::Overflow { what })
}

/// One track of a [`SegmentIndex`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct IndexedTrack<'a> {
    /// `reference_ID`: the track.
    pub track_id: u32,
    /// Timescale of the times here, usually that of the media.
    pub timescale: u32,
    /// Earliest presentation time of the first range: with the edit list applied, not below 0.
    pub earliest_presentation_time: u64,
    /// The ranges, without a gap between them. They have the same sizes for all tracks that share
    /// their fragments.
    pub references: &'a [SidxReference],
}

impl<'a> IndexedTrack<'a> {
    /// The ranges of a track whose presentation begins at 0.
    pub fn new(track_id: u32, timescale: u32, references: &'a [SidxReference]) -> Self {
        Self { track_id, timescale, earliest_presentation_time: 0, references }
    }

    /// Sets the earliest presentation time of the first range.
    #[must_use]
    pub fn with_earliest_presentation_time(self, time: u64) -> Self {
        Self { earliest_presentation_time: time, ..self }
    }
}

/// The segment indexes (`sidx`) of a whole file, to stand before its first fragment.
///
/// All fields are wide (version 1), so that the length is known before sizes and times are
/// ([`Self::len_for`]) and room can be kept for the boxes.
///
/// A box has at most 65,535 references. A longer list goes into several boxes one behind the other,
/// each with a `first_offset` that skips the boxes after it and the ranges before its own. The
/// standard also has references to other `sidx` boxes, but `FFmpeg` (5.1 to 8.1) refuses files that
/// have them. It takes this form as complete where the last range ends with the file, or where a last
/// `mfra` begins.
///
/// Every track should be given, also where all tracks share their fragments. One index, that of the
/// video, is enough for `FFmpeg` 5.1 to find the `senc` of each fragment of a seekable file, but it
/// then seeks to wrong places in the tracks without one.
///
/// ```
/// use lanelock_mp4::compose::{IndexedTrack, SegmentIndex, SidxReference};
///
/// # fn main() -> lanelock_mp4::Result<()> {
/// let room = SegmentIndex::len_for([2]); // one track with two fragments
/// let fragments = [70_000, 65_000].map(|bytes| SidxReference::new(bytes, 90_000).with_sap(1));
/// let track = IndexedTrack::new(1, 90_000, &fragments);
/// assert_eq!(SegmentIndex::new(&[track]).bytes(0)?.len(), room); // the first fragment follows at once
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SegmentIndex<'a> {
    tracks: &'a [IndexedTrack<'a>],
}

impl<'a> SegmentIndex<'a> {
    /// The indexes of these tracks. A track without references gets no box.
    pub fn new(tracks: &'a [IndexedTrack<'a>]) -> Self {
        Self { tracks }
    }

    /// Length of the boxes of tracks with these numbers of references.
    pub fn len_for(counts: impl IntoIterator<Item = usize>) -> usize {
        let len = |count: usize| SIDX_LEN * count.div_ceil(MOST_REFERENCES) + 12 * count;
        counts.into_iter().map(len).sum()
    }

    /// The boxes, [`Self::len_for`] bytes. The first range begins `distance` bytes behind them.
    ///
    /// A range of 2^31 bytes or more cannot be referenced: [`ErrorKind::Overflow`].
    pub fn bytes(&self, distance: u64) -> Result<Vec<u8>> {
        let len = Self::len_for(self.tracks.iter().map(|track| track.references.len()));
        let mut out = Vec::with_capacity(len);
        for track in self.tracks {
            let (mut time, mut offset) = (track.earliest_presentation_time, distance);
            for references in track.references.chunks(MOST_REFERENCES) {
                let behind = len - out.len() - Self::len_for([references.len()]);
                let first_offset = offset.checked_add(behind as u64);
                let fields = Sidx {
                    reference_id: track.track_id,
                    timescale: track.timescale,
                    earliest_presentation_time: time,
                    first_offset: first_offset.ok_or_else(|| sidx_overflow("first_offset"))?,
                };
                fields.put(&mut out, true, references)?;
                // Below 2^48: at most 65,535 values of 32 bits.
                let sizes = references.iter().map(|reference| u64::from(reference.size)).sum();
                let times = references.iter().map(|reference| u64::from(reference.duration)).sum();
                let overflow = || sidx_overflow("sum of sizes or durations");
                offset = offset.checked_add(sizes).ok_or_else(overflow)?;
                time = time.checked_add(times).ok_or_else(overflow)?;
            }
        }
        Ok(out)
    }
}

/// The largest `referenced_size`: the field has 31 bits.
const MAX_SIZE: u32 = u32::MAX >> 1;

/// The most references of one box: `reference_count` has 16 bits.
const MOST_REFERENCES: usize = 0xffff;

/// Bytes of a `sidx` of version 1 without references.
const SIDX_LEN: usize = 40;

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
