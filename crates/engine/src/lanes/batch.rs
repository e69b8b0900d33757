//! The batch face: all jobs are there, all are done on return.

use core::cmp::Reverse;

use lanelock_isa::{AesLevel, Block, MOST_LANES};

use super::{
    KeyRef,
    flight::{Chain, KeyTable, LaneKeySource, OneKey, RunLanes, RunOne},
};
use crate::{Aes, Pattern, inout::InOutBlocks};

/// One chain to encrypt: CBC over the blocks of `data` that `pattern` selects. Bytes that it does not
/// select, and bytes after the last whole block, stay as they are.
#[derive(Debug)]
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

/// Encrypts all jobs, side by side in lanes.
pub fn encrypt(jobs: &mut [Job<'_>]) {
    encrypt_in_lanes(jobs, MOST_LANES);
}

/// Encrypts all jobs in at most `most` lanes: for the benchmark that finds the best number.
#[doc(hidden)]
pub fn encrypt_in_lanes(jobs: &mut [Job<'_>], most: usize) {
    let mut work: Vec<Work<'_, '_>> = jobs
        .iter_mut()
        .map(|Job { key, iv, pattern, data }| {
            let (data, _) = data.as_chunks_mut();
            let (kind, runs) = (kind(*key, *pattern), pattern.runs(data.len()));
            Work { key: *key, pattern: *pattern, kind, state: iv, runs, data }
        })
        .collect();
    match &mut work[..] {
        [] => return,
        [work] => run_alone(work),
        // Jobs that can share a kernel stand together; among them long ones first, so that the lanes
        // end together.
        many => {
            many.sort_unstable_by_key(|work| (work.kind, Reverse(work.runs)));
            for group in many.chunk_by_mut(|a, b| a.kind == b.kind) {
                run_group(group, most, false);
            }
        }
    }
    for work in &mut work {
        finish(work);
    }
}

/// What is left to do of a job.
pub(super) struct Work<'d, 'k> {
    pub(super) key: KeyRef<'k>,
    pub(super) pattern: Pattern,
    /// Jobs of the same kind can share a kernel.
    pub(super) kind: usize,
    pub(super) state: &'d mut Block,
    /// Complete runs that are left.
    pub(super) runs: usize,
    /// The data from the first block that is left to encrypt.
    pub(super) data: &'d mut [Block],
}

/// Jobs of the same kind can share a kernel: key size, level and pattern, as one number so that
/// sorting is cheap.
pub(super) fn kind(key: KeyRef<'_>, pattern: Pattern) -> usize {
    let size = match key {
        KeyRef::Aes128(_) => 0,
        KeyRef::Aes192(_) => 1,
        KeyRef::Aes256(_) => 2,
    };
    // A pattern has at most 255 + 255 blocks.
    ((size << 8 | key.level().rank()) << 10 | pattern.run()) << 10 | pattern.period()
}

/// Runs the complete runs of jobs of the same kind; `stop_early` as in [`RunLanes`].
pub(super) fn run_group(group: &mut [Work<'_, '_>], most: usize, stop_early: bool) {
    let Some(first) = group.first() else { return };
    match first.key {
        KeyRef::Aes128(_) => run_sized(group, most, stop_early, |key| match key {
            KeyRef::Aes128(key) => Some(key),
            _ => None,
        }),
        KeyRef::Aes192(_) => run_sized(group, most, stop_early, |key| match key {
            KeyRef::Aes192(key) => Some(key),
            _ => None,
        }),
        KeyRef::Aes256(_) => run_sized(group, most, stop_early, |key| match key {
            KeyRef::Aes256(key) => Some(key),
            _ => None,
        }),
    }
}

fn run_sized<'k, const R: usize>(
    group: &mut [Work<'_, 'k>],
    most: usize,
    stop_early: bool,
    key_of: impl Fn(KeyRef<'k>) -> Option<&'k Aes<R>> + Copy,
) {
    let Some(key) = key_of(group[0].key) else {
        return;
    };
    let pattern = group[0].pattern;
    let same = group.iter().all(|w| key_of(w.key).is_some_and(|other| core::ptr::eq(other, key)));
    let chains = group.iter_mut().filter(|work| work.runs > 0).filter_map(|work| {
        let keys = key_of(work.key)?.encrypt_keys();
        Some(Chain { state: work.state, runs: &mut work.runs, data: work.data, keys })
    });
    if same {
        run_lanes(key.level(), OneKey(key.encrypt_keys()), chains, pattern, most, stop_early);
    } else {
        run_lanes(key.level(), KeyTable::new(), chains, pattern, most, stop_early);
    }
}

fn run_lanes<'d, 'k: 'd, const R: usize>(
    level: AesLevel,
    keys: impl LaneKeySource<R>,
    chains: impl Iterator<Item = Chain<'d, 'k, R>>,
    pattern: Pattern,
    most: usize,
    stop_early: bool,
) {
    let (run, period) = (pattern.run(), pattern.period());
    level.run(RunLanes::<_, _, R> { chains, keys, run, period, most, stop_early });
}

fn run_alone(work: &mut Work<'_, '_>) {
    let data = (&mut *work.data).into();
    match work.key {
        KeyRef::Aes128(key) => run_one(key, work.state, work.pattern, work.runs, data),
        KeyRef::Aes192(key) => run_one(key, work.state, work.pattern, work.runs, data),
        KeyRef::Aes256(key) => run_one(key, work.state, work.pattern, work.runs, data),
    }
    work.runs = 0;
}

/// Encrypts the truncated run behind the complete ones, if the pattern wants it: too short and too
/// rare for lanes. `data` is that of the whole job.
fn finish(work: &mut Work<'_, '_>) {
    let (first, count) = work.pattern.truncated_run(work.data.len());
    if count > 0 {
        let data = work.data[first..].as_mut().into();
        match work.key {
            KeyRef::Aes128(key) => run_one(key, work.state, Pattern::ALL, count, data),
            KeyRef::Aes192(key) => run_one(key, work.state, Pattern::ALL, count, data),
            KeyRef::Aes256(key) => run_one(key, work.state, Pattern::ALL, count, data),
        }
    }
}

/// Encrypts one chain.
pub(crate) fn encrypt_one<const R: usize>(
    key: &Aes<R>,
    iv: &mut Block,
    pattern: Pattern,
    mut data: InOutBlocks<'_, '_>,
) {
    run_one(key, iv, pattern, pattern.runs(data.len()), data.reborrow());
    let (first, count) = pattern.truncated_run(data.len());
    let (_, rest) = data.split_at(first);
    run_one(key, iv, Pattern::ALL, count, rest);
}

fn run_one<const R: usize>(
    key: &Aes<R>,
    state: &mut Block,
    pattern: Pattern,
    runs: usize,
    data: InOutBlocks<'_, '_>,
) {
    let (run, period, keys) = (pattern.run(), pattern.period(), key.encrypt_keys());
    if runs > 0 {
        key.level().run(RunOne { state, data, keys, runs, run, period });
    }
}
