//! Subsample maps: which bytes of an access unit stay clear and which are protected.
//!
//! Common Encryption (ISO/IEC 23001-7) leaves everything clear that a packager, a demultiplexer or
//! a hardware decoder must read before it holds the key: lengths, the headers of units (NAL units,
//! OBUs, frames), parameter sets, and slice and frame headers. What is protected are slice data, tiles,
//! and in VP9 the compressed header with them. This module only *maps*; it never touches a byte of
//! the unit and holds no key.
//!
//! - [`Mapper`] is what a packager uses (and has an example): one per track, built from the codec configuration
//!   record, fed with access units in decoding order.
//! - [`Codec`] is the table of sample entries, and of the rules for them.
//! - [`UnitBytes`] is an access unit that need not be in memory: a map asks for the heads of its
//!   units.
//! - [`AccessUnitMap`] is the seam for codecs: it turns a unit into runs; [`Runs`] turns runs into
//!   `senc` entries by the rules of clause 7.2 and of the [`Alignment`] in force. [`Mapper::with`]
//!   takes any.
//!
//! # Decisions
//!
//! - *Fail closed.* A slice header that cannot be read to its last bit is an error, never a guess,
//!   and the unit is not left clear.
//! - *Lengths are counted in the sample.* Emulation prevention bytes (`00 00 03`) inside a slice
//!   header belong to the clear bytes. The byte in which the header ends is clear.
//! - *Short slices.* With [`Alignment::Exact`] (`cbcs`) a slice with 1..=15 bytes after its header
//!   is listed as protected although no whole block of it can be encrypted; Shaka Packager 3.8
//!   does the same. With [`Alignment::Blocks`] it is clear.
//! - *Zero-length NAL units* and padding behind the last NAL unit are errors, as they are for
//!   Shaka Packager 3.8 and for `FFmpeg`, which cannot decode units with the former.
//! - *Slices* are AVC types 1..=5, HEVC types below 32 and VVC types below 12. Types that carry pictures but whose
//!   headers are not read (other layers and views, auxiliary pictures, reserved VCL types) are
//!   errors. Every other type is clear, unspecified types included.
//! - *AV1* follows its binding: a range for every tile; under `cenc` it ends with the tile, and tiles
//!   of less than 16 bytes are clear. *VP9* has a range of whole blocks for every frame: under `cbcs`
//!   it begins behind the uncompressed header (as with Shaka Packager 3.8), otherwise it ends with the
//!   frame (as its binding has it).
//! - *AC-4* has its table of contents clear, and all behind it protected.
//! - *Frames that have not been seen.* A header of AV1 or VP9 whose length depends on a reference frame
//!   that was not mapped before is an error. Where it does not, the walk goes on: a track may begin
//!   anywhere.
//! - *Too many entries* for `saiz` are an error. (Shaka Packager 3.8 writes a wrapped size.)
//! - *Parameter sets inside access units* (`avc3`, `hev1`, `vvi1`) take effect where they stand. A set that
//!   cannot be read is an error even if no slice refers to it.

#![forbid(unsafe_code)]

mod ac4;
mod av1;
mod avc;
mod bits;
mod codec;
mod error;
mod hevc;
mod mapper;
mod nal;
mod runs;
mod signal;
mod unit;
mod vp9;
mod vvc;

pub use ac4::Ac4Map;
pub use av1::Av1Map;
pub use avc::AvcMap;
pub use codec::Codec;
pub use error::{MapError, ParameterSet, UnitPlace, UnitSource};
pub use hevc::HevcMap;
pub use mapper::Mapper;
pub use runs::Runs;
pub use unit::{AccessUnitMap, UnitBytes};
pub use vp9::Vp9Map;
pub use vvc::VvcMap;

/// One entry of a subsample map as `senc` stores it (ISO/IEC 23001-7 clause 7.2): clear bytes,
/// then protected bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Subsample {
    /// `BytesOfClearData`.
    pub clear: u16,
    /// `BytesOfProtectedData`.
    pub protected: u32,
}

/// How the protected part of a slice lies in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Alignment {
    /// Protection begins right after the slice header and ends with the NAL unit, whatever the
    /// length (`cbcs`; ISO/IEC 23001-7 clause 9.6, ISO/IEC 23000-19 clause 8.2).
    Exact,
    /// The protected part is a multiple of 16 bytes that ends with the NAL unit; the remainder
    /// joins the clear bytes in front of it (`cenc`, `cens`, `cbc1`).
    Blocks,
}

/// The largest number of entries per access unit that `saiz` can describe: its
/// `sample_info_size` is one byte (ISO/IEC 14496-12 clause 8.7.8) and covers the IV, a two-byte
/// count and six bytes per entry. 42, 40 and 39 entries for IVs of 0, 8 and 16 bytes.
pub const fn max_entries(per_sample_iv_size: u8) -> usize {
    (u8::MAX - 2).saturating_sub(per_sample_iv_size) as usize / 6
}
