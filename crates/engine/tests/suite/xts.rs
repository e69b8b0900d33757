//! XTS: published vectors at every level, levels against the portable one, sectors, OpenSSL.

use crate::support::levels;
use lanelock::{Aes128Xts, Aes192Xts, Aes256Xts, AesLevel, Block, Error, InOut, last_level_run};
use lanelock_testkit::{self as testkit, Rng, hex, xts::XtsCase};

/// What the three key sizes have in common.
trait Unit {
    fn encrypt(&self, tweak: &Block, data: &mut [u8]);
    fn decrypt(&self, tweak: &Block, data: &mut [u8]);
    fn encrypt_to(&self, tweak: &Block, from: &[u8], to: &mut [u8]);
    fn decrypt_to(&self, tweak: &Block, from: &[u8], to: &mut [u8]);
    fn sectors(&self, encrypt: bool, first: u128, size: usize, data: &mut [u8]);
    fn sectors_to(&self, encrypt: bool, first: u128, size: usize, from: &[u8], to: &mut [u8]);
}

macro_rules! unit {
    ($($xts:ty)*) => { $(impl Unit for $xts {
        fn encrypt(&self, tweak: &Block, data: &mut [u8]) {
            self.encrypt(tweak, data).unwrap();
        }

        fn decrypt(&self, tweak: &Block, data: &mut [u8]) {
            self.decrypt(tweak, data).unwrap();
        }

        fn encrypt_to(&self, tweak: &Block, from: &[u8], to: &mut [u8]) {
            self.encrypt_inout(tweak, InOut::new(from, to).unwrap()).unwrap();
        }

        fn decrypt_to(&self, tweak: &Block, from: &[u8], to: &mut [u8]) {
            self.decrypt_inout(tweak, InOut::new(from, to).unwrap()).unwrap();
        }

        fn sectors(&self, encrypt: bool, first: u128, size: usize, data: &mut [u8]) {
            if encrypt {
                self.encrypt_sectors(first, size, data).unwrap();
            } else {
                self.decrypt_sectors(first, size, data).unwrap();
            }
        }

        fn sectors_to(&self, encrypt: bool, first: u128, size: usize, from: &[u8], to: &mut [u8]) {
            let data = InOut::new(from, to).unwrap();
            if encrypt {
                self.encrypt_sectors_inout(first, size, data).unwrap();
            } else {
                self.decrypt_sectors_inout(first, size, data).unwrap();
            }
        }
    })* };
}

unit!(Aes128Xts Aes192Xts Aes256Xts);

/// A key of 32, 48 or 64 bytes.
fn with_level(key: &[u8], level: AesLevel) -> Result<Box<dyn Unit>, Error> {
    Ok(match key.len() {
        32 => Box::new(Aes128Xts::with_level(key.try_into().unwrap(), level)?),
        48 => Box::new(Aes192Xts::with_level(key.try_into().unwrap(), level)?),
        _ => Box::new(Aes256Xts::with_level(key.try_into().unwrap(), level)?),
    })
}

fn portable() -> AesLevel {
    "portable".parse::<AesLevel>().unwrap()
}

/// A key size in turn.
fn random_key(rng: &mut Rng) -> Vec<u8> {
    let length = *rng.pick(&[32, 48, 64]);
    rng.bytes(length)
}

fn check(key: &dyn Unit, what: &str, case: &XtsCase) {
    let XtsCase { tweak, plaintext, ciphertext, .. } = case;
    let mut data = plaintext.clone();
    key.encrypt(tweak, &mut data);
    assert_eq!(hex(&data), hex(ciphertext), "{what}");
    key.decrypt(tweak, &mut data);
    assert_eq!(hex(&data), hex(plaintext), "{what}, decrypted");
    key.sectors(true, case.sector(), data.len(), &mut data);
    assert_eq!(hex(&data), hex(ciphertext), "{what}, as a sector");
    key.sectors(false, case.sector(), data.len(), &mut data);
    assert_eq!(hex(&data), hex(plaintext), "{what}, as a sector, decrypted");
}

#[test]
fn published_vectors() {
    let cases =
        [testkit::xts::cavp(), testkit::xts::ieee1619(), testkit::xts::wycheproof()].concat();
    assert_eq!(cases.len(), 542);
    for level in levels() {
        let mut refused = 0;
        for case in &cases {
            let what = format!("{level}: {} {}", case.source, case.name);
            match with_level(&case.key, level) {
                Ok(key) => check(&*key, &what, case),
                Err(error) => {
                    assert_eq!(error, Error::EqualKeys, "{what}");
                    let (data, tweak) = case.key.split_at(case.key.len() / 2);
                    assert_eq!(data, tweak, "{what}");
                    refused += 1;
                }
            }
        }
        assert_eq!(refused, EQUAL_KEYS, "{level}");
    }
}

