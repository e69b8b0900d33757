//! From a document to what the packager takes: keys by selector and key period.
//!
//! Where rules tell kinds of tracks apart, and up to four sizes of pictures, each of these is asked for its key.
//! Where they depend on more (channels, bit rates, frame rates, dynamic range, colours, labels, more sizes), each
//! rule becomes a filter, which the packager asks about each track.

use core::time::Duration;

use lanelock_mp4::Pssh;
use lanelock_packager::{
    KeyLine, KeyMap, KeyPeriods, PictureClass, PictureLimits, Scheme, Selector, TrackFacts,
    TrackFilter, TrackSort, drm::GivenSystem,
};

use crate::{
    descriptor,
    document::{ContentKey, Document, DrmSystem, KeyPeriod, Playlist, Span, UsageRule},
    error::CpixError,
    rules::{At, RuleError, rule_name},
    text::uuid_text,
};

/// What of a document goes into the packager's options.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeyPlan {
    /// The keys.
    pub keys: KeyMap,
    /// The classes of pictures that they are for, if they are for classes.
    pub picture_limits: Option<PictureLimits>,
    /// The key periods; none if the document does not say when they begin.
    pub periods: Option<KeyPeriods>,
    /// Whether keys change.
    pub rotates: bool,
    /// What is given for protection systems, as far as files have it: the `pssh` boxes. A stream takes
    /// [`Document::given_systems`] in its place.
    pub given: Vec<GivenSystem>,
    /// The constant IV, if all keys have the same one.
    pub iv: Option<[u8; 16]>,
    /// Whether keys have IVs that are not the same, so that they are not taken.
    pub has_other_ivs: bool,
}

/// The sorts of tracks that are asked for their key.
const CLASSES: [PictureClass; 4] =
    [PictureClass::Sd, PictureClass::Hd, PictureClass::Uhd1, PictureClass::Uhd2];

/// The keys at one time: of the classes of pictures, of audio, and of other tracks.
type Row<'d> = [Option<&'d ContentKey>; 6];

impl Document {
    /// Keys and what else the packager takes of the document, for one scheme.
    ///
    /// Key periods by the wall clock are counted from the start of the first one, which is that of the
    /// content then. Those with an index alone come one after the other, in the order of the indexes.
    ///
    /// # Errors
    /// A key is for another scheme, the rules cannot be followed, or periods overlap or leave gaps.
    pub fn key_plan(&self, scheme: Scheme) -> Result<KeyPlan, CpixError> {
        if let Some(key) = self.keys.iter().find(|key| !key.suits(scheme)) {
            let wanted = key.common_encryption_scheme.as_deref().unwrap_or_default();
            return Err(fault(format!(
                "the key with the KID {} is for {wanted}, not for {scheme}",
                uuid_text(&key.kid)
            )));
        }
        let (times, periods) = self.times()?;
        let (keys, picture_limits) = match self.limits() {
            Some(limits) if !self.rules.iter().any(UsageRule::needs_facts) => {
                self.keys_by_kind(limits?, &times)?
            }
            _ => (self.keys_by_filter(&times)?, None),
        };
        let given = self.drm_systems.iter().filter_map(DrmSystem::boxes).collect();
        let iv = self.keys.first().and_then(|key| key.explicit_iv);
        let iv = iv.filter(|iv| self.keys.iter().all(|key| key.explicit_iv == Some(*iv)));
        let has_other_ivs = iv.is_none() && self.keys.iter().any(|key| key.explicit_iv.is_some());
        let rotates = times.len() > 1;
        Ok(KeyPlan { keys, picture_limits, periods, rotates, given, iv, has_other_ivs })
    }

