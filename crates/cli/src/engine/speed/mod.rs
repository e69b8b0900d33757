//! `lanelock speed`: measure, print, plot.

mod args;
mod arm_table;
mod chart;
mod overview;
mod sweep;
mod table1;

use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lanelock::AesLevel;
use lanelock_packager::Error;
use lanelock_speed::{
    clock,
    limit::Limits,
    plot,
    row::MeasuredRow,
    workload::{KINDS, Keys, Kind, Streams, Workload},
};
use serde_json::{Value, json};

pub(crate) use args::SpeedArgs;
use args::{SpeedCommand, SpeedCommonArgs};

use crate::{failure::Failure, units};

/// Sizes of the messages, if none are given.
const SIZES: &[usize] = &[16, 64, 256, 1 << 10, 8 << 10, 16 << 10, 1 << 20];

/// The same of the overview.
const FEW_SIZES: &[usize] = &[16, 1 << 10, 16 << 10];

pub(crate) fn speed(args: &SpeedArgs) -> Result<(), Failure> {
    if let Some(emulator) = lanelock_speed::emulator() {
        return Err(Failure::unsuitable(
            "lanelock speed",
            format!("emulated by {}: figures would say nothing", emulator.display()),
        ));
    }
    match &args.command {
        None => rows(args),
        Some(SpeedCommand::Table1(args)) => table1::table1(args),
        Some(SpeedCommand::ArmTable(args)) => arm_table::arm_table(args),
        Some(SpeedCommand::Sweep(args)) => sweep::sweep(args),
    }
}

fn rows(args: &SpeedArgs) -> Result<(), Failure> {
    let SpeedCommonArgs { passes, json, .. } = args.common;
    let levels = levels(&args.common, false)?;
    let workloads = workloads(args)?;
    // Before anything is measured, since that takes long.
    let plot = args.plot.as_deref().map(chart::File::create).transpose()?;
    let overview = args.algorithms.is_empty();
    let screen = Screen::new(levels.len() * workloads.len());
    let mut rows = Vec::new();
    for (i, level) in levels.into_iter().enumerate() {
        let limits = Limits::measure(level);
        if !json {
            if i > 0 {
                screen.print("")?;
            }
            screen.print(&title(args, level))?;
            if !overview {
                screen.print(HEAD)?;
            }
        }
        let before = rows.len();
        for workload in &workloads {
            screen.at(workload);
            let row = MeasuredRow::measure(*workload, level, &limits, passes.into(), args.threads);
            let Some(row) = row else { continue };
            if json {
                screen.print(&object(&row).to_string())?;
            } else if !overview {
                screen.print(&line(&row))?;
            }
            rows.push(row);
        }
        let rows = &mut rows[before..];
        for row in rows.iter_mut() {
            row.set_limit(&limits);
        }
        if overview && !json {
            screen.print(&overview::table(rows))?;
        }
        if !json && rows.iter().any(beyond) {
            screen.print(BEYOND)?;
        }
    }
    match plot {
        Some(file) => file.write(&chart::chart(&rows, passes)),
        None => Ok(()),
    }
}

/// The line above a table.
fn title(args: &SpeedArgs, level: AesLevel) -> String {
    let passes = units::count(args.common.passes.into(), "pass", "passes");
    let mut title = format!(
        "level {level}, core clock {:.2} GHz, lowest median of {passes}",
        clock::gigahertz()
    );
    if args.threads > 1 {
        let _ = write!(title, ", {} threads at once", args.threads);
    }
    if let Some(aad) = args.aad {
        let _ = write!(title, ", {} of AAD", units::count(aad as u64, "byte", "bytes"));
    }
    title.push('\n');
    title
}

