//! The methods of a vector trait in terms of leaves: functions of the same names and arguments.

/// Methods that do what the leaves of their names do.
macro_rules! forward {
    ($leaf:ident: $(
        fn $name:ident $(<$(const $n:ident: $t:ty),+>)? ($($argument:ident: $type:ty),*) $(-> $out:ty)?;
    )*) => {$(
        #[inline(always)]
        fn $name $(<$(const $n: $t),+>)? (self, $($argument: $type),*) $(-> $out)? {
            // SAFETY: the token proves the features.
            unsafe { $leaf::$name $(::<$($n),+>)? ($($argument),*) }
        }
    )*};
}
