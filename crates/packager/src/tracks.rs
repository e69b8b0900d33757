//! The protection of tracks, and their state while they are encrypted.

use std::{sync::Arc, time::Duration};

use lanelock_cenc::{
    AccessUnit, Cipher, Scheme, advance_iv, iv_blocks,
    map::{Mapper, Subsample, max_entries},
    next_iv,
};
use lanelock_core::AesLevel;
use lanelock_mp4::{Movie, SampleAuxTable, StoredIv, SubsampleMode, TrackEncryption, TrackKind};

use crate::{
    ClearLead, EncryptOptions, Error, Iv, Key, KeyPeriods, Place, TrackSummary,
    codec::{self, mapper},
    io::Input,
    keys::{hex_text, kid_text},
    piece::{Bytes, PieceError, Stage, UnitToMap},
    schedule::{KeySpan, Schedule},
    selection::{Purpose, TrackKeys, fail, select},
    skeleton::MediaRanges,
};

/// The tracks of a movie while it is encrypted.
#[derive(Clone)]
pub(crate) struct Protector {
    /// Parallel to the tracks of the movie; none for those that stay clear.
    pub(crate) tracks: Vec<Option<ProtectedTrack>>,
    pub(crate) ciphers: Arc<[Cipher]>,
    pub(crate) schedule: Schedule,
    /// Decoding time of the first fragment.
    pub(crate) origin: Option<Duration>,
}

/// What comes before a place in a track: all that the IV there depends on, besides the first IV. It
/// follows from sizes alone, so that a fragment can be encrypted without those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SamplesBefore {
    pub(crate) samples: u64,
    /// The sum of their [`iv_blocks`].
    blocks: u64,
}

impl SamplesBefore {
    /// One more sample, of so many bytes.
    pub(crate) fn push(&mut self, size: u32) {
        self.samples += 1;
        self.blocks = self.blocks.wrapping_add(iv_blocks(size.into()));
    }
}

/// A track that is encrypted.
#[derive(Clone)]
pub(crate) struct ProtectedTrack {
    pub(crate) id: u32,
    pub(crate) scheme: Scheme,
    /// What `tenc` says: the parameters with the first of the keys.
    pub(crate) encryption: TrackEncryption,
    /// The keys: one for all time, or those of key periods, in order.
    keys: Arc<[KeyOfPeriod]>,
    /// What holds for the access units that come.
    span: KeySpan,
    /// The index in `keys` of the key in use.
    key: usize,
    /// How its clear lead is told; none if it has no clear lead.
    pub(crate) lead: Option<ClearLead>,
    /// Sample entries of the clear track.
    entries: u32,
    /// Whether access units have subsamples, as the rules of their codec say.
    subsamples: bool,
    /// One for each sample entry.
    mappers: Vec<Mapper>,
    first_iv: StoredIv,
    /// IV of the next access unit.
    iv: [u8; 16],
    /// Access units so far.
    pub(crate) count: u64,
    /// Those among them that are encrypted, and those that are clear.
    encrypted: u64,
    clear: u64,
    /// Which of the keys were used so far, parallel to them.
    used: Vec<bool>,
    /// Auxiliary information of the samples since it was cleared.
    pub(crate) aux: SampleAuxTable,
    /// Subsamples of one access unit, kept for its memory.
    scratch: Vec<lanelock_mp4::Subsample>,
}

/// A key of a track.
#[derive(Clone, Copy)]
struct KeyOfPeriod {
    /// None for all time.
    period: Option<u32>,
    kid: [u8; 16],
    /// Index in the ciphers.
    cipher: usize,
}

