//! Writes the manifests of streams on demand: DASH (ISO/IEC 23009-1, DASH-IF IOP) and HLS (RFC 8216bis).
//!
//! A [`Presentation`] says what there is: tracks in switching sets, their segments with times and sizes,
//! and how they are protected. [`dash()`] and [`hls()`] write the manifests of it.
#![forbid(unsafe_code)]

mod check;
mod dash;
mod error;
mod hls;
mod model;
mod protection;

pub use dash::{DashOptions, Template, dash};
pub use error::Error;
pub use hls::{HlsOptions, hls};
pub use model::{
    Accessibility, Audio, Files, KeyFrame, KeyLines, Media, Presentation, Protection,
    ProtectionSpan, ProtectionSystem, Role, Segment, SwitchingSet, Text, Track, UsedBy, Video,
    VideoRange,
};

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
