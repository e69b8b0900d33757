//! AC-4 (ETSI TS 103 190-1 and -2): the table of contents of a frame is clear, the rest is protected
//! (ISO/IEC 23001-7:2023). Experimental: few files exist to compare with.
//!
//! A sample is a `raw_ac4_frame()` without a synchronisation frame around it (TS 103 190-2, annex E).
//! The length of its `ac4_toc()` follows from every field in it, so all of them are read; the sizes of
//! substreams at its end must fit what is left of the frame. Bit streams of versions 0 and 1, which
//! TS 103 190-2 deprecates, are refused, as is what is reserved.

use super::Runs;
use super::bits::{BitReader, ceil_log2};
use super::error::{Fault, UnitPlace};
use super::unit::{AccessUnitMap, UnitBytes, read_head};

/// What errors call a sample.
const FRAME: &str = "frame";

/// Subsample rules for AC-4, whose frames describe themselves.
#[derive(Clone, Copy, Debug)]
pub struct Ac4Map;

impl AccessUnitMap for Ac4Map {
    fn walk<U: UnitBytes>(&mut self, unit: &mut U, runs: &mut Runs<'_>) -> Result<(), U::Error> {
        let len = unit.len();
        if len == 0 {
            return Ok(());
        }
        let place = UnitPlace::in_access_unit(FRAME);
        let contents = read_head(unit, 0, len, |head| read_contents(head, len))?;
        let clear = contents.map_err(|fault| fault.at(place))?;
        let too_long = Fault::Malformed("a frame of more than 4 GiB");
        let rest = u32::try_from(len - clear).map_err(|_| too_long.at(place))?;
        runs.clear(clear);
        runs.protect(rest);
        Ok(())
    }
}

/// Reads `ac4_toc()` at the beginning of a frame of `len` bytes and returns its length in bytes
/// (TS 103 190-2, clause 6.2.1.1).
fn read_contents(head: &[u8], len: usize) -> Result<usize, Fault> {
    let r = &mut BitReader::plain(head);
    match r.bits(2)? {
        2 => {}
        3 => return Err(Fault::Unsupported("bitstream_version above 2")),
        _ => return Err(Fault::Unsupported("bitstream_version 0 or 1")),
    }
    r.skip(10)?; // sequence_counter
    if r.flag()? && r.bits(3)? > 0 {
        r.skip(2)?; // br_code
    }
    let high_rate = r.flag()?; // fs_index
    let frame_rate = r.bits(4)?;
    r.flag()?; // b_iframe_global
    let mut presentations = u32::from(r.flag()?); // b_single_presentation
    if presentations == 0 && r.flag()? {
        presentations = 2 + variable_bits(r, 2)?;
    }
    let base = if r.flag()? {
        match 1 + r.bits(5)? {
            0x20 => 0x20 + variable_bits(r, 3)?,
            base => base,
        }
    } else {
        0
    };
    if r.flag()? {
        r.skip(16)?; // short_program_id
        if r.flag()? {
            r.skip(128)?; // program_uuid
        }
    }
    let mut groups = Groups::default();
    for _ in 0..presentations {
        read_presentation(r, frame_rate, &mut groups)?;
    }
    for factor in groups.factors {
        let factor = factor.ok_or(Fault::Unsupported("a substream group of no presentation"))?;
        read_group(r, factor, high_rate)?;
    }
    let substreams = read_index(r)?;
    let clear = r.bytes();
    // Where the lengths are not known, `base` is a length all the same.
    if len.saturating_sub(clear) as u64 >= u64::from(base) + substreams {
        Ok(clear)
    } else {
        Err(Fault::Malformed("substreams that reach beyond the frame"))
    }
}

/// The substream groups that presentations refer to, by number: `frame_rate_factor`, on which their syntax
/// depends.
#[derive(Default)]
struct Groups {
    factors: Vec<Option<u32>>,
}

