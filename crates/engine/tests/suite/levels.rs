//! Every level against the portable one, on the same inputs, and proof that it was that level.

use lanelock::{Aes128, Aes192, Aes256, AesLevel, CounterBits, CtrStream, Pattern, last_level_run};
use lanelock_testkit::{self as testkit, Rng};

/// The levels to compare with the portable one; the others are named as skipped.
fn levels() -> Vec<AesLevel> {
    for (name, _) in AesLevel::known() {
        if let Err(error) = name.parse::<AesLevel>() {
            testkit::skip(&format!("level {name}: {error}"));
        }
    }
    AesLevel::available().into_iter().skip(1).collect()
}

fn portable() -> AesLevel {
    "portable".parse::<AesLevel>().unwrap()
}

/// Runs `op` on a piece of a buffer that starts at `offset`, at two levels, and compares the whole
/// buffers, so that a write outside of the piece shows as well.
#[track_caller]
fn compare(what: &str, len: usize, offset: usize, a: impl Fn(&mut [u8]), b: impl Fn(&mut [u8])) {
    let mut x = testkit::pattern(len + 128);
    let mut y = x.clone();
    a(&mut x[offset..][..len]);
    b(&mut y[offset..][..len]);
    assert_eq!(x, y, "{what}: {len} bytes at offset {offset}");
}

macro_rules! modes {
    ($name:ident, $aes:ident, $bytes:literal) => {
        #[test]
        fn $name() {
            let mut rng = Rng::from_env(stringify!($name));
            let reference = portable();
            for level in levels() {
                for len in 0..=1024_usize {
                    let bytes: [u8; $bytes] = rng.array();
                    let (soft, hard) =
                        ($aes::with_level(&bytes, reference), $aes::with_level(&bytes, level));
                    let iv: [u8; 16] = rng.array();
                    let offset = rng.below(64);
                    // Counters about to wrap at each width.
                    let mut counter = [0xff; 16];
                    counter[15] = rng.array::<1>()[0];
                    let bits = *rng.pick(&[
                        CounterBits::Bits32,
                        CounterBits::Bits64,
                        CounterBits::Bits128,
                    ]);
                    let pattern = Pattern::new(rng.below(16) as u8, rng.below(16) as u8);
                    let pattern =
                        if rng.one_in(2) { pattern } else { pattern.encrypt_truncated_runs() };
                    let at = |what: &str| format!("{level} {what} {pattern:?} {bits:?}");
                    let whole = len / 16 * 16;
                    compare(
                        &at("ECB encrypt"),
                        whole,
                        offset,
                        |d| soft.ecb_encrypt(d).unwrap(),
                        |d| hard.ecb_encrypt(d).unwrap(),
                    );
                    compare(
                        &at("ECB decrypt"),
                        whole,
                        offset,
                        |d| soft.ecb_decrypt(d).unwrap(),
                        |d| hard.ecb_decrypt(d).unwrap(),
                    );
                    compare(
                        &at("CBC encrypt"),
                        whole,
                        offset,
                        |d| soft.cbc_encrypt(&mut iv.clone(), d).unwrap(),
                        |d| hard.cbc_encrypt(&mut iv.clone(), d).unwrap(),
                    );
                    compare(
                        &at("CBC decrypt"),
                        whole,
                        offset,
                        |d| soft.cbc_decrypt(&mut iv.clone(), d).unwrap(),
                        |d| hard.cbc_decrypt(&mut iv.clone(), d).unwrap(),
                    );
                    compare(
                        &at("CTR"),
                        len,
                        offset,
                        |d| soft.ctr(bits, &counter, d).unwrap(),
                        |d| hard.ctr(bits, &counter, d).unwrap(),
                    );
                    compare(
                        &at("CBCS encrypt"),
                        len,
                        offset,
                        |d| soft.cbcs_encrypt(&mut iv.clone(), pattern, d),
                        |d| hard.cbcs_encrypt(&mut iv.clone(), pattern, d),
                    );
                    compare(
                        &at("CBCS decrypt"),
                        len,
                        offset,
                        |d| soft.cbcs_decrypt(&mut iv.clone(), pattern, d),
                        |d| hard.cbcs_decrypt(&mut iv.clone(), pattern, d),
                    );
                    compare(
                        &at("CBCS there and back"),
                        len,
                        offset,
                        |d| {
                            hard.cbcs_encrypt(&mut iv.clone(), pattern, d);
                            hard.cbcs_decrypt(&mut iv.clone(), pattern, d);
                        },
                        |_| {},
                    );
                }
            }
        }
    };
}

modes!(aes128, Aes128, 16);
modes!(aes192, Aes192, 24);
modes!(aes256, Aes256, 32);

