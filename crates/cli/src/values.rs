//! Values of options, and how they are read.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    num::NonZeroUsize,
    str::FromStr,
    time::Duration,
};

use clap::{
    ValueEnum,
    builder::{EnumValueParser, PossibleValue, TypedValueParser},
};
use lanelock_packager::{
    ClearLead, EncryptOptions, IndexPolicy, KeyPeriods, Layout, PictureLimits, Scheme, Selector,
    SelectorError,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use zeroize::Zeroizing;

use crate::pssh::unhex;

/// Text that may hold a key: wiped when it is dropped, and never shown.
#[derive(Clone)]
pub(crate) struct Secret(Zeroizing<String>);

impl Secret {
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl From<OsString> for Secret {
    /// Text that is not UTF-8 becomes "", which parsing rejects.
    fn from(text: OsString) -> Self {
        Self(Zeroizing::new(text.into_string().unwrap_or_default()))
    }
}

impl core::fmt::Debug for Secret {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secret")
    }
}

/// [`Scheme`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchemeArg {
    /// AES-CTR
    Cenc,
    /// AES-CTR with a pattern; players differ in how they read it
    Cens,
    /// AES-CBC
    Cbc1,
    /// AES-CBC with a pattern: required by Apple's players, taken by all newer ones
    Cbcs,
}

impl From<SchemeArg> for Scheme {
    fn from(scheme: SchemeArg) -> Self {
        match scheme {
            SchemeArg::Cenc => Self::Cenc,
            SchemeArg::Cens => Self::Cens,
            SchemeArg::Cbc1 => Self::Cbc1,
            SchemeArg::Cbcs => Self::Cbcs,
        }
    }
}

/// Reads a [`SchemeArg`], and says of several where they can be given.
#[derive(Clone)]
pub(crate) struct OneScheme;

impl TypedValueParser for OneScheme {
    type Value = SchemeArg;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<SchemeArg, clap::Error> {
        if value.to_string_lossy().contains(',') {
            let text = format!(
                "--scheme {}: a file has one scheme; lanelock package makes a stream with both, cbcs,cenc\n",
                value.to_string_lossy()
            );
            let error = clap::Error::raw(clap::error::ErrorKind::ValueValidation, text);
            return Err(error.with_cmd(command));
        }
        EnumValueParser::<SchemeArg>::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let all = SchemeArg::value_variants().iter();
        Some(Box::new(all.filter_map(ValueEnum::to_possible_value)))
    }
}

/// [`Layout`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LayoutArg {
    /// Fragments that begin at sync samples
    Fragmented,
    /// Progressive or QuickTime, as it is
    Keep,
}

impl From<LayoutArg> for Layout {
    fn from(layout: LayoutArg) -> Self {
        match layout {
            LayoutArg::Fragmented => Self::Fragmented,
            LayoutArg::Keep => Self::Keep,
        }
    }
}

/// [`IndexPolicy`] on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SidxArg {
    /// As they are; one that does not match its file is built anew or left out, with a warning
    Keep,
    /// One for the whole file, in the place of all others
    Build,
    /// None
    Drop,
}

impl From<SidxArg> for IndexPolicy {
    fn from(sidx: SidxArg) -> Self {
        match sidx {
            SidxArg::Keep => Self::Keep,
            SidxArg::Build => Self::Build,
            SidxArg::Drop => Self::Drop,
        }
    }
}

/// [`ClearLead`] on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ClearLeadArg {
    /// By a clear sample entry behind the encrypted one
    Entry,
    /// By a sample group (seig), which leaves the sample entries as they are
    Group,
}

impl From<ClearLeadArg> for ClearLead {
    fn from(form: ClearLeadArg) -> Self {
        match form {
            ClearLeadArg::Entry => Self::SampleEntry,
            ClearLeadArg::Group => Self::SampleGroup,
        }
    }
}

/// [`PictureLimits`] on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PictureLimitsArg(pub(crate) PictureLimits);

impl FromStr for PictureLimitsArg {
    type Err = String;

