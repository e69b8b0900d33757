//! Streams of which some cannot be read, and the published digests of "abc".

use std::{
    cell::Cell,
    fmt::Write,
    io::{self, Read},
};

use lanelock_digest::Levels;

use super::{Algorithm, digests};

/// FIPS 180-4 and FIPS 202 (the examples of NIST), GB/T 32905-2016 (A.1), RFC 7693 (appendix A).
const ABC: [(Algorithm, &str); 9] = [
    (Algorithm::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (Algorithm::Sha224, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
    (Algorithm::Sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
        Algorithm::Sha384,
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
    ),
    (
        Algorithm::Sha512,
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
         2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ),
    (Algorithm::Sha3_256, "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
    (
        Algorithm::Sha3_512,
        "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e\
         10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
    ),
    (Algorithm::Sm3, "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0"),
    (
        Algorithm::Blake2b,
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1\
         7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
    ),
];

fn hexadecimal(digest: &[u8]) -> String {
    let mut text = String::new();
    for byte in digest {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}

#[test]
fn abc() {
    let open = |_| -> io::Result<Box<dyn Read>> { Ok(Box::new(&b"abc"[..])) };
    for (algorithm, expected) in ABC {
        let levels = Levels::best().unwrap();
        let found: Vec<_> =
            digests(algorithm, levels, 3, &open, &|_| ()).map(Result::unwrap).collect();
        assert_eq!(found.len(), 3);
        for digest in found {
            assert_eq!(digest.len(), algorithm.bytes());
            assert_eq!(hexadecimal(&digest), expected, "{algorithm:?}");
        }
    }
}

/// Fails behind some bytes.
struct Broken(usize);

impl Read for Broken {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::Error::other("broken"));
        }
        let bytes = self.0.min(to.len());
        to[..bytes].fill(1);
        self.0 -= bytes;
        Ok(bytes)
    }
}

/// Neither an error when a stream is opened nor one behind some pieces of it disturbs the others.
#[test]
fn a_stream_that_fails_leaves_the_others_alone() {
    const COUNT: usize = 100;
    let text = |i: usize| vec![i.to_le_bytes()[0]; i * 2_003];
    let open = |i: usize| -> io::Result<Box<dyn Read>> {
        match i % 10 {
            3 => Err(io::Error::from(io::ErrorKind::NotFound)),
            5 => Ok(Box::new(Broken(i * 2_003))),
            _ => Ok(Box::new(io::Cursor::new(text(i)))),
        }
    };
    for (algorithm, _) in ABC.into_iter().chain([(Algorithm::Kt128, "")]) {
        let levels = Levels::best().unwrap();
        let bytes = Cell::new(0);
        let progress = |more| bytes.set(bytes.get() + more);
        let found: Vec<_> = digests(algorithm, levels, COUNT, &open, &progress).collect();
        assert_eq!(found.len(), COUNT);
        let mut whole = 0;
        for (i, digest) in found.into_iter().enumerate() {
            match i % 10 {
                3 => assert_eq!(digest.unwrap_err().kind(), io::ErrorKind::NotFound),
                5 => assert_eq!(digest.unwrap_err().to_string(), "broken"),
                _ => {
                    whole += text(i).len() as u64;
                    let alone =
                        |_| -> io::Result<Box<dyn Read>> { Ok(Box::new(io::Cursor::new(text(i)))) };
                    let alone = digests(algorithm, levels, 1, &alone, &|_| ()).next().unwrap();
                    assert_eq!(digest.unwrap(), alone.unwrap(), "{algorithm:?} {i}");
                }
            }
        }
        assert!(bytes.get() >= whole, "{} of {whole}", bytes.get());
    }
}
