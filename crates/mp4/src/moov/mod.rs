//! The movie: everything `moov` says, sample tables left where they are
//! (ISO/IEC 14496-12, 8.2 onwards).

mod ac4;
mod audio;
mod bits;
mod cicp;
mod codec;
mod codec_string;
mod colour;
mod details;
mod entry;
mod esds;
mod language;
mod samples;
mod tables;
mod track;
mod ttml;
mod video;

pub use audio::AudioFacts;
pub use codec::CodecConfig;
pub use colour::Colour;
pub use entry::{Media, SampleEntry};
pub use esds::EsdsInfo;
pub use samples::{Sample, SamplePosition, Samples};
pub use track::{Edit, Track, TrackDefaults, TrackKind, TrackRole};
pub use video::{DolbyVision, VideoFacts};

pub(crate) use entry::{protected_format, sinf_position, sinfs_of};
pub(crate) use language::{is_quicktime_language, mac_language};

use std::ops::Range;

use crate::{
    BoxRef, ErrorKind, FourCc, Pssh, ReadAt, Result, item_extents,
    protection::{AuxInfo, EncryptionRuns, aux_ranges, is_protection_box, is_pssh, movie_runs},
};

/// A parsed `moov`, owner of its bytes.
///
/// Sample tables are not expanded: they stay in the bytes, and [`Self::samples`] iterates over
/// them in constant memory.
///
/// ```
/// use lanelock_mp4::{FourCc, Movie, load, top_level};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let file = std::fs::read("../../testkit/media/avc_aac.mp4")?; // progressive
/// for header in top_level(&file) {
///     let header = header?;
///     if header.kind == FourCc(*b"moov") {
///         let movie = Movie::parse(load(&file, &header)?, header.offset)?;
///         for track in &movie.tracks {
///             for sample in movie.samples(track, file.len() as u64)? {
///                 let sample = sample?; // its place, size, times and flags
///                 assert!(sample.offset + u64::from(sample.size) <= file.len() as u64);
///             }
///         }
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Movie {
    bytes: Vec<u8>,
    offset: u64,
    /// Units per second of `duration`.
    pub timescale: u32,
    /// Duration of the longest track; 0 or all ones when unknown.
    pub duration: u64,
    /// Tracks in file order.
    pub tracks: Vec<Track>,
    /// Whether `mvex` is present: samples may be in movie fragments.
    pub fragmented: bool,
    /// Duration with all fragments, of `mehd`.
    pub fragment_duration: Option<u64>,
    /// Protection system headers in `moov`.
    pub pssh: Vec<Pssh>,
    /// Track index by id, sorted by id.
    by_id: Vec<(u32, usize)>,
}

impl Movie {
    /// Parses the whole `moov` box (header included) found at `offset` of the file.
    pub fn parse(bytes: Vec<u8>, offset: u64) -> Result<Self> {
        let mut movie = Self {
            bytes: Vec::new(),
            offset,
            timescale: 0,
            duration: 0,
            tracks: Vec::new(),
            fragmented: false,
            fragment_duration: None,
            pssh: Vec::new(),
            by_id: Vec::new(),
        };
        movie.read(&BoxRef::root_of(&bytes, offset, b"moov")?)?;
        movie.bytes = bytes;
        Ok(movie)
    }

