//! Folders of an initialization segment and its media segments.

use std::{ffi::OsString, fs, io, path::Path, time::Instant};

use lanelock_mp4::{ErrorKind, ReadAt as _, top_level};
use lanelock_packager::{
    DecryptOptions, Error, KeyReport, KeyVerdict, Observer as _, SegmentEncryptor, Summary, Times,
    decrypt, decrypt_segment,
    io::{FileFolder, FileSource, Folder as _, Sink},
};

use crate::{
    failure::Failure,
    operation::Operation,
    paths::{OutputPath, canonical, real_path},
    watch::Watch,
};

/// Encrypts or decrypts all segments of the folder `input` into the folder `output`, which appears when
/// all of them are there, or not at all.
pub(crate) fn run(
    operation: &Operation,
    input: &Path,
    output: &OutputPath,
    watch: &Watch,
) -> Result<Summary, Failure> {
    let start = Instant::now();
    let OutputPath::Path(output) = output else {
        return Err(Failure::usage("a folder does not go into one stream", "name a folder"));
    };
    let folder = SegmentFolder::read(input)?;
    let new = new_folder(output, input)?;
    let init = FileSource::open(&input.join(&folder.init))?;
    let (mut worker, sync) = match operation {
        Operation::Encrypt(options) => {
            let encryptor = SegmentEncryptor::new(&init, options.clone())?;
            (Worker::Encrypt(Box::new(encryptor)), options.sync)
        }
        Operation::Decrypt(options) => (Worker::Decrypt(&init, options), options.sync),
        Operation::Rewrap(..) => {
            return Err(Failure::usage(
                format!("{} is a folder, and rewrap takes files", input.display()),
                "join the segments first (cat init.mp4 *.m4s), or decrypt the folder and encrypt it",
            ));
        }
    };
    watch.begins(init.len());
    let mut all = worker.init(sink(&new, &folder.init)?, watch)?;
    for name in &folder.segments {
        let segment = FileSource::open(&input.join(name))?;
        watch.begins(segment.len());
        add(&mut all, worker.segment(&segment, sink(&new, name)?, watch)?);
    }
    worker.finish()?;
    for name in &folder.manifests {
        let from = input.join(name);
        new.copy(&from, Path::new(name)).map_err(|error| Failure::Io {
            what: format!("cannot copy {}", from.display()),
            error,
        })?;
        watch.warn(&format!(
            "{} is copied as it is: add the encryption to it (KIDs, pssh), or take it out",
            input.join(name).display()
        ));
    }
    if SegmentFolder::names(input)? != folder.names {
        return Err(Failure::unsuitable(
            input.display().to_string(),
            "files came or went while it was read; wait until it is complete, then start again",
        ));
    }
    if watch.interrupted() {
        return Err(Error::Interrupted.into());
    }
    Box::new(new).finish(sync).map_err(|error| Failure::Io {
        what: format!("cannot write {}", output.display()),
        error,
    })?;
    all.seconds = start.elapsed().as_secs_f64();
    Ok(all)
}

/// What processes the segments.
enum Worker<'a> {
    Encrypt(Box<SegmentEncryptor<'a>>),
    Decrypt(&'a FileSource, &'a DecryptOptions),
}

impl Worker<'_> {
    fn init(&mut self, sink: Box<dyn Sink>, watch: &Watch) -> Result<Summary, Error> {
        match self {
            Self::Encrypt(encryptor) => encryptor.init(sink, watch),
            Self::Decrypt(init, options) => decrypt(*init, sink, options, watch),
        }
    }

    fn segment(
        &mut self,
        segment: &FileSource,
        sink: Box<dyn Sink>,
        watch: &Watch,
    ) -> Result<Summary, Error> {
        match self {
            Self::Encrypt(encryptor) => encryptor.segment(segment, sink, watch),
            Self::Decrypt(init, options) => decrypt_segment(*init, segment, sink, options, watch),
        }
    }

    fn finish(self) -> Result<(), Error> {
        match self {
            Self::Encrypt(encryptor) => encryptor.finish(),
            Self::Decrypt(..) => Ok(()),
        }
    }
}

