//! The mapper of a track: the rules of its codec, and the limit on entries.

use core::{fmt, ops::Range};

use super::ac4::Ac4Map;
use super::av1::Av1Map;
use super::avc::AvcMap;
use super::hevc::HevcMap;
use super::unit::{AccessUnitMap, UnitBytes};
use super::vp9::Vp9Map;
use super::vvc::VvcMap;
use super::{Alignment, MapError, Runs, Subsample, max_entries};

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
    /// None for tracks that are protected whole.
    map: Option<Box<dyn TrackMap>>,
    max_entries: usize,
}

impl Mapper {
    /// A mapper for AVC from the payload of `avcC`, an `AVCDecoderConfigurationRecord`
    /// (ISO/IEC 14496-15 clause 5.3.3.1).
    ///
    /// # Errors
    /// When the record or a parameter set in it cannot be read.
    pub fn avc(avcc: &[u8]) -> Result<Self, MapError> {
        Ok(Self::with(AvcMap::new(avcc)?))
    }

    /// A mapper for HEVC from the payload of `hvcC`, an `HEVCDecoderConfigurationRecord`
    /// (ISO/IEC 14496-15 clause 8.3.3.1).
    ///
    /// # Errors
    /// When the record or a parameter set in it cannot be read.
    pub fn hevc(hvcc: &[u8]) -> Result<Self, MapError> {
        Ok(Self::with(HevcMap::new(hvcc)?))
    }

    /// A mapper for VVC from the payload of `vvcC`, version and flags included: a
    /// `VvcDecoderConfigurationRecord` (ISO/IEC 14496-15 clause 11.2.4.2).
    ///
    /// # Errors
    /// When the record or a parameter set in it cannot be read.
    pub fn vvc(vvcc: &[u8]) -> Result<Self, MapError> {
        Ok(Self::with(VvcMap::new(vvcc)?))
    }

    /// A mapper for AV1 from the payload of `av1C`, an `AV1CodecConfigurationRecord` (AV1-ISOBMFF, 2.3).
    ///
    /// # Errors
    /// When the record or the sequence header in it cannot be read.
    pub fn av1(av1c: &[u8]) -> Result<Self, MapError> {
        Ok(Self::with(Av1Map::new(av1c)?))
    }

    /// A mapper for VP9, whose frames describe themselves.
    pub fn vp9() -> Self {
        Self::with(Vp9Map::new())
    }

    /// A mapper for AC-4, whose frames describe themselves.
    pub fn ac4() -> Self {
        Self::with(Ac4Map)
    }

    /// A mapper with rules that are not in this crate: those of another codec, or of a house.
    ///
    /// ```
    /// use lanelock_cenc::map::{AccessUnitMap, Alignment, Mapper, Runs, UnitBytes};
    ///
    /// /// Leaves the first byte clear.
    /// #[derive(Clone, Debug)]
    /// struct AllButOne;
    ///
    /// impl AccessUnitMap for AllButOne {
    ///     fn walk<U: UnitBytes>(&mut self, unit: &mut U, runs: &mut Runs<'_>) -> Result<(), U::Error> {
    ///         runs.clear(unit.len().min(1));
    ///         runs.protect(u32::try_from(unit.len().saturating_sub(1)).unwrap_or(u32::MAX));
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let mut entries = Vec::new();
    /// Mapper::with(AllButOne).map(b"a unit", Alignment::Exact, &mut entries)?;
    /// assert_eq!((entries[0].clear, entries[0].protected), (1, 5));
    /// # Ok::<(), lanelock_cenc::map::MapError>(())
    /// ```
    pub fn with(map: impl AccessUnitMap + Clone + fmt::Debug + Send + Sync + 'static) -> Self {
        Self { map: Some(Box::new(map)), max_entries: max_entries(0) }
    }

    /// A mapper for codecs protected as a whole (audio): it lists no entries at all, which is how
    /// `senc` says "the whole sample" (ISO/IEC 23001-7 clause 9.5.1).
    pub const fn full_sample() -> Self {
        Self { map: None, max_entries: max_entries(0) }
    }

    /// Whether access units have subsamples; without, they are protected whole.
    pub const fn has_subsamples(&self) -> bool {
        self.map.is_some()
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

    /// The same as [`map`](Self::map) for a unit that need not be in memory. Only
    /// the heads of its units are asked for; nothing at all if the track is protected whole.
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
        let mut unit = Unit { bytes: unit, error: None };
        let walked = match &mut self.map {
            Some(map) => map.walk_unit(&mut unit, &mut runs),
            None => Ok(()),
        };
        let walked = walked.map_err(|stop| match stop {
            Stop::Map(error) => error.into(),
            Stop::Bytes => unit.error.take().expect("kept by `Unit::get`"),
        });
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

    /// Whether protected bytes surely begin with a CABAC offset: always in HEVC, and in AVC if every
    /// picture parameter set in force says so (`entropy_coding_mode_flag`).
    pub fn is_cabac(&self) -> bool {
        self.map.as_ref().is_some_and(|map| map.is_cabac_map())
    }
}

/// An [`AccessUnitMap`] behind a pointer, for units of any kind.
trait TrackMap: fmt::Debug + Send + Sync {
    fn walk_unit(&mut self, unit: &mut dyn AnyUnit, runs: &mut Runs<'_>) -> Result<(), Stop>;
    fn is_cabac_map(&self) -> bool;
    fn boxed(&self) -> Box<dyn TrackMap>;
}

impl<M> TrackMap for M
where
    M: AccessUnitMap + Clone + fmt::Debug + Send + Sync + 'static,
{
    fn walk_unit(&mut self, mut unit: &mut dyn AnyUnit, runs: &mut Runs<'_>) -> Result<(), Stop> {
        self.walk(&mut unit, runs)
    }

    fn is_cabac_map(&self) -> bool {
        self.is_cabac()
    }

    fn boxed(&self) -> Box<dyn TrackMap> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn TrackMap> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

/// Why a walk ended.
enum Stop {
    Map(MapError),
    /// Bytes could not be had; the unit knows why.
    Bytes,
}

impl From<MapError> for Stop {
    fn from(error: MapError) -> Self {
        Self::Map(error)
    }
}

/// A unit whose error is kept aside, so that maps are compiled once for all units.
struct Unit<'u, U: UnitBytes> {
    bytes: &'u mut U,
    error: Option<U::Error>,
}

trait AnyUnit {
    fn unit_len(&self) -> usize;
    fn unit_head(&self) -> usize;
    fn unit_bytes(&mut self, range: Range<usize>) -> Result<&[u8], Stop>;
}

impl<U: UnitBytes> AnyUnit for Unit<'_, U> {
    fn unit_len(&self) -> usize {
        self.bytes.len()
    }

    fn unit_head(&self) -> usize {
        self.bytes.head()
    }

    fn unit_bytes(&mut self, range: Range<usize>) -> Result<&[u8], Stop> {
        self.bytes.get(range).map_err(|error| {
            self.error = Some(error);
            Stop::Bytes
        })
    }
}

impl UnitBytes for &mut dyn AnyUnit {
    type Error = Stop;

    fn len(&self) -> usize {
        self.unit_len()
    }

    fn head(&self) -> usize {
        self.unit_head()
    }

    fn get(&mut self, range: Range<usize>) -> Result<&[u8], Stop> {
        self.unit_bytes(range)
    }
}
