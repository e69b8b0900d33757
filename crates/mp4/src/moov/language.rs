//! Languages of tracks, as manifests name them.

use std::str;

use crate::BoxRef;

/// The language of an `mdhd` as a tag of BCP 47 (RFC 5646); none if it is undetermined.
///
/// Numbers of `QuickTime` are read in its own files alone: elsewhere 0 is what writers leave who do not
/// know the language.
pub(super) fn bcp47(code: u16, is_quicktime: bool) -> Option<String> {
    let letters = if is_quicktime_language(code) {
        mac_language(code).filter(|_| is_quicktime)?
    } else {
        packed_language(code)
    };
    tag(str::from_utf8(&letters).ok()?)
}

/// The tag of an extended language box (ISO/IEC 14496-12, 8.4.6), which goes before that of `mdhd`; none
/// if there is no such box, or nothing of use in it.
pub(super) fn extended(mdia: &BoxRef<'_>) -> Option<String> {
    let elng = mdia.children().map_while(Result::ok).find(|child| child.kind() == b"elng")?;
    // A full box with a string.
    let text = elng.payload().get(4..)?.split(|&byte| byte == 0).next()?;
    tag(str::from_utf8(text).ok()?)
}

/// The tag with the shortest code of the language, as RFC 5646, 2.2.1, demands; none if it is no tag, or
/// says that the language is undetermined.
fn tag(text: &str) -> Option<String> {
    let is_subtag = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if text.len() > LONGEST_TAG || !text.split('-').all(is_subtag) {
        return None;
    }
    let (language, rest) = text.split_at(text.find('-').unwrap_or(text.len()));
    let language = language.to_ascii_lowercase();
    let language = match <[u8; 3]>::try_from(language.as_bytes()) {
        Ok(letters) if letters == *b"und" => return None,
        Ok(letters) => two_letters(letters).map_or(language, str::to_owned),
        Err(_) => language,
    };
    Some(language + rest)
}

/// The code of ISO 639-1 for one of ISO 639-2, terminological or bibliographic.
fn two_letters(code: [u8; 3]) -> Option<&'static str> {
    let (rows, _) = TWO_LETTERS.as_bytes().as_chunks::<5>();
    let at = rows.binary_search_by_key(&code, |&[a, b, c, ..]| [a, b, c]).ok()?;
    TWO_LETTERS.get(5 * at + 3..5 * at + 5)
}

/// Three five-bit letters, 0x60 less than ASCII; `und` if they are none.
pub(super) fn packed_language(packed: u16) -> [u8; 3] {
    let letter = |shift: u16| 0x60 + (packed >> shift & 31).to_be_bytes()[1];
    let code = [letter(10), letter(5), letter(0)];
    if code.iter().all(u8::is_ascii_lowercase) { code } else { *b"und" }
}

/// Whether the language of an `mdhd` is a number of `QuickTime`, or its value for none.
pub(crate) fn is_quicktime_language(code: u16) -> bool {
    code < FIRST_PACKED_LANGUAGE || code == UNSPECIFIED_LANGUAGE
}

/// The ISO 639-2/T code of a Macintosh language.
pub(crate) fn mac_language(code: u16) -> Option<[u8; 3]> {
    let (codes, _) = LANGUAGES.as_bytes().as_chunks::<3>();
    codes.get(usize::from(code)).copied()
}

/// No tag in use comes near: RFC 5646, 4.4.1, has 35 characters suffice.
const LONGEST_TAG: usize = 100;

/// Codes below are Macintosh languages, those from here three packed letters.
const FIRST_PACKED_LANGUAGE: u16 = 0x400;

/// All ones: no language is given.
const UNSPECIFIED_LANGUAGE: u16 = 0x7fff;

/// ISO 639-2/T codes of the Macintosh languages, in the order of their numbers.
const LANGUAGES: &str = "\
    engfradeuitanldswespadanpornor\
    hebjpnarafinellislmltturhrvzho\
    urdhinthakorlitpolhunestlavsme\
    faofasruszhonldgleslqironceslk\
    slvyidsrpmkdbulukrbeluzbkazaze\
    azehyekatmolkirtgktukmonmonpus\
    kurkassndbodnepsanmarbenasmguj\
    panorimalkantamtelsinmyakhmlao\
    vieindtglmsamsaamhtirormsomswa\
    kinrunnyamlgepoundundundundund\
    undundundundundundundundundund\
    undundundundundundundundundund\
    undundundundundundundundcymeus\
    catlatquegrnaymtatuigdzojav";

