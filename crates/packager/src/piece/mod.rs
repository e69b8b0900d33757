//! A piece of a file on its way: planned, in memory, mapped, in parts.
//!
//! Each step has a type of its own. [`Planned`] says what to read, and what the parts of it are.
//! [`Bytes`] are what was read, or what is read of it while it is mapped. [`Mapped`] says what to encrypt
//! or decrypt, what to write, and where. A large piece goes on as several: [`Mapped::into_parts`].

mod bytes;
mod mapped;
mod planned;

pub(crate) use bytes::{Bytes, Heads, PieceError, UnitToMap, reserve};
pub(crate) use mapped::{Direction, LargePart, Mapped, Stage, Write};
pub(crate) use planned::{NewTrack, Part, PartKind, Planned, StretchSample, outside, span_len};
