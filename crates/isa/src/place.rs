//! Values that are made where they are to be.
//!
//! A function that makes a value step by step makes it in its own frame, and copies it to where the caller
//! wants it: the original stays behind on the stack. The compiler leaves the copy out where one call alone
//! fills the value, and the value has no destructor as yet that might have to run.

use core::{marker::PhantomData, mem::MaybeUninit};

/// A place for a value. `'p` belongs to this place alone.
#[derive(Debug)]
pub struct Place<'p, T> {
    place: &'p mut MaybeUninit<T>,
    own: PhantomData<fn(&'p ()) -> &'p ()>,
}

/// Proof that there is a value in the place that `'p` belongs to.
#[derive(Debug)]
pub struct Filled<'p>(PhantomData<fn(&'p ()) -> &'p ()>);

impl<'p, T> Place<'p, T> {
    /// Puts `value` there, and has `work` go on with it where it is.
    #[inline(always)]
    pub fn fill(self, value: T, work: impl FnOnce(&mut T)) -> Filled<'p> {
        work(self.place.write(value));
        Filled(PhantomData)
    }
}

/// The value that `make` puts into the place it is given. For that no copy stays behind, `make` has to be a call
/// that is not inlined. If it panics, the value is forgotten.
///
/// ```
/// use lanelock_isa::{Filled, Place, in_place};
///
/// #[inline(never)]
/// fn secret(place: Place<'_, [u8; 64]>) -> Filled<'_> {
///     place.fill([0; 64], |bytes| bytes[0] = 1)
/// }
///
/// assert_eq!(in_place(secret)[..2], [1, 0]);
/// ```
#[inline(always)]
pub fn in_place<T>(make: impl for<'p> FnOnce(Place<'p, T>) -> Filled<'p>) -> T {
    let mut value = MaybeUninit::uninit();
    make(Place { place: &mut value, own: PhantomData });
    // SAFETY: `make` has returned a `Filled` of a lifetime that it knows nothing else of: `fill` has made it,
    // behind writing a value to this place.
    unsafe { value.assume_init() }
}
