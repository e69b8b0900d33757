//! What every test of the workspace needs and no user of a crate should pay for.
//!
//! - Published vectors as plain lists of [`CipherCase`]: [`cavp_ecb`],
//!   [`cavp_cbc`], [`sp800_38a_ecb`], [`sp800_38a_cbc`], [`sp800_38a_ctr`],
//!   [`rfc3686_ctr`], [`fips197`], [`cbcs_kat`], [`wycheproof_cbc_pkcs5`].
//!   Sources and licences are in `testkit/vectors/README.md`.
//! - Repeatable input: [`Rng`] and [`pattern`].
//! - Things a machine may lack: [`ffmpeg`], [`shaka_packager`], [`shared_dir`],
//!   [`codec_clip`]; a test that misses one says so with [`skip`] and returns.
//! - [`hex`] and [`unhex`].
//!
//! The crate depends on no other crate of the workspace, so that every one of
//! them can use it as a dev-dependency.
#![forbid(unsafe_code)]

mod environment;
mod rng;
mod text;
mod vectors;

pub use environment::{codec_clip, ffmpeg, repository, shaka_packager, shared_dir, skip};
pub use rng::{Rng, pattern};
pub use text::{hex, unhex};
pub use vectors::{
    CipherCase, Direction, PaddedCase, cavp_cbc, cavp_ecb, cbcs_kat, fips197, rfc3686_ctr,
    sp800_38a_cbc, sp800_38a_ctr, sp800_38a_ecb, wycheproof_cbc_pkcs5,
};
