//! What is left to do of jobs, of any kind, and the groups of them that share a kernel.

use core::cmp::Reverse;

use lanelock_isa::{AesLevel, Block};

use super::{
    flight::{ChainWork, Flight},
    kind::ChainKind,
};
use crate::{
    Pattern,
    cipher::{Aes, Cipher},
};

/// The round keys of a chain, of any size, and their level.
#[derive(Clone, Copy)]
pub(super) struct JobKeys<'k> {
    pub(super) schedule: Schedule<'k>,
    pub(super) level: AesLevel,
}

impl JobKeys<'_> {
    /// Whether both have one size and one level.
    pub(super) fn alike(self, other: Self) -> bool {
        group(self, Pattern::ALL) == group(other, Pattern::ALL)
    }
}

#[derive(Clone, Copy)]
pub(super) enum Schedule<'k> {
    Aes128(&'k [Block; 11]),
    Aes192(&'k [Block; 13]),
    Aes256(&'k [Block; 15]),
}

/// What is left to do of a job.
pub(super) struct Work<'d, 'k, K: ChainKind<P>, const P: usize> {
    keys: JobKeys<'k>,
    pattern: Pattern,
    /// Works with the same number can share a kernel: key size, level and pattern, as one number so
    /// that sorting is cheap.
    group: usize,
    pub(super) state: &'d mut [Block; P],
    /// Complete runs that are left.
    pub(super) runs: usize,
    /// The data from the first block that is left.
    pub(super) data: K::Data<'d>,
}

impl<'d, 'k, K: ChainKind<P>, const P: usize> Work<'d, 'k, K, P> {
    pub(super) fn new(
        keys: JobKeys<'k>,
        pattern: Pattern,
        state: &'d mut [Block; P],
        runs: usize,
        data: K::Data<'d>,
    ) -> Self {
        Self { keys, pattern, group: group(keys, pattern), state, runs, data }
    }
}

impl<'d, 'k, K: ChainKind<P, Data<'d> = &'d [Block]>, const P: usize> Work<'d, 'k, K, P> {
    /// All of `blocks`.
    pub(super) fn whole(keys: JobKeys<'k>, state: &'d mut [Block; P], blocks: &'d [Block]) -> Self {
        Self::new(keys, Pattern::ALL, state, blocks.len(), blocks)
    }
}

/// See [`Work::group`].
pub(super) fn group(keys: JobKeys<'_>, pattern: Pattern) -> usize {
    let size = match keys.schedule {
        Schedule::Aes128(_) => 0,
        Schedule::Aes192(_) => 1,
        Schedule::Aes256(_) => 2,
    };
    // A pattern has at most 255 + 255 blocks.
    ((size << 8 | keys.level.rank()) << 10 | pattern.run()) << 10 | pattern.period()
}

/// Runs all complete runs.
pub(super) fn run_all<K: ChainKind<P>, const P: usize>(
    works: &mut [Work<'_, '_, K, P>],
    most: usize,
) {
    // Works that can share a kernel stand together; among them long ones first, so that the last
    // chains in the lanes are short ones and end close together.
    works.sort_unstable_by_key(|work| (work.group, Reverse(work.runs)));
    for group in works.chunk_by_mut(|a, b| a.group == b.group) {
        run_group(group, most, false);
    }
}

/// Runs the complete runs of one group; `most` and `stop_early` as in [`Flight`].
pub(super) fn run_group<K: ChainKind<P>, const P: usize>(
    group: &mut [Work<'_, '_, K, P>],
    most: usize,
    stop_early: bool,
) {
    let Some(first) = group.first() else { return };
    match first.keys.schedule {
        Schedule::Aes128(_) => {
            run_sized::<K, P, Aes<11>>(group, most, stop_early, |keys| match keys.schedule {
                Schedule::Aes128(schedule) => Some(schedule),
                _ => None,
            })
        }
        Schedule::Aes192(_) => {
            run_sized::<K, P, Aes<13>>(group, most, stop_early, |keys| match keys.schedule {
                Schedule::Aes192(schedule) => Some(schedule),
                _ => None,
            })
        }
        Schedule::Aes256(_) => {
            run_sized::<K, P, Aes<15>>(group, most, stop_early, |keys| match keys.schedule {
                Schedule::Aes256(schedule) => Some(schedule),
                _ => None,
            })
        }
    }
}

fn run_sized<'k, K: ChainKind<P>, const P: usize, C: Cipher>(
    group: &mut [Work<'_, 'k, K, P>],
    most: usize,
    stop_early: bool,
    schedule: impl Fn(JobKeys<'k>) -> Option<&'k C::Rounds<Block>> + Copy,
) {
    let (keys, pattern) = (group[0].keys, group[0].pattern);
    // The same key is recognised by its address: comparing key bytes would cost time for each job.
    let one = schedule(keys).filter(|one| {
        group.iter().all(|work| schedule(work.keys).is_some_and(|other| core::ptr::eq(other, *one)))
    });
    let chains = group.iter_mut().filter(|work| work.runs > 0).filter_map(|work| {
        let data = core::mem::take(&mut work.data);
        let keys = schedule(work.keys)?;
        Some(ChainWork { state: &mut *work.state, runs: &mut work.runs, data, keys })
    });
    Flight { level: keys.level, pattern, most, stop_early }.run::<K, P, C>(one, chains);
}
