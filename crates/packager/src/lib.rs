//! The path of the bytes: plan, read, protect, write.
