//! Multi-buffer AES engine: independent chains side by side in SIMD lanes.
