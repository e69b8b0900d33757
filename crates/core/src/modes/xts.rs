//! XTS (IEEE Std 1619, NIST SP 800-38E): encryption of *data units*, as the sectors of a disk.
//!
//! Block *j* of a data unit is C = E1(P ⊕ T) ⊕ T with the mask T = E2(tweak) * x^*j* in GF(2^128),
//! modulus x^128 + x^7 + x^2 + x + 1, bytes and bits little-endian. The masks do not depend on the
//! data, so the blocks run in parallel: each vector in flight has masks of its own, which move on by a
//! whole group when it is done, by a shift of whole bytes and one carry-less product.
//!
//! A group is 8 vectors: with 128-bit keys 80 rounds, which take 40 cycles where two start in a
//! cycle, and 8 products, which take 16 of these cycles in another unit (one in two cycles): the
//! masks cost next to nothing.
//!
//! A last partial block steals ciphertext from the block before it (IEEE 1619, 5.3.2).

use lanelock_isa::{AesClmul, AesLevel, Beside, Block, Blocks, Kernel, StackDepth, wipe};
use subtle::ConstantTimeEq;

use super::{FLIGHT, ecb::load_group};
use crate::{
    Error,
    cipher::{Cipher, EncryptKey, Key, SameKey, Schedule, SizedCipher},
    inout::{InOut, InOutBlocks},
    key_name,
    public::verdict,
    set_up::{SetUp, default_level},
};

/// A pair of keys for XTS: [`Aes128Xts`](crate::Aes128Xts), [`Aes256Xts`](crate::Aes256Xts).
///
/// One call is one data unit, or many of the same length; there is no such thing as a data unit in
/// pieces. XTS hides what is on a disk, whose sectors have no room for a tag: it does not detect
/// tampering. Zeroised on drop.
///
/// ```
/// use lanelock::Aes256Xts;
/// # fn main() -> Result<(), lanelock::Error> {
/// let key: [u8; 64] = core::array::from_fn(|i| i as u8);
/// let disk = Aes256Xts::new(&key)?;
/// let mut sectors = [0; 8 * 512]; // from number 1000 on
/// disk.encrypt_sectors(1000, 512, &mut sectors)?;
/// disk.decrypt(&1003_u128.to_le_bytes(), &mut sectors[3 * 512..][..512])?; // one of them
/// assert_eq!(sectors[3 * 512..4 * 512], [0; 512]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Xts<C: SizedCipher> {
    data: Key<C>,
    tweak: EncryptKey<C::Cipher>,
}

/// The most bytes of a data unit: 2^20 blocks (NIST SP 800-38E, 4).
const LONGEST: usize = 16 << 20;

impl<C: SizedCipher> SetUp for Xts<C> {
    const DEPTH: StackDepth = Key::<C>::DEPTH;

    const NONE: Self = Self { data: Key::NONE, tweak: EncryptKey::NONE };

    /// `key` has both halves.
    fn set(&mut self, key: &[u8], level: AesLevel) {
        let (data, tweak) = key.split_at(key.len() / 2);
        self.data.set(data, level);
        self.tweak.set(tweak, level);
    }
}

impl<C: SizedCipher> Xts<C> {
    /// Expands both halves of `key`, the first for the data, the second for the tweak, at the best level:
    /// see [`AesLevel::best`].
    ///
    /// # Errors
    /// [`Error::EqualKeys`] if the halves are equal, [`Error::Level`] as
    /// [`Aes128::new`](crate::Aes128::new).
    pub fn new(key: &C::TwoKeys) -> Result<Self, Error> {
        Self::with_level(key, default_level()?)
    }

    /// Expands `key` at `level`.
    ///
    /// # Errors
    /// [`Error::EqualKeys`] if the halves are equal.
    pub fn with_level(key: &C::TwoKeys, level: AesLevel) -> Result<Self, Error> {
        let key = key.as_ref();
        let (data, tweak) = key.split_at(key.len() / 2);
        let equal = verdict(data.ct_eq(tweak));
        Self::expand_if(key, if equal { Err(Error::EqualKeys) } else { Ok(level) })
    }

    #[inline(always)]
    fn one<const ENCRYPT: bool>(
        &self,
        keys: Schedule<'_, C::Cipher>,
        tweak: &Block,
        data: InOut<'_, '_>,
    ) {
        self.level().run(One::<_, ENCRYPT> { tweak_keys: self.tweak.keys(), keys, tweak, data });
    }

