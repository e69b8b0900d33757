//! Keys and intermediate secrets are gone when their object is dropped, by looking at the memory.
//!
//! A process can read its own memory through `/proc/self/mem`, behind the compiler's back: so nothing
//! here makes the compiler keep a write that it would leave out otherwise.

#![cfg(target_os = "linux")]

use std::{fs::File, num::NonZeroUsize, os::unix::fs::FileExt};

use lanelock::{
    Aes,
    cipher::AnyAes,
    record::{AeadRecords, CbcHmac, MacOrder},
};
use lanelock::{
    Aes128, Aes128Cmac, Aes128KeyWrap, Aes128Xts, Aes192, Aes192Cmac, Aes192KeyWrap, Aes192Xts,
    Aes256, Aes256Cmac, Aes256KeyWrap, Aes256Xts, ChaCha20, CmacStream, CounterBits, CtrStream,
    KeyUsage, Poly1305,
    aead::{
        Aead, Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, AegisMacStream,
        AegisStream, Aes128Ccm, Aes128Gcm, Aes128GcmSiv, Aes128Ocb3, Aes192Ccm, Aes192Gcm,
        Aes192Ocb3, Aes256Ccm, Aes256Gcm, Aes256GcmSiv, Aes256Ocb3, CcmStream, ChaCha20Poly1305,
        ChaChaStream, GcmStream, Metered, Ocb3Stream, Opener, Sealer, XChaCha20Poly1305,
    },
    hash::{
        Ghash, Hash, Hkdf, Hmac, HmacKey, Kmac128, Kmac256, Kt128, Kt256, Output, ParallelHash128,
        ParallelHash256, Polyval, PrefixJob, algorithm as hashes,
    },
};
use zeroize::ZeroizeOnDrop;

/// What lies in the memory of `slot`.
#[expect(clippy::ref_option, reason = "its address counts")]
fn look<T>(slot: &Option<T>) -> Vec<u8> {
    let mut bytes = vec![0; size_of_val(slot)];
    let address = core::ptr::from_ref(slot).addr() as u64;
    File::open("/proc/self/mem").unwrap().read_exact_at(&mut bytes, address).unwrap();
    bytes
}

/// How many words of eight bytes, not zero before, are the same after.
fn left(before: &[u8], after: &[u8]) -> usize {
    let words = before.as_chunks::<8>().0.iter().zip(after.as_chunks::<8>().0);
    words.filter(|(a, b)| a == b && a.iter().filter(|byte| **byte != 0).count() > 4).count()
}

/// Makes a secret in place, looks, drops it in place, looks again: words before, and words left.
/// Padding is never written; stale bytes there are no leak.
fn traces<T>(make: impl FnOnce() -> T) -> (usize, usize) {
    clear_stack();
    traces_on_clear_stack(make)
}

/// Zeros where the next frames will be: padding keeps what was there, and there may be more of it than is allowed for.
#[inline(never)]
#[expect(clippy::large_stack_arrays, reason = "the stack is what it is for")]
fn clear_stack() {
    std::hint::black_box(&mut [0_u8; 64 << 10]);
}

#[inline(never)]
fn traces_on_clear_stack<T>(make: impl FnOnce() -> T) -> (usize, usize) {
    let mut slot = Box::new(Some(make()));
    let before = look(&slot);
    *slot = None;
    let after = look(&slot);
    std::hint::black_box(&mut slot);
    let padding = 2 * (align_of::<T>() / 8); // behind an aligned object, and behind one inside it
    (left(&before, &before), left(&before, &after).saturating_sub(padding))
}

/// The method sees what stays: an object without a destructor does.
#[test]
fn what_is_not_wiped_is_seen() {
    let (before, after) = traces(|| [0xa5_u8; 64]);
    assert!(before >= 7 && after >= 6, "{before} words, {after} left");
}

