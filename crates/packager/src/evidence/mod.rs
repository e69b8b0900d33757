//! Whether keys are the right ones: looked for in what they decrypt.
//!
//! AES says nothing about a wrong key: what comes out is noise. Audio is protected whole, so noise is
//! where a codec begins its access units in a known way: that is proof after a few units ([`audio`],
//! [`aac`]). The headers of video slices are clear; there the evidence is rare, and grows with what
//! has been decrypted ([`nal`]). A PlayReady header may have the checksum of a key ([`playready`]).
//!
//! A [`KeyCheck`] is about one key on one track. The map stage enters the checks in a [`KeyChecks`], in file order,
//! and says how far each is to be looked at; the workers look at what they have decrypted ([`look`]).

mod aac;
mod audio;
mod nal;
mod noise;
mod playready;
mod runs;

use core::fmt;
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use lanelock_cenc::{
    AccessUnit, Scheme,
    map::{Mapper, Subsample},
};
use lanelock_mp4::{SampleEntry, Track, TrackEncryption};
use serde::Serialize;

pub(crate) use self::playready::{Checksum, check_pssh, checksums};
use self::{
    audio::Audio,
    nal::{NalEvidence, NalRules},
    noise::SeenNoise,
    runs::CryptRuns,
};
use crate::{Error, Place, keys::kid_text};

/// The access units of a key on a track whose structure is checked: the first ones.
const STRUCTURE_UNITS: u64 = 64;
/// The access units whose slice headers are read again, to find where slice data begin.
const MAPPED_UNITS: u64 = 3000;
/// A wrong key would have shown so often that looking further tells nothing new.
const ENOUGH: f64 = 12.0;
/// The protected ranges to look at where each is remembered, since it may come again.
const REMEMBERED_RANGES: u64 = 1 << 16;

/// Whether a key is the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum KeyVerdict {
    /// What it decrypts is what the codec writes; noise would not be.
    Fits,
    /// What it decrypts is noise, or the file has another checksum for it.
    Wrong,
    /// There are places in what it decrypts that no encoder writes, too few to tell a wrong key from
    /// a damaged stream.
    Doubtful,
    /// There is no evidence either way.
    Unknown,
    /// No key was given.
    Missing,
}

impl fmt::Display for KeyVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fits => "fits",
            Self::Wrong => "does not fit",
            Self::Doubtful => "is doubtful",
            Self::Unknown => "no evidence either way",
            Self::Missing => "is not given",
        })
    }
}

/// What is known of a key on a track.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct KeyReport {
    /// The track ID.
    pub track: u32,
    /// The codec: the four-character code of the clear sample entry.
    pub codec: String,
    /// The KID.
    pub kid: String,
    /// The result.
    pub verdict: KeyVerdict,
    /// Bytes that were decrypted and looked at.
    pub bytes: u64,
    /// Access units whose structure was checked: none where headers are clear.
    pub checked_units: u64,
    /// Those of them that are not what the codec demands.
    pub failed_units: u64,
    /// Places that a conforming stream cannot have.
    pub impossible: u64,
    /// How many of these a wrong key would leave, on average.
    pub impossible_if_wrong: f64,
    /// Whether the checksum in a PlayReady header fits; none if there is none.
    pub checksum: Option<bool>,
    /// What was found, in words.
    pub reason: String,
}

/// A key on a track, as far as it was looked at.
#[derive(Debug)]
pub(crate) struct KeyCheck {
    track: u32,
    codec: String,
    kid: [u8; 16],
    method: CheckMethod,
    runs: CryptRuns,
    /// Whether a wrong key ends the run.
    strict: bool,
    /// The number of the first access unit.
    first: u64,
    /// The number of the last one to look at.
    until: AtomicU64,
    tally: Mutex<EvidenceTally>,
}

#[derive(Debug)]
enum CheckMethod {
    Audio(Audio),
    Nal(Box<NalRules>),
    /// Codecs in which a wrong key cannot be seen.
    None,
}

#[derive(Clone, Copy, Debug, Default)]
struct EvidenceTally {
    bytes: u64,
    /// Units that count for the structure, and those of them that were checked and that failed.
    seen: u64,
    checked: u64,
    failed: u64,
    found: NalEvidence,
}

impl EvidenceTally {
    fn add(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.seen += other.seen;
        self.checked += other.checked;
        self.failed += other.failed;
        self.found.add(&other.found);
    }

    fn structure(&mut self, verdict: Option<bool>) {
        self.checked += u64::from(verdict.is_some());
        self.failed += u64::from(verdict == Some(false));
    }
}

