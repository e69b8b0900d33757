//! `moof` built from samples: what a progressive file is turned into.

use crate::{
    Error, ErrorKind, Result, SampleAuxTable, TrackEncryption,
    protection::{Offset, WriteAux, put_empty_senc, put_saio, put_seig},
    writer::{put_box, put_full_box, put32, put64},
};

/// One sample of a new fragment: the fields of a `trun` entry, which the standard fixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewSample {
    /// Size in bytes.
    pub size: u32,
    /// Duration in media timescale.
    pub duration: u32,
    /// Flags: [`crate::Sample::SYNC`], [`crate::Sample::NON_SYNC`] or any other.
    pub flags: u32,
    /// Composition time minus decoding time.
    pub composition_offset: i32,
}

impl From<crate::Sample> for NewSample {
    fn from(sample: crate::Sample) -> Self {
        let crate::Sample { size, duration, flags, composition_offset, .. } = sample;
        Self { size, duration, flags, composition_offset }
    }
}

/// One track fragment to build, of a single run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NewTrackFragment<'a> {
    /// The track.
    pub track_id: u32,
    /// Decoding time of the first sample.
    pub decode_time: u64,
    /// Sample description index, if it is not the one of `trex`.
    pub description_index: Option<u32>,
    /// Samples, whose data is contiguous.
    pub samples: &'a [NewSample],
    /// Where the data begins, counted from the end of the `moof`: 8 for the first byte of an
    /// `mdat` that follows at once.
    pub payload_offset: u64,
    /// More boxes, whole: `sbgp` and `subs` of the samples.
    pub boxes: &'a [u8],
    /// Auxiliary information.
    pub aux: WriteAux<'a>,
    /// Parameters of all samples, as a `seig` group.
    pub seig: Option<&'a TrackEncryption>,
}

impl<'a> NewTrackFragment<'a> {
    /// A clear track fragment with the sample description of `trex`.
    pub fn new(
        track_id: u32,
        decode_time: u64,
        samples: &'a [NewSample],
        payload_offset: u64,
    ) -> Self {
        Self {
            track_id,
            decode_time,
            description_index: None,
            samples,
            payload_offset,
            boxes: &[],
            aux: WriteAux::Nothing,
            seig: None,
        }
    }

    /// Sets a sample description index other than that of `trex`.
    #[must_use]
    pub fn with_description_index(self, index: u32) -> Self {
        Self { description_index: Some(index), ..self }
    }

    /// Sets more boxes.
    #[must_use]
    pub fn with_boxes(self, boxes: &'a [u8]) -> Self {
        Self { boxes, ..self }
    }

    /// Sets the auxiliary information.
    #[must_use]
    pub fn with_aux(self, aux: WriteAux<'a>) -> Self {
        Self { aux, ..self }
    }

    /// Sets the parameters of all samples, as a `seig` group.
    #[must_use]
    pub fn with_seig(self, seig: &'a TrackEncryption) -> Self {
        Self { seig: Some(seig), ..self }
    }
}

