//! Writes what the fuzzers begin with: `seeds FOLDER`, a folder for each target.

use std::{env, fs, path::Path};

fn main() {
    let folder = env::args_os().nth(1).expect("a folder");
    for target in lanelock_fuzz_targets::TARGETS {
        let folder = Path::new(&folder).join(target.name);
        fs::create_dir_all(&folder).expect("a folder that can be made");
        for (number, seed) in (target.seeds)().into_iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:03}")), seed).expect("a file");
        }
    }
}
