//! One message with AES-256-GCM, in place, with the tag apart:
//!
//!     cargo run -p lanelock --example gcm
#![expect(clippy::print_stdout, reason = "an example")]

use lanelock::{
    Error, KeyUsage,
    aead::{Aead, Aes256Gcm},
};

fn main() -> Result<(), Error> {
    // The key counts its messages: with random nonces it must stop after 2^32.
    let key = Aes256Gcm::new(&[7; 32])?.with_usage(KeyUsage::random_nonces());

    let nonce = [1; 12]; // of a random generator or a counter; never twice for one key
    let header = b"to: Bob"; // authenticated, not encrypted
    let mut text = *b"attack at dawn";
    let mut tag = [0; 16];

    key.seal(&nonce, header, &mut text, &mut tag)?;
    println!("ciphertext {text:02x?}\ntag        {tag:02x?}");

    key.open(&nonce, header, &mut text, &tag)?;
    println!("{}", String::from_utf8_lossy(&text));

    // What somebody has changed does not open, and leaves zeros.
    key.seal(&[2; 12], header, &mut text, &mut tag)?;
    text[0] ^= 1;
    assert_eq!(key.open(&[2; 12], header, &mut text, &tag), Err(Error::Authentication));
    assert_eq!(text, [0; 14]);
    Ok(())
}
