//! A track as it will be written.

use std::{sync::Arc, time::Duration};

use lanelock_cenc::Scheme;
use lanelock_core::AesLevel;
use lanelock_mp4::{FourCc, Movie, TrackKind, compose, edit::SingleEdit};

use super::{
    PackageOptions, TrackProperties, cuts::Segments, facts, source::SourceTrack, text::TextFile,
};
use crate::{
    EncryptOptions, Error, Iv, Key, KeyLine, KeyMap, KeyPeriods, Selector,
    drm::{self, System},
    encrypt::{protect, pssh},
    schedule::KeySpan,
    selection::{Purpose, select},
    track_facts::Measured,
    tracks::Protector,
};

/// A track as it will be written: with two schemes, there are two of a track that is encrypted.
pub(super) struct Rendition {
    /// Which of the tracks that were chosen it is: those that are the same are made from one read.
    pub(super) track: usize,
    /// Unique among all of them.
    pub(super) name: String,
    pub(super) source: SourceTrack,
    /// The text file that it was made of.
    pub(super) text: Option<Arc<TextFile>>,
    pub(super) properties: TrackProperties,
    pub(super) segments: Arc<Segments>,
    /// Which segments are clear, and which have the keys of which period.
    pub(super) spans: Vec<KeySpan>,
    /// The clear `moov` of this track alone.
    pub(super) movie: Movie,
    /// What is added to composition offsets.
    pub(super) shift: i64,
    pub(super) protector: Protector,
    /// The keys with the periods that they are for, and the options with its scheme, where it is protected.
    pub(super) keys: Vec<PeriodKey>,
    pub(super) protection: Option<Arc<EncryptOptions>>,
    /// The initialization segment.
    pub(super) init: Vec<u8>,
}

/// A key of a track, and the number of the key period that it is for; none if it is for all time.
pub(super) type PeriodKey = (Option<u32>, Key);

impl Rendition {
    /// Its scheme; none if it stays clear.
    pub(super) fn scheme(&self) -> Option<Scheme> {
        self.protection.as_ref().map(|protection| protection.scheme)
    }

    /// Bytes of its samples.
    pub(super) fn bytes(&self) -> u64 {
        self.segments.list.iter().map(|segment| segment.bytes).sum()
    }
}

