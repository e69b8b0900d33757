//! What a batcher does for a server: latency and processor time of an operation over the rate of arrivals.
//!
//!     cargo run --release -p lanelock-lab-lanelock --bin arrivals -- [PROCESSOR]
//!
//! Run in `lab`. What a batch of each size takes is measured; then requests arrive at random (a Poisson process) at a
//! thread whose clock is simulated, a hundred thousand of them at each rate. Prints tables and writes charts to
//! `docs/plots`.

use std::{
    cell::Cell,
    fs,
    rc::Rc,
    time::{Duration, Instant},
};

use lanelock_lab_common::{clock, worker::pin};
use lanelock_pubkey::{
    Batcher, Error, Hash, Operation, P256, Policy, Random, SystemRandom, ecdsa, rsa, run_batch,
    x25519,
};
use lanelock_speed::plot::{Line, LineChart};

/// Requests at each rate.
const REQUESTS: usize = 100_000;
/// Rates of arrivals, in percent of what full batches could do.
const LOADS: [usize; 12] = [1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95];
/// Windows of a measurement.
const WINDOWS: usize = 101;

/// A request: takes as long as the batch that it is in.
struct Request {
    lanes: usize,
    costs: Rc<[Duration]>,
    busy: Rc<Cell<Duration>>,
}

impl Operation for Request {
    type Output = ();
    type Class = usize;

    fn class(&self) -> usize {
        self.lanes
    }

    fn lanes(class: usize) -> usize {
        class
    }

    fn run(operations: &[&Self], _: &mut dyn Random) -> Vec<Result<(), Error>> {
        let first = operations[0];
        first.busy.set(first.busy.get() + first.costs[operations.len() - 1]);
        operations.iter().map(|_| Ok(())).collect()
    }
}

/// What was seen at a rate.
struct Seen {
    load: usize,
    rate: f64,
    /// From submission, in microseconds: the thread submits what has arrived when it is free.
    median: f64,
    p99: f64,
    /// From arrival.
    p99_from_arrival: f64,
    /// Of the processor, for an operation.
    busy: f64,
    fill: f64,
    longest_batch: f64,
}

/// splitmix64, as a part of 1.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ z >> 31) >> 11) as f64 / (1_u64 << 53) as f64
}

fn simulate(costs: &Rc<[Duration]>, policy: Policy, load: usize) -> Seen {
    let lanes = costs.len();
    let capacity = lanes as f64 / costs[lanes - 1].as_secs_f64();
    let rate = capacity * load as f64 / 100.0;
    let busy = Rc::new(Cell::new(Duration::ZERO));
    let mut batcher = Batcher::with_random(policy, SystemRandom);
    let (mut state, begin) = (load as u64, Instant::now());
    let (mut now, mut arrival) = (begin, begin);
    let mut since = std::collections::HashMap::new();
    let (mut waits, mut from_arrival) = (Vec::new(), Vec::new());
    let mut left = REQUESTS;
    while left > 0 || batcher.waiting() > 0 {
        let due = batcher.next_deadline();
        let next = match due {
            Some(due) if left > 0 => due.min(arrival),
            Some(due) => due,
            None => arrival,
        };
        now = now.max(next);
        while left > 0 && arrival <= now {
            let request = Request { lanes, costs: costs.clone(), busy: busy.clone() };
            since.insert(batcher.submit(request, now), (now, arrival));
            arrival += Duration::from_secs_f64(-(1.0 - random(&mut state)).ln() / rate);
            left -= 1;
        }
        let before = busy.get();
        batcher.poll(now);
        now += busy.get() - before;
        while let Some((ticket, _)) = batcher.completed() {
            let (submitted, arrived) = since.remove(&ticket).expect("submitted");
            waits.push((now - submitted).as_secs_f64() * 1e6);
            from_arrival.push((now - arrived).as_secs_f64() * 1e6);
        }
    }
    waits.sort_by(f64::total_cmp);
    from_arrival.sort_by(f64::total_cmp);
    let at = |of: &[f64], part: usize| of[(of.len() - 1) * part / 100];
    let statistics = batcher.statistics();
    let sizes = statistics.sizes.iter().enumerate();
    let longest = sizes.filter(|(_, count)| **count > 0).map(|(size, _)| costs[size]).max();
    Seen {
        load,
        rate,
        median: at(&waits, 50),
        p99: at(&waits, 99),
        p99_from_arrival: at(&from_arrival, 99),
        busy: busy.get().as_secs_f64() * 1e6 / REQUESTS as f64,
        fill: statistics.operations as f64 / statistics.batches() as f64,
        longest_batch: longest.expect("a batch").as_secs_f64() * 1e6,
    }
}

