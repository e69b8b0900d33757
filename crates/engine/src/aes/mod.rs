//! AES (FIPS 197) for one buffer: the key and its modes, one file a mode.
//!
//! Every mode works on any alignment and at the level that the key was made with: in place, and with
//! the suffix `_inout` from one buffer to another.

mod cbc;
pub(crate) mod cmac;
pub(crate) mod ctr;
pub(crate) mod ecb;
mod kw;
mod schedule;
mod xts;

use core::fmt;
use std::sync::OnceLock;

use lanelock_isa::{AesClmul, AesLevel, Block, Kernel, LevelError, SameKey, wipe};
use zeroize::ZeroizeOnDrop;

pub(crate) use schedule::EncryptKey;

pub use cmac::{Aes128Cmac, Aes192Cmac, Aes256Cmac, Cmac, CmacStream};
pub use ctr::{CounterBits, CtrStream};
pub use kw::{Aes128KeyWrap, Aes192KeyWrap, Aes256KeyWrap, KeyWrap};
pub use xts::{Aes128Xts, Aes192Xts, Aes256Xts, Xts};

use crate::{inout::InOutBlocks, set_up::SetUp};
use schedule::Invert;

/// An AES key (FIPS 197) with `R` round keys: [`Aes128`], [`Aes192`] or [`Aes256`].
///
/// Its methods are ECB, CBC and CTR (NIST SP 800-38A) and CBCS (ISO/IEC 23001-7, 9.6) for one buffer.
/// None of them detects tampering: see [`aead`](crate::aead).
///
/// ```
/// use lanelock::{Aes256, CounterBits, Pattern};
///
/// # fn main() -> Result<(), lanelock::Error> {
/// let key = Aes256::new(&[7; 32])?;
/// let mut data = [1; 64];
///
/// let mut iv = [2; 16];
/// key.cbc_encrypt(&mut iv, &mut data)?; // whole blocks; `iv` becomes the last one
/// key.cbc_decrypt(&mut [2; 16], &mut data)?;
///
/// key.ctr(CounterBits::Bits64, &[3; 16], &mut data[..50])?; // any length; the same to decrypt
/// key.ctr(CounterBits::Bits64, &[3; 16], &mut data[..50])?;
///
/// key.cbcs_encrypt(&mut [4; 16], Pattern::new(1, 9), &mut data);
/// key.cbcs_decrypt(&mut [4; 16], Pattern::new(1, 9), &mut data);
/// assert_eq!(data, [1; 64]);
/// # Ok(())
/// # }
/// ```
///
/// Holds the round keys of both directions and the level. Zeroised on drop, with the stack that its
/// set-up and its last use left below. A key that is moved, into a `Box` or a `Vec` for instance, leaves a
/// copy where it was, as every value does: where that matters, make it where it is to stay.
#[derive(Clone)]
pub struct Aes<const R: usize> {
    encrypt: EncryptKey<R>,
    decrypt: [Block; R],
}

/// AES with a 128-bit key: 10 rounds.
pub type Aes128 = Aes<11>;
/// AES with a 192-bit key: 12 rounds.
pub type Aes192 = Aes<13>;
/// AES with a 256-bit key: 14 rounds.
pub type Aes256 = Aes<15>;

macro_rules! constructors {
    ($rounds:literal, $bytes:literal) => {
        impl Aes<$rounds> {
            /// Expands `key` at the best level: see [`AesLevel::best`].
            ///
            /// # Errors
            /// [`LevelError`] if the environment variable `LANELOCK_LEVEL` names a level that is unknown
            /// or not available. [`with_level`](Self::with_level) does not look at the environment.
            pub fn new(key: &[u8; $bytes]) -> Result<Self, LevelError> {
                Self::expand_if(key, default_level())
            }

            /// Expands `key` at `level`: for tests and benchmarks, or where the level is policy.
            pub fn with_level(key: &[u8; $bytes], level: AesLevel) -> Self {
                Self::expand(key, level)
            }
        }
    };
}

constructors!(11, 16);
constructors!(13, 24);
constructors!(15, 32);

impl<const R: usize> Aes<R> {
    /// The level that this key runs at.
    pub fn level(&self) -> AesLevel {
        self.encrypt.level()
    }

    pub(crate) fn encrypt_keys(&self) -> &[Block; R] {
        self.encrypt.keys()
    }

