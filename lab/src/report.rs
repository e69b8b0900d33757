//! Writes the report: `performance.md` between two marks, `performance.json`, and `plots/`.

use std::{fmt::Write as _, fs, path::Path};

use crate::{
    charts,
    results::Results,
    rows::{self, Unit},
    tables,
};

const BEGIN: &str = "<!-- lab: begin. What follows is written by `make lab`. -->";
const END: &str = "<!-- lab: end -->";

/// Writes everything to `folder`. What is outside the marks of an existing report stays.
pub fn write(results: &Results, folder: &Path) -> Result<(), String> {
    let plots = charts::all(results);
    let plots_folder = folder.join("plots");
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(&plots_folder).map_err(|e| failed(&plots_folder, e))?;
    for plot in &plots {
        let path = plots_folder.join(format!("{}.svg", plot.name));
        fs::write(&path, &plot.svg).map_err(|e| failed(&path, e))?;
    }
    results.write(&folder.join("performance.json"))?;
    let path = folder.join("performance.md");
    let old =
        fs::read_to_string(&path).unwrap_or_else(|_| format!("# Performance\n\n{BEGIN}\n{END}\n"));
    let (before, rest) = old.split_once(BEGIN).ok_or(format!("{}: no mark", path.display()))?;
    let (_, after) = rest.split_once(END).ok_or(format!("{}: no end mark", path.display()))?;
    let text = format!("{before}{BEGIN}\n\n{}{END}{after}", body(results, &plots));
    fs::write(&path, text).map_err(|e| failed(&path, e))?;
    eprintln!("lab: wrote {}", path.display());
    Ok(())
}

fn body(results: &Results, plots: &[charts::Plot]) -> String {
    let mut text = circumstances(results);
    let mut section = |title: &str, intro: &str, body: &str| {
        let _ = write!(text, "### {title}\n\n{intro}\n\n{}\n\n", body.trim_end());
    };
    section("The goals", GOALS, &tables::goals(results));
    section(
        "Levels",
        LEVELS,
        &format!(
            "{}\n{}\n{KEYS_AT_LEVELS}\n\n{}",
            tables::levels(results, &rows::levels(), Unit::Byte),
            tables::narrow_levels(results),
            tables::levels(results, &rows::pubkey::levels(), Unit::Operation)
        ),
    );
    let picture = |plot: &charts::Plot| {
        format!("![{}](plots/{}.svg)", charts::describe(results, plot), plot.name)
    };
    let others = plots.iter().filter(|plot| !plot.name.starts_with("size-"));
    section("Beside the peers", PEERS, &others.map(picture).collect::<Vec<_>>().join("\n\n"));
    for table in rows::tables() {
        let Some(body) = tables::libraries(results, &table) else { continue };
        let _ = write!(text, "{body}\n");
        let name = table.plot.map(|name| format!("size-{name}"));
        if let Some(plot) = plots.iter().find(|plot| Some(&plot.name) == name.as_ref()) {
            let _ = write!(text, "{}\n\n", picture(plot));
        }
    }
    let streams = tables::streams(results);
    let _ = write!(text, "### Lanes\n\n{LANES}\n\n{streams}\n");
    text
}

/// Where, when, with what.
fn circumstances(results: &Results) -> String {
    let machine = &results.machine;
    let mut text = format!("{}; {}; {}.", machine.processor, machine.system, machine.compilers);
    if let Some(clock) = machine.gigahertz {
        let _ = write!(text, " Core clock {clock:.2} GHz.");
    }
    let _ = write!(
        text,
        " Measured on {} at commit {}: {} passes, {} windows each.\n\n",
        machine.date, machine.commit, results.passes, results.windows
    );
    let mut versions: Vec<&str> = Vec::new();
    for who in results.contestants.iter().filter(|who| who.level.is_none()) {
        if !versions.contains(&&who.version[..]) {
            versions.push(&who.version);
        }
    }
    let _ = writeln!(text, "Peers: {}.", versions.join("; "));
    if !results.missing.is_empty() {
        let _ = writeln!(text, "Left out: {}.", results.missing.join("; "));
    }
    let (compared, all) = results.compared();
    let _ = writeln!(
        text,
        "\nThe results of all libraries were compared, byte by byte; with ours in {compared} of {all} rows."
    );
    let wrong = [results.disagreements(), results.beyond_limits()].concat();
    for trouble in results.failures.iter().chain(&wrong) {
        let _ = writeln!(text, "\n**{trouble}.**");
    }
    let rows = rows::all();
    let lacking: Vec<_> = rows
        .iter()
        .filter(|entry| results.has(&entry.row) && results.ours(&entry.row).is_none())
        .map(|entry| rows::name(&entry.row))
        .collect();
    if !lacking.is_empty() {
        let _ = writeln!(text, "\nRows that Lanelock has no call for: {}.", lacking.join("; "));
    }
    text.push('\n');
    text
}

const GOALS: &str = "\
Each goal is a multiple of a yardstick that the same run measured, so that it holds on any processor: the
fastest peer at its newest release (where that is missing, nothing is won); the limit of the busiest *units*,
for chains with the schedule in which the longest one never waits; the *mix* of all instructions; or the
same messages one by one. Cycles per byte, or per message for short ones. `lanelock_speed::limit` has the
formulas.";

const LEVELS: &str = "\
Cycles per byte at each level of this machine, in brackets the shares of the level's own limits: units, mix.";

const KEYS_AT_LEVELS: &str =
    "Operations with public keys in thousand cycles, beside the limit of multiply-adds:";

const PEERS: &str = "\
Where a library has several ways to the same result (ipsec-mb: jobs, bursts, direct calls; RustCrypto:
built as usual, and for the processor at hand) the best one counts. The fastest peer is set in italics.
A figure of ours is followed by the distance to the worst of its medians; *p99* is what 99 of 100 windows of
40 us take at most. *Units* and *mix* are the limits. Without its newest peers a row says \"best peer missing\".";

const LANES: &str = "\
Cycles per byte over the number of streams of 8 KiB, with one key: what the kernels of `lanelock::lanes`
are chosen by.";
