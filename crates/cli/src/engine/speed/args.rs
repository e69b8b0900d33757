//! The command line of `lanelock speed`.

use std::{ffi::OsStr, path::PathBuf};

use clap::{
    Arg, Command, Error, Subcommand, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use lanelock_speed::workload::{KINDS, Keys, Kind, Streams};

/// Measures the engine: cycles per byte, beside what the processor could do.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  lanelock speed                                  an overview, in some seconds
  lanelock speed gcm ctr --size 16,1k,16k         two algorithms
  lanelock speed cbc --level all --lanes 32       32 messages at once, at every level
  lanelock speed aes-128-gcm --aad 13 --size 1k   with the additional data of a TLS record
  lanelock speed rsa x25519                       public keys, one operation and eight at once
  lanelock speed ctr --size 16k --threads 4       four threads, and what they do together
  lanelock speed gcm --json > gcm.jsonl           an object a row
  lanelock speed ctr xts gcm --plot speed.svg     a chart over the message size
  lanelock speed table1                           beside published figures
  lanelock speed arm-table                        the same, of an ARMv8 processor
  lanelock speed sweep cbc --level all            the best number of lanes

A row is the lowest median of several passes; \"spread\" says how far the
highest is above it, in --json as a part of it. \"cycles\" are core cycles for
each message, \"cpb\" for each byte, by the wall clock and a chain of
instructions of known latency around each window. \"of limit\" is the speed as
a part of what the AES and carry-less multiplication units could do with the
instructions that the algorithm needs, measured in the same run. Other programs
only ever make a row slower. The overview shows cycles per byte, and leaves out
rows that are like one beside them."
)]
pub(crate) struct SpeedArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SpeedCommand>,

    /// What to measure, as gcm or aes-128-gcm [default: an overview]
    #[arg(value_name = "ALGORITHM", value_parser = Algorithms(|_| true))]
    pub(crate) algorithms: Vec<Algorithm>,

    /// Message sizes in bytes; k and M are 1024 and 1024 * 1024
    /// [default: 16,64,256,1k,8k,16k,1M; of the overview 16,1k,16k]
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', value_parser = size)]
    pub(crate) size: Vec<usize>,

    /// Messages in each call, with the call for many messages [default: 1, and 32 where there is one]
    #[arg(long, value_name = "N", value_parser = lanes)]
    pub(crate) lanes: Option<usize>,

    /// With several lanes: one key for all, or a key for each
    #[arg(long, value_name = "HOW", default_value = "one")]
    pub(crate) keys: KeysArg,

    /// Key sizes [default: the shortest that there is; of key-expansion all]
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    pub(crate) key_bits: Vec<KeyBits>,

    /// Bytes of additional authenticated data (AAD) with each message of an AEAD
    #[arg(long, value_name = "SIZE", value_parser = aad)]
    pub(crate) aad: Option<usize>,

    /// Threads that do the same at once, each with keys and messages of its own. GB/s is that of all;
    /// there is no limit beside it, since threads may share the units of a core
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    pub(crate) threads: usize,

    /// Writes a chart of the algorithms over the message size, as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) common: SpeedCommonArgs,
}

impl SpeedArgs {
    pub(crate) fn json(&self) -> bool {
        match &self.command {
            None => self.common.json,
            Some(SpeedCommand::Table1(args)) => args.common.json,
            Some(SpeedCommand::ArmTable(args)) => args.common.json,
            Some(SpeedCommand::Sweep(args)) => args.common.json,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum SpeedCommand {
    Table1(Table1Args),
    ArmTable(ArmTableArgs),
    Sweep(SweepArgs),
}

/// Measures AES-128 in six modes over 8 KB at every level, beside the figures of Table 1 in S.
/// Gueron's survey, from Sandy Bridge to Cannon Lake.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lanelock speed table1
  lanelock speed table1 --level vaes512 --json")]
pub(crate) struct Table1Args {
    /// Messages at once in the column of CBC encryption with several streams
    #[arg(long, value_name = "N", default_value = "32", value_parser = lanes)]
    pub(crate) lanes: usize,

    #[command(flatten)]
    pub(crate) common: SpeedCommonArgs,
}

/// Measures AES over 16 B, 1 KiB and 1 MiB with 1, 4 and 8 blocks in flight, beside published figures of
/// an ARMv8 processor, in nanoseconds.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lanelock speed arm-table
  lanelock speed arm-table --level all --key-bits 128 --json

Blocks are encrypted and decrypted each on its own, by vectors of one block.
Under an emulator, as qemu-user, nothing is measured: that is an error.")]
pub(crate) struct ArmTableArgs {
    /// Key sizes [default: all]
    #[arg(long, value_name = "BITS,...", value_delimiter = ',')]
    pub(crate) key_bits: Vec<KeyBits>,

    #[command(flatten)]
    pub(crate) common: SpeedCommonArgs,
}

/// Finds the best number of lanes: measures many messages at once, over how many.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lanelock speed sweep
  lanelock speed sweep cbc --level all --size 1k

The best number is the smallest one within 2 % of the fastest.")]
pub(crate) struct SweepArgs {
    /// What to measure [default: all that have lanes]
    #[arg(value_name = "ALGORITHM", value_parser = Algorithms(has_sweep))]
    pub(crate) algorithms: Vec<Algorithm>,

    /// Bytes in each message; k and M are 1024 and 1024 * 1024
    #[arg(long, value_name = "SIZE", default_value = "8k", value_parser = size)]
    pub(crate) size: usize,

    /// One key for all lanes, or a key for each
    #[arg(long, value_name = "HOW", default_value = "one")]
    pub(crate) keys: KeysArg,

    #[command(flatten)]
    pub(crate) common: SpeedCommonArgs,
}

/// Whether the number of messages in a call is worth finding: operations with public keys fill the lanes.
pub(super) fn has_sweep(kind: &Kind) -> bool {
    kind.streams != Streams::One && !kind.has_public_keys()
}

/// What the measuring commands have in common.
#[derive(Debug, clap::Args)]
pub(crate) struct SpeedCommonArgs {
    /// The level, or all: `lanelock cpu` lists them [default: the one in use; of table1 all]
    #[arg(long, value_name = "NAME")]
    pub(crate) level: Option<String>,

    /// Passes over each row; the lowest median counts
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) passes: u16,

    /// Prints JSON, an object a row
    #[arg(long)]
    pub(crate) json: bool,
}

/// [`Keys`] on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeysArg {
    One,
    Each,
}

impl From<KeysArg> for Keys {
    fn from(keys: KeysArg) -> Self {
        match keys {
            KeysArg::One => Self::One,
            KeysArg::Each => Self::Each,
        }
    }
}

/// Key sizes to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyBits {
    #[value(name = "128")]
    Aes128,
    #[value(name = "192")]
    Aes192,
    #[value(name = "256")]
    Aes256,
    All,
}

