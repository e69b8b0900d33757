//! Where the fragments begin that progressive files are cut into.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::time::Duration;

use lanelock_packager::{Scheme, Selector};
use lanelock_testkit::boxes::{all, word};
use support::*;

const AUDIO: Trak =
    Trak { handler: b"soun", format: b"Opus", config: b"", sample: &[7; 40], count: 20 };
const VIDEO: Trak =
    Trak { handler: b"vide", format: b"jpeg", config: b"", sample: &[8; 40], count: 20 };
const SLIDES: Trak = Trak { handler: b"pict", ..VIDEO };
const COVER: Trak = Trak { count: 1, ..SLIDES };

/// How many samples of that track each fragment has.
fn cut(tracks: &[Trak], id: u32) -> Vec<u32> {
    let options = options(Scheme::Cenc)
        .with_clear(vec![Selector::Video])
        .with_fragment_duration(Duration::from_millis(700));
    let (encrypted, _) = Place::new().encrypt(&progressive(tracks), &options).unwrap();
    let runs = all(&encrypted, *b"traf").into_iter().filter_map(|traf| {
        let tfhd = all(traf, *b"tfhd")[0];
        (word(tfhd, 4) == id).then(|| word(all(traf, *b"trun")[0], 4))
    });
    runs.collect()
}

/// A picture of the whole film says nothing about where to cut the rest.
#[test]
fn covers_do_not_say_where_fragments_begin() {
    assert_eq!(cut(&[AUDIO], 1), [7, 7, 6]);
    assert_eq!(cut(&[AUDIO, COVER], 1), [7, 7, 6]);
    assert_eq!(cut(&[VIDEO, COVER, AUDIO], 1), [7, 7, 6]);
    assert_eq!(cut(&[COVER, VIDEO, AUDIO], 2), [7, 7, 6]);
    assert_eq!(cut(&[COVER, VIDEO, AUDIO], 3), [7, 7, 6]);
    assert_eq!(cut(&[COVER, SLIDES, AUDIO], 2), [7, 7, 6]);
    assert_eq!(cut(&[COVER, AUDIO], 2), [7, 7, 6]);
}