/// Builds a movie fragment: default-base-is-moof, `tfdt` version 1, one run per track.
///
/// `pssh` are whole boxes put at the end. Values that all samples share go into `tfhd`, flags
/// that only the first sample differs in are written once.
pub fn moof(sequence: u32, tracks: &[NewTrackFragment<'_>], pssh: &[&[u8]]) -> Result<Vec<u8>> {
    let fail = |kind| Error::new("moof".to_owned(), 0, kind);
    let samples: usize = tracks.iter().map(|track| track.samples.len()).sum();
    let mut out = Vec::with_capacity(64 + 160 * tracks.len() + 40 * samples);
    let mut offsets = Vec::with_capacity(tracks.len());
    let mut result = Ok(());
    put_box(&mut out, *b"moof", |out| {
        put_full_box(out, *b"mfhd", 0, 0, |out| put32(out, sequence));
        for track in tracks {
            match put_traf(out, track) {
                Ok(at) => offsets.push(at),
                Err(kind) => result = Err(fail(kind)),
            }
        }
        for pssh in pssh {
            out.extend_from_slice(pssh);
        }
    });
    result?;
    let len = out.len() as u64;
    let overflow = |what| fail(ErrorKind::Overflow { what });
    if u32::try_from(len).is_err() {
        return Err(overflow("size of `moof`"));
    }
    for (at, track) in offsets.into_iter().zip(tracks) {
        let offset = len.checked_add(track.payload_offset);
        let offset = offset.and_then(|offset| i32::try_from(offset).ok());
        let offset = offset.ok_or_else(|| overflow("data_offset"))?;
        out[at..at + 4].copy_from_slice(&offset.to_be_bytes());
    }
    Ok(out)
}

/// Which fields of the samples `tfhd` states for all, and which `trun` lists one by one.
struct TrafFields {
    duration: Option<u32>,
    size: Option<u32>,
    flags: Option<u32>,
    first_flags: Option<u32>,
    compositions: bool,
    negative: bool,
}

impl TrafFields {
    fn new(samples: &[NewSample]) -> Self {
        let shared = |get: fn(&NewSample) -> u32, samples: &[NewSample]| {
            let first = get(samples.first()?);
            samples.iter().all(|sample| get(sample) == first).then_some(first)
        };
        let get_flags = |sample: &NewSample| sample.flags;
        let mut flags = shared(get_flags, samples);
        let mut first_flags = None;
        if let (None, [first, rest @ ..]) = (flags, samples) {
            flags = shared(get_flags, rest);
            first_flags = flags.map(|_| first.flags);
        }
        Self {
            duration: shared(|sample| sample.duration, samples),
            size: shared(|sample| sample.size, samples),
            flags,
            first_flags,
            compositions: samples.iter().any(|sample| sample.composition_offset != 0),
            negative: samples.iter().any(|sample| sample.composition_offset < 0),
        }
    }
}

/// Appends one `traf`; gives the position of its data offset.
fn put_traf(
    out: &mut Vec<u8>,
    track: &NewTrackFragment<'_>,
) -> std::result::Result<usize, ErrorKind> {
    let count = u32::try_from(track.samples.len())
        .map_err(|_| ErrorKind::Overflow { what: "sample_count" })?;
    let layout = TrafFields::new(track.samples);
    let mut offset_at = 0;
    let mut saio = Ok(());
    put_box(out, *b"traf", |out| {
        put_tfhd(out, track, &layout);
        put_full_box(out, *b"tfdt", 1, 0, |out| put64(out, track.decode_time));
        offset_at = put_trun(out, track.samples, count, &layout);
        out.extend_from_slice(track.boxes);
        if let Some(seig) = track.seig {
            put_seig(out, seig, count);
        }
        saio = put_aux(out, track.aux, track.samples.len());
    });
    saio?;
    Ok(offset_at)
}

fn put_tfhd(out: &mut Vec<u8>, track: &NewTrackFragment<'_>, layout: &TrafFields) {
    let fields = [
        (0x2, track.description_index),
        (0x8, layout.duration),
        (0x10, layout.size),
        (0x20, layout.flags),
    ];
    let present = fields.iter().filter(|field| field.1.is_some());
    let flags = present.fold(0x2_0000, |flags, field| flags | field.0);
    put_full_box(out, *b"tfhd", 0, flags, |out| {
        put32(out, track.track_id);
        fields.iter().filter_map(|field| field.1).for_each(|value| put32(out, value));
    });
}

fn put_trun(out: &mut Vec<u8>, samples: &[NewSample], count: u32, layout: &TrafFields) -> usize {
    let mut flags = 0x1;
    for (flag, present) in [
        (0x4, layout.first_flags.is_some()),
        (0x100, layout.duration.is_none()),
        (0x200, layout.size.is_none()),
        (0x400, layout.flags.is_none()),
        (0x800, layout.compositions),
    ] {
        // An empty run has nothing to list.
        if present && !samples.is_empty() {
            flags |= flag;
        }
    }
    let mut offset_at = 0;
    put_full_box(out, *b"trun", u8::from(layout.negative), flags, |out| {
        put32(out, count);
        offset_at = out.len();
        put32(out, 0);
        if let Some(first) = layout.first_flags {
            put32(out, first);
        }
        for sample in samples {
            if flags & 0x100 != 0 {
                put32(out, sample.duration);
            }
            if flags & 0x200 != 0 {
                put32(out, sample.size);
            }
            if flags & 0x400 != 0 {
                put32(out, sample.flags);
            }
            if flags & 0x800 != 0 {
                put32(out, sample.composition_offset.cast_unsigned());
            }
        }
    });
    offset_at
}

/// `saio` offsets count from the first byte of the `moof` (default-base-is-moof), which is byte 0
/// of `out`: a position in `out` is the offset.
fn put_aux(
    out: &mut Vec<u8>,
    aux: WriteAux<'_>,
    samples: usize,
) -> std::result::Result<(), ErrorKind> {
    if let WriteAux::Senc(table) | WriteAux::Full(table) = aux
        && table.len() != samples
    {
        let (expected, found) = (samples as u64, table.len() as u64);
        let what = "samples with auxiliary information";
        return Err(ErrorKind::Mismatch { what, expected, found });
    }
    match aux {
        WriteAux::Nothing => {}
        WriteAux::EmptySenc => put_empty_senc(out),
        WriteAux::Senc(table) => table.put_senc(out),
        WriteAux::Full(table) => {
            table.put_saiz(out);
            let entries = out.len() + 20 + SampleAuxTable::SENC_ENTRIES;
            let offset = u32::try_from(entries)
                .map_err(|_| ErrorKind::Overflow { what: "`saio` offset" })?;
            put_saio(out, Offset::Narrow(offset));
            table.put_senc(out);
        }
    }
    Ok(())
}
