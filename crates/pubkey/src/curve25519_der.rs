//! Keys of Curve25519 in DER and PEM: PKCS #8 (RFC 5958) and SubjectPublicKeyInfo (RFC 5280, section 4.1), with the
//! contents of RFC 8410.

use alloc::{string::String, vec::Vec};

use pkcs8::PrivateKeyInfoRef;
use spki::{
    AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef,
    der::{Decode as _, Encode as _, SecretDocument, asn1::OctetStringRef, pem::PemLabel as _},
};
use zeroize::Zeroizing;

use crate::{
    Error, ed25519,
    encoding::{
        NOT_DER, NOT_PEM, encoded, private_to_der, private_to_pem, public_from_pem, public_to_der,
        public_to_pem,
    },
    x25519,
};

const X25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.110");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

const NOT_OF_CURVE: Error = Error::Key("it is not one of this algorithm");
const NOT_ITS_PUBLIC_KEY: Error = Error::Key("the public key beside it belongs to another");

/// The algorithm, which has no parameters (RFC 8410, section 3).
fn algorithm(oid: ObjectIdentifier) -> AlgorithmIdentifierRef<'static> {
    AlgorithmIdentifierRef { oid, parameters: None }
}

/// The 32 bytes of a public key.
fn public_from_der(oid: ObjectIdentifier, der: &[u8]) -> Result<[u8; 32], Error> {
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| NOT_DER)?;
    if info.algorithm != algorithm(oid) {
        return Err(NOT_OF_CURVE);
    }
    let bytes = info.subject_public_key.as_bytes().ok_or(NOT_DER)?;
    bytes.try_into().map_err(|_| NOT_DER)
}

/// The 32 bytes of a secret key, and those of the public key where they stand beside it.
#[expect(clippy::type_complexity, reason = "two keys")]
fn secret_from_der(
    oid: ObjectIdentifier,
    der: &[u8],
) -> Result<(Zeroizing<[u8; 32]>, Option<Vec<u8>>), Error> {
    let info = PrivateKeyInfoRef::from_der(der).map_err(|_| NOT_DER)?;
    if info.algorithm != algorithm(oid) {
        return Err(NOT_OF_CURVE);
    }
    // An OCTET STRING in the OCTET STRING (RFC 8410, section 7).
    let inner = <&OctetStringRef>::from_der(info.private_key.as_bytes()).map_err(|_| NOT_DER)?;
    let secret = Zeroizing::new(inner.as_bytes().try_into().map_err(|_| NOT_DER)?);
    let public = match info.public_key {
        Some(public) => Some(public.as_bytes().ok_or(NOT_DER)?.to_vec()),
        None => None,
    };
    Ok((secret, public))
}

/// The DER of a key after `PRIVATE KEY`.
fn secret_from_pem(pem: &str) -> Result<SecretDocument, Error> {
    let (label, document) = SecretDocument::from_pem(pem).map_err(|_| NOT_PEM)?;
    if label != PrivateKeyInfoRef::PEM_LABEL {
        return Err(NOT_PEM);
    }
    Ok(document)
}

fn secret_to_der(oid: ObjectIdentifier, key: &[u8; 32]) -> Zeroizing<Vec<u8>> {
    let inner = OctetStringRef::new(key).and_then(|key| key.to_der());
    private_to_der(algorithm(oid), &Zeroizing::new(encoded(inner)))
}

/// Gives a pair of types their forms. `check` says whether a public key belongs to a secret one.
macro_rules! forms {
    ($algorithm:ident, $secret:ty, $public:ty, |$key:ident| $bytes:expr) => {
        impl $secret {
            /// The key in PKCS #8's `PrivateKeyInfo`, not encrypted.
            ///
            /// # Errors
            /// [`Error::Key`] if it is not in that form, is of another algorithm, or stands beside a public key that
            /// does not belong to it.
            pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, Error> {
                let (secret, public) = secret_from_der($algorithm, der)?;
                let $key = Self::from_bytes(&secret)?;
                if public.is_some_and(|public| public != $bytes) {
                    return Err(NOT_ITS_PUBLIC_KEY);
                }
                Ok($key)
            }

            /// The key in PEM, after `PRIVATE KEY`, not encrypted.
            ///
            /// # Errors
            /// As [`from_pkcs8_der`](Self::from_pkcs8_der).
            pub fn from_pkcs8_pem(pem: &str) -> Result<Self, Error> {
                Self::from_pkcs8_der(secret_from_pem(pem)?.as_bytes())
            }

            /// The key as PKCS #8's `PrivateKeyInfo`, not encrypted, without the public key.
            pub fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
                secret_to_der($algorithm, self.as_bytes())
            }

            /// The same in PEM.
            pub fn to_pkcs8_pem(&self) -> Zeroizing<String> {
                private_to_pem(&self.to_pkcs8_der())
            }
        }

        impl $public {
            /// The key as a SubjectPublicKeyInfo, which certificates have.
            pub fn to_spki_der(&self) -> Vec<u8> {
                public_to_der(algorithm($algorithm), self.as_bytes())
            }

            /// The same in PEM.
            pub fn to_spki_pem(&self) -> String {
                public_to_pem(self.to_spki_der())
            }
        }
    };
}

forms!(X25519, x25519::SecretKey, x25519::PublicKey, |key| key.public_key().as_bytes());
forms!(ED25519, ed25519::SigningKey, ed25519::VerifyingKey, |key| key.verifying_key().as_bytes());

impl x25519::PublicKey {
    /// The key in a SubjectPublicKeyInfo.
    ///
    /// # Errors
    /// [`Error::Key`] if it is not in that form, or of another algorithm.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, Error> {
        Ok(Self::from_bytes(&public_from_der(X25519, der)?))
    }

    /// The key in PEM, after `PUBLIC KEY`.
    ///
    /// # Errors
    /// As [`from_spki_der`](Self::from_spki_der).
    pub fn from_spki_pem(pem: &str) -> Result<Self, Error> {
        Self::from_spki_der(public_from_pem(pem)?.as_bytes())
    }
}

impl ed25519::VerifyingKey {
    /// The key in a SubjectPublicKeyInfo.
    ///
    /// # Errors
    /// [`Error::Key`] if it is not in that form, or of another algorithm, and as [`from_bytes`](Self::from_bytes).
    pub fn from_spki_der(der: &[u8]) -> Result<Self, Error> {
        Self::from_bytes(&public_from_der(ED25519, der)?)
    }

    /// The key in PEM, after `PUBLIC KEY`.
    ///
    /// # Errors
    /// As [`from_spki_der`](Self::from_spki_der).
    pub fn from_spki_pem(pem: &str) -> Result<Self, Error> {
        Self::from_spki_der(public_from_pem(pem)?.as_bytes())
    }
}
