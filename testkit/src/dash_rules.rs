//! Rules of static MPDs that a program can check: ISO/IEC 23009-1, ISO/IEC 23001-7 and DASH-IF IOP.

use std::collections::{BTreeMap, BTreeSet};

use base64ct::{Base64, Encoding as _};
use roxmltree::{Document, Node};

const MPD: &str = "urn:mpeg:dash:schema:mpd:2011";
const CENC: &str = "urn:mpeg:cenc:2013";
const MSPR: &str = "urn:microsoft:playready";
const DASHIF: &str = "https://dashif.org/CPS";
const FAIRPLAY: &str = "urn:uuid:94ce86fb-07ff-4f43-adb8-93d2fa968ca2";

/// The order of elements in an `AdaptationSet` or a `Representation` (schema of ISO/IEC 23009-1, Annex B).
const ORDER: [&str; 17] = [
    "FramePacking",
    "AudioChannelConfiguration",
    "ContentProtection",
    "OutputProtection",
    "EssentialProperty",
    "SupplementalProperty",
    "InbandEventStream",
    "Switching",
    "Label",
    "Accessibility",
    "Role",
    "Rating",
    "BaseURL",
    "SegmentBase",
    "SegmentList",
    "SegmentTemplate",
    "Representation",
];

/// The role scheme of MPEG (5.8.5.5).
const ROLES: [&str; 16] = [
    "caption",
    "subtitle",
    "main",
    "alternate",
    "supplementary",
    "commentary",
    "dub",
    "description",
    "sign",
    "metadata",
    "enhanced-audio-intelligibility",
    "emergency",
    "forced-subtitle",
    "easyreader",
    "karaoke",
    "medianotes",
];

/// The rules that a static MPD breaks, a line each that begins with the clause; `size` gives the bytes of a file
/// by its path beside the MPD, or none if there is no such file.
///
/// Clauses without a name are those of ISO/IEC 23009-1.
#[must_use]
pub fn dash_rules(mpd: &str, size: &dyn Fn(&str) -> Option<u64>) -> Vec<String> {
    let document = match Document::parse(mpd) {
        Ok(document) => document,
        Err(error) => return vec![format!("XML: {error}")],
    };
    let root = document.root_element();
    let mut rules = Rules { size, found: Vec::new(), period: 0.0, buffer: 0.0 };
    rules.mpd(root);
    for node in root.descendants().filter(|node| node.has_tag_name((MPD, "Period"))) {
        rules.period(root, node);
    }
    rules.found
}

struct Rules<'a> {
    size: &'a dyn Fn(&str) -> Option<u64>,
    found: Vec<String>,
    /// Its duration, and the buffer time, in seconds.
    period: f64,
    buffer: f64,
}

/// A segment: its start in seconds, and the size of its file.
struct Part {
    start: f64,
    bytes: Option<u64>,
}

