//! When tracks are clear, and when which key is theirs.

use std::time::Duration;

/// The key periods of a movie: from one to the next, tracks change their keys (key rotation). Periods count
/// from 0, and times from the start of the movie: the decoding time of its first fragment or, in a
/// [package](crate::package), the presentation. A fragment has the keys of the period in which it begins, so
/// that keys change at the first fragment from the start of a period on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyPeriods {
    /// One period for all time: keys do not change.
    #[default]
    Single,
    /// Periods of this duration.
    Every(Duration),
    /// Periods 1, 2, ... begin at these times, which rise.
    From(Vec<Duration>),
}

impl KeyPeriods {
    /// Whether keys change.
    pub fn rotate(&self) -> bool {
        *self != Self::Single
    }

    /// The number of the period at a time.
    pub fn at(&self, time: Duration) -> u32 {
        let number = match self {
            Self::Single => 0,
            Self::Every(duration) => time.as_nanos() / duration.as_nanos().max(1),
            Self::From(starts) => starts.partition_point(|start| *start <= time) as u128,
        };
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// When a period begins; none if there is no such period.
    pub fn start(&self, period: u32) -> Option<Duration> {
        match (self, period) {
            (_, 0) => Some(Duration::ZERO),
            (Self::Single, _) => None,
            (Self::Every(duration), _) => duration.checked_mul(period),
            (Self::From(starts), _) => starts.get(period as usize - 1).copied(),
        }
    }

    /// Refuses periods of no duration.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Self::Every(duration) if *duration < SHORTEST => {
                Err("a key period has at least 1 s (--rotate 60s)".into())
            }
            Self::Single | Self::Every(_) => Ok(()),
            Self::From(starts) => {
                let zero = [Duration::ZERO];
                let before = zero.iter().chain(starts);
                match before.zip(starts).find(|(before, start)| start <= before) {
                    Some((_, start)) => Err(format!(
                        "the key periods do not rise: one begins at {} s, which is not behind the start of \
                         the one before it",
                        start.as_secs_f64()
                    )),
                    None => Ok(()),
                }
            }
        }
    }
}

const SHORTEST: Duration = Duration::from_secs(1);

/// How the access units of a clear lead are said to be clear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClearLead {
    /// By a sample entry of their own, which stands behind the encrypted one.
    #[default]
    SampleEntry,
    /// By a sample group (`seig`, ISO/IEC 23001-7, clause 6).
    SampleGroup,
}

/// What holds for a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeySpan {
    /// It belongs to the clear lead.
    Clear,
    /// It is encrypted with the keys of this period.
    Period(u32),
}

/// When which span is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Schedule {
    pub(crate) lead: Duration,
    pub(crate) periods: KeyPeriods,
}

impl Schedule {
    /// Whether all fragments are alike.
    pub(crate) fn is_constant(&self) -> bool {
        self.lead.is_zero() && !self.periods.rotate()
    }

    /// What holds for a fragment that begins so long after the start of the movie.
    pub(crate) fn at(&self, time: Duration) -> KeySpan {
        if time < self.lead { KeySpan::Clear } else { KeySpan::Period(self.periods.at(time)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_period_holds_from_its_start_on() {
        let every = KeyPeriods::Every(at(60_000));
        let from = KeyPeriods::From(vec![at(60_000), at(120_000), at(180_000)]);
        for periods in [every, from] {
            for (time, period) in [(0, 0), (59, 0), (60, 1), (119, 1), (120, 2), (180, 3)] {
                assert_eq!(periods.at(at(1000 * time)), period);
            }
            assert_eq!(periods.at(at(59999)), 0);
            assert_eq!(periods.start(3), Some(at(180_000)));
        }
        assert_eq!(KeyPeriods::Single.at(at(u64::MAX)), 0);
        assert_eq!(KeyPeriods::From(vec![at(60_000)]).start(2), None);
        assert_eq!(KeyPeriods::Every(at(1)).at(at(u64::MAX)), u32::MAX);
    }

    #[test]
    fn periods_have_durations() {
        let from =
            |starts: &[u64]| KeyPeriods::From(starts.iter().map(|s| at(1000 * *s)).collect());
        for good in [KeyPeriods::Single, KeyPeriods::Every(at(1000)), from(&[]), from(&[1, 2])] {
            assert_eq!(good.check(), Ok(()));
        }
        for bad in [KeyPeriods::Every(at(0)), from(&[0]), from(&[2, 2]), from(&[3, 2])] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_clear_lead_ends_with_the_fragment_that_begins_within() {
        let schedule = Schedule { lead: at(5000), periods: KeyPeriods::Every(at(4000)) };
        assert_eq!(schedule.at(at(0)), KeySpan::Clear);
        assert_eq!(schedule.at(at(4999)), KeySpan::Clear);
        assert_eq!(schedule.at(at(5000)), KeySpan::Period(1));
        assert!(!schedule.is_constant() && Schedule::default().is_constant());
    }
}
