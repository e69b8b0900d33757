//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use lanelock_packager::{Selector, UnclaimedPolicy, drm::System};

use crate::{
    cpix_args::CpixArgs,
    engine::{SelfTestArgs, SpeedArgs},
    generated::{CompletionsArgs, ManArgs},
    key_args::{KeyArgs, KeysArgs, ToKeyArgs},
    package_args::PackageArgs,
    play_args::PlayArgs,
    run_args::RunArgs,
    sum_args::SumArgs,
    values::{
        ClearLeadArg, IvArg, LayoutArg, Length, OneScheme, PictureLimitsArg, SchemeArg, SidxArg,
        TruncatedRuns, iv, pattern, seconds, selector,
    },
};

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the input cannot be processed, or a key is missing or wrong; there is no output
  2    the command line is wrong
  3    a file cannot be read or written; there is no output
  130  interrupted; there is no output
Where the output is standard output, it has what was written before the error.
If nothing but the summary of --json cannot be written, the output is there and
the code is 3.
Of several inputs, the others have their outputs, and the exit code is that of
the first failure.";

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
    Rewrap(RewrapArgs),
    Inspect(InspectArgs),
    Package(PackageArgs),
    Play(PlayArgs),
    Keys(KeysArgs),
    Sum(SumArgs),
    Cpu(CpuArgs),
    #[command(name = "selftest")]
    SelfTest(SelfTestArgs),
    Speed(SpeedArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

const ENCRYPT_EXAMPLES: &str = "\
Examples:
  New keys for video and audio, and a file that is encrypted with them:
    lanelock keys new video audio -o keys.txt
    lanelock encrypt in.mp4 out.mp4 --scheme cbcs --key-file keys.txt

  A key for video; audio, text, timecodes and chapters left clear:
    lanelock encrypt in.mp4 out.mp4 --scheme cenc --key video=KID:KEY --clear audio --clear other

  Keys from the environment, the result as JSON:
    LANELOCK_KEYS='video=KID:KEY audio=KID:KEY' lanelock encrypt in.mp4 out.mp4 --scheme cbcs --json

  Between two programs; what comes through a pipe must be fragmented:
    ffmpeg ... -movflags frag_keyframe+empty_moov -f mp4 - |
      lanelock encrypt - - --scheme cbcs --key-file keys.txt | ...

  Several files, each on its own, into a folder:
    lanelock encrypt a.mp4 b.mp4 -o out/ --scheme cbcs --key-file keys.txt

  Keys that change every minute, after a clear lead of six seconds:
    lanelock keys new --periods 10 video audio -o keys.txt
    lanelock encrypt in.mp4 out.mp4 --scheme cbcs --key-file keys.txt --rotate 60s --clear-lead 6s

  Keys by the size of the picture:
    lanelock keys new sd hd audio -o keys.txt
    lanelock encrypt in.mp4 out.mp4 --scheme cbcs --key-file keys.txt

  A folder with an initialization segment and its media segments; or one segment alone:
    lanelock encrypt segments/ out/ --scheme cbcs --key-file keys.txt
    lanelock encrypt 1.m4s out.m4s --init init.mp4 --scheme cbcs --iv HEX --key-file keys.txt

Fragmented input keeps its fragments. Progressive input becomes fragmented and
QuickTime becomes MP4, unless --layout keep is given. An output appears when it
is complete, or not at all.

- is standard input or output. A pipe must hold a fragmented file; a file that
is redirected may be any. When standard output is the output, all else is
printed on standard error, --json too, and indexes (sidx, mfra) of what came
through a pipe are left out.

A folder holds one initialization segment and its media segments, which are
taken in the order of the numbers in their names. Manifests (.mpd, .m3u8) are
copied as they are, with a warning; anything else is an error. The output
folder must not be there yet, or be empty. It appears when all of it is
complete, or not at all.

Of several inputs, one that fails leaves the others alone. --json prints them
in their order.";

/// Encrypts files.
#[derive(Debug, clap::Args)]
#[command(
    after_help = ENCRYPT_EXAMPLES,
    override_usage = "lanelock encrypt [OPTIONS] --scheme <SCHEME> INPUT OUTPUT\n       \
                      lanelock encrypt [OPTIONS] --scheme <SCHEME> INPUT... -o OUTPUT"
)]
pub(crate) struct EncryptArgs {
    #[command(flatten)]
    pub(crate) paths: PathArgs,

