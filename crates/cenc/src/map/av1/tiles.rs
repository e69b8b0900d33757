//! Tiles of a frame: how many there are (AV1, 5.9.15), and which of them a tile group has (5.11.1).

use super::sequence::Sequence;
use crate::map::bits::{BitError, BitReader};
use crate::map::error::Fault;

/// The tiles of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tiles {
    columns: u32,
    rows: u32,
    /// `TileColsLog2` + `TileRowsLog2`.
    number_bits: u32,
    /// `TileSizeBytes`.
    pub(super) size_bytes: usize,
}

const MAX_TILES: u32 = 64;

impl Tiles {
    /// `tile_info`.
    pub(super) fn read(
        r: &mut BitReader<'_>,
        sequence: &Sequence,
        width: u32,
        height: u32,
    ) -> Result<Self, Fault> {
        let log2_superblock = if sequence.use_128x128_superblock { 7 } else { 6 };
        // In units of superblocks. Frames count in units of 8 pixels first, which changes nothing.
        let sb_columns = width.div_ceil(1 << log2_superblock);
        let sb_rows = height.div_ceil(1 << log2_superblock);
        let max_width = 4096 >> log2_superblock;
        let max_area = (4096 * 2304) >> (2 * log2_superblock);
        let min_log2_columns = tile_log2(max_width, sb_columns);
        let min_log2 = min_log2_columns.max(tile_log2(max_area, sb_rows * sb_columns));
        let (columns, rows, number_bits);
        if r.flag()? {
            let max_log2_columns = tile_log2(1, sb_columns.min(MAX_TILES));
            let columns_log2 = increments(r, min_log2_columns, max_log2_columns)?;
            columns = sb_columns.div_ceil(sb_columns.div_ceil(1 << columns_log2));
            let min_log2_rows = min_log2.saturating_sub(columns_log2);
            let rows_log2 = increments(r, min_log2_rows, tile_log2(1, sb_rows.min(MAX_TILES)))?;
            rows = sb_rows.div_ceil(sb_rows.div_ceil(1 << rows_log2));
            number_bits = columns_log2 + rows_log2;
        } else {
            let widest;
            (columns, widest) = sizes(r, sb_columns, max_width, "TileCols")?;
            let area = sb_rows * sb_columns;
            let max_area = if min_log2 > 0 { area >> (min_log2 + 1) } else { area };
            (rows, _) = sizes(r, sb_rows, (max_area / widest).max(1), "TileRows")?;
            number_bits = tile_log2(1, columns) + tile_log2(1, rows);
        }
        let mut size_bytes = 0;
        if number_bits > 0 {
            r.bits(number_bits)?; // context_update_tile_id
            size_bytes = r.bits(2)? as usize + 1;
        }
        Ok(Self { columns, rows, number_bits, size_bytes })
    }

    /// `NumTiles`.
    pub(super) const fn count(&self) -> u32 {
        self.columns * self.rows
    }
}

/// The smallest k for which `size << k` is at least `target`.
const fn tile_log2(size: u32, target: u32) -> u32 {
    target.div_ceil(size).next_power_of_two().ilog2()
}

fn increments(r: &mut BitReader<'_>, min: u32, max: u32) -> Result<u32, BitError> {
    let mut log2 = min;
    while log2 < max && r.flag()? {
        log2 += 1;
    }
    Ok(log2)
}

/// The number of columns or rows of explicit sizes, and the largest size.
fn sizes(
    r: &mut BitReader<'_>,
    mut left: u32,
    max: u32,
    what: &'static str,
) -> Result<(u32, u32), Fault> {
    let (mut count, mut largest) = (0, 0);
    while left > 0 {
        let size = ns(r, left.min(max))? + 1;
        left -= size;
        largest = largest.max(size);
        count += 1;
        if count > MAX_TILES {
            return Err(Fault::Invalid(what));
        }
    }
    Ok((count, largest))
}

/// ns(n): a number below `n` (AV1, 4.10.7).
pub(super) fn ns(r: &mut BitReader<'_>, n: u32) -> Result<u32, BitError> {
    let width = n.ilog2() + 1;
    let short = (1 << width) - n;
    let value = r.bits(width - 1)?;
    Ok(if value < short { value } else { (value << 1) - short + r.bits(1)? })
}

/// The tiles that an OBU has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TileGroup {
    /// Bytes in front of the first tile; in a frame OBU, with the frame header.
    pub(super) header: usize,
    /// `tg_end`: the last tile.
    pub(super) end: u32,
}

impl TileGroup {
    /// Reads the header of a tile group that has to begin with the tile `next`.
    pub(super) fn read(r: &mut BitReader<'_>, tiles: &Tiles, next: u32) -> Result<Self, Fault> {
        let last = tiles.count() - 1;
        let (mut start, mut end) = (0, last);
        if last > 0 && r.flag()? {
            start = r.bits(tiles.number_bits)?;
            end = r.bits(tiles.number_bits)?;
        }
        if start != next {
            return Err(Fault::Invalid("tg_start"));
        }
        if end < start || end > last {
            return Err(Fault::Invalid("tg_end"));
        }
        super::byte_alignment(r)?;
        Ok(Self { header: r.bytes(), end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms() {
        for size in 1..70 {
            for target in 0..300 {
                let k = (0..32).find(|k| size << k >= target).expect("one is large enough");
                assert_eq!(tile_log2(size, target), k, "{size} {target}");
            }
        }
    }

    #[test]
    fn numbers_below_n() {
        // n = 5: 00, 01, 10, 110, 111.
        let mut r = BitReader::plain(&[0b0001_1011, 0b0111_0000]);
        for want in 0..5 {
            assert_eq!(ns(&mut r, 5), Ok(want));
        }
        assert_eq!(ns(&mut r, 1), Ok(0), "no bits");
    }

    #[test]
    fn tiles_of_large_frames() {
        let read = |bits: u8, width, height| {
            let bits = [bits];
            let mut r = BitReader::plain(&bits);
            let tiles = Tiles::read(&mut r, &Sequence::default(), width, height).expect("good");
            (tiles.columns, tiles.rows, tiles.size_bytes)
        };
        // Uniform, as few as possible: none of 64 x 64 superblocks is wider than 4096 pixels, none
        // larger than 4096 x 2304.
        assert_eq!(read(0b1000_0000, 4096, 2304), (1, 1, 0));
        assert_eq!(read(0b1001_0000, 4097, 64), (2, 1, 3));
        assert_eq!(read(0b1000_0000, 8192, 36 * 64), (2, 1, 1));
        assert_eq!(read(0b1000_0100, 8192, 37 * 64), (2, 2, 3));
    }
}
