//! Choices that make no difference to an input.

use lanelock_mp4::{Movie, Track};

use crate::{Choice, EncryptOptions, IndexPolicy, Layout, Selector, selection::names};

/// The choices of the options that make no difference to the movie.
pub(super) fn unused(movie: &Movie, options: &EncryptOptions) -> Vec<Choice> {
    let idle =
        |selector: &&Selector| movie.tracks.iter().all(|track| selector.rank(track).is_none());
    let keys = options.keys.entries().map(|(selector, _)| selector);
    let mut unused: Vec<_> = keys.filter(idle).cloned().map(Choice::Key).collect();
    unused.extend(options.clear.iter().filter(idle).cloned().map(Choice::Clear));
    let keeps = movie.fragmented || options.layout == Layout::Keep;
    if keeps {
        unused.push(Choice::FragmentDuration);
    }
    if !movie.fragmented && keeps && options.index == IndexPolicy::Build {
        unused.push(Choice::Index);
    }
    unused
}

/// Why a choice makes no difference, and what to do.
pub(super) fn reason(choice: &Choice, movie: &Movie) -> String {
    let tracks = || names(&movie.tracks.iter().collect::<Vec<&Track>>());
    match choice {
        Choice::Key(selector) => {
            format!("the key for {selector} selects no track; it has {}", tracks())
        }
        Choice::Clear(selector) => {
            format!("--clear {selector} selects no track; it has {}", tracks())
        }
        Choice::FragmentDuration => {
            "it keeps the fragments that it has, so a fragment duration has no effect; leave out \
             --fragment-duration"
                .into()
        }
        Choice::Index => {
            "it stays progressive, so no index can be built; leave out --sidx build".into()
        }
    }
}
