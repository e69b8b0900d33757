//! What hashes are measured by: as many additions, rotations and logical instructions on vectors of words as
//! their rounds have, on registers, in an order in which nothing waits; and the same behind what reads a block of
//! each message, which changes rows and columns of words.

use std::{hint::black_box, marker::PhantomData};

use lanelock::hash::{ShaLevel, algorithm, compression::Compression};
use lanelock_isa::{ShaKernel, ShaRounds, Word, WordKernel, Words};

/// The instructions of a hash, in *portions*: a block is a whole number of equal ones.
pub(super) trait Instructions: Copy {
    type Word: Word;
    /// Of a portion. Functions of three words are one each.
    const ROTATIONS: usize;
    const SHIFTS: usize;
    const ADDITIONS: usize;
    const LOGIC: usize;
    /// Portions of a block.
    const PORTIONS: usize;
    /// Words of a block.
    const WORDS: usize;
    const BIG_ENDIAN: bool;
}

macro_rules! instructions {
    ($($name:ident of $word:ident: $rotations:literal rotations, $shifts:literal shifts, $additions:literal additions,
        $logic:literal logic, $portions:literal times, $words:literal words, $big_endian:literal;)+) => {
        $(
            #[derive(Clone, Copy)]
            pub(super) struct $name;

            impl Instructions for $name {
                type Word = $word;
                const ROTATIONS: usize = $rotations;
                const SHIFTS: usize = $shifts;
                const ADDITIONS: usize = $additions;
                const LOGIC: usize = $logic;
                const PORTIONS: usize = $portions;
                const WORDS: usize = $words;
                const BIG_ENDIAN: bool = $big_endian;
            }
        )+
    };
}

// SHA-2: a round has six rotations, seven additions and four functions of three words; a word of the message, from
// the 17th on, four rotations, two shifts, three additions and two functions. SHA-1: two rotations, four additions
// and a function, and a rotation and two functions. SM3: six rotations, eight additions and five functions, and four
// rotations and three functions, for 52 words. Keccak: 29 rotations, two functions for each column, one each for θ
// and χ of a word, and ι. Rounded down to whole portions.
instructions! {
    Sha1 of u32: 14 rotations, 0 shifts, 20 additions, 13 logic, 16 times, 16 words, true;
    Sha256 of u32: 18 rotations, 3 shifts, 18 additions, 11 logic, 32 times, 16 words, true;
    Sha512 of u64: 23 rotations, 4 shifts, 23 additions, 14 logic, 32 times, 16 words, true;
    Sm3 of u32: 37 rotations, 0 shifts, 32 additions, 29 logic, 16 times, 16 words, true;
    Sha3 of u64: 29 rotations, 0 shifts, 0 additions, 61 logic, 24 times, 17 words, false;
    Shake128 of u64: 29 rotations, 0 shifts, 0 additions, 61 logic, 24 times, 21 words, false;
    TurboShake128 of u64: 29 rotations, 0 shifts, 0 additions, 61 logic, 12 times, 21 words, false;
}

/// Vectors that are worked on in turn: as many as fit 32 registers, or 16. More of them wait less.
const MANY: usize = 24;
const FEW: usize = 12;

/// `$body` for each of these values of a constant, if it is below `$end`: compilers do not unroll loops as long
/// as these.
macro_rules! unrolled {
    ($name:ident in [$($value:literal)+] below $end:expr, $body:block) => {
        $(if $value < $end {
            const $name: usize = $value;
            $body
        })+
    };
}

/// One portion.
#[inline(always)]
fn portion<I: Instructions, S: Words<I::Word>, const N: usize>(s: S, v: &mut [S::V; N]) {
    let (turns, plain) = (I::ROTATIONS + I::SHIFTS, I::ADDITIONS + I::LOGIC);
    // Whether so many of the plain ones are spread over all of them so that one is here.
    let here = |i: usize, many: usize, of: usize| (i + 1) * many / of != i * many / of;
    unrolled!(I in [
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37
        38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
    ] below plain, {
        let (at, next) = (I % N, (I + 1) % N);
        v[at] = if here(I, I::ADDITIONS, plain) {
            s.add(v[at], v[next])
        } else {
            s.xor_and_not(v[at], v[next], v[(I + 2) % N])
        };
        if here(I, turns, plain) {
            // Between two turns of a vector there is an instruction of another kind, so that both stay.
            let (at, turn) = ((I + N / 2) % N, I * turns / plain);
            v[at] = if here(turn, I::SHIFTS, turns) {
                s.shift_right::<3>(v[at])
            } else {
                s.rotate_left::<7>(v[at])
            };
        }
    });
}

