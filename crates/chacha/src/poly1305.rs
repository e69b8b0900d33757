//! Poly1305 (RFC 8439, 2.5): the value of a polynomial modulo p = 2^130 - 5 at the place r, and s added.
//!
//! A number is in three words of 64 bits where one block after the other is taken, in five of 26 bits where lanes
//! take them: products of these fit into 64 bits with room for sums. Processors with AVX-512 IFMA have three limbs of 44
//! bits in a lane (`limbs`).

mod limbs;

use core::{fmt, hint::black_box};

use lanelock_core::{Error, parts::authenticate_wiping};
use lanelock_isa::{Block, HashLevel, LevelError, Pair, Products, WordKernel, Words, wipe};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::level::default_level;

pub use limbs::LimbPowers;

/// The bits of a limb in lanes.
const LIMB: u64 = (1 << 26) - 1;
/// The most lanes: of two vectors of 512 bits.
const MOST_LANES: usize = 16;
/// Fewer bytes are taken one block after the other: powers of r take their time too.
const WORTH_LANES: usize = 512;
/// The same with AVX-512 IFMA.
const WORTH_LIMBS: usize = 256;
/// Fewer bytes take no lanes, or those of AVX-512 IFMA.
pub const FEW: usize = WORTH_LANES;

/// The authenticator of one message. Its key must never be used for another.
///
/// Zeroised on drop.
///
/// ```
/// use lanelock::Poly1305;
///
/// # fn main() -> Result<(), lanelock::LevelError> {
/// let mut poly = Poly1305::new(&[7; 32])?; // a key for one message
/// poly.update(b"a message");
/// let tag = poly.finish();
///
/// let mut poly = Poly1305::new(&[7; 32])?;
/// poly.update(b"a message");
/// assert!(poly.verify(&tag).is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Poly1305 {
    sum: Accumulator,
    powers: Powers,
    /// The beginning of a block.
    rest: Block,
    used: usize,
    level: HashLevel,
}

impl Poly1305 {
    /// With a key for one message: r, and then s.
    ///
    /// # Errors
    /// [`LevelError`] if the environment variable `LANELOCK_LEVEL` has a mistake.
    pub fn new(key: &[u8; 32]) -> Result<Self, LevelError> {
        Ok(Self::with_level(key, default_level()?))
    }

    /// The same at `level`.
    pub fn with_level(key: &[u8; 32], level: HashLevel) -> Self {
        Self { sum: Accumulator::new(key), powers: Powers::none(), rest: [0; 16], used: 0, level }
    }

    /// Takes the next bytes of the message.
    pub fn update(&mut self, mut data: &[u8]) {
        if self.used > 0 {
            let (filling, later) = data.split_at(data.len().min(16 - self.used));
            self.rest[self.used..self.used + filling.len()].copy_from_slice(filling);
            self.used += filling.len();
            data = later;
            if self.used < 16 {
                return;
            }
            self.sum.take(&[self.rest]);
        }
        let (blocks, rest) = data.as_chunks();
        self.take(blocks);
        self.rest[..rest.len()].copy_from_slice(rest);
        self.used = rest.len();
    }

    /// Goes on to the end of a block, with zeros.
    pub fn pad(&mut self) {
        if self.used > 0 {
            self.sum.take_filled(&self.rest[..self.used]);
            self.used = 0;
        }
    }

    fn take(&mut self, blocks: &[Block]) {
        if blocks.len() < WORTH_LIMBS / 16 {
            self.sum.take(blocks);
        } else {
            let Self { sum, powers, .. } = self;
            self.level.run(InLanes { sum, powers, blocks });
        }
    }

    /// The tag of all that was taken.
    pub fn finish(mut self) -> [u8; 16] {
        end(&mut self)
    }

    /// Compares the tag in constant time.
    ///
    /// # Errors
    /// [`Error::Authentication`] if it is another one, or shorter.
    pub fn verify(self, tag: &[u8]) -> Result<(), Error> {
        let mut expected = self.finish();
        authenticate_wiping(&mut expected, tag, &mut [])
    }
}

/// The tag of all that was taken. Wipes the authenticator: it takes no more.
pub fn end(poly: &mut Poly1305) -> [u8; 16] {
    if poly.used > 0 {
        poly.sum.take_last(&poly.rest[..poly.used]);
    }
    let tag = poly.sum.tag();
    poly.wipe();
    tag
}

impl Poly1305 {
    fn wipe(&mut self) {
        self.sum.wipe();
        self.powers.wipe();
        wipe(&mut self.rest);
    }
}