    #[inline(always)]
    fn many<const ENCRYPT: bool>(
        &self,
        keys: Schedule<'_, C::Cipher>,
        first: u128,
        size: usize,
        data: InOut<'_, '_>,
    ) {
        let tweak_keys = self.tweak.keys();
        self.level().run(Many::<_, ENCRYPT> { tweak_keys, keys, first, size, data });
    }

    /// Encrypts `data` in place as the data unit of that tweak: its number, little-endian.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if `data` has less than 16 bytes or more than 2^24 (2^20 blocks);
    /// nothing is changed then.
    pub fn encrypt(&self, tweak: &Block, data: &mut [u8]) -> Result<(), Error> {
        self.encrypt_inout(tweak, data.into())
    }

    /// [`encrypt`](Self::encrypt), in place or from one buffer to another.
    pub fn encrypt_inout(&self, tweak: &Block, data: InOut<'_, '_>) -> Result<(), Error> {
        check(data.len())?;
        self.one::<true>(self.data.encrypt_keys(), tweak, data);
        Ok(())
    }

    /// Decrypts `data` in place: the inverse of [`encrypt`](Self::encrypt).
    ///
    /// # Errors
    /// As [`encrypt`](Self::encrypt).
    pub fn decrypt(&self, tweak: &Block, data: &mut [u8]) -> Result<(), Error> {
        self.decrypt_inout(tweak, data.into())
    }

    /// [`decrypt`](Self::decrypt), in place or from one buffer to another.
    pub fn decrypt_inout(&self, tweak: &Block, data: InOut<'_, '_>) -> Result<(), Error> {
        check(data.len())?;
        self.one::<false>(self.data.decrypt_keys(), tweak, data);
        Ok(())
    }

    /// Encrypts `data` in place as data units of `sector_size` bytes each, numbered from
    /// `first_sector` on. One call for many sectors is faster than a call for each.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if `sector_size` is no length of a data unit (see
    /// [`encrypt`](Self::encrypt)) or `data` is not whole sectors; nothing is changed then.
    pub fn encrypt_sectors(
        &self,
        first_sector: u128,
        sector_size: usize,
        data: &mut [u8],
    ) -> Result<(), Error> {
        self.encrypt_sectors_inout(first_sector, sector_size, data.into())
    }

    /// [`encrypt_sectors`](Self::encrypt_sectors), in place or from one buffer to another.
    pub fn encrypt_sectors_inout(
        &self,
        first_sector: u128,
        sector_size: usize,
        data: InOut<'_, '_>,
    ) -> Result<(), Error> {
        check_sectors(sector_size, data.len())?;
        self.many::<true>(self.data.encrypt_keys(), first_sector, sector_size, data);
        Ok(())
    }

    /// Decrypts `data` in place: the inverse of [`encrypt_sectors`](Self::encrypt_sectors).
    ///
    /// # Errors
    /// As [`encrypt_sectors`](Self::encrypt_sectors).
    pub fn decrypt_sectors(
        &self,
        first_sector: u128,
        sector_size: usize,
        data: &mut [u8],
    ) -> Result<(), Error> {
        self.decrypt_sectors_inout(first_sector, sector_size, data.into())
    }

    /// [`decrypt_sectors`](Self::decrypt_sectors), in place or from one buffer to another.
    pub fn decrypt_sectors_inout(
        &self,
        first_sector: u128,
        sector_size: usize,
        data: InOut<'_, '_>,
    ) -> Result<(), Error> {
        check_sectors(sector_size, data.len())?;
        self.many::<false>(self.data.decrypt_keys(), first_sector, sector_size, data);
        Ok(())
    }
}

key_name!(Xts, "Xts", tweak, SizedCipher);

fn check(length: usize) -> Result<(), Error> {
    if (16..=LONGEST).contains(&length) { Ok(()) } else { Err(Error::MessageLength) }
}

fn check_sectors(size: usize, length: usize) -> Result<(), Error> {
    check(size)?;
    if length.is_multiple_of(size) { Ok(()) } else { Err(Error::MessageLength) }
}

/// One data unit.
struct One<'a, 'i, 'o, C: Cipher, const ENCRYPT: bool> {
    tweak_keys: Schedule<'a, C>,
    keys: Schedule<'a, C>,
    tweak: &'a Block,
    data: InOut<'i, 'o>,
}

