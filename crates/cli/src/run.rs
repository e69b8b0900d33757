//! `lanelock encrypt`, `lanelock decrypt` and `lanelock rewrap`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use lanelock_packager::{
    Choice, DecryptOptions, EncryptOptions, Error, Iv, KeyMap, Layout, Observer as _, Scheme,
    Summary,
};
use serde_json::json;

use crate::{
    args::{CommonArgs, DecryptArgs, DecryptionArgs, EncryptArgs, ProtectionArgs, RewrapArgs},
    choices::Choices,
    cpix,
    failure::Failure,
    hide::without_keys,
    key_args::KeyArgs,
    keys,
    operation::Operation,
    paths::{InputPath, PathJob, Paths, why_no_folder},
    process::process,
    pssh, report,
    values::{KeyTimes, TruncatedRuns},
    watch::Watch,
};

/// Encrypts, and gives the exit code.
pub(crate) fn encrypt(args: &EncryptArgs) -> Result<u8, Failure> {
    let paths = Paths::of(&args.paths)?;
    let document: Vec<_> = args.cpix.cpix.iter().cloned().collect();
    paths.check_key_files(&[&args.keys.files, &document])?;
    check(&paths, args.init.as_ref(), &args.common)?;
    check_encryption(args, &paths)?;
    let watch = Watch::new(&args.common.run, paths.len(), paths.to_stdout())?;
    let scheme = args.protection.scheme.into();
    let plan = cpix::plan(
        &args.cpix,
        args.keys.is_given(),
        &[scheme],
        &args.protection.drm,
        false,
        &watch,
    )?;
    let keys = match &plan {
        Some(plan) => plan.keys.clone(),
        None => keys::by_track(&args.keys, &watch)?,
    };
    let mut choices: Vec<_> = args.clear.iter().cloned().map(Choice::Clear).collect();
    if args.fragment_duration.is_some() {
        choices.push(Choice::FragmentDuration);
    }
    let choices = Choices::new(choices, &args.keys.keys, "--key", &args.common);
    let mut options = encrypt_options(&args.protection, args.truncated_runs, keys, &args.common)?
        .with_must_apply(choices.of_each(&paths))
        .with_clear(args.clear.clone());
    if let Some(plan) = plan {
        options = cpix::apply(plan, options)?;
    }
    if let Some(layout) = args.layout {
        options = options.with_layout(layout.into());
    }
    if let Some(duration) = args.fragment_duration {
        options = options.with_fragment_duration(duration);
    }
    let operation = Operation::Encrypt(options);
    run(&operation, &paths, args.init.as_ref(), &args.common, &choices, &watch)
}

/// Decrypts, and gives the exit code.
pub(crate) fn decrypt(args: &DecryptArgs) -> Result<u8, Failure> {
    let paths = Paths::of(&args.paths)?;
    paths.check_key_files(&[&args.keys.files])?;
    check(&paths, args.init.as_ref(), &args.common)?;
    let watch = Watch::new(&args.common.run, paths.len(), paths.to_stdout())?;
    let options = decrypt_options(&args.keys, &args.decryption, &args.common, &watch)?;
    let choices = Choices::new(Vec::new(), &[], "--key", &args.common);
    let operation = Operation::Decrypt(options.with_must_apply(choices.of_each(&paths)));
    run(&operation, &paths, args.init.as_ref(), &args.common, &choices, &watch)
}

/// Encrypts anew, and gives the exit code.
pub(crate) fn rewrap(args: &RewrapArgs) -> Result<u8, Failure> {
    let paths = Paths::of(&args.paths)?;
    paths.check_key_files(&[&args.keys.files, &args.to_keys.to_files])?;
    check(&paths, None, &args.common)?;
    check_protection(&args.protection, &paths)?;
    check_truncated_runs("--to-truncated-runs", args.to_truncated_runs, &args.protection)?;
    let watch = Watch::new(&args.common.run, paths.len(), paths.to_stdout())?;
    let from = decrypt_options(&args.keys, &args.decryption, &args.common, &watch)?;
    let keys = keys::new_by_track(&args.to_keys, &from.keys, &watch)?;
    let choices = Choices::new(Vec::new(), &args.to_keys.to_keys, "--to-key", &args.common);
    let to = encrypt_options(&args.protection, args.to_truncated_runs, keys, &args.common)?
        .with_must_apply(choices.of_each(&paths));
    run(&Operation::Rewrap(from, to), &paths, None, &args.common, &choices, &watch)
}

