//! The pipeline: workers take pieces from read to write.
//!
//! ```text
//! plan (in order) -> read -> [decrypt (in order)] -> map (in order) -> AES -> look -> write
//! ```
//! Planning and mapping see the pieces in file order, one at a time; a piece gets its place in the
//! output when it is mapped, because only then its metadata has its size. Reading, AES and writing of
//! different pieces overlap. *Look* is for decryption: whether the keys are the right ones. Where a
//! piece is encrypted anew, it is decrypted before it is mapped.
//!
//! A piece too large for a buffer is mapped straight from the source, access unit by access unit, and
//! goes on in parts that are cut between access units. So the memory of a worker is bounded by
//! [`LARGE`] and by the largest access unit, whatever the fragments are. What must be in memory whole
//! (a piece from a pipe, or one that is encrypted anew) is bounded by [`Pipeline::memory`] together, or
//! comes alone.

use std::{
    collections::VecDeque,
    ops::Range,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use crate::{
    Error, Observer, Times,
    evidence::look,
    io::{Input, Object, Objects, Output},
    piece::{
        Bytes, Direction, Heads, LargePart, Mapped, Part, PartKind, Planned, Stage, reserve,
        span_len,
    },
    summary::timed,
};

/// A piece with more bytes than this goes on in parts.
const LARGE: u64 = 4 << 20;

/// The most workers by default: with more, the writes to the one output file wait for one another.
const MOST_WORKERS: usize = 4;

/// Yields the pieces in file order.
pub(crate) trait Plan: Send {
    fn next(&mut self) -> Result<Option<Planned>, Error>;
}

/// Maps the pieces in file order: says which bytes to encrypt or decrypt, builds the metadata in
/// front of them, and gives them their place.
pub(crate) trait Map: Send {
    /// Whether pieces are decrypted before they are mapped.
    fn decrypts_first(&self) -> bool {
        false
    }

    /// What to decrypt before a piece is mapped, for those that say so.
    fn before(&mut self, piece: &Planned, bytes: &Bytes<'_>) -> Result<Stage, Error> {
        let _ = (piece, bytes);
        Ok(Stage::new(Direction::Decrypt, [].into()))
    }

    fn map(&mut self, piece: Planned, bytes: &mut Bytes<'_>) -> Result<Mapped, Error>;
}

/// How far the pieces are taken.
#[derive(Clone, Copy)]
pub(crate) enum Target<'a> {
    /// They are only mapped; for each track, whether a mapper asks for its access units.
    Map(&'a [bool]),
    /// They are decrypted and looked at, and go nowhere.
    Look,
    /// They are written.
    Output(&'a Output),
    /// They are written to objects that the mapper names.
    Objects(&'a Objects<'a>),
}

impl<'a> Target<'a> {
    pub(crate) fn output(&self) -> Option<&'a Output> {
        if let Self::Output(output) = self { Some(output) } else { None }
    }

    /// What a piece is written to.
    fn output_of<'m>(&'m self, mapped: &'m Mapped) -> Option<&'m Output> {
        mapped.object.as_deref().map(Object::output).or(self.output())
    }

    /// Ends the waiting: the run has failed.
    fn halt(&self) {
        match self {
            Self::Output(output) => output.halt(),
            Self::Objects(objects) => objects.halt(),
            Self::Map(_) | Self::Look => {}
        }
    }
}

/// A run of the pipeline.
#[derive(Clone, Copy)]
pub(crate) struct Pipeline<'a> {
    pub(crate) input: &'a Input<'a>,
    pub(crate) target: Target<'a>,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) workers: usize,
    /// The most bytes of pieces in memory, but for one that is larger.
    pub(crate) memory: u64,
}

impl Pipeline<'_> {
    /// Takes all pieces of `plan` through; gives back the mapper with what it has gathered.
    pub(crate) fn run<M: Map>(&self, plan: impl Plan, mapper: M) -> Result<(M, Times), Error> {
        let decrypts_first = mapper.decrypts_first();
        let shared = Shared {
            decrypts_first,
            plan: Mutex::new(Planning { plan, tickets: 0, done: false }),
            mapping: Mutex::new(Mapping { mapper, turns: [0; 2] }),
            turned: Condvar::new(),
            parts: Mutex::new(VecDeque::new()),
            budget: Mutex::new(0),
            freed: Condvar::new(),
            target: self.target,
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
                // A thread that cannot start is a worker less.
                if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        if let Some((_, error)) = into_inner(shared.failure) {
            return Err(error);
        }
        // What is not copied, such as an old moov, is through as well.
        if self.target.output().is_some() && !self.input.is_sequential() {
            self.observer.progress(self.input.len(), self.input.len());
        }
        Ok((into_inner(shared.mapping).mapper, into_inner(times)))
    }

    fn work<P: Plan, M: Map>(&self, shared: &Shared<'_, P, M>, times: &mut Times) {
        let _alarm = Alarm(shared);
        let mut buffers = Buffers::default();
        while !shared.stop.load(Ordering::Relaxed) {
            if self.observer.interrupted() {
                return shared.fail(0, Error::Interrupted);
            }
            let part = lock(&shared.parts).pop_front();
            if let Some((ticket, part)) = part {
                if let Err(error) = self.part(shared, part, &mut buffers.piece, times) {
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
            let piece = match timed(&mut times.plan, || planning.plan.next()) {
                Ok(Some(piece)) => piece,
                Ok(None) => {
                    planning.done = true;
                    return;
                }
                Err(error) => return shared.fail(ticket, error),
            };
            // In the order of the pieces: one that waits for memory waits for earlier ones alone.
            let reading =
                if self.is_whole(shared.decrypts_first, &piece) { piece.len() } else { LARGE };
            shared.take_memory(reading, self.memory);
            let read = if self.input.is_sequential() {
                // A pipe gives the bytes of this piece now, and those of the next one then.
                timed(&mut times.read, || self.read(&piece.spans, &mut buffers.piece, true))
            } else {
                Ok(())
            };
            drop(planning);
            let done = read.and_then(|()| self.piece(shared, ticket, piece, &mut buffers, times));
            shared.give_memory(reading);
            if let Err(error) = done {
                return shared.fail(ticket, error);
            }
            buffers.shrink();
        }
    }

    /// Whether all of a piece is in memory at once.
    fn is_whole(&self, decrypts_first: bool, piece: &Planned) -> bool {
        decrypts_first
            || self.input.is_sequential()
            || piece.len() <= LARGE
            || matches!(piece.parts[..], [Part { kind: PartKind::Index, .. }])
    }

    fn piece<P, M: Map>(
        &self,
        shared: &Shared<'_, P, M>,
        ticket: u64,
        piece: Planned,
        buffers: &mut Buffers,
        times: &mut Times,
    ) -> Result<(), Error> {
        let Buffers { piece: buffer, unit, heads } = buffers;
        let (len, size) = (piece.buffer_len(), piece.len());
        let whole = self.is_whole(shared.decrypts_first, &piece);
        // To map a piece alone takes little of it.
        let only_mapped = matches!(self.target, Target::Map(_)) && !shared.decrypts_first;
        let mapped_whole = whole && (piece.is_dense() || !only_mapped);
        if !mapped_whole {
            let metadata = piece.metadata().into_iter().collect::<Vec<_>>();
            timed(&mut times.read, || self.read(&metadata, buffer, false))?;
            let wanted = if let Target::Map(wanted) = self.target { wanted } else { &[] };
            timed(&mut times.read, || heads.read(self.input, &piece, wanted))?;
        } else if !self.input.is_sequential() {
            timed(&mut times.read, || self.read(&piece.spans, buffer, true))?;
        }
        if shared.decrypts_first {
            let Some(mut mapping) = shared.wait(ticket, 0) else { return Ok(()) };
            let bytes = Bytes::Buffer(&buffer[..len]);
            let stage = timed(&mut times.map, || mapping.mapper.before(&piece, &bytes))?;
            shared.next(mapping, 0);
            self.apply(&stage, &mut buffer[..len], times)?;
        }
        let spans = if mapped_whole { Vec::new() } else { piece.spans.clone() };
        let Some(mut mapping) = shared.wait(ticket, 1) else { return Ok(()) };
        let mut bytes = if mapped_whole {
            Bytes::Buffer(&buffer[..len])
        } else {
            Bytes::File(buffer, heads, unit)
        };
        let mapped = timed(&mut times.map, || mapping.mapper.map(piece, &mut bytes))?;
        shared.next(mapping, 1);
        match self.target {
            Target::Map(_) => Ok(()),
            _ if mapped_whole => self.finish(shared, mapped, &mut buffer[..len], size, times),
            _ => {
                let mut mapped = mapped;
                let mut others = std::mem::take(&mut mapped.others);
                for mapped in others.iter_mut().chain([&mut mapped]) {
                    let out = mapped.out;
                    let head = mapped.take_head();
                    if let Some(output) = self.target.output_of(mapped) {
                        timed(&mut times.write, || output.write(&head, out))?;
                    }
                }
                mapped.others = others;
                let parts = mapped.into_parts(&spans);
                lock(&shared.parts).extend(parts.into_iter().map(|part| (ticket, part)));
                Ok(())
            }
        }
    }

    /// Takes part of a large piece from read to write.
    fn part<P, M>(
        &self,
        shared: &Shared<'_, P, M>,
        part: LargePart,
        buffer: &mut Vec<u8>,
        times: &mut Times,
    ) -> Result<(), Error> {
        let LargePart { spans, mapped } = part;
        timed(&mut times.read, || self.read(&spans, buffer, true))?;
        let len = spans.iter().map(span_len).sum();
        self.finish(shared, mapped, &mut buffer[..len], len as u64, times)
    }

    /// Encrypts or decrypts, and writes, all that is made of a piece of `size` bytes of the input. What was
    /// written is undone in the buffer before the next is made of it: of `cbcs` that is a tenth of video, much
    /// less than to copy all of it.
    fn finish<P, M>(
        &self,
        shared: &Shared<'_, P, M>,
        mut mapped: Mapped,
        buffer: &mut [u8],
        size: u64,
        times: &mut Times,
    ) -> Result<(), Error> {
        for other in mapped.others.drain(..) {
            let undo = self.put(other, buffer, times)?.inverse();
            timed(&mut times.crypto, || apply(self.input, &undo, buffer))?;
        }
        self.put(mapped, buffer, times)?;
        let through = shared.through.fetch_add(size, Ordering::Relaxed) + size;
        self.observer.progress(through, self.input.len());
        Ok(())
    }

    /// Encrypts or decrypts, and writes; gives back what was done.
    fn put(&self, mapped: Mapped, buffer: &mut [u8], times: &mut Times) -> Result<Stage, Error> {
        self.apply(&mapped.stage, buffer, times)?;
        if let Some(output) = self.target.output_of(&mapped) {
            let mut slices = mapped.slices(buffer);
            timed(&mut times.write, || output.write_all(&mut slices, mapped.out))?;
        }
        if let Some(object) = mapped.object {
            timed(&mut times.write, || Object::release(object))?;
        }
        Ok(mapped.stage)
    }

    fn read(&self, spans: &[Range<u64>], buffer: &mut Vec<u8>, take: bool) -> Result<(), Error> {
        read_spans(self.input, spans, buffer, take)
    }

    fn apply(&self, stage: &Stage, buffer: &mut [u8], times: &mut Times) -> Result<(), Error> {
        timed(&mut times.crypto, || apply(self.input, stage, buffer))?;
        let Stage { units, subsamples, key_checks, places, .. } = stage;
        timed(&mut times.look, || {
            look(key_checks, (units, places), subsamples, buffer, &self.input.name)
        })
    }
}

/// Reads spans side by side; with `take`, they are not asked for again.
pub(crate) fn read_spans(
    input: &Input<'_>,
    spans: &[Range<u64>],
    buffer: &mut Vec<u8>,
    take: bool,
) -> Result<(), Error> {
    let len = spans.iter().map(span_len).fold(0, usize::saturating_add);
    reserve(input, buffer, len)?;
    // A pipe may end long before a box does: only what comes is touched.
    let most = if input.is_sequential() { LARGE } else { u64::MAX };
    let mut at = 0;
    for span in spans {
        let mut start = span.start;
        while start < span.end {
            let end = span.end.min(start.saturating_add(most));
            let piece = at..at + span_len(&(start..end));
            // Bytes that are there already need not be zeroed again.
            if buffer.len() < piece.end {
                buffer.resize(piece.end, 0);
            }
            if take {
                input.take(&mut buffer[piece.clone()], start)?;
            } else {
                input.read(&mut buffer[piece.clone()], start)?;
            }
            (at, start) = (piece.end, end);
        }
    }
    Ok(())
}

/// Encrypts or decrypts the bytes of a piece.
pub(crate) fn apply(input: &Input<'_>, stage: &Stage, buffer: &mut [u8]) -> Result<(), Error> {
    use lanelock_cenc::ApplyError as E;
    let Stage { direction, units, subsamples, ciphers, places, .. } = stage;
    let result = match direction {
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
            return input.unsuitable(source.to_string());
        };
        Error::Apply { name: input.name.clone(), place: places[unit], error: source }
    })
}

/// How many workers to use when `asked` were asked for. By default no more than there are megabytes: a
/// thread takes longer to start than a short file to pass.
pub(crate) fn workers(asked: usize, input: &Input<'_>) -> usize {
    let pieces = usize::try_from(input.len() >> 20).unwrap_or(usize::MAX).max(1);
    match asked {
        0 => thread::available_parallelism().map_or(1, usize::from).min(MOST_WORKERS).min(pieces),
        n => n.min(64),
    }
}

/// The memory of a worker.
#[derive(Default)]
struct Buffers {
    piece: Vec<u8>,
    /// For an access unit of a piece that is not in memory.
    unit: Vec<u8>,
    /// For the heads of access units of a piece that is only mapped.
    heads: Heads,
}

impl Buffers {
    /// Gives back what only an unusual piece needs.
    fn shrink(&mut self) {
        for buffer in [&mut self.piece, &mut self.unit] {
            if buffer.capacity() as u64 > 2 * LARGE {
                *buffer = Vec::new();
            }
        }
    }
}

struct Planning<P> {
    plan: P,
    tickets: u64,
    done: bool,
}

struct Mapping<M> {
    mapper: M,
    /// The tickets whose turn it is: to say what to decrypt, and to be mapped.
    turns: [u64; 2],
}

struct Shared<'a, P, M> {
    /// Whether pieces are decrypted before they are mapped.
    decrypts_first: bool,
    plan: Mutex<Planning<P>>,
    mapping: Mutex<Mapping<M>>,
    turned: Condvar,
    /// Parts of large pieces that are mapped, with the ticket of the piece.
    parts: Mutex<VecDeque<(u64, LargePart)>>,
    /// Bytes of the pieces that are in memory.
    budget: Mutex<u64>,
    freed: Condvar,
    target: Target<'a>,
    /// The error of the earliest piece that has one.
    failure: Mutex<Option<(u64, Error)>>,
    stop: AtomicBool,
    /// Bytes of the input that are done.
    through: AtomicU64,
}

