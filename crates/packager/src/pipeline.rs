//! The pipeline: workers take pieces of a file from read to write.
//!
//! ```text
//! plan (in order) -> read -> map (in order) -> AES -> write
//! ```
//! Planning and mapping see the pieces in file order, one at a time; a piece gets its place in the
//! output when it is mapped, because only then its metadata has its size. Reading, AES and writing of
//! different pieces overlap. The buffers of all pieces under way are bounded together.

use std::{
    iter,
    ops::Range,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use lanelock_cenc::{AccessUnit, Cipher, map::Subsample};
use lanelock_mp4::build::NewSample;

use crate::{
    Error, Observer, Place, Times,
    io::{Input, Output},
    summary::timed,
};

/// Bytes of all buffers under way. A larger piece runs alone.
const BUDGET: usize = 26 << 20;

/// The most workers that are chosen without being asked for: beyond, the writes to one file wait for
/// one another.
const MOST_WORKERS: usize = 4;

/// A piece of the input on its way to the output.
#[derive(Debug)]
pub(crate) struct Task {
    /// What to read, side by side into one buffer.
    pub(crate) spans: Vec<Range<u64>>,
    pub(crate) kind: Kind,
    /// Access units to encrypt or decrypt, filled in by the map stage like all that follows.
    pub(crate) units: Vec<AccessUnit>,
    pub(crate) subsamples: Vec<Subsample>,
    pub(crate) ciphers: Arc<[Cipher]>,
    /// The unit's place in the input, for each of `units`.
    pub(crate) places: Vec<Place>,
    /// What to write in front of the buffer.
    pub(crate) head: Vec<u8>,
    /// Where to write it.
    pub(crate) out: u64,
}

/// What a piece is.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Bytes that stay as they are.
    Copy,
    /// Bytes that take the place of the metadata box at `at`.
    Replace { at: u64, bytes: Vec<u8> },
    /// A `sidx` or `mfra`, to be set right when everything has its place.
    Index { at: u64, bytes: Vec<u8> },
    /// A `moof`, and in the buffer the boxes behind it.
    Fragment { at: u64, moof: Vec<u8> },
    /// Samples of a progressive file that become a fragment: side by side in the buffer, track by
    /// track.
    NewFragment(Vec<NewTrack>),
    /// A stretch of a progressive file, with the samples in it.
    Stretch(Vec<StretchSample>),
}

/// The samples of a track in a new fragment.
#[derive(Debug)]
pub(crate) struct NewTrack {
    /// Index in the tracks of the movie.
    pub(crate) track: usize,
    pub(crate) description_index: u32,
    pub(crate) decode_time: u64,
    pub(crate) samples: Vec<NewSample>,
    /// Where each sample begins in the input.
    pub(crate) offsets: Vec<u64>,
}

/// A sample in a stretch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StretchSample {
    /// Index in the tracks of the movie.
    pub(crate) track: usize,
    pub(crate) description_index: u32,
    pub(crate) offset: u64,
    pub(crate) size: u32,
}

impl Task {
    /// A piece that reads one range.
    pub(crate) fn of(kind: Kind, range: Range<u64>) -> Self {
        Self::new(kind, iter::once(range).collect())
    }

    pub(crate) fn new(kind: Kind, spans: Vec<Range<u64>>) -> Self {
        Self {
            spans,
            kind,
            units: Vec::new(),
            subsamples: Vec::new(),
            ciphers: Arc::new([]),
            places: Vec::new(),
            head: Vec::new(),
            out: 0,
        }
    }

    /// Bytes of the buffer.
    fn len(&self) -> u64 {
        self.spans.iter().map(|span| span.end - span.start).sum()
    }
}

/// Yields the pieces in file order.
pub(crate) trait Plan: Send {
    fn next(&mut self) -> Result<Option<Task>, Error>;
}

/// Maps the pieces in file order: says which bytes to encrypt or decrypt, builds the metadata in
/// front of them, and gives them their place.
pub(crate) trait Map: Send {
    fn map(&mut self, task: &mut Task, buffer: &[u8]) -> Result<(), Error>;
}

/// What the AES stage does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Encrypt,
    Decrypt,
}

