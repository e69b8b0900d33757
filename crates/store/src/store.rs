//! What users of this crate begin with.

use std::{io, sync::Arc};

use lanelock_packager::Error;

use crate::{
    client::{Settings, Shared},
    folder::ObjectFolder,
    location::Location,
    sink::ObjectSink,
    source::ObjectSource,
};

/// Access to object storage. Clones share connections, and the bound of the memory for uploads.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

impl Store {
    /// Starts the runtime; nothing is asked of any service.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn new(settings: Settings) -> io::Result<Self> {
        Ok(Self { shared: Arc::new(Shared::new(settings)?) })
    }

    /// An object to read; its first bytes are read.
    ///
    /// # Errors
    /// [`Error::Read`] if it is not there or must not be read, or the server gives no byte ranges.
    pub fn source(&self, location: &Location) -> Result<ObjectSource, Error> {
        let fail = |error| Error::Read { name: location.name().into(), error };
        let backend = self.shared.backend(location).map_err(fail)?;
        ObjectSource::open(&self.shared, backend, location).map_err(fail)
    }

    /// An object to write. One that is there is replaced when the new one is whole.
    ///
    /// # Errors
    /// [`Error::Write`] if the URL names no object, or credentials are not what the service takes.
    pub fn sink(&self, location: &Location) -> Result<ObjectSink, Error> {
        let fail = |error| Error::Write { name: location.name().into(), error };
        if location.path.is_root() || location.ends_in_slash() {
            return Err(fail(io::Error::other(
                "it names no object: write its name behind the slash",
            )));
        }
        let backend = self.shared.backend(location).map_err(fail)?;
        Ok(ObjectSink::new(&self.shared, backend, location.clone()))
    }

    /// Objects below a prefix, where there must be none.
    ///
    /// # Errors
    /// [`Error::Write`] if there are some, or they cannot be listed.
    pub fn folder(&self, location: &Location) -> Result<ObjectFolder, Error> {
        let fail = |error| Error::Write { name: location.name().into(), error };
        let backend = self.shared.backend(location).map_err(fail)?;
        ObjectFolder::create(&self.shared, backend, location.clone()).map_err(fail)
    }

    /// What could not be cleaned up of runs that failed, in sentences for users; they are told once.
    pub fn take_complaints(&self) -> Vec<String> {
        self.shared.take_complaints()
    }
}
