//! What can go wrong.

use lanelock_isa::LevelError;

/// Why an operation was refused.
///
/// An error belongs to one operation: those beside it in a batch are not disturbed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A key is malformed; the text says what is wrong with it.
    #[error("invalid key: {0}")]
    Key(&'static str),
    /// A message, a signature or a point has a length that the operation does not take.
    #[error("{what} has {got} bytes where {expected} are expected")]
    Length {
        /// What has that length.
        what: &'static str,
        /// Its bytes.
        got: usize,
        /// The bytes that the operation takes.
        expected: usize,
    },
    /// A number is not below the modulus, or a message is too long for the key.
    #[error("{0} is out of range for this key")]
    Range(&'static str),
    /// Something is too weak for new signatures.
    #[error("{0} is too weak for new signatures")]
    Weak(&'static str),
    /// A signature does not belong to the message and the key.
    #[error("the signature is not valid")]
    Signature,
    /// A ciphertext was not made for this key or label, or was changed.
    #[error("decryption failed")]
    Decryption,
    /// The result of a private operation was wrong, by a fault of the machine, and is withheld: of a wrong RSA
    /// signature the primes can be found.
    #[error("a fault of the machine made the result wrong; it is withheld")]
    Fault,
    /// The source of random numbers failed.
    #[error("the source of random numbers failed")]
    Random,
    /// Memory for a key cannot be locked: the process may lock less than it asks for, or the system cannot.
    #[error("memory for the key cannot be locked ({0}); `ulimit -l` shows how much may be")]
    Locked(std::io::ErrorKind),
    /// `LANELOCK_LEVEL` has a mistake.
    #[error(transparent)]
    Level(#[from] LevelError),
}

impl Error {
    #[expect(clippy::needless_pass_by_value, reason = "for map_err")]
    pub(crate) fn locked(error: std::io::Error) -> Self {
        Self::Locked(error.kind())
    }
}
