//! Objects below a prefix.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::stream::{self, StreamExt as _};
use lanelock_packager::io::{Folder, Sink};
use object_store::{Error, ObjectStoreExt as _};

use crate::{
    client::{Backend, Shared},
    fault::explain,
    location::{Location, Service},
    members::Members,
    sink::{ObjectSink, Target},
};

/// How long a failed run waits for requests that are under way, and for the deletion of what it has made.
const PENDING: Duration = Duration::from_secs(10);
const DELETION: Duration = Duration::from_mins(1);

/// How many objects are deleted at once.
const SIDE_BY_SIDE: usize = 16;

/// Objects below a prefix, where there were none. Each appears when it is whole, some time after it was
/// finished; those that are created after [`Folder::settle`] appear after all that were finished before.
///
/// Dropped before [`Folder::finish`], it deletes what it has made;
/// [`Store::take_complaints`](crate::Store::take_complaints) says what could not be deleted.
pub struct ObjectFolder {
    shared: Arc<Shared>,
    backend: Backend,
    location: Location,
    members: Arc<Members>,
    finished: bool,
    /// Whether what is there could not be listed.
    must_be_new: bool,
}

impl ObjectFolder {
    pub(crate) fn create(
        shared: &Arc<Shared>,
        backend: Backend,
        location: Location,
    ) -> io::Result<Self> {
        let prefix = (!location.path.is_root()).then_some(&location.path);
        let first = shared.wait(backend.objects.list(prefix).next())?;
        let must_be_new = match first {
            None => false,
            Some(Ok(_)) => {
                let what = "there are objects below it; name a new prefix, or delete them";
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
            }
            // Few HTTP servers list what they have (WebDAV): then each object is looked for.
            Some(Err(_)) if location.service == Service::Http => true,
            Some(Err(error)) => {
                let error = explain(&error);
                let what = format!("what is below it cannot be listed: {error}");
                return Err(io::Error::new(error.kind(), what));
            }
        };
        let (shared, members) = (shared.clone(), Arc::default());
        Ok(Self { shared, backend, location, members, finished: false, must_be_new })
    }

    /// Looks at the requests that have ended, or at all when they have.
    fn collect(&self, all: bool) -> io::Result<()> {
        let (ended, rest): (Vec<_>, Vec<_>) =
            self.members.take_coming().into_iter().partition(|(_, task)| all || task.is_finished());
        for (location, task) in rest {
            self.members.is_coming(&location, task);
        }
        let mut ended = ended.into_iter();
        while let Some((location, mut task)) = ended.next() {
            let waited = self.shared.wait(&mut task);
            let failed = match waited {
                Ok(Ok(Ok(()))) => continue,
                Ok(Ok(Err(error))) => error,
                Ok(Err(error)) => io::Error::other(error),
                Err(cancelled) => {
                    // It may still make its object, which is then deleted.
                    self.members.is_coming(&location, task);
                    cancelled
                }
            };
            for (location, task) in ended {
                self.members.is_coming(&location, task);
            }
            let what = format!("{location}: {failed}");
            return Err(io::Error::new(failed.kind(), what));
        }
        Ok(())
    }

    /// Deletes what was made.
    fn clean_up(&self) {
        let coming = self.members.take_coming();
        // A request that is given up may still be carried out: behind the deletion, if it is not waited for.
        for (_, mut task) in coming {
            if self.shared.wait_at_most(PENDING, &mut task).is_none() {
                task.abort();
            }
        }
        let begun = self.members.take_begun();
        let total = begun.len();
        let left = Mutex::new(Vec::new());
        let deletions = stream::iter(begun).for_each_concurrent(SIDE_BY_SIDE, |location| {
            let (left, objects) = (&left, &self.backend.objects);
            async move {
                match objects.delete(&location.path).await {
                    Ok(()) | Err(Error::NotFound { .. }) => {}
                    Err(error) => {
                        let why = explain(&error).to_string();
                        left.lock().unwrap_or_else(PoisonError::into_inner).push(why);
                    }
                }
            }
        });
        let in_time = self.shared.wait_at_most(DELETION, deletions).is_some();
        let left = left.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (count, why) = match left.first() {
            _ if !in_time => ("some".to_owned(), "it takes too long"),
            Some(why) => (left.len().to_string(), why.as_str()),
            None => return,
        };
        self.shared.complain(format!(
            "{count} of the {total} objects that were made below {} could not be deleted ({why}): delete them; \
             no manifest names them",
            self.location
        ));
    }
}

impl Folder for ObjectFolder {
    fn name(&self) -> String {
        self.location.name().trim_end_matches('/').into()
    }

    fn create(&self, path: &str) -> io::Result<Box<dyn Sink>> {
        // What has failed is told before more is made.
        self.collect(false)?;
        let location = self.location.join(path).map_err(io::Error::other)?;
        let target =
            Target { backend: self.backend.clone(), location, must_be_new: self.must_be_new };
        Ok(Box::new(ObjectSink::of(&self.shared, target, Some(self.members.clone()))))
    }

    fn settle(&self) -> io::Result<()> {
        self.collect(true)
    }

    fn finish(mut self: Box<Self>, _sync: bool) -> io::Result<()> {
        self.collect(true)?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for ObjectFolder {
    fn drop(&mut self) {
        if !self.finished {
            self.clean_up();
        }
    }
}
