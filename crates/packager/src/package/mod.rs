//! Packaging: tracks of several inputs become CMAF tracks (ISO/IEC 23000-19) with DASH and HLS manifests.
//!
//! ```text
//! inputs -> tracks -> switching sets -> cuts -> fragments (the pipeline, track by track) -> objects
//!                                         \---------- times and sizes ----------> manifests
//! ```
//! All metadata are read and all decisions are made before anything is written ([`Package::new`]); the
//! tracks of a switching set are cut at the same times, and the others near those. Then each track goes
//! through the pipeline that also encrypts single files ([`Package::write`]).

mod access;
mod cuts;
mod facts;
mod forms;
mod names;
mod options;
mod packer;
mod places;
mod rendition;
mod sets;
mod signalling;
mod source;
mod spans;
mod summary;
mod text;
mod time;
mod write;

pub use lanelock_manifest::{Accessibility, Role};
pub use options::{PackageOptions, Storage, TextStorage, TrackProperties, TrackRule};
pub use summary::{PackageSummary, PackagedTrack};

use std::sync::Arc;

use self::{
    places::Place,
    rendition::Rendition,
    source::{InputFile, SourceTrack},
    text::TextFile,
};
use crate::{
    Error, Observer,
    io::{Folder, Source},
};

/// Tracks that are planned, and can be written.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use lanelock_packager::{
///     EncryptOptions, KeyMap, Quiet, Scheme,
///     io::{MemoryFolder, MemorySource},
///     package::{Package, PackageOptions},
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = "tests/fixtures/avc_aac.mp4";
/// let movie = MemorySource::new("movie.mp4", std::fs::read(path)?); // or a `FileSource`
/// let mut keys = KeyMap::new();
/// keys.parse_insert("00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0")?;
/// let options = PackageOptions::new()
///     .with_protection(Some(EncryptOptions::new(Scheme::Cbcs, keys)))
///     .with_segment_duration(Duration::from_secs(4));
/// let package = Package::new(vec![Arc::new(movie)], options, &Quiet)?;
///
/// let folder = MemoryFolder::new(); // or a `FileFolder`
/// let summary = package.write(Box::new(folder.clone()), &Quiet)?;
/// assert_eq!(summary.tracks.len(), 2);
/// let objects = folder.into_objects().ok_or("not complete")?;
/// assert!(objects.contains_key("manifest.mpd") && objects.contains_key("main.m3u8"));
/// # Ok(())
/// # }
/// ```
pub struct Package {
    options: PackageOptions,
    renditions: Vec<Rendition>,
    sets: Vec<sets::Set>,
}

impl Package {
    /// Reads the metadata of the inputs, and decides about everything: tracks, sets, segments, keys.
    ///
    /// # Errors
    /// What [`encrypt`](fn@crate::encrypt) says of files and tracks that it cannot take; renditions
    /// whose sync samples are not aligned; names that come twice; what manifests cannot say.
    pub fn new(
        inputs: Vec<Arc<dyn Source>>,
        options: PackageOptions,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let options = rendition::check_options(options)?;
        let mut chosen = Vec::new();
        for source in inputs {
            let (name, before) = (source.name(), chosen.len());
            let warn_if_unused = |chosen: &[Chosen]| {
                if chosen.len() == before && !options.tracks.is_empty() {
                    observer.warn(&format!(
                        "{name}: no --track selects anything of it: it is left out"
                    ));
                }
            };
            if let Some(text) = TextFile::read(&source, observer)? {
                chosen.extend(choose_text(text, &options)?);
                warn_if_unused(&chosen);
                // TTML says it itself.
                if let Some(Chosen { properties, text: Some(text), .. }) = chosen.last()
                    && chosen.len() > before
                    && text.webvtt().is_some()
                    && properties.language.is_none()
                {
                    observer.warn(&format!(
                        "{name}: its language is not known, and viewers choose by it: say it (--track \
                         file={name}:language=en, and --track type=video, --track type=audio for the others)"
                    ));
                }
                continue;
            }
            let file = Arc::new(InputFile::read(source)?);
            file.warn_of_events(observer);
            for index in 0..file.movie().tracks.len() {
                chosen.extend(choose(&file, index, &options, observer)?);
            }
            warn_if_unused(&chosen);
        }
        check_rules(&chosen, &options)?;
        if chosen.is_empty() {
            return Err(Error::Options("no track is left to package".into()));
        }
        let (renditions, sets) = sets::arrange(chosen, &options, observer)?;
        let package = Self { options, renditions, sets };
        signalling::check(&package)?;
        Ok(package)
    }

