//! Protecting, unprotecting and moving `moof`.
//!
//! Growing a `moof` moves the data behind it. All new offsets are computed before a byte is
//! written: data in front of the end of the old `moof` moves by as much as the `moof` does, data
//! behind it moves by that plus the growth of the `moof`.

use super::{
    movie::{KeepPssh, is_protection_box},
    splice::{Splice, length},
};
use crate::{
    Base, BoxRef, ErrorKind, Fragment, Result, SampleAuxTable, TrackEncryption, TrackFragment,
    protection::{Offset, Saio, WriteAux, put_empty_senc, put_saio, put_seig},
};

/// How to protect one track fragment.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Protect<'a> {
    /// Index in [`Fragment::tracks`].
    pub index: usize,
    /// Auxiliary information.
    pub aux: WriteAux<'a>,
    /// Parameters for all samples of this fragment, written as a `seig` sample group: for key
    /// rotation and for clear leads.
    pub seig: Option<&'a TrackEncryption>,
}

impl<'a> Protect<'a> {
    /// Protects the track fragment at `index` with the parameters of its track.
    pub fn new(index: usize, aux: WriteAux<'a>) -> Self {
        Self { index, aux, seig: None }
    }

    /// Sets the parameters of all samples, as a `seig` group.
    #[must_use]
    pub fn with_seig(self, seig: &'a TrackEncryption) -> Self {
        Self { seig: Some(seig), ..self }
    }
}

/// What to do with runs that have no data offset of their own.
///
/// A run without one continues where the previous run ended. Widely used readers take it for
/// the start of the `moof` instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunOffsets {
    /// Leave them.
    Keep,
    /// Write the offset into every run.
    Explicit,
}

