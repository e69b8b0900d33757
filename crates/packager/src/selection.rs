//! Which key each track gets, and which tracks stay clear.

use std::fmt::Write as _;

use lanelock_mp4::{Movie, Track, TrackKind};

use crate::{EncryptOptions, Error, Key, KeyLine, Selector, codec, io::Input};

/// What is done to the tracks: an error names its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Encrypt,
    /// Clear tracks stay clear, and encrypted ones must not become so.
    Rewrap,
}

/// The keys of a track: one for all time, or one for each of some key periods, in order.
#[derive(Clone, Debug)]
pub(crate) struct TrackKeys<'o> {
    lines: Vec<&'o KeyLine>,
}

impl<'o> TrackKeys<'o> {
    /// Those with this selector.
    fn of_selector(options: &'o EncryptOptions, selector: &Selector) -> Self {
        let lines = options.keys.entries().filter(|line| line.selector == *selector);
        let mut lines: Vec<_> = lines.collect();
        lines.sort_by_key(|line| line.period);
        Self { lines }
    }

    /// The keys with the periods that they are for.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Option<u32>, &'o Key)> {
        self.lines.iter().map(|line| (line.period, &line.key))
    }
}

/// The keys of each track, or none if it is to stay clear. An error names every track that has to be
/// decided upon, so that one more run is enough.
pub(crate) fn select<'o>(
    input: &Input<'_>,
    movie: &Movie,
    options: &'o EncryptOptions,
    purpose: Purpose,
) -> Result<Vec<Option<TrackKeys<'o>>>, Error> {
    let mut keys = Vec::with_capacity(movie.tracks.len());
    let mut open = Undecided { scheme: options.scheme.to_string(), ..Undecided::default() };
    for track in &movie.tracks {
        if track.is_protected() {
            let reason = "it is encrypted already; decrypt it first (lanelock decrypt)";
            return Err(fail(input, track, reason.into()));
        }
        let rank = |selector: &Selector| selector.rank(track, &options.picture_limits);
        let key = options
            .keys
            .entries()
            .filter_map(|line| Some((rank(&line.selector)?, &line.selector)))
            .max_by_key(|(rank, _)| *rank);
        let clear = options.clear.iter().filter_map(rank).max();
        let key = match (key, clear) {
            (Some((rank, _)), Some(clear)) if rank == clear => {
                let reason = "it has a key and is to stay clear as well; give only one of the two";
                return Err(fail(input, track, reason.into()));
            }
            (_, Some(clear)) if key.is_none_or(|(rank, _)| rank < clear) => {
                keys.push(None);
                continue;
            }
            // A key that is for it in particular is an error below.
            (key, _) if codec::stays_clear(track) && key.is_none_or(|(rank, _)| rank == 0) => {
                keys.push(None);
                continue;
            }
            (key, _) => key,
        };
        if track.entries.iter().any(|entry| !codec::is_known(entry.format)) {
            open.unknown.push(track);
            // A key for this track in particular outranks `--clear other`.
            open.has_own_key |= key.is_some_and(|(rank, _)| rank > 0);
        } else if key.is_none() {
            open.keyless.push(track);
        }
        keys.push(key.map(|(_, selector)| TrackKeys::of_selector(options, selector)));
    }
    open.result(input, purpose)?;
    Ok(keys)
}

/// What is to be said of text that stays clear without having been named.
pub(crate) fn notice_of_text(track: &Track, options: &EncryptOptions) -> Option<String> {
    let is_named = options
        .clear
        .iter()
        .any(|selector| selector.rank(track, &options.picture_limits).is_some());
    (codec::stays_clear(track) && !is_named).then(|| {
        format!(
            "track {} ({}) stays clear: players take text in MP4 so (--clear {} says that it is meant)",
            track.id,
            track.codec(),
            track.id
        )
    })
}

/// The tracks of which it is not said what is to be done.
#[derive(Default)]
struct Undecided<'m> {
    /// The codec is known, and there is no key.
    keyless: Vec<&'m Track>,
    /// The codec has no rules.
    unknown: Vec<&'m Track>,
    has_own_key: bool,
    scheme: String,
}

