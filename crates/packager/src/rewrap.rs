//! Encryption anew: another scheme, other keys, other signalling, in one pass.

use std::{path::Path, time::Instant};

use lanelock_core::AesLevel;
use lanelock_mp4::{
    Movie, Track,
    edit::{KeepPssh, unprotect_movie},
};

use crate::{
    DecryptOptions, EncryptOptions, Error, Iv, Layout, Observer, Selector, Summary,
    decrypt::Decryption,
    encrypt::Job,
    io::{FileSink, FileSource, Input, Sink, Source},
    selection::{Purpose, fail},
    skeleton::Skeleton,
    tracks::Protector,
};

/// Encrypts the protected file `input` anew, to the file `output`: decrypted with the keys of `from`,
/// encrypted as `to` says, in the layout that it has. Subsamples are mapped anew, `pssh` boxes are
/// replaced. What is clear is in memory alone, never written. Tracks that are clear stay so, if `to` has
/// no key for them; access units that are clear in a protected track are encrypted.
pub fn rewrap_file(
    input: &Path,
    output: &Path,
    from: &DecryptOptions,
    to: &EncryptOptions,
    observer: &dyn Observer,
) -> Result<Summary, Error> {
    let source = FileSource::open(input)?;
    let sink = FileSink::create(output, &[&source])?;
    rewrap(&source, Box::new(sink), from, to, observer)
}

/// [`rewrap_file`] from any source to any sink.
///
/// ```
/// use lanelock_packager::{
///     DecryptOptions, EncryptOptions, KeyMap, Quiet, Scheme,
///     io::{MemorySink, MemorySource},
///     rewrap,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = "../../testkit/media/protected/prog_8s_enc_dashinit.mp4";
/// let old = "cd7eb9ff-88f3-4cae-b061-85b00024e4c2:63cb5f7184dd4b689a5c5ff11ee6a328";
/// let mut new = KeyMap::new();
/// new.parse_insert("00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0")?;
///
/// let source = MemorySource::new("cenc.mp4", std::fs::read(path)?);
/// let sink = MemorySink::new();
/// let from = DecryptOptions::new(vec![old.parse()?]);
/// let to = EncryptOptions::new(Scheme::Cbcs, new);
/// let summary = rewrap(&source, Box::new(sink.clone()), &from, &to, &Quiet)?;
/// assert_eq!(summary.tracks[0].scheme.as_deref(), Some("cbcs"));
/// # Ok(())
/// # }
/// ```
pub fn rewrap(
    source: &dyn Source,
    sink: Box<dyn Sink>,
    from: &DecryptOptions,
    to: &EncryptOptions,
    observer: &dyn Observer,
) -> Result<Summary, Error> {
    let start = Instant::now();
    let input = Input::new(source);
    let skeleton = Skeleton::read(&input)?;
    let movie = &skeleton.movie;
    if !movie.tracks.iter().any(Track::is_protected) {
        return Err(input.unsuitable(
            "no track is encrypted: there is nothing to encrypt anew; encrypt it (lanelock encrypt)",
        ));
    }
    if let Iv::Given(iv) = &to.iv
        && from.keys.iter().any(|key| key.is_of_bytes(iv))
    {
        return Err(Error::Options(
            "the IV is one of the old keys, and would stand in the output for all to read; take another IV, or \
             leave out --iv"
                .into(),
        ));
    }
    let container = |error| input.container(error);
    let clear = unprotect_movie(movie, None, KeepPssh::No).map_err(container)?;
    let clear = Movie::parse(clear, movie.offset()).map_err(container)?;
    let mut options = to.clone().with_layout(Layout::Keep);
    for track in movie.tracks.iter().filter(|track| !track.is_protected()) {
        let selector = Selector::Track(track.id);
        if !options.keys.entries().any(|other| other.selector == selector) {
            options.clear.push(selector);
        }
    }
    let decryption = Decryption::new(&input, &skeleton, from)?;
    let job = Job {
        input: &input,
        skeleton: &skeleton,
        clear: &clear,
        decryption: Some(&decryption),
        options: &options,
        observer,
        start,
    };
    let level = AesLevel::best()?;
    let protector = Protector::new(&input, &clear, &options, level, Purpose::Rewrap)?;
    for (track, protected) in movie.tracks.iter().zip(&protector.tracks) {
        if track.is_protected() && protected.is_none() {
            let reason = "it is encrypted, and would be written clear; give a new key for it";
            return Err(fail(&input, track, reason.into()));
        }
    }
    Ok(job.to_sink(protector, sink, |summary| job.check_protected(summary))?.0)
}
