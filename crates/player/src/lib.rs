//! Serves a DASH or HLS stream on this machine, with a page that plays it and says what is wrong: what
//! `lanelock play` does, as a library.
//!
//! [`Player::bind`] listens on 127.0.0.1, [`Player::run`] answers until a [`Stopper`] ends it. What is served:
//!
//! | path | what | other origins (CORS) |
//! |---|---|---|
//! | `/` and `/page/` | the page | no |
//! | `/info` | what is played, and the KIDs whose keys are known | no |
//! | `/licence` | Clear Key licences (W3C Encrypted Media Extensions, 9.1) | those of [`Options::origins`] |
//! | `/stream/` | manifests and media of a folder | all |
//!
//! Of a folder, manifests, media and captions alone are served, by the ends of their names: a file of keys
//! beside them is not. Nor is what a symbolic link finds outside of the folder. Requests must name this
//! server in `Host`, so that no other name that resolves to 127.0.0.1 makes it a part of another site.
//!
//! A licence request has as its query the token that [`Player::url`] ends with: other users of the machine can
//! reach 127.0.0.1, and do not know it.
//!
//! Each connection takes one request, has a thread, and ends in bounded time; a head has at most 16 KiB.

#![forbid(unsafe_code)]

mod answer;
mod files;
mod licence;
mod page;
mod range;
mod request;
mod server;
mod subject;

pub use server::{Options, Player, Stopper};
pub use subject::{Error, Subject};

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
