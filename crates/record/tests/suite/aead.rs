//! Records of AEADs: RFC 8448, what OpenSSL writes, and what must not pass.

use std::num::NonZeroU16;

use lanelock_aead::{
    Aead, Aes128Ccm, Aes128Gcm, Aes256Ccm, Aes256Gcm, ChaCha20Poly1305, batch::Batch,
};
use lanelock_core::Error;
use lanelock_record::{AeadRecords, ContentType, MOST_CONTENT};
use lanelock_testkit::{pattern, unhex};

const DATA: ContentType = ContentType::APPLICATION_DATA;

/// Seals and opens one record and compares.
fn check<A: Aead>(
    make: impl Fn() -> AeadRecords<A>,
    content_type: ContentType,
    content: &[u8],
    record: &[u8],
) {
    let mut sealed = Vec::new();
    make().seal(content_type, content, &mut sealed).unwrap();
    assert_eq!(sealed, record);
    let mut opener = make();
    let number = opener.sequence().unwrap();
    assert_eq!(opener.open(&mut sealed), Ok((content_type, &mut content.to_vec()[..])));
    assert_eq!(opener.sequence(), Some(number + 1));
    assert!(opener.open(&mut record.to_vec()).is_err(), "the same again has another number");
    for place in 0..record.len() {
        let mut damaged = record.to_vec();
        damaged[place] ^= 1;
        let error = make().open(&mut damaged).unwrap_err();
        let is_length = (3..5).contains(&place);
        assert_eq!(error, if is_length { Error::MessageLength } else { Error::Authentication });
    }
}

/// RFC 8448, 3: application data and the alert at the end, of both sides.
#[test]
fn rfc8448() {
    let client = ("17422dda596ed5d9acd890e3c63f5051", "5b78923dee08579033e523d9");
    let server = ("9f02283b6c9c07efc26bb9f2ac92e356", "cf782b88dd83549aadf1e984");
    let content: Vec<u8> = (0..50).collect();
    let alert = [1, 0];
    let cases: [(_, u64, _, &[u8], _); 4] = [
        (
            client,
            0,
            DATA,
            &content,
            "17 03 03 00 43 a2 3f 70 54 b6 2c 94 d0 af fa fe 82 28 ba 55 cb ef ac ea 42 f9 14 aa 66 bc ab 3f
             2b 98 19 a8 a5 b4 6b 39 5b d5 4a 9a 20 44 1e 2b 62 97 4e 1f 5a 62 92 a2 97 70 14 bd 1e 3d ea e6
             3a ee bb 21 69 49 15 e4",
        ),
        (
            server,
            1,
            DATA,
            &content,
            "17 03 03 00 43 2e 93 7e 11 ef 4a c7 40 e5 38 ad 36 00 5f c4 a4 69 32 fc 32 25 d0 5f 82 aa 1b 36
             e3 0e fa f9 7d 90 e6 df fc 60 2d cb 50 1a 59 a8 fc c4 9c 4b f2 e5 f0 a2 1c 00 47 c2 ab f3 32 54
             0d d0 32 e1 67 c2 95 5d",
        ),
        (client, 1, ContentType::ALERT, &alert, "17 03 03 00 13 c9 87 27 60 65 56 66 b7 4d 7f f1 15 3e fd 6d b6 d0 b0 e3"),
        (server, 2, ContentType::ALERT, &alert, "17 03 03 00 13 b5 8f d6 71 66 eb f5 99 d2 47 20 cf be 7e fa 7a 88 64 a9"),
    ];
    for ((key, iv), number, content_type, content, record) in cases {
        let [key, iv, record] = [key, iv, record].map(unhex);
        let make = || {
            let key = Aes128Gcm::new(key[..].try_into().unwrap()).unwrap();
            AeadRecords::tls13(key, iv[..].try_into().unwrap()).with_sequence(number)
        };
        check(make, content_type, content, &record);
    }
}

