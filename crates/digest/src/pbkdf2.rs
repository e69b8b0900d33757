//! PBKDF2 (RFC 8018, 5.2) with HMAC: keys from passwords, many side by side.

use core::{fmt, mem, num::NonZeroU32};

use lanelock_core::lanes::{Crew, Source, fly};
use lanelock_isa::{MOST_WORDS, Pair, Word, WordKernel, Words};
use zeroize::Zeroize;

use crate::{
    algorithm::{Algorithm, Bytes, Compress, State, WordOf},
    compression::{Compression, compress, has_lanes},
    hmac::HmacKey,
    lanes::{Rows, lanes, may_pair},
    levels::Levels,
};

/// A password, and the key that is derived from it.
pub struct Pbkdf2Job<'a> {
    /// The password.
    pub password: &'a [u8],
    /// The salt: at least 16 random bytes (NIST SP 800-132, 5.1).
    pub salt: &'a [u8],
    /// How often the hash is iterated.
    pub iterations: NonZeroU32,
    /// The derived key, of any length.
    pub key: &'a mut [u8],
}

impl fmt::Debug for Pbkdf2Job<'_> {
    /// The number of iterations, never the password or the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pbkdf2Job").field("iterations", &self.iterations).finish_non_exhaustive()
    }
}

/// Derives all keys, each block of each key in a lane.
///
/// ```
/// use lanelock::hash::{Levels, Pbkdf2Job, algorithm::Sha256, pbkdf2_all};
///
/// # fn main() -> Result<(), lanelock::LevelError> {
/// let mut keys = [[0; 32]; 3];
/// let mut jobs: Vec<_> = ["one", "two", "three"]
///     .iter()
///     .zip(&mut keys)
///     .map(|(password, key)| Pbkdf2Job {
///         password: password.as_bytes(),
///         salt: b"sixteen bytes or more",
///         iterations: 1000.try_into().unwrap(),
///         key,
///     })
///     .collect();
/// pbkdf2_all::<Sha256>(Levels::best()?, &mut jobs);
/// assert_ne!(keys[0], keys[1]);
/// # Ok(())
/// # }
/// ```
pub fn pbkdf2_all<A: Algorithm>(levels: Levels, jobs: &mut [Pbkdf2Job<'_>]) {
    let digest = size_of::<A::Digest>();
    let blocks: usize = jobs.iter().map(|job| job.key.len().div_ceil(digest)).sum();
    let mut chains = jobs.iter_mut().flat_map(|job| {
        let key = HmacKey::<A>::with_levels(levels, job.password);
        let (salt, iterations) = (job.salt, job.iterations);
        job.key.chunks_mut(digest).zip(1_u32..).map(move |(output, number)| {
            let mut hmac = key.start();
            hmac.update(salt);
            hmac.update(&number.to_be_bytes());
            let (inner, outer) = key.states();
            let (inner, outer) = (*inner, *outer);
            Iterations {
                inner,
                outer,
                first: hmac.finish(),
                left: iterations.get() as usize - 1,
                output,
            }
        })
    });
    let fewest = Compress::<A>::fewest_lanes(levels);
    if blocks < fewest {
        chains.for_each(|chain| chain.run(levels));
    } else {
        levels.lanes.run(Flight::<A> { levels, fewest, chains: &mut chains });
    }
}

/// One block of a key.
struct Iterations<'k, A: Algorithm> {
    inner: State<A>,
    outer: State<A>,
    /// After the first iteration.
    first: A::Digest,
    left: usize,
    output: &'k mut [u8],
}

