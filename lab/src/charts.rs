//! The plots of the report.

use lanelock_lab_common::Row;
use lanelock_speed::plot::{Bar, BarChart, Group, Line, LineChart};

use crate::{
    contestants::OURS,
    results::Results,
    rows::{self, Table, Unit},
    tables,
};

/// A plot: its name without `.svg`, what it shows, and the drawing.
pub struct Plot {
    pub name: String,
    pub title: String,
    pub svg: String,
}

/// The peers that have a colour of their own in all plots over the message size; the others take
/// those that are free. Ours is the first colour of all.
const COLOURS: [&str; 7] =
    ["OpenSSL", "AWS-LC", "BoringSSL", "RustCrypto", "ipsec-mb", "isa-l_crypto", "libaegis"];

/// All plots for which there are figures.
pub fn all(results: &Results) -> Vec<Plot> {
    let mut plots: Vec<Plot> =
        rows::tables().iter().filter_map(|table| over_size(results, table)).collect();
    plots.extend(bars(results, "bars-modes", "Modes", Unit::Byte, MODES));
    plots.extend(bars(results, "bars-aead", "AEADs and MACs", Unit::Byte, AEADS));
    plots.extend(bars(results, "bars-short", "Short messages", Unit::Message, SHORT));
    plots.extend(levels(results));
    plots
}

const MODES: &[&str] = &[
    "ctr encrypt 128 16384 1 one",
    "cbc decrypt 128 16384 1 one",
    "xts encrypt 128 16384 1 one",
    "xts encrypt 128 512 64 one",
    "xts encrypt 128 4096 64 one",
    "cbc encrypt 128 16384 32 one",
    "cbcs encrypt 128 16384 32 one",
];

const AEADS: &[&str] = &[
    "gcm seal 128 16384 1 one",
    "gcm seal 256 16384 1 one",
    "gcm-siv seal 128 16384 1 one",
    "ocb3 seal 128 16384 1 one",
    "ccm seal 128 16384 32 one",
    "cmac mac 128 16384 32 one",
    "aegis-128l seal 128 16384 1 one",
    "aegis-128x4 seal 128 16384 1 one",
];

const SHORT: &[&str] = &[
    "gcm seal 128 16 1 one",
    "gcm seal 128 16 64 one",
    "gcm seal 128 16 64 each",
    "gcm seal 128 64 64 one",
    "gcm seal 128 64 64 each",
    "gcm seal 128 256 64 one",
    "gcm seal 128 256 64 each",
    "ctr encrypt 128 16 1 one",
    "cmac mac 128 16 1 one",
];

/// Speed over the message size, a line for each library.
fn over_size(results: &Results, table: &Table) -> Option<Plot> {
    let name = table.plot?;
    let points = |of: &dyn Fn(&Row) -> Option<f64>| -> Vec<(f64, f64)> {
        let point = |row: &Row| Some((row.size as f64, table.unit.of(row, of(row)?)));
        table.rows.iter().filter_map(point).collect()
    };
    let mut peers: Vec<Line> = results
        .peers()
        .into_iter()
        .map(|peer| Line {
            name: peer.into(),
            points: points(&|row| Some(results.figure(row, peer)?.cycles)),
            limit: Vec::new(),
        })
        .filter(|line| line.points.len() > 1)
        .collect();
    // Only the fastest.
    let best = |line: &Line| line.points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    peers.sort_by(|a, b| best(a).total_cmp(&best(b)));
    peers.truncate(COLOURS.len());
    let ours = Line {
        name: OURS.into(),
        points: points(&|row| Some(results.ours(row)?.cycles)),
        limit: points(&|row| results.limit(row)),
    };
    let lines = in_colours(ours, peers);
    if lines.iter().all(|line| line.points.len() < 2) {
        return None;
    }
    let title = format!("{}, AES-128", table.title);
    let chart = LineChart {
        title: title.clone(),
        subtitle: subtitle(results),
        across: None,
        unit: "core cycles per byte".into(),
        lines,
    };
    Some(Plot { name: format!("size-{name}"), title, svg: chart.svg() })
}

/// Ours and the peers, each where its colour is; lines without points stand for colours not used.
fn in_colours(ours: Line, peers: Vec<Line>) -> Vec<Line> {
    let mut lines = vec![Line::default(); 1 + COLOURS.len()];
    lines[0] = ours;
    let mut others = Vec::new();
    for peer in peers {
        match COLOURS.iter().position(|name| *name == peer.name) {
            Some(i) => lines[1 + i] = peer,
            None => others.push(peer),
        }
    }
    for peer in others {
        if let Some(free) = lines[1..].iter_mut().find(|line| line.points.is_empty()) {
            *free = peer;
        }
    }
    lines
}

