//! Plants mutants in copies of source files: `tools/mutants` runs it.
//!
//! ```text
//! mutate list FILE...              every mutant of the files, one a line
//! mutate plant FROM TO < MUTANTS   FROM with some of its mutants, written to TO
//! ```
//!
//! A line of `list` is `file TAB bytes TAB line TAB function TAB change`, where bytes are `FIRST-END`. `plant` reads
//! lines `identifier TAB bytes TAB change`, and makes of each mutant a branch: of `a + b` with the mutant 7
//!
//! ```text
//! (if ::mutant_switch::on(7) { (a) - (b) } else { (a + b) })
//! ```
//!
//! so that hundreds of mutants are compiled once (mutant schemata: Untch, Offutt, Harrold, 1993). What is evaluated
//! at compile time cannot ask a switch and has no mutants here: constants, statics, lengths, `const fn`. Neither have
//! macros' definitions and arguments, which are tokens to a parser, and code under `#[cfg(test)]`.

#![forbid(unsafe_code)]

mod plant;
mod sites;
mod values;

use std::{
    env,
    error::Error,
    fs,
    io::{self, Write},
};

use crate::{plant::Chosen, sites::sites};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list", ref files @ ..] => list(files),
        ["plant", from, to] => {
            let text = fs::read_to_string(from)?;
            let chosen = Chosen::read(io::stdin().lines())?;
            fs::write(to, plant::plant(&text, &sites(&text)?, &chosen)?)?;
            Ok(())
        }
        _ => Err("usage: mutate list FILE... | mutate plant FROM TO".into()),
    }
}

fn list(files: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    for file in files {
        let text = fs::read_to_string(file)?;
        for site in sites(&text).map_err(|error| format!("{file}: {error}"))? {
            let bytes = site.bytes();
            let line = text[..site.range.start].matches('\n').count() + 1;
            for mutant in &site.mutants {
                writeln!(out, "{file}\t{bytes}\t{line}\t{}\t{}", site.function, mutant.change)?;
            }
        }
    }
    Ok(())
}
