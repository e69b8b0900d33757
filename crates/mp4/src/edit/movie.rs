//! Protecting and unprotecting `moov`: sample entries, `pssh`, and for progressive files the
//! auxiliary information in `stbl`.

use super::splice::Splice;
use crate::{
    BoxRef, ErrorKind, FourCc, Movie, Result, SampleAuxTable, Track, TrackEncryption,
    moov::{protected_format, sinf_position, sinfs_of},
    protection::{Offset, Protection, is_protection_box, is_pssh, put_saio, put_sinf},
};

/// How to protect one track of a movie.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProtectTrack<'a> {
    /// The track.
    pub track_id: u32,
    /// Scheme type: `cenc`, `cens`, `cbc1` or `cbcs`. The pattern schemes get a `tenc` of
    /// version 1.
    pub scheme: FourCc,
    /// Defaults for `tenc`.
    pub encryption: TrackEncryption,
    /// For a progressive file: `senc`, `saiz` and `saio` to be put into `stbl`.
    pub aux: Option<&'a SampleAuxTable>,
    /// Whether the sample entries stay clear as well, behind those that are protected: entry *i* of *n*
    /// becomes protected, and entry *n* + *i* is what it was. For clear leads.
    pub clear_entries: bool,
}

impl<'a> ProtectTrack<'a> {
    /// Protects the sample entries of a track, without auxiliary information in `stbl`.
    pub fn new(track_id: u32, scheme: FourCc, encryption: TrackEncryption) -> Self {
        Self { track_id, scheme, encryption, aux: None, clear_entries: false }
    }

    /// Puts the auxiliary information of a progressive file into `stbl`.
    #[must_use]
    pub fn with_aux(self, aux: &'a SampleAuxTable) -> Self {
        Self { aux: Some(aux), ..self }
    }

    /// Keeps the clear sample entries, behind those that are protected.
    #[must_use]
    pub fn with_clear_entries(self) -> Self {
        Self { clear_entries: true, ..self }
    }
}

/// Which `pssh` boxes [`unprotect_movie`] and [`super::FragmentEdit::unprotect`] keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeepPssh {
    /// None.
    No,
    /// All.
    Yes,
}

/// Protects tracks of a movie.
///
/// Every sample entry of a track is renamed (`encv`, `enca`, `enct`, `encm`) and gets a
/// `sinf` as its last child. `pssh` are whole boxes appended to `moov`. With
/// [`ProtectTrack::aux`], `saiz`, `saio` and `senc` are appended to `stbl`; the `saio` offset is
/// right for a `moov` that stays where it is, and [`super::relocate_movie`] moves it. What an earlier
/// protection has left over in `stbl` goes ([`Movie::has_protection_boxes`]). The [module](super) has
/// an example.
pub fn protect_movie(
    movie: &Movie,
    tracks: &[ProtectTrack<'_>],
    pssh: &[&[u8]],
) -> Result<Vec<u8>> {
    let root = movie.root()?;
    let mut splice = Splice::new(root);
    let mut saios = Vec::new();
    let mut ids: Vec<_> = tracks.iter().map(|track| track.track_id).collect();
    ids.sort_unstable();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(root.error(ErrorKind::DuplicateTrack { id: pair[0] }));
    }
    // In file order, so that positions in later tracks can take the growth of earlier ones in.
    for track in &movie.tracks {
        let Some(plan) = tracks.iter().find(|plan| plan.track_id == track.id) else {
            continue;
        };
        let boxes = TrackBoxes::new(movie, track)?;
        protect_entries(&mut splice, track, &boxes, plan)?;
        for child in boxes.stbl.children() {
            let child = child?;
            if is_protection_box(&child) {
                splice.remove(child.range(), &boxes.around(&[]));
            }
        }
        if let Some(aux) = plan.aux {
            let at = append_aux(&mut splice, track, &boxes, aux)?;
            saios.push(at);
        }
    }
    if let Some(id) = ids.iter().find(|&&id| movie.track(id).is_none()) {
        return Err(root.error(ErrorKind::UnknownTrack { id: *id }));
    }
    for pssh in pssh {
        BoxRef::root_of(pssh, 0, b"pssh")?;
        splice.insert(root.append_position()?, &[root], |out| out.extend_from_slice(pssh));
    }
    let mut bytes = splice.finish()?;
    for Placed { field, entries } in saios {
        let offset = movie.offset().saturating_add(entries as u64);
        bytes[field..field + 8].copy_from_slice(&offset.to_be_bytes());
    }
    Ok(bytes)
}

/// Restores the sample entries of protected tracks: original format, no `sinf`; `senc`,
/// `saiz`, `saio` and `seig` groups in `stbl` go too.
///
/// `track_ids` of `None` means all protected tracks. It is an error if nothing is protected.
pub fn unprotect_movie(
    movie: &Movie,
    track_ids: Option<&[u32]>,
    keep_pssh: KeepPssh,
) -> Result<Vec<u8>> {
    let root = movie.root()?;
    let mut splice = Splice::new(root);
    let mut any = false;
    for track in &movie.tracks {
        let named = track_ids.is_none_or(|ids| ids.contains(&track.id));
        if !named || !track.is_protected() {
            continue;
        }
        any = true;
        let boxes = TrackBoxes::new(movie, track)?;
        for entry in boxes.stsd.children() {
            let entry = entry?;
            let sinfs = sinfs_of(&entry, track.handler, boxes.stsd.payload()[0])?;
            let Some((original, _)) = Protection::from_boxes(&sinfs)? else { continue };
            splice.overwrite(entry.range().start + 4, &original.0);
            for sinf in sinfs {
                splice.remove(sinf.range(), &boxes.around(&[boxes.stsd, entry]));
            }
        }
        for child in boxes.stbl.children() {
            let child = child?;
            if is_protection_box(&child) {
                splice.remove(child.range(), &boxes.around(&[]));
            }
        }
    }
    if !any {
        return Err(root.error(ErrorKind::Invalid("no track to unprotect")));
    }
    if keep_pssh == KeepPssh::No {
        for child in root.children() {
            let child = child?;
            if is_pssh(&child) {
                splice.remove(child.range(), &[root]);
            }
        }
    }
    splice.finish()
}

