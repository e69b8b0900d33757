//! GCM and GMAC (NIST SP 800-38D).
//!
//! With H = E(K, 0) and J0 = nonce || 1 (12 bytes; of others a hash): C = P ^ CTR from J0 + 1 on,
//! and the tag is E(K, J0) ^ GHASH(H; AAD, C, lengths), AAD and C padded with zeros to whole blocks
//! (7.1).
//!
//! CTR and GHASH run side by side in groups of 8 vectors: see `stitch`, which has the reason for the
//! order and the registers. Short texts are sealed in groups of 4, where vectors have 512 bits. Less than a group is
//! hashed as one sum with one reduction, and a message of a few vectors has a kernel of its own (`short`).

mod batch;
mod short;
mod stream;

pub use stream::GcmStream;

use lanelock_isa::{AesClmul, AesLevel, Block, Blocks, Kernel, StackDepth, WIDEST};
use zeroize::Zeroize;

use super::{
    Aead, Opener, Sealer,
    stitch::{Hashed, StitchedText},
};
use short::{Short, is_short};

use lanelock_core::{
    Error, InOut,
    cipher::{Aes, Cipher, EncryptKey, SameKey, Schedule, SizedCipher},
    parts::{InOutBlocks, SetUp, authenticate, copy_ok, copy_tag, key_object},
};
use lanelock_hash::field::{
    Powers, ProductRun, VECTORS, convert, hash_bytes, times_x, whole_groups,
};

/// The most bytes of text: 2^39 - 256 bits (5.2.1.1).
const MOST_TEXT: u64 = (1 << 36) - 32;

/// The most bytes of AAD: 2^64 - 1 bits (5.2.1.1).
const MOST_AAD: u64 = (1 << 61) - 1;

/// GCM (NIST SP 800-38D): [`Aes128Gcm`], [`Aes192Gcm`], [`Aes256Gcm`].
///
/// - Nonces: 12 bytes are best; any other length but 0 is taken.
/// - Tags: 16 bytes, or 12 to 15 by [`with_tag_length`](Self::with_tag_length).
/// - Text: at most 2^36 - 32 bytes. AAD: less than 2^61 bytes.
/// - Two messages with one nonce give the authentication key away. With random nonces of 12 bytes a key
///   must seal at most 2^32 messages (8.3): attach [`KeyUsage::random_nonces`](crate::KeyUsage) by
///   [`with_usage`](Aead::with_usage).
///
/// Zeroised on drop.
#[derive(Clone)]
pub struct Gcm<C: SizedCipher> {
    key: GcmKey<C::Cipher>,
    tag_length: usize,
}

/// What a key is made of, whatever its size.
#[derive(Clone)]
struct GcmKey<C: Cipher> {
    key: EncryptKey<C>,
    powers: Powers,
}

impl<C: Cipher> GcmKey<C> {
    fn level(&self) -> AesLevel {
        self.key.level()
    }
}

/// GCM with a 128-bit key, of 16 bytes: sealed and opened by [`Aead`](super::Aead)'s methods.
///
/// Every nonce may be used once with a key, and 12 bytes at random for 2^32 messages at most: see [`Gcm`].
pub type Aes128Gcm = Gcm<Aes<128>>;
/// GCM with a 192-bit key, of 24 bytes: sealed and opened by [`Aead`](super::Aead)'s methods.
///
/// Every nonce may be used once with a key, and 12 bytes at random for 2^32 messages at most: see [`Gcm`].
pub type Aes192Gcm = Gcm<Aes<192>>;
/// GCM with a 256-bit key, of 32 bytes: sealed and opened by [`Aead`](super::Aead)'s methods.
///
/// Every nonce may be used once with a key, and 12 bytes at random for 2^32 messages at most: see [`Gcm`].
pub type Aes256Gcm = Gcm<Aes<256>>;

impl<C: SizedCipher> SetUp for Gcm<C> {
    const DEPTH: StackDepth = StackDepth::KiB1;

    const NONE: Self =
        Self { key: GcmKey { key: EncryptKey::NONE, powers: Powers::NONE }, tag_length: 0 };

