//! Authenticated encryption with associated data.
//!
//! Which one: GCM ([`Aes256Gcm`]) where every nonce is certainly used once, by a counter for example;
//! GCM-SIV ([`Aes256GcmSiv`]) where that cannot be guaranteed; the others where a protocol asks for them.
//!
//! Every algorithm implements [`Aead`]: *sealing* encrypts and authenticates, *opening* checks and
//! decrypts. On a failed opening the output is zeroed: plaintext that has not been authenticated is
//! never left to the caller.
//!
//! The length of the tag belongs to the key, not to the message: an attacker who cuts a tag short
//! does not get a shorter one compared.
//!
//! | keys | nonce | if a nonce comes twice | source |
//! |---|---|---|---|
//! | [`Aes128Gcm`], [`Aes192Gcm`], [`Aes256Gcm`] | 12 bytes; others, but 0, are hashed | texts show, and forgeries pass | NIST SP 800-38D |
//! | [`Aes128GcmSiv`], [`Aes256GcmSiv`] | 12 | equal messages show | RFC 8452 |
//! | [`Aes128Ccm`], [`Aes192Ccm`], [`Aes256Ccm`] | 7 to 13 | texts show | NIST SP 800-38C, RFC 3610 |
//! | [`Aes128Ocb3`], [`Aes192Ocb3`], [`Aes256Ocb3`] | 1 to 15 | texts show, and forgeries pass | RFC 7253 |
//! | [`ChaCha20Poly1305`] | 12 | texts show, and forgeries pass | RFC 8439 |
//! | [`XChaCha20Poly1305`] | 24 | texts show, and forgeries pass | draft-irtf-cfrg-xchacha |
//! | [`Aegis128L`], [`Aegis128X2`], [`Aegis128X4`] | 16 | texts show, and forgeries pass | draft-irtf-cfrg-aegis-aead |
//! | [`Aegis256`], [`Aegis256X2`], [`Aegis256X4`] | 32 | texts show, and forgeries pass | draft-irtf-cfrg-aegis-aead |
//!
//! ```
//! use lanelock::{Error, aead::{Aead, Aes256Gcm}};
//!
//! # fn main() -> Result<(), Error> {
//! let key = Aes256Gcm::new(&[7; 32])?;
//! // In place: the tag apart from the text.
//! let (mut text, mut tag) = (*b"attack at dawn", [0; 16]);
//! key.seal(&[1; 12], b"header", &mut text, &mut tag)?;
//! key.open(&[1; 12], b"header", &mut text, &tag)?;
//! assert_eq!(&text, b"attack at dawn");
//! // To a new vector: the ciphertext and behind it the tag.
//! let sealed = key.seal_vec(&[2; 12], b"header", b"attack at dawn")?;
//! assert_eq!(key.open_vec(&[2; 12], b"another", &sealed), Err(Error::Authentication));
//! # Ok(())
//! # }
//! ```
//!
//! Messages in pieces go through a [`Sealer`] and an [`Opener`], many short ones through [`batch`].

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod aegis;
pub mod batch;
mod ccm;
mod chacha20_poly1305;
#[cfg(debug_assertions)]
#[doc(hidden)]
pub mod compiled;
mod gcm;
mod gcm_siv;
mod metered;
mod ocb3;
mod stitch;
mod stream;
#[cfg(feature = "aead")]
mod traits;
mod usage;

pub use aegis::{
    Aegis, Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, AegisMacStream,
    AegisStream,
};
pub use ccm::{Aes128Ccm, Aes192Ccm, Aes256Ccm, Ccm, CcmStream};
pub use chacha20_poly1305::{ChaCha20Poly1305, ChaChaPoly, ChaChaStream, XChaCha20Poly1305};
pub use gcm::{Aes128Gcm, Aes192Gcm, Aes256Gcm, Gcm, GcmStream};
pub use gcm_siv::{Aes128GcmSiv, Aes256GcmSiv, GcmSiv, SivCipher};
pub use metered::Metered;
pub use ocb3::{Aes128Ocb3, Aes192Ocb3, Aes256Ocb3, Ocb3, Ocb3Stream};
pub use stream::{Opener, Sealer, Stream};
pub use usage::KeyUsage;

use alloc::{vec, vec::Vec};

use lanelock_core::{Error, InOut};

