//! Equally long pieces of many buffers, one for each lane of `N` vectors.
//!
//! Lane kernels read block `at` of up to 32 buffers, then write it. With slices that is a bounds
//! check for each buffer and block. [`LaneBuffers`] hold the buffers for as long as they sit in the lanes, and
//! number their blocks alike: all lanes are at the same number at a time. A [`Window`] checks the lengths of
//! all buffers once; after that one check of `at` against the common length covers a whole row (block `at` of
//! every lane).

use core::marker::PhantomData;

use super::{Blocks, WIDEST};
use crate::Block;

/// The most lanes that a level uses: eight vectors of four.
pub const MOST_LANES: usize = 32;

const SHORT: &str = "a lane is shorter than its window";
const OUTSIDE: &str = "outside of the window";
const MANY: &str = "more blocks than can be numbered";
const FEW: &str = "more rows than were asked for";

/// Vectors whose lanes are blocks of many buffers.
pub trait Windows: Blocks {
    /// Rows and columns of a square of blocks exchanged: block *j* of vector *i* becomes block *i* of
    /// vector *j*. Only the first `WIDTH` vectors count.
    fn turn(self, square: [Self::V; WIDEST]) -> [Self::V; WIDEST];
    /// Lane *i* is the exclusive or of all lanes of vector *i*: what the vectors of the turned square add up to.
    fn sums(self, square: [Self::V; WIDEST]) -> Self::V;

    /// Vector number `vector` of a row.
    #[inline(always)]
    fn gather<D, const N: usize>(self, row: Row<'_, D, N>, vector: usize) -> Self::V {
        let mut blocks = [row.read(vector, 0); WIDEST];
        for lane in 0..Self::WIDTH {
            blocks[lane] = row.read(vector, lane);
        }
        self.load_each(&blocks)
    }
    /// Vector number `vector` of a row = `v`. All its lanes have a buffer.
    #[inline(always)]
    fn scatter<const N: usize>(self, v: Self::V, row: &mut RowMut<'_, N>, vector: usize) {
        row.assert_full(vector);
        let lanes = self.lanes(v);
        for lane in 0..Self::WIDTH {
            self.narrow().store(lanes[lane], row.write(vector, lane));
        }
    }
    /// Lanes 0 to `count` - 1 of the last vector of a row = those of `v`.
    #[inline(always)]
    fn scatter_last<const N: usize>(self, v: Self::V, row: &mut RowMut<'_, N>, count: usize) {
        let lanes = self.lanes(v);
        for lane in 0..Self::WIDTH {
            if lane < count {
                self.narrow().store(lanes[lane], row.write(N - 1, lane));
            }
        }
    }
    /// `WIDTH` rows of vector number `vector`: vector *j* of the result is row *j*. Where
    /// [`gather`](Windows::gather) makes a load of 16 bytes for each block, this loads `WIDTH` blocks
    /// of a lane at once and transposes the square of blocks in registers. Only the first `WIDTH`
    /// vectors of the result count.
    #[inline(always)]
    fn gather_square<D, const N: usize>(self, rows: Row<'_, D, N>, vector: usize) -> [Self::V; 4] {
        // In registers: a load that is part of a shuffle would be one of each shuffle of what is loaded.
        let load = |lane| self.here(self.load(rows.read_run(vector, lane, Self::WIDTH)));
        let mut v = [load(0); WIDEST];
        for lane in 1..Self::WIDTH {
            v[lane] = load(lane);
        }
        self.turn(v)
    }
    /// `WIDTH` rows of vector number `vector` = the first `WIDTH` vectors of `v`. All its lanes have a
    /// buffer.
    #[inline(always)]
    fn scatter_square<const N: usize>(
        self,
        v: [Self::V; 4],
        rows: &mut RowMut<'_, N>,
        vector: usize,
    ) {
        rows.assert_full(vector);
        let lanes = self.turn(v);
        for lane in 0..Self::WIDTH {
            self.store(lanes[lane], rows.write_run(vector, lane, Self::WIDTH));
        }
    }
    /// Lanes 0 to `count` - 1 of `WIDTH` rows of the last vector = those of the first `WIDTH` vectors
    /// of `v`.
    #[inline(always)]
    fn scatter_square_last<const N: usize>(
        self,
        v: [Self::V; 4],
        rows: &mut RowMut<'_, N>,
        count: usize,
    ) {
        let lanes = self.turn(v);
        for lane in 0..Self::WIDTH {
            if lane < count {
                self.store(lanes[lane], rows.write_run(N - 1, lane, Self::WIDTH));
            }
        }
    }
}

