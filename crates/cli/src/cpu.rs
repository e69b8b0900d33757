//! `lanelock cpu`.

use std::io::{self, Write};

use lanelock::AesLevel;
use lanelock_packager::Error;

use crate::{args::CpuArgs, failure::Failure};

pub(crate) fn cpu(args: &CpuArgs) -> Result<(), Failure> {
    let chosen = AesLevel::best().map_err(Error::from)?;
    let why = if std::env::var_os("LANELOCK_LEVEL").is_some() {
        "LANELOCK_LEVEL names it"
    } else {
        "the fastest that this processor has"
    };
    let mut out = io::stdout().lock();
    if args.json {
        let levels: Vec<_> = AesLevel::known()
            .iter()
            .map(|(name, requires)| {
                serde_json::json!({
                    "name": name,
                    "requires": requires,
                    "available": name.parse::<AesLevel>().is_ok(),
                })
            })
            .collect();
        let all = serde_json::json!({ "levels": levels, "chosen": chosen.name(), "why": why });
        serde_json::to_writer_pretty(&mut out, &all).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    for (name, requires) in AesLevel::known() {
        let state = if *name == chosen.name() {
            "in use"
        } else if name.parse::<AesLevel>().is_ok() {
            "available"
        } else {
            "not here"
        };
        writeln!(out, "{name:<10} {state:<10} requires {}", requires.replace(',', " "))?;
    }
    writeln!(out, "\n{chosen} is in use: {why}.")?;
    Ok(out.flush()?)
}
