//! Reading and patching the indexes: `sidx` and `mfra`. Both keep their length.

use std::ops::Range;

use super::splice::Splice;
use crate::{
    BoxHeader, BoxRef, Error, ErrorKind, FourCc, Result,
    source::{Records, be32, be64},
};

/// What a `sidx` (ISO/IEC 14496-12, 8.16.3) says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SidxView {
    /// The track, by its ID.
    pub reference_id: u32,
    /// Units per second of the times here.
    pub timescale: u32,
    /// Earliest presentation time of the first range.
    pub earliest_presentation_time: u64,
    /// The ranges that are referenced, each of which begins where the one before it ends.
    pub references: Vec<SidxRange>,
}

/// One reference of a `sidx`, with its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SidxRange {
    /// The bytes of the file.
    pub range: Range<u64>,
    /// Duration in the timescale of the index.
    pub duration: u32,
    /// What is there is another `sidx`, and the media that it references.
    pub is_index: bool,
    /// The range begins with a stream access point.
    pub starts_with_sap: bool,
}

impl SidxView {
    /// Whether the index agrees with the top-level boxes of its file, given in file order: every
    /// range begins where a box begins that a segment or subsegment can begin with (`moof`, `styp`,
    /// `sidx`, `emsg`, `prft`), and the last range ends where a box ends.
    pub fn matches(&self, boxes: &[BoxHeader]) -> bool {
        let begins = |at: u64| {
            let found = boxes.binary_search_by_key(&at, |header| header.offset);
            found.ok().map(|index| boxes[index].kind)
        };
        self.matches_with(begins, |at| boxes.binary_search_by_key(&at, BoxHeader::end).is_ok())
    }

    /// [`Self::matches`] for boxes that are kept in another form: `begins` gives the type of the
    /// top-level box that begins at an offset, `ends` says whether one ends there.
    pub fn matches_with(
        &self,
        begins: impl Fn(u64) -> Option<FourCc>,
        ends: impl Fn(u64) -> bool,
    ) -> bool {
        let is_start =
            |kind: FourCc| matches!(&kind.0, b"moof" | b"styp" | b"sidx" | b"emsg" | b"prft");
        self.references.iter().all(|reference| begins(reference.range.start).is_some_and(is_start))
            && self.references.last().is_none_or(|last| ends(last.range.end))
    }
}

/// Reads a `sidx` that is at `offset` of its file. The ranges may be beyond the end of the file.
pub fn parse_sidx(sidx: &[u8], offset: u64) -> Result<SidxView> {
    let fields = SidxFields::new(sidx, offset)?;
    let mut start = fields.start()?;
    let mut references = Vec::with_capacity(fields.records.count as usize);
    for i in 0..fields.records.count as usize {
        let at = fields.records.at + i * 12;
        let (word, sap) = (be32(sidx, at), be32(sidx, at + 8));
        let end = fields.end(at, start)?;
        references.push(SidxRange {
            range: start..end,
            duration: be32(sidx, at + 4),
            is_index: word & INDEX != 0,
            starts_with_sap: sap >> 31 != 0,
        });
        start = end;
    }
    let SidxFields { reference_id, timescale, earliest_presentation_time, .. } = fields;
    Ok(SidxView { reference_id, timescale, earliest_presentation_time, references })
}

/// The fields of a `sidx` and where its references are.
struct SidxFields<'a> {
    root: BoxRef<'a>,
    reference_id: u32,
    timescale: u32,
    earliest_presentation_time: u64,
    /// Version 1: times and `first_offset` have 8 bytes.
    wide: bool,
    first_at: usize,
    first_offset: u64,
    records: Records,
}

impl<'a> SidxFields<'a> {
    fn new(sidx: &'a [u8], offset: u64) -> Result<Self> {
        let root = BoxRef::root_of(sidx, offset, b"sidx")?;
        let mut reader = root.reader();
        let (version, _) = reader.version_upto(1)?;
        let wide = version == 1;
        let reference_id = reader.u32("reference_ID")?;
        let timescale = reader.u32("timescale")?;
        let earliest_presentation_time = reader.u32_or_u64(wide, "earliest_presentation_time")?;
        let first_at = reader.position();
        let first_offset = reader.u32_or_u64(wide, "first_offset")?;
        reader.u16("reserved")?;
        let count = reader.u16("reference_count")?;
        let records = reader.records(u32::from(count), 12, "references")?;
        Ok(Self {
            root,
            reference_id,
            timescale,
            earliest_presentation_time,
            wide,
            first_at,
            first_offset,
            records,
        })
    }

    fn overflow(&self, at: usize, what: &'static str) -> Error {
        self.root.error_at(at, ErrorKind::Overflow { what })
    }

    /// Where the first range begins: after the box, plus `first_offset`.
    fn start(&self) -> Result<u64> {
        let anchor = self.root.file_offset().checked_add(self.root.bytes().len() as u64);
        anchor
            .and_then(|anchor| anchor.checked_add(self.first_offset))
            .ok_or_else(|| self.overflow(self.first_at, "first_offset"))
    }

    /// Where the range of the reference at `at` ends, which begins at `start`.
    fn end(&self, at: usize, start: u64) -> Result<u64> {
        let size = u64::from(be32(self.root.bytes(), at) & !INDEX);
        start.checked_add(size).ok_or_else(|| self.overflow(at, "referenced_size"))
    }
}

/// `reference_type` 1: what is referenced is another `sidx`.
const INDEX: u32 = 1 << 31;

