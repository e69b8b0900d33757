//! Choices that make no difference to an input.

use lanelock_mp4::{Movie, Track};

use crate::{
    Choice, DecryptOptions, EncryptOptions, Error, IndexPolicy, Layout, Selector, selection::names,
};

/// The choices for encryption that make no difference to a movie; an error if one of them must.
pub(crate) fn of_encryption(movie: &Movie, options: &EncryptOptions) -> Result<Vec<Choice>, Error> {
    let idle =
        |selector: &&Selector| movie.tracks.iter().all(|track| selector.rank(track).is_none());
    let keys = options.keys.entries().map(|(selector, _)| selector);
    let mut unused: Vec<_> = keys.filter(idle).cloned().map(Choice::Key).collect();
    unused.extend(options.clear.iter().filter(idle).cloned().map(Choice::Clear));
    let keeps = options.layout == Layout::Keep;
    if movie.fragmented || keeps {
        unused.push(Choice::FragmentDuration);
    }
    if !movie.fragmented && keeps && options.index == IndexPolicy::Build {
        unused.push(Choice::Index);
    }
    check(movie, &options.must_apply, &unused)?;
    Ok(unused)
}

/// The same for decryption.
pub(crate) fn of_decryption(movie: &Movie, options: &DecryptOptions) -> Result<Vec<Choice>, Error> {
    let no_index = !movie.fragmented && options.index == IndexPolicy::Build;
    let unused: Vec<_> = no_index.then_some(Choice::Index).into_iter().collect();
    check(movie, &options.must_apply, &unused)?;
    Ok(unused)
}

fn check(movie: &Movie, must_apply: &[Choice], unused: &[Choice]) -> Result<(), Error> {
    match must_apply.iter().find(|choice| unused.contains(choice)) {
        Some(choice) => Err(Error::Options(reason(choice, movie))),
        None => Ok(()),
    }
}

/// Why a choice makes no difference, and what to do.
fn reason(choice: &Choice, movie: &Movie) -> String {
    let tracks = || names(&movie.tracks.iter().collect::<Vec<&Track>>());
    match choice {
        Choice::Key(selector) => {
            format!("the key for {selector} selects no track; the input has {}", tracks())
        }
        Choice::Clear(selector) => {
            format!("--clear {selector} selects no track; the input has {}", tracks())
        }
        Choice::FragmentDuration => {
            "a fragment duration has no effect on an input whose fragments are kept; leave out \
             --fragment-duration"
                .into()
        }
        Choice::Index => {
            "no index can be built for a progressive output; leave out --sidx build".into()
        }
    }
}
