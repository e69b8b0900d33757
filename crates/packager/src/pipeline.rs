//! The pipeline: workers take pieces of a file from read to write.
//!
//! ```text
//! plan (in order) -> read -> map (in order) -> AES -> look -> write
//! ```
//! Planning and mapping see the pieces in file order, one at a time; a piece gets its place in the
//! output when it is mapped, because only then its metadata has its size. Reading, AES and writing of
//! different pieces overlap. *Look* is for decryption: whether the keys are the right ones.
//!
//! A piece too large for a buffer is mapped straight from the file, access unit by access unit, and
//! goes on in parts that are cut between access units. So the memory of a worker is bounded by
//! [`LARGE`] and by the largest access unit, whatever the fragments are.

use std::{
    collections::VecDeque,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use crate::{
    Error, Observer, Times,
    evidence::look,
    io::{Input, Output},
    summary::timed,
    task::{Bytes, Task, grow, span_len},
};

/// A piece with more bytes than this goes on in parts.
const LARGE: u64 = 4 << 20;

/// The most workers by default: with more, the writes to the one output file wait for one another.
const MOST_WORKERS: usize = 4;

/// Yields the pieces in file order.
pub(crate) trait Plan: Send {
    fn next(&mut self) -> Result<Option<Task>, Error>;
}

/// Maps the pieces in file order: says which bytes to encrypt or decrypt, builds the metadata in
/// front of them, and gives them their place.
pub(crate) trait Map: Send {
    fn map(&mut self, task: &mut Task, bytes: &mut Bytes<'_>) -> Result<(), Error>;
}

/// What the AES stage does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CryptStage {
    Encrypt,
    Decrypt,
}

/// How far the pieces are taken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target<'a> {
    /// They are only mapped.
    Map,
    /// They are decrypted and looked at, and go nowhere.
    Look,
    /// They are written.
    Output(&'a Output),
}

impl Target<'_> {
    pub(crate) fn write(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        if let Self::Output(output) = self { output.write(bytes, offset) } else { Ok(()) }
    }
}

/// A run of the pipeline.
pub(crate) struct Pipeline<'a> {
    pub(crate) input: &'a Input,
    pub(crate) target: Target<'a>,
    pub(crate) direction: CryptStage,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) workers: usize,
}

