//! Test vectors and conformance suites (development only).
