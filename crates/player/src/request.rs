//! Reading one request (RFC 9112), strictly and in bounded time and memory.

use std::{
    io::{self, Read},
    net::TcpStream,
    str,
    time::{Duration, Instant},
};

use crate::answer::{Answer, Status};

/// Bytes of the request line and all headers.
const HEAD: usize = 16 << 10;
/// Headers of a request. Browsers send some twenty.
const HEADERS: usize = 64;
/// Bytes of a body: a licence request has some fifty for each KID.
const BODY: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Options,
    Post,
}

/// A request whose form is right.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// The path, as it was sent, without the query.
    pub(crate) path: String,
    /// What follows the first question mark.
    pub(crate) query: String,
    pub(crate) host: String,
    pub(crate) origin: Option<String>,
    pub(crate) range: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// Why there is no request.
pub(crate) enum Unread {
    /// Nothing was sent, or the connection broke: there is nobody to answer.
    Gone,
    /// What to say of it.
    Refused(Answer),
}

impl From<Answer> for Unread {
    fn from(answer: Answer) -> Self {
        Self::Refused(answer)
    }
}

impl Request {
    /// Waits for the whole request no longer than `patience`, however its bytes trickle in.
    pub(crate) fn read(stream: &mut TcpStream, patience: Duration) -> Result<Self, Unread> {
        let mut input = Input { stream, deadline: Instant::now() + patience, bytes: Vec::new() };
        let (mut request, head_len, body_len) = loop {
            if let Some(head) = parse(&input.bytes)? {
                break head;
            }
            if input.bytes.len() >= HEAD {
                let say = "the head of the request has more than 16 KiB";
                return Err(Answer::words(Status::HEAD_TOO_LARGE, say).into());
            }
            input.more()?;
        };
        while input.bytes.len() < head_len + body_len {
            input.more()?;
        }
        request.body = input.bytes[head_len..head_len + body_len].to_vec();
        Ok(request)
    }
}

/// What has come of a request.
struct Input<'a> {
    stream: &'a mut TcpStream,
    deadline: Instant,
    bytes: Vec<u8>,
}

impl Input<'_> {
    fn more(&mut self) -> Result<(), Unread> {
        let late = || Unread::Refused(Answer::words(Status::TIMEOUT, "the request took too long"));
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(late());
        }
        self.stream.set_read_timeout(Some(left)).map_err(|_| Unread::Gone)?;
        let mut part = [0; 4096];
        match self.stream.read(&mut part) {
            Ok(0) => Err(Unread::Gone),
            Ok(len) => {
                self.bytes.extend_from_slice(&part[..len]);
                Ok(())
            }
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => Ok(()),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Err(late()),
                _ => Err(Unread::Gone),
            },
        }
    }
}

/// The request, the length of its head and that of its body; none if the head is not complete.
fn parse(bytes: &[u8]) -> Result<Option<(Request, usize, usize)>, Answer> {
    let bad = |say: &str| Answer::words(Status::BAD_REQUEST, say);
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let head_len = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(len)) if len <= HEAD => len,
        Ok(httparse::Status::Complete(_)) | Err(httparse::Error::TooManyHeaders) => {
            let say = "the head of the request has more than 16 KiB or 64 headers";
            return Err(Answer::words(Status::HEAD_TOO_LARGE, say));
        }
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(bad(&format!("the request is not HTTP/1.1: {error}"))),
    };
    let method = match parsed.method.unwrap_or_default() {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "OPTIONS" => Method::Options,
        "POST" => Method::Post,
        _ => return Err(Answer::not_allowed("GET, HEAD, OPTIONS, POST")),
    };
    let one = |name: &str| {
        let mut all = parsed.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        let Some(first) = all.next() else { return Ok(None) };
        if all.next().is_some() {
            return Err(bad(&format!("the header {name} is there twice")));
        }
        let text = str::from_utf8(first.value);
        let text = text.map_err(|_| bad(&format!("the header {name} is not text")))?;
        Ok(Some(text.trim().to_owned()))
    };
    if one("Transfer-Encoding")?.is_some() {
        let say = "bodies come with Content-Length here, not in chunks";
        return Err(Answer::words(Status::LENGTH_REQUIRED, say));
    }
    let body_len = match one("Content-Length")? {
        None if method == Method::Post => {
            return Err(Answer::words(Status::LENGTH_REQUIRED, "there is no Content-Length"));
        }
        None => 0,
        // Not what `parse` takes besides digits, which is a sign.
        Some(len) if len.is_empty() || len.bytes().any(|byte| !byte.is_ascii_digit()) => {
            return Err(bad("Content-Length is not a number"));
        }
        Some(len) => len.parse().unwrap_or(usize::MAX),
    };
    if body_len > BODY {
        return Err(Answer::words(Status::BODY_TOO_LARGE, "the body has more than 64 KiB"));
    }
    let target = parsed.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if !path.starts_with('/') {
        return Err(bad("the target of the request is not a path"));
    }
    let host = one("Host")?.ok_or_else(|| bad("the header Host is not there"))?;
    // There are no validators here that If-Range could match (RFC 9110, 13.1.5).
    let range = if one("If-Range")?.is_none() { one("Range")? } else { None };
    let origin = one("Origin")?;
    let (path, query) = (path.to_owned(), query.to_owned());
    let request = Request { method, path, query, host, origin, range, body: Vec::new() };
    Ok(Some((request, head_len, body_len)))
}
