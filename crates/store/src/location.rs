//! What a URL names.

use std::fmt;

use object_store::path::Path;
use url::Url;

/// An object, or a prefix of objects, of a service.
///
/// Printed, it is the URL without user, password and query, where keys and signatures are.
#[derive(Clone, PartialEq, Eq)]
pub struct Location {
    pub(crate) service: Service,
    /// The bucket or container; of HTTP the URL without path.
    pub(crate) bucket: String,
    pub(crate) path: Path,
    /// `user:password` of an HTTP URL.
    pub(crate) user: Option<String>,
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Service {
    S3,
    Google,
    Azure,
    Http,
}

/// Why a text is no location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationError(String);

impl fmt::Display for LocationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LocationError {}

/// The schemes of URLs that are locations.
const SCHEMES: [(&str, Service); 5] = [
    ("s3://", Service::S3),
    ("gs://", Service::Google),
    ("az://", Service::Azure),
    ("http://", Service::Http),
    ("https://", Service::Http),
];

impl Location {
    /// Whether a text begins like the URL of a location.
    pub fn is_url(text: &str) -> bool {
        SCHEMES.iter().any(|(scheme, _)| text.starts_with(scheme))
    }

    /// Reads a URL. The keys of `s3`, `gs` and `az` are taken as they are, without percent-encoding, as the
    /// tools of these services do.
    pub fn parse(text: &str) -> Result<Self, LocationError> {
        let found = SCHEMES.iter().find(|(scheme, _)| text.starts_with(scheme));
        let Some(&(scheme, service)) = found else {
            return Err(LocationError(
                "it is no URL that begins with s3://, gs://, az://, http:// or https://".into(),
            ));
        };
        if service == Service::Http {
            return Self::of_http(text);
        }
        let rest = &text[scheme.len()..];
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(LocationError(format!("{text} names no bucket: {scheme}BUCKET/KEY does")));
        }
        let path = Path::parse(key).map_err(|error| LocationError(format!("{text}: {error}")))?;
        let name = format!("{scheme}{bucket}/{key}");
        Ok(Self { service, bucket: bucket.into(), path, user: None, name })
    }

    fn of_http(text: &str) -> Result<Self, LocationError> {
        let mut url = Url::parse(text).map_err(|error| {
            let shown = text.split(['?', '#']).next().unwrap_or_default();
            let shown = if shown.contains('@') { "the URL" } else { shown };
            LocationError(format!("{shown} is no URL: {error}"))
        })?;
        let user = (!url.username().is_empty() || url.password().is_some())
            .then(|| format!("{}:{}", url.username(), url.password().unwrap_or_default()));
        // Only URLs without host refuse these, and HTTP has none.
        let _ = (url.set_username(""), url.set_password(None));
        url.set_fragment(None);
        let query = url.query().map(str::to_owned);
        url.set_query(None);
        let name = url.to_string();
        let path = Path::from_url_path(url.path())
            .map_err(|error| LocationError(format!("{name}: {error}")))?;
        url.set_path("");
        // What stands in the query is sent along with every request: a signature, for example.
        url.set_query(query.as_deref());
        Ok(Self { service: Service::Http, bucket: url.into(), path, user, name })
    }

    /// The URL, without what may be secret.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The last part of the path.
    pub fn file_name(&self) -> Option<&str> {
        self.path.filename()
    }

    /// Whether the URL ends in a slash, as that of a prefix.
    pub fn ends_in_slash(&self) -> bool {
        self.name.ends_with('/')
    }

    /// An object below this prefix. `path` is of plain names with `/` between them.
    pub fn join(&self, path: &str) -> Result<Self, LocationError> {
        let mut this = self.clone();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            let joined = Path::parse(format!("{}/{part}", this.path));
            this.path = joined.map_err(|error| LocationError(format!("{}: {error}", self.name)))?;
        }
        this.name = format!("{}/{path}", self.name.trim_end_matches('/'));
        Ok(this)
    }

    /// Whether both are the same object.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.service, &self.bucket, &self.path) == (other.service, &other.bucket, &other.path)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let location =
            Location::parse("https://me:pass@example.com:8443/a%20b/c.mp4?sig=SECRET#x").unwrap();
        assert_eq!(location.to_string(), "https://example.com:8443/a%20b/c.mp4");
        assert_eq!(format!("{location:?}"), location.to_string());
        assert_eq!(location.path.as_ref(), "a b/c.mp4");
        assert_eq!(location.bucket, "https://example.com:8443/?sig=SECRET");
        assert_eq!(location.user.as_deref(), Some("me:pass"));
        for text in ["http://u:SECRET@[", "http://h:99999/?SECRET", "http://?SECRET"] {
            let error = Location::parse(text).unwrap_err().to_string();
            assert!(!error.contains("SECRET"), "{error}");
        }
    }

    #[test]
    fn keys_are_taken_as_they_are() {
        let location = Location::parse("s3://bucket/a b/100%20?#.mp4").unwrap();
        assert_eq!(location.path.as_ref(), "a b/100%20?#.mp4");
        assert_eq!(location.bucket, "bucket");
        let inside = Location::parse("s3://bucket/out/").unwrap().join("v/1.m4s").unwrap();
        assert_eq!(inside.to_string(), "s3://bucket/out/v/1.m4s");
        assert_eq!(inside.path.as_ref(), "out/v/1.m4s");
        let top = Location::parse("s3://bucket").unwrap().join("main.m3u8").unwrap();
        assert_eq!(top.path.as_ref(), "main.m3u8");
        for text in ["s3://", "s3:///a", "s3://b/a//c", "s3://b/../c", "ftp://b/c", "a.mp4"] {
            assert!(Location::parse(text).is_err(), "{text}");
        }
    }
}