impl Rules<'_> {
    fn broken(&mut self, clause: &str, what: impl AsRef<str>) {
        self.found.push(format!("{clause}: {}", what.as_ref()));
    }

    fn rule(&mut self, clause: &str, holds: bool, what: impl AsRef<str>) {
        if !holds {
            self.broken(clause, what);
        }
    }

    fn mpd(&mut self, root: Node<'_, '_>) {
        self.rule("5.3.1.2", root.has_tag_name((MPD, "MPD")), "the root is not the MPD of DASH");
        let profiles = root.attribute("profiles").unwrap_or_default();
        self.rule("5.3.1.2", profiles.contains("urn:"), "@profiles is missing");
        let time = |name| root.attribute(name).and_then(seconds);
        match time("minBufferTime") {
            Some(buffer) => self.buffer = buffer,
            None => self.broken("5.3.1.2", "@minBufferTime is missing"),
        }
        if root.attribute("type").unwrap_or("static") == "static" {
            match time("mediaPresentationDuration") {
                Some(duration) => self.period = duration,
                None => {
                    self.broken("5.3.1.2", "@mediaPresentationDuration of a static MPD is missing");
                }
            }
        }
        let has = |name| root.descendants().any(|node| node.has_tag_name((MPD, name)));
        if profiles.contains("isoff-on-demand") {
            self.rule(
                "8.3",
                !has("SegmentTemplate"),
                "the on-demand profile has no SegmentTemplate",
            );
            for node in root.descendants().filter(|node| node.has_tag_name((MPD, "SegmentBase"))) {
                self.rule(
                    "8.3",
                    node.attribute("indexRange").is_some(),
                    "a SegmentBase without @indexRange",
                );
            }
        }
        if profiles.contains("isoff-live") {
            self.rule("8.4", !has("SegmentBase"), "the live profile has no SegmentBase");
        }
        for node in root.descendants().filter(|node| node.tag_name().namespace() == Some(DASHIF)) {
            self.rule(
                "DASH-IF CPIX",
                node.tag_name().name() == "Laurl",
                "of https://dashif.org/CPS, Laurl is used",
            );
        }
    }

    fn period(&mut self, root: Node<'_, '_>, period: Node<'_, '_>) {
        let sets: Vec<_> = elements(period, "AdaptationSet").collect();
        self.rule("5.3.2.2", !sets.is_empty(), "a Period without AdaptationSet");
        let ids: Vec<_> = sets.iter().filter_map(|set| set.attribute("id")).collect();
        self.rule("5.3.3.2", unique(&ids), "AdaptationSet@id is not unique");
        self.rule(
            "5.3.3.2",
            ids.iter().all(|id| id.parse::<u32>().is_ok()),
            "AdaptationSet@id is not a number",
        );
        let representations: Vec<_> =
            sets.iter().flat_map(|set| elements(*set, "Representation")).collect();
        let names: Vec<_> =
            representations.iter().filter_map(|node| node.attribute("id")).collect();
        self.rule(
            "5.3.5.2",
            names.len() == representations.len() && unique(&names),
            "Representation@id is missing or not unique",
        );
        self.rule(
            "5.3.5.2",
            names.iter().all(|id| !id.contains(char::is_whitespace)),
            "Representation@id has white space",
        );
        for set in &sets {
            self.set(root, &sets, *set);
        }
    }

    fn set(&mut self, root: Node<'_, '_>, sets: &[Node<'_, '_>], set: Node<'_, '_>) {
        let id = set.attribute("id").unwrap_or("?");
        let representations: Vec<_> = elements(set, "Representation").collect();
        self.rule(
            "5.3.3.2",
            !representations.is_empty(),
            format!("set {id} has no Representation"),
        );
        self.order(set);
        self.descriptors(set);
        let kind = set.attribute("contentType").unwrap_or_default();
        self.rule(
            "IOP",
            ["video", "audio", "text"].contains(&kind),
            format!("set {id} has the contentType {kind:?}"),
        );
        if let Some(language) = set.attribute("lang") {
            let subtags = language.split('-').all(|tag| {
                (1..=8).contains(&tag.len()) && tag.bytes().all(|b| b.is_ascii_alphanumeric())
            });
            self.rule(
                "5.3.3.2",
                subtags,
                format!("set {id}: {language:?} is no language of RFC 5646"),
            );
        }
        self.trick_mode(sets, set);
        self.switching(sets, set);
        let mut starts: Vec<(&str, Vec<f64>)> = Vec::new();
        for node in &representations {
            self.order(*node);
            self.descriptors(*node);
            self.representation(set, *node, kind);
            let parts = self.parts(root, set, *node);
            self.bandwidth(*node, &parts);
            starts.push((
                node.attribute("id").unwrap_or_default(),
                parts.iter().map(|part| part.start).collect(),
            ));
        }
        self.one_key(set, &representations);
        if set.attribute("segmentAlignment").is_some_and(|alignment| alignment != "false") {
            for pair in starts.windows(2) {
                let (a, b) = (&pair[0], &pair[1]);
                let same = a.1.len() == b.1.len()
                    && a.1.iter().zip(&b.1).all(|(a, b)| (a - b).abs() < 0.001);
                self.rule(
                    "5.3.3.2",
                    same,
                    format!("segments of {} and {} are not aligned", a.0, b.0),
                );
            }
        }
    }

    /// One key for each set, told of the set (DASH-IF IOP 4.3, 7.7.1).
    fn one_key(&mut self, set: Node<'_, '_>, representations: &[Node<'_, '_>]) {
        let id = set.attribute("id").unwrap_or("?");
        let is_told = |node: &Node<'_, '_>| elements(*node, "ContentProtection").next().is_some();
        self.rule(
            "IOP 7.7.1",
            !representations.iter().any(is_told),
            format!("a Representation of set {id} has a ContentProtection, which is the set's"),
        );
    }

    fn order(&mut self, node: Node<'_, '_>) {
        let places: Vec<_> = node
            .children()
            .filter(Node::is_element)
            .map(|child| ORDER.iter().position(|name| child.has_tag_name((MPD, *name))))
            .collect();
        let name = node.tag_name().name();
        self.rule(
            "Annex B",
            places.iter().all(Option::is_some),
            format!("{name} has an element that it cannot have"),
        );
        self.rule("Annex B", places.is_sorted(), format!("elements of {name} are out of order"));
    }

    fn descriptors(&mut self, node: Node<'_, '_>) {
        for name in ["Role", "Accessibility"] {
            for descriptor in elements(node, name) {
                if descriptor.attribute("schemeIdUri") == Some("urn:mpeg:dash:role:2011") {
                    let value = descriptor.attribute("value").unwrap_or_default();
                    self.rule("5.8.5.5", ROLES.contains(&value), format!("{value:?} is no role"));
                }
            }
        }
        self.protection(node);
    }

    fn protection(&mut self, node: Node<'_, '_>) {
        let descriptors: Vec<_> = elements(node, "ContentProtection").collect();
        let scheme = |descriptor: &Node<'_, '_>| {
            descriptor.attribute("schemeIdUri").unwrap_or_default().to_owned()
        };
        let schemes: Vec<_> = descriptors.iter().map(scheme).collect();
        self.rule("IOP 7", unique(&schemes), "two ContentProtection of one scheme");
        let mp4 = "urn:mpeg:dash:mp4protection:2011";
        let above = node.parent_element().is_some_and(|set| {
            elements(set, "ContentProtection").any(|descriptor| scheme(&descriptor) == mp4)
        });
        if !descriptors.is_empty() && !above {
            self.rule(
                "23001-7, 11.2",
                schemes.iter().any(|scheme| scheme == mp4),
                "protection systems, but no mp4protection",
            );
        }
        for (descriptor, scheme) in descriptors.iter().zip(&schemes) {
            self.rule("IOP 7", scheme != FAIRPLAY, "FairPlay does not play DASH");
            if scheme == mp4 {
                let value = descriptor.attribute("value").unwrap_or_default();
                self.rule(
                    "5.8.5.2",
                    ["cenc", "cbcs", "cens", "cbc1"].contains(&value),
                    format!("mp4protection {value:?}"),
                );
                let kid = descriptor.attribute((CENC, "default_KID")).unwrap_or_default();
                self.rule("23001-7, 11.2", is_uuid(kid), format!("default_KID {kid:?} is no UUID"));
            } else {
                let system = scheme.strip_prefix("urn:uuid:").unwrap_or_default();
                self.rule(
                    "5.8.4.1",
                    is_uuid(system),
                    format!("{scheme:?} is not urn:uuid:, in lower case"),
                );
            }
            for pssh in descriptor.children().filter(|child| child.has_tag_name((CENC, "pssh"))) {
                let bytes = Base64::decode_vec(pssh.text().unwrap_or_default()).unwrap_or_default();
                let whole = bytes.len() >= 32
                    && bytes[..4] == u32::try_from(bytes.len()).unwrap_or(0).to_be_bytes()
                    && bytes[4..8] == *b"pssh";
                self.rule("23001-7, 11.2", whole, "cenc:pssh is not the base64 of a pssh box");
                if whole {
                    let id = crate::hex(&bytes[12..28]);
                    self.rule(
                        "23001-7, 11.2",
                        scheme.replace('-', "").ends_with(&id),
                        format!("the pssh of {id} is in {scheme}"),
                    );
                }
            }
            for object in descriptor.children().filter(|child| child.has_tag_name((MSPR, "pro"))) {
                let bytes =
                    Base64::decode_vec(object.text().unwrap_or_default()).unwrap_or_default();
                let whole = bytes.len() >= 6
                    && bytes[..4] == u32::try_from(bytes.len()).unwrap_or(0).to_le_bytes();
                self.rule(
                    "PlayReady Header Object",
                    whole,
                    "mspr:pro is not the base64 of a PlayReady Object",
                );
            }
        }
    }

    /// Sets that players may switch between: players of one may play the other.
    fn switching(&mut self, sets: &[Node<'_, '_>], set: Node<'_, '_>) {
        let ids = |set: Node<'_, '_>| -> Vec<String> {
            let property = elements(set, "SupplementalProperty").find(|property| {
                property.attribute("schemeIdUri")
                    == Some("urn:mpeg:dash:adaptation-set-switching:2016")
            });
            let value = property.and_then(|property| property.attribute("value"));
            value.map_or_else(Vec::new, |value| value.split(',').map(str::to_owned).collect())
        };
        let own = set.attribute("id").unwrap_or_default();
        let alignment = |set: Node<'_, '_>| {
            let either = |name| set.attribute(name).map(str::to_owned);
            either("segmentAlignment").or_else(|| either("subsegmentAlignment"))
        };
        let scheme = |set: Node<'_, '_>| {
            let mp4 = elements(set, "ContentProtection").find(|descriptor| {
                descriptor.attribute("schemeIdUri") == Some("urn:mpeg:dash:mp4protection:2011")
            });
            mp4.and_then(|descriptor| descriptor.attribute("value")).map(str::to_owned)
        };
        for id in ids(set) {
            let Some(other) = sets.iter().find(|other| other.attribute("id") == Some(&id)) else {
                self.broken(
                    "5.3.3.5",
                    format!("set {own} switches to set {id:?}, which is not there"),
                );
                continue;
            };
            let same = |name: &str| set.attribute(name) == other.attribute(name);
            self.rule(
                "5.3.3.5",
                id != own && same("contentType") && same("lang"),
                format!("sets {own} and {id} are not of one content"),
            );
            self.rule(
                "5.3.3.5",
                ids(*other).iter().any(|back| back == own),
                format!("set {own} switches to {id}, and {id} does not to {own}"),
            );
            let number = alignment(set).filter(|text| text.parse::<u32>().is_ok());
            self.rule(
                "5.3.3.2",
                number.is_some() && number == alignment(*other),
                format!("sets {own} and {id} have no number of alignment in common"),
            );
            let (one, two) = (scheme(set), scheme(*other));
            self.rule(
                "23000-19, 7.3.4",
                one.is_none() || two.is_none() || one == two,
                format!("sets {own} and {id} have schemes of their own"),
            );
        }
    }

    fn trick_mode(&mut self, sets: &[Node<'_, '_>], set: Node<'_, '_>) {
        let main = |set: Node<'_, '_>| {
            let trick = elements(set, "EssentialProperty").find(|p| {
                p.attribute("schemeIdUri") == Some("http://dashif.org/guidelines/trickmode")
            });
            trick.map(|property| property.attribute("value").unwrap_or_default().to_owned())
        };
        let Some(value) = main(set) else { return };
        let good = value.split(' ').all(|id| {
            let target = sets.iter().find(|other| other.attribute("id") == Some(id));
            target.is_some_and(|target| {
                main(*target).is_none()
                    && target.attribute("contentType") == set.attribute("contentType")
                    && *target != set
            })
        });
        self.rule(
            "IOP 3.2.9",
            good,
            format!("trickmode of set {value:?}, which is no main set of its kind"),
        );
        self.rule(
            "IOP 3.2.9",
            set.attribute("codingDependency") == Some("false"),
            "a set for trick mode without codingDependency=false",
        );
    }

    fn representation(&mut self, set: Node<'_, '_>, node: Node<'_, '_>, kind: &str) {
        let id = node.attribute("id").unwrap_or("?");
        let either = |name: &str| node.attribute(name).or_else(|| set.attribute(name));
        let number = |name: &str| either(name).and_then(|text| text.parse::<u64>().ok());
        let mime = either("mimeType").unwrap_or_default().to_owned();
        self.rule("5.3.7.2", !mime.is_empty(), format!("{id} has no mimeType"));
        if mime.ends_with("/mp4") {
            self.rule(
                "IOP",
                either("codecs").is_some_and(|codecs| !codecs.is_empty()),
                format!("{id} has no codecs"),
            );
            let of_kind = mime.starts_with(if kind == "text" { "application" } else { kind });
            self.rule("5.3.7.2", of_kind, format!("{id} is {mime} in a set of {kind}"));
        }
        self.rule(
            "5.3.5.2",
            number("bandwidth").is_some_and(|bandwidth| bandwidth > 0),
            format!("{id} has no bandwidth"),
        );
        if kind == "video" {
            for (name, most) in [("width", "maxWidth"), ("height", "maxHeight")] {
                let size = number(name);
                self.rule("IOP", size.is_some(), format!("{id} has no {name}"));
                let fits = number(most).is_none_or(|most| size.is_some_and(|size| size <= most));
                self.rule("5.3.3.2", fits, format!("{id} has a larger {name} than {most}"));
            }
            let rate = either("frameRate").map(fraction);
            let most = set.attribute("maxFrameRate").map(fraction);
            let fits = most.is_none_or(|most| rate.is_none_or(|rate| rate <= most));
            self.rule("5.3.3.2", fits, format!("{id} has a higher frameRate than maxFrameRate"));
            for (node, name) in [(set, "par"), (node, "sar")] {
                let ratio = node.attribute(name).is_none_or(|text| {
                    text.split_once(':').is_some_and(|(a, b)| {
                        [a, b].iter().all(|n| n.parse::<u64>().is_ok_and(|n| n > 0))
                    })
                });
                self.rule("5.3.3.2", ratio, format!("{id}: {name} is not W:H"));
            }
        }
        if kind == "audio" {
            let has = |node| elements(node, "AudioChannelConfiguration").next().is_some();
            self.rule(
                "IOP",
                has(set) || has(node),
                format!("{id} has no AudioChannelConfiguration"),
            );
            self.rule(
                "IOP",
                number("audioSamplingRate").is_some(),
                format!("{id} has no audioSamplingRate"),
            );
        }
    }

    /// Its segments, after rules about how they are found.
    fn parts(&mut self, root: Node<'_, '_>, set: Node<'_, '_>, node: Node<'_, '_>) -> Vec<Part> {
        let id = node.attribute("id").unwrap_or("?").to_owned();
        let own = |name| elements(node, name).next().or_else(|| elements(set, name).next());
        let base = own("BaseURL").and_then(|node| node.text()).unwrap_or_default().to_owned();
        if let Some(template) = own("SegmentTemplate") {
            return self.template(
                root,
                template,
                &id,
                node.attribute("bandwidth").unwrap_or_default(),
            );
        }
        let size = (self.size)(&base);
        self.rule("5.3.9.1", size.is_some(), format!("{id}: there is no file {base:?}"));
        let Some(segment_base) = own("SegmentBase") else { return Vec::new() };
        let initialization = elements(segment_base, "Initialization")
            .next()
            .and_then(|node| node.attribute("range"));
        for (name, text) in [
            ("@indexRange", segment_base.attribute("indexRange")),
            ("Initialization", initialization),
        ] {
            let range = text
                .and_then(|text| text.split_once('-'))
                .and_then(|(a, b)| Some((a.parse::<u64>().ok()?, b.parse::<u64>().ok()?)));
            let inside = range.is_some_and(|(a, b)| a <= b && size.is_some_and(|size| b < size));
            self.rule("5.3.9.2", inside, format!("{id}: the range of {name} is not in the file"));
        }
        Vec::new()
    }

    fn template(
        &mut self,
        root: Node<'_, '_>,
        template: Node<'_, '_>,
        id: &str,
        bandwidth: &str,
    ) -> Vec<Part> {
        let number = |name: &str, default| {
            template
                .attribute(name)
                .map_or(Some(default), |text| text.parse::<u32>().ok())
                .map_or(f64::NAN, f64::from)
        };
        let timescale = number("timescale", 1);
        let mut times: Vec<(f64, f64)> = Vec::new();
        match (elements(template, "SegmentTimeline").next(), template.attribute("duration")) {
            (Some(timeline), None) => times = self.timeline(timeline, timescale, id),
            (None, Some(_)) => {
                let duration = number("duration", 0) / timescale;
                self.rule("5.3.9.2", duration > 0.0, format!("{id}: @duration is not positive"));
                let mut start = 0.0;
                while duration > 0.0 && start < self.period - 1e-6 {
                    times.push((start, duration.min(self.period - start)));
                    start += duration;
                }
            }
            _ => self.broken(
                "5.3.9.2",
                format!("{id}: SegmentTemplate has both or none of SegmentTimeline and @duration"),
            ),
        }
        let media = template.attribute("media").unwrap_or_default();
        self.rule(
            "5.3.9.4.4",
            media.contains("$Number$") != media.contains("$Time$"),
            format!("{id}: @media has not one of $Number$ and $Time$"),
        );
        let path = |text: &str, number: usize| {
            let plain = text.replace("$RepresentationID$", id).replace("$Bandwidth$", bandwidth);
            plain.replace("$Number$", &number.to_string()).replace("$$", "$")
        };
        if let Some(initialization) = template.attribute("initialization") {
            let path = path(initialization, 0);
            self.rule(
                "5.3.9.4",
                (self.size)(&path).is_some(),
                format!("{id}: there is no initialization segment {path:?}"),
            );
        }
        let first =
            template.attribute("startNumber").and_then(|text| text.parse().ok()).unwrap_or(1);
        let after = path(media, first + times.len());
        self.rule(
            "5.3.9.5.3",
            (self.size)(&after).is_none(),
            format!("{id}: there is {after:?}, which the MPD does not reach"),
        );
        let is_exact = template.attribute("duration").is_none();
        // One @duration is the mean, rounded to a unit.
        let rounding = if is_exact { 1e-6 } else { 1.0 / timescale };
        let longest = root.attribute("maxSegmentDuration").and_then(seconds);
        let mut parts = Vec::new();
        for (index, (start, duration)) in times.into_iter().enumerate() {
            let path = path(media, first + index);
            let bytes = (self.size)(&path);
            self.rule("5.3.9.5.3", bytes.is_some(), format!("{id}: there is no segment {path:?}"));
            self.rule(
                "5.3.1.2",
                longest.is_none_or(|longest| duration <= longest + rounding),
                format!("{id}: a segment is longer than @maxSegmentDuration"),
            );
            parts.push(Part { start, bytes });
        }
        // Those of one @duration are only near: rules of exact times do not apply.
        if is_exact { parts } else { Vec::new() }
    }

    fn timeline(&mut self, timeline: Node<'_, '_>, timescale: f64, id: &str) -> Vec<(f64, f64)> {
        let mut times = Vec::new();
        let mut end = 0_u64;
        for s in elements(timeline, "S") {
            let number = |name: &str| s.attribute(name).and_then(|text| text.parse::<u64>().ok());
            let duration = number("d").unwrap_or(0);
            self.rule("5.3.9.6", duration > 0, format!("{id}: S without @d"));
            let start = number("t").unwrap_or(end);
            self.rule(
                "5.3.9.6",
                start >= end,
                format!("{id}: S@t {start} overlaps the one before it"),
            );
            end = start;
            for _ in 0..=number("r").unwrap_or(0) {
                times.push((units(end) / timescale, units(duration) / timescale));
                end += duration;
            }
        }
        self.rule("5.3.9.6", !times.is_empty(), format!("{id}: an empty SegmentTimeline"));
        let last = times.last().map_or(0.0, |(start, duration)| start + duration);
        self.rule(
            "5.3.9.6",
            times.last().is_none_or(|(start, _)| *start < self.period),
            format!("{id}: a segment after the end of the period"),
        );
        self.rule(
            "5.3.9.6",
            last > self.period - 1.0,
            format!("{id}: the period is not covered to its end"),
        );
        times
    }

    /// 5.3.5.2: over a channel of `@bandwidth`, from any segment on, none is late if `@minBufferTime` is waited.
    fn bandwidth(&mut self, node: Node<'_, '_>, parts: &[Part]) {
        let Some(bandwidth) = node.attribute("bandwidth").and_then(|text| text.parse::<u32>().ok())
        else {
            return;
        };
        for first in 0..parts.len() {
            let mut bits = 0.0;
            for part in &parts[first..] {
                bits += units(part.bytes.unwrap_or(0)) * 8.0;
                let time = self.buffer + part.start - parts[first].start;
                if f64::from(bandwidth) * time < bits * (1.0 - 1e-9) {
                    let id = node.attribute("id").unwrap_or("?");
                    return self.broken(
                        "5.3.5.2",
                        format!(
                            "{id}: {bandwidth} bit/s is too little from segment {} on",
                            first + 1
                        ),
                    );
                }
            }
        }
    }
}

