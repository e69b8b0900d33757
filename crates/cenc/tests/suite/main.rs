//! The integration tests of `lanelock-cenc`. They are one program, since each program links the crate and all
//! that it uses again.

mod apply;
mod map_ac4;
mod map_crafted;
mod map_frames;
mod map_mutants;
mod map_pace;
mod map_peers;
mod map_pieces;
mod map_support;
mod map_vvc;
