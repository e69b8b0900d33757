//! `lanelock inspect`.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal as _, Write as _},
    path::Path,
    sync::Arc,
};

use lanelock_packager::{
    DecryptOptions, FragmentReport, KeyReport, KeyVerdict, ProtectionReport, PsshReport, Report,
    TrackReport,
    io::{FileSource, Source, standard_input},
};

use crate::{
    args::InspectArgs,
    failure::Failure,
    hide::without_keys,
    keys,
    paths::{InputPath, check_stdin},
    process::Initialization,
    remote::Remote,
    terminal::{self, TITLE, printable, printable_json},
    units,
    values::TruncatedRuns,
    watch::Watch,
};

pub(crate) fn inspect(args: &InspectArgs) -> Result<(), Failure> {
    let with_keys = args.keys.is_given();
    if args.truncated_runs.is_some() && !with_keys {
        let what = "--truncated-runs has no effect: it is for decryption, and no key is given";
        return Err(Failure::usage(what, "leave it out, or give --key-file FILE"));
    }
    let input = InputPath::of(&args.input)?;
    let standard = matches!(input, InputPath::Standard);
    let key_files = args.keys.files.iter().filter(|path| *path == Path::new("-"));
    check_stdin(usize::from(standard) + key_files.count())?;
    if standard && io::stdin().is_terminal() {
        let what = "standard input is a terminal, and - reads an MP4 file from it";
        return Err(Failure::usage(what, "redirect it: ... | lanelock inspect -, or name a file"));
    }
    let watch = Watch::plain(args.json);
    let mut remote = Remote::new(&watch);
    let source: Box<dyn Source> = match &input {
        InputPath::Standard => standard_input(Arc::default())
            .map_err(|error| Failure::Io { what: "cannot read standard input".into(), error })?,
        InputPath::Url(location) => remote.source(location)?,
        InputPath::File(path) | InputPath::Folder(path) => Box::new(FileSource::open(path)?),
    };
    if with_keys && source.is_sequential() {
        return Err(Failure::usage(
            "keys are tried on a file, which is read twice; standard input is a pipe",
            "write it to a file first, or leave out the keys",
        ));
    }
    let init =
        args.init.as_ref().map(|path| Initialization::open(path, &mut remote)).transpose()?;
    let init = init.as_ref().map(Initialization::source);
    let report = match init {
        None => lanelock_packager::inspect(&*source)?,
        Some(init) => lanelock_packager::inspect_segment(init, &*source)?,
    };
    let keys = if with_keys { check(args, init, &*source, &watch)? } else { Vec::new() };
    let name = source.name();
    // Not through another buffer: an interrupted write of this one, made anew, would repeat what went before.
    let mut out = terminal::stdout();
    if args.json {
        let mut report = serde_json::to_value(&report).map_err(io::Error::from)?;
        if args.keys.is_given() {
            report["keys"] = serde_json::to_value(&keys).map_err(io::Error::from)?;
        }
        let json = serde_json::to_string_pretty(&report).map_err(io::Error::from)?;
        writeln!(out, "{}", printable_json(&json))?;
    } else {
        out.write_all(text(&report, &keys, &name).as_bytes())?;
    }
    out.flush()?;
    drop(out);
    let wrong = |key: &&KeyReport| key.verdict == KeyVerdict::Wrong;
    let wrong: Vec<_> = keys
        .iter()
        .filter(wrong)
        .map(|key| {
            format!("track {} ({}): the key for its KID {} is wrong", key.track, key.codec, key.kid)
        })
        .collect();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Failure::WrongKeys(format!("{name}: {}", wrong.join("; "))))
}

/// Decrypts the file and throws the result away.
fn check(
    args: &InspectArgs,
    init: Option<&dyn Source>,
    source: &dyn Source,
    watch: &Watch,
) -> Result<Vec<KeyReport>, Failure> {
    let mut options = DecryptOptions::new(keys::by_kid(&args.keys, watch)?);
    options.encrypt_truncated_runs = args.truncated_runs == Some(TruncatedRuns::Encrypt);
    Ok(match init {
        None => lanelock_packager::check_keys(source, &options, watch)?,
        Some(init) => lanelock_packager::check_segment_keys(init, source, &options, watch)?,
    })
}

fn text(report: &Report, keys: &[KeyReport], name: &str) -> String {
    let mut lines = Lines { text: String::new() };
    lines.title(&without_keys(name));
    lines.line("layout", &report.layout);
    lines.line("brands", &brands(&report.brands));
    lines.line("size", &units::bytes(report.bytes));
    if report.duration > 0.0 {
        lines.line("duration", &units::duration(report.duration));
    }
    if let Some(fragments) = &report.fragments {
        lines.line("fragments", &fragments_text(fragments));
    }
    for track in &report.tracks {
        lines.track(track);
        for key in keys.iter().filter(|key| key.track == track.id) {
            lines.key(key);
        }
    }
    for (index, pssh) in report.pssh.iter().enumerate() {
        if index == MOST_SHOWN {
            let more = report.pssh.len() - MOST_SHOWN;
            lines.line("", &format!("... and {more} more pssh boxes; --json has all"));
            break;
        }
        lines.pssh(pssh);
    }
    lines.text
}

/// Lines of a name and a value.
struct Lines {
    text: String,
}

impl Lines {
    fn title(&mut self, title: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let _ = writeln!(self.text, "{TITLE}{}{TITLE:#}", printable(title));
    }

    fn line(&mut self, name: &str, value: &str) {
        let _ = writeln!(self.text, "  {name:WIDTH$}{}", printable(value));
    }

