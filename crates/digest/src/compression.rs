//! What takes a block of a message into the state of a hash.

use lanelock_isa::{
    BesideRounds, PortableWords, Products, ShaKernel, ShaLevel, ShaRounds, Word, Words,
};

use crate::levels::Levels;
pub use crate::{blake2::Blake2, keccak::Sponge, sha1::Sha1Blocks, sha2::Sha2, sm3::Sm3Blocks};

/// `$body` once for each of these values of `$name`, which is a constant there. An array whose indices are
/// constants stays in registers; compilers do not unroll loops as long as those of hashes by themselves.
macro_rules! unrolled {
    ($name:ident in [$($value:literal)+] $body:block) => {
        $({
            const $name: usize = $value;
            $body
        })+
    };
}
pub(crate) use unrolled;

/// The shape of a compression function: its words, how many the state and a block have, and the bytes of a block.
macro_rules! shape {
    ($word:ty, state $state:literal, words $words:literal, block $block:expr) => {
        type Word = $word;
        type State<T: Copy> = [T; $state];
        type Words<T: Copy> = [T; $words];
        const BLOCK: usize = $block;

        #[inline(always)]
        fn state<T: Copy>(value: T) -> [T; $state] {
            [value; $state]
        }

        #[inline(always)]
        fn words<T: Copy>(value: T) -> [T; $words] {
            [value; $words]
        }
    };
}
pub(crate) use shape;

/// The inner function of a hash: the state after one more block.
///
/// It is written once, for one message of every lane; one message alone is the case of one lane.
pub trait Compression: Copy + Send + Sync + 'static {
    /// What the state consists of.
    type Word: Word;
    /// A value for each word of the state.
    type State<T: Copy>: Copy + AsRef<[T]> + AsMut<[T]>;
    /// A value for each word of a block.
    type Words<T: Copy>: Copy + AsRef<[T]> + AsMut<[T]>;
    /// Bytes in a block.
    const BLOCK: usize;
    /// Whether the first byte of a word is its highest.
    const BIG_ENDIAN: bool = true;

    /// The same value for each word of the state.
    fn state<T: Copy>(value: T) -> Self::State<T>;

    /// The same value for each word of a block.
    fn words<T: Copy>(value: T) -> Self::Words<T>;

    /// Takes the words of a block of each lane.
    fn take<S: Words<Self::Word>>(s: S, state: &mut Self::State<S::V>, words: Self::Words<S::V>);

    /// Takes the first `steps` blocks of each lane's row. A hash may read the words of a block beside rounds of the one
    /// before.
    #[inline(always)]
    fn steps<S: Words<Self::Word>>(
        s: S,
        state: &mut Self::State<S::V>,
        rows: &[&[u8]],
        steps: usize,
    ) {
        for number in 0..steps {
            let mut words = Self::words(s.splat(Self::Word::default()));
            let block = &mut words.as_mut()[..Self::BLOCK / Self::Word::BYTES];
            read(s, rows, number * Self::BLOCK, block, Self::BIG_ENDIAN);
            Self::take(s, state, words);
        }
    }

    /// Whether two vectors at once are faster than one after the other, where [`Words::pairs`] says that vectors wait.
    const PAIRED: bool;

    /// How many lanes have to be in use, of vectors of 256 and of 512 bits, to be faster than one message after the
    /// other where there are instructions for this hash.
    const BESIDE_INSTRUCTIONS: [usize; 2] = [2, 2];

    /// How many lanes have to be in use to be faster than one message after the other.
    fn fewest_lanes(levels: Levels) -> usize {
        let [narrow, wide] = if levels.one.rank() > 0 { Self::BESIDE_INSTRUCTIONS } else { [2, 2] };
        match levels.lanes.width() {
            ..8 => usize::MAX,
            8..16 => narrow,
            16.. => wide,
        }
    }

    /// Takes blocks of one message by instructions for this hash, with other work between the rounds of each. False
    /// where there are none, with nothing done.
    #[inline(always)]
    fn by_instructions<S: ShaRounds>(
        _s: S,
        _state: &mut Self::State<Self::Word>,
        _blocks: &[u8],
        _beside: &mut impl BesideRounds,
    ) -> bool {
        false
    }
}

/// Whether [`Compression::fewest_lanes`] ever lets lanes of this level be used: those of vectors, of eight words of 32
/// bits or more. No kernel is compiled for the others.
pub(crate) const fn has_lanes<S: Words<W>, W: Word>() -> bool {
    <S::Wide as Products>::IN_VECTORS && size_of::<S::V>() >= 32
}

/// The words of a block of each lane: that at byte `at` of its row.
#[inline(always)]
pub(crate) fn read<W: Word, S: Words<W>>(
    s: S,
    rows: &[&[u8]],
    at: usize,
    block: &mut [S::V],
    big_endian: bool,
) {
    s.gather(rows, at, block);
    if big_endian {
        for word in block {
            *word = s.swap_bytes(*word);
        }
    }
}

/// Takes whole blocks of one message.
pub fn compress<C: Compression>(level: ShaLevel, state: &mut C::State<C::Word>, blocks: &[u8]) {
    debug_assert!(blocks.len().is_multiple_of(C::BLOCK));
    if !blocks.is_empty() {
        level.run(One::<C> { state, blocks });
    }
}

struct One<'a, C: Compression> {
    state: &'a mut C::State<C::Word>,
    blocks: &'a [u8],
}

impl<C: Compression> ShaKernel for One<'_, C> {
    type Out = ();

    #[inline(always)]
    fn run<S: ShaRounds>(self, s: S) {
        if !C::by_instructions(s, self.state, self.blocks, &mut ()) {
            on_words::<C>(self.state, self.blocks);
        }
    }
}

/// Takes blocks with a vector of one word.
#[inline(never)]
fn on_words<C: Compression>(state: &mut C::State<C::Word>, blocks: &[u8]) {
    let mut words = C::state([C::Word::default()]);
    for (word, value) in words.as_mut().iter_mut().zip(state.as_ref()) {
        *word = [*value];
    }
    C::steps(PortableWords::<1>::new(), &mut words, &[blocks], blocks.len() / C::BLOCK);
    for (value, [word]) in state.as_mut().iter_mut().zip(words.as_ref()) {
        *value = *word;
    }
}
