//! Protection of TLS records.
//!
//! - [`CbcHmac`]: AES-CBC with HMAC, of TLS 1.1 and 1.2 (and of DTLS, whose sequence numbers begin with the epoch).
//!   MAC-then-encrypt (RFC 5246, 6.2.3.2), whose opening takes the same time for every padding, and
//!   encrypt-then-MAC (RFC 7366);
//! - [`seal_all`], [`open_all`]: many such records side by side, the hashes and then the cipher in lanes;
//! - [`AeadRecords`]: an AEAD with the nonces, the additional data and the sequence numbers of TLS 1.2 and 1.3, and
//!   whole writes that become many records.
//!
//! New connections should use AEADs: CBC records are for peers that have nothing else.
//!
//! ```
//! use lanelock::{Error, hash::algorithm::Sha256, Aes};
//! use lanelock::record::{CbcHmac, ContentType, Header, MacOrder, Version};
//!
//! # fn main() -> Result<(), Error> {
//! let key = CbcHmac::<Aes<128>, Sha256>::new(MacOrder::MacThenEncrypt, &[1; 16], &[2; 32])?;
//! let header = Header::new(0, ContentType::APPLICATION_DATA, Version::TLS_1_2);
//!
//! // The content stands behind room for the IV; behind it is room for MAC and padding.
//! let content = b"attack at dawn";
//! let mut fragment = vec![0; key.sealed_length(content.len())];
//! fragment[16..][..content.len()].copy_from_slice(content);
//! key.seal(header, &[3; 16], &mut fragment, content.len())?; // the IV: a random one for each record
//!
//! assert_eq!(key.open(header, &mut fragment)?, content);
//! # Ok(())
//! # }
//! ```

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod aead;
mod batch;
mod cbc_hmac;
mod header;
mod padding;
mod stitch;

pub use aead::AeadRecords;
pub use batch::{Record, open_all, seal_all};
pub use cbc_hmac::{CbcHmac, MacOrder};
pub use header::{ContentType, Header, MOST_CONTENT, Version};
