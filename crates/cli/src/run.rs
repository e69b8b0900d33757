//! `lanelock encrypt` and `lanelock decrypt`.

use std::{
    io::{self, Write},
    path::Path,
};

use lanelock_packager::{
    DecryptOptions, EncryptOptions, Iv, Scheme, Summary, Times, UnclaimedRange,
};

use crate::{
    args::{CommonArgs, DecryptArgs, EncryptArgs, TruncatedRuns},
    failure::Failure,
    hide::without_keys,
    keys, pssh, units,
    watch::Watch,
};

pub(crate) fn encrypt(args: &EncryptArgs) -> Result<(), Failure> {
    let common = &args.common;
    let scheme = Scheme::from(args.scheme);
    if args.pattern.is_some() && !scheme.has_pattern() {
        return Err(Failure::usage(
            format!("--pattern is for cbcs and cens; {scheme} encrypts all protected blocks"),
            "leave out --pattern, or take --scheme cbcs",
        ));
    }
    let watch = Watch::new(common)?;
    let keys = keys::by_track(&args.keys, &watch)?;
    let mut options = EncryptOptions::new(scheme, keys)
        .with_clear(args.clear.clone())
        .with_encrypted_truncated_runs(common.truncated_runs == TruncatedRuns::Encrypt)
        .with_iv(args.iv.as_ref().map_or(Iv::Random, |iv| Iv::Given(iv.0.clone())))
        .with_pssh(pssh::boxes(&args.pssh)?)
        .with_common_pssh(!args.no_pssh)
        .with_layout(args.layout.into())
        .with_fragment_duration(args.fragment_duration)
        .with_index(common.sidx.into())
        .with_unclaimed(common.unclaimed())
        .with_workers(common.workers.map_or(0, usize::from))
        .with_sync(common.sync);
    if let Some((crypt, skip)) = args.pattern {
        options = options.with_pattern(crypt, skip);
    }
    let result = lanelock_packager::encrypt_file(&args.input, &args.output, &options, &watch);
    watch.end();
    report("encrypted", &args.output, &result?, common)
}

pub(crate) fn decrypt(args: &DecryptArgs) -> Result<(), Failure> {
    let common = &args.common;
    let watch = Watch::new(common)?;
    let keys = keys::by_kid(&args.keys, &watch)?;
    let options = DecryptOptions::new(keys)
        .with_encrypted_truncated_runs(common.truncated_runs == TruncatedRuns::Encrypt)
        .with_index(common.sidx.into())
        .with_unclaimed(common.unclaimed())
        .with_check_keys(!args.no_key_check)
        .with_workers(common.workers.map_or(0, usize::from))
        .with_sync(common.sync);
    let result = lanelock_packager::decrypt_file(&args.input, &args.output, &options, &watch);
    watch.end();
    report("decrypted", &args.output, &result?, common)
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
    // The summary is text for people: to standard error, so that standard output stays free for data.
    let mut out = io::stderr().lock();
    for track in &summary.tracks {
        let what = match (&track.scheme, &track.kid) {
            (Some(scheme), Some(kid)) => {
                format!("{verb} with {scheme}, {} access units, KID {kid}", track.access_units)
            }
            _ => "clear".into(),
        };
        writeln!(out, "track {} ({}): {what}", track.id, track.codec)?;
        for key in summary.keys.iter().filter(|key| key.track == track.id) {
            writeln!(out, "  key {}: {}", key.verdict, key.reason)?;
        }
    }
    let unclaimed = &summary.unclaimed;
    for UnclaimedRange { offset, bytes, looks_like, .. } in unclaimed.listed.iter().take(3) {
        writeln!(
            out,
            "not {verb}, since no sample or item refers to them: {} at file offset {offset}; \
             {looks_like}",
            units::count(*bytes, "byte", "bytes"),
        )?;
    }
    if unclaimed.ranges > 3 {
        let ranges = unclaimed.ranges - 3;
        writeln!(out, "... and {ranges} more such ranges, {} bytes in all", unclaimed.bytes)?;
    }
    let Summary { bytes_in, bytes_out, fragments, seconds, level, workers, times, .. } = summary;
    let fragments = match fragments {
        0 => "progressive".to_owned(),
        n => units::count(*n, "fragment", "fragments"),
    };
    writeln!(
        out,
        "{}: {}, {fragments}, {} at {}",
        without_keys(&output.display().to_string()),
        units::bytes(*bytes_out),
        units::duration(*seconds),
        units::gigabytes_a_second(*bytes_in, *seconds),
    )?;
    let Times { plan, read, map, crypto, look, write, .. } = *times;
    let all = (plan + read + map + crypto + look + write).max(f64::MIN_POSITIVE);
    let percent = |part: f64| 100.0 * part / all;
    let looking = if verb == "decrypted" {
        format!(", key check {:.0} %", percent(look))
    } else {
        String::new()
    };
    writeln!(
        out,
        "{}: plan {:.0} %, read {:.0} %, map {:.0} %, AES ({level}) {:.0} %{looking}, write {:.0} %",
        units::count(*workers as u64, "worker", "workers"),
        percent(plan),
        percent(read),
        percent(map),
        percent(crypto),
        percent(write),
    )?;
    Ok(())
}
