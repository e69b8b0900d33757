//! One track: `trak` with headers, edit list and sample entries.

use super::{
    SampleEntry, entry,
    language::{bcp47, extended, packed_language},
    tables::Tables,
};
use crate::{
    BoxRef, ErrorKind, FourCc, Result, TrackEncryption,
    protection::{AuxBoxes, Descriptions, SeigMap, is_seig, refuse_compact},
};

/// One entry of an edit list: the fields that ISO/IEC 14496-12, 8.6.6, fixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Duration in movie timescale.
    pub segment_duration: u64,
    /// Start in media timescale; -1 is an empty edit.
    pub media_time: i64,
    /// Rate, 16.16; 0 is a dwell.
    pub media_rate: u32,
}

/// Defaults of `trex`: the fields that ISO/IEC 14496-12, 8.8.3, fixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackDefaults {
    /// Sample description index, from 1.
    pub description_index: u32,
    /// Sample duration.
    pub duration: u32,
    /// Sample size.
    pub size: u32,
    /// Sample flags.
    pub flags: u32,
}

impl TrackDefaults {
    pub(crate) fn from_box(trex: &BoxRef<'_>) -> Result<(u32, Self)> {
        let mut reader = trex.reader();
        reader.version_upto(0)?;
        let id = reader.u32("track_ID")?;
        let defaults = Self {
            description_index: reader.u32("default_sample_description_index")?,
            duration: reader.u32("default_sample_duration")?,
            size: reader.u32("default_sample_size")?,
            flags: reader.u32("default_sample_flags")?,
        };
        Ok((id, defaults))
    }
}

/// What a track presents, by its handler (ISO/IEC 14496-12, 8.4.3, 12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrackKind {
    /// `vide`, and what has the same sample entries: `pict` (image sequences), `auxv` (auxiliary
    /// video, such as alpha or depth).
    Video,
    /// `soun`.
    Audio,
    /// Text, subtitles and captions: `text`, `sbtl`, `subt`, `clcp`.
    Text,
    /// Any other.
    Other,
}

/// What a track is for, as a `kind` box says (ISO/IEC 14496-12, 8.10.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackRole {
    /// The URI that gives the value its meaning, such as `urn:mpeg:dash:role:2011`; or the meaning
    /// itself.
    pub scheme: String,
    /// A name in that scheme, such as `main`; empty without.
    pub value: String,
}

/// A track of a [`super::Movie`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Track {
    /// Track id, never 0.
    pub id: u32,
    /// Handler: `vide`, `soun`, `text`, `subt`, …
    pub handler: FourCc,
    /// Media timescale.
    pub timescale: u32,
    /// Media duration in its timescale; 0 or all ones when unknown.
    pub duration: u64,
    /// ISO 639-2/T code, `und` when it is not three letters.
    pub language: [u8; 3],
    /// BCP 47 tag: of `elng` (ISO/IEC 14496-12, 8.4.6), else of `mdhd`, where files of `QuickTime` may
    /// have a number for it. The language has its shortest code. None if it is not known.
    pub bcp47: Option<String>,
    /// What the track is for, of the `kind` boxes in its `udta`.
    pub roles: Vec<TrackRole>,
    /// Presentation width in whole pixels, of `tkhd`.
    pub width: u32,
    /// Presentation height in whole pixels, of `tkhd`.
    pub height: u32,
    /// Edit list; empty when there is none.
    pub edits: Vec<Edit>,
    /// Sample entries; a sample's description index counts them from 1.
    pub entries: Vec<SampleEntry>,
    /// Fragment defaults, of `mvex/trex`.
    pub defaults: Option<TrackDefaults>,
    pub(crate) seig: Option<Descriptions>,
    pub(crate) tables: Tables,
    /// Start of the `trak` box in `moov`.
    start: usize,
    /// Start of the `sbgp` box of type `seig` in `moov`.
    pub(crate) seig_sbgp: Option<usize>,
    /// Whether `hdlr` names a component type, which only `QuickTime` has: fields that ISO reserves
    /// or means otherwise are `QuickTime`'s.
    pub(crate) quicktime: bool,
}

impl Track {
    pub(crate) fn from_box(trak: &BoxRef<'_>) -> Result<Self> {
        let tkhd = trak.require(b"tkhd")?;
        let mut reader = tkhd.reader();
        let (version, _) = reader.version_upto(1)?;
        reader.bytes(if version == 1 { 16 } else { 8 }, "times")?;
        let id = reader.u32("track_ID")?;
        if id == 0 {
            return Err(tkhd.error(ErrorKind::InvalidValue { what: "track_ID", value: 0 }));
        }
        reader.bytes(if version == 1 { 12 } else { 8 }, "duration")?;
        reader.bytes(52, "layout and matrix")?;
        let width = reader.u32("width")? >> 16;
        let height = reader.u32("height")? >> 16;

        let mdia = trak.require(b"mdia")?;
        let (component, handler) = handler_of(&mdia)?;
        let mdhd = mdia.require(b"mdhd")?;
        let mut reader = mdhd.reader();
        let (version, _) = reader.version_upto(1)?;
        reader.bytes(if version == 1 { 16 } else { 8 }, "times")?;
        let timescale = reader.u32("timescale")?;
        let duration = reader.u32_or_u64(version == 1, "duration")?;
        let language = reader.u16("language")?;
        if timescale == 0 {
            return Err(mdhd.error(ErrorKind::InvalidValue { what: "timescale", value: 0 }));
        }

        let stbl = mdia.require(b"minf")?.require(b"stbl")?;
        let entries = entry::read_all(&stbl.require(b"stsd")?, handler)?;
        let tables = Tables::from_box(&stbl)?;
        let mut track = Self {
            id,
            handler,
            timescale,
            duration,
            language: packed_language(language),
            bcp47: extended(&mdia).or_else(|| bcp47(language, component != 0)),
            roles: roles(trak),
            width,
            height,
            edits: edits(trak)?,
            entries,
            defaults: None,
            seig: None,
            tables,
            start: trak.range().start,
            seig_sbgp: None,
            quicktime: component != 0,
        };
        track.read_groups(&stbl)?;
        track.aux_boxes(&stbl)?;
        Ok(track)
    }

