//! The `lanelock` command: parse, call, print.

#![forbid(unsafe_code)]

mod args;
mod cpu;
mod failure;
mod hide;
mod inspect;
mod keys;
mod pssh;
mod run;
mod speed;
mod units;
mod usage;
mod watch;

use std::{io, process::ExitCode};

use clap::Parser;

use args::{Args, Command};
use failure::Failure;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage::report(&error),
    };
    let (json, result) = match &args.command {
        Command::Encrypt(args) => (args.common.json, run::encrypt(args)),
        Command::Decrypt(args) => (args.common.json, run::decrypt(args)),
        Command::Inspect(args) => (args.json, inspect::inspect(args)),
        Command::Cpu(args) => (args.json, cpu::cpu(args)),
        Command::Speed(args) => (args.json(), speed::speed(args)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of a pipe may close it early, like `head`: that is no failure.
        Err(Failure::Print(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => failure.report(json),
    }
}
