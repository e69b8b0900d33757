//! The types here through the traits of the RustCrypto family, against that family's own.

#![allow(clippy::unwrap_used, reason = "tests")]

use aes::cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, BlockSizeUser,
    InOutBuf, InnerIvInit, KeyInit, KeyIvInit, StreamCipher, StreamCipherSeek, array::Array,
    consts::U16,
};
use aes_gcm::AesGcm;
use aes_gcm::aead::{Aead, AeadInOut, Nonce, Payload, consts::U12};
use aes_gcm_siv::AesGcmSiv;
use ghash::universal_hash::{self, ParBlocks, Reset, UhfBackend, UhfClosure, UniversalHash};
use lanelock::hash::{Ghash, Polyval};
use lanelock::traits::Ctr;
use lanelock::{Aes, Aes128, Aes192, Aes256, AesLevel};
use lanelock_testkit::Rng;
use ocb3::Ocb3;

type Block = Array<u8, U16>;

/// All levels; those that are not here are named as skipped.
fn levels() -> Vec<AesLevel> {
    for (name, _) in AesLevel::known() {
        if let Err(error) = name.parse::<AesLevel>() {
            lanelock_testkit::skip(&format!("level {name}: {error}"));
        }
    }
    AesLevel::available()
}

fn blocks(rng: &mut Rng, count: usize) -> Vec<Block> {
    (0..count).map(|_| rng.array::<16>().into()).collect()
}

/// Both directions of a block cipher, in place and from buffer to buffer, block by block and many.
fn same_cipher<A, B>(rng: &mut Rng, name: &str, ours: &A, theirs: &B)
where
    A: BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt,
    B: BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt,
{
    for count in (0..=140).chain([500]) {
        let plain = blocks(rng, count);
        let (mut a, mut b) = (plain.clone(), plain.clone());
        theirs.encrypt_blocks(&mut b);
        ours.encrypt_blocks(&mut a);
        assert!(a == b, "{name}: encryption of {count} blocks");
        let mut other = blocks(rng, count);
        ours.encrypt_blocks_b2b(&plain, &mut other).unwrap();
        assert!(other == b, "{name}: encryption of {count} blocks to elsewhere");
        ours.decrypt_blocks_b2b(&b, &mut other).unwrap();
        assert!(other == plain, "{name}: decryption of {count} blocks to elsewhere");
        ours.decrypt_blocks(&mut a);
        assert!(a == plain, "{name}: decryption of {count} blocks");
        for (plain, cipher) in plain.iter().zip(&b).take(5) {
            let mut block = *plain;
            ours.encrypt_block(&mut block);
            assert_eq!(block, *cipher, "{name}");
            ours.decrypt_block(&mut block);
            assert_eq!(block, *plain, "{name}");
        }
    }
}

/// Modes of the family over a cipher: CBC in both directions, CTR.
fn same_modes<A, B>(rng: &mut Rng, name: &str, ours: &A, theirs: &B)
where
    A: BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt + Clone,
    B: BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt + Clone,
{
    for count in 0..=100 {
        let iv: Block = rng.array::<16>().into();
        let plain = blocks(rng, count);
        let (mut a, mut b) = (plain.clone(), plain.clone());
        cbc::Encryptor::inner_iv_init(ours.clone(), &iv).encrypt_blocks(&mut a);
        cbc::Encryptor::inner_iv_init(theirs.clone(), &iv).encrypt_blocks(&mut b);
        assert!(a == b, "{name}: CBC of {count} blocks");
        cbc::Decryptor::inner_iv_init(ours.clone(), &iv).decrypt_blocks(&mut a);
        assert!(a == plain, "{name}: CBC decryption of {count} blocks");
        let mut a = rng.bytes(count * 17);
        let mut b = a.clone();
        ctr::Ctr128BE::from_core(ctr::CtrCore::inner_iv_init(ours.clone(), &iv))
            .apply_keystream(&mut a);
        ctr::Ctr128BE::from_core(ctr::CtrCore::inner_iv_init(theirs.clone(), &iv))
            .apply_keystream(&mut b);
        assert!(a == b, "{name}: CTR of {} bytes", a.len());
    }
}

macro_rules! ciphers {
    ($name:ident, $aes:ident, $bytes:literal) => {
        #[test]
        fn $name() {
            let mut rng = Rng::from_env(stringify!($name));
            for level in levels() {
                let key: [u8; $bytes] = rng.array();
                let theirs = <aes::$aes as KeyInit>::new(&key.into());
                let ours = $aes::with_level(&key, level);
                let name = format!("{level} {}", stringify!($name));
                same_cipher(&mut rng, &name, &ours, &theirs);
                same_modes(&mut rng, &name, &ours, &theirs);
            }
            let key: [u8; $bytes] = rng.array();
            let theirs = <aes::$aes as KeyInit>::new(&key.into());
            let ours = <$aes as KeyInit>::new(&key.into());
            same_cipher(&mut rng, "by KeyInit", &ours, &theirs);
            assert!(<$aes as KeyInit>::new_from_slice(&key[1..]).is_err());
        }
    };
}

