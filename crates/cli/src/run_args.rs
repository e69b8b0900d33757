//! Options of runs, which several commands have.

use clap::ArgAction;
use lanelock_packager::Writes;

use crate::values::{mebibytes, workers};

/// How a run goes, and what it says.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of a command line")]
pub(crate) struct RunArgs {
    /// Threads [default: one for each core, at most 4]
    #[arg(long, value_name = "N", value_parser = workers)]
    pub(crate) workers: Option<std::num::NonZeroUsize>,

    /// The most memory for the input, in MiB; a fragment that must be in memory whole may be larger
    /// [default: 24]
    #[arg(long, value_name = "MIB", value_parser = mebibytes)]
    pub(crate) memory: Option<u64>,

    /// Lets one thread write at a time: less processor time, and longer
    #[arg(long)]
    pub(crate) write_turns: bool,

    /// Makes sure that the output is on the disk before it appears under its name
    #[arg(long)]
    pub(crate) sync: bool,

    /// Prints the summary as JSON on standard output; on standard error if that is the output. Of each
    /// track it has scheme, KID and the (constant or first) IV, for a key server. For outputs in a folder
    /// of -o it is an array of objects with input, output, and summary or error
    #[arg(long)]
    pub(crate) json: bool,

    /// Says where the time went, too: each stage's share of it
    #[arg(long, short, conflicts_with_all = ["quiet", "json"])]
    pub(crate) verbose: bool,

    /// Prints neither summary, progress nor warnings
    #[arg(long, short, action = ArgAction::SetTrue)]
    pub(crate) quiet: bool,

    /// Shows no progress bar; there is one only if standard error is a terminal
    #[arg(long)]
    pub(crate) no_progress: bool,
}

impl RunArgs {
    pub(crate) fn writes(&self) -> Writes {
        if self.write_turns { Writes::InTurns } else { Writes::SideBySide }
    }
}
