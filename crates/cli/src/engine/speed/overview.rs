//! All algorithms in one table: cycles per byte, a column for each size of message.

use std::fmt::Write as _;

use lanelock_speed::{plot, row::MeasuredRow, workload::FAMILIES};

use super::{of_limit, percent};
use crate::units;

/// The rows of one level as a table; a line holds all rows of an algorithm, operation and key size.
pub(super) fn table(rows: &[MeasuredRow]) -> String {
    let (expansions, rows): (Vec<&MeasuredRow>, Vec<_>) =
        rows.iter().partition(|row| row.workload.operation == "expand");
    let columns = columns(&rows);
    let mut lines = heads(&columns);
    for family in FAMILIES {
        let of_family =
            |row: &&&MeasuredRow| row.workload.kind().is_some_and(|k| k.family() == family);
        let rows: Vec<_> = rows.iter().filter(of_family).copied().collect();
        if !rows.is_empty() {
            lines.push(family.to_owned());
            lines.extend(rows.chunk_by(|a, b| same_line(a, b)).map(|rows| line(rows, &columns)));
        }
    }
    let cycles = |row: &&MeasuredRow| {
        format!("{} bits {}", row.workload.key_bits, plot::value(row.cycles()))
    };
    let expansions: Vec<_> = expansions.iter().map(cycles).collect();
    if !expansions.is_empty() {
        lines.push(format!("\nCycles of a key expansion: {}.", expansions.join(", ")));
    }
    let spread = rows.iter().map(|row| row.sample.spread).fold(0.0, f64::max);
    lines.push(format!(
        "\nCycles per byte; the part of the limit is that of the column before it. Largest spread of\n\
         a row's passes: {}. `lanelock speed ALGORITHM` shows more; --level, --lanes and --key-bits choose.",
        percent(spread)
    ));
    lines.join("\n")
}

/// Sizes for each number of messages.
type Columns = Vec<(usize, Vec<usize>)>;

fn columns(rows: &[&MeasuredRow]) -> Columns {
    let mut columns = Columns::new();
    for row in rows {
        let (streams, size) = (row.workload.streams, row.workload.size);
        let at = columns.iter().position(|(known, _)| *known == streams).unwrap_or_else(|| {
            columns.push((streams, Vec::new()));
            columns.len() - 1
        });
        let sizes = &mut columns[at].1;
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    columns
}

fn same_line(a: &MeasuredRow, b: &MeasuredRow) -> bool {
    let key =
        |row: &MeasuredRow| (row.workload.algorithm, row.workload.operation, row.workload.key_bits);
    key(a) == key(b)
}

const NAME: usize = 24;
const CELL: usize = 8;
const LIMIT: usize = 9;

fn heads(columns: &Columns) -> Vec<String> {
    let (mut above, mut below) = (" ".repeat(NAME), format!("{:<NAME$}", ""));
    for (streams, sizes) in columns {
        let width = CELL * sizes.len() + LIMIT;
        let messages = units::count(*streams as u64, "message", "messages at once");
        let _ = write!(above, "{messages:>width$}");
        for size in sizes {
            let _ = write!(below, "{:>CELL$}", plot::bytes(units::float(*size as u64)));
        }
        let _ = write!(below, "{:>LIMIT$}", "of limit");
    }
    vec![above, below]
}

fn line(rows: &[&MeasuredRow], columns: &Columns) -> String {
    let workload = rows[0].workload;
    let bits = if workload.key_bits == 0 { String::new() } else { workload.key_bits.to_string() };
    let name = format!("{} {}", workload.algorithm, workload.operation);
    let mut line = format!("  {name:<18}{bits:>4}");
    for (streams, sizes) in columns {
        let mut last = None;
        for size in sizes {
            let of = |row: &&&MeasuredRow| {
                (row.workload.streams, row.workload.size) == (*streams, *size)
            };
            last = rows.iter().find(of).copied();
            let cell = last.map_or(String::new(), |row| plot::value(row.cycles_per_byte()));
            let _ = write!(line, "{cell:>CELL$}");
        }
        let _ = write!(line, "{:>LIMIT$}", last.map_or(String::new(), of_limit));
    }
    line.trim_end().to_owned()
}
