//! `lanelock encrypt` and `lanelock decrypt`.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use base64::Engine as _;
use lanelock_mp4::{Pssh, top_level};
use lanelock_packager::{DecryptOptions, EncryptOptions, Iv, Summary};

use crate::{
    args::{CommonArgs, DecryptArgs, EncryptArgs, TruncatedRuns, hex},
    failure::Failure,
    keys,
    watch::Watch,
};

pub(crate) fn encrypt(args: &EncryptArgs) -> Result<(), Failure> {
    let common = &args.common;
    let watch = Watch::new(common.quiet, common.json)?;
    let keys = keys::by_track(&args.keys, &watch)?;
    let options = EncryptOptions {
        clear: args.clear.clone(),
        pattern: args.pattern,
        encrypt_truncated_runs: common.truncated_runs == TruncatedRuns::Encrypt,
        iv: args.iv.as_ref().map_or(Iv::Random, |iv| Iv::Given(iv.0.clone())),
        pssh: args.pssh.iter().map(|text| pssh(text)).collect::<Result<Vec<_>, _>>()?.concat(),
        common_pssh: !args.no_pssh,
        layout: args.layout.into(),
        fragment_duration: args.fragment_duration,
        workers: common.workers.map_or(0, usize::from),
        sync: common.sync,
        ..EncryptOptions::new(args.scheme.into(), keys)
    };
    let result = lanelock_packager::encrypt(&args.input, &args.output, &options, &watch);
    watch.end();
    report("encrypted", &args.output, &result?, common)
}

pub(crate) fn decrypt(args: &DecryptArgs) -> Result<(), Failure> {
    let common = &args.common;
    let watch = Watch::new(common.quiet, common.json)?;
    let keys = keys::by_kid(&args.keys, &watch)?;
    let options = DecryptOptions {
        encrypt_truncated_runs: common.truncated_runs == TruncatedRuns::Encrypt,
        workers: common.workers.map_or(0, usize::from),
        sync: common.sync,
        ..DecryptOptions::new(keys)
    };
    let result = lanelock_packager::decrypt(&args.input, &args.output, &options, &watch);
    watch.end();
    report("decrypted", &args.output, &result?, common)
}

/// Whole `pssh` boxes, one or several: base64, hexadecimal digits, or the name of a file.
fn pssh(text: &str) -> Result<Vec<Vec<u8>>, Failure> {
    let wrong = |why: String| {
        let hint = "give whole boxes, header included, as base64, hexadecimal digits or @FILE";
        Failure::usage(format!("--pssh: {why}"), hint)
    };
    let bytes = if let Some(path) = text.strip_prefix('@') {
        fs::read(path)
            .map_err(|error| Failure::Io { what: format!("cannot read {path}"), error })?
    } else if let Some(bytes) = hex(text) {
        bytes
    } else {
        let engine = base64::engine::general_purpose::STANDARD;
        engine.decode(text).map_err(|_| wrong("neither base64 nor hexadecimal digits".into()))?
    };
    let boxes = top_level(&bytes)
        .map(|header| {
            let header = header.map_err(|error| wrong(error.to_string()))?;
            // The walk has shown that both lie in the bytes.
            let range = usize::try_from(header.offset).ok().zip(usize::try_from(header.end()).ok());
            let found = range.and_then(|(start, end)| bytes.get(start..end));
            let found = found.ok_or_else(|| wrong("a box leaves the data".into()))?;
            Pssh::parse(found).map_err(|error| wrong(error.to_string()))?;
            Ok(found.to_vec())
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    if boxes.is_empty() { Err(wrong("it is empty".into())) } else { Ok(boxes) }
}

fn report(
    verb: &str,
    output: &Path,
    summary: &Summary,
    common: &CommonArgs,
) -> Result<(), Failure> {
    if common.json {
        let mut stdout = io::stdout().lock();
        serde_json::to_writer_pretty(&mut stdout, summary).map_err(io::Error::from)?;
        writeln!(stdout)?;
        return Ok(stdout.flush()?);
    }
    if common.quiet {
        return Ok(());
    }
    // For people, beside whatever goes to standard output.
    let mut out = io::stderr().lock();
    for track in &summary.tracks {
        let what = match (&track.scheme, &track.kid) {
            (Some(scheme), Some(kid)) => {
                format!("{verb} with {scheme}, {} access units, KID {kid}", track.access_units)
            }
            _ => "clear".into(),
        };
        writeln!(out, "track {} ({}): {what}", track.id, track.codec)?;
    }
    let Summary { bytes_in, bytes_out, fragments, seconds, level, workers, times, .. } = summary;
    let fragments = match fragments {
        0 => "progressive".to_owned(),
        1 => "1 fragment".to_owned(),
        n => format!("{n} fragments"),
    };
    writeln!(out, "{}: {}, {fragments}", output.display(), megabytes(*bytes_out))?;
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let speed = *bytes_in as f64 / seconds.max(1e-9) / 1e9;
    writeln!(
        out,
        "{:.3} s, {speed:.2} GB/s; {workers} workers: read {:.3} s, map {:.3} s, {level} {:.3} s, write \
         {:.3} s",
        seconds,
        times.read,
        times.plan + times.map,
        times.crypto,
        times.write,
    )?;
    Ok(())
}

fn megabytes(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let bytes = bytes as f64;
    if bytes < 1e6 { format!("{:.1} kB", bytes / 1e3) } else { format!("{:.1} MB", bytes / 1e6) }
}
