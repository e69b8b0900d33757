//! Protection systems: which ones the manifests treat in a way of their own, and how identifiers are written.

use base64ct::{Base64, Encoding as _};
use lanelock_mp4::COMMON_SYSTEM_ID;

use crate::ProtectionSystem;

// SystemIDs, as registered at dashif.org/identifiers/content_protection.
const FAIRPLAY: u128 = 0x94ce_86fb_07ff_4f43_adb8_93d2_fa96_8ca2;
const PLAYREADY: u128 = 0x9a04_f079_9840_4286_ab92_e65b_e088_5f95;
const CLEAR_KEY: u128 = 0xe271_9d58_a985_b3c9_781a_b030_af78_d30e;

/// A system that a manifest treats in a way of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    FairPlay,
    PlayReady,
    /// Clear Key of DASH-IF.
    ClearKey,
    /// The `pssh` of W3C that lists KIDs, for any system; Clear Key uses it, too.
    Common,
    Other,
}

impl ProtectionSystem {
    pub(crate) fn kind(&self) -> Kind {
        match u128::from_be_bytes(self.id) {
            FAIRPLAY => Kind::FairPlay,
            PLAYREADY => Kind::PlayReady,
            CLEAR_KEY => Kind::ClearKey,
            _ if self.id == COMMON_SYSTEM_ID => Kind::Common,
            _ => Kind::Other,
        }
    }
}

/// A SystemID or KID in the form of RFC 9562, in lower case.
pub(crate) fn uuid(id: [u8; 16]) -> String {
    let hex = format!("{:032x}", u128::from_be_bytes(id));
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    Base64::encode_string(bytes)
}
