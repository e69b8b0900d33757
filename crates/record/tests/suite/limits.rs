//! Records that a sender with the key has made against the rules: wrong padding behind a right MAC, lengths that TLS
//! does not allow, and numbers after the last one. All of them have to be refused although they are authentic.

use lanelock_aead::{Aead, Aes128Gcm};
use lanelock_core::{Aes, Error, Key};
use lanelock_digest::{HmacKey, algorithm::Sha1};
use lanelock_record::{
    AeadRecords, CbcHmac, ContentType, Header, MOST_CONTENT, MacOrder, Record, Version, open_all,
};
use lanelock_testkit::pattern;

const DATA: ContentType = ContentType::APPLICATION_DATA;
const IV: [u8; 16] = [0x3c; 16];
const KEY: [u8; 16] = [7; 16];
const MAC_KEY: [u8; 20] = [9; 20];
/// Bytes of the tag of GCM.
const TAG: usize = 16;

fn header() -> Header {
    Header::new(5, DATA, Version::TLS_1_2)
}

/// The MAC of RFC 5246, 6.2.3.1, over these bytes.
fn mac(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap().to_be_bytes();
    let head = [&[0, 0, 0, 0, 0, 0, 0, 5, 23, 3, 3][..], &length].concat();
    HmacKey::<Sha1>::new(&MAC_KEY).unwrap().tag(&[&head[..], bytes].concat()).as_ref().to_vec()
}

fn encrypted(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    Key::<Aes<128>>::new(&KEY).unwrap().cbc_encrypt(&mut IV.clone(), &mut text).unwrap();
    [&IV[..], &text].concat()
}

/// A fragment of encrypt-then-MAC (RFC 7366) with this text in it, padding included.
fn mac_behind(text: &[u8]) -> Vec<u8> {
    let sealed = encrypted(text);
    [&sealed[..], &mac(&sealed)].concat()
}

/// A fragment of MAC-then-encrypt with this content and padding.
fn mac_inside(content: &[u8], padding: &[u8]) -> Vec<u8> {
    encrypted(&[content, &mac(content), padding].concat())
}

/// What opening the fragment alone and in a batch gives. A refused fragment is zero.
fn opened(order: MacOrder, fragment: &[u8]) -> Result<Vec<u8>, Error> {
    let key = CbcHmac::<Aes<128>, Sha1>::new(order, &KEY, &MAC_KEY).unwrap();
    let mut alone = fragment.to_vec();
    let result = key.open(header(), &mut alone).map(|content| content.to_vec());
    let mut together = [fragment.to_vec(), fragment.to_vec()];
    let mut records: Vec<_> =
        together.iter_mut().map(|fragment| Record::to_open(&key, header(), fragment)).collect();
    let _ = open_all(&mut records);
    for record in &records {
        let content = record.result.map(|()| record.fragment[record.content.clone()].to_vec());
        assert_eq!(content, result, "{order:?}");
    }
    if result.is_err() {
        assert!(alone.iter().chain(together.iter().flatten()).all(|byte| *byte == 0), "{order:?}");
    }
    result
}

/// RFC 7366, 3: padding is checked behind a right MAC too.
#[test]
fn padding_of_encrypt_then_mac_is_checked() {
    let order = MacOrder::EncryptThenMac;
    for (length, padding) in [(0, 15_u8), (1, 14), (15, 0), (15, 16), (20, 59), (16, 255)] {
        let bytes = usize::from(padding) + 1;
        let text = [pattern(length), vec![padding; bytes]].concat();
        assert_eq!(opened(order, &mac_behind(&text)), Ok(pattern(length)), "{length} {padding}");
        for place in length..text.len() - 1 {
            for change in [1, 0x80] {
                let mut wrong = text.clone();
                wrong[place] ^= change;
                let result = opened(order, &mac_behind(&wrong));
                assert_eq!(result, Err(Error::Authentication), "{length} {padding} {place}");
            }
        }
    }
    // More padding than there is text.
    for blocks in 1..16_u8 {
        for padding in [16 * blocks, 255] {
            let text = vec![padding; 16 * usize::from(blocks)];
            let result = opened(order, &mac_behind(&text));
            assert_eq!(result, Err(Error::Authentication), "{blocks} {padding}");
        }
    }
}

/// RFC 5246, 6.2.1: at most 2^14 bytes of content, with any padding.
#[test]
fn cbc_records_are_not_longer_than_tls_allows() {
    for padding in [15, 31, 255] {
        for more in [0, 1, 2, 15, 16] {
            let content = pattern(MOST_CONTENT + more);
            let expected = if more == 0 { Ok(content.clone()) } else { Err(Error::Authentication) };
            let padded = |text: usize| {
                let last = padding - text % 16;
                vec![u8::try_from(last).unwrap(); last + 1]
            };
            let fragment = mac_behind(&[&content[..], &padded(content.len())].concat());
            let result = opened(MacOrder::EncryptThenMac, &fragment);
            assert!(result == expected, "encrypt-then-MAC, {padding}, {more}");
            let fragment = mac_inside(&content, &padded(content.len() + MAC_KEY.len()));
            let result = opened(MacOrder::MacThenEncrypt, &fragment);
            assert!(result == expected, "MAC-then-encrypt, {padding}, {more}");
        }
    }
}

