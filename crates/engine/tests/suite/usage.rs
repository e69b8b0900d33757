//! A key with a usage attached seals up to the limit and no further, alone and in batches.

use lanelock::{
    Error, KeyUsage,
    aead::{
        Aead, Aegis128L, Aes128Ccm, Aes128Gcm, Aes128GcmSiv, Aes128Ocb3, ChaCha20Poly1305,
        batch::{self, Batch, Message, Operation, OwnedMessage},
    },
    lanes::{Order, Scheduler},
};

fn stops_at_the_limit<A: Aead + Clone>(plain: &A, nonce: usize) {
    let key = plain.clone().with_usage(KeyUsage::with_limit(3));
    let (tag_length, text) = (key.tag_length(), *b"some text of a message");
    assert_eq!(tag_length, plain.tag_length());
    let nonces: Vec<_> = (1..=4).map(|n| vec![n; nonce]).collect();
    let mut sealed = Vec::new();
    for nonce in &nonces[..3] {
        sealed.push(key.seal_vec(nonce, b"aad", &text).unwrap());
        assert_eq!(sealed.last(), plain.seal_vec(nonce, b"aad", &text).as_ref().ok());
    }
    let (mut data, mut tag) = (text, vec![9; tag_length]);
    let fourth = key.seal(&nonces[3], b"aad", &mut data, &mut tag);
    assert_eq!(fourth, Err(Error::KeyExhausted));
    assert_eq!((data, tag), (text, vec![9; tag_length]), "nothing is written");
    assert_eq!(key.seal_vec(&nonces[3], b"", &[]), Err(Error::KeyExhausted));
    assert_eq!(key.usage().left(), 0);
    for (nonce, sealed) in nonces.iter().zip(&sealed) {
        assert_eq!(key.open_vec(nonce, b"aad", sealed).unwrap(), text, "openings do not count");
    }
}

#[test]
fn every_algorithm_stops_at_the_limit() {
    stops_at_the_limit(&Aes128Gcm::new(&[7; 16]).unwrap(), 12);
    stops_at_the_limit(&Aes128GcmSiv::new(&[7; 16]).unwrap(), 12);
    stops_at_the_limit(&Aes128Ccm::new(&[7; 16]).unwrap(), 12);
    stops_at_the_limit(&Aes128Ocb3::new(&[7; 16]).unwrap(), 12);
    stops_at_the_limit(&ChaCha20Poly1305::new(&[7; 32]).unwrap(), 12);
    stops_at_the_limit(&Aegis128L::new(&[7; 16]).unwrap(), 16);
}

/// The limit of OCB3 is one of blocks: text and AAD of all messages.
#[test]
fn blocks_count_where_they_are_limited() {
    let usage = KeyUsage::with_limit(u64::MAX).with_block_limit(10);
    let key = Aes128Ocb3::new(&[7; 16]).unwrap().with_usage(usage);
    key.seal_vec(&[1; 12], &[0; 17], &[0; 33]).unwrap(); // 2 blocks and 3
    assert_eq!(key.usage().blocks_left(), 5);
    assert_eq!(key.seal_vec(&[2; 12], &[], &[0; 81]), Err(Error::KeyExhausted));
    key.seal_vec(&[2; 12], &[], &[0; 80]).unwrap();
    assert_eq!(key.seal_vec(&[3; 12], &[], &[0; 1]), Err(Error::KeyExhausted));
}

fn batches_stop_at_the_limit<A: Batch>(plain: A) {
    let key = plain.with_usage(KeyUsage::with_limit(3));
    let nonces: Vec<_> = (1..=5).map(|n| [n; 12]).collect();
    let (mut texts, mut tags) = (vec![[5; 40]; 5], vec![[0; 16]; 5]);
    let pieces = nonces.iter().zip(texts.iter_mut().zip(&mut tags));
    let mut messages: Vec<_> =
        pieces.map(|(nonce, (text, tag))| Message::new(&key, nonce, b"", text, tag)).collect();
    assert_eq!(batch::seal(&mut messages), Err(Error::KeyExhausted));
    let results: Vec<_> = messages.iter().map(|message| message.result).collect();
    assert_eq!(results[..3], [Ok(()); 3]);
    assert_eq!(results[3..], [Err(Error::KeyExhausted); 2]);
    assert!(texts[..3].iter().all(|text| *text != [5; 40]));
    assert_eq!(texts[3..], [[5; 40]; 2], "what is refused stays as it was");
    assert_eq!(tags[3..], [[0; 16]; 2]);

    let pieces = nonces.iter().zip(texts.iter_mut().zip(&mut tags)).take(3);
    let mut messages: Vec<_> =
        pieces.map(|(nonce, (text, tag))| Message::new(&key, nonce, b"", text, tag)).collect();
    assert_eq!(batch::open(&mut messages), Ok(()));
    assert_eq!(texts, [[5; 40]; 5]);

    let mut scheduler = Scheduler::new(Order::Submitted);
    let data = vec![5; 56];
    let message = OwnedMessage::new(&key, Operation::Seal, [9; 12], [], data, ());
    let early = scheduler.submit(message).unwrap();
    scheduler.flush().unwrap();
    let done = early.or_else(|| scheduler.completed()).unwrap();
    assert_eq!((done.result, done.data), (Err(Error::KeyExhausted), vec![5; 56]));
}

#[test]
fn batches_stop_in_the_middle() {
    batches_stop_at_the_limit(Aes128Gcm::new(&[7; 16]).unwrap());
    batches_stop_at_the_limit(Aes128GcmSiv::new(&[7; 16]).unwrap());
    batches_stop_at_the_limit(Aes128Ccm::new(&[7; 16]).unwrap());
    batches_stop_at_the_limit(Aes128Ocb3::new(&[7; 16]).unwrap());
    batches_stop_at_the_limit(ChaCha20Poly1305::new(&[7; 32]).unwrap());
}

/// Threads share a key and its limit.
#[test]
fn threads_take_no_more_than_there_is() {
    let key = Aes128Gcm::new(&[7; 16]).unwrap().with_usage(KeyUsage::with_limit(100));
    let sealed: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4_u8)
            .map(|thread| {
                let key = &key;
                scope.spawn(move || {
                    let nonce = |i: u8| [[thread; 4], [i; 4], [0; 4]].concat();
                    (0..50).filter(|i| key.seal_vec(&nonce(*i), b"", b"x").is_ok()).count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((sealed, key.usage().left()), (100, 0));
}

/// The limit of random nonces holds for 96 bits: shorter ones are refused before anything is counted.
#[test]
fn random_nonces_are_not_short() {
    let key = Aes128Gcm::new(&[7; 16]).unwrap().with_usage(KeyUsage::random_nonces());
    let before = key.usage().left();
    let (mut data, mut tag) = ([0; 5], [0; 16]);
    for nonce in [&[1; 11][..], &[1; 3], &[]] {
        assert_eq!(key.seal(nonce, b"", &mut data, &mut tag), Err(Error::NonceLength));
        let mut messages = [Message::new(&key, nonce, b"", &mut data, &mut tag)];
        let _ = batch::seal(&mut messages);
        assert_eq!(messages[0].result, Err(Error::NonceLength));
    }
    assert_eq!(key.usage().left(), before);
    key.seal(&[1; 12], b"", &mut data, &mut tag).unwrap();
    let counted = Aes128Gcm::new(&[7; 16]).unwrap().with_usage(KeyUsage::with_limit(1));
    counted.seal(&[1; 3], b"", &mut data, &mut tag).unwrap();
}
