//! Jobs: what a package is made of, on a command line or in a file.

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::ValueEnum;
use lanelock_packager::{
    Scheme,
    drm::System,
    package::{Storage, TextStorage},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    failure::Failure,
    hide::without_keys,
    pssh,
    track_arg::TrackArg,
    urls::url,
    values::{self, ClearLeadArg, Length, PictureLimitsArg, Text},
};

/// What to package. A job file has the same names as the command line.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Job {
    /// The inputs: MP4, MOV and CMAF files that are clear, WebVTT (.vtt) and TTML (.ttml) files
    #[arg(value_name = "INPUT")]
    #[serde(rename = "input", skip_serializing_if = "Vec::is_empty")]
    pub(crate) inputs: Vec<PathBuf>,

    /// The folder to make: a new or an empty one
    #[arg(long, short, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<PathBuf>,

    /// The protection scheme; or both, cbcs,cenc: encrypted tracks are made with each, from one read.
    /// Without it, --clear all says that nothing is encrypted
    #[arg(
        long = "scheme",
        short,
        value_name = "SCHEME,...",
        value_delimiter = ',',
        ignore_case = true
    )]
    #[serde(rename = "scheme", with = "schemes", skip_serializing_if = "Vec::is_empty")]
    pub(crate) schemes: Vec<StreamScheme>,

    /// A file with a key on each line, as for encrypt; - is standard input. Without --key and
    /// --key-file, keys come from the environment variable LANELOCK_KEYS
    #[arg(long = "key-file", value_name = "FILE")]
    #[serde(rename = "key-file", skip_serializing_if = "Vec::is_empty")]
    pub(crate) key_files: Vec<PathBuf>,

    /// Leaves tracks clear: all, video, audio, a codec (hvc1) or a track ID. Text is clear anyway
    #[arg(long, value_name = "SELECTOR")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) clear: Vec<String>,

    /// Blocks encrypted and blocks left clear in turn, in video under cbcs [default: 1:9]
    #[arg(long, value_name = "CRYPT:SKIP")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pattern: Option<String>,

    /// The IV in hexadecimal digits, 8 or 16 bytes: the constant one of cbcs, the first one of cenc
    /// [default: random; under FairPlay one for all tracks, which --json tells]. Of both schemes it is for cbcs,
    /// and cenc has random ones
    #[arg(long, value_name = "HEX")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) iv: Option<String>,

    /// Adds pssh boxes to the initialization segments, as for encrypt
    #[arg(long, value_name = "BOX")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) pssh: Vec<String>,

    /// The protection systems that players of the stream have, told what they need by scheme and keys:
    /// widevine, playready, fairplay (--skd), clearkey, and common (W3C, for players that ask a page for
    /// keys) [default: clearkey, for tests]
    #[arg(long, value_name = "SYSTEM,...", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) drm: Vec<Text<SystemName>>,

    /// Changes keys from one key period of this duration to the next, at the first segment from then on
    /// (key rotation). Keys are for periods: SELECTOR@0=KID:KEY, SELECTOR@1=KID:KEY
    #[arg(long, value_name = "DURATION")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rotate: Option<Text<Length>>,

    /// Leaves segments clear that begin before this time [default: none]
    #[arg(long, value_name = "DURATION")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) clear_lead: Option<Text<Length>>,

    /// How a clear lead is said to be clear [default: entry]
    #[arg(long, value_name = "HOW", ignore_case = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) clear_lead_form: Option<ClearLeadArg>,

    /// The largest pictures of the classes that selectors name
    /// [default: sd=768x576,hd=1920x1080,uhd1=4096x2160]
    #[arg(long, value_name = "CLASS=WxH,...")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) picture_limits: Option<Text<PictureLimitsArg>>,

    /// URL of the licence server of a system, for players of DASH (dashif:Laurl)
    #[arg(long, value_name = "SYSTEM=URL")]
    #[serde(with = "laurl", skip_serializing_if = "Vec::is_empty")]
    pub(crate) laurl: Vec<Laurl>,

    /// URI of FairPlay keys for HLS; {kid} stands for the KID
    #[arg(long, value_name = "skd://...")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) skd: Option<String>,

    /// How segments are stored [default: segments]
    #[arg(long, ignore_case = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) layout: Option<StorageArg>,

    /// Shortest duration of segments, such as 6s or 1500ms: each goes on to the next sync sample, which
    /// all renditions must have [default: 6s]
    #[arg(long, value_name = "DURATION")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) segment: Option<Text<Length>>,

    /// Shortest duration of the fragments in a segment [default: a segment is one fragment]
    #[arg(long, value_name = "DURATION")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fragment: Option<Text<Length>>,

    /// Video with negative composition offsets in the place of edit lists (CMAF brand cmf2)
    #[arg(long)]
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) cmf2: bool,

    /// Adds a track of key frames alone, for fast forward in DASH; HLS has I-frame playlists anyway
    #[arg(long)]
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) trick_play: bool,

    /// Name of the DASH manifest, or none [default: manifest.mpd]
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dash: Option<String>,

    /// Name of the HLS multivariant playlist, or none [default: main.m3u8]
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hls: Option<String>,

    /// How DASH says when segments begin [default: timeline]
    #[arg(long, value_name = "HOW", ignore_case = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dash_times: Option<TimesArg>,

    /// How text is stored for DASH; HLS has WebVTT segments anyway [default: mp4]
    #[arg(long, value_name = "HOW", ignore_case = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<TextArg>,

    /// Chooses tracks, and says what they are: before the colon file, type (video, audio, text),
    /// language and id select; behind it name, label, language, role, accessibility (captions, sdh,
    /// description) and default (yes, no) are set. With --track, only tracks that one selects are packaged
    #[arg(long = "track", value_name = "SELECT[:SET]")]
    #[serde(rename = "track", skip_serializing_if = "Vec::is_empty")]
    pub(crate) tracks: Vec<TrackArg>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Job {
    /// Reads a job file. Paths in it are relative to its folder.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(path).map_err(|error| Failure::Io {
            what: format!("cannot read {}", path.display()),
            error,
        })?;
        let mut job: Self = toml::from_str(&text).map_err(|error| {
            // On one line: the text that toml gives has the source of it, too.
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or("");
            let line = before.matches('\n').count() + 1;
            Failure::usage(
                format!("{}, line {line}: {}", path.display(), error.message()),
                "its names are those of the command line; lanelock package ... --print-job shows one",
            )
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let Self { inputs, output, key_files, .. } = &mut job;
        for path in inputs.iter_mut().chain(output).chain(key_files) {
            if path != Path::new("-") && url(path).is_none() {
                *path = folder.join(&*path);
            }
        }
        Ok(job)
    }

    /// What the command line says, over what the file says.
    pub(crate) fn over(self, file: Self) -> Self {
        fn list<T>(mut own: Vec<T>, mut more: Vec<T>) -> Vec<T> {
            more.append(&mut own);
            more
        }
        fn either<T>(own: Vec<T>, other: Vec<T>) -> Vec<T> {
            if own.is_empty() { other } else { own }
        }
        Self {
            inputs: list(self.inputs, file.inputs),
            output: self.output.or(file.output),
            schemes: either(self.schemes, file.schemes),
            key_files: list(self.key_files, file.key_files),
            clear: list(self.clear, file.clear),
            pattern: self.pattern.or(file.pattern),
            iv: self.iv.or(file.iv),
            pssh: list(self.pssh, file.pssh),
            drm: either(self.drm, file.drm),
            rotate: self.rotate.or(file.rotate),
            clear_lead: self.clear_lead.or(file.clear_lead),
            clear_lead_form: self.clear_lead_form.or(file.clear_lead_form),
            picture_limits: self.picture_limits.or(file.picture_limits),
            laurl: either(self.laurl, file.laurl),
            skd: self.skd.or(file.skd),
            layout: self.layout.or(file.layout),
            segment: self.segment.or(file.segment),
            fragment: self.fragment.or(file.fragment),
            cmf2: self.cmf2 || file.cmf2,
            trick_play: self.trick_play || file.trick_play,
            dash: self.dash.or(file.dash),
            hls: self.hls.or(file.hls),
            dash_times: self.dash_times.or(file.dash_times),
            text: self.text.or(file.text),
            tracks: list(self.tracks, file.tracks),
        }
    }

    /// The job as a file. One that seems to have a key in it is refused: files of this kind are shown
    /// around.
    pub(crate) fn text(&self) -> Result<String, Failure> {
        let text = |job: &Self| {
            toml::to_string(job).map_err(|error| {
                Failure::usage(format!("the job has no text: {error}"), "name files by plain names")
            })
        };
        // These look like keys, and are none: whoever reads them later checks them.
        let mut open = self.clone();
        if let Some(iv) = open.iv.take() {
            values::iv(&iv).map_err(|error| Failure::usage("--iv is wrong", error))?;
        }
        let (files, boxes) = open.pssh.into_iter().partition(|value| value.starts_with('@'));
        open.pssh = files;
        pssh::boxes(&boxes)?;
        open.inputs.retain(|path| !path.exists());
        for line in text(&open)?.lines() {
            let hidden = without_keys(line);
            if hidden != line {
                return Err(Failure::usage(
                    format!("a job has no keys in it, and this may be one: {hidden}"),
                    "put keys into a file (lanelock keys new), and name it with --key-file; write KIDs \
                     as UUIDs",
                ));
            }
        }
        text(self)
    }
}

