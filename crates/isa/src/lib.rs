//! Instruction-set levels, tokens and vector traits: the one home of SIMD code.
