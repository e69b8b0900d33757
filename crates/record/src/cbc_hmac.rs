//! AES-CBC with HMAC (RFC 5246, 6.2.3.2, with the explicit IV of TLS 1.1 and later; RFC 7366).
//!
//! ```text
//!   MAC-then-encrypt    IV | CBC(content | MAC | padding)     MAC over sequence, type, version, length, content
//!   encrypt-then-MAC    IV | CBC(content | padding) | MAC     MAC over sequence, type, version, length, IV, ciphertext
//! ```

use core::fmt;

use lanelock_core::{
    AesLevel, Block, Error, Key, LevelError, SizedCipher,
    lanes::LaneCipher,
    parts::{ZeroizeOnDrop, authenticate_beside, authenticate_wiping, less, public_length},
};
use lanelock_digest::{
    HmacKey, Levels, PrefixJob,
    algorithm::{Compress, MerkleDamgard},
    compression::Compression,
    hmac_prefixes,
};
use lanelock_isa::wipe;
use zeroize::Zeroize;

use crate::{
    header::{Header, MOST_CONTENT},
    padding::{self, Unpadded, unpad},
    stitch::stitch,
};

/// Bytes of the IV, which a fragment begins with.
pub(crate) const IV: usize = 16;
/// The longest fragment (RFC 5246, 6.2.3).
const MOST_FRAGMENT: usize = MOST_CONTENT + 2048;

/// Which comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MacOrder {
    /// The MAC, which is encrypted with the content: TLS without an extension.
    MacThenEncrypt,
    /// The encryption: TLS with the extension `encrypt_then_mac` (RFC 7366).
    EncryptThenMac,
}

/// The keys of one direction of a connection: AES-CBC with HMAC. Zeroised on drop.
///
/// A *fragment* is what follows the five bytes of a record's header: IV, ciphertext, and the MAC where it comes last.
/// The [crate](crate) has an example.
pub struct CbcHmac<C: SizedCipher<Cipher: LaneCipher>, A: MerkleDamgard> {
    pub(crate) order: MacOrder,
    pub(crate) cipher: Key<C>,
    pub(crate) mac: HmacKey<A>,
}

impl<C: SizedCipher<Cipher: LaneCipher>, A: MerkleDamgard> CbcHmac<C, A> {
    /// Bytes of the MAC.
    pub(crate) const MAC: usize = size_of::<A::Digest>();

    /// Expands the keys at the best levels.
    ///
    /// # Errors
    /// [`LevelError`] if the environment variable `LANELOCK_LEVEL` has a mistake.
    pub fn new(order: MacOrder, key: &C::KeyBytes, mac_key: &[u8]) -> Result<Self, LevelError> {
        Ok(Self { order, cipher: Key::new(key)?, mac: HmacKey::new(mac_key)? })
    }

    /// The same at these levels.
    pub fn with_levels(
        order: MacOrder,
        (key, level): (&C::KeyBytes, AesLevel),
        (mac_key, levels): (&[u8], Levels),
    ) -> Self {
        let (cipher, mac) = (Key::with_level(key, level), HmacKey::with_levels(levels, mac_key));
        Self { order, cipher, mac }
    }

    /// The bytes of a fragment with so many bytes of content. The padding is as short as can be.
    pub const fn sealed_length(&self, content: usize) -> usize {
        match self.order {
            MacOrder::MacThenEncrypt => IV + padded(content + Self::MAC),
            MacOrder::EncryptThenMac => IV + padded(content) + Self::MAC,
        }
    }

    /// Seals a record in place. In `fragment` the content stands behind [16 bytes](Block) for `iv`, which must be
    /// random, and has not to be known before.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if it has more than [`MOST_CONTENT`] bytes, [`Error::OutputLength`] if the fragment
    /// has not as many as [`sealed_length`](Self::sealed_length) says. Nothing is changed then.
    pub fn seal(
        &self,
        header: Header,
        iv: &Block,
        fragment: &mut [u8],
        content: usize,
    ) -> Result<(), Error> {
        self.check_sealing(fragment.len(), content)?;
        let Some((place, rest)) = fragment.split_first_chunk_mut::<IV>() else {
            return Err(Error::OutputLength);
        };
        *place = *iv;
        match self.order {
            MacOrder::MacThenEncrypt => {
                self.seal_stitched(&header.aad(content), *iv, rest, content)
            }
            MacOrder::EncryptThenMac => {
                let (text, _) = rest.split_at_mut(padded(content));
                pad(text, content);
                self.cipher.cbc_encrypt(&mut iv.clone(), text)?;
                let (sealed, mac) = fragment.split_at_mut(fragment.len() - Self::MAC);
                mac.copy_from_slice(self.tag(header, sealed).as_ref());
                Ok(())
            }
        }
    }

