//! The orders of the groups of curves: primes without a form that reductions could use.

use super::{Modulus, digits_of};

/// The order of the group of P-256 (SP 800-186, 3.2.1.3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct OrderP256;

impl Modulus<5> for OrderP256 {
    const NUMBER: [u64; 5] =
        digits_of("ffffffff 00000000 ffffffff ffffffff bce6faad a7179e84 f3b9cac2 fc632551");
}

/// The order of the group of P-384 (SP 800-186, 3.2.1.4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct OrderP384;

impl Modulus<8> for OrderP384 {
    const NUMBER: [u64; 8] = digits_of(
        "ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff \
         c7634d81 f4372ddf 581a0db2 48b0a77a ecec196a ccc52973",
    );
}

/// The order of the group of P-521 (SP 800-186, 3.2.1.5).
#[derive(Clone, Copy, Debug)]
pub(crate) struct OrderP521;

impl Modulus<11> for OrderP521 {
    const NUMBER: [u64; 11] = digits_of(
        "01ff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff fffffffa \
         51868783 bf2f966b 7fcc0148 f709a5d0 3bb5c9b8 899c47ae bb6fb71e 91386409",
    );
}

/// The order of the base point of edwards25519 (RFC 8032, 5.1), which has 253 bits: `R` is 128 times it and more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order25519;

impl Modulus<5> for Order25519 {
    const NUMBER: [u64; 5] =
        digits_of("10000000 00000000 00000000 00000000 14def9de a2f79cd6 5812631a 5cf5d3ed");
}
