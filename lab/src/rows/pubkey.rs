//! Rows about public keys. Their messages have 32 bytes, and all of a row share a key.

use lanelock_lab_common::Row;

use super::{Goal, Table, Unit, Yardstick, many, with_key};

/// The operations of a call where libraries have batches.
const BATCH: usize = 8;

/// What is measured: algorithm, operation, and sizes of keys.
const OPERATIONS: [(&str, &str, &[usize]); 9] = [
    ("rsa", "sign", &[2048, 3072, 4096]),
    ("rsa", "verify", &[2048, 3072, 4096]),
    ("ecdsa", "sign", &[256, 384]),
    ("ecdsa", "verify", &[256, 384]),
    ("ecdh", "agree", &[256, 384]),
    ("x25519", "agree", &[256]),
    ("x25519", "generate", &[256]),
    ("ed25519", "sign", &[256]),
    ("ed25519", "verify", &[256]),
];

fn row(algorithm: &str, operation: &str, key_bits: usize, streams: usize) -> Row {
    with_key(key_bits, many(algorithm, operation, 32, streams))
}

/// All of `OPERATIONS`, so many in a call.
fn rows(streams: usize) -> Vec<Row> {
    let rows = |(algorithm, operation, sizes): &(_, _, &'static [usize])| {
        let (algorithm, operation): (&str, &str) = (*algorithm, *operation);
        sizes.iter().map(move |bits| row(algorithm, operation, *bits, streams))
    };
    OPERATIONS.iter().flat_map(rows).collect()
}

/// A new key: how long it takes is a matter of chance.
fn new_key() -> Row {
    row("rsa", "generate", 2048, 1)
}

/// What is measured at every level.
pub fn levels() -> Vec<Row> {
    rows(BATCH)
}

pub(super) fn tables() -> Vec<Table> {
    let table = |title, rows| Table { title, plot: None, unit: Unit::Operation, rows };
    vec![
        table("Public keys, eight operations in a call", rows(BATCH)),
        table("Public keys, one operation", rows(1)),
        table("Keys of RSA, mean of all passes", vec![new_key()]),
    ]
}

pub(super) fn goals() -> Vec<Goal> {
    let mut goals = Vec::new();
    let mut add = |row: Row, reach, of| {
        goals.push(Goal { row, unit: Unit::Operation, reach, of });
    };
    // Of the limit and of crypto_mb as speeds; here they are times.
    for (bits, limit, peer) in [(2048, 0.92, 1.0), (3072, 0.85, 1.3), (4096, 0.87, 1.1)] {
        let row = row("rsa", "sign", bits, BATCH);
        add(row.clone(), 1.0 / limit, Yardstick::Units);
        add(row, 1.0 / peer, Yardstick::Library(CRYPTO_MB));
    }
    for row in rows(BATCH) {
        if row.algorithm != "rsa" && row.operation != "generate" {
            add(row, 1.0 / 1.1, Yardstick::Library(CRYPTO_MB));
        }
    }
    add(new_key(), 0.25, Yardstick::Library("OpenSSL"));
    for row in rows(1) {
        let reach = if row.algorithm == "rsa" { 1.15 } else { 1.5 };
        add(row, reach, Yardstick::TlsLibrary);
    }
    goals
}

/// The column of the peer with batches.
const CRYPTO_MB: &str = "crypto_mb";

/// A row in words, if it is one of these: `RSA-2048 sign, 8 at once`.
pub(super) fn name(row: &Row) -> Option<String> {
    let Row { algorithm, operation, key_bits, streams, .. } = row;
    let name = match &algorithm[..] {
        "rsa" => format!("RSA-{key_bits}"),
        "ecdsa" => format!("ECDSA P-{key_bits}"),
        "ecdh" => format!("ECDH P-{key_bits}"),
        "x25519" => "X25519".into(),
        "ed25519" => "Ed25519".into(),
        _ => return None,
    };
    let many = if *streams > 1 { format!(", {streams} at once") } else { String::new() };
    Some(format!("{name} {operation}{many}"))
}
