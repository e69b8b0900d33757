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
    /// The column of the tables; the better of entries with the same column counts. Empty: its version.
    column: &'static str,
    /// Whether to build for the processor at hand.
    native: bool,
    /// The variable that has to name a folder.
    needs: Option<&'static str>,
}

const fn entry(package: &'static str, column: &'static str) -> LibraryEntry {
    LibraryEntry { package, variant: None, column, native: false, needs: None }
}

const fn variant(
    package: &'static str,
    variant: &'static str,
    column: &'static str,
) -> LibraryEntry {
    LibraryEntry { variant: Some(variant), ..entry(package, column) }
}

const fn from_folder(variable: &'static str, other: LibraryEntry) -> LibraryEntry {
    LibraryEntry { needs: Some(variable), ..other }
}

const PEERS: [LibraryEntry; 17] = [
    entry("openssl", "OpenSSL"),
    entry("aws-lc", "AWS-LC"),
    entry("boringssl", "BoringSSL"),
    entry("ring", "ring"),
    entry("graviola", "graviola"),
    entry("rustcrypto", "RustCrypto"),
    LibraryEntry { native: true, ..entry("rustcrypto", "RustCrypto") },
    entry("aegis", "libaegis"),
    variant("ipsec-mb", "jobs", "ipsec-mb"),
    variant("ipsec-mb", "burst", "ipsec-mb"),
    variant("ipsec-mb", "direct", "ipsec-mb"),
    from_folder("LANELOCK_IPSEC_MB", variant("ipsec-mb-newer", "jobs", "")),
    from_folder("LANELOCK_IPSEC_MB", variant("ipsec-mb-newer", "burst", "")),
    from_folder("LANELOCK_IPSEC_MB", variant("ipsec-mb-newer", "direct", "")),
    from_folder("LANELOCK_ISAL_CRYPTO", entry("isa-l-crypto", "isa-l_crypto")),
    variant("crc", "crc32fast", "crc32fast"),
    variant("crc", "crc-fast", "crc-fast"),
];

/// Libraries of which only checksums are of interest come last.
const CHECKSUMS: [LibraryEntry; 1] = [entry("isa-l", "ISA-L")];

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
    processor: usize,
    worker: Option<Worker>,
}

/// A level of ours.
struct Level {
    name: String,
    best: bool,
}

/// What a worker measured.
pub struct Answer {
    pub cycles: f64,
    /// What came out, if it can be compared.
    pub digest: Option<String>,
}

impl Contestant {
    /// Builds and starts all that are wanted: ours, the best level first, then the peers; and the names of
    /// those that could not be built, with the reason.
    pub fn all(options: &Options, processor: usize) -> Result<(Vec<Self>, Vec<String>), String> {
        let wanted = &options.peers;
        let mut contestants = Vec::new();
        let program = build("lanelock", false, options.build)?;
        let mut levels: Vec<_> = ["portable", "neon", "neon-sha3", "aesni", "vaes256", "vaes512"]
            .into_iter()
            .rev()
            .collect();
        levels.retain(|level| {
            Worker::start(&program, processor, Some(level))
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
                processor,
                worker: None,
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
            let program = match entry.needs {
                Some(variable) if env::var_os(variable).is_none() => {
                    Err(format!("{variable} names no folder"))
                }
                _ => programs
                    .entry((entry.package, entry.native))
                    .or_insert_with(|| build(entry.package, entry.native, options.build))
                    .clone(),
            };
            match program.and_then(|program| Self::peer(entry, program, processor)) {
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

    fn peer(entry: &LibraryEntry, program: PathBuf, processor: usize) -> Result<Self, String> {
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
            processor,
            worker: None,
        };
        peer.start()?;
        if peer.column.is_empty() {
            peer.column.clone_from(&peer.version);
        }
        Ok(peer)
    }

    fn start(&mut self) -> Result<(), String> {
        let mut worker = Worker::start(&self.program, self.processor, self.variant.as_deref())?;
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
        let answer = self.ask(&format!("measure {windows} {row}"))?;
        let fields: Vec<&str> = answer.split(' ').collect();
        let ["cycles", cycles, "digest", digest] = fields[..] else { return Ok(None) };
        let digest = (digest != "-").then(|| digest.to_owned());
        Ok(cycles.parse().ok().map(|cycles| Answer { cycles, digest }))
    }

    /// Cycles of a call at the limit of the hardware, where the engine has a formula.
    pub fn limit(&mut self, row: &Row) -> Option<f64> {
        self.ask(&format!("limit {row}")).ok()?.strip_prefix("cycles ")?.parse().ok()
    }

    /// Starts the worker anew when it is next needed: it measures limits once.
    pub fn forget(&mut self) {
        self.worker = None;
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

/// Builds the worker of a package; gives its program.
fn build(package: &str, native: bool, anew: bool) -> Result<PathBuf, String> {
    let own = env::current_exe().map_err(|error| error.to_string())?;
    // target/release/lanelock-lab
    let mut target = own.ancestors().nth(2).ok_or("no target folder")?.to_path_buf();
    let mut command = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    if native {
        target.push("native");
        command.env("RUSTFLAGS", "-C target-cpu=native");
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
