//! The command line.

use std::{ffi::OsString, path::PathBuf};

use clap::{ArgAction, Parser, Subcommand, ValueEnum};
use lanelock_packager::{IndexPolicy, Layout, Scheme, Selector, UnclaimedPolicy};
use zeroize::Zeroizing;

use crate::{pssh::unhex, speed::SpeedArgs};

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the input cannot be processed, or a key is missing or wrong; there is no output
  2    the command line is wrong
  3    a file cannot be read or written; there is no output
  130  interrupted; there is no output";

/// Encrypts MP4 and CMAF files for streaming by Common Encryption (ISO/IEC 23001-7), and decrypts
/// and inspects them.
#[derive(Debug, Parser)]
#[command(name = "lanelock", version, after_help = EXIT_CODES, propagate_version = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Encrypt(EncryptArgs),
    Decrypt(DecryptArgs),
    Inspect(InspectArgs),
    Cpu(CpuArgs),
    Speed(SpeedArgs),
}

const ENCRYPT_EXAMPLES: &str = "\
Examples:
  One key for all tracks, from a file of lines KID:KEY:
    lanelock encrypt in.mp4 out.mp4 --scheme cbcs --key-file keys.txt

  A key for video, audio left clear:
    lanelock encrypt in.mp4 out.mp4 --scheme cenc --key video=KID:KEY --clear audio

  Keys from the environment, the result as JSON:
    LANELOCK_KEYS='video=KID:KEY audio=KID:KEY' lanelock encrypt in.mp4 out.mp4 --scheme cbcs --json

Fragmented input keeps its fragments. Progressive input becomes fragmented and QuickTime becomes MP4,
unless --layout keep is given. The output appears when it is complete, or not at all.";

/// Encrypts a file.
#[derive(Debug, clap::Args)]
#[command(after_help = ENCRYPT_EXAMPLES)]
pub(crate) struct EncryptArgs {
    /// The MP4 or CMAF file to encrypt
    pub(crate) input: PathBuf,

    /// The file to write; one that is there is replaced
    pub(crate) output: PathBuf,

    /// The protection scheme
    #[arg(long, short)]
    pub(crate) scheme: SchemeArg,

    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    /// Leaves tracks clear: all, video, audio, text or a track ID. A track without key that is not
    /// named here is an error
    #[arg(long, value_name = "SELECTOR", value_parser = selector)]
    pub(crate) clear: Vec<Selector>,

    /// Blocks encrypted and blocks left clear in turn, in video under cbcs and cens [default: 1:9]
    #[arg(long, value_name = "CRYPT:SKIP", value_parser = pattern)]
    pub(crate) pattern: Option<(u8, u8)>,

    /// The IV in hexadecimal digits, 8 or 16 bytes: the constant one of cbcs, the first one of the
    /// other schemes [default: random]
    #[arg(long, value_name = "HEX", value_parser = iv)]
    pub(crate) iv: Option<IvArg>,

    /// Adds pssh boxes, given whole, one or several: base64, hexadecimal digits, or @FILE with the
    /// boxes themselves or with either of these
    #[arg(long, value_name = "BOX")]
    pub(crate) pssh: Vec<String>,

    /// Leaves out the common (W3C) pssh box, which lists the KIDs
    #[arg(long)]
    pub(crate) no_pssh: bool,

    /// The layout of the output for progressive and QuickTime input
    #[arg(long, default_value = "fragmented")]
    pub(crate) layout: LayoutArg,

    /// Shortest duration of the fragments made from progressive input; each goes on to the next sync
    /// sample
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub(crate) fragment_duration: std::time::Duration,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

const DECRYPT_EXAMPLES: &str = "\
Examples:
  lanelock decrypt in.mp4 out.mp4 --key-file keys.txt
  LANELOCK_KEYS='KID:KEY KID:KEY' lanelock decrypt in.mp4 out.mp4

The KIDs in the file say which key is for what. Decrypting what lanelock has encrypted, fragmented or
with --layout keep, gives back the file that it was, byte for byte (pssh boxes that were there before
are removed).";

/// Decrypts a file.
#[derive(Debug, clap::Args)]
#[command(after_help = DECRYPT_EXAMPLES)]
pub(crate) struct DecryptArgs {
    /// The MP4 or CMAF file to decrypt
    pub(crate) input: PathBuf,

