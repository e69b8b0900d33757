//! Keys and intermediate secrets are gone when their object is dropped, by looking at the memory.
//!
//! A process can read its own memory through `/proc/self/mem`, behind the compiler's back: so nothing
//! here makes the compiler keep a write that it would leave out otherwise.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::{fs::File, os::unix::fs::FileExt};

use lanelock::{
    Aes128, Aes192, Aes256, Aes256KeyWrap, CounterBits, CtrStream,
    aead::{Aead, Aegis128L, Aegis128X4, Aegis256, Aes128Gcm, Aes128Ocb3, Aes256Gcm, Aes256GcmSiv},
    hash::{Ghash, Polyval},
};

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
#[inline(never)]
fn traces<T>(make: impl FnOnce() -> T) -> (usize, usize) {
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

macro_rules! wiped {
    ($($name:ident: $make:expr;)+) => {$(
        #[test]
        fn $name() {
            let (before, after) = traces(|| $make);
            assert!(before >= 2, "there was a secret to wipe: {before} words");
            assert_eq!(after, 0, "words left of {before}");
        }
    )+};
}

wiped! {
    aes128: Aes128::new(&[0xa5; 16]).unwrap();
    aes192: Aes192::new(&[0xa5; 24]).unwrap();
    aes256: Aes256::new(&[0xa5; 32]).unwrap();
    gcm128: Aes128Gcm::new(&[0xa5; 16]).unwrap();
    gcm256: Aes256Gcm::new(&[0xa5; 32]).unwrap();
    gcm_siv: Aes256GcmSiv::new(&[0xa5; 32]).unwrap();
    ocb3: Aes128Ocb3::new(&[0xa5; 16]).unwrap();
    key_wrap: Aes256KeyWrap::new(&[0xa5; 32]).unwrap();
    ghash: used(Ghash::new(&[0xa5; 16]).unwrap());
    polyval: Polyval::new(&[0xa5; 16]).unwrap();
    aegis_128l: Aegis128L::new(&[0xa5; 16]).unwrap();
    aegis_128x4: Aegis128X4::new(&[0xa5; 16]).unwrap();
    aegis_256: Aegis256::new(&[0xa5; 32]).unwrap();
}

fn used(mut hash: Ghash) -> Ghash {
    hash.update(&[0x5a; 25]);
    hash
}

/// The key stream of a block that is begun, and the mask of a tag.
#[test]
fn streams() {
    let key: &'static Aes128 = Box::leak(Box::new(Aes128::new(&[0xa5; 16]).unwrap()));
    let (before, after) = traces(|| {
        let mut stream = CtrStream::new(key, CounterBits::Bits32, [0; 16]);
        stream.apply(&mut [0; 5]).unwrap();
        stream
    });
    assert!(before >= 2 && after <= 1, "{before} words, {after} left"); // the reference stays
    let key: &'static Aes128Gcm = Box::leak(Box::new(Aes128Gcm::new(&[0xa5; 16]).unwrap()));
    let (before, after) = traces(|| {
        let mut sealer = key.sealer(&[0; 12]).unwrap();
        sealer.update(&mut [0; 5]).unwrap();
        sealer
    });
    assert!(before >= 4 && after <= 1, "{before} words, {after} left");
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
