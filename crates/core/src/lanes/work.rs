//! What is left to do of jobs, of any kind, and the groups of them that share a kernel.

use alloc::vec::Vec;
use core::{
    any::{Any, TypeId},
    cmp::Reverse,
    ptr::addr_eq,
};

use lanelock_isa::{AesLevel, Block};

use super::{
    chains::{ChainWork, Flight},
    kind::{Cbc, ChainKind},
    one::run_one,
};
use crate::{
    Pattern,
    cipher::{Cipher, EncryptKey},
};

/// A cipher whose keys can stand beside those of others in one batch: see [`Job`](super::Job).
///
/// ```ignore
/// impl LaneCipher for Sm4 {}
/// ```
pub trait LaneCipher: Cipher<Rounds<Block>: Send + Sync> {}

/// An expanded key of any cipher, for chains of the kind `K`. An optimised build compiles the kernels where
/// references to keys are made, for the ciphers that these have and the kinds of their jobs.
pub(super) trait LaneKey<K: ChainKind<P>, const P: usize>: Any + Send + Sync {
    fn id(&self) -> KernelId;
    fn name(&self) -> &'static str;
    /// Runs the complete runs of one group, whose first key this is; `most` and `stop_early` as in [`Flight`].
    fn run_group(&self, group: &mut [Work<'_, '_, K, P>], most: usize, stop_early: bool);
}

/// A key that also encrypts one chain by itself.
pub(super) trait CbcKey: LaneKey<Cbc, 1> {
    /// Encrypts `runs` complete runs.
    fn run_one(&self, state: &mut Block, pattern: Pattern, runs: usize, data: &mut [Block]);
}

/// What keys have in common that share a kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KernelId {
    /// The cipher, and the rounds of its keys.
    pub(super) cipher: (TypeId, usize),
    pub(super) level: AesLevel,
}

impl KernelId {
    pub(super) fn of<C: LaneCipher>(key: &EncryptKey<C>) -> Self {
        Self { cipher: (TypeId::of::<C>(), key.keys().rounds), level: key.level() }
    }
}

impl<C: LaneCipher, K: ChainKind<P>, const P: usize> LaneKey<K, P> for EncryptKey<C> {
    fn id(&self) -> KernelId {
        KernelId::of(self)
    }

    fn name(&self) -> &'static str {
        self.name()
    }

    fn run_group(&self, group: &mut [Work<'_, '_, K, P>], most: usize, stop_early: bool) {
        let Some(pattern) = group.first().map(|work| work.pattern) else { return };
        // The same key is recognised by its address: comparing key bytes would cost time for each job.
        let same = group.iter().all(|work| addr_eq(work.key, self)).then(|| self.keys());
        let chains = group.iter_mut().filter(|work| work.runs > 0).map(|work| {
            let keys = same.unwrap_or_else(|| known::<K, P, C>(work.key).keys());
            let data = core::mem::take(&mut work.data);
            ChainWork { state: &mut *work.state, runs: &mut work.runs, data, keys }
        });
        Flight { level: self.level(), pattern, most, stop_early }.run::<K, P, C>(same, chains);
    }
}

impl<C: LaneCipher> CbcKey for EncryptKey<C> {
    fn run_one(&self, state: &mut Block, pattern: Pattern, runs: usize, data: &mut [Block]) {
        run_one(self, state, pattern, runs, data.into());
    }
}

/// The key itself, of which only the cipher was unknown. Keys are grouped by their ciphers before.
fn known<'k, K: ChainKind<P>, const P: usize, C: Cipher>(
    key: &'k (dyn LaneKey<K, P> + 'static),
) -> &'k EncryptKey<C> {
    let Some(key) = (key as &'k dyn Any).downcast_ref() else {
        unreachable!("a key of another cipher in a group")
    };
    key
}

/// What is left to do of a job.
pub(super) struct Work<'d, 'k, K: ChainKind<P>, const P: usize> {
    key: &'k (dyn LaneKey<K, P> + 'static),
    pattern: Pattern,
    /// Set by [`run_all`].
    group: u64,
    pub(super) state: &'d mut [Block; P],
    /// Complete runs that are left.
    pub(super) runs: usize,
    /// The data from the first block that is left.
    pub(super) data: K::Data<'d>,
}

impl<'d, 'k, K: ChainKind<P>, const P: usize> Work<'d, 'k, K, P> {
    pub(super) fn new(
        key: &'k (dyn LaneKey<K, P> + 'static),
        pattern: Pattern,
        state: &'d mut [Block; P],
        runs: usize,
        data: K::Data<'d>,
    ) -> Self {
        Self { key, pattern, group: 0, state, runs, data }
    }
}

impl<'d, 'k, K: ChainKind<P, Data<'d> = &'d [Block]>, const P: usize> Work<'d, 'k, K, P> {
    /// All of `blocks`.
    pub(super) fn whole(
        key: &'k (dyn LaneKey<K, P> + 'static),
        state: &'d mut [Block; P],
        blocks: &'d [Block],
    ) -> Self {
        Self::new(key, Pattern::ALL, state, blocks.len(), blocks)
    }
}

/// What jobs have in common that share a kernel.
pub(super) type Group = (KernelId, usize, usize);

pub(super) fn group<K: ChainKind<P>, const P: usize>(
    key: &(dyn LaneKey<K, P> + 'static),
    pattern: Pattern,
) -> Group {
    (key.id(), pattern.run(), pattern.period())
}

/// Runs all complete runs.
pub(super) fn run_all<K: ChainKind<P>, const P: usize>(
    works: &mut [Work<'_, '_, K, P>],
    most: usize,
) {
    // Works with the same number can share a kernel: cipher, level and pattern, as one number so that
    // sorting is cheap. A pattern has at most 255 + 255 blocks. There are few ciphers in a batch, which
    // have their numbers in the order of appearance.
    let Some(first) = works.first().map(|work| work.key) else { return };
    let id = first.id();
    let mut others = Vec::new(); // nearly always empty, and then no memory is asked for
    for work in &mut *works {
        // One key, one cipher: most jobs need no call to find that out.
        let KernelId { cipher, level } = if addr_eq(work.key, first) { id } else { work.key.id() };
        let place = if cipher == id.cipher {
            0
        } else {
            let known = others.iter().position(|known| *known == cipher);
            1 + known.unwrap_or_else(|| {
                others.push(cipher);
                others.len() - 1
            })
        };
        let (run, period) = (work.pattern.run() as u64, work.pattern.period() as u64);
        work.group = ((place as u64) << 8 | level.rank() as u64) << 20 | run << 10 | period;
    }
    // Works that can share a kernel stand together; among them long ones first, so that the last
    // chains in the lanes are short ones and end close together.
    works.sort_unstable_by_key(|work| (work.group, Reverse(work.runs)));
    for group in works.chunk_by_mut(|a, b| a.group == b.group) {
        run_group(group, most, false);
    }
}

/// Runs the complete runs of one group: see [`LaneKey::run_group`].
pub(super) fn run_group<K: ChainKind<P>, const P: usize>(
    group: &mut [Work<'_, '_, K, P>],
    most: usize,
    stop_early: bool,
) {
    if let Some(first) = group.first() {
        first.key.run_group(group, most, stop_early);
    }
}
