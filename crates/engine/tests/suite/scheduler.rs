//! A scheduler never hands out a job that it has not done, whatever the buffers of its jobs do.
//!
//! Buffers are types of the caller, with code of their own in `as_mut` and `as_ref`. Here they panic, or
//! come out shorter, the first, second or a later time that they are asked for their bytes.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::support::forms;
use lanelock::{
    Aes128, Aes128Cmac, AesLevel, Error, Pattern,
    aead::{
        Aes128Ccm, Aes128Gcm,
        batch::{Batch, Operation, OwnedMessage},
    },
    hash::{Hash, HashCompleted, HmacKey, Levels, OwnedHashJob, algorithm::Sha256},
    lanes::{Order, OwnedJob, OwnedMacJob, Scheduler, Submit},
};
use lanelock_testkit::pattern;

/// What a buffer does when it is asked for the `.0`th time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trick {
    None,
    Panic(u32),
    Shrink(u32),
}

struct Buffer {
    bytes: Vec<u8>,
    trick: Trick,
    asked: Cell<u32>,
}

impl Buffer {
    fn new(bytes: Vec<u8>, trick: Trick) -> Self {
        Self { bytes, trick, asked: Cell::new(0) }
    }

    /// How many bytes come out this time.
    fn ask(&self) -> usize {
        self.asked.set(self.asked.get() + 1);
        match self.trick {
            Trick::Panic(time) => assert!(self.asked.get() != time, "the buffer's own panic"),
            Trick::Shrink(time) if self.asked.get() >= time => return self.bytes.len() / 2,
            _ => {}
        }
        self.bytes.len()
    }
}

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        let length = self.ask();
        &mut self.bytes[..length]
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        let length = self.ask();
        &self.bytes[..length]
    }
}

/// The job with the tricks.
const ODD: usize = 3;
const JOBS: usize = 150;

/// Long enough to stay half done over several calls, if it is the odd one.
fn text(tag: usize) -> Vec<u8> {
    pattern(if tag == ODD { 40_000 } else { 40 + tag % 7 * 33 })
}

/// Runs the jobs that `make` makes through a scheduler, and returns whether it stopped on the way.
/// `right` says whether a completed job is really done.
fn run<J: Submit>(
    what: &str,
    order: Order,
    trick: Trick,
    make: impl Fn(Buffer, usize) -> J,
    right: impl Fn(J::Completed) -> bool,
) -> bool {
    let mut scheduler = Scheduler::new(order);
    let mut done = Vec::new();
    let mut cut_short = false;
    for tag in 0..=JOBS {
        let own = if tag == ODD { trick } else { Trick::None };
        let result = catch_unwind(AssertUnwindSafe(|| {
            if tag == JOBS {
                return scheduler.flush().map(|()| None);
            }
            scheduler.submit(make(Buffer::new(text(tag), own), tag))
        }));
        if cut_short {
            assert!(matches!(result, Ok(Err(Error::Poisoned))), "{what}: job {tag} was taken");
        }
        match result {
            Ok(Ok(job)) => done.extend(job),
            Ok(Err(error)) => {
                assert_eq!(error, Error::Poisoned, "{what}");
                cut_short = true;
            }
            Err(_) => {
                assert!(matches!(trick, Trick::Panic(_)), "{what}: panic");
                cut_short = true;
            }
        }
    }
    done.extend(core::iter::from_fn(|| scheduler.completed()));
    assert!(cut_short || done.len() == JOBS, "{what}: {} jobs came back", done.len());
    if order == Order::Submitted && cut_short {
        assert!(done.len() <= ODD, "{what}: a job overtook the one that cannot be finished");
    }
    for job in done {
        assert!(right(job), "{what}: a job left that was not done");
    }
    cut_short
}

const TRICKS: [Trick; 7] = [
    Trick::None,
    Trick::Panic(1),
    Trick::Panic(2),
    Trick::Panic(3),
    Trick::Shrink(1),
    Trick::Shrink(2),
    Trick::Shrink(3),
];

fn each_case(mut case: impl FnMut(AesLevel, Order, Trick, &str)) {
    for level in forms() {
        for order in [Order::Submitted, Order::Finished] {
            for trick in TRICKS {
                case(level, order, trick, &format!("{level}, {order:?}, {trick:?}"));
            }
        }
    }
}

