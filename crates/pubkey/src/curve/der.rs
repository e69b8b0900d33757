//! Keys of curves in DER and PEM: SEC 1 (RFC 5915), PKCS #8 (RFC 5958) and SubjectPublicKeyInfo (RFC 5480).

use alloc::{string::String, vec::Vec};

use lanelock_isa::LimbLevel;
use pkcs8::PrivateKeyInfoRef;
use sec1::{EcParameters, EcPrivateKey};
use spki::{
    AlgorithmIdentifierRef, ObjectIdentifier, SubjectPublicKeyInfoRef,
    der::{AnyRef, Decode as _, Encode as _, SecretDocument, pem::PemLabel as _},
};
use zeroize::Zeroizing;

use super::{
    Curve,
    key::{PrivateScalar, PublicPoint},
};
use crate::{
    Error,
    encoding::{
        NOT_DER, NOT_PEM, encoded, private_to_der, private_to_pem, public_from_pem, public_to_der,
        public_to_pem,
    },
};

const OTHER: Error = Error::Key("it is not one of this curve");

/// `id-ecPublicKey` of RFC 5480, 2.1.1.
const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

/// Calls `f` with the algorithm: that of keys, and the curve.
fn with_algorithm<C: Curve, T>(f: impl FnOnce(AlgorithmIdentifierRef<'_>) -> T) -> T {
    let curve = ObjectIdentifier::new_unwrap(C::OBJECT_IDENTIFIER);
    f(AlgorithmIdentifierRef { oid: EC_PUBLIC_KEY, parameters: Some(AnyRef::from(&curve)) })
}

/// That the algorithm is that of a key of this curve.
fn check<C: Curve>(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<(), Error> {
    with_algorithm::<C, _>(|own| if *algorithm == own { Ok(()) } else { Err(OTHER) })
}

impl<C: Curve> PublicPoint<C> {
    pub(crate) fn from_spki_der(der: &[u8]) -> Result<Self, Error> {
        let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| NOT_DER)?;
        check::<C>(&info.algorithm)?;
        Self::from_sec1(info.subject_public_key.as_bytes().ok_or(NOT_DER)?)
    }

    pub(crate) fn from_pem(pem: &str) -> Result<Self, Error> {
        Self::from_spki_der(public_from_pem(pem)?.as_bytes())
    }

    pub(crate) fn to_spki_der(self) -> Vec<u8> {
        with_algorithm::<C, _>(|algorithm| public_to_der(algorithm, &self.to_sec1()))
    }

    pub(crate) fn to_spki_pem(self) -> String {
        public_to_pem(self.to_spki_der())
    }
}

impl<C: Curve> PrivateScalar<C> {
    /// A key of RFC 5915. That it names the curve is needed where nothing around it does.
    fn from_ec_private_key(level: LimbLevel, der: &[u8], named: bool) -> Result<Self, Error> {
        let key = EcPrivateKey::from_der(der).map_err(|_| NOT_DER)?;
        let curve = ObjectIdentifier::new_unwrap(C::OBJECT_IDENTIFIER);
        match key.parameters.and_then(EcParameters::named_curve) {
            Some(name) if name != curve => return Err(OTHER),
            None if named => return Err(OTHER),
            _ => {}
        }
        let private = Self::from_bytes(level, key.private_key)?;
        if let Some(public) = key.public_key
            && PublicPoint::from_sec1(public)? != private.public()
        {
            return Err(Error::Key("its public key is not that of the private number"));
        }
        Ok(private)
    }

    pub(crate) fn from_sec1_der(level: LimbLevel, der: &[u8]) -> Result<Self, Error> {
        Self::from_ec_private_key(level, der, true)
    }

    pub(crate) fn from_pkcs8_der(level: LimbLevel, der: &[u8]) -> Result<Self, Error> {
        let info = PrivateKeyInfoRef::from_der(der).map_err(|_| NOT_DER)?;
        check::<C>(&info.algorithm)?;
        Self::from_ec_private_key(level, info.private_key.as_bytes(), false)
    }

    pub(crate) fn from_pem(level: LimbLevel, pem: &str) -> Result<Self, Error> {
        let (label, document) = SecretDocument::from_pem(pem).map_err(|_| NOT_PEM)?;
        match label {
            PrivateKeyInfoRef::PEM_LABEL => Self::from_pkcs8_der(level, document.as_bytes()),
            EcPrivateKey::PEM_LABEL => Self::from_sec1_der(level, document.as_bytes()),
            _ => Err(NOT_PEM),
        }
    }

    fn to_ec_private_key(&self, parameters: Option<EcParameters>) -> Zeroizing<Vec<u8>> {
        let (private_key, public_key) = (self.to_bytes(), self.public().to_sec1());
        let key =
            EcPrivateKey { private_key: &private_key, parameters, public_key: Some(&public_key) };
        Zeroizing::new(encoded(key.to_der()))
    }

    pub(crate) fn to_sec1_der(&self) -> Zeroizing<Vec<u8>> {
        let curve = ObjectIdentifier::new_unwrap(C::OBJECT_IDENTIFIER);
        self.to_ec_private_key(Some(EcParameters::NamedCurve(curve)))
    }

    pub(crate) fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
        let key = self.to_ec_private_key(None);
        with_algorithm::<C, _>(|algorithm| private_to_der(algorithm, &key))
    }

    pub(crate) fn to_pkcs8_pem(&self) -> Zeroizing<String> {
        private_to_pem(&self.to_pkcs8_der())
    }
}

