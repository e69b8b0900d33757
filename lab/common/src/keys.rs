//! Keys of rows about public keys: the same for every library. Everyone has them, and they protect nothing.
//!
//! The files were made once by `openssl genpkey` and `openssl ecparam -genkey`: private keys of RSA as PKCS#1 and of
//! curves as SEC 1, in DER, and eight public keys of each curve, as uncompressed points.

use pkcs1::RsaPrivateKeyRef;
use sec1::EcPrivateKey;

use crate::{data::Data, row::Row, traffic::Buffer, worker::Prepared};

/// A private key of RSA.
pub struct Rsa {
    /// PKCS#1, DER.
    pub der: &'static [u8],
    /// The same as numbers.
    pub numbers: RsaPrivateKeyRef<'static>,
}

/// The private key of so many bits: 2048, 3072 or 4096.
pub fn rsa(bits: usize) -> Option<Rsa> {
    let der: &[u8] = match bits {
        2048 => include_bytes!("../../../crates/speed/src/workload/keys/rsa-2048.der"),
        3072 => include_bytes!("../../../crates/speed/src/workload/keys/rsa-3072.der"),
        4096 => include_bytes!("../../../crates/speed/src/workload/keys/rsa-4096.der"),
        _ => return None,
    };
    Some(Rsa { der, numbers: RsaPrivateKeyRef::try_from(der).expect("PKCS#1") })
}

/// A private key of P-256 or P-384.
pub struct Curve {
    /// SEC 1, DER.
    pub der: &'static [u8],
    /// Big-endian.
    pub scalar: &'static [u8],
    /// The public key: an uncompressed point.
    pub point: &'static [u8],
}

/// The private key of P-256 or P-384.
pub fn curve(bits: usize) -> Option<Curve> {
    let der: &[u8] = match bits {
        256 => include_bytes!("../../../crates/speed/src/workload/keys/p-256.der"),
        384 => include_bytes!("../../../crates/speed/src/workload/keys/p-384.der"),
        _ => return None,
    };
    let key = EcPrivateKey::try_from(der).expect("SEC 1");
    Some(Curve { der, scalar: key.private_key, point: key.public_key.expect("with the point") })
}

/// Public keys of others, uncompressed points: another one for each of eight messages.
pub fn others(bits: usize) -> Vec<&'static [u8]> {
    let points: &[u8] = match bits {
        256 => include_bytes!("../../../crates/speed/src/workload/keys/points-256.bin"),
        _ => include_bytes!("../../../crates/speed/src/workload/keys/points-384.bin"),
    };
    points.chunks(1 + bits / 4).collect()
}

/// The private key of Ed25519 or X25519.
pub fn seed(data: &Data) -> [u8; 32] {
    data.keys[0][..].try_into().expect("a row with keys of 256 bits")
}

/// The signatures that `row` verifies, by the library's own call.
pub fn signatures(row: &Row, sign: impl Fn(&Row, &Data) -> Prepared) -> Option<Vec<Buffer>> {
    let row = row.with_operation("sign");
    let mut data = Data::new(&row);
    sign(&row, &data)?(&mut data);
    Some(data.output)
}