/// A run of the pipeline.
pub(crate) struct Pipeline<'a> {
    pub(crate) input: &'a Input,
    /// Without one, the pieces are only mapped.
    pub(crate) output: Option<&'a Output>,
    pub(crate) direction: Direction,
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
            budget: Mutex::new(BUDGET),
            freed: Condvar::new(),
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
        let mut buffer = Vec::new();
        while !shared.stop.load(Ordering::Relaxed) {
            let mut planning = lock(&shared.plan);
            if planning.done {
                return;
            }
            let ticket = planning.tickets;
            planning.tickets += 1;
            if self.observer.interrupted() {
                return shared.fail(ticket, Error::Interrupted);
            }
            let task = match timed(&mut times.plan, || planning.plan.next()) {
                Ok(Some(task)) => task,
                Ok(None) => {
                    planning.done = true;
                    return;
                }
                Err(error) => return shared.fail(ticket, error),
            };
            // Under the lock of the plan, so that pieces get memory in their order and the one whose
            // turn it is never waits for a later one.
            let cost = usize::try_from(task.len()).unwrap_or(usize::MAX).min(BUDGET);
            shared.take(cost);
            drop(planning);
            let result = self.piece(shared, ticket, task, &mut buffer, times);
            if buffer.capacity() > BUDGET / self.workers {
                buffer = Vec::new();
            }
            shared.give(cost);
            if let Err(error) = result {
                return shared.fail(ticket, error);
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
        let len = task.len();
        let buffer = timed(&mut times.read, || self.read(&task, len, buffer))?;
        let mut mapping = lock(&shared.mapping);
        while mapping.turn != ticket {
            if shared.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            mapping = shared.turned.wait(mapping).unwrap_or_else(PoisonError::into_inner);
        }
        timed(&mut times.map, || mapping.mapper.map(&mut task, buffer))?;
        mapping.turn += 1;
        drop(mapping);
        shared.turned.notify_all();
        if let Some(output) = self.output {
            timed(&mut times.crypto, || self.apply(&task, buffer))?;
            timed(&mut times.write, || {
                output.write(&task.head, task.out)?;
                output.write(buffer, task.out + task.head.len() as u64)
            })?;
            let through = shared.through.fetch_add(len, Ordering::Relaxed) + len;
            self.observer.progress(through, self.input.len());
        }
        Ok(())
    }

    fn read<'b>(
        &self,
        task: &Task,
        len: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b mut [u8], Error> {
        let too_large = || {
            let reason =
                format!("a piece of {len} bytes must be in memory at once, which is too much");
            self.input.unsuitable(reason)
        };
        let len = usize::try_from(len).map_err(|_| too_large())?;
        if buffer.capacity() < len {
            *buffer = Vec::new();
            buffer.try_reserve_exact(len).map_err(|_| too_large())?;
        }
        // Bytes that are there already need not be zeroed again.
        if buffer.len() < len {
            buffer.resize(len, 0);
        }
        let buffer = &mut buffer[..len];
        let mut rest = &mut *buffer;
        for span in &task.spans {
            let len = usize::try_from(span.end - span.start).map_err(|_| too_large())?;
            let (piece, later) = rest.split_at_mut(len);
            self.input.read(piece, span.start)?;
            rest = later;
        }
        Ok(buffer)
    }

    fn apply(&self, task: &Task, buffer: &mut [u8]) -> Result<(), Error> {
        use lanelock_cenc::ApplyError as E;
        let Task { units, subsamples, ciphers, places, .. } = task;
        let result = match self.direction {
            Direction::Encrypt => lanelock_cenc::encrypt(buffer, units, subsamples, ciphers),
            Direction::Decrypt => lanelock_cenc::decrypt(buffer, units, subsamples, ciphers),
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
    budget: Mutex<usize>,
    freed: Condvar,
    /// The error of the earliest piece that has one.
    failure: Mutex<Option<(u64, Error)>>,
    stop: AtomicBool,
    /// Bytes of the input that are done.
    through: AtomicU64,
}

impl<P, M> Shared<P, M> {
    fn fail(&self, ticket: u64, error: Error) {
        let mut failure = lock(&self.failure);
        if failure.as_ref().is_none_or(|(earlier, _)| ticket < *earlier) {
            *failure = Some((ticket, error));
        }
        self.stop.store(true, Ordering::Relaxed);
        // With the lock, so that nobody is between looking at `stop` and waiting.
        drop(lock(&self.mapping));
        self.turned.notify_all();
    }

    fn take(&self, cost: usize) {
        let mut left = lock(&self.budget);
        while *left < cost {
            left = self.freed.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
        *left -= cost;
    }

    fn give(&self, cost: usize) {
        *lock(&self.budget) += cost;
        self.freed.notify_all();
    }
}

/// A poisoned lock means that another worker panicked; the scope passes that on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
