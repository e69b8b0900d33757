//! Bit rates by the definitions of HLS (RFC 8216bis, 4.1).

use crate::{Track, model::Extent};

/// Peak and average bit rate of a playlist, in bits per second, rounded up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rate {
    pub(super) peak: u64,
    pub(super) average: u64,
}

impl Rate {
    /// Of segments of a track, for a target duration in seconds.
    pub(super) fn of(segments: &[Extent], track: &Track, target: u64) -> Self {
        let rate = |bytes: u64, time: u64| {
            let bits = u128::from(bytes) * 8 * u128::from(track.timescale);
            u64::try_from(bits.div_ceil(u128::from(time.max(1)))).unwrap_or(u64::MAX)
        };
        let sum = |segments: &[Extent]| {
            segments.iter().fold((0, 0), |(bytes, time), s| (bytes + s.bytes, time + s.duration))
        };
        // The peak is that of any segments in a row which last from half to one and a half of the target. Those
        // from one on are tried until they last longer; a segment that is shorter than half of it counts alone
        // only if no row is in these bounds.
        let target = target * u64::from(track.timescale);
        let (mut peak, mut any) = (0, 0);
        for first in 0..segments.len() {
            let (mut bytes, mut time) = (0, 0);
            any = any.max(rate(segments[first].bytes, segments[first].duration));
            for segment in &segments[first..] {
                bytes += segment.bytes;
                time += segment.duration;
                if time * 2 > target * 3 {
                    break;
                }
                if time * 2 >= target {
                    peak = peak.max(rate(bytes, time));
                }
            }
        }
        let (bytes, time) = sum(segments);
        let average = rate(bytes, time);
        Self { peak: if peak == 0 { any } else { peak }.max(average), average }
    }

    /// Of two playlists that are played together.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            peak: self.peak.saturating_add(other.peak),
            average: self.average.saturating_add(other.average),
        }
    }

    /// The largest of each, of playlists of which one is played.
    pub(super) fn largest(rates: impl IntoIterator<Item = Self>) -> Self {
        rates.into_iter().fold(Self::default(), |a, b| Self {
            peak: a.peak.max(b.peak),
            average: a.average.max(b.average),
        })
    }
}