impl<C: Cipher, const ENCRYPT: bool> Kernel for One<'_, '_, '_, C, ENCRYPT> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let n = s.narrow();
        let tweak_keys = SameKey::new(n, self.tweak_keys);
        let [mask] = C::encrypt(n, [n.splat(self.tweak)], tweak_keys);
        unit::<S, C, ENCRYPT>(s, self.keys, mask, self.data);
    }
}

/// Data units of `size` bytes each with consecutive numbers.
struct Many<'a, 'i, 'o, C: Cipher, const ENCRYPT: bool> {
    tweak_keys: Schedule<'a, C>,
    keys: Schedule<'a, C>,
    first: u128,
    size: usize,
    data: InOut<'i, 'o>,
}

/// Tweaks that are encrypted together: as many blocks as the widest group.
const TWEAKS: usize = 32;

impl<C: Cipher, const ENCRYPT: bool> Kernel for Many<'_, '_, '_, C, ENCRYPT> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { tweak_keys, keys, mut first, size, mut data } = self;
        let n = s.narrow();
        let group = 16 * FLIGHT * S::WIDTH;
        let mut masks = [[0; 16]; TWEAKS];
        while !data.is_empty() {
            let masks = &mut masks[..(data.len() / size).min(TWEAKS)];
            for tweak in masks.iter_mut() {
                *tweak = first.to_le_bytes();
                first = first.wrapping_add(1);
            }
            // The first masks E2(number) of up to 32 sectors at once, a lane each: one by one every
            // sector would begin with the latency of an encryption.
            encrypt_each::<S, C>(s, tweak_keys, masks);
            let (mut now, later) = data.split_at(masks.len() * size);
            // Sectors of whole groups (512 bytes are one group at `vaes512`) need no tails.
            if S::VECTORS > 1 && size.is_multiple_of(group) {
                let (blocks, _) = InOutBlocks::split(now);
                whole_groups::<S, C, ENCRYPT>(s, keys, masks, size / group, blocks);
            } else {
                for mask in masks.iter() {
                    let (data, rest) = now.split_at(size);
                    unit::<S, C, ENCRYPT>(s, keys, n.splat(mask), data);
                    now = rest;
                }
            }
            data = later;
        }
        wipe(masks.as_flattened_mut());
    }
}

/// Encrypts each block by itself.
#[inline(always)]
fn encrypt_each<S: AesClmul, C: Cipher>(s: S, keys: Schedule<'_, C>, blocks: &mut [Block]) {
    let (whole, rest) = blocks.split_at_mut(blocks.len() / S::WIDTH * S::WIDTH);
    if !whole.is_empty() {
        let keys = SameKey::new(s, keys);
        for vector in whole.chunks_exact_mut(S::WIDTH) {
            let [v] = C::encrypt(s, [s.load(vector)], keys);
            s.store(v, vector);
        }
    }
    if !rest.is_empty() {
        let n = s.narrow();
        let keys = SameKey::new(n, keys);
        for block in rest.chunks_exact_mut(1) {
            let [v] = C::encrypt(n, [n.load(block)], keys);
            n.store(v, block);
        }
    }
}

/// Data units of `groups` whole groups each; `masks` has the first mask of each of them. The last
/// group of a data unit makes the masks of the next unit where other groups make those of the next
/// group, so short units follow one another without a gap.
#[inline(always)]
fn whole_groups<S: AesClmul, C: Cipher, const ENCRYPT: bool>(
    s: S,
    keys: Schedule<'_, C>,
    masks: &[Block],
    groups: usize,
    mut data: InOutBlocks<'_, '_>,
) {
    let group = XtsGroup::<S, C, ENCRYPT>::new(s, keys);
    let Some((first, later)) = masks.split_first() else { return };
    let mut t = fresh(s, spread(s, s.splat(first)));
    let mut done = 0;
    // The last data unit has no next one: the masks made from `first` are not used.
    for mask in later.iter().chain([first]) {
        for _ in 1..groups {
            t = group.run(s, t, Advance::new(s, &t), data.reborrow(), done);
            done += FLIGHT * S::WIDTH;
        }
        let next = Fresh::new(s, spread(s, s.splat(mask)));
        t = group.run(s, t, next, data.reborrow(), done);
        done += FLIGHT * S::WIDTH;
    }
}

