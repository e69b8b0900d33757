//! Signatures: RFC 8017, section 8.

use alloc::vec::Vec;
use core::ops::Deref;

use super::{
    Class, PrivateKey, PublicKey, number, pkcs1v15, private::private_all, pss, public::public_all,
};
use crate::{
    Error, Hash, Operation, Random,
    digits::{Digits, digits_from_bytes, digits_to_bytes},
    hash::sha_level,
};

/// How a digest becomes a number: a padding and the hashes that it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Scheme {
    hash: Hash,
    padding: Padding,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
enum Padding {
    Pkcs1v15,
    Pss { mask: Hash, salt: usize },
}

impl Scheme {
    /// RSASSA-PKCS1-v1_5: RFC 8017, section 8.2. It is deterministic.
    pub const fn pkcs1v15(hash: Hash) -> Self {
        Self { hash, padding: Padding::Pkcs1v15 }
    }

    /// RSASSA-PSS: RFC 8017, section 8.1, with MGF1 of the same hash and a salt as long as a digest, as TLS 1.3
    /// takes it (RFC 8446, section 4.2.3).
    pub const fn pss(hash: Hash) -> Self {
        Self { hash, padding: Padding::Pss { mask: hash, salt: hash.length() } }
    }

    /// PSS with a salt of another length in bytes.
    #[must_use]
    pub const fn with_salt_length(mut self, length: usize) -> Self {
        if let Padding::Pss { salt, .. } = &mut self.padding {
            *salt = length;
        }
        self
    }

    /// PSS with another hash in MGF1.
    #[must_use]
    pub const fn with_mask_hash(mut self, hash: Hash) -> Self {
        if let Padding::Pss { mask, .. } = &mut self.padding {
            *mask = hash;
        }
        self
    }

    /// The hash of messages.
    pub const fn hash(self) -> Hash {
        self.hash
    }

    /// The digest has as many bytes as the hash makes.
    fn check(self, digest: &[u8]) -> Result<(), Error> {
        let expected = self.hash.length();
        if digest.len() == expected {
            return Ok(());
        }
        Err(Error::Length { what: "the digest", got: digest.len(), expected })
    }
}

/// A signature: as many bytes as the modulus has.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Signature(Vec<u8>);

impl AsRef<[u8]> for Signature {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Signature {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&[u8]> for Signature {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<Signature> for Vec<u8> {
    fn from(signature: Signature) -> Self {
        signature.0
    }
}

/// A signature to make.
#[derive(Clone, Debug)]
pub struct Sign<K> {
    key: K,
    scheme: Scheme,
    digest: Vec<u8>,
}

impl<K: Deref<Target = PrivateKey>> Sign<K> {
    /// Signs the digest of a message.
    ///
    /// # Errors
    /// [`Error::Length`] if the hash of the scheme makes digests of another length; [`Error::Weak`] if it is SHA-1;
    /// [`Error::Range`] if the key has no room for the salt.
    pub fn new(key: K, scheme: Scheme, digest: &[u8]) -> Result<Self, Error> {
        scheme.check(digest)?;
        if scheme.hash == Hash::Sha1 {
            return Err(Error::Weak("SHA-1"));
        }
        if let Padding::Pss { salt, .. } = scheme.padding
            && (key.bits() - 1).div_ceil(8) < scheme.hash.length() + salt + 2
        {
            return Err(Error::Range("the salt"));
        }
        Ok(Self { key, scheme, digest: digest.to_vec() })
    }

    /// Signs a message, which is hashed now.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`Error::Level`] if `LANELOCK_LEVEL` has a mistake.
    pub fn message(key: K, scheme: Scheme, message: &[u8]) -> Result<Self, Error> {
        Self::new(key, scheme, &scheme.hash.digest(message)?)
    }

    fn encoded(&self, random: &mut dyn Random) -> Result<Digits, Error> {
        let key = self.key.public_key();
        let encoded = match self.scheme.padding {
            Padding::Pkcs1v15 => pkcs1v15::encode(self.scheme.hash, &self.digest, key.length()),
            Padding::Pss { mask, salt: length } => {
                let parameters = pss::Parameters { hash: self.scheme.hash, mask, salt: length };
                let mut salt = alloc::vec![0; length];
                random.fill(&mut salt)?;
                pss::encode(sha_level()?, parameters, &self.digest, &salt, key.bits())?
            }
        };
        let mut digits = number::zero(key.modulus().digits().len());
        digits_from_bytes(&encoded, &mut digits);
        Ok(digits)
    }
}

impl<K: Deref<Target = PrivateKey>> Operation for Sign<K> {
    type Output = Signature;
    type Class = Class;

