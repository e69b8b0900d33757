//! Answers, and writing them.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    net::{Shutdown, TcpStream},
    time::Duration,
};

use zeroize::Zeroizing;

/// A code with its reason phrase (RFC 9110, 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status(u16, &'static str);

impl Status {
    pub(crate) const OK: Self = Self(200, "OK");
    pub(crate) const NO_CONTENT: Self = Self(204, "No Content");
    pub(crate) const PARTIAL: Self = Self(206, "Partial Content");
    pub(crate) const BAD_REQUEST: Self = Self(400, "Bad Request");
    pub(crate) const FORBIDDEN: Self = Self(403, "Forbidden");
    pub(crate) const NOT_FOUND: Self = Self(404, "Not Found");
    pub(crate) const NOT_ALLOWED: Self = Self(405, "Method Not Allowed");
    pub(crate) const TIMEOUT: Self = Self(408, "Request Timeout");
    pub(crate) const LENGTH_REQUIRED: Self = Self(411, "Length Required");
    pub(crate) const BODY_TOO_LARGE: Self = Self(413, "Content Too Large");
    pub(crate) const OUTSIDE: Self = Self(416, "Range Not Satisfiable");
    pub(crate) const MISDIRECTED: Self = Self(421, "Misdirected Request");
    pub(crate) const HEAD_TOO_LARGE: Self = Self(431, "Request Header Fields Too Large");
    pub(crate) const SERVER_ERROR: Self = Self(500, "Internal Server Error");
    pub(crate) const BUSY: Self = Self(503, "Service Unavailable");
}

/// Between two steps of writing: a player that is paused may let a whole file wait.
const WRITING: Duration = Duration::from_mins(1);

enum Body {
    Empty,
    Bytes(&'static [u8]),
    /// May have keys.
    Text(Zeroizing<String>),
    File {
        file: File,
        from: u64,
        len: u64,
    },
}

pub(crate) struct Answer {
    status: Status,
    headers: Vec<(&'static str, String)>,
    body: Body,
    len: u64,
}

impl Answer {
    fn new(status: Status, body: Body, len: u64) -> Self {
        Self { status, headers: Vec::new(), body, len }
    }

    pub(crate) fn empty(status: Status) -> Self {
        Self::new(status, Body::Empty, 0)
    }

    /// What is wrong, for people.
    pub(crate) fn words(status: Status, text: &str) -> Self {
        let text = Zeroizing::new(format!("{text}\n"));
        let len = text.len() as u64;
        Self::new(status, Body::Text(text), len).with("Content-Type", "text/plain; charset=utf-8")
    }

    pub(crate) fn not_allowed(allowed: &'static str) -> Self {
        Self::words(Status::NOT_ALLOWED, &format!("the methods here are {allowed}"))
            .with("Allow", allowed)
    }

    pub(crate) fn json(status: Status, text: Zeroizing<String>) -> Self {
        let len = text.len() as u64;
        Self::new(status, Body::Text(text), len).with("Content-Type", "application/json")
    }

    pub(crate) fn bytes(bytes: &'static [u8], kind: &'static str) -> Self {
        Self::new(Status::OK, Body::Bytes(bytes), bytes.len() as u64).with("Content-Type", kind)
    }

    pub(crate) fn file(status: Status, file: File, from: u64, len: u64) -> Self {
        Self::new(status, Body::File { file, from, len }, len)
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Writes it; the head alone, with the length of the body that it is about, if `head` says so.
    pub(crate) fn write(self, stream: &mut TcpStream, head: bool) -> io::Result<()> {
        stream.set_write_timeout(Some(WRITING))?;
        let Self { status: Status(code, reason), headers, body, len } = self;
        let mut text = format!("HTTP/1.1 {code} {reason}\r\n");
        let common = [("Connection", "close"), ("Cache-Control", "no-store")];
        let sniff = [("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer")];
        for (name, value) in common.into_iter().chain(sniff) {
            text.extend([name, ": ", value, "\r\n"]);
        }
        for (name, value) in &headers {
            text.extend([name, ": ", value.as_str(), "\r\n"]);
        }
        if code != Status::NO_CONTENT.0 {
            text.extend(["Content-Length: ", &len.to_string(), "\r\n"]);
        }
        text.push_str("\r\n");
        stream.write_all(text.as_bytes())?;
        match body {
            Body::Empty => {}
            _ if head => {}
            Body::Bytes(bytes) => stream.write_all(bytes)?,
            Body::Text(text) => stream.write_all(text.as_bytes())?,
            Body::File { mut file, from, len } => {
                file.seek(SeekFrom::Start(from))?;
                // A file that became shorter ends the connection before the length that was promised, by
                // which a client sees it.
                io::copy(&mut file.take(len), stream)?;
            }
        }
        stream.flush()
    }
}

/// Ends a connection whose request may not have been read to its end: closed at once, the rest would make
/// the system discard the answer (RFC 9112, 9.6).
pub(crate) fn linger(stream: &mut TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
    let mut rest = [0; 4096];
    for _ in 0..64 {
        if !matches!(stream.read(&mut rest), Ok(1..)) {
            break;
        }
    }
}
