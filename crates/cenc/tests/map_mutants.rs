//! Damaged access units and configurations: a map or an error, never a hang or a panic.

mod map_support;

use lanelock_cenc::map::{Alignment, Mapper, Subsample};
use lanelock_testkit::{Mutator, Rng, Watchdog, mutants};
use map_support::bits::unit;
use map_support::mp4::Codec;
use map_support::seeds;

const MUTANTS: usize = 120_000;

#[test]
fn damaged_units() {
    let mut rng = Rng::from_env("damaged_units");
    let clips = seeds(&mut rng);
    let watchdog = Watchdog::new();
    let mut out = Vec::new();
    let (mut mapped, mut refused) = (0, 0);
    let total = mutants(MUTANTS);
    for number in 0..total {
        if number % 256 == 0 {
            watchdog.begins(format!("mutant {number} or one of the next 255"));
        }
        let clip = rng.pick(&clips);
        let mut configuration = clip.configuration.clone();
        if rng.one_in(4) {
            configuration = Mutator::of_head(&configuration, usize::MAX).mutant(&mut rng);
        }
        // Most of a unit is slice data; headers are what matters.
        let unit: &Vec<u8> = rng.pick(&clip.units);
        let unit = Mutator::of_head(unit, 64).mutant(&mut rng);
        let rule = *rng.pick(&[Alignment::Exact, Alignment::Blocks]);
        out.clear();
        let mapper = match clip.codec {
            Codec::Avc => Mapper::avc(&configuration),
            Codec::Hevc => Mapper::hevc(&configuration),
        };
        let result = mapper
            .and_then(|mapper| mapper.with_max_entries(usize::MAX).map(&unit, rule, &mut out));
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
    let mut mappers: Vec<_> = clips.iter().map(map_support::mapper).collect();
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