/// A protection system, by the name that options have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SystemName(pub(crate) System);

impl FromStr for SystemName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|error: <System as FromStr>::Err| error.to_string())
    }
}

impl fmt::Display for SystemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

/// A licence server.
#[derive(Clone, Debug)]
pub(crate) struct Laurl {
    pub(crate) system: System,
    pub(crate) url: String,
}

impl FromStr for Laurl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (system, url) =
            text.split_once('=').ok_or("it is SYSTEM=URL, as in clearkey=https://...")?;
        let SystemName(system) = system.parse()?;
        Self::new(system, url)
    }
}

impl Laurl {
    /// The URL stands in the manifest, for all to see: what is none is refused.
    fn new(system: System, url: impl Into<String>) -> Result<Self, String> {
        let url = url.into();
        let is_url = url.split_once("://").is_some_and(|(scheme, rest)| {
            scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
                && !rest.is_empty()
        });
        if is_url {
            Ok(Self { system, url })
        } else {
            Err(format!("{url:?} is no URL (https://...)"))
        }
    }
}

/// A scheme that streams have ([`Scheme`]), on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StreamScheme {
    /// AES-CBC with a pattern: required by Apple's players, taken by all newer ones
    Cbcs,
    /// AES-CTR: taken by older players, and not by Apple's
    Cenc,
}

