//! How records of TLS are called. A record is sealed in place, with the MAC before the encryption.

use lanelock::{
    Aes, AesLevel, Block,
    hash::algorithm::{MerkleDamgard, Sha1, Sha256},
    record::{CbcHmac, ContentType, Header, MacOrder, Record, Version, seal_all},
};

use super::{Keys, Runner, Workload, hash_levels};

/// What is authenticated beside the content of record `number`.
pub fn header(number: usize) -> Header {
    Header::new(number as u64, ContentType::APPLICATION_DATA, Version::TLS_1_2)
}

pub(super) fn cbc_hmac(workload: &Workload, level: AesLevel) -> Runner {
    match workload.algorithm {
        "cbc-hmac-sha-1" => of::<Sha1>(workload, level),
        _ => of::<Sha256>(workload, level),
    }
}

/// One record, or as many as there are streams in one call.
fn of<A: MerkleDamgard>(workload: &Workload, level: AesLevel) -> Runner {
    let (size, streams) = (workload.size, workload.streams);
    let keys = if workload.keys == Keys::Each { streams } else { 1 };
    let key = |i: usize| {
        let bytes = [i.to_le_bytes()[0]; 32];
        let (cipher, mac) = ((&[bytes[0]; 16], level), (&bytes[..], hash_levels(level)));
        CbcHmac::<Aes<128>, A>::with_levels(MacOrder::MacThenEncrypt, cipher, mac)
    };
    let keys: Vec<_> = (0..keys).map(key).collect();
    let mut fragments = vec![vec![0x5a; keys[0].sealed_length(size)]; streams];
    let iv = |i: usize| -> Block { [i.to_le_bytes()[0]; 16] };
    Runner::new(move || match &mut fragments[..] {
        [fragment] => keys[0].seal(header(0), &iv(0), fragment, size).expect("room"),
        many => {
            let mut records: Vec<_> = many
                .iter_mut()
                .zip(keys.iter().cycle())
                .enumerate()
                .map(|(i, (fragment, key))| Record::to_seal(key, header(i), &iv(i), fragment, size))
                .collect();
            seal_all(&mut records).expect("room");
        }
    })
}
