//! The tables of the report, as Markdown.

use std::fmt::Write as _;

use lanelock_lab_common::Row;
use lanelock_speed::{clock::Sample, plot::value};

use crate::{
    contestants::{OURS, TLS_LIBRARIES},
    results::Results,
    rows::{self, Goal, STREAMS, Table, Unit, Yardstick},
};

/// The goals: multiples of what the same run measured.
pub fn goals(results: &Results) -> String {
    let goals: Vec<Goal> = rows::goals().into_iter().filter(|g| results.has(&g.row)).collect();
    let mut rows = Vec::new();
    let (mut met, mut missing) = (0, 0);
    for goal in &goals {
        let cell = |cycles| figure(goal.unit.of(&goal.row, cycles), goal.unit);
        let ours = results.ours(&goal.row);
        let (of, measure) = match &goal.of {
            Yardstick::Peer if results.lacks_best_peer(&goal.row) => {
                ("best peer missing".into(), None)
            }
            Yardstick::Peer => match results.best_peer(&goal.row) {
                Some((name, sample)) => (name.to_owned(), Some(sample.cycles)),
                None => ("no peer".into(), None),
            },
            Yardstick::TlsLibrary => match results.best_of(&goal.row, &TLS_LIBRARIES) {
                Some((name, sample)) => (name.to_owned(), Some(sample.cycles)),
                None => ("no library".into(), None),
            },
            Yardstick::Library(name) => {
                ((*name).into(), results.figure(&goal.row, name).map(|sample| sample.cycles))
            }
            Yardstick::Units => ("units".into(), results.limit(&goal.row)),
            Yardstick::Mix => ("mix".into(), results.mix(&goal.row)),
            Yardstick::OneByOne => {
                let alone = results.ours(&rows::alone(&goal.row));
                ("one by one".into(), alone.map(|sample| sample.cycles))
            }
            Yardstick::Cycles(cycles) => ("cycles".into(), Some(*cycles)),
        };
        let times = ours.zip(measure).map(|(ours, measure)| ours.cycles / measure);
        let reached = match times {
            None => {
                missing += 1;
                "missing"
            }
            // Two digits are compared, since two are shown.
            Some(times) if times < goal.reach + 0.005 => {
                met += 1;
                "yes"
            }
            Some(_) => "**no**",
        };
        rows.push(vec![
            rows::name(&goal.row),
            ours.map_or("-".into(), |ours| {
                with_spread(ours, |cycles| goal.unit.of(&goal.row, cycles), goal.unit)
            }),
            of,
            measure.map_or("-".into(), cell),
            times.map_or("-".into(), |times| format!("{times:.2}")),
            format!("{:.2}", goal.reach),
            reached.into(),
        ]);
    }
    let head = ["row", "Lanelock", "yardstick", "its figure", "times", "goal", "reached"];
    let count = format!("{met} of {} reached", goals.len());
    let lacking = if missing > 0 { format!(", {missing} missing") } else { String::new() };
    format!("{count}{lacking}.\n\n{}", markdown(&head, &rows))
}

/// A column for each library that has any of the rows.
pub fn libraries(results: &Results, table: &Table) -> Option<String> {
    let measured: Vec<_> = table.rows.iter().filter(|row| results.has(row)).collect();
    if measured.is_empty() {
        return None;
    }
    let peers: Vec<&str> = results
        .peers()
        .into_iter()
        .filter(|peer| measured.iter().any(|row| results.figure(row, peer).is_some()))
        .collect();
    // The limit is one of throughput: it does not apply to a single short message.
    let limits =
        table.unit != Unit::Message && measured.iter().any(|row| results.limit(row).is_some());
    let mut head = vec!["row", OURS];
    let p99 = measured.iter().any(|row| results.p99(row, OURS).is_some());
    if p99 {
        head.push("p99");
    }
    if limits {
        head.extend(["units", "mix"]);
    }
    head.extend(&peers);
    let mut rows = Vec::new();
    for row in measured {
        let unit = |cycles| table.unit.of(row, cycles);
        let text = |cycles| figure(unit(cycles), table.unit);
        let best = results.best_peer(row).filter(|_| !results.lacks_best_peer(row));
        let best = best.map(|(name, _)| name);
        let mut name = if table.plot.is_some() { rows::size(row.size) } else { rows::name(row) };
        if results.lacks_best_peer(row) {
            name += " (best peer missing)";
        }
        let mut cells = vec![name];
        cells
            .push(results.ours(row).map_or("-".into(), |ours| with_spread(ours, unit, table.unit)));
        if p99 {
            cells.push(results.p99(row, OURS).map_or("-".into(), text));
        }
        if limits {
            cells.push(results.limit(row).map_or("-".into(), text));
            cells.push(results.mix(row).map_or("-".into(), text));
        }
        for peer in &peers {
            cells.push(match results.figure(row, peer) {
                // The fastest peer.
                Some(sample) if best == Some(*peer) => format!("*{}*", text(sample.cycles)),
                Some(sample) => text(sample.cycles),
                None => "-".into(),
            });
        }
        rows.push(cells);
    }
    let (title, unit) = (table.title, table.unit.name());
    Some(format!("#### {title}\n\n{unit}.\n\n{}", markdown(&head, &rows)))
}

