//! From a document to XML.

use base64ct::{Base64, Encoding as _};
use quick_xml::escape::escape;
use zeroize::Zeroizing;

use crate::{
    document::{
        AudioFilter, BitrateFilter, ContentKey, Document, DrmSystem, KeyPeriod, Playlist, Span,
        UsageRule, VideoFilter,
    },
    error::CpixError,
    read::ReadOptions,
    text::uuid_text,
    time::duration_text,
    xml::{CPIX, PSKC, push},
};

impl Document {
    /// The document as XML. Its keys are in it, in the clear.
    ///
    /// # Errors
    /// It would not be read again as it is: rules name keys that are not there, text has characters that
    /// XML does not have, and the like.
    pub fn to_xml(&self) -> Result<Zeroizing<String>, CpixError> {
        let mut out = Writer::default();
        out.document(self);
        let read = Self::read(out.text.as_bytes(), &ReadOptions::default());
        match read {
            Ok(read) if read == *self => Ok(out.text),
            Ok(_) => Err(CpixError::Document(
                "the document has something that XML does not keep, such as line ends in an attribute".into(),
            )),
            Err(error) => Err(CpixError::Document(match error {
                CpixError::Schema { element, what, .. } => format!("{element}: {what}"),
                CpixError::Xml { what, .. } => what,
                other => other.to_string(),
            })),
        }
    }
}

/// Text that is wiped, and the elements that are open.
#[derive(Default)]
struct Writer {
    text: Zeroizing<String>,
    depth: usize,
}