/// How many of the vectors have equal halves: the first of IEEE 1619.
const EQUAL_KEYS: usize = 1;

/// Every length up to beyond twice the widest group, in place and not, at any offset: as the portable
/// level, and there and back. Whole buffers are compared, so that a write elsewhere shows as well.
#[test]
fn levels_agree() {
    let mut rng = Rng::from_env("levels_agree");
    for length in 16..=1100 {
        let bytes = random_key(&mut rng);
        let tweak: Block = rng.array();
        let at = rng.below(64);
        let clear = testkit::pattern(length + 128);
        let mut expected = clear.clone();
        let reference = with_level(&bytes, portable()).unwrap();
        reference.encrypt(&tweak, &mut expected[at..][..length]);
        for level in levels() {
            let key = with_level(&bytes, level).unwrap();
            let what = format!("{level}: {length} bytes at {at}");
            let mut data = clear.clone();
            key.encrypt(&tweak, &mut data[at..][..length]);
            assert_eq!(data, expected, "{what}");
            let mut other = clear.clone();
            other[at..][..length].fill(0xee);
            key.encrypt_to(&tweak, &clear[at..][..length], &mut other[at..][..length]);
            assert_eq!(other, expected, "{what}, not in place");
            key.decrypt(&tweak, &mut data[at..][..length]);
            assert_eq!(data, clear, "{what}, decrypted");
            other[at..][..length].fill(0xee);
            key.decrypt_to(&tweak, &expected[at..][..length], &mut other[at..][..length]);
            assert_eq!(other, clear, "{what}, decrypted not in place");
        }
    }
}

/// Many sectors in one call are the sectors one by one, in place and not: lengths around blocks,
/// vectors and groups, more sectors than share a batch of tweaks, numbers that carry and wrap.
#[test]
fn sectors_are_data_units() {
    let mut rng = Rng::from_env("sectors_are_data_units");
    let sizes =
        [16, 17, 31, 32, 33, 48, 63, 64, 100, 127, 128, 129, 256, 384, 512, 520, 1024, 1040];
    for size in sizes {
        for count in [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 34, 65] {
            let bytes = random_key(&mut rng);
            let first = match rng.below(4) {
                0 => u128::from(u64::MAX) - 2,
                1 => u128::MAX - 2,
                _ => u128::from_le_bytes(rng.array()),
            };
            let at = rng.below(64);
            let length = size * count;
            let clear = testkit::pattern(length + 128);
            let mut expected = clear.clone();
            for level in levels() {
                let key = with_level(&bytes, level).unwrap();
                let what = format!("{level}: {count} sectors of {size} bytes from {first}");
                if level == portable() {
                    let mut number = first;
                    for sector in expected[at..][..length].chunks_exact_mut(size) {
                        key.encrypt(&number.to_le_bytes(), sector);
                        number = number.wrapping_add(1);
                    }
                }
                let mut data = clear.clone();
                key.sectors(true, first, size, &mut data[at..][..length]);
                assert_eq!(data, expected, "{what}");
                let mut other = clear.clone();
                other[at..][..length].fill(0xee);
                let (from, to) = (&clear[at..][..length], &mut other[at..][..length]);
                key.sectors_to(true, first, size, from, to);
                assert_eq!(other, expected, "{what}, not in place");
                key.sectors(false, first, size, &mut data[at..][..length]);
                assert_eq!(data, clear, "{what}, decrypted");
                other[at..][..length].fill(0xee);
                let (from, to) = (&expected[at..][..length], &mut other[at..][..length]);
                key.sectors_to(false, first, size, from, to);
                assert_eq!(other, clear, "{what}, decrypted not in place");
            }
        }
    }
}

