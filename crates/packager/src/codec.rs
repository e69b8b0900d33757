//! The codecs whose tracks can be encrypted.

use lanelock_cenc::{
    Scheme,
    map::{Codec, Mapper},
};
use lanelock_mp4::{FourCc, SampleEntry, Track, TrackEncryption};

/// Whether tracks of a codec can be encrypted, by the code of its sample entry.
pub(crate) fn is_known(code: FourCc) -> bool {
    Codec::of_sample_entry(code.0).is_some()
}

/// Whether a track is text in MP4 (ISO/IEC 14496-30), which players take clear alone.
pub(crate) fn stays_clear(track: &Track) -> bool {
    let mut entries = track.entries.iter();
    let is_text = |format: FourCc| matches!(&format.0, b"wvtt" | b"stpp");
    !track.entries.is_empty() && entries.all(|entry| is_text(entry.format))
}

/// Those that [`is_known`] names, for messages.
pub(crate) fn known() -> String {
    let name = |(code, codec): &([u8; 4], Codec)| {
        let note = if codec.is_experimental() { " (experimental)" } else { "" };
        format!("{}{note}", FourCc(*code))
    };
    let codes: Vec<_> = Codec::SAMPLE_ENTRIES.iter().map(name).collect();
    match &codes[..] {
        [codes @ .., last] => format!("{} and {last}", codes.join(", ")),
        [] => String::new(),
    }
}

/// Whether the rules for a track's codec are experimental.
pub(crate) fn is_experimental(track: &Track) -> bool {
    let codec = |entry: &SampleEntry| Codec::of_sample_entry(entry.original_format.0);
    track.entries.iter().filter_map(codec).any(Codec::is_experimental)
}

/// What is to be said of a track that is protected by rules that are experimental.
pub(crate) fn notice_of_experiment(track: &Track) -> Option<String> {
    is_experimental(track).then(|| {
        format!(
            "experimental: the rules for {} were compared with few other programs, and may change; try              the players that are to play track {}",
            track.codec(),
            track.id
        )
    })
}

/// The rules for a sample entry.
pub(crate) fn mapper(entry: &SampleEntry) -> Result<Mapper, String> {
    let Some(codec) = Codec::of_sample_entry(entry.format.0) else {
        return Err(format!("the codec {} cannot be encrypted", entry.format));
    };
    let configuration = match codec.configuration().map(FourCc) {
        Some(kind) => {
            let config = entry.config.as_ref().filter(|config| config.kind == kind);
            &config.ok_or(format!("its sample entry has no {kind} box"))?.data[..]
        }
        None => &[],
    };
    codec.mapper(configuration).map_err(|error| format!("its codec configuration: {error}"))
}

/// Refuses schemes and patterns that the codec's binding does not have.
pub(crate) fn check(
    entry: &SampleEntry,
    scheme: Scheme,
    encryption: &TrackEncryption,
) -> Result<(), String> {
    let pattern = (encryption.crypt_blocks, encryption.skip_blocks);
    match Codec::of_sample_entry(entry.format.0) {
        Some(codec) if !codec.allows(scheme, pattern) => Err(format!(
            "{} is protected by cenc, or by cbcs with the pattern 1:9, 5:5 or 10:0; choose one of these",
            entry.format
        )),
        _ => Ok(()),
    }
}
