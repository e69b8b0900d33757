//! From a progressive `moov` to the `moov` of an initialization segment.

use super::{movie::TrackBoxes, quicktime, slices::SampleInfoSlicer, splice::Splice};
use crate::{
    BoxRef, ErrorKind, Movie, Result,
    source::be32,
    writer::{put_box, put_full_box, put32, put64},
};

/// Gives the `moov` of a fragmented file for a progressive movie.
///
/// Sample tables become empty, and what speaks of single samples goes to the fragments:
///
/// - times, sizes, `stss`, `sdtp`, `padb` and `stdp` as the fields of samples ([`crate::Sample`]);
/// - `sbgp` and `subs` as boxes of the `traf` ([`SampleInfoSlicer`]), while the descriptions of
///   sample groups (`sgpd`) stay here;
/// - `stsh` (shadow sync samples) and `stps` (`QuickTime`'s partial sync samples) have no place
///   there and are dropped, like auxiliary information and `seig` groups, which are made anew.
///
/// Durations of `mvhd`, `tkhd` and `mdhd` become 0, that of the movie goes to `mvex/mehd`. Each
/// track gets a `trex`. Forms of `QuickTime` become those of ISO files; what has none is
/// [`ErrorKind::NoIsoForm`]. Edit lists and all other boxes keep their bytes. The new `moov` has
/// an explicit size, for something will follow it.
pub fn fragment_movie(movie: &Movie) -> Result<Vec<u8>> {
    let root = movie.root()?;
    if movie.fragmented {
        return Err(root.error(ErrorKind::Invalid("the movie is fragmented already")));
    }
    let mut splice = Splice::new(root);
    clear_duration(&mut splice, &root.require(b"mvhd")?, 4)?;
    quicktime::convert_movie(&mut splice, &root)?;
    for track in &movie.tracks {
        let boxes = TrackBoxes::new(movie, track)?;
        let [_, trak, mdia, _] = boxes.outer;
        clear_duration(&mut splice, &trak.require(b"tkhd")?, 8)?;
        clear_duration(&mut splice, &mdia.require(b"mdhd")?, 4)?;
        quicktime::convert_track(&mut splice, track, &boxes)?;
        // What is dropped here must be fit to be carried along.
        SampleInfoSlicer::new(movie, track)?;
        for child in boxes.stbl.children() {
            let child = child?;
            let around = boxes.around(&[]);
            match &child.kind().0 {
                b"stts" | b"stsc" | b"stco" | b"co64" | b"stsz" | b"stz2" => {
                    splice.replace(child.range(), &around, |out| put_empty(out, &child));
                }
                b"stss" | b"ctts" | b"stsh" | b"sdtp" | b"sbgp" | b"csgp" | b"padb" | b"subs"
                | b"stdp" | b"stps" | b"saiz" | b"saio" | b"senc" => {
                    splice.remove(child.range(), &around);
                }
                _ => {}
            }
        }
    }
    // After the last track, before `udta` and whatever else follows.
    let mut at = root.append_position()?;
    for child in root.children() {
        let child = child?;
        if child.kind() == b"trak" {
            at = child.range().end;
        }
    }
    splice.insert(at, &[root], |out| put_mvex(out, movie));
    let mut moov = splice.finish()?;
    if be32(&moov, 0) == 0 {
        let size = u32::try_from(moov.len())
            .map_err(|_| root.error(ErrorKind::Overflow { what: "box size" }))?;
        moov[..4].copy_from_slice(&size.to_be_bytes());
    }
    Ok(moov)
}

/// Zeroes the duration of a header box; `between` bytes lie between times and duration.
fn clear_duration(splice: &mut Splice<'_>, header: &BoxRef<'_>, between: usize) -> Result<()> {
    let mut reader = header.reader();
    let (version, _) = reader.version_upto(1)?;
    reader.bytes(if version == 1 { 16 } else { 8 } + between, "times")?;
    let at = reader.position();
    let len = if version == 1 { 8 } else { 4 };
    reader.bytes(len, "duration")?;
    splice.overwrite(at, &[0; 8][..len]);
    Ok(())
}

fn put_empty(out: &mut Vec<u8>, table: &BoxRef<'_>) {
    match &table.kind().0 {
        b"stsz" | b"stz2" => put_full_box(out, *b"stsz", 0, 0, |out| put64(out, 0)),
        b"stco" | b"co64" => put_full_box(out, *b"stco", 0, 0, |out| put32(out, 0)),
        kind => put_full_box(out, *kind, 0, 0, |out| put32(out, 0)),
    }
}

fn put_mvex(out: &mut Vec<u8>, movie: &Movie) {
    put_box(out, *b"mvex", |out| {
        let known = movie.duration != 0
            && movie.duration != u64::MAX
            && movie.duration != u64::from(u32::MAX);
        match u32::try_from(movie.duration) {
            _ if !known => {}
            Ok(duration) => put_full_box(out, *b"mehd", 0, 0, |out| put32(out, duration)),
            Err(_) => put_full_box(out, *b"mehd", 1, 0, |out| put64(out, movie.duration)),
        }
        for track in &movie.tracks {
            put_full_box(out, *b"trex", 0, 0, |out| {
                put32(out, track.id);
                put32(out, 1);
                out.extend_from_slice(&[0; 12]);
            });
        }
    });
}