impl From<StreamScheme> for Scheme {
    fn from(scheme: StreamScheme) -> Self {
        match scheme {
            StreamScheme::Cbcs => Self::Cbcs,
            StreamScheme::Cenc => Self::Cenc,
        }
    }
}

/// Schemes of a job: one, or a list.
mod schemes {
    use super::{Deserialize, Deserializer, Serialize, Serializer, StreamScheme, de, fmt};

    pub(super) fn serialize<S: Serializer>(
        list: &[StreamScheme],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match list {
            [one] => one.serialize(to),
            _ => list.serialize(to),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<StreamScheme>, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Vec<StreamScheme>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a scheme, or a list of schemes")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                StreamScheme::deserialize(de::value::StrDeserializer::new(text))
                    .map(|one| vec![one])
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(list))
            }
        }

        from.deserialize_any(Visitor)
    }
}

/// Licence servers as a table of a job.
mod laurl {
    use super::{
        BTreeMap, Deserialize, Deserializer, Laurl, Serialize, Serializer, SystemName, de,
    };

    pub(super) fn serialize<S: Serializer>(list: &[Laurl], to: S) -> Result<S::Ok, S::Error> {
        let table: BTreeMap<_, _> =
            list.iter().map(|Laurl { system, url }| (system.name(), url)).collect();
        table.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Laurl>, D::Error> {
        let table = BTreeMap::<String, String>::deserialize(from)?.into_iter();
        let read = |(system, url): (String, String)| {
            let SystemName(system) = system.parse().map_err(de::Error::custom)?;
            Laurl::new(system, url).map_err(de::Error::custom)
        };
        table.map(read).collect()
    }
}

/// [`Storage`] on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StorageArg {
    /// A folder for each track: an initialization segment and numbered segments
    Segments,
    /// A file for each track with an index (sidx), read by byte ranges
    Single,
}

impl From<StorageArg> for Storage {
    fn from(storage: StorageArg) -> Self {
        match storage {
            StorageArg::Segments => Self::Segments,
            StorageArg::Single => Self::Single,
        }
    }
}

/// How DASH says when segments begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TimesArg {
    /// One by one (SegmentTimeline)
    Timeline,
    /// By one duration for all, from which none may be off by more than half
    Duration,
}

/// [`TextStorage`] on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TextArg {
    /// In MP4 (wvtt, stpp), like other tracks
    Mp4,
    /// As the file it is, beside the others
    File,
}

impl From<TextArg> for TextStorage {
    fn from(text: TextArg) -> Self {
        match text {
            TextArg::Mp4 => Self::Mp4,
            TextArg::File => Self::File,
        }
    }
}
