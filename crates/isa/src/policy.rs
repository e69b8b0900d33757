//! Two questions about the machine. Capability: which instructions does this processor have? Policy:
//! which of them should this host use, and in which way?

/// Whether this processor has all of the features: asked at run time, once for each feature, as the
/// standard library keeps the answers.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
macro_rules! has_features {
    ($($feature:tt),+) => { $(std::arch::is_x86_feature_detected!($feature))&&+ };
}
#[cfg(all(feature = "std", target_arch = "aarch64"))]
macro_rules! has_features {
    ($($feature:tt),+) => { $(std::arch::is_aarch64_feature_detected!($feature))&&+ };
}
/// Without the standard library nobody asks the processor: the features are those that the whole build
/// is compiled for (`-C target-feature`, `-C target-cpu`).
#[cfg(all(not(feature = "std"), any(target_arch = "x86_64", target_arch = "aarch64")))]
macro_rules! has_features {
    ($($feature:tt),+) => { $(cfg!(target_feature = $feature))&&+ };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use has_features;

/// The lengths of vectors that `max` may name, in bits.
pub(crate) const VECTOR_BITS: [u32; 3] = [128, 256, 512];

/// The environment variable that overrides levels and policy.
pub(crate) const VARIABLE: &str = "LANELOCK_LEVEL";

/// The entry of [`VARIABLE`] that names a processor.
pub(crate) const PROCESSOR: &str = "processor";

/// Which of the instructions that it has a host should use, and in which ways.
///
/// It chooses among levels, and never takes one away: a level that is named is used, whatever the
/// policy says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    max_bits: u32,
    processor: Processor,
}

impl Policy {
    /// The policy for this processor.
    ///
    /// On every processor measured the widest vectors were the fastest: all 512 bits are allowed. A
    /// processor that slows down for them, or has no 512-bit multiplier, gets its line here.
    pub fn host() -> Self {
        Self { max_bits: 512, processor: Processor::host() }
    }

    /// The same with vectors of at most `max_bits`.
    pub(crate) fn with_max_bits(self, max_bits: u32) -> Self {
        Self { max_bits, ..self }
    }

    /// The most bits of a vector.
    pub fn max_bits(self) -> u32 {
        self.max_bits
    }

    /// The family of processors whose ways are taken.
    pub fn processor(self) -> Processor {
        self.processor
    }

    /// Whether a level with vectors of `bits` bits is within the policy.
    pub fn allows(self, bits: u32) -> bool {
        bits <= self.max_bits
    }
}

/// A family of processors, which share [ways](Ways).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Processor {
    /// AMD up to Zen 4.
    Zen4,
    /// AMD Zen 5 (family 26) or later.
    Zen5,
    /// Intel.
    Intel,
    /// Any AArch64 processor.
    Arm,
    /// Any other.
    Unknown,
}

/// The ways of each family of processors. Measured on a Zen 4, a Zen 5 and a Sapphire Rapids; AArch64 was not measured.
const TABLE: [(Processor, &str, Ways); 5] = [
    (Processor::Zen4, "zen4", Ways(MATRICES | JOINED | THREE)),
    (Processor::Zen5, "zen5", Ways(MATRICES | PAIRS | JOINED | THREE)),
    (Processor::Intel, "intel", Ways(FEW_LANES)),
    (Processor::Arm, "arm", Ways(PAIRS | THREE)),
    (Processor::Unknown, "unknown", Ways(FEW_LANES)),
];

/// Which of two ways to the same result a processor takes where their times differ: a row of the table of processors. A
/// level has its own, so that all work with a key takes the same ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ways(u8);

/// [`Ways::matrices_are_fast`].
const MATRICES: u8 = 1;
/// [`Ways::pairs_are_fast`].
const PAIRS: u8 = 1 << 1;
/// [`Ways::joins_lanes_cheaply`].
const JOINED: u8 = 1 << 2;
/// [`Ways::products_are_slow`].
const THREE: u8 = 1 << 3;
/// [`Ways::loads_limit_lanes`].
const FEW_LANES: u8 = 1 << 4;

impl Ways {
    /// The ways of code without vectors, which none of them concerns.
    pub(crate) const NONE: Self = Self(0);

    /// Those of this host that concern vectors of AES with `width` blocks.
    pub(crate) fn of_blocks(self, width: usize) -> Self {
        Self(self.0 & if width == 4 { MATRICES | JOINED | THREE | FEW_LANES } else { THREE })
    }

    /// Whether, at 512 bits, four products with matrices take less time than two carry-less ones. On Zen 5 a carry-less
    /// product starts every second cycle and a matrix product twice a cycle; on Intel's processors both start once a cycle.
    #[inline]
    pub fn matrices_are_fast(self) -> bool {
        self.0 & MATRICES != 0
    }

    /// Whether an addition of vectors takes more than one cycle, and two of them start in each. Hashes of many messages then
    /// gain from two vectors at once, although these do not fit into the registers.
    #[inline]
    pub fn pairs_are_fast(self) -> bool {
        self.0 & PAIRS != 0
    }

