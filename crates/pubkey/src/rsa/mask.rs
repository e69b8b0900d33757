//! Decisions without branches: masks of all ones or zeros.

use core::hint::black_box;

/// All ones if `a` < `b`; both below 2^63.
pub(super) fn less(a: usize, b: usize) -> u64 {
    (black_box((a as u64).wrapping_sub(b as u64)) >> 63).wrapping_neg()
}

/// All ones if `a` = `b`.
pub(super) fn equal(a: usize, b: usize) -> u64 {
    let difference = (a ^ b) as u64;
    black_box((difference | difference.wrapping_neg()) >> 63).wrapping_sub(1)
}

/// `a` where the mask has ones, else `b`.
#[expect(clippy::cast_possible_truncation, reason = "a mask of all bits or none")]
pub(super) fn select(mask: u64, a: usize, b: usize) -> usize {
    b ^ (mask as usize & (a ^ b))
}

/// The same with bytes.
#[expect(clippy::cast_possible_truncation, reason = "a mask of all bits or none")]
pub(super) fn select_byte(mask: u64, a: u8, b: u8) -> u8 {
    b ^ (mask as u8 & (a ^ b))
}

/// Moves the bytes from `start` on to the front, whatever `start` is, up to their number: in steps of powers of two,
/// each of which is made or not.
pub(super) fn move_to_front(bytes: &mut [u8], start: usize) {
    let mut step = 1;
    while step <= bytes.len() {
        let mask = equal(start & step, step);
        for i in 0..bytes.len() {
            let from = bytes.get(i + step).copied().unwrap_or(0);
            bytes[i] = select_byte(mask, from, bytes[i]);
        }
        step *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        for a in [0, 1, 2, 7, 255, 1000] {
            for b in [0, 1, 2, 7, 255, 1000] {
                assert_eq!(less(a, b), if a < b { u64::MAX } else { 0 });
                assert_eq!(equal(a, b), if a == b { u64::MAX } else { 0 });
                assert_eq!(select(u64::MAX, a, b), a);
                assert_eq!(select(0, a, b), b);
            }
        }
        for length in [0, 1, 5, 8, 9] {
            for start in 0..=length {
                let mut bytes: Vec<u8> = (1..=length).collect();
                move_to_front(&mut bytes, usize::from(start));
                let mut expected: Vec<u8> = (start + 1..=length).collect();
                expected.resize(usize::from(length), 0);
                assert_eq!(bytes, expected);
            }
        }
    }
}
