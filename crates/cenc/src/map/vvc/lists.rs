//! `ref_pic_lists()` of picture and slice headers (ITU-T H.266 clause 7.3.9).

use super::pps::VvcPps;
use super::refs::VvcRefList;
use super::sps::VvcSps;
use crate::map::bits::{BitReader, ceil_log2};
use crate::map::error::Fault;

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
