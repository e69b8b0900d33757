//! The command line of `lanelock package`.

use std::path::PathBuf;

use crate::{cpix_args::CpixArgs, job::Job, run_args::RunArgs, values::Secret};

const EXAMPLES: &str = "\
Examples:
  New keys, and a ladder with two languages and subtitles for all players:
    lanelock keys new video audio -o keys.txt
    lanelock package 1080p.mp4 720p.mp4 360p.mp4 en.mp4 de.mp4 en.vtt -o stream/ \\
      --scheme cbcs --key-file keys.txt --drm widevine,playready,fairplay --skd skd://{kid}

  One file for each track, read by byte ranges; segments of 4 seconds:
    lanelock package movie.mp4 -o stream/ --layout single --segment 4s \\
      --scheme cenc --key-file keys.txt

  Which tracks, and what players are told of them:
    lanelock package movie.mp4 en.vtt -o stream/ --scheme cbcs --key-file keys.txt \\
      --track type=video --track 'type=audio,language=de:label=Deutsch,role=dub' \\
      --track 'type=audio,id=3:name=description,accessibility=description' \\
      --track 'file=en.vtt:language=en,label=English (SDH),accessibility=sdh'

  The same as a file, and from it:
    lanelock package ... --print-job > job.toml
    lanelock package --job job.toml --key-file keys.txt

  What would be made, without making it:
    lanelock package movie.mp4 -o stream/ --scheme cbcs --key-file keys.txt --dry-run

The folder gets manifest.mpd (DASH) and main.m3u8 (HLS), which share the media
files (CMAF). It appears when all of it is complete, or not at all.

Renditions of one video must have sync samples where segments begin: encode
them with key frames at the same times (ffmpeg -force_key_frames
'expr:gte(t,n_forced*2)').

Live streams, appending to a stream and MPEG-TS are not supported.";

/// Makes streams for DASH and HLS from the files of a ladder.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "lanelock package [OPTIONS] INPUT... -o DIR\n       \
                      lanelock package [OPTIONS] --job FILE"
)]
pub(crate) struct PackageArgs {
    #[command(flatten)]
    pub(crate) job: Job,

    /// A key, as for encrypt. Other users of the machine can see it: prefer --key-file
    #[arg(long = "key", short, value_name = "[SELECTOR=]KID:KEY")]
    pub(crate) keys: Vec<Secret>,

    #[command(flatten)]
    pub(crate) cpix: CpixArgs,

    /// Reads options from a file (TOML), whose names are those of the command line and whose paths are
    /// relative to its folder. Options of the command line go over them, and add to inputs, keys and tracks
    #[arg(long = "job", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Prints the job of this command line as a file, and does nothing. Keys of --key are not in it
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) print_job: bool,

    /// Reads the inputs, says what would be made, and makes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) run: RunArgs,
}
