//! Moving the media of a progressive file: chunk offsets, and `saio` in `stbl`.

use super::{movie::TrackBoxes, splice::Splice};
use crate::{
    BoxRef, ErrorKind, Movie, Result, Track,
    items::moved_items,
    protection::Saio,
    source::Source,
    writer::{put_full_box, put32, put64},
};

/// Gives a file-level `meta` whose items (`iloc`) follow a change of the file. The box was at `offset`
/// of the input; `map` gives the output offset of an input offset. The length stays.
pub fn relocate_meta(
    meta: &[u8],
    offset: u64,
    map: impl Fn(u64) -> Option<u64>,
) -> Result<Vec<u8>> {
    let root = BoxRef::root_of(meta, offset, b"meta")?;
    let mut splice = Splice::new(root);
    for (at, field) in moved_items(&root, map)? {
        splice.overwrite(at, &field);
    }
    splice.finish()
}

/// Gives a `moov` whose chunk offsets follow a change of the file.
///
/// `moov` will be at `new_offset` of the output. `map` gives the output offset of an input
/// offset; its second argument is the length of the new `moov`, by whose growth all that lies
/// behind it moves. `stco`
/// becomes `co64` in a track that needs it. `saio` offsets in `stbl` that point into `moov`
/// move with it, others are mapped as well, and so are the places of items (`iloc`) of `meta` boxes
/// in `moov`.
pub fn relocate_movie(
    movie: &Movie,
    new_offset: u64,
    map: impl Fn(u64, u64) -> Option<u64>,
) -> Result<Vec<u8>> {
    // Widening a table makes `moov` longer, which may push other offsets over the limit.
    // Tables are only ever widened, so this ends after as many rounds as there are tracks.
    let mut wide: Vec<bool> = movie.tracks.iter().map(|track| track.tables.wide).collect();
    loop {
        let growth: u64 = movie
            .tracks
            .iter()
            .zip(&wide)
            .filter(|(track, wide)| **wide && !track.tables.wide)
            .map(|(track, _)| u64::from(track.tables.chunks.records.count) * 4)
            .sum();
        let len = movie.bytes().len() as u64 + growth;
        let mut changed = false;
        for (track, wide) in movie.tracks.iter().zip(&mut wide) {
            if !*wide && !fits(movie, track, |at| map(at, len))? {
                *wide = true;
                changed = true;
            }
        }
        if !changed {
            return write(movie, &wide, new_offset, |at| map(at, len));
        }
    }
}

fn chunk(
    movie: &Movie,
    track: &Track,
    index: u32,
    map: impl Fn(u64) -> Option<u64>,
) -> Result<u64> {
    let old = track.tables.chunk_offset(movie.bytes(), index);
    map(old).ok_or_else(|| {
        let what = "a chunk offset that does not exist in the output";
        let table = Source { bytes: movie.bytes(), base: movie.offset() };
        let width = if track.tables.wide { 8 } else { 4 };
        let at = track.tables.chunks.records.at + index as usize * width;
        table.error(track.tables.chunks.anchor, at, ErrorKind::Invalid(what))
    })
}

fn fits(movie: &Movie, track: &Track, map: impl Fn(u64) -> Option<u64>) -> Result<bool> {
    for index in 0..track.tables.chunks.records.count {
        if u32::try_from(chunk(movie, track, index, &map)?).is_err() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn write(
    movie: &Movie,
    wide: &[bool],
    new_offset: u64,
    map: impl Fn(u64) -> Option<u64>,
) -> Result<Vec<u8>> {
    let root = movie.root()?;
    let mut splice = Splice::new(root);
    let mut saios = Vec::new();
    for (track, &wide) in movie.tracks.iter().zip(wide) {
        let count = track.tables.chunks.records.count;
        let mut offsets = Vec::with_capacity(count as usize);
        for index in 0..count {
            offsets.push(chunk(movie, track, index, &map)?);
        }
        let boxes = TrackBoxes::new(movie, track)?;
        for child in boxes.stbl.children() {
            let child = child?;
            match &child.kind().0 {
                b"stco" if wide => splice.replace(child.range(), &boxes.around(&[]), |out| {
                    put_full_box(out, *b"co64", 0, 0, |out| {
                        put32(out, count);
                        for &offset in &offsets {
                            put64(out, offset);
                        }
                    });
                }),
                b"stco" | b"co64" => {
                    let at = track.tables.chunks.records.at;
                    let mut bytes = Vec::with_capacity(offsets.len() * 8);
                    for offset in &offsets {
                        let offset = offset.to_be_bytes();
                        // The upper half is zero in a table that is not wide.
                        bytes.extend_from_slice(if wide { &offset } else { &offset[4..] });
                    }
                    splice.overwrite(at, &bytes);
                }
                b"saio" => saios.push(Saio::from_box(child)?),
                _ => {}
            }
        }
    }
    for meta in movie.metas()? {
        for (at, field) in moved_items(&meta, &map)? {
            splice.overwrite(at, &field);
        }
    }
    let positions = splice.positions();
    let (start, len) = (movie.offset(), movie.bytes().len() as u64);
    for saio in saios {
        for entry in 0..saio.records.count {
            let old = saio.entry(entry);
            let new = match old.checked_sub(start).filter(|&at| at < len) {
                Some(at) => new_offset
                    .checked_add(at)
                    .and_then(|new| new.checked_add_signed(positions.shift(at))),
                None => map(old),
            };
            let at = saio.entry_at(entry);
            let overflow =
                || saio.place.error_at(at, ErrorKind::Overflow { what: "`saio` offset" });
            let new = new.ok_or_else(overflow)?;
            if saio.wide {
                splice.overwrite(at, &new.to_be_bytes());
            } else {
                let new = u32::try_from(new).map_err(|_| overflow())?;
                splice.overwrite(at, &new.to_be_bytes());
            }
        }
    }
    splice.finish()
}
