//! Text among the tracks: files of its own formats become tracks, and tracks become files for HLS.

use std::{ops::Range, sync::Arc};

use lanelock_mp4::Sample;

use super::{
    PackageOptions, TextStorage,
    cuts::Time,
    rendition::Rendition,
    source::{InputFile, SourceTrack},
};
use crate::{
    Error, Observer,
    io::{Input, MemorySource, Source},
    text::{self, SegmentWriter, TextKind, Ttml, WebVtt, cues_of_wvtt, wvtt_header},
};

/// A text file among the inputs.
pub(super) struct TextFile {
    pub(super) bytes: Vec<u8>,
    document: Document,
}

enum Document {
    WebVtt(WebVtt),
    Ttml(Ttml),
}

impl TextFile {
    /// Reads a text file; none if it is something else.
    pub(super) fn read(
        source: &Arc<dyn Source>,
        observer: &dyn Observer,
    ) -> Result<Option<Self>, Error> {
        let input = Input::new(&**source);
        if input.is_sequential() {
            return Ok(None);
        }
        let read = |len: u64| {
            let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
            input.read(&mut bytes, 0).map(|()| bytes)
        };
        let head = read(input.len().min(1024))?;
        let Some(kind) = text::kind(&head, &input.name)? else { return Ok(None) };
        // One byte more than is taken, so that too much is seen.
        let bytes = read(input.len().min(text::MAX_TEXT + 1))?;
        input.check_unchanged()?;
        let document = match kind {
            TextKind::WebVtt => {
                let document = WebVtt::parse(&input.name, &bytes)?;
                if let Some(warning) = document.warning() {
                    observer.warn(&warning);
                }
                Document::WebVtt(document)
            }
            TextKind::Ttml => Document::Ttml(Ttml::parse(&input.name, &bytes)?),
        };
        Ok(Some(Self { bytes, document }))
    }

    /// The language that it states.
    pub(super) fn language(&self) -> Option<String> {
        match &self.document {
            Document::WebVtt(_) => None,
            Document::Ttml(document) => document.language.clone(),
        }
    }

    pub(super) fn extension(&self) -> &'static str {
        match &self.document {
            Document::WebVtt(_) => "vtt",
            Document::Ttml(_) => "ttml",
        }
    }

    pub(super) fn is_webvtt(&self) -> bool {
        matches!(&self.document, Document::WebVtt(_))
    }

    /// What to tell if it goes on behind the end of the stream.
    pub(super) fn warning(&self, end: Time) -> Option<String> {
        let (name, own) = match &self.document {
            Document::WebVtt(document) => (&document.name, Some(document.end())),
            Document::Ttml(document) => (&document.name, document.end),
        };
        let own = Time { units: i64::try_from(own?).ok()?, timescale: 1000 };
        (own.seconds() > end.seconds() + 1.0).then(|| {
            format!(
                "{name}: its text goes on to {:.1} s, and the stream ends at {:.1} s: what is behind that \
                 is left out",
                own.seconds(),
                end.seconds()
            )
        })
    }

    /// An MP4 file of it, up to `end`, whose samples begin at the boundaries, too.
    pub(super) fn track(
        &self,
        boundaries: &[Time],
        end: Time,
        language: Option<&str>,
    ) -> Result<SourceTrack, Error> {
        // The first millisecond that is not before.
        let ms = |time: Time| {
            let units = u128::try_from(time.units).unwrap_or(0) * 1000;
            u64::try_from(units.div_ceil(u128::from(time.timescale))).unwrap_or(u64::MAX)
        };
        let boundaries: Vec<u64> = boundaries.iter().copied().map(ms).collect();
        let (name, movie) = match &self.document {
            Document::WebVtt(document) => {
                let movie = text::wvtt_movie(document, &boundaries, ms(end), language)?;
                (document.name.clone(), movie)
            }
            Document::Ttml(document) => {
                let movie = text::stpp_movie(document, &boundaries, ms(end), language)?;
                (document.name.clone(), movie)
            }
        };
        let file = InputFile::read(Arc::new(MemorySource::new(name, movie)))?;
        SourceTrack::untimed(Arc::new(file), 0).timed()
    }
}

/// In which forms a track is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each form is made or not")]
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
        let is_webvtt =
            text.is_some_and(TextFile::is_webvtt) || rendition.source.track().codec() == "wvtt";
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
    let document = if let Some(TextFile { document: Document::WebVtt(document), .. }) =
        rendition.text.as_deref()
    {
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