/// Checks types that hold a secret, each made in the state in which it holds most: what is wiped when they
/// are dropped, but for so many words, and that they say so.
macro_rules! wiped {
    ($($name:ident: $type:ty, $kept:literal words, $make:expr;)+) => {
        $(
            #[test]
            fn $name() {
                fn says_so<T: ZeroizeOnDrop>() {}
                says_so::<$type>();
                let (before, after) = traces(|| -> $type { $make });
                assert!(before >= 2, "there was a secret to wipe: {before} words");
                assert!(after <= $kept, "{after} words left of {before}");
            }
        )+

        /// The types of the list above.
        const SECRET: &[&str] = &[$(stringify!($type)),+];
    };
}

wiped! {
    aes128: Aes128, 0 words, Aes128::new(&[0xa5; 16]).unwrap();
    aes192: Aes192, 0 words, Aes192::new(&[0xa5; 24]).unwrap();
    aes256: Aes256, 0 words, Aes256::new(&[0xa5; 32]).unwrap();
    xts128: Aes128Xts, 0 words, Aes128Xts::new(&halves()).unwrap();
    xts192: Aes192Xts, 0 words, Aes192Xts::new(&halves()).unwrap();
    xts256: Aes256Xts, 0 words, Aes256Xts::new(&halves()).unwrap();
    cmac128: Aes128Cmac, 0 words, Aes128Cmac::new(&[0xa5; 16]).unwrap();
    cmac192: Aes192Cmac, 0 words, Aes192Cmac::new(&[0xa5; 24]).unwrap();
    cmac256: Aes256Cmac, 0 words, Aes256Cmac::new(&[0xa5; 32]).unwrap();
    key_wrap128: Aes128KeyWrap, 0 words, Aes128KeyWrap::new(&[0xa5; 16]).unwrap();
    key_wrap192: Aes192KeyWrap, 0 words, Aes192KeyWrap::new(&[0xa5; 24]).unwrap();
    key_wrap256: Aes256KeyWrap, 0 words, Aes256KeyWrap::new(&[0xa5; 32]).unwrap();
    gcm128: Aes128Gcm, 0 words, Aes128Gcm::new(&[0xa5; 16]).unwrap();
    gcm192: Aes192Gcm, 0 words, Aes192Gcm::new(&[0xa5; 24]).unwrap();
    gcm256: Aes256Gcm, 0 words, Aes256Gcm::new(&[0xa5; 32]).unwrap();
    gcm_siv128: Aes128GcmSiv, 0 words, Aes128GcmSiv::new(&[0xa5; 16]).unwrap();
    gcm_siv256: Aes256GcmSiv, 0 words, Aes256GcmSiv::new(&[0xa5; 32]).unwrap();
    ccm128: Aes128Ccm, 0 words, Aes128Ccm::new(&[0xa5; 16]).unwrap();
    ccm192: Aes192Ccm, 0 words, Aes192Ccm::new(&[0xa5; 24]).unwrap();
    ccm256: Aes256Ccm, 0 words, Aes256Ccm::new(&[0xa5; 32]).unwrap();
    ocb3_128: Aes128Ocb3, 0 words, Aes128Ocb3::new(&[0xa5; 16]).unwrap();
    ocb3_192: Aes192Ocb3, 0 words, Aes192Ocb3::new(&[0xa5; 24]).unwrap();
    ocb3_256: Aes256Ocb3, 0 words, Aes256Ocb3::new(&[0xa5; 32]).unwrap();
    chacha20: ChaCha20, 0 words, ChaCha20::new(&[0xa5; 32]).unwrap();
    poly1305: Poly1305, 0 words, {
        let mut poly = Poly1305::new(&[0xa5; 32]).unwrap();
        poly.update(&[0x5a; 1000]);
        poly
    };
    chacha20_poly1305: ChaCha20Poly1305, 0 words, ChaCha20Poly1305::new(&[0xa5; 32]).unwrap();
    xchacha20_poly1305: XChaCha20Poly1305, 0 words, XChaCha20Poly1305::new(&[0xa5; 32]).unwrap();
    chacha20_sealer: Sealer<ChaChaStream<'static>>, 0 words, {
        let mut sealer =
            leak(ChaCha20Poly1305::new(&[0xa5; 32]).unwrap()).sealer(&[0; 12]).unwrap();
        sealer.update(&mut [7; 1045]).unwrap();
        sealer
    };
    aegis_128l: Aegis128L, 0 words, Aegis128L::new(&[0xa5; 16]).unwrap();
    aegis_128x2: Aegis128X2, 0 words, Aegis128X2::new(&[0xa5; 16]).unwrap();
    aegis_128x4: Aegis128X4, 0 words, Aegis128X4::new(&[0xa5; 16]).unwrap();
    aegis_256: Aegis256, 0 words, Aegis256::new(&[0xa5; 32]).unwrap();
    aegis_256x2: Aegis256X2, 0 words, Aegis256X2::new(&[0xa5; 32]).unwrap();
    aegis_256x4: Aegis256X4, 0 words, Aegis256X4::new(&[0xa5; 32]).unwrap();
    metered: Metered<Aes128Gcm>, 0 words, {
        let usage = KeyUsage::with_limit(1000).with_block_limit(1000);
        Aes128Gcm::new(&[0xa5; 16]).unwrap().with_usage(usage)
    };
    ghash: Ghash, 0 words, used(Ghash::new(&[0xa5; 16]).unwrap());
    polyval: Polyval, 0 words, Polyval::new(&[0xa5; 16]).unwrap();

    hash: Hash<hashes::Sha512>, 0 words, {
        let mut hash = Hash::new().unwrap();
        hash.update(&[0x5a; 261]);
        hash
    };
    sponge: Hash<hashes::Shake128>, 0 words, {
        let mut hash = Hash::new().unwrap();
        hash.update(&[0x5a; 261]);
        hash
    };
    output: Output<168, 24>, 0 words, {
        let mut output = Hash::<hashes::Shake128>::new().unwrap().output();
        output.read(&mut [0; 20]);
        output
    };
    hmac_key: HmacKey<hashes::Sha256>, 0 words, HmacKey::new(&[0xa5; 32]).unwrap();
    hmac: Hmac<hashes::Sha256>, 0 words, {
        let mut hmac = HmacKey::new(&[0xa5; 32]).unwrap().start();
        hmac.update(&[0x5a; 261]);
        hmac
    };
    prefix: PrefixJob<'static, hashes::Sha256>, 1 words, {
        let key = leak(HmacKey::new(&[0xa5; 32]).unwrap());
        PrefixJob::new(key, &[], &[], 0..1, 0)
    };
    cbc_hmac: CbcHmac<Aes<128>, hashes::Sha256>, 0 words,
        CbcHmac::new(MacOrder::MacThenEncrypt, &[0xa5; 16], &[0x5a; 32]).unwrap();
    records: AeadRecords<Aes128Gcm>, 0 words,
        AeadRecords::tls13(Aes128Gcm::new(&[0xa5; 16]).unwrap(), [0x5a; 12]);
    hkdf: Hkdf<hashes::Sha256>, 0 words, Hkdf::from_key(&[0xa5; 32]).unwrap();
    kmac128: Kmac128, 0 words, Kmac128::new(&[0xa5; 32], b"").unwrap();
    kmac256: Kmac256, 0 words, Kmac256::new(&[0xa5; 32], b"").unwrap();
    kt128: Kt128, 0 words, {
        let mut hash = Kt128::new().unwrap();
        hash.update(&[0x5a; 12_345]);
        hash
    };
    parallel_hash_128: ParallelHash128, 0 words, {
        let mut hash = ParallelHash128::new(NonZeroUsize::MIN.saturating_add(1000), b"").unwrap();
        hash.update(&[0x5a; 12_345]);
        hash
    };
    parallel_hash_256: ParallelHash256, 0 words, {
        let mut hash = ParallelHash256::new(NonZeroUsize::MIN.saturating_add(1000), b"").unwrap();
        hash.update(&[0x5a; 12_345]);
        hash
    };
    kt256: Kt256, 0 words, {
        let mut hash = Kt256::new().unwrap();
        hash.update(&[0x5a; 12_345]);
        hash
    };

    // What is on its way. The reference to the key stays, and for an opener that to its plaintext.
    ctr_stream: CtrStream<'static, AnyAes>, 1 words, {
        let mut stream = CtrStream::new(leak(Aes128::new(&[0xa5; 16]).unwrap()), CounterBits::Bits32, [0; 16]);
        stream.apply(&mut [0; 5]).unwrap();
        stream
    };
    cmac_stream: CmacStream<'static, AnyAes>, 1 words, {
        let mut stream = leak(Aes256Cmac::new(&[0xa5; 32]).unwrap()).stream();
        stream.update(&[0x5a; 61]);
        stream
    };
    gcm_sealer: Sealer<GcmStream<'static, AnyAes>>, 1 words, {
        let mut sealer = leak(Aes128Gcm::new(&[0xa5; 16]).unwrap()).sealer(&[0; 12]).unwrap();
        sealer.aad(&[1; 5]).unwrap();
        sealer.update(&mut [0; 45]).unwrap();
        sealer
    };
    gcm_opener: Opener<GcmStream<'static, AnyAes>>, 2 words, {
        let mut opener = leak(Aes256Gcm::new(&[0xa5; 32]).unwrap()).opener(&[0; 12]).unwrap();
        opener.update(&[0; 45]).unwrap();
        opener
    };
    ocb3_sealer: Sealer<Ocb3Stream<'static, AnyAes>>, 1 words, {
        let mut sealer = leak(Aes192Ocb3::new(&[0xa5; 24]).unwrap()).sealer(&[0; 12]).unwrap();
        sealer.aad(&[1; 16]).unwrap();
        sealer.update(&mut [0; 45]).unwrap();
        sealer
    };
    ccm_sealer: Sealer<CcmStream<'static, AnyAes>>, 1 words, {
        let mut sealer = leak(Aes128Ccm::new(&[0xa5; 16]).unwrap()).sealer(&[0; 12], 0, 45).unwrap();
        sealer.update(&mut [0; 45]).unwrap();
        sealer
    };
    ccm_opener: Opener<CcmStream<'static, AnyAes>>, 2 words, {
        let mut opener = leak(Aes256Ccm::new(&[0xa5; 32]).unwrap()).opener(&[0; 12], 0, 45).unwrap();
        opener.update(&[0; 45]).unwrap();
        opener
    };
    aegis_sealer: Sealer<AegisStream<128, 4>>, 0 words, {
        let mut sealer = Aegis128X4::new(&[0xa5; 16]).unwrap().sealer(&[0; 16]).unwrap();
        sealer.update(&mut [7; 45]).unwrap();
        sealer
    };
    aegis_opener: Opener<AegisStream<256, 1>>, 1 words, {
        let mut opener = Aegis256::new(&[0xa5; 32]).unwrap().opener(&[0; 32]).unwrap();
        opener.update(&[7; 45]).unwrap();
        opener
    };
    aegis_mac_stream: AegisMacStream<128, 2>, 0 words, {
        let mut stream = Aegis128X2::new(&[0xa5; 16]).unwrap().mac_stream(&[0; 16]).unwrap();
        stream.update(&[7; 45]).unwrap();
        stream
    };
}

