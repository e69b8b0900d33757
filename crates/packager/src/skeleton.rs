//! What must be known of a file before its first piece is processed: `moov`, `ftyp`, and where media
//! data may be.

use std::ops::Range;

use lanelock_mp4::{
    BoxHeader, BoxRef, FourCc, Movie,
    edit::{relocate_meta, relocate_movie},
    item_extents, load, top_level,
};

use crate::{
    Error, Place, foreign,
    io::{Input, ReadAhead},
};

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
    /// The top-level boxes, in file order; those that nothing is known of may stand as one. Of a pipe,
    /// the boxes up to `moov`.
    pub(crate) boxes: Vec<TopBox>,
    /// How many `moof` boxes there are among them.
    pub(crate) fragments: u64,
    /// A box that goes on to the end of the file and is neither media data nor metadata that is read:
    /// type and payload. A damaged size hides all that follows in such a box.
    pub(crate) open_ended: Option<(FourCc, Range<u64>)>,
}

/// Where a top-level box is: what is left of its header, for there may be millions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TopBox {
    pub(crate) kind: FourCc,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    header_len: u8,
    pub(crate) open_ended: bool,
}

impl TopBox {
    pub(crate) fn end(&self) -> u64 {
        self.offset + self.size
    }

    /// Where its payload is.
    pub(crate) fn payload(&self) -> Range<u64> {
        self.offset + u64::from(self.header_len)..self.end()
    }
}

impl From<BoxHeader> for TopBox {
    fn from(header: BoxHeader) -> Self {
        let BoxHeader { kind, offset, header_len, size, open_ended, .. } = header;
        // At most 32.
        Self {
            kind,
            offset,
            size,
            header_len: u8::try_from(header_len).unwrap_or(u8::MAX),
            open_ended,
        }
    }
}

/// A metadata box of a progressive file, and the bytes that take its place.
#[derive(Clone, Debug)]
pub(crate) struct Replacement {
    pub(crate) kind: FourCc,
    pub(crate) range: Range<u64>,
    pub(crate) bytes: Vec<u8>,
}

/// Where media data may be: the payloads of `mdat`, in file order.
#[derive(Clone, Debug, Default)]
pub(crate) struct MediaRanges(Vec<Range<u64>>);

impl MediaRanges {
    /// Adds a box behind all others, if it is media data.
    pub(crate) fn push(&mut self, found: &TopBox) {
        if found.kind == b"mdat" {
            self.0.push(found.payload());
        }
    }

