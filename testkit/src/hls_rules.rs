//! Rules of playlists on demand that a program can check: RFC 8216bis (draft-pantos-hls-rfc8216bis).

use std::collections::{BTreeMap, BTreeSet};

/// The rules that playlists break, a line each that begins with the section; `main` is the path of the
/// multivariant playlist, `text` gives a playlist and `size` the bytes of a file by its path, or none if there is
/// no such file.
#[must_use]
pub fn hls_rules(
    main: &str,
    text: &dyn Fn(&str) -> Option<String>,
    size: &dyn Fn(&str) -> Option<u64>,
) -> Vec<String> {
    let mut rules = Rules { text, size, found: Vec::new(), playlists: BTreeMap::new() };
    match text(main) {
        Some(playlist) => rules.multivariant(main, &playlist),
        None => rules.broken("4", format!("there is no playlist {main:?}")),
    }
    rules.found
}

/// What is needed of a media playlist to check the multivariant playlist.
#[derive(Clone, Debug, Default)]
struct Playlist {
    target: u64,
    duration: f64,
    peak: f64,
    average: f64,
    is_of_key_frames: bool,
    kind: Option<String>,
    /// Lists of attributes of its keys.
    keys: Vec<String>,
}

struct Rules<'a> {
    text: &'a dyn Fn(&str) -> Option<String>,
    size: &'a dyn Fn(&str) -> Option<u64>,
    found: Vec<String>,
    playlists: BTreeMap<String, Playlist>,
}

/// A list of attributes; strings have their quotes.
type Attributes = BTreeMap<String, String>;

