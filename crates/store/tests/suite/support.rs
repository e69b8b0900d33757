//! What the tests of this crate share.

use std::time::Duration;

use lanelock_store::{Location, Settings, Store};
use lanelock_testkit::object_server::ObjectServer;

/// A store that soon gives up, and knows the server as S3.
pub(crate) fn store_with(server: &ObjectServer, retries: usize) -> Store {
    let variables = server.s3_variables().map(|(name, value)| (name.to_owned(), value));
    let settings = Settings::new()
        .with_retries(retries)
        .with_patience(Duration::from_secs(20))
        .with_part_size(5 << 20)
        .with_variables(variables.into());
    Store::new(settings).unwrap()
}

pub(crate) fn http(server: &ObjectServer, path: &str) -> Location {
    Location::parse(&format!("{}/{path}", server.url())).unwrap()
}

pub(crate) fn s3(path: &str) -> Location {
    Location::parse(&format!("s3://{path}")).unwrap()
}
