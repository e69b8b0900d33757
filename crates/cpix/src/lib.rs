//! CPIX documents: content keys with what they are for, as key servers and packagers exchange them
//! (DASH-IF CPIX 2.3 and 2.4), and their transport by SPEKE v2.
//!
//! ```
//! use lanelock_cpix::{Document, ReadOptions};
//!
//! let xml = br#"<CPIX xmlns="urn:dashif:org:cpix" xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc">
//!   <ContentKeyList>
//!     <ContentKey kid="00112233-4455-6677-8899-aabbccddeeff">
//!       <Data><pskc:Secret><pskc:PlainValue>Dx4tPEtaaXiHlqW0w9Lh8A==</pskc:PlainValue></pskc:Secret></Data>
//!     </ContentKey>
//!   </ContentKeyList>
//! </CPIX>"#;
//! let document = Document::read(xml, &ReadOptions::default())?;
//! let key = document.keys[0].key.as_ref().unwrap();
//! assert_eq!(key.secret_text().as_str(), "00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0");
//! # Ok::<(), lanelock_cpix::CpixError>(())
//! ```
//!
//! Reading is strict: elements that CPIX does not have, entities, DTDs and documents of more than
//! [`MOST_BYTES`] are errors, which name the line and column and never repeat a key.
//!
//! Feature `encrypted`: keys that are encrypted for a recipient, and signatures. Feature `speke`: the
//! client.

#![forbid(unsafe_code)]

mod descriptor;
mod document;
mod error;
mod from_keys;
mod plan;
mod read;
mod rules;
mod sealed;
#[cfg_attr(
    not(feature = "encrypted"),
    allow(dead_code, reason = "read, to be checked, and not opened")
)]
mod secret;
#[cfg(feature = "speke")]
pub mod speke;
mod text;
mod time;
mod write;
mod xml;
#[cfg(feature = "encrypted")]
mod xml_security;

pub use document::{
    AudioFilter, BitrateFilter, ContentKey, Document, DrmSystem, HlsSignaling, KeyPeriod, Playlist,
    Span, UsageRule, VideoFilter,
};
pub use error::{CpixError, Place};
pub use lanelock_packager::{TrackFacts, TrackSort};
pub use plan::KeyPlan;
pub use read::ReadOptions;
pub use rules::{At, RuleError};
pub use text::MOST_BYTES;
pub use time::{WallClock, WallClockError};
