//! A cipher that the engine does not have, through its modes: SM4, as an application would add it. No mode
//! knows of it.
//!
//! The expected values are the standards' own examples, Project Wycheproof's and OpenSSL's. For CBCS, XTS and OCB3 none
//! of these has SM4: the definitions are written out block by block. (OpenSSL's XTS with SM4 follows GB/T 17964, which
//! has another order of bits.)
//!
//! A program of its own, which `tools/long foreign` runs: every mode is compiled for one more cipher, for a minute.

#![allow(clippy::unwrap_used, reason = "tests")]

mod sm4;

use lanelock::{
    AesLevel, Block, Cmac, CounterBits, CtrStream, Error, Key, Pattern, Xts,
    aead::{
        Aead, Ccm, Gcm, Ocb3,
        batch::{self, Batch, Message},
    },
};
use lanelock_testkit::{self as testkit, AeadCase, Rng};
use sm4::{Sm4, crypt, expand};

/// Lengths in blocks: they reach the tails of all groups.
const BLOCKS: [usize; 9] = [0, 1, 2, 3, 5, 8, 17, 33, 70];

/// One block, encrypted by the reference.
fn encrypt(key: &[u8], block: Block) -> Block {
    let mut schedule = [[0; 16]; 8];
    expand(key, &mut schedule);
    crypt(&schedule, block)
}

fn xor(a: Block, b: Block) -> Block {
    (u128::from_ne_bytes(a) ^ u128::from_ne_bytes(b)).to_ne_bytes()
}

#[test]
fn examples_of_the_standard() {
    let [example, once, million] = testkit::sm4::gbt32907();
    for level in AesLevel::available() {
        let key = Key::<Sm4>::with_level(&example, level);
        let mut block = example;
        key.encrypt_block(&mut block);
        assert_eq!(block, once, "{level}");
        key.decrypt_block(&mut block);
        assert_eq!(block, example, "{level}");
        assert_eq!(format!("{key:?}"), format!("Sm4({level})"));
    }
    let mut schedule = [[0; 16]; 8];
    expand(&example, &mut schedule);
    assert_eq!((0..1_000_000).fold(example, |block, _| crypt(&schedule, block)), million);
}

/// ECB, CBC and CTR of one buffer, and CMAC whole and in pieces.
#[test]
fn openssl_agrees() {
    let Some(mut openssl) = testkit::openssl() else { return };
    if !openssl.has("sm4-cmac") {
        return testkit::skip(&format!("{} has no SM4", openssl.version()));
    }
    let mut rng = Rng::from_env("openssl_agrees");
    for level in AesLevel::available() {
        for blocks in BLOCKS {
            let (bytes, iv) = (rng.array::<16>(), rng.array::<16>());
            let key = Key::<Sm4>::with_level(&bytes, level);
            let what = format!("{blocks} blocks at {level}");
            let text = rng.bytes(16 * blocks);

            let mut data = text.clone();
            key.ecb_encrypt(&mut data).unwrap();
            assert_eq!(data, openssl.encrypt("sm4-ecb", &bytes, &[], &text), "ECB, {what}");
            key.ecb_decrypt(&mut data).unwrap();
            assert_eq!(data, text, "ECB, {what}");

            key.cbc_encrypt(&mut iv.clone(), &mut data).unwrap();
            assert_eq!(data, openssl.encrypt("sm4-cbc", &bytes, &iv, &text), "CBC, {what}");
            key.cbc_decrypt(&mut iv.clone(), &mut data).unwrap();
            assert_eq!(data, text, "CBC, {what}");

            let rest = rng.below(16);
            let text = [text, rng.bytes(rest)].concat();
            let expected = openssl.encrypt("sm4-ctr", &bytes, &iv, &text);
            let mut data = text.clone();
            key.ctr(CounterBits::Bits128, &iv, &mut data).unwrap();
            assert_eq!(data, expected, "CTR, {what}");
            let mut stream = CtrStream::new(&key, CounterBits::Bits128, iv);
            data.clear();
            for piece in rng.splits(&text) {
                data.extend(piece);
                let start = data.len() - piece.len();
                stream.apply(&mut data[start..]).unwrap();
            }
            assert_eq!(data, expected, "CTR in pieces, {what}");

            let expected = openssl.mac("sm4-cmac", &bytes, &[], &text);
            let cmac = Cmac::<Sm4>::with_level(&bytes, level);
            assert_eq!(cmac.mac(&text)[..], expected, "CMAC, {what}");
            let mut stream = cmac.stream();
            for piece in &rng.splits(&text) {
                stream.update(piece);
            }
            assert_eq!(stream.finish()[..], expected, "CMAC in pieces, {what}");
        }
    }
}

