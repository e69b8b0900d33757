//! The families of instructions, each with its levels.
//!
//! One macro makes a family from a table of its tokens: the enum of its levels, their detection, and
//! how policy and override apply. A family's kernels are a trait beside its vector trait, below the
//! tokens that run them.

use alloc::vec::Vec;
#[cfg(all(debug_assertions, feature = "std"))]
use core::cell::Cell;
use core::{fmt, str::FromStr};

use crate::choice::{Choice, Family, LevelError, LevelInfo, Overrides};
use crate::policy::{Policy, Processor, Ways};
#[cfg(target_arch = "x86_64")]
use crate::{AesNi, Avx2Words, Avx512Words, Ifma256, Ifma512, ShaNi, Vaes256, Vaes512};
use crate::{
    Blocks, Kernel, LimbKernel, Portable, PortableLimbs, PortableSha, PortableWords, ShaKernel,
    WordKernel, wipe_stack,
};
#[cfg(target_arch = "aarch64")]
use crate::{Neon, NeonSha2, NeonSha3, NeonWords};

/// The families of this build. A name alone in `LANELOCK_LEVEL` is a level of the first.
static FAMILIES: &[&Family] =
    &[AesLevel::FAMILY, HashLevel::FAMILY, ShaLevel::FAMILY, LimbLevel::FAMILY];

/// The families of this build, each with its levels.
///
/// ```
/// for family in lanelock_isa::families() {
///     let here: Vec<_> = family.levels().iter().filter(|level| family.has(level.name)).collect();
///     assert_eq!(here[0].name, "portable");
/// }
/// ```
pub fn families() -> &'static [&'static Family] {
    FAMILIES
}

/// The policy that all families follow: that of the host, or the `max` in `LANELOCK_LEVEL`.
///
/// # Errors
/// `LANELOCK_LEVEL` has a mistake.
pub fn policy() -> Result<Policy, LevelError> {
    Overrides::of_environment(FAMILIES).map(|overrides| overrides.policy())
}

/// What `LANELOCK_LEVEL` with this value would choose, of every family: for tests of the value alone.
///
/// # Errors
/// The value has a mistake.
#[doc(hidden)]
pub fn choices_of(value: &str) -> Result<Vec<(&'static Family, Choice)>, LevelError> {
    let overrides = Overrides::parse(value, FAMILIES)?;
    Ok(FAMILIES.iter().map(|family| (*family, overrides.choice(family))).collect())
}

/// How deep the frames of some work with a key are at the levels of vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StackDepth {
    /// Nothing: what is secret stays in registers, or is wiped where it is.
    KiB0,
    /// 1 KiB: a few values that did not fit into registers.
    KiB1,
    /// 2 KiB: round keys or powers are in memory, beside texts of a group.
    KiB2,
    /// 4 KiB: all of them are, as wide as vectors, in frames one below the other.
    KiB4,
}

/// Whether kernels are compiled for a level of vectors. A build for valgrind (`tools/ct`) leaves out the levels that
/// valgrind lacks. A debug build leaves out the one that `LANELOCK_LEAVE_OUT` names at compile time: the repository's tests
/// set it in `.cargo/config.toml`, since each level is a fifth of the time that kernels take to compile.
const fn is_built(name: &str) -> bool {
    if cfg!(lanelock_ct) {
        return matches!(name.as_bytes(), b"aesni" | b"avx2");
    }
    match option_env!("LANELOCK_LEAVE_OUT") {
        Some(left_out) if cfg!(debug_assertions) => !is_same(left_out.as_bytes(), name.as_bytes()),
        _ => true,
    }
}

/// `a == b`, at compile time.
const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let (mut i, mut same) = (0, a.len() == b.len());
    while same && i < a.len() {
        same = a[i] == b[i];
        i += 1;
    }
    same
}

