//! A sink while it is written by several workers.

use std::{
    io::{self, IoSlice},
    sync::{
        Arc, Condvar, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{Finish, Folder, Sink, WriteOrder};
use crate::{Error, Writes};

/// How many indexes may be written last to a sink that takes each byte once: it keeps what is around them.
const MOST_LATE: usize = 4;

/// A sink, its name for errors, and who may write to it.
pub(crate) struct Output {
    sink: Box<dyn Sink>,
    name: String,
    /// Whether workers write one after the other.
    turns: bool,
    /// Bytes that were written.
    written_bytes: AtomicU64,
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
        Self {
            sink,
            name,
            turns,
            written_bytes: AtomicU64::new(0),
            state: Mutex::default(),
            written: Condvar::new(),
        }
    }

    /// Whether every byte must be right when it is written.
    pub(crate) fn is_sequential(&self) -> bool {
        self.sink.order() == WriteOrder::Sequential
    }

    /// Whether nothing may be written over.
    pub(crate) fn is_written_once(&self) -> bool {
        self.sink.order() != WriteOrder::Any
    }

    /// Whether the places of all boxes are found in a pass of their own, since so many `indexes`, which stand
    /// in front of what they refer to, cannot be written in the end.
    pub(crate) fn needs_two_passes(&self, indexes: usize) -> bool {
        match self.sink.order() {
            WriteOrder::Any => false,
            WriteOrder::Sequential => indexes > 0,
            WriteOrder::Once => indexes > MOST_LATE,
        }
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
            self.sink.write_all_at(parts, offset).map_err(fail)?;
            self.written_bytes.fetch_add(len, Ordering::Relaxed);
            return Ok(());
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
        self.written_bytes.fetch_add(len, Ordering::Relaxed);
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

/// The objects of a folder while several workers write them.
pub(crate) struct Objects<'a> {
    folder: &'a dyn Folder,
    sync: bool,
    writes: Writes,
    /// Those that are not finished.
    open: Mutex<Vec<Weak<Object>>>,
}

/// One of them. Whoever drops it last finishes it ([`Self::release`]).
pub(crate) struct Object {
    output: Output,
    /// Its bytes, so far as they have a place.
    len: AtomicU64,
    sync: bool,
}

impl<'a> Objects<'a> {
    pub(crate) fn new(folder: &'a dyn Folder, sync: bool, writes: Writes) -> Self {
        Self { folder, sync, writes, open: Mutex::default() }
    }

    /// A new object.
    pub(crate) fn create(&self, path: &str) -> Result<Arc<Object>, Error> {
        let sink = self.folder.create(path).map_err(|error| {
            let name = format!("{}/{path}", self.folder.name());
            Error::Write { name, error }
        })?;
        let output = Output::new(sink, self.writes);
        let object = Arc::new(Object { output, len: AtomicU64::new(0), sync: self.sync });
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|object| object.strong_count() > 0);
        open.push(Arc::downgrade(&object));
        Ok(object)
    }

    /// Waits until the objects that are finished are there.
    pub(crate) fn settle(&self) -> Result<(), Error> {
        self.folder.settle().map_err(|error| Error::Write { name: self.folder.name(), error })
    }

    /// Writes a whole object.
    pub(crate) fn write(&self, path: &str, bytes: &[u8]) -> Result<(), Error> {
        let object = self.create(path)?;
        object.extend(bytes.len() as u64);
        object.output.write(bytes, 0)?;
        Object::release(object)
    }

    /// Ends the waiting: the run has failed.
    pub(crate) fn halt(&self) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter().filter_map(Weak::upgrade).for_each(|object| object.output.halt());
    }
}

impl Object {
    /// Gives the next `bytes` their place.
    pub(crate) fn extend(&self, bytes: u64) -> u64 {
        self.len.fetch_add(bytes, Ordering::Relaxed)
    }

    pub(crate) fn output(&self) -> &Output {
        &self.output
    }

    /// Finishes it, if nobody else has it: then all of it is written, or the run has failed.
    pub(crate) fn release(this: Arc<Self>) -> Result<(), Error> {
        let Some(Self { output, len, sync }) = Arc::into_inner(this) else { return Ok(()) };
        let len = len.into_inner();
        if output.written_bytes.load(Ordering::Relaxed) < len {
            return Ok(());
        }
        output.finish(len, sync)
    }
}