/// A data unit whose first mask is `mask`.
#[inline(always)]
fn unit<S: AesClmul, C: Cipher, const ENCRYPT: bool>(
    s: S,
    keys: Schedule<'_, C>,
    mut mask: <S::Narrow as Blocks>::V,
    data: InOut<'_, '_>,
) {
    // Whole groups, then vectors, then blocks. With a partial block behind them, the last whole block
    // is left for `steal`.
    let n = s.narrow();
    let (blocks, rest) = InOutBlocks::split(data);
    let whole = blocks.len() - usize::from(!rest.is_empty());
    let (mut data, last) = blocks.split_at(whole);
    if whole >= S::WIDTH {
        let mut masks = spread(s, s.splat_narrow(mask));
        if S::VECTORS > 1 && whole >= FLIGHT * S::WIDTH {
            let group = XtsGroup::<S, C, ENCRYPT>::new(s, keys);
            let mut t = fresh(s, masks);
            let mut done = 0;
            while data.len() - done >= FLIGHT * S::WIDTH {
                t = group.run(s, t, Advance::new(s, &t), data.reborrow(), done);
                done += FLIGHT * S::WIDTH;
            }
            (_, data) = data.split_at(done);
            // The masks of the next vector are those of the next group's first.
            masks = t[0];
        }
        let wide = SameKey::new(s, keys);
        let done = vectors::<S, C, ENCRYPT>(s, wide, &mut masks, data.reborrow());
        (_, data) = data.split_at(done);
        // Lane 0 is the mask of the next block.
        let mut next = [[0; 16]; MOST_WIDTH];
        s.store(masks, &mut next);
        mask = n.load(&next);
    }
    if data.is_empty() && last.is_empty() {
        return;
    }
    let narrow = SameKey::new(n, keys);
    vectors::<S::Narrow, C, ENCRYPT>(n, narrow, &mut mask, data);
    if !last.is_empty() {
        steal::<S::Narrow, C, ENCRYPT>(n, narrow, mask, last, rest);
    }
}

/// The most blocks of a vector.
const MOST_WIDTH: usize = 4;

/// A loop over the vectors of a group, written out: the step is larger than what LLVM unrolls, and
/// in a loop that stays one the vectors, indexed by a variable, would live in memory.
macro_rules! each_vector {
    (|$i:ident| $body:block) => { each_vector!(@ $i $body 0 1 2 3 4 5 6 7) };
    (@ $i:ident $body:block $($number:literal)*) => { $({ let $i = $number; $body })* };
}
const _: () = assert!(FLIGHT == 8);

/// The keys of groups of `FLIGHT` vectors.
struct XtsGroup<'k, S: AesClmul, C: Cipher, const ENCRYPT: bool> {
    keys: SameKey<'k, S, C>,
}

impl<'k, S: AesClmul, C: Cipher, const ENCRYPT: bool> XtsGroup<'k, S, C, ENCRYPT> {
    #[inline(always)]
    fn new(s: S, keys: Schedule<'k, C>) -> Self {
        Self { keys: SameKey::new(s, keys) }
    }

    /// The group at block `at`, with masks `t`; returns those of the next group.
    #[inline(always)]
    fn run(
        &self,
        s: S,
        t: [S::V; FLIGHT],
        next: impl Next<S>,
        mut data: InOutBlocks<'_, '_>,
        at: usize,
    ) -> [S::V; FLIGHT] {
        // Registers with 11 round keys: 8 states, 8 masks, 11 keys, one constant of the reduction: 28, and the
        // temporaries of one product. The masks of the next group take the registers of round keys, or memory.
        let mut v = load_group::<S, FLIGHT>(s, &data, at);
        for i in 0..FLIGHT {
            v[i] = C::whiten(s, s.xor(v[i], t[i]), self.keys, i);
        }
        let mut masks = NextMasks { now: t, next: t, source: next };
        let begun = C::begin_beside::<S, ENCRYPT, FLIGHT>(s, v, self.keys, &mut masks);
        let output = &mut data.output()[at..][..FLIGHT * S::WIDTH];
        each_vector!(|i| {
            // The last round adds its key, and the mask with it.
            let last = C::join(s, t[i], self.keys, i);
            let v = if ENCRYPT {
                C::end(s, begun[i], last, self.keys, i)
            } else {
                C::end_decrypt(s, begun[i], last, self.keys, i)
            };
            s.store(v, &mut output[i * S::WIDTH..]);
        });
        masks.next
    }
}

/// The masks of the next group, which are made between the rounds of this one, a product behind each round: behind all
/// of them the products would wait for one another.
struct NextMasks<V, N> {
    now: [V; FLIGHT],
    next: [V; FLIGHT],
    source: N,
}