    /// What is given for protection systems, in files and manifests. Of `ContentProtectionData`, `cenc:pssh`,
    /// `mspr:pro` and `dashif:Laurl` are taken.
    ///
    /// # Errors
    /// `ContentProtectionData` has anything else. Lines of HLS are checked when they are written.
    pub fn given_systems(&self) -> Result<Vec<GivenSystem>, CpixError> {
        let mut all = Vec::new();
        for system in &self.drm_systems {
            let xml = system.content_protection_data.as_deref().unwrap_or_default();
            let descriptor = descriptor::read(xml).and_then(|read| {
                let pssh = read.pssh.as_ref().map(|raw| Pssh::parse(raw).map(|p| p.system_id));
                match pssh {
                    None => Ok(read),
                    Some(Ok(id)) if id == system.system_id => Ok(read),
                    Some(_) => Err("its cenc:pssh is no whole box of the system".into()),
                }
            });
            let descriptor = descriptor.map_err(|reason| {
                let (id, kid) = (uuid_text(&system.system_id), uuid_text(&system.kid));
                fault(format!(
                    "the ContentProtectionData for the system {id} and the KID {kid} cannot be used: {reason}"
                ))
            })?;
            let lines = |playlist| -> Vec<String> {
                let of = system.hls_signaling.iter().filter(|lines| lines.playlist == playlist);
                let of = of.flat_map(|lines| lines.lines.lines().map(str::trim_end));
                of.filter(|line| !line.is_empty()).map(ToOwned::to_owned).collect()
            };
            let none = GivenSystem::new(system.system_id, system.kid);
            let mut given = system.boxes().unwrap_or_else(|| none.clone());
            given.dash_pssh = descriptor.pssh;
            given.playready_object = descriptor.playready_object;
            given.license_url = descriptor.license_url;
            given.hls_media = lines(Playlist::Media);
            given.hls_multivariant = lines(Playlist::Multivariant);
            given.key_uri = system.uri_ext_x_key.clone().filter(|uri| !uri.is_empty());
            if given != none {
                all.push(given);
            }
        }
        Ok(all)
    }

    /// Keys by kinds of tracks and classes of pictures, and the limits of these if they matter.
    fn keys_by_kind(
        &self,
        limits: PictureLimits,
        times: &[At],
    ) -> Result<(KeyMap, Option<PictureLimits>), CpixError> {
        let rows: Vec<Row<'_>> =
            times.iter().map(|at| self.row(limits, *at)).collect::<Result<_, _>>()?;

        let mut keys = KeyMap::new();
        let mut add = |selector: Selector, place: usize| {
            let column: Vec<_> = rows.iter().map(|row| row[place]).collect();
            let constant = column.iter().all(|key| *key == column[0]);
            let column = column.into_iter().take(if constant { 1 } else { usize::MAX });
            for (period, key) in (0..).zip(column) {
                let period = if constant { None } else { Some(period) };
                if let Some(key) = key.and_then(|key| key.key.clone()) {
                    let line = KeyLine { selector: selector.clone(), period, key };
                    keys.add(line).map_err(|error| fault(error.to_string()))?;
                }
            }
            Ok::<(), CpixError>(())
        };
        let same = |places: &[usize]| {
            rows.iter().all(|row| places.iter().all(|place| row[*place] == row[places[0]]))
        };
        let by_class = !same(&[0, 1, 2, 3]);
        if same(&[0, 1, 2, 3, 4, 5]) {
            add(Selector::All, 0)?;
        } else {
            if by_class {
                for (place, class) in CLASSES.into_iter().enumerate() {
                    add(Selector::Picture(class), place)?;
                }
            } else {
                add(Selector::Video, 0)?;
            }
            add(Selector::Audio, 4)?;
        }
        Ok((keys, by_class.then_some(limits)))
    }

