//! Queues of operations, under a clock that the test turns.

use std::{
    cell::Cell,
    collections::HashMap,
    rc::Rc,
    time::{Duration, Instant},
};

use lanelock_pubkey::{Batcher, Error, Operation, Policy, Random, Submitter, Ticket};
use lanelock_testkit::Rng;

/// An operation that says what it was given; odd numbers of class 3 fail.
struct Echo {
    class: usize,
    number: u64,
    batches: Rc<Cell<usize>>,
}

/// The lanes of each class.
const LANES: [usize; 4] = [8, 4, 8, 1];

impl Operation for Echo {
    type Output = u64;
    type Class = usize;

    fn class(&self) -> usize {
        self.class
    }

    fn lanes(class: usize) -> usize {
        LANES[class]
    }

    fn run(operations: &[&Self], random: &mut dyn Random) -> Vec<Result<u64, Error>> {
        random.fill(&mut [0; 8]).unwrap();
        let first = operations[0];
        assert!(operations.len() <= LANES[first.class]);
        assert!(operations.iter().all(|operation| operation.class == first.class));
        first.batches.set(first.batches.get() + 1);
        let result = |operation: &&Self| match (operation.class, operation.number % 2) {
            (3, 1) => Err(Error::Signature),
            _ => Ok(operation.number),
        };
        operations.iter().map(result).collect()
    }
}

/// Makes operations, numbered in order.
#[derive(Default)]
struct Maker {
    next: u64,
    batches: Rc<Cell<usize>>,
}

impl Maker {
    fn make(&mut self, class: usize) -> Echo {
        self.next += 1;
        Echo { class, number: self.next - 1, batches: self.batches.clone() }
    }
}

#[test]
fn full_lanes_run_and_others_wait() {
    let mut maker = Maker::default();
    let mut submitter = Submitter::new();
    let tickets: Vec<_> = (0..19).map(|_| submitter.submit(maker.make(0))).collect();
    assert_eq!((submitter.waiting(), maker.batches.get()), (3, 2));
    let other = submitter.submit(maker.make(1));
    assert_eq!(submitter.poll(other), None);
    for (number, ticket) in (0..16).zip(&tickets) {
        assert_eq!(submitter.poll(*ticket), Some(Ok(number)));
        assert_eq!(submitter.poll(*ticket), None);
    }
    assert!(submitter.cancel(tickets[17]));
    assert!(!submitter.cancel(tickets[17]) && !submitter.cancel(tickets[0]));
    submitter.flush();
    assert_eq!((submitter.waiting(), maker.batches.get()), (0, 4));
    assert_eq!(submitter.completed(), Some((tickets[16], Ok(16))));
    assert_eq!(submitter.completed(), Some((tickets[18], Ok(18))));
    assert_eq!(submitter.poll(other), Some(Ok(19)));
    assert_eq!(submitter.completed(), None);
}

#[test]
fn an_error_stays_in_its_lane() {
    let mut maker = Maker::default();
    let mut submitter = Submitter::new();
    let tickets = [(); 2].map(|()| submitter.submit(maker.make(3)));
    assert_eq!(submitter.poll(tickets[0]), Some(Ok(0)));
    assert_eq!(submitter.poll(tickets[1]), Some(Err(Error::Signature)));
}

#[test]
fn alone_it_runs_at_once() {
    let mut maker = Maker::default();
    let mut batcher = Batcher::new(Policy::default());
    let mut now = Instant::now();
    for _ in 0..100 {
        let ticket = batcher.submit(maker.make(0), now);
        assert_eq!(batcher.next_deadline(), Some(now));
        assert_eq!(batcher.poll(now), 1);
        assert!(batcher.take(ticket).is_some());
        assert_eq!(batcher.next_deadline(), None);
        now += Duration::from_millis(1);
    }
    assert_eq!(batcher.statistics().at_once, 100);
    assert_eq!(batcher.statistics().sizes[0], 100);
}

