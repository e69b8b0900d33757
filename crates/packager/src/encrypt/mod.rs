//! Encryption.

mod encryptor;
mod fragment_pssh;
mod protection;
mod remarks;
mod run;
mod segments;

pub(crate) use encryptor::Encryptor;
pub(crate) use fragment_pssh::FragmentPssh;
pub use protection::Protection;
pub(crate) use remarks::{GROUP_OF_CLEAR, Remarks, is_protected};
pub(crate) use run::{Job, protect, pssh};
pub use segments::{SegmentEncryptor, encrypt_segment};

use std::{path::Path, time::Instant};

use lanelock_cenc::Scheme;
use lanelock_core::AesLevel;

use crate::{
    EncryptOptions, Error, Iv, Observer, Summary,
    io::{FileSink, FileSource, Input, Sink, Source},
    selection::Purpose,
    skeleton::Skeleton,
    tracks::Protector,
};

/// Encrypts the file `input` to the file `output`, which appears when it is complete, or not at all.
///
/// Fragmented input keeps its fragments; progressive input becomes what
/// [`EncryptOptions::layout`] says.
pub fn encrypt_file(
    input: &Path,
    output: &Path,
    options: &EncryptOptions,
    observer: &dyn Observer,
) -> Result<Summary, Error> {
    let source = FileSource::open(input)?;
    let sink = FileSink::create(output, &[&source])?;
    encrypt(&source, Box::new(sink), options, observer)
}

/// [`encrypt_file`] from any source to any sink.
pub fn encrypt(
    source: &dyn Source,
    sink: Box<dyn Sink>,
    options: &EncryptOptions,
    observer: &dyn Observer,
) -> Result<Summary, Error> {
    let start = Instant::now();
    let input = Input::new(source);
    let skeleton = Skeleton::read(&input)?;
    let job = Job {
        input: &input,
        skeleton: &skeleton,
        clear: &skeleton.movie,
        decryption: None,
        options,
        observer,
        start,
    };
    // Before keys and codecs are looked at: what has no ISO form is told how to get one.
    job.iso_head()?;
    let level = AesLevel::best()?;
    let protector = Protector::new(&input, &skeleton.movie, options, level, Purpose::Encrypt)?;
    let needs_iv = options.scheme == Scheme::Cbcs && options.iv == Iv::Random;
    let refuse = |fragments| {
        let lone = needs_iv && job.is_init(fragments);
        if lone { Err(input.unsuitable(LONE_INIT)) } else { Ok(()) }
    };
    if !input.is_sequential() {
        refuse(skeleton.fragments)?;
    }
    // Of a pipe it is not known before.
    let accept = |summary: &Summary| {
        job.check_protected(summary)?;
        refuse(summary.fragments)
    };
    let (summary, _) = job.to_sink(protector, sink, accept)?;
    Ok(summary)
}

/// Why an initialization segment alone is refused.
const LONE_INIT: &str = "this is an initialization segment alone: under cbcs it holds the IV, which its \
    segments must share; give it with --iv, or join the segments to it first (cat init.mp4 *.m4s)";
