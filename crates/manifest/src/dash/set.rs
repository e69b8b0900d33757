//! `AdaptationSet` and `Representation` (ISO/IEC 23009-1, 5.3.3 and 5.3.5).

use super::{
    addressing::{Period, addressing},
    protection::content_protection,
    time,
    xml::Element,
};
use crate::{
    Accessibility, Audio, Error, Media, Presentation, Role, SwitchingSet, Text, Track, Video,
    VideoRange,
};

/// Tracks that are an `AdaptationSet`: those of a switching set that DASH uses and that have one key. Where
/// qualities have keys of their own, players have licences for some of them, and sets are what they choose from
/// (DASH-IF IOP 4.3, 7.7.1; DASH-IF implementation guidelines: content protection and security, 9.2).
pub(super) struct Members<'a> {
    /// `AdaptationSet@id`.
    id: usize,
    /// The index of the switching set.
    index: usize,
    set: &'a SwitchingSet,
    pub(super) tracks: Vec<&'a Track>,
}

/// The adaptation sets of a presentation.
pub(super) fn members(presentation: &Presentation) -> Vec<Members<'_>> {
    let mut all: Vec<Members<'_>> = Vec::new();
    for (index, set) in presentation.sets.iter().enumerate() {
        for track in set.tracks.iter().filter(|track| track.used_by.dash()) {
            let same = all.iter_mut().find(|members| {
                members.index == index
                    && members.tracks.iter().all(|other| has_key_of(other, track))
            });
            match same {
                Some(members) => members.tracks.push(track),
                None => all.push(Members { id: all.len() + 1, index, set, tracks: vec![track] }),
            }
        }
    }
    all
}

/// Whether two tracks are clear, or have one key.
fn has_key_of(one: &Track, other: &Track) -> bool {
    let key = |track: &Track| {
        track.first_protection().map(|protection| (protection.scheme, protection.kid))
    };
    key(one) == key(other)
}

/// One of the adaptation sets, `all` of which are these.
pub(super) fn adaptation_set(
    presentation: &Presentation,
    all: &[Members<'_>],
    members: &Members<'_>,
    period: &Period,
) -> Result<Element, Error> {
    let Members { index, set, tracks, .. } = members;
    let mut trick = None;
    if let Some(main) = set.trick_play_of {
        let ids = ids(all.iter().filter(|members| members.index == main));
        if ids.is_empty() {
            let reason = format!("it is for trick play of set {main}, of which DASH uses no track");
            return Err(Error::Set { set: *index, reason });
        }
        let scheme = "http://dashif.org/guidelines/trickmode";
        trick = Some(Element::descriptor("EssentialProperty", scheme, ids));
    }
    let family: Vec<&Members<'_>> = all.iter().filter(|other| other.index == *index).collect();
    let of_family: Vec<&Track> =
        family.iter().flat_map(|members| members.tracks.iter().copied()).collect();
    let switching = family.len() > 1 && time::aligned(&of_family);
    // Players may switch to the tracks of these sets as to those of this one (ISO/IEC 23009-1, 5.3.3.5).
    let others = switching.then(|| {
        let others = ids(family.iter().copied().filter(|other| other.id != members.id));
        let scheme = "urn:mpeg:dash:adaptation-set-switching:2016";
        Element::descriptor("SupplementalProperty", scheme, others.replace(' ', ","))
    });
    // The segments of sets with the same number here are aligned (5.3.3.2).
    let alignment = family.first().filter(|_| switching).map(|first| first.id.to_string());
    let alignment = alignment.or_else(|| time::aligned(tracks).then(|| "true".to_owned()));
    let (channels, channels_each) = hoist(tracks, |track| channel_configuration(&track.media));
    let protection = tracks[0].first_protection().map_or_else(Vec::new, content_protection);
    let (properties, properties_each) = hoist(tracks, |track| properties(&track.media));
    let (place, place_each) = addressing(tracks, period)?;

    let each = channels_each.into_iter().zip(properties_each).zip(place_each);
    let representations =
        tracks.iter().zip(each).map(|(track, ((channels, properties), place))| {
            representation(track, period).children(channels).children(properties).children(place)
        });
    let scheme = "urn:mpeg:dash:role:2011";
    Ok(attributes(members, alignment)
        .optional("selectionPriority", preferred(presentation, set).then_some(2))
        .optional(
            "maxPlayoutRate",
            set.trick_play_of.and_then(|main| playout_rate(&presentation.sets[main], set)),
        )
        .optional("codingDependency", trick.is_some().then_some(false))
        .children(channels)
        .children(protection)
        .children(trick)
        .children(properties)
        .children(others)
        .children(set.label.iter().map(|label| Element::with_text("Label", label)))
        .children(set.accessibility.iter().flat_map(|whom| accessibility(*whom)))
        .children(
            set.roles.iter().map(|role| Element::descriptor("Role", scheme, role_name(*role))),
        )
        .children(place)
        .children(representations))
}

/// `AdaptationSet@id` of some, with spaces between them.
fn ids<'a>(some: impl Iterator<Item = &'a Members<'a>>) -> String {
    some.map(|members| members.id.to_string()).collect::<Vec<_>>().join(" ")
}

