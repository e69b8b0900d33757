//! Writing a package: media first, manifests last.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use lanelock_core::AesLevel;
use lanelock_mp4::compose::{IndexedTrack, SegmentIndex};

use super::{
    Package, PackageOptions, PackageSummary, Storage,
    cuts::unsigned,
    forms::{Forms, webvtt_segments},
    packer::{FragmentPlan, Packed, Packer, Target, Version, numbered, references},
    rendition::{Rendition, systems_with_boxes},
    signalling, summary,
};
use crate::{
    Error, Observer, Times,
    claims::Claims,
    encrypt::{Encryptor, FragmentPssh},
    io::{Folder, Object, Objects},
    pipeline::{self, Pipeline},
    place::Placement,
};

pub(super) fn write(
    package: &Package,
    folder: Box<dyn Folder>,
    observer: &dyn Observer,
) -> Result<PackageSummary, Error> {
    let start = Instant::now();
    let level = AesLevel::best()?;
    let Package { options, renditions, .. } = package;
    let mut times = Times::default();
    let mut packed = Vec::with_capacity(renditions.len());
    // Versions of a track, which are side by side, are made from one read.
    let versions = || renditions.chunk_by(|one, other| one.track == other.track);
    let total = versions().map(|versions| versions[0].bytes()).sum();
    let progress = Progress { observer, before: AtomicU64::new(0), own: AtomicU64::new(0), total };
    let mut most_workers = 1;
    let bytes_out;
    {
        let objects = Objects::new(&*folder, options.sync, options.writes);
        for versions in versions() {
            progress.begin(versions[0].bytes());
            let workers = pipeline::workers(options.workers, &versions[0].source.file.input());
            most_workers = most_workers.max(workers);
            let (mut done, more) = write_forms(package, versions, &objects, workers, &progress)?;
            times.add(more);
            packed.append(&mut done);
            progress.end();
        }
        for rendition in renditions {
            rendition.source.file.input().check_unchanged()?;
        }
        let texts = signalling::manifests(package, &packed)?;
        for (path, text) in &texts {
            // Those that others name come first (`signalling::manifests`).
            objects.settle()?;
            objects.write(path, text.as_bytes())?;
        }
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
        let of_manifests: u64 = texts.iter().map(|(_, text)| text.len() as u64).sum();
        bytes_out = of_manifests + packed.iter().map(Packed::bytes).sum::<u64>();
    }
    let name = folder.name();
    folder.finish(options.sync).map_err(|error| Error::Write { name, error })?;
    Ok(summary::written(
        package,
        summary::Run {
            bytes_out,
            times,
            level: level.to_string(),
            workers: most_workers,
            seconds: start.elapsed().as_secs_f64(),
        },
    ))
}

/// Writes the forms of the versions of a track.
fn write_forms(
    package: &Package,
    versions: &[Rendition],
    objects: &Objects<'_>,
    workers: usize,
    observer: &dyn Observer,
) -> Result<(Vec<Packed>, Times), Error> {
    let of = |rendition| Forms::of(rendition, &package.options);
    let (mut all, times) = if versions.iter().any(|rendition| of(rendition).cmaf()) {
        write_track(package, versions, objects, workers, observer)?
    } else {
        (versions.iter().map(|_| Packed::default()).collect(), Times::default())
    };
    for (rendition, packed) in versions.iter().zip(&mut all) {
        if of(rendition).webvtt {
            let path = signalling::webvtt_path(rendition);
            webvtt_segments(rendition, |index, text| {
                if observer.interrupted() {
                    return Err(Error::Interrupted);
                }
                packed.webvtt.push(text.len() as u64);
                objects.write(&numbered(&path, index), text.as_bytes())
            })?;
        }
        if let Some(text) = rendition.text.as_deref().filter(|_| of(rendition).whole) {
            packed.whole = text.bytes.len() as u64;
            objects.write(&signalling::whole_path(rendition, text), &text.bytes)?;
        }
    }
    Ok((all, times))
}

/// A file that has all segments of a version, with the place of its index.
struct SingleFile {
    object: Arc<Object>,
    index: Range<u64>,
}

