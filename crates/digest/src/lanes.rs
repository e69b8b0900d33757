//! Many messages side by side: hashes as a crew in the lanes.

use core::{fmt, mem};

use lanelock_core::lanes::{Crew, Source, fly, longest_first};
use lanelock_isa::{MOST_WORDS, Pair, ShaLevel, WordKernel, Words, wipe};
use zeroize::Zeroize;

use crate::{
    algorithm::{Algorithm, Bytes, Compress, State, WordOf, body},
    compression::{Compression, compress, has_lanes},
    hash::Hash,
    levels::Levels,
};

/// A message, and its digest.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct HashJob<'m, A: Algorithm> {
    /// The message.
    pub message: &'m [u8],
    /// After the run the digest. Whatever is there before is overwritten.
    pub digest: A::Digest,
}

impl<'m, A: Algorithm> HashJob<'m, A> {
    /// A job.
    pub fn new(message: &'m [u8]) -> Self {
        Self { message, digest: A::Digest::ZERO }
    }
}

impl<A: Algorithm> fmt::Debug for HashJob<'_, A> {
    /// The length of the message, never its bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(A::NAME).field("bytes", &self.message.len()).finish_non_exhaustive()
    }
}

/// What the lanes see of a job.
pub(crate) trait Chain<A: Algorithm> {
    /// The blocks that are to be taken, about; none if there is nothing to do.
    fn blocks(&self) -> usize;
    /// Where the message is.
    fn address(&self) -> usize;
    /// What is to be done.
    fn task(&mut self) -> Task<'_, A>;
}

impl<A: Algorithm> Chain<A> for HashJob<'_, A> {
    fn blocks(&self) -> usize {
        self.message.len() / Compress::<A>::BLOCK + 1
    }

    fn address(&self) -> usize {
        self.message.as_ptr().addr()
    }

    fn task(&mut self) -> Task<'_, A> {
        let goal = Goal::Digest { then: None, digest: self.digest.as_mut() };
        Task { head: &[], message: self.message, from: None, goal }
    }
}

/// A hash, and whole blocks for it.
impl<A: Algorithm> Chain<A> for (&mut Hash<A>, &[u8]) {
    fn blocks(&self) -> usize {
        self.1.len() / Compress::<A>::BLOCK
    }

    fn address(&self) -> usize {
        self.1.as_ptr().addr()
    }

    fn task(&mut self) -> Task<'_, A> {
        Task { head: &[], message: self.1, from: None, goal: Goal::State(self.0.state_mut()) }
    }
}

/// Whole blocks that are left of a message, and how many of them are.
pub(crate) struct Part<'a, A: Algorithm> {
    pub(crate) message: &'a [u8],
    pub(crate) state: &'a mut State<A>,
    pub(crate) left: usize,
}

impl<A: Algorithm> Chain<A> for Part<'_, A> {
    fn blocks(&self) -> usize {
        self.left
    }

    fn address(&self) -> usize {
        self.message.as_ptr().addr()
    }

    fn task(&mut self) -> Task<'_, A> {
        let goal = Goal::Part { state: self.state, left: &mut self.left };
        Task { head: &[], message: self.message, from: None, goal }
    }
}

/// A message on its way.
pub(crate) struct Task<'a, A: Algorithm> {
    /// What comes before the message: less than a block.
    pub(crate) head: &'a [u8],
    pub(crate) message: &'a [u8],
    /// Where a digest begins, if not at the beginning: a state, after so many bytes, which are whole blocks.
    pub(crate) from: Option<(&'a State<A>, u64)>,
    pub(crate) goal: Goal<'a, A>,
}

/// What a message is hashed for.
pub(crate) enum Goal<'a, A: Algorithm> {
    /// The digest. With a state, after one block, it is hashed once more from there: the outer hash of HMAC.
    Digest { then: Option<&'a State<A>>, digest: &'a mut [u8] },
    /// The state after whole blocks, head and message, from what it is now.
    State(&'a mut State<A>),
    /// The same, but the lane may be left before; then so many blocks are left.
    Part { state: &'a mut State<A>, left: &'a mut usize },
}

