//! Two questions about the machine. Capability: which instructions does this processor have? Policy:
//! which of them should this host use?

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

/// Which of the instructions that it has a host should use.
///
/// It chooses among levels, and never takes one away: a level that is named is used, whatever the
/// policy says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    max_bits: u32,
    processor: Processor,
}

impl Policy {
    /// The policy for this processor, whatever the environment says.
    ///
    /// On every processor measured the widest vectors were the fastest: all 512 bits are allowed. A
    /// processor that slows down for them, or has no 512-bit multiplier, gets its line here.
    pub fn host() -> Self {
        Self { max_bits: 512, processor: processor() }
    }

    /// The same with vectors of at most `max_bits`.
    pub(crate) fn with_max_bits(self, max_bits: u32) -> Self {
        Self { max_bits, ..self }
    }

    /// The most bits of a vector.
    pub fn max_bits(self) -> u32 {
        self.max_bits
    }

    /// Whether a level with vectors of `bits` bits is within the policy.
    pub fn allows(self, bits: u32) -> bool {
        bits <= self.max_bits
    }

    /// Whether, at 512 bits, four products with matrices take less time than two carry-less ones.
    pub(crate) fn has_fast_matrices(self) -> bool {
        self.processor != Processor::Other
    }

    /// Whether an addition of vectors takes more than one cycle, and as many start in one as two vectors of a hash
    /// have: then two are worth more than what it costs that they do not fit the registers.
    pub(crate) fn waits_for_vectors(self) -> bool {
        self.processor == Processor::Zen5
    }

    /// Whether putting blocks of several messages into one vector of 512 bits, and taking them out, takes little time
    /// beside the rounds that it saves. Measured: on AMD's processors it does, on a Sapphire Rapids, where one port shuffles,
    /// it does not.
    #[inline]
    pub fn joins_lanes_cheaply(self) -> bool {
        self.processor != Processor::Other
    }

    /// Whether 16 lanes with a key each, of which every step loads all round keys, advance faster than 32 at 512 bits:
    /// where a round takes so few cycles that four vectors fill its unit. Measured on a Sapphire Rapids; on AMD's
    /// processors it is not known.
    #[inline]
    pub fn loads_limit_lanes(self) -> bool {
        self.processor == Processor::Other
    }
}

/// Which processor it is, as far as a policy asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Processor {
    /// One of AMD, up to Zen 4.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only CPUID tells it"))]
    Amd,
    /// Zen 5 (family 26) or one that came later.
    Zen5,
    /// Any other.
    Other,
}

/// Asked once: in a virtual machine CPUID may take thousands of cycles.
#[cfg(target_arch = "x86_64")]
fn processor() -> Processor {
    use core::sync::atomic::{AtomicU8, Ordering};
    const UNKNOWN: u8 = 0;
    const OTHER: u8 = 1;
    const AMD: u8 = 2;
    const ZEN_5: u8 = 3;
    static PROCESSOR: AtomicU8 = AtomicU8::new(UNKNOWN);
    // Threads that ask at the same time find the same answer, so no order is needed.
    let mut known = PROCESSOR.load(Ordering::Relaxed);
    if known == UNKNOWN {
        let vendor = core::arch::x86_64::__cpuid(0);
        let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
        let version = core::arch::x86_64::__cpuid(1).eax;
        let family = (version >> 8 & 0xf) + (version >> 20 & 0xff);
        known = match (name.as_flattened(), family) {
            (b"AuthenticAMD", 26..) => ZEN_5,
            (b"AuthenticAMD", _) => AMD,
            _ => OTHER,
        };
        PROCESSOR.store(known, Ordering::Relaxed);
    }
    match known {
        ZEN_5 => Processor::Zen5,
        AMD => Processor::Amd,
        _ => Processor::Other,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn processor() -> Processor {
    Processor::Other
}