#[test]
fn cbcs() {
    let mut rng = Rng::from_env("cbcs");
    for level in AesLevel::available() {
        for (blocks, (crypt, skip)) in
            BLOCKS.into_iter().zip([(1_u8, 9_u8), (3, 2), (1, 0)].repeat(3))
        {
            let (bytes, iv) = (rng.array::<16>(), rng.array::<16>());
            let text = rng.bytes(16 * blocks + 7);
            let mut expected = text.clone();
            let mut chain = iv;
            for (i, block) in expected.as_chunks_mut().0.iter_mut().enumerate() {
                if i % usize::from(crypt + skip) < usize::from(crypt) {
                    chain = encrypt(&bytes, xor(*block, chain));
                    *block = chain;
                }
            }
            let pattern = Pattern::new(crypt, skip).encrypt_truncated_runs();
            let key = Key::<Sm4>::with_level(&bytes, level);
            let mut data = text.clone();
            key.cbcs_encrypt(&mut iv.clone(), pattern, &mut data);
            assert_eq!(data, expected, "{crypt}:{skip}, {blocks} blocks at {level}");
            key.cbcs_decrypt(&mut iv.clone(), pattern, &mut data);
            assert_eq!(data, text, "{crypt}:{skip}, {blocks} blocks at {level}");
        }
    }
}

/// IEEE 1619, 5.3: each block between two additions of the tweak, which is multiplied by x; the last two
/// blocks change places, if the last one is not whole.
fn xts_reference(key: &[u8; 32], tweak: Block, text: &[u8]) -> Vec<u8> {
    let (data, second) = key.split_at(16);
    let mut mask = encrypt(second, tweak);
    let mut one = |block: Block| {
        let result = xor(encrypt(data, xor(block, mask)), mask);
        let number = u128::from_le_bytes(mask);
        mask = ((number << 1) ^ if number >> 127 == 1 { 0x87 } else { 0 }).to_le_bytes();
        result
    };
    let (blocks, rest) = text.as_chunks();
    let mut result: Vec<Block> = blocks.iter().map(|block| one(*block)).collect();
    let mut last = Vec::new();
    if !rest.is_empty() {
        let mut stolen = result.pop().unwrap();
        last = stolen[..rest.len()].to_vec();
        stolen[..rest.len()].copy_from_slice(rest);
        result.push(one(stolen));
    }
    [result.concat(), last].concat()
}

#[test]
fn xts() {
    let mut rng = Rng::from_env("xts");
    for level in AesLevel::available() {
        for blocks in &BLOCKS[1..] {
            let (bytes, tweak) = (rng.array::<32>(), rng.array::<16>());
            let key = Xts::<Sm4>::with_level(&bytes, level).unwrap();
            let rest = rng.below(16);
            let text = rng.bytes(16 * blocks + rest);
            let mut data = text.clone();
            key.encrypt(&tweak, &mut data).unwrap();
            let what = format!("{} bytes at {level}", text.len());
            assert_eq!(data, xts_reference(&bytes, tweak, &text), "{what}");
            key.decrypt(&tweak, &mut data).unwrap();
            assert_eq!(data, text, "{what}");
        }
        assert_eq!(Xts::<Sm4>::with_level(&[7; 32], level).err(), Some(Error::EqualKeys));
    }
}

