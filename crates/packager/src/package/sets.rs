//! Switching sets: renditions of one content, which are cut at the same times.

use std::{sync::Arc, time::Duration};

use lanelock_cenc::Scheme;
use lanelock_manifest::{Accessibility, Role};
use lanelock_mp4::TrackKind;

use super::{
    Chosen, PackageOptions,
    cuts::{self, Rule, Segments},
    names,
    rendition::{Rendition, edit, keys_of, protection, protections},
    spans,
    time::Time,
};
use crate::{
    EncryptOptions, Error, Iv, Key, Observer, choices, codec::notice_of_experiment,
    schedule::Schedule, tracks::NO_PERIODS,
};

/// A switching set. With two schemes, there are two of what is encrypted.
pub(super) struct Set {
    /// Indices of the renditions.
    pub(super) renditions: Vec<usize>,
    /// What it has: sets of the same that differ in scheme alone have the same number.
    pub(super) content: usize,
    /// The set whose key frames it has, if it has these alone.
    pub(super) trick_play_of: Option<usize>,
}

/// What the tracks of a set have in common.
#[derive(PartialEq)]
struct Common {
    kind: TrackKind,
    codec: String,
    language: Option<String>,
    label: Option<String>,
    roles: Vec<Role>,
    accessibility: Vec<Accessibility>,
    channels: u32,
    /// Of audio, whose timescale is its sampling rate: no remuxing makes two of them one. Video of
    /// several is refused.
    timescale: Option<u32>,
}

impl Common {
    fn of(track: &Chosen) -> Self {
        let properties = track.properties.clone();
        let kind = track.source.kind();
        Self {
            kind,
            codec: track.source.track().codec(),
            language: properties.language,
            label: properties.label,
            roles: properties.roles,
            accessibility: properties.accessibility,
            channels: super::facts::channels(track.source.track()),
            timescale: (kind == TrackKind::Audio).then(|| track.source.track().timescale),
        }
    }
}

