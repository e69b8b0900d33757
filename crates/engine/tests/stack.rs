//! What is secret does not stay on the stack: round keys, hash keys, tags that a forger must not learn,
//! plaintext that was not authentic.
//!
//! A thread sets a key up, uses it and drops it, far down its stack, and then looks at all of that stack
//! through `/proc/self/mem`, behind the compiler's back.
//!
//! What is held to a limit is the set-up of AES keys. The other tests report how many parts of secrets stay
//! (`cargo test --test stack -- --nocapture`): tables that a constructor moves, and registers that bulk work
//! puts on the stack, further down than is wiped.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::unnecessary_box_returns,
    reason = "tests; what is boxed is not on the stack"
)]

use std::{collections::HashSet, fs::File, hint::black_box, os::unix::fs::FileExt, thread};

use lanelock::{
    Aes128, Aes128Cmac, Aes128KeyWrap, Aes128Xts, Aes192, Aes192Cmac, Aes256, Aes256Cmac,
    Aes256KeyWrap, Aes256Xts, AesLevel, CounterBits, Pattern,
    aead::{
        Aead, Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, Aes128Ccm,
        Aes128Gcm, Aes128GcmSiv, Aes128Ocb3, Aes192Ccm, Aes192Gcm, Aes192Ocb3, Aes256Ccm,
        Aes256Gcm, Aes256GcmSiv, Aes256Ocb3,
        batch::{self, Batch, Message},
    },
    hash::{Ghash, Polyval},
    lanes::{self, Job, MacJob},
};

/// Parts of a secret, of eight bytes each.
type Secrets = HashSet<[u8; 8]>;

/// The parts of `bytes` that nobody finds by chance.
fn parts(bytes: &[u8]) -> impl Iterator<Item = [u8; 8]> {
    bytes.as_chunks::<8>().0.iter().copied().filter(|part| {
        part.iter().collect::<HashSet<_>>().len() >= 6 && part.iter().all(|byte| *byte != 0)
    })
}

/// The memory of `object`.
fn memory<T>(object: &T) -> Vec<u8> {
    read(core::ptr::from_ref(object).addr(), size_of::<T>())
}

fn read(address: usize, bytes: usize) -> Vec<u8> {
    let mut memory = vec![0; bytes];
    let file = File::open("/proc/self/mem").unwrap();
    file.read_exact_at(&mut memory, address as u64).unwrap();
    memory
}

const STACK: usize = 1 << 20;

/// Leaves room on the stack, so that what looks at it later does not overwrite it, and calls `work`.
#[inline(never)]
fn far_down(work: impl FnOnce()) {
    let mut room = [0_u8; 16 << 10];
    black_box(&mut room);
    work();
    black_box(&mut room);
}

/// The places in the stack, behind `work`, where there are parts of `secrets`: how far below this
/// thread's first frame.
fn remains(secrets: &Secrets, work: impl FnOnce() + Send) -> Vec<usize> {
    thread::scope(|scope| {
        let look = || {
            let here = 0_u8;
            let top = core::ptr::from_ref(&here).addr();
            far_down(work);
            let stack = read(top - STACK / 2, STACK / 2);
            let found = |at: &usize| {
                let part = stack[*at..].first_chunk().unwrap();
                secrets.contains(part)
            };
            (0..stack.len() - 8).rev().filter(found).map(|at| stack.len() - at).collect()
        };
        thread::Builder::new().stack_size(STACK).spawn_scoped(scope, look).unwrap().join().unwrap()
    })
}

/// Sets up, uses and drops a secret where no other frame of the test has a part in it.
#[inline(never)]
fn live<T>(make: &(dyn Fn() -> T + Sync), work: &(dyn Fn(&T) + Sync)) {
    let secret = make();
    work(&secret);
}

