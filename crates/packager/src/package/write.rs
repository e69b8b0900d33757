//! Writing a package: media first, manifests last.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use lanelock::AesLevel;
use lanelock_mp4::compose::{IndexedTrack, SegmentIndex};

use super::{
    Package, PackageSummary, Storage,
    cuts::unsigned,
    forms::{Forms, webvtt_segments},
    packer::{FragmentPlan, Packed, Packer, Target, numbered, references},
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
    let total = renditions.iter().map(Rendition::bytes).sum();
    let progress = Progress { observer, before: AtomicU64::new(0), own: AtomicU64::new(0), total };
    let mut most_workers = 1;
    let bytes_out;
    {
        let objects = Objects::new(&*folder, options.sync, options.writes);
        for rendition in renditions {
            progress.begin(rendition.bytes());
            let workers = pipeline::workers(options.workers, &rendition.source.file.input());
            most_workers = most_workers.max(workers);
            let (done, more) = write_forms(package, rendition, &objects, workers, &progress)?;
            times.add(more);
            packed.push(done);
            progress.end();
        }
        for rendition in renditions {
            rendition.source.file.input().check_unchanged()?;
        }
        let texts = signalling::manifests(package, &packed)?;
        for (path, text) in &texts {
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

/// Writes the forms of a track.
fn write_forms(
    package: &Package,
    rendition: &Rendition,
    objects: &Objects<'_>,
    workers: usize,
    observer: &dyn Observer,
) -> Result<(Packed, Times), Error> {
    let forms = Forms::of(rendition, &package.options);
    let (mut packed, times) = if forms.cmaf() {
        write_track(package, rendition, objects, workers, observer)?
    } else {
        (Packed::default(), Times::default())
    };
    if forms.webvtt {
        let path = signalling::webvtt_path(rendition);
        webvtt_segments(rendition, |index, text| {
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
            packed.webvtt.push(text.len() as u64);
            objects.write(&numbered(&path, index), text.as_bytes())
        })?;
    }
    if let Some(text) = rendition.text.as_deref().filter(|_| forms.whole) {
        packed.whole = text.bytes.len() as u64;
        objects.write(&signalling::whole_path(rendition, text), &text.bytes)?;
    }
    Ok((packed, times))
}

fn write_track(
    package: &Package,
    rendition: &Rendition,
    objects: &Objects<'_>,
    workers: usize,
    observer: &dyn Observer,
) -> Result<(Packed, Times), Error> {
    let Package { options, .. } = package;
    let Rendition { source, segments, init, protector, movie, .. } = rendition;
    let input = source.file.input();
    let paths = signalling::paths(rendition, options.storage);
    let init_len = init.len() as u64;
    let count = segments.list.len();
    let (target, single, index) = match options.storage {
        Storage::Segments => {
            objects.write(&paths.init, init)?;
            (Target::Numbered(paths.media), None, 0..0)
        }
        Storage::Single => {
            let object = objects.create(&paths.media)?;
            if object.output().is_sequential() {
                return Err(Error::Options(
                    "one file for each track has its index in front of the media, so that it cannot be \
                     sent as it is made; take segments"
                        .into(),
                ));
            }
            let room = SegmentIndex::len_for([count]) as u64;
            object.output().expect(init_len + room + rendition.bytes() + rendition.bytes() / 512);
            let at = object.extend(init_len + room);
            object.output().write(init, at)?;
            (Target::Single(object.clone()), Some(object), init_len..init_len + room)
        }
    };
    let encryptor = Encryptor {
        input: &input,
        movie,
        media: &source.file.skeleton.media,
        decryptor: None,
        protector: protector.clone(),
        claims: Claims::of_part(&input, &source.file.skeleton),
        slicers: Vec::new(),
        placement: Placement::new(),
        fragments: 0,
        remarks: crate::encrypt::Remarks::none(movie),
        pssh: FragmentPssh::new(
            options.protection.as_ref(),
            options.protection.as_ref().map_or_else(Vec::new, |of| systems_with_boxes(&of.drm)),
        ),
    };
    let plan = FragmentPlan::new(source, segments, rendition.shift)?;
    let packer = Packer::new(encryptor, rendition, target, objects);
    let target = pipeline::Target::Objects(objects);
    let memory = options.memory;
    let pipeline = Pipeline { input: &input, target, observer, workers, memory };
    let (mut packer, times) = pipeline.run(plan, packer)?;
    packer.close()?;
    let packed = std::mem::take(&mut packer.packed);
    drop(packer);
    if packed.len() != count {
        return Err(source.fail("it has fewer segments than when it was planned"));
    }
    if let Some(object) = single {
        let references = references(&input, segments, &packed)?;
        let earliest = segments.list.first().map_or(0, |first| unsigned(first.earliest));
        let indexed = IndexedTrack::new(source.track().id, source.track().timescale, &references)
            .with_earliest_presentation_time(earliest);
        let bytes = SegmentIndex::new(&[indexed]).bytes(0);
        let bytes = bytes.map_err(|error| input.container(error))?;
        object.output().write(&bytes, index.start)?;
        Object::release(object)?;
    }
    Ok((Packed { segments: packed, init: 0..init_len, index, ..Packed::default() }, times))
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
