#![no_main]

use lanelock_fuzz_targets::hashes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| hashes(data));
