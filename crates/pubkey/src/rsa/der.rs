//! Keys in DER and PEM: PKCS #1 (RFC 8017, appendix A.1), PKCS #8 (RFC 5958) and SubjectPublicKeyInfo (RFC 5280,
//! section 4.1).

use alloc::{string::String, vec::Vec};
use pkcs1::{ALGORITHM_ID, RsaPrivateKeyRef, RsaPublicKeyRef};
use pkcs8::PrivateKeyInfoRef;
use spki::{
    SubjectPublicKeyInfoRef,
    der::{Decode as _, Document, Encode as _, SecretDocument, asn1::UintRef, pem::PemLabel as _},
};
use zeroize::Zeroizing;

use super::{Components, PrivateKey, PublicKey};
use crate::{
    Error,
    encoding::{
        NOT_DER, NOT_PEM, encoded, private_to_der, private_to_pem, public_to_der, public_to_pem,
    },
};

const NOT_RSA: Error = Error::Key("it is not one of RSA");

impl PublicKey {
    /// The key in PKCS #1's `RSAPublicKey`.
    ///
    /// # Errors
    /// [`Error::Key`] if it is not in that form, and as [`new`](Self::new).
    pub fn from_pkcs1_der(der: &[u8]) -> Result<Self, Error> {
        let key = RsaPublicKeyRef::from_der(der).map_err(|_| NOT_DER)?;
        Self::new(key.modulus.as_bytes(), key.public_exponent.as_bytes())
    }

    /// The key in a SubjectPublicKeyInfo, as certificates have it.
    ///
    /// # Errors
    /// As [`from_pkcs1_der`](Self::from_pkcs1_der).
    pub fn from_spki_der(der: &[u8]) -> Result<Self, Error> {
        let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| NOT_DER)?;
        if info.algorithm != ALGORITHM_ID {
            return Err(NOT_RSA);
        }
        Self::from_pkcs1_der(info.subject_public_key.as_bytes().ok_or(NOT_DER)?)
    }

    /// The key in PEM, after `PUBLIC KEY` or `RSA PUBLIC KEY`.
    ///
    /// # Errors
    /// As [`from_pkcs1_der`](Self::from_pkcs1_der).
    pub fn from_pem(pem: &str) -> Result<Self, Error> {
        let (label, document) = Document::from_pem(pem).map_err(|_| NOT_PEM)?;
        match label {
            SubjectPublicKeyInfoRef::PEM_LABEL => Self::from_spki_der(document.as_bytes()),
            RsaPublicKeyRef::PEM_LABEL => Self::from_pkcs1_der(document.as_bytes()),
            _ => Err(NOT_PEM),
        }
    }

    /// The key as PKCS #1's `RSAPublicKey`.
    pub fn to_pkcs1_der(&self) -> Vec<u8> {
        let (n, e) = (self.n(), self.e().to_be_bytes());
        encoded(UintRef::new(&n).and_then(|modulus| {
            RsaPublicKeyRef { modulus, public_exponent: UintRef::new(&e)? }.to_der()
        }))
    }

    /// The key as a SubjectPublicKeyInfo.
    pub fn to_spki_der(&self) -> Vec<u8> {
        public_to_der(ALGORITHM_ID, &self.to_pkcs1_der())
    }

    /// The same in PEM.
    pub fn to_spki_pem(&self) -> String {
        public_to_pem(self.to_spki_der())
    }
}

impl PrivateKey {
    /// The key in PKCS #1's `RSAPrivateKey`.
    ///
    /// # Errors
    /// [`Error::Key`] if it is not in that form or has more than two primes, and as [`new`](Self::new).
    pub fn from_pkcs1_der(der: &[u8]) -> Result<Self, Error> {
        let key = RsaPrivateKeyRef::from_der(der).map_err(|_| NOT_DER)?;
        if key.other_prime_infos.is_some() {
            return Err(Error::Key("it has more than two primes"));
        }
        Self::new(&Components {
            n: key.modulus.as_bytes(),
            e: key.public_exponent.as_bytes(),
            d: key.private_exponent.as_bytes(),
            p: key.prime1.as_bytes(),
            q: key.prime2.as_bytes(),
            dp: key.exponent1.as_bytes(),
            dq: key.exponent2.as_bytes(),
            qinv: key.coefficient.as_bytes(),
        })
    }

    /// The key in PKCS #8's `PrivateKeyInfo`, not encrypted.
    ///
    /// # Errors
    /// As [`from_pkcs1_der`](Self::from_pkcs1_der).
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, Error> {
        let info = PrivateKeyInfoRef::from_der(der).map_err(|_| NOT_DER)?;
        if info.algorithm != ALGORITHM_ID {
            return Err(NOT_RSA);
        }
        Self::from_pkcs1_der(info.private_key.as_bytes())
    }

    /// The key in PEM, after `PRIVATE KEY` or `RSA PRIVATE KEY`, not encrypted.
    ///
    /// # Errors
    /// As [`from_pkcs1_der`](Self::from_pkcs1_der).
    pub fn from_pem(pem: &str) -> Result<Self, Error> {
        let (label, document) = SecretDocument::from_pem(pem).map_err(|_| NOT_PEM)?;
        match label {
            PrivateKeyInfoRef::PEM_LABEL => Self::from_pkcs8_der(document.as_bytes()),
            RsaPrivateKeyRef::PEM_LABEL => Self::from_pkcs1_der(document.as_bytes()),
            _ => Err(NOT_PEM),
        }
    }

    /// The key as PKCS #1's `RSAPrivateKey`.
    pub fn to_pkcs1_der(&self) -> Zeroizing<Vec<u8>> {
        self.with_components(|key| {
            let uint = |bytes| UintRef::new(bytes);
            let der = || {
                RsaPrivateKeyRef {
                    modulus: uint(key.n)?,
                    public_exponent: uint(key.e)?,
                    private_exponent: uint(key.d)?,
                    prime1: uint(key.p)?,
                    prime2: uint(key.q)?,
                    exponent1: uint(key.dp)?,
                    exponent2: uint(key.dq)?,
                    coefficient: uint(key.qinv)?,
                    other_prime_infos: None,
                }
                .to_der()
            };
            Zeroizing::new(encoded(der()))
        })
    }

    /// The key as PKCS #8's `PrivateKeyInfo`, not encrypted.
    pub fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
        private_to_der(ALGORITHM_ID, &self.to_pkcs1_der())
    }

    /// The same in PEM.
    pub fn to_pkcs8_pem(&self) -> Zeroizing<String> {
        private_to_pem(&self.to_pkcs8_der())
    }
}
