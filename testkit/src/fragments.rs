//! Clips in forms of movie fragments that the standard allows and few writers
//! make (ISO/IEC 14496-12, 8.8). Read and written by hand, as all of
//! [`boxes`](crate::boxes).

use crate::boxes::{all, boxed, children, full, word, words};

/// What the data offsets of a track fragment count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetBase {
    /// default-base-is-moof.
    Moof,
    /// `base_data_offset` of the first byte in `mdat`.
    Mdat,
    /// `base_data_offset` 0, the start of the file.
    File,
    /// Nothing is stated: the `moof` for the first track fragment, the end of
    /// the data before for the others.
    Previous,
}

/// A form of fragments.
#[derive(Clone, Copy, Debug)]
pub struct FragmentForm {
    /// The base of data offsets.
    pub base: OffsetBase,
    /// In how many track fragments the samples of a track come, if there are
    /// as many of them.
    pub trafs: usize,
    /// Further boxes of a track fragment of so many samples.
    pub boxes: fn(u32) -> Vec<u8>,
}

impl FragmentForm {
    /// One track fragment for each track, without further boxes.
    #[must_use]
    pub fn new(base: OffsetBase) -> Self {
        Self { base, trafs: 1, boxes: |_| Vec::new() }
    }
}

/// Samples of one track fragment: duration, size, flags and composition offset
/// of each, and the data of all.
struct Run {
    track: u32,
    decode_time: u64,
    samples: Vec<[u32; 4]>,
    data: Vec<u8>,
}

/// A fragmented clip in that form, without indexes. Its own fragments are in
/// the usual form: default-base-is-moof, one run with `tfdt` for each track.
///
/// # Panics
/// If they are not.
#[must_use]
pub fn refragmented(clip: &[u8], form: FragmentForm) -> Vec<u8> {
    pieces(clip, form, |before| before).concat()
}

/// The same as files of their own: the initialization segment, and the media
/// segments, in which the file begins with the segment.
///
/// # Panics
/// If its fragments are in another form.
#[must_use]
pub fn segments(clip: &[u8], form: FragmentForm) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut pieces = pieces(clip, form, |_| 0);
    (pieces.remove(0), pieces)
}

/// What stands in front, and the fragments; `start` gives the place of one from
/// the bytes in front of it.
fn pieces(clip: &[u8], form: FragmentForm, start: impl Fn(usize) -> usize) -> Vec<Vec<u8>> {
    let trex = all(clip, *b"trex");
    let (mut out, mut at, mut before) = (vec![Vec::new()], 0, 0);
    for (kind, payload) in children(clip) {
        let piece = match &kind {
            b"moof" => {
                let runs: Vec<_> = children(payload)
                    .filter(|(kind, _)| kind == b"traf")
                    .map(|(_, traf)| run(traf, &trex, &clip[at..]))
                    .flat_map(|run| run.split(form.trafs))
                    .collect();
                let sequence = word(payload, 12);
                // Once for its length.
                let len = moof(sequence, &runs, form, 0, 0).len();
                let data: Vec<_> = runs.iter().map(|run| &run.data[..]).collect();
                out.push(moof(sequence, &runs, form, start(before), len));
                boxed(b"mdat", &data)
            }
            b"mdat" | b"mfra" | b"sidx" | b"styp" => Vec::new(),
            _ => boxed(&kind, &[payload]),
        };
        out.last_mut().expect("the front").extend(piece);
        before = out.iter().map(Vec::len).sum();
        at += 8 + payload.len();
    }
    out
}

