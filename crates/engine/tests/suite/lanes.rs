//! The lanes give the serial answer: any number of chains, any lengths, any order.

use crate::support::forms;
use lanelock::{
    Aes128, Aes192, Aes256, AesLevel, Pattern,
    lanes::{self, Completed, Job, KeyRef, Order, OwnedJob, Scheduler},
};
use lanelock_testkit::Rng;

struct Keys {
    small: Vec<Aes128>,
    middle: Vec<Aes192>,
    large: Vec<Aes256>,
}

impl Keys {
    fn new(rng: &mut Rng, level: AesLevel) -> Self {
        Self {
            small: (0..3).map(|_| Aes128::with_level(&rng.array(), level)).collect(),
            middle: (0..2).map(|_| Aes192::with_level(&rng.array(), level)).collect(),
            large: (0..2).map(|_| Aes256::with_level(&rng.array(), level)).collect(),
        }
    }

    fn pick(&self, rng: &mut Rng, mixed: bool) -> AnyKey<'_> {
        match if mixed { rng.below(4) } else { 3 } {
            0 => AnyKey::Middle(&self.middle[rng.below(2)]),
            1 => AnyKey::Large(&self.large[rng.below(2)]),
            2 => AnyKey::Small(&self.small[rng.below(3)]),
            _ => AnyKey::Small(&self.small[0]),
        }
    }
}

