//! Folding: a message is moved towards its end, vector onto vector, by carry-less products with x^n
//! mod Q, until what remains is short; then one reduction (V. Gopal et al., Fast CRC Computation for
//! Generic Polynomials Using PCLMULQDQ Instruction, Intel 2009; P. Barrett's division).

use lanelock_isa::{AesClmul, Block, Blocks as _, Kernel};

use super::polynomial::{MOST_LANES, Polynomial, block};

/// The register `value` after `data`.
pub(super) struct Update<'a> {
    pub(super) polynomial: &'a Polynomial,
    pub(super) value: u64,
    pub(super) data: &'a [u8],
}

impl Kernel for Update<'_> {
    type Out = u64;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> u64 {
        let Self { polynomial, value, data } = self;
        if data.len() >= 16 * S::WIDTH {
            long(s, polynomial, value, data)
        } else if data.len() >= 16 {
            long(s.narrow(), polynomial, value, data)
        } else {
            short(s.narrow(), polynomial, value, data)
        }
    }
}

/// `data` is a vector or longer.
// Folding moves a block B = h x^64 + l on by n bits: B x^n = h (x^(n+64) mod Q) + l (x^n mod Q), two
// products of halves, added to the block that stands n bits further on. Eight vectors run side by
// side: their products (latency 5, one in two cycles) and two exclusive ors do not wait for one
// another. 16 products for 8 vectors: 32 cycles, for 512 bytes at `vaes512`. Registers: 8 running
// vectors, the factors, and the temporaries of a product.
#[inline(always)]
fn long<S: AesClmul>(s: S, polynomial: &Polynomial, value: u64, data: &[u8]) -> u64 {
    let folder = Folder { s, polynomial };
    let value = folder.register(value);
    let mut rest = data.as_chunks().0;
    let v = if rest.len() >= 8 * S::WIDTH {
        let v = folder.start::<8>(value, &mut rest);
        folder.fold_8(v, &mut rest)
    } else if rest.len() >= 4 * S::WIDTH {
        let v = folder.start::<4>(value, &mut rest);
        folder.fold_4(v, &mut rest)
    } else if rest.len() >= 2 * S::WIDTH {
        let v = folder.start::<2>(value, &mut rest);
        folder.fold_2(v, &mut rest)
    } else {
        folder.start::<1>(value, &mut rest)[0]
    };
    folder.finish(v, data)
}

/// As many zeros as a vector has, and as many ones.
const MASK: [u8; 32 * MOST_LANES] = {
    let mut mask = [0; 32 * MOST_LANES];
    let mut i = mask.len() / 2;
    while i < mask.len() {
        mask[i] = 0xff;
        i += 1;
    }
    mask
};

/// `N` running vectors stand for the message so far: the sum of each moved to the end of the last.
pub(super) struct Folder<'a, S> {
    pub(super) s: S,
    pub(super) polynomial: &'a Polynomial,
}

