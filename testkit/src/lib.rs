//! What every test of the workspace needs and no user of a crate should pay for.
//!
//! - Published vectors as plain lists of [`CipherCase`]: [`cavp_ecb`],
//!   [`cavp_cbc`], [`sp800_38a_ecb`], [`sp800_38a_cbc`], [`sp800_38a_ctr`],
//!   [`rfc3686_ctr`], [`fips197`], [`cbcs_kat`], [`wycheproof_cbc_pkcs5`].
//!   Sources and licences are in `testkit/vectors/README.md`.
//! - The same for the other modes, a module each: [`gcm`], [`gcm_siv`], [`ccm`],
//!   [`ocb3`], [`aegis`], and of [`sm4`] ([`AeadCase`]), [`xts`] ([`XtsCase`]), [`mac`]
//!   ([`MacCase`]), [`key_wrap`] ([`WrapCase`]), [`hash`] ([`HashCase`]), [`crc`]
//!   ([`CrcCase`]), [`digest`] ([`DigestCase`]).
//! - Repeatable input: [`Rng`] and [`pattern`]; damaged input: [`Mutator`].
//! - Clips, of which every checkout has small ones: [`small_clip`], [`clips`],
//!   [`all_clips`], [`protected_clips`]; [`boxes`], to build and find them; and
//!   [`fragments`] in rare forms.
//! - Things a machine may lack: [`openssl()`] as an oracle, [`ffmpeg`],
//!   [`ffprobe`], [`shaka_packager`], [`codec_clip`]. They list what they miss as
//!   a skip; a test that cannot run for another reason says so with [`skip`].
//! - Rules that a program can check of manifests, each with its clause: [`dash_rules()`],
//!   [`hls_rules()`].
//! - A server of objects, with faults on demand: [`object_server`].
//! - A process of its own for a test that measures it: [`alone()`].
//! - [`Scratch`] folders, and a [`Watchdog`] for what might never end.
//! - Buffers between unmapped pages, with the feature `guard`: `guard::Guarded`.
//! - [`hex`] and [`unhex`].
//!
//! The crate depends on no other crate of the workspace, so that every one of
//! them can use it as a dev-dependency.
#![cfg_attr(not(feature = "guard"), forbid(unsafe_code))]
#![cfg_attr(feature = "guard", deny(unsafe_code))]

mod alone;
pub mod boxes;
mod dash_rules;
mod environment;
pub mod fragments;
#[cfg(all(unix, feature = "guard"))]
pub mod guard;
mod hls_rules;
mod media;
mod mutate;
pub mod object_server;
mod openssl;
mod rng;
mod scratch;
mod text;
mod vectors;
mod watchdog;

pub use alone::alone;
pub use dash_rules::dash_rules;
pub use environment::{
    ffmpeg, ffprobe, folder_named_by, is_emulated, is_long, moto_server, repository, script,
    shaka_packager, shared_dir, skip, takes_fewer,
};
pub use hls_rules::hls_rules;
pub use media::{
    CLIPS, Clip, EXPERIMENTAL_CLIPS, FILM, ProtectedClip, all_clips, clips, codec_clip, demo_clip,
    gop_clip, longest_clip, protected_clip, protected_clips, small_clip,
};
pub use mutate::{Mutator, mutants};
pub use openssl::{Openssl, openssl};
pub use rng::{Rng, fingerprint, pattern};
pub use scratch::Scratch;
pub use text::{hex, unhex};
pub use vectors::aead::AeadCase;
pub use vectors::crc::CrcCase;
pub use vectors::digest::DigestCase;
pub use vectors::hash::HashCase;
pub use vectors::key_wrap::WrapCase;
pub use vectors::mac::MacCase;
pub use vectors::xts::XtsCase;
pub use vectors::{
    CipherCase, Direction, PaddedCase, aegis, cavp_cbc, cavp_ecb, cbcs_kat, ccm, crc, curve25519,
    curves, digest, fips197, gcm, gcm_siv, hash, key_wrap, mac, ocb3, rfc3686_ctr, rsa, sm4,
    sp800_38a_cbc, sp800_38a_ctr, sp800_38a_ecb, wycheproof_cbc_pkcs5, xts,
};
pub use watchdog::Watchdog;
