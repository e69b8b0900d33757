//! Reads and edits MP4, CMAF and QuickTime files (ISO/IEC 14496-12) with Common Encryption
//! (ISO/IEC 23001-7): boxes, sample tables and auxiliary information, without keys or ciphers.
//!
//! What an edit does not name keeps its bytes, so a file that is protected and unprotected is the file
//! it was. The model has three steps, and none of them touches media data:
//!
//! 1. *Find*: [`top_level`] walks the headers of a file, [`load`] reads one metadata box.
//! 2. *Understand*: [`Movie`] (a `moov`) and [`Fragment`] (a `moof`) are checked views. Sample
//!    tables stay in the bytes; [`Movie::samples`] and [`TrackFragment::samples`] iterate over
//!    them without allocating.
//! 3. *Edit*: functions in [`edit`] take a view and give the bytes of a new box. They splice:
//!    what they do not name, known or unknown, is copied byte for byte, and the sizes of the
//!    enclosing boxes are set right. [`compose`] makes boxes from nothing.
//!
//! Every file is treated as hostile. Counts are compared with the bytes that are left before
//! anything is allocated, sums are taken in 64 bits, nesting is limited, and an [`Error`] says
//! what is wrong, in which box (`moov/trak[1]/mdia/minf/stbl/stsz`) and at which byte.
//!
//! ```
//! use lanelock_mp4::{Fragment, Movie, ReadAt, load, top_level};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = "../../media/demo.mp4";
//! let file = std::fs::read(path)?; // or anything else that is `ReadAt`
//! let mut movie = None;
//! for header in top_level(&file) {
//!     let header = header?;
//!     match &header.kind.0 {
//!         b"moov" => movie = Some(Movie::parse(load(&file, &header)?, header.offset)?),
//!         b"moof" => {
//!             let movie = movie.as_ref().ok_or("moof before moov")?;
//!             let moof = load(&file, &header)?;
//!             let fragment = Fragment::parse(&moof, header.offset, movie, ReadAt::len(&file))?;
//!             for track in &fragment.tracks {
//!                 let bytes: u64 = track.samples().map(|sample| u64::from(sample.size)).sum();
//!                 assert_eq!(bytes, track.data_size);
//!             }
//!         }
//!         _ => {}
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Clause numbers in the documentation are those of ISO/IEC 14496-12 (the file format) and
//! ISO/IEC 23001-7 (Common Encryption).

#![forbid(unsafe_code)]

mod boxes;
pub mod compose;
pub mod edit;
mod error;
mod fourcc;
mod header;
mod items;
mod moof;
mod moov;
mod nesting;
mod path;
mod protection;
mod read_at;
mod source;
mod top_level;
mod writer;

pub use boxes::{BoxRef, Children};
pub use error::{Error, ErrorKind, Result};
pub use fourcc::{FourCc, FourCcError};
pub use items::item_extents;
pub use moof::{Base, Fragment, FragmentSamples, TrackFragment, TrackRun};
pub use moov::{
    AudioFacts, CodecConfig, Colour, DolbyVision, Edit, EsdsInfo, Media, Movie, Sample,
    SampleEntry, SamplePosition, Samples, Track, TrackDefaults, TrackKind, TrackRole, VideoFacts,
};
pub use nesting::MAX_DEPTH;
pub use protection::{
    AuxCursor, AuxInfo, COMMON_SYSTEM_ID, EncryptionRuns, Protection, Pssh, SampleAux,
    SampleAuxTable, StoredIv, Subsample, SubsampleMode, Subsamples, TrackEncryption,
};
pub use read_at::ReadAt;
pub use top_level::{
    BoxHeader, METADATA_CAP, TopLevel, load, load_into, top_level, top_level_from,
};

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
