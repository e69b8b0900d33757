//! Jobs with buffers of their own, for the [`Scheduler`](super::Scheduler).

use core::{array, fmt};

use lanelock_isa::{Block, MOST_LANES};

use super::{
    CmacRef, Job, KeyRef, MacJob,
    batch::encrypt,
    kind::{Cbc, CmacBlocks},
    mac::go_on,
    scheduler::{RunJobs, Submit},
    work::{Work, group, run_group},
};
use crate::{Pattern, aes::cmac::split_last, length::Length};

/// A job that owns its buffer. Its fields are those of [`Job`], and `tag` is whatever the caller wants
/// back with the result.
#[non_exhaustive]
pub struct OwnedJob<'k, B, T> {
    /// The key.
    pub key: KeyRef<'k>,
    /// The IV.
    pub iv: Block,
    /// Which blocks.
    pub pattern: Pattern,
    /// The bytes.
    pub data: B,
    /// The caller's own.
    pub tag: T,
}

impl<'k, B, T> OwnedJob<'k, B, T> {
    /// A job.
    pub fn new(key: impl Into<KeyRef<'k>>, iv: Block, pattern: Pattern, data: B, tag: T) -> Self {
        Self { key: key.into(), iv, pattern, data, tag }
    }
}

/// A job that is done.
#[non_exhaustive]
pub struct Completed<B, T> {
    /// The encrypted bytes.
    pub data: B,
    /// The last ciphertext block, or the IV if nothing was encrypted: the IV of a chain that goes on.
    pub next_iv: Block,
    /// The tag of the job.
    pub tag: T,
}

/// An [`OwnedJob`] of which `done` of `runs` complete runs are done.
pub(crate) struct RunningJob<'k, B, T> {
    job: OwnedJob<'k, B, T>,
    done: usize,
    runs: usize,
}

impl<'k, B: AsMut<[u8]>, T> RunningJob<'k, B, T> {
    fn work(&mut self) -> Work<'_, 'k, Cbc, 1> {
        let OwnedJob { key, iv, pattern, data, .. } = &mut self.job;
        let (data, _) = data.as_mut().as_chunks_mut();
        let start = (self.done * pattern.period()).min(data.len());
        let (state, runs) = (array::from_mut(iv), self.runs - self.done);
        Work::new(key.keys(), *pattern, state, runs, &mut data[start..])
    }

    /// What is left as a job of its own: patterns repeat from the start of every run.
    fn rest(&mut self) -> Job<'_> {
        let OwnedJob { key, iv, pattern, data, .. } = &mut self.job;
        let data = data.as_mut();
        let start = (self.done * pattern.period() * 16).min(data.len());
        Job { key: *key, iv: *iv, pattern: *pattern, data: &mut data[start..] }
    }
}

impl<B: AsMut<[u8]>, T> Submit for OwnedJob<'_, B, T> {
    type Completed = Completed<B, T>;
}

impl<'k, B: AsMut<[u8]>, T> RunJobs for OwnedJob<'k, B, T> {
    type Running = RunningJob<'k, B, T>;

    fn start(mut self) -> Self::Running {
        let runs = self.pattern.runs(self.data.as_mut().len() / 16);
        RunningJob { job: self, done: 0, runs }
    }

    fn group(running: &Self::Running) -> usize {
        group(running.job.key.keys(), running.job.pattern)
    }

    fn advance(jobs: &mut [&mut Self::Running]) {
        let mut works: Vec<_> = jobs.iter_mut().map(|job| job.work()).collect();
        run_group(&mut works, MOST_LANES, true);
        let left: Vec<_> = works.iter().map(|work| work.runs).collect();
        for (job, left) in jobs.iter_mut().zip(left) {
            job.done = job.runs - left;
        }
    }

    /// A truncated run is left to `finish`, which knows how.
    fn is_through(running: &Self::Running) -> bool {
        running.done == running.runs
    }

    fn finish(jobs: &mut [&mut Self::Running]) {
        let mut rest: Vec<Job<'_>> = jobs.iter_mut().map(|job| job.rest()).collect();
        encrypt(&mut rest);
        let ivs: Vec<Block> = rest.iter().map(|job| job.iv).collect();
        for (running, iv) in jobs.iter_mut().zip(ivs) {
            running.job.iv = iv;
        }
    }
}

impl<B, T> From<RunningJob<'_, B, T>> for Completed<B, T> {
    fn from(running: RunningJob<'_, B, T>) -> Self {
        let OwnedJob { iv, data, tag, .. } = running.job;
        Self { data, next_iv: iv, tag }
    }
}