impl<A: Algorithm> Iterations<'_, A> {
    /// Without lanes.
    fn run(self, levels: Levels) {
        let first = self.first;
        self.finish(levels, first, first);
    }

    /// The iterations that are left after `block`, which add to `sum`.
    fn finish(self, levels: Levels, mut block: A::Digest, mut sum: A::Digest) {
        let mut tail = A::Tail::ZERO;
        let digest = size_of::<A::Digest>();
        let length = (Compress::<A>::BLOCK + digest) as u64;
        let bytes = A::pad(tail.as_mut(), digest, length);
        for _ in 0..self.left {
            for from in [&self.inner, &self.outer] {
                let mut state = *from;
                tail.as_mut()[..digest].copy_from_slice(block.as_ref());
                compress::<Compress<A>>(levels.one, &mut state, &tail.as_ref()[..bytes]);
                A::output(state.as_ref(), block.as_mut());
            }
            for (sum, byte) in sum.as_mut().iter_mut().zip(block.as_ref()) {
                *sum ^= byte;
            }
        }
        let mut chain = self;
        let output = mem::take(&mut chain.output);
        output.copy_from_slice(&sum.as_ref()[..output.len()]);
        tail.zeroize();
        block.zeroize();
        sum.zeroize();
    }
}

impl<A: Algorithm> Drop for Iterations<'_, A> {
    fn drop(&mut self) {
        self.inner.as_mut().zeroize();
        self.outer.as_mut().zeroize();
        self.first.zeroize();
    }
}

/// A batch at one level.
struct Flight<'c, 'k, A: Algorithm> {
    levels: Levels,
    fewest: usize,
    chains: &'c mut dyn Source<Iterations<'k, A>>,
}

impl<A: Algorithm> WordKernel for Flight<'_, '_, A> {
    type Word = WordOf<A>;
    type Out = ();

    #[inline(always)]
    fn run<S: Words<WordOf<A>>>(self, s: S) {
        assert!(const { has_lanes::<S, WordOf<A>>() }, "lanes that are never used");
        let mut crew = Pbkdf2Crew::<S, A>::new(s, self.levels);
        let most = crew.lanes();
        fly(&mut crew, self.chains, most, self.fewest);
    }
}

/// Iterations in lanes: the states of HMAC, the last block and the sum of all. Zeroised on drop.
struct Pbkdf2Crew<'k, S, A: Algorithm> {
    s: S,
    levels: Levels,
    rows: [Rows<A>; 4],
    chains: [Option<Iterations<'k, A>>; MOST_WORDS],
    /// The words of a block behind a digest: its padding.
    padding: WordsOf<A>,
}

type WordsOf<A> = <Compress<A> as Compression>::Words<WordOf<A>>;

const INNER: usize = 0;
const OUTER: usize = 1;
const BLOCK: usize = 2;
const SUM: usize = 3;

impl<S: Words<WordOf<A>>, A: Algorithm> Pbkdf2Crew<'_, S, A> {
    /// Words of a digest, which the state begins with.
    const DIGEST: usize = {
        let (digest, word) = (size_of::<A::Digest>(), <WordOf<A> as Word>::BYTES);
        assert!(
            digest.is_multiple_of(word) && !A::LAST_IS_SPECIAL,
            "PBKDF2 is for HMAC with whole words"
        );
        digest / word
    };

    #[inline(always)]
    fn new(s: S, levels: Levels) -> Self {
        let mut tail = A::Tail::ZERO;
        let digest = size_of::<A::Digest>();
        A::pad(tail.as_mut(), digest, (Compress::<A>::BLOCK + digest) as u64);
        let mut padding = Compress::<A>::words(WordOf::<A>::default());
        for (word, bytes) in
            padding.as_mut().iter_mut().zip(tail.as_ref().chunks_exact(WordOf::<A>::BYTES))
        {
            *word = WordOf::<A>::read_le(bytes);
            if Compress::<A>::BIG_ENDIAN {
                *word = word.swap_bytes();
            }
        }
        let row = Compress::<A>::state([WordOf::<A>::default(); MOST_WORDS]);
        Self { s, levels, rows: [row; 4], chains: [const { None }; MOST_WORDS], padding }
    }

    #[inline(always)]
    fn set(&mut self, which: usize, lane: usize, words: impl Iterator<Item = WordOf<A>>) {
        for (row, word) in self.rows[which].as_mut().iter_mut().zip(words) {
            row[lane] = word;
        }
    }

    #[inline(always)]
    fn get(&self, which: usize, lane: usize) -> State<A> {
        let mut state = Compress::<A>::state(WordOf::<A>::default());
        for (word, row) in state.as_mut().iter_mut().zip(self.rows[which].as_ref()) {
            *word = row[lane];
        }
        state
    }
}