impl Groups {
    /// Reads `ac4_sgi_specifier()`, of a presentation with this factor.
    fn refer(&mut self, r: &mut BitReader<'_>, factor: u32) -> Result<(), Fault> {
        let mut index = r.bits(3)?; // group_index
        if index == 7 {
            index = index.saturating_add(variable_bits(r, 2)?);
        }
        if index >= MAX_GROUPS {
            return Err(Fault::Unsupported("more than 64 substream groups"));
        }
        let index = index as usize;
        if self.factors.len() <= index {
            self.factors.resize(index + 1, None);
        }
        match &mut self.factors[index] {
            Some(other) if *other != factor => {
                Err(Fault::Unsupported("a substream group of presentations with different rates"))
            }
            own => {
                *own = Some(factor);
                Ok(())
            }
        }
    }
}

/// `ac4_presentation_v1_info()`, clause 6.2.1.3.
fn read_presentation(
    r: &mut BitReader<'_>,
    frame_rate: u32,
    groups: &mut Groups,
) -> Result<(), Fault> {
    let single = r.flag()?; // b_single_substream_group
    let mut config = 0;
    if !single {
        config = r.bits(3)?;
        if config == 7 {
            config = config.saturating_add(variable_bits(r, 2)?);
        }
    }
    while r.flag()? {} // presentation_version
    let mut data_streams = !single && config == 6;
    if !data_streams {
        r.skip(3)?; // mdcompat
        if r.flag()? {
            variable_bits(r, 2)?; // presentation_id
        }
        let factor = read_frame_rate(r, frame_rate)?;
        skip_emdf_info(r)?;
        if r.flag()? {
            r.flag()?; // b_enable_presentation
        }
        if single {
            groups.refer(r, factor)?;
        } else {
            r.flag()?; // b_multi_pid
            let count = match config {
                0..=2 => 2,
                3 | 4 => 3,
                5 => match 2 + r.bits(2)? {
                    5 => 5u32.saturating_add(variable_bits(r, 2)?),
                    count => count,
                },
                _ => {
                    skip_unknown(r)?; // presentation_config_ext_info()
                    0
                }
            };
            for _ in 0..count {
                groups.refer(r, factor)?;
            }
        }
        r.flag()?; // b_pre_virtualized
        data_streams = r.flag()?; // b_add_emdf_substreams
        r.skip(2)?; // b_alternative, b_pres_ndot
        skip_substream_index(r)?;
    }
    if data_streams {
        let count = match r.bits(2)? {
            0 => 4u32.saturating_add(variable_bits(r, 2)?),
            count => count,
        };
        for _ in 0..count {
            skip_emdf_info(r)?;
        }
    }
    Ok(())
}

/// `frame_rate_multiply_info()` and `frame_rate_fractions_info()`, clauses 6.2.1.4 and 6.2.1.5: the factor
/// (`frame_rate_factor`).
fn read_frame_rate(r: &mut BitReader<'_>, frame_rate: u32) -> Result<u32, Fault> {
    let factor = match frame_rate {
        2..=4 if r.flag()? => 2 + 2 * r.bits(1)?,
        0 | 1 | 7..=9 if r.flag()? => 2,
        _ => 1,
    };
    match frame_rate {
        5..=9 if factor == 1 => {
            r.flag()?; // b_frame_rate_fraction
        }
        10..=12 if r.flag()? => {
            r.flag()?; // b_frame_rate_fraction_is_4
        }
        14 | 15 => return Err(Fault::Unsupported("a reserved frame_rate_index")),
        _ => {}
    }
    Ok(factor)
}

/// `presentation_config_ext_info()`, clause 6.2.1.6.
fn skip_unknown(r: &mut BitReader<'_>) -> Result<(), Fault> {
    let mut bytes = u64::from(r.bits(5)?);
    if r.flag()? {
        bytes += u64::from(variable_bits(r, 2)?) << 5;
    }
    Ok(r.skip(8 * bytes)?)
}

