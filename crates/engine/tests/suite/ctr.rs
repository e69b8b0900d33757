//! The limits of CTR: a stream ends where its key stream would repeat, and not where the counter wraps.
//!
//! The places are reached by `seek`, not by buffers of that size.

use lanelock::{Aes128, CounterBits, CtrStream, Error, Pattern};
use lanelock_testkit as testkit;

/// A counter block whose counter wraps within `within` blocks, at any width.
fn about_to_wrap(within: u8) -> [u8; 16] {
    let mut counter = [0xff; 16];
    counter[15] = 0_u8.wrapping_sub(within);
    counter[..4].copy_from_slice(&[1, 2, 3, 4]);
    counter
}

/// Blocks of a stream.
fn most_blocks(bits: CounterBits) -> u128 {
    match bits {
        CounterBits::Bits32 => 1 << 32,
        _ => 1 << 64,
    }
}

#[test]
fn a_stream_ends_before_it_repeats() {
    let key = Aes128::new(&[7; 16]).unwrap();
    for bits in [CounterBits::Bits32, CounterBits::Bits64] {
        for start in [[0; 16], about_to_wrap(1), about_to_wrap(5), [0x5a; 16]] {
            let end = 16 * most_blocks(bits);
            let mut stream = CtrStream::new(&key, bits, start);
            stream.seek(end - 40).unwrap();
            let mut data = testkit::pattern(41);
            assert_eq!(stream.apply(&mut data), Err(Error::MessageLength), "{bits:?}");
            assert_eq!(data, testkit::pattern(41), "nothing is changed");
            stream.apply(&mut data[..40]).unwrap();
            assert_ne!(data[..40], testkit::pattern(41)[..40]);
            assert_eq!(stream.apply(&mut [0]), Err(Error::MessageLength));
            assert_eq!(stream.apply(&mut []), Ok(()));

            // The bytes that are left of a block are not more than there are.
            stream.seek(end - 3).unwrap();
            stream.apply(&mut [0; 2]).unwrap();
            assert_eq!(stream.apply(&mut [0; 2]), Err(Error::MessageLength));
            assert_eq!(stream.apply(&mut [0; 1]), Ok(()));

            stream.seek(end).unwrap();
            assert_eq!(stream.apply(&mut [0]), Err(Error::MessageLength));
            assert_eq!(stream.seek(end + 1), Err(Error::MessageLength));
            assert_eq!(stream.seek(u128::MAX), Err(Error::MessageLength));
            stream.seek(0).unwrap();
            assert_eq!(stream.apply(&mut [0; 100]), Ok(()));
        }
    }
}

/// A counter of 128 bits does not end within any message.
#[test]
fn a_stream_of_128_bits_does_not_end() {
    let key = Aes128::new(&[7; 16]).unwrap();
    let mut stream = CtrStream::new(&key, CounterBits::Bits128, [0xff; 16]);
    stream.seek(u128::MAX).unwrap();
    assert_eq!(stream.apply(&mut [0; 1000]), Ok(()));
}

/// The blocks that a pattern selects count, the others do not.
#[test]
fn patterns_count_what_they_encrypt() {
    let key = Aes128::new(&[7; 16]).unwrap();
    let end = 16 * most_blocks(CounterBits::Bits32);
    let mut stream = CtrStream::new(&key, CounterBits::Bits32, [0; 16]);
    let pattern = Pattern::new(1, 9);
    let (long, most) = (16 * (10 * 300 + 1), 16 * 10 * 300); // 301 blocks and 300
    stream.seek(end - 16 * 300).unwrap();
    let mut data = testkit::pattern(long);
    assert_eq!(stream.apply_pattern(pattern, &mut data), Err(Error::MessageLength));
    assert_eq!(data, testkit::pattern(long), "nothing is changed");
    assert_eq!(stream.apply_pattern(pattern, &mut data[..most]), Ok(()));
    assert_eq!(stream.apply_pattern(pattern, &mut data[..16]), Err(Error::MessageLength));
}

/// The value of the counter wraps at its width, which is no end: what comes is block 0 of the width.
#[test]
fn the_value_wraps_and_the_stream_goes_on() {
    for level in crate::support::levels() {
        let key = Aes128::with_level(&[7; 16], level);
        for (bits, width) in
            [(CounterBits::Bits32, 4), (CounterBits::Bits64, 8), (CounterBits::Bits128, 16)]
        {
            let mut start = about_to_wrap(3);
            if width == 16 {
                start = [0xff; 16];
                start[15] = 0xfd;
            }
            let mut stream = CtrStream::new(&key, bits, start);
            let mut whole = vec![0; 16 * 200];
            stream.apply(&mut whole).unwrap();
            let mut wrapped = start;
            wrapped[16 - width..].fill(0);
            key.encrypt_block(&mut wrapped);
            assert_eq!(whole[48..64], wrapped, "{level} {bits:?}");

            let mut alone = vec![0; 16 * 200];
            key.ctr(bits, &start, &mut alone).unwrap();
            assert_eq!(alone, whole, "{level} {bits:?}");
        }
    }
}

/// Every block of the key stream is that of its number, wherever a group of blocks begins: carries out of the last byte
/// are a case of their own.
#[test]
fn every_last_byte_counts() {
    const BLOCKS: usize = 300;
    for level in crate::support::levels() {
        let key = Aes128::with_level(&[7; 16], level);
        for last_byte in 0..=255 {
            let mut start = [0x5a; 16];
            start[14..].copy_from_slice(&[0xfe, last_byte]);
            let number = u128::from_be_bytes(start);
            let mut expected: Vec<u8> =
                (0..BLOCKS as u128).flat_map(|i| (number + i).to_be_bytes()).collect();
            key.ecb_encrypt(&mut expected).unwrap();
            let mut stream = vec![0; 16 * BLOCKS];
            key.ctr(CounterBits::Bits64, &start, &mut stream).unwrap();
            assert_eq!(stream, expected, "{last_byte} at {level}");
        }
    }
}

/// Every place of a stream can be gone to.
#[test]
fn seeking_is_skipping() {
    let key = Aes128::new(&[7; 16]).unwrap();
    let mut whole = vec![0; 400];
    CtrStream::new(&key, CounterBits::Bits32, about_to_wrap(2)).apply(&mut whole).unwrap();
    let mut stream = CtrStream::new(&key, CounterBits::Bits32, about_to_wrap(2));
    for place in [0, 1, 15, 16, 17, 31, 32, 33, 100, 300, 5] {
        stream.seek(place as u128).unwrap();
        let mut data = [0; 99];
        stream.apply(&mut data).unwrap();
        assert_eq!(data, whole[place..][..99], "byte {place}");
    }
}
