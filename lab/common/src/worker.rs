//! The loop of a worker.
//!
//! A worker is started with the number of a processor, stays on it, and answers each line of its
//! standard input by one line:
//!
//! | request | answer |
//! |---|---|
//! | `version` | a line of text |
//! | `measure WINDOWS ROW` | `cycles C p99 P digest D`: cycles a call, and what came out |
//! | `limits ROW` | `units C mix C`: cycles that the hardware would take, or `-` |
//! | `clock` | `gigahertz F` |
//!
//! or by `unsupported`, or by `error` and a text. It sleeps between requests, so that all workers can
//! share one core, its caches and its neighbours.

use std::io::{BufRead, Write};

use crate::{
    clock::{self, Cycles},
    data::Data,
    row::Row,
    traffic::{Lengths, copies},
};

/// A library.
pub trait Library {
    /// Name and version.
    fn version(&self) -> String;

    /// Sets up `row`: contexts and keys, which are kept from call to call as the library's
    /// documentation recommends. `None` if the library does not have it.
    fn prepare(&self, row: &Row, data: &Data) -> Prepared;

    /// Whether [`prepare`](Self::prepare) heeds additional data, lengths that change from call to call
    /// ([`Data::length`]), and tags that are wrong.
    fn takes_any_traffic(&self) -> bool {
        false
    }

    /// Cycles of one call of `row` that the hardware would take: its busiest units, and the whole mix of
    /// instructions.
    fn limits(&self, _row: &Row) -> [Option<f64>; 2] {
        [None, None]
    }

    /// Cycles of one call of `row`, for a library that has its own buffers.
    fn measure(&self, _row: &Row, _windows: usize) -> Option<Cycles> {
        None
    }
}

/// One call: processes all messages.
pub type Call = Box<dyn FnMut(&mut Data)>;

/// A call, if there is one.
pub type Prepared = Option<Call>;

/// The call that `f` is.
pub fn call(f: impl FnMut(&mut Data) + 'static) -> Prepared {
    Some(Box::new(f))
}

/// Serves a library until standard input ends.
pub fn serve(library: &dyn Library) {
    if let Some(processor) = std::env::args().nth(1).and_then(|argument| argument.parse().ok()) {
        pin(processor);
    }
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let answer = answer(library, &line).unwrap_or_else(|error| format!("error {error}"));
        if writeln!(out, "{answer}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

fn answer(library: &dyn Library, line: &str) -> Result<String, String> {
    let (request, rest) = line.split_once(' ').unwrap_or((line, ""));
    match request {
        "version" => Ok(library.version()),
        "clock" => Ok(format!("gigahertz {}", clock::gigahertz())),
        "limits" => {
            let text = |cycles: Option<f64>| cycles.map_or("-".into(), |cycles| cycles.to_string());
            let [units, mix] = library.limits(&rest.parse()?).map(text);
            Ok(format!("units {units} mix {mix}"))
        }
        "measure" => {
            let (windows, row) = rest.split_once(' ').ok_or("measure WINDOWS ROW")?;
            let windows = windows.parse().map_err(|_| "measure WINDOWS ROW")?;
            Ok(measure(library, &row.parse()?, windows))
        }
        _ => Err(format!("unknown request: {request}")),
    }
}

fn measure(library: &dyn Library, row: &Row, windows: usize) -> String {
    let digest = prepared(library, row).map(|(mut data, mut call)| {
        call(&mut data);
        (data.digest(row), data, call)
    });
    let (cycles, digest) = match (library.measure(row, windows), digest) {
        (Some(cycles), digest) => {
            (cycles, digest.map_or("-".into(), |(digest, ..)| format!("{digest:016x}")))
        }
        (None, Some((digest, data, call))) => {
            (measure_calls(library, row, windows, data, call), format!("{digest:016x}"))
        }
        (None, None) => return "unsupported".into(),
    };
    let digest = if row.is_random() { "-".into() } else { digest };
    format!("cycles {} p99 {} digest {digest}", cycles.median, cycles.p99)
}

/// A short message of GCM takes little more than what is around it here: some 15 cycles. So many share that, where a
/// library takes them one by one anyway.
const TOGETHER: usize = 16;

fn measure_calls(
    library: &dyn Library,
    row: &Row,
    windows: usize,
    data: Data,
    call: Call,
) -> Cycles {
    let short = row.algorithm == "gcm" && row.size <= 1400 && !row.traffic.cold;
    let together = Row { streams: TOGETHER, ..row.clone() };
    match (short && row.streams == 1).then(|| prepared(library, &together)).flatten() {
        Some((data, call)) => {
            let Cycles { median, p99 } = measure_call(&together, windows, data, call);
            Cycles { median: median / TOGETHER as f64, p99: p99 / TOGETHER as f64 }
        }
        None => measure_call(row, windows, data, call),
    }
}

fn measure_call(row: &Row, windows: usize, mut data: Data, mut call: Call) -> Cycles {
    if row.traffic.cold {
        data.cool(copies(row.bytes()));
    }
    cycles(row, windows, || {
        data.advance();
        call(&mut data);
    })
}

/// Core cycles of one call of `f`, which is that of `row`.
pub fn cycles(row: &Row, windows: usize, f: impl FnMut()) -> Cycles {
    if row.is_search() { clock::mean(windows.div_ceil(8), f) } else { clock::cycles(windows, f) }
}

/// The call and its data; what is to be opened is sealed first.
fn prepared(library: &dyn Library, row: &Row) -> Option<(Data, Call)> {
    let special =
        row.aad > 0 || row.traffic.lengths == Lengths::Random || row.operation == "reject";
    // Cold texts are those of one message.
    if row.traffic.cold && row.streams > 1 {
        return None;
    }
    if special && !library.takes_any_traffic() {
        return None;
    }
    let mut data = Data::new(row);
    let forward = match (&row.algorithm[..], &row.operation[..]) {
        (_, "open" | "reject") => Some("seal"),
        ("kw" | "kwp", "decrypt") => Some("encrypt"),
        _ => None,
    };
    if let Some(operation) = forward {
        library.prepare(&row.with_operation(operation), &data)?(&mut data);
        data.turn();
    }
    if row.operation == "reject" {
        for tag in &mut data.tags {
            tag[0] ^= 1;
        }
    }
    let call = library.prepare(row, &data)?;
    Some((data, call))
}

/// Keeps this process on one processor.
pub fn pin(processor: usize) {
    // SAFETY: the set is plain data, and its size is given.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}