    /// Keys by the filters of the usage rules.
    fn keys_by_filter(&self, times: &[At]) -> Result<KeyMap, CpixError> {
        let mut keys = KeyMap::new();
        for (number, rule) in (1..).zip(&self.rules) {
            let name = rule_name(number, rule);
            let unusable = |reason: String| {
                fault(RuleError::Unusable { rule: name.clone(), reason }.to_string())
            };
            if let Some(filter) = &rule.unknown_filter {
                return Err(unusable(format!(
                    "it has a filter that is not one of CPIX ({filter})"
                )));
            }
            let key = self.keys.iter().find(|key| key.kid == rule.kid);
            let key = key.ok_or_else(|| unusable("its key is not in the document".into()))?;
            let no_value = || fault(RuleError::NoValue(uuid_text(&key.kid)).to_string());
            let key = key.key.as_ref().ok_or_else(no_value)?;
            let mut of_rule: Vec<Option<u32>> = Vec::new();
            for id in &rule.period_ids {
                let has_id = |period: &&KeyPeriod| period.id.as_ref() == Some(id);
                let number = self.periods.iter().find(has_id).and_then(|period| {
                    (0..).zip(times).find(|(_, at)| period.begins(**at)).map(|(number, _)| number)
                });
                of_rule.push(Some(number.ok_or_else(|| {
                    unusable("it is for a key period that is not in the document".into())
                })?));
            }
            if of_rule.is_empty() {
                of_rule.push(None);
            }
            of_rule.sort_unstable();
            of_rule.dedup();
            let selects = rule.clone();
            let filter = TrackFilter::new(&name, move |track| selects.selects(track));
            for period in of_rule {
                let selector = Selector::Filter(filter.clone());
                let line = KeyLine { selector, period, key: key.clone() };
                keys.add(line).map_err(|error| fault(error.to_string()))?;
            }
        }
        Ok(keys)
    }

    /// The limits between the sizes of pictures that filters tell apart; none if there are more sizes than
    /// classes.
    fn limits(&self) -> Option<Result<PictureLimits, CpixError>> {
        // MAX_UINT32 stands for no limit (CPIX 2.4, VideoFilter).
        let filters = self.rules.iter().flat_map(|rule| &rule.video);
        let ends = filters.flat_map(|filter| {
            [filter.max_pixels, filter.min_pixels.map(|least| least.saturating_sub(1))]
        });
        let mut ends: Vec<u64> =
            ends.flatten().filter(|end| (1..u64::from(u32::MAX)).contains(end)).collect();
        ends.sort_unstable();
        ends.dedup();
        if ends.len() > 3 {
            return None;
        }
        // Limits that nothing asks for divide a class in two, which then have the same key.
        while ends.len() < 3 {
            ends.push(ends.last().map_or(1, |last| last + 1));
        }
        let limits = PictureLimits::new(ends[0], ends[1], ends[2]);
        Some(limits.ok_or_else(|| fault("the sizes of pictures cannot be told apart")))
    }

    /// When keys are asked for: once, or once in each period; and when the periods begin.
    fn times(&self) -> Result<(Vec<At>, Option<KeyPeriods>), CpixError> {
        if self.rules.iter().all(|rule| rule.period_ids.is_empty()) {
            return Ok((vec![At::NoPeriod], None));
        }
        let spans: Option<Vec<Span>> = self.periods.iter().map(|period| period.span).collect();
        if let Some(mut spans) = spans {
            spans.sort_unstable_by_key(|span| match span {
                Span::Wall { start, .. } => (i128::from(start.unix_micros), 0),
                Span::Media { start, .. } => (0, start.as_nanos()),
            });
            let times = spans.iter().map(|span| match span {
                Span::Wall { start, .. } => At::Wall(*start),
                Span::Media { start, .. } => At::Media(*start),
            });
            return Ok((times.collect(), Some(KeyPeriods::From(starts(&spans)?))));
        }
        let indexes: Option<Vec<u32>> = self.periods.iter().map(|period| period.index).collect();
        let Some(mut indexes) = indexes else {
            return Err(fault("some key periods have neither an index nor a start and an end"));
        };
        indexes.sort_unstable();
        if indexes.windows(2).any(|pair| pair[0].checked_add(1) != Some(pair[1])) {
            return Err(fault("the indexes of the key periods leave one out"));
        }
        Ok((indexes.into_iter().map(At::Index).collect(), None))
    }