/// Rows of the code tables of ISO 639-2 that have a code of ISO 639-1: first the one of three letters, by
/// which they are sorted, then that of two.
const TWO_LETTERS: &str = "\
    aaraaabkabafrafakaakalbsqamhamaraararganarmhyasmasavaavaveaeaymayazeazbakbabambm\
    baqeubelbebenbnbihbhbisbibodbobosbsbrebrbulbgburmycatcacescschachchecechizhchucu\
    chvcvcorkwcoscocrecrcymcyczecsdandadeudedivdvdutnldzodzellelengenepoeoesteteuseu\
    eweeefaofofasfafijfjfinfifrafrfrefrfryfyfulffgeokagerdeglagdglegaglgglglvgvgreel\
    grngngujguhaththauhahebheherhzhinhihmohohrvhrhunhuhyehyiboigiceisidoioiiiiiikuiu\
    ileieinaiaindidipkikislisitaitjavjvjpnjakalklkanknkaskskatkakaukrkazkkkhmkmkikki\
    kinrwkirkykomkvkonkgkorkokuakjkurkulaololatlalavlvlimlilinlnlitltltzlblubluluglg\
    macmkmahmhmalmlmaomimarmrmaymsmkdmkmlgmgmltmtmonmnmrimimsamsmyamynaunanavnvnblnr\
    ndendndongnepnenldnlnnonnnobnbnornonyanyociocojiojoriorormomossospanpaperfaplipi\
    polplporptpuspsquequrohrmronrorumrorunrnrusrusagsgsansasinsislksksloskslvslsmese\
    smosmsnasnsndsdsomsosotstspaessqisqsrdscsrpsrsswsssunsuswaswswesvtahtytamtatattt\
    teltetgktgtgltlthathtibbotirtitontotsntntsotstuktkturtrtwitwuigugukrukurduruzbuz\
    venvevievivolvowelcywlnwawolwoxhoxhyidyiyoryozhazazhozhzulzu";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_at_their_numbers() {
        for (code, name) in [
            (0, "eng"),
            (11, "jpn"),
            (23, "kor"),
            (34, "nld"),
            (59, "pus"),
            (80, "vie"),
            (94, "epo"),
            (128, "cym"),
            (138, "jav"),
        ] {
            assert_eq!(mac_language(code).unwrap(), name.as_bytes());
        }
        assert_eq!(LANGUAGES.len(), 139 * 3);
    }

    #[test]
    fn packed() {
        assert_eq!(packed_language(0x55c4), *b"und");
        assert_eq!(packed_language(0x15c7), *b"eng");
        assert_eq!(packed_language(0), *b"und");
        assert_eq!(packed_language(0x7fff), *b"und");
    }

    #[test]
    fn tags() {
        // RFC 5646, 2.2.1 and appendix A.
        for (text, expected) in [
            ("eng", Some("en")),
            ("ger", Some("de")),
            ("deu-CH-1996", Some("de-CH-1996")),
            ("sgn", Some("sgn")),
            ("mul", Some("mul")),
            ("qaa-Qaaa-QM-x-southern", Some("qaa-Qaaa-QM-x-southern")),
            ("zh-Hant", Some("zh-Hant")),
            ("x-whatever", Some("x-whatever")),
            ("zho", Some("zh")),
            ("aar", Some("aa")),
            ("zul", Some("zu")),
            ("und", None),
            ("", None),
            ("en\"", None),
            ("en--US", None),
            ("languages", None),
        ] {
            assert_eq!(tag(text).as_deref(), expected, "{text}");
        }
        assert_eq!(tag(&"a-".repeat(60)), None);
    }

    #[test]
    fn languages_of_mdhd() {
        assert_eq!(bcp47(0x15c7, false).unwrap(), "en");
        assert_eq!(bcp47(0x55c4, false), None);
        assert_eq!(bcp47(0, false), None);
        assert_eq!(bcp47(0, true).unwrap(), "en");
        assert_eq!(bcp47(2, true).unwrap(), "de");
        assert_eq!(bcp47(0x7fff, true), None);
        assert_eq!(bcp47(300, true), None);
    }

    #[test]
    fn rows_are_sorted() {
        let (rows, rest) = TWO_LETTERS.as_bytes().as_chunks::<5>();
        assert!(rest.is_empty() && rows.is_sorted_by(|a, b| a[..3] < b[..3]));
    }
}
