//! Lanes: batches of chains against one chain at a time, the scheduler against serial work with jobs, flushes
//! and collections in any order, buffers that panic or change their length, and Common Encryption of a
//! buffer of access units.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use arbitrary::{Result, Unstructured};
use lanelock::{
    Aes128, Aes128Cmac, Aes192, Aes256, Aes256Cmac, AesLevel, Block, Error,
    aead::{
        Aead, Aes128Gcm,
        batch::{Operation, OwnedMessage},
    },
    lanes::{
        self, CmacRef, Crew, Job, KeyRef, MacJob, Order, OwnedJob, OwnedMacJob, Scheduler, Submit,
        fly,
    },
};
use lanelock_cenc::{AccessUnit, Cipher, Scheme, decrypt, encrypt, map::Subsample};

use crate::{
    input::{array, filled, length, level},
    oracle::{self, Runs},
};

/// The target.
pub fn lanes(data: &[u8]) {
    // An input that ends too early is none.
    let _ = run(data);
}

fn run(data: &[u8]) -> Result<()> {
    let u = &mut Unstructured::new(data);
    match u.arbitrary::<u8>()? % 8 {
        0 => batch(u),
        1 => macs(u),
        2 => scheduled(u, Behaviour::Good),
        3 => {
            let behaviour =
                *u.choose(&[Behaviour::Panics, Behaviour::Shrinks, Behaviour::Grows])?;
            scheduled(u, behaviour)
        }
        4 => scheduled_macs(u),
        5 => scheduled_messages(u),
        6 => crew(u),
        _ => units(u),
    }
}

/// The most bytes of all jobs of an input.
const ROOM: usize = 20_000;

/// Keys of several ciphers, each at any level.
struct Keys {
    bytes: [[u8; 32]; 4],
    small: [Aes128; 2],
    middle: Aes192,
    large: Aes256,
}

impl Keys {
    fn new(u: &mut Unstructured<'_>) -> Result<Self> {
        let bytes: [[u8; 32]; 4] = [array(u)?, array(u)?, array(u)?, array(u)?];
        let level = level(u)?;
        let other = if u.arbitrary::<u8>()? % 4 == 0 { self::level(u)? } else { level };
        let small = |at: usize, level| Aes128::with_level(first(&bytes[at]), level);
        Ok(Self {
            small: [small(0, level), small(1, other)],
            middle: Aes192::with_level(first(&bytes[2]), level),
            large: Aes256::with_level(&bytes[3], level),
            bytes,
        })
    }

    fn get(&self, which: usize) -> KeyRef<'_> {
        match which {
            0 | 1 => KeyRef::from(&self.small[which]),
            2 => KeyRef::from(&self.middle),
            _ => KeyRef::from(&self.large),
        }
    }

    fn oracle(&self, which: usize) -> oracle::Aes {
        oracle::Aes::new(&self.bytes[which][..[16, 16, 24, 32][which]])
    }
}

fn first<const N: usize>(key: &[u8; 32]) -> &[u8; N] {
    key.first_chunk().expect("no key is longer")
}

/// A chain, and what it has to become.
#[derive(Clone)]
struct Chain {
    key: usize,
    iv: Block,
    runs: Runs,
    data: Vec<u8>,
}

impl Chain {
    /// Chains that have mostly one key, one pattern and one length, as those of a track have.
    fn many(u: &mut Unstructured<'_>, most: usize) -> Result<Vec<Self>> {
        let usual = (u.int_in_range(0..=3)?, runs(u)?, length(u, 600)?);
        let (mut chains, mut room) = (Vec::new(), ROOM);
        for number in 0..u.int_in_range(0..=most)? {
            let choice: u8 = u.arbitrary()?;
            let (mut key, mut pattern, mut length) = usual;
            if choice & 3 == 3 {
                key = u.int_in_range(0..=3)?;
            }
            if choice & 0x0c == 0x0c {
                pattern = runs(u)?;
            }
            if choice & 0x10 != 0 {
                length = self::length(u, 1500)?;
            }
            room = match room.checked_sub(length) {
                Some(room) => room,
                None => break,
            };
            let iv = [u8::try_from(number % 251).expect("below 251"); 16];
            chains.push(Self { key, iv, runs: pattern, data: filled(u, length)? });
        }
        Ok(chains)
    }