    fn row(&self, limits: PictureLimits, at: At) -> Result<Row<'_>, CpixError> {
        let least = [1, limits.sd + 1, limits.hd + 1, limits.uhd1 + 1];
        let video = |pixels| TrackSort::Video {
            pixels: Some(pixels),
            frame_rate: None,
            hdr: None,
            wcg: None,
        };
        let video = least.map(video);
        let sorts =
            video.into_iter().chain([TrackSort::Audio { channels: None }, TrackSort::Other]);
        let mut row: Row<'_> = [None; 6];
        for (key, sort) in row.iter_mut().zip(sorts) {
            *key = match self.key_for(&TrackFacts::new(sort), at) {
                Ok(found) => Some(found),
                // Such a track gets its key from elsewhere, or stays clear.
                Err(RuleError::NoMatch(_)) => None,
                Err(error) => return Err(fault(error.to_string())),
            };
        }
        Ok(row)
    }
}

impl UsageRule {
    /// Whether it asks for more than the kind of a track and the size of its pictures.
    fn needs_facts(&self) -> bool {
        let has_filter =
            !(self.video.is_empty() && self.audio.is_empty() && self.period_ids.is_empty());
        let intended = self.intended_track_type.iter().filter(|_| !has_filter);
        let mut words = intended.flat_map(|text| text.split('+').map(str::trim));
        !self.labels.is_empty()
            || !self.bit_rates.is_empty()
            || self
                .audio
                .iter()
                .any(|filter| filter.min_channels.is_some() || filter.max_channels.is_some())
            || self.video.iter().any(|filter| {
                filter.hdr.is_some()
                    || filter.wcg.is_some()
                    || filter.min_fps.is_some()
                    || filter.max_fps.is_some()
            })
            || words.any(|word| !matches!(word, "ALL" | "VIDEO" | "AUDIO"))
    }
}

impl DrmSystem {
    /// Its box; none if it has none, as in a request.
    fn boxes(&self) -> Option<GivenSystem> {
        let mut given = GivenSystem::new(self.system_id, self.kid);
        given.pssh = Some(self.pssh.clone().filter(|raw| !raw.is_empty())?);
        Some(given)
    }
}

impl KeyPeriod {
    /// Whether it is the one that begins then.
    fn begins(&self, at: At) -> bool {
        match (at, self.span) {
            (At::NoPeriod, _) => false,
            (At::Index(index), _) => self.index == Some(index),
            (At::Wall(at), span) => matches!(span, Some(Span::Wall { start, .. }) if start == at),
            (At::Media(at), span) => matches!(span, Some(Span::Media { start, .. }) if start == at),
        }
    }
}

/// The starts of the periods behind the first one, counted from that, and the end of the last one.
fn starts(spans: &[Span]) -> Result<Vec<Duration>, CpixError> {
    let gap = || fault("the key periods overlap or leave gaps between them");
    let mut starts = Vec::new();
    if let Some(Span::Media { start, .. }) = spans.first()
        && !start.is_zero()
    {
        return Err(fault(
            "the first key period does not begin with the content (startOffset is not 0)",
        ));
    }
    for pair in spans.windows(2) {
        match (pair[0], pair[1], spans[0]) {
            (Span::Wall { end, .. }, Span::Wall { start, .. }, Span::Wall { start: first, .. })
                if end == start =>
            {
                let since = start.unix_micros.checked_sub(first.unix_micros);
                let since = since.and_then(|since| u64::try_from(since).ok()).ok_or_else(gap)?;
                starts.push(Duration::from_micros(since));
            }
            (Span::Media { end, .. }, Span::Media { start, .. }, _) if end == start => {
                starts.push(start);
            }
            _ => return Err(gap()),
        }
    }
    // What comes behind the last one has no key.
    match (spans.last(), spans.first()) {
        (Some(Span::Wall { end, .. }), Some(Span::Wall { start, .. })) => {
            let since = end.unix_micros.checked_sub(start.unix_micros);
            let since = since.and_then(|since| u64::try_from(since).ok()).ok_or_else(gap)?;
            starts.push(Duration::from_micros(since));
        }
        (Some(Span::Media { end, .. }), _) => starts.push(*end),
        _ => {}
    }
    Ok(starts)
}

fn fault(what: impl Into<String>) -> CpixError {
    CpixError::Document(what.into())
}
