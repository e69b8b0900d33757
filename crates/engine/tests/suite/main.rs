//! The tests of the engine: one program, since each would compile the kernels of its own types again.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]

mod aegis;
mod batch;
mod cbc_hmac;
mod ccm;
mod chacha;
mod cmac;
mod crc;
mod crew;
mod ctr;
mod debug;
mod differential;
mod foreign;
mod gcm;
mod gcm_siv;
mod guard;
mod key_wrap;
mod lanes;
mod level_override;
mod levels;
mod ocb3;
mod scheduler;
mod stack;
mod streams;
mod support;
mod usage;
mod vectors;
mod xts;
mod zeroise;
