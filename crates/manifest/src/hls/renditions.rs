//! Groups of renditions (RFC 8216bis, 4.4.6.1): audio and subtitles to choose from.

use super::{media::MediaPlaylist, rate::Rate, tag::Tag};
use crate::{Accessibility, Audio, Error, Media, Role, SwitchingSet};

/// What a viewer chooses, such as a language: the same in each encoding. Sets in which nothing else than the
/// encoding differs are one content.
pub(super) struct Content<'a> {
    set: &'a SwitchingSet,
    name: String,
    is_default: bool,
    /// Whether a player may choose it without being asked to.
    autoselect: bool,
    playlists: Vec<MediaPlaylist<'a>>,
}

/// One content each, in one encoding.
pub(super) struct Group<'a> {
    pub(super) id: String,
    pub(super) members: Vec<(&'a Content<'a>, &'a MediaPlaylist<'a>)>,
}

impl Group<'_> {
    pub(super) fn rate(&self) -> Rate {
        Rate::largest(self.members.iter().map(|(_, playlist)| playlist.rate))
    }

    /// The codecs of its members, without those that are text files.
    pub(super) fn codecs(&self) -> impl Iterator<Item = &str> {
        self.members
            .iter()
            .map(|(_, playlist)| playlist.track.codecs.as_str())
            .filter(|codecs| !codecs.is_empty())
    }

    fn plays_the_same_as(&self, other: &Self) -> bool {
        let names = |group: &Self| {
            group.members.iter().map(|(_, playlist)| playlist.name.clone()).collect::<Vec<_>>()
        };
        names(self) == names(other)
    }

    /// The playlist that is played unless the viewer chooses.
    pub(super) fn first(&self) -> Option<&MediaPlaylist<'_>> {
        let default =
            self.members.iter().find(|(content, _)| content.is_default).or(self.members.first());
        default.map(|(_, playlist)| *playlist)
    }

    /// Its `EXT-X-MEDIA` tags, of a type.
    pub(super) fn tags(&self, kind: &str) -> Result<Vec<String>, Error> {
        let yes = |is: bool| if is { "YES" } else { "NO" };
        let mut lines = Vec::new();
        for (content, playlist) in &self.members {
            let set = content.set;
            let mut tag = Tag::new("EXT-X-MEDIA")
                .word("TYPE", kind)
                .quoted("GROUP-ID", &self.id)?
                .quoted("NAME", &content.name)?
                .optional("LANGUAGE", set.language.as_deref())?
                .word("DEFAULT", yes(content.is_default))
                .word("AUTOSELECT", yes(content.autoselect));
            if kind == "SUBTITLES" && is_forced(set) {
                tag = tag.word("FORCED", "YES");
            }
            tag = tag.optional("CHARACTERISTICS", characteristics(set).as_deref())?;
            if let Media::Audio(audio) = &playlist.track.media {
                tag = tag.quoted("CHANNELS", &channels(audio))?;
            }
            lines.push(tag.quoted("URI", &playlist.name)?.into_line());
        }
        Ok(lines)
    }
}

/// Contents of sets with their playlists, named so that they can be told apart.
pub(super) fn contents<'a>(
    sets: Vec<(&'a SwitchingSet, Vec<MediaPlaylist<'a>>)>,
    kind: &str,
    needs_default: bool,
) -> Vec<Content<'a>> {
    let mut contents: Vec<Content<'a>> = Vec::new();
    for (set, playlists) in sets {
        let key =
            |set: &'a SwitchingSet| (&set.language, &set.label, &set.roles, &set.accessibility);
        // What has the same encoding as well is another content, of which nothing is known.
        let same = contents.iter_mut().find(|content| {
            key(content.set) == key(set)
                && content
                    .playlists
                    .iter()
                    .all(|a| playlists.iter().all(|b| format(a) != format(b)))
        });
        if let Some(content) = same {
            content.is_default |= set.is_default;
            content.playlists.extend(playlists);
            continue;
        }
        let base = name(set, kind);
        let taken = |name: &str| contents.iter().any(|content| content.name == name);
        let mut name = base.clone();
        let mut number = 2;
        while taken(&name) {
            name = format!("{base} {number}");
            number += 1;
        }
        contents.push(Content {
            set,
            name,
            is_default: set.is_default,
            autoselect: false,
            playlists,
        });
    }
    // No more than one (4.4.6.1.1).
    let default =
        contents.iter().position(|content| content.is_default).or(needs_default.then_some(0));
    for (index, content) in contents.iter_mut().enumerate() {
        content.is_default = default == Some(index);
    }
    // A player may choose any, but of those that a player cannot tell apart only the first (4.4.6.1.1).
    for index in 0..contents.len() {
        let (before, from) = contents.split_at(index);
        let key = |content: &Content<'_>| {
            (content.set.language.clone(), is_forced(content.set), characteristics(content.set))
        };
        let apart = before.iter().all(|other| !other.autoselect || key(other) != key(&from[0]));
        let rival = default.is_some_and(|d| d > index && key(&contents[d]) == key(&from[0]));
        contents[index].autoselect = apart && !rival;
    }
    contents
}