    pub(crate) fn decrypt_keys(&self) -> &[Block; R] {
        &self.decrypt
    }
}

impl<const R: usize> SetUp for Aes<R> {
    fn none(level: AesLevel) -> Self {
        Self { encrypt: EncryptKey::none(level), decrypt: [[0; 16]; R] }
    }

    fn set(&mut self, key: &[u8]) {
        self.encrypt.set(key);
        let Self { encrypt, decrypt } = self;
        encrypt.level().run(Invert { encrypt: encrypt.keys(), decrypt });
    }
}

impl<const R: usize> Drop for Aes<R> {
    fn drop(&mut self) {
        wipe(self.decrypt.as_flattened_mut());
    }
}

impl<const R: usize> ZeroizeOnDrop for Aes<R> {}

impl<const R: usize> fmt::Debug for Aes<R> {
    /// Says which cipher it is, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Aes{}({})", (R - 7) * 32, self.level())
    }
}

/// [`AesLevel::best`], found once a process: keys are made on hot paths too.
#[inline]
pub(crate) fn default_level() -> Result<AesLevel, LevelError> {
    static LEVEL: OnceLock<Result<AesLevel, LevelError>> = OnceLock::new();
    match LEVEL.get_or_init(AesLevel::best) {
        Ok(level) => Ok(*level),
        Err(error) => Err(error.clone()),
    }
}

/// [`AesLevel::fastest`], found once a process, for traits whose constructors cannot fail: they do not
/// consult the environment, which can be wrong.
#[cfg(any(feature = "aead", feature = "cipher", feature = "universal-hash"))]
pub(crate) fn detected_level() -> AesLevel {
    static LEVEL: OnceLock<AesLevel> = OnceLock::new();
    *LEVEL.get_or_init(AesLevel::fastest)
}

/// All round keys in the form of level `S`, each for all lanes of a vector.
#[inline(always)]
pub(crate) fn broadcast<S: AesClmul, const R: usize>(s: S, keys: &[Block; R]) -> [S::K; R] {
    let mut k = [s.key(&keys[0]); R];
    for round in 1..R {
        k[round] = s.key(&keys[round]);
    }
    k
}

/// Vectors in flight in the modes that are parallel within a buffer. A round has a latency of four
/// cycles; where two rounds start in a cycle, at any width (Zen 5, measured), eight independent
/// vectors keep the units full, and where one does, four would. Eight are also what the registers
/// hold beside the round keys: 8 + 11 at the 32 of `vaes512`.
pub(crate) const FLIGHT: usize = 8;

/// A mode that is parallel within a buffer, written for any number of vectors.
pub(crate) trait Mode {
    /// Processes groups of `N` vectors from `data` while a whole group is left, and returns the
    /// blocks done. What the next call must know (counter, previous ciphertext) stays in `self`.
    fn groups<S: AesClmul, const N: usize, const R: usize>(
        &mut self,
        s: S,
        keys: SameKey<S::K, R>,
        data: InOutBlocks<'_, '_>,
    ) -> usize;
}

/// Runs a mode over `data`: many vectors in flight, then single vectors, then single blocks.
pub(crate) struct InFlight<'a, 'i, 'o, M, const R: usize> {
    pub(crate) mode: &'a mut M,
    pub(crate) keys: &'a [Block; R],
    pub(crate) data: InOutBlocks<'i, 'o>,
}

impl<M: Mode, const R: usize> Kernel for InFlight<'_, '_, '_, M, R> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { mode, keys, mut data } = self;
        // Less than a group is left for the second step, less than a vector for the third: at
        // `vaes512` up to 7 vectors one behind the other, then 3 blocks.
        if data.len() >= S::WIDTH {
            let keys = broadcast(s, keys);
            if S::VECTORS > 1 {
                let done = mode.groups::<S, FLIGHT, R>(s, SameKey(keys), data.reborrow());
                (_, data) = data.split_at(done);
            }
            let done = mode.groups::<S, 1, R>(s, SameKey(keys), data.reborrow());
            (_, data) = data.split_at(done);
        }
        if !data.is_empty() {
            let s = s.narrow();
            mode.groups::<S::Narrow, 1, R>(s, SameKey(broadcast(s, keys)), data);
        }
    }
}
