//! Which paths are URLs.

use std::path::Path;

/// The URL in the place of a path, if it is one that a build with the feature takes.
pub(crate) fn url(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let schemes = ["s3://", "gs://", "az://", "http://", "https://"];
    schemes.iter().any(|scheme| text.starts_with(scheme)).then_some(text)
}