impl Rules<'_> {
    fn broken(&mut self, section: &str, what: impl AsRef<str>) {
        self.found.push(format!("{section}: {}", what.as_ref()));
    }

    fn rule(&mut self, section: &str, holds: bool, what: impl AsRef<str>) {
        if !holds {
            self.broken(section, what);
        }
    }

    fn attributes(&mut self, text: &str) -> Attributes {
        let mut found = Attributes::new();
        let mut rest = text;
        while !rest.is_empty() {
            let Some((name, value)) = rest.split_once('=') else {
                self.broken("4.2", format!("no value in {rest:?}"));
                break;
            };
            let is_name = !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-');
            self.rule("4.2", is_name, format!("{name:?} is no name of an attribute"));
            let end = match value.strip_prefix('"') {
                Some(quoted) => quoted.find('"').map_or(value.len(), |end| end + 2),
                None => value.find(',').unwrap_or(value.len()),
            };
            let (value, after) = value.split_at(end);
            let whole = value.starts_with('"') == value.ends_with('"')
                && !value.is_empty()
                && (after.is_empty() || after.starts_with(','));
            self.rule(
                "4.2",
                whole,
                format!("{name} has the value {value:?}, and {after:?} after it"),
            );
            if found.insert(name.to_owned(), value.to_owned()).is_some() {
                self.broken("4.2", format!("{name} is there twice"));
            }
            rest = after.strip_prefix(',').unwrap_or_default();
        }
        found
    }

    /// Rules of all playlists; its version.
    fn common(&mut self, name: &str, text: &str) -> u64 {
        self.rule(
            "4.4.1.1",
            text.starts_with("#EXTM3U\n"),
            format!("{name} does not begin with #EXTM3U"),
        );
        self.rule(
            "4.1",
            text.ends_with('\n') && !text.contains('\u{feff}'),
            format!("{name} has a BOM, or its last line no end"),
        );
        let versions: Vec<_> =
            text.lines().filter_map(|line| line.strip_prefix("#EXT-X-VERSION:")).collect();
        self.rule("4.4.1.2", versions.len() <= 1, format!("{name} has several versions"));
        versions.first().map_or(1, |version| version.parse().unwrap_or(0))
    }

    fn multivariant(&mut self, main: &str, text: &str) {
        self.common(main, text);
        for tag in [
            "#EXTINF",
            "#EXT-X-TARGETDURATION",
            "#EXT-X-ENDLIST",
            "#EXT-X-MAP",
            "#EXT-X-KEY",
            "#EXT-X-PLAYLIST-TYPE",
        ] {
            self.rule(
                "4.1",
                !text.lines().any(|line| line.starts_with(tag)),
                format!("{main} has {tag} of media playlists"),
            );
        }
        let (mut media, mut variants, mut key_frames, mut session_keys) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            if let Some(list) = line.strip_prefix("#EXT-X-MEDIA:") {
                media.push(self.attributes(list));
            } else if let Some(list) = line.strip_prefix("#EXT-X-STREAM-INF:") {
                let attributes = self.attributes(list);
                match lines.next_if(|line| !line.is_empty() && !line.starts_with('#')) {
                    Some(uri) => variants.push((attributes, uri.to_owned())),
                    None => self.broken("4.4.6.2", "EXT-X-STREAM-INF without a URI after it"),
                }
            } else if let Some(list) = line.strip_prefix("#EXT-X-I-FRAME-STREAM-INF:") {
                key_frames.push(self.attributes(list));
            } else if let Some(list) = line.strip_prefix("#EXT-X-SESSION-KEY:") {
                self.rule(
                    "4.4.6.5",
                    !session_keys.contains(&list.to_owned()),
                    "an EXT-X-SESSION-KEY is there twice",
                );
                session_keys.push(list.to_owned());
            } else {
                self.rule(
                    "4.1",
                    line.starts_with('#') || line.is_empty(),
                    format!("{line:?} has no EXT-X-STREAM-INF"),
                );
            }
        }
        self.rule("4.4.6.2", !variants.is_empty(), format!("{main} has no variant"));
        for attributes in &media {
            if let Some(uri) = attributes.get("URI") {
                self.media(main, unquoted(uri));
            }
        }
        for (_, uri) in &variants {
            self.media(main, uri);
        }
        for attributes in &key_frames {
            self.key_frames(main, attributes);
        }
        self.groups(&media);
        for (attributes, uri) in &variants {
            self.variant(attributes, uri, &media);
        }
        let none = |(attributes, _): &&(Attributes, String)| {
            attributes.get("CLOSED-CAPTIONS").is_some_and(|value| value == "NONE")
        };
        let without = variants.iter().filter(none).count();
        self.rule(
            "4.4.6.2",
            without == 0 || without == variants.len(),
            "CLOSED-CAPTIONS=NONE is on some variants alone",
        );
        self.session_keys(&session_keys);
        self.together(&media, &variants);
    }

    /// A playlist of key frames (4.4.6.3).
    fn key_frames(&mut self, main: &str, attributes: &Attributes) {
        self.rate_attributes(attributes);
        let Some(uri) = attributes.get("URI") else {
            return self.broken("4.4.6.3", "EXT-X-I-FRAME-STREAM-INF without URI");
        };
        for name in ["FRAME-RATE", "AUDIO", "SUBTITLES", "CLOSED-CAPTIONS"] {
            self.rule(
                "4.4.6.3",
                !attributes.contains_key(name),
                format!("EXT-X-I-FRAME-STREAM-INF has {name}"),
            );
        }
        let playlist = self.media(main, unquoted(uri));
        self.rule(
            "4.4.6.3",
            playlist.is_of_key_frames,
            format!("{uri} has no EXT-X-I-FRAMES-ONLY"),
        );
        self.measured(attributes, uri, playlist.peak, playlist.average);
    }

    /// Renditions (4.4.6.1).
    fn groups(&mut self, media: &[Attributes]) {
        let mut groups: BTreeMap<(String, String), Vec<&Attributes>> = BTreeMap::new();
        let get =
            |attributes: &Attributes, name: &str| attributes.get(name).cloned().unwrap_or_default();
        for attributes in media {
            for name in ["TYPE", "GROUP-ID", "NAME"] {
                self.rule(
                    "4.4.6.1",
                    attributes.contains_key(name),
                    format!("EXT-X-MEDIA without {name}"),
                );
            }
            let kind = get(attributes, "TYPE");
            self.rule(
                "4.4.6.1",
                ["AUDIO", "VIDEO", "SUBTITLES", "CLOSED-CAPTIONS"].contains(&kind.as_str()),
                format!("EXT-X-MEDIA of TYPE {kind}"),
            );
            self.rule(
                "4.4.6.1",
                kind != "SUBTITLES" || attributes.contains_key("URI"),
                "subtitles without URI",
            );
            self.rule(
                "4.4.6.1",
                kind == "SUBTITLES" || !attributes.contains_key("FORCED"),
                "FORCED is for subtitles alone",
            );
            let default = get(attributes, "DEFAULT") == "YES";
            self.rule(
                "4.4.6.1",
                !default || get(attributes, "AUTOSELECT") != "NO",
                "DEFAULT=YES, but AUTOSELECT=NO",
            );
            groups.entry((kind, get(attributes, "GROUP-ID"))).or_default().push(attributes);
        }
        for ((_, id), members) in &groups {
            let names: BTreeSet<_> = members.iter().map(|member| get(member, "NAME")).collect();
            self.rule(
                "4.4.6.1.1",
                names.len() == members.len(),
                format!("two members of {id} have one NAME"),
            );
            let defaults = members.iter().filter(|member| get(member, "DEFAULT") == "YES").count();
            self.rule("4.4.6.1.1", defaults <= 1, format!("two members of {id} are DEFAULT"));
            let auto = members.iter().filter(|member| get(member, "AUTOSELECT") == "YES");
            let keys: Vec<_> = auto
                .map(|m| (get(m, "LANGUAGE"), get(m, "FORCED"), get(m, "CHARACTERISTICS")))
                .collect();
            self.rule(
                "4.4.6.1.1",
                keys.iter().collect::<BTreeSet<_>>().len() == keys.len(),
                format!("members of {id} with AUTOSELECT cannot be told apart"),
            );
        }
        // Groups of one type have the same members, which differ in nothing but URI and CHANNELS.
        let comparable = |members: &[&Attributes]| -> BTreeSet<Vec<(String, String)>> {
            let plain = |member: &&Attributes| {
                let other = member
                    .iter()
                    .filter(|(name, _)| !["URI", "CHANNELS", "GROUP-ID"].contains(&name.as_str()));
                other.map(|(name, value)| (name.clone(), value.clone())).collect()
            };
            members.iter().map(plain).collect()
        };
        let all: Vec<_> = groups.iter().collect();
        for pair in all.windows(2) {
            let (((a, _), x), ((b, id), y)) = (pair[0], pair[1]);
            self.rule(
                "4.4.6.1.1",
                a != b || comparable(x) == comparable(y),
                format!("{id} has other members than the group before it"),
            );
        }
    }

    fn rate_attributes(&mut self, attributes: &Attributes) {
        let number = |name: &str| attributes.get(name).and_then(|text| text.parse::<u64>().ok());
        self.rule("4.4.6.2", number("BANDWIDTH").is_some(), "no BANDWIDTH");
        self.rule(
            "4.4.6.2",
            number("AVERAGE-BANDWIDTH") <= number("BANDWIDTH"),
            "AVERAGE-BANDWIDTH above BANDWIDTH",
        );
        self.rule(
            "4.4.6.2",
            attributes.get("CODECS").is_some_and(|codecs| codecs.len() > 2),
            "no CODECS",
        );
        if let Some(range) = attributes.get("VIDEO-RANGE") {
            self.rule(
                "4.4.6.2",
                ["SDR", "HLG", "PQ"].contains(&range.as_str()),
                format!("VIDEO-RANGE {range}"),
            );
        }
        if let Some(resolution) = attributes.get("RESOLUTION") {
            let two = resolution
                .split_once('x')
                .is_some_and(|(w, h)| w.parse::<u32>().is_ok() && h.parse::<u32>().is_ok());
            self.rule("4.2", two, format!("RESOLUTION {resolution}"));
        }
        if let Some(rate) = attributes.get("FRAME-RATE") {
            let decimals = rate.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            self.rule(
                "4.4.6.2",
                rate.parse::<f64>().is_ok() && decimals <= 3,
                format!("FRAME-RATE {rate}"),
            );
        }
    }

    /// Bit rates are those of the playlists: upper bounds, and no more than a tenth above.
    fn measured(&mut self, attributes: &Attributes, uri: &str, peak: f64, average: f64) {
        for (name, measured) in [("BANDWIDTH", peak), ("AVERAGE-BANDWIDTH", average)] {
            let Some(rate) = attributes.get(name).and_then(|text| text.parse::<f64>().ok()) else {
                continue;
            };
            self.rule(
                "4.4.6.2",
                rate >= measured * 0.9999 && rate <= measured * 1.1 + 10.0,
                format!("{uri}: {name} is {rate}, measured {measured:.0}"),
            );
        }
    }

    fn variant(&mut self, attributes: &Attributes, uri: &str, media: &[Attributes]) {
        self.rate_attributes(attributes);
        let own = self.playlists.get(uri).cloned().unwrap_or_default();
        self.rule("4.4.3.6", !own.is_of_key_frames, format!("{uri} is for key frames alone"));
        let (mut peak, mut average, mut is_member) = (0.0, 0.0, false);
        for (attribute, kind) in [("AUDIO", "AUDIO"), ("SUBTITLES", "SUBTITLES")] {
            let Some(id) = attributes.get(attribute) else { continue };
            let members: Vec<_> = media
                .iter()
                .filter(|member| {
                    member.get("GROUP-ID") == Some(id)
                        && member.get("TYPE").is_some_and(|t| t == kind)
                })
                .collect();
            self.rule(
                "4.4.6.2",
                !members.is_empty(),
                format!("{attribute} names the group {id}, which does not exist"),
            );
            let uris: Vec<_> = members
                .iter()
                .filter_map(|member| member.get("URI"))
                .map(|uri| unquoted(uri))
                .collect();
            is_member |= uris.contains(&uri);
            let largest = |of: fn(&Playlist) -> f64| {
                uris.iter().filter_map(|uri| self.playlists.get(*uri)).map(of).fold(0.0, f64::max)
            };
            peak += largest(|playlist| playlist.peak);
            average += largest(|playlist| playlist.average);
        }
        if !is_member {
            peak += own.peak;
            average += own.average;
        }
        self.measured(attributes, uri, peak, average);
    }

    fn session_keys(&mut self, session_keys: &[String]) {
        let used: BTreeSet<_> =
            self.playlists.values().flat_map(|playlist| playlist.keys.clone()).collect();
        let mut seen = BTreeSet::new();
        for key in session_keys {
            self.rule(
                "4.4.6.5",
                !key.contains("METHOD=NONE"),
                "EXT-X-SESSION-KEY with METHOD=NONE",
            );
            self.rule("4.4.6.5", used.contains(key), format!("no playlist has the key {key}"));
            let identity = self.key_identity(key);
            self.rule("4.4.6.5", seen.insert(identity), format!("the session key {key} twice"));
        }
        for key in used {
            let identity = self.key_identity(&key);
            self.rule(
                "4.4.6.5",
                session_keys.is_empty() || seen.contains(&identity),
                format!("the key {key} is in a playlist alone"),
            );
        }
    }

    /// What tells session keys apart.
    fn key_identity(&mut self, key: &str) -> Vec<Option<String>> {
        let attributes = self.attributes(key);
        let names = ["METHOD", "URI", "IV", "KEYFORMAT", "KEYFORMATVERSIONS"];
        names.map(|name| attributes.get(name).cloned()).to_vec()
    }

    /// Rules of playlists that are played together (6.2.4).
    fn together(&mut self, media: &[Attributes], variants: &[(Attributes, String)]) {
        let of = |kind: &str| -> Vec<String> {
            let members =
                media.iter().filter(|member| member.get("TYPE").is_some_and(|t| t == kind));
            members
                .filter_map(|member| member.get("URI"))
                .map(|uri| unquoted(uri).to_owned())
                .collect()
        };
        let subtitles = of("SUBTITLES");
        let mut names = of("AUDIO");
        names.extend(variants.iter().map(|(_, uri)| uri.clone()));
        let playlists: Vec<_> =
            names.iter().filter_map(|name| self.playlists.get(name)).cloned().collect();
        let targets: BTreeSet<_> = playlists.iter().map(|playlist| playlist.target).collect();
        self.rule("6.2.4", targets.len() <= 1, format!("target durations differ: {targets:?}"));
        let kinds: BTreeSet<_> =
            self.playlists.values().map(|playlist| playlist.kind.clone()).collect();
        self.rule("6.2.4", kinds.len() <= 1, "EXT-X-PLAYLIST-TYPE differs");
        let least = targets.first().copied().unwrap_or(0);
        let durations = || playlists.iter().map(|playlist| playlist.duration);
        let (shortest, longest) =
            (durations().fold(f64::MAX, f64::min), durations().fold(0.0, f64::max));
        #[allow(clippy::cast_precision_loss, reason = "seconds")]
        let near = playlists.is_empty() || longest - shortest <= least as f64;
        self.rule("6.2.4", near, format!("playlists last from {shortest} to {longest} s"));
        self.rule(
            "4.4.6.1",
            subtitles.iter().all(|name| !names.contains(name)),
            "subtitles are a variant, too",
        );
    }

    /// A media playlist, after its rules the first time.
    fn media(&mut self, main: &str, uri: &str) -> Playlist {
        if let Some(known) = self.playlists.get(uri) {
            return known.clone();
        }
        let path = resolved(main, uri);
        let Some(text) = (self.text)(&path) else {
            self.broken("4.4.6", format!("there is no playlist {path:?}"));
            return Playlist::default();
        };
        let playlist = self.media_playlist(&path, &text);
        self.playlists.insert(uri.to_owned(), playlist.clone());
        playlist
    }

    fn media_playlist(&mut self, name: &str, text: &str) -> Playlist {
        let version = self.common(name, text);
        let is_of_key_frames = text.lines().any(|line| line == "#EXT-X-I-FRAMES-ONLY");
        let mut playlist = Playlist { is_of_key_frames, ..Playlist::default() };
        let (mut needed, mut has_map) = (1, false);
        let mut targets = 0;
        let mut range: Option<String> = None;
        let mut extinf: Option<f64> = None;
        let mut segments: Vec<(f64, f64)> = Vec::new();
        let mut keys = KeysInForce::default();
        for line in text.lines() {
            let (tag, value) = line.split_once(':').unwrap_or((line, ""));
            match tag {
                "#EXT-X-TARGETDURATION" => {
                    targets += 1;
                    playlist.target = value.parse().unwrap_or(0);
                }
                "#EXT-X-PLAYLIST-TYPE" => playlist.kind = Some(value.to_owned()),
                "#EXT-X-I-FRAMES-ONLY" => needed = needed.max(4),
                "#EXTINF" => {
                    let duration = value.split(',').next().unwrap_or_default();
                    if duration.contains('.') {
                        needed = needed.max(3);
                    }
                    self.rule(
                        "4.4.4.1",
                        value.contains(',') && duration.parse::<f64>().is_ok_and(|d| d > 0.0),
                        format!("{name}: EXTINF:{value}"),
                    );
                    self.rule(
                        "4.4.4.1",
                        extinf.is_none(),
                        format!("{name}: EXTINF without a URI after it"),
                    );
                    extinf = duration.parse().ok();
                }
                "#EXT-X-BYTERANGE" => {
                    needed = needed.max(4);
                    range = Some(value.to_owned());
                }
                "#EXT-X-MAP" => {
                    needed = needed.max(if is_of_key_frames { 5 } else { 6 });
                    has_map = true;
                    self.rule(
                        "4.4.4.5",
                        segments.is_empty(),
                        format!("{name}: EXT-X-MAP after segments"),
                    );
                    let attributes = self.attributes(value);
                    let uri = attributes
                        .get("URI")
                        .map(|uri| unquoted(uri).to_owned())
                        .unwrap_or_default();
                    self.bytes(
                        "4.4.4.5",
                        name,
                        &uri,
                        attributes.get("BYTERANGE").map(|range| unquoted(range)),
                    );
                }
                "#EXT-X-KEY" => {
                    needed = needed.max(if value == "METHOD=NONE" { 1 } else { 5 });
                    let (method, format) = self.key(name, value);
                    if method == "NONE" {
                        keys = KeysInForce::default();
                    } else {
                        playlist.keys.push(value.to_owned());
                        let twice = keys.told(segments.len(), format, method);
                        self.rule("4.4.4.4", !twice, format!("{name}: two keys of one KEYFORMAT"));
                    }
                }
                _ if line.starts_with('#') => {
                    self.rule(
                        "4.1",
                        tag != "#EXT-X-STREAM-INF" && tag != "#EXT-X-MEDIA",
                        format!("{name} has {tag} of multivariant playlists"),
                    );
                }
                _ => {
                    self.rule(
                        "4.4.4.4",
                        keys.are_of_one_place_and_method(),
                        format!(
                            "{name}: {line} has keys that were told at several places or with several \
                             METHODs: one of a KEYFORMAT applies until the next one of it, or NONE"
                        ),
                    );
                    let bytes = self.bytes("4.4.4.2", name, line, range.take().as_deref());
                    match extinf.take() {
                        Some(duration) => segments.push((duration, bytes)),
                        None => self.broken("4.4.4.1", format!("{name}: {line:?} without EXTINF")),
                    }
                }
            }
        }
        self.rule("4.4.3.1", targets == 1, format!("{name} has not one EXT-X-TARGETDURATION"));
        self.rule(
            "8",
            version >= needed,
            format!("{name} is of version {version}, but needs {needed}"),
        );
        self.rule(
            "6.2.1",
            version <= needed,
            format!("{name} is of version {version}, but needs no more than {needed}"),
        );
        self.rule(
            "6.2.1",
            text.lines().next_back() == Some("#EXT-X-ENDLIST"),
            format!("{name} does not end with EXT-X-ENDLIST"),
        );
        self.rule("4.4.3.5", playlist.kind.as_deref() == Some("VOD"), format!("{name} is not VOD"));
        self.rule("4.1", !segments.is_empty(), format!("{name} has no segments"));
        let fmp4 = text.lines().any(|line| {
            !line.starts_with('#')
                && [".m4s", ".mp4", ".cmfv"].iter().any(|end| line.ends_with(end))
        });
        self.rule("3.1.2", has_map || !fmp4, format!("{name} has no EXT-X-MAP"));
        #[allow(clippy::cast_precision_loss, reason = "seconds")]
        let target = playlist.target as f64;
        for (duration, _) in &segments {
            let counted = if version < 6 { *duration } else { duration.round() };
            self.rule(
                "4.4.3.1",
                counted <= target,
                format!("{name}: a segment of {duration} s, the target duration is {target} s"),
            );
        }
        playlist.duration = segments.iter().map(|(duration, _)| duration).sum();
        playlist.average =
            segments.iter().map(|(_, bytes)| bytes * 8.0).sum::<f64>() / playlist.duration;
        playlist.peak = peak(&segments, target).max(playlist.average);
        playlist
    }

    /// Its METHOD and its KEYFORMAT, after its rules.
    fn key(&mut self, name: &str, value: &str) -> (String, String) {
        let attributes = self.attributes(value);
        let method = attributes.get("METHOD").cloned().unwrap_or_default();
        let known = ["NONE", "AES-128", "SAMPLE-AES", "SAMPLE-AES-CTR"].contains(&method.as_str());
        self.rule("4.4.4.4", known, format!("{name}: METHOD {method}"));
        let quoted = |attribute: &str| {
            attributes.get(attribute).is_some_and(|value| value.starts_with('"') && value.len() > 2)
        };
        self.rule(
            "4.4.4.4",
            method == "NONE" || quoted("URI"),
            format!("{name}: a key without URI"),
        );
        let fairplay = attributes
            .get("KEYFORMAT")
            .is_some_and(|format| format == "\"com.apple.streamingkeydelivery\"");
        self.rule(
            "4.4.4.4",
            !fairplay || method == "SAMPLE-AES",
            format!("{name}: FairPlay with {method}"),
        );
        self.rule(
            "4.4.4.4",
            method != "NONE" || attributes.len() == 1,
            format!("{name}: METHOD=NONE with other attributes"),
        );
        let format = attributes.get("KEYFORMAT").map_or("identity", |format| unquoted(format));
        (method, format.to_owned())
    }

    /// The bytes of a part of a file.
    #[allow(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
    fn bytes(&mut self, section: &str, playlist: &str, uri: &str, range: Option<&str>) -> f64 {
        let path = resolved(playlist, uri);
        let Some(size) = (self.size)(&path) else {
            self.broken(section, format!("{playlist}: there is no file {path:?}"));
            return 0.0;
        };
        let Some(range) = range else { return size as f64 };
        let parts = range
            .split_once('@')
            .and_then(|(n, o)| Some((n.parse::<u64>().ok()?, o.parse::<u64>().ok()?)));
        let inside = parts
            .is_some_and(|(length, offset)| length > 0 && offset.saturating_add(length) <= size);
        self.rule(
            section,
            inside,
            format!("{playlist}: {range} is not in {path}, which has {size} bytes"),
        );
        parts.map_or(0.0, |(length, _)| length as f64)
    }
}