impl<S: AesClmul> Folder<'_, S> {
    /// A register, to be added to the start of a message.
    #[inline(always)]
    pub(super) fn register(&self, value: u64) -> S::V {
        self.s.in_first_lane(self.s.narrow().load(&[block(value, 0)]))
    }

    #[inline(always)]
    pub(super) fn fold_8(&self, v: [S::V; 8], rest: &mut &[Block]) -> S::V {
        let v = self.whole_groups(v, rest);
        self.fold_4(self.halve(v), rest)
    }

    #[inline(always)]
    fn fold_4(&self, v: [S::V; 4], rest: &mut &[Block]) -> S::V {
        let v = self.whole_groups(v, rest);
        self.fold_2(self.halve(v), rest)
    }

    #[inline(always)]
    fn fold_2(&self, v: [S::V; 2], rest: &mut &[Block]) -> S::V {
        let v = self.whole_groups(v, rest);
        let [v] = self.whole_groups(self.halve(v), rest);
        v
    }

    /// Takes the first `N` vectors of a message, with the register added to its start.
    #[inline(always)]
    fn start<const N: usize>(&self, value: S::V, rest: &mut &[Block]) -> [S::V; N] {
        let (group, after) = rest.split_at(N * S::WIDTH);
        *rest = after;
        let mut v = [self.s.xor(value, self.s.load(group)); N];
        for i in 1..N {
            v[i] = self.s.load(&group[i * S::WIDTH..]);
        }
        v
    }

    /// Folds onto `N` more vectors while so many are left.
    #[inline(always)]
    fn whole_groups<const N: usize>(&self, mut v: [S::V; N], rest: &mut &[Block]) -> [S::V; N] {
        let s = self.s;
        // Each vector moves on by the whole group: onto its successor, whatever the lane.
        let factors = s.splat(self.polynomial.fold(N * S::WIDTH));
        while rest.len() >= N * S::WIDTH {
            let (group, after) = rest.split_at(N * S::WIDTH);
            for i in 0..N {
                let data = s.load(&group[i * S::WIDTH..]);
                v[i] = s.xor(self.product(v[i], factors), data);
            }
            *rest = after;
        }
        v
    }

    /// Folds the first half of the vectors onto the second. `HALF` is half of `N`.
    #[inline(always)]
    fn halve<const N: usize, const HALF: usize>(&self, v: [S::V; N]) -> [S::V; HALF] {
        let factors = self.s.splat(self.polynomial.fold(HALF * S::WIDTH));
        let mut half = [v[0]; HALF];
        for i in 0..HALF {
            half[i] = self.s.xor(self.product(v[i], factors), v[HALF + i]);
        }
        half
    }

    /// The register after `data`, whose whole vectors `v` stands for.
    #[inline(always)]
    pub(super) fn finish(&self, v: S::V, data: &[u8]) -> u64 {
        let (s, p) = (self.s, self.polynomial);
        // Less than a vector remains: the end of the last vector's worth of bytes.
        let vector = 16 * S::WIDTH;
        let bytes = data.len() % vector;
        // A factor for each lane, since each has another distance to the end; then the lanes can be
        // added.
        let factors = s.load_strided(p.to_the_end(S::WIDTH, bytes), 0, 16);
        let mut sum = self.product(v, factors);
        if bytes > 0 {
            // One load of the last vector's worth; the mask clears what `v` has already.
            let last = data[data.len() - vector..].as_chunks().0;
            let mask = MASK[16 * MOST_LANES - vector + bytes..].as_chunks().0;
            let last = s.and(s.load(last), s.load(mask));
            let factors = s.load_strided(p.to_the_end(S::WIDTH, 0), 0, 16);
            sum = s.xor(sum, self.product(last, factors));
        }
        reduce(s.narrow(), p, s.sum_lanes(sum))
    }

    /// Each half of `v` times the same half of `factors`, added up in each lane.
    #[inline(always)]
    pub(super) fn product(&self, v: S::V, factors: S::V) -> S::V {
        self.s.xor(self.s.clmul_low(v, factors), self.s.clmul_high(v, factors))
    }
}

/// `data` is shorter than a block.
#[inline(always)]
fn short<S: AesClmul>(s: S, p: &Polynomial, value: u64, data: &[u8]) -> u64 {
    let length = data.len();
    if let (Some(first), Some(last)) = (data.first_chunk(), data.last_chunk()) {
        // The message at the end of a block, zeros before it: those change nothing. 9 to 15 bytes:
        // two loads that overlap, moved to the end of a block. The register is added to the first
        // eight bytes; what the shift pushes out of them belongs to the second half.
        let first = value ^ u64::from_le_bytes(*first);
        let last = u64::from_le_bytes(*last);
        if length == 8 {
            return reduce(s, p, s.load(&[block(first, 0)]));
        }
        let by = 8 * (16 - length);
        let v = s.load(&[block(first << by, last ^ (value >> (64 - by)))]);
        let v = s.xor(
            s.clmul_low(v, s.load(p.to_the_end(1, 0))),
            s.clmul_high(v, s.load(p.to_the_end(1, 0))),
        );
        reduce(s, p, v)
    } else if length > 0 {
        // The register reaches beyond the message.
        let sum = value ^ up_to_7(data);
        let bits = 8 * length;
        reduce(s, p, s.load(&[block(sum << (64 - bits), sum >> bits)]))
    } else {
        value
    }
}

/// 1 to 7 bytes as a little-endian number: two loads that overlap.
#[inline(always)]
fn up_to_7(data: &[u8]) -> u64 {
    let length = data.len();
    if let (Some(first), Some(last)) = (data.first_chunk(), data.last_chunk()) {
        let last = u64::from(u32::from_le_bytes(*last));
        u64::from(u32::from_le_bytes(*first)) | last << (8 * (length - 4))
    } else {
        let [first, middle, last] = [0, length / 2, length - 1].map(|at| u64::from(data[at]));
        first | middle << (8 * (length / 2)) | last << (8 * (length - 1))
    }
}

/// The polynomial `v` of 128 bits mod Q. With v = h x^64 + l and m = x^128 / Q, both rounded down, the
/// quotient is (h m) / x^64 and the rest is the low half of v + Q (h m) / x^64.
#[inline(always)]
fn reduce<S: AesClmul>(s: S, p: &Polynomial, v: S::V) -> u64 {
    // Q has 65 terms, of which the constant holds all but the lowest: the quotient times that one is
    // `lowest`, by a mask instead of a product.
    let factors = s.load(&[p.barrett]);
    let quotient = s.clmul_low(v, factors);
    let multiple = s.clmul_low_high(quotient, factors);
    let lowest = s.and(s.swap_halves(quotient), s.load(&[p.constant_term]));
    let mut out = [[0; 16]];
    s.store(s.xor(s.xor(v, lowest), multiple), &mut out);
    (u128::from_le_bytes(out[0]) >> 64) as u64
}
