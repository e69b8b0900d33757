#![no_main]

use lanelock_fuzz_targets::pubkey;

libfuzzer_sys::fuzz_target!(|data: &[u8]| pubkey(data));