fn encrypt_options(
    args: &ProtectionArgs,
    truncated_runs: Option<TruncatedRuns>,
    keys: KeyMap,
    common: &CommonArgs,
) -> Result<EncryptOptions, Failure> {
    let mut options = EncryptOptions::new(args.scheme.into(), keys)
        .with_encrypted_truncated_runs(truncated_runs == Some(TruncatedRuns::Encrypt))
        .with_iv(args.iv.as_ref().map_or(Iv::Random, |iv| Iv::Given(iv.0.clone())))
        .with_pssh(pssh::boxes(&args.pssh)?)
        .with_drm(if args.no_pssh { Vec::new() } else { args.drm.clone() })
        .with_unclaimed(common.unclaimed())
        .with_workers(common.run.workers.map_or(0, usize::from))
        .with_sync(common.run.sync)
        .with_index(common.sidx.into())
        .with_writes(common.run.writes());
    if let Some((crypt, skip)) = args.pattern {
        options = options.with_pattern(crypt, skip);
    }
    options = KeyTimes {
        rotate: args.rotate,
        clear_lead: args.clear_lead,
        clear_lead_form: args.clear_lead_form,
        picture_limits: args.picture_limits,
    }
    .of(options);
    if let Some(memory) = common.run.memory {
        options = options.with_memory(memory);
    }
    Ok(options)
}

fn decrypt_options(
    keys: &KeyArgs,
    args: &DecryptionArgs,
    common: &CommonArgs,
    watch: &Watch,
) -> Result<DecryptOptions, Failure> {
    let options = DecryptOptions::new(keys::by_kid(keys, watch)?)
        .with_encrypted_truncated_runs(args.truncated_runs == TruncatedRuns::Encrypt)
        .with_check_keys(!args.no_key_check)
        .with_unclaimed(common.unclaimed())
        .with_workers(common.run.workers.map_or(0, usize::from))
        .with_sync(common.run.sync)
        .with_index(common.sidx.into())
        .with_writes(common.run.writes());
    Ok(match common.run.memory {
        Some(memory) => options.with_memory(memory),
        None => options,
    })
}

/// Refuses options that would have no effect.
fn check(paths: &Paths, init: Option<&PathBuf>, common: &CommonArgs) -> Result<(), Failure> {
    for (given, option, why) in [
        (common.run.sync, "--sync", "where its bytes go is not known"),
        (common.run.write_turns, "--write-turns", "its bytes are written in order anyway"),
    ] {
        if given && paths.to_stdout() {
            return Err(Failure::usage(
                format!("{option} has no effect on standard output: {why}"),
                format!("leave out {option}, or name a file"),
            ));
        }
    }
    let mut inputs = paths.jobs().iter().map(|job| &job.input);
    let folder = inputs.find(|input| matches!(input, InputPath::Folder(_)));
    match folder {
        Some(folder) if init.is_some() => Err(Failure::usage(
            format!("--init is for segments alone; {} is a folder", folder.name()),
            "leave out --init: the initialization segment is in the folder",
        )),
        _ => Ok(()),
    }
}

fn check_protection(args: &ProtectionArgs, paths: &Paths) -> Result<(), Failure> {
    let scheme = Scheme::from(args.scheme);
    if args.iv.is_some() && scheme != Scheme::Cbcs && paths.jobs().len() > 1 {
        return Err(Failure::usage(
            format!("--iv would give all inputs the same IVs, which {scheme} must not repeat"),
            "leave out --iv, which makes them random; or encrypt each input in a call of its own",
        ));
    }
    if args.pattern.is_some() && !scheme.has_pattern() {
        return Err(Failure::usage(
            format!("--pattern is for cbcs and cens; {scheme} encrypts all protected blocks"),
            "leave out --pattern, or take --scheme cbcs",
        ));
    }
    Ok(())
}

fn check_truncated_runs(
    option: &str,
    given: Option<TruncatedRuns>,
    args: &ProtectionArgs,
) -> Result<(), Failure> {
    let cuts = Scheme::from(args.scheme).has_pattern()
        && args.pattern.is_some_and(|(crypt, skip)| crypt > 1 && skip > 0);
    if given.is_none() || cuts {
        return Ok(());
    }
    Err(Failure::usage(
        format!("{option} has no effect: only patterns like 5:5 have truncated runs"),
        format!("leave out {option}, or give a --pattern"),
    ))
}

