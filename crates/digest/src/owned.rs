//! Hashes of messages that own their buffers, for the scheduler of the lanes.

use alloc::vec::Vec;
use core::fmt;

use lanelock_core::{
    Error,
    lanes::{JobLength, RunJobs, Submit},
    parts::Length,
};

use crate::{
    algorithm::{Algorithm, Bytes, Compress, State, body},
    compression::Compression,
    hash::Hash,
    hmac::HmacKey,
    lanes::{Chain, Goal, Part, Task, fill_lanes, run_all},
    levels::Levels,
};

/// A message that owns its buffer, to be hashed, or to get its HMAC: a job of
/// [`lanes::Scheduler`](lanelock_core::lanes::Scheduler), which may have both.
///
/// ```
/// # use lanelock::{hash::{HmacKey, Levels, OwnedHashJob, Sha256, algorithm}, lanes::{Order, Scheduler}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (levels, key) = (Levels::best()?, HmacKey::new(b"a key")?);
/// let mut scheduler = Scheduler::new(Order::Submitted);
/// let mut done = Vec::new();
/// for number in 0..100 {
///     let message = vec![1; 10 * number];
///     let job = if number % 2 == 0 {
///         OwnedHashJob::<algorithm::Sha256, _, _>::new(levels, message, number)
///     } else {
///         OwnedHashJob::hmac(&key, message, number)
///     };
///     done.extend(scheduler.submit(job)?);
/// }
/// scheduler.flush()?;
/// done.extend(core::iter::from_fn(|| scheduler.completed()));
/// assert!(done.iter().map(|job| job.tag).eq(0..100));
/// assert_eq!(done[50].digest, Sha256::digest(&[1; 500])?);
/// assert_eq!(done[51].digest, key.tag(&[1; 510]));
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
pub struct OwnedHashJob<'k, A: Algorithm, B, T> {
    levels: Levels,
    key: Option<&'k HmacKey<A>>,
    /// The message.
    pub message: B,
    /// The caller's own.
    pub tag: T,
}

impl<'k, A: Algorithm, B, T> OwnedHashJob<'k, A, B, T> {
    /// A message to be hashed at these levels.
    pub fn new(levels: Levels, message: B, tag: T) -> Self {
        Self { levels, key: None, message, tag }
    }

    /// A message that is to get its HMAC, at the levels of the key.
    pub fn hmac(key: &'k HmacKey<A>, message: B, tag: T) -> Self {
        Self { levels: key.levels(), key: Some(key), message, tag }
    }
}

/// A message whose digest is known.
#[non_exhaustive]
pub struct HashCompleted<A: Algorithm, B, T> {
    /// The message.
    pub message: B,
    /// Its digest, or its HMAC.
    pub digest: A::Digest,
    /// The tag of the job.
    pub tag: T,
}

/// An [`OwnedHashJob`] of whose message `done` bytes were taken, whole blocks.
pub struct RunningHash<'k, A: Algorithm, B, T> {
    job: OwnedHashJob<'k, A, B, T>,
    length: JobLength,
    /// Its state alone; it zeroises itself.
    hash: Hash<A>,
    done: usize,
    /// The bytes of all whole blocks, once the length is known.
    body: usize,
    digest: A::Digest,
}

impl<A: Algorithm, B: AsRef<[u8]>, T> RunningHash<'_, A, B, T> {
    /// The whole blocks that are left.
    fn part(&mut self) -> Result<Part<'_, A>, Error> {
        let message = self.job.message.as_ref();
        self.length.check(message.len())?;
        self.body = body::<A>(message.len());
        let message = &message[self.done..self.body];
        Ok(Part {
            message,
            left: message.len() / Compress::<A>::BLOCK,
            state: self.hash.state_mut(),
        })
    }

    /// All that is left.
    fn rest(&mut self) -> Result<Rest<'_, A>, Error> {
        let message = self.job.message.as_ref();
        self.length.check(message.len())?;
        let done = self.done as u64;
        let (message, from, then) = match self.job.key {
            Some(key) if done == 0 => {
                let (message, from) = key.inner(&[], message);
                (message, from, Some(key.outer()))
            }
            Some(key) => {
                let before = Compress::<A>::BLOCK as u64 + done;
                (&message[self.done..], Some((self.hash.state(), before)), Some(key.outer()))
            }
            None if done == 0 => (message, None, None),
            None => (&message[self.done..], Some((self.hash.state(), done)), None),
        };
        Ok(Rest { levels: self.job.levels, message, from, then, digest: &mut self.digest })
    }
}

