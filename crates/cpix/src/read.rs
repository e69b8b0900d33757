//! From XML to a document. What the schema does not have in CPIX's own namespaces is an error; elements
//! of other namespaces are extensions and left out.

use std::collections::HashSet;

use base64ct::{Base64, Encoding as _};
use lanelock_mp4::Pssh;
use lanelock_packager::Key;
use zeroize::Zeroizing;

use crate::{
    document::{
        AudioFilter, BitrateFilter, ContentKey, Document, DrmSystem, HlsSignaling, KeyPeriod,
        Playlist, Span, UsageRule, VideoFilter,
    },
    error::{CpixError, Place},
    sealed::{Trust, Unsealer},
    secret::{DeliveryData, DocumentKey, Protection, Sealed},
    text::{uuid, uuid_text},
    time::{WallClock, duration},
    xml::{
        Element,
        Namespace::{self, Cpix, Dsig, Pskc, Xenc},
        is_space, parse,
    },
};

/// What a document is read with.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The private key of the recipient, for encrypted keys: RSA, PEM (PKCS #8 or PKCS #1).
    pub recipient_key: Option<Zeroizing<String>>,
    /// The certificate of who must have signed the document: PEM. Without one, signatures are an error:
    /// they would be taken for a proof that nobody has looked at.
    pub signer: Option<String>,
}

impl core::fmt::Debug for ReadOptions {
    /// Shows whether there is a private key, not the key.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let key = self.recipient_key.as_ref().map(|_| "...");
        f.debug_struct("ReadOptions")
            .field("recipient_key", &key)
            .field("signer", &self.signer)
            .finish()
    }
}

impl Document {
    /// Reads a document.
    ///
    /// # Errors
    /// It is not a valid CPIX document of version 2, or has encrypted keys or signatures which cannot be
    /// read or verified with the options.
    pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Self, CpixError> {
        if bytes.len() > crate::MOST_BYTES {
            return Err(CpixError::TooLarge);
        }
        let text =
            str::from_utf8(bytes).map_err(|error| CpixError::NotUtf8(error.valid_up_to()))?;
        let root = parse(text)?;
        Reader { text }.document(&root, options)
    }
}

/// How often an element may come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Often {
    Once,
    Twice,
    Any,
}
use Often::{Any, Once, Twice};

