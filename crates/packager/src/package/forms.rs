//! In which forms tracks are written: text has others than video and audio.

use std::ops::Range;

use lanelock_mp4::Sample;

use super::{
    PackageOptions, TextStorage, rendition::Rendition, source::SourceTrack, text::TextFile,
};
use crate::{
    Error,
    text::{SegmentWriter, WebVtt, cues_of_wvtt, wvtt_header},
};

/// In which forms a track is written.
#[expect(clippy::struct_excessive_bools, reason = "each form is there or not")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Forms {
    /// As a CMAF track, for DASH and for HLS.
    pub(super) cmaf_dash: bool,
    pub(super) cmaf_hls: bool,
    /// As segments of WebVTT, for HLS.
    pub(super) webvtt: bool,
    /// As the file that it was, for DASH.
    pub(super) whole: bool,
}

impl Forms {
    pub(super) fn of(rendition: &Rendition, options: &PackageOptions) -> Self {
        let (dash, hls) = (options.dash.is_some(), options.hls.is_some());
        let text = rendition.text.as_deref();
        let is_webvtt = text.is_some_and(|text| text.webvtt().is_some())
            || rendition.source.track().codec() == "wvtt";
        let whole = dash && text.is_some() && options.text == TextStorage::File;
        let is_hls = hls && !rendition.source.only_sync;
        Self {
            cmaf_dash: dash && !whole,
            cmaf_hls: is_hls && !is_webvtt,
            webvtt: is_hls && is_webvtt,
            whole,
        }
    }

    pub(super) fn cmaf(self) -> bool {
        self.cmaf_dash || self.cmaf_hls
    }
}

/// The segments of WebVTT of a track, in order.
pub(super) fn webvtt_segments(
    rendition: &Rendition,
    mut put: impl FnMut(usize, &str) -> Result<(), Error>,
) -> Result<(), Error> {
    let of_track;
    let document = if let Some(document) = rendition.text.as_deref().and_then(TextFile::webvtt) {
        document
    } else {
        of_track = cues(&rendition.source)?;
        &of_track
    };
    let timescale = u128::from(rendition.source.track().timescale);
    let ms = |time: u64| u64::try_from(u128::from(time) * 1000 / timescale).unwrap_or(u64::MAX);
    let mut writer = SegmentWriter::new(document);
    for (index, (start, duration)) in rendition.segments.times().into_iter().enumerate() {
        let range: Range<u64> = ms(start)..ms(start.saturating_add(duration));
        put(index, &writer.segment(range))?;
    }
    Ok(())
}

/// The cues of a `wvtt` track.
fn cues(source: &SourceTrack) -> Result<WebVtt, Error> {
    let input = source.file.input();
    let header = wvtt_header(source.file.movie(), source.index);
    let header = header.map_err(|error| input.container(error))?;
    let mut samples = source.samples()?;
    let read = |sample: &Sample, start: i64| {
        let start = u64::try_from(start).unwrap_or(0);
        let mut bytes = vec![0; sample.size as usize];
        input.read(&mut bytes, sample.offset)?;
        Ok((start, start.saturating_add(sample.duration.into()), bytes))
    };
    let all = std::iter::from_fn(|| match samples.next() {
        Ok(Some((_, sample))) => {
            let start = samples.presented(&sample);
            Some(read(&sample, start))
        }
        Ok(None) => None,
        Err(error) => Some(Err(error)),
    });
    cues_of_wvtt(&input.name, header.as_deref(), source.track().timescale, all)
}
