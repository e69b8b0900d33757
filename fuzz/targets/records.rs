#![no_main]

use lanelock_fuzz_targets::records;

libfuzzer_sys::fuzz_target!(|data: &[u8]| records(data));
