//! Protecting, unprotecting and moving `moof`.

use super::{
    moves::{Moves, RunOffsets},
    movie::KeepPssh,
    splice::{Splice, length},
};
use crate::{
    BoxRef, Error, ErrorKind, Fragment, Result, SampleAuxTable, TrackEncryption, TrackFragment,
    protection::{
        Offset, WriteAux, is_protection_box, is_pssh, put_empty_senc, put_saio, put_seig,
    },
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
    /// Another sample entry, from 1: for clear leads ([`ProtectTrack::with_clear_entries`]).
    ///
    /// [`ProtectTrack::with_clear_entries`]: super::ProtectTrack::with_clear_entries
    pub description_index: Option<u32>,
}

impl<'a> Protect<'a> {
    /// Protects the track fragment at `index` with the parameters of its track.
    pub fn new(index: usize, aux: WriteAux<'a>) -> Self {
        Self { index, aux, seig: None, description_index: None }
    }

    /// Sets the parameters of all samples, as a `seig` group.
    #[must_use]
    pub fn with_seig(self, seig: &'a TrackEncryption) -> Self {
        Self { seig: Some(seig), ..self }
    }

    /// Sets another sample entry, from 1.
    #[must_use]
    pub fn with_description_index(self, description_index: u32) -> Self {
        Self { description_index: Some(description_index), ..self }
    }
}

/// An edit of a `moof`: takes protection away, protects, moves, all in one pass.
///
/// ```
/// # use lanelock_mp4::{Fragment, Result, SampleAuxTable};
/// use lanelock_mp4::edit::{FragmentEdit, KeepPssh, Protect, WriteAux};
///
/// # fn again(fragment: &Fragment<'_>, table: &SampleAuxTable, moved: i64) -> Result<Vec<u8>> {
/// // Encrypted anew: the old boxes go, new ones come.
/// let plans = [Protect::new(0, WriteAux::Full(table))];
/// FragmentEdit::new(fragment).unprotect(KeepPssh::No).protect(&plans).finish(moved)
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "an edit does nothing before `finish`"]
pub struct FragmentEdit<'a> {
    fragment: &'a Fragment<'a>,
    unprotect: Unprotect<'a>,
    keep_pssh: KeepPssh,
    plans: &'a [Protect<'a>],
    pssh: &'a [&'a [u8]],
    run_offsets: RunOffsets,
}

/// The track fragments that lose their protection boxes.
#[derive(Clone, Copy, Debug)]
enum Unprotect<'a> {
    None,
    All,
    Some(&'a [usize]),
}

impl<'a> FragmentEdit<'a> {
    /// An edit that changes nothing but the place of the fragment.
    pub fn new(fragment: &'a Fragment<'a>) -> Self {
        Self {
            fragment,
            unprotect: Unprotect::None,
            keep_pssh: KeepPssh::Yes,
            plans: &[],
            pssh: &[],
            run_offsets: RunOffsets::Keep,
        }
    }

    /// Removes what protection has put into the track fragments: `senc` (also PIFF's), `saiz` and
    /// `saio` of the scheme, `seig` groups; and the `pssh` boxes of the `moof`, as `keep_pssh`
    /// says. What is not there need not be removed.
    pub fn unprotect(self, keep_pssh: KeepPssh) -> Self {
        Self { unprotect: Unprotect::All, keep_pssh, ..self }
    }

    /// As [`Self::unprotect`], of the track fragments with these indices alone.
    pub fn unprotect_tracks(self, indices: &'a [usize], keep_pssh: KeepPssh) -> Self {
        Self { unprotect: Unprotect::Some(indices), keep_pssh, ..self }
    }

