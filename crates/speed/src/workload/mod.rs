//! The rows that can be measured: one entry an algorithm and operation.
//!
//! ```
//! use lanelock::AesLevel;
//! use lanelock_speed::workload::{KINDS, Keys, Traffic, Workload};
//!
//! assert!(KINDS.iter().any(|kind| (kind.algorithm, kind.operation) == ("ctr", "encrypt")));
//! let workload = Workload {
//!     algorithm: "ctr",
//!     operation: "encrypt",
//!     key_bits: 128,
//!     size: 64, // bytes
//!     streams: 1,
//!     keys: Keys::One,
//!     aad: 0,
//!     traffic: Traffic::default(),
//! };
//! let mut runner = workload.runner(AesLevel::fastest()).expect("the engine has such a call");
//! runner.run(); // one call
//! ```

mod hashes;
mod pubkey;
mod records;
mod runners;
mod traffic;

use std::{
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use lanelock::{AesLevel, record::MOST_CONTENT};

pub use hashes::{DERIVED, ITERATIONS, levels as hash_levels};
pub use pubkey::{SIGNED, levels as limb_levels};
pub use records::header as record_header;
pub use traffic::{
    Buffer, LONGEST_UNIT, Lengths, LengthsOfCalls, Place, Traffic, UNITS, copies, next_copy,
};

use crate::clock::{self, Sample, float};

/// What is measured: one call of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Its name, as `gcm`: see [`KINDS`].
    pub algorithm: &'static str,
    /// `encrypt`, `decrypt`, `seal`, `open`, `reject` (opening with a wrong tag), `mac`, `hash`, `expand` or
    /// `derive`; `sign`, `verify`, `agree` (a shared secret) or `generate` (a pair of keys).
    pub operation: &'static str,
    /// 128, 192 or 256; the modulus of RSA or the field of a curve; 0 where there is no key.
    pub key_bits: u16,
    /// Bytes of each message, or of the longest: see [`Lengths`].
    pub size: usize,
    /// Messages in one call: 1 is the call for one message, more are lanes or a batch.
    pub streams: usize,
    /// Whether the streams share a key.
    pub keys: Keys,
    /// Bytes of additional authenticated data of each message; 0 where an algorithm takes none.
    pub aad: usize,
    /// Lengths, addresses, and more in which messages can differ.
    pub traffic: Traffic,
}

/// The keys of the streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keys {
    /// One for all.
    #[default]
    One,
    /// A key for each stream.
    Each,
}

/// An algorithm and operation that can be measured.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// As in [`Workload`].
    pub algorithm: &'static str,
    /// As in [`Workload`].
    pub operation: &'static str,
    /// The key sizes.
    pub key_bits: &'static [u16],
    /// Whether there is a call for one message, for many, or both.
    pub streams: Streams,
    /// The length of a message is a multiple of so many bytes.
    pub unit: usize,
    /// The shortest message.
    pub least: usize,
    /// The lengths that messages may have beside equal ones; a message may be anywhere then, and many may be
    /// processed one by one.
    pub lengths: Option<Lengths>,
    /// Whether it is in an overview: not if a row beside it tells as much.
    pub overview: bool,
    make: fn(&Workload, AesLevel) -> Runner,
}

/// For how many messages an algorithm has a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    /// One: parallel within a message, if at all.
    One,
    /// One or many, all with the same key.
    ManyOneKey,
    /// One or many, with the same key or with a key for each.
    Many,
}

/// A workload, set up and ready: each [`run`](Self::run) is one call.
pub struct Runner {
    call: Box<dyn FnMut()>,
}

impl core::fmt::Debug for Runner {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Runner")
    }
}

impl Runner {
    fn new(call: impl FnMut() + 'static) -> Self {
        Self { call: Box::new(call) }
    }

    /// One call.
    pub fn run(&mut self) {
        (self.call)();
    }
}

