//! Boxes of protection systems, against those that Shaka Packager 3.8.0 writes for the same keys, and
//! against a published one.

use lanelock_mp4::Pssh;
use lanelock_packager::{
    Key, Scheme,
    drm::{self, DrmError, System},
};
use lanelock_testkit::{Rng, hex, unhex};

/// KID and key of a published manifest (Microsoft's test server for PlayReady, Tears of Steel).
const TEARS: &str = "4060a865887842679cbf91ae5bae1e72:fc35340837310cc0fb53de97e22a69e0";
const OTHER: &str = "00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0";

fn keys(texts: &[&str]) -> Vec<Key> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn header(pssh: &Pssh) -> String {
    let units = pssh.data[10..].as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit));
    char::decode_utf16(units).map(Result::unwrap).collect()
}

/// Shaka Packager's, with `--protection_systems Widevine` and `CommonSystem`.
#[test]
fn widevine_and_common_are_those_of_shaka_packager() {
    for (system, scheme, data) in [
        (System::Widevine, Scheme::Cenc, "12104060a865887842679cbf91ae5bae1e7248e3dc959b06"),
        (System::Widevine, Scheme::Cbcs, "12104060a865887842679cbf91ae5bae1e7248f3c6899b06"),
        (System::Common, Scheme::Cbcs, ""),
    ] {
        let pssh = drm::pssh(system, scheme, &keys(&[TEARS])).unwrap();
        assert_eq!(hex(&pssh.data), data, "{system}");
        assert_eq!(pssh.version, u8::from(system == System::Common));
        assert_eq!(pssh.raw.len(), if system == System::Common { 52 } else { 56 });
    }
}

/// Version 4.0: the header is as long as the published one, with its KID and checksum. Shaka Packager
/// writes the same characters, and those of 4.3.
#[test]
fn playready() {
    let pssh = drm::pssh(System::PlayReady, Scheme::Cenc, &keys(&[TEARS])).unwrap();
    assert_eq!((pssh.raw.len(), &pssh.data[..10]), (550, &[6, 2, 0, 0, 1, 0, 1, 0, 252, 1][..]));
    assert_eq!(
        header(&pssh),
        "<WRMHEADER xmlns=\"http://schemas.microsoft.com/DRM/2007/03/PlayReadyHeader\" \
         version=\"4.0.0.0\"><DATA><PROTECTINFO><KEYLEN>16</KEYLEN><ALGID>AESCTR</ALGID>\
         </PROTECTINFO><KID>ZahgQHiIZ0Kcv5GuW64ecg==</KID><CHECKSUM>yxlGlhfD+ac=</CHECKSUM>\
         </DATA></WRMHEADER>"
    );
    let pssh = drm::pssh(System::PlayReady, Scheme::Cbcs, &keys(&[TEARS])).unwrap();
    assert_eq!(pssh.raw.len(), 478);
    assert_eq!(
        header(&pssh),
        "<WRMHEADER xmlns=\"http://schemas.microsoft.com/DRM/2007/03/PlayReadyHeader\" \
         version=\"4.3.0.0\"><DATA><PROTECTINFO><KIDS><KID ALGID=\"AESCBC\" \
         VALUE=\"ZahgQHiIZ0Kcv5GuW64ecg==\"></KID></KIDS></PROTECTINFO></DATA></WRMHEADER>"
    );
    let pssh = drm::pssh(System::PlayReady, Scheme::Cenc, &keys(&[TEARS, OTHER])).unwrap();
    let header = header(&pssh);
    assert!(header.contains("version=\"4.2.0.0\""), "{header}");
    let one = "<KIDS><KID ALGID=\"AESCTR\" CHECKSUM=\"yxlGlhfD+ac=\" \
               VALUE=\"ZahgQHiIZ0Kcv5GuW64ecg==\"></KID><KID ";
    assert!(header.contains(one), "{header}");
}

