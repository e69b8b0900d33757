//! The crates crc-fast (default) and crc32fast (argument `crc32fast`).

use crc_fast::CrcAlgorithm;
use lanelock_lab_common::{Data, Library, Prepared, Row, call, serve, version_of};

enum Crc {
    Fast,
    Fast32,
}

impl Library for Crc {
    fn version(&self) -> String {
        match self {
            Self::Fast => format!("crc-fast {}", version_of("crc-fast")),
            Self::Fast32 => format!("crc32fast {}", version_of("crc32fast")),
        }
    }

    fn prepare(&self, row: &Row, _: &Data) -> Prepared {
        let algorithm = match (self, &row.algorithm[..]) {
            (Self::Fast32, "crc-32") => return each(|message| crc32fast::hash(message).into()),
            (Self::Fast32, _) => return None,
            (Self::Fast, "crc-32") => CrcAlgorithm::Crc32IsoHdlc,
            (Self::Fast, "crc-32c") => CrcAlgorithm::Crc32Iscsi,
            (Self::Fast, "crc-64-nvme") => CrcAlgorithm::Crc64Nvme,
            (Self::Fast, "crc-64-xz") => CrcAlgorithm::Crc64Xz,
            _ => return None,
        };
        each(move |message| crc_fast::checksum(algorithm, message))
    }
}

fn each(checksum: impl Fn(&[u8]) -> u64 + 'static) -> Prepared {
    call(move |data| {
        for (message, tag) in data.input.iter().zip(&mut data.tags) {
            tag[..8].copy_from_slice(&checksum(message).to_le_bytes());
        }
    })
}

fn main() {
    let second = std::env::args().nth(2);
    serve(if second.as_deref() == Some("crc32fast") { &Crc::Fast32 } else { &Crc::Fast });
}
