//! The lanes themselves: chains in flight, and the kernel that advances them.

use core::mem;

use lanelock_isa::{
    Block, Blocks, Clmul, Kernel, LaneKeys, MOST_LANES, RoundKeys, SameKey, Window,
};
use zeroize::Zeroize;

use crate::{aes::broadcast, inout::InOutBlocks};

/// The most vectors in flight: `MOST_LANES` at four lanes a vector. The numbers of vectors that have a
/// kernel (1, 2, 3, 4, 8) were chosen by the sweep `lanelock-lab lanes`, see `docs/performance.md`.
const MOST_VECTORS: usize = 8;

/// A chain to run: the blocks from its first encrypted one on, and where its state lives.
pub(super) struct Chain<'d, 'k, const R: usize> {
    /// The IV; in the end the last ciphertext block.
    pub(super) state: &'d mut Block,
    /// Complete runs to encrypt; in the end those that are left.
    pub(super) runs: &'d mut usize,
    /// At least `(runs - 1) * period + run` blocks.
    pub(super) data: &'d mut [Block],
    pub(super) keys: &'k [Block; R],
}

/// Where the lanes find their round keys.
pub(super) trait LaneKeySource<const R: usize> {
    /// Lane `lane` now needs `keys`.
    fn set(&mut self, lane: usize, keys: &[Block; R]);
    /// The key of lane `from` moves to lane `to`.
    fn copy(&mut self, from: usize, to: usize);
    /// Advances lanes 0 to `used` - 1, which `N` vectors just hold.
    fn advance<S: Blocks, const N: usize>(
        &self,
        s: S,
        lanes: &mut Lanes<'_>,
        used: usize,
        steps: Steps,
    );
}

/// All chains have the same key: it stays in registers.
pub(super) struct OneKey<'k, const R: usize>(pub(super) &'k [Block; R]);

impl<const R: usize> LaneKeySource<R> for OneKey<'_, R> {
    #[inline(always)]
    fn set(&mut self, _: usize, _: &[Block; R]) {}

    #[inline(always)]
    fn copy(&mut self, _: usize, _: usize) {}

    #[inline(always)]
    fn advance<S: Blocks, const N: usize>(
        &self,
        s: S,
        lanes: &mut Lanes<'_>,
        used: usize,
        steps: Steps,
    ) {
        lanes.advance::<S, N, R>(s, SameKey(broadcast(s, self.0)), used, steps);
    }
}

/// Chains with different keys: round keys of all lanes side by side, `table[round][lane]`.
pub(super) struct KeyTable<const R: usize>([[Block; MOST_LANES]; R]);

impl<const R: usize> KeyTable<R> {
    pub(super) fn new() -> Self {
        Self([[[0; 16]; MOST_LANES]; R])
    }
}

impl<const R: usize> LaneKeySource<R> for KeyTable<R> {
    #[inline(always)]
    fn set(&mut self, lane: usize, keys: &[Block; R]) {
        for (row, key) in self.0.iter_mut().zip(keys) {
            row[lane] = *key;
        }
    }

    #[inline(always)]
    fn copy(&mut self, from: usize, to: usize) {
        for row in &mut self.0 {
            row[to] = row[from];
        }
    }

    #[inline(always)]
    fn advance<S: Blocks, const N: usize>(
        &self,
        s: S,
        lanes: &mut Lanes<'_>,
        used: usize,
        steps: Steps,
    ) {
        lanes.advance::<S, N, R>(s, LaneKeys(&self.0), used, steps);
    }
}

impl<const R: usize> Drop for KeyTable<R> {
    fn drop(&mut self) {
        self.0.as_flattened_mut().as_flattened_mut().zeroize();
    }
}

/// How far to advance: `runs` runs of `run` blocks, their starts `period` blocks apart.
#[derive(Clone, Copy)]
pub(super) struct Steps {
    runs: usize,
    run: usize,
    period: usize,
}

impl Steps {
    /// The blocks from the first to the last encrypted one.
    #[inline(always)]
    fn blocks(self) -> usize {
        (self.runs - 1) * self.period + self.run
    }
}

/// The chains in flight: lanes 0 to `active` - 1 are in use.
pub(super) struct Lanes<'d> {
    data: [&'d mut [Block]; MOST_LANES],
    state: [Block; MOST_LANES],
    runs: [usize; MOST_LANES],
    /// Where state and runs go in the end.
    home: [Option<(&'d mut Block, &'d mut usize)>; MOST_LANES],
    active: usize,
}