/// Makes an object in place, looks, finishes its message, looks again: words before, and words left though
/// the object lives on.
fn traces_of_finished<T>(make: impl FnOnce() -> T, finish: impl FnOnce(&mut T)) -> (usize, usize) {
    let mut slot = Box::new(Some(make()));
    let before = look(&slot);
    finish(Option::as_mut(&mut slot).unwrap());
    let after = look(&slot);
    std::hint::black_box(&mut slot);
    let padding = 2 * (align_of::<T>() / 8); // as above
    (left(&before, &before), left(&before, &after).saturating_sub(padding))
}

/// A finished message is gone, not only a dropped one. What stays is counted in words: the reference to the
/// key, and of an opener that to where its plaintext was.
#[test]
fn finished_messages() {
    macro_rules! finished {
        ($($name:literal, $kept:literal words, $make:expr;)+) => {$(
            let (before, after) = traces_of_finished(
                || {
                    let mut stream = $make;
                    stream.update(&mut [7; 45]).unwrap();
                    stream
                },
                |stream| _ = stream.finish(&mut [0; 16]).map(|_| ()),
            );
            assert!(before >= 2, "{}: there was a secret to wipe: {before} words", $name);
            assert!(after <= $kept, "{}: {after} words left of {before}", $name);
        )+};
    }
    let (gcm, ocb3) = (Aes256Gcm::new(&[0xa5; 32]).unwrap(), Aes192Ocb3::new(&[0xa5; 24]).unwrap());
    let ccm = Aes128Ccm::new(&[0xa5; 16]).unwrap();
    let chacha = ChaCha20Poly1305::new(&[0xa5; 32]).unwrap();
    let (aegis, wide) =
        (Aegis256::new(&[0xa5; 32]).unwrap(), Aegis128X4::new(&[0xa5; 16]).unwrap());
    let (aegis, wide) = (aegis.with_tag_length(16).unwrap(), wide.with_tag_length(16).unwrap());
    finished! {
        "GCM sealer", 1 words, gcm.sealer(&[0; 12]).unwrap();
        "GCM opener", 2 words, gcm.opener(&[0; 12]).unwrap();
        "OCB3 sealer", 1 words, ocb3.sealer(&[0; 12]).unwrap();
        "OCB3 opener", 2 words, ocb3.opener(&[0; 12]).unwrap();
        "CCM sealer", 1 words, ccm.sealer(&[0; 12], 0, 45).unwrap();
        "CCM opener", 2 words, ccm.opener(&[0; 12], 0, 45).unwrap();
        "ChaCha20 sealer", 0 words, chacha.sealer(&[0; 12]).unwrap();
        "ChaCha20 opener", 1 words, chacha.opener(&[0; 12]).unwrap();
        "AEGIS sealer", 0 words, wide.sealer(&[0; 16]).unwrap();
        "AEGIS opener", 1 words, aegis.opener(&[0; 32]).unwrap();
        "AEGIS MAC", 0 words, wide.mac_stream(&[0; 16]).unwrap();
    }
    let cmac = Aes256Cmac::new(&[0xa5; 32]).unwrap();
    let (before, after) = traces_of_finished(
        || {
            let mut stream = cmac.stream();
            stream.update(&[0x5a; 61]);
            stream
        },
        |stream| _ = stream.finish(),
    );
    assert!(before >= 2 && after <= 1, "CMAC: {after} words left of {before}");
}

