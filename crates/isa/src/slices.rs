//! Slices as arrays of the length that a leaf takes.

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

#[cold]
#[inline(never)]
fn too_short() -> ! {
    panic!("a slice is shorter than the vector operation on it")
}
