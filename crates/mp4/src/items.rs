//! Items of a `meta` box whose bytes are in the file: `iloc` (ISO/IEC 14496-12, 8.11.3).

use std::ops::Range;

use crate::{
    BoxRef, ErrorKind, Result,
    source::{Records, be32, be64},
};

/// The places of the items of one `iloc`.
struct Locations<'a> {
    iloc: BoxRef<'a>,
    /// Bytes of the fields of an extent: index, offset, length.
    widths: [usize; 3],
    items: Vec<ItemPlace>,
}

/// An item whose extents are counted from the start of this file.
struct ItemPlace {
    base: u64,
    /// The field of `base`, which has 0, 4 or 8 bytes.
    base_field: Range<usize>,
    extents: Records,
}

/// Ranges of the file that items of `meta` occupy. Items in `idat`, or in other files, have none.
pub fn item_extents(meta: &BoxRef<'_>) -> Result<Vec<Range<u64>>> {
    let Some(locations) = Locations::of(meta)? else { return Ok(Vec::new()) };
    let mut ranges = Vec::new();
    for item in &locations.items {
        for field in locations.extents(item) {
            let (start, len) = (locations.start(item, field)?, locations.length(field));
            let end = start.checked_add(len).ok_or_else(|| locations.overflow(field))?;
            if len > 0 {
                ranges.push(start..end);
            }
        }
    }
    Ok(ranges)
}

/// The fields to write so that items stay with their bytes: position in the source, and bytes.
/// `map` gives the output offset of an input offset.
pub(crate) fn moved_items(
    meta: &BoxRef<'_>,
    map: impl Fn(u64) -> Option<u64>,
) -> Result<Vec<(usize, Vec<u8>)>> {
    let Some(locations) = Locations::of(meta)? else { return Ok(Vec::new()) };
    let mut fields = Vec::new();
    for item in &locations.items {
        let mut moves = Vec::new();
        for field in locations.extents(item) {
            let old = locations.start(item, field)?;
            let new = map(old).ok_or_else(|| locations.overflow(field))?;
            moves.push((field, new.wrapping_sub(old)));
        }
        let Some(&(_, first)) = moves.first() else { continue };
        let same = moves.iter().all(|(_, by)| *by == first);
        if same && first == 0 {
            continue;
        }
        if same && !item.base_field.is_empty() {
            fields.push(locations.put(&item.base_field, item.base.wrapping_add(first))?);
            continue;
        }
        for (field, by) in moves {
            let place = field..field + locations.widths[1];
            if place.is_empty() {
                let what = "moving an item whose location has no offset field";
                return Err(locations.iloc.error_at(field, ErrorKind::Unsupported(what)));
            }
            let offset = locations.number(&place).wrapping_add(by);
            fields.push(locations.put(&place, offset)?);
        }
    }
    Ok(fields)
}

impl<'a> Locations<'a> {
    fn of(meta: &BoxRef<'a>) -> Result<Option<Self>> {
        let Some(iloc) = meta.child(b"iloc")? else { return Ok(None) };
        let mut reader = iloc.reader();
        let (version, _) = reader.version_upto(2)?;
        let [sizes, more] = reader.u16("sizes of fields")?.to_be_bytes();
        let index = if version == 0 { 0 } else { more & 15 };
        let [offset, length, base, index] =
            [sizes >> 4, sizes & 15, more >> 4, index].map(usize::from);
        if let Some(size) = [offset, length, base, index].iter().find(|&s| !matches!(s, 0 | 4 | 8))
        {
            let (what, value) = ("size of a field", *size as u64);
            return Err(iloc.error(ErrorKind::InvalidValue { what, value }));
        }
        let widths = [index, offset, length];
        let mut this = Self { iloc, widths, items: Vec::new() };
        let count = match version {
            2 => reader.u32("item_count")?,
            _ => reader.u16("item_count")?.into(),
        };
        for _ in 0..count {
            match version {
                2 => reader.bytes(4, "item_ID")?,
                _ => reader.bytes(2, "item_ID")?,
            };
            let method = if version == 0 { 0 } else { reader.u16("construction_method")? & 15 };
            let reference = reader.u16("data_reference_index")?;
            let at = reader.position();
            let base_field = at..at + base;
            reader.bytes(base, "base_offset")?;
            let extent_count = reader.u16("extent_count")?;
            let extents = reader.records(extent_count.into(), widths.iter().sum(), "extents")?;
            if method == 0 && reference == 0 {
                let base = this.number(&base_field);
                this.items.push(ItemPlace { base, base_field, extents });
            }
        }
        Ok(Some(this))
    }

    /// Where the offset field of each extent is. Extents without any field are all the same one.
    fn extents(&self, item: &ItemPlace) -> impl Iterator<Item = usize> + use<> {
        let width: usize = self.widths.iter().sum();
        let Records { at, count } = item.extents;
        let (first, count) = (at + self.widths[0], if width == 0 { count.min(1) } else { count });
        (0..count as usize).map(move |extent| first + extent * width)
    }