    /// The initialization segment of a media segment that is a file of its own. It is read only:
    /// encrypt it with the same options. Under cbcs, --iv is needed, under the other schemes it must not
    /// be given
    #[arg(long, value_name = "FILE")]
    pub(crate) init: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) protection: ProtectionArgs,

    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    #[command(flatten)]
    pub(crate) cpix: CpixArgs,

    /// Leaves tracks clear: all, video, audio, text, other (neither video nor audio: text, timecodes,
    /// chapters, metadata), a codec (tmcd, hvc1) or a track ID. A track without key that is not named
    /// here is an error, and so is a selector that selects none
    #[arg(long, value_name = "SELECTOR", value_parser = selector)]
    pub(crate) clear: Vec<Selector>,

    /// The layout of the output for progressive and QuickTime input [default: fragmented]
    #[arg(long, ignore_case = true)]
    pub(crate) layout: Option<LayoutArg>,

    /// Shortest duration of the fragments made from progressive input; each goes on to the next sync
    /// sample or, where that is more than 30 seconds further, to the next sample [default: 2]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) fragment_duration: Option<std::time::Duration>,

    /// The whole blocks of a crypt run that is cut short by the end of its range: clear (FFmpeg,
    /// mp4ff) or encrypted (Shaka Packager, Bento4, GPAC). Patterns like 1:9 and 10:0 have none
    /// [default: clear]
    #[arg(long, value_name = "HOW", ignore_case = true)]
    pub(crate) truncated_runs: Option<TruncatedRuns>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

const DECRYPT_EXAMPLES: &str = "\
Examples:
  lanelock decrypt in.mp4 out.mp4 --key-file keys.txt
  LANELOCK_KEYS='KID:KEY KID:KEY' lanelock decrypt in.mp4 out.mp4
  ... | lanelock decrypt - - --key-file keys.txt | ...
  lanelock decrypt a.mp4 b.mp4 -o clear/ --key-file keys.txt
  lanelock decrypt segments/ clear/ --key-file keys.txt
  lanelock decrypt 1.m4s clear.m4s --init init.mp4 --key-file keys.txt

The KIDs in the file say which key is for what. Decrypting what lanelock has
encrypted, fragmented or with --layout keep, gives back the file that it was,
byte for byte (pssh boxes that were there before are removed).

lanelock help encrypt says more of - and of folders.";

/// Decrypts files.
#[derive(Debug, clap::Args)]
#[command(
    after_help = DECRYPT_EXAMPLES,
    override_usage = "lanelock decrypt [OPTIONS] INPUT OUTPUT\n       \
                      lanelock decrypt [OPTIONS] INPUT... -o OUTPUT"
)]
pub(crate) struct DecryptArgs {
    #[command(flatten)]
    pub(crate) paths: PathArgs,

    /// The encrypted initialization segment of a media segment that is a file of its own
    #[arg(long, value_name = "FILE")]
    pub(crate) init: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    #[command(flatten)]
    pub(crate) decryption: DecryptionArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

const REWRAP_EXAMPLES: &str = "\
Examples:
  Another scheme and a new key, in one pass:
    lanelock rewrap in.mp4 out.mp4 --scheme cenc --key-file old.txt --to-key-file new.txt

  A key for video, another for audio:
    lanelock rewrap in.mp4 out.mp4 --scheme cbcs --key-file old.txt \\
      --to-key video=KID:KEY --to-key audio=KID:KEY

  Between two programs:
    ... | lanelock rewrap - - --scheme cbcs --key-file old.txt --to-key-file new.txt | ...

Clear bytes are never written. The layout stays what it is; pssh boxes are
replaced. Tracks that are clear stay clear, unless --to-key names them by their
track ID. A new key needs a KID of its own: players find keys by KID, and would
take the old one.

lanelock help encrypt says more of - and of several inputs.";

/// Encrypts encrypted files anew: another scheme, other keys, other pssh boxes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = REWRAP_EXAMPLES,
    override_usage = "lanelock rewrap [OPTIONS] --scheme <SCHEME> INPUT OUTPUT\n       \
                      lanelock rewrap [OPTIONS] --scheme <SCHEME> INPUT... -o OUTPUT"
)]
pub(crate) struct RewrapArgs {
    #[command(flatten)]
    pub(crate) paths: PathArgs,

    #[command(flatten)]
    pub(crate) protection: ProtectionArgs,

    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    #[command(flatten)]
    pub(crate) to_keys: ToKeyArgs,

    #[command(flatten)]
    pub(crate) decryption: DecryptionArgs,

