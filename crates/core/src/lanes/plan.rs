//! Which chains go first, and how many lanes they need.

use alloc::vec::Vec;
use core::slice;

use lanelock_isa::MOST_LANES;

use super::crew::ABREAST;

/// What has to be done, in runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// Of the longest chain.
    pub longest: usize,
    /// Of all chains.
    pub sum: usize,
    /// How many there are.
    pub chains: usize,
    /// Many of those that go first begin at the same place of a page.
    pub aligned: bool,
}

impl Extent {
    /// Of chains with so many runs.
    pub fn of(runs: impl Iterator<Item = usize>) -> Self {
        let mut extent = Self::default();
        runs.for_each(|runs| extent.add(runs));
        extent
    }

    fn add(&mut self, runs: usize) {
        self.longest = self.longest.max(runs);
        self.sum += runs;
        self.chains += usize::from(runs > 0);
    }
}

/// The first chains, of which it is asked whether they begin at the same place of a page.
const FIRST: usize = MOST_LANES;

/// Whether more of these addresses than the first cache has lines for agree in the bits that choose one of its
/// 64 sets. Processors have 8 to 12 lines in a set.
fn are_aligned(addresses: impl Iterator<Item = usize>) -> bool {
    let mut sets = [0_u8; 64];
    for address in addresses.take(FIRST) {
        sets[address / 64 % 64] += 1;
    }
    sets.iter().any(|lanes| usize::from(*lanes) > ABREAST)
}

/// How many runs of `period` blocks each [`ABREAST`] lanes have to be ahead of the next, to use other sets of the
/// first cache: so far that a block of each is stored before the next come, and that the processor itself, which
/// loads lines ahead, does not take their place.
#[inline(always)]
pub(super) fn head_start(period: usize) -> usize {
    const BYTES: usize = 512;
    BYTES.div_ceil(16 * period)
}

/// A quarter of an octave each, from one run to 2^32.
const BUCKETS: usize = 4 * 32;

/// So many chains are put into their order without asking for memory, which takes as long as a short chain.
const IN_PLACE: usize = 64;

/// Shorter chains have no time to stand in each other's way.
pub(super) const LONG: usize = 64;

/// Hands chains to `run` as they are to take their lanes, long ones first, so that those that are last in the
/// lanes are short and end close together. Chains without runs are left out. `address` is where one begins.
///
/// Lengths that differ by less than a quarter may change places: that costs little, and sorting them would cost
/// more than encrypting the shortest.
pub fn longest_first<W>(
    works: &mut [W],
    runs: impl Fn(&W) -> usize,
    address: impl Fn(&W) -> usize,
    run: impl FnOnce(Extent, Turns<'_, '_, W>),
) {
    let mut extent = Extent::default();
    let mut places = [0_u32; BUCKETS];
    for work in &*works {
        let runs = runs(work);
        if runs > 0 {
            extent.add(runs);
            places[bucket(runs)] += 1;
        }
    }
    if extent.sum == 0 {
        return;
    }
    let even = places[bucket(extent.longest)] as usize == works.len();
    if even {
        extent.aligned = extent.longest >= LONG && are_aligned(works.iter().map(address));
        return run(extent, Turns::AsTheyCame(works.iter_mut()));
    }
    let mut before = 0;
    for place in &mut places {
        (*place, before) = (before, before + *place);
    }
    let mut few = [const { None }; IN_PLACE];
    let mut many = Vec::new();
    let order = if let Some(few) = few.get_mut(..extent.chains) {
        few
    } else {
        many.resize_with(extent.chains, || None);
        &mut many[..]
    };
    for work in works {
        let runs = runs(work);
        if runs > 0 {
            let place = &mut places[bucket(runs)];
            order[*place as usize] = Some(work);
            *place += 1;
        }
    }
    extent.aligned =
        extent.longest >= LONG && are_aligned(order.iter().flatten().map(|work| address(work)));
    run(extent, Turns::Ordered(order.iter_mut()));
}

