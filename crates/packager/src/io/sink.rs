//! What is written.

use std::io::{self, IoSlice};

/// One object to write: a file, memory, a pipe. It is there, whole, when [`Sink::finish`] has returned;
/// one that is dropped before leaves nothing behind (but for a pipe, whose reader has what was written).
///
/// Writes come from several threads at once, unless the sink is ordered.
///
/// ```
/// use std::{io::{self, IoSlice}, sync::Mutex};
/// use lanelock_packager::io::{Finish, Sink, WriteOrder};
///
/// /// Parts of an object, sent in their order.
/// #[derive(Default)]
/// struct Upload(Mutex<Vec<u8>>);
///
/// impl Sink for Upload {
///     fn name(&self) -> String {
///         "upload".into()
///     }
///
///     fn order(&self) -> WriteOrder {
///         WriteOrder::Sequential
///     }
///
///     fn write_all_at(&self, parts: &mut [IoSlice<'_>], _offset: u64) -> io::Result<()> {
///         let mut sent = self.0.lock().map_err(|_| io::ErrorKind::Other)?;
///         parts.iter().for_each(|part| sent.extend_from_slice(part));
///         Ok(())
///     }
///
///     fn finish(self: Box<Self>, finish: Finish) -> io::Result<()> {
///         // Here the object would be made visible.
///         assert_eq!(self.0.into_inner().map_err(|_| io::ErrorKind::Other)?.len() as u64, finish.len);
///         Ok(())
///     }
/// }
/// # let sink = Box::new(Upload::default());
/// # sink.write_all_at(&mut [IoSlice::new(b"a"), IoSlice::new(b"bc")], 0).unwrap();
/// # sink.finish(Finish::new(3, false)).unwrap();
/// ```
pub trait Sink: Send + Sync {
    /// What the user calls it: for errors.
    fn name(&self) -> String;

    /// In which order it takes writes.
    fn order(&self) -> WriteOrder {
        WriteOrder::Any
    }

    /// About how many bytes will be written: said once, before the first write. A sink may take room
    /// for them.
    fn expect(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Writes the parts, one behind the other, at `offset`.
    fn write_all_at(&self, parts: &mut [IoSlice<'_>], offset: u64) -> io::Result<()>;

    /// Makes it appear, with `finish.len` bytes.
    fn finish(self: Box<Self>, finish: Finish) -> io::Result<()>;
}

/// In which order a sink takes writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteOrder {
    /// Any; what is there can be written over until it is finished.
    Any,
    /// From the first byte to the last, each once.
    Sequential,
    /// Any, each byte once: an object store takes the parts of an object so. Some bytes near the beginning
    /// may come last, since they are about all that is behind them.
    Once,
}

/// How a sink is finished.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Finish {
    /// Bytes that were written.
    pub len: u64,
    /// Whether they must be safe from a loss of power first.
    pub sync: bool,
}

impl Finish {
    /// An object of `len` bytes.
    pub fn new(len: u64, sync: bool) -> Self {
        Self { len, sync }
    }
}
