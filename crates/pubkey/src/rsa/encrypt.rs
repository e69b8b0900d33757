//! Encryption and decryption: RFC 8017, section 7.

use alloc::{vec, vec::Vec};
use core::{fmt, ops::Deref};
use lanelock_digest::Levels;
use zeroize::Zeroizing;

use super::{
    Class, PrivateKey, PublicKey, number, oaep, pkcs1v15, private::private_all, public::public_all,
};
use crate::{
    Error, Hash, Operation, Random,
    digits::{Digits, digits_from_bytes, digits_to_bytes},
};

/// How a message is padded before it is encrypted.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Encryption(Padding);

#[derive(Clone, PartialEq, Eq, Debug, Hash)]
enum Padding {
    Pkcs1v15,
    Oaep { hash: Hash, mask: Hash, label: Vec<u8> },
}

impl Encryption {
    /// RSAES-OAEP: RFC 8017, section 7.1, with MGF1 of the same hash and an empty label.
    pub const fn oaep(hash: Hash) -> Self {
        Self(Padding::Oaep { hash, mask: hash, label: Vec::new() })
    }

    /// OAEP with another hash in MGF1.
    #[must_use]
    pub fn with_mask_hash(mut self, hash: Hash) -> Self {
        if let Padding::Oaep { mask, .. } = &mut self.0 {
            *mask = hash;
        }
        self
    }

    /// OAEP with a label, which both sides have to know.
    #[must_use]
    pub fn with_label(mut self, bytes: &[u8]) -> Self {
        if let Padding::Oaep { label, .. } = &mut self.0 {
            *label = bytes.to_vec();
        }
        self
    }

    /// RSAES-PKCS1-v1_5: RFC 8017, section 7.2, for peers that have nothing better.
    ///
    /// A ciphertext that is not well padded is no error: a message of random bytes and of random length, the same for
    /// the same ciphertext, comes out of it (implicit rejection). The protocol has to find out that it is of no use.
    pub const fn pkcs1v15() -> Self {
        Self(Padding::Pkcs1v15)
    }
}

/// A message to encrypt.
#[derive(Clone)]
pub struct Encrypt<K> {
    key: K,
    encryption: Encryption,
    message: Zeroizing<Vec<u8>>,
}

impl<K: Deref<Target = PublicKey>> Encrypt<K> {
    /// Encrypts a message.
    ///
    /// # Errors
    /// [`Error::Range`] if it is longer than the key and the padding take: 11 bytes less than the modulus with PKCS #1
    /// v1.5, 2 bytes and two digests less with OAEP.
    pub fn new(key: K, encryption: Encryption, message: &[u8]) -> Result<Self, Error> {
        let padding = match &encryption.0 {
            Padding::Pkcs1v15 => 11,
            Padding::Oaep { hash, .. } => 2 * hash.length() + 2,
        };
        if message.len() + padding > key.length() {
            return Err(Error::Range("the message"));
        }
        Ok(Self { key, encryption, message: Zeroizing::new(message.to_vec()) })
    }

    fn encoded(&self, random: &mut dyn Random) -> Result<Digits, Error> {
        let length = self.key.length();
        let encoded = match &self.encryption.0 {
            Padding::Pkcs1v15 => pkcs1v15::pad(&self.message, length, random)?,
            Padding::Oaep { hash, mask, label } => {
                let parameters = oaep::Parameters { hash: *hash, mask: *mask, label };
                oaep::pad(Levels::best()?.one, parameters, &self.message, length, random)?
            }
        };
        let mut number = number::zero(self.key.modulus().digits().len());
        digits_from_bytes(&encoded, &mut number);
        Ok(number)
    }
}

impl<K: fmt::Debug> fmt::Debug for Encrypt<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, encryption, .. } = self;
        f.debug_struct("Encrypt")
            .field("key", key)
            .field("encryption", encryption)
            .finish_non_exhaustive()
    }
}

