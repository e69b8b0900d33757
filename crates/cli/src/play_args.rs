//! The command line of `lanelock play`.

use crate::{key_args::KeyArgs, values::origin};

/// Plays a stream in a browser on this machine, and says what is wrong with it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lanelock play stream/ --key-file keys.txt
  lanelock play stream/main.m3u8 --key-file keys.txt
  lanelock play encrypted.mp4 --key-file keys.txt
  lanelock play https://cdn.example.com/film/manifest.mpd
  lanelock play stream/ --port 8080 --allow-origin https://player.example.com
  lanelock play stream/ --key-file keys.txt --json | head -1

Open the address that is printed in a browser. The page plays the stream, and
shows tracks, KIDs, segments, buffer and licences; Ctrl-C ends the command.

The server listens on 127.0.0.1 alone. Browsers offer decryption (EME) to
secure pages only, and 127.0.0.1 is one: open it as printed, not by another name
of this machine. For a browser on another one, forward the port:
  ssh -L 8080:127.0.0.1:8080 HOST lanelock play stream/ --port 8080

Clear Key is in Chrome, Chromium, Edge and Firefox; Chromium plays cenc and
cbcs. Safari has it not for streams: there, only clear ones play. Which codecs a
browser decodes is its own business, and the page says what it lacks.

Manifests, media and captions of the folder are open to every page (CORS), so
that other players can be tried. Licences, which have the keys, are for this
page alone, and for the origins of --allow-origin; they are asked for with the
secret at the end of the address, which other users of this machine do not know.
Without keys, what is encrypted does not play, and the page says which KIDs it
wants.

A manifest with http:// or https:// is fetched by the browser, from where it is:
that server has to allow it (CORS).

Exit codes: 0 when Ctrl-C ends it, the others are those of lanelock help encrypt.")]
pub(crate) struct PlayArgs {
    /// A folder with manifests, a manifest, a fragmented MP4 file, or the URL of a manifest
    #[arg(value_name = "DIR|FILE|URL")]
    pub(crate) stream: String,

    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    /// The port [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,

    /// Gives licences, and with them the keys, to pages of this origin, too (https://player.example.com)
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    pub(crate) allow_origin: Vec<String>,

    /// Prints an object with url and licence_url, in one line
    #[arg(long)]
    pub(crate) json: bool,
}
