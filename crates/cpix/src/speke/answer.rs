//! Whether an answer is one to the request.

use crate::{
    document::{Document, DrmSystem},
    speke::SpekeError,
    text::uuid_text,
};

/// Checks that a document answers a request: the same content, periods and rules, each KID with a key,
/// for the scheme that was asked for, each protection system with data, and nothing else. A server that
/// leaves periods and rules out agrees with those of the request, which the answer then gets.
///
/// # Errors
/// [`SpekeError::Answer`], which says what is different.
pub fn check_answer(request: &Document, answer: &mut Document) -> Result<(), SpekeError> {
    compare(request, answer).map_err(SpekeError::Answer)?;
    if answer.periods.is_empty() {
        answer.periods.clone_from(&request.periods);
    }
    if answer.rules.is_empty() {
        answer.rules.clone_from(&request.rules);
    }
    Ok(())
}

fn compare(request: &Document, answer: &Document) -> Result<(), String> {
    if answer.content_id != request.content_id {
        return Err("its contentId is another one".into());
    }
    for key in &answer.keys {
        if !request.keys.iter().any(|asked| asked.kid == key.kid) {
            return Err(format!(
                "it has a key for the KID {}, which is not in the request",
                uuid_text(&key.kid)
            ));
        }
    }
    for asked in &request.keys {
        let kid = uuid_text(&asked.kid);
        let Some(key) = answer.keys.iter().find(|key| key.kid == asked.kid) else {
            return Err(format!("the KID {kid} is missing"));
        };
        if key.key.is_none() {
            return Err(format!("the KID {kid} has no key"));
        }
        if key.common_encryption_scheme != asked.common_encryption_scheme {
            return Err(format!("the key of the KID {kid} is for another scheme"));
        }
    }
    let find = |list: &[DrmSystem], system: &DrmSystem| {
        let id = (system.system_id, system.kid);
        list.iter().position(|other| (other.system_id, other.kid) == id)
    };
    for system in &answer.drm_systems {
        if find(&request.drm_systems, system).is_none() {
            let id = uuid_text(&system.system_id);
            return Err(format!(
                "it has data of the protection system {id}, which is not in the request"
            ));
        }
    }
    for asked in &request.drm_systems {
        let name = format!("{} for the KID {}", uuid_text(&asked.system_id), uuid_text(&asked.kid));
        let Some(at) = find(&answer.drm_systems, asked) else {
            return Err(format!("the protection system {name} is missing"));
        };
        let given = &answer.drm_systems[at];
        if asked.pssh.is_some() && given.pssh.as_ref().is_none_or(Vec::is_empty) {
            return Err(format!("the protection system {name} has no PSSH"));
        }
        let lines = given.hls_signaling.iter().any(|data| !data.lines.is_empty());
        if asked.pssh.is_none() && !asked.hls_signaling.is_empty() && !lines {
            return Err(format!("the protection system {name} has no HLSSignalingData"));
        }
    }
    if !answer.periods.is_empty() && !same(&answer.periods, &request.periods) {
        return Err("its key periods are not those of the request".into());
    }
    if !answer.rules.is_empty() && !same(&answer.rules, &request.rules) {
        return Err("its usage rules are not those of the request".into());
    }
    Ok(())
}

/// Whether both have the same, in any order. In the request nothing is there twice.
fn same<T: PartialEq>(answer: &[T], request: &[T]) -> bool {
    answer.len() == request.len() && request.iter().all(|one| answer.contains(one))
}