/// The text as the buffer shows it: shrunken from the first time on, it is just a shorter one.
fn shown(tag: usize, trick: Trick) -> Vec<u8> {
    let mut text = text(tag);
    if tag == ODD && trick == Trick::Shrink(1) {
        text.truncate(text.len() / 2);
    }
    text
}

#[test]
fn chains() {
    for pattern in [Pattern::ALL, Pattern::new(3, 5).encrypt_truncated_runs()] {
        each_case(|level, order, trick, what| {
            let key = Aes128::with_level(&[7; 16], level);
            let make = |data, tag| OwnedJob::new(&key, [9; 16], pattern, data, tag);
            let right = |job: lanelock::lanes::Completed<Buffer, usize>| {
                let mut expected = shown(job.tag, trick);
                let shown = expected.len();
                let mut iv = [9; 16];
                key.cbcs_encrypt(&mut iv, pattern, &mut expected);
                job.data.bytes[..shown] == expected && job.next_iv == iv
            };
            let cut_short = run(what, order, trick, make, right);
            // The long job takes part in several runs.
            assert_eq!(cut_short, !matches!(trick, Trick::None | Trick::Shrink(1)), "{what}");
        });
    }
}

#[test]
fn macs() {
    each_case(|level, order, trick, what| {
        let key = Aes128Cmac::with_level(&[7; 16], level);
        let make = |message, tag| OwnedMacJob::new(&key, message, tag);
        let right = |job: lanelock::lanes::MacCompleted<Buffer, usize>| {
            key.mac(&shown(job.tag, trick)) == job.mac
        };
        let cut_short = run(what, order, trick, make, right);
        assert_eq!(cut_short, !matches!(trick, Trick::None | Trick::Shrink(1)), "{what}");
    });
}

#[test]
fn hashes() {
    for levels in Levels::available() {
        let key = HmacKey::<Sha256>::with_levels(levels, &[7; 16]);
        for (order, trick) in [Order::Submitted, Order::Finished]
            .into_iter()
            .flat_map(|order| TRICKS.map(|trick| (order, trick)))
        {
            let make = |message, tag| match tag % 2 {
                0 => OwnedHashJob::new(levels, message, tag),
                _ => OwnedHashJob::hmac(&key, message, tag),
            };
            let right = |job: HashCompleted<Sha256, Buffer, usize>| {
                let message = shown(job.tag, trick);
                let mut hash = Hash::<Sha256>::with_level(levels.one);
                hash.update(&message);
                let expected =
                    if job.tag.is_multiple_of(2) { hash.finish() } else { key.tag(&message) };
                job.digest == expected
            };
            let what = format!("{levels:?}, {order:?}, {trick:?}");
            let cut_short = run(&what, order, trick, make, right);
            match trick {
                Trick::None | Trick::Shrink(1) => assert!(!cut_short, "{what}"),
                // Where there are no lanes, the long message is asked twice.
                Trick::Panic(3) | Trick::Shrink(3) if levels.lanes.width() < 8 => {}
                _ => assert!(cut_short, "{what}"),
            }
        }
    }
}

fn messages<A: Batch>(new: impl Fn(AesLevel) -> A) {
    each_case(|level, order, trick, what| {
        let key = new(level);
        let make = |data, tag| {
            let operation = Operation::Seal;
            OwnedMessage::new(&key, operation, [5; 12], [1; 3], data, tag)
        };
        let right = |job: lanelock::aead::batch::CompletedMessage<Buffer, usize>| {
            let mut text = shown(job.tag, trick);
            text.truncate(text.len() - 16);
            let sealed = key.seal_vec(&[5; 12], &[1; 3], &text).unwrap();
            job.result.is_ok() && job.data.bytes[..sealed.len()] == sealed
        };
        let cut_short = run(what, order, trick, make, right);
        // Messages are never half done, so a buffer is asked once.
        assert_eq!(cut_short, trick == Trick::Panic(1), "{what}");
    });
}

#[test]
fn gcm_messages() {
    messages(|level| Aes128Gcm::with_level(&[7; 16], level));
}

#[test]
fn ccm_messages() {
    messages(|level| Aes128Ccm::with_level(&[7; 16], level));
}
