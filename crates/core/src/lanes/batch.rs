//! CBC and CBCS encryption of a slice of jobs: all are there at the call, all are done on return.

use core::{array, fmt, ptr::addr_eq};

use lanelock_isa::{Block, MOST_LANES};

use super::{
    key::KeyRef,
    kind::Cbc,
    one::run_one,
    work::{Chain, LaneKey, Work, run_all},
};
use crate::{
    Pattern,
    cipher::{Cipher, EncryptKey},
    inout::InOutBlocks,
    length::Length,
    modes::cmac::xor,
};

/// Chains with fewer blocks to encrypt take no lanes, if all are so short: to take one costs as much as these.
const SHORT: usize = 5;

/// Fewer short chains with one key go one by one: the processor begins with the next by itself.
const FEW: usize = 12;

/// So many of them have their next blocks encrypted by one call.
const TOGETHER: usize = 64;

/// One chain to encrypt: CBC over the blocks of `data` that `pattern` selects. Bytes that it does not
/// select, and bytes after the last whole block, stay as they are.
#[non_exhaustive]
pub struct Job<'a> {
    /// The key.
    pub key: KeyRef<'a>,
    /// The IV; after the run the last ciphertext block.
    pub iv: Block,
    /// Which blocks: [`Pattern::ALL`] is plain CBC.
    pub pattern: Pattern,
    /// The bytes, encrypted in place.
    pub data: &'a mut [u8],
}

impl<'a> Job<'a> {
    /// A job.
    pub fn new(
        key: impl Into<KeyRef<'a>>,
        iv: Block,
        pattern: Pattern,
        data: &'a mut [u8],
    ) -> Self {
        Self { key: key.into(), iv, pattern, data }
    }
}

impl fmt::Debug for Job<'_> {
    /// The length of the text, never its bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("key", &self.key)
            .field("pattern", &self.pattern)
            .field("data", &Length::of(self.data))
            .finish_non_exhaustive()
    }
}

/// Encrypts all jobs, side by side in lanes. The [module](super) has an example.
pub fn encrypt(jobs: &mut [Job<'_>]) {
    encrypt_in_lanes(jobs, MOST_LANES);
}

/// Encrypts all jobs in at most `most` lanes: for the benchmark that finds the best number.
#[doc(hidden)]
pub fn encrypt_in_lanes(jobs: &mut [Job<'_>], most: usize) {
    if jobs.len() == 1 {
        return jobs.iter_mut().for_each(alone);
    }
    if jobs.iter().all(is_short) {
        let alike =
            |a: &Job<'_>, b: &Job<'_>| addr_eq(a.key.key(), b.key.key()) && a.pattern == b.pattern;
        return jobs.chunk_by_mut(alike).for_each(short);
    }
    run_all(jobs, most);
    for job in jobs {
        finish(job);
    }
}

fn is_short(job: &Job<'_>) -> bool {
    let blocks = job.data.len() / 16;
    blocks < SHORT || job.pattern.encrypted_blocks(blocks) < SHORT
}

/// Encrypts short jobs with one key and pattern, block by block: the next one of all of them at once.
fn short(jobs: &mut [Job<'_>]) {
    let (key, pattern) = (jobs[0].key.key(), jobs[0].pattern);
    if jobs.len() < FEW {
        return jobs.iter_mut().for_each(alone);
    }
    let mut blocks = [[0; 16]; TOGETHER];
    for jobs in jobs.chunks_mut(TOGETHER) {
        for n in 0.. {
            let (at, least) = pattern.nth(n);
            let mut used = 0;
            for job in &*jobs {
                let data = job.data.as_chunks().0;
                if data.len() >= least {
                    blocks[used] = xor(&job.iv, &data[at]);
                    used += 1;
                }
            }
            if used == 0 {
                break;
            }
            key.encrypt_blocks(&mut blocks[..used]);
            let mut encrypted = blocks.iter();
            for job in &mut *jobs {
                let data = job.data.as_chunks_mut().0;
                if data.len() >= least
                    && let Some(block) = encrypted.next()
                {
                    (job.iv, data[at]) = (*block, *block);
                }
            }
        }
    }
}

/// Encrypts a job without lanes.
fn alone(job: &mut Job<'_>) {
    let (key, (data, _)) = (job.key.key(), job.data.as_chunks_mut());
    let (first, count) = job.pattern.truncated_run(data.len());
    let runs = job.pattern.runs(data.len());
    key.run_one(&mut job.iv, job.pattern, runs, &mut data[..first]);
    if count > 0 {
        key.run_one(&mut job.iv, Pattern::ALL, count, &mut data[first..]);
    }
}

impl<'k> Chain<'k, Cbc, 1> for Job<'k> {
    fn key(&self) -> &'k (dyn LaneKey<Cbc, 1> + 'static) {
        self.key.key()
    }

    fn pattern(&self) -> Pattern {
        self.pattern
    }

    fn runs(&self) -> usize {
        self.pattern.runs(self.data.len() / 16)
    }

    fn address(&self) -> usize {
        self.data.as_ptr().addr()
    }

    fn work(&mut self) -> Work<'_, 'k, Cbc, 1> {
        let (key, runs) = (self.key.key(), self.runs());
        let (data, _) = self.data.as_chunks_mut();
        Work { key, state: array::from_mut(&mut self.iv), runs, left: None, data }
    }
}

/// Encrypts the truncated run behind the complete ones, if the pattern includes it. Such runs are
/// too short and too rare for lanes.
fn finish(job: &mut Job<'_>) {
    let (data, _) = job.data.as_chunks_mut();
    let (first, _) = job.pattern.truncated_run(data.len());
    finish_run(job.key, &mut job.iv, &mut data[first..]);
}

/// Encrypts a truncated run, if there is one.
pub(super) fn finish_run(key: KeyRef<'_>, iv: &mut Block, data: &mut [Block]) {
    if !data.is_empty() {
        key.key().run_one(iv, Pattern::ALL, data.len(), data);
    }
}

/// Encrypts one chain.
pub(crate) fn encrypt_one<C: Cipher>(
    key: &EncryptKey<C>,
    iv: &mut Block,
    pattern: Pattern,
    mut data: InOutBlocks<'_, '_>,
) {
    run_one(key, iv, pattern, pattern.runs(data.len()), data.reborrow());
    let (first, count) = pattern.truncated_run(data.len());
    let (_, rest) = data.split_at(first);
    run_one(key, iv, Pattern::ALL, count, rest);
}