#[test]
fn under_load_it_waits_and_no_longer_than_it_may() {
    let mut maker = Maker::default();
    let policy = Policy::default().with_deadline(Duration::from_micros(300));
    let mut batcher = Batcher::new(policy);
    let begin = Instant::now();
    for _ in 0..8 {
        batcher.submit(maker.make(0), begin);
    }
    batcher.poll(begin);
    assert_eq!(batcher.statistics().full, 1);
    // Waiting pays now.
    let ticket = batcher.submit(maker.make(0), begin);
    let later = begin + Duration::from_micros(100);
    batcher.submit(maker.make(0), later);
    let due = begin + Duration::from_micros(300);
    assert_eq!(batcher.next_deadline(), Some(due));
    let just_before = begin + Duration::from_nanos(299_999);
    assert_eq!(batcher.poll(just_before), 0);
    assert_eq!(batcher.poll(due), 2);
    assert!(batcher.take(ticket).is_some());
    assert_eq!(batcher.statistics().expired, 1);
    // Small batches for some time: it pays no more.
    let mut now = due;
    let mut at_once = 0;
    for _ in 0..16 {
        now += Duration::from_secs(1);
        batcher.submit(maker.make(0), now);
        at_once += batcher.poll(now);
        now += Duration::from_secs(1);
        batcher.poll(now);
    }
    assert!(at_once > 8, "{at_once}");
    assert_eq!(batcher.waiting(), 0);
}

#[test]
fn a_cancelled_operation_does_not_run() {
    let mut maker = Maker::default();
    let mut batcher = Batcher::new(Policy::default().with_fewest(0));
    let now = Instant::now();
    let first = batcher.submit(maker.make(0), now);
    let second = batcher.submit(maker.make(0), now + Duration::from_micros(50));
    assert!(batcher.cancel(first));
    let due = now + Duration::from_micros(450);
    assert_eq!(batcher.next_deadline(), Some(due));
    batcher.flush();
    assert_eq!(batcher.completed(), Some((second, Ok(1))));
    assert_eq!(batcher.statistics().flushed, 1);
}

/// Arrivals at random, a thread that is busy while batches run: every operation runs once, with its own result, and
/// none waits longer than the deadline and the batches that ran in its last poll before.
#[test]
fn random_arrivals() {
    let mut random = Rng::from_env("random_arrivals");
    for round in 0..200 {
        let deadline = Duration::from_micros(1 + random.below(500) as u64);
        let fewest = random.below(9);
        let mut batcher =
            Batcher::new(Policy::default().with_deadline(deadline).with_fewest(fewest));
        let mut maker = Maker::default();
        let gap = 1 + random.below(2_000);
        let cost = Duration::from_micros(1 + random.below(1_000) as u64);
        let mut now = Instant::now();
        let mut arrival = now;
        let mut expected: HashMap<Ticket, (usize, u64, Instant)> = HashMap::new();
        let (mut left, mut longest, mut batches) = (500, Duration::ZERO, 0);
        while left > 0 || batcher.waiting() > 0 {
            // The loop sleeps until the next request or the deadline.
            let due = batcher.next_deadline();
            let next =
                if left > 0 { due.map_or(arrival, |due| due.min(arrival)) } else { due.unwrap() };
            now = now.max(next);
            while left > 0 && arrival <= now {
                let operation = maker.make(random.below(LANES.len()));
                let (class, number) = (operation.class, operation.number);
                expected.insert(batcher.submit(operation, now), (class, number, now));
                arrival += Duration::from_micros(random.below(2 * gap) as u64);
                left -= 1;
            }
            let begin = now;
            batcher.poll(now);
            let ran = maker.batches.get() - batches;
            batches += ran;
            now += cost * u32::try_from(ran).unwrap();
            longest = longest.max(now - begin);
            while let Some((ticket, result)) = batcher.completed() {
                let (class, number, since) = expected.remove(&ticket).expect("submitted, once");
                assert_eq!(result.is_err(), class == 3 && number % 2 == 1, "round {round}");
                assert!(result.is_err() || result == Ok(number), "round {round}");
                assert!(begin - since <= deadline + longest, "round {round}: {:?}", begin - since);
            }
        }
        assert!(expected.is_empty(), "round {round}");
        let statistics = batcher.statistics();
        assert_eq!(statistics.operations, 500);
        assert_eq!(statistics.batches(), batches as u64);
        assert_eq!(statistics.full + statistics.expired + statistics.at_once, batches as u64);
    }
}
