//! Operations that wait for company, but not for long: what a thread of a server holds.

use alloc::{collections::VecDeque, vec::Vec};
use core::{fmt, time::Duration};
use std::time::Instant;

use crate::{
    Error, Operation, Random, SystemRandom,
    queue::{Queue, Ticket},
};

/// How long operations wait for others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    deadline: Duration,
    fewest: usize,
}

impl Policy {
    /// The longest that an operation waits for others; 400 µs by default.
    #[must_use]
    pub const fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Waiting pays if batches have so many operations in the mean; 4 by default. With 0 operations always wait.
    #[must_use]
    pub const fn with_fewest(self, fewest: usize) -> Self {
        Self { fewest, ..self }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self { deadline: Duration::from_micros(400), fewest: 4 }
    }
}

/// Of a class, so many of the last batches say whether waiting pays.
const REMEMBERED: usize = 8;

/// Sizes of batches that [`Statistics`] tells apart.
const SIZES: usize = 16;

/// What a [`Batcher`] has run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Statistics {
    /// Operations that have run.
    pub operations: u64,
    /// Batches that were full.
    pub full: u64,
    /// Batches that ran because an operation had waited as long as it may.
    pub expired: u64,
    /// Batches that ran at once, since waiting did not pay.
    pub at_once: u64,
    /// Batches that [`Batcher::flush`] ran.
    pub flushed: u64,
    /// Batches by their sizes: item *i* is those of *i* + 1 operations, the last one those of more, too.
    pub sizes: [u64; SIZES],
}

impl Statistics {
    /// Batches that have run.
    pub fn batches(&self) -> u64 {
        self.sizes.iter().sum()
    }
}

/// Collects the operations of one thread and runs them side by side: when they fill the lanes, or when the oldest has
/// waited as long as [`Policy`] allows.
///
/// It starts no thread and no timer, and does not look at the clock: it is told the time. An event loop
/// calls [`submit`](Self::submit) as requests come, [`poll`](Self::poll) once they are all submitted, and waits for its
/// next event no longer than until [`next_deadline`](Self::next_deadline).
///
/// **Waiting pays only under load.** As long as the last batches of a class were small, the next poll runs what is
/// there: an idle server has no extra latency. When requests come faster than they are processed, several wait at each
/// poll, batches grow by themselves, and from then on operations wait for a full batch.
///
/// ```
/// use std::{sync::Arc, time::{Duration, Instant}};
/// use lanelock_pubkey::{Batcher, Policy, SystemRandom, x25519};
///
/// # fn main() -> Result<(), lanelock_pubkey::Error> {
/// let ours = Arc::new(x25519::SecretKey::generate(&mut SystemRandom)?);
/// let peer = x25519::SecretKey::generate(&mut SystemRandom)?.public_key();
/// let mut batcher = Batcher::new(Policy::default().with_deadline(Duration::from_micros(300)));
/// let ticket = batcher.submit(x25519::Agree::new(ours.clone(), peer), Instant::now());
/// batcher.poll(Instant::now()); // alone, and nobody came before: it runs at once
/// assert!(batcher.take(ticket).expect("it has run").is_ok());
/// assert_eq!(batcher.next_deadline(), None);
/// assert_eq!(batcher.statistics().operations, 1);
/// # Ok(())
/// # }
/// ```
pub struct Batcher<O: Operation, R: Random = SystemRandom> {
    /// With the time of submission.
    queue: Queue<O, Instant>,
    policy: Policy,
    classes: Vec<Recent<O::Class>>,
    statistics: Statistics,
    random: R,
}

/// The sizes of the last batches of a class.
struct Recent<C> {
    class: C,
    sizes: VecDeque<usize>,
}

/// Why a batch runs.
#[derive(Clone, Copy)]
enum Reason {
    Full,
    Expired,
    AtOnce,
    Flushed,
}

/// The operations of a class that wait.
struct Group<C> {
    class: C,
    count: usize,
    oldest: Instant,
}

impl<O: Operation> Batcher<O> {
    /// No operations; random bytes are the operating system's.
    pub fn new(policy: Policy) -> Self {
        Self::with_random(policy, SystemRandom)
    }
}

impl<O: Operation, R: Random> Batcher<O, R> {
    /// The same with another source of random bytes.
    pub fn with_random(policy: Policy, random: R) -> Self {
        let (queue, statistics) = (Queue::new(), Statistics::default());
        Self { queue, policy, classes: Vec::new(), statistics, random }
    }

