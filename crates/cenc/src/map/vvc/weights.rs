//! `pred_weight_table()`, ITU-T H.266 clause 7.3.8: skipped.

use crate::map::bits::BitReader;
use crate::map::error::Fault;

/// How many entries of a list have weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WeightCount {
    /// As many (`NumRefIdxActive`).
    Given(u8),
    /// The table says it, `num_l0_weights` or `num_l1_weights`: at most so many.
    Coded(u8),
}

/// Skips the table. A list without entries in force is `Given(0)`.
pub(super) fn skip_weights(
    r: &mut BitReader<'_>,
    chroma: bool,
    lists: [WeightCount; 2],
) -> Result<(), Fault> {
    r.ue_max(7, "luma_log2_weight_denom")?;
    if chroma {
        r.se()?; // delta_chroma_log2_weight_denom
    }
    for list in lists {
        let entries = match list {
            WeightCount::Given(entries) => u32::from(entries),
            WeightCount::Coded(most) => u32::from(r.ue_byte(most.min(15), "num_weights")?),
        };
        let luma = r.bits(entries)?.count_ones();
        let chroma = if chroma { r.bits(entries)?.count_ones() } else { 0 };
        r.skip_codes(2 * luma + 4 * chroma)?;
    }
    Ok(())
}
