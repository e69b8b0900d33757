//! Equally long pieces of many buffers, one for each lane of `N` vectors.
//!
//! Lane kernels read block `at` of up to 32 buffers, then write it. With slices that is a bounds
//! check for each buffer and block. A [`Window`] checks the lengths of all buffers once; after that
//! one check of `at` against the common length covers a whole row (block `at` of every lane).

use core::marker::PhantomData;

use super::{Blocks, WIDEST};
use crate::Block;

/// The most lanes that a level uses: eight vectors of four.
pub const MOST_LANES: usize = 32;

const SHORT: &str = "a lane is shorter than its window";
const OUTSIDE: &str = "outside of the window";
const FEW: &str = "more rows than were asked for";

/// Vectors whose lanes are blocks of many buffers.
pub trait Windows: Blocks {
    /// Rows and columns of a square of blocks exchanged: block *j* of vector *i* becomes block *i* of
    /// vector *j*. Only the first `WIDTH` vectors count.
    fn turn(self, square: [Self::V; WIDEST]) -> [Self::V; WIDEST];

    /// Vector number `vector` of a row.
    #[inline(always)]
    fn gather<const N: usize>(self, row: Row<'_, '_, N>, vector: usize) -> Self::V {
        let mut blocks = [row.read(vector, 0); WIDEST];
        for lane in 0..Self::WIDTH {
            blocks[lane] = row.read(vector, lane);
        }
        self.load_each(&blocks)
    }
    /// Vector number `vector` of a row = `v`. All its lanes have a buffer.
    #[inline(always)]
    fn scatter<const N: usize>(self, v: Self::V, row: &mut RowMut<'_, '_, N>, vector: usize) {
        row.assert_full(vector);
        let lanes = self.lanes(v);
        for lane in 0..Self::WIDTH {
            self.narrow().store(lanes[lane], row.write(vector, lane));
        }
    }
    /// Lanes 0 to `count` - 1 of the last vector of a row = those of `v`.
    #[inline(always)]
    fn scatter_last<const N: usize>(self, v: Self::V, row: &mut RowMut<'_, '_, N>, count: usize) {
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
    fn gather_square<const N: usize>(self, rows: Row<'_, '_, N>, vector: usize) -> [Self::V; 4] {
        let mut v = [self.load(rows.read_run(vector, 0, Self::WIDTH)); WIDEST];
        for lane in 1..Self::WIDTH {
            v[lane] = self.load(rows.read_run(vector, lane, Self::WIDTH));
        }
        self.turn(v)
    }
    /// `WIDTH` rows of vector number `vector` = the first `WIDTH` vectors of `v`. All its lanes have a
    /// buffer.
    #[inline(always)]
    fn scatter_square<const N: usize>(
        self,
        v: [Self::V; 4],
        rows: &mut RowMut<'_, '_, N>,
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
        rows: &mut RowMut<'_, '_, N>,
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

/// The first blocks of separate buffers, borrowed mutably, one buffer for each lane of `N` vectors.
///
/// All lanes are equally long, so one check covers block `at` of every lane, where a slice of slices
/// needs one for each: see [`row`](Window::row). Lanes that no buffer is left for read as lane 0, and
/// cannot be written.
#[derive(Debug)]
pub struct Window<'d, const N: usize> {
    /// `base[vector][lane]` points to `blocks` blocks that are borrowed for `'d`. The first `width`
    /// lanes of each vector but the last, and the first `in_last` of the last, each have a buffer of
    /// their own; the other entries repeat lane 0 and are only read.
    base: [[*mut Block; WIDEST]; N],
    width: usize,
    in_last: usize,
    blocks: usize,
    borrow: PhantomData<&'d mut [Block]>,
}

impl<'d, const N: usize> Window<'d, N> {
    /// A window on the first `blocks` blocks of each of `lanes`, for vectors of `width` lanes.
    ///
    /// # Panics
    /// If a lane is shorter than that, or the lanes do not need exactly `N` vectors.
    #[inline(always)]
    pub fn new(width: usize, blocks: usize, lanes: &'d mut [&mut [Block]]) -> Self {
        let in_last = in_last::<N>(width, lanes.len());
        assert!(lanes.iter().all(|lane| lane.len() >= blocks), "{SHORT}");
        // `as_mut_ptr` once for each buffer: a second mutable borrow of a buffer would invalidate the
        // pointer that the first one gave (aliasing rules of mutable references). Hence `number > 0`.
        let mut base = [[lanes[0].as_mut_ptr(); WIDEST]; N];
        for vector in 0..N {
            for lane in 0..width {
                let number = vector * width + lane;
                if number > 0
                    && let Some(buffer) = lanes.get_mut(number)
                {
                    base[vector][lane] = buffer.as_mut_ptr();
                }
            }
        }
        Self { base, width, in_last, blocks, borrow: PhantomData }
    }

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
    pub fn row(&self, at: usize) -> Row<'_, 'd, N> {
        self.rows(at, 1)
    }

    /// Blocks `at` to `at + count - 1` of every lane, for reading.
    ///
    /// # Panics
    /// If one of them is outside of the window.
    #[inline(always)]
    pub fn rows(&self, at: usize, count: usize) -> Row<'_, 'd, N> {
        assert!(at < self.blocks && self.blocks - at >= count, "{OUTSIDE}");
        Row { window: self, at, count }
    }

    /// Block `at` of every lane, for writing vectors of `width` lanes.
    ///
    /// # Panics
    /// If `at` is outside of the window, or `width` is not that of the window.
    #[inline(always)]
    pub fn row_mut(&mut self, width: usize, at: usize) -> RowMut<'_, 'd, N> {
        self.rows_mut(width, at, 1)
    }

    /// Blocks `at` to `at + count - 1` of every lane, for writing vectors of `width` lanes.
    ///
    /// # Panics
    /// If one of them is outside of the window, or `width` is not that of the window.
    #[inline(always)]
    pub fn rows_mut(&mut self, width: usize, at: usize, count: usize) -> RowMut<'_, 'd, N> {
        assert!(at < self.blocks && self.blocks - at >= count && width == self.width, "{OUTSIDE}");
        RowMut { window: self, width, at, count }
    }
}

/// A [`Window`] on buffers that are borrowed to be read only.
#[derive(Debug)]
pub struct SharedWindow<'d, const N: usize>(Window<'d, N>);

impl<'d, const N: usize> SharedWindow<'d, N> {
    /// A window on the first `blocks` blocks of each of `lanes`, for vectors of `width` lanes.
    ///
    /// # Panics
    /// If a lane is shorter than that, or the lanes do not need exactly `N` vectors.
    #[inline(always)]
    pub fn new(width: usize, blocks: usize, lanes: &[&'d [Block]]) -> Self {
        let in_last = in_last::<N>(width, lanes.len());
        assert!(lanes.iter().all(|lane| lane.len() >= blocks), "{SHORT}");
        // The cast to `*mut` is only for the shared type: `rows_mut` and `row_mut`, which write,
        // cannot be reached through a `SharedWindow`.
        let mut base = [[lanes[0].as_ptr().cast_mut(); WIDEST]; N];
        for vector in 0..N {
            for lane in 0..width {
                if let Some(buffer) = lanes.get(vector * width + lane) {
                    base[vector][lane] = buffer.as_ptr().cast_mut();
                }
            }
        }
        Self(Window { base, width, in_last, blocks, borrow: PhantomData })
    }

    /// Blocks `at` to `at + count - 1` of every lane: see [`Window::rows`].
    #[inline(always)]
    pub fn rows(&self, at: usize, count: usize) -> Row<'_, 'd, N> {
        self.0.rows(at, count)
    }
}

/// The lanes of the last of `N` vectors of `width` lanes that hold `lanes` lanes.
#[inline(always)]
fn in_last<const N: usize>(width: usize, lanes: usize) -> usize {
    assert!(
        width <= WIDEST && lanes > (N - 1) * width && lanes <= N * width,
        "the lanes need another number of vectors"
    );
    lanes - (N - 1) * width
}

/// The same blocks of every lane: made by [`Window::rows`], which proved that they are inside.
#[derive(Clone, Copy, Debug)]
pub struct Row<'w, 'd, const N: usize> {
    window: &'w Window<'d, N>,
    at: usize,
    count: usize,
}

impl<'w, const N: usize> Row<'w, '_, N> {
    /// The first block of lane `lane` of a vector.
    #[inline(always)]
    pub(crate) fn read(self, vector: usize, lane: usize) -> &'w Block {
        &self.read_run(vector, lane, 1)[0]
    }