/// Chains in the order in which they take their lanes.
#[expect(missing_docs, reason = "which of the two it is makes no difference to an iterator")]
pub enum Turns<'o, 'w, W> {
    AsTheyCame(slice::IterMut<'w, W>),
    Ordered(slice::IterMut<'o, Option<&'w mut W>>),
}

impl<'w, W> Iterator for Turns<'_, 'w, W> {
    type Item = &'w mut W;

    fn next(&mut self) -> Option<&'w mut W> {
        match self {
            Self::AsTheyCame(works) => works.next(),
            Self::Ordered(works) => works.next()?.take(),
        }
    }
}

/// Where a chain with so many runs belongs, which are at least one: long ones in front.
fn bucket(runs: usize) -> usize {
    let runs = runs.min(u32::MAX as usize);
    let octave = runs.ilog2() as usize;
    let quarter = (runs << 2 >> octave) & 3;
    BUCKETS - 1 - (4 * octave + quarter)
}

/// The number of lanes in which chains of this extent end soonest, of `vectors` vectors of `width` lanes.
///
/// Up to four vectors a step takes little more than the latency of one block; with eight it takes nearly twice
/// that. So where the longest chain takes longer than all others together would in fewer lanes, more are no gain,
/// and make each of its blocks wait.
#[inline(always)]
pub(super) fn lanes_for(extent: Extent, width: usize, vectors: usize) -> usize {
    let needed = extent.sum.div_ceil(width * extent.longest.max(1));
    match needed {
        _ if vectors < 4 => width * vectors,
        0..=2 => width * 2,
        3..=7 => width * 4,
        _ => width * vectors,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(runs: &mut [usize]) -> (Extent, Vec<usize>) {
        let mut result = (Extent::default(), Vec::new());
        longest_first(
            runs,
            |runs| *runs,
            |_| 0,
            |extent, chains| {
                result = (extent, chains.map(|runs| *runs).collect());
            },
        );
        result
    }

    #[test]
    fn long_chains_go_first() {
        for count in [3, 8, 9, 64, 65, 500] {
            let mut runs: Vec<usize> = (0..count).map(|i| i * i * 7919 % 4001).collect();
            let (longest, sum) = (*runs.iter().max().unwrap(), runs.iter().sum::<usize>());
            let (extent, mut order) = order(&mut runs);
            assert_eq!((extent.longest, extent.sum), (longest, sum));
            for pair in order.windows(2) {
                assert!(4 * pair[1] < 5 * pair[0].max(4), "{} before {}", pair[0], pair[1]);
            }
            order.sort_unstable();
            runs.sort_unstable();
            assert_eq!(order, runs[runs.partition_point(|runs| *runs == 0)..], "each of them once");
        }
    }

    #[test]
    fn nine_in_a_set_are_too_many() {
        let lines = |lines: usize| (0..lines).map(|lane| (lane << 12) + 64 * 5 + lane);
        assert!(!are_aligned(lines(8)) && are_aligned(lines(9)));
        assert!(!are_aligned((0..500).map(|lane| 208 * lane)));
    }

    #[test]
    fn huge_chains_have_a_place() {
        let (_, order) = order(&mut [1, usize::MAX / 16, 2, u32::MAX as usize, 3, 4, 5, 6, 7, 8]);
        assert_eq!(order.last(), Some(&1));
        assert!(order[0] >= u32::MAX as usize && order[1] >= u32::MAX as usize);
    }

    #[test]
    fn one_long_chain_needs_few_lanes() {
        let lanes = |longest, sum| lanes_for(Extent { longest, sum, ..Extent::default() }, 4, 8);
        assert_eq!([lanes(10, 10), lanes(10, 80), lanes(10, 81)], [8, 8, 16]);
        assert_eq!([lanes(10, 280), lanes(10, 281), lanes(10, 320)], [16, 32, 32]);
        assert_eq!(lanes_for(Extent { longest: 1, sum: 100, ..Extent::default() }, 1, 1), 1);
        assert_eq!(lanes_for(Extent::default(), 4, 8), 8);
    }
}