/// Protects track fragments: appends `sgpd`/`sbgp` (if asked), `saiz`, `saio` and `senc` to
/// each `traf`, `pssh` boxes to the `moof`, and sets data offsets right.
///
/// `moved` is the output position of the `moof` minus its input position; data behind the
/// `moof` is taken to move by that plus the growth, data before it by `moved` alone.
pub fn protect_fragment(
    fragment: &Fragment<'_>,
    plans: &[Protect<'_>],
    pssh: &[&[u8]],
    run_offsets: RunOffsets,
    moved: i64,
) -> Result<Vec<u8>> {
    let root = fragment.root;
    let blobs = Blobs::new(fragment, plans)?;
    let mut growth = blobs.data.len();
    for pssh in pssh {
        BoxRef::root_of(pssh, 0, b"pssh")?;
        growth += pssh.len();
    }
    let mut splice = Splice::new(root);
    let moves = Moves::new(fragment, growth, run_offsets, moved);
    let mut blobs_left = blobs.blobs.as_slice();
    for (index, traf) in fragment.tracks.iter().enumerate() {
        moves.patch_offsets(&mut splice, traf, run_offsets)?;
        let Some((blob, rest)) = blobs_left.split_first().filter(|(blob, _)| blob.index == index)
        else {
            continue;
        };
        blobs_left = rest;
        let at = traf.place.append_position()?;
        let mut bytes = blobs.data[blob.range.clone()].to_vec();
        if let Some(saio) = blob.saio {
            // Edits are made in file order, so all growth so far lies before this place.
            let entries = length(at + blob.entries) + splice.growth();
            let offset = moves.saio_offset(traf, entries)?;
            bytes[saio + 16..saio + 20].copy_from_slice(&offset.to_be_bytes());
        }
        splice.insert(at, &[root, traf.place], |out| out.extend_from_slice(&bytes));
    }
    for pssh in pssh {
        splice.insert(root.append_position()?, &[root], |out| out.extend_from_slice(pssh));
    }
    moves.patch_saios(&mut splice, fragment, |_| true)?;
    splice.finish()
}

/// Removes what protection has put into the track fragments: `senc` (also PIFF's), `saiz` and
/// `saio` of the scheme, `seig` groups; and `pssh` boxes of the `moof`.
///
/// `indices` of `None` means all track fragments. `moved` is as in [`protect_fragment`]. A
/// fragment without such boxes is only moved.
pub fn unprotect_fragment(
    fragment: &Fragment<'_>,
    indices: Option<&[usize]>,
    keep_pssh: KeepPssh,
    moved: i64,
) -> Result<Vec<u8>> {
    let root = fragment.root;
    let named = |index| indices.is_none_or(|indices| indices.contains(&index));
    let mut doomed = Vec::new();
    for (index, traf) in fragment.tracks.iter().enumerate().filter(|(index, _)| named(*index)) {
        for child in traf.place.children() {
            let child = child?;
            if is_protection_box(&child) {
                doomed.push((index, child));
            }
        }
    }
    let mut pssh = Vec::new();
    if keep_pssh == KeepPssh::No {
        for child in root.children() {
            let child = child?;
            if child.kind() == b"pssh" {
                pssh.push(child);
            }
        }
    }
    let all = doomed.iter().map(|(_, child)| child).chain(&pssh);
    let shrink: usize = all.map(|child| child.range().len()).sum();
    let mut splice = Splice::new(root);
    let mut moves = Moves::new(fragment, 0, RunOffsets::Keep, moved);
    moves.growth = -length(shrink);
    for (index, child) in &doomed {
        splice.remove(child.range(), &[root, fragment.tracks[*index].place]);
    }
    for child in &pssh {
        splice.remove(child.range(), &[root]);
    }
    for traf in &fragment.tracks {
        moves.patch_offsets(&mut splice, traf, RunOffsets::Keep)?;
    }
    moves.patch_saios(&mut splice, fragment, |(index, child)| {
        !(named(index) && is_protection_box(child))
    })?;
    splice.finish()
}

/// Moves a `moof` without other change; with [`RunOffsets::Explicit`] it may still grow.
pub fn relocate_fragment(
    fragment: &Fragment<'_>,
    run_offsets: RunOffsets,
    moved: i64,
) -> Result<Vec<u8>> {
    protect_fragment(fragment, &[], &[], run_offsets, moved)
}

/// The boxes to append to one `traf`.
struct Blob {
    index: usize,
    range: std::ops::Range<usize>,
    /// Start of `saio` in the blob, if there is one.
    saio: Option<usize>,
    /// First `senc` entry in the blob.
    entries: usize,
}

struct Blobs {
    blobs: Vec<Blob>,
    data: Vec<u8>,
}

impl Blobs {
    fn new(fragment: &Fragment<'_>, plans: &[Protect<'_>]) -> Result<Self> {
        let root = fragment.root;
        let mut this = Self {
            blobs: Vec::with_capacity(plans.len()),
            data: Vec::with_capacity(plans.iter().map(|plan| aux_len(plan.aux) + 96).sum()),
        };
        for plan in plans {
            if this.blobs.last().is_some_and(|last| last.index >= plan.index) {
                let what = "track fragments to protect are not in increasing order";
                return Err(root.error(ErrorKind::Invalid(what)));
            }
            let Some(traf) = fragment.tracks.get(plan.index) else {
                let (what, value) = ("track fragment index", plan.index as u64);
                return Err(root.error(ErrorKind::InvalidValue { what, value }));
            };
            this.append(traf, plan)?;
        }
        Ok(this)
    }

    fn append(&mut self, traf: &TrackFragment<'_>, plan: &Protect<'_>) -> Result<()> {
        if traf.has_protection_boxes() {
            return Err(traf.place.error(ErrorKind::AlreadyProtected));
        }
        let start = self.data.len();
        let out = &mut self.data;
        if let Some(seig) = plan.seig {
            let count = u32::try_from(traf.sample_count).map_err(|_| {
                traf.place.error(ErrorKind::Overflow { what: "sample count of `sbgp`" })
            })?;
            if !seig.is_consistent() {
                let what = "encryption parameters that do not fit a `seig` entry";
                return Err(traf.place.error(ErrorKind::Invalid(what)));
            }
            put_seig(out, seig, count);
        }
        let mut saio = None;
        match plan.aux {
            WriteAux::Nothing => {}
            WriteAux::EmptySenc => put_empty_senc(out),
            WriteAux::Senc(table) | WriteAux::Full(table) => {
                let (expected, found) = (traf.sample_count, table.len() as u64);
                if expected != found {
                    let what = "samples with auxiliary information";
                    let kind = ErrorKind::Mismatch { what, expected, found };
                    return Err(traf.place.error(kind));
                }
                if let WriteAux::Full(_) = plan.aux {
                    table.put_saiz(out);
                    saio = Some(out.len() - start);
                    put_saio(out, Offset::Narrow(0));
                }
                table.put_senc(out);
            }
        }
        let senc_len = match plan.aux {
            WriteAux::Senc(table) | WriteAux::Full(table) => table.senc_len(),
            _ => 0,
        };
        let entries = out.len() - start - senc_len + SampleAuxTable::SENC_ENTRIES;
        self.blobs.push(Blob { index: plan.index, range: start..out.len(), saio, entries });
        Ok(())
    }
}

