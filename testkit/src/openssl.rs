//! OpenSSL as an oracle for differential tests: the process `tools/openssl-oracle`,
//! which loads the system's libcrypto. Nothing of OpenSSL is built or linked.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::environment::{listed, on_search_path};
use crate::{hex, repository, unhex};

/// A running oracle. Algorithms are called as OpenSSL calls its ciphers, such as
/// `aes-256-gcm`, and its MACs after a cipher, such as `aes-128-cmac`.
///
/// Every call is one request and one answer: some 50 microseconds, and 15 for
/// each kilobyte; starting takes 50 to 100 milliseconds. A call that OpenSSL does not accept (an
/// unknown algorithm, a wrong length) is a mistake of the test and panics.
#[derive(Debug)]
pub struct Openssl {
    process: Child,
    /// Is closed before the process is waited for.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    version: String,
    algorithms: Vec<String>,
}

/// Starts OpenSSL as an oracle. `None`, which is listed as a skip, if Python 3 or
/// libcrypto 3 is missing.
///
/// `LANELOCK_LIBCRYPTO` names the libcrypto to be loaded instead of the newest
/// of the system.
///
/// # Panics
/// If that variable names a file that cannot be loaded.
#[must_use]
pub fn openssl() -> Option<Openssl> {
    listed(start(), "Python 3 or OpenSSL's libcrypto 3")
}

fn start() -> Option<Openssl> {
    let library = env::var_os("LANELOCK_LIBCRYPTO").filter(|value| !value.is_empty());
    let mut process = Command::new(on_search_path("python3")?)
        .arg(repository().join("tools/openssl-oracle"))
        .args(&library)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let requests = process.stdin.take();
    let mut answers = BufReader::new(process.stdout.take()?);
    let mut greeting = String::new();
    answers.read_line(&mut greeting).ok()?;
    let Some((version, algorithms)) = greeting.trim_end().split_once('\t') else {
        let _ = process.wait();
        assert!(library.is_none(), "LANELOCK_LIBCRYPTO={library:?} is no libcrypto");
        return None;
    };
    let version = version.to_owned();
    let algorithms = algorithms.split(' ').map(str::to_owned).collect();
    Some(Openssl { process, requests, answers, version, algorithms })
}

impl Openssl {
    /// Such as `OpenSSL 3.5.8 25 Aug 2026`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether this OpenSSL has the algorithm; AES-GCM-SIV came with 3.2.
    #[must_use]
    pub fn has(&self, algorithm: &str) -> bool {
        self.algorithms.iter().any(|known| known == algorithm)
    }

    /// Encrypts with `aes-{128,192,256}-{ecb,cbc,ctr,xts}` or `sm4-{ecb,cbc,ctr}`, without padding. `iv`
    /// has 16 bytes: the first counter block in CTR, the tweak in XTS; ECB has
    /// none. OpenSSL refuses an XTS key of two equal halves.
    pub fn encrypt(&mut self, algorithm: &str, key: &[u8], iv: &[u8], plaintext: &[u8]) -> Vec<u8> {
        self.must("encrypt", algorithm, &[key, iv, plaintext])
    }

    /// Decrypts with the same algorithms.
    pub fn decrypt(
        &mut self,
        algorithm: &str,
        key: &[u8],
        iv: &[u8],
        ciphertext: &[u8],
    ) -> Vec<u8> {
        self.must("decrypt", algorithm, &[key, iv, ciphertext])
    }

    /// Seals with `aes-{128,192,256}-{gcm,ccm,ocb,gcm-siv}`: the ciphertext and
    /// behind it the tag. OpenSSL's nonces of GCM have 1 to 128 bytes.
    ///
    /// # Panics
    /// If OpenSSL does not accept the call.
    pub fn seal(
        &mut self,
        algorithm: &str,
        key: &[u8],
        nonce: &[u8],
        aad: &[u8],
        plaintext: &[u8],
        tag_length: usize,
    ) -> Vec<u8> {
        let words = [key, nonce, aad, plaintext].map(word).join(" ");
        self.ask(&format!("seal {algorithm} {words} {tag_length}")).expect("sealing cannot fail")
    }

    /// Opens what [`seal`](Self::seal) returns; `None` if it is not authentic.
    pub fn open(
        &mut self,
        algorithm: &str,
        key: &[u8],
        nonce: &[u8],
        aad: &[u8],
        sealed: &[u8],
        tag_length: usize,
    ) -> Option<Vec<u8>> {
        let words = [key, nonce, aad, sealed].map(word).join(" ");
        self.ask(&format!("open {algorithm} {words} {tag_length}"))
    }

