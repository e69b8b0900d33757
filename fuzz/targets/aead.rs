#![no_main]

use lanelock_fuzz_targets::aead::aead;

libfuzzer_sys::fuzz_target!(|data: &[u8]| aead(data, lanelock_fuzz::sealed));
