//! A server of objects on this machine: plain HTTP (`GET` and `HEAD` with ranges, `PUT`, `DELETE`) and what
//! clients of S3 need besides (lists, uploads in parts), with faults on demand.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// A server in threads of this process. It answers as long as the process lives.
///
/// The path of an object is `BUCKET/KEY`, as in the URL of path-style S3.
#[derive(Clone)]
pub struct ObjectServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    stored: Mutex<Stored>,
    judge: Mutex<Option<Judge>>,
}

/// What a request gets.
type Judge = Box<dyn FnMut(&Request) -> Answer + Send>;

/// What is stored.
#[derive(Default)]
struct Stored {
    objects: BTreeMap<String, Object>,
    uploads: BTreeMap<String, Upload>,
    /// All requests, in order.
    requests: Vec<Request>,
    /// Objects have no ETags.
    no_tags: bool,
    /// Counts versions and uploads.
    count: u64,
}

#[derive(Clone)]
struct Object {
    bytes: Arc<Vec<u8>>,
    tag: String,
}

struct Upload {
    path: String,
    parts: BTreeMap<u32, Vec<u8>>,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `PUT`, ...
    pub method: String,
    /// `BUCKET/KEY`, without percent-encoding.
    pub path: String,
    /// What stands behind `?`.
    pub query: String,
    /// First and last byte of the range that is asked for.
    pub range: Option<(u64, u64)>,
    /// What the header `Authorization` says.
    pub authorization: Option<String>,
    /// The media type of the body.
    pub content_type: Option<String>,
    /// Bytes of the body.
    pub len: usize,
    if_match: Option<String>,
}

/// How a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// As it should be.
    Right,
    /// With a status, and nothing is done.
    Status(u16),
    /// The connection is closed; nothing is done.
    Close,
    /// The connection is closed after so many bytes of the body.
    Cut(usize),
    /// The whole object, whatever the range is.
    WithoutRange,
    /// With so many bytes of the range, as if these were all.
    Short(usize),
    /// A little later.
    Late(Duration),
}

impl ObjectServer {
    /// Starts a server on a free port of this machine.
    ///
    /// # Panics
    /// If there is none.
    #[expect(clippy::new_without_default, reason = "it starts threads")]
    #[must_use]
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("a listener has an address");
        let shared = Arc::<Shared>::default();
        let server = Self { address, shared: shared.clone() };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                thread::spawn(move || {
                    // A client that goes away is no fault of the server.
                    let _ = serve(&shared, &stream);
                });
            }
        });
        server
    }

    /// `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The variables with which clients of S3 use this server.
    #[must_use]
    pub fn s3_variables(&self) -> [(&'static str, String); 5] {
        [
            ("AWS_ENDPOINT_URL", self.url()),
            ("AWS_ALLOW_HTTP", "true".into()),
            ("AWS_REGION", "us-east-1".into()),
            ("AWS_ACCESS_KEY_ID", "testing".into()),
            ("AWS_SECRET_ACCESS_KEY", "testing".into()),
        ]
    }

    /// Decides from now on how requests are answered.
    pub fn answers(&self, judge: impl FnMut(&Request) -> Answer + Send + 'static) {
        *self.shared.judge.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(judge));
    }

    /// Leaves ETags out from now on.
    pub fn without_tags(&self) {
        self.shared.stored().no_tags = true;
    }

    /// Stores an object.
    pub fn store(&self, path: &str, bytes: Vec<u8>) {
        self.shared.stored().store(path, bytes);
    }

    /// The bytes of an object.
    #[must_use]
    pub fn object(&self, path: &str) -> Option<Arc<Vec<u8>>> {
        self.shared.stored().objects.get(path).map(|object| object.bytes.clone())
    }

    /// The paths of all objects.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        self.shared.stored().objects.keys().cloned().collect()
    }

    /// Uploads in parts that were neither completed nor aborted.
    #[must_use]
    pub fn uploads(&self) -> usize {
        self.shared.stored().uploads.len()
    }

    /// All requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.shared.stored().requests.clone()
    }

    /// Forgets everything.
    pub fn clear(&self) {
        *self.shared.stored() = Stored::default();
    }
}

