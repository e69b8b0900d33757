//! libaegis, by its author's crate `aegis`, which compiles the C code (with clang where that is
//! installed, as recommended).

use aegis::{
    aegis128l::Aegis128L, aegis128x2::Aegis128X2, aegis128x4::Aegis128X4, aegis256::Aegis256,
    aegis256x2::Aegis256X2, aegis256x4::Aegis256X4,
};
use lanelock_lab_common::{Data, Library, Prepared, Row, call, serve, version_of};

struct Aegis;

impl Library for Aegis {
    fn version(&self) -> String {
        format!("libaegis (aegis {})", version_of("aegis"))
    }

    fn prepare(&self, row: &Row, _: &Data) -> Prepared {
        macro_rules! prepared {
            ($type:ident) => {
                match &row.operation[..] {
                    "seal" => call(|data| {
                        for i in 0..data.output.len() {
                            let (key, nonce) = arguments(data, i);
                            let cipher = $type::<16>::new(key, nonce);
                            data.tags[i] = cipher.encrypt_in_place(&mut data.output[i], &[]);
                        }
                    }),
                    // In place only, so that a copy has to be made for each call.
                    "open" => call(|data| {
                        for i in 0..data.output.len() {
                            data.output[i].copy_from_slice(&data.input[i]);
                            let (key, nonce) = arguments(data, i);
                            let cipher = $type::<16>::new(key, nonce);
                            let tag = data.tags[i];
                            cipher
                                .decrypt_in_place(&mut data.output[i], &tag, &[])
                                .expect("a good tag");
                        }
                    }),
                    _ => None,
                }
            };
        }
        match row.kind() {
            ("aegis-128l", _, 128) => prepared!(Aegis128L),
            ("aegis-128x2", _, 128) => prepared!(Aegis128X2),
            ("aegis-128x4", _, 128) => prepared!(Aegis128X4),
            ("aegis-256", _, 256) => prepared!(Aegis256),
            ("aegis-256x2", _, 256) => prepared!(Aegis256X2),
            ("aegis-256x4", _, 256) => prepared!(Aegis256X4),
            _ => None,
        }
    }
}

/// Key and nonce of message `i`, which have the same length.
fn arguments<const N: usize>(data: &Data, i: usize) -> (&[u8; N], &[u8; N]) {
    (data.key(i).first_chunk().expect("a key"), data.nonces[i].first_chunk().expect("a nonce"))
}

fn main() {
    serve(&Aegis);
}
