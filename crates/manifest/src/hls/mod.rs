//! HLS: playlists (RFC 8216bis; sections by draft-pantos-hls-rfc8216bis).

mod given;
mod keys;
mod media;
mod rate;
mod renditions;
mod tag;

use std::collections::BTreeSet;

use lanelock_mp4::FourCc;

use crate::{Error, Media, Presentation, SwitchingSet, Track, Video, VideoRange, check};
use keys::KeyWay;
use media::MediaPlaylist;
use rate::Rate;
use renditions::{Content, Group, contents, groups};
use tag::Tag;

/// How playlists are written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HlsOptions {
    /// Name of the multivariant playlist.
    pub name: String,
    /// Leaves out the tracks that another scheme protects, so that each scheme can have a multivariant playlist:
    /// a player may have `cbcs` or `cenc` alone, and EXT-X-STREAM-INF does not say which a variant takes. Default
    /// none: all tracks are there.
    pub scheme: Option<FourCc>,
}

impl Default for HlsOptions {
    fn default() -> Self {
        Self { name: "main.m3u8".into(), scheme: None }
    }
}

impl HlsOptions {
    /// With a name of the multivariant playlist.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// With the tracks of one scheme, and those that are clear.
    #[must_use]
    pub fn with_scheme(self, scheme: Option<FourCc>) -> Self {
        Self { scheme, ..self }
    }

    /// Whether a track is in the playlists.
    fn has(&self, track: &Track) -> bool {
        let scheme = track.first_protection().map(|protection| protection.scheme);
        track.used_by.hls() && (self.scheme.is_none() || scheme.is_none() || scheme == self.scheme)
    }
}

/// Writes the playlists of a presentation: the multivariant playlist, `NAME.m3u8` of each track, and
/// `NAME-iframes.m3u8` of each video track whose key frames are known. They are names and texts of files that
/// belong beside one another, where the paths of the presentation start.
///
/// # Errors
/// If the presentation cannot be expressed: [`Error`] names the track and what to do.
pub fn hls(
    presentation: &Presentation,
    options: &HlsOptions,
) -> Result<Vec<(String, String)>, Error> {
    check::presentation(presentation)?;
    if options.name.is_empty() || options.name.contains(['/', '\\']) {
        return Err(Error::Text {
            what: "the name of the multivariant playlist".into(),
            text: options.name.clone(),
            reason: "it must be the name of a file: its place is beside the other playlists",
        });
    }
    // Sets of key frames are for DASH: here, ordinary segments are read in part.
    let of_kind = |kind: &str| -> Vec<(&SwitchingSet, Vec<&Track>)> {
        let sets = presentation.sets.iter().filter(|set| set.trick_play_of.is_none());
        let sets = sets.map(|set| {
            let tracks = set.tracks.iter().filter(|t| options.has(t) && t.media.name() == kind);
            (set, tracks.collect())
        });
        sets.filter(|(_, tracks): &(_, Vec<_>)| !tracks.is_empty()).collect()
    };
    let (videos, audios, texts) = (of_kind("video"), of_kind("audio"), of_kind("text"));
    if videos.is_empty() && audios.is_empty() {
        return Err(Error::Nothing { what: "video or audio track", manifest: "HLS" });
    }
    // All variants and renditions have the same target duration, but subtitles (6.2.4).
    let tracks: Vec<&Track> =
        videos.iter().chain(&audios).flat_map(|(_, tracks)| tracks.iter().copied()).collect();
    let target = media::target(&tracks);
    let mut video = Vec::new();
    let mut key_frames = Vec::new();
    for track in videos.into_iter().flat_map(|(_, tracks)| tracks) {
        video.push(MediaPlaylist::of_segments(track, target)?);
        key_frames.extend(MediaPlaylist::of_key_frames(track)?);
    }
    let mut audio = Vec::new();
    for (set, tracks) in audios {
        let playlists = tracks.into_iter().map(|track| MediaPlaylist::of_segments(track, target));
        audio.push((set, playlists.collect::<Result<Vec<_>, _>>()?));
    }
    let mut text = Vec::new();
    for (set, tracks) in texts {
        let playlists = tracks
            .into_iter()
            .map(|track| MediaPlaylist::of_segments(track, media::target(&[track])));
        text.push((set, playlists.collect::<Result<Vec<_>, _>>()?));
    }
    let audio = contents(audio, "Audio", true);
    let text = contents(text, "Subtitles", false);
    let main = multivariant(&video, &key_frames, &audio, &text)?;

    let renditions = audio.iter().chain(&text).flat_map(Content::playlists);
    let media = video.iter().chain(&key_frames).chain(renditions);
    let mut files = vec![(options.name.clone(), main)];
    files.extend(media.map(|playlist| (playlist.name.clone(), playlist.text.clone())));
    let mut names = BTreeSet::new();
    match files.iter().find(|(name, _)| !names.insert(name)) {
        Some((name, _)) => Err(Error::Text {
            what: "the name of a playlist".into(),
            text: name.clone(),
            reason: "another one has it; give the track or the multivariant playlist another name",
        }),
        None => Ok(files),
    }
}