impl<S: AesClmul, N: Next<S>> Beside<S> for NextMasks<S::V, N> {
    #[inline(always)]
    fn step(&mut self, s: S, round: usize) {
        let i = round - 1;
        if i < FLIGHT {
            let before = if i == 0 { self.now[FLIGHT - 1] } else { self.next[i - 1] };
            // In its place from both sides: the optimiser would make all masks before the first round.
            self.next[i] = s.here(self.source.next(s, i, s.here(self.now[i]), s.here(before)));
        }
    }
}

/// Where the masks of the next group come from. With one block a vector each is the double of the one
/// before, which is cheaper than a product.
trait Next<S: Blocks> {
    /// Those of vector `i`, whose masks are `now`; `before` are those of the vector before it.
    fn next(&mut self, s: S, i: usize, now: S::V, before: S::V) -> S::V;
}

/// The data unit goes on.
struct Advance<V> {
    carries: V,
}

impl<V: Copy> Advance<V> {
    #[inline(always)]
    fn new<S: Blocks<V = V>>(s: S, t: &[V; FLIGHT]) -> Self {
        Self { carries: s.carries(t[FLIGHT - 1]) }
    }
}

impl<S: AesClmul> Next<S> for Advance<S::V> {
    #[inline(always)]
    fn next(&mut self, s: S, _: usize, now: S::V, before: S::V) -> S::V {
        // A group of 16 or 32 blocks: times x^16 or x^32, shifts by 2 or 4 bytes.
        match S::WIDTH {
            1 => s.double(before, &mut self.carries),
            2 => times_bytes::<S, 2, 14>(s, now),
            _ => times_bytes::<S, 4, 12>(s, now),
        }
    }
}

/// A data unit begins.
struct Fresh<V> {
    first: V,
    carries: V,
}

impl<V: Copy> Fresh<V> {
    #[inline(always)]
    fn new<S: Blocks<V = V>>(s: S, first: V) -> Self {
        Self { first, carries: s.carries(first) }
    }
}

impl<S: AesClmul> Next<S> for Fresh<S::V> {
    #[inline(always)]
    fn next(&mut self, s: S, i: usize, _: S::V, before: S::V) -> S::V {
        // With several blocks a vector all come from the first mask, times x^(i * WIDTH), rather
        // than each from the one before: products that do not wait for one another. Doublings are
        // short enough.
        let first = self.first;
        match (i, i * S::WIDTH) {
            (0, _) => first,
            _ if S::WIDTH == 1 => s.double(before, &mut self.carries),
            (_, 2) => times_power::<S, 2, 62>(s, first),
            (_, 4) => times_power::<S, 4, 60>(s, first),
            (_, 6) => times_power::<S, 6, 58>(s, first),
            (_, 8) => times_bytes::<S, 1, 15>(s, first),
            (_, 10) => times_power::<S, 10, 54>(s, first),
            (_, 12) => times_power::<S, 12, 52>(s, first),
            (_, 14) => times_power::<S, 14, 50>(s, first),
            (_, 16) => times_bytes::<S, 2, 14>(s, first),
            (_, 20) => times_power::<S, 20, 44>(s, first),
            (_, 24) => times_bytes::<S, 3, 13>(s, first),
            (_, 28) => times_power::<S, 28, 36>(s, first),
            _ => unreachable!("vectors of two or four blocks"),
        }
    }
}

/// The masks of the first group of a data unit.
#[inline(always)]
fn fresh<S: AesClmul>(s: S, first: S::V) -> [S::V; FLIGHT] {
    let mut t = [first; FLIGHT];
    let mut next = Fresh::new(s, first);
    each_vector!(|i| {
        t[i] = next.next(s, i, first, t[i.saturating_sub(1)]);
    });
    t
}

/// Vector after vector from `data` while a whole one is left; returns the blocks done. `t` are the
/// masks of the first vector and become those of the next.
#[inline(always)]
fn vectors<S: AesClmul, C: Cipher, const ENCRYPT: bool>(
    s: S,
    keys: SameKey<'_, S, C>,
    t: &mut S::V,
    mut data: InOutBlocks<'_, '_>,
) -> usize {
    let mut done = 0;
    while data.len() - done >= S::WIDTH {
        let v = crypt::<S, C, ENCRYPT>(s, keys, *t, s.load(&data.input()[done..]));
        s.store(v, &mut data.output()[done..]);
        *t = next_vector(s, *t);
        done += S::WIDTH;
    }
    done
}

