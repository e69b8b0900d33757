//! What must be known of a file before its first piece is processed: `moov`, `ftyp`, and where media
//! data may be.

use std::ops::Range;

use lanelock_mp4::{
    BoxHeader, BoxRef, FourCc, Movie,
    edit::{relocate_meta, relocate_movie},
    item_extents, load, top_level,
};

use crate::{Error, Place, io::Input};

/// The top-level boxes of a file that every later step needs.
pub(crate) struct Skeleton {
    pub(crate) movie: Movie,
    pub(crate) moov: BoxHeader,
    /// `ftyp`, whole.
    pub(crate) ftyp: Option<Vec<u8>>,
    /// File-level `meta` boxes, whole.
    pub(crate) metas: Vec<(BoxHeader, Vec<u8>)>,
    pub(crate) media: MediaRanges,
    /// Ranges of the file that items occupy: pictures, for example, that a `meta` box describes.
    pub(crate) items: Vec<Range<u64>>,
    /// How many `moof` boxes there are.
    pub(crate) fragments: u64,
    /// A box that goes on to the end of the file and is neither media data nor metadata that is read:
    /// type and payload. A damaged size hides all that follows in such a box.
    pub(crate) open_ended: Option<(FourCc, Range<u64>)>,
}

/// A metadata box of a progressive file, and the bytes that take its place.
#[derive(Clone, Debug)]
pub(crate) struct Replacement {
    pub(crate) kind: FourCc,
    pub(crate) range: Range<u64>,
    pub(crate) bytes: Vec<u8>,
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

    /// Whether there are no media data at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(Range::is_empty)
    }

    /// The range, and what lies between the `mdat` boxes where it begins or ends with one.
    pub(crate) fn widen(&self, range: Range<u64>) -> Range<u64> {
        let first = self.0.partition_point(|mdat| mdat.end <= range.start);
        let start = match self.0.get(first) {
            Some(mdat) if mdat.start < range.start => range.start,
            _ => first.checked_sub(1).map_or(0, |before| self.0[before].end),
        };
        let last = self.0.partition_point(|mdat| mdat.end < range.end);
        let end = match &self.0[last..] {
            [mdat, ..] if mdat.start >= range.end => mdat.start,
            [mdat, ..] if mdat.end > range.end => range.end,
            [_, next, ..] => next.start,
            _ => u64::MAX,
        };
        start..end
    }

    /// The parts of `range` that are media data.
    pub(crate) fn parts(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let first = self.0.partition_point(|mdat| mdat.end <= range.start);
        let (start, end) = (range.start, range.end);
        self.0[first..]
            .iter()
            .take_while(move |mdat| mdat.start < end)
            .map(move |mdat| mdat.start.max(start)..mdat.end.min(end))
            .filter(|part| !part.is_empty())
    }
}

/// Refuses a metadata box that holds top-level boxes: its size is wrong, and what is in it would pass
/// unprotected.
fn refuse_media_inside(input: &Input, header: &BoxHeader, bytes: &[u8]) -> Result<(), Error> {
    let root = BoxRef::root(bytes, header.offset).map_err(|error| input.container(error))?;
    // A box that ends in something else than boxes is no matter of this check.
    for child in root.children().map_while(Result::ok) {
        if matches!(&child.kind().0, b"moof" | b"mdat") {
            return Err(input.unsuitable(format!(
                "the {} box at file offset {} holds a box of type {}, which belongs behind it: its \
                 size is damaged",
                header.kind,
                header.offset,
                child.kind()
            )));
        }
    }
    Ok(())
}

/// The most `mdat` boxes: far more than a fragment for each picture of a day.
const MOST_MDATS: usize = 1 << 23;

