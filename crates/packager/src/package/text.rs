//! Text among the tracks: files of its own formats become tracks, and tracks become files for HLS.

use std::sync::Arc;

use super::{
    facts,
    source::{InputFile, SourceTrack},
    time::Time,
};
use crate::{
    Error, Observer,
    io::{Input, MemorySource, Source},
    text::{self, TextKind, Ttml, WebVtt},
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
            TextKind::Ttml => {
                let mut document = Ttml::parse(&input.name, &bytes)?;
                if let Some(wrong) = document.language.take_if(|tag| !facts::is_language(tag)) {
                    observer.warn(&format!(
                        "{}: its language (xml:lang) {wrong:?} is no tag of BCP 47, such as de or en-GB, and \
                         is left out; set it (--track ...:language=TAG)",
                        input.name
                    ));
                }
                Document::Ttml(document)
            }
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

    /// Its cues, if it is WebVTT.
    pub(super) fn webvtt(&self) -> Option<&WebVtt> {
        match &self.document {
            Document::WebVtt(document) => Some(document),
            Document::Ttml(_) => None,
        }
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