    /// A list, which may be long.
    fn list(&mut self, name: &str, values: &[String]) {
        for (index, value) in values.iter().enumerate() {
            let name = if index == 0 { name } else { "" };
            if index == MOST_SHOWN {
                let more = values.len() - MOST_SHOWN;
                self.line(name, &format!("... and {more} more; --json has all"));
                return;
            }
            self.line(name, value);
        }
    }

    fn track(&mut self, track: &TrackReport) {
        self.title(&format!("track {}: {}", track.id, track.kind));
        let mut codec = track.codec.clone();
        let entries = track.sample_entries.join(", ");
        if !entries.is_empty() && entries != codec {
            let _ = write!(codec, ", sample entry {entries}");
        }
        if track.experimental {
            codec.push_str(" (experimental)");
        }
        self.line("codec", &codec);
        if track.width > 0 {
            self.line("picture", &format!("{} x {}", track.width, track.height));
        }
        if track.language != "und" {
            self.line("language", &track.language);
        }
        if track.duration > 0.0 {
            let ticks =
                format!("{}, timescale {}", units::duration(track.duration), track.timescale);
            self.line("duration", &ticks);
        } else {
            self.line("timescale", &track.timescale.to_string());
        }
        self.line("content", &content(track));
        match &track.protection {
            Some(protection) => self.protection(protection, track.access_units),
            None => self.line("protection", "none"),
        }
        if track.leftovers {
            let what = "boxes of protection (senc, saiz, saio, seig) of a clear sample entry";
            self.line("left over", what);
        }
    }

    fn protection(&mut self, protection: &ProtectionReport, access_units: u64) {
        let ProtectionReport { scheme, pattern, iv_size, .. } = protection;
        let pattern = pattern.as_ref().map_or_else(String::new, |pattern| format!(" {pattern}"));
        self.line("protection", &format!("{scheme}{pattern}"));
        self.list("KID", &protection.kids);
        match (&protection.constant_iv, &protection.first_iv) {
            (Some(iv), _) => self.line("IV", &format!("{iv}, constant")),
            (None, Some(iv)) => self.line("IV", &format!("{iv} first, {iv_size} bytes each")),
            (None, None) => self.line("IV", &format!("{iv_size} bytes each")),
        }
        if access_units == 0 {
            return;
        }
        let ProtectionReport { clear_bytes, protected_bytes, .. } = *protection;
        let number = protection.protected_access_units;
        let of = if number == access_units { "all".into() } else { format!("{number} of") };
        let all = clear_bytes.saturating_add(protected_bytes);
        let percent = 100.0 * units::float(protected_bytes) / units::float(all.max(1));
        self.line(
            "protected",
            &format!(
                "{of} {}, {} of their {} ({percent:.1} %)",
                units::count(access_units, "access unit", "access units"),
                units::bytes(protected_bytes),
                units::bytes(all),
            ),
        );
        let ciphertext = protection.ciphertext_bytes;
        if ciphertext != protected_bytes {
            let percent = 100.0 * units::float(ciphertext) / units::float(all.max(1));
            self.line("ciphertext", &format!("{} ({percent:.1} %)", units::bytes(ciphertext)));
        }
        let ProtectionReport { with_subsamples, subsamples, most_subsamples, .. } = *protection;
        self.line(
            "subsamples",
            &if subsamples == 0 {
                "none: whole access units".into()
            } else {
                let average = units::float(subsamples) / units::float(with_subsamples.max(1));
                format!(
                    "{subsamples} in {}, {average:.1} on average, {most_subsamples} at most",
                    units::count(with_subsamples, "access unit", "access units"),
                )
            },
        );
    }

    fn key(&mut self, key: &KeyReport) {
        let KeyReport { verdict, kid, reason, bytes, .. } = key;
        self.line("key", &format!("{verdict}, for KID {kid} ({})", units::bytes(*bytes)));
        self.line("", reason);
    }

    fn pssh(&mut self, pssh: &PsshReport) {
        let name = pssh.system.as_deref().unwrap_or("unknown system");
        self.title(&format!("pssh: {name}"));
        self.line("system ID", &pssh.system_id);
        self.line(
            "box",
            &format!("version {}, {} of data", pssh.version, units::bytes(pssh.data_bytes as u64)),
        );
        self.list("KID", &pssh.kids);
        for (name, value) in &pssh.details {
            self.line(name, value);
        }
    }
}

/// The major brand, and the compatible ones, among which it is as a rule again.
fn brands(brands: &[String]) -> String {
    let Some((major, compatible)) = brands.split_first() else { return "none".into() };
    let mut text = major.clone();
    for brand in compatible.iter().filter(|brand| *brand != major) {
        text.push(' ');
        text.push_str(brand);
    }
    text
}

fn content(track: &TrackReport) -> String {
    if track.access_units == 0 {
        return "no access units".into();
    }
    let mut text = units::count(track.access_units, "access unit", "access units");
    let _ = write!(text, ", {}", units::bytes(track.bytes));
    if let Some(rate) = units::bit_rate(track.bytes, track.duration) {
        let _ = write!(text, ", {rate}");
    }
    text
}

fn fragments_text(fragments: &FragmentReport) -> String {
    let FragmentReport { count, smallest, largest, shortest, longest, .. } = fragments;
    if *count == 0 {
        return "none: this is an initialization segment".into();
    }
    let range = |least: String, most: String| {
        if least == most { least } else { format!("{least} to {most}") }
    };
    format!(
        "{count}, {}, {}",
        range(units::bytes(*smallest), units::bytes(*largest)),
        range(units::duration(*shortest), units::duration(*longest)),
    )
}

const WIDTH: usize = 12;
/// How many entries of a list are printed; `--json` has all.
const MOST_SHOWN: usize = 8;
