//! CCM (NIST SP 800-38C, RFC 3610).
//!
//! T = CBC-MAC of B_0 (flags, nonce, length of the text), the AAD behind its length, and the
//! plaintext; C_i = P_i ^ E(K, A_i) for i > 0, and the tag is T ^ E(K, A_0), with counter blocks A_i
//! (SP 800-38C, 6.1).
//!
//! In one message the chain of the MAC sets the time: with a 128-bit key ten rounds of four cycles a
//! block. CTR needs ten more rounds, which do not wait for the chain and fill its gaps. Many messages
//! fill the [`lanes`](crate::lanes).

mod batch;
mod message;
mod stream;
mod text;

use lanelock_isa::{AesLevel, Block, StackDepth};

pub use stream::CcmStream;

use super::{
    Aead, Opener, Sealer,
    batch::{Batch, Message},
};
use lanelock_core::{
    Error, InOut,
    cipher::{Aes, EncryptKey, SizedCipher},
    parts::{SetUp, authenticate, copy_ok, copy_tag, key_object},
};
use message::CcmOneShot;

/// CCM (NIST SP 800-38C, RFC 3610): [`Aes128Ccm`], [`Aes192Ccm`], [`Aes256Ccm`].
///
/// - Nonces: 7 to 13 bytes. The rest of 15 bytes holds the length of the text, so long nonces limit it:
///   with 13 bytes less than 2^16 bytes, with 12 less than 2^24.
/// - Tags: 16 bytes, or 4, 6, 8, 10, 12 or 14 by [`with_tag_length`](Self::with_tag_length).
/// - A nonce must never be used twice. A key should do at most 2^61 blocks (SP 800-38C, 5.3).
///
/// ```
/// use lanelock::aead::{Aead, Aes128Ccm};
///
/// # fn main() -> Result<(), lanelock::Error> {
/// let key = Aes128Ccm::new(&[7; 16])?.with_tag_length(8)?; // CCM_8 of TLS (RFC 6655)
/// let sealed = key.seal_vec(&[1; 12], b"header", b"text")?;
/// assert_eq!(sealed.len(), 4 + 8);
/// assert_eq!(key.open_vec(&[1; 12], b"header", &sealed)?, b"text");
/// # Ok(())
/// # }
/// ```
///
/// Zeroised on drop.
#[derive(Clone)]
pub struct Ccm<C: SizedCipher> {
    key: EncryptKey<C::Cipher>,
    tag_length: usize,
}

/// CCM with a 128-bit key.
pub type Aes128Ccm = Ccm<Aes<128>>;
/// CCM with a 192-bit key.
pub type Aes192Ccm = Ccm<Aes<192>>;
/// CCM with a 256-bit key.
pub type Aes256Ccm = Ccm<Aes<256>>;

impl<C: SizedCipher> SetUp for Ccm<C> {
    const DEPTH: StackDepth = EncryptKey::<C::Cipher>::DEPTH;

    const NONE: Self = Self { key: EncryptKey::NONE, tag_length: 16 };

    fn set(&mut self, key: &[u8], level: AesLevel) {
        self.key.set(key, level);
    }
}

impl<C: SizedCipher> Aead for Ccm<C> {
    fn tag_length(&self) -> usize {
        self.tag_length
    }

    fn seal_inout(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_, '_>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let start = self.check(nonce, data.len(), tag.len())?;
        let message = CcmOneShot::<_, true> { key: &self.key, start, aad, data: &mut data };
        copy_tag(&self.level().run(message), tag);
        Ok(())
    }

    fn open_inout(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_, '_>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let start = self.check(nonce, data.len(), tag.len())?;
        let message = CcmOneShot::<_, false> { key: &self.key, start, aad, data: &mut data };
        let mut full = self.level().run(message);
        authenticate(
            self.level(),
            StackDepth::KiB0,
            &mut full[..self.tag_length],
            tag,
            data.get_out(),
        )
    }
}

