//! What is asked for.

use lanelock_packager::{Key, Scheme, drm::System};

use super::SpekeError;
use crate::document::{
    AudioFilter, ContentKey, Document, DrmSystem, HlsSignaling, KeyPeriod, Playlist, UsageRule,
    VideoFilter,
};

/// Keys that are to be had from a key server.
///
/// Each rule stands for a key, one in each key period. Its KID makes no difference.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wish {
    /// What the keys are for, as the key server knows it.
    pub content_id: String,
    /// The scheme that they are used with.
    pub scheme: Scheme,
    /// The tracks that get a key each: rules with `intended_track_type`, which must be different ones,
    /// and filters.
    pub rules: Vec<UsageRule>,
    /// The protection systems.
    pub systems: Vec<System>,
    /// The indexes of the key periods. None: the keys do not change.
    pub periods: Vec<u32>,
}

impl Wish {
    /// A key for video and one for audio, and no protection systems.
    pub fn new(content_id: impl Into<String>, scheme: Scheme) -> Self {
        let mut video = UsageRule::new([0; 16]);
        video.intended_track_type = Some("VIDEO".into());
        video.video.push(VideoFilter::default());
        let mut audio = UsageRule::new([0; 16]);
        audio.intended_track_type = Some("AUDIO".into());
        audio.audio.push(AudioFilter::default());
        let content_id = content_id.into();
        let (systems, periods) = (Vec::new(), Vec::new());
        Self { content_id, scheme, rules: vec![video, audio], systems, periods }
    }

    /// One key for all tracks.
    pub fn shared(content_id: impl Into<String>, scheme: Scheme) -> Self {
        let mut all = UsageRule::new([0; 16]);
        // Filters for video and for audio are both asked for, though no track is both: SPEKE v2 has it so
        // for ALL alone ("Encryption contract").
        all.intended_track_type = Some("ALL".into());
        all.video.push(VideoFilter::default());
        all.audio.push(AudioFilter::default());
        Self { rules: vec![all], ..Self::new(content_id, scheme) }
    }

    /// The request, with new KIDs.
    ///
    /// # Errors
    /// There are no random numbers, no rules, or two rules or periods are the same.
    pub fn request(&self) -> Result<Document, SpekeError> {
        if self.rules.is_empty() {
            return Err(SpekeError::Wish("keys are asked for no track"));
        }
        let named = self.rules.iter().map(|rule| &rule.intended_track_type);
        if named.clone().any(Option::is_none) {
            return Err(SpekeError::Wish(
                "a rule has no intendedTrackType, which SPEKE v2 asks for",
            ));
        }
        if named
            .enumerate()
            .any(|(at, name)| self.rules[..at].iter().any(|r| r.intended_track_type == *name))
        {
            return Err(SpekeError::Wish("two rules have the same intendedTrackType"));
        }
        // CPIX 2.3 is what SPEKE 2.0 speaks.
        let mut document = Document {
            content_id: Some(self.content_id.clone()),
            version: Some("2.3".into()),
            ..Document::default()
        };
        for index in &self.periods {
            let id = Some(format!("keyPeriod_{index}"));
            if document.periods.iter().any(|period| period.id == id) {
                return Err(SpekeError::Wish("two key periods have the same index"));
            }
            document.periods.push(KeyPeriod { id, index: Some(*index), ..KeyPeriod::default() });
        }
        let periods: Vec<Option<String>> = match &*document.periods {
            [] => vec![None],
            periods => periods.iter().map(|period| period.id.clone()).collect(),
        };
        for period in periods {
            for rule in &self.rules {
                let kid = Key::random().map_err(|error| SpekeError::Random(error.to_string()))?.kid;
                let mut key = ContentKey::wanted(kid);
                key.common_encryption_scheme = Some(self.scheme.to_string());
                document.keys.push(key);
                let mut rule = UsageRule { kid, ..rule.clone() };
                rule.period_ids.extend(period.clone());
                document.rules.push(rule);
                document.drm_systems.extend(self.systems.iter().map(|system| empty(*system, kid)));
            }
        }
        Ok(document)
    }
}

/// Elements for the server to fill.
fn empty(system: System, kid: [u8; 16]) -> DrmSystem {
    let mut wanted = DrmSystem::new(system.id(), kid);
    // FairPlay has neither a pssh box nor DASH.
    if system != System::FairPlay {
        wanted.pssh = Some(Vec::new());
        wanted.content_protection_data = Some(String::new());
    }
    if matches!(system, System::FairPlay | System::PlayReady | System::Widevine) {
        let playlists = [Playlist::Media, Playlist::Multivariant];
        wanted.hls_signaling = playlists.map(|playlist| HlsSignaling::new(playlist, "")).into();
    }
    wanted
}