    fn set(&mut self, key: &[u8], level: AesLevel) {
        self.tag_length = 16;
        let GcmKey { key: schedule, powers } = &mut self.key;
        schedule.set(key, level);
        level.run(FillPowers { keys: schedule.keys(), powers });
    }
}

impl<C: SizedCipher> Aead for Gcm<C> {
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
        let size = self.size(nonce, aad, &data, tag)?;
        let full = self.run::<true>(size, nonce, aad, &mut data);
        copy_tag(&full, tag);
        Ok(())
    }

    fn open_inout(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_, '_>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let size = self.size(nonce, aad, &data, tag)?;
        let mut full = self.run::<false>(size, nonce, aad, &mut data);
        authenticate(
            self.level(),
            StackDepth::KiB0,
            &mut full[..self.tag_length],
            tag,
            data.get_out(),
        )
    }
}

/// What a message is to the kernels, and its nonce if that has to have 12 bytes.
#[derive(Clone, Copy)]
enum Size<'n> {
    /// Text and AAD are a vector each at most.
    OneVector(&'n [u8; 12]),
    /// It [is short](is_short).
    Short(&'n [u8; 12]),
    Long,
}

impl<C: SizedCipher> Gcm<C> {
    /// The same key with tags of `bytes` bytes.
    ///
    /// # Errors
    /// [`Error::TagLength`] if that is not 12 to 16. Shorter tags (SP 800-38D, appendix C) are not
    /// offered: each forgery attempt on them makes the next one easier.
    pub fn with_tag_length(mut self, bytes: usize) -> Result<Self, Error> {
        if !(12..=16).contains(&bytes) {
            return Err(Error::TagLength);
        }
        self.tag_length = bytes;
        // A move would leave the key where it is now; this one is wiped there.
        copy_ok(&self)
    }

    /// Seals a message piece by piece: see [`Sealer`].
    ///
    /// # Errors
    /// [`Error::NonceLength`] if `nonce` is empty.
    pub fn sealer(&self, nonce: &[u8]) -> Result<Sealer<GcmStream<'_, C::Cipher>>, Error> {
        self.check(nonce, 0, 0, self.tag_length)?;
        Ok(Sealer::new(GcmStream::new(&self.key, nonce), self.tag_length))
    }

    /// Opens a message piece by piece: see [`Opener`].
    ///
    /// # Errors
    /// [`Error::NonceLength`] if `nonce` is empty.
    pub fn opener(&self, nonce: &[u8]) -> Result<Opener<GcmStream<'_, C::Cipher>>, Error> {
        self.check(nonce, 0, 0, self.tag_length)?;
        Ok(Opener::new(GcmStream::new(&self.key, nonce), self.tag_length))
    }

    /// Checks all lengths, and says which kernel takes the message.
    #[inline]
    fn size<'n>(
        &self,
        nonce: &'n [u8],
        aad: &[u8],
        data: &InOut<'_, '_>,
        tag: &[u8],
    ) -> Result<Size<'n>, Error> {
        let width = self.level().width();
        if let Ok(nonce) = nonce.try_into()
            && tag.len() == self.tag_length
            && aad.len() <= 16 * width
        {
            if data.len() <= 16 * width {
                return Ok(Size::OneVector(nonce));
            }
            if is_short(width, aad.len(), data.len()) {
                return Ok(Size::Short(nonce));
            }
        }
        self.check(nonce, aad.len() as u64, data.len() as u64, tag.len())?;
        Ok(Size::Long)
    }

    /// Encrypts (`SEAL`) or decrypts, and returns the tag in full.
    #[inline]
    fn run<const SEAL: bool>(
        &self,
        size: Size<'_>,
        nonce: &[u8],
        aad: &[u8],
        data: &mut InOut<'_, '_>,
    ) -> Block {
        let (gcm, level) = (&self.key, self.level());
        match size {
            Size::OneVector(nonce) => level.run(Short::<_, SEAL, true> { gcm, nonce, aad, data }),
            Size::Short(nonce) => level.run(Short::<_, SEAL, false> { gcm, nonce, aad, data }),
            Size::Long => level.run(GcmOneShot::<_, SEAL> { gcm, nonce, aad, data }),
        }
    }

    /// Checks a message of `aad` and `text` bytes: as numbers, since no test has buffers of the limits.
    fn check(&self, nonce: &[u8], aad: u64, text: u64, tag: usize) -> Result<(), Error> {
        if nonce.is_empty() {
            Err(Error::NonceLength)
        } else if tag != self.tag_length {
            Err(Error::TagLength)
        } else if text > MOST_TEXT {
            Err(Error::MessageLength)
        } else if aad > MOST_AAD {
            Err(Error::AadLength)
        } else {
            Ok(())
        }
    }
}

