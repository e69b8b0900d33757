//! What can be wrong with a call.

use core::fmt;

use lanelock_isa::{AesLevel, LevelError};

/// An error of the engine. It carries no secret and no text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The two keys of XTS must differ (NIST SP 800-38E, FIPS 140 implementation guidance A.9).
    EqualKeys,
    /// The data of ECB and CBC must be whole blocks of 16 bytes.
    PartialBlock,
    /// The algorithm takes no nonce of that length.
    NonceLength,
    /// The algorithm has no tag of that length, or the key was made for another.
    TagLength,
    /// The output has not the length that belongs to the input.
    OutputLength,
    /// The message has a length that the algorithm does not take: too long for its security bound, or
    /// too short.
    MessageLength,
    /// The additional authenticated data is longer than the algorithm takes.
    AadLength,
    /// The tag, or the check value of a wrapped key, is wrong: the message, the AAD, the nonce or the
    /// key is not that of the sender.
    Authentication,
    /// The message is finished, or its opening has failed: its sealer, opener or MAC takes no more. Another
    /// message needs another one.
    Finished,
    /// The key has done all that it safely can: see `KeyUsage`.
    KeyExhausted,
    /// The buffer of a job changed its length, or panicked, while a scheduler was at work: that scheduler
    /// takes no more jobs and hands out none that it has not finished.
    Poisoned,
    /// The instruction-set level asked for is unknown or not available, or `LANELOCK_LEVEL` has another
    /// mistake. The message lists the levels of AES; [`LevelError`] names the mistake.
    Level,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::Level {
            f.write_str(
                "LANELOCK_LEVEL, or the instruction-set level asked for, is wrong; levels of AES here:",
            )?;
            return AesLevel::available().iter().try_for_each(|level| write!(f, " {level}"));
        }
        f.write_str(match self {
            Self::EqualKeys => "the two keys of XTS must differ",
            Self::PartialBlock => "the data must be whole blocks of 16 bytes",
            Self::NonceLength => "the nonce has a length that the algorithm does not take",
            Self::TagLength => "the tag has a length that the algorithm or the key does not take",
            Self::OutputLength => "the output has not the length that belongs to the input",
            Self::MessageLength => "the message has a length that the algorithm does not take",
            Self::AadLength => "the additional authenticated data is too long",
            Self::Authentication => "the message is not authentic",
            Self::Finished => "the message is finished: its sealer, opener or MAC takes no more",
            Self::KeyExhausted => "the key has reached its usage limit",
            Self::Poisoned => {
                "the scheduler stopped: the buffer of a job changed its length or panicked"
            }
            Self::Level => "",
        })
    }
}

impl core::error::Error for Error {}

impl From<LevelError> for Error {
    fn from(_: LevelError) -> Self {
        Self::Level
    }
}
