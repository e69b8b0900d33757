//! The results of a run, with queries: the best of each column, the figure of a level, disagreements.

use std::{collections::BTreeMap, fs, path::Path};

use lanelock_lab_common::Row;
use lanelock_speed::clock::Sample;
use serde::{Deserialize, Serialize};

use crate::{
    contestants::{Answer, Contestant, NEWEST, OURS},
    machine::Machine,
    options::Options,
    rows::Entry,
};

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Results {
    pub machine: Machine,
    pub passes: usize,
    pub windows: usize,
    pub contestants: Vec<Who>,
    /// Libraries that did not take part, with the reason.
    pub missing: Vec<String>,
    /// What libraries failed to do, though they said that they could.
    pub failures: Vec<String>,
    /// By row, as its text.
    rows: BTreeMap<String, Measured>,
}

/// A contestant.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Who {
    pub name: String,
    pub column: String,
    pub version: String,
    /// The level, if it is the engine.
    pub level: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Measured {
    /// Cycles of a call that the busiest units of the hardware would take, by level.
    limits: BTreeMap<String, f64>,
    /// The same of the whole mix of instructions.
    #[serde(default)]
    mixes: BTreeMap<String, f64>,
    /// By the contestant's name.
    figures: BTreeMap<String, Figure>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Figure {
    /// Core cycles of a call: the median of each pass.
    cycles: Vec<f64>,
    /// The 99th percentile of each pass.
    #[serde(default)]
    p99: Vec<f64>,
    /// What came out, if it can be compared.
    digest: Option<String>,
}

impl Results {
    pub fn new(
        machine: Machine,
        options: &Options,
        contestants: &[Contestant],
        missing: Vec<String>,
    ) -> Self {
        let who = |c: &Contestant| Who {
            name: c.name.clone(),
            column: c.column.clone(),
            version: c.version.clone(),
            level: c.level().map(str::to_owned),
        };
        Self {
            machine,
            passes: options.passes,
            windows: options.windows,
            contestants: contestants.iter().map(who).collect(),
            missing,
            failures: Vec::new(),
            rows: BTreeMap::new(),
        }
    }

    pub fn read(path: &Path) -> Result<Self, String> {
        let error = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = fs::read_to_string(path).map_err(|e| error(&e))?;
        serde_json::from_str(&text).map_err(|e| error(&e))
    }

    /// As JSON with a line for each figure, so that changes can be read.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let mut text = format!(
            "{{\n \"machine\": {},\n \"passes\": {},\n \"windows\": {},\n \"missing\": {},\n \
             \"failures\": {},\n",
            to_json(&self.machine),
            self.passes,
            self.windows,
            to_json(&self.missing),
            to_json(&self.failures)
        );
        let lines = |lines: Vec<String>| lines.join(",\n");
        let who = self.contestants.iter().map(|who| format!("  {}", to_json(who)));
        let rows = self.rows.iter().map(|(row, measured)| {
            let figure = |(name, figure)| format!("   {}: {}", to_json(name), to_json(figure));
            format!(
                "  {}: {{\n   \"limits\": {},\n   \"mixes\": {},\n   \"figures\": {{\n{}\n   }}\n  }}",
                to_json(row),
                to_json(&measured.limits),
                to_json(&measured.mixes),
                lines(measured.figures.iter().map(figure).collect())
            )
        });
        text += &format!(
            " \"contestants\": [\n{}\n ],\n \"rows\": {{\n{}\n }}\n}}\n",
            lines(who.collect()),
            lines(rows.collect())
        );
        fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Takes up a row with its limits; the lowest of those that were measured counts.
    pub fn add(&mut self, entry: &Entry, contestants: &mut [Contestant]) {
        let row = self.rows.entry(entry.row.to_string()).or_default();
        for ours in contestants.iter_mut().filter(|c| c.best() || (c.ours() && entry.levels)) {
            let level = ours.level().expect("ours").to_owned();
            let [units, mix] = ours.limits(&entry.row);
            for (limits, cycles) in [(&mut row.limits, units), (&mut row.mixes, mix)] {
                if let Some(cycles) = cycles {
                    let lowest = limits.entry(level.clone()).or_insert(f64::INFINITY);
                    *lowest = lowest.min(rounded(cycles));
                }
            }
        }
    }

    /// Takes up what a pass measured.
    pub fn take(&mut self, row: &Row, contestant: &Contestant, answer: &Answer) {
        let figures = &mut self.rows.entry(row.to_string()).or_default().figures;
        let figure = figures.entry(contestant.name.clone()).or_default();
        figure.cycles.push(rounded(answer.cycles));
        figure.p99.push(rounded(answer.p99));
        figure.digest.clone_from(&answer.digest);
    }

    /// Takes up a failure.
    pub fn fail(&mut self, text: String) {
        if !self.failures.contains(&text) {
            self.failures.push(text);
        }
    }

    /// Whether a row was asked for in this run.
    pub fn has(&self, row: &Row) -> bool {
        self.rows.contains_key(&row.to_string())
    }

    /// The levels that the engine ran at, the best first.
    pub fn levels(&self) -> impl Iterator<Item = &str> {
        self.contestants.iter().filter_map(|who| who.level.as_deref())
    }

    /// The columns of the peers, in order.
    pub fn peers(&self) -> Vec<&str> {
        let mut columns: Vec<&str> = Vec::new();
        for who in self.contestants.iter().filter(|who| who.level.is_none()) {
            if !columns.contains(&&who.column[..]) {
                columns.push(&who.column);
            }
        }
        columns
    }

    /// The engine's figure at its best level.
    pub fn ours(&self, row: &Row) -> Option<Sample> {
        self.figure(row, OURS)
    }

    /// The engine's figure at a level.
    pub fn at(&self, row: &Row, level: &str) -> Option<Sample> {
        let who = self.contestants.iter().find(|who| who.level.as_deref() == Some(level))?;
        self.figure(row, &who.column)
    }

    /// The better of the figures of a column.
    pub fn figure(&self, row: &Row, column: &str) -> Option<Sample> {
        let figures = &self.rows.get(&row.to_string())?.figures;
        let entries = self.contestants.iter().filter(|who| who.column == column);
        let sample = |cycles: &[f64]| {
            let sample = Sample::of(cycles);
            // The lowest of means would be the pass that was lucky.
            let mean = cycles.iter().sum::<f64>() / cycles.len() as f64;
            if row.is_search() { Sample { cycles: mean, ..sample } } else { sample }
        };
        let samples = entries.filter_map(|who| Some(sample(&figures.get(&who.name)?.cycles)));
        samples.min_by(|a, b| a.cycles.total_cmp(&b.cycles))
    }

    /// The 99th percentile of the figure of a column: the lowest of the passes.
    pub fn p99(&self, row: &Row, column: &str) -> Option<f64> {
        let figures = &self.rows.get(&row.to_string())?.figures;
        let entries = self.contestants.iter().filter(|who| who.column == column);
        let all = entries.filter_map(|who| figures.get(&who.name)).flat_map(|figure| &figure.p99);
        all.copied().min_by(f64::total_cmp)
    }

    /// Whether a library is missing that may be the fastest.
    pub fn lacks_best_peer(&self, row: &Row) -> bool {
        NEWEST.iter().any(|(package, algorithms)| {
            let there = |who: &Who| who.name.split('/').next() == Some(package);
            algorithms.contains(&&row.algorithm[..]) && !self.contestants.iter().any(there)
        })
    }

    /// The fastest peer.
    pub fn best_peer(&self, row: &Row) -> Option<(&str, Sample)> {
        self.best_of(row, &self.peers())
    }

    /// The fastest of these columns.
    pub fn best_of<'a>(&self, row: &Row, columns: &[&'a str]) -> Option<(&'a str, Sample)> {
        let columns = columns.iter().copied();
        let figures = columns.filter_map(|column| Some((column, self.figure(row, column)?)));
        figures.min_by(|a, b| a.1.cycles.total_cmp(&b.1.cycles))
    }

    /// Cycles of a call that the busiest units would take, at the engine's best level.
    pub fn limit(&self, row: &Row) -> Option<f64> {
        self.limit_at(row, self.levels().next()?)
    }

    /// Cycles of a call that the whole mix of instructions would take.
    pub fn mix(&self, row: &Row) -> Option<f64> {
        self.mix_at(row, self.levels().next()?)
    }

    pub fn mix_at(&self, row: &Row, level: &str) -> Option<f64> {
        self.rows.get(&row.to_string())?.mixes.get(level).copied()
    }

    /// Rows that are faster than a limit, by more than chance: the limit is wrong then.
    pub fn beyond_limits(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for (row, measured) in &self.rows {
            for who in &self.contestants {
                let Some(level) = &who.level else { continue };
                let figure = measured.figures.get(&who.name);
                let Some(cycles) = figure.map(|figure| Sample::of(&figure.cycles).cycles) else {
                    continue;
                };
                for (name, limits) in [("units", &measured.limits), ("mix", &measured.mixes)] {
                    if let Some(limit) = limits.get(level).filter(|limit| cycles < **limit * 0.98) {
                        let share = 100.0 * limit / cycles;
                        texts.push(format!(
                            "{row} at {level}: {share:.0} % of the limit of the {name}"
                        ));
                    }
                }
            }
        }
        texts
    }

    pub fn limit_at(&self, row: &Row, level: &str) -> Option<f64> {
        self.rows.get(&row.to_string())?.limits.get(level).copied()
    }

    /// Rows in which not all results are the same.
    pub fn disagreements(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for (row, measured) in &self.rows {
            let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            for (name, figure) in &measured.figures {
                if let Some(digest) = &figure.digest {
                    names.entry(digest).or_default().push(name);
                }
            }
            if names.len() > 1 {
                let parties: Vec<_> = names.values().map(|names| names.join(", ")).collect();
                texts.push(format!("{row}: different results of {}", parties.join(" / ")));
            }
        }
        texts
    }

    /// Rows whose results of the engine were compared with those of a peer, and rows in all.
    pub fn compared(&self) -> (usize, usize) {
        let ours: Vec<&str> =
            self.contestants.iter().filter(|w| w.level.is_some()).map(|w| &w.name[..]).collect();
        let compared = self.rows.values().filter(|measured| {
            let digests = measured.figures.iter().filter(|(_, figure)| figure.digest.is_some());
            let (own, others): (Vec<_>, Vec<_>) =
                digests.partition(|(name, _)| ours.contains(&&name[..]));
            !own.is_empty() && !others.is_empty()
        });
        (compared.count(), self.rows.len())
    }
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data")
}

/// Tenths of a cycle are enough.
fn rounded(cycles: f64) -> f64 {
    (cycles * 10.0).round() / 10.0
}
