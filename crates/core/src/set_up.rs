//! How keys are made: with nothing of them left below.

use lanelock_isa::{AesLevel, Filled, LevelError, Place, StackDepth, in_place};

/// A secret that is derived from a key, in the place where it is to be: see [`in_place`].
pub trait SetUp: Sized {
    /// How deep the frames are, below that of the call which derives it, in which derivation leaves parts of it
    /// at the levels of vectors.
    const DEPTH: StackDepth;

    /// No key yet. A constant, since a value that is returned is copied.
    const NONE: Self;

    /// Derives all that the object holds from `key`, at `level`. The stack is left to the caller.
    fn set(&mut self, key: &[u8], level: AesLevel);

    /// Sets up `key` at `level`.
    #[inline(never)]
    fn expand(key: &[u8], level: AesLevel) -> Self {
        let _behind = WipeStack(level, Self::DEPTH);
        derive(key, level)
    }

    /// Sets up `key`, if there is a level: see [`expand`](Self::expand). The result is made in its place too.
    #[inline(never)]
    fn expand_if<E>(key: &[u8], level: Result<AesLevel, E>) -> Result<Self, E> {
        let _behind = level.as_ref().ok().map(|level| WipeStack(*level, Self::DEPTH));
        derive_if(key, level)
    }
}

/// A call that stays one: its frame is below that of the caller, as are those of what it calls.
#[inline(never)]
fn derive<T: SetUp>(key: &[u8], level: AesLevel) -> T {
    in_place(|place| derive_in(place, key, level))
}

/// As `derive`, as a result.
#[inline(never)]
fn derive_if<T: SetUp, E>(key: &[u8], level: Result<AesLevel, E>) -> Result<T, E> {
    match level {
        Ok(level) => Ok(in_place(|place| derive_in(place, key, level))),
        Err(error) => Err(error),
    }
}

/// The only call that fills the place.
#[inline(never)]
fn derive_in<'p, T: SetUp>(place: Place<'p, T>, key: &[u8], level: AesLevel) -> Filled<'p> {
    place.fill(T::NONE, |secret| secret.set(key, level))
}

/// Wipes the stack when it is dropped: behind what a function returns.
struct WipeStack(AesLevel, StackDepth);

impl Drop for WipeStack {
    fn drop(&mut self) {
        self.0.wipe_stack(self.1);
    }
}

/// A clone that is made where the caller returns it to. A call that stays one: what it leaves on the stack
/// is below the frame of the caller.
#[inline(never)]
pub fn copy_ok<T: Clone, E>(of: &T) -> Result<T, E> {
    Ok(of.clone())
}

/// Gives an object that is set up from the key of a cipher its constructors, its level and its name.
///
/// `$suffix` follows the name of the cipher's keys; `$key` is the field whose level is that of the object.
#[doc(hidden)]
#[macro_export]
macro_rules! key_object {
    ($object:ident, $suffix:literal, $key:tt) => {
        $crate::key_object!($object, $suffix, $key, $crate::cipher::SizedCipher);
    };
    ($object:ident, $suffix:literal, $key:tt, $bound:path) => {
        impl<C: $bound> $object<C> {
            /// Expands `key` at the best level: see [`AesLevel::best`](crate::AesLevel::best).
            ///
            /// # Errors
            /// [`LevelError`](crate::LevelError) if the environment variable `LANELOCK_LEVEL` names a
            /// level that is unknown or not available. [`with_level`](Self::with_level) does not look at
            /// the environment.
            pub fn new(key: &C::KeyBytes) -> Result<Self, $crate::LevelError> {
                <Self as $crate::parts::SetUp>::expand_if(
                    key.as_ref(),
                    $crate::parts::default_level(),
                )
            }

            /// Expands `key` at `level`: for tests and benchmarks, or where the level is policy.
            pub fn with_level(key: &C::KeyBytes, level: $crate::AesLevel) -> Self {
                <Self as $crate::parts::SetUp>::expand(key.as_ref(), level)
            }
        }

        $crate::key_name!($object, $suffix, $key, $bound);
    };
}

/// The part of [`key_object`] for objects with constructors of their own.
#[doc(hidden)]
#[macro_export]
macro_rules! key_name {
    ($object:ident, $suffix:literal, $key:tt, $bound:path) => {
        impl<C: $bound> $object<C> {
            /// The level that this key runs at.
            pub fn level(&self) -> $crate::AesLevel {
                self.$key.level()
            }
        }

        impl<C: $bound> $crate::parts::ZeroizeOnDrop for $object<C> {}

        impl<C: $bound> core::fmt::Debug for $object<C> {
            /// Says which algorithm it is, never the key.
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "{}{}({})", C::NAME, $suffix, self.level())
            }
        }
    };
}

/// [`AesLevel::best`], found once a process: keys are made on hot paths too.
#[inline]
pub fn default_level() -> Result<AesLevel, LevelError> {
    #[cfg(feature = "std")]
    {
        use std::sync::OnceLock;
        static LEVEL: OnceLock<Result<AesLevel, LevelError>> = OnceLock::new();
        match LEVEL.get_or_init(AesLevel::best) {
            Ok(level) => Ok(*level),
            Err(error) => Err(error.clone()),
        }
    }
    // Nothing is detected then, and nothing is read.
    #[cfg(not(feature = "std"))]
    AesLevel::best()
}

/// [`AesLevel::fastest`], found once a process, for traits whose constructors cannot fail: they do not
/// consult the environment, which can be wrong.
pub fn detected_level() -> AesLevel {
    #[cfg(feature = "std")]
    {
        static LEVEL: std::sync::OnceLock<AesLevel> = std::sync::OnceLock::new();
        *LEVEL.get_or_init(AesLevel::fastest)
    }
    #[cfg(not(feature = "std"))]
    AesLevel::fastest()
}
