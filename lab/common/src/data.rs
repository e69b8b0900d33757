//! Keys, nonces and buffers of a row: the same for every library, so that results can be compared.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::row::{Keys, Row};

/// What a call works on. Ciphers, `seal` and key wrapping of one message work in place in `output`
/// where the library can; `open` reads `input` and writes `output`, because it could not be
/// repeated in place.
pub struct Data {
    /// One key, or one for each message.
    pub keys: Vec<Vec<u8>>,
    /// Of message `i`; a cipher takes as many of its bytes as it has in an IV or nonce.
    pub nonces: Vec<[u8; 32]>,
    pub input: Vec<Vec<u8>>,
    pub output: Vec<Vec<u8>>,
    pub tags: Vec<[u8; 16]>,
}

impl Data {
    pub fn new(row: &Row) -> Self {
        let messages = 0..row.streams;
        let keys = if row.keys == Keys::Each { row.streams } else { 1 };
        // XTS has two keys of that size, key wrapping eight bytes more of output.
        let key_bytes = row.key_bits / 8 * if row.algorithm == "xts" { 2 } else { 1 };
        let more = if row.algorithm.starts_with("kw") { 8 } else { 0 };
        Self {
            keys: (0..keys)
                .map(|i| (0..key_bytes).map(|j| byte(7 * i + 11 * j + 3)).collect())
                .collect(),
            nonces: messages.clone().map(|i| nonce(row, i)).collect(),
            input: buffers(row, 0),
            output: buffers(row, more),
            tags: vec![[0; 16]; row.streams],
        }
    }

    /// The key of message `i`.
    pub fn key(&self, i: usize) -> &[u8] {
        &self.keys[self.key_index(i)]
    }

    /// Which of the keys is that of message `i`.
    pub fn key_index(&self, i: usize) -> usize {
        if self.keys.len() == 1 { 0 } else { i }
    }

    /// Makes what `seal` or wrapping left behind the input of the opposite operation.
    pub fn turn(&mut self) {
        self.input = std::mem::take(&mut self.output);
        self.output = self.input.iter().map(|bytes| vec![0; bytes.len()]).collect();
    }

    /// A number by which results are compared: FNV-1a over outputs and tags.
    pub fn digest(&self, row: &Row) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |bytes: &[u8]| {
            for byte in bytes {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        let written = !matches!(&row.operation[..], "mac" | "hash" | "expand");
        for (output, tag) in self.output.iter().zip(&self.tags) {
            if written {
                add(output);
            }
            add(tag);
        }
        hash
    }
}

/// XTS: the number of the sector. All others: bytes of which the last four, taken as a counter, do
/// not overflow within a message.
fn nonce(row: &Row, i: usize) -> [u8; 32] {
    let mut nonce = [0; 32];
    if row.algorithm == "xts" {
        nonce[..8].copy_from_slice(&(i as u64).to_le_bytes());
    } else {
        for (j, b) in nonce.iter_mut().enumerate() {
            *b = byte(11 * j + i % 100);
        }
    }
    nonce
}

/// A buffer for each message, apart from one another by odd distances as in a program: buffers
/// whose distance is a multiple of 4096 bytes share the same sets of the cache and evict one another.
fn buffers(row: &Row, more: usize) -> Vec<Vec<u8>> {
    let buffer = |i: usize| {
        let mut buffer = Vec::with_capacity(row.size + more + i * 7 % 13 * 192);
        // Period 251, so that exchanged blocks show.
        buffer.extend((0..row.size).map(|j| byte((i + j) % 251)));
        buffer.resize(row.size + more, 0);
        buffer
    };
    (0..row.streams).map(buffer).collect()
}

fn byte(number: usize) -> u8 {
    number.to_le_bytes()[0]
}

/// Gives every allocation the alignment of a cache line, in every worker: otherwise the offset that
/// an allocator happens to choose would decide contests.
pub struct CacheLines;

#[global_allocator]
static ALLOCATOR: CacheLines = CacheLines;

// SAFETY: the system's allocator, asked for more alignment.
unsafe impl GlobalAlloc for CacheLines {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        unsafe { System.alloc(wider(layout)) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises; `alloc` asked for the same.
        unsafe { System.dealloc(pointer, wider(layout)) }
    }
}

fn wider(layout: Layout) -> Layout {
    layout.align_to(64).expect("a size far below the address space")
}
