//! OCB3 (RFC 7253).
//!
//! C_i = Offset_i ^ E(K, P_i ^ Offset_i), and the tag is E(K, P_1 ^ ... ^ P_n ^ Offset_n ^ L_$) ^
//! HASH(K, AAD) (4.2): one encryption a block, all of them independent.

mod batch;
mod flow;
mod masks;
mod stream;

use lanelock_isa::{AesClmul, AesLevel, Block, Blocks, Kernel, StackDepth};

use super::{Aead, Opener, Sealer};
use flow::{Aad, Flow, Ocb3Text};
use lanelock_core::{
    Error, InOut,
    cipher::{Aes, Cipher, SameKey, Schedule, Schedules, SizedCipher},
    parts::{InOutBlocks, SetUp, authenticate, copy_ok, copy_tag, key_object},
};
use masks::{MOST_BLOCKS, Masks};

pub use stream::Ocb3Stream;

/// The most bytes of text, and of AAD.
const MOST_BYTES: u64 = 16 * MOST_BLOCKS;

/// OCB3 (RFC 7253): [`Aes128Ocb3`], [`Aes192Ocb3`], [`Aes256Ocb3`].
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
pub struct Ocb3<C: SizedCipher>(Ocb3Key<C::Cipher>);

/// What a key is made of, whatever its size.
#[derive(Clone)]
struct Ocb3Key<C: Cipher> {
    schedules: Schedules<C>,
    masks: Masks,
    tag_length: usize,
}

/// OCB3 with a 128-bit key.
pub type Aes128Ocb3 = Ocb3<Aes<128>>;
/// OCB3 with a 192-bit key.
pub type Aes192Ocb3 = Ocb3<Aes<192>>;
/// OCB3 with a 256-bit key.
pub type Aes256Ocb3 = Ocb3<Aes<256>>;

impl<C: SizedCipher> SetUp for Ocb3<C> {
    const DEPTH: StackDepth = StackDepth::KiB1;

    const NONE: Self =
        Self(Ocb3Key { schedules: Schedules::NONE, masks: Masks::NONE, tag_length: 16 });

    fn set(&mut self, key: &[u8], level: AesLevel) {
        let Ocb3Key { schedules, masks, .. } = &mut self.0;
        schedules.set(key, level);
        schedules.encrypt.encrypt_block(&mut masks.partial);
        masks.set();
    }
}

impl<C: SizedCipher> Aead for Ocb3<C> {
    fn tag_length(&self) -> usize {
        self.0.tag_length
    }

    fn seal_inout(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_, '_>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        self.0.check(nonce.len(), aad.len(), data.len(), tag.len())?;
        let kernel = Ocb3OneShot::<_, true> { ocb: &self.0, nonce, aad, data: &mut data };
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
        self.0.check(nonce.len(), aad.len(), data.len(), tag.len())?;
        let kernel = Ocb3OneShot::<_, false> { ocb: &self.0, nonce, aad, data: &mut data };
        let mut full = self.level().run(kernel);
        authenticate(self.level(), StackDepth::KiB0, &mut full[..tag.len()], tag, data.get_out())
    }
}

impl<C: SizedCipher> Ocb3<C> {
    /// The same key with tags of `bytes` bytes.
    ///
    /// # Errors
    /// [`Error::TagLength`] if that is not 8, 12 or 16 (3.1).
    pub fn with_tag_length(mut self, bytes: usize) -> Result<Self, Error> {
        if !matches!(bytes, 8 | 12 | 16) {
            return Err(Error::TagLength);
        }
        self.0.tag_length = bytes;
        // A move would leave the key where it is now; this one is wiped there.
        copy_ok(&self)
    }

    /// Seals a message piece by piece. A block is encrypted as a whole: each piece of text but the last
    /// must be whole blocks of 16 bytes. Behind a piece that is not, there is
    /// [`Error::MessageLength`].
    ///
    /// # Errors
    /// [`Error::NonceLength`]
    pub fn sealer(&self, nonce: &[u8]) -> Result<Sealer<Ocb3Stream<'_, C::Cipher>>, Error> {
        Ok(Sealer::new(Ocb3Stream::new(&self.0, nonce)?, self.0.tag_length))
    }

    /// Opens a message piece by piece; the pieces are as for [`sealer`](Self::sealer).
    ///
    /// # Errors
    /// [`Error::NonceLength`]
    pub fn opener(&self, nonce: &[u8]) -> Result<Opener<Ocb3Stream<'_, C::Cipher>>, Error> {
        Ok(Opener::new(Ocb3Stream::new(&self.0, nonce)?, self.0.tag_length))
    }
}

impl<C: Cipher> Ocb3Key<C> {
    fn level(&self) -> AesLevel {
        self.schedules.level()
    }

