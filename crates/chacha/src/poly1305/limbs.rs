//! Poly1305 in the limbs of AVX-512 IFMA: eight blocks side by side, a number in three limbs of 44 bits.
//!
//! 2^132 is 20 modulo p, so what a product has above three limbs comes back 20 times. The instructions take factors
//! of 52 bits and add the lower or the upper 52 bits of the product: upper halves of limb *k* belong to limb *k* + 1, 8
//! bits higher.
//!
//! Two groups share one reduction. If a group is not multiplied yet (h) and m is the one behind it, then
//! h r^16 + m r^8 is what the next one is added to.

use core::hint::black_box;

use lanelock_isa::{Block, GroupKernel, LimbGroups};
use zeroize::Zeroize;

/// Blocks in a group: one a lane.
pub(super) const GROUP: usize = 8;

/// The bits of a limb.
const LIMB: u64 = (1 << 44) - 1;

/// Limbs of powers of r, as soon as they are needed. Lane *i* has that by which lane *i* is multiplied at the end, so that
/// lane 0 has r^8; behind the lanes is r^16.
///
/// Zeroised on drop.
#[derive(Clone)]
pub struct LimbPowers {
    limbs: [[u64; GROUP + 1]; 3],
    known: bool,
}

impl LimbPowers {
    /// None yet.
    #[inline(always)]
    pub fn none() -> Self {
        Self { limbs: [[0; GROUP + 1]; 3], known: false }
    }

    #[inline(always)]
    pub(super) fn known(&self) -> bool {
        self.known
    }

    #[inline]
    pub(super) fn wipe(&mut self) {
        if self.known {
            self.limbs.zeroize();
            self.known = false;
        }
    }
}

impl Drop for LimbPowers {
    #[inline]
    fn drop(&mut self) {
        self.wipe();
    }
}

/// Which block of a group is in which lane: words at even places come from eight blocks, four of each vector, in turns.
/// So the powers in the lanes are r^8, r^4, r^7, r^3, r^6, r^2, r^5, r: the product of these three powers.
const POWERS: [[u64; GROUP]; 3] =
    [[2, 2, 1, 1, 2, 2, 1, 1], [2, 2, 2, 2, 0, 0, 0, 0], [4, 0, 4, 0, 4, 0, 4, 0]];

/// Computes the powers.
pub(super) struct Prepare<'a> {
    /// r and r^2, in words.
    pub(super) factors: &'a [[u64; 3]; 2],
    pub(super) powers: &'a mut LimbPowers,
}

impl GroupKernel for Prepare<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: LimbGroups>(self, s: S) {
        const { assert!(S::LANES == GROUP) }
        let &[r, square] = self.factors;
        let (r, square) = (splat(s, limbs(r)), splat(s, limbs(square)));
        let one = splat(s, [1, 0, 0]);
        let v = choose(s, &POWERS[0], 2, square, r);
        let v = Factor::new(s, choose(s, &POWERS[1], 2, square, one)).times(s, v);
        let fourth = [s.spread::<true>(v[0]), s.spread::<true>(v[1]), s.spread::<true>(v[2])];
        let v = Factor::new(s, choose(s, &POWERS[2], 4, fourth, one)).times(s, v);
        let eighth = [s.spread::<true>(v[0]), s.spread::<true>(v[1]), s.spread::<true>(v[2])];
        let far = Factor::new(s, eighth).times(s, eighth);
        for at in 0..3 {
            // The second store leaves the last of these lanes.
            s.store(far[at], &mut self.powers.limbs[at][1..]);
            s.store(v[at], &mut self.powers.limbs[at]);
        }
        self.powers.known = true;
    }
}

/// Takes whole groups of blocks, at least one.
pub(super) struct Groups<'a> {
    /// The value so far, in words.
    pub(super) sum: &'a mut [u64; 3],
    pub(super) powers: &'a LimbPowers,
    pub(super) blocks: &'a [Block],
}

impl GroupKernel for Groups<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: LimbGroups>(self, s: S) {
        const { assert!(S::LANES == GROUP) }
        let Self { sum, powers, blocks } = self;
        let [a, b, c] = &powers.limbs;
        let last = Factor::new(s, [s.load(a), s.load(b), s.load(c)]);
        let near = Factor::new(s, splat(s, [a[0], b[0], c[0]]));
        let far = Factor::new(s, splat(s, [a[GROUP], b[GROUP], c[GROUP]]));

        let (groups, _) = blocks.as_chunks::<GROUP>();
        let Some((first, mut groups)) = groups.split_first() else { return };
        let [a, b, c] = splat(s, limbs(*sum));
        let before = [s.first::<true>(a), s.first::<true>(b), s.first::<true>(c)];
        let mut h = plus(s, before, message(s, first));
        while let [second, third, rest @ ..] = groups {
            let products = near.add_products(s, Columns::zero(s), message(s, second));
            h = plus(s, far.add_products(s, products, h).reduced(s), message(s, third));
            groups = rest;
        }
        if let [second] = groups {
            h = plus(s, near.times(s, h), message(s, second));
        }
        let h = last.times(s, h);
        let mut sums = [0; 3];
        for at in 0..3 {
            let mut lanes = [0; GROUP];
            s.store(h[at], &mut lanes);
            for lane in lanes {
                sums[at] += lane;
            }
            // Parts of the value, from which a tag could be computed.
            s.store(s.splat(0), &mut lanes);
            black_box(&lanes);
        }
        *sum = packed(sums);
    }
}

