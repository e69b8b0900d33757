//! `ftyp` for a file that becomes fragmented (ISO/IEC 14496-12, 4.3).

use crate::{BoxRef, FourCc, Result, compose};

/// Gives `ftyp` with the major brand and version of `ftyp` and its brands, plus `iso6` (movie
/// fragments with default-base-is-moof and `tfdt`) and `extra`, each once.
///
/// The brand of `QuickTime` goes, since [`super::fragment_movie`] makes an ISO movie; a file that
/// has it as its major brand becomes `iso6`.
pub fn fragmented_ftyp(ftyp: &[u8], extra: &[FourCc]) -> Result<Vec<u8>> {
    let root = BoxRef::root_of(ftyp, 0, b"ftyp")?;
    let mut reader = root.reader();
    let mut major = reader.array("major_brand").map(FourCc)?;
    let mut minor = reader.u32("minor_version")?;
    if major == QUICKTIME {
        (major, minor) = (FourCc::new(b"iso6"), 0);
    }
    let mut brands: Vec<FourCc> =
        reader.rest().as_chunks().0.iter().map(|brand: &[u8; 4]| FourCc(*brand)).collect();
    // QuickTime files may fill the list with zeros.
    brands.retain(|brand| *brand != QUICKTIME && *brand != [0; 4]);
    for brand in [FourCc::new(b"iso6")].iter().chain(extra) {
        if !brands.contains(brand) {
            brands.push(*brand);
        }
    }
    Ok(compose::ftyp(major, minor, &brands))
}

/// As [`fragmented_ftyp`] without more brands; makes one for a file that has none, as old
/// `QuickTime` files do.
pub fn iso_ftyp(ftyp: Option<&[u8]>) -> Result<Vec<u8>> {
    let brand = FourCc::new(b"iso6");
    ftyp.map_or_else(|| Ok(compose::ftyp(brand, 0, &[brand])), |ftyp| fragmented_ftyp(ftyp, &[]))
}

/// The brand of `QuickTime`.
const QUICKTIME: [u8; 4] = *b"qt  ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_brands_once() {
        let old = compose::ftyp(FourCc::new(b"isom"), 512, &[FourCc::new(b"isom")]);
        let new = fragmented_ftyp(&old, &[FourCc::new(b"cmfc"), FourCc::new(b"isom")]).unwrap();
        assert_eq!(new, b"\0\0\0\x1cftypisom\0\0\x02\0isomiso6cmfc");
        assert_eq!(fragmented_ftyp(&new, &[]).unwrap(), new);
    }

    #[test]
    fn quicktime_becomes_iso() {
        let brands = [FourCc::new(b"qt  "), FourCc([0; 4]), FourCc::new(b"mp42")];
        let new = fragmented_ftyp(&compose::ftyp(brands[0], 0x2005_0300, &brands), &[]).unwrap();
        assert_eq!(new, b"\0\0\0\x18ftypiso6\0\0\0\0mp42iso6");
        let new = fragmented_ftyp(&compose::ftyp(brands[2], 7, &brands), &[]).unwrap();
        assert_eq!(new, b"\0\0\0\x18ftypmp42\0\0\0\x07mp42iso6");
    }
}
