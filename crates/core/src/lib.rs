//! Block ciphers as types, their modes for one buffer, and lanes for many: the core of the crate `lanelock`,
//! which has it all under one name.
//!
//! - [`cipher`]: what a mode knows of a cipher ([`cipher::Cipher`]), and AES;
//! - [`Key`]: an expanded key, whose methods are ECB, CBC, CBCS and CTR; [`Xts`], [`Cmac`], [`KeyWrap`];
//! - [`lanes`]: independent chains side by side.
//!
//! Without the feature `std` this crate needs `alloc` alone.

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod cipher;
#[cfg(debug_assertions)]
#[doc(hidden)]
pub mod compiled;
mod error;
mod inout;
mod keys;
pub mod lanes;
mod length;
mod mask;
mod modes;
mod pattern;
mod public;
mod set_up;
mod tag;
#[cfg(feature = "cipher")]
pub mod traits;

pub use cipher::{Aes, Key, SizedCipher};
pub use error::Error;
pub use inout::InOut;
pub use keys::*;
pub use lanelock_isa::{AesLevel, Block, LevelError, last_level_run};
pub use modes::{Cmac, CmacStream, CounterBits, CtrStream, KeyWrap, Xts};
pub use pattern::Pattern;
pub use zeroize::Zeroizing;

/// What the other crates of the engine are built with. It may change with every version.
#[doc(hidden)]
pub mod parts {
    #[cfg(lanelock_ct)]
    pub use crate::public::DECLASSIFY;
    pub use crate::{
        cipher::EncryptKey,
        inout::InOutBlocks,
        length::Length,
        mask::{equal, less},
        modes::{
            cmac::{absorb, absorb_blocks, xor},
            ecb::load_group,
        },
        public::{blinded, length as public_length, passed},
        set_up::{SetUp, copy_ok, default_level, detected_level},
        tag::{authenticate, authenticate_beside, authenticate_wiping, copy_tag},
    };
    pub use crate::{key_name, key_object};
    pub use zeroize::ZeroizeOnDrop;
}
