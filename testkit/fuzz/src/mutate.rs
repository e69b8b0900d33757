//! Changes that leave lengths right, so that what is behind the first check is reached.

use std::ops::Range;

use lanelock_testkit::{Mutator, Rng};

use crate::{input::Change, maps};

/// What inputs are made of.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Any bytes.
    Bytes,
    /// Boxes, and so many bytes behind them.
    Boxes {
        /// The bytes behind them.
        tail: usize,
    },
    /// A configuration and access units, as the target `maps` has them.
    Units,
}

/// A changed copy of an input of such a shape; `change` is for those of its parts that have no parts.
#[must_use]
pub fn mutate(data: &[u8], shape: Shape, seed: u32, change: &mut Change<'_>) -> Vec<u8> {
    let mut rng = Rng::new(seed.into());
    match shape {
        Shape::Boxes { tail } => boxes(data, tail, &mut rng, change),
        Shape::Units => maps::mutate(data, &mut rng, change),
        Shape::Bytes => {
            let mut data = data.to_vec();
            change(&mut data);
            data
        }
    }
}

/// Boxes with boxes inside, and the bytes of fields before these.
const CONTAINERS: [(&[u8; 4], usize); 30] = [
    (b"moov", 0),
    (b"trak", 0),
    (b"mdia", 0),
    (b"minf", 0),
    (b"stbl", 0),
    (b"dinf", 0),
    (b"edts", 0),
    (b"mvex", 0),
    (b"moof", 0),
    (b"traf", 0),
    (b"mfra", 0),
    (b"sinf", 0),
    (b"schi", 0),
    (b"udta", 0),
    (b"meta", 4),
    (b"dref", 8),
    (b"stsd", 8),
    (b"avc1", 78),
    (b"hvc1", 78),
    (b"vvc1", 78),
    (b"av01", 78),
    (b"vp09", 78),
    (b"encv", 78),
    (b"mp4a", 28),
    (b"ac-3", 28),
    (b"ec-3", 28),
    (b"ac-4", 28),
    (b"Opus", 28),
    (b"fLaC", 28),
    (b"enca", 28),
];

/// Sometimes the file is changed as [`Mutator`] does it, else a box is taken out, doubled, moved, put in the
/// place of another, or its payload is changed, and the sizes of all that are around it follow.
fn boxes(data: &[u8], tail: usize, rng: &mut Rng, change: &mut Change<'_>) -> Vec<u8> {
    let (boxes, tail) = data.split_at(data.len().saturating_sub(tail));
    let mut file = boxes.to_vec();
    for _ in 0..=rng.below(3) {
        let all = places(&file);
        if all.is_empty() {
            break;
        }
        let place = rng.pick(&all).clone();
        let other = rng.pick(&all).range.clone();
        let (range, other) = (place.range.clone(), file[other].to_vec());
        match rng.below(12) {
            0 => splice(&mut file, &place, range, &[]),
            1 => splice(&mut file, &place, range.end..range.end, &other),
            2 => splice(&mut file, &place, range.start..range.start, &other),
            3 => splice(&mut file, &place, range, &other),
            4 => {
                let at = place.payload + rng.below(range.end - place.payload + 1);
                let length = rng.below(20);
                splice(&mut file, &place.inner(), at..at, &rng.bytes(length));
            }
            5 => {
                let at = place.payload + rng.below(range.end - place.payload + 1);
                let end = range.end.min(at + rng.below(20));
                splice(&mut file, &place.inner(), at..end, &[]);
            }
            6..=9 => {
                let mut payload = file[place.payload..range.end].to_vec();
                change(&mut payload);
                splice(&mut file, &place.inner(), place.payload..range.end, &payload);
            }
            // A field of the payload: near a limit, or near what it was.
            _ if range.end - place.payload >= 4 => {
                let at = place.payload + rng.below((range.end - place.payload) / 4) * 4;
                let old = lanelock_testkit::boxes::word(&file, at);
                let edges = [
                    0,
                    1,
                    u32::MAX,
                    1 << 31,
                    old.wrapping_add(1),
                    old.wrapping_sub(1),
                    old << 8,
                    old >> 8,
                ];
                file[at..at + 4].copy_from_slice(&rng.pick(&edges).to_be_bytes());
            }
            _ => {}
        }
    }
    if rng.one_in(3)
        && file
            .windows(8)
            .any(|head| [b"moov", b"moof", b"sidx"].iter().any(|kind| head.ends_with(*kind)))
    {
        file = Mutator::of_boxes(&file).mutant(rng);
    }
    if file.len() < 4 {
        file = boxes.to_vec();
    }
    let mut tail = tail.to_vec();
    if let Some(byte) = tail.first_mut().filter(|_| rng.one_in(4)) {
        *byte = rng.array::<1>()[0];
    }
    file.extend(tail);
    file
}

/// A box, and where the sizes of those around it are.
#[derive(Clone)]
struct Place {
    range: Range<usize>,
    payload: usize,
    around: Vec<usize>,
}

impl Place {
    /// For what changes within it.
    fn inner(&self) -> Self {
        let mut around = self.around.clone();
        around.push(self.range.start);
        Self { around, ..self.clone() }
    }
}

fn places(file: &[u8]) -> Vec<Place> {
    fn walk(file: &[u8], range: Range<usize>, around: &[usize], all: &mut Vec<Place>) {
        let mut at = range.start;
        while at + 8 <= range.end && all.len() < 500 {
            let size = lanelock_testkit::boxes::word(file, at) as usize;
            if size < 8 || size > range.end - at || around.len() > 12 {
                break;
            }
            let place = Place { range: at..at + size, payload: at + 8, around: around.to_vec() };
            let kind = &file[at + 4..at + 8];
            if let Some((_, fields)) = CONTAINERS.iter().find(|(known, _)| *known == kind) {
                let first = at + 8 + fields;
                if first < at + size {
                    walk(file, first..at + size, &place.inner().around, all);
                }
            }
            all.push(place);
            at += size;
        }
    }
    let mut all = Vec::new();
    walk(file, 0..file.len(), &[], &mut all);
    all
}

/// The file with another box in the place of the first one of that type.
pub(crate) fn replaced(file: &[u8], kind: [u8; 4], new: &[u8]) -> Vec<u8> {
    let mut out = file.to_vec();
    let all = places(file);
    let place = all.iter().find(|place| file[place.range.start + 4..place.payload] == kind);
    let place = place.expect("a box of that type");
    splice(&mut out, place, place.range.clone(), new);
    out
}

fn splice(file: &mut Vec<u8>, place: &Place, range: Range<usize>, new: &[u8]) {
    if file.len() + new.len() > 1 << 16 {
        return;
    }
    for &at in &place.around {
        let size = lanelock_testkit::boxes::word(file, at) as usize - range.len() + new.len();
        let size = u32::try_from(size).expect("files of a fuzzer are small");
        file[at..at + 4].copy_from_slice(&size.to_be_bytes());
    }
    file.splice(range, new.iter().copied());
}