ciphers!(aes128, Aes128, 16);
ciphers!(aes192, Aes192, 24);
ciphers!(aes256, Aes256, 32);

/// A stream cipher used in every way that the traits have, against another.
fn same_stream<A, B>(rng: &mut Rng, name: &str, mut ours: A, mut theirs: B)
where
    A: StreamCipher + StreamCipherSeek,
    B: StreamCipher + StreamCipherSeek,
{
    for _ in 0..60 {
        match rng.below(6) {
            0 => {
                let range = *rng.pick(&[100, 10_000, 1 << 36]);
                let position = rng.below(range);
                ours.seek(position);
                theirs.seek(position);
            }
            // About the end of the key stream.
            1 => {
                let end = *rng.pick(&[1_u128 << 36, 1 << 68, u128::MAX]);
                let position = end - rng.below(1000) as u128;
                let results = (ours.try_seek(position), theirs.try_seek(position));
                assert_eq!(results.0.is_ok(), results.1.is_ok(), "{name}: seek to {position}");
            }
            2 => {
                let length = rng.below(1000);
                let (mut a, mut b) = (vec![1; length], vec![2; length]);
                let result = ours.try_write_keystream(&mut a);
                assert_eq!(result.is_ok(), theirs.try_write_keystream(&mut b).is_ok(), "{name}");
                assert!(result.is_err() || a == b, "{name}: key stream");
            }
            3 => {
                let length = rng.below(3000);
                let data = rng.bytes(length);
                let (mut a, mut b) = (vec![0; length], vec![0; length]);
                let result = ours.try_apply_keystream_b2b(&data, &mut a);
                let theirs = theirs.try_apply_keystream_b2b(&data, &mut b);
                assert_eq!(result.is_ok(), theirs.is_ok(), "{name}");
                assert!(a == b, "{name}: {length} bytes to elsewhere");
            }
            _ => {
                let length = rng.below(100);
                let mut a = rng.bytes(length);
                let mut b = a.clone();
                let result = ours.try_apply_keystream(&mut a);
                assert_eq!(result.is_ok(), theirs.try_apply_keystream(&mut b).is_ok(), "{name}");
                assert!(a == b, "{name}: {length} bytes");
            }
        }
        let positions = (ours.try_current_pos::<u128>(), theirs.try_current_pos::<u128>());
        assert_eq!(positions.0.ok(), positions.1.ok(), "{name}");
        let positions = (ours.try_current_pos::<u32>(), theirs.try_current_pos::<u32>());
        assert_eq!(positions.0.ok(), positions.1.ok(), "{name}");
    }
}

macro_rules! streams {
    ($name:ident, $aes:ident, $cipher:ty, $key:literal, $($bits:literal $ctr:ident),+) => {
        #[test]
        fn $name() {
            let mut rng = Rng::from_env(stringify!($name));
            for level in levels() {
                for _ in 0..100 {
                    let key: [u8; $key] = rng.array();
                    let mut iv: [u8; 16] = rng.array();
                    if rng.one_in(2) {
                        iv = [0xff; 16];
                    }
                    $({
                        type Theirs = ctr::$ctr<aes::$aes>;
                        let aes = $aes::with_level(&key, level);
                        let ours = Ctr::<$cipher, $bits>::inner_iv_init(aes, &iv.into());
                        let theirs = <Theirs as KeyIvInit>::new(&key.into(), &iv.into());
                        let name = format!("{level} {}", stringify!($ctr));
                        same_stream(&mut rng, &name, ours, theirs);
                        let ours = <Ctr<$cipher, $bits> as KeyIvInit>::new(&key.into(), &iv.into());
                        let theirs = <Theirs as KeyIvInit>::new(&key.into(), &iv.into());
                        same_stream(&mut rng, &name, ours, theirs);
                    })+
                }
            }
        }
    };
}

streams!(aes128_ctr, Aes128, Aes<128>, 16, 32 Ctr32BE, 64 Ctr64BE, 128 Ctr128BE);
streams!(aes192_ctr, Aes192, Aes<192>, 24, 32 Ctr32BE, 64 Ctr64BE, 128 Ctr128BE);
streams!(aes256_ctr, Aes256, Aes<256>, 32, 32 Ctr32BE, 64 Ctr64BE, 128 Ctr128BE);

