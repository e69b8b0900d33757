//! Edits: each takes a parsed box and gives the bytes of a new one.
//!
//! All of them splice: boxes and fields an edit does not name keep their bytes. Protecting and
//! then unprotecting gives the bytes one began with.

mod fragment;
mod ftyp;
mod index;
mod init;
mod moves;
mod movie;
mod quicktime;
mod relocate;
mod slices;
mod splice;

pub use fragment::{FragmentEdit, Protect};
pub use ftyp::{fragmented_ftyp, iso_ftyp};
pub use index::{SidxRange, SidxView, parse_sidx, patch_mfra, patch_sidx};
pub use init::fragment_movie;
pub use moves::RunOffsets;
pub use movie::{KeepPssh, ProtectTrack, protect_movie, unprotect_movie};
pub use quicktime::iso_movie;
pub use relocate::{relocate_meta, relocate_movie};
pub use slices::{SampleInfoPosition, SampleInfoSlicer};

pub use crate::protection::WriteAux;