impl<P, M> Shared<'_, P, M> {
    /// Waits for the turn of a piece; none if the run has ended.
    fn wait(&self, ticket: u64, turn: usize) -> Option<MutexGuard<'_, Mapping<M>>> {
        let mut mapping = lock(&self.mapping);
        while mapping.turns[turn] != ticket {
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            mapping = self.turned.wait(mapping).unwrap_or_else(PoisonError::into_inner);
        }
        Some(mapping)
    }

    /// Gives the turn to the next piece.
    fn next(&self, mut mapping: MutexGuard<'_, Mapping<M>>, turn: usize) {
        mapping.turns[turn] += 1;
        drop(mapping);
        self.turned.notify_all();
    }

    /// Waits until a piece of `bytes` may be in memory beside the others.
    fn take_memory(&self, bytes: u64, limit: u64) {
        let mut budget = lock(&self.budget);
        while *budget > 0 && *budget + bytes > limit && !self.stop.load(Ordering::Relaxed) {
            budget = self.freed.wait(budget).unwrap_or_else(PoisonError::into_inner);
        }
        *budget += bytes;
    }

    fn give_memory(&self, bytes: u64) {
        *lock(&self.budget) -= bytes;
        self.freed.notify_all();
    }

    /// Ends all workers.
    fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
        // Under the lock: a worker that has read `stop` but does not wait yet would miss the signal.
        drop(lock(&self.mapping));
        self.turned.notify_all();
        drop(lock(&self.budget));
        self.freed.notify_all();
        self.target.halt();
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
struct Alarm<'s, 'a, P, M>(&'s Shared<'a, P, M>);

impl<P, M> Drop for Alarm<'_, '_, P, M> {
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
