//! Time of the per-fragment path. Not a test of anything; run it with
//! `cargo test --release -p lanelock-mp4 --test suite speed:: -- --ignored --nocapture`.

use std::{hint::black_box, time::Instant};

use crate::common::{moofs, movie, vector};
use lanelock_mp4::{
    Fragment, SampleAuxTable, Subsample, SubsampleMode,
    edit::{FragmentEdit, KeepPssh, Protect, WriteAux},
};

#[test]
#[ignore = "a measurement, no test"]
fn one_fragment() {
    let file = vector("cbcs.mp4");
    let movie = movie(&file);
    let (offset, moof) = moofs(&file).swap_remove(1);
    let len = file.len() as u64 * 2;
    let parse = |bytes| Fragment::parse(bytes, offset, &movie, len).unwrap();
    let clear = FragmentEdit::new(&parse(&moof)).unprotect(KeepPssh::No).finish(0).unwrap();
    let count = parse(&clear).tracks[0].sample_count;
    let mut table = SampleAuxTable::new(8, SubsampleMode::Present);
    let time = |name: &str, body: &mut dyn FnMut()| {
        let mut best = f64::MAX;
        for _ in 0..20 {
            let start = Instant::now();
            for _ in 0..200 {
                body();
            }
            best = best.min(start.elapsed().as_secs_f64() / 200.0);
        }
        println!("{name}: {:.2} µs", best * 1e6);
    };
    println!("{count} samples, {} trafs, {} bytes", parse(&clear).tracks.len(), clear.len());
    time("parse", &mut || drop(black_box(parse(&clear))));
    let fragment = parse(&clear);
    time("samples", &mut || {
        black_box(fragment.tracks[0].samples().map(|sample| sample.offset).sum::<u64>());
    });
    let mut fill = || {
        table.clear();
        for sample in fragment.tracks[0].samples() {
            let subsample = Subsample { clear: 9, protected: sample.size - 9 };
            table.push(&[1; 8], &[subsample]).unwrap();
        }
    };
    time("fill the aux table", &mut fill);
    time("protect", &mut || {
        let plan = [Protect::new(0, WriteAux::Full(&table))];
        black_box(FragmentEdit::new(&fragment).protect(&plan).finish(5).unwrap());
    });
    let protected = parse(&moof);
    time("unprotect", &mut || {
        black_box(FragmentEdit::new(&protected).unprotect(KeepPssh::No).finish(5).unwrap());
    });
}
