//! Sample tables: where they are and whether they agree (ISO/IEC 14496-12, 8.6 and 8.7).

use crate::{
    BoxRef, ErrorKind, FourCc, Result,
    source::{Records, Source, be16, be32},
};

/// A table box: start of the box (for errors) and its records.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Table {
    pub(crate) anchor: usize,
    pub(crate) records: Records,
}

/// Sample sizes: `stsz` or `stz2`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sizes {
    /// One size for all samples.
    Constant { anchor: usize, size: u32, count: u32 },
    /// Fields of `bits` (4, 8, 16 or 32) each.
    Listed { table: Table, bits: u32 },
}

impl Default for Sizes {
    fn default() -> Self {
        Self::Constant { anchor: 0, size: 0, count: 0 }
    }
}

impl Sizes {
    pub(crate) fn count(&self) -> u32 {
        match *self {
            Self::Constant { count, .. } => count,
            Self::Listed { table, .. } => table.records.count,
        }
    }

    /// Size of sample `index`, which must be below the count.
    pub(crate) fn get(&self, moov: &[u8], index: u32) -> u32 {
        let (table, bits) = match *self {
            Self::Constant { size, .. } => return size,
            Self::Listed { table, bits } => (table, bits),
        };
        let (at, index) = (table.records.at, index as usize);
        match bits {
            4 if index.is_multiple_of(2) => u32::from(moov[at + index / 2] >> 4),
            4 => u32::from(moov[at + index / 2] & 15),
            8 => u32::from(moov[at + index]),
            16 => u32::from(be16(moov, at + index * 2)),
            _ => be32(moov, at + index * 4),
        }
    }

    fn from_stsz(stsz: &BoxRef<'_>) -> Result<Self> {
        let mut reader = stsz.reader();
        reader.version_upto(0)?;
        let size = reader.u32("sample_size")?;
        let count = reader.u32("sample_count")?;
        let anchor = stsz.range().start;
        Ok(if size == 0 {
            let records = reader.records(count, 4, "sample sizes")?;
            Self::Listed { table: Table { anchor, records }, bits: 32 }
        } else {
            Self::Constant { anchor, size, count }
        })
    }

    fn from_stz2(stz2: &BoxRef<'_>) -> Result<Self> {
        let mut reader = stz2.reader();
        reader.version_upto(0)?;
        let bits = reader.u32("field_size")? & 0xff;
        if !matches!(bits, 4 | 8 | 16) {
            let value = u64::from(bits);
            return Err(stz2.error(ErrorKind::InvalidValue { what: "field_size", value }));
        }
        let count = reader.u32("sample_count")?;
        let at = reader.position();
        // An odd number of 4-bit sizes ends with four bits of padding.
        let bytes = (u64::from(count) * u64::from(bits)).div_ceil(8);
        if bytes > reader.left() as u64 {
            return Err(reader.error(ErrorKind::Count {
                what: "sample sizes",
                count: u64::from(count),
                width: u64::from(bits.div_ceil(8)),
                available: reader.left() as u64,
            }));
        }
        let table = Table { anchor: stz2.range().start, records: Records { at, count } };
        Ok(Self::Listed { table, bits })
    }
}

/// All tables of one `stbl`. Absent optional tables are `None`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tables {
    pub(crate) stts: Table,
    pub(crate) ctts: Option<Table>,
    pub(crate) stss: Option<Table>,
    pub(crate) stsc: Table,
    pub(crate) sizes: Sizes,
    pub(crate) chunks: Table,
    /// Dependencies, a byte a sample. This and the two that follow may be shorter than the others.
    pub(crate) sdtp: Option<Table>,
    /// Padding bits, half a byte a sample.
    pub(crate) padb: Option<Table>,
    /// Degradation priorities, two bytes a sample.
    pub(crate) stdp: Option<Table>,
    /// `co64`: offsets have 8 bytes.
    pub(crate) wide: bool,
}

