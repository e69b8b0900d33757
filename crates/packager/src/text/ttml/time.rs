//! Time expressions (W3C TTML2, 12.3) and the intervals that nested elements are shown in (12.2).

/// When an element is shown, in milliseconds of the document; without an end if it is not known.
///
/// Rounded outwards, so that nothing which is shown counts as not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::text) struct Shown {
    pub(in crate::text) begin: Time,
    pub(in crate::text) end: Option<u64>,
}

impl Shown {
    /// That of a child, whose times count from the beginning of its parent and which ends with it at
    /// the latest (`timeContainer="par"`, the default).
    pub(super) fn child(self, begin: Option<Time>, end: Option<Time>, dur: Option<Time>) -> Self {
        let offset = begin.unwrap_or_default();
        let begin = Time {
            floor: self.begin.floor.saturating_add(offset.floor),
            ceil: self.begin.ceil.saturating_add(offset.ceil),
        };
        let from = |start: Time, time: Option<Time>| Some(start.ceil.saturating_add(time?.ceil));
        let ends = [from(self.begin, end), from(begin, dur), self.end];
        Self { begin, end: ends.into_iter().flatten().min() }
    }
}

/// A time in whole milliseconds, rounded in both ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::text) struct Time {
    pub(in crate::text) floor: u64,
    pub(in crate::text) ceil: u64,
}

/// How long frames and ticks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// Frames per second, as a fraction.
    frames: (u64, u64),
    sub_frames: u64,
    /// Ticks per second, as a fraction.
    ticks: (u64, u64),
}

impl Default for Clock {
    fn default() -> Self {
        Self { frames: (30, 1), sub_frames: 1, ticks: (1, 1) }
    }
}

/// Digits of a fraction that count; more are finer than a nanosecond.
const FRACTION: usize = 9;

impl Clock {
    /// From the parameters `frameRate`, `frameRateMultiplier`, `subFrameRate` and `tickRate`.
    pub(super) fn new(
        frame_rate: Option<&str>,
        multiplier: Option<&str>,
        sub_frame_rate: Option<&str>,
        tick_rate: Option<&str>,
    ) -> Result<Self, String> {
        let positive = |name: &str, value: &str| {
            let parsed = value.trim().parse().ok().filter(|value: &u32| *value > 0);
            parsed.map(u64::from).ok_or(format!("ttp:{name}=\"{value}\" is no rate"))
        };
        let or = |name, value: Option<&str>, default| {
            value.map_or(Ok(default), |value| positive(name, value))
        };
        let (mut numerator, mut denominator) = (1, 1);
        if let Some(value) = multiplier {
            // TTML1 separates them by a space, its drafts by a colon.
            let mut parts = value.split([' ', ':']).filter(|part| !part.is_empty());
            numerator = or("frameRateMultiplier", Some(parts.next().unwrap_or_default()), 1)?;
            denominator = or("frameRateMultiplier", parts.next(), 1)?;
        }
        let frames = (or("frameRate", frame_rate, 30)?, 1);
        let frames = (frames.0 * numerator, denominator);
        let sub_frames = or("subFrameRate", sub_frame_rate, 1)?;
        let ticks = match tick_rate {
            Some(value) => (positive("tickRate", value)?, 1),
            None if frame_rate.is_some() => (frames.0.saturating_mul(sub_frames), frames.1),
            None => (1, 1),
        };
        Ok(Self { frames, sub_frames, ticks })
    }

    /// A clock time (`01:02:03.4`, `01:02:03:12`) or an offset (`1.5s`, `36f`).
    pub(super) fn parse(&self, value: &str) -> Option<Time> {
        let value = value.trim();
        let parts: Vec<_> = value.split(':').collect();
        match parts[..] {
            [offset] => {
                let metrics = [
                    ("ms", 1000, 1),
                    ("h", 1, 3600),
                    ("m", 1, 60),
                    ("s", 1, 1),
                    ("f", self.frames.0, self.frames.1),
                    ("t", self.ticks.0, self.ticks.1),
                ];
                let found = metrics.iter().find_map(|(metric, per, seconds)| {
                    Some((decimal(offset.strip_suffix(metric)?)?, *per, *seconds))
                });
                let (count, per_second, seconds) = found?;
                rounded(&[(count, (per_second, seconds))])
            }
            [hours, minutes, seconds] => rounded(&clock_time(hours, minutes, seconds)?),
            [hours, minutes, seconds, frames] => {
                let (frames, sub_frames) = frames.split_once('.').unwrap_or((frames, "0"));
                let [h, m, s] = clock_time(hours, minutes, whole(seconds)?)?;
                let per_second = (self.frames.0.checked_mul(self.sub_frames)?, self.frames.1);
                let frames = (decimal(whole(frames)?)?, self.frames);
                let sub_frames = (decimal(whole(sub_frames)?)?, per_second);
                rounded(&[h, m, s, frames, sub_frames])
            }
            _ => None,
        }
    }
}