impl<'d> Lanes<'d> {
    fn new() -> Self {
        Self {
            data: core::array::from_fn(|_| <&mut [Block]>::default()),
            state: [[0; 16]; MOST_LANES],
            runs: [0; MOST_LANES],
            home: [const { None }; MOST_LANES],
            active: 0,
        }
    }

    #[inline(always)]
    #[expect(clippy::needless_pass_by_value, reason = "the lane takes the chain over")]
    fn put<const R: usize>(
        &mut self,
        lane: usize,
        chain: Chain<'d, '_, R>,
        keys: &mut impl LaneKeySource<R>,
    ) {
        keys.set(lane, chain.keys);
        self.data[lane] = chain.data;
        self.state[lane] = *chain.state;
        self.runs[lane] = *chain.runs;
        self.home[lane] = Some((chain.state, chain.runs));
    }

    /// Brings state and runs of a lane home.
    #[inline(always)]
    fn land(&mut self, lane: usize) {
        if let Some((state, runs)) = self.home[lane].take() {
            *state = self.state[lane];
            *runs = self.runs[lane];
        }
    }

    /// Closes the gap that a finished lane leaves.
    #[inline(always)]
    fn close<const R: usize>(&mut self, lane: usize, keys: &mut impl LaneKeySource<R>) {
        self.active -= 1;
        let last = self.active;
        keys.copy(last, lane);
        self.state[lane] = self.state[last];
        self.runs[lane] = self.runs[last];
        self.data.swap(lane, last);
        self.home.swap(lane, last);
    }

    /// Advances lanes 0 to `used` - 1, which `N` vectors just hold. Each has that many runs left.
    #[inline(always)]
    fn advance<S: Blocks, const N: usize, const R: usize>(
        &mut self,
        s: S,
        keys: impl RoundKeys<S>,
        used: usize,
        steps: Steps,
    ) {
        let mut window = Window::<N>::new(S::WIDTH, steps.blocks(), &mut self.data[..used]);
        let mut state = [s.load(&self.state); N];
        for i in 1..N {
            state[i] = s.load(&self.state[i * S::WIDTH..]);
        }
        // The common cases first: single blocks in a row of full vectors.
        state = if steps.run > 1 {
            walk::<S, N, R, false, false>(s, state, keys, &mut window, steps)
        } else if used < N * S::WIDTH {
            walk::<S, N, R, true, false>(s, state, keys, &mut window, steps)
        } else {
            walk::<S, N, R, true, true>(s, state, keys, &mut window, steps)
        };
        for i in 0..N {
            s.store(state[i], &mut self.state[i * S::WIDTH..]);
        }
        for lane in 0..used {
            let done = (steps.runs * steps.period).min(self.data[lane].len());
            self.data[lane] = &mut mem::take(&mut self.data[lane])[done..];
            self.runs[lane] -= steps.runs;
        }
    }
}

/// Encrypts the steps of a window, `SINGLE` if runs are one block long, `FULL` if the lanes fill all
/// `N` vectors: conditions that cost too much inside the loop.
///
/// The plaintext of the next step is gathered before the current one is encrypted, so that the
/// gathers fill the gaps between the rounds.
#[inline(always)]
fn walk<S: Blocks, const N: usize, const R: usize, const SINGLE: bool, const FULL: bool>(
    s: S,
    mut state: [S::V; N],
    keys: impl RoundKeys<S>,
    window: &mut Window<'_, N>,
    steps: Steps,
) -> [S::V; N] {
    let mut plain = gather::<S, N>(s, window, 0);
    let (mut at, mut number) = (0, 0);
    for _ in 0..steps.runs * steps.run {
        let next = if SINGLE || number + 1 == steps.run {
            number = 0;
            at + 1 + steps.period - steps.run
        } else {
            number += 1;
            at + 1
        };
        // Behind the last step there is nothing: gather anything that is there.
        let next_plain = gather::<S, N>(s, window, next.min(steps.blocks() - 1));
        state = s.encrypt_xor::<N, R>(plain, state, keys);
        let in_last = window.in_last();
        let mut row = window.row_mut(S::WIDTH, at);
        for i in 0..N - 1 {
            s.scatter(state[i], &mut row, i);
        }
        if FULL {
            s.scatter(state[N - 1], &mut row, N - 1);
        } else {
            s.scatter_last(state[N - 1], &mut row, in_last);
        }
        (at, plain) = (next, next_plain);
    }
    state
}

/// Block `at` of each lane.
#[inline(always)]
fn gather<S: Blocks, const N: usize>(s: S, window: &Window<'_, N>, at: usize) -> [S::V; N] {
    let row = window.row(at);
    let mut plain = [s.gather(row, 0); N];
    for i in 1..N {
        plain[i] = s.gather(row, i);
    }
    plain
}

