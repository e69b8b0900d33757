//! Jobs that are submitted one by one, with buffers of their own, and returned when they are done.

use alloc::{collections::VecDeque, vec::Vec};
use core::fmt;

use lanelock_isa::MOST_LANES;

use crate::Error;

/// The order in which jobs leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Order {
    /// As they were submitted.
    Submitted,
    /// As they finish: short ones overtake long ones.
    Finished,
}

/// Collects jobs until the lanes are full, and runs them then.
///
/// Jobs are [`OwnedJob`](super::OwnedJob)s (CBC, CBCS), [`OwnedMacJob`](super::OwnedMacJob)s (CMAC) or
/// `OwnedMessage`s (AEAD). A job may stay half done until enough
/// others come: [`flush`](Self::flush) completes all at once. The scheduler holds at most
/// [`capacity`](Self::capacity) jobs that are not completed.
///
/// Buffers are the caller's own types. One that panics, or whose length changes between two runs of a
/// job, leaves jobs that are neither clear nor encrypted: the scheduler then never hands out a job that
/// it has not finished, and every later call gives [`Error::Poisoned`].
///
/// ```
/// # use lanelock::{Aes128, Pattern, lanes::{Order, OwnedJob, Scheduler}};
/// # fn main() -> Result<(), lanelock::Error> {
/// let key = Aes128::new(&[1; 16])?;
/// let mut scheduler = Scheduler::new(Order::Submitted);
/// let mut done = Vec::new();
/// for number in 0..100 {
///     let data = vec![0_u8; 500 + number];
///     let pattern = Pattern::new(1, 9);
///     done.extend(scheduler.submit(OwnedJob::new(&key, [0; 16], pattern, data, number))?);
/// }
/// scheduler.flush()?;
/// done.extend(core::iter::from_fn(|| scheduler.completed()));
/// assert!(done.iter().map(|job| job.tag).eq(0..100));
/// # Ok(())
/// # }
/// ```
pub struct Scheduler<J: Submit> {
    order: Order,
    /// In the order of submission.
    slots: VecDeque<Slot<J>>,
    waiting: usize,
    /// Set while jobs run; whatever cuts a run short leaves it set.
    poisoned: bool,
}

struct Slot<J: Submit> {
    job: J::Running,
    /// Set behind the work, never before: what is finished may leave.
    finished: bool,
}

/// A job that a scheduler takes: [`OwnedJob`](super::OwnedJob), [`OwnedMacJob`](super::OwnedMacJob),
/// `OwnedMessage`.
pub trait Submit: RunJobs {
    /// The job when it is done.
    type Completed: From<Self::Running>;
}

/// How the jobs of a kind are run.
pub trait RunJobs: Sized {
    /// The job on its way.
    type Running;
    /// What jobs have in common that share a kernel.
    type Group: Copy + PartialEq;

    /// Nothing is done yet, and the buffer has not been looked at.
    fn start(self) -> Self::Running;

    /// Jobs of one group can share a kernel.
    fn group(job: &Self::Running) -> Self::Group;

    /// Runs jobs of one group as long as they fill the lanes; those that are in the lanes then stay
    /// half done.
    ///
    /// # Errors
    /// [`Error::Poisoned`] if the length of a buffer has changed.
    fn advance(_: &mut [&mut Self::Running]) -> Result<(), Error> {
        Ok(())
    }

    /// Whether [`finish`](Self::finish) has little left to do.
    fn is_through(_: &Self::Running) -> bool {
        false
    }

    /// Completes jobs.
    ///
    /// # Errors
    /// As [`advance`](Self::advance).
    fn finish(jobs: &mut [&mut Self::Running]) -> Result<(), Error>;
}

impl<J: Submit> Scheduler<J> {
    /// A scheduler without jobs.
    pub fn new(order: Order) -> Self {
        Self { order, slots: VecDeque::new(), waiting: 0, poisoned: false }
    }

    /// The most jobs that wait at a time: enough to fill the lanes of the widest level twice.
    pub fn capacity(&self) -> usize {
        2 * MOST_LANES
    }

    /// Adds a job, and returns one that is done, if there is one: not always the same.
    ///
    /// # Errors
    /// [`Error::Poisoned`] if the length of a buffer has changed, or a run was cut short before: no
    /// job runs any more, and this one is dropped.
    pub fn submit(&mut self, job: J) -> Result<Option<J::Completed>, Error> {
        self.check()?;
        self.slots.push_back(Slot { job: job.start(), finished: false });
        self.waiting += 1;
        if self.waiting >= self.capacity() {
            self.poison_unless_done(Self::advance)?;
        }
        Ok(self.completed())
    }

    /// A job that is done and may leave in the order asked for.
    pub fn completed(&mut self) -> Option<J::Completed> {
        let at = match self.order {
            Order::Submitted => 0,
            Order::Finished => self.slots.iter().position(|slot| slot.finished)?,
        };
        if !self.slots.get(at)?.finished {
            return None;
        }
        Some(self.slots.remove(at)?.job.into())
    }

    /// Completes every job; [`completed`](Self::completed) hands them out.
    ///
    /// # Errors
    /// As [`submit`](Self::submit): jobs that are not finished never will be.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.check()?;
        self.poison_unless_done(|scheduler| scheduler.finish(|_| true))
    }

    /// Jobs that are not completed.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    fn check(&self) -> Result<(), Error> {
        if self.poisoned { Err(Error::Poisoned) } else { Ok(()) }
    }

    /// Does `work`. If it panics or fails, the mark stays: jobs that it left half done cannot leave.
    fn poison_unless_done(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.poisoned = true;
        work(self)?;
        self.poisoned = false;
        Ok(())
    }

    /// Advances jobs of the most frequent group. A group too rare to fill the lanes is completed instead,
    /// to make room.
    fn advance(&mut self) -> Result<(), Error> {
        let groups: Vec<_> = self.unfinished().map(|slot| J::group(&slot.job)).collect();
        let count = |group| groups.iter().filter(|other| **other == group).count();
        let Some(most) = groups.iter().copied().max_by_key(|group| count(*group)) else {
            return Ok(());
        };
        let before = self.waiting;
        let slots = self.unfinished().filter(|slot| J::group(&slot.job) == most);
        let mut jobs: Vec<_> = slots.map(|slot| &mut slot.job).collect();
        J::advance(&mut jobs)?;
        self.finish(J::is_through)?;
        if self.waiting == before {
            self.finish(|job| J::group(job) == most)?;
        }
        Ok(())
    }

    /// Completes the jobs that `which` names.
    fn finish(&mut self, which: impl Fn(&J::Running) -> bool) -> Result<(), Error> {
        let slots = self.unfinished().filter(|slot| which(&slot.job));
        let (mut jobs, marks): (Vec<_>, Vec<_>) =
            slots.map(|slot| (&mut slot.job, &mut slot.finished)).unzip();
        J::finish(&mut jobs)?;
        for mark in marks {
            *mark = true;
        }
        self.waiting = self.unfinished().count();
        Ok(())
    }

    fn unfinished(&mut self) -> impl Iterator<Item = &mut Slot<J>> {
        self.slots.iter_mut().filter(|slot| !slot.finished)
    }
}

impl<J: Submit> fmt::Debug for Scheduler<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler")
            .field("order", &self.order)
            .field("poisoned", &self.poisoned)
            .field("waiting", &self.waiting)
            .field("completed", &(self.slots.len() - self.waiting))
            .finish()
    }
}