impl Undecided<'_> {
    fn result(&self, input: &Input<'_>, purpose: Purpose) -> Result<(), Error> {
        let encrypt = purpose == Purpose::Encrypt;
        match (&self.keyless[..], &self.unknown[..]) {
            ([], []) => Ok(()),
            ([track], []) => {
                let kind = kind(track);
                let reason = if encrypt {
                    format!(
                        "there is no key for it; add --key {kind}=KID:KEY, or leave it clear with \
                         --clear {kind}"
                    )
                } else {
                    format!("there is no new key for it; add --to-key {kind}=KID:KEY")
                };
                Err(fail(input, track, reason))
            }
            ([], [track]) => Err(fail(input, track, self.no_rules(track, encrypt))),
            _ => Err(input.unsuitable(self.several(encrypt))),
        }
    }

    fn no_rules(&self, track: &Track, encrypt: bool) -> String {
        let Self { scheme, .. } = self;
        let (codec, id, known) = (track.codec(), track.id, codec::known());
        match (is_media(track), encrypt) {
            (true, true) => format!(
                "the codec {codec} cannot be encrypted with {scheme} yet, only {known}; leave the \
                 track clear with --clear {id}, or take it out"
            ),
            (false, true) => {
                format!("a track like this cannot be encrypted; leave it clear with --clear {id}")
            }
            (_, false) => {
                format!("the codec {codec} cannot be encrypted with {scheme} yet, only {known}")
            }
        }
    }

    fn several(&self, encrypt: bool) -> String {
        let Self { keyless, unknown, .. } = self;
        let (mut what, mut todo) = (Vec::new(), Vec::new());
        if !keyless.is_empty() {
            let verb = if keyless.len() == 1 { "has" } else { "have" };
            let new = if encrypt { "" } else { "new " };
            what.push(format!("{} {verb} no {new}key", names(keyless)));
            let mut kinds: Vec<_> = keyless.iter().map(|track| kind(track)).collect();
            kinds.sort_unstable();
            kinds.dedup();
            let option = if encrypt { "--key" } else { "--to-key" };
            let keys = list(kinds.iter().map(|kind| format!("{option} {kind}=KID:KEY")));
            todo.push(if encrypt {
                let clear = list(kinds.iter().map(|kind| format!("--clear {kind}")));
                format!("add {keys}, or {clear}")
            } else {
                format!("add {keys}")
            });
        }
        if !unknown.is_empty() {
            what.push(format!("{} cannot be encrypted", names(unknown)));
            if encrypt {
                let media = unknown.iter().any(|track| is_media(track));
                let clear = if media || self.has_own_key || unknown.len() == 1 {
                    list(unknown.iter().map(|track| format!("--clear {}", track.id)))
                } else {
                    "--clear other".into()
                };
                todo.push(format!("leave clear what cannot be encrypted: {clear}"));
            }
        }
        let mut text = what.join(", ");
        if !todo.is_empty() {
            let _ = write!(text, "; {}", todo.join("; "));
        }
        text
    }
}

/// The error of a track.
pub(crate) fn fail(input: &Input<'_>, track: &Track, reason: String) -> Error {
    Error::Track { name: input.name.clone(), track: track.id, codec: track.codec(), reason }
}

/// `track 1 (avc1)`, `tracks 1 (avc1) and 2 (mp4a)`.
pub(crate) fn names(tracks: &[&Track]) -> String {
    let name = |track: &&Track| format!("{} ({})", track.id, track.codec());
    match tracks {
        [track] => format!("track {}", name(track)),
        [tracks @ .., last] if tracks.len() < MOST_NAMED => {
            let tracks: Vec<_> = tracks.iter().map(name).collect();
            format!("tracks {} and {}", tracks.join(", "), name(last))
        }
        _ => format!("{} tracks", tracks.len()),
    }
}

/// Options, as many as a message lists.
fn list(options: impl Iterator<Item = String>) -> String {
    let mut options: Vec<_> = options.take(MOST_NAMED + 1).collect();
    if options.len() > MOST_NAMED {
        options[MOST_NAMED] = "...".into();
    }
    options.join(" ")
}

/// The most tracks that a message lists.
const MOST_NAMED: usize = 20;

/// The selector that an error offers.
fn kind(track: &Track) -> String {
    match track.kind() {
        TrackKind::Video => "video".into(),
        TrackKind::Audio => "audio".into(),
        _ => track.id.to_string(),
    }
}

fn is_media(track: &Track) -> bool {
    matches!(track.kind(), TrackKind::Video | TrackKind::Audio)
}