    /// The first `length` blocks of lane `lane` of a vector.
    #[inline(always)]
    pub(crate) fn read_run(self, vector: usize, lane: usize, length: usize) -> &'w [Block] {
        assert!(length <= self.count, "{FEW}");
        let first = self.window.base[vector][lane].wrapping_add(self.at);
        // SAFETY: every base points to `blocks` borrowed blocks, `at + count` is at most `blocks`, and
        // the shared borrow of the window keeps writers away.
        unsafe { core::slice::from_raw_parts(first, length) }
    }
}

/// The same blocks of every lane, writable: made by [`Window::rows_mut`], which proved that they are
/// inside.
#[derive(Debug)]
pub struct RowMut<'w, 'd, const N: usize> {
    window: &'w mut Window<'d, N>,
    width: usize,
    at: usize,
    count: usize,
}

impl<const N: usize> RowMut<'_, '_, N> {
    /// Proves once that all lanes of a vector have a buffer.
    #[inline(always)]
    pub(crate) fn assert_full(&self, vector: usize) {
        assert!(vector + 1 < N || self.width <= self.window.in_last, "a lane without a buffer");
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
            lane < self.width && (vector + 1 < N || lane < self.window.in_last),
            "a lane without a buffer"
        );
        let first = self.window.base[vector][lane].wrapping_add(self.at);
        // SAFETY: every base points to `blocks` borrowed blocks, and `at + count` is at most `blocks`;
        // the lane has a buffer of its own, and the mutable borrow keeps all others away.
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

