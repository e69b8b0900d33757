//! Times as XML Schema writes them: `xs:dateTime` and `xs:duration`.

use core::{fmt, str::FromStr, time::Duration};

const DAY: i64 = 86_400;
/// The times that have a text: from 0001-01-01T00:00:00Z to the end of the year 9999.
const TIMES: core::ops::RangeInclusive<i64> = -62_135_596_800_000_000..=253_402_300_799_999_999;

/// A time of the wall clock, to the microsecond.
///
/// ```
/// # use lanelock_cpix::WallClock;
/// let time: WallClock = "2026-01-31T23:59:59.5+01:00".parse().unwrap();
/// assert_eq!(time.to_string(), "2026-01-31T22:59:59.500000Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallClock {
    /// Microseconds since 1970-01-01T00:00:00Z.
    pub unix_micros: i64,
}

/// The text is no `xs:dateTime`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a time is YYYY-MM-DDThh:mm:ss, with Z or +hh:mm behind it")]
pub struct WallClockError;

impl FromStr for WallClock {
    type Err = WallClockError;

    /// Reads `xs:dateTime` of the years 1 to 9999, in its time zone and in UTC. One without a time zone is taken
    /// as UTC, as DASH does.
    fn from_str(text: &str) -> Result<Self, WallClockError> {
        date_time(text).map(|unix_micros| Self { unix_micros }).ok_or(WallClockError)
    }
}

impl fmt::Display for WallClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, micros) =
            (self.unix_micros.div_euclid(1_000_000), self.unix_micros.rem_euclid(1_000_000));
        let (year, month, day) = civil(seconds.div_euclid(DAY));
        let second = seconds.rem_euclid(DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if micros != 0 {
            write!(f, ".{micros:06}")?;
        }
        f.write_str("Z")
    }
}

impl WallClock {
    /// The time that much later, if there is one.
    pub(crate) fn checked_add(self, duration: Duration) -> Option<Self> {
        let micros = i64::try_from(duration.as_micros()).ok()?;
        let sum = self.unix_micros.checked_add(micros).filter(|sum| TIMES.contains(sum));
        sum.map(|unix_micros| Self { unix_micros })
    }
}