impl Protector {
    /// Finds keys, codec rules and IV for every track, or says which one is missing.
    pub(crate) fn new(
        input: &Input<'_>,
        movie: &Movie,
        options: &EncryptOptions,
        level: AesLevel,
        purpose: Purpose,
    ) -> Result<Self, Error> {
        let schedule = Schedule { lead: options.clear_lead, periods: options.key_periods.clone() };
        schedule.periods.check().map_err(Error::Options)?;
        let selected = select(input, movie, options, purpose, None)?;
        let mut ciphers = Vec::new();
        let mut tracks: Vec<Option<ProtectedTrack>> = Vec::with_capacity(movie.tracks.len());
        let mut used: Vec<(u32, &Key)> = Vec::new();
        for (track, keys) in movie.tracks.iter().zip(selected) {
            let fail = |reason: String| fail(input, track, reason);
            let Some(keys) = keys else {
                tracks.push(None);
                continue;
            };
            let given = matches!(options.iv, Iv::Given(_)) && options.scheme != Scheme::Cbcs;
            for (_, key) in keys.iter().filter(|_| given) {
                if let Some((other, _)) =
                    used.iter().find(|(id, other)| *id != track.id && other.is_same_key(key))
                {
                    return Err(fail(format!(
                        "it has the key and the given IV of track {other}, and {} must not repeat an IV \
                         under one key; give each track a key of its own, or leave out --iv",
                        options.scheme
                    )));
                }
                used.push((track.id, key));
            }
            let mappers = track
                .entries
                .iter()
                .map(mapper)
                .collect::<Result<Vec<_>, String>>()
                .map_err(fail)?;
            let Some(first) = mappers.first() else {
                return Err(fail("it has no sample entry".into()));
            };
            let subsamples = first.has_subsamples();
            if mappers.iter().any(|mapper| mapper.has_subsamples() != subsamples) {
                let reason = "some of its sample entries are protected by subsamples and others \
                              whole, which is not supported; give each codec a track of its own";
                return Err(fail(reason.into()));
            }
            let first_key = first_key(&keys, &schedule.periods).map_err(fail)?;
            let (encryption, first_iv) =
                encryption(options, first_key, subsamples).map_err(fail)?;
            for entry in &track.entries {
                codec::check(entry, options.scheme, &encryption).map_err(fail)?;
            }
            let most = max_entries(encryption.iv_size);
            let mappers: Vec<_> =
                mappers.into_iter().map(|mapper| mapper.with_max_entries(most)).collect();
            let mode = if subsamples { SubsampleMode::Present } else { SubsampleMode::Absent };
            let mut of_periods = Vec::new();
            for (period, key) in keys.iter() {
                of_periods.push(KeyOfPeriod { period, kid: key.kid, cipher: ciphers.len() });
                let cipher = Cipher::new(options.scheme, key.expand(level))
                    .with_pattern(encryption.crypt_blocks, encryption.skip_blocks);
                ciphers.push(if options.encrypt_truncated_runs {
                    cipher.encrypt_truncated_runs()
                } else {
                    cipher
                });
            }
            tracks.push(Some(ProtectedTrack {
                id: track.id,
                scheme: options.scheme,
                encryption,
                keys: of_periods.into(),
                span: KeySpan::Period(0),
                key: 0,
                lead: (!schedule.lead.is_zero()).then_some(options.clear_lead_form),
                entries: u32::try_from(track.entries.len()).unwrap_or(u32::MAX),
                subsamples,
                mappers,
                first_iv,
                iv: first_iv.to_block(),
                count: 0,
                encrypted: 0,
                clear: 0,
                used: vec![false; keys.iter().count()],
                aux: SampleAuxTable::new(encryption.iv_size, mode),
                scratch: Vec::new(),
            }));
        }
        if ciphers.is_empty() {
            return Err(input.unsuitable("no track is left to encrypt"));
        }
        if schedule.periods.rotate() && !tracks.iter().flatten().any(ProtectedTrack::rotates) {
            return Err(Error::Options(NO_PERIODS.into()));
        }
        Ok(Self { tracks, ciphers: ciphers.into(), schedule, origin: None })
    }

    /// Goes on with a fragment that begins at `time`, decoding time in the movie; the first one is where
    /// time begins to count.
    pub(crate) fn begin_fragment(
        &mut self,
        input: &Input<'_>,
        movie: &Movie,
        time: Duration,
    ) -> Result<(), Error> {
        if self.schedule.is_constant() {
            return Ok(());
        }
        let origin = *self.origin.get_or_insert(time);
        self.begin_span(input, movie, self.schedule.at(time.saturating_sub(origin)))
    }

    /// Goes on with what a span says.
    pub(crate) fn begin_span(
        &mut self,
        input: &Input<'_>,
        movie: &Movie,
        span: KeySpan,
    ) -> Result<(), Error> {
        for (track, protected) in movie.tracks.iter().zip(&mut self.tracks) {
            let Some(protected) = protected else { continue };
            protected.span = span;
            let KeySpan::Period(period) = span else { continue };
            let key = protected.keys.iter().position(|key| key.is_for(period));
            let Some(key) = key else {
                let known: Vec<u32> = protected.keys.iter().filter_map(|key| key.period).collect();
                let start = self.schedule.periods.start(period).unwrap_or_default().as_secs_f64();
                return Err(fail(input, track, no_key(period, start, &known)));
            };
            protected.key = key;
        }
        Ok(())
    }

