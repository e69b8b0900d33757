//! `senc`: sample encryption box (ISO/IEC 23001-7, 7.2), and its PIFF 1.1 ancestor.
//!
//! Entries have no fixed width: whether an IV is there, and how long, is decided by `tenc` or
//! `seig`. Only header and count are checked here; entries are read by [`super::AuxCursor`].

use std::ops::Range;

use super::piff::PiffParameters;
use crate::{BoxRef, ErrorKind, Result};

#[derive(Clone, Debug)]
pub(crate) struct Senc<'a> {
    pub(crate) place: BoxRef<'a>,
    pub(crate) subsamples: bool,
    pub(crate) count: u32,
    /// Bytes of the entries in the top-level box.
    pub(crate) entries: Range<usize>,
    /// What PIFF's box says in the place of the track encryption box.
    pub(crate) parameters: Option<PiffParameters>,
}

impl<'a> Senc<'a> {
    pub(crate) fn from_box(senc: BoxRef<'a>) -> Result<Self> {
        let mut reader = senc.reader();
        let (_, flags) = reader.version_upto(0)?;
        let mut parameters = None;
        // PIFF 1.1, 5.3.2.
        if senc.uuid().is_some() && flags & 1 != 0 {
            parameters = Some(PiffParameters::fields(&mut reader)?);
        }
        let subsamples = flags & 2 != 0;
        let count = reader.u32("sample_count")?;
        if subsamples {
            reader.clone().records(count, 2, "subsample counts")?;
        }
        let start = reader.position();
        let end = start + reader.left();
        Ok(Self { place: senc, subsamples, count, entries: start..end, parameters })
    }

    /// Checks the count. Zero entries for any number of samples is a form in use for
    /// constant IVs without subsamples.
    pub(crate) fn check_count(&self, samples: u64) -> Result<()> {
        if self.count != 0 && u64::from(self.count) != samples {
            return Err(self.place.error(ErrorKind::Mismatch {
                what: "samples in `senc`",
                expected: samples,
                found: u64::from(self.count),
            }));
        }
        Ok(())
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        &self.place.source.bytes[self.entries.clone()]
    }
}