    /// MAC and cipher are two chains that do not wait for each other. Side by side, the processor has both of them in
    /// sight. The hash goes first, since the cipher writes over what it reads.
    fn seal_stitched(
        &self,
        aad: &[u8; Header::AAD],
        mut iv: Block,
        text: &mut [u8],
        content: usize,
    ) -> Result<(), Error> {
        let mut hmac = self.mac.start();
        hmac.update(aad);
        // From here on the hash takes whole blocks.
        let begun = content.min(Compress::<A>::BLOCK - Header::AAD);
        hmac.update(&text[..begun]);
        let whole = hmac.begin_update(&text[begun..content]);
        stitch::<C, A>(
            (&self.cipher, &mut iv),
            (self.mac.levels().one, hmac.state_mut()),
            &mut text[..begun + whole],
            begun,
        )?;
        let mut tag = hmac.finish();
        finish_text(text, content, tag.as_ref());
        tag.zeroize();
        self.cipher.cbc_encrypt(&mut iv, &mut text[whole..])
    }

    /// Opens a record in place and gives its content, in the middle of the fragment. Any padding that TLS allows is
    /// taken. The time depends on the length of the fragment alone, up to the verdict.
    ///
    /// # Errors
    /// [`Error::Authentication`], whatever is wrong. The fragment is zero then.
    pub fn open<'f>(&self, header: Header, fragment: &'f mut [u8]) -> Result<&'f mut [u8], Error> {
        self.check_opening(fragment)?;
        let length = match self.order {
            MacOrder::MacThenEncrypt => {
                let found = self.decrypt(fragment)?;
                let head = header.aad(found.length);
                let mut jobs = [self.prefix(&head, fragment, found)];
                hmac_prefixes(&mut jobs);
                let mut tag = jobs[0].tag;
                drop(jobs);
                Self::judge(&mut tag, found, fragment)
            }
            MacOrder::EncryptThenMac => {
                let sealed = fragment.len() - Self::MAC;
                let mut tag = self.tag(header, &fragment[..sealed]);
                Self::check_mac(&mut tag, fragment).and_then(|()| self.decrypt_authentic(fragment))
            }
        }?;
        Ok(&mut fragment[IV..IV + length])
    }

    /// The MAC of what was sealed before it.
    fn tag(&self, header: Header, sealed: &[u8]) -> A::Digest {
        let mut hmac = self.mac.start();
        hmac.update(&header.aad(sealed.len()));
        hmac.update(sealed);
        hmac.finish()
    }

    /// Whether a record can be sealed.
    pub(crate) fn check_sealing(&self, fragment: usize, content: usize) -> Result<(), Error> {
        if content > MOST_CONTENT {
            Err(Error::MessageLength)
        } else if fragment != self.sealed_length(content) {
            Err(Error::OutputLength)
        } else {
            Ok(())
        }
    }

    /// Whether a fragment has a length that fragments have.
    pub(crate) fn check_opening(&self, fragment: &mut [u8]) -> Result<(), Error> {
        let least = self.sealed_length(0);
        let (bytes, mac) = (fragment.len(), self.sealed_length(0) - IV - padded(0));
        let blocks = match self.order {
            MacOrder::MacThenEncrypt => bytes,
            MacOrder::EncryptThenMac => bytes.wrapping_sub(mac),
        };
        if bytes < least || bytes > MOST_FRAGMENT || !blocks.is_multiple_of(16) {
            wipe(fragment);
            return Err(Error::Authentication);
        }
        Ok(())
    }

    /// Decrypts a fragment whose MAC is inside, and looks for its padding.
    pub(crate) fn decrypt(&self, fragment: &mut [u8]) -> Result<Unpadded, Error> {
        let text = self.decrypt_text(fragment)?;
        let mut found = unpad(text, Self::MAC);
        #[expect(clippy::cast_possible_truncation, reason = "a fragment has fewer than 2^16 bytes")]
        let too_long = less(MOST_CONTENT as u32, found.length as u32);
        found.wrong |= too_long;
        Ok(found)
    }

    fn decrypt_text<'f>(&self, sealed: &'f mut [u8]) -> Result<&'f mut [u8], Error> {
        let (iv, text) = sealed.split_first_chunk_mut::<IV>().ok_or(Error::Authentication)?;
        self.cipher.cbc_decrypt(&mut iv.clone(), text)?;
        Ok(text)
    }

    /// The MAC that the content of a decrypted fragment should have.
    pub(crate) fn prefix<'a>(
        &'a self,
        head: &'a [u8; Header::AAD],
        fragment: &'a [u8],
        found: Unpadded,
    ) -> PrefixJob<'a, A> {
        let text = &fragment[IV..];
        let lengths = padding::lengths(text.len(), Self::MAC);
        PrefixJob::new(&self.mac, head, text, lengths, found.length)
    }

    /// Whether padding and MAC of a decrypted fragment are right. If so, how long the content is. If not,
    /// the tag is zeroed, which a forger could use.
    pub(crate) fn judge(
        tag: &mut A::Digest,
        found: Unpadded,
        fragment: &mut [u8],
    ) -> Result<usize, Error> {
        let mut mac = padding::mac::<A::Digest>(&fragment[IV..], found.length);
        // One verdict of both: a byte that is never right where the padding is wrong.
        let expected = tag.as_mut();
        for (byte, other) in expected.iter_mut().zip(mac.as_mut()) {
            *byte ^= *other;
            *other = 0;
        }
        expected[0] |= found.wrong;
        authenticate_wiping(expected, mac.as_ref(), fragment)?;
        Ok(public_length(found.length))
    }

    /// Whether the MAC behind a fragment is right.
    pub(crate) fn check_mac(tag: &mut A::Digest, fragment: &mut [u8]) -> Result<(), Error> {
        let (sealed, mac) = fragment.split_at_mut(fragment.len() - Self::MAC);
        let result = authenticate_wiping(tag.as_mut(), mac, sealed);
        if result.is_err() {
            wipe(mac);
        }
        result
    }

    /// Decrypts a fragment whose MAC is right. Gives the length of its content.
    pub(crate) fn decrypt_authentic(&self, fragment: &mut [u8]) -> Result<usize, Error> {
        let (sealed, _) = fragment.split_at_mut(fragment.len() - Self::MAC);
        let text = self.decrypt_text(sealed)?;
        let found = unpad(text, 0);
        #[expect(clippy::cast_possible_truncation, reason = "a fragment has fewer than 2^16 bytes")]
        let too_long = less(MOST_CONTENT as u32, found.length as u32);
        authenticate_beside(&mut [found.wrong | too_long], &[0], fragment)?;
        Ok(public_length(found.length))
    }
}

/// The bytes of a text with padding: at least one byte of it.
const fn padded(text: usize) -> usize {
    (text + 1).next_multiple_of(16)
}

/// Pads a text behind its first `length` bytes (RFC 5246, 6.2.3.2).
pub(crate) fn pad(text: &mut [u8], length: usize) {
    let padding = &mut text[length..];
    let [last, ..] = (padding.len() - 1).to_le_bytes();
    padding.fill(last);
}

/// Puts MAC and padding behind the content.
pub(crate) fn finish_text(text: &mut [u8], content: usize, tag: &[u8]) {
    let end = content + tag.len();
    text[content..end].copy_from_slice(tag);
    pad(text, end);
}

impl<C: SizedCipher<Cipher: LaneCipher>, A: MerkleDamgard> fmt::Debug for CbcHmac<C, A> {
    /// Says which algorithms they are, never the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CbcHmac({:?}, {:?}, {:?})", self.order, self.cipher, self.mac)
    }
}

impl<C: SizedCipher<Cipher: LaneCipher>, A: MerkleDamgard> ZeroizeOnDrop for CbcHmac<C, A> {}
