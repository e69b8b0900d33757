//! Scalars of edwards25519: numbers modulo the order of the base point, and their windows.

use lanelock_isa::Limbs;

use crate::digits::DIGIT;
use crate::field::{Element, Modulus, order::Order25519, shifted};

/// Numbers modulo the order, one a lane.
pub(crate) type Scalar<S> = Element<S, Order25519, 5>;

/// Bits of a window.
pub(crate) const WINDOW_BITS: u32 = 5;
/// Windows of a number below the order.
pub(crate) const WINDOWS: usize = 51;
/// The greatest multiple that a window asks for: digits are from -16 to 15.
pub(crate) const MULTIPLES: usize = 1 << (WINDOW_BITS - 1);

/// 16 in each window: what makes digits of them that are not negative.
const OFFSET: [u64; 5] = {
    let mut digits = [0; 5];
    let mut window = 0;
    while window < WINDOWS {
        let bit = window * WINDOW_BITS as usize + 4;
        digits[bit / 52] |= 1 << (bit % 52);
        window += 1;
    }
    digits
};

/// A number of 256 bits in words of 64 bits, as it is.
#[inline(always)]
pub(crate) fn from_words<S: Limbs>(s: S, words: [S::V; 4]) -> Scalar<S> {
    let [w0, w1, w2, w3] = words;
    let digit = |v| s.and(v, s.splat(DIGIT));
    Scalar::new(
        s,
        [
            digit(w0),
            digit(s.or(s.shift_right::<52>(w0), s.shift_left::<12>(w1))),
            digit(s.or(s.shift_right::<40>(w1), s.shift_left::<24>(w2))),
            digit(s.or(s.shift_right::<28>(w2), s.shift_left::<36>(w3))),
            s.shift_right::<16>(w3),
        ],
    )
}

/// The number, of at most 256 bits, in words of 64 bits.
#[inline(always)]
pub(crate) fn to_words<S: Limbs>(s: S, scalar: Scalar<S>) -> [S::V; 4] {
    let [d0, d1, d2, d3, d4] = *scalar.digits();
    [
        s.or(d0, s.shift_left::<52>(d1)),
        s.or(s.shift_right::<12>(d1), s.shift_left::<40>(d2)),
        s.or(s.shift_right::<24>(d2), s.shift_left::<28>(d3)),
        s.or(s.shift_right::<36>(d3), s.shift_left::<16>(d4)),
    ]
}

/// A number of 256 bits below the order.
#[inline(always)]
pub(crate) fn reduced<S: Limbs>(s: S, words: [S::V; 4]) -> Scalar<S> {
    from_words(s, words).times(&Scalar::one(s)).subtract_once()
}

/// A number of 512 bits, the lower half first, below the order.
#[inline(always)]
pub(crate) fn reduced_wide<S: Limbs>(s: S, halves: [[S::V; 4]; 2]) -> Scalar<S> {
    wide::<S, 260>(s, halves).subtract_once()
}

/// `halves` * `factor` + `addend` below the order, where `addend` is below it and `factor` may be any number of 256
/// bits.
#[inline(always)]
pub(crate) fn multiply_add<S: Limbs>(
    s: S,
    halves: [[S::V; 4]; 2],
    factor: &Scalar<S>,
    addend: &Scalar<S>,
) -> Scalar<S> {
    let form = wide::<S, 520>(s, halves);
    form.product(factor).plus_product(addend, &Scalar::one(s)).reduce().digits().subtract_once()
}

/// A number of 512 bits times 2^`BITS` / `R`, below twice the order.
#[inline(always)]
fn wide<S: Limbs, const BITS: usize>(s: S, [lower, upper]: [[S::V; 4]; 2]) -> Scalar<S> {
    let low = Scalar::splat(s, const { &power_of_two(BITS) });
    let high = Scalar::splat(s, const { &power_of_two(BITS + 256) });
    from_words(s, lower).product(&low).plus_product(&from_words(s, upper), &high).reduce().digits()
}

/// 2^`bits` modulo the order.
const fn power_of_two(bits: usize) -> [u64; 5] {
    shifted(&[1, 0, 0, 0, 0], &Order25519::NUMBER, bits)
}

/// The windows of a scalar below the order: 16 has been added in each.
#[inline(always)]
pub(crate) fn windows<S: Limbs>(s: S, scalar: Scalar<S>) -> [S::V; 4] {
    to_words(s, (scalar.sum() + Scalar::splat(s, &OFFSET).sum()).digits())
}

/// A digit of each lane: its amount, from 0 to 16, and all ones where it is negative.
#[inline(always)]
pub(crate) fn digit<S: Limbs>(s: S, window: S::V) -> [S::V; 2] {
    // Negative where bit 4 is not set.
    let negative = s.sub(s.shift_right::<{ WINDOW_BITS - 1 }>(window), s.splat(1));
    let digit = s.sub(window, s.splat(MULTIPLES as u64));
    [s.sub(s.xor(digit, negative), negative), negative]
}

/// The words shifted to the right by `N` bits, and `M` = 64 - `N`.
#[inline(always)]
pub(crate) fn shifted_right<S: Limbs, const N: u32, const M: u32>(
    s: S,
    words: [S::V; 4],
) -> [S::V; 4] {
    let [w0, w1, w2, w3] = words;
    let pair = |low, high| s.or(s.shift_right::<N>(low), s.shift_left::<M>(high));
    [pair(w0, w1), pair(w1, w2), pair(w2, w3), s.shift_right::<N>(w3)]
}

