//! Which key a track gets (CPIX 2.4, 4.3.15 and 4.3.16).

use core::time::Duration;

use lanelock_packager::{TrackFacts, TrackSort};
use thiserror::Error;

use crate::{
    document::{AudioFilter, BitrateFilter, ContentKey, Document, Span, UsageRule, VideoFilter},
    text::uuid_text,
    time::WallClock,
};

/// When a key is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// There are no key periods.
    NoPeriod,
    /// In the period with this index.
    Index(u32),
    /// At a time of the wall clock.
    Wall(WallClock),
    /// At a time since the content began.
    Media(Duration),
}

/// Why a track gets no key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// There are no keys.
    #[error("the document has no content keys")]
    NoKeys,
    /// There are several keys, and no rules.
    #[error(
        "the document has {0} keys and no usage rules, so nothing says which track gets which; it needs a \
         ContentKeyUsageRuleList"
    )]
    NoRules(usize),
    /// A rule cannot be used, and then none may be (4.3.16.1).
    #[error("{rule} cannot be used: {reason}")]
    Unusable {
        /// The rule.
        rule: String,
        /// Why.
        reason: String,
    },
    /// No rule matches.
    #[error("none of the {0} usage rules matches")]
    NoMatch(usize),
    /// Rules for different keys match.
    #[error("it would get several keys: {} match", .0.join(" and "))]
    Several(Vec<String>),
    /// The key has no value.
    #[error("the document has the KID {0} without its key")]
    NoValue(String),
}

impl Document {
    /// The key of a track at a time. The only key of a document without rules is for all tracks.
    ///
    /// `intendedTrackType` is for licences and has no part in this, with one exception: a rule that has
    /// it and no filter at all is meant for what it says, and not for everything. Its parts, between
    /// which there is a `+`, are then taken as labels, and `VIDEO`, `AUDIO` and `ALL` as what they say.
    ///
    /// # Errors
    /// No key or several match, or what a rule asks is not known.
    pub fn key_for(&self, track: &TrackFacts, at: At) -> Result<&ContentKey, RuleError> {
        let key = self.matching(track, at)?;
        if key.key.is_none() {
            return Err(RuleError::NoValue(uuid_text(&key.kid)));
        }
        Ok(key)
    }

    fn matching(&self, track: &TrackFacts, at: At) -> Result<&ContentKey, RuleError> {
        if self.rules.is_empty() {
            return match self.keys.as_slice() {
                [] => Err(RuleError::NoKeys),
                [key] => Ok(key),
                keys => Err(RuleError::NoRules(keys.len())),
            };
        }
        let mut found: Option<&ContentKey> = None;
        let mut names = Vec::new();
        for (number, rule) in (1..).zip(&self.rules) {
            let name = || rule_name(number, rule);
            let matches = self.matches(rule, track, at);
            if !matches.map_err(|reason| RuleError::Unusable { rule: name(), reason })? {
                continue;
            }
            let Some(key) = self.keys.iter().find(|key| key.kid == rule.kid) else {
                let reason = "its key is not in the document".into();
                return Err(RuleError::Unusable { rule: name(), reason });
            };
            // Rules of one key may overlap.
            if found.is_none_or(|other| other.kid != key.kid) {
                names.push(name());
            }
            found.get_or_insert(key);
        }
        match found {
            _ if names.len() > 1 => Err(RuleError::Several(names)),
            Some(key) => Ok(key),
            None => Err(RuleError::NoMatch(self.rules.len())),
        }
    }

    /// Whether a rule matches; an error if what it asks is not known and would decide.
    fn matches(&self, rule: &UsageRule, track: &TrackFacts, at: At) -> Result<bool, String> {
        if rule.unknown_filter.is_some() {
            return rule.selects(track);
        }
        let is_in_period = any(rule.period_ids.iter().map(|id| self.is_in_period(id, at)));
        all([rule.selects(track), is_in_period])
    }

    fn is_in_period(&self, id: &str, at: At) -> Result<bool, String> {
        let Some(period) = self.periods.iter().find(|period| period.id.as_deref() == Some(id))
        else {
            return Err("it is for a key period that is not in the document".into());
        };
        match (at, &period.span, period.index) {
            (At::Index(at), _, Some(index)) => Ok(at == index),
            (At::Wall(at), Some(Span::Wall { start, end }), _) => Ok(*start <= at && at < *end),
            (At::Media(at), Some(Span::Media { start, end }), _) => Ok(*start <= at && at < *end),
            (At::NoPeriod, ..) => {
                Err("it is for a key period, and the keys are not asked for by period".into())
            }
            (At::Index(_), _, None) => Err("its key period has no index".into()),
            (At::Wall(_), ..) => Err("its key period has no times of the wall clock".into()),
            (At::Media(_), ..) => Err("its key period has no startOffset".into()),
        }
    }
}

