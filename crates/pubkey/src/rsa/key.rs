//! Keys: what they consist of, and what has to hold of them.

use alloc::{sync::Arc, vec::Vec};
use core::fmt;
use lanelock_core::parts::passed;
use lanelock_isa::LimbLevel;
use zeroize::Zeroizing;

use super::{number, pairs::Blinding};
use crate::{
    Error,
    digits::{DIGIT, DIGIT_BITS, Digits, digits_from_bytes, digits_to_bytes},
    level::default_level,
    montgomery::{Modulus, Product, digits_for, multiply_all},
    secret::Secret,
};

/// The fewest bits of a modulus.
const LEAST_BITS: usize = 2048;
/// The most bits of a modulus.
const MOST_BITS: usize = 8192;

/// A public key: a modulus of 2048 to 8192 bits, an even number of them, and an odd exponent from 3 on that fits in 64
/// bits.
///
/// It has the level that its operations run on, the best one of the processor at first.
#[derive(Clone)]
pub struct PublicKey {
    level: LimbLevel,
    n: Arc<Modulus>,
    e: u64,
}

impl PublicKey {
    /// The key of a modulus and an exponent, both big-endian; zeros before them are ignored.
    ///
    /// # Errors
    /// [`Error::Key`] if a number is not as this type says; [`Error::Level`] if `LANELOCK_LEVEL` has a mistake.
    pub fn new(n: &[u8], e: &[u8]) -> Result<Self, Error> {
        let level = default_level()?;
        let (n, e) = (trimmed(n), trimmed(e));
        if e.len() > 8 {
            return Err(Error::Key("the public exponent has more than 64 bits"));
        }
        let e = e.iter().fold(0, |e, &byte| e << 8 | u64::from(byte));
        if e < 3 || e & 1 == 0 {
            return Err(Error::Key("the public exponent is even or below 3"));
        }
        if n.len() > MOST_BITS / 8 {
            return Err(Error::Key("the modulus has more than 8192 bits"));
        }
        let zeros = n.first().map_or(0, |byte| byte.leading_zeros() as usize);
        let bits = 8 * n.len() - zeros;
        if bits < LEAST_BITS || bits % 2 == 1 {
            return Err(Error::Key(
                "the modulus has less than 2048 bits, or an odd number of them",
            ));
        }
        let mut digits = number::zero(digits_for(bits));
        digits_from_bytes(n, &mut digits);
        if digits[0] & 1 == 0 {
            return Err(Error::Key("the modulus is even"));
        }
        Ok(Self { level, n: Arc::new(Modulus::new(level, bits, &digits)), e })
    }

    /// The same key, for operations on another level.
    #[must_use]
    pub fn with_level(mut self, level: LimbLevel) -> Self {
        self.level = level;
        self
    }

    /// The level that its operations run on.
    pub fn level(&self) -> LimbLevel {
        self.level
    }

    /// Bits of the modulus.
    pub fn bits(&self) -> usize {
        self.n.bits()
    }

    /// Bytes of signatures and of ciphertexts.
    pub fn length(&self) -> usize {
        self.bits().div_ceil(8)
    }

    /// The modulus, big-endian.
    pub fn n(&self) -> Vec<u8> {
        let mut bytes = alloc::vec![0; self.length()];
        digits_to_bytes(self.n.digits(), &mut bytes);
        bytes
    }

    /// The exponent.
    pub fn e(&self) -> u64 {
        self.e
    }

    pub(super) fn modulus(&self) -> &Modulus {
        &self.n
    }

    /// The number that a signature or a ciphertext is: RFC 8017, sections 5.1 and 5.2. `None` if it has not the length
    /// of the modulus, or is not below it; both are public.
    pub(super) fn number_from(&self, bytes: &[u8]) -> Option<Digits> {
        let modulus = self.n.digits();
        if bytes.len() != self.length() {
            return None;
        }
        let mut number = number::zero(modulus.len());
        digits_from_bytes(bytes, &mut number);
        number::is_less(&number, modulus).then_some(number)
    }

