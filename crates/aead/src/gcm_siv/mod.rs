//! AES-GCM-SIV (RFC 8452): two messages under one nonce show no more than whether they are equal.
//!
//! Every nonce N has keys of its own, H and K, derived by AES (clause 4). With S = POLYVAL(H; AAD,
//! plaintext, lengths), the tag is E(K, S ^ N with the highest bit cleared), and the text is
//! encrypted by CTR from the tag with its highest bit set; the counter is the first word,
//! little-endian, modulo 2^32.
//!
//! So sealing reads the text twice, first for the tag; opening hashes what it decrypts, in one pass,
//! by the loop in `stitch` that has the reason for the order and the registers.

mod batch;

use lanelock_isa::{AesClmul, AesLevel, Block, Blocks, Kernel, StackDepth, wipe};

use super::{
    Aead,
    stitch::{Hashed, StitchedText},
};
use lanelock_core::{
    Error, InOut,
    cipher::{Aes, EncryptKey, ExpandLanes, SameKey, Schedule, SizedCipher},
    parts::{InOutBlocks, SetUp, authenticate, copy_tag, key_object},
};
use lanelock_hash::field::{Powers, ProductRun, VECTORS, hash_bytes, most_blocks};

/// The most bytes of text, and of AAD (clause 6).
const MOST: u64 = 1 << 36;

/// GCM-SIV (RFC 8452): [`Aes128GcmSiv`], [`Aes256GcmSiv`].
///
/// - Nonces: 12 bytes. A repeated one shows whether the messages are equal, and no more.
/// - Tags: 16 bytes.
/// - Text and AAD: at most 2^36 bytes each.
/// - Messages in pieces are not offered: sealing needs the whole text before its first byte is encrypted.
/// - With random nonces a key can seal far more messages than in GCM (clause 9 has the bounds).
///
/// ```
/// use lanelock::aead::{Aead, Aes256GcmSiv};
///
/// # fn main() -> Result<(), lanelock::Error> {
/// let key = Aes256GcmSiv::new(&[7; 32])?;
/// let sealed = key.seal_vec(&[1; 12], b"", b"text")?;
/// assert_eq!(sealed, key.seal_vec(&[1; 12], b"", b"text")?); // the same nonce: equal texts show
/// assert_eq!(key.open_vec(&[1; 12], b"", &sealed)?, b"text");
/// # Ok(())
/// # }
/// ```
///
/// Zeroised on drop.
#[derive(Clone)]
pub struct GcmSiv<C: SivCipher> {
    /// The key-generating key.
    key: EncryptKey<C::Cipher>,
}

impl<C: SivCipher> Drop for GcmSiv<C> {
    fn drop(&mut self) {
        // Deeper than bulk work with a key that is expanded once: the powers of a message are on the stack, too.
        self.key.level().wipe_stack(StackDepth::KiB4);
    }
}

/// A cipher of [`GcmSiv`]: with keys of 128 or 256 bits (RFC 8452, clause 4).
pub trait SivCipher: SizedCipher<Cipher: ExpandLanes> {}

impl SivCipher for Aes<128> {}
impl SivCipher for Aes<256> {}

/// AES-GCM-SIV with a 128-bit key.
pub type Aes128GcmSiv = GcmSiv<Aes<128>>;
/// AES-GCM-SIV with a 256-bit key.
pub type Aes256GcmSiv = GcmSiv<Aes<256>>;

impl<C: SivCipher> SetUp for GcmSiv<C> {
    const DEPTH: StackDepth = EncryptKey::<C::Cipher>::DEPTH;

    const NONE: Self = Self { key: EncryptKey::NONE };

    fn set(&mut self, key: &[u8], level: AesLevel) {
        self.key.set(key, level);
    }
}

impl<C: SivCipher> Aead for GcmSiv<C> {
    fn tag_length(&self) -> usize {
        16
    }

    fn seal_inout(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_, '_>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let nonce = Self::check(nonce, aad, data.len(), tag.len())?;
        let seal = GcmSivOneShot::<_, true> {
            keys: self.keys(),
            nonce,
            aad,
            data: &mut data,
            tag: [0; 16],
        };
        copy_tag(&self.level().run(seal), tag);
        Ok(())
    }

