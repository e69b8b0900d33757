//! Which hash: its compression function, where it begins, how it pads, what of the state is the digest.

use lanelock_isa::Word;
use zeroize::{DefaultIsZeroes, Zeroize};

use crate::{
    blake2::{self, Blake2, Blake2Word},
    compression::Compression,
    keccak::Sponge,
    sha1::{self, Sha1Blocks},
    sha2::{Sha2, initial},
    sm3::{self, Sm3Blocks},
};

/// The state of an algorithm.
pub type State<A> = <Compress<A> as Compression>::State<WordOf<A>>;
/// The compression function of an algorithm.
pub type Compress<A> = <A as Algorithm>::Compression;
/// The words of the state of an algorithm.
pub type WordOf<A> = <Compress<A> as Compression>::Word;

/// An array of bytes.
pub trait Bytes:
    AsRef<[u8]> + AsMut<[u8]> + Copy + Eq + core::fmt::Debug + Zeroize + Send + Sync + 'static
{
    /// All of them zero.
    const ZERO: Self;
}

impl<const N: usize> Bytes for [u8; N] {
    const ZERO: Self = [0; N];
}

/// A hash with a digest of fixed length, or with as many bytes of it as are wanted.
pub trait Algorithm: Copy + Send + Sync + 'static {
    /// The name that its standard gives it.
    const NAME: &'static str;
    /// What tells its states from those of others, in what [`Hash::export`](crate::Hash::export) writes: a number,
    /// then parameters. With the bytes of a digest these are 1, SHA-1; 2, SHA-2 on words of 32 bits; 3, SHA-2 on
    /// words of 64 bits; 4, SM3; 5, BLAKE2b; 6, BLAKE2s. Keccak is 7, with the bytes of a block, the rounds, and the
    /// byte behind a message.
    const IDENTITY: [u8; 4];
    /// What it does with blocks.
    type Compression: Compression<Word: DefaultIsZeroes>;
    /// The digest; of an algorithm with output of any length so many bytes as give its full strength against
    /// collisions.
    type Digest: Bytes;
    /// Room for the blocks of padding: those that follow the last whole block of a message.
    type Tail: Bytes;
    /// Whether the last block of a message is treated unlike the others even if it is whole.
    const LAST_IS_SPECIAL: bool = false;

    /// The state before the first block.
    fn initial() -> State<Self>;

    /// Pads the last bytes of a message, `used` of which are in `tail` with zeros behind them. `length` is that
    /// of the whole message in bytes. Gives the bytes of the padded blocks: see [`padded`](Self::padded).
    fn pad(tail: &mut [u8], used: usize, length: u64) -> usize;

    /// The bytes of the padded blocks of so many last bytes.
    #[inline(always)]
    fn padded(_used: usize) -> usize {
        Compress::<Self>::BLOCK
    }

    /// Puts into the state how many bytes its blocks have, where that is a part of it.
    #[inline(always)]
    fn count(_state: &mut State<Self>, _taken: u64) {}

    /// What happens to the state before the last block.
    #[inline(always)]
    fn before_last(_state: &mut State<Self>, _length: u64) {}

    /// The first bytes of the digest, from the words of the final state.
    fn output(state: &[WordOf<Self>], digest: &mut [u8]);
}

/// A hash of the family of MD5: behind a message come a one, zeros, and the number of its bits.
pub trait MerkleDamgard: Algorithm {}

/// The bytes of whole blocks that can be taken before the end of `length` bytes is looked at.
#[inline(always)]
pub(crate) fn body<A: Algorithm>(length: usize) -> usize {
    let block = Compress::<A>::BLOCK;
    let length = if A::LAST_IS_SPECIAL { length.saturating_sub(1) } else { length };
    length - length % block
}

/// The padding of MD5's family: a one, zeros, and the number of bits, big-endian.
#[inline(always)]
fn pad_with_length(tail: &mut [u8], used: usize, length: u64, block: usize) -> usize {
    tail[used] = 0x80;
    let end = padded_with_length(used, block);
    // SHA-512 has 16 bytes for the number of bits, and the others eight, of which a message of 2^61 bytes would
    // need more.
    let bits = u128::from(length) * 8;
    let (_, field) = tail[..end].split_at_mut(end - block / 8);
    field.copy_from_slice(&bits.to_be_bytes()[16 - block / 8..]);
    end
}

#[inline(always)]
fn padded_with_length(used: usize, block: usize) -> usize {
    (used + 1 + block / 8).next_multiple_of(block)
}