impl Skeleton {
    /// Walks the headers of the whole file, so that a truncated one is refused before any work.
    pub(crate) fn read(input: &Input) -> Result<Self, Error> {
        let (mut found, mut ftyp, mut fragments) = (None, None, 0_u64);
        let mut media = MediaRanges::default();
        let (mut metas, mut items) = (Vec::new(), Vec::new());
        let mut open_ended = None;
        for header in top_level(&input.source) {
            let header = header.map_err(|error| input.container(error))?;
            let load = |header| load(&input.source, header).map_err(|error| input.container(error));
            match &header.kind.0 {
                b"moov" if found.is_some() => {
                    let at = header.offset;
                    return Err(input.unsuitable(format!("a second moov at file offset {at}")));
                }
                b"moov" => {
                    let bytes = load(&header)?;
                    refuse_media_inside(input, &header, &bytes)?;
                    let movie = Movie::parse(bytes, header.offset);
                    found = Some((movie.map_err(|error| input.container(error))?, header));
                }
                b"ftyp" if ftyp.is_none() => ftyp = Some(load(&header)?),
                b"meta" => {
                    let bytes = load(&header)?;
                    refuse_media_inside(input, &header, &bytes)?;
                    let found = BoxRef::root(&bytes, header.offset).and_then(|b| item_extents(&b));
                    items.extend(found.map_err(|error| input.container(error))?);
                    metas.push((header, bytes));
                }
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
                b"mfra" if header.open_ended => {
                    refuse_media_inside(input, &header, &load(&header)?)?;
                }
                _ if header.open_ended => {
                    open_ended = Some((header.kind, header.payload_offset()..header.end()));
                }
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
        items.extend(movie.item_extents().map_err(|error| input.container(error))?);
        Ok(Self { movie, moov, ftyp, metas, media, items, fragments, open_ended })
    }

    /// The boxes of a progressive file that change with its `moov`: `moov` itself, and `meta` boxes
    /// whose items move.
    pub(crate) fn replacements(
        &self,
        input: &Input,
        moov: Vec<u8>,
    ) -> Result<Vec<Replacement>, Error> {
        let container = |error| input.container(error);
        let (start, end) = (self.moov.offset, self.moov.end());
        // What is inside of `moov` moves with what is added and removed there.
        if let Some(item) = self.items.iter().find(|item| item.start < end && item.end > start) {
            return Err(input.unsuitable(format!(
                "a meta box has an item inside of the moov box ({} bytes at file offset {}), which \
                 would move; take the items out first (ffmpeg -i IN -map 0 -c copy OUT)",
                item.end - item.start,
                item.start
            )));
        }
        // What lies behind `moov` moves by the difference of the lengths.
        let moved = |at: u64, len: u64| {
            if at < end { Some(at) } else { at.checked_add(len)?.checked_sub(end - start) }
        };
        let movie = Movie::parse(moov, start).map_err(container)?;
        let moov = relocate_movie(&movie, start, moved).map_err(container)?;
        let len = moov.len() as u64;
        let mut replaced =
            vec![Replacement { kind: self.moov.kind, range: start..end, bytes: moov }];
        for (header, bytes) in &self.metas {
            let bytes = relocate_meta(bytes, header.offset, |at| moved(at, len));
            let bytes = bytes.map_err(container)?;
            let range = header.offset..header.end();
            replaced.push(Replacement { kind: header.kind, range, bytes });
        }
        replaced.sort_by_key(|replacement| replacement.range.start);
        Ok(replaced)
    }

    /// Refuses items whose places in the file would be wrong in an output of fragments.
    pub(crate) fn refuse_items(&self, input: &Input) -> Result<(), Error> {
        let Some(item) = self.items.first() else { return Ok(()) };
        let hint = if self.movie.fragmented {
            "take them out first (ffmpeg -i IN -map 0 -c copy OUT)"
        } else {
            "keep the layout of the file (--layout keep), or take them out first (ffmpeg -i IN -map 0 \
             -c copy OUT)"
        };
        Err(input.unsuitable(format!(
            "a meta box has items in the media data ({} bytes at file offset {}), which would move; \
             {hint}",
            item.end - item.start,
            item.start
        )))
    }
}