impl Shared {
    fn stored(&self) -> MutexGuard<'_, Stored> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stored {
    fn store(&mut self, path: &str, bytes: Vec<u8>) -> String {
        self.count += 1;
        let tag = format!("\"{}\"", self.count);
        let object = Object { bytes: Arc::new(bytes), tag: tag.clone() };
        self.objects.insert(path.into(), object);
        tag
    }
}

/// What is sent back.
struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Body,
}

enum Body {
    Text(String),
    Bytes(Arc<Vec<u8>>, std::ops::Range<usize>),
}

impl Reply {
    fn status(status: u16) -> Self {
        Self::text(status, String::new())
    }

    fn text(status: u16, text: String) -> Self {
        Self { status, headers: Vec::new(), body: Body::Text(text) }
    }
}

fn serve(shared: &Shared, stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::with_capacity(1 << 16, stream);
    while let Some((request, body)) = read(&mut reader)? {
        shared.stored().requests.push(request.clone());
        let mut answer = Answer::Right;
        if let Some(judge) = &mut *shared.judge.lock().unwrap_or_else(PoisonError::into_inner) {
            answer = judge(&request);
        }
        if let Answer::Late(delay) = answer {
            thread::sleep(delay);
        }
        let reply = match answer {
            Answer::Close => return Ok(()),
            Answer::Status(status) => Reply::text(status, format!("<Error>{status}</Error>")),
            _ => reply(&mut shared.stored(), &request, body, answer),
        };
        write(stream, &request, reply, answer)?;
        if matches!(answer, Answer::Cut(_)) {
            return Ok(());
        }
    }
    Ok(())
}

/// The next request and its body; none at the end of the connection.
fn read(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<(Request, Vec<u8>)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default().to_owned();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut request = Request {
        method,
        path: decoded(path.trim_start_matches('/')),
        query: query.into(),
        range: None,
        authorization: None,
        content_type: None,
        len: 0,
        if_match: None,
    };
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => request.len = value.parse().unwrap_or(0),
            "authorization" => request.authorization = Some(value.into()),
            "content-type" => request.content_type = Some(value.into()),
            "if-match" => request.if_match = Some(value.into()),
            "range" => {
                let range = value.strip_prefix("bytes=").and_then(|range| range.split_once('-'));
                request.range = range.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
            }
            _ => {}
        }
    }
    let mut body = vec![0; request.len];
    reader.read_exact(&mut body)?;
    Ok(Some((request, body)))
}

fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let hex = behind.get(..2).and_then(|hex| str::from_utf8(hex).ok());
        let code = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let code = code.filter(|_| first == b'%');
        rest = if code.is_some() { &behind[2..] } else { behind };
        bytes.push(code.unwrap_or(first));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a parameter of a query says.
fn parameter<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query.split('&').find_map(|pair| {
        let (found, value) = pair.split_once('=').unwrap_or((pair, ""));
        (found == name).then_some(value)
    })
}

