//! What OCB3 derives from the key alone (RFC 7253, 4.1): L_*, L_$, L_0, L_1, ...

use lanelock_isa::{Block, MOST_LANES, wipe};

/// The most blocks of a message: ntz(i) is at most 48 then. RFC 7253, 5.1 allows a key no more.
pub(super) const MOST_BLOCKS: u64 = 1 << 48;

/// The doublings of L_*, and sums of them, where vectors do not cross cache lines. Zeroised on drop.
#[derive(Clone)]
#[repr(align(64))]
pub(super) struct Masks {
    /// Offset_1 to Offset_32 of a message whose Offset_0 is zero.
    pub(super) group: [Block; MOST_LANES],
    /// L_*: for a partial block.
    pub(super) partial: Block,
    /// L_$: for the tag.
    pub(super) tag: Block,
    /// L_0, L_1, ...
    doubled: [Block; 49],
}

impl Masks {
    /// No masks yet: see [`set`](Self::set).
    pub(super) const NONE: Self = Self {
        group: [[0; 16]; MOST_LANES],
        partial: [0; 16],
        tag: [0; 16],
        doubled: [[0; 16]; 49],
    };

    /// The masks that belong to `partial`, L_* = ENCIPHER(K, zeros(128)).
    pub(super) fn set(&mut self) {
        self.tag = double(self.partial);
        let mut l = self.tag;
        for to in &mut self.doubled {
            l = double(l);
            *to = l;
        }
        let mut offset = 0;
        for (number, to) in (1_u64..).zip(&mut self.group) {
            offset ^= u128::from_ne_bytes(self.doubled[number.trailing_zeros() as usize]);
            *to = offset.to_ne_bytes();
        }
    }

    /// L_ntz(`number`).
    #[inline(always)]
    pub(super) fn l(&self, number: u64) -> &Block {
        &self.doubled[(number.trailing_zeros() as usize).min(48)]
    }
}

impl Drop for Masks {
    fn drop(&mut self) {
        wipe(&mut self.partial);
        wipe(&mut self.tag);
        wipe(self.group.as_flattened_mut());
        wipe(self.doubled.as_flattened_mut());
    }
}

/// The product by x in GF(2^128), the first bit of the block being that of x^127 (2).
fn double(block: Block) -> Block {
    let number = u128::from_be_bytes(block);
    ((number << 1) ^ ((number >> 127) * 0x87)).to_be_bytes()
}
