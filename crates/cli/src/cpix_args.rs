//! The command line of what has to do with CPIX.

use std::path::PathBuf;

/// Keys from a document or a key server.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct CpixArgs {
    /// Takes keys, the tracks and key periods they are for, and the data of protection systems from a CPIX
    /// document; - is standard input. It takes the place of --key and --key-file
    #[arg(long, value_name = "FILE")]
    pub(crate) cpix: Option<PathBuf>,

    /// The recipient's private key (RSA, PEM), for a document whose keys are encrypted
    #[cfg(feature = "cpix-encrypted")]
    #[arg(long, value_name = "FILE")]
    pub(crate) cpix_key: Option<PathBuf>,

    /// The certificate (X.509, PEM) of who must have signed the document. Without it, a signed document is
    /// an error
    #[cfg(feature = "cpix-encrypted")]
    #[arg(long, value_name = "FILE", requires = "cpix")]
    pub(crate) cpix_signer: Option<PathBuf>,

    #[cfg(feature = "speke")]
    #[command(flatten)]
    pub(crate) speke: SpekeArgs,
}

/// Keys from a key server.
#[cfg(feature = "speke")]
#[derive(Debug, Default, clap::Args)]
pub(crate) struct SpekeArgs {
    /// Asks a key server for keys by SPEKE v2, one for video and one for audio, and for the data of the
    /// protection systems of --drm that are widevine, playready and fairplay
    #[arg(long = "speke", value_name = "URL", conflicts_with = "cpix", requires = "content_id")]
    pub(crate) url: Option<String>,

    /// A header for the key server, such as Authorization. Its value is in a file, or in an environment
    /// variable: other users of the machine can see the command line
    #[arg(long = "speke-header", value_name = "NAME=@FILE|NAME=env:VARIABLE", requires = "url")]
    pub(crate) headers: Vec<String>,

    /// What the key server knows the content by
    #[arg(long, value_name = "ID", requires = "url")]
    pub(crate) content_id: Option<String>,

    /// Asks for one key for all tracks
    #[arg(long = "speke-shared", requires = "url")]
    pub(crate) shared: bool,

    /// Asks for keys of this many key periods, whose indexes count from 0; --rotate says how long they are
    #[arg(long = "speke-periods", value_name = "N", requires = "url", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) periods: Option<u32>,
}

impl CpixArgs {
    /// The option that gives keys, if there is one.
    pub(crate) fn given(&self) -> Option<&'static str> {
        #[cfg(feature = "speke")]
        if self.speke.url.is_some() {
            return Some("--speke");
        }
        self.cpix.as_ref().map(|_| "--cpix")
    }
}