/// A message that owns its buffer. Its fields are those of [`MacJob`], and `tag` is whatever the caller
/// wants back with the result.
#[non_exhaustive]
pub struct OwnedMacJob<'k, B, T> {
    /// The key.
    pub key: CmacRef<'k>,
    /// The message.
    pub message: B,
    /// The caller's own.
    pub tag: T,
}

impl<'k, B, T> OwnedMacJob<'k, B, T> {
    /// A job.
    pub fn new(key: impl Into<CmacRef<'k>>, message: B, tag: T) -> Self {
        Self { key: key.into(), message, tag }
    }
}

/// A message whose MAC is known.
#[non_exhaustive]
pub struct MacCompleted<B, T> {
    /// The message.
    pub message: B,
    /// Its MAC.
    pub mac: Block,
    /// The tag of the job.
    pub tag: T,
}

/// An [`OwnedMacJob`] of which `done` of `blocks` blocks before the last one are done.
pub(crate) struct RunningMac<'k, B, T> {
    job: OwnedMacJob<'k, B, T>,
    state: Block,
    done: usize,
    blocks: usize,
}

impl<'k, B: AsRef<[u8]>, T> RunningMac<'k, B, T> {
    fn work(&mut self) -> Work<'_, 'k, CmacBlocks, 1> {
        let blocks = &split_last(self.job.message.as_ref()).0[self.done..];
        Work::whole(self.job.key.keys(), array::from_mut(&mut self.state), blocks)
    }

    fn rest(&self) -> MacJob<'_> {
        let message = &self.job.message.as_ref()[self.done * 16..];
        MacJob { key: self.job.key, message, mac: self.state }
    }
}

impl<B: AsRef<[u8]>, T> Submit for OwnedMacJob<'_, B, T> {
    type Completed = MacCompleted<B, T>;
}

impl<'k, B: AsRef<[u8]>, T> RunJobs for OwnedMacJob<'k, B, T> {
    type Running = RunningMac<'k, B, T>;

    fn start(self) -> Self::Running {
        let blocks = split_last(self.message.as_ref()).0.len();
        RunningMac { job: self, state: [0; 16], done: 0, blocks }
    }

    fn group(running: &Self::Running) -> usize {
        group(running.job.key.keys(), Pattern::ALL)
    }

    fn advance(jobs: &mut [&mut Self::Running]) {
        let mut works: Vec<_> = jobs.iter_mut().map(|job| job.work()).collect();
        run_group(&mut works, MOST_LANES, true);
        let left: Vec<_> = works.iter().map(|work| work.runs).collect();
        for (job, left) in jobs.iter_mut().zip(left) {
            job.done = job.blocks - left;
        }
    }

    fn is_through(running: &Self::Running) -> bool {
        running.done == running.blocks
    }

    fn finish(jobs: &mut [&mut Self::Running]) {
        let mut rest: Vec<_> = jobs.iter().map(|job| job.rest()).collect();
        go_on(&mut rest);
        let macs: Vec<Block> = rest.iter().map(|job| job.mac).collect();
        for (running, mac) in jobs.iter_mut().zip(macs) {
            running.state = mac;
        }
    }
}

impl<B, T> From<RunningMac<'_, B, T>> for MacCompleted<B, T> {
    fn from(running: RunningMac<'_, B, T>) -> Self {
        let OwnedMacJob { message, tag, .. } = running.job;
        Self { message, mac: running.state, tag }
    }
}

impl<B: AsRef<[u8]>, T: fmt::Debug> fmt::Debug for OwnedJob<'_, B, T> {
    /// The length of the text, never its bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedJob")
            .field("key", &self.key)
            .field("pattern", &self.pattern)
            .field("data", &Length::of(&self.data))
            .field("tag", &self.tag)
            .finish_non_exhaustive()
    }
}

impl<B: AsRef<[u8]>, T: fmt::Debug> fmt::Debug for Completed<B, T> {
    /// The length of the text, never its bytes: those that no block takes are still clear.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completed")
            .field("data", &Length::of(&self.data))
            .field("tag", &self.tag)
            .finish_non_exhaustive()
    }
}

impl<B: AsRef<[u8]>, T: fmt::Debug> fmt::Debug for OwnedMacJob<'_, B, T> {
    /// The length of the message, never its bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedMacJob")
            .field("key", &self.key)
            .field("message", &Length::of(&self.message))
            .field("tag", &self.tag)
            .finish()
    }
}

impl<B: AsRef<[u8]>, T: fmt::Debug> fmt::Debug for MacCompleted<B, T> {
    /// The length of the message, never its bytes, nor the MAC, which might be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MacCompleted")
            .field("message", &Length::of(&self.message))
            .field("tag", &self.tag)
            .finish_non_exhaustive()
    }
}
