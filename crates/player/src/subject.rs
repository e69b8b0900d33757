//! What is played.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::files;

/// Why there is nothing to play, or no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder cannot be read.
    #[error("cannot read {name}")]
    Read {
        /// Its name.
        name: String,
        /// The reason.
        #[source]
        error: io::Error,
    },
    /// The folder has no manifest.
    #[error("{name}: there is no manifest (.mpd, .m3u8) in this folder")]
    NoManifest {
        /// The folder.
        name: String,
    },
    /// The file is nothing that can be played.
    #[error(
        "{name}: this is neither a manifest (.mpd, .m3u8) nor an MP4 file (.mp4, .m4v, .m4a, .cmfv, .cmfa)"
    )]
    NotAStream {
        /// The file.
        name: String,
    },
    /// The URL is none that a browser can fetch.
    #[error("{url}: this is not the URL of a manifest (http:// or https://, .mpd or .m3u8)")]
    Url {
        /// The URL.
        url: String,
    },
    /// The system gives no random numbers.
    #[error("the random generator of the system cannot be read: {reason}")]
    Random {
        /// The reason.
        reason: String,
    },
    /// The server cannot listen.
    #[error("cannot listen on 127.0.0.1:{port}")]
    Listen {
        /// The port; 0 is any.
        port: u16,
        /// The reason.
        #[source]
        error: io::Error,
    },
}

/// What is played: a folder with its manifests, a file, or a manifest elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// For people.
    pub(crate) name: String,
    /// What the page may choose from, the first first: URLs, relative ones below `/stream/`.
    pub(crate) manifests: Vec<String>,
    /// The folder that is served, canonical.
    pub(crate) root: Option<PathBuf>,
}

impl Subject {
    /// A folder with manifests, or one file of it: a manifest, or an MP4 file.
    ///
    /// # Errors
    /// It cannot be read, or there is nothing in it that could be played.
    pub fn of_path(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let read = |error| Error::Read { name: name.clone(), error };
        let whole = path.canonicalize().map_err(read)?;
        if whole.is_dir() {
            let manifests = manifests(&whole).map_err(read)?;
            if manifests.is_empty() {
                return Err(Error::NoManifest { name });
            }
            return Ok(Self { name, manifests, root: Some(whole) });
        }
        // Only what the page knows how to begin with.
        let begins = |kind: &str| !matches!(kind, "video/iso.segment" | "application/mp4");
        let captions = |kind: &str| kind.starts_with("text/") || kind.contains("ttml");
        let known = files::media_type(&whole).is_some_and(|kind| begins(kind) && !captions(kind));
        let file = whole.file_name().and_then(|file| file.to_str());
        let (Some(root), Some(file), true) = (whole.parent(), file, known) else {
            return Err(Error::NotAStream { name });
        };
        Ok(Self { name, manifests: vec![in_stream(file)], root: Some(root.to_owned()) })
    }

    /// A manifest that the browser fetches from where it is.
    ///
    /// # Errors
    /// It is not the URL of a manifest.
    pub fn of_url(url: &str) -> Result<Self, Error> {
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let fetched = path.split_once("://").is_some_and(|(scheme, rest)| {
            let web = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
            web && rest.contains('/')
        });
        let plain = !url.chars().any(|c| c.is_whitespace() || c.is_control());
        if !fetched || !plain || !is_manifest(Path::new(path)) {
            return Err(Error::Url { url: url.to_owned() });
        }
        Ok(Self { name: url.to_owned(), manifests: vec![url.to_owned()], root: None })
    }
}

fn in_stream(file: &str) -> String {
    format!("stream/{}", files::escape(file))
}

fn is_manifest(path: &Path) -> bool {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    ["mpd", "m3u8"].iter().any(|known| end.eq_ignore_ascii_case(known))
}

/// The manifests of a folder by name, DASH first: playlists of one track only if there is nothing else.
fn manifests(folder: &Path) -> io::Result<Vec<String>> {
    let (mut dash, mut hls, mut media) = (Vec::new(), Vec::new(), Vec::new());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if !is_manifest(&path) || name.starts_with('.') || !path.is_file() {
            continue;
        }
        if name.to_ascii_lowercase().ends_with(".mpd") {
            dash.push(name.to_owned());
        } else if is_multivariant(&path) {
            hls.push(name.to_owned());
        } else {
            media.push(name.to_owned());
        }
    }
    if dash.is_empty() && hls.is_empty() {
        hls = media;
    }
    dash.sort_unstable();
    hls.sort_unstable();
    Ok(dash.iter().chain(&hls).map(|name| in_stream(name)).collect())
}

/// Whether a playlist is one of variants (RFC 8216, 4.3.4.2). What cannot be read is for the page to say.
fn is_multivariant(path: &Path) -> bool {
    let text = fs::read(path).unwrap_or_default();
    text.split(|&byte| byte == b'\n').any(|line| line.starts_with(b"#EXT-X-STREAM-INF"))
}