#[test]
fn ctr_is_made_from_a_key_and_shows_none() {
    fn made_from<T: InnerIvInit<Inner = Aes128, IvSize = U16>>(key: Aes128) -> T {
        T::inner_iv_init(key, &[0xcd; 16].into())
    }
    let ctr: Ctr<Aes<128>, 64> = made_from(Aes128::new(&[0xab; 16]).unwrap());
    // Not by single bytes: "ab" is also in the name of a level.
    let shown = format!("{ctr:?}").to_lowercase();
    assert!(!["abab", "171, 171", "cdcd", "205, 205"].iter().any(|bytes| shown.contains(bytes)));
}

/// What a program does that is generic over the AEAD.
fn seal<A: Aead>(aead: &A, nonce: &Nonce<A>, aad: &[u8], msg: &[u8]) -> Vec<u8> {
    aead.encrypt(nonce, Payload { msg, aad }).unwrap()
}

fn same_aead<A, B>(rng: &mut Rng, name: &str)
where
    A: AeadInOut + KeyInit,
    B: AeadInOut<NonceSize = A::NonceSize, TagSize = A::TagSize> + KeyInit<KeySize = A::KeySize>,
{
    for length in (0..200).chain([1000, 4099]) {
        let mut key = aes_gcm::Key::<A>::default();
        rng.fill(&mut key);
        let (ours, theirs) = (A::new(&key), B::new(&key));
        let mut nonce = Nonce::<A>::default();
        rng.fill(&mut nonce);
        let aad_length = rng.below(100);
        let (aad, text) = (rng.bytes(aad_length), rng.bytes(length));
        let sealed = seal(&ours, &nonce, &aad, &text);
        assert!(sealed == seal(&theirs, &nonce, &aad, &text), "{name}: {length} bytes");
        let opened = ours.decrypt(&nonce, Payload { msg: &sealed, aad: &aad });
        assert!(opened == Ok(text.clone()), "{name}: {length} bytes");
        let mut forged = sealed.clone();
        let at = rng.below(forged.len());
        forged[at] ^= 1 << rng.below(8);
        assert!(ours.decrypt(&nonce, Payload { msg: &forged, aad: &aad }).is_err(), "{name}");
        assert!(ours.decrypt(&nonce, &sealed[..sealed.len().min(15)]).is_err(), "{name}");
        let mut other = rng.bytes(length);
        let (text, tag) = sealed.split_at(length);
        let data = InOutBuf::new(text, &mut other).unwrap();
        ours.decrypt_inout_detached(&nonce, &aad, data, tag.try_into().unwrap()).unwrap();
    }
    assert!(A::new_from_slice(&[0; 5]).is_err(), "{name}");
}

macro_rules! aeads {
    ($($name:ident: $ours:ty, $($theirs:ty),+;)+) => {
        $(
            #[test]
            fn $name() {
                let mut rng = Rng::from_env(stringify!($name));
                $(same_aead::<$ours, $theirs>(&mut rng, stringify!($theirs));)+
            }
        )+
    };
}

// The second of two is a mode of the family over a cipher of ours.
aeads! {
    aes128_gcm: lanelock::aead::Aes128Gcm, aes_gcm::Aes128Gcm, AesGcm<Aes128, U12>;
    aes192_gcm: lanelock::aead::Aes192Gcm, AesGcm<aes::Aes192, U12>, AesGcm<Aes192, U12>;
    aes256_gcm: lanelock::aead::Aes256Gcm, aes_gcm::Aes256Gcm, AesGcm<Aes256, U12>;
    aes128_gcm_siv: lanelock::aead::Aes128GcmSiv, AesGcmSiv<aes::Aes128>, AesGcmSiv<Aes128>;
    aes256_gcm_siv: lanelock::aead::Aes256GcmSiv, AesGcmSiv<aes::Aes256>, AesGcmSiv<Aes256>;
    aes128_ocb3: lanelock::aead::Aes128Ocb3, Ocb3<aes::Aes128>, Ocb3<Aes128>;
    aes192_ocb3: lanelock::aead::Aes192Ocb3, Ocb3<aes::Aes192>, Ocb3<Aes192>;
    aes256_ocb3: lanelock::aead::Aes256Ocb3, Ocb3<aes::Aes256>, Ocb3<Aes256>;
    chacha20_poly1305: lanelock::aead::ChaCha20Poly1305, chacha20poly1305::ChaCha20Poly1305;
    xchacha20_poly1305: lanelock::aead::XChaCha20Poly1305, chacha20poly1305::XChaCha20Poly1305;
}

