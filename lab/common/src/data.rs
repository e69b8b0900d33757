//! Keys, nonces and buffers of a row: the same for every library, so that results can be compared.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::{
    row::{Keys, Row},
    traffic::{Buffer, Lengths, LengthsOfCalls, Place, next_copy},
};

/// How often PBKDF2 iterates.
pub const ITERATIONS: u32 = 1000;

/// What a call works on. Ciphers, `seal` and key wrapping of one message work in place in `output`
/// where the library can; `open` reads `input` and writes `output`, because it could not be
/// repeated in place.
pub struct Data {
    /// One key, or one for each message.
    pub keys: Vec<Vec<u8>>,
    /// Of message `i`; a cipher takes as many of its bytes as it has in an IV or nonce.
    pub nonces: Vec<[u8; 32]>,
    /// Additional authenticated data of every message.
    pub aad: Vec<u8>,
    /// As long as the longest message; see [`length`](Self::length).
    pub input: Vec<Buffer>,
    pub output: Vec<Buffer>,
    pub tags: Vec<[u8; 16]>,
    lengths: LengthsOfCalls,
    place: Place,
    /// Other buffers of the message, of which each call takes the next.
    copies: Vec<[Buffer; 2]>,
    copy: usize,
}

impl Data {
    pub fn new(row: &Row) -> Self {
        let messages = 0..row.streams;
        let keys = if row.keys == Keys::Each { row.streams } else { 1 };
        // XTS has two keys of that size, key wrapping eight bytes more of output.
        let key_bytes = row.key_bits / 8 * if row.algorithm == "xts" { 2 } else { 1 };
        let more = if row.algorithm.starts_with("kw") { 8 } else { 0 };
        let more = row.result_bytes().map_or(more, |bytes| bytes.saturating_sub(row.size));
        // A record has a key for its MAC; before the content is an IV, behind it MAC and padding.
        let record =
            mac_bytes(row).map(|mac| (mac, 16 + (row.size + mac + 1).next_multiple_of(16)));
        let (mac, more) = record.map_or((0, more), |(mac, sealed)| (mac, sealed - row.size));
        let key_bytes = key_bytes + mac;
        Self {
            keys: (0..keys)
                .map(|i| (0..key_bytes).map(|j| byte(7 * i + 11 * j + 3)).collect())
                .collect(),
            nonces: messages.clone().map(|i| nonce(row, i)).collect(),
            aad: {
                // Allocated, even if it is empty: the address of a vector without memory is in no page, and libraries
                // that load from there with an empty mask take hundreds of cycles, which callers in C do not see.
                let mut aad = Vec::with_capacity(row.aad.max(64));
                aad.extend((0..row.aad).map(|j| byte(5 * j + 1)));
                aad
            },
            input: buffers(row, 0),
            output: buffers(row, more),
            tags: vec![[0; 16]; row.streams],
            lengths: row.traffic.lengths.of_calls(row.size, row.streams),
            place: row.traffic.place,
            copies: Vec::new(),
            copy: 0,
        }
    }

    /// The lengths of the messages of this call.
    pub fn lengths(&self) -> &[usize] {
        self.lengths.now()
    }

    /// The length of message `i`: less than the buffer's, where calls have random lengths.
    pub fn length(&self, i: usize) -> usize {
        self.lengths.now()[i]
    }

    /// Goes on to the lengths and the copy of the next call.
    pub fn advance(&mut self) {
        self.lengths.advance();
        if !self.copies.is_empty() {
            self.copy = next_copy(self.copy, self.copies.len());
            let [input, output] = &mut self.copies[self.copy];
            std::mem::swap(&mut self.input[0], input);
            std::mem::swap(&mut self.output[0], output);
        }
    }

    /// From now on each call finds the message in one of so many other places.
    pub fn cool(&mut self, copies: usize) {
        let copy = |bytes: &Buffer| Buffer::new(self.place, 0, bytes.to_vec().into_iter());
        self.copies = (0..copies).map(|_| [copy(&self.input[0]), copy(&self.output[0])]).collect();
    }

    /// The password of key `i`, the salt, and room for what is derived from them.
    pub fn password(&mut self, i: usize) -> (&[u8], &[u8], &mut [u8]) {
        (&self.nonces[i][..8], &self.nonces[0][8..24], &mut self.output[i])
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
        let zeros = |(i, bytes): (usize, &Buffer)| {
            Buffer::new(self.place, i, std::iter::repeat_n(0, bytes.len()))
        };
        self.output = self.input.iter().enumerate().map(zeros).collect();
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
        for (i, (output, tag)) in self.output.iter().zip(&self.tags).enumerate() {
            if written {
                let random = row.traffic.lengths == Lengths::Random;
                add(if random { &output[..self.length(i)] } else { output });
            }
            add(tag);
        }
        hash
    }
}

/// Bytes of the MAC of a record of CBC with HMAC, and of its key; of no other row.
pub fn mac_bytes(row: &Row) -> Option<usize> {
    match row.algorithm.strip_prefix("cbc-hmac-")? {
        "sha-1" => Some(20),
        _ => Some(32),
    }
}

/// The additional data of record `i`: number, type, version, and the length of its content.
pub fn record_header(i: usize, length: usize) -> [u8; 13] {
    let [low, high, ..] = length.to_le_bytes();
    let mut header = [0, 0, 0, 0, 0, 0, 0, 0, 23, 3, 3, high, low];
    header[..8].copy_from_slice(&(i as u64).to_be_bytes());
    header
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

/// A buffer for each message.
fn buffers(row: &Row, more: usize) -> Vec<Buffer> {
    let units = row.traffic.lengths == Lengths::Units;
    let lengths = row.traffic.lengths.of_calls(row.size, row.streams);
    let longest = lengths.now().iter().map(|length| if units { *length } else { row.size });
    let buffer = |(i, length): (usize, usize)| {
        // Period 251, so that exchanged blocks show.
        let text = move |j| if j < length { byte((i + j) % 251) } else { 0 };
        Buffer::new(row.traffic.place, i, (0..length + more).map(text))
    };
    longest.enumerate().map(buffer).collect()
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
