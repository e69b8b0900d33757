//! What is measured: the tables of the report, and their rows.

pub mod pubkey;

use lanelock_lab_common::{Keys, Lengths, Place, Row, Traffic, traffic::LONGEST_UNIT};

/// A row of the run.
pub struct Entry {
    pub row: Row,
    /// Whether the engine is measured at all of its levels, or only at the best.
    pub levels: bool,
}

/// A table with a column for each library.
pub struct Table {
    pub title: &'static str,
    /// For the name of the plot, if there is one over the message size.
    pub plot: Option<&'static str>,
    pub unit: Unit,
    pub rows: Vec<Row>,
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// Core cycles for each byte of all messages.
    Byte,
    /// Core cycles for each message.
    Message,
    /// A thousand core cycles for each operation with public keys.
    Operation,
}

impl Unit {
    /// A figure, from the cycles of a call.
    pub fn of(self, row: &Row, cycles: f64) -> f64 {
        match self {
            Self::Byte => cycles / row.bytes() as f64,
            Self::Message => cycles / row.streams as f64,
            Self::Operation => cycles / row.streams as f64 / 1000.0,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Byte => "cycles per byte",
            Self::Message => "cycles per message",
            Self::Operation => "thousand cycles per operation",
        }
    }
}

/// A goal: a row takes at most so many times what a yardstick of the same run says.
pub struct Goal {
    pub row: Row,
    pub unit: Unit,
    pub reach: f64,
    pub of: Yardstick,
}

