//! Tiles and slices of a picture (ITU-T H.266 clause 6.5.1): how many slices a subpicture has, and how
//! many entry points a slice.

use super::subpictures::{BlockRect, MAX_SIDE, MAX_SUBPICTURES, Subpictures};
use crate::map::bits::{BitReader, ceil_log2};
use crate::map::error::Fault;

/// What a PPS without `pps_no_pic_partition_flag` says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Partition {
    /// `CtbLog2SizeY`, which is that of the SPS.
    pub(super) block_log2: u32,
    tiles: Tiles,
    slices: Slices,
}

/// Tiles, in coding tree blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Tiles {
    /// `ColWidthVal`.
    columns: Vec<u32>,
    /// `RowHeightVal`.
    rows: Vec<u32>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Slices {
    /// Slices are tiles in raster scan; which ones, their headers say.
    Raster,
    /// Each subpicture is one.
    Subpictures,
    /// Rectangles that the PPS lists.
    Listed(Vec<ListedSlice>),
}

/// A rectangular slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ListedSlice {
    /// Its first block.
    corner: (u32, u32),
    parts: SliceParts,
}

/// What a slice consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SliceParts {
    /// Tiles, of which a single one need not be complete.
    pub(super) tiles: u32,
    /// Rows of blocks, counted in each tile.
    pub(super) rows: u32,
}

impl SliceParts {
    const fn whole_tile(rows: u32) -> Self {
        Self { tiles: 1, rows }
    }

    /// `NumEntryPoints`, with `sps_entry_point_offsets_present_flag` (clause 7.4.8): a new part begins with each
    /// tile, and with `sps_entropy_coding_sync_enabled_flag` with each row of blocks in it.
    pub(super) const fn entry_points(self, entropy_sync: bool) -> u32 {
        let parts = if entropy_sync { self.rows } else { self.tiles };
        parts.saturating_sub(1)
    }
}

impl Tiles {
    fn count(&self) -> usize {
        self.columns.len() * self.rows.len()
    }

    /// Column and row of a tile.
    fn place(&self, tile: usize) -> (usize, usize) {
        (tile % self.columns.len(), tile / self.columns.len())
    }

    /// The first block of a tile.
    fn corner(&self, (column, row): (usize, usize)) -> (u32, u32) {
        (self.columns[..column].iter().sum(), self.rows[..row].iter().sum())
    }

    /// The tiles that a rectangle consists of, or has a part of.
    fn parts(&self, rect: BlockRect) -> SliceParts {
        let columns = overlapping(&self.columns, rect.x, rect.width);
        let rows = overlapping(&self.rows, rect.y, rect.height);
        SliceParts { tiles: columns * rows, rows: columns * rect.height }
    }

    fn whole(&self) -> SliceParts {
        let columns = self.columns.len();
        let rows: u32 = self.rows.iter().sum();
        // At most `MAX_TILES` of both.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        SliceParts { tiles: self.count() as u32, rows: columns as u32 * rows }
    }
}

/// How many of the adjacent `sizes` have a part of `length` blocks from `start` on.
fn overlapping(sizes: &[u32], start: u32, length: u32) -> u32 {
    let (mut at, mut count) = (0, 0);
    for size in sizes {
        count += u32::from(at < start + length && at + size > start);
        at += size;
    }
    count
}

impl Partition {
    /// From `pps_log2_ctu_size_minus5` to `pps_loop_filter_across_slices_enabled_flag`, for a picture
    /// of this size in luma samples.
    pub(super) fn read(r: &mut BitReader<'_>, width: u32, height: u32) -> Result<Self, Fault> {
        let block_log2 = 5 + r.bits(2)?;
        let columns = r.ue_max(MAX_TILES - 1, "pps_num_exp_tile_columns_minus1")?;
        let rows = r.ue_max(MAX_TILES - 1, "pps_num_exp_tile_rows_minus1")?;
        let columns = read_sizes(r, 1 + columns, width.div_ceil(1 << block_log2))?;
        let rows = read_sizes(r, 1 + rows, height.div_ceil(1 << block_log2))?;
        let tiles = Tiles { columns, rows };
        let count = tiles.count();
        if count > MAX_TILES as usize {
            return Err(Fault::Unsupported("a picture of more than 990 tiles"));
        }
        let rectangles = if count > 1 {
            r.flag()?; // pps_loop_filter_across_tiles_enabled_flag
            r.flag()?
        } else {
            true
        };
        let slices = match rectangles {
            false => Slices::Raster,
            true if r.flag()? => Slices::Subpictures,
            true => Slices::Listed(read_slices(r, &tiles)?),
        };
        if !matches!(&slices, Slices::Listed(listed) if listed.len() == 1) {
            r.flag()?; // pps_loop_filter_across_slices_enabled_flag
        }
        Ok(Self { block_log2, tiles, slices })
    }
}

