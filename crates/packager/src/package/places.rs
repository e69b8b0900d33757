//! Which tracks have a place in a stream.

use lanelock_cenc::map::Codec;
use lanelock_mp4::{FourCc, SampleEntry, Track, TrackKind};

use super::source::SourceTrack;

/// Whether a track is packaged; if not, why, and what to do.
pub(super) enum Place {
    Taken,
    /// Files have such tracks beside those of a stream: only one that is asked for is an error.
    LeftOut(String),
    Refused(String),
}

/// Whether a track has a place in a stream.
pub(super) fn of(source: &SourceTrack) -> Place {
    let (track, kind) = (source.track(), source.kind());
    if !matches!(kind, TrackKind::Video | TrackKind::Audio | TrackKind::Text) {
        return Place::LeftOut(
            "it is neither video, audio nor text, and has no place in a stream".into(),
        );
    }
    let mut codes = track.entries.iter().map(|entry| entry.original_format);
    let Some(code) = codes.find(|code| !is_taken(kind, *code)) else {
        return different_entries(track).map_or(Place::Taken, Place::Refused);
    };
    if kind == TrackKind::Text {
        let tracks = &source.file.movie().tracks[..source.index];
        let before = tracks.iter().filter(|track| track.kind() == kind).count();
        return Place::LeftOut(format!(
            "the texts of streams are wvtt and stpp, and players refuse {code}; if it has subtitles, make \
             WebVTT of them (ffmpeg -i IN -map 0:s:{before} OUT.vtt), and name that as an input"
        ));
    }
    if kind == TrackKind::Video && is_picture(track) && !source.file.movie().fragmented {
        return Place::LeftOut(format!(
            "it is one picture ({code}), such as a cover, and no video"
        ));
    }
    let encoder = if kind == TrackKind::Video { "-c:v libx264" } else { "-c:a aac" };
    Place::Refused(format!(
        "players of streams do not take its codec, {code}; encode it (ffmpeg -i IN -c copy {encoder} \
         OUT.mp4), or name the tracks to package (--track)"
    ))
}

/// Whether players of streams take a codec: those that can be encrypted, and those that are known clear,
/// such as DTS (ETSI TS 102 114, annex E, and TS 103 491). MPEG-4 Visual, PCM and codecs of production are not among them.
fn is_taken(kind: TrackKind, code: FourCc) -> bool {
    match (kind, Codec::of_sample_entry(code.0)) {
        (TrackKind::Text, _) => matches!(&code.0, b"wvtt" | b"stpp"),
        (TrackKind::Audio, Some(codec)) => codec.is_audio(),
        (TrackKind::Audio, None) => {
            matches!(&code.0, b"dtsc" | b"dtse" | b"dtsh" | b"dtsl" | b"dtsx")
        }
        (_, Some(codec)) => !codec.is_audio(),
        (_, None) => false,
    }
}

/// Whether a track is one picture, as the cover of a film or of an album.
fn is_picture(track: &Track) -> bool {
    // `objectTypeIndication` of ISO/IEC 14496-1: 6C and 6D are JPEG and PNG.
    let is_image = |entry: &SampleEntry| {
        matches!(&entry.original_format.0, b"jpeg" | b"mjpa" | b"mjpb" | b"png " | b"MPNG")
            || matches!(&entry.codec_string().to_uppercase()[..], "MP4V.6C" | "MP4V.6D")
    };
    track.sample_count() <= 1 && track.entries.iter().all(is_image)
}

/// What to say of sample entries that manifests and decoders would have to tell apart: they are told of
/// one (ISO/IEC 23000-19).
fn different_entries(track: &Track) -> Option<String> {
    let facts = |entry: &SampleEntry| {
        let mut facts = vec![entry.codec_string()];
        facts.extend(entry.video().map(|it| format!("{} x {} pixels", it.width, it.height)));
        facts.extend(entry.audio().map(|it| {
            let (rate, channels) = (it.sample_rate.unwrap_or(0), it.channels.unwrap_or(0));
            format!("{rate} Hz, {channels} channels")
        }));
        facts.join(", ")
    };
    let first = facts(track.entries.first()?);
    let mut others = track.entries.iter().map(facts).enumerate();
    let (index, other) = others.find(|(_, other)| *other != first)?;
    Some(format!(
        "its sample entries differ: number 1 is {first}, and number {} is {other}; a track of a stream is of \
         one kind (ISO/IEC 23000-19), so encode it anew (ffmpeg -i IN OUT.mp4), or package its parts \
         as streams of their own",
        index + 1
    ))
}
