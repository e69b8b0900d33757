//! Products in GF(2^128) as POLYVAL has them (RFC 8452, 3): little-endian blocks, modulus
//! x^128 + x^127 + x^126 + x^121 + 1, and a factor x^-128 in every product.
//!
//! GHASH is the same on blocks whose bytes are reversed, with a key that is multiplied by x (RFC 8452,
//! appendix A), so both share this file.
//!
//! The hash of blocks X_1 to X_n is Y = X_1 H^n + X_2 H^(n-1) + ... + X_n H. Products are summed
//! before they are reduced: a sum of many costs one reduction. With a = a_0 + a_1 x^64, a product is
//! a_0 b_0 + ((a_0 + a_1)(b_0 + b_1) + a_0 b_0 + a_1 b_1) x^64 + a_1 b_1 x^128 (Karatsuba): three
//! carry-less products of halves instead of four, because they are what the hardware starts least
//! often: every second cycle at any width, where measured, with a latency of five.

use lanelock_isa::{AesClmul, Block, Blocks, Part, WIDEST, wipe};

/// x^63 + x^62 + x^57: what bit 64 of a number becomes when the modulus is added to clear bit 0.
const FOLD: Block = 0xc200_0000_0000_0000_u128.to_le_bytes();

/// The most vectors of a group: see [`Powers`].
pub const VECTORS: usize = 8;

/// The highest power kept.
const HIGHEST: usize = most_blocks(WIDEST);

/// The most blocks of a sum with one reduction, with vectors of `width` blocks: a group and a vector.
pub const fn most_blocks(width: usize) -> usize {
    (VECTORS + 1) * width
}

/// A sum of products that is not reduced, in each lane: of the low halves, of the high halves, and of
/// the sums of both halves.
#[derive(Clone, Copy)]
pub struct Sum<V> {
    low: V,
    both: V,
    high: V,
}

/// A factor, and in its low half the sum of its halves.
#[derive(Clone, Copy)]
pub struct Factor<V>(V, V);

impl<V: Copy> Factor<V> {
    #[inline(always)]
    pub fn new<S: AesClmul<V = V>>(s: S, v: V) -> Self {
        Self(v, s.xor(v, s.swap_halves(v)))
    }

    #[inline(always)]
    pub fn zero<S: AesClmul<V = V>>(s: S) -> Self {
        Self(s.zero(), s.zero())
    }

    /// A factor for each lane.
    #[inline(always)]
    pub fn join_lanes<S: AesClmul<V = V>>(
        s: S,
        factors: [Factor<<S::Narrow as Blocks>::V>; WIDEST],
    ) -> Self {
        let (mut v, mut both) = ([factors[0].0; WIDEST], [factors[0].1; WIDEST]);
        for lane in 0..WIDEST {
            (v[lane], both[lane]) = (factors[lane].0, factors[lane].1);
        }
        Self(s.join_lanes(v), s.join_lanes(both))
    }

    /// The last lane of `before`, and all of these but the last.
    #[must_use]
    #[inline(always)]
    pub fn shift_in<S: AesClmul<V = V>>(self, s: S, before: Self) -> Self {
        Self(s.shift_in(before.0, self.0), s.shift_in(before.1, self.1))
    }

    /// The same factor for all lanes.
    #[inline(always)]
    pub fn splat<S: AesClmul<V = V>>(s: S, factor: Factor<<S::Narrow as Blocks>::V>) -> Self {
        Self(s.splat_narrow(factor.0), s.splat_narrow(factor.1))
    }
}

impl<V: Copy> Sum<V> {
    #[inline(always)]
    pub fn zero<S: AesClmul<V = V>>(s: S) -> Self {
        Self { low: s.zero(), both: s.zero(), high: s.zero() }
    }

    /// Adds `a` * `b`.
    #[inline(always)]
    pub fn add<S: AesClmul<V = V>>(&mut self, s: S, a: V, b: Factor<V>) {
        s.run_part(Add(self, a, b));
    }

    /// [`add`](Self::add) for `N` products, the results through an empty `asm!`: the products stay between the AES
    /// rounds where they were written (see [`Blocks::here`]).
    #[inline(always)]
    pub fn add_here<S: AesClmul<V = V>, const N: usize>(
        &mut self,
        s: S,
        products: [(V, Factor<V>); N],
    ) {
        for i in 0..N {
            self.add(s, products[i].0, products[i].1);
        }
        self.low = s.here(self.low);
        self.both = s.here(self.both);
        self.high = s.here(self.high);
    }