/// `emdf_info()`, TS 103 190-1, clause 4.2.14.1.
fn skip_emdf_info(r: &mut BitReader<'_>) -> Result<(), Fault> {
    if r.bits(2)? == 3 {
        variable_bits(r, 2)?; // emdf_version
    }
    if r.bits(3)? == 7 {
        variable_bits(r, 3)?; // key_id
    }
    if r.flag()? {
        skip_substream_index(r)?; // emdf_payloads_substream_info()
    }
    let (primary, secondary) = (r.bits(2)?, r.bits(2)?);
    if primary == 0 {
        return Err(Fault::Unsupported("a reserved protection_length_primary"));
    }
    for length in [primary, secondary] {
        r.skip([0, 8, 32, 128][length as usize])?;
    }
    Ok(())
}

/// `ac4_substream_group_info()`, clause 6.2.1.7.
fn read_group(r: &mut BitReader<'_>, factor: u32, high_rate: bool) -> Result<(), Fault> {
    let indexed = r.flag()?; // b_substreams_present
    let extended = r.flag()?; // b_hsf_ext
    let count = if r.flag()? {
        1
    } else {
        match 2 + r.bits(2)? {
            5 => 5u32.saturating_add(variable_bits(r, 2)?),
            count => count,
        }
    };
    let channels = r.flag()?; // b_channel_coded
    if !channels && r.flag()? {
        r.flag()?; // b_oamd_ndot
        if indexed {
            skip_substream_index(r)?;
        }
    }
    for _ in 0..count {
        let mut base = false;
        if channels {
            base = read_channels(r)?;
        } else if r.flag()? {
            skip_joint_objects(r)?;
        } else {
            skip_objects(r)?;
        }
        if high_rate && r.flag()? {
            r.flag()?; // sf_multiplier
        }
        if r.flag()? && r.bits(3)? & 1 == 1 {
            r.skip(2)?; // bitrate_indicator of 5 bits
        }
        r.skip(u64::from(factor) + u64::from(base))?; // add_ch_base, b_audio_ndot
        // The substream, and its high sampling frequency extension.
        for _ in 0..if indexed { 1 + u32::from(extended) } else { 0 } {
            skip_substream_index(r)?;
        }
    }
    if r.flag()? {
        skip_content_type(r)?;
    }
    Ok(())
}

/// `content_type()`, TS 103 190-1, clause 4.2.3.7.
fn skip_content_type(r: &mut BitReader<'_>) -> Result<(), Fault> {
    r.skip(3)?; // content_classifier
    if r.flag()? {
        if r.flag()? {
            r.skip(1 + 16)?; // b_start_tag, language_tag_chunk
        } else {
            let bytes = r.bits(6)?;
            r.skip(8 * u64::from(bytes))?; // language_tag_bytes
        }
    }
    Ok(())
}

/// The beginning of `ac4_substream_info_chan()`, clause 6.2.1.8: whether `add_ch_base` follows.
fn read_channels(r: &mut BitReader<'_>) -> Result<bool, Fault> {
    // channel_mode, table 78: as many ones as say how many bits follow.
    if !r.flag()? || !r.flag()? {
        return Ok(false); // mono, stereo
    }
    let mode = r.bits(2)?;
    if mode < 3 {
        return Ok(false); // up to 5.1
    }
    let mode = r.bits(3)?;
    if mode < 6 {
        return Ok(mode >= 2); // seven channels: not the modes with side channels
    }
    if mode == 7 {
        match r.bits(2)? {
            2 => return Ok(false), // 22.2
            3 => return Err(Fault::Unsupported("a reserved channel_mode")),
            _ => {}
        }
    } else {
        r.flag()?;
    }
    r.skip(1 + 1 + 2)?; // b_4_back_channels_present, b_centre_present, top_channels_present
    Ok(false)
}

/// The beginning of `ac4_substream_info_ajoc()`, clause 6.2.1.9.
fn skip_joint_objects(r: &mut BitReader<'_>) -> Result<(), Fault> {
    r.flag()?; // b_lfe
    if !r.flag()? {
        let signals = 1 + r.bits(4)?; // n_fullband_dmx_signals_minus1
        skip_assignment(r, signals)?;
    }
    if r.flag()? {
        skip_object_metadata(r)?;
    }
    let mut signals = 1 + r.bits(4)?; // n_fullband_upmix_signals_minus1
    if signals == 16 {
        signals = signals.saturating_add(variable_bits(r, 3)?);
    }
    skip_assignment(r, signals)
}