impl<A: Algorithm> Task<'_, A> {
    /// Without lanes.
    fn run(mut self, level: ShaLevel) {
        let (mut state, length) = (self.begin(), self.length());
        let mut tail = A::Tail::ZERO;
        let bytes = self.fill_head(tail.as_mut());
        compress::<Compress<A>>(level, &mut state, &tail.as_ref()[..bytes]);
        let (then, digest) = match self.goal {
            Goal::Digest { then, digest } => (then, digest),
            Goal::State(goal) => {
                compress::<Compress<A>>(level, &mut state, self.message);
                *goal = state;
                return;
            }
            Goal::Part { state: goal, left } => {
                compress::<Compress<A>>(level, &mut state, self.message);
                (*goal, *left) = (state, 0);
                return;
            }
        };
        let body = body::<A>(self.head.len() + self.message.len());
        let (blocks, rest) = self.message.split_at(body);
        compress::<Compress<A>>(level, &mut state, blocks);
        let bytes = pad::<A>(tail.as_mut(), self.head, rest, length);
        A::before_last(&mut state, length);
        compress::<Compress<A>>(level, &mut state, &tail.as_ref()[..bytes]);
        if let Some(outer) = then {
            let bytes;
            (state, bytes) = outer_end::<A>(tail.as_mut(), outer, state.as_ref());
            compress::<Compress<A>>(level, &mut state, &tail.as_ref()[..bytes]);
        }
        A::output(state.as_ref(), digest);
    }

    /// The state that it begins with.
    #[inline(always)]
    fn begin(&self) -> State<A> {
        match (&self.goal, self.from) {
            (Goal::State(state) | Goal::Part { state, .. }, _) => **state,
            (_, Some((state, _))) => *state,
            _ => A::initial(),
        }
    }

    /// That of all that was hashed in the end, in bytes.
    #[inline(always)]
    fn length(&self) -> u64 {
        let before = self.from.map_or(0, |(_, before)| before);
        (self.head.len() + self.message.len()) as u64 + before
    }

    /// The block that head and message share, if it can be taken before the end is looked at: in `tail`, and no
    /// longer in the task. Gives its bytes.
    #[inline(always)]
    fn fill_head(&mut self, tail: &mut [u8]) -> usize {
        let block = Compress::<A>::BLOCK;
        let whole = match self.goal {
            Goal::Digest { .. } => body::<A>(self.head.len() + self.message.len()),
            Goal::State(_) | Goal::Part { .. } => self.head.len() + self.message.len(),
        };
        if self.head.is_empty() || whole < block {
            return 0;
        }
        let (start, rest) = tail[..block].split_at_mut(self.head.len());
        let (first, message) = self.message.split_at(rest.len());
        start.copy_from_slice(self.head);
        rest.copy_from_slice(first);
        (self.head, self.message) = (&[], message);
        block
    }
}

/// Pads the end of a message of `length` bytes, `head` and `rest`. Gives the bytes of its padded blocks.
///
/// All of the tail is zeroed, which is as long as the compiler knows, and no call is made for nothing: a batch of short
/// messages does hardly anything else.
#[inline(always)]
fn pad<A: Algorithm>(tail: &mut [u8], head: &[u8], rest: &[u8], length: u64) -> usize {
    tail.fill(0);
    let (first, second) = tail[..head.len() + rest.len()].split_at_mut(head.len());
    if !head.is_empty() {
        first.copy_from_slice(head);
    }
    if !rest.is_empty() {
        second.copy_from_slice(rest);
    }
    A::pad(tail, head.len() + rest.len(), length)
}

/// The last blocks of the outer hash of HMAC, which have the digest of the inner one. Gives the state before them,
/// and their bytes.
#[inline(always)]
fn outer_end<A: Algorithm>(
    tail: &mut [u8],
    outer: &State<A>,
    inner: &[WordOf<A>],
) -> (State<A>, usize) {
    let mut digest = A::Digest::ZERO;
    A::output(inner, digest.as_mut());
    let length = (Compress::<A>::BLOCK + digest.as_ref().len()) as u64;
    let bytes = pad::<A>(tail, &[], digest.as_ref(), length);
    wipe(digest.as_mut());
    let mut state = *outer;
    A::before_last(&mut state, length);
    (state, bytes)
}