    /// The bytes and the IV behind the chain.
    fn encrypted(&self, keys: &Keys) -> (Vec<u8>, Block) {
        let (mut data, mut iv) = (self.data.clone(), self.iv);
        keys.oracle(self.key).cbc(&mut iv, self.runs, &mut data);
        (data, iv)
    }
}

fn runs(u: &mut Unstructured<'_>) -> Result<Runs> {
    let common = [(1, 9), (0, 0), (5, 5), (1, 1), (2, 8), (10, 0)];
    let (crypt, skip) = match u.arbitrary::<u8>()? {
        odd @ 128.. => (odd & 15, u.int_in_range(0..=15)?),
        usual => common[usize::from(usual) % common.len()],
    };
    Ok(Runs { crypt, skip, truncated: u.arbitrary()? })
}

/// All at once.
fn batch(u: &mut Unstructured<'_>) -> Result<()> {
    let keys = Keys::new(u)?;
    let most = match u.arbitrary::<u8>()? {
        0..=127 => lanes::MOST_LANES,
        other => usize::from(other - 127),
    };
    let mut chains = Chain::many(u, 120)?;
    let expected: Vec<_> = chains.iter().map(|chain| chain.encrypted(&keys)).collect();
    let mut jobs: Vec<_> = chains
        .iter_mut()
        .map(|chain| Job::new(keys.get(chain.key), chain.iv, chain.runs.pattern(), &mut chain.data))
        .collect();
    lanes::encrypt_in_lanes(&mut jobs, most);
    for (number, (job, (data, iv))) in jobs.iter().zip(&expected).enumerate() {
        assert!(*job.data == **data && job.iv == *iv, "job {number} of {}", expected.len());
    }
    Ok(())
}

/// CMAC, all at once.
fn macs(u: &mut Unstructured<'_>) -> Result<()> {
    let keys = MacKeys::new(u)?;
    let messages = MacKeys::messages(u, 120)?;
    let mut jobs: Vec<_> =
        messages.iter().map(|(key, message)| MacJob::new(keys.get(*key), message)).collect();
    lanes::mac(&mut jobs);
    for (number, (job, (key, message))) in jobs.iter().zip(&messages).enumerate() {
        assert_eq!(job.mac, keys.mac(*key, message), "message {number} of {}", messages.len());
    }
    Ok(())
}

/// Keys of CMAC with two ciphers.
struct MacKeys {
    bytes: [[u8; 32]; 3],
    small: [Aes128Cmac; 2],
    large: Aes256Cmac,
}

impl MacKeys {
    fn new(u: &mut Unstructured<'_>) -> Result<Self> {
        let bytes: [[u8; 32]; 3] = [array(u)?, array(u)?, array(u)?];
        let level = level(u)?;
        let small = |at: usize| Aes128Cmac::with_level(first(&bytes[at]), level);
        Ok(Self {
            small: [small(0), small(1)],
            large: Aes256Cmac::with_level(&bytes[2], level),
            bytes,
        })
    }

    fn get(&self, which: usize) -> CmacRef<'_> {
        match which {
            0 | 1 => CmacRef::from(&self.small[which]),
            _ => CmacRef::from(&self.large),
        }
    }

    fn mac(&self, which: usize, message: &[u8]) -> Block {
        oracle::Aes::new(&self.bytes[which][..[16, 16, 32][which]]).cmac(message)
    }

    /// Messages, each with the number of its key.
    fn messages(u: &mut Unstructured<'_>, most: usize) -> Result<Vec<(usize, Vec<u8>)>> {
        let (mut messages, mut room) = (Vec::new(), ROOM);
        for _ in 0..u.int_in_range(0..=most)? {
            let length = length(u, 700)?;
            room = match room.checked_sub(length) {
                Some(room) => room,
                None => break,
            };
            let key = u.int_in_range::<u8>(0..=5)?.saturating_sub(3);
            messages.push((key.into(), filled(u, length)?));
        }
        Ok(messages)
    }
}

/// What a buffer of the caller's own type does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Behaviour {
    Good,
    Panics,
    Shrinks,
    Grows,
}

