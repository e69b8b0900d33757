//! Products in GF(2^128) as POLYVAL has them (RFC 8452, 3): little-endian blocks, modulus
//! x^128 + x^127 + x^126 + x^121 + 1, and a factor x^-128 in every product.
//!
//! GHASH is the same on blocks whose bytes are reversed, with a key that is multiplied by x (RFC 8452,
//! appendix A), so both share this file.
//!
//! The hash of blocks X_1 to X_n is Y = X_1 H^n + X_2 H^(n-1) + ... + X_n H. Products are summed
//! before they are reduced: a sum of many costs one reduction. Two forms of a product, with a = a_0 + a_1 x^64:
//! - *four*: a b x^-64 = a_0 (b x^-64) + a_1 b, four carry-less products of halves, whose sum is 192 bits wide: one more
//!   product reduces it. With b x^-64 beside b that is the least work in all, and the least to wait for.
//! - *three* (Karatsuba): a b = a_0 b_0 + ((a_0 + a_1)(b_0 + b_1) + a_0 b_0 + a_1 b_1) x^64 + a_1 b_1 x^128, and two more
//!   products reduce the sum. For groups of long texts on processors that start a carry-less product in every second
//!   cycle only, at any width (AMD's, with a latency of five); on others where nothing but products takes their port.

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

/// Whether a sum has the form of three products at level `S`: at the portable level, where a product is a hundred
/// instructions, all have.
const fn is_three<S: Blocks, const THREE: bool>() -> bool {
    THREE || S::VECTORS == 1
}

/// A sum of products in each lane that is not reduced. In the form of four products it is low + high x^64; in that of
/// `THREE` low + M x^64 + high x^128, where M = both + low + high.
#[derive(Clone, Copy)]
pub struct Sum<V, const THREE: bool = false> {
    low: V,
    /// Of the products of sums of halves. Unused in the form of four.
    both: V,
    high: V,
}

/// A factor, and beside it: itself times x^-64, or for the form of `THREE` products the sum of its halves, in the low half.
#[derive(Clone, Copy)]
pub struct Factor<V, const THREE: bool = false>(V, V);

impl<V: Copy, const THREE: bool> Factor<V, THREE> {
    #[inline(always)]
    pub fn new<S: AesClmul<V = V>>(s: S, v: V) -> Self {
        let swapped = s.swap_halves(v);
        if is_three::<S, THREE>() {
            Self(v, s.xor(v, swapped))
        } else {
            // As in `Reduce`, of v alone.
            Self(v, s.xor(swapped, s.clmul_low(v, s.splat(&FOLD))))
        }
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

impl<V: Copy, const THREE: bool> Sum<V, THREE> {
    #[inline(always)]
    pub fn zero<S: AesClmul<V = V>>(s: S) -> Self {
        Self { low: s.zero(), both: s.zero(), high: s.zero() }
    }

    /// Adds `a` * `b`.
    #[inline(always)]
    pub fn add<S: AesClmul<V = V>>(&mut self, s: S, a: V, b: Factor<V, THREE>) {
        s.run_part(Add(self, a, b));
    }

    /// [`add`](Self::add) for `N` products, the results through an empty `asm!`: the products stay between the AES
    /// rounds where they were written (see [`Blocks::here`]).
    #[inline(always)]
    pub fn add_here<S: AesClmul<V = V>, const N: usize>(
        &mut self,
        s: S,
        products: [(V, Factor<V, THREE>); N],
    ) {
        for i in 0..N {
            self.add(s, products[i].0, products[i].1);
        }
        self.low = s.here(self.low);
        if is_three::<S, THREE>() {
            self.both = s.here(self.both);
        }
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
        let both = if is_three::<S, THREE>() { s.sums(both) } else { s.zero() };
        Self { low: s.sums(low), both, high: s.sums(high) }
    }

    /// The element that all lanes together stand for.
    #[inline(always)]
    pub fn finish<S: AesClmul<V = V>>(self, s: S) -> <S::Narrow as Blocks>::V {
        s.sum_lanes(self.reduce(s))
    }

    /// The element that the sum stands for, in each lane, times x^-128 in all: 64 bits from below are folded upwards,
    /// once or (`THREE`) twice.
    #[inline(always)]
    pub fn reduce<S: AesClmul<V = V>>(self, s: S) -> V {
        s.run_part(Reduce(self))
    }
}

/// Adds a product to a sum.
struct Add<'s, V, const THREE: bool>(&'s mut Sum<V, THREE>, V, Factor<V, THREE>);

impl<S: AesClmul, const THREE: bool> Part<S> for Add<'_, S::V, THREE> {
    type Out = ();

