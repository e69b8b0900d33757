#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lanelock_fuzz_targets::lanes(data));