/// The workloads that the command line names.
fn workloads(args: &SpeedArgs) -> Result<Vec<Workload>, Failure> {
    let overview = args.algorithms.is_empty();
    if overview && args.plot.is_some() {
        return Err(Failure::usage(
            "a chart of all algorithms at once would be unreadable",
            "name algorithms, as in: lanelock speed ctr gcm --plot speed.svg",
        ));
    }
    let sizes = match &args.size[..] {
        [] if overview => FEW_SIZES,
        [] => SIZES,
        sizes => sizes,
    };
    let mut all = Vec::new();
    for kinds in KINDS.chunk_by(|a, b| a.algorithm == b.algorithm) {
        let named = args.algorithms.iter().filter(|named| named.name == kinds[0].algorithm);
        let named: Vec<_> = named.map(|named| named.key_bits).collect();
        if !overview && named.is_empty() {
            continue;
        }
        let before = all.len();
        for kind in kinds.iter().filter(|kind| kind.overview || !overview) {
            add(kind, args, &named, sizes, &mut all);
        }
        if all.len() == before && !overview {
            return Err(cannot(kinds, args));
        }
    }
    if args.aad.is_some_and(|aad| aad > 0) && all.iter().all(|workload| workload.aad == 0) {
        return Err(Failure::usage(
            "--aad has no effect: only AEADs have additional data",
            "leave --aad out, or name an AEAD: gcm, gcm-siv, ccm, ocb3, aegis-128l, ...",
        ));
    }
    if let Some(large) = all.iter().find(|w| w.size.saturating_mul(w.streams) > args::MOST_BYTES) {
        return Err(Failure::usage(
            format!("{} messages of {} bytes are too many", large.streams, large.size),
            "1 GiB together is the most: lower --size or --lanes",
        ));
    }
    Ok(all)
}

/// Adds the workloads of one kind; `named` are the key sizes that the algorithm was named with.
fn add(
    kind: &Kind,
    args: &SpeedArgs,
    named: &[Option<u16>],
    sizes: &[usize],
    all: &mut Vec<Workload>,
) {
    // What takes a key and no message: those of all sizes belong together.
    let of_keys = kind.operation == "expand" || kind.has_public_keys();
    let streams = match args.lanes {
        Some(lanes) => vec![lanes],
        None if kind.streams == Streams::One => vec![1],
        None => vec![1, kind.usual_streams()],
    };
    for &key_bits in kind.key_bits {
        let alone = named.iter().all(Option::is_some) && !named.is_empty();
        let wanted = match &args.key_bits[..] {
            _ if alone || named.contains(&Some(key_bits)) => named.contains(&Some(key_bits)),
            [] => key_bits == kind.key_bits[0],
            given => key_bits == 0 || given.iter().any(|bits| bits.includes(key_bits)),
        };
        if !wanted && (alone || !of_keys) {
            continue;
        }
        let only = kind.only_size(key_bits).map(|size| [size]);
        let sizes = only.as_ref().map_or(sizes, |only| &only[..]);
        for &streams in &streams {
            let keys = if streams > 1 { args.keys.into() } else { Keys::One };
            let aad = if kind.takes_aad() { args.aad.unwrap_or(0) } else { 0 };
            let workload =
                |size: &usize| Workload { aad, ..kind.workload(key_bits, *size, streams, keys) };
            all.extend(sizes.iter().map(workload).filter(Workload::exists));
        }
    }
}

/// Why an algorithm has no workload with the options given.
fn cannot(kinds: &[Kind], args: &SpeedArgs) -> Failure {
    let name = kinds[0].algorithm;
    if args.lanes.is_some_and(|lanes| lanes > 1) {
        let all = |streams| kinds.iter().all(|kind| kind.streams == streams);
        if all(Streams::One) {
            let mut known: Vec<_> =
                KINDS.iter().filter(|k| k.streams != Streams::One).map(|k| k.algorithm).collect();
            known.dedup();
            return Failure::usage(
                format!("{name} has no call for several messages"),
                format!("leave --lanes out, or choose from {}", known.join(" ")),
            );
        }
        if kinds.iter().all(|k| k.streams != Streams::Many) && Keys::from(args.keys) == Keys::Each {
            return one_key(&kinds[0]);
        }
    }
    let given = |bits: &u16| *bits == 0 || args.key_bits.iter().any(|given| given.includes(*bits));
    if !args.key_bits.is_empty() && !kinds[0].key_bits.iter().any(given) {
        let sizes: Vec<_> = kinds[0].key_bits.iter().map(ToString::to_string).collect();
        return Failure::usage(
            format!("{name} has no key of that size"),
            format!("it has --key-bits {}", sizes.join(",")),
        );
    }
    wrong_size(&kinds[0])
}

fn one_key(kind: &Kind) -> Failure {
    let name = kind.algorithm;
    Failure::usage(format!("{name} has one key for all messages"), "leave --keys out")
}

