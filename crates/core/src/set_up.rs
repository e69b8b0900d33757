//! How keys are made: with nothing of them left below.

use lanelock_isa::{AesLevel, LevelError};

/// A secret that is derived from a key.
///
/// A value that is returned is made in a frame of its own first, and then copied to where it is to be;
/// the compiler leaves the original where it was. So here it is a clone that is returned, and the original
/// is dropped: that wipes it, and the stack below, where the derivation was.
pub trait SetUp: Clone {
    /// No key yet.
    fn none(level: AesLevel) -> Self;

    /// Derives all that the object holds from `key`. The stack is left to the caller.
    fn set(&mut self, key: &[u8]);

    /// Sets up `key` at `level`.
    #[inline(never)]
    fn expand(key: &[u8], level: AesLevel) -> Self {
        let mut secret = Self::none(level);
        secret.set(key);
        copy(&secret)
    }

    /// Sets up `key`, if there is a level: see [`expand`](Self::expand). The result is made in its place too.
    #[inline(never)]
    fn expand_if<E: Clone>(key: &[u8], level: Result<AesLevel, E>) -> Result<Self, E> {
        let mut secret = level.map(Self::none);
        if let Ok(secret) = &mut secret {
            secret.set(key);
        }
        copy(&secret)
    }
}

/// As `copy`, as a result.
#[inline(never)]
pub fn copy_ok<T: Clone, E>(of: &T) -> Result<T, E> {
    Ok(of.clone())
}

/// A clone that is made where the caller returns it to. A call that stays one: what it leaves on the stack
/// is below the frame of the caller.
#[inline(never)]
fn copy<T: Clone>(of: &T) -> T {
    of.clone()
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