/// What is left of a message.
struct Rest<'a, A: Algorithm> {
    levels: Levels,
    message: &'a [u8],
    from: Option<(&'a State<A>, u64)>,
    then: Option<&'a State<A>>,
    digest: &'a mut A::Digest,
}

impl<A: Algorithm> Chain<A> for Rest<'_, A> {
    fn blocks(&self) -> usize {
        self.message.len() / Compress::<A>::BLOCK + 1 + usize::from(self.then.is_some())
    }

    fn address(&self) -> usize {
        self.message.as_ptr().addr()
    }

    fn task(&mut self) -> Task<'_, A> {
        let goal = Goal::Digest { then: self.then, digest: self.digest.as_mut() };
        Task { head: &[], message: self.message, from: self.from, goal }
    }
}

impl<A: Algorithm, B: AsRef<[u8]>, T> Submit for OwnedHashJob<'_, A, B, T> {
    type Completed = HashCompleted<A, B, T>;
}

impl<'k, A: Algorithm, B: AsRef<[u8]>, T> RunJobs for OwnedHashJob<'k, A, B, T> {
    type Running = RunningHash<'k, A, B, T>;
    type Group = Levels;

    fn start(self) -> Self::Running {
        let level = self.levels.one;
        let state = self.key.map_or_else(A::initial, |key| *key.states().0);
        let hash = Hash::from_state(state, 0, level);
        let (length, digest) = (JobLength::default(), A::Digest::ZERO);
        RunningHash { job: self, length, hash, done: 0, body: 0, digest }
    }

    fn group(running: &Self::Running) -> Levels {
        running.job.levels
    }

    fn advance(jobs: &mut [&mut Self::Running]) -> Result<(), Error> {
        let Some(levels) = jobs.first().map(|job| job.job.levels) else { return Ok(()) };
        let mut parts = jobs.iter_mut().map(|job| job.part()).collect::<Result<Vec<_>, Error>>()?;
        fill_lanes(levels, &mut parts);
        let left: Vec<_> = parts.iter().map(|part| part.left).collect();
        for (job, left) in jobs.iter_mut().zip(left) {
            job.done = job.body - left * Compress::<A>::BLOCK;
        }
        Ok(())
    }

    /// The end of a message is left to `finish`, which takes those of many together.
    fn is_through(running: &Self::Running) -> bool {
        running.length.is_known() && running.done == running.body
    }

    fn finish(jobs: &mut [&mut Self::Running]) -> Result<(), Error> {
        let mut rest = jobs.iter_mut().map(|job| job.rest()).collect::<Result<Vec<_>, Error>>()?;
        // Levels seldom change from job to job.
        for group in rest.chunk_by_mut(|a, b| a.levels == b.levels) {
            run_all(group[0].levels, group);
        }
        Ok(())
    }
}

impl<A: Algorithm, B, T> From<RunningHash<'_, A, B, T>> for HashCompleted<A, B, T> {
    fn from(running: RunningHash<'_, A, B, T>) -> Self {
        let OwnedHashJob { message, tag, .. } = running.job;
        Self { message, digest: running.digest, tag }
    }
}

impl<A: Algorithm, B: AsRef<[u8]>, T: fmt::Debug> fmt::Debug for OwnedHashJob<'_, A, B, T> {
    /// The length of the message, never its bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(A::NAME)
            .field("key", &self.key)
            .field("message", &Length::of(&self.message))
            .field("tag", &self.tag)
            .finish_non_exhaustive()
    }
}

impl<A: Algorithm, B: AsRef<[u8]>, T: fmt::Debug> fmt::Debug for HashCompleted<A, B, T> {
    /// The length of the message, never its bytes, nor the digest, which might be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(A::NAME)
            .field("message", &Length::of(&self.message))
            .field("tag", &self.tag)
            .finish_non_exhaustive()
    }
}
