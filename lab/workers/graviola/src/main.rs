//! graviola: GCM with keys of 128 and 256 bits, and public keys.

mod pubkey;

use graviola::aead::AesGcm;
use lanelock_lab_common::{Data, Library, Prepared, Row, call, serve, version_of};

struct Graviola;

impl Library for Graviola {
    fn version(&self) -> String {
        format!("graviola {}", version_of("graviola"))
    }

    fn prepare(&self, row: &Row, data: &Data) -> Prepared {
        if !matches!(row.kind(), ("gcm" | "gmac", _, 128 | 256)) {
            return pubkey::prepare(row, data);
        }
        let keys: Vec<_> = data.keys.iter().map(|key| AesGcm::new(key)).collect();
        match &row.operation[..] {
            "seal" => call(move |data| {
                for i in 0..data.output.len() {
                    let key = &keys[data.key_index(i)];
                    key.encrypt(
                        nonce(&data.nonces[i]),
                        &[],
                        &mut data.output[i],
                        &mut data.tags[i],
                    );
                }
            }),
            "mac" => call(move |data| {
                for i in 0..data.input.len() {
                    let key = &keys[data.key_index(i)];
                    key.encrypt(nonce(&data.nonces[i]), &data.input[i], &mut [], &mut data.tags[i]);
                }
            }),
            // In place only, so that a copy has to be made for each call.
            "open" => call(move |data| {
                for i in 0..data.output.len() {
                    let key = &keys[data.key_index(i)];
                    let buffer = &mut data.output[i];
                    buffer.copy_from_slice(&data.input[i]);
                    key.decrypt(nonce(&data.nonces[i]), &[], buffer, &data.tags[i])
                        .expect("a good tag");
                }
            }),
            _ => None,
        }
    }
}

fn nonce(bytes: &[u8; 32]) -> &[u8; 12] {
    bytes.first_chunk().expect("32 bytes")
}

fn main() {
    serve(&Graviola);
}