impl Tables {
    pub(crate) fn from_box(stbl: &BoxRef<'_>) -> Result<Self> {
        let mut this = Self::default();
        let (mut stts, mut ctts, mut stss, mut stsc) = (None, None, None, None);
        let (mut sizes, mut chunks) = (None, None);
        let (mut sdtp, mut padb, mut stdp) = (None, None, None);
        for child in stbl.children() {
            let child = child?;
            match &child.kind().0 {
                b"stts" => child.once(&mut stts)?,
                b"ctts" => child.once(&mut ctts)?,
                b"stss" => child.once(&mut stss)?,
                b"stsc" => child.once(&mut stsc)?,
                b"stsz" | b"stz2" => child.once(&mut sizes)?,
                b"stco" | b"co64" => child.once(&mut chunks)?,
                b"sdtp" => sdtp = sdtp.or(Some(child)),
                b"padb" => padb = padb.or(Some(child)),
                b"stdp" => stdp = stdp.or(Some(child)),
                _ => {}
            }
        }
        let table = |found: Option<BoxRef<'_>>, width, version, what| {
            found.map(|found| table(&found, width, version, what)).transpose()
        };
        this.wide = chunks.is_some_and(|chunks| chunks.kind() == b"co64");
        let width = if this.wide { 8 } else { 4 };
        let present = (stts.is_some(), stsc.is_some(), chunks.is_some());
        this.stts = table(stts, 8, 0, "decoding times")?.unwrap_or_default();
        this.ctts = table(ctts, 8, 1, "composition offsets")?;
        this.stss = table(stss, 4, 0, "sync samples")?;
        this.stsc = table(stsc, 12, 0, "sample to chunk entries")?.unwrap_or_default();
        this.chunks = table(chunks, width, 0, "chunk offsets")?.unwrap_or_default();
        this.sizes = match sizes {
            Some(sizes) if sizes.kind() == b"stz2" => Sizes::from_stz2(&sizes)?,
            Some(sizes) => Sizes::from_stsz(&sizes)?,
            None => Sizes::default(),
        };
        let count = this.sizes.count();
        this.sdtp = sdtp.map(|sdtp| flag_table(&sdtp, 4, 8, count));
        this.padb = padb.map(|padb| flag_table(&padb, 8, 4, count));
        this.stdp = stdp.map(|stdp| flag_table(&stdp, 4, 16, count));
        // Fragmented files exist that leave empty tables out.
        if this.sizes.count() > 0 {
            let missing = match present {
                (false, ..) => Some(b"stts"),
                (_, false, _) => Some(b"stsc"),
                (.., false) => Some(b"stco"),
                _ => None,
            };
            if let Some(kind) = missing {
                return Err(stbl.error(ErrorKind::Missing { kind: FourCc::new(kind) }));
            }
        }
        Ok(this)
    }

    pub(crate) fn sample_count(&self) -> u32 {
        self.sizes.count()
    }

    /// What `sdtp` says of sample `index`, as bits of sample flags (8.8.3.1).
    pub(crate) fn dependencies(&self, moov: &[u8], index: u32) -> Option<u32> {
        let sdtp = self.sdtp.filter(|sdtp| index < sdtp.records.count)?;
        Some(u32::from(moov[sdtp.records.at + index as usize]) << 20)
    }

    /// What `padb` and `stdp` say of sample `index`, as bits of sample flags.
    pub(crate) fn padding_and_priority(&self, moov: &[u8], index: u32) -> u32 {
        let mut flags = 0;
        if let Some(padb) = self.padb.filter(|padb| index < padb.records.count) {
            let pair = moov[padb.records.at + index as usize / 2];
            let bits = if index.is_multiple_of(2) { pair >> 4 } else { pair };
            flags |= u32::from(bits & 7) << 17;
        }
        if let Some(stdp) = self.stdp.filter(|stdp| index < stdp.records.count) {
            flags |= u32::from(be16(moov, stdp.records.at + index as usize * 2));
        }
        flags
    }

    /// Checks that the tables of sample flags are as long as the others.
    pub(crate) fn check_flags(&self, source: Source<'_>) -> Result<()> {
        let expected = u64::from(self.sample_count());
        for (table, what) in [
            (self.sdtp, "samples in `sdtp`"),
            (self.padb, "samples in `padb`"),
            (self.stdp, "samples in `stdp`"),
        ] {
            let Some(table) = table else { continue };
            let found = u64::from(table.records.count);
            if found != expected {
                let kind = ErrorKind::Mismatch { what, expected, found };
                return Err(source.error(table.anchor, table.anchor, kind));
            }
        }
        Ok(())
    }

    /// Checks the tables against each other. Linear in their size.
    pub(crate) fn check(&self, source: Source<'_>, entries: usize, file_len: u64) -> Result<()> {
        let count = u64::from(self.sample_count());
        let sum = |table: Table| -> u64 {
            let at = |i: u32| be32(source.bytes, table.records.at + i as usize * 8);
            (0..table.records.count).map(|i| u64::from(at(i))).sum()
        };
        for (table, what) in [
            (Some(self.stts), "samples with a decoding time"),
            (self.ctts, "samples with a composition offset"),
        ] {
            let Some(table) = table else { continue };
            let found = sum(table);
            if found != count {
                let kind = ErrorKind::Mismatch { what, expected: count, found };
                return Err(source.error(table.anchor, table.anchor, kind));
            }
        }
        if let Sizes::Constant { anchor, size, .. } = self.sizes {
            let total = count * u64::from(size);
            if total > file_len {
                let (what, number) = ("samples from sample", 1);
                let kind = ErrorKind::OutsideFile { what, number, start: 0, len: total, file_len };
                return Err(source.error(anchor, anchor, kind));
            }
        }
        self.check_chunks(source, entries)
    }

    fn check_chunks(&self, source: Source<'_>, entries: usize) -> Result<()> {
        let (bytes, at) = (source.bytes, self.stsc.records.at);
        let chunk_count = self.chunks.records.count;
        let mut samples = 0_u64;
        for i in 0..self.stsc.records.count as usize {
            let entry = at + i * 12;
            let first = be32(bytes, entry);
            let next = if i + 1 < self.stsc.records.count as usize {
                be32(bytes, entry + 12)
            } else {
                chunk_count.saturating_add(1)
            };
            let invalid = |what, value: u32| {
                let kind = ErrorKind::InvalidValue { what, value: u64::from(value) };
                Err(source.error(self.stsc.anchor, entry, kind))
            };
            if first == 0 || (i == 0) != (first == 1) || first >= next || first > chunk_count {
                return invalid("first_chunk", first);
            }
            let description = be32(bytes, entry + 8);
            if description == 0 || description as usize > entries {
                return invalid("sample_description_index", description);
            }
            // Below 2^64: at most 2^32 chunks of 2^32 samples, minus one each.
            samples =
                samples.saturating_add(u64::from(next - first) * u64::from(be32(bytes, entry + 4)));
        }
        let expected = u64::from(self.sample_count());
        if samples != expected {
            let kind = ErrorKind::Mismatch { what: "samples in chunks", expected, found: samples };
            return Err(source.error(self.stsc.anchor, self.stsc.anchor, kind));
        }
        Ok(())
    }

    /// Offset of chunk `index` (from 0).
    pub(crate) fn chunk_offset(&self, moov: &[u8], index: u32) -> u64 {
        let (at, index) = (self.chunks.records.at, index as usize);
        if self.wide {
            crate::source::be64(moov, at + index * 8)
        } else {
            u64::from(be32(moov, at + index * 4))
        }
    }

    /// Samples per chunk, chunk by chunk.
    pub(crate) fn chunk_samples<'a>(&self, moov: &'a [u8]) -> impl Iterator<Item = u32> + 'a {
        let (at, entries, chunks) =
            (self.stsc.records.at, self.stsc.records.count as usize, self.chunks.records.count);
        let mut entry = 0;
        (1..=chunks).filter_map(move |chunk| {
            while entry + 1 < entries && be32(moov, at + (entry + 1) * 12) <= chunk {
                entry += 1;
            }
            (entry < entries).then(|| be32(moov, at + entry * 12 + 4))
        })
    }
}

/// A table of `bits` for each sample, behind `fields` bytes. It has no count of its own that
/// matters; as it is of no importance to most uses, a short one is no error here.
fn flag_table(found: &BoxRef<'_>, fields: usize, bits: usize, samples: u32) -> Table {
    let range = found.payload_range();
    let at = range.end.min(range.start + fields);
    let count = u32::try_from((range.end - at) * 8 / bits).unwrap_or(u32::MAX).min(samples);
    Table { anchor: found.range().start, records: Records { at, count } }
}

fn table(found: &BoxRef<'_>, width: usize, version: u8, what: &'static str) -> Result<Table> {
    let mut reader = found.reader();
    reader.version_upto(version)?;
    let count = reader.u32("entry_count")?;
    let records = reader.records(count, width, what)?;
    Ok(Table { anchor: found.range().start, records })
}
