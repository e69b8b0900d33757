//! SPEKE v2 (Secure Packager and Encoder Key Exchange): keys are asked for by HTTP. The request is a CPIX
//! document with KIDs, usage rules and protection systems; the answer is the same with keys and data.
//!
//! KIDs are made here, so a request that is sent again, because an answer was lost, asks for the same.
//! An answer is taken if it is one to the request: these KIDs, each with a key, and nothing else.
//!
//! Keys go over the network as they are, so the URL has to be `https`, but for this machine itself.
//! Values of headers are never shown, and no header goes anywhere but to the URL that is given:
//! redirects are not followed.
//!
//! The memory that holds an answer is wiped, but for the buffers of HTTP and TLS below.

mod answer;
mod client;
mod wish;

use std::time::Duration;

use thiserror::Error;

pub use self::{
    answer::check_answer,
    client::{Client, Patience},
    wish::Wish,
};
use crate::CpixError;

/// Why there are no keys.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpekeError {
    /// The URL cannot be used.
    #[error("the URL of the key server cannot be used: {0}")]
    Url(&'static str),
    /// A header cannot be sent. Its value is not shown.
    #[error("the header {0} cannot be sent: {1}")]
    Header(String, &'static str),
    /// TLS or the network cannot be set up.
    #[error("HTTP cannot be set up here: {0}")]
    Setup(String),
    /// The server cannot be reached.
    #[error("the key server cannot be reached: {0}")]
    Connect(String),
    /// There was no answer in time.
    #[error("the key server has not answered within {} seconds", .0.as_secs_f32())]
    Late(Duration),
    /// The server refuses.
    #[error("the key server answers {status}{}", if *.status == 401 || *.status == 403 { ": it does not accept the credentials (--speke-header)" } else { "" })]
    Status {
        /// The status of HTTP.
        status: u16,
    },
    /// The server sends to somewhere else.
    #[error(
        "the key server answers {0}, which sends to another URL; headers with credentials are not sent \
         there: give the URL that it means"
    )]
    Redirect(u16),
    /// The answer is no XML.
    #[error("the answer of the key server is not application/xml")]
    ContentType,
    /// The answer is larger than any document.
    #[error("the answer of the key server is larger than {} MiB", crate::MOST_BYTES >> 20)]
    TooLarge,
    /// The server speaks another version.
    #[error("the key server answers in another version of SPEKE than 2")]
    Version,
    /// The answer is no CPIX document, or the request cannot be one.
    #[error(transparent)]
    Cpix(#[from] CpixError),
    /// The answer is not one to the request.
    #[error("the key server has not answered what was asked: {0}")]
    Answer(String),
    /// There are no random numbers for KIDs.
    #[error("the system gives no random numbers for KIDs ({0})")]
    Random(String),
    /// Something is asked for that no request can be made of.
    #[error("{0}")]
    Wish(&'static str),
}
