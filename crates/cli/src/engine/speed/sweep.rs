//! `lanelock speed sweep`.

use lanelock_speed::{
    limit::Limits,
    plot,
    row::MeasuredRow,
    workload::{KINDS, Keys, Kind, Streams, Workload},
};

use super::{
    Screen,
    args::{SweepArgs, has_sweep},
    levels, object, one_key, wrong_size,
};
use crate::failure::Failure;

/// The numbers of lanes.
const LANES: &[usize] = &[1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32, 48, 64];

/// The best number of lanes is the smallest one so near to the fastest.
const NEAR: f64 = 1.02;

pub(super) fn sweep(args: &SweepArgs) -> Result<(), Failure> {
    let levels = levels(&args.common, false)?;
    let named =
        |kind: &&Kind| args.algorithms.iter().any(|algorithm| algorithm.name == kind.algorithm);
    let each = Keys::from(args.keys) == Keys::Each;
    let mut kinds = Vec::new();
    // Of one size are only those that are named.
    let all = |kind: &&Kind| args.algorithms.is_empty() && kind.only_size(0).is_none();
    let chosen = |kind: &&Kind| has_sweep(kind) && (all(kind) || named(kind));
    for kind in KINDS.iter().filter(chosen) {
        match kind.streams {
            Streams::Many => kinds.push(workloads(kind, args)?),
            Streams::ManyOneKey if !each => kinds.push(workloads(kind, args)?),
            Streams::ManyOneKey if named(&kind) => return Err(one_key(kind)),
            Streams::ManyOneKey | Streams::One => {}
        }
    }
    let screen = Screen::new(levels.len() * kinds.iter().map(Vec::len).sum::<usize>());
    if !args.common.json {
        let size = args.size;
        screen.print(&format!("{size} bytes a message, cycles per byte over lanes\n"))?;
        let lanes = LANES.iter().map(ToString::to_string);
        screen.print(&line("level", "", lanes.collect(), "best"))?;
    }
    for level in levels {
        let limits = Limits::measure(level);
        for workloads in &kinds {
            let mut rows = Vec::new();
            for workload in workloads {
                screen.at(workload);
                rows.extend(MeasuredRow::measure(
                    *workload,
                    level,
                    &limits,
                    args.common.passes.into(),
                    1,
                ));
            }
            let Some(best) = best(&rows) else { continue };
            if args.common.json {
                for row in &rows {
                    let mut object = object(row);
                    object["best"] = (row.workload.streams == best.workload.streams).into();
                    screen.print(&object.to_string())?;
                }
            } else {
                let Workload { algorithm, operation, key_bits, streams, .. } = best.workload;
                let cells = rows.iter().map(|row| plot::value(row.cycles_per_byte())).collect();
                let name = format!("{algorithm} {operation} {key_bits}");
                screen.print(&line(level.name(), &name, cells, &streams.to_string()))?;
            }
        }
    }
    Ok(())
}

/// The workloads of a row of the table.
fn workloads(kind: &Kind, args: &SweepArgs) -> Result<Vec<Workload>, Failure> {
    let named = args.algorithms.iter().find(|algorithm| algorithm.name == kind.algorithm);
    let key_bits = named.and_then(|algorithm| algorithm.key_bits).unwrap_or(kind.key_bits[0]);
    let workload = |lanes: &usize| {
        let keys = if *lanes > 1 { args.keys.into() } else { Keys::One };
        kind.workload(key_bits, args.size, *lanes, keys)
    };
    let workloads: Vec<_> = LANES.iter().map(workload).filter(Workload::exists).collect();
    if workloads.is_empty() { Err(wrong_size(kind)) } else { Ok(workloads) }
}

fn best(rows: &[MeasuredRow]) -> Option<&MeasuredRow> {
    let fastest = rows.iter().map(MeasuredRow::cycles_per_byte).fold(f64::INFINITY, f64::min);
    rows.iter().find(|row| row.cycles_per_byte() <= fastest * NEAR)
}

fn line(level: &str, name: &str, cells: Vec<String>, best: &str) -> String {
    let mut line = vec![format!("{level:<8} {name:<19}")];
    line.extend(cells.into_iter().map(|cell| format!("{cell:>6}")));
    line.push(format!("{best:>5}"));
    line.join(" ")
}
