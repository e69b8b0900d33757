//! Known answers, for programs that have to test their cryptography before they use it.
//!
//! Nothing here runs by itself: who must test at start-up calls [`run_all`], or [`run`] for one level. Every
//! algorithm and every way through it (one buffer, lanes, batches, both directions) works on a fixed input of
//! 1,024 bytes or so, long enough for the widest kernels and for what they leave over. Outputs are compared
//! with those of other implementations: OpenSSL for AES and its modes and AEADs, libaegis for AEGIS, the
//! check values of the CRC catalogue, Python's hashlib for hashes.
//!
//! A level takes about a millisecond, the portable one ten times that.
//!
//! What names kernels is generic or `#[inline]`, so that it is compiled in the program that calls it, and in no other.
//!
//! ```
//! # fn main() -> Result<(), lanelock::self_test::SelfTestError> {
//! lanelock::self_test::run_all()?;
//! # Ok(())
//! # }
//! ```

mod hashes;

use alloc::{vec, vec::Vec};
use core::{array, error, fmt};

use crate::{
    Aes128, Aes128Cmac, Aes128KeyWrap, Aes128Xts, Aes192, Aes192Cmac, Aes192KeyWrap, Aes256,
    Aes256Cmac, Aes256KeyWrap, Aes256Xts, AesLevel, CounterBits, Error, Key, Pattern, SizedCipher,
    aead::{
        Aead, Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, Aes128Ccm,
        Aes128Gcm, Aes128GcmSiv, Aes128Ocb3, Aes192Ccm, Aes192Gcm, Aes192Ocb3, Aes256Ccm,
        Aes256Gcm, Aes256GcmSiv, Aes256Ocb3,
        batch::{self, Batch, Message},
    },
    hash::{Crc32, Crc32c, Crc64Nvme, Crc64Xz, Ghash, HashLevel, Polyval},
    lanes::{self, CmacRef, Job, KeyRef, MacJob},
};

/// What each algorithm makes of the [text]: the [fingerprint] of its output. Made by `tools/make-self-test`.
#[rustfmt::skip]
const ANSWERS: &[(&str, u64)] = &[
    ("AES-128-ECB", 0x3296_4f4f_f17f_cf59),
    ("AES-128-CBC", 0xbe12_dbc7_8c2b_8ee4),
    ("AES-128-CBCS", 0xd765_8c64_05ab_59d5),
    ("AES-128-CTR", 0x05a4_6fe4_414b_2529),
    ("AES-128-CMAC", 0x9de4_9e42_1e8e_4a39),
    ("AES-128-KW", 0x4d76_4fed_f5bf_ca1e),
    ("AES-128-KWP", 0x49b4_2d40_f564_b365),
    ("AES-192-ECB", 0x6681_c628_cd17_621d),
    ("AES-192-CBC", 0xcc85_2760_3c13_b6a1),
    ("AES-192-CBCS", 0xaa62_38af_2ef7_d991),
    ("AES-192-CTR", 0xd573_513c_e3b1_ea8f),
    ("AES-192-CMAC", 0x21fd_a063_3319_d5d7),
    ("AES-192-KW", 0x4a5e_288e_9007_02a9),
    ("AES-192-KWP", 0x70b1_da51_207b_b93e),
    ("AES-256-ECB", 0xd422_ee1b_d8bf_43d7),
    ("AES-256-CBC", 0xd64a_21bc_897c_4c6a),
    ("AES-256-CBCS", 0xa1d6_f865_39d6_5170),
    ("AES-256-CTR", 0xcacf_83aa_fd6d_5b9a),
    ("AES-256-CMAC", 0x9611_5caf_ad1e_4114),
    ("AES-256-KW", 0xfb17_b12e_5c3a_c7c2),
    ("AES-256-KWP", 0xfca0_ecc2_f83c_6e60),
    ("AES-128-XTS", 0x0c0d_eadd_5e46_724a),
    ("AES-256-XTS", 0x929e_9ddc_e83f_c08d),
    ("AES-128-GCM", 0x27cf_cd41_9f38_66bc),
    ("AES-192-GCM", 0xd00c_c392_652e_5605),
    ("AES-256-GCM", 0xc580_4a69_6293_8dc5),
    ("AES-128-GCM-SIV", 0x72de_846a_0040_6e06),
    ("AES-256-GCM-SIV", 0x3292_935d_1538_8764),
    ("AES-128-CCM", 0xda02_9d1d_13f3_24be),
    ("AES-192-CCM", 0x7875_21e5_756b_45d4),
    ("AES-256-CCM", 0xd696_66f6_3e47_3d66),
    ("AES-128-OCB3", 0x84a6_47b8_eec4_fd46),
    ("AES-192-OCB3", 0xac9f_ebbf_c153_e8d6),
    ("AES-256-OCB3", 0xf697_f2c2_e9f0_283c),
    ("AEGIS-128L", 0x998f_70bd_12be_f78a),
    ("AEGIS-128X2", 0x2e6c_29af_bd84_ec65),
    ("AEGIS-128X4", 0x1dd1_b1b8_08ae_44ca),
    ("AEGIS-256", 0x8f5d_56cc_165c_7813),
    ("AEGIS-256X2", 0x77a1_0704_06e1_697c),
    ("AEGIS-256X4", 0xd139_07d0_dc92_8ccd),
    ("GHASH", 0x365a_c589_2bbb_4b98),
    ("POLYVAL", 0xc012_d961_9a8b_f04e),
    ("CRC-32/ISO-HDLC", 0x3d0e_2d7e_51a1_059a),
    ("CRC-32/ISCSI", 0x3b05_a0c9_15b5_88e5),
    ("CRC-64/NVME", 0x79c6_1b5f_99cf_2765),
    ("CRC-64/XZ", 0x0e16_e765_abb9_e46f),
];