    /// Lets `tenc` name the keys in use.
    pub(crate) fn take_for_tenc(&mut self) {
        for track in self.tracks.iter_mut().flatten() {
            track.encryption.kid = track.keys[track.key].kid;
        }
    }

    /// All of so many tracks stay clear.
    pub(crate) fn clear(tracks: usize) -> Self {
        let schedule = Schedule::default();
        Self { tracks: vec![None; tracks], ciphers: [].into(), schedule, origin: None }
    }

    /// The same, with no access units counted yet: IVs go on.
    pub(crate) fn again(&self) -> Self {
        let mut this = self.clone();
        for track in this.tracks.iter_mut().flatten() {
            (track.count, track.encrypted, track.clear) = (0, 0, 0);
            track.used.fill(false);
            track.aux.clear();
        }
        this
    }

    /// For each track, whether mapping its access units takes bytes of them.
    pub(crate) fn wants_bytes(&self) -> Vec<bool> {
        let wants = |track: &Option<ProtectedTrack>| track.as_ref().is_some_and(|t| t.subsamples);
        self.tracks.iter().map(wants).collect()
    }

    /// The KIDs that `tenc` boxes name, each once.
    pub(crate) fn kids(&self) -> Vec<[u8; 16]> {
        each_once(self.tracks.iter().flatten().map(|track| track.encryption.kid))
    }

    /// The KIDs of a fragment with these tracks, each once; none if they are those of all fragments.
    pub(crate) fn rotated_kids(&self, tracks: impl Iterator<Item = usize>) -> Vec<[u8; 16]> {
        let tracks = tracks.filter_map(|index| self.tracks[index].as_ref());
        each_once(tracks.filter(|track| track.rotates()).filter_map(ProtectedTrack::kid))
    }

    /// Maps an access unit, and gives it its IV and its auxiliary information. Units of a track come
    /// in decoding order, and are in `media`. Those of clear tracks are passed over.
    pub(crate) fn unit(
        &mut self,
        input: &Input<'_>,
        unit: &UnitToMap,
        bytes: &mut Bytes<'_>,
        media: &MediaRanges,
        to: &mut Stage,
    ) -> Result<(), Error> {
        let Some(track) = &mut self.tracks[unit.track] else { return Ok(()) };
        track.count += 1;
        let place = Place { track: track.id, access_unit: track.count, offset: unit.offset };
        media.check(input, place, unit.size as u64)?;
        let index = usize::try_from(unit.description_index).unwrap_or(0).wrapping_sub(1);
        let Some(mapper) = track.mappers.get_mut(index) else {
            return Err(input.unsuitable(format!(
                "{place}: there is no sample entry number {}",
                unit.description_index
            )));
        };
        let first = to.subsamples.len();
        bytes.map(input, unit, mapper, track.scheme.alignment(), &mut to.subsamples).map_err(
            |error| match error {
                PieceError::Map(error) => Error::Map { name: input.name.clone(), place, error },
                PieceError::Read(error) => error,
            },
        )?;
        if track.is_clear() {
            // It was mapped for what later access units refer to.
            to.subsamples.truncate(first);
            track.clear += 1;
            track.pass(unit.size);
            return Ok(());
        }
        let entries = &to.subsamples[first..];
        track.scratch.clear();
        track.scratch.extend(
            entries.iter().map(|&Subsample { clear, protected }| lanelock_mp4::Subsample {
                clear,
                protected,
            }),
        );
        let iv_size = usize::from(track.encryption.iv_size);
        track
            .aux
            .push(&track.iv[..iv_size], &track.scratch)
            .map_err(|error| input.container(error))?;
        to.units.push(AccessUnit {
            range: unit.start..unit.start + unit.size,
            subsamples: first..to.subsamples.len(),
            iv: track.iv,
            cipher: track.keys[track.key].cipher,
        });
        to.places.push(place);
        track.encrypted += 1;
        track.used[track.key] = true;
        track.pass(unit.size);
        Ok(())
    }

    /// A KID that video shares with audio.
    pub(crate) fn shared_kid(&self, movie: &Movie) -> Option<[u8; 16]> {
        let of_kind = |kind| {
            let tracks = movie.tracks.iter().zip(&self.tracks);
            let tracks = tracks.filter(move |(track, _)| track.kind() == kind);
            tracks.filter_map(|(_, track)| Some(track.as_ref()?.encryption.kid))
        };
        of_kind(TrackKind::Video).find(|kid| of_kind(TrackKind::Audio).any(|other| other == *kid))
    }

