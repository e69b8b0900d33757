//! What the samples of a track add up to.

use std::collections::HashSet;

use lanelock_cenc::{Scheme, ciphertext_bytes};
use lanelock_core::Pattern;
use lanelock_mp4::{
    AuxCursor, AuxInfo, Media, Movie, Protection, SampleAux, SampleEntry, Track, TrackEncryption,
    TrackFragment, TrackKind,
};

use super::{ProtectionReport, TrackReport, known, seconds};
use crate::{
    Error, codec,
    io::Input,
    keys::{hex_text, kid_text},
};

/// A track while its samples are counted.
pub(super) struct Tally<'a> {
    input: &'a Input<'a>,
    movie: &'a Movie,
    track: &'a Track,
    report: TrackReport,
    /// Durations of all samples, in the timescale of the track.
    ticks: u64,
    /// Whether the protection of samples can be counted: there is one, and it is known.
    counted: bool,
    /// The scheme of the first protected sample entry, if it is a known one.
    scheme: Option<Scheme>,
    /// Whether pattern and IV are in the report.
    described: bool,
    /// The KIDs of the report.
    kids: HashSet<[u8; 16]>,
}

impl<'a> Tally<'a> {
    pub(super) fn new(input: &'a Input<'a>, movie: &'a Movie, track: &'a Track) -> Self {
        let first = track.entries.first();
        let (width, height) = match first.map(|entry| entry.media) {
            Some(Media::Video { width, height }) => (width.into(), height.into()),
            _ => (0, 0),
        };
        let report = TrackReport {
            id: track.id,
            kind: kind(track),
            codec: first.map_or_else(|| track.codec(), SampleEntry::codec_string),
            experimental: codec::is_experimental(track),
            sample_entries: track.entries.iter().map(|entry| entry.format.to_string()).collect(),
            language: track.language.iter().copied().map(char::from).collect(),
            width,
            height,
            timescale: track.timescale,
            protection: protections(track).next().map(|protection| ProtectionReport {
                scheme: protection.scheme_type.to_string(),
                ..ProtectionReport::default()
            }),
            ..TrackReport::default()
        };
        let counted = track.is_protected()
            && protections(track).all(|p| Scheme::from_fourcc(p.sample_scheme.0).is_some());
        let scheme = protections(track).find_map(|p| Scheme::from_fourcc(p.sample_scheme.0));
        let (described, kids, ticks) = (false, HashSet::new(), 0);
        let mut this =
            Self { input, movie, track, report, ticks, counted, scheme, described, kids };
        for protection in protections(track) {
            this.describe(protection.encryption.as_ref());
        }
        this
    }

    /// Counts the samples of the sample tables.
    pub(super) fn tables(&mut self) -> Result<(), Error> {
        let (movie, track, input) = (self.movie, self.track, self.input);
        let container = |error| input.container(error);
        if !track.is_protected() {
            self.report.leftovers = movie.has_protection_boxes(track).map_err(container)?;
        }
        let mut samples = movie.samples(track, input.len()).map_err(container)?;
        let aux = self.counted.then(|| movie.aux_info(track, input));
        let aux = aux.transpose().map_err(container)?;
        let mut cursor = aux.as_ref().map(AuxInfo::cursor);
        // Description indices count from 1, so 0 has no `tenc`: the runs are of sample groups alone.
        for (count, group) in movie.encryption_runs(track, 0) {
            self.describe(group);
            for sample in samples.by_ref().take(usize::try_from(count).unwrap_or(usize::MAX)) {
                let sample = sample.map_err(container)?;
                self.add(1, sample.size.into(), sample.duration.into());
                if let Some(cursor) = &mut cursor {
                    let entry = track.entry(sample.description_index);
                    let protection = entry.and_then(|entry| entry.protection.as_ref());
                    let default = protection.and_then(|protection| protection.encryption.as_ref());
                    self.protected(sample.size, default.map(|own| group.unwrap_or(own)), cursor)?;
                }
            }
        }
        cursor.map_or(Ok(()), AuxCursor::finish).map_err(container)
    }