fn multivariant(
    video: &[MediaPlaylist<'_>],
    key_frames: &[MediaPlaylist<'_>],
    audio: &[Content<'_>],
    text: &[Content<'_>],
) -> Result<String, Error> {
    // Version 6 is what its media playlists need: who cannot read them should not begin.
    let mut lines: Vec<String> = ["#EXTM3U", "#EXT-X-VERSION:6"].map(str::to_owned).into();
    // RFC 8216bis, 4.4.2.1: all samples of a segment can be decoded without others.
    if video.iter().all(|playlist| playlist.track.sap_type < 3) {
        lines.push("#EXT-X-INDEPENDENT-SEGMENTS".into());
    }
    let renditions = audio.iter().chain(text).flat_map(Content::playlists);
    let mut session: Vec<KeyWay> = Vec::new();
    for playlist in video.iter().chain(renditions) {
        for way in
            keys::spans("EXT-X-SESSION-KEY", playlist.track)?.into_iter().flat_map(|span| span.1)
        {
            if !session.iter().any(|other| other.is_same(&way)) {
                session.push(way);
            }
        }
    }
    lines.extend(session.into_iter().map(|way| way.line));
    let audio = groups(audio, "audio");
    let subtitles = groups(text, "text");
    for group in &audio {
        lines.extend(group.tags("AUDIO")?);
    }
    for group in &subtitles {
        lines.extend(group.tags("SUBTITLES")?);
    }
    for variant in variants(video, &audio, &subtitles) {
        lines.extend([variant.tag()?, variant.playlist.name.clone()]);
    }
    for playlist in key_frames {
        let tag = Tag::new("EXT-X-I-FRAME-STREAM-INF")
            .word("BANDWIDTH", playlist.rate.peak)
            .word("AVERAGE-BANDWIDTH", playlist.rate.average)
            .quoted("CODECS", &playlist.track.codecs)?;
        lines.push(picture(tag, playlist).quoted("URI", &playlist.name)?.into_line());
    }
    Ok(lines.join("\n") + "\n")
}

/// What a player chooses by bit rate: a video, or without any an audio playlist, and what it is played with.
struct Variant<'a> {
    playlist: &'a MediaPlaylist<'a>,
    audio: Option<&'a Group<'a>>,
    subtitles: Option<&'a Group<'a>>,
}

/// Each video with each group of audio and of subtitles.
fn variants<'a>(
    video: &'a [MediaPlaylist<'a>],
    audio: &'a [Group<'a>],
    subtitles: &'a [Group<'a>],
) -> Vec<Variant<'a>> {
    let or_none = |groups: &'a [Group<'a>]| -> Vec<Option<&'a Group<'a>>> {
        if groups.is_empty() { vec![None] } else { groups.iter().map(Some).collect() }
    };
    let mut variants = Vec::new();
    for subtitles in or_none(subtitles) {
        for audio in or_none(audio) {
            let of_audio = if video.is_empty() { audio.and_then(Group::first) } else { None };
            let playlists = video.iter().chain(of_audio);
            variants.extend(playlists.map(|playlist| Variant { playlist, audio, subtitles }));
        }
    }
    variants
}

impl Variant<'_> {
    fn tag(&self) -> Result<String, Error> {
        let is_video = matches!(self.playlist.track.media, Media::Video(_));
        let groups = [self.audio, self.subtitles];
        let groups = || groups.into_iter().flatten();
        // The largest of any playable combination (4.4.6.2). A variant of audio is a member of its group itself.
        let alone = if is_video { self.playlist.rate } else { Rate::default() };
        let rate = groups().fold(alone, |rate, group| rate.plus(group.rate()));
        let mut codecs: Vec<&str> = vec![&self.playlist.track.codecs];
        for codec in groups().flat_map(Group::codecs) {
            if !codecs.contains(&codec) {
                codecs.push(codec);
            }
        }
        let tag = Tag::new("EXT-X-STREAM-INF")
            .word("BANDWIDTH", rate.peak)
            .word("AVERAGE-BANDWIDTH", rate.average)
            .quoted("CODECS", &codecs.join(","))?;
        let mut tag = picture(tag, self.playlist);
        if let Media::Video(Video { frame_rate: Some((frames, seconds)), .. }) =
            self.playlist.track.media
        {
            let seconds = u64::from(seconds.max(1));
            let thousandths = (u64::from(frames) * 1000 + seconds / 2) / seconds;
            tag = tag.word(
                "FRAME-RATE",
                format_args!("{}.{:03}", thousandths / 1000, thousandths % 1000),
            );
        }
        tag = tag
            .optional("AUDIO", self.audio.map(|group| group.id.as_str()))?
            .optional("SUBTITLES", self.subtitles.map(|group| group.id.as_str()))?;
        Ok(tag.word("CLOSED-CAPTIONS", "NONE").into_line())
    }
}

/// `RESOLUTION` and `VIDEO-RANGE` of video.
fn picture(tag: Tag, playlist: &MediaPlaylist<'_>) -> Tag {
    let Media::Video(video) = &playlist.track.media else { return tag };
    let range = match video.range {
        VideoRange::Sdr => "SDR",
        VideoRange::Hlg => "HLG",
        VideoRange::Pq => "PQ",
    };
    // The size to display it at (RFC 8216bis, 4.4.6.2): pixels that are not square make it wider or narrower.
    let (x, y) = video.pixel_aspect_ratio;
    let width = u64::from(video.width) * u64::from(x) / u64::from(y.max(1));
    tag.word("RESOLUTION", format_args!("{}x{}", width.max(1), video.height))
        .word("VIDEO-RANGE", range)
}
