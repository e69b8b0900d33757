//! Slices as arrays of the length that a leaf takes.

use crate::Block;

/// The first `N` of a slice.
#[inline(always)]
pub(crate) fn first<T, const N: usize>(slice: &[T]) -> &[T; N] {
    match slice.first_chunk() {
        Some(chunk) => chunk,
        None => too_short(),
    }
}

/// The first `N` of a slice, writable.
#[inline(always)]
pub(crate) fn first_mut<T, const N: usize>(slice: &mut [T]) -> &mut [T; N] {
    match slice.first_chunk_mut() {
        Some(chunk) => chunk,
        None => too_short(),
    }
}

/// The first bytes of `N` blocks, and zeros behind them.
#[inline(always)]
pub(crate) fn padded<const N: usize>(src: &[u8]) -> [Block; N] {
    let mut blocks = [[0; 16]; N];
    match blocks.as_flattened_mut().get_mut(..src.len()) {
        Some(to) => to.copy_from_slice(src),
        None => too_long(),
    }
    blocks
}

/// The first bytes of `blocks`, as many as `dst` has.
#[inline(always)]
pub(crate) fn copy_part(blocks: &[Block], dst: &mut [u8]) {
    match blocks.as_flattened().get(..dst.len()) {
        Some(from) => dst.copy_from_slice(from),
        None => too_long(),
    }
}

#[cold]
#[inline(never)]
pub(crate) fn too_long() -> ! {
    panic!("more bytes than a vector holds")
}

#[cold]
#[inline(never)]
fn too_short() -> ! {
    panic!("a slice is shorter than the vector operation on it")
}
