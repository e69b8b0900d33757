//! What the fuzzers of `fuzz/` call: a function for each target, which takes any bytes and panics if the
//! project does what it must not.
//!
//! They live here, outside of that workspace, so that the tests run them as well: over the inputs that were
//! findings once (`fuzz/regressions`), those that a fuzzer begins with ([`Target::seeds`]) and some mutants of
//! them. Wherever possible a target compares: with another level, another implementation, another way to the
//! same result.

#![forbid(unsafe_code)]
#![expect(clippy::missing_panics_doc, reason = "to panic is how a target says what is wrong")]

pub mod aead;
mod boxes;
mod files;
mod hashes;
mod input;
mod lanes;
mod maps;
pub mod modes;
mod mutate;
mod oracle;
mod pubkey;
mod records;
mod seeds;
mod text;

pub use boxes::boxes;
pub use files::files;
pub use hashes::hashes;
pub use input::Change;
pub use lanes::lanes;
pub use maps::maps;
pub use mutate::{Shape, mutate};
pub use pubkey::pubkey;
pub use records::records;
pub use text::text;

/// A target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name: that of the fuzzer, and of the folder of its regressions.
    pub name: &'static str,
    /// Takes an input, and panics if something is wrong.
    pub run: fn(&[u8]),
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// What its inputs are made of.
    pub shape: Shape,
}

/// All targets. Those that ask another implementation do so in the fuzzer alone, which may link it.
pub const TARGETS: [Target; 10] = [
    Target { name: "boxes", run: boxes, seeds: seeds::boxes, shape: Shape::Boxes { tail: 0 } },
    Target { name: "files", run: files, seeds: seeds::files, shape: Shape::Boxes { tail: 1 } },
    Target { name: "maps", run: maps, seeds: seeds::maps, shape: Shape::Units },
    Target { name: "text", run: text, seeds: seeds::text, shape: Shape::Bytes },
    Target {
        name: "aead",
        run: |data| aead::aead(data, |_| None),
        seeds: seeds::noise,
        shape: Shape::Bytes,
    },
    Target { name: "hashes", run: hashes, seeds: seeds::hashes, shape: Shape::Bytes },
    Target { name: "lanes", run: lanes, seeds: seeds::noise, shape: Shape::Bytes },
    Target {
        name: "modes",
        run: |data| modes::modes(data, |_| None),
        seeds: seeds::noise,
        shape: Shape::Bytes,
    },
    Target { name: "pubkey", run: pubkey, seeds: seeds::pubkey, shape: Shape::Bytes },
    Target { name: "records", run: records, seeds: seeds::noise, shape: Shape::Bytes },
];