/// Reads a track fragment of the `moof` that `file` begins with.
fn run(traf: &[u8], trex: &[&[u8]], file: &[u8]) -> Run {
    let child = |kind| crate::boxes::child(traf, kind).expect("tfhd, tfdt, trun");
    let (tfhd, tfdt, trun) = (child(*b"tfhd"), child(*b"tfdt"), child(*b"trun"));
    let track = word(tfhd, 4);
    let trex = trex.iter().find(|trex| word(trex, 4) == track).expect("a trex");
    let mut fields = tfhd[8..].chunks_exact(4).map(|field| word(field, 0));
    let mut field = |flag| (word(tfhd, 0) & flag != 0).then(|| fields.next().expect("a field"));
    assert_eq!((field(0x1), word(tfhd, 0) >> 17), (None, 1), "default-base-is-moof alone");
    field(0x2);
    let defaults =
        [(0x8, 12), (0x10, 16), (0x20, 20)].map(|(flag, at)| field(flag).unwrap_or(word(trex, at)));
    let flags = word(trun, 0);
    let mut fields = trun[8..].chunks_exact(4).map(|field| word(field, 0));
    let mut field = |flag| (flags & flag != 0).then(|| fields.next().expect("a field"));
    let mut at = field(0x1).expect("a data offset") as usize;
    let first = field(0x4);
    let (mut samples, mut data) = (Vec::new(), Vec::new());
    for number in 0..word(trun, 4) {
        let duration = field(0x100).unwrap_or(defaults[0]);
        let size = field(0x200).unwrap_or(defaults[1]);
        let own = field(0x400).unwrap_or(defaults[2]);
        let own = first.filter(|_| number == 0).unwrap_or(own);
        samples.push([duration, size, own, field(0x800).unwrap_or(0)]);
        data.extend_from_slice(&file[at..at + size as usize]);
        at += size as usize;
    }
    let high = if tfdt[0] == 1 { u64::from(word(tfdt, 4)) << 32 } else { 0 };
    let decode_time = high | u64::from(word(tfdt, if tfdt[0] == 1 { 8 } else { 4 }));
    Run { track, decode_time, samples, data }
}

impl Run {
    fn split(self, parts: usize) -> Vec<Self> {
        let each = self.samples.len().div_ceil(parts).max(1);
        let (mut decode_time, mut data) = (self.decode_time, &self.data[..]);
        let mut split = Vec::new();
        for samples in self.samples.chunks(each) {
            let size = samples.iter().map(|sample| sample[1] as usize).sum();
            let (own, rest) = data.split_at(size);
            let (track, samples, own) = (self.track, samples.to_vec(), own.to_vec());
            let duration: u64 = samples.iter().map(|sample| u64::from(sample[0])).sum();
            split.push(Self { track, decode_time, samples, data: own });
            (decode_time, data) = (decode_time + duration, rest);
        }
        split
    }
}

/// A `moof` of `len` bytes that is to stand at `at`, in front of the data of
/// its runs in one `mdat`.
fn moof(sequence: u32, runs: &[Run], form: FragmentForm, at: usize, len: usize) -> Vec<u8> {
    let number = |len: usize| u32::try_from(len).expect("clips are small");
    let mut data = len + 8;
    let mut trafs = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let count = number(run.samples.len());
        let (flags, base, offset) = match form.base {
            OffsetBase::Moof => (0x2_0000, None, data),
            OffsetBase::Mdat => (1, Some(at + len + 8), data - len - 8),
            OffsetBase::File => (1, Some(0), at + data),
            OffsetBase::Previous if index == 0 => (0, None, data),
            OffsetBase::Previous => (0, None, 0),
        };
        let base = base.map(|base| words(&[0, number(base)])).unwrap_or_default();
        let time = run.decode_time.to_be_bytes();
        let table = [number(offset)].into_iter().chain(run.samples.as_flattened().iter().copied());
        let trun = [&[0x100_0f01, count][..], &table.collect::<Vec<_>>()].concat();
        trafs.extend(boxed(
            b"traf",
            &[
                &boxed(b"tfhd", &[&words(&[flags, run.track]), &base]),
                &boxed(b"tfdt", &[&words(&[1 << 24]), &time]),
                &full(b"trun", &trun),
                &(form.boxes)(count),
            ],
        ));
        data += run.data.len();
    }
    boxed(b"moof", &[&full(b"mfhd", &[0, sequence]), &trafs])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boxes::media;
    use crate::media::demo_clip;

    #[test]
    fn the_data_stay_and_every_form_is_another() {
        let clip = std::fs::read(demo_clip()).expect("a clip");
        let moofs = all(&clip, *b"traf").len();
        let mut seen = Vec::new();
        for base in [OffsetBase::Moof, OffsetBase::Mdat, OffsetBase::File, OffsetBase::Previous] {
            for trafs in [1, 3] {
                let file = refragmented(&clip, FragmentForm { trafs, ..FragmentForm::new(base) });
                assert_eq!(media(&file).len(), media(&clip).len());
                assert!(all(&file, *b"traf").len() > (trafs - 1) * moofs);
                assert!(!seen.contains(&file), "{base:?} {trafs}");
                seen.push(file);
            }
        }
    }
}
