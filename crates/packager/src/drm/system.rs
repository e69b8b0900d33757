//! The systems that are known here.

use core::{fmt, str::FromStr};

use lanelock_mp4::COMMON_SYSTEM_ID;
use thiserror::Error;

use crate::{Scheme, keys::kid_text};

/// A protection system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum System {
    /// The KIDs alone, for all players that ask a page for their keys (W3C, "cenc" Initialization Data
    /// Format).
    Common,
    /// Google's.
    Widevine,
    /// Microsoft's.
    PlayReady,
    /// Apple's: it finds its key by an address in the HLS playlist, and has no box.
    FairPlay,
    /// Clear Key, as the DASH Industry Forum names it in manifests.
    ClearKey,
}

impl System {
    /// All that are known here.
    pub const ALL: [Self; 5] =
        [Self::Common, Self::Widevine, Self::PlayReady, Self::FairPlay, Self::ClearKey];

    /// Its name on the command line, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Common => "common",
            Self::Widevine => "widevine",
            Self::PlayReady => "playready",
            Self::FairPlay => "fairplay",
            Self::ClearKey => "clearkey",
        }
    }

    /// Its SystemID (registered at dashif.org/identifiers/content_protection).
    pub fn id(self) -> [u8; 16] {
        let id: u128 = match self {
            Self::Common => return COMMON_SYSTEM_ID,
            Self::Widevine => 0xedef_8ba9_79d6_4ace_a3c8_27dc_d51d_21ed,
            Self::PlayReady => 0x9a04_f079_9840_4286_ab92_e65b_e088_5f95,
            Self::FairPlay => 0x94ce_86fb_07ff_4f43_adb8_93d2_fa96_8ca2,
            Self::ClearKey => 0xe271_9d58_a985_b3c9_781a_b030_af78_d30e,
        };
        id.to_be_bytes()
    }

    /// The system of a SystemID.
    pub fn of(id: [u8; 16]) -> Option<Self> {
        Self::ALL.into_iter().find(|system| system.id() == id)
    }
}

/// A SystemID as it is written in manifests: lower-case hexadecimal digits, grouped like a UUID.
pub fn uuid(id: [u8; 16]) -> String {
    kid_text(&id)
}

/// The name of the system of a SystemID, of some systems too that have no boxes made here.
pub fn name(id: [u8; 16]) -> Option<&'static str> {
    Some(match System::of(id) {
        Some(System::Common) => "common (W3C)",
        Some(System::Widevine) => "Widevine",
        Some(System::PlayReady) => "PlayReady",
        Some(System::FairPlay) => "FairPlay",
        Some(System::ClearKey) => "Clear Key",
        None if id == 0x2970_1fe4_3cc7_4a34_8c5b_ae90_c743_9a47_u128.to_be_bytes() => "FairPlay",
        None if id == 0x5e62_9af5_38da_4063_8977_97ff_bd99_02d4_u128.to_be_bytes() => "Marlin",
        None => return None,
    })
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name(self.id()).unwrap_or_default())
    }
}

impl FromStr for System {
    type Err = DrmError;

    /// Reads a [name](Self::name).
    fn from_str(text: &str) -> Result<Self, DrmError> {
        let named = |system: &Self| system.name().eq_ignore_ascii_case(text);
        Self::ALL.into_iter().find(named).ok_or(DrmError::Unknown)
    }
}

/// Why there is no box.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DrmError {
    /// No system has that name.
    #[error("the protection systems are common, widevine, playready, fairplay and clearkey")]
    Unknown,
    /// No keys were given.
    #[error("a pssh box needs one KID or more")]
    NoKeys,
    /// A system does not know the scheme.
    #[error("{system} knows cenc and cbcs, and not {scheme}")]
    Scheme {
        /// The system.
        system: System,
        /// The scheme.
        scheme: Scheme,
    },
    /// FairPlay has no box.
    #[error(
        "FairPlay has no pssh box: its players find the key by the skd:// address in the HLS playlist"
    )]
    NoBox,
    /// A header has a length of 16 bits.
    #[error(
        "a PlayReady header of {0} KIDs is too large; give tracks with other KIDs a box of their own"
    )]
    TooManyKids(usize),
}
