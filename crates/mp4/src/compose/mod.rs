//! Boxes made from nothing: `ftyp`, `moof`, `sidx`, `mfra`.

mod ftyp;
mod index;
mod moof;

pub use ftyp::ftyp;
pub use index::{IndexedTrack, MfraTrack, SegmentIndex, SidxReference, mfra, sidx};
pub use moof::{NewSample, NewTrackFragment, moof};
