//! Every target of the fuzzers over what was a finding once, over what a fuzzer begins with, and over mutants
//! of both.
//!
//! `LANELOCK_SEED` repeats a run, `LANELOCK_MUTANTS` sets how many mutants there are.

use std::{fs, path::PathBuf};

use lanelock_fuzz_targets::{TARGETS, Target, mutate};
use lanelock_testkit::{Mutator, Rng, Watchdog, mutants, repository};

/// The inputs that were findings once.
fn regressions(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = repository().join("fuzz/regressions").join(target.name);
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let read = |path: PathBuf| (path.clone(), fs::read(path).expect("a readable file"));
    paths.into_iter().map(read).collect()
}

fn mutant(target: &Target, seed: &[u8], rng: &mut Rng) -> Vec<u8> {
    let (number, mut inner) = (u32::from_le_bytes(rng.array()), rng.fork(1));
    mutate(seed, target.shape, number, &mut |part| {
        *part = Mutator::of_head(part, usize::MAX).mutant(&mut inner);
    })
}

fn run(name: &str, count: usize) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of that name");
    let (mut rng, watchdog) = (Rng::from_env(name), Watchdog::new());
    for (path, input) in regressions(target) {
        watchdog.begins(path.display().to_string());
        eprintln!("{}", path.display());
        (target.run)(&input);
    }
    let seeds = (target.seeds)();
    for (number, seed) in seeds.iter().enumerate() {
        watchdog.begins(format!("{name}: seed {number}"));
        (target.run)(seed);
    }
    for number in 0..mutants(count) {
        let seed = rng.pick(&seeds);
        let mutant = mutant(target, seed, &mut rng);
        watchdog.begins(format!("{name}: mutant {number}"));
        (target.run)(&mutant);
    }
}

#[test]
fn boxes() {
    run("boxes", 2000);
}

#[test]
fn files() {
    run("files", 500);
}

#[test]
fn maps() {
    run("maps", 5000);
}

#[test]
fn text() {
    run("text", 5000);
}

#[test]
fn aead() {
    run("aead", 100);
}

#[test]
fn hashes() {
    run("hashes", 500);
}

#[test]
fn pubkey() {
    run("pubkey", 200);
}

#[test]
fn records() {
    run("records", 300);
}

#[test]
fn lanes() {
    run("lanes", 300);
}

#[test]
fn modes() {
    run("modes", 300);
}

/// Every regression belongs to a target.
#[test]
fn no_regression_is_forgotten() {
    let folder = repository().join("fuzz/regressions");
    for entry in fs::read_dir(folder).expect("the folder of regressions") {
        let name = entry.expect("an entry").file_name();
        assert!(
            name == "README.md" || TARGETS.iter().any(|target| name == target.name),
            "{name:?}"
        );
    }
}
