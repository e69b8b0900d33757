//! Equally long pieces of many buffers, one for each lane.

use core::marker::PhantomData;

use crate::Block;

/// The most lanes that a [`Window`] holds.
pub const MOST_LANES: usize = 32;

/// Up to [`MOST_LANES`] separate buffers of at least [`blocks`](Window::blocks) blocks each, borrowed
/// mutably. Because all are equally long, one check covers the same block of every lane, where a
/// slice of slices needs one for each.
#[derive(Debug)]
pub struct Window<'d> {
    /// Entries below `readable` point to `blocks` blocks that are borrowed for `'d`; those below
    /// `lanes` each to a buffer of its own.
    base: [*mut Block; MOST_LANES],
    lanes: usize,
    /// Lanes that may be read: `lanes`, or more after `pad`.
    readable: usize,
    blocks: usize,
    borrow: PhantomData<&'d mut [Block]>,
}

impl<'d> Window<'d> {
    /// A window without lanes, `blocks` blocks long.
    #[inline(always)]
    pub fn new(blocks: usize) -> Self {
        let base = [core::ptr::null_mut(); MOST_LANES];
        Self { base, lanes: 0, readable: 0, blocks, borrow: PhantomData }
    }

    /// Adds a lane.
    ///
    /// # Panics
    /// If `buffer` is shorter than the window, or all lanes are taken.
    #[inline(always)]
    pub fn push(&mut self, buffer: &'d mut [Block]) {
        assert!(buffer.len() >= self.blocks, "a lane is shorter than its window");
        self.base[self.lanes] = buffer.as_mut_ptr();
        self.lanes += 1;
        self.readable = self.lanes;
    }

    /// Makes the number of lanes that can be read a multiple of `width`: the added ones read as lane
    /// 0, and cannot be written. All lanes are there before.
    #[inline(always)]
    pub fn pad(&mut self, width: usize) {
        while self.lanes > 0 && !self.readable.is_multiple_of(width) {
            self.base[self.readable] = self.base[0];
            self.readable += 1;
        }
    }

    /// The number of lanes.
    #[inline(always)]
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// The length of each lane.
    #[inline(always)]
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Block `at` of lanes `first` to `first + W - 1`.
    #[inline(always)]
    pub(crate) fn read<const W: usize>(&self, first: usize, at: usize) -> [&Block; W] {
        assert!(first + W <= self.readable && at < self.blocks, "outside of the window");
        let mut lanes = [&[0; 16]; W];
        for (i, lane) in lanes.iter_mut().enumerate() {
            // SAFETY: lane and block are inside the borrowed buffers, and `&self` keeps writers away.
            *lane = unsafe { &*self.base[first + i].wrapping_add(at) };
        }
        lanes
    }

    /// Block `at` of lane `lane`.
    #[inline(always)]
    pub(crate) fn write(&mut self, lane: usize, at: usize) -> &mut Block {
        assert!(lane < self.lanes && at < self.blocks, "outside of the window");
        // SAFETY: lane and block are inside the borrowed buffers, and `&mut self` makes this the only
        // reference into them.
        unsafe { &mut *self.base[lane].wrapping_add(at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "shorter than its window")]
    fn a_short_lane_is_refused() {
        Window::new(3).push(&mut [[0; 16]; 2]);
    }

    #[test]
    #[should_panic(expected = "outside of the window")]
    fn reading_behind_the_end_is_refused() {
        let (mut a, mut b) = ([[1; 16]; 4], [[2; 16]; 4]);
        let mut window = Window::new(3);
        window.push(&mut a);
        window.push(&mut b);
        assert_eq!(window.read::<2>(0, 2), [&[1; 16], &[2; 16]]);
        window.read::<1>(1, 3);
    }

    #[test]
    #[should_panic(expected = "outside of the window")]
    fn padding_cannot_be_written() {
        let mut a = [[1; 16]; 4];
        let mut window = Window::new(4);
        window.push(&mut a);
        window.pad(4);
        assert_eq!(window.read::<4>(0, 3), [&[1; 16]; 4]);
        window.write(1, 0);
    }
}