    fn start(&self, item: &ItemPlace, field: usize) -> Result<u64> {
        let offset = self.number(&(field..field + self.widths[1]));
        item.base.checked_add(offset).ok_or_else(|| self.overflow(field))
    }

    fn length(&self, field: usize) -> u64 {
        let at = field + self.widths[1];
        self.number(&(at..at + self.widths[2]))
    }

    /// The number in a field that was checked to be there; 0 if it has no bytes.
    fn number(&self, field: &Range<usize>) -> u64 {
        let bytes = self.iloc.source.bytes;
        match field.len() {
            8 => be64(bytes, field.start),
            4 => be32(bytes, field.start).into(),
            _ => 0,
        }
    }

    fn put(&self, field: &Range<usize>, value: u64) -> Result<(usize, Vec<u8>)> {
        let bytes = value.to_be_bytes();
        if field.len() == 4 && value > u64::from(u32::MAX) {
            return Err(self.overflow(field.start));
        }
        Ok((field.start, bytes[8 - field.len()..].to_vec()))
    }

    #[cold]
    fn overflow(&self, at: usize) -> crate::Error {
        self.iloc.error_at(at, ErrorKind::Overflow { what: "the place of an item" })
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "one extent")]
mod tests {
    use super::*;

    /// `meta` with an `iloc`: field sizes, and the bytes of one item behind its ID.
    fn meta(version: u8, sizes: u16, item: &[u8]) -> Vec<u8> {
        let mut iloc = vec![0, 0, 0, 0, b'i', b'l', b'o', b'c', version, 0, 0, 0];
        iloc.extend(sizes.to_be_bytes());
        iloc.extend([0, 1, 0, 7]);
        iloc.extend(item);
        iloc[3] = u8::try_from(iloc.len()).unwrap();
        let mut meta = vec![0, 0, 0, 0, b'm', b'e', b't', b'a', 0, 0, 0, 0];
        meta.extend(iloc);
        meta[3] = u8::try_from(meta.len()).unwrap();
        meta
    }

    fn moved(meta: &[u8], map: impl Fn(u64) -> Option<u64>) -> Result<Vec<u8>> {
        let mut out = meta.to_vec();
        for (at, bytes) in moved_items(&BoxRef::root(meta, 0)?, map)? {
            out[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        Ok(out)
    }

    fn extents(meta: &[u8]) -> Vec<Range<u64>> {
        item_extents(&BoxRef::root(meta, 0).unwrap()).unwrap()
    }

    #[test]
    fn extents_in_the_file_are_found_and_moved() {
        // No base; two extents of 4-byte offsets and lengths.
        let item = [0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 0, 9, 0, 0, 2, 0, 0, 0, 0, 5];
        let bytes = meta(0, 0x4400, &item);
        assert_eq!(extents(&bytes), [0x100..0x109, 0x200..0x205]);
        let map = |at: u64| Some(if at < 0x180 { at } else { at + 0x10 });
        assert_eq!(extents(&moved(&bytes, map).unwrap()), [0x100..0x109, 0x210..0x215]);
        assert_eq!(moved(&bytes, Some).unwrap(), bytes);
        assert!(moved(&bytes, |at| Some(at + (1 << 32))).is_err());
    }

    #[test]
    fn a_base_moves_all_extents() {
        // Version 1, base of 4 bytes, one extent with a length alone.
        let item = [0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 9];
        let bytes = meta(1, 0x0440, &item);
        assert_eq!(extents(&bytes), [0x100..0x109]);
        assert_eq!(extents(&moved(&bytes, |at| Some(at + 2)).unwrap()), [0x102..0x10b]);
        // The same without a base: nothing to write the new place into.
        let bytes = meta(1, 0x0400, &[0, 0, 0, 0, 0, 1, 0, 0, 0, 9]);
        assert_eq!(extents(&bytes), [0..9]);
        assert!(moved(&bytes, |at| Some(at + 2)).is_err());
    }

    #[test]
    fn items_in_idat_have_no_place_in_the_file() {
        let bytes = meta(1, 0x4400, &[0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 9]);
        assert_eq!(extents(&bytes), []);
        assert_eq!(moved(&bytes, |_| None).unwrap(), bytes);
    }

    #[test]
    fn broken_locations_are_errors() {
        let short = meta(0, 0x4400, &[0, 0, 0, 2, 0, 0, 1, 0]);
        assert!(item_extents(&BoxRef::root(&short, 0).unwrap()).is_err());
        let odd = meta(0, 0x3400, &[0, 0, 0, 0]);
        assert!(item_extents(&BoxRef::root(&odd, 0).unwrap()).is_err());
        // 65535 extents without a byte are one.
        assert_eq!(extents(&meta(0, 0, &[0, 0, 0xff, 0xff])), []);
    }
}
