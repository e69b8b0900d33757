//! The unit of everything here.

/// One AES block: 16 bytes (FIPS 197).
pub type Block = [u8; 16];

/// At most 16 bytes with zeros behind them. No `copy_from_slice`, which would be a call for a length that is not
/// a constant.
///
/// # Panics
/// With more than 16 bytes.
#[inline(always)]
#[must_use]
pub fn padded(bytes: &[u8]) -> Block {
    if bytes.len() > 16 {
        too_long();
    }
    // The beginning and the end, which overlap or touch.
    let number = if let (Some(low), Some(high)) = (bytes.first_chunk::<8>(), bytes.last_chunk()) {
        // Without the bytes that the beginning has; in two steps, since they can be all.
        let twice = 4 * (16 - bytes.len());
        let high = u64::from_le_bytes(*high) >> twice >> twice;
        u128::from(high) << 64 | u128::from(u64::from_le_bytes(*low))
    } else if let (Some(low), Some(high)) = (bytes.first_chunk::<4>(), bytes.last_chunk()) {
        let (low, high) = (u32::from_le_bytes(*low), u32::from_le_bytes(*high));
        (u64::from(low) | u64::from(high) << (8 * (bytes.len() - 4))).into()
    } else {
        bytes.iter().rev().fold(0, |number, byte| number << 8 | u128::from(*byte))
    };
    number.to_le_bytes()
}

/// The first bytes of `block`, as many as `to` has, at most 16: the opposite of [`padded`].
///
/// # Panics
/// If `to` has more than 16 bytes.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the lowest bytes count")]
pub fn copy_part(block: &Block, to: &mut [u8]) {
    let bytes = to.len();
    if bytes > 16 {
        too_long();
    }
    let number = u128::from_le_bytes(*block);
    // The end is written over the beginning, where they overlap with the same bytes.
    if let Some(first) = to.first_chunk_mut::<8>() {
        *first = (number as u64).to_le_bytes();
        if let Some(last) = to.last_chunk_mut() {
            *last = ((number >> (8 * (bytes - 8))) as u64).to_le_bytes();
        }
    } else if let Some(first) = to.first_chunk_mut::<4>() {
        *first = (number as u32).to_le_bytes();
        if let Some(last) = to.last_chunk_mut() {
            *last = ((number as u64 >> (8 * (bytes - 4))) as u32).to_le_bytes();
        }
    } else {
        // From the number, so that `block` need not be in memory.
        for (i, byte) in to.iter_mut().enumerate() {
            *byte = (number >> (8 * i)) as u8;
        }
    }
}

/// The halves of a block as little-endian numbers, the low one first.
#[inline(always)]
pub(crate) fn halves(block: &Block) -> [u64; 2] {
    let number = u128::from_le_bytes(*block);
    #[expect(clippy::cast_possible_truncation, reason = "the low half")]
    [number as u64, (number >> 64) as u64]
}

#[cold]
#[inline(never)]
pub(crate) fn too_long() -> ! {
    panic!("more bytes than a vector holds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_every_length() {
        let bytes: Block = core::array::from_fn(|i| 0xf0 ^ i.to_le_bytes()[0]);
        for length in 0..=16 {
            let mut expected = [0; 16];
            expected[..length].copy_from_slice(&bytes[..length]);
            assert_eq!(padded(&bytes[..length]), expected);
            let mut copy = [0xee; 17];
            copy_part(&bytes, &mut copy[..length]);
            assert_eq!(copy[..length], bytes[..length]);
            assert!(copy[length..].iter().all(|byte| *byte == 0xee));
        }
    }
}