/// The buffers that sit in the lanes, each borrowed as `D`: `&mut [Block]`, or `&[Block]` to be read only.
///
/// Blocks have numbers that are common to all lanes, and all lanes are at the same one: the first block of a
/// buffer has the number that the others have arrived at when it takes its lane.
#[derive(Debug)]
pub struct LaneBuffers<D> {
    /// Where block 0 of each lane would be. Blocks `now` to `end - 1`, if there are any, are borrowed.
    base: [*mut Block; MOST_LANES],
    /// The number behind the last block of each lane; 0 where there is no buffer.
    end: [usize; MOST_LANES],
    now: usize,
    borrow: PhantomData<D>,
}

impl<D> Default for LaneBuffers<D> {
    #[inline(always)]
    fn default() -> Self {
        let base = [core::ptr::null_mut(); MOST_LANES];
        Self { base, end: [0; MOST_LANES], now: 0, borrow: PhantomData }
    }
}

impl<'d> LaneBuffers<&'d mut [Block]> {
    /// `buffer` takes `lane`, which nobody has any more.
    #[inline(always)]
    pub fn seat(&mut self, lane: usize, buffer: &'d mut [Block]) {
        self.take(lane, buffer.as_mut_ptr(), buffer.len());
    }
}

impl<'d> LaneBuffers<&'d [Block]> {
    /// `buffer` takes `lane`, which nobody has any more.
    #[inline(always)]
    pub fn seat(&mut self, lane: usize, buffer: &'d [Block]) {
        // The cast to `*mut` is only for the shared type: windows on such buffers cannot be written.
        self.take(lane, buffer.as_ptr().cast_mut(), buffer.len());
    }
}

impl<D> LaneBuffers<D> {
    #[inline(always)]
    fn take(&mut self, lane: usize, first: *mut Block, blocks: usize) {
        self.base[lane] = first.wrapping_sub(self.now);
        self.end[lane] = self.now.checked_add(blocks).expect(MANY);
    }

    /// What sits in lane `from` moves to lane `to`, which nobody has any more.
    #[inline(always)]
    pub fn move_lane(&mut self, from: usize, to: usize) {
        self.base[to] = self.base[from];
        self.end[to] = core::mem::take(&mut self.end[from]);
    }

    /// Lanes 0 to `used` - 1 leave their next blocks behind. Those from there to `lanes` - 1 stay where they are.
    ///
    /// # Panics
    /// If there are more blocks than can be numbered.
    #[inline(always)]
    pub fn advance(&mut self, used: usize, lanes: usize, blocks: usize) {
        self.now = self.now.checked_add(blocks).expect(MANY);
        for lane in used..lanes {
            self.base[lane] = self.base[lane].wrapping_sub(blocks);
            self.end[lane] = self.end[lane].checked_add(blocks).expect(MANY);
        }
    }

    /// A window on the next `blocks` blocks of lanes 0 to `used` - 1, for vectors of `width` lanes. Lanes
    /// behind these that the last vector has lose their buffers.
    ///
    /// # Panics
    /// If a lane has not so many left, or the lanes do not need exactly `N` vectors; and if there are more blocks
    /// than can be numbered.
    #[inline(always)]
    pub fn window<const N: usize>(
        &mut self,
        width: usize,
        blocks: usize,
        used: usize,
    ) -> Window<'_, D, N> {
        assert!(
            width <= WIDEST && used > (N - 1) * width && used <= N * width,
            "the lanes need another number of vectors"
        );
        let behind = self.now.checked_add(blocks).expect(MANY);
        assert!(self.end[..used].iter().all(|end| *end >= behind), "{SHORT}");
        for lane in used..N * width {
            (self.base[lane], self.end[lane]) = (self.base[0], 0);
        }
        Window { now: self.now, buffers: self, width, in_last: used - (N - 1) * width, blocks }
    }
}

