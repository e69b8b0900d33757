//! Where random bytes come from.

use rand_core::TryCryptoRng;

use crate::Error;

/// A source of random bytes that nobody can foresee: any generator of `rand_core` that is one for cryptography.
pub trait Random {
    /// Overwrites `bytes` with random ones.
    ///
    /// # Errors
    /// [`Error::Random`] if the source fails; `bytes` are then of no use.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error>;
}

impl<R: TryCryptoRng + ?Sized> Random for R {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.try_fill_bytes(bytes).map_err(|_| Error::Random)
    }
}

/// The generator of the operating system.
#[derive(Clone, Copy, Default, Debug)]
pub struct SystemRandom;

impl rand_core::TryRng for SystemRandom {
    type Error = getrandom::Error;

    fn try_next_u32(&mut self) -> Result<u32, getrandom::Error> {
        getrandom::u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, getrandom::Error> {
        getrandom::u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), getrandom::Error> {
        getrandom::fill(bytes)
    }
}

impl TryCryptoRng for SystemRandom {}
