//! The portable level: bit-sliced AES, constant-time on any processor.
//!
//! Up to four blocks stand as eight *bit planes* of 64 bits: bit *j* of plane *b* is bit *b* of byte
//! *j*, where byte *j* is byte *j* mod 16 of block *j* / 16. SubBytes is a Boolean circuit, so no
//! memory address and no branch depends on data; ShiftRows and MixColumns are shifts and masks.
//!
//! A round costs the same for one block as for four, since a plane always has 64 bits: so four
//! blocks a vector and one vector in flight. The S-box circuit has more intermediate values than
//! there are general registers; the rest go through the stack.
//!
//! Every kernel is compiled for this level too. Inlined, these functions would be most of its code, and
//! so would a call for each round be, with planes copied before and behind it. So all rounds of some
//! vectors are one call (`#[inline(never)]`), and so is each part that kernels
//! [run in place](Blocks::run_part), a product of a hash for instance, and whatever else is more than a few
//! instructions.

mod planes;
mod products;
mod s_box;

use crate::block::halves;
use crate::matrix::times_matrix;
use crate::policy::Ways;
use crate::vectors::{LAST, STEPS, WIDEST, sealed::Sealed};
use crate::{AesRounds, Begun, Beside, Block, Blocks, Clmul, Kernel, Part, RoundKeys, Windows};
use planes::{
    add_key, decrypt_round, encrypt_round, expand, inv_mix_columns, slice, sub_word, unslice,
};
use products::{clmul, from_halves};
use s_box::Planes;

/// The token of the portable level, with `W` blocks a vector (1 to 4). Needs no instruction set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Portable<const W: usize = 4>(());

impl Portable {
    pub(crate) const fn new() -> Self {
        Self(())
    }

    /// Runs `kernel`; never inlined, so that its large frame is not that of the other levels.
    #[inline(never)]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Out {
        kernel.run(self)
    }
}

impl<const W: usize> Sealed for Portable<W> {}

impl<const W: usize> Blocks for Portable<W> {
    type V = [Block; W];
    type Narrow = Portable<1>;
    type Pair = Portable<2>;
    const WIDTH: usize = W;
    const VECTORS: usize = 1; // planes are wide, and all of a vector's work is independent

    #[inline]
    fn narrow(self) -> Portable<1> {
        Portable(())
    }

    #[inline]
    fn pair(self) -> Portable<2> {
        Portable(())
    }

    #[inline]
    fn ways(self) -> Ways {
        Ways::NONE
    }

    #[inline(never)]
    fn call<P: Part<Self>>(self, part: P) -> P::Out {
        part.run(self)
    }

    #[inline]
    fn run_part<P: Part<Self>>(self, part: P) -> P::Out {
        self.call(part)
    }

    #[inline]
    fn here(self, v: [Block; W]) -> [Block; W] {
        // No units to fill in a certain order.
        v
    }

    #[inline]
    fn load(self, src: &[Block]) -> [Block; W] {
        core::array::from_fn(|i| src[i])
    }

    #[inline]
    fn store(self, v: [Block; W], dst: &mut [Block]) {
        dst[..W].copy_from_slice(&v);
    }

    #[inline(never)]
    fn lanes(self, v: [Block; W]) -> [[Block; 1]; WIDEST] {
        core::array::from_fn(|lane| [v[lane.min(W - 1)]])
    }

    #[inline(never)]
    fn join_lanes(self, lanes: [[Block; 1]; WIDEST]) -> [Block; W] {
        core::array::from_fn(|lane| lanes[lane][0])
    }

    #[inline(never)]
    fn load_each(self, blocks: &[&Block]) -> [Block; W] {
        core::array::from_fn(|i| *blocks[i])
    }

    #[inline(never)]
    fn load_part(self, src: &[u8]) -> [Block; W] {
        let mut v = [[0; 16]; W];
        v.as_flattened_mut()[..src.len()].copy_from_slice(src);
        v
    }

    #[inline(never)]
    fn store_part(self, v: [Block; W], dst: &mut [u8]) {
        dst.copy_from_slice(&v.as_flattened()[..dst.len()]);
    }

    #[inline(never)]
    fn keep(self, v: [Block; W], bytes: usize) -> [Block; W] {
        self.load_part(&v.as_flattened()[..bytes.min(16 * W)])
    }

    #[inline]
    fn zero(self) -> [Block; W] {
        [[0; 16]; W]
    }

    #[inline]
    fn splat(self, block: &Block) -> [Block; W] {
        [*block; W]
    }

    #[inline]
    fn splat_halves(self, low: u64, high: u64) -> [Block; W] {
        [from_halves([low, high]); W]
    }

