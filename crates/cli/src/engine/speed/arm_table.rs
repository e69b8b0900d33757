//! `lanelock speed arm-table`.

use lanelock_speed::{
    arm_table::{Cell, IN_FLIGHT, PUBLISHED, SIZES},
    clock, plot,
};
use serde_json::json;

use super::{Screen, args::ArmTableArgs, levels, rounded};
use crate::failure::Failure;

/// Nanoseconds in each column; `None` where there are fewer blocks than are to be in flight.
type Figures = [Option<f64>; 3];

pub(super) fn arm_table(args: &ArmTableArgs) -> Result<(), Failure> {
    let levels = levels(&args.common, false)?;
    let wanted = |bits: &u16| {
        args.key_bits.is_empty() || args.key_bits.iter().any(|given| given.includes(*bits))
    };
    let key_sizes: Vec<u16> = [128, 192, 256].into_iter().filter(wanted).collect();
    let json = args.common.json;
    let screen = Screen::new(levels.len() * key_sizes.len() * 2 * IN_FLIGHT.len());
    if !json {
        screen.print("AES block by block, nanoseconds a message\n")?;
        screen.print(&line("", ["16 B", "1 KiB", "1 MiB"].map(Into::into)))?;
    }
    for (name, figures) in PUBLISHED {
        screen.print(&if json {
            let [block, kib, mib] = figures;
            json!({
                "row": name, "published": true, "operation": "encrypt", "key_bits": 128,
                "ns_16": block, "ns_1k": kib, "ns_1m": mib,
            })
            .to_string()
        } else {
            line(name, cells(figures))
        })?;
    }
    for level in levels {
        if !json {
            let clock = clock::gigahertz();
            screen.print(&format!("\nlevel {level}, core clock {clock:.2} GHz"))?;
        }
        for &key_bits in &key_sizes {
            for (operation, decrypt) in [("encrypt", false), ("decrypt", true)] {
                for in_flight in IN_FLIGHT {
                    let name = format!("AES-{key_bits} {operation}, {in_flight} in flight");
                    screen.step(&name);
                    let figures: Figures = SIZES.map(|size| {
                        let cell = Cell { decrypt, key_bits, in_flight, size };
                        cell.nanoseconds(level, args.common.passes.into())
                    });
                    screen.print(&if json {
                        let [block, kib, mib] = figures.map(|figure| figure.map(rounded));
                        json!({
                            "row": name, "published": false, "level": level.name(),
                            "operation": operation, "key_bits": key_bits, "in_flight": in_flight,
                            "ns_16": block, "ns_1k": kib, "ns_1m": mib,
                            "clock_ghz": rounded(clock::gigahertz()),
                        })
                        .to_string()
                    } else {
                        line(&name, cells(figures))
                    })?;
                }
            }
        }
    }
    if !json {
        screen.print(
            "\nThe first rows are published: AES-128 encryption, .NET on an ARMv8 server.",
        )?;
    }
    Ok(())
}

fn cells(figures: Figures) -> [String; 3] {
    figures.map(|figure| figure.map_or("-".into(), plot::value))
}

fn line(name: &str, cells: [String; 3]) -> String {
    let mut line = vec![format!("{name:<29}")];
    line.extend(cells.map(|cell| format!("{cell:>12}")));
    line.join(" ")
}
