//! Channel configurations by number (ISO/IEC 23091-3, `ChannelConfiguration`).

/// The channels of a configuration. None if it is 0, where something else says them, or reserved.
///
/// AAC has these numbers up to 7 and from 11 on (ISO/IEC 14496-3, table 1.19).
pub(super) fn channels(configuration: u8) -> Option<u8> {
    Some(match configuration {
        1..=6 => configuration,
        7 | 12 | 14 => 8,
        8 => 2,
        9 => 3,
        10 => 4,
        11 => 7,
        13 => 24,
        15 | 17 | 19 => 12,
        16 => 10,
        18 | 20 => 14,
        _ => return None,
    })
}