/// What a goal is a multiple of, so that it holds on any processor.
pub enum Yardstick {
    /// The fastest peer, at its newest release.
    Peer,
    /// The fastest of the libraries that programs use for TLS, which have no batches.
    TlsLibrary,
    /// The limit of the busiest units; for chains that of the schedule.
    Units,
    /// The limit of the whole mix of instructions.
    Mix,
    /// The peer of that column.
    Library(&'static str),
    /// The same messages, each by a call of its own.
    OneByOne,
    /// So many cycles: where there is no measure yet.
    Cycles(f64),
}

const KIB: usize = 1024;

/// A row of one message with an AES-128 key.
fn one(algorithm: &str, operation: &str, size: usize) -> Row {
    Row {
        algorithm: algorithm.into(),
        operation: operation.into(),
        key_bits: key_bits(algorithm),
        size,
        streams: 1,
        keys: Keys::One,
        aad: 0,
        traffic: Traffic::default(),
        cores: 1,
    }
}

/// The same of many messages with one key.
fn many(algorithm: &str, operation: &str, size: usize, streams: usize) -> Row {
    Row { streams, ..one(algorithm, operation, size) }
}

/// The same with a key for each message.
fn each(algorithm: &str, operation: &str, size: usize, streams: usize) -> Row {
    Row { keys: Keys::Each, ..many(algorithm, operation, size, streams) }
}

fn with_key(key_bits: usize, row: Row) -> Row {
    Row { key_bits, ..row }
}

/// The same with additional data as long as that of a TLS record.
fn with_aad(row: Row) -> Row {
    Row { aad: 13, ..row }
}

/// Lengths from 16 to 256 bytes, other ones in each call.
fn random(row: Row) -> Row {
    Row { size: 256, traffic: Traffic { lengths: Lengths::Random, ..row.traffic }, ..row }
}

/// The access units of a clip.
fn units(algorithm: &str, operation: &str, count: usize) -> Row {
    let traffic = Traffic { lengths: Lengths::Units, ..Traffic::default() };
    Row { traffic, ..many(algorithm, operation, LONGEST_UNIT, count) }
}

fn at(place: Place, row: Row) -> Row {
    Row { traffic: Traffic { place, ..row.traffic }, ..row }
}

fn one_by_one(row: Row) -> Row {
    Row { traffic: Traffic { one_by_one: true, ..row.traffic }, ..row }
}

fn cold(row: Row) -> Row {
    Row { traffic: Traffic { cold: true, ..row.traffic }, ..row }
}

fn on_two_cores(row: Row) -> Row {
    Row { cores: 2, ..row }
}

/// The smallest key of an algorithm.
fn key_bits(algorithm: &str) -> usize {
    match algorithm {
        "aegis-256" | "aegis-256x2" | "aegis-256x4" => 256,
        "hmac-sha-256" => 256,
        "sm3" | "kt128" | "pbkdf2-sha-256" => 0,
        _ if ["crc", "sha"].iter().any(|name| algorithm.starts_with(name)) => 0,
        _ => 128,
    }
}

/// The goals.
pub fn goals() -> Vec<Goal> {
    let k16 = 16 * KIB;
    let mut goals = Vec::new();
    let mut add = |row: Row, unit, reach, of| goals.push(Goal { row, unit, reach, of });

    // Batches of messages of any lengths.
    let mixed =
        |make: fn(&str, &str, usize, usize) -> Row| with_aad(random(make("gcm", "seal", 256, 64)));
    add(mixed(many), Unit::Message, 0.85, Yardstick::Peer);
    add(mixed(each), Unit::Message, 1.0, Yardstick::Peer);
    add(mixed(many), Unit::Message, 1.05, Yardstick::OneByOne);
    add(mixed(each), Unit::Message, 1.05, Yardstick::OneByOne);
    for (size, reach) in [(16, 0.5), (64, 0.6), (100, 0.8), (256, 0.85)] {
        let row = with_aad(many("gcm", "seal", size, 64));
        add(row.clone(), Unit::Message, reach, Yardstick::Peer);
        add(row, Unit::Message, 1.05, Yardstick::OneByOne);
    }
    for (size, reach) in [(16, 0.8), (64, 0.9), (256, 1.0)] {
        let row = with_aad(each("gcm", "seal", size, 64));
        add(row.clone(), Unit::Message, reach, Yardstick::Peer);
        add(row, Unit::Message, 1.05, Yardstick::OneByOne);
    }

    // One message.
    for size in [16, 64, 256] {
        add(one("gcm", "seal", size), Unit::Message, 1.0, Yardstick::Peer);
    }
    for size in [64, 256, KIB, 1400] {
        for operation in ["seal", "open"] {
            add(with_aad(one("gcm", operation, size)), Unit::Byte, 0.97, Yardstick::Peer);
        }
    }
    for operation in ["seal", "open"] {
        add(one("gcm", operation, k16), Unit::Byte, 1.17, Yardstick::Mix);
    }
    for (algorithm, operation) in [
        ("kw", "encrypt"),
        ("kw", "decrypt"),
        ("xts", "encrypt"),
        ("gcm-siv", "seal"),
        ("aegis-128l", "seal"),
        ("ccm", "seal"),
    ] {
        add(one(algorithm, operation, 16), Unit::Message, 1.0, Yardstick::Peer);
    }

    // Chains.
    for algorithm in ["cbcs", "cbc"] {
        for count in [32, 132, 1000] {
            let row = units(algorithm, "encrypt", count);
            add(row.clone(), Unit::Byte, 1.25, Yardstick::Units);
            add(row, Unit::Byte, 0.85, Yardstick::Peer);
        }
        let chains = at(Place::Page, many(algorithm, "encrypt", k16, 32));
        add(chains, Unit::Byte, 1.03, Yardstick::Peer);
        add(many(algorithm, "encrypt", 16, 32), Unit::Message, 1.0, Yardstick::OneByOne);
    }
    add(many("cbcs", "encrypt", k16, 32), Unit::Byte, 1.2, Yardstick::Mix);
    for (algorithm, operation) in [("cbc", "encrypt"), ("cmac", "mac"), ("ccm", "seal")] {
        add(each(algorithm, operation, k16, 32), Unit::Byte, 0.9, Yardstick::Peer);
    }
    add(many("ccm", "seal", KIB, 32), Unit::Byte, 0.5, Yardstick::Peer);

    // Keys.
    for bits in [128, 192, 256] {
        let row = with_key(bits, one("key-expansion", "expand", bits / 8));
        add(row, Unit::Message, 1.4, Yardstick::Peer);
    }
    add(one("gcm-key", "expand", 16), Unit::Message, 1.0, Yardstick::Cycles(320.0));

    // Long messages.
    for (row, reach) in [
        (one("ctr", "encrypt", k16), 1.09),
        (one("ocb3", "seal", k16), 1.09),
        (one("xts", "encrypt", k16), 1.09),
        (one("cbc", "decrypt", k16), 1.09),
        (many("cbc", "encrypt", k16, 32), 1.19),
        (many("cmac", "mac", k16, 32), 1.19),
        (with_key(256, one("gcm", "seal", k16)), 1.11),
        (with_key(256, one("gcm", "open", k16)), 1.11),
        (one("gcm-siv", "seal", k16), 1.24),
        (one("gcm-siv", "open", k16), 1.38),
        (many("ccm", "seal", k16, 32), 1.12),
        (many("xts", "encrypt", 512, 64), 1.22),
        (many("xts", "encrypt", 4 * KIB, 64), 1.22),
        (one("aegis-128l", "seal", k16), 1.3),
        (one("aegis-128x4", "seal", k16), 1.3),
    ] {
        add(row, Unit::Byte, reach, Yardstick::Units);
    }
    for algorithm in ["crc-32c", "crc-32"] {
        add(one(algorithm, "hash", k16), Unit::Byte, 0.96, Yardstick::Peer);
    }
    goals.extend(goals_of_hashes());
    goals.extend(pubkey::goals());
    goals
}

/// Messages of one call, where hashes take many.
const HASHED: usize = 32;

/// Less than a peer takes: two digits are shown and compared.
const FASTER: f64 = 0.99;

/// Those of hashes and of what is made of them.
fn goals_of_hashes() -> Vec<Goal> {
    let k16 = 16 * KIB;
    let mut goals = Vec::new();
    let mut add = |row: Row, unit, reach, of| goals.push(Goal { row, unit, reach, of });
    for algorithm in ["sha-256", "sha-512", "sha-1"] {
        let row = |size| many(algorithm, "hash", size, HASHED);
        add(row(k16), Unit::Byte, 1.12, Yardstick::Mix);
        for size in [k16, 256, KIB] {
            add(row(size), Unit::Byte, FASTER, Yardstick::Peer);
        }
    }
    for algorithm in ["sha3-256", "shake128"] {
        add(many(algorithm, "hash", k16, HASHED), Unit::Byte, 1.25, Yardstick::Mix);
    }
    add(many("sm3", "hash", k16, HASHED), Unit::Byte, FASTER, Yardstick::Peer);
    add(one("kt128", "hash", 16 * KIB * KIB), Unit::Byte, 1.0, Yardstick::Peer);
    for algorithm in ["sha-256", "sha-1"] {
        add(one(algorithm, "hash", k16), Unit::Byte, 1.03, Yardstick::Peer);
    }
    add(one("sha-256", "hash", 64), Unit::Message, 1.03, Yardstick::Peer);
    add(passwords(), Unit::Message, 0.25, Yardstick::Library("OpenSSL"));
    add(chacha("seal", k16, 1), Unit::Byte, FASTER, Yardstick::Peer);
    add(chacha("seal", 64, 1), Unit::Message, FASTER, Yardstick::Peer);
    add(chacha("seal", 64, 64), Unit::Message, 0.4, Yardstick::OneByOne);
    for size in [k16, KIB] {
        add(many("cbc-hmac-sha-1", "seal", size, HASHED), Unit::Byte, 0.85, Yardstick::Peer);
    }
    for algorithm in ["cbc-hmac-sha-1", "cbc-hmac-sha-256"] {
        add(one(algorithm, "seal", k16), Unit::Byte, 1.02, Yardstick::Peer);
    }
    goals
}

/// Messages of ChaCha20-Poly1305.
fn chacha(operation: &str, size: usize, streams: usize) -> Row {
    with_key(256, many("chacha20-poly1305", operation, size, streams))
}

/// Sixteen passwords side by side.
fn passwords() -> Row {
    many("pbkdf2-sha-256", "derive", 32, 16)
}

/// The row with the same messages, each by a call of its own.
pub fn alone(row: &Row) -> Row {
    one_by_one(row.clone())
}

/// The sizes of the plots.
const SIZES: [usize; 9] = [16, 64, 256, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB];

/// The tables with a column for each library.
pub fn tables() -> Vec<Table> {
    [traffic(), libraries(), hashes(), pubkey::tables()].into_iter().flatten().collect()
}

/// Hashes, and what is made of them.
fn hashes() -> Vec<Table> {
    let k16 = 16 * KIB;
    let table = |title, unit, rows| Table { title, plot: None, unit, rows };
    let mut together = Vec::new();
    for algorithm in ["sha-256", "sha-512", "sha-1", "sm3", "sha3-256", "shake128"] {
        for size in [64, 256, KIB, k16] {
            together.push(many(algorithm, "hash", size, HASHED));
        }
    }
    together.push(many("hmac-sha-256", "mac", KIB, HASHED));
    let mut alone = Vec::new();
    for algorithm in ["sha-256", "sha-1", "sha-512", "sha3-256"] {
        alone.extend([one(algorithm, "hash", 64), one(algorithm, "hash", k16)]);
    }
    alone.extend([1, 16].map(|mib| one("kt128", "hash", mib * KIB * KIB)));
    let mut aead = Vec::new();
    for size in [64, 256, KIB, k16] {
        aead.extend([chacha("seal", size, 1), chacha("open", size, 1)]);
    }
    aead.push(chacha("seal", 64, 64));
    let mut records = Vec::new();
    for algorithm in ["cbc-hmac-sha-1", "cbc-hmac-sha-256"] {
        for size in [KIB, k16] {
            records.push(many(algorithm, "seal", size, HASHED));
            records.push(one(algorithm, "seal", size));
        }
    }
    vec![
        table("Records of TLS, AES-128-CBC with HMAC", Unit::Byte, records),
        table("ChaCha20-Poly1305", Unit::Byte, aead),
        table("Hashes of many messages", Unit::Byte, together),
        table("Hashes of one message", Unit::Byte, alone),
        table("Keys from passwords, 1000 iterations", Unit::Message, vec![passwords()]),
    ]
}

/// Messages as programs have them.
fn traffic() -> Vec<Table> {
    let k16 = 16 * KIB;
    let table = |title, unit, rows| Table { title, plot: None, unit, rows };
    let mut packets = Vec::new();
    for size in [64, 256, KIB, 1400, 4 * KIB, k16, 64 * KIB] {
        packets.push(with_aad(one("gcm", "seal", size)));
        packets.push(with_aad(one("gcm", "open", size)));
    }
    packets.push(with_aad(one("gcm", "reject", 1400)));
    packets.push(cold(with_aad(one("gcm", "seal", 1400))));
    packets.push(cold(with_aad(one("gcm", "open", 1400))));
    packets.push(on_two_cores(with_aad(one("gcm", "seal", k16))));
    let mut batches = Vec::new();
    for make in [many, each] {
        let mixed = with_aad(random(make("gcm", "seal", 256, 64)));
        batches.extend([mixed.clone(), one_by_one(mixed)]);
        for size in [16, 64, 100, 256] {
            let equal = with_aad(make("gcm", "seal", size, 64));
            batches.extend([equal.clone(), one_by_one(equal)]);
        }
    }
    let mut lanes = Vec::new();
    for algorithm in ["cbc", "cbcs"] {
        lanes.extend([32, 132, 1000].map(|count| units(algorithm, "encrypt", count)));
        lanes.push(one_by_one(units(algorithm, "encrypt", 132)));
        lanes.push(one_by_one(units(algorithm, "decrypt", 132)));
        lanes.push(on_two_cores(units(algorithm, "encrypt", 132)));
        let chains = many(algorithm, "encrypt", k16, 32);
        lanes.extend([at(Place::Page, chains.clone()), at(Place::Odd, chains)]);
        lanes.push(many(algorithm, "encrypt", KIB, 32));
        let blocks = many(algorithm, "encrypt", 16, 32);
        lanes.extend([blocks.clone(), one_by_one(blocks)]);
    }
    let set_up = vec![
        one("gcm-key", "expand", 16),
        with_key(192, one("gcm-key", "expand", 24)),
        with_key(256, one("gcm-key", "expand", 32)),
    ];
    vec![
        table("Packets: GCM with 13 bytes of additional data", Unit::Byte, packets),
        table(
            "Batches of 64 GCM messages with 13 bytes of additional data",
            Unit::Message,
            batches,
        ),
        table("Access units of a clip, and chains at other places", Unit::Byte, lanes),
        table("Setting up a key for GCM", Unit::Message, set_up),
    ]
}

/// Messages of one length, side by side in warm caches.
fn libraries() -> Vec<Table> {
    let over_size = |title, plot, algorithm: &str, operation: &str, streams: usize| {
        let sizes = SIZES.iter().filter(|size| **size * streams <= 1024 * KIB);
        let rows = sizes.map(|size| many(algorithm, operation, *size, streams)).collect();
        Table { title, plot: Some(plot), unit: Unit::Byte, rows }
    };
    let k16 = 16 * KIB;
    let long = |rows: Vec<Row>, title| Table { title, plot: None, unit: Unit::Byte, rows };
    let mut keys = Vec::new();
    for bits in [192, 256] {
        for (algorithm, operation) in MODES {
            // No standard has these with 192-bit keys.
            if bits == 256 || !matches!(algorithm, "xts" | "gcm-siv") {
                keys.push(with_key(bits, one(algorithm, operation, k16)));
            }
        }
    }
    let mut batches = Vec::new();
    for algorithm in ["gcm", "gcm-siv", "ccm", "ocb3"] {
        for size in [16, 64, 256, KIB] {
            batches.push(one(algorithm, "seal", size));
            batches.push(many(algorithm, "seal", size, 64));
            batches.push(each(algorithm, "seal", size, 64));
        }
    }
    batches.push(many("gcm", "open", 64, 64));
    batches.push(each("gcm", "open", 64, 64));
    let short = [
        one("ctr", "encrypt", 16),
        one("cbc", "encrypt", 16),
        one("cbc", "decrypt", 16),
        one("xts", "encrypt", 16),
        one("xts", "encrypt", 512),
        one("cmac", "mac", 16),
        one("gmac", "mac", 16),
        one("gcm", "open", 16),
        one("gcm-siv", "open", 16),
        one("aegis-128l", "seal", 16),
        one("aegis-256", "seal", 16),
        one("kw", "encrypt", 16),
        one("kw", "decrypt", 16),
        one("kwp", "encrypt", 16),
        with_key(256, one("kw", "encrypt", 32)),
        one("key-expansion", "expand", 16),
        with_key(192, one("key-expansion", "expand", 24)),
        with_key(256, one("key-expansion", "expand", 32)),
    ];
    let mut sums = Vec::new();
    for algorithm in ["crc-32", "crc-32c", "crc-64-nvme", "crc-64-xz"] {
        for size in [64, KIB, k16] {
            sums.push(one(algorithm, "hash", size));
        }
    }
    for algorithm in ["ghash", "polyval"] {
        for size in [64, KIB, k16] {
            sums.push(one(algorithm, "hash", size));
        }
    }
    let aegis =
        ["aegis-128l", "aegis-128x2", "aegis-128x4", "aegis-256", "aegis-256x2", "aegis-256x4"];
    let aegis = aegis.iter().flat_map(|name| [one(name, "seal", k16), one(name, "open", k16)]);
    vec![
        over_size("CTR", "ctr", "ctr", "encrypt", 1),
        over_size("CBC decrypt", "cbc-decrypt", "cbc", "decrypt", 1),
        over_size("XTS", "xts", "xts", "encrypt", 1),
        over_size("GCM seal", "gcm", "gcm", "seal", 1),
        over_size("GCM-SIV seal", "gcm-siv", "gcm-siv", "seal", 1),
        over_size("OCB3 seal", "ocb3", "ocb3", "seal", 1),
        over_size("AEGIS-128L seal", "aegis-128l", "aegis-128l", "seal", 1),
        over_size("CBC encrypt, 32 streams", "cbc-streams", "cbc", "encrypt", 32),
        over_size("CMAC, 32 streams", "cmac-streams", "cmac", "mac", 32),
        long(
            vec![
                one("ecb", "encrypt", k16),
                one("ecb", "decrypt", k16),
                one("xts", "decrypt", k16),
                many("xts", "encrypt", 512, 64),
                many("xts", "decrypt", 512, 64),
                many("xts", "encrypt", 4 * KIB, 64),
                many("xts", "decrypt", 4 * KIB, 64),
                one("cbc", "encrypt", k16),
                many("cbc", "encrypt", 8 * KIB, 64),
                each("cbc", "encrypt", k16, 32),
                one("cbcs", "encrypt", k16),
                one("cbcs", "decrypt", k16),
                many("cbcs", "encrypt", k16, 32),
                many("cbcs", "encrypt", 8000, 64),
                each("cbcs", "encrypt", k16, 32),
            ],
            "Other modes, AES-128",
        ),
        long(
            vec![
                one("gcm", "open", k16),
                one("gcm-siv", "open", k16),
                one("ocb3", "open", k16),
                one("ccm", "seal", k16),
                one("ccm", "open", k16),
                many("ccm", "seal", k16, 32),
                many("ccm", "open", k16, 32),
                one("cmac", "mac", k16),
                each("cmac", "mac", k16, 32),
                one("gmac", "mac", k16),
            ],
            "Other AEADs and MACs, AES-128",
        ),
        long(aegis.collect(), "AEGIS"),
        long(keys, "Longer keys"),
        Table { title: "Many short messages", plot: None, unit: Unit::Message, rows: batches },
        Table {
            title: "One short message, and keys",
            plot: None,
            unit: Unit::Message,
            rows: short.into(),
        },
        long(sums, "Checksums and universal hashes"),
    ]
}

/// What is measured with all key sizes.
const MODES: [(&str, &str); 7] = [
    ("ctr", "encrypt"),
    ("cbc", "decrypt"),
    ("xts", "encrypt"),
    ("gcm", "seal"),
    ("gcm", "open"),
    ("gcm-siv", "seal"),
    ("ocb3", "seal"),
];

/// What is measured at every level.
pub fn levels() -> Vec<Row> {
    let k16 = 16 * KIB;
    vec![
        one("ctr", "encrypt", k16),
        one("cbc", "decrypt", k16),
        one("xts", "encrypt", k16),
        one("gcm", "seal", k16),
        one("gcm", "open", k16),
        one("gcm-siv", "seal", k16),
        one("ocb3", "seal", k16),
        many("ccm", "seal", k16, 32),
        many("cbc", "encrypt", k16, 32),
        many("cbcs", "encrypt", k16, 32),
        one("cbcs", "decrypt", k16),
        many("cmac", "mac", k16, 32),
        one("aegis-128l", "seal", k16),
        one("aegis-128x4", "seal", k16),
        one("ghash", "hash", k16),
        one("crc-32c", "hash", k16),
    ]
}

/// The rows that have to come within a tenth of the limit at the narrower levels.
pub fn levels_with_goal() -> Vec<Row> {
    levels().into_iter().take(4).collect()
}

/// Speed over the number of streams, at every level.
pub const STREAMS: [usize; 10] = [1, 2, 3, 4, 8, 12, 16, 24, 32, 64];

/// The rows of that.
pub fn streams(algorithm: &str, operation: &str) -> Vec<Row> {
    STREAMS.iter().map(|streams| many(algorithm, operation, 8 * KIB, *streams)).collect()
}

/// What is measured over the number of streams.
pub const CHAINS: [(&str, &str); 4] =
    [("cbc", "encrypt"), ("cbcs", "encrypt"), ("cmac", "mac"), ("ccm", "seal")];

/// All rows, each once.
pub fn all() -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut add = |row: Row, levels: bool| match entries.iter_mut().find(|e| e.row == row) {
        Some(entry) => entry.levels |= levels,
        None => entries.push(Entry { row, levels }),
    };
    for row in levels().into_iter().chain(pubkey::levels()) {
        add(row, true);
    }
    for goal in goals() {
        if matches!(goal.of, Yardstick::OneByOne) {
            add(alone(&goal.row), false);
        }
        add(goal.row, false);
    }
    for row in tables().into_iter().flat_map(|table| table.rows) {
        add(row, false);
    }
    for row in CHAINS.iter().flat_map(|(algorithm, operation)| streams(algorithm, operation)) {
        add(row, true);
    }
    entries
}

