//! The keys of the modes with AES.

use crate::{
    cipher::{Aes, Key},
    modes::{Cmac, KeyWrap, Xts},
};

/// AES with a 128-bit key: 10 rounds.
pub type Aes128 = Key<Aes<128>>;
/// AES with a 192-bit key: 12 rounds.
pub type Aes192 = Key<Aes<192>>;
/// AES with a 256-bit key: 14 rounds.
pub type Aes256 = Key<Aes<256>>;

/// CMAC with a 128-bit key.
pub type Aes128Cmac = Cmac<Aes<128>>;
/// CMAC with a 192-bit key.
pub type Aes192Cmac = Cmac<Aes<192>>;
/// CMAC with a 256-bit key.
pub type Aes256Cmac = Cmac<Aes<256>>;

/// Key wrap with a 128-bit key.
pub type Aes128KeyWrap = KeyWrap<Aes<128>>;
/// Key wrap with a 192-bit key.
pub type Aes192KeyWrap = KeyWrap<Aes<192>>;
/// Key wrap with a 256-bit key.
pub type Aes256KeyWrap = KeyWrap<Aes<256>>;

/// XTS-AES-128: a key of 32 bytes.
pub type Aes128Xts = Xts<Aes<128>>;
/// XTS with AES-192: a key of 48 bytes. Not in the standard.
pub type Aes192Xts = Xts<Aes<192>>;
/// XTS-AES-256: a key of 64 bytes.
pub type Aes256Xts = Xts<Aes<256>>;