    #[inline(always)]
    fn run(self, s: S) {
        // The products do not wait for one another, and each sum is a chain of exclusive ors of its own.
        let Self(sum, a, Factor(b, beside)) = self;
        if is_three::<S, THREE>() {
            let a_both = s.xor(a, s.swap_halves(a));
            sum.low = s.xor(sum.low, s.clmul_low(a, b));
            sum.high = s.xor(sum.high, s.clmul_high(a, b));
            sum.both = s.xor(sum.both, s.clmul_low(a_both, beside));
        } else {
            sum.low = s.xor(sum.low, s.xor(s.clmul_low(a, beside), s.clmul_high_low(a, b)));
            sum.high = s.xor(sum.high, s.xor(s.clmul_low_high(a, beside), s.clmul_high(a, b)));
        }
    }
}

/// Reduces a sum: see [`Sum::reduce`].
struct Reduce<V, const THREE: bool>(Sum<V, THREE>);

impl<S: AesClmul, const THREE: bool> Part<S> for Reduce<S::V, THREE> {
    type Out = S::V;

    #[inline(always)]
    fn run(self, s: S) -> S::V {
        let Self(Sum { low, both, high }) = self;
        // Adding a multiple of the modulus, the low 64 bits l of a sum T become zero:
        // l (x^128 + x^127 + x^126 + x^121 + 1) leaves l (x^63 + x^62 + x^57) x^64 + l x^128. Of T = low + mid x^64 is left
        // above x^64: mid + (upper half of low) + l FOLD + l x^64, in which `swap_halves` puts the upper half of `low`
        // down and l up. That divides by x^64; of three parts, the same once more with what is left divides by x^128.
        let fold = s.splat(&FOLD);
        if is_three::<S, THREE>() {
            let cross = s.xor(s.xor(both, high), s.xor(low, s.swap_halves(low)));
            let mid = s.xor(cross, s.clmul_low(low, fold));
            s.xor(s.xor(high, s.swap_halves(mid)), s.clmul_low(mid, fold))
        } else {
            s.xor(s.xor(high, s.swap_halves(low)), s.clmul_low(low, fold))
        }
    }
}

/// The product of `a` and `b` in each lane.
#[inline(always)]
pub fn multiply<S: AesClmul, const THREE: bool>(s: S, a: S::V, b: Factor<S::V, THREE>) -> S::V {
    let mut sum = Sum::zero(s);
    sum.add(s, a, b);
    sum.reduce(s)
}

/// The square of `a` in each lane: two products, since those of different halves are there twice and cancel out.
#[inline(always)]
fn square<S: AesClmul>(s: S, a: S::V) -> S::V {
    let (low, high) = (s.clmul_low(a, a), s.clmul_high(a, a));
    Sum::<_, true> { low, both: s.xor(low, high), high }.reduce(s)
}

/// Powers of the key, highest first, so that they lie as the blocks that they belong to: the last *n*
/// of them go with a message of *n* blocks. Zeroised on drop. So aligned, no load of a whole group
/// crosses a cache line.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Powers {
    /// The highest exponent first; behind exponent 1 zeros, for the unused lanes of a last vector. Then what stands beside
    /// them in a [`Factor`]: the same times x^-64, at the portable level the sums of their halves.
    tables: [[Block; HIGHEST + 4]; 2],
    /// The sums of the halves of H^w, H^2w, ... in their low halves, for vectors of w blocks, if groups
    /// [need them](hash_has_three).
    both: [Block; VECTORS],
}

