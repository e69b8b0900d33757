//! The lanes themselves: chains in flight, and the kernel that advances them.

use core::marker::PhantomData;

use lanelock_isa::{AesClmul, AesLevel, Block, Kernel, MOST_LANES, wipe};

use super::{
    kind::{ChainKind, Lane},
    walk::{MOST_VECTORS, Squares, Steps, walk},
};
use crate::{
    Pattern,
    cipher::{Cipher, LaneKeys, RoundKeys, SameKey},
};

/// A chain to run: the blocks from the first that it takes on, and where its state lives.
pub struct ChainWork<'s, 'k, D, const P: usize, C: Cipher> {
    /// The state before; in the end the state after.
    pub state: &'s mut [Block; P],
    /// Complete runs to take; in the end those that are left.
    pub runs: &'s mut usize,
    /// At least `(runs - 1) * period + run` blocks.
    pub data: D,
    pub keys: &'k C::Rounds<Block>,
}

/// How the lanes are to be run.
#[derive(Clone, Copy)]
pub struct Flight {
    pub level: AesLevel,
    /// All chains have the same pattern.
    pub pattern: Pattern,
    /// Lanes to fill at most; `MOST_LANES` leaves it to the level.
    pub most: usize,
    /// Whether to stop once a lane has no successor, with the others half done, rather than run on
    /// with fewer and fewer lanes.
    pub stop_early: bool,
}

impl Flight {
    /// All blocks of all chains.
    pub fn whole(level: AesLevel) -> Self {
        Self { level, pattern: Pattern::ALL, most: MOST_LANES, stop_early: false }
    }

    /// Runs `chains` through the lanes; `same_key` if they all have that one.
    pub fn run<'s, 'd, 'k, K, const P: usize, C: Cipher>(
        self,
        same_key: Option<&C::Rounds<Block>>,
        mut chains: impl Iterator<Item = ChainWork<'s, 'k, K::Data<'d>, P, C>>,
    ) where
        K: ChainKind<P>,
    {
        let (flight, kind) = (self, PhantomData::<K>);
        // `dyn`, so that one kernel is compiled for all sources of chains: it is called once for a
        // chain, not for a block.
        let chains: &mut dyn Iterator<Item = _> = &mut chains;
        if let Some(key) = same_key {
            self.level.run(RunLanes { chains, keys: SharedSchedule(key), flight, kind });
        } else {
            self.level.run(RunLanes { chains, keys: KeyTable::new(), flight, kind });
        }
    }
}

/// Where the lanes find their round keys.
trait LaneKeySource<C: Cipher> {
    /// Lane `lane` now needs `keys`.
    fn set(&mut self, lane: usize, keys: &C::Rounds<Block>);
    /// The key of lane `from` moves to lane `to`.
    fn copy(&mut self, from: usize, to: usize);
    /// Advances lanes 0 to `used` - 1, which `N` vectors just hold.
    fn advance<S: AesClmul, K: ChainKind<P>, const N: usize, const P: usize>(
        &self,
        s: S,
        lanes: &mut FlightLanes<'_, '_, K, P>,
        squares: &mut Squares<S::V>,
        used: usize,
        steps: Steps,
    );
}

/// All chains have the same key: it stays in registers.
struct SharedSchedule<'k, C: Cipher>(&'k C::Rounds<Block>);

impl<C: Cipher> LaneKeySource<C> for SharedSchedule<'_, C> {
    #[inline(always)]
    fn set(&mut self, _: usize, _: &C::Rounds<Block>) {}

    #[inline(always)]
    fn copy(&mut self, _: usize, _: usize) {}

    #[inline(always)]
    fn advance<S: AesClmul, K: ChainKind<P>, const N: usize, const P: usize>(
        &self,
        s: S,
        lanes: &mut FlightLanes<'_, '_, K, P>,
        squares: &mut Squares<S::V>,
        used: usize,
        steps: Steps,
    ) {
        lanes.advance::<S, N, C>(s, SameKey::new(s, self.0), squares, used, steps);
    }
}