fn wrong_size(kind: &Kind) -> Failure {
    let Kind { algorithm, operation, unit, least, .. } = kind;
    Failure::usage(
        format!("{algorithm} {operation} takes no message of that size"),
        format!("--size is a multiple of {unit} here, and {least} or more"),
    )
}

fn levels(args: &SpeedCommonArgs, all: bool) -> Result<Vec<AesLevel>, Failure> {
    let level = match args.level.as_deref() {
        Some("all") => return Ok(AesLevel::available()),
        None if all => return Ok(AesLevel::available()),
        Some(name) => name.parse::<AesLevel>(),
        None => AesLevel::best(),
    };
    Ok(vec![level.map_err(Error::from)?])
}

const HEAD: &str = "\
algorithm, operation      key    bytes  lanes      cycles      cpb      GB/s  of limit  spread";

/// What stands below a table with a row that is [`beyond`] its limit.
const BEYOND: &str = "
* faster than the limit that was measured here: something slowed the measuring of the limit each
  time, or its formula does not hold for this processor";

/// How much faster than its limit a row can seem: both are known within 2 %.
const PRECISION: f64 = 0.04;

/// Whether a row is faster than what was taken for its limit, by more than chance.
fn beyond(row: &MeasuredRow) -> bool {
    row.of_limit().is_some_and(|part| part > 1.0 + PRECISION)
}

fn of_limit(row: &MeasuredRow) -> String {
    match row.of_limit() {
        Some(part) if beyond(row) => format!("* {}", percent(part)),
        Some(part) => percent(part.min(1.0)),
        None => "-".into(),
    }
}

fn percent(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

/// Whether it says something how many cycles a byte takes.
fn has_bytes(row: &MeasuredRow) -> bool {
    !row.workload.kind().is_some_and(Kind::has_public_keys)
}

fn line(row: &MeasuredRow) -> String {
    let Workload { algorithm, operation, key_bits, size, streams, .. } = row.workload;
    let key = if key_bits == 0 { "-".into() } else { key_bits.to_string() };
    let of_bytes = |value| if has_bytes(row) { plot::value(value) } else { "-".into() };
    format!(
        "{:<24} {key:>4} {size:>8} {streams:>6} {:>11} {:>8} {:>9} {:>9} {:>7}",
        format!("{algorithm} {operation}"),
        plot::value(row.cycles()),
        of_bytes(row.cycles_per_byte()),
        of_bytes(row.gigabytes_per_second()),
        of_limit(row),
        percent(row.sample.spread),
    )
}

fn object(row: &MeasuredRow) -> Value {
    let Workload { algorithm, operation, key_bits, size, streams, keys, aad, .. } = row.workload;
    let of_bytes = |value| has_bytes(row).then(|| rounded(value));
    json!({
        "algorithm": algorithm,
        "operation": operation,
        "key_bits": key_bits,
        "level": row.level.name(),
        "size": size,
        "streams": streams,
        "aad": aad,
        "threads": row.threads,
        "keys": if keys == Keys::Each { "each" } else { "one" },
        "cpb": of_bytes(row.cycles_per_byte()),
        "cycles": rounded(row.cycles()),
        "gb_per_s": of_bytes(row.gigabytes_per_second()),
        "limit_cpb": row.limit.and_then(of_bytes),
        "limit_cycles": row.limit_cycles().map(rounded),
        "spread": rounded(row.sample.spread),
        "clock_ghz": rounded(row.gigahertz),
    })
}

/// Five digits: more is noise.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// Standard output, and a progress bar on standard error if that is a terminal.
struct Screen(ProgressBar);

impl Screen {
    fn new(steps: usize) -> Self {
        if !io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let target = ProgressDrawTarget::stderr_with_hz(10);
        let bar = ProgressBar::with_draw_target(Some(steps as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {percent:>3} %  {msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// The next workload begins.
    fn at(&self, workload: &Workload) {
        let Workload { algorithm, operation, size, streams, .. } = workload;
        let size = units::bytes(*size as u64);
        let lanes = units::count(*streams as u64, "lane", "lanes");
        self.step(&format!("{algorithm} {operation}, {size}, {lanes}"));
    }

    fn step(&self, what: &str) {
        self.0.set_message(what.to_owned());
        self.0.inc(1);
    }

    fn print(&self, line: &str) -> Result<(), Failure> {
        self.0.suspend(|| {
            let mut out = io::stdout().lock();
            writeln!(out, "{line}")?;
            Ok(out.flush()?)
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
