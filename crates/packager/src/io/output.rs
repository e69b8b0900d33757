//! A sink while it is written by several workers.

use std::{
    io::{self, IoSlice},
    sync::{Condvar, Mutex, PoisonError},
};

use super::{Finish, Sink, WriteOrder};
use crate::{Error, Writes};

/// A sink, its name for errors, and who may write to it.
pub(crate) struct Output {
    sink: Box<dyn Sink>,
    name: String,
    /// Whether workers write one after the other.
    turns: bool,
    /// Held while writing in turns.
    state: Mutex<State>,
    written: Condvar,
}

#[derive(Default)]
struct State {
    /// For a sequential sink: where the next write goes.
    next: u64,
    /// Nothing more is written.
    halted: bool,
}

impl Output {
    pub(crate) fn new(sink: Box<dyn Sink>, writes: Writes) -> Self {
        let name = sink.name();
        let turns = writes == Writes::InTurns || sink.order() == WriteOrder::Sequential;
        Self { sink, name, turns, state: Mutex::default(), written: Condvar::new() }
    }

    /// Whether every byte must be right when it is written.
    pub(crate) fn is_sequential(&self) -> bool {
        self.sink.order() == WriteOrder::Sequential
    }

    pub(crate) fn expect(&self, bytes: u64) {
        self.sink.expect(bytes);
    }

    /// Writes bytes at `offset`.
    pub(crate) fn write(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        self.write_all(&mut [IoSlice::new(bytes)], offset)
    }

    /// Writes the parts, one behind the other, at `offset`. A sequential sink waits until all in front
    /// of it is written, or until [`Self::halt`].
    pub(crate) fn write_all(&self, parts: &mut [IoSlice<'_>], offset: u64) -> Result<(), Error> {
        let fail = |error| self.error(error);
        let len = parts.iter().map(|part| part.len() as u64).sum::<u64>();
        // Nothing has no turn: what is behind it may be written already.
        if len == 0 {
            return Ok(());
        }
        if !self.turns {
            return self.sink.write_all_at(parts, offset).map_err(fail);
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_sequential() {
            while state.next != offset && !state.halted {
                state = self.written.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.halted {
                return Ok(());
            }
            state.next += len;
        }
        let result = self.sink.write_all_at(parts, offset);
        // After a write that failed, the next one would leave a hole in front of it.
        state.halted |= result.is_err();
        drop(state);
        self.written.notify_all();
        result.map_err(fail)
    }

    /// Ends the waiting: the run has failed.
    pub(crate) fn halt(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).halted = true;
        self.written.notify_all();
    }

    /// Makes it appear.
    pub(crate) fn finish(self, len: u64, sync: bool) -> Result<(), Error> {
        let Self { sink, name, .. } = self;
        sink.finish(Finish::new(len, sync)).map_err(|error| Error::Write { name, error })
    }

    fn error(&self, error: io::Error) -> Error {
        Error::Write { name: self.name.clone(), error }
    }
}
