//! Every entry at every level against the portable one, in buffers of exactly the length. `make long`
//! runs this under valgrind, which finds what is read beyond them, or before it was written, and
//! tries all lengths.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "tests")]

#[path = "support/entries.rs"]
mod entries;
mod support;

use entries::{Buffers, ENTRIES, Run, lengths};
use lanelock::AesLevel;
use lanelock_isa::Policy;
use lanelock_testkit::pattern;
use support::levels;

/// What an entry leaves in its buffers.
fn run(entry: Run, level: AesLevel, length: usize) -> (Vec<u8>, [u8; 16]) {
    let (mut data, mut tag) = (pattern(length).into_boxed_slice(), [0; 16]);
    let aad = pattern(length % 37).into_boxed_slice();
    entry(level, Buffers { data: &mut data, aad: &aad, nonce: &[7; 12], tag: &mut tag });
    (data.into_vec(), tag)
}

#[test]
fn every_level_is_the_portable_one() {
    let portable = "portable".parse::<AesLevel>().unwrap();
    let levels = levels();
    let mut compared = 0;
    for &(name, entry) in ENTRIES {
        for length in lengths() {
            let run = |level, slow| Policy::with_slow_products(slow, || run(entry, level, length));
            let expected = run(portable, false);
            // The hash of GCM has two forms of products, of which each processor takes one.
            let is_hash =
                ["GCM", "GMAC", "GHASH", "POLYVAL"].iter().any(|hash| name.contains(hash));
            let forms = if is_hash { &[false, true][..] } else { &[false] };
            for (&level, &slow) in
                levels.iter().flat_map(|level| forms.iter().map(move |slow| (level, slow)))
            {
                assert!(run(level, slow) == expected, "{level} {name}, {slow}: {length} bytes");
                compared += 1;
            }
        }
    }
    eprintln!("{compared} comparisons at {levels:?}");
}
