//! New keys of RSA, and the forms of keys.

use lanelock_isa::LimbLevel;
use lanelock_pubkey::{
    Error, SystemRandom,
    rsa::{self, Generate, PrivateKey, PublicKey},
};
use lanelock_testkit::openssl;

#[test]
fn openssl_accepts_new_keys() {
    let Some(mut openssl) = openssl() else { return };
    for level in LimbLevel::available() {
        let sizes: &[usize] =
            if level == LimbLevel::fastest() { &[2048, 3072, 2064, 2048] } else { &[2048] };
        let generates: Vec<_> =
            sizes.iter().map(|&bits| Generate::new(bits).unwrap().with_level(level)).collect();
        for (result, &bits) in
            rsa::generate_batch(&generates, &mut SystemRandom).into_iter().zip(sizes)
        {
            let key = result.unwrap();
            assert_eq!((key.bits(), key.public_key().e()), (bits, 65537));
            assert_eq!(key.public_key().level(), level);
            assert!(openssl.rsa_check(&key.to_pkcs1_der()), "{level} {bits}");
            assert!(openssl.rsa_check(&key.to_pkcs8_der()), "{level} {bits}");
        }
    }
    for e in [65539, 3 * 5 * 7 * 11 * 13 * 17, u64::MAX - 14] {
        let generate = Generate::new(2048).unwrap().with_exponent(e).unwrap();
        let key = rsa::generate_batch(&[generate], &mut SystemRandom).remove(0).unwrap();
        assert_eq!(key.public_key().e(), e);
        assert!(openssl.rsa_check(&key.to_pkcs1_der()), "{e}");
    }
}

#[test]
fn sizes_and_exponents_of_new_keys_are_checked() {
    for bits in [0, 1024, 2047, 2050, 8208] {
        assert!(matches!(Generate::new(bits), Err(Error::Key(_))), "{bits}");
    }
    for e in [0, 3, 65535, 65536, 65538] {
        let generate = Generate::new(2048).unwrap().with_exponent(e);
        assert!(matches!(generate, Err(Error::Key(_))), "{e}");
    }
}

#[test]
fn keys_keep_their_form() {
    let key = PrivateKey::generate(2048, &mut SystemRandom).unwrap();
    let der = key.to_pkcs1_der();
    let same = |other: Result<PrivateKey, Error>| {
        assert_eq!(other.unwrap().to_pkcs1_der(), der);
    };
    same(PrivateKey::from_pkcs1_der(&der));
    same(PrivateKey::from_pkcs8_der(&key.to_pkcs8_der()));
    same(PrivateKey::from_pem(&key.to_pkcs8_pem()));
    let public = key.public_key();
    assert_eq!(&PublicKey::from_pkcs1_der(&public.to_pkcs1_der()).unwrap(), public);
    assert_eq!(&PublicKey::from_spki_der(&public.to_spki_der()).unwrap(), public);
    assert_eq!(&PublicKey::from_pem(&public.to_spki_pem()).unwrap(), public);
    assert_eq!(&PublicKey::new(&public.n(), &public.e().to_be_bytes()).unwrap(), public);

    // What is cut off or is something else is an error.
    for length in 0..der.len() {
        assert!(PrivateKey::from_pkcs1_der(&der[..length]).is_err());
    }
    assert!(PrivateKey::from_pkcs8_der(&der).is_err());
    assert!(PublicKey::from_spki_der(&public.to_pkcs1_der()).is_err());
    assert!(PrivateKey::from_pem(&public.to_spki_pem()).is_err());
    assert!(PublicKey::from_pem(&key.to_pkcs8_pem()).is_err());
    // The object identifier of an elliptic curve's key: 1.2.840.10045.2.1.
    let mut other = key.to_pkcs8_der().to_vec();
    let at = other.windows(3).position(|bytes| bytes == [0x2a, 0x86, 0x48]).unwrap();
    other[at + 8] = 7;
    assert!(PrivateKey::from_pkcs8_der(&other).is_err());
}