/// Bytes of text for modes of whole blocks, and for all others.
const BLOCKS: usize = 1024;
const BYTES: usize = 1037;

/// Messages of a batch, and chains in lanes: more than any level has lanes.
const MANY: usize = 35;

pub use hashes::run_hashes;

/// An algorithm gave a wrong answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SelfTestError {
    /// The algorithm, with the size of its key in bits.
    pub algorithm: &'static str,
    /// What of it: `encryption`, `decryption`, `lanes`, `batch`, ...
    pub operation: &'static str,
    /// The name of the level: of AES, or of hashes.
    pub level: &'static str,
}

impl fmt::Display for SelfTestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, operation, level } = self;
        write!(f, "the self-test of {algorithm} ({operation}) at level {level} gave a wrong answer")
    }
}

impl error::Error for SelfTestError {}

/// Tests all algorithms at every level that the processor has. Returns how many levels these are, of AES and of
/// hashes.
///
/// # Errors
/// The first wrong answer. Use nothing of this crate then.
#[inline]
pub fn run_all() -> Result<usize, SelfTestError> {
    let levels = AesLevel::available();
    levels.iter().try_for_each(|level| run(*level).map(drop))?;
    let hashes = HashLevel::available();
    hashes.iter().try_for_each(|level| run_hashes(*level).map(drop))?;
    Ok(levels.len() + hashes.len())
}

/// Tests all algorithms but hashes at one level. Returns how many these are.
///
/// # Errors
/// As [`run_all`].
#[inline]
pub fn run(level: AesLevel) -> Result<usize, SelfTestError> {
    let mut algorithms = 0;
    Test { level, see: &mut |_, _| algorithms += 1 }.all()?;
    Ok(algorithms)
}

/// A test at one level.
struct Test<'s> {
    level: AesLevel,
    /// Is shown each algorithm and its output before that is judged, and may change it.
    see: &'s mut dyn FnMut(&'static str, &mut [u8]),
}

