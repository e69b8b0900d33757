//! Clear Key licences (W3C Encrypted Media Extensions, 9.1.3 and 9.1.4).

use base64ct::{Base64UrlUnpadded, Encoding};
use lanelock_packager::{Key, Observer};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::answer::{Answer, Status};

/// KIDs of one request. More make no sense, and each unknown one is told.
const KIDS: usize = 256;

/// The keys that a request asks for, as a JSON Web Key Set. KIDs without key are told to `observer`; if no key
/// is known, that is an error.
pub(crate) fn licence(keys: &[Key], body: &[u8], observer: &dyn Observer) -> Answer {
    let (kids, kind) = match read(body) {
        Ok(request) => request,
        Err(say) => return refusal(Status::BAD_REQUEST, &say, &[]),
    };
    // Written by hand, so that the keys are in one string, which is zeroised.
    let mut text = Zeroizing::new(String::with_capacity(64 + 128 * kids.len()));
    text.push_str("{\"keys\":[");
    let start = text.len();
    let mut missing = Vec::new();
    for kid in kids {
        let Some(key) = keys.iter().find(|key| key.kid == kid) else {
            missing.push(Key::new(kid, [0; 16]).kid_text());
            continue;
        };
        let Some(key) = secret(key) else {
            return refusal(Status::SERVER_ERROR, "a key cannot be written", &[]);
        };
        if text.len() > start {
            text.push(',');
        }
        let kid = Base64UrlUnpadded::encode_string(&kid);
        for part in ["{\"kty\":\"oct\",\"k\":\"", &key, "\",\"kid\":\"", &kid, "\"}"] {
            text.push_str(part);
        }
    }
    for kid in &missing {
        observer.warn(&format!("a licence was asked for KID {kid}, for which no key is given"));
    }
    if text.len() == start {
        return refusal(Status::NOT_FOUND, "no key is given for these KIDs", &missing);
    }
    for part in ["],\"type\":\"", kind, "\"}"] {
        text.push_str(part);
    }
    Answer::json(Status::OK, text)
}

/// The KIDs and the session type of a request.
fn read(body: &[u8]) -> Result<(Vec<[u8; 16]>, &'static str), String> {
    let request: Value = serde_json::from_slice(body)
        .map_err(|error| format!("the licence request is not JSON: {error}"))?;
    let kids = request["kids"].as_array().ok_or("the licence request has no array \"kids\"")?;
    if kids.is_empty() || kids.len() > KIDS {
        return Err(format!("the licence request has {} KIDs and not 1 to {KIDS}", kids.len()));
    }
    let kind = match &request["type"] {
        Value::Null => "temporary",
        Value::String(kind) if kind == "temporary" => "temporary",
        other => return Err(format!("licences are \"temporary\" here, and not {other}")),
    };
    let kid = |value: &Value| {
        let bytes = value.as_str().and_then(|text| Base64UrlUnpadded::decode_vec(text).ok());
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or_else(|| format!("the KID {value} is not 16 bytes in base64url without padding"))
    };
    let mut known = Vec::with_capacity(kids.len());
    for value in kids {
        let kid = kid(value)?;
        if !known.contains(&kid) {
            known.push(kid);
        }
    }
    Ok((known, kind))
}

/// The key itself, in base64url.
fn secret(key: &Key) -> Option<Zeroizing<String>> {
    let text = key.secret_text();
    let (_, digits) = text.split_once(':')?;
    let mut bytes = Zeroizing::new([0; 16]);
    base16ct::lower::decode(digits, &mut *bytes).ok()?;
    Some(Zeroizing::new(Base64UrlUnpadded::encode_string(&*bytes)))
}

fn refusal(status: Status, say: &str, kids: &[String]) -> Answer {
    let text = json!({ "error": say, "kids": kids }).to_string();
    Answer::json(status, Zeroizing::new(text))
}
