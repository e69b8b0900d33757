//! How each algorithm is called, as a program would: buffers and keys are there, nonces are made anew.
//!
//! Sealing works in place; opening goes from one buffer to another, since opening in place would leave
//! nothing to open for the next call.

use std::hint::black_box;

use lanelock::{
    Aes128, Aes192, Aes256, AesLevel, CounterBits, Pattern,
    aead::{
        Aead, Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, Aes128Gcm,
        Aes128GcmSiv, Aes128Ocb3, Aes192Gcm, Aes192Ocb3, Aes256Gcm, Aes256GcmSiv, Aes256Ocb3,
    },
    hash::{
        Ghash, Polyval,
        crc::{Crc32, Crc32c, Crc64Nvme, Crc64Xz},
    },
    lanes::{self, Job, KeyRef},
};

use super::{Keys, Runner, Workload};

/// Why a call that was set up here cannot fail.
const FITS: &str = "nonce, tag and message have the length that the algorithm wants";

/// The bytes of key number `i`.
fn key<const N: usize>(i: usize) -> [u8; N] {
    let mut key = *b"0123456789abcdef0123456789abcdef";
    key[0] = i.to_le_bytes()[0];
    *key.first_chunk().expect("a key has at most 32 bytes")
}

/// `$body` with the type that goes with the workload's key size.
macro_rules! by_key {
    ($workload:expr, $type:ident = $of128:ty, $of192:ty, $of256:ty => $body:expr) => {
        match $workload.key_bits {
            128 => {
                type $type = $of128;
                $body
            }
            192 => {
                type $type = $of192;
                $body
            }
            _ => {
                type $type = $of256;
                $body
            }
        }
    };
}

/// Sealing or opening with `cipher`.
fn aead(workload: &Workload, nonce: usize, cipher: impl Aead + 'static) -> Runner {
    let nonce = vec![0x24; nonce];
    let mut data = vec![0x5a; workload.size];
    let mut tag = vec![0; cipher.tag_length()];
    if workload.operation == "seal" {
        return Runner::new(move || {
            cipher.seal(black_box(&nonce), &[], &mut data, &mut tag).expect(FITS);
        });
    }
    let sealed = cipher.seal_vec(&nonce, &[], &data).expect(FITS);
    Runner::new(move || {
        cipher.open_to(black_box(&nonce), &[], &sealed, &mut data).expect("the right tag");
    })
}

fn pattern(workload: &Workload) -> Pattern {
    if workload.algorithm == "cbcs" { Pattern::new(1, 9) } else { Pattern::ALL }
}

pub(super) fn ecb(workload: &Workload, level: AesLevel) -> Runner {
    let mut data = vec![0x5a; workload.size];
    let encrypt = workload.operation == "encrypt";
    by_key!(workload, Aes = Aes128, Aes192, Aes256 => {
        let key = Aes::with_level(&key(0), level);
        Runner::new(move || {
            let done =
                if encrypt { key.ecb_encrypt(&mut data) } else { key.ecb_decrypt(&mut data) };
            done.expect("whole blocks");
        })
    })
}

pub(super) fn ctr(workload: &Workload, level: AesLevel) -> Runner {
    let mut data = vec![0x5a; workload.size];
    by_key!(workload, Aes = Aes128, Aes192, Aes256 => {
        let key = Aes::with_level(&key(0), level);
        Runner::new(move || key.ctr(CounterBits::Bits64, &mut [0; 16], &mut data))
    })
}

pub(super) fn cbc_encrypt(workload: &Workload, level: AesLevel) -> Runner {
    let mut buffers = workload.buffers();
    let pattern = pattern(workload);
    let keys = if workload.keys == Keys::Each { workload.streams } else { 1 };
    by_key!(workload, Aes = Aes128, Aes192, Aes256 => {
        let keys: Vec<_> = (0..keys).map(|i| Aes::with_level(&key(i), level)).collect();
        Runner::new(move || match &mut buffers[..] {
            [data] => keys[0].cbcs_encrypt(&mut [0; 16], pattern, data),
            many => {
                let keys = keys.iter().cycle();
                let job = |(data, key)| Job::new(KeyRef::from(key), [0; 16], pattern, data);
                let mut jobs: Vec<_> =
                    many.iter_mut().map(Vec::as_mut_slice).zip(keys).map(job).collect();
                lanes::encrypt(&mut jobs);
            }
        })
    })
}

