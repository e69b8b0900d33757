//! The arguments of `lanelock sum`.

use std::ffi::OsString;

use crate::digests::Algorithm;

const SUM_EXAMPLES: &str = "\
Examples:
  Digests of all segments, and later whether they are as they were:
    lanelock sum out/*.m4s > SUMS
    lanelock sum --check SUMS

  A large file, hashed as a tree:
    lanelock sum --k12 film.mp4

Many files are hashed side by side, in the lanes of vectors. Lists are those of
sha256sum and its like: a digest, two spaces, and a name.

Exit codes:
  0    done; with --check all digests match
  1    a digest does not match
  2    the command line, or a list, is wrong
  3    a file cannot be read";

/// Prints the digests of files, or compares them with a list.
#[derive(Debug, clap::Args)]
#[command(after_help = SUM_EXAMPLES)]
pub(crate) struct SumArgs {
    /// The files; - is standard input. With --check lists of digests
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<OsString>,

    /// Compares the files that the lists name with their digests there
    #[arg(long, short)]
    pub(crate) check: bool,

    #[command(flatten)]
    algorithm: AlgorithmArgs,

    /// Prints nothing of what is as it should be, and no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Prints one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which hash.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
#[expect(clippy::struct_excessive_bools, reason = "one option each, of which one is given")]
struct AlgorithmArgs {
    /// SHA-256, which is the default
    #[arg(long)]
    sha256: bool,
    /// KangarooTwelve (RFC 9861) with 256 bits of output: the fastest for large files, each of which is a tree
    #[arg(long)]
    k12: bool,
    /// SHA-512
    #[arg(long)]
    sha512: bool,
    /// SHA-384
    #[arg(long)]
    sha384: bool,
    /// SHA-224
    #[arg(long)]
    sha224: bool,
    /// SHA3-256
    #[arg(long)]
    sha3_256: bool,
    /// SHA3-512
    #[arg(long)]
    sha3_512: bool,
    /// BLAKE2b with 512 bits
    #[arg(long)]
    blake2b: bool,
    /// SM3
    #[arg(long)]
    sm3: bool,
    /// SHA-1, of which collisions are known
    #[arg(long)]
    sha1: bool,
}

impl SumArgs {
    /// The hash that was asked for.
    pub(crate) fn algorithm(&self) -> Algorithm {
        let AlgorithmArgs {
            sha256: _,
            k12,
            sha512,
            sha384,
            sha224,
            sha3_256,
            sha3_512,
            blake2b,
            sm3,
            sha1,
        } = self.algorithm;
        let options = [
            (k12, Algorithm::Kt128),
            (sha512, Algorithm::Sha512),
            (sha384, Algorithm::Sha384),
            (sha224, Algorithm::Sha224),
            (sha3_256, Algorithm::Sha3_256),
            (sha3_512, Algorithm::Sha3_512),
            (blake2b, Algorithm::Blake2b),
            (sm3, Algorithm::Sm3),
            (sha1, Algorithm::Sha1),
        ];
        let chosen = options.into_iter().find(|(given, _)| *given);
        chosen.map_or(Algorithm::Sha256, |(_, algorithm)| algorithm)
    }
}
