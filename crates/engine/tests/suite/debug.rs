//! `Debug` shows no byte of a text or a key: what a program logs is not secret.

use std::fmt::Debug;

use lanelock::{
    Aes128, Aes128Cmac, Aes128KeyWrap, Aes128Xts, Aes192, Aes256, ChaCha20, CounterBits, CtrStream,
    Pattern, Poly1305,
    aead::{
        Aead, Aegis128L, Aegis128X4, Aegis256, Aes128Ccm, Aes128Gcm, Aes128GcmSiv, Aes128Ocb3,
        ChaCha20Poly1305, XChaCha20Poly1305,
        batch::{Message, Operation, OwnedMessage},
    },
    hash::{Ghash, Polyval},
    lanes::{CmacRef, Job, KeyRef, MacJob, Order, OwnedJob, OwnedMacJob, Scheduler},
};

/// What the texts and keys here are made of. Read as ASCII it is "QZXJ".
const MARK: [u8; 4] = [0x51, 0x5a, 0x58, 0x4a];

/// `N` bytes of the mark, over and over.
fn marked<const N: usize>() -> [u8; N] {
    core::array::from_fn(|i| MARK[i % 4])
}

/// Every way in which the mark would be seen in a text from which all but letters and digits is gone.
fn forms() -> Vec<String> {
    let twice: [u8; 8] = marked();
    let mut forms = vec!["81908874".into(), "qzxj".into(), "515a584a".into()];
    forms.push("0x510x5a0x580x4a".into());
    for number in [u32::from_le_bytes(MARK), u32::from_be_bytes(MARK)] {
        forms.extend([format!("{number}"), format!("{number:x}")]);
    }
    for number in [u64::from_le_bytes(twice), u64::from_be_bytes(twice)] {
        forms.extend([format!("{number}"), format!("{number:x}")]);
    }
    forms
}

/// Whether a mark is seen in `text`.
fn betrays(text: &str) -> bool {
    let text: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let text = text.to_ascii_lowercase();
    forms().iter().any(|form| text.contains(form))
}

#[track_caller]
fn silent(value: &impl Debug) {
    for text in
        [format!("{value:?}"), format!("{value:#?}"), format!("{value:x?}"), format!("{value:#X?}")]
    {
        assert!(!betrays(&text), "{text}");
    }
}

/// The length is there, and no byte.
#[track_caller]
fn silent_about(value: &impl Debug, bytes: usize) {
    silent(value);
    let text = format!("{value:?}");
    assert!(text.contains(&format!("({bytes} bytes)")), "{text}");
}

/// The method sees what a derived `Debug` shows.
#[test]
fn bytes_are_seen() {
    let bytes: [u8; 16] = marked();
    for text in [format!("{bytes:?}"), format!("{bytes:#?}"), format!("{bytes:x?}")] {
        assert!(betrays(&text), "{text}");
    }
    assert!(betrays(&format!("{:#X?}", &bytes[..])));
    assert!(betrays(&format!("{:?}", std::str::from_utf8(&bytes).unwrap())));
    assert!(betrays(&format!("{:x}", u128::from_be_bytes(bytes))));
    assert!(!betrays("Job { data: (16 bytes) }"));
}

#[test]
fn keys() {
    silent(&Aes128::new(&marked()).unwrap());
    silent(&Aes192::new(&marked()).unwrap());
    silent(&Aes256::new(&marked()).unwrap());
    silent(&Aes128Cmac::new(&marked()).unwrap());
    silent(&Aes128KeyWrap::new(&marked()).unwrap());
    let mut pair: [u8; 32] = marked();
    pair[31] = 0;
    silent(&Aes128Xts::new(&pair).unwrap());
    silent(&Aes128Gcm::new(&marked()).unwrap());
    silent(&Aes128GcmSiv::new(&marked()).unwrap());
    silent(&Aes128Ccm::new(&marked()).unwrap());
    silent(&Aes128Ocb3::new(&marked()).unwrap());
    silent(&ChaCha20::new(&marked()).unwrap());
    silent(&Poly1305::new(&marked()).unwrap());
    silent(&ChaCha20Poly1305::new(&marked()).unwrap());
    silent(&XChaCha20Poly1305::new(&marked()).unwrap());
    silent(&Aegis128L::new(&marked()).unwrap());
    silent(&Aegis128X4::new(&marked()).unwrap());
    silent(&Aegis256::new(&marked()).unwrap());
    silent(&KeyRef::from(&Aes128::new(&marked()).unwrap()));
    silent(&CmacRef::from(&Aes128Cmac::new(&marked()).unwrap()));
}

