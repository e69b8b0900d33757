//! The state of a hash as bytes, to go on with it later or elsewhere.
//!
//! | bytes | what |
//! |---|---|
//! | 0 to 2 | `4c 4c 48` |
//! | 3 | the version of this form, 1 |
//! | 4 to 7 | which algorithm: [`Algorithm::IDENTITY`] |
//! | 8 to 15 | the bytes of the message that were taken |
//! | then | the words of the state behind the last block |
//! | then | the bytes of the message behind that block: fewer than a block; of BLAKE2 one block at most, and none only if the message is empty |
//! | the last 8 | the first bytes of the SHA-256 of all before |
//!
//! Numbers and words are little-endian. Words are those of the standard in their order: of SHA-1 five; of SHA-2 and
//! SM3 eight; of Keccak 25, lane (x, y) at x + 5y; of BLAKE2 eight, the two of the bytes that those blocks have,
//! and the mark of the last block, zero.

use alloc::vec::Vec;
use core::{error, fmt};

use lanelock_isa::{LevelError, ShaLevel, Word};
use zeroize::Zeroizing;

use crate::{
    algorithm::{Algorithm, Compress, Sha256, WordOf},
    compression::Compression,
    hash::Hash,
    levels::Levels,
};

const MARK: [u8; 3] = *b"LLH";
const VERSION: u8 = 1;
/// The bytes in front of the state, and those of the sum at the end.
const HEAD: usize = 16;
const SUM: usize = 8;
/// Messages are shorter: FIPS 180-4 gives those of SHA-1 and SHA-256 fewer than 2^64 bits.
const TOO_LONG: u64 = 1 << 61;

/// Bytes are no state of a hash that can go on.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ImportError {
    /// They are too few, or do not begin as a state does.
    NotAState,
    /// Another version of the form has made them.
    Version(u8),
    /// They are the state of another algorithm, or of the same with other parameters.
    Algorithm,
    /// They are more or fewer than a message of that length leaves behind.
    Length,
    /// They are not as they were made.
    Damaged,
    /// The environment variable `LANELOCK_LEVEL` has a mistake.
    Level(LevelError),
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAState => f.write_str("these bytes are no state of a hash"),
            Self::Version(version) => {
                write!(f, "the state is of version {version}, and {VERSION} is known here")
            }
            Self::Algorithm => f.write_str("the state is that of another algorithm"),
            Self::Length => f.write_str("the state is cut short, or too long"),
            Self::Damaged => f.write_str("the state is damaged"),
            Self::Level(error) => error.fmt(f),
        }
    }
}

impl error::Error for ImportError {}

impl From<LevelError> for ImportError {
    fn from(error: LevelError) -> Self {
        Self::Level(error)
    }
}

/// The state as bytes.
impl<A: Algorithm> Hash<A> {
    /// The state as bytes, from which [`import`](Self::import) goes on, at any level and on any machine.
    ///
    /// Whoever has them can compute hashes of messages that begin like this one, and what was taken last stands in
    /// them as it is: of a secret message they are a secret. They are zeroised when they are dropped, which what is
    /// made of them is not. A sum shows that they were damaged, not that somebody has changed them on purpose.
    ///
    /// ```
    /// use lanelock::hash::Sha256;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut hash = Sha256::new()?;
    /// hash.update(b"what was here ");
    /// let state = hash.export();
    ///
    /// let mut hash = Sha256::import(&state)?;
    /// hash.update(b"and what came later");
    /// assert_eq!(hash.finish(), Sha256::digest(b"what was here and what came later")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn export(&self) -> Zeroizing<Vec<u8>> {
        let (state, rest) = self.parts();
        let words = state.as_ref();
        let before = HEAD + words.len() * WordOf::<A>::BYTES;
        let mut bytes = Zeroizing::new(Vec::with_capacity(before + rest.len() + SUM));
        bytes.extend(MARK);
        bytes.push(VERSION);
        bytes.extend(A::IDENTITY);
        bytes.extend(self.length().to_le_bytes());
        bytes.resize(before, 0);
        for (bytes, word) in bytes[HEAD..].chunks_exact_mut(WordOf::<A>::BYTES).zip(words) {
            word.write_le(bytes);
        }
        bytes.extend(rest);
        let sum = sum(self.level(), &bytes);
        bytes.extend(sum);
        bytes
    }

    /// The hash that was exported.
    ///
    /// # Errors
    /// [`ImportError`] says what is wrong with the bytes.
    pub fn import(bytes: &[u8]) -> Result<Self, ImportError> {
        Self::import_with_level(Levels::best()?.one, bytes)
    }

    /// The same at `level`.
    ///
    /// # Errors
    /// As [`import`](Self::import).
    pub fn import_with_level(level: ShaLevel, bytes: &[u8]) -> Result<Self, ImportError> {
        let Some((body, expected)) = bytes.split_last_chunk::<SUM>() else {
            return Err(ImportError::NotAState);
        };
        let Some((head, body_behind)) = body.split_first_chunk::<HEAD>() else {
            return Err(ImportError::NotAState);
        };
        let [a, b, c, version, i, j, k, l, length @ ..] = *head;
        if [a, b, c] != MARK {
            return Err(ImportError::NotAState);
        }
        if version != VERSION {
            return Err(ImportError::Version(version));
        }
        if [i, j, k, l] != A::IDENTITY {
            return Err(ImportError::Algorithm);
        }
        let length = u64::from_le_bytes(length);
        let mut state = A::initial();
        let size = size_of_val(state.as_ref());
        let Some((words, rest)) = body_behind.split_at_checked(size) else {
            return Err(ImportError::Length);
        };
        if rest.len() != left_of::<A>(length) || length >= TOO_LONG {
            return Err(ImportError::Length);
        }
        for (word, bytes) in state.as_mut().iter_mut().zip(words.chunks_exact(WordOf::<A>::BYTES)) {
            *word = WordOf::<A>::read_le(bytes);
        }
        let mut counted = state;
        A::count(&mut counted, length - rest.len() as u64);
        if sum(level, body) != *expected || counted.as_ref() != state.as_ref() {
            return Err(ImportError::Damaged);
        }
        Ok(Self::from_parts(state, rest, length, level))
    }
}

/// How many of so many bytes stand behind the last block that was taken.
fn left_of<A: Algorithm>(length: u64) -> usize {
    let block = Compress::<A>::BLOCK as u64;
    let left =
        if A::LAST_IS_SPECIAL && length > 0 { (length - 1) % block + 1 } else { length % block };
    usize::try_from(left).expect("a block at most")
}

fn sum(level: ShaLevel, bytes: &[u8]) -> [u8; SUM] {
    let mut hash = Hash::<Sha256>::with_level(level);
    hash.update(bytes);
    let digest = hash.finish();
    core::array::from_fn(|at| digest[at])
}
