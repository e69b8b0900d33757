//! Key exchange in three steps, against OpenSSL by the tests of the algorithms below it.

use lanelock_isa::LimbLevel;
use lanelock_pubkey::{
    Batcher, Error, Operation, P256, P384, P521, Policy, SystemRandom,
    exchange::{Answer, Ecdh, Finish, KeyExchange, Start, X25519},
    run_batch,
};

/// Exchanges of any number come to the same secret; a wrong share is an error of its own.
fn exchanges<X: KeyExchange>(group: u16, shared_bytes: usize) {
    assert_eq!(X::GROUP, group);
    let random = &mut SystemRandom;
    for level in LimbLevel::available() {
        for count in [1, 3, 8, 11] {
            let clients: Vec<_> = run_batch(&vec![Start::<X>::with_level(level); count], random)
                .into_iter()
                .map(Result::unwrap)
                .collect();
            assert!(clients.iter().all(|client| client.share.len() == X::SHARE));
            let mut shares: Vec<Vec<u8>> =
                clients.iter().map(|client| client.share.clone()).collect();
            shares[count / 2].pop();
            let answers: Vec<_> =
                shares.iter().map(|share| Answer::<X, _>::with_level(share, level)).collect();
            let answers = run_batch(&answers, random);
            for (i, (client, answer)) in clients.iter().zip(&answers).enumerate() {
                if i == count / 2 {
                    let (got, expected) = (X::SHARE - 1, X::SHARE);
                    let what = "the key share";
                    assert_eq!(answer.as_ref().err(), Some(&Error::Length { what, got, expected }));
                    continue;
                }
                let answer = answer.as_ref().unwrap();
                assert_eq!(answer.share.len(), X::ANSWER);
                assert_ne!(answer.share, client.share);
                let finish = Finish::<X, _, _>::new(&client.secret, &answer.share);
                let shared = run_batch(&[finish], random).remove(0).unwrap();
                assert_eq!(shared.as_bytes(), answer.shared.as_bytes(), "{level}");
                assert_eq!(shared.as_bytes().len(), shared_bytes);
            }
        }
    }
}

#[test]
fn both_sides_agree() {
    exchanges::<X25519>(0x001d, 32);
    exchanges::<Ecdh<P256>>(0x0017, 32);
    exchanges::<Ecdh<P384>>(0x0018, 48);
    exchanges::<Ecdh<P521>>(0x0019, 66);
}

#[test]
fn shares_that_are_no_keys() {
    let level = LimbLevel::fastest();
    let zeros = Answer::<X25519, _>::with_level([0; 32], level);
    assert!(matches!(run_batch(&[zeros], &mut SystemRandom)[..], [Err(Error::Key(_))]));
    let off = Answer::<Ecdh<P256>, _>::with_level([4; 65], level);
    assert!(matches!(run_batch(&[off], &mut SystemRandom)[..], [Err(Error::Key(_))]));
    let compressed = Answer::<Ecdh<P256>, _>::with_level([2; 33], level);
    assert!(matches!(run_batch(&[compressed], &mut SystemRandom)[..], [Err(Error::Length { .. })]));
}

/// What a thread of a server does.
#[test]
fn answers_wait_for_company() {
    let client =
        run_batch(&[Start::<X25519>::new().unwrap()], &mut SystemRandom).remove(0).unwrap();
    let mut batcher = Batcher::new(Policy::default());
    let now = std::time::Instant::now();
    let tickets = [(); 3]
        .map(|()| batcher.submit(Answer::<X25519, _>::new(client.share.clone()).unwrap(), now));
    assert_eq!(batcher.poll(now), 3);
    for ticket in tickets {
        let answer = batcher.take(ticket).unwrap().unwrap();
        let finish = Finish::<X25519, _, _>::new(&client.secret, &answer.share);
        let shared = run_batch(&[finish], &mut SystemRandom).remove(0).unwrap();
        assert_eq!(shared.as_bytes(), answer.shared.as_bytes());
    }
}

/// A pass takes as many steps as the level has lanes.
#[test]
fn lanes() {
    fn lanes<O: Operation>(operation: &O) -> usize {
        O::lanes(operation.class())
    }
    for level in LimbLevel::available() {
        let start = Start::<X25519>::with_level(level);
        assert_eq!(lanes(&start), level.width());
        let client = run_batch(&[start], &mut SystemRandom).remove(0).unwrap();
        assert_eq!(lanes(&Answer::<X25519, _>::with_level(&client.share, level)), level.width());
        assert_eq!(lanes(&Finish::<X25519, _, _>::new(&client.secret, [0; 32])), level.width());
    }
}