pub(super) fn cbc_decrypt(workload: &Workload, level: AesLevel) -> Runner {
    let mut data = vec![0x5a; workload.size];
    let pattern = pattern(workload);
    by_key!(workload, Aes = Aes128, Aes192, Aes256 => {
        let key = Aes::with_level(&key(0), level);
        Runner::new(move || key.cbcs_decrypt(&mut [0; 16], pattern, &mut data))
    })
}

pub(super) fn expansion(workload: &Workload, level: AesLevel) -> Runner {
    by_key!(workload, Aes = Aes128, Aes192, Aes256 => {
        let bytes = key(0);
        Runner::new(move || {
            black_box(Aes::with_level(black_box(&bytes), level));
        })
    })
}

pub(super) fn gcm(workload: &Workload, level: AesLevel) -> Runner {
    by_key!(workload, Gcm = Aes128Gcm, Aes192Gcm, Aes256Gcm => {
        aead(workload, 12, Gcm::with_level(&key(0), level))
    })
}

pub(super) fn gcm_siv(workload: &Workload, level: AesLevel) -> Runner {
    match workload.key_bits {
        128 => aead(workload, 12, Aes128GcmSiv::with_level(&key(0), level)),
        _ => aead(workload, 12, Aes256GcmSiv::with_level(&key(0), level)),
    }
}

pub(super) fn ocb3(workload: &Workload, level: AesLevel) -> Runner {
    by_key!(workload, Ocb3 = Aes128Ocb3, Aes192Ocb3, Aes256Ocb3 => {
        aead(workload, 12, Ocb3::with_level(&key(0), level))
    })
}

pub(super) fn aegis(workload: &Workload, level: AesLevel) -> Runner {
    let (short, long) = (key(0), key(0));
    match workload.algorithm {
        "aegis-128l" => aead(workload, 16, Aegis128L::with_level(&short, level)),
        "aegis-128x2" => aead(workload, 16, Aegis128X2::with_level(&short, level)),
        "aegis-128x4" => aead(workload, 16, Aegis128X4::with_level(&short, level)),
        "aegis-256" => aead(workload, 32, Aegis256::with_level(&long, level)),
        "aegis-256x2" => aead(workload, 32, Aegis256X2::with_level(&long, level)),
        _ => aead(workload, 32, Aegis256X4::with_level(&long, level)),
    }
}

pub(super) fn gmac(workload: &Workload, level: AesLevel) -> Runner {
    let data = vec![0x5a; workload.size];
    by_key!(workload, Gcm = Aes128Gcm, Aes192Gcm, Aes256Gcm => {
        let key = Gcm::with_level(&key(0), level);
        let mut tag = [0; 16];
        Runner::new(move || key.mac(black_box(&[0x24; 12]), &data, &mut tag).expect(FITS))
    })
}

// The hashes take more and more bytes: a program has one for each key and message.

pub(super) fn ghash(workload: &Workload, level: AesLevel) -> Runner {
    let data = vec![0x5a; workload.size];
    let mut hash = Ghash::with_level(&key(0), level);
    Runner::new(move || hash.update(black_box(&data)))
}

pub(super) fn polyval(workload: &Workload, level: AesLevel) -> Runner {
    let data = vec![0x5a; workload.size];
    let mut hash = Polyval::with_level(&key(0), level);
    Runner::new(move || hash.update(black_box(&data)))
}

pub(super) fn crc(workload: &Workload, level: AesLevel) -> Runner {
    macro_rules! crc {
        ($crc:ty) => {{
            let data = vec![0x5a; workload.size];
            Runner::new(move || {
                let mut crc = <$crc>::with_level(level);
                crc.update(black_box(&data));
                black_box(crc.finish());
            })
        }};
    }
    match workload.algorithm {
        "crc-32" => crc!(Crc32),
        "crc-32c" => crc!(Crc32c),
        "crc-64-nvme" => crc!(Crc64Nvme),
        _ => crc!(Crc64Xz),
    }
}
