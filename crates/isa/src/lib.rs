//! Instruction-set levels, tokens and vector traits: the seam between algorithms and SIMD.
//!
//! - A *token* ([`AesNi`], [`Vaes256`], [`Vaes512`]) is a zero-sized value that only detection can
//!   make. Holding one proves that the processor has the instructions it names.
//! - A *level* ([`AesLevel`]) is one of the tokens, chosen once when a key is set up and matched
//!   once per bulk call. Nothing is detected on a hot path.
//! - A *kernel* ([`Kernel`]) is an algorithm written once over the traits [`Blocks`] (AES) and
//!   [`Clmul`] (carry-less products), in a crate that forbids `unsafe`. [`AesLevel::run`] compiles it
//!   for every level.
//!
//! # Soundness
//! Four reasons make every `unsafe` block here sound, and no others are used:
//! 1. *the token*: a function that needs CPU features is called with a token that detection made;
//! 2. *the reference*: a pointer that is read or written comes from a reference to that many bytes;
//! 3. *the hint*: a prefetch never faults, whatever its address;
//! 4. *the barrier*: assembly without instructions does nothing.
//!
//! # Inlining is load-bearing
//! Generic bodies and trait methods are `#[inline(always)]`, `#[target_feature]` leaves are
//! `#[inline]`, entries are neither. A body that is not inlined into its entry loses the features
//! and turns every intrinsic into a call: silent and slow. `tools/asmcheck` watches for it.

#![deny(unsafe_op_in_unsafe_fn)]

mod block;
mod blocks;
mod level;
mod matrix;
mod portable;
mod window;
mod wipe;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use block::Block;
pub use blocks::{Beside, Blocks, Clmul, Kernel, LaneKeys, OwnKeys, RoundKeys, SameKey};
pub use level::{AesLevel, LevelError, StackDepth, last_level_run, matrices_are_fast};
pub use portable::Portable;
pub use window::{MOST_LANES, Row, RowMut, SharedWindow, Window};
pub use wipe::{wipe, wipe_stack};
#[cfg(target_arch = "x86_64")]
pub use x86::{AesNi, Vaes256, Vaes512};
