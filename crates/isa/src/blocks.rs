//! The vector traits for AES and for carry-less products: the smallest set of operations that every
//! mode needs.
//!
//! The unit is *whole-cipher operations on `N` vectors*, not single rounds: x86 adds the round key
//! last (AESENC) and Arm first (AESE), so only the whole cipher is natural on both.

use crate::{Block, MOST_LANES, Row, RowMut};

/// An algorithm that is generic over the level: one body, compiled once per level.
///
/// `run` must be `#[inline(always)]`; see the crate documentation.
pub trait Kernel {
    /// What the algorithm returns.
    type Out;
    /// The body.
    fn run<S: Clmul>(self, s: S) -> Self::Out;
}

pub(crate) mod sealed {
    /// Only this crate adds levels, so that each holds the contract of its token.
    #[expect(unnameable_types, reason = "sealed: being unnameable is its purpose")]
    pub trait Sealed {}
}

/// The round keys of `N` vectors for a cipher with `R` round keys.
pub trait RoundKeys<S: Blocks>: Copy {
    /// The key of `round` (0 is the whitening key) for vector number `vector`.
    fn get(&self, s: S, round: usize, vector: usize) -> S::K;
}

/// One key for all lanes, kept in registers.
#[derive(Clone, Copy)]
pub struct SameKey<K, const R: usize>(pub [K; R]);

impl<S: Blocks, const R: usize> RoundKeys<S> for SameKey<S::K, R> {
    #[inline(always)]
    fn get(&self, _: S, round: usize, _: usize) -> S::K {
        self.0[round]
    }
}

/// A key for each lane: a transposed table, `table[round][lane]`, read as it is needed.
#[derive(Clone, Copy)]
pub struct LaneKeys<'k, const LANES: usize, const R: usize>(pub &'k [[Block; LANES]; R]);

impl<S: Blocks, const LANES: usize, const R: usize> RoundKeys<S> for LaneKeys<'_, LANES, R> {
    #[inline(always)]
    fn get(&self, s: S, round: usize, vector: usize) -> S::K {
        s.lane_keys(&self.0[round][vector * S::WIDTH..][..S::WIDTH])
    }
}

/// A key of its own for every lane, read where its owner keeps it. For a block or so under each key,
/// where copying the keys into the table of [`LaneKeys`] would cost more than the encryption.
#[derive(Clone, Copy)]
pub struct OwnKeys<'k, const LANES: usize, const R: usize>(pub [&'k [Block; R]; LANES]);

impl<S: Blocks, const LANES: usize, const R: usize> RoundKeys<S> for OwnKeys<'_, LANES, R> {
    #[inline(always)]
    fn get(&self, s: S, round: usize, vector: usize) -> S::K {
        // A gather of 16-byte loads for each round and vector: at four lanes, one load and three
        // inserts.
        let mut blocks = [&self.0[0][round]; MOST_LANES];
        for lane in 0..S::WIDTH {
            blocks[lane] = &self.0[vector * S::WIDTH + lane][round];
        }
        s.as_keys(s.load_each(&blocks))
    }
}

/// Work that is done between the rounds of an encryption: see [`Blocks::encrypt_beside`].
pub trait Beside<S: Blocks> {
    /// What belongs behind round `round`, from 1 to `R` - 2. `#[inline(always)]`, like a kernel.
    fn step(&mut self, s: S, round: usize);
}

/// Vectors of AES blocks at one level.
///
/// `V` holds [`WIDTH`](Blocks::WIDTH) blocks; block *i* of a vector is called its lane *i*.
/// Slices that are shorter than an operation needs make it panic; they never make it read or write
/// elsewhere.
pub trait Blocks: Copy + sealed::Sealed {
    /// A vector of `WIDTH` blocks.
    type V: Copy;
    /// A round key in the form that the rounds take: a vector, or bit planes at the portable level.
    type K: Copy;
    /// The same instruction set at one block a vector, for tails and for few chains.
    type Narrow: Clmul;
    /// The same instruction set at two blocks a vector, or at one if it has no more: for states that
    /// are two blocks wide.
    type Pair: Clmul;
    /// Blocks in a vector.
    const WIDTH: usize;
    /// Vectors of independent work that are worth having in flight, at most 8: with a latency of four
    /// cycles a round and two rounds started a cycle, 4 * 2 fill the units.
    const VECTORS: usize;

    /// The narrow form of this level.
    fn narrow(self) -> Self::Narrow;
    /// The form of this level for pairs.
    fn pair(self) -> Self::Pair;

