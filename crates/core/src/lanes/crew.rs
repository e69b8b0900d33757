//! Lanes and nothing else: who sits where, and who is next.

/// What sits in the lanes, and how to advance all of it.
///
/// A *chain* is serial work of any sort: CBC of a buffer, a hash of a message. A crew has a number of
/// *lanes*, each with the state of one chain, and advances many lanes in one step. [`fly`] seats the chains.
///
/// ```
/// use lanelock::lanes::{Crew, fly};
///
/// /// Numbers are halved until nothing is left, and the halvings counted: four at a time.
/// #[derive(Default)]
/// struct Halvings<'n> {
///     number: [u32; 4],
///     count: [u32; 4],
///     home: [Option<&'n mut u32>; 4],
/// }
///
/// impl<'n> Crew for Halvings<'n> {
///     type Chain = (u32, &'n mut u32);
///
///     fn lanes(&self) -> usize {
///         4
///     }
///     fn seat(&mut self, lane: usize, (number, home): Self::Chain) {
///         (self.number[lane], self.count[lane], self.home[lane]) = (number, 0, Some(home));
///     }
///     fn left(&self, lane: usize) -> usize {
///         (u32::BITS - self.number[lane].leading_zeros()) as usize
///     }
///     fn advance(&mut self, used: usize, steps: usize) {
///         for _ in 0..steps {
///             for lane in 0..used {
///                 self.number[lane] /= 2;
///                 self.count[lane] += 1;
///             }
///         }
///     }
///     fn land(&mut self, lane: usize) {
///         if let Some(home) = self.home[lane].take() {
///             *home = self.count[lane];
///         }
///     }
///     fn move_lane(&mut self, from: usize, to: usize) {
///         (self.number[to], self.count[to]) = (self.number[from], self.count[from]);
///         self.home[to] = self.home[from].take();
///     }
/// }
///
/// let mut counts = [0; 6];
/// let chains = [7, 0, 1 << 20, 1, 255, 3];
/// fly(&mut Halvings::default(), &mut chains.into_iter().zip(&mut counts), 4, 1);
/// assert_eq!(counts, [3, 0, 21, 1, 8, 2]);
/// ```
///
/// Functions that are to be compiled for the instructions of a level are `#[inline(always)]`, as `fly` is: see
/// `lanelock_isa`.
pub trait Crew {
    /// Work that waits for a lane.
    type Chain;

    /// Whether [`head_start`](Crew::head_start) is ever anything but zero: if not, nothing is compiled for it.
    const HEAD_STARTS: bool = false;

    /// The lanes that there are: at least one.
    fn lanes(&self) -> usize;

    /// `chain` takes `lane`, which nobody has.
    fn seat(&mut self, lane: usize, chain: Self::Chain);

    /// The steps that the chain in `lane` still has to take.
    fn left(&self, lane: usize) -> usize;

    /// How many lanes to advance, from lane 0 on, when lanes 0 to `active` - 1 are in use: from 1 to
    /// `active`. The others stay as they are until a lane has ended.
    #[inline(always)]
    fn lanes_to_advance(&self, active: usize) -> usize {
        active
    }

    /// How many steps each [`ABREAST`] lanes are to be ahead of the next when the lanes are filled for the first
    /// time. Where it is not zero, there are chains for all lanes, whose number is a multiple of that.
    #[inline(always)]
    fn head_start(&self) -> usize {
        0
    }

    /// Takes `steps` steps, which is at least one, in lanes 0 to `used` - 1. Each has so many left.
    fn advance(&mut self, used: usize, steps: usize);

    /// Gives the state of `lane` back to where its chain came from. The lane is free.
    fn land(&mut self, lane: usize);

    /// Moves what sits in lane `from` to lane `to`, which is free: another one.
    fn move_lane(&mut self, from: usize, to: usize);
}

/// So many lanes side by side have room in the first cache, whatever their addresses are.
pub const ABREAST: usize = 8;

/// Where chains come from: any iterator.
pub trait Source<C> {
    /// Fills the places, which are empty, from the first on, as far as there are chains.
    fn fill(&mut self, places: &mut [Option<C>; AT_ONCE]);
}

impl<I: Iterator> Source<I::Item> for I {
    fn fill(&mut self, places: &mut [Option<I::Item>; AT_ONCE]) {
        for place in places {
            *place = self.next();
            if place.is_none() {
                break;
            }
        }
    }
}

/// So many chains come from a source at once. A processor that reads at once, in other pieces, what a call has just
/// written waits for the memory, longer than for the call.
const AT_ONCE: usize = 8;

/// Chains that wait for a lane.
struct Waiting<'s, C> {
    source: &'s mut dyn Source<C>,
    places: [Option<C>; AT_ONCE],
    /// The place of the next chain. An empty one is the end.
    first: usize,
}

impl<C> Waiting<'_, C> {
    #[inline(always)]
    fn next(&mut self) -> Option<C> {
        if self.first == AT_ONCE {
            self.source.fill(&mut self.places);
            self.first = 0;
        }
        let chain = self.places[self.first].take()?;
        self.first += 1;
        Some(chain)
    }
}

/// Runs chains through the lanes of a crew, in at most `most` of them. A lane is taken by the next chain as
/// soon as it is free.
///
/// It goes on with fewer and fewer lanes when there are no more chains, as long as `fewest` are in use: 1 to the
/// end, [`usize::MAX`] only as long as all of them are. What is half done then lands as it is.
///
/// The source of chains is `dyn`, so that one crew is compiled for all sources: it is asked once for some
/// chains, not for a step.
#[inline(always)]
pub fn fly<W: Crew>(crew: &mut W, chains: &mut dyn Source<W::Chain>, most: usize, fewest: usize) {
    let mut chains = Waiting { source: chains, places: [const { None }; AT_ONCE], first: AT_ONCE };
    let most = most.clamp(1, crew.lanes());
    let fewest = fewest.clamp(1, most);
    let mut active = 0;
    let ahead = if W::HEAD_STARTS { crew.head_start() } else { 0 };
    if W::HEAD_STARTS && ahead > 0 {
        // The first of them have the highest lanes, and go furthest.
        for group in (1..most / ABREAST).rev() {
            let mut steps = ahead * group;
            for lane in 0..ABREAST {
                if let Some(chain) = chains.next() {
                    crew.seat(lane, chain);
                    steps = steps.min(crew.left(lane));
                }
            }
            crew.advance(ABREAST, steps);
            for lane in 0..ABREAST {
                crew.move_lane(lane, group * ABREAST + lane);
            }
            active += ABREAST;
        }
    }
    for lane in 0..most - active {
        let Some(chain) = chains.next() else { break };
        crew.seat(lane, chain);
        active += 1;
    }
    while active >= fewest {
        // All lanes go as far as the one with the fewest steps left: one loop without conditions. Then
        // the lanes that have ended are refilled.
        let used = crew.lanes_to_advance(active);
        let mut steps = usize::MAX;
        for lane in 0..used {
            steps = steps.min(crew.left(lane));
        }
        if steps > 0 {
            crew.advance(used, steps);
        }
        // From the top, so that the lane that fills a gap has been looked at already.
        for lane in (0..used).rev() {
            if crew.left(lane) == 0 {
                crew.land(lane);
                if let Some(chain) = chains.next() {
                    crew.seat(lane, chain);
                } else {
                    active -= 1;
                    if lane < active {
                        crew.move_lane(active, lane);
                    }
                }
            }
        }
    }
    for lane in 0..active {
        crew.land(lane);
    }
}