fn tls12<A: Aead>(make: impl Fn() -> A, words: &[&str]) {
    let [salt, number, kind, version, content, fragment] = *words else { panic!("{words:?}") };
    let [salt, mut content, fragment] = [salt, content, fragment].map(unhex);
    let length = u16::try_from(fragment.len()).unwrap().to_be_bytes();
    let version: u16 = version.parse().unwrap();
    let mut record = vec![kind.parse().unwrap()];
    record.extend(version.to_be_bytes());
    record.extend(length);
    record.extend(&fragment);
    let make = || {
        let records = match (&salt[..]).try_into() {
            Ok(salt) => AeadRecords::tls12(make(), salt),
            Err(_) => {
                AeadRecords::tls12_without_explicit_nonce(make(), salt[..].try_into().unwrap())
            }
        };
        records.with_sequence(number.parse().unwrap())
    };
    // The explicit part of OpenSSL's nonces with GCM begins anywhere: those are only opened.
    if salt.len() == 12 || fragment.starts_with(&number.parse::<u64>().unwrap().to_be_bytes()) {
        check(make, ContentType(record[0]), &content, &record);
    } else {
        let content_type = ContentType(record[0]);
        assert_eq!(make().open(&mut record), Ok((content_type, &mut content[..])));
    }
}

fn tls13<A: Aead>(make: impl Fn() -> A, words: &[&str]) {
    let [iv, number, kind, content, fragment] = *words else { panic!("{words:?}") };
    let [iv, content, fragment] = [iv, content, fragment].map(unhex);
    let length = u16::try_from(fragment.len()).unwrap().to_be_bytes();
    let record = [&[23, 3, 3], &length[..], &fragment].concat();
    let make = || {
        AeadRecords::tls13(make(), iv[..].try_into().unwrap())
            .with_sequence(number.parse().unwrap())
    };
    check(make, ContentType(kind.parse().unwrap()), &content, &record);
}

#[test]
fn openssl() {
    let (mut old, mut new) = (0, 0);
    for line in include_str!("sessions.txt").lines() {
        let words: Vec<_> = line.split(' ').collect();
        match words[..] {
            ["tls12", algorithm, key, ref rest @ ..] => {
                let key = unhex(key);
                let short = || key[..].try_into().unwrap();
                match algorithm {
                    "aes-128-gcm" => tls12(|| Aes128Gcm::new(&short()).unwrap(), rest),
                    "aes-128-ccm" => tls12(|| Aes128Ccm::new(&short()).unwrap(), rest),
                    "aes-128-ccm-8" => tls12(
                        || Aes128Ccm::new(&short()).unwrap().with_tag_length(8).unwrap(),
                        rest,
                    ),
                    "aes-256-gcm" => {
                        tls12(|| Aes256Gcm::new(key[..].try_into().unwrap()).unwrap(), rest);
                    }
                    "aes-256-ccm" => {
                        tls12(|| Aes256Ccm::new(key[..].try_into().unwrap()).unwrap(), rest);
                    }
                    "chacha20-poly1305" => {
                        let key = || ChaCha20Poly1305::new(key[..].try_into().unwrap()).unwrap();
                        tls12(key, rest);
                    }
                    _ => panic!("{algorithm}"),
                }
                old += 1;
            }
            ["tls13", algorithm, key, ref rest @ ..] => {
                let key = unhex(key);
                let key = || key[..].try_into().unwrap();
                match algorithm {
                    "aes-256-gcm" => tls13(|| Aes256Gcm::new(&key()).unwrap(), rest),
                    "chacha20-poly1305" => tls13(|| ChaCha20Poly1305::new(&key()).unwrap(), rest),
                    _ => panic!("{algorithm}"),
                }
                new += 1;
            }
            _ => {}
        }
    }
    assert_eq!((old, new), (6 * 6, 2 * 6));
}

fn gcm() -> Aes128Gcm {
    Aes128Gcm::new(&[1; 16]).unwrap()
}

/// One of each form.
fn forms<A: Aead>(key: impl Fn() -> A) -> [AeadRecords<A>; 3] {
    [
        AeadRecords::tls12(key(), [2; 4]),
        AeadRecords::tls12_without_explicit_nonce(key(), [3; 12]),
        AeadRecords::tls13(key(), [3; 12]),
    ]
}

/// Opens all records of a stream.
fn read<A: Aead>(
    records: &mut AeadRecords<A>,
    mut stream: &mut [u8],
) -> Vec<(ContentType, Vec<u8>)> {
    let mut contents = Vec::new();
    while let Some(length) = AeadRecords::<A>::record_length(stream) {
        let (record, rest) = stream.split_at_mut(length);
        let (content_type, content) = records.open(record).unwrap();
        contents.push((content_type, content.to_vec()));
        stream = rest;
    }
    assert!(stream.is_empty());
    contents
}

