//! The map stage of encryption.

use std::time::Duration;

use lanelock_mp4::{
    Fragment, Movie, SampleAuxTable, TrackEncryption, TrackFragment,
    compose::{NewTrackFragment, moof},
    edit::{FragmentEdit, KeepPssh, Protect, RunOffsets, SampleInfoSlicer, WriteAux},
};

use super::{fragment_pssh::FragmentPssh, remarks::Remarks};
use crate::{
    Error,
    claims::{Claims, check_shared},
    decrypt::Decryptor,
    index::TrackTimes,
    io::Input,
    piece::{
        Bytes, Direction, Mapped, NewTrack, Part, PartKind, Planned, Stage, StretchSample,
        UnitToMap, outside,
    },
    pipeline::Map,
    place::Placement,
    plan::{duration, rank},
    skeleton::MediaRanges,
    tracks::Protector,
};

/// The map stage of encryption.
pub(crate) struct Encryptor<'a> {
    pub(crate) input: &'a Input<'a>,
    pub(crate) movie: &'a Movie,
    /// The media data of a progressive file.
    pub(crate) media: &'a MediaRanges,
    /// What decrypts the pieces first, where they are encrypted anew.
    pub(crate) decryptor: Option<Decryptor<'a>>,
    pub(crate) protector: Protector,
    pub(crate) claims: Claims<'a>,
    /// For new fragments, parallel to the tracks of the movie; none for those without samples in them.
    pub(crate) slicers: Vec<Option<SampleInfoSlicer<'a>>>,
    pub(crate) placement: Placement,
    /// New fragments so far.
    pub(crate) fragments: u64,
    pub(crate) remarks: Remarks,
    pub(crate) pssh: FragmentPssh<'a>,
}

impl Map for Encryptor<'_> {
    fn decrypts_first(&self) -> bool {
        self.decryptor.is_some()
    }

    fn before(&mut self, piece: &Planned, bytes: &Bytes<'_>) -> Result<Stage, Error> {
        match &mut self.decryptor {
            Some(decryptor) => decryptor.piece(piece, bytes),
            None => Ok(Stage::new(Direction::Decrypt, [].into())),
        }
    }

    fn map(&mut self, piece: Planned, bytes: &mut Bytes<'_>) -> Result<Mapped, Error> {
        let mut stage = Stage::new(Direction::Encrypt, self.protector.ciphers.clone());
        let out = self.placement.end();
        let mut writes = Vec::with_capacity(piece.parts.len());
        for part in piece.parts {
            let mut times = Vec::new();
            let head = match &part.kind {
                PartKind::Fragment(moof, media) => {
                    let moof = part.buffer.start..part.buffer.start + moof;
                    let moof = bytes.metadata(moof).to_vec();
                    let head;
                    (head, times) = self.fragment(&part, &moof, media, bytes, &mut stage)?;
                    self.claims.settle(&part, media, bytes)?;
                    head
                }
                PartKind::NewFragment(tracks) => {
                    if self.placement.wants_times() {
                        times.extend(tracks.iter().filter_map(TrackTimes::of_new));
                    }
                    if let Some(time) =
                        self.start_of(tracks.iter().map(|new| (new.track, Some(new.decode_time))))
                    {
                        self.protector.begin_fragment(self.input, self.movie, time)?;
                    }
                    self.new_fragment(tracks, part.buffer.len() as u64, bytes, &mut stage)?
                }
                PartKind::Stretch(samples) => {
                    self.stretch(&part, samples, bytes, &mut stage)?;
                    Vec::new()
                }
                PartKind::Copy(media) => {
                    self.claims.settle(&part, media, bytes)?;
                    Vec::new()
                }
                PartKind::Replace(_)
                | PartKind::SegmentHead
                | PartKind::Index
                | PartKind::NewIndex(_) => Vec::new(),
            };
            writes.push(self.placement.place(part, bytes, head, &times));
        }
        Ok(Mapped { stage, writes, out, object: None, others: Vec::new() })
    }
}

/// What protects a track fragment.
struct Protected {
    /// Index in the fragment.
    index: usize,
    aux: OwnedAux,
    group: Option<TrackEncryption>,
    /// Another sample entry.
    entry: Option<u32>,
}

/// Auxiliary information, as [`WriteAux`] borrows it.
enum OwnedAux {
    Nothing,
    EmptySenc,
    /// Taken out, since a track may have several track fragments in one `moof`.
    Full(SampleAuxTable),
}