/// Cases, one by one and many at once; `make` gives no key for lengths that the algorithm does not have.
fn judge<A: Aead + Batch>(cases: &[AeadCase], make: impl Fn(&AeadCase) -> Option<A>) {
    let cases: Vec<_> = cases.iter().filter_map(|case| Some((case, make(case)?))).collect();
    for (case, key) in &cases {
        let AeadCase { name, nonce, aad, plaintext, .. } = case;
        let opened = key.open_vec(nonce, aad, &case.sealed());
        assert_eq!(opened.as_ref().ok(), case.valid.then_some(plaintext), "{name}");
        if case.valid {
            assert_eq!(key.seal_vec(nonce, aad, plaintext).unwrap(), case.sealed(), "{name}");
        }
    }
    // As callers send them, and side by side whether that is a gain or not.
    for prefer in [false, true] {
        batch::prefer_lanes(prefer);
        let mut buffers: Vec<_> =
            cases.iter().map(|(case, _)| (case.ciphertext.clone(), case.tag.clone())).collect();
        let mut messages: Vec<_> = cases
            .iter()
            .zip(&mut buffers)
            .map(|((case, key), (data, tag))| Message::new(key, &case.nonce, &case.aad, data, tag))
            .collect();
        let all = batch::open(&mut messages);
        assert_eq!(all.is_ok(), cases.iter().all(|(case, _)| case.valid));
        for ((case, _), message) in cases.iter().zip(&mut messages) {
            assert_eq!(message.result.is_ok(), case.valid, "{}", case.name);
            if case.valid {
                assert_eq!(message.data, &case.plaintext[..], "{}", case.name);
                message.tag.fill(0);
            }
        }
        messages.retain(|message| message.result.is_ok());
        batch::seal(&mut messages).unwrap();
        let valid = cases.iter().map(|(case, _)| case).filter(|case| case.valid);
        for (case, message) in valid.zip(&messages) {
            assert_eq!([&*message.data, &*message.tag].concat(), case.sealed(), "{}", case.name);
        }
    }
}

#[test]
fn published_gcm() {
    let cases = [testkit::sm4::rfc8998_gcm(), testkit::sm4::wycheproof_gcm()].concat();
    for level in AesLevel::available() {
        judge(&cases, |case| Some(Gcm::<Sm4>::with_level(&case.key[..].try_into().ok()?, level)));
    }
}

#[test]
fn published_ccm() {
    let cases = [testkit::sm4::rfc8998_ccm(), testkit::sm4::wycheproof_ccm()].concat();
    for level in AesLevel::available() {
        judge(&cases, |case| {
            let key = Ccm::<Sm4>::with_level(&case.key[..].try_into().ok()?, level);
            key.with_tag_length(case.tag.len()).ok()
        });
    }
}

/// OCB3 with tags of 16 bytes: RFC 7253, 4.1 and 4.2, block by block.
struct Ocb<'k> {
    key: &'k [u8],
}

impl Ocb<'_> {
    fn seal(&self, nonce: &[u8], aad: &[u8], text: &[u8]) -> Vec<u8> {
        let mut offset = self.start(nonce);
        let mut sum = [0; 16];
        let (blocks, rest) = text.as_chunks();
        let mut sealed = Vec::new();
        for (i, block) in blocks.iter().enumerate() {
            offset = xor(offset, self.mask(i + 1));
            sum = xor(sum, *block);
            sealed.extend(xor(offset, encrypt(self.key, xor(*block, offset))));
        }
        if !rest.is_empty() {
            offset = xor(offset, self.star());
            let pad = encrypt(self.key, offset);
            sealed.extend(rest.iter().zip(pad).map(|(byte, pad)| byte ^ pad));
            sum = xor(sum, padded(rest));
        }
        let dollar = double(self.star());
        let tag = encrypt(self.key, xor(xor(sum, offset), dollar));
        sealed.extend(xor(tag, self.hash(aad)));
        sealed
    }

    fn hash(&self, aad: &[u8]) -> Block {
        let (mut offset, mut sum) = ([0; 16], [0; 16]);
        let (blocks, rest) = aad.as_chunks();
        for (i, block) in blocks.iter().enumerate() {
            offset = xor(offset, self.mask(i + 1));
            sum = xor(sum, encrypt(self.key, xor(*block, offset)));
        }
        if !rest.is_empty() {
            offset = xor(offset, self.star());
            sum = xor(sum, encrypt(self.key, xor(padded(rest), offset)));
        }
        sum
    }

    /// `Offset_0` of a nonce of 12 bytes.
    fn start(&self, nonce: &[u8]) -> Block {
        let mut block = [0; 16];
        block[3] = 1;
        block[4..].copy_from_slice(nonce);
        let bottom = usize::from(block[15] & 63);
        block[15] &= 0xc0;
        let top = u128::from_be_bytes(encrypt(self.key, block));
        // The upper 128 of 192 bits, `bottom` further on.
        let stretch = ((top >> 64) ^ (top >> 56)) & u128::from(u64::MAX);
        let low = stretch << bottom >> 64;
        (top << bottom | low).to_be_bytes()
    }

    /// `L_*`.
    fn star(&self) -> Block {
        encrypt(self.key, [0; 16])
    }

    /// L of the number of zeros behind `i`.
    fn mask(&self, i: usize) -> Block {
        (0..i.trailing_zeros() + 2).fold(self.star(), |mask, _| double(mask))
    }
}