fn elements<'a, 'input>(
    node: Node<'a, 'input>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(move |child| child.has_tag_name((MPD, name)))
}

fn unique<T: Ord>(values: &[T]) -> bool {
    values.iter().collect::<BTreeSet<_>>().len() == values.len()
}

fn is_uuid(text: &str) -> bool {
    let lengths: Vec<_> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12]
        && text.bytes().all(|b| b == b'-' || b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[allow(clippy::cast_precision_loss, reason = "times and sizes are far below 2^53")]
fn units(number: u64) -> f64 {
    number as f64
}

fn fraction(text: &str) -> f64 {
    let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
    numerator.parse::<f64>().unwrap_or(f64::NAN) / denominator.parse::<f64>().unwrap_or(f64::NAN)
}

/// An `xs:duration` of hours, minutes and seconds.
fn seconds(text: &str) -> Option<f64> {
    let mut rest = text.strip_prefix("PT")?;
    let mut sum = 0.0;
    let units = BTreeMap::from([('H', 3600.0), ('M', 60.0), ('S', 1.0)]);
    while let Some(end) = rest.find(['H', 'M', 'S']) {
        sum += rest[..end].parse::<f64>().ok()? * units.get(&rest[end..].chars().next()?)?;
        rest = &rest[end + 1..];
    }
    rest.is_empty().then_some(sum)
}