impl Drop for Poly1305 {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl ZeroizeOnDrop for Poly1305 {}

impl fmt::Debug for Poly1305 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Poly1305({})", self.level)
    }
}

struct InLanes<'a> {
    sum: &'a mut Accumulator,
    powers: &'a mut Powers,
    blocks: &'a [Block],
}

impl WordKernel for InLanes<'_> {
    type Word = u64;
    type Out = ();

    #[inline(always)]
    fn run<S: Words<u64>>(self, s: S) {
        self.sum.take_at(s.wide(), self.powers, self.blocks);
    }
}

/// The value of the polynomial so far. Zeroised on drop.
#[derive(Clone)]
pub struct Accumulator {
    /// Three words, of which the highest has some bits.
    h: [u64; 3],
    r: [u64; 2],
    s: [u64; 2],
}

/// r, r^2 and so on, in limbs: as many as were needed up to now. Zeroised on drop.
#[derive(Clone)]
pub struct Powers {
    limbs: [[u64; MOST_LANES]; 5],
    known: usize,
    /// The same for the lanes of AVX-512 IFMA.
    in_limbs: LimbPowers,
}

impl Powers {
    /// None yet.
    #[inline(always)]
    pub fn none() -> Self {
        Self { limbs: [[0; MOST_LANES]; 5], known: 0, in_limbs: LimbPowers::none() }
    }

    /// Those of [`Accumulator::prepare`].
    #[inline(always)]
    pub fn in_limbs(&mut self) -> &mut LimbPowers {
        &mut self.in_limbs
    }

    /// Computes the first `count` powers of `r`, unless that was done.
    #[inline(always)]
    fn set(&mut self, r: [u64; 2], count: usize) {
        if self.known >= count {
            return;
        }
        self.known = count;
        let mut power = [r[0], r[1], 0];
        for lane in 0..count {
            for (lanes, limb) in self.limbs.iter_mut().zip(limbs(power)) {
                lanes[lane] = limb;
            }
            power = times(power, r);
        }
    }

    #[inline]
    fn wipe(&mut self) {
        if self.known > 0 {
            self.limbs.zeroize();
            self.known = 0;
        }
        self.in_limbs.wipe();
    }
}

impl Drop for Powers {
    #[inline]
    fn drop(&mut self) {
        self.wipe();
    }
}

impl Accumulator {
    /// With a key for one message.
    #[inline(always)]
    pub fn new(key: &[u8; 32]) -> Self {
        let (words, _) = key.as_chunks();
        let word = |at: usize| u64::from_le_bytes(words[at]);
        // 2.5: some bits of r are zero, so that carries stay small.
        let r = [word(0) & 0x0fff_fffc_0fff_ffff, word(1) & 0x0fff_fffc_0fff_fffc];
        let s = [word(2), word(3)];
        Self { h: [0; 3], r, s }
    }

    /// Takes whole blocks, one after the other.
    #[inline(always)]
    pub fn take(&mut self, blocks: &[Block]) {
        let mut h = self.h;
        for block in blocks {
            h = times(plus(h, block, 1), self.r);
        }
        self.h = h;
    }

    /// Takes the last block of a message, which is partial.
    #[inline(always)]
    pub fn take_last(&mut self, rest: &[u8]) {
        let mut block = [0; 16];
        block[..rest.len()].copy_from_slice(rest);
        block[rest.len()] = 1;
        self.h = times(plus(self.h, &block, 0), self.r);
        wipe(&mut block);
    }

    /// Takes bytes, and zeros behind them to the end of a block.
    #[inline(always)]
    pub fn take_padded<D: Products>(&mut self, d: D, powers: &mut Powers, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks();
        self.take_at(d, powers, blocks);
        self.take_filled(rest);
    }

    /// Takes less than a block, and zeros behind it to the end of one; nothing if there is nothing.
    #[inline(always)]
    pub fn take_filled(&mut self, rest: &[u8]) {
        if !rest.is_empty() {
            let mut block = [0; 16];
            block[..rest.len()].copy_from_slice(rest);
            self.take(&[block]);
        }
    }

    /// Takes whole blocks, in lanes where there are many.
    #[inline(always)]
    pub fn take_at<D: Products>(&mut self, d: D, powers: &mut Powers, blocks: &[Block]) {
        let mut blocks = self.in_limbs(d, &mut powers.in_limbs, blocks);
        // With two lanes a block after the other is as fast.
        if D::IN_VECTORS && D::LANES >= 4 && blocks.len() >= WORTH_LANES / 16 {
            blocks = if D::MANY_REGISTERS {
                self.in_lanes(Pair(d), powers, blocks)
            } else {
                self.in_lanes(d, powers, blocks)
            };
        }
        self.take(blocks);
    }

