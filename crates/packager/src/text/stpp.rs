//! TTML in MP4 (ISO/IEC 14496-30, clause 5): a sample is a document.

use super::{
    MAX_SAMPLES,
    samples::{ENTRY_FIELDS, TextSamples, put_box, sample_bounds, too_many},
    ttml::{NAMESPACE, Paragraph, Shown, Ttml},
};
use crate::Error;

/// Makes an MP4 file of a TTML file: one track `stpp` from 0 to `end` in milliseconds, with a sample
/// from each boundary to the next (ISO/IEC 14496-30, clause 5).
///
/// Each sample is the document without the paragraphs that are not shown in its interval. Its times count
/// from the start of the track, as in the file. `language` is a BCP 47 tag.
pub(crate) fn stpp_movie(
    document: &Ttml,
    boundaries: &[u64],
    end: u64,
    language: Option<&str>,
) -> Result<Vec<u8>, Error> {
    let mut samples = TextSamples::new(&document.name, end)?;
    let bounds = sample_bounds(end, boundaries.iter().copied());
    let intervals: Vec<_> = bounds.windows(2).map(|bounds| bounds[0]..bounds[1]).collect();
    // The paragraphs of each interval, in the order of the document.
    let mut shown = vec![Vec::new(); intervals.len()];
    let mut bytes = 0_usize;
    for (index, Paragraph { bytes: range, shown: Shown { begin, end } }) in
        document.paragraphs.iter().enumerate()
    {
        let first = intervals.partition_point(|interval| interval.end <= begin.floor);
        let behind =
            intervals.partition_point(|interval| end.is_none_or(|end| interval.start < end));
        let Some(shown) = shown.get_mut(first..behind) else { continue };
        bytes = bytes.saturating_add(range.len().saturating_mul(shown.len()));
        if bytes > MAX_SAMPLES {
            return Err(too_many(&document.name));
        }
        for shown in shown {
            shown.push(index);
        }
    }
    let skeleton = document.skeleton();
    for (interval, shown) in intervals.iter().zip(&shown) {
        let paragraphs = shown.iter().filter_map(|index| {
            document.paragraphs.get(*index).map(|paragraph| (*index, true, &paragraph.bytes))
        });
        let pieces = skeleton.iter().map(|(index, bytes)| (*index, false, bytes));
        let mut parts: Vec<_> = pieces.chain(paragraphs).collect();
        parts.sort_by_key(|(index, is_paragraph, _)| (*index, *is_paragraph));
        let parts =
            parts.iter().map(|(.., bytes)| document.text.get((*bytes).clone()).unwrap_or_default());
        samples.push(interval.end - interval.start, parts)?;
    }
    samples.movie(*b"subt", &sample_entry(document.profile), language)
}

/// `stpp` (ISO/IEC 14496-12, 12.6.3): namespaces, no schema locations, no images, and the MIME type.
fn sample_entry(profile: Option<&str>) -> Vec<u8> {
    let mut mime = b"\0\0\0\0application/ttml+xml".to_vec();
    if let Some(profile) = profile {
        mime.extend_from_slice(b";codecs=");
        mime.extend_from_slice(profile.as_bytes());
    }
    mime.push(0);
    let (mut mime_box, mut entry) = (Vec::new(), Vec::new());
    put_box(&mut mime_box, *b"mime", &[&mime]);
    put_box(&mut entry, *b"stpp", &[&ENTRY_FIELDS, NAMESPACE.as_bytes(), b"\0\0\0", &mime_box]);
    entry
}
