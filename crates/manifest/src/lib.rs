//! Writes the manifests of streams on demand: DASH (ISO/IEC 23009-1, DASH-IF IOP) and HLS (RFC 8216bis).
//!
//! A [`Presentation`] says what there is: tracks in switching sets, their segments with times and sizes,
//! and how they are protected. Both manifests are made of it.

#![forbid(unsafe_code)]

mod model;

pub use model::{
    Accessibility, Audio, Files, KeyFrame, Media, Presentation, Protection, ProtectionSystem, Role,
    Segment, SwitchingSet, Text, Track, UsedBy, Video, VideoRange,
};
