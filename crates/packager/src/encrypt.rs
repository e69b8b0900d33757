//! Stand-in while the pieces are put together.
use crate::{EncryptOptions, Error, Observer, Summary};
use std::path::Path;

/// Encrypts `input` to `output`.
pub fn encrypt(
    input: &Path,
    output: &Path,
    options: &EncryptOptions,
    observer: &dyn Observer,
) -> Result<Summary, Error> {
    let _ = (input, output, options, observer);
    Err(Error::Options("under construction".into()))
}
