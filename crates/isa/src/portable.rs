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
//! Every kernel is compiled for this level too. Inlined, these functions would be most of its code:
//! so the large ones are calls (`#[inline(never)]`), whose cost is small beside a bit-sliced round.

use crate::blocks::{Blocks, RoundKeys, sealed::Sealed};
use crate::matrix::times_matrix;
use crate::{Block, Clmul, Kernel, Row, RowMut};

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

/// Eight bit planes, lowest bit first.
type Planes = [u64; 8];

impl<const W: usize> Sealed for Portable<W> {}

impl<const W: usize> Blocks for Portable<W> {
    type V = [Block; W];
    type K = Planes;
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
    fn here(self, v: [Block; W]) -> [Block; W] {
        // No units to fill in a certain order.
        v
    }

    #[inline]
    fn load(self, src: &[Block]) -> [Block; W] {
        self.load_strided(src, 0, 1)
    }

    #[inline]
    fn store(self, v: [Block; W], dst: &mut [Block]) {
        dst[..W].copy_from_slice(&v);
    }

    #[inline]
    fn load_strided(self, src: &[Block], at: usize, stride: usize) -> [Block; W] {
        core::array::from_fn(|i| src[at + i * stride])
    }

    #[inline]
    fn store_strided(self, v: [Block; W], dst: &mut [Block], at: usize, stride: usize) {
        for (i, block) in v.into_iter().enumerate() {
            dst[at + i * stride] = block;
        }
    }

    #[inline]
    fn gather<const N: usize>(self, row: Row<'_, '_, N>, vector: usize) -> [Block; W] {
        core::array::from_fn(|lane| *row.read(vector, lane))
    }

    #[inline]
    fn scatter<const N: usize>(self, v: [Block; W], row: &mut RowMut<'_, '_, N>, vector: usize) {
        for (lane, block) in v.into_iter().enumerate() {
            *row.write(vector, lane) = block;
        }
    }

    #[inline]
    fn scatter_last<const N: usize>(
        self,
        v: [Block; W],
        row: &mut RowMut<'_, '_, N>,
        count: usize,
    ) {
        for (lane, block) in v.into_iter().take(count).enumerate() {
            *row.write(N - 1, lane) = block;
        }
    }

    #[inline]
    fn gather_square<const N: usize>(self, rows: Row<'_, '_, N>, vector: usize) -> [[Block; W]; 4] {
        let mut square = [[[0; 16]; W]; 4];
        for lane in 0..W {
            for (row, block) in square.iter_mut().zip(rows.read_run::<W>(vector, lane)) {
                row[lane] = *block;
            }
        }
        square
    }

    #[inline]
    fn scatter_square<const N: usize>(
        self,
        v: [[Block; W]; 4],
        rows: &mut RowMut<'_, '_, N>,
        vector: usize,
    ) {
        for lane in 0..W {
            for (block, row) in rows.write_run::<W>(vector, lane).iter_mut().zip(v) {
                *block = row[lane];
            }
        }
    }

    #[inline]
    fn scatter_square_last<const N: usize>(
        self,
        v: [[Block; W]; 4],
        rows: &mut RowMut<'_, '_, N>,
        count: usize,
    ) {
        for lane in 0..count.min(W) {
            for (block, row) in rows.write_run::<W>(N - 1, lane).iter_mut().zip(v) {
                *block = row[lane];
            }
        }
    }

    #[inline]
    fn load_each(self, blocks: &[&Block]) -> [Block; W] {
        core::array::from_fn(|i| *blocks[i])
    }

    #[inline]
    fn load_part(self, src: &[u8]) -> [Block; W] {
        let mut v = [[0; 16]; W];
        v.as_flattened_mut()[..src.len()].copy_from_slice(src);
        v
    }

    #[inline]
    fn store_part(self, v: [Block; W], dst: &mut [u8]) {
        dst.copy_from_slice(&v.as_flattened()[..dst.len()]);
    }

    #[inline]
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
    fn last_narrow(self, v: [Block; W]) -> [Block; 1] {
        [v[W - 1]]
    }

    #[inline]
    fn in_first_lane(self, v: [Block; 1]) -> [Block; W] {
        core::array::from_fn(|i| if i == 0 { v[0] } else { [0; 16] })
    }

