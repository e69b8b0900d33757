//! Where bytes come from and where they go.
//!
//! Calls block, and use a thread for each worker: an async program runs them where it may block.
//! A [`Source`] is read, a [`Sink`] is written: files, memory, and pipes; what else there is (an object
//! store, an upload) implements the same traits. What differs between operating systems is in `sys`
//! alone.
//!
//! ```
//! use lanelock_packager::{
//!     EncryptOptions, KeyMap, Quiet, Scheme, encrypt,
//!     io::{PipeSink, PipeSource},
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = "tests/fixtures/avc_aac.frag.mp4";
//! // From any reader to any writer: the file must be fragmented, and each fragment leaves when it
//! // has come.
//! let (reader, writer) = (std::fs::File::open(path)?, std::io::sink());
//! let source = PipeSource::new("upload", reader);
//! let sink = PipeSink::new("download", writer);
//! let mut keys = KeyMap::new();
//! keys.parse_insert("00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0")?;
//! encrypt(&source, Box::new(sink), &EncryptOptions::new(Scheme::Cenc, keys), &Quiet)?;
//! # Ok(())
//! # }
//! ```

mod ahead;
mod file;
mod folder;
mod memory;
mod output;
mod pipe;
mod sink;
mod source;
mod standard;
mod sys;
mod unfinished;

pub(crate) use ahead::ReadAhead;
pub use lanelock_mp4::ReadAt;

pub use file::{FileSink, FileSource, write_private};
pub use folder::{FileFolder, Folder, FolderFile, MemoryFolder};
pub use memory::{MemorySink, MemorySource};
pub(crate) use output::{Object, Objects, Output};
pub use pipe::{PipeSink, PipeSource};
pub use sink::{Finish, Sink, WriteOrder};
pub use source::Source;
pub use standard::{standard_input, standard_output};

use std::{io, ops::Range};

use lanelock_mp4::ErrorKind;

use crate::Error;

/// A source, and its name for errors.
pub(crate) struct Input<'s> {
    pub(crate) source: &'s dyn Source,
    pub(crate) name: String,
}

impl<'s> Input<'s> {
    pub(crate) fn new(source: &'s dyn Source) -> Self {
        Self { source, name: source.name() }
    }

    pub(crate) fn len(&self) -> u64 {
        self.source.len()
    }

    pub(crate) fn is_sequential(&self) -> bool {
        self.source.is_sequential()
    }

    pub(crate) fn is_distant(&self) -> bool {
        self.source.is_distant()
    }

    /// About how many bytes an output has: protection adds less than a five-hundredth.
    pub(crate) fn expected_output(&self) -> u64 {
        let len = if self.is_sequential() { 0 } else { self.len() };
        len + len / 512 + (1 << 20)
    }

    pub(crate) fn read(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        self.source.read_exact_at(buffer, offset).map_err(|error| self.read_error(error))
    }

    /// Reads bytes that are not asked for again.
    pub(crate) fn take(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        self.source.take_exact_at(buffer, offset).map_err(|error| self.read_error(error))
    }

    /// Reads spans side by side.
    pub(crate) fn read_spans(&self, spans: &[Range<u64>], buffer: &mut [u8]) -> Result<(), Error> {
        self.source.read_spans(spans, buffer).map_err(|error| self.read_error(error))
    }

    /// Refuses a pipe that has ended in front of `end`.
    pub(crate) fn check_end(&self, end: u64) -> Result<(), Error> {
        let len = self.len();
        if end <= len {
            return Ok(());
        }
        let what = format!("it ends after {len} bytes, inside of a box");
        Err(self.read_error(io::Error::new(io::ErrorKind::UnexpectedEof, what)))
    }

    fn read_error(&self, source: io::Error) -> Error {
        // What was read is not what can be processed.
        if source.kind() == io::ErrorKind::InvalidData {
            return self.unsuitable(source.to_string());
        }
        Error::Read { name: self.name.clone(), error: source }
    }

    /// Refuses a source that has changed since it was opened: parts of it that were read at different
    /// times may not belong together.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        match self.source.change().map_err(|error| self.read_error(error))? {
            None => Ok(()),
            Some(how) => Err(self.unsuitable(format!(
                "it changed while it was read: {how}; wait until it is complete, then start again"
            ))),
        }
    }

    /// An error of the container, with the source's name.
    pub(crate) fn container(&self, source: lanelock_mp4::Error) -> Error {
        match source.kind() {
            ErrorKind::Io(error) => {
                self.read_error(io::Error::new(error.kind(), error.to_string()))
            }
            _ => Error::Container { name: self.name.clone(), error: source },
        }
    }

    /// The source is not one that can be processed.
    pub(crate) fn unsuitable(&self, reason: impl Into<String>) -> Error {
        Error::Unsuitable { name: self.name.clone(), reason: reason.into() }
    }
}

impl ReadAt for Input<'_> {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.source.read_exact_at(buf, offset)
    }

    fn ends_at(&self, offset: u64) -> io::Result<bool> {
        self.source.ends_at(offset)
    }
}