/// The rows that contain all words of one of `patterns`.
pub fn chosen(patterns: &[String]) -> Vec<Entry> {
    let mut entries = all();
    entries.retain(|entry| {
        let text = entry.row.to_string();
        let has = |word: &str| text.split(' ').any(|field| field == word);
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.split('+').all(has))
    });
    entries
}

/// A row in words: `GCM seal, AES-256, 64 x 512 B, a key each`.
pub fn name(row: &Row) -> String {
    if let Some(name) = pubkey::name(row) {
        return name;
    }
    let mut name = kind(row);
    if row.operation != "expand" {
        let (count, length) = (row.streams, size(row.size));
        match row.traffic.lengths {
            Lengths::Equal if count == 1 => name += &format!(", {length}"),
            Lengths::Equal => name += &format!(", {count} x {length}"),
            Lengths::Random => name += &format!(", {count} x random 16-{length}"),
            Lengths::Units => name += &format!(", {count} access units"),
        }
    }
    let marks = [
        (row.keys == Keys::Each, "a key each"),
        (row.traffic.one_by_one, "one by one"),
        (row.traffic.place == Place::Page, "at one page offset"),
        (row.traffic.place == Place::Odd, "at odd addresses"),
        (row.traffic.cold, "text not in the caches"),
        (row.cores > 1, "on two cores at once"),
    ];
    for (_, mark) in marks.iter().filter(|(there, _)| *there) {
        name += &format!(", {mark}");
    }
    if row.aad > 0 {
        name += &format!(", AAD {} B", row.aad);
    }
    name
}