fn double(block: Block) -> Block {
    let number = u128::from_be_bytes(block);
    ((number << 1) ^ if number >> 127 == 1 { 0x87 } else { 0 }).to_be_bytes()
}

fn padded(rest: &[u8]) -> Block {
    let mut block = [0; 16];
    block[..rest.len()].copy_from_slice(rest);
    block[rest.len()] = 0x80;
    block
}

#[test]
fn ocb3() {
    let mut rng = Rng::from_env("ocb3");
    let cases: Vec<_> = (0..60)
        .map(|i| {
            let (aad, text) = (rng.below(70), rng.below(700));
            let (key, nonce) = (rng.bytes(16), rng.bytes(12));
            let (aad, plaintext) = (rng.bytes(aad), rng.bytes(text));
            let mut ciphertext = Ocb { key: &key }.seal(&nonce, &aad, &plaintext);
            let tag = ciphertext.split_off(plaintext.len());
            let (source, name) = ("RFC 7253", format!("case {i}"));
            AeadCase { source, name, key, nonce, aad, plaintext, ciphertext, tag, valid: true }
        })
        .collect();
    for level in AesLevel::available() {
        judge(&cases, |case| Some(Ocb3::<Sm4>::with_level(&case.key[..].try_into().ok()?, level)));
    }
}

/// Piece by piece: as in one call.
#[test]
fn streams() {
    let mut rng = Rng::from_env("streams");
    for level in AesLevel::available() {
        for blocks in BLOCKS {
            let (bytes, nonce) = (rng.array::<16>(), rng.array::<12>());
            let (first, rest) = (rng.bytes(16 * blocks), rng.below(40));
            let (rest, aad) = (rng.bytes(rest), rng.bytes(blocks));
            let text = [&first[..], &rest].concat();
            let lengths = (aad.len() as u64, text.len() as u64);
            macro_rules! same {
                ($key:ident $(, $lengths:expr)?) => {
                    let key = $key::<Sm4>::with_level(&bytes, level);
                    let mut sealer = key.sealer(&nonce $(, $lengths.0, $lengths.1)?).unwrap();
                    for aad in &rng.splits(&aad) {
                        sealer.aad(aad).unwrap();
                    }
                    let (mut sealed, mut last, mut tag) = (first.clone(), rest.clone(), [0; 16]);
                    sealer.update(&mut sealed).unwrap();
                    sealer.update(&mut last).unwrap();
                    sealer.finish(&mut tag).unwrap();
                    let what = format!("{key:?}, {} bytes", text.len());
                    let whole = key.seal_vec(&nonce, &aad, &text).unwrap();
                    assert_eq!([&sealed[..], &last, &tag].concat(), whole, "{what}");

                    let mut opener = key.opener(&nonce $(, $lengths.0, $lengths.1)?).unwrap();
                    opener.aad(&aad).unwrap();
                    opener.update(&sealed).unwrap();
                    opener.update(&last).unwrap();
                    assert_eq!(opener.finish(&tag).unwrap(), text, "{what}");
                };
            }
            same!(Gcm);
            same!(Ccm, lengths);
            same!(Ocb3);
        }
    }
}