impl Powers {
    /// No powers yet: see [`fill`](Self::fill). A constant, since a value that is returned is copied.
    pub const NONE: Self = Self { tables: [[[0; 16]; HIGHEST + 4]; 2], both: [[0; 16]; VECTORS] };

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
            powers[i] = if i % 2 == 1 {
                square(n, a)
            } else {
                multiply(n, a, Factor::<_, true>::new(n, b))
            };
            vector = s.shift_in(s.splat_narrow(powers[i]), vector);
        }
        self.set(s, 0, vector);
        // Vector i is vector i - m times H^(m WIDTH), where m is a power of two. Squares take less time than
        // the products that go on beside them.
        let mut highest = powers[S::WIDTH - 1];
        let mut step = Factor::<_>::new(s, s.splat_narrow(highest));
        for i in 1..count.div_ceil(S::WIDTH) {
            // The last one does not wait for a square of its own.
            let m = (1 << i.ilog2()).min(VECTORS / 2);
            if i == m && i > 1 {
                highest = square(n, highest);
                step = Factor::new(s, s.splat_narrow(highest));
            }
            let before = s.load(&self.tables[0][HIGHEST - (i - m + 1) * S::WIDTH..]);
            self.set(s, i, multiply(s, before, step));
        }
    }

    /// Sets vector `i`, the powers from (`i` + 1) * WIDTH down to `i` * WIDTH + 1.
    #[inline(always)]
    fn set<S: AesClmul>(&mut self, s: S, i: usize, powers: S::V) {
        let at = HIGHEST - (i + 1) * S::WIDTH;
        let Factor(_, beside) = Factor::<_>::new(s, powers);
        s.store(powers, &mut self.tables[0][at..]);
        s.store(beside, &mut self.tables[1][at..]);
        if i < VECTORS && hash_has_three(s) {
            let n = s.narrow();
            let Factor(_, both) = Factor::<_, true>::new(n, s.lanes(powers)[0]);
            n.store(both, &mut self.both[i..]);
        }
    }

    /// The powers that go with the last `count` blocks of a message, and zeros.
    #[inline(always)]
    pub fn last(&self, count: usize) -> Factors<'_> {
        let [table, beside] = &self.tables;
        Factors { table: &table[HIGHEST - count..], beside: &beside[HIGHEST - count..] }
    }

    /// H^(*i* w) for all lanes of vectors of w blocks.
    #[inline(always)]
    pub fn of_vectors<S: Blocks, const THREE: bool>(&self, s: S, i: usize) -> Factor<S::V, THREE> {
        let at = HIGHEST - i * S::WIDTH;
        let [table, beside] = &self.tables;
        let beside = if THREE { &self.both[i - 1] } else { &beside[at] };
        Factor(s.splat(&table[at]), s.splat(beside))
    }
}

/// Powers as they go with the blocks of a message.
#[derive(Clone, Copy)]
pub struct Factors<'p> {
    table: &'p [Block],
    beside: &'p [Block],
}

impl Factors<'_> {
    /// Those of `count` blocks from the one at `at` on.
    #[inline(always)]
    fn part(&self, at: usize, count: usize) -> Self {
        Self { table: &self.table[at..][..count], beside: &self.beside[at..][..count] }
    }

    /// Those that go with the vector at block `at`.
    #[inline(always)]
    pub fn at<S: Blocks>(&self, s: S, at: usize) -> Factor<S::V> {
        Factor(s.load(&self.table[at..]), s.load(&self.beside[at..]))
    }

    /// That of the block at `at` for all lanes.
    #[inline(always)]
    pub fn splat<S: Blocks>(&self, s: S, at: usize) -> Factor<S::V> {
        Factor(s.splat(&self.table[at]), s.splat(&self.beside[at]))
    }
}

