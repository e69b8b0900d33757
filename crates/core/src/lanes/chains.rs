//! Chains of blocks as a crew of lanes, and the kernel that flies it.

use core::marker::PhantomData;

use lanelock_isa::{
    AesClmul, AesLevel, Block, Kernel, LaneBuffers, MOST_LANES, Part, WIDEST, wipe, wipe_stack,
    wipe_values,
};

use super::{
    crew::{ABREAST, Crew, Source, fly},
    kind::{ChainKind, Lane},
    plan::{Extent, head_start, lanes_for},
    walk::{MOST_VECTORS, Squares, Steps, has_squares, walk},
};
use crate::{
    Pattern,
    cipher::{Cipher, CipherKeys, LaneKeys, SameKey, Schedule},
};

/// Chains that are so many times as long as a head start are worth one: what it costs is some of it, twice.
const WORTHWHILE: usize = 16;

/// A chain to run: the blocks from the first that it takes on, and where its state lives.
pub struct ChainWork<'s, 'k, D, const P: usize, C: Cipher> {
    /// The state before; in the end the state after.
    pub state: &'s mut [Block; P],
    /// Complete runs to take.
    pub runs: usize,
    /// Where to say how many of them are left in the end.
    pub left: Option<&'s mut usize>,
    /// At least `(runs - 1) * period + run` blocks.
    pub data: D,
    /// The schedule of its key.
    pub keys: Schedule<'k, C>,
}

/// Runs of the longest chain from which on four vectors with keys of their own and results to write are faster than
/// eight where [`Ways::loads_limit_lanes`](lanelock_isa::Ways::loads_limit_lanes). Of shorter chains either takes the same time.
const LONG_WITH_KEYS: usize = 64;

/// How the lanes are to be run.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// The level of all keys.
    pub level: AesLevel,
    /// All chains have the same pattern.
    pub pattern: Pattern,
    /// How much there is to do.
    pub extent: Extent,
    /// Lanes to fill at most; `MOST_LANES` leaves it to level, extent and policy.
    pub most: usize,
    /// Whether to stop once a lane has no successor, with the others half done, rather than run on
    /// with fewer and fewer lanes.
    pub stop_early: bool,
}

impl Flight {
    /// All blocks of all chains.
    pub fn whole(level: AesLevel, extent: Extent) -> Self {
        Self { level, pattern: Pattern::ALL, extent, most: MOST_LANES, stop_early: false }
    }

    /// Runs `chains` through the lanes; `same_key` if they all have that one.
    pub fn run<'s, 'd, 'k, K, const P: usize, C: Cipher>(
        self,
        same_key: Option<Schedule<'_, C>>,
        mut chains: impl Iterator<Item = ChainWork<'s, 'k, K::Data<'d>, P, C>>,
    ) where
        K: ChainKind<P>,
    {
        let (mut flight, kind) = (self, PhantomData::<K>);
        // One kernel is compiled for all sources of chains: see `fly`.
        let chains: &mut dyn Source<_> = &mut chains;
        // A move of the table would copy its padding, in which the stack has what was there before: round keys, if these
        // keys have just been set.
        if let Some(key) = same_key {
            self.level.run(RunLanes { chains, keys: &mut SharedSchedule(key), flight, kind });
        } else {
            let four_vectors = self.most == MOST_LANES
                && K::Data::WRITES
                && self.level.width() == WIDEST
                && self.extent.longest >= LONG_WITH_KEYS
                && self.level.ways().loads_limit_lanes();
            if four_vectors {
                flight.most = 4 * WIDEST;
            }
            self.level.run(RunLanes { chains, keys: &mut KeyTable::new(), flight, kind });
        }
    }
}

/// Where the lanes find their round keys.
trait LaneKeySource<C: Cipher> {
    /// Lane `lane` now needs `keys`.
    fn set(&mut self, lane: usize, keys: Schedule<'_, C>);
    /// The key of lane `from` moves to lane `to`.
    fn copy(&mut self, from: usize, to: usize);
    /// Advances lanes 0 to `used` - 1, which `N` vectors just hold.
    fn advance<S: AesClmul, K: ChainKind<P>, const N: usize, const P: usize>(
        &self,
        s: S,
        lanes: &mut ChainLanes<'_, '_, S, K, P>,
        used: usize,
        steps: Steps,
    );
}

/// All chains have the same key: it stays in registers.
struct SharedSchedule<'k, C: Cipher>(Schedule<'k, C>);

