//! Many chains at once (multi-buffer encryption).
//!
//! A *chain* is serial work on one buffer: CBC or CBCS encryption of a protected range. Chains do not
//! depend on one another, so each takes a *lane* of a vector and one AES instruction advances all of
//! them. When a chain ends, its lane is refilled at once, so unequal lengths keep the vector full.
//!
//! With a 128-bit key a block of a chain takes 40 cycles, ten rounds of four. Where two rounds start
//! in a cycle, 80 do in that time: so eight vectors, 32 lanes at `vaes512`, fill the units.
//!
//! Two interfaces to one mechanism:
//! - **batch**: [`encrypt`] takes a slice of [`Job`]s and returns when all are done;
//! - **scheduler**: [`Scheduler`] takes jobs with owned buffers as they come and hands them back in
//!   the order of submission, or as they finish.
//!
//! Jobs may differ in length, key, cipher, IV and pattern. One chain, five or fifty thousand: the
//! number of lanes follows the number of chains.
//!
//! ```
//! use lanelock::{Aes128, Aes256, Pattern, lanes::{self, Job}};
//!
//! # fn main() -> Result<(), lanelock::Error> {
//! let (video, audio) = (Aes128::new(&[1; 16])?, Aes256::new(&[2; 32])?);
//! let mut buffers = [vec![0; 5000], vec![0; 320], vec![0; 777]];
//! let [a, b, c] = &mut buffers;
//! let mut jobs = [
//!     Job::new(&video, [3; 16], Pattern::new(1, 9), a),
//!     Job::new(&video, [4; 16], Pattern::new(1, 9), b),
//!     Job::new(&audio, [5; 16], Pattern::ALL, c), // plain CBC of its whole blocks
//! ];
//! lanes::encrypt(&mut jobs);
//!
//! audio.cbc_decrypt(&mut [5; 16], &mut buffers[2][..768])?;
//! assert_eq!(buffers[2], [0; 777]);
//! # Ok(())
//! # }
//! ```

mod batch;
mod chains;
mod crew;
mod each;
mod key;
mod kind;
mod mac;
mod one;
mod owned;
mod plan;
mod scheduler;
mod walk;
mod work;

pub(crate) use batch::encrypt_one;
pub use batch::{Job, encrypt, encrypt_in_lanes};
#[doc(hidden)]
pub use chains::{ChainWork, Flight};
pub use crew::{ABREAST, Crew, Source, fly};
#[doc(hidden)]
pub use each::encrypt_each;
pub use key::KeyRef;
#[doc(hidden)]
pub use kind::{ChainKind, CmacBlocks, Lane};
pub use lanelock_isa::MOST_LANES;
pub use mac::{CmacRef, MacJob, mac};
pub use owned::{Completed, MacCompleted, OwnedJob, OwnedMacJob};
#[doc(hidden)]
pub use owned::{JobLength, RunningJob, RunningMac};
#[doc(hidden)]
pub use plan::{Extent, Turns, longest_first};
#[doc(hidden)]
pub use scheduler::RunJobs;
pub use scheduler::{Order, Scheduler, Submit};
#[doc(hidden)]
pub use work::{KernelId, LaneCipher};
