//! What is measured: the engine at each level, and the other libraries that can be built here.

use std::{
    collections::HashMap,
    env,
    path::PathBuf,
    process::{Command, Stdio},
};

use lanelock_lab_common::Row;

use crate::{options::Options, worker::Worker};

/// How a library is built and run.
struct LibraryEntry {
    /// The package below `workers/`.
    package: &'static str,
    /// Its second argument.
    variant: Option<&'static str>,
    /// The column of the tables; the better of entries with the same column counts.
    column: &'static str,
    /// Whether to build for the processor at hand.
    native: bool,
    /// The variable that names the folder of a library which is no crate, and its name for `lab/peers`,
    /// which fetches it otherwise.
    folder: Option<(&'static str, &'static str)>,
}

const fn entry(package: &'static str, column: &'static str) -> LibraryEntry {
    LibraryEntry { package, variant: None, column, native: false, folder: None }
}

const fn variant(
    package: &'static str,
    variant: &'static str,
    column: &'static str,
) -> LibraryEntry {
    LibraryEntry { variant: Some(variant), ..entry(package, column) }
}

const fn ipsec_mb(variant: &'static str) -> LibraryEntry {
    let folder = Some(("LANELOCK_IPSEC_MB", "ipsec-mb"));
    LibraryEntry { variant: Some(variant), folder, ..entry("ipsec-mb-newer", "ipsec-mb") }
}

const PEERS: [LibraryEntry; 19] = [
    entry("openssl", "OpenSSL"),
    entry("aws-lc", "AWS-LC"),
    entry("boringssl", "BoringSSL"),
    entry("ring", "ring"),
    entry("graviola", "graviola"),
    entry("rustcrypto", "RustCrypto"),
    LibraryEntry { native: true, ..entry("rustcrypto", "RustCrypto") },
    entry("aegis", "libaegis"),
    ipsec_mb("jobs"),
    ipsec_mb("burst"),
    ipsec_mb("direct"),
    variant("ipsec-mb", "jobs", "ipsec-mb 1.3"),
    variant("ipsec-mb", "burst", "ipsec-mb 1.3"),
    variant("ipsec-mb", "direct", "ipsec-mb 1.3"),
    LibraryEntry {
        folder: Some(("LANELOCK_ISAL_CRYPTO", "isa-l_crypto")),
        ..entry("isa-l-crypto", "isa-l_crypto")
    },
    LibraryEntry {
        folder: Some(("LANELOCK_CRYPTO_MB", "crypto_mb")),
        ..entry("crypto-mb", "crypto_mb")
    },
    entry("xkcp", "XKCP"),
    variant("crc", "crc32fast", "crc32fast"),
    variant("crc", "crc-fast", "crc-fast"),
];

/// Libraries of which only checksums are of interest come last.
const CHECKSUMS: [LibraryEntry; 1] = [entry("isa-l", "ISA-L")];

/// Libraries that may be missing and are often the fastest, with what they have. Without them a comparison
/// says nothing about the best peer.
pub const NEWEST: [(&str, &[&str]); 4] = [
    (
        "ipsec-mb-newer",
        &[
            "ctr",
            "ecb",
            "cbc",
            "cbcs",
            "cmac",
            "gmac",
            "ghash",
            "gcm",
            "ccm",
            "gcm-key",
            "key-expansion",
            "sha-1",
            "sha-256",
            "sha-512",
            "sm3",
            "hmac-sha-256",
            "cbc-hmac-sha-1",
            "cbc-hmac-sha-256",
        ],
    ),
    ("isa-l-crypto", &["xts", "cbc", "gcm", "key-expansion", "sha-1", "sha-256", "sha-512", "sm3"]),
    ("xkcp", &["kt128"]),
    ("crypto-mb", &["rsa", "ecdsa", "ecdh", "x25519", "ed25519"]),
];

/// The columns of the libraries that programs use for TLS.
pub const TLS_LIBRARIES: [&str; 5] = ["OpenSSL", "AWS-LC", "BoringSSL", "ring", "graviola"];

/// The name of our column, and of the package.
pub const OURS: &str = "Lanelock";

/// A library that takes part.
pub struct Contestant {
    /// As `ipsec-mb/burst`, `lanelock/vaes256`.
    pub name: String,
    pub column: String,
    pub version: String,
    level: Option<Level>,
    program: PathBuf,
    variant: Option<String>,
    processors: Processors,
    worker: Option<Worker>,
    /// On the other processor, for rows of two cores.
    beside: Option<Worker>,
}

