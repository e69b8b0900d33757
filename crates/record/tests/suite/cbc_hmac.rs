//! CBC records: all lengths and paddings, all damages, one by one and side by side, at every level.

use lanelock_core::{Aes, AesLevel, Error, Key, SizedCipher, lanes::LaneCipher};
use lanelock_digest::{
    HmacKey, Levels, PrefixJob,
    algorithm::{MerkleDamgard, Sha1, Sha256, Sha384, Sm3},
    hmac_prefixes,
};
use lanelock_record::{
    CbcHmac, ContentType, Header, MOST_CONTENT, MacOrder, Record, Version, open_all, seal_all,
};
use lanelock_testkit::{Rng, pattern};

const ORDERS: [MacOrder; 2] = [MacOrder::MacThenEncrypt, MacOrder::EncryptThenMac];
const IV: [u8; 16] = [0x3c; 16];

fn header(sequence: u64) -> Header {
    Header::new(sequence, ContentType::APPLICATION_DATA, Version::TLS_1_2)
}

/// A fragment with this content where it is to be sealed.
fn unsealed(length: usize, content: &[u8]) -> Vec<u8> {
    let mut fragment = vec![0; length];
    fragment[16..16 + content.len()].copy_from_slice(content);
    fragment
}

/// A record by the formulas of the RFCs, with any padding, by the parts that have their own tests.
fn by_formula<C: SizedCipher<Cipher: LaneCipher>, A: MerkleDamgard>(
    order: MacOrder,
    (key, mac): (&Key<C>, &HmacKey<A>),
    header: Header,
    content: &[u8],
    padding: u8,
) -> Vec<u8> {
    let tag = |data: &[u8]| {
        let length = u16::try_from(data.len()).unwrap().to_be_bytes();
        let message = [
            &header.sequence.to_be_bytes()[..],
            &[header.content_type.0],
            &header.version.0.to_be_bytes(),
            &length,
            data,
        ];
        mac.tag(&message.concat()).as_ref().to_vec()
    };
    let mut text = content.to_vec();
    if order == MacOrder::MacThenEncrypt {
        text.extend(tag(content));
    }
    text.extend(vec![padding; usize::from(padding) + 1]);
    key.cbc_encrypt(&mut IV.clone(), &mut text).unwrap();
    let mut fragment = [&IV[..], &text].concat();
    if order == MacOrder::EncryptThenMac {
        fragment.extend(tag(&fragment));
    }
    fragment
}

fn paddings_and_lengths<A: MerkleDamgard>(level: AesLevel, levels: Levels, lengths: &[usize]) {
    let (key, mac_key) = ([7; 16], [9; 20]);
    let parts =
        (&Key::<Aes<128>>::with_level(&key, level), &HmacKey::<A>::with_levels(levels, &mac_key));
    for order in ORDERS {
        let record = CbcHmac::<Aes<128>, A>::with_levels(order, (&key, level), (&mac_key, levels));
        let mac = if order == MacOrder::MacThenEncrypt { size_of::<A::Digest>() } else { 0 };
        for &length in lengths {
            let content = pattern(length);
            let least = 15 - (length + mac) % 16;
            for padding in (least..256).step_by(16) {
                let padding = u8::try_from(padding).unwrap();
                let place = format!("{record:?} {length} {padding}");
                let sealed = by_formula(order, parts, header(5), &content, padding);
                let mut fragment = sealed.clone();
                assert_eq!(
                    record.open(header(5), &mut fragment),
                    Ok(&mut content.clone()[..]),
                    "{place}"
                );
                let mut fragment = sealed.clone();
                assert_eq!(
                    record.open(header(6), &mut fragment),
                    Err(Error::Authentication),
                    "{place}"
                );
                assert!(fragment.iter().all(|byte| *byte == 0), "{place}");
                if usize::from(padding) == least {
                    let mut fragment = unsealed(record.sealed_length(length), &content);
                    record.seal(header(5), &IV, &mut fragment, length).unwrap();
                    assert_eq!(fragment, sealed, "{place}");
                }
            }
        }
    }
}

#[test]
fn all_paddings_of_all_short_lengths() {
    let lengths: Vec<_> = (0..=600).collect();
    let (level, levels) = (AesLevel::fastest(), Levels::fastest());
    paddings_and_lengths::<Sha1>(level, levels, &lengths);
    paddings_and_lengths::<Sha256>(level, levels, &lengths);
    paddings_and_lengths::<Sha384>(level, levels, &lengths);
}