/// Widths of columns or heights of rows: those that are coded, then more like the last one.
fn read_sizes(r: &mut BitReader<'_>, coded: u32, total: u32) -> Result<Vec<u32>, Fault> {
    let field = "pps_tile_column_width_minus1 or pps_tile_row_height_minus1";
    let mut sizes = Vec::new();
    let mut left = total;
    let mut size = 0;
    for _ in 0..coded {
        size = 1 + r.ue_max(MAX_SIDE, field)?;
        left = left.checked_sub(size).ok_or(Fault::Invalid(field))?;
        sizes.push(size);
    }
    while left > 0 {
        size = size.min(left);
        left -= size;
        sizes.push(size);
    }
    Ok(sizes)
}

/// The rectangular slices: clause 7.3.2.5, and equation 21 of clause 6.5.1 for where they lie.
fn read_slices(r: &mut BitReader<'_>, tiles: &Tiles) -> Result<Vec<ListedSlice>, Fault> {
    let field = "pps_slice_width_in_tiles_minus1 or pps_slice_height_in_tiles_minus1";
    let count = 1 + r.ue_max(MAX_SUBPICTURES - 1, "pps_num_slices_in_pic_minus1")? as usize;
    let deltas = count > 2 && r.flag()?; // pps_tile_idx_delta_present_flag
    let mut slices: Vec<ListedSlice> = Vec::new();
    let mut tile = 0;
    let mut high = 1; // of the slice before, in tiles
    while slices.len() + 1 < count {
        let (column, row) = tiles.place(tile);
        let (columns, rows) = (tiles.columns.len() - column, tiles.rows.len() - row);
        let wide = if columns > 1 { 1 + read_count(r, columns, field)? } else { 1 };
        if rows == 1 {
            high = 1;
        } else if deltas || column == 0 {
            high = 1 + read_count(r, rows, field)?;
        }
        if high > rows {
            return Err(Fault::Invalid(field));
        }
        let corner = tiles.corner((column, row));
        if wide == 1 && high == 1 && tiles.rows[row] > 1 {
            read_slices_in_tile(r, corner, tiles.rows[row], &mut slices)?;
        } else {
            slices.push(listed(tiles, (column, row), wide, high));
        }
        if slices.len() > count {
            return Err(Fault::Invalid("pps_num_exp_slices_in_tile"));
        }
        if slices.len() == count {
            return Ok(slices);
        }
        tile = if deltas {
            let delta = r.se()?; // pps_tile_idx_delta_val
            usize::try_from(delta.unsigned_abs()).ok().and_then(|step| {
                if delta < 0 { tile.checked_sub(step) } else { tile.checked_add(step) }
            })
        } else {
            let next = tile + wide;
            let below = if next % tiles.columns.len() == 0 { high - 1 } else { 0 };
            Some(next + below * tiles.columns.len())
        }
        .filter(|&tile| tile < tiles.count())
        .ok_or(Fault::Invalid("pps_tile_idx_delta_val or pps_num_slices_in_pic_minus1"))?;
    }
    // The last one has what is left.
    let place @ (column, row) = tiles.place(tile);
    let (wide, high) = (tiles.columns.len() - column, tiles.rows.len() - row);
    slices.push(listed(tiles, place, wide, high));
    Ok(slices)
}

/// A number less than `limit`, in tiles.
fn read_count(r: &mut BitReader<'_>, limit: usize, field: &'static str) -> Result<usize, Fault> {
    let count = r.ue()? as usize;
    if count < limit { Ok(count) } else { Err(Fault::Invalid(field)) }
}

/// A slice of complete tiles.
fn listed(tiles: &Tiles, (column, row): (usize, usize), wide: usize, high: usize) -> ListedSlice {
    let rows: u32 = tiles.rows[row..row + high].iter().sum();
    #[expect(clippy::cast_possible_truncation, reason = "at most `MAX_TILES`")]
    let parts = SliceParts { tiles: (wide * high) as u32, rows: wide as u32 * rows };
    ListedSlice { corner: tiles.corner((column, row)), parts }
}

