//! Checks that the engine takes the same time whatever keys, texts and tags are, by three methods:
//!
//! - [`taint`] runs under valgrind, which follows secrets through memory and registers and tells of each
//!   branch and each address that depends on one;
//! - [`trace`] follows an operation instruction by instruction and asks whether two classes of inputs take the same
//!   way, over the same addresses;
//! - [`stat`] measures two classes of inputs and asks whether their times differ.
//!
//! Each method is tried on planted leaks first, which it has to find, and on a control, where it has to find
//! nothing. `tools/ct` builds and runs them; what they prove and what not is in docs/security.md.
//!
//! Prints the rows of a table, with `|` between the columns: operation, level, method, result, |t|, measurements or
//! instructions.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

mod client;
mod clock;
mod planted;
mod stat;
mod subjects;
mod taint;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod trace;

/// The random numbers of the test kit, without the rest of it, which would take longer to build than this.
#[path = "../../src/rng.rs"]
#[expect(dead_code, unreachable_pub, reason = "it is a part of another crate")]
mod rng;

use std::{env, process::ExitCode};

use lanelock::{
    AesLevel,
    hash::{HashLevel, ShaLevel},
};
use lanelock_isa::LimbLevel;

const USAGE: &str =
    "usage: lanelock-ct taint|trace|stat [--short] [--measurements NUMBER] [WORD of operation]...";

/// How much is to be done.
struct Options {
    /// Little of all, for each change.
    short: bool,
    /// Measurements of each row at least.
    measurements: usize,
    /// Operations whose names, as `operation at level`, have one of these, or all.
    words: Vec<String>,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut options = Self { short: false, measurements: 0, words: Vec::new() };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--short" => options.short = true,
                "--measurements" => options.measurements = arguments.next()?.parse().ok()?,
                word if word.starts_with('-') => return None,
                word => options.words.push(word.to_owned()),
            }
        }
        if options.measurements == 0 {
            options.measurements = if options.short { 40_000 } else { 400_000 };
        }
        Some(options)
    }

    fn chosen(&self, operation: &str, level: &str) -> bool {
        let name = format!("{operation} at {level}");
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }
}

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let method = arguments.next().unwrap_or_default();
    if method == "measured" {
        return stat::measured(arguments).map_or(ExitCode::from(2), |()| ExitCode::SUCCESS);
    }
    let passed = match (method.as_str(), Options::parse(arguments)) {
        ("taint", Some(options)) => taint::run(&options),
        ("stat", Some(options)) => stat::run(&options),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        ("trace", Some(options)) => trace::run(&options),
        #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
        ("trace", Some(_)) => {
            println!("all|all|trace|skipped: written for Linux on x86-64|-|-");
            true
        }
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        ("traced", Some(options)) => {
            trace::traced(&options);
            true
        }
        _ => {
            println!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints a row of the table; whether it says that all is as it should be.
fn print(
    (operation, level): (&str, &str),
    method: &str,
    result: &str,
    t: &str,
    count: usize,
) -> bool {
    println!("{operation}|{level}|{method}|{result}|{t}|{count}");
    matches!(result, "clean" | "found" | "tiny")
}

/// Prints a row of the table for each level that the processor, or valgrind, does not have.
fn skip_missing_levels(method: &str, reason: &str) {
    for family in [AesLevel::FAMILY, HashLevel::FAMILY, ShaLevel::FAMILY, LimbLevel::FAMILY] {
        for level in family.levels().iter().filter(|level| !family.has(level.name)) {
            println!("all of {}|{}|{method}|skipped: {reason}|-|-", family.name(), level.name);
        }
    }
}