    #[inline]
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

    #[inline]
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

    #[inline]
    fn reverse(self, v: [Block; W]) -> [Block; W] {
        v.map(|block| u128::from_le_bytes(block).to_be_bytes())
    }

    #[inline]
    fn swap_halves(self, v: [Block; W]) -> [Block; W] {
        v.map(|block| u128::from_le_bytes(block).rotate_left(64).to_le_bytes())
    }

    #[inline]
    fn bytes_up<const N: i32>(self, v: [Block; W]) -> [Block; W] {
        v.map(|block| (u128::from_le_bytes(block) << (8 * N)).to_le_bytes())
    }

    #[inline]
    fn bytes_down<const N: i32>(self, v: [Block; W]) -> [Block; W] {
        v.map(|block| (u128::from_le_bytes(block) >> (8 * N)).to_le_bytes())
    }

    #[inline]
    fn shift_left<const N: u32>(self, v: [Block; W]) -> [Block; W] {
        v.map(|block| from_halves(halves(&block).map(|half| half << N)))
    }

    #[inline]
    fn shift_right<const N: u32>(self, v: [Block; W]) -> [Block; W] {
        v.map(|block| from_halves(halves(&block).map(|half| half >> N)))
    }

    #[inline]
    fn shift_left_by(self, v: [Block; W], counts: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| {
            let [count, _] = halves(&counts[i]);
            let shift = |half: u64| if count < 64 { half << count } else { 0 };
            from_halves(halves(&v[i]).map(shift))
        })
    }

    #[inline]
    fn shift_right_by(self, v: [Block; W], counts: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| {
            let [count, _] = halves(&counts[i]);
            let shift = |half: u64| if count < 64 { half >> count } else { 0 };
            from_halves(halves(&v[i]).map(shift))
        })
    }

    #[inline]
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

    #[inline]
    fn in_last_lane(self, block: &Block) -> [Block; W] {
        [*block; W]
    }

    #[inline]
    fn last_lane(self, v: [Block; W]) -> Block {
        v[W - 1]
    }

    #[inline]
    fn counters(self, first: &Block) -> [Block; W] {
        core::array::from_fn(|i| add_low64(first, i as u64))
    }

    #[inline]
    fn lane_counters(self, blocks: [Block; W]) -> [Block; W] {
        blocks
    }

    #[inline]
    fn counters_add(self, c: [Block; W], n: u64) -> [Block; W] {
        core::array::from_fn(|i| add_low64(&c[i], n))
    }

    #[inline]
    fn counter_blocks(self, c: [Block; W]) -> [Block; W] {
        c
    }

    #[inline]
    fn key(self, key: &Block) -> Planes {
        slice(&[*key; W])
    }

    #[inline]
    fn lane_keys(self, keys: &[Block]) -> Planes {
        slice(&self.load(keys))
    }

    #[inline]
    fn as_keys(self, v: [Block; W]) -> Planes {
        slice(&v)
    }

    #[inline]
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

    #[inline]
    fn encrypt_xor<const N: usize, const R: usize>(
        self,
        x: [[Block; W]; N],
        y: [[Block; W]; N],
        keys: impl RoundKeys<Self>,
    ) -> [[Block; W]; N] {
        let v = core::array::from_fn(|i| self.xor(x[i], y[i]));
        self.encrypt::<N, R>(v, keys)
    }

    #[inline]
    fn encrypt<const N: usize, const R: usize>(
        self,
        v: [[Block; W]; N],
        keys: impl RoundKeys<Self>,
    ) -> [[Block; W]; N] {
        encrypt::<W, N, R>(self, v, keys, true)
    }

    #[inline]
    fn encrypt_whitened<const N: usize, const R: usize>(
        self,
        v: [[Block; W]; N],
        keys: impl RoundKeys<Self>,
    ) -> [[Block; W]; N] {
        encrypt::<W, N, R>(self, v, keys, false)
    }

    #[inline]
    fn decrypt<const N: usize, const R: usize>(
        self,
        mut v: [[Block; W]; N],
        keys: impl RoundKeys<Self>,
    ) -> [[Block; W]; N] {
        for (i, v) in v.iter_mut().enumerate() {
            let mut p = slice(v);
            add_key(&mut p, &keys.get(self, 0, i));
            for round in 1..R {
                decrypt_round(&mut p, round < R - 1, &keys.get(self, round, i));
            }
            *v = unslice(&p);
        }
        v
    }

    #[inline]
    fn encrypt_begin<const N: usize, const R: usize>(
        self,
        v: [[Block; W]; N],
        keys: impl RoundKeys<Self>,
    ) -> [[Block; W]; N] {
        self.encrypt::<N, R>(v, AllButLast::<_, R>(keys))
    }

    #[inline]
    fn encrypt_end(self, v: [Block; W], last: [Block; W]) -> [Block; W] {
        self.xor(v, last)
    }

    #[inline]
    fn decrypt_begin<const N: usize, const R: usize>(
        self,
        v: [[Block; W]; N],
        keys: impl RoundKeys<Self>,
    ) -> [[Block; W]; N] {
        self.decrypt::<N, R>(v, AllButLast::<_, R>(keys))
    }

    #[inline]
    fn decrypt_end(self, v: [Block; W], last: [Block; W]) -> [Block; W] {
        self.xor(v, last)
    }

    #[inline]
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

    #[inline]
    fn inv_mix_columns(self, block: Block) -> Block {
        let mut p = slice(&[block]);
        inv_mix_columns(&mut p);
        unslice::<1>(&p)[0]
    }
}

