//! Common Encryption (ISO/IEC 23001-7) of access units.

pub mod map;
