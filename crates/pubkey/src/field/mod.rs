//! Numbers modulo the primes of the curves, of fixed sizes, in registers.

pub(crate) mod p25519;
