//! Parts of kernels that are functions of their own.

/// A part of a kernel at level `S` that is compiled as a function of its own: for kernels that have it in many places,
/// or that would be too long for the compiler with all their parts in them. See
/// [`Blocks::call`](crate::Blocks::call) and [`Limbs::call`](crate::Limbs::call).
///
/// `run` must be `#[inline(always)]`.
pub trait Part<S> {
    /// What the part returns.
    type Out;
    /// The body.
    fn run(self, s: S) -> Self::Out;
}

/// The method of a vector trait that calls a part with the instructions of a token. `frame` names what prepares the
/// frame of the part.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! call_part {
    ($token:ident, enable $enable:literal $(, frame $frame:ident)?) => {
        #[inline(always)]
        fn call<P: Part<Self>>(self, part: P) -> P::Out {
            #[target_feature(enable = $enable)]
            #[inline(never)]
            fn part_entry<P: Part<$token>>(token: $token, part: P) -> P::Out {
                $($frame();)?
                part.run(token)
            }
            // SAFETY: the token proves the features.
            unsafe { part_entry(self, part) }
        }
    };
}