    /// Reads `sd=768x576,hd=1920x1080`, or numbers of pixels; what is not named keeps its default.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut limits = PictureLimits::default();
        for part in text.split(',') {
            let (class, size) = part.split_once('=').ok_or(PICTURE_LIMITS)?;
            let pixels = match size.split_once('x') {
                Some((width, height)) => {
                    let sides = (width.trim().parse::<u32>(), height.trim().parse::<u32>());
                    let (Ok(width), Ok(height)) = sides else { return Err(PICTURE_LIMITS.into()) };
                    u64::from(width) * u64::from(height)
                }
                None => size.trim().parse().map_err(|_| PICTURE_LIMITS)?,
            };
            match class.trim() {
                "sd" => limits.sd = pixels,
                "hd" => limits.hd = pixels,
                "uhd1" => limits.uhd1 = pixels,
                _ => return Err(PICTURE_LIMITS.into()),
            }
        }
        let PictureLimits { sd, hd, uhd1, .. } = limits;
        PictureLimits::new(sd, hd, uhd1).map(Self).ok_or_else(|| {
            format!("the limits do not rise: sd has {sd} pixels, hd {hd}, uhd1 {uhd1}")
        })
    }
}

impl fmt::Display for PictureLimitsArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PictureLimits { sd, hd, uhd1, .. } = self.0;
        write!(f, "sd={sd},hd={hd},uhd1={uhd1}")
    }
}

const PICTURE_LIMITS: &str =
    "limits are CLASS=WIDTHxHEIGHT with the classes sd, hd and uhd1, as in sd=768x576,hd=1920x1080";

/// When keys change, and which pictures they are for.
pub(crate) struct KeyTimes {
    pub(crate) rotate: Option<Length>,
    pub(crate) clear_lead: Option<Length>,
    pub(crate) clear_lead_form: Option<ClearLeadArg>,
    pub(crate) picture_limits: Option<PictureLimitsArg>,
}

impl KeyTimes {
    /// Says so in options.
    pub(crate) fn of(&self, mut options: EncryptOptions) -> EncryptOptions {
        if let Some(Length(duration)) = self.rotate {
            options = options.with_key_periods(KeyPeriods::Every(duration));
        }
        if let Some(Length(duration)) = self.clear_lead {
            options = options.with_clear_lead(duration);
        }
        if let Some(form) = self.clear_lead_form {
            options = options.with_clear_lead_form(form.into());
        }
        if let Some(PictureLimitsArg(limits)) = self.picture_limits {
            options = options.with_picture_limits(limits);
        }
        options
    }
}

/// How to read a truncated crypt run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TruncatedRuns {
    Clear,
    Encrypt,
}

/// A value that has a text form, in a job as on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text<T>(pub(crate) T);

impl<T: FromStr> FromStr for Text<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        text.parse().map(Self)
    }
}

impl<T: fmt::Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(de::Error::custom)
    }
}

/// A duration: seconds, or with a unit (ms, s, m, h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length(pub(crate) Duration);

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = match text.strip_suffix("ms") {
            Some(number) => (number, 1e-3),
            None => [("s", 1.0), ("m", 60.0), ("h", 3600.0)]
                .into_iter()
                .find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))
                .unwrap_or((text, 1.0)),
        };
        let seconds = number.trim().parse::<f64>().ok().map(|number| number * unit);
        seconds
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .filter(|duration| !duration.is_zero())
            .map(Self)
            .ok_or_else(|| {
                "a duration is a number of seconds above 0, like 6s, 1.5s, 1500ms or 10m".into()
            })
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s", self.0.as_secs_f64())
    }
}

/// The bytes of an IV.
#[derive(Clone, Debug)]
pub(crate) struct IvArg(pub(crate) Vec<u8>);

pub(crate) fn selector(text: &str) -> Result<Selector, String> {
    text.parse().map_err(|error: SelectorError| error.to_string())
}