    /// Computes what is made of the key alone, if the processor has limbs and so many bytes are worth it. So it need not
    /// be waited for later.
    #[inline(always)]
    pub fn prepare<D: Products>(&self, d: D, powers: &mut LimbPowers, bytes: usize) {
        if bytes >= WORTH_LIMBS && !powers.known() {
            let r = [self.r[0], self.r[1], 0];
            let mut factors = [r, times(r, self.r)];
            // Where there are no limbs, they stay unknown.
            let _ = d.in_limbs(limbs::Prepare { factors: &factors, powers });
            factors.zeroize();
        }
    }

    /// Takes blocks in lanes of limbs, where there are many and the processor has such. Gives what is left.
    #[inline(always)]
    fn in_limbs<'b, D: Products>(
        &mut self,
        d: D,
        powers: &mut LimbPowers,
        blocks: &'b [Block],
    ) -> &'b [Block] {
        let (whole, rest) = blocks.split_at(blocks.len() / limbs::GROUP * limbs::GROUP);
        self.prepare(d, powers, 16 * whole.len());
        if 16 * whole.len() < WORTH_LIMBS || !powers.known() {
            return blocks;
        }
        match d.in_limbs(limbs::Groups { sum: &mut self.h, powers, blocks: whole }) {
            Ok(()) => rest,
            Err(_) => blocks,
        }
    }

    /// Takes bytes, fewer than [`FEW`], and zeros behind them to the end of a block: the same as
    /// [`take_padded`](Self::take_padded) in less code.
    #[inline(always)]
    pub fn take_few<D: Products>(&mut self, d: D, powers: &mut LimbPowers, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks();
        let blocks = self.in_limbs(d, powers, blocks);
        self.take(blocks);
        self.take_filled(rest);
    }

    /// Takes blocks in lanes: lane i takes block i of every group, and each lane the power of r by which its
    /// groups are apart. Gives what is left behind the last whole group.
    #[inline(always)]
    fn in_lanes<'b, D: Products>(
        &mut self,
        d: D,
        powers: &mut Powers,
        blocks: &'b [Block],
    ) -> &'b [Block] {
        powers.set(self.r, D::LANES);
        let whole = blocks.len() / D::LANES * D::LANES;
        let (blocks, rest) = blocks.split_at(whole);
        let mut groups = blocks.chunks_exact(D::LANES);
        let Some(group) = groups.next() else { return rest };
        let mut power = [[0; MOST_LANES]; 5];
        for (lanes, limbs) in power.iter_mut().zip(&powers.limbs) {
            lanes.fill(limbs[D::LANES - 1]);
        }
        let step = Factor::new(d, &power);
        let mut h = limbs_of(d, group);
        for (h, limb) in h.iter_mut().zip(limbs(self.h)) {
            let mut first = [0; MOST_LANES];
            first[0] = limb;
            *h = d.add(*h, d.load(&first));
        }
        for group in groups {
            let message = limbs_of(d, group);
            // As if it were another one each time: the optimiser would take the masks of products out of the loop,
            // and then no longer know that they are products of halves.
            h = black_box(&step).times(d, h);
            for at in 0..5 {
                h[at] = d.add(h[at], message[at]);
            }
        }
        // The last block is to be multiplied by r, the one before by r^2.
        for (lanes, limbs) in power.iter_mut().zip(&powers.limbs) {
            for lane in 0..D::LANES {
                lanes[lane] = limbs[D::LANES - 1 - lane];
            }
        }
        let last = Factor::new(d, &power);
        let mut sums = [0; 5];
        for (sum, h) in sums.iter_mut().zip(last.times(d, h)) {
            let mut lanes = [0; MOST_LANES];
            d.store(h, &mut lanes);
            for lane in lanes {
                *sum += lane;
            }
        }
        self.h = packed(sums);
        rest
    }

    #[inline]
    fn wipe(&mut self) {
        self.h.zeroize();
        self.r.zeroize();
        self.s.zeroize();
    }

    /// The tag: the value modulo p, plus s, modulo 2^128.
    #[inline(always)]
    pub fn tag(&self) -> [u8; 16] {
        let [a, b, c] = self.h;
        // If a fifth more than the value reaches 2^130, it is p or more.
        let (d, carry) = a.overflowing_add(5);
        let (e, carry) = b.overflowing_add(carry.into());
        let over = 0_u64.wrapping_sub((c + u64::from(carry)) >> 2); // all ones or zero
        let value = |word, less| u128::from(word & !over | less & over);
        let sum = value(a, d) | value(b, e) << 64;
        let s = u128::from(self.s[0]) | u128::from(self.s[1]) << 64;
        sum.wrapping_add(s).to_le_bytes()
    }
}