impl<C: SizedCipher> Gcm<C> {
    /// GMAC: the tag of `message`, which is not encrypted. The same nonce must not be used again, for
    /// sealing either.
    pub fn mac(&self, nonce: &[u8], message: &[u8], tag: &mut [u8]) -> Result<(), Error> {
        self.seal(nonce, message, &mut [], tag)
    }

    /// Checks a tag of GMAC.
    ///
    /// # Errors
    /// [`Error::Authentication`] if it is wrong.
    pub fn verify(&self, nonce: &[u8], message: &[u8], tag: &[u8]) -> Result<(), Error> {
        self.open(nonce, message, &mut [], tag)
    }
}

key_object!(Gcm, "Gcm", key);

/// The powers of the hash key, from the round keys.
struct FillPowers<'a, C: Cipher> {
    keys: Schedule<'a, C>,
    powers: &'a mut Powers,
}

impl<C: Cipher> Kernel for FillPowers<'_, C> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let n = s.narrow();
        // H = E(K, 0) as an element: bytes reversed, times x (`field`).
        let [h] = C::encrypt::<_, 1>(n, [n.zero()], SameKey::new(n, self.keys));
        let mut key = [[0; 16]];
        n.store(n.reverse(h), &mut key);
        self.powers.fill(s, times_x(key[0]));
        key[0].zeroize();
    }
}

/// The counter block J0 (7.1), its bytes reversed, so that the number in it is the first word.
#[inline(always)]
pub(super) fn first_counter<S: AesClmul>(
    s: S,
    powers: &Powers,
    nonce: &[u8],
) -> <S::Narrow as Blocks>::V {
    let n = s.narrow();
    if let Ok(nonce) = <&[u8; 12]>::try_from(nonce) {
        let [a, b, c, d, e, f, g, h, rest @ ..] = *nonce;
        // nonce || 0^31 1, bytes reversed: the counter is the lowest word.
        let low = u64::from(u32::from_be_bytes(rest)) << 32 | 1;
        n.splat_halves(low, u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    } else {
        // GHASH of the nonce, padded, and its length in bits (7.1, step 2).
        let hash = hash_bytes::<S, true>(s, powers, n.zero(), nonce);
        let mut last = ProductRun::new(s, powers, 1, s.in_first_lane(hash));
        last.add_one(n.splat_halves(nonce.len() as u64 * 8, 0));
        last.finish()
    }
}

/// Texts of fewer groups are sealed in halves of groups, where vectors have the most blocks. The first group is encrypted
/// with nothing to hash beside it, and the last hashed with nothing to encrypt: with halves both are shorter.
const FEW_GROUPS: usize = 6;

/// The vectors of half a group.
const HALF: usize = VECTORS / 2;

/// What is hashed of the text: the ciphertext.
#[inline(always)]
const fn hashed<const SEAL: bool>() -> Hashed {
    if SEAL { Hashed::Output } else { Hashed::Input }
}

/// How many bytes of a text go in whole groups: see [`whole_groups`]. Where the output is hashed, the lanes are added up
/// behind the last group, whatever follows.
#[inline(always)]
fn whole_groups_of<const SEAL: bool>(
    width: usize,
    bytes: usize,
    behind: usize,
    unit: usize,
) -> usize {
    if SEAL { bytes - bytes % unit } else { whole_groups(width, bytes, behind, unit) }
}

/// A whole message. Returns the tag in full.
///
/// `data` is borrowed, here and in the other algorithms: moving it would read two fresh 8-byte
/// stores (its pointers) with one 16-byte load, which defeats store forwarding.
struct GcmOneShot<'a, 'i, 'o, C: Cipher, const SEAL: bool> {
    gcm: &'a GcmKey<C>,
    nonce: &'a [u8],
    aad: &'a [u8],
    data: &'a mut InOut<'i, 'o>,
}