impl Workload {
    /// The algorithm and operation, if the engine has it.
    pub fn kind(&self) -> Option<&'static Kind> {
        KINDS.iter().find(|k| k.algorithm == self.algorithm && k.operation == self.operation)
    }

    /// Sets up keys and buffers; `None` if the engine has no such call.
    pub fn runner(&self, level: AesLevel) -> Option<Runner> {
        let kind = self.kind()?;
        self.exists().then(|| (kind.make)(self, level))
    }

    /// Whether the engine has such a call.
    pub fn exists(&self) -> bool {
        self.kind().is_some_and(|kind| {
            let Traffic { lengths, place, one_by_one, cold } = self.traffic;
            let traffic = match lengths {
                Lengths::Equal => {
                    kind.lengths.is_some() || (place == Place::default() && !one_by_one)
                }
                Lengths::Random => kind.lengths == Some(lengths) && self.size >= 16,
                Lengths::Units => kind.lengths == Some(lengths) && self.size == LONGEST_UNIT,
            };
            let traffic = traffic && (!cold || (kind.takes_aad() && self.streams == 1));
            let streams = match kind.streams {
                _ if one_by_one => self.streams > 0,
                Streams::One => self.streams == 1,
                Streams::ManyOneKey => self.streams > 0 && self.keys == Keys::One,
                Streams::Many => self.streams > 0,
            };
            traffic
                && streams
                && kind.key_bits.contains(&self.key_bits)
                && self.size >= kind.least
                && self.size.is_multiple_of(kind.unit)
                && (!kind.makes_records() || self.size <= MOST_CONTENT)
                && (self.aad == 0 || kind.takes_aad())
                && kind.only_size(self.key_bits).is_none_or(|size| size == self.size)
        })
    }

    /// The lengths of the messages of each call.
    pub fn lengths(&self) -> LengthsOfCalls {
        self.traffic.lengths.of_calls(self.size, self.streams)
    }

    /// Bytes of all messages of one call; the mean, where calls differ.
    pub fn bytes(&self) -> usize {
        match self.traffic.lengths {
            Lengths::Equal => self.size * self.streams,
            _ => self.lengths().bytes(),
        }
    }

    /// A buffer for each stream, which the longest of its messages fills.
    pub fn buffers(&self) -> Vec<Buffer> {
        let Traffic { lengths, place, .. } = self.traffic;
        let units = lengths == Lengths::Units;
        let lengths =
            if units { self.lengths().now().to_vec() } else { vec![self.size; self.streams] };
        let buffer = |(i, length)| Buffer::new(place, i, core::iter::repeat_n(0x5a, length));
        lengths.into_iter().enumerate().map(buffer).collect()
    }

    /// Core cycles of one call at `level`, the lowest median of `passes`, of a search the mean of all; with several threads, each
    /// with keys and buffers of its own, those of a call beside the calls of all others (harmonic mean).
    pub fn measure(&self, level: AesLevel, passes: usize, threads: usize) -> Option<Sample> {
        if !self.exists() {
            return None;
        }
        let search = self.kind().is_some_and(Kind::is_search);
        let (begin, measuring) = (Barrier::new(threads), AtomicUsize::new(threads));
        let thread = || {
            let mut runner = self.runner(level)?;
            begin.wait();
            let call = || runner.run();
            let sample = if search {
                clock::mean(passes, call)
            } else {
                clock::measure(WINDOWS, passes, call)
            };
            measuring.fetch_sub(1, Ordering::Relaxed);
            // The others are to be measured beside this one.
            while measuring.load(Ordering::Relaxed) > 0 {
                runner.run();
            }
            Some(sample)
        };
        let samples: Option<Vec<Sample>> = thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(thread)).collect();
            let first = thread();
            let others = others.into_iter().map(|other| other.join().ok().flatten());
            core::iter::once(first).chain(others).collect()
        });
        let samples = samples?;
        let rate: f64 = samples.iter().map(|sample| sample.cycles.recip()).sum();
        let spread = samples.iter().map(|sample| sample.spread).fold(0.0, f64::max);
        Some(Sample { cycles: float(samples.len()) / rate, spread })
    }
}

/// Windows in each pass.
pub const WINDOWS: usize = 201;

/// What a key of 32 bytes is for HMAC.
const HMAC: &[u16] = &[256];
const ALL: &[u16] = &[128, 192, 256];
const NONE: &[u16] = &[0];
const MODULI: &[u16] = &[2048, 3072, 4096];
const CURVES: &[u16] = &[256, 384];
const CURVE_25519: &[u16] = &[256];

