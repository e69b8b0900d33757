//! Text: how much of it there may be, and UUIDs.

/// The most bytes that a document may have.
pub const MOST_BYTES: usize = 8 << 20;

/// Reads a UUID of 8-4-4-4-12 digits: the bytes in the order of the digits, also for a KID (ISO/IEC
/// 23001-7:2016, 11.2).
pub(crate) fn uuid(text: &str) -> Option<[u8; 16]> {
    let mut uuid = [0; 16];
    let mut groups = text.split('-');
    let mut rest = &mut uuid[..];
    for len in [4, 2, 2, 2, 6] {
        let (bytes, after) = rest.split_at_mut(len);
        base16ct::mixed::decode(groups.next()?, bytes).ok().filter(|read| read.len() == len)?;
        rest = after;
    }
    groups.next().is_none().then_some(uuid)
}

/// Writes a UUID.
pub(crate) fn uuid_text(uuid: &[u8; 16]) -> String {
    lanelock_packager::drm::uuid(*uuid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids() {
        let text = "00112233-4455-6677-8899-aaBBccDDeeFF";
        let read = uuid(text).unwrap();
        assert_eq!(read[..4], [0, 0x11, 0x22, 0x33]);
        assert_eq!(uuid_text(&read), text.to_lowercase());
        for wrong in [
            "",
            "00112233445566778899aabbccddeeff",
            "{00112233-4455-6677-8899-aabbccddeeff}",
            "0011223-34455-6677-8899-aabbccddeeff",
            "00112233-4455-6677-8899-aabbccddeeff-",
            "0011223g-4455-6677-8899-aabbccddeeff",
        ] {
            assert_eq!(uuid(wrong), None, "{wrong}");
        }
    }
}