    fn check(&self, nonce: usize, aad: usize, text: usize, tag: usize) -> Result<(), Error> {
        // An empty nonce would be encrypted as L_* is: it would give L_* away (IACR ePrint 2023/326).
        if !(1..=15).contains(&nonce) {
            Err(Error::NonceLength)
        } else if tag != self.tag_length {
            Err(Error::TagLength)
        } else if text as u64 > MOST_BYTES {
            Err(Error::MessageLength)
        } else if aad as u64 > MOST_BYTES {
            Err(Error::AadLength)
        } else {
            Ok(())
        }
    }

    #[inline(always)]
    fn round_keys(&self, decrypt: bool) -> Schedule<'_, C> {
        let both = &self.schedules;
        if decrypt { both.decrypt_keys() } else { both.encrypt.keys() }
    }
}

key_object!(Ocb3, "Ocb3", 0);

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
struct Ocb3OneShot<'a, 'i, 'o, C: Cipher, const SEAL: bool> {
    ocb: &'a Ocb3Key<C>,
    nonce: &'a [u8],
    aad: &'a [u8],
    data: &'a mut InOut<'i, 'o>,
}

impl<C: Cipher, const SEAL: bool> Kernel for Ocb3OneShot<'_, '_, '_, C, SEAL> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let Self { ocb, nonce, aad, data } = self;
        let data = data.reborrow();
        let Ocb3Key { masks, tag_length, .. } = ocb;
        let (n, encrypt) = (s.narrow(), ocb.round_keys(false));
        let nonce = format_nonce(nonce, *tag_length);
        let [low, high] = top(nonce);
        let [v] = C::encrypt::<_, 1>(n, [n.splat_halves(low, high)], SameKey::new(n, encrypt));
        let mut ktop = [[0; 16]];
        n.store(v, &mut ktop);

        let mut hash = n.zero();
        if !aad.is_empty() {
            let (blocks, rest) = aad.as_chunks();
            let mut flow = Flow::new(s, masks, s.zero()).start::<_, C>(encrypt, &mut Aad(blocks));
            if !rest.is_empty() {
                hash_partial::<S, C>(s, &mut flow, encrypt, rest);
            }
            hash = flow.sum;
        }

        let [low, high] = first_offset(&ktop[0], nonce);
        let flow = Flow::new(s, masks, s.splat_halves(low, high));
        let (blocks, rest) = InOutBlocks::split(data);
        let mut flow = flow.start::<_, C>(ocb.round_keys(!SEAL), &mut Ocb3Text::<SEAL>(blocks));
        if !rest.is_empty() {
            partial::<S, C, SEAL>(s, &mut flow, encrypt, rest);
        }
        finish::<S::Narrow, C>(&flow, encrypt, hash)
    }
}

/// The last block of text, which is partial (4.2).
#[inline(always)]
fn partial<S: AesClmul, C: Cipher, const SEAL: bool>(
    s: S,
    flow: &mut Flow<'_, S::Narrow>,
    keys: Schedule<'_, C>,
    mut rest: InOut<'_, '_>,
) {
    let n = s.narrow();
    flow.offset = n.xor(flow.offset, n.load(&[flow.masks.partial]));
    let [pad] = C::encrypt::<_, 1>(n, [flow.offset], SameKey::new(n, keys));
    let x = s.load_part(rest.get_in());
    let y = s.xor(x, s.in_first_lane(pad));
    s.store_part(y, rest.get_out());
    let plain = if SEAL { x } else { s.keep(y, rest.len()) };
    flow.sum = n.xor(flow.sum, s.sum_lanes(plain));
    flow.sum = n.xor(flow.sum, n.load(&[*end_mark(rest.len())]));
}

/// The last block of AAD, which is partial (4.1).
#[inline(always)]
fn hash_partial<S: AesClmul, C: Cipher>(
    s: S,
    flow: &mut Flow<'_, S::Narrow>,
    keys: Schedule<'_, C>,
    rest: &[u8],
) {
    let n = s.narrow();
    let v = n.xor(s.sum_lanes(s.load_part(rest)), n.load(&[*end_mark(rest.len())]));
    let v = n.xor(v, n.xor(flow.offset, n.load(&[flow.masks.partial])));
    let [v] = C::encrypt::<_, 1>(n, [v], SameKey::new(n, keys));
    flow.sum = n.xor(flow.sum, v);
}

/// The tag in full, from the text and the hash of the AAD (4.2).
#[inline(always)]
fn finish<N: AesClmul, C: Cipher>(flow: &Flow<'_, N>, keys: Schedule<'_, C>, hash: N::V) -> Block {
    let n = flow.s;
    let v = n.xor(flow.sum, n.xor(flow.offset, n.load(&[flow.masks.tag])));
    let [v] = C::encrypt::<_, 1>(n, [v], SameKey::new(n, keys));
    let mut tag = [[0; 16]];
    n.store(n.xor(v, hash), &mut tag);
    tag[0]
}
