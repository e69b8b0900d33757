//! Boxes made from nothing: `ftyp`, `moof`, `sidx`, `mfra`, and a whole file of text.
//!
//! ```
//! use lanelock_mp4::{FourCc, compose::{NewSample, NewTrackFragment, ftyp, moof}};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let head = ftyp(FourCc(*b"iso6"), 0, &[FourCc(*b"cmfc")]);
//! assert_eq!(head[4..12], *b"ftypiso6");
//!
//! // A fragment of one track, whose two samples are in the `mdat` right behind it.
//! let sample = |size| NewSample { size, duration: 512, flags: 0, composition_offset: 0 };
//! let samples = [sample(700), sample(300)];
//! let track = NewTrackFragment::new(1, 90_000, &samples, 8);
//! assert_eq!(moof(7, &[track], &[])?[4..8], *b"moof"); // sequence number 7
//! # Ok(())
//! # }
//! ```

mod ftyp;
mod index;
mod moof;
mod text_movie;

pub use ftyp::ftyp;
pub use index::{IndexedTrack, MfraTrack, SegmentIndex, SidxReference, mfra, sidx};
pub use moof::{NewSample, NewTrackFragment, moof};
pub use text_movie::{NewTextTrack, TextSample, text_movie};
