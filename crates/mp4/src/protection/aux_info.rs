//! Sample auxiliary information: IV and subsamples of each sample (ISO/IEC 23001-7, 7.1).

use std::borrow::Cow;

use super::saiz_saio::Saiz;
use crate::{
    BoxRef, Error, ErrorKind, Result,
    source::{be16, be32},
};

/// One subsample: clear bytes, then protected bytes, in the widths that ISO/IEC 23001-7 fixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Subsample {
    /// Bytes left clear.
    pub clear: u16,
    /// Protected bytes that follow.
    pub protected: u32,
}

/// Subsamples of one sample, still in the form they are stored in.
#[derive(Clone, Debug)]
pub struct Subsamples<'a> {
    records: std::slice::ChunksExact<'a, u8>,
}

impl<'a> Subsamples<'a> {
    fn new(records: &'a [u8]) -> Self {
        Self { records: records.chunks_exact(6) }
    }

    /// Bytes covered by the subsamples not yet yielded.
    pub fn total(&self) -> u64 {
        self.clone().map(|s| u64::from(s.clear) + u64::from(s.protected)).sum()
    }
}

impl Iterator for Subsamples<'_> {
    type Item = Subsample;

    fn next(&mut self) -> Option<Subsample> {
        let record = self.records.next()?;
        Some(Subsample { clear: be16(record, 0), protected: be32(record, 2) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.records.size_hint()
    }
}

impl ExactSizeIterator for Subsamples<'_> {}

/// Auxiliary information of one sample.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SampleAux<'a> {
    /// The per-sample IV: empty, 8 or 16 bytes.
    pub iv: &'a [u8],
    /// Subsamples, adding up to the sample size; `None` when the whole sample is protected.
    pub subsamples: Option<Subsamples<'a>>,
}

/// How entries are delimited.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AuxLayout<'a> {
    /// There is no information.
    Absent,
    /// Entries of a `senc`, the first of them at `start` of the top-level box.
    Senc { subsamples: bool, start: usize },
    /// Entries whose sizes `saiz` lists.
    Sized(Saiz<'a>),
}

/// Auxiliary information of all samples of a track or fragment (ISO/IEC 23001-7, 7).
///
/// ```
/// use lanelock_mp4::{Fragment, Movie, load, top_level};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = "../../testkit/media/protected/cbcs.mp4";
/// let file = std::fs::read(path)?;
/// let mut movie = None;
/// for header in top_level(&file) {
///     let header = header?;
///     match (&header.kind.0, &movie) {
///         (b"moov", _) => movie = Some(Movie::parse(load(&file, &header)?, header.offset)?),
///         (b"moof", Some(movie)) => {
///             let moof = load(&file, &header)?;
///             let fragment = Fragment::parse(&moof, header.offset, movie, file.len() as u64)?;
///             for track in &fragment.tracks {
///                 let aux = track.aux_info(&file)?;
///                 let (mut entries, mut samples) = (aux.cursor(), track.samples());
///                 // The parameters may change from sample to sample (`seig`).
///                 for (count, encryption) in track.encryption_runs(movie) {
///                     let iv_size = encryption.map_or(0, |encryption| encryption.iv_size);
///                     for sample in samples.by_ref().take(count as usize) {
///                         let entry = entries.next_sample(iv_size, sample.size)?;
///                         assert_eq!(entry.iv.len(), iv_size.into());
///                     }
///                 }
///                 entries.finish()?; // nothing is left
///             }
///         }
///         _ => {}
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct AuxInfo<'a> {
    bytes: Cow<'a, [u8]>,
    layout: AuxLayout<'a>,
    place: BoxRef<'a>,
}

impl<'a> AuxInfo<'a> {
    /// None at all, for the track or fragment that `place` is: that of a clear sample entry.
    pub fn absent(place: BoxRef<'a>) -> Self {
        Self::new([].as_slice().into(), AuxLayout::Absent, place)
    }

    pub(crate) fn new(bytes: Cow<'a, [u8]>, layout: AuxLayout<'a>, place: BoxRef<'a>) -> Self {
        Self { bytes, layout, place }
    }