#[test]
fn what_is_made_is_read() {
    let both = keys(&[TEARS, OTHER, TEARS]);
    let kids = vec![both[0].kid, both[1].kid];
    for system in System::ALL.into_iter().filter(|system| *system != System::FairPlay) {
        for scheme in [Scheme::Cenc, Scheme::Cbcs] {
            let pssh = drm::pssh(system, scheme, &both).unwrap();
            let contents = drm::contents(&Pssh::parse(&pssh.raw).unwrap());
            assert_eq!((contents.system, &contents.kids), (Some(system), &kids));
            let detail = match (system, scheme) {
                (System::Widevine, _) => Some(("scheme", scheme.to_string())),
                (System::PlayReady, Scheme::Cenc) => Some(("header", "version 4.2.0.0".into())),
                (System::PlayReady, _) => Some(("algorithm", "AESCBC".into())),
                _ => None,
            };
            let has = |detail: &_| contents.details.contains(detail);
            assert!(detail.as_ref().is_none_or(has), "{detail:?} is missing in {contents:?}");
        }
        assert_eq!(system.name().parse(), Ok(system));
        assert_eq!(System::of(system.id()), Some(system));
    }
}

/// From a box of Widevine's test content (its documentation): provider `widevine_test`.
#[test]
fn a_box_of_another_maker() {
    let data = unhex("08011a0d7769646576696e655f74657374220f73747265616d696e675f636c697031");
    let contents = drm::contents(&Pssh::new(System::Widevine.id(), &[], &data));
    let details = [("provider", "widevine_test".into()), ("content ID", "streaming_clip1".into())];
    assert_eq!(contents.details, details);
    let unknown = drm::contents(&Pssh::new([7; 16], &[], b"data"));
    assert_eq!((unknown.system, unknown.details), (None, vec![("data", "4 bytes".into())]));
}

#[test]
fn long_values_are_cut() {
    let long = "é".repeat(1_000_000);
    let mut data = vec![0x1a, 0x80, 0x89, 0x7a]; // the provider, of 2,000,000 bytes
    data.extend(long.as_bytes());
    let contents = drm::contents(&Pssh::new(System::Widevine.id(), &[], &data));
    let text = format!("{}… (1000000 characters)", "é".repeat(200));
    assert_eq!(contents.details, [("provider", text)]);
    let just = drm::contents(&Pssh::new(
        System::Widevine.id(),
        &[],
        &[&[0x1a, 200, 1][..], &[b'a'; 200]].concat(),
    ));
    assert_eq!(just.details, [("provider", "a".repeat(200))]);
}

#[test]
fn refusals() {
    let keys = keys(&[TEARS]);
    let refused = |system, scheme| drm::pssh(system, scheme, &keys).unwrap_err();
    assert_eq!(refused(System::FairPlay, Scheme::Cbcs), DrmError::NoBox);
    for scheme in [Scheme::Cens, Scheme::Cbc1] {
        let system = System::PlayReady;
        assert_eq!(refused(system, scheme), DrmError::Scheme { system, scheme });
    }
    assert_eq!(drm::pssh(System::Common, Scheme::Cenc, &[]), Err(DrmError::NoKeys));
    assert_eq!("marlin".parse::<System>(), Err(DrmError::Unknown));
    let many: Vec<Key> = (0..600_u128).map(|n| Key::new(n.to_be_bytes(), [1; 16])).collect();
    let refused = drm::pssh(System::PlayReady, Scheme::Cbcs, &many).unwrap_err();
    assert_eq!(refused, DrmError::TooManyKids(600));
}

#[test]
fn damage_is_no_panic() {
    let mut rng = Rng::from_env("damage_is_no_panic");
    for system in [System::Widevine, System::PlayReady] {
        let good = drm::pssh(system, Scheme::Cenc, &keys(&[TEARS, OTHER])).unwrap();
        for _ in 0..4000 {
            let mut data = good.data.clone();
            for _ in 0..=rng.below(4) {
                let at = rng.below(data.len());
                data[at] = rng.bytes(1)[0];
            }
            data.truncate(rng.below(data.len() + 1));
            let contents = drm::contents(&Pssh::new(system.id(), &[], &data));
            assert!(contents.details.iter().all(|(_, text)| !text.contains(char::is_control)));
        }
    }
}