impl Pipeline<'_> {
    /// Takes all pieces of `plan` through; gives back the mapper with what it has gathered.
    pub(crate) fn run<M: Map>(&self, plan: impl Plan, mapper: M) -> Result<(M, Times), Error> {
        let shared = Shared {
            plan: Mutex::new(Planning { plan, tickets: 0, done: false }),
            mapping: Mutex::new(Mapping { mapper, turn: 0 }),
            turned: Condvar::new(),
            parts: Mutex::new(VecDeque::new()),
            failure: Mutex::new(None),
            stop: AtomicBool::new(false),
            through: AtomicU64::new(0),
        };
        let times = Mutex::new(Times::default());
        thread::scope(|scope| {
            let work = || {
                let mut own = Times::default();
                self.work(&shared, &mut own);
                lock(&times).add(own);
            };
            for _ in 1..self.workers {
                scope.spawn(work);
            }
            work();
        });
        if let Some((_, error)) = into_inner(shared.failure) {
            return Err(error);
        }
        Ok((into_inner(shared.mapping).mapper, into_inner(times)))
    }

    fn work<P: Plan, M: Map>(&self, shared: &Shared<P, M>, times: &mut Times) {
        let _alarm = Alarm(shared);
        let mut buffer = Vec::new();
        while !shared.stop.load(Ordering::Relaxed) {
            if self.observer.interrupted() {
                return shared.fail(0, Error::Interrupted);
            }
            let part = lock(&shared.parts).pop_front();
            if let Some((ticket, part)) = part {
                if let Err(error) = self.finish(shared, &part, &mut buffer, times) {
                    return shared.fail(ticket, error);
                }
                continue;
            }
            let mut planning = lock(&shared.plan);
            if planning.done {
                return;
            }
            let ticket = planning.tickets;
            planning.tickets += 1;
            let task = match timed(&mut times.plan, || planning.plan.next()) {
                Ok(Some(task)) => task,
                Ok(None) => {
                    planning.done = true;
                    return;
                }
                Err(error) => return shared.fail(ticket, error),
            };
            drop(planning);
            if let Err(error) = self.piece(shared, ticket, task, &mut buffer, times) {
                return shared.fail(ticket, error);
            }
            if buffer.capacity() as u64 > 2 * LARGE {
                buffer = Vec::new();
            }
        }
    }

    fn piece<P, M: Map>(
        &self,
        shared: &Shared<P, M>,
        ticket: u64,
        mut task: Task,
        buffer: &mut Vec<u8>,
        times: &mut Times,
    ) -> Result<(), Error> {
        let large = task.len() > LARGE;
        if !large {
            timed(&mut times.read, || self.read(&task, buffer))?;
        }
        let mut mapping = lock(&shared.mapping);
        while mapping.turn != ticket {
            if shared.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            mapping = shared.turned.wait(mapping).unwrap_or_else(PoisonError::into_inner);
        }
        let mut bytes =
            if large { Bytes::File(buffer) } else { Bytes::Buffer(&buffer[..task.buffer_len()]) };
        timed(&mut times.map, || mapping.mapper.map(&mut task, &mut bytes))?;
        mapping.turn += 1;
        drop(mapping);
        shared.turned.notify_all();
        if matches!(self.target, Target::Map) {
            return Ok(());
        }
        timed(&mut times.write, || self.target.write(&task.head, task.out))?;
        task.out += task.head.len() as u64;
        if large {
            let parts = task.into_parts();
            lock(&shared.parts).extend(parts.into_iter().map(|part| (ticket, part)));
            return Ok(());
        }
        self.encrypt_and_write(shared, &task, buffer, times)
    }

    /// Takes a part from read to write.
    fn finish<P, M>(
        &self,
        shared: &Shared<P, M>,
        part: &Task,
        buffer: &mut Vec<u8>,
        times: &mut Times,
    ) -> Result<(), Error> {
        timed(&mut times.read, || self.read(part, buffer))?;
        self.encrypt_and_write(shared, part, buffer, times)
    }

    fn encrypt_and_write<P, M>(
        &self,
        shared: &Shared<P, M>,
        task: &Task,
        buffer: &mut [u8],
        times: &mut Times,
    ) -> Result<(), Error> {
        let buffer = &mut buffer[..task.buffer_len()];
        timed(&mut times.crypto, || self.apply(task, buffer))?;
        timed(&mut times.look, || {
            let units = (&task.units[..], &task.places[..]);
            look(&task.key_checks, units, &task.subsamples, buffer, &self.input.path)
        })?;
        timed(&mut times.write, || self.target.write(buffer, task.out))?;
        let len = task.len();
        let through = shared.through.fetch_add(len, Ordering::Relaxed) + len;
        self.observer.progress(through, self.input.len());
        Ok(())
    }

    /// Reads the spans of a task side by side.
    fn read(&self, task: &Task, buffer: &mut Vec<u8>) -> Result<(), Error> {
        let mut rest = grow(self.input, buffer, task.buffer_len())?;
        for span in &task.spans {
            let (piece, later) = rest.split_at_mut(span_len(span));
            self.input.read(piece, span.start)?;
            rest = later;
        }
        Ok(())
    }

    fn apply(&self, task: &Task, buffer: &mut [u8]) -> Result<(), Error> {
        use lanelock_cenc::ApplyError as E;
        let Task { units, subsamples, ciphers, places, .. } = task;
        let result = match self.direction {
            CryptStage::Encrypt => lanelock_cenc::encrypt(buffer, units, subsamples, ciphers),
            CryptStage::Decrypt => lanelock_cenc::decrypt(buffer, units, subsamples, ciphers),
        };
        result.map_err(|source| {
            let (E::OutOfBuffer { unit }
            | E::Overlap { unit }
            | E::SubsampleSum { unit, .. }
            | E::PartialBlock { unit, .. }
            | E::UnknownReference { unit }) = source
            else {
                return self.input.unsuitable(source.to_string());
            };
            Error::Apply { path: self.input.path.clone(), place: places[unit], source }
        })
    }
}

/// How many workers to use when `asked` were asked for.
pub(crate) fn workers(asked: usize) -> usize {
    match asked {
        0 => thread::available_parallelism().map_or(1, usize::from).min(MOST_WORKERS),
        n => n.min(64),
    }
}

struct Planning<P> {
    plan: P,
    tickets: u64,
    done: bool,
}

struct Mapping<M> {
    mapper: M,
    /// The ticket whose turn it is.
    turn: u64,
}

struct Shared<P, M> {
    plan: Mutex<Planning<P>>,
    mapping: Mutex<Mapping<M>>,
    turned: Condvar,
    /// Parts of large pieces that are mapped, with the ticket of the piece.
    parts: Mutex<VecDeque<(u64, Task)>>,
    /// The error of the earliest piece that has one.
    failure: Mutex<Option<(u64, Error)>>,
    stop: AtomicBool,
    /// Bytes of the input that are done.
    through: AtomicU64,
}

impl<P, M> Shared<P, M> {
    /// Ends all workers.
    fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
        // Under the lock: a worker that has read `stop` but does not wait yet would miss the signal.
        drop(lock(&self.mapping));
        self.turned.notify_all();
    }

    fn fail(&self, ticket: u64, error: Error) {
        let mut failure = lock(&self.failure);
        if failure.as_ref().is_none_or(|(earlier, _)| ticket < *earlier) {
            *failure = Some((ticket, error));
        }
        drop(failure);
        self.halt();
    }
}

/// Stops the other workers when this one panics: they would wait for its ticket for ever.
struct Alarm<'s, P, M>(&'s Shared<P, M>);

impl<P, M> Drop for Alarm<'_, P, M> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.halt();
        }
    }
}

/// A poisoned lock means that another worker panicked; the scope passes that on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