impl Test<'_> {
    /// Compares the output of an algorithm with what is known.
    fn known(&mut self, algorithm: &'static str, output: &[u8]) -> Result<(), SelfTestError> {
        let mut output = output.to_vec();
        (self.see)(algorithm, &mut output);
        let want = ANSWERS.iter().find(|(name, _)| *name == algorithm);
        let good = want.is_some_and(|(_, want)| *want == fingerprint(&output));
        self.must(good, algorithm, "encryption")
    }

    fn must(
        &self,
        good: bool,
        algorithm: &'static str,
        operation: &'static str,
    ) -> Result<(), SelfTestError> {
        if good {
            Ok(())
        } else {
            Err(SelfTestError { algorithm, operation, level: self.level.name() })
        }
    }

    /// All algorithms.
    #[inline]
    fn all(&mut self) -> Result<(), SelfTestError> {
        let level = self.level;
        macro_rules! ciphers {
            ($($bits:literal $aes:ident $cmac:ident $wrap:ident;)+) => {$(
                let key = $aes::with_level(&counting(0), level);
                self.ecb(&key, concat!("AES-", $bits, "-ECB"))?;
                self.cbc(&key, concat!("AES-", $bits, "-CBC"), Pattern::ALL)?;
                self.cbc(&key, concat!("AES-", $bits, "-CBCS"), Pattern::new(1, 9))?;
                self.ctr(&key, concat!("AES-", $bits, "-CTR"))?;
                let key = $cmac::with_level(&counting(0), level);
                let one = key.mac(&text::<BYTES>());
                self.mac(one, [(&key).into(), (&key.clone()).into()], concat!("AES-", $bits, "-CMAC"))?;
                let key = $wrap::with_level(&counting(0), level);
                let secret = counting::<37>(9);
                let wrapped = key.wrap(&secret[..32]).unwrap_or_default();
                self.known(concat!("AES-", $bits, "-KW"), &wrapped)?;
                let good = key.unwrap(&wrapped).is_ok_and(|key| *key == secret[..32]);
                self.must(good, concat!("AES-", $bits, "-KW"), "unwrapping")?;
                let wrapped = key.wrap_padded(&secret).unwrap_or_default();
                self.known(concat!("AES-", $bits, "-KWP"), &wrapped)?;
                let good = key.unwrap_padded(&wrapped).is_ok_and(|key| *key == secret);
                self.must(good, concat!("AES-", $bits, "-KWP"), "unwrapping")?;
            )+};
        }
        ciphers! {
            128 Aes128 Aes128Cmac Aes128KeyWrap;
            192 Aes192 Aes192Cmac Aes192KeyWrap;
            256 Aes256 Aes256Cmac Aes256KeyWrap;
        }
        macro_rules! xts {
            ($($name:literal $xts:ident;)+) => {$(
                let (mut data, tweak) = (text::<BYTES>(), counting(0xa0));
                let key = $xts::with_level(&counting(0), level);
                let sound = key.as_ref().is_ok_and(|key| key.encrypt(&tweak, &mut data).is_ok());
                self.known($name, &data)?;
                let sound = sound && key.is_ok_and(|key| key.decrypt(&tweak, &mut data).is_ok());
                self.must(sound && data == text::<BYTES>(), $name, "decryption")?;
            )+};
        }
        xts! { "AES-128-XTS" Aes128Xts; "AES-256-XTS" Aes256Xts; }
        macro_rules! batches {
            ($($name:literal $aead:ident;)+) => {
                $(self.batch(&$aead::with_level(&counting(0), level), $name)?;)+
            };
        }
        batches! {
            "AES-128-GCM" Aes128Gcm; "AES-192-GCM" Aes192Gcm; "AES-256-GCM" Aes256Gcm;
            "AES-128-GCM-SIV" Aes128GcmSiv; "AES-256-GCM-SIV" Aes256GcmSiv;
            "AES-128-CCM" Aes128Ccm; "AES-192-CCM" Aes192Ccm; "AES-256-CCM" Aes256Ccm;
            "AES-128-OCB3" Aes128Ocb3; "AES-192-OCB3" Aes192Ocb3; "AES-256-OCB3" Aes256Ocb3;
        }
        macro_rules! aegis {
            ($($name:literal $aead:ident $nonce:literal;)+) => {$(
                let nonce = counting::<$nonce>(0xa0);
                self.aead(&$aead::with_level(&counting(0), level), &nonce, $name)?;
            )+};
        }
        aegis! {
            "AEGIS-128L" Aegis128L 16; "AEGIS-128X2" Aegis128X2 16; "AEGIS-128X4" Aegis128X4 16;
            "AEGIS-256" Aegis256 32; "AEGIS-256X2" Aegis256X2 32; "AEGIS-256X4" Aegis256X4 32;
        }
        let text = text::<BYTES>();
        macro_rules! universal {
            ($($name:literal $hash:ident;)+) => {$(
                let mut hash = $hash::with_level(&counting(0), level);
                hash.update(&text[..BLOCKS]);
                self.known($name, &hash.finish())?;
            )+};
        }
        universal! { "GHASH" Ghash; "POLYVAL" Polyval; }
        macro_rules! crcs {
            ($($name:literal $crc:ident;)+) => {$(
                let mut crc = $crc::with_level(level);
                crc.update(&text);
                self.known($name, &crc.finish().to_be_bytes())?;
            )+};
        }
        crcs! {
            "CRC-32/ISO-HDLC" Crc32; "CRC-32/ISCSI" Crc32c; "CRC-64/NVME" Crc64Nvme; "CRC-64/XZ" Crc64Xz;
        }
        Ok(())
    }

    fn ecb<C: SizedCipher>(
        &mut self,
        key: &Key<C>,
        name: &'static str,
    ) -> Result<(), SelfTestError> {
        let mut data = text::<BLOCKS>();
        let sound = key.ecb_encrypt(&mut data).is_ok();
        self.known(name, &data)?;
        let sound = sound && key.ecb_decrypt(&mut data).is_ok();
        self.must(sound && data == text::<BLOCKS>(), name, "decryption")
    }

    fn ctr<C: SizedCipher>(
        &mut self,
        key: &Key<C>,
        name: &'static str,
    ) -> Result<(), SelfTestError> {
        let (mut data, counter) = (text::<BYTES>(), counting(0xa0));
        let sound = key.ctr(CounterBits::Bits128, &counter, &mut data).is_ok();
        self.known(name, &data)?;
        let sound = sound && key.ctr(CounterBits::Bits128, &counter, &mut data).is_ok();
        self.must(sound && data == text::<BYTES>(), name, "decryption")
    }

    /// CBC, or CBCS with a pattern. Chains of many lengths are then run side by side, with one key and with
    /// two: each has to be the beginning of the first one.
    fn cbc<C: SizedCipher>(
        &mut self,
        key: &Key<C>,
        name: &'static str,
        pattern: Pattern,
    ) -> Result<(), SelfTestError>
    where
        for<'k> &'k Key<C>: Into<KeyRef<'k>>,
    {
        let iv = counting(0xa0);
        let mut data = text::<BLOCKS>();
        key.cbcs_encrypt(&mut iv.clone(), pattern, &mut data);
        self.known(name, &data)?;
        for (other, operation) in [(key, "lanes"), (&key.clone(), "lanes with keys of their own")] {
            let mut texts: Vec<_> =
                (1..=MANY).map(|i| text::<BLOCKS>()[..i * 160 % BLOCKS].to_vec()).collect();
            let mut jobs: Vec<_> = texts
                .iter_mut()
                .zip([key, other].into_iter().cycle())
                .map(|(text, key)| Job::new(key, iv, pattern, text))
                .collect();
            lanes::encrypt(&mut jobs);
            let good = texts.iter().all(|text| *text == data[..text.len()]);
            self.must(good, name, operation)?;
        }
        key.cbcs_decrypt(&mut iv.clone(), pattern, &mut data);
        self.must(data == text::<BLOCKS>(), name, "decryption")
    }

    /// A MAC that was made for one buffer, and many in lanes.
    #[inline]
    fn mac(
        &mut self,
        one: [u8; 16],
        keys: [CmacRef<'_>; 2],
        name: &'static str,
    ) -> Result<(), SelfTestError> {
        self.known(name, &one)?;
        let text = text::<BYTES>();
        for (keys, operation) in [([keys[0]; 2], "lanes"), (keys, "lanes with keys of their own")] {
            let mut jobs: Vec<_> = (0..MANY).map(|i| MacJob::new(keys[i % 2], &text)).collect();
            lanes::mac(&mut jobs);
            self.must(jobs.iter().all(|job| job.mac == one), name, operation)?;
        }
        Ok(())
    }

    /// Sealing, opening, and that a changed tag is refused.
    fn aead(
        &mut self,
        key: &impl Aead,
        nonce: &[u8],
        name: &'static str,
    ) -> Result<(), SelfTestError> {
        let (aad, text) = (counting::<20>(0x40), text::<BYTES>());
        let mut sealed = key.seal_vec(nonce, &aad, &text).unwrap_or_default();
        self.known(name, &sealed)?;
        let good = key.open_vec(nonce, &aad, &sealed).is_ok_and(|opened| opened == text);
        self.must(good, name, "decryption")?;
        if let Some(last) = sealed.last_mut() {
            *last ^= 1;
        }
        let refused = key.open_vec(nonce, &aad, &sealed) == Err(Error::Authentication);
        self.must(refused, name, "refusal of a forgery")
    }

    /// The same for algorithms that have batches: what a batch makes of messages of several lengths has to be
    /// what they give one by one.
    fn batch<A: Batch + Clone>(
        &mut self,
        key: &A,
        name: &'static str,
    ) -> Result<(), SelfTestError> {
        self.aead(key, &counting::<12>(0xa0), name)?;
        let (nonce, aad, text) = (counting::<12>(0xa0), counting::<13>(0x40), text::<BYTES>());
        let keys = [(key, "batch"), (&key.clone(), "batch with keys of their own")];
        // Short ones of several lengths, of which GCM and GCM-SIV have some side by side; and long ones of one length, of which
        // CCM and OCB3 do.
        let batches = keys.into_iter().flat_map(|keys| [(keys, [16, 45, 13]), (keys, [717; 3])]);
        for ((other, operation), of_three) in batches {
            let lengths = || of_three.into_iter().cycle().take(MANY);
            let alone = of_three
                .map(|length| key.seal_vec(&nonce, &aad, &text[..length]).unwrap_or_default());
            let mut texts: Vec<_> = lengths().map(|length| text[..length].to_vec()).collect();
            let mut tags = vec![vec![0; key.tag_length()]; MANY];
            let mut messages: Vec<_> = texts
                .iter_mut()
                .zip(&mut tags)
                .zip([key, other].into_iter().cycle())
                .map(|((text, tag), key)| Message::new(key, &nonce, &aad, text, tag))
                .collect();
            let sealed = batch::seal(&mut messages).is_ok();
            let good = messages
                .iter()
                .zip(alone.iter().cycle())
                .all(|(message, alone)| [&*message.data, &*message.tag].concat() == *alone);
            self.must(sealed && good, name, operation)?;
            let opened = batch::open(&mut messages).is_ok();
            let good = texts.iter().all(|opened| *opened == text[..opened.len()]);
            self.must(opened && good, name, operation)?;
        }
        Ok(())
    }
}

