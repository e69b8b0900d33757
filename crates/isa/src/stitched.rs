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

        #[target_feature(enable = "aes,pclmulqdq,sha,ssse3,sse4.1")]
        fn entry<K: StitchedKernel>(s: AesNi, h: ShaNi, kernel: K) -> K::Out {
            kernel.run(s, h)
        }

        let s = match aes {
            AesLevel::AesNi(s) => s,
            AesLevel::Vaes256(s) => s.narrow(),
            AesLevel::Vaes512(s) => s.narrow(),
            AesLevel::Portable(_) => return Err(kernel),
        };
        match sha {
            // SAFETY: the two tokens exist only where every feature enabled here was found.
            ShaLevel::ShaNi(h) => Ok(unsafe { entry(s, h, kernel) }),
            ShaLevel::Portable(_) => Err(kernel),
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        use crate::{Neon, NeonSha2};

        #[target_feature(enable = "neon,aes,sha2")]
        fn entry<K: StitchedKernel>(s: Neon, h: NeonSha2, kernel: K) -> K::Out {
            kernel.run(s, h)
        }

        match (aes, sha) {
            // SAFETY: the two tokens exist only where every feature enabled here was found.
            (AesLevel::Neon(s), ShaLevel::NeonSha2(h)) => Ok(unsafe { entry(s, h, kernel) }),
            _ => Err(kernel),
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = (aes, sha);
        Err(kernel)
    }
}