    /// A sum for each lane: lane *i* is what all lanes of sum *i* together stand for. So one reduction is enough
    /// for as many messages as there are lanes.
    #[inline(always)]
    pub fn of_lanes<S: AesClmul<V = V>>(s: S, sums: [Self; WIDEST]) -> Self {
        let [mut low, mut both, mut high] = [[sums[0].low; WIDEST]; 3];
        for i in 0..S::WIDTH {
            (low[i], both[i], high[i]) = (sums[i].low, sums[i].both, sums[i].high);
        }
        Self { low: s.sums(low), both: s.sums(both), high: s.sums(high) }
    }

    /// The element that all lanes together stand for.
    #[inline(always)]
    pub fn finish<S: AesClmul<V = V>>(self, s: S) -> <S::Narrow as Blocks>::V {
        s.sum_lanes(self.reduce(s))
    }

    /// The element that the sum stands for, in each lane, times x^-128: 64 bits from below are folded
    /// upwards, twice.
    #[inline(always)]
    pub fn reduce<S: AesClmul<V = V>>(self, s: S) -> V {
        s.run_part(Reduce(self))
    }
}

/// Adds a product to a sum.
struct Add<'s, V>(&'s mut Sum<V>, V, Factor<V>);

impl<S: AesClmul> Part<S> for Add<'_, S::V> {
    type Out = ();

    #[inline(always)]
    fn run(self, s: S) {
        // Three sums, so three chains of exclusive ors; the products do not wait for one another.
        let Self(sum, a, Factor(b, b_both)) = self;
        let a_both = s.xor(a, s.swap_halves(a));
        sum.low = s.xor(sum.low, s.clmul_low(a, b));
        sum.high = s.xor(sum.high, s.clmul_high(a, b));
        sum.both = s.xor(sum.both, s.clmul_low(a_both, b_both));
    }
}

/// Reduces a sum: see [`Sum::reduce`].
struct Reduce<V>(Sum<V>);

impl<S: AesClmul> Part<S> for Reduce<S::V> {
    type Out = S::V;

    #[inline(always)]
    fn run(self, s: S) -> S::V {
        let Self(sum) = self;
        // The sum is T = low + M x^64 + high x^128, M = both + high + low. Adding a multiple of the
        // modulus, the low 64 bits l of T become zero: l (x^128 + x^127 + x^126 + x^121 + 1) leaves
        // l (x^63 + x^62 + x^57) x^64 + l x^128. What is left above x^64 is mid = M + (upper half of
        // low) + l FOLD + l x^64, in which `swap_halves` puts the upper half of `low` down and l up.
        // The same once more with the low half of `mid` divides by x^128 in all. Two products, the
        // second of which waits for the first.
        let fold = s.splat(&FOLD);
        let cross = s.xor(s.xor(sum.both, sum.high), s.xor(sum.low, s.swap_halves(sum.low)));
        let mid = s.xor(cross, s.clmul_low(sum.low, fold));
        s.xor(s.xor(sum.high, s.swap_halves(mid)), s.clmul_low(mid, fold))
    }
}

/// The product of `a` and `b` in each lane.
#[inline(always)]
pub fn multiply<S: AesClmul>(s: S, a: S::V, b: Factor<S::V>) -> S::V {
    let mut sum = Sum::zero(s);
    sum.add(s, a, b);
    sum.reduce(s)
}

/// The square of `a` in each lane: two products, since those of different halves are there twice and cancel out.
#[inline(always)]
fn square<S: AesClmul>(s: S, a: S::V) -> S::V {
    let (low, high) = (s.clmul_low(a, a), s.clmul_high(a, a));
    Sum { low, both: s.xor(low, high), high }.reduce(s)
}

/// Powers of the key, highest first, so that they lie as the blocks that they belong to: the last *n*
/// of them go with a message of *n* blocks. Zeroised on drop. So aligned, no load of a whole group
/// crosses a cache line.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Powers {
    /// The highest exponent first; behind exponent 1 zeros, for the unused lanes of a last vector.
    table: [Block; HIGHEST + 4],
    /// The sums of their halves.
    both: [Block; HIGHEST + 4],
}

impl Powers {
    /// No powers yet: see [`fill`](Self::fill). A constant, since a value that is returned is copied.
    pub const NONE: Self = Self { table: [[0; 16]; HIGHEST + 4], both: [[0; 16]; HIGHEST + 4] };

