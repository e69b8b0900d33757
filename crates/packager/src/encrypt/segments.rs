//! Encryption of segments that are files of their own.

use std::time::Instant;

use lanelock_cenc::Scheme;
use lanelock_core::AesLevel;

use super::{Job, run::NOTHING};
use crate::{
    EncryptOptions, Error, Iv, Observer, Summary,
    io::{Input, Sink, Source},
    selection::Purpose,
    skeleton::Skeleton,
    tracks::Protector,
};

/// Encrypts an initialization segment and the media segments that stand beside it, one by one, as if
/// they were one file: one IV under `cbcs`, and IVs that go on from segment to segment under the other
/// schemes. The `moov` in the initialization segment is clear.
///
/// ```no_run
/// use lanelock_packager::{
///     EncryptOptions, KeyMap, Quiet, Scheme, SegmentEncryptor,
///     io::{FileSink, FileSource},
/// };
/// # use std::path::Path;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let keys = KeyMap::new();
/// let init = FileSource::open(Path::new("in/init.mp4"))?;
/// let mut encryptor = SegmentEncryptor::new(&init, EncryptOptions::new(Scheme::Cenc, keys))?;
/// let sink = FileSink::create(Path::new("out/init.mp4"), &[&init])?;
/// encryptor.init(Box::new(sink), &Quiet)?;
/// for name in ["1.m4s", "2.m4s"] {
///     let segment = FileSource::open(&Path::new("in").join(name))?;
///     let sink = FileSink::create(&Path::new("out").join(name), &[&init, &segment])?;
///     encryptor.segment(&segment, Box::new(sink), &Quiet)?; // IVs go on from segment to segment
/// }
/// encryptor.finish()?; // an error if nothing was protected
/// # Ok(())
/// # }
/// ```
pub struct SegmentEncryptor<'a> {
    init: &'a dyn Source,
    options: EncryptOptions,
    protector: Protector,
    /// How many were protected so far.
    access_units: u64,
}

impl<'a> SegmentEncryptor<'a> {
    /// Reads the initialization segment, and chooses the IV.
    pub fn new(init: &'a dyn Source, options: EncryptOptions) -> Result<Self, Error> {
        let input = Input::new(init);
        let skeleton = Skeleton::of_init(&input)?;
        let level = AesLevel::best()?;
        let protector = Protector::new(&input, &skeleton.movie, &options, level, Purpose::Encrypt)?;
        Ok(Self { init, options, protector, access_units: 0 })
    }

    /// Encrypts the initialization segment.
    pub fn init(&mut self, sink: Box<dyn Sink>, observer: &dyn Observer) -> Result<Summary, Error> {
        let input = Input::new(self.init);
        self.run(&input, &Skeleton::of_init(&input)?, sink, observer, || Ok(()))
    }

    /// Encrypts the next media segment.
    pub fn segment(
        &mut self,
        segment: &dyn Source,
        sink: Box<dyn Sink>,
        observer: &dyn Observer,
    ) -> Result<Summary, Error> {
        let (init, input) = (Input::new(self.init), Input::new(segment));
        let skeleton = Skeleton::of_segment(&init, &input)?;
        self.run(&input, &skeleton, sink, observer, || init.check_unchanged())
    }

    /// Refuses segments of which none has an access unit of a track to encrypt: nothing was protected.
    /// A single one may have none, say where audio starts late.
    pub fn finish(self) -> Result<(), Error> {
        if self.access_units == 0 {
            return Err(Input::new(self.init).unsuitable(NOTHING));
        }
        Ok(())
    }

    /// The output is finished if `accept` has no objection.
    fn run(
        &mut self,
        input: &Input<'_>,
        skeleton: &Skeleton,
        sink: Box<dyn Sink>,
        observer: &dyn Observer,
        accept: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Summary, Error> {
        let job = Job {
            input,
            skeleton,
            clear: &skeleton.movie,
            decryption: None,
            options: &self.options,
            observer,
            start: Instant::now(),
        };
        let (summary, done) = job.to_sink(self.protector.again(), sink, |_| accept())?;
        self.protector = done;
        self.access_units += summary.access_units;
        Ok(summary)
    }
}

/// Encrypts a media segment that stands alone, and whose `moov` is in the clear initialization segment
/// `init`. What `init` becomes, [`encrypt`](fn@crate::encrypt) makes of it with the same options: under
/// `cbcs` these must have the IV, under the other schemes they must not, since two segments would share
/// it.
pub fn encrypt_segment(
    init: &dyn Source,
    segment: &dyn Source,
    sink: Box<dyn Sink>,
    options: &EncryptOptions,
    observer: &dyn Observer,
) -> Result<Summary, Error> {
    let input = Input::new(segment);
    if options.key_periods.rotate() || !options.clear_lead.is_zero() {
        return Err(input.unsuitable(
            "this is a segment alone: which key period it is in, and whether in the clear lead, is known \
             only behind the first one; encrypt all segments together",
        ));
    }
    if options.scheme == Scheme::Cbcs && options.iv == Iv::Random {
        return Err(input.unsuitable(
            "this is a segment alone: under cbcs its initialization segment holds the IV, which all \
             segments must share; give it with --iv, or encrypt them all together",
        ));
    }
    if options.scheme != Scheme::Cbcs && options.iv != Iv::Random {
        return Err(input.unsuitable(format!(
            "this is a segment alone: under {} its IVs begin at random, for with a given IV two \
             segments would be encrypted alike; leave out --iv, or encrypt all segments together",
            options.scheme
        )));
    }
    SegmentEncryptor::new(init, options.clone())?.segment(segment, sink, observer)
}