#[cfg(feature = "cipher")]
mod traits {
    use cipher::{InnerIvInit, StreamCipher};
    use lanelock::traits::Ctr;

    use super::*;

    #[test]
    fn ctr() {
        fn says_so<T: ZeroizeOnDrop>() {}
        says_so::<Ctr<Aes<256>, 32>>();
        let (before, after) = traces(|| {
            let mut ctr = Ctr::<Aes<256>, 32>::inner_iv_init(
                Aes256::new(&[0xa5; 32]).unwrap(),
                &[0; 16].into(),
            );
            ctr.apply_keystream(&mut [0; 5]);
            ctr
        });
        // The key is moved into the stream; on s390x a word of it stays where it was.
        let moved = usize::from(cfg!(target_arch = "s390x"));
        assert!(before >= 2 && after <= moved, "{before} words, {after} left");
    }
}

fn leak<T>(key: T) -> &'static T {
    Box::leak(Box::new(key))
}

/// Two different keys.
fn halves<const N: usize>() -> [u8; N] {
    core::array::from_fn(|i| if i < N / 2 { 0xa5 } else { 0x5a })
}

fn used(mut hash: Ghash) -> Ghash {
    hash.update(&[0x5a; 25]);
    hash
}

/// What the crates of the engine show one another and nobody else. Keys, powers and streams are made of
/// them, and are tested above.
const PARTS: &[&str] = &[
    "ChainWork",
    "CmacBlocks",
    "EncryptKey",
    "Factor",
    "Factors",
    "Fill",
    "Flight",
    "HashState",
    "InOutBlocks",
    "JobLength",
    "KernelId",
    "Length",
    "Powers",
    "ProductRun",
    "RunningHash",
    "RunningJob",
    "RunningMac",
    "RunningMessage",
    "Schedule",
    "Schedules",
    "Sum",
];

