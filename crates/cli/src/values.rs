//! Values of options, and how they are read.

use std::{ffi::OsString, num::NonZeroUsize};

use clap::ValueEnum;
use lanelock_packager::{IndexPolicy, Layout, Scheme, Selector, SelectorError};
use serde::{Deserialize, Serialize};
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
#[derive(Clone, Copy, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

/// How to read a truncated crypt run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TruncatedRuns {
    Clear,
    Encrypt,
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

pub(crate) fn seconds(text: &str) -> Result<std::time::Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok())
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