    #[inline]
    fn splat_narrow(self, [block]: [Block; 1]) -> [Block; W] {
        [block; W]
    }

    #[inline]
    fn in_first_lane(self, v: [Block; 1]) -> [Block; W] {
        core::array::from_fn(|i| if i == 0 { v[0] } else { [0; 16] })
    }

    #[inline(never)]
    fn sum_lanes(self, v: [Block; W]) -> [Block; 1] {
        let sum = v.into_iter().fold(0, |sum, block| sum ^ u128::from_ne_bytes(block));
        [sum.to_ne_bytes()]
    }

    #[inline]
    fn and(self, a: [Block; W], b: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| {
            (u128::from_ne_bytes(a[i]) & u128::from_ne_bytes(b[i])).to_ne_bytes()
        })
    }

    #[inline(never)]
    fn add_words(self, a: [Block; W], b: [Block; W]) -> [Block; W] {
        let add = |a: &Block, b: &Block| {
            let mut sum = *a;
            for (sum, b) in sum.as_chunks_mut().0.iter_mut().zip(b.as_chunks().0) {
                *sum = u32::from_le_bytes(*sum).wrapping_add(u32::from_le_bytes(*b)).to_le_bytes();
            }
            sum
        };
        core::array::from_fn(|i| add(&a[i], &b[i]))
    }

    #[inline(never)]
    fn reverse(self, v: [Block; W]) -> [Block; W] {
        v.map(|block| u128::from_le_bytes(block).to_be_bytes())
    }

    #[inline]
    fn swap_halves(self, v: [Block; W]) -> [Block; W] {
        v.map(|block| u128::from_le_bytes(block).rotate_left(64).to_le_bytes())
    }

    #[inline(never)]
    fn bytes_up<const N: i32>(self, v: [Block; W]) -> [Block; W] {
        v.map(|block| (u128::from_le_bytes(block) << (8 * N)).to_le_bytes())
    }

    #[inline(never)]
    fn bytes_down<const N: i32>(self, v: [Block; W]) -> [Block; W] {
        v.map(|block| (u128::from_le_bytes(block) >> (8 * N)).to_le_bytes())
    }

    #[inline(never)]
    fn shift_left<const N: u32>(self, v: [Block; W]) -> [Block; W] {
        v.map(|block| from_halves(halves(&block).map(|half| half << N)))
    }

    #[inline(never)]
    fn shift_right<const N: u32>(self, v: [Block; W]) -> [Block; W] {
        v.map(|block| from_halves(halves(&block).map(|half| half >> N)))
    }

    #[inline(never)]
    fn shift_left_by(self, v: [Block; W], counts: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| {
            let [count, _] = halves(&counts[i]);
            let shift = |half: u64| if count < 64 { half << count } else { 0 };
            from_halves(halves(&v[i]).map(shift))
        })
    }

    #[inline(never)]
    fn shift_right_by(self, v: [Block; W], counts: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| {
            let [count, _] = halves(&counts[i]);
            let shift = |half: u64| if count < 64 { half >> count } else { 0 };
            from_halves(halves(&v[i]).map(shift))
        })
    }

    #[inline(never)]
    fn double(self, v: [Block; W], _: &mut [Block; W]) -> [Block; W] {
        // A product by the highest bit, not a branch on it.
        v.map(|block| {
            let number = u128::from_le_bytes(block);
            ((number << 1) ^ ((number >> 127) * 0x87)).to_le_bytes()
        })
    }

    #[inline]
    fn carries(self, v: [Block; W]) -> [Block; W] {
        v
    }

    #[inline]
    fn xor(self, a: [Block; W], b: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| {
            (u128::from_ne_bytes(a[i]) ^ u128::from_ne_bytes(b[i])).to_ne_bytes()
        })
    }

    #[inline]
    fn shift_in(self, before: [Block; W], v: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| if i == 0 { before[W - 1] } else { v[i - 1] })
    }

    #[inline(never)]
    fn counters(self, first: &Block) -> [Block; W] {
        core::array::from_fn(|i| add_low64(first, i as u64))
    }

    #[inline]
    fn lane_counters(self, blocks: [Block; W]) -> [Block; W] {
        blocks
    }

    #[inline(never)]
    fn counters_add(self, c: [Block; W], n: u64) -> [Block; W] {
        core::array::from_fn(|i| add_low64(&c[i], n))
    }

    #[inline]
    fn counter_blocks(self, c: [Block; W]) -> [Block; W] {
        c
    }
}