    /// `v` through an empty `asm!`: the optimiser keeps such blocks in the order of the program, so
    /// what makes `v` comes before it and what uses `v` behind it. Orders instructions; changes no
    /// value.
    fn here(self, v: Self::V) -> Self::V;

    /// Loads the first `WIDTH` blocks of `src`.
    fn load(self, src: &[Block]) -> Self::V;
    /// Stores to the first `WIDTH` blocks of `dst`.
    fn store(self, v: Self::V, dst: &mut [Block]);
    /// Lane *i* = `src[at + i * stride]`.
    fn load_strided(self, src: &[Block], at: usize, stride: usize) -> Self::V;
    /// `dst[at + i * stride]` = lane *i*.
    fn store_strided(self, v: Self::V, dst: &mut [Block], at: usize, stride: usize);
    /// Vector number `vector` of a row.
    fn gather<const N: usize>(self, row: Row<'_, '_, N>, vector: usize) -> Self::V;
    /// Vector number `vector` of a row = `v`. All its lanes have a buffer.
    fn scatter<const N: usize>(self, v: Self::V, row: &mut RowMut<'_, '_, N>, vector: usize);
    /// Lanes 0 to `count` - 1 of the last vector of a row = those of `v`.
    fn scatter_last<const N: usize>(self, v: Self::V, row: &mut RowMut<'_, '_, N>, count: usize);
    /// `WIDTH` rows of vector number `vector`: vector *j* of the result is row *j*. Where
    /// [`gather`](Blocks::gather) makes a load of 16 bytes for each block, this loads `WIDTH` blocks
    /// of a lane at once and transposes the square of blocks in registers. Only the first `WIDTH`
    /// vectors of the result count.
    fn gather_square<const N: usize>(self, rows: Row<'_, '_, N>, vector: usize) -> [Self::V; 4];
    /// `WIDTH` rows of vector number `vector` = the first `WIDTH` vectors of `v`. All its lanes have a
    /// buffer.
    fn scatter_square<const N: usize>(
        self,
        v: [Self::V; 4],
        rows: &mut RowMut<'_, '_, N>,
        vector: usize,
    );
    /// Lanes 0 to `count` - 1 of `WIDTH` rows of the last vector = those of the first `WIDTH` vectors
    /// of `v`.
    fn scatter_square_last<const N: usize>(
        self,
        v: [Self::V; 4],
        rows: &mut RowMut<'_, '_, N>,
        count: usize,
    );

    /// Lane *i* = `blocks[i]`, for blocks that lie anywhere.
    fn load_each(self, blocks: &[&Block]) -> Self::V;

    /// The first bytes of a vector from `src`, at most `16 * WIDTH`, and zeros behind them.
    fn load_part(self, src: &[u8]) -> Self::V;
    /// Stores the first `dst.len()` bytes of a vector, at most `16 * WIDTH`.
    fn store_part(self, v: Self::V, dst: &mut [u8]);
    /// The first `bytes` bytes of a vector, and zeros behind them.
    fn keep(self, v: Self::V, bytes: usize) -> Self::V;

    /// All lanes zero.
    fn zero(self) -> Self::V;
    /// All lanes = `block`.
    fn splat(self, block: &Block) -> Self::V;
    /// All lanes = the block of these halves, as little-endian numbers: for blocks that are computed,
    /// which would go through memory otherwise.
    fn splat_halves(self, low: u64, high: u64) -> Self::V;
    /// All lanes = `v`.
    fn splat_narrow(self, v: <Self::Narrow as Blocks>::V) -> Self::V;
    /// The last lane as a vector of the narrow form, without the way through memory that
    /// [`last_lane`](Blocks::last_lane) takes.
    fn last_narrow(self, v: Self::V) -> <Self::Narrow as Blocks>::V;
    /// `v` in the first lane, zero in the others.
    fn in_first_lane(self, v: <Self::Narrow as Blocks>::V) -> Self::V;
    /// The exclusive or of all lanes.
    fn sum_lanes(self, v: Self::V) -> <Self::Narrow as Blocks>::V;