/// An algorithm that the family lacks: the trait against the native interface.
fn same_as_native<A: AeadInOut + KeyInit + lanelock::aead::Aead>(rng: &mut Rng, name: &str) {
    for length in (0..200).chain([1000, 4099]) {
        let mut key = aes_gcm::Key::<A>::default();
        rng.fill(&mut key);
        let key = A::new(&key);
        let mut nonce = Nonce::<A>::default();
        rng.fill(&mut nonce);
        let aad_length = rng.below(100);
        let (aad, text) = (rng.bytes(aad_length), rng.bytes(length));
        let sealed = seal(&key, &nonce, &aad, &text);
        assert!(sealed == key.seal_vec(&nonce, &aad, &text).unwrap(), "{name}: {length} bytes");
        let opened = key.decrypt(&nonce, Payload { msg: &sealed, aad: &aad });
        assert!(opened == Ok(text), "{name}: {length} bytes");
        assert!(key.decrypt(&nonce, &sealed[1..]).is_err(), "{name}");
    }
}

#[test]
fn aegis() {
    use lanelock::aead::{Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4};
    let mut rng = Rng::from_env("aegis");
    same_as_native::<Aegis128L>(&mut rng, "AEGIS-128L");
    same_as_native::<Aegis128X2>(&mut rng, "AEGIS-128X2");
    same_as_native::<Aegis128X4>(&mut rng, "AEGIS-128X4");
    same_as_native::<Aegis256>(&mut rng, "AEGIS-256");
    same_as_native::<Aegis256X2>(&mut rng, "AEGIS-256X2");
    same_as_native::<Aegis256X4>(&mut rng, "AEGIS-256X4");
}

#[test]
fn a_tag_of_another_length_is_an_error_here() {
    let key = lanelock::aead::Aes128Gcm::new(&[1; 16]).unwrap().with_tag_length(12).unwrap();
    let mut data = [7; 40];
    let nonce = [2; 12].into();
    assert!(key.encrypt_inout_detached(&nonce, &[], data[..].as_mut().into()).is_err());
    assert_eq!(data, [7; 40]);
    let tag = [0; 16].into();
    assert!(key.decrypt_inout_detached(&nonce, &[], data[..].as_mut().into(), &tag).is_err());
}

/// Feeds blocks to whatever backend comes, as the modes of the family do.
struct Feed<'a>(&'a [Block]);

impl BlockSizeUser for Feed<'_> {
    type BlockSize = U16;
}

impl UhfClosure for Feed<'_> {
    fn call<B: UhfBackend<BlockSize = U16>>(self, backend: &mut B) {
        let (groups, rest) = Array::slice_as_chunks(self.0);
        for group in groups {
            let group: &ParBlocks<B> = group;
            backend.proc_par_blocks(group);
        }
        for block in rest {
            backend.proc_block(block);
        }
    }
}

fn same_hash<A, B>(rng: &mut Rng, name: &str, ours: &A, theirs: &B)
where
    A: UniversalHash<BlockSize = U16> + Clone + Reset,
    B: UniversalHash<BlockSize = U16> + Clone,
{
    for count in 0..=100 {
        let (mut a, mut b) = (ours.clone(), theirs.clone());
        let length = rng.below(100);
        let data = rng.bytes(length);
        a.update_padded(&data);
        b.update_padded(&data);
        let more = blocks(rng, count);
        a.update(&more);
        b.update(&more);
        a.update_with_backend(Feed(&more));
        b.update_with_backend(Feed(&more));
        let expected = b.finalize();
        assert_eq!(a.clone().finalize(), expected, "{name}: {count} blocks");
        assert!(a.clone().verify(&expected).is_ok(), "{name}");
        assert_eq!(a.finalize_reset(), expected, "{name}");
        a.update(&more);
        let mut b = theirs.clone();
        b.update(&more);
        assert_eq!(a.finalize(), b.finalize(), "{name}: {count} blocks after a reset");
    }
}

#[test]
fn universal_hashes() {
    use universal_hash::KeyInit;
    let mut rng = Rng::from_env("universal_hashes");
    for level in levels() {
        let key: [u8; 16] = rng.array();
        let theirs = ghash::GHash::new(&key.into());
        same_hash(&mut rng, &format!("{level} GHASH"), &Ghash::with_level(&key, level), &theirs);
        let theirs = polyval::Polyval::new(&key.into());
        same_hash(
            &mut rng,
            &format!("{level} POLYVAL"),
            &Polyval::with_level(&key, level),
            &theirs,
        );
    }
    let key: [u8; 16] = rng.array();
    let (ours, theirs) = (<Ghash as KeyInit>::new(&key.into()), ghash::GHash::new(&key.into()));
    same_hash(&mut rng, "GHASH by KeyInit", &ours, &theirs);
    let (ours, theirs) =
        (<Polyval as KeyInit>::new(&key.into()), polyval::Polyval::new(&key.into()));
    same_hash(&mut rng, "POLYVAL by KeyInit", &ours, &theirs);
}
