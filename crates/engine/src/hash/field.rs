//! Products in GF(2^128), for GHASH and POLYVAL.
