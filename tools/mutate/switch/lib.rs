//! Which of the mutants of a program is on: the one whose number is in `LANELOCK_MUTANT`, or none.
//!
//! With `LANELOCK_MUTANTS_REACHED=FILE` the numbers of all mutants that a run gets to are added to that file, each
//! once, and none is on.

#![forbid(unsafe_code)]

use std::{
    env,
    fs::OpenOptions,
    io::Write,
    path::PathBuf,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

/// No mutant has these numbers.
const UNKNOWN: u32 = u32::MAX;
const RECORDING: u32 = u32::MAX - 1;
const NONE: u32 = u32::MAX - 2;

// Threads that ask at the same time find the same answer, so no order is needed.
static CHOSEN: AtomicU32 = AtomicU32::new(UNKNOWN);
static REACHED: [AtomicBool; 1 << 14] = [const { AtomicBool::new(false) }; 1 << 14];
static REACHED_FILE: OnceLock<PathBuf> = OnceLock::new();

/// Whether the mutant of that number is on.
#[inline]
pub fn on(mutant: u32) -> bool {
    match CHOSEN.load(Ordering::Relaxed) {
        UNKNOWN => first(mutant),
        RECORDING => record(mutant),
        chosen => chosen == mutant,
    }
}

#[cold]
fn first(mutant: u32) -> bool {
    let chosen = match (env::var_os("LANELOCK_MUTANTS_REACHED"), env::var("LANELOCK_MUTANT")) {
        (Some(file), _) => {
            REACHED_FILE.get_or_init(|| file.into());
            RECORDING
        }
        (None, Ok(number)) => number.parse().expect("LANELOCK_MUTANT is a number"),
        (None, Err(_)) => NONE,
    };
    CHOSEN.store(chosen, Ordering::Relaxed);
    on(mutant)
}

#[cold]
fn record(mutant: u32) -> bool {
    if !REACHED[mutant as usize].swap(true, Ordering::Relaxed) {
        let file = REACHED_FILE.get().expect("it is set before anything is recorded");
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(file)
            .expect("the file can be written");
        file.write_all(format!("{mutant}\n").as_bytes()).expect("the file can be written");
    }
    false
}
