//! Keys as they are in a document: plain or encrypted.

use zeroize::Zeroizing;

/// A key as it is in the document.
pub(crate) enum Protection {
    None,
    Plain(Zeroizing<Vec<u8>>),
    Sealed(Sealed),
}

/// An encrypted value of XML Encryption.
pub(crate) struct Sealed {
    /// The URI of the algorithm.
    pub(crate) algorithm: String,
    /// That of the digest of RSA-OAEP, SHA-1 if it is not given.
    pub(crate) digest: Option<String>,
    /// IV and encrypted bytes.
    pub(crate) cipher: Vec<u8>,
    /// The MAC of `cipher`.
    pub(crate) mac: Option<Vec<u8>>,
}

/// A key that encrypts content keys.
pub(crate) struct DocumentKey {
    pub(crate) sealed: Sealed,
    /// The KIDs of those, all if there are none.
    pub(crate) kids: Option<Vec<[u8; 16]>>,
}

/// What is for one recipient.
pub(crate) struct DeliveryData {
    /// The recipient's X.509 certificate, DER.
    pub(crate) certificate: Vec<u8>,
    pub(crate) document_keys: Vec<DocumentKey>,
    /// The algorithm of the MACs, and its key.
    pub(crate) mac: Option<(String, Sealed)>,
}
