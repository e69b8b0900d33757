//! Encrypted keys and signatures, made by other programs: fixtures/make.py.

use lanelock_cpix::{CpixError, Document, ReadOptions};
use zeroize::Zeroizing;

const ENCRYPTED: &str = include_str!("../fixtures/encrypted.xml");
const SIGNED: &str = include_str!("../fixtures/signed.xml");
const SIGNED_KEYS: &str = include_str!("../fixtures/signed-keys.xml");

fn recipient(key: &str) -> ReadOptions {
    let mut options = ReadOptions::default();
    options.recipient_key = Some(Zeroizing::new(key.to_owned()));
    options
}

fn signer() -> ReadOptions {
    let mut options = ReadOptions::default();
    options.signer = Some(include_str!("../fixtures/signer.crt").to_owned());
    options
}

fn fault(xml: &str, options: &ReadOptions) -> String {
    Document::read(xml.as_bytes(), options).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_opened_or_trusted_is_refused() {
    assert!(matches!(
        Document::read(ENCRYPTED.as_bytes(), &ReadOptions::default()),
        Err(CpixError::Encrypted(_))
    ));
    for signed in [SIGNED, SIGNED_KEYS] {
        let error = fault(signed, &ReadOptions::default());
        assert!(error.contains("is signed"), "{error}");
    }
    assert!(fault("<CPIX xmlns=\"urn:dashif:org:cpix\"/>", &signer()).contains("not signed"));
}

#[cfg(not(feature = "encrypted"))]
#[test]
fn a_build_without_the_feature_says_so() {
    for error in [fault(ENCRYPTED, &recipient("")), fault(SIGNED, &signer())] {
        assert!(error.contains("feature \"encrypted\""), "{error}");
    }
}

#[cfg(feature = "encrypted")]
mod with_feature {
    use super::*;

    const KEY: &str = include_str!("../fixtures/recipient.key");
    const GCM: &str = include_str!("../fixtures/encrypted-gcm.xml");

    fn keys(document: &Document) -> Vec<String> {
        let keys = document.keys.iter().map(|key| key.key.as_ref().unwrap());
        keys.map(|key| key.secret_text()[31..].to_owned()).collect()
    }

    fn expected() -> Vec<String> {
        vec![format!("1:{}", "71".repeat(16)), format!("2:{}", "72".repeat(16))]
    }

    #[test]
    fn encrypted_keys() {
        for xml in [ENCRYPTED, GCM] {
            let document = Document::read(xml.as_bytes(), &recipient(KEY)).unwrap();
            assert_eq!(keys(&document), expected());
        }
        let error = fault(ENCRYPTED, &recipient(include_str!("../fixtures/other.key")));
        assert!(error.contains("no DeliveryData"), "{error}");
        let error = fault(ENCRYPTED, &recipient("-----BEGIN PRIVATE KEY-----\nsecret"));
        assert!(error.contains("PEM") && !error.contains("secret"), "{error}");
        assert!(!format!("{:?}", recipient(KEY)).contains("MII"));
    }

    /// Changes each piece of base64 in turn: a key is right, or there is none.
    #[test]
    fn changed_documents() {
        for xml in [ENCRYPTED, GCM] {
            let ends: Vec<_> = xml
                .match_indices("</enc:CipherValue>")
                .chain(xml.match_indices("</pskc:ValueMAC>"))
                .collect();
            assert!(ends.len() >= 3);
            for (end, _) in ends {
                // The first recipient of the document is another one.
                let mut changed = xml.as_bytes().to_vec();
                let at = end - 12;
                changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
                match Document::read(&changed, &recipient(KEY)) {
                    Ok(document) => assert!(end < xml.len() / 2 && keys(&document) == expected()),
                    Err(error) => assert!(matches!(error, CpixError::Decryption(_)), "{error}"),
                }
            }
        }
        let start = ENCRYPTED.find("<pskc:ValueMAC>").unwrap();
        let end = ENCRYPTED.find("</pskc:ValueMAC>").unwrap() + "</pskc:ValueMAC>".len();
        let without = format!("{}{}", &ENCRYPTED[..start], &ENCRYPTED[end..]);
        assert!(fault(&without, &recipient(KEY)).contains("ValueMAC is missing"));
        let plain = ENCRYPTED.replacen(
            "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p",
            "http://www.w3.org/2001/04/xmlenc#rsa-1_5",
            8,
        );
        assert!(fault(&plain, &recipient(KEY)).contains("RSA-OAEP"));
    }

    #[test]
    fn signatures() {
        let document = Document::read(SIGNED.as_bytes(), &signer()).unwrap();
        assert_eq!(keys(&document), expected());
        // Keys are signed, what they are for is not.
        assert!(fault(SIGNED_KEYS, &signer()).contains("ContentKeyUsageRuleList is not signed"));
        let start = SIGNED_KEYS.find("<ContentKeyUsageRuleList").unwrap();
        let end = SIGNED_KEYS.find("</ContentKeyUsageRuleList>").unwrap()
            + "</ContentKeyUsageRuleList>".len();
        let alone = format!("{}{}", &SIGNED_KEYS[..start], &SIGNED_KEYS[end..]);
        assert_eq!(keys(&Document::read(alone.as_bytes(), &signer()).unwrap()), expected());
    }

    #[test]
    fn what_was_changed_or_signed_by_others_is_refused() {
        let mut other = ReadOptions::default();
        other.signer = Some(include_str!("../fixtures/recipient.crt").to_owned());
        assert!(fault(SIGNED, &other).contains("not by the signer"));
        other.signer = Some("nonsense".into());
        assert!(fault(SIGNED, &other).contains("X.509"));
        for (from, to) in [
            ("<VideoFilter/>", "<VideoFilter maxPixels=\"1\"/>"),
            ("cXFxcXFx", "cXFxcXFy"),
            ("<ds:SignatureValue>", "<ds:SignatureValue>AAAA"),
            ("enveloped-signature\"", "base64\""),
            ("URI=\"\"", "URI=\"fixtures/signed.xml\""),
            ("URI=\"\"", "URI=\"cid:a\""),
        ] {
            assert!(SIGNED.contains(from), "{from}");
            let error =
                Document::read(SIGNED.replacen(from, to, 1).as_bytes(), &signer()).unwrap_err();
            assert!(matches!(error, CpixError::Signature(_)), "{to}: {error}");
        }
        // What is signed is moved to where it is no more used (signature wrapping).
        let start = SIGNED_KEYS.find("<ContentKeyList").unwrap();
        let end = SIGNED_KEYS.find("</ContentKeyList>").unwrap() + "</ContentKeyList>".len();
        let list = &SIGNED_KEYS[start..end];
        let forged = list.replace("id=\"keys\"", "id=\"forged\"").replace("cXFx", "cnJy");
        let wrapped = format!(
            "{}{forged}<x:x xmlns:x=\"urn:x\">{list}</x:x>{}",
            &SIGNED_KEYS[..start],
            &SIGNED_KEYS[end..]
        );
        let error = fault(&wrapped, &signer());
        assert!(error.contains("signature cannot be trusted"), "{error}");
    }
}