/// A group of bars for each row, with the limit drawn in.
fn bars(results: &Results, name: &str, title: &str, unit: Unit, rows: &[&str]) -> Option<Plot> {
    let rows = rows.iter().map(|text| text.parse::<Row>().expect("a row"));
    let mut groups = Vec::new();
    // Where the axis ends: bars of peers that are many times as long would flatten all others.
    let mut most = 0.0_f64;
    for row in rows.filter(|row| results.has(row)) {
        let of = |cycles| unit.of(&row, cycles);
        let mut bars: Vec<Bar> = results
            .peers()
            .into_iter()
            .filter_map(|peer| Some((peer, results.figure(&row, peer)?)))
            .map(|(peer, sample)| Bar { name: peer.into(), value: of(sample.cycles), ours: false })
            .collect();
        bars.sort_by(|a, b| a.value.total_cmp(&b.value));
        let best = bars.first().map(|bar| bar.value);
        if let Some(ours) = results.ours(&row) {
            bars.insert(0, Bar { name: OURS.into(), value: of(ours.cycles), ours: true });
        }
        most = most.max(1.2 * best.unwrap_or(0.0)).max(bars.first().map_or(0.0, |bar| bar.value));
        if !bars.is_empty() {
            // The limit is one of throughput: it does not apply to a single short message.
            let limit = results.limit(&row).map(of).filter(|_| unit == Unit::Byte);
            groups.push(Group { name: rows::name(&row), limit, bars });
        }
    }
    let chart = BarChart {
        title: title.into(),
        subtitle: subtitle(results),
        unit: format!("core {}", unit.name()),
        most,
        groups,
    };
    (!chart.groups.is_empty()).then(|| Plot {
        name: name.into(),
        title: title.into(),
        svg: chart.svg(),
    })
}

/// A group of bars for each row: the levels, each as a multiple of its own limit.
fn levels(results: &Results) -> Option<Plot> {
    let names: Vec<&str> = results.levels().filter(|level| *level != "portable").collect();
    let mut groups = Vec::new();
    for row in rows::levels().iter().filter(|row| results.has(row)) {
        let bar = |level: &&str| {
            let share = results.at(row, level)?.cycles / results.limit_at(row, level)?;
            Some(Bar { name: (*level).into(), value: share, ours: *level == names[0] })
        };
        let bars: Vec<Bar> = names.iter().filter_map(bar).collect();
        if !bars.is_empty() {
            groups.push(Group { name: rows::name(row), limit: Some(1.0), bars });
        }
    }
    let chart = BarChart {
        title: "Levels beside their own limits".into(),
        subtitle: subtitle(results),
        unit: "multiple of the limit".into(),
        most: 4.0,
        groups,
    };
    let title = "Levels beside their own limits".to_owned();
    (!chart.groups.is_empty()).then(|| Plot { name: "levels".into(), title, svg: chart.svg() })
}

fn subtitle(results: &Results) -> String {
    let machine = &results.machine;
    let clock = machine.gigahertz.map(|clock| format!(" at {clock:.2} GHz")).unwrap_or_default();
    let processor = machine.processor.split(" family").next().unwrap_or_default();
    let generation = machine.processor.split_once('(').and_then(|(_, rest)| rest.split(')').next());
    let generation = generation.map(|name| format!(" {name}")).unwrap_or_default();
    format!(
        "{}{generation}{clock}, one core; lowest median of {} passes in turns; {}",
        processor.trim_end_matches(','),
        results.passes,
        machine.date
    )
}

/// The alternative text of a plot: what it shows, in words.
pub fn describe(results: &Results, plot: &Plot) -> String {
    let mut tables = rows::tables().into_iter();
    let Some(table) = tables.find(|t| t.plot.is_some_and(|p| plot.name == format!("size-{p}")))
    else {
        return format!("{}: bars for each library or level, with the limit", plot.title);
    };
    let ends = || {
        let row = table.rows.iter().rev().find(|row| results.ours(row).is_some())?;
        let text = |cycles| tables::figure(table.unit.of(row, cycles), table.unit);
        let ours = text(results.ours(row)?.cycles);
        let (name, peer) = results.best_peer(row)?;
        let (size, peer) = (rows::size(row.size), text(peer.cycles));
        Some(format!("; at {size}, {OURS} {ours}, {name} {peer}"))
    };
    format!("{}: cycles per byte over the message size{}", plot.title, ends().unwrap_or_default())
}
