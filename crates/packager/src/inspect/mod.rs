//! What a file is.

mod tally;

use std::{collections::HashSet, path::Path};

use base64ct::{Base64, Encoding as _};
use lanelock_mp4::{BoxHeader, BoxRef, FourCc, Fragment, Movie, Pssh, load_into, top_level};
use serde::Serialize;

use self::tally::Tally;
use crate::{
    Error, drm,
    io::{FileSource, Input, ReadAhead, Source},
    skeleton::Skeleton,
};

/// What a file is: `lanelock inspect --json` prints it as it stands.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Bytes of the file.
    pub bytes: u64,
    /// `fragmented` or `progressive`.
    pub layout: String,
    /// Major and compatible brands.
    pub brands: Vec<String>,
    /// Seconds, by the movie header, else by the longest track.
    pub duration: f64,
    /// The tracks.
    pub tracks: Vec<TrackReport>,
    /// `pssh` boxes, in `moov` and in fragments; equal ones once.
    pub pssh: Vec<PsshReport>,
    /// Fragments, if it is fragmented.
    pub fragments: Option<FragmentReport>,
}

/// A `pssh` box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PsshReport {
    /// The system ID, as a UUID.
    pub system_id: String,
    /// The name of the system, if it is a known one.
    pub system: Option<String>,
    /// The version of the box.
    pub version: u8,
    /// The KIDs, of the box itself and of its data.
    pub kids: Vec<String>,
    /// What else the data say, as far as they can be read: name and value.
    pub details: Vec<(String, String)>,
    /// Bytes of data.
    pub data_bytes: usize,
    /// The whole box in base64, as manifests take it.
    #[serde(rename = "box")]
    pub whole: String,
}

/// A track.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct TrackReport {
    /// The track ID.
    pub id: u32,
    /// `video`, `audio`, `text` or the handler.
    pub kind: String,
    /// The codec string (RFC 6381) of the first sample entry.
    pub codec: String,
    /// Whether Lanelock's rules for protecting this codec are experimental.
    pub experimental: bool,
    /// The four-character codes of the sample entries, as stored (`encv`).
    pub sample_entries: Vec<String>,
    /// Three letters.
    pub language: String,
    /// Coded pixels; 0 if it is not video.
    pub width: u32,
    /// Coded pixels; 0 if it is not video.
    pub height: u32,
    /// Ticks a second.
    pub timescale: u32,
    /// Seconds: the sum over the samples; by the media header if there are none.
    pub duration: f64,
    /// Access units.
    pub access_units: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The protection of the track; none if it is clear.
    pub protection: Option<ProtectionReport>,
    /// Whether samples of a clear sample entry have `senc`, `saiz`, `saio` or `seig` groups: what an
    /// earlier protection has left over, or a `moov` that is not that of the fragments.
    pub leftovers: bool,
}

/// The protection of a track.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct ProtectionReport {
    /// The scheme type. All that counts samples is 0 if it is none of `cenc`, `cens`, `cbc1`, `cbcs` and
    /// `piff`.
    pub scheme: String,
    /// `crypt:skip`; none without pattern.
    pub pattern: Option<String>,
    /// All KIDs in use, that of `tenc` first.
    pub kids: Vec<String>,
    /// Bytes of IV that each sample carries.
    pub iv_size: u8,
    /// The constant IV, in hexadecimal digits.
    pub constant_iv: Option<String>,
    /// The IV that the first protected sample carries, in hexadecimal digits.
    pub first_iv: Option<String>,
    /// Access units that are protected; the others are in clear sample groups or sample entries.
    pub protected_access_units: u64,
    /// Access units with subsamples.
    pub with_subsamples: u64,
    /// Subsamples of all access units.
    pub subsamples: u64,
    /// The most subsamples of an access unit.
    pub most_subsamples: u64,
    /// Clear bytes of subsamples.
    pub clear_bytes: u64,
    /// Protected bytes of subsamples, or of whole samples.
    pub protected_bytes: u64,
    /// The bytes among them that are ciphertext: without skipped blocks, partial last blocks and
    /// truncated crypt runs (ISO/IEC 23001-7, 9.6.1; some packagers encrypt the latter).
    pub ciphertext_bytes: u64,
}

/// The fragments.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct FragmentReport {
    /// How many.
    pub count: u64,
    /// Bytes of the smallest, `moof` and data.
    pub smallest: u64,
    /// Bytes of the largest.
    pub largest: u64,
    /// Seconds of the shortest; by the first track in it.
    pub shortest: f64,
    /// Seconds of the longest.
    pub longest: f64,
}

/// The most bytes of a `moof`: its structures take a multiple of that in memory.
const MOOF_CAP: u64 = 16 << 20;

/// Says what the file at `path` is, from its metadata alone: no sample is read. The auxiliary
/// information of protected tracks is, and must be whole.
pub fn inspect_file(path: &Path) -> Result<Report, Error> {
    inspect(&FileSource::open(path)?)
}

/// [`inspect_file`] for any source.
///
/// ```
/// use lanelock_packager::{inspect, io::MemorySource};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = "tests/fixtures/avc_aac.frag.mp4";
/// let report = inspect(&MemorySource::new("in.mp4", std::fs::read(path)?))?;
/// assert_eq!(report.layout, "fragmented");
/// assert!(report.tracks.iter().all(|track| track.protection.is_none()));
/// # Ok(())
/// # }
/// ```
pub fn inspect(source: &dyn Source) -> Result<Report, Error> {
    let input = Input::new(source);
    let skeleton = Skeleton::read(&input)?;
    let report = report(&input, &skeleton)?;
    let duration = stated_duration(&skeleton.movie).unwrap_or(report.duration);
    Ok(Report { duration, ..report })
}

