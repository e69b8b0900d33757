//! Progress, as an observer sees it.

use std::sync::Mutex;

use crate::support::{AVC_AAC, AVC_AAC_FRAGMENTS, options};
use lanelock_packager::{
    Observer, Scheme, encrypt,
    io::{MemorySink, MemorySource},
};

/// Keeps the last progress.
#[derive(Default)]
struct Last(Mutex<(u64, u64)>);

impl Observer for Last {
    fn progress(&self, done: u64, total: u64) {
        let mut last = self.0.lock().unwrap();
        assert!(done <= total, "{done} of {total}");
        *last = (done, total);
    }
}

/// Boxes that are replaced, not copied, count too.
#[test]
fn ends_at_the_total() {
    for clip in [AVC_AAC, AVC_AAC_FRAGMENTS] {
        let last = Last::default();
        let source = MemorySource::new("memory", clip);
        encrypt(&source, Box::new(MemorySink::new()), &options(Scheme::Cbcs), &last).unwrap();
        let len = clip.len() as u64;
        assert_eq!(*last.0.lock().unwrap(), (len, len));
    }
}
