//! AVC (ITU-T H.264): NAL unit types 1..=5 are slices, everything else is clear.
//!
//! Slices of other layers and views (types 20 and 21) and auxiliary pictures (type 19) are
//! refused: their headers are not read here, and leaving pictures clear would be a guess.

mod pps;
mod slice;
mod sps;

use super::Runs;
use super::bits::BitReader;
use super::error::{Fault, MapError, ParameterSet, UnitPlace};
use super::nal::{self, LengthSize, Record};
use super::unit::{AccessUnitMap, UnitBytes};
use pps::AvcPps;
use sps::AvcSps;

/// Subsample rules for AVC: the parameter sets in force.
#[derive(Clone, Debug)]
pub struct AvcMap {
    length_size: LengthSize,
    sets: Box<AvcSets>,
}

impl AvcMap {
    /// From an `AVCDecoderConfigurationRecord` (ISO/IEC 14496-15 clause 5.3.3.1).
    ///
    /// # Errors
    /// When the record or a parameter set in it cannot be read.
    pub fn new(avcc: &[u8]) -> Result<Self, MapError> {
        let mut record = Record::new("avcC", avcc);
        if record.byte()? != 1 {
            return Err(record.error("unknown version"));
        }
        record.take(3)?;
        let length_size = LengthSize::from_field(record.byte()?)?;
        let mut sets = Box::<AvcSets>::default();
        let sequence_sets = record.byte()? & 0x1f;
        for _ in 0..sequence_sets {
            sets.learn(record.nal()?)?;
        }
        for _ in 0..record.byte()? {
            sets.learn(record.nal()?)?;
        }
        Ok(Self { length_size, sets })
    }

    /// The transfer characteristics that a sequence parameter set in force describes.
    pub(super) fn transfer_characteristics(&self) -> Option<u8> {
        self.sets.sps.iter().flatten().find_map(|sps| sps.transfer)
    }
}

impl AccessUnitMap for AvcMap {
    fn walk<U: UnitBytes>(&mut self, unit: &mut U, runs: &mut Runs<'_>) -> Result<(), U::Error> {
        let mut partition = None;
        nal::walk(unit, self.length_size, runs, |head, len| {
            self.sets.header(head, len, &mut partition)
        })
    }

    /// Every picture parameter set in force chooses CABAC, and there is one.
    fn is_cabac(&self) -> bool {
        let mut sets = self.sets.pps.iter().flatten().peekable();
        sets.peek().is_some() && sets.all(|pps| pps.cabac)
    }
}

/// Parameter sets by identifier.
#[derive(Clone, Debug)]
struct AvcSets {
    sps: [Option<AvcSps>; 32],
    pps: [Option<AvcPps>; 256],
}

impl Default for AvcSets {
    fn default() -> Self {
        Self { sps: [None; 32], pps: [None; 256] }
    }
}

impl AvcSets {
    fn learn(&mut self, (place, nal): (UnitPlace, &[u8])) -> Result<(), MapError> {
        self.header(nal, nal.len(), &mut None).map(drop).map_err(|fault| fault.at(place))
    }

    /// The clear bytes at the start of the NAL unit with this head and length: its header and slice
    /// header, or all of it. Parameter sets are stored. `partition` is the data partition A read
    /// last in this unit.
    fn header(
        &mut self,
        head: &[u8],
        len: usize,
        partition: &mut Option<slice::PartitionA>,
    ) -> Result<usize, Fault> {
        let (&first, payload) = head.split_first().ok_or(Fault::Truncated)?;
        if first & 0x80 != 0 {
            return Err(Fault::Invalid("forbidden_zero_bit"));
        }
        let kind = first & 0x1f;
        let mut reader = BitReader::new(payload);
        match kind {
            SLICE | PARTITION_A | IDR_SLICE => {
                let nal = slice::NalHeader { ref_idc: first >> 5, idr: kind == IDR_SLICE };
                let pps = slice::header(&mut reader, nal, self)?;
                if kind == PARTITION_A {
                    *partition = Some(slice::PartitionA::read(&mut reader, pps)?);
                } else if pps.cabac {
                    slice::check_cabac_alignment(&reader)?;
                }
                Ok(1 + reader.bytes())
            }
            PARTITION_B | PARTITION_C => {
                let a = partition.ok_or(Fault::Invalid("order of data partitions"))?;
                a.follow(&mut reader, self)?;
                Ok(1 + reader.bytes())
            }
            SPS => {
                let (id, sps) = AvcSps::read(&mut reader, head.len() == len)?;
                self.sps[usize::from(id)] = Some(sps);
                Ok(len)
            }
            PPS => {
                let (id, pps) = AvcPps::read(&mut reader)?;
                self.pps[usize::from(id)] = Some(pps);
                Ok(len)
            }
            19 => Err(Fault::Unsupported("an auxiliary coded picture")),
            20 => Err(Fault::Unsupported("a slice of another layer or view (SVC, MVC)")),
            21 => Err(Fault::Unsupported("a slice of a depth view (3D-AVC)")),
            _ => Ok(len),
        }
    }

    fn pps(&self, id: u8) -> Result<&AvcPps, Fault> {
        let missing = Fault::Missing(ParameterSet::Picture, id);
        self.pps[usize::from(id)].as_ref().ok_or(missing)
    }

    fn sps(&self, id: u8) -> Result<&AvcSps, Fault> {
        let missing = Fault::Missing(ParameterSet::Sequence, id);
        self.sps.get(usize::from(id)).and_then(Option::as_ref).ok_or(missing)
    }
}

// nal_unit_type, ITU-T H.264 table 7-1.
const SLICE: u8 = 1;
const PARTITION_A: u8 = 2;
const PARTITION_B: u8 = 3;
const PARTITION_C: u8 = 4;
const IDR_SLICE: u8 = 5;
const SPS: u8 = 7;
const PPS: u8 = 8;