impl<C: Cipher> LaneKeySource<C> for SharedSchedule<'_, C> {
    #[inline(always)]
    fn set(&mut self, _: usize, _: Schedule<'_, C>) {}

    #[inline(always)]
    fn copy(&mut self, _: usize, _: usize) {}

    #[inline(always)]
    fn advance<S: AesClmul, K: ChainKind<P>, const N: usize, const P: usize>(
        &self,
        s: S,
        lanes: &mut ChainLanes<'_, '_, S, K, P>,
        used: usize,
        steps: Steps,
    ) {
        lanes.advance::<N, C>(s, SameKey::new(s, self.0), used, steps);
    }
}

/// Chains with different keys: round keys of all lanes side by side, `table[round][lane]`. No vector of
/// the table crosses a cache line: every step reads it all.
#[repr(align(64))]
struct KeyTable<C: Cipher> {
    table: C::Rounds<[Block; MOST_LANES]>,
    /// The rounds of all lanes: those of the last chain that took one.
    rounds: usize,
}

impl<C: Cipher> KeyTable<C> {
    fn new() -> Self {
        Self { table: C::places([[0; 16]; MOST_LANES]), rounds: 0 }
    }
}

impl<C: Cipher> LaneKeySource<C> for KeyTable<C> {
    #[inline(always)]
    fn set(&mut self, lane: usize, keys: Schedule<'_, C>) {
        self.rounds = keys.rounds;
        for round in 0..C::ROUND_KEYS {
            if C::uses(round, keys.rounds) {
                self.table.as_mut()[round][lane] = keys.keys.as_ref()[round];
            }
        }
    }

    #[inline(always)]
    fn copy(&mut self, from: usize, to: usize) {
        for row in self.table.as_mut() {
            row[to] = row[from];
        }
    }

    #[inline(always)]
    fn advance<S: AesClmul, K: ChainKind<P>, const N: usize, const P: usize>(
        &self,
        s: S,
        lanes: &mut ChainLanes<'_, '_, S, K, P>,
        used: usize,
        steps: Steps,
    ) {
        let keys = LaneKeys { table: &self.table, rounds: self.rounds };
        lanes.advance::<N, C>(s, keys, used, steps);
    }
}

impl<C: Cipher> Drop for KeyTable<C> {
    fn drop(&mut self) {
        for (round, row) in self.table.as_mut().iter_mut().enumerate() {
            if C::uses(round, self.rounds) {
                wipe(row.as_flattened_mut());
            }
        }
    }
}

/// What sits in the lanes: the chains, without their keys.
struct ChainLanes<'s, 'd, S: AesClmul, K: ChainKind<P>, const P: usize> {
    data: LaneBuffers<K::Data<'d>>,
    /// Vectors in memory too: the processor hands on what a vector has stored to a load of the same vector, and
    /// not to one that needs a second store.
    state: [[S::V; MOST_VECTORS]; P],
    /// Runs that have been taken.
    now: usize,
    /// The value of `now` at which each chain has ended.
    end: [usize; MOST_LANES],
    /// Where to write the state and how many runs are left.
    home: [Option<(&'s mut [Block; P], Option<&'s mut usize>)>; MOST_LANES],
    /// Lanes from here on are free.
    top: usize,
    squares: Squares<S::V>,
}

impl<S: AesClmul, K: ChainKind<P>, const P: usize> ChainLanes<'_, '_, S, K, P> {
    /// Advances lanes 0 to `used` - 1, which `N` vectors just hold. Each has that many runs left.
    #[inline(always)]
    fn advance<const N: usize, C: Cipher>(
        &mut self,
        s: S,
        keys: impl CipherKeys<S, C>,
        used: usize,
        steps: Steps,
    ) {
        let mut state = [[s.zero(); N]; P];
        for p in 0..P {
            for i in 0..N {
                state[p][i] = self.state[p][i];
            }
        }
        let mut state = K::enter(s, state);
        // Lanes without a chain repeat lane 0 when read, and are never written (`Window`).
        let full = used == N * S::WIDTH;
        {
            let mut window = self.data.window::<N>(S::WIDTH, steps.blocks(), used);
            let squares = &mut self.squares;
            walk::<S, K, N, P, C>(s, &mut state, keys, &mut window, squares, steps, full);
        }
        let state = K::leave(s, state);
        for p in 0..P {
            for i in 0..N {
                self.state[p][i] = state[p][i];
            }
        }
        self.data.advance(used, self.top, steps.runs * steps.period);
        self.now += steps.runs;
        for lane in used..self.top {
            self.end[lane] += steps.runs;
        }
    }
}