/// Hashes all messages, side by side in lanes where that is faster than one by one.
///
/// Messages may have any lengths, in any order.
pub fn hash_all<A: Algorithm>(levels: Levels, jobs: &mut [HashJob<'_, A>]) {
    run_all(levels, jobs);
}

/// Updates many hashes, each by the bytes beside it, side by side in lanes where that is faster than one by one.
///
/// It is fastest with pieces of equal lengths, of some KiB or more. None of the bytes is left beside a hash then.
///
/// ```
/// use lanelock::hash::{Levels, Sha256, update_all};
///
/// # fn main() -> Result<(), lanelock::LevelError> {
/// let (mut one, mut other) = (Sha256::new()?, Sha256::new()?);
/// for _ in 0..10 {
///     let mut pieces = [(&mut one, &[1; 4096][..]), (&mut other, &[2; 4096])];
///     update_all(Levels::best()?, &mut pieces);
/// }
/// assert_eq!(one.finish(), Sha256::digest(&[1; 40960])?);
/// # Ok(())
/// # }
/// ```
pub fn update_all<A: Algorithm>(levels: Levels, pieces: &mut [(&mut Hash<A>, &[u8])]) {
    for (hash, data) in &mut *pieces {
        *data = hash.begin_update(data);
    }
    run_all(levels, pieces);
    for (_, data) in pieces {
        *data = &[];
    }
}

pub(crate) fn run_all<A: Algorithm, J: Chain<A>>(levels: Levels, jobs: &mut [J]) {
    let fewest = Compress::<A>::fewest_lanes(levels);
    if jobs.len() < fewest {
        for job in jobs {
            job.task().run(levels.one);
        }
        return;
    }
    longest_first(jobs, Chain::blocks, Chain::address, |_, turns| {
        let mut tasks = turns.map(Chain::task);
        levels.lanes.run(Flight { levels, fewest, tasks: &mut tasks });
    });
}

/// Takes blocks of the parts, in their order, as long as they fill the lanes. What is in the lanes then stays half
/// done.
pub(crate) fn fill_lanes<A: Algorithm>(levels: Levels, parts: &mut [Part<'_, A>]) {
    if parts.len() < Compress::<A>::fewest_lanes(levels) {
        return;
    }
    let mut tasks = parts.iter_mut().filter(|part| part.left > 0).map(Chain::task);
    levels.lanes.run(Flight { levels, fewest: usize::MAX, tasks: &mut tasks });
}

/// A batch at one level.
struct Flight<'o, 'w, A: Algorithm> {
    levels: Levels,
    fewest: usize,
    tasks: &'o mut dyn Source<Task<'w, A>>,
}

impl<A: Algorithm> WordKernel for Flight<'_, '_, A> {
    type Word = WordOf<A>;
    type Out = ();

    #[inline(always)]
    fn run<S: Words<WordOf<A>>>(self, s: S) {
        assert!(const { has_lanes::<S, WordOf<A>>() }, "lanes that are never used");
        let mut crew = HashCrew::<S, A>::new(s, self.levels.one);
        let most = crew.lanes();
        fly(&mut crew, self.tasks, most, self.fewest);
    }
}

/// Messages in lanes. Zeroised on drop.
struct HashCrew<'a, S, A: Algorithm> {
    s: S,
    one: ShaLevel,
    /// Word by word, those of all lanes.
    state: Rows<A>,
    seats: [Seat<'a, A>; MOST_WORDS],
    /// What is not read where the message lies: the block that begins with a head, the padded end, or that of the
    /// outer hash.
    tails: [A::Tail; MOST_WORDS],
}

/// Word by word of a state, those of all lanes.
pub(crate) type Rows<A> = <Compress<A> as Compression>::State<[WordOf<A>; MOST_WORDS]>;

/// A lane.
struct Seat<'a, A: Algorithm> {
    /// What is left of a head that has no block of its own with the message.
    head: &'a [u8],
    /// What is left of the message.
    message: &'a [u8],
    /// The bytes of whole blocks at its beginning: zero once the padded end is in the tail.
    body: usize,
    /// The bytes of the tail that are left, at its end. They come before those of the message.
    tail: usize,
    /// The bytes of the tail in all.
    padded: usize,
    /// The length of all that is hashed.
    length: u64,
    /// Blocks that are left, without those of an outer hash.
    left: usize,
    goal: Goal<'a, A>,
}

impl<S: Words<WordOf<A>>, A: Algorithm> HashCrew<'_, S, A> {
    #[inline(always)]
    fn new(s: S, one: ShaLevel) -> Self {
        let state = Compress::<A>::state([WordOf::<A>::default(); MOST_WORDS]);
        let seats = core::array::from_fn(|_| Seat {
            head: &[],
            message: &[],
            body: 0,
            tail: 0,
            padded: 0,
            length: 0,
            left: 0,
            goal: Goal::Digest { then: None, digest: &mut [] },
        });
        Self { s, one, state, seats, tails: [A::Tail::ZERO; MOST_WORDS] }
    }

    /// The state of one lane.
    #[inline(always)]
    fn column(&self, lane: usize) -> State<A> {
        let mut state = Compress::<A>::state(WordOf::<A>::default());
        for (word, row) in state.as_mut().iter_mut().zip(self.state.as_ref()) {
            *word = row[lane];
        }
        state
    }

    #[inline(always)]
    fn set_column(&mut self, lane: usize, state: &State<A>) {
        for (row, word) in self.state.as_mut().iter_mut().zip(state.as_ref()) {
            row[lane] = *word;
        }
    }

    /// Goes on with the padded end of the message in a lane, whose blocks were all taken.
    #[inline(always)]
    fn turn_to_end(&mut self, lane: usize) {
        if A::LAST_IS_SPECIAL {
            let mut state = self.column(lane);
            A::before_last(&mut state, self.seats[lane].length);
            self.set_column(lane, &state);
        }
        let seat = &mut self.seats[lane];
        let bytes = pad::<A>(self.tails[lane].as_mut(), seat.head, seat.message, seat.length);
        (seat.tail, seat.padded) = (bytes, bytes);
    }

    /// Goes on with the outer hash, if there is one: whether there is.
    #[inline(always)]
    fn turn_to_outer(&mut self, lane: usize) -> bool {
        let Goal::Digest { then, .. } = &mut self.seats[lane].goal else { return false };
        let Some(outer) = then.take() else { return false };
        let inner = self.column(lane);
        let (state, bytes) = outer_end::<A>(self.tails[lane].as_mut(), outer, inner.as_ref());
        self.set_column(lane, &state);
        let seat = &mut self.seats[lane];
        (seat.tail, seat.padded, seat.left) = (bytes, bytes, bytes / Compress::<A>::BLOCK);
        true
    }

    /// Takes `steps` blocks of lanes 0 to `used` - 1, which have so many in their messages or in their tails.
    #[inline(always)]
    fn take(&mut self, used: usize, steps: usize) {
        let mut rows: [&[u8]; MOST_WORDS] = [&[]; MOST_WORDS];
        for (lane, row) in rows.iter_mut().enumerate() {
            // Lanes that are not in use take what the first one does.
            let lane = if lane < used { lane } else { 0 };
            let seat = &self.seats[lane];
            *row = if seat.tail > 0 {
                &self.tails[lane].as_ref()[seat.padded - seat.tail..seat.padded]
            } else {
                &seat.message[..seat.body]
            };
        }
        if used > S::LANES && may_pair::<S, A>() {
            take::<_, A>(Pair(self.s), &mut self.state, &rows, steps);
        } else {
            take::<_, A>(self.s, &mut self.state, &rows, steps);
        }
        let bytes = steps * Compress::<A>::BLOCK;
        for seat in &mut self.seats[..used] {
            seat.left -= steps;
            if seat.tail > 0 {
                seat.tail -= bytes;
            } else {
                seat.message = &seat.message[bytes..];
                seat.body -= bytes;
            }
        }
    }

    /// Takes what is left of the message in a lane without the others.
    fn end_alone(&mut self, lane: usize) {
        let level = self.one;
        loop {
            let mut state = self.column(lane);
            let seat = &mut self.seats[lane];
            let tail = &self.tails[lane].as_ref()[seat.padded - seat.tail..seat.padded];
            let (body, rest) = seat.message.split_at(seat.body);
            compress::<Compress<A>>(level, &mut state, tail);
            compress::<Compress<A>>(level, &mut state, body);
            seat.left -= (seat.tail + seat.body) / Compress::<A>::BLOCK;
            (seat.message, seat.body, seat.tail) = (rest, 0, 0);
            let to_end = seat.left > 0;
            self.set_column(lane, &state);
            if to_end {
                self.turn_to_end(lane);
            } else if !self.turn_to_outer(lane) {
                return;
            }
        }
    }
}