    /// Sets the powers of `key` that level `S` uses: [`most_blocks`].
    #[inline(always)]
    pub fn fill<S: AesClmul>(&mut self, s: S, key: Block) {
        self.fill_some(s, key, most_blocks(S::WIDTH));
    }

    /// Sets the powers of `key` up to `count`, which is at most [`most_blocks`], and those that fill the last
    /// vector.
    #[inline(always)]
    pub fn fill_some<S: AesClmul>(&mut self, s: S, key: Block, count: usize) {
        // Products that wait for few others: one vector, the powers from WIDTH down to 1, in registers, since a
        // load of what was just stored in pieces would wait for all stores before it.
        let n = s.narrow();
        let mut powers = [n.load(&[key]); WIDEST];
        let mut vector = s.splat_narrow(powers[0]);
        for i in 1..S::WIDTH {
            let [a, b] = [powers[(i - 1) / 2], powers[i / 2]];
            powers[i] = if i % 2 == 1 { square(n, a) } else { multiply(n, a, Factor::new(n, b)) };
            vector = s.shift_in(s.splat_narrow(powers[i]), vector);
        }
        self.set(s, 0, vector);
        // Vector i is vector i - m times H^(m WIDTH), where m is a power of two. Squares take less time than
        // the products that go on beside them.
        let mut highest = powers[S::WIDTH - 1];
        let mut step = Factor::new(s, s.splat_narrow(highest));
        for i in 1..count.div_ceil(S::WIDTH) {
            let m = 1 << i.ilog2();
            if i == m && i > 1 {
                highest = square(n, highest);
                step = Factor::new(s, s.splat_narrow(highest));
            }
            let before = s.load(&self.table[HIGHEST - (i - m + 1) * S::WIDTH..]);
            self.set(s, i, multiply(s, before, step));
        }
    }

    /// Sets vector `i`, the powers from (`i` + 1) * WIDTH down to `i` * WIDTH + 1.
    #[inline(always)]
    fn set<S: AesClmul>(&mut self, s: S, i: usize, powers: S::V) {
        let at = HIGHEST - (i + 1) * S::WIDTH;
        let Factor(_, both) = Factor::new(s, powers);
        s.store(powers, &mut self.table[at..]);
        s.store(both, &mut self.both[at..]);
    }

    /// The powers that go with the last `count` blocks of a message, and zeros.
    #[inline(always)]
    pub fn last(&self, count: usize) -> Factors<'_> {
        Factors { table: &self.table[HIGHEST - count..], both: &self.both[HIGHEST - count..] }
    }
}

/// Powers as they go with the blocks of a message.
#[derive(Clone, Copy)]
pub struct Factors<'p> {
    table: &'p [Block],
    both: &'p [Block],
}

impl Factors<'_> {
    /// Those of `count` blocks from the one at `at` on.
    #[inline(always)]
    fn part(&self, at: usize, count: usize) -> Self {
        Self { table: &self.table[at..][..count], both: &self.both[at..][..count] }
    }

    /// Those that go with the vector at block `at`.
    #[inline(always)]
    pub fn at<S: Blocks>(&self, s: S, at: usize) -> Factor<S::V> {
        Factor(s.load(&self.table[at..]), s.load(&self.both[at..]))
    }

    /// That of the block at `at` for all lanes.
    #[inline(always)]
    pub fn splat<S: Blocks>(&self, s: S, at: usize) -> Factor<S::V> {
        Factor(s.splat(&self.table[at]), s.splat(&self.both[at]))
    }
}

impl Drop for Powers {
    fn drop(&mut self) {
        wipe(self.table.as_flattened_mut());
        wipe(self.both.as_flattened_mut());
    }
}

/// An element from a block, and back: with its bytes reversed (GHASH) or as it is (POLYVAL).
#[inline(always)]
pub fn convert<S: Blocks, const REVERSED: bool>(s: S, v: S::V) -> S::V {
    if REVERSED { s.reverse(v) } else { v }
}

/// A running hash over blocks that are known in number, [`most_blocks`] at most: one reduction for all.
pub struct ProductRun<'p, S: AesClmul> {
    s: S,
    sum: Sum<S::V>,
    powers: Factors<'p>,
    at: usize,
    /// What has been hashed before; goes into the first vector.
    before: S::V,
}