pub(crate) fn pattern(text: &str) -> Result<(u8, u8), String> {
    let parse = || {
        let (crypt, skip) = text.split_once(':')?;
        let pattern: (u8, u8) = (crypt.parse().ok()?, skip.parse().ok()?);
        ((1..=15).contains(&pattern.0) && pattern.1 <= 15).then_some(pattern)
    };
    parse().ok_or_else(|| "CRYPT is 1 to 15, SKIP 0 to 15, as in 1:9".into())
}

pub(crate) fn iv(text: &str) -> Result<IvArg, String> {
    match unhex(text) {
        Some(bytes) if matches!(bytes.len(), 8 | 16) => Ok(IvArg(bytes)),
        _ => Err("an IV has 16 or 32 hexadecimal digits".into()),
    }
}

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|seconds| !seconds.is_zero())
        .ok_or_else(|| "seconds are a number above 0, like 2 or 0.5".into())
}

pub(crate) fn mebibytes(text: &str) -> Result<u64, String> {
    let read = text.parse::<u64>().ok().filter(|mib| (1..=1 << 20).contains(mib));
    read.map(|mib| mib << 20).ok_or_else(|| "MIB is 1 to 1048576".into())
}

pub(crate) fn workers(text: &str) -> Result<NonZeroUsize, String> {
    let what = "N is a number from 1 on; without --workers, there is one for each core, at most 4";
    text.parse().map_err(|_| what.into())
}

/// An origin, as browsers send it (RFC 6454, 7): scheme, host and, if it is not the usual one, port.
pub(crate) fn origin(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let good = host.is_some_and(|host| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte);
        !host.is_empty() && host.bytes().all(allowed)
    });
    let what =
        "an origin is https://HOST or http://HOST, with :PORT if need be, and without a path";
    if good { Ok(text.to_ascii_lowercase()) } else { Err(what.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanelock_testkit::{Mutator, Rng, mutants};

    fn again<T: FromStr + fmt::Display + fmt::Debug + PartialEq>(text: &str) {
        if let Ok(value) = text.parse::<T>() {
            assert_eq!(value.to_string().parse().ok(), Some(value), "{text:?}");
        }
    }

    /// Values of any text: read or refused, and what is printed is read as the same.
    #[test]
    fn damaged_values() {
        const SEEDS: [&str; 14] = [
            "sd=768x576,hd=1920x1080,uhd1=4096x2160",
            "sd=100,hd=18446744073709551615",
            "1500ms",
            "1.5s",
            "10m",
            "2h",
            "1e300",
            "0.000000001",
            "1:9",
            "15:15",
            "00112233445566778899aabbccddeeff",
            "1048576",
            "https://player.example:8080",
            "http://[::1]",
        ];
        let mut rng = Rng::from_env("damaged_values");
        let mut read = 0;
        for number in 0..mutants(20_000) {
            let seed = *rng.pick(&SEEDS);
            let bytes = if number < SEEDS.len() {
                SEEDS[number].as_bytes().to_vec()
            } else {
                Mutator::of_head(seed.as_bytes(), usize::MAX).mutant(&mut rng)
            };
            let text = String::from_utf8_lossy(&bytes);
            again::<PictureLimitsArg>(&text);
            again::<Length>(&text);
            if let Ok((crypt, skip)) = pattern(&text) {
                assert!((1..=15).contains(&crypt) && skip <= 15, "{text:?}");
                read += 1;
            }
            if let Ok(IvArg(bytes)) = iv(&text) {
                assert!(bytes.len() == 8 || bytes.len() == 16, "{text:?}");
            }
            if let Ok(bytes) = mebibytes(&text) {
                assert!((1 << 20..=1 << 40).contains(&bytes), "{text:?}");
            }
            if let Ok(value) = origin(&text) {
                assert!(!value.contains(|c: char| c.is_whitespace() || c.is_control()), "{text:?}");
            }
            let _ = (seconds(&text), workers(&text), selector(&text));
        }
        assert!(read > 0, "no pattern was read");
    }
}