    /// Wraps a key with `aes-{128,192,256}-{wrap,wrap-pad}`.
    pub fn wrap(&mut self, algorithm: &str, key: &[u8], plaintext: &[u8]) -> Vec<u8> {
        self.must("wrap", algorithm, &[key, plaintext])
    }

    /// Unwraps a key; `None` if it is not authentic.
    pub fn unwrap(&mut self, algorithm: &str, key: &[u8], wrapped: &[u8]) -> Option<Vec<u8>> {
        self.ask(&format!("unwrap {algorithm} {} {}", word(key), word(wrapped)))
    }

    /// The MAC with `aes-{128,192,256}-{cmac,gmac}` or `sm4-cmac`; CMAC has no nonce.
    pub fn mac(&mut self, algorithm: &str, key: &[u8], nonce: &[u8], message: &[u8]) -> Vec<u8> {
        self.must("mac", algorithm, &[key, nonce, message])
    }

    /// The public key of a raw secret key of `x25519` or `ed25519`.
    pub fn public(&mut self, algorithm: &str, key: &[u8]) -> Vec<u8> {
        self.must("public", algorithm, &[key])
    }

    /// The shared secret of a raw secret key and a raw public key of `x25519`; `None` if it is zero.
    pub fn agree(&mut self, algorithm: &str, key: &[u8], peer: &[u8]) -> Option<Vec<u8>> {
        self.ask(&format!("agree {algorithm} {} {}", word(key), word(peer)))
    }

    /// The signature with a raw secret key of `ed25519`.
    pub fn sign(&mut self, algorithm: &str, key: &[u8], message: &[u8]) -> Vec<u8> {
        self.must("sign", algorithm, &[key, message])
    }

    /// Whether a signature is valid for a raw public key of `ed25519`.
    pub fn verify(
        &mut self,
        algorithm: &str,
        key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let words = [key, message, signature].map(word).join(" ");
        self.ask(&format!("verify {algorithm} {words}")).is_some()
    }

    /// A new key of RSA, in PKCS #1.
    ///
    /// # Panics
    /// If OpenSSL makes no key of that kind.
    pub fn rsa_generate(&mut self, bits: usize, exponent: u64) -> Vec<u8> {
        self.ask(&format!("rsa_generate rsa {bits} {exponent}")).expect("nothing to refuse")
    }

    /// Whether OpenSSL finds a private key of RSA, in PKCS #1 or PKCS #8, whole, and its primes prime.
    pub fn rsa_check(&mut self, key: &[u8]) -> bool {
        self.ask(&format!("rsa_check rsa {}", word(key))).is_some()
    }

    /// A signature of `rsa-pkcs1-HASH` or `rsa-pss-HASH`, with a private key as above.
    pub fn rsa_sign(&mut self, algorithm: &str, key: &[u8], message: &[u8]) -> Vec<u8> {
        self.must("rsa_sign", algorithm, &[key, message])
    }

    /// Whether such a signature is valid; the public key is a SubjectPublicKeyInfo.
    pub fn rsa_verify(
        &mut self,
        algorithm: &str,
        key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let words = [key, message, signature].map(word).join(" ");
        self.ask(&format!("rsa_verify {algorithm} {words}")).is_some()
    }

    /// A ciphertext of `rsa-pkcs1`, which has no label, or of `rsa-oaep-HASH`.
    pub fn rsa_encrypt(
        &mut self,
        algorithm: &str,
        key: &[u8],
        label: &[u8],
        message: &[u8],
    ) -> Vec<u8> {
        self.must("rsa_encrypt", algorithm, &[key, label, message])
    }

    /// The message of such a ciphertext; `None` if it is refused.
    pub fn rsa_decrypt(
        &mut self,
        algorithm: &str,
        key: &[u8],
        label: &[u8],
        ciphertext: &[u8],
    ) -> Option<Vec<u8>> {
        let words = [key, label, ciphertext].map(word).join(" ");
        self.ask(&format!("rsa_decrypt {algorithm} {words}"))
    }

    fn must(&mut self, operation: &str, algorithm: &str, words: &[&[u8]]) -> Vec<u8> {
        let words: Vec<String> = words.iter().copied().map(word).collect();
        self.ask(&format!("{operation} {algorithm} {}", words.join(" ")))
            .expect("nothing to refuse")
    }

