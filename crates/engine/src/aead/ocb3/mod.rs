//! OCB3 (RFC 7253).
//!
//! C_i = Offset_i ^ E(K, P_i ^ Offset_i), and the tag is E(K, P_1 ^ ... ^ P_n ^ Offset_n ^ L_$) ^
//! HASH(K, AAD) (4.2): one encryption a block, all of them independent.

mod batch;
mod flow;
mod masks;
mod stream;

use core::fmt;

use lanelock_isa::{
    Aes as _, AesClmul, AesLevel, Block, Blocks as _, Kernel, LevelError, SameKey, StackDepth,
};
use zeroize::ZeroizeOnDrop;

use super::{Aead, Opener, Sealer, authenticate, copy_tag};
use crate::{
    Aes, Error,
    aes::{broadcast, default_level},
    inout::{InOut, InOutBlocks},
    set_up::{SetUp, copy_ok},
};
use flow::{Aad, Flow, Ocb3Text};
use masks::{MOST_BLOCKS, Masks};

pub use stream::Ocb3Stream;

/// The most bytes of text, and of AAD.
const MOST_BYTES: u64 = 16 * MOST_BLOCKS;

/// AES-OCB3 (RFC 7253) with `R` round keys: [`Aes128Ocb3`], [`Aes192Ocb3`], [`Aes256Ocb3`].
///
/// - Nonces: 1 to 15 bytes, 12 as a rule. All messages of a key should have nonces of one length.
/// - Tags: 16 bytes, or 8 or 12 by [`with_tag_length`](Self::with_tag_length). Tags of one length are
///   not the beginning of longer ones.
/// - A key must not process more than 2^48 blocks (4 PiB), text and AAD of all messages together (RFC
///   7253, 5.1). A message of more than that is refused; the sum of many is counted by a
///   [`KeyUsage`](crate::KeyUsage) with that limit of blocks.
///
/// ```
/// use lanelock::{KeyUsage, aead::{Aead, Aes128Ocb3}};
///
/// # fn main() -> Result<(), lanelock::Error> {
/// let usage = KeyUsage::with_limit(u64::MAX).with_block_limit(1 << 48);
/// let key = Aes128Ocb3::new(&[7; 16])?.with_usage(usage);
/// let sealed = key.seal_vec(&[1; 12], b"header", b"text")?;
/// assert_eq!(key.open_vec(&[1; 12], b"header", &sealed)?, b"text");
/// # Ok(())
/// # }
/// ```
///
/// Zeroised on drop.
#[derive(Clone)]
pub struct Ocb3<const R: usize> {
    aes: Aes<R>,
    masks: Masks,
    tag_length: usize,
}

/// OCB3 with a 128-bit key.
pub type Aes128Ocb3 = Ocb3<11>;
/// OCB3 with a 192-bit key.
pub type Aes192Ocb3 = Ocb3<13>;
/// OCB3 with a 256-bit key.
pub type Aes256Ocb3 = Ocb3<15>;

impl<const R: usize> SetUp for Ocb3<R> {
    fn none(level: AesLevel) -> Self {
        Self { aes: Aes::none(level), masks: Masks::none(), tag_length: 16 }
    }

    /// `key` has 4 * (R - 7) bytes.
    fn set(&mut self, key: &[u8]) {
        self.aes.set(key);
        self.aes.encrypt_block(&mut self.masks.partial);
        self.masks.set();
    }
}

macro_rules! constructors {
    ($rounds:literal, $bytes:literal) => {
        impl Ocb3<$rounds> {
            /// Expands `key` at the best level: see [`AesLevel::best`].
            ///
            /// # Errors
            /// As [`Aes128::new`](crate::Aes128::new).
            pub fn new(key: &[u8; $bytes]) -> Result<Self, LevelError> {
                Self::expand_if(key, default_level())
            }

            /// Expands `key` at `level`.
            pub fn with_level(key: &[u8; $bytes], level: AesLevel) -> Self {
                Self::expand(key, level)
            }
        }

        // Not for all `R` at once: so the kernels are compiled here, and not by every user.
        impl Aead for Ocb3<$rounds> {
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
                self.check(nonce, aad, data.len(), tag.len())?;
                let kernel =
                    Ocb3OneShot::<$rounds, true> { ocb: self, nonce, aad, data: &mut data };
                copy_tag(&self.level().run(kernel), tag);
                Ok(())
            }

            fn open_inout(
                &self,
                nonce: &[u8],
                aad: &[u8],
                mut data: InOut<'_, '_>,
                tag: &[u8],
            ) -> Result<(), Error> {
                self.check(nonce, aad, data.len(), tag.len())?;
                let kernel =
                    Ocb3OneShot::<$rounds, false> { ocb: self, nonce, aad, data: &mut data };
                let mut full = self.level().run(kernel);
                authenticate(
                    self.level(),
                    StackDepth::KiB0,
                    &mut full[..tag.len()],
                    tag,
                    data.get_out(),
                )
            }
        }
    };
}

