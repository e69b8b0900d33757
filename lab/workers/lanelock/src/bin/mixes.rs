//! Is a batch ever slower than its messages one by one? Random batches of the AEADs on AES, sealed, each measured both
//! ways in turns; and GCM one by one beside itself, which is what the measure itself is off by.
//!
//!     cargo run --release -p lanelock-lab-lanelock --bin mixes -- [MIXES [SEED [PROCESSOR]]]
//!
//! Run in `lab`. Prints quantiles of batch / one by one at every level, and the five worst mixes (with `ALL` in the
//! environment, all above 1.05).

use lanelock::{
    AesLevel,
    aead::{
        Aes128Ccm, Aes128Gcm, Aes128GcmSiv, Aes256Ocb3,
        batch::{self, Batch, Message},
    },
};
use lanelock_lab_common::{clock, worker::pin};

/// So many messages have lengths of their own before those of the first call come again: more than a processor can
/// learn.
const FRESH: usize = 4096;
/// Turns of both ways; the median of their ratios counts.
const TURNS: usize = 31;
/// Windows in a turn.
const WINDOWS: usize = 15;
/// The longest text in bytes.
const LONGEST: usize = 4096;

/// splitmix64
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap_or(0)
    }
}

/// The bytes of text of each message of each call, those of AAD, and whether each message has a key of its own.
struct Mix {
    name: String,
    count: usize,
    texts: Vec<u16>,
    aad: usize,
    key_each: bool,
}

impl Mix {
    fn new(random: &mut Random) -> Self {
        let count = [2, 3, 5, 8, 16, 17, 33, 64, 100, 130][random.below(10)];
        let most = [16, 64, 256, 1500, LONGEST][random.below(5)];
        let (kinds, aad) = (random.below(4), [0, 13, 16, 40][random.below(4)]);
        let key_each = random.below(2) == 0;
        let few: Vec<usize> = (0..3).map(|_| 1 + random.below(most)).collect();
        let mut length = || match kinds {
            0 => few[0],
            1 => few[random.below(3)],
            // Most are short.
            2 => 1 + random.below(most) * random.below(most) / most,
            _ => 1 + random.below(most),
        };
        let bytes = |length| u16::try_from(length).expect("at most LONGEST");
        let texts = (0..FRESH.next_multiple_of(count)).map(|_| bytes(length())).collect();
        let of = ["equal", "three lengths", "short", "any"][kinds];
        let keys = if key_each { ", a key each" } else { "" };
        let name = format!("{count} messages, {of} up to {most} B, AAD {aad} B{keys}");
        Self { name, count, texts, aad, key_each }
    }

    /// Batch / one by one; with `itself` one by one / one by one.
    fn ratio<A: Batch>(&self, itself: bool, make: impl Fn(u8) -> A) -> f64 {
        let count = self.count;
        let keys: Vec<A> = (0..if self.key_each { count } else { 1 })
            .map(|i| make(u8::try_from(i).unwrap_or(255)))
            .collect();
        let mut texts = vec![vec![7_u8; LONGEST + 1]; count];
        let mut tags = vec![[0; 16]; count];
        let aad = &[5; 40][..self.aad];
        let mut calls = self.texts.chunks_exact(count).cycle();
        let mut ratios = Vec::new();
        for _ in 0..TURNS {
            let [batch, alone] = [!itself, false].map(|together| {
                clock::cycles(WINDOWS, || {
                    let lengths = calls.next().unwrap_or_default();
                    let parts = texts.iter_mut().zip(&mut tags).zip(lengths);
                    let mut messages: Vec<_> = parts
                        .zip(keys.iter().cycle())
                        .map(|(((text, tag), length), key)| {
                            Message::new(key, &[9; 12], aad, &mut text[..usize::from(*length)], tag)
                        })
                        .collect();
                    if together {
                        batch::seal(&mut messages).expect("lengths that fit");
                    } else {
                        for Message { key, nonce, aad, data, tag, .. } in &mut messages {
                            key.seal(nonce, aad, data, tag).expect("lengths that fit");
                        }
                    }
                })
                .median
            });
            ratios.push(batch / alone);
        }
        ratios.sort_by(f64::total_cmp);
        ratios[TURNS / 2]
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let mut number = |otherwise| arguments.next().map_or(otherwise, |n| n.expect("a number"));
    let (count, seed, processor) = (number(200), number(1), number(1));
    pin(processor);
    let mut random = Random(seed as u64);
    let mixes: Vec<Mix> = (0..count).map(|_| Mix::new(&mut random)).collect();
    println!("{:10} {:8} {:>6} {:>6} {:>6} {:>6}", "AEAD", "level", "p50", "p90", "p99", "max");
    for level in AesLevel::available().into_iter().filter(|level| level.name() != "portable") {
        let report = |name: &str, ratio: &dyn Fn(&Mix) -> f64| {
            let mut ratios: Vec<_> = mixes.iter().map(|mix| (ratio(mix), mix)).collect();
            ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
            let quantile = |percent: usize| ratios[(count * percent / 100).min(count - 1)].0;
            let quantiles = [50, 90, 99, 100].map(|percent| format!("{:6.2}", quantile(percent)));
            println!("{name:10} {:8} {}", level.name(), quantiles.join(" "));
            for (ratio, mix) in ratios
                .iter()
                .rev()
                .take_while(|(ratio, _)| *ratio > 1.05)
                .take(if std::env::var_os("ALL").is_some() { 1000 } else { 5 })
            {
                println!("    {ratio:.2}  {}", mix.name);
            }
        };
        report("GCM, alone", &|mix| mix.ratio(true, |i| Aes128Gcm::with_level(&[i; 16], level)));
        report("GCM", &|mix| mix.ratio(false, |i| Aes128Gcm::with_level(&[i; 16], level)));
        report("GCM-SIV", &|mix| mix.ratio(false, |i| Aes128GcmSiv::with_level(&[i; 16], level)));
        report("CCM", &|mix| mix.ratio(false, |i| Aes128Ccm::with_level(&[i; 16], level)));
        report("OCB3", &|mix| mix.ratio(false, |i| Aes256Ocb3::with_level(&[i; 32], level)));
    }
}