fn check_encryption(args: &EncryptArgs, paths: &Paths) -> Result<(), Failure> {
    check_protection(&args.protection, paths)?;
    check_truncated_runs("--truncated-runs", args.truncated_runs, &args.protection)?;
    let no_effect = |option: &str, why: &str| {
        Err(Failure::usage(format!("{option} has no effect: {why}"), format!("leave out {option}")))
    };
    let mut inputs = paths.jobs().iter().map(|job| &job.input);
    let segments = args.init.is_some() || inputs.all(|i| matches!(i, InputPath::Folder(_)));
    for (option, given) in [
        ("--layout", args.layout.is_some()),
        ("--fragment-duration", args.fragment_duration.is_some()),
    ] {
        if given && segments {
            return no_effect(option, "segments stay what they are");
        }
    }
    if args.fragment_duration.is_some() && args.layout.map(Layout::from) == Some(Layout::Keep) {
        return no_effect("--fragment-duration", "--layout keep makes no fragments");
    }
    for (option, given) in
        [("--pssh", !args.protection.pssh.is_empty()), ("--no-pssh", args.protection.no_pssh)]
    {
        if given && args.init.is_some() {
            return no_effect(option, "pssh boxes are in the initialization segment");
        }
    }
    Ok(())
}

/// Takes all inputs to their outputs, and gives the exit code.
fn run(
    operation: &Operation,
    paths: &Paths,
    init: Option<&PathBuf>,
    common: &CommonArgs,
    choices: &Choices,
    watch: &Watch,
) -> Result<u8, Failure> {
    match paths {
        Paths::One(job) => {
            let result = process(operation, job, init, watch);
            watch.end();
            let summary = result?;
            if common.run.json {
                let value = serde_json::to_value(&summary).map_err(io::Error::from)?;
                report::json(&value, job.output.is_standard())?;
            } else if !common.run.quiet {
                // The output is there: what cannot be said of it on standard error is no failure.
                let _ = report::text(operation.verb(), &job.output, &summary, common.run.verbose);
            }
            Ok(0)
        }
        Paths::Into(folder, jobs) => {
            let made = folder.as_ref().map(|folder| make_folder(folder)).transpose()?;
            let result = several(operation, jobs, init, common, choices, watch);
            if let (Some(folder), Some(true)) = (folder, made) {
                // With something in it, it stays.
                let _ = fs::remove_dir(folder);
            }
            result
        }
    }
}

/// Whether the folder was made.
fn make_folder(folder: &Path) -> Result<bool, Failure> {
    match fs::create_dir(folder) {
        Ok(()) => Ok(true),
        Err(_) if folder.is_dir() => Ok(false),
        Err(error) => {
            let what = format!("cannot make the folder {}", folder.display());
            Err(Failure::Io { what, error: why_no_folder(folder, error) })
        }
    }
}

/// One input after the other: a failure ends none of the others, a signal all of them.
fn several(
    operation: &Operation,
    jobs: &[PathJob],
    init: Option<&PathBuf>,
    common: &CommonArgs,
    choices: &Choices,
    watch: &Watch,
) -> Result<u8, Failure> {
    let mut code = 0;
    let mut summaries = Vec::new();
    let mut objects = Vec::new();
    for job in jobs {
        let before = code;
        let result = if watch.interrupted() {
            Err(Error::Interrupted.into())
        } else {
            process(operation, job, init, watch)
        };
        if let Err(failure) = &result
            && (code == 0 || failure.is_interruption())
        {
            code = failure.code();
        }
        if common.run.json {
            objects.push(object(job, &result)?);
        } else {
            // What cannot be printed is no reason to stop.
            let _ = watch.suspend(|| match &result {
                Ok(_) if common.run.quiet => Ok(()),
                Ok(summary) => {
                    report::text(operation.verb(), &job.output, summary, common.run.verbose)
                }
                // Once is enough.
                Err(failure) if failure.is_interruption() && before == failure.code() => Ok(()),
                Err(failure) => {
                    failure.print_about(&job.input.name());
                    Ok(())
                }
            });
        }
        summaries.extend(result.ok());
    }
    watch.end();
    if common.run.json
        && let Err(error) = report::json(&objects.into(), false)
    {
        // Whoever closed the pipe may know; a failure of an input counts more than that of its report.
        let failure = Failure::Print(error);
        return if code == 0 { Err(failure) } else { Ok(code) };
    }
    if code == 0 {
        choices.check(&summaries)?;
    }
    Ok(code)
}

/// What JSON says of one of several inputs.
fn object(job: &PathJob, result: &Result<Summary, Failure>) -> io::Result<serde_json::Value> {
    let mut object = json!({
        "input": shown(&job.input.name()),
        "output": shown(&job.output.name()),
    });
    match result {
        Ok(summary) => object["summary"] = serde_json::to_value(summary)?,
        Err(failure) => failure.add_to(&mut object),
    }
    Ok(object)
}

/// The name of a file that is there: it is no key that was given in the wrong place.
fn shown(name: &str) -> String {
    if Path::new(name).exists() { name.into() } else { without_keys(name) }
}