/// A buffer that may do something else than give its bytes, from its `turn`th call on.
struct Buffer {
    data: Vec<u8>,
    behaviour: Behaviour,
    turn: usize,
    calls: usize,
    /// The bytes that were given away, of each call.
    given: Vec<usize>,
}

/// What a buffer throws. No panic handler hears of it: that of a fuzzer would end the process.
struct Thrown;

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        self.calls += 1;
        let odd = self.calls >= self.turn;
        let length = match self.behaviour {
            Behaviour::Panics if odd => resume_unwind(Box::new(Thrown)),
            Behaviour::Shrinks if odd => self.data.len() / 2,
            Behaviour::Grows if !odd => self.data.len() / 2,
            _ => self.data.len(),
        };
        self.given.push(length);
        &mut self.data[..length]
    }
}

/// What was asked of a scheduler.
enum Step {
    Submit,
    Collect,
    Flush,
}

fn step(u: &mut Unstructured<'_>) -> Step {
    match u.arbitrary::<u8>().unwrap_or_default() % 32 {
        // An input that has ended gives zeros: it submits what is left.
        0..=24 => Step::Submit,
        25..=30 => Step::Collect,
        _ => Step::Flush,
    }
}

/// A scheduler, and what is known of it from outside. Jobs are numbered as they are submitted.
struct Account<J: Submit> {
    scheduler: Scheduler<J>,
    order: Order,
    submitted: usize,
    returned: Vec<bool>,
    /// Once it has failed.
    poisoned: bool,
}

impl<J: Submit> Account<J> {
    fn new(u: &mut Unstructured<'_>) -> Result<Self> {
        let order = *u.choose(&[Order::Submitted, Order::Finished])?;
        let scheduler = Scheduler::new(order);
        Ok(Self { scheduler, order, submitted: 0, returned: Vec::new(), poisoned: false })
    }

    /// Submits all jobs with collections and flushes in between, then flushes. Every job that comes back goes
    /// to `done`, which gives its number.
    fn work(
        &mut self,
        u: &mut Unstructured<'_>,
        jobs: impl IntoIterator<Item = J>,
        mut done: impl FnMut(J::Completed) -> usize,
    ) {
        let mut jobs = jobs.into_iter();
        loop {
            match step(u) {
                Step::Submit => {
                    let Some(job) = jobs.next() else { break };
                    self.returned.push(false);
                    self.submitted += 1;
                    let result = self.call(|scheduler| scheduler.submit(job));
                    self.take(result.flatten(), &mut done);
                }
                Step::Collect => {
                    let job = self.scheduler.completed();
                    self.take(job, &mut done);
                }
                Step::Flush => {
                    self.call(Scheduler::flush);
                }
            }
            let left = self.returned.iter().filter(|returned| !**returned).count();
            assert!(self.scheduler.waiting() <= left.min(self.scheduler.capacity()));
        }
        self.call(Scheduler::flush);
        while let Some(job) = self.scheduler.completed() {
            self.take(Some(job), &mut done);
        }
        if !self.poisoned {
            assert!(self.returned.iter().all(|returned| *returned), "a job was lost");
            assert_eq!(self.scheduler.waiting(), 0);
        }
    }

    /// Calls the scheduler. Once it has failed, it fails.
    fn call<T>(
        &mut self,
        call: impl FnOnce(&mut Scheduler<J>) -> std::result::Result<T, Error>,
    ) -> Option<T> {
        let result = catch_unwind(AssertUnwindSafe(|| call(&mut self.scheduler)));
        match result {
            Ok(Ok(value)) => {
                assert!(!self.poisoned, "it works again");
                Some(value)
            }
            Ok(Err(error)) => {
                assert_eq!(error, Error::Poisoned);
                self.poisoned = true;
                None
            }
            Err(thrown) => {
                // Anything else is a panic of the scheduler itself.
                if thrown.is::<Thrown>() {
                    assert!(!self.poisoned, "a buffer was asked again");
                    self.poisoned = true;
                    return None;
                }
                resume_unwind(thrown)
            }
        }
    }