/// Round keys of which the last is zero.
#[derive(Clone, Copy)]
struct AllButLast<K, const R: usize>(K);

impl<K: RoundKeys<Portable<W>>, const W: usize, const R: usize> RoundKeys<Portable<W>>
    for AllButLast<K, R>
{
    #[inline]
    fn get(&self, s: Portable<W>, round: usize, vector: usize) -> Planes {
        if round == R - 1 { [0; 8] } else { self.0.get(s, round, vector) }
    }
}

impl<const W: usize> Clmul for Portable<W> {
    #[inline]
    fn clmul_low(self, a: [Block; W], b: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| clmul(halves(&a[i])[0], halves(&b[i])[0]))
    }

    #[inline]
    fn clmul_high(self, a: [Block; W], b: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| clmul(halves(&a[i])[1], halves(&b[i])[1]))
    }

    #[inline]
    fn clmul_low_high(self, a: [Block; W], b: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| clmul(halves(&a[i])[0], halves(&b[i])[1]))
    }

    #[inline]
    fn clmul_high_low(self, a: [Block; W], b: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| clmul(halves(&a[i])[1], halves(&b[i])[0]))
    }

    #[inline]
    fn times_matrix(self, v: [Block; W], matrix: [Block; W]) -> [Block; W] {
        core::array::from_fn(|i| times_matrix(&v[i], &matrix[i]))
    }
}

/// The halves of a block as little-endian numbers, the low one first.
fn halves(block: &Block) -> [u64; 2] {
    let number = u128::from_le_bytes(*block);
    #[expect(clippy::cast_possible_truncation, reason = "the low half")]
    [number as u64, (number >> 64) as u64]
}

