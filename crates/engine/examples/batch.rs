//! Many at once: short AEAD messages whose blocks share vectors, and chains of CBCS in lanes:
//!
//!     cargo run -p lanelock --example batch
#![expect(clippy::print_stdout, reason = "an example")]

use lanelock::{
    Aes128, Error, Pattern,
    aead::{
        Aes128Gcm,
        batch::{self, Message},
    },
    lanes::{self, Job},
};

fn main() -> Result<(), Error> {
    messages()?;
    chains()
}

/// A thousand packets of 64 bytes, each with a nonce and a tag of its own.
fn messages() -> Result<(), Error> {
    let key = Aes128Gcm::new(&[7; 16])?;
    let mut packets = vec![[0_u8; 64]; 1000];
    let mut tags = vec![[0_u8; 16]; 1000];
    let nonces: Vec<[u8; 12]> = (0..1000_u128).map(nonce).collect();

    let buffers = packets.iter_mut().zip(&mut tags);
    let mut messages: Vec<_> = buffers
        .zip(&nonces)
        .map(|((packet, tag), nonce)| Message::new(&key, nonce, b"", packet, tag))
        .collect();
    batch::seal(&mut messages)?;

    // The other side. One packet was changed on its way: only that one fails.
    messages[500].data[0] ^= 1;
    let result = batch::open(&mut messages);
    let failed = messages.iter().filter(|message| message.result.is_err()).count();
    println!("{} messages, {failed} failed: {result:?}", messages.len());
    Ok(())
}

/// Fifty buffers of different lengths under CBCS 1:9.
fn chains() -> Result<(), Error> {
    let key = Aes128::new(&[7; 16])?;
    let pattern = Pattern::new(1, 9);
    let mut buffers: Vec<Vec<u8>> = (1..=50).map(|number| vec![0; number * 100]).collect();

    let mut jobs: Vec<_> =
        buffers.iter_mut().map(|buffer| Job::new(&key, [9; 16], pattern, buffer)).collect();
    lanes::encrypt(&mut jobs);

    // Decryption is parallel within one buffer: it needs no lanes.
    for buffer in &mut buffers {
        key.cbcs_decrypt(&mut [9; 16], pattern, buffer);
    }
    let good = buffers.iter().flatten().all(|&byte| byte == 0);
    println!("{} chains at {}, decrypted: {good}", buffers.len(), key.level());
    Ok(())
}

/// A counter is a nonce that never comes twice.
fn nonce(number: u128) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce.copy_from_slice(&number.to_be_bytes()[4..]);
    nonce
}
