//! An end for tests that would never end.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What takes longer than this hangs: a case of the tests that are watched
/// takes milliseconds, even on a machine with much else to do.
const PATIENCE: Duration = Duration::from_mins(1);
const INTERVAL: Duration = Duration::from_millis(500);

/// Ends the process, naming the case, when one case takes a minute. It tells an
/// endless loop from work, and is no measure of speed.
#[derive(Debug)]
pub struct Watchdog(Arc<Mutex<Option<(String, Instant)>>>);

impl Watchdog {
    /// Watches from now on, until the value is dropped.
    #[expect(clippy::new_without_default, reason = "it starts a thread")]
    #[must_use]
    pub fn new() -> Self {
        let current = Arc::new(Mutex::new(None::<(String, Instant)>));
        let watched = Arc::downgrade(&current);
        thread::spawn(move || {
            while let Some(current) = watched.upgrade() {
                if let Some((what, since)) =
                    &*current.lock().unwrap_or_else(PoisonError::into_inner)
                    && since.elapsed() > PATIENCE
                {
                    eprintln!("hangs: {what}");
                    process::abort();
                }
                drop(current);
                thread::sleep(INTERVAL);
            }
        });
        Self(current)
    }

    /// The case called `what` begins, and the one before it is over.
    pub fn begins(&self, what: impl Into<String>) {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Some((what.into(), Instant::now()));
    }
}
