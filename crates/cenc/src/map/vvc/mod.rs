//! VVC (ITU-T H.266): NAL unit types 0..=3 and 7..=10 are slices, everything else is clear.
//! Experimental: few files exist to compare with.
//!
//! A slice header depends on the picture header before it, and both on parameter sets. Slices with
//! `nuh_layer_id` above 0 (scalable, multiview) and of reserved VCL types are refused: their headers
//! are not read here. Parameter sets and picture headers of such layers are passed over.

mod layout;
mod lists;
mod picture;
mod pps;
mod refs;
mod slice;
mod sps;
mod subpictures;
mod weights;

use std::sync::Arc;

use super::Runs;
use super::bits::BitReader;
use super::error::{Fault, MapError, ParameterSet, UnitPlace};
use super::nal::{self, LengthSize, Record};
use super::unit::{AccessUnitMap, UnitBytes};
use picture::VvcPicture;
use pps::VvcPps;
use sps::VvcSps;

/// Subsample rules for VVC: the parameter sets in force.
#[derive(Clone, Debug)]
pub struct VvcMap {
    length_size: LengthSize,
    sets: Box<VvcSets>,
}

impl VvcMap {
    /// From the payload of `vvcC`: version and flags, then a `VvcDecoderConfigurationRecord`
    /// (ISO/IEC 14496-15 clause 11.2.4.2).
    ///
    /// # Errors
    /// When the record or a parameter set in it cannot be read.
    pub fn new(vvcc: &[u8]) -> Result<Self, MapError> {
        let mut record = Record::new("vvcC", vvcc);
        if record.byte()? != 0 {
            return Err(record.error("unknown version"));
        }
        record.take(3)?; // flags
        let first = record.byte()?;
        let length_size = LengthSize::from_field(first >> 1)?;
        if first & 1 == 1 {
            skip_profile(&mut record)?;
        }
        let mut sets = Box::<VvcSets>::default();
        for _ in 0..record.byte()? {
            let kind = record.byte()? & 0x1f;
            let units = if matches!(kind, OPI | DCI) { 1 } else { record.u16()? };
            for _ in 0..units {
                sets.learn(record.nal()?)?;
            }
        }
        // A picture header in the record would belong to no access unit.
        sets.picture = None;
        Ok(Self { length_size, sets })
    }

    /// The transfer characteristics that a sequence parameter set in force describes.
    pub(super) fn transfer_characteristics(&self) -> Option<u8> {
        self.sets.sps.iter().flatten().find_map(|sps| sps.transfer)
    }
}

/// Skips what a record says of profile and picture size when `ptl_present_flag` is set.
fn skip_profile(record: &mut Record<'_>) -> Result<(), MapError> {
    let sub_layers = record.u16()? >> 4 & 7;
    record.byte()?; // bit depth
    let constraint_bytes = record.byte()? & 0x3f;
    if constraint_bytes == 0 {
        return Err(record.error("num_bytes_constraint_info is 0"));
    }
    record.take(2 + usize::from(constraint_bytes))?;
    if sub_layers > 1 {
        // Flags of the sublayers below the highest, from the highest bit on.
        let present = record.byte()? >> (9 - sub_layers);
        record.take(present.count_ones() as usize)?;
    }
    let sub_profiles = record.byte()?;
    record.take(4 * usize::from(sub_profiles))?;
    record.take(6)?; // largest picture, average frame rate
    Ok(())
}

impl AccessUnitMap for VvcMap {
    fn walk<U: UnitBytes>(&mut self, unit: &mut U, runs: &mut Runs<'_>) -> Result<(), U::Error> {
        self.sets.picture = None;
        nal::walk(unit, self.length_size, runs, |head, len| self.sets.header(head, len))
    }
}

/// Parameter sets by identifier, and the picture header of the access unit.
#[derive(Clone, Debug)]
struct VvcSets {
    sps: [Option<Arc<VvcSps>>; 16],
    pps: [Option<Arc<VvcPps>>; 64],
    picture: Option<VvcPicture>,
}

impl Default for VvcSets {
    fn default() -> Self {
        Self { sps: [const { None }; 16], pps: [const { None }; 64], picture: None }
    }
}

impl VvcSets {
    fn learn(&mut self, (place, nal): (UnitPlace, &[u8])) -> Result<(), MapError> {
        self.header(nal, nal.len()).map(drop).map_err(|fault| fault.at(place))
    }

    /// The clear bytes at the start of the NAL unit with this head and length: its header and slice
    /// header, or all of it. Parameter sets and picture headers are stored.
    fn header(&mut self, head: &[u8], len: usize) -> Result<usize, Fault> {
        let Some((&[first, second], payload)) = head.split_first_chunk() else {
            return Err(Fault::Truncated);
        };
        if first & 0xc0 != 0 {
            return Err(Fault::Invalid("forbidden_zero_bit or nuh_reserved_zero_bit"));
        }
        if second.trailing_zeros() >= 3 {
            return Err(Fault::Invalid("nuh_temporal_id_plus1"));
        }
        let base_layer = first == 0;
        let mut reader = BitReader::new(payload);
        match second >> 3 {
            0..=11 if !base_layer => Err(Fault::Unsupported("a slice with nuh_layer_id above 0")),
            kind @ (0..=3 | 7..=10) => {
                slice::header(&mut reader, kind, self)?;
                Ok(2 + reader.bytes())
            }
            4..=11 => Err(Fault::Unsupported("a VCL NAL unit of a reserved type")),
            SPS if base_layer => {
                let (id, sps) = VvcSps::read(&mut reader)?;
                self.sps[usize::from(id)] = Some(Arc::new(sps));
                Ok(len)
            }
            PPS if base_layer => {
                let (id, pps) = VvcPps::read(&mut reader)?;
                self.pps[usize::from(id)] = Some(Arc::new(pps));
                Ok(len)
            }
            PICTURE_HEADER if base_layer => {
                let picture = VvcPicture::read(&mut reader, self)?;
                read_trailing(&mut reader)?;
                self.picture = Some(picture);
                Ok(len)
            }
            _ => Ok(len),
        }
    }

    fn pps(&self, id: u8) -> Result<&Arc<VvcPps>, Fault> {
        let missing = Fault::Missing(ParameterSet::Picture, id);
        self.pps.get(usize::from(id)).and_then(Option::as_ref).ok_or(missing)
    }

    fn sps(&self, id: u8) -> Result<&Arc<VvcSps>, Fault> {
        let missing = Fault::Missing(ParameterSet::Sequence, id);
        self.sps.get(usize::from(id)).and_then(Option::as_ref).ok_or(missing)
    }
}

/// `rbsp_trailing_bits()` or `byte_alignment()`: a one and zeros. Any other bits mean that the syntax
/// before them was parsed wrongly.
fn read_trailing(r: &mut BitReader<'_>) -> Result<(), Fault> {
    let one = r.flag()?;
    if r.align() && one { Ok(()) } else { Err(Fault::Invalid("byte_alignment")) }
}

// nal_unit_type, ITU-T H.266 table 5.
const IDR_W_RADL: u8 = 7;
const IDR_N_LP: u8 = 8;
const CRA: u8 = 9;
const GDR: u8 = 10;
const OPI: u8 = 12;
const DCI: u8 = 13;
const SPS: u8 = 15;
const PPS: u8 = 16;
const PICTURE_HEADER: u8 = 19;
