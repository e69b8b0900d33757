//! Which boxes are containers, and where in their payload the first child begins. Parsing needs
//! this to walk down the tree, and error messages to name the path of a box.

use crate::{FourCc, header::Header};

/// Deepest nesting [`BoxRef::children`](crate::BoxRef::children) follows. Real files stay below 12.
pub const MAX_DEPTH: usize = 32;

/// Where the child boxes of a container begin in its payload; `None` if `kind` is no container.
///
/// `payload` is looked at for `meta` only, which exists with (ISO) and without (`QuickTime`)
/// the full-box word.
pub(crate) fn children_offset(kind: FourCc, payload: &[u8]) -> Option<usize> {
    Some(match &kind.0 {
        b"moov" | b"trak" | b"mdia" | b"minf" | b"stbl" | b"dinf" | b"edts" | b"udta" | b"mvex"
        | b"moof" | b"traf" | b"mfra" | b"sinf" | b"schi" | b"rinf" | b"tref" | b"trgr"
        | b"meco" | b"strk" | b"strd" => 0,
        b"stsd" | b"dref" => 8,
        b"meta" if payload.get(4..8) == Some(b"hdlr") => 0,
        b"meta" => 4,
        _ => return None,
    })
}

/// Where the child boxes of an entry begin in its payload; `None` if it has none.
pub(crate) fn entry_children_offset(
    format: FourCc,
    handler: FourCc,
    stsd_version: u8,
    payload: &[u8],
) -> Option<usize> {
    match family(handler) {
        EntryFamily::Visual => Some(78),
        // QuickTime's versions 1 and 2 have more fields; ISO's version 1 has none and
        // demands an `stsd` of version 1.
        EntryFamily::Audio => Some(match payload.get(8..10) {
            Some([0, 1]) if stsd_version == 0 => 44,
            Some([0, 2]) if stsd_version == 0 => 64,
            _ => 28,
        }),
        EntryFamily::Other => match &format.0 {
            b"wvtt" | b"c608" | b"c708" | b"mp4s" => Some(8),
            b"tx3g" => Some(38),
            b"sbtt" | b"stxt" | b"mett" => after_strings(payload, 2),
            b"stpp" | b"metx" => after_strings(payload, 3),
            // The original format is known from the children only: take the first layout
            // under which they run exactly to the end.
            _ => [Some(8), after_strings(payload, 2), after_strings(payload, 3), Some(38)]
                .into_iter()
                .flatten()
                .find(|&offset| is_box_sequence(payload.get(offset..))),
        },
    }
}

/// Which fixed fields a sample entry has.
pub(crate) enum EntryFamily {
    Visual,
    Audio,
    Other,
}

/// The fields of the entries of a track with this handler.
pub(crate) fn family(handler: FourCc) -> EntryFamily {
    match &handler.0 {
        b"vide" | b"pict" | b"auxv" => EntryFamily::Visual,
        b"soun" => EntryFamily::Audio,
        _ => EntryFamily::Other,
    }
}

/// Offset after `count` zero-terminated strings that follow the common fields.
fn after_strings(payload: &[u8], count: usize) -> Option<usize> {
    let mut at = 8;
    for _ in 0..count {
        at += payload.get(at..)?.iter().position(|&byte| byte == 0)? + 1;
    }
    Some(at)
}

/// Whether boxes, at least one, fill `bytes` but for a terminator of up to 7 bytes.
fn is_box_sequence(bytes: Option<&[u8]>) -> bool {
    let Some(mut bytes) = bytes.filter(|bytes| bytes.len() >= 8) else {
        return false;
    };
    while bytes.len() >= 8 {
        let size = Header::parse(bytes).ok().and_then(|head| head.size);
        match size.and_then(|size| bytes.get(usize::try_from(size).ok()?..)) {
            Some(rest) => bytes = rest,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_of_text_entries() {
        let text = FourCc::new(b"text");
        let stpp = b"\0\0\0\0\0\0\0\x01ns\0loc\0\0\0\0\0\x08btrt";
        assert_eq!(entry_children_offset(FourCc::new(b"stpp"), text, 0, stpp), Some(16));
        assert_eq!(entry_children_offset(FourCc::new(b"enct"), text, 0, stpp), Some(16));
        let wvtt = b"\0\0\0\0\0\0\0\x01\0\0\0\x08vttC";
        assert_eq!(entry_children_offset(FourCc::new(b"enct"), text, 0, wvtt), Some(8));
        assert_eq!(entry_children_offset(FourCc::new(b"????"), text, 0, &[0; 8]), None);
    }

    #[test]
    fn quicktime_audio_versions() {
        let soun = FourCc::new(b"soun");
        let mut payload = [0; 28];
        payload[9] = 1;
        assert_eq!(entry_children_offset(FourCc::new(b"mp4a"), soun, 0, &payload), Some(44));
        assert_eq!(entry_children_offset(FourCc::new(b"mp4a"), soun, 1, &payload), Some(28));
    }
}