    /// Protects track fragments, in increasing order of [`Protect::index`]: appends `sgpd` and
    /// `sbgp` (if asked), `saiz`, `saio` and `senc` to each `traf`. One that is protected must lose
    /// that protection in the same edit: [`ErrorKind::AlreadyProtected`].
    ///
    /// A `saio` cannot point in front of the base of data offsets: where one is written, data offsets
    /// become those of [`RunOffsets::Explicit`].
    pub fn protect(self, plans: &'a [Protect<'a>]) -> Self {
        Self { plans, ..self }
    }

    /// Appends whole `pssh` boxes to the `moof`.
    pub fn with_pssh(self, pssh: &'a [&'a [u8]]) -> Self {
        Self { pssh, ..self }
    }

    /// Says what to do with the data offsets of runs; they are kept where nothing is said.
    pub fn with_run_offsets(self, run_offsets: RunOffsets) -> Self {
        Self { run_offsets, ..self }
    }

    /// Gives the bytes of the new `moof`.
    ///
    /// `moved` is the output position of the `moof` minus its input position; data behind the
    /// `moof` is taken to move by that plus the growth, data before it by `moved` alone.
    pub fn finish(self, moved: i64) -> Result<Vec<u8>> {
        let fragment = self.fragment;
        let root = fragment.root;
        let cleared = self.cleared()?;
        let blobs = Blobs::new(fragment, self.plans, &cleared)?;
        let removals = self.removals(&cleared)?;
        for pssh in self.pssh {
            BoxRef::root_of(pssh, 0, b"pssh")?;
        }
        let mut entries: Vec<(usize, EntryIndex<'_>)> = Vec::new();
        for plan in self.plans {
            if let Some(new) = plan.description_index {
                entries.push((plan.index, EntryIndex::of(&fragment.tracks[plan.index], new)?));
            }
        }
        let inserted: usize = entries.iter().map(|(_, entry)| entry.growth()).sum();
        let added =
            inserted + blobs.data.len() + self.pssh.iter().map(|pssh| pssh.len()).sum::<usize>();
        let removed: usize = removals.iter().map(|removal| removal.child.range().len()).sum();
        let growth = length(added) - length(removed);
        let saios = blobs.blobs.iter().filter(|blob| blob.saio.is_some()).map(|blob| blob.index);
        let moves = Moves::new(fragment, growth, self.run_offsets, moved, saios);
        let mut splice = Splice::new(root);
        let (mut blobs_left, mut removals_left) = (blobs.blobs.as_slice(), removals.as_slice());
        for (index, traf) in fragment.tracks.iter().enumerate() {
            // In file order, so that all growth so far lies before what is appended here.
            let end = traf.place.range().end;
            let before =
                removals_left.iter().take_while(|removal| removal.child.range().start < end);
            let (before, rest) = removals_left.split_at(before.count());
            removals_left = rest;
            Removal::remove(before, fragment, &mut splice);
            if let Some((_, entry)) = entries.iter().find(|(of, _)| *of == index) {
                entry.write(&mut splice, &[root, traf.place]);
            }
            moves.patch_offsets(&mut splice, index, traf)?;
            let Some((blob, rest)) =
                blobs_left.split_first().filter(|(blob, _)| blob.index == index)
            else {
                continue;
            };
            blobs_left = rest;
            let at = traf.place.append_position()?;
            let mut bytes = blobs.data[blob.range.clone()].to_vec();
            if let Some(saio) = blob.saio {
                let entries = length(at + blob.entries) + splice.growth();
                // From the `moof`, which is the base now.
                let overflow = |_| traf.place.error(ErrorKind::Overflow { what: "`saio` offset" });
                let offset = u32::try_from(entries).map_err(overflow)?;
                bytes[saio + 16..saio + 20].copy_from_slice(&offset.to_be_bytes());
            }
            splice.insert(at, &[root, traf.place], |out| out.extend_from_slice(&bytes));
        }
        Removal::remove(removals_left, fragment, &mut splice);
        for pssh in self.pssh {
            splice.insert(root.append_position()?, &[root], |out| out.extend_from_slice(pssh));
        }
        moves.patch_saios(&mut splice, fragment, |(index, child)| {
            !(cleared[index] && is_protection_box(child))
        })?;
        splice.finish()
    }

    /// For each track fragment, whether it loses its protection boxes.
    fn cleared(&self) -> Result<Vec<bool>> {
        let count = self.fragment.tracks.len();
        let mut cleared = vec![matches!(self.unprotect, Unprotect::All); count];
        if let Unprotect::Some(indices) = self.unprotect {
            for &index in indices {
                let slot = cleared.get_mut(index);
                *slot.ok_or_else(|| no_such_traf(self.fragment, index))? = true;
            }
        }
        Ok(cleared)
    }

    /// The boxes to remove, in file order.
    fn removals(&self, cleared: &[bool]) -> Result<Vec<Removal<'a>>> {
        let mut removals = Vec::new();
        for (index, traf) in self.fragment.tracks.iter().enumerate().filter(|(i, _)| cleared[*i]) {
            for child in traf.place.children() {
                let child = child?;
                if is_protection_box(&child) {
                    removals.push(Removal { traf: Some(index), child });
                }
            }
        }
        if self.keep_pssh == KeepPssh::No {
            for child in self.fragment.root.children() {
                let child = child?;
                if is_pssh(&child) {
                    removals.push(Removal { traf: None, child });
                }
            }
            removals.sort_by_key(|removal| removal.child.range().start);
        }
        Ok(removals)
    }
}