    /// Counts the samples of a fragment.
    pub(super) fn fragment(&mut self, traf: &TrackFragment<'_>) -> Result<(), Error> {
        self.add(traf.sample_count, traf.data_size, traf.duration);
        let entry = self.track.entry(traf.description_index);
        let is_clear = entry.is_none_or(|entry| entry.protection.is_none());
        self.report.leftovers |= is_clear && traf.has_protection_boxes();
        if !self.counted || is_clear {
            return Ok(());
        }
        let input = self.input;
        let container = |error| input.container(error);
        let aux = traf.aux_info(input).map_err(container)?;
        let mut cursor = aux.cursor();
        let mut samples = traf.samples();
        for (count, encryption) in traf.encryption_runs(self.movie) {
            self.describe(encryption);
            for sample in samples.by_ref().take(usize::try_from(count).unwrap_or(usize::MAX)) {
                self.protected(sample.size, encryption, &mut cursor)?;
            }
        }
        cursor.finish().map_err(container)
    }

    pub(super) fn finish(mut self) -> TrackReport {
        let header = known(self.track.duration).unwrap_or(0);
        let ticks = if self.report.access_units > 0 { self.ticks } else { header };
        self.report.duration = seconds(ticks, self.track.timescale);
        self.report
    }

    /// Sums saturate: in a hostile file, any number of samples may share the same bytes.
    fn add(&mut self, samples: u64, bytes: u64, ticks: u64) {
        self.report.access_units = self.report.access_units.saturating_add(samples);
        self.report.bytes = self.report.bytes.saturating_add(bytes);
        self.ticks = self.ticks.saturating_add(ticks);
    }

    /// Reports the parameters of samples, if they are protected.
    fn describe(&mut self, encryption: Option<&TrackEncryption>) {
        let (Some(report), Some(encryption)) = (&mut self.report.protection, encryption) else {
            return;
        };
        if !encryption.is_protected {
            return;
        }
        if !self.described {
            self.described = true;
            let TrackEncryption { crypt_blocks, skip_blocks, .. } = *encryption;
            report.pattern = ((crypt_blocks, skip_blocks) != (0, 0))
                .then(|| format!("{crypt_blocks}:{skip_blocks}"));
            report.iv_size = encryption.iv_size;
            report.constant_iv = encryption.constant_iv.as_ref().map(|iv| hex_text(iv.as_slice()));
        }
        if self.kids.insert(encryption.kid) {
            report.kids.push(kid_text(&encryption.kid));
        }
    }

    /// Steps over the auxiliary information of a sample, and counts it if it is protected.
    fn protected(
        &mut self,
        size: u32,
        encryption: Option<&TrackEncryption>,
        aux: &mut AuxCursor<'_>,
    ) -> Result<(), Error> {
        let encryption = encryption.filter(|encryption| encryption.is_protected);
        let iv_size = encryption.map_or(0, |encryption| encryption.iv_size);
        let SampleAux { iv, subsamples, .. } =
            aux.next_sample(iv_size, size).map_err(|error| self.input.container(error))?;
        let Some(report) = self.report.protection.as_mut().filter(|_| encryption.is_some()) else {
            return Ok(());
        };
        report.protected_access_units += 1;
        if report.first_iv.is_none() && !iv.is_empty() {
            report.first_iv = Some(hex_text(iv));
        }
        let pattern = encryption.map_or(Pattern::ALL, |encryption| {
            Pattern::new(encryption.crypt_blocks, encryption.skip_blocks)
        });
        let scheme = self.scheme.unwrap_or(Scheme::Cenc);
        let mut protect = |bytes: u32| {
            let ciphertext = ciphertext_bytes(scheme, pattern, bytes);
            report.protected_bytes = report.protected_bytes.saturating_add(bytes.into());
            report.ciphertext_bytes = report.ciphertext_bytes.saturating_add(ciphertext.into());
        };
        let Some(subsamples) = subsamples else {
            protect(size);
            return Ok(());
        };
        let (count, mut clear) = (subsamples.len() as u64, 0_u64);
        for subsample in subsamples {
            clear += u64::from(subsample.clear);
            protect(subsample.protected);
        }
        report.clear_bytes = report.clear_bytes.saturating_add(clear);
        report.with_subsamples += 1;
        report.subsamples += count;
        report.most_subsamples = report.most_subsamples.max(count);
        Ok(())
    }
}

fn protections(track: &Track) -> impl Iterator<Item = &Protection> {
    track.entries.iter().filter_map(|entry| entry.protection.as_ref())
}

fn kind(track: &Track) -> String {
    match &track.handler.0 {
        b"vide" => "video".into(),
        b"soun" => "audio".into(),
        _ if track.kind() == TrackKind::Text => "text".into(),
        _ => track.handler.to_string(),
    }
}
