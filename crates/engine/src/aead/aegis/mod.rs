//! The AEGIS family (draft-irtf-cfrg-aegis-aead).
