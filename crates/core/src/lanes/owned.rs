//! Jobs with buffers of their own, for the [`Scheduler`](super::Scheduler).

use alloc::vec::Vec;
use core::{array, fmt};

use lanelock_isa::{Block, MOST_LANES};
use zeroize::Zeroizing;

use super::{
    batch::{Job, encrypt, finish_run},
    key::KeyRef,
    kind::{Cbc, CmacBlocks},
    mac::{CmacRef, MacJob, go_on},
    scheduler::{RunJobs, Submit},
    work::{Group, Work, group, run_group},
};
use crate::{Error, Pattern, length::Length, modes::cmac::split_last};

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

/// The length of a buffer that is asked for its bytes once in every run of its job. A buffer of the
/// caller's own type may answer differently each time; a job that has begun needs the same bytes.
#[derive(Default, Debug)]
pub struct JobLength(Option<usize>);

impl JobLength {
    /// Notes the length in the first run, and compares it in the later ones.
    ///
    /// # Errors
    /// [`Error::Poisoned`] if it is another one.
    pub fn check(&mut self, now: usize) -> Result<(), Error> {
        if *self.0.get_or_insert(now) == now { Ok(()) } else { Err(Error::Poisoned) }
    }

    /// Whether there was a run.
    pub fn is_known(&self) -> bool {
        self.0.is_some()
    }
}

/// What is left of the complete runs of a job.
type Part<'d, 'k, K> = (Pattern, Work<'d, 'k, K, 1>);

/// An [`OwnedJob`] of which `done` of `runs` complete runs are done; `runs` counts once the length is
/// known.
pub struct RunningJob<'k, B, T> {
    job: OwnedJob<'k, B, T>,
    length: JobLength,
    done: usize,
    runs: usize,
}

impl<'k, B: AsMut<[u8]>, T> RunningJob<'k, B, T> {
    /// The complete runs that are left, and the truncated run behind them.
    fn work(&mut self) -> Result<(Part<'_, 'k, Cbc>, &mut [Block]), Error> {
        let OwnedJob { key, iv, pattern, data, .. } = &mut self.job;
        let data = data.as_mut();
        self.length.check(data.len())?;
        let (data, _) = data.as_chunks_mut();
        self.runs = pattern.runs(data.len());
        let (first, _) = pattern.truncated_run(data.len());
        let (data, truncated) = data.split_at_mut(first);
        let start = (self.done * pattern.period()).min(data.len());
        let (state, runs) = (array::from_mut(iv), self.runs - self.done);
        let data = &mut data[start..];
        let work = Work { key: key.key(), state, runs, left: None, data };
        Ok(((*pattern, work), truncated))
    }

    /// What is left as a job of its own: patterns repeat from the start of every run.
    fn rest(&mut self) -> Result<Job<'_>, Error> {
        let OwnedJob { key, iv, pattern, data, .. } = &mut self.job;
        let data = data.as_mut();
        self.length.check(data.len())?;
        let start = (self.done * pattern.period() * 16).min(data.len());
        Ok(Job { key: *key, iv: *iv, pattern: *pattern, data: &mut data[start..] })
    }
}

impl<B: AsMut<[u8]>, T> Submit for OwnedJob<'_, B, T> {
    type Completed = Completed<B, T>;
}

impl<'k, B: AsMut<[u8]>, T> RunJobs for OwnedJob<'k, B, T> {
    type Running = RunningJob<'k, B, T>;
    type Group = Group;

    fn start(self) -> Self::Running {
        RunningJob { job: self, length: JobLength::default(), done: 0, runs: 0 }
    }

    fn group(running: &Self::Running) -> Group {
        group(running.job.key.key(), running.job.pattern)
    }

    fn advance(jobs: &mut [&mut Self::Running]) -> Result<(), Error> {
        let keys: Vec<_> = jobs.iter().map(|job| job.job.key).collect();
        let (mut works, mut truncated) = (Vec::new(), Vec::new());
        for job in &mut *jobs {
            let (work, run) = job.work()?;
            works.push(work);
            truncated.push(run);
        }
        run_group(&mut works, MOST_LANES, true);
        // While the bytes are here: a buffer is not asked again for so few of them.
        for (((_, work), run), key) in works.iter_mut().zip(truncated).zip(keys) {
            if work.runs == 0 {
                let [iv] = &mut *work.state;
                finish_run(key, iv, run);
            }
        }
        let left: Vec<_> = works.iter().map(|(_, work)| work.runs).collect();
        for (job, left) in jobs.iter_mut().zip(left) {
            job.done = job.runs - left;
        }
        Ok(())
    }

