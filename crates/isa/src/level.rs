//! Which AES instructions to use: capability, policy and override.

use core::{fmt, str::FromStr};

#[cfg(target_arch = "x86_64")]
use crate::{AesNi, Vaes256, Vaes512};
use crate::{Blocks, Kernel, Portable, wipe_stack};

/// The environment variable that overrides [`AesLevel::best`].
const VARIABLE: &str = "LANELOCK_LEVEL";

/// An instruction-set level for AES, named by what it requires.
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
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AesLevel {
    /// Constant-time bit-sliced code for any processor.
    Portable(Portable),
    /// AES-NI: one block an instruction.
    #[cfg(target_arch = "x86_64")]
    AesNi(AesNi),
    /// VAES with 256-bit vectors: two blocks an instruction.
    #[cfg(target_arch = "x86_64")]
    Vaes256(Vaes256),
    /// VAES with AVX-512: four blocks an instruction.
    #[cfg(target_arch = "x86_64")]
    Vaes512(Vaes512),
}

/// The name of every level of this build, slowest first, with what it requires.
#[cfg(target_arch = "x86_64")]
const KNOWN: &[(&str, &str)] = &[
    ("portable", "nothing"),
    ("aesni", AesNi::REQUIRES),
    ("vaes256", Vaes256::REQUIRES),
    ("vaes512", Vaes512::REQUIRES),
];
#[cfg(not(target_arch = "x86_64"))]
const KNOWN: &[(&str, &str)] = &[("portable", "nothing")];

/// How deep the frames of some work with a key are at the levels of vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StackDepth {
    /// Nothing: what is secret stays in registers, or is wiped where it is.
    KiB0,
    /// 1 KiB: a few values that did not fit into registers.
    KiB1,
    /// 2 KiB: some round keys or powers are in memory.
    KiB2,
    /// 4 KiB: all round keys are in memory, as wide as vectors, beside the texts of a group.
    KiB4,
}

impl AesLevel {
    /// All levels that this processor has, slowest first. Never empty: `portable` is always there.
    pub fn available() -> Vec<Self> {
        KNOWN.iter().filter_map(|(name, _)| Self::detect(name)).collect()
    }

    /// The level to use: the override in `LANELOCK_LEVEL` if it is set, else the fastest.
    ///
    /// # Errors
    /// The override names no level, or one that this processor lacks. It is never ignored.
    pub fn best() -> Result<Self, LevelError> {
        match std::env::var(VARIABLE) {
            // What sets variables may set them to nothing.
            Ok(name) if name.is_empty() => Ok(Self::fastest()),
            Ok(name) => name.parse(),
            Err(std::env::VarError::NotPresent) => Ok(Self::fastest()),
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(LevelError { name: "(not UTF-8)".into() })
            }
        }
    }

    /// The fastest level that this processor has, whatever the environment says.
    ///
    /// Policy and capability are the same today: on every processor measured, 512-bit AES was the
    /// fastest. A processor that slows down for 512-bit vectors would be named here.
    pub fn fastest() -> Self {
        let mut fastest = Self::Portable(Portable::new());
        for (name, _) in KNOWN {
            if let Some(level) = Self::detect(name) {
                fastest = level;
            }
        }
        fastest
    }

    /// The names of all levels of this build, slowest first, each with the CPU features it requires.
    pub fn known() -> &'static [(&'static str, &'static str)] {
        KNOWN
    }

    /// The name that [`from_str`](Self::from_str) takes.
    pub fn name(self) -> &'static str {
        KNOWN[self.rank()].0
    }

    /// The place of this level in [`known`](Self::known).
    pub fn rank(self) -> usize {
        match self {
            Self::Portable(_) => 0,
            #[cfg(target_arch = "x86_64")]
            Self::AesNi(_) => 1,
            #[cfg(target_arch = "x86_64")]
            Self::Vaes256(_) => 2,
            #[cfg(target_arch = "x86_64")]
            Self::Vaes512(_) => 3,
        }
    }

    /// Blocks in a vector of this level.
    #[inline]
    pub fn width(self) -> usize {
        match self {
            Self::Portable(_) => <Portable as Blocks>::WIDTH,
            #[cfg(target_arch = "x86_64")]
            Self::AesNi(_) => AesNi::WIDTH,
            #[cfg(target_arch = "x86_64")]
            Self::Vaes256(_) => Vaes256::WIDTH,
            #[cfg(target_arch = "x86_64")]
            Self::Vaes512(_) => Vaes512::WIDTH,
        }
    }

    /// Runs `kernel` compiled for this level.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Out {
        record(self);
        match self {
            Self::Portable(t) => t.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Self::AesNi(t) => t.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Self::Vaes256(t) => t.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Self::Vaes512(t) => t.run(kernel),
        }
    }

    /// Overwrites the stack below the frame of the caller, where work with keys was: see
    /// [`wipe_stack`]. `depth` is that of vector code; the portable level needs more.
    #[inline]
    pub fn wipe_stack(self, depth: StackDepth) {
        match (self, depth) {
            // Bit planes of many blocks, function in function.
            (Self::Portable(_), _) => wipe_stack::<{ 16 << 10 }>(),
            #[cfg(target_arch = "x86_64")]
            (_, StackDepth::KiB0) => {}
            #[cfg(target_arch = "x86_64")]
            (_, StackDepth::KiB1) => wipe_stack::<{ 1 << 10 }>(),
            #[cfg(target_arch = "x86_64")]
            (_, StackDepth::KiB2) => wipe_stack::<{ 2 << 10 }>(),
            #[cfg(target_arch = "x86_64")]
            (_, StackDepth::KiB4) => wipe_stack::<{ 4 << 10 }>(),
        }
    }

    fn detect(name: &str) -> Option<Self> {
        match name {
            "portable" => Some(Self::Portable(Portable::new())),
            #[cfg(target_arch = "x86_64")]
            "aesni" => AesNi::detect().map(Self::AesNi),
            #[cfg(target_arch = "x86_64")]
            "vaes256" => Vaes256::detect().map(Self::Vaes256),
            #[cfg(target_arch = "x86_64")]
            "vaes512" => Vaes512::detect().map(Self::Vaes512),
            _ => None,
        }
    }
}