fn writes<A: Batch>(key: impl Fn() -> A) {
    let lengths = [0, 1, 100, MOST_CONTENT - 1, MOST_CONTENT, MOST_CONTENT + 1, 50_000];
    for ((mut writer, mut together), mut reader) in
        forms(&key).into_iter().zip(forms(&key)).zip(forms(&key))
    {
        let data = lengths.map(pattern);
        let (mut stream, mut at_once) = (vec![9], vec![9]);
        for data in &data {
            writer.seal_write(DATA, data, &mut stream).unwrap();
        }
        let writes: Vec<_> = data.iter().map(Vec::as_slice).collect();
        together.seal_writes(DATA, &writes, &mut at_once).unwrap();
        assert!(stream == at_once);
        assert_eq!(writer.sequence(), together.sequence());
        let contents = read(&mut reader, &mut stream[1..]);
        assert_eq!(reader.sequence(), writer.sequence());
        let received: Vec<_> = contents.into_iter().flat_map(|(_, content)| content).collect();
        assert!(received == data.concat());
    }
}

#[test]
fn whole_writes_become_records() {
    writes(gcm);
    writes(|| Aes128Ccm::new(&[1; 16]).unwrap());
    writes(|| ChaCha20Poly1305::new(&[1; 32]).unwrap());
}

#[test]
fn contents_are_padded_where_records_have_padding() {
    let writes = [0, 1, 99, 100, 101, 16_000, MOST_CONTENT, MOST_CONTENT + 1].map(pattern);
    for multiple in [1, 16, 100, 1000, 16_384, 65_535] {
        let multiple = NonZeroU16::new(multiple).unwrap();
        for (form, (mut writer, mut together)) in forms(gcm).into_iter().zip(forms(gcm)).enumerate()
        {
            let is_padded = form == 2;
            [writer, together] = [writer, together].map(|records| records.with_padding(multiple));
            let (mut stream, mut at_once) = (Vec::new(), Vec::new());
            for data in &writes {
                writer.seal_write(DATA, data, &mut stream).unwrap();
            }
            let slices = writes.each_ref().map(|data| &data[..]);
            together.seal_writes(DATA, &slices, &mut at_once).unwrap();
            assert!(stream == at_once);
            let (mut reader, mut rest) =
                (forms(gcm).into_iter().nth(form).unwrap(), &mut stream[..]);
            let overhead = reader.sealed_length(0);
            let mut received = Vec::new();
            while let Some(length) = AeadRecords::<Aes128Gcm>::record_length(rest) {
                let (record, later) = rest.split_at_mut(length);
                let (content_type, content) = reader.open(record).unwrap();
                assert_eq!(content_type, DATA);
                assert_eq!(length, writer.sealed_length(content.len()));
                let text = length - overhead;
                let (bytes, multiple) = (content.len(), usize::from(multiple.get()));
                assert!((bytes..=MOST_CONTENT).contains(&text));
                assert!(if is_padded {
                    text == MOST_CONTENT || text.is_multiple_of(multiple) && text < bytes + multiple
                } else {
                    text == bytes
                });
                received.extend_from_slice(content);
                rest = later;
            }
            assert!(rest.is_empty() && received == writes.concat());
        }
    }
}

/// RFC 8446, 5.2: the text is the content, its type, and zeros.
#[test]
fn padding_stands_behind_the_type() {
    let mut record = Vec::new();
    let records = AeadRecords::tls13(gcm(), [3; 12]);
    let mut records = records.with_padding(NonZeroU16::new(32).unwrap());
    records.seal(ContentType::HANDSHAKE, &pattern(40), &mut record).unwrap();
    let (header, sealed) = record.split_first_chunk::<5>().unwrap();
    let text = gcm().open_vec(&[3; 12], header, sealed).unwrap();
    assert_eq!(text, [&pattern(40)[..], &[22], &[0; 24]].concat());
}