/// A number of units (in 10^-9), and how many units are how many seconds.
type TimePart = (u128, (u64, u64));

fn clock_time(hours: &str, minutes: &str, seconds: &str) -> Option<[TimePart; 3]> {
    let below_sixty = |text| decimal(text).filter(|value| *value <= 60 * 10_u128.pow(9));
    Some([
        (decimal(whole(hours)?)?, (1, 3600)),
        (below_sixty(whole(minutes)?)?, (1, 60)),
        (below_sixty(seconds)?, (1, 1)),
    ])
}

/// The digits, if it is nothing else.
fn whole(text: &str) -> Option<&str> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text)
}

/// A decimal number, in 10^-9.
fn decimal(text: &str) -> Option<u128> {
    let (number, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let (number, fraction) = (whole(number)?, whole(fraction)?);
    // Twelve digits of seconds are 30,000 years: products below fit by far.
    if fraction.is_empty() || number.len() > 12 {
        return None;
    }
    let fraction: String = fraction.chars().chain("000000000".chars()).take(FRACTION).collect();
    let number: u128 = number.parse().ok()?;
    Some(number * 10_u128.pow(9) + fraction.parse::<u128>().ok()?)
}

/// The sum, in milliseconds.
fn rounded(parts: &[TimePart]) -> Option<Time> {
    let mut sum: (u128, u128) = (0, 1);
    for &(count, (per, seconds)) in parts {
        let (per, seconds) = (u128::from(per), u128::from(seconds));
        let count = count.checked_mul(seconds)?;
        sum = if per == sum.1 || count == 0 {
            (sum.0 + count, sum.1)
        } else {
            (
                sum.0.checked_mul(per)?.checked_add(count.checked_mul(sum.1)?)?,
                sum.1.checked_mul(per)?,
            )
        };
    }
    let unit = sum.1.checked_mul(1_000_000)?;
    let floor = u64::try_from(sum.0 / unit).ok()?;
    Some(Time { floor, ceil: floor.checked_add(u64::from(!sum.0.is_multiple_of(unit)))? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of TTML2, 12.3.1, and both forms at 29.97 frames per second.
    #[test]
    fn expressions() {
        let ms =
            |clock: &Clock, value: &str| clock.parse(value).map(|time| (time.floor, time.ceil));
        let plain = Clock::default();
        for (value, expected) in [
            ("00:00:01", 1000),
            ("00:00:01.5", 1500),
            ("100:00:00.001", 360_000_001),
            ("01:02:03:15", 3_723_500),
            ("5s", 5000),
            ("1.5h", 5_400_000),
            ("2m", 120_000),
            ("250ms", 250),
            ("45f", 1500),
            ("3t", 3000),
        ] {
            assert_eq!(ms(&plain, value), Some((expected, expected)), "{value}");
        }
        for value in
            ["", "5", "-1s", "1:2", "00:61:00", "00:00:00,5", "1e3s", "s", "00:00:00:00:00", "٣s"]
        {
            assert_eq!(ms(&plain, value), None, "{value}");
        }
        let ntsc = Clock::new(Some("30"), Some("1000 1001"), None, None).unwrap();
        assert_eq!(ms(&ntsc, "00:00:10:15"), Some((10_500, 10_501)));
        assert_eq!(ms(&ntsc, "30t"), Some((1001, 1001)));
        let ticks = Clock::new(None, None, None, Some("10000000")).unwrap();
        assert_eq!(ms(&ticks, "52720000t"), Some((5272, 5272)));
        let sub = Clock::new(Some("25"), None, Some("2"), None).unwrap();
        assert_eq!(ms(&sub, "00:00:00:01.1"), Some((60, 60)));
        assert!(Clock::new(Some("0"), None, None, None).is_err());
        assert!(Clock::new(None, Some("1000 0"), None, None).is_err());
        let huge = Clock::new(Some("4294967295"), Some("4294967295 1"), Some("4294967295"), None);
        assert_eq!(ms(&huge.unwrap(), "999999999999:59:59:999999999999.9"), None);
    }
}
