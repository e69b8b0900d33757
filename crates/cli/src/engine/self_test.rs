//! `lanelock selftest`.

use std::{
    io::{self, Write},
    time::Instant,
};

use lanelock::{AesLevel, hash::HashLevel, self_test::SelfTestError};
use lanelock_speed::self_test;
use serde_json::{Value, json};

use crate::failure::Failure;

/// Tests the cryptography with known answers, at every level that this processor has.
///
/// Each algorithm works on a fixed input, for one buffer, in lanes and in batches, in both directions. The
/// answers are those of OpenSSL and libaegis. A wrong one ends the command with exit code 1.
#[derive(Debug, clap::Args)]
pub(crate) struct SelfTestArgs {
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What became of a level.
struct Tested {
    family: &'static str,
    name: &'static str,
    requires: &'static str,
    /// How many algorithms answered as they should; none if the level is not here.
    algorithms: Option<usize>,
    milliseconds: f64,
}

impl Tested {
    fn of<L>(
        family: &'static str,
        (name, requires): (&'static str, &'static str),
        level: Option<L>,
        run: impl FnOnce(L) -> Result<usize, SelfTestError>,
    ) -> Result<Self, Failure> {
        let start = Instant::now();
        let algorithms = level.map(run).transpose().map_err(Failure::SelfTest)?;
        let milliseconds = (start.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        Ok(Self { family, name, requires, algorithms, milliseconds })
    }

    fn json(&self) -> Value {
        let Self { family, name, algorithms, milliseconds, .. } = self;
        match algorithms {
            Some(algorithms) => json!({
                "family": family, "name": name, "available": true, "algorithms": algorithms,
                "milliseconds": milliseconds,
            }),
            None => json!({ "family": family, "name": name, "available": false }),
        }
    }
}

pub(crate) fn self_test(args: &SelfTestArgs) -> Result<(), Failure> {
    let mut levels = Vec::new();
    for known in AesLevel::known() {
        let level = known.0.parse().ok();
        levels.push(Tested::of(AesLevel::FAMILY.name(), *known, level, self_test::run)?);
    }
    for known in HashLevel::known() {
        let level = known.0.parse().ok();
        levels.push(Tested::of(HashLevel::FAMILY.name(), *known, level, self_test::run_hashes)?);
    }
    let mut out = io::stdout().lock();
    if args.json {
        let levels: Vec<_> = levels.iter().map(Tested::json).collect();
        serde_json::to_writer_pretty(&mut out, &json!({ "levels": levels }))
            .map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    for Tested { family, name, requires, algorithms, milliseconds } in levels {
        write!(out, "{family:<4} {name:<10} ")?;
        match algorithms {
            Some(count) => {
                writeln!(out, "{count} algorithms answer as they should ({milliseconds:.0} ms)")?;
            }
            None => writeln!(out, "not here: requires {}", requires.replace(',', " "))?,
        }
    }
    Ok(out.flush()?)
}