type Attributes<'a> = &'a [(&'a str, Option<String>)];

impl Writer {
    fn document(&mut self, document: &Document) {
        push(&mut self.text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let root = [
            ("xmlns", Some(CPIX.to_owned())),
            ("xmlns:pskc", Some(PSKC.to_owned())),
            ("contentId", document.content_id.clone()),
            ("name", document.name.clone()),
            ("version", document.version.clone()),
        ];
        self.parent("CPIX", &root, |out| {
            out.list("ContentKeyList", &document.keys, Self::key);
            // The name changed with version 2.4.
            let master =
                if document.version.as_deref() == Some("2.4") { "multiVariant" } else { "master" };
            out.list("DRMSystemList", &document.drm_systems, |out, system| {
                out.system(system, master);
            });
            out.list("ContentKeyPeriodList", &document.periods, Self::period);
            out.list("ContentKeyUsageRuleList", &document.rules, Self::rule);
        });
    }

    fn key(&mut self, key: &ContentKey) {
        let ContentKey { kid, key, explicit_iv, common_encryption_scheme, content_id } = key;
        let attributes = [
            ("kid", Some(uuid_text(kid))),
            ("explicitIV", explicit_iv.map(|iv| Base64::encode_string(&iv))),
            ("contentId", content_id.clone()),
            ("commonEncryptionScheme", common_encryption_scheme.clone()),
        ];
        let Some(key) = key else { return self.leaf("ContentKey", &attributes, "") };
        // KID:KEY, and the key is what is behind the colon.
        let digits = key.secret_text();
        let mut bytes = Zeroizing::new([0; 16]);
        let known = base16ct::lower::decode(&digits.as_bytes()[33..], &mut *bytes).is_ok();
        debug_assert!(known);
        let mut base64 = Zeroizing::new([0; 24]);
        let value = Base64::encode(&*bytes, &mut *base64).unwrap_or_default();
        self.parent("ContentKey", &attributes, |out| {
            out.parent("Data", &[], |out| {
                out.parent("pskc:Secret", &[], |out| out.leaf("pskc:PlainValue", &[], value));
            });
        });
    }

    fn system(&mut self, system: &DrmSystem, master: &str) {
        let attributes = [
            ("systemId", Some(uuid_text(&system.system_id))),
            ("kid", Some(uuid_text(&system.kid))),
            ("name", system.name.clone()),
            ("HLSAllowedCPC", system.hls_allowed_cpc.clone()),
        ];
        self.parent("DRMSystem", &attributes, |out| {
            if let Some(pssh) = &system.pssh {
                out.leaf("PSSH", &[], &Base64::encode_string(pssh));
            }
            if let Some(xml) = &system.content_protection_data {
                let robustness = [("robustness", system.robustness.clone())];
                out.leaf(
                    "ContentProtectionData",
                    &robustness,
                    &Base64::encode_string(xml.as_bytes()),
                );
            }
            if let Some(uri) = &system.uri_ext_x_key {
                out.leaf("URIExtXKey", &[], &Base64::encode_string(uri.as_bytes()));
            }
            for lines in &system.hls_signaling {
                let playlist = match lines.playlist {
                    Playlist::Media => "media",
                    Playlist::Multivariant => master,
                };
                let base64 = Base64::encode_string(lines.lines.as_bytes());
                out.leaf("HLSSignalingData", &[("playlist", Some(playlist.into()))], &base64);
            }
            if let Some(header) = &system.smooth_streaming_protection_header {
                out.leaf("SmoothStreamingProtectionHeaderData", &[], &escape(header.as_str()));
            }
        });
    }

    fn period(&mut self, period: &KeyPeriod) {
        let (start, end, from, to) = match period.span {
            Some(Span::Wall { start, end }) => {
                (Some(start.to_string()), Some(end.to_string()), None, None)
            }
            Some(Span::Media { start, end }) => {
                (None, None, Some(duration_text(start)), Some(duration_text(end)))
            }
            None => (None, None, None, None),
        };
        let attributes = [
            ("id", period.id.clone()),
            ("index", number(period.index)),
            ("label", period.label.clone()),
            ("start", start),
            ("end", end),
            ("startOffset", from),
            ("endOffset", to),
        ];
        self.leaf("ContentKeyPeriod", &attributes, "");
    }

    fn rule(&mut self, rule: &UsageRule) {
        let attributes = [
            ("kid", Some(uuid_text(&rule.kid))),
            ("intendedTrackType", rule.intended_track_type.clone()),
        ];
        self.parent("ContentKeyUsageRule", &attributes, |out| {
            for id in &rule.period_ids {
                out.leaf("KeyPeriodFilter", &[("periodId", Some(id.clone()))], "");
            }
            for label in &rule.labels {
                out.leaf("LabelFilter", &[("label", Some(label.clone()))], "");
            }
            for VideoFilter { min_pixels, max_pixels, hdr, wcg, min_fps, max_fps } in &rule.video {
                let attributes = [
                    ("minPixels", number(*min_pixels)),
                    ("maxPixels", number(*max_pixels)),
                    ("hdr", number(*hdr)),
                    ("wcg", number(*wcg)),
                    ("minFps", number(*min_fps)),
                    ("maxFps", number(*max_fps)),
                ];
                out.leaf("VideoFilter", &attributes, "");
            }
            for AudioFilter { min_channels, max_channels } in &rule.audio {
                let attributes = [
                    ("minChannels", number(*min_channels)),
                    ("maxChannels", number(*max_channels)),
                ];
                out.leaf("AudioFilter", &attributes, "");
            }
            for BitrateFilter { min_bitrate, max_bitrate } in &rule.bit_rates {
                let attributes =
                    [("minBitrate", number(*min_bitrate)), ("maxBitrate", number(*max_bitrate))];
                out.leaf("BitrateFilter", &attributes, "");
            }
        });
    }

    /// A list, which must not be empty.
    fn list<T>(&mut self, name: &str, items: &[T], item: impl Fn(&mut Self, &T)) {
        if !items.is_empty() {
            self.parent(name, &[], |out| items.iter().for_each(|one| item(out, one)));
        }
    }

    fn parent(&mut self, name: &str, attributes: Attributes<'_>, children: impl FnOnce(&mut Self)) {
        self.tag(name, attributes);
        push(&mut self.text, ">\n");
        self.depth += 1;
        children(self);
        self.depth -= 1;
        self.indent();
        self.end(name);
    }

    /// An element with text, which is escaped already.
    fn leaf(&mut self, name: &str, attributes: Attributes<'_>, text: &str) {
        self.tag(name, attributes);
        if text.is_empty() {
            return push(&mut self.text, "/>\n");
        }
        push(&mut self.text, ">");
        push(&mut self.text, text);
        self.end(name);
    }

    fn tag(&mut self, name: &str, attributes: Attributes<'_>) {
        self.indent();
        push(&mut self.text, "<");
        push(&mut self.text, name);
        for (name, value) in attributes {
            if let Some(value) = value {
                for part in [" ", name, "=\"", &escape(value.as_str()), "\""] {
                    push(&mut self.text, part);
                }
            }
        }
    }

    fn end(&mut self, name: &str) {
        for part in ["</", name, ">\n"] {
            push(&mut self.text, part);
        }
    }

    fn indent(&mut self) {
        for _ in 0..self.depth {
            push(&mut self.text, "  ");
        }
    }
}

fn number(value: Option<impl ToString>) -> Option<String> {
    value.map(|value| value.to_string())
}
