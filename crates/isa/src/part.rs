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

/// Calls the body of a kernel or part as a function with the features of a token: as a method of the kernel's type,
/// since the compiler puts those into the codegen unit of that type's module. A function would be in one unit with all
/// kernels of a program, which one thread compiles, and which a change of any of them compiles again.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! enter {
    (
        $token:ty, $value:expr, $kernel:expr, $bound:path, enable $enable:literal,
        $(frame $frame:ident,)? $(#[$inline:meta],)? |$s:ident, $k:ident| $body:expr
    ) => {{
        trait Entry: $bound {
            unsafe fn entry(self, token: $token) -> Self::Out;
        }
        impl<K: $bound> Entry for K {
            $(#[$inline])?
            #[target_feature(enable = $enable)]
            unsafe fn entry(self, $s: $token) -> K::Out {
                $($frame();)?
                let $k = self;
                $body
            }
        }
        let (kernel, token) = ($kernel, $value);
        // SAFETY: tokens exist only where `detect` found every feature enabled here.
        unsafe { Entry::entry(kernel, token) }
    }};
}

/// The method of a vector trait that calls a part with the instructions of a token. `frame` names what prepares the
/// frame of the part.
///
/// `inline(never)` is a wish: rustc (1.95) applies it to each call, and drops it where the caller lacks the features, as
/// `call` does; so a part with one caller may be inlined. To force it, by one more function between them, made lanes at
/// `vaes512` 4 % slower.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! call_part {
    ($token:ident, enable $enable:literal $(, frame $frame:ident)?) => {
        #[inline(always)]
        fn call<P: Part<Self>>(self, part: P) -> P::Out {
            enter!(
                $token, self, part, Part<$token>, enable $enable,
                $(frame $frame,)? #[inline(never)], |s, part| part.run(s)
            )
        }
    };
}
