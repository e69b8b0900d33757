//! What is computed from a polynomial: at compile time, all of it.
//!
//! A CRC of 32 bits with the polynomial P is a CRC of 64 bits with Q = P x^32: the register holds
//! M x^64 mod Q = (M x^32 mod P) x^32. So there is only one width.
//!
//! Polynomials are *reflected*: bit *i* of a number of 64 bits is the coefficient of x^(63 - *i*), as
//! the bits of a message come. The product of two such numbers has x^(126 - *k*) at bit *k*; as a
//! block, whose bit *k* is x^(127 - *k*), it is the product times x.

use lanelock_isa::Block;

/// The longest vector, in blocks.
pub(super) const MOST_LANES: usize = 4;

/// A polynomial Q of degree 64 and the constants that folding and reduction multiply by.
pub(super) struct Polynomial {
    /// Q without x^64.
    reflected: u64,
    /// At *i*, the factors that move the halves of a block by 2^*i* blocks.
    fold: [Block; 6],
    /// See [`to_the_end`](Self::to_the_end).
    end: [Block; END],
    /// x^128 / Q and Q, each without the lowest term, as bit *j* = coefficient of x^(64 - *j*).
    pub(super) barrett: Block,
    /// Ones in the high half if Q has the lowest term.
    pub(super) constant_term: Block,
    /// At *k*, what the register becomes after a byte of that value and *k* zero bytes.
    pub(super) slices: [[u64; 256]; 8],
}

/// Distances to the end of a message that occur: less than a vector behind the last whole one, and
/// the lanes of that.
const END: usize = (2 * MOST_LANES - 1) * 16;

impl Polynomial {
    /// `reflected` is Q without x^64. A reflected polynomial of 32 bits is the same number.
    pub(super) const fn new(reflected: u64) -> Self {
        let mut polynomial = Self {
            reflected,
            fold: [[0; 16]; 6],
            end: [[0; 16]; END],
            barrett: [0; 16],
            constant_term: if reflected >> 63 == 1 { block(0, u64::MAX) } else { [0; 16] },
            slices: [[0; 256]; 8],
        };
        let mut i = 0;
        while i < polynomial.fold.len() {
            polynomial.fold[i] = polynomial.factors(128 << i);
            i += 1;
        }
        // Each from the one before: powers for every distance would take the compiler ten times as long.
        let (mut low, mut high) = (polynomial.power(64 - 1), polynomial.power(64 + 63));
        let mut bytes = 0;
        while bytes < END {
            polynomial.end[END - 1 - bytes] = block(high, low);
            (low, high) = (polynomial.times_x8(low), polynomial.times_x8(high));
            bytes += 1;
        }
        // Long division of x^128 by Q, a bit of the quotient a step: `rest` is x^(63 + j) mod Q.
        let (mut quotient, mut rest) = (1, reflected);
        let mut j = 1;
        while j < 64 {
            quotient |= (rest & 1) << j;
            rest = polynomial.times_x(rest);
            j += 1;
        }
        polynomial.barrett = block(quotient, reflected << 1 | 1);
        polynomial.fill_slices();
        polynomial
    }

    /// a x mod Q
    pub(super) const fn times_x(&self, a: u64) -> u64 {
        (a >> 1) ^ (self.reflected & (a & 1).wrapping_neg())
    }

    /// a x^8 mod Q
    const fn times_x8(&self, mut a: u64) -> u64 {
        let mut i = 0;
        while i < 8 {
            a = self.times_x(a);
            i += 1;
        }
        a
    }

    /// x^n mod Q
    pub(super) const fn power(&self, n: usize) -> u64 {
        let mut power = 1 << 63;
        let mut bit = usize::BITS - n.leading_zeros();
        while bit > 0 {
            bit -= 1;
            power = self.product(power, power);
            if n >> bit & 1 == 1 {
                power = self.times_x(power);
            }
        }
        power
    }

    /// The factors that move the halves of a block by `bits` bits: h x^64 + l becomes
    /// h x^(bits + 64) + l x^bits.
    pub(super) const fn factors(&self, bits: usize) -> Block {
        block(self.power(bits + 63), self.power(bits - 1))
    }

    /// a b mod Q
    const fn product(&self, a: u64, b: u64) -> u64 {
        let (mut product, mut shifted) = (0, b);
        let mut i = 0;
        while i < 64 {
            product ^= shifted & (a >> (63 - i) & 1).wrapping_neg();
            shifted = self.times_x(shifted);
            i += 1;
        }
        product
    }

    /// The register `value` after `bytes` zero bytes.
    pub(super) const fn after_zeros(&self, value: u64, mut bytes: u64) -> u64 {
        let (mut value, mut square) = (value, self.power(8));
        while bytes > 0 {
            if bytes & 1 == 1 {
                value = self.product(value, square);
            }
            square = self.product(square, square);
            bytes >>= 1;
        }
        value
    }

    /// The factors that move the halves of a block by `blocks` blocks, a power of two up to 32.
    #[inline(always)]
    pub(super) fn fold(&self, blocks: usize) -> &Block {
        &self.fold[blocks.trailing_zeros() as usize]
    }

    /// The factors that move the lanes of a vector to the end of a message and on by 64 bits, to
    /// where the register stands. `bytes` come behind the vector. They are for
    /// [`load_strided`](lanelock_isa::Blocks::load_strided) with a stride of 16.
    #[inline(always)]
    pub(super) fn to_the_end(&self, width: usize, bytes: usize) -> &[Block] {
        &self.end[END - 1 - 16 * (width - 1) - bytes..]
    }

    const fn fill_slices(&mut self) {
        let mut byte = 0;
        while byte < 256 {
            self.slices[0][byte] = self.times_x8(byte as u64);
            byte += 1;
        }
        let mut k = 1;
        while k < self.slices.len() {
            let mut byte = 0;
            while byte < 256 {
                let before = self.slices[k - 1][byte];
                self.slices[k][byte] = (before >> 8) ^ self.slices[0][(before & 0xff) as usize];
                byte += 1;
            }
            k += 1;
        }
    }
}

/// The block of these halves.
pub(super) const fn block(low: u64, high: u64) -> Block {
    ((high as u128) << 64 | low as u128).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The constants of CRC-32 (IEEE 802.3) in V. Gopal et al., Fast CRC Computation for Generic
    /// Polynomials Using PCLMULQDQ Instruction (Intel, 2009): 32 bits and a shift by one, which here
    /// are the upper bits of 64.
    #[test]
    fn constants_are_those_of_the_literature() {
        let p = Polynomial::new(0xedb8_8320);
        let published = [
            (512 + 32, 0x1_5444_2bd4_u64),
            (512 - 32, 0x1_c6e4_1596),
            (128 + 32, 0x1_7519_97d0),
            (128 - 32, 0x0_ccaa_009e),
            (64, 0x1_63cd_6124),
        ];
        for (n, expected) in published {
            // x^n mod P is (x^(n + 32) mod Q) / x^32.
            assert_eq!(p.power(n + 32) << 1, expected, "x^{n}");
        }
        let quotient = u64::from_le_bytes(*p.barrett.first_chunk().unwrap());
        assert_eq!(quotient & 0x1_ffff_ffff, 0x1_f701_1641);
        assert_eq!(u64::from_le_bytes(*p.barrett.last_chunk().unwrap()), 0x1_db71_0641);
    }
}
