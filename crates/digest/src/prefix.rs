//! HMAC of messages whose lengths are secrets, in a time that does not depend on them.
//!
//! A record of TLS that was encrypted behind its MAC ends with padding, and how much of it is padding is a secret
//! until the MAC is known to be right: an attacker who measures it decrypts (N. AlFardan, K. Paterson, "Lucky
//! Thirteen", 2013). So the hash takes whole blocks as long as all possible lengths have them, then every block that
//! any of the lengths has, and of the states in between it keeps the one behind the last block of the length that it
//! is (A. Langley, "Lucky Thirteen attack on TLS CBC", 2013). Of many messages each of these blocks is taken in lanes.

use core::{fmt, hint::black_box, ops::Range};

use lanelock_core::parts::{equal, less};
use lanelock_isa::{Word, wipe};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    algorithm::{Bytes, Compress, MerkleDamgard, State, WordOf},
    compression::{Compression, compress},
    hmac::HmacKey,
    lanes::{Chain, Goal, Task, run_all},
};

/// A message that is the beginning of some data: its tag by HMAC. Zeroised on drop.
///
/// Which length of `lengths` it has is a secret; the lengths themselves are not.
///
/// ```
/// use lanelock::hash::{HmacKey, PrefixJob, algorithm::Sha256, hmac_prefixes};
///
/// # fn main() -> Result<(), lanelock::LevelError> {
/// let key = HmacKey::<Sha256>::new(b"key")?;
/// let mut jobs = [PrefixJob::new(&key, b"", b"a message, and padding", 0..22, 9)];
/// hmac_prefixes(&mut jobs);
/// assert_eq!(jobs[0].tag, key.tag(b"a message"));
/// # Ok(())
/// # }
/// ```
pub struct PrefixJob<'a, A: MerkleDamgard> {
    key: &'a HmacKey<A>,
    head: &'a [u8],
    data: &'a [u8],
    lengths: Range<usize>,
    length: usize,
    state: State<A>,
    /// The state behind the last block of the message, once it was taken.
    kept: State<A>,
    /// The number of the next block that not all lengths have; before, the whole ones are to be taken.
    next: Option<usize>,
    /// That block.
    tail: A::Tail,
    /// After the run the tag. Whatever is there before is overwritten.
    pub tag: A::Digest,
}

impl<'a, A: MerkleDamgard> PrefixJob<'a, A> {
    /// `head` and the first `length` bytes of `data`. All of `lengths` are possible, for whoever measures the time;
    /// for another length the tag is any value.
    ///
    /// # Panics
    /// If `head` is as long as a block of the hash, or longer, if `data` are shorter than the longest of `lengths`,
    /// or if it is 2^31 or more.
    pub fn new(
        key: &'a HmacKey<A>,
        head: &'a [u8],
        data: &'a [u8],
        lengths: Range<usize>,
        length: usize,
    ) -> Self {
        assert!(head.len() < Compress::<A>::BLOCK, "a head is shorter than a block");
        assert!(
            lengths.end <= data.len() + 1 && data.len() < 1 << 30,
            "data as long as the longest message"
        );
        let (state, kept) = (*key.states().0, Compress::<A>::state(WordOf::<A>::default()));
        let (tail, tag) = (A::Tail::ZERO, A::Digest::ZERO);
        Self { key, head, data, lengths, length, state, kept, next: None, tail, tag }
    }

    /// The bytes of head and data in blocks that are whole whatever the length is.
    fn whole(&self) -> usize {
        let least = self.head.len() + self.lengths.start;
        least - least % Compress::<A>::BLOCK
    }

    /// The bytes of the field at the end of a message that has its length, as far as they count here.
    const FIELD: usize = Compress::<A>::BLOCK / 8;

    /// The number behind that of the last block that any of the lengths has.
    fn end(&self) -> usize {
        let most = self.head.len() + self.lengths.end.saturating_sub(1);
        (most + Self::FIELD) / Compress::<A>::BLOCK + 1
    }

    /// Bytes of head and message: a secret. No number is 2^31 or more.
    fn total(&self) -> u32 {
        black_box(low(self.head.len() + self.length))
    }

    /// All ones in the last block of the message, and zero in any other. Hidden, as whatever all of a loop shares: no
    /// branch is made of it.
    fn is_last(&self, number: usize) -> u8 {
        // The padding takes a byte and the number of bits.
        let last = (self.total() + low(Self::FIELD)) >> Compress::<A>::BLOCK.trailing_zeros();
        black_box(equal(low(number), last))
    }

