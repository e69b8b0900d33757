//! Nothing: see `tests/traits.rs`.

#![forbid(unsafe_code)]
