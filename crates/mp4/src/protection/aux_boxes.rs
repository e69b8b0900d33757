//! The boxes of a track or fragment about auxiliary information, taken together: `senc` holds it,
//! `saiz` and `saio` say where it is.

use super::{
    aux_info::{AuxInfo, AuxLayout},
    groups::is_seig,
    piff::{PIFF_SENC, PiffParameters},
    saiz_saio::{Saio, Saiz, is_protection_aux},
    senc::Senc,
};
use crate::{BoxRef, Error, ErrorKind, ReadAt, Result};

/// Whether a child of `traf` or `stbl` is there for protection only.
pub(crate) fn is_protection_box(child: &BoxRef<'_>) -> bool {
    match &child.kind().0 {
        b"senc" => true,
        b"saiz" | b"saio" => is_protection_aux(child),
        b"sgpd" | b"sbgp" => is_seig(child),
        b"uuid" => child.uuid() == Some(PIFF_SENC),
        _ => false,
    }
}

/// The boxes of one `traf` or `stbl` that hold or point to auxiliary information.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuxBoxes<'a> {
    senc: Option<Senc<'a>>,
    piff: Option<Senc<'a>>,
    saiz: Option<Saiz<'a>>,
    saio: Option<Saio<'a>>,
}

impl<'a> AuxBoxes<'a> {
    /// Keeps `child` if it is a `senc`, or a `saiz` or `saio` of Common Encryption.
    pub(crate) fn take(&mut self, child: BoxRef<'a>) -> Result<()> {
        fn once<T>(slot: &mut Option<T>, child: &BoxRef<'_>, value: T) -> Result<()> {
            match slot.replace(value) {
                None => Ok(()),
                Some(_) => Err(child.error(ErrorKind::Duplicate { kind: child.kind() })),
            }
        }
        match &child.kind().0 {
            b"senc" => once(&mut self.senc, &child, Senc::from_box(child)?),
            b"uuid" if child.uuid() == Some(PIFF_SENC) => {
                once(&mut self.piff, &child, Senc::from_box(child)?)
            }
            b"saiz" if is_protection_aux(&child) => {
                once(&mut self.saiz, &child, Saiz::from_box(child)?)
            }
            b"saio" if is_protection_aux(&child) => {
                once(&mut self.saio, &child, Saio::from_box(child)?)
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.senc.is_none() && self.piff.is_none() && self.saiz.is_none() && self.saio.is_none()
    }

    fn senc(&self) -> Option<&Senc<'a>> {
        self.senc.as_ref().or(self.piff.as_ref())
    }

    /// What PIFF's sample encryption box says in the place of the track's parameters.
    pub(crate) fn parameters(&self) -> Option<&PiffParameters> {
        self.senc()?.parameters.as_ref()
    }

    /// Checks counts against the samples of the track or fragment.
    pub(crate) fn check(&self, samples: u64) -> Result<()> {
        for senc in [&self.senc, &self.piff].into_iter().flatten() {
            senc.check_count(samples)?;
        }
        if let Some(saiz) = &self.saiz {
            // The standard lets the last samples have no entry, never the other way round.
            if u64::from(saiz.count) > samples {
                return Err(saiz.place.error(ErrorKind::Mismatch {
                    what: "samples in `saiz`",
                    expected: samples,
                    found: u64::from(saiz.count),
                }));
            }
        }
        Ok(())
    }

    /// Gives the auxiliary information: borrowed from `senc`, or read from `file` as `saiz`
    /// and `saio` say. `runs` are the sample counts of the runs or chunks.
    pub(crate) fn info<R: ReadAt + ?Sized>(
        &self,
        parent: BoxRef<'a>,
        base: u64,
        runs: impl Iterator<Item = u32>,
        file: &R,
    ) -> Result<AuxInfo<'a>> {
        if let Some(senc) = self.senc().filter(|senc| senc.count > 0) {
            let layout = AuxLayout::Senc { subsamples: senc.subsamples, start: senc.entries.start };
            return Ok(AuxInfo::new(senc.bytes().into(), layout, senc.place));
        }
        match (&self.saiz, &self.saio) {
            (Some(saiz), Some(saio)) if saiz.total() > 0 => {
                let bytes = read_external(saiz, saio, base, runs, file)?;
                Ok(AuxInfo::new(bytes.into(), AuxLayout::Sized(*saiz), saio.place))
            }
            _ => Ok(AuxInfo::absent(parent)),
        }
    }
}

fn read_external<R: ReadAt + ?Sized>(
    saiz: &Saiz<'_>,
    saio: &Saio<'_>,
    base: u64,
    mut runs: impl Iterator<Item = u32>,
    file: &R,
) -> Result<Vec<u8>> {
    let file_len = file.len();
    let outside = |number: u32, start, len| -> Error {
        let what = "aux info of run";
        let kind = ErrorKind::OutsideFile { what, number: number.into(), start, len, file_len };
        saio.place.error_at(saio.entry_at(number - 1), kind)
    };
    let total = saiz.total();
    let entries = saio.records.count;
    if entries == 0 {
        return Err(saio.place.error(ErrorKind::Invalid("`saio` without offsets")));
    }
    // Entries may overlap, so that each of them being inside the file does not bound their sum:
    // a small hostile file could ask for gigabytes.
    if total > file_len {
        return Err(outside(1, base, total));
    }
    let mut bytes = Vec::new();
    let mut sample = 0_u64;
    for number in 1..=entries {
        let len = if entries == 1 {
            total
        } else {
            let count = runs.next().ok_or_else(|| {
                saio.place.error(ErrorKind::Invalid("more `saio` offsets than runs of samples"))
            })?;
            let first = sample;
            sample += u64::from(count);
            saiz.range_total(first..sample)
        };
        let start = base
            .checked_add(saio.entry(number - 1))
            .filter(|start| start.checked_add(len).is_some_and(|end| end <= file_len))
            .ok_or_else(|| outside(number, base.saturating_add(saio.entry(number - 1)), len))?;
        let old = bytes.len();
        // Bounded by `total`, which was checked.
        bytes.resize(old + usize::try_from(len).unwrap_or(0), 0);
        file.read_exact_at(&mut bytes[old..], start)
            .map_err(|error| saio.place.error(ErrorKind::Io(error)))?;
    }
    if bytes.len() as u64 != total {
        return Err(saio.place.error(ErrorKind::Mismatch {
            what: "auxiliary bytes reached by `saio`",
            expected: total,
            found: bytes.len() as u64,
        }));
    }
    Ok(bytes)
}