    /// Makes block `number`, of which any part may be message or padding.
    fn make_block(&mut self, number: usize) {
        let (block, field) = (Compress::<A>::BLOCK, Self::FIELD);
        let (total, is_last) = (self.total(), self.is_last(number));
        let bits = u64::from(total + low(block)) * 8;
        let mut length_field = [0; 16];
        length_field[8..].copy_from_slice(&bits.to_be_bytes());

        let (start, before) = (number * block, self.head.len());
        let bytes = &mut self.tail.as_mut()[..block];
        bytes.fill(0);
        // Head and data, as far as there are any.
        let head = if number == 0 { self.head } else { &[] };
        let (first, rest) = bytes.split_at_mut(head.len());
        first.copy_from_slice(head);
        let data = self.data.get(start + head.len() - before..).unwrap_or_default();
        let count = data.len().min(rest.len());
        rest[..count].copy_from_slice(&data[..count]);
        // Behind the message a one, and zeros.
        for (at, byte) in (low(start)..).zip(&mut *bytes) {
            *byte = *byte & less(at, total) | 0x80 & equal(at, total);
        }
        for (byte, length) in bytes[block - field..].iter_mut().zip(&length_field[16 - field..]) {
            *byte |= length & is_last;
        }
    }

    /// Goes on to the next block, after the whole ones or the one that was taken. False if there is none.
    fn advance(&mut self) -> bool {
        let next = match self.next {
            None => self.whole() / Compress::<A>::BLOCK,
            Some(number) if number >= self.end() => return false,
            Some(number) => {
                let is_last = self.is_last(number);
                for (kept, word) in self.kept.as_mut().iter_mut().zip(self.state.as_ref()) {
                    *kept = select(*kept, *word, is_last);
                }
                number + 1
            }
        };
        self.next = Some(next);
        if next < self.end() {
            self.make_block(next);
        }
        next < self.end()
    }

    /// Takes the outer hash.
    fn finish(&mut self) {
        let block = Compress::<A>::BLOCK;
        self.state = *self.key.states().1;
        A::output(self.kept.as_ref(), self.tag.as_mut());
        let digest = self.tag.as_ref().len();
        let tail = self.tail.as_mut();
        wipe(tail);
        tail[..digest].copy_from_slice(self.tag.as_ref());
        let bytes = A::pad(tail, digest, (block + digest) as u64);
        compress::<Compress<A>>(self.key.levels().one, &mut self.state, &tail[..bytes]);
        A::output(self.state.as_ref(), self.tag.as_mut());
    }
}

impl<A: MerkleDamgard> Chain<A> for PrefixJob<'_, A> {
    fn blocks(&self) -> usize {
        match self.next {
            None => self.whole() / Compress::<A>::BLOCK,
            Some(number) => usize::from(number < self.end()),
        }
    }

    fn address(&self) -> usize {
        match self.next {
            None => self.data.as_ptr().addr(),
            Some(_) => self.tail.as_ref().as_ptr().addr(),
        }
    }

    fn task(&mut self) -> Task<'_, A> {
        let (head, message) = match (self.next, self.whole()) {
            (Some(number), _) if number < self.end() => {
                (&[][..], &self.tail.as_ref()[..Compress::<A>::BLOCK])
            }
            (Some(_), _) | (None, 0) => (&[][..], &[][..]),
            (None, whole) => (self.head, &self.data[..whole - self.head.len()]),
        };
        Task { head, message, from: None, goal: Goal::State(&mut self.state) }
    }
}

/// Computes the tags of all jobs, side by side in lanes where that is faster than one by one, at the levels of the first
/// key. Keys may differ. Each job is run once.
pub fn hmac_prefixes<A: MerkleDamgard>(jobs: &mut [PrefixJob<'_, A>]) {
    let Some(first) = jobs.first() else { return };
    let levels = first.key.levels();
    run_all(levels, jobs);
    // How many blocks follow depends on the lengths of data alone.
    loop {
        let mut any = false;
        for job in &mut *jobs {
            any |= job.advance();
        }
        if !any {
            break;
        }
        run_all(levels, jobs);
    }
    for job in jobs {
        job.finish();
    }
}

/// `if_not`, or `if_so` where the mask is all ones.
#[inline(always)]
fn select<W: Word>(if_not: W, if_so: W, mask: u8) -> W {
    if_not ^ (if_not ^ if_so) & W::read_le(&[mask; 8])
}

/// Of a number that has no higher bits.
#[inline(always)]
fn low(number: usize) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "there are no higher bits")]
    let low = number as u32;
    low
}

impl<A: MerkleDamgard> Drop for PrefixJob<'_, A> {
    fn drop(&mut self) {
        self.state.as_mut().zeroize();
        self.kept.as_mut().zeroize();
        wipe(self.tail.as_mut());
        self.tag.zeroize();
    }
}

impl<A: MerkleDamgard> ZeroizeOnDrop for PrefixJob<'_, A> {}

impl<A: MerkleDamgard> fmt::Debug for PrefixJob<'_, A> {
    /// The possible lengths, never the one that it is, nor the bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrefixJob")
            .field("key", &self.key)
            .field("lengths", &self.lengths)
            .finish_non_exhaustive()
    }
}
