//! `lanelock selftest`.

use std::{
    io::{self, Write},
    time::Instant,
};

use lanelock::{AesLevel, self_test};

use crate::{args::SelfTestArgs, failure::Failure};

pub(crate) fn self_test(args: &SelfTestArgs) -> Result<(), Failure> {
    let mut levels = Vec::new();
    for (name, requires) in AesLevel::known() {
        let start = Instant::now();
        let level = AesLevel::available().into_iter().find(|level| level.to_string() == *name);
        let result = level.map(self_test::run).transpose().map_err(Failure::SelfTest)?;
        levels.push((name, requires, result, (start.elapsed().as_secs_f64() * 1e6).round() / 1e3));
    }
    let mut out = io::stdout().lock();
    if args.json {
        let levels: Vec<_> = levels
            .iter()
            .map(|(name, _, result, milliseconds)| match result {
                Some(algorithms) => serde_json::json!({
                    "name": name, "available": true, "algorithms": algorithms, "milliseconds": milliseconds,
                }),
                None => serde_json::json!({ "name": name, "available": false }),
            })
            .collect();
        serde_json::to_writer_pretty(&mut out, &serde_json::json!({ "levels": levels }))
            .map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    for (name, requires, result, milliseconds) in levels {
        match result {
            Some(algorithms) => {
                writeln!(
                    out,
                    "{name:<10} {algorithms} algorithms answer as they should ({milliseconds:.0} ms)"
                )?;
            }
            None => writeln!(out, "{name:<10} not here: requires {}", requires.replace(',', " "))?,
        }
    }
    Ok(out.flush()?)
}