/// Reads the slices that one tile may be divided into.
fn read_slices_in_tile(
    r: &mut BitReader<'_>,
    (x, mut y): (u32, u32),
    rows: u32,
    slices: &mut Vec<ListedSlice>,
) -> Result<(), Fault> {
    let field = "pps_exp_slice_height_in_ctus_minus1";
    let coded = r.ue_max(rows - 1, "pps_num_exp_slices_in_tile")?;
    let mut left = rows;
    let mut height = rows;
    let mut push = |height, left: &mut u32| {
        slices.push(ListedSlice { corner: (x, y), parts: SliceParts::whole_tile(height) });
        y += height;
        *left -= height;
    };
    for _ in 0..coded {
        height = 1 + r.ue_max(MAX_SIDE, field)?;
        if height > left {
            return Err(Fault::Invalid(field));
        }
        push(height, &mut left);
    }
    while left > 0 {
        push(height.min(left), &mut left);
    }
    Ok(())
}

/// The slices of a picture, as its slice headers refer to them.
#[derive(Clone, Debug)]
pub(super) struct SliceLayout<'p> {
    partition: Option<&'p Partition>,
    /// Rows of blocks of the picture.
    rows: u32,
    subpictures: Option<&'p Subpictures>,
}

impl<'p> SliceLayout<'p> {
    pub(super) fn new(
        partition: Option<&'p Partition>,
        rows: u32,
        subpictures: Option<&'p Subpictures>,
    ) -> Self {
        Self { partition, rows, subpictures: subpictures.filter(|all| all.places.len() > 1) }
    }

    /// Reads `sh_slice_address`, the extra bits behind it, and `sh_num_tiles_in_slice_minus1`, and says what the
    /// slice consists of. `subpicture` is `CurrSubpicIdx`.
    pub(super) fn read(
        &self,
        r: &mut BitReader<'_>,
        subpicture: usize,
        extra_bits: u32,
    ) -> Result<SliceParts, Fault> {
        let Some(Partition { tiles, slices, .. }) = self.partition else {
            if self.subpictures.is_some() {
                return Err(Fault::Invalid("pps_no_pic_partition_flag"));
            }
            r.bits(extra_bits)?;
            return Ok(SliceParts::whole_tile(self.rows));
        };
        match slices {
            Slices::Raster => {
                let first = read_address(r, tiles.count())?;
                r.bits(extra_bits)?;
                let left = tiles.count() - first;
                let field = "sh_num_tiles_in_slice_minus1";
                let count = if left > 1 { 1 + read_count(r, left, field)? } else { 1 };
                let rows = (first..first + count).map(|tile| tiles.rows[tiles.place(tile).1]).sum();
                #[expect(clippy::cast_possible_truncation, reason = "at most `MAX_TILES`")]
                Ok(SliceParts { tiles: count as u32, rows })
            }
            Slices::Subpictures => {
                r.bits(extra_bits)?;
                Ok(match self.subpictures.and_then(|all| all.places.get(subpicture)) {
                    Some(place) => tiles.parts(*place),
                    None => tiles.whole(),
                })
            }
            Slices::Listed(slices) => {
                let (before, within) = self.slices_in(slices, subpicture);
                let address = if within > 1 { read_address(r, within)? } else { 0 };
                r.bits(extra_bits)?;
                let slice = if within > 0 { slices.get(before + address) } else { None };
                Ok(slice.ok_or(Fault::Invalid("sh_slice_address"))?.parts)
            }
        }
    }

    /// How many slices the subpictures before this one have together, and how many it has.
    fn slices_in(&self, slices: &[ListedSlice], subpicture: usize) -> (usize, usize) {
        let Some(Subpictures { places, .. }) = self.subpictures else {
            return (0, slices.len());
        };
        let within =
            |place: &BlockRect| slices.iter().filter(|slice| place.contains(slice.corner)).count();
        let before = places.iter().take(subpicture).map(within).sum();
        (before, places.get(subpicture).map_or(0, within))
    }
}

/// `sh_slice_address`, of `count` slices or tiles.
fn read_address(r: &mut BitReader<'_>, count: usize) -> Result<usize, Fault> {
    let field = "sh_slice_address";
    let count = u32::try_from(count).map_err(|_| Fault::Invalid(field))?;
    let address = r.bits(ceil_log2(count))?;
    if address < count { Ok(address as usize) } else { Err(Fault::Invalid(field)) }
}

