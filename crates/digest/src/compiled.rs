//! Functions over an algorithm, named with each of them.
//!
//! Builds without full optimisation share generic code between crates: what is named here is compiled in this
//! crate, once, and not again in each test and program that uses it.

use crate::{
    algorithm::{
        Blake2b, Blake2s, Sha1, Sha3_224, Sha3_256, Sha3_384, Sha3_512, Sha224, Sha256, Sha384,
        Sha512, Sha512_224, Sha512_256, Shake128, Shake256, Sm3,
    },
    hash::Hash,
    hmac::{HmacKey, hmac_all},
    kangaroo::{Kt128, Kt256},
    lanes::{hash_all, update_all},
    pbkdf2::pbkdf2_all,
};

macro_rules! named {
    ($($algorithm:ty)+) => {
        [$([
            Hash::<$algorithm>::update as *const (),
            Hash::<$algorithm>::finish as *const (),
            Hash::<$algorithm>::export as *const (),
            Hash::<$algorithm>::import_with_level as *const (),
            HmacKey::<$algorithm>::with_levels as *const (),
            HmacKey::<$algorithm>::tag as *const (),
            hash_all::<$algorithm> as *const (),
            update_all::<$algorithm> as *const (),
            hmac_all::<$algorithm> as *const (),
        ]),+]
    };
}

/// Addresses of functions, so that they are compiled: not inlined, or it is only the caller that compiles them.
#[inline(never)]
pub fn compiled_here() -> impl IntoIterator<Item = *const ()> {
    named!(
        Sha1 Sha224 Sha256 Sha384 Sha512 Sha512_224 Sha512_256 Sha3_224 Sha3_256 Sha3_384 Sha3_512 Shake128 Shake256
        Sm3 Blake2b Blake2s
    )
    .into_iter()
    .flatten()
    .chain([
        Kt128::update as *const (),
        Kt128::finish as *const (),
        Kt256::update as *const (),
        Kt256::finish as *const (),
        pbkdf2_all::<Sha1> as *const (),
        pbkdf2_all::<Sha256> as *const (),
        pbkdf2_all::<Sha384> as *const (),
        pbkdf2_all::<Sha512> as *const (),
    ])
}