/// The next blocks of separate buffers, one buffer for each lane of `N` vectors: see [`LaneBuffers::window`].
///
/// All lanes are equally long, so one check covers block `at` of every lane, where a slice of slices
/// needs one for each: see [`rows`](Window::rows). Lanes that no buffer is left for read as lane 0, and
/// cannot be written.
#[derive(Debug)]
pub struct Window<'w, D, const N: usize> {
    /// The first `width` lanes of each vector but the last, and the first `in_last` of the last, each have a
    /// buffer of their own with so many `blocks` left; the other lanes of the last vector point to lane 0's,
    /// and are only read.
    buffers: &'w mut LaneBuffers<D>,
    /// The number of the first block: that of the buffers, where a store of blocks might have changed it for all that
    /// the optimiser knows.
    now: usize,
    width: usize,
    in_last: usize,
    blocks: usize,
}

impl<D, const N: usize> Window<'_, D, N> {
    /// The number of lanes of the last vector that have a buffer.
    #[inline(always)]
    pub fn in_last(&self) -> usize {
        self.in_last
    }

    /// Block `at` of every lane, for reading.
    ///
    /// # Panics
    /// If `at` is outside of the window.
    #[inline(always)]
    pub fn row(&self, at: usize) -> Row<'_, D, N> {
        self.rows(at, 1)
    }

    /// Blocks `at` to `at + count - 1` of every lane, for reading.
    ///
    /// # Panics
    /// If one of them is outside of the window.
    #[inline(always)]
    pub fn rows(&self, at: usize, count: usize) -> Row<'_, D, N> {
        assert!(at < self.blocks && self.blocks - at >= count, "{OUTSIDE}");
        let Self { buffers, width, .. } = self;
        Row { buffers, width: *width, first: offset(self.now + at), count }
    }
}

impl<const N: usize> Window<'_, &mut [Block], N> {
    /// Block `at` of every lane, for writing vectors of `width` lanes.
    ///
    /// # Panics
    /// If `at` is outside of the window, or `width` is not that of the window.
    #[inline(always)]
    pub fn row_mut(&mut self, width: usize, at: usize) -> RowMut<'_, N> {
        self.rows_mut(width, at, 1)
    }

    /// Blocks `at` to `at + count - 1` of every lane, for writing vectors of `width` lanes.
    ///
    /// # Panics
    /// If one of them is outside of the window, or `width` is not that of the window.
    #[inline(always)]
    pub fn rows_mut(&mut self, width: usize, at: usize, count: usize) -> RowMut<'_, N> {
        assert!(at < self.blocks && self.blocks - at >= count && width == self.width, "{OUTSIDE}");
        let (first, in_last) = (offset(self.now + at), self.in_last);
        RowMut { base: &mut self.buffers.base, width, in_last, first, count }
    }
}

/// The bytes of so many blocks: the lanes of a row have it in common, where each address would be a product.
#[inline(always)]
fn offset(blocks: usize) -> usize {
    blocks.wrapping_mul(size_of::<Block>())
}

/// The same blocks of every lane: made by [`Window::rows`], which proved that they are inside.
#[derive(Debug)]
pub struct Row<'w, D, const N: usize> {
    buffers: &'w LaneBuffers<D>,
    width: usize,
    /// The bytes from block 0 to the first block.
    first: usize,
    count: usize,
}

impl<D, const N: usize> Clone for Row<'_, D, N> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<D, const N: usize> Copy for Row<'_, D, N> {}

impl<'w, D, const N: usize> Row<'w, D, N> {
    /// The first block of lane `lane` of a vector.
    #[inline(always)]
    pub(crate) fn read(self, vector: usize, lane: usize) -> &'w Block {
        &self.read_run(vector, lane, 1)[0]
    }

    /// The first `length` blocks of lane `lane` of a vector.
    #[inline(always)]
    pub(crate) fn read_run(self, vector: usize, lane: usize, length: usize) -> &'w [Block] {
        assert!(length <= self.count, "{FEW}");
        assert!(vector < N && lane < self.width, "a lane outside of the vectors");
        let first = self.buffers.base[vector * self.width + lane].wrapping_byte_add(self.first);
        // SAFETY: the window has proved that `count` blocks from `first` on are borrowed in every lane of
        // its vectors, and the shared borrow of it keeps writers away.
        unsafe { core::slice::from_raw_parts(first, length) }
    }
}