fn reply(stored: &mut Stored, request: &Request, body: Vec<u8>, answer: Answer) -> Reply {
    let Request { method, path, query, .. } = request;
    let upload = parameter(query, "uploadId");
    match method.as_str() {
        "GET" if parameter(query, "list-type").is_some() => list(stored, path, query),
        "GET" | "HEAD" => get(stored, request, answer),
        "PUT" => {
            let number = parameter(query, "partNumber").and_then(|number| number.parse().ok());
            let tag = if let (Some(id), Some(number)) = (upload, number) {
                let Some(upload) = stored.uploads.get_mut(id) else { return Reply::status(404) };
                upload.parts.insert(number, body);
                format!("\"part-{number}\"")
            } else {
                stored.store(path, body)
            };
            Reply { headers: vec![("ETag", tag)], ..Reply::status(200) }
        }
        "POST" if parameter(query, "uploads").is_some() => {
            stored.count += 1;
            let id = format!("upload-{}", stored.count);
            let new = Upload { path: path.clone(), parts: BTreeMap::new() };
            stored.uploads.insert(id.clone(), new);
            Reply::text(
                200,
                format!(
                    "<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
                ),
            )
        }
        "POST" if parameter(query, "delete").is_some() => {
            let text = String::from_utf8_lossy(&body).into_owned();
            let keys: Vec<&str> = text
                .split("<Key>")
                .skip(1)
                .filter_map(|rest| rest.split_once("</Key>").map(|(key, _)| key))
                .collect();
            let bucket = path.trim_end_matches('/');
            let mut deleted = String::new();
            for key in keys {
                stored.objects.remove(&format!("{bucket}/{key}"));
                let _ = write!(deleted, "<Deleted><Key>{key}</Key></Deleted>");
            }
            Reply::text(200, format!("<DeleteResult>{deleted}</DeleteResult>"))
        }
        "POST" => match upload.and_then(|id| stored.uploads.remove(id)) {
            Some(Upload { path, parts }) => {
                // Numbers begin at 1 and leave none out.
                if parts.keys().copied().ne((1..).take(parts.len())) {
                    return Reply::status(400);
                }
                let bytes = parts.into_values().collect::<Vec<_>>().concat();
                let tag = stored.store(&path, bytes).replace('"', "&quot;");
                Reply::text(
                    200,
                    format!(
                        "<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>"
                    ),
                )
            }
            None => Reply::status(404),
        },
        "DELETE" => match upload {
            Some(id) => Reply::status(if stored.uploads.remove(id).is_some() { 204 } else { 404 }),
            None => Reply::status(if stored.objects.remove(path).is_some() { 204 } else { 404 }),
        },
        _ => Reply::status(405),
    }
}

fn get(stored: &Stored, request: &Request, answer: Answer) -> Reply {
    let Some(Object { bytes, tag }) = stored.objects.get(&request.path) else {
        return Reply::status(404);
    };
    if request.if_match.as_ref().is_some_and(|wanted| wanted != tag) {
        return Reply::status(412);
    }
    let mut headers = vec![("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT".to_owned())];
    if !stored.no_tags {
        headers.push(("ETag", tag.clone()));
    }
    let len = bytes.len();
    let Some((first, last)) = request.range.filter(|_| answer != Answer::WithoutRange) else {
        return Reply { status: 200, headers, body: Body::Bytes(bytes.clone(), 0..len) };
    };
    let (first, last) = (
        usize::try_from(first).unwrap_or(usize::MAX),
        usize::try_from(last).unwrap_or(usize::MAX).min(len.saturating_sub(1)),
    );
    if first >= len || first > last {
        return Reply::status(416);
    }
    headers.push(("Content-Range", format!("bytes {first}-{last}/{len}")));
    let mut range = first..last + 1;
    if let Answer::Short(most) = answer {
        range.end = range.end.min(first + most);
    }
    Reply { status: 206, headers, body: Body::Bytes(bytes.clone(), range) }
}

fn list(stored: &Stored, path: &str, query: &str) -> Reply {
    let bucket = path.trim_end_matches('/');
    let prefix = decoded(parameter(query, "prefix").unwrap_or_default());
    let mut contents = String::new();
    for (path, object) in &stored.objects {
        let key = path.strip_prefix(bucket).and_then(|key| key.strip_prefix('/'));
        let Some(key) = key.filter(|key| key.starts_with(&prefix)) else { continue };
        let _ = write!(
            contents,
            "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>\
             <ETag>1</ETag><Size>{}</Size></Contents>",
            object.bytes.len()
        );
    }
    Reply::text(
        200,
        format!("<ListBucketResult><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>"),
    )
}

fn write(
    mut stream: &TcpStream,
    request: &Request,
    reply: Reply,
    answer: Answer,
) -> io::Result<()> {
    let Reply { status, headers, body } = reply;
    let body = match &body {
        Body::Text(text) => text.as_bytes(),
        Body::Bytes(bytes, range) => &bytes[range.clone()],
    };
    let mut head = format!("HTTP/1.1 {status} Status\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head += "\r\n";
    stream.write_all(head.as_bytes())?;
    let sent = match answer {
        _ if request.method == "HEAD" => 0,
        Answer::Cut(most) => most.min(body.len()),
        _ => body.len(),
    };
    stream.write_all(&body[..sent])?;
    stream.flush()
}
