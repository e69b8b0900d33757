//! KMAC of strings whose lengths take more than two bytes, and the tags that it takes.
//!
//! The expected tags are those of PyCryptodome 4.4; OpenSSL 3.0 has computed the ones whose key and customisation fit
//! into its limit of 512 bytes as well.

use lanelock_core::Error;
use lanelock_digest::{Hash, Kmac, algorithm::Sha256};
use lanelock_isa::ShaLevel;
use lanelock_testkit::{hex, pattern};

const MESSAGE: &[u8] = b"a message";

fn kmac<const RATE: usize>(level: ShaLevel, key: usize, customization: usize) -> Kmac<RATE> {
    let mut kmac = Kmac::with_level(level, &pattern(key), &pattern(customization));
    kmac.update(MESSAGE);
    kmac
}

/// Bytes of key, customisation and tag, and SHA-256 of the tag.
type Case = (usize, usize, usize, &'static str);

fn lengths<const RATE: usize>(cases: &[Case]) {
    for level in ShaLevel::available() {
        for &(key, customization, bytes, expected) in cases {
            let mut tag = vec![0; bytes];
            kmac::<RATE>(level, key, customization).finish(&mut tag);
            let digest = Hash::<Sha256>::digest(&tag).unwrap();
            assert_eq!(hex(&digest), expected, "{level}: {key}, {customization}, {bytes}");
        }
    }
}

// 8191 bytes have 2^16 - 8 bits, 2^21 bytes have 2^24: two bytes, three and four.

#[test]
fn strings_of_kmac_128() {
    lengths::<168>(&[
        (8191, 8191, 32, "f4dc464c44ce3d92b3370df0af7e00ec2e5e976eb80ef1b5774f7d21553917ba"),
        (8192, 0, 32, "b6948699c0859f6e7233b9fe08953356ef11c2f9624f588259fc244af7748bf6"),
        (32, 8192, 32, "f39dd582a9073ba59b8543f86f8e5db86c0bd8308458c48bd58476f643ee5d15"),
        (9000, 9001, 64, "b7aee89dcbdbaeb6b32004e10cc8beb035f1aa2ccd1daa83bb104d33d831ebfd"),
        (32, 5, 8191, "ef0dcee11655ef4f61b310b49c22b71e39d648a9f3032c4a40382abed9082f59"),
        (32, 5, 8192, "475367e8c21aa49bbee20f2ddc5ad0b04ee7ebdd79a01ef0f90f45000ef687ea"),
        (1 << 21, 0, 32, "ce481ebb8d7adebc4eadc56d77df3cb1d51f7f7b257b92d594e4affa38cfec1f"),
        (32, 1 << 21, 32, "c61194ef708dc37f61e6f99ee7bfabb4dc28e728813e6f0f55badbb7142c69ba"),
    ]);
}

#[test]
fn strings_of_kmac_256() {
    lengths::<136>(&[
        (8191, 8191, 32, "cd517728390b9e1a2f16d35bf1ffe23d1248d66ca7ca21e0f3736fa79ad7b847"),
        (8192, 0, 32, "a56f6001a1a4875a8e838860aeedf1725e40daa0d5ffc38943ba082d29c73fbd"),
        (32, 8192, 32, "d5d194c8de2bf15e1611a636139ff9763d344c318d7fb0d620efbb2a5c549658"),
        (9000, 9001, 64, "89f0468a93b27d6f284c2252d473e4e5a490bc54fc4729d829ad62002fb3dce4"),
        (32, 5, 8191, "4876671d42e0f31c0817f6d1f6e77a6bc7072cc493685055b69bd37efe5a43d3"),
        (32, 5, 8192, "6e76615755b63f50c7e55d5369aa163b31ab768066be2eaded4c79ca00d6af86"),
        (1 << 21, 0, 32, "7bb1b0b574ac3aef21e310f4e29c967649d4457cf9fffe13c6e30238891fa8c1"),
        (32, 1 << 21, 32, "0706a86fac8b12697bec08d88060e2f079566e433d62725f8fef5accf6605b2e"),
    ]);
}

/// A tag of no bytes would verify for every message.
#[test]
fn tags_of_lengths_that_are_not_verified() {
    fn of<const RATE: usize>() {
        for level in ShaLevel::available() {
            let kmac = || kmac::<RATE>(level, 32, 0);
            for bytes in [0, 65, 100] {
                let mut tag = vec![0; bytes];
                kmac().finish(&mut tag);
                assert_eq!(kmac().verify(&tag), Err(Error::TagLength), "{level}: {bytes}");
            }
            for bytes in [1, 16, 64] {
                let mut tag = vec![0; bytes];
                kmac().finish(&mut tag);
                assert_eq!(kmac().verify(&tag), Ok(()), "{level}: {bytes}");
                tag[bytes - 1] ^= 1;
                assert_eq!(kmac().verify(&tag), Err(Error::Authentication), "{level}: {bytes}");
            }
        }
    }
    of::<168>();
    of::<136>();
}
