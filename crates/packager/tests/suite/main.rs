//! The integration tests of `lanelock-packager`. They are one program, since each program links the crate and all
//! that it uses again.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod accounting;
mod codecs;
mod drm;
mod fragment_forms;
mod inspect;
mod io_support;
mod key_periods;
mod many_segments;
mod mutants;
mod new_fragments;
mod package;
mod package_access;
mod package_inputs;
mod package_keys;
mod package_mutants;
mod package_schemes;
mod package_times;
mod piff;
mod pipes;
mod progress;
mod segments;
mod sidx;
mod sinks;
mod support;
mod unprotected;
mod wrong_key;