/// The first words, big-endian.
#[inline(always)]
fn big_endian<W: Word>(words: &[W], digest: &mut [u8]) {
    little_endian_of(words.iter().map(|word| word.swap_bytes()), digest);
}

/// The first words, little-endian.
#[inline(always)]
fn little_endian<W: Word>(words: &[W], digest: &mut [u8]) {
    little_endian_of(words.iter().copied(), digest);
}

#[inline(always)]
fn little_endian_of<W: Word>(words: impl Iterator<Item = W>, digest: &mut [u8]) {
    for (bytes, word) in digest.chunks_mut(W::BYTES).zip(words) {
        word.write_le(bytes);
    }
}

macro_rules! with_length {
    ($($(#[$doc:meta])* $algorithm:ident $name:literal, number $number:literal, $compression:ty, $digest:literal bytes, from $initial:expr;)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $algorithm {}

            impl MerkleDamgard for $algorithm {}

            impl Algorithm for $algorithm {
                const NAME: &'static str = $name;
                const IDENTITY: [u8; 4] = [$number, $digest, 0, 0];
                type Compression = $compression;
                type Digest = [u8; $digest];
                type Tail = [u8; 2 * <$compression>::BLOCK];

                #[inline(always)]
                fn initial() -> State<Self> {
                    $initial
                }

                #[inline(always)]
                fn pad(tail: &mut [u8], used: usize, length: u64) -> usize {
                    pad_with_length(tail, used, length, <$compression>::BLOCK)
                }

                #[inline(always)]
                fn padded(used: usize) -> usize {
                    padded_with_length(used, <$compression>::BLOCK)
                }

                #[inline(always)]
                fn output(state: &[WordOf<Self>], digest: &mut [u8]) {
                    big_endian(state, digest);
                }
            }
        )+
    };
}

with_length! {
    /// SHA-1 (FIPS 180-4). Collisions are known: for protocols that still need it.
    Sha1 "SHA-1", number 1, Sha1Blocks, 20 bytes, from sha1::INITIAL;
    /// SHA-224 (FIPS 180-4).
    Sha224 "SHA-224", number 2, Sha2<u32>, 28 bytes, from initial::SHA_224;
    /// SHA-256 (FIPS 180-4).
    Sha256 "SHA-256", number 2, Sha2<u32>, 32 bytes, from initial::SHA_256;
    /// SHA-384 (FIPS 180-4).
    Sha384 "SHA-384", number 3, Sha2<u64>, 48 bytes, from initial::SHA_384;
    /// SHA-512 (FIPS 180-4).
    Sha512 "SHA-512", number 3, Sha2<u64>, 64 bytes, from initial::SHA_512;
    /// SHA-512/224 (FIPS 180-4).
    Sha512_224 "SHA-512/224", number 3, Sha2<u64>, 28 bytes, from initial::SHA_512_224;
    /// SHA-512/256 (FIPS 180-4).
    Sha512_256 "SHA-512/256", number 3, Sha2<u64>, 32 bytes, from initial::SHA_512_256;
    /// SM3 (GB/T 32905-2016).
    Sm3 "SM3", number 4, Sm3Blocks, 32 bytes, from sm3::INITIAL;
}

/// A sponge on Keccak, whose messages end with the bits `DOMAIN`.
#[derive(Clone, Copy, Debug)]
pub enum Keccak<const RATE: usize, const ROUNDS: usize, const DOMAIN: u8, const DIGEST: usize> {}

/// SHA3-224 (FIPS 202).
pub type Sha3_224 = Keccak<144, 24, 0x06, 28>;
/// SHA3-256 (FIPS 202).
pub type Sha3_256 = Keccak<136, 24, 0x06, 32>;
/// SHA3-384 (FIPS 202).
pub type Sha3_384 = Keccak<104, 24, 0x06, 48>;
/// SHA3-512 (FIPS 202).
pub type Sha3_512 = Keccak<72, 24, 0x06, 64>;
/// SHAKE128 (FIPS 202).
pub type Shake128 = Keccak<168, 24, 0x1f, 32>;
/// SHAKE256 (FIPS 202).
pub type Shake256 = Keccak<136, 24, 0x1f, 64>;
/// TurboSHAKE128 (RFC 9861) with a byte of domain separation, 0x01 to 0x7f.
pub type TurboShake128<const DOMAIN: u8 = 0x1f> = Keccak<168, 12, DOMAIN, 32>;
/// TurboSHAKE256 (RFC 9861) with a byte of domain separation, 0x01 to 0x7f.
pub type TurboShake256<const DOMAIN: u8 = 0x1f> = Keccak<136, 12, DOMAIN, 64>;

impl<const RATE: usize, const ROUNDS: usize, const DOMAIN: u8, const DIGEST: usize> Algorithm
    for Keccak<RATE, ROUNDS, DOMAIN, DIGEST>
{
    const NAME: &'static str = match (RATE, ROUNDS, DOMAIN) {
        (144, 24, 0x06) => "SHA3-224",
        (136, 24, 0x06) => "SHA3-256",
        (104, 24, 0x06) => "SHA3-384",
        (72, 24, 0x06) => "SHA3-512",
        (168, 24, 0x1f) => "SHAKE128",
        (136, 24, 0x1f) => "SHAKE256",
        (168, 12, _) => "TurboSHAKE128",
        (136, 12, _) => "TurboSHAKE256",
        _ => "Keccak",
    };
    #[expect(clippy::cast_possible_truncation, reason = "below 200, and 24 at most")]
    const IDENTITY: [u8; 4] = [7, RATE as u8, ROUNDS as u8, DOMAIN];
    type Compression = Sponge<RATE, ROUNDS>;
    type Digest = [u8; DIGEST];
    type Tail = [u8; RATE];

    #[inline(always)]
    fn initial() -> [u64; 25] {
        [0; 25]
    }

    #[inline(always)]
    fn pad(tail: &mut [u8], used: usize, _: u64) -> usize {
        tail[used] = DOMAIN;
        tail[RATE - 1] |= 0x80;
        RATE
    }

    #[inline(always)]
    fn output(state: &[u64], digest: &mut [u8]) {
        little_endian(state, digest);
    }
}