    /// The class of its operations: see [`Operation`](crate::Operation).
    pub(super) fn class(&self) -> Class {
        Class { level: self.level, bits: self.bits() }
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.n.digits() == other.n.digits() && self.e == other.e
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey")
            .field("bits", &self.bits())
            .field("e", &self.e)
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

/// What operations of RSA that share lanes have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Class {
    pub(super) level: LimbLevel,
    pub(super) bits: usize,
}

/// A private key of two primes, each half as long as the modulus.
///
/// It is checked when it is made: see [`new`](Self::new). Its secrets are wiped when it is dropped.
pub struct PrivateKey {
    public: PublicKey,
    pub(super) p: Modulus,
    pub(super) q: Modulus,
    d: Secret,
    dp: Secret,
    dq: Secret,
    qinv: Secret,
    /// The exponents as words.
    pub(super) dp_words: Secret,
    pub(super) dq_words: Secret,
    /// 1/q modulo p, in Montgomery's form.
    pub(super) qinv_form: Secret,
    /// q modulo n, in Montgomery's form.
    pub(super) q_form: Secret,
    pub(super) blinding: Blinding,
}

/// The numbers of a private key as RFC 8017, section 3.2, names them, big-endian.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "the names are those of the standard")]
pub struct Components<'a> {
    pub n: &'a [u8],
    pub e: &'a [u8],
    pub d: &'a [u8],
    pub p: &'a [u8],
    pub q: &'a [u8],
    pub dp: &'a [u8],
    pub dq: &'a [u8],
    pub qinv: &'a [u8],
}

impl fmt::Debug for Components<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Components").field("n", &self.n).field("e", &self.e).finish_non_exhaustive()
    }
}

impl PrivateKey {
    /// The key of these numbers.
    ///
    /// Whether `p` and `q` are prime is not tested, which takes longer than all operations of a short life. Where they
    /// are not, results are wrong, and are withheld ([`Error::Fault`]).
    ///
    /// # Errors
    /// [`Error::Key`] if the public key is refused ([`PublicKey::new`]), if `p` or `q` have not half the bits each or
    /// are even or equal, if `p` * `q` is not `n`, if `d`, `dp` and `dq` are not inverses of `e` for both primes, or if
    /// `qinv` * `q` is not 1 modulo `p`; [`Error::Level`] if `LANELOCK_LEVEL` has a mistake.
    pub fn new(components: &Components<'_>) -> Result<Self, Error> {
        let public = PublicKey::new(components.n, components.e)?;
        let (level, bits) = (public.level, public.bits());
        let half = digits_for(bits / 2);
        // How many digits before a secret number are zero is a secret too.
        let read = |bytes: &[u8], digits: usize, what: &'static str| {
            let mut wide = number::zero(digits.max((8 * bytes.len()).div_ceil(DIGIT_BITS)));
            digits_from_bytes(bytes, &mut wide);
            let (number, above) = wide.split_at(digits);
            if !number::is_equal(above, &[]) {
                return Err(Error::Key(what));
            }
            Ok(number::resized(number, digits))
        };
        let p = read(components.p, half, "a prime is longer than half of the modulus")?;
        let q = read(components.q, half, "a prime is longer than half of the modulus")?;
        let d = read(components.d, public.n.digits().len(), "the private exponent is too long")?;
        let dp = read(components.dp, half, "an exponent is not the one of its prime")?;
        let dq = read(components.dq, half, "an exponent is not the one of its prime")?;
        let qinv = read(components.qinv, half, "the coefficient is not the inverse of q")?;

        if !has_bits(&p, bits / 2) || !has_bits(&q, bits / 2) {
            return Err(Error::Key("a prime has not half the bits of the modulus"));
        }
        if !passed(p[0] & q[0]) || number::is_equal(&p, &q) {
            return Err(Error::Key("the primes are equal, or one is even"));
        }
        if !number::is_equal(&number::multiply(&p, &q), public.n.digits()) {
            return Err(Error::Key("the modulus is not the product of the primes"));
        }
        if !number::is_less(&d, public.n.digits()) {
            return Err(Error::Key("the private exponent is not below the modulus"));
        }
        let e = [public.e & DIGIT, public.e >> DIGIT_BITS];
        for (exponent, prime) in [(&dp, &p), (&dq, &q)] {
            let mut order = prime.clone();
            order[0] -= 1;
            let product = number::remainder(&number::multiply(exponent, &e), &order);
            if !number::is_less(exponent, &order)
                || !number::is_equal(&product, &[1])
                || !number::is_equal(&number::remainder(&d, &order), exponent)
            {
                return Err(Error::Key("an exponent is not the inverse of the public one"));
            }
        }
        if !number::is_less(&qinv, &p) {
            return Err(Error::Key("the coefficient is not the inverse of q"));
        }

