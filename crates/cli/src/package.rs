//! `lanelock package`.

use std::{
    io::{self, Write},
    path::Path,
    sync::Arc,
};

use lanelock_packager::{
    Choice, EncryptOptions, Error, Iv, KeyMap, Observer as _, Scheme, Selector,
    drm::System,
    io::{FileFolder, FileSource, Folder, Source},
    package::{Package, PackageOptions, PackageSummary, PackagedTrack},
};

use crate::{
    cpix,
    failure::Failure,
    hide::without_keys,
    job::{Job, StreamScheme, TimesArg},
    key_args::KeyArgs,
    keys,
    package_args::PackageArgs,
    paths::check_stdin,
    pssh,
    remote::{self, Remote},
    report,
    terminal::printable,
    units,
    values::{self, KeyTimes, selector},
    watch::Watch,
};

/// Packages, and gives the exit code.
pub(crate) fn package(args: &PackageArgs) -> Result<u8, Failure> {
    let job = match &args.file {
        Some(file) => args.job.clone().over(Job::read(file)?),
        None => args.job.clone(),
    };
    if args.print_job {
        return print_job(args, &job);
    }
    let Job { inputs, output, .. } = &job;
    if inputs.is_empty() {
        return Err(Failure::usage("no input is given", "name files, or a --job that names them"));
    }
    let output = output
        .as_ref()
        .ok_or_else(|| Failure::usage("no output is given", "name the folder to make: -o DIR"))?;
    if output == Path::new("-") {
        return Err(Failure::usage(
            "standard output (-) takes no stream: it is a folder of files",
            "name the folder to make: -o DIR",
        ));
    }
    check_stdin(job.key_files.iter().filter(|path| *path == Path::new("-")).count())?;
    let watch = Watch::new(&args.run, Some(0), false)?;
    let options = options(args, &job, &watch)?;
    // Before anything is read: a folder that is in the way is found at once.
    let mut remote = Remote::new(&watch);
    let to = remote::location(output)?;
    let name = to.as_ref().map_or_else(|| output.display().to_string(), |to| to.name().into());
    let folder: Option<Box<dyn Folder>> = match &to {
        _ if args.dry_run => None,
        Some(to) => Some(remote.folder(to)?),
        None => Some(Box::new(FileFolder::create(output)?)),
    };
    let mut sources: Vec<Arc<dyn Source>> = Vec::with_capacity(inputs.len());
    for input in inputs {
        sources.push(match remote::location(input)? {
            Some(location) => remote.source(&location)?.into(),
            None => Arc::new(open(input)?),
        });
    }
    let package = Package::new(sources, options, &watch)?;
    let Some(folder) = folder else {
        watch.end();
        let mut summary = package.summary();
        if job.iv.is_none() {
            // They are random, and another run has others.
            summary.tracks.iter_mut().for_each(|track| track.iv = None);
        }
        if job.schemes.len() > 1 {
            let is_random = |track: &&mut PackagedTrack| track.scheme.as_deref() != Some("cbcs");
            summary.tracks.iter_mut().filter(is_random).for_each(|track| track.iv = None);
        }
        return print(args, &name, &summary);
    };
    watch.expect(package.summary().bytes_in);
    let summary = package.write(folder, &watch);
    watch.end();
    // What waits for a server is given up with an error of its own.
    if summary.is_err() && watch.interrupted() {
        return Err(Error::Interrupted.into());
    }
    print(args, &name, &summary?)
}

/// Opens an input.
fn open(input: &Path) -> Result<FileSource, Failure> {
    if input == Path::new("-") {
        return Err(Failure::usage(
            "standard input (-) is no input of a stream: tracks are read one by one",
            "write it to a file first",
        ));
    }
    let name = input.display().to_string();
    if name.contains("://") && !input.exists() {
        return Err(Failure::usage(
            format!(
                "{name} is a URL, and inputs are files, or objects of s3://, gs://, az:// or https://"
            ),
            "fetch it first; live streams are not supported",
        ));
    }
    FileSource::open(input).map_err(|error| {
        let Error::NotAFile { .. } = error else { return error.into() };
        let error = if input.is_dir() {
            "it is a folder, and inputs are files; nothing can be appended to a stream: package all of its \
             inputs anew, into a new folder"
        } else {
            "it is no regular file; copy it to one first"
        };
        Failure::Io { what: format!("cannot read {name}"), error: io::Error::other(error) }
    })
}

