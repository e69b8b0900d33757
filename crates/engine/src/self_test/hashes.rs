//! Known answers of hashes and of what is made of them.

use alloc::{vec, vec::Vec};

use super::{BYTES, MANY, SelfTestError, counting, fingerprint, text};
use crate::{
    aead::{Aead, ChaCha20Poly1305, batch},
    hash::{
        Hash, HashJob, HashLevel, HmacJob, HmacKey, Levels, Pbkdf2Job, ShaLevel,
        algorithm::{self, Algorithm},
        hash_all, hmac_all, pbkdf2_all,
    },
};

/// What each algorithm makes of the [text]: the [fingerprint] of its output. Made by `tools/make-self-test`.
#[rustfmt::skip]
const ANSWERS: &[(&str, u64)] = &[
    ("SHA-1", 0x4d93_ab22_825a_36f8),
    ("SHA-224", 0x2d94_041d_a62e_7ac0),
    ("SHA-256", 0x8770_3abe_c05a_3229),
    ("SHA-384", 0x98b4_dd92_ffe6_9c2a),
    ("SHA-512", 0xbdcf_81a3_1e70_79e2),
    ("SHA-512/224", 0xc54c_4b4f_fc64_eefa),
    ("SHA-512/256", 0xd8e6_1454_7ab0_f881),
    ("SHA3-224", 0x3c92_6f51_6287_aa1c),
    ("SHA3-256", 0xa71c_8408_45ec_07af),
    ("SHA3-384", 0x3669_2039_4551_dc89),
    ("SHA3-512", 0xb962_4028_7bf7_6b62),
    ("SHAKE128", 0xebb6_fc58_ffcd_0be5),
    ("SHAKE256", 0x472a_7574_bdd1_f158),
    ("SM3", 0x9863_ee1b_aeb1_35bf),
    ("BLAKE2b", 0x16e2_4c89_668c_393a),
    ("BLAKE2s", 0xf35e_81a0_ef49_cc1d),
    ("HMAC-SHA-1", 0xebbe_0f76_71a8_18fa),
    ("HMAC-SHA-256", 0xc183_14d4_6e79_e3f1),
    ("HMAC-SHA-512", 0x9fd5_7573_69bb_e1f1),
    ("PBKDF2-HMAC-SHA-256", 0x2e98_70c3_cf56_500b),
    ("PBKDF2-HMAC-SHA-512", 0x6e1e_20d2_d9fa_6dc0),
    ("ChaCha20-Poly1305", 0x697c_4e1f_0e42_b081),
];

/// Iterations of PBKDF2.
const ITERATIONS: core::num::NonZeroU32 = core::num::NonZeroU32::new(3).unwrap();

/// Tests all hashes at one level of lanes, with each level of one message. Returns how many these are.
///
/// # Errors
/// As [`run_all`](super::run_all).
#[inline]
pub fn run_hashes(level: HashLevel) -> Result<usize, SelfTestError> {
    let mut algorithms = 0;
    for one in ShaLevel::available() {
        algorithms = 0;
        let levels = Levels { lanes: level, one };
        Test { levels, see: &mut |_, _| algorithms += 1 }.all()?;
    }
    Ok(algorithms)
}

struct Test<'s> {
    levels: Levels,
    /// Is shown each algorithm and its output before that is judged, and may change it.
    see: &'s mut dyn FnMut(&'static str, &mut [u8]),
}