/// The boxes from `moov` down to `stsd` of one track.
pub(super) struct TrackBoxes<'a> {
    pub(super) outer: [BoxRef<'a>; 4],
    pub(super) stbl: BoxRef<'a>,
    pub(super) stsd: BoxRef<'a>,
}

impl<'a> TrackBoxes<'a> {
    pub(super) fn new(movie: &'a Movie, track: &Track) -> Result<Self> {
        let moov = movie.root()?;
        let trak = track.trak(&moov)?;
        let mdia = trak.require(b"mdia")?;
        let minf = mdia.require(b"minf")?;
        let stbl = minf.require(b"stbl")?;
        Ok(Self { outer: [moov, trak, mdia, minf], stbl, stsd: stbl.require(b"stsd")? })
    }

    /// The boxes around a child of `stbl`, or around something in `inner` below it.
    pub(super) fn around(&self, inner: &[BoxRef<'a>]) -> Vec<BoxRef<'a>> {
        let mut boxes = self.outer.to_vec();
        boxes.push(self.stbl);
        boxes.extend_from_slice(inner);
        boxes
    }
}

fn protect_entries(
    splice: &mut Splice<'_>,
    track: &Track,
    boxes: &TrackBoxes<'_>,
    plan: &ProtectTrack<'_>,
) -> Result<()> {
    if track.is_protected() {
        return Err(boxes.stsd.error(ErrorKind::AlreadyProtected));
    }
    if track.entries.is_empty() {
        let what = "a track without sample entries cannot be protected";
        return Err(boxes.stsd.error(ErrorKind::Invalid(what)));
    }
    if !plan.encryption.is_consistent() {
        let what = "encryption parameters that do not fit a `tenc` box";
        return Err(boxes.stsd.error(ErrorKind::Invalid(what)));
    }
    let Some(format) = protected_format(track.handler) else {
        let what = "protecting a track of this handler type";
        return Err(boxes.outer[1].error(ErrorKind::Unsupported(what)));
    };
    for entry in boxes.stsd.children() {
        let entry = entry?;
        splice.overwrite(entry.range().start + 4, &format.0);
        let at = sinf_position(&entry, track.handler, boxes.stsd.payload()[0])?;
        splice.insert(at, &boxes.around(&[boxes.stsd, entry]), |out| {
            put_sinf(out, entry.kind(), plan.scheme, &plan.encryption);
        });
    }
    if plan.clear_entries {
        put_clear_entries(splice, track, boxes)?;
    }
    Ok(())
}

/// Appends the sample entries as they are.
fn put_clear_entries(splice: &mut Splice<'_>, track: &Track, boxes: &TrackBoxes<'_>) -> Result<()> {
    let stsd = boxes.stsd;
    let mut copies = Vec::new();
    let mut end = stsd.payload_range().end;
    for entry in stsd.children() {
        let entry = entry?;
        copies.extend_from_slice(&stsd.source.bytes[entry.range()]);
        end = entry.range().end;
    }
    let overflow = || stsd.error(ErrorKind::Overflow { what: "number of sample entries" });
    let count = u32::try_from(track.entries.len()).ok().and_then(|count| count.checked_mul(2));
    let count = count.ok_or_else(overflow)?;
    splice.overwrite(stsd.payload_range().start + 4, &count.to_be_bytes());
    splice.insert(end, &boxes.around(&[stsd]), |out| out.extend_from_slice(&copies));
    Ok(())
}

/// A `saio` field and the first `senc` entry it shall point to, as positions in the new `moov`.
struct Placed {
    field: usize,
    entries: usize,
}

fn append_aux(
    splice: &mut Splice<'_>,
    track: &Track,
    boxes: &TrackBoxes<'_>,
    aux: &SampleAuxTable,
) -> Result<Placed> {
    let (expected, found) = (u64::from(track.sample_count()), aux.len() as u64);
    if expected != found {
        let what = "samples with auxiliary information";
        return Err(boxes.stbl.error(ErrorKind::Mismatch { what, expected, found }));
    }
    let at = boxes.stbl.append_position()?;
    // Tracks are edited in file order, so all growth so far lies before this place.
    let start = at.saturating_add_signed(isize::try_from(splice.growth()).unwrap_or(0));
    let saio = start.saturating_add(aux.saiz_len());
    splice.insert(at, &boxes.around(&[]), |out| {
        aux.put_saiz(out);
        // Wide, since `moov` may end up behind more than 4 GiB of media.
        put_saio(out, Offset::Wide(0));
        aux.put_senc(out);
    });
    Ok(Placed {
        field: saio.saturating_add(16),
        entries: saio.saturating_add(24 + SampleAuxTable::SENC_ENTRIES),
    })
}