/// A column for each level: cycles, and the shares of the level's own limits, units and mix.
pub fn levels(results: &Results, all: &[Row], unit: Unit) -> String {
    let levels: Vec<&str> = results.levels().collect();
    let mut head = vec!["row"];
    head.extend(levels.iter().rev());
    let mut rows = Vec::new();
    for row in all.iter().filter(|row| results.has(row)) {
        let mut cells = vec![rows::name(row)];
        for level in levels.iter().rev() {
            cells.push(match results.at(row, level) {
                Some(ours) => {
                    let share = |limit: Option<f64>| {
                        limit.map_or("-".into(), |limit| {
                            format!("{:.0} %", 100.0 * limit / ours.cycles)
                        })
                    };
                    let units = share(results.limit_at(row, level));
                    let mix = share(results.mix_at(row, level));
                    figure(unit.of(row, ours.cycles), unit) + &format!(" ({units}, {mix})")
                }
                None => "-".into(),
            });
        }
        rows.push(cells);
    }
    markdown(&head, &rows)
}

/// Whether the narrower levels come within a tenth of their own mix of instructions.
pub fn narrow_levels(results: &Results) -> String {
    let mut text = String::new();
    for level in ["aesni", "vaes256"] {
        for row in rows::levels_with_goal() {
            let (Some(ours), Some(limit)) = (results.at(&row, level), results.mix_at(&row, level))
            else {
                let _ = writeln!(text, "- `{level}`, {}: missing", rows::name(&row));
                continue;
            };
            let share = 100.0 * limit / ours.cycles;
            let reached = if ours.cycles <= 1.1 * limit { "yes" } else { "**no**" };
            let _ = writeln!(
                text,
                "- `{level}`, {}: {share:.0} % of the mix; within 10 %: {reached}",
                rows::name(&row)
            );
        }
    }
    text
}

/// Cycles per byte over the number of streams, at every level.
pub fn streams(results: &Results) -> String {
    let columns = STREAMS.map(|streams| streams.to_string());
    let mut head = vec!["level", "row"];
    head.extend(columns.iter().map(|column| &column[..]));
    let mut rows = Vec::new();
    for (algorithm, operation) in rows::CHAINS {
        let chain = rows::streams(algorithm, operation);
        for level in results.levels() {
            let figures = chain.iter().map(|row| results.at(row, level));
            let cells: Vec<_> = chain
                .iter()
                .zip(figures)
                .map(|(row, sample)| match sample {
                    Some(sample) => figure(Unit::Byte.of(row, sample.cycles), Unit::Byte),
                    None => "-".into(),
                })
                .collect();
            if cells.iter().any(|cell| cell != "-") {
                rows.push([vec![level.into(), rows::kind(&chain[0])], cells].concat());
            }
        }
    }
    markdown(&head, &rows)
}

/// The figure, and by how much the highest of the medians is above it.
fn with_spread(sample: Sample, unit: impl Fn(f64) -> f64, of: Unit) -> String {
    let spread = 100.0 * sample.spread;
    format!("**{}** +{spread:.0} %", figure(unit(sample.cycles), of))
}

/// Cycles of a message without digits behind the point, unless they are few.
pub fn figure(number: f64, unit: Unit) -> String {
    match unit {
        Unit::Message if number >= 100.0 => format!("{number:.0}"),
        Unit::Message => format!("{number:.1}"),
        Unit::Byte | Unit::Operation => value(number),
    }
}

fn markdown(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}
