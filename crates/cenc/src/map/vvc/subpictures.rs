//! Subpictures of a sequence parameter set (ITU-T H.266 clause 7.3.2.4).

use crate::map::bits::{BitReader, ceil_log2};
use crate::map::error::Fault;

/// The subpictures that a picture is divided into.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Subpictures {
    /// Bits of `sh_subpic_id`.
    pub(super) id_bits: u32,
    /// Identifiers are not simply numbers.
    pub(super) explicit_ids: bool,
    /// `sps_subpic_id`, if they stand here.
    pub(super) ids: Option<Vec<u32>>,
    pub(super) places: Vec<BlockRect>,
}

/// A rectangle, in coding tree blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BlockRect {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) width: u32,
    pub(super) height: u32,
}

impl BlockRect {
    pub(super) const fn contains(&self, (x, y): (u32, u32)) -> bool {
        x >= self.x && x - self.x < self.width && y >= self.y && y - self.y < self.height
    }
}

impl Subpictures {
    /// From `sps_num_subpics_minus1` on, for a picture of so many blocks.
    pub(super) fn read(r: &mut BitReader<'_>, (columns, rows): (u32, u32)) -> Result<Self, Fault> {
        let whole = BlockRect { x: 0, y: 0, width: columns, height: rows };
        let last = r.ue_max(MAX_SUBPICTURES - 1, "sps_num_subpics_minus1")?;
        let mut places = Vec::new();
        if last == 0 {
            places.push(whole);
        } else {
            let independent = r.flag()?;
            let same_size = r.flag()?;
            for number in 0..=last {
                let place = match places.first() {
                    Some(&first) if same_size => Self::repeated(number, first, whole)?,
                    _ => Self::read_place(r, number, last, whole)?,
                };
                if !independent {
                    r.skip(2)?; // treated as picture, loop filter across
                }
                places.push(place);
            }
        }
        let id_bits = 1 + r.ue_max(15, "sps_subpic_id_len_minus1")?;
        let explicit_ids = r.flag()?;
        let ids = if explicit_ids && r.flag()? {
            Some((0..=last).map(|_| r.bits(id_bits)).collect::<Result<_, _>>()?)
        } else {
            None
        };
        Ok(Self { id_bits, explicit_ids, ids, places })
    }

    /// A subpicture of the size of the first, in a grid.
    fn repeated(number: u32, first: BlockRect, whole: BlockRect) -> Result<BlockRect, Fault> {
        let in_row = whole.width / first.width; // not 0: `read_place` made the first
        let (x, y) = (number % in_row * first.width, number / in_row * first.height);
        if y + first.height > whole.height {
            return Err(Fault::Invalid("sps_num_subpics_minus1"));
        }
        Ok(BlockRect { x, y, ..first })
    }

    fn read_place(
        r: &mut BitReader<'_>,
        number: u32,
        last: u32,
        whole: BlockRect,
    ) -> Result<BlockRect, Fault> {
        // With one block, no coordinate is coded: `Ceil(Log2(1))` is 0 bits as well.
        let (wide, high) = (ceil_log2(whole.width), ceil_log2(whole.height));
        let (x, y) = if number > 0 { (r.bits(wide)?, r.bits(high)?) } else { (0, 0) };
        let left = (whole.width.checked_sub(x), whole.height.checked_sub(y));
        let (Some(left), Some(below)) = left else {
            return Err(Fault::Invalid("sps_subpic_ctu_top_left_x or _y"));
        };
        let coded = number < last;
        let width = if coded && whole.width > 1 { 1 + r.bits(wide)? } else { left };
        let height = if coded && whole.height > 1 { 1 + r.bits(high)? } else { below };
        if width == 0 || height == 0 || width > left || height > below {
            return Err(Fault::Invalid("sps_subpic_width_minus1 or _height_minus1"));
        }
        Ok(BlockRect { x, y, width, height })
    }
}

/// More than the 33,776 of level 6.3 (clause A.4.2), and small enough that areas in blocks fit 32 bits.
pub(super) const MAX_SIDE: u32 = (1 << 16) - 1;

/// `MaxSlicesPerAu` of level 6.3, table A.2: no picture has more subpictures or slices.
pub(super) const MAX_SUBPICTURES: u32 = 1000;