impl<const W: usize> Windows for Portable<W> {
    #[inline(never)]
    fn turn(self, square: [[Block; W]; WIDEST]) -> [[Block; W]; WIDEST] {
        let mut turned = square;
        for i in 0..W {
            for j in 0..W {
                turned[i][j] = square[j][i];
            }
        }
        turned
    }
    #[inline(never)]
    fn sums(self, square: [[Block; W]; WIDEST]) -> [Block; W] {
        let mut sums = self.zero();
        for i in 0..W {
            sums[i] = self.sum_lanes(square[i])[0];
        }
        sums
    }
}

// Blocks become planes behind whitening, so that whitening and joining are left to the planes: there
// both keys are added as planes.
impl<const W: usize> AesRounds for Portable<W> {
    type K = Planes;
    type State = Planes;

    #[inline]
    fn as_keys(self, v: [Block; W]) -> Planes {
        slice(&v)
    }

    #[inline]
    fn whiten(self, v: [Block; W], _: Planes) -> [Block; W] {
        v
    }

    #[inline]
    fn enter(self, whitened: [Block; W], first: Planes) -> Planes {
        let mut p = slice(&whitened);
        add_key(&mut p, &first);
        p
    }

    #[inline]
    fn join(self, text: [Block; W], _: Planes) -> [Block; W] {
        text
    }

    /// There are no units that rounds leave free: the other work is done behind them.
    #[inline]
    fn begin<const ENCRYPT: bool, const N: usize>(
        self,
        blocks: [[Block; W]; N],
        first: [Planes; N],
        keys: &impl RoundKeys<Self>,
        beside: &mut impl Beside<Self>,
    ) -> [Begun<Planes, Planes>; N] {
        let begun = begin::<_, ENCRYPT, _, N>(self, blocks, first, keys);
        for step in 1..=STEPS {
            beside.step(self, step);
        }
        begun
    }

    #[inline]
    fn encrypt<const N: usize>(
        self,
        mut v: [[Block; W]; N],
        keys: impl RoundKeys<Self>,
    ) -> [[Block; W]; N] {
        cipher::<_, true, W>(self, &mut v, &keys);
        v
    }

    #[inline]
    fn encrypt_xor<const N: usize>(
        self,
        mut x: [[Block; W]; N],
        y: [[Block; W]; N],
        keys: impl RoundKeys<Self>,
    ) -> [[Block; W]; N] {
        for i in 0..N {
            x[i] = self.xor(x[i], y[i]);
        }
        self.encrypt::<N>(x, keys)
    }

    #[inline]
    fn encrypt_whitened<const N: usize>(
        self,
        v: [[Block; W]; N],
        keys: impl RoundKeys<Self>,
    ) -> [[Block; W]; N] {
        self.encrypt::<N>(v, keys)
    }

    #[inline]
    fn encrypt_whitened_xor<const N: usize>(
        self,
        v: [[Block; W]; N],
        next: [[Block; W]; N],
        keys: impl RoundKeys<Self>,
    ) -> [[Block; W]; N] {
        let mut v = self.encrypt::<N>(v, keys);
        for i in 0..N {
            v[i] = self.xor(v[i], next[i]);
        }
        v
    }

    #[inline]
    fn decrypt<const N: usize>(
        self,
        mut v: [[Block; W]; N],
        keys: impl RoundKeys<Self>,
    ) -> [[Block; W]; N] {
        cipher::<_, false, W>(self, &mut v, &keys);
        v
    }

    #[inline]
    fn encrypt_round(self, mut v: Planes, _: Planes, after: Planes) -> Planes {
        encrypt_round(&mut v, true, &after);
        v
    }

    #[inline(never)]
    fn encrypt_last_round(
        self,
        mut v: Planes,
        _: Planes,
        last: Planes,
        joined: [Block; W],
    ) -> [Block; W] {
        encrypt_round(&mut v, false, &last);
        self.xor(unslice(&v), joined)
    }

    #[inline]
    fn decrypt_round(self, mut v: Planes, _: Planes, after: Planes) -> Planes {
        decrypt_round(&mut v, true, &after);
        v
    }

    #[inline(never)]
    fn decrypt_last_round(
        self,
        mut v: Planes,
        _: Planes,
        last: Planes,
        joined: [Block; W],
    ) -> [Block; W] {
        decrypt_round(&mut v, false, &last);
        self.xor(unslice(&v), joined)
    }

    #[inline]
    fn order(self, v: Planes) -> Planes {
        v
    }

    #[inline(never)]
    fn round(self, v: [Block; W], key: [Block; W]) -> [Block; W] {
        let mut p = slice(&v);
        encrypt_round(&mut p, true, &[0; 8]);
        self.xor(unslice(&p), key)
    }