impl<C: Cipher, const SEAL: bool> Kernel for GcmOneShot<'_, '_, '_, C, SEAL> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let Self { gcm: GcmKey { key, powers }, nonce, aad, data } = self;
        let mut data = data.reborrow();
        let n = s.narrow();
        let j0 = first_counter(s, powers, nonce);
        let lengths = n.splat_halves(data.len() as u64 * 8, aad.len() as u64 * 8);
        // Counter 2 (7.1, step 2). Of another nonce the counters come from its hash, which is secret.
        let last_byte = (nonce.len() == 12).then_some(2);
        let mut text = StitchedText::<S, C, true>::new(s, key.keys(), powers, j0, last_byte);
        // E(K, J0), which masks the tag: it needs no result of the text, and overlaps with it.
        let [mask] = C::encrypt::<_, 1>(n, [n.reverse(j0)], SameKey::new(n, key.keys()));
        let group = VECTORS * S::WIDTH * 16;
        let mut run;
        if data.len() < group && aad.len() + data.len() + 48 <= group {
            // AAD, text and lengths together are at most a group: one sum, one reduction.
            let blocks = aad.len().div_ceil(16) + data.len().div_ceil(16) + 1;
            run = ProductRun::new(s, powers, blocks, s.zero());
            run.add_bytes::<true>(aad);
        } else {
            // AAD; whole groups, stitched; the rest of the text and the lengths as one sum.
            text.y = s.in_first_lane(hash_bytes::<S, true>(s, powers, n.zero(), aad));
            let in_halves = const { SEAL && S::VECTORS > 1 && S::WIDTH == WIDEST }
                && data.len() < FEW_GROUPS * group;
            let unit = if in_halves { group / 2 } else { group };
            let whole = whole_groups_of::<SEAL>(S::WIDTH, data.len(), 1, unit);
            let (groups, rest) = data.split_at(whole);
            let mut groups = InOutBlocks::split(groups).0;
            let blocks = rest.len().div_ceil(16) + 1;
            if in_halves && whole > 0 {
                // The last half belongs to that sum, too.
                let done = text.groups_of::<HALF>(Hashed::Output, &mut groups);
                let last = &groups.output()[done - HALF * S::WIDTH..];
                run = ProductRun::new(s, powers, last.len() + blocks, text.y);
                run.add_blocks::<true, HALF>(last);
            } else {
                text.groups(hashed::<SEAL>(), &mut groups);
                run = ProductRun::new(s, powers, blocks, text.y);
            }
            data = rest;
        }
        text.rest(hashed::<SEAL>(), &mut run, data);
        run.add_one(lengths);
        let mut tag = [[0; 16]];
        n.store(n.xor(mask, convert::<_, true>(n, run.finish())), &mut tag);
        tag[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^39 - 256 bits of text and 2^64 - 1 bits of AAD (SP 800-38D, 5.2.1.1), as bytes.
    const TEXT: u64 = 68_719_476_704;
    const AAD: u64 = 2_305_843_009_213_693_951;

    #[test]
    fn lengths_have_limits() {
        let gcm = Aes128Gcm::new(&[1; 16]).expect("a level");
        let check = |aad, text| gcm.check(&[0; 12], aad, text, 16);
        assert_eq!(check(AAD, TEXT), Ok(()));
        assert_eq!(check(0, TEXT + 1), Err(Error::MessageLength));
        assert_eq!(check(AAD + 1, 0), Err(Error::AadLength));
        assert_eq!(check(u64::MAX, 0), Err(Error::AadLength));
        assert_eq!(check(0, u64::MAX), Err(Error::MessageLength));
    }
}
