//! Facts about tracks that take both the file format and the codec to tell.

use lanelock_cenc::map::Codec;
use lanelock_mp4::{SampleEntry, Track};

/// Width and height of the coded picture in pixels.
pub(crate) fn picture_size(track: &Track) -> (u32, u32) {
    let facts = track.entries.first().and_then(SampleEntry::video);
    facts.map_or((track.width, track.height), |facts| (facts.width.into(), facts.height.into()))
}

/// The transfer characteristics of a video track as ITU-T H.273 numbers them: 16 is PQ, 18 is Hybrid
/// Log-Gamma. None if it is not known, which players take for standard dynamic range.
pub(crate) fn transfer_characteristics(entry: &SampleEntry) -> Option<u16> {
    // Dolby Vision without a base layer for others is PQ in a colour space of its own, which has no
    // number (Dolby Vision Streams within the HTTP Live Streaming Format, VIDEO-RANGE).
    if entry.dolby_vision().is_some_and(|dolby| dolby.profile == 5) {
        return Some(PQ);
    }
    let colour = entry.video()?.colour.map(|colour| colour.transfer);
    colour.or_else(|| {
        let config = entry.config.as_ref()?;
        let codec = Codec::of_sample_entry(entry.original_format.0)?;
        let is_its_own = codec.configuration() == Some(config.kind.0);
        let transfer = codec.transfer_characteristics(&config.data).filter(|_| is_its_own)?;
        (transfer != UNSPECIFIED).then_some(transfer.into())
    })
}

const PQ: u16 = 16;
const UNSPECIFIED: u8 = 2;

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use lanelock_mp4::{Movie, load, top_level};
    use lanelock_testkit::{
        Scratch,
        boxes::{boxed, find, grow},
        ffmpeg, skip, small_clip,
    };

    use super::*;

    fn transfer(file: &[u8]) -> Option<u16> {
        let headers: Result<Vec<_>, _> = top_level(file).collect();
        let moov = headers.unwrap().into_iter().find(|header| header.kind == b"moov").unwrap();
        let movie = Movie::parse(load(file, &moov).unwrap(), moov.offset).unwrap();
        transfer_characteristics(&movie.tracks[0].entries[0])
    }

    #[test]
    fn of_boxes_and_of_parameter_sets() {
        let Some(ffmpeg) = ffmpeg() else { return };
        let dir = Scratch::new();
        let path = dir.file("video.mp4");
        for encoder in ["libx264", "libx265", "libvpx-vp9"] {
            let run = Command::new(&ffmpeg)
                .args([
                    "-v",
                    "error",
                    "-y",
                    "-f",
                    "lavfi",
                    "-i",
                    "testsrc=s=64x64",
                    "-frames:v",
                    "2",
                ])
                .args(["-pix_fmt", "yuv420p", "-c:v", encoder, "-color_trc", "arib-std-b67"])
                .args(["-color_primaries", "bt2020", "-colorspace", "bt2020nc"])
                .arg(&path)
                .status();
            if !run.unwrap().success() {
                skip(&format!("this ffmpeg has no {encoder}"));
                continue;
            }
            let mut file = fs::read(&path).unwrap();
            assert_eq!(transfer(&file), Some(18), "{encoder}");
            let at = find(&file, b"colr") + 4;
            file[at..at + 4].copy_from_slice(b"free");
            assert_eq!(transfer(&file), Some(18), "{encoder} without colr");
        }
    }

    #[test]
    fn of_dolby_vision() {
        let mut file = small_clip("hevc.mp4").read();
        assert_eq!(transfer(&file), None);
        // Profile 5, level 1, base layer and metadata.
        let record = boxed(b"dvcC", &[&[1, 0, 5 << 1, 1 << 3 | 5, 0], &[0; 19]]);
        let at = find(&file, b"hvcC");
        let kinds = [b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"hvc1"];
        // `ftyp` may name some of these, so they are looked for behind it.
        let moov = find(&file, b"moov");
        grow(&mut file[moov..], &kinds, record.len());
        file.splice(at..at, record);
        assert_eq!(transfer(&file), Some(16));
    }
}