    /// Whether blocks of several messages are joined in a vector of 512 bits, and separated, in little time beside the rounds
    /// that this saves. They are on AMD's processors; on a Sapphire Rapids, where one port shuffles, they are not.
    #[inline]
    pub fn joins_lanes_cheaply(self) -> bool {
        self.0 & JOINED != 0
    }

    /// Whether carry-less products start in every second cycle only, at any width: where there are many, three of them
    /// and some exclusive ors take less time than four then. They do on AMD's processors; on a Sapphire Rapids one starts in
    /// each cycle, and the shuffles that the form of three needs take the same port.
    #[inline]
    pub fn products_are_slow(self) -> bool {
        self.0 & THREE != 0
    }

    /// Whether 16 lanes with a key each, of which every step loads all round keys, advance faster than 32 at 512 bits:
    /// where a round takes so few cycles that four vectors fill its unit, as on a Sapphire Rapids.
    #[inline]
    pub fn loads_limit_lanes(self) -> bool {
        self.0 & FEW_LANES != 0
    }
}

impl Processor {
    /// The family of this processor, or the one that `LANELOCK_LEVEL` names (`processor=zen5`): found once a process, since
    /// in a virtual machine CPUID may take thousands of cycles.
    pub fn host() -> Self {
        known::processor()
    }

    /// All families, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.into_iter().map(|(processor, ..)| processor)
    }

    /// The families of this architecture: those whose ways are taken here, and must be tested.
    pub(crate) fn possible() -> impl Iterator<Item = Self> {
        let is_possible = |processor: &Self| match processor {
            Self::Zen4 | Self::Zen5 | Self::Intel => cfg!(target_arch = "x86_64"),
            Self::Arm => cfg!(target_arch = "aarch64"),
            Self::Unknown => true,
        };
        Self::all().filter(is_possible)
    }

    /// The name that `processor=` takes in `LANELOCK_LEVEL`.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The family of that name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::all().find(|processor| processor.name() == name)
    }

    /// The ways that it takes.
    pub fn ways(self) -> Ways {
        self.row().2
    }

    fn row(self) -> (Self, &'static str, Ways) {
        TABLE[self as usize]
    }

    /// What `value` of the variable names. A name that is none is an error of every constructor that chooses a level: see
    /// `choice.rs`.
    #[cfg(feature = "std")]
    fn of_variable(value: &str) -> Option<Self> {
        let mut entries = value.split(',').filter_map(|entry| entry.split_once('='));
        entries.find(|(key, _)| *key == PROCESSOR).and_then(|(_, name)| Self::of_name(name))
    }

    /// What the processor says.
    fn ask() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let vendor = core::arch::x86_64::__cpuid(0);
            let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
            let version = core::arch::x86_64::__cpuid(1).eax;
            let family = (version >> 8 & 0xf) + (version >> 20 & 0xff);
            match (name.as_flattened(), family) {
                (b"AuthenticAMD", 26..) => Self::Zen5,
                (b"AuthenticAMD", _) => Self::Zen4,
                (b"GenuineIntel", _) => Self::Intel,
                _ => Self::Unknown,
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        if cfg!(target_arch = "aarch64") { Self::Arm } else { Self::Unknown }
    }
}

/// The family of this processor, kept as its place in the table.
mod known {
    use core::sync::atomic::{AtomicU8, Ordering};

    use super::{Processor, TABLE};

    const NOT_ASKED: u8 = u8::MAX;

    /// Threads that ask at the same time find the same answer, so no order is needed.
    static PLACE: AtomicU8 = AtomicU8::new(NOT_ASKED);

    pub(super) fn processor() -> Processor {
        match TABLE.get(usize::from(PLACE.load(Ordering::Relaxed))) {
            Some((processor, ..)) => *processor,
            None => ask(),
        }
    }

    #[cold]
    #[inline(never)]
    fn ask() -> Processor {
        #[cfg(feature = "std")]
        let named = std::env::var(super::VARIABLE).ok().as_deref().and_then(Processor::of_variable);
        #[cfg(not(feature = "std"))]
        let named = None;
        let processor = named.unwrap_or_else(Processor::ask);
        PLACE.store(processor as u8, Ordering::Relaxed);
        processor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_enumeration() {
        for (place, processor) in Processor::all().enumerate() {
            assert_eq!(processor as usize, place);
            assert_eq!(Processor::of_name(processor.name()), Some(processor));
        }
    }

    /// Each way is taken and left by some processor of this architecture, so that tests of all forms reach both.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn every_way_is_taken_and_left() {
        for way in [MATRICES, PAIRS, JOINED, THREE, FEW_LANES] {
            let taken = |processor: Processor| processor.ways().0 & way != 0;
            assert!(Processor::possible().any(taken), "{way}");
            assert!(!Processor::possible().all(taken), "{way}");
        }
    }
}