    /// Whether the pattern has runs that the end of a protected range can cut short.
    pub(crate) fn has_truncated_runs(&self) -> bool {
        self.tracks.iter().flatten().any(|track| has_truncated_runs(&track.encryption))
    }

    /// What was done to each track.
    pub(crate) fn summary(&self, movie: &Movie) -> Vec<TrackSummary> {
        let protected = self.tracks.iter().map(Option::as_ref);
        movie
            .tracks
            .iter()
            .zip(protected)
            .map(|(track, protected)| TrackSummary {
                id: track.id,
                codec: track.codec(),
                scheme: protected.map(|p| p.scheme.to_string()),
                kid: protected.map(|p| {
                    let first = p.used_kids().into_iter().next();
                    first.unwrap_or_else(|| kid_text(&p.encryption.kid))
                }),
                kids: protected.map_or_else(Vec::new, ProtectedTrack::used_kids),
                iv: protected.map(|p| hex_text(p.first_iv.as_slice())),
                access_units: protected.map_or(0, |p| p.encrypted),
                clear_access_units: protected.map_or(0, |p| p.clear),
            })
            .collect()
    }
}

impl ProtectedTrack {
    /// Goes on behind the first access units: what starts a fragment that is encrypted by itself. The
    /// state must be that of the first access unit.
    pub(crate) fn begin(&mut self, before: SamplesBefore) {
        self.count = before.samples;
        if self.encryption.iv_size > 0 {
            advance_iv(&mut self.iv, self.encryption.iv_size, before.samples, before.blocks);
        }
    }

    /// Goes on behind an access unit of so many bytes: by all its blocks, whatever is protected of it, so
    /// that where the IVs of a fragment begin follows from sizes alone.
    fn pass(&mut self, size: usize) {
        if self.encryption.iv_size > 0 {
            next_iv(&mut self.iv, self.encryption.iv_size, size as u64);
        }
    }

    /// Whether the access units that come belong to the clear lead.
    pub(crate) fn is_clear(&self) -> bool {
        self.span == KeySpan::Clear
    }

    /// Whether keys change.
    fn rotates(&self) -> bool {
        self.keys.iter().any(|key| key.period.is_some())
    }

    /// The KID in use; none in a clear lead.
    fn kid(&self) -> Option<[u8; 16]> {
        (!self.is_clear()).then(|| self.keys[self.key].kid)
    }

    /// The KIDs that were used so far.
    fn used_kids(&self) -> Vec<String> {
        let mut kids = Vec::new();
        for (key, _) in self.keys.iter().zip(&self.used).filter(|(_, used)| **used) {
            let kid = kid_text(&key.kid);
            if !kids.contains(&kid) {
                kids.push(kid);
            }
        }
        kids
    }

    /// What a fragment says of its samples in place of `tenc`; none if that holds.
    pub(crate) fn group(&self) -> Option<TrackEncryption> {
        match (self.kid(), self.lead) {
            (None, Some(ClearLead::SampleGroup)) => Some(TrackEncryption::default()),
            // All fragments say it, so that each can be understood by itself.
            (Some(kid), _) if self.rotates() => {
                let mut group = self.encryption;
                group.kid = kid;
                Some(group)
            }
            _ => None,
        }
    }

    /// The sample entry of a fragment that has this one in the clear movie, if it is another one.
    pub(crate) fn sample_entry(&self, description_index: u32) -> Option<u32> {
        let is_clear = self.is_clear() && self.lead == Some(ClearLead::SampleEntry);
        is_clear.then(|| description_index.saturating_add(self.entries))
    }

    /// How the auxiliary information is written into a fragment: a constant IV over whole samples
    /// needs none, and an empty `senc` is what all players take for that.
    pub(crate) fn write_aux(&self) -> lanelock_mp4::edit::WriteAux<'_> {
        use lanelock_mp4::edit::WriteAux;
        match self.needs_aux() {
            _ if self.is_clear() => WriteAux::Nothing,
            true => WriteAux::Full(&self.aux),
            false => WriteAux::EmptySenc,
        }
    }

    /// Whether samples have an IV or subsamples of their own.
    pub(crate) fn needs_aux(&self) -> bool {
        self.encryption.iv_size > 0 || self.subsamples
    }
}

impl KeyOfPeriod {
    fn is_for(&self, period: u32) -> bool {
        self.period.is_none_or(|own| own == period)
    }
}

