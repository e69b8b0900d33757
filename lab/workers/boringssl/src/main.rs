//! BoringSSL, as the crate `boring-sys` builds it.

mod family;
mod pubkey;

use boring_sys as sys;
use lanelock_lab_common::{Data, Library, Prepared, Row, serve, version_of};

struct BoringSsl;

impl Library for BoringSsl {
    fn version(&self) -> String {
        format!(
            "BoringSSL, API {} (boring-sys {})",
            sys::BORINGSSL_API_VERSION,
            version_of("boring-sys")
        )
    }

    fn prepare(&self, row: &Row, data: &Data) -> Prepared {
        pubkey::prepare(row, data).or_else(|| family::prepare(row, data))
    }
}

fn main() {
    serve(&BoringSsl);
}
