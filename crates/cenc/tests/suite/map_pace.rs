//! How long a map takes. A measurement, not a test:
//! `cargo test --release -p lanelock-cenc --test suite map_pace:: -- --ignored --nocapture`.

use crate::map_support::mp4::Clip;
use lanelock_cenc::map::Alignment;
use lanelock_testkit::longest_clip;
use std::time::Instant;

#[test]
#[ignore = "a measurement, no test"]
fn pace() {
    for name in ["avc.mp4", "avc_slices.mp4", "hevc.mp4", "av1.mp4", "av1_tiles.mp4", "vp9.mp4"] {
        let clip = Clip::read(&longest_clip(name));
        let mut mapper = crate::map_support::mapper(&clip);
        let mut out = Vec::new();
        let mut best = f64::INFINITY;
        for _ in 0..200 {
            out.clear();
            let start = Instant::now();
            for unit in &clip.units {
                mapper.map(unit, Alignment::Exact, &mut out).expect("the clip is good");
            }
            let slices = out.iter().filter(|entry| entry.protected > 0).count();
            best = best.min(
                start.elapsed().as_secs_f64() / f64::from(u32::try_from(slices).expect("few")),
            );
        }
        eprintln!("{name}: {:.0} ns per slice or tile, the best of 200 passes", best * 1e9);
    }
}