/// Elements for the whole set if they are the same for all of its tracks, and otherwise those of each track.
fn hoist(
    tracks: &[&Track],
    elements: impl Fn(&Track) -> Vec<Element>,
) -> (Vec<Element>, Vec<Vec<Element>>) {
    let mut each: Vec<_> = tracks.iter().map(|track| elements(track)).collect();
    if each.iter().any(|elements| *elements != each[0]) {
        return (Vec::new(), each);
    }
    let shared = std::mem::take(&mut each[0]);
    (shared, vec![Vec::new(); tracks.len()])
}

fn attributes(members: &Members<'_>, alignment: Option<String>) -> Element {
    let Members { id, set, tracks, .. } = members;
    let element = Element::new("AdaptationSet")
        .attribute("id", id)
        .attribute("contentType", tracks[0].media.name())
        .optional("lang", set.language.as_ref());
    // CMAF (ISO/IEC 23000-19, 7.3.3): segments start with a picture from which decoding can start.
    let sap_type = tracks.iter().map(|track| track.sap_type).max().unwrap_or(1);
    let (segments, single) = time::by_files(tracks);
    let element = match (segments.len(), single.len()) {
        (n, _) if n == tracks.len() => {
            element.optional("segmentAlignment", alignment).attribute("startWithSAP", sap_type)
        }
        (_, n) if n == tracks.len() => element
            .optional("subsegmentAlignment", alignment)
            .attribute("subsegmentStartsWithSAP", sap_type),
        _ => element,
    };
    let videos: Vec<_> = tracks.iter().filter_map(|track| video(track)).collect();
    let fastest = videos
        .iter()
        .filter_map(|video| video.frame_rate)
        .max_by(|a, b| (u64::from(a.0) * u64::from(b.1)).cmp(&(u64::from(b.0) * u64::from(a.1))));
    element
        .optional("par", picture_aspect_ratio(&videos))
        .optional("maxWidth", videos.iter().map(|video| video.width).max())
        .optional("maxHeight", videos.iter().map(|video| video.height).max())
        .optional("maxFrameRate", fastest.map(fraction))
}

fn video(track: &Track) -> Option<&Video> {
    match &track.media {
        Media::Video(video) => Some(video),
        _ => None,
    }
}

fn fraction((numerator, denominator): (u32, u32)) -> String {
    match denominator {
        1 => numerator.to_string(),
        _ => format!("{numerator}/{denominator}"),
    }
}

/// `@par`: of the largest picture, unless another one has another shape. Widths and heights are even numbers, so
/// that small ones miss it by some percent.
fn picture_aspect_ratio(videos: &[&Video]) -> Option<String> {
    let shape = |video: &Video| {
        let (x, y) = video.pixel_aspect_ratio;
        (u64::from(video.width) * u64::from(x), u64::from(video.height) * u64::from(y))
    };
    let (width, height) = shape(videos.iter().max_by_key(|video| video.width)?);
    let same = |video: &&Video| {
        let (w, h) = shape(video);
        let (a, b) = (u128::from(w) * u128::from(height), u128::from(h) * u128::from(width));
        a.abs_diff(b) * 50 <= a.max(b)
    };
    let divisor = common_divisor(width, height);
    (divisor > 0 && videos.iter().all(same))
        .then(|| format!("{}:{}", width / divisor, height / divisor))
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Whether a player should take this set rather than others of its kind.
fn preferred(presentation: &Presentation, set: &SwitchingSet) -> bool {
    let kind = |set: &SwitchingSet| set.tracks[0].media.name();
    let is_other = |other: &SwitchingSet| {
        kind(other) == kind(set) && other.trick_play_of.is_none() && !other.is_default
    };
    set.is_default && presentation.sets.iter().any(is_other)
}

/// How many times faster than the main content pictures for trick play can be shown with the decoder of it.
fn playout_rate(main: &SwitchingSet, trick: &SwitchingSet) -> Option<u64> {
    let rates = |set: &SwitchingSet| -> Vec<_> {
        set.tracks.iter().filter_map(|track| video(track)?.frame_rate).collect()
    };
    let main = rates(main).into_iter().map(|(n, d)| (u64::from(n), u64::from(d)));
    let trick = rates(trick);
    // Of the slowest main track and the densest trick track: safe for all.
    main.flat_map(|(n, d)| {
        trick.iter().map(move |(tn, td)| n * u64::from(*td) / (d * u64::from(*tn)).max(1))
    })
    .min()
    .filter(|rate| *rate > 0)
}

fn representation(track: &Track, period: &Period) -> Element {
    let element = Element::new("Representation")
        .attribute("id", &track.name)
        .attribute("bandwidth", time::bandwidth(track, period.min_buffer))
        .attribute("mimeType", mime_type(track))
        .optional("codecs", (!track.codecs.is_empty()).then_some(&track.codecs));
    match &track.media {
        Media::Video(video) => element
            .attribute("width", video.width)
            .attribute("height", video.height)
            .attribute(
                "sar",
                format!("{}:{}", video.pixel_aspect_ratio.0, video.pixel_aspect_ratio.1),
            )
            .optional("frameRate", video.frame_rate.map(fraction)),
        Media::Audio(audio) => element.attribute("audioSamplingRate", audio.sample_rate),
        Media::Text(_) => element,
    }
}

fn mime_type(track: &Track) -> &'static str {
    match track.media {
        Media::Video(_) => "video/mp4",
        Media::Audio(_) => "audio/mp4",
        Media::Text(Text::Wvtt | Text::Stpp) => "application/mp4",
        Media::Text(Text::WebVtt) => "text/vtt",
        Media::Text(Text::Ttml) => "application/ttml+xml",
    }
}

