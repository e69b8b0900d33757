//! Numbers as people read them.

/// Bytes in decimal units.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    scaled(float(bytes), &UNITS)
}

/// A rate in bits a second.
pub(crate) fn bit_rate(bytes: u64, seconds: f64) -> Option<String> {
    const UNITS: [&str; 3] = ["kb/s", "Mb/s", "Gb/s"];
    (seconds > 0.0 && bytes > 0).then(|| scaled(float(bytes) * 8.0 / seconds, &UNITS))
}

/// A rate in bytes a second.
pub(crate) fn byte_rate(bytes: u64, seconds: f64) -> String {
    const UNITS: [&str; 4] = ["kB/s", "MB/s", "GB/s", "TB/s"];
    scaled(if seconds > 0.0 { float(bytes) / seconds } else { 0.0 }, &UNITS)
}

/// Seconds, with hours and minutes where there are some.
pub(crate) fn duration(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.3} s");
    }
    // Rounded once, so that 59.9996 s do not become 60.000 s.
    let millis = (seconds * 1000.0).round();
    let (minutes, rest) = ((millis / 60_000.0).floor(), millis % 60_000.0 / 1000.0);
    let (hours, minutes) = ((minutes / 60.0).floor(), minutes % 60.0);
    if hours > 0.0 {
        format!("{hours}:{minutes:02}:{rest:06.3}")
    } else {
        format!("{minutes}:{rest:06.3}")
    }
}

/// A number and its noun.
pub(crate) fn count(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
pub(crate) fn float(number: u64) -> f64 {
    number as f64
}

/// Three digits that count.
fn scaled(number: f64, units: &[&str]) -> String {
    let mut number = number / 1000.0;
    let mut units = units.iter();
    let mut unit = units.next().copied().unwrap_or_default();
    for next in units {
        if number < 999.5 {
            break;
        }
        number /= 1000.0;
        unit = next;
    }
    let places = if number < 9.995 { 2 } else { usize::from(number < 99.95) };
    format!("{number:.places$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1000), "1.00 kB");
        assert_eq!(bytes(9_999), "10.0 kB");
        assert_eq!(bytes(999_499), "999 kB");
        assert_eq!(bytes(999_500), "1.00 MB");
        assert_eq!(bytes(240_000_000), "240 MB");
        assert_eq!(bytes(u64::MAX), "18446744 TB");
        assert_eq!(bit_rate(1_000_000, 4.0).unwrap(), "2.00 Mb/s");
        assert_eq!(bit_rate(1, 0.0), None);
        assert_eq!(byte_rate(346_000, 0.002), "173 MB/s");
        assert_eq!(byte_rate(240_000_000, 0.1), "2.40 GB/s");
        assert_eq!(byte_rate(5_000, 1.0), "5.00 kB/s");
        assert_eq!(byte_rate(5_000, 0.0), "0.00 kB/s");
    }

    #[test]
    fn times() {
        assert_eq!(duration(5.28), "5.280 s");
        assert_eq!(duration(60.0), "1:00.000");
        assert_eq!(duration(3661.5), "1:01:01.500");
        assert_eq!(duration(119.9999), "2:00.000");
    }
}