/// Makes a family from a table of its levels, slowest first.
///
/// - `runs` is the trait of its kernels, `width` the constant of its vector trait that says how many
///   lanes a vector has.
/// - `portable` names the token for any processor and the bytes of stack that its work may fill.
/// - A level is a line: the architecture that has it, variant, token, name, bits of a vector. The
///   token brings `detect`, `run` and `REQUIRES`.
macro_rules! family {
    (
        $(#[$doc:meta])*
        $level:ident $family:literal, runs $kernel:ident, width $width:ident of $lanes:literal,
        $(#[$portable_doc:meta])*
        portable $portable:ident, stack $stack:expr,
        $($(#[$level_doc:meta])* $arch:literal $variant:ident($token:ident) $name:literal $bits:literal;)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $level {
            $(#[$portable_doc])*
            Portable($portable),
            $(
                $(#[$level_doc])*
                #[cfg(target_arch = $arch)]
                $variant($token),
            )*
        }

        impl $level {
            /// The family of these levels.
            pub const FAMILY: &Family = &Family {
                name: $family,
                levels: &[
                    LevelInfo::new("portable", "nothing", 0),
                    $(
                        #[cfg(target_arch = $arch)]
                        LevelInfo { is_built: is_built($name), ..LevelInfo::new($name, $token::REQUIRES, $bits) },
                    )*
                ],
                has: |name| Self::detect(name).is_some(),
                choose: Self::choose,
            };

            /// All levels that this processor has, slowest first. Never empty: `portable` is always
            /// there.
            pub fn available() -> Vec<Self> {
                Self::known().iter().filter_map(|(name, _)| Self::detect(name)).collect()
            }

            /// The level to use: the override in `LANELOCK_LEVEL` if it names one of this family, else
            /// the fastest that the [policy()] allows. Without the feature `std` there is no
            /// environment.
            ///
            /// # Errors
            /// The override has a mistake: a level that is unknown or that this processor lacks, or one
            /// of the others that [`LevelError`] tells of. It is never ignored.
            pub fn best() -> Result<Self, LevelError> {
                Self::choose().map(Self::of)
            }

            /// The fastest level that this processor has and its [policy](Policy::host) allows, whatever
            /// the environment says.
            pub fn fastest() -> Self {
                Self::of(Self::FAMILY.fastest(Policy::host()))
            }

            /// The names of all levels of this build, slowest first, each with the CPU features it
            /// requires.
            pub fn known() -> &'static [(&'static str, &'static str)] {
                &[
                    ("portable", "nothing"),
                    $(
                        #[cfg(target_arch = $arch)]
                        ($name, $token::REQUIRES),
                    )*
                ]
            }

            /// The name that [`from_str`](Self::from_str) takes.
            pub fn name(self) -> &'static str {
                match self {
                    Self::Portable(_) => "portable",
                    $(
                        #[cfg(target_arch = $arch)]
                        Self::$variant(_) => $name,
                    )*
                }
            }

            /// The place of this level in [`known`](Self::known).
            pub fn rank(self) -> usize {
                enum Rank {
                    Portable,
                    $(
                        #[cfg(target_arch = $arch)]
                        $variant,
                    )*
                }
                let rank = match self {
                    Self::Portable(_) => Rank::Portable,
                    $(
                        #[cfg(target_arch = $arch)]
                        Self::$variant(_) => Rank::$variant,
                    )*
                };
                rank as usize
            }

            #[doc = concat!($lanes, " in a vector of this level.")]
            #[inline]
            pub fn width(self) -> usize {
                match self {
                    Self::Portable(_) => <$portable>::$width,
                    $(
                        #[cfg(target_arch = $arch)]
                        Self::$variant(_) => $token::$width,
                    )*
                }
            }

            /// Runs `kernel` compiled for this level.
            #[inline]
            pub fn run<K: $kernel>(self, kernel: K) -> K::Out {
                #[cfg(all(debug_assertions, feature = "std"))]
                Self::last().set(Some(self));
                match self {
                    Self::Portable(t) => t.run(kernel),
                    $(
                        #[cfg(target_arch = $arch)]
                        Self::$variant(t) => {
                            assert!(const { is_built($name) }, "{} was not built", $name);
                            t.run(kernel)
                        }
                    )*
                }
            }

            /// The level of the last kernel of this family that this thread ran, so that tests can prove
            /// which code ran.
            ///
            /// `None` before the first kernel, and always in builds without debug assertions or without
            /// the feature `std`.
            pub fn last_run() -> Option<Self> {
                #[cfg(all(debug_assertions, feature = "std"))]
                return Self::last().get();
                #[cfg(not(all(debug_assertions, feature = "std")))]
                None
            }

            /// Overwrites the stack below the frame of the caller, where work with keys was: see
            /// [`wipe_stack`]. `depth` is that of vector code; the portable level needs more.
            #[inline]
            pub fn wipe_stack(self, depth: StackDepth) {
                if matches!(self, Self::Portable(_)) {
                    return wipe_stack::<{ $stack }>();
                }
                match depth {
                    StackDepth::KiB0 => {}
                    StackDepth::KiB1 => wipe_stack::<{ 1 << 10 }>(),
                    StackDepth::KiB2 => wipe_stack::<{ 2 << 10 }>(),
                    StackDepth::KiB4 => wipe_stack::<{ 4 << 10 }>(),
                }
            }

            fn detect(name: &str) -> Option<Self> {
                match name {
                    "portable" => Some(Self::Portable($portable::new())),
                    $(
                        #[cfg(target_arch = $arch)]
                        $name if is_built($name) => $token::detect().map(Self::$variant),
                    )*
                    _ => None,
                }
            }

            fn choose() -> Result<Choice, LevelError> {
                Ok(Overrides::of_environment(FAMILIES)?.choice(Self::FAMILY))
            }

            /// The level that was chosen, which is one that is here.
            fn of(choice: Choice) -> Self {
                Self::detect(choice.level.name).unwrap_or(Self::Portable($portable::new()))
            }

            #[cfg(all(debug_assertions, feature = "std"))]
            fn last() -> &'static std::thread::LocalKey<Cell<Option<Self>>> {
                std::thread_local! {
                    static LAST: Cell<Option<$level>> = const { Cell::new(None) };
                }
                &LAST
            }
        }

        impl FromStr for $level {
            type Err = LevelError;

            /// The level of that name.
            ///
            /// # Errors
            /// No level has that name, or this processor lacks it.
            fn from_str(name: &str) -> Result<Self, LevelError> {
                Self::detect(name).ok_or_else(|| LevelError::of_name(Self::FAMILY, name))
            }
        }

        impl fmt::Debug for $level {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl fmt::Display for $level {
            /// The name, and whose ways the level takes if they are not those of this host.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())?;
                let other = |processor: &Processor| self.as_on(*processor) == *self;
                match Processor::possible().find(other) {
                    Some(processor) if self.as_on(Processor::host()) != *self => {
                        write!(f, " as on {}", processor.name())
                    }
                    _ => Ok(()),
                }
            }
        }
    };
}

family! {
    /// An instruction-set level for AES with carry-less products, named by what it requires.
    ///
    /// A value can only be had from detection, so holding one proves that the processor has it.
    ///
    /// ```
    /// use lanelock_isa::AesLevel;
    ///
    /// # fn main() -> Result<(), lanelock_isa::LevelError> {
    /// let slowest: AesLevel = "portable".parse()?; // an error if there is none of that name here
    /// assert!(AesLevel::available().contains(&slowest));
    /// assert!("sse9".parse::<AesLevel>().is_err());
    /// # Ok(())
    /// # }
    /// ```
    AesLevel "aes", runs Kernel, width WIDTH of "Blocks",
    /// Constant-time bit-sliced code for any processor.
    portable Portable, stack 16 << 10, // bit planes of many blocks, function in function
    /// AES-NI: one block an instruction.
    "x86_64" AesNi(AesNi) "aesni" 128;
    /// VAES with 256-bit vectors: two blocks an instruction.
    "x86_64" Vaes256(Vaes256) "vaes256" 256;
    /// VAES with AVX-512: four blocks an instruction.
    "x86_64" Vaes512(Vaes512) "vaes512" 512;
    /// AESE and PMULL: one block an instruction.
    "aarch64" Neon(Neon) "neon" 128;
    /// AESE and PMULL, with EOR3 of the SHA-3 extension.
    "aarch64" NeonSha3(NeonSha3) "neon-sha3" 128;
}

family! {
    /// An instruction-set level for hashes and stream ciphers of many messages side by side, on words of 32 and
    /// 64 bits.
    ///
    /// A value can only be had from detection, so holding one proves that the processor has it.
    HashLevel "hash", runs WordKernel, width LANES of "Words of 32 bits",
    /// Four words, for any processor.
    portable PortableWords, stack 4 << 10, // the words of some vectors, function in function
    /// AVX2: eight words an instruction.
    "x86_64" Avx2(Avx2Words) "avx2" 256;
    /// AVX-512: sixteen words an instruction.
    "x86_64" Avx512(Avx512Words) "avx512" 512;
    /// Advanced SIMD: four words an instruction.
    "aarch64" Neon(NeonWords) "neon" 128;
}

family! {
    /// An instruction-set level for hashes of one message, by instructions for rounds of a hash.
    ///
    /// A value can only be had from detection, so holding one proves that the processor has it.
    ShaLevel "sha", runs ShaKernel, width MESSAGES of "Messages",
    /// No such instructions: hashes are made of those on words.
    portable PortableSha, stack 4 << 10, // the words of a message, function in function
    /// SHA-NI: SHA-1 and SHA-256.
    "x86_64" ShaNi(ShaNi) "shani" 128;
    /// The SHA2 extension: SHA-1 and SHA-256.
    "aarch64" NeonSha2(NeonSha2) "neon-sha2" 128;
}

family! {
    /// An instruction-set level for big numbers side by side, in limbs that hold digits of 52 bits.
    ///
    /// A value can only be had from detection, so holding one proves that the processor has it.
    LimbLevel "limb", runs LimbKernel, width LANES of "Limbs",
    /// One number at a time, for any processor.
    portable PortableLimbs, stack 4 << 10, // the digits of some numbers, function in function
    /// AVX-512 IFMA in vectors of 256 bits: four numbers side by side.
    "x86_64" Ifma256(Ifma256) "ifma256" 256;
    /// AVX-512 IFMA: eight numbers side by side.
    "x86_64" Ifma512(Ifma512) "ifma512" 512;
}

/// Levels of which all processors take the same ways.
macro_rules! one_form {
    ($($level:ident)+) => {$(
        impl $level {
            fn as_on(self, _: Processor) -> Self {
                self
            }
        }
    )+};
}
one_form! { ShaLevel LimbLevel }

impl HashLevel {
    /// This level in each form that it has on some processor: in the [ways](Ways) of each family, with and without
    /// [limbs](crate::Products::in_limbs). The first is the one of this host. Tests run them all.
    pub fn forms(self) -> Vec<Self> {
        let without = [true, false].map(|limbs| self.with_limbs(limbs));
        forms(self, without.iter().flat_map(|form| Processor::possible().map(|p| form.as_on(p))))
    }

    /// This level in the ways of another processor.
    #[must_use]
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        expect(unused_variables, reason = "the portable level has one form")
    )]
    pub fn as_on(self, processor: Processor) -> Self {
        match self {
            Self::Portable(token) => Self::Portable(token),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(token) => Self::Avx2(token.with_ways(processor.ways())),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(token) => Self::Avx512(token.with_ways(processor.ways())),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(token) => Self::Neon(token.with_ways(processor.ways())),
        }
    }

    /// This level with limbs where the processor has them, or as on one without.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(unused_variables, reason = "no other processor has limbs")
    )]
    fn with_limbs(self, limbs: bool) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Self::Avx512(token) = self {
            return Self::Avx512(token.with_limbs(limbs));
        }
        self
    }
}