    fn take(&mut self, job: Option<J::Completed>, done: &mut impl FnMut(J::Completed) -> usize) {
        let Some(job) = job else { return };
        let number = done(job);
        if self.order == Order::Submitted {
            let first = self.returned.iter().position(|returned| !returned);
            assert_eq!(Some(number), first, "out of order");
        }
        assert!(!self.returned[number], "job {number} came back twice");
        self.returned[number] = true;
    }
}

/// CBC and CBCS by the scheduler. A buffer in ten behaves as `behaviour` says.
fn scheduled(u: &mut Unstructured<'_>, behaviour: Behaviour) -> Result<()> {
    let keys = Keys::new(u)?;
    let chains = Chain::many(u, 200)?;
    let odd = Cell::new(false);
    let mut jobs = Vec::new();
    for (number, chain) in chains.iter().enumerate() {
        let turn: u8 = if behaviour == Behaviour::Good { 0 } else { u.arbitrary()? };
        let behaviour = if turn % 10 == 1 { behaviour } else { Behaviour::Good };
        odd.set(odd.get() || behaviour != Behaviour::Good);
        let turn = usize::from(turn / 10) % 6 + 1;
        let data =
            Buffer { data: chain.data.clone(), behaviour, turn, calls: 0, given: Vec::new() };
        let (key, pattern) = (keys.get(chain.key), chain.runs.pattern());
        jobs.push(OwnedJob::new(key, chain.iv, pattern, data, number));
    }
    let mut account = Account::new(u)?;
    account.work(u, jobs, |job| {
        let chain = &chains[job.tag];
        // Of whatever length it was when it was first asked for: all of that is done.
        let length = job.data.given.first().copied().unwrap_or(chain.data.len());
        assert!(job.data.given.iter().all(|given| *given == length), "two lengths, and it is done");
        let short = Chain { data: chain.data[..length].to_vec(), ..chain.clone() };
        let (mut expected, iv) = short.encrypted(&keys);
        expected.extend(&chain.data[length..]);
        assert!(job.data.data == expected, "job {} of {}", job.tag, chains.len());
        assert_eq!(job.next_iv, iv, "job {}", job.tag);
        job.tag
    });
    assert!(odd.get() || !account.poisoned, "no buffer gave a reason");
    Ok(())
}

/// CMAC by the scheduler.
fn scheduled_macs(u: &mut Unstructured<'_>) -> Result<()> {
    let keys = MacKeys::new(u)?;
    let messages = MacKeys::messages(u, 200)?;
    let jobs = messages.iter().enumerate();
    let jobs = jobs.map(|(at, (key, message))| OwnedMacJob::new(keys.get(*key), &message[..], at));
    let mut account = Account::new(u)?;
    account.work(u, jobs, |job| {
        let (key, message) = &messages[job.tag];
        assert_eq!(job.mac, keys.mac(*key, message), "message {}", job.tag);
        job.tag
    });
    assert!(!account.poisoned);
    Ok(())
}

/// Messages of GCM by the scheduler: sealed, opened, forged, and too short for a tag.
fn scheduled_messages(u: &mut Unstructured<'_>) -> Result<()> {
    let (bytes, level): ([u8; 16], _) = (array(u)?, level(u)?);
    let portable = "portable".parse::<AesLevel>().expect("every processor has it");
    let [key, reference] = [level, portable].map(|level| Aes128Gcm::with_level(&bytes, level));
    let (mut messages, mut room) = (Vec::new(), ROOM);
    for number in 0..u.int_in_range(0..=150_u32)? {
        let (choice, length): (u8, _) = (u.arbitrary()?, length(u, 300)?);
        room = match room.checked_sub(length) {
            Some(room) => room,
            None => break,
        };
        let mut nonce = [0; 12];
        nonce[..4].copy_from_slice(&number.to_le_bytes());
        let text = filled(u, length)?;
        let sealed = reference.seal_vec(&nonce, b"aad", &text).expect("a good nonce");
        let mut opened = [&text[..], &sealed[length..]].concat();
        messages.push(match choice % 8 {
            0..=3 => (Operation::Seal, nonce, [&text[..], &[0; 16]].concat(), sealed, Ok(())),
            4 | 5 => (Operation::Open, nonce, sealed, opened, Ok(())),
            6 => {
                let (mut forged, at) = (sealed, usize::from(choice / 8) % (length + 16));
                forged[at] ^= 1;
                opened[..length].fill(0);
                opened[length..].copy_from_slice(&forged[length..]);
                (Operation::Open, nonce, forged, opened, Err(Error::Authentication))
            }
            _ => {
                let short = text[..length.min(15)].to_vec();
                (Operation::Open, nonce, short.clone(), short, Err(Error::TagLength))
            }
        });
    }
    let jobs = messages.iter().enumerate().map(|(at, (operation, nonce, data, ..))| {
        OwnedMessage::new(&key, *operation, *nonce, *b"aad", data.clone(), at)
    });
    let mut account = Account::new(u)?;
    account.work(u, jobs, |job| {
        let (operation, _, _, data, result) = &messages[job.tag];
        assert_eq!((&job.data, &job.result), (data, result), "message {}: {operation:?}", job.tag);
        job.tag
    });
    assert!(!account.poisoned);
    Ok(())
}

