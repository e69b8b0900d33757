//! Encrypts, decrypts, packages and inspects MP4 and CMAF files by Common Encryption (ISO/IEC 23001-7): what
//! the command `lanelock` does, as a library.
//!
//! | to do | for paths | from any source to any sink ([`io`]) |
//! |---|---|---|
//! | encrypt a clear file | [`encrypt_file`] | [`encrypt`] |
//! | decrypt | [`decrypt_file`] | [`decrypt`] |
//! | change scheme, keys and `pssh` | [`rewrap_file`] | [`rewrap`] |
//! | say what a file is | [`inspect_file`] | [`inspect`] |
//! | say whether keys fit, without output | | [`check_keys`] |
//! | encrypt segments that are files of their own | | [`SegmentEncryptor`], [`encrypt_segment`] |
//! | plan a movie once, and make any segment of it | | [`MoviePlan`], [`Protection`] |
//! | make a stream for DASH and HLS of several inputs | | [`package::Package`] |
//!
//! ```
//! use lanelock_packager::{
//!     DecryptOptions, EncryptOptions, KeyMap, Quiet, Scheme, decrypt, encrypt,
//!     io::{MemorySink, MemorySource},
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // KID:KEY, for all tracks
//! let key = "00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0";
//! let mut keys = KeyMap::new();
//! keys.parse_insert(key)?;
//!
//! # let path = "tests/fixtures/avc_aac.frag.mp4";
//! let movie = std::fs::read(path)?;
//! let source = MemorySource::new("in.mp4", movie.clone());
//! let sink = MemorySink::new();
//! let options = EncryptOptions::new(Scheme::Cbcs, keys);
//! let summary = encrypt(&source, Box::new(sink.clone()), &options, &Quiet)?;
//! assert_eq!(summary.tracks.len(), 2);
//!
//! let encrypted = sink.into_bytes().ok_or("not complete")?;
//! let source = MemorySource::new("encrypted.mp4", encrypted);
//! let sink = MemorySink::new();
//! let options = DecryptOptions::new(vec![key.parse()?]);
//! decrypt(&source, Box::new(sink.clone()), &options, &Quiet)?;
//! assert!(sink.into_bytes() == Some(movie)); // bit for bit
//! # Ok(())
//! # }
//! ```
//!
//! # How a run goes
//! *Plan* reads metadata only and yields pieces (a fragment, a window of samples); each of several
//! workers takes one piece all the way: *read* it into one buffer, *map* its access units and give it
//! its place in the output (in file order), *protect* it in place, *write* it. Memory is a few pieces,
//! never the file ([`EncryptOptions::memory`]). The output appears under its name when all of it is
//! written, or not at all.
//!
//! Everything fails closed: what was asked to be protected is protected, or there is no output. An
//! [`Error`] says what is wrong, where, and what to do about it. An [`Observer`] sees progress and
//! warnings, and may end a run.

#![forbid(unsafe_code)]

mod choices;
mod claims;
mod codec;
mod decrypt;
pub mod drm;
mod encrypt;
mod error;
mod evidence;
mod foreign;
mod frames;
mod index;
mod inspect;
pub mod io;
mod key_text;
mod keys;
mod media_facts;
mod options;
pub mod package;
mod piece;
mod pipeline;
mod place;
mod plan;
mod rewrap;
mod schedule;
mod selection;
mod selector;
mod skeleton;
mod summary;
mod text;
mod track_facts;
mod tracks;

pub use claims::{UnclaimedMedia, UnclaimedPolicy, UnclaimedRange};
pub use decrypt::{check_keys, check_segment_keys, decrypt, decrypt_file, decrypt_segment};
pub use encrypt::{Protection, SegmentEncryptor, encrypt, encrypt_file, encrypt_segment};
pub use error::{Error, Place};
pub use evidence::{KeyReport, KeyVerdict};
pub use inspect::{
    FragmentReport, ProtectionReport, PsshReport, Report, TrackReport, inspect, inspect_file,
    inspect_segment,
};
pub use key_text::KeyError;
pub use keys::{Key, KeyLine, KeyMap};
pub use lanelock_cenc::Scheme;
pub use lanelock_mp4::FourCc;
pub use options::{
    Choice, DecryptOptions, EncryptOptions, IndexPolicy, Iv, Layout, Observer, PlanOptions, Quiet,
    Writes,
};
pub use plan::{MoviePlan, PlannedSegment, SegmentTrack};
pub use rewrap::{rewrap, rewrap_file};
pub use schedule::{ClearLead, KeyPeriods};
pub use selector::{PictureClass, PictureLimits, Selector, SelectorError};
pub use summary::{Summary, Times, TrackSummary};
pub use track_facts::{TrackFacts, TrackFilter, TrackSort};

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