/// Chains in the lanes of level `S`. A step is a run of blocks.
struct ChainCrew<'c, 's, 'd, 'k, S: AesClmul, K: ChainKind<P>, Q, C, const P: usize> {
    s: S,
    lanes: &'c mut ChainLanes<'s, 'd, S, K, P>,
    keys: &'c mut Q,
    /// The blocks of a run.
    run: usize,
    /// The blocks from the start of a run to the next.
    period: usize,
    /// See [`Crew::head_start`].
    head_start: usize,
    cipher: PhantomData<&'k C>,
}

impl<'s, 'd, 'k, S, K, Q, C, const P: usize> Crew for ChainCrew<'_, 's, 'd, 'k, S, K, Q, C, P>
where
    S: AesClmul,
    K: ChainKind<P>,
    Q: LaneKeySource<C>,
    C: Cipher,
{
    type Chain = ChainWork<'s, 'k, K::Data<'d>, P, C>;
    const HEAD_STARTS: bool = true;

    #[inline(always)]
    fn lanes(&self) -> usize {
        S::VECTORS * S::WIDTH
    }

    #[inline(always)]
    fn seat(&mut self, lane: usize, chain: Self::Chain) {
        self.keys.set(lane, chain.keys);
        let lanes = &mut *self.lanes;
        chain.data.seat(&mut lanes.data, lane);
        for p in 0..P {
            let state = &mut lanes.state[p][lane / S::WIDTH];
            *state = self.s.with_lane(*state, lane % S::WIDTH, &chain.state[p]);
        }
        lanes.end[lane] = lanes.now + chain.runs;
        lanes.home[lane] = Some((chain.state, chain.left));
        lanes.top = lanes.top.max(lane + 1);
    }

    #[inline(always)]
    fn left(&self, lane: usize) -> usize {
        self.lanes.end[lane] - self.lanes.now
    }

    /// Up to four vectors the latency of one chain decides (the rounds of four vectors start in half of
    /// that time), so all lanes advance, even if the last vector is not full. Above, only kernels of four
    /// and eight vectors exist: so many advance, and the other chains stay where they are.
    #[inline(always)]
    fn lanes_to_advance(&self, active: usize) -> usize {
        match active / S::WIDTH {
            0..=3 => active,
            4..=7 => 4 * S::WIDTH,
            _ => 8 * S::WIDTH,
        }
    }

    #[inline(always)]
    fn head_start(&self) -> usize {
        self.head_start
    }

    #[inline(always)]
    fn advance(&mut self, used: usize, runs: usize) {
        let Self { s, lanes, keys, run, period, cipher, .. } = self;
        let (s, steps) = (*s, Steps { runs, run: *run, period: *period });
        let by = Advance { lanes, keys: &**keys, used, steps, cipher: *cipher };
        // A constant, so that the others are not compiled where there are none.
        if const { S::VECTORS == 1 } {
            return s.call(ByVectors::<_, 1>(by));
        }
        // `N` is a constant of the part, so that states are registers: one part for each number of
        // vectors. 5 to 7 do not occur (`lanes_to_advance`).
        match used.div_ceil(S::WIDTH) {
            8 => s.call(ByVectors::<_, 8>(by)),
            4 => s.call(ByVectors::<_, 4>(by)),
            3 => s.call(ByVectors::<_, 3>(by)),
            2 => s.call(ByVectors::<_, 2>(by)),
            _ => s.call(ByVectors::<_, 1>(by)),
        }
    }

    #[inline(always)]
    fn land(&mut self, lane: usize) {
        let lanes = &mut *self.lanes;
        if let Some((state, left)) = lanes.home[lane].take() {
            for p in 0..P {
                state[p] = self.s.lane(lanes.state[p][lane / S::WIDTH], lane % S::WIDTH);
            }
            if let Some(left) = left {
                *left = lanes.end[lane] - lanes.now;
            }
        }
    }

    #[inline(always)]
    fn move_lane(&mut self, from: usize, to: usize) {
        self.keys.copy(from, to);
        let lanes = &mut *self.lanes;
        for p in 0..P {
            let moved = self.s.lane(lanes.state[p][from / S::WIDTH], from % S::WIDTH);
            let state = &mut lanes.state[p][to / S::WIDTH];
            *state = self.s.with_lane(*state, to % S::WIDTH, &moved);
        }
        lanes.end[to] = lanes.end[from];
        lanes.data.move_lane(from, to);
        lanes.home[to] = lanes.home[from].take();
        lanes.top = if from + 1 == lanes.top { from } else { lanes.top }.max(to + 1);
    }
}

