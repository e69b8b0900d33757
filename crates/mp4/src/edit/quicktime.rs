//! From the forms of `QuickTime` files to those of ISO files, inside a `moov` that is edited.
//!
//! `QuickTime` (Apple, *`QuickTime` File Format Specification*) is the ancestor of ISO/IEC 14496-12
//! and differs in details that ISO readers, browsers among them, refuse or misread: longer sound
//! sample entries whose configuration is inside `wave`, words of zeros behind the boxes of a sample
//! entry, handler types in another place, languages as Macintosh codes. Each form is recognised
//! by itself and not by the brand of the file, since files with ISO brands carry some of them.

use super::{ftyp::iso_ftyp, movie::TrackBoxes, splice::Splice};
use crate::{
    BoxRef, ErrorKind, FourCc, Media, Movie, Result, Track,
    moov::{is_quicktime_language, mac_language},
    nesting::entry_children_offset,
    source::{be16, be32, be64},
    writer::{put_box, put_full_box, put16, put32},
};

/// Gives `ftyp` and `moov` of an ISO file for a fragmented one of `QuickTime`; `None` if it is none.
///
/// `ftyp` is that of the file, whole. Fragments are the same in both kinds of files, but browsers
/// refuse what this converts, as they refuse it in a `moov` that [`super::fragment_movie`] makes.
pub fn iso_movie(movie: &Movie, ftyp: Option<&[u8]>) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
    let branded = ftyp.is_some_and(|ftyp| ftyp.get(8..12) == Some(b"qt  "));
    if !branded && movie.tracks.iter().all(|track| !track.quicktime) {
        return Ok(None);
    }
    let ftyp = iso_ftyp(ftyp)?;
    let root = movie.root()?;
    let mut splice = Splice::new(root);
    convert_movie(&mut splice, &root)?;
    for track in &movie.tracks {
        convert_track(&mut splice, track, &TrackBoxes::new(movie, track)?)?;
    }
    Ok(Some((ftyp, splice.finish()?)))
}

/// Converts what lies beside the tracks: `meta` and `udta` of the movie.
pub(super) fn convert_movie(splice: &mut Splice<'_>, moov: &BoxRef<'_>) -> Result<()> {
    convert_metadata(splice, &[*moov])
}

/// Converts one track, or says what in it has no ISO form.
pub(super) fn convert_track(
    splice: &mut Splice<'_>,
    track: &Track,
    boxes: &TrackBoxes<'_>,
) -> Result<()> {
    let [moov, trak, mdia, minf] = boxes.outer;
    convert_metadata(splice, &[moov, trak])?;
    convert_data_references(splice, track, boxes)?;
    for child in minf.children() {
        let child = child?;
        match &child.kind().0 {
            // The data handler, which ISO files do not have.
            b"hdlr" => splice.remove(child.range(), &boxes.outer),
            b"gmhd" => splice.replace(child.range(), &boxes.outer, |out| {
                put_full_box(out, *b"nmhd", 0, 0, |_| {});
            }),
            // Transfer mode and operation color: ISO has the mode "copy" only.
            b"vmhd" if track.quicktime && child.payload().len() >= 12 => {
                splice.overwrite(child.payload_range().start + 4, &[0; 8]);
            }
            _ => {}
        }
    }
    if track.quicktime {
        let hdlr = mdia.require(b"hdlr")?;
        splice.replace(hdlr.range(), &[moov, trak, mdia], |out| {
            put_handler(out, &hdlr, track.handler);
        });
        convert_language(splice, &mdia.require(b"mdhd")?)?;
    }
    for (entry, parsed) in boxes.stsd.children().zip(&track.entries) {
        let entry = entry?;
        match parsed.media {
            Media::Video { .. } => convert_visual(splice, track, boxes, &entry)?,
            Media::Audio { .. } => convert_sound(splice, track, boxes, &entry)?,
            Media::Other => {}
        }
    }
    Ok(())
}

