//! The scheduler face: jobs come one by one with buffers of their own, and leave when they are done.

use core::fmt;
use std::collections::VecDeque;

use lanelock_isa::Block;

use super::{
    KeyRef,
    batch::{Work, encrypt, kind, run_group},
};
use crate::{Pattern, lanes::Job};

/// A job that owns its buffer. Its fields are those of [`Job`], and `tag` is whatever the caller wants
/// back with the result.
#[derive(Debug)]
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

/// A job that is done.
#[derive(Debug)]
pub struct Completed<B, T> {
    /// The encrypted bytes.
    pub data: B,
    /// The last ciphertext block, or the IV if nothing was encrypted: the IV of a chain that goes on.
    pub next_iv: Block,
    /// The tag of the job.
    pub tag: T,
}

/// The order in which jobs leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// As they were submitted.
    Submitted,
    /// As they finish: short ones overtake long ones.
    Finished,
}

/// Collects jobs until the lanes are full, and runs them then.
///
/// A job may stay half done until enough others come: [`flush`](Self::flush) completes all at once.
/// The scheduler holds at most [`capacity`](Self::capacity) jobs that are not completed.
///
/// ```
/// # use lanelock::{Aes128, Pattern, lanes::{Order, OwnedJob, Scheduler}};
/// let key = Aes128::new(&[1; 16]);
/// let mut scheduler = Scheduler::new(Order::Submitted);
/// let mut done = Vec::new();
/// for number in 0..100 {
///     let data = vec![0_u8; 500 + number];
///     let pattern = Pattern::new(1, 9);
///     done.extend(scheduler.submit(OwnedJob { key: (&key).into(), iv: [0; 16], pattern, data, tag: number }));
/// }
/// scheduler.flush();
/// done.extend(core::iter::from_fn(|| scheduler.completed()));
/// assert!(done.iter().map(|job| job.tag).eq(0..100));
/// ```
pub struct Scheduler<'k, B, T> {
    order: Order,
    /// In the order of submission.
    slots: VecDeque<Slot<'k, B, T>>,
    waiting: usize,
}

struct Slot<'k, B, T> {
    job: OwnedJob<'k, B, T>,
    /// Complete runs done of all complete runs.
    done: usize,
    runs: usize,
    finished: bool,
}

impl<'k, B: AsMut<[u8]>, T> Scheduler<'k, B, T> {
    /// A scheduler without jobs.
    pub fn new(order: Order) -> Self {
        Self { order, slots: VecDeque::new(), waiting: 0 }
    }

    /// The most jobs that wait at a time: enough to fill the lanes of the widest level twice.
    pub fn capacity(&self) -> usize {
        2 * lanelock_isa::MOST_LANES
    }

    /// Adds a job, and returns one that is done, if there is one: not always the same.
    pub fn submit(&mut self, mut job: OwnedJob<'k, B, T>) -> Option<Completed<B, T>> {
        let runs = job.pattern.runs(job.data.as_mut().len() / 16);
        self.slots.push_back(Slot { job, done: 0, runs, finished: false });
        self.waiting += 1;
        if self.waiting >= self.capacity() {
            self.advance();
        }
        self.completed()
    }

    /// A job that is done and may leave in the order asked for.
    pub fn completed(&mut self) -> Option<Completed<B, T>> {
        let at = match self.order {
            Order::Submitted => 0,
            Order::Finished => self.slots.iter().position(|slot| slot.finished)?,
        };
        if !self.slots.get(at)?.finished {
            return None;
        }
        let Slot { job, .. } = self.slots.remove(at)?;
        Some(Completed { data: job.data, next_iv: job.iv, tag: job.tag })
    }

    /// Completes every job; [`completed`](Self::completed) hands them out.
    pub fn flush(&mut self) {
        self.finish(|_| true);
    }

    /// Jobs that are not completed.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Runs jobs of the most frequent kind while they fill the lanes; those in the lanes at the end
    /// stay half done. A kind too rare to fill them is completed instead, to make room.
    fn advance(&mut self) {
        let kind_of = |slot: &Slot<'k, B, T>| kind(slot.job.key, slot.job.pattern);
        let kinds: Vec<_> = self.slots.iter().filter(|s| !s.finished).map(kind_of).collect();
        let count = |kind| kinds.iter().filter(|k| **k == kind).count();
        let Some(most) = kinds.iter().copied().max_by_key(|kind| count(*kind)) else {
            return;
        };
        let before = self.waiting;
        let mut work: Vec<Work<'_, 'k>> = self
            .slots
            .iter_mut()
            .filter(|slot| !slot.finished && kind_of(slot) == most)
            .map(|slot| slot.work())
            .collect();
        run_group(&mut work, lanelock_isa::MOST_LANES, true);
        let left: Vec<usize> = work.iter().map(|work| work.runs).collect();
        let slots = self.slots.iter_mut().filter(|slot| !slot.finished && kind_of(slot) == most);
        for (slot, left) in slots.zip(left) {
            slot.done = slot.runs - left;
        }
        // A truncated run is left to `finish`, which knows how.
        self.finish(|slot| slot.done == slot.runs);
        if self.waiting == before {
            self.finish(|slot| kind_of(slot) == most);
        }
    }

    /// Completes the jobs that `which` names.
    fn finish(&mut self, which: impl Fn(&Slot<'k, B, T>) -> bool) {
        let slots = self.slots.iter_mut().filter(|slot| !slot.finished && which(slot));
        let mut slots: Vec<_> = slots.collect();
        self.waiting -= slots.len();
        let mut rest: Vec<Job<'_>> = slots.iter_mut().map(|slot| slot.rest()).collect();
        encrypt(&mut rest);
        let ivs: Vec<Block> = rest.iter().map(|job| job.iv).collect();
        for (slot, iv) in slots.into_iter().zip(ivs) {
            slot.job.iv = iv;
            slot.finished = true;
        }
    }
}

impl<'k, B: AsMut<[u8]>, T> Slot<'k, B, T> {
    fn work(&mut self) -> Work<'_, 'k> {
        let OwnedJob { key, iv, pattern, data, .. } = &mut self.job;
        let (data, _) = data.as_mut().as_chunks_mut();
        let start = (self.done * pattern.period()).min(data.len());
        let data = &mut data[start..];
        let (kind, runs) = (kind(*key, *pattern), self.runs - self.done);
        Work { key: *key, pattern: *pattern, kind, state: iv, runs, data }
    }

    /// What is left as a job of its own: patterns repeat from the start of every run.
    fn rest(&mut self) -> Job<'_> {
        let OwnedJob { key, iv, pattern, data, .. } = &mut self.job;
        let data = data.as_mut();
        let start = (self.done * pattern.period() * 16).min(data.len());
        Job { key: *key, iv: *iv, pattern: *pattern, data: &mut data[start..] }
    }
}

impl<B, T> fmt::Debug for Scheduler<'_, B, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler")
            .field("order", &self.order)
            .field("waiting", &self.waiting)
            .field("completed", &(self.slots.len() - self.waiting))
            .finish()
    }
}