/// What a batch of each size takes.
fn costs<O: Operation>(operation: impl Fn() -> O) -> Rc<[Duration]> {
    let lanes = O::lanes(operation().class());
    let operations: Vec<O> = (0..lanes).map(|_| operation()).collect();
    let gigahertz = clock::gigahertz();
    (1..=lanes)
        .map(|size| {
            let run = || {
                std::hint::black_box(run_batch(&operations[..size], &mut SystemRandom));
            };
            let cycles = clock::cycles(WINDOWS, run).median;
            Duration::from_secs_f64(cycles / gigahertz / 1e9)
        })
        .collect()
}

fn main() {
    if let Some(processor) = std::env::args().nth(1).and_then(|argument| argument.parse().ok()) {
        pin(processor);
    }
    let policy = Policy::default();
    let (mut latency, mut work) = (Vec::new(), Vec::new());
    let rsa = rsa::PrivateKey::generate(2048, &mut SystemRandom).expect("random bytes");
    let ecdsa = ecdsa::SigningKey::<P256>::generate(&mut SystemRandom).expect("random bytes");
    let x25519 = x25519::SecretKey::generate(&mut SystemRandom).expect("random bytes");
    let peer = x25519.public_key();
    let hash = Hash::Sha256;
    for (name, costs) in [
        (
            "RSA-2048, PSS",
            costs(|| {
                rsa::Sign::new(&rsa, rsa::Scheme::pss(Hash::Sha256), &[7; 32]).expect("a digest")
            }),
        ),
        ("ECDSA P-256", costs(|| ecdsa::Sign::new(&ecdsa, hash, &[7; 32]).expect("a digest"))),
        ("X25519", costs(|| x25519::Agree::new(&x25519, peer))),
    ] {
        let micros = |cost: Duration| cost.as_secs_f64() * 1e6;
        let of_one: Vec<String> =
            costs.iter().map(|cost| format!("{:.1}", micros(*cost))).collect();
        println!("{name}: a batch of 1 to {} takes {} us\n", costs.len(), of_one.join(", "));
        println!(
            "| load | operations/s | median us | p99 us | deadline + batch us | p99 from arrival us | CPU us an operation | mean batch |"
        );
        println!("|---|---|---|---|---|---|---|---|");
        let mut lines = [Vec::new(), Vec::new()];
        for load in LOADS {
            let seen = simulate(&costs, policy, load);
            let bound = 400.0 + seen.longest_batch;
            println!(
                "| {} % | {:.0} | {:.0} | {:.0} | {bound:.0} | {:.0} | {:.1} | {:.2} |",
                seen.load,
                seen.rate,
                seen.median,
                seen.p99,
                seen.p99_from_arrival,
                seen.busy,
                seen.fill
            );
            lines[0].push((load as f64, seen.p99));
            lines[1].push((load as f64, seen.busy / micros(costs[0])));
        }
        println!();
        let [p99, busy] = lines;
        latency.push(Line { name: name.into(), points: p99, limit: Vec::new() });
        work.push(Line { name: name.into(), points: busy, limit: Vec::new() });
    }
    let chart = |title: &str, unit: &str, lines| {
        LineChart {
        title: title.into(),
        subtitle: "100,000 requests at random times for each load, one thread, deadline 400 µs; a simulated clock, measured batches".into(),
        unit: unit.into(),
        across: Some("arrivals, in percent of what full batches could take".into()),
        lines,
    }
    };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/plots");
    for (name, chart) in [
        (
            "batcher-latency",
            chart("Batcher: latency of an operation, p99", "microseconds", latency),
        ),
        (
            "batcher-work",
            chart("Batcher: processor time of an operation", "of one operation alone", work),
        ),
    ] {
        fs::write(format!("{folder}/{name}.svg"), chart.svg()).expect("a folder docs/plots");
    }
}
