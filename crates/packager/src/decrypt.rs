//! Stand-in while the pieces are put together.
use crate::{DecryptOptions, Error, Observer, Summary};
use std::path::Path;

/// Decrypts `input` to `output`.
pub fn decrypt(
    input: &Path,
    output: &Path,
    options: &DecryptOptions,
    observer: &dyn Observer,
) -> Result<Summary, Error> {
    let _ = (input, output, options, observer);
    Err(Error::Options("under construction".into()))
}