/// Chains with different keys: round keys of all lanes side by side, `table[round][lane]`. No vector of
/// the table crosses a cache line: every step reads it all.
#[repr(align(64))]
struct KeyTable<C: Cipher>(C::Rounds<[Block; MOST_LANES]>);

impl<C: Cipher> KeyTable<C> {
    fn new() -> Self {
        Self(C::rounds([[0; 16]; MOST_LANES]))
    }
}

impl<C: Cipher> LaneKeySource<C> for KeyTable<C> {
    #[inline(always)]
    fn set(&mut self, lane: usize, keys: &C::Rounds<Block>) {
        for (row, key) in self.0.as_mut().iter_mut().zip(keys.as_ref()) {
            row[lane] = *key;
        }
    }

    #[inline(always)]
    fn copy(&mut self, from: usize, to: usize) {
        for row in self.0.as_mut() {
            row[to] = row[from];
        }
    }

    #[inline(always)]
    fn advance<S: AesClmul, K: ChainKind<P>, const N: usize, const P: usize>(
        &self,
        s: S,
        lanes: &mut FlightLanes<'_, '_, K, P>,
        squares: &mut Squares<S::V>,
        used: usize,
        steps: Steps,
    ) {
        lanes.advance::<S, N, C>(s, LaneKeys(&self.0), squares, used, steps);
    }
}

impl<C: Cipher> Drop for KeyTable<C> {
    fn drop(&mut self) {
        wipe(self.0.as_mut().as_flattened_mut().as_flattened_mut());
    }
}

/// The chains in flight: lanes 0 to `active` - 1 are in use.
struct FlightLanes<'s, 'd, K: ChainKind<P>, const P: usize> {
    data: [K::Data<'d>; MOST_LANES],
    state: [[Block; MOST_LANES]; P],
    runs: [usize; MOST_LANES],
    /// The fields of the job to which state and runs are written back.
    home: [Option<(&'s mut [Block; P], &'s mut usize)>; MOST_LANES],
    active: usize,
}

impl<'s, 'd, K: ChainKind<P>, const P: usize> FlightLanes<'s, 'd, K, P> {
    fn new() -> Self {
        Self {
            data: core::array::from_fn(|_| K::Data::default()),
            state: [[[0; 16]; MOST_LANES]; P],
            runs: [0; MOST_LANES],
            home: [const { None }; MOST_LANES],
            active: 0,
        }
    }

    #[inline(always)]
    fn put<C: Cipher>(
        &mut self,
        lane: usize,
        chain: ChainWork<'s, '_, K::Data<'d>, P, C>,
        keys: &mut impl LaneKeySource<C>,
    ) {
        keys.set(lane, chain.keys);
        self.data[lane] = chain.data;
        for p in 0..P {
            self.state[p][lane] = chain.state[p];
        }
        self.runs[lane] = *chain.runs;
        self.home[lane] = Some((chain.state, chain.runs));
    }

    /// Writes state and runs of a lane back to its job.
    #[inline(always)]
    fn land(&mut self, lane: usize) {
        if let Some((state, runs)) = self.home[lane].take() {
            for p in 0..P {
                state[p] = self.state[p][lane];
            }
            *runs = self.runs[lane];
        }
    }

    /// Closes the gap that a finished lane leaves.
    #[inline(always)]
    fn close<C: Cipher>(&mut self, lane: usize, keys: &mut impl LaneKeySource<C>) {
        self.active -= 1;
        let last = self.active;
        keys.copy(last, lane);
        for p in 0..P {
            self.state[p][lane] = self.state[p][last];
        }
        self.runs[lane] = self.runs[last];
        self.data.swap(lane, last);
        self.home.swap(lane, last);
    }

