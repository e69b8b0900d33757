//! `ftyp` for a file that becomes fragmented (ISO/IEC 14496-12, 4.3).

use crate::{BoxRef, FourCc, Result, compose};

/// Gives `ftyp` with the major brand and version of `ftyp` and its brands, plus `iso6` (movie
/// fragments with default-base-is-moof and `tfdt`) and `extra`, each once.
pub fn fragmented_ftyp(ftyp: &[u8], extra: &[FourCc]) -> Result<Vec<u8>> {
    let root = BoxRef::root_of(ftyp, 0, b"ftyp")?;
    let mut reader = root.reader();
    let major = reader.array("major_brand").map(FourCc)?;
    let minor = reader.u32("minor_version")?;
    let mut brands: Vec<FourCc> =
        reader.rest().as_chunks().0.iter().map(|brand: &[u8; 4]| FourCc(*brand)).collect();
    for brand in [FourCc::new(b"iso6")].iter().chain(extra) {
        if !brands.contains(brand) {
            brands.push(*brand);
        }
    }
    Ok(compose::ftyp(major, minor, &brands))
}

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
}