fn write_track(
    package: &Package,
    versions: &[Rendition],
    objects: &Objects<'_>,
    workers: usize,
    observer: &dyn Observer,
) -> Result<(Vec<Packed>, Times), Error> {
    let Package { options, .. } = package;
    let Rendition { source, segments, shift, .. } = &versions[0];
    let input = source.file.input();
    let count = segments.list.len();
    let mut single = Vec::with_capacity(versions.len());
    let mut written = Vec::with_capacity(versions.len());
    for rendition in versions {
        let (target, file) = target(rendition, options, objects)?;
        single.extend(file);
        let protection = rendition.protection.as_deref();
        let systems = protection.map_or_else(Vec::new, |of| systems_with_boxes(&of.drm));
        let encryptor = Encryptor {
            input: &input,
            movie: &rendition.movie,
            media: &source.file.skeleton.media,
            decryptor: None,
            protector: rendition.protector.clone(),
            claims: Claims::of_part(&input, &source.file.skeleton),
            slicers: Vec::new(),
            placement: Placement::new(),
            fragments: 0,
            remarks: crate::encrypt::Remarks::none(&rendition.movie),
            pssh: FragmentPssh::new(protection, systems),
        };
        written.push(Version::new(encryptor, target, &rendition.spans));
    }
    let plan = FragmentPlan::new(source, segments, *shift)?;
    let packer = Packer::new(written, segments, objects);
    let target = pipeline::Target::Objects(objects);
    let memory = options.memory;
    let pipeline = Pipeline { input: &input, target, observer, workers, memory };
    let (mut packer, times) = pipeline.run(plan, packer)?;
    packer.close()?;
    let packed = packer.versions.iter_mut().map(|version| std::mem::take(&mut version.packed));
    let packed: Vec<_> = packed.collect();
    drop(packer);
    let mut single = single.into_iter();
    let mut all = Vec::with_capacity(versions.len());
    for (rendition, packed) in versions.iter().zip(packed) {
        if packed.len() != count {
            return Err(source.fail("it has fewer segments than when it was planned"));
        }
        let init = 0..rendition.init.len() as u64;
        let mut index = 0..0;
        if let Some(file) = single.next() {
            index = file.index.clone();
            let references = references(&input, segments, &packed)?;
            let earliest = segments.list.first().map_or(0, |first| unsigned(first.earliest));
            let (id, timescale) = (source.track().id, source.track().timescale);
            let indexed = IndexedTrack::new(id, timescale, &references)
                .with_earliest_presentation_time(earliest);
            let bytes = SegmentIndex::new(&[indexed]).bytes(0);
            let bytes = bytes.map_err(|error| input.container(error))?;
            file.object.output().write(&bytes, index.start)?;
            Object::release(file.object)?;
        }
        all.push(Packed { segments: packed, init, index, ..Packed::default() });
    }
    Ok((all, times))
}

/// What the segments of a version are written to, where the initialization segment is there already.
fn target(
    rendition: &Rendition,
    options: &PackageOptions,
    objects: &Objects<'_>,
) -> Result<(Target, Option<SingleFile>), Error> {
    let paths = signalling::paths(rendition, options.storage);
    let Rendition { init, segments, .. } = rendition;
    if options.storage == Storage::Segments {
        objects.write(&paths.init, init)?;
        return Ok((Target::Numbered(paths.media), None));
    }
    let object = objects.create(&paths.media)?;
    if object.output().is_sequential() {
        return Err(Error::Options(
            "one file for each track has its index in front of the media, so that it cannot be sent as it \
             is made; take segments"
                .into(),
        ));
    }
    let init_len = init.len() as u64;
    let room = SegmentIndex::len_for([segments.list.len()]) as u64;
    object.output().expect(init_len + room + rendition.bytes() + rendition.bytes() / 512);
    let at = object.extend(init_len + room);
    object.output().write(init, at)?;
    let file = SingleFile { object: object.clone(), index: init_len..init_len + room };
    Ok((Target::Single(object), Some(file)))
}

/// Progress over all tracks.
struct Progress<'a> {
    observer: &'a dyn Observer,
    /// Bytes of the tracks that are behind, and of the one that is written.
    before: AtomicU64,
    own: AtomicU64,
    total: u64,
}

impl Progress<'_> {
    fn begin(&self, bytes: u64) {
        self.own.store(bytes, Ordering::Relaxed);
    }

    fn end(&self) {
        self.before.fetch_add(self.own.load(Ordering::Relaxed), Ordering::Relaxed);
        self.observer.progress(self.before.load(Ordering::Relaxed), self.total);
    }
}

impl Observer for Progress<'_> {
    fn progress(&self, done: u64, _total: u64) {
        let own = self.own.load(Ordering::Relaxed);
        self.observer.progress(self.before.load(Ordering::Relaxed) + done.min(own), self.total);
    }

    fn interrupted(&self) -> bool {
        self.observer.interrupted()
    }

    fn warn(&self, message: &str) {
        self.observer.warn(message);
    }
}