/// `MaxTilesPerAu` of level 6.3, table A.2.
const MAX_TILES: u32 = 990;

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "pictures of at most 12 x 12 blocks")]
mod tests {
    use lanelock_testkit::Rng;

    use super::*;

    /// Blocks of a slice, in order.
    type Blocks = Vec<(u32, u32)>;

    /// Bits, first to last.
    #[derive(Default)]
    struct Written(Vec<bool>);

    impl Written {
        fn u(&mut self, n: u32, value: u32) {
            self.0.extend((0..n).rev().map(|bit| value >> bit & 1 == 1));
        }

        fn ue(&mut self, value: u32) {
            let bits = (value + 1).ilog2();
            self.u(bits, 0);
            self.u(bits + 1, value + 1);
        }

        fn bytes(&self) -> Vec<u8> {
            let byte = |bits: &[bool]| {
                let ones = bits.iter().enumerate().filter(|(_, bit)| **bit);
                ones.fold(0, |byte, (at, _)| byte | 0x80 >> at)
            };
            self.0.chunks(8).map(byte).chain([0; 8]).collect()
        }
    }

    /// Clause 7.4.8, to the letter: the blocks of a slice in order, and where entry points lie between them.
    fn entry_points(tiles: &Tiles, blocks: &[(u32, u32)], sync: bool) -> u32 {
        let tile = |sizes: &[u32], at: u32| {
            let ends = sizes.iter().scan(0, |end, size| {
                *end += size;
                Some(*end)
            });
            ends.take_while(|end| *end <= at).count()
        };
        let begins = |pair: &&[(u32, u32)]| {
            let (before, after) = (pair[0], pair[1]);
            tile(&tiles.rows, before.1) != tile(&tiles.rows, after.1)
                || tile(&tiles.columns, before.0) != tile(&tiles.columns, after.0)
                || (before.1 != after.1 && sync)
        };
        blocks.windows(2).filter(begins).count() as u32
    }

    /// The blocks of a rectangle in the order of one tile.
    fn rect(blocks: &mut Blocks, x: [u32; 2], y: [u32; 2]) {
        for y in y[0]..y[1] {
            blocks.extend((x[0]..x[1]).map(|x| (x, y)));
        }
    }

    fn sizes(rng: &mut Rng, written: &mut Written, coded: usize, total: u32) -> Vec<u32> {
        let mut sizes = Vec::new();
        let mut left = total;
        let mut coded_sizes = Vec::new();
        for number in 0..coded {
            let behind = u32::try_from(coded - number - 1).unwrap();
            let most = left - behind;
            let size = 1 + u32::try_from(rng.below(most as usize)).unwrap();
            coded_sizes.push(size - 1);
            sizes.push(size);
            left -= size;
        }
        while left > 0 {
            let size = sizes[sizes.len() - 1].min(left);
            sizes.push(size);
            left -= size;
        }
        for size in coded_sizes {
            written.ue(size);
        }
        sizes
    }

    fn edges(sizes: &[u32], at: usize) -> [u32; 2] {
        let start: u32 = sizes[..at].iter().sum();
        [start, start + sizes[at]]
    }

    /// Pictures divided in every way: what slices have in entry points.
    #[test]
    fn entry_points_of_slices() {
        let mut rng = Rng::from_env("entry_points_of_slices");
        for _ in 0..2000 {
            let [wide, high] = [(); 2].map(|()| 1 + u32::try_from(rng.below(12)).unwrap());
            let mut written = Written::default();
            written.u(2, 0); // blocks of 32 samples
            let coded = [wide, high].map(|blocks| 1 + rng.below(blocks as usize));
            for coded in coded {
                written.ue(u32::try_from(coded - 1).unwrap());
            }
            let columns = sizes(&mut rng, &mut written, coded[0], wide);
            let rows = sizes(&mut rng, &mut written, coded[1], high);
            let tiles = Tiles { columns, rows };
            let count = tiles.count();
            let raster = count > 1 && rng.one_in(3);
            if count > 1 {
                written.u(2, if raster { 2 } else { 3 });
            }
            let mut expected: Vec<Blocks> = Vec::new();
            if !raster {
                let single = rng.one_in(4);
                written.u(1, u32::from(single));
                if single {
                    let mut blocks = Vec::new();
                    for tile in 0..count {
                        let (column, row) = tiles.place(tile);
                        let [x, y] = [edges(&tiles.columns, column), edges(&tiles.rows, row)];
                        rect(&mut blocks, x, y);
                    }
                    expected.push(blocks);
                } else {
                    expected = write_slices(&mut rng, &mut written, &tiles);
                }
            }
            written.u(1, 1);
            let bytes = written.bytes();
            let (width, height) = (32 * wide, 32 * high);
            let partition = Partition::read(&mut BitReader::plain(&bytes), width, height).unwrap();
            assert_eq!(partition.tiles, tiles);
            let layout = SliceLayout::new(Some(&partition), high, None);
            let mut header = Written::default();
            if raster {
                let first = rng.below(count);
                let slice = 1 + rng.below(count - first);
                header.u(ceil_log2(count as u32), first as u32);
                header.u(3, 5); // extra bits
                if count - first > 1 {
                    header.ue(slice as u32 - 1);
                }
                let mut blocks = Vec::new();
                for tile in first..first + slice {
                    let (column, row) = tiles.place(tile);
                    rect(&mut blocks, edges(&tiles.columns, column), edges(&tiles.rows, row));
                }
                check(&layout, &header, &tiles, &blocks);
            }
            let slices = expected.len() as u32;
            for (address, blocks) in (0..).zip(&expected) {
                let mut header = Written::default();
                header.u(ceil_log2(slices), address);
                header.u(3, 5);
                check(&layout, &header, &tiles, blocks);
            }
        }
    }

