//! The boxes of ISO/IEC 14496-12 as tests need them: written by hand, and found
//! in files that are known to be good. A second reading beside `lanelock-mp4`,
//! which is what most of these tests are about.

/// A box of that type around the parts.
///
/// # Panics
/// If it has 4 GiB or more.
#[must_use]
pub fn boxed(kind: &[u8; 4], parts: &[&[u8]]) -> Vec<u8> {
    let mut out = vec![0; 4];
    out.extend_from_slice(kind);
    for part in parts {
        out.extend_from_slice(part);
    }
    let size = u32::try_from(out.len()).expect("boxes of tests are small");
    out[..4].copy_from_slice(&size.to_be_bytes());
    out
}

/// A full box of 32-bit words: version and flags are the first of them.
#[must_use]
pub fn full(kind: &[u8; 4], content: &[u32]) -> Vec<u8> {
    boxed(kind, &[&words(content)])
}

/// Big-endian 32-bit words.
#[must_use]
pub fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// The big-endian 32-bit word at `at`.
///
/// # Panics
/// If the bytes end before it does.
#[must_use]
pub fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// The offset of the first box of a type, at its size field: of the first place
/// that holds the four characters, which could by chance lie in media data, but
/// does not in the clips used.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn find(bytes: &[u8], kind: &[u8; 4]) -> usize {
    let found = bytes.windows(4).position(|window| window == kind);
    found.unwrap_or_else(|| panic!("no {} in the bytes", kind.escape_ascii())) - 4
}

/// Adds `growth` to the size of the first box of each type: those around
/// something that was put in.
///
/// # Panics
/// If one of them is not there.
pub fn grow(bytes: &mut [u8], kinds: &[&[u8; 4]], growth: usize) {
    let growth = u32::try_from(growth).expect("boxes of tests are small");
    for kind in kinds {
        let at = find(bytes, kind);
        let size = word(bytes, at) + growth;
        bytes[at..at + 4].copy_from_slice(&size.to_be_bytes());
    }
}

/// Types and payloads of boxes in a row.
///
/// # Panics
/// While iterating, if a box ends behind the bytes.
pub fn children(mut rest: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    std::iter::from_fn(move || {
        let kind = rest.get(4..8)?.try_into().expect("four bytes");
        let (header, size) = match word(rest, 0) {
            0 => (8, rest.len()),
            1 => (16, word(rest, 12) as usize),
            size => (8, size as usize),
        };
        let (this, later) = rest.split_at(size);
        rest = later;
        Some((kind, &this[header..]))
    })
}

/// The payload of the first box of that type in a row of boxes.
#[must_use]
pub fn child(boxes: &[u8], wanted: [u8; 4]) -> Option<&[u8]> {
    children(boxes).find(|(kind, _)| *kind == wanted).map(|(_, payload)| payload)
}

/// The payload of the box at the end of a path of types.
#[must_use]
pub fn descend<'a>(boxes: &'a [u8], path: &[&[u8; 4]]) -> Option<&'a [u8]> {
    path.iter().try_fold(boxes, |boxes, kind| child(boxes, **kind))
}

/// The payloads of all boxes of a type, in all boxes that may hold it.
#[must_use]
pub fn all(boxes: &[u8], wanted: [u8; 4]) -> Vec<&[u8]> {
    const CONTAINERS: [&[u8; 4]; 12] = [
        b"moov", b"trak", b"mdia", b"minf", b"stbl", b"moof", b"traf", b"mvex", b"sinf", b"schi",
        b"mfra", b"edts",
    ];
    let mut found = Vec::new();
    for (kind, payload) in children(boxes) {
        if kind == wanted {
            found.push(payload);
        } else if CONTAINERS.contains(&&kind) {
            found.extend(all(payload, wanted));
        } else {
            // What stands before the boxes inside: version, flags and count; the
            // fields of a sample entry.
            let fields = match &kind {
                b"stsd" => 8,
                b"encv" => 78,
                b"enca" => 28,
                _ => continue,
            };
            found.extend(all(&payload[fields..], wanted));
        }
    }
    found
}

/// The payloads of all `mdat`, joined.
#[must_use]
pub fn media(file: &[u8]) -> Vec<u8> {
    all(file, *b"mdat").concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_found_where_they_were_put() {
        let leaf = full(b"leaf", &[1, 2]);
        let mut file = [boxed(b"free", &[]), boxed(b"moov", &[&boxed(b"trak", &[&leaf])])].concat();
        assert_eq!(find(&file, b"leaf"), 24);
        assert_eq!(descend(&file, &[b"moov", b"trak", b"leaf"]), Some(&words(&[1, 2])[..]));
        assert_eq!(descend(&file, &[b"moov", b"leaf"]), None);
        assert_eq!(all(&file, *b"leaf"), [&words(&[1, 2])[..]]);
        file.extend([7; 5]);
        grow(&mut file, &[b"moov", b"trak", b"leaf"], 5);
        assert_eq!(all(&file, *b"leaf")[0].len(), 13);
    }

    #[test]
    fn a_box_may_run_to_the_end_or_have_64_bits() {
        let open = [&words(&[0])[..], b"mdat", b"one"].concat();
        let wide = [&words(&[1])[..], b"mdat", &words(&[0, 19]), b"two"].concat();
        assert_eq!(media(&[wide, open].concat()), b"twoone");
    }
}
