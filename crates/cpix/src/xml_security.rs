//! XML Encryption and XML Signature, by the crate `bergshamra`.
//!
//! In CPIX both have one fixed form: values are encrypted under element names of PSKC, and keys follow
//! from the document. So the values are taken out of it here, and the library gets them one by one; of
//! signatures it gets the whole document, after the references have been looked at here.

use bergshamra::{
    DsigContext, Key, KeysManager, SoftwareKey, VerifyResult,
    core::algorithm,
    crypto::{cipher, keytransport, sign},
    keys::loader,
};
use zeroize::Zeroizing;

use crate::{
    error::CpixError,
    secret::Sealed,
    xml::{
        Element,
        Namespace::{Cpix, Dsig},
    },
};

/// Who has a private key.
pub(crate) struct Recipient {
    key: SoftwareKey,
    public: Vec<u8>,
}

impl Recipient {
    pub(crate) fn new(pem: &str) -> Result<Self, CpixError> {
        let unreadable = || {
            CpixError::Decryption(
                "the private key cannot be read: it has to be an RSA key in PEM, without a password".into(),
            )
        };
        let key = loader::load_rsa_private_pem(pem.as_bytes()).map_err(|_| unreadable())?;
        let public = key.to_spki_der().ok_or_else(unreadable)?;
        let key = key.software_key().ok().flatten().ok_or_else(unreadable)?;
        Ok(Self { key, public })
    }

    /// Whether a certificate is for the key.
    pub(crate) fn is_of(&self, certificate: &[u8]) -> bool {
        let key = loader::load_x509_cert_der(certificate).ok();
        key.and_then(|key| key.to_spki_der()).is_some_and(|public| public == self.public)
    }

    /// Decrypts a document key or MAC key.
    pub(crate) fn unwrap(&self, sealed: &Sealed) -> Result<Zeroizing<Vec<u8>>, CpixError> {
        let fault = |what: &str| CpixError::Decryption(what.into());
        if ![algorithm::RSA_OAEP, algorithm::RSA_OAEP_ENC11].contains(&sealed.algorithm.as_str()) {
            return Err(fault("a document key is not encrypted by RSA-OAEP, as CPIX has it"));
        }
        let params =
            keytransport::OaepParams { digest_uri: sealed.digest.clone(), ..Default::default() };
        let transport = keytransport::from_uri_with_params(&sealed.algorithm, params)
            .map_err(|_| fault("the digest of RSA-OAEP is not supported"))?;
        let key = transport.decrypt(&self.key, &sealed.cipher);
        key.map(Zeroizing::new)
            .map_err(|_| fault("a document key was not made for the private key"))
    }
}

/// Verifies the MAC of an encrypted key.
pub(crate) fn verify_mac(
    uri: &str,
    key: &[u8],
    cipher: &[u8],
    mac: &[u8],
) -> Result<(), &'static str> {
    if ![algorithm::HMAC_SHA512, algorithm::HMAC_SHA256].contains(&uri) {
        return Err("the algorithm of MACMethod is neither HMAC-SHA512 nor HMAC-SHA256");
    }
    let unusable = "the key of MACMethod cannot be used";
    let key = loader::load_hmac_key(key).ok().and_then(|key| key.software_key().ok().flatten());
    let method = sign::from_uri(uri).map_err(|_| unusable)?;
    match method.verify(&key.ok_or(unusable)?, cipher, mac) {
        Ok(true) => Ok(()),
        _ => Err("its ValueMAC is wrong: the document has been changed or damaged"),
    }
}

/// Decrypts a content key.
pub(crate) fn decrypt(sealed: &Sealed, key: &[u8]) -> Result<Zeroizing<Vec<u8>>, &'static str> {
    let known = [
        algorithm::AES128_CBC,
        algorithm::AES192_CBC,
        algorithm::AES256_CBC,
        algorithm::AES128_GCM,
        algorithm::AES192_GCM,
        algorithm::AES256_GCM,
    ];
    let unsupported = "its encryption is neither AES-CBC nor AES-GCM of XML Encryption";
    if !known.contains(&sealed.algorithm.as_str()) {
        return Err(unsupported);
    }
    let cipher = cipher::from_uri(&sealed.algorithm).map_err(|_| unsupported)?;
    if cipher.key_size() != key.len() {
        return Err("its DocumentKey has another length than its algorithm takes");
    }
    let bytes = cipher.decrypt(key, &sealed.cipher);
    bytes.map(Zeroizing::new).map_err(|_| "it does not decrypt with its DocumentKey")
}

/// Verifies that all signatures are by one signer, and that they sign all that is used.
pub(crate) fn verify_signatures(text: &str, root: &Element, signer: &str) -> Result<(), String> {
    let whole = covered(root)?;
    let mut keys = KeysManager::new();
    let certificate = loader::load_x509_cert_pem(signer.as_bytes());
    let certificate: Key = certificate
        .map_err(|_| "the certificate of the signer is not an X.509 certificate in PEM")?;
    keys.add_key(certificate);
    // Only this key counts, whatever certificates the document brings along.
    let context = DsigContext::new(keys);
    let results = bergshamra::verify_all(&context, text).map_err(|_| {
        "the signatures cannot be read by the library that verifies them".to_owned()
    })?;
    if results.is_empty() || !results.iter().all(VerifyResult::all_reference_digests_verified) {
        return Err(
            "it is not by the signer whose certificate is given, or the document has been changed since"
                .into(),
        );
    }
    whole
}

/// Looks at what signatures refer to: only to the document or to elements of it, by transforms which take
/// nothing away. Inside is an error if something that is used is not signed; signatures are verified
/// first.
fn covered(root: &Element) -> Result<Result<(), String>, String> {
    let mut signed = Vec::new();
    for signature in root.children.iter().filter(|child| child.is(Dsig, "Signature")) {
        let info = signature.child(Dsig, "SignedInfo").ok_or("there is no SignedInfo")?;
        for reference in info.children.iter().filter(|child| child.is(Dsig, "Reference")) {
            let uri = reference.attribute("URI").ok_or("a Reference has no URI")?;
            let transforms =
                reference.child(Dsig, "Transforms").map_or(&[][..], |list| &list.children);
            for transform in transforms {
                let plain = [
                    algorithm::ENVELOPED_SIGNATURE,
                    algorithm::C14N,
                    algorithm::C14N11,
                    algorithm::EXC_C14N,
                ];
                let known =
                    transform.attribute("Algorithm").is_some_and(|uri| plain.contains(&uri));
                if !known || !transform.is(Dsig, "Transform") {
                    return Err(
                        "a Transform may take away a part of what is signed; only canonical forms \
                                without comments and the enveloped signature are accepted"
                            .into(),
                    );
                }
            }
            match uri.strip_prefix('#') {
                Some(id) => signed.push(Some(id)),
                None if uri.is_empty() => signed.push(None),
                None => return Err("a Reference goes to something outside of the document".into()),
            }
        }
    }
    if signed.contains(&None) {
        return Ok(Ok(()));
    }
    for list in root.children.iter().filter(|child| child.namespace == Cpix) {
        let id = list.attribute("id");
        let by_root = root.attribute("id").is_some_and(|id| signed.contains(&Some(id)));
        let by_itself = id.is_some_and(|id| signed.contains(&Some(id)));
        if !by_root && !by_itself && list.name != "UpdateHistoryItemList" {
            return Ok(Err(format!("{} is not signed", list.name)));
        }
    }
    Ok(Ok(()))
}
