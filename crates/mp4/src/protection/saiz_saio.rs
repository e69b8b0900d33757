//! `saiz` and `saio`: sizes and place of sample auxiliary information
//! (ISO/IEC 14496-12, 8.7.8 and 8.7.9).

use std::ops::Range;

use super::sinf::SCHEMES;
use crate::{
    BoxRef, Result,
    source::{Records, be32, be64},
};

/// Whether a `saiz` or `saio` box is about Common Encryption: the type is absent (then the
/// scheme is implied) or names a scheme.
pub(crate) fn is_protection_aux(aux: &BoxRef<'_>) -> bool {
    let payload = aux.payload();
    if !matches!(&aux.kind().0, b"saiz" | b"saio") || payload.len() < 4 {
        return false;
    }
    payload[3] & 1 == 0
        || payload.get(4..8).is_some_and(|kind| SCHEMES.iter().any(|scheme| kind == *scheme))
}

/// Sizes, one for all or one byte each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saiz<'a> {
    pub(crate) place: BoxRef<'a>,
    pub(crate) default: u8,
    pub(crate) count: u32,
    table: &'a [u8],
}

impl<'a> Saiz<'a> {
    pub(crate) fn from_box(saiz: BoxRef<'a>) -> Result<Self> {
        let mut reader = saiz.reader();
        let (_, flags) = reader.version_upto(0)?;
        if flags & 1 != 0 {
            reader.u64("aux_info_type")?;
        }
        let default = reader.u8("default_sample_info_size")?;
        let count = reader.u32("sample_count")?;
        let mut table: &[u8] = &[];
        if default == 0 {
            let records = reader.records(count, 1, "sample_info_size")?;
            table = &saiz.source.bytes[records.at..records.at + records.count as usize];
        }
        Ok(Self { place: saiz, default, count, table })
    }

    /// Size for sample `index`; samples after the last one listed have none.
    pub(crate) fn size(&self, index: u64) -> u8 {
        if index >= u64::from(self.count) {
            return 0;
        }
        let listed = usize::try_from(index).ok().and_then(|index| self.table.get(index));
        listed.copied().unwrap_or(self.default)
    }

    /// Size of the information of these samples.
    pub(crate) fn range_total(&self, samples: Range<u64>) -> u64 {
        let listed = u64::from(self.count);
        let samples = samples.start.min(listed)..samples.end.min(listed);
        match self.default {
            0 => samples.map(|sample| u64::from(self.size(sample))).sum(),
            size => (samples.end - samples.start) * u64::from(size),
        }
    }

    /// Size of the information of all samples.
    pub(crate) fn total(&self) -> u64 {
        match self.default {
            0 => self.table.iter().map(|&size| u64::from(size)).sum(),
            size => u64::from(size) * u64::from(self.count),
        }
    }
}

/// Offsets, one for all or one per run of samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saio<'a> {
    pub(crate) place: BoxRef<'a>,
    pub(crate) wide: bool,
    pub(crate) records: Records,
}

impl<'a> Saio<'a> {
    pub(crate) fn from_box(saio: BoxRef<'a>) -> Result<Self> {
        let mut reader = saio.reader();
        let (version, flags) = reader.version_upto(1)?;
        if flags & 1 != 0 {
            reader.u64("aux_info_type")?;
        }
        let wide = version == 1;
        let count = reader.u32("entry_count")?;
        let records = reader.records(count, if wide { 8 } else { 4 }, "offsets")?;
        Ok(Self { place: saio, wide, records })
    }

    /// Position of entry `index` in the top-level box.
    pub(crate) fn entry_at(&self, index: u32) -> usize {
        self.records.at + index as usize * if self.wide { 8 } else { 4 }
    }

    /// Entry `index`, relative to the base in force.
    pub(crate) fn entry(&self, index: u32) -> u64 {
        let (bytes, at) = (self.place.source.bytes, self.entry_at(index));
        if self.wide { be64(bytes, at) } else { u64::from(be32(bytes, at)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::{put_box, put32};

    #[test]
    fn sizes_of_ranges() {
        for (default, table, total) in [(9, &[][..], 45), (0, &[3, 0, 5, 7, 1][..], 16)] {
            let mut bytes = Vec::new();
            put_box(&mut bytes, *b"saiz", |out| {
                put32(out, 0);
                out.push(default);
                put32(out, 5);
                out.extend_from_slice(table);
            });
            let saiz = Saiz::from_box(BoxRef::root(&bytes, 0).unwrap()).unwrap();
            assert_eq!(saiz.total(), total);
            for start in 0..7 {
                for end in start..8 {
                    let sum = (start..end).map(|sample| u64::from(saiz.size(sample))).sum::<u64>();
                    assert_eq!(saiz.range_total(start..end), sum, "{start}..{end} of {default}");
                }
            }
        }
    }
}
