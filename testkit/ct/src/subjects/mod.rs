//! The operations that are measured or followed, each with inputs of two classes, and leaks planted on purpose.

mod operations;
mod pubkey;

use std::hint::black_box;

use lanelock::{AesLevel, hash::Levels};
use lanelock_isa::LimbLevel;
use lanelock_pubkey::x25519;

use crate::{planted, rng::Rng};
use operations::{HASHES, OPERATIONS};

/// What is measured or followed. The input is as long as it was asked for, and may be changed.
type Work = Box<dyn FnMut(&mut [u8])>;

/// Makes an input of class 0 or 1; its bytes are zero before.
type Fill = Box<dyn FnMut(usize, &mut Rng, &mut [u8])>;

/// An operation and its two classes of inputs.
pub(crate) struct Subject {
    /// Bytes of an input.
    pub(crate) bytes: usize,
    pub(crate) fill: Fill,
    pub(crate) work: Work,
    /// What is done with an input before its work is followed: makes what the work uses, where the other input has it.
    pub(crate) prepare: Work,
    /// Whether all data are to be out of the first cache when it begins, so that a look-up in a table shows.
    pub(crate) cold: bool,
    /// Whether it takes so long that a run has as many measurements as fit into [`SLOW`], if these are fewer.
    pub(crate) slow: bool,
}

/// A row of the table: an operation at a level.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) level: String,
    pub(crate) make: Box<dyn Fn() -> Subject>,
}

/// All operations at all levels of the processor.
pub(crate) fn rows() -> impl Iterator<Item = Row> {
    let ciphers = AesLevel::available().into_iter().flat_map(AesLevel::forms).flat_map(|level| {
        OPERATIONS
            .iter()
            .map(move |&(name, subject)| Row::new(name, &level.to_string(), move || subject(level)))
    });
    let hashes = Levels::available().flat_map(|levels| {
        let name = format!("{} {}", levels.lanes, levels.one);
        HASHES
            .iter()
            .map(move |&(operation, subject)| Row::new(operation, &name, move || subject(levels)))
    });
    let pubkey = LimbLevel::available().into_iter().flat_map(|level| {
        pubkey::OPERATIONS.iter().flat_map(move |&(name, subject)| {
            let mut counts = vec![1, level.width()];
            counts.dedup();
            counts.into_iter().map(move |lanes| {
                Row::new(format!("{name}, {lanes}"), level.name(), move || {
                    subject(level, lanes).slow()
                })
            })
        })
    });
    ciphers.chain(hashes).chain(pubkey)
}

/// What a method is tried on before it is believed.
pub(crate) struct Trial {
    pub(crate) name: &'static str,
    /// Whether there is something to be found.
    pub(crate) leaks: bool,
    pub(crate) make: Box<dyn Fn() -> Subject>,
}

impl Trial {
    /// What a row says that came out as `result`.
    pub(crate) fn result(&self, result: &'static str) -> &'static str {
        match (self.leaks, result) {
            (true, "LEAK") => "found",
            (true, _) => "NOT FOUND",
            (false, result) => result,
        }
    }
}

/// Planted leaks, and a control that has none.
pub(crate) fn trials() -> Vec<Trial> {
    let tag = *b"any 16 bytes do.";
    let trial = |name, leaks, make: fn([u8; 16]) -> Subject| Trial {
        name,
        leaks,
        make: Box::new(move || make(tag)),
    };
    vec![
        trial("self-test: planted comparison", true, |tag| {
            Subject::new(16, wrong_first_or_last(tag), move |input| {
                if let Some(input) = input.first_chunk() {
                    black_box(planted::compare_until_different(&tag, input));
                }
            })
        }),
        trial("self-test: planted look-up", true, |_| {
            let table = planted::table();
            let work = move |input: &mut [u8]| {
                if let Some(input) = input.first_chunk() {
                    black_box(planted::look_up(&table, input));
                }
            };
            Subject::new(16, fixed_or_random(), work).cold()
        }),
        trial("self-test: planted branch", true, |_| {
            Subject::new(16, fixed_or_random(), |input| {
                if let Some(input) = input.first_chunk() {
                    black_box(planted::branch_on_bit(input));
                }
            })
        }),
        // A product more for a bit of a scalar, beside a public key, which takes far longer.
        trial("self-test: planted ladder", true, |_| {
            let work = |input: &mut [u8]| {
                if let Some(input) = input.first_chunk() {
                    black_box(planted::multiply_where_set(input));
                    let key = x25519::SecretKey::from_bytes(input).expect("a level");
                    black_box(key.public_key());
                }
            };
            Subject::new(32, fixed_or_random(), work).slow()
        }),
        trial("self-test: control", false, |tag| {
            Subject::new(16, wrong_first_or_last(tag), move |input| {
                if let Some(input) = input.first_chunk() {
                    black_box(planted::compare_all(&tag, input));
                }
            })
        }),
    ]
}

impl Row {
    fn new(name: impl Into<String>, level: &str, make: impl Fn() -> Subject + 'static) -> Self {
        Self { name: name.into(), level: level.to_owned(), make: Box::new(make) }
    }
}

impl Subject {
    /// An operation on inputs of `bytes` bytes.
    fn new(
        bytes: usize,
        fill: impl FnMut(usize, &mut Rng, &mut [u8]) + 'static,
        work: impl FnMut(&mut [u8]) + 'static,
    ) -> Self {
        Self {
            bytes,
            fill: Box::new(fill),
            work: Box::new(work),
            prepare: Box::new(|_| {}),
            cold: false,
            slow: false,
        }
    }

    /// The same, prepared before it is followed.
    fn prepared(mut self, prepare: impl FnMut(&mut [u8]) + 'static) -> Self {
        self.prepare = Box::new(prepare);
        self
    }

    /// The same, with data that are not in the first cache.
    fn cold(mut self) -> Self {
        self.cold = true;
        self
    }

    /// The same, measured less often.
    fn slow(mut self) -> Self {
        self.slow = true;
        self
    }
}

/// Class 0 is one input of zeros, class 1 any.
fn fixed_or_random() -> impl FnMut(usize, &mut Rng, &mut [u8]) {
    |class, rng, input| {
        if class == 1 {
            rng.fill(input);
        }
    }
}

/// Wrong tags: class 0 in the first byte, class 1 in the last.
fn wrong_first_or_last(tag: impl AsRef<[u8]>) -> impl FnMut(usize, &mut Rng, &mut [u8]) {
    move |class, rng, input| {
        input.copy_from_slice(tag.as_ref());
        let place = if class == 0 { 0 } else { input.len() - 1 };
        input[place] ^= change(rng);
    }
}

/// Wrong tags: class 0 in the first byte, class 1 in any other.
fn wrong_first_or_later(tag: impl AsRef<[u8]>) -> impl FnMut(usize, &mut Rng, &mut [u8]) {
    move |class, rng, input| {
        input.copy_from_slice(tag.as_ref());
        let place = (1 + rng.below(input.len() - 1)) * class;
        input[place] ^= change(rng);
    }
}

/// Bits of a byte that are wrong: at least one.
fn change(rng: &mut Rng) -> u8 {
    let [byte] = rng.array();
    byte | 1
}
