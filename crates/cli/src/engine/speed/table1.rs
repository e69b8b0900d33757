//! `lanelock speed table1`.

use lanelock_speed::{
    clock,
    limit::Limits,
    plot,
    row::MeasuredRow,
    table1::{PUBLISHED, workloads},
};
use serde_json::json;

use super::{Screen, args::Table1Args, levels, rounded};
use crate::failure::Failure;

/// Cycles per byte in each column; `None` where the engine has no such mode.
type Figures = [Option<f64>; 6];

pub(super) fn table1(args: &Table1Args) -> Result<(), Failure> {
    let levels = levels(&args.common, true)?;
    let columns = workloads(args.lanes);
    let screen = Screen::new(levels.len() * columns.len());
    let show = |name: &str, clock: Option<f64>, figures: Figures| {
        screen.print(&if args.common.json {
            object(name, clock, figures)
        } else {
            line(name, figures.map(|figure| figure.map_or("-".into(), plot::value)))
        })
    };
    if !args.common.json {
        let streams = format!("CBC enc x{}", args.lanes);
        let heads = ["CTR", "XTS", "CBC dec", "CBC enc", &streams, "GCM"];
        screen.print("AES-128 over 8 KB, cycles per byte\n")?;
        screen.print(&line("processor", heads.map(Into::into)))?;
    }
    for (processor, figures) in PUBLISHED {
        show(processor, None, figures.map(Some))?;
    }
    for level in levels {
        let limits = Limits::measure(level);
        let mut figures = [None; 6];
        for (figure, workload) in figures.iter_mut().zip(columns) {
            screen.at(&workload);
            let row = MeasuredRow::measure(workload, level, &limits, args.common.passes.into(), 1);
            *figure = row.as_ref().map(MeasuredRow::cycles_per_byte);
        }
        show(level.name(), Some(clock::gigahertz()), figures)?;
    }
    if !args.common.json {
        screen.print(
            "\nThe last rows are this processor, by level; the others are published (S. Gueron).",
        )?;
    }
    Ok(())
}

fn line(name: &str, cells: [String; 6]) -> String {
    let mut line = vec![format!("{name:<13}")];
    line.extend(cells.map(|cell| format!("{cell:>11}")));
    line.join(" ")
}

fn object(name: &str, clock: Option<f64>, figures: Figures) -> String {
    let [ctr, xts, cbc_decrypt, cbc_encrypt, cbc_encrypt_streams, gcm] =
        figures.map(|figure| figure.map(rounded));
    json!({
        "row": name,
        "published": clock.is_none(),
        "ctr": ctr,
        "xts": xts,
        "cbc_decrypt": cbc_decrypt,
        "cbc_encrypt": cbc_encrypt,
        "cbc_encrypt_streams": cbc_encrypt_streams,
        "gcm": gcm,
        "clock_ghz": clock.map(rounded),
    })
    .to_string()
}