/// Authenticated encryption with associated data (AAD).
///
/// A nonce must never be used twice with one key to seal (GCM-SIV: should not). The [module](self) has
/// an example.
pub trait Aead {
    /// Bytes of the tag.
    fn tag_length(&self) -> usize;

    /// Encrypts `data`, in place or from one buffer to another, and writes the tag over it and `aad`.
    ///
    /// # Errors
    /// [`Error::NonceLength`], [`Error::TagLength`] if `tag` has not [`tag_length`](Self::tag_length)
    /// bytes, [`Error::MessageLength`], [`Error::AadLength`]. Nothing is written then.
    fn seal_inout(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_, '_>,
        tag: &mut [u8],
    ) -> Result<(), Error>;

    /// Checks the tag and decrypts `data`, in place or from one buffer to another.
    ///
    /// # Errors
    /// As [`seal_inout`](Self::seal_inout), and [`Error::Authentication`] if the tag is wrong; all
    /// output is zero then.
    fn open_inout(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_, '_>,
        tag: &[u8],
    ) -> Result<(), Error>;

    /// This key, which refuses to seal more than `usage` allows: see [`KeyUsage`].
    fn with_usage(self, usage: KeyUsage) -> Metered<Self>
    where
        Self: Sized,
    {
        Metered::new(self, usage)
    }

    /// Encrypts `data` in place and writes the tag: see [`seal_inout`](Self::seal_inout).
    fn seal(&self, nonce: &[u8], aad: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error> {
        self.seal_inout(nonce, aad, data.into(), tag)
    }

    /// Checks the tag and decrypts `data` in place: see [`open_inout`](Self::open_inout).
    fn open(&self, nonce: &[u8], aad: &[u8], data: &mut [u8], tag: &[u8]) -> Result<(), Error> {
        self.open_inout(nonce, aad, data.into(), tag)
    }

    /// Seals `plaintext` into `sealed`: the ciphertext and behind it the tag.
    ///
    /// # Errors
    /// As [`seal_inout`](Self::seal_inout), and [`Error::OutputLength`].
    fn seal_to(
        &self,
        nonce: &[u8],
        aad: &[u8],
        plaintext: &[u8],
        sealed: &mut [u8],
    ) -> Result<(), Error> {
        let (text, tag) =
            sealed.split_at_mut_checked(plaintext.len()).ok_or(Error::OutputLength)?;
        if tag.len() != self.tag_length() {
            return Err(Error::OutputLength);
        }
        let data = InOut::new(plaintext, text)?;
        self.seal_inout(nonce, aad, data, tag)
    }

    /// Opens `sealed`, ciphertext and tag, into `plaintext`.
    ///
    /// # Errors
    /// As [`open_inout`](Self::open_inout), and [`Error::OutputLength`].
    fn open_to(
        &self,
        nonce: &[u8],
        aad: &[u8],
        sealed: &[u8],
        plaintext: &mut [u8],
    ) -> Result<(), Error> {
        let length = sealed.len().checked_sub(self.tag_length()).ok_or(Error::Authentication)?;
        let (text, tag) = sealed.split_at(length);
        let data = InOut::new(text, plaintext)?;
        self.open_inout(nonce, aad, data, tag)
    }

    /// Seals `plaintext` into a new vector: the ciphertext and behind it the tag.
    ///
    /// # Errors
    /// As [`seal_inout`](Self::seal_inout).
    fn seal_vec(&self, nonce: &[u8], aad: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, Error> {
        let mut sealed = vec![0; plaintext.len() + self.tag_length()];
        self.seal_to(nonce, aad, plaintext, &mut sealed)?;
        Ok(sealed)
    }

    /// Opens `sealed`, ciphertext and tag, into a new vector.
    ///
    /// # Errors
    /// As [`open_inout`](Self::open_inout).
    fn open_vec(&self, nonce: &[u8], aad: &[u8], sealed: &[u8]) -> Result<Vec<u8>, Error> {
        let length = sealed.len().checked_sub(self.tag_length()).ok_or(Error::Authentication)?;
        let mut plaintext = vec![0; length];
        self.open_to(nonce, aad, sealed, &mut plaintext)?;
        Ok(plaintext)
    }
}

/// The bytes of the longest tag of any algorithm here.
const LONGEST_TAG: usize = 32;