/// The names of the files in a folder, by what they are.
struct SegmentFolder {
    /// All of them, sorted.
    names: Vec<OsString>,
    init: OsString,
    /// In the order of the numbers in their names.
    segments: Vec<OsString>,
    manifests: Vec<OsString>,
}

impl SegmentFolder {
    fn names(path: &Path) -> Result<Vec<OsString>, Failure> {
        let fail = |error| Failure::Io { what: format!("cannot read {}", path.display()), error };
        let entries = loop {
            match fs::read_dir(path) {
                // It does not go on by itself.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result.map_err(fail)?,
            }
        };
        let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
        let mut names = names.collect::<Result<Vec<_>, _>>().map_err(fail)?;
        names.sort_by_cached_key(|name| (natural(&name.to_string_lossy()), name.clone()));
        Ok(names)
    }

    fn read(path: &Path) -> Result<Self, Failure> {
        let names = Self::names(path)?;
        if names.is_empty() {
            let what = format!("cannot read {}", path.display());
            return Err(Failure::Io { what, error: io::Error::other("it is an empty folder") });
        }
        let mut inits: Vec<OsString> = Vec::new();
        let (mut segments, mut manifests) = (Vec::new(), Vec::new());
        for name in &names {
            match FileKind::of(&path.join(name))? {
                FileKind::Init => inits.push(name.clone()),
                FileKind::Segment => segments.push(name.clone()),
                FileKind::Manifest => manifests.push(name.clone()),
            }
        }
        let wrong = |reason: String| Failure::unsuitable(path.display().to_string(), reason);
        match &inits[..] {
            [init] if !segments.is_empty() => {
                Ok(Self { init: init.clone(), names, segments, manifests })
            }
            [_] => Err(wrong("there is no media segment in the folder".into())),
            [] => Err(wrong("there is no initialization segment in the folder".into())),
            [one, two, ..] => Err(wrong(format!(
                "there are several initialization segments in the folder, {} and {}; give each a folder of \
                 its own, with its media segments",
                one.display(),
                two.display()
            ))),
        }
    }
}

enum FileKind {
    Init,
    Segment,
    Manifest,
}

impl FileKind {
    fn of(path: &Path) -> Result<Self, Failure> {
        let is = |extension: &str| {
            path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
        };
        let name = || path.display().to_string();
        if path.is_dir() {
            let reason = "it is a folder in a folder of segments; take it out";
            return Err(Failure::unsuitable(name(), reason));
        }
        // Also of a manifest: whatever is no regular file is refused.
        let source = FileSource::open(path)?;
        if is("mpd") || is("m3u8") {
            return Ok(Self::Manifest);
        }
        let (mut moov, mut moof, mut mdat, mut damage) = (false, false, false, None);
        for header in top_level(&source) {
            match header {
                Ok(header) => {
                    moov |= header.kind == b"moov";
                    moof |= header.kind == b"moof";
                    mdat |= header.kind == b"mdat";
                }
                Err(error) => match error.kind() {
                    // What it is, is not known.
                    ErrorKind::Io(cause) => {
                        let error = io::Error::new(cause.kind(), cause.to_string());
                        return Err(Error::Read { name: name(), error }.into());
                    }
                    _ => damage = Some(error),
                },
            }
        }
        let is_known = |source: &lanelock_mp4::Error| {
            matches!(source.path(), "ftyp" | "styp" | "sidx" | "moov" | "moof" | "mdat")
        };
        match (moov, moof, damage) {
            (.., Some(source)) if moov || moof || is_known(&source) => {
                Err(Error::Container { name: name(), error: source }.into())
            }
            (true, false, None) if !mdat => Ok(Self::Init),
            (false, true, None) => Ok(Self::Segment),
            (true, ..) => Err(Failure::unsuitable(
                name(),
                "it is a whole file in a folder of segments; take it out",
            )),
            _ => Err(Failure::unsuitable(
                name(),
                "it is neither an initialization segment, nor a media segment, nor a manifest (.mpd, \
                 .m3u8); take it out of the folder",
            )),
        }
    }
}

