//! CMAC of many messages at once.
//!
//! The blocks before the last one of each message are chains in the lanes. The last blocks, with
//! their subkeys added, are one encryption each: those of all messages are done side by side.

use core::{any::Any, array, fmt, ptr::addr_eq};

use lanelock_isa::{AesLevel, Block, MOST_LANES};

use super::{
    each::encrypt_each,
    kind::CmacBlocks,
    work::{Chain, KernelId, LaneCipher, LaneKey, Work, run_all},
};
use crate::{
    Pattern,
    cipher::SizedCipher,
    length::Length,
    modes::cmac::{Cmac, CmacKey, split_last, xor},
};

/// A reference to a CMAC key of any [`LaneCipher`].
#[derive(Clone, Copy)]
pub struct CmacRef<'k>(&'k (dyn MacKey + 'static));

impl<'k> CmacRef<'k> {
    /// The level of the key.
    pub fn level(self) -> AesLevel {
        self.0.id().level
    }

    pub(super) fn key(self) -> &'k (dyn LaneKey<CmacBlocks, 1> + 'static) {
        self.0.key()
    }
}

impl<'k, C: SizedCipher<Cipher: LaneCipher>> From<&'k Cmac<C>> for CmacRef<'k> {
    fn from(key: &'k Cmac<C>) -> Self {
        Self(key.cmac_key())
    }
}

impl fmt::Debug for CmacRef<'_> {
    /// Says which cipher it is, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}Cmac({})", self.key().name(), self.level())
    }
}

/// A CMAC key of any cipher.
trait MacKey: Any + Send + Sync {
    fn id(&self) -> KernelId;

    fn key(&self) -> &(dyn LaneKey<CmacBlocks, 1> + 'static);

    /// The MAC of one message.
    fn mac(&self, message: &[u8]) -> Block;

    /// Takes the last blocks, of jobs whose keys have the cipher and the level of this one.
    fn finish<'k>(&'k self, jobs: &mut [MacJob<'k>]);
}

impl<C: LaneCipher> MacKey for CmacKey<C> {
    fn id(&self) -> KernelId {
        KernelId::of(self.key())
    }

    fn key(&self) -> &(dyn LaneKey<CmacBlocks, 1> + 'static) {
        self.key()
    }

    fn mac(&self, message: &[u8]) -> Block {
        self.mac(message)
    }

    fn finish<'k>(&'k self, jobs: &mut [MacJob<'k>]) {
        // Most jobs have the key of the first, which is this one.
        let known = |job: &MacJob<'k>| -> &'k Self {
            if addr_eq(job.key.0, self) {
                return self;
            }
            let Some(key) = (job.key.0 as &'k dyn Any).downcast_ref() else {
                unreachable!("a key of another cipher in a group")
            };
            key
        };
        for job in &mut *jobs {
            let (_, last) = split_last(job.message);
            job.mac = xor(&job.mac, &known(job).last_block(last));
        }
        encrypt_each(jobs, |job| Some(known(job).key()), |job| &mut job.mac);
    }
}

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
        job.mac = job.key.0.mac(job.message);
        return;
    }
    for job in &mut *jobs {
        job.mac = [0; 16];
    }
    go_on(jobs);
}

/// Computes the MACs of jobs whose first blocks have been taken already: their states stand in `mac`.
pub(super) fn go_on(jobs: &mut [MacJob<'_>]) {
    run_all(jobs, MOST_LANES);
    // Ciphers and levels seldom change from job to job.
    let mut rest = jobs;
    while let [first, ..] = &*rest {
        let key = first.key.0;
        let id = key.id();
        let alike =
            rest.iter().take_while(|job| addr_eq(job.key.0, key) || job.key.0.id() == id).count();
        let (group, others) = rest.split_at_mut(alike);
        key.finish(group);
        rest = others;
    }
}

/// The blocks before the last one.
impl<'k> Chain<'k, CmacBlocks, 1> for MacJob<'k> {
    fn key(&self) -> &'k (dyn LaneKey<CmacBlocks, 1> + 'static) {
        self.key.key()
    }

    fn pattern(&self) -> Pattern {
        Pattern::ALL
    }

    fn runs(&self) -> usize {
        split_last(self.message).0.len()
    }

    fn address(&self) -> usize {
        self.message.as_ptr().addr()
    }

    fn work(&mut self) -> Work<'_, 'k, CmacBlocks, 1> {
        let (key, data) = (self.key.key(), split_last(self.message).0);
        let state = array::from_mut(&mut self.mac);
        Work { key, state, runs: data.len(), left: None, data }
    }
}
