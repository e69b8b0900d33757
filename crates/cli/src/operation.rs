//! What is done to an input.

use lanelock_packager::{
    DecryptOptions, EncryptOptions, Error, Observer, Summary, decrypt, decrypt_segment, encrypt,
    encrypt_segment,
    io::{Sink, Source},
    rewrap,
};

/// What is done to an input.
#[derive(Debug)]
pub(crate) enum Operation {
    Encrypt(EncryptOptions),
    Decrypt(DecryptOptions),
    Rewrap(DecryptOptions, EncryptOptions),
}

impl Operation {
    /// What has been done to a track.
    pub(crate) fn verb(&self) -> &'static str {
        match self {
            Self::Encrypt(_) => "encrypted",
            Self::Decrypt(_) => "decrypted",
            Self::Rewrap(..) => "encrypted anew",
        }
    }

    /// Takes a file to a file.
    pub(crate) fn whole(
        &self,
        source: &dyn Source,
        sink: Box<dyn Sink>,
        observer: &dyn Observer,
    ) -> Result<Summary, Error> {
        match self {
            Self::Encrypt(options) => encrypt(source, sink, options, observer),
            Self::Decrypt(options) => decrypt(source, sink, options, observer),
            Self::Rewrap(from, to) => rewrap(source, sink, from, to, observer),
        }
    }

    /// Takes a media segment to one; its `moov` is in `init`.
    pub(crate) fn segment(
        &self,
        init: &dyn Source,
        segment: &dyn Source,
        sink: Box<dyn Sink>,
        observer: &dyn Observer,
    ) -> Result<Summary, Error> {
        match self {
            Self::Encrypt(options) => encrypt_segment(init, segment, sink, options, observer),
            Self::Decrypt(options) => decrypt_segment(init, segment, sink, options, observer),
            Self::Rewrap(..) => Err(Error::Options("rewrap takes no --init".into())),
        }
    }
}
