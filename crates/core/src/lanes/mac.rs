//! CMAC of many messages at once.
//!
//! The blocks before the last one of each message are chains in the lanes. The last blocks, with
//! their subkeys added, are one encryption each: those of all messages are done side by side.

use core::{array, fmt};

use lanelock_isa::{Block, MOST_LANES};

use super::{
    each::encrypt_each,
    kind::CmacBlocks,
    work::{JobKeys, Schedule, Work, run_all},
};
use crate::{
    AesLevel,
    cipher::Cipher,
    keys::{Aes128Cmac, Aes192Cmac, Aes256Cmac},
    length::Length,
    modes::cmac::{Cmac, split_last, xor},
};

/// A reference to a CMAC key of any size.
#[derive(Clone, Copy, Debug)]
pub enum CmacRef<'k> {
    /// A 128-bit key.
    Aes128(&'k Aes128Cmac),
    /// A 192-bit key.
    Aes192(&'k Aes192Cmac),
    /// A 256-bit key.
    Aes256(&'k Aes256Cmac),
}

impl<'k> CmacRef<'k> {
    /// The level of the key.
    pub fn level(self) -> AesLevel {
        match self {
            Self::Aes128(key) => key.level(),
            Self::Aes192(key) => key.level(),
            Self::Aes256(key) => key.level(),
        }
    }

    pub(super) fn keys(self) -> JobKeys<'k> {
        let schedule = match self {
            Self::Aes128(key) => Schedule::Aes128(key.key().keys()),
            Self::Aes192(key) => Schedule::Aes192(key.key().keys()),
            Self::Aes256(key) => Schedule::Aes256(key.key().keys()),
        };
        JobKeys { schedule, level: self.level() }
    }
}

macro_rules! from_key {
    ($size:ident, $key:ident) => {
        impl<'k> From<&'k $key> for CmacRef<'k> {
            fn from(key: &'k $key) -> Self {
                Self::$size(key)
            }
        }
    };
}

from_key!(Aes128, Aes128Cmac);
from_key!(Aes192, Aes192Cmac);
from_key!(Aes256, Aes256Cmac);

/// One message and its MAC.
#[non_exhaustive]
pub struct MacJob<'a> {
    /// The key.
    pub key: CmacRef<'a>,
    /// The message.
    pub message: &'a [u8],
    /// After the run the MAC. Whatever is there before is overwritten.
    pub mac: Block,
}

impl<'a> MacJob<'a> {
    /// A job.
    pub fn new(key: impl Into<CmacRef<'a>>, message: &'a [u8]) -> Self {
        Self { key: key.into(), message, mac: [0; 16] }
    }
}

impl fmt::Debug for MacJob<'_> {
    /// The length of the message, never its bytes, nor the MAC, which might be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MacJob")
            .field("key", &self.key)
            .field("message", &Length::of(self.message))
            .finish_non_exhaustive()
    }
}

/// Computes the MACs of all jobs, side by side in lanes.
///
/// ```
/// use lanelock::{Aes128Cmac, lanes::{self, MacJob}};
///
/// # fn main() -> Result<(), lanelock::Error> {
/// let key = Aes128Cmac::new(&[1; 16])?;
/// let messages = ["a message", "a longer message", ""];
/// let mut jobs = messages.map(|message| MacJob::new(&key, message.as_bytes()));
/// lanes::mac(&mut jobs);
/// assert_eq!(jobs[1].mac, key.mac(b"a longer message"));
/// # Ok(())
/// # }
/// ```
pub fn mac(jobs: &mut [MacJob<'_>]) {
    if let [job] = jobs {
        job.mac = match job.key {
            CmacRef::Aes128(key) => key.mac(job.message),
            CmacRef::Aes192(key) => key.mac(job.message),
            CmacRef::Aes256(key) => key.mac(job.message),
        };
        return;
    }
    for job in &mut *jobs {
        job.mac = [0; 16];
    }
    go_on(jobs);
}

/// Computes the MACs of jobs whose first blocks have been taken already: their states stand in `mac`.
pub(super) fn go_on(jobs: &mut [MacJob<'_>]) {
    let mut works: Vec<_> = jobs.iter_mut().filter_map(work).collect();
    run_all(&mut works, MOST_LANES);
    // Sizes and levels seldom change from job to job.
    for group in jobs.chunk_by_mut(|a, b| a.key.keys().alike(b.key.keys())) {
        match group[0].key {
            CmacRef::Aes128(_) => finish(group, |key| match key {
                CmacRef::Aes128(key) => Some(key),
                _ => None,
            }),
            CmacRef::Aes192(_) => finish(group, |key| match key {
                CmacRef::Aes192(key) => Some(key),
                _ => None,
            }),
            CmacRef::Aes256(_) => finish(group, |key| match key {
                CmacRef::Aes256(key) => Some(key),
                _ => None,
            }),
        }
    }
}

/// The blocks of a job before the last one, if there are any.
fn work<'w>(job: &'w mut MacJob<'_>) -> Option<Work<'w, 'w, CmacBlocks, 1>> {
    let (blocks, _) = split_last(job.message);
    if blocks.is_empty() {
        return None;
    }
    Some(Work::whole(job.key.keys(), array::from_mut(&mut job.mac), blocks))
}

/// Takes the last blocks, of jobs with keys of one size and level.
fn finish<'k, C: Cipher>(
    jobs: &mut [MacJob<'k>],
    key_of: impl Fn(CmacRef<'k>) -> Option<&'k Cmac<C>>,
) {
    for job in &mut *jobs {
        if let Some(key) = key_of(job.key) {
            let (_, last) = split_last(job.message);
            job.mac = xor(&job.mac, &key.last_block(last));
        }
    }
    encrypt_each(jobs, |job| key_of(job.key).map(Cmac::key), |job| &mut job.mac);
}
