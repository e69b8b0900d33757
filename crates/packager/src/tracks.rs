//! The protection of tracks, and their state while they are encrypted.

use std::sync::Arc;

use lanelock::AesLevel;
use lanelock_cenc::{
    AccessUnit, Cipher, Scheme, advance_iv, iv_blocks,
    map::{Mapper, Subsample, max_entries},
    next_iv,
};
use lanelock_mp4::{Movie, SampleAuxTable, StoredIv, SubsampleMode, TrackEncryption, TrackKind};

use crate::{
    EncryptOptions, Error, Iv, Key, Place, TrackSummary,
    codec::{self, mapper},
    io::Input,
    keys::{hex_text, kid_text},
    piece::{Bytes, PieceError, Stage, UnitToMap},
    selection::{Purpose, fail, select},
    skeleton::MediaRanges,
};

/// The tracks of a movie while it is encrypted.
#[derive(Clone)]
pub(crate) struct Protector {
    /// Parallel to the tracks of the movie; none for those that stay clear.
    pub(crate) tracks: Vec<Option<ProtectedTrack>>,
    pub(crate) ciphers: Arc<[Cipher]>,
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
    pub(crate) encryption: TrackEncryption,
    /// Whether access units have subsamples, as the rules of their codec say.
    subsamples: bool,
    /// Index in the ciphers.
    cipher: usize,
    /// One for each sample entry.
    mappers: Vec<Mapper>,
    first_iv: StoredIv,
    /// IV of the next access unit.
    iv: [u8; 16],
    /// Access units so far.
    pub(crate) count: u64,
    /// Auxiliary information of the samples since it was cleared.
    pub(crate) aux: SampleAuxTable,
    /// Subsamples of one access unit, kept for its memory.
    scratch: Vec<lanelock_mp4::Subsample>,
}

impl Protector {
    /// Finds key, codec rules and IV for every track, or says which one is missing.
    pub(crate) fn new(
        input: &Input<'_>,
        movie: &Movie,
        options: &EncryptOptions,
        level: AesLevel,
        purpose: Purpose,
    ) -> Result<Self, Error> {
        let selected = select(input, movie, options, purpose)?;
        let mut ciphers = Vec::new();
        let mut tracks: Vec<Option<ProtectedTrack>> = Vec::with_capacity(movie.tracks.len());
        let mut keys: Vec<(u32, &Key)> = Vec::new();
        for (track, key) in movie.tracks.iter().zip(selected) {
            let fail = |reason: String| fail(input, track, reason);
            let Some(key) = key else {
                tracks.push(None);
                continue;
            };
            let given = matches!(options.iv, Iv::Given(_));
            if let Some((other, _)) = keys.iter().find(|(_, other)| other.is_same_key(key))
                && options.scheme != Scheme::Cbcs
                && given
            {
                return Err(fail(format!(
                    "it has the key and the given IV of track {other}, and {} must not repeat an IV \
                     under one key; give each track a key of its own, or leave out --iv",
                    options.scheme
                )));
            }
            keys.push((track.id, key));
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
            let (encryption, first_iv) = encryption(options, key, subsamples).map_err(fail)?;
            for entry in &track.entries {
                codec::check(entry, options.scheme, &encryption).map_err(fail)?;
            }
            let most = max_entries(encryption.iv_size);
            let mappers = mappers.into_iter().map(|mapper| mapper.with_max_entries(most)).collect();
            let mode = if subsamples { SubsampleMode::Present } else { SubsampleMode::Absent };
            tracks.push(Some(ProtectedTrack {
                id: track.id,
                scheme: options.scheme,
                encryption,
                subsamples,
                cipher: ciphers.len(),
                mappers,
                first_iv,
                iv: first_iv.to_block(),
                count: 0,
                aux: SampleAuxTable::new(encryption.iv_size, mode),
                scratch: Vec::new(),
            }));
            let cipher = Cipher::new(options.scheme, key.expand(level))
                .with_pattern(encryption.crypt_blocks, encryption.skip_blocks);
            ciphers.push(if options.encrypt_truncated_runs {
                cipher.encrypt_truncated_runs()
            } else {
                cipher
            });
        }
        if ciphers.is_empty() {
            return Err(input.unsuitable("no track is left to encrypt"));
        }
        Ok(Self { tracks, ciphers: ciphers.into() })
    }

    /// All of so many tracks stay clear.
    pub(crate) fn clear(tracks: usize) -> Self {
        Self { tracks: vec![None; tracks], ciphers: [].into() }
    }

    /// The same, with no access units counted yet: IVs go on.
    pub(crate) fn again(&self) -> Self {
        let mut this = self.clone();
        for track in this.tracks.iter_mut().flatten() {
            track.count = 0;
            track.aux.clear();
        }
        this
    }

    /// For each track, whether mapping its access units takes bytes of them.
    pub(crate) fn wants_bytes(&self) -> Vec<bool> {
        let wants = |track: &Option<ProtectedTrack>| track.as_ref().is_some_and(|t| t.subsamples);
        self.tracks.iter().map(wants).collect()
    }

    /// KIDs in use, each once.
    pub(crate) fn kids(&self) -> Vec<[u8; 16]> {
        let mut kids: Vec<_> = self.tracks.iter().flatten().map(|t| t.encryption.kid).collect();
        kids.sort_unstable();
        kids.dedup();
        kids
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
            cipher: track.cipher,
        });
        to.places.push(place);
        if iv_size > 0 {
            // All blocks of the unit, whatever is protected of it: where the IVs of a fragment begin
            // then follows from sizes alone.
            next_iv(&mut track.iv, track.encryption.iv_size, unit.size as u64);
        }
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
                kid: protected.map(|p| kid_text(&p.encryption.kid)),
                iv: protected.map(|p| hex_text(p.first_iv.as_slice())),
                access_units: protected.map_or(0, |p| p.count),
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

    /// How the auxiliary information is written into a fragment: a constant IV over whole samples
    /// needs none, and an empty `senc` is what all players take for that.
    pub(crate) fn write_aux(&self) -> lanelock_mp4::edit::WriteAux<'_> {
        use lanelock_mp4::edit::WriteAux;
        if self.needs_aux() { WriteAux::Full(&self.aux) } else { WriteAux::EmptySenc }
    }

    /// Whether samples have an IV or subsamples of their own.
    pub(crate) fn needs_aux(&self) -> bool {
        self.encryption.iv_size > 0 || self.subsamples
    }
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
            if options.keys.entries().any(|(_, key)| key.is_of_bytes(given)) {
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