impl<C: SizedCipher> Batch for Ccm<C> {
    fn seal_each(messages: &mut [Message<'_, Self>]) {
        batch::run_all::<C, true>(messages);
    }

    fn open_each(messages: &mut [Message<'_, Self>]) {
        batch::run_all::<C, false>(messages);
    }
}

impl<C: SizedCipher> Ccm<C> {
    /// The same key with tags of `bytes` bytes.
    ///
    /// # Errors
    /// [`Error::TagLength`] if that is not 4, 6, 8, 10, 12, 14 or 16. Below 8 bytes a forger guesses too
    /// well, unless the number of attempts is limited (SP 800-38C, appendix B).
    pub fn with_tag_length(mut self, bytes: usize) -> Result<Self, Error> {
        if !(4..=16).contains(&bytes) || !bytes.is_multiple_of(2) {
            return Err(Error::TagLength);
        }
        self.tag_length = bytes;
        // A move would leave the key where it is now; this one is wiped there.
        copy_ok(&self)
    }

    /// Seals a message piece by piece: see [`Sealer`]. CCM has to know in advance how many bytes of AAD and
    /// of text will come. Text before all AAD is there and a [`finish`](Sealer::finish) before all text is
    /// there are errors: [`Error::AadLength`], [`Error::MessageLength`].
    ///
    /// ```
    /// use lanelock::aead::{Aead, Aes128Ccm};
    ///
    /// # fn main() -> Result<(), lanelock::Error> {
    /// let key = Aes128Ccm::new(&[7; 16])?;
    /// let mut sealer = key.sealer(&[1; 12], 6, 8)?; // 6 bytes of AAD, 8 of text
    /// sealer.aad(b"header")?;
    /// let (mut text, mut tag) = (*b"in twain", [0; 16]);
    /// let (first, second) = text.split_at_mut(3);
    /// sealer.update(first)?;
    /// sealer.update(second)?;
    /// sealer.finish(&mut tag)?;
    /// assert_eq!(key.open_vec(&[1; 12], b"header", &[&text[..], &tag].concat())?, b"in twain");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NonceLength`], [`Error::MessageLength`].
    pub fn sealer(
        &self,
        nonce: &[u8],
        aad_length: u64,
        text_length: u64,
    ) -> Result<Sealer<CcmStream<'_, C::Cipher>>, Error> {
        let start = Start::new(self.tag_length, nonce, text_length)?;
        let stream = CcmStream::new(&self.key, start, aad_length, text_length);
        Ok(Sealer::new(stream, self.tag_length))
    }

    /// Opens a message piece by piece: see [`sealer`](Self::sealer).
    ///
    /// # Errors
    /// As [`sealer`](Self::sealer).
    pub fn opener(
        &self,
        nonce: &[u8],
        aad_length: u64,
        text_length: u64,
    ) -> Result<Opener<CcmStream<'_, C::Cipher>>, Error> {
        let start = Start::new(self.tag_length, nonce, text_length)?;
        let stream = CcmStream::new(&self.key, start, aad_length, text_length);
        Ok(Opener::new(stream, self.tag_length))
    }

    fn check(&self, nonce: &[u8], text: usize, tag: usize) -> Result<Start, Error> {
        if tag == self.tag_length {
            Start::new(self.tag_length, nonce, text as u64)
        } else {
            Err(Error::TagLength)
        }
    }
}

key_object!(Ccm, "Ccm", key);

/// The block B0 of the MAC, still without its mark for AAD, and the counter block A0 (SP 800-38C, A.2.1
/// and A.3).
#[derive(Clone, Copy)]
struct Start {
    b0: Block,
    a0: Block,
}

impl Start {
    fn new(tag_length: usize, nonce: &[u8], text: u64) -> Result<Self, Error> {
        if !(7..=13).contains(&nonce.len()) {
            return Err(Error::NonceLength);
        }
        // The length of the text is a number of q bytes.
        let q = 15 - nonce.len();
        if q < 8 && text >> (8 * q) != 0 {
            return Err(Error::MessageLength);
        }
        let mut a0 = [0; 16];
        a0[0] = q.to_le_bytes()[0] - 1;
        a0[1..=nonce.len()].copy_from_slice(nonce);
        let flags = (tag_length.to_le_bytes()[0] - 2) / 2 * 8;
        let b0 = u128::from_be_bytes(a0) | u128::from(flags) << 120 | u128::from(text);
        Ok(Self { b0: b0.to_be_bytes(), a0 })
    }

    /// B0 of a message with so many bytes of AAD.
    #[inline(always)]
    fn first_block(&self, aad: u64) -> Block {
        let mut b0 = self.b0;
        b0[0] |= if aad > 0 { 0x40 } else { 0 };
        b0
    }

    /// Counter block number `i`.
    #[inline(always)]
    fn counter(&self, i: u64) -> Block {
        (u128::from_be_bytes(self.a0) | u128::from(i)).to_be_bytes()
    }
}

/// How the length of the AAD is written before it (A.2.2), and in how many bytes: 2, 6 or 10.
#[inline(always)]
fn aad_header(aad: u64) -> (Block, usize) {
    let mut header = [0; 16];
    if aad < 0xff00 {
        header[..2].copy_from_slice(&aad.to_be_bytes()[6..]);
        (header, 2)
    } else if aad >> 32 == 0 {
        header[..2].copy_from_slice(&[0xff, 0xfe]);
        header[2..6].copy_from_slice(&aad.to_be_bytes()[4..]);
        (header, 6)
    } else {
        header[..2].copy_from_slice(&[0xff, 0xff]);
        header[2..10].copy_from_slice(&aad.to_be_bytes());
        (header, 10)
    }
}

/// The first block of the AAD, which begins with its length, and the AAD behind that block.
#[inline(always)]
fn split_aad(aad: &[u8]) -> (Block, &[u8]) {
    let (mut first, start) = aad_header(aad.len() as u64);
    let (head, rest) = aad.split_at(aad.len().min(16 - start));
    first[start..][..head.len()].copy_from_slice(head);
    (first, rest)
}
