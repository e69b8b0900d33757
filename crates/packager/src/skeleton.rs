//! What must be known of a file before its first piece is processed: `moov`, `ftyp`, and where media
//! data may be.

use lanelock_mp4::{BoxHeader, Movie, edit::relocate_movie, load, top_level};

use std::ops::Range;

use crate::{Error, Place, io::Input};

/// The top-level boxes of a file that every later step needs.
pub(crate) struct Skeleton {
    pub(crate) movie: Movie,
    pub(crate) moov: BoxHeader,
    /// `ftyp`, whole.
    pub(crate) ftyp: Option<Vec<u8>>,
    pub(crate) media: MediaRanges,
}

/// Where media data may be: the payloads of `mdat`, in file order.
#[derive(Default)]
pub(crate) struct MediaRanges(Vec<Range<u64>>);

impl MediaRanges {
    /// Refuses a sample that is not inside one `mdat`: encrypting it would change box headers.
    pub(crate) fn check(&self, input: &Input, place: Place, size: u64) -> Result<(), Error> {
        let after = self.0.partition_point(|range| range.end <= place.offset);
        let end = place.offset.checked_add(size);
        let inside = |range: &Range<u64>| {
            range.start <= place.offset && end.is_some_and(|end| end <= range.end)
        };
        if size == 0 || self.0.get(after).is_some_and(inside) {
            return Ok(());
        }
        Err(input.unsuitable(format!("{place} is not inside an mdat box: the file is damaged")))
    }
}

/// The most `mdat` boxes: far more than a fragment for each picture of a day.
const MOST_MDATS: usize = 1 << 23;

impl Skeleton {
    /// Walks the headers of the whole file, so that a truncated one is refused before any work.
    pub(crate) fn read(input: &Input) -> Result<Self, Error> {
        let (mut found, mut ftyp, mut fragments) = (None, None, 0_u64);
        let mut media = MediaRanges::default();
        for header in top_level(&input.source) {
            let header = header.map_err(|error| input.container(error))?;
            let load = |header| load(&input.source, header).map_err(|error| input.container(error));
            match &header.kind.0 {
                b"moov" if found.is_some() => {
                    let at = header.offset;
                    return Err(input.unsuitable(format!("a second moov at file offset {at}")));
                }
                b"moov" => {
                    let movie = Movie::parse(load(&header)?, header.offset);
                    found = Some((movie.map_err(|error| input.container(error))?, header));
                }
                b"ftyp" if ftyp.is_none() => ftyp = Some(load(&header)?),
                b"moof" if found.is_none() => {
                    return Err(input.unsuitable(format!(
                        "moof at file offset {} without a moov before it: this is a media segment; \
                         join it with its initialization segment first (cat init.mp4 segment.m4s)",
                        header.offset
                    )));
                }
                b"moof" => fragments += 1,
                b"mdat" if media.0.len() == MOST_MDATS => {
                    return Err(input.unsuitable("more than 8 million mdat boxes"));
                }
                b"mdat" => media.0.push(header.payload_offset()..header.end()),
                _ => {}
            }
        }
        let Some((movie, moov)) = found else {
            return Err(input.unsuitable("no moov box: this is not an MP4 file"));
        };
        if fragments > 0 && !movie.fragmented {
            let reason =
                "moof boxes, but no mvex in moov: neither a progressive nor a fragmented file";
            return Err(input.unsuitable(reason));
        }
        // The plan for fragmented files does not visit samples that moov lists: they would be copied
        // unprotected.
        let hybrid = movie.tracks.iter().find(|track| movie.fragmented && track.sample_count() > 0);
        if let Some(track) = hybrid {
            return Err(input.unsuitable(format!(
                "track {} has samples in moov and in fragments, which is not supported; remux it \
                 first (ffmpeg -i IN -c copy -movflags +frag_keyframe+empty_moov OUT)",
                track.id
            )));
        }
        Ok(Self { movie, moov, ftyp, media })
    }

    /// Sets the offsets right in `moov` bytes that take the place of the input's in a progressive
    /// file: what lies behind moves by the difference of their lengths.
    pub(crate) fn replace_moov(&self, input: &Input, bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
        let (start, end) = (self.moov.offset, self.moov.end());
        Movie::parse(bytes, start)
            .and_then(|movie| {
                relocate_movie(&movie, start, |at, len| {
                    if at < end { Some(at) } else { at.checked_add(len)?.checked_sub(end - start) }
                })
            })
            .map_err(|error| input.container(error))
    }
}
