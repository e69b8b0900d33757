//! Common Encryption metadata (ISO/IEC 23001-7): what is read and written per track,
//! per sample group and per sample.

mod aux_boxes;
mod aux_info;
mod aux_ranges;
mod encryption;
mod groups;
mod piff;
mod pssh;
mod saiz_saio;
mod senc;
mod sinf;
mod table;

pub use aux_info::{AuxCursor, AuxInfo, SampleAux, Subsample, Subsamples};
pub use encryption::{StoredIv, TrackEncryption};
pub use groups::EncryptionRuns;
pub use pssh::{COMMON_SYSTEM_ID, Pssh};
pub use sinf::Protection;
pub use table::{SampleAuxTable, SubsampleMode, WriteAux};

pub(crate) use aux_boxes::{AuxBoxes, is_protection_box};
pub(crate) use aux_ranges::aux_ranges;
pub(crate) use groups::{Descriptions, SeigMap, is_seig, movie_runs, refuse_compact};
pub(crate) use pssh::is_pssh;
pub(crate) use saiz_saio::Saio;
pub(crate) use sinf::put_sinf;
pub(crate) use table::{Offset, put_empty_senc, put_saio, put_seig};