fn from_halves([low, high]: [u64; 2]) -> Block {
    (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
}

/// The carry-less product. Its high half is the low half of the product of the reversed factors,
/// reversed.
#[inline(never)]
fn clmul(a: u64, b: u64) -> Block {
    // Reversing both factors reverses the 127 bits of the product; one shift aligns them.
    let high = clmul_low_half(a.reverse_bits(), b.reverse_bits()).reverse_bits() >> 1;
    from_halves([clmul_low_half(a, b), high])
}

/// The low half of the carry-less product, in constant time: ordinary products of numbers with every
/// fourth bit, where carries cannot reach the next such bit below bit 64 (T. Pornin, BearSSL).
fn clmul_low_half(a: u64, b: u64) -> u64 {
    // Bits at places that are equal modulo 4: in an integer product of two such numbers each place
    // of the same kind gets a sum of at most 16 ones, of which the lowest bit is the exclusive or.
    // The sum needs five bits only at the top place (16 ones), whose carry leaves the 64 bits.
    const EVERY_FOURTH: u64 = 0x1111_1111_1111_1111;
    let mut product = 0;
    for k in 0..4 {
        let mut sum = 0;
        for i in 0..4 {
            // Places i and j of the factors meet at i + j = k modulo 4.
            let j = (k + 4 - i) % 4;
            sum ^= (a & (EVERY_FOURTH << i)).wrapping_mul(b & (EVERY_FOURTH << j));
        }
        product |= sum & (EVERY_FOURTH << k);
    }
    product
}

/// The key expansion of FIPS 197, 5.2.
#[inline(never)]
fn expand<const R: usize>(key: &[u8], keys: &mut [Block; R]) {
    let words = keys.as_flattened_mut().as_chunks_mut::<4>().0;
    let (first, _) = key.as_chunks::<4>();
    let key_words = first.len();
    words[..key_words].copy_from_slice(first);
    let mut round_constant = 1_u8;
    for i in key_words..words.len() {
        let mut word = words[i - 1];
        if i % key_words == 0 {
            word.rotate_left(1);
            word = sub_word(word);
            word[0] ^= round_constant;
            round_constant =
                (round_constant << 1) ^ if round_constant & 0x80 != 0 { 0x1b } else { 0 };
        } else if key_words == 8 && i % key_words == 4 {
            word = sub_word(word);
        }
        let before = words[i - key_words];
        words[i] = core::array::from_fn(|b| word[b] ^ before[b]);
    }
}

/// SubWord: the S-box on four bytes.
fn sub_word(word: [u8; 4]) -> [u8; 4] {
    let mut p = slice(&[core::array::from_fn(|i| word[i % 4])]);
    sub_bytes(&mut p);
    let [[a, b, c, d, ..]] = unslice::<1>(&p);
    [a, b, c, d]
}

#[inline]
fn encrypt<const W: usize, const N: usize, const R: usize>(
    token: Portable<W>,
    mut v: [[Block; W]; N],
    keys: impl RoundKeys<Portable<W>>,
    whiten: bool,
) -> [[Block; W]; N] {
    for (i, v) in v.iter_mut().enumerate() {
        let mut p = slice(v);
        if whiten {
            add_key(&mut p, &keys.get(token, 0, i));
        }
        for round in 1..R {
            encrypt_round(&mut p, round < R - 1, &keys.get(token, round, i));
        }
        *v = unslice(&p);
    }
    v
}

/// `block` with `n` added to its last eight bytes as a big-endian number, without carry.
fn add_low64(block: &Block, n: u64) -> Block {
    let number = u128::from_be_bytes(*block);
    let low = number.wrapping_add(n.into()) & u128::from(u64::MAX);
    (number & !u128::from(u64::MAX) | low).to_be_bytes()
}

/// Transposes the 8x8 bit matrix whose row *i* is byte *i*: single bits of 2x2 squares are exchanged,
/// then 2x2 squares of 4x4 ones, then 4x4 ones.
fn transpose8(mut x: u64) -> u64 {
    let t = (x ^ (x >> 7)) & 0x00aa_00aa_00aa_00aa;
    x ^= t ^ (t << 7);
    let t = (x ^ (x >> 14)) & 0x0000_cccc_0000_cccc;
    x ^= t ^ (t << 14);
    let t = (x ^ (x >> 28)) & 0x0000_0000_f0f0_f0f0;
    x ^ t ^ (t << 28)
}

/// Blocks to bit planes; blocks beyond `W` are zero.
#[inline(never)]
fn slice<const W: usize>(blocks: &[Block; W]) -> Planes {
    let mut p = [0; 8];
    // Eight bytes have eight bits of each plane: after the transposition byte *b* is those of plane
    // *b*.
    for (i, half) in blocks.as_flattened().as_chunks::<8>().0.iter().enumerate() {
        let bits = transpose8(u64::from_le_bytes(*half)).to_le_bytes();
        for (plane, byte) in p.iter_mut().zip(bits) {
            *plane |= u64::from(byte) << (8 * i);
        }
    }
    p
}

/// Bit planes to blocks.
#[inline(never)]
fn unslice<const W: usize>(p: &Planes) -> [Block; W] {
    let mut blocks = [[0; 16]; W];
    for (i, half) in blocks.as_flattened_mut().as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let bits = core::array::from_fn(|b| p[b].to_le_bytes()[i]);
        *half = transpose8(u64::from_le_bytes(bits)).to_le_bytes();
    }
    blocks
}

