//! Cycles per byte of the engine, beside its peers and beside the limit of the hardware, in one run.
//!
//! - `lanelock-lab` prints the table of record, as Markdown.
//! - `lanelock-lab lanes` sweeps the number of lanes: what the kernels of `lanelock::lanes` are
//!   chosen by.

mod clock;
mod limit;
mod peers;

use lanelock::{
    Aes128, AesLevel, CounterBits, Pattern,
    lanes::{self, Job},
};

const KEY: [u8; 16] = *b"0123456789abcdef";

/// Passes over all contestants of a row; the lowest median counts.
const PASSES: usize = 6;

/// One row: a workload.
struct Row {
    mode: Mode,
    streams: usize,
    /// Bytes of each stream.
    length: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Ctr,
    CbcDecrypt,
    CbcsDecrypt,
    Cbc,
    Cbcs,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Ctr => "CTR",
            Self::CbcDecrypt => "CBC decrypt",
            Self::CbcsDecrypt => "CBCS 1:9 decrypt",
            Self::Cbc => "CBC encrypt",
            Self::Cbcs => "CBCS 1:9 encrypt",
        }
    }

    fn pattern(self) -> Pattern {
        match self {
            Self::Cbcs | Self::CbcsDecrypt => Pattern::new(1, 9),
            _ => Pattern::ALL,
        }
    }

    /// The part of the bytes that goes through AES.
    fn share(self) -> f64 {
        if self.pattern() == Pattern::ALL { 1.0 } else { 0.1 }
    }
}

const ROWS: &[Row] = &[
    Row { mode: Mode::Ctr, streams: 1, length: 8 << 10 },
    Row { mode: Mode::CbcDecrypt, streams: 1, length: 8 << 10 },
    Row { mode: Mode::CbcsDecrypt, streams: 1, length: 16_000 },
    Row { mode: Mode::Cbc, streams: 1, length: 8 << 10 },
    Row { mode: Mode::Cbc, streams: 5, length: 8 << 10 },
    Row { mode: Mode::Cbc, streams: 32, length: 8 << 10 },
    Row { mode: Mode::Cbc, streams: 64, length: 8 << 10 },
    Row { mode: Mode::Cbcs, streams: 1, length: 16_000 },
    Row { mode: Mode::Cbcs, streams: 5, length: 16_000 },
    Row { mode: Mode::Cbcs, streams: 32, length: 16_000 },
    Row { mode: Mode::Cbcs, streams: 64, length: 8_000 },
];

impl Row {
    /// A buffer for each stream, apart from one another by odd distances as in a program: buffers
    /// whose distance is a multiple of 4096 bytes fight for the same sets of the cache.
    fn buffers(&self) -> Vec<Vec<u8>> {
        let buffer = |i: usize| {
            let mut buffer = Vec::with_capacity(self.length + i * 7 % 13 * 192);
            buffer.resize(self.length, 0x5a);
            buffer
        };
        (0..self.streams).map(buffer).collect()
    }

    fn bytes(&self) -> f64 {
        (self.streams * self.length) as f64
    }

    /// Runs the workload with the engine, in at most `most` lanes.
    fn run(&self, key: &Aes128, most: usize, buffers: &mut [Vec<u8>]) {
        let pattern = self.mode.pattern();
        match self.mode {
            Mode::Ctr => {
                for data in buffers {
                    key.ctr(CounterBits::Bits64, &mut [0; 16], data);
                }
            }
            Mode::CbcDecrypt | Mode::CbcsDecrypt => {
                for data in buffers {
                    key.cbcs_decrypt(&mut [0; 16], pattern, data);
                }
            }
            Mode::Cbc | Mode::Cbcs => {
                let mut jobs: Vec<_> =
                    buffers.iter_mut().map(|data| Job::new(key, [0; 16], pattern, data)).collect();
                lanes::encrypt_in_lanes(&mut jobs, most);
            }
        }
    }
}

fn main() {
    if std::env::args().nth(1).is_some_and(|argument| argument == "lanes") {
        sweep();
    } else {
        table();
    }
}

/// Cycles per byte, and in brackets the share of what the AES units of the level could do.
fn table() {
    let levels = AesLevel::available();
    let keys: Vec<_> = levels.iter().map(|level| Aes128::with_level(&KEY, *level)).collect();
    let limits: Vec<f64> = levels.iter().map(|level| limit::cycles_per_byte(*level)).collect();
    let peers = peers::all();
    println!(
        "AES-128, cycles per byte over all bytes, lowest median of {PASSES} passes; in brackets the \
         share of the level's own AES limit. Core clock {:.2} GHz.\n",
        clock::gigahertz()
    );
    print!("| workload | streams x bytes |");
    for (level, limit) in levels.iter().zip(&limits) {
        print!(" {level} (limit {limit:.4}) |");
    }
    for peer in &peers {
        print!(" {} |", peer.name);
    }
    println!("\n|---|---|{}", "---|".repeat(levels.len() + peers.len()));
    for row in ROWS {
        let mut buffers = row.buffers();
        let runs: Vec<_> = peers.iter().map(|peer| peer.run(row.mode)).collect();
        let mut ours = vec![f64::INFINITY; levels.len()];
        let mut theirs = vec![f64::INFINITY; peers.len()];
        for _ in 0..PASSES {
            for (best, key) in ours.iter_mut().zip(&keys) {
                let windows = if key.level().name() == "portable" { 3 } else { 101 };
                let cycles =
                    clock::cycles(windows, || row.run(key, lanes::MOST_LANES, &mut buffers));
                *best = best.min(cycles / row.bytes());
            }
            for (best, run) in theirs.iter_mut().zip(&runs) {
                if let Some(run) = run {
                    let cycles = clock::cycles(101, || run(&mut buffers));
                    *best = best.min(cycles / row.bytes());
                }
            }
        }
        print!("| {} | {} x {} |", row.mode.name(), row.streams, row.length);
        for (cpb, limit) in ours.iter().zip(&limits) {
            print!(" {cpb:.4} ({:.0} %) |", 100.0 * limit * row.mode.share() / cpb);
        }
        for cpb in theirs {
            if cpb.is_finite() {
                print!(" {cpb:.4} |");
            } else {
                print!(" - |");
            }
        }
        println!();
    }
}

/// Speed over the number of lanes, for each level.
fn sweep() {
    const LANES: [usize; 9] = [1, 2, 3, 4, 8, 12, 16, 24, 32];
    println!("Cycles per block of AES-128 over the number of lanes, lowest median of 4 passes.\n");
    println!("| level | workload | {} |", LANES.map(|n| n.to_string()).join(" | "));
    println!("|---|---|{}", "---|".repeat(LANES.len()));
    for level in AesLevel::available().into_iter().filter(|level| level.name() != "portable") {
        let key = Aes128::with_level(&KEY, level);
        for row in ROWS.iter().filter(|row| row.streams == 32) {
            let mut buffers = row.buffers();
            let blocks = row.bytes() * row.mode.share() / 16.0;
            print!("| {level} | {} |", row.mode.name());
            for lanes in LANES {
                let cycles = (0..4)
                    .map(|_| clock::cycles(51, || row.run(&key, lanes, &mut buffers)))
                    .fold(f64::INFINITY, f64::min);
                print!(" {:.2} |", cycles / blocks);
            }
            println!();
        }
    }
}
