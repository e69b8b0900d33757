//! Clips. Small ones are committed, so that no test of a media crate depends on
//! what else a machine has; longer ones of the same names are used as well
//! where they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::environment::{ffmpeg, repository, shared_dir, skip};
use crate::scratch::Scratch;

/// The progressive clips of `testkit/media`, whose README says what they are.
pub const CLIPS: [&str; 12] = [
    "aac.mp4",
    "ac3.mp4",
    "av1.mp4",
    "av1_tiles.mp4",
    "avc.mp4",
    "avc_aac.mp4",
    "avc_slices.mp4",
    "eac3.mp4",
    "flac.mp4",
    "hevc.mp4",
    "opus.mp4",
    "vp9.mp4",
];

/// Clips of `testkit/media` in codecs whose rules are experimental, and which few programs read.
pub const EXPERIMENTAL_CLIPS: [&str; 2] = ["vvc.mp4", "vvc_tiles.mp4"];

/// The source of all clips, longer and with surround sound; never committed.
pub const FILM: &str = "bigbuckbunny.mp4";

/// A file that a test works on.
#[derive(Clone, Debug)]
pub struct Clip {
    /// Such as `avc.mp4`.
    pub name: String,
    /// Where it is; to be used in messages, since names are not unique.
    pub path: PathBuf,
}

impl Clip {
    fn new(name: &str, path: PathBuf) -> Self {
        Self { name: name.into(), path }
    }

    /// The whole file.
    ///
    /// # Panics
    /// If it cannot be read.
    #[must_use]
    pub fn read(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap_or_else(|error| panic!("{}: {error}", self.path.display()))
    }
}

/// The committed clip of that name.
///
/// # Panics
/// If there is none: a checkout has them all.
#[must_use]
pub fn small_clip(name: &str) -> Clip {
    let path = repository().join("testkit/media").join(name);
    assert!(path.is_file(), "testkit/media has no {name}");
    Clip::new(name, path)
}

/// The longer clip called `name`, or [`FILM`]: from the folder
/// `.cache/media/codecs` that `tools/make-test-media` fills, else from
/// [`shared_dir`]. Its absence is listed as a skip.
#[must_use]
pub fn codec_clip(name: &str) -> Option<PathBuf> {
    let found = longer(name);
    if found.is_none() {
        skip(&format!("the longer {name} is absent (tools/make-test-media makes it)"));
    }
    found
}

/// The clip called `name` in every length there is: the committed one first.
#[must_use]
pub fn clips(name: &str) -> Vec<Clip> {
    let longer = codec_clip(name).map(|path| Clip::new(name, path));
    [small_clip(name)].into_iter().chain(longer).collect()
}

/// All [`CLIPS`] in every length there is, and the [`FILM`].
#[must_use]
pub fn all_clips() -> Vec<Clip> {
    let film = codec_clip(FILM).map(|path| Clip::new(FILM, path));
    CLIPS.iter().flat_map(|name| clips(name)).chain(film).collect()
}

/// The clip called `name` in the greatest length there is.
#[must_use]
pub fn longest_clip(name: &str) -> PathBuf {
    codec_clip(name).unwrap_or_else(|| small_clip(name).path)
}

/// `media/demo.mp4`: fragmented, AVC and AAC.
#[must_use]
pub fn demo_clip() -> PathBuf {
    repository().join("media/demo.mp4")
}

/// A clip of AVC and AAC of 1.2 s with pictures of this size, and a sync sample every 200 ms, made by ffmpeg. Its
/// absence is listed as a skip.
///
/// # Panics
/// If ffmpeg cannot be run.
#[must_use]
pub fn gop_clip(size: &str) -> Option<Vec<u8>> {
    let ffmpeg = ffmpeg()?;
    let dir = Scratch::new();
    let path = dir.file("clip.mp4");
    let run = Command::new(ffmpeg)
        .args(["-v", "error", "-y", "-f", "lavfi", "-i", &format!("testsrc2=s={size}:r=25:d=1.2")])
        .args(["-f", "lavfi", "-i", "sine=d=1.2", "-c:v", "libx264", "-g", "5"])
        .args(["-keyint_min", "5", "-sc_threshold", "0", "-c:a", "aac", "-shortest"])
        .arg(&path)
        .status();
    if !run.unwrap_or_else(|error| panic!("ffmpeg: {error}")).success() {
        skip("this ffmpeg has no libx264");
        return None;
    }
    Some(fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// A published encrypted file.
#[derive(Clone, Debug)]
pub struct ProtectedClip {
    /// The file.
    pub clip: Clip,
    /// The key of all its tracks, in hexadecimal digits.
    pub key: &'static str,
    /// [`fingerprint`](crate::fingerprint) of the payloads of all `mdat`, once
    /// decrypted, one after the other.
    pub clear_media: u64,
}

/// The published encrypted files of `testkit/media/protected`, whose README
/// says where they are from; all are fragmented.
#[must_use]
pub fn protected_clips() -> Vec<ProtectedClip> {
    [
        ("cbcs.mp4", "22bdb0063805260307ee5045c0f3835a", 0x182e_926a_a5e3_4c35),
        ("cbcs_audio.mp4", "5ffd93861fa776e96cccd934898fc1c8", 0x92fa_1d3c_a5d3_24e4),
        ("prog_8s_enc_dashinit.mp4", "63cb5f7184dd4b689a5c5ff11ee6a328", 0xd62b_32da_981a_c4f0),
    ]
    .into_iter()
    .map(|(name, key, clear_media)| ProtectedClip { clip: protected_clip(name), key, clear_media })
    .collect()
}

/// The published encrypted file of that name.
///
/// # Panics
/// If there is none: a checkout has them all.
#[must_use]
pub fn protected_clip(name: &str) -> Clip {
    let path = repository().join("testkit/media/protected").join(name);
    assert!(path.is_file(), "testkit/media/protected has no {name}");
    Clip::new(name, path)
}

fn longer(name: &str) -> Option<PathBuf> {
    let shared = shared_dir();
    let shared = shared.as_deref().map(|dir| dir.join("media"));
    [
        Some(repository().join(".cache/media/codecs")),
        shared.as_deref().map(|dir: &Path| dir.join("codecs")),
        shared,
    ]
    .into_iter()
    .flatten()
    .map(|dir| dir.join(name))
    .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clip_is_committed() {
        for name in CLIPS {
            assert_eq!(small_clip(name).read()[4..8], *b"ftyp", "{name}");
        }
        for protected in protected_clips() {
            assert_eq!(protected.clip.read()[4..8], *b"ftyp", "{}", protected.clip.name);
        }
        assert!(demo_clip().is_file());
    }

    #[test]
    fn clips_that_are_not_there_are_none() {
        assert!(longer("no such clip.mp4").is_none());
    }
}
