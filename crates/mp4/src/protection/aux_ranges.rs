//! Where auxiliary information lies in the file, whatever it is about.

use std::ops::Range;

use super::saiz_saio::{Saio, Saiz};
use crate::{BoxRef, Result};

/// The ranges that the `saio` boxes of a `traf` or `stbl` point to, with the sizes of the `saiz` boxes
/// of the same type. `counts` gives the samples of each run or chunk. Ranges outside of the file are
/// left out: who reads them will find that they are missing.
pub(crate) fn aux_ranges<I: Iterator<Item = u32>>(
    parent: &BoxRef<'_>,
    base: u64,
    counts: impl Fn() -> I,
    file_len: u64,
) -> Result<Vec<Range<u64>>> {
    let (mut sizes, mut places) = (Vec::new(), Vec::new());
    for child in parent.children() {
        let child = child?;
        match &child.kind().0 {
            b"saiz" => sizes.push((aux_info_type(&child), Saiz::from_box(child)?)),
            b"saio" => places.push((aux_info_type(&child), Saio::from_box(child)?)),
            _ => {}
        }
    }
    let mut ranges = Vec::new();
    for (kind, saio) in &places {
        let Some((_, saiz)) = sizes.iter().find(|(other, _)| other == kind) else { continue };
        let lengths = run_lengths(saiz, saio.records.count, counts());
        for (entry, len) in (0..saio.records.count).zip(lengths) {
            let start = base.checked_add(saio.entry(entry));
            let end = start.and_then(|start| start.checked_add(len));
            if let (Some(start), Some(end)) = (start, end.filter(|end| *end <= file_len))
                && len > 0
            {
                ranges.push(start..end);
            }
        }
    }
    Ok(ranges)
}

/// Bytes of information of each run: of all samples together if there is one offset for all.
fn run_lengths(
    saiz: &Saiz<'_>,
    offsets: u32,
    counts: impl Iterator<Item = u32>,
) -> impl Iterator<Item = u64> {
    let mut first = 0_u64;
    let all = (offsets == 1).then(|| saiz.total());
    let runs = counts.map(move |count| {
        let end = first + u64::from(count);
        let len = saiz.range_total(first..end);
        first = end;
        len
    });
    all.into_iter().chain(runs)
}

/// `aux_info_type` and its parameter, if they are given.
fn aux_info_type<'a>(aux: &BoxRef<'a>) -> Option<&'a [u8]> {
    let payload = aux.payload();
    let stated = payload.get(3).is_some_and(|flags| flags & 1 != 0);
    stated.then(|| payload.get(4..12)).flatten()
}