    /// Adds an operation at the time `now`. It does not run before [`poll`](Self::poll).
    pub fn submit(&mut self, operation: O, now: Instant) -> Ticket {
        self.queue.push(operation, now)
    }

    /// Runs what is due at the time `now`: full batches, what has waited long enough, and all of a class where waiting
    /// does not pay. Gives how many operations have run.
    pub fn poll(&mut self, now: Instant) -> usize {
        let mut done = 0;
        for group in self.groups() {
            let lanes = O::lanes(group.class);
            for _ in 0..group.count / lanes {
                done += self.run(group.class, lanes, Reason::Full);
            }
            // The oldest of those that are left may be younger.
            let Some(left) = self.groups().into_iter().find(|other| other.class == group.class)
            else {
                continue;
            };
            if !self.waits(group.class) {
                done += self.run(group.class, lanes, Reason::AtOnce);
            } else if now >= left.oldest + self.policy.deadline {
                done += self.run(group.class, lanes, Reason::Expired);
            }
        }
        done
    }

    /// When [`poll`](Self::poll) has something to run, if no operation comes before: that may be in the past. `None`
    /// if no operation waits.
    pub fn next_deadline(&self) -> Option<Instant> {
        let deadline = |group: &Group<O::Class>| {
            if group.count >= O::lanes(group.class) || !self.waits(group.class) {
                group.oldest
            } else {
                group.oldest + self.policy.deadline
            }
        };
        self.groups().iter().map(deadline).min()
    }

    /// Runs all operations that wait.
    pub fn flush(&mut self) {
        while let Some(class) = self.queue.oldest() {
            self.run(class, O::lanes(class), Reason::Flushed);
        }
    }

    /// The result of an operation if it has run; each is handed out once.
    pub fn take(&mut self, ticket: Ticket) -> Option<Result<O::Output, Error>> {
        self.queue.take(ticket)
    }

    /// Any result: that of the oldest operation which has run.
    pub fn completed(&mut self) -> Option<(Ticket, Result<O::Output, Error>)> {
        self.queue.pop()
    }

    /// Forgets an operation that waits, or its result, when a connection is closed for example. Gives whether there
    /// was one.
    pub fn cancel(&mut self, ticket: Ticket) -> bool {
        self.queue.cancel(ticket)
    }

    /// Operations that wait.
    pub fn waiting(&self) -> usize {
        self.queue.waiting()
    }

    /// What has run so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    fn groups(&self) -> Vec<Group<O::Class>> {
        let mut groups: Vec<Group<O::Class>> = Vec::new();
        for (class, &since) in self.queue.notes() {
            match groups.iter_mut().find(|group| group.class == class) {
                Some(group) => {
                    group.count += 1;
                    group.oldest = group.oldest.min(since);
                }
                None => groups.push(Group { class, count: 1, oldest: since }),
            }
        }
        groups
    }

    /// Whether operations of the class wait for others.
    fn waits(&self, class: O::Class) -> bool {
        let sizes =
            self.classes.iter().find(|recent| recent.class == class).map(|recent| &recent.sizes);
        let (sum, count) = sizes.map_or((0, 0), |sizes| (sizes.iter().sum(), sizes.len()));
        sum >= self.policy.fewest * count.max(1)
    }

    fn run(&mut self, class: O::Class, most: usize, reason: Reason) -> usize {
        let size = self.queue.run(class, most, &mut self.random);
        let at =
            self.classes.iter().position(|recent| recent.class == class).unwrap_or_else(|| {
                self.classes.push(Recent { class, sizes: VecDeque::with_capacity(REMEMBERED) });
                self.classes.len() - 1
            });
        let sizes = &mut self.classes[at].sizes;
        if sizes.len() == REMEMBERED {
            sizes.pop_front();
        }
        sizes.push_back(size);
        self.statistics.operations += size as u64;
        self.statistics.sizes[size.clamp(1, SIZES) - 1] += 1;
        *match reason {
            Reason::Full => &mut self.statistics.full,
            Reason::Expired => &mut self.statistics.expired,
            Reason::AtOnce => &mut self.statistics.at_once,
            Reason::Flushed => &mut self.statistics.flushed,
        } += 1;
        size
    }
}

impl<O: Operation, R: Random> fmt::Debug for Batcher<O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batcher")
            .field("policy", &self.policy)
            .field("waiting", &self.waiting())
            .field("statistics", &self.statistics)
            .finish_non_exhaustive()
    }
}