    /// As many vectors at once as the planes hold.
    #[inline]
    fn rounds<const N: usize>(
        self,
        mut v: [[Block; W]; N],
        keys: [[Block; W]; N],
    ) -> [[Block; W]; N] {
        for group in v.as_flattened_mut().chunks_mut(4) {
            let mut blocks = [[0; 16]; 4];
            blocks[..group.len()].copy_from_slice(group);
            let mut p = slice(&blocks);
            encrypt_round(&mut p, true, &[0; 8]);
            group.copy_from_slice(&unslice::<4>(&p)[..group.len()]);
        }
        for i in 0..N {
            v[i] = self.xor(v[i], keys[i]);
        }
        v
    }

    #[inline(never)]
    fn sub_last_words<const ROTATE: bool>(self, v: [Block; W], constant: u8) -> [Block; W] {
        v.map(|block| {
            let [.., a, b, c, d] = block;
            let mut word = sub_word(if ROTATE { [b, c, d, a] } else { [a, b, c, d] });
            word[0] ^= if ROTATE { constant } else { 0 };
            core::array::from_fn(|i| word[i % 4])
        })
    }

    #[inline]
    fn expand<const R: usize>(self, key: &[u8], keys: &mut [Block; R]) {
        expand(key, keys);
    }

    #[inline(never)]
    fn inv_mix_columns(self, block: Block) -> Block {
        let mut p = slice(&[block]);
        inv_mix_columns(&mut p);
        unslice::<1>(&p)[0]
    }
}

impl<const W: usize> Clmul for Portable<W> {
    #[inline(never)]
    fn clmul_low(self, a: [Block; W], b: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| clmul(halves(&a[i])[0], halves(&b[i])[0]))
    }

    #[inline(never)]
    fn clmul_high(self, a: [Block; W], b: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| clmul(halves(&a[i])[1], halves(&b[i])[1]))
    }

    #[inline(never)]
    fn clmul_low_high(self, a: [Block; W], b: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| clmul(halves(&a[i])[0], halves(&b[i])[1]))
    }

    #[inline(never)]
    fn clmul_high_low(self, a: [Block; W], b: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| clmul(halves(&a[i])[1], halves(&b[i])[0]))
    }

    #[inline(never)]
    fn times_matrix(self, v: [Block; W], matrix: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| times_matrix(&v[i], &matrix[i]))
    }
}

/// `block` with `n` added to its last eight bytes as a big-endian number, without carry.
fn add_low64(block: &Block, n: u64) -> Block {
    let number = u128::from_be_bytes(*block);
    let low = number.wrapping_add(n.into()) & u128::from(u64::MAX);
    (number & !u128::from(u64::MAX) | low).to_be_bytes()
}

/// All rounds but the last.
#[inline(never)]
fn begin<K: RoundKeys<Portable<W>>, const ENCRYPT: bool, const W: usize, const N: usize>(
    s: Portable<W>,
    blocks: [[Block; W]; N],
    first: [Planes; N],
    keys: &K,
) -> [Begun<Planes, Planes>; N] {
    let mut i = 0;
    blocks.map(|blocks| {
        let state = rounds::<_, ENCRYPT, W>(s, &blocks, &first[i], keys, i);
        i += 1;
        Begun { state, before: [0; 8] }
    })
}

/// All rounds of all vectors.
#[inline(never)]
fn cipher<K: RoundKeys<Portable<W>>, const ENCRYPT: bool, const W: usize>(
    s: Portable<W>,
    vectors: &mut [[Block; W]],
    keys: &K,
) {
    for (i, v) in vectors.iter_mut().enumerate() {
        let mut state = rounds::<_, ENCRYPT, W>(s, v, &keys.get(s, 0, i), keys, i);
        let last = keys.get(s, LAST, i);
        if ENCRYPT {
            encrypt_round(&mut state, false, &last);
        } else {
            decrypt_round(&mut state, false, &last);
        }
        *v = unslice(&state);
    }
}

/// All rounds but the last of vector `i`.
fn rounds<K: RoundKeys<Portable<W>>, const ENCRYPT: bool, const W: usize>(
    s: Portable<W>,
    blocks: &[Block; W],
    first: &Planes,
    keys: &K,
    i: usize,
) -> Planes {
    let mut state = slice(blocks);
    add_key(&mut state, first);
    for round in 1..keys.rounds() {
        let key = keys.get(s, round, i);
        if ENCRYPT {
            encrypt_round(&mut state, true, &key);
        } else {
            decrypt_round(&mut state, true, &key);
        }
    }
    state
}
