//! Secrets followed by valgrind's memcheck, which was written to follow undefined values: keys, texts and the
//! tags computed of them are marked as undefined, and every branch and every address that depends on one of
//! them is an error (A. Langley, "ctgrind", 2010).
//!
//! What may be known is declassified by the engine in one place, `lanelock_core::public`, and results here,
//! by [`carried`].

mod hashes;
mod operations;
mod pubkey;
mod records;

use std::hint::black_box;

use lanelock::{
    AesLevel,
    aead::{Aead, Aes128Gcm},
    hash::Levels,
};

use lanelock_isa::LimbLevel;

use crate::{Options, client, planted, skip_missing_levels};
use operations::OPERATIONS;

/// How much of an operation is tried.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    short: bool,
}

impl Extent {
    /// Lengths of texts: around blocks, vectors and groups of them at each level.
    fn lengths(self) -> &'static [usize] {
        if self.short {
            &[0, 17, 257]
        } else {
            &[0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 100, 127, 129, 255, 256, 257, 511, 513, 1041]
        }
    }

    /// Places of the wrong byte in so many: all, or first and last.
    fn places(self, bytes: usize) -> impl Iterator<Item = usize> {
        (0..bytes).filter(move |&place| !self.short || place == 0 || place + 1 == bytes)
    }
}

/// Runs the operations at the levels that valgrind has. Whether all was as it should be.
pub(crate) fn run(options: &Options) -> bool {
    if !client::running() || !cfg!(lanelock_ct) {
        println!("needs valgrind, and a build with --cfg lanelock_ct: see tools/ct");
        return false;
    }
    let mut passed = self_test();
    declassify();
    let extent = Extent { short: options.short };
    for level in AesLevel::available().into_iter().flat_map(AesLevel::forms) {
        for (name, operation) in OPERATIONS {
            if !options.chosen(name, level.name()) {
                continue;
            }
            let errors = errors_of(|| operation(level, extent));
            let result = if errors == 0 { "clean" } else { "LEAK" };
            println!("{name}|{level}|taint|{result}|-|-");
            passed &= errors == 0;
        }
    }
    for levels in Levels::available() {
        for (name, operation) in hashes::OPERATIONS.iter().chain(records::OPERATIONS) {
            if !options.chosen(name, &format!("{} {}", levels.lanes, levels.one)) {
                continue;
            }
            let errors = errors_of(|| operation(levels, extent));
            let result = if errors == 0 { "clean" } else { "LEAK" };
            println!("{name}|{} {}|taint|{result}|-|-", levels.lanes, levels.one);
            passed &= errors == 0;
        }
    }
    for level in LimbLevel::available() {
        for (name, operation) in pubkey::OPERATIONS {
            if !options.chosen(name, level.name()) {
                continue;
            }
            let errors = errors_of(|| operation(level, extent));
            let result = if errors == 0 { "clean" } else { "LEAK" };
            println!("{name}|{level}|taint|{result}|-|-");
            passed &= errors == 0;
        }
    }
    skip_missing_levels("taint", "valgrind does not have it");
    passed
}

/// Has the engine tell memcheck what is public, from here on.
fn declassify() {
    #[cfg(lanelock_ct)]
    let _ = lanelock_core::parts::DECLASSIFY.set(|value| {
        let mut bytes = value.to_ne_bytes();
        client::reveal(&mut bytes);
        *value = usize::from_ne_bytes(bytes);
    });
}

/// Errors that memcheck finds in `work`.
fn errors_of(work: impl FnOnce()) -> usize {
    let before = client::errors();
    work();
    client::errors() - before
}

/// Whether planted leaks are found, and nothing where there is none. One of the leaks is the engine's own: that it
/// refuses a forgery, as long as nobody has said that this is public.
fn self_test() -> bool {
    let gcm = Aes128Gcm::with_level(&secret(), AesLevel::fastest());
    let (key, tag): ([u8; 16], [u8; 16]) = (secret(), [0; 16]);
    let table = planted::table();
    let trials: [(&str, bool, &dyn Fn()); 5] = [
        ("self-test: planted comparison", true, &|| {
            black_box(planted::compare_until_different(&key, &tag));
        }),
        ("self-test: planted look-up", true, &|| {
            black_box(planted::look_up(&table, &key));
        }),
        ("self-test: planted branch", true, &|| {
            black_box(planted::branch_on_bit(&key));
        }),
        ("self-test: verdict that is not public", true, &|| {
            let _ = black_box(gcm.open(&[1; 12], b"", &mut [2; 16], &tag));
        }),
        ("self-test: control", false, &|| {
            let mut result = [black_box(planted::compare_all(&key, &tag))];
            carried(&mut result);
        }),
    ];
    let mut passed = true;
    for (name, leaks, trial) in trials {
        let found = errors_of(trial) > 0;
        let result = match (leaks, found) {
            (true, true) => "found",
            (true, false) => "NOT FOUND",
            (false, false) => "clean",
            (false, true) => "LEAK",
        };
        println!("{name}|-|taint|{result}|-|-");
        passed &= found == leaks;
    }
    passed
}

/// A key, or something else that nobody may know.
fn secret<const N: usize>() -> [u8; N] {
    let mut bytes = black_box(std::array::from_fn(|at| (at * 7 + 1).to_le_bytes()[0]));
    client::hide(&mut bytes);
    bytes
}

/// A text that nobody may know.
fn secret_text(length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..=250).cycle().take(length).collect();
    client::hide(&mut bytes);
    bytes
}

/// Takes note of a result that goes out: it is public from here on. Every byte of it has to be secret before,
/// else a secret got lost on its way, and the check would prove nothing.
fn carried(result: &mut [u8]) {
    let hidden = client::count_hidden(result);
    assert_eq!(hidden, result.len(), "bytes of a result that depend on a secret");
    client::reveal(result);
}
