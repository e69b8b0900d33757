//! `lanelock cpu`.

use std::io::{self, Write};

use lanelock_isa::{Choice, Family, LevelError, Policy, families, policy};
use lanelock_packager::Error;

use crate::{args::CpuArgs, failure::Failure};

pub(crate) fn cpu(args: &CpuArgs) -> Result<(), Failure> {
    let choices: Result<Vec<(&Family, Choice)>, LevelError> =
        families().iter().map(|family| Ok((*family, family.choice()?))).collect();
    let choices = choices.map_err(Error::from)?;
    let policy = policy().map_err(Error::from)?;
    let (processor, whose) = processor(policy);
    let limit = if policy == Policy::host() {
        "the policy for this processor"
    } else {
        "LANELOCK_LEVEL says so"
    };
    let mut out = io::stdout().lock();
    if args.json {
        let families: Vec<_> =
            choices.iter().map(|(family, choice)| json(family, choice)).collect();
        let policy = serde_json::json!({
            "max_bits": policy.max_bits(), "why": limit, "processor": processor,
        });
        let all = serde_json::json!({ "families": families, "policy": policy });
        serde_json::to_writer_pretty(&mut out, &all).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    for (family, Choice { level: chosen, why, .. }) in &choices {
        writeln!(out, "{}", family.name())?;
        for level in family.levels() {
            let state = if level == *chosen {
                "in use"
            } else if family.has(level.name) {
                "available"
            } else {
                "not here"
            };
            let requires = level.requires.replace(',', " ");
            writeln!(out, "  {:<10} {state:<10} requires {requires}", level.name)?;
        }
        writeln!(out, "  {} is in use: {why}.\n", chosen.name)?;
    }
    writeln!(out, "Vectors have at most {} bits: {limit}.", policy.max_bits())?;
    writeln!(
        out,
        "Of two ways to the same bytes, those that are fast on {processor} are taken{whose}."
    )?;
    Ok(out.flush()?)
}

/// The family of processors whose ways are taken, and who says so.
fn processor(policy: Policy) -> (&'static str, &'static str) {
    let named = std::env::var("LANELOCK_LEVEL").is_ok_and(|value| value.contains("processor="));
    (policy.processor().name(), if named { ": LANELOCK_LEVEL says so" } else { "" })
}

fn json(family: &Family, Choice { level: chosen, why, .. }: &Choice) -> serde_json::Value {
    let levels: Vec<_> = family
        .levels()
        .iter()
        .map(|level| {
            serde_json::json!({
                "name": level.name,
                "requires": level.requires,
                "bits": level.bits,
                "available": family.has(level.name),
            })
        })
        .collect();
    serde_json::json!({
        "name": family.name(),
        "levels": levels,
        "chosen": chosen.name,
        "why": why.to_string(),
    })
}
