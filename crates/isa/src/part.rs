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
