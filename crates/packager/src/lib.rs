//! The path of the bytes: plan, read, protect, write.
//!
//! [`encrypt`], [`decrypt`] and [`rewrap`] take a source to a sink ([`io`]): a file, memory, a pipe;
//! [`encrypt_file`] and its like take paths. [`inspect`] says what a source is. *Plan* reads metadata
//! only and yields pieces (a fragment, a window of samples); each of several workers takes one piece
//! all the way: *read* it into one buffer, *map* its access units and give it its place in the output
//! (in file order), *protect* it in place, *write* it. Memory is a few pieces, never the file. The
//! output appears under its name when all of it is written, or not at all.
//!
//! A service plans a movie once ([`MoviePlan`]), chooses its protection ([`Protection`]), and makes any
//! segment of it in memory, at the cost of that segment.
//!
//! Everything fails closed: what was asked to be protected is protected, or there is no output.

#![forbid(unsafe_code)]

mod choices;
mod claims;
mod codec;
mod decrypt;
mod encrypt;
mod error;
mod evidence;
mod foreign;
mod index;
mod inspect;
pub mod io;
mod key_text;
mod keys;
mod options;
mod piece;
mod pipeline;
mod place;
mod plan;
mod rewrap;
mod selection;
mod selector;
mod skeleton;
mod summary;
mod tracks;

pub use claims::{UnclaimedMedia, UnclaimedPolicy, UnclaimedRange};
pub use decrypt::{check_keys, check_segment_keys, decrypt, decrypt_file, decrypt_segment};
pub use encrypt::{Protection, SegmentEncryptor, encrypt, encrypt_file, encrypt_segment};
pub use error::{Error, Place};
pub use evidence::{KeyReport, KeyVerdict};
pub use inspect::{
    FragmentReport, ProtectionReport, PsshReport, Report, TrackReport, inspect, inspect_file,
    inspect_segment,
};
pub use key_text::KeyError;
pub use keys::{Key, KeyLine, KeyMap};
pub use lanelock_cenc::Scheme;
pub use lanelock_mp4::FourCc;
pub use options::{
    Choice, DecryptOptions, EncryptOptions, IndexPolicy, Iv, Layout, Observer, PlanOptions, Quiet,
    Writes,
};
pub use plan::{MoviePlan, PlannedSegment, SegmentTrack};
pub use rewrap::{rewrap, rewrap_file};
pub use selector::{Selector, SelectorError};
pub use summary::{Summary, Times, TrackSummary};