/// All vectors as one word.
#[inline(always)]
fn sum<W: Word, S: Words<W>, const N: usize>(s: S, v: [S::V; N]) -> W {
    let mut sum = v[0];
    for i in 1..N {
        sum = s.xor(sum, v[i]);
    }
    let mut words = [W::default(); lanelock_isa::MOST_WORDS];
    s.store(sum, &mut words);
    words[0]
}

/// The rounds of so many blocks of each lane.
pub(super) struct RoundsOf<I>(pub(super) usize, pub(super) PhantomData<I>);

impl<I: Instructions> WordKernel for RoundsOf<I> {
    type Word = I::Word;
    type Out = I::Word;

    #[inline(always)]
    fn run<S: Words<I::Word>>(self, s: S) -> I::Word {
        if S::MANY_REGISTERS { self.on::<S, MANY>(s) } else { self.on::<S, FEW>(s) }
    }
}

impl<I: Instructions> RoundsOf<I> {
    #[inline(always)]
    fn on<S: Words<I::Word>, const N: usize>(self, s: S) -> I::Word {
        let mut v = [s.splat(I::Word::default()); N];
        for i in 0..N {
            v[i] = s.splat(black_box(I::Word::default()));
        }
        for _ in 0..self.0 * I::PORTIONS {
            portion::<I, S, N>(s, &mut v);
        }
        sum(s, v)
    }
}

/// The same with reading the blocks, one behind the other in each row.
pub(super) struct BlocksOf<'a, I>(pub(super) &'a [&'a [u8]], pub(super) PhantomData<I>);

impl<I: Instructions> WordKernel for BlocksOf<'_, I> {
    type Word = I::Word;
    type Out = I::Word;

    #[inline(always)]
    fn run<S: Words<I::Word>>(self, s: S) -> I::Word {
        if S::MANY_REGISTERS { self.on::<S, MANY>(s) } else { self.on::<S, FEW>(s) }
    }
}

impl<I: Instructions> BlocksOf<'_, I> {
    #[inline(always)]
    fn on<S: Words<I::Word>, const N: usize>(self, s: S) -> I::Word {
        let bytes = I::WORDS * I::Word::BYTES;
        let mut v = [s.splat(black_box(I::Word::default())); N];
        let mut words = [v[0]; 25];
        for block in 0..self.0[0].len() / bytes {
            s.gather(self.0, block * bytes, &mut words[..I::WORDS]);
            for i in 0..I::WORDS {
                let word = if I::BIG_ENDIAN { s.swap_bytes(words[i]) } else { words[i] };
                v[i % N] = s.add(v[i % N], word);
            }
            for _ in 0..I::PORTIONS {
                portion::<I, S, N>(s, &mut v);
            }
        }
        sum(s, v)
    }
}

/// Blocks of one message by instructions for its hash.
pub(super) struct OneMessage<'a, A: algorithm::Algorithm> {
    pub(super) state: &'a mut algorithm::State<A>,
    pub(super) blocks: &'a [u8],
}

impl<A: algorithm::Algorithm> ShaKernel for OneMessage<'_, A> {
    type Out = bool;

    #[inline(always)]
    fn run<S: ShaRounds>(self, s: S) -> bool {
        <A::Compression as Compression>::by_instructions(s, self.state, self.blocks, &mut ())
    }
}

/// Whether there are instructions for the hash.
pub(super) fn has_instructions<A: algorithm::Algorithm>(level: ShaLevel) -> bool {
    let mut state = A::initial();
    level.run(OneMessage::<A> { state: &mut state, blocks: &[] })
}