/// `a` in the lanes that want this power, `b` in the others.
#[inline(always)]
fn choose<S: LimbGroups>(
    s: S,
    powers: &[u64; GROUP],
    power: u64,
    a: [S::V; 3],
    b: [S::V; 3],
) -> [S::V; 3] {
    let which = s.matching(s.load(powers), s.splat(power));
    [s.blend(which, a[0], b[0]), s.blend(which, a[1], b[1]), s.blend(which, a[2], b[2])]
}

/// A number in all lanes.
#[inline(always)]
fn splat<S: LimbGroups>(s: S, [a, b, c]: [u64; 3]) -> [S::V; 3] {
    [s.splat(a), s.splat(b), s.splat(c)]
}

/// What numbers in lanes are multiplied by.
struct Factor<S: LimbGroups> {
    r: [S::V; 3],
    /// 20 times the upper two limbs: below 2^49.
    twenty: [S::V; 2],
}

impl<S: LimbGroups> Factor<S> {
    #[inline(always)]
    fn new(s: S, r: [S::V; 3]) -> Self {
        let (zero, twenty) = (s.splat(0), s.splat(20));
        Self { r, twenty: [s.mul_low(zero, r[1], twenty), s.mul_low(zero, r[2], twenty)] }
    }

    /// `sums` and the products of `h`.
    #[inline(always)]
    fn add_products(&self, s: S, mut sums: Columns<S>, h: [S::V; 3]) -> Columns<S> {
        let ([r0, r1, r2], [s1, s2]) = (self.r, self.twenty);
        let rows = [[r0, s2, s1], [r1, r0, s2], [r2, r1, r0]];
        for at in 0..3 {
            for of in 0..3 {
                sums.low[at] = s.mul_low(sums.low[at], h[of], rows[at][of]);
                sums.high[at] = s.mul_high(sums.high[at], h[of], rows[at][of]);
            }
        }
        sums
    }

    #[inline(always)]
    fn times(&self, s: S, h: [S::V; 3]) -> [S::V; 3] {
        self.add_products(s, Columns::zero(s), h).reduced(s)
    }
}

/// Sums of products: for each limb of their lower halves, and of their upper halves.
struct Columns<S: LimbGroups> {
    low: [S::V; 3],
    high: [S::V; 3],
}

impl<S: LimbGroups> Columns<S> {
    #[inline(always)]
    fn zero(s: S) -> Self {
        Self { low: [s.splat(0); 3], high: [s.splat(0); 3] }
    }

    /// The sum modulo p, whose limbs are below L = 2^44 + 2^11.
    ///
    /// Its products are six at most. Powers have limbs below L, and 20 times those are below 2^49. One factor is such a
    /// sum with a block added: limbs below L + 2^44, the highest one below L + 2^41. The other one is a block: limbs
    /// below 2^44, and 2^41. So
    /// - lower halves come to less than 6 * 2^52;
    /// - upper ones of limbs 0 and 1 to less than 6 * 2^(45 + 49 - 52) < 2^45;
    /// - upper ones of the highest limb, where no factor is 20 times a power, to less than 7.3 * 2^36: the products are
    ///   below 2.01, 2.01, 1.13, 1.01, 1.01 and 0.13 times 2^88.
    ///
    /// What is above the limbs is then below 7.3 * 2^44 + 2^11, and 20 times that, with a limb, below 147 * 2^44 < 2^52:
    /// one more multiplication adds it to the lowest limb. Carries into the others are below 2^11.
    #[inline(always)]
    fn reduced(self, s: S) -> [S::V; 3] {
        let Self { low, high } = self;
        let limb = s.splat(LIMB);
        let second = s.add(low[1], s.shift_left::<8>(high[0]));
        let third = s.add(low[2], s.shift_left::<8>(high[1]));
        let above = s.add(s.shift_right::<44>(third), s.shift_left::<8>(high[2]));
        let first = s.mul_low(s.and(low[0], limb), above, s.splat(20));
        let carry = s.add(s.shift_right::<44>(low[0]), s.shift_right::<44>(first));
        [
            s.and(first, limb),
            s.add(s.and(second, limb), carry),
            s.add(s.and(third, limb), s.shift_right::<44>(second)),
        ]
    }
}

/// The limbs of a group of blocks, with 2^128 added.
#[inline(always)]
fn message<S: LimbGroups>(s: S, blocks: &[Block; GROUP]) -> [S::V; 3] {
    let bytes = blocks.as_flattened();
    let (a, b) = (s.load_bytes(bytes), s.load_bytes(&bytes[8 * GROUP..]));
    let (low, high) = (s.even_lanes(a, b), s.odd_lanes(a, b));
    let limb = s.splat(LIMB);
    [
        s.and(low, limb),
        s.and(s.or(s.shift_right::<44>(low), s.shift_left::<20>(high)), limb),
        s.or(s.shift_right::<24>(high), s.splat(1 << 40)),
    ]
}

#[inline(always)]
fn plus<S: LimbGroups>(s: S, a: [S::V; 3], b: [S::V; 3]) -> [S::V; 3] {
    [s.add(a[0], b[0]), s.add(a[1], b[1]), s.add(a[2], b[2])]
}

/// A number in limbs.
#[inline(always)]
fn limbs([a, b, c]: [u64; 3]) -> [u64; 3] {
    [a & LIMB, (a >> 44 | b << 20) & LIMB, b >> 24 | c << 40]
}

/// The number of these limbs, which may have some bits more.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "words of a number")]
fn packed([mut a, mut b, mut c]: [u64; 3]) -> [u64; 3] {
    b += a >> 44;
    a &= LIMB;
    c += b >> 44;
    b &= LIMB;
    a += 5 * (c >> 42); // 2^130
    c &= LIMB >> 2;
    let low = u128::from(a) + (u128::from(b) << 44);
    let high = (low >> 64) + (u128::from(c) << 24);
    [low as u64, high as u64, (high >> 64) as u64]
}