    /// The ranges.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Range<u64>> {
        self.0.iter().cloned()
    }

    /// Refuses a sample that is not inside one `mdat`: encrypting it would change box headers.
    pub(crate) fn check(&self, input: &Input<'_>, place: Place, size: u64) -> Result<(), Error> {
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

    /// Those parts of the ranges that are in `range`.
    pub(crate) fn within(&self, range: &Range<u64>) -> Self {
        Self(self.parts(range.clone()).collect())
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
fn refuse_media_inside(input: &Input<'_>, header: &BoxHeader, bytes: &[u8]) -> Result<(), Error> {
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

/// The most top-level boxes: far more than a fragment for each picture of a day.
const MOST_BOXES: usize = 1 << 23;

impl Skeleton {
    /// Walks the headers of the whole file, so that a truncated one is refused before any work. A pipe
    /// is read up to its `moov`.
    pub(crate) fn read(input: &Input<'_>) -> Result<Self, Error> {
        foreign::refuse(input)?;
        let mut walk = Walk::new(input);
        let ahead = ReadAhead::new(input);
        for header in top_level(&ahead) {
            let header = header.map_err(|error| input.container(error))?;
            walk.visit(&header, &ahead)?;
            if input.is_sequential() && walk.movie.is_some() {
                break;
            }
        }
        walk.finish()
    }

    /// The same of an initialization segment.
    pub(crate) fn of_init(init: &Input<'_>) -> Result<Self, Error> {
        Self::walk_init(init)?.finish()
    }

    /// The same of a media segment that stands alone; its `moov` is in the initialization segment
    /// `init`.
    pub(crate) fn of_segment<'a>(
        init: &'a Input<'a>,
        segment: &'a Input<'a>,
    ) -> Result<Self, Error> {
        let mut walk = Self::walk_init(init)?;
        foreign::refuse(segment)?;
        walk.input = segment;
        walk.boxes.clear();
        walk.open_ended = None;
        let ahead = ReadAhead::new(segment);
        for header in top_level(&ahead) {
            let header = header.map_err(|error| segment.container(error))?;
            if header.kind == b"moov" {
                return Err(segment.unsuitable(format!(
                    "moov at file offset {}: this is a whole file, which needs no initialization segment",
                    header.offset
                )));
            }
            walk.visit(&header, &ahead)?;
        }
        if walk.fragments == 0 {
            return Err(segment.unsuitable("no moof box: this is no media segment"));
        }
        walk.finish()
    }

    fn walk_init<'a>(init: &'a Input<'a>) -> Result<Walk<'a>, Error> {
        foreign::refuse(init)?;
        let mut walk = Walk::new(init);
        let ahead = ReadAhead::new(init);
        for header in top_level(&ahead) {
            let header = header.map_err(|error| init.container(error))?;
            if matches!(&header.kind.0, b"moof" | b"mdat") {
                return Err(init.unsuitable(format!(
                    "{} at file offset {}: this is no initialization segment, which has no media",
                    header.kind, header.offset
                )));
            }
            walk.visit(&header, &ahead)?;
        }
        match &walk.movie {
            None => Err(init.unsuitable("no moov box: this is no initialization segment")),
            Some((movie, _)) if !movie.fragmented => {
                Err(init.unsuitable("no mvex in moov: this is no initialization segment"))
            }
            Some(_) => Ok(walk),
        }
    }

    /// Refuses a box of a pipe behind `moov` that has no place there.
    pub(crate) fn check_streamed(input: &Input<'_>, found: &TopBox) -> Result<(), Error> {
        let TopBox { kind, offset, open_ended, .. } = found;
        if *open_ended {
            return Err(input.unsuitable(format!(
                "the {kind} box at file offset {offset} goes on to the end of the file, wherever that is: \
                 a pipe needs boxes with sizes; write it to a file first"
            )));
        }
        match &kind.0 {
            b"moov" => Err(input.unsuitable(format!("a second moov at file offset {offset}"))),
            b"meta" => Err(input.unsuitable(format!(
                "a meta box at file offset {offset}, behind moov: its items would move; write the input \
                 to a file first"
            ))),
            _ => Ok(()),
        }
    }

    /// The boxes of a progressive file that change with its `moov`: `moov` itself, and `meta` boxes
    /// whose items move.
    pub(crate) fn replacements(
        &self,
        input: &Input<'_>,
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
    pub(crate) fn refuse_items(&self, input: &Input<'_>) -> Result<(), Error> {
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

/// What a walk over the headers of a file has found so far.
struct Walk<'a> {
    input: &'a Input<'a>,
    movie: Option<(Movie, BoxHeader)>,
    ftyp: Option<Vec<u8>>,
    metas: Vec<(BoxHeader, Vec<u8>)>,
    items: Vec<Range<u64>>,
    media: MediaRanges,
    boxes: Vec<TopBox>,
    fragments: u64,
    open_ended: Option<(FourCc, Range<u64>)>,
}

impl<'a> Walk<'a> {
    fn new(input: &'a Input<'a>) -> Self {
        Self {
            input,
            movie: None,
            ftyp: None,
            metas: Vec::new(),
            items: Vec::new(),
            media: MediaRanges::default(),
            boxes: Vec::new(),
            fragments: 0,
            open_ended: None,
        }
    }

    fn visit(&mut self, header: &BoxHeader, ahead: &ReadAhead<'_>) -> Result<(), Error> {
        let input = self.input;
        let load = |header| load(ahead, header).map_err(|error| input.container(error));
        match &header.kind.0 {
            b"moov" if self.movie.is_some() => {
                let at = header.offset;
                return Err(input.unsuitable(format!("a second moov at file offset {at}")));
            }
            b"moov" => {
                let bytes = load(header)?;
                refuse_media_inside(input, header, &bytes)?;
                let movie = Movie::parse(bytes, header.offset);
                self.movie = Some((movie.map_err(|error| input.container(error))?, *header));
            }
            b"ftyp" if self.ftyp.is_none() => self.ftyp = Some(load(header)?),
            b"meta" => {
                let bytes = load(header)?;
                refuse_media_inside(input, header, &bytes)?;
                let found = BoxRef::root(&bytes, header.offset).and_then(|b| item_extents(&b));
                self.items.extend(found.map_err(|error| input.container(error))?);
                self.metas.push((*header, bytes));
            }
            b"moof" if self.movie.is_none() => {
                return Err(input.unsuitable(format!(
                    "moof at file offset {} without a moov before it: this is a media segment; join it with \
                     its initialization segment first (cat init.mp4 segment.m4s); to encrypt, decrypt or \
                     inspect it alone, give its initialization segment with --init",
                    header.offset
                )));
            }
            b"moof" => self.fragments += 1,
            b"mdat" if self.movie.is_none() && input.is_sequential() => {
                return Err(input.unsuitable(format!(
                    "mdat at file offset {} without a moov before it: a pipe cannot go back to it; \
                     fragment it (ffmpeg ... -movflags +frag_keyframe+empty_moov), or write it to a file \
                     first",
                    header.offset
                )));
            }
            b"mfra" if header.open_ended => refuse_media_inside(input, header, &load(header)?)?,
            b"mdat" => {}
            _ if header.open_ended => {
                self.open_ended = Some((header.kind, header.payload_offset()..header.end()));
            }
            _ => {}
        }
        let found = TopBox::from(*header);
        self.media.push(&found);
        // Boxes that stay as they are, side by side.
        let plain = |kind: FourCc| matches!(&kind.0, b"free" | b"skip" | b"wide" | b"uuid");
        let full = self.boxes.len() == MOST_BOXES;
        match self.boxes.last_mut() {
            Some(last) if plain(last.kind) && plain(found.kind) => {
                last.size += found.size;
                last.open_ended |= found.open_ended;
            }
            _ if full => {
                return Err(input.unsuitable("more than 8 million boxes"));
            }
            _ => self.boxes.push(found),
        }
        Ok(())
    }

    fn finish(self) -> Result<Skeleton, Error> {
        let Self { input, movie, ftyp, metas, mut items, media, boxes, fragments, open_ended } =
            self;
        let Some((movie, moov)) = movie else {
            return Err(input.unsuitable(match &ftyp {
                Some(ftyp) if foreign::is_picture(ftyp) => {
                    "no moov box: this is a picture (HEIF, AVIF), not a movie"
                }
                Some(_) => {
                    "no moov box: the file is not complete, as when a recording or a download was cut \
                     short; make or fetch it again"
                }
                None => "no moov box: this is not an MP4 file",
            }));
        };
        if input.is_sequential() && !movie.fragmented {
            return Err(input.unsuitable(
                "it is a progressive file, whose samples are anywhere: a pipe cannot go back to them; \
                 fragment it (ffmpeg ... -movflags +frag_keyframe+empty_moov), or write it to a file \
                 first",
            ));
        }
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
        Ok(Skeleton { movie, moov, ftyp, metas, media, items, boxes, fragments, open_ended })
    }
}
