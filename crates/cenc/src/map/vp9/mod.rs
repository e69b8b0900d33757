//! VP9: the uncompressed header of each frame is clear, and so is the index of a superframe
//! (VP Codec ISO Media File Format Binding, "Common Encryption"). The compressed header and the tiles
//! are protected, in whole blocks.
//!
//! The binding, which knows `cenc` alone, lets the blocks end with the frame. For `cbcs`, of which it
//! says nothing, they begin behind the header, as Shaka Packager 3.8 has them.

mod header;

use super::Runs;
use super::error::{Fault, MapError, UnitPlace};
use super::unit::{AccessUnitMap, UnitBytes, get, read_head};
use header::Header;

/// Subsample rules for VP9: the sizes of the reference frames.
#[derive(Clone, Debug, Default)]
pub struct Vp9Map {
    sizes: RefSizes,
}

/// Width and height of the frame in each slot, as far as frames have been seen.
type RefSizes = [Option<(u32, u32)>; 8];

impl Vp9Map {
    /// Without any frame.
    pub const fn new() -> Self {
        Self { sizes: [None; 8] }
    }

    /// The header of the frame that begins with `head`; its size goes into the slots that it refreshes.
    fn header(&mut self, head: &[u8]) -> Result<Header, Fault> {
        let header = Header::read(head, &self.sizes)?;
        for (slot, size) in self.sizes.iter_mut().enumerate() {
            if header.refresh & 1 << slot != 0 {
                *size = Some(header.size);
            }
        }
        Ok(header)
    }
}

impl AccessUnitMap for Vp9Map {
    fn walk<U: UnitBytes>(&mut self, unit: &mut U, runs: &mut Runs<'_>) -> Result<(), U::Error> {
        let index = Index::read(unit)?;
        let end = unit.len() - index.bytes;
        let mut place = UnitPlace::in_access_unit("frame");
        for &size in &index.sizes[..index.frames] {
            let left = end - place.offset;
            if size == 0 {
                return Err(MapError::Empty { place }.into());
            }
            let len = usize::try_from(size).ok().filter(|len| *len <= left);
            let len = len.ok_or(MapError::LengthBeyondUnit { place, length: size, left })?;
            let header = read_head(unit, place.offset, len, |head| self.header(head))?
                .map_err(|fault| fault.at(place))?;
            let rest = len - header.bytes;
            match header.compressed {
                None => {
                    check_padding(get(unit, place.offset + header.bytes, rest.min(PADDING))?)
                        .map_err(|fault| fault.at(place))?;
                    runs.clear(len);
                }
                Some(compressed) if compressed > rest => {
                    return Err(Fault::Invalid("header_size_in_bytes").at(place).into());
                }
                Some(_) => {
                    runs.clear(header.bytes);
                    let rest = u32::try_from(rest).expect("no more than `size`");
                    runs.protect_blocks(rest);
                }
            }
            place.index += 1;
            place.offset += len;
        }
        if place.offset < end {
            let fault = Fault::Malformed(
                "it is missing: bytes in front of the superframe index are of no frame",
            );
            return Err(fault.at(place).into());
        }
        runs.clear(index.bytes);
        Ok(())
    }
}

/// Zeros that may follow a header without frame are fewer than these: more would be a frame whose
/// header is damaged.
const PADDING: usize = 16;

fn check_padding(padding: &[u8]) -> Result<(), Fault> {
    if padding.len() == PADDING || padding.iter().any(|&byte| byte != 0) {
        return Err(Fault::Malformed("it is shown again, and has data"));
    }
    Ok(())
}

/// The frames of an access unit (VP9 bitstream specification, annex B).
struct Index {
    sizes: [u32; 8],
    frames: usize,
    /// Bytes of the index itself; none if the unit is one frame.
    bytes: usize,
}

impl Index {
    fn read<U: UnitBytes>(unit: &mut U) -> Result<Self, U::Error> {
        let len = unit.len();
        let place = UnitPlace::in_access_unit("frame");
        let mut this = Self { sizes: [0; 8], frames: 0, bytes: 0 };
        let Some(last) = len.checked_sub(1) else { return Ok(this) };
        let marker = get(unit, last, 1)?[0];
        let frames = usize::from(marker & 7) + 1;
        let size_bytes = usize::from(marker >> 3 & 3) + 1;
        let bytes = 2 + frames * size_bytes;
        if marker >> 5 == 0b110 && bytes <= len {
            let index = get(unit, len - bytes, bytes)?;
            if index[0] == marker {
                for (to, size) in this.sizes.iter_mut().zip(index[1..].chunks(size_bytes)) {
                    *to = size.iter().rev().fold(0, |n, &byte| n << 8 | u32::from(byte));
                }
                return Ok(Self { frames, bytes, ..this });
            }
        }
        this.frames = 1;
        this.sizes[0] = u32::try_from(len)
            .map_err(|_| MapError::Unsupported { place, what: "a frame of more than 4 GiB" })?;
        Ok(this)
    }
}
