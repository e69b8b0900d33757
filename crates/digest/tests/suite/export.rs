//! States of hashes as bytes: what goes on from them, at every level, and what is refused.

use lanelock_digest::{Hash, ImportError, algorithm::*};
use lanelock_isa::ShaLevel;
use lanelock_testkit::{Mutator, Rng, hex, mutants, pattern};

/// A message cut at every place, with each pair of levels before and behind it.
fn splits<A: Algorithm>() {
    let message = pattern(300);
    let mut whole = Hash::<A>::with_level(ShaLevel::fastest());
    whole.update(&message);
    let whole = whole.finish();
    for cut in 0..=message.len() {
        let (first, last) = message.split_at(cut);
        for before in ShaLevel::available() {
            let mut hash = Hash::<A>::with_level(before);
            hash.update(first);
            let state = hash.export();
            for behind in ShaLevel::available() {
                let what = format!("{} {before} to {behind}, cut at {cut}", A::NAME);
                let mut later = Hash::<A>::import_with_level(behind, &state).unwrap();
                assert_eq!((later.length(), later.level()), (cut as u64, behind), "{what}");
                assert_eq!(*later.export(), *state, "{what}");
                assert_eq!(later.clone().finish(), hash.clone().finish(), "{what}");
                later.update(last);
                assert_eq!(later.finish(), whole, "{what}");
            }
        }
    }
}

/// Changed bytes: an error, or a state that stands as it was given.
fn changed<A: Algorithm>() {
    let mut rng = Rng::from_env(A::NAME);
    for number in 0..mutants(400) {
        let mut hash = Hash::<A>::with_level(ShaLevel::fastest());
        hash.update(&pattern(rng.below(300)));
        let state = hash.export();
        let mut mutant = Mutator::of_head(&state, usize::MAX).mutant(&mut rng);
        let import = |bytes: &[u8]| Hash::<A>::import_with_level(ShaLevel::fastest(), bytes);
        if mutant != **state {
            assert!(import(&mutant).is_err(), "{} {number}: {}", A::NAME, hex(&mutant));
        }
        // With the sum that belongs to it.
        if let Some(before) = mutant.len().checked_sub(8) {
            let sum = lanelock_digest::Sha256::digest(&mutant[..before]).unwrap();
            mutant[before..].copy_from_slice(&sum[..8]);
        }
        if let Ok(mut hash) = import(&mutant) {
            assert_eq!(**hash.export(), *mutant, "{} {number}", A::NAME);
            hash.update(&pattern(200));
            hash.finish();
        }
    }
}

macro_rules! algorithms {
    ($($test:ident: $algorithm:ty;)+) => {
        $(
            #[test]
            fn $test() {
                splits::<$algorithm>();
                changed::<$algorithm>();
            }
        )+

        /// No state is taken for that of another algorithm.
        #[test]
        fn algorithms_are_told_apart() {
            let identities = [$(<$algorithm>::IDENTITY),+];
            for (at, identity) in identities.iter().enumerate() {
                assert!(!identities[..at].contains(identity), "{identity:?}");
            }
            $(
                let state = Hash::<$algorithm>::with_level(ShaLevel::fastest()).export();
                assert_eq!(state[4..8], <$algorithm>::IDENTITY, "{}", <$algorithm>::NAME);
            )+
        }
    };
}

algorithms! {
    sha_1: Sha1;
    sha_224: Sha224;
    sha_256: Sha256;
    sha_384: Sha384;
    sha_512: Sha512;
    sha_512_224: Sha512_224;
    sha_512_256: Sha512_256;
    sm3: Sm3;
    sha3_224: Sha3_224;
    sha3_256: Sha3_256;
    sha3_384: Sha3_384;
    sha3_512: Sha3_512;
    shake_128: Shake128;
    shake_256: Shake256;
    turbo_shake_128: TurboShake128;
    turbo_shake_128_of_another_domain: TurboShake128<1>;
    turbo_shake_256: TurboShake256;
    blake2b: Blake2b;
    blake2b_short: Blake2b<20>;
    blake2s: Blake2s;
    blake2s_short: Blake2s<1>;
}

/// The form stays as it is: what was stored can be read.
#[test]
fn version_1() {
    let mut hash = Hash::<Sha256>::with_level(ShaLevel::fastest());
    hash.update(b"abc");
    let initial = "67e6096a85ae67bb72f36e3c3af54fa57f520e518c68059babd9831f19cde05b";
    let bytes = hex(&hash.export());
    let (body, sum) = bytes.split_at(bytes.len() - 16);
    assert_eq!(body, format!("4c4c4801{}{}{initial}616263", "02200000", "0300000000000000"));
    assert_eq!(sum, "24912fecb4dcae5e");
    let mut hash = Hash::<Blake2s>::with_level(ShaLevel::fastest());
    hash.update(&[0x55; 65]);
    let bytes = hex(&hash.export());
    let (head, rest) = bytes.split_at(32);
    assert_eq!(head, "4c4c4801062000004100000000000000");
    // Behind eight words: 64 bytes taken, no last block, one byte.
    assert_eq!(rest[64..90], *"40000000000000000000000055");
    assert_eq!(rest.len(), 64 + 24 + 2 + 16);
}

#[test]
fn what_is_wrong_is_named() {
    let mut hash = Hash::<Sha256>::with_level(ShaLevel::fastest());
    hash.update(&[7; 100]);
    let state = hash.export();
    let error = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = state.to_vec();
        change(&mut bytes);
        let error = Hash::<Sha256>::import_with_level(ShaLevel::fastest(), &bytes).unwrap_err();
        assert!(!error.to_string().is_empty());
        error
    };
    assert_eq!(error(&|bytes| bytes.clear()), ImportError::NotAState);
    assert_eq!(error(&|bytes| bytes.truncate(23)), ImportError::NotAState);
    assert_eq!(error(&|bytes| bytes[0] = 0), ImportError::NotAState);
    assert_eq!(error(&|bytes| bytes[3] = 2), ImportError::Version(2));
    assert_eq!(error(&|bytes| bytes[5] = 28), ImportError::Algorithm);
    assert_eq!(error(&|bytes| bytes.truncate(24)), ImportError::Length);
    assert_eq!(error(&|bytes| bytes.push(0)), ImportError::Length);
    // 36 bytes behind one block, and more blocks than there can be.
    assert_eq!(error(&|bytes| bytes[8] += 1), ImportError::Length);
    assert_eq!(error(&|bytes| bytes[15] = 0x20), ImportError::Length);
    assert_eq!(error(&|bytes| bytes[15] = 0x1f), ImportError::Damaged);
    assert_eq!(error(&|bytes| bytes[20] ^= 1), ImportError::Damaged);
    assert_eq!(error(&|bytes| *bytes.last_mut().unwrap() ^= 1), ImportError::Damaged);
    let other = Hash::<Sha224>::import_with_level(ShaLevel::fastest(), &state);
    assert_eq!(other.unwrap_err(), ImportError::Algorithm);
}