/// [`inspect`] for a media segment that stands alone, and whose `moov` is in the initialization segment
/// `init`.
pub fn inspect_segment(init: &dyn Source, segment: &dyn Source) -> Result<Report, Error> {
    let (init, input) = (Input::new(init), Input::new(segment));
    report(&input, &Skeleton::of_segment(&init, &input)?)
}

/// Counts the samples; the duration is that of the longest track.
fn report(input: &Input<'_>, skeleton: &Skeleton) -> Result<Report, Error> {
    let Skeleton { movie, ftyp, .. } = skeleton;
    let container = |error| input.container(error);
    let mut pssh = PsshList::default();
    pssh.add(&movie.pssh);
    let mut tallies: Vec<_> =
        movie.tracks.iter().map(|track| Tally::new(input, movie, track)).collect();
    for tally in &mut tallies {
        tally.tables()?;
    }
    let mut fragments = None;
    if movie.fragmented {
        let report = fragments.insert(FragmentReport::default());
        let mut moof = Vec::new();
        let ahead = ReadAhead::new(input);
        let mut end = 0;
        for header in top_level(&ahead) {
            let header = header.map_err(container)?;
            end = header.end();
            if input.is_sequential() && header.offset > skeleton.moov.offset {
                Skeleton::check_streamed(input, &header.into())?;
            }
            if header.kind != b"moof" {
                continue;
            }
            // What is in front of it is not asked for again.
            input.take(&mut [], header.offset)?;
            load_into(&ahead, &header, MOOF_CAP, &mut moof).map_err(container)?;
            let fragment =
                Fragment::parse(&moof, header.offset, movie, input.len()).map_err(container)?;
            for traf in &fragment.tracks {
                tallies[traf.track_index].fragment(traf)?;
            }
            pssh.add(&fragment.pssh);
            report.add(&header, &fragment, movie);
        }
        // The length of a pipe is known in the end.
        input.check_end(end)?;
    }
    let tracks: Vec<_> = tallies.into_iter().map(Tally::finish).collect();
    Ok(Report {
        bytes: input.len(),
        layout: if movie.fragmented { "fragmented" } else { "progressive" }.into(),
        brands: ftyp.as_deref().map_or(Ok(Vec::new()), brands).map_err(container)?,
        duration: tracks.iter().map(|track| track.duration).fold(0.0, f64::max),
        tracks,
        pssh: pssh.reports,
        fragments,
    })
}

/// The major brand and the compatible ones; the minor version between them is no brand.
fn brands(ftyp: &[u8]) -> lanelock_mp4::Result<Vec<String>> {
    let ftyp = BoxRef::root(ftyp, 0)?;
    let words = ftyp.payload().as_chunks::<4>().0.iter().enumerate();
    Ok(words.filter(|(at, _)| *at != 1).map(|(_, word)| FourCc(*word).to_string()).collect())
}

/// Seconds by the headers of the movie; none if they do not state it.
fn stated_duration(movie: &Movie) -> Option<f64> {
    let ticks = known(movie.duration).or_else(|| known(movie.fragment_duration?))?;
    (movie.timescale > 0).then(|| seconds(ticks, movie.timescale))
}

/// A duration of a header, which is 0 or all ones if it is unknown.
fn known(ticks: u64) -> Option<u64> {
    (!matches!(ticks, 0 | 0xffff_ffff | u64::MAX)).then_some(ticks)
}

#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53 ticks, and to be read by people")]
fn seconds(ticks: u64, timescale: u32) -> f64 {
    ticks as f64 / f64::from(timescale)
}

impl FragmentReport {
    fn add(&mut self, moof: &BoxHeader, fragment: &Fragment<'_>, movie: &Movie) {
        let first = self.count == 0;
        self.count += 1;
        let data = fragment.tracks.iter().map(|traf| traf.data_size);
        let bytes = data.fold(moof.size, u64::saturating_add);
        self.smallest = if first { bytes } else { self.smallest.min(bytes) };
        self.largest = self.largest.max(bytes);
        let traf = fragment.tracks.iter().find(|traf| traf.sample_count > 0);
        let length = traf
            .map_or(0.0, |traf| seconds(traf.duration, movie.tracks[traf.track_index].timescale));
        self.shortest = if first { length } else { self.shortest.min(length) };
        self.longest = self.longest.max(length);
    }
}

/// `pssh` boxes, equal ones once.
#[derive(Default)]
struct PsshList {
    seen: HashSet<Vec<u8>>,
    reports: Vec<PsshReport>,
}

impl PsshList {
    fn add(&mut self, boxes: &[Pssh]) {
        for pssh in boxes {
            if self.seen.contains(&pssh.raw) {
                continue;
            }
            self.seen.insert(pssh.raw.clone());
            let contents = drm::contents(pssh);
            self.reports.push(PsshReport {
                system: drm::name(pssh.system_id).map(str::to_owned),
                system_id: drm::uuid(pssh.system_id),
                version: pssh.version,
                kids: contents.kid_texts(),
                details: contents
                    .details
                    .into_iter()
                    .map(|(n, value)| (n.to_owned(), value))
                    .collect(),
                data_bytes: pssh.data.len(),
                whole: Base64::encode_string(&pssh.raw),
            });
        }
    }
}
