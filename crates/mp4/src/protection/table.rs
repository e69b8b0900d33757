//! Building `senc`, `saiz` and `saio`.

use super::Subsample;
use crate::{
    Error, ErrorKind, Result,
    writer::{put_box, put_full_box, put16, put32, put64},
};

/// Whether samples carry subsamples; decided once per `senc`, by one flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubsampleMode {
    /// Whole samples are protected: no subsample counts.
    Absent,
    /// Every sample has a subsample list.
    Present,
}

/// Auxiliary information to be written, in the form `senc` stores it.
///
/// [`Self::clear`] keeps the memory, so one table serves all fragments of a track.
///
/// ```
/// use lanelock_mp4::{SampleAuxTable, Subsample, SubsampleMode};
///
/// # fn main() -> lanelock_mp4::Result<()> {
/// let mut table = SampleAuxTable::new(8, SubsampleMode::Present); // IVs of 8 bytes
/// table.push(&[1; 8], &[Subsample { clear: 100, protected: 4096 }])?;
/// table.push(&[2; 8], &[Subsample { clear: 90, protected: 800 }])?;
/// let mut senc = Vec::new();
/// table.put_senc(&mut senc);
/// assert_eq!(senc.len(), 16 + 2 * (8 + 2 + 6)); // a count and an entry for each sample
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleAuxTable {
    iv_size: u8,
    mode: SubsampleMode,
    payload: Vec<u8>,
    sizes: Vec<u8>,
}

impl SampleAuxTable {
    /// An empty table of `iv_size` bytes of IV per sample (0, 8 or 16).
    pub fn new(iv_size: u8, mode: SubsampleMode) -> Self {
        Self { iv_size, mode, payload: Vec::new(), sizes: Vec::new() }
    }

    /// Removes the samples, keeps the memory.
    pub fn clear(&mut self) {
        self.payload.clear();
        self.sizes.clear();
    }

    /// Takes the samples out; an empty table of the same kind stays.
    #[must_use]
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, Self::new(self.iv_size, self.mode))
    }

    /// Appends a sample. `iv` must have the table's IV size, and `subsamples` must be empty in
    /// [`SubsampleMode::Absent`]: without them a reader would take the whole sample for protected.
    ///
    /// More than 255 bytes, what `saiz` can state, is [`ErrorKind::TooMuchAux`]: at most 39
    /// subsamples with an IV of 16 bytes, 40 with 8, 42 with none. The table is unchanged then.
    pub fn push(&mut self, iv: &[u8], subsamples: &[Subsample]) -> Result<()> {
        let number = self.sizes.len() as u64 + 1;
        let fail = |kind| Error::new("senc".to_owned(), 0, kind);
        if iv.len() != usize::from(self.iv_size) {
            return Err(fail(ErrorKind::Sample { number, what: "IV of the wrong length" }));
        }
        if self.mode == SubsampleMode::Absent && !subsamples.is_empty() {
            let what = "subsamples in a table that holds none";
            return Err(fail(ErrorKind::Sample { number, what }));
        }
        let size = match self.mode {
            SubsampleMode::Absent => iv.len() as u64,
            SubsampleMode::Present => iv.len() as u64 + 2 + 6 * subsamples.len() as u64,
        };
        let Ok(stated) = u8::try_from(size) else {
            return Err(fail(ErrorKind::TooMuchAux { number, size }));
        };
        self.sizes.push(stated);
        self.payload.extend_from_slice(iv);
        if self.mode == SubsampleMode::Present {
            // At most 42, by the size just checked.
            put16(&mut self.payload, u16::try_from(subsamples.len()).unwrap_or(u16::MAX));
            for subsample in subsamples {
                put16(&mut self.payload, subsample.clear);
                put32(&mut self.payload, subsample.protected);
            }
        }
        Ok(())
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    fn count(&self) -> u32 {
        u32::try_from(self.sizes.len()).unwrap_or(u32::MAX)
    }

    /// The size all samples share.
    fn uniform(&self) -> Option<u8> {
        let first = *self.sizes.first()?;
        self.sizes.iter().all(|&size| size == first).then_some(first)
    }

    /// Bytes of the `senc` box.
    pub fn senc_len(&self) -> usize {
        16 + self.payload.len()
    }

    /// Bytes of the `saiz` box.
    pub fn saiz_len(&self) -> usize {
        17 + if self.uniform().is_some_and(|size| size > 0) { 0 } else { self.sizes.len() }
    }

    /// Bytes before the first entry of a `senc` box: where `saio` points, from the box start.
    pub const SENC_ENTRIES: usize = 16;

    /// Appends the `senc` box.
    pub fn put_senc(&self, out: &mut Vec<u8>) {
        let flags = if self.mode == SubsampleMode::Present { 2 } else { 0 };
        put_full_box(out, *b"senc", 0, flags, |out| {
            put32(out, self.count());
            out.extend_from_slice(&self.payload);
        });
    }

    /// Appends the `saiz` box: one size for all samples where they share it.
    pub fn put_saiz(&self, out: &mut Vec<u8>) {
        put_full_box(out, *b"saiz", 0, 0, |out| {
            let uniform = self.uniform().filter(|&size| size > 0);
            out.push(uniform.unwrap_or(0));
            put32(out, self.count());
            if uniform.is_none() {
                out.extend_from_slice(&self.sizes);
            }
        });
    }
}