impl KeyBits {
    pub(crate) fn includes(self, bits: u16) -> bool {
        match self {
            Self::Aes128 => bits == 128,
            Self::Aes192 => bits == 192,
            Self::Aes256 => bits == 256,
            Self::All => true,
        }
    }
}

/// An algorithm on the command line, by its own name (`gcm`) or by one that has its key size too
/// (`aes-128-gcm`, `AES256-GCM`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Algorithm {
    /// As in [`Kind`].
    pub(crate) name: &'static str,
    /// The key size that the name has.
    pub(crate) key_bits: Option<u16>,
}

/// Reads the names of the algorithms that the function chooses.
#[derive(Clone, Copy)]
struct Algorithms(fn(&Kind) -> bool);

impl Algorithms {
    fn kinds(self) -> impl Iterator<Item = &'static Kind> {
        KINDS.iter().filter(move |kind| (self.0)(kind))
    }

    /// The algorithms' own names, each once.
    fn names(self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.kinds().map(|kind| kind.algorithm).collect();
        names.dedup();
        names
    }

    fn find(self, text: &str) -> Option<Algorithm> {
        let text = text.to_ascii_lowercase();
        let named = |name: &str| self.names().into_iter().find(|known| *known == name);
        if let Some(name) = named(&text) {
            return Some(Algorithm { name, key_bits: None });
        }
        let rest = text.strip_prefix("aes")?;
        let rest = rest.strip_prefix('-').unwrap_or(rest);
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let key_bits = if digits == 0 { None } else { Some(rest[..digits].parse().ok()?) };
        let rest = rest[digits..].trim_start_matches('-');
        let of_key = |kind: &Kind| key_bits.is_none_or(|bits| kind.key_bits.contains(&bits));
        let kind = self.kinds().find(|kind| kind.algorithm == rest && of_key(kind))?;
        Some(Algorithm { name: kind.algorithm, key_bits })
    }
}

impl TypedValueParser for Algorithms {
    type Value = Algorithm;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Algorithm, Error> {
        if let Some(algorithm) = value.to_str().and_then(|text| self.find(text)) {
            return Ok(algorithm);
        }
        // It fails, and names what is near.
        let name = PossibleValuesParser::new(self.names());
        let name = name.parse_ref(command, argument, value)?;
        self.find(&name).ok_or_else(|| Error::new(clap::error::ErrorKind::InvalidValue))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names().into_iter().map(PossibleValue::new)))
    }
}

/// Most bytes in one call.
pub(super) const MOST_BYTES: usize = 1 << 30;

const MOST_AAD: usize = 64 << 10;

fn size(text: &str) -> Result<usize, String> {
    bytes(text)
        .filter(|size| (1..=MOST_BYTES).contains(size))
        .ok_or_else(|| "a size is a number of bytes like 64, 16k or 1M, at most 1024M".into())
}

fn aad(text: &str) -> Result<usize, String> {
    bytes(text)
        .filter(|size| *size <= MOST_AAD)
        .ok_or_else(|| "a number of bytes like 13 or 1k, at most 64k".into())
}

fn bytes(text: &str) -> Option<usize> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[number.len()..] {
        "" | "B" => Some(1),
        "k" | "K" | "kB" | "KB" | "KiB" => Some(1 << 10),
        "m" | "M" | "MB" | "MiB" => Some(1 << 20),
        _ => None,
    };
    number.parse::<usize>().ok()?.checked_mul(unit?)
}

fn threads(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=1024).contains(number));
    number.ok_or_else(|| "a number from 1 to 1024".into())
}

fn lanes(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=4096).contains(number));
    number.ok_or_else(|| "a number from 1 to 4096".into())
}