    /// As --truncated-runs, for the output [default: clear]
    #[arg(long, value_name = "HOW", ignore_case = true)]
    pub(crate) to_truncated_runs: Option<TruncatedRuns>,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Where bytes come from and go to.
#[derive(Debug, clap::Args)]
pub(crate) struct PathArgs {
    /// The input and the output: MP4 or CMAF files, - for standard input and output, or folders of
    /// segments. An output that is there is replaced. With -o, all of these are inputs
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// The output. For several inputs, it is a folder, made if it is not there, in which each output has
    /// the name of its input; so it is for a file if OUTPUT is a folder or ends in /
    #[arg(long, short, value_name = "OUTPUT")]
    pub(crate) output: Option<PathBuf>,
}

/// How tracks are protected.
#[derive(Debug, clap::Args)]
pub(crate) struct ProtectionArgs {
    /// The protection scheme
    #[arg(long, short, ignore_case = true, value_parser = OneScheme)]
    pub(crate) scheme: SchemeArg,

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

    /// Adds the pssh boxes of these protection systems, made from scheme and keys: common (W3C, which
    /// lists the KIDs), widevine, playready or clearkey
    #[arg(long, value_name = "SYSTEM,...", value_delimiter = ',', default_value = "common")]
    pub(crate) drm: Vec<System>,

    /// Makes no pssh boxes
    #[arg(long, conflicts_with = "drm")]
    pub(crate) no_pssh: bool,

    /// Changes keys from one key period of this duration to the next, at the first fragment from then on
    /// (key rotation): 60s, 10m. Keys are for periods: SELECTOR@0=KID:KEY, SELECTOR@1=KID:KEY
    #[arg(long, value_name = "DURATION")]
    pub(crate) rotate: Option<Length>,

    /// Leaves fragments clear that begin before this time [default: none]
    #[arg(long, value_name = "DURATION")]
    pub(crate) clear_lead: Option<Length>,

    /// How a clear lead is said to be clear [default: entry]
    #[arg(long, value_name = "HOW", ignore_case = true, requires = "clear_lead")]
    pub(crate) clear_lead_form: Option<ClearLeadArg>,

    /// The largest pictures of the classes that selectors name
    /// [default: sd=768x576,hd=1920x1080,uhd1=4096x2160]
    #[arg(long, value_name = "CLASS=WxH,...")]
    pub(crate) picture_limits: Option<PictureLimitsArg>,
}

/// How tracks are decrypted.
#[derive(Debug, clap::Args)]
pub(crate) struct DecryptionArgs {
    /// Decrypts with a key that seems wrong, too: when a stream is not what its sample entry says
    #[arg(long)]
    pub(crate) no_key_check: bool,

    /// How the input has the whole blocks of a crypt run that is cut short by the end of its range:
    /// clear (FFmpeg, mp4ff) or encrypted (Shaka Packager, Bento4, GPAC). Patterns like 1:9 and 10:0 have
    /// none
    #[arg(long, value_name = "HOW", default_value = "clear", ignore_case = true)]
    pub(crate) truncated_runs: TruncatedRuns,
}

/// What encryption and decryption have in common.
#[derive(Debug, clap::Args)]
pub(crate) struct CommonArgs {
    /// Takes media data that no sample and no item refers to as they are: clear, and left out of new
    /// fragments. Without this option they are an error
    #[arg(long)]
    pub(crate) keep_unclaimed: bool,

    /// The segment indexes (sidx) of fragmented input: keep them, build one for the whole file, or drop
    /// them. A file that is made fragmented gets one, unless they are dropped
    #[arg(long, value_name = "HOW", default_value = "keep", ignore_case = true)]
    pub(crate) sidx: SidxArg,

    #[command(flatten)]
    pub(crate) run: RunArgs,
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
  lanelock inspect 1.m4s --init init.mp4
  ffmpeg ... -movflags frag_keyframe+empty_moov -f mp4 - | lanelock inspect -

With --key or --key-file, the file is decrypted and what comes out is looked
at, without writing it: whether each key fits. The exit code is 1 if one surely
does not. That takes a file: a pipe cannot be read twice. LANELOCK_KEYS alone
does not ask for it.")]
pub(crate) struct InspectArgs {
    /// The file; - is standard input
    pub(crate) input: PathBuf,

    /// The initialization segment of a media segment that is a file of its own
    #[arg(long, value_name = "FILE")]
    pub(crate) init: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    /// As for decrypt, for the keys that are given
    #[arg(long, value_name = "HOW", ignore_case = true)]
    pub(crate) truncated_runs: Option<TruncatedRuns>,

    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Says which instruction-set levels this processor has, and which ones are used.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
LANELOCK_LEVEL=NAME makes every command use that level of AES. A list names levels of families, and the
most bits of a vector that the rest may use: LANELOCK_LEVEL=aes=aesni,hash=avx2,max=256.")]
pub(crate) struct CpuArgs {
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