impl KeyCheck {
    /// Looks at a decrypted access unit.
    fn look(
        &self,
        number: u64,
        unit: &[u8],
        subsamples: &[Subsample],
        tally: &mut EvidenceTally,
        tools: &mut Tools,
    ) {
        let early = number.saturating_sub(self.first) < STRUCTURE_UNITS;
        match &self.method {
            CheckMethod::None => {}
            CheckMethod::Audio(audio) => {
                tally.seen += u64::from(early);
                if early && self.is_whole(unit, subsamples) {
                    tally.bytes += unit.len() as u64;
                    tally.structure(audio.check(unit));
                }
            }
            CheckMethod::Nal(nal) if nal.is_opaque(subsamples) => {
                tally.seen += u64::from(early);
                if early && self.is_whole(unit, subsamples) {
                    tally.bytes += unit.len() as u64;
                    tally.structure(Some(nal.is_whole(unit)));
                }
            }
            CheckMethod::Nal(nal) => {
                let mapped = number.saturating_sub(self.first) < MAPPED_UNITS;
                if mapped && tools.mapper.is_none() {
                    tools.mapper = nal.mapper();
                }
                let Tools { scratch, mapper } = tools;
                let mapper = mapper.as_mut().filter(|_| mapped);
                nal.look(unit, subsamples, mapper, scratch, &mut tally.found);
            }
        }
    }

    /// Whether most units are not what the codec demands: of those that noise would fail, at least
    /// half. Opus needs several, because one says little.
    fn is_wrong(&self, tally: &EvidenceTally) -> bool {
        let (share, bits) = self.power();
        let least = if bits < 1.0 { 4 } else { 1 };
        tally.failed >= least && 2.0 * float(tally.failed) > share * float(tally.checked)
    }

    /// The share of noise that is refused, and the bits that a good unit tells.
    fn power(&self) -> (f64, f64) {
        match &self.method {
            CheckMethod::Audio(audio) => audio.power(),
            // A length field that noise fills leaves the unit nearly always.
            _ => (1.0, 8.0),
        }
    }

    /// Whether the first bytes of a unit were encrypted.
    fn is_whole(&self, unit: &[u8], subsamples: &[Subsample]) -> bool {
        match subsamples.first() {
            None => self.runs.covers_first(unit.len()),
            Some(first) => first.clear == 0 && self.runs.covers_first(first.protected as usize),
        }
    }

    fn expected(&self) -> &'static str {
        match &self.method {
            CheckMethod::Audio(audio) => audio.expected(),
            _ => "NAL units behind their lengths",
        }
    }

    fn error(&self, tally: &EvidenceTally, name: &str) -> Error {
        Error::WrongKey {
            name: name.into(),
            track: self.track,
            codec: self.codec.clone(),
            kid: kid_text(&self.kid),
            failed: tally.failed,
            checked: tally.checked,
            expected: self.expected(),
        }
    }

    fn tally(&self) -> MutexGuard<'_, EvidenceTally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self, checksum: Option<bool>) -> KeyReport {
        let mut tally = *self.tally();
        tally.found = tally.found.without_padding();
        let found = &tally.found;
        let (impossible, expected) = (found.impossible(), found.expected());
        let (_, bits) = self.power();
        let good = float(tally.checked - tally.failed) * bits;
        let verdict = if self.is_wrong(&tally) || checksum == Some(false) {
            KeyVerdict::Wrong
        } else if checksum == Some(true) || good >= 16.0 {
            KeyVerdict::Fits
        } else if impossible >= 3 && 4.0 * float(impossible) >= expected {
            KeyVerdict::Wrong
        } else if impossible > 0 {
            KeyVerdict::Doubtful
        } else if expected >= 7.0 {
            // Noise has none of 7 with a probability of 1 in 1000.
            KeyVerdict::Fits
        } else {
            KeyVerdict::Unknown
        };
        let bytes = tally.bytes + found.bytes;
        KeyReport {
            track: self.track,
            codec: self.codec.clone(),
            kid: kid_text(&self.kid),
            verdict,
            bytes,
            checked_units: tally.checked,
            failed_units: tally.failed,
            impossible,
            impossible_if_wrong: (100.0 * expected).round() / 100.0,
            checksum,
            reason: self.reason(&tally, checksum),
        }
    }

    fn reason(&self, tally: &EvidenceTally, checksum: Option<bool>) -> String {
        let mut parts = Vec::new();
        match checksum {
            Some(true) => parts.push("it has the checksum in the PlayReady header".to_owned()),
            Some(false) => parts.push("it has not the checksum in the PlayReady header".to_owned()),
            None => {}
        }
        let EvidenceTally { checked, failed, found, .. } = tally;
        if *checked > 0 {
            let good = checked - failed;
            parts.push(format!(
                "{good} of {checked} access units at the start are {}",
                self.expected()
            ));
        }
        if found.bytes > 0 {
            parts.push(format!(
                "{} where a wrong key would leave about {:.1}",
                impossible(found),
                found.expected()
            ));
        }
        if parts.is_empty() {
            return match &self.method {
                CheckMethod::None => "what this codec decrypts to shows no wrong key".into(),
                _ => "nothing to look at was decrypted".into(),
            };
        }
        parts.join("; ")
    }
}

