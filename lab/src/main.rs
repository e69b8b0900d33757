//! Measures Lanelock beside its peers and beside the limit of the hardware, in one run, and writes
//! `docs/performance.md`, `docs/performance.json` and the plots.
//!
//! Each library runs in a process of its own, a *worker*, so that their symbols do not collide; all
//! share one core and take turns, row by row, pass by pass: A B C, A B C. See `--help`.

mod charts;
mod contestants;
mod machine;
mod options;
mod report;
mod results;
mod rows;
mod tables;
mod worker;

use std::{io::IsTerminal, process::ExitCode};

use contestants::Contestant;
use options::Options;
use results::Results;

fn main() -> ExitCode {
    match options::parse(std::env::args().skip(1)).and_then(|options| match options {
        Some(options) => run(&options),
        None => Ok(()),
    }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lab: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let results = match &options.from {
        Some(path) => Results::read(path)?,
        None => measure(options)?,
    };
    report::write(&results, &options.out)?;
    for text in results.failures.iter().chain(&results.disagreements()) {
        eprintln!("lab: {text}");
    }
    Ok(())
}

/// All rows with all contestants, in turns.
fn measure(options: &Options) -> Result<Results, String> {
    let rows = rows::chosen(&options.rows);
    if rows.is_empty() {
        return Err("no such rows: see --list".into());
    }
    let processors = machine::processors();
    worker::pin(processors.1);
    let (mut contestants, missing) = Contestant::all(options, processors)?;
    let gigahertz = contestants[0].gigahertz();
    let mut results = Results::new(machine::describe(gigahertz), options, &contestants, missing);
    let start = std::time::Instant::now();
    let terminal = std::io::stderr().is_terminal();
    for pass in 1..=options.passes {
        // Limits are disturbed as easily as figures.
        for ours in contestants.iter_mut().filter(|c| c.ours()) {
            ours.forget();
        }
        for row in &rows {
            results.add(row, &mut contestants);
        }
        for (i, row) in rows.iter().enumerate() {
            if terminal {
                let (passes, rows, row) = (options.passes, rows.len(), &row.row);
                eprint!("\r\x1b[Kpass {pass}/{passes}, row {}/{rows}: {row}", i + 1);
            }
            for contestant in contestants.iter_mut().filter(|c| !c.ours() || row.levels || c.best())
            {
                match contestant.measure(&row.row, options.windows) {
                    Ok(Some(answer)) => results.take(&row.row, contestant, &answer),
                    Ok(None) => {}
                    Err(error) => results.fail(error),
                }
            }
        }
        if !terminal {
            eprintln!("lab: pass {pass}/{}, {} s", options.passes, start.elapsed().as_secs());
        }
    }
    if terminal {
        eprintln!();
    }
    Ok(results)
}