fn gcm() -> Aes128Gcm {
    Aes128Gcm::new(&[1; 16]).unwrap()
}

/// A record number `number` of TLS 1.2 without an explicit nonce, or of TLS 1.3, with any text, sealed by the AEAD itself.
fn sealed(is_tls13: bool, number: u64, text: &[u8]) -> Vec<u8> {
    let length = |bytes: usize| u16::try_from(bytes).unwrap().to_be_bytes();
    let header = [&[23, 3, 3][..], &length(text.len() + TAG)].concat();
    let aad = if is_tls13 {
        header.clone()
    } else {
        [&number.to_be_bytes()[..], &header[..3], &length(text.len())].concat()
    };
    let mut nonce = [3; 12];
    nonce[4..].iter_mut().zip(number.to_be_bytes()).for_each(|(byte, from)| *byte ^= from);
    [header, gcm().seal_vec(&nonce, &aad, text).unwrap()].concat()
}

fn records(is_tls13: bool) -> AeadRecords<Aes128Gcm> {
    if is_tls13 {
        AeadRecords::tls13(gcm(), [3; 12])
    } else {
        AeadRecords::tls12_without_explicit_nonce(gcm(), [3; 12])
    }
}

/// RFC 5246, 6.2.1: at most 2^14 bytes of content; 6.2.3: 2048 bytes more in a fragment.
#[test]
fn records_of_tls_1_2_are_not_longer_than_it_allows() {
    for (bytes, expected) in [
        (MOST_CONTENT, None),
        (MOST_CONTENT + 1, Some(Error::Authentication)),
        (MOST_CONTENT + 2048 - TAG, Some(Error::Authentication)),
        (MOST_CONTENT + 2048 - TAG + 1, Some(Error::MessageLength)),
    ] {
        let mut record = sealed(false, 0, &pattern(bytes));
        let result = records(false).open(&mut record).map(|(_, content)| content == pattern(bytes));
        assert_eq!(result, expected.map_or(Ok(true), Err), "{bytes}");
        if expected == Some(Error::Authentication) {
            assert!(record[5..5 + bytes].iter().all(|byte| *byte == 0), "{bytes}");
        }
    }
}

/// RFC 8446, 5.1, 5.2 and 5.4: at most 2^14 bytes of content, 2^14 + 1 of it with its type and its padding, and 2^14 +
/// 256 in a fragment.
#[test]
fn records_of_tls_1_3_are_not_longer_than_it_allows() {
    for (content, zeros, expected) in [
        (MOST_CONTENT, 0, None),
        (100, MOST_CONTENT - 100, None),
        (MOST_CONTENT + 1, 0, Some(Error::Authentication)),
        (MOST_CONTENT, 1, Some(Error::Authentication)),
        (100, MOST_CONTENT - 99, Some(Error::Authentication)),
        (0, MOST_CONTENT + 256 - TAG - 1, Some(Error::Authentication)),
        (0, MOST_CONTENT + 256 - TAG, Some(Error::MessageLength)),
    ] {
        let text = [&pattern(content)[..], &[DATA.0], &vec![0; zeros]].concat();
        let mut record = sealed(true, 0, &text);
        let result = records(true).open(&mut record).map(|(kind, found)| {
            assert_eq!(kind, DATA);
            found == pattern(content)
        });
        assert_eq!(result, expected.map_or(Ok(true), Err), "{content} {zeros}");
        if expected == Some(Error::Authentication) {
            assert!(record[5..5 + text.len()].iter().all(|byte| *byte == 0), "{content} {zeros}");
        }
    }
}

/// RFC 8446, 5.3: sequence numbers do not wrap. Behind the last record there is none, not even one with number 0.
#[test]
fn numbers_of_opened_records_end() {
    for is_tls13 in [false, true] {
        let record = |number| sealed(is_tls13, number, b"text\x17");
        let mut reader = records(is_tls13).with_sequence(u64::MAX - 1);
        for number in [u64::MAX - 1, u64::MAX] {
            assert_eq!(reader.sequence(), Some(number));
            assert!(reader.open(&mut record(number)).is_ok(), "{number}");
        }
        assert_eq!(reader.sequence(), None);
        for number in [0, 1, u64::MAX] {
            let before = record(number);
            let mut record = before.clone();
            assert_eq!(reader.open(&mut record), Err(Error::KeyExhausted), "{number}");
            assert_eq!(record, before, "nothing is opened");
        }
    }
}