/// Chains of steps alone, for what seats them: each takes its steps in one lane, and lands where it came from.
struct Steps {
    lanes: usize,
    fewer: usize,
    sits: Vec<Option<(usize, usize)>>,
    landed: Vec<Option<usize>>,
}

impl Crew for Steps {
    /// Its number, and its steps.
    type Chain = (usize, usize);

    fn lanes(&self) -> usize {
        self.lanes
    }

    fn seat(&mut self, lane: usize, chain: Self::Chain) {
        assert!(self.sits[lane].replace(chain).is_none(), "two chains in lane {lane}");
    }

    fn left(&self, lane: usize) -> usize {
        self.sits[lane].expect("somebody sits there").1
    }

    fn lanes_to_advance(&self, active: usize) -> usize {
        active.saturating_sub(self.fewer).max(1)
    }

    fn advance(&mut self, used: usize, steps: usize) {
        assert!(steps > 0);
        for chain in &mut self.sits[..used] {
            let (_, left) = chain.as_mut().expect("somebody sits there");
            *left = left.checked_sub(steps).expect("no more than it has left");
        }
    }

    fn land(&mut self, lane: usize) {
        let (number, left) = self.sits[lane].take().expect("somebody sits there");
        assert!(self.landed[number].replace(left).is_none(), "chain {number} lands twice");
    }

    fn move_lane(&mut self, from: usize, to: usize) {
        let chain = self.sits[from].take();
        assert!(chain.is_some() && self.sits[to].is_none(), "from {from} to {to}");
        self.sits[to] = chain;
    }
}

fn crew(u: &mut Unstructured<'_>) -> Result<()> {
    let (lanes, fewer) = (u.int_in_range(1..=40)?, u.int_in_range(0..=3)?);
    let (most, stop_early) = (u.int_in_range(0..=50)?, u.arbitrary()?);
    let count = u.int_in_range(0..=200)?;
    let mut steps = Vec::new();
    for _ in 0..count {
        steps.push(usize::from(u.arbitrary::<u8>()?) % 50);
    }
    let mut crew = Steps { lanes, fewer, sits: vec![None; lanes], landed: vec![None; count] };
    let mut chains = steps.iter().copied().enumerate();
    fly(&mut crew, &mut chains, most, if stop_early { usize::MAX } else { 1 });
    let begun = count - chains.len();
    let landed = crew.landed[..begun].iter().map(|left| left.expect("what has begun has landed"));
    let unfinished = landed.zip(&steps).filter(|(left, all)| {
        assert!(left <= all);
        *left > 0
    });
    let unfinished = unfinished.count();
    let full = most.clamp(1, lanes);
    if stop_early {
        // It ends when a lane has no successor: then all have begun, and fewer than there are lanes are left.
        assert!(begun == count && unfinished < full, "{begun} of {count}, {unfinished} left");
    } else {
        assert!(begun == count && unfinished == 0, "{begun} of {count}, {unfinished} left");
    }
    assert!(crew.sits.iter().all(Option::is_none), "somebody was left behind");
    Ok(())
}

