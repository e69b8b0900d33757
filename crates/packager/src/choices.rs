//! Choices that make no difference to an input.

use lanelock_mp4::{Movie, Track};

use crate::{
    Choice, DecryptOptions, EncryptOptions, Error, IndexPolicy, Layout, Selector, selection::names,
    selector::PictureLimits,
};

/// The choices for encryption that make no difference to a movie; an error if one of them must.
pub(crate) fn of_encryption(movie: &Movie, options: &EncryptOptions) -> Result<Vec<Choice>, Error> {
    let mut keys: Vec<&Selector> = Vec::new();
    for line in options.keys.entries() {
        // The rules of a document are for all tracks of its content, of which a file has some.
        let is_filter = matches!(line.selector, Selector::Filter(_));
        if !is_filter && !keys.contains(&&line.selector) {
            keys.push(&line.selector);
        }
    }
    let limits = &options.picture_limits;
    let clear: Vec<&Selector> = options.clear.iter().collect();
    let idle = |selectors: &[&Selector], opposite: &[&Selector]| -> Vec<Selector> {
        let idle = selectors.iter().filter(|selector| is_idle(selector, movie, opposite, limits));
        idle.copied().cloned().collect()
    };
    // A key for more tracks than it is used for is in order.
    let mut unused: Vec<_> = idle(&keys, &[]).into_iter().map(Choice::Key).collect();
    unused.extend(idle(&clear, &keys).into_iter().map(Choice::Clear));
    let keeps = options.layout == Layout::Keep;
    if movie.fragmented || keeps {
        unused.push(Choice::FragmentDuration);
    }
    if !movie.fragmented && keeps && options.index == IndexPolicy::Build {
        unused.push(Choice::Index);
    }
    check(movie, &options.must_apply, &unused, limits)?;
    Ok(unused)
}

/// Whether a selector decides about no track: it selects none, or others that say the opposite are more
/// particular about each. Equal ones are an error of the track.
fn is_idle(
    selector: &Selector,
    movie: &Movie,
    opposite: &[&Selector],
    limits: &PictureLimits,
) -> bool {
    movie.tracks.iter().all(|track| {
        let most = opposite.iter().filter_map(|other| other.rank(track, limits)).max();
        selector.rank(track, limits).is_none_or(|rank| most.is_some_and(|most| rank < most))
    })
}

/// The same for decryption.
pub(crate) fn of_decryption(movie: &Movie, options: &DecryptOptions) -> Result<Vec<Choice>, Error> {
    let no_index = !movie.fragmented && options.index == IndexPolicy::Build;
    let unused: Vec<_> = no_index.then_some(Choice::Index).into_iter().collect();
    check(movie, &options.must_apply, &unused, &PictureLimits::default())?;
    Ok(unused)
}

fn check(
    movie: &Movie,
    must_apply: &[Choice],
    unused: &[Choice],
    limits: &PictureLimits,
) -> Result<(), Error> {
    match must_apply.iter().find(|choice| unused.contains(choice)) {
        Some(choice) => Err(Error::Options(reason(choice, movie, limits))),
        None => Ok(()),
    }
}

/// Why a choice makes no difference, and what to do.
fn reason(choice: &Choice, movie: &Movie, limits: &PictureLimits) -> String {
    let tracks = || names(&movie.tracks.iter().collect::<Vec<&Track>>());
    let selects = |selector: &Selector| {
        movie.tracks.iter().any(|track| selector.rank(track, limits).is_some())
    };
    match choice {
        Choice::Clear(selector) if selects(selector) => format!(
            "--clear {selector} has no effect, since keys name its tracks more particularly; leave \
             one of the two out"
        ),
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