    fn read_groups(&mut self, stbl: &BoxRef<'_>) -> Result<()> {
        let (mut sgpd, mut sbgp) = (None, None);
        for child in stbl.children() {
            let child = child?;
            refuse_compact(&child)?;
            match &child.kind().0 {
                b"sgpd" if is_seig(&child) => child.once(&mut sgpd)?,
                b"sbgp" if is_seig(&child) => child.once(&mut sbgp)?,
                _ => {}
            }
        }
        self.seig = sgpd.as_ref().map(Descriptions::from_box).transpose()?;
        // Checked now, so that asking for the runs later cannot fail.
        let count = u64::from(self.sample_count());
        SeigMap::new(None, sbgp, self.seig.as_ref(), count)?;
        self.seig_sbgp = sbgp.map(|sbgp| sbgp.range().start);
        Ok(())
    }

    pub(crate) fn aux_boxes<'a>(&self, stbl: &BoxRef<'a>) -> Result<AuxBoxes<'a>> {
        let mut aux = AuxBoxes::default();
        for child in stbl.children() {
            aux.take(child?)?;
        }
        aux.check(u64::from(self.sample_count()))?;
        if aux.parameters().is_some() {
            let what =
                "a PIFF sample encryption box with parameters of its own outside of fragments";
            return Err(stbl.error(ErrorKind::Unsupported(what)));
        }
        Ok(aux)
    }

    /// This track's `trak` box.
    pub(crate) fn trak<'a>(&self, moov: &BoxRef<'a>) -> Result<BoxRef<'a>> {
        moov.children_at(self.start - moov.payload_range().start)
            .next()
            .unwrap_or_else(|| Err(moov.error(ErrorKind::UnknownTrack { id: self.id })))
    }

    /// What the track presents.
    pub fn kind(&self) -> TrackKind {
        match &self.handler.0 {
            b"vide" | b"pict" | b"auxv" => TrackKind::Video,
            b"soun" => TrackKind::Audio,
            b"text" | b"sbtl" | b"subt" | b"clcp" => TrackKind::Text,
            _ => TrackKind::Other,
        }
    }

    /// Samples in the sample tables; 0 in a fragmented file.
    pub fn sample_count(&self) -> u32 {
        self.tables.sample_count()
    }

    /// Whether an edit list is present.
    pub fn has_edit_list(&self) -> bool {
        !self.edits.is_empty()
    }

    /// The four-character code of the first sample entry, before protection; `none` without entries.
    pub fn codec(&self) -> String {
        self.entries.first().map_or_else(|| "none".into(), |e| e.original_format.to_string())
    }

    /// Whether any sample entry is protected.
    pub fn is_protected(&self) -> bool {
        self.entries.iter().any(|entry| entry.protection.is_some())
    }

    /// Sample entry of a description index, which counts from 1.
    pub fn entry(&self, description_index: u32) -> Option<&SampleEntry> {
        self.entries.get((description_index as usize).checked_sub(1)?)
    }

    /// The `tenc` of a sample entry.
    pub fn encryption(&self, description_index: u32) -> Option<&TrackEncryption> {
        self.entry(description_index)?.protection.as_ref()?.encryption.as_ref()
    }
}

/// The component type, 0 in ISO files, and the handler type.
fn handler_of(mdia: &BoxRef<'_>) -> Result<(u32, FourCc)> {
    let mut reader = mdia.require(b"hdlr")?.reader();
    reader.version_flags()?;
    Ok((reader.u32("pre_defined")?, reader.array("handler_type").map(FourCc)?))
}

/// The `kind` boxes of a track's `udta`, up to where it cannot be read any more.
fn roles(trak: &BoxRef<'_>) -> Vec<TrackRole> {
    let mut roles = Vec::new();
    for udta in trak.children().map_while(Result::ok).filter(|child| child.kind() == b"udta") {
        for kind in udta.children().map_while(Result::ok).filter(|child| child.kind() == b"kind") {
            // A full box with two strings.
            let Some(text) = kind.payload().get(4..) else { continue };
            let mut strings = text.split(|&byte| byte == 0).map(str::from_utf8);
            if let (Some(Ok(scheme)), Some(Ok(value))) = (strings.next(), strings.next()) {
                roles.push(TrackRole { scheme: scheme.to_owned(), value: value.to_owned() });
            }
        }
    }
    roles
}

fn edits(trak: &BoxRef<'_>) -> Result<Vec<Edit>> {
    let Some(edts) = trak.child(b"edts")? else {
        return Ok(Vec::new());
    };
    let Some(elst) = edts.child(b"elst")? else {
        return Ok(Vec::new());
    };
    let mut reader = elst.reader();
    let (version, _) = reader.version_upto(1)?;
    let wide = version == 1;
    let count = reader.u32("entry_count")?;
    reader.clone().records(count, if wide { 20 } else { 12 }, "edits")?;
    let mut edits = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let segment_duration = reader.u32_or_u64(wide, "segment_duration")?;
        let media_time = if wide {
            reader.array("media_time").map(i64::from_be_bytes)?
        } else {
            reader.array("media_time").map(i32::from_be_bytes)?.into()
        };
        let media_rate = reader.u32("media_rate")?;
        edits.push(Edit { segment_duration, media_time, media_rate });
    }
    Ok(edits)
}