/// Groups tracks to sets, and cuts them.
pub(super) fn arrange(
    mut chosen: Vec<Chosen>,
    options: &PackageOptions,
    observer: &dyn Observer,
) -> Result<(Vec<Rendition>, Vec<Set>), Error> {
    // The first video set leads, so it comes first.
    chosen.sort_by_key(|track| match track.source.kind() {
        TrackKind::Video => 0,
        TrackKind::Audio => 1,
        _ => 2,
    });
    let mut names = names::assign(&chosen, options)?;
    let mut sets: Vec<(Common, Vec<usize>)> = Vec::new();
    for (index, track) in chosen.iter().enumerate() {
        let common = Common::of(track);
        // Each text stands for itself: there is nothing to switch between.
        let known = sets.iter_mut().find(|(of_set, _)| *of_set == common);
        match known.filter(|_| common.kind != TrackKind::Text) {
            Some((_, members)) => members.push(index),
            None => sets.push((common, vec![index])),
        }
    }
    let with_content =
        |(content, (_, renditions))| Set { renditions, content, trick_play_of: None };
    let mut sets: Vec<Set> = sets.into_iter().enumerate().map(with_content).collect();
    if options.trick_play {
        add_trick_play(&mut chosen, &mut names, &mut sets)?;
    }
    rebase(&mut chosen, observer)?;
    let mut cut: Vec<Option<Segments>> = chosen.iter().map(|_| None).collect();
    let mut leading: Option<Leading> = None;
    let mut starts: Vec<Vec<i64>> = Vec::with_capacity(sets.len());
    for set in &sets {
        for &index in &set.renditions {
            let Chosen { text: Some(text), properties, .. } = &chosen[index] else { continue };
            let Some(leading) = &leading else {
                return Err(chosen[index]
                    .source
                    .fail("there is neither video nor audio beside it: text alone is no stream"));
            };
            let language = properties.language.as_deref();
            if let Some(warning) = text.warning(leading.end) {
                observer.warn(&warning);
            }
            chosen[index].source = text.track(&leading.times, leading.end, language)?;
        }
        let follows = set.trick_play_of.and_then(|main| starts.get(main).cloned());
        let cutting = Cutting { chosen: &chosen, names: &names, options, observer };
        starts.push(cutting.set(&set.renditions, follows, &mut leading, &mut cut)?);
    }
    let mut moovs = Vec::with_capacity(chosen.len());
    let mut all_keys = Vec::new();
    for (track, segments) in chosen.iter().zip(&cut) {
        let (edit, shift) = edit(&track.source, options);
        let movie = track.source.init(edit)?;
        let own = keys_of(&track.source, &movie, segments.as_ref(), &track.properties, options)?;
        all_keys.extend(own.iter().map(|(_, key)| key.clone()));
        moovs.push((movie, shift, own));
    }
    let rotates = options.protection.as_ref().is_some_and(|of| of.key_periods.rotate());
    let mut keys = moovs.iter().flat_map(|(_, _, own)| own).peekable();
    if rotates && keys.peek().is_some() && keys.all(|(period, _)| period.is_none()) {
        return Err(Error::Options(NO_PERIODS.into()));
    }
    let protections = protections(options);
    let mut renditions = Vec::with_capacity(chosen.len());
    for (number, (((track, name), segments), (movie, shift, keys))) in
        chosen.into_iter().zip(names).zip(cut).zip(moovs).enumerate()
    {
        let Chosen { source, text, properties, .. } = track;
        let Some(segments) = segments else { continue };
        if let Some(warning) = segments.gap_warning(&source) {
            observer.warn(&warning);
        }
        if let Some(notice) = notice_of_experiment(source.track()).filter(|_| !keys.is_empty()) {
            observer.warn(&notice);
        }
        let timescale = source.track().timescale;
        let starts = segments.starts().into_iter().map(|units| Time { units, timescale });
        let starts: Vec<Time> = starts.collect();
        let times = leading.as_ref().map_or(&starts, |leading| &leading.times);
        let segments = Arc::new(segments);
        let versions: Vec<_> =
            if keys.is_empty() { vec![None] } else { protections.iter().map(Some).collect() };
        for version in versions {
            let protection_of = version.map(|of| &**of);
            let schedule =
                protection_of.map_or_else(|| Ok(Schedule::default()), EncryptOptions::schedule);
            let spans = spans::of(&starts, times, &schedule?);
            let (init, protector) =
                protection(&source, &movie, protection_of, &keys, &all_keys, &spans, options)?;
            let name = match version {
                Some(version) if protections.len() > 1 => format!("{name}-{}", version.scheme),
                _ => name.clone(),
            };
            renditions.push(Rendition {
                track: number,
                name,
                source: source.clone(),
                text: text.clone(),
                properties: properties.clone(),
                segments: segments.clone(),
                spans,
                movie: movie.clone(),
                shift,
                protector,
                keys: keys.clone(),
                protection: version.cloned(),
                init,
            });
        }
    }
    let sets = of_renditions(&sets, &renditions, protections.len() > 1);
    for set in &sets {
        let mut members = set.renditions.iter().filter_map(|index| renditions.get(*index));
        if let Some(open) = members.find(|rendition| rendition.segments.sap_type() > 2) {
            let track = open.source.track();
            observer.warn(&format!(
                "{}: track {} ({}) has open GOPs: the first pictures after a switch cannot be decoded; encode \
                 with closed GOPs (x264: open-gop=0; x265: no-open-gop=1)",
                open.source.file.input().name,
                track.id,
                track.codec()
            ));
        }
    }
    check_protection(&renditions, options)?;
    spans::check(&renditions)?;
    Ok((renditions, sets))
}