    /// What will be written; sizes are those of the samples.
    pub fn summary(&self) -> PackageSummary {
        summary::planned(self)
    }

    /// Writes the tracks, then the manifests; then the folder appears.
    pub fn write(
        &self,
        folder: Box<dyn Folder>,
        observer: &dyn Observer,
    ) -> Result<PackageSummary, Error> {
        write::write(self, folder, observer)
    }
}

/// A track that is to be packaged, and the rules that select it.
struct Chosen {
    source: SourceTrack,
    /// The text file that the track is made of.
    text: Option<Arc<TextFile>>,
    properties: TrackProperties,
    rules: Vec<usize>,
}

/// Whether a text file is to be packaged.
fn choose_text(text: TextFile, options: &PackageOptions) -> Result<Option<Chosen>, Error> {
    let language = text.language();
    // When segments are known it is made anew; until then it says what it is.
    let second = time::Time { units: 1, timescale: 1 };
    let source = text.track(&[], second, language.as_deref())?;
    let Some((mut properties, rules)) = select(&source, language.as_deref(), options) else {
        return Ok(None);
    };
    properties.language = properties.language.or(language);
    Ok(Some(Chosen { source, text: Some(Arc::new(text)), properties, rules }))
}

/// What the rules say of a track, and which of them select it; none if none does, and there are some.
fn select(
    source: &SourceTrack,
    language: Option<&str>,
    options: &PackageOptions,
) -> Option<(TrackProperties, Vec<usize>)> {
    let rules = options.tracks.iter().enumerate();
    let rules: Vec<usize> = rules
        .filter(|(_, rule)| rule.selects(source, language))
        .map(|(number, _)| number)
        .collect();
    let mut properties = TrackProperties::default();
    for &rule in &rules {
        properties.take(&options.tracks[rule].properties);
    }
    (!rules.is_empty() || options.tracks.is_empty()).then_some((properties, rules))
}

/// Whether a track is to be packaged.
fn choose(
    file: &Arc<InputFile>,
    index: usize,
    options: &PackageOptions,
    observer: &dyn Observer,
) -> Result<Option<Chosen>, Error> {
    let track = &file.movie().tracks[index];
    let mut source = SourceTrack::untimed(file.clone(), index);
    let language = track.bcp47.clone();
    let Some((mut properties, rules)) = select(&source, language.as_deref(), options) else {
        return Ok(None);
    };
    let name = &file.input().name;
    match places::of(&source) {
        Place::Taken => {}
        Place::LeftOut(reason) if rules.is_empty() => {
            let codec = track.codec();
            observer.warn(&format!("{name}: track {} ({codec}) is left out: {reason}", track.id));
            return Ok(None);
        }
        Place::LeftOut(reason) | Place::Refused(reason) => return Err(source.fail(reason)),
    }
    if track.is_protected() {
        return Err(source.fail(
            "it is encrypted already, and package takes clear tracks; decrypt it first (lanelock decrypt), \
             or change scheme and keys of the file as it is (lanelock rewrap)",
        ));
    }
    if properties.language.is_none() {
        properties.language = language;
    }
    if properties.roles.is_empty() && properties.accessibility.is_empty() {
        (properties.roles, properties.accessibility) = facts::roles(track);
    }
    source = source.timed()?;
    Ok(Some(Chosen { source, text: None, properties, rules }))
}

/// Refuses rules that select nothing.
fn check_rules(chosen: &[Chosen], options: &PackageOptions) -> Result<(), Error> {
    for (number, rule) in options.tracks.iter().enumerate() {
        if !chosen.iter().any(|track| track.rules.contains(&number)) {
            return Err(Error::Options(format!(
                "--track number {} ({rule}) selects no track of the inputs; lanelock inspect shows what \
                 they have",
                number + 1
            )));
        }
    }
    Ok(())
}

impl TrackProperties {
    /// Takes what `more` says.
    fn take(&mut self, more: &Self) {
        let Self { name, label, language, roles, accessibility, is_default } = more;
        for (own, more) in
            [(&mut self.name, name), (&mut self.label, label), (&mut self.language, language)]
        {
            if more.is_some() {
                own.clone_from(more);
            }
        }
        self.roles.extend_from_slice(roles);
        self.accessibility.extend_from_slice(accessibility);
        self.is_default = is_default.or(self.is_default);
    }
}