impl AesLevel {
    /// The level for any processor.
    pub const PORTABLE: Self = Self::Portable(Portable::new());

    /// The ways that concern this level.
    #[inline]
    pub fn ways(self) -> Ways {
        match self {
            Self::Portable(_) => Ways::NONE,
            #[cfg(target_arch = "x86_64")]
            Self::AesNi(token) => token.ways(),
            #[cfg(target_arch = "x86_64")]
            Self::Vaes256(token) => token.ways(),
            #[cfg(target_arch = "x86_64")]
            Self::Vaes512(token) => token.ways(),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(token) => token.ways(),
            #[cfg(target_arch = "aarch64")]
            Self::NeonSha3(token) => token.ways(),
        }
    }

    /// This level in each form that it has on some processor: in the [ways](Ways) of each family. The first is the one of
    /// this host. Tests run them all.
    pub fn forms(self) -> Vec<Self> {
        forms(self, Processor::possible().map(|processor| self.as_on(processor)))
    }

    /// This level in the ways of another processor.
    #[must_use]
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        expect(unused_variables, reason = "the portable level has one form")
    )]
    pub fn as_on(self, processor: Processor) -> Self {
        match self {
            Self::Portable(token) => Self::Portable(token),
            #[cfg(target_arch = "x86_64")]
            Self::AesNi(token) => Self::AesNi(token.with_ways(processor.ways())),
            #[cfg(target_arch = "x86_64")]
            Self::Vaes256(token) => Self::Vaes256(token.with_ways(processor.ways())),
            #[cfg(target_arch = "x86_64")]
            Self::Vaes512(token) => Self::Vaes512(token.with_ways(processor.ways())),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(token) => Self::Neon(token.with_ways(processor.ways())),
            #[cfg(target_arch = "aarch64")]
            Self::NeonSha3(token) => Self::NeonSha3(token.with_ways(processor.ways())),
        }
    }
}

