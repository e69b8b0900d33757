//! Subsample maps: which bytes of an access unit stay clear and which are protected.
//!
//! Common Encryption (ISO/IEC 23001-7) leaves everything clear that a packager, a demultiplexer or
//! a hardware decoder must read before it holds the key: NAL length fields, NAL headers, every
//! non-VCL NAL unit and the complete slice header of every VCL NAL unit. The rest of a slice is
//! protected. This module only *maps*; it never touches a byte of the unit and holds no key.
//!
//! - [`Mapper`] is what a packager uses (and has an example): one per track, built from the codec configuration
//!   record, fed with access units in decoding order.
//! - [`UnitBytes`] is an access unit that need not be in memory: a map asks for the heads of its
//!   NAL units.
//! - [`AccessUnitMap`] is the seam for codecs: it turns a unit into runs; [`Runs`] turns runs into
//!   `senc` entries by the rules of clause 7.2 and of the [`Alignment`] in force.
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
//! - *Slices* are AVC types 1..=5 and HEVC types below 32. Types that carry pictures but whose
//!   headers are not read (other layers and views, auxiliary pictures, reserved VCL types) are
//!   errors. Every other type is clear, unspecified types included.
//! - *Too many entries* for `saiz` are an error. (Shaka Packager 3.8 writes a wrapped size.)
//! - *Parameter sets inside access units* (`avc3`, `hev1`) take effect where they stand. A set that
//!   cannot be read is an error even if no slice refers to it.

#![forbid(unsafe_code)]

mod avc;
mod bits;
mod error;
mod hevc;
mod nal;
mod runs;

pub use avc::AvcMap;
pub use error::{MapError, NalPlace, NalSource, ParameterSet};
pub use hevc::HevcMap;
pub use runs::Runs;

use core::ops::Range;

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

/// The bytes of an access unit, as far as a map asks for them: a slice, or a file of which only
/// the heads of NAL units are to be read.
///
/// Each range begins at a NAL unit, and NAL units come in order. One whose header does not end in
/// what was asked for is asked for again, twice as much. A range may reach into the next NAL unit.
#[expect(clippy::len_without_is_empty, reason = "a map asks for the length alone")]
pub trait UnitBytes {
    /// Why bytes cannot be had, or why they cannot be mapped.
    type Error: From<MapError>;

    /// The length of the access unit.
    fn len(&self) -> usize;

    /// How many bytes of a NAL unit to ask for at first, besides its length field. The default
    /// covers slice headers, unless they have many entry points or weights, and parameter sets.
    fn head(&self) -> usize {
        256
    }

    /// The bytes of `range`, neither more nor fewer. The range lies in the access unit.
    ///
    /// # Errors
    /// When the bytes cannot be had; the map ends with this error.
    fn get(&mut self, range: Range<usize>) -> Result<&[u8], Self::Error>;
}

/// A unit in memory: NAL units are read whole.
impl UnitBytes for &[u8] {
    type Error = MapError;

    fn len(&self) -> usize {
        <[u8]>::len(self)
    }

    fn head(&self) -> usize {
        usize::MAX
    }

    fn get(&mut self, range: Range<usize>) -> Result<&[u8], MapError> {
        Ok(&self[range])
    }
}

/// Codec rules: the walk over one access unit.
///
/// Implementations report the unit's bytes to `runs` from first to last, each exactly once. They
/// may carry state (parameter sets) from one unit to the next and must not panic on any input.
/// What they report, learn and refuse does not depend on [`UnitBytes::head`].
pub trait AccessUnitMap {
    /// Reports the clear and the protected runs of `unit`.
    ///
    /// # Errors
    /// When the unit cannot be read to the point where its protected bytes are certain. What was
    /// reported to `runs` by then is discarded; state learnt from the unit may remain.
    fn walk<U: UnitBytes>(&mut self, unit: &mut U, runs: &mut Runs<'_>) -> Result<(), U::Error>;
}

/// The subsample mapper of one track.
///
/// ```
/// use lanelock_cenc::{Scheme, map::{MapError, Mapper, Subsample}};
///
/// # fn main() -> Result<(), MapError> {
/// # const AVCC: &[u8] = b"\x01\x42\xc0\x0a\xff\xe1\x00\x08\x67\x42\xc0\x0a\xda\x8c\xe9\x00\x01\x00\x04\x68\xce\x0f\xc8";
/// # let mut unit = vec![0, 0, 0, 102, 0x65, 0xb8];
/// # unit.resize(106, 0x5a);
/// let mut mapper = Mapper::avc(AVCC)?; // the payload of `avcC`
/// let mut entries = Vec::new();
/// let count = mapper.map(&unit, Scheme::Cbcs.alignment(), &mut entries)?; // in decoding order
/// let total = |entry: &Subsample| u64::from(entry.clear) + u64::from(entry.protected);
/// assert_eq!(entries[..count].iter().map(total).sum::<u64>(), unit.len() as u64);
///
/// let mut mapper = Mapper::full_sample(); // audio: whole, which needs no entries
/// assert_eq!(mapper.map(b"an audio frame", Scheme::Cbcs.alignment(), &mut entries)?, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Mapper {
    codec: Codec,
    max_entries: usize,
}