    fn read(&mut self, moov: &BoxRef<'_>) -> Result<()> {
        let (mut mvhd, mut mvex) = (None, None);
        for child in moov.children() {
            let child = child?;
            match &child.kind().0 {
                b"mvhd" => child.once(&mut mvhd)?,
                b"mvex" => child.once(&mut mvex)?,
                b"trak" => {
                    let track = Track::from_box(&child)?;
                    self.by_id.push((track.id, self.tracks.len()));
                    self.tracks.push(track);
                }
                _ if is_pssh(&child) => self.pssh.push(Pssh::from_box(&child)?),
                _ => {}
            }
        }
        self.by_id.sort_unstable();
        if let Some(pair) = self.by_id.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(moov.error(ErrorKind::DuplicateTrack { id: pair[0].0 }));
        }
        if mvhd.is_none() && moov.child(b"cmov")?.is_some() {
            let what = "a compressed movie (`cmov`) of QuickTime; make an ISO file first (ffmpeg -i \
                        IN -c copy OUT.mp4)";
            return Err(moov.error(ErrorKind::Unsupported(what)));
        }
        let mvhd =
            mvhd.ok_or_else(|| moov.error(ErrorKind::Missing { kind: FourCc::new(b"mvhd") }))?;
        let mut reader = mvhd.reader();
        let (version, _) = reader.version_upto(1)?;
        reader.bytes(if version == 1 { 16 } else { 8 }, "times")?;
        self.timescale = reader.u32("timescale")?;
        self.duration = reader.u32_or_u64(version == 1, "duration")?;
        if let Some(mvex) = mvex {
            self.fragmented = true;
            self.read_mvex(&mvex)?;
        }
        Ok(())
    }

    fn read_mvex(&mut self, mvex: &BoxRef<'_>) -> Result<()> {
        for child in mvex.children() {
            let child = child?;
            match &child.kind().0 {
                b"mehd" => {
                    let mut reader = child.reader();
                    let (version, _) = reader.version_upto(1)?;
                    let duration = reader.u32_or_u64(version == 1, "fragment_duration")?;
                    if self.fragment_duration.replace(duration).is_some() {
                        return Err(child.error(ErrorKind::Duplicate { kind: child.kind() }));
                    }
                }
                b"trex" => {
                    let (id, defaults) = TrackDefaults::from_box(&child)?;
                    let Some(index) = self.track_index(id) else {
                        return Err(child.error(ErrorKind::UnknownTrack { id }));
                    };
                    if self.tracks[index].defaults.replace(defaults).is_some() {
                        return Err(child.error(ErrorKind::DuplicateTrack { id }));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The bytes of `moov`, header included.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Gives the bytes back.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Offset of `moov` in the file.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Index in `tracks` of the track with this id.
    pub fn track_index(&self, id: u32) -> Option<usize> {
        let at = self.by_id.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        Some(self.by_id[at].1)
    }

    /// The track with this id.
    pub fn track(&self, id: u32) -> Option<&Track> {
        self.tracks.get(self.track_index(id)?)
    }

    /// The root box, for reading boxes that this crate does not.
    pub fn root(&self) -> Result<BoxRef<'_>> {
        BoxRef::root(&self.bytes, self.offset)
    }

    /// Samples of a progressive track, from its sample tables.
    ///
    /// The tables are checked against each other here, in time proportional to their size;
    /// each sample is checked against `file_len` when it is yielded. A track without
    /// samples (as in a fragmented file) gives an empty iterator.
    pub fn samples(&self, track: &Track, file_len: u64) -> Result<Samples<'_>> {
        let track = self.own(track)?;
        Samples::new(&self.bytes, self.offset, track, file_len)
    }

    /// Goes on with the samples of a progressive track at a [`Samples::position`] of the same track,
    /// at no cost that depends on where it is or on the size of the tables.
    ///
    /// The tables were checked when the position was taken. One that was taken in another movie gives
    /// samples of no meaning or an error.
    pub fn samples_from(
        &self,
        track: &Track,
        position: SamplePosition,
        file_len: u64,
    ) -> Result<Samples<'_>> {
        let track = self.own(track)?;
        Samples::resume(&self.bytes, self.offset, track, file_len, position)
    }

    /// Auxiliary information of a protected progressive track: `senc` in `stbl`, or what
    /// `saiz` and `saio` there point to, read from `file`.
    pub fn aux_info<'s, R: ReadAt + ?Sized>(
        &'s self,
        track: &'s Track,
        file: &R,
    ) -> Result<AuxInfo<'s>> {
        let track = self.own(track)?;
        let stbl = self.stbl(track)?;
        let aux = track.aux_boxes(&stbl)?;
        aux.info(stbl, 0, track.tables.chunk_samples(&self.bytes), file)
    }

    /// Whether a track has `senc`, `saiz`, `saio` or `seig` groups in `moov`. In a track whose sample
    /// entries are clear they are left over.
    pub fn has_protection_boxes(&self, track: &Track) -> Result<bool> {
        for child in self.stbl(self.own(track)?)?.children() {
            if is_protection_box(&child?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Where the auxiliary information of a progressive track's samples is in the file: of any type,
    /// as `saiz` and `saio` say.
    pub fn aux_ranges(&self, track: &Track, file_len: u64) -> Result<Vec<Range<u64>>> {
        let track = self.own(track)?;
        let counts = || track.tables.chunk_samples(&self.bytes);
        aux_ranges(&self.stbl(track)?, 0, counts, file_len)
    }

    /// Ranges of the file that items of the movie and of its tracks occupy (`meta` with `iloc`).
    pub fn item_extents(&self) -> Result<Vec<Range<u64>>> {
        let mut extents = Vec::new();
        for meta in self.metas()? {
            extents.extend(item_extents(&meta)?);
        }
        Ok(extents)
    }

    /// The `meta` boxes of the movie and of its tracks.
    pub(crate) fn metas(&self) -> Result<Vec<BoxRef<'_>>> {
        let moov = self.root()?;
        let mut metas = Vec::new();
        for child in moov.children() {
            let child = child?;
            match &child.kind().0 {
                b"meta" => metas.push(child),
                b"trak" => metas.extend(child.child(b"meta")?),
                _ => {}
            }
        }
        Ok(metas)
    }

    /// Encryption parameters of a progressive track's samples, as runs.
    ///
    /// `description_index` selects the sample entry whose `tenc` holds where no sample group
    /// says otherwise.
    pub fn encryption_runs<'s>(
        &'s self,
        track: &'s Track,
        description_index: u32,
    ) -> EncryptionRuns<'s> {
        let Some(track) = self.track(track.id) else {
            return movie_runs(&self.bytes, None, None, None, 0);
        };
        let default = track.encryption(description_index);
        let count = u64::from(track.sample_count());
        movie_runs(&self.bytes, track.seig_sbgp, default, track.seig.as_ref(), count)
    }

    /// The track with this id in this movie: a [`Track`] holds byte positions, which are valid only
    /// in the `moov` that it was parsed from.
    fn own(&self, track: &Track) -> Result<&Track> {
        let (id, moov) = (track.id, self.root()?);
        self.track(id).ok_or_else(|| moov.error(ErrorKind::UnknownTrack { id }))
    }

    pub(crate) fn stbl(&self, track: &Track) -> Result<BoxRef<'_>> {
        track.trak(&self.root()?)?.require(b"mdia")?.require(b"minf")?.require(b"stbl")
    }
}
