#![no_main]

use lanelock_fuzz_targets::modes::modes;

libfuzzer_sys::fuzz_target!(|data: &[u8]| modes(data, lanelock_fuzz::encrypted));
