//! From the packager's keys to a document.

use lanelock_packager::{
    KeyLine, KeyMap, PictureClass, PictureLimits, Scheme, Selector,
    drm::{self, System},
};

use crate::{
    document::{AudioFilter, ContentKey, Document, DrmSystem, KeyPeriod, UsageRule, VideoFilter},
    error::CpixError,
};

impl Document {
    /// A document of keys: usage rules say what their selectors say, and key periods have the numbers of
    /// theirs as indexes. One key for all tracks needs no rule.
    ///
    /// # Errors
    /// A selector is one that CPIX has no filter for (text, codecs, track IDs, or `all` and others besides),
    /// or two selectors would give one track two keys.
    pub fn of_keys(
        keys: &KeyMap,
        limits: PictureLimits,
        scheme: Option<Scheme>,
    ) -> Result<Self, CpixError> {
        let mut document = Self { version: Some("2.4".into()), ..Self::default() };
        let lines: Vec<&KeyLine> = keys.entries().collect();
        for (at, line) in lines.iter().enumerate() {
            if let Some(other) =
                lines[..at].iter().find(|other| overlap(&other.selector, &line.selector))
            {
                return Err(CpixError::Document(format!(
                    "keys for {} and for {}: in CPIX no track may match two rules, and none goes before the \
                     other",
                    other.selector, line.selector
                )));
            }
            if !document.keys.iter().any(|key| key.kid == line.key.kid) {
                let mut key = ContentKey::new(line.key.clone());
                key.common_encryption_scheme = scheme.map(|scheme| scheme.to_string());
                document.keys.push(key);
            }
            let period_ids = line.period.map(|period| document.period(period));
            let mut rule = filters(&line.selector, limits)?;
            rule.kid = line.key.kid;
            rule.period_ids.extend(period_ids);
            document.rules.push(rule);
        }
        if let [line] = lines.as_slice()
            && line.selector == Selector::All
            && line.period.is_none()
        {
            document.rules.clear();
        }
        Ok(document)
    }

    /// The `id` of the key period with a number.
    fn period(&mut self, number: u32) -> String {
        let id = format!("period-{number}");
        if !self.periods.iter().any(|period| period.index == Some(number)) {
            let period =
                KeyPeriod { id: Some(id.clone()), index: Some(number), ..KeyPeriod::default() };
            self.periods.push(period);
        }
        id
    }

    /// Adds the `pssh` boxes of protection systems, one for each key.
    ///
    /// # Errors
    /// There is no such box for the scheme.
    pub fn add_boxes(&mut self, systems: &[System], scheme: Scheme) -> Result<(), CpixError> {
        for key in self.keys.iter().filter_map(|key| key.key.as_ref()) {
            for system in systems {
                let made = drm::pssh(*system, scheme, core::slice::from_ref(key))
                    .map_err(|error| CpixError::Document(error.to_string()))?;
                let mut data = DrmSystem::new(system.id(), key.kid);
                data.name = Some(system.name().into());
                data.pssh = Some(made.raw);
                self.drm_systems.push(data);
            }
        }
        Ok(())
    }
}

/// Whether a track may be selected by both, which are different.
fn overlap(a: &Selector, b: &Selector) -> bool {
    use PictureClass::{Uhd, Uhd1, Uhd2};
    match (a, b) {
        // Of different key periods.
        (a, b) if a == b => false,
        (Selector::All, _)
        | (_, Selector::All)
        | (Selector::Video, Selector::Picture(_))
        | (Selector::Picture(_), Selector::Video) => true,
        (Selector::Picture(a), Selector::Picture(b)) => {
            matches!((a, b), (Uhd, Uhd1 | Uhd2) | (Uhd1 | Uhd2, Uhd))
        }
        _ => false,
    }
}

fn filters(selector: &Selector, limits: PictureLimits) -> Result<UsageRule, CpixError> {
    let mut rule = UsageRule::default();
    let mut video = |name: &str, min_pixels, max_pixels| {
        rule.intended_track_type = Some(name.into());
        rule.video.push(VideoFilter { min_pixels, max_pixels, ..VideoFilter::default() });
    };
    let PictureLimits { sd, hd, uhd1, .. } = limits;
    match selector {
        Selector::All => {}
        Selector::Video => video("VIDEO", None, None),
        Selector::Audio => {
            rule.intended_track_type = Some("AUDIO".into());
            rule.audio.push(AudioFilter::default());
        }
        Selector::Picture(PictureClass::Sd) => video("SD", None, Some(sd)),
        Selector::Picture(PictureClass::Hd) => video("HD", Some(sd + 1), Some(hd)),
        Selector::Picture(PictureClass::Uhd) => video("UHD", Some(hd + 1), None),
        Selector::Picture(PictureClass::Uhd1) => video("UHD1", Some(hd + 1), Some(uhd1)),
        Selector::Picture(PictureClass::Uhd2) => video("UHD2", Some(uhd1 + 1), None),
        other => {
            return Err(CpixError::Document(format!(
                "CPIX has no filter that says \"{other}\"; keys are for all, video, audio, sd, hd, uhd, uhd1 or \
                 uhd2"
            )));
        }
    }
    Ok(rule)
}
