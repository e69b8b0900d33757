//! Comparisons of secrets whose results are masks: all ones for true, zero for false.
//!
//! For loops over secrets byte by byte, which compilers turn into vectors. Numbers are below 2^31: a difference
//! is negative then where its highest bit says so.

/// Whether `a` is less than `b`.
#[inline(always)]
pub fn less(a: u32, b: u32) -> u8 {
    let [.., high] = a.wrapping_sub(b).cast_signed().wrapping_shr(31).to_le_bytes();
    high
}

/// Whether they are equal.
#[inline(always)]
pub fn equal(a: u32, b: u32) -> u8 {
    let difference = a ^ b;
    less(difference, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_what_they_say() {
        for a in [0, 1, 2, 255, 256, 65_535, (1 << 31) - 1] {
            for b in [0, 1, 2, 255, 256, 65_535, (1 << 31) - 1] {
                assert_eq!(less(a, b), if a < b { 0xff } else { 0 }, "{a} {b}");
                assert_eq!(equal(a, b), if a == b { 0xff } else { 0 }, "{a} {b}");
            }
        }
    }
}