/// BLAKE2 on words `W` with a digest of `DIGEST` bytes (RFC 7693).
#[derive(Clone, Copy, Debug)]
pub struct Blake2Of<W, const DIGEST: usize>(core::marker::PhantomData<W>);

/// BLAKE2b with a digest of `DIGEST` bytes, at most 64.
pub type Blake2b<const DIGEST: usize = 64> = Blake2Of<u64, DIGEST>;
/// BLAKE2s with a digest of `DIGEST` bytes, at most 32.
pub type Blake2s<const DIGEST: usize = 32> = Blake2Of<u32, DIGEST>;

macro_rules! blake2 {
    ($word:ident, $name:literal, number $number:literal, block $block:literal) => {
        impl<const DIGEST: usize> Algorithm for Blake2Of<$word, DIGEST> {
            const NAME: &'static str = $name;
            const IDENTITY: [u8; 4] = [$number, DIGEST.to_le_bytes()[0], 0, 0];
            type Compression = Blake2<$word>;
            type Digest = [u8; DIGEST];
            type Tail = [u8; $block];
            const LAST_IS_SPECIAL: bool = true;

            #[inline(always)]
            fn initial() -> [$word; 11] {
                const { assert!(0 < DIGEST && DIGEST <= $block / 2) }
                let mut state = [0; 11];
                state[..8].copy_from_slice(&<$word as Blake2Word>::INITIAL);
                // The parameters (RFC 7693, 2.5): no tree, no key, and the length of the digest.
                let [digest, ..] = DIGEST.to_le_bytes();
                state[0] ^= 0x0101_0000 ^ $word::from(digest);
                state
            }

            #[inline(always)]
            fn pad(_: &mut [u8], _: usize, _: u64) -> usize {
                $block
            }

            #[inline(always)]
            fn count(state: &mut [$word; 11], taken: u64) {
                set_taken(state, taken.into());
                state[blake2::LAST] = 0;
            }

            /// The step adds a whole block to the bytes taken, which are all that there are then.
            #[inline(always)]
            fn before_last(state: &mut [$word; 11], length: u64) {
                set_taken(state, u128::from(length).wrapping_sub($block));
                state[blake2::LAST] = $word::MAX;
            }

            #[inline(always)]
            fn output(state: &[$word], digest: &mut [u8]) {
                little_endian(state, digest);
            }
        }
    };
}

blake2!(u64, "BLAKE2b", number 5, block 128);
blake2!(u32, "BLAKE2s", number 6, block 64);

/// The number of bytes, in two words.
#[inline(always)]
fn set_taken<W: Word>(state: &mut [W; 11], taken: u128) {
    let taken = taken.to_le_bytes();
    state[blake2::TAKEN] = W::read_le(&taken);
    state[blake2::TAKEN + 1] = W::read_le(&taken[W::BYTES..]);
}