/// Prints a job, without keys.
fn print_job(args: &PackageArgs, job: &Job) -> Result<u8, Failure> {
    let text = job.text()?;
    let mut out = io::stdout().lock();
    if !args.keys.is_empty() {
        writeln!(
            out,
            "# Keys of the command line are not printed: put them into a file (lanelock keys new), and \
             name it here:\n# key-file = [\"keys.txt\"]"
        )?;
    }
    if let Some(option) = args.cpix.given() {
        writeln!(out, "# {option} is no part of a job: name it beside --job.")?;
    }
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(0)
}

fn options(args: &PackageArgs, job: &Job, watch: &Watch) -> Result<PackageOptions, Failure> {
    let mut options = PackageOptions::new()
        .with_protection(protection(args, job, watch)?)
        .with_second_scheme(second_scheme(job)?)
        .with_tracks(job.tracks.iter().cloned().map(Into::into).collect())
        .with_fragment_duration(job.fragment.map(|length| length.0.0))
        .with_negative_offsets(job.cmf2)
        .with_trick_play(job.trick_play)
        .with_constant_durations(job.dash_times == Some(TimesArg::Duration))
        .with_license_urls(job.laurl.iter().map(|at| (at.system, at.url.clone())).collect())
        .with_skd(job.skd.clone())
        .with_workers(args.run.workers.map_or(0, usize::from))
        .with_sync(args.run.sync)
        .with_writes(args.run.writes());
    if let Some(storage) = job.layout {
        options = options.with_storage(storage.into());
    }
    if let Some(length) = job.segment {
        options = options.with_segment_duration(length.0.0);
    }
    if let Some(text) = job.text {
        options = options.with_text(text.into());
    }
    if let Some(memory) = args.run.memory {
        options = options.with_memory(memory);
    }
    let manifest = |name: &Option<String>, extension: &str, default: Option<String>| match name {
        None => Ok(default),
        Some(name) if name == "none" => Ok(None),
        Some(name) => {
            let stem = name.strip_suffix(extension).unwrap_or("");
            let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            if stem.is_empty() || !stem.chars().all(fits) {
                return Err(Failure::usage(
                    format!("{name:?} is no name of a manifest"),
                    format!(
                        "letters, digits, - and _ with {extension} behind them make one; or none"
                    ),
                ));
            }
            Ok(Some(name.clone()))
        }
    };
    let (dash, hls) = (options.dash.clone(), options.hls.clone());
    let dash = manifest(&job.dash, ".mpd", dash)?;
    Ok(options.with_dash(dash).with_hls(manifest(&job.hls, ".m3u8", hls)?))
}

/// The scheme beside the first one.
fn second_scheme(job: &Job) -> Result<Option<Scheme>, Failure> {
    match job.schemes[..] {
        [] | [_] => Ok(None),
        [first, second] if first != second => Ok(Some(second.into())),
        _ => Err(Failure::usage("a scheme is given twice", "name each once: --scheme cbcs,cenc")),
    }
}

