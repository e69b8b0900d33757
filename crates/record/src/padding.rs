//! Padding of CBC records, and what stands before it, without a branch or an address that depends on either.
//!
//! A padded text ends with `p + 1` bytes of the value `p` (RFC 5246, 6.2.3.2).

use core::hint::black_box;

use lanelock_core::parts::{equal, less};
use lanelock_digest::algorithm::Bytes;

/// The longest padding, with the byte that gives its length.
const MOST: usize = 256;

/// Where the content of a decrypted text ends: a secret.
#[derive(Clone, Copy)]
pub(crate) struct Unpadded {
    /// Bytes of content; if the padding is wrong, as if there were none but its last byte.
    pub(crate) length: usize,
    /// All ones if the padding is wrong.
    pub(crate) wrong: u8,
}

/// The lengths that the content of a text of so many bytes can have, with a MAC of `mac` bytes behind it. The text
/// has room for that, and for a byte of padding.
pub(crate) fn lengths(text: usize, mac: usize) -> core::ops::Range<usize> {
    (text - mac).saturating_sub(MOST)..text - mac
}

/// Looks for the padding of a text.
pub(crate) fn unpad(text: &[u8], mac: usize) -> Unpadded {
    let Some(&last) = text.last() else { return Unpadded { length: 0, wrong: 0xff } };
    let padding = black_box(u32::from(last));
    let most = low(text.len() - mac - 1);
    let mut wrong = less(most, padding);
    let end = &text[text.len().saturating_sub(MOST)..];
    for (at, byte) in (1..).zip(end) {
        // `length - at` bytes follow this one, which is padding if they are no more than the last byte says.
        let is_padding = less(low(end.len()) - at, padding + 1);
        wrong |= (byte ^ last) & is_padding;
    }
    let wrong = !equal(wrong.into(), 0);
    let padding = padding & !u32::from_ne_bytes([wrong; 4]);
    Unpadded { length: (most - padding) as usize, wrong }
}

/// The MAC behind the content of a text, which is `length` bytes long: one of [`lengths`], but which one is a secret.
pub(crate) fn mac<D: Bytes>(text: &[u8], length: usize) -> D {
    let size = size_of::<D>();
    let possible = lengths(text.len(), size);
    let start = black_box(low(length - possible.start));
    // Every byte of the MAC, each at its place modulo the size of the MAC, as far as it is known.
    let mut rotated = D::ZERO;
    let mut rotation = 0;
    let mut place = 0;
    for part in text[possible.start..].chunks(size) {
        for (at, (to, byte)) in (0..).zip(rotated.as_mut().iter_mut().zip(part)) {
            *to |= byte & !less(place + at, start) & less(place + at, start + low(size));
            rotation |= at & u32::from(equal(place + at, start));
        }
        place += low(size);
    }
    // To the left by the rotation, bit by bit of it. A mask that all of a loop shares has to be hidden: a compiler that
    // sees that it is 0 or all ones may make two loops of one, and a branch to choose between them.
    for bit in 0..=size.ilog2() {
        let distance = (1 << bit) % size;
        let chosen = black_box(less(0, rotation >> bit & 1));
        let before = rotated;
        let turned = before.as_ref()[distance..].iter().chain(&before.as_ref()[..distance]);
        for (to, turned) in rotated.as_mut().iter_mut().zip(turned) {
            *to ^= (*to ^ turned) & chosen;
        }
    }
    rotated
}

/// Of a number that has no higher bits.
#[inline(always)]
fn low(number: usize) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "there are no higher bits")]
    let low = number as u32;
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All paddings of all short texts, and each with a wrong byte.
    #[test]
    fn padding_is_found_and_wrong_padding_is_seen() {
        for length in (1..400).step_by(13).chain([256, 257, 276, 277, 16_000]) {
            for mac in [0, 20, 32, 48] {
                for padding in 0..=255_u8 {
                    let bytes = usize::from(padding) + 1;
                    if length < mac + 1 {
                        continue;
                    }
                    let mut text: Vec<u8> = (0..length)
                        .map(|at: usize| (at % 7).to_le_bytes()[0] ^ 0xa0 ^ padding)
                        .collect();
                    let fits = length >= mac + bytes;
                    let start = length.saturating_sub(bytes);
                    text[start..].fill(padding);
                    let found = unpad(&text, mac);
                    if fits {
                        assert_eq!(
                            (found.length, found.wrong),
                            (length - mac - bytes, 0),
                            "{length} {mac} {padding}"
                        );
                        for place in start..length - 1 {
                            text[place] ^= 1;
                            let found = unpad(&text, mac);
                            assert_eq!(
                                (found.length, found.wrong),
                                (length - mac - 1, 0xff),
                                "{length} {place}"
                            );
                            text[place] ^= 1;
                        }
                    } else {
                        assert_eq!(
                            (found.length, found.wrong),
                            (length - mac - 1, 0xff),
                            "{length} {mac} {padding}"
                        );
                    }
                }
            }
        }
    }

    fn macs_are_found<const N: usize>() {
        for length in (N + 1..N + 300).chain([4000]) {
            let text: Vec<u8> = (0..length).map(|at: usize| (at % 251).to_le_bytes()[0]).collect();
            for start in lengths(length, N) {
                assert_eq!(
                    mac::<[u8; N]>(&text, start),
                    text[start..start + N],
                    "{length} {start}"
                );
            }
        }
    }

    #[test]
    fn a_mac_is_found_wherever_it_is() {
        macs_are_found::<20>();
        macs_are_found::<32>();
        macs_are_found::<48>();
    }
}
