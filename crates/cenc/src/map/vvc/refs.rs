//! Reference picture lists (ITU-T H.266 clauses 7.3.9 and 7.3.10), as far as the length of headers
//! depends on them.

use super::pps::VvcPps;
use super::sps::VvcSps;
use crate::map::bits::{BitReader, ceil_log2};
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
    long_term: u8,
    /// `ltrp_in_header_flag`.
    order_in_header: bool,
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

/// Reads `ref_pic_lists()` and returns `num_ref_entries` of both.
pub(super) fn read_lists(
    r: &mut BitReader<'_>,
    sps: &VvcSps,
    pps: &VvcPps,
) -> Result<[u8; 2], Fault> {
    let mut entries = [0; 2];
    // `rpl_sps_flag` and `rpl_idx` of list 0, which list 1 may take over.
    let mut chosen: Option<u32> = None;
    for (which, known) in sps.lists.iter().enumerate() {
        let own_choice = which == 0 || pps.list1_index;
        let count = u32::try_from(known.len()).unwrap_or(u32::MAX);
        if own_choice {
            chosen = if count > 0 && r.flag()? {
                Some(r.bits(ceil_log2(count))?) // rpl_idx
            } else {
                None
            };
        } else if count == 0 {
            chosen = None;
        }
        let list = match chosen {
            // With a single list, `rpl_idx` is inferred to be 0.
            Some(_) if count == 1 => known[0],
            Some(index) => *known.get(index as usize).ok_or(Fault::Invalid("rpl_idx"))?,
            None => VvcRefList::read(r, sps.list_syntax, false)?,
        };
        for _ in 0..list.long_term {
            if list.order_in_header {
                r.bits(u32::from(sps.list_syntax.order_bits))?; // poc_lsb_lt
            }
            if r.flag()? {
                r.ue()?; // delta_poc_msb_cycle_lt
            }
        }
        entries[which] = list.entries;
    }
    Ok(entries)
}

/// `MaxDpbSize` + 13, with the largest `MaxDpbSize` (clause A.4.2).
const MAX_ENTRIES: u8 = 16 + 13;