/// A box to remove.
struct Removal<'a> {
    /// Index of the track fragment that it is in; `None` for a child of the `moof`.
    traf: Option<usize>,
    child: BoxRef<'a>,
}

impl Removal<'_> {
    fn remove(removals: &[Self], fragment: &Fragment<'_>, splice: &mut Splice<'_>) {
        for Removal { traf, child } in removals {
            match traf {
                Some(index) => {
                    let around = [fragment.root, fragment.tracks[*index].place];
                    splice.remove(child.range(), &around);
                }
                None => splice.remove(child.range(), &[fragment.root]),
            }
        }
    }
}

fn no_such_traf(fragment: &Fragment<'_>, index: usize) -> Error {
    let (what, value) = ("track fragment index", index as u64);
    fragment.root.error(ErrorKind::InvalidValue { what, value })
}

/// The number of a sample entry in `tfhd`, to be written.
struct EntryIndex<'a> {
    tfhd: BoxRef<'a>,
    at: usize,
    is_there: bool,
    new: u32,
}

impl<'a> EntryIndex<'a> {
    fn of(traf: &TrackFragment<'a>, new: u32) -> Result<Self> {
        let tfhd = traf.place.require(b"tfhd")?;
        let flags = tfhd.payload()[3];
        // Version and flags, the track, the base if there is one.
        let at = tfhd.payload_range().start + 8 + if flags & 0x1 == 0 { 0 } else { 8 };
        Ok(Self { tfhd, at, is_there: flags & 0x2 != 0, new })
    }

    /// Bytes by which `tfhd` grows.
    fn growth(&self) -> usize {
        if self.is_there { 0 } else { 4 }
    }

    fn write(&self, splice: &mut Splice<'_>, around: &[BoxRef<'_>; 2]) {
        let new = self.new.to_be_bytes();
        if self.is_there {
            splice.overwrite(self.at, &new);
            return;
        }
        let flags = self.tfhd.payload_range().start + 3;
        splice.overwrite(flags, &[self.tfhd.payload()[3] | 0x2]);
        let [root, traf] = *around;
        splice.insert(self.at, &[root, traf, self.tfhd], |out| out.extend_from_slice(&new));
    }
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
    fn new(fragment: &Fragment<'_>, plans: &[Protect<'_>], cleared: &[bool]) -> Result<Self> {
        let mut this = Self {
            blobs: Vec::with_capacity(plans.len()),
            data: Vec::with_capacity(plans.iter().map(|plan| aux_len(plan.aux) + 96).sum()),
        };
        for plan in plans {
            if this.blobs.last().is_some_and(|last| last.index >= plan.index) {
                let what = "track fragments to protect are not in increasing order";
                return Err(fragment.root.error(ErrorKind::Invalid(what)));
            }
            let Some(traf) = fragment.tracks.get(plan.index) else {
                return Err(no_such_traf(fragment, plan.index));
            };
            if traf.has_protection_boxes() && !cleared[plan.index] {
                return Err(traf.place.error(ErrorKind::AlreadyProtected));
            }
            this.append(traf, plan)?;
        }
        Ok(this)
    }

    fn append(&mut self, traf: &TrackFragment<'_>, plan: &Protect<'_>) -> Result<()> {
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