type Child = (Namespace, &'static str, Often);

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn document(&self, root: &Element, options: &ReadOptions) -> Result<Document, CpixError> {
        if !root.is(Cpix, "CPIX") {
            let what = "the root element is not CPIX of the namespace urn:dashif:org:cpix";
            return Err(self.fault(root, what));
        }
        self.shape(
            root,
            &["id", "contentId", "name", "version"],
            &[
                (Cpix, "DeliveryDataList", Once),
                (Cpix, "ContentKeyList", Once),
                (Cpix, "DRMSystemList", Once),
                (Cpix, "ContentKeyPeriodList", Once),
                (Cpix, "ContentKeyUsageRuleList", Once),
                (Cpix, "UpdateHistoryItemList", Once),
                (Dsig, "Signature", Any),
            ],
        )?;
        self.unique_ids(root)?;
        let version = root.attribute("version").map(ToOwned::to_owned);
        if let Some(version) = &version {
            self.version(root, version)?;
        }
        Trust::check(self.text, root, options.signer.as_deref())?;

        let mut document = Document {
            content_id: root.attribute("contentId").map(ToOwned::to_owned),
            name: root.attribute("name").map(ToOwned::to_owned),
            version,
            ..Document::default()
        };
        let listed = |list: &str| root.child(Cpix, list);
        let (mut kids, mut systems, mut indexes) = (HashSet::new(), HashSet::new(), HashSet::new());
        let mut unsealer = Unsealer::default();
        if let Some(list) = listed("DeliveryDataList") {
            let data = self.list(list, "DeliveryData")?;
            let data: Vec<DeliveryData> =
                data.into_iter().map(|element| self.delivery(element)).collect::<Result<_, _>>()?;
            unsealer = Unsealer::new(&data, options.recipient_key.as_deref().map(String::as_str))?;
        }
        if let Some(list) = listed("ContentKeyList") {
            for element in self.list(list, "ContentKey")? {
                let key = self.key(element, &unsealer, listed("DeliveryDataList").is_some())?;
                if !kids.insert(key.kid) {
                    let what = format!("the KID {} is there twice", uuid_text(&key.kid));
                    return Err(self.fault(element, what));
                }
                if key.content_id.is_some() && document.content_id.is_some() {
                    let what = "contentId is given for the document and for a key; CPIX allows one of both";
                    return Err(self.fault(element, what));
                }
                document.keys.push(key);
            }
        }
        if let Some(list) = listed("DRMSystemList") {
            for element in self.list(list, "DRMSystem")? {
                let system = self.drm_system(element)?;
                self.known(&kids, element, &system.kid)?;
                if !systems.insert((system.system_id, system.kid)) {
                    let what = format!(
                        "the system {} is there twice for the KID {}",
                        uuid_text(&system.system_id),
                        uuid_text(&system.kid)
                    );
                    return Err(self.fault(element, what));
                }
                document.drm_systems.push(system);
            }
        }
        if let Some(list) = listed("ContentKeyPeriodList") {
            for element in self.list(list, "ContentKeyPeriod")? {
                let period = self.period(element)?;
                if period.index.is_some() && !indexes.insert(period.index) {
                    return Err(self.fault(element, "another period has the same index"));
                }
                document.periods.push(period);
            }
        }
        let period_ids: HashSet<String> =
            document.periods.iter().filter_map(|p| p.id.clone()).collect();
        if let Some(list) = listed("ContentKeyUsageRuleList") {
            for element in self.list(list, "ContentKeyUsageRule")? {
                let rule = self.rule(element)?;
                self.known(&kids, element, &rule.kid)?;
                for id in &rule.period_ids {
                    if !period_ids.contains(id) {
                        let what =
                            "a KeyPeriodFilter names a period that is not in ContentKeyPeriodList";
                        return Err(self.fault(element, what));
                    }
                }
                document.rules.push(rule);
            }
        }
        Ok(document)
    }

    /// Refuses two elements with one `id`: a signature of one would be taken for that of the other.
    fn unique_ids(&self, root: &Element) -> Result<(), CpixError> {
        let mut known = HashSet::new();
        let mut elements = vec![root];
        while let Some(element) = elements.pop() {
            for name in ["id", "Id", "ID", "AssertionID"] {
                if let Some(id) = element.attribute(name)
                    && !known.insert(id)
                {
                    return Err(self.fault(element, "another element has the same id"));
                }
            }
            elements.extend(&element.children);
        }
        Ok(())
    }

    fn version(&self, root: &Element, version: &str) -> Result<(), CpixError> {
        let known = version.split_once('.').is_some_and(|(major, minor)| {
            major == "2" && matches!(minor, "0" | "1" | "2" | "3" | "4")
        });
        if known {
            return Ok(());
        }
        let what = "the version is not one that is known, 2.0 to 2.4; a document of another version may mean \
                    what is not understood here";
        Err(self.fault(root, what))
    }

    /// The elements of a list.
    fn list<'e>(
        &self,
        list: &'e Element,
        name: &'static str,
    ) -> Result<Vec<&'e Element>, CpixError> {
        self.shape(list, &["id", "updateVersion"], &[(Cpix, name, Any)])?;
        Ok(list.children.iter().filter(|child| child.is(Cpix, name)).collect())
    }

    fn key(
        &self,
        element: &Element,
        unsealer: &Unsealer,
        delivered: bool,
    ) -> Result<ContentKey, CpixError> {
        self.shape(
            element,
            &["id", "contentId", "kid", "explicitIV", "dependsOnKey", "commonEncryptionScheme"],
            &[(Cpix, "HDCPData", Once), (Cpix, "Data", Once)],
        )?;
        if element.attribute("dependsOnKey").is_some() {
            let what = "dependsOnKey: key hierarchies (root and leaf keys) are not supported; ask for keys \
                        without one";
            return Err(self.fault(element, what));
        }
        let mut key = ContentKey::wanted(self.required_uuid(element, "kid")?);
        key.content_id = element.attribute("contentId").map(ToOwned::to_owned);
        key.explicit_iv = match element.attribute("explicitIV") {
            None => None,
            Some(text) => {
                let iv = self.base64(element, "explicitIV", text)?;
                let iv = iv.as_slice().try_into();
                Some(iv.map_err(|_| self.fault(element, "explicitIV is not 16 bytes in base64"))?)
            }
        };
        key.common_encryption_scheme = match element.attribute("commonEncryptionScheme") {
            None => None,
            Some(scheme) if is_token(scheme) => Some(scheme.to_owned()),
            Some(_) => {
                let what =
                    "commonEncryptionScheme is not the name of a scheme, such as cenc or cbcs";
                return Err(self.fault(element, what));
            }
        };
        if let Some(data) = element.child(Cpix, "Data") {
            let bytes = match self.secret(data)? {
                Protection::None => None,
                Protection::Plain(_) if delivered => {
                    let what = "the key is in the clear, but DeliveryDataList says that keys are encrypted";
                    return Err(self.fault(data, what));
                }
                Protection::Plain(bytes) => Some(bytes),
                Protection::Sealed(sealed) => Some(unsealer.open(&sealed, &key.kid)?),
            };
            if let Some(bytes) = bytes {
                let Ok(bytes) = <[u8; 16]>::try_from(bytes.as_slice()).map(Zeroizing::new) else {
                    let what = format!(
                        "the key of the KID {} is not 16 bytes long, as keys of Common Encryption are",
                        uuid_text(&key.kid)
                    );
                    return Err(self.fault(data, what));
                };
                key.key = Some(Key::new(key.kid, *bytes));
            }
        }
        Ok(key)
    }

    /// A `Data` element (RFC 6030, `KeyDataType`).
    fn secret(&self, data: &Element) -> Result<Protection, CpixError> {
        self.shape(data, &[], &[(Pskc, "Secret", Once)])?;
        let Some(secret) = data.child(Pskc, "Secret") else { return Ok(Protection::None) };
        self.shape(
            secret,
            &[],
            &[(Pskc, "PlainValue", Once), (Pskc, "EncryptedValue", Once), (Pskc, "ValueMAC", Once)],
        )?;
        let plain = secret.child(Pskc, "PlainValue");
        let sealed = secret.child(Pskc, "EncryptedValue");
        match (plain, sealed) {
            (Some(_), Some(_)) => {
                Err(self.fault(secret, "the key is there twice, plain and encrypted"))
            }
            (Some(plain), None) => {
                let bytes = self.leaf_base64(plain)?;
                Ok(if bytes.is_empty() { Protection::None } else { Protection::Plain(bytes) })
            }
            (None, Some(value)) => {
                let mut sealed = self.encrypted_value(value)?;
                sealed.mac = match secret.child(Pskc, "ValueMAC") {
                    Some(mac) => Some(self.leaf_base64(mac)?.to_vec()),
                    None => None,
                };
                Ok(Protection::Sealed(sealed))
            }
            (None, None) => Ok(Protection::None),
        }
    }

    /// An `EncryptedDataType` of XML Encryption.
    fn encrypted_value(&self, value: &Element) -> Result<Sealed, CpixError> {
        self.shape(
            value,
            &["Id", "Type", "MimeType", "Encoding"],
            &[
                (Xenc, "EncryptionMethod", Once),
                (Dsig, "KeyInfo", Once),
                (Xenc, "CipherData", Once),
            ],
        )?;
        let algorithm = value.child(Xenc, "EncryptionMethod");
        let algorithm =
            algorithm.ok_or_else(|| self.fault(value, "there is no xenc:EncryptionMethod"))?;
        self.shape(algorithm, &["Algorithm"], &[(Dsig, "DigestMethod", Once)])?;
        let digest = algorithm.child(Dsig, "DigestMethod").and_then(|d| d.attribute("Algorithm"));
        let data = value.child(Xenc, "CipherData");
        let data = data.ok_or_else(|| self.fault(value, "there is no xenc:CipherData"))?;
        self.shape(data, &[], &[(Xenc, "CipherValue", Once)])?;
        let cipher = data.child(Xenc, "CipherValue");
        let cipher = cipher.ok_or_else(|| self.fault(data, "there is no xenc:CipherValue"))?;
        Ok(Sealed {
            algorithm: self.required(algorithm, "Algorithm")?.to_owned(),
            digest: digest.map(ToOwned::to_owned),
            cipher: self.leaf_base64(cipher)?.to_vec(),
            mac: None,
        })
    }

    fn delivery(&self, element: &Element) -> Result<DeliveryData, CpixError> {
        self.shape(
            element,
            &["id", "updateVersion", "name"],
            &[
                (Cpix, "DeliveryKey", Once),
                (Cpix, "DocumentKey", Any),
                (Cpix, "MACMethod", Once),
                (Cpix, "Description", Once),
                (Cpix, "SendingEntity", Once),
                (Cpix, "SenderPointOfContact", Once),
                (Cpix, "ReceivingEntity", Once),
            ],
        )?;
        let key = element.child(Cpix, "DeliveryKey");
        let key = key.ok_or_else(|| self.fault(element, "there is no DeliveryKey"))?;
        let certificate =
            key.child(Dsig, "X509Data").and_then(|d| d.child(Dsig, "X509Certificate"));
        let certificate = certificate.ok_or_else(|| {
            self.fault(key, "there is no ds:X509Certificate to say whom it is for")
        })?;
        let mut data = DeliveryData {
            certificate: self.leaf_base64(certificate)?.to_vec(),
            document_keys: Vec::new(),
            mac: None,
        };
        for element in element.children.iter().filter(|child| child.is(Cpix, "DocumentKey")) {
            // CPIX 2.3 and older have the algorithm of the content keys here, too.
            self.shape(element, &["id", "Algorithm", "encryptsKey"], &[(Cpix, "Data", Once)])?;
            let secret = element.child(Cpix, "Data").map(|data| self.secret(data)).transpose()?;
            let Some(Protection::Sealed(sealed)) = secret else {
                return Err(self.fault(element, "the document key is not encrypted"));
            };
            let kids = element.attribute("encryptsKey").map(|kids| {
                kids.split(is_space)
                    .filter(|kid| !kid.is_empty())
                    .map(|kid| {
                        uuid(kid).ok_or_else(|| {
                            self.fault(element, "encryptsKey is not a list of UUIDs")
                        })
                    })
                    .collect::<Result<Vec<_>, _>>()
            });
            data.document_keys.push(DocumentKey { sealed, kids: kids.transpose()? });
        }
        if let Some(method) = element.child(Cpix, "MACMethod") {
            // RFC 6030 has MACKey, or a reference to a key elsewhere, which is not supported.
            self.shape(method, &["Algorithm"], &[(Pskc, "MACKey", Once)])?;
            let key = method.child(Pskc, "MACKey");
            let key = key.ok_or_else(|| self.fault(method, "there is no pskc:MACKey"))?;
            data.mac =
                Some((self.required(method, "Algorithm")?.to_owned(), self.encrypted_value(key)?));
        }
        Ok(data)
    }

    fn drm_system(&self, element: &Element) -> Result<DrmSystem, CpixError> {
        self.shape(
            element,
            &["id", "updateVersion", "systemId", "kid", "name", "HLSAllowedCPC"],
            &[
                (Cpix, "PSSH", Once),
                (Cpix, "ContentProtectionData", Once),
                (Cpix, "URIExtXKey", Once),
                (Cpix, "HLSSignalingData", Twice),
                (Cpix, "SmoothStreamingProtectionHeaderData", Once),
            ],
        )?;
        let mut system = DrmSystem::new(
            self.required_uuid(element, "systemId")?,
            self.required_uuid(element, "kid")?,
        );
        system.name = element.attribute("name").map(ToOwned::to_owned);
        system.hls_allowed_cpc = element.attribute("HLSAllowedCPC").map(ToOwned::to_owned);
        for child in &element.children {
            match (child.namespace, child.name.as_str()) {
                (Cpix, "PSSH") => {
                    self.shape(child, &[], &[])?;
                    let bytes = self.leaf_base64(child)?.to_vec();
                    self.check_pssh(child, &bytes, &system)?;
                    system.pssh = Some(bytes);
                }
                (Cpix, "ContentProtectionData") => {
                    self.shape(child, &["robustness"], &[])?;
                    system.robustness = child.attribute("robustness").map(ToOwned::to_owned);
                    system.content_protection_data = Some(self.leaf_text(child)?);
                }
                (Cpix, "URIExtXKey") => {
                    self.shape(child, &[], &[])?;
                    system.uri_ext_x_key = Some(self.leaf_text(child)?);
                }
                (Cpix, "HLSSignalingData") => {
                    self.shape(child, &["playlist", "allowedCPC"], &[])?;
                    let playlist = match child.attribute("playlist") {
                        None | Some("media") => Playlist::Media,
                        Some("master" | "multiVariant") => Playlist::Multivariant,
                        Some(_) => {
                            return Err(
                                self.fault(child, "playlist is not media, master or multiVariant")
                            );
                        }
                    };
                    if system.hls_signaling.iter().any(|other| other.playlist == playlist) {
                        return Err(self.fault(child, "there are two for the same playlist"));
                    }
                    system.hls_signaling.push(HlsSignaling::new(playlist, self.leaf_text(child)?));
                }
                (Cpix, _) => {
                    self.shape(child, &[], &[])?;
                    system.smooth_streaming_protection_header = Some(child.text.to_string());
                }
                _ => {}
            }
        }
        Ok(system)
    }

    fn check_pssh(
        &self,
        element: &Element,
        bytes: &[u8],
        system: &DrmSystem,
    ) -> Result<(), CpixError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let Ok(pssh) = Pssh::parse(bytes) else {
            return Err(self.fault(element, "this is not a whole pssh box"));
        };
        if pssh.system_id != system.system_id {
            return Err(
                self.fault(element, "the pssh box is for another system than systemId says")
            );
        }
        Ok(())
    }

    fn period(&self, element: &Element) -> Result<KeyPeriod, CpixError> {
        let attributes =
            ["id", "index", "label", "start", "end", "startOffset", "endOffset", "duration"];
        self.shape(element, &attributes, &[])?;
        let wall = |name| {
            element.attribute(name).map(|text: &str| {
                text.parse::<WallClock>()
                    .map_err(|error| self.fault(element, format!("{name}: {error}")))
            })
        };
        let length = |name| {
            element.attribute(name).map(|text: &str| {
                duration(text).ok_or_else(|| {
                    let what = format!("{name} is not a duration of days and less, such as PT30M");
                    self.fault(element, what)
                })
            })
        };
        let (start, end) = (wall("start").transpose()?, wall("end").transpose()?);
        let (from, to) = (length("startOffset").transpose()?, length("endOffset").transpose()?);
        let long = length("duration").transpose()?;
        let late = || self.fault(element, "the period ends later than can be told");
        let span = match (start, end, from, to, long) {
            (None, None, None, None, None) => None,
            (Some(start), Some(end), None, None, None) => Some(Span::Wall { start, end }),
            (Some(start), None, None, None, Some(long)) => {
                Some(Span::Wall { start, end: start.checked_add(long).ok_or_else(late)? })
            }
            (None, None, Some(start), Some(end), None) => Some(Span::Media { start, end }),
            (None, None, Some(start), None, Some(long)) => {
                Some(Span::Media { start, end: start.checked_add(long).ok_or_else(late)? })
            }
            _ => {
                let what = "a period has start and end, or start and duration, or startOffset and endOffset, or \
                            startOffset and duration, or none of them";
                return Err(self.fault(element, what));
            }
        };
        let empty = match span {
            Some(Span::Wall { start, end }) => end <= start,
            Some(Span::Media { start, end }) => end <= start,
            None => false,
        };
        if empty {
            return Err(self.fault(element, "the period does not end after its start"));
        }
        let index = self.number(element, "index")?.map(u32::try_from).transpose();
        Ok(KeyPeriod {
            id: element.attribute("id").map(ToOwned::to_owned),
            index: index.map_err(|_| self.fault(element, "index is more than 32 bits have"))?,
            label: element.attribute("label").map(ToOwned::to_owned),
            span,
        })
    }

    fn rule(&self, element: &Element) -> Result<UsageRule, CpixError> {
        let filters =
            ["KeyPeriodFilter", "LabelFilter", "VideoFilter", "AudioFilter", "BitrateFilter"];
        self.shape(
            element,
            &["id", "kid", "intendedTrackType"],
            &filters.map(|name| (Cpix, name, Any)),
        )?;
        let mut rule = UsageRule::new(self.required_uuid(element, "kid")?);
        rule.intended_track_type = element.attribute("intendedTrackType").map(ToOwned::to_owned);
        for child in &element.children {
            match (child.namespace, child.name.as_str()) {
                (Cpix, "KeyPeriodFilter") => {
                    self.shape(child, &["periodId"], &[])?;
                    rule.period_ids.push(self.required(child, "periodId")?.to_owned());
                }
                (Cpix, "LabelFilter") => {
                    self.shape(child, &["label"], &[])?;
                    rule.labels.push(self.required(child, "label")?.to_owned());
                }
                (Cpix, "VideoFilter") => {
                    let names = ["minPixels", "maxPixels", "hdr", "wcg", "minFps", "maxFps"];
                    self.shape(child, &names, &[])?;
                    rule.video.push(VideoFilter {
                        min_pixels: self.number(child, "minPixels")?,
                        max_pixels: self.number(child, "maxPixels")?,
                        hdr: self.boolean(child, "hdr")?,
                        wcg: self.boolean(child, "wcg")?,
                        min_fps: self.number(child, "minFps")?,
                        max_fps: self.number(child, "maxFps")?,
                    });
                    self.in_order(child, "minPixels", "maxPixels")?;
                    self.in_order(child, "minFps", "maxFps")?;
                }
                (Cpix, "AudioFilter") => {
                    self.shape(child, &["minChannels", "maxChannels"], &[])?;
                    rule.audio.push(AudioFilter {
                        min_channels: self.number(child, "minChannels")?,
                        max_channels: self.number(child, "maxChannels")?,
                    });
                    self.in_order(child, "minChannels", "maxChannels")?;
                }
                (Cpix, _) => {
                    self.shape(child, &["minBitrate", "maxBitrate"], &[])?;
                    let filter = BitrateFilter {
                        min_bitrate: self.number(child, "minBitrate")?,
                        max_bitrate: self.number(child, "maxBitrate")?,
                    };
                    if filter == BitrateFilter::default() {
                        return Err(self.fault(child, "neither minBitrate nor maxBitrate is given"));
                    }
                    self.in_order(child, "minBitrate", "maxBitrate")?;
                    rule.bit_rates.push(filter);
                }
                _ => {
                    rule.unknown_filter.get_or_insert_with(|| child.name.clone());
                }
            }
        }
        Ok(rule)
    }

    /// Checks that a KID is that of a key.
    fn known(
        &self,
        kids: &HashSet<[u8; 16]>,
        element: &Element,
        kid: &[u8; 16],
    ) -> Result<(), CpixError> {
        if kids.contains(kid) {
            return Ok(());
        }
        let what = format!("there is no ContentKey with the KID {}", uuid_text(kid));
        Err(self.fault(element, what))
    }

    /// Checks an element against the schema: these attributes, and these children. Children of other
    /// namespaces are extensions.
    fn shape(
        &self,
        element: &Element,
        attributes: &[&str],
        children: &[Child],
    ) -> Result<(), CpixError> {
        for (name, _) in &element.attributes {
            if !attributes.contains(&name.as_str()) {
                let what = format!("the attribute {} is unknown", shown(name));
                return Err(self.fault(element, what));
            }
        }
        for (number, child) in element.children.iter().enumerate() {
            if child.namespace == Namespace::Other {
                continue;
            }
            let known = children.iter().find(|(ns, name, _)| child.is(*ns, name));
            let Some((namespace, name, often)) = known else {
                let unnamed = child.namespace == Namespace::None;
                let what =
                    if unnamed { "it is in no namespace" } else { "this element is unknown here" };
                let what = format!("{what} (in {})", element.title());
                return Err(self.fault(child, what));
            };
            let most = match often {
                Once => 1,
                Twice => 2,
                Any => continue,
            };
            // The number of children with a limit is small, or this is the error that ends the search.
            let before =
                element.children[..number].iter().filter(|other| other.is(*namespace, name));
            if before.take(most).count() == most {
                let what = format!("it comes too often in {} (at most {most})", element.title());
                return Err(self.fault(child, what));
            }
        }
        let is_parent = !children.is_empty();
        if is_parent && !element.text.trim_matches(is_space).is_empty() {
            return Err(self.fault(element, "there is text where elements belong"));
        }
        Ok(())
    }

    fn required<'e>(&self, element: &'e Element, name: &str) -> Result<&'e str, CpixError> {
        let value = element.attribute(name);
        value.ok_or_else(|| self.fault(element, format!("the attribute {name} is missing")))
    }

    fn required_uuid(&self, element: &Element, name: &str) -> Result<[u8; 16], CpixError> {
        uuid(self.required(element, name)?).ok_or_else(|| {
            let what =
                format!("{name} is not a UUID, such as 00112233-4455-6677-8899-aabbccddeeff");
            self.fault(element, what)
        })
    }

    fn number(&self, element: &Element, name: &str) -> Result<Option<u64>, CpixError> {
        let Some(text) = element.attribute(name) else { return Ok(None) };
        let text = text.trim_matches(is_space);
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if digits { text.parse().ok() } else { None };
        let number =
            number.ok_or_else(|| self.fault(element, format!("{name} is not a number")))?;
        Ok(Some(number))
    }

    fn boolean(&self, element: &Element, name: &str) -> Result<Option<bool>, CpixError> {
        match element.attribute(name).map(|text| text.trim_matches(is_space)) {
            None => Ok(None),
            Some("true" | "1") => Ok(Some(true)),
            Some("false" | "0") => Ok(Some(false)),
            Some(_) => Err(self.fault(element, format!("{name} is neither true nor false"))),
        }
    }

    fn in_order(&self, element: &Element, least: &str, most: &str) -> Result<(), CpixError> {
        match (self.number(element, least)?, self.number(element, most)?) {
            (Some(low), Some(high)) if low > high => {
                Err(self.fault(element, format!("{least} is more than {most}")))
            }
            _ => Ok(()),
        }
    }

    fn leaf_base64(&self, element: &Element) -> Result<Zeroizing<Vec<u8>>, CpixError> {
        if let Some(child) = element.children.first() {
            return Err(self.fault(child, format!("there is an element in {}", element.title())));
        }
        self.base64(element, "its text", &element.text)
    }

    fn leaf_text(&self, element: &Element) -> Result<String, CpixError> {
        let bytes = self.leaf_base64(element)?;
        let text = str::from_utf8(&bytes);
        text.map(ToOwned::to_owned)
            .map_err(|_| self.fault(element, "what its base64 stands for is not UTF-8 text"))
    }

    fn base64(
        &self,
        element: &Element,
        what: &str,
        text: &str,
    ) -> Result<Zeroizing<Vec<u8>>, CpixError> {
        let mut packed = Zeroizing::new(String::with_capacity(text.len()));
        packed.extend(text.chars().filter(|c| !is_space(*c)));
        let mut bytes = Zeroizing::new(vec![0; packed.len() / 4 * 3 + 3]);
        let decoded = Base64::decode(packed.as_bytes(), &mut bytes).map(<[u8]>::len);
        let len = decoded.map_err(|_| self.fault(element, format!("{what} is not base64")))?;
        bytes.truncate(len);
        Ok(bytes)
    }

    fn fault(&self, element: &Element, what: impl Into<String>) -> CpixError {
        let place = Place::of(self.text, element.offset);
        let element = shown(&element.title());
        CpixError::Schema { place, element, what: what.into() }
    }
}

/// A name of the document, for a message: a damaged document may have anything there.
fn shown(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ':' | '_' | '-' | '.');
    name.chars().take(64).map(|c| if plain(c) { c } else { '?' }).collect()
}

/// Whether it is a name of a scheme or of a method.
fn is_token(text: &str) -> bool {
    (1..=32).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
