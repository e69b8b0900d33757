//! Messages with buffers of their own, for the scheduler of the lanes.

use alloc::vec::Vec;
use core::fmt;

use super::{Batch, Message, open, seal};
use lanelock_core::{
    Error,
    lanes::{RunJobs, Submit},
    parts::Length,
};

/// What to do with a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Encrypt the text and write the tag behind it.
    Seal,
    /// Check the tag behind the text and decrypt.
    Open,
}

/// A message that owns its buffers: a job of [`lanes::Scheduler`](lanelock_core::lanes::Scheduler), which
/// collects messages and runs them as a batch.
///
/// ```
/// # use lanelock::{aead::{Aes128Gcm, batch::{Operation, OwnedMessage}}, lanes::{Order, Scheduler}};
/// # fn main() -> Result<(), lanelock::Error> {
/// let key = Aes128Gcm::new(&[1; 16])?;
/// let mut scheduler = Scheduler::new(Order::Submitted);
/// let mut done = Vec::new();
/// for number in 0..100_u64 {
///     let mut nonce = [0; 12];
///     nonce[4..].copy_from_slice(&number.to_be_bytes());
///     let data = vec![0; 100 + 16]; // the text, and room for the tag
///     let message = OwnedMessage::new(&key, Operation::Seal, nonce, [23], data, number);
///     done.extend(scheduler.submit(message)?);
/// }
/// scheduler.flush()?;
/// done.extend(core::iter::from_fn(|| scheduler.completed()));
/// assert!(done.iter().all(|message| message.result.is_ok()));
/// assert!(done.iter().map(|message| message.tag).eq(0..100));
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
pub struct OwnedMessage<'k, A, N, D, B, T> {
    /// The key.
    pub key: &'k A,
    /// What to do.
    pub operation: Operation,
    /// The nonce.
    pub nonce: N,
    /// The additional authenticated data.
    pub aad: D,
    /// The text and behind it the tag, or room for it.
    pub data: B,
    /// The caller's own.
    pub tag: T,
}

impl<'k, A, N, D, B, T> OwnedMessage<'k, A, N, D, B, T> {
    /// A message. Behind the text, `data` has the tag, or room for it.
    pub fn new(key: &'k A, operation: Operation, nonce: N, aad: D, data: B, tag: T) -> Self {
        Self { key, operation, nonce, aad, data, tag }
    }
}

/// A message that is done.
#[non_exhaustive]
pub struct CompletedMessage<B, T> {
    /// The text and behind it the tag; if the message is not authentic, the text is zeroed.
    pub data: B,
    /// What became of the message.
    pub result: Result<(), Error>,
    /// The tag of the job.
    pub tag: T,
}

/// An [`OwnedMessage`] and what became of it.
#[doc(hidden)]
#[expect(unnameable_types, reason = "the scheduler alone has them")]
pub struct RunningMessage<'k, A, N, D, B, T> {
    message: OwnedMessage<'k, A, N, D, B, T>,
    result: Result<(), Error>,
}

impl<A, N, D, B, T> RunningMessage<'_, A, N, D, B, T>
where
    A: Batch,
    N: AsRef<[u8]>,
    D: AsRef<[u8]>,
    B: AsMut<[u8]>,
{
    /// The message as a batch takes it, unless the buffer has no room for a tag, and the place of its
    /// result. Called once: messages are never half done.
    fn borrow(&mut self) -> Option<(Message<'_, A>, &mut Result<(), Error>)> {
        let message = &mut self.message;
        let data = message.data.as_mut();
        let length = data.len().checked_sub(message.key.tag_length())?;
        let (text, tag) = data.split_at_mut(length);
        let (nonce, aad) = (message.nonce.as_ref(), message.aad.as_ref());
        Some((Message::new(message.key, nonce, aad, text, tag), &mut self.result))
    }
}

impl<A, N, D, B, T> Submit for OwnedMessage<'_, A, N, D, B, T>
where
    A: Batch,
    N: AsRef<[u8]>,
    D: AsRef<[u8]>,
    B: AsMut<[u8]>,
{
    type Completed = CompletedMessage<B, T>;
}

impl<'k, A, N, D, B, T> RunJobs for OwnedMessage<'k, A, N, D, B, T>
where
    A: Batch,
    N: AsRef<[u8]>,
    D: AsRef<[u8]>,
    B: AsMut<[u8]>,
{
    type Running = RunningMessage<'k, A, N, D, B, T>;
    type Group = usize;

    fn start(self) -> Self::Running {
        // What stays if the buffer has no room for a tag.
        RunningMessage { message: self, result: Err(Error::TagLength) }
    }

    fn group(running: &Self::Running) -> usize {
        match running.message.operation {
            Operation::Seal => 0,
            Operation::Open => 1,
        }
    }

    fn finish(jobs: &mut [&mut Self::Running]) -> Result<(), Error> {
        for operation in [Operation::Seal, Operation::Open] {
            let jobs = jobs.iter_mut().filter(|job| job.message.operation == operation);
            let (mut messages, results): (Vec<_>, Vec<_>) =
                jobs.filter_map(|job| job.borrow()).unzip();
            // Each result has its place.
            let _ = match operation {
                Operation::Seal => seal(&mut messages),
                Operation::Open => open(&mut messages),
            };
            for (result, message) in results.into_iter().zip(messages) {
                *result = message.result;
            }
        }
        Ok(())
    }
}

impl<A, N, D, B, T> From<RunningMessage<'_, A, N, D, B, T>> for CompletedMessage<B, T> {
    fn from(running: RunningMessage<'_, A, N, D, B, T>) -> Self {
        let OwnedMessage { data, tag, .. } = running.message;
        Self { data, result: running.result, tag }
    }
}

impl<A, N, D, B, T> fmt::Debug for OwnedMessage<'_, A, N, D, B, T>
where
    A: fmt::Debug,
    N: AsRef<[u8]>,
    D: AsRef<[u8]>,
    B: AsRef<[u8]>,
    T: fmt::Debug,
{
    /// The lengths of nonce, AAD and text, never their bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedMessage")
            .field("key", self.key)
            .field("operation", &self.operation)
            .field("nonce", &Length::of(&self.nonce))
            .field("aad", &Length::of(&self.aad))
            .field("data", &Length::of(&self.data))
            .field("tag", &self.tag)
            .finish()
    }
}

impl<B: AsRef<[u8]>, T: fmt::Debug> fmt::Debug for CompletedMessage<B, T> {
    /// The length of the text, never its bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletedMessage")
            .field("data", &Length::of(&self.data))
            .field("result", &self.result)
            .field("tag", &self.tag)
            .finish()
    }
}
