//! Names a position in a top-level box, for error messages only.
//!
//! Computing the path when an error is made, by walking down again from the root, keeps
//! path bookkeeping out of the successful parse. The walk is lenient: it stops at the first
//! thing it does not understand and gives the path up to there.

use std::fmt::Write as _;
use std::ops::Range;

use crate::{
    FourCc,
    header::Header,
    nesting::{MAX_DEPTH, children_offset, entry_children_offset},
};

struct Found {
    kind: FourCc,
    start: usize,
    payload: usize,
    end: usize,
    /// Index among siblings of its type, and whether there are several.
    index: usize,
    several: bool,
}

/// Path of the box that starts at `anchor`, or of the deepest known box around it.
pub(crate) fn locate(bytes: &[u8], anchor: usize) -> String {
    let mut path = String::new();
    let mut range = 0..bytes.len();
    let mut handler = FourCc::default();
    let mut in_stsd = false;
    for _ in 0..=MAX_DEPTH {
        let Some(found) = containing(bytes, range, anchor) else {
            break;
        };
        if !path.is_empty() {
            path.push('/');
        }
        let _ = write!(path, "{}", found.kind);
        if found.several {
            let _ = write!(path, "[{}]", found.index);
        }
        if found.start == anchor {
            return path;
        }
        let payload = &bytes[found.payload..found.end];
        if found.kind == b"mdia" {
            handler = handler_of(bytes, found.payload..found.end);
        }
        let offset = if in_stsd {
            entry_children_offset(found.kind, handler, 0, payload)
        } else {
            children_offset(found.kind, payload)
        };
        in_stsd = found.kind == b"stsd";
        match offset {
            Some(offset) if offset <= payload.len() => range = found.payload + offset..found.end,
            _ => break,
        }
    }
    if path.is_empty() {
        path.push_str("top level");
    }
    path
}

/// The box of `range` that contains `anchor`. A box too large for the range is cut.
fn containing(bytes: &[u8], range: Range<usize>, anchor: usize) -> Option<Found> {
    let mut found: Option<Found> = None;
    for (kind, start, payload, end) in boxes(bytes, range.clone()) {
        if (start..end).contains(&anchor) {
            found = Some(Found { kind, start, payload, end, index: 0, several: false });
            break;
        }
    }
    let mut found = found?;
    for (kind, start, ..) in boxes(bytes, range) {
        if kind == found.kind && start != found.start {
            found.several = true;
            found.index += usize::from(start < found.start);
        }
    }
    Some(found)
}

/// Lenient box walk: kind, start, payload start, end.
fn boxes(
    bytes: &[u8],
    range: Range<usize>,
) -> impl Iterator<Item = (FourCc, usize, usize, usize)> + '_ {
    let mut at = range.start;
    std::iter::from_fn(move || {
        let left = bytes.get(at..range.end).filter(|left| left.len() >= 8)?;
        let start = at;
        let Ok(head) = Header::parse(left) else {
            // Where the size is damaged, the type still helps to find the place.
            at = range.end;
            let kind = FourCc([left[4], left[5], left[6], left[7]]);
            return Some((kind, start, range.end, range.end));
        };
        let size = head.size.and_then(|size| usize::try_from(size).ok()).unwrap_or(left.len());
        at = start + size.min(left.len());
        Some((head.kind, start, (start + head.len).min(at), at))
    })
}

fn handler_of(bytes: &[u8], range: Range<usize>) -> FourCc {
    boxes(bytes, range)
        .find(|(kind, ..)| kind == b"hdlr")
        .and_then(|(_, _, payload, end)| bytes[payload..end].get(8..12)?.try_into().ok())
        .map_or_else(FourCc::default, FourCc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_siblings_only() {
        let bytes = b"\0\0\0\x20moov\0\0\0\x08trak\0\0\0\x08udta\0\0\0\x08trak";
        assert_eq!(locate(bytes, 8), "moov/trak[0]");
        assert_eq!(locate(bytes, 16), "moov/udta");
        assert_eq!(locate(bytes, 24), "moov/trak[1]");
        assert_eq!(locate(b"", 0), "top level");
    }
}
