//! Encrypts and decrypts a file in memory:
//!
//!     cargo run -p lanelock-packager --example memory [FILE]
#![expect(clippy::print_stdout, reason = "an example")]

use std::{env, error::Error, fs};

use lanelock_packager::{
    DecryptOptions, EncryptOptions, Key, KeyMap, Quiet, Scheme, decrypt, encrypt, inspect,
    io::{MemorySink, MemorySource},
};

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../media/demo.mp4");

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).unwrap_or_else(|| DEMO.into());
    let clear = fs::read(&path)?;

    // One key for all tracks; a program would not have it in its source.
    let key: Key = "00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0".parse()?;
    let mut keys = KeyMap::new();
    keys.insert("all".parse()?, key.clone())?;

    // The sink is shared: one of them is written, the other gives the bytes when they are complete.
    let sink = MemorySink::new();
    let source = MemorySource::new(path, clear.clone());
    let options = EncryptOptions::new(Scheme::Cbcs, keys);
    let summary = encrypt(&source, Box::new(sink.clone()), &options, &Quiet)?;
    let encrypted = sink.into_bytes().ok_or("not complete")?;
    println!("{} access units, {} bytes", summary.access_units, encrypted.len());

    let source = MemorySource::new("encrypted", encrypted);
    for track in inspect(&source)?.tracks {
        let scheme = track.protection.map(|protection| protection.scheme);
        println!("track {}: {}, {scheme:?}", track.id, track.codec);
    }

    let sink = MemorySink::new();
    decrypt(&source, Box::new(sink.clone()), &DecryptOptions::new(vec![key]), &Quiet)?;
    println!("the same bytes again: {}", sink.into_bytes() == Some(clear));
    Ok(())
}