/// Every algorithm and operation, in the order of the table; those of an algorithm stand together.
pub const KINDS: &[Kind] = &[
    Kind::one("ecb", "encrypt", ALL, 16, runners::ecb),
    Kind::one("ecb", "decrypt", ALL, 16, runners::ecb).detail(),
    Kind::one("ctr", "encrypt", ALL, 1, runners::ctr),
    Kind::many("cbc", "encrypt", ALL, 16, runners::cbc_encrypt).with(Lengths::Units),
    Kind::one("cbc", "decrypt", ALL, 16, runners::cbc_decrypt).with(Lengths::Units),
    Kind::many("cbcs", "encrypt", ALL, 16, runners::cbc_encrypt).with(Lengths::Units),
    Kind::one("cbcs", "decrypt", ALL, 16, runners::cbc_decrypt).with(Lengths::Units),
    Kind::together("xts", "encrypt", ALL, 1, runners::xts).from(16),
    Kind::together("xts", "decrypt", ALL, 1, runners::xts).from(16).detail(),
    Kind::many("cmac", "mac", ALL, 1, runners::cmac),
    Kind::one("kw", "encrypt", ALL, 8, runners::kw).from(16),
    Kind::one("kw", "decrypt", ALL, 8, runners::kw).from(16).detail(),
    Kind::one("kwp", "encrypt", ALL, 1, runners::kwp).detail(),
    Kind::one("kwp", "decrypt", ALL, 1, runners::kwp).detail(),
    Kind::one("gmac", "mac", ALL, 1, runners::gmac),
    Kind::many("gcm", "seal", ALL, 1, runners::gcm).with(Lengths::Random),
    Kind::many("gcm", "open", ALL, 1, runners::gcm),
    Kind::one("gcm", "reject", ALL, 1, runners::gcm).detail(),
    Kind::many("gcm-siv", "seal", &[128, 256], 1, runners::gcm_siv).with(Lengths::Random),
    Kind::many("gcm-siv", "open", &[128, 256], 1, runners::gcm_siv).detail(),
    Kind::many("ccm", "seal", ALL, 1, runners::ccm).with(Lengths::Random),
    Kind::many("ccm", "open", ALL, 1, runners::ccm).detail(),
    Kind::many("ocb3", "seal", ALL, 1, runners::ocb3).with(Lengths::Random),
    Kind::many("ocb3", "open", ALL, 1, runners::ocb3).detail(),
    Kind::many("chacha20-poly1305", "seal", &[256], 1, runners::chacha20_poly1305)
        .with(Lengths::Random),
    Kind::many("chacha20-poly1305", "open", &[256], 1, runners::chacha20_poly1305).detail(),
    Kind::many("cbc-hmac-sha-1", "seal", &[128], 1, records::cbc_hmac).detail(),
    Kind::many("cbc-hmac-sha-256", "seal", &[128], 1, records::cbc_hmac).detail(),
    Kind::one("aegis-128l", "seal", &[128], 1, runners::aegis),
    Kind::one("aegis-128l", "open", &[128], 1, runners::aegis).detail(),
    Kind::one("aegis-128x2", "seal", &[128], 1, runners::aegis).detail(),
    Kind::one("aegis-128x2", "open", &[128], 1, runners::aegis).detail(),
    Kind::one("aegis-128x4", "seal", &[128], 1, runners::aegis),
    Kind::one("aegis-128x4", "open", &[128], 1, runners::aegis).detail(),
    Kind::one("aegis-256", "seal", &[256], 1, runners::aegis),
    Kind::one("aegis-256", "open", &[256], 1, runners::aegis).detail(),
    Kind::one("aegis-256x2", "seal", &[256], 1, runners::aegis).detail(),
    Kind::one("aegis-256x2", "open", &[256], 1, runners::aegis).detail(),
    Kind::one("aegis-256x4", "seal", &[256], 1, runners::aegis),
    Kind::one("aegis-256x4", "open", &[256], 1, runners::aegis).detail(),
    Kind::one("ghash", "hash", &[128], 1, runners::ghash),
    Kind::one("polyval", "hash", &[128], 1, runners::polyval),
    Kind::together("sha-256", "hash", NONE, 1, hashes::hash),
    Kind::together("sha-512", "hash", NONE, 1, hashes::hash),
    Kind::together("sha-1", "hash", NONE, 1, hashes::hash).detail(),
    Kind::together("sha3-256", "hash", NONE, 1, hashes::hash),
    Kind::together("shake128", "hash", NONE, 1, hashes::hash).detail(),
    Kind::together("sm3", "hash", NONE, 1, hashes::hash).detail(),
    Kind::one("kt128", "hash", NONE, 1, hashes::kangaroo_twelve).detail(),
    Kind::many("hmac-sha-256", "mac", HMAC, 1, hashes::hmac).detail(),
    Kind::one("crc-32", "hash", NONE, 1, runners::crc).detail(),
    Kind::one("crc-32c", "hash", NONE, 1, runners::crc),
    Kind::one("crc-64-nvme", "hash", NONE, 1, runners::crc),
    Kind::one("crc-64-xz", "hash", NONE, 1, runners::crc).detail(),
    Kind::one("key-expansion", "expand", ALL, 1, runners::expansion),
    Kind::one("gcm-key", "expand", ALL, 1, runners::gcm_key).detail(),
    Kind::together("pbkdf2-sha-256", "derive", NONE, DERIVED, hashes::pbkdf2).detail(),
    Kind::public_key("rsa", "sign", MODULI, pubkey::rsa),
    Kind::public_key("rsa", "verify", MODULI, pubkey::rsa),
    Kind::one("rsa", "generate", &[2048], SIGNED, pubkey::rsa_generate).detail(),
    Kind::public_key("ecdsa", "sign", CURVES, pubkey::ecdsa),
    Kind::public_key("ecdsa", "verify", CURVES, pubkey::ecdsa),
    Kind::public_key("ecdh", "agree", CURVES, pubkey::ecdh),
    Kind::public_key("x25519", "agree", CURVE_25519, pubkey::x25519),
    Kind::public_key("x25519", "generate", CURVE_25519, pubkey::x25519),
    Kind::public_key("ed25519", "sign", CURVE_25519, pubkey::ed25519),
    Kind::public_key("ed25519", "verify", CURVE_25519, pubkey::ed25519),
];

