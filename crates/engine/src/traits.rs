//! The traits of the RustCrypto family, so that the types here fit where those of other crates do.
//!
//! | feature | traits of | for |
//! |---|---|---|
//! | `cipher` | `cipher` 0.5 | [`Aes`](crate::Aes), which any mode of that family can run over, many blocks at once; [`Ctr`] |
//! | `aead` | `aead` 0.6 | every algorithm in [`aead`](crate::aead) |
//! | `digest` | `digest` 0.11 | the hashes of [`hash`](crate::hash), [`Hmac`](crate::hash::Hmac) |
//! | `universal-hash` | `universal-hash` 0.6 | [`Ghash`](crate::hash::Ghash), [`Polyval`](crate::hash::Polyval) |
//!
//! `KeyInit` cannot fail, so the keys it makes run at the fastest level of the processor
//! ([`AesLevel::fastest`](crate::AesLevel::fastest)), whatever `LANELOCK_LEVEL` says. A key at another
//! level is made by `with_level`; these traits take it too.
//!
//! ```
//! # #[cfg(feature = "cipher")] {
//! use cipher::{BlockCipherEncrypt, KeyInit, KeyIvInit, StreamCipher};
//! use lanelock::{Aes128, traits::Aes128Ctr32BE};
//!
//! let key = <Aes128 as KeyInit>::new(&[7; 16].into());
//! let mut block = [0; 16].into();
//! BlockCipherEncrypt::encrypt_block(&key, &mut block);
//!
//! let mut stream = Aes128Ctr32BE::new(&[7; 16].into(), &[0; 16].into());
//! let mut text = [0; 16];
//! stream.apply_keystream(&mut text);
//! assert_eq!(text, block.0); // a block of zeros, encrypted
//! # }
//! ```

#[cfg(feature = "cipher")]
pub use lanelock_core::traits::{
    Aes128Ctr32BE, Aes128Ctr64BE, Aes128Ctr128BE, Aes192Ctr32BE, Aes192Ctr64BE, Aes192Ctr128BE,
    Aes256Ctr32BE, Aes256Ctr64BE, Aes256Ctr128BE, Ctr,
};
