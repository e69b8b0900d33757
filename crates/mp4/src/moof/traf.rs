//! `traf`: the part of one track in a movie fragment (ISO/IEC 14496-12, 8.8.6 and 8.8.7).

use std::ops::Range;

use super::trun::{FragmentSamples, RunDefaults, TrackRun};
use crate::{
    BoxRef, ErrorKind, FourCc, Movie, ReadAt, Result, Track,
    protection::{AuxBoxes, AuxInfo, EncryptionRuns, SeigMap, aux_ranges, is_seig, refuse_compact},
    source::Reader,
};

const BASE_DATA_OFFSET: u32 = 0x1;
const DESCRIPTION_INDEX: u32 = 0x2;
const DEFAULT_DURATION: u32 = 0x8;
const DEFAULT_SIZE: u32 = 0x10;
const DEFAULT_FLAGS: u32 = 0x20;
const DURATION_IS_EMPTY: u32 = 0x1_0000;
const DEFAULT_BASE_IS_MOOF: u32 = 0x2_0000;

/// What the data offsets of a track fragment count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Base {
    /// `base_data_offset` of `tfhd`, an absolute file offset.
    Explicit,
    /// The first byte of the `moof`.
    Moof,
    /// The end of the data of the previous track fragment.
    PreviousData,
}

/// A parsed `traf`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TrackFragment<'a> {
    /// Track id.
    pub track_id: u32,
    /// Index of the track in [`Movie::tracks`].
    pub track_index: usize,
    /// Sample description index, from 1.
    pub description_index: u32,
    /// Decoding time of the first sample, of `tfdt`.
    pub decode_time: Option<u64>,
    /// The fragment states a duration without samples.
    pub duration_is_empty: bool,
    /// How the base is defined.
    pub base: Base,
    /// The base as absolute file offset.
    pub base_offset: u64,
    /// Samples in all runs.
    pub sample_count: u64,
    /// Bytes in all runs.
    pub data_size: u64,
    /// Sum of all sample durations.
    pub duration: u64,
    pub(crate) place: BoxRef<'a>,
    pub(crate) data_end: u64,
    /// Position of an explicit base in the `moof`.
    pub(crate) base_at: Option<usize>,
    pub(crate) runs: Vec<TrackRun<'a>>,
    pub(crate) aux: AuxBoxes<'a>,
    pub(crate) has_seig: bool,
    seig: SeigMap<'a>,
}

impl<'a> TrackFragment<'a> {
    pub(crate) fn from_box(
        traf: &BoxRef<'a>,
        movie: &Movie,
        previous_end: Option<u64>,
        file_len: u64,
    ) -> Result<Self> {
        let (mut tfhd, mut tfdt, mut sgpd, mut sbgp) = (None, None, None, None);
        let mut aux = AuxBoxes::default();
        for child in traf.children() {
            let child = child?;
            match &child.kind().0 {
                b"tfhd" => child.once(&mut tfhd)?,
                b"tfdt" => child.once(&mut tfdt)?,
                b"sgpd" if is_seig(&child) => child.once(&mut sgpd)?,
                b"sbgp" if is_seig(&child) => child.once(&mut sbgp)?,
                b"csgp" => refuse_compact(&child)?,
                _ => aux.take(child)?,
            }
        }
        let Some(tfhd) = tfhd else {
            return Err(traf.error(ErrorKind::Missing { kind: FourCc::new(b"tfhd") }));
        };
        let mut this = Self::from_tfhd(*traf, &tfhd, movie, previous_end)?;
        this.aux = aux;
        this.has_seig = sgpd.is_some() || sbgp.is_some();
        if let Some(tfdt) = tfdt {
            let mut reader = tfdt.reader();
            let (version, _) = reader.version_upto(1)?;
            this.decode_time = Some(reader.u32_or_u64(version == 1, "baseMediaDecodeTime")?);
        }
        let track = &movie.tracks[this.track_index];
        let mut defaults = RunDefaults {
            duration: track.defaults.map(|trex| trex.duration),
            size: track.defaults.map(|trex| trex.size),
            flags: track.defaults.map(|trex| trex.flags),
        };
        Self::read_defaults(&tfhd, &mut defaults)?;
        let overflow = |what| traf.error(ErrorKind::Overflow { what });
        for child in traf.children() {
            let child = child?;
            if child.kind() != b"trun" {
                continue;
            }
            let run =
                TrackRun::from_box(child, this.base_offset, this.data_end, defaults, file_len)?;
            this.data_end = run.end();
            this.sample_count += u64::from(run.sample_count);
            this.data_size =
                this.data_size.checked_add(run.data_size).ok_or_else(|| overflow("data size"))?;
            this.duration =
                this.duration.checked_add(run.duration).ok_or_else(|| overflow("duration"))?;
            this.runs.push(run);
        }
        if this.decode_time.unwrap_or(0).checked_add(this.duration).is_none() {
            return Err(overflow("decoding time"));
        }
        this.aux.check(this.sample_count)?;
        this.check_algorithm(track)?;
        this.seig = SeigMap::new(sgpd, sbgp, track.seig.as_ref(), this.sample_count)?;
        Ok(this)
    }

