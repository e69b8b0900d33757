//! `ContentProtection` (ISO/IEC 23009-1, 5.8.4.1; ISO/IEC 23001-7, 11).

use super::xml::Element;
use crate::{
    Protection, ProtectionSystem,
    protection::{Kind, base64, uuid},
};

/// The descriptors of how a track is protected, and one for each system. FairPlay has none: it plays HLS.
/// Nor has the common box, which is no system: it is in initialization segments, and dash.js (5.2) would send
/// it to a server of Clear Key. Keys that come later are told of by the segments (`seig` and `pssh` in `moof`), and
/// a clear lead by its segments alone (DASH-IF IOP 4.3, 7.5 and 7.6).
pub(super) fn content_protection(protection: &Protection) -> Vec<Element> {
    let scheme = Element::descriptor(
        "ContentProtection",
        "urn:mpeg:dash:mp4protection:2011",
        protection.scheme,
    )
    .attribute("cenc:default_KID", uuid(protection.kid));
    let mut descriptors = vec![scheme];
    let has_descriptor =
        |system: &&ProtectionSystem| !matches!(system.kind(), Kind::FairPlay | Kind::Common);
    for system in protection.systems.iter().filter(has_descriptor) {
        let descriptor = Element::new("ContentProtection")
            .attribute("schemeIdUri", format!("urn:uuid:{}", uuid(system.id)));
        let descriptor = match system.kind() {
            Kind::ClearKey => descriptor.attribute("value", "ClearKey1.0"),
            Kind::PlayReady => descriptor.attribute("value", "MSPR 2.0"),
            _ => descriptor,
        };
        let text = |name, bytes: &Vec<u8>| Element::with_text(name, base64(bytes));
        descriptors.push(
            descriptor
                .children(system.pssh.iter().map(|pssh| text("cenc:pssh", pssh)))
                .children(system.playready_object.iter().map(|object| text("mspr:pro", object)))
                .children(system.license_url.iter().map(|url| license_url(system.kind(), url))),
        );
    }
    descriptors
}

/// DASH-IF, Content Protection Information Exchange; players know what to send to a server of Clear Key by the
/// type of license of EME.
fn license_url(kind: Kind, url: &str) -> Element {
    let element = Element::with_text("dashif:Laurl", url);
    match kind {
        Kind::ClearKey => element.attribute("Lic_type", "EME-1.0"),
        _ => element,
    }
}
