//! Records of TLS whose padding is a secret.

use lanelock::{
    Aes, Aes128, AesLevel, Error,
    hash::{
        HmacKey, Levels,
        algorithm::{MerkleDamgard, Sha1, Sha256, Sha384},
    },
    record::{CbcHmac, ContentType, Header, MacOrder, Record, Version, open_all, seal_all},
};

use super::{Extent, carried, secret, secret_text};
use crate::client::reveal;

type Run = fn(Levels, Extent);

/// Of each hash, at the best level of the cipher that there is.
macro_rules! each_hash {
    ($function:ident) => {
        |levels, extent| {
            $function::<Sha1>(levels, extent);
            $function::<Sha256>(levels, extent);
            $function::<Sha384>(levels, extent);
        }
    };
}

pub(super) const OPERATIONS: &[(&str, Run)] = &[
    ("CBC-HMAC, all paddings", each_hash!(paddings)),
    ("CBC-HMAC, wrong bytes", each_hash!(wrong_bytes)),
    ("CBC-HMAC in lanes", each_hash!(in_lanes)),
];

const HEADER: Header = Header::new(1, ContentType::APPLICATION_DATA, Version::TLS_1_2);

/// Keys in both orders, and the parts that they consist of.
struct Keys<A: MerkleDamgard> {
    records: [CbcHmac<Aes<128>, A>; 2],
    cipher: Aes128,
    mac: HmacKey<A>,
}

impl<A: MerkleDamgard> Keys<A> {
    fn new(levels: Levels) -> Self {
        let (key, mac_key) = (secret::<16>(), secret::<32>());
        let level = AesLevel::fastest();
        Self {
            records: [MacOrder::MacThenEncrypt, MacOrder::EncryptThenMac]
                .map(|order| CbcHmac::with_levels(order, (&key, level), (&mac_key, levels))),
            cipher: Aes128::with_level(&key, level),
            mac: HmacKey::with_levels(levels, &mac_key),
        }
    }

    /// A record whose MAC is inside, with any padding.
    fn padded(&self, content: &[u8], padding: u8) -> Vec<u8> {
        let mut mac = self.mac.start();
        mac.update(&HEADER.sequence.to_be_bytes());
        mac.update(&[HEADER.content_type.0]);
        mac.update(&HEADER.version.0.to_be_bytes());
        mac.update(&u16::try_from(content.len()).expect("a short content").to_be_bytes());
        mac.update(content);
        let mut text = [content, mac.finish().as_ref()].concat();
        text.extend(vec![padding; usize::from(padding) + 1]);
        self.cipher.cbc_encrypt(&mut [3; 16], &mut text).expect("whole blocks");
        carried(&mut text);
        [&[3; 16], &text[..]].concat()
    }
}

fn paddings<A: MerkleDamgard>(levels: Levels, extent: Extent) {
    let keys = Keys::<A>::new(levels);
    for &length in extent.lengths() {
        let content = secret_text(length);
        let least = 15 - (length + size_of::<A::Digest>()) % 16;
        for padding in (least..256).step_by(16) {
            let mut fragment = keys.padded(&content, padding.to_le_bytes()[0]);
            let opened = keys.records[0].open(HEADER, &mut fragment).expect("a record");
            assert_eq!(opened.len(), length);
            if length > 0 {
                carried(opened);
            }
        }
        let mut fragment = sealed(&keys.records[1], &content);
        let opened = keys.records[1].open(HEADER, &mut fragment).expect("a record");
        assert_eq!(opened.len(), length);
    }
}

/// A record that was sealed: what is sent is known.
fn sealed<A: MerkleDamgard>(key: &CbcHmac<Aes<128>, A>, content: &[u8]) -> Vec<u8> {
    let mut fragment = vec![0; key.sealed_length(content.len())];
    fragment[16..][..content.len()].copy_from_slice(content);
    key.seal(HEADER, &[3; 16], &mut fragment, content.len()).expect("a record");
    carried(&mut fragment[16..]);
    fragment
}

/// In the content, in the MAC, in the padding, in its length.
fn wrong_bytes<A: MerkleDamgard>(levels: Levels, extent: Extent) {
    let keys = Keys::<A>::new(levels);
    for key in &keys.records {
        let good = sealed(key, &secret_text(100));
        for place in extent.places(good.len()) {
            let mut fragment = good.clone();
            fragment[place] ^= 0x10;
            assert!(matches!(key.open(HEADER, &mut fragment), Err(Error::Authentication)));
        }
    }
    let least = 15 - (100 + size_of::<A::Digest>()) % 16;
    let mut fragment = keys.padded(&secret_text(100), (least + 224).to_le_bytes()[0]);
    let last = fragment.len() - 17;
    fragment[last] ^= 0xff; // what the length of the padding becomes is a secret
    assert!(matches!(keys.records[0].open(HEADER, &mut fragment), Err(Error::Authentication)));
}

fn in_lanes<A: MerkleDamgard>(levels: Levels, _: Extent) {
    let keys = Keys::<A>::new(levels);
    let lengths: Vec<_> = (0..40).map(|number| number * 31 % 300 + 1).collect();
    let mut fragments: Vec<_> = (0..)
        .zip(&lengths)
        .map(|(number, &length)| {
            let mut fragment = vec![0; keys.records[number % 2].sealed_length(length)];
            fragment[16..][..length].copy_from_slice(&secret_text(length));
            fragment
        })
        .collect();
    let mut records: Vec<_> = (0..)
        .zip(&mut fragments)
        .zip(&lengths)
        .map(|((number, fragment), &length)| {
            Record::to_seal(&keys.records[number % 2], HEADER, &[3; 16], fragment, length)
        })
        .collect();
    seal_all(&mut records).expect("records");
    for fragment in &mut fragments {
        reveal(fragment);
    }
    fragments[7][20] ^= 1;
    fragments[8][20] ^= 1;
    let mut records: Vec<_> = (0..)
        .zip(&mut fragments)
        .map(|(number, fragment)| Record::to_open(&keys.records[number % 2], HEADER, fragment))
        .collect();
    assert_eq!(open_all(&mut records), Err(Error::Authentication));
    for (record, length) in records.iter().zip(lengths) {
        assert_eq!(record.content.len(), if record.result.is_ok() { length } else { 0 });
    }
}
