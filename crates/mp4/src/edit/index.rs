//! Patching the indexes: `sidx` and `mfra`. Both keep their length.

use super::splice::Splice;
use crate::{
    BoxRef, Error, ErrorKind, Result,
    source::{be32, be64},
};

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
    let root = BoxRef::root_of(sidx, old_offset, b"sidx")?;
    let mut reader = root.reader();
    let (version, _) = reader.version_upto(1)?;
    let wide = version == 1;
    reader.u64("reference_ID and timescale")?;
    reader.u32_or_u64(wide, "earliest_presentation_time")?;
    let first_at = reader.position();
    let first_offset = reader.u32_or_u64(wide, "first_offset")?;
    reader.u16("reserved")?;
    let count = reader.u16("reference_count")?;
    let records = reader.records(u32::from(count), 12, "references")?;

    let len = sidx.len() as u64;
    let fail = |at, what| root.error_at(at, ErrorKind::Overflow { what });
    let mapped = |at: usize, old: u64| {
        let what = "a referenced offset that does not exist in the output";
        map(old).ok_or_else(|| root.error_at(at, ErrorKind::Invalid(what)))
    };
    // References begin after the box, plus `first_offset`.
    let mut old = old_offset
        .checked_add(len)
        .and_then(|anchor| anchor.checked_add(first_offset))
        .ok_or_else(|| fail(first_at, "first_offset"))?;
    let mut new = mapped(first_at, old)?;
    let mut splice = Splice::new(root);
    let new_first = new_offset
        .checked_add(len)
        .and_then(|anchor| new.checked_sub(anchor))
        .ok_or_else(|| fail(first_at, "first_offset"))?;
    if wide {
        splice.overwrite(first_at, &new_first.to_be_bytes());
    } else {
        let first = u32::try_from(new_first).map_err(|_| fail(first_at, "first_offset"))?;
        splice.overwrite(first_at, &first.to_be_bytes());
    }
    for i in 0..usize::from(count) {
        let at = records.at + i * 12;
        let word = be32(sidx, at);
        old = old
            .checked_add(u64::from(word & 0x7fff_ffff))
            .ok_or_else(|| fail(at, "referenced_size"))?;
        let end = mapped(at, old)?;
        let size = end
            .checked_sub(new)
            .and_then(|size| u32::try_from(size).ok())
            .filter(|size| size >> 31 == 0)
            .ok_or_else(|| fail(at, "referenced_size"))?;
        splice.overwrite(at, &(word & 0x8000_0000 | size).to_be_bytes());
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
