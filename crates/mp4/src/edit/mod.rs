//! Edits: each takes a parsed box and gives the bytes of a new one.
//!
//! All of them splice: boxes and fields an edit does not name keep their bytes. Protecting and
//! then unprotecting gives the bytes one began with.
//!
//! ```
//! use lanelock_mp4::{
//!     FourCc, Movie, Pssh, StoredIv, TrackEncryption,
//!     edit::{KeepPssh, ProtectTrack, protect_movie, unprotect_movie},
//!     load, top_level,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let file = std::fs::read("../../media/demo.mp4")?;
//! # let is_moov = |header: &lanelock_mp4::BoxHeader| header.kind == FourCc(*b"moov");
//! # let header = top_level(&file).filter_map(Result::ok).find(is_moov).ok_or("no moov")?;
//! let movie = Movie::parse(load(&file, &header)?, header.offset)?;
//! let (kid, iv) = ([1; 16], StoredIv::new(&[2; 16]).ok_or("8 or 16 bytes")?);
//! let encryption = TrackEncryption::constant(kid, iv).with_pattern(1, 9);
//! let video = ProtectTrack::new(movie.tracks[0].id, FourCc(*b"cbcs"), encryption);
//! let protected = protect_movie(&movie, &[video], &[&Pssh::common(&[kid]).raw])?;
//!
//! let movie = Movie::parse(protected, header.offset)?;
//! assert!(movie.tracks[0].is_protected());
//! assert!(unprotect_movie(&movie, None, KeepPssh::No)? == load(&file, &header)?);
//! # Ok(())
//! # }
//! ```

mod fragment;
mod ftyp;
mod index;
mod init;
mod joined;
mod moves;
mod movie;
mod quicktime;
mod relocate;
mod single;
mod slices;
mod splice;

pub use fragment::{FragmentEdit, Protect};
pub use ftyp::{fragmented_ftyp, iso_ftyp};
pub use index::{SidxRange, SidxView, parse_sidx, patch_mfra, patch_sidx};
pub use init::fragment_movie;
pub use joined::SampleInfoJoiner;
pub use moves::RunOffsets;
pub use movie::{KeepPssh, ProtectTrack, protect_movie, unprotect_movie};
pub use quicktime::iso_movie;
pub use relocate::{relocate_meta, relocate_movie};
pub use single::{SingleEdit, single_track};
pub use slices::{SampleInfoPosition, SampleInfoSlicer};

pub use crate::protection::WriteAux;