        let mut moduli = Modulus::new_all(level, bits / 2, &[p, q]);
        let (Some(q), Some(p)) = (moduli.pop(), moduli.pop()) else {
            unreachable!("two moduli in, two out")
        };
        let qinv_form = product(level, &p, &qinv, p.square());
        if !number::is_equal(&product(level, &p, q.digits(), &qinv_form), &[1]) {
            return Err(Error::Key("the coefficient is not the inverse of q"));
        }
        let wide = number::resized(q.digits(), public.n.digits().len());
        let q_form = product(level, &public.n, &wide, public.n.square());
        Ok(Self {
            dp_words: number::words(&dp).into(),
            dq_words: number::words(&dq).into(),
            blinding: Blinding::default(),
            public,
            p,
            q,
            d: d.into(),
            dp: dp.into(),
            dq: dq.into(),
            qinv: qinv.into(),
            qinv_form: qinv_form.into(),
            q_form: q_form.into(),
        })
    }

    /// The same key, for operations on another level.
    #[must_use]
    pub fn with_level(mut self, level: LimbLevel) -> Self {
        self.public.level = level;
        self
    }

    /// The same key in memory that the system neither swaps out nor writes to a core dump: 16 pages. While an operation
    /// runs, what it computes with is in ordinary memory, which is wiped behind it.
    ///
    /// # Errors
    /// [`Error::Locked`].
    pub fn lock(&self) -> Result<Self, Error> {
        Ok(Self {
            public: self.public.clone(),
            p: self.p.lock()?,
            q: self.q.lock()?,
            d: self.d.lock()?,
            dp: self.dp.lock()?,
            dq: self.dq.lock()?,
            qinv: self.qinv.lock()?,
            dp_words: self.dp_words.lock()?,
            dq_words: self.dq_words.lock()?,
            qinv_form: self.qinv_form.lock()?,
            q_form: self.q_form.lock()?,
            blinding: Blinding::default(),
        })
    }

    /// The public key that belongs to it.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Bits of the modulus.
    pub fn bits(&self) -> usize {
        self.public.bits()
    }

    /// Calls `read` with the numbers of the key.
    pub fn with_components<T>(&self, read: impl FnOnce(&Components<'_>) -> T) -> T {
        let bytes = |number: &[u64], length: usize| {
            let mut bytes = Zeroizing::new(alloc::vec![0; length]);
            digits_to_bytes(number, &mut bytes);
            bytes
        };
        let half = (self.bits() / 2).div_ceil(8);
        let [p, q] = [&self.p, &self.q].map(|prime| bytes(prime.digits(), half));
        let [dp, dq, qinv] = [&self.dp, &self.dq, &self.qinv].map(|number| bytes(number, half));
        read(&Components {
            n: &self.public.n(),
            e: &self.public.e.to_be_bytes(),
            d: &self.private_exponent(),
            p: &p,
            q: &q,
            dp: &dp,
            dq: &dq,
            qinv: &qinv,
        })
    }

    /// `d` in as many bytes as the modulus.
    pub(super) fn private_exponent(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(alloc::vec![0; self.public.length()]);
        digits_to_bytes(&self.d, &mut bytes);
        bytes
    }
}

// Each secret is kept in what wipes itself.
impl zeroize::ZeroizeOnDrop for PrivateKey {}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey").field("public", &self.public).finish_non_exhaustive()
    }
}

/// The product modulo the modulus of two numbers, one of which is in Montgomery's form.
fn product(level: LimbLevel, modulus: &Modulus, a: &[u64], b: &[u64]) -> Digits {
    multiply_all(level, &[Product { modulus, a, b }]).swap_remove(0)
}

/// Whether the number has exactly so many bits, which may be known of a prime.
fn has_bits(number: &[u64], bits: usize) -> bool {
    let (top, shift) = ((bits - 1) / DIGIT_BITS, (bits - 1) % DIGIT_BITS);
    number::is_equal(&[number[top] >> shift], &[1]) && number::is_equal(&number[top + 1..], &[])
}

