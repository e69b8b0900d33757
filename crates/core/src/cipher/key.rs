//! Expanded keys.

use lanelock_isa::{AesClmul, AesLevel, Block, Kernel, StackDepth, wipe};

use super::{Cipher, Schedule, SizedCipher};
use crate::{key_object, set_up::SetUp};

/// An expanded key of a cipher: [`Aes128`](crate::Aes128), [`Aes192`](crate::Aes192),
/// [`Aes256`](crate::Aes256).
///
/// Its methods are ECB, CBC and CTR (NIST SP 800-38A) and CBCS (ISO/IEC 23001-7, 9.6) for one buffer.
/// None of them detects tampering: see the AEADs.
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
pub struct Key<C: SizedCipher>(Schedules<C::Cipher>);

key_object!(Key, "", 0);

impl<C: SizedCipher> Key<C> {
    /// What encrypts.
    #[doc(hidden)]
    pub fn encrypt_key(&self) -> &EncryptKey<C::Cipher> {
        &self.0.encrypt
    }

    /// The schedule of encryption.
    #[doc(hidden)]
    pub fn encrypt_keys(&self) -> Schedule<'_, C::Cipher> {
        self.0.encrypt.keys()
    }

    /// The schedule of decryption.
    #[doc(hidden)]
    pub fn decrypt_keys(&self) -> Schedule<'_, C::Cipher> {
        self.0.decrypt_keys()
    }
}

impl<C: SizedCipher> SetUp for Key<C> {
    const DEPTH: StackDepth = Schedules::<C::Cipher>::DEPTH;

    const NONE: Self = Self(Schedules::NONE);

    fn set(&mut self, key: &[u8], level: AesLevel) {
        self.0.set(key, level);
    }
}

/// The schedules of both directions, whatever the size of the key. Zeroised on drop.
#[derive(Clone)]
pub struct Schedules<C: Cipher> {
    /// What encrypts.
    pub encrypt: EncryptKey<C>,
    decrypt: C::Rounds<Block>,
}

impl<C: Cipher> Schedules<C> {
    /// The level that they were made for.
    #[inline(always)]
    pub fn level(&self) -> AesLevel {
        self.encrypt.level()
    }

    /// The schedule of decryption.
    #[inline(always)]
    pub fn decrypt_keys(&self) -> Schedule<'_, C> {
        Schedule { keys: &self.decrypt, rounds: self.encrypt.rounds.into() }
    }
}

impl<C: Cipher> SetUp for Schedules<C> {
    const DEPTH: StackDepth = EncryptKey::<C>::DEPTH;

    const NONE: Self = Self { encrypt: EncryptKey::NONE, decrypt: C::NO_KEYS };

    fn set(&mut self, key: &[u8], level: AesLevel) {
        let Self { encrypt, decrypt } = self;
        encrypt.begin(key, level);
        level.run(ExpandBoth::<C> { key, encrypt, decrypt });
    }
}

impl<C: Cipher> Drop for Schedules<C> {
    fn drop(&mut self) {
        wipe(self.decrypt.as_mut().as_flattened_mut());
    }
}

/// The schedule of encryption, and the level: all that modes without decryption need. Zeroised on
/// drop. In this order and so aligned, no load of a round key crosses a cache line.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct EncryptKey<C: Cipher> {
    keys: C::Rounds<Block>,
    level: AesLevel,
    rounds: u8,
}

impl<C: Cipher> EncryptKey<C> {
    /// The schedule.
    #[inline(always)]
    pub fn keys(&self) -> Schedule<'_, C> {
        Schedule { keys: &self.keys, rounds: self.rounds.into() }
    }

    /// Level and rounds, before the schedule.
    fn begin(&mut self, key: &[u8], level: AesLevel) {
        self.level = level;
        [self.rounds, ..] = C::rounds(key.len()).to_le_bytes();
    }

    /// The level that it was made for.
    #[inline(always)]
    pub fn level(&self) -> AesLevel {
        self.level
    }

    /// The name of keys of this size: see [`SizedCipher::NAME`].
    pub fn name(&self) -> &'static str {
        C::name(self.rounds.into())
    }
}

impl<C: Cipher> SetUp for EncryptKey<C> {
    const DEPTH: StackDepth = StackDepth::KiB1;

    const NONE: Self = Self { keys: C::NO_KEYS, level: AesLevel::PORTABLE, rounds: 0 };

    fn set(&mut self, key: &[u8], level: AesLevel) {
        self.begin(key, level);
        level.run(Expand::<C> { key, keys: &mut self.keys });
    }
}

impl<C: Cipher> Drop for EncryptKey<C> {
    fn drop(&mut self) {
        wipe(self.keys.as_mut().as_flattened_mut());
        // Bulk work keeps round keys there that did not fit into registers.
        self.level.wipe_stack(StackDepth::KiB2);
    }
}

struct Expand<'a, C: Cipher> {
    key: &'a [u8],
    keys: &'a mut C::Rounds<Block>,
}

impl<C: Cipher> Kernel for Expand<'_, C> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        C::expand(s, self.key, self.keys);
    }
}

/// The schedules of both directions: round keys are still in registers, or on their way to memory, when those of
/// decryption are made of them.
struct ExpandBoth<'a, C: Cipher> {
    key: &'a [u8],
    encrypt: &'a mut EncryptKey<C>,
    decrypt: &'a mut C::Rounds<Block>,
}

impl<C: Cipher> Kernel for ExpandBoth<'_, C> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        C::expand(s, self.key, &mut self.encrypt.keys);
        C::invert(s, self.encrypt.keys(), self.decrypt);
    }
}