/// Text with its numbers, to be compared as such: 2 is in front of 10.
fn natural(text: &str) -> Vec<(bool, usize, String)> {
    let mut parts: Vec<(bool, usize, String)> = Vec::new();
    for c in text.chars() {
        match parts.last_mut() {
            Some((is_text, _, part)) if *is_text != c.is_ascii_digit() => part.push(c),
            _ => parts.push((!c.is_ascii_digit(), 0, c.into())),
        }
    }
    for (is_text, len, part) in &mut parts {
        if !*is_text {
            *part = part.trim_start_matches('0').to_owned();
            *len = part.len();
        }
    }
    parts
}

/// Makes the folder `output`, which is not inside of `input`.
fn new_folder(output: &Path, input: &Path) -> Result<FileFolder, Failure> {
    let fail = |error| Failure::Io { what: format!("cannot write {}", output.display()), error };
    let place = canonical(output).map_err(fail)?;
    // A file is refused as what it is.
    let is_file = place.as_ref().is_some_and(|place| !place.is_dir());
    let place = place.unwrap_or_else(|| Path::new(".").join(output));
    let parent = place.parent().map(canonical).transpose().map_err(fail)?.flatten();
    let parent = parent.filter(|_| !is_file);
    // Before it is made: what is left of it there would be taken for a segment.
    if parent.zip(real_path(input)?).is_some_and(|(parent, input)| parent.starts_with(input)) {
        return Err(Failure::usage(
            format!("{} is inside of the folder that is read", output.display()),
            "name a folder beside it",
        ));
    }
    Ok(FileFolder::create(output)?)
}

/// A new file in the folder.
fn sink(folder: &FileFolder, name: &OsString) -> Result<Box<dyn Sink>, Failure> {
    let file = folder.file(Path::new(name)).map_err(|error| {
        let name = folder.path().join(name).display().to_string();
        Failure::from(Error::Write { name, error })
    });
    Ok(Box::new(file?))
}

/// Adds what was done to a segment.
fn add(all: &mut Summary, segment: Summary) {
    all.bytes_in += segment.bytes_in;
    all.bytes_out += segment.bytes_out;
    all.fragments += segment.fragments;
    all.access_units += segment.access_units;
    for track in segment.tracks {
        match all.tracks.iter_mut().find(|known| known.id == track.id) {
            Some(known) => {
                known.access_units += track.access_units;
                known.clear_access_units += track.clear_access_units;
                for kid in track.kids {
                    if !known.kids.contains(&kid) {
                        known.kids.push(kid);
                    }
                }
                known.kid = known.kid.take().or(track.kid);
                known.scheme = known.scheme.take().or(track.scheme);
            }
            None => all.tracks.push(track),
        }
    }
    all.unclaimed.ranges += segment.unclaimed.ranges;
    all.unclaimed.bytes += segment.unclaimed.bytes;
    all.unclaimed.listed.extend(segment.unclaimed.listed);
    for key in segment.keys {
        let same = |known: &&mut KeyReport| known.track == key.track && known.kid == key.kid;
        match all.keys.iter_mut().find(same) {
            Some(known) => add_key(known, key),
            None => all.keys.push(key),
        }
    }
    let Times { plan, read, map, crypto, look, write, .. } = segment.times;
    all.times.plan += plan;
    all.times.read += read;
    all.times.map += map;
    all.times.crypto += crypto;
    all.times.look += look;
    all.times.write += write;
}

/// Adds what a segment tells of a key; what tells the most is its verdict.
fn add_key(known: &mut KeyReport, more: KeyReport) {
    let tells = |verdict| match verdict {
        KeyVerdict::Wrong => 3,
        KeyVerdict::Doubtful => 2,
        KeyVerdict::Fits => 1,
        _ => 0,
    };
    known.bytes += more.bytes;
    known.checked_units += more.checked_units;
    known.failed_units += more.failed_units;
    known.impossible += more.impossible;
    known.impossible_if_wrong += more.impossible_if_wrong;
    known.checksum = known.checksum.or(more.checksum);
    if tells(more.verdict) > tells(known.verdict) {
        (known.verdict, known.reason) = (more.verdict, more.reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_by_their_numbers() {
        let sorted = ["1.m4s", "2.m4s", "10.m4s", "a1-2.m4s", "a1-010.m4s", "a01-11.m4s", "b.m4s"];
        let mut names = sorted;
        names.reverse();
        names.sort_by_cached_key(|name| natural(name));
        assert_eq!(names, sorted);
    }
}
