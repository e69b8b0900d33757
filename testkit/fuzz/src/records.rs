//! Records of TLS. CBC with HMAC: sealed by one call and by many, against RustCrypto; opened with any padding, right or
//! wrong, against a reader that branches as it likes. AEADs: whole writes, many writes, padding, damage.

use std::num::NonZeroU16;

use aes::cipher::{BlockModeEncrypt, KeyIvInit, block_padding::NoPadding};
use arbitrary::{Result, Unstructured};
use digest::{Digest, KeyInit, Mac, block_api::BlockSizeUser};
use lanelock::{
    Aes, AesLevel, Block, Error, SizedCipher,
    aead::{Aes128Ccm, Aes128Gcm, Aes256Gcm, ChaCha20Poly1305, batch::Batch},
    hash::{
        Levels,
        algorithm::{MerkleDamgard, Sha1, Sha256, Sha384},
    },
    lanes::LaneCipher,
    record::{
        AeadRecords, CbcHmac, ContentType, Header, MOST_CONTENT, MacOrder, Record, Version,
        open_all, seal_all,
    },
};

use crate::input::{array, filled, length, level};

/// The target.
pub fn records(data: &[u8]) {
    // An input that ends too early is none.
    let _ = run(data);
}

fn run(data: &[u8]) -> Result<()> {
    let u = &mut Unstructured::new(data);
    match u.arbitrary::<u8>()? % 10 {
        0 => cbc_128::<Sha1, sha1::Sha1>(u),
        1 => cbc_256::<Sha1, sha1::Sha1>(u),
        2 => cbc_128::<Sha256, sha2::Sha256>(u),
        3 => cbc_256::<Sha256, sha2::Sha256>(u),
        4 => cbc_128::<Sha384, sha2::Sha384>(u),
        5 => cbc_256::<Sha384, sha2::Sha384>(u),
        6 => aead(u, Aes128Gcm::with_level),
        7 => aead(u, Aes256Gcm::with_level),
        8 => aead(u, Aes128Ccm::with_level),
        _ => {
            let levels: Vec<_> = Levels::available().collect();
            let hash = u.choose(&levels)?.lanes;
            aead(u, |key, _| ChaCha20Poly1305::with_level(key, hash))
        }
    }
}

/// Encrypts whole blocks by CBC: key, IV, text.
type OtherCbc = fn(&[u8], &Block, &mut [u8]);

fn other_cbc<E: BlockModeEncrypt + KeyIvInit>(key: &[u8], iv: &Block, text: &mut [u8]) {
    let cipher = E::new_from_slices(key, iv).expect("a key of its size");
    let bytes = text.len();
    cipher.encrypt_padded::<NoPadding>(text, bytes).expect("whole blocks");
}

fn cbc_128<A: MerkleDamgard, D: Digest + BlockSizeUser + Clone>(
    u: &mut Unstructured<'_>,
) -> Result<()> {
    cbc::<Aes<128>, A, D, 16>(u, other_cbc::<::cbc::Encryptor<aes::Aes128>>)
}

fn cbc_256<A: MerkleDamgard, D: Digest + BlockSizeUser + Clone>(
    u: &mut Unstructured<'_>,
) -> Result<()> {
    cbc::<Aes<256>, A, D, 32>(u, other_cbc::<::cbc::Encryptor<aes::Aes256>>)
}

/// A record that another implementation seals.
struct Sealed {
    header: Header,
    iv: Block,
    content: Vec<u8>,
    /// The padding with the byte that counts it.
    padding: Vec<u8>,
    /// A byte of the MAC that is wrong, by so much.
    wrong: Option<(usize, u8)>,
}

impl Sealed {
    fn make<D: Digest + BlockSizeUser + Clone>(
        &self,
        order: MacOrder,
        (key, cipher): (&[u8], OtherCbc),
        mac_key: &[u8],
    ) -> Vec<u8> {
        let mac = |sealed: &[u8]| {
            let mut hmac = hmac::SimpleHmac::<D>::new_from_slice(mac_key).expect("any length");
            let Header { sequence, content_type, version, .. } = self.header;
            let length = u16::try_from(sealed.len()).expect("a record");
            hmac.update(&sequence.to_be_bytes());
            hmac.update(&[content_type.0]);
            hmac.update(&version.0.to_be_bytes());
            hmac.update(&length.to_be_bytes());
            hmac.update(sealed);
            let mut mac = hmac.finalize().into_bytes().to_vec();
            if let Some((place, by)) = self.wrong {
                let place = place % mac.len();
                mac[place] ^= by;
            }
            mac
        };
        let inner = match order {
            MacOrder::MacThenEncrypt => mac(&self.content),
            MacOrder::EncryptThenMac => Vec::new(),
        };
        let mut text = [&self.content[..], &inner, &self.padding].concat();
        cipher(key, &self.iv, &mut text);
        let mut fragment = [&self.iv[..], &text].concat();
        if order == MacOrder::EncryptThenMac {
            fragment.extend(mac(&fragment));
        }
        fragment
    }