/// Sets of tracks, as sets of the renditions that the tracks became: with several schemes, one for each.
fn of_renditions(sets: &[Set], renditions: &[Rendition], by_scheme: bool) -> Vec<Set> {
    let scheme = |rendition: &Rendition| rendition.scheme().filter(|_| by_scheme);
    let mut all: Vec<(Option<Scheme>, Set)> = Vec::new();
    for set in sets {
        for (index, rendition) in renditions.iter().enumerate() {
            if !set.renditions.contains(&rendition.track) {
                continue;
            }
            let scheme = scheme(rendition);
            let same = all.iter_mut().find(|(s, of)| of.content == set.content && *s == scheme);
            if let Some((_, same)) = same {
                same.renditions.push(index);
                continue;
            }
            let main = set.trick_play_of.and_then(|content| {
                let of_main = |(_, of): &(Option<Scheme>, Set)| of.content == content;
                let own = all.iter().position(|main| main.0 == scheme && of_main(main));
                own.or_else(|| all.iter().position(of_main))
            });
            let renditions = vec![index];
            all.push((scheme, Set { renditions, content: set.content, trick_play_of: main }));
        }
    }
    all.into_iter().map(|(_, set)| set).collect()
}

/// Lets the stream begin at 0 if video and audio begin a second or more behind it, as recordings do.
fn rebase(chosen: &mut [Chosen], observer: &dyn Observer) -> Result<(), Error> {
    let mut earliest: Option<Time> = None;
    for track in chosen.iter().filter(|track| track.source.kind() != TrackKind::Text) {
        let mut samples = track.source.samples()?;
        let Some((_, sample)) = samples.next()? else { continue };
        let timescale = track.source.track().timescale;
        let decoded = i64::try_from(sample.decode_time).unwrap_or(i64::MAX);
        let units = samples.presented(&sample).min(decoded);
        let start = Time { units, timescale };
        if earliest.is_none_or(|earliest| earliest.reaches(start)) {
            earliest = Some(start);
        }
    }
    let Some(earliest) = earliest.filter(|start| start.seconds() >= 1.0) else { return Ok(()) };
    observer.warn(&format!(
        "the inputs begin at {:.3} s: the stream begins at 0, so much earlier",
        earliest.seconds()
    ));
    for track in chosen.iter_mut().filter(|track| track.text.is_none()) {
        let timescale = i128::from(track.source.track().timescale);
        let units = i128::from(earliest.units) * timescale / i128::from(earliest.timescale);
        track.source.timing.rebase = u64::try_from(units).unwrap_or(0);
    }
    Ok(())
}

/// Adds a set with the key frames of the smallest video of the first set.
fn add_trick_play(
    chosen: &mut Vec<Chosen>,
    names: &mut Vec<String>,
    sets: &mut Vec<Set>,
) -> Result<(), Error> {
    let height = |index: &usize| crate::media_facts::picture_size(chosen[*index].source.track()).1;
    let main = sets.first().filter(|set| {
        set.renditions.first().is_some_and(|&first| chosen[first].source.kind() == TrackKind::Video)
    });
    let smallest = main.and_then(|set| set.renditions.iter().copied().min_by_key(height));
    let Some(smallest) = smallest else {
        return Err(Error::Options(
            "there is no video, of which key frames could be taken; leave out --trick-play".into(),
        ));
    };
    let name = format!("{}-key-frames", names[smallest]);
    if names.contains(&name) {
        return Err(Error::Options(format!("the name {name} is that of the track of key frames")));
    }
    let mut source = chosen[smallest].source.clone();
    source.only_sync = true;
    let properties = chosen[smallest].properties.clone();
    sets.push(Set { renditions: vec![chosen.len()], content: sets.len(), trick_play_of: Some(0) });
    chosen.push(Chosen { source, text: None, properties, rules: Vec::new() });
    names.push(name);
    Ok(())
}

/// What the first set says of the others.
struct Leading {
    /// When segments begin.
    times: Vec<Time>,
    end: Time,
}

/// What cutting takes.
struct Cutting<'a> {
    chosen: &'a [Chosen],
    names: &'a [String],
    options: &'a PackageOptions,
    observer: &'a dyn Observer,
}

