//! Instruction-set levels, tokens and vector traits: the seam between algorithms and SIMD.
//!
//! An algorithm is written once, in safe code, over vectors of blocks; this crate compiles it for the
//! AES and carry-less multiplication instructions that the processor has. It has the only `unsafe` code
//! of Lanelock. Those who only want to encrypt use the crate `lanelock` above it.
//!
//! - A *token* (on x86-64 `AesNi`, `Vaes256`, `Vaes512`; on AArch64 `Neon`, `NeonSha3`) is a zero-sized value that only detection can
//!   make. Holding one proves that the processor has the instructions it names.
//! - A *level* ([`AesLevel`]) is one of the tokens, chosen once when a key is set up and matched
//!   once per bulk call. Nothing is detected on a hot path.
//! - A *kernel* ([`Kernel`]) is an algorithm written once over the traits [`Blocks`] (vectors of blocks),
//!   [`AesRounds`], [`Clmul`] (carry-less products) and [`Windows`] (blocks of many buffers), together
//!   [`AesClmul`], in a crate that forbids `unsafe`. [`AesLevel::run`] compiles it for every level.
//! - A *family* ([`families()`]) is what kernels of one sort need: the levels of AES with products
//!   ([`AesLevel`]), those of hashes on words of 32 and 64 bits ([`HashLevel`], over [`Words`]), those of
//!   hashes of one message ([`ShaLevel`], over [`ShaRounds`]), those of big numbers ([`LimbLevel`], over
//!   [`Limbs`]).
//! - What a processor *can* do and what a host *should* use are two questions: detection answers the
//!   first, [`Policy`] the second.
//!
//! A level supplies moves of data, arithmetic of bits, single rounds of AES and products. Whole ciphers
//! and key expansion are made of these in [`AesRounds`], for all levels.
//!
//! ```
//! use lanelock_isa::{AesClmul, AesLevel, Block, Kernel};
//!
//! /// The exclusive or of all blocks.
//! struct Sum<'d>(&'d [Block]);
//!
//! impl Kernel for Sum<'_> {
//!     type Out = Block;
//!
//!     #[inline(always)]
//!     fn run<S: AesClmul>(self, s: S) -> Block {
//!         let (mut sum, mut lanes) = ([0; 16], [[0; 16]; 4]); // a vector has 1, 2 or 4 lanes
//!         for blocks in self.0.chunks_exact(S::WIDTH) {
//!             let v = s.load(blocks);
//!             s.store(s.xor(v, s.load(&lanes)), &mut lanes);
//!         }
//!         let rest = self.0.chunks_exact(S::WIDTH).remainder();
//!         for block in lanes.iter().chain(rest) {
//!             sum = core::array::from_fn(|at| sum[at] ^ block[at]);
//!         }
//!         sum
//!     }
//! }
//!
//! let blocks: [Block; 7] = core::array::from_fn(|at| [1 << at; 16]);
//! for level in AesLevel::available() {
//!     assert_eq!(level.run(Sum(&blocks)), [0x7f; 16], "{level}");
//! }
//! ```
//!
//! # Soundness
//! Four reasons make every `unsafe` block here sound, and no others are used:
//! 1. *the token*: a function that needs CPU features is called with a token that detection made;
//! 2. *the reference*: a pointer that is read or written comes from a reference to that many bytes;
//! 3. *the barrier*: assembly without instructions does nothing;
//! 4. *the proof*: a value whose lifetime belongs to one place says that the place is filled.
//!
//! # Inlining is load-bearing
//! Generic bodies and trait methods are `#[inline(always)]`, `#[target_feature]` leaves are
//! `#[inline]`, entries are neither. A body that is not inlined into its entry loses the features
//! and turns every intrinsic into a call: silent and slow. `tools/asmcheck` watches for it.

//! # Features
//! `std`, on by default, asks the processor at run time and reads `LANELOCK_LEVEL`. Without it the crate
//! needs `alloc` alone, has the levels that the build is compiled for (`-C target-feature`) and the
//! portable ones, and no environment.

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![deny(unsafe_op_in_unsafe_fn)]

extern crate alloc;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[macro_use]
mod forward;
#[macro_use]
mod part;

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod block;
mod choice;
mod family;
mod limbs;
mod matrix;
mod place;
mod policy;
mod portable;
mod sha;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod slices;
mod stitched;
mod vectors;
mod wipe;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "aarch64")]
pub use aarch64::{Neon, NeonSha3};
pub use block::{Block, copy_part, padded};
pub use choice::{Choice, Family, LevelError, LevelInfo, Why};
#[doc(hidden)]
pub use family::choices_of;
pub use family::{
    AesLevel, HashLevel, LimbLevel, ShaLevel, StackDepth, families, last_level_run, policy,
};
pub use limbs::{GroupKernel, LimbGroups, LimbKernel, Limbs, MOST_LIMBS, NONE, PortableLimbs};
#[cfg(target_arch = "x86_64")]
pub use limbs::{Ifma256, Ifma512};
pub use part::Part;
pub use place::{Filled, Place, in_place};
pub use policy::{Policy, Processor, Ways};
pub use portable::Portable;
#[cfg(target_arch = "aarch64")]
pub use sha::NeonSha2;
#[cfg(target_arch = "x86_64")]
pub use sha::ShaNi;
pub use sha::{BesideRounds, PortableSha, ShaKernel, ShaRounds};
pub use stitched::{StitchedKernel, run_stitched};
pub use vectors::{
    AesClmul, AesRounds, Begun, Beside, Blocks, Clmul, Kernel, LAST, LaneBuffers, MOST_LANES,
    RoundKeys, Row, RowMut, STEPS, WIDEST, Window, Windows, double_constant,
};
pub use wipe::{wipe, wipe_stack, wipe_values};
#[cfg(target_arch = "aarch64")]
pub use words::NeonWords;
#[cfg(target_arch = "x86_64")]
pub use words::{Avx2Words, Avx512Words};
pub use words::{MOST_WORDS, Pair, PortableWords, Products, Word, WordKernel, Words};
#[cfg(target_arch = "x86_64")]
pub use x86::{AesNi, Vaes256, Vaes512};
