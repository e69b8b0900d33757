//! Going on at a position gives the samples that the iterator would have given; a position of
//! another track or movie does no harm.

use crate::common::{clip, movie};
use lanelock_mp4::{Error, Movie, Sample, SamplePosition, Samples};
use lanelock_testkit::{
    Mutator, Rng, Watchdog, all_clips,
    boxes::{boxed as mk, full, words},
    mutants,
};

/// Every position of a track, from the first to the one behind the last sample.
fn positions(mut samples: Samples<'_>) -> Vec<SamplePosition> {
    let mut positions = vec![samples.position()];
    while let Some(sample) = samples.next() {
        if sample.is_err() {
            break;
        }
        positions.push(samples.position());
    }
    positions
}

#[test]
fn samples_go_on() {
    for clip in all_clips() {
        let (file, mut rng) = (clip.read(), Rng::from_env("samples_go_on"));
        let (movie, len) = (movie(&file), file.len() as u64);
        for track in &movie.tracks {
            let all: Vec<Sample> =
                movie.samples(track, len).unwrap().collect::<Result<_, Error>>().unwrap();
            let positions = positions(movie.samples(track, len).unwrap());
            assert_eq!(positions.len(), all.len() + 1);
            for (number, &position) in positions.iter().enumerate() {
                assert_eq!(position.index() as usize, number);
                let rest = &all[number..];
                if let Some(next) = rest.first() {
                    assert_eq!(position.decode_time(), next.decode_time);
                }
                // All of the rest for some, the next ones for all.
                let count = if number < 3 || rng.one_in(20) { rest.len() } else { 5 };
                let mut samples = movie.samples_from(track, position, len).unwrap();
                assert_eq!(samples.position(), position);
                let found = samples.by_ref().take(count);
                assert!(found.map(Result::unwrap).eq(rest.iter().take(count).copied()));
                assert_eq!(samples.position(), positions[number + count.min(rest.len())]);
            }
        }
    }
}

#[test]
fn another_track_is_refused() {
    let file = clip("avc_aac.mp4");
    let (movie, len) = (movie(&file), file.len() as u64);
    let [video, audio] = &movie.tracks[..] else { panic!("two tracks") };
    let position = movie.samples(video, len).unwrap().position();
    let error = movie.samples_from(audio, position, len).unwrap_err();
    assert!(error.to_string().contains("belongs to another track"), "{error}");
}

#[test]
fn a_shorter_file_ends_them() {
    let file = clip("avc_aac.mp4");
    let (movie, len) = (movie(&file), file.len() as u64);
    let track = &movie.tracks[0];
    let mut samples = movie.samples(track, len).unwrap();
    let (position, next) = (samples.position(), samples.next().unwrap().unwrap());
    let mut short = movie.samples_from(track, position, next.offset).unwrap();
    assert!(short.next().unwrap().is_err());
    assert!(short.next().is_none());
    // What has ended with an error stays so.
    assert!(movie.samples_from(track, short.position(), len).unwrap().next().is_none());
}

/// Reads what there is at a position that may be wrong.
fn drain(movie: &Movie, positions: &[SamplePosition], len: u64) {
    for track in &movie.tracks {
        for &position in positions {
            let Ok(samples) = movie.samples_from(track, position, len) else { continue };
            for sample in samples.take(300) {
                let Ok(sample) = sample else { break };
                assert!(sample.offset + u64::from(sample.size) <= len);
            }
        }
    }
}

#[test]
fn positions_of_another_movie() {
    let files = ["avc_aac.mp4", "hevc.mp4", "flac.mp4"].map(clip);
    let movies = files.each_ref().map(|file| movie(file));
    let len = files.iter().map(|file| file.len() as u64).max().unwrap();
    let mut all = Vec::new();
    for movie in &movies {
        for track in &movie.tracks {
            all.extend(positions(movie.samples(track, len).unwrap()).into_iter().step_by(7));
        }
    }
    let watchdog = Watchdog::new();
    watchdog.begins("positions of other movies");
    for movie in &movies {
        drain(movie, &all, len);
    }
    let mut rng = Rng::from_env("positions_of_another_movie");
    for (movie, file) in movies.iter().zip(&files) {
        let mutator = Mutator::of_boxes(movie.bytes());
        for number in 0..mutants(500) {
            watchdog.begins(format!("mutant {number}"));
            let Ok(mutant) = Movie::parse(mutator.mutant(&mut rng), movie.offset()) else {
                continue;
            };
            let some: Vec<_> = (0..8).map(|_| *rng.pick(&all)).collect();
            drain(&mutant, &some, len);
            for track in &mutant.tracks {
                let Ok(samples) = mutant.samples(track, file.len() as u64) else { continue };
                drain(movie, &positions(samples), len);
            }
        }
    }
}

/// A track whose samples have these durations, chunks of one sample each.
fn hand_made(durations: &[[u32; 2]], chunks: u32, stsc: &[[u32; 3]]) -> Movie {
    let count: u32 = durations.iter().map(|run| run[0]).sum();
    let table = |kind, records: &[u32], width: usize| {
        let entries = u32::try_from(records.len() / width).unwrap();
        mk(kind, &[&words(&[0, entries]), &words(records)])
    };
    let stsd = mk(b"stsd", &[&words(&[0, 1]), &mk(b"avc1", &[&[0; 78]])]);
    let tables = [
        table(b"stts", durations.as_flattened(), 2),
        table(b"stsc", stsc.as_flattened(), 3),
        full(b"stsz", &[0, 1, count]),
        table(b"stco", &vec![0; chunks as usize], 1),
    ];
    let stbl = mk(b"stbl", &[&stsd, &tables.concat()]);
    let mdhd = full(b"mdhd", &[0, 0, 0, 1000, 20, 0x55c4_0000]);
    let hdlr = mk(b"hdlr", &[&[0; 8], b"vide", &[0; 13]]);
    let mdia = mk(b"mdia", &[&mdhd, &hdlr, &mk(b"minf", &[&stbl])]);
    let tkhd = mk(b"tkhd", &[&words(&[0, 0, 0, 1]), &[0; 68]]);
    let mvhd = mk(b"mvhd", &[&words(&[0, 0, 0, 1000, 20]), &[0; 80]]);
    Movie::parse(mk(b"moov", &[&mvhd, &mk(b"trak", &[&tkhd, &mdia])]), 0).unwrap()
}

/// Fields of a position that are beyond the tables of the movie it is used in.
#[test]
fn positions_beyond_the_tables() {
    let many = hand_made(
        &[[1, 3], [1, 4], [1, u32::MAX], [3, 5]],
        6,
        &[[1, 1, 1], [2, 1, 1], [3, 1, 1], [4, 1, 1]],
    );
    let few = hand_made(&[[7, 3]], 7, &[[1, 1, 1]]);
    let all = positions(many.samples(&many.tracks[0], 100).unwrap());
    drain(&few, &all, 100);
    let last = few.samples_from(&few.tracks[0], all[4], 100).unwrap().next().unwrap();
    assert!(last.unwrap_err().to_string().contains("belongs to another movie"));
}
