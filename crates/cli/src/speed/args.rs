//! The command line of `lanelock speed`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum, builder::PossibleValuesParser};
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
  lanelock speed gcm --json > gcm.jsonl           an object a row
  lanelock speed ctr xts gcm --plot speed.svg     a chart over the message size
  lanelock speed table1                           beside published figures
  lanelock speed sweep cbc --level all            the best number of lanes

A row is the lowest median of several passes; \"spread\" says how far the highest is above it, in
--json as a part of it. \"cycles\" are core cycles for each message, \"cpb\" for each byte, by the wall
clock and a chain of instructions of known latency around each window. \"of limit\" is the speed as a
part of what the AES and carry-less multiplication units could do with the instructions that the
algorithm needs, measured in the same run. Other programs only ever make a row slower."
)]
pub(crate) struct SpeedArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SpeedCommand>,

    /// What to measure [default: an overview of all]
    #[arg(value_name = "ALGORITHM", value_parser = algorithms(|_| true))]
    pub(crate) algorithms: Vec<String>,

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
            Some(SpeedCommand::Sweep(args)) => args.common.json,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum SpeedCommand {
    Table1(Table1Args),
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

/// Finds the best number of lanes: measures many messages at once, over how many.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lanelock speed sweep
  lanelock speed sweep cbc --level all --size 1k

The best number is the smallest one within 2 % of the fastest.")]
pub(crate) struct SweepArgs {
    /// What to measure [default: all that have lanes]
    #[arg(value_name = "ALGORITHM", value_parser = algorithms(|kind| kind.streams != Streams::One))]
    pub(crate) algorithms: Vec<String>,

    /// Bytes in each message; k and M are 1024 and 1024 * 1024
    #[arg(long, value_name = "SIZE", default_value = "8k", value_parser = size)]
    pub(crate) size: usize,

    /// One key for all lanes, or a key for each
    #[arg(long, value_name = "HOW", default_value = "one")]
    pub(crate) keys: KeysArg,

    #[command(flatten)]
    pub(crate) common: SpeedCommonArgs,
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

/// The names of the algorithms that `choose` takes, each once.
fn algorithms(choose: fn(&Kind) -> bool) -> PossibleValuesParser {
    let mut names: Vec<_> = KINDS.iter().filter(|kind| choose(kind)).map(|k| k.algorithm).collect();
    names.dedup();
    PossibleValuesParser::new(names)
}

/// Most bytes in one call.
pub(super) const MOST_BYTES: usize = 1 << 30;

fn size(text: &str) -> Result<usize, String> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[number.len()..] {
        "" | "B" => Some(1),
        "k" | "K" | "kB" | "KB" | "KiB" => Some(1 << 10),
        "m" | "M" | "MB" | "MiB" => Some(1 << 20),
        _ => None,
    };
    number
        .parse::<usize>()
        .ok()
        .zip(unit)
        .and_then(|(number, unit)| number.checked_mul(unit))
        .filter(|size| (1..=MOST_BYTES).contains(size))
        .ok_or_else(|| "a size is a number of bytes like 64, 16k or 1M, at most 1024M".into())
}

fn lanes(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=4096).contains(number));
    number.ok_or_else(|| "a number from 1 to 4096".into())
}