    /// Whether it may pass.
    fn is_right(&self) -> bool {
        let [last, ..] = (self.padding.len() - 1).to_le_bytes();
        self.wrong.is_none_or(|(_, by)| by == 0) && self.padding.iter().all(|byte| *byte == last)
    }
}

fn cbc<C, A, D, const KEY: usize>(u: &mut Unstructured<'_>, cipher: OtherCbc) -> Result<()>
where
    C: SizedCipher<Cipher: LaneCipher, KeyBytes = [u8; KEY]>,
    A: MerkleDamgard,
    D: Digest + BlockSizeUser + Clone,
{
    let order = *u.choose(&[MacOrder::MacThenEncrypt, MacOrder::EncryptThenMac])?;
    let (aes, levels): (AesLevel, Vec<_>) = (level(u)?, Levels::available().collect());
    let levels = *u.choose(&levels)?;
    let (key, mac) = (array::<KEY>(u)?, size_of::<A::Digest>());
    let mac_key = filled(u, mac)?;
    let ours = CbcHmac::<C, A>::with_levels(order, (&key, aes), (&mac_key, levels));
    let what = format!("{order:?} {} {KEY} {aes} {levels:?}", A::NAME);

    let mut made = Vec::new();
    let inner = if order == MacOrder::MacThenEncrypt { mac } else { 0 };
    let usual = length(u, 1500)?;
    for sequence in 0..u.int_in_range(1..=50)? {
        let own = u.arbitrary::<u8>()? % 4 == 0;
        let length = if own { length(u, 700)? } else { usual };
        let content = filled(u, length)?;
        // The shortest padding, and as many blocks more as are chosen.
        let least = 16 - (length + inner) % 16;
        let more = u.arbitrary::<u8>()? % 64;
        let bytes = least + 16 * usize::from(if more < 16 { more } else { 0 });
        let bytes = if bytes > 256 { least } else { bytes };
        let mut padding = vec![(bytes - 1).to_le_bytes()[0]; bytes];
        if u.arbitrary::<u8>()? % 8 == 0 {
            let place = u.choose_index(bytes)?;
            padding[place] ^= u.arbitrary::<u8>()?;
        }
        let wrong = (u.arbitrary::<u8>()? % 8 == 0).then_some((u.arbitrary()?, u.arbitrary()?));
        let header = Header::new(sequence, ContentType(u.arbitrary()?), Version(u.arbitrary()?));
        made.push(Sealed { header, iv: array(u)?, content, padding, wrong });
    }

    // Sealed by one call each and by one for all: with the shortest padding, as the other one does.
    let shortest = |record: &Sealed| {
        let bytes = 16 - (record.content.len() + inner) % 16;
        let padding = vec![(bytes - 1).to_le_bytes()[0]; bytes];
        let content = record.content.clone();
        Sealed { content, padding, wrong: None, ..*record }.make::<D>(
            order,
            (&key, cipher),
            &mac_key,
        )
    };
    let expected: Vec<_> = made.iter().map(shortest).collect();
    let open = |record: &Sealed| {
        let mut fragment = vec![0xa5; ours.sealed_length(record.content.len())];
        fragment[16..][..record.content.len()].copy_from_slice(&record.content);
        fragment
    };
    let mut many: Vec<_> = made.iter().map(open).collect();
    for ((record, fragment), expected) in made.iter().zip(&many).zip(&expected) {
        let mut fragment = fragment.clone();
        let content = record.content.len();
        ours.seal(record.header, &record.iv, &mut fragment, content).expect("room");
        assert_eq!(fragment, *expected, "{what}: {content} bytes sealed");
    }
    let mut records: Vec<_> = made
        .iter()
        .zip(&mut many)
        .map(|(record, fragment)| {
            let content = record.content.len();
            Record::to_seal(&ours, record.header, &record.iv, fragment, content)
        })
        .collect();
    seal_all(&mut records).expect("room");
    assert_eq!(many, expected, "{what}: sealed together");

    // Opened by one call each and by one for all.
    let fragments: Vec<_> =
        made.iter().map(|record| record.make::<D>(order, (&key, cipher), &mac_key)).collect();
    let mut together = fragments.clone();
    let mut records: Vec<_> = made
        .iter()
        .zip(&mut together)
        .map(|(record, fragment)| Record::to_open(&ours, record.header, fragment))
        .collect();
    let all = open_all(&mut records);
    assert_eq!(all.is_ok(), made.iter().all(Sealed::is_right), "{what}: all opened");
    for ((record, many), fragment) in made.iter().zip(&records).zip(&fragments) {
        let bytes = (record.content.len(), record.padding.len());
        let mut fragment = fragment.clone();
        let one = ours.open(record.header, &mut fragment).map(|content| content.to_vec());
        let many_content = many.result.map(|()| many.fragment[many.content.clone()].to_vec());
        let expected = record.is_right().then(|| record.content.clone());
        let expected = expected.ok_or(Error::Authentication);
        assert_eq!(one, expected, "{what}: {bytes:?} opened");
        assert_eq!(many_content, expected, "{what}: {bytes:?} opened together");
        if expected.is_err() {
            assert!(fragment.iter().chain(&*many.fragment).all(|byte| *byte == 0), "{what}");
        }
    }

    // Any bytes are a forgery, whatever their length.
    let bytes = length(u, 400)?;
    let (mut noise, header) = (filled(u, bytes)?, made[0].header);
    assert_eq!(ours.open(header, &mut noise), Err(Error::Authentication), "{what}: noise");
    assert!(noise.iter().all(|byte| *byte == 0), "{what}: noise");
    Ok(())
}

fn aead<A: Batch, const KEY: usize>(
    u: &mut Unstructured<'_>,
    make: impl Fn(&[u8; KEY], AesLevel) -> A,
) -> Result<()> {
    let (level, key, iv, form) = (level(u)?, array(u)?, array::<12>(u)?, u.arbitrary::<u8>()? % 3);
    let multiple = u.arbitrary::<NonZeroU16>()?;
    // Numbers near the last one are as good as any.
    let first = if u.arbitrary()? { u64::from(u.arbitrary::<u32>()?) } else { u64::MAX - 200 };
    let records = || {
        let key = make(&key, level);
        let records = match form {
            0 => AeadRecords::tls12(key, [iv[0], iv[1], iv[2], iv[3]]),
            1 => AeadRecords::tls12_without_explicit_nonce(key, iv),
            _ => AeadRecords::tls13(key, iv),
        };
        records.with_sequence(first).with_padding(multiple)
    };
    let content_type = ContentType(u.int_in_range(1..=255)?);
    // TLS 1.3 has one type outside.
    let outer = if form == 2 { ContentType::APPLICATION_DATA } else { content_type };
    let mut writes = Vec::new();
    for _ in 0..u.int_in_range(0..=20)? {
        let most = if u.arbitrary::<u8>()? % 16 == 0 { 2 * MOST_CONTENT } else { 600 };
        let bytes = length(u, most)?;
        writes.push(filled(u, bytes)?);
    }

    let (mut one, mut many) = (records(), records());
    let (mut stream, mut together) = (Vec::new(), Vec::new());
    for write in &writes {
        one.seal_write(content_type, write, &mut stream).expect("numbers that are left");
    }
    let slices: Vec<_> = writes.iter().map(Vec::as_slice).collect();
    many.seal_writes(content_type, &slices, &mut together).expect("numbers that are left");
    assert!(stream == together, "writes and many writes at {level}");
    assert_eq!(one.sequence(), many.sequence());

    let damage = u.arbitrary::<u16>()?;
    let (mut reader, mut rest, mut received) = (records(), &mut stream[..], Vec::new());
    while let Some(bytes) = AeadRecords::<A>::record_length(rest) {
        let (record, later) = rest.split_at_mut(bytes);
        assert_eq!(record[0], outer.0);
        let mut damaged = record.to_vec();
        // Not the length: that of another record would be another error.
        let place = match usize::from(damage) % (bytes - 2) {
            place @ 0..3 => place,
            place => place + 2,
        };
        damaged[place] ^= 1 << (damage % 8);
        let number = reader.sequence();
        assert_eq!(reader.open(&mut damaged), Err(Error::Authentication), "byte {place} is wrong");
        assert_eq!(reader.sequence(), number, "a forgery has no number");
        let (found, content) = reader.open(record).expect("what was sealed");
        assert_eq!(found, content_type);
        assert_eq!(bytes, reader.sealed_length(content.len()));
        received.extend_from_slice(content);
        rest = later;
    }
    assert!(rest.is_empty() && received == writes.concat());
    assert_eq!(reader.sequence(), one.sequence());

    let bytes = length(u, 300)?;
    let mut noise = filled(u, bytes)?;
    assert!(reader.open(&mut noise).is_err());
    Ok(())
}
