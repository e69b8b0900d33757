//! Matrices over GF(2): in software, and where they are worth having.

use crate::{AesLevel, Block};

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

/// [`times_matrix`](crate::Clmul::times_matrix) of one block.
pub(crate) fn times_matrix(block: &Block, matrix: &Block) -> Block {
    let mut product = [0; 16];
    for (at, to) in product.iter_mut().enumerate() {
        for bit in 0..8 {
            let row = matrix[at / 8 * 8 + 7 - bit];
            *to |= u8::from((block[at] & row).count_ones() % 2 == 1) << bit;
        }
    }
    product
}