impl Test<'_> {
    fn known(&mut self, algorithm: &'static str, output: &mut [u8]) -> Result<(), SelfTestError> {
        (self.see)(algorithm, output);
        let want = ANSWERS.iter().find(|(name, _)| *name == algorithm);
        let good = want.is_some_and(|(_, want)| *want == fingerprint(output));
        must(good, algorithm, "one message", self.levels.one.name())
    }

    fn lanes(&self, good: bool, algorithm: &'static str) -> Result<(), SelfTestError> {
        must(good, algorithm, "lanes", self.levels.lanes.name())
    }

    #[inline]
    fn all(&mut self) -> Result<(), SelfTestError> {
        use algorithm as a;
        self.hash::<a::Sha1>()?;
        self.hash::<a::Sha224>()?;
        self.hash::<a::Sha256>()?;
        self.hash::<a::Sha384>()?;
        self.hash::<a::Sha512>()?;
        self.hash::<a::Sha512_224>()?;
        self.hash::<a::Sha512_256>()?;
        self.hash::<a::Sha3_224>()?;
        self.hash::<a::Sha3_256>()?;
        self.hash::<a::Sha3_384>()?;
        self.hash::<a::Sha3_512>()?;
        self.hash::<a::Shake128>()?;
        self.hash::<a::Shake256>()?;
        self.hash::<a::Sm3>()?;
        self.hash::<a::Blake2b>()?;
        self.hash::<a::Blake2s>()?;
        self.hmac::<a::Sha1>("HMAC-SHA-1")?;
        self.hmac::<a::Sha256>("HMAC-SHA-256")?;
        self.hmac::<a::Sha512>("HMAC-SHA-512")?;
        self.pbkdf2::<a::Sha256>("PBKDF2-HMAC-SHA-256")?;
        self.pbkdf2::<a::Sha512>("PBKDF2-HMAC-SHA-512")?;
        self.chacha20_poly1305("ChaCha20-Poly1305")
    }

    #[inline]
    fn chacha20_poly1305(&mut self, name: &'static str) -> Result<(), SelfTestError> {
        let level = self.levels.lanes;
        let (nonce, aad) = (counting::<12>(0xa0), counting::<20>(0x40));
        let key = ChaCha20Poly1305::with_level(&counting(0), level);
        let mut sealed = [0; BYTES + 16];
        let (data, tag) = sealed.split_at_mut(BYTES);
        data.copy_from_slice(&text::<BYTES>());
        let mut good = key.seal(&nonce, &aad, data, tag).is_ok();
        let mut texts = vec![text::<BYTES>(); MANY];
        let mut tags = [[0; 16]; MANY];
        let mut messages: Vec<_> = texts
            .iter_mut()
            .zip(&mut tags)
            .map(|(text, tag)| batch::Message::new(&key, &nonce, &aad, text, tag))
            .collect();
        good &= batch::seal(&mut messages).is_ok();
        good &= texts.iter().all(|text| text[..] == sealed[..BYTES]);
        good &= tags.iter().all(|tag| tag[..] == sealed[BYTES..]);
        self.known(name, &mut sealed)?;
        let (data, tag) = sealed.split_at_mut(BYTES);
        good &= key.open(&nonce, &aad, data, tag).is_ok() && data[..] == text::<BYTES>();
        self.lanes(good, name)
    }

    fn hash<A: Algorithm>(&mut self) -> Result<(), SelfTestError> {
        let text = text::<BYTES>();
        let mut hash = Hash::<A>::with_level(self.levels.one);
        hash.update(&text);
        let digest = hash.finish();
        self.known(A::NAME, digest.clone().as_mut())?;
        let mut jobs = [HashJob::<A>::new(&text); MANY];
        hash_all(self.levels, &mut jobs);
        self.lanes(jobs.iter().all(|job| job.digest == digest), A::NAME)
    }

    fn hmac<A: Algorithm>(&mut self, name: &'static str) -> Result<(), SelfTestError> {
        let text = text::<BYTES>();
        let key = HmacKey::<A>::with_levels(self.levels, &counting::<32>(0));
        let tag = key.tag(&text);
        self.known(name, tag.clone().as_mut())?;
        let mut jobs = [HmacJob::new(&key, &text); MANY];
        hmac_all(&mut jobs);
        self.lanes(jobs.iter().all(|job| job.tag == tag), name)
    }

    fn pbkdf2<A: Algorithm>(&mut self, name: &'static str) -> Result<(), SelfTestError> {
        let (password, salt) = (counting::<20>(0x40), counting::<16>(0xa0));
        let derive = |keys: &mut [[u8; 32]]| {
            let job =
                |key| Pbkdf2Job { password: &password, salt: &salt, iterations: ITERATIONS, key };
            let mut jobs: Vec<_> = keys.iter_mut().map(|key| job(&mut key[..])).collect();
            pbkdf2_all::<A>(self.levels, &mut jobs);
        };
        let (mut one, mut many) = ([[0; 32]], [[0; 32]; MANY]);
        derive(&mut one);
        derive(&mut many);
        self.known(name, &mut one[0].clone())?;
        self.lanes(many.iter().all(|key| *key == one[0]), name)
    }
}

fn must(
    good: bool,
    algorithm: &'static str,
    operation: &'static str,
    level: &'static str,
) -> Result<(), SelfTestError> {
    if good { Ok(()) } else { Err(SelfTestError { algorithm, operation, level }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_levels_answer_as_others_do() {
        for level in HashLevel::available() {
            assert_eq!(run_hashes(level), Ok(ANSWERS.len()));
        }
    }

    /// Each algorithm has an answer and is asked for it; one wrong bit anywhere is noticed.
    #[test]
    fn a_wrong_answer_is_noticed() {
        let levels = Levels::fastest();
        let mut asked = Vec::new();
        Test { levels, see: &mut |name, _| asked.push(name) }.all().unwrap();
        assert!(ANSWERS.iter().all(|(name, _)| asked.contains(name)), "{asked:?}");
        assert_eq!(asked.len(), ANSWERS.len());
        for (number, wrong) in asked.iter().enumerate() {
            let mut flip = |name: &'static str, output: &mut [u8]| {
                if name == *wrong {
                    let place = number * 131 % output.len();
                    output[place] ^= 1 << (number % 8);
                }
            };
            let error = Test { levels, see: &mut flip }.all().unwrap_err();
            assert_eq!(error.algorithm, *wrong);
        }
    }
}
