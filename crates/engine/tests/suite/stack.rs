//! Secrets do not stay on the stack: round keys, hash keys, tags that a forger must not learn, plaintext that was
//! not authentic.
//!
//! A thread sets a key up, uses it and drops it, far down its stack, and then looks at all of that stack
//! through `/proc/self/mem`, without the compiler's knowledge.
//!
//! A secret is 16 adjacent bytes of an object. Beside a new key, below it on the stack, there must be no copy, and
//! none after use and drop: one wipe reaches the frames of both. Some texts stay while keys live on; their number
//! has a limit here. Only release builds are judged, since frames depend on the optimiser.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::unnecessary_box_returns,
    clippy::large_stack_arrays,
    reason = "tests; what is boxed is not on the stack, and what is large is meant to be"
)]

use std::{
    collections::HashSet,
    fs::File,
    hint::black_box,
    os::unix::fs::FileExt,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use crate::support::forms;
use lanelock::{
    Aes128, Aes128Cmac, Aes128KeyWrap, Aes128Xts, Aes192, Aes192Cmac, Aes256, Aes256Cmac,
    Aes256KeyWrap, Aes256Xts, CounterBits, Pattern,
    aead::{
        Aead, Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, Aes128Ccm,
        Aes128Gcm, Aes128GcmSiv, Aes128Ocb3, Aes192Ccm, Aes192Gcm, Aes192Ocb3, Aes256Ccm,
        Aes256Gcm, Aes256GcmSiv, Aes256Ocb3, ChaCha20Poly1305,
        batch::{self, Batch, Message},
    },
    hash::{Ghash, HashLevel, Polyval},
    lanes::{self, Job, MacJob, Order, OwnedJob, Scheduler},
};

/// Blocks of a secret, of 16 bytes each.
type Secrets = HashSet<[u8; 16]>;

/// The blocks of `bytes` that nobody finds by chance, at every multiple of eight bytes.
fn parts(bytes: &[u8]) -> impl Iterator<Item = [u8; 16]> {
    let at = (0..bytes.len().saturating_sub(15)).step_by(8);
    let blocks = at.filter_map(|at| bytes[at..].first_chunk().copied());
    blocks.filter(|block| block.iter().collect::<HashSet<_>>().len() >= 10)
}

/// The memory of `object`.
fn memory<T>(object: &T) -> Vec<u8> {
    read(core::ptr::from_ref(object).addr(), size_of::<T>())
}

/// The parts of all `keys`.
fn all_parts<T>(keys: &[T]) -> Secrets {
    keys.iter().flat_map(|key| parts(&memory(key)).collect::<Vec<_>>()).collect()
}

fn read(address: usize, bytes: usize) -> Vec<u8> {
    let mut memory = vec![0; bytes];
    let file = File::open("/proc/self/mem").unwrap();
    file.read_exact_at(&mut memory, address as u64).unwrap();
    memory
}

const STACK: usize = 1 << 20;

// How many blocks may stay while keys live on: parts of the texts of a batch, and what a forgery leaves. Everywhere else none may.
const TEXTS_OF_CHAINS: usize = 2;
const TAILS_GCM: usize = 4;
const TAILS_OCB3: usize = 3;
const FORGED_MAC: usize = 1;

/// Ends a test. Its limits hold for the frames of release builds on x86-64 and AArch64: where the compiler optimises less, or
/// a sanitizer keeps more in memory, frames are deeper than the wipes reach, and the test runs without a verdict.
fn verdict(good: bool, what: &str) {
    if cfg!(debug_assertions) {
        return lanelock_testkit::skip(
            "the limits are for the frames of release builds: tools/long stack",
        );
    }
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return lanelock_testkit::skip("the limits are for the frames of x86-64 and AArch64");
    }
    if std::env::var_os("LANELOCK_SANITIZER").is_some() {
        return lanelock_testkit::skip("the limits are not for the frames of a sanitizer");
    }
    assert!(good, "{what}: see above");
}

/// Leaves room on the stack, so that what looks at it later does not overwrite it, and calls `work`.
#[inline(never)]
fn far_down(work: impl FnOnce()) {
    let mut room = [0_u8; 16 << 10];
    black_box(&mut room);
    work();
    black_box(&mut room);
}