/// Auxiliary information to write into one `traf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteAux<'a> {
    /// Nothing: constant IV, whole samples (as CMAF recommends).
    Nothing,
    /// A `senc` without entries, for constant IVs over whole samples. All players read it.
    EmptySenc,
    /// `senc` alone.
    Senc(&'a SampleAuxTable),
    /// `saiz`, `saio` and `senc`.
    Full(&'a SampleAuxTable),
}

/// Appends a `senc` without entries, as written for constant IVs over whole samples.
pub(crate) fn put_empty_senc(out: &mut Vec<u8>) {
    put_full_box(out, *b"senc", 0, 0, |out| put32(out, 0));
}

/// Appends a `saio` of one offset, version 0 or 1.
pub(crate) fn put_saio(out: &mut Vec<u8>, offset: Offset) {
    match offset {
        Offset::Narrow(offset) => put_full_box(out, *b"saio", 0, 0, |out| {
            put32(out, 1);
            put32(out, offset);
        }),
        Offset::Wide(offset) => put_full_box(out, *b"saio", 1, 0, |out| {
            put32(out, 1);
            put64(out, offset);
        }),
    }
}

/// The two widths of a `saio` offset.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Offset {
    Narrow(u32),
    Wide(u64),
}

/// Appends `sgpd` and `sbgp` that give `count` samples of a fragment the parameters `entry`.
pub(crate) fn put_seig(out: &mut Vec<u8>, entry: &super::TrackEncryption, count: u32) {
    let mut fields = Vec::with_capacity(37);
    entry.put_fields(&mut fields);
    put_full_box(out, *b"sgpd", 1, 0, |out| {
        out.extend_from_slice(b"seig");
        put32(out, u32::try_from(fields.len()).unwrap_or(u32::MAX));
        put32(out, 1);
        out.extend_from_slice(&fields);
    });
    put_box(out, *b"sbgp", |out| {
        put32(out, 0);
        out.extend_from_slice(b"seig");
        put32(out, 1);
        put32(out, count);
        put32(out, 0x1_0001);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_saiz() {
        for (iv, most) in [(16, 39), (8, 40), (0, 42)] {
            let mut table = SampleAuxTable::new(iv, SubsampleMode::Present);
            let iv = vec![0; usize::from(iv)];
            table.push(&iv, &vec![Subsample::default(); most]).unwrap();
            let error = table.push(&iv, &vec![Subsample::default(); most + 1]).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::TooMuchAux { number: 2, .. }));
            assert_eq!(table.len(), 1);
        }
    }

    #[test]
    fn subsamples_need_a_place() {
        let mut table = SampleAuxTable::new(8, SubsampleMode::Absent);
        assert!(table.push(&[0; 8], &[Subsample { clear: 1, protected: 16 }]).is_err());
        assert!(table.is_empty());
        table.push(&[0; 8], &[]).unwrap();
    }

    #[test]
    fn lengths_agree_with_bytes() {
        let mut table = SampleAuxTable::new(8, SubsampleMode::Present);
        for lengths in [&[1][..], &[1, 1], &[1, 2], &[]] {
            table.clear();
            for &n in lengths {
                table.push(&[1; 8], &vec![Subsample { clear: 1, protected: 2 }; n]).unwrap();
            }
            let (mut senc, mut saiz) = (Vec::new(), Vec::new());
            table.put_senc(&mut senc);
            table.put_saiz(&mut saiz);
            assert_eq!((senc.len(), saiz.len()), (table.senc_len(), table.saiz_len()));
        }
    }

    /// A default of 0 means that the sizes follow: also those that are all 0.
    #[test]
    fn samples_without_information_have_their_sizes() {
        let mut table = SampleAuxTable::new(0, SubsampleMode::Absent);
        (0..3).for_each(|_| table.push(&[], &[]).unwrap());
        let mut saiz = Vec::new();
        table.put_saiz(&mut saiz);
        assert_eq!(saiz.len(), table.saiz_len());
        assert_eq!(saiz[12..], [0, 0, 0, 0, 3, 0, 0, 0]);
    }
}