/// Groups of contents: one for each encoding, in which each content is once (4.4.6.1.1). A content that does not
/// have an encoding is there in the one of its own that is next.
pub(super) fn groups<'a>(contents: &'a [Content<'a>], id: &str) -> Vec<Group<'a>> {
    let mut encodings: Vec<(String, usize)> = Vec::new();
    for content in contents {
        for encoding in content.encodings() {
            if !encodings.contains(&encoding) {
                encodings.push(encoding);
            }
        }
    }
    let group = |(format, rank): &(String, usize)| {
        let rank_suffix = if *rank == 0 { String::new() } else { format!("-{}", rank + 1) };
        let members =
            contents.iter().filter_map(|content| Some((content, content.nearest(format, *rank)?)));
        Group { id: format!("{id}-{format}{rank_suffix}"), members: members.collect() }
    };
    let mut groups: Vec<Group<'a>> = Vec::new();
    for group in encodings.iter().map(group) {
        // Where each content has a format of its own, one group has them all.
        if groups.iter().all(|other| !group.plays_the_same_as(other)) {
            groups.push(group);
        }
    }
    groups
}

impl<'a> Content<'a> {
    /// For each playlist, its format, and how many of this format are before it.
    fn encodings(&self) -> impl Iterator<Item = (String, usize)> {
        self.playlists.iter().enumerate().map(|(index, playlist)| {
            let format = format(playlist);
            let rank = self.playlists[..index]
                .iter()
                .filter(|other| self::format(other) == format)
                .count();
            (format, rank)
        })
    }

    /// The playlist of an encoding, or the last of this format, or the first.
    fn nearest(&self, format: &str, rank: usize) -> Option<&MediaPlaylist<'a>> {
        let of_format: Vec<_> =
            self.playlists.iter().filter(|playlist| self::format(playlist) == format).collect();
        of_format.get(rank).or(of_format.last()).copied().or(self.playlists.first())
    }

    pub(super) fn playlists(&self) -> impl Iterator<Item = &MediaPlaylist<'a>> {
        self.playlists.iter()
    }
}

/// The codec of an audio playlist, such as `mp4a`, and of other layouts than stereo the number of channels.
fn format(playlist: &MediaPlaylist<'_>) -> String {
    let track = playlist.track;
    let family = track.codecs.split('.').next().unwrap_or_default();
    match &track.media {
        Media::Audio(Audio { joc_complexity: Some(_), .. }) => format!("{family}-joc"),
        Media::Audio(Audio { channels, .. }) if *channels > 2 => format!("{family}-{channels}"),
        _ if family.is_empty() => "vtt".to_owned(),
        _ => family.to_owned(),
    }
}

/// `CHANNELS`: with objects, their number, which the complexity index is.
fn channels(audio: &Audio) -> String {
    match audio.joc_complexity {
        Some(objects) => format!("{objects}/JOC"),
        None => audio.channels.to_string(),
    }
}

/// What a viewer chooses by: the label, or else the language and what is special.
fn name(set: &SwitchingSet, kind: &str) -> String {
    if let Some(label) = &set.label {
        return label.clone();
    }
    let role = set.roles.iter().find_map(|role| match role {
        Role::Commentary => Some("commentary"),
        Role::ForcedSubtitle => Some("forced"),
        _ => None,
    });
    let special = set.accessibility.first().map(|whom| match whom {
        Accessibility::Captions => "captions",
        Accessibility::Sdh => "SDH",
        Accessibility::AudioDescription => "audio description",
    });
    let base = set.language.as_deref().unwrap_or(kind);
    special.or(role).map_or_else(|| base.to_owned(), |special| format!("{base} ({special})"))
}

fn is_forced(set: &SwitchingSet) -> bool {
    set.roles.contains(&Role::ForcedSubtitle)
}

/// `CHARACTERISTICS`: Uniform Type Identifiers of Apple.
fn characteristics(set: &SwitchingSet) -> Option<String> {
    let mut all: Vec<&str> = Vec::new();
    for whom in &set.accessibility {
        let more: &[_] = match whom {
            Accessibility::AudioDescription => &["public.accessibility.describes-video"],
            Accessibility::Captions => &["public.accessibility.transcribes-spoken-dialog"],
            Accessibility::Sdh => &[
                "public.accessibility.transcribes-spoken-dialog",
                "public.accessibility.describes-music-and-sound",
            ],
        };
        for characteristic in more {
            if !all.contains(characteristic) {
                all.push(characteristic);
            }
        }
    }
    (!all.is_empty()).then(|| all.join(","))
}