/// Types of the tests above that the list does not name: of the feature `cipher`.
const INSIDE: &[&str] = &["Ctr"];

/// Public types without a secret of their own: they refer to keys and to buffers of the caller. (The
/// checksums, which a macro makes, have no secret either.)
const PLAIN: &[&str] = &[
    "Aes",
    "Blake2",
    "Blake2b",
    "Blake2Of",
    "Blake2s",
    "CmacRef",
    "Completed",
    "CompletedMessage",
    "Compress",
    "ContentType",
    "CounterBits",
    "Error",
    "Extent",
    "HashCompleted",
    "HashJob",
    "Header",
    "HmacJob",
    "ImportError",
    "InOut",
    "Job",
    "Keccak",
    "KeyRef",
    "KeyUsage",
    "LaneKeys",
    "Levels",
    "MacCompleted",
    "MacJob",
    "MacOrder",
    "Message",
    "Operation",
    "Order",
    "OwnedHashJob",
    "OwnedJob",
    "OwnedMacJob",
    "OwnedMessage",
    "OwnKeys",
    "Pattern",
    "Pbkdf2Job",
    "Record",
    "SameKey",
    "Scheduler",
    "Sha1",
    "Sha1Blocks",
    "Sha2",
    "Sha224",
    "Sha3",
    "Sha384",
    "Shake256",
    "Sm3",
    "Sm3Blocks",
    "Sponge",
    "State",
    "TurboShake128",
    "TurboShake256",
    "Turns",
    "Version",
    "WordOf",
];

