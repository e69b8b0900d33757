//! Damaged access units and configurations: a map or an error, never a hang or a panic.

use crate::map_support::bits::unit;
use crate::map_support::mp4::{Clip, Codec};
use crate::map_support::{mapper_of, seeds};
use lanelock_cenc::map::{Alignment, Subsample};
use lanelock_testkit::{Mutator, Rng, Watchdog, mutants};

const MUTANTS: usize = 120_000;

#[test]
fn damaged_units() {
    let mut rng = Rng::from_env("damaged_units");
    let clips = seeds(&mut rng);
    damaged(&mut rng, &clips, MUTANTS);
}

/// Units behind good ones: their headers depend on frames before them.
#[test]
fn damaged_frames() {
    let mut rng = Rng::from_env("damaged_frames");
    let mut clips = seeds(&mut rng);
    clips.retain(|clip| matches!(clip.codec, Codec::Av1 | Codec::Vp9));
    damaged(&mut rng, &clips, MUTANTS / 2);
}

/// They are few among the seeds.
#[test]
fn damaged_experimental_units() {
    let mut rng = Rng::from_env("damaged_experimental_units");
    let mut clips = seeds(&mut rng);
    clips.retain(|clip| matches!(clip.codec, Codec::Vvc | Codec::Ac4));
    damaged(&mut rng, &clips, MUTANTS / 2);
}

fn damaged(rng: &mut Rng, clips: &[Clip], count: usize) {
    let watchdog = Watchdog::new();
    let mut out = Vec::new();
    let (mut mapped, mut refused) = (0, 0);
    let total = mutants(count);
    for number in 0..total {
        if number % 256 == 0 {
            watchdog.begins(format!("mutant {number} or one of the next 255"));
        }
        let clip = rng.pick(clips);
        let mut configuration = clip.configuration.clone();
        if rng.one_in(4) {
            configuration = Mutator::of_head(&configuration, usize::MAX).mutant(rng);
        }
        // Most of a unit is slice data; headers are what matters.
        let which = rng.below(clip.units.len());
        let mut unit = clip.units[which].clone();
        if rng.one_in(4) {
            // The index of a superframe, and sizes of tiles.
            unit.reverse();
            unit = Mutator::of_head(&unit, 64).mutant(rng);
            unit.reverse();
        } else {
            unit = Mutator::of_head(&unit, 64).mutant(rng);
        }
        let rule = *rng.pick(&[Alignment::Exact, Alignment::Blocks]);
        out.clear();
        let mapper = mapper_of(clip.codec, &configuration);
        let result = mapper.and_then(|mapper| {
            let mut mapper = mapper.with_max_entries(usize::MAX);
            if matches!(clip.codec, Codec::Av1 | Codec::Vp9) {
                for unit in &clip.units[..which] {
                    let _ = mapper.map(unit, rule, &mut Vec::new());
                }
            }
            mapper.map(&unit, rule, &mut out)
        });
        if let Ok(entries) = result {
            assert_eq!(entries, out.len());
            assert_eq!(covered(&out), unit.len(), "a map covers its unit");
            mapped += 1;
        } else {
            assert!(out.is_empty(), "an error leaves no entries");
            refused += 1;
        }
    }
    eprintln!("{mapped} mutants mapped, {refused} refused");
    assert!(mapped > total / 20 && refused > total / 20, "both outcomes are met");
}

#[test]
fn noise() {
    let mut rng = Rng::from_env("noise");
    let clips = seeds(&mut rng);
    let mut mappers: Vec<_> = clips.iter().map(crate::map_support::mapper).collect();
    let mut out = Vec::new();
    let watchdog = Watchdog::new();
    for number in 0..mutants(MUTANTS) {
        if number % 256 == 0 {
            watchdog.begins(format!("unit {number} or one of the next 255"));
        }
        // State goes on from unit to unit: parameter sets of noise are kept when they parse.
        let which = rng.below(mappers.len());
        let len = 1 + rng.below(60);
        let mut nal = rng.bytes(len);
        let is_nal = matches!(clips[which].codec, Codec::Avc | Codec::Hevc | Codec::Vvc);
        nal[0] = match clips[which].codec {
            Codec::Avc => 0x60 | *rng.pick(&[1, 5, 7, 8, 2, 3]),
            Codec::Hevc => *rng.pick(&[1, 19, 33, 34]) << 1,
            // Frame, frame header, sequence header and tile group, without a size.
            Codec::Av1 => *rng.pick(&[6, 3, 1, 4]) << 3,
            Codec::Vvc => 0,
            // A frame marker, or version 2 of the bit stream.
            Codec::Vp9 | Codec::Ac4 => 0x80 | rng.bytes(1)[0] >> 2,
        };
        if let Some(second) = nal.get_mut(1).filter(|_| clips[which].codec == Codec::Hevc) {
            *second = 1;
        }
        if let Some(second) = nal.get_mut(1).filter(|_| clips[which].codec == Codec::Vvc) {
            *second = *rng.pick(&[0, 8, 15, 16, 19]) << 3 | 1;
        }
        out.clear();
        let unit = if is_nal { unit(&[&nal]) } else { nal };
        if mappers[which].map(&unit, Alignment::Exact, &mut out).is_ok() {
            assert_eq!(covered(&out), unit.len());
        }
    }
}

fn covered(entries: &[Subsample]) -> usize {
    entries.iter().map(|entry| usize::from(entry.clear) + entry.protected as usize).sum()
}