/// `bed_dyn_obj_assignment()`, clause 6.2.1.10.
fn skip_assignment(r: &mut BitReader<'_>, signals: u32) -> Result<(), Fault> {
    if r.flag()? {
        return Ok(()); // b_dyn_objects_only
    }
    // b_isf, b_ch_assign_code
    if r.flag()? || r.flag()? {
        r.skip(3)?; // isf_config, bed_chan_assign_code
    } else if r.flag()? {
        skip_bed_mask(r)?;
    } else {
        let beds = 1 + r.bits(ceil_log2(signals))?; // n_bed_signals_minus1
        r.skip(4 * u64::from(beds))?; // nonstd_bed_channel_assignment
    }
    Ok(())
}

/// Which channels a bed has, as a mask.
fn skip_bed_mask(r: &mut BitReader<'_>) -> Result<(), Fault> {
    let bits = if r.flag()? { 17 } else { 10 }; // nonstd_..., std_bed_channel_assignment_mask
    Ok(r.skip(bits)?)
}

/// `oamd_common_data()`, clause 6.2.8.1.
fn skip_object_metadata(r: &mut BitReader<'_>) -> Result<(), Fault> {
    if !r.flag()? {
        r.skip(5)?; // master_screen_size_ratio_code
    }
    r.flag()?; // b_bed_object_chan_distribute
    if r.flag()? {
        let mut bytes = 1 + u64::from(r.bits(1)?);
        if bytes == 2 {
            bytes += u64::from(variable_bits(r, 2)?);
        }
        r.skip(8 * bytes)?; // trim(), bed_render_info(), add_data
    }
    Ok(())
}

/// The beginning of `ac4_substream_info_obj()`, clause 6.2.1.11.
fn skip_objects(r: &mut BitReader<'_>) -> Result<(), Fault> {
    r.skip(3)?; // n_objects_code
    if r.flag()? {
        r.flag()?; // b_lfe
        return Ok(());
    }
    let (bed, scene) = if r.flag()? { (true, false) } else { (false, r.flag()?) };
    if !bed && !scene {
        let bytes = r.bits(4)?;
        return Ok(r.skip(8 * u64::from(bytes))?); // reserved_data
    }
    if r.flag()? {
        // b_bed_start, b_isf_start
        if scene || r.flag()? {
            r.skip(3)?; // isf_config, bed_chan_assign_code
        } else {
            skip_bed_mask(r)?;
        }
    }
    Ok(())
}

/// `substream_index_table()`, TS 103 190-1, clause 4.2.3.11: the bytes of the substreams whose lengths it says.
fn read_index(r: &mut BitReader<'_>) -> Result<u64, Fault> {
    let count = match r.bits(2)? {
        0 => 4u32.saturating_add(variable_bits(r, 2)?),
        count => count,
    };
    let mut bytes = 0;
    if count > 1 || r.flag()? {
        for _ in 0..count {
            let more = r.flag()?;
            bytes += u64::from(r.bits(10)?);
            if more {
                bytes += u64::from(variable_bits(r, 2)?) << 10;
            }
        }
    }
    Ok(bytes)
}

/// `substream_index`.
fn skip_substream_index(r: &mut BitReader<'_>) -> Result<(), Fault> {
    if r.bits(2)? == 3 {
        variable_bits(r, 2)?;
    }
    Ok(())
}

/// `variable_bits( n )`, TS 103 190-1, clause 4.2.2.
fn variable_bits(r: &mut BitReader<'_>, n: u32) -> Result<u32, Fault> {
    let mut value: u32 = 0;
    loop {
        value += r.bits(n)?;
        if !r.flag()? {
            return Ok(value);
        }
        // Each further group of bits begins where the shorter codes end.
        if value >= 1 << 24 {
            return Err(Fault::Invalid("variable_bits"));
        }
        value = (value + 1) << n;
    }
}

/// More than any level allows, as a bound on work.
const MAX_GROUPS: u32 = 64;
