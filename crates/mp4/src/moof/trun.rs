//! `trun`: a run of samples whose data is contiguous (ISO/IEC 14496-12, 8.8.8).

use crate::{BoxRef, ErrorKind, Result, Sample, source::be32};

const DATA_OFFSET: u32 = 0x1;
const FIRST_FLAGS: u32 = 0x4;
const DURATION: u32 = 0x100;
const SIZE: u32 = 0x200;
const FLAGS: u32 = 0x400;
const COMPOSITION: u32 = 0x800;

/// Samples without table entry and without data that one run may have. They cost nothing in
/// the file, so only a fixed limit bounds the work.
const MAX_EMPTY_SAMPLES: u32 = 1 << 16;

/// Defaults for samples of a run, from `tfhd` over `trex`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunDefaults {
    pub(crate) duration: Option<u32>,
    pub(crate) size: Option<u32>,
    pub(crate) flags: Option<u32>,
}

/// A run of samples, contiguous in the file.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TrackRun<'a> {
    /// Absolute file offset of the first sample.
    pub offset: u64,
    /// Number of samples.
    pub sample_count: u32,
    /// Bytes of all samples.
    pub data_size: u64,
    /// Sum of the durations.
    pub(crate) duration: u64,
    pub(crate) place: BoxRef<'a>,
    /// Position of the `data_offset` field in the `moof`, if the run has one.
    pub(crate) data_offset_at: Option<usize>,
    table: &'a [u8],
    width: usize,
    fields: u32,
    first_flags: Option<u32>,
    duration_default: u32,
    size_default: u32,
    flags_default: u32,
}

impl<'a> TrackRun<'a> {
    /// `next` is where the previous run of this `traf` ended, or the base for the first.
    pub(crate) fn from_box(
        trun: BoxRef<'a>,
        base: u64,
        next: u64,
        defaults: RunDefaults,
        file_len: u64,
    ) -> Result<Self> {
        let mut reader = trun.reader();
        let (_, fields) = reader.version_upto(1)?;
        let sample_count = reader.u32("sample_count")?;
        let mut offset = next;
        let mut data_offset_at = None;
        if fields & DATA_OFFSET != 0 {
            data_offset_at = Some(reader.position());
            let relative = i32::from_be_bytes(reader.array("data_offset")?);
            offset = base.checked_add_signed(relative.into()).ok_or_else(|| {
                trun.error(ErrorKind::Invalid("data offset points before the start of the file"))
            })?;
        }
        let first_flags =
            (fields & FIRST_FLAGS != 0).then(|| reader.u32("first_sample_flags")).transpose()?;
        let listed = [DURATION, SIZE, FLAGS, COMPOSITION];
        let width = 4 * listed.iter().filter(|&&field| fields & field != 0).count();
        let records = reader.records(sample_count, width, "samples")?;
        let table = &trun.source.bytes[records.at..records.at + sample_count as usize * width];

        let need = |field, value: Option<u32>, what| match value {
            None if fields & field == 0 && sample_count > 0 => {
                Err(trun.error(ErrorKind::Invalid(what)))
            }
            value => Ok(value.unwrap_or_default()),
        };
        let mut run = Self {
            offset,
            sample_count,
            data_size: 0,
            duration: 0,
            place: trun,
            data_offset_at,
            table,
            width,
            fields,
            first_flags,
            duration_default: need(DURATION, defaults.duration, "no sample duration anywhere")?,
            size_default: need(SIZE, defaults.size, "no sample size anywhere")?,
            flags_default: defaults.flags.unwrap_or_default(),
        };
        run.measure();
        let what = "run of samples at sample";
        let (start, len) = (offset, run.data_size);
        if len > 0 && start.checked_add(len).is_none_or(|end| end > file_len) {
            let kind = ErrorKind::OutsideFile { what, number: 1, start, len, file_len };
            return Err(trun.error(kind));
        }
        if len == 0 && width == 0 && sample_count > MAX_EMPTY_SAMPLES {
            let kind = ErrorKind::InvalidValue {
                what: "number of samples without data",
                value: u64::from(sample_count),
            };
            return Err(trun.error(kind));
        }
        Ok(run)
    }

    /// Sums up sizes and durations. Neither can overflow: 2^32 values of 32 bits.
    fn measure(&mut self) {
        let count = u64::from(self.sample_count);
        let size_at = if self.fields & DURATION != 0 { 4 } else { 0 };
        self.data_size = if self.fields & SIZE != 0 {
            self.table.chunks_exact(self.width).map(|r| u64::from(be32(r, size_at))).sum()
        } else {
            count * u64::from(self.size_default)
        };
        self.duration = if self.fields & DURATION != 0 {
            self.table.chunks_exact(self.width).map(|r| u64::from(be32(r, 0))).sum()
        } else {
            count * u64::from(self.duration_default)
        };
    }

    /// Offset of the first byte after the data.
    pub fn end(&self) -> u64 {
        // Checked against the file length when there is data.
        self.offset.saturating_add(self.data_size)
    }

    /// Duration, size, flags and composition offset of sample `index`.
    fn sample(&self, index: u32) -> (u32, u32, u32, i32) {
        let mut at = index as usize * self.width;
        let mut field = |bit: u32| {
            if self.fields & bit == 0 {
                return None;
            }
            let value = be32(self.table, at);
            at += 4;
            Some(value)
        };
        let duration = field(DURATION).unwrap_or(self.duration_default);
        let size = field(SIZE).unwrap_or(self.size_default);
        let listed = field(FLAGS);
        let composition = field(COMPOSITION).unwrap_or(0).cast_signed();
        let first = self.first_flags.filter(|_| index == 0);
        (duration, size, first.or(listed).unwrap_or(self.flags_default), composition)
    }
}

/// Samples of one track fragment, in decoding order. Cannot fail: all was checked before.
#[derive(Clone, Debug)]
pub struct FragmentSamples<'a> {
    runs: &'a [TrackRun<'a>],
    index: u32,
    offset: u64,
    decode_time: u64,
    description_index: u32,
    left: usize,
}

impl<'a> FragmentSamples<'a> {
    pub(crate) fn new(
        runs: &'a [TrackRun<'a>],
        decode_time: u64,
        description_index: u32,
        count: u64,
    ) -> Self {
        let offset = runs.first().map_or(0, |run| run.offset);
        let left = usize::try_from(count).unwrap_or(usize::MAX);
        Self { runs, index: 0, offset, decode_time, description_index, left }
    }
}

impl Iterator for FragmentSamples<'_> {
    type Item = Sample;

    fn next(&mut self) -> Option<Sample> {
        let mut run = self.runs.first()?;
        while self.index >= run.sample_count {
            self.runs = &self.runs[1..];
            run = self.runs.first()?;
            (self.index, self.offset) = (0, run.offset);
        }
        let (duration, size, flags, composition_offset) = run.sample(self.index);
        let sample = Sample {
            offset: self.offset,
            size,
            decode_time: self.decode_time,
            duration,
            composition_offset,
            flags,
            sync: flags & 0x0001_0000 == 0,
            description_index: self.description_index,
        };
        self.index += 1;
        self.left = self.left.saturating_sub(1);
        self.offset = self.offset.saturating_add(u64::from(size));
        self.decode_time = self.decode_time.wrapping_add(u64::from(duration));
        Some(sample)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for FragmentSamples<'_> {}
