//! The integration tests of `lanelock-cli`. They are one program, since each program links the crate and all
//! that it uses again.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod cli;
mod cloud;
mod command;
mod cpix;
mod drm;
mod fail_closed;
mod generated;
mod key_periods;
mod keys;
mod large;
mod oracles;
mod oracles_forms;
mod package;
mod package_oracles;
mod package_schemes;
mod peers;
mod play;
mod quicktime;
mod rewrap;
mod segments;
mod several;
mod sidx;
#[cfg(feature = "engine")]
mod speed;
mod streams;
mod sum;
mod support;
mod terminal;
mod tracks;
mod wrong_input;
mod wrong_key;
