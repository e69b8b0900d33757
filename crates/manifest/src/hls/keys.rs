//! Where players get keys: `EXT-X-KEY` and `EXT-X-SESSION-KEY` (RFC 8216bis, 4.4.4.4 and 4.4.6.5).

use super::tag::Tag;
use crate::{
    Error, ProtectionSystem, Track,
    protection::{Kind, base64, uuid},
};

/// The lines of a tag (`EXT-X-KEY` or `EXT-X-SESSION-KEY`), one for each way to get the key of a track.
pub(super) fn keys(tag: &'static str, track: &Track) -> Result<Vec<String>, Error> {
    let Some(protection) = &track.protection else { return Ok(Vec::new()) };
    let is_cbcs = protection.scheme.0 == *b"cbcs";
    let mut lines = Vec::new();
    for system in &protection.systems {
        for (format, uri) in
            ways(system, protection.kid, is_cbcs).map_err(|reason| Error::track(track, reason))?
        {
            let mut key = Tag::new(tag)
                .word("METHOD", if is_cbcs { "SAMPLE-AES" } else { "SAMPLE-AES-CTR" })
                .quoted("URI", &uri)?;
            if system.kind() == Kind::Other {
                // Not of the RFC, but of Widevine: players that see it need not read the pssh.
                key =
                    key.word("KEYID", format_args!("0x{}", uuid(protection.kid).replace('-', "")));
            }
            let line =
                key.quoted("KEYFORMAT", &format)?.quoted("KEYFORMATVERSIONS", "1")?.into_line();
            // Clear Key has two SystemIDs, but one format.
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    if lines.is_empty() {
        let reason = "no protection system tells HLS players where to get its key; \
                      add one (Clear Key for tests), FairPlay with the scheme cbcs alone";
        return Err(Error::track(track, reason));
    }
    Ok(lines)
}

/// `KEYFORMAT` and `URI` of what a system offers; or what it lacks.
fn ways(
    system: &ProtectionSystem,
    kid: [u8; 16],
    is_cbcs: bool,
) -> Result<Vec<(String, String)>, &'static str> {
    let way = |format: &str, uri: String| (format.to_owned(), uri);
    Ok(match system.kind() {
        // It decrypts cbcs alone.
        Kind::FairPlay if !is_cbcs => Vec::new(),
        Kind::FairPlay => {
            let uri =
                system.key_uri.clone().ok_or("FairPlay needs the URI of the key, skd://...")?;
            vec![way("com.apple.streamingkeydelivery", uri)]
        }
        Kind::PlayReady => {
            let object = system
                .playready_object
                .as_ref()
                .ok_or("PlayReady needs its PlayReady Object for HLS")?;
            let uri = format!("data:text/plain;charset=UTF-16;base64,{}", base64(object));
            vec![way("com.microsoft.playready", uri)]
        }
        // hls.js asks a licence server for the KID in the URI. Shaka Player does not know this format, and refuses
        // a playlist that has no other; it fetches the key itself from the URI of an identity key. That in turn
        // stops hls.js where the method is SAMPLE-AES, so that it is there on request alone.
        Kind::ClearKey | Kind::Common => {
            let kid = way("org.w3.clearkey", format!("data:text/plain;base64,{}", base64(&kid)));
            let key = system.key_uri.clone().map(|uri| way("identity", uri));
            std::iter::once(kid).chain(key).collect()
        }
        // Widevine's form, which others use as well.
        Kind::Other => match &system.pssh {
            Some(pssh) => {
                let format = format!("urn:uuid:{}", uuid(system.id));
                vec![way(&format, format!("data:text/plain;base64,{}", base64(pssh)))]
            }
            None => Vec::new(),
        },
    })
}