fn aux_len(aux: WriteAux<'_>) -> usize {
    match aux {
        WriteAux::Nothing => 0,
        WriteAux::EmptySenc => SampleAuxTable::SENC_ENTRIES,
        WriteAux::Senc(table) => table.senc_len(),
        WriteAux::Full(table) => table.saiz_len() + 20 + table.senc_len(),
    }
}

/// Where old absolute offsets will be.
struct Moves {
    moof: u64,
    moof_end: u64,
    moved: i64,
    growth: i64,
}

impl Moves {
    fn new(fragment: &Fragment<'_>, growth: usize, run_offsets: RunOffsets, moved: i64) -> Self {
        let mut growth = length(growth);
        if run_offsets == RunOffsets::Explicit {
            let runs = fragment.tracks.iter().flat_map(|traf| &traf.runs);
            growth += 4 * length(runs.filter(|run| run.data_offset_at.is_none()).count());
        }
        let moof = fragment.offset();
        Self { moof, moof_end: moof.saturating_add(fragment.bytes().len() as u64), moved, growth }
    }

    /// New place of data, or of a base, that was at `old`.
    fn place(&self, old: u64) -> Option<u64> {
        let behind = if old >= self.moof_end { self.growth } else { 0 };
        old.checked_add_signed(self.moved)?.checked_add_signed(behind)
    }

    fn base(&self, traf: &TrackFragment<'_>) -> Option<u64> {
        match traf.base {
            Base::Moof => self.moof.checked_add_signed(self.moved),
            Base::Explicit | Base::PreviousData => self.place(traf.base_offset),
        }
    }

    fn saio_offset(&self, traf: &TrackFragment<'_>, entries: i64) -> Result<u32> {
        self.moof
            .checked_add_signed(self.moved)
            .and_then(|moof| moof.checked_add_signed(entries))
            .and_then(|entries| entries.checked_sub(self.base(traf)?))
            .and_then(|offset| u32::try_from(offset).ok())
            .ok_or_else(|| {
                let what = "the base of data offsets lies behind the `moof`, out of reach of \
                            `saio`; default-base-is-moof is needed";
                traf.place.error(ErrorKind::Invalid(what))
            })
    }

    /// Sets `base_data_offset` and the data offsets of all runs right.
    fn patch_offsets(
        &self,
        splice: &mut Splice<'_>,
        traf: &TrackFragment<'_>,
        run_offsets: RunOffsets,
    ) -> Result<()> {
        let overflow = |place: BoxRef<'_>, what| place.error(ErrorKind::Overflow { what });
        let base = self.base(traf).ok_or_else(|| overflow(traf.place, "base data offset"))?;
        if let Some(at) = traf.base_at
            && base != traf.base_offset
        {
            splice.overwrite(at, &base.to_be_bytes());
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
            match (run.data_offset_at, run_offsets) {
                (Some(at), _) => {
                    if traf.place.source.bytes[at..at + 4] != offset {
                        splice.overwrite(at, &offset);
                    }
                }
                (None, RunOffsets::Explicit) => {
                    let payload = run.place.payload_range().start;
                    let flags = run.place.payload()[3] | 1;
                    splice.overwrite(payload + 3, &[flags]);
                    let inside = [BoxRef::clone(&traf.place), run.place];
                    splice.insert(payload + 8, &inside, |out| out.extend_from_slice(&offset));
                }
                (None, RunOffsets::Keep) if place == next || run.data_size == 0 => {}
                (None, RunOffsets::Keep) => {
                    let what = "a run without data offset would lose its place";
                    return Err(run.place.error(ErrorKind::Invalid(what)));
                }
            }
            next = place.saturating_add(run.data_size);
        }
        Ok(())
    }

    /// Moves the offsets of the `saio` boxes that stay, whatever auxiliary information they point to.
    fn patch_saios(
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
                        self.place(old)?.checked_add_signed(more)?.checked_sub(self.base(traf)?)
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