    /// The file to write; one that is there is replaced
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    /// Decrypts with a key that seems wrong, too: when a stream is not what its sample entry says
    #[arg(long)]
    pub(crate) no_key_check: bool,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Where keys come from.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyArgs {
    /// A key: KID and KEY have 32 hexadecimal digits each. SELECTOR says which tracks it is for: all
    /// (that is the default), video, audio, text or a track ID; decryption goes by the KID alone.
    /// Other users of the machine can see it: prefer --key-file
    #[arg(long = "key", short, value_name = "[SELECTOR=]KID:KEY")]
    pub(crate) keys: Vec<Secret>,

    /// A file with a key on each line, in the form of --key; # begins a comment; - is standard input.
    /// Without --key and --key-file, keys come from the environment variable LANELOCK_KEYS
    #[arg(long = "key-file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

impl KeyArgs {
    /// Whether there are keys on the command line. The environment variable does not count.
    pub(crate) fn is_given(&self) -> bool {
        !self.keys.is_empty() || !self.files.is_empty()
    }
}

/// What encryption and decryption have in common.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of a command line")]
pub(crate) struct CommonArgs {
    /// The whole blocks of a crypt run that is cut short by the end of its range: clear (FFmpeg,
    /// mp4ff) or encrypted (Shaka Packager, Bento4, GPAC). Patterns like 1:9 and 10:0 have none
    #[arg(long, value_name = "HOW", default_value = "clear")]
    pub(crate) truncated_runs: TruncatedRuns,

    /// Takes media data that no sample and no item refers to as they are: clear, and left out of new
    /// fragments. Without this option they are an error
    #[arg(long)]
    pub(crate) keep_unclaimed: bool,

    /// The segment indexes (sidx) of fragmented input: keep them, build one for the whole file, or drop
    /// them. A file that is made fragmented gets one, unless they are dropped
    #[arg(long, value_name = "HOW", default_value = "keep")]
    pub(crate) sidx: SidxArg,

    /// Threads [default: one for each core, at most 4]
    #[arg(long, value_name = "N")]
    pub(crate) workers: Option<std::num::NonZeroUsize>,

    /// Makes sure that the output is on the disk before it appears under its name
    #[arg(long)]
    pub(crate) sync: bool,

    /// Prints the summary as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,

    /// Prints neither summary, progress nor warnings
    #[arg(long, short, action = ArgAction::SetTrue)]
    pub(crate) quiet: bool,

    /// Shows no progress bar; there is one only if standard error is a terminal
    #[arg(long)]
    pub(crate) no_progress: bool,
}

impl CommonArgs {
    pub(crate) fn unclaimed(&self) -> UnclaimedPolicy {
        if self.keep_unclaimed { UnclaimedPolicy::Keep } else { UnclaimedPolicy::Refuse }
    }
}

/// Says what a file is: tracks, codecs, protection, fragments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lanelock inspect out.mp4
  lanelock inspect out.mp4 --json | jq '.tracks[].protection.kids'
  lanelock inspect out.mp4 --key-file keys.txt

With --key or --key-file, the file is decrypted and what comes out is looked at, without writing it: whether each key
fits. The exit code is 1 if one surely does not.")]
pub(crate) struct InspectArgs {
    /// The file
    pub(crate) input: PathBuf,

    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    /// As for decrypt
    #[arg(long, value_name = "HOW", default_value = "clear")]
    pub(crate) truncated_runs: TruncatedRuns,

    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Says which instruction-set levels this processor has, and which one is used.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
LANELOCK_LEVEL=NAME makes every command use that level.")]
pub(crate) struct CpuArgs {
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

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

fn selector(text: &str) -> Result<Selector, String> {
    // The error of the packager repeats the text, which clap does already.
    text.parse().map_err(|_| "expected all, video, audio, text or a track ID".into())
}

fn pattern(text: &str) -> Result<(u8, u8), String> {
    let parse = || {
        let (crypt, skip) = text.split_once(':')?;
        let pattern: (u8, u8) = (crypt.parse().ok()?, skip.parse().ok()?);
        ((1..=15).contains(&pattern.0) && pattern.1 <= 15).then_some(pattern)
    };
    parse().ok_or_else(|| "CRYPT is 1 to 15, SKIP 0 to 15, as in 1:9".into())
}

fn iv(text: &str) -> Result<IvArg, String> {
    match unhex(text) {
        Some(bytes) if matches!(bytes.len(), 8 | 16) => Ok(IvArg(bytes)),
        _ => Err("an IV has 16 or 32 hexadecimal digits".into()),
    }
}

fn seconds(text: &str) -> Result<std::time::Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok())
        .filter(|seconds| !seconds.is_zero())
        .ok_or_else(|| "seconds are a number above 0, like 2 or 0.5".into())
}
