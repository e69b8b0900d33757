//! The rows as a chart.

use std::{io::IoSlice, path::Path};

use lanelock_packager::io::{FileSink, Finish, Sink};
use lanelock_speed::{
    clock,
    plot::{Line, LineChart},
    row::MeasuredRow,
    workload::Keys,
};

use crate::{failure::Failure, units};

/// A line for each workload, over the sizes, as SVG. What all lines have in common is in the subtitle.
pub(super) fn chart(rows: &[MeasuredRow], passes: u16) -> String {
    let rows: Vec<&MeasuredRow> =
        rows.iter().filter(|row| row.workload.operation != "expand").collect();
    let bits: Vec<u16> = rows.iter().map(|row| row.workload.key_bits).filter(|b| *b > 0).collect();
    let one_key = bits.windows(2).all(|pair| pair[0] == pair[1]);
    let one_level = rows.windows(2).all(|pair| pair[0].level == pair[1].level);
    let mut lines: Vec<Line> = Vec::new();
    // The colour of each line: what differs in level and key size only has the same.
    let (mut colours, mut of_line) = (Vec::new(), Vec::new());
    for row in &rows {
        let workload = row.workload;
        let mut name = vec![workload.algorithm.to_owned(), workload.operation.to_owned()];
        if workload.streams > 1 {
            name.push(format!("×{}", workload.streams));
        }
        if workload.keys == Keys::Each {
            name.push("own keys".into());
        }
        let family = name.join(" ");
        if !one_key && workload.key_bits > 0 {
            name.push(workload.key_bits.to_string());
        }
        if !one_level {
            name.push(row.level.name().into());
        }
        let name = name.join(" ");
        let at = lines.iter().position(|line| line.name == name).unwrap_or_else(|| {
            let colour = colours.iter().position(|known| *known == family).unwrap_or_else(|| {
                colours.push(family);
                colours.len() - 1
            });
            of_line.push(colour);
            lines.push(Line { name, ..Line::default() });
            lines.len() - 1
        });
        let size = units::float(workload.size as u64);
        lines[at].points.push((size, row.cycles_per_byte()));
        lines[at].limit.extend(row.limit.map(|limit| (size, limit)));
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        line.limit.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let mut subtitle = Vec::new();
    if let (Some(bits), true) = (bits.first(), one_key) {
        subtitle.push(format!("AES-{bits}"));
    }
    if let (Some(row), true) = (rows.first(), one_level) {
        subtitle.push(format!("level {}", row.level));
    }
    subtitle.push(format!("core clock {:.2} GHz", clock::gigahertz()));
    subtitle.push(format!("lowest of {}", units::count(passes.into(), "pass", "passes")));
    let chart = LineChart {
        title: "Lanelock: cycles per byte over the size of messages".into(),
        subtitle: subtitle.join(", "),
        across: None,
        unit: "cycles per byte".into(),
        lines,
    };
    if colours.len() > 1 { chart.svg_in(&|line| of_line[line]) } else { chart.svg() }
}

/// The file of a chart, which appears whole or not at all.
pub(super) struct File<'a> {
    path: &'a Path,
    sink: Box<dyn Sink>,
}

impl<'a> File<'a> {
    pub(super) fn create(path: &'a Path) -> Result<Self, Failure> {
        Ok(Self { path, sink: Box::new(FileSink::create(path, &[])?) })
    }

    pub(super) fn write(self, text: &str) -> Result<(), Failure> {
        let Self { path, sink } = self;
        sink.write_all_at(&mut [IoSlice::new(text.as_bytes())], 0)
            .and_then(|()| sink.finish(Finish::new(text.len() as u64, false)))
            .map_err(|error| Failure::Io {
                what: format!("cannot write {}", path.display()),
                error,
            })
    }
}