/// Access units of all schemes in one buffer, against one unit at a time by the oracle.
fn units(u: &mut Unstructured<'_>) -> Result<()> {
    let level = level(u)?;
    let (mut ciphers, mut known) = (Vec::new(), Vec::new());
    for _ in 0..u.int_in_range(1..=3)? {
        let (key, scheme, runs): ([u8; 16], _, _) = (array(u)?, *u.choose(&Scheme::ALL)?, runs(u)?);
        let cipher = Cipher::new(scheme, Aes128::with_level(&key, level));
        let cipher = cipher.with_pattern(runs.crypt, runs.skip);
        ciphers.push(if runs.truncated { cipher.encrypt_truncated_runs() } else { cipher });
        let runs = if scheme.has_pattern() { runs } else { Runs::ALL };
        known.push((scheme, runs, oracle::Aes::new(&key)));
    }
    let (mut units, mut subsamples, mut at) = (Vec::new(), Vec::new(), 0);
    let mut good = true;
    for _ in 0..u.int_in_range(0..=80)? {
        let choice: u8 = u.arbitrary()?;
        let first = subsamples.len();
        let mut length = length(u, 900)?;
        if choice & 3 != 0 {
            length = 0;
            for _ in 0..choice & 3 {
                let (clear, protected) = (u.int_in_range(0..=40_u16)?, self::length(u, 500)?);
                let protected = u32::try_from(protected).expect("at most 500");
                subsamples.push(Subsample { clear, protected });
                length += usize::from(clear) + protected as usize;
            }
        }
        // Sometimes a unit that its subsamples do not fit, or that begins within another.
        if choice >= 0xfe {
            length += 1;
            good &= first == subsamples.len();
        }
        let start = match choice {
            0xfd if at > 0
                && length > 0
                && units.iter().any(|unit: &AccessUnit| !unit.range.is_empty()) =>
            {
                good = false;
                at - 1
            }
            _ => at + usize::from(choice >> 2) % 4,
        };
        at = start + length;
        let cipher = u.choose_index(ciphers.len())?;
        // `cbc1` has whole blocks in every subsample.
        let partial =
            subsamples[first..].iter().any(|s: &Subsample| !s.protected.is_multiple_of(16));
        good &= ciphers[cipher].scheme() != Scheme::Cbc1 || !partial;
        let (range, subsamples) = (start..at, first..subsamples.len());
        units.push(AccessUnit { range, subsamples, iv: array(u)?, cipher });
        if at > ROOM {
            break;
        }
    }
    let clear = filled(u, units.iter().map(|unit| unit.range.end).max().unwrap_or_default())?;
    let mut buffer = clear.clone();
    let result = encrypt(&mut buffer, &units, &subsamples, &ciphers);
    if result.is_err() {
        assert!(!good && buffer == clear, "{result:?}");
        return Ok(());
    }
    if !good {
        return Ok(()); // two units may only touch where one of them is empty
    }
    let mut expected = clear.clone();
    for unit in &units {
        let whole = [Subsample { clear: 0, protected: u32::MAX }];
        let list = match &subsamples[unit.subsamples.clone()] {
            [] => &whole[..],
            list => list,
        };
        let (scheme, runs, key) = &known[unit.cipher];
        let mut data = &mut expected[unit.range.clone()];
        let (mut iv, mut stream) = (unit.iv, 0);
        for subsample in list {
            let rest = data.split_at_mut(usize::from(subsample.clear)).1;
            let length = rest.len().min(subsample.protected as usize);
            let (range, rest) = rest.split_at_mut(length);
            data = rest;
            let bits = lanelock::CounterBits::Bits64;
            match scheme {
                Scheme::Cenc => key.ctr(bits, unit.iv, stream, range),
                Scheme::Cens => {
                    let counter = oracle::add(bits, unit.iv, stream / 16);
                    key.ctr_runs(bits, counter, *runs, range);
                }
                Scheme::Cbc1 => key.cbc(&mut iv, *runs, range),
                Scheme::Cbcs => key.cbc(&mut unit.iv.clone(), *runs, range),
            }
            stream += match scheme {
                Scheme::Cens => 16 * runs.selected(length / 16).len() as u128,
                _ => length as u128,
            };
        }
    }
    assert!(buffer == expected, "{level}: {} units", units.len());
    decrypt(&mut buffer, &units, &subsamples, &ciphers).expect("what was encrypted");
    assert!(buffer == clear, "{level}: {} units decrypted", units.len());
    Ok(())
}
