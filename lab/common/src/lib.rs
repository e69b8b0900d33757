//! What the coordinator and the workers of the lab share.
//!
//! - [`row`]: what is measured, as one line of text.
//! - [`data`]: keys, nonces and buffers of a row, the same for every library.
//! - [`keys`]: private and public keys, the same for every library.
//! - [`clock`]: core cycles without performance counters.
//! - [`traffic`]: lengths and addresses of messages, as the engine's own measurements have them.
//! - [`worker`]: the loop of a worker: one request a line, one answer a line.

pub mod clock;
pub mod data;
pub mod keys;
pub mod row;
#[path = "../../../crates/speed/src/workload/traffic.rs"]
pub mod traffic;
pub mod worker;

pub use data::{Data, ITERATIONS, mac_bytes, record_header};
pub use row::{Keys, Row};
pub use traffic::{Buffer, Lengths, Place, Traffic};
pub use worker::{Call, Library, Prepared, call, cycles, serve};

/// The version of a crate, from the workspace's lock file.
pub fn version_of(name: &str) -> &'static str {
    let lock = include_str!("../../Cargo.lock");
    let (_, entry) =
        lock.split_once(&format!("name = \"{name}\"\nversion = \"")).expect("a crate of the lab");
    entry.split('"').next().expect("a version")
}