impl Cutting<'_> {
    /// Cuts the tracks of a set, at the sync samples that `follows` names if it does. Gives the times at
    /// which segments begin; `leading` are those of the first set.
    fn set(
        &self,
        members: &[usize],
        follows: Option<Vec<i64>>,
        leading: &mut Option<Leading>,
        cut: &mut [Option<Segments>],
    ) -> Result<Vec<i64>, Error> {
        let Self { chosen, names, options, .. } = *self;
        let Some(&first) = members.first() else { return Ok(Vec::new()) };
        let leader = &chosen[first].source;
        let is_video = leader.kind() == TrackKind::Video;
        let mut starts = follows;
        for &index in members {
            if self.observer.interrupted() {
                return Err(Error::Interrupted);
            }
            let (source, name) = (&chosen[index].source, &names[index]);
            let timescale = source.track().timescale;
            if timescale != leader.track().timescale {
                return Err(source.fail(format!(
                    "{name} has {timescale} units per second, and {} has {}: tracks between which players \
                     switch have the same (ISO/IEC 23000-19, 7.3.4); remux them (ffmpeg -i IN -c copy \
                     -video_track_timescale 90000 OUT)",
                    names[first],
                    leader.track().timescale
                )));
            }
            let ticks = |duration: Duration| {
                let units = duration.as_nanos() * u128::from(timescale) / 1_000_000_000;
                u64::try_from(units).unwrap_or(u64::MAX)
            };
            let least = ticks(options.segment_duration);
            let rule = match (&starts, &leading) {
                (Some(starts), _) if is_video => Rule::Follow(starts, &names[first], least),
                _ if is_video => Rule::Lead(least),
                (_, Some(leading)) => Rule::Near(&leading.times, least),
                (_, None) => Rule::Every(least),
            };
            let segments = cuts::cut(source, name, &rule, options.fragment_duration.map(ticks))?;
            if leading.is_none() {
                let time = |units| Time { units, timescale };
                let times = segments.starts().into_iter().map(time).collect();
                *leading = Some(Leading { times, end: time(segments.end) });
            }
            starts.get_or_insert_with(|| segments.starts());
            let first_end = cut[first].as_ref().map_or(segments.end, |first| first.end);
            if is_video && segments.end.abs_diff(first_end) > u64::from(timescale) {
                let seconds = |units| Time { units, timescale }.seconds();
                return Err(source.fail(format!(
                    "{name} ends at {:.3} s, and {} at {:.3} s: renditions of one video end together; cut \
                     them alike",
                    seconds(segments.end),
                    names[first],
                    seconds(first_end)
                )));
            }
            cut[index] = Some(segments);
        }
        Ok(starts.unwrap_or_default())
    }
}

/// Refuses what would not protect, or give something away.
fn check_protection(renditions: &[Rendition], options: &PackageOptions) -> Result<(), Error> {
    let Some(protection) = &options.protection else { return Ok(()) };
    if renditions.iter().all(|rendition| rendition.protection.is_none()) {
        return Err(Error::Options(
            "all tracks are to stay clear, so that nothing would be protected: give keys, or leave out \
             --scheme"
                .into(),
        ));
    }
    let given = |rendition: &&Rendition| {
        let protection = rendition.protection.as_ref();
        protection.is_some_and(|of| of.scheme == Scheme::Cenc && of.iv != Iv::Random)
    };
    let mut seen: Vec<(&Key, &Rendition)> = Vec::new();
    for rendition in renditions.iter().filter(given) {
        for (_, key) in &rendition.keys {
            let same = |(other, of): &&(&Key, &Rendition)| {
                of.track != rendition.track && other.is_same_key(key)
            };
            if let Some((_, other)) = seen.iter().find(same) {
                return Err(rendition.source.fail(format!(
                    "{} and {} have one key and the given IV, and cenc must not repeat an IV under one \
                     key; leave out --iv, which makes it random for each track",
                    other.name, rendition.name
                )));
            }
            seen.push((key, rendition));
        }
    }
    // A choice is idle if it is so for all tracks.
    let without = protection.clone().with_must_apply(Vec::new());
    for choice in &protection.must_apply {
        let mut idle = true;
        for rendition in renditions {
            idle &= choices::of_encryption(&rendition.movie, &without)?.contains(choice);
        }
        if idle {
            let what = match choice {
                crate::Choice::Key(selector) => format!("the key for {selector}"),
                crate::Choice::Clear(selector) => format!("--clear {selector}"),
                _ => continue,
            };
            return Err(Error::Options(format!(
                "{what} selects no track that is packaged; leave it out, or name another one"
            )));
        }
    }
    Ok(())
}