/// The number, which is public, without zeros before it.
fn trimmed(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|&&byte| byte == 0).count();
    &number[zeros..]
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    /// The numbers of a good key of 2048 bits, in the order of [`Components`].
    fn good() -> [BigUint; 8] {
        let der = &lanelock_testkit::rsa::wycheproof_pkcs1_decrypt()[0].key;
        let key = PrivateKey::from_pkcs8_der(der).expect("a key");
        key.with_components(|key| {
            [key.n, key.e, key.d, key.p, key.q, key.dp, key.dq, key.qinv]
                .map(BigUint::from_bytes_be)
        })
    }

    fn key(numbers: &[BigUint; 8]) -> Result<PrivateKey, Error> {
        let bytes: Vec<Vec<u8>> = numbers.iter().map(BigUint::to_bytes_be).collect();
        let [n, e, d, p, q, dp, dq, qinv] = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| bytes[i].as_slice());
        PrivateKey::new(&Components { n, e, d, p, q, dp, dq, qinv })
    }

    /// A key of these primes and exponent, whatever they are.
    fn of_primes(p: &BigUint, q: &BigUint, e: &BigUint) -> [BigUint; 8] {
        let one = BigUint::from(1_u8);
        let order = (p - &one) * (q - &one);
        let d = e.modinv(&order).unwrap_or_else(|| one.clone());
        let (dp, dq) = (&d % (p - &one), &d % (q - &one));
        [p * q, e.clone(), d, p.clone(), q.clone(), dp, dq, q.modinv(p).unwrap_or_default()]
    }

    #[test]
    fn malformed_keys_are_refused() {
        let good = good();
        assert!(key(&good).is_ok());
        let [n, e, _, p, q, ..] = &good;
        let one = BigUint::from(1_u8);
        assert_eq!(of_primes(p, q, e)[5..], good[5..]);
        assert!(key(&of_primes(q, p, e)).is_ok(), "either prime may be the greater one");
        // d may be the inverse modulo the least common multiple or the product, or anything between.
        let mut with_product = of_primes(p, q, e);
        assert!(key(&with_product).is_ok());
        with_product[2] = e.modinv(&((p - 1_u8) * (q - 1_u8) / 2_u8)).expect("an inverse");
        assert!(key(&with_product).is_ok());

        let refused = |numbers: &[BigUint; 8], why: &str| match key(numbers) {
            Err(Error::Key(text)) => assert!(text.contains(why), "{text}, not {why}"),
            other => panic!("{other:?}, not {why}"),
        };
        let with = |at: usize, number: BigUint| {
            let mut numbers = good.clone();
            numbers[at] = number;
            numbers
        };
        refused(&with(0, n - 1_u8), "even");
        refused(&with(0, n + 2_u8), "not the product");
        refused(&with(0, n >> 1), "odd number of them");
        refused(&with(0, (n >> 2) | &one), "less than 2048");
        refused(&with(0, (n << 6146) + &one), "more than 8192");
        refused(&with(0, BigUint::ZERO), "less than 2048");
        refused(&with(1, one.clone()), "below 3");
        refused(&with(1, BigUint::from(65536_u32)), "even");
        refused(&with(1, (&one << 64) + 1_u8), "64 bits");
        refused(&with(1, BigUint::from(17_u8)), "inverse of the public");
        refused(&with(2, &good[2] ^ &BigUint::from(2_u8)), "inverse of the public");
        refused(&with(2, &good[2] + n), "not below");
        refused(&with(2, n << 100), "too long");
        refused(&with(3, p + 2_u8), "not the product");
        refused(&with(3, p >> 1), "half the bits");
        refused(&with(3, p << 40), "longer than half");
        refused(&with(4, q ^ &one), "even");
        refused(&with(4, p.clone()), "equal");
        refused(&of_primes(p, p, e), "equal");
        refused(&with(5, &good[5] + 1_u8), "inverse of the public");
        refused(&with(5, &good[5] + (p - 1_u8)), "inverse of the public");
        refused(&with(6, BigUint::ZERO), "inverse of the public");
        refused(&with(7, &good[7] + 1_u8), "coefficient");
        refused(&with(7, &good[7] + p), "coefficient");
        refused(&with(7, BigUint::ZERO), "coefficient");
    }

    #[test]
    fn results_of_primes_that_are_not_prime_are_withheld() {
        // A key that passes all checks: q is a product of two primes.
        let [_, e, _, p, ..] = good();
        let mut q = (BigUint::from(3_u8) << 1022) + 1_u8;
        while key(&of_primes(&p, &q, &e)).is_err() {
            q += 2_u8;
        }
        let key = key(&of_primes(&p, &q, &e)).expect("a key that looks good");
        let sign = crate::rsa::Sign::message(
            &key,
            crate::rsa::Scheme::pkcs1v15(crate::Hash::Sha256),
            b"message",
        );
        let result = crate::rsa::sign_batch(&[sign.expect("a message")], &mut crate::SystemRandom);
        assert_eq!(result, [Err(Error::Fault)]);
    }

    #[test]
    fn a_locked_key_signs() {
        let key = key(&good()).expect("a key").lock().expect("16 pages");
        let scheme = crate::rsa::Scheme::pkcs1v15(crate::Hash::Sha256);
        let sign = crate::rsa::Sign::message(&key, scheme, b"message").expect("a message");
        let signature = crate::rsa::sign_batch(&[sign], &mut crate::SystemRandom).remove(0);
        let signature = signature.expect("a signature");
        let public = key.public_key();
        let verify = crate::rsa::Verify::message(public, scheme, b"message", signature);
        assert_eq!(crate::rsa::verify_batch(&[verify.expect("a message")]), [Ok(())]);
    }

    #[test]
    fn debug_shows_no_secrets() {
        let text = format!("{:?}", key(&good()));
        assert!(text.len() < 200, "{text}");
    }
}
