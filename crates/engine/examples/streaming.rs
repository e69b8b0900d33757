//! A message in pieces, which need not be in memory at once to be sealed; and a key stream that goes to
//! any place of a file:
//!
//!     cargo run -p lanelock --example streaming
#![expect(clippy::print_stdout, reason = "an example")]

use lanelock::{Aes128, CounterBits, CtrStream, Error, aead::Aes128Gcm};

fn main() -> Result<(), Error> {
    sealed()?;
    key_stream()
}

/// GCM: AAD first, then the text, then the tag.
fn sealed() -> Result<(), Error> {
    let key = Aes128Gcm::new(&[7; 16])?;
    let mut file = vec![42; 100_000];
    let mut tag = [0; 16];

    let mut sealer = key.sealer(&[1; 12])?;
    sealer.aad(b"file.txt")?;
    for piece in file.chunks_mut(4096) {
        sealer.update(piece)?; // in place; then it could be sent
    }
    sealer.finish(&mut tag)?;

    // Plaintext is handed out when the tag has been checked, and not before: so it takes memory.
    let mut opener = key.opener(&[1; 12])?;
    opener.aad(b"file.txt")?;
    for piece in file.chunks(1000) {
        opener.update(piece)?;
    }
    let text = opener.finish(&tag)?;
    println!("GCM: {} bytes opened, right: {}", text.len(), text.iter().all(|&byte| byte == 42));
    Ok(())
}

/// CTR: it hides the text, and does not detect changes.
fn key_stream() -> Result<(), Error> {
    let key = Aes128::new(&[7; 16])?;
    let mut file = vec![42; 100_000];
    let mut stream = CtrStream::new(&key, CounterBits::Bits64, [1; 16]);
    for piece in file.chunks_mut(1000) {
        stream.apply(piece)?;
    }
    // Ten bytes from the middle.
    stream.seek(50_000)?;
    let middle = &mut file[50_000..50_010];
    stream.apply(middle)?;
    println!("CTR: bytes 50000 to 50009 are {middle:?}");
    Ok(())
}
