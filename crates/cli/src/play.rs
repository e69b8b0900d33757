//! `lanelock play`: a stream in a browser.

use std::{
    io::{self, Write},
    path::Path,
    sync::Arc,
    thread,
};

use lanelock_packager::{Key, inspect_file};
use lanelock_player::{Error, Options, Player, Stopper, Subject};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

use crate::{
    failure::Failure,
    keys,
    play_args::PlayArgs,
    terminal::{self, printable, printable_json},
    watch::Watch,
};

/// Serves the stream until a signal ends it.
pub(crate) fn play(args: &PlayArgs) -> Result<(), Failure> {
    let watch = Watch::plain(args.json);
    let subject = subject(&args.stream)?;
    let keys = keys(args, &watch)?;
    let options =
        Options { port: args.port, keys, origins: args.allow_origin.clone(), ..Options::default() };
    let player = Player::bind(subject, options, Arc::new(watch)).map_err(failure)?;
    end_by_signal(player.stopper())
        .map_err(|error| Failure::Io { what: "cannot watch for signals".into(), error })?;
    announce(args, &player)?;
    player.run();
    Ok(())
}

fn subject(stream: &str) -> Result<Subject, Failure> {
    if stream.contains("://") {
        return Subject::of_url(stream).map_err(failure);
    }
    let path = Path::new(stream);
    let subject = Subject::of_path(path).map_err(failure)?;
    let manifest = |end: &str| ["mpd", "m3u8"].iter().any(|known| end.eq_ignore_ascii_case(known));
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    // Media Source Extensions take fragments alone.
    if path.is_file() && !manifest(end) && inspect_file(path)?.layout != "fragmented" {
        return Err(Failure::unsuitable(
            stream,
            "browsers play fragmented files by pieces, and this one is progressive; lanelock package makes a \
             stream of it, and lanelock encrypt an encrypted file that is fragmented",
        ));
    }
    Ok(subject)
}

/// The keys, of which there may be none: the stream may be clear, or what is wanted is to see what it lacks.
fn keys(args: &PlayArgs, watch: &Watch) -> Result<Vec<Key>, Failure> {
    let given = args.keys.is_given() || std::env::var_os("LANELOCK_KEYS").is_some();
    if given { keys::by_kid(&args.keys, watch) } else { Ok(Vec::new()) }
}

fn announce(args: &PlayArgs, player: &Player) -> io::Result<()> {
    let (url, licence_url) = (player.url(), player.licence_url());
    let mut out = terminal::stdout();
    if args.json {
        let json = serde_json::json!({ "url": url, "licence_url": licence_url }).to_string();
        writeln!(out, "{}", printable_json(&json))?;
    } else {
        writeln!(out, "{} is at {url}   (Ctrl-C ends it)", printable(&args.stream))?;
        if !args.allow_origin.is_empty() {
            writeln!(out, "licences for other origins: {licence_url}")?;
        }
    }
    out.flush()
}

fn end_by_signal(stopper: Stopper) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let wait = move || {
        if signals.forever().next().is_some() {
            stopper.stop();
        }
    };
    thread::Builder::new().spawn(wait)?;
    Ok(())
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Read { name, error } => Failure::Io { what: format!("cannot read {name}"), error },
        Error::Listen { port, error } => {
            Failure::Io { what: format!("cannot listen on 127.0.0.1:{port}"), error }
        }
        Error::Random { .. } => {
            Failure::Io { what: "cannot make a secret".into(), error: io::Error::other(error) }
        }
        Error::NoManifest { name } => Failure::unsuitable(
            name,
            "there is no manifest (.mpd, .m3u8) in this folder; lanelock package makes a stream of files",
        ),
        Error::NotAStream { name } => Failure::unsuitable(
            name,
            "this is neither a manifest (.mpd, .m3u8) nor an MP4 file that stands alone (.mp4, .m4v, .m4a, \
             .cmfv, .cmfa); name one, or a folder with manifests",
        ),
        error => Failure::usage(error.to_string(), "give the URL of a manifest, or a folder"),
    }
}
