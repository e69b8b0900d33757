//! What every test of the workspace needs and no user of a crate should pay for.
//!
//! - Published vectors as plain lists of [`CipherCase`]: [`cavp_ecb`],
//!   [`cavp_cbc`], [`sp800_38a_ecb`], [`sp800_38a_cbc`], [`sp800_38a_ctr`],
//!   [`rfc3686_ctr`], [`fips197`], [`cbcs_kat`], [`wycheproof_cbc_pkcs5`].
//!   Sources and licences are in `testkit/vectors/README.md`.
//! - The same for the other modes, a module each: [`gcm`], [`gcm_siv`], [`ccm`],
//!   [`ocb3`], [`aegis`] ([`AeadCase`]), [`xts`] ([`XtsCase`]), [`mac`]
//!   ([`MacCase`]), [`key_wrap`] ([`WrapCase`]), [`hash`] ([`HashCase`]), [`crc`]
//!   ([`CrcCase`]).
//! - Repeatable input: [`Rng`] and [`pattern`].
//! - Things a machine may lack: [`openssl()`] as an oracle, [`ffmpeg`],
//!   [`shaka_packager`], [`shared_dir`], [`codec_clip`]; a test that misses one
//!   says so with [`skip`] and returns.
//! - [`hex`] and [`unhex`].
//!
//! The crate depends on no other crate of the workspace, so that every one of
//! them can use it as a dev-dependency.
#![forbid(unsafe_code)]

mod environment;
mod openssl;
mod rng;
mod text;
mod vectors;

pub use environment::{codec_clip, ffmpeg, repository, shaka_packager, shared_dir, skip};
pub use openssl::{Openssl, openssl};
pub use rng::{Rng, pattern};
pub use text::{hex, unhex};
pub use vectors::aead::AeadCase;
pub use vectors::crc::CrcCase;
pub use vectors::hash::HashCase;
pub use vectors::key_wrap::WrapCase;
pub use vectors::mac::MacCase;
pub use vectors::xts::XtsCase;
pub use vectors::{
    CipherCase, Direction, PaddedCase, aegis, cavp_cbc, cavp_ecb, cbcs_kat, ccm, crc, fips197, gcm,
    gcm_siv, hash, key_wrap, mac, ocb3, rfc3686_ctr, sp800_38a_cbc, sp800_38a_ctr, sp800_38a_ecb,
    wycheproof_cbc_pkcs5, xts,
};