impl Mapper {
    /// A mapper for AVC from the payload of `avcC`, an `AVCDecoderConfigurationRecord`
    /// (ISO/IEC 14496-15 clause 5.3.3.1).
    ///
    /// # Errors
    /// When the record or a parameter set in it cannot be read.
    pub fn avc(avcc: &[u8]) -> Result<Self, MapError> {
        Ok(Self::of(Codec::Avc(AvcMap::new(avcc)?)))
    }

    /// A mapper for HEVC from the payload of `hvcC`, an `HEVCDecoderConfigurationRecord`
    /// (ISO/IEC 14496-15 clause 8.3.3.1).
    ///
    /// # Errors
    /// When the record or a parameter set in it cannot be read.
    pub fn hevc(hvcc: &[u8]) -> Result<Self, MapError> {
        Ok(Self::of(Codec::Hevc(HevcMap::new(hvcc)?)))
    }

    /// A mapper for codecs protected as a whole (audio): it lists no entries at all, which is how
    /// `senc` says "the whole sample" (ISO/IEC 23001-7 clause 9.5.1).
    pub const fn full_sample() -> Self {
        Self::of(Codec::FullSample)
    }

    /// Whether access units have subsamples; without, they are protected whole.
    pub const fn has_subsamples(&self) -> bool {
        !matches!(self.codec, Codec::FullSample)
    }

    /// The same mapper with another limit on entries per access unit; see [`max_entries`] (the
    /// function) for what `saiz` allows. New mappers allow 42: no per-sample IV.
    #[must_use]
    pub const fn with_max_entries(mut self, limit: usize) -> Self {
        self.max_entries = limit;
        self
    }

    /// Appends the entries of `access_unit` to `out` and returns their number. The entries' bytes
    /// add up to the unit's length, except that a full-sample track and an empty unit have no
    /// entries.
    ///
    /// Units must come in decoding order when parameter sets may stand among them.
    ///
    /// # Errors
    /// When the unit cannot be mapped with certainty, or needs more entries than allowed; `out` is
    /// then as before.
    pub fn map(
        &mut self,
        mut access_unit: &[u8],
        rule: Alignment,
        out: &mut Vec<Subsample>,
    ) -> Result<usize, MapError> {
        self.map_bytes(&mut access_unit, rule, out)
    }

    /// The same as [`map`](Self::map) for a unit that need not be in memory. Of NAL units only the
    /// heads are asked for; nothing at all if the track is protected whole.
    ///
    /// # Errors
    /// As for `map`, and when bytes cannot be had. Parameter sets that the unit held before the
    /// error remain, so that the unit cannot be mapped a second time.
    ///
    /// # Panics
    /// When [`UnitBytes::get`] returns more or fewer bytes than it was asked for.
    pub fn map_bytes<U: UnitBytes>(
        &mut self,
        unit: &mut U,
        rule: Alignment,
        out: &mut Vec<Subsample>,
    ) -> Result<usize, U::Error> {
        let start = out.len();
        let mut runs = Runs::new(rule, out);
        let walked = match &mut self.codec {
            Codec::Avc(avc) => avc.walk(unit, &mut runs),
            Codec::Hevc(hevc) => hevc.walk(unit, &mut runs),
            Codec::FullSample => Ok(()),
        };
        let entries = runs.finish();
        let result = walked.and_then(|()| {
            if entries > self.max_entries {
                Err(MapError::TooManyEntries { entries, limit: self.max_entries }.into())
            } else {
                Ok(entries)
            }
        });
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    /// Whether slice data are surely coded with CABAC: always in HEVC, and in AVC if every picture
    /// parameter set in force says so (`entropy_coding_mode_flag`).
    pub fn is_cabac(&self) -> bool {
        match &self.codec {
            Codec::Avc(avc) => avc.is_cabac(),
            Codec::Hevc(_) => true,
            Codec::FullSample => false,
        }
    }

    const fn of(codec: Codec) -> Self {
        Self { codec, max_entries: max_entries(0) }
    }
}

#[derive(Clone, Debug)]
enum Codec {
    Avc(AvcMap),
    Hevc(HevcMap),
    FullSample,
}