/// Zeroes the stack that is looked at: a thread may get that of an earlier one, and what it left.
#[inline(never)]
fn clear() {
    let mut room = [0_u8; STACK / 2 + (64 << 10)];
    black_box(&mut room);
}

/// The places in the stack, behind `work`, where there are parts of `secrets`: how far below this
/// thread's first frame.
fn remains(secrets: &Secrets, work: impl FnOnce() + Send) -> Vec<usize> {
    thread::scope(|scope| {
        let look = || {
            let here = 0_u8;
            let top = core::ptr::from_ref(&here).addr();
            clear();
            far_down(work);
            let stack = read(top - STACK / 2, STACK / 2);
            places(&stack, secrets)
        };
        thread::Builder::new().stack_size(STACK).spawn_scoped(scope, look).unwrap().join().unwrap()
    })
}

/// Where `stack` has parts of `secrets`: how far from its end.
fn places(stack: &[u8], secrets: &Secrets) -> Vec<usize> {
    // Few parts begin as one of a secret does: the others are not looked up.
    let begin = |part: &[u8; 16]| usize::from(u16::from_le_bytes([part[0], part[1]]));
    let mut begins = vec![false; 1 << 16];
    for part in secrets {
        begins[begin(part)] = true;
    }
    let found = |at: &usize| {
        let part = stack[*at..].first_chunk().unwrap();
        begins[begin(part)] && secrets.contains(part)
    };
    (0..stack.len() - 16).rev().filter(found).map(|at| stack.len() - at).collect()
}

/// Sets up, uses and drops a secret where no other frame of the test has a part in it.
#[inline(never)]
fn live<T>(make: &(dyn Fn() -> T + Sync), work: &(dyn Fn(&T) + Sync)) {
    let secret = make();
    work(&secret);
}

/// The places below a new key where there are parts of it while it lives: how far below it.
fn beside<T>(secrets: &Secrets, make: &(dyn Fn() -> T + Sync)) -> Vec<usize> {
    #[inline(never)]
    fn hold<T>(make: &dyn Fn() -> T, place: &AtomicUsize, seen: &AtomicBool) {
        let secret = make();
        place.store(core::ptr::from_ref(&secret).addr(), Ordering::Release);
        // Without a call, whose frames would overwrite what is below.
        while !seen.load(Ordering::Acquire) {
            core::hint::spin_loop();
        }
    }
    let (place, seen) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let work = || {
            clear();
            far_down(|| hold(make, &place, &seen));
        };
        thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).unwrap();
        while place.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        let stack = read(place.load(Ordering::Acquire) - STACK / 2, STACK / 2);
        seen.store(true, Ordering::Release);
        places(&stack, secrets)
    })
}

/// Looks for what stays of `T`: below it while it lives, and where it was behind use and drop.
fn check<T>(
    name: &str,
    more: &[&[u8]],
    make: impl Fn() -> T + Sync,
    work: impl Fn(&T) + Sync,
) -> bool {
    let object = Box::new(make());
    let mut secrets: Secrets = parts(&memory(&*object)).collect();
    for more in more {
        secrets.extend(parts(more));
    }
    let left = beside(&secrets, &make);
    let good = within(&format!("{name}, beside the key"), 0, &left);
    good & used(name, &secrets, make, work)
}

/// Looks for what stays of `secrets` behind set-up, use and drop of `T`.
fn used<T>(
    name: &str,
    secrets: &Secrets,
    make: impl Fn() -> T + Sync,
    work: impl Fn(&T) + Sync,
) -> bool {
    leaves(&format!("{name}, used"), 0, secrets, || live(&make, &work))
}

/// Whether there is no more left than `limit`; what there is, is shown.
fn within(name: &str, limit: usize, left: &[usize]) -> bool {
    let good = left.len() <= limit;
    if !left.is_empty() {
        let fault = if good { "" } else { " FAULT" };
        eprintln!("{name}: {} left {:?}{fault}", left.len(), &left[..left.len().min(8)]);
    }
    good
}

/// What `work` leaves of `secrets` while its keys live on: at most `limit` blocks.
fn leaves(name: &str, limit: usize, secrets: &Secrets, work: impl FnOnce() + Send) -> bool {
    assert!(!secrets.is_empty(), "{name}: nothing to look for");
    within(name, limit, &remains(secrets, work))
}