/// The methods of a private and of a public key that read and write DER and PEM. `$level` gives a private key's level, and
/// `$public` makes a public key of its point.
macro_rules! encodings {
    ($private:ident, $public:ident, $of:expr, $point:ident => $take:expr) => {
        impl<C: Curve> $private<C> {
            /// The key in SEC 1's `ECPrivateKey` (RFC 5915), which names its curve.
            ///
            /// # Errors
            /// [`Error::Key`] if it is not in that form, of another curve, not from 1 to the order less 1, or has a
            /// public key that is not its own; [`Error::Length`]; [`Error::Level`].
            pub fn from_sec1_der(der: &[u8]) -> Result<Self, Error> {
                PrivateScalar::from_sec1_der(default_level()?, der).map(Self)
            }

            /// The key in PKCS #8's `PrivateKeyInfo` (RFC 5958), not encrypted.
            ///
            /// # Errors
            /// As [`from_sec1_der`](Self::from_sec1_der).
            pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, Error> {
                PrivateScalar::from_pkcs8_der(default_level()?, der).map(Self)
            }

            /// The key in PEM, after `PRIVATE KEY` or `EC PRIVATE KEY`, not encrypted.
            ///
            /// # Errors
            /// As [`from_sec1_der`](Self::from_sec1_der).
            pub fn from_pem(pem: &str) -> Result<Self, Error> {
                PrivateScalar::from_pem(default_level()?, pem).map(Self)
            }

            /// The key as SEC 1's `ECPrivateKey`, with its public key.
            pub fn to_sec1_der(&self) -> Zeroizing<Vec<u8>> {
                self.0.to_sec1_der()
            }

            /// The key as PKCS #8's `PrivateKeyInfo`, with its public key.
            pub fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
                self.0.to_pkcs8_der()
            }

            /// The same in PEM.
            pub fn to_pkcs8_pem(&self) -> Zeroizing<alloc::string::String> {
                self.0.to_pkcs8_pem()
            }
        }

        impl<C: Curve> $public<C> {
            /// The key in a SubjectPublicKeyInfo (RFC 5480), as certificates have it.
            ///
            /// # Errors
            /// [`Error::Key`] if it is not in that form, of another curve, or no point of it; [`Error::Length`];
            /// [`Error::Level`].
            pub fn from_spki_der(der: &[u8]) -> Result<Self, Error> {
                PublicPoint::from_spki_der(der).and_then($of)
            }

            /// The key in PEM, after `PUBLIC KEY`.
            ///
            /// # Errors
            /// As [`from_spki_der`](Self::from_spki_der).
            pub fn from_pem(pem: &str) -> Result<Self, Error> {
                PublicPoint::from_pem(pem).and_then($of)
            }

            /// The key as a SubjectPublicKeyInfo.
            pub fn to_spki_der(&self) -> Vec<u8> {
                let $point = self;
                $take.to_spki_der()
            }

            /// The same in PEM.
            pub fn to_spki_pem(&self) -> alloc::string::String {
                let $point = self;
                $take.to_spki_pem()
            }
        }
    };
}
pub(crate) use encodings;