    fn class(&self) -> Class {
        self.key.public_key().class()
    }

    fn lanes(class: Class) -> usize {
        class.level.width()
    }

    fn run(operations: &[&Self], random: &mut dyn Random) -> Vec<Result<Signature, Error>> {
        let encoded: Vec<Result<Digits, Error>> =
            operations.iter().map(|operation| operation.encoded(random)).collect();
        let (mut keys, mut numbers) = (Vec::new(), Vec::new());
        for (operation, encoded) in operations.iter().zip(&encoded) {
            if let Ok(encoded) = encoded {
                keys.push(&*operation.key);
                numbers.push(&***encoded);
            }
        }
        let mut results = private_all(&keys, &numbers, random).into_iter();
        operations
            .iter()
            .zip(&encoded)
            .map(|(operation, encoded)| {
                if let Err(error) = encoded {
                    return Err(error.clone());
                }
                let number = results.next().unwrap_or(Err(Error::Fault))?;
                let mut bytes = alloc::vec![0; operation.key.public_key().length()];
                digits_to_bytes(&number, &mut bytes);
                Ok(Signature(bytes))
            })
            .collect()
    }
}

/// A signature to verify.
#[derive(Clone, Debug)]
pub struct Verify<K> {
    key: K,
    scheme: Scheme,
    digest: Vec<u8>,
    signature: Signature,
}

impl<K: Deref<Target = PublicKey>> Verify<K> {
    /// Verifies the signature of the digest of a message.
    ///
    /// # Errors
    /// [`Error::Length`] if the hash of the scheme makes digests of another length.
    pub fn new(
        key: K,
        scheme: Scheme,
        digest: &[u8],
        signature: impl Into<Signature>,
    ) -> Result<Self, Error> {
        scheme.check(digest)?;
        Ok(Self { key, scheme, digest: digest.to_vec(), signature: signature.into() })
    }

    /// Verifies the signature of a message, which is hashed now.
    ///
    /// # Errors
    /// [`Error::Level`] if `LANELOCK_LEVEL` has a mistake.
    pub fn message(
        key: K,
        scheme: Scheme,
        message: &[u8],
        signature: impl Into<Signature>,
    ) -> Result<Self, Error> {
        Self::new(key, scheme, &scheme.hash.digest(message)?, signature)
    }

    /// The signature as a number below the modulus.
    fn number(&self) -> Result<Digits, Error> {
        self.key.number_from(&self.signature.0).ok_or(Error::Signature)
    }

    fn check(&self, number: &[u64]) -> Result<(), Error> {
        let mut encoded = alloc::vec![0; self.key.length()];
        digits_to_bytes(number, &mut encoded);
        let hash = self.scheme.hash;
        match self.scheme.padding {
            Padding::Pkcs1v15 => pkcs1v15::verify(hash, &self.digest, &encoded),
            Padding::Pss { mask, salt } => {
                let parameters = pss::Parameters { hash, mask, salt };
                pss::verify(sha_level()?, parameters, &self.digest, &encoded, self.key.bits())
            }
        }
    }
}

impl<K: Deref<Target = PublicKey>> Operation for Verify<K> {
    type Output = ();
    type Class = Class;

    fn class(&self) -> Class {
        self.key.class()
    }

    fn lanes(class: Class) -> usize {
        class.level.width()
    }

    fn run(operations: &[&Self], _random: &mut dyn Random) -> Vec<Result<(), Error>> {
        let numbers: Vec<Result<Digits, Error>> =
            operations.iter().map(|operation| operation.number()).collect();
        let (mut keys, mut bases) = (Vec::new(), Vec::new());
        for (operation, number) in operations.iter().zip(&numbers) {
            if let Ok(number) = number {
                keys.push(&*operation.key);
                bases.push(&***number);
            }
        }
        let mut powers = public_all(&keys, &bases).into_iter();
        operations
            .iter()
            .zip(&numbers)
            .map(|(operation, number)| match number {
                Ok(_) => powers.next().map_or(Err(Error::Fault), |power| operation.check(&power)),
                Err(error) => Err(error.clone()),
            })
            .collect()
    }
}