/// Refuses options that cannot be, and settles those that depend on one another.
pub(super) fn check_options(mut options: PackageOptions) -> Result<PackageOptions, Error> {
    let refuse = |reason: &str| Err(Error::Options(reason.into()));
    if options.segment_duration < Duration::from_millis(100) {
        return refuse("a segment has at least 100 ms; 2 s to 10 s are usual (--segment 6s)");
    }
    if options.fragment_duration.is_some_and(|fragment| fragment >= options.segment_duration) {
        return refuse(
            "a fragment is a part of a segment: --fragment must be shorter than --segment",
        );
    }
    if options.dash.is_none() && options.hls.is_none() {
        return refuse("at least one manifest is needed: DASH or HLS");
    }
    for (number, rule) in options.tracks.iter().enumerate() {
        let language = rule.properties.language.as_ref();
        if let Some(wrong) = language.filter(|language| !facts::is_language(language)) {
            return Err(Error::Options(format!(
                "--track number {}: the language {wrong:?} is no tag of BCP 47; write it as in de, en-GB or \
                 zh-Hant",
                number + 1
            )));
        }
    }
    let second = options.second_scheme;
    let Some(protection) = &mut options.protection else {
        if let Some(scheme) = second {
            return Err(Error::Options(format!(
                "{scheme} is to be the second scheme, and there is no first one"
            )));
        }
        if options.skd.is_some() || !options.license_urls.is_empty() {
            return refuse("there is nothing to give a licence for, since nothing is encrypted");
        }
        return Ok(options);
    };
    let schemes = || [Some(protection.scheme), second].into_iter().flatten();
    if let Some(other) = schemes().find(|s| !matches!(s, Scheme::Cenc | Scheme::Cbcs)) {
        return Err(Error::Options(format!(
            "streams are protected by cbcs or cenc (ISO/IEC 23000-19, 8.1), and not by {other}; take \
             --scheme cbcs, or encrypt a single file (lanelock encrypt)"
        )));
    }
    if second == Some(protection.scheme) {
        return Err(Error::Options(format!("the scheme {} is there twice", protection.scheme)));
    }
    let fairplay = protection.drm.contains(&System::FairPlay);
    if second.is_some() && protection.drm.iter().all(|system| *system == System::FairPlay) {
        return refuse(
            "FairPlay plays cbcs alone, so that no player would have the tracks of cenc; add a system to \
             --drm, or take --scheme cbcs",
        );
    }
    let has_cbcs = schemes().any(|scheme| scheme == Scheme::Cbcs);
    let is_given = protection.given.iter().any(|given| given.id == System::FairPlay.id());
    match (fairplay, &options.skd, has_cbcs) {
        (true, None, _) if !is_given => {
            return refuse("FairPlay finds its keys by a URI: give one, such as --skd skd://{kid}");
        }
        (true, _, false) => {
            return refuse(
                "FairPlay plays cbcs alone; take --scheme cbcs, or leave fairplay out of --drm",
            );
        }
        (false, Some(_), _) => {
            return refuse("--skd is for FairPlay, which --drm does not name; add fairplay to it");
        }
        _ => {}
    }
    if let Some(skd) = options.skd.as_ref().filter(|skd| !skd.starts_with("skd://")) {
        return Err(Error::Options(format!(
            "{skd} is no URI of FairPlay, which begins with skd://"
        )));
    }
    let urls = options.license_urls.keys();
    if let Some(system) = urls.copied().find(|system| !protection.drm.contains(system)) {
        let system = system.name();
        return Err(Error::Options(format!(
            "--laurl is for {system}, which --drm does not name; add {system} to it"
        )));
    }
    // A licence of FairPlay has one IV beside the key, so that all tracks must have the same.
    if (fairplay || is_given && has_cbcs) && protection.iv == Iv::Random {
        let mut iv = vec![0; 16];
        getrandom::fill(&mut iv).map_err(|error| {
            Error::Options(format!(
                "the system gives no random numbers for the IV ({error}); give one with --iv"
            ))
        })?;
        protection.iv = Iv::Given(iv);
    }
    Ok(options)
}

/// How tracks are encrypted: once with each of these.
pub(super) fn protections(options: &PackageOptions) -> Vec<Arc<EncryptOptions>> {
    let Some(protection) = &options.protection else { return Vec::new() };
    let schemes = [Some(protection.scheme), options.second_scheme].into_iter().flatten();
    let of_scheme = |scheme| {
        let mut of_scheme = EncryptOptions { scheme, ..protection.clone() };
        if scheme != Scheme::Cbcs && options.second_scheme.is_some() {
            of_scheme.drm.retain(|system| *system != System::FairPlay);
            of_scheme.given.retain(|given| given.id != System::FairPlay.id());
            // With one IV and one key, what CBC makes of a block of zeros is key stream of CTR.
            of_scheme.iv = Iv::Random;
        }
        Arc::new(of_scheme)
    };
    schemes.map(of_scheme).collect()
}

/// The keys of a track, that of the first period first; none if it stays clear. Filters of keys look at its
/// segments and at what it is called.
pub(super) fn keys_of(
    source: &SourceTrack,
    movie: &Movie,
    segments: Option<&Segments>,
    properties: &TrackProperties,
    options: &PackageOptions,
) -> Result<Vec<PeriodKey>, Error> {
    let Some(protection) = &options.protection else { return Ok(Vec::new()) };
    let input = source.file.input();
    let measured = segments.map(|segments| {
        let bytes = segments.list.iter().map(|segment| segment.bytes).sum();
        Measured::new(bytes, &segments.frames, source.track().timescale)
    });
    let labels = [&properties.label, &properties.name].into_iter().flatten().cloned();
    let labels = Some(labels.collect());
    let measured = Measured { labels, ..measured.unwrap_or_default() };
    let keys = select(&input, movie, protection, Purpose::Encrypt, Some(&measured))?;
    let keys = keys.into_iter().next().flatten();
    let owned = |(period, key): (_, &Key)| (period, key.clone());
    Ok(keys.map_or_else(Vec::new, |keys| keys.iter().map(owned).collect()))
}