/// What was found that cannot be, in words.
fn impossible(found: &NalEvidence) -> String {
    let NalEvidence { bytes, codes, ends, zero_ends, starts, bad_starts } = found;
    format!(
        "in {bytes} decrypted bytes {codes} start codes or wrong emulation prevention bytes, {zero_ends} \
         of {ends} NAL units that end in a zero byte, {bad_starts} of {starts} slices that begin with \
         an impossible CABAC offset"
    )
}

/// The map stage's list of checks.
#[derive(Debug)]
pub(crate) struct KeyChecks {
    strict: bool,
    enabled: bool,
    entries: Vec<Entry>,
    checksums: Vec<(Checksum, bool)>,
}

#[derive(Debug)]
struct Entry {
    key_check: Arc<KeyCheck>,
    name: Name,
    runs: CryptRuns,
    /// How often a wrong key would have shown so far, if nothing came again.
    weight: f64,
    /// Protected ranges so far.
    ranges: u64,
}

/// What tells checks apart: track, sample entry, scheme, KID, pattern, and whether equal access units
/// may be encrypted alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) track: usize,
    pub(crate) description_index: u32,
    pub(crate) scheme: Scheme,
    pub(crate) kid: [u8; 16],
    pub(crate) pattern: (u8, u8),
    pub(crate) repeats: bool,
}

impl Name {
    pub(crate) fn new(
        track: usize,
        description_index: u32,
        scheme: Scheme,
        encryption: &TrackEncryption,
    ) -> Self {
        let TrackEncryption { kid, crypt_blocks, skip_blocks, iv_size, .. } = *encryption;
        let pattern = (crypt_blocks, skip_blocks);
        // Under `cbcs`, IVs of the access units may all be one, too.
        let repeats = scheme == Scheme::Cbcs || iv_size == 0;
        Self { track, description_index, scheme, kid, pattern, repeats }
    }
}

impl KeyChecks {
    /// Nothing is looked at unless `enabled`; a key that is surely wrong ends the run if `strict`.
    pub(crate) fn new(enabled: bool, strict: bool) -> Self {
        Self { strict, enabled, entries: Vec::new(), checksums: Vec::new() }
    }

    /// The number of a check, which is entered when it comes first, with access unit `number`.
    pub(crate) fn key_check(&mut self, name: Name, track: &Track, number: u64) -> usize {
        if let Some(index) = self.entries.iter().position(|entry| entry.name == name) {
            return index;
        }
        let runs = CryptRuns::new(name.scheme, name.pattern.0, name.pattern.1);
        let entry = track.entry(name.description_index).filter(|_| self.enabled);
        let key_check = Arc::new(KeyCheck {
            track: track.id,
            codec: track.codec(),
            kid: name.kid,
            method: entry.map_or(CheckMethod::None, |entry| CheckMethod::new(entry, name, runs)),
            runs,
            strict: self.strict,
            first: number,
            until: AtomicU64::new(u64::MAX),
            tally: Mutex::default(),
        });
        self.entries.push(Entry { key_check, name, runs, weight: 0.0, ranges: 0 });
        self.entries.len() - 1
    }

    pub(crate) fn get(&self, index: usize) -> Arc<KeyCheck> {
        self.entries[index].key_check.clone()
    }