    /// One request: its result, or `None` if the input was refused.
    fn ask(&mut self, request: &str) -> Option<Vec<u8>> {
        let requests = self.requests.as_mut().expect("is closed when dropped");
        writeln!(requests, "{request}").expect("the oracle listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("the oracle answers");
        match answer.trim_end() {
            "refused" => None,
            answer => match answer.strip_prefix('x') {
                Some(digits) => Some(unhex(digits)),
                None => panic!("{}: {answer:?} to {request:.80}", self.version),
            },
        }
    }
}

impl Drop for Openssl {
    fn drop(&mut self) {
        self.requests = None;
        let _ = self.process.wait();
    }
}

fn word(bytes: &[u8]) -> String {
    format!("x{}", hex(bytes))
}

/// Published vectors against the oracle: they vouch for each other.
#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::{
        AeadCase, CipherCase, Direction, MacCase, WrapCase, ccm, gcm, gcm_siv, key_wrap, mac, ocb3,
        skip, xts,
    };

    const MISSING: &str = "no libcrypto 3 (or no Python 3)";

    fn check_aead(mode: &str, cases: &[AeadCase]) {
        let Some(mut openssl) = openssl() else { return skip(MISSING) };
        if !openssl.has(&format!("aes-128-{mode}")) {
            return skip(&format!("{} has no AES-{}", openssl.version(), mode.to_uppercase()));
        }
        for case in cases {
            let AeadCase { name, key, nonce, aad, plaintext, tag, valid, .. } = case;
            let algorithm = format!("aes-{}-{mode}", key.len() * 8);
            let sealed = case.sealed();
            let opened = openssl.open(&algorithm, key, nonce, aad, &sealed, tag.len());
            assert_eq!(opened.as_ref(), valid.then_some(plaintext), "{name}");
            if *valid {
                let again = openssl.seal(&algorithm, key, nonce, aad, plaintext, tag.len());
                assert_eq!(again, sealed, "{name}");
            }
        }
    }

    fn check_wrap(mode: &str, cases: &[WrapCase]) {
        let Some(mut openssl) = openssl() else { return skip(MISSING) };
        for case in cases {
            let WrapCase { name, key, plaintext, wrapped, valid, .. } = case;
            let algorithm = format!("aes-{}-{mode}", key.len() * 8);
            let unwrapped = openssl.unwrap(&algorithm, key, wrapped);
            assert_eq!(unwrapped.as_ref(), valid.then_some(plaintext), "{name}");
            if *valid {
                assert_eq!(openssl.wrap(&algorithm, key, plaintext), *wrapped, "{name}");
            }
        }
    }

    fn check_mac(kind: &str, cases: &[MacCase]) {
        let Some(mut openssl) = openssl() else { return skip(MISSING) };
        for case in cases.iter().filter(|case| matches!(case.key.len(), 16 | 24 | 32)) {
            let algorithm = format!("aes-{}-{kind}", case.key.len() * 8);
            let tag = openssl.mac(&algorithm, &case.key, &case.nonce, &case.message);
            assert_eq!(tag == case.tag, case.valid, "{}", case.name);
        }
    }

    #[test]
    fn gcm() {
        let mut cases = [gcm::cavp(), gcm::wycheproof()].concat();
        cases.retain(|case| (1..=128).contains(&case.nonce.len()));
        check_aead("gcm", &cases);
    }

    #[test]
    fn gmac() {
        check_mac("gmac", &gcm::wycheproof_gmac());
    }

    #[test]
    fn gcm_siv() {
        check_aead(
            "gcm-siv",
            &[gcm_siv::rfc8452(), gcm_siv::openssl(), gcm_siv::wycheproof()].concat(),
        );
    }

    #[test]
    fn ccm() {
        let mut cases = [ccm::cavp(), ccm::sp800_38c(), ccm::rfc3610(), ccm::wycheproof()].concat();
        // Lengths that the algorithm does not have are mistakes of the caller.
        cases.retain(|case| (7..=13).contains(&case.nonce.len()));
        cases.retain(|case| matches!(case.tag.len(), 4 | 6 | 8 | 10 | 12 | 14 | 16));
        check_aead("ccm", &cases);
    }

    #[test]
    fn ocb3() {
        check_aead("ocb", &[ocb3::rfc7253(), ocb3::long_nonces(), ocb3::openssl()].concat());
    }

    /// The iterated test of RFC 7253, appendix A.
    #[test]
    fn ocb3_iterated() {
        let Some(mut openssl) = openssl() else { return skip(MISSING) };
        for result in ocb3::rfc7253_iterated() {
            let algorithm = format!("aes-{}-ocb", result.key_bits);
            let mut key = vec![0; result.key_bits / 8];
            *key.last_mut().expect("not empty") =
                u8::try_from(result.tag_bits).expect("at most 128");
            let nonce = |n: u32| [[0; 8].as_slice(), &n.to_be_bytes()].concat();
            let mut seal = |n: u32, aad: &[u8], plaintext: &[u8]| {
                openssl.seal(&algorithm, &key, &nonce(n), aad, plaintext, result.tag_bits / 8)
            };
            let mut sealed = Vec::new();
            for i in 0..128 {
                let zeros = vec![0; i as usize];
                sealed.extend(seal(3 * i + 1, &zeros, &zeros));
                sealed.extend(seal(3 * i + 2, &[], &zeros));
                sealed.extend(seal(3 * i + 3, &zeros, &[]));
            }
            assert_eq!(seal(385, &sealed, &[]), result.tag, "{algorithm} {}", result.tag_bits);
        }
    }

    #[test]
    fn xts() {
        let Some(mut openssl) = openssl() else { return skip(MISSING) };
        for case in [xts::cavp(), xts::ieee1619(), xts::wycheproof()].concat() {
            let (data, tweak) = case.key.split_at(case.key.len() / 2);
            let algorithm = format!("aes-{}-xts", data.len() * 8);
            if !openssl.has(&algorithm) {
                assert_eq!(data.len(), 24, "there is no standard with 192 bits");
                continue;
            }
            let decrypted = openssl.decrypt(&algorithm, &case.key, &case.tweak, &case.ciphertext);
            assert_eq!(decrypted, case.plaintext, "{}", case.name);
            if data != tweak {
                let encrypted =
                    openssl.encrypt(&algorithm, &case.key, &case.tweak, &case.plaintext);
                assert_eq!(encrypted, case.ciphertext, "{}", case.name);
            }
        }
    }

    #[test]
    fn kw() {
        let mut cases =
            [key_wrap::cavp_kw(), key_wrap::rfc3394(), key_wrap::wycheproof_kw()].concat();
        cases.retain(|case| !case.wrapped.is_empty());
        check_wrap("wrap", &cases);
    }

    #[test]
    fn kwp() {
        let cases = [key_wrap::cavp_kwp(), key_wrap::rfc5649(), key_wrap::botan_kwp()].concat();
        check_wrap("wrap-pad", &[cases, key_wrap::wycheproof_kwp()].concat());
    }

    #[test]
    fn cmac() {
        check_mac("cmac", &[mac::sp800_38b(), mac::wycheproof()].concat());
    }

    #[test]
    fn modes_of_one_buffer() {
        let Some(mut openssl) = openssl() else { return skip(MISSING) };
        let sets: [(&str, Vec<CipherCase>); 3] = [
            ("ecb", [crate::cavp_ecb(), crate::sp800_38a_ecb()].concat()),
            ("cbc", [crate::cavp_cbc(), crate::sp800_38a_cbc()].concat()),
            ("ctr", [crate::rfc3686_ctr(), crate::sp800_38a_ctr()].concat()),
        ];
        for (mode, case) in
            sets.iter().flat_map(|(mode, cases)| cases.iter().map(move |case| (mode, case)))
        {
            let CipherCase { key, iv, plaintext, ciphertext, .. } = case;
            let algorithm = format!("aes-{}-{mode}", key.len() * 8);
            if case.direction == Direction::Decrypt {
                assert_eq!(
                    openssl.decrypt(&algorithm, key, iv, ciphertext),
                    *plaintext,
                    "{}",
                    case.name
                );
            } else {
                assert_eq!(
                    openssl.encrypt(&algorithm, key, iv, plaintext),
                    *ciphertext,
                    "{}",
                    case.name
                );
            }
        }
    }

    #[test]
    fn long_messages_fit_through_the_pipe() {
        let Some(mut openssl) = openssl() else { return skip(MISSING) };
        let (plaintext, aad) = (crate::pattern(1 << 20), crate::pattern(70_000));
        let sealed = openssl.seal("aes-256-gcm", &[1; 32], &[2; 12], &aad, &plaintext, 16);
        let opened = openssl.open("aes-256-gcm", &[1; 32], &[2; 12], &aad, &sealed, 16);
        assert_eq!(opened, Some(plaintext));
    }

    #[test]
    fn mistakes_panic_and_do_no_harm() {
        let Some(mut openssl) = openssl() else { return skip(MISSING) };
        let mut encrypt =
            |algorithm: &str, key: &[u8]| openssl.encrypt(algorithm, key, &[], &[0; 16]);
        for (algorithm, key) in
            [("aes-128-ecb", [1; 3].as_slice()), ("rot13", &[1; 16]), ("aes-128-cbc", &[1; 16])]
        {
            let call = AssertUnwindSafe(|| encrypt(algorithm, key));
            assert!(catch_unwind(call).is_err(), "{algorithm}");
        }
        assert_eq!(encrypt("aes-128-ecb", &[1; 16]).len(), 16);
    }
}