/// The longest data unit: the masks are still right behind 2^20 doublings.
#[test]
fn the_longest_data_unit() {
    const LONGEST: usize = 16 << 20;
    let mut rng = Rng::from_env("the_longest_data_unit");
    let (bytes, tweak) = (rng.array(), rng.array());
    let mut checks = Vec::new();
    for level in levels().into_iter().skip(1) {
        let key = Aes128Xts::with_level(&bytes, level).unwrap();
        let mut data = testkit::pattern(LONGEST);
        key.encrypt(&tweak, &mut data).unwrap();
        checks.push((level, data[..64].to_vec(), data[LONGEST - 1024..].to_vec()));
        data.extend([0]);
        assert_eq!(key.encrypt(&tweak, &mut data), Err(Error::MessageLength));
        data.truncate(LONGEST);
        key.decrypt(&tweak, &mut data).unwrap();
        assert_eq!(data, testkit::pattern(LONGEST), "{level}");
    }
    for pair in checks.windows(2) {
        assert_eq!(
            (&pair[0].1, &pair[0].2),
            (&pair[1].1, &pair[1].2),
            "{} {}",
            pair[0].0,
            pair[1].0
        );
    }
}

#[test]
fn openssl_agrees() {
    let Some(mut openssl) = testkit::openssl() else { return };
    let mut rng = Rng::from_env("openssl_agrees");
    for round in 0..300 {
        let bits = *rng.pick(&[128, 256]);
        let bytes = rng.bytes(bits / 4);
        let tweak: Block = rng.array();
        let length = if round < 100 { 16 + round } else { 16 + rng.below(5000) };
        let clear = rng.bytes(length);
        let name = format!("aes-{bits}-xts");
        let expected = openssl.encrypt(&name, &bytes, &tweak, &clear);
        for level in levels() {
            let key = with_level(&bytes, level).unwrap();
            let what = format!("{level}: {name} of {length} bytes, {}", openssl.version());
            let mut data = clear.clone();
            key.encrypt(&tweak, &mut data);
            assert_eq!(data, expected, "{what}");
            key.decrypt(&tweak, &mut data);
            assert_eq!(data, clear, "{what}, decrypted");
        }
    }
}

#[test]
fn errors_change_nothing() {
    for level in levels() {
        let key =
            Aes256Xts::with_level(&core::array::from_fn(|i| i.to_le_bytes()[0]), level).unwrap();
        let mut data = [7; 100];
        for length in 0..16 {
            let short = &mut data[..length];
            assert_eq!(key.encrypt(&[0; 16], short), Err(Error::MessageLength), "{length}");
            assert_eq!(key.decrypt(&[0; 16], short), Err(Error::MessageLength), "{length}");
        }
        for size in [0, 1, 15, 16, 33, 99, (16 << 20) + 1] {
            let wrong = Err(Error::MessageLength);
            assert_eq!(key.encrypt_sectors(0, size, &mut data), wrong, "{size}");
            assert_eq!(key.decrypt_sectors(0, size, &mut data), wrong, "{size}");
        }
        assert_eq!(data, [7; 100]);
        assert_eq!(key.encrypt_sectors(0, 512, &mut []), Ok(()));
    }
}

#[test]
fn the_two_keys_differ() {
    assert_eq!(Aes128Xts::new(&[5; 32]).err(), Some(Error::EqualKeys));
    assert_eq!(Aes192Xts::new(&[5; 48]).err(), Some(Error::EqualKeys));
    assert_eq!(Aes256Xts::new(&[5; 64]).err(), Some(Error::EqualKeys));
    for place in 0..64 {
        let mut bytes = [5; 64];
        bytes[place] ^= 0x80;
        assert!(Aes256Xts::new(&bytes).is_ok());
    }
}

type Call<'a> = &'a dyn Fn(&mut [u8]);

#[test]
fn the_level_asked_for_runs() {
    for level in levels() {
        let key =
            Aes128Xts::with_level(&core::array::from_fn(|i| i.to_le_bytes()[0]), level).unwrap();
        let other = lanelock::Aes128::with_level(&[2; 16], portable());
        let mut data = [0; 1024];
        let calls: [Call<'_>; 4] = [
            &|data| key.encrypt(&[0; 16], data).unwrap(),
            &|data| key.decrypt(&[0; 16], data).unwrap(),
            &|data| key.encrypt_sectors(0, 512, data).unwrap(),
            &|data| key.decrypt_sectors(0, 512, data).unwrap(),
        ];
        for call in calls {
            other.encrypt_block(&mut [0; 16]);
            call(&mut data);
            assert_eq!(last_level_run(), Some(level));
        }
        assert_eq!(data, [0; 1024], "{level}: there and back");
    }
}

#[test]
fn debug_shows_no_key() {
    let key = Aes128Xts::with_level(&core::array::from_fn(|i| i.to_le_bytes()[0]), portable());
    assert_eq!(format!("{:?}", key.unwrap()), "Aes128Xts(portable)");
}