impl FromStr for AesLevel {
    type Err = LevelError;

    /// The level of that name: `portable`, `aesni`, `vaes256` or `vaes512`.
    ///
    /// # Errors
    /// No level has that name, or this processor lacks it.
    fn from_str(name: &str) -> Result<Self, LevelError> {
        Self::detect(name).ok_or_else(|| LevelError { name: name.into() })
    }
}

impl fmt::Debug for AesLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for AesLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A level was asked for by a name that is unknown, or that this processor lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelError {
    name: String,
}

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name } = self;
        match KNOWN.iter().find(|(known, _)| known == name) {
            Some((_, requires)) => {
                write!(f, "this processor lacks the level \"{name}\" (it requires {requires})")?;
            }
            None => write!(f, "\"{name}\" is not the name of a level")?,
        }
        f.write_str("; available here:")?;
        for level in AesLevel::available() {
            write!(f, " {level}")?;
        }
        write!(f, " (set {VARIABLE} to one of them, or unset it)")
    }
}

impl core::error::Error for LevelError {}

#[cfg(debug_assertions)]
thread_local! {
    static LAST: core::cell::Cell<Option<AesLevel>> = const { core::cell::Cell::new(None) };
}

#[cfg(debug_assertions)]
fn record(level: AesLevel) {
    LAST.set(Some(level));
}

#[cfg(not(debug_assertions))]
#[inline(always)]
fn record(_: AesLevel) {}

/// The level of the last kernel that this thread ran, so that tests can prove which code ran.
///
/// `None` before the first kernel, and always in builds without debug assertions.
pub fn last_level_run() -> Option<AesLevel> {
    #[cfg(debug_assertions)]
    return LAST.get();
    #[cfg(not(debug_assertions))]
    None
}

/// Whether four [matrix products](crate::Clmul::times_matrix) at `level` take less time than two
/// carry-less ones.
///
/// So it is at 512 bits on AMD's processors: on Zen 5 a carry-less product starts every second cycle,
/// a matrix product twice a cycle. On Intel's both start once a cycle.
pub fn matrices_are_fast(level: AesLevel) -> bool {
    #[cfg(target_arch = "x86_64")]
    return matches!(level, AesLevel::Vaes512(_)) && made_by_amd();
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// What CPUID says, asked once.
#[cfg(target_arch = "x86_64")]
fn made_by_amd() -> bool {
    static AMD: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *AMD.get_or_init(|| {
        let vendor = core::arch::x86_64::__cpuid(0);
        let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
        name.as_flattened() == b"AuthenticAMD"
    })
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
    }

    #[test]
    fn unknown_names_are_errors_that_list_what_is_there() {
        let error = AesLevel::from_str("avx9000").unwrap_err().to_string();
        assert!(error.contains("\"avx9000\"") && error.contains("portable"), "{error}");
        assert!(AesLevel::from_str("").is_err());
    }
}