/// Gives a `sidx` (ISO/IEC 14496-12, 8.16.3) whose references follow a change of offsets.
///
/// The box was at `old_offset` of the input and will be at `new_offset` of the output. `map`
/// gives the output offset of an input offset; it is called with the beginning of every
/// referenced range and with the end of the last one. `None` stands for an offset at which no
/// box begins or ends, and is an error here.
pub fn patch_sidx(
    sidx: &[u8],
    old_offset: u64,
    new_offset: u64,
    map: impl Fn(u64) -> Option<u64>,
) -> Result<Vec<u8>> {
    let fields = SidxFields::new(sidx, old_offset)?;
    let SidxFields { root, first_at, records, .. } = fields;
    let mapped = |at: usize, old: u64| {
        let what = "a referenced offset that does not exist in the output";
        map(old).ok_or_else(|| root.error_at(at, ErrorKind::Invalid(what)))
    };
    let mut old = fields.start()?;
    let mut new = mapped(first_at, old)?;
    let mut splice = Splice::new(root);
    let overflow = || fields.overflow(first_at, "first_offset");
    let new_first = new_offset
        .checked_add(sidx.len() as u64)
        .and_then(|anchor| new.checked_sub(anchor))
        .ok_or_else(overflow)?;
    if fields.wide {
        splice.overwrite(first_at, &new_first.to_be_bytes());
    } else {
        let first = u32::try_from(new_first).map_err(|_| overflow())?;
        splice.overwrite(first_at, &first.to_be_bytes());
    }
    for i in 0..records.count as usize {
        let at = records.at + i * 12;
        old = fields.end(at, old)?;
        let end = mapped(at, old)?;
        let size = end
            .checked_sub(new)
            .and_then(|size| u32::try_from(size).ok())
            .filter(|size| size & INDEX == 0)
            .ok_or_else(|| fields.overflow(at, "referenced_size"))?;
        splice.overwrite(at, &(be32(sidx, at) & INDEX | size).to_be_bytes());
        new = end;
    }
    splice.finish()
}

/// Gives a `mfra` (ISO/IEC 14496-12, 8.8.9) whose `tfra` entries point to where the `moof`
/// boxes are in the output, by `map`. The length, and so `mfro`, stays.
///
/// A `tfra` of version 0 cannot hold offsets above 4 GiB: [`ErrorKind::Overflow`].
pub fn patch_mfra(
    mfra: &[u8],
    old_offset: u64,
    map: impl Fn(u64) -> Option<u64>,
) -> Result<Vec<u8>> {
    let root = BoxRef::root_of(mfra, old_offset, b"mfra")?;
    let mut splice = Splice::new(root);
    for child in root.children() {
        let child = child?;
        if child.kind() == b"tfra" {
            patch_tfra(&mut splice, &child, &map)?;
        }
    }
    splice.finish()
}

fn patch_tfra(
    splice: &mut Splice<'_>,
    tfra: &BoxRef<'_>,
    map: &impl Fn(u64) -> Option<u64>,
) -> Result<()> {
    let mut reader = tfra.reader();
    let (version, _) = reader.version_upto(1)?;
    let wide = version == 1;
    reader.u32("track_ID")?;
    let lengths = reader.u32("length sizes")? as usize;
    let numbers = (lengths >> 4 & 3) + (lengths >> 2 & 3) + (lengths & 3) + 3;
    let count = reader.u32("number_of_entry")?;
    let (field, width) = if wide { (8, 16 + numbers) } else { (4, 8 + numbers) };
    let records = reader.records(count, width, "entries")?;
    let bytes = tfra.source.bytes;
    for i in 0..count as usize {
        let at = records.at + i * width + field;
        let old = if wide { be64(bytes, at) } else { u64::from(be32(bytes, at)) };
        let what = "a `moof` offset that does not exist in the output";
        let new =
            map(old).ok_or_else(|| -> Error { tfra.error_at(at, ErrorKind::Invalid(what)) })?;
        if wide {
            splice.overwrite(at, &new.to_be_bytes());
        } else {
            let new = u32::try_from(new)
                .map_err(|_| tfra.error_at(at, ErrorKind::Overflow { what: "moof_offset" }))?;
            splice.overwrite(at, &new.to_be_bytes());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::{MfraTrack, SidxReference, mfra, sidx};

    fn index() -> Vec<u8> {
        let reference = |size| SidxReference::new(size, 10).with_sap(1);
        sidx(1, 1000, 0, 0, &[reference(100), reference(50)]).unwrap()
    }

    #[test]
    fn sidx_sizes_follow() {
        let old = index();
        let end = 500 + old.len() as u64;
        // Everything after the index moves by 7, the second fragment by 9 more.
        let map = |at: u64| Some(at + 7 + if at > end { 9 } else { 0 });
        let new = patch_sidx(&old, 500, 507, map).unwrap();
        assert_eq!(new.len(), old.len());
        let first = old.len() - 24;
        assert_eq!(be32(&new, first), 109);
        assert_eq!(be32(&new, first + 12), 50);
        assert_eq!(patch_sidx(&old, 500, 500, Some).unwrap(), old);
    }

    #[test]
    fn sidx_unknown_offset_is_an_error() {
        let error = patch_sidx(&index(), 0, 0, |_| None).unwrap_err();
        assert_eq!(error.path(), "sidx");
    }

    #[test]
    fn tfra_overflow() {
        let entries = [(0, 1000), (10, 2000)];
        let old = mfra(&[MfraTrack::new(1, &entries)]).unwrap();
        let new = patch_mfra(&old, 9000, |at| Some(at + 5)).unwrap();
        assert_eq!(patch_mfra(&new, 9000, |at| Some(at - 5)).unwrap(), old);
        let error = patch_mfra(&old, 9000, |at| Some(at + (1 << 32))).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Overflow { .. }));
        assert_eq!(error.path(), "mfra/tfra");
    }
}
