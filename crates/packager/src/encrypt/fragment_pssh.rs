//! The `pssh` boxes of fragments, where keys change.

use crate::{
    EncryptOptions, Error, Key,
    drm::{self, System},
};

/// Makes the boxes of the key that a fragment has.
pub(crate) struct FragmentPssh<'a> {
    /// None where nothing is encrypted.
    options: Option<&'a EncryptOptions>,
    systems: Vec<System>,
    /// Those of the fragment before, which are mostly the same.
    last: (Vec<[u8; 16]>, Vec<Vec<u8>>),
}

impl<'a> FragmentPssh<'a> {
    /// Boxes of these systems.
    pub(crate) fn new(options: Option<&'a EncryptOptions>, systems: Vec<System>) -> Self {
        Self { options, systems, last: (Vec::new(), Vec::new()) }
    }

    /// The boxes for these KIDs; none if there are no KIDs.
    pub(super) fn of(&mut self, kids: Vec<[u8; 16]>) -> Result<&[Vec<u8>], Error> {
        if let Some(options) = self.options.filter(|_| self.last.0 != kids) {
            let boxes = boxes(options, &self.systems, &kids)?;
            self.last = (kids, boxes);
        }
        Ok(&self.last.1)
    }
}

/// The boxes of protection systems for these KIDs: those that are given, each once, and those that are made of
/// the KIDs for which none is.
pub(super) fn boxes(
    options: &EncryptOptions,
    systems: &[System],
    kids: &[[u8; 16]],
) -> Result<Vec<Vec<u8>>, Error> {
    let keys = kids.iter().filter_map(|kid| options.keys.keys().find(|key| key.kid == *kid));
    let keys: Vec<&Key> = keys.collect();
    let given = options.given.iter().filter(|given| kids.contains(&given.kid));
    let mut boxes: Vec<Vec<u8>> = Vec::new();
    for raw in given.filter_map(|given| given.pssh.as_ref()) {
        if !boxes.contains(raw) {
            boxes.push(raw.clone());
        }
    }
    for system in systems {
        let is_given = |key: &&&Key| options.given_for(system.id(), key.kid).is_some();
        let own: Vec<Key> = keys.iter().filter(|key| !is_given(key)).copied().cloned().collect();
        if !own.is_empty() {
            let made = drm::pssh(*system, options.scheme, &own);
            boxes.push(made.map_err(|error| Error::Options(error.to_string()))?.raw);
        }
    }
    Ok(boxes)
}
