//! Object storage for `lanelock_packager`: objects of S3, Google Cloud Storage, Azure Blob Storage and plain
//! HTTP servers as its `Source`, `Sink` and `Folder`.
//!
//! | URL | service | credentials |
//! |---|---|---|
//! | `s3://BUCKET/KEY` | S3 and what speaks its protocol | `AWS_ACCESS_KEY_ID`, ...; `AWS_ENDPOINT_URL` |
//! | `gs://BUCKET/KEY` | Google Cloud Storage | `GOOGLE_APPLICATION_CREDENTIALS`, ... |
//! | `az://CONTAINER/KEY` | Azure Blob Storage | `AZURE_STORAGE_ACCOUNT_NAME`, ... |
//! | `http://`, `https://` | any server with byte ranges; to write, with `PUT` | in the URL, before `@` |
//!
#![cfg_attr(feature = "cloud", doc = "```no_run")]
#![cfg_attr(not(feature = "cloud"), doc = "```ignore")]
//! use lanelock_packager::{EncryptOptions, KeyMap, Quiet, Scheme, encrypt};
//! use lanelock_store::{Location, Settings, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let keys = KeyMap::new();
//! let store = Store::new(Settings::new())?;
//! let source = store.source(&Location::parse("https://example.com/movie.mp4")?)?;
//! let sink = store.sink(&Location::parse("s3://bucket/encrypted.mp4")?)?;
//! encrypt(&source, Box::new(sink), &EncryptOptions::new(Scheme::Cbcs, keys), &Quiet)?;
//! # Ok(())
//! # }
//! ```
//!
//! Calls block; what waits for the network runs on two threads of a private runtime. Requests that fail for a
//! reason that may pass (connection lost, 5xx, 429) are tried again with exponential backoff. Reads are
//! conditional on the version that was opened. `docs/cloud.md` says more.
#![forbid(unsafe_code)]
#![cfg(feature = "cloud")]

mod blocks;
mod client;
mod fault;
mod folder;
mod location;
mod members;
mod sink;
mod source;
mod store;

pub use client::Settings;
pub use folder::ObjectFolder;
pub use location::{Location, LocationError};
pub use sink::ObjectSink;
pub use source::ObjectSource;
pub use store::Store;
