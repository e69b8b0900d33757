//! Protection systems: the `pssh` boxes by which players find the keys of a file.
//!
//! A protection system (Widevine, PlayReady, ...) gives its players licences. What it needs in a file or
//! manifest follows from scheme and keys alone: [`pssh`] makes the box, [`contents`] says what is in
//! one, whoever made it.
//!
//! ```
//! use lanelock_packager::{Key, Scheme, drm::{self, System}};
//!
//! let key: Key = "4060a865887842679cbf91ae5bae1e72:fc35340837310cc0fb53de97e22a69e0".parse()?;
//! let pssh = drm::pssh(System::PlayReady, Scheme::Cenc, &[key])?;
//! assert_eq!(pssh.raw.len(), 550);
//! assert_eq!(drm::contents(&pssh).kids, pssh_kids(&pssh));
//! # fn pssh_kids(_: &lanelock_mp4::Pssh) -> Vec<[u8; 16]> {
//! #     vec![*b"\x40\x60\xa8\x65\x88\x78\x42\x67\x9c\xbf\x91\xae\x5b\xae\x1e\x72"]
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod contents;
mod given;
pub(crate) mod playready;
mod system;
mod widevine;

use lanelock_mp4::Pssh;

pub use self::{
    contents::Contents,
    given::GivenSystem,
    system::{DrmError, System, name, uuid},
};
use crate::{Key, Scheme};

/// The box of a protection system for a file with these keys. KIDs that come again count once.
///
/// - Common and Clear Key: version 1, the KIDs, and no data.
/// - Widevine: the fields `key_id` and `protection_scheme` of its `WidevinePsshData`.
/// - PlayReady: a header of version 4.0 for `cenc` with one KID, 4.2 for several, both with the checksums
///   of the keys, and 4.3 for `cbcs`, which has none.
///
/// # Errors
/// [`DrmError::NoKeys`], [`DrmError::Scheme`], [`DrmError::NoBox`] for FairPlay, and
/// [`DrmError::TooManyKids`].
pub fn pssh(system: System, scheme: Scheme, keys: &[Key]) -> Result<Pssh, DrmError> {
    let mut once: Vec<&Key> = Vec::new();
    for key in keys {
        if !once.iter().any(|known| known.kid == key.kid) {
            once.push(key);
        }
    }
    if once.is_empty() {
        return Err(DrmError::NoKeys);
    }
    let kids: Vec<[u8; 16]> = once.iter().map(|key| key.kid).collect();
    let known = matches!(scheme, Scheme::Cenc | Scheme::Cbcs);
    match system {
        System::FairPlay => Err(DrmError::NoBox),
        System::Common | System::ClearKey => Ok(Pssh::new(system.id(), &kids, &[])),
        System::PlayReady if !known => Err(DrmError::Scheme { system, scheme }),
        System::PlayReady => {
            let object = playready::object(&once, scheme == Scheme::Cbcs);
            let object = object.ok_or(DrmError::TooManyKids(kids.len()))?;
            Ok(Pssh::new(system.id(), &[], &object))
        }
        System::Widevine => Ok(Pssh::new(system.id(), &[], &widevine::data(&kids, scheme))),
    }
}

/// Reads a box. Data that cannot be read leave a detail that says so: they are for licence servers, and
/// nothing here depends on them.
pub fn contents(pssh: &Pssh) -> Contents {
    let system = System::of(pssh.system_id);
    let mut contents = Contents { system, ..Contents::default() };
    pssh.kids.iter().for_each(|kid| contents.kid(*kid));
    match system {
        Some(System::Widevine) => widevine::read(&pssh.data, &mut contents),
        Some(System::PlayReady) => playready::read(&pssh.data, &mut contents),
        _ if !pssh.data.is_empty() => {
            contents.detail("data", format!("{} bytes", pssh.data.len()));
        }
        _ => {}
    }
    contents
}