    #[test]
    fn rows_are_the_blocks_of_the_lanes() {
        let mut buffers = buffers();
        let mut lanes: Vec<&mut [Block]> = buffers.iter_mut().map(|b| &mut b[..]).collect();
        let mut window = Window::<2>::new(2, 3, &mut lanes);
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
        let shared: Vec<&[Block]> = buffers.iter().map(|b| &b[..]).collect();
        let window = SharedWindow::<2>::new(2, 4, &shared);
        assert_eq!(window.rows(1, 2).read_run(0, 1, 2), [[11; 16], [12; 16]]);
        assert_eq!(window.rows(2, 2).read_run(1, 0, 2), [[22; 16], [23; 16]]);
        assert_eq!(window.rows(2, 2).read_run(1, 1, 2), [[2; 16], [3; 16]], "padding is lane 0");
        let mut lanes: Vec<&mut [Block]> = buffers.iter_mut().map(|b| &mut b[..]).collect();
        let mut window = Window::<2>::new(2, 4, &mut lanes);
        window.rows_mut(2, 2, 2).write_run(1, 0, 2).fill([99; 16]);
        window.rows_mut(2, 0, 3).write_run(0, 1, 3).fill([98; 16]);
        assert_eq!(buffers[1], [[98; 16], [98; 16], [98; 16], [13; 16]]);
        assert_eq!(buffers[2], [[20; 16], [21; 16], [99; 16], [99; 16]]);
    }

    #[test]
    #[should_panic(expected = "outside of the window")]
    fn rows_behind_the_end_are_refused() {
        SharedWindow::<1>::new(1, 3, &[&buffers()[0][..]]).rows(2, 2);
    }

    #[test]
    #[should_panic(expected = "outside of the window")]
    fn so_many_rows_are_refused() {
        Window::<1>::new(1, 3, &mut [&mut buffers()[0][..]]).rows_mut(1, 2, usize::MAX);
    }

    #[test]
    #[should_panic(expected = "more rows")]
    fn a_run_has_the_rows_asked_for() {
        Window::<1>::new(1, 3, &mut [&mut buffers()[0][..]]).rows(0, 2).read_run(0, 0, 3);
    }

    #[test]
    #[should_panic(expected = "more rows")]
    fn a_run_to_write_has_the_rows_asked_for() {
        Window::<1>::new(1, 3, &mut [&mut buffers()[0][..]]).rows_mut(1, 0, 2).write_run(0, 0, 3);
    }

    #[test]
    #[should_panic(expected = "shorter than its window")]
    fn a_short_lane_is_refused() {
        Window::<1>::new(1, 5, &mut [&mut buffers()[0][..]]);
    }

    #[test]
    #[should_panic(expected = "another number of vectors")]
    fn an_empty_vector_is_refused() {
        Window::<2>::new(1, 1, &mut [&mut buffers()[0][..]]);
    }

    #[test]
    #[should_panic(expected = "outside of the window")]
    fn a_row_behind_the_end_is_refused() {
        Window::<1>::new(1, 3, &mut [&mut buffers()[0][..]]).row(3);
    }

    #[test]
    #[should_panic(expected = "a lane without a buffer")]
    fn padding_cannot_be_written() {
        Window::<1>::new(2, 3, &mut [&mut buffers()[0][..]]).row_mut(2, 0).assert_full(0);
    }

    #[test]
    #[should_panic(expected = "a lane without a buffer")]
    fn padding_cannot_be_written_singly() {
        Window::<1>::new(2, 3, &mut [&mut buffers()[0][..]]).row_mut(2, 0).write(0, 1);
    }
}
