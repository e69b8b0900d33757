//! Which key each track gets, and which tracks stay clear.

use std::fmt::Write as _;

use lanelock_mp4::{Movie, Track, TrackKind};

use crate::{
    EncryptOptions, Error, Key, KeyLine, Selector, TrackFacts, TrackFilter, codec, io::Input,
    selector::FILTER_RANK, track_facts::Measured,
};

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
/// decided upon, so that one more run is enough. What filters ask for is `measured` of the only track, or taken
/// from sample tables.
pub(crate) fn select<'o>(
    input: &Input<'_>,
    movie: &Movie,
    options: &'o EncryptOptions,
    purpose: Purpose,
    measured: Option<&Measured>,
) -> Result<Vec<Option<TrackKeys<'o>>>, Error> {
    if let Some(filter) = options.clear.iter().find(|s| matches!(s, Selector::Filter(_))) {
        return Err(Error::Options(format!(
            "{filter} is a filter, which selects tracks for keys and none to stay clear"
        )));
    }
    let filters = Filters::of(options);
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
        let key = key.map(|(rank, selector)| (rank, TrackKeys::of_selector(options, selector)));
        let clear = options.clear.iter().filter_map(rank).max();
        let most = clear.max(key.as_ref().map(|(rank, _)| *rank));
        let filtered = if codec::stays_clear(track) || most > Some(FILTER_RANK) {
            None
        } else {
            filters.keys(input, movie, track, measured)?
        };
        let key = filtered.map(|keys| (FILTER_RANK, keys)).or(key);
        let rank_of_key = key.as_ref().map(|(rank, _)| *rank);
        let key = match (rank_of_key, clear) {
            (Some(rank), Some(clear)) if rank == clear => {
                let reason = "it has a key and is to stay clear as well; give only one of the two";
                return Err(fail(input, track, reason.into()));
            }
            (_, Some(clear)) if rank_of_key.is_none_or(|rank| rank < clear) => {
                keys.push(None);
                continue;
            }
            // A key that is for it in particular is an error below.
            (rank, _) if codec::stays_clear(track) && rank.is_none_or(|rank| rank == 0) => {
                keys.push(None);
                continue;
            }
            _ => key,
        };
        if track.entries.iter().any(|entry| !codec::is_known(entry.format)) {
            open.unknown.push(track);
            // A key for this track in particular outranks `--clear other`.
            open.has_own_key |= rank_of_key.is_some_and(|rank| rank > 0);
        } else if key.is_none() {
            open.keyless.push(track);
        }
        keys.push(key.map(|(_, keys)| keys));
    }
    open.result(input, purpose)?;
    Ok(keys)
}

/// The filters among the selectors of keys.
struct Filters<'o> {
    all: Vec<(&'o TrackFilter, Vec<&'o KeyLine>)>,
}

impl<'o> Filters<'o> {
    fn of(options: &'o EncryptOptions) -> Self {
        let mut all: Vec<(&TrackFilter, Vec<&KeyLine>)> = Vec::new();
        for line in options.keys.entries() {
            let Selector::Filter(filter) = &line.selector else { continue };
            match all.last_mut().filter(|(last, _)| *last == filter) {
                Some((_, lines)) => lines.push(line),
                None => all.push((filter, vec![line])),
            }
        }
        Self { all }
    }

    /// The keys of a track by the filters that select it; none if none does.
    fn keys(
        &self,
        input: &Input<'_>,
        movie: &Movie,
        track: &Track,
        measured: Option<&Measured>,
    ) -> Result<Option<TrackKeys<'o>>, Error> {
        if self.all.is_empty() {
            return Ok(None);
        }
        let facts = TrackFacts::of(
            track,
            match measured {
                Some(measured) => measured.clone(),
                None => Measured::of_tables(input, movie, track)?,
            },
        );
        let mut lines: Vec<&KeyLine> = Vec::new();
        for (filter, of_filter) in &self.all {
            let selects = filter.selects(&facts).map_err(|reason| {
                let hint = if measured.is_some() { "" } else { UNKNOWN };
                fail(input, track, format!("{} cannot be used: {reason}{hint}", filter.name()))
            })?;
            if selects {
                lines.extend(of_filter);
            }
        }
        // Those for all time come first.
        lines.sort_by_key(|line| line.period);
        for (number, other) in lines.iter().enumerate().skip(1) {
            let is_constant = lines[0].period.is_none();
            let one = if is_constant { lines[0] } else { lines[number - 1] };
            if (is_constant || one.period == other.period) && one.key != other.key {
                let at = other.period.map_or_else(String::new, |n| format!(" in key period {n}"));
                let reason = format!(
                    "{} and {} give it different keys{at}, and a track has one key at a time; change one of \
                     the two, so that it does not match this track",
                    one.selector, other.selector
                );
                return Err(fail(input, track, reason));
            }
        }
        if lines.first().is_some_and(|line| line.period.is_none()) {
            // All that meet a key for all time are that key.
            lines.truncate(1);
        }
        lines.dedup_by_key(|line| line.period);
        Ok((!lines.is_empty()).then_some(TrackKeys { lines }))
    }
}

/// What to do where a filter asks for what is not known.
const UNKNOWN: &str = "; bit rate and frame rate are known of progressive files before they are encrypted, and labels \
    of the tracks of a package (lanelock package); or choose keys by --key and --key-file";

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
