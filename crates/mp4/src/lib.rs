//! Zero-copy ISO base media file format layer with byte-exact splicing.