#[test]
fn every_pair_of_levels() {
    let lengths = [0, 1, 43, 44, 50, 51, 52, 115, 255, 256, 600, 4000];
    for level in AesLevel::available() {
        for levels in Levels::available() {
            paddings_and_lengths::<Sha1>(level, levels, &lengths);
            paddings_and_lengths::<Sha256>(level, levels, &lengths);
            paddings_and_lengths::<Sha384>(level, levels, &lengths);
        }
    }
}

/// Every byte of a record, and every field of the header.
#[test]
fn whatever_is_changed_is_seen() {
    for order in ORDERS {
        let record = CbcHmac::<Aes<256>, Sha256>::new(order, &[1; 32], &[2; 32]).unwrap();
        for length in [0, 1, 15, 16, 30, 47, 48, 100, 600] {
            let mut sealed = unsealed(record.sealed_length(length), &pattern(length));
            record.seal(header(1), &IV, &mut sealed, length).unwrap();
            for place in 0..sealed.len() {
                for change in [1, 0x80, 0xff] {
                    let mut fragment = sealed.clone();
                    fragment[place] ^= change;
                    assert_eq!(record.open(header(1), &mut fragment), Err(Error::Authentication));
                    assert!(fragment.iter().all(|byte| *byte == 0), "{order:?} {length} {place}");
                }
            }
            let other_headers = [
                header(1 << 63 | 1),
                Header::new(1, ContentType::ALERT, Version::TLS_1_2),
                Header::new(1, ContentType::APPLICATION_DATA, Version::TLS_1_1),
            ];
            for header in other_headers {
                assert_eq!(record.open(header, &mut sealed.clone()), Err(Error::Authentication));
            }
            for cut in 0..sealed.len() {
                let mut fragment = sealed[..cut].to_vec();
                assert_eq!(record.open(header(1), &mut fragment), Err(Error::Authentication));
                assert!(fragment.iter().all(|byte| *byte == 0), "{order:?} {length} {cut}");
            }
        }
    }
}

#[test]
fn lengths_that_no_record_has() {
    for order in ORDERS {
        let key = CbcHmac::<Aes<128>, Sha1>::new(order, &[1; 16], &[2; 20]).unwrap();
        let parts = (&Key::new(&[1; 16]).unwrap(), &HmacKey::new(&[2; 20]).unwrap());
        let mut fragment = vec![0; key.sealed_length(MOST_CONTENT)];
        assert_eq!(
            key.seal(header(0), &IV, &mut fragment[1..], MOST_CONTENT),
            Err(Error::OutputLength)
        );
        assert_eq!(key.seal(header(0), &IV, &mut fragment, MOST_CONTENT), Ok(()));
        assert_eq!(
            key.open(header(0), &mut fragment).map(|content| content.len()),
            Ok(MOST_CONTENT)
        );
        let mut fragment = vec![0; key.sealed_length(MOST_CONTENT + 1)];
        assert_eq!(
            key.seal(header(0), &IV, &mut fragment, MOST_CONTENT + 1),
            Err(Error::MessageLength)
        );
        // With the right MAC too.
        let content = pattern(MOST_CONTENT + 1);
        let padding = if order == MacOrder::MacThenEncrypt { 10 } else { 14 };
        let mut fragment = by_formula::<Aes<128>, Sha1>(order, parts, header(0), &content, padding);
        assert_eq!(key.open(header(0), &mut fragment), Err(Error::Authentication));
        assert_eq!(key.open(header(0), &mut vec![1; 1 << 16]), Err(Error::Authentication));
    }
}