/// How the tracks are encrypted; none if all of them stay clear, which must be said.
fn protection(
    args: &PackageArgs,
    job: &Job,
    watch: &Watch,
) -> Result<Option<EncryptOptions>, Failure> {
    let parse = |text: &String| {
        let named = selector(text);
        named.map_err(|error| Failure::usage(format!("--clear {text}: {error}"), CLEAR))
    };
    let clear = job.clear.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    let Some(&scheme) = job.schemes.first() else {
        let useless = [
            ("--key", !args.keys.is_empty()),
            ("--key-file", !job.key_files.is_empty()),
            ("--cpix and --speke", args.cpix.given().is_some()),
            ("--drm", !job.drm.is_empty()),
            ("--iv", job.iv.is_some()),
            ("--pattern", job.pattern.is_some()),
            ("--pssh", !job.pssh.is_empty()),
            ("--rotate", job.rotate.is_some()),
            ("--clear-lead", job.clear_lead.is_some()),
            ("--clear-lead-form", job.clear_lead_form.is_some()),
            ("--picture-limits", job.picture_limits.is_some()),
        ];
        if let Some((option, _)) = useless.iter().find(|(_, given)| *given) {
            return Err(Failure::usage(
                format!("{option} is given, and no protection scheme"),
                "add --scheme cbcs or --scheme cenc",
            ));
        }
        if clear != [Selector::All] {
            return Err(Failure::usage(
                "no protection scheme is given",
                "add --scheme cbcs with keys (lanelock keys new), or say --clear all for a stream that \
                 nothing protects",
            ));
        }
        return Ok(None);
    };
    let keys = KeyArgs { keys: args.keys.clone(), files: job.key_files.clone() };
    let drm: Vec<System> = job.drm.iter().map(|system| system.0.0).collect();
    let schemes: Vec<Scheme> = job.schemes.iter().map(|scheme| (*scheme).into()).collect();
    let plan = cpix::plan(&args.cpix, keys.is_given(), &schemes, &drm, true, watch)?;
    let keys: KeyMap = match &plan {
        Some(plan) => plan.keys.clone(),
        None => keys::by_track(&keys, watch)?,
    };
    let mut must_apply: Vec<Choice> = clear.iter().cloned().map(Choice::Clear).collect();
    must_apply.extend(keys::selectors(&args.keys).map(Choice::Key));
    let scheme: Scheme = scheme.into();
    let mut options = EncryptOptions::new(scheme, keys)
        .with_clear(clear)
        .with_pssh(pssh::boxes(&job.pssh)?)
        .with_must_apply(must_apply);
    if let Some(iv) = &job.iv {
        let iv = values::iv(iv).map_err(|error| Failure::usage("--iv is wrong", error))?;
        options = options.with_iv(Iv::Given(iv.0));
    }
    options = KeyTimes {
        rotate: job.rotate.map(|text| text.0),
        clear_lead: job.clear_lead.map(|text| text.0),
        clear_lead_form: job.clear_lead_form,
        picture_limits: job.picture_limits.map(|text| text.0),
    }
    .of(options);
    if let Some(text) = &job.pattern {
        if !job.schemes.contains(&StreamScheme::Cbcs) {
            return Err(Failure::usage(
                format!("--pattern is for cbcs; {scheme} encrypts all protected blocks"),
                "leave out --pattern, or take --scheme cbcs",
            ));
        }
        let pattern = values::pattern(text);
        let (crypt, skip) =
            pattern.map_err(|error| Failure::usage(format!("--pattern {text} is wrong"), error))?;
        options = options.with_pattern(crypt, skip);
    }
    options = options.with_drm(if drm.is_empty() { vec![System::ClearKey] } else { drm });
    match plan {
        Some(plan) => cpix::apply(plan, options).map(Some),
        None => Ok(Some(options)),
    }
}

const CLEAR: &str = "all, video, audio, text, other, a codec (hvc1) or a track ID select tracks";

/// Prints what was made.
fn print(args: &PackageArgs, output: &str, summary: &PackageSummary) -> Result<u8, Failure> {
    if args.run.json {
        let value = serde_json::to_value(summary).map_err(io::Error::from)?;
        report::json(&value, false)?;
    } else if !args.run.quiet {
        let said = text(args, output, summary);
        // The output is there: what cannot be said of it on standard error is no failure.
        if args.dry_run {
            said?;
        }
    }
    Ok(0)
}

fn text(args: &PackageArgs, output: &str, summary: &PackageSummary) -> io::Result<()> {
    let mut out = io::stderr().lock();
    let widest = summary.tracks.iter().map(|track| track.name.len()).max().unwrap_or(0);
    for track in &summary.tracks {
        let PackagedTrack { name, codecs, segments, bitrate, scheme, kid, .. } = track;
        let protection = match (kid, scheme) {
            (Some(kid), Some(scheme)) => {
                let more = match track.kids.len() {
                    0 | 1 => String::new(),
                    all => format!(" and {} more", all - 1),
                };
                let clear = match track.clear_segments {
                    0 => String::new(),
                    clear => {
                        format!("; {} clear", units::count(clear as u64, "segment", "segments"))
                    }
                };
                format!("{scheme}, KID {kid}{more}{clear}")
            }
            _ => "clear".into(),
        };
        writeln!(
            out,
            "{name:widest$}  {}, {}, {} of at most {:.3} s, {} kbit/s, {protection}",
            printable(&without_keys(&track.input)),
            codecs,
            units::count(*segments as u64, "segment", "segments"),
            track.longest_segment,
            bitrate.div_ceil(1000),
        )?;
    }
    let name = printable(&without_keys(output));
    if args.dry_run {
        return writeln!(
            out,
            "{name}: {} of media, {:.1} s, with {}; nothing was written (--dry-run)",
            units::bytes(summary.bytes_in),
            summary.duration,
            summary.manifests.join(" and "),
        );
    }
    writeln!(
        out,
        "{name}: {}, {:.1} s, {}, {} at {}",
        units::bytes(summary.bytes_out),
        summary.duration,
        summary.manifests.join(" and "),
        units::duration(summary.seconds),
        units::byte_rate(summary.bytes_in, summary.seconds),
    )?;
    if args.run.verbose {
        let PackageSummary { level, workers, times, .. } = summary;
        report::stages(&mut out, level, *workers, times, false)?;
    }
    Ok(())
}