    fn open_inout(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_, '_>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let nonce = Self::check(nonce, aad, data.len(), tag.len())?;
        let mut start = [0; 16];
        start.copy_from_slice(tag);
        let open = GcmSivOneShot::<_, false> {
            keys: self.keys(),
            nonce,
            aad,
            data: &mut data,
            tag: start,
        };
        let mut expected = self.level().run(open);
        authenticate(self.level(), StackDepth::KiB0, &mut expected, tag, data.get_out())
    }
}

impl<C: SivCipher> GcmSiv<C> {
    fn check<'n>(
        nonce: &'n [u8],
        aad: &[u8],
        text: usize,
        tag: usize,
    ) -> Result<&'n [u8; 12], Error> {
        let nonce = nonce.try_into().map_err(|_| Error::NonceLength)?;
        if tag != 16 {
            Err(Error::TagLength)
        } else if text as u64 > MOST {
            Err(Error::MessageLength)
        } else if aad.len() as u64 > MOST {
            Err(Error::AadLength)
        } else {
            Ok(nonce)
        }
    }

    fn keys(&self) -> Schedule<'_, C::Cipher> {
        self.key.keys()
    }
}

key_object!(GcmSiv, "GcmSiv", key, SivCipher);

/// The keys of one nonce (clause 4). Zeroised on drop.
struct Derived<C: ExpandLanes> {
    hash: Block,
    encrypt: C::Rounds<Block>,
    rounds: usize,
}

impl<C: ExpandLanes> Derived<C> {
    #[inline(always)]
    fn none() -> Self {
        Self { hash: [0; 16], encrypt: C::NO_KEYS, rounds: 0 }
    }

    /// In place: a value that is returned is copied.
    #[inline(always)]
    fn set<S: AesClmul>(&mut self, s: S, keys: Schedule<'_, C>, nonce: &[u8; 12]) {
        let n = s.narrow();
        let [a, b, c, d, rest @ ..] = *nonce;
        let low = u64::from(u32::from_le_bytes([a, b, c, d])) << 32;
        let high = u64::from_le_bytes(rest);
        let mut v = [n.zero(); 6];
        for (i, v) in v.iter_mut().enumerate() {
            *v = n.splat_halves(low | i as u64, high);
        }
        // A derived key of 16 bytes needs four blocks, one of 32 bytes six. They are encrypted side
        // by side: as much time as one takes, since four to six rounds start within the latency of
        // one.
        self.rounds = keys.rounds;
        let bytes = C::key_bytes(keys.rounds);
        let keys = SameKey::new(n, keys);
        if bytes == 16 {
            let [v0, v1, v2, v3, ..] = v;
            let [v0, v1, v2, v3] = C::encrypt::<_, 4>(n, [v0, v1, v2, v3], keys);
            v = [v0, v1, v2, v3, n.zero(), n.zero()];
        } else {
            v = C::encrypt::<_, 6>(n, v, keys);
        }
        // The low halves, two to a block: hash key, then encryption key.
        let mut blocks = [[0; 16]; 3];
        for i in 0..3 {
            // Up by eight bytes and down again: the low half alone.
            let low = n.bytes_down::<8>(n.bytes_up::<8>(v[2 * i]));
            n.store(n.xor(low, n.bytes_up::<8>(v[2 * i + 1])), &mut blocks[i..]);
        }
        self.hash = blocks[0];
        C::expand(s, &blocks.as_flattened()[16..][..bytes], &mut self.encrypt);
        wipe(blocks.as_flattened_mut());
    }
}

impl<C: ExpandLanes> Derived<C> {
    #[inline(always)]
    fn keys(&self) -> Schedule<'_, C> {
        Schedule { keys: &self.encrypt, rounds: self.rounds }
    }
}

impl<C: ExpandLanes> Drop for Derived<C> {
    fn drop(&mut self) {
        wipe(&mut self.hash);
        wipe(self.encrypt.as_mut().as_flattened_mut());
    }
}

/// A whole message. Returns the tag.
struct GcmSivOneShot<'a, 'i, 'o, C: ExpandLanes, const SEAL: bool> {
    keys: Schedule<'a, C>,
    nonce: &'a [u8; 12],
    aad: &'a [u8],
    data: &'a mut InOut<'i, 'o>,
    /// The tag of the message to open.
    tag: Block,
}