constructors!(11, 16);
constructors!(13, 24);
constructors!(15, 32);

impl<const R: usize> Ocb3<R> {
    /// The same key with tags of `bytes` bytes.
    ///
    /// # Errors
    /// [`Error::TagLength`] if that is not 8, 12 or 16 (3.1).
    pub fn with_tag_length(mut self, bytes: usize) -> Result<Self, Error> {
        if !matches!(bytes, 8 | 12 | 16) {
            return Err(Error::TagLength);
        }
        self.tag_length = bytes;
        // A move would leave the key where it is now; this one is wiped there.
        copy_ok(&self)
    }

    /// The level that this key runs at.
    pub fn level(&self) -> AesLevel {
        self.aes.level()
    }

    /// Seals a message piece by piece. A block is encrypted as a whole: each piece of text but the last
    /// must be whole blocks of 16 bytes. Behind a piece that is not, there is
    /// [`Error::MessageLength`].
    ///
    /// # Errors
    /// [`Error::NonceLength`]
    pub fn sealer(&self, nonce: &[u8]) -> Result<Sealer<Ocb3Stream<'_, R>>, Error> {
        Ok(Sealer::new(Ocb3Stream::new(self, nonce)?, self.tag_length))
    }

    /// Opens a message piece by piece; the pieces are as for [`sealer`](Self::sealer).
    ///
    /// # Errors
    /// [`Error::NonceLength`]
    pub fn opener(&self, nonce: &[u8]) -> Result<Opener<Ocb3Stream<'_, R>>, Error> {
        Ok(Opener::new(Ocb3Stream::new(self, nonce)?, self.tag_length))
    }

    fn check(&self, nonce: &[u8], aad: &[u8], text: usize, tag: usize) -> Result<(), Error> {
        // An empty nonce would be encrypted as L_* is: it would give L_* away (IACR ePrint 2023/326).
        if !(1..=15).contains(&nonce.len()) {
            Err(Error::NonceLength)
        } else if tag != self.tag_length {
            Err(Error::TagLength)
        } else if text as u64 > MOST_BYTES {
            Err(Error::MessageLength)
        } else if aad.len() as u64 > MOST_BYTES {
            Err(Error::AadLength)
        } else {
            Ok(())
        }
    }
}

impl<const R: usize> Ocb3<R> {
    #[inline(always)]
    fn round_keys(&self, decrypt: bool) -> &[Block; R] {
        if decrypt { self.aes.decrypt_keys() } else { self.aes.encrypt_keys() }
    }
}

impl<const R: usize> ZeroizeOnDrop for Ocb3<R> {}

impl<const R: usize> fmt::Debug for Ocb3<R> {
    /// Says which algorithm it is, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Aes{}Ocb3({})", (R - 7) * 32, self.level())
    }
}

/// The nonce as 4.2 formats it, as a number: the length of the tag in bits modulo 128, in 7 bits;
/// zeros; a one; the nonce.
#[inline(always)]
fn format_nonce(nonce: &[u8], tag_length: usize) -> u128 {
    let number = if let Ok(nonce) = <&[u8; 12]>::try_from(nonce) {
        let [a, b, c, d, rest @ ..] = *nonce;
        let high = u32::from_be_bytes([a, b, c, d]);
        u128::from(high) << 64 | u128::from(u64::from_be_bytes(rest))
    } else {
        nonce.iter().fold(0, |number, byte| number << 8 | u128::from(*byte))
    };
    (tag_length as u128 * 8 % 128) << 121 | 1 << (8 * nonce.len()) | number
}

/// The block that is enciphered to Ktop: all but the low six bits of a formatted nonce, as
/// little-endian halves.
#[inline(always)]
fn top(nonce: u128) -> [u64; 2] {
    little_endian(nonce & !63)
}

/// Offset_0 from Ktop (4.2), as little-endian halves: the 128 bits behind bit `bottom` of the stretch,
/// Ktop || (Ktop[1..64] xor Ktop[9..72]); `bottom` is the low six bits of a formatted nonce.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "halves and low bits")]
fn first_offset(top: &Block, nonce: u128) -> [u64; 2] {
    let [a, b, c, d, e, f, g, h, low @ ..] = *top;
    let high = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    let low = u64::from_be_bytes(low);
    let behind = high ^ (high << 8 | low >> 56);
    let bottom = nonce as u32 & 63;
    [
        (high << bottom | low >> 1 >> (63 - bottom)).swap_bytes(),
        (low << bottom | behind >> 1 >> (63 - bottom)).swap_bytes(),
    ]
}

