//! URLs as inputs and outputs: with the feature `cloud`, by `lanelock-store`; without it, refused.

use std::path::Path;

use crate::{failure::Failure, urls::url};

/// What a URL names, if it is one.
pub(crate) fn location(path: &Path) -> Result<Option<Location>, Failure> {
    url(path).map(parse).transpose()
}

#[cfg(feature = "cloud")]
pub(crate) use with::{Location, Remote, parse};

#[cfg(not(feature = "cloud"))]
pub(crate) use without::{Location, Remote, parse};

#[cfg(feature = "cloud")]
mod with {
    use lanelock_packager::{
        Error, Observer as _,
        io::{Folder, Sink, Source},
    };
    pub(crate) use lanelock_store::Location;
    use lanelock_store::{Settings, Store};

    use crate::{failure::Failure, watch::Watch};

    /// Access to the services. Dropped, it warns of what could not be cleaned up.
    pub(crate) struct Remote<'a> {
        store: Option<Store>,
        watch: &'a Watch,
    }

    impl<'a> Remote<'a> {
        /// Nothing is connected yet.
        pub(crate) fn new(watch: &'a Watch) -> Self {
            Self { store: None, watch }
        }

        fn store(&mut self) -> Result<&Store, Failure> {
            let watch = self.watch;
            let settings = || Settings::new().with_cancel(watch.flag());
            match &mut self.store {
                Some(store) => Ok(store),
                none => {
                    let made = Store::new(settings()).map_err(|error| Failure::Io {
                        what: "cannot start the threads that wait for servers".into(),
                        error,
                    })?;
                    Ok(none.insert(made))
                }
            }
        }

        /// Whatever fails when it is cancelled fails for that reason.
        fn told<T>(&self, result: Result<T, Error>) -> Result<T, Failure> {
            result.map_err(|error| {
                if self.watch.interrupted() { Error::Interrupted.into() } else { error.into() }
            })
        }

        pub(crate) fn source(&mut self, at: &Location) -> Result<Box<dyn Source>, Failure> {
            let source = self.store()?.source(at);
            Ok(Box::new(self.told(source)?))
        }

        pub(crate) fn sink(&mut self, at: &Location) -> Result<Box<dyn Sink>, Failure> {
            let sink = self.store()?.sink(at);
            Ok(Box::new(self.told(sink)?))
        }

        pub(crate) fn folder(&mut self, at: &Location) -> Result<Box<dyn Folder>, Failure> {
            let folder = self.store()?.folder(at);
            Ok(Box::new(self.told(folder)?))
        }
    }

    impl Drop for Remote<'_> {
        fn drop(&mut self) {
            for complaint in self.store.iter().flat_map(Store::take_complaints) {
                self.watch.warn(&complaint);
            }
        }
    }

    pub(crate) fn parse(url: &str) -> Result<Location, Failure> {
        Location::parse(url).map_err(|error| {
            Failure::usage(error.to_string(), "s3://BUCKET/KEY or https://HOST/PATH is a URL")
        })
    }
}

#[cfg(not(feature = "cloud"))]
mod without {
    use std::marker::PhantomData;

    use lanelock_packager::io::{Folder, Sink, Source};

    use crate::{failure::Failure, watch::Watch};

    /// There is none.
    #[derive(Clone, Debug)]
    pub(crate) enum Location {}

    impl Location {
        pub(crate) fn name(&self) -> &str {
            match *self {}
        }

        pub(crate) fn file_name(&self) -> Option<&str> {
            match *self {}
        }

        pub(crate) fn ends_in_slash(&self) -> bool {
            match *self {}
        }

        pub(crate) fn is_same(&self, _: &Self) -> bool {
            match *self {}
        }

        pub(crate) fn join(&self, _: &str) -> Result<Self, String> {
            match *self {}
        }
    }

    /// Opens nothing.
    pub(crate) struct Remote<'a>(PhantomData<&'a Watch>);

    #[expect(clippy::unused_self, reason = "it is used with the feature")]
    impl<'a> Remote<'a> {
        pub(crate) fn new(_: &'a Watch) -> Self {
            Self(PhantomData)
        }

        pub(crate) fn source(&mut self, at: &Location) -> Result<Box<dyn Source>, Failure> {
            match *at {}
        }

        pub(crate) fn sink(&mut self, at: &Location) -> Result<Box<dyn Sink>, Failure> {
            match *at {}
        }

        pub(crate) fn folder(&mut self, at: &Location) -> Result<Box<dyn Folder>, Failure> {
            match *at {}
        }
    }

    pub(crate) fn parse(url: &str) -> Result<Location, Failure> {
        let (scheme, rest) = url.split_once("://").unwrap_or((url, ""));
        // User, password and query may be secret.
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = host.rsplit('@').next().unwrap_or_default();
        Err(Failure::usage(
            format!(
                "{scheme}://{host}/{path} is a URL, and this build of lanelock has no object storage"
            ),
            "build it with it: cargo install lanelock-cli --features cloud; or fetch it first",
        ))
    }
}