impl Drop for Powers {
    fn drop(&mut self) {
        wipe(self.tables.as_flattened_mut().as_flattened_mut());
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

    /// The next `N` whole vectors of blocks.
    #[inline(always)]
    pub fn add_blocks<const REVERSED: bool, const N: usize>(&mut self, blocks: &[Block]) {
        let s = self.s;
        let mut v = [s.zero(); N];
        for i in 0..N {
            v[i] = convert::<S, REVERSED>(s, s.load(&blocks[i * S::WIDTH..]));
        }
        self.add_vectors(v);
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

/// How many of `bytes` bytes go in whole groups of `unit` bytes, where `behind` blocks are hashed behind them, with vectors
/// of `width` blocks. Groups leave a hash in each lane, so a whole vector is hashed behind them: if the rest has less, the
/// last group belongs to it.
#[inline(always)]
pub fn whole_groups(width: usize, bytes: usize, behind: usize, unit: usize) -> usize {
    let rest = bytes % unit;
    let held_back = rest.div_ceil(16) + behind < width && bytes >= unit;
    bytes - rest - if held_back { unit } else { 0 }
}

/// Hashes bytes, padded with zeros to whole blocks, behind the hash `y`.
#[inline(always)]
pub fn hash_bytes<S: AesClmul, const REVERSED: bool>(
    s: S,
    powers: &Powers,
    y: <S::Narrow as Blocks>::V,
    bytes: &[u8],
) -> <S::Narrow as Blocks>::V {
    if bytes.is_empty() {
        return y;
    }
    let y = s.in_first_lane(y);
    if bytes.len() <= 16 * S::WIDTH {
        let mut run = ProductRun::new(s, powers, bytes.len().div_ceil(16), y);
        run.add_bytes::<REVERSED>(bytes);
        return run.finish();
    }
    s.call(HashBytes::<S, REVERSED> { powers, y, bytes })
}

/// Hashes more than a vector, behind the hash `y` in the first lane.
struct HashBytes<'a, S: AesClmul, const REVERSED: bool> {
    powers: &'a Powers,
    y: S::V,
    bytes: &'a [u8],
}

impl<S: AesClmul, const REVERSED: bool> HashBytes<'_, S, REVERSED> {
    /// Hashes a group: each lane of the vectors has a hash of its own (see [`ProductRun::new`]).
    #[inline(always)]
    fn group<const THREE: bool>(&mut self, s: S, group: &[Block]) {
        let mut sum = Sum::<_, THREE>::zero(s);
        for i in 0..VECTORS {
            let v = convert::<S, REVERSED>(s, s.load(&group[i * S::WIDTH..]));
            let v = if i == 0 { s.xor(v, self.y) } else { v };
            sum.add(s, v, self.powers.of_vectors(s, VECTORS - i));
        }
        self.y = sum.reduce(s);
    }
}

impl<S: AesClmul, const REVERSED: bool> Part<S> for HashBytes<'_, S, REVERSED> {
    type Out = <S::Narrow as Blocks>::V;

    #[inline(always)]
    fn run(mut self, s: S) -> Self::Out {
        let group = VECTORS * S::WIDTH * 16;
        let at = whole_groups(S::WIDTH, self.bytes.len(), 0, group);
        let (groups, mut rest) = self.bytes.split_at(at);
        let three = hash_has_three(s);
        for group in groups.chunks_exact(group) {
            let group = group.as_chunks().0;
            if three {
                self.group::<true>(s, group);
            } else {
                self.group::<false>(s, group);
            }
        }
        let mut run = ProductRun::new(s, self.powers, rest.len().div_ceil(16), self.y);
        if rest.len() >= group {
            // The group that was held back, by whole loads.
            let (whole, part) = rest.split_at(group);
            run.add_blocks::<REVERSED, VECTORS>(whole.as_chunks().0);
            rest = part;
        }
        run.add_bytes::<REVERSED>(rest);
        run.finish()
    }
}

/// Whether sums of groups that are hashed beside the rounds of a cipher have the form of three products.
#[inline(always)]
pub fn has_three<S: Blocks>(s: S) -> bool {
    S::VECTORS == 1 || s.ways().products_are_slow()
}

/// The same where nothing goes beside. With vectors of fewer than 512 bits shuffles and exclusive ors have other ports than
/// products, so that three take less time on every processor.
#[inline(always)]
fn hash_has_three<S: Blocks>(s: S) -> bool {
    S::WIDTH < WIDEST || has_three(s)
}

/// Multiplies an element by x: from the key of GHASH to the key here (RFC 8452, appendix A), in
/// constant time.
pub fn times_x(block: Block) -> Block {
    let number = u128::from_le_bytes(block);
    let carry = (number >> 127).wrapping_neg();
    ((number << 1) ^ (carry & (0xc200_0000_0000_0000_0000_0000_0000_0001))).to_le_bytes()
}