    /// Advances lanes 0 to `used` - 1, which `N` vectors just hold. Each has that many runs left.
    #[inline(always)]
    fn advance<S: AesClmul, const N: usize, C: Cipher>(
        &mut self,
        s: S,
        keys: impl RoundKeys<S, C>,
        squares: &mut Squares<S::V>,
        used: usize,
        steps: Steps,
    ) {
        let mut state = [[s.zero(); N]; P];
        for p in 0..P {
            for i in 0..N {
                state[p][i] = s.load(&self.state[p][i * S::WIDTH..]);
            }
        }
        let mut state = K::enter(s, state);
        // Lanes without a chain repeat lane 0 when read, and are never written (`Window`).
        let full = used == N * S::WIDTH;
        {
            let mut window = Lane::window::<N>(S::WIDTH, steps.blocks(), &mut self.data[..used]);
            walk::<S, K, _, N, P, C>(s, &mut state, keys, &mut window, squares, steps, full);
        }
        let state = K::leave(s, state);
        for p in 0..P {
            for i in 0..N {
                s.store(state[p][i], &mut self.state[p][i * S::WIDTH..]);
            }
        }
        for lane in 0..used {
            self.data[lane].skip(steps.runs * steps.period);
            self.runs[lane] -= steps.runs;
        }
    }
}

/// Runs the chains of a source through the lanes.
struct RunLanes<'c, W, Q, K> {
    chains: &'c mut dyn Iterator<Item = W>,
    keys: Q,
    flight: Flight,
    kind: PhantomData<K>,
}

impl<K, Q, const P: usize, C: Cipher> Kernel
    for RunLanes<'_, ChainWork<'_, '_, K::Data<'_>, P, C>, Q, K>
where
    K: ChainKind<P>,
    Q: LaneKeySource<C>,
{
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { chains, mut keys, flight, .. } = self;
        let (run, period) = (flight.pattern.run(), flight.pattern.period());
        // Fill the lanes.
        let most = flight.most.clamp(1, S::VECTORS * S::WIDTH);
        let mut lanes = FlightLanes::<K, P>::new();
        let mut squares = [[[s.zero(); MOST_VECTORS]; 4]; 2];
        while lanes.active < most
            && let Some(chain) = chains.next()
        {
            lanes.put(lanes.active, chain, &mut keys);
            lanes.active += 1;
        }
        while lanes.active == most || lanes.active > 0 && !flight.stop_early {
            // All lanes go as far as the one with the fewest runs left: one loop without conditions.
            // Then the lanes that have ended are refilled.
            let used = lanes_for::<S>(lanes.active);
            let mut runs = usize::MAX;
            for lane in 0..used {
                runs = runs.min(lanes.runs[lane]);
            }
            let steps = Steps { runs, run, period };
            if S::VECTORS == 1 {
                keys.advance::<S, K, 1, P>(s, &mut lanes, &mut squares, used, steps);
            } else {
                // `N` is a constant of the kernel, so that states are registers: one kernel for each
                // number of vectors. 5 to 7 do not occur (`lanes_for`).
                match used.div_ceil(S::WIDTH) {
                    8 => keys.advance::<S, K, 8, P>(s, &mut lanes, &mut squares, used, steps),
                    4 => keys.advance::<S, K, 4, P>(s, &mut lanes, &mut squares, used, steps),
                    3 => keys.advance::<S, K, 3, P>(s, &mut lanes, &mut squares, used, steps),
                    2 => keys.advance::<S, K, 2, P>(s, &mut lanes, &mut squares, used, steps),
                    _ => keys.advance::<S, K, 1, P>(s, &mut lanes, &mut squares, used, steps),
                }
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
        // Only with `stop_early`: what is half done goes back as it is.
        for lane in 0..lanes.active {
            lanes.land(lane);
        }
    }
}

/// How many lanes to advance when `active` are in use. Up to four vectors the latency of one chain
/// decides (the rounds of four vectors start in half of that time), so all lanes advance, even if the
/// last vector is not full. Above, only kernels of four and eight vectors exist: so many advance, and
/// the other chains stay where they are until a lane ends.
#[inline(always)]
fn lanes_for<S: AesClmul>(active: usize) -> usize {
    match active / S::WIDTH {
        0..=3 => active,
        4..=7 => 4 * S::WIDTH,
        _ => 8 * S::WIDTH,
    }
}