    /// Counts access unit `number` of a check, so that looking ends when it tells nothing new.
    pub(crate) fn count(&mut self, index: usize, number: u64, subsamples: &[Subsample]) {
        let Entry { key_check, runs, weight, ranges, .. } = &mut self.entries[index];
        let CheckMethod::Nal(nal) = &key_check.method else { return };
        let is_enough =
            |weight, ranges| weight > ENOUGH || nal.tells_repeats() && ranges > REMEMBERED_RANGES;
        if is_enough(*weight, *ranges) {
            return;
        }
        let mut found = NalEvidence::default();
        let starts = nal.finds_starts() && number.saturating_sub(key_check.first) < MAPPED_UNITS;
        for len in subsamples.iter().map(|s| s.protected as usize).filter(|len| *len > 0) {
            *ranges += 1;
            found.bytes += runs.bytes(len) as u64;
            found.ends += u64::from(runs.covers_last(len));
            found.starts += u64::from(starts && runs.covers_first(len));
        }
        *weight += found.expected();
        if is_enough(*weight, *ranges) {
            key_check.until.store(number, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Notes whether a key has the checksum that the file has for it; an error if it has not, and
    /// that ends the run.
    pub(crate) fn checksum(
        &mut self,
        checksum: Checksum,
        fits: bool,
        name: &str,
    ) -> Result<(), Error> {
        if self.strict && !fits {
            return Err(checksum.error(name.to_owned()));
        }
        self.checksums.push((checksum, fits));
        Ok(())
    }

    /// The reports, by track. The error of the first track with a wrong key, if that ends the run.
    pub(crate) fn finish(&self, name: &str) -> Result<Vec<KeyReport>, Error> {
        let mut order: Vec<&Entry> = self.entries.iter().collect();
        order.sort_by_key(|entry| entry.name.track);
        for Entry { key_check, .. } in &order {
            let tally = *key_check.tally();
            if key_check.strict && key_check.is_wrong(&tally) {
                return Err(key_check.error(&tally, name));
            }
        }
        if !self.enabled {
            return Ok(Vec::new());
        }
        let checksum = |kid| {
            let mut of =
                self.checksums.iter().filter(|(checksum, _)| checksum.kid == kid).peekable();
            of.peek().is_some().then(|| of.all(|(_, fits)| *fits))
        };
        Ok(order.iter().map(|e| e.key_check.report(checksum(e.key_check.kid))).collect())
    }
}

impl CheckMethod {
    fn new(entry: &SampleEntry, name: Name, runs: CryptRuns) -> Self {
        let seen = || name.repeats.then(SeenNoise::default);
        Audio::new(entry)
            .map(Self::Audio)
            .or_else(|| {
                NalRules::new(entry, name.scheme, runs, seen()).map(|nal| Self::Nal(Box::new(nal)))
            })
            .unwrap_or(Self::None)
    }
}

impl KeyReport {
    /// For a key that was not given.
    pub(crate) fn missing(track: &Track, kid: &[u8; 16]) -> Self {
        Self {
            track: track.id,
            codec: track.codec(),
            kid: kid_text(kid),
            verdict: KeyVerdict::Missing,
            bytes: 0,
            checked_units: 0,
            failed_units: 0,
            impossible: 0,
            impossible_if_wrong: 0.0,
            checksum: None,
            reason: "nothing was decrypted".into(),
        }
    }

    /// What to say of it after decryption; none if there is nothing to say.
    pub(crate) fn warning(&self) -> Option<String> {
        if self.impossible == 0 {
            return None;
        }
        let Self { track, codec, kid, reason, .. } = self;
        let meaning = if self.verdict == KeyVerdict::Wrong {
            "the key is probably wrong, and the output noise"
        } else if 8.0 * float(self.impossible) < self.impossible_if_wrong {
            "the stream seems to be damaged, rather than the key wrong"
        } else {
            "the key may be wrong, and the output noise, or the stream is damaged"
        };
        Some(format!(
            "track {track} ({codec}), KID {kid}: {reason}; a right key leaves none in a sound stream: \
             {meaning}"
        ))
    }
}

/// What a worker needs while it looks at the units of a check in a piece.
#[derive(Default)]
struct Tools {
    scratch: Vec<Subsample>,
    /// The mapper of the check, which learns the parameter sets of the units so far.
    mapper: Option<Mapper>,
}

/// Looks at the access units of a piece that was decrypted, each of which is at the place of the same
/// number. An error if they prove a key wrong, and that is to end the run.
pub(crate) fn look(
    key_checks: &[Arc<KeyCheck>],
    (units, places): (&[AccessUnit], &[Place]),
    all_subsamples: &[Subsample],
    buffer: &[u8],
    name: &str,
) -> Result<(), Error> {
    for (cipher, key_check) in key_checks.iter().enumerate() {
        if matches!(key_check.method, CheckMethod::None) {
            continue;
        }
        let until = key_check.until.load(Ordering::Relaxed);
        let (mut tally, mut tools) = (EvidenceTally::default(), Tools::default());
        for (unit, place) in units.iter().zip(places) {
            if unit.cipher == cipher && place.access_unit <= until {
                let subsamples = &all_subsamples[unit.subsamples.clone()];
                let bytes = &buffer[unit.range.clone()];
                key_check.look(place.access_unit, bytes, subsamples, &mut tally, &mut tools);
            }
        }
        let mut all = key_check.tally();
        all.add(&tally);
        // Of all units that count, whoever looked at them: the same in every run.
        if key_check.strict
            && tally.seen > 0
            && all.seen == STRUCTURE_UNITS
            && key_check.is_wrong(&all)
        {
            return Err(key_check.error(&all, name));
        }
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn float(number: u64) -> f64 {
    number as f64
}
