//! What is left to do of jobs, of any kind, and the groups of them that share a kernel.

use alloc::vec::Vec;
use core::{
    any::{Any, TypeId},
    ptr::addr_eq,
};

use lanelock_isa::{AesLevel, Block};

use super::{
    chains::{ChainWork, Flight},
    kind::{Cbc, ChainKind},
    one::run_one,
    plan::{Extent, longest_first},
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
    /// Runs chains whose keys share a kernel with this one; `one_key` if they all have this one.
    fn run(
        &self,
        flight: Flight,
        one_key: bool,
        chains: &mut dyn Iterator<Item = Work<'_, '_, K, P>>,
    );
}

/// A key that also encrypts one chain by itself, and single blocks.
pub(super) trait CbcKey: LaneKey<Cbc, 1> {
    /// Encrypts `runs` complete runs.
    fn run_one(&self, state: &mut Block, pattern: Pattern, runs: usize, data: &mut [Block]);
    /// Encrypts each block.
    fn encrypt_blocks(&self, blocks: &mut [Block]);
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

    fn run(
        &self,
        flight: Flight,
        one_key: bool,
        chains: &mut dyn Iterator<Item = Work<'_, '_, K, P>>,
    ) {
        let one_key = one_key.then(|| self.keys());
        let chains = chains.map(|Work { key, state, runs, left, data }| {
            let keys = one_key.unwrap_or_else(|| known::<K, P, C>(key).keys());
            ChainWork { state, runs, left, data, keys }
        });
        flight.run::<K, P, C>(one_key, chains);
    }
}

impl<C: LaneCipher> CbcKey for EncryptKey<C> {
    fn run_one(&self, state: &mut Block, pattern: Pattern, runs: usize, data: &mut [Block]) {
        run_one(self, state, pattern, runs, data.into());
    }

    fn encrypt_blocks(&self, blocks: &mut [Block]) {
        self.encrypt_blocks(blocks);
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
    pub(super) key: &'k (dyn LaneKey<K, P> + 'static),
    pub(super) state: &'d mut [Block; P],
    /// Complete runs.
    pub(super) runs: usize,
    /// Where to say how many of them are left in the end.
    pub(super) left: Option<&'d mut usize>,
    /// The data from the first block that is left.
    pub(super) data: K::Data<'d>,
}

/// A job as the lanes see it.
pub(super) trait Chain<'k, K: ChainKind<P>, const P: usize> {
    fn key(&self) -> &'k (dyn LaneKey<K, P> + 'static);
    fn pattern(&self) -> Pattern;
    /// Complete runs that are left.
    fn runs(&self) -> usize;
    /// Of the first block.
    fn address(&self) -> usize;
    fn work(&mut self) -> Work<'_, 'k, K, P>;
}

/// Part of a job, which is told how many runs are left of it.
impl<'k, K: ChainKind<P>, const P: usize> Chain<'k, K, P> for (Pattern, Work<'_, 'k, K, P>) {
    fn key(&self) -> &'k (dyn LaneKey<K, P> + 'static) {
        self.1.key
    }

    fn pattern(&self) -> Pattern {
        self.0
    }

    fn runs(&self) -> usize {
        self.1.runs
    }

    fn address(&self) -> usize {
        self.1.data.as_ptr().addr()
    }

    fn work(&mut self) -> Work<'_, 'k, K, P> {
        let Work { key, state, runs, data, .. } = &mut self.1;
        let (key, data) = (*key, K::reborrow(data));
        Work { key, state, runs: *runs, left: Some(runs), data }
    }
}

/// A job with a number that it has in common with those that share a kernel with it.
impl<'k, K: ChainKind<P>, J: Chain<'k, K, P>, const P: usize> Chain<'k, K, P> for (u64, &mut J) {
    fn key(&self) -> &'k (dyn LaneKey<K, P> + 'static) {
        self.1.key()
    }

    fn pattern(&self) -> Pattern {
        self.1.pattern()
    }

    fn runs(&self) -> usize {
        self.1.runs()
    }

    fn address(&self) -> usize {
        self.1.address()
    }

    fn work(&mut self) -> Work<'_, 'k, K, P> {
        self.1.work()
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
pub(super) fn run_all<'k, K: ChainKind<P>, J: Chain<'k, K, P>, const P: usize>(
    jobs: &mut [J],
    most: usize,
) {
    let Some(first) = jobs.first() else { return };
    let (key, pattern) = (first.key(), first.pattern());
    if jobs.iter().all(|job| addr_eq(job.key(), key) && job.pattern() == pattern) {
        return run_group(jobs, most, false);
    }
    // Jobs with the same number can share a kernel: cipher, level and pattern, as one number so that sorting is
    // cheap. A pattern has at most 255 + 255 blocks. There are few ciphers in a batch, which have their numbers
    // in the order of appearance.
    let mut ciphers = Vec::new();
    let mut number = |job: &J| {
        let KernelId { cipher, level } = job.key().id();
        let place = ciphers.iter().position(|known| *known == cipher).unwrap_or_else(|| {
            ciphers.push(cipher);
            ciphers.len() - 1
        });
        let (run, period) = (job.pattern().run() as u64, job.pattern().period() as u64);
        ((place as u64) << 8 | level.rank() as u64) << 20 | run << 10 | period
    };
    let mut jobs: Vec<_> = jobs.iter_mut().map(|job| (number(job), job)).collect();
    if jobs.iter().any(|(number, _)| *number != jobs[0].0) {
        jobs.sort_unstable_by_key(|(number, _)| *number);
    }
    for group in jobs.chunk_by_mut(|(a, _), (b, _)| a == b) {
        run_group(group, most, false);
    }
}

/// Runs the complete runs of jobs that share a kernel, in at most `most` lanes. With `stop_early` jobs take their
/// lanes as they came, and it ends as [`Flight`] says.
pub(super) fn run_group<'k, K: ChainKind<P>, J: Chain<'k, K, P>, const P: usize>(
    jobs: &mut [J],
    most: usize,
    stop_early: bool,
) {
    let Some(first) = jobs.first() else { return };
    let (key, pattern) = (first.key(), first.pattern());
    // The same key is recognised by its address: comparing key bytes would cost time for each job.
    let one_key = jobs.iter().all(|job| addr_eq(job.key(), key));
    let flight = |extent| Flight { level: key.id().level, pattern, extent, most, stop_early };
    if stop_early {
        let extent = Extent::of(jobs.iter().map(Chain::runs));
        let jobs = jobs.iter_mut().filter(|job| job.runs() > 0);
        key.run(flight(extent), one_key, &mut jobs.map(|job| job.work()));
    } else {
        longest_first(jobs, Chain::runs, Chain::address, |extent, jobs| {
            key.run(flight(extent), one_key, &mut jobs.map(|job| job.work()));
        });
    }
}