/// `meta` gets the version word of a full box, `udta` loses the zeros behind its last box.
fn convert_metadata(splice: &mut Splice<'_>, around: &[BoxRef<'_>]) -> Result<()> {
    let Some(parent) = around.last() else { return Ok(()) };
    for child in parent.children() {
        let child = child?;
        match &child.kind().0 {
            b"meta" if child.payload().get(4..8) == Some(b"hdlr") => {
                let inside = [around, &[child]].concat();
                splice.insert(child.payload_range().start, &inside, |out| put32(out, 0));
            }
            b"udta" => {
                // User data that are no boxes stay as they are.
                if let Ok(end) = child.children().end() {
                    let inside = [around, &[child]].concat();
                    splice.remove(end..child.range().end, &inside);
                    convert_metadata(splice, &inside)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// An alias to the file itself becomes a `url ` that says so.
fn convert_data_references(
    splice: &mut Splice<'_>,
    track: &Track,
    boxes: &TrackBoxes<'_>,
) -> Result<()> {
    let [moov, trak, mdia, minf] = boxes.outer;
    let Some(dinf) = minf.child(b"dinf")? else { return Ok(()) };
    let Some(dref) = dinf.child(b"dref")? else { return Ok(()) };
    for reference in dref.children() {
        let reference = reference?;
        if !matches!(&reference.kind().0, b"alis" | b"rsrc") {
            continue;
        }
        let (_, flags) = reference.reader().version_flags()?;
        if flags & SELF_CONTAINED == 0 {
            let why = "the media are in another file";
            return Err(no_iso_form(track, &reference, why, "-c copy"));
        }
        splice.replace(reference.range(), &[moov, trak, mdia, minf, dinf, dref], |out| {
            put_full_box(out, *b"url ", 0, SELF_CONTAINED, |_| {});
        });
    }
    Ok(())
}

/// Writes `hdlr` without component type, manufacturer and flags, and with a C string as its name.
fn put_handler(out: &mut Vec<u8>, hdlr: &BoxRef<'_>, handler: FourCc) {
    let name = hdlr.payload().get(24..).unwrap_or_default();
    let text = match name.split_first() {
        // A Pascal string begins with its length. One that does not fill the box has a length
        // that no text begins with.
        Some((&len, rest))
            if usize::from(len) == rest.len() || len < b' ' && usize::from(len) < rest.len() =>
        {
            &rest[..len.into()]
        }
        _ => name,
    };
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    put_full_box(out, *b"hdlr", 0, 0, |out| {
        put32(out, 0);
        out.extend_from_slice(&handler.0);
        out.extend_from_slice(&[0; 12]);
        out.extend_from_slice(text);
        out.push(0);
    });
}

/// A Macintosh language code becomes one of ISO 639-2/T; what is not specified becomes `und`.
fn convert_language(splice: &mut Splice<'_>, mdhd: &BoxRef<'_>) -> Result<()> {
    let mut reader = mdhd.reader();
    let (version, _) = reader.version_upto(1)?;
    reader.bytes(if version == 1 { 28 } else { 16 }, "times")?;
    let at = reader.position();
    let code = reader.u16("language")?;
    if is_quicktime_language(code) {
        let packed = mac_language(code)
            .unwrap_or(*b"und")
            .iter()
            .fold(0, |packed, letter| packed << 5 | u16::from(letter.wrapping_sub(0x60) & 31));
        splice.overwrite(at, &packed.to_be_bytes());
    }
    Ok(())
}

/// Removes what ISO readers stumble over in a visual sample entry.
///
/// Colours of type `nclc` stay: `nclx` adds whether the range is full, which only the video itself
/// says, and readers believe `nclx` more than the video. They pass over `nclc`.
fn convert_visual(
    splice: &mut Splice<'_>,
    track: &Track,
    boxes: &TrackBoxes<'_>,
    entry: &BoxRef<'_>,
) -> Result<()> {
    let inside = boxes.around(&[boxes.stsd, *entry]);
    if track.quicktime {
        // Version, vendor and quality: reserved in ISO files.
        splice.overwrite(entry.payload_range().start + 8, &[0; 16]);
    }
    for child in entry.children_at(VISUAL_FIELDS) {
        let child = child?;
        if child.kind() == TERMINATOR {
            splice.remove(child.range(), &inside);
        }
    }
    splice.remove(entry.children_at(VISUAL_FIELDS).end()?..entry.range().end, &inside);
    Ok(())
}

/// Writes a sound sample entry anew as ISO's version 0, if it has another form.
fn convert_sound(
    splice: &mut Splice<'_>,
    track: &Track,
    boxes: &TrackBoxes<'_>,
    entry: &BoxRef<'_>,
) -> Result<()> {
    let (payload, stsd_version) = (entry.payload(), boxes.stsd.payload()[0]);
    let offset = entry_children_offset(entry.kind(), track.handler, stsd_version, payload);
    let children = entry.children_at(offset.unwrap_or(payload.len()));
    // Version 1 in an `stsd` of version 1 is ISO's own.
    let version = if stsd_version == 0 { be16(payload, 8) } else { 0 };
    let wave = children.clone().only(b"wave")?;
    let clean = children.clone().end()? == entry.range().end;
    if version == 0 && wave.is_none() && clean {
        return Ok(());
    }
    let fail = |why, arguments| Err(no_iso_form(track, entry, why, arguments));
    let mut kept = Vec::new();
    for child in children {
        let child = child?;
        if child.kind() != b"wave" && child.kind() != TERMINATOR {
            kept.push(child);
        }
    }
    let configuration = configuration(entry.kind());
    let is_configuration = |child: &BoxRef<'_>| Some(child.kind()) == configuration;
    let configured = kept.iter().any(is_configuration);
    for child in wave.iter().flat_map(|wave| wave.children_at(0)) {
        let child = child?;
        // What names the format again, the order of bytes of uncompressed sound, and the end.
        let dropped = matches!(&child.kind().0, b"frma" | b"mp4a" | b"enda" | &TERMINATOR);
        let twice = configured && is_configuration(&child);
        if !(dropped || twice) {
            kept.push(child);
        }
    }
    if version != 0 || wave.is_some() {
        if configuration.is_none() {
            // MP3 has another form in ISO files; the others must be encoded.
            let arguments = if entry.kind() == b".mp3" { "-c copy" } else { "-c copy -c:a aac" };
            return fail("a sound format of QuickTime only", arguments);
        }
        if !kept.iter().any(is_configuration) {
            return fail("its codec configuration is missing", "-c copy");
        }
    }
    let sound = match version {
        0 | 1 => {
            Sound { channels: be16(payload, 16), bits: be16(payload, 18), rate: be32(payload, 24) }
        }
        2 if payload.len() >= 64 => match Sound::version_2(payload) {
            Some(sound) => sound,
            None => return fail("impossible sampling rate or channels", "-c copy -c:a aac"),
        },
        _ => return fail("an unknown version of sound sample entries", "-c copy -c:a aac"),
    };
    splice.replace(entry.range(), &boxes.around(&[boxes.stsd]), |out| {
        put_box(out, entry.kind().0, |out| {
            out.extend_from_slice(&payload[..8]);
            out.extend_from_slice(&[0; 8]);
            put16(out, sound.channels);
            put16(out, sound.bits);
            put32(out, 0);
            put32(out, sound.rate);
            for child in &kept {
                out.extend_from_slice(child.bytes());
            }
        });
    });
    Ok(())
}

/// The fields of a sound sample entry.
struct Sound {
    channels: u16,
    bits: u16,
    /// 16.16; 0 if it does not fit, as other writers do: the codec's configuration has it.
    rate: u32,
}

impl Sound {
    /// The fields of version 2, whose own place for them has constants in it.
    fn version_2(payload: &[u8]) -> Option<Self> {
        let rate = f64::from_bits(be64(payload, 32)).round();
        let channels = u16::try_from(be32(payload, 40)).ok()?;
        if !rate.is_finite() || rate < 1.0 || channels == 0 {
            return None;
        }
        let bits = u16::try_from(be32(payload, 48)).ok().filter(|bits| (1..=64).contains(bits));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number from 1 to 65535"
        )]
        let rate = if rate <= f64::from(u16::MAX) { (rate as u32) << 16 } else { 0 };
        Some(Self { channels, bits: bits.unwrap_or(16), rate })
    }
}

/// The box that must be in the ISO sample entry of a sound format; `None` if there is no such
/// entry.
fn configuration(format: FourCc) -> Option<FourCc> {
    Some(FourCc(*match &format.0 {
        b"mp4a" => b"esds",
        b"alac" => b"alac",
        b"ac-3" => b"dac3",
        b"ec-3" => b"dec3",
        b"ac-4" => b"dac4",
        b"Opus" => b"dOps",
        b"fLaC" => b"dfLa",
        b"samr" | b"sawb" => b"damr",
        b"mha1" => b"mhaC",
        _ => return None,
    }))
}

#[cold]
fn no_iso_form(
    track: &Track,
    what: &BoxRef<'_>,
    why: &'static str,
    arguments: &'static str,
) -> crate::Error {
    what.error(ErrorKind::NoIsoForm { track: track.id, form: what.kind(), why, arguments })
}

/// Type of the empty box that ends `wave` and some sample entries.
const TERMINATOR: [u8; 4] = [0; 4];

/// Bytes before the boxes of a visual sample entry.
const VISUAL_FIELDS: usize = 78;

/// Flag of a data reference: the media are in this file.
const SELF_CONTAINED: u32 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_c_strings() {
        for (old, new) in [
            (&b"\x05Sound"[..], &b"Sound\0"[..]),
            (b"\x05Sound\0\0", b"Sound\0"),
            (b"Sound\0", b"Sound\0"),
            (b"", b"\0"),
            (b"\0", b"\0"),
            (b"\x20A name of thirty two characters.", b"A name of thirty two characters.\0"),
        ] {
            let mut hdlr = Vec::new();
            put_full_box(&mut hdlr, *b"hdlr", 0, 0, |out| {
                out.extend_from_slice(b"mhlrsounappl\x10\0\0\0\0\x01\0\0");
                out.extend_from_slice(old);
            });
            let mut out = Vec::new();
            put_handler(&mut out, &BoxRef::root(&hdlr, 0).unwrap(), FourCc(*b"soun"));
            assert_eq!(&out[8..32], b"\0\0\0\0\0\0\0\0soun\0\0\0\0\0\0\0\0\0\0\0\0");
            assert_eq!(&out[32..], new);
        }
    }

    #[test]
    fn rates_of_version_2() {
        let mut payload = [0; 64];
        payload[40..44].copy_from_slice(&6_u32.to_be_bytes());
        for (rate, fixed) in [
            (44_100.0, Some(44_100 << 16)),
            (96_000.0, Some(0)),
            (65_535.0, Some(65_535 << 16)),
            (65_536.0, Some(0)),
            (0.0, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
        ] {
            payload[32..40].copy_from_slice(&f64::to_bits(rate).to_be_bytes());
            let sound = Sound::version_2(&payload);
            assert_eq!(sound.as_ref().map(|sound| sound.rate), fixed, "{rate}");
            assert!(sound.is_none_or(|sound| (sound.channels, sound.bits) == (6, 16)));
        }
    }
}
