//! The engine of this repository, at the level that the second argument names. The measured calls are
//! those of `lanelock speed`; the results that others are compared with come one message at a time.

mod pubkey;
mod reference;

use std::cell::OnceCell;

use lanelock::AesLevel;
use lanelock_lab_common::{
    Data, Keys, Lengths, Library, Place, Prepared, Row, clock, cycles, serve,
};
use lanelock_speed::{
    limit::Limits,
    workload::{self, KINDS, Workload},
};

struct Engine {
    level: AesLevel,
    limits: OnceCell<Limits>,
}

impl Library for Engine {
    fn version(&self) -> String {
        format!("Lanelock at {}", self.level)
    }

    fn prepare(&self, row: &Row, data: &Data) -> Prepared {
        if !workload(row)?.exists() {
            return None;
        }
        pubkey::prepare(row, data, self.level).or_else(|| reference::prepare(row, data, self.level))
    }

    fn takes_any_traffic(&self) -> bool {
        true
    }

    fn limits(&self, row: &Row) -> [Option<f64>; 2] {
        // Cores share units, and cold caches have no formula.
        let Some(workload) = workload(row).filter(|_| row.cores == 1 && !row.traffic.cold) else {
            return [None, None];
        };
        let limits = self.limits.get_or_init(|| Limits::measure(self.level));
        let units = limits.cycles_per_byte(&workload);
        [units, limits.mix_cycles_per_byte(&workload)]
            .map(|limit| Some(limit? * row.bytes() as f64))
    }

    fn measure(&self, row: &Row, windows: usize) -> Option<clock::Cycles> {
        let mut runner = workload(row)?.runner(self.level)?;
        Some(cycles(row, windows, || runner.run()))
    }
}

fn workload(row: &Row) -> Option<Workload> {
    let kind =
        KINDS.iter().find(|k| k.algorithm == row.algorithm && k.operation == row.operation)?;
    let keys = if row.keys == Keys::One { workload::Keys::One } else { workload::Keys::Each };
    let plain = kind.workload(u16::try_from(row.key_bits).ok()?, row.size, row.streams, keys);
    let traffic = workload::Traffic {
        lengths: match row.traffic.lengths {
            Lengths::Equal => workload::Lengths::Equal,
            Lengths::Random => workload::Lengths::Random,
            Lengths::Units => workload::Lengths::Units,
        },
        place: match row.traffic.place {
            Place::Spread => workload::Place::Spread,
            Place::Page => workload::Place::Page,
            Place::Odd => workload::Place::Odd,
        },
        one_by_one: row.traffic.one_by_one,
        cold: row.traffic.cold,
    };
    Some(Workload { aad: row.aad, traffic, ..plain })
}

fn main() {
    let name =
        std::env::args().nth(2).unwrap_or_else(|| AesLevel::best().expect("a level").name().into());
    let levels = AesLevel::available();
    // The coordinator asks for every level that there is, and leaves out those whose worker ends.
    let Some(level) = levels.into_iter().find(|level| level.name() == name) else { return };
    serve(&Engine { level, limits: OnceCell::new() });
}