impl Protected {
    fn plan(&self) -> Protect<'_> {
        let aux = match &self.aux {
            OwnedAux::Nothing => WriteAux::Nothing,
            OwnedAux::EmptySenc => WriteAux::EmptySenc,
            OwnedAux::Full(table) => WriteAux::Full(table),
        };
        let mut plan = Protect::new(self.index, aux);
        if let Some(group) = &self.group {
            plan = plan.with_seig(group);
        }
        if let Some(entry) = self.entry {
            plan = plan.with_description_index(entry);
        }
        plan
    }
}

impl Encryptor<'_> {
    /// When a fragment with these tracks begins: decoding time of the first sample in the track that says
    /// where fragments begin.
    fn start_of(&self, tracks: impl Iterator<Item = (usize, Option<u64>)>) -> Option<Duration> {
        let known = tracks.filter_map(|(track, time)| Some((&self.movie.tracks[track], time?)));
        let (track, time) = known.min_by_key(|(track, _)| rank(track))?;
        Some(duration(time, track.timescale.into()))
    }

    /// Gives the new `moof` of a part, and its times if they are wanted.
    fn fragment(
        &mut self,
        part: &Part,
        moof: &[u8],
        media: &MediaRanges,
        bytes: &mut Bytes<'_>,
        to: &mut Stage,
    ) -> Result<(Vec<u8>, Vec<TrackTimes>), Error> {
        let (at, body) = (part.at, part.body(moof.len()));
        let container = |error| self.input.container(error);
        let fragment =
            Fragment::parse(moof, at, self.movie, self.input.len()).map_err(container)?;
        self.claims.fragment(&fragment)?;
        check_shared(self.input, &fragment, |track| self.protector.tracks[track].is_some())?;
        let trafs = fragment.tracks.iter().filter(|traf| traf.sample_count > 0);
        let first_time = |traf: &TrackFragment<'_>| Some(traf.samples().next()?.decode_time);
        let times = trafs.map(|traf| (traf.track_index, first_time(traf)));
        if let Some(time) = self.start_of(times) {
            self.protector.begin_fragment(self.input, self.movie, time)?;
        }
        for track in self.protector.tracks.iter_mut().flatten() {
            track.aux.clear();
        }
        let mut tables = Vec::with_capacity(fragment.tracks.len());
        let (mut leftovers, mut seen) = (Vec::new(), vec![false; self.movie.tracks.len()]);
        for (index, traf) in fragment.tracks.iter().enumerate() {
            let track = traf.track_index;
            let is_encrypted = self.protector.tracks[track].is_some();
            if is_encrypted && self.decryptor.is_none() && traf.has_protection_boxes() {
                self.remarks.leftover(self.input, self.movie, traf)?;
                leftovers.push(index);
            }
            // Also of tracks that stay clear: what is in another fragment moves otherwise.
            for run in traf.runs().iter().filter(|run| run.data_size > 0) {
                if run.offset < body.start || run.end() > body.end {
                    return Err(outside(self.input, at, traf.track_id, run.offset));
                }
            }
            if !is_encrypted || traf.sample_count == 0 {
                continue;
            }
            self.track_fragment(part, moof.len(), traf, media, bytes, to)?;
            if std::mem::replace(&mut seen[track], true) {
                self.remarks.repeated(track);
            }
            if let Some(track) = &mut self.protector.tracks[track] {
                tables.push(Protected {
                    index,
                    aux: if track.is_clear() {
                        OwnedAux::Nothing
                    } else if track.needs_aux() {
                        OwnedAux::Full(track.aux.take())
                    } else {
                        OwnedAux::EmptySenc
                    },
                    group: track.group(),
                    entry: track.sample_entry(traf.description_index),
                });
            }
        }
        let plans: Vec<_> = tables.iter().map(Protected::plan).collect();
        let tracks = fragment.tracks.iter().map(|traf| traf.track_index);
        let pssh = self.pssh.of(self.protector.rotated_kids(tracks))?;
        let pssh: Vec<&[u8]> = pssh.iter().map(Vec::as_slice).collect();
        self.fragments += 1;
        let mut edit = FragmentEdit::new(&fragment).with_run_offsets(RunOffsets::Explicit);
        if self.decryptor.is_some() {
            edit = edit.unprotect(KeepPssh::No);
        } else if !leftovers.is_empty() {
            edit = edit.unprotect_tracks(&leftovers, KeepPssh::Yes);
        }
        let edit = edit.protect(&plans).with_pssh(&pssh);
        let edited = edit.finish(self.placement.moved(at)).map_err(container)?;
        let mut times = Vec::new();
        if self.placement.wants_times() {
            times = TrackTimes::of_fragment(&fragment);
        }
        Ok((edited, times))
    }

    /// Maps the samples of a track fragment; the `moof` has so many bytes.
    fn track_fragment(
        &mut self,
        part: &Part,
        moof: usize,
        traf: &TrackFragment<'_>,
        media: &MediaRanges,
        bytes: &mut Bytes<'_>,
        to: &mut Stage,
    ) -> Result<(), Error> {
        let (track, description_index) = (traf.track_index, traf.description_index);
        for sample in traf.samples() {
            let offset = sample.offset;
            let (start, size) = part
                .within(moof, offset, sample.size)
                .ok_or_else(|| outside(self.input, part.at, traf.track_id, offset))?;
            let unit = UnitToMap { track, description_index, offset, start, size };
            self.protector.unit(self.input, &unit, bytes, media, to)?;
        }
        Ok(())
    }

    /// Gives `moof` and the header of `mdat` for the samples in the buffer.
    pub(crate) fn new_fragment(
        &mut self,
        tracks: &[NewTrack],
        len: u64,
        bytes: &mut Bytes<'_>,
        to: &mut Stage,
    ) -> Result<Vec<u8>, Error> {
        let mut start = 0;
        let mut starts = Vec::with_capacity(tracks.len());
        for new in tracks {
            if let Some(track) = &mut self.protector.tracks[new.track] {
                track.aux.clear();
            }
            starts.push(start as u64);
            for (sample, &offset) in new.samples.iter().zip(&new.offsets) {
                let size = sample.size as usize;
                self.claims.claim(offset..offset.saturating_add(sample.size.into()))?;
                let unit = UnitToMap {
                    track: new.track,
                    description_index: new.description_index,
                    offset,
                    start,
                    size,
                };
                self.protector.unit(self.input, &unit, bytes, self.media, to)?;
                start += size;
            }
        }
        let mut boxes: Vec<Vec<u8>> = tracks.iter().map(|new| new.boxes.clone()).collect();
        for (new, boxes) in tracks.iter().zip(&mut boxes) {
            // A sample table has at most 2^32 - 1 samples.
            let samples = u32::try_from(new.samples.len()).unwrap_or(u32::MAX);
            if let Some(Some(slicer)) = self.slicers.get_mut(new.track) {
                slicer.slice(samples, boxes);
            }
        }
        let groups = tracks.iter().map(|new| self.protector.tracks[new.track].as_ref()?.group());
        let groups: Vec<_> = groups.collect();
        let trafs: Vec<_> = tracks
            .iter()
            .zip(starts)
            .zip(&boxes)
            .zip(&groups)
            .map(|(((new, start), boxes), group)| {
                let id = self.movie.tracks[new.track].id;
                let protected = self.protector.tracks[new.track].as_ref();
                let mut traf = NewTrackFragment::new(id, new.decode_time, &new.samples, 8 + start)
                    .with_boxes(boxes);
                let entry = protected.and_then(|track| track.sample_entry(new.description_index));
                let entry = entry.unwrap_or(new.description_index);
                if entry != 1 {
                    traf = traf.with_description_index(entry);
                }
                if let Some(group) = group {
                    traf = traf.with_seig(group);
                }
                match protected {
                    Some(track) => traf.with_aux(track.write_aux()),
                    None => traf,
                }
            })
            .collect();
        let kids = self.protector.rotated_kids(tracks.iter().map(|new| new.track));
        let pssh = self.pssh.of(kids)?;
        let pssh: Vec<&[u8]> = pssh.iter().map(Vec::as_slice).collect();
        self.fragments += 1;
        let too_large = |_| {
            let reason = format!("fragment {} would be larger than 4 GiB", self.fragments);
            self.input.unsuitable(reason)
        };
        let sequence = u32::try_from(self.fragments).map_err(too_large)?;
        let mut head =
            moof(sequence, &trafs, &pssh).map_err(|error| self.input.container(error))?;
        let size = u32::try_from(len + 8).map_err(too_large)?;
        head.extend_from_slice(&size.to_be_bytes());
        head.extend_from_slice(b"mdat");
        Ok(head)
    }

    fn stretch(
        &mut self,
        stretch: &Part,
        samples: &[StretchSample],
        bytes: &mut Bytes<'_>,
        to: &mut Stage,
    ) -> Result<(), Error> {
        for &StretchSample { track, description_index, offset, size } in samples {
            self.claims.claim(offset..offset.saturating_add(size.into()))?;
            let id = self.movie.tracks[track].id;
            let (start, size) = stretch
                .within(0, offset, size)
                .ok_or_else(|| outside(self.input, stretch.at, id, offset))?;
            let unit = UnitToMap { track, description_index, offset, start, size };
            self.protector.unit(self.input, &unit, bytes, self.media, to)?;
        }
        Ok(())
    }
}
