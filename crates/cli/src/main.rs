//! The `lanelock` command: parse, call, print.

#![forbid(unsafe_code)]

mod args;
mod choices;
mod cpix;
mod cpix_args;
mod cpu;
mod digests;
mod engine;
mod failure;
mod generated;
mod hide;
mod inspect;
mod job;
mod key_args;
mod key_boxes;
mod keys;
mod names;
mod new_keys;
mod operation;
mod package;
mod package_args;
mod paths;
mod play;
mod play_args;
mod process;
mod pssh;
mod remote;
mod report;
mod run;
mod run_args;
mod segments;
mod sum;
mod sum_args;
mod terminal;
mod track_arg;
mod units;
mod urls;
mod usage;
mod values;
mod watch;

use std::{io, process::ExitCode};

use clap::{CommandFactory, Parser};

use args::{Args, Command};
use failure::Failure;
use key_args::KeysCommand;

fn main() -> ExitCode {
    watch::survive_file_size_limits();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage::report(&error),
    };
    let (json, result) = match &args.command {
        Command::Encrypt(args) => (args.common.run.json, run::encrypt(args)),
        Command::Decrypt(args) => (args.common.run.json, run::decrypt(args)),
        Command::Rewrap(args) => (args.common.run.json, run::rewrap(args)),
        Command::Inspect(args) => (args.json, inspect::inspect(args).map(|()| 0)),
        Command::Package(args) => (args.run.json, package::package(args)),
        Command::Play(args) => (args.json, play::play(args).map(|()| 0)),
        Command::Keys(args) => {
            let result = match &args.command {
                KeysCommand::New(args) => new_keys::new_keys(args),
                KeysCommand::Pssh(args) => key_boxes::pssh(args),
                KeysCommand::Cpix(args) => cpix::keys_cpix(args),
            };
            (args.json(), result.map(|()| 0))
        }
        Command::Sum(args) => (args.json, sum::sum(args)),
        Command::Cpu(args) => (args.json, cpu::cpu(args).map(|()| 0)),
        Command::SelfTest(args) => (args.json, engine::self_test(args).map(|()| 0)),
        Command::Speed(args) => (args.json(), engine::speed(args).map(|()| 0)),
        Command::Completions(args) => {
            (false, generated::completions(args, Args::command()).map(|()| 0))
        }
        Command::Man(args) => (false, generated::man(args, Args::command()).map(|()| 0)),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        // The reader of a pipe may close it early, like `head`: that is no failure.
        Err(Failure::Print(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            failure.print(json);
            ExitCode::from(failure.code())
        }
    }
}