/// Whether a crew may have the lanes of two vectors.
#[inline(always)]
pub(crate) fn may_pair<S: Words<WordOf<A>>, A: Algorithm>() -> bool {
    Compress::<A>::PAIRED && S::MANY_REGISTERS
}

/// The lanes of a crew: those of one vector, or of two.
#[inline(always)]
pub(crate) fn lanes<S: Words<WordOf<A>>, A: Algorithm>(s: S) -> usize {
    if may_pair::<S, A>() && s.pairs() { 2 * S::LANES } else { S::LANES }
}

/// Takes `steps` blocks of each lane of a vector.
#[inline(always)]
fn take<S: Words<WordOf<A>>, A: Algorithm>(
    s: S,
    rows_of_state: &mut Rows<A>,
    rows: &[&[u8]; MOST_WORDS],
    steps: usize,
) {
    let mut state = Compress::<A>::state(s.splat(WordOf::<A>::default()));
    for (v, row) in state.as_mut().iter_mut().zip(rows_of_state.as_ref()) {
        *v = s.load(row);
    }
    Compress::<A>::steps(s, &mut state, &rows[..S::LANES], steps);
    for (v, row) in state.as_ref().iter().zip(rows_of_state.as_mut()) {
        s.store(*v, row);
    }
}

impl<S, A: Algorithm> Drop for HashCrew<'_, S, A> {
    fn drop(&mut self) {
        for row in self.state.as_mut() {
            row.zeroize();
        }
        for tail in &mut self.tails {
            wipe(tail.as_mut());
        }
    }
}

