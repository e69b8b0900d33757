//! The objects of a folder.

use std::{
    io,
    sync::{Mutex, PoisonError},
};

use tokio::task::JoinHandle;

use crate::location::Location;

/// The objects of a folder.
#[derive(Default)]
pub(crate) struct Members {
    /// Those of which a request was sent.
    begun: Mutex<Vec<Location>>,
    /// Requests whose end was not waited for.
    coming: Mutex<Vec<(Location, JoinHandle<io::Result<()>>)>>,
}

impl Members {
    /// An object may be there from now on.
    pub(crate) fn begins(&self, location: &Location) {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).push(location.clone());
    }

    /// An object appears when `task` has ended.
    pub(crate) fn is_coming(&self, location: &Location, task: JoinHandle<io::Result<()>>) {
        let mut coming = self.coming.lock().unwrap_or_else(PoisonError::into_inner);
        coming.push((location.clone(), task));
    }

    pub(crate) fn take_begun(&self) -> Vec<Location> {
        std::mem::take(&mut *self.begun.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn take_coming(&self) -> Vec<(Location, JoinHandle<io::Result<()>>)> {
        std::mem::take(&mut *self.coming.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
