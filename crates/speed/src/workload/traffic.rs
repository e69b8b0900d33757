//! Lengths and addresses of messages as programs have them. This file uses the standard library alone.

use std::ops::{Deref, DerefMut};

/// How the messages of a call differ from equal ones, side by side in warm caches, in one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Traffic {
    /// How long the messages are.
    pub lengths: Lengths,
    /// Where they are.
    pub place: Place,
    /// Each message by a call of its own, though there may be a call for many.
    pub one_by_one: bool,
    /// The text of a message is in none of a core's own caches: calls go round through [`copies`] of it. Keys
    /// and the rest stay warm.
    pub cold: bool,
}

/// How long the messages are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lengths {
    /// All have the size of the workload.
    #[default]
    Equal,
    /// From 16 bytes to the size of the workload, every length as likely as the others; new ones in each call.
    Random,
    /// Those of [`UNITS`], again and again, in whole blocks. The size of the workload is [`LONGEST_UNIT`].
    Units,
}

/// Where the messages are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Place {
    /// One behind the other with gaps, so that they use all sets of the caches alike.
    #[default]
    Spread,
    /// Each at the beginning of a page: what is at the same place in all of them shares a set of the first
    /// cache, which has fewer ways than there may be messages.
    Page,
    /// Spread, at odd addresses.
    Odd,
}

/// The access units of the video in `media/demo.mp4` of the repository, in bytes: five seconds, with a key
/// frame each second.
#[rustfmt::skip]
pub const UNITS: [u16; 125] = [
    28734, 741, 353, 198, 217, 189, 397, 79, 536, 910, 468, 216, 262, 1903, 521, 303, 364, 3747,
    657, 457, 463, 5554, 795, 533, 447, 25589, 3026, 567, 379, 456, 1596, 440, 2611, 611, 127, 445,
    4477, 1130, 627, 665, 5224, 1148, 683, 678, 5660, 1139, 722, 632, 1336, 530, 30121, 1988, 512,
    303, 362, 1625, 378, 2374, 429, 140, 387, 3508, 514, 377, 368, 3720, 441, 353, 309, 3814, 403,
    302, 282, 425, 261, 34383, 1521, 368, 205, 198, 926, 867, 550, 1619, 2037, 1177, 1387, 1374,
    2008, 134, 1439, 124, 1237, 190, 119, 133, 1963, 1628, 1003, 1168, 41186, 344, 575, 692, 2269,
    563, 484, 108, 1234, 1124, 1275, 1231, 1142, 1230, 787, 677, 702, 309, 363, 799, 507, 384, 479,
    242, 135,
];

/// Whole blocks of the longest unit, in bytes.
pub const LONGEST_UNIT: usize = 41_184;

/// So many calls have lengths of their own, before those of the first come again.
const CALLS: usize = 211;

impl Lengths {
    /// The length of the longest message of a row that names `size`.
    pub fn longest(self, size: usize) -> usize {
        if self == Self::Units { LONGEST_UNIT } else { size }
    }

    /// The lengths of the messages of each call, call after call, from the first again after the last.
    pub fn of_calls(self, size: usize, streams: usize) -> LengthsOfCalls {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = || {
            // xorshift64*
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            let high = state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
            16 + usize::try_from(high).unwrap_or(0) % size.saturating_sub(15).max(1)
        };
        let lengths = match self {
            Self::Equal => vec![size; streams],
            Self::Random => (0..CALLS * streams).map(|_| random()).collect(),
            Self::Units => {
                let whole = |unit: &u16| usize::from(*unit) / 16 * 16;
                UNITS.iter().map(whole).cycle().take(streams).collect()
            }
        };
        LengthsOfCalls { lengths, streams, next: 0 }
    }
}

/// The lengths of the messages of one call after the other.
#[derive(Clone, Debug)]
pub struct LengthsOfCalls {
    lengths: Vec<usize>,
    streams: usize,
    next: usize,
}

impl LengthsOfCalls {
    /// The lengths of this call.
    pub fn now(&self) -> &[usize] {
        &self.lengths[self.next..][..self.streams]
    }

    /// Goes to the next call.
    pub fn advance(&mut self) {
        self.next += self.streams;
        if self.next == self.lengths.len() {
            self.next = 0;
        }
    }

    /// Bytes of all messages of a call: the mean, where calls differ.
    pub fn bytes(&self) -> usize {
        let calls = self.lengths.len() / self.streams.max(1);
        self.lengths.iter().sum::<usize>() / calls.max(1)
    }
}

/// The memory of one message, at a chosen place.
#[derive(Debug)]
pub struct Buffer {
    memory: Vec<u8>,
    start: usize,
}

impl Buffer {
    /// The buffer of message `i` with these bytes.
    pub fn new(place: Place, i: usize, bytes: impl ExactSizeIterator<Item = u8>) -> Self {
        // Without these gaps messages of equal lengths would stand at distances that agree with the sets
        // of a cache.
        let gap = i * 7 % 13 * 192;
        let length = bytes.len();
        let mut memory: Vec<u8> = Vec::with_capacity(match place {
            Place::Spread => length + gap,
            Place::Page => length + PAGE,
            Place::Odd => length + gap + 64,
        });
        let start = match place {
            Place::Spread => 0,
            Place::Page => memory.as_ptr().align_offset(PAGE),
            Place::Odd => 2 * i % 64 + 1,
        };
        memory.resize(start, 0);
        memory.extend(bytes);
        Self { memory, start }
    }
}

const PAGE: usize = 4096;

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start..]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..]
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// So many copies of a message of so many bytes are more than a core's own caches hold: a power
/// of two.
pub fn copies(bytes: usize) -> usize {
    ((16 << 20) / bytes.max(1)).next_power_of_two().clamp(16, 8192)
}

/// The copy to take after copy `i`: all in turn, and none beside the one before.
pub fn next_copy(i: usize, copies: usize) -> usize {
    (i + 379) % copies
}
