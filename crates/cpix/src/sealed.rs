//! Encrypted keys and signatures: what a document says of them, and what is asked of each (CPIX 2.4, 5.1).

use zeroize::Zeroizing;

use crate::{
    error::CpixError,
    secret::{DeliveryData, Sealed},
    text::uuid_text,
    xml::Element,
};

/// A document key, and the KIDs of the keys that it encrypts.
type OpenKey = (Option<Vec<[u8; 16]>>, Zeroizing<Vec<u8>>);

/// Opens encrypted content keys.
#[derive(Default)]
pub(crate) struct Unsealer {
    keys: Vec<OpenKey>,
    mac: Option<(String, Zeroizing<Vec<u8>>)>,
}

impl Unsealer {
    /// With the data for whoever has this private key. Without one, documents without keys can be read
    /// all the same.
    pub(crate) fn new(data: &[DeliveryData], private: Option<&str>) -> Result<Self, CpixError> {
        match private {
            None => Ok(Self::default()),
            Some(private) => Self::open_delivery(data, private),
        }
    }

    #[cfg(feature = "encrypted")]
    fn open_delivery(data: &[DeliveryData], private: &str) -> Result<Self, CpixError> {
        let private = crate::xml_security::Recipient::new(private)?;
        let mine = data.iter().find(|data| private.is_of(&data.certificate)).ok_or_else(|| {
            CpixError::Decryption(
                "no DeliveryData has a certificate that goes with the private key: the document is for \
                 others"
                    .into(),
            )
        })?;
        let keys = mine.document_keys.iter();
        let keys = keys.map(|key| Ok((key.kids.clone(), private.unwrap(&key.sealed)?)));
        let mac = mine.mac.as_ref().map(|(algorithm, sealed)| {
            Ok::<_, CpixError>((algorithm.clone(), private.unwrap(sealed)?))
        });
        Ok(Self { keys: keys.collect::<Result<_, CpixError>>()?, mac: mac.transpose()? })
    }

    #[cfg(not(feature = "encrypted"))]
    fn open_delivery(_: &[DeliveryData], _: &str) -> Result<Self, CpixError> {
        Err(CpixError::Encrypted(LACKS.into()))
    }

    /// The content key of a KID.
    pub(crate) fn open(
        &self,
        sealed: &Sealed,
        kid: &[u8; 16],
    ) -> Result<Zeroizing<Vec<u8>>, CpixError> {
        if self.keys.is_empty() {
            let what = if cfg!(feature = "encrypted") {
                "give the private key of the recipient"
            } else {
                LACKS
            };
            return Err(CpixError::Encrypted(what.into()));
        }
        let about =
            |what: &str| CpixError::Decryption(format!("the KID {}: {what}", uuid_text(kid)));
        let mut keys = self.keys.iter().filter(|(kids, _)| {
            kids.as_ref().map_or(self.keys.len() == 1, |kids| kids.contains(kid))
        });
        let Some((_, key)) = keys.next() else {
            return Err(about("no DocumentKey for this recipient encrypts it"));
        };
        if keys.next().is_some() {
            return Err(about("several DocumentKey elements say that they encrypt it"));
        }
        self.check_mac(sealed).map_err(about)?;
        Self::decrypt(sealed, key).map_err(about)
    }

    /// A MAC is verified before anything is decrypted; AES-CBC alone would tell an attacker who sends
    /// changed documents about the key.
    fn check_mac(&self, sealed: &Sealed) -> Result<(), &'static str> {
        match (&self.mac, &sealed.mac) {
            (Some(method), Some(mac)) => Self::verify_mac(method, sealed, mac),
            (Some(_), None) => Err("its ValueMAC is missing"),
            (None, Some(_)) => {
                Err("it has a ValueMAC, but there is no MACMethod to verify it with")
            }
            (None, None) if sealed.algorithm.ends_with("-gcm") => Ok(()),
            (None, None) => Err("it is encrypted without a MAC, which only AES-GCM may be"),
        }
    }

    #[cfg(feature = "encrypted")]
    fn verify_mac(
        (algorithm, key): &(String, Zeroizing<Vec<u8>>),
        sealed: &Sealed,
        mac: &[u8],
    ) -> Result<(), &'static str> {
        crate::xml_security::verify_mac(algorithm, key, &sealed.cipher, mac)
    }

    #[cfg(feature = "encrypted")]
    fn decrypt(sealed: &Sealed, key: &[u8]) -> Result<Zeroizing<Vec<u8>>, &'static str> {
        crate::xml_security::decrypt(sealed, key)
    }

    #[cfg(not(feature = "encrypted"))]
    fn verify_mac(
        _: &(String, Zeroizing<Vec<u8>>),
        _: &Sealed,
        _: &[u8],
    ) -> Result<(), &'static str> {
        Err(LACKS)
    }

    #[cfg(not(feature = "encrypted"))]
    fn decrypt(_: &Sealed, _: &[u8]) -> Result<Zeroizing<Vec<u8>>, &'static str> {
        Err(LACKS)
    }
}

/// Whether who must have signed a document has.
pub(crate) struct Trust;

impl Trust {
    /// Checks the signatures of a document. Without a signer there must be none; with one, all must be
    /// its own, and sign every list that is used.
    pub(crate) fn check(text: &str, root: &Element, signer: Option<&str>) -> Result<(), CpixError> {
        use crate::xml::Namespace::Dsig;
        let signed = root.child(Dsig, "Signature").is_some();
        match signer {
            None if !signed => Ok(()),
            None => Err(CpixError::Signature(
                "the document is signed, and it is not known by whom it has to be; give the certificate of \
                 the signer, or take the Signature elements out to use it without"
                    .into(),
            )),
            Some(_) if !signed => Err(CpixError::Signature("the document is not signed".into())),
            Some(signer) => Self::verify(text, root, signer),
        }
    }

    #[cfg(feature = "encrypted")]
    fn verify(text: &str, root: &Element, signer: &str) -> Result<(), CpixError> {
        crate::xml_security::verify_signatures(text, root, signer).map_err(CpixError::Signature)
    }

    #[cfg(not(feature = "encrypted"))]
    fn verify(_: &str, _: &Element, _: &str) -> Result<(), CpixError> {
        Err(CpixError::Signature(LACKS.into()))
    }
}

#[cfg(not(feature = "encrypted"))]
const LACKS: &str = "this build cannot do that: build it with the feature \"encrypted\"";
#[cfg(feature = "encrypted")]
const LACKS: &str = "";