/// A level of ours.
struct Level {
    name: String,
    best: bool,
}

/// What a worker measured.
pub struct Answer {
    /// Cycles of a call: the median of the windows.
    pub cycles: f64,
    /// All windows but one in a hundred take no more.
    pub p99: f64,
    /// What came out, if it can be compared.
    pub digest: Option<String>,
}

impl Answer {
    fn read(answer: &str) -> Option<Self> {
        let fields: Vec<&str> = answer.split(' ').collect();
        let ["cycles", cycles, "p99", p99, "digest", digest] = fields[..] else { return None };
        Some(Self {
            cycles: cycles.parse().ok()?,
            p99: p99.parse().ok()?,
            digest: (digest != "-").then(|| digest.to_owned()),
        })
    }
}

/// The processor that the workers share, and the one that this process stays on.
type Processors = (usize, usize);

impl Contestant {
    /// Builds and starts all that are wanted: ours, the best level first, then the peers; and the names of
    /// those that could not be built, with the reason.
    pub fn all(
        options: &Options,
        processors: Processors,
    ) -> Result<(Vec<Self>, Vec<String>), String> {
        let wanted = &options.peers;
        let mut contestants = Vec::new();
        let program = build("lanelock", false, None, options.build)?;
        let mut levels: Vec<_> = ["portable", "neon", "neon-sha3", "aesni", "vaes256", "vaes512"]
            .into_iter()
            .rev()
            .collect();
        levels.retain(|level| {
            Worker::start(&program, processors.0, Some(level))
                .and_then(|mut worker| worker.ask("version"))
                .is_ok()
        });
        for (i, name) in levels.iter().enumerate() {
            let level = Level { name: (*name).into(), best: i == 0 };
            let mut ours = Self {
                name: format!("lanelock/{name}"),
                column: if level.best { OURS.into() } else { format!("{OURS} {name}") },
                version: String::new(),
                level: Some(level),
                program: program.clone(),
                variant: Some((*name).into()),
                processors,
                worker: None,
                beside: None,
            };
            ours.start()?;
            contestants.push(ours);
        }
        if contestants.is_empty() {
            return Err("the engine does not run here".into());
        }
        let mut missing = Vec::new();
        // Several entries share a program.
        let mut programs = HashMap::new();
        for entry in PEERS.iter().chain(&CHECKSUMS) {
            if !wanted.is_empty() && !wanted.iter().any(|name| name == entry.package) {
                continue;
            }
            let program = programs.entry((entry.package, entry.native)).or_insert_with(|| {
                let folder = match entry.folder {
                    Some((variable, name)) if options.build => {
                        Some((variable, folder(variable, name)?))
                    }
                    _ => None,
                };
                build(entry.package, entry.native, folder, options.build)
            });
            match program.clone().and_then(|program| Self::peer(entry, program, processors)) {
                Ok(peer) => contestants.push(peer),
                Err(reason) => {
                    let text = format!("{} ({reason})", entry.package);
                    if !missing.contains(&text) {
                        eprintln!("lab: left out: {text}");
                        missing.push(text);
                    }
                }
            }
        }
        Ok((contestants, missing))
    }

    fn peer(
        entry: &LibraryEntry,
        program: PathBuf,
        processors: Processors,
    ) -> Result<Self, String> {
        let name = match (entry.variant, entry.native) {
            (Some(variant), _) => format!("{}/{variant}", entry.package),
            (None, true) => format!("{}/native", entry.package),
            (None, false) => entry.package.into(),
        };
        let mut peer = Self {
            name,
            column: entry.column.into(),
            version: String::new(),
            level: None,
            program,
            variant: entry.variant.map(str::to_owned),
            processors,
            worker: None,
            beside: None,
        };
        peer.start()?;
        Ok(peer)
    }

    fn start(&mut self) -> Result<(), String> {
        let mut worker = Worker::start(&self.program, self.processors.0, self.variant.as_deref())?;
        self.version = worker.ask("version")?;
        self.worker = Some(worker);
        Ok(())
    }

    /// Whether this is the engine.
    pub fn ours(&self) -> bool {
        self.level.is_some()
    }

    /// The level, if this is the engine.
    pub fn level(&self) -> Option<&str> {
        self.level.as_ref().map(|level| &level.name[..])
    }