/// Bytes that count from `from` on: keys, nonces, AAD.
fn counting<const N: usize>(from: u8) -> [u8; N] {
    #[expect(clippy::cast_possible_truncation, reason = "modulo 256")]
    array::from_fn(|i| from.wrapping_add(i as u8))
}

/// The text: byte i is 7 i + i / 256, so that no two of its blocks are equal.
fn text<const N: usize>() -> [u8; N] {
    #[expect(clippy::cast_possible_truncation, reason = "modulo 256")]
    array::from_fn(|i| (7 * i + i / 256) as u8)
}

/// FNV-1a with 64 bits: a short name for an output, which depends on all its bytes and their places.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_levels_answer_as_others_do() {
        assert_eq!(run_all(), Ok(AesLevel::available().len() + HashLevel::available().len()));
    }

    /// Each algorithm has an answer and is asked for it; one wrong bit anywhere is noticed.
    #[test]
    fn a_wrong_answer_is_noticed() {
        let level = AesLevel::fastest();
        let mut asked = Vec::new();
        Test { level, see: &mut |name, _| asked.push(name) }.all().unwrap();
        let known: Vec<_> = ANSWERS.iter().map(|(name, _)| *name).collect();
        asked.sort_unstable();
        assert!(
            known.len() == asked.len() && known.iter().all(|name| asked.contains(name)),
            "{asked:?}"
        );

        for (number, wrong) in asked.iter().enumerate() {
            let mut flip = |name: &'static str, output: &mut [u8]| {
                if name == *wrong {
                    let place = number * 131 % output.len();
                    output[place] ^= 1 << (number % 8);
                }
            };
            let error = Test { level, see: &mut flip }.all().unwrap_err();
            assert_eq!((error.algorithm, error.level), (*wrong, level.name()));
        }
    }
}