impl<K: Deref<Target = PublicKey>> Operation for Encrypt<K> {
    type Output = Vec<u8>;
    type Class = Class;

    fn class(&self) -> Class {
        self.key.class()
    }

    fn lanes(class: Class) -> usize {
        class.level.width()
    }

    fn run(operations: &[&Self], random: &mut dyn Random) -> Vec<Result<Vec<u8>, Error>> {
        let encoded: Vec<Result<Digits, Error>> =
            operations.iter().map(|operation| operation.encoded(random)).collect();
        let (mut keys, mut numbers) = (Vec::new(), Vec::new());
        for (operation, encoded) in operations.iter().zip(&encoded) {
            if let Ok(encoded) = encoded {
                keys.push(&*operation.key);
                numbers.push(&***encoded);
            }
        }
        let mut powers = public_all(&keys, &numbers).into_iter();
        operations
            .iter()
            .zip(&encoded)
            .map(|(operation, encoded)| {
                if let Err(error) = encoded {
                    return Err(error.clone());
                }
                let number = powers.next().ok_or(Error::Fault)?;
                let mut ciphertext = vec![0; operation.key.length()];
                digits_to_bytes(&number, &mut ciphertext);
                Ok(ciphertext)
            })
            .collect()
    }
}

/// A ciphertext to decrypt.
#[derive(Clone, Debug)]
pub struct Decrypt<K> {
    key: K,
    encryption: Encryption,
    ciphertext: Vec<u8>,
    number: Digits,
}

impl<K: Deref<Target = PrivateKey>> Decrypt<K> {
    /// Decrypts a ciphertext.
    ///
    /// # Errors
    /// [`Error::Length`] if it has not as many bytes as the modulus; [`Error::Range`] if it is not below the modulus.
    pub fn new(key: K, encryption: Encryption, ciphertext: &[u8]) -> Result<Self, Error> {
        let public = key.public_key();
        let expected = public.length();
        if ciphertext.len() != expected {
            return Err(Error::Length { what: "the ciphertext", got: ciphertext.len(), expected });
        }
        let number = public.number_from(ciphertext).ok_or(Error::Range("the ciphertext"))?;
        Ok(Self { key, encryption, ciphertext: ciphertext.to_vec(), number })
    }

    fn decoded(&self, number: &[u64]) -> Result<Zeroizing<Vec<u8>>, Error> {
        let levels = Levels::best()?;
        let mut encoded = Zeroizing::new(vec![0; self.key.public_key().length()]);
        digits_to_bytes(number, &mut encoded);
        match &self.encryption.0 {
            Padding::Pkcs1v15 => {
                let exponent = self.key.private_exponent();
                Ok(pkcs1v15::unpad(levels, &exponent, &self.ciphertext, &encoded))
            }
            Padding::Oaep { hash, mask, label } => {
                let parameters = oaep::Parameters { hash: *hash, mask: *mask, label };
                oaep::unpad(levels.one, parameters, encoded)
            }
        }
    }
}

impl<K: Deref<Target = PrivateKey>> Operation for Decrypt<K> {
    type Output = Zeroizing<Vec<u8>>;
    type Class = Class;

    fn class(&self) -> Class {
        self.key.public_key().class()
    }

    fn lanes(class: Class) -> usize {
        class.level.width()
    }

    fn run(
        operations: &[&Self],
        random: &mut dyn Random,
    ) -> Vec<Result<Zeroizing<Vec<u8>>, Error>> {
        let keys: Vec<&PrivateKey> = operations.iter().map(|operation| &*operation.key).collect();
        let numbers: Vec<&[u64]> =
            operations.iter().map(|operation| operation.number.as_slice()).collect();
        private_all(&keys, &numbers, random)
            .into_iter()
            .zip(operations)
            .map(|(result, operation)| operation.decoded(&result?))
            .collect()
    }
}
