//! Damaged access units and configurations: a map or an error, in bounded time, never a panic.

mod map_support;

use lanelock_cenc::map::{Alignment, Mapper, Subsample};
use lanelock_testkit::{Rng, codec_clip, skip};
use map_support::bits::{avcc, hvcc, unit};
use map_support::mp4::{Clip, Codec};
use map_support::{avc, hevc};
use std::time::{Duration, Instant};

const MUTANTS: usize = 120_000;

/// Generous: the machine may be busy. A mutant takes about a microsecond.
const TOO_LONG: Duration = Duration::from_secs(1);

#[test]
fn mutants() {
    let mut rng = Rng::from_env("mutants");
    let clips = seeds(&mut rng);
    let mut out = Vec::new();
    let (mut mapped, mut refused, mut slowest) = (0, 0, Duration::ZERO);
    for _ in 0..MUTANTS {
        let clip = rng.pick(&clips);
        let mut configuration = clip.configuration.clone();
        if rng.one_in(4) {
            damage(&mut rng, &mut configuration, usize::MAX);
        }
        let mut unit = rng.pick(&clip.units).clone();
        // Most of a unit is slice data; headers are what matters.
        damage(&mut rng, &mut unit, 64);
        let rule = *rng.pick(&[Alignment::Exact, Alignment::Blocks]);
        out.clear();
        let start = Instant::now();
        let mapper = match clip.codec {
            Codec::Avc => Mapper::avc(&configuration),
            Codec::Hevc => Mapper::hevc(&configuration),
        };
        let result = mapper
            .and_then(|mapper| mapper.with_max_entries(usize::MAX).map(&unit, rule, &mut out));
        slowest = slowest.max(start.elapsed());
        if let Ok(entries) = result {
            assert_eq!(entries, out.len());
            assert_eq!(covered(&out), unit.len(), "a map covers its unit");
            mapped += 1;
        } else {
            assert!(out.is_empty(), "an error leaves no entries");
            refused += 1;
        }
    }
    eprintln!("{mapped} mutants mapped, {refused} refused, slowest {slowest:?}");
    assert!(slowest < TOO_LONG);
    assert!(mapped > MUTANTS / 20 && refused > MUTANTS / 20, "both outcomes are met");
}

#[test]
fn noise() {
    let mut rng = Rng::from_env("noise");
    let clips = seeds(&mut rng);
    let mut mappers: Vec<_> = clips.iter().map(map_support::mapper).collect();
    let mut out = Vec::new();
    for _ in 0..MUTANTS {
        // State goes on from unit to unit: parameter sets of noise are kept when they parse.
        let which = rng.below(mappers.len());
        let len = 1 + rng.below(60);
        let mut nal = rng.bytes(len);
        nal[0] = match clips[which].codec {
            Codec::Avc => 0x60 | *rng.pick(&[1, 5, 7, 8, 2, 3]),
            Codec::Hevc => *rng.pick(&[1, 19, 33, 34]) << 1,
        };
        if let Some(second) = nal.get_mut(1).filter(|_| clips[which].codec == Codec::Hevc) {
            *second = 1;
        }
        out.clear();
        let unit = unit(&[&nal]);
        if mappers[which].map(&unit, Alignment::Exact, &mut out).is_ok() {
            assert_eq!(covered(&out), unit.len());
        }
    }
}

fn covered(entries: &[Subsample]) -> usize {
    entries.iter().map(|entry| usize::from(entry.clear) + entry.protected as usize).sum()
}

/// Real clips if they are there, and always written ones.
fn seeds(rng: &mut Rng) -> Vec<Clip> {
    let mut clips: Vec<_> = ["avc.mp4", "avc_slices.mp4", "hevc.mp4"]
        .iter()
        .filter_map(|name| codec_clip(name))
        .map(|path| Clip::read(&path))
        .collect();
    if clips.is_empty() {
        skip("the shared clips are absent; only written streams are damaged");
    }
    for round in 0..40 {
        let sets = avc::Sets::random(rng, round % 2 == 0);
        let [a, b, c] = [1, 5, 2].map(|kind| sets.slice(rng, kind).0);
        let d = sets.partition(rng, 3).0;
        clips.push(Clip {
            codec: Codec::Avc,
            configuration: avcc(&[&sets.sps], &[&sets.pps]),
            units: vec![unit(&[&a, &b]), unit(&[&sets.sps, &sets.pps, &b]), unit(&[&c, &d])],
        });
        let sets = hevc::Sets::random(rng, round % 2 == 0);
        let [a, b] = [sets.slice(rng).0, sets.slice(rng).0];
        clips.push(Clip {
            codec: Codec::Hevc,
            configuration: hvcc(&[&sets.sps], &[&sets.pps]),
            units: vec![unit(&[&a, &b]), unit(&[&sets.sps, &sets.pps, &b])],
        });
    }
    clips
}

/// One to four changes, most of them within `depth` of the start.
fn damage(rng: &mut Rng, bytes: &mut Vec<u8>, depth: usize) {
    for _ in 0..=rng.below(4) {
        let reach = if rng.one_in(8) { bytes.len() } else { bytes.len().min(depth) };
        if reach == 0 {
            return;
        }
        let at = rng.below(reach);
        match rng.below(8) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, 0),
            2 => drop(bytes.remove(at)),
            3 => bytes[at] = 0,
            4 => bytes[at] = 0xff,
            5 => bytes[at] = rng.bytes(1)[0],
            _ => bytes[at] ^= 1 << rng.below(8),
        }
    }
}
