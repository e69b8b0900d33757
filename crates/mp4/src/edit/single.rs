//! A movie of one track of several.

use super::splice::Splice;
use crate::{
    Movie, Result,
    source::be32,
    writer::{put_box, put_full_box, put32, put64},
};

/// The edit list of a track that is presented from one time of its media on (CMAF, ISO/IEC 23000-19,
/// 7.5.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SingleEdit {
    /// None: presentation begins with composition time 0.
    None,
    /// One edit, from this composition time on.
    From(u64),
}

/// Gives the `moov` with the track `id` alone, and with this edit list in the place of its own.
///
/// References to other tracks (`tref`) go with them, and so does `iods`, which speaks of all of them. So do
/// `udta` and `meta` of the movie and of the track: comments, places, cover pictures, which are of the
/// file and not of its media, and which nobody means to give to all who play a stream.
pub fn single_track(movie: &Movie, id: u32, edit: SingleEdit) -> Result<Vec<u8>> {
    let root = movie.root()?;
    let mut splice = Splice::new(root);
    let kept = movie.track_index(id);
    let mut number = 0;
    for child in root.children() {
        let child = child?;
        match &child.kind().0 {
            b"trak" => {
                number += 1;
                if kept != Some(number - 1) {
                    splice.remove(child.range(), &[root]);
                    continue;
                }
                let mut after_header = child.range().end;
                for inner in child.children() {
                    let inner = inner?;
                    match &inner.kind().0 {
                        b"tkhd" => after_header = inner.range().end,
                        b"edts" | b"tref" | b"udta" | b"meta" => {
                            splice.remove(inner.range(), &[root, child]);
                        }
                        _ => {}
                    }
                }
                if let SingleEdit::From(time) = edit {
                    splice.insert(after_header, &[root, child], |out| put_edit(out, time));
                }
            }
            b"mvex" => {
                for trex in child.children() {
                    let trex = trex?;
                    let of_other = trex.kind() == b"trex"
                        && trex.payload().get(4..8).is_none_or(|track| be32(track, 0) != id);
                    if of_other {
                        splice.remove(trex.range(), &[root, child]);
                    }
                }
            }
            b"iods" | b"udta" | b"meta" => splice.remove(child.range(), &[root]),
            _ => {}
        }
    }
    splice.finish()
}

/// `edts` with one edit to the end, whose duration of 0 includes all fragments (ISO/IEC 14496-12,
/// 8.6.6.1).
fn put_edit(out: &mut Vec<u8>, time: u64) {
    put_box(out, *b"edts", |out| match i32::try_from(time) {
        Ok(time) => put_full_box(out, *b"elst", 0, 0, |out| {
            put32(out, 1);
            put32(out, 0);
            put32(out, time.cast_unsigned());
            put32(out, 1 << 16);
        }),
        Err(_) => put_full_box(out, *b"elst", 1, 0, |out| {
            put32(out, 1);
            put64(out, 0);
            put64(out, time);
            put32(out, 1 << 16);
        }),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{load, top_level};

    fn movie(name: &str) -> Movie {
        let path = format!("{}/../../testkit/media/{name}", env!("CARGO_MANIFEST_DIR"));
        let file = std::fs::read(path).unwrap();
        let moov = top_level(&file).map(Result::unwrap).find(|header| header.kind == b"moov");
        let moov = moov.unwrap();
        Movie::parse(load(&file, &moov).unwrap(), moov.offset).unwrap()
    }

    #[test]
    fn one_track_is_left_with_its_edit() {
        let movie = movie("avc_aac.mp4");
        assert_eq!(movie.tracks.len(), 2);
        for track in &movie.tracks {
            for edit in [SingleEdit::None, SingleEdit::From(1024), SingleEdit::From(1 << 40)] {
                let moov = single_track(&movie, track.id, edit).unwrap();
                let alone = Movie::parse(moov, movie.offset()).unwrap();
                let [only] = &alone.tracks[..] else { panic!("{} tracks", alone.tracks.len()) };
                assert_eq!((only.id, only.sample_count()), (track.id, track.sample_count()));
                let times: Vec<_> = only.edits.iter().map(|edit| edit.media_time).collect();
                match edit {
                    SingleEdit::None => assert!(times.is_empty()),
                    SingleEdit::From(time) => assert_eq!(times, [time.cast_signed()]),
                }
                // The samples are where they were.
                let mut was = movie.samples(track, u64::MAX).unwrap();
                let mut is = alone.samples(only, u64::MAX).unwrap();
                assert_eq!(was.next().unwrap().unwrap(), is.next().unwrap().unwrap());
            }
        }
    }
    #[test]
    fn nothing_is_left_of_what_the_file_says_of_itself() {
        let movie = movie("avc_aac.mp4");
        let root = movie.root().unwrap();
        let boxes = |secret: &[u8]| {
            let mut out = Vec::new();
            for kind in [*b"udta", *b"meta"] {
                put_box(&mut out, kind, |out| {
                    out.extend_from_slice(&[0; 4]);
                    put_box(out, *b"free", |out| out.extend_from_slice(secret));
                });
            }
            out
        };
        let mut splice = Splice::new(root);
        for child in root.children().map(Result::unwrap).filter(|child| child.kind() == b"trak") {
            splice.insert(child.range().end, &[root, child], |out| {
                out.extend_from_slice(&boxes(b"of the track"));
            });
        }
        splice.insert(root.range().end, &[root], |out| {
            out.extend_from_slice(&boxes(b"of the movie"));
        });
        let told = Movie::parse(splice.finish().unwrap(), movie.offset()).unwrap();
        let has = |moov: &[u8], what: &[u8]| moov.windows(what.len()).any(|bytes| bytes == what);
        for what in [&b"of the track"[..], b"of the movie", b"udta", b"meta"] {
            assert!(has(told.bytes(), what));
            for track in &told.tracks {
                let moov = single_track(&told, track.id, SingleEdit::None).unwrap();
                assert!(!has(&moov, what), "{}", what.escape_ascii());
            }
        }
    }
}