fn add_key(p: &mut Planes, key: &Planes) {
    for (p, k) in p.iter_mut().zip(key) {
        *p ^= k;
    }
}

#[inline(never)]
fn encrypt_round(p: &mut Planes, mix: bool, key: &Planes) {
    sub_bytes(p);
    for plane in p.iter_mut() {
        *plane = shift_rows(*plane);
    }
    if mix {
        mix_columns(p);
    }
    add_key(p, key);
}

#[inline(never)]
fn decrypt_round(p: &mut Planes, mix: bool, key: &Planes) {
    for plane in p.iter_mut() {
        *plane = inv_shift_rows(*plane);
    }
    inv_sub_bytes(p);
    if mix {
        inv_mix_columns(p);
    }
    add_key(p, key);
}

/// Rotates every 16-bit group of `x` right by `n` bits: columns of one block by `n` / 4.
fn rotate_columns(x: u64, n: u32) -> u64 {
    let low = u64::from(0xffff_u16 >> n) * 0x0001_0001_0001_0001;
    ((x >> n) & low) | ((x << (16 - n)) & !low)
}

/// Row *r* of the state is bits *r* mod 4; it moves left by *r* columns.
fn shift_rows(x: u64) -> u64 {
    (x & 0x1111_1111_1111_1111)
        | rotate_columns(x & 0x2222_2222_2222_2222, 4)
        | rotate_columns(x & 0x4444_4444_4444_4444, 8)
        | rotate_columns(x & 0x8888_8888_8888_8888, 12)
}

fn inv_shift_rows(x: u64) -> u64 {
    (x & 0x1111_1111_1111_1111)
        | rotate_columns(x & 0x2222_2222_2222_2222, 12)
        | rotate_columns(x & 0x4444_4444_4444_4444, 8)
        | rotate_columns(x & 0x8888_8888_8888_8888, 4)
}

/// The byte below in the same column: row *r* takes row *r* + 1.
fn down1(x: u64) -> u64 {
    ((x >> 1) & 0x7777_7777_7777_7777) | ((x & 0x1111_1111_1111_1111) << 3)
}

/// The byte two below in the same column.
fn down2(x: u64) -> u64 {
    ((x >> 2) & 0x3333_3333_3333_3333) | ((x & 0x3333_3333_3333_3333) << 2)
}

/// Multiplies every byte by 2 in GF(2^8), modulus x^8 + x^4 + x^3 + x + 1.
fn double(p: &Planes) -> Planes {
    let [a, b, c, d, e, f, g, h] = *p;
    [h, a ^ h, b, c ^ h, d ^ h, e, f, g]
}

/// 2a + 3b + c + d for each column, as 2(a + b) + b + (c + d).
fn mix_columns(p: &mut Planes) {
    let below: Planes = core::array::from_fn(|i| down1(p[i]));
    let pair: Planes = core::array::from_fn(|i| p[i] ^ below[i]);
    let doubled = double(&pair);
    for i in 0..8 {
        p[i] = doubled[i] ^ below[i] ^ down2(pair[i]);
    }
}

/// `MixColumns` after multiplying the columns by 4y^2 + 5 (FIPS 197, 5.3.3, factored).
fn inv_mix_columns(p: &mut Planes) {
    // a + 4 * (a + a''), with a'' two below: the product of a column by 4y^2 + 5.
    let pair: Planes = core::array::from_fn(|i| p[i] ^ down2(p[i]));
    let four = double(&double(&pair));
    for i in 0..8 {
        p[i] ^= four[i];
    }
    mix_columns(p);
}

