//! What was done, as it is printed.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use lanelock_packager::{KeyVerdict, Summary, Times, UnclaimedRange};
use serde_json::Value;

use crate::{
    hide::without_keys,
    paths::OutputPath,
    terminal::{printable, printable_json},
    units,
};

/// Prints JSON, on standard output if that is free.
pub(crate) fn json(value: &Value, stdout_is_taken: bool) -> io::Result<()> {
    let mut to: Box<dyn Write> =
        if stdout_is_taken { Box::new(io::stderr().lock()) } else { Box::new(io::stdout().lock()) };
    writeln!(to, "{}", printable_json(&serde_json::to_string_pretty(value)?))?;
    to.flush()
}

/// Prints the summary for people.
pub(crate) fn text(
    verb: &str,
    output: &OutputPath,
    summary: &Summary,
    verbose: bool,
) -> io::Result<()> {
    // The summary is text for people: to standard error, so that standard output stays free for data.
    let mut out = io::stderr().lock();
    for track in &summary.tracks {
        let what = match (&track.scheme, &track.kid) {
            (Some(scheme), Some(kid)) => {
                let mut text =
                    format!("{verb} with {scheme}, {} access units, KID {kid}", track.access_units);
                if let Some(more) = track.kids.len().checked_sub(1).filter(|more| *more > 0) {
                    let _ = write!(text, " and {more} more");
                }
                if track.clear_access_units > 0 {
                    let _ = write!(text, "; {} access units clear", track.clear_access_units);
                }
                text
            }
            _ => "clear".into(),
        };
        writeln!(out, "track {} ({}): {what}", track.id, track.codec)?;
        for key in summary.keys.iter().filter(|key| key.track == track.id) {
            match key.verdict {
                KeyVerdict::Fits if !verbose => writeln!(out, "  key fits")?,
                KeyVerdict::Unknown if !verbose => {
                    writeln!(
                        out,
                        "  key not checked: too little of the video to tell (-v says more)"
                    )?;
                }
                verdict => writeln!(out, "  key {verdict}: {}", key.reason)?,
            }
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
    let Summary { bytes_in, bytes_out, fragments, seconds, .. } = summary;
    let fragments = match fragments {
        0 => "progressive".to_owned(),
        n => units::count(*n, "fragment", "fragments"),
    };
    writeln!(
        out,
        "{}: {}, {fragments}, {} at {}",
        printable(&without_keys(&output.name())),
        units::bytes(*bytes_out),
        units::duration(*seconds),
        units::byte_rate(*bytes_in, *seconds),
    )?;
    if !verbose {
        return Ok(());
    }
    let Summary { level, workers, times, .. } = summary;
    stages(&mut out, level, *workers, times, verb != "encrypted")
}

/// Where the time of the workers went; `looks` says whether they looked at what was decrypted.
pub(crate) fn stages(
    out: &mut dyn Write,
    level: &str,
    workers: usize,
    times: &Times,
    looks: bool,
) -> io::Result<()> {
    let Times { plan, read, map, crypto, look, write, .. } = *times;
    let all = (plan + read + map + crypto + look + write).max(f64::MIN_POSITIVE);
    let percent = |part: f64| 100.0 * part / all;
    let looking = if looks { format!(", key check {:.0} %", percent(look)) } else { String::new() };
    writeln!(
        out,
        "{}: plan {:.0} %, read {:.0} %, map {:.0} %, AES ({level}) {:.0} %{looking}, write {:.0} %",
        units::count(workers as u64, "worker", "workers"),
        percent(plan),
        percent(read),
        percent(map),
        percent(crypto),
        percent(write),
    )
}
