//! Instructions followed one by one: does the processor take the same way, over the same addresses, for both classes
//! of inputs?
//!
//! The operations run in a process of their own, which this one stops after each instruction. Two traces, of inputs
//! that differ in what is secret alone, have to be equal: the instructions, the addresses that they read and write, and
//! the operands of divisions, whose time depends on them. Each is run in a copy of that process, so that all begin with
//! the same memory. That is what [`taint`](crate::taint) asks as well; here it is
//! asked of the inputs that are tried alone, but at every level that the processor has.

mod process;
mod registers;

use crate::{
    Options, print,
    rng::Rng,
    skip_missing_levels,
    subjects::{self, Subject},
};
use process::{Process, Stop, Trace};

/// Pairs of inputs of an operation.
const PAIRS: u64 = 2;
/// More instructions than an operation may have: its trace is held in memory.
pub(crate) const MOST_INSTRUCTIONS: usize = 100_000_000;

/// Follows the operations at all levels. Whether all was as it should be.
pub(crate) fn run(options: &Options) -> bool {
    let short = options.short.then(|| "--short".to_owned());
    let arguments =
        ["traced".to_owned()].into_iter().chain(short).chain(options.words.iter().cloned());
    let mut process = match Process::of_this_program(&arguments.collect::<Vec<_>>()) {
        Ok(process) => process,
        Err(error) => {
            println!("all|all|trace|skipped: no process can be followed here: {error}|-|-");
            return true;
        }
    };
    let mut passed = true;
    for trial in subjects::trials() {
        let (result, instructions) = process.judge(trial.name, "-", trial.leaks);
        passed &= print((trial.name, "-"), "trace", trial.result(result), "-", instructions);
    }
    for row in rows(options) {
        let (result, instructions) = process.judge(&row.name, &row.level, false);
        passed &= print((&row.name, &row.level), "trace", result, "-", instructions);
    }
    skip_missing_levels("trace", "the processor does not have it");
    passed
}

/// The operations that are followed.
fn rows(options: &Options) -> impl Iterator<Item = subjects::Row> {
    subjects::rows().filter(|row| !options.short && options.chosen(&row.name, &row.level))
}

/// The other process: runs the operations, one after the other, and says where a trace begins and ends.
pub(crate) fn traced(options: &Options) {
    let trials = subjects::trials().into_iter().map(|trial| trial.make);
    let rows = rows(options).map(|row| row.make);
    for make in trials.chain(rows) {
        make().run_traced();
        process::stop(Stop::Operation);
    }
}

impl Subject {
    /// Runs pairs of inputs, between stops.
    fn run_traced(&mut self) {
        let pairs = if self.slow { 1 } else { PAIRS };
        // Inputs of a pair are made of the same random numbers: what both classes choose by chance is the same.
        let inputs = (0..2 * pairs).map(|number| {
            let mut input = vec![0; self.bytes];
            let class = usize::from(number % 2 == 1);
            (self.fill)(class, &mut Rng::new(number / 2), &mut input);
            input
        });
        let inputs: Vec<_> = inputs.collect();
        let mut place = vec![0; self.bytes];
        // What is made at the first call is there in all that are followed.
        for input in &inputs[..2] {
            place.copy_from_slice(input);
            (self.work)(&mut place);
        }
        for input in &inputs {
            place.copy_from_slice(input);
            process::in_a_copy(&mut place, &mut self.prepare, &mut self.work);
        }
    }
}

impl Process {
    /// Follows the next operation: the result, and how many instructions one input takes.
    fn judge(&mut self, name: &str, level: &str, leaks: bool) -> (&'static str, usize) {
        let (mut result, mut instructions) = ("clean", 0);
        loop {
            match self.follow_pair() {
                Ok(Some(Trace { difference, length })) => {
                    instructions = length;
                    if let Some(difference) = difference {
                        result = "LEAK";
                        if !leaks {
                            explain(name, level, &self.describe(&difference));
                        }
                    }
                }
                Ok(None) => return (result, instructions),
                Err(error) => {
                    explain(name, level, &error);
                    // If the process has ended, the next operation says so.
                    let _ = self.skip();
                    return ("NOT RUN", instructions);
                }
            }
        }
    }
}

#[expect(clippy::print_stderr, reason = "the table has no room for it")]
fn explain(name: &str, level: &str, what: &str) {
    eprintln!("{name} at {level}: {what}");
}
