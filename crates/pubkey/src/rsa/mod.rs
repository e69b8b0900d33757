//! RSA: RFC 8017, PKCS #1 version 2.2.

mod blinding;
mod der;
mod encrypt;
mod generate;
mod hash;
mod key;
mod mask;
mod number;
mod oaep;
mod pkcs1v15;
mod private;
mod pss;
mod public;
mod sieve;
mod sign;

use alloc::vec::Vec;
use core::ops::Deref;
use zeroize::Zeroizing;

use crate::{Error, Random, SystemRandom, operation::run_batch};

pub use encrypt::{Decrypt, Encrypt, Encryption};
pub use generate::Generate;
pub use hash::Hash;
pub use key::{Class, Components, PrivateKey, PublicKey};
pub use sign::{Scheme, Sign, Signature, Verify};

/// Makes any number of signatures, by keys of any size.
pub fn sign_batch<K: Deref<Target = PrivateKey>>(
    operations: &[Sign<K>],
    random: &mut dyn Random,
) -> Vec<Result<Signature, Error>> {
    run_batch(operations, random)
}

/// Verifies any number of signatures, by keys of any size.
pub fn verify_batch<K: Deref<Target = PublicKey>>(
    operations: &[Verify<K>],
) -> Vec<Result<(), Error>> {
    run_batch(operations, &mut SystemRandom)
}

/// Encrypts any number of messages, for keys of any size.
pub fn encrypt_batch<K: Deref<Target = PublicKey>>(
    operations: &[Encrypt<K>],
    random: &mut dyn Random,
) -> Vec<Result<Vec<u8>, Error>> {
    run_batch(operations, random)
}

/// Decrypts any number of ciphertexts, by keys of any size.
pub fn decrypt_batch<K: Deref<Target = PrivateKey>>(
    operations: &[Decrypt<K>],
    random: &mut dyn Random,
) -> Vec<Result<Zeroizing<Vec<u8>>, Error>> {
    run_batch(operations, random)
}

/// Generates any number of keys.
pub fn generate_batch(
    operations: &[Generate],
    random: &mut dyn Random,
) -> Vec<Result<PrivateKey, Error>> {
    run_batch(operations, random)
}