    fn is_through(running: &Self::Running) -> bool {
        running.length.is_known() && running.done == running.runs
    }

    fn finish(jobs: &mut [&mut Self::Running]) -> Result<(), Error> {
        let mut jobs: Vec<_> = jobs.iter_mut().filter(|job| !Self::is_through(job)).collect();
        let mut rest =
            jobs.iter_mut().map(|job| job.rest()).collect::<Result<Vec<Job<'_>>, Error>>()?;
        encrypt(&mut rest);
        let ivs: Vec<Block> = rest.iter().map(|job| job.iv).collect();
        for (running, iv) in jobs.iter_mut().zip(ivs) {
            running.job.iv = iv;
        }
        Ok(())
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

/// An [`OwnedMacJob`] of which `done` of `blocks` blocks before the last one are done; `blocks` counts
/// once the length is known.
pub struct RunningMac<'k, B, T> {
    job: OwnedMacJob<'k, B, T>,
    length: JobLength,
    state: Zeroizing<Block>,
    done: usize,
    blocks: usize,
}

impl<'k, B: AsRef<[u8]>, T> RunningMac<'k, B, T> {
    fn work(&mut self) -> Result<Part<'_, 'k, CmacBlocks>, Error> {
        let message = self.job.message.as_ref();
        self.length.check(message.len())?;
        let (blocks, _) = split_last(message);
        self.blocks = blocks.len();
        let (key, data) = (self.job.key.key(), &blocks[self.done..]);
        let state = array::from_mut(&mut *self.state);
        Ok((Pattern::ALL, Work { key, state, runs: data.len(), left: None, data }))
    }

    fn rest(&mut self) -> Result<MacJob<'_>, Error> {
        let message = self.job.message.as_ref();
        self.length.check(message.len())?;
        let message = &message[self.done * 16..];
        Ok(MacJob { key: self.job.key, message, mac: *self.state })
    }
}

impl<B: AsRef<[u8]>, T> Submit for OwnedMacJob<'_, B, T> {
    type Completed = MacCompleted<B, T>;
}

impl<'k, B: AsRef<[u8]>, T> RunJobs for OwnedMacJob<'k, B, T> {
    type Running = RunningMac<'k, B, T>;
    type Group = Group;

    fn start(self) -> Self::Running {
        let (length, state) = (JobLength::default(), Zeroizing::new([0; 16]));
        RunningMac { job: self, length, state, done: 0, blocks: 0 }
    }

    fn group(running: &Self::Running) -> Group {
        group(running.job.key.key(), Pattern::ALL)
    }

    fn advance(jobs: &mut [&mut Self::Running]) -> Result<(), Error> {
        let mut works = jobs.iter_mut().map(|job| job.work()).collect::<Result<Vec<_>, Error>>()?;
        run_group(&mut works, MOST_LANES, true);
        let left: Vec<_> = works.iter().map(|(_, work)| work.runs).collect();
        for (job, left) in jobs.iter_mut().zip(left) {
            job.done = job.blocks - left;
        }
        Ok(())
    }

    /// The last block is left to `finish`, which takes those of many messages together.
    fn is_through(running: &Self::Running) -> bool {
        running.length.is_known() && running.done == running.blocks
    }

    fn finish(jobs: &mut [&mut Self::Running]) -> Result<(), Error> {
        let mut rest = jobs.iter_mut().map(|job| job.rest()).collect::<Result<Vec<_>, Error>>()?;
        go_on(&mut rest);
        let macs: Vec<Block> = rest.iter().map(|job| job.mac).collect();
        for (running, mac) in jobs.iter_mut().zip(macs) {
            *running.state = mac;
        }
        Ok(())
    }
}

impl<B, T> From<RunningMac<'_, B, T>> for MacCompleted<B, T> {
    fn from(running: RunningMac<'_, B, T>) -> Self {
        let OwnedMacJob { message, tag, .. } = running.job;
        Self { message, mac: *running.state, tag }
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