/// So many iterations of each lane of a vector.
#[inline(always)]
fn iterate<S: Words<WordOf<A>>, A: Algorithm>(
    s: S,
    rows: &mut [Rows<A>; 4],
    padding: &WordsOf<A>,
    digest: usize,
    steps: usize,
) {
    let mut words = Compress::<A>::words(s.splat(WordOf::<A>::default()));
    for (v, word) in words.as_mut().iter_mut().zip(padding.as_ref()) {
        *v = s.splat(*word);
    }
    let load = |rows: &Rows<A>| {
        let mut state = Compress::<A>::state(s.splat(WordOf::<A>::default()));
        for (v, row) in state.as_mut().iter_mut().zip(rows.as_ref()) {
            *v = s.load(row);
        }
        state
    };
    let (mut block, mut sum) = (load(&rows[BLOCK]), load(&rows[SUM]));
    for _ in 0..steps {
        for from in [INNER, OUTER] {
            words.as_mut()[..digest].copy_from_slice(&block.as_ref()[..digest]);
            block = load(&rows[from]);
            Compress::<A>::take(s, &mut block, words);
        }
        for (sum, v) in sum.as_mut()[..digest].iter_mut().zip(block.as_ref()) {
            *sum = s.xor(*sum, *v);
        }
    }
    for (which, state) in [(BLOCK, block), (SUM, sum)] {
        for (v, row) in state.as_ref().iter().zip(rows[which].as_mut()) {
            s.store(*v, row);
        }
    }
}

impl<'k, S: Words<WordOf<A>>, A: Algorithm> Crew for Pbkdf2Crew<'k, S, A> {
    type Chain = Iterations<'k, A>;

    #[inline(always)]
    fn lanes(&self) -> usize {
        lanes::<S, A>(self.s)
    }

    #[inline(always)]
    fn seat(&mut self, lane: usize, chain: Iterations<'k, A>) {
        self.set(INNER, lane, chain.inner.as_ref().iter().copied());
        self.set(OUTER, lane, chain.outer.as_ref().iter().copied());
        let words = |bytes: &[u8]| {
            let word = WordOf::<A>::read_le(bytes);
            if Compress::<A>::BIG_ENDIAN { word.swap_bytes() } else { word }
        };
        for which in [BLOCK, SUM] {
            self.set(which, lane, chain.first.as_ref().chunks_exact(WordOf::<A>::BYTES).map(words));
        }
        self.chains[lane] = Some(chain);
    }

    #[inline(always)]
    fn left(&self, lane: usize) -> usize {
        self.chains[lane].as_ref().map_or(0, |chain| chain.left)
    }

    #[inline(always)]
    fn advance(&mut self, used: usize, steps: usize) {
        let Self { s, rows, padding, .. } = self;
        if used > S::LANES && may_pair::<S, A>() {
            iterate::<_, A>(Pair(*s), rows, padding, Self::DIGEST, steps);
        } else {
            iterate::<_, A>(*s, rows, padding, Self::DIGEST, steps);
        }
        for chain in self.chains[..used].iter_mut().flatten() {
            chain.left -= steps;
        }
    }

    #[inline(always)]
    fn land(&mut self, lane: usize) {
        let Some(chain) = self.chains[lane].take() else { return };
        let (mut block, mut sum) = (A::Digest::ZERO, A::Digest::ZERO);
        A::output(self.get(BLOCK, lane).as_ref(), block.as_mut());
        A::output(self.get(SUM, lane).as_ref(), sum.as_mut());
        chain.finish(self.levels, block, sum);
    }

    #[inline(always)]
    fn move_lane(&mut self, from: usize, to: usize) {
        for rows in &mut self.rows {
            for row in rows.as_mut() {
                row[to] = row[from];
            }
        }
        self.chains.swap(from, to);
    }
}

impl<S, A: Algorithm> Drop for Pbkdf2Crew<'_, S, A> {
    fn drop(&mut self) {
        for row in self.rows.iter_mut().flat_map(AsMut::as_mut) {
            row.zeroize();
        }
    }
}
