//! What keys of all algorithms have in common in DER and PEM: PKCS #8 (RFC 5958) and SubjectPublicKeyInfo (RFC 5280,
//! section 4.1).

use alloc::{string::String, vec::Vec};

use pkcs8::PrivateKeyInfoRef;
use spki::{
    AlgorithmIdentifierRef, SubjectPublicKeyInfoRef,
    der::{
        self, Document, Encode as _, SecretDocument,
        asn1::{BitStringRef, OctetStringRef},
        pem::{LineEnding, PemLabel as _},
    },
};
use zeroize::Zeroizing;

use crate::Error;

pub(crate) const NOT_DER: Error = Error::Key("it is not in DER");
pub(crate) const NOT_PEM: Error = Error::Key("it is not in PEM, or is of another kind");

/// What cannot fail: lengths of keys are far below those that DER can have.
pub(crate) fn encoded<T>(result: der::Result<T>) -> T {
    result.expect("a key fits into DER")
}

/// A SubjectPublicKeyInfo of these bytes.
pub(crate) fn public_to_der(algorithm: AlgorithmIdentifierRef<'_>, key: &[u8]) -> Vec<u8> {
    encoded(BitStringRef::from_bytes(key).and_then(|subject_public_key| {
        SubjectPublicKeyInfoRef { algorithm, subject_public_key }.to_der()
    }))
}

/// A SubjectPublicKeyInfo in PEM.
pub(crate) fn public_to_pem(der: Vec<u8>) -> String {
    let document = Document::try_from(der);
    encoded(
        document.and_then(|document| {
            document.to_pem(SubjectPublicKeyInfoRef::PEM_LABEL, LineEnding::LF)
        }),
    )
}

/// The SubjectPublicKeyInfo behind `PUBLIC KEY`.
pub(crate) fn public_from_pem(pem: &str) -> Result<Document, Error> {
    match Document::from_pem(pem) {
        Ok((SubjectPublicKeyInfoRef::PEM_LABEL, document)) => Ok(document),
        _ => Err(NOT_PEM),
    }
}

/// A `PrivateKeyInfo` of these bytes, not encrypted.
pub(crate) fn private_to_der(
    algorithm: AlgorithmIdentifierRef<'_>,
    key: &[u8],
) -> Zeroizing<Vec<u8>> {
    let info = OctetStringRef::new(key).map(|key| PrivateKeyInfoRef::new(algorithm, key));
    Zeroizing::new(encoded(info.and_then(|info| info.to_der())))
}

/// A `PrivateKeyInfo` in PEM.
pub(crate) fn private_to_pem(der: &[u8]) -> Zeroizing<String> {
    let document = SecretDocument::try_from(der);
    encoded(
        document.and_then(|document| document.to_pem(PrivateKeyInfoRef::PEM_LABEL, LineEnding::LF)),
    )
}
