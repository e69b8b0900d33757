//! Pipes: what comes and goes in order.

use std::{
    io::{self, IoSlice, Read, Write},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use lanelock_mp4::{METADATA_CAP, ReadAt};

use super::{Finish, Sink, Source, WriteOrder};

/// The most bytes that are held: the largest metadata box that is read, and what stands in front of it.
const MOST_HELD: u64 = METADATA_CAP + (16 << 20);

/// A reader as a source, standard input for example. It holds what was read but not taken.
pub struct PipeSource<R> {
    name: String,
    /// Where it has ended; `u64::MAX` before. Outside of the lock, which is held while a read waits.
    end: AtomicU64,
    state: Mutex<State<R>>,
}

struct State<R> {
    reader: R,
    /// Offset of the first byte that is held.
    start: u64,
    held: Vec<u8>,
    /// The reader has said that there is no more.
    ended: bool,
}

impl<R: Read + Send> PipeSource<R> {
    /// What `reader` gives, under a name for errors.
    pub fn new(name: impl Into<String>, reader: R) -> Self {
        let state = State { reader, start: 0, held: Vec::new(), ended: false };
        Self { name: name.into(), end: AtomicU64::new(u64::MAX), state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Read> State<R> {
    fn end(&self) -> u64 {
        self.start + self.held.len() as u64
    }

    /// Reads until the bytes in front of `end` are held; fewer if there are no more.
    fn hold(&mut self, end: u64) -> io::Result<()> {
        if end.saturating_sub(self.start) > MOST_HELD {
            let what = format!(
                "more than {} MiB would be in memory in front of the first fragment; write it to a file \
                 first",
                MOST_HELD >> 20
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let mut had = self.held.len();
        let result = loop {
            let left = end.saturating_sub(self.start + had as u64);
            if left == 0 || self.ended {
                break Ok(());
            }
            if had == self.held.len() {
                // As far as there are bytes: a size that a box claims may be false.
                let more = usize::try_from(left).unwrap_or(usize::MAX).min(1 << 20);
                if self.held.try_reserve(more).is_err() {
                    break Err(io::ErrorKind::OutOfMemory.into());
                }
                self.held.resize(had + more, 0);
            }
            match read(&mut self.reader, &mut self.held[had..]) {
                Ok(read) => (had, self.ended) = (had + read, read == 0),
                Err(error) => break Err(error),
            }
        };
        self.held.truncate(had);
        result
    }

    /// Where `offset` is among the held bytes.
    fn index(&self, offset: u64) -> io::Result<usize> {
        let index = offset.checked_sub(self.start).and_then(|index| usize::try_from(index).ok());
        index.ok_or_else(|| {
            io::Error::other(format!("byte {offset} has passed already, and a pipe cannot go back"))
        })
    }

    fn ended(&self) -> io::Error {
        let what = format!("it ends after {} bytes, inside of a box", self.end());
        io::Error::new(io::ErrorKind::UnexpectedEof, what)
    }
}

/// Reads some bytes, however often a signal comes.
fn read(reader: &mut impl Read, buf: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buf) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

impl<R: Read + Send> ReadAt for PipeSource<R> {
    fn len(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    fn ends_at(&self, offset: u64) -> io::Result<bool> {
        let mut state = self.state();
        state.hold(offset.saturating_add(1))?;
        if state.ended {
            self.end.store(state.end(), Ordering::Release);
        }
        // Nobody has read up to there: a box that is left out has not come whole.
        if offset > state.end() { Err(state.ended()) } else { Ok(offset == state.end()) }
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let mut state = self.state();
        let index = state.index(offset)?;
        state.hold(offset.saturating_add(buf.len() as u64))?;
        let held = state.held.get(index..).and_then(|held| held.get(..buf.len()));
        buf.copy_from_slice(held.ok_or_else(|| state.ended())?);
        Ok(())
    }
}

impl<R: Read + Send> Source for PipeSource<R> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_sequential(&self) -> bool {
        true
    }

    fn take_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let mut state = self.state();
        let index = state.index(offset)?;
        // What lies between the held bytes and those to take is skipped.
        state.hold(offset)?;
        let held = state.held.get(index..).ok_or_else(|| state.ended())?;
        let held = &held[..held.len().min(buf.len())];
        let (front, mut rest) = buf.split_at_mut(held.len());
        front.copy_from_slice(held);
        let taken = index + front.len();
        state.held.drain(..taken);
        state.start = offset + front.len() as u64;
        // Straight into the buffer.
        while !rest.is_empty() {
            let read = if state.ended { 0 } else { read(&mut state.reader, rest)? };
            if read == 0 {
                state.ended = true;
                return Err(state.ended());
            }
            state.start += read as u64;
            rest = &mut rest[read..];
        }
        Ok(())
    }
}

/// A writer as a sink, standard output for example.
pub struct PipeSink<W> {
    name: String,
    writer: Mutex<W>,
}

impl<W: Write + Send> PipeSink<W> {
    /// What is written goes to `writer`, under a name for errors.
    pub fn new(name: impl Into<String>, writer: W) -> Self {
        Self { name: name.into(), writer: Mutex::new(writer) }
    }
}

impl<W: Write + Send> Sink for PipeSink<W> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn order(&self) -> WriteOrder {
        WriteOrder::Sequential
    }

    fn write_all_at(&self, mut parts: &mut [IoSlice<'_>], _: u64) -> io::Result<()> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        IoSlice::advance_slices(&mut parts, 0); // takes empty parts away
        while !parts.is_empty() {
            match writer.write_vectored(parts) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut parts, written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        writer.flush()
    }

    fn finish(self: Box<Self>, _: Finish) -> io::Result<()> {
        self.writer.into_inner().unwrap_or_else(PoisonError::into_inner).flush()
    }
}