/// Why keys cannot change.
pub(crate) const NO_PERIODS: &str = "keys are to change (--rotate), and all keys are for all time: give keys for key \
    periods, SELECTOR@0=KID:KEY, SELECTOR@1=KID:KEY (lanelock keys new --periods N makes them)";

/// The key that `tenc` names: the only one, or that of the first period.
fn first_key<'o>(keys: &TrackKeys<'o>, periods: &KeyPeriods) -> Result<&'o Key, String> {
    let mut all = keys.iter();
    let Some((period, key)) = all.next() else { return Err("it has no key".into()) };
    if period.is_some() && !periods.rotate() {
        return Err(
            "it has keys for key periods, and it is not said how long these are: say it (--rotate \
                    60s), or give one key without @"
                .into(),
        );
    }
    Ok(key)
}

/// What is said of a key period without key.
fn no_key(period: u32, start: f64, known: &[u32]) -> String {
    let mut periods: Vec<String> = known.iter().take(5).map(u32::to_string).collect();
    if known.len() > periods.len() {
        periods.push("...".into());
    }
    let most = known.iter().copied().max().unwrap_or(0).max(period);
    format!(
        "there is no key for key period {period}, which begins at {start} s, only for {}; lanelock keys new \
         --periods {} makes enough of them, and longer periods take fewer",
        periods.join(", "),
        u64::from(most) + 1
    )
}

fn each_once(kids: impl Iterator<Item = [u8; 16]>) -> Vec<[u8; 16]> {
    let mut kids: Vec<_> = kids.collect();
    kids.sort_unstable();
    kids.dedup();
    kids
}

/// Whether a pattern has runs of several blocks that the end of a protected range can cut short.
pub(crate) fn has_truncated_runs(encryption: &TrackEncryption) -> bool {
    encryption.crypt_blocks > 1 && encryption.skip_blocks > 0
}

/// What to know about such a pattern.
pub(crate) const TRUNCATED_RUNS: &str = "decrypters differ in how they read a pattern that encrypts \
    several blocks in a row and leaves others clear: where the end of a protected range cuts a run \
    short, FFmpeg and mp4ff leave its blocks clear, Shaka Packager, Bento4 and GPAC encrypt them \
    (--truncated-runs chooses); 1:9 is read alike by all";

/// The parameters of a track, and its first IV. Only what has subsamples has a pattern: access units
/// that are protected whole have none (ISO/IEC 23001-7, 9.7).
fn encryption(
    options: &EncryptOptions,
    key: &Key,
    subsamples: bool,
) -> Result<(TrackEncryption, StoredIv), String> {
    let scheme = options.scheme;
    let mut bytes = [0; 16];
    let iv = match &options.iv {
        Iv::Given(given) => {
            if options.keys.keys().any(|key| key.is_of_bytes(given)) {
                return Err(
                    "the IV is one of the keys, and would stand in the output for all to read; \
                            take another IV, or leave out --iv"
                        .into(),
                );
            }
            let slot = bytes.get_mut(..given.len()).ok_or("an IV has 8 or 16 bytes")?;
            slot.copy_from_slice(given);
            &bytes[..given.len()]
        }
        Iv::Random => {
            let random = if scheme.is_ctr() { &mut bytes[..8] } else { &mut bytes[..] };
            getrandom::fill(random).map_err(|error| {
                format!(
                    "the system gives no random numbers for the IV ({error}); give one with --iv"
                )
            })?;
            &*random
        }
    };
    let Some(stored) = StoredIv::new(iv) else { return Err("an IV has 8 or 16 bytes".into()) };
    if scheme == Scheme::Cbc1 && iv.len() != 16 {
        return Err("the IV of cbc1 has 16 bytes".into());
    }
    let iv_size = if scheme == Scheme::Cbcs { 0 } else { u8::try_from(iv.len()).unwrap_or(16) };
    let (crypt_blocks, skip_blocks) =
        if scheme.has_pattern() && subsamples { options.pattern } else { (0, 0) };
    if scheme.has_pattern()
        && subsamples
        && (crypt_blocks == 0 || crypt_blocks > 15 || skip_blocks > 15)
    {
        return Err(format!(
            "the pattern {crypt_blocks}:{skip_blocks} is not possible: 1 to 15 blocks encrypted, 0 to 15 \
             clear"
        ));
    }
    let encryption = match iv_size {
        0 => TrackEncryption::constant(key.kid, stored),
        _ => TrackEncryption::per_sample(key.kid, iv_size),
    };
    Ok((encryption.with_pattern(crypt_blocks, skip_blocks), stored))
}
