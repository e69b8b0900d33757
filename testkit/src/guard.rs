//! Buffers between unmapped pages: a read or write of one byte too many ends
//! the process, where an allocation would let it pass.
//!
//! Here is the one unsafe code outside of `lanelock-isa`, behind the feature
//! `guard`: three system calls for pages, and the slices made of them. It is in
//! no crate that is published.

use std::fmt;
use std::ptr::{self, NonNull};
use std::slice;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use rustix::param::page_size;

/// Pages that can be read and written, between two that cannot.
pub struct Guarded {
    /// The first byte that can be used.
    room: NonNull<u8>,
    len: usize,
}

impl Guarded {
    /// Room for buffers of up to `len` bytes.
    ///
    /// # Panics
    /// If the system has no memory left.
    #[must_use]
    #[expect(unsafe_code, reason = "pages come from the system as pointers")]
    pub fn new(len: usize) -> Self {
        let page = page_size();
        let len = len.max(1).next_multiple_of(page);
        // SAFETY: a new mapping at an address of the system's choice touches no
        // memory that is in use.
        let start = unsafe {
            mmap_anonymous(ptr::null_mut(), len + 2 * page, ProtFlags::empty(), MapFlags::PRIVATE)
        };
        let start = start.expect("the system has memory").cast::<u8>();
        let room = NonNull::new(start.wrapping_add(page)).expect("no mapping is at address 0");
        // SAFETY: the pages are inside the new mapping, to which nothing refers yet.
        let result = unsafe {
            mprotect(room.as_ptr().cast(), len, MprotectFlags::READ | MprotectFlags::WRITE)
        };
        result.expect("pages of one's own can be made writable");
        Self { room, len }
    }

    /// The last `len` bytes: what follows them cannot be read.
    ///
    /// # Panics
    /// If there is less room.
    pub fn at_end(&mut self, len: usize) -> &mut [u8] {
        let at = self.len - len;
        &mut self.whole()[at..]
    }

    /// The first `len` bytes: what precedes them cannot be read.
    ///
    /// # Panics
    /// If there is less room.
    pub fn at_start(&mut self, len: usize) -> &mut [u8] {
        &mut self.whole()[..len]
    }

    #[expect(unsafe_code, reason = "pages come from the system as pointers")]
    fn whole(&mut self) -> &mut [u8] {
        // SAFETY: `len` bytes from `room` on are mapped, readable and writable, and
        // filled with zeros by the system; they stay so until `self`, which is
        // borrowed mutably here, is dropped.
        unsafe { slice::from_raw_parts_mut(self.room.as_ptr(), self.len) }
    }
}

impl Drop for Guarded {
    #[expect(unsafe_code, reason = "pages go back to the system as pointers")]
    fn drop(&mut self) {
        let page = page_size();
        let start = self.room.as_ptr().wrapping_sub(page);
        // SAFETY: these are the pages of `new`, and no slice of them outlives `self`.
        let result = unsafe { munmap(start.cast(), self.len + 2 * page) };
        debug_assert!(result.is_ok(), "the mapping is whole");
    }
}

impl fmt::Debug for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded").field("len", &self.len).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_where_they_should_be() {
        let mut guarded = Guarded::new(10);
        let page = page_size();
        for len in [0, 1, 10, page] {
            let end = guarded.at_end(len).as_ptr_range().end as usize;
            let start = guarded.at_start(len).as_ptr() as usize;
            assert_eq!((start % page, end - start), (0, page));
        }
        guarded.at_start(3).copy_from_slice(b"one");
        guarded.at_end(3).copy_from_slice(b"two");
        assert_eq!(guarded.at_start(4), b"one\0");
    }

    /// The system's own list of mappings says that what is beside them cannot be read.
    #[test]
    #[cfg(target_os = "linux")]
    fn the_neighbours_are_unmapped() {
        let guarded = Guarded::new(10);
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux has the list");
        let start = guarded.room.as_ptr() as usize;
        let line = |at: usize| {
            let covers = |line: &&str| {
                let (from, to) = line.split_once(' ')?.0.split_once('-')?;
                let [from, to] = [from, to].map(|n| usize::from_str_radix(n, 16).ok());
                Some((from?..to?).contains(&at))
            };
            maps.lines().find(|line| covers(line) == Some(true)).expect("it is mapped")
        };
        assert!(line(start).contains(" rw-p "));
        assert!(line(start - 1).contains(" ---p "));
        assert!(line(start + guarded.len).contains(" ---p "));
    }
}
