//! Table 1 of S. Gueron's survey of AES and CLMUL in processors: AES-128 in six modes over buffers of
//! 8 KB, in cycles per byte, on five generations of processors; and the same six on this one.
//!
//! ```
//! use lanelock_speed::table1::{COLUMNS, PUBLISHED, workloads};
//!
//! let (processor, cycles_per_byte) = PUBLISHED[3];
//! assert_eq!((processor, COLUMNS[0], cycles_per_byte[0]), ("Skylake", "CTR", 0.63));
//! assert!(workloads(32).iter().all(|workload| workload.exists())); // streams of the fifth column
//! ```

use crate::workload::{Keys, Traffic, Workload};

/// The columns.
pub const COLUMNS: [&str; 6] =
    ["CTR", "XTS", "CBC decrypt", "CBC encrypt, serial", "CBC encrypt, streams", "GCM"];

/// What was published, in the order of [`COLUMNS`].
pub const PUBLISHED: [(&str, [f64; 6]); 5] = [
    ("Sandy Bridge", [0.76, 1.21, 0.80, 5.05, 0.90, 2.75]),
    ("Haswell", [0.64, 0.70, 0.65, 4.41, 0.80, 1.02]),
    ("Broadwell", [0.64, 0.70, 0.65, 4.41, 0.80, 0.76]),
    ("Skylake", [0.63, 0.63, 0.62, 2.65, 0.64, 0.65]),
    ("Cannon Lake", [0.41, 0.50, 0.36, 2.56, 0.37, 0.50]),
];

/// The workloads of the columns, the fifth with so many streams.
pub fn workloads(streams: usize) -> [Workload; 6] {
    let row = |algorithm, operation, streams| Workload {
        algorithm,
        operation,
        key_bits: 128,
        size: 8 << 10,
        streams,
        keys: Keys::One,
        aad: 0,
        traffic: Traffic::default(),
    };
    [
        row("ctr", "encrypt", 1),
        row("xts", "encrypt", 1),
        row("cbc", "decrypt", 1),
        row("cbc", "encrypt", 1),
        row("cbc", "encrypt", streams),
        row("gcm", "seal", 1),
    ]
}
