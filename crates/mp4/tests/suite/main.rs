//! The integration tests of `lanelock-mp4`. They are one program, since each program links the crate and all
//! that it uses again.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
#![allow(clippy::trivially_copy_pass_by_ref, reason = "helpers take box types as literals")]

mod common;
mod descriptions;
mod ffprobe;
mod hostile;
mod hostile_fragments;
mod mutants;
mod oracle;
mod positions;
mod quicktime;
mod reencrypt;
mod roundtrip;
mod segment_index;
mod slices;
mod speed;
mod vectors;