/// Runs the chains of a source through the lanes. All have the same pattern.
pub(super) struct RunLanes<I, K, const R: usize> {
    pub(super) chains: I,
    pub(super) keys: K,
    pub(super) run: usize,
    pub(super) period: usize,
    /// Lanes to fill at most; `MOST_LANES` leaves it to the level.
    pub(super) most: usize,
    /// Whether to stop once a lane has no successor, with the others half done, rather than run on
    /// with fewer and fewer lanes.
    pub(super) stop_early: bool,
}

impl<'d, 'k, const R: usize, I, K> Kernel for RunLanes<I, K, R>
where
    'k: 'd,
    I: Iterator<Item = Chain<'d, 'k, R>>,
    K: LaneKeySource<R>,
{
    type Out = ();

    #[inline(always)]
    fn run<S: Clmul>(self, s: S) {
        let Self { mut chains, mut keys, run, period, most, stop_early } = self;
        let most = most.clamp(1, MOST_VECTORS * S::WIDTH);
        let mut lanes = Lanes::new();
        while lanes.active < most
            && let Some(chain) = chains.next()
        {
            lanes.put(lanes.active, chain, &mut keys);
            lanes.active += 1;
        }
        while lanes.active == most || lanes.active > 0 && !stop_early {
            let used = lanes_for::<S>(lanes.active);
            let runs = lanes.runs[..used].iter().copied().min().unwrap_or(0);
            let steps = Steps { runs, run, period };
            match used.div_ceil(S::WIDTH) {
                8 => keys.advance::<S, 8>(s, &mut lanes, used, steps),
                4 => keys.advance::<S, 4>(s, &mut lanes, used, steps),
                3 => keys.advance::<S, 3>(s, &mut lanes, used, steps),
                2 => keys.advance::<S, 2>(s, &mut lanes, used, steps),
                _ => keys.advance::<S, 1>(s, &mut lanes, used, steps),
            }
            // From the top, so that the lane that fills a gap has been looked at already.
            for lane in (0..used).rev() {
                if lanes.runs[lane] == 0 {
                    lanes.land(lane);
                    match chains.next() {
                        Some(chain) => lanes.put(lane, chain, &mut keys),
                        None => lanes.close(lane, &mut keys),
                    }
                }
            }
        }
        for lane in 0..lanes.active {
            lanes.land(lane);
        }
    }
}

/// How many lanes to advance when `active` are in use. Up to four vectors the latency of one chain
/// decides, so all lanes advance, even if the last vector is not full; above, only kernels of four
/// and eight vectors exist, and the other chains wait for a lane to end.
#[inline(always)]
fn lanes_for<S: Blocks>(active: usize) -> usize {
    match active / S::WIDTH {
        0..=3 => active,
        4..=7 => 4 * S::WIDTH,
        _ => 8 * S::WIDTH,
    }
}

/// One chain: no lanes to fill.
pub(super) struct RunOne<'a, 'i, 'o, const R: usize> {
    pub(super) state: &'a mut Block,
    pub(super) data: InOutBlocks<'i, 'o>,
    pub(super) keys: &'a [Block; R],
    pub(super) runs: usize,
    pub(super) run: usize,
    pub(super) period: usize,
}

impl<const R: usize> Kernel for RunOne<'_, '_, '_, R> {
    type Out = ();

    #[inline(always)]
    fn run<S: Clmul>(self, s: S) {
        let Self { state, mut data, keys, runs, run, period } = self;
        let s = s.narrow();
        let whitening = s.load(&keys[..1]);
        let keys = SameKey(broadcast(s, keys));
        let mut v = s.load(core::slice::from_ref(state));
        // The next plaintext block meets round key 0 a step ahead, which leaves one operation between
        // the end of a block and the first round of the next.
        let mut early = s.xor(s.load(data.input()), whitening);
        let (mut at, mut number) = (0, 0);
        for left in (0..runs * run).rev() {
            let next = if number + 1 < run {
                number += 1;
                at + 1
            } else {
                number = 0;
                at + 1 + period - run
            };
            let next_early =
                s.xor(s.load(&data.input()[if left > 0 { next } else { at }..]), whitening);
            [v] = s.encrypt_whitened::<1, R>([s.xor(v, early)], keys);
            s.store(v, &mut data.output()[at..]);
            (at, early) = (next, next_early);
        }
        s.store(v, core::slice::from_mut(state));
    }
}
