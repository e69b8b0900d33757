//! Every entry at every level against the portable one, in buffers of exactly the length. `make long`
//! runs this under valgrind, which finds what is read beyond them, or before it was written, and
//! tries all lengths.

use crate::support::entries::{Buffers, ENTRIES, Run, lengths};
use crate::support::forms;
use lanelock::AesLevel;
use lanelock_testkit::pattern;

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
    let forms = forms();
    let mut compared = 0;
    for &(name, entry) in ENTRIES {
        for length in lengths() {
            let expected = run(entry, portable, length);
            for &level in &forms {
                assert!(run(entry, level, length) == expected, "{level} {name}: {length} bytes");
                compared += 1;
            }
        }
    }
    eprintln!("{compared} comparisons at {forms:?}");
}
