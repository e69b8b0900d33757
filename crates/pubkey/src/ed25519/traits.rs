//! The traits of the crate `signature`.

use ::signature::{Error, Keypair, SignatureEncoding, Signer, Verifier};

use super::{
    encoding::WIDE,
    key::{SigningKey, VerifyingKey},
    signature::Signature,
};

impl TryFrom<&[u8]> for Signature {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        bytes.try_into().map(Self::from_bytes).map_err(|_| Error::new())
    }
}

impl From<Signature> for [u8; WIDE] {
    fn from(signature: Signature) -> Self {
        *signature.as_bytes()
    }
}

impl SignatureEncoding for Signature {
    type Repr = [u8; WIDE];
}

impl Signer<Signature> for SigningKey {
    fn try_sign(&self, message: &[u8]) -> Result<Signature, Error> {
        Ok(Self::sign(self, message))
    }
}

impl Verifier<Signature> for VerifyingKey {
    fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), Error> {
        Self::verify(self, message, signature).map_err(Error::from_source)
    }
}

impl Keypair for SigningKey {
    type VerifyingKey = VerifyingKey;

    fn verifying_key(&self) -> VerifyingKey {
        self.public
    }
}