/// The last whole block and the partial one behind it (IEEE 1619, 5.3.2 and 5.4.2); `t` is the mask of
/// the whole one.
#[inline(always)]
fn steal<S: AesClmul, C: Cipher, const ENCRYPT: bool>(
    s: S,
    keys: SameKey<'_, S, C>,
    t: S::V,
    mut last: InOutBlocks<'_, '_>,
    mut rest: InOut<'_, '_>,
) {
    // Encryption: CC = block m-1 under its own mask. The first bytes of CC are the short last block
    // of the ciphertext; the short plaintext, filled up with the rest of CC, becomes block m-1 under
    // the mask of block m. Decryption undoes it from the other end: so the masks change places.
    let next = next_vector(s, t);
    let (first, second) = if ENCRYPT { (t, next) } else { (next, t) };
    let mut block = [[0; 16]];
    s.store(crypt::<S, C, ENCRYPT>(s, keys, first, s.load(last.input())), &mut block);
    let mut stolen = block;
    let length = rest.len();
    block[0][..length].copy_from_slice(rest.get_in());
    rest.get_out().copy_from_slice(&stolen[0][..length]);
    s.store(crypt::<S, C, ENCRYPT>(s, keys, second, s.load(&block)), last.output());
    wipe(&mut stolen[0]);
    wipe(&mut block[0]);
}

/// One vector with masks `t`.
#[inline(always)]
fn crypt<S: AesClmul, C: Cipher, const ENCRYPT: bool>(
    s: S,
    keys: SameKey<'_, S, C>,
    t: S::V,
    v: S::V,
) -> S::V {
    let v = [s.xor(v, t)];
    let [v] = if ENCRYPT { C::encrypt(s, v, keys) } else { C::decrypt(s, v, keys) };
    s.xor(v, t)
}

/// Lane *i* = x^*i*.
const POWERS: [Block; MOST_WIDTH] =
    [1_u128.to_le_bytes(), 2_u128.to_le_bytes(), 4_u128.to_le_bytes(), 8_u128.to_le_bytes()];

/// Lane *i* times x^*i*.
#[inline(always)]
fn spread<S: AesClmul>(s: S, t: S::V) -> S::V {
    if S::WIDTH == 1 {
        return t;
    }
    let powers = s.load(&POWERS);
    // t = l + h x^64 and p = x^i, i < 4: t p = l p + h p x^64. What of h p goes beyond 64 bits
    // stands for multiples of x^128, and comes back times x^7 + x^2 + x + 1.
    let high = s.clmul_high_low(t, powers);
    let t = s.xor(s.clmul_low(t, powers), s.bytes_up::<8>(high));
    s.xor(t, s.clmul_high_low(high, s.splat_halves(FOLD, 0)))
}

/// x^7 + x^2 + x + 1: what x^128 is.
const FOLD: u64 = 0x87;

/// Each lane times x^`WIDTH`.
#[inline(always)]
fn next_vector<S: AesClmul>(s: S, t: S::V) -> S::V {
    match S::WIDTH {
        1 => s.double(t, &mut s.carries(t)),
        2 => times_power::<S, 2, 62>(s, t),
        _ => times_power::<S, 4, 60>(s, t),
    }
}

/// Each lane times x^`N`; `M` = 64 - `N`.
#[inline(always)]
fn times_power<S: AesClmul, const N: u32, const M: u32>(s: S, t: S::V) -> S::V {
    // The bits that leave the low half go to the high half. Those that leave the high half come back
    // into the low half, where one term of the product is in its place already.
    let carry = s.shift_right::<M>(s.swap_halves(t));
    let fold = s.clmul_low(carry, s.splat_halves(FOLD - 1, 0));
    s.xor(s.xor(s.shift_left::<N>(t), carry), fold)
}

/// Each lane times x^(8 * `N`); `M` = 16 - `N`.
#[inline(always)]
fn times_bytes<S: AesClmul, const N: i32, const M: i32>(s: S, t: S::V) -> S::V {
    // The N highest bytes leave the block: times x^7 + x^2 + x + 1 they come back at its beginning.
    let fold = s.clmul_low(s.bytes_down::<M>(t), s.splat_halves(FOLD, 0));
    s.xor(s.bytes_up::<N>(t), fold)
}