    fn check(layout: &SliceLayout<'_>, header: &Written, tiles: &Tiles, blocks: &[(u32, u32)]) {
        let parts = layout.read(&mut BitReader::plain(&header.bytes()), 0, 3).unwrap();
        for sync in [false, true] {
            assert_eq!(parts.entry_points(sync), entry_points(tiles, blocks, sync), "{tiles:?}");
        }
    }

    /// Rows of tiles become slices of equal height; single tiles become several slices. The last slice is the last
    /// tile, or what is left of the last row.
    fn write_slices(rng: &mut Rng, written: &mut Written, tiles: &Tiles) -> Vec<Blocks> {
        let (wide, high) = (tiles.columns.len(), tiles.rows.len());
        // What is coded of each slice, and its blocks; several slices of one tile go together.
        let mut entries: Vec<(Vec<u32>, Vec<Blocks>)> = Vec::new();
        let mut row = 0;
        while row < high {
            let height = 1 + rng.below(high - row);
            let mut column = 0;
            while column < wide {
                let width = 1 + rng.below(wide - column);
                let mut coded = Vec::new();
                if column + 1 < wide {
                    coded.push(width as u32 - 1);
                }
                if row + 1 < high && column == 0 {
                    coded.push(height as u32 - 1);
                }
                let mut slices = vec![Vec::new()];
                let (x, y) = (edges(&tiles.columns, column), edges(&tiles.rows, row));
                if width == 1 && height == 1 && tiles.rows[row] > 1 {
                    let explicit = rng.below(3).min(tiles.rows[row] as usize - 1);
                    coded.push(explicit as u32);
                    let (mut at, mut size) = (y[0], y[1] - y[0]);
                    let mut ends = Vec::new();
                    for number in 0..explicit {
                        let most = y[1] - at - (explicit - number - 1) as u32;
                        size = 1 + rng.below(most as usize) as u32;
                        coded.push(size - 1);
                        at += size;
                        ends.push(at);
                    }
                    while at < y[1] {
                        at = (at + size).min(y[1]);
                        ends.push(at);
                    }
                    slices = vec![Vec::new(); ends.len()];
                    let mut start = y[0];
                    for (slice, end) in slices.iter_mut().zip(ends) {
                        rect(slice, x, [start, end]);
                        start = end;
                    }
                } else {
                    for row in row..row + height {
                        for column in column..column + width {
                            let (x, y) = (edges(&tiles.columns, column), edges(&tiles.rows, row));
                            rect(&mut slices[0], x, y);
                        }
                    }
                }
                entries.push((coded, slices));
                column += width;
            }
            row += height;
        }
        let slices: Vec<_> = entries.iter().flat_map(|(_, slices)| slices.clone()).collect();
        written.ue(slices.len() as u32 - 1);
        if slices.len() > 2 {
            written.u(1, 0); // pps_tile_idx_delta_present_flag
        }
        // Nothing is coded of the last slice, unless it shares its tile with others.
        let last = entries.len() - 1;
        for (number, (coded, slices)) in entries.iter().enumerate() {
            if number < last || slices.len() > 1 {
                for &value in coded {
                    written.ue(value);
                }
            }
        }
        slices
    }
}