fn key<const N: usize>(seed: u8) -> Box<[u8; N]> {
    Box::new(core::array::from_fn(|i| (i as u8 ^ seed).wrapping_mul(167) ^ 0x5c))
}

/// Many bytes, and a last block of 13.
fn text() -> Vec<u8> {
    (0..2000 / 16 * 16 + 13).map(|i: u32| (i.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect()
}

/// The end of a text: what is padded with zeros to a whole block.
fn tail(text: &[u8]) -> Vec<u8> {
    let mut tail = text[text.len() / 16 * 16 - 16..].to_vec();
    tail.resize(32, 0);
    tail
}

#[test]
fn the_method_sees_what_stays() {
    let secret = key::<32>(1);
    let secrets = parts(&secret[..]).collect();
    let found = remains(&secrets, || {
        live(&|| *secret, &|copy| {
            black_box(copy);
        });
    });
    assert!(found.len() >= 3, "{found:?}");
}

#[test]
fn block_ciphers() {
    let mut good = true;
    for level in forms() {
        macro_rules! aes {
            ($($aes:ident $bytes:literal)+) => {$(
                let bytes = key::<$bytes>(3);
                good &= check(
                    &format!("{} {level}", stringify!($aes)),
                    &[],
                    || $aes::with_level(&bytes, level),
                    |key| {
                        let mut data = text();
                        data.truncate(1024);
                        key.ecb_encrypt(&mut data).unwrap();
                        key.ecb_decrypt(&mut data).unwrap();
                        let mut iv = Box::new([7; 16]);
                        key.cbc_encrypt(&mut iv, &mut data).unwrap();
                        key.cbc_decrypt(&mut iv, &mut data).unwrap();
                        key.ctr(CounterBits::Bits64, &mut iv, &mut data).unwrap();
                        key.encrypt_block(&mut iv);
                        key.decrypt_block(&mut iv);
                    },
                );
            )+};
        }
        aes!(Aes128 16 Aes192 24 Aes256 32);
        let (a, b) = (key::<32>(4), key::<64>(5));
        // A key that is taken out of its result is moved, and leaves a copy there: it stays inside.
        good &= check(
            &format!("Aes128Xts {level}"),
            &[],
            || Aes128Xts::with_level(&a, level),
            |key| key.as_ref().unwrap().encrypt_sectors(7, 512, &mut text()[..1024]).unwrap(),
        );
        good &= check(
            &format!("Aes256Xts {level}"),
            &[],
            || Aes256Xts::with_level(&b, level),
            |key| key.as_ref().unwrap().decrypt(&[7; 16], &mut text()).unwrap(),
        );
        let (a, b) = (key::<16>(6), key::<32>(7));
        let secret = text();
        good &= check(
            &format!("Aes128KeyWrap {level}"),
            &[&secret[..64]],
            || Aes128KeyWrap::with_level(&a, level),
            |key| {
                let mut wrapped = key.wrap(&secret[..64]).unwrap();
                key.unwrap(&wrapped).unwrap();
                wrapped[0] ^= 1;
                assert!(key.unwrap(&wrapped).is_err());
            },
        );
        good &= check(
            &format!("Aes256KeyWrap {level}"),
            &[&secret[..64]],
            || Aes256KeyWrap::with_level(&b, level),
            |key| drop(key.unwrap_padded(&key.wrap_padded(&secret[..63]).unwrap()).unwrap()),
        );
    }
    verdict(good, "secrets stay");
}

/// Constructors that choose the level return a result, whose key is made in its place too.
#[test]
fn constructors_at_the_best_level() {
    let mut good = true;
    macro_rules! new {
        ($($name:ident $bytes:literal)+) => {$(
            let bytes = key::<$bytes>(13);
            good &= check(stringify!($name), &[], || $name::new(&bytes), |_| {});
        )+};
    }
    new! {
        Aes128 16 Aes192 24 Aes256 32 Aes128Xts 32 Aes256Xts 64 Aes128Cmac 16 Aes256Cmac 32
        Aes128KeyWrap 16 Aes256KeyWrap 32 Ghash 16 Polyval 16
        Aes128Gcm 16 Aes256Gcm 32 Aes128GcmSiv 16 Aes256GcmSiv 32 Aes128Ccm 16 Aes256Ccm 32
        Aes128Ocb3 16 Aes256Ocb3 32 Aegis128L 16 Aegis128X4 16 Aegis256 32
    }
    verdict(good, "secrets stay");
}

#[test]
fn macs_and_hashes() {
    let mut good = true;
    for level in forms() {
        macro_rules! cmac {
            ($($cmac:ident $bytes:literal)+) => {$(
                let bytes = key::<$bytes>(8);
                let message = text();
                let right = $cmac::with_level(&bytes, level).mac(&message);
                good &= check(
                    &format!("{} {level}", stringify!($cmac)),
                    &[&right],
                    || $cmac::with_level(&bytes, level),
                    |key| {
                        let wrong = Box::new([0x11; 16]);
                        assert!(key.verify(&message, &wrong).is_err());
                        let mut stream = key.stream();
                        stream.update(&message);
                        assert!(stream.verify(&wrong).is_err());
                    },
                );
            )+};
        }
        cmac!(Aes128Cmac 16 Aes192Cmac 24 Aes256Cmac 32);
        let h = key::<16>(9);
        good &= check(
            &format!("Ghash {level}"),
            &[&*h],
            || Ghash::with_level(&h, level),
            |hash| {
                hash.clone().update(&text());
            },
        );
        good &= check(
            &format!("Polyval {level}"),
            &[&*h],
            || Polyval::with_level(&h, level),
            |hash| {
                hash.clone().update(&text());
            },
        );
    }
    verdict(good, "secrets stay");
}

/// What a forgery leaves while its key lives on: neither the right tag nor the text that was not authentic.
fn forged<A: Aead + Sync>(name: &str, key: &A, nonce: usize) -> bool {
    let mut good = true;
    for length in [text().len(), 500, 256, 100, 45, 16] {
        let text = text()[..length].to_vec();
        let nonce = self::key::<32>(99)[..nonce].to_vec();
        let sealed = key.seal_vec(&nonce, b"header", &text).unwrap();
        let (ciphertext, right) = sealed.split_at(text.len());
        let secrets: Secrets = parts(right).chain(parts(&tail(&text))).collect();
        let (data, mut tag) = (ciphertext.to_vec(), right.to_vec());
        tag[3] ^= 1;
        let name = format!("{name}, forged, {length} bytes");
        good &= leaves(&name, 0, &secrets, || {
            let mut data = data;
            assert!(key.open(&nonce, b"header", &mut data, &tag).is_err());
            assert!(data.iter().all(|byte| *byte == 0));
        });
    }
    good
}

#[test]
fn forged_chacha20_poly1305() {
    let mut good = true;
    for level in HashLevel::available() {
        let (name, key) = (format!("ChaCha20Poly1305 {level}"), key::<32>(10));
        good &= forged(&name, &*Box::new(ChaCha20Poly1305::with_level(&key, level)), 12);
    }
    verdict(good, "secrets stay");
}

/// What a forged MAC leaves while its key lives on: not the right one.
#[test]
fn forged_macs() {
    let mut good = true;
    let message = text();
    for level in forms() {
        let wrong = Box::new([0x11; 32]);
        let short: &[u8; 16] = wrong.first_chunk().unwrap();
        let cmac = Box::new(Aes256Cmac::with_level(&key(1), level));
        let secrets = parts(&cmac.mac(&message)).collect();
        good &= leaves(&format!("Aes256Cmac {level}"), FORGED_MAC, &secrets, || {
            assert!(cmac.verify(&message, short).is_err());
        });
        good &= leaves(&format!("Aes256Cmac stream {level}"), FORGED_MAC, &secrets, || {
            let mut stream = cmac.stream();
            stream.update(&message);
            assert!(stream.verify(short).is_err());
        });
        macro_rules! aegis {
            ($($aegis:ident $bytes:literal)+) => {$(
                let (bytes, nonce) = (key::<$bytes>(2), key::<$bytes>(3));
                let aegis = $aegis::with_level(&bytes, level).with_tag_length(32);
                let aegis = Box::new(aegis.unwrap());
                let mut right = vec![0; 32];
                aegis.mac(&nonce[..], &message, &mut right).unwrap();
                let secrets = parts(&right).collect();
                let name = format!("{} MAC {level}", stringify!($aegis));
                good &= leaves(&name, FORGED_MAC, &secrets, || {
                    assert!(aegis.verify_mac(&nonce[..], &message, &wrong[..]).is_err());
                });
                good &= leaves(&format!("{name}, stream"), FORGED_MAC, &secrets, || {
                    let mut stream = aegis.mac_stream(&nonce[..]).unwrap();
                    stream.update(&message).unwrap();
                    assert!(stream.verify(&wrong[..]).is_err());
                });
            )+};
        }
        aegis!(Aegis128L 16 Aegis128X4 16 Aegis256 32 Aegis256X2 32);
    }
    verdict(good, "tags stay");
}

/// A good message, one with a wrong tag whose right one must not stay, and one in pieces.
fn aead<A: Aead>(
    name: &str,
    nonce: usize,
    make: impl Fn() -> A + Sync,
    more: &[&[u8]],
    pieces: impl Fn(&A, &[u8], &[u8], &[u8]) + Sync,
) -> bool {
    let mut good = true;
    for length in [text().len(), 45] {
        let text = text()[..length].to_vec();
        let nonce = key::<32>(99)[..nonce].to_vec();
        let sealed = make().seal_vec(&nonce, b"header", &text).unwrap();
        let (ciphertext, right) = sealed.split_at(text.len());
        let tail = tail(&text);
        let mut secrets = vec![right, &tail];
        secrets.extend(more);
        good &= check(&format!("{name}, {length} bytes"), &secrets, &make, |key| {
            let mut data = text.clone();
            let mut tag = right.to_vec();
            key.seal(&nonce, b"header", &mut data, &mut tag).unwrap();
            key.open(&nonce, b"header", &mut data, &tag).unwrap();
            data.copy_from_slice(ciphertext);
            tag[3] ^= 1;
            assert!(key.open(&nonce, b"header", &mut data, &tag).is_err());
            assert!(data.iter().all(|byte| *byte == 0));
            pieces(key, &nonce, ciphertext, &tag);
        });
    }
    good
}

macro_rules! in_pieces {
    () => {
        |key, nonce, ciphertext, tag| {
            let mut opener = key.opener(nonce).unwrap();
            opener.aad(b"header").unwrap();
            opener.update(ciphertext).unwrap();
            assert!(opener.finish(tag).is_err());
        }
    };
}

#[test]
fn aeads() {
    let mut good = true;
    for level in forms() {
        macro_rules! aead {
            ($($aead:ident $bytes:literal $nonce:literal $pieces:expr;)+) => {$(
                let bytes = key::<$bytes>(10);
                let name = format!("{} {level}", stringify!($aead));
                good &= aead(&name, $nonce, || $aead::with_level(&bytes, level), &[], $pieces);
                good &= forged(&name, &*Box::new($aead::with_level(&bytes, level)), $nonce);
            )+};
        }
        aead! {
            Aes128Gcm 16 12 in_pieces!();
            Aes192Gcm 24 12 in_pieces!();
            Aes256Gcm 32 12 in_pieces!();
            Aes128GcmSiv 16 12 |_, _, _, _| {};
            Aes256GcmSiv 32 12 |_, _, _, _| {};
            Aes128Ccm 16 12 |_, _, _, _| {};
            Aes192Ccm 24 12 |_, _, _, _| {};
            Aes256Ccm 32 12 |key, nonce, ciphertext, tag| {
                let mut opener = key.opener(nonce, 6, ciphertext.len() as u64).unwrap();
                opener.aad(b"header").unwrap();
                opener.update(ciphertext).unwrap();
                assert!(opener.finish(tag).is_err());
            };
            Aes128Ocb3 16 12 in_pieces!();
            Aes192Ocb3 24 12 in_pieces!();
            Aes256Ocb3 32 12 in_pieces!();
            Aegis128L 16 16 in_pieces!();
            Aegis128X2 16 16 in_pieces!();
            Aegis128X4 16 16 in_pieces!();
            Aegis256 32 32 in_pieces!();
            Aegis256X2 32 32 in_pieces!();
            Aegis256X4 32 32 in_pieces!();
        }
    }
    verdict(good, "secrets stay");
}

/// Texts whose last block is a part: short ones, which share vectors, and of CCM those that are long enough for lanes.
const SHORT: [usize; 2] = [29, 45];
const IN_LANES: [usize; 2] = [1501, 1517];

/// Two keys and messages of one shape, so that they share vectors; one of them is forged.
fn batched<A: Batch + Sync>(
    name: &str,
    lengths: [usize; 2],
    make: impl Fn(u8) -> A + Sync,
) -> bool {
    let mut good = true;
    for length in lengths {
        let text = text()[..length].to_vec();
        let nonce = text[..12].to_vec();
        let sealed = make(1).seal_vec(&nonce, b"header", &text).unwrap();
        let (ciphertext, right) = sealed.split_at(text.len());
        let tail = tail(&text);
        let mut secrets: Secrets = parts(right).collect();
        // What lanes leave of texts is counted by `tails_of_plaintext`.
        if lengths == SHORT {
            secrets.extend(parts(&tail));
        }
        secrets.extend(all_parts(&[make(1), make(2)]));
        let name = format!("{name} batch, {length} bytes");
        good &= used(
            &name,
            &secrets,
            // Each is made in its place there.
            || [make(1), make(2)],
            |keys| {
                let mut texts: Vec<_> = (0..40).map(|_| text.clone()).collect();
                let mut tags = vec![vec![0; right.len()]; 40];
                let mut messages: Vec<_> = texts
                    .iter_mut()
                    .zip(&mut tags)
                    .enumerate()
                    .map(|(i, (text, tag))| {
                        Message::new(&keys[i / 3 % 2], &nonce, b"header", text, tag)
                    })
                    .collect();
                batch::seal(&mut messages).unwrap();
                batch::open(&mut messages).unwrap();
                messages[0].data.copy_from_slice(ciphertext);
                messages[0].tag[5] ^= 2;
                assert!(batch::open(&mut messages).is_err());
            },
        );
    }
    good
}

#[test]
fn batches() {
    let mut good = true;
    for level in forms() {
        let gcm = |i| Aes128Gcm::with_level(&key(i), level);
        let gcm_siv = |i| Aes256GcmSiv::with_level(&key(i), level);
        let ccm = |i| Aes128Ccm::with_level(&key(i), level);
        let ocb3 = |i| Aes192Ocb3::with_level(&key(i), level);
        good &= batched(&format!("Gcm {level}"), SHORT, gcm);
        good &= batched(&format!("GcmSiv {level}"), SHORT, gcm_siv);
        good &= batched(&format!("Ccm {level}"), IN_LANES, ccm);
        good &= batched(&format!("Ocb3 {level}"), SHORT, ocb3);
    }
    verdict(good, "secrets stay");
}

#[test]
fn lanes_with_a_key_each() {
    let mut good = true;
    for level in forms() {
        // An array, since each key is made in its place there.
        let aes = |i: u8| Aes128::with_level(&key(20 + i), level);
        let make = || [aes(0), aes(1), aes(2), aes(3), aes(4)];
        let secrets = all_parts(&make());
        good &= used(&format!("lanes {level}"), &secrets, make, |keys| {
            let mut texts: Vec<_> = (0..40).map(|_| text()[..1600].to_vec()).collect();
            let mut jobs: Vec<_> = texts
                .iter_mut()
                .zip(keys.iter().cycle())
                .map(|(text, key)| Job::new(key, [0; 16], Pattern::ALL, text))
                .collect();
            lanes::encrypt(&mut jobs);
        });
        let cmac = |i: u8| Aes256Cmac::with_level(&key(i), level);
        let make = || [cmac(0), cmac(1), cmac(2), cmac(3), cmac(4)];
        let secrets = all_parts(&make());
        good &= used(&format!("MAC lanes {level}"), &secrets, make, |keys| {
            let text = text();
            let mut jobs: Vec<_> = (0..40)
                .zip(keys.iter().cycle())
                .map(|(_, key)| MacJob::new(key, &text[..320]))
                .collect();
            lanes::mac(&mut jobs);
        });
    }
    verdict(good, "secrets stay");
}

/// Lanes with keys of their own have all their round keys in one table, which must not stay.
#[test]
fn key_tables() {
    let mut good = true;
    for level in forms() {
        let keys: Vec<_> = (0..5).map(|i| Aes128::with_level(&key(20 + i), level)).collect();
        let secrets = all_parts(&keys);
        good &= leaves(&format!("key table, {level}"), 0, &secrets, || {
            let mut texts: Vec<_> = (0..40).map(|_| text()[..1600].to_vec()).collect();
            let mut jobs: Vec<_> = texts
                .iter_mut()
                .zip(keys.iter().cycle())
                .map(|(text, key)| Job::new(key, [0; 16], Pattern::ALL, text))
                .collect();
            lanes::encrypt(&mut jobs);
        });
    }
    verdict(good, "round keys stay");
}

/// The last texts of chains are in the lanes when they end: of whole squares, and of rows alone. Single blocks go by the
/// kernel of ECB, which leaves some in its frame.
#[test]
fn texts_of_chains() {
    let mut good = true;
    for level in forms() {
        let key = Aes128::with_level(&key(1), level);
        let cmac = Aes128Cmac::with_level(&self::key(2), level);
        for length in [96, 512] {
            let texts: Vec<_> =
                (0..40_u8).map(|i| self::key::<512>(i)[..length].to_vec()).collect();
            let secrets: Secrets =
                texts.iter().flat_map(|text| parts(&text[length - 64..])).collect();
            let mut check = |name, work: &(dyn Fn(Vec<Vec<u8>>) + Sync)| {
                let (name, texts) = (format!("{name} of {length} bytes, {level}"), texts.clone());
                good &= leaves(&name, TEXTS_OF_CHAINS, &secrets, || work(texts));
            };
            for (name, pattern) in [("CBC", Pattern::ALL), ("CBCS", Pattern::new(1, 9))] {
                check(name, &|mut texts| {
                    let jobs = texts.iter_mut().map(|text| Job::new(&key, [0; 16], pattern, text));
                    lanes::encrypt(&mut jobs.collect::<Vec<_>>());
                });
            }
            check("CMAC", &|texts| {
                lanes::mac(
                    &mut texts.iter().map(|text| MacJob::new(&cmac, text)).collect::<Vec<_>>(),
                );
            });
            check("scheduler", &|texts| {
                let mut scheduler = Scheduler::new(Order::Finished);
                for text in texts {
                    let job = OwnedJob::new(&key, [0; 16], Pattern::ALL, text, ());
                    drop(scheduler.submit(job).unwrap());
                }
                scheduler.flush().unwrap();
            });
        }
    }
    verdict(good, "texts stay");
}

/// Blocks that are not whole are padded, and waves are copies of texts: neither must stay.
#[test]
fn tails_of_plaintext() {
    fn tails<A: Batch + Sync>(
        name: &str,
        limit: usize,
        lengths: [usize; 2],
        make: impl Fn(u8) -> A,
    ) -> bool {
        let mut good = true;
        for length in lengths {
            let texts: Vec<_> =
                (0..40_u8).map(|i| key::<2000>(i.wrapping_mul(5))[..length].to_vec()).collect();
            let secrets = texts.iter().flat_map(|text| parts(&tail(text)).collect::<Vec<_>>());
            let secrets = secrets.collect();
            let nonce = key::<12>(99);
            let keys = [make(1), make(2)];
            for (of, keys) in [("one key", &keys[..1]), ("two keys", &keys[..])] {
                let name = format!("{name} batch of {length} bytes, {of}");
                let (mut data, mut tags) = (texts.clone(), vec![[0; 16]; 40]);
                good &= leaves(&name, limit, &secrets, || {
                    let mut messages: Vec<_> = data
                        .iter_mut()
                        .zip(&mut tags)
                        .zip(keys.iter().cycle())
                        .map(|((text, tag), key)| {
                            Message::new(key, &nonce[..], b"header", text, tag)
                        })
                        .collect();
                    batch::seal(&mut messages).unwrap();
                    batch::open(&mut messages).unwrap();
                });
                assert_eq!(data, texts);
            }
        }
        good
    }
    let mut good = true;
    for level in forms() {
        let gcm = |i| Aes128Gcm::with_level(&key(i), level);
        let gcm_siv = |i| Aes256GcmSiv::with_level(&key(i), level);
        let ccm = |i| Aes128Ccm::with_level(&key(i), level);
        let ocb3 = |i| Aes128Ocb3::with_level(&key(i), level);
        good &= tails(&format!("Gcm {level}"), TAILS_GCM, SHORT, gcm);
        good &= tails(&format!("GcmSiv {level}"), 0, SHORT, gcm_siv);
        good &= tails(&format!("Ccm {level}"), 0, IN_LANES, ccm);
        good &= tails(&format!("Ocb3 {level}"), TAILS_OCB3, SHORT, ocb3);
    }
    verdict(good, "plaintext stays");
}
