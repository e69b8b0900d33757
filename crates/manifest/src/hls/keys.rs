//! Where players get keys: `EXT-X-KEY` and `EXT-X-SESSION-KEY` (RFC 8216bis, 4.4.4.4 and 4.4.6.5).

use super::{given, tag::Tag};
use crate::{
    Error, Protection, ProtectionSystem, Track,
    protection::{Kind, base64, uuid},
};

/// The tag of media playlists.
pub(super) const MEDIA: &str = "EXT-X-KEY";

/// A way to get the key of some segments.
pub(super) struct KeyWay {
    format: String,
    uri: String,
    /// The line that says so.
    pub(super) line: String,
}

impl KeyWay {
    /// Whether it asks the same system for the same, so that only one of them is told (4.4.6.5).
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.format, &self.uri) == (&other.format, &other.uri)
    }
}

/// The ways to get the keys of a track, as lines of a tag (`EXT-X-KEY` or `EXT-X-SESSION-KEY`): those of each of
/// its spans, none where it is clear.
///
/// A key goes on to apply until one of the same KEYFORMAT comes, or `METHOD=NONE` (4.4.4.4). So those of one span
/// must take the place of all those of the span before it.
pub(super) fn spans(tag: &'static str, track: &Track) -> Result<Vec<(usize, Vec<KeyWay>)>, Error> {
    let mut spans: Vec<(usize, Vec<KeyWay>)> = Vec::with_capacity(track.protection.len());
    for span in &track.protection {
        let ways = match &span.protection {
            Some(protection) => key_ways(tag, protection, track)?,
            None => Vec::new(),
        };
        let left_over = spans.last().and_then(|(_, before)| {
            before.iter().find(|old| ways.iter().all(|way| way.format != old.format))
        });
        if let Some(KeyWay { format, .. }) = left_over.filter(|_| !ways.is_empty()) {
            return Err(Error::track(
                track,
                format!(
                    "the key from segment {} on has no KEYFORMAT {format}, which the one before it has and \
                     which would go on to apply; give all keys of a track the same protection systems",
                    span.first + 1
                ),
            ));
        }
        spans.push((span.first, ways));
    }
    Ok(spans)
}

fn key_ways(
    tag: &'static str,
    protection: &Protection,
    track: &Track,
) -> Result<Vec<KeyWay>, Error> {
    let is_cbcs = protection.scheme.0 == *b"cbcs";
    let mut all: Vec<KeyWay> = Vec::new();
    let mut is_given = false;
    for system in &protection.systems {
        if let Some(lines) = &system.key_lines {
            // It decrypts cbcs alone.
            if system.kind() == Kind::FairPlay && !is_cbcs {
                continue;
            }
            is_given = true;
            let lines = if tag == MEDIA { &lines.media } else { &lines.multivariant };
            for line in lines {
                let (format, uri) = given::key(tag, line, is_cbcs).map_err(|reason| {
                    let (system, kid) = (uuid(system.id), uuid(protection.kid));
                    let what = format!("what is given for the system {system} and the KID {kid}");
                    Error::track(track, format!("{what}: {reason}"))
                })?;
                let way = KeyWay { format, uri, line: line.clone() };
                if !all.iter().any(|other| other.is_same(&way)) {
                    all.push(way);
                }
            }
            continue;
        }
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
            let way = KeyWay { format, uri, line };
            // Clear Key has two SystemIDs, but one format.
            if !all.iter().any(|other| other.is_same(&way)) {
                all.push(way);
            }
        }
    }
    // Session keys are there for speed alone (4.4.6.5).
    if all.is_empty() && !(is_given && tag != MEDIA) {
        let reason = "no protection system tells HLS players where to get its key; \
                      add one (Clear Key for tests), FairPlay with the scheme cbcs alone";
        return Err(Error::track(track, reason));
    }
    Ok(all)
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
