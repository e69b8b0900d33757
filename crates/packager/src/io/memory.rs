//! Memory as source and sink.

use std::{
    io::{self, IoSlice},
    sync::{Arc, Mutex, PoisonError},
};

use lanelock_mp4::ReadAt;

use super::{Finish, Sink, Source};

/// Bytes in memory.
#[derive(Clone, Debug)]
pub struct MemorySource {
    name: String,
    bytes: Arc<[u8]>,
}

impl MemorySource {
    /// `bytes` under a name for errors.
    pub fn new(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { name: name.into(), bytes: bytes.into() }
    }
}

impl ReadAt for MemorySource {
    fn len(&self) -> u64 {
        ReadAt::len(&*self.bytes)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.bytes.read_exact_at(buf, offset)
    }
}

impl Source for MemorySource {
    fn name(&self) -> String {
        self.name.clone()
    }
}

/// Memory that is written. Clones share it: keep one to take the bytes out.
///
/// [The crate](crate) has an example.
#[derive(Clone, Debug, Default)]
pub struct MemorySink {
    shared: Arc<Mutex<Written>>,
}

#[derive(Debug, Default)]
struct Written {
    bytes: Vec<u8>,
    finished: bool,
}

impl MemorySink {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the bytes out; none as long as they are not complete.
    pub fn into_bytes(self) -> Option<Vec<u8>> {
        let mut written = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        written.finished.then(|| std::mem::take(&mut written.bytes))
    }
}

impl Sink for MemorySink {
    fn name(&self) -> String {
        "memory".into()
    }

    fn write_all_at(&self, parts: &mut [IoSlice<'_>], offset: u64) -> io::Result<()> {
        let mut written = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = &mut written.bytes;
        let mut at = usize::try_from(offset).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let len: usize = parts.iter().map(|part| part.len()).sum();
        let end = at.checked_add(len).ok_or(io::ErrorKind::OutOfMemory)?;
        if bytes.len() < end {
            bytes.try_reserve(end - bytes.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
            bytes.resize(end, 0);
        }
        for part in parts {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        Ok(())
    }

    fn finish(self: Box<Self>, finish: Finish) -> io::Result<()> {
        let mut written = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let len = usize::try_from(finish.len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        written.bytes.truncate(len);
        written.finished = true;
        Ok(())
    }
}