/// A key of any size, for the single-buffer mode and for the lanes.
#[derive(Clone, Copy)]
enum AnyKey<'k> {
    Small(&'k Aes128),
    Middle(&'k Aes192),
    Large(&'k Aes256),
}

impl<'k> From<AnyKey<'k>> for KeyRef<'k> {
    fn from(key: AnyKey<'k>) -> Self {
        match key {
            AnyKey::Small(key) => key.into(),
            AnyKey::Middle(key) => key.into(),
            AnyKey::Large(key) => key.into(),
        }
    }
}

/// One chain by the single-buffer mode.
fn serial(key: AnyKey<'_>, iv: [u8; 16], pattern: Pattern, data: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let (mut data, mut iv) = (data.to_vec(), iv);
    match key {
        AnyKey::Small(key) => key.cbcs_encrypt(&mut iv, pattern, &mut data),
        AnyKey::Middle(key) => key.cbcs_encrypt(&mut iv, pattern, &mut data),
        AnyKey::Large(key) => key.cbcs_encrypt(&mut iv, pattern, &mut data),
    }
    (data, iv)
}

fn random_pattern(rng: &mut Rng) -> Pattern {
    let pattern = *rng.pick(&[
        Pattern::ALL,
        Pattern::new(1, 9),
        Pattern::new(5, 5),
        Pattern::new(10, 0),
        Pattern::new(3, 1),
    ]);
    if rng.one_in(3) { pattern.encrypt_truncated_runs() } else { pattern }
}

/// Chains that begin at the same place of a page, which are started one group after the other: about as many as
/// there are lanes, alike and not, long and not.
#[test]
fn chains_at_one_place_of_a_page() {
    const PAGE: usize = 4096;
    let mut rng = Rng::from_env("chains_at_one_place_of_a_page");
    for level in forms() {
        let lengths = match level.name() {
            "portable" => vec![2000],
            _ => vec![900, 1023, 1024, 8192, 8192 + 320, 20_000],
        };
        let keys = Keys::new(&mut rng, level);
        for (most, mixed) in lengths.into_iter().flat_map(|most| [(most, false), (most, true)]) {
            let pattern = random_pattern(&mut rng);
            let count = *rng.pick(&[15, 16, 17, 32, 33, 40, 64, 65, 97]);
            let place = rng.below(PAGE);
            let mut memory = vec![0; count * (most / PAGE + 1) * PAGE + 2 * PAGE];
            let start = memory.as_ptr().align_offset(PAGE) + place;
            let mut jobs = Vec::new();
            let mut expected = Vec::new();
            let chunks = memory[start..].chunks_exact_mut((most / PAGE + 1) * PAGE);
            for chunk in chunks.take(count) {
                let length = if mixed && rng.one_in(2) { rng.below(most) } else { most };
                let (key, iv) = (keys.pick(&mut rng, mixed), rng.array());
                chunk[..length].copy_from_slice(&rng.bytes(length));
                expected.push(serial(key, iv, pattern, &chunk[..length]));
                jobs.push(Job::new(key, iv, pattern, &mut chunk[..length]));
            }
            assert_eq!(jobs.len(), count);
            lanes::encrypt(&mut jobs);
            for (number, (job, (data, iv))) in jobs.iter().zip(&expected).enumerate() {
                let what = format!("{level}, {pattern:?}, job {number} of {count}");
                assert!(job.data == data && job.iv == *iv, "{what}");
            }
        }
    }
}

#[test]
fn batches_give_the_serial_answer() {
    let mut rng = Rng::from_env("batches_give_the_serial_answer");
    for level in forms() {
        let rounds = if level.name() == "portable" { 30 } else { 300 };
        for round in 0..rounds {
            let keys = Keys::new(&mut rng, level);
            let mixed = rng.one_in(2);
            let one_pattern = rng.one_in(2).then(|| random_pattern(&mut rng));
            let count = *rng.pick(&[0, 1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 70, 130]);
            let most_bytes = *rng.pick(&[20, 100, 700, 4000]);
            let inputs: Vec<_> = (0..count)
                .map(|_| {
                    let pattern = one_pattern.unwrap_or_else(|| random_pattern(&mut rng));
                    let key = keys.pick(&mut rng, mixed);
                    let len = rng.below(most_bytes);
                    (key, rng.array::<16>(), pattern, rng.bytes(len))
                })
                .collect();
            let mut outputs: Vec<_> = inputs.iter().map(|input| input.3.clone()).collect();
            let mut jobs: Vec<_> = inputs
                .iter()
                .zip(&mut outputs)
                .map(|((key, iv, pattern, _), data)| Job::new(*key, *iv, *pattern, data))
                .collect();
            lanes::encrypt(&mut jobs);
            let ivs: Vec<_> = jobs.iter().map(|job| job.iv).collect();
            for (number, (key, iv, pattern, data)) in inputs.iter().enumerate() {
                let (expected, next_iv) = serial(*key, *iv, *pattern, data);
                let what = format!("{level}, round {round}, job {number} of {count}, {pattern:?}");
                assert_eq!(outputs[number], expected, "{what}");
                assert_eq!(ivs[number], next_iv, "{what}: next IV");
            }
        }
    }
}

#[test]
fn fifty_thousand_chains() {
    let mut rng = Rng::from_env("fifty_thousand_chains");
    let key = Aes128::new(&rng.array()).unwrap();
    let pattern = Pattern::new(1, 9);
    let mut data: Vec<Vec<u8>> = (0..50_000)
        .map(|number| {
            let len = rng.below(300) + if number % 100 == 0 { 3000 } else { 0 };
            rng.bytes(len)
        })
        .collect();
    let expected: Vec<_> =
        data.iter().map(|data| serial(AnyKey::Small(&key), [4; 16], pattern, data).0).collect();
    let mut jobs: Vec<_> =
        data.iter_mut().map(|data| Job::new(&key, [4; 16], pattern, data)).collect();
    lanes::encrypt(&mut jobs);
    assert!(data == expected);
}

#[test]
fn schedulers_give_the_serial_answer() {
    let mut rng = Rng::from_env("schedulers_give_the_serial_answer");
    for level in forms() {
        let rounds = if level.name() == "portable" { 10 } else { 100 };
        for round in 0..rounds {
            let keys = Keys::new(&mut rng, level);
            let mixed = rng.one_in(2);
            let one_pattern = rng.one_in(2).then(|| random_pattern(&mut rng));
            let order = *rng.pick(&[Order::Submitted, Order::Finished]);
            let count = rng.below(400);
            let mut scheduler = Scheduler::new(order);
            let mut expected = Vec::new();
            let mut done: Vec<Completed<Vec<u8>, usize>> = Vec::new();
            for tag in 0..count {
                let pattern = one_pattern.unwrap_or_else(|| random_pattern(&mut rng));
                let key = keys.pick(&mut rng, mixed);
                let len = rng.below(*rng.clone().pick(&[40, 900, 3000]));
                let (iv, data) = (rng.array(), rng.bytes(len));
                expected.push(serial(key, iv, pattern, &data));
                let job = OwnedJob::new(key, iv, pattern, data, tag);
                done.extend(scheduler.submit(job).unwrap());
                assert!(scheduler.waiting() <= scheduler.capacity());
                if rng.one_in(50) {
                    scheduler.flush().unwrap();
                    assert_eq!(scheduler.waiting(), 0);
                }
                while rng.one_in(2)
                    && let Some(job) = scheduler.completed()
                {
                    done.push(job);
                }
            }
            scheduler.flush().unwrap();
            done.extend(core::iter::from_fn(|| scheduler.completed()));
            assert_eq!(done.len(), count);
            if order == Order::Submitted {
                assert!(done.iter().map(|job| job.tag).eq(0..count), "out of order");
            }
            for job in done {
                let (data, next_iv) = &expected[job.tag];
                let what = format!("{level}, round {round}, {order:?}, job {}", job.tag);
                assert_eq!(&job.data, data, "{what}");
                assert_eq!(&job.next_iv, next_iv, "{what}: next IV");
            }
        }
    }
}

/// Short jobs leave before a long one that was there first.
#[test]
fn short_jobs_overtake() {
    let key = Aes128::new(&[0; 16]).unwrap();
    let mut scheduler = Scheduler::new(Order::Finished);
    let mut left = Vec::new();
    for tag in 0..200 {
        let data = vec![0; if tag == 0 { 1 << 20 } else { 64 }];
        let job = OwnedJob::new(&key, [0; 16], Pattern::ALL, data, tag);
        left.extend(scheduler.submit(job).unwrap().map(|job| job.tag));
    }
    assert!(!left.is_empty() && !left.contains(&0), "the long job left early: {left:?}");
}