impl Drop for Accumulator {
    #[inline]
    fn drop(&mut self) {
        self.wipe();
    }
}

impl ZeroizeOnDrop for Accumulator {}

impl fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accumulator").finish_non_exhaustive()
    }
}

/// `h` plus a block and `high` * 2^128.
#[inline(always)]
fn plus([a, b, c]: [u64; 3], block: &Block, high: u64) -> [u64; 3] {
    let number = u128::from_le_bytes(*block);
    #[expect(clippy::cast_possible_truncation, reason = "halves")]
    let (low, up) = (number as u64, (number >> 64) as u64);
    let (a, carry) = a.overflowing_add(low);
    let (b, first) = b.overflowing_add(up);
    let (b, second) = b.overflowing_add(carry.into());
    [a, b, c + high + u64::from(first) + u64::from(second)]
}

/// The product of `h` and `r` modulo p, up to some multiples of p: the highest word stays below 8.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "halves")]
fn times([a, b, c]: [u64; 3], [r, t]: [u64; 2]) -> [u64; 3] {
    // 2^130 is 5 modulo p, and the two low bits of the upper word of r are zero: 2^128 times it is 5 / 4 of it.
    let five = t + (t >> 2);
    let wide = |x: u64, y: u64| u128::from(x) * u128::from(y);
    let low = wide(a, r) + wide(b, five);
    let high = wide(a, t) + wide(b, r) + u128::from(c * five) + (low >> 64);
    let top = c * r + (high >> 64) as u64;
    let (a, carry) = (low as u64).overflowing_add((top & !3) + (top >> 2));
    let (b, carry) = (high as u64).overflowing_add(carry.into());
    [a, b, (top & 3) + u64::from(carry)]
}

/// A number in limbs.
#[inline(always)]
fn limbs([a, b, c]: [u64; 3]) -> [u64; 5] {
    [a & LIMB, a >> 26 & LIMB, (a >> 52 | b << 12) & LIMB, b >> 14 & LIMB, b >> 40 | c << 24]
}

/// The number of these limbs, which may have twice as many bits.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "words of a number")]
fn packed(mut limbs: [u64; 5]) -> [u64; 3] {
    for at in 0..4 {
        limbs[at + 1] += limbs[at] >> 26;
        limbs[at] &= LIMB;
    }
    limbs[0] += 5 * (limbs[4] >> 26);
    limbs[4] &= LIMB;
    let [a, b, c, d, e] = limbs.map(u128::from);
    let low = a + (b << 26) + (c << 52) + (d << 78);
    let high = (low >> 64) + (e << 40);
    [low as u64, high as u64, (high >> 64) as u64]
}

/// The limbs of a block for each lane, with 2^128 added.
#[inline(always)]
fn limbs_of<D: Products>(d: D, blocks: &[Block]) -> [D::V; 5] {
    let bytes = blocks.as_flattened();
    let [low, high] = d.unzip(d.load_bytes(bytes), d.load_bytes(&bytes[8 * D::LANES..]));
    let limb = d.splat(LIMB);
    [
        d.and(low, limb),
        d.and(d.shift_right::<26>(low), limb),
        d.xor(d.shift_right::<52>(low), d.and(d.rotate_left::<12>(high), d.splat(0x3fff << 12))),
        d.and(d.shift_right::<14>(high), limb),
        d.xor(d.shift_right::<40>(high), d.splat(1 << 24)),
    ]
}

/// What numbers in lanes are multiplied by.
struct Factor<D: Products> {
    r: [D::V; 5],
    /// Five times the upper four limbs: 2^130 is 5.
    five: [D::V; 4],
    /// The bits of a limb, hidden from the optimiser. Where it knows that a factor has 32 bits, it takes away the mask
    /// by which the compiler knows a product of halves from one of whole words.
    limb: D::V,
}