/// `AudioChannelConfiguration` (5.8.5.4), by ISO/IEC 23091-3 or Dolby.
fn channel_configuration(media: &Media) -> Vec<Element> {
    let Media::Audio(Audio { channels, dolby_channels, .. }) = media else { return Vec::new() };
    let descriptor =
        |scheme, value: &str| vec![Element::descriptor("AudioChannelConfiguration", scheme, value)];
    if let Some(dolby) = dolby_channels {
        return descriptor("tag:dolby.com,2014:dash:audio_channel_configuration:2011", dolby);
    }
    // ISO/IEC 23091-3, 6.2: the usual layout of a number of channels.
    let configuration = match channels {
        1..=6 => *channels,
        7 => 11,
        8 => 12,
        24 => 13,
        _ => return Vec::new(),
    };
    descriptor("urn:mpeg:mpegB:cicp:ChannelConfiguration", &configuration.to_string())
}

/// What a player has to know or may know to choose a track.
fn properties(media: &Media) -> Vec<Element> {
    // ISO/IEC 23091-2 by DASH-IF IOP 4.3, 6.2.5: HLG can be seen on any display, PQ cannot.
    let transfer = "urn:mpeg:mpegB:cicp:TransferCharacteristics";
    match media {
        Media::Video(Video { range: VideoRange::Pq, .. }) => {
            vec![Element::descriptor("EssentialProperty", transfer, 16)]
        }
        Media::Video(Video { range: VideoRange::Hlg, .. }) => {
            vec![Element::descriptor("SupplementalProperty", transfer, 18)]
        }
        // ETSI TS 103 420, E.
        Media::Audio(Audio { joc_complexity: Some(complexity), .. }) => vec![
            Element::descriptor(
                "SupplementalProperty",
                "tag:dolby.com,2018:dash:EC3_ExtensionType:2018",
                "JOC",
            ),
            Element::descriptor(
                "SupplementalProperty",
                "tag:dolby.com,2018:dash:EC3_ExtensionComplexityIndex:2018",
                complexity,
            ),
        ],
        _ => Vec::new(),
    }
}

/// The role scheme of MPEG says what it is (5.8.5.5); that of TV-Anytime, which DVB and players know, for whom.
fn accessibility(whom: Accessibility) -> Vec<Element> {
    let descriptor = |scheme, value| Element::descriptor("Accessibility", scheme, value);
    let role = |value| descriptor("urn:mpeg:dash:role:2011", value);
    let purpose = |value| descriptor("urn:tva:metadata:cs:AudioPurposeCS:2007", value);
    match whom {
        Accessibility::Captions => vec![role("caption")],
        Accessibility::Sdh => vec![purpose("2"), role("caption")],
        Accessibility::AudioDescription => vec![purpose("1"), role("description")],
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Main => "main",
        Role::Alternate => "alternate",
        Role::Supplementary => "supplementary",
        Role::Commentary => "commentary",
        Role::Dub => "dub",
        Role::Subtitle => "subtitle",
        Role::Caption => "caption",
        Role::ForcedSubtitle => "forced-subtitle",
    }
}