/// The same blocks of every lane, writable: made by [`Window::rows_mut`], which proved that they are
/// inside.
#[derive(Debug)]
pub struct RowMut<'w, const N: usize> {
    base: &'w mut [*mut Block; MOST_LANES],
    width: usize,
    in_last: usize,
    /// The bytes from block 0 to the first block.
    first: usize,
    count: usize,
}

impl<const N: usize> RowMut<'_, N> {
    /// Proves once that all lanes of a vector have a buffer.
    #[inline(always)]
    pub(crate) fn assert_full(&self, vector: usize) {
        assert!(vector + 1 < N || self.width <= self.in_last, "a lane without a buffer");
    }

    /// The first block of lane `lane` of a vector, and nothing behind it.
    #[inline(always)]
    pub(crate) fn write(&mut self, vector: usize, lane: usize) -> &mut [Block] {
        self.write_run(vector, lane, 1)
    }

    /// The first `length` blocks of lane `lane` of a vector.
    #[inline(always)]
    pub(crate) fn write_run(&mut self, vector: usize, lane: usize, length: usize) -> &mut [Block] {
        assert!(length <= self.count, "{FEW}");
        assert!(
            lane < self.width && (vector + 1 < N || vector < N && lane < self.in_last),
            "a lane without a buffer"
        );
        let first = self.base[vector * self.width + lane].wrapping_byte_add(self.first);
        // SAFETY: the window has proved that `count` blocks from `first` on are borrowed mutably in this
        // lane, which has a buffer of its own; the mutable borrow of the window keeps all others away.
        unsafe { core::slice::from_raw_parts_mut(first, length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffers() -> [[Block; 4]; 3] {
        core::array::from_fn(|lane| {
            core::array::from_fn(|block| [u8::try_from(10 * lane + block).unwrap(); 16])
        })
    }

    fn seated(buffers: &mut [[Block; 4]; 3]) -> LaneBuffers<&mut [Block]> {
        let mut lanes = LaneBuffers::<&mut [Block]>::default();
        for (lane, buffer) in buffers.iter_mut().enumerate() {
            lanes.seat(lane, buffer);
        }
        lanes
    }

    #[test]
    fn rows_are_the_blocks_of_the_lanes() {
        let mut buffers = buffers();
        let mut lanes = seated(&mut buffers);
        let mut window = lanes.window::<2>(2, 3, 3);
        assert_eq!([0, 1].map(|lane| window.row(2).read(0, lane)), [&[2; 16], &[12; 16]]);
        let last = [0, 1].map(|lane| window.row(1).read(1, lane));
        assert_eq!(last, [&[21; 16], &[1; 16]], "padding reads as lane 0");
        for (vector, lane) in [(0, 0), (0, 1), (1, 0)] {
            window.row_mut(2, 0).write(vector, lane)[0] =
                [97 + u8::try_from(2 * vector + lane).unwrap(); 16];
        }
        assert_eq!([buffers[0][0], buffers[1][0], buffers[2][0]], [[97; 16], [98; 16], [99; 16]]);
    }

    #[test]
    fn runs_are_the_blocks_of_several_rows() {
        let mut buffers = buffers();
        let mut shared = LaneBuffers::<&[Block]>::default();
        for (lane, buffer) in buffers.iter().enumerate() {
            shared.seat(lane, buffer);
        }
        let window = shared.window::<2>(2, 4, 3);
        assert_eq!(window.rows(1, 2).read_run(0, 1, 2), [[11; 16], [12; 16]]);
        assert_eq!(window.rows(2, 2).read_run(1, 0, 2), [[22; 16], [23; 16]]);
        assert_eq!(window.rows(2, 2).read_run(1, 1, 2), [[2; 16], [3; 16]], "padding is lane 0");
        let mut lanes = seated(&mut buffers);
        let mut window = lanes.window::<2>(2, 4, 3);
        window.rows_mut(2, 2, 2).write_run(1, 0, 2).fill([99; 16]);
        window.rows_mut(2, 0, 3).write_run(0, 1, 3).fill([98; 16]);
        assert_eq!(buffers[1], [[98; 16], [98; 16], [98; 16], [13; 16]]);
        assert_eq!(buffers[2], [[20; 16], [21; 16], [99; 16], [99; 16]]);
    }

    #[test]
    fn lanes_go_on_from_where_they_are() {
        let (mut buffers, mut late) = (buffers(), [[77; 16], [78; 16]]);
        let mut lanes = seated(&mut buffers);
        lanes.advance(2, 3, 1);
        // Lane 2 has stayed behind, lane 1 goes, and another buffer takes its place.
        lanes.seat(1, &mut late);
        let window = lanes.window::<3>(1, 2, 3);
        let row = |at| [0, 1, 2].map(|lane| window.row(at).read(lane, 0)[0]);
        assert_eq!([row(0), row(1)], [[1, 77, 20], [2, 78, 21]]);
        lanes.advance(3, 3, 2);
        lanes.move_lane(2, 1);
        let mut window = lanes.window::<1>(2, 1, 2);
        assert_eq!([window.row(0).read(0, 0)[0], window.row(0).read(0, 1)[0]], [3, 22]);
        window.row_mut(2, 0).write(0, 1)[0] = [99; 16];
        assert_eq!(buffers[2], [[20; 16], [21; 16], [99; 16], [23; 16]]);
    }

    #[test]
    #[should_panic(expected = "shorter than its window")]
    fn a_lane_that_has_been_left_is_refused() {
        let mut buffers = buffers();
        let mut lanes = seated(&mut buffers);
        lanes.move_lane(2, 1);
        lanes.window::<3>(1, 1, 3);
    }

    #[test]
    #[should_panic(expected = "shorter than its window")]
    fn padding_has_no_buffer_any_more() {
        let mut buffers = buffers();
        let mut lanes = seated(&mut buffers);
        lanes.window::<1>(2, 1, 1);
        lanes.window::<1>(2, 1, 2);
    }

    #[test]
    #[should_panic(expected = "shorter than its window")]
    fn blocks_behind_the_end_are_refused() {
        let mut buffers = buffers();
        let mut lanes = seated(&mut buffers);
        lanes.advance(3, 3, 3);
        lanes.window::<3>(1, 2, 3);
    }

    #[test]
    #[should_panic(expected = "outside of the window")]
    fn rows_behind_the_end_are_refused() {
        seated(&mut buffers()).window::<1>(1, 3, 1).rows(2, 2);
    }

    #[test]
    #[should_panic(expected = "outside of the window")]
    fn so_many_rows_are_refused() {
        seated(&mut buffers()).window::<1>(1, 3, 1).rows_mut(1, 2, usize::MAX);
    }

    #[test]
    #[should_panic(expected = "more rows")]
    fn a_run_has_the_rows_asked_for() {
        seated(&mut buffers()).window::<1>(1, 3, 1).rows(0, 2).read_run(0, 0, 3);
    }

    #[test]
    #[should_panic(expected = "more rows")]
    fn a_run_to_write_has_the_rows_asked_for() {
        seated(&mut buffers()).window::<1>(1, 3, 1).rows_mut(1, 0, 2).write_run(0, 0, 3);
    }

    #[test]
    #[should_panic(expected = "shorter than its window")]
    fn a_short_lane_is_refused() {
        seated(&mut buffers()).window::<1>(1, 5, 1);
    }

    #[test]
    #[should_panic(expected = "another number of vectors")]
    fn an_empty_vector_is_refused() {
        seated(&mut buffers()).window::<2>(1, 1, 1);
    }

    #[test]
    #[should_panic(expected = "outside of the window")]
    fn a_row_behind_the_end_is_refused() {
        seated(&mut buffers()).window::<1>(1, 3, 1).row(3);
    }

    #[test]
    #[should_panic(expected = "outside of the vectors")]
    fn a_lane_behind_the_last_is_refused() {
        seated(&mut buffers()).window::<1>(2, 3, 2).row(0).read(1, 0);
    }

    #[test]
    #[should_panic(expected = "a lane without a buffer")]
    fn padding_cannot_be_written() {
        seated(&mut buffers()).window::<1>(2, 3, 1).row_mut(2, 0).assert_full(0);
    }

    #[test]
    #[should_panic(expected = "a lane without a buffer")]
    fn padding_cannot_be_written_singly() {
        seated(&mut buffers()).window::<1>(2, 3, 1).row_mut(2, 0).write(0, 1);
    }

    #[test]
    #[should_panic(expected = "a lane without a buffer")]
    fn vectors_behind_the_last_cannot_be_written() {
        seated(&mut buffers()).window::<1>(2, 3, 2).row_mut(2, 0).write(1, 0);
    }
}
