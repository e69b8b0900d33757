//! A measurement: the time of a failed opening beside that of a good one, for single messages and for
//! batches:
//!
//!     cargo run --release -p lanelock --example measure_forgeries
//!
//! A failed opening zeroes its output, which takes as long as the stores, and wipes the tag that would
//! have been right. Good and failed openings take turns; medians of all rounds are shown.
//!
//! At `vaes512` on Zen 5 most are 1.0 to 1.2 times a good one. Above: OCB3 from 256 bytes on (1.2 to 1.3)
//! and AEGIS-128X4 from 4 KiB on (1.25 to 1.35), which open a message in little more time than stores of zeros
//! take; AEGIS messages that end within an update (1.3), for the stack is wiped; batches of short GCM
//! messages that are all forged (1.2).

#![expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "times that are shown")]

use std::{hint::black_box, time::Instant};

use lanelock::{
    AesLevel, Error, InOut,
    aead::{
        Aead, Aegis128L, Aegis128X4, Aes128Ccm, Aes128Gcm, Aes128GcmSiv, Aes128Ocb3,
        batch::{self, Batch, Message},
    },
};

const ROUNDS: usize = 301;

/// Messages of a batch.
const MESSAGES: usize = 128;

fn main() -> Result<(), Error> {
    let level = AesLevel::best()?;
    println!(
        "{level}: ns for a good opening, for a failed one, ratio of the medians (of the minima)"
    );
    println!("\nsingle messages");
    singles("AES-128-GCM", &Aes128Gcm::with_level(&[1; 16], level), 12)?;
    singles("AES-128-GCM-SIV", &Aes128GcmSiv::with_level(&[1; 16], level), 12)?;
    singles("AES-128-CCM", &Aes128Ccm::with_level(&[1; 16], level), 12)?;
    singles("AES-128-OCB3", &Aes128Ocb3::with_level(&[1; 16], level), 12)?;
    singles("AEGIS-128L", &Aegis128L::with_level(&[1; 16], level), 16)?;
    singles("AEGIS-128X4", &Aegis128X4::with_level(&[1; 16], level), 16)?;
    println!("\nbatches of {MESSAGES} messages, of which all are forged");
    batches("AES-128-GCM", &Aes128Gcm::with_level(&[1; 16], level), MESSAGES)?;
    batches("AES-128-GCM-SIV", &Aes128GcmSiv::with_level(&[1; 16], level), MESSAGES)?;
    batches("AES-128-CCM", &Aes128Ccm::with_level(&[1; 16], level), MESSAGES)?;
    batches("AES-128-OCB3", &Aes128Ocb3::with_level(&[1; 16], level), MESSAGES)?;
    println!("\nbatches of {MESSAGES} messages, of which one is forged");
    batches("AES-128-GCM", &Aes128Gcm::with_level(&[1; 16], level), 1)?;
    batches("AES-128-GCM-SIV", &Aes128GcmSiv::with_level(&[1; 16], level), 1)?;
    batches("AES-128-CCM", &Aes128Ccm::with_level(&[1; 16], level), 1)?;
    batches("AES-128-OCB3", &Aes128Ocb3::with_level(&[1; 16], level), 1)
}

fn singles<A: Aead>(name: &str, key: &A, nonce: usize) -> Result<(), Error> {
    let nonce = &[3; 32][..nonce];
    for size in [16, 64, 256, 1500, 4096, 16384] {
        let sealed = key.seal_vec(nonce, b"", &vec![7; size])?;
        let (ciphertext, tag) = sealed.split_at(size);
        let mut forged = tag.to_vec();
        forged[3] ^= 1;
        let mut output = vec![0; size];
        let times = 1 + (32 << 10) / (size + 64);
        let mut open = |tag: &[u8]| -> Result<f64, Error> {
            let start = Instant::now();
            for _ in 0..times {
                let data = InOut::new(ciphertext, &mut output)?;
                let _ = black_box(black_box(key).open_inout(nonce, b"", data, tag));
            }
            Ok(start.elapsed().as_secs_f64() * 1e9 / times as f64)
        };
        compare(&format!("{name} {size} B"), || Ok([open(tag)?, open(&forged)?]))?;
    }
    Ok(())
}

fn batches<A: Batch>(name: &str, key: &A, forgeries: usize) -> Result<(), Error> {
    for size in [16, 64, 256, 1500] {
        let sealed = key.seal_vec(&[3; 12], b"", &vec![7; size])?;
        let (ciphertext, tag) = sealed.split_at(size);
        let open = |forgeries| {
            let mut texts = vec![ciphertext.to_vec(); MESSAGES];
            let mut tags = vec![tag.to_vec(); MESSAGES];
            tags.iter_mut().take(forgeries).for_each(|tag| tag[3] ^= 1);
            let pairs = texts.iter_mut().zip(&mut tags);
            let messages = pairs.map(|(text, tag)| Message::new(key, &[3; 12], b"", text, tag));
            let mut messages: Vec<_> = messages.collect();
            let start = Instant::now();
            let _ = black_box(batch::open(&mut messages));
            start.elapsed().as_secs_f64() * 1e9 / MESSAGES as f64
        };
        compare(&format!("{name} {size} B"), || Ok([open(0), open(forgeries)]))?;
    }
    Ok(())
}

/// Calls `pair`, which times a good opening and a failed one, and shows what came of it.
fn compare(name: &str, mut pair: impl FnMut() -> Result<[f64; 2], Error>) -> Result<(), Error> {
    pair()?;
    let rounds = (0..ROUNDS).map(|_| pair()).collect::<Result<Vec<_>, _>>()?;
    let [good, bad] = [0, 1].map(|which| {
        let mut times: Vec<_> = rounds.iter().map(|round| round[which]).collect();
        times.sort_unstable_by(f64::total_cmp);
        times
    });
    let middle = ROUNDS / 2;
    let (median, least) = (bad[middle] / good[middle], bad[0] / good[0]);
    println!("{name:24} {:9.1} {:9.1}  {median:.2} ({least:.2})", good[middle], bad[middle]);
    Ok(())
}
