//! The public operation on numbers: RFC 8017, sections 5.1.1 and 5.2.2.

use alloc::vec::Vec;

use super::key::PublicKey;
use crate::{
    digits::Digits,
    montgomery::{Power, public_power_all},
};

/// The numbers, below the moduli of their keys, to the powers of the public exponents. All keys have as many bits and
/// the same level.
pub(super) fn public_all(keys: &[&PublicKey], numbers: &[&[u64]]) -> Vec<Digits> {
    let Some(first) = keys.first() else { return Vec::new() };
    let exponents: Vec<[u64; 1]> = keys.iter().map(|key| [key.e()]).collect();
    let powers: Vec<Power<'_>> = keys
        .iter()
        .zip(numbers)
        .zip(&exponents)
        .map(|((key, base), exponent)| Power { modulus: key.modulus(), base, exponent })
        .collect();
    public_power_all(first.level(), &powers)
}