/// The S-box on all bytes: inversion in GF(2^8) and the affine map, as the circuit of J. Boyar and
/// R. Peralta, "A depth-16 circuit for the AES S-box" (2011). Names are the paper's; `x0` is the
/// highest bit.
fn sub_bytes(p: &mut Planes) {
    let [x7, x6, x5, x4, x3, x2, x1, x0] = *p;
    // Linear input layer.
    let y14 = x3 ^ x5;
    let y13 = x0 ^ x6;
    let y9 = x0 ^ x3;
    let y8 = x0 ^ x5;
    let t0 = x1 ^ x2;
    let y1 = t0 ^ x7;
    let y4 = y1 ^ x3;
    let y12 = y13 ^ y14;
    let y2 = y1 ^ x0;
    let y5 = y1 ^ x6;
    let y3 = y5 ^ y8;
    let t1 = x4 ^ y12;
    let y15 = t1 ^ x5;
    let y20 = t1 ^ x1;
    let y6 = y15 ^ x7;
    let y10 = y15 ^ t0;
    let y11 = y20 ^ y9;
    let y7 = x7 ^ y11;
    let y17 = y10 ^ y11;
    let y19 = y10 ^ y8;
    let y16 = t0 ^ y11;
    let y21 = y13 ^ y16;
    let y18 = x0 ^ y16;
    // Inversion in a tower of fields.
    let t2 = y12 & y15;
    let t4 = (y3 & y6) ^ t2;
    let t6 = (y4 & x7) ^ t2;
    let t7 = y13 & y16;
    let t9 = (y5 & y1) ^ t7;
    let t11 = (y2 & y7) ^ t7;
    let t12 = y9 & y11;
    let t14 = (y14 & y17) ^ t12;
    let t16 = (y8 & y10) ^ t12;
    let t21 = t4 ^ t14 ^ y20;
    let t22 = t6 ^ t16 ^ y19;
    let t23 = t9 ^ t14 ^ y21;
    let t24 = t11 ^ t16 ^ y18;
    let t25 = t21 ^ t22;
    let t26 = t21 & t23;
    let t27 = t24 ^ t26;
    let t29 = (t25 & t27) ^ t22;
    let t31 = t22 ^ t26;
    let t33 = (t31 & (t23 ^ t24)) ^ t24;
    let t35 = t27 ^ t33;
    let t36 = t24 & t35;
    let t37 = t36 ^ t23 ^ t33;
    let t38 = t27 ^ t36;
    let t40 = t25 ^ (t29 & t38);
    let t41 = t40 ^ t37;
    let t42 = t29 ^ t33;
    let t43 = t29 ^ t40;
    let t44 = t33 ^ t37;
    let t45 = t42 ^ t41;
    let z0 = t44 & y15;
    let z1 = t37 & y6;
    let z2 = t33 & x7;
    let z3 = t43 & y16;
    let z4 = t40 & y1;
    let z5 = t29 & y7;
    let z6 = t42 & y11;
    let z7 = t45 & y17;
    let z8 = t41 & y10;
    let z9 = t44 & y12;
    let z10 = t37 & y3;
    let z11 = t33 & y4;
    let z12 = t43 & y13;
    let z13 = t40 & y5;
    let z14 = t29 & y2;
    let z15 = t42 & y9;
    let z16 = t45 & y14;
    let z17 = t41 & y8;
    // Linear output layer.
    let t46 = z15 ^ z16;
    let t47 = z10 ^ z11;
    let t48 = z5 ^ z13;
    let t49 = z9 ^ z10;
    let t50 = z2 ^ z12;
    let t51 = z2 ^ z5;
    let t52 = z7 ^ z8;
    let t53 = z0 ^ z3;
    let t54 = z6 ^ z7;
    let t55 = z16 ^ z17;
    let t56 = z12 ^ t48;
    let t57 = t50 ^ t53;
    let t58 = z4 ^ t46;
    let t59 = z3 ^ t54;
    let t60 = t46 ^ t57;
    let t61 = z14 ^ t57;
    let t62 = t52 ^ t58;
    let t63 = t49 ^ t58;
    let t64 = z4 ^ t59;
    let t65 = t61 ^ t62;
    let t66 = z1 ^ t63;
    let s0 = t59 ^ t63;
    let s6 = t56 ^ !t62;
    let s7 = t48 ^ !t60;
    let t67 = t64 ^ t65;
    let s3 = t53 ^ t66;
    let s4 = t51 ^ t66;
    let s5 = t47 ^ t65;
    let s1 = t64 ^ !s3;
    let s2 = t55 ^ !t67;
    *p = [s7, s6, s5, s4, s3, s2, s1, s0];
}

