//! The command line of `lanelock keys`.

use std::path::PathBuf;

use clap::Subcommand;
use lanelock_packager::drm::System;

use crate::values::{PictureLimitsArg, SchemeArg, Secret};

/// Makes keys, and the boxes by which players find them.
#[derive(Debug, clap::Args)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    New(NewKeysArgs),
    Pssh(PsshArgs),
    Cpix(KeysCpixArgs),
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
  lanelock keys new sd hd audio -o keys.txt
  lanelock keys new --periods 24 video audio -o keys.txt
  lanelock keys new video audio -o keys.txt --json

A line of the output is KID:KEY, SELECTOR=KID:KEY or, with --periods,
SELECTOR@PERIOD=KID:KEY, as --key-file reads it.
Without -o, keys go to standard output: redirect it to where nobody else reads.
With -o FILE and --json, the file has the lines, and standard output an array
of objects with the KIDs alone, for a key server or a manifest."
)]
pub(crate) struct NewKeysArgs {
    /// How many keys [default: 1], or the tracks that they are for, a key for each: all, video, audio,
    /// other, sd, hd, uhd, uhd1, uhd2 or a codec (hvc1)
    #[arg(value_name = "N|SELECTOR")]
    pub(crate) what: Vec<String>,

    /// A key for each of so many key periods, for keys that change (--rotate)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) periods: Option<u32>,

    /// A new file, which nobody else may read; one that is there is not replaced. - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Prints an array of objects with selector, kid and, without -o, key
    #[arg(long)]
    pub(crate) json: bool,
}

/// Makes pssh boxes from scheme and keys, or shows what is in boxes, whoever made them.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "lanelock keys pssh [OPTIONS] --scheme <SCHEME>\n       \
                      lanelock keys pssh [OPTIONS] --read <BOX>",
    after_help = "\
Examples:
  lanelock keys pssh --scheme cbcs --drm widevine,playready --key-file keys.txt
  lanelock keys pssh --scheme cenc --drm playready --key-file keys.txt --json
  lanelock keys pssh --read AAAANHBzc2gBAAAAEHfv7MCyTQKs4zweUuL7SwAAAAFAYKhliHhCZ5y/ka5brh5yAAAAAA==
  lanelock keys pssh --read @box.bin

A line of the output is a system and its box in base64, as --pssh,
ContentProtection of DASH and EXT-X-KEY of HLS take it. Keys are needed for
PlayReady's checksums; no box has a key in it."
)]
pub(crate) struct PsshArgs {
    /// The protection scheme that the boxes are for
    #[arg(long, short, ignore_case = true, required_unless_present = "read")]
    pub(crate) scheme: Option<SchemeArg>,

    /// The protection systems: common (W3C), widevine, playready or clearkey
    #[arg(long, value_name = "SYSTEM,...", value_delimiter = ',', default_value = "common")]
    pub(crate) drm: Vec<System>,

    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    /// Shows what is in boxes: base64, hexadecimal digits, or @FILE
    #[arg(long, value_name = "BOX", conflicts_with_all = ["scheme", "drm", "keys", "files"])]
    pub(crate) read: Vec<String>,

    /// Prints an array of objects with system, system_id, kids, details and box
    #[arg(long)]
    pub(crate) json: bool,
}

/// Writes a CPIX document of keys, for another packager or a key server.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "lanelock keys cpix [OPTIONS] --key-file <FILE> -o <FILE>",
    after_help = "\
Examples:
  lanelock keys cpix --key-file keys.txt --scheme cbcs -o keys.xml
  lanelock keys cpix --key-file keys.txt --scheme cbcs --drm widevine,playready \\
    --content-id film-7 -o keys.xml
  lanelock encrypt in.mp4 out.mp4 --scheme cbcs --cpix keys.xml

The keys are in the document as they are (PlainValue): whoever reads it has
them. Selectors become usage rules: video, audio, and sd, hd, uhd, uhd1 and
uhd2, whose sizes --picture-limits gives; key periods become ContentKeyPeriod
with an index, and --rotate says at encryption how long one is."
)]
pub(crate) struct KeysCpixArgs {
    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    /// The protection scheme that the keys are for; --any-scheme leaves it open
    #[arg(long, short, ignore_case = true, required_unless_present = "any_scheme")]
    pub(crate) scheme: Option<SchemeArg>,

    /// Does not say which scheme the keys are for; then there are no pssh boxes (--drm)
    #[arg(long, conflicts_with_all = ["scheme", "drm"])]
    pub(crate) any_scheme: bool,

    /// Adds the pssh boxes of these protection systems, one for each key
    #[arg(long, value_name = "SYSTEM,...", value_delimiter = ',')]
    pub(crate) drm: Vec<System>,

    /// What the keys protect
    #[arg(long, value_name = "ID")]
    pub(crate) content_id: Option<String>,

    /// The largest pictures of the classes that selectors name
    /// [default: sd=768x576,hd=1920x1080,uhd1=4096x2160]
    #[arg(long, value_name = "CLASS=WxH,...")]
    pub(crate) picture_limits: Option<PictureLimitsArg>,

    /// A new file, which nobody else may read; one that is there is not replaced. - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Where keys come from.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyArgs {
    /// A key, or several with commas between them: KID and KEY have 32 hexadecimal digits each; a KID may
    /// be a GUID, a key base64, and the whole label=LABEL:key_id=KID:key=KEY, as for Shaka Packager.
    /// SELECTOR says which tracks it is for: all (that is the default), video, audio, other, video by the
    /// size of its pictures (sd, hd, uhd, uhd1, uhd2), a codec (hvc1) or a track ID; here it must select
    /// one. Behind it, @N says for which key period, from 0. Decryption goes by the KID alone. Other users
    /// of the machine can see it: prefer --key-file
    #[arg(long = "key", short, value_name = "[SELECTOR=]KID:KEY")]
    pub(crate) keys: Vec<Secret>,

    /// A file with a key on each line, in the form of --key; # begins a comment; - is standard input. It
    /// may have keys for tracks that are not there. Without --key and --key-file, keys come from the
    /// environment variable LANELOCK_KEYS
    #[arg(long = "key-file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

impl KeyArgs {
    /// Whether there are keys on the command line. The environment variable does not count.
    pub(crate) fn is_given(&self) -> bool {
        !self.keys.is_empty() || !self.files.is_empty()
    }
}

/// Where the new keys come from.
#[derive(Debug, clap::Args)]
pub(crate) struct ToKeyArgs {
    /// A new key, in the form of --key; SELECTOR says which tracks it is for. Prefer --to-key-file
    #[arg(long = "to-key", value_name = "[SELECTOR=]KID:KEY")]
    pub(crate) to_keys: Vec<Secret>,

    /// A file with a new key on each line; - is standard input. Without --to-key and --to-key-file, new
    /// keys come from the environment variable LANELOCK_TO_KEYS
    #[arg(long = "to-key-file", value_name = "FILE")]
    pub(crate) to_files: Vec<PathBuf>,
}

impl KeysArgs {
    pub(crate) fn json(&self) -> bool {
        match &self.command {
            KeysCommand::New(args) => args.json,
            KeysCommand::Pssh(args) => args.json,
            KeysCommand::Cpix(_) => false,
        }
    }
}