impl<'a, S: Words<WordOf<A>>, A: Algorithm> Crew for HashCrew<'a, S, A> {
    type Chain = Task<'a, A>;

    #[inline(always)]
    fn lanes(&self) -> usize {
        lanes::<S, A>(self.s)
    }

    #[inline(always)]
    fn seat(&mut self, lane: usize, mut task: Task<'a, A>) {
        let block = Compress::<A>::BLOCK;
        let (length, state) = (task.length(), task.begin());
        self.set_column(lane, &state);
        let tail = task.fill_head(self.tails[lane].as_mut());
        let Task { head, message, goal, .. } = task;
        let bytes = head.len() + message.len();
        let (body, end) = match goal {
            Goal::Digest { .. } => {
                let body = body::<A>(bytes);
                (body, A::padded(bytes - body))
            }
            Goal::State(_) | Goal::Part { .. } => (bytes, 0),
        };
        let left = (tail + body + end) / block;
        self.seats[lane] = Seat { head, message, body, tail, padded: tail, length, left, goal };
        if tail == 0 && body == 0 {
            self.turn_to_end(lane);
        }
    }

    #[inline(always)]
    fn left(&self, lane: usize) -> usize {
        self.seats[lane].left
    }

    #[inline(always)]
    fn advance(&mut self, used: usize, steps: usize) {
        let block = Compress::<A>::BLOCK;
        let mut left = steps;
        while left > 0 {
            // As far as no lane comes to the end of what it reads.
            let mut now = left * block;
            for seat in &self.seats[..used] {
                now = now.min(if seat.tail > 0 { seat.tail } else { seat.body });
            }
            self.take(used, now / block);
            left -= now / block;
            for lane in 0..used {
                let seat = &self.seats[lane];
                if seat.body == 0 && seat.tail == 0 {
                    if seat.left > 0 {
                        self.turn_to_end(lane);
                    } else {
                        self.turn_to_outer(lane);
                    }
                }
            }
        }
    }

    /// Ends the message if its lane was one of the last that were in use.
    #[inline(always)]
    fn land(&mut self, lane: usize) {
        let seat = &self.seats[lane];
        if seat.left > 0 && !matches!(seat.goal, Goal::Part { .. }) {
            self.end_alone(lane);
        }
        let state = self.column(lane);
        let seat = &mut self.seats[lane];
        match &mut seat.goal {
            Goal::Part { state: goal, left } => (**goal, **left) = (state, seat.left),
            Goal::Digest { digest, .. } => A::output(state.as_ref(), mem::take(digest)),
            Goal::State(goal) => **goal = state,
        }
    }

    #[inline(always)]
    fn move_lane(&mut self, from: usize, to: usize) {
        let state = self.column(from);
        self.set_column(to, &state);
        self.tails[to] = self.tails[from];
        self.seats.swap(from, to);
    }
}
