//! `ref_pic_list_struct()` (ITU-T H.266 clause 7.3.10), as far as the length of headers depends on it.

use crate::map::bits::BitReader;
use crate::map::error::Fault;

/// What `ref_pic_list_struct()` depends on: flags of the SPS that stand before the lists in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ListSyntax {
    /// `sps_log2_max_pic_order_cnt_lsb_minus4` + 4.
    pub(super) order_bits: u8,
    pub(super) long_term: bool,
    pub(super) inter_layer: bool,
    /// `sps_weighted_pred_flag` or `sps_weighted_bipred_flag`.
    pub(super) weighted: bool,
}

/// A `ref_pic_list_struct()`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct VvcRefList {
    /// `num_ref_entries`.
    pub(super) entries: u8,
    /// `NumLtrpEntries`.
    pub(super) long_term: u8,
    /// `ltrp_in_header_flag`.
    pub(super) order_in_header: bool,
}

impl VvcRefList {
    /// Reads a list; `listed` says whether it stands in the SPS.
    pub(super) fn read(
        r: &mut BitReader<'_>,
        syntax: ListSyntax,
        listed: bool,
    ) -> Result<Self, Fault> {
        let entries = r.ue_byte(MAX_ENTRIES, "num_ref_entries")?;
        let order_in_header =
            syntax.long_term && if listed { entries > 0 && r.flag()? } else { true };
        let mut long_term = 0;
        for entry in 0..entries {
            if syntax.inter_layer && r.flag()? {
                // The layer with nuh_layer_id 0 refers to no other.
                return Err(Fault::Unsupported("inter_layer_ref_pic_flag"));
            }
            if !syntax.long_term || r.flag()? {
                let delta = r.ue_max((1 << 15) - 1, "abs_delta_poc_st")?;
                if delta > 0 || !syntax.weighted || entry == 0 {
                    r.flag()?; // strp_entry_sign_flag
                }
            } else {
                long_term += 1;
                if !order_in_header {
                    r.bits(u32::from(syntax.order_bits))?; // rpls_poc_lsb_lt
                }
            }
        }
        Ok(Self { entries, long_term, order_in_header })
    }
}

/// `MaxDpbSize` + 13, with the largest `MaxDpbSize` (clause A.4.2).
const MAX_ENTRIES: u8 = 16 + 13;