impl UsageRule {
    /// Whether it is for a track, at some time; an error if what it asks is not known and would decide.
    pub(crate) fn selects(&self, track: &TrackFacts) -> Result<bool, String> {
        let rule = self;
        if let Some(filter) = &rule.unknown_filter {
            return Err(format!("it has a filter that is not one of CPIX ({filter})"));
        }
        let has_filter = !(rule.period_ids.is_empty()
            && rule.labels.is_empty()
            && rule.video.is_empty()
            && rule.audio.is_empty()
            && rule.bit_rates.is_empty());
        if let (false, Some(intended)) = (has_filter, &rule.intended_track_type) {
            return is_intended(intended, track);
        }
        let labels = rule.labels.iter().map(|label| match &track.labels {
            Some(labels) => Ok(labels.contains(label)),
            None => Err(unknown("label")),
        });
        // No track is both video and audio, so filters for both are alternatives as well: SPEKE v2 has
        // them in its rule for all tracks.
        let video = rule.video.iter().map(|filter| is_video(filter, &track.sort));
        let audio = rule.audio.iter().map(|filter| is_audio(filter, &track.sort));
        let parts = [
            any(labels),
            any(video.chain(audio)),
            any(rule.bit_rates.iter().map(|filter| has_bit_rate(filter, track.bit_rate))),
        ];
        // One part that surely does not match decides, whatever is not known of others.
        if parts.contains(&Ok(false)) {
            return Ok(false);
        }
        parts.into_iter().find(Result::is_err).unwrap_or(Ok(true))
    }
}

/// A rule, as messages name it.
pub(crate) fn rule_name(number: usize, rule: &UsageRule) -> String {
    let kid = uuid_text(&rule.kid);
    match &rule.intended_track_type {
        Some(intended) => format!("usage rule {number} ({intended}, KID {kid})"),
        None => format!("usage rule {number} (KID {kid})"),
    }
}

/// Whether one of the filters matches, or there are none.
fn any(filters: impl Iterator<Item = Result<bool, String>>) -> Result<bool, String> {
    let mut result = None;
    for matches in filters {
        match (&result, matches) {
            (_, Ok(true)) => return Ok(true),
            (Some(Err(_)), _) => {}
            (_, matches) => result = Some(matches),
        }
    }
    result.unwrap_or(Ok(true))
}

/// Whether all conditions hold. One that surely does not decides.
fn all<const N: usize>(conditions: [Result<bool, String>; N]) -> Result<bool, String> {
    if conditions.contains(&Ok(false)) {
        return Ok(false);
    }
    conditions.into_iter().find(Result::is_err).unwrap_or(Ok(true))
}

fn is_intended(intended: &str, track: &TrackFacts) -> Result<bool, String> {
    let mut unknown = None;
    for part in intended.split('+').map(str::trim) {
        let matches = match part {
            "ALL" => true,
            "VIDEO" => matches!(track.sort, TrackSort::Video { .. }),
            "AUDIO" => matches!(track.sort, TrackSort::Audio { .. }),
            label => {
                unknown = Some(label);
                track.labels.iter().flatten().any(|other| other == label)
            }
        };
        if matches {
            return Ok(true);
        }
    }
    match unknown {
        Some(label) if track.labels.as_ref().is_none_or(Vec::is_empty) => Err(format!(
            "it has no filter, and nothing says which tracks \"{label}\" means; give the tracks labels, or \
             the rule filters"
        )),
        _ => Ok(false),
    }
}

fn is_video(filter: &VideoFilter, sort: &TrackSort) -> Result<bool, String> {
    let TrackSort::Video { pixels, frame_rate, hdr, wcg } = sort else { return Ok(false) };
    let VideoFilter { min_pixels, max_pixels, hdr: is_hdr, wcg: is_wcg, min_fps, max_fps } = filter;
    // The least is left out of the range of frame rates, the most is in it (4.3.16.4).
    let fps = match (min_fps, max_fps, frame_rate) {
        (None, None, _) => Ok(true),
        (_, _, Some((frames, seconds))) if *seconds > 0 => {
            let at = |fps: u64| u128::from(fps) * u128::from(*seconds);
            let frames = u128::from(*frames);
            Ok(min_fps.is_none_or(|min| frames > at(min))
                && max_fps.is_none_or(|max| frames <= at(max)))
        }
        _ => Err(unknown("frame rate")),
    };
    all([
        range(*min_pixels, *max_pixels, *pixels, "picture size"),
        is(*is_hdr, *hdr, "dynamic range (HDR)"),
        is(*is_wcg, *wcg, "colour gamut (WCG)"),
        fps,
    ])
}

fn is_audio(filter: &AudioFilter, sort: &TrackSort) -> Result<bool, String> {
    let TrackSort::Audio { channels } = sort else { return Ok(false) };
    range(filter.min_channels, filter.max_channels, *channels, "number of channels")
}

fn has_bit_rate(filter: &BitrateFilter, bit_rate: Option<u64>) -> Result<bool, String> {
    range(filter.min_bitrate, filter.max_bitrate, bit_rate, "bit rate")
}

fn range(
    min: Option<u64>,
    max: Option<u64>,
    value: Option<u64>,
    name: &str,
) -> Result<bool, String> {
    match value {
        _ if min.is_none() && max.is_none() => Ok(true),
        Some(value) => Ok(min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)),
        None => Err(unknown(name)),
    }
}

fn is(wanted: Option<bool>, value: Option<bool>, name: &str) -> Result<bool, String> {
    match (wanted, value) {
        (None, _) => Ok(true),
        (Some(wanted), Some(value)) => Ok(wanted == value),
        (Some(_), None) => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> String {
    format!("it asks for the {name}, which is not known of the track")
}
