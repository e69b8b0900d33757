//! Lanelock's engine: AES with independent chains side by side in SIMD lanes.
//!
//! - [`Aes128`], [`Aes192`], [`Aes256`]: a key, expanded once, bound to the instruction-set level
//!   chosen then ([`AesLevel`]), zeroised on drop. Its methods are the modes for *one* buffer: ECB,
//!   CBC, CTR and CBCS. What is parallel within one buffer (CBC and CBCS decryption, CTR) runs in
//!   parallel.
//!   [`Aes128Xts`] and its like encrypt sectors, [`Aes128KeyWrap`] and its like keys.
//! - [`lanes`]: *many* buffers at once. CBC and CBCS encryption are serial within a buffer, so one
//!   buffer leaves most of the processor idle; independent buffers fill it.
//!
//! ```
//! use lanelock::{Aes128, lanes::{self, Job}, Pattern};
//!
//! # fn main() -> Result<(), lanelock::Error> {
//! let key = Aes128::new(&[7; 16])?;
//! let mut units = vec![vec![0_u8; 1000]; 50]; // access units to protect with CBCS 1:9
//! let mut jobs: Vec<_> = units
//!     .iter_mut()
//!     .map(|unit| Job::new(&key, [9; 16], Pattern::new(1, 9), unit))
//!     .collect();
//! lanes::encrypt(&mut jobs);
//! # Ok(())
//! # }
//! ```
//!
//! These are confidentiality modes: none of them detects tampering. [`aead`] has what does: GCM,
//! GCM-SIV, CCM, OCB3 and AEGIS, for one message and for batches of short ones. [`hash`] has the
//! universal hashes and CRCs.

#![forbid(unsafe_code)]

pub mod aead;
mod aes;
mod error;
pub mod hash;
mod inout;
pub mod lanes;
mod length;
mod pattern;
mod set_up;
#[cfg(any(feature = "aead", feature = "cipher", feature = "universal-hash"))]
pub mod traits;
mod usage;

pub use aes::{
    Aes, Aes128, Aes128Cmac, Aes128KeyWrap, Aes128Xts, Aes192, Aes192Cmac, Aes192KeyWrap,
    Aes192Xts, Aes256, Aes256Cmac, Aes256KeyWrap, Aes256Xts, Cmac, CmacStream, CounterBits,
    CtrStream, KeyWrap, Xts,
};
pub use error::Error;
pub use inout::InOut;
pub use lanelock_isa::{AesLevel, Block, LevelError, last_level_run};
pub use pattern::Pattern;
pub use usage::KeyUsage;
pub use zeroize::Zeroizing;
