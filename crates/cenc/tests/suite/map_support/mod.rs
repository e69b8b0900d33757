//! What the map tests share.

pub(crate) mod ac4;
pub(crate) mod avc;
pub(crate) mod bits;
pub(crate) mod hevc;
pub(crate) mod mp4;
pub(crate) mod opinion;
pub(crate) mod shaka;
pub(crate) mod tiny;

use lanelock_cenc::map::{Alignment, MapError, Mapper, Subsample};
use lanelock_testkit::{EXPERIMENTAL_CLIPS, Rng};

/// The map of one access unit.
pub(crate) fn map(
    mapper: &mut Mapper,
    unit: &[u8],
    rule: Alignment,
) -> Result<Vec<Subsample>, MapError> {
    let mut out = Vec::new();
    let entries = mapper.map(unit, rule, &mut out)?;
    assert_eq!(entries, out.len());
    Ok(out)
}

/// A mapper from a configuration record.
pub(crate) fn mapper_of(codec: mp4::Codec, configuration: &[u8]) -> Result<Mapper, MapError> {
    match codec {
        mp4::Codec::Avc => Mapper::avc(configuration),
        mp4::Codec::Hevc => Mapper::hevc(configuration),
        mp4::Codec::Av1 => Mapper::av1(configuration),
        mp4::Codec::Vp9 => Ok(Mapper::vp9()),
        mp4::Codec::Vvc => Mapper::vvc(configuration),
        mp4::Codec::Ac4 => Ok(Mapper::ac4()),
    }
}

/// A mapper for the clip, with no limit on entries.
pub(crate) fn mapper(clip: &mp4::Clip) -> Mapper {
    mapper_of(clip.codec, &clip.configuration)
        .expect("the clip has a good configuration")
        .with_max_entries(usize::MAX)
}

/// A number of at most `bits` bits that likes to be zero, all ones or small, so that headers have
/// long runs of zeros.
pub(crate) fn wild(rng: &mut Rng, bits: u32) -> u64 {
    let all = (1 << bits) - 1;
    match rng.below(5) {
        0 | 1 => 0,
        2 => all,
        3 => rng.next_u64() & all & 3,
        _ => rng.next_u64() & all,
    }
}

/// Slice data that often begins with what needs emulation prevention.
pub(crate) fn data(rng: &mut Rng) -> Vec<u8> {
    let len = 1 + rng.below(60);
    let mut data = rng.bytes(len);
    if rng.one_in(2) {
        data[..len / 2].fill(0);
    }
    *data.last_mut().expect("at least one") = 0x80;
    data
}

/// Real clips and written ones.
pub(crate) fn seeds(rng: &mut Rng) -> Vec<mp4::Clip> {
    let clips = ["avc.mp4", "avc_slices.mp4", "hevc.mp4", "av1.mp4", "av1_tiles.mp4", "vp9.mp4"];
    let clips = clips.into_iter().flat_map(lanelock_testkit::clips);
    let mut clips: Vec<_> = clips.map(|clip| mp4::Clip::read(&clip.path)).collect();
    for name in EXPERIMENTAL_CLIPS {
        clips.push(mp4::Clip::read(&lanelock_testkit::small_clip(name).path));
    }
    clips.push(mp4::Clip {
        codec: mp4::Codec::Ac4,
        configuration: Vec::new(),
        units: (0..40).map(|_| ac4::frame(rng).0).collect(),
    });
    for round in 0..40 {
        let sets = avc::Sets::random(rng, round % 2 == 0);
        let [a, b, c] = [1, 5, 2].map(|kind| sets.slice(rng, kind).0);
        let d = sets.partition(rng, 3).0;
        clips.push(mp4::Clip {
            codec: mp4::Codec::Avc,
            configuration: bits::avcc(&[&sets.sps], &[&sets.pps]),
            units: vec![
                bits::unit(&[&a, &b]),
                bits::unit(&[&sets.sps, &sets.pps, &b]),
                bits::unit(&[&c, &d]),
            ],
        });
        let sets = hevc::Sets::random(rng, round % 2 == 0);
        let [a, b] = [sets.slice(rng).0, sets.slice(rng).0];
        clips.push(mp4::Clip {
            codec: mp4::Codec::Hevc,
            configuration: bits::hvcc(&[&sets.sps], &[&sets.pps]),
            units: vec![bits::unit(&[&a, &b]), bits::unit(&[&sets.sps, &sets.pps, &b])],
        });
    }
    clips
}