    /// Whether this is the engine at its best level.
    pub fn best(&self) -> bool {
        self.level.as_ref().is_some_and(|level| level.best)
    }

    /// Measures a row; `None` if the library does not have it.
    pub fn measure(&mut self, row: &Row, windows: usize) -> Result<Option<Answer>, String> {
        let request = format!("measure {windows} {row}");
        if row.cores == 1 {
            return Ok(Answer::read(&self.ask(&request)?));
        }
        // The other half of the contest waits for its turn on the processor that this process sleeps on.
        let (one, other) = self.processors;
        if one == other {
            return Ok(None);
        }
        let start = |on| Worker::start(&self.program, on, self.variant.as_deref());
        let mut beside = self.beside.take().map_or_else(|| start(other), Ok)?;
        beside.send(&request)?;
        let first = self.ask(&request);
        let second = beside.receive(&request)?;
        self.beside = Some(beside);
        let (Some(first), Some(second)) = (Answer::read(&first?), Answer::read(&second)) else {
            return Ok(None);
        };
        let mean = |a: f64, b: f64| 2.0 / (a.recip() + b.recip());
        Ok(Some(Answer {
            cycles: mean(first.cycles, second.cycles),
            p99: mean(first.p99, second.p99),
            digest: first.digest,
        }))
    }

    /// Cycles of a call at the limits of the hardware, units and mix, where the engine has formulas.
    pub fn limits(&mut self, row: &Row) -> [Option<f64>; 2] {
        let answer = self.ask(&format!("limits {row}")).unwrap_or_default();
        let fields: Vec<&str> = answer.split(' ').collect();
        match fields[..] {
            ["units", units, "mix", mix] => [units.parse().ok(), mix.parse().ok()],
            _ => [None, None],
        }
    }

    /// Starts the worker anew when it is next needed: it measures limits once.
    pub fn forget(&mut self) {
        self.worker = None;
        self.beside = None;
    }

    /// The core clock.
    pub fn gigahertz(&mut self) -> Option<f64> {
        self.ask("clock").ok()?.strip_prefix("gigahertz ")?.parse().ok()
    }

    /// An answer; a worker that died is started again.
    fn ask(&mut self, request: &str) -> Result<String, String> {
        if self.worker.is_none() {
            self.start()?;
        }
        let worker = self.worker.as_mut().expect("just started");
        worker.ask(request).map_err(|error| {
            self.worker = None;
            format!("{}: {error}", self.name)
        })
    }
}

/// Where a library is that is no crate: the folder that a variable names, or one that `lab/peers` makes.
fn folder(variable: &str, name: &str) -> Result<PathBuf, String> {
    if let Some(folder) = env::var_os(variable) {
        return Ok(folder.into());
    }
    let output = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/peers"))
        .arg(name)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("lab/peers: {error}"))?;
    let last = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.trim_end().lines().last().unwrap_or_default().to_owned()
    };
    if output.status.success() {
        Ok(last(&output.stdout).into())
    } else {
        Err(format!("{variable} names no folder, and {}", last(&output.stderr)))
    }
}

/// Builds the worker of a package; gives its program.
fn build(
    package: &str,
    native: bool,
    folder: Option<(&str, PathBuf)>,
    anew: bool,
) -> Result<PathBuf, String> {
    let own = env::current_exe().map_err(|error| error.to_string())?;
    // target/release/lanelock-lab
    let mut target = own.ancestors().nth(2).ok_or("no target folder")?.to_path_buf();
    let mut command = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    if native {
        target.push("native");
        command.env("RUSTFLAGS", "-C target-cpu=native");
    }
    if let Some((variable, folder)) = folder {
        command.env(variable, folder);
    }
    let package = format!("lanelock-lab-{package}");
    if !anew {
        let program = target.join("release").join(package);
        return if program.exists() { Ok(program) } else { Err("was not built".into()) };
    }
    eprintln!("lab: building {package}{}", if native { " for this processor" } else { "" });
    let output = command
        .args(["build", "--release", "--quiet", "--package", &package, "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if output.status.success() {
        return Ok(target.join("release").join(package));
    }
    let text = String::from_utf8_lossy(&output.stderr);
    eprintln!("{text}");
    let reason = text.lines().find(|line| line.contains("Debian")).unwrap_or("it does not build");
    let reason = reason.split_once("called `").map_or(reason, |(reason, _)| reason);
    Err(reason.trim().trim_end_matches(": Os").into())
}
