//! The command line of `lanelock keys`.

use std::path::PathBuf;

use clap::Subcommand;

/// Makes keys.
#[derive(Debug, clap::Args)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    New(NewKeysArgs),
}

/// Makes keys and KIDs from the random generator of the system.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "lanelock keys new [OPTIONS] [N]\n       \
                      lanelock keys new [OPTIONS] SELECTOR...",
    after_help = "\
Examples:
  lanelock keys new -o keys.txt
  lanelock keys new video audio -o keys.txt
  lanelock keys new 100 | ...
  lanelock keys new video audio -o keys.txt --json

A line of the output is KID:KEY or SELECTOR=KID:KEY, as --key-file reads it. Without -o, keys go to
standard output: redirect it to where nobody else reads. With -o FILE and --json, the file has the
lines, and standard output an array of objects with the KIDs alone, for a key server or a manifest."
)]
pub(crate) struct NewKeysArgs {
    /// How many keys [default: 1], or the tracks that they are for, a key for each: all, video, audio,
    /// other or a codec (hvc1)
    #[arg(value_name = "N|SELECTOR")]
    pub(crate) what: Vec<String>,

    /// A new file, which nobody else may read; one that is there is not replaced. - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Prints an array of objects with selector, kid and, without -o, key
    #[arg(long)]
    pub(crate) json: bool,
}

impl KeysArgs {
    pub(crate) fn json(&self) -> bool {
        let KeysCommand::New(args) = &self.command;
        args.json
    }
}