/// Undoes the affine map of the S-box: bit *i* = bits *i* + 2, *i* + 5, *i* + 7, plus 0x05.
fn inv_affine(p: &mut Planes) {
    let q = *p;
    for i in 0..8 {
        p[i] = q[(i + 2) % 8] ^ q[(i + 5) % 8] ^ q[(i + 7) % 8];
    }
    p[0] = !p[0];
    p[2] = !p[2];
}

/// The inverse S-box. With A the affine map, S = A after inversion, so inversion = A⁻¹ after S, and
/// S⁻¹ = inversion after A⁻¹ = A⁻¹ after S after A⁻¹.
fn inv_sub_bytes(p: &mut Planes) {
    inv_affine(p);
    sub_bytes(p);
    inv_affine(p);
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test input")]
mod tests {
    use super::*;

    /// Multiplication in GF(2^8), by the definition (FIPS 197, 4.2).
    fn multiply(mut a: u8, mut b: u8) -> u8 {
        let mut product = 0;
        while b != 0 {
            if b & 1 != 0 {
                product ^= a;
            }
            a = (a << 1) ^ if a & 0x80 != 0 { 0x1b } else { 0 };
            b >>= 1;
        }
        product
    }

    /// The S-box by its definition (FIPS 197, 5.1.1).
    fn s_box(x: u8) -> u8 {
        let inverse = (0..=255).find(|&y| multiply(x, y) == 1).unwrap_or(0);
        let bit = |i: u32| inverse.rotate_right(i);
        bit(0) ^ bit(4) ^ bit(5) ^ bit(6) ^ bit(7) ^ 0x63
    }

    fn on_bytes(f: impl Fn(&mut Planes), bytes: [Block; 4]) -> [Block; 4] {
        let mut p = slice(&bytes);
        f(&mut p);
        unslice(&p)
    }

    #[test]
    fn s_box_is_its_definition() {
        for quarter in 0..4_u8 {
            let input: [Block; 4] = core::array::from_fn(|i| {
                core::array::from_fn(|j| quarter * 64 + (i * 16 + j) as u8)
            });
            let output = on_bytes(sub_bytes, input);
            for (x, s) in input.as_flattened().iter().zip(output.as_flattened()) {
                assert_eq!(*s, s_box(*x), "S-box of {x:#x}");
            }
            assert_eq!(on_bytes(inv_sub_bytes, output), input);
        }
    }

    #[test]
    fn products_are_their_definition() {
        let mut a = 0x0123_4567_89ab_cdef_u64;
        let mut b = u64::MAX;
        for _ in 0..500 {
            let expected =
                (0..64).filter(|i| b >> i & 1 == 1).fold(0, |sum, i| sum ^ (u128::from(a) << i));
            assert_eq!(clmul(a, b), expected.to_le_bytes(), "{a:#x} * {b:#x}");
            (a, b) = (b.rotate_left(7) ^ a, a.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
    }

    #[test]
    fn linear_layers_are_their_definitions() {
        let input: [Block; 4] =
            core::array::from_fn(|i| core::array::from_fn(|j| (i * 53 + j * 29 + 7) as u8));
        let rows = on_bytes(|p| p.iter_mut().for_each(|x| *x = shift_rows(*x)), input);
        let mixed = on_bytes(mix_columns, input);
        for block in 0..4 {
            for column in 0..4 {
                for row in 0..4 {
                    let at = |r: usize| input[block][4 * column + (row + r) % 4];
                    assert_eq!(
                        rows[block][4 * column + row],
                        input[block][4 * ((column + row) % 4) + row]
                    );
                    assert_eq!(
                        mixed[block][4 * column + row],
                        multiply(at(0), 2) ^ multiply(at(1), 3) ^ at(2) ^ at(3)
                    );
                }
            }
        }
        assert_eq!(on_bytes(inv_mix_columns, mixed), input);
        assert_eq!(on_bytes(|p| p.iter_mut().for_each(|x| *x = inv_shift_rows(*x)), rows), input);
    }
}