#[test]
fn numbers_end() {
    for records in forms(gcm) {
        let mut records = records.with_sequence(u64::MAX - 1);
        let mut stream = Vec::new();
        let two = pattern(MOST_CONTENT + 1);
        assert_eq!(records.seal_writes(DATA, &[&two, b"x"], &mut stream), Err(Error::KeyExhausted));
        assert_eq!(records.seal_writes(DATA, &[], &mut stream), Ok(()));
        assert_eq!((stream.len(), records.sequence()), (0, Some(u64::MAX - 1)));
        records.seal_writes(DATA, &[&two], &mut stream).unwrap();
        assert_eq!(records.sequence(), None);
        assert_eq!(records.seal(DATA, b"x", &mut stream), Err(Error::KeyExhausted));
        assert_eq!(records.seal_writes(DATA, &[b"x"], &mut stream), Err(Error::KeyExhausted));
        let (length, before) = (records.sealed_length(MOST_CONTENT), stream.len());
        assert_eq!(records.open(&mut stream[..length]), Err(Error::KeyExhausted));
        let mut records = records.with_sequence(u64::MAX);
        assert_eq!(records.seal_write(DATA, &two, &mut stream), Err(Error::KeyExhausted));
        assert_eq!(stream.len(), before, "nothing is appended");
    }
}

#[test]
fn lengths_that_no_record_has() {
    for mut records in forms(gcm) {
        let mut stream = vec![7];
        let long = pattern(MOST_CONTENT + 1);
        assert_eq!(records.seal(DATA, &long, &mut stream), Err(Error::MessageLength));
        assert_eq!(stream, [7]);
        let mut empty = Vec::new();
        records.seal(DATA, b"", &mut empty).unwrap();
        for cut in 0..empty.len() {
            assert_eq!(records.open(&mut empty[..cut].to_vec()), Err(Error::MessageLength));
        }
        let mut huge = vec![0xff; 5 + 0xffff];
        assert_eq!(records.open(&mut huge), Err(Error::MessageLength));
    }
}

/// Types of records: TLS 1.2 shows them; all encrypted records of TLS 1.3 say that they are data (RFC 8446, 5.2), and
/// others are refused though whoever has the key sealed them.
#[test]
fn types_of_records() {
    for (mut writer, mut reader) in forms(gcm).into_iter().zip(forms(gcm)) {
        for content_type in [ContentType::HANDSHAKE, DATA] {
            let mut record = Vec::new();
            writer.seal(content_type, b"text", &mut record).unwrap();
            assert_eq!(reader.open(&mut record), Ok((content_type, &mut b"text".to_owned()[..])));
        }
    }
    for outer in 0..=255 {
        let mut record = inner_with(outer, b"text\x16");
        let opened = AeadRecords::tls13(gcm(), [3; 12]).open(&mut record);
        if outer == DATA.0 {
            assert_eq!(opened, Ok((ContentType::HANDSHAKE, &mut b"text".to_owned()[..])));
        } else {
            assert_eq!(opened, Err(Error::Authentication), "{outer}");
            assert_eq!(record[5..10], [0; 5]);
        }
    }
}

/// An inner text of TLS 1.3 with any padding, sealed by the AEAD itself.
fn inner(text: &[u8]) -> Vec<u8> {
    inner_with(DATA.0, text)
}

/// The same in a record of any type.
fn inner_with(outer: u8, text: &[u8]) -> Vec<u8> {
    let [low, high, ..] = (text.len() + 16).to_le_bytes();
    let header = [outer, 3, 3, high, low];
    [&header[..], &gcm().seal_vec(&[3; 12], &header, text).unwrap()].concat()
}

#[test]
fn padding_of_tls_1_3_is_removed() {
    for length in [0, 1, 62, 63, 64, 65, 200] {
        for zeros in (0..200).chain([MOST_CONTENT - length]) {
            let mut text = pattern(length);
            text.extend([&[22][..], &vec![0; zeros]].concat());
            let mut record = inner(&text);
            let opened = AeadRecords::tls13(gcm(), [3; 12]).open(&mut record);
            let expected = (ContentType::HANDSHAKE, &mut pattern(length)[..]);
            assert_eq!(opened, Ok(expected), "{length} {zeros}");
        }
    }
    for text in [vec![0; 1], vec![0; 64], vec![0; 1000], pattern(MOST_CONTENT + 2)] {
        let mut record = inner(&text);
        let opened = AeadRecords::tls13(gcm(), [3; 12]).open(&mut record);
        assert_eq!(opened, Err(Error::Authentication));
        assert!(record[5..5 + text.len()].iter().all(|byte| *byte == 0));
    }
}
