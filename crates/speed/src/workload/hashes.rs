//! How hashes are called, and what is made of them.

use std::{hint::black_box, num::NonZeroU32};

use lanelock::{
    AesLevel,
    hash::{
        Hash, HashJob, HashLevel, HmacJob, HmacKey, Kt128, Levels, Pbkdf2Job, ShaLevel,
        algorithm::{Algorithm, Sha1, Sha3_256, Sha256, Sha512, Shake128, Sm3},
        hash_all, hmac_all, pbkdf2_all,
    },
};

use super::{Keys, Runner, Workload};

/// How often PBKDF2 iterates.
pub const ITERATIONS: NonZeroU32 = NonZeroU32::new(1000).unwrap();

/// Bytes of a key that PBKDF2 derives.
pub const DERIVED: usize = 32;

/// The levels of hashes that go with a level of AES: the widest ones whose vectors are not wider than its.
pub fn levels(level: AesLevel) -> Levels {
    let bits = AesLevel::FAMILY.levels()[level.rank()].bits;
    let mut levels = Levels { lanes: HashLevel::available()[0], one: ShaLevel::available()[0] };
    for lanes in HashLevel::available() {
        if HashLevel::FAMILY.levels()[lanes.rank()].bits <= bits {
            levels.lanes = lanes;
        }
    }
    for one in ShaLevel::available() {
        if ShaLevel::FAMILY.levels()[one.rank()].bits <= bits {
            levels.one = one;
        }
    }
    levels
}

pub(super) fn hash(workload: &Workload, level: AesLevel) -> Runner {
    match workload.algorithm {
        "sha-1" => of::<Sha1>(workload, level),
        "sha-256" => of::<Sha256>(workload, level),
        "sha-512" => of::<Sha512>(workload, level),
        "sha3-256" => of::<Sha3_256>(workload, level),
        "shake128" => of::<Shake128>(workload, level),
        _ => of::<Sm3>(workload, level),
    }
}

/// One message, or as many as there are streams in one call.
fn of<A: Algorithm>(workload: &Workload, level: AesLevel) -> Runner {
    let (buffers, levels) = (workload.buffers(), levels(level));
    Runner::new(move || match &buffers[..] {
        [data] => {
            black_box(Hash::<A>::digest_with_level(levels.one, black_box(data)));
        }
        many => {
            let mut jobs: Vec<_> = many.iter().map(|data| HashJob::<A>::new(data)).collect();
            hash_all(levels, &mut jobs);
            black_box(&jobs);
        }
    })
}

pub(super) fn kangaroo_twelve(workload: &Workload, level: AesLevel) -> Runner {
    let (data, levels) = (vec![0x5a; workload.size], levels(level));
    Runner::new(move || {
        let mut hash = Kt128::with_levels(levels);
        hash.update(black_box(&data));
        let mut digest = [0; 32];
        hash.finish(b"").read(&mut digest);
        black_box(digest);
    })
}

pub(super) fn hmac(workload: &Workload, level: AesLevel) -> Runner {
    let (buffers, levels) = (workload.buffers(), levels(level));
    let keys = if workload.keys == Keys::Each { workload.streams } else { 1 };
    let key = |i: usize| HmacKey::<Sha256>::with_levels(levels, &[i.to_le_bytes()[0]; 32]);
    let keys: Vec<_> = (0..keys).map(key).collect();
    Runner::new(move || match &buffers[..] {
        [data] => {
            black_box(keys[0].tag(black_box(data)));
        }
        many => {
            let mut jobs: Vec<_> = many
                .iter()
                .zip(keys.iter().cycle())
                .map(|(data, key)| HmacJob::new(key, data))
                .collect();
            hmac_all(&mut jobs);
            black_box(&jobs);
        }
    })
}

/// Keys from as many passwords as there are streams.
pub(super) fn pbkdf2(workload: &Workload, level: AesLevel) -> Runner {
    let levels = levels(level);
    let passwords: Vec<_> = (0..workload.streams).map(|i| [i.to_le_bytes()[0]; 8]).collect();
    let mut keys = workload.buffers();
    Runner::new(move || {
        let mut jobs: Vec<_> = black_box(&passwords)
            .iter()
            .zip(&mut keys)
            .map(|(password, key)| Pbkdf2Job {
                password,
                salt: &[0x24; 16],
                iterations: ITERATIONS,
                key,
            })
            .collect();
        pbkdf2_all::<Sha256>(levels, &mut jobs);
    })
}