/// Algorithm and operation in words.
pub fn kind(row: &Row) -> String {
    let name = match &row.algorithm[..] {
        "cbcs" => "CBCS 1:9".into(),
        "ghash" | "polyval" => row.algorithm.to_uppercase(),
        "gcm-key" => format!("GCM key, AES-{}", row.key_bits),
        "key-expansion" => format!("key expansion, AES-{}", row.key_bits),
        "crc-64-nvme" => "CRC-64/NVMe".into(),
        "crc-64-xz" => "CRC-64/XZ".into(),
        "crc-32c" => "CRC-32C".into(),
        "kt128" => "KangarooTwelve (KT128)".into(),
        "kw" | "kwp" if row.operation == "encrypt" => {
            return format!("{} wrap{}", row.algorithm.to_uppercase(), longer(row));
        }
        "kw" | "kwp" => return format!("{} unwrap{}", row.algorithm.to_uppercase(), longer(row)),
        name if name.starts_with("aegis") => name.to_uppercase(),
        name => name.to_uppercase(),
    };
    match (&row.algorithm[..], &row.operation[..]) {
        ("hmac-sha-256" | "pbkdf2-sha-256", _) => name,
        (_, "reject") => format!("{name} open, wrong tag{}", longer(row)),
        (_, "hash" | "mac" | "expand") => name + &longer(row),
        ("ctr", _) => name + &longer(row),
        (_, operation) => format!("{name} {operation}{}", longer(row)),
    }
}

/// The key size, where it is not what one expects.
fn longer(row: &Row) -> String {
    let aes = !["aegis", "chacha20"].iter().any(|name| row.algorithm.starts_with(name));
    if row.key_bits > 128 && aes && row.operation != "expand" {
        format!(", AES-{}", row.key_bits)
    } else {
        String::new()
    }
}

/// Bytes in words.
pub fn size(bytes: usize) -> String {
    if bytes >= KIB * KIB && bytes % (KIB * KIB) == 0 {
        format!("{} MiB", bytes / KIB / KIB)
    } else if bytes >= KIB && bytes % KIB == 0 {
        format!("{} KiB", bytes / KIB)
    } else {
        format!("{bytes} B")
    }
}
