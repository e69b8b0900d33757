//! Keys by their KIDs, and what has been decrypted with them.

use std::{collections::BTreeSet, sync::Arc};

use lanelock_cenc::{AccessUnit, Cipher, Scheme, map::Subsample};
use lanelock_core::AesLevel;
use lanelock_mp4::{AuxCursor, Movie, Pssh, SampleAux, TrackEncryption};

use crate::{
    DecryptOptions, Error, Key, KeyReport, Place, TrackSummary,
    evidence::{KeyCheck, KeyChecks, Name, checksums},
    io::Input,
    keys::kid_text,
    piece::Stage,
    selection::fail,
    skeleton::MediaRanges,
};

/// The keys, and what has been decrypted with them.
pub(crate) struct Keyring<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) movie: &'a Movie,
    options: &'a DecryptOptions,
    level: AesLevel,
    /// Parallel to the tracks of the movie.
    seen: Vec<SeenUnits>,
    /// What looks for wrong keys.
    key_checks: KeyChecks,
    /// Whether what has no key is passed over.
    pub(super) may_miss: bool,
    /// Tracks and KIDs that have no key.
    missing: BTreeSet<(usize, [u8; 16])>,
}

/// The ciphers of a piece, and what each is for.
#[derive(Default)]
pub(super) struct CipherList {
    list: Vec<Cipher>,
    names: Vec<Name>,
    key_checks: Vec<Arc<KeyCheck>>,
    /// The number of the check of each cipher.
    numbers: Vec<usize>,
}

impl CipherList {
    pub(super) fn hand_over(self, stage: &mut Stage) {
        stage.ciphers = self.list.into();
        stage.key_checks = self.key_checks.into();
    }
}

/// The access units of a track so far.
#[derive(Clone, Default)]
struct SeenUnits {
    all: u64,
    decrypted: u64,
    /// Those that a sample group or a clear sample entry says to be clear.
    clear: u64,
    /// In order.
    kids: Vec<[u8; 16]>,
}

/// A sample of the input that may be encrypted.
pub(super) struct Encrypted<'b> {
    pub(super) track: usize,
    pub(super) description_index: u32,
    pub(super) scheme: Option<Scheme>,
    pub(super) encryption: Option<&'b TrackEncryption>,
    pub(super) offset: u64,
    pub(super) start: usize,
    pub(super) size: usize,
}

impl<'a> Keyring<'a> {
    pub(super) fn new(
        input: &'a Input<'a>,
        movie: &'a Movie,
        options: &'a DecryptOptions,
        level: AesLevel,
        key_checks: KeyChecks,
    ) -> Self {
        Self {
            input,
            movie,
            options,
            level,
            seen: vec![SeenUnits::default(); movie.tracks.len()],
            key_checks,
            may_miss: false,
            missing: BTreeSet::new(),
        }
    }

    /// Compares the keys with the checksums in PlayReady headers.
    pub(super) fn checksums(&mut self, boxes: &[Pssh]) -> Result<(), Error> {
        if !self.key_checks.is_enabled() {
            return Ok(());
        }
        for checksum in checksums(boxes) {
            for key in self.options.keys.iter().filter(|key| key.kid == checksum.kid) {
                let fits = checksum.fits(key, self.level);
                self.key_checks.checksum(checksum, fits, &self.input.name)?;
            }
        }
        Ok(())
    }

    /// What was found out about the keys, by track.
    pub(crate) fn reports(&self) -> Result<Vec<KeyReport>, Error> {
        let mut reports = self.key_checks.finish(&self.input.name)?;
        for (track, kid) in &self.missing {
            reports.push(KeyReport::missing(&self.movie.tracks[*track], kid));
        }
        Ok(reports)
    }

    /// The scheme of a sample entry; none if it is clear.
    pub(super) fn scheme(
        &self,
        track: usize,
        description_index: u32,
    ) -> Result<Option<Scheme>, Error> {
        let track = &self.movie.tracks[track];
        let Some(entry) = track.entry(description_index) else {
            let reason = format!("there is no sample entry number {description_index}");
            return Err(fail(self.input, track, reason));
        };
        let Some(protection) = &entry.protection else { return Ok(None) };
        let code = protection.scheme_type;
        let scheme = Scheme::from_fourcc(protection.sample_scheme.0)
            .filter(|_| protection.encryption.is_some());
        scheme.map(Some).ok_or_else(|| {
            let reason = format!(
                "it is encrypted with the scheme {code}, which is not supported; supported are cenc, \
                 cens, cbc1, cbcs and piff"
            );
            fail(self.input, track, reason)
        })
    }

