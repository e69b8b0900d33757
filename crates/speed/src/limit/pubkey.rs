//! What operations with public keys take at least: their multiply-adds, as if the units did nothing else.
//!
//! A multiply-add takes one half of the products of two digits of 52 bits, one a lane, and adds it. A product of numbers
//! with *d* digits, and the reduction of what it gives, have
//!
//! | | product | square | reduction |
//! |---|---|---|---|
//! | any modulus | 2 *d*² | *d*² + *d* | 2 *d*² + *d* |
//! | P-256, *d* = 5 | 50 | 30 | 30 |
//! | P-384, *d* = 8 | 128 | 72 | 64 |
//! | 2^255 - 19, *d* = 5 | 50 | 30 | 1 |
//!
//! and operations
//!
//! | operation | products and squares |
//! |---|---|
//! | RSA, private | two powers modulo primes of half the size, by windows of five bits: five squares and a product each; a table of 32 powers. Blinding, joining the halves and checking the result, some 4 % more, are not counted: others do not have them |
//! | RSA, public | 16 squares and 3 products, for 65537: two of them into and out of the form |
//! | a point doubled, added, added with Z = 1 | 4 + 4, 4 squares + 12 products, 3 + 8: products of both coordinates' last step share a reduction |
//! | the base point times a number | a sum with Z = 1 for each window: 6 bits of P-256, 5 of P-384 |
//! | any point times a number | a sum for each window of 5 bits and as many doublings; a table of 16 multiples |
//! | an inverse modulo 2^255 - 19 | 254 squares and 11 products; others are by divsteps, whose matrices have few |
//! | ECDSA signing | the base point |
//! | ECDSA verifying | both multiplications |
//! | ECDH | any point |
//! | X25519 agreeing | for each of 255 bits 4 squares, 5 products and one by a small number; an inverse |
//! | X25519 generating, Ed25519 signing | a sum of 7 products for each of 51 windows; an inverse |
//! | Ed25519 verifying | that; and a sum of 8 products for each, 5 doublings of 4 squares and 3 products; a root |
//!
//! A product of RSA is counted with a whole reduction; powers in a table that are also divided by the root of R need half
//! of one, and 5 % fewer multiply-adds for an operation of 2048 bits.
//!
//! They are those of a full batch. One operation is bound by what waits, and has no limit.

use std::hint::black_box;

use lanelock_isa::{LimbKernel, LimbLevel, Limbs, MOST_LIMBS};

use crate::{clock::float, workload::Workload};

/// Multiply-adds of numbers modulo one.
#[derive(Clone, Copy)]
struct Field {
    product: usize,
    square: usize,
    reduction: usize,
}

impl Field {
    /// Of any modulus with so many digits.
    const fn any(digits: usize) -> Self {
        let product = 2 * digits * digits;
        Self { product, square: digits * (digits + 1), reduction: product + digits }
    }

    /// So many squares and products, each reduced.
    const fn count(self, squares: usize, products: usize) -> usize {
        squares * (self.square + self.reduction) + products * (self.product + self.reduction)
    }
}

/// A curve of NIST.
struct Curve {
    bits: usize,
    field: Field,
    /// Bits of a window of the base point's factors.
    window: usize,
}

const P_256: Curve =
    Curve { bits: 256, field: Field { product: 50, square: 30, reduction: 30 }, window: 6 };
const P_384: Curve =
    Curve { bits: 384, field: Field { product: 128, square: 72, reduction: 64 }, window: 5 };
const P_25519: Field = Field { product: 50, square: 30, reduction: 1 };

impl Curve {
    /// The base point times a number.
    const fn base(&self) -> usize {
        let sum = self.field.count(3, 8) - self.field.reduction;
        (self.bits + 1).div_ceil(self.window) * sum
    }

    /// Any point times a number.
    const fn point(&self) -> usize {
        let windows = (self.bits + 1).div_ceil(5);
        let sum = self.field.count(4, 12) - self.field.reduction;
        let table = 14 * (self.field.count(3, 8) - self.field.reduction);
        table + windows * sum + 5 * (windows - 1) * self.field.count(4, 4)
    }
}

/// Digits of RSA's numbers: whole groups of five, with a few bits to spare.
const fn digits(bits: usize) -> usize {
    (bits + 6).div_ceil(52).next_multiple_of(5)
}

/// Multiply-adds of a lane's operation, if the algorithm is known: vectors of them, whatever the number of lanes.
pub fn multiply_adds(workload: &Workload) -> Option<usize> {
    const WINDOWS_25519: usize = 51;
    let bits = usize::from(workload.key_bits);
    let curve = if bits == 256 { P_256 } else { P_384 };
    let inverse = P_25519.count(254, 11);
    let base = WINDOWS_25519 * P_25519.count(0, 7) + inverse;
    Some(match (workload.algorithm, workload.operation) {
        ("rsa", "sign") => {
            let windows = (bits / 2).div_ceil(5);
            let squares = 5 * (windows - 1) + 15;
            2 * Field::any(digits(bits / 2)).count(squares, windows - 1 + 15)
        }
        ("rsa", "verify") => Field::any(digits(bits)).count(16, 3),
        ("ecdsa", "sign") => curve.base(),
        ("ecdsa", "verify") => curve.base() + curve.point(),
        ("ecdh", _) => curve.point(),
        ("x25519", "agree") => 255 * (P_25519.count(4, 5) + 10) + inverse,
        ("x25519", _) | ("ed25519", "sign") => base,
        ("ed25519", "verify") => {
            let doublings = 5 * (WINDOWS_25519 - 1) * P_25519.count(4, 3);
            base + WINDOWS_25519 * P_25519.count(0, 8) + doublings + P_25519.count(252, 11)
        }
        _ => return None,
    })
}

/// Multiply-adds of all vectors of a call, if its batches are full.
pub(super) fn vectors(workload: &Workload, level: LimbLevel) -> Option<f64> {
    let lanes = level.width();
    let full = workload.streams > 1 && workload.streams.is_multiple_of(lanes);
    let each = multiply_adds(workload).filter(|_| full)?;
    Some(float(each * (workload.streams / lanes)))
}

/// Sums that wait for nothing: more than any processor has under way.
const SUMS: usize = 12;

/// Turns of the loop: two multiply-adds for each of the sums.
pub(super) const TURNS: usize = 200;

/// So many multiply-adds has a call.
pub(super) const MULTIPLY_ADDS: usize = 2 * SUMS * TURNS;

/// Multiply-adds from registers.
pub(super) struct MultiplyAdds;

impl LimbKernel for MultiplyAdds {
    type Out = u64;

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) -> u64 {
        let (a, b) = (s.splat(black_box(0x9_1234_5678_9abc)), s.splat(black_box(0x5_4321)));
        let mut sums = [s.splat(0); SUMS];
        for _ in 0..TURNS {
            for sum in &mut sums {
                *sum = s.mul_low(*sum, a, b);
            }
            for sum in &mut sums {
                *sum = s.mul_high(*sum, a, b);
            }
        }
        let total = sums.into_iter().fold(s.splat(0), |total, sum| s.xor(total, sum));
        let mut words = [0; MOST_LIMBS];
        s.store(total, &mut words);
        words[0]
    }
}
