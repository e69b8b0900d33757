//! Offsets of a `moof` that changes its place or its length.
//!
//! Growing a `moof` moves the data behind it. All new offsets are computed before a byte is
//! written: data in front of the end of the old `moof` moves by as much as the `moof` does, data
//! behind it moves by that plus the growth of the `moof`.

use super::splice::{Splice, length};
use crate::{Base, BoxRef, ErrorKind, Fragment, Result, TrackFragment, protection::Saio};

/// What to do with the data offsets of runs.
///
/// A run without one continues where the previous run ended. Widely used readers take it for
/// the start of the `moof` instead, and some know no other base than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunOffsets {
    /// Leave them as they are.
    Keep,
    /// Write the offset into every run, from the `moof`.
    Explicit,
}

/// Where old absolute offsets will be.
pub(super) struct Moves {
    moof: u64,
    moof_end: u64,
    moved: i64,
    growth: i64,
    /// For each track fragment, whether all its runs get offsets from the `moof`.
    explicit: Vec<bool>,
}

impl Moves {
    /// `growth` is that of the `moof` without the offsets that runs get. `saios` are the indices of the
    /// track fragments that get a `saio`. Its offsets are never negative, so their base cannot stay what
    /// it is if that is behind the `moof` (the `mdat`, for example).
    pub(super) fn new(
        fragment: &Fragment<'_>,
        growth: i64,
        run_offsets: RunOffsets,
        moved: i64,
        saios: impl Iterator<Item = usize>,
    ) -> Self {
        let moof = fragment.offset();
        let moof_end = moof.saturating_add(fragment.bytes().len() as u64);
        let mut explicit = vec![run_offsets == RunOffsets::Explicit; fragment.tracks.len()];
        for index in saios {
            explicit[index] = true;
        }
        let trafs = fragment.tracks.iter().zip(&explicit).filter(|(_, explicit)| **explicit);
        let without = trafs.flat_map(|(traf, _)| &traf.runs);
        let without = without.filter(|run| run.data_offset_at.is_none()).count();
        Self { moof, moof_end, moved, growth: growth + 4 * length(without), explicit }
    }

    /// New place of data, or of a base, that was at `old`.
    fn place(&self, old: u64) -> Option<u64> {
        let behind = if old >= self.moof_end { self.growth } else { 0 };
        old.checked_add_signed(self.moved)?.checked_add_signed(behind)
    }

    /// The new base of a track fragment. One that stands in front of the `moof`, such as the start of
    /// the file, stays where it is.
    fn base(&self, index: usize, traf: &TrackFragment<'_>) -> Option<u64> {
        match traf.base {
            _ if self.explicit[index] => self.place(self.moof),
            Base::Explicit if traf.base_offset < self.moof => Some(traf.base_offset),
            Base::Explicit | Base::PreviousData => self.place(traf.base_offset),
            Base::Moof => self.place(self.moof),
        }
    }

    /// Sets the base and the data offsets of all runs right.
    pub(super) fn patch_offsets(
        &self,
        splice: &mut Splice<'_>,
        index: usize,
        traf: &TrackFragment<'_>,
    ) -> Result<()> {
        let overflow = |place: BoxRef<'_>, what| place.error(ErrorKind::Overflow { what });
        let base = self.base(index, traf);
        let base = base.ok_or_else(|| overflow(traf.place, "base data offset"))?;
        match traf.base_at {
            Some(at) if base != traf.base_offset => splice.overwrite(at, &base.to_be_bytes()),
            None if traf.base == Base::PreviousData && self.explicit[index] => {
                let flags = traf.place.require(b"tfhd")?.payload_range().start + 1;
                let default_base_is_moof = traf.place.source.bytes[flags] | 0x02;
                splice.overwrite(flags, &[default_base_is_moof]);
            }
            _ => {}
        }
        let mut next = base;
        for run in &traf.runs {
            let (start, end) = (run.offset, run.end());
            if run.data_size > 0 && start < self.moof_end && end > self.moof {
                return Err(run.place.error(ErrorKind::DataInMoof { start, end }));
            }
            let place = self.place(start);
            let place = place.ok_or_else(|| overflow(run.place, "offset of sample data"))?;
            let offset = place
                .checked_signed_diff(base)
                .and_then(|offset| i32::try_from(offset).ok())
                .ok_or_else(|| overflow(run.place, "data_offset"))?
                .to_be_bytes();
            match run.data_offset_at {
                Some(at) => {
                    if traf.place.source.bytes[at..at + 4] != offset {
                        splice.overwrite(at, &offset);
                    }
                }
                None if self.explicit[index] => {
                    let payload = run.place.payload_range().start;
                    let flags = run.place.payload()[3] | 1;
                    splice.overwrite(payload + 3, &[flags]);
                    let inside = [BoxRef::clone(&traf.place), run.place];
                    splice.insert(payload + 8, &inside, |out| out.extend_from_slice(&offset));
                }
                None if place == next || run.data_size == 0 => {}
                None => {
                    let what = "a run without data offset would lose its place";
                    return Err(run.place.error(ErrorKind::Invalid(what)));
                }
            }
            next = place.saturating_add(run.data_size);
        }
        Ok(())
    }

    /// Moves the offsets of the `saio` boxes that stay, whatever auxiliary information they point to.
    pub(super) fn patch_saios(
        &self,
        splice: &mut Splice<'_>,
        fragment: &Fragment<'_>,
        stays: impl Fn((usize, &BoxRef<'_>)) -> bool,
    ) -> Result<()> {
        let mut positions = None;
        let mut patches = Vec::new();
        for (index, traf) in fragment.tracks.iter().enumerate() {
            for child in traf.place.children() {
                let child = child?;
                if child.kind() != b"saio" || !stays((index, &child)) {
                    continue;
                }
                let positions = positions.get_or_insert_with(|| splice.positions());
                let saio = Saio::from_box(child)?;
                for entry in 0..saio.records.count {
                    let old = traf.base_offset.checked_add(saio.entry(entry));
                    let new = old.and_then(|old| {
                        let inside = (self.moof..self.moof_end).contains(&old);
                        let more = if inside { positions.shift(old - self.moof) } else { 0 };
                        self.place(old)?
                            .checked_add_signed(more)?
                            .checked_sub(self.base(index, traf)?)
                    });
                    let at = saio.entry_at(entry);
                    let overflow =
                        || child.error_at(at, ErrorKind::Overflow { what: "`saio` offset" });
                    let new = new.ok_or_else(overflow)?;
                    if new == saio.entry(entry) {
                        continue;
                    }
                    let narrow = u32::try_from(new);
                    match (saio.wide, narrow) {
                        (true, _) => patches.push((at, new.to_be_bytes().to_vec())),
                        (false, Ok(new)) => patches.push((at, new.to_be_bytes().to_vec())),
                        (false, Err(_)) => return Err(overflow()),
                    }
                }
            }
        }
        for (at, bytes) in patches {
            splice.overwrite(at, &bytes);
        }
        Ok(())
    }
}