/// `first`, and of `others` those that differ from it and from one another.
fn forms<T: PartialEq>(first: T, others: impl Iterator<Item = T>) -> Vec<T> {
    let mut forms = alloc::vec![first];
    for other in others {
        if !forms.contains(&other) {
            forms.push(other);
        }
    }
    forms
}

/// The level of the last AES kernel that this thread ran: see [`AesLevel::last_run`].
pub fn last_level_run() -> Option<AesLevel> {
    AesLevel::last_run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        let available = AesLevel::available();
        assert_eq!(available[0].name(), "portable");
        for level in &available {
            assert_eq!(level.name().parse(), Ok(*level));
        }
        assert_eq!(available.last(), Some(&AesLevel::fastest()));
        let available = HashLevel::available();
        assert_eq!(available[0].name(), "portable");
        for level in &available {
            assert_eq!(level.name().parse(), Ok(*level));
        }
        assert_eq!(available.last(), Some(&HashLevel::fastest()));
    }

    #[test]
    fn unknown_names_are_errors_that_list_what_is_there() {
        let error = AesLevel::from_str("avx9000").unwrap_err().to_string();
        assert!(error.contains("\"avx9000\"") && error.contains("portable"), "{error}");
        assert!(!error.contains("LANELOCK_LEVEL"), "{error}");
        assert!(AesLevel::from_str("").is_err());
        assert!(AesLevel::from_str("aes=portable").is_err());
        assert!(HashLevel::from_str("aesni").is_err());
    }

    #[test]
    fn ranks_are_places_among_the_known() {
        for level in AesLevel::available() {
            assert_eq!(AesLevel::known()[level.rank()].0, level.name());
        }
        for level in HashLevel::available() {
            assert_eq!(HashLevel::known()[level.rank()].0, level.name());
        }
        for level in ShaLevel::available() {
            assert_eq!(ShaLevel::known()[level.rank()].0, level.name());
            assert_eq!(level.name().parse(), Ok(level));
        }
        for level in LimbLevel::available() {
            assert_eq!(LimbLevel::known()[level.rank()].0, level.name());
            assert_eq!(level.name().parse(), Ok(level));
        }
    }

    /// What override and policy rest on: names that tell families apart, levels from slow to fast.
    #[test]
    fn families_are_in_order() {
        let names: Vec<_> = families().iter().map(|family| family.name()).collect();
        assert_eq!(names, ["aes", "hash", "sha", "limb"]);
        for family in families() {
            assert_eq!(family.levels()[0].bits, 0);
            assert!(family.has("portable"));
            assert!(family.levels().is_sorted_by_key(|level| level.bits));
        }
        assert_eq!(AesLevel::FAMILY.levels().len(), AesLevel::known().len());
    }
}