/// Looks for what stays of `T`, and of `more` secrets. Returns how many parts stay after set-up.
fn check<T>(
    name: &str,
    more: &[&[u8]],
    make: impl Fn() -> T + Sync,
    work: impl Fn(&T) + Sync,
) -> usize {
    let object = Box::new(make());
    let mut secrets: Secrets = parts(&memory(&*object)).collect();
    for more in more {
        secrets.extend(parts(more));
    }
    assert!(!secrets.is_empty(), "{name}: nothing to look for");
    let set_up = remains(&secrets, || live(&make, &|_| {})).len();
    let used = remains(&secrets, || live(&make, &work));
    if set_up + used.len() > 0 {
        eprintln!(
            "{name}: {set_up} after set-up, {} after use, {:?}",
            used.len(),
            &used[..used.len().min(12)]
        );
    }
    set_up
}

fn key<const N: usize>(seed: u8) -> Box<[u8; N]> {
    Box::new(core::array::from_fn(|i| (i as u8 ^ seed).wrapping_mul(167) ^ 0x5c))
}

/// Many bytes, and a last block of 13.
fn text() -> Vec<u8> {
    (0..2000 / 16 * 16 + 13).map(|i: u32| (i.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect()
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
    assert!(found.len() >= 4, "{found:?}");
}

#[test]
fn block_ciphers() {
    let mut left = 0;
    for level in AesLevel::available() {
        macro_rules! aes {
            ($($aes:ident $bytes:literal)+) => {$(
                let bytes = key::<$bytes>(3);
                left += check(
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
        let before = left;
        aes!(Aes128 16 Aes192 24 Aes256 32);
        // Of 22 to 60 parts in each, which the round keys of both directions have.
        let parts = left - before;
        assert!(parts <= 40, "{level}: {parts} parts of AES keys stay behind their set-up");
        let (a, b) = (key::<32>(4), key::<64>(5));
        left += check(
            &format!("Aes128Xts {level}"),
            &[],
            || Aes128Xts::with_level(&a, level).unwrap(),
            |key| key.encrypt_sectors(7, 512, &mut text()[..1024]).unwrap(),
        );
        left += check(
            &format!("Aes256Xts {level}"),
            &[],
            || Aes256Xts::with_level(&b, level).unwrap(),
            |key| key.decrypt(&[7; 16], &mut text()).unwrap(),
        );
        let (a, b) = (key::<16>(6), key::<32>(7));
        let secret = text();
        left += check(
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
        left += check(
            &format!("Aes256KeyWrap {level}"),
            &[&secret[..64]],
            || Aes256KeyWrap::with_level(&b, level),
            |key| drop(key.unwrap_padded(&key.wrap_padded(&secret[..63]).unwrap()).unwrap()),
        );
    }
    eprintln!("{left} parts after set-up in all");
}

#[test]
fn macs_and_hashes() {
    let mut left = 0;
    for level in AesLevel::available() {
        macro_rules! cmac {
            ($($cmac:ident $bytes:literal)+) => {$(
                let bytes = key::<$bytes>(8);
                let message = text();
                let right = $cmac::with_level(&bytes, level).mac(&message);
                left += check(
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
        left += check(
            &format!("Ghash {level}"),
            &[&*h],
            || Ghash::with_level(&h, level),
            |hash| {
                hash.clone().update(&text());
            },
        );
        left += check(
            &format!("Polyval {level}"),
            &[&*h],
            || Polyval::with_level(&h, level),
            |hash| {
                hash.clone().update(&text());
            },
        );
    }
    eprintln!("{left} parts after set-up in all");
}

/// A good message, one with a wrong tag whose right one must not stay, and one in pieces.
fn aead<A: Aead>(
    name: &str,
    nonce: usize,
    make: impl Fn() -> A + Sync,
    more: &[&[u8]],
    pieces: impl Fn(&A, &[u8], &[u8], &[u8]) + Sync,
) -> usize {
    let mut left = 0;
    for length in [text().len(), 45] {
        let text = text()[..length].to_vec();
        let nonce = text[100 % length..][..nonce].to_vec();
        let sealed = make().seal_vec(&nonce, b"header", &text).unwrap();
        let (ciphertext, right) = sealed.split_at(text.len());
        // The end of the text is what goes through buffers.
        let mut secrets = vec![right, &text[length - 13..], &text[length - 21..]];
        secrets.extend(more);
        left += check(&format!("{name}, {length} bytes"), &secrets, &make, |key| {
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
    left
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
    let mut left = 0;
    for level in AesLevel::available() {
        macro_rules! aead {
            ($($aead:ident $bytes:literal $nonce:literal $pieces:expr;)+) => {$(
                let bytes = key::<$bytes>(10);
                let name = format!("{} {level}", stringify!($aead));
                left += aead(&name, $nonce, || $aead::with_level(&bytes, level), &[], $pieces);
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
    eprintln!("{left} parts after set-up in all");
}

/// Two keys and messages of one shape, so that they share vectors; one of them is forged.
fn batched<A: Batch + Sync>(name: &str, make: impl Fn(u8) -> A + Sync) -> usize {
    let mut left = 0;
    for length in [29, 45] {
        let text = text()[..length].to_vec();
        let nonce = text[..12].to_vec();
        let sealed = make(1).seal_vec(&nonce, b"header", &text).unwrap();
        let (ciphertext, right) = sealed.split_at(text.len());
        let secrets = [right, &text[length - 13..], &text[length - 21..]];
        let name = format!("{name} batch, {length} bytes");
        left += check(
            &name,
            &secrets,
            || Box::new([make(1), make(2)]),
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
    left
}

#[test]
fn batches() {
    let mut left = 0;
    for level in AesLevel::available() {
        left += batched(&format!("Gcm {level}"), |i| Aes128Gcm::with_level(&key(i), level));
        left += batched(&format!("GcmSiv {level}"), |i| Aes256GcmSiv::with_level(&key(i), level));
        left += batched(&format!("Ccm {level}"), |i| Aes128Ccm::with_level(&key(i), level));
        left += batched(&format!("Ocb3 {level}"), |i| Aes192Ocb3::with_level(&key(i), level));
    }
    eprintln!("{left} parts after set-up in all");
}

#[test]
fn lanes_with_a_key_each() {
    let mut left = 0;
    for level in AesLevel::available() {
        let make = || (0..5).map(|i| Aes128::with_level(&key(20 + i), level)).collect::<Vec<_>>();
        let secrets: Vec<_> = make().iter().map(memory).collect();
        let secrets: Vec<_> = secrets.iter().map(Vec::as_slice).collect();
        left += check(
            &format!("lanes {level}"),
            &secrets,
            || Box::new(make()),
            |keys| {
                let mut texts: Vec<_> = (0..40).map(|_| text()[..320].to_vec()).collect();
                let mut jobs: Vec<_> = texts
                    .iter_mut()
                    .zip(keys.iter().cycle())
                    .map(|(text, key)| Job::new(key, [0; 16], Pattern::ALL, text))
                    .collect();
                lanes::encrypt(&mut jobs);
            },
        );
        let make = || (0..5).map(|i| Aes256Cmac::with_level(&key(i), level)).collect::<Vec<_>>();
        let secrets: Vec<_> = make().iter().map(memory).collect();
        let secrets: Vec<_> = secrets.iter().map(Vec::as_slice).collect();
        left += check(
            &format!("MAC lanes {level}"),
            &secrets,
            || Box::new(make()),
            |keys| {
                let text = text();
                let mut jobs: Vec<_> = (0..40)
                    .zip(keys.iter().cycle())
                    .map(|(_, key)| MacJob::new(key, &text[..320]))
                    .collect();
                lanes::mac(&mut jobs);
            },
        );
    }
    eprintln!("{left} parts after set-up in all");
}
