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
    #[inline]
    pub fn host() -> Self {
        learn_processor();
        Self::known()
    }

    /// The same for kernels, in which nothing is called: what is known of the processor since a level was detected. (At the
    /// portable level, which needs no detection, that may be nothing.)
    #[inline]
    pub fn known() -> Self {
        Self { max_bits: 512, processor: known_processor() }
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

    /// Whether carry-less products start in every second cycle only, at any width: where there are many, three of them
    /// and some exclusive ors take less time than four then. So on AMD's processors; on a Sapphire Rapids one starts in
    /// each cycle, and as many shuffles take the same port. No other of Intel's was measured; and none on AArch64, where it
    /// is taken for true.
    #[inline]
    pub fn products_are_slow(self) -> bool {
        #[cfg(all(debug_assertions, feature = "std"))]
        if let Some(slow) = SLOW_PRODUCTS.get() {
            return slow;
        }
        cfg!(not(target_arch = "x86_64")) || self.processor != Processor::Other
    }

    /// What `work` returns, with [`products_are_slow`](Self::products_are_slow) saying `slow` on this thread, so that tests
    /// reach both forms on every processor. Keys are made and used under one of them. Without effect in builds without debug
    /// assertions or without the feature `std`.
    #[doc(hidden)]
    pub fn with_slow_products<T>(slow: bool, work: impl FnOnce() -> T) -> T {
        #[cfg(all(debug_assertions, feature = "std"))]
        let before = SLOW_PRODUCTS.replace(Some(slow));
        let _ = slow;
        let out = work();
        #[cfg(all(debug_assertions, feature = "std"))]
        SLOW_PRODUCTS.set(before);
        out
    }

    /// Whether 16 lanes with a key each, of which every step loads all round keys, advance faster than 32 at 512 bits:
    /// where a round takes so few cycles that four vectors fill its unit. Measured on a Sapphire Rapids; on AMD's
    /// processors it is not known.
    #[inline]
    pub fn loads_limit_lanes(self) -> bool {
        self.processor == Processor::Other
    }
}

#[cfg(all(debug_assertions, feature = "std"))]
std::thread_local! {
    static SLOW_PRODUCTS: core::cell::Cell<Option<bool>> = const { core::cell::Cell::new(None) };
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

/// What [`learn_processor`] found, as a number.
#[cfg(target_arch = "x86_64")]
mod known {
    use core::sync::atomic::AtomicU8;

    pub(super) const UNKNOWN: u8 = 0;
    pub(super) const OTHER: u8 = 1;
    pub(super) const AMD: u8 = 2;
    pub(super) const ZEN_5: u8 = 3;
    /// Threads that ask at the same time find the same answer, so no order is needed.
    pub(super) static PROCESSOR: AtomicU8 = AtomicU8::new(UNKNOWN);
}

/// Asks which processor this is, once: in a virtual machine CPUID may take thousands of cycles.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn learn_processor() {
    if known::PROCESSOR.load(core::sync::atomic::Ordering::Relaxed) == known::UNKNOWN {
        ask();
    }
}

/// The processor, if it [was asked](learn_processor).
#[cfg(target_arch = "x86_64")]
#[inline]
fn known_processor() -> Processor {
    match known::PROCESSOR.load(core::sync::atomic::Ordering::Relaxed) {
        known::ZEN_5 => Processor::Zen5,
        known::AMD => Processor::Amd,
        _ => Processor::Other,
    }
}

#[cfg(target_arch = "x86_64")]
#[cold]
#[inline(never)]
fn ask() {
    let vendor = core::arch::x86_64::__cpuid(0);
    let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
    let version = core::arch::x86_64::__cpuid(1).eax;
    let family = (version >> 8 & 0xf) + (version >> 20 & 0xff);
    let found = match (name.as_flattened(), family) {
        (b"AuthenticAMD", 26..) => known::ZEN_5,
        (b"AuthenticAMD", _) => known::AMD,
        _ => known::OTHER,
    };
    known::PROCESSOR.store(found, core::sync::atomic::Ordering::Relaxed);
}

#[cfg(not(target_arch = "x86_64"))]
fn learn_processor() {}

#[cfg(not(target_arch = "x86_64"))]
fn known_processor() -> Processor {
    Processor::Other
}
