//! Standard input and output.

use std::{
    fs::File,
    io::{self, Read},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{FileSource, PipeSink, PipeSource, Sink, Source, sys};

/// What standard input is called.
const INPUT: &str = "standard input";

/// Standard input as a source: a file, if it was redirected from one; a pipe otherwise. When `cancel`
/// is set, reading ends with an error, also while it waits.
pub fn standard_input(cancel: Arc<AtomicBool>) -> io::Result<Box<dyn Source>> {
    let file = sys::standard_input()?;
    let metadata = file.metadata()?;
    if metadata.is_file() && sys::position(&file) == Some(0) {
        return Ok(Box::new(FileSource::of(file, INPUT.into())?));
    }
    sys::widen_pipe(&file);
    Ok(Box::new(PipeSource::new(INPUT, Waiting { file, cancel })))
}

/// Standard output as a sink: a pipe, whatever it is.
pub fn standard_output() -> io::Result<Box<dyn Sink>> {
    let file = sys::standard_output()?;
    sys::widen_pipe(&file);
    Ok(Box::new(PipeSink::new("standard output", file)))
}

/// A pipe that is waited for until there are bytes, or a signal has come.
struct Waiting {
    file: File,
    cancel: Arc<AtomicBool>,
}

impl Read for Waiting {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while !sys::is_readable(&self.file)? {
            if self.cancel.load(Ordering::Relaxed) {
                // Not `ErrorKind::Interrupted`, on which readers try again.
                return Err(io::Error::other("interrupted"));
            }
        }
        self.file.read(buf)
    }
}
