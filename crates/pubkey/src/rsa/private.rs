//! The private operation on numbers: RFC 8017, sections 5.1.2 and 5.2.1, by the Chinese remainder theorem.

use alloc::{vec, vec::Vec};

use super::{blinding, key::PrivateKey, number, public::public_all};
use crate::{
    Error, Random,
    digits::Digits,
    montgomery::{Power, Product, multiply_all, power_all},
};

/// The numbers, below the moduli of their keys, to the powers of the private exponents. All keys have as many bits and
/// the same level.
///
/// Each result has been raised to the public exponent and compared: of a wrong one that is right modulo one of the
/// primes, anyone could find them (D. Boneh, R. DeMillo, R. Lipton, 1997).
pub(super) fn private_all(
    keys: &[&PrivateKey],
    numbers: &[&[u64]],
    random: &mut dyn Random,
) -> Vec<Result<Digits, Error>> {
    let Some(first) = keys.first() else { return Vec::new() };
    let level = first.public_key().level();
    let pairs = match blinding::pairs(keys, random) {
        Ok(pairs) => pairs,
        Err(error) => return vec![Err(error); keys.len()],
    };
    let moduli = || keys.iter().map(|key| key.public_key().modulus());

    let products: Vec<Product<'_>> = moduli()
        .zip(numbers)
        .zip(&pairs)
        .flat_map(|((modulus, a), pair)| {
            let (factor, inverse) = (&pair.factor, &pair.inverse);
            [(*a, factor), (factor, factor), (inverse, inverse)].map(|(a, b)| Product {
                modulus,
                a,
                b,
            })
        })
        .collect();
    let mut products = multiply_all(level, &products).into_iter();
    let mut blinded = Vec::with_capacity(keys.len());
    for (key, pair) in keys.iter().zip(&pairs) {
        let (Some(number), Some(factor), Some(inverse)) =
            (products.next(), products.next(), products.next())
        else {
            unreachable!("three products of each number")
        };
        blinded.push(number);
        key.blinding.put(pair.next(factor, inverse));
    }

    let powers: Vec<Power<'_>> =
        keys.iter()
            .zip(&blinded)
            .flat_map(|(key, base)| {
                [(&key.p, &key.dp_words), (&key.q, &key.dq_words)]
                    .map(|(modulus, exponent)| Power { modulus, base, exponent })
            })
            .collect();
    #[cfg_attr(not(test), expect(unused_mut, reason = "tests change them"))]
    let mut halves = power_all(level, first.bits() / 2, &powers);
    #[cfg(test)]
    fault::strike(&mut halves);

    // m = mq + q * ((mp - mq) / q modulo p): since q < 2 p, the difference is positive with 2 p more.
    let differences: Vec<Digits> = keys
        .iter()
        .zip(halves.chunks_exact(2))
        .map(|(key, half)| {
            let mut difference = half[0].clone();
            number::add(&mut difference, key.p.digits());
            number::add(&mut difference, key.p.digits());
            number::subtract(&mut difference, &half[1]);
            difference
        })
        .collect();
    let products: Vec<Product<'_>> = keys
        .iter()
        .zip(&differences)
        .map(|(key, a)| Product { modulus: &key.p, a, b: &key.qinv_form })
        .collect();
    let quotients: Vec<Digits> = multiply_all(level, &products)
        .iter()
        .zip(moduli())
        .map(|(quotient, modulus)| number::resized(quotient, modulus.digits().len()))
        .collect();
    let products: Vec<Product<'_>> = keys
        .iter()
        .zip(moduli())
        .zip(&quotients)
        .map(|((key, modulus), a)| Product { modulus, a, b: &key.q_form })
        .collect();
    let mut joined = multiply_all(level, &products);
    for (sum, half) in joined.iter_mut().zip(halves.chunks_exact(2)) {
        number::add(sum, &half[1]);
    }

    let products: Vec<Product<'_>> = moduli()
        .zip(&joined)
        .zip(&pairs)
        .map(|((modulus, a), pair)| Product { modulus, a, b: &pair.inverse })
        .collect();
    let results = multiply_all(level, &products);
    let public: Vec<_> = keys.iter().map(|key| key.public_key()).collect();
    let bases: Vec<&[u64]> = results.iter().map(|result| &***result).collect();
    let checks = public_all(&public, &bases);
    results
        .into_iter()
        .zip(checks.iter().zip(numbers))
        .map(
            |(result, (check, number))| {
                if number::is_equal(check, number) { Ok(result) } else { Err(Error::Fault) }
            },
        )
        .collect()
}

/// Faults that tests put into the halves of results.
#[cfg(test)]
pub(super) mod fault {
    use super::Digits;
    use std::cell::Cell;

    /// A bit of a half: of which one, operations having two each; which digit; which bit of it.
    #[derive(Clone, Copy)]
    pub(crate) struct Fault {
        pub(crate) half: usize,
        pub(crate) digit: usize,
        pub(crate) bit: u32,
    }

    thread_local! {
        /// What the next private operation of this thread suffers.
        pub(crate) static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
    }

    pub(super) fn strike(halves: &mut [Digits]) {
        if let Some(fault) = FAULT.take() {
            halves[fault.half][fault.digit] ^= 1 << fault.bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use lanelock_isa::LimbLevel;

    use super::fault::{FAULT, Fault};
    use crate::{
        Error, Hash, SystemRandom,
        rsa::{PrivateKey, Scheme, Sign, sign_batch},
    };

    #[test]
    fn a_fault_withholds_its_signature_and_no_other() {
        let der = &lanelock_testkit::rsa::wycheproof_pkcs1_decrypt()[0].key;
        for level in LimbLevel::available() {
            let key = PrivateKey::from_pkcs8_der(der).expect("a key").with_level(level);
            let signs: Vec<_> = (0..9_u8)
                .map(|i| Sign::message(&key, Scheme::pss(Hash::Sha256), &[i]).expect("a message"))
                .collect();
            for (half, digit, bit) in [(0, 0, 0), (1, 0, 0), (5, 7, 51), (14, 19, 3), (17, 12, 40)]
            {
                FAULT.set(Some(Fault { half, digit, bit }));
                let results = sign_batch(&signs, &mut SystemRandom);
                for (i, result) in results.into_iter().enumerate() {
                    if i == half / 2 {
                        assert_eq!(result, Err(Error::Fault), "{level}, half {half}");
                    } else {
                        assert!(result.is_ok(), "{level}, half {half}, signature {i}");
                    }
                }
            }
        }
    }
}