impl<C: ExpandLanes, const SEAL: bool> Kernel for GcmSivOneShot<'_, '_, '_, C, SEAL> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let Self { keys, nonce, aad, data, mut tag } = self;
        let data = data.reborrow();
        let n = s.narrow();
        let mut derived = Derived::<C>::none();
        derived.set(s, keys, nonce);
        let group = VECTORS * S::WIDTH * 16;
        let total = aad.len().div_ceil(16) + data.len().div_ceil(16) + 1;
        // The powers of H are made for this message alone: no more than it has blocks.
        let mut powers = Powers::NONE;
        powers.fill_some(s, derived.hash, total.min(most_blocks(S::WIDTH)));
        let lengths = n.splat_halves(aad.len() as u64 * 8, data.len() as u64 * 8);
        let (groups, rest) = {
            let whole = data.len() / group * group;
            data.split_at(whole)
        };
        let mut groups = InOutBlocks::split(groups).0;
        let mut y = n.zero();
        let mut run;
        if total <= VECTORS * S::WIDTH {
            // AAD, text and lengths are at most a group: one sum.
            run = ProductRun::new(s, &powers, total, s.zero());
            run.add_bytes::<false>(aad);
        } else {
            y = hash_bytes::<S, false>(s, &powers, y, aad);
            if SEAL {
                y = hash_bytes::<S, false>(s, &powers, y, groups.input().as_flattened());
            } else {
                let mut text = StitchedText::<S, C, false>::new(
                    s,
                    derived.keys(),
                    &powers,
                    start(s, tag, 0),
                    None,
                );
                text.y = s.in_first_lane(y);
                text.groups(Hashed::Output, &mut groups);
                y = s.sum_lanes(text.y);
            }
            run = ProductRun::new(s, &powers, rest.len().div_ceil(16) + 1, s.in_first_lane(y));
        }
        if SEAL {
            run.add_bytes::<false>(rest.get_in());
        } else {
            let done = groups.len();
            let counter = start(s, tag, done);
            let mut text =
                StitchedText::<S, C, false>::new(s, derived.keys(), &powers, counter, None);
            text.rest(Hashed::Output, &mut run, rest);
            return finish(n, &derived, run, lengths, nonce);
        }
        tag = finish(n, &derived, run, lengths, nonce);
        let mut text =
            StitchedText::<S, C, false>::new(s, derived.keys(), &powers, start(s, tag, 0), None);
        // Second pass of sealing: CTR from the tag, nothing to hash.
        text.groups(Hashed::Nothing, &mut groups);
        let mut nothing = ProductRun::new(s, &powers, 1, s.zero());
        text.rest(Hashed::Nothing, &mut nothing, rest);
        tag
    }
}

/// The counter before the one of block `blocks`: the tag with its highest bit set (clause 4).
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "modulo 2^32")]
fn start<S: AesClmul>(s: S, tag: Block, blocks: usize) -> <S::Narrow as Blocks>::V {
    let number = u128::from_le_bytes(tag) | 1 << 127;
    // `StitchedText` begins one behind the counter it is given.
    let first = (number as u32).wrapping_add(blocks as u32).wrapping_sub(1);
    s.narrow()
        .splat_halves((number as u64) & !0xffff_ffff | u64::from(first), (number >> 64) as u64)
}

/// The tag from the hash (clause 4).
#[inline(always)]
fn finish<N: AesClmul, S: AesClmul<Narrow = N>, C: ExpandLanes>(
    n: N,
    derived: &Derived<C>,
    mut run: ProductRun<'_, S>,
    lengths: N::V,
    nonce: &[u8; 12],
) -> Block {
    run.add_one(lengths);
    let [a, b, c, d, e, f, g, h, rest @ ..] = *nonce;
    let nonce = n.splat_halves(
        u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        u32::from_le_bytes(rest).into(),
    );
    let hash = n.and(n.xor(run.finish(), nonce), n.splat_halves(u64::MAX, u64::MAX >> 1));
    let [v] = C::encrypt::<_, 1>(n, [hash], SameKey::new(n, derived.keys()));
    let mut tag = [[0; 16]];
    n.store(v, &mut tag);
    tag[0]
}