    /// Bitwise and.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// Adds the 32-bit little-endian words of each block, modulo 2^32.
    fn add_words(self, a: Self::V, b: Self::V) -> Self::V;
    /// The 16 bytes of each block in reverse order.
    fn reverse(self, v: Self::V) -> Self::V;
    /// The two halves of each block exchanged.
    fn swap_halves(self, v: Self::V) -> Self::V;
    /// Each block moved up by `N` bytes (byte 0 goes to byte `N`), zeros behind it.
    fn bytes_up<const N: i32>(self, v: Self::V) -> Self::V;
    /// Each block moved down by `N` bytes (byte `N` goes to byte 0), zeros behind it.
    fn bytes_down<const N: i32>(self, v: Self::V) -> Self::V;
    /// Each half of a block, as a little-endian number, shifted left by `N` bits.
    fn shift_left<const N: u32>(self, v: Self::V) -> Self::V;
    /// Each half of a block, as a little-endian number, shifted right by `N` bits.
    fn shift_right<const N: u32>(self, v: Self::V) -> Self::V;
    /// Like [`shift_left`](Blocks::shift_left), block by block by the number of bits that stands in
    /// both halves of the block of `counts`. 64 and more give zero.
    fn shift_left_by(self, v: Self::V, counts: Self::V) -> Self::V;
    /// Like [`shift_right`](Blocks::shift_right), with counts as
    /// [`shift_left_by`](Blocks::shift_left_by) takes them.
    fn shift_right_by(self, v: Self::V, counts: Self::V) -> Self::V;

    /// Twice each block: a little-endian polynomial over GF(2) times x, modulo
    /// x^128 + x^7 + x^2 + x + 1. `carries` comes from [`carries`](Blocks::carries) of the first block
    /// of a chain of at most 31 doublings, of which each leaves there what the next needs.
    fn double(self, v: Self::V, carries: &mut Self::V) -> Self::V;
    /// What [`double`](Blocks::double) needs to begin with `v`.
    fn carries(self, v: Self::V) -> Self::V;

    /// Bitwise exclusive or.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// Lane 0 = the last lane of `before`, lane *i* = lane *i - 1* of `v`: the previous ciphertext
    /// blocks in CBC decryption.
    fn shift_in(self, before: Self::V, v: Self::V) -> Self::V;
    /// A vector with `block` in its last lane, for the first [`shift_in`](Blocks::shift_in).
    fn in_last_lane(self, block: &Block) -> Self::V;
    /// The last lane.
    fn last_lane(self, v: Self::V) -> Block;

    /// Running counters: lane *i* stands for the big-endian number `first` + *i*. Only the low 64
    /// bits count; the caller splits a run where they would wrap.
    fn counters(self, first: &Block) -> Self::V;
    /// Running counters: each lane on its own, from its counter block.
    fn lane_counters(self, blocks: Self::V) -> Self::V;
    /// Adds `n` to every running counter.
    fn counters_add(self, c: Self::V, n: u64) -> Self::V;
    /// The counter blocks, big-endian, as the cipher takes them.
    fn counter_blocks(self, c: Self::V) -> Self::V;

    /// One round key for all lanes.
    fn key(self, key: &Block) -> Self::K;
    /// A round key for each lane, from `WIDTH` blocks.
    fn lane_keys(self, keys: &[Block]) -> Self::K;

    /// The blocks of a vector as a round key for each lane.
    fn as_keys(self, v: Self::V) -> Self::K;

    /// One encryption round on each lane: SubBytes, ShiftRows, MixColumns, exclusive or with `key`.
    fn round(self, v: Self::V, key: Self::V) -> Self::V;
    /// One encryption [`round`](Blocks::round) on each lane of `N` vectors.
    #[inline(always)]
    fn rounds<const N: usize>(self, mut v: [Self::V; N], keys: [Self::V; N]) -> [Self::V; N] {
        for i in 0..N {
            v[i] = self.round(v[i], keys[i]);
        }
        v
    }