fn side_by_side<A: MerkleDamgard>(level: AesLevel, levels: Levels, rng: &mut Rng) {
    let keys: Vec<_> = (0..6_u8)
        .map(|number| {
            let order = ORDERS[usize::from(number) % 2];
            let (key, mac_key) = ([number; 16], [number; 40]);
            CbcHmac::<Aes<128>, A>::with_levels(order, (&key, level), (&mac_key, levels))
        })
        .collect();
    for count in [0, 1, 2, 3, 16, 33, 70] {
        let jobs: Vec<_> = (0..count)
            .map(|number| {
                let length = if rng.below(4) == 0 { rng.below(9000) } else { rng.below(300) };
                (&keys[rng.below(keys.len())], header(number), pattern(length))
            })
            .collect();
        let alone: Vec<_> = jobs
            .iter()
            .map(|(key, header, content)| {
                let mut fragment = unsealed(key.sealed_length(content.len()), content);
                key.seal(*header, &IV, &mut fragment, content.len()).unwrap();
                fragment
            })
            .collect();
        let mut fragments: Vec<_> = jobs
            .iter()
            .map(|(key, _, content)| unsealed(key.sealed_length(content.len()), content))
            .collect();
        let mut records: Vec<_> = jobs
            .iter()
            .zip(&mut fragments)
            .map(|((key, header, content), fragment)| {
                Record::to_seal(key, *header, &IV, fragment, content.len())
            })
            .collect();
        assert_eq!(seal_all(&mut records), Ok(()));
        assert_eq!(fragments, alone, "{level} {levels:?} {count}");

        // Some are damaged, in some place.
        let damaged: Vec<_> = (0..count).map(|_| rng.below(3) == 0).collect();
        for (fragment, _) in fragments.iter_mut().zip(&damaged).filter(|(_, damaged)| **damaged) {
            let place = rng.below(fragment.len());
            fragment[place] ^= 1 << rng.below(8);
        }
        let mut records: Vec<_> = jobs
            .iter()
            .zip(&mut fragments)
            .map(|((key, header, _), fragment)| Record::to_open(key, *header, fragment))
            .collect();
        let result = open_all(&mut records);
        assert_eq!(result.is_err(), damaged.contains(&true));
        for ((record, damaged), (_, _, content)) in records.iter().zip(damaged).zip(&jobs) {
            if damaged {
                assert_eq!(record.result, Err(Error::Authentication));
                assert!(record.fragment.iter().all(|byte| *byte == 0));
            } else {
                assert_eq!(record.result, Ok(()));
                assert_eq!(record.fragment[record.content.clone()], content[..]);
            }
        }
    }
}

#[test]
fn many_records_are_each_what_one_is() {
    let mut rng = Rng::from_env("many_records_are_each_what_one_is");
    for level in AesLevel::available() {
        for levels in Levels::available() {
            side_by_side::<Sha1>(level, levels, &mut rng);
            side_by_side::<Sha256>(level, levels, &mut rng);
            side_by_side::<Sha384>(level, levels, &mut rng);
        }
    }
}

/// Records of a batch that cannot be sealed or opened are said to be so, and the others are done.
#[test]
fn a_record_of_a_wrong_length_disturbs_no_other() {
    let key = CbcHmac::<Aes<128>, Sha1>::new(MacOrder::MacThenEncrypt, &[1; 16], &[2; 20]).unwrap();
    let mut fragments = [vec![0; 1], vec![0; key.sealed_length(100)], vec![0; 33]];
    let mut records: Vec<_> = fragments
        .iter_mut()
        .map(|fragment| Record::to_seal(&key, header(0), &IV, fragment, 100))
        .collect();
    assert_eq!(seal_all(&mut records), Err(Error::OutputLength));
    let results: Vec<_> = records.iter().map(|record| record.result).collect();
    assert_eq!(results, [Err(Error::OutputLength), Ok(()), Err(Error::OutputLength)]);
    let mut records: Vec<_> =
        fragments.iter_mut().map(|fragment| Record::to_open(&key, header(0), fragment)).collect();
    assert_eq!(open_all(&mut records), Err(Error::Authentication));
    let results: Vec<_> = records.iter().map(|record| record.result).collect();
    assert_eq!(results, [Err(Error::Authentication), Ok(()), Err(Error::Authentication)]);
}

/// HMAC of a secret length is HMAC, for heads of all lengths and ranges of all widths.
fn prefixes<A: MerkleDamgard>(levels: Levels, rng: &mut Rng) {
    let key = HmacKey::<A>::with_levels(levels, b"a key");
    let data = pattern(900);
    let jobs: Vec<_> = (0..60)
        .map(|_| {
            let (head, end) = (rng.below(64), rng.below(data.len()) + 1);
            let start = rng.below(end);
            (head, start..end, start + rng.below(end - start))
        })
        .collect();
    let head = pattern(64);
    let mut found: Vec<_> = jobs
        .iter()
        .map(|(bytes, lengths, length)| {
            PrefixJob::new(&key, &head[..*bytes], &data, lengths.clone(), *length)
        })
        .collect();
    hmac_prefixes(&mut found);
    for (found, (bytes, lengths, length)) in found.iter().zip(jobs) {
        let expected = key.tag(&[&head[..bytes], &data[..length]].concat());
        assert_eq!(found.tag, expected, "{levels:?} {bytes} {lengths:?} {length}");
    }
}

#[test]
fn a_prefix_has_the_tag_of_its_message() {
    let mut rng = Rng::from_env("a_prefix_has_the_tag_of_its_message");
    for levels in Levels::available() {
        prefixes::<Sha1>(levels, &mut rng);
        prefixes::<Sha256>(levels, &mut rng);
        prefixes::<Sha384>(levels, &mut rng);
        prefixes::<Sm3>(levels, &mut rng);
    }
}
