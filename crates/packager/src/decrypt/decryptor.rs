//! The map stage of decryption.

use lanelock_mp4::{
    AuxCursor, AuxInfo, EncryptionRuns, Fragment, Movie, Track, TrackEncryption, TrackFragment,
    edit::{FragmentEdit, KeepPssh},
};

use super::keyring::{CipherList, Encrypted, Keyring};
use crate::{
    Error,
    claims::{Claims, check_shared},
    index::TrackTimes,
    piece::{Bytes, Direction, Mapped, Part, PartKind, Planned, Stage, StretchSample, outside},
    pipeline::Map,
    place::Placement,
    skeleton::MediaRanges,
};

/// Says which access units of a piece are encrypted, and how.
pub(crate) struct Decryptor<'a> {
    pub(crate) keyring: Keyring<'a>,
    /// The media data of a progressive file.
    media: &'a MediaRanges,
    /// Of a progressive file: parallel to the tracks of the movie.
    progress: Vec<Progress<'a>>,
}

/// How far a track of a progressive file is.
struct Progress<'a> {
    aux: AuxCursor<'a>,
    /// For each sample entry, the parameters if a sample uses that one.
    runs: Vec<ParameterRuns<'a>>,
}

/// Parameters, sample by sample.
struct ParameterRuns<'a> {
    rest: EncryptionRuns<'a>,
    current: Option<&'a TrackEncryption>,
    left: u64,
}

impl<'a> Progress<'a> {
    fn new(movie: &'a Movie, track: &'a Track, aux: AuxCursor<'a>) -> Self {
        let runs = (1..).zip(&track.entries).map(|(index, _)| ParameterRuns {
            rest: movie.encryption_runs(track, index),
            current: None,
            left: 0,
        });
        Self { aux, runs: runs.collect() }
    }

    /// The parameters of the next sample.
    fn next(&mut self, description_index: u32) -> Option<&'a TrackEncryption> {
        for runs in &mut self.runs {
            if runs.left == 0
                && let Some((left, current)) = runs.rest.next()
            {
                (runs.left, runs.current) = (left, current);
            }
            runs.left = runs.left.saturating_sub(1);
        }
        let index = usize::try_from(description_index).ok()?.checked_sub(1)?;
        self.runs.get(index)?.current
    }
}

impl<'a> Decryptor<'a> {
    /// `aux`: the auxiliary information in `moov`, parallel to the tracks.
    pub(crate) fn new(
        keyring: Keyring<'a>,
        media: &'a MediaRanges,
        aux: &'a [AuxInfo<'a>],
    ) -> Self {
        let movie = keyring.movie;
        let tracks = movie.tracks.iter().zip(aux);
        let progress = tracks.map(|(track, aux)| Progress::new(movie, track, aux.cursor()));
        Self { media, progress: progress.collect(), keyring }
    }

    /// What to decrypt in a piece.
    pub(crate) fn piece(&mut self, piece: &Planned, bytes: &Bytes<'_>) -> Result<Stage, Error> {
        let mut stage = Stage::new(Direction::Decrypt, [].into());
        let mut ciphers = CipherList::default();
        let input = self.keyring.input;
        for part in &piece.parts {
            match &part.kind {
                PartKind::Fragment(moof, media) => {
                    let moof = bytes.metadata(part.buffer.start..part.buffer.start + moof);
                    let fragment = Fragment::parse(moof, part.at, self.keyring.movie, input.len());
                    let fragment = fragment.map_err(|error| input.container(error))?;
                    self.fragment(part, &fragment, media, &mut ciphers, &mut stage)?;
                }
                PartKind::Stretch(samples) => {
                    self.stretch(part, samples, &mut ciphers, &mut stage)?;
                }
                _ => {}
            }
        }
        ciphers.hand_over(&mut stage);
        Ok(stage)
    }

    fn fragment(
        &mut self,
        part: &Part,
        fragment: &Fragment<'_>,
        media: &MediaRanges,
        ciphers: &mut CipherList,
        to: &mut Stage,
    ) -> Result<(), Error> {
        self.keyring.checksums(&fragment.pssh)?;
        let moof_len = fragment.bytes().len();
        for traf in &fragment.tracks {
            self.track(part, moof_len, traf, media, ciphers, to)?;
        }
        Ok(())
    }

    fn track(
        &mut self,
        part: &Part,
        moof_len: usize,
        traf: &TrackFragment<'_>,
        media: &MediaRanges,
        ciphers: &mut CipherList,
        to: &mut Stage,
    ) -> Result<(), Error> {
        let (input, movie) = (self.keyring.input, self.keyring.movie);
        let container = |error| input.container(error);
        let track = traf.track_index;
        let description_index = traf.description_index;
        let scheme = self.keyring.scheme(track, description_index)?;
        // What the fragments of a clear sample entry have is left over.
        let aux = match scheme {
            Some(_) => traf.aux_info(input).map_err(container)?,
            None => AuxInfo::absent(traf.boxed()),
        };
        let mut cursor = aux.cursor();
        let mut samples = traf.samples();
        for (count, encryption) in traf.encryption_runs(movie) {
            for sample in samples.by_ref().take(usize::try_from(count).unwrap_or(usize::MAX)) {
                let offset = sample.offset;
                let (start, size) = part
                    .within(moof_len, offset, sample.size)
                    .ok_or_else(|| outside(input, part.at, traf.track_id, offset))?;
                let sample =
                    Encrypted { track, description_index, scheme, encryption, offset, start, size };
                self.keyring.unit(&sample, &mut cursor, ciphers, media, to)?;
            }
        }
        cursor.finish().map_err(container)
    }

    fn stretch(
        &mut self,
        stretch: &Part,
        samples: &[StretchSample],
        ciphers: &mut CipherList,
        to: &mut Stage,
    ) -> Result<(), Error> {
        for &StretchSample { track, description_index, offset, size } in samples {
            let progress = &mut self.progress[track];
            let encryption = progress.next(description_index);
            let scheme = self.keyring.scheme(track, description_index)?;
            let (start, size) = stretch.within(0, offset, size).ok_or_else(|| {
                let id = self.keyring.movie.tracks[track].id;
                outside(self.keyring.input, stretch.at, id, offset)
            })?;
            let sample =
                Encrypted { track, description_index, scheme, encryption, offset, start, size };
            self.keyring.unit(&sample, &mut progress.aux, ciphers, self.media, to)?;
        }
        Ok(())
    }
}