    /// Encrypts `x ^ y` lane by lane, with `R` round keys: `y` is the part that may arrive late (the
    /// chain), `x` the part that is there early (the plaintext).
    fn encrypt_xor<const N: usize, const R: usize>(
        self,
        x: [Self::V; N],
        y: [Self::V; N],
        keys: impl RoundKeys<Self>,
    ) -> [Self::V; N];
    /// Encrypts `N` vectors with `R` round keys.
    fn encrypt<const N: usize, const R: usize>(
        self,
        v: [Self::V; N],
        keys: impl RoundKeys<Self>,
    ) -> [Self::V; N];
    /// Encrypts two groups of `N` vectors, vector `i` of both with the keys of vector `i`: each of them is
    /// read once.
    #[inline(always)]
    fn encrypt_two<const N: usize, const R: usize>(
        self,
        a: [Self::V; N],
        b: [Self::V; N],
        keys: impl RoundKeys<Self>,
    ) -> [[Self::V; N]; 2] {
        [self.encrypt::<N, R>(a, keys), self.encrypt::<N, R>(b, keys)]
    }
    /// Like [`encrypt`](Blocks::encrypt), for vectors to which round key 0 has been added already.
    fn encrypt_whitened<const N: usize, const R: usize>(
        self,
        v: [Self::V; N],
        keys: impl RoundKeys<Self>,
    ) -> [Self::V; N];
    /// [`encrypt_whitened`](Blocks::encrypt_whitened), and exclusive or with `next`, which is there
    /// early. The last round adds its key; `next` is added to that key beforehand. So a chain whose
    /// ciphertext is not needed (CBC-MAC) has no exclusive or between the last round of a block and
    /// the first of the next: one cycle a block less.
    #[inline(always)]
    fn encrypt_whitened_xor<const N: usize, const R: usize>(
        self,
        v: [Self::V; N],
        next: [Self::V; N],
        keys: impl RoundKeys<Self>,
    ) -> [Self::V; N] {
        let mut v = self.encrypt_whitened::<N, R>(v, keys);
        for i in 0..N {
            v[i] = self.xor(v[i], next[i]);
        }
        v
    }
    /// Like [`encrypt`](Blocks::encrypt), with other work between the rounds: it fills the units that
    /// AES leaves free.
    #[inline(always)]
    fn encrypt_beside<const N: usize, const R: usize>(
        self,
        v: [Self::V; N],
        keys: impl RoundKeys<Self>,
        beside: &mut impl Beside<Self>,
    ) -> [Self::V; N] {
        let v = self.encrypt::<N, R>(v, keys);
        for round in 1..R - 1 {
            beside.step(self, round);
        }
        v
    }
    /// Decrypts `N` vectors with `R` round keys of the equivalent inverse cipher (FIPS 197, 5.3.5).
    fn decrypt<const N: usize, const R: usize>(
        self,
        v: [Self::V; N],
        keys: impl RoundKeys<Self>,
    ) -> [Self::V; N];

    /// An encryption up to its last round key, which [`encrypt_end`](Blocks::encrypt_end) adds: for modes
    /// that add a mask behind the cipher, which that key can bring along, and that have work of their
    /// own for each vector. The rounds stay in order, vector beside vector, however many registers the
    /// mode needs; the compiler would finish one vector after the other then.
    fn encrypt_begin<const N: usize, const R: usize>(
        self,
        v: [Self::V; N],
        keys: impl RoundKeys<Self>,
    ) -> [Self::V; N];
    /// The end of what [`encrypt_begin`](Blocks::encrypt_begin) began.
    fn encrypt_end(self, v: Self::V, last: Self::V) -> Self::V;
    /// A decryption up to its last round key: see [`encrypt_begin`](Blocks::encrypt_begin).
    fn decrypt_begin<const N: usize, const R: usize>(
        self,
        v: [Self::V; N],
        keys: impl RoundKeys<Self>,
    ) -> [Self::V; N];
    /// The end of what [`decrypt_begin`](Blocks::decrypt_begin) began.
    fn decrypt_end(self, v: Self::V, last: Self::V) -> Self::V;

    /// SubWord of the last word of each block, in all its words; after RotWord and with `constant` added
    /// to its first byte if `ROTATE` (FIPS 197, 5.2). For keys that are expanded side by side.
    fn sub_last_words<const ROTATE: bool>(self, v: Self::V, constant: u8) -> Self::V;
    /// The key expansion of FIPS 197, 5.2, for a key of 4 * (`R` - 7) bytes: in place, since a schedule
    /// that is returned leaves copies behind.
    fn expand<const R: usize>(self, key: &[u8], keys: &mut [Block; R]);
    /// `InvMixColumns` of one block: turns an encryption round key into a decryption round key.
    fn inv_mix_columns(self, block: Block) -> Block;
}

/// Carry-less products (polynomials over GF(2)) of the 64-bit halves of blocks, lane by lane: for
/// GHASH, POLYVAL, XTS tweaks and CRC.
///
/// The *low* half of a block is its first eight bytes, little-endian: bit *i* of the number is the
/// coefficient of x^*i*. A product of two halves fills a block.
pub trait Clmul: Blocks {
    /// low(a) * low(b)
    fn clmul_low(self, a: Self::V, b: Self::V) -> Self::V;
    /// high(a) * high(b)
    fn clmul_high(self, a: Self::V, b: Self::V) -> Self::V;
    /// low(a) * high(b)
    fn clmul_low_high(self, a: Self::V, b: Self::V) -> Self::V;
    /// high(a) * low(b)
    fn clmul_high_low(self, a: Self::V, b: Self::V) -> Self::V;
    /// Each byte of `v` times the 8 by 8 matrix over GF(2) in the same half of `matrix`: bit *i* is
    /// the parity of what the byte and the matrix's byte 7 - *i* have in common. Fast where
    /// [`matrices_are_fast`](crate::matrices_are_fast).
    fn times_matrix(self, v: Self::V, matrix: Self::V) -> Self::V;
}