    /// Adds a sample to the units of a piece, if it is encrypted.
    pub(super) fn unit(
        &mut self,
        sample: &Encrypted<'_>,
        aux: &mut AuxCursor<'_>,
        ciphers: &mut CipherList,
        media: &MediaRanges,
        to: &mut Stage,
    ) -> Result<(), Error> {
        let track = &self.movie.tracks[sample.track];
        let seen = &mut self.seen[sample.track];
        seen.all += 1;
        let number = seen.all;
        let size = u32::try_from(sample.size).unwrap_or(u32::MAX);
        let next = |aux: &mut AuxCursor<'_>, iv_size| -> Result<(), Error> {
            aux.next_sample(iv_size, size).map(drop).map_err(|error| self.input.container(error))
        };
        let Some(encryption) = sample.encryption.filter(|encryption| encryption.is_protected)
        else {
            let default = track.encryption(sample.description_index);
            seen.clear += u64::from(default.is_none_or(|default| default.is_protected));
            return next(aux, 0);
        };
        let Some(scheme) = sample.scheme else {
            let reason =
                "a sample group says that samples are encrypted, its sample entry says not";
            return Err(fail(self.input, track, reason.into()));
        };
        let SampleAux { iv, subsamples, .. } = aux
            .next_sample(encryption.iv_size, size)
            .map_err(|error| self.input.container(error))?;
        let iv = match &encryption.constant_iv {
            Some(constant) if encryption.iv_size == 0 => constant.to_block(),
            _ => {
                let mut block = [0; 16];
                block[..iv.len()].copy_from_slice(iv);
                block
            }
        };
        let name = Name::new(sample.track, sample.description_index, scheme, encryption);
        let Some(cipher) = self.cipher(name, number, ciphers)? else { return Ok(()) };
        let seen = &mut self.seen[sample.track];
        seen.decrypted += 1;
        if seen.kids.last() != Some(&encryption.kid) && !seen.kids.contains(&encryption.kid) {
            seen.kids.push(encryption.kid);
        }
        let place = Place { track: track.id, access_unit: number, offset: sample.offset };
        media.check(self.input, place, sample.size as u64)?;
        let first = to.subsamples.len();
        to.subsamples.extend(
            subsamples
                .into_iter()
                .flatten()
                .map(|s| Subsample { clear: s.clear, protected: s.protected }),
        );
        self.key_checks.count(ciphers.numbers[cipher], number, &to.subsamples[first..]);
        to.units.push(AccessUnit {
            range: sample.start..sample.start + sample.size,
            subsamples: first..to.subsamples.len(),
            iv,
            cipher,
        });
        to.places.push(place);
        Ok(())
    }

    /// The index of a cipher in the list of the piece, whose first access unit may be `number`; none
    /// if there is no key for it, and that is no error.
    fn cipher(
        &mut self,
        name: Name,
        number: u64,
        ciphers: &mut CipherList,
    ) -> Result<Option<usize>, Error> {
        if let Some(index) = ciphers.names.iter().position(|other| *other == name) {
            return Ok(Some(index));
        }
        let Name { track, kid, scheme, pattern: (crypt_blocks, skip_blocks), .. } = name;
        let Some(key) = self.options.keys.iter().find(|key: &&Key| key.kid == kid) else {
            if self.may_miss {
                self.missing.insert((track, kid));
                return Ok(None);
            }
            let kid = kid_text(&kid);
            let reason = format!("there is no key for its KID {kid}; add --key {kid}:KEY");
            return Err(fail(self.input, &self.movie.tracks[track], reason));
        };
        let mut cipher = Cipher::new(scheme, key.expand(self.level));
        if scheme.has_pattern() {
            cipher = cipher.with_pattern(crypt_blocks, skip_blocks);
        }
        if self.options.encrypt_truncated_runs {
            cipher = cipher.encrypt_truncated_runs();
        }
        let key_check = self.key_checks.key_check(name, &self.movie.tracks[track], number);
        ciphers.list.push(cipher);
        ciphers.names.push(name);
        ciphers.key_checks.push(self.key_checks.get(key_check));
        ciphers.numbers.push(key_check);
        Ok(Some(ciphers.list.len() - 1))
    }

    /// Refuses a protected track none of whose access units was decrypted, and not because something
    /// says that they are clear: they would be passed on as they are, under sample entries that call
    /// them clear.
    pub(crate) fn check_all_decrypted(&self) -> Result<(), Error> {
        for (track, seen) in self.movie.tracks.iter().zip(&self.seen) {
            if track.is_protected() && seen.decrypted == 0 && seen.clear < seen.all {
                let reason = format!(
                    "it has a protected sample entry, yet none of its {} access units is said to \
                     be encrypted: either nothing is to be decrypted, or the file is damaged",
                    seen.all
                );
                return Err(fail(self.input, track, reason));
            }
        }
        Ok(())
    }

    pub(super) fn summary(&self) -> Vec<TrackSummary> {
        let tracks = self.movie.tracks.iter().zip(&self.seen);
        tracks
            .map(|(track, seen)| TrackSummary {
                id: track.id,
                codec: track.codec(),
                scheme: seen.kids.first().and_then(|_| {
                    let entry = track.entries.iter().find_map(|entry| entry.protection.as_ref())?;
                    Some(entry.scheme_type.to_string())
                }),
                kid: seen.kids.first().map(kid_text),
                kids: seen.kids.iter().map(kid_text).collect(),
                iv: None,
                access_units: seen.decrypted,
                clear_access_units: if track.is_protected() { seen.clear } else { 0 },
            })
            .collect()
    }
}
