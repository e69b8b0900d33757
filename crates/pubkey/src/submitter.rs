//! Operations that come one by one and run when they fill the lanes.

use core::fmt;

use crate::{
    Error, Operation, Random, SystemRandom,
    queue::{Queue, Ticket},
};

/// Collects operations and runs those of one class as soon as they fill its lanes.
///
/// Operations own their inputs, keys by `Arc` for example. Fewer of a class wait until others come or
/// [`flush`](Self::flush) is called: at most one less than its lanes. Results stay until they are taken. Where
/// operations must not wait longer than some time, there is [`Batcher`](crate::Batcher).
///
/// ```
/// use lanelock_pubkey::{Submitter, SystemRandom, x25519};
///
/// # fn main() -> Result<(), lanelock_pubkey::Error> {
/// let ours = x25519::SecretKey::generate(&mut SystemRandom)?;
/// let theirs = x25519::SecretKey::generate(&mut SystemRandom)?;
/// let mut submitter = Submitter::new();
/// let first = submitter.submit(x25519::Agree::new(&ours, theirs.public_key()));
/// let second = submitter.submit(x25519::Agree::new(&theirs, ours.public_key()));
/// submitter.flush();
/// let [first, second] = [first, second].map(|ticket| submitter.poll(ticket).expect("it has run"));
/// assert_eq!(first?.as_bytes(), second?.as_bytes());
/// # Ok(())
/// # }
/// ```
pub struct Submitter<O: Operation, R: Random = SystemRandom> {
    queue: Queue<O, ()>,
    random: R,
}

impl<O: Operation> Submitter<O> {
    /// No operations; random bytes are the operating system's.
    pub const fn new() -> Self {
        Self::with_random(SystemRandom)
    }
}

impl<O: Operation> Default for Submitter<O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<O: Operation, R: Random> Submitter<O, R> {
    /// The same with another source of random bytes.
    pub const fn with_random(random: R) -> Self {
        Self { queue: Queue::new(), random }
    }

    /// Adds an operation; if those of its class fill the lanes now, they run.
    pub fn submit(&mut self, operation: O) -> Ticket {
        let class = operation.class();
        let ticket = self.queue.push(operation, ());
        let lanes = O::lanes(class);
        if self.queue.notes().filter(|(other, ())| *other == class).count() >= lanes {
            self.queue.run(class, lanes, &mut self.random);
        }
        ticket
    }

    /// The result of an operation if it has run; each is handed out once.
    pub fn poll(&mut self, ticket: Ticket) -> Option<Result<O::Output, Error>> {
        self.queue.take(ticket)
    }

    /// Any result: that of the oldest operation which has run.
    pub fn completed(&mut self) -> Option<(Ticket, Result<O::Output, Error>)> {
        self.queue.pop()
    }

    /// Runs all operations that wait.
    pub fn flush(&mut self) {
        while let Some(class) = self.queue.oldest() {
            self.queue.run(class, O::lanes(class), &mut self.random);
        }
    }

    /// Forgets an operation that waits, or its result. Gives whether there was one.
    pub fn cancel(&mut self, ticket: Ticket) -> bool {
        self.queue.cancel(ticket)
    }

    /// Operations that wait.
    pub fn waiting(&self) -> usize {
        self.queue.waiting()
    }
}

impl<O: Operation, R: Random> fmt::Debug for Submitter<O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Submitter").field("waiting", &self.waiting()).finish_non_exhaustive()
    }
}