impl<D: Products> Factor<D> {
    /// From the limbs of each lane. Five times them is computed word by word: with vectors, the optimiser would
    /// rather add five products.
    #[inline(always)]
    fn new(d: D, limbs: &[[u64; MOST_LANES]; 5]) -> Self {
        let (mut r, mut five) = ([d.splat(0); 5], [d.splat(0); 4]);
        for at in 0..5 {
            r[at] = d.load(&limbs[at]);
            if at > 0 {
                let mut lanes = limbs[at];
                for lane in &mut lanes {
                    *lane *= 5;
                }
                five[at - 1] = d.load(&lanes);
            }
        }
        Self { r, five, limb: d.load(&black_box([LIMB; MOST_LANES])) }
    }

    /// The products, whose limbs have 26 bits and a little more.
    #[inline(always)]
    fn times(&self, d: D, h: [D::V; 5]) -> [D::V; 5] {
        let ([r0, r1, r2, r3, r4], [s1, s2, s3, s4]) = (self.r, self.five);
        let sums = [
            sum_of_products(d, h, [r0, s4, s3, s2, s1]),
            sum_of_products(d, h, [r1, r0, s4, s3, s2]),
            sum_of_products(d, h, [r2, r1, r0, s4, s3]),
            sum_of_products(d, h, [r3, r2, r1, r0, s4]),
            sum_of_products(d, h, [r4, r3, r2, r1, r0]),
        ];
        self.carry(d, sums)
    }

    /// Carries what is above the bits of a limb to the next one; two of them side by side, since each waits for the
    /// one before.
    #[inline(always)]
    fn carry(&self, d: D, mut v: [D::V; 5]) -> [D::V; 5] {
        self.one_carry(d, &mut v, 0, 1);
        self.one_carry(d, &mut v, 3, 4);
        self.one_carry(d, &mut v, 1, 2);
        self.one_carry(d, &mut v, 4, 0);
        self.one_carry(d, &mut v, 2, 3);
        self.one_carry(d, &mut v, 0, 1);
        self.one_carry(d, &mut v, 3, 4);
        v
    }

    #[inline(always)]
    fn one_carry(&self, d: D, v: &mut [D::V; 5], from: usize, to: usize) {
        let over = d.shift_right::<26>(v[from]);
        v[from] = d.and(v[from], self.limb);
        v[to] = d.add(v[to], if from == 4 { five_times(d, over) } else { over });
    }
}

#[inline(always)]
fn sum_of_products<D: Products>(d: D, h: [D::V; 5], f: [D::V; 5]) -> D::V {
    let a = d.add(d.times(h[0], f[0]), d.times(h[1], f[1]));
    let b = d.add(d.times(h[2], f[2]), d.times(h[3], f[3]));
    d.add(d.add(a, b), d.times(h[4], f[4]))
}

#[inline(always)]
fn five_times<D: Products>(d: D, v: D::V) -> D::V {
    let twice = d.add(v, v);
    d.add(d.add(twice, twice), v)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// p, p - 1 and so on as the value: the tag is the value modulo p.
    #[test]
    fn values_near_p_are_reduced() {
        for (low, tag) in [(u64::MAX - 5, u64::MAX - 5), (u64::MAX - 4, 0), (u64::MAX, 4)] {
            let mut sum = Accumulator::new(&[0; 32]);
            sum.h = [low, u64::MAX, 3];
            let upper = if tag < 5 { 0 } else { u64::MAX };
            assert_eq!(u128::from_le_bytes(sum.tag()), u128::from(tag) | u128::from(upper) << 64);
        }
    }

    /// Values up to the largest that a sum has, before blocks of ones and of zeros: in lanes as one block after the other.
    #[test]
    fn lanes_go_on_from_any_value() {
        for level in HashLevel::available() {
            for level in level.forms() {
                for h in [[0, 0, 0], [u64::MAX - 5, u64::MAX, 3], [u64::MAX; 3]] {
                    for (key, byte) in [(0xff, 0xff), (0xff, 0), (0x35, 0xff), (1, 0xff)] {
                        for count in [16, 24, 31, 40, 64, 129] {
                            let blocks = vec![[byte; 16]; count];
                            let mut expected = Accumulator::new(&[key; 32]);
                            expected.h = [h[0], h[1], h[2] & 7];
                            let (mut sum, mut powers) = (expected.clone(), Powers::none());
                            expected.take(&blocks);
                            level.run(InLanes {
                                sum: &mut sum,
                                powers: &mut powers,
                                blocks: &blocks,
                            });
                            assert_eq!(
                                sum.tag(),
                                expected.tag(),
                                "{level}, {count} blocks of {byte} on {h:x?}"
                            );
                        }
                    }
                }
            }
        }
    }
}
