#![no_main]

use lanelock_fuzz_targets::Shape;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|data: &[u8]| lanelock_fuzz_targets::files(data));
fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    lanelock_fuzz::mutate(data, size, most, seed, Shape::Boxes { tail: 1 })
});
