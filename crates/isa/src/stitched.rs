//! Two chains in one loop: AES of one block after the other, and the rounds of a hash.

use crate::{AesClmul, AesLevel, ShaLevel, ShaRounds};

/// An algorithm over the instructions of both: see [`run_stitched`].
///
/// `run` must be `#[inline(always)]`; see the crate documentation.
pub trait StitchedKernel {
    /// What the algorithm returns.
    type Out;
    /// The body.
    fn run<S: AesClmul, H: ShaRounds>(self, s: S, h: H) -> Self::Out;
}

/// Runs `kernel` with vectors of one block beside the instructions for hashes. Neither chain fills its units, and in one
/// loop the processor has both in sight.
///
/// # Errors
/// The kernel itself, where a level has no instructions for its part.
pub fn run_stitched<K: StitchedKernel>(
    aes: AesLevel,
    sha: ShaLevel,
    kernel: K,
) -> Result<K::Out, K> {
    #[cfg(target_arch = "x86_64")]
    {
        use crate::{AesNi, Blocks, ShaNi};

        let s = match aes {
            AesLevel::AesNi(s) => s,
            AesLevel::Vaes256(s) => s.narrow(),
            AesLevel::Vaes512(s) => s.narrow(),
            AesLevel::Portable(_) => return Err(kernel),
        };
        match sha {
            ShaLevel::ShaNi(h) => Ok(enter!(
                (AesNi, ShaNi), (s, h), kernel, StitchedKernel,
                enable "aes,pclmulqdq,sha,ssse3,sse4.1", |tokens, kernel| kernel.run(tokens.0, tokens.1)
            )),
            ShaLevel::Portable(_) => Err(kernel),
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        use crate::{Neon, NeonSha2};

        match (aes, sha) {
            (AesLevel::Neon(s), ShaLevel::NeonSha2(h)) => Ok(enter!(
                (Neon, NeonSha2), (s, h), kernel, StitchedKernel,
                enable "neon,aes,sha2", |tokens, kernel| kernel.run(tokens.0, tokens.1)
            )),
            _ => Err(kernel),
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = (aes, sha);
        Err(kernel)
    }
}