/// What is done to composition offsets, and the edit list.
pub(super) fn edit(source: &SourceTrack, options: &PackageOptions) -> (SingleEdit, i64) {
    let timing = source.timing;
    if options.negative_offsets && source.kind() == TrackKind::Video {
        return (SingleEdit::None, -timing.from.cast_signed());
    }
    let edit = if timing.from == 0 { SingleEdit::None } else { SingleEdit::From(timing.from) };
    (edit, 0)
}

/// `ftyp` and `moov` of a track, and what protects it. `own` are its keys, `keys` those of all tracks and
/// periods; `spans` hold for its segments.
pub(super) fn protection(
    source: &SourceTrack,
    movie: &Movie,
    protection: Option<&EncryptOptions>,
    own: &[PeriodKey],
    keys: &[Key],
    spans: &[KeySpan],
    options: &PackageOptions,
) -> Result<(Vec<u8>, Protector), Error> {
    let input = source.file.input();
    let mut init = ftyp(source.kind(), options);
    let Some(protection) = protection else {
        init.extend_from_slice(movie.bytes());
        return Ok((init, Protector::clear(movie.tracks.len())));
    };
    let level = AesLevel::best()?;
    // Which keys are its own is known already, and the movie alone would not say it.
    let mut chosen = EncryptOptions { keys: of_track(movie, own)?, ..protection.clone() };
    if own.iter().all(|(period, _)| period.is_none()) {
        // Others change theirs.
        chosen.key_periods = KeyPeriods::Single;
    }
    let mut protector = Protector::new(&input, movie, &chosen, level, Purpose::Encrypt)?;
    // What manifests say of the initialization segment is the key of the first segments that have one.
    if let Some(first) = spans.iter().find(|span| **span != KeySpan::Clear) {
        protector.begin_span(&input, movie, *first)?;
        protector.take_for_tenc();
    }
    let mut boxes = Vec::new();
    let mut systems = systems_with_boxes(&protection.drm);
    let is_given = |key: &PeriodKey| protection.given_for(System::Common.id(), key.1.kid).is_some();
    let common = systems.iter().position(|system| *system == System::Common);
    if let Some(at) = common.filter(|_| !own.iter().any(is_given)) {
        systems.remove(at);
        // With the KIDs of all tracks and periods one request brings all keys: hls.js (1.7) makes no other.
        let common = drm::pssh(System::Common, protection.scheme, keys);
        boxes.push(common.map_err(|error| Error::Options(error.to_string()))?.raw);
    }
    boxes.extend(pssh(&protection.clone().with_drm(systems), &protector, level)?);
    init.extend(protect(&input, movie, &protector, &boxes)?);
    Ok((init, protector))
}

/// Keys for the only track of a movie.
fn of_track(movie: &Movie, keys: &[PeriodKey]) -> Result<KeyMap, Error> {
    let mut map = KeyMap::new();
    for (id, (period, key)) in movie.tracks.iter().flat_map(|t| keys.iter().map(|key| (t.id, key)))
    {
        let line = KeyLine { selector: Selector::Track(id), period: *period, key: key.clone() };
        map.add(line).map_err(|error| Error::Options(error.to_string()))?;
    }
    Ok(map)
}

/// The systems whose boxes are in the initialization segment. FairPlay has none: its players are told by the
/// playlist. For Clear Key it is the common one: browsers take no other (W3C, "cenc" Initialization Data
/// Format).
pub(super) fn systems_with_boxes(drm: &[System]) -> Vec<System> {
    let mut systems = Vec::with_capacity(drm.len());
    for &system in drm {
        let system = if system == System::ClearKey { System::Common } else { system };
        if system != System::FairPlay && !systems.contains(&system) {
            systems.push(system);
        }
    }
    systems
}

/// The brands of a CMAF track (ISO/IEC 23000-19, 7.2).
fn ftyp(kind: TrackKind, options: &PackageOptions) -> Vec<u8> {
    let cmfc = FourCc::new(b"cmfc");
    let mut brands = vec![cmfc, FourCc::new(b"iso6"), FourCc::new(b"dash")];
    if options.negative_offsets && kind == TrackKind::Video {
        brands.insert(0, FourCc::new(b"cmf2"));
    }
    compose::ftyp(cmfc, 0, &brands)
}
