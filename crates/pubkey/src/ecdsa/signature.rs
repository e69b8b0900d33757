//! Signatures as bytes.

use alloc::vec::Vec;
use core::fmt;

use crate::{
    Error,
    curve::{
        Curve,
        key::{bytes, number},
    },
};

/// A signature: the numbers r and s.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature<C: Curve>(pub(super) [C::Number; 2]);

impl<C: Curve> Signature<C> {
    /// The signature of r and s, each with [`Curve::BYTES`] big-endian bytes. That both are in their range is checked
    /// when the signature is verified.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let (what, got, expected) = ("a signature", bytes.len(), 2 * C::BYTES);
        if got != expected {
            return Err(Error::Length { what, got, expected });
        }
        let (r, s) = bytes.split_at(C::BYTES);
        Ok(Self([number::<C>(what, r)?, number::<C>(what, s)?]))
    }

    /// r and s, each with [`Curve::BYTES`] big-endian bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(bytes::<C>).collect()
    }

    /// The signature of DER: `ECDSA-Sig-Value` of RFC 3279, section 2.2.3, in the one form that DER allows.
    ///
    /// # Errors
    /// [`Error::Signature`].
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let (numbers, rest) = value(SEQUENCE, der).ok_or(Error::Signature)?;
        let (r, numbers) = value(INTEGER, numbers).ok_or(Error::Signature)?;
        let (s, end) = value(INTEGER, numbers).ok_or(Error::Signature)?;
        if !rest.is_empty() || !end.is_empty() {
            return Err(Error::Signature);
        }
        let of = |integer: &[u8]| -> Result<C::Number, Error> {
            let digits = positive(integer).filter(|digits| digits.len() <= C::BYTES);
            let digits = digits.ok_or(Error::Signature)?;
            let mut number = C::ZERO;
            crate::digits::digits_from_bytes(digits, number.as_mut());
            Ok(number)
        };
        Ok(Self([of(r)?, of(s)?]))
    }

    /// The signature as DER.
    pub fn to_der(&self) -> Vec<u8> {
        let mut numbers = Vec::new();
        for number in &self.0 {
            let bytes = bytes::<C>(number);
            let zeros = bytes[..C::BYTES - 1].iter().take_while(|&&byte| byte == 0).count();
            let mut integer = Vec::with_capacity(C::BYTES + 1);
            if bytes[zeros] >= 0x80 {
                integer.push(0);
            }
            integer.extend_from_slice(&bytes[zeros..]);
            put(INTEGER, &integer, &mut numbers);
        }
        let mut der = Vec::with_capacity(numbers.len() + 3);
        put(SEQUENCE, &numbers, &mut der);
        der
    }
}

impl<C: Curve> fmt::Debug for Signature<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({}, ", C::NAME)?;
        self.to_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;

/// The value with this tag that `der` begins with, and the rest. Values here have fewer than 256 bytes.
fn value(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = match *der {
        [first, length @ 0..0x80, ref rest @ ..] if first == tag => (length, rest),
        [first, 0x81, length @ 0x80..=0xff, ref rest @ ..] if first == tag => (length, rest),
        _ => return None,
    };
    rest.split_at_checked(usize::from(length))
}

/// The bytes of an integer that is not negative, without those that only say so.
fn positive(integer: &[u8]) -> Option<&[u8]> {
    match integer {
        [0, rest @ ..] if rest.first().is_some_and(|&byte| byte >= 0x80) => Some(rest),
        [0] | [1..0x80, ..] => Some(integer),
        _ => None,
    }
}

/// Appends a value, which has fewer than 256 bytes.
#[expect(clippy::cast_possible_truncation, reason = "two numbers of P-521 have 138 bytes")]
fn put(tag: u8, value: &[u8], der: &mut Vec<u8>) {
    der.push(tag);
    if value.len() >= 0x80 {
        der.push(0x81);
    }
    der.push(value.len() as u8);
    der.extend_from_slice(value);
}
