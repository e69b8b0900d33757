//! The syntax of AAC access units (ISO/IEC 14496-3, 4.4.2), as far as it can tell AAC from noise.
//!
//! Read is the first channel element up to its section data. That holds for AAC-LC, and for HE-AAC,
//! whose SBR and PS data come in fill elements behind it. The error-resilient and low-delay object
//! types and USAC have another syntax.

use lanelock_mp4::SampleEntry;

/// What the decoder configuration says about the access units of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Aac {
    /// Scale factor bands at this sampling rate, in long and in short windows.
    bands: (u32, u32),
}

impl Aac {
    /// From the sample entry; none for object types with another syntax.
    pub(super) fn new(entry: &SampleEntry) -> Option<Self> {
        let info = entry.config.as_ref()?.esds()?;
        // MPEG-4 audio, and MPEG-2 AAC-LC.
        let object = match (info.object_type, info.audio_object_type) {
            (0x40, Some(object)) => object,
            (0x67, object) => object.unwrap_or(LC),
            _ => return None,
        };
        // Behind SBR and PS stands the object type of the core, which is LC in HE-AAC; its sampling
        // rate comes first.
        if !matches!(object, LC | SBR | PS) {
            return None;
        }
        let index = LOWEST_RATES.iter().position(|lowest| info.sample_rate >= Some(*lowest))?;
        Some(Self { bands: (LONG_BANDS[index], SHORT_BANDS[index]) })
    }

    /// Whether `unit` begins like an AAC access unit; none if that cannot be said.
    pub(super) fn check(self, unit: &[u8]) -> Option<bool> {
        // 0xfff: an ADTS header, which has no place in MP4 and is found there all the same.
        if let [0xff, second, ..] = unit
            && second >> 4 == 15
        {
            return None;
        }
        match self.element(&mut Bits { bytes: unit, at: 0 }) {
            Ok(()) => Some(true),
            Err(Unfit::Noise) => Some(false),
            Err(Unfit::Unclear) => None,
        }
    }

    /// `raw_data_block()`: the first channel element.
    fn element(self, r: &mut Bits<'_>) -> Result<(), Unfit> {
        loop {
            match r.take(3)? {
                // Which of the two fits the channel configuration is often stated wrongly.
                SINGLE => {
                    r.take(4)?; // element_instance_tag
                    r.take(8)?; // global_gain
                    let ics = self.window(r)?;
                    return sections(r, &ics);
                }
                PAIR => {
                    r.take(4)?;
                    return self.pair(r);
                }
                LFE => return Err(Unfit::Noise), // never the first one
                DATA => {
                    r.take(4)?;
                    let align = r.take(1)? == 1;
                    let mut count = r.take(8)?;
                    if count == 255 {
                        count += r.take(8)?;
                    }
                    if align {
                        r.at = r.at.next_multiple_of(8);
                    }
                    r.at += 8 * count as usize;
                }
                FILL => {
                    let mut count = r.take(4)?;
                    if count == 15 {
                        count = 14 + r.take(8)?;
                    }
                    r.at += 8 * count as usize;
                }
                // Coupling channels, a program configuration, an empty unit: rare and legal.
                _ => return Err(Unfit::Unclear),
            }
        }
    }

    /// `channel_pair_element()` behind its tag.
    fn pair(self, r: &mut Bits<'_>) -> Result<(), Unfit> {
        let mut common = None;
        if r.take(1)? == 1 {
            let ics = self.window(r)?;
            match r.take(2)? {
                1 => r.at += (ics.groups * ics.max_sfb) as usize, // ms_used
                3 => return Err(Unfit::Noise),                    // ms_mask_present: reserved
                _ => {}
            }
            common = Some(ics);
        }
        r.take(8)?; // global_gain
        let ics = match common {
            None => self.window(r)?,
            Some(ics) => ics,
        };
        sections(r, &ics)
    }

