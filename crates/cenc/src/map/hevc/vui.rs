//! Video usability information and HRD parameters (ITU-T H.265 clauses E.2.1 to E.2.3): skipped but
//! for the colour, because extension flags that slice headers depend on stand behind them.

use crate::map::bits::BitReader;
use crate::map::error::Fault;
use crate::map::signal::transfer_characteristics;

/// Reads `vui_parameters()` and returns the `transfer_characteristics` if they are described.
pub(super) fn read_vui(r: &mut BitReader<'_>, sub_layers: u32) -> Result<Option<u8>, Fault> {
    let transfer = transfer_characteristics(r)?;
    if r.flag()? {
        r.skip_codes(2)?; // chroma_sample_loc_type
    }
    r.skip(3)?; // neutral_chroma_indication_flag, field_seq_flag, frame_field_info_present_flag
    if r.flag()? {
        r.skip_codes(4)?; // default display window
    }
    if r.flag()? {
        r.skip(64)?; // vui_num_units_in_tick, vui_time_scale
        if r.flag()? {
            r.ue()?; // vui_num_ticks_poc_diff_one_minus1
        }
        if r.flag()? {
            skip_hrd(r, sub_layers)?;
        }
    }
    if r.flag()? {
        r.skip(3)?; // tiles_fixed_structure, motion_vectors_over_pic_boundaries, restricted lists
        r.skip_codes(5)?;
    }
    Ok(transfer)
}

/// Skips `hrd_parameters( 1, sub_layers - 1 )`.
fn skip_hrd(r: &mut BitReader<'_>, sub_layers: u32) -> Result<(), Fault> {
    let nal = r.flag()?;
    let vcl = r.flag()?;
    let mut sub_pictures = false;
    if nal || vcl {
        sub_pictures = r.flag()?;
        if sub_pictures {
            r.skip(8 + 5 + 1 + 5)?;
        }
        r.skip(4 + 4)?; // bit_rate_scale, cpb_size_scale
        if sub_pictures {
            r.skip(4)?; // cpb_size_du_scale
        }
        r.skip(3 * 5)?; // lengths of delays
    }
    for _ in 0..sub_layers {
        let fixed_in_general = r.flag()?;
        let fixed_in_sequence = fixed_in_general || r.flag()?;
        let mut low_delay = false;
        if fixed_in_sequence {
            r.ue()?; // elemental_duration_in_tc_minus1
        } else {
            low_delay = r.flag()?;
        }
        let buffers = if low_delay { 1 } else { 1 + r.ue_max(31, "cpb_cnt_minus1")? };
        for _ in 0..buffers * (u32::from(nal) + u32::from(vcl)) {
            r.skip_codes(if sub_pictures { 4 } else { 2 })?;
            r.flag()?; // cbr_flag
        }
    }
    Ok(())
}
