//! The unit of everything here.

/// One AES block: 16 bytes (FIPS 197).
pub type Block = [u8; 16];