fn date_time(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T')?;
    let [year, month, day] = parts(date, '-')?;
    let zone = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (time, zone) = time.split_at(zone);
    let (time, fraction) = time.split_once('.').map_or((time, None), |(t, f)| (t, Some(f)));
    let [hour, minute, second] = parts(time, ':')?;
    let widths = date.len() == 10 && time.len() == 8;
    let days = [31, if is_leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let last = *days.get(usize::try_from(month.checked_sub(1)?).ok()?)?;
    let valid = (1..=9999).contains(&year)
        && (1..=last).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !widths || !valid {
        return None;
    }
    let micros = fraction.map_or(Some(0), micros)?;
    let offset = match zone {
        "" | "Z" => 0,
        zone => {
            let [hours, minutes] = parts(&zone[1..], ':')?;
            let most = if hours == 14 { 0 } else { 59 };
            if zone.starts_with('Z') || zone.len() != 6 || hours > 14 || minutes > most {
                return None;
            }
            let offset = hours * 3600 + minutes * 60;
            if zone.starts_with('-') { -offset } else { offset }
        }
    };
    let seconds = days_from_civil(year, month, day) * DAY + hour * 3600 + minute * 60 + second;
    Some((seconds - offset) * 1_000_000 + micros).filter(|micros| TIMES.contains(micros))
}

/// Exactly `N` numbers.
fn parts<const N: usize>(text: &str, separator: char) -> Option<[i64; N]> {
    let mut numbers = [0; N];
    let mut parts = text.split(separator);
    for number in &mut numbers {
        *number = digits(parts.next()?)?;
    }
    parts.next().is_none().then_some(numbers)
}

fn digits(text: &str) -> Option<i64> {
    let all = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if all { text.parse().ok() } else { None }
}

/// Digits behind a decimal point, as microseconds. What is finer is cut off.
fn micros(fraction: &str) -> Option<i64> {
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().chain(core::iter::repeat(b'0')).take(6);
    Some(digits.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days since 1970-01-01 in the Gregorian calendar. The year is taken to begin in March, so that the day
/// which comes and goes is its last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The other way around: year, month, day.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// Reads `xs:duration` of days and less: months and years have no fixed length.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let rest = text.strip_prefix('P')?;
    let (days, time) = rest.split_once('T').map_or((rest, None), |(d, t)| (d, Some(t)));
    let mut seconds: i64 = 0;
    let mut micro = 0;
    let mut any = false;
    if !days.is_empty() {
        seconds = digits(days.strip_suffix('D')?)?.checked_mul(DAY)?;
        any = true;
    }
    if let Some(time) = time {
        let mut rest = time;
        for (unit, factor) in [('H', 3600), ('M', 60), ('S', 1)] {
            let Some((number, after)) = rest.split_once(unit) else { continue };
            let (whole, fraction) = match number.split_once('.') {
                Some((whole, fraction)) if unit == 'S' => (whole, micros(fraction)?),
                Some(_) => return None,
                None => (number, 0),
            };
            seconds = digits(whole)?.checked_mul(factor)?.checked_add(seconds)?;
            micro = fraction;
            rest = after;
            any = true;
        }
        if !rest.is_empty() || time.is_empty() {
            return None;
        }
    }
    let whole = Duration::from_secs(u64::try_from(seconds).ok()?);
    any.then_some(whole)?.checked_add(Duration::from_micros(u64::try_from(micro).ok()?))
}

/// Writes an `xs:duration`.
pub(crate) fn duration_text(duration: Duration) -> String {
    let (seconds, micros) = (duration.as_secs(), duration.subsec_micros());
    if micros == 0 { format!("PT{seconds}S") } else { format!("PT{seconds}.{micros:06}S") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_wall_clock() {
        // date -u -d ... +%s
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2026-11-22T18:30:00+01:00", 1_795_368_600),
            ("2100-03-01T00:00:00", 4_107_542_400),
            ("1900-02-28T23:59:59-00:30", -2_203_891_201 + 1800),
            ("0001-01-01T00:00:00Z", -62_135_596_800),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] {
            let time = text.parse::<WallClock>().unwrap();
            assert_eq!(time.unix_micros, seconds * 1_000_000, "{text}");
            assert_eq!(time.to_string().parse(), Ok(time), "{text}");
        }
        for wrong in [
            "",
            "2026-11-22",
            "2026-11-22T18:30Z",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-11-22T24:00:00Z",
            "2026-11-22T18:30:60Z",
            "2026-11-22T18:30:00.Z",
            "2026-11-22T18:30:00+1:00",
            "2026-11-22T18:30:00ZZ",
            "26-11-22T18:30:00Z",
            "+026-11-22T18:30:00Z",
            "2026-11-22T18:30:00é",
            "2026-11-22T18:30:00Z05:00",
            "2026-11-22T18:30:00+14:01",
            // The years 10000 and 0 in UTC.
            "9999-12-31T23:59:59-00:30",
            "0001-01-01T00:00:00+14:00",
        ] {
            assert_eq!(wrong.parse::<WallClock>(), Err(WallClockError), "{wrong}");
        }
    }

    #[test]
    fn durations() {
        for (text, micros) in [
            ("PT0S", 0),
            ("PT1.5S", 1_500_000),
            ("PT10M", 600_000_000),
            ("PT1H0M0.000001S", 3_600_000_001),
            ("P1D", 86_400_000_000),
            ("P1DT1S", 86_401_000_000),
        ] {
            let read = duration(text).unwrap();
            assert_eq!(read.as_micros(), micros, "{text}");
            assert_eq!(duration(&duration_text(read)), Some(read));
        }
        for wrong in
            ["", "P", "PT", "P1M", "P1Y", "-PT1S", "PT1", "PT1S1M", "1S", "PT1.S", "PT1.5M", "P1DT"]
        {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }
}