#[test]
fn jobs() {
    let key = Aes128::new(&marked()).unwrap();
    let cmac = Aes128Cmac::new(&marked()).unwrap();
    silent_about(&Job::new(&key, [0; 16], Pattern::ALL, &mut marked::<100>()), 100);
    let mut job = MacJob::new(&cmac, &[0; 9]);
    job.mac = marked();
    silent_about(&job, 9);
    silent_about(&MacJob::new(&cmac, &marked::<100>()), 100);

    // Less than a block stays clear: it is still in the job when that is done.
    let mut scheduler = Scheduler::new(Order::Submitted);
    let data = marked::<15>().to_vec();
    let job = OwnedJob::new(&key, [0; 16], Pattern::ALL, data, "name");
    silent_about(&job, 15);
    let early = scheduler.submit(job).unwrap();
    silent(&scheduler);
    scheduler.flush().unwrap();
    silent(&scheduler);
    silent_about(&early.or_else(|| scheduler.completed()).unwrap(), 15);

    let mut scheduler = Scheduler::new(Order::Submitted);
    let job = OwnedMacJob::new(&cmac, marked::<100>(), 1);
    silent_about(&job, 100);
    let early = scheduler.submit(job).unwrap();
    silent(&scheduler);
    scheduler.flush().unwrap();
    silent_about(&early.or_else(|| scheduler.completed()).unwrap(), 100);
}

#[test]
fn messages() {
    let key = Aes128Ccm::new(&marked()).unwrap();
    let (nonce, aad) = (marked::<12>(), marked::<5>());
    let (mut data, mut tag) = (marked::<100>(), marked::<16>());
    silent_about(&Message::new(&key, &nonce, &aad, &mut data, &mut tag), 100);

    let sealed = key.seal_vec(&nonce, &aad, &marked::<100>()).unwrap();
    let message = OwnedMessage::new(&key, Operation::Open, nonce, aad, sealed, 1);
    let mut scheduler = Scheduler::new(Order::Finished);
    silent_about(&message, 116);
    let early = scheduler.submit(message).unwrap();
    silent(&scheduler);
    scheduler.flush().unwrap();
    let opened = early.or_else(|| scheduler.completed()).unwrap();
    assert_eq!(opened.data[..100], marked::<100>());
    silent_about(&opened, 116);
}

#[test]
fn streams() {
    let text: [u8; 100] = marked();
    let key = Aes128::new(&marked()).unwrap();
    let mut stream = CtrStream::new(&key, CounterBits::Bits64, marked());
    stream.apply(&mut [0; 5]).unwrap();
    silent(&stream);

    let cmac = Aes128Cmac::new(&marked()).unwrap();
    let mut stream = cmac.stream();
    stream.update(&text[..11]);
    silent(&stream);
    let (mut ghash, mut polyval) =
        (Ghash::new(&marked()).unwrap(), Polyval::new(&marked()).unwrap());
    ghash.update(&text[..11]);
    polyval.update(&text[..11]);
    silent(&ghash);
    silent(&polyval);

    macro_rules! piece_by_piece {
        ($($key:ident, $nonce:literal $(, $lengths:expr)*;)+) => {$(
            let key = $key::new(&marked()).unwrap();
            let nonce: [u8; $nonce] = marked();
            let sealed = key.seal_vec(&nonce, &text[..5], &text).unwrap();
            let mut sealer = key.sealer(&nonce $(, $lengths.0, $lengths.1)*).unwrap();
            sealer.aad(&text[..5]).unwrap();
            silent(&sealer);
            sealer.update(&mut text.clone()).unwrap();
            silent(&sealer);
            let mut opener = key.opener(&nonce $(, $lengths.0, $lengths.1)*).unwrap();
            opener.aad(&text[..5]).unwrap();
            opener.update(&sealed[..100]).unwrap();
            silent_about(&opener, 100);
            assert_eq!(opener.finish(&sealed[100..]).unwrap(), text);
        )+};
    }
    piece_by_piece! {
        Aes128Gcm, 12;
        Aes128Ocb3, 12;
        ChaCha20Poly1305, 12;
        XChaCha20Poly1305, 24;
        Aes128Ccm, 12, (5, 100);
        Aegis128L, 16;
        Aegis256, 32;
    }
    let key = Aegis128L::new(&marked()).unwrap();
    let mut stream = key.mac_stream(&marked::<16>()).unwrap();
    stream.update(&text[..11]).unwrap();
    silent(&stream);
}

#[cfg(feature = "cipher")]
#[test]
fn owned_counter_mode() {
    use cipher::{InnerIvInit, StreamCipher};
    let key = Aes128::new(&marked()).unwrap();
    let mut ctr = lanelock::traits::Aes128Ctr64BE::inner_iv_init(key, &marked::<16>().into());
    ctr.apply_keystream(&mut [0; 5]);
    silent(&ctr);
}