/// What algorithms belong to, as headings, in the order of a table.
pub const FAMILIES: [&str; 5] =
    ["Modes", "AEADs", "MACs, hashes and checksums", "Keys", "Public keys"];

impl Kind {
    /// A workload of this kind.
    pub fn workload(&self, key_bits: u16, size: usize, streams: usize, keys: Keys) -> Workload {
        let Self { algorithm, operation, .. } = *self;
        Workload {
            algorithm,
            operation,
            key_bits,
            size,
            streams,
            keys,
            aad: 0,
            traffic: Traffic::default(),
        }
    }

    /// Whether messages have additional authenticated data.
    pub fn takes_aad(&self) -> bool {
        // What a record authenticates beside its content has one length.
        matches!(self.operation, "seal" | "open" | "reject") && !self.makes_records()
    }

    /// Whether messages become records of TLS, whose length is bounded.
    fn makes_records(&self) -> bool {
        self.algorithm.starts_with("cbc-hmac")
    }

    /// The size that there is, if there is only one: that of a key.
    pub fn only_size(&self, key_bits: u16) -> Option<usize> {
        match self.operation {
            "expand" => Some(usize::from(key_bits) / 8),
            "derive" => Some(DERIVED),
            _ if self.has_public_keys() => Some(SIGNED),
            _ => None,
        }
    }

    /// Whether it is an operation with public keys, which takes cycles, and none for each byte.
    pub fn has_public_keys(&self) -> bool {
        matches!(self.operation, "sign" | "verify" | "agree" | "generate")
    }

    /// Whether calls take as long as chance has it, so that their mean says something, and a median nothing.
    pub fn is_search(&self) -> bool {
        (self.algorithm, self.operation) == ("rsa", "generate")
    }

    /// Messages in the call for many, if no number is named.
    pub fn usual_streams(&self) -> usize {
        if self.has_public_keys() { 8 } else { 32 }
    }

    /// What it belongs to: one of [`FAMILIES`].
    pub fn family(&self) -> &'static str {
        let [modes, aeads, hashes, keys, public_keys] = FAMILIES;
        match (self.algorithm, self.operation) {
            _ if self.has_public_keys() => public_keys,
            ("kw" | "kwp", _) | (_, "expand" | "derive") => keys,
            (_, "seal" | "open" | "reject") => aeads,
            (_, "mac" | "hash") => hashes,
            _ => modes,
        }
    }

    const fn one(
        algorithm: &'static str,
        operation: &'static str,
        key_bits: &'static [u16],
        unit: usize,
        make: fn(&Workload, AesLevel) -> Runner,
    ) -> Self {
        Self {
            algorithm,
            operation,
            key_bits,
            streams: Streams::One,
            unit,
            least: unit,
            lengths: None,
            overview: true,
            make,
        }
    }

    /// The same, left out of an overview.
    const fn detail(self) -> Self {
        Self { overview: false, ..self }
    }

    /// The same with a shortest message.
    const fn from(self, least: usize) -> Self {
        Self { least, ..self }
    }

    /// The same, also with messages of such lengths.
    const fn with(self, lengths: Lengths) -> Self {
        Self { lengths: Some(lengths), ..self }
    }

    const fn together(
        algorithm: &'static str,
        operation: &'static str,
        key_bits: &'static [u16],
        unit: usize,
        make: fn(&Workload, AesLevel) -> Runner,
    ) -> Self {
        Self {
            streams: Streams::ManyOneKey,
            ..Self::one(algorithm, operation, key_bits, unit, make)
        }
    }

    const fn public_key(
        algorithm: &'static str,
        operation: &'static str,
        key_bits: &'static [u16],
        make: fn(&Workload, AesLevel) -> Runner,
    ) -> Self {
        Self::together(algorithm, operation, key_bits, SIGNED, make).detail()
    }

    const fn many(
        algorithm: &'static str,
        operation: &'static str,
        key_bits: &'static [u16],
        unit: usize,
        make: fn(&Workload, AesLevel) -> Runner,
    ) -> Self {
        Self { streams: Streams::Many, ..Self::one(algorithm, operation, key_bits, unit, make) }
    }
}