    /// The scheme of a track is one for all of its fragments.
    fn check_algorithm(&self, track: &Track) -> Result<()> {
        let entry = track.entry(self.description_index);
        let protection = entry.and_then(|entry| entry.protection.as_ref());
        let own = self.aux.parameters().and_then(|parameters| parameters.scheme);
        match (protection, own) {
            (Some(protection), Some(own)) if protection.sample_scheme != own => {
                let what = "a PIFF fragment with another algorithm than its track";
                Err(self.place.error(ErrorKind::Unsupported(what)))
            }
            _ => Ok(()),
        }
    }

    /// Reads identity and base; the defaults follow in [`Self::read_defaults`].
    fn from_tfhd(
        place: BoxRef<'a>,
        tfhd: &BoxRef<'a>,
        movie: &Movie,
        previous_end: Option<u64>,
    ) -> Result<Self> {
        let mut reader = tfhd.reader();
        let (_, flags) = reader.version_upto(0)?;
        let track_id = reader.u32("track_ID")?;
        let Some(track_index) = movie.track_index(track_id) else {
            return Err(tfhd.error(ErrorKind::UnknownTrack { id: track_id }));
        };
        let moof_offset = place.source.base;
        let (base, base_offset, base_at) = if flags & BASE_DATA_OFFSET != 0 {
            let at = reader.position();
            (Base::Explicit, reader.u64("base_data_offset")?, Some(at))
        } else {
            match previous_end {
                Some(end) if flags & DEFAULT_BASE_IS_MOOF == 0 => (Base::PreviousData, end, None),
                _ => (Base::Moof, moof_offset, None),
            }
        };
        let track = &movie.tracks[track_index];
        let description_index = if flags & DESCRIPTION_INDEX != 0 {
            reader.u32("sample_description_index")?
        } else {
            track.defaults.map_or(1, |trex| trex.description_index)
        };
        if track.entry(description_index).is_none() {
            let (what, value) = ("sample_description_index", u64::from(description_index));
            return Err(tfhd.error(ErrorKind::InvalidValue { what, value }));
        }
        Ok(Self {
            track_id,
            track_index,
            description_index,
            decode_time: None,
            duration_is_empty: flags & DURATION_IS_EMPTY != 0,
            base,
            base_offset,
            sample_count: 0,
            data_size: 0,
            duration: 0,
            place,
            data_end: base_offset,
            base_at,
            runs: Vec::new(),
            aux: AuxBoxes::default(),
            has_seig: false,
            seig: SeigMap::default(),
        })
    }

    fn read_defaults(tfhd: &BoxRef<'_>, defaults: &mut RunDefaults) -> Result<()> {
        let mut reader = tfhd.reader();
        let (_, flags) = reader.version_flags()?;
        let mut skip = 4;
        skip += if flags & BASE_DATA_OFFSET != 0 { 8 } else { 0 };
        skip += if flags & DESCRIPTION_INDEX != 0 { 4 } else { 0 };
        reader.bytes(skip, "tfhd fields")?;
        let field = |reader: &mut Reader<'_>, bit, slot: &mut Option<u32>, what| {
            if flags & bit != 0 {
                *slot = Some(reader.u32(what)?);
            }
            Ok(())
        };
        field(&mut reader, DEFAULT_DURATION, &mut defaults.duration, "default_sample_duration")?;
        field(&mut reader, DEFAULT_SIZE, &mut defaults.size, "default_sample_size")?;
        field(&mut reader, DEFAULT_FLAGS, &mut defaults.flags, "default_sample_flags")
    }

    /// The `traf` box, for reading boxes that this crate does not.
    pub fn boxed(&self) -> BoxRef<'a> {
        self.place
    }

    /// Runs of contiguous samples.
    pub fn runs(&self) -> &[TrackRun<'a>] {
        &self.runs
    }

    /// Samples in decoding order. Times count from 0 where there is no `tfdt`.
    pub fn samples(&self) -> FragmentSamples<'_> {
        let start = self.decode_time.unwrap_or(0);
        FragmentSamples::new(&self.runs, start, self.description_index, self.sample_count)
    }

    /// Whether `senc`, `saiz`, `saio` or `seig` groups are present.
    pub fn has_protection_boxes(&self) -> bool {
        self.has_seig || !self.aux.is_empty()
    }

    /// Auxiliary information: `senc` (also PIFF's), or what `saiz` and `saio` point to,
    /// read from `file`.
    pub fn aux_info<R: ReadAt + ?Sized>(&self, file: &R) -> Result<AuxInfo<'a>> {
        let runs = self.runs.iter().map(|run| run.sample_count);
        self.aux.info(self.place, self.base_offset, runs, file)
    }

    /// Where auxiliary information of the samples is in the file: of any type, as `saiz` and `saio`
    /// say.
    pub fn aux_ranges(&self, file_len: u64) -> Result<Vec<Range<u64>>> {
        let counts = || self.runs.iter().map(|run| run.sample_count);
        aux_ranges(&self.place, self.base_offset, counts, file_len)
    }

    /// Encryption parameters of the samples, as runs: `seig` groups over what PIFF's sample
    /// encryption box says over the `tenc` of the sample entry in use.
    pub fn encryption_runs<'s>(&'s self, movie: &'s Movie) -> EncryptionRuns<'s> {
        let track = movie.track(self.track_id);
        let default = track.and_then(|track| track.encryption(self.description_index));
        let global = track.and_then(|track| track.seig.as_ref());
        let own = self.aux.parameters().map(|parameters| &parameters.encryption);
        self.seig.iter(own.or(default), global, self.sample_count)
    }
}