/// What lanes are to do until one of them has ended.
struct Advance<'a, 's, 'd, 'k, S: AesClmul, K: ChainKind<P>, Q, C, const P: usize> {
    lanes: &'a mut ChainLanes<'s, 'd, S, K, P>,
    keys: &'a Q,
    used: usize,
    steps: Steps,
    cipher: PhantomData<&'k C>,
}

/// The same in the lanes of `N` vectors: a function of its own, since the time that compilers take grows faster than
/// functions do.
struct ByVectors<A, const N: usize>(A);

impl<S, K, Q, C, const N: usize, const P: usize> Part<S>
    for ByVectors<Advance<'_, '_, '_, '_, S, K, Q, C, P>, N>
where
    S: AesClmul,
    K: ChainKind<P>,
    Q: LaneKeySource<C>,
    C: Cipher,
{
    type Out = ();

    #[inline(always)]
    fn run(self, s: S) {
        let Advance { lanes, keys, used, steps, .. } = self.0;
        keys.advance::<S, K, N, P>(s, lanes, used, steps);
    }
}

/// Runs the chains of a source through the lanes.
struct RunLanes<'c, W, Q, K> {
    chains: &'c mut dyn Source<W>,
    keys: &'c mut Q,
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
        let Self { chains, keys, flight, .. } = self;
        let Flight { pattern, extent, most, stop_early, .. } = flight;
        // Kibibytes, like the keys: they stay where they are.
        let lanes = &mut ChainLanes {
            data: LaneBuffers::default(),
            state: [[s.zero(); MOST_VECTORS]; P],
            now: 0,
            end: [0; MOST_LANES],
            home: [const { None }; MOST_LANES],
            top: 0,
            squares: [[[s.zero(); MOST_VECTORS]; 4]; 2],
        };
        let (run, period, cipher) = (pattern.run(), pattern.period(), PhantomData);
        let most = most.min(lanes_for(extent, S::WIDTH, S::VECTORS));
        let head_start = match head_start(period) {
            ahead
                if extent.aligned
                    && extent.chains >= most
                    && most.is_multiple_of(ABREAST)
                    && extent.longest > WORTHWHILE * ahead =>
            {
                ahead
            }
            _ => 0,
        };
        let mut crew =
            ChainCrew::<_, K, Q, C, P> { s, lanes, keys, run, period, head_start, cipher };
        fly(&mut crew, chains, most, if stop_early { usize::MAX } else { 1 });
        // The last texts of the chains, and what was computed of them. Chains with gaps go by no squares.
        wipe_values(lanes.state.as_flattened_mut(), s.zero());
        if period == run && has_squares(S::WIDTH, run * extent.longest) {
            wipe_values(lanes.squares.as_flattened_mut().as_flattened_mut(), s.zero());
        }
        // What the parts spilled, keys and texts: their frames are below this one, which is too long for the wipe
        // that comes with the end of a key. Frames are longer with two states a chain, and at the portable level, where
        // they call functions that call others.
        if S::VECTORS == 1 {
            wipe_stack::<{ 16 << 10 }>();
        } else if P > 1 {
            wipe_stack::<{ 4 << 10 }>();
        } else {
            wipe_stack::<{ 2 << 10 }>();
        }
    }
}