/// CBC continues where it stopped, at any split.
#[test]
fn cbc_continues() {
    let mut rng = Rng::from_env("cbc_continues");
    for level in AesLevel::available() {
        let key = Aes128::with_level(&rng.array(), level);
        for _ in 0..200 {
            let plain = rng.bytes(16 * 50);
            let split = 16 * rng.below(51);
            let (mut whole, mut parts) = (plain.clone(), plain.clone());
            let iv: [u8; 16] = rng.array();
            let mut running = iv;
            key.cbc_encrypt(&mut iv.clone(), &mut whole).unwrap();
            key.cbc_encrypt(&mut running, &mut parts[..split]).unwrap();
            key.cbc_encrypt(&mut running, &mut parts[split..]).unwrap();
            assert_eq!(whole, parts, "{level}: split at {split}");
            let mut running = iv;
            key.cbc_decrypt(&mut running, &mut parts[..split]).unwrap();
            key.cbc_decrypt(&mut running, &mut parts[split..]).unwrap();
            assert_eq!(parts, plain, "{level}: split at {split}");
        }
    }
}

/// A stream cut into random pieces is the stream.
#[test]
fn ctr_stream_continues() {
    let mut rng = Rng::from_env("ctr_stream_continues");
    for level in AesLevel::available() {
        let key = Aes128::with_level(&rng.array(), level);
        for _ in 0..100 {
            let mut counter: [u8; 16] = rng.array();
            counter[8..15].fill(0xff); // 64 bits wrap on the way
            let len = rng.below(5000);
            let mut whole = testkit::pattern(len);
            let mut parts = whole.clone();
            key.ctr(CounterBits::Bits64, &counter, &mut whole).unwrap();
            let mut stream = CtrStream::new(&key, CounterBits::Bits64, counter);
            let mut rest = &mut parts[..];
            while !rest.is_empty() {
                let (piece, later) = rest.split_at_mut((1 + rng.below(70)).min(rest.len()));
                stream.apply(piece).unwrap();
                rest = later;
            }
            assert_eq!(whole, parts, "{level}");
        }
    }
}

/// The counter wraps without carry at its width: the definition, block by block.
#[test]
fn counters_wrap_at_their_width() {
    for level in AesLevel::available() {
        let key = Aes128::with_level(&[3; 16], level);
        for (bits, width) in
            [(CounterBits::Bits32, 4), (CounterBits::Bits64, 8), (CounterBits::Bits128, 16)]
        {
            let mut counter = [0xff; 16];
            counter[0] = 0x7f;
            counter[15] = 0xf0;
            let mut stream = vec![0; 16 * 100];
            key.ctr(bits, &counter, &mut stream).unwrap();
            for (number, block) in stream.chunks(16).enumerate() {
                let mut expected = counter;
                key.encrypt_block(&mut expected);
                assert_eq!(block, expected, "{level} {bits:?}: block {number}");
                for byte in counter[16 - width..].iter_mut().rev() {
                    *byte = byte.wrapping_add(1);
                    if *byte != 0 {
                        break;
                    }
                }
            }
        }
    }
}

type Call<'a> = &'a dyn Fn(&mut [u8]);

#[test]
fn the_level_asked_for_runs() {
    for level in AesLevel::available() {
        let key = Aes128::with_level(&[1; 16], level);
        assert_eq!(last_level_run(), Some(level), "key expansion");
        // Something else in between, so that the record cannot be an old one.
        let other = Aes128::with_level(&[2; 16], portable());
        let calls: [(&str, Call<'_>); 6] = [
            ("ECB", &|d| key.ecb_encrypt(d).unwrap()),
            ("CBC encrypt", &|d| key.cbc_encrypt(&mut [0; 16], d).unwrap()),
            ("CBC decrypt", &|d| key.cbc_decrypt(&mut [0; 16], d).unwrap()),
            ("CTR", &|d| key.ctr(CounterBits::Bits64, &[0; 16], d).unwrap()),
            ("CBCS", &|d| key.cbcs_encrypt(&mut [0; 16], Pattern::new(1, 9), d)),
            ("lanes", &|d| {
                let (a, b) = d.split_at_mut(512);
                let job = |data| lanelock::lanes::Job::new(&key, [0; 16], Pattern::ALL, data);
                lanelock::lanes::encrypt(&mut [job(a), job(b)]);
            }),
        ];
        for (what, call) in calls {
            other.encrypt_block(&mut [0; 16]);
            assert_eq!(last_level_run(), Some(portable()));
            call(&mut [0; 1024]);
            assert_eq!(last_level_run(), Some(level), "{what}");
        }
    }
}

#[test]
fn partial_blocks_are_refused_unchanged() {
    let key = Aes128::new(&[0; 16]).unwrap();
    let mut data = [7; 33];
    assert!(key.cbc_encrypt(&mut [0; 16], &mut data).is_err());
    assert!(key.cbc_decrypt(&mut [0; 16], &mut data).is_err());
    assert!(key.ecb_encrypt(&mut data).is_err());
    assert!(key.ecb_decrypt(&mut data).is_err());
    assert_eq!(data, [7; 33]);
}

#[test]
fn debug_shows_no_key() {
    let key = Aes128::with_level(&[0xab; 16], portable());
    assert_eq!(format!("{key:?}"), "Aes128(portable)");
}