/// The types that the engine makes public: a new one is in the list above, or in `PLAIN`, or its name is
/// that of the generic type behind one of them.
#[test]
fn every_public_type_is_listed() {
    let mut names = Vec::new();
    let mut generic = Vec::new();
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<_> = ["core", "digest", "hash", "aead", "record"]
        .map(|name| crates.join(name).join("src"))
        .into();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                let line = line.trim_start();
                let kinds = ["pub struct ", "pub enum ", "pub type "];
                if let Some(rest) = kinds.iter().find_map(|kind| line.strip_prefix(kind)) {
                    let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap();
                    names.push(name.to_owned());
                    if let Some((_, alias)) = rest.split_once(" = ") {
                        let of = alias.split(|c: char| !c.is_alphanumeric()).next().unwrap();
                        generic.push((name.to_owned(), of.to_owned()));
                    }
                }
            }
        }
    }
    assert!(names.len() > 60, "only {} types found", names.len());
    // As in `Sealer<GcmStream<'static, AnyAes>>`.
    let listed = |name: &str| {
        let parts = SECRET.iter().flat_map(|of| of.split(|c: char| !c.is_alphanumeric()));
        INSIDE.contains(&name)
            || PARTS.contains(&name)
            || PLAIN.contains(&name)
            || parts.into_iter().any(|part| part == name)
    };
    let missing: Vec<_> = names
        .iter()
        .filter(|name| !listed(name))
        .filter(|name| {
            // The generic type behind listed names, or one of the names of `Ctr`.
            !generic
                .iter()
                .any(|(alias, of)| of == *name && listed(alias) || alias == *name && of == "Ctr")
        })
        .collect();
    assert!(missing.is_empty(), "not in a list of this file: {missing:?}");
    let gone: Vec<_> = PLAIN.iter().filter(|name| !names.iter().any(|own| own == *name)).collect();
    assert!(gone.is_empty(), "there is no such type: {gone:?}");
}

/// A failed opening leaves nothing where the plaintext would be.
#[test]
fn failed_openings() {
    let key = Aes256Gcm::new(&[7; 32]).unwrap();
    let mut slot = Box::new(Some([0xa5_u8; 600]));
    let data = Option::as_mut(&mut slot).unwrap();
    let mut tag = [0; 16];
    key.seal(&[1; 12], b"", data, &mut tag).unwrap();
    tag[3] ^= 1;
    assert!(key.open(&[1; 12], b"", data, &tag).is_err());
    assert_eq!(look(&slot).iter().filter(|byte| **byte != 0).count(), 1); // `Some`
}
