//! The HTTP client.

use std::{
    error::Error as _,
    fmt,
    io::Read as _,
    thread,
    time::{Duration, Instant},
};

use reqwest::{
    StatusCode, Url,
    blocking::{self, Response},
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use zeroize::Zeroizing;

use super::{SpekeError, check_answer};
use crate::{Document, MOST_BYTES, ReadOptions};

/// How long a key server is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For one answer, to its end.
    pub timeout: Duration,
    /// How often a request is sent at most, if the server cannot be reached, is late, is overloaded (429)
    /// or fails (5xx).
    pub attempts: u32,
    /// Before a request is sent the second time; then twice as long each time.
    pub pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(30), attempts: 4, pause: Duration::from_millis(500) }
    }
}

/// A key server.
pub struct Client {
    url: Url,
    headers: HeaderMap,
    patience: Patience,
}

impl fmt::Debug for Client {
    /// Shows the host. A path and headers may hold what is secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

impl Client {
    /// The key server at a URL.
    ///
    /// # Errors
    /// [`SpekeError::Url`]: it is no URL, has a password in it, or is not `https` and not of this machine.
    pub fn new(url: &str, patience: Patience) -> Result<Self, SpekeError> {
        let url = Url::parse(url).map_err(|_| SpekeError::Url("it is no URL"))?;
        let here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        match url.scheme() {
            "https" => {}
            "http" if here => {}
            "http" => {
                let what =
                    "keys would go over the network for everyone to read; it has to be https";
                return Err(SpekeError::Url(what));
            }
            _ => return Err(SpekeError::Url("it is neither https nor http")),
        }
        if !url.username().is_empty() || url.password().is_some() {
            let what =
                "there is a name or password in it, which others may see; send a header for it";
            return Err(SpekeError::Url(what));
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/xml"));
        headers.insert("x-speke-version", HeaderValue::from_static("2.0"));
        let agent = concat!("lanelock/", env!("CARGO_PKG_VERSION"));
        headers.insert("x-speke-user-agent", HeaderValue::from_static(agent));
        Ok(Self { url, headers, patience })
    }

    /// Adds a header to requests, which is secret.
    ///
    /// # Errors
    /// [`SpekeError::Header`]: HTTP has no such header, or it is one that is set here.
    pub fn header(&mut self, name: &str, value: &str) -> Result<(), SpekeError> {
        let fault = |what| SpekeError::Header(name.to_owned(), what);
        let Ok(key) = HeaderName::try_from(name) else {
            return Err(SpekeError::Header(
                "(name)".into(),
                "its name has characters that HTTP does not allow",
            ));
        };
        let ours =
            ["content-type", "content-length", "host", "transfer-encoding", "x-speke-version"];
        if ours.contains(&key.as_str()) {
            return Err(fault("it is set by the client"));
        }
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| fault("its value has characters that HTTP does not allow"))?;
        value.set_sensitive(true);
        self.headers.insert(key, value);
        Ok(())
    }

    /// Sends a request and takes the answer, when it [is one](check_answer).
    ///
    /// # Errors
    /// See [`SpekeError`].
    pub fn fetch(&self, request: &Document, options: &ReadOptions) -> Result<Document, SpekeError> {
        let body = request.to_xml()?;
        let client = self.client()?;
        let mut pause = self.patience.pause;
        let mut attempt = 1;
        let bytes = loop {
            match self.send(&client, &body) {
                Err(error) if attempt < self.patience.attempts && is_passing(&error) => {}
                result => break result?,
            }
            thread::sleep(pause);
            pause = pause.saturating_mul(2);
            attempt += 1;
        };
        let mut answer = Document::read(&bytes, options)?;
        check_answer(request, &mut answer)?;
        Ok(answer)
    }

    fn client(&self) -> Result<blocking::Client, SpekeError> {
        // The program may have chosen one before; then this is not needed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = blocking::Client::builder()
            .redirect(Policy::none())
            .referer(false)
            .timeout(self.patience.timeout)
            .default_headers(self.headers.clone())
            .build();
        client.map_err(|error| SpekeError::Setup(reason(error)))
    }

    fn send(
        &self,
        client: &blocking::Client,
        body: &str,
    ) -> Result<Zeroizing<Vec<u8>>, SpekeError> {
        let started = Instant::now();
        let response = client.post(self.url.clone()).body(body.to_owned()).send();
        let response = response.map_err(|error| self.failure(error))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(SpekeError::Redirect(status.as_u16()));
        }
        // What the server says more is not repeated: it may be the headers.
        if status != StatusCode::OK {
            return Err(SpekeError::Status { status: status.as_u16() });
        }
        let header =
            |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let kind =
            header("content-type").and_then(|value| value.split(';').next()).unwrap_or_default();
        if !["application/xml", "text/xml"].contains(&kind.trim().to_ascii_lowercase().as_str()) {
            return Err(SpekeError::ContentType);
        }
        if header("x-speke-version").is_some_and(|version| !version.trim().starts_with("2.")) {
            return Err(SpekeError::Version);
        }
        self.body(response, started)
    }

    /// Reads an answer into memory that is wiped, as far as it is not too long, nor takes too long.
    fn body(
        &self,
        mut response: Response,
        started: Instant,
    ) -> Result<Zeroizing<Vec<u8>>, SpekeError> {
        let mut bytes = Zeroizing::new(vec![0; 16 << 10]);
        let mut len = 0;
        loop {
            if len > MOST_BYTES {
                return Err(SpekeError::TooLarge);
            }
            if len == bytes.len() {
                let mut larger = Zeroizing::new(vec![0; 2 * len]);
                larger[..len].copy_from_slice(&bytes);
                bytes = larger;
            }
            // The time limit of the client is for each piece.
            if started.elapsed() > self.patience.timeout {
                return Err(SpekeError::Late(self.patience.timeout));
            }
            match response.read(&mut bytes[len..]) {
                Ok(0) => break,
                Ok(more) => len += more,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let inner = error
                        .into_inner()
                        .and_then(|inner| inner.downcast::<reqwest::Error>().ok());
                    return Err(match inner {
                        Some(error) => self.failure(*error),
                        None => SpekeError::Connect("the connection broke".into()),
                    });
                }
            }
        }
        bytes.truncate(len);
        Ok(bytes)
    }

    fn failure(&self, error: reqwest::Error) -> SpekeError {
        if error.is_timeout() {
            return SpekeError::Late(self.patience.timeout);
        }
        SpekeError::Connect(reason(error))
    }
}

/// Whether it may go better the next time.
fn is_passing(error: &SpekeError) -> bool {
    match error {
        SpekeError::Connect(_) | SpekeError::Late(_) => true,
        SpekeError::Status { status } => *status == 429 || *status >= 500,
        _ => false,
    }
}

/// The reason at the bottom, without the URL.
fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text = inner.to_string();
        source = inner.source();
    }
    text
}
