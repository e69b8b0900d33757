//! How many frames per second a track has.

use lanelock_mp4::Sample;

/// How long frames last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frames {
    pub(crate) count: u64,
    /// Sum of all durations.
    pub(crate) duration: u64,
    /// Shortest and longest duration, but for the last frame.
    pub(crate) shortest: u32,
    pub(crate) longest: u32,
    last: u32,
    /// For each of [`USUAL_RATES`].
    fits: [Fit; USUAL_RATES.len()],
}

/// How well frames fit a rate: how much earlier and later they are than frames of just that rate would be, in
/// units of the track, times the numerator of the rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fit {
    last: i64,
    earliest: i64,
    latest: i64,
}

impl Fit {
    fn spread(self) -> i64 {
        self.latest.saturating_sub(self.earliest)
    }
}

/// Frames per second, as fractions, that timescales such as milliseconds round away.
const USUAL_RATES: [(u32, u32); 15] = [
    (15, 2),
    (12, 1),
    (15_000, 1001),
    (15, 1),
    (24_000, 1001),
    (24, 1),
    (25, 1),
    (30_000, 1001),
    (30, 1),
    (48, 1),
    (50, 1),
    (60_000, 1001),
    (60, 1),
    (120_000, 1001),
    (120, 1),
];

impl Frames {
    pub(crate) fn push(&mut self, sample: &Sample, timescale: u32) {
        // The last one may last any time: the extremes are those of the frames before it.
        if self.count == 1 {
            (self.shortest, self.longest) = (self.last, self.last);
        } else if self.count > 1 {
            self.shortest = self.shortest.min(self.last);
            self.longest = self.longest.max(self.last);
        }
        if self.count > 0 {
            for (fit, (frames, seconds)) in self.fits.iter_mut().zip(USUAL_RATES) {
                // One that is too far off stays so, and its numbers small.
                if fits(fit.spread(), frames, timescale) {
                    let own = i64::from(self.last) * i64::from(frames);
                    fit.last = fit.last + own - i64::from(timescale) * i64::from(seconds);
                    fit.earliest = fit.earliest.min(fit.last);
                    fit.latest = fit.latest.max(fit.last);
                }
            }
        }
        self.count += 1;
        self.duration = self.duration.saturating_add(sample.duration.into());
        self.last = sample.duration;
    }

    /// Frames per second as a fraction without a common factor; none if it varies. Times are rounded to
    /// the timescale, or were to milliseconds before: of the usual rates that give these times, it is the one
    /// that they are nearest to.
    pub(crate) fn rate(&self, timescale: u32) -> Option<(u32, u32)> {
        let count = self.count.checked_sub(1).filter(|count| *count > 0)?;
        if self.longest != self.shortest {
            let all = self.fits.iter().map(|fit| fit.spread()).zip(USUAL_RATES);
            let near = all.filter(|(spread, (frames, _))| fits(*spread, *frames, timescale));
            let nearest = near.min_by(|(a, (of_a, _)), (b, (of_b, _))| {
                (i128::from(*a) * i128::from(*of_b)).cmp(&(i128::from(*b) * i128::from(*of_a)))
            });
            if let Some((_, rate)) = nearest {
                return Some(rate);
            }
        }
        if self.longest > self.shortest.saturating_add(1) {
            return None;
        }
        let duration = self.duration.checked_sub(self.last.into())?;
        fraction(u128::from(count) * u128::from(timescale), u128::from(duration))
    }

    /// The rate, or the average if it varies; none if there is no duration.
    pub(crate) fn average_rate(&self, timescale: u32) -> Option<(u32, u32)> {
        self.rate(timescale).or_else(|| {
            fraction(u128::from(self.count) * u128::from(timescale), u128::from(self.duration))
        })
    }
}

/// A fraction without a common factor, as far as numbers of 32 bits express it.
fn fraction(rate: u128, per: u128) -> Option<(u32, u32)> {
    let factor = gcd(rate, per).max(1);
    let (mut rate, mut per) = (rate / factor, per / factor);
    while rate.max(per) > u128::from(u32::MAX) {
        (rate, per) = (rate >> 1, per >> 1);
    }
    let rate = (u32::try_from(rate).ok()?, u32::try_from(per).ok()?);
    (rate.1 > 0).then_some(rate)
}

/// Whether times that are so far apart, as [`Fit`] has them, are rounded times of so many frames per second.
/// Rounding moves all by less than one unit or millisecond; both are added up if there were both.
fn fits(spread: i64, frames: u32, timescale: u32) -> bool {
    let units = if timescale > 1000 { 1 + timescale / 1000 } else { 1 };
    spread < i64::from(units) * i64::from(frames)
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rate of frames that last so long.
    fn rate(durations: &[u32], timescale: u32) -> Option<(u32, u32)> {
        let mut frames = Frames::default();
        for &duration in durations {
            let sample = Sample {
                offset: 0,
                size: 1,
                decode_time: 0,
                duration,
                composition_offset: 0,
                flags: 0,
                sync: true,
                description_index: 1,
            };
            frames.push(&sample, timescale);
        }
        frames.rate(timescale)
    }

    /// Durations of frames of this rate, whose times are rounded down or to the nearest, to units of one
    /// timescale and then to those of another one.
    fn rounded(count: u64, (frames, seconds): (u32, u32), half: u64, scales: [u32; 2]) -> Vec<u32> {
        let [first, then] = scales.map(u64::from);
        let time = |number: u64| {
            let time = (number * u64::from(seconds) * first * 2 / u64::from(frames) + half) >> 1;
            (time * then * 2 / first + half) >> 1
        };
        (0..count).map(|number| u32::try_from(time(number + 1) - time(number)).unwrap()).collect()
    }

    #[test]
    fn rates() {
        assert_eq!(rate(&[512; 10], 15_360), Some((30, 1)));
        assert_eq!(rate(&[1001; 10], 24_000), Some((24_000, 1001)));
        assert_eq!(rate(&[3003, 3003, 9], 90_000), Some((30_000, 1001)));
        // The last one counts for nothing.
        assert_eq!(rate(&[33, 33, 34, 33, 33, 34, 33, 33, 34, 1], 1000), Some((30, 1)));
        // Another rate than the usual ones.
        assert_eq!(rate(&[111, 111, 111, 112, 111, 111, 111], 1000), Some((6000, 667)));
        // They vary, or there is one alone.
        assert_eq!(rate(&[40, 20, 40], 1000), None);
        assert_eq!(rate(&[3000, 3000, 6000, 3000, 3000], 90_000), None);
        assert_eq!(rate(&[40], 1000), None);
        assert_eq!(rate(&[], 1000), None);
        assert_eq!(rate(&[u32::MAX, 1, u32::MAX, 1], u32::MAX), None);
    }

    /// Short clips, too, are long enough to tell 30 frames per second from 29.97.
    #[test]
    fn rates_of_rounded_times() {
        for usual in USUAL_RATES {
            for scales in [[1000, 1000], [90_000, 90_000], [1000, 16_000], [1000, 90_000]] {
                for (half, count) in [0, 1].into_iter().flat_map(|half| [(half, 50), (half, 3000)])
                {
                    let durations = rounded(count, usual, half, scales);
                    let found = rate(&durations, scales[1]);
                    assert_eq!(found, Some(usual), "{scales:?} {half} {count}");
                }
            }
        }
    }
}
