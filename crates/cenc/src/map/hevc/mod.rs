//! HEVC (ITU-T H.265): NAL unit types below 32 are slices, everything else is clear.
//!
//! Slices with `nuh_layer_id` above 0 (scalable, multiview, alpha) and of reserved VCL types are
//! refused: their headers are not read here. Parameter sets of such layers are passed over.

mod pps;
mod rps;
mod slice;
mod sps;
mod vui;

use super::Runs;
use super::bits::BitReader;
use super::error::{Fault, MapError, ParameterSet, UnitPlace};
use super::nal::{self, LengthSize, Record};
use super::unit::{AccessUnitMap, UnitBytes};
use pps::HevcPps;
use sps::HevcSps;

/// Subsample rules for HEVC: the parameter sets in force.
#[derive(Clone, Debug)]
pub struct HevcMap {
    length_size: LengthSize,
    sets: Box<HevcSets>,
}

impl HevcMap {
    /// From an `HEVCDecoderConfigurationRecord` (ISO/IEC 14496-15 clause 8.3.3.1).
    ///
    /// # Errors
    /// When the record or a parameter set in it cannot be read.
    pub fn new(hvcc: &[u8]) -> Result<Self, MapError> {
        let mut record = Record::new("hvcC", hvcc);
        if record.byte()? != 1 {
            return Err(record.error("unknown version"));
        }
        record.take(20)?;
        let length_size = LengthSize::from_field(record.byte()?)?;
        let mut sets = Box::<HevcSets>::default();
        for _ in 0..record.byte()? {
            record.byte()?; // array_completeness, NAL_unit_type
            for _ in 0..record.u16()? {
                sets.learn(record.nal()?)?;
            }
        }
        Ok(Self { length_size, sets })
    }

    /// The transfer characteristics that a sequence parameter set in force describes.
    pub(super) fn transfer_characteristics(&self) -> Option<u8> {
        self.sets.sps.iter().flatten().find_map(|sps| sps.transfer)
    }
}

impl AccessUnitMap for HevcMap {
    fn walk<U: UnitBytes>(&mut self, unit: &mut U, runs: &mut Runs<'_>) -> Result<(), U::Error> {
        nal::walk(unit, self.length_size, runs, |head, len| self.sets.header(head, len))
    }

    fn is_cabac(&self) -> bool {
        true
    }
}

/// Parameter sets by identifier.
#[derive(Clone, Debug)]
struct HevcSets {
    sps: [Option<HevcSps>; 16],
    pps: [Option<HevcPps>; 64],
}

impl Default for HevcSets {
    fn default() -> Self {
        Self { sps: [const { None }; 16], pps: [None; 64] }
    }
}

impl HevcSets {
    fn learn(&mut self, (place, nal): (UnitPlace, &[u8])) -> Result<(), MapError> {
        self.header(nal, nal.len()).map(drop).map_err(|fault| fault.at(place))
    }

    /// The clear bytes at the start of the NAL unit with this head and length: its header and slice
    /// header, or all of it. Parameter sets are stored.
    fn header(&mut self, head: &[u8], len: usize) -> Result<usize, Fault> {
        let Some((&[first, second], payload)) = head.split_first_chunk() else {
            return Err(Fault::Truncated);
        };
        if first & 0x80 != 0 {
            return Err(Fault::Invalid("forbidden_zero_bit"));
        }
        if second.trailing_zeros() >= 3 {
            return Err(Fault::Invalid("nuh_temporal_id_plus1"));
        }
        let kind = first >> 1;
        let base_layer = (first & 1) == 0 && second >> 3 == 0;
        let mut reader = BitReader::new(payload);
        match kind {
            0..=31 if !base_layer => Err(Fault::Unsupported("a slice with nuh_layer_id above 0")),
            0..=9 | 16..=21 => {
                slice::header(&mut reader, kind, self)?;
                Ok(2 + reader.bytes())
            }
            0..=31 => Err(Fault::Unsupported("a VCL NAL unit of a reserved type")),
            SPS if base_layer => {
                let (id, sps) = HevcSps::read(&mut reader)?;
                self.sps[usize::from(id)] = Some(sps);
                Ok(len)
            }
            PPS if base_layer => {
                let (id, pps) = HevcPps::read(&mut reader)?;
                self.pps[usize::from(id)] = Some(pps);
                Ok(len)
            }
            _ => Ok(len),
        }
    }

    fn pps(&self, id: u8) -> Result<&HevcPps, Fault> {
        let missing = Fault::Missing(ParameterSet::Picture, id);
        self.pps.get(usize::from(id)).and_then(Option::as_ref).ok_or(missing)
    }

    fn sps(&self, id: u8) -> Result<&HevcSps, Fault> {
        let missing = Fault::Missing(ParameterSet::Sequence, id);
        self.sps.get(usize::from(id)).and_then(Option::as_ref).ok_or(missing)
    }
}

// nal_unit_type, ITU-T H.265 table 7-1.
const SPS: u8 = 33;
const PPS: u8 = 34;