/// The map stage of decryption: the parts without protection.
pub(super) struct Unprotector<'a> {
    pub(super) decryptor: Decryptor<'a>,
    pub(super) placement: Placement,
    pub(super) claims: Claims<'a>,
    pub(super) fragments: u64,
}

impl Map for Unprotector<'_> {
    fn map(&mut self, piece: Planned, bytes: &mut Bytes<'_>) -> Result<Mapped, Error> {
        let mut stage = Stage::new(Direction::Decrypt, [].into());
        let mut ciphers = CipherList::default();
        let out = self.placement.end();
        let mut writes = Vec::with_capacity(piece.parts.len());
        for part in piece.parts {
            let (mut head, mut times) = (Vec::new(), Vec::new());
            match &part.kind {
                PartKind::Fragment(moof, media) => {
                    let moof = bytes.metadata(part.buffer.start..part.buffer.start + moof);
                    (head, times) = self.fragment(&part, moof, media, &mut ciphers, &mut stage)?;
                    self.claims.settle(&part, media, bytes)?;
                }
                PartKind::Stretch(samples) => {
                    for StretchSample { offset, size, .. } in samples {
                        self.claims.claim(*offset..offset.saturating_add((*size).into()))?;
                    }
                    self.decryptor.stretch(&part, samples, &mut ciphers, &mut stage)?;
                }
                PartKind::Copy(media) => self.claims.settle(&part, media, bytes)?,
                _ => {}
            }
            writes.push(self.placement.place(part, bytes, head, &times));
        }
        ciphers.hand_over(&mut stage);
        Ok(Mapped { stage, writes, out, object: None, others: Vec::new() })
    }
}

impl Unprotector<'_> {
    /// Gives the clear `moof` of a part, and its times if they are wanted.
    fn fragment(
        &mut self,
        part: &Part,
        moof: &[u8],
        media: &MediaRanges,
        ciphers: &mut CipherList,
        to: &mut Stage,
    ) -> Result<(Vec<u8>, Vec<TrackTimes>), Error> {
        let Keyring { input, movie, .. } = self.decryptor.keyring;
        let container = |error| input.container(error);
        let fragment = Fragment::parse(moof, part.at, movie, input.len()).map_err(container)?;
        self.claims.fragment(&fragment)?;
        check_shared(input, &fragment, |track| movie.tracks[track].is_protected())?;
        self.decryptor.fragment(part, &fragment, media, ciphers, to)?;
        self.fragments += 1;
        let moved = self.placement.moved(part.at);
        let edit = FragmentEdit::new(&fragment).unprotect(KeepPssh::No);
        let edited = edit.finish(moved).map_err(container)?;
        let mut times = Vec::new();
        if self.placement.wants_times() {
            times = TrackTimes::of_fragment(&fragment);
        }
        Ok((edited, times))
    }
}