    /// `ics_info()`, as AAC-LC may have it.
    fn window(self, r: &mut Bits<'_>) -> Result<Window, Unfit> {
        let reserved = r.take(1)?; // ics_reserved_bit
        let sequence = r.take(2)?;
        r.take(1)?; // window_shape
        let (window, prediction) = if sequence == EIGHT_SHORT {
            let max_sfb = r.take(4)?;
            // scale_factor_grouping: a one joins a window to the group before.
            let groups = 8 - r.take(7)?.count_ones();
            (Window { max_sfb, groups, length_bits: 3 }, 0)
        } else {
            (Window { max_sfb: r.take(6)?, groups: 1, length_bits: 5 }, r.take(1)?)
        };
        let bands = if sequence == EIGHT_SHORT { self.bands.1 } else { self.bands.0 };
        // predictor_data_present: not in AAC-LC.
        let sound = reserved == 0 && prediction == 0 && window.max_sfb <= bands;
        if sound { Ok(window) } else { Err(Unfit::Noise) }
    }
}

/// Why a unit was not read to the end of its section data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unfit {
    /// It is not AAC.
    Noise,
    /// It may be, and is of a kind that is not read.
    Unclear,
}

struct Window {
    max_sfb: u32,
    groups: u32,
    /// Bits of `sect_len_incr`.
    length_bits: u32,
}

/// `section_data()`: the sections of each group end with its last band.
fn sections(r: &mut Bits<'_>, ics: &Window) -> Result<(), Unfit> {
    let escape = (1 << ics.length_bits) - 1;
    for _ in 0..ics.groups {
        let mut band = 0;
        while band < ics.max_sfb {
            // Codebook 12 is reserved.
            if r.take(4)? == 12 {
                return Err(Unfit::Noise);
            }
            loop {
                let length = r.take(ics.length_bits)?;
                band += length;
                if length != escape {
                    break;
                }
            }
        }
        if band != ics.max_sfb {
            return Err(Unfit::Noise);
        }
    }
    Ok(())
}

struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    /// The next `count` bits, 16 at most. No AAC ends before.
    fn take(&mut self, count: u32) -> Result<u32, Unfit> {
        let mut value = 0;
        for _ in 0..count {
            let byte = *self.bytes.get(self.at / 8).ok_or(Unfit::Noise)?;
            value = value << 1 | u32::from(byte >> (7 - self.at % 8) & 1);
            self.at += 1;
        }
        Ok(value)
    }
}

// Audio object types, table 1.17.
const LC: u8 = 2;
const SBR: u8 = 5;
const PS: u8 = 29;

// id_syn_ele, table 4.85.
const SINGLE: u32 = 0;
const PAIR: u32 = 1;
const LFE: u32 = 3;
const DATA: u32 = 4;
const FILL: u32 = 6;

// window_sequence, table 4.109.
const EIGHT_SHORT: u32 = 2;

/// From which sampling rate on each row of the tables is in use (table 4.82): 96, 88.2, 64, 48, 44.1,
/// 32, 24, 22.05, 16, 12, 11.025 and 8 kHz.
const LOWEST_RATES: [u32; 12] =
    [92_017, 75_132, 55_426, 46_009, 37_566, 27_713, 23_004, 18_783, 13_856, 11_502, 9_391, 0];
/// `num_swb_long_window` of frames of 1024 samples; those of 960 have as many or fewer.
const LONG_BANDS: [u32; 12] = [41, 41, 47, 49, 49, 51, 47, 47, 43, 43, 43, 40];
/// `num_swb_short_window`.
const SHORT_BANDS: [u32; 12] = [12, 12, 12, 14, 14, 14, 15, 15, 15, 15, 15, 15];

#[cfg(test)]
mod tests {
    use super::*;
    use lanelock_testkit::Rng;

    /// What the verdict over many units builds on: the share of noise that is refused.
    #[test]
    fn noise_is_refused() {
        let mut rng = Rng::from_env("noise_is_refused");
        for bands in [(49, 14), (40, 15), (41, 12)] {
            let (mut looked, mut passed) = (0, 0);
            for _ in 0..20_000 {
                let mut unit = vec![0; 300];
                rng.fill(&mut unit);
                if let Some(fits) = (Aac { bands }).check(&unit) {
                    looked += 1;
                    passed += u32::from(fits);
                }
            }
            assert!(looked > 8_000, "{looked}");
            assert!(passed * 12 < looked, "{passed} of {looked}");
        }
    }

    #[test]
    fn short_units_are_no_panic() {
        let aac = Aac { bands: (49, 14) };
        let mut rng = Rng::from_env("short_units_are_no_panic");
        for len in 0..40 {
            for _ in 0..200 {
                let mut unit = vec![0; len];
                rng.fill(&mut unit);
                let _ = aac.check(&unit);
            }
        }
    }
}
