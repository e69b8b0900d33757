//! Key wrap: KW and KWP (NIST SP 800-38F, RFC 3394, RFC 5649).
