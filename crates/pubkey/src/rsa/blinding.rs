//! Blinding: the number that a private operation takes is multiplied by a random one before, and the result by an
//! inverse after it, so that nothing that can be measured of the operation belongs to a number that others know or
//! choose (P. Kocher, "Timing attacks", 1996, section 10).
//!
//! Of a random r the pair is r^e and 1/r modulo n. Operations that run at once never share one: a key keeps
//! the pairs that are not in use, and an operation takes one out and puts its square back. After some uses a pair is
//! left and another one is made.

use alloc::vec::Vec;
use lanelock_core::parts::blinded;
use zeroize::Zeroizing;

use super::{key::PrivateKey, number, pairs::Pair};
use crate::{
    Error, Random,
    digits::{DIGIT, DIGIT_BITS, Digits},
    montgomery::{Modulus, Power, Product, multiply_all, public_power_all},
};

/// A pair for each operation.
///
/// # Errors
/// The source of random numbers fails.
pub(super) fn pairs(keys: &[&PrivateKey], random: &mut dyn Random) -> Result<Vec<Pair>, Error> {
    let mut pairs: Vec<Option<Pair>> = keys.iter().map(|key| key.blinding.take()).collect();
    let missing: Vec<&PrivateKey> =
        keys.iter().zip(&pairs).filter(|(_, pair)| pair.is_none()).map(|(&key, _)| key).collect();
    let mut made =
        if missing.is_empty() { Vec::new() } else { new_pairs(&missing, random)? }.into_iter();
    Ok(pairs.iter_mut().filter_map(|pair| pair.take().or_else(|| made.next())).collect())
}

/// New pairs.
///
/// The inverse of r is found in a time that depends on what is inverted. That is r times another random number, which
/// tells nothing about r.
fn new_pairs(keys: &[&PrivateKey], random: &mut dyn Random) -> Result<Vec<Pair>, Error> {
    let level = keys[0].public_key().level();
    loop {
        let mut numbers = Vec::with_capacity(2 * keys.len());
        for key in keys {
            numbers.push(below(key.public_key().modulus(), random)?);
            numbers.push(below(key.public_key().modulus(), random)?);
        }
        let moduli = || keys.iter().map(|key| key.public_key().modulus());
        let of_pairs = || moduli().zip(numbers.chunks_exact(2));
        let masked: Vec<Product<'_>> = of_pairs()
            .map(|(modulus, pair)| Product { modulus, a: &pair[0], b: &pair[1] })
            .collect();
        // R / (r t) of a random r and its mask t; one in 2^1000 has no inverse.
        let mut masked = multiply_all(level, &masked);
        for number in &mut masked {
            blinded(number);
        }
        let inverses: Option<Vec<_>> = masked
            .iter()
            .zip(moduli())
            .map(|(number, modulus)| number::inverse_of_public(number, modulus.digits()))
            .collect();
        let Some(inverses) = inverses else { continue };
        let inverses: Vec<Product<'_>> = of_pairs()
            .zip(&inverses)
            .map(|((modulus, pair), inverse)| Product { modulus, a: inverse, b: &pair[1] })
            .collect();
        let inverses = multiply_all(level, &inverses);

        let exponents: Vec<[u64; 1]> = keys.iter().map(|key| [key.public_key().e()]).collect();
        let powers: Vec<Power<'_>> = of_pairs()
            .zip(&exponents)
            .map(|((modulus, pair), exponent)| Power { modulus, base: &pair[0], exponent })
            .collect();
        let factors = public_power_all(level, &powers);
        let into_form: Vec<Product<'_>> = moduli()
            .zip(factors.iter().zip(&inverses))
            .flat_map(|(modulus, (factor, inverse))| {
                [factor, inverse].map(|a| Product { modulus, a, b: modulus.square() })
            })
            .collect();
        let mut forms = multiply_all(level, &into_form).into_iter();
        let mut pairs = Vec::with_capacity(keys.len());
        while let (Some(factor), Some(inverse)) = (forms.next(), forms.next()) {
            pairs.push(Pair::new(factor, inverse));
        }
        return Ok(pairs);
    }
}

/// A random number below the modulus.
fn below(modulus: &Modulus, random: &mut dyn Random) -> Result<Digits, Error> {
    let digits = modulus.digits();
    let mut number = number::zero(digits.len());
    let mut bytes = Zeroizing::new(alloc::vec![0; 8 * digits.len()]);
    loop {
        random.fill(&mut bytes)?;
        for (j, (digit, bytes)) in number.iter_mut().zip(bytes.as_chunks().0).enumerate() {
            let bits = modulus.bits().saturating_sub(DIGIT_BITS * j).min(DIGIT_BITS);
            *digit = u64::from_le_bytes(*bytes) & DIGIT >> (DIGIT_BITS - bits);
        }
        // A number that is refused tells nothing about the one that is taken.
        if number::is_less(&number, digits) {
            return Ok(number);
        }
    }
}