    /// Whether there is none, as for constant IVs over whole samples.
    pub fn is_absent(&self) -> bool {
        matches!(self.layout, AuxLayout::Absent)
    }

    /// Begins at the first sample.
    pub fn cursor(&self) -> AuxCursor<'_> {
        AuxCursor { info: self, at: 0, sample: 0 }
    }
}

/// Reads the information sample by sample, in order. [`AuxInfo`] has an example.
#[derive(Clone, Debug)]
pub struct AuxCursor<'a> {
    info: &'a AuxInfo<'a>,
    at: usize,
    sample: u64,
}

impl<'a> AuxCursor<'a> {
    /// Information of the next sample.
    ///
    /// `iv_size` is the sample's, from `tenc` or `seig`; `sample_size` is what its
    /// subsamples must add up to, in 64 bits. Call it for every sample, protected or not:
    /// entries of clear samples (IV size 0) must be stepped over as well.
    pub fn next_sample(&mut self, iv_size: u8, sample_size: u32) -> Result<SampleAux<'a>> {
        let index = self.sample;
        self.sample += 1;
        let iv_len = usize::from(iv_size);
        let (iv, subsamples) = match &self.info.layout {
            AuxLayout::Absent if iv_size == 0 => (&[][..], None),
            AuxLayout::Absent => return Err(self.error(ErrorKind::MissingAux)),
            AuxLayout::Senc { subsamples, .. } => {
                let iv = self.take(iv_len, "IV")?;
                (iv, subsamples.then(|| self.subsamples()).transpose()?)
            }
            AuxLayout::Sized(saiz) => {
                let size = usize::from(saiz.size(index));
                if size == 0 && iv_size == 0 {
                    (&[][..], None)
                } else {
                    let end = self.at + size;
                    let iv = self.take(iv_len, "IV")?;
                    let subsamples = (self.at < end).then(|| self.subsamples()).transpose()?;
                    if self.at != end {
                        let what = "`saiz` size differs from IV and subsamples";
                        return Err(self.error(ErrorKind::Sample { number: index + 1, what }));
                    }
                    (iv, subsamples)
                }
            }
        };
        // A `subsample_count` of 0 occurs in files, and means that the whole sample is protected.
        let subsamples = subsamples.filter(|subsamples| subsamples.len() > 0);
        if let Some(subsamples) = &subsamples {
            let (covered, size) = (subsamples.total(), u64::from(sample_size));
            if covered != size {
                let kind = ErrorKind::SubsampleSum { number: index + 1, covered, size };
                return Err(self.error(kind));
            }
        }
        Ok(SampleAux { iv, subsamples })
    }

    /// Checks that nothing is left after the last sample: left-over bytes mean that the IV
    /// size used is not the one the file was written with.
    pub fn finish(self) -> Result<()> {
        if self.at == self.info.bytes.len() {
            return Ok(());
        }
        Err(self.error(ErrorKind::Mismatch {
            what: "bytes of auxiliary information",
            expected: self.at as u64,
            found: self.info.bytes.len() as u64,
        }))
    }

    fn subsamples(&mut self) -> Result<Subsamples<'a>> {
        let count = self.take(2, "subsample_count")?;
        let records = self.take(usize::from(be16(count, 0)) * 6, "subsamples")?;
        Ok(Subsamples::new(records))
    }

    fn take(&mut self, len: usize, what: &'static str) -> Result<&'a [u8]> {
        let left = &self.info.bytes[self.at..];
        let taken = left.get(..len).ok_or_else(|| {
            let (needed, available) = (len as u64, left.len() as u64);
            self.error(ErrorKind::Short { what, needed, available })
        })?;
        self.at += len;
        Ok(taken)
    }

    #[cold]
    fn error(&self, kind: ErrorKind) -> Error {
        match self.info.layout {
            AuxLayout::Senc { start, .. } => self.info.place.error_at(start + self.at, kind),
            _ => self.info.place.error(kind),
        }
    }
}