/// The words shifted to the left by `N` bits, and `M` = 64 - `N`.
#[inline(always)]
pub(crate) fn shifted_left<S: Limbs, const N: u32, const M: u32>(
    s: S,
    words: [S::V; 4],
) -> [S::V; 4] {
    let [w0, w1, w2, w3] = words;
    let pair = |low, high| s.or(s.shift_right::<M>(low), s.shift_left::<N>(high));
    [s.shift_left::<N>(w0), pair(w0, w1), pair(w1, w2), pair(w2, w3)]
}

#[cfg(test)]
mod tests {
    use lanelock_isa::LimbKernel;
    use lanelock_testkit::Rng;
    use num_bigint::BigUint;

    use super::*;
    use crate::{field::words::LaneWords, level::test_levels};

    fn order() -> BigUint {
        BigUint::parse_bytes(
            b"1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed",
            16,
        )
        .unwrap()
    }

    /// A number of 64 bytes, one of 32, and one below the order.
    type Numbers = ([u8; 64], [u8; 32], [u8; 32]);

    struct Arithmetic<'a> {
        numbers: &'a [Numbers],
        /// Of each: the first reduced, the second reduced, first * second + third, the windows of the third, summed.
        results: &'a mut [[[u8; 32]; 4]],
    }

    impl LimbKernel for Arithmetic<'_> {
        type Out = ();

        #[inline(always)]
        fn run<S: Limbs>(self, s: S) {
            let mut words = LaneWords::new();
            for (numbers, results) in
                self.numbers.chunks(S::LANES).zip(self.results.chunks_mut(S::LANES))
            {
                let wide: Vec<[u8; 64]> = numbers.iter().map(|number| number.0).collect();
                let wide = words.load_wide(s, &wide);
                words.set(numbers.iter().map(|number| &number.1));
                let factor = words.load(s);
                words.set(numbers.iter().map(|number| &number.2));
                let addend = from_words(s, words.load(s));
                let sum = multiply_add(s, wide, &from_words(s, factor), &addend);
                // Sum of digit * 32^window, from the top; all sums on the way are positive or small.
                let mut digits = shifted_left::<S, 1, 63>(s, windows(s, addend));
                let mut value = Scalar::zero(s);
                for _ in 0..WINDOWS {
                    let [amount, negative] = digit(s, s.shift_right::<59>(digits[3]));
                    digits = shifted_left::<S, 5, 59>(s, digits);
                    let mut multiple = *Scalar::zero(s).digits();
                    multiple[0] = amount;
                    let multiple = Scalar::new(s, multiple);
                    let opposite = multiple.negative::<1>();
                    let multiple = Scalar::select(negative, &opposite, &multiple);
                    let mut factor = [0; 5];
                    factor[0] = 32;
                    let factor = Scalar::splat(s, &factor).into_form();
                    value = (value.times(&factor).sum() + multiple.sum()).digits();
                }
                let value = reduced(s, to_words(s, value));
                let all = [reduced_wide(s, wide), reduced(s, factor), sum, value];
                for (k, scalar) in all.into_iter().enumerate() {
                    words.store(s, to_words(s, scalar));
                    words.get(results.iter_mut().map(|result| &mut result[k]));
                }
            }
        }
    }

    #[test]
    fn against_a_library() {
        let order = order();
        let bytes = |number: &BigUint| -> [u8; 32] {
            let mut bytes = [0; 32];
            let number = number.to_bytes_le();
            bytes[..number.len()].copy_from_slice(&number);
            bytes
        };
        let mut rng = Rng::from_env("scalars");
        let mut numbers: Vec<Numbers> = vec![([0xff; 64], [0xff; 32], bytes(&(&order - 1_u8)))];
        for i in 0..200 {
            let small = match i % 4 {
                0 => bytes(&(&order - rng.below(3) as u64 - 1_u8)),
                1 => bytes(&BigUint::from(rng.below(40) as u64)),
                _ => bytes(&(BigUint::from_bytes_le(&rng.array::<32>()) % &order)),
            };
            let multiple = &order * BigUint::from_bytes_le(&rng.array::<31>());
            let mut wide = rng.array::<64>();
            if i % 3 == 0 {
                wide = [0; 64];
                let multiple = (multiple + rng.below(2) as u64).to_bytes_le();
                wide[..multiple.len()].copy_from_slice(&multiple);
            }
            numbers.push((wide, if i % 5 == 0 { bytes(&order) } else { rng.array() }, small));
        }
        for level in test_levels() {
            let mut results = vec![[[0; 32]; 4]; numbers.len()];
            level.run(Arithmetic { numbers: &numbers, results: &mut results });
            for ((wide, factor, addend), result) in numbers.iter().zip(&results) {
                let number = |bytes: &[u8]| BigUint::from_bytes_le(bytes);
                let expected = [
                    number(wide) % &order,
                    number(factor) % &order,
                    (number(wide) * number(factor) + number(addend)) % &order,
                    number(addend),
                ];
                for (result, expected) in result.iter().zip(&expected) {
                    assert_eq!(
                        &number(result),
                        expected,
                        "{level}: {wide:x?} {factor:x?} {addend:x?}"
                    );
                }
            }
        }
    }
}
