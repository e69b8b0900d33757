//! Operations that wait for others of their class, and results that wait to be taken.

use alloc::{collections::BTreeMap, vec::Vec};

use crate::{Error, Operation, Random};

/// Names an operation that was submitted, within the [`Submitter`](crate::Submitter) or
/// [`Batcher`](crate::Batcher) that gave it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticket(u64);

/// Operations in the order of submission, each with what a user of the queue notes of it, and results.
pub(crate) struct Queue<O: Operation, N> {
    waiting: Vec<(Ticket, O, N)>,
    done: BTreeMap<Ticket, Result<O::Output, Error>>,
    next: u64,
}

impl<O: Operation, N> Queue<O, N> {
    pub(crate) const fn new() -> Self {
        Self { waiting: Vec::new(), done: BTreeMap::new(), next: 0 }
    }

    pub(crate) fn push(&mut self, operation: O, note: N) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.waiting.push((ticket, operation, note));
        ticket
    }

    /// Operations that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The class of the oldest operation that waits.
    pub(crate) fn oldest(&self) -> Option<O::Class> {
        self.waiting.first().map(|(_, operation, _)| operation.class())
    }

    /// The class of each operation that waits, and its note, the oldest first.
    pub(crate) fn notes(&self) -> impl Iterator<Item = (O::Class, &N)> {
        self.waiting.iter().map(|(_, operation, note)| (operation.class(), note))
    }

    /// Runs the oldest operations of a class, at most `most`; gives how many there were.
    pub(crate) fn run(&mut self, class: O::Class, most: usize, random: &mut dyn Random) -> usize {
        let mut now = Vec::with_capacity(most);
        let mut at = 0;
        while at < self.waiting.len() && now.len() < most {
            if self.waiting[at].1.class() == class {
                now.push(self.waiting.remove(at));
            } else {
                at += 1;
            }
        }
        let operations: Vec<&O> = now.iter().map(|(_, operation, _)| operation).collect();
        if operations.is_empty() {
            return 0;
        }
        let results = O::run(&operations, random);
        debug_assert_eq!(results.len(), now.len());
        self.done.extend(now.iter().map(|(ticket, ..)| *ticket).zip(results));
        now.len()
    }

    /// The result of an operation, once.
    pub(crate) fn take(&mut self, ticket: Ticket) -> Option<Result<O::Output, Error>> {
        self.done.remove(&ticket)
    }

    /// Any result: that of the oldest operation which is done.
    pub(crate) fn pop(&mut self) -> Option<(Ticket, Result<O::Output, Error>)> {
        self.done.pop_first()
    }

    /// Forgets an operation or its result.
    pub(crate) fn cancel(&mut self, ticket: Ticket) -> bool {
        match self.waiting.iter().position(|(other, ..)| *other == ticket) {
            Some(at) => {
                drop(self.waiting.remove(at));
                true
            }
            None => self.done.remove(&ticket).is_some(),
        }
    }
}
