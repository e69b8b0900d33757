//! Every entry on buffers that end right before an unmapped page, and on buffers that begin right
//! behind one: a byte too many, read or written, ends the process. What is computed there is what is
//! computed in ordinary memory. `make long` tries all lengths.
#![cfg(unix)]

use crate::support::entries::{Buffers, ENTRIES, lengths};
use crate::support::forms;
use lanelock::AesLevel;
use lanelock_testkit::{guard::Guarded, is_long, pattern};

/// Which side of a buffer is unmapped.
#[derive(Clone, Copy, Debug)]
enum Edge {
    Behind,
    Before,
}

struct Rooms {
    data: Guarded,
    aad: Guarded,
    nonce: Guarded,
    tag: Guarded,
}

impl Rooms {
    fn new() -> Self {
        let [data, aad, nonce, tag] = [(); 4].map(|()| Guarded::new(1024));
        Self { data, aad, nonce, tag }
    }

    fn at(&mut self, edge: Edge, data: usize, aad: usize) -> Buffers<'_> {
        let [data, aad, nonce, tag] = [
            (&mut self.data, data),
            (&mut self.aad, aad),
            (&mut self.nonce, 12),
            (&mut self.tag, 16),
        ]
        .map(|(room, length)| match edge {
            Edge::Behind => room.at_end(length),
            Edge::Before => room.at_start(length),
        });
        aad.copy_from_slice(&pattern(aad.len()));
        data.copy_from_slice(&pattern(data.len()));
        nonce.fill(7);
        tag.fill(0);
        Buffers { data, aad, nonce, tag }
    }
}

fn check(level: AesLevel) {
    let mut rooms = Rooms::new();
    let mut calls = 0;
    for &(name, entry) in ENTRIES {
        // The last line of a run with `-- --nocapture` is where the process ended.
        eprintln!("{level} {name}");
        for length in lengths() {
            // The AAD goes through all lengths beside the text.
            let more = is_long().then_some(600 - length);
            for aad in [length % 37].into_iter().chain(more) {
                let (mut data, mut tag) = (pattern(length), [0; 16]);
                let (aad_bytes, nonce) = (pattern(aad), [7; 12]);
                entry(
                    level,
                    Buffers { data: &mut data, aad: &aad_bytes, nonce: &nonce, tag: &mut tag },
                );
                for edge in [Edge::Behind, Edge::Before] {
                    let at = format!("{level} {name}: {length} bytes, AAD {aad}, page {edge:?}");
                    let Buffers { data: got, aad, nonce, tag: got_tag } =
                        rooms.at(edge, length, aad);
                    entry(level, Buffers { data: got, aad, nonce, tag: got_tag });
                    assert!(data == got && tag == got_tag, "{at}");
                    calls += 1;
                }
            }
        }
    }
    eprintln!("{level}: {calls} calls between guard pages");
}

#[test]
fn no_entry_leaves_its_buffers() {
    for level in forms() {
        check(level);
    }
}