#[expect(clippy::cast_possible_truncation, reason = "halves")]
#[inline(always)]
fn little_endian(number: u128) -> [u64; 2] {
    [((number >> 64) as u64).swap_bytes(), (number as u64).swap_bytes()]
}

/// The block of these halves.
#[inline(always)]
fn block([low, high]: [u64; 2]) -> Block {
    (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
}

/// A one behind `bytes` bytes, and zeros.
#[inline(always)]
fn end_mark(bytes: usize) -> &'static Block {
    const MARK: [u8; 31] = {
        let mut mark = [0; 31];
        mark[15] = 0x80;
        mark
    };
    match MARK[15 - bytes..].first_chunk() {
        Some(block) => block,
        None => unreachable!(),
    }
}

/// A whole message. Returns the tag in full.
struct Ocb3OneShot<'a, 'i, 'o, const R: usize, const SEAL: bool> {
    ocb: &'a Ocb3<R>,
    nonce: &'a [u8],
    aad: &'a [u8],
    data: &'a mut InOut<'i, 'o>,
}

impl<const R: usize, const SEAL: bool> Kernel for Ocb3OneShot<'_, '_, '_, R, SEAL> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let Self { ocb, nonce, aad, data } = self;
        let data = data.reborrow();
        let Ocb3 { aes, masks, tag_length } = ocb;
        let (n, encrypt) = (s.narrow(), aes.encrypt_keys());
        let nonce = format_nonce(nonce, *tag_length);
        let [low, high] = top(nonce);
        let [v] = n.encrypt::<1, R>([n.splat_halves(low, high)], SameKey(broadcast(n, encrypt)));
        let mut ktop = [[0; 16]];
        n.store(v, &mut ktop);

        let mut hash = n.zero();
        if !aad.is_empty() {
            let (blocks, rest) = aad.as_chunks();
            let mut flow = Flow::new(s, masks, s.zero()).start(encrypt, &mut Aad(blocks));
            if !rest.is_empty() {
                hash_partial::<S, R>(s, &mut flow, encrypt, rest);
            }
            hash = flow.sum;
        }

        let [low, high] = first_offset(&ktop[0], nonce);
        let flow = Flow::new(s, masks, s.splat_halves(low, high));
        let (blocks, rest) = InOutBlocks::split(data);
        let mut flow = flow.start(ocb.round_keys(!SEAL), &mut Ocb3Text::<SEAL>(blocks));
        if !rest.is_empty() {
            partial::<S, R, SEAL>(s, &mut flow, encrypt, rest);
        }
        finish::<S::Narrow, R>(&flow, encrypt, hash)
    }
}

/// The last block of text, which is partial (4.2).
#[inline(always)]
fn partial<S: AesClmul, const R: usize, const SEAL: bool>(
    s: S,
    flow: &mut Flow<'_, S::Narrow>,
    keys: &[Block; R],
    mut rest: InOut<'_, '_>,
) {
    let n = s.narrow();
    flow.offset = n.xor(flow.offset, n.load(&[flow.masks.partial]));
    let [pad] = n.encrypt::<1, R>([flow.offset], SameKey(broadcast(n, keys)));
    let x = s.load_part(rest.get_in());
    let y = s.xor(x, s.in_first_lane(pad));
    s.store_part(y, rest.get_out());
    let plain = if SEAL { x } else { s.keep(y, rest.len()) };
    flow.sum = n.xor(flow.sum, s.sum_lanes(plain));
    flow.sum = n.xor(flow.sum, n.load(&[*end_mark(rest.len())]));
}

/// The last block of AAD, which is partial (4.1).
#[inline(always)]
fn hash_partial<S: AesClmul, const R: usize>(
    s: S,
    flow: &mut Flow<'_, S::Narrow>,
    keys: &[Block; R],
    rest: &[u8],
) {
    let n = s.narrow();
    let v = n.xor(s.sum_lanes(s.load_part(rest)), n.load(&[*end_mark(rest.len())]));
    let v = n.xor(v, n.xor(flow.offset, n.load(&[flow.masks.partial])));
    let [v] = n.encrypt::<1, R>([v], SameKey(broadcast(n, keys)));
    flow.sum = n.xor(flow.sum, v);
}

/// The tag in full, from the text and the hash of the AAD (4.2).
#[inline(always)]
fn finish<N: AesClmul, const R: usize>(flow: &Flow<'_, N>, keys: &[Block; R], hash: N::V) -> Block {
    let n = flow.s;
    let v = n.xor(flow.sum, n.xor(flow.offset, n.load(&[flow.masks.tag])));
    let [v] = n.encrypt::<1, R>([v], SameKey(broadcast(n, keys)));
    let mut tag = [[0; 16]];
    n.store(n.xor(v, hash), &mut tag);
    tag[0]
}