/// The keys that apply to the next segment: by KEYFORMAT, the segment in front of which each was told, and its METHOD.
#[derive(Default)]
struct KeysInForce(BTreeMap<String, (usize, String)>);

impl KeysInForce {
    /// A key in front of a segment; whether there is one of this format in front of it already.
    fn told(&mut self, segment: usize, format: String, method: String) -> bool {
        let before = self.0.insert(format, (segment, method));
        before.is_some_and(|(place, _)| place == segment)
    }

    /// All must yield the same key, so that a change is one of all of them.
    fn are_of_one_place_and_method(&self) -> bool {
        let mut all = self.0.values();
        let first = all.next();
        all.all(|other| Some(other) == first)
    }
}

/// The peak segment bit rate (4.1): of any segments in a row that last from 0.5 to 1.5 of the target duration, or
/// of single ones if there are none.
fn peak(segments: &[(f64, f64)], target: f64) -> f64 {
    let rate = |part: &[(f64, f64)]| {
        let (time, bytes) =
            part.iter().fold((0.0, 0.0), |sum, segment| (sum.0 + segment.0, sum.1 + segment.1));
        (time, bytes * 8.0 / time)
    };
    let mut rows = Vec::new();
    for first in 0..segments.len() {
        for end in first + 1..=segments.len() {
            let (time, rate) = rate(&segments[first..end]);
            if time > target * 1.5 {
                break;
            }
            if time >= target * 0.5 {
                rows.push(rate);
            }
        }
    }
    if rows.is_empty() {
        rows = segments.iter().map(|segment| rate(&[*segment]).1).collect();
    }
    rows.into_iter().fold(0.0, f64::max)
}

fn unquoted(text: &str) -> &str {
    text.trim_matches('"')
}

/// A path relative to the folder of a playlist.
fn resolved(playlist: &str, uri: &str) -> String {
    match playlist.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{uri}"),
        None => uri.to_owned(),
    }
}