impl<'p, S: AesClmul> ProductRun<'p, S> {
    /// A run of `count` blocks, one at least, behind the hash `before` in the first lane. Or behind those of lanes,
    /// each over every `WIDTH`th block with powers of H^`WIDTH`: then `count` is `WIDTH` at least.
    #[inline(always)]
    pub fn new(s: S, powers: &'p Powers, count: usize, before: S::V) -> Self {
        Self { s, sum: Sum::zero(s), powers: powers.last(count), at: 0, before }
    }

    /// The next vector of elements, of which `blocks` count; the others are zero.
    #[inline(always)]
    pub fn add(&mut self, v: S::V, blocks: usize) {
        let s = self.s;
        // Zero behind the first block, so that no branch is needed.
        let v = s.xor(v, self.before);
        self.before = s.zero();
        self.sum.add(s, v, self.powers.at(s, self.at));
        self.at += blocks;
    }

    /// The next whole vectors of elements.
    #[inline(always)]
    pub fn add_vectors<const N: usize>(&mut self, mut v: [S::V; N]) {
        let s = self.s;
        v[0] = s.xor(v[0], self.before);
        self.before = s.zero();
        let powers = self.powers.part(self.at, N * S::WIDTH);
        for i in 0..N {
            self.sum.add(s, v[i], powers.at(s, i * S::WIDTH));
        }
        self.at += N * S::WIDTH;
    }

    /// The next element alone.
    #[inline(always)]
    pub fn add_one(&mut self, v: <S::Narrow as Blocks>::V) {
        let s = self.s;
        self.add(s.in_first_lane(v), 1);
    }

    /// Bytes, padded with zeros to whole blocks.
    #[inline(always)]
    pub fn add_bytes<const REVERSED: bool>(&mut self, bytes: &[u8]) {
        let s = self.s;
        for chunk in bytes.chunks(16 * S::WIDTH) {
            self.add(convert::<S, REVERSED>(s, s.load_part(chunk)), chunk.len().div_ceil(16));
        }
    }

    /// The hash.
    #[inline(always)]
    pub fn finish(self) -> <S::Narrow as Blocks>::V {
        self.sum.finish(self.s)
    }
}

/// Hashes a group of [`VECTORS`] vectors.
#[inline(always)]
pub fn hash_group<S: AesClmul, const REVERSED: bool>(
    s: S,
    powers: &Powers,
    y: S::V,
    group: &[Block],
) -> <S::Narrow as Blocks>::V {
    // Block i of a group of n times H^(n - i), lane by lane; the lanes are added up in the end. The
    // hash so far belongs to the first block. Registers: three sums, and the temporaries of a few
    // products; powers are operands in memory. 24 products, and two of the reduction: 52 cycles.
    let powers = powers.last(VECTORS * S::WIDTH);
    let mut sum = Sum::zero(s);
    for i in 0..VECTORS {
        let mut v = convert::<S, REVERSED>(s, s.load(&group[i * S::WIDTH..]));
        if i == 0 {
            v = s.xor(v, y);
        }
        sum.add(s, v, powers.at(s, i * S::WIDTH));
    }
    sum.finish(s)
}

/// Hashes bytes, padded with zeros to whole blocks, behind the hash `y`.
#[inline(always)]
pub fn hash_bytes<S: AesClmul, const REVERSED: bool>(
    s: S,
    powers: &Powers,
    mut y: <S::Narrow as Blocks>::V,
    bytes: &[u8],
) -> <S::Narrow as Blocks>::V {
    let group = VECTORS * S::WIDTH * 16;
    let (groups, rest) = bytes.split_at(bytes.len() / group * group);
    for group in groups.chunks_exact(group) {
        y = hash_group::<S, REVERSED>(s, powers, s.in_first_lane(y), group.as_chunks().0);
    }
    if !rest.is_empty() {
        let mut run = ProductRun::new(s, powers, rest.len().div_ceil(16), s.in_first_lane(y));
        run.add_bytes::<REVERSED>(rest);
        y = run.finish();
    }
    y
}

/// Multiplies an element by x: from the key of GHASH to the key here (RFC 8452, appendix A), in
/// constant time.
pub fn times_x(block: Block) -> Block {
    let number = u128::from_le_bytes(block);
    let carry = (number >> 127).wrapping_neg();
    ((number << 1) ^ (carry & (0xc200_0000_0000_0000_0000_0000_0000_0001))).to_le_bytes()
}
