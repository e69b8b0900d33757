//! RSA: RFC 8017, PKCS #1 version 2.2.
//!
//! Signatures and ciphertexts are made and read many at a time, by the keys of one size side by side; keys, messages and
//! public exponents may be others in each lane. An error belongs to one operation.
//!
//! Every private operation is blinded with a pair of random factors that no other one uses at that time, and its result
//! is raised to the public exponent and compared before it is released ([`Error::Fault`]).
//!
//! ```
//! use lanelock_pubkey::{Hash, SystemRandom, rsa::{self, PrivateKey, Scheme, Sign, Verify}};
//!
//! # fn main() -> Result<(), lanelock_pubkey::Error> {
//! let key = PrivateKey::generate(2048, &mut SystemRandom)?;
//! let scheme = Scheme::pss(Hash::Sha256);
//!
//! let messages = [b"one", b"two"];
//! let mut signs = Vec::new();
//! for message in messages {
//!     signs.push(Sign::message(&key, scheme, message)?);
//! }
//! let signatures = rsa::sign_batch(&signs, &mut SystemRandom);
//!
//! let mut verifies = Vec::new();
//! for (message, signature) in messages.iter().zip(signatures) {
//!     verifies.push(Verify::message(key.public_key(), scheme, *message, signature?)?);
//! }
//! assert_eq!(rsa::verify_batch(&verifies), [Ok(()), Ok(())]);
//!
//! // The other way round: what is encrypted with the public key.
//! use lanelock_pubkey::rsa::{Decrypt, Encrypt, Encryption};
//! let oaep = Encryption::oaep(Hash::Sha256).with_label(b"a label");
//! let encrypt = Encrypt::new(key.public_key(), oaep.clone(), b"a secret")?;
//! let ciphertext = rsa::encrypt_batch(&[encrypt], &mut SystemRandom).remove(0)?;
//! let decrypt = Decrypt::new(&key, oaep, &ciphertext)?;
//! assert_eq!(*rsa::decrypt_batch(&[decrypt], &mut SystemRandom).remove(0)?, b"a secret");
//! # Ok(())
//! # }
//! ```

mod blinding;
mod der;
mod encrypt;
mod generate;
mod key;
mod mask;
mod number;
mod oaep;
mod pairs;
mod pkcs1v15;
mod private;
mod pss;
mod public;
mod sieve;
mod sign;
#[cfg(feature = "signature")]
mod traits;

use alloc::vec::Vec;
use core::ops::Deref;
use zeroize::Zeroizing;

use crate::{Error, Random, SystemRandom, operation::run_batch};

pub use encrypt::{Decrypt, Encrypt, Encryption};
pub use generate::Generate;
pub use key::{Class, Components, PrivateKey, PublicKey};
pub use sign::{Scheme, Sign, Signature, Verify};
#[cfg(feature = "signature")]
pub use traits::{SigningKey, VerifyingKey};

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
