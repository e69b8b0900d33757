//! CRCs on every level: check values, the definition bit by bit, other implementations, any split.

use crate::support::forms;
use lanelock::AesLevel;
use lanelock::hash::{Crc32, Crc32c, Crc64Nvme, Crc64Xz};
use lanelock_testkit::{self as testkit, Rng, crc::CrcName};

/// One of the four CRCs, of whatever width, as numbers of 64 bits.
struct Kind {
    name: CrcName,
    oracle: fn(&[u8]) -> u64,
    one_shot: fn(&[u8]) -> u64,
    pieces: fn(AesLevel, &[&[u8]]) -> u64,
    resumed: fn(AesLevel, u64, &[u8]) -> u64,
    combine: fn(u64, u64, u64) -> u64,
}

macro_rules! kind {
    ($crc:ident, $value:ty, $name:ident, $algorithm:ident) => {
        Kind {
            name: CrcName::$name,
            oracle: |data| {
                static ORACLE: crc::Crc<$value> = crc::Crc::<$value>::new(&crc::$algorithm);
                ORACLE.checksum(data).into()
            },
            one_shot: |data| $crc::checksum(data).unwrap().into(),
            pieces: |level, pieces| {
                let mut crc = $crc::with_level(level);
                for piece in pieces {
                    crc.update(piece);
                }
                crc.finish().into()
            },
            resumed: |level, value, data| {
                let mut crc = $crc::resume_with_level(value as $value, level);
                crc.update(data);
                crc.finish().into()
            },
            combine: |a, b, len| $crc::combine(a as $value, b as $value, len).into(),
        }
    };
}

const KINDS: [Kind; 4] = [
    kind!(Crc32, u32, Crc32IsoHdlc, CRC_32_ISO_HDLC),
    kind!(Crc32c, u32, Crc32Iscsi, CRC_32_ISCSI),
    kind!(Crc64Nvme, u64, Crc64Nvme, CRC_64_NVME),
    kind!(Crc64Xz, u64, Crc64Xz, CRC_64_XZ),
];

#[test]
fn published_values() {
    let cases = testkit::crc::published();
    for level in forms() {
        for case in &cases {
            let kind = KINDS.iter().find(|kind| kind.name == case.crc).unwrap();
            let got = (kind.pieces)(level, &[&case.message]);
            assert_eq!(got, case.value, "{level}: {}: {:?} {}", case.source, case.crc, case.name);
        }
    }
}

/// The register after one more byte, bit by bit.
fn bitwise(polynomial: u64, register: u64, byte: u8) -> u64 {
    (0..8).fold(register ^ u64::from(byte), |register, _| {
        register >> 1 ^ if register & 1 == 1 { polynomial } else { 0 }
    })
}

#[test]
fn all_lengths_at_odd_offsets() {
    let mut rng = Rng::from_env("all_lengths_at_odd_offsets");
    let data = rng.bytes(2000 + 64);
    let levels = forms();
    for kind in &KINDS {
        let ones = u64::MAX >> (64 - kind.name.bits());
        for offset in [0, 1, 15, 33] {
            let data = &data[offset..];
            let mut register = ones;
            for length in 0..=2000 {
                for level in &levels {
                    let got = (kind.pieces)(*level, &[&data[..length]]);
                    let at = || format!("{level}: {:?}, {length} at {offset}", kind.name);
                    assert_eq!(got, register ^ ones, "{}", at());
                }
                let polynomial = kind.name.reflected_polynomial();
                register = bitwise(polynomial, register, data[length]);
            }
        }
    }
}

#[test]
fn long_messages_are_as_others_say() {
    let mut rng = Rng::from_env("long_messages_are_as_others_say");
    let data = rng.bytes(300_000);
    let levels = forms();
    for _ in 0..100 {
        let offset = rng.below(200);
        let data = &data[offset..][..rng.below(data.len() - offset)];
        let crc32 = u64::from(crc32fast::hash(data));
        for kind in &KINDS {
            let expected = (kind.oracle)(data);
            if kind.name == CrcName::Crc32IsoHdlc {
                assert_eq!(crc32, expected);
            }
            assert_eq!((kind.one_shot)(data), expected, "{:?}, {} bytes", kind.name, data.len());
            for level in &levels {
                let got = (kind.pieces)(*level, &[data]);
                assert_eq!(got, expected, "{level}: {:?}, {} bytes", kind.name, data.len());
            }
        }
    }
}

#[test]
fn pieces_resume_and_combine() {
    let mut rng = Rng::from_env("pieces_resume_and_combine");
    for level in forms() {
        for kind in &KINDS {
            for _ in 0..300 {
                let range = *rng.pick(&[20, 100, 3000]);
                let length = rng.below(range);
                let data = rng.bytes(length);
                let whole = (kind.pieces)(level, &[&data]);
                let pieces = rng.splits(&data);
                let at = format!("{level}: {:?}, {length} bytes", kind.name);
                assert_eq!((kind.pieces)(level, &pieces), whole, "{at}, in pieces");
                let (a, b) = data.split_at(rng.below(length + 1));
                let first = (kind.pieces)(level, &[a]);
                assert_eq!((kind.resumed)(level, first, b), whole, "{at}, resumed");
                let second = (kind.pieces)(level, &[b]);
                assert_eq!((kind.combine)(first, second, b.len() as u64), whole, "{at}, combined");
            }
        }
    }
}

#[test]
fn combination_over_terabytes() {
    // 2^40 zero bytes, doubled from one.
    for kind in &KINDS {
        let mut zeros = (kind.one_shot)(&[0]);
        for k in 0..40 {
            zeros = (kind.combine)(zeros, zeros, 1 << k);
        }
        let one = (kind.one_shot)(&[1]);
        let once = (kind.combine)(one, zeros, 1 << 40);
        // One step of 2^40 is two of 2^39.
        let mut half = (kind.one_shot)(&[0]);
        for k in 0..39 {
            half = (kind.combine)(half, half, 1 << k);
        }
        let twice = (kind.combine)((kind.combine)(one, half, 1 << 39), half, 1 << 39);
        assert_eq!(once, twice, "{:?}", kind.name);
    }
}
