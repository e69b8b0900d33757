//! The server, spoken to byte by byte. That browsers understand it is what `tools/play-test` shows.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::{
    collections::BTreeMap,
    fs,
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use lanelock_packager::{Key, Observer};
use lanelock_player::{Error, Options, Player, Stopper, Subject};
use lanelock_testkit::{Scratch, pattern};
use serde_json::{Value, json};

/// Of the example of W3C Encrypted Media Extensions, 9.1.4: `LwVHf8JLtPrv2GUXFW2v_A` and
/// `tQ0bJVWb6b0KPL6KtZIy_A`.
const KEY: &str = "2f05477fc24bb4faefd86517156daffc:b50d1b25559be9bd0a3cbe8ab59232fc";
const LICENCE: &str = r#"{"keys":[{"kty":"oct","k":"tQ0bJVWb6b0KPL6KtZIy_A","kid":"LwVHf8JLtPrv2GUXFW2v_A"}],"type":"temporary"}"#;
const OTHER: &str = "AAAAAAAAAAAAAAAAAAAAAA";

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Observer for Log {
    fn warn(&self, message: &str) {
        self.0.lock().unwrap().push(message.to_owned());
    }
}

fn port(player: &Player) -> u16 {
    let url = player.url();
    url.split(['/', ':']).nth(4).unwrap().parse().unwrap()
}

/// A server of a folder, which ends with the value.
struct Served {
    folder: Scratch,
    port: u16,
    licences: String,
    stopper: Stopper,
    log: Arc<Log>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Served {
    fn new(options: Options) -> Self {
        let folder = Scratch::new();
        let write = |name: &str, bytes: &[u8]| fs::write(folder.file(name), bytes).unwrap();
        for end in [
            "mpd", "m3u8", "mp4", "m4v", "m4a", "m4s", "cmfv", "cmfa", "cmft", "vtt", "ttml", "MP4",
        ] {
            write(&format!("a.{end}"), &pattern(1000));
        }
        write("a b#?%.mp4", b"odd");
        write("empty.mp4", b"");
        write("keys.txt", KEY.as_bytes());
        write(".hidden.mp4", b"hidden");
        fs::create_dir(folder.file("video.mp4")).unwrap();
        fs::create_dir(folder.file("sub")).unwrap();
        write("sub/1.m4s", b"segment");
        let subject = Subject::of_path(folder.path()).unwrap();
        let log = Arc::new(Log::default());
        let player = Player::bind(subject, options, log.clone()).unwrap();
        let port = port(&player);
        let licences = format!("/{}", player.licence_url().splitn(4, '/').last().unwrap());
        let stopper = player.stopper();
        let thread = Some(thread::spawn(move || player.run()));
        Self { folder, port, licences, stopper, log, thread }
    }

    fn with_key() -> Self {
        Self::new(Options { keys: vec![KEY.parse().unwrap()], ..Options::default() })
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    /// What comes back for these bytes, to the end of the connection.
    fn raw(&self, request: &[u8]) -> Option<Reply> {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        Reply::read(stream)
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.host());
        for (name, value) in headers {
            text.extend([name, ": ", value, "\r\n"]);
        }
        if method == "POST" {
            text.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
        }
        text.push_str("\r\n");
        text.push_str(body);
        self.raw(text.as_bytes()).unwrap()
    }

    fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[], "")
    }

    fn licence(&self, body: &str) -> Reply {
        self.ask("POST", &self.licences, &[("Origin", &format!("http://{}", self.host()))], body)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stopper.stop();
        self.thread.take().unwrap().join().unwrap();
    }
}

#[derive(Debug)]
struct Reply {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Reply {
    fn read(mut stream: TcpStream) -> Option<Self> {
        let mut bytes = Vec::new();
        // A connection that is broken off has told what it could.
        let _ = stream.read_to_end(&mut bytes);
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut reply = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(head) = reply.parse(&bytes).ok()? else { return None };
        let text = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
        let headers: BTreeMap<_, _> = reply
            .headers
            .iter()
            .map(|one| (one.name.to_ascii_lowercase(), text(one.value)))
            .collect();
        Some(Self { status: reply.code?, headers, body: bytes[head..].to_vec() })
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_slice(&self.body).unwrap()
    }
}

#[test]
fn files_have_their_types_and_are_open_to_all() {
    let served = Served::with_key();
    for (end, kind) in [
        ("mpd", "application/dash+xml"),
        ("m3u8", "application/vnd.apple.mpegurl"),
        ("mp4", "video/mp4"),
        ("MP4", "video/mp4"),
        ("m4v", "video/mp4"),
        ("m4a", "audio/mp4"),
        ("m4s", "video/iso.segment"),
        ("cmfv", "video/mp4"),
        ("cmfa", "audio/mp4"),
        ("cmft", "application/mp4"),
        ("vtt", "text/vtt; charset=utf-8"),
        ("ttml", "application/ttml+xml"),
    ] {
        let reply = served.get(&format!("/stream/a.{end}?query=1"));
        assert_eq!((reply.status, reply.header("content-type")), (200, Some(kind)), "{end}");
        assert_eq!(reply.body, pattern(1000), "{end}");
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
        assert_eq!(reply.header("accept-ranges"), Some("bytes"));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    }
    assert_eq!(served.get("/stream/sub/1.m4s").body, b"segment");
    assert_eq!(served.get("/stream/a%20b%23%3F%25.mp4").body, b"odd");
    let head = served.ask("HEAD", "/stream/a.mp4", &[("Range", "bytes=0-9")], "");
    assert_eq!(
        (head.status, head.header("content-length"), head.body.len()),
        (200, Some("1000"), 0)
    );
    let preflight =
        served.ask("OPTIONS", "/stream/a.mp4", &[("Origin", "https://example.com")], "");
    assert_eq!(
        (preflight.status, preflight.header("access-control-allow-origin")),
        (204, Some("*"))
    );
    assert!(preflight.header("access-control-allow-headers").unwrap().contains("Range"));
}

#[test]
fn ranges_are_cut_out() {
    let served = Served::with_key();
    let whole = pattern(1000);
    let get = |range: &str| served.ask("GET", "/stream/a.mp4", &[("Range", range)], "");
    for (range, part, content) in [
        ("bytes=0-0", 0..1, "bytes 0-0/1000"),
        ("bytes=100-199", 100..200, "bytes 100-199/1000"),
        ("bytes=990-", 990..1000, "bytes 990-999/1000"),
        ("bytes=-7", 993..1000, "bytes 993-999/1000"),
        ("bytes=900-5000", 900..1000, "bytes 900-999/1000"),
    ] {
        let reply = get(range);
        assert_eq!((reply.status, reply.header("content-range")), (206, Some(content)), "{range}");
        assert_eq!(reply.header("content-length"), Some(&*part.len().to_string()));
        assert_eq!(reply.body, whole[part], "{range}");
    }
    for range in ["bytes=1000-", "bytes=-0"] {
        let reply = get(range);
        assert_eq!(
            (reply.status, reply.header("content-range")),
            (416, Some("bytes */1000")),
            "{range}"
        );
    }
    for range in ["bytes=0-1,5-6", "bytes=9-1", "pages=1-2"] {
        let reply = get(range);
        assert_eq!((reply.status, reply.body), (200, whole.clone()), "{range}");
    }
    let headers = [("Range", "bytes=0-1"), ("If-Range", "\"an-entity-tag\"")];
    assert_eq!(served.ask("GET", "/stream/a.mp4", &headers, "").status, 200);
    assert_eq!(served.ask("GET", "/stream/empty.mp4", &[("Range", "bytes=0-")], "").status, 416);
    assert_eq!(served.get("/stream/empty.mp4").status, 200);
}

#[test]
fn nothing_else_is_served() {
    let served = Served::with_key();
    let outside = Scratch::new();
    fs::write(outside.file("secret.mp4"), "secret").unwrap();
    for (path, status) in [
        ("/stream/keys.txt", 404),
        ("/stream/.hidden.mp4", 400),
        ("/stream/absent.mp4", 404),
        ("/stream/video.mp4", 404),
        ("/stream/sub", 404),
        ("/stream/", 400),
        ("/stream/../a.mp4", 400),
        ("/stream/sub/../a.mp4", 400),
        ("/stream/%2e%2e/%2e%2e/etc/passwd.mp4", 400),
        ("/stream/..%2fa.mp4", 400),
        ("/stream/sub%2f1.m4s", 400),
        ("/stream/%00.mp4", 400),
        ("/stream//a.mp4", 400),
        ("/stream", 404),
        ("/page/../src/lib.rs", 404),
        ("/page/", 404),
        ("/keys.txt", 404),
        ("/a.mp4", 404),
    ] {
        let reply = served.get(path);
        assert_eq!(reply.status, status, "{path}");
        assert!(!reply.body.windows(6).any(|part| part == b"secret"), "{path}");
    }
    assert_eq!(served.ask("POST", "/stream/a.mp4", &[], "x").status, 405);
    assert_eq!(served.ask("POST", "/", &[], "x").status, 405);
}

#[cfg(unix)]
#[test]
fn links_lead_nowhere_else() {
    use std::os::unix::fs::symlink;
    let served = Served::with_key();
    let outside = Scratch::new();
    fs::write(outside.file("secret.mp4"), "secret").unwrap();
    symlink(outside.file("secret.mp4"), served.folder.file("link.mp4")).unwrap();
    symlink(outside.path(), served.folder.file("away")).unwrap();
    symlink("a.mp4", served.folder.file("near.mp4")).unwrap();
    fs::write(served.folder.file("keys.text"), "secret").unwrap();
    fs::create_dir(served.folder.file(".hidden")).unwrap();
    fs::write(served.folder.file(".hidden/b.mp4"), "secret").unwrap();
    symlink("keys.text", served.folder.file("keys.mp4")).unwrap();
    symlink(".hidden", served.folder.file("open")).unwrap();
    for path in ["/stream/keys.mp4", "/stream/open/b.mp4"] {
        let reply = served.get(path);
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(reply.body, b"a symbolic link leads to what is not served\n");
    }
    for path in ["/stream/link.mp4", "/stream/away/secret.mp4"] {
        let reply = served.get(path);
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(reply.body, b"a symbolic link leads out of the folder\n");
    }
    assert_eq!(served.get("/stream/near.mp4").body, pattern(1000));
}

#[test]
fn the_page_is_this_servers_own() {
    let served = Served::with_key();
    for path in ["/", "/page/main.js", "/page/style.css", "/info"] {
        let reply = served.get(path);
        assert_eq!(reply.status, 200, "{path}");
        assert_eq!(reply.header("access-control-allow-origin"), None, "{path}");
        assert_eq!(reply.header("cross-origin-resource-policy"), Some("same-origin"), "{path}");
    }
    let policy = served.get("/");
    assert!(policy.header("content-security-policy").unwrap().contains("frame-ancestors 'none'"));
    let info = served.get("/info").json();
    assert_eq!(info["manifests"], json!(["stream/a.mpd"]));
    assert_eq!(info["kids"], json!(["2f05477f-c24b-b4fa-efd8-6517156daffc"]));
    assert!(!info.to_string().contains("b50d1b25"), "keys are in licences alone");
}

/// Another name that resolves to 127.0.0.1 must not make the server a part of that site.
#[test]
fn other_names_are_refused() {
    let served = Served::with_key();
    let port = served.port;
    let get =
        |host: &str| served.raw(format!("GET /info HTTP/1.1\r\n{host}\r\n").as_bytes()).unwrap();
    for name in ["127.0.0.1", "localhost", "LOCALHOST"] {
        assert_eq!(get(&format!("Host: {name}:{port}\r\n")).status, 200, "{name}");
    }
    for name in
        ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "[::1]", "0.0.0.0"]
    {
        assert_eq!(get(&format!("Host: {name}:{port}\r\n")).status, 421, "{name}");
    }
    for host in ["Host: 127.0.0.1\r\n", "Host: 127.0.0.1:1\r\n", "Host:\r\n"] {
        assert_eq!(get(host).status, 421, "{host}");
    }
    assert_eq!(get("").status, 400);
    assert_eq!(get(&format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n")).status, 400);
}

#[test]
fn licences_are_those_of_the_specification() {
    let served = Served::with_key();
    // The forms of 9.1.3 and 9.1.4, and without the type, which may be absent.
    for request in [
        r#"{"kids":["LwVHf8JLtPrv2GUXFW2v_A"],"type":"temporary"}"#,
        r#"{"kids":["LwVHf8JLtPrv2GUXFW2v_A"]}"#,
        r#"{"kids":["LwVHf8JLtPrv2GUXFW2v_A","LwVHf8JLtPrv2GUXFW2v_A"]}"#,
    ] {
        let reply = served.licence(request);
        assert_eq!(
            (reply.status, String::from_utf8(reply.body.clone()).unwrap()),
            (200, LICENCE.into())
        );
        assert_eq!(reply.json()["type"], "temporary");
        assert_eq!(reply.header("cache-control"), Some("no-store"));
    }
    assert!(served.log.0.lock().unwrap().is_empty());
}

#[test]
fn unknown_kids_are_told() {
    let served = Served::with_key();
    let reply = served.licence(&format!(r#"{{"kids":["{OTHER}"],"type":"temporary"}}"#));
    let zero = "00000000-0000-0000-0000-000000000000";
    assert_eq!(reply.status, 404);
    assert_eq!(reply.json(), json!({ "error": "no key is given for these KIDs", "kids": [zero] }));
    // One of two: what is there is given.
    let reply = served.licence(&format!(r#"{{"kids":["{OTHER}","LwVHf8JLtPrv2GUXFW2v_A"]}}"#));
    assert_eq!((reply.status, reply.json()), (200, serde_json::from_str(LICENCE).unwrap()));
    let said = format!("a licence was asked for KID {zero}, for which no key is given");
    assert_eq!(*served.log.0.lock().unwrap(), [said.clone(), said]);
}

#[test]
fn malformed_licence_requests_are_refused() {
    let served = Served::with_key();
    let many = format!(r#"{{"kids":[{}]}}"#, vec![format!("\"{OTHER}\""); 257].join(","));
    for body in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"kids":[]}"#,
        r#"{"kids":"LwVHf8JLtPrv2GUXFW2v_A"}"#,
        r#"{"kids":[1]}"#,
        r#"{"kids":["LwVHf8JLtPrv2GUXFW2v_A=="]}"#,
        r#"{"kids":["LwVHf8JLtPrv2GUXFW2v/A"]}"#,
        r#"{"kids":["AAAA"]}"#,
        r#"{"kids":["LwVHf8JLtPrv2GUXFW2v_A"],"type":"persistent-license"}"#,
        &many,
    ] {
        let reply = served.licence(body);
        assert_eq!(reply.status, 400, "{body}");
        assert!(reply.json()["error"].is_string());
    }
    let deep = "[".repeat(60_000);
    assert_eq!(served.licence(&deep).status, 400);
    assert_eq!(served.licence(&"x".repeat(70_000)).status, 413);
    assert_eq!(served.get("/licence").status, 405);
}

/// Pages of other sites get neither the keys nor a preflight that lets them ask.
#[test]
fn licences_are_for_named_origins() {
    let origins = vec!["https://player.example.com".to_owned()];
    let keys = vec![KEY.parse().unwrap()];
    let served = Served::new(Options { keys, origins, ..Options::default() });
    let body = r#"{"kids":["LwVHf8JLtPrv2GUXFW2v_A"]}"#;
    let ask = |method: &str, origin: &str| {
        served.ask(method, &served.licences, &[("Origin", origin)], body)
    };
    for origin in [
        "https://evil.example",
        "null",
        "http://127.0.0.1:1",
        "https://player.example.com.evil.example",
    ] {
        for method in ["POST", "OPTIONS"] {
            let reply = ask(method, origin);
            assert_eq!(
                (reply.status, reply.header("access-control-allow-origin")),
                (403, None),
                "{origin}"
            );
        }
    }
    let reply = ask("POST", "https://player.example.com");
    assert_eq!((reply.status, reply.body), (200, LICENCE.into()));
    assert_eq!(reply.headers["access-control-allow-origin"], "https://player.example.com");
    assert_eq!(reply.headers["vary"], "Origin");
    assert_eq!(ask("OPTIONS", "https://player.example.com").status, 204);
    assert_eq!(ask("POST", &format!("http://localhost:{}", served.port)).status, 200);
    // A program sends no origin: it is not a page.
    assert_eq!(served.ask("POST", &served.licences, &[], body).status, 200);
    // Another user's program does not know the token.
    for path in [
        "/licence",
        "/licence?",
        "/licence?00000000000000000000000000000000",
        &served.licences[..20],
    ] {
        for origin in ["https://player.example.com", &format!("http://localhost:{}", served.port)] {
            assert_eq!(served.ask("POST", path, &[("Origin", origin)], body).status, 403, "{path}");
        }
        assert_eq!(served.ask("POST", path, &[], body).status, 403, "{path}");
    }
}

#[test]
fn malformed_requests_are_refused() {
    let served = Served::with_key();
    let host = format!("Host: {}\r\n", served.host());
    let long = "x".repeat(20_000);
    for (request, status) in [
        ("GARBAGE\r\n\r\n".to_owned(), 400),
        ("\u{1}\u{2}\u{3}\r\n\r\n".into(), 400),
        (format!("GET / HTTP/9.9\r\n{host}\r\n"), 400),
        (format!("GET http://evil.example/ HTTP/1.1\r\n{host}\r\n"), 400),
        (format!("DELETE / HTTP/1.1\r\n{host}\r\n"), 405),
        (format!("CONNECT evil.example:443 HTTP/1.1\r\n{host}\r\n"), 405),
        (format!("GET /{long} HTTP/1.1\r\n{host}\r\n"), 431),
        (format!("GET / HTTP/1.1\r\n{host}X: {long}\r\n\r\n"), 431),
        (format!("GET / HTTP/1.1\r\n{host}{}\r\n", "X: y\r\n".repeat(100)), 431),
        (format!("POST /licence HTTP/1.1\r\n{host}\r\n"), 411),
        (
            format!("POST /licence HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            411,
        ),
        (format!("POST /licence HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\n"), 400),
        (format!("POST /licence HTTP/1.1\r\n{host}Content-Length: +1\r\n\r\n"), 400),
        (
            format!("POST /licence HTTP/1.1\r\n{host}Content-Length: 99999999999999999999\r\n\r\n"),
            413,
        ),
        (
            format!(
                "POST /licence HTTP/1.1\r\n{host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx"
            ),
            400,
        ),
    ] {
        let reply = served.raw(request.as_bytes()).unwrap();
        assert_eq!(reply.status, status, "{request:.60}");
        assert_eq!(reply.header("connection"), Some("close"));
    }
    // A request that ends in the middle has nobody who waits for an answer.
    let mut stream = served.connect();
    stream.write_all(b"GET / HT").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert!(Reply::read(stream).is_none());
    assert_eq!(served.get("/").status, 200);
}

/// Requests that arrive byte by byte end when their time is up, and keep nobody else waiting.
#[test]
fn slow_requests_end() {
    let served =
        Served::new(Options { patience: Duration::from_millis(300), ..Options::default() });
    let slow = |first: &'static [u8]| {
        let mut stream = served.connect();
        thread::spawn(move || {
            let mut writer = stream.try_clone().unwrap();
            writer.write_all(first).unwrap();
            let feed = thread::spawn(move || {
                while writer.write_all(b"x").is_ok() {
                    thread::sleep(Duration::from_millis(20));
                }
            });
            let mut bytes = [0; 12];
            let read = stream.read_exact(&mut bytes);
            stream.shutdown(Shutdown::Both).unwrap_or_default();
            feed.join().unwrap();
            read.map(|()| bytes)
        })
    };
    let waiting: Vec<_> = [&b"GET /"[..], b"GET / HTTP/1.1\r\nX-Slow: ", b""].map(slow).into();
    assert_eq!(served.get("/").status, 200);
    for one in waiting {
        assert_eq!(&one.join().unwrap().unwrap(), b"HTTP/1.1 408");
    }
}

#[test]
fn many_connections_are_answered_or_refused() {
    let served = Served::with_key();
    // Open and silent: as many as there may be.
    let silent: Vec<_> = (0..64).map(|_| served.connect()).collect();
    let reply = loop {
        // The server may not have taken all of them yet.
        let reply = served.get("/stream/a.mp4");
        if reply.status != 200 {
            break reply;
        }
    };
    assert_eq!(reply.status, 503);
    drop(silent);
    while served.get("/stream/a.mp4").status == 503 {
        thread::yield_now();
    }
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(served.get("/stream/a.mp4").body, pattern(1000));
                }
            });
        }
    });
}

#[test]
fn what_cannot_be_played_is_an_error() {
    let folder = Scratch::new();
    let of = |name: &str| Subject::of_path(&folder.file(name)).unwrap_err().to_string();
    assert!(matches!(Subject::of_path(folder.path()), Err(Error::NoManifest { .. })));
    assert!(of("absent").starts_with("cannot read "));
    fs::write(folder.file("a.txt"), "").unwrap();
    fs::write(folder.file("1.m4s"), "").unwrap();
    for name in ["a.txt", "1.m4s"] {
        assert!(of(name).contains("neither a manifest"), "{name}");
    }
    for url in
        ["ftp://a/b.mpd", "http://a.mpd", "https://a/b.html", "http://a/b .mpd", "://a/b.mpd"]
    {
        assert!(matches!(Subject::of_url(url), Err(Error::Url { .. })), "{url}");
    }
    for url in ["http://a/b.mpd", "HTTPS://a:8080/b/c.M3U8?token=x#y"] {
        assert!(Subject::of_url(url).is_ok(), "{url}");
    }
    let quiet: Arc<Log> = Arc::default();
    let url = Subject::of_url("http://a/b.mpd").unwrap();
    let first = Player::bind(url.clone(), Options::default(), quiet.clone()).unwrap();
    let port = port(&first);
    let again = Player::bind(url, Options { port, ..Options::default() }, quiet);
    assert!(matches!(again, Err(Error::Listen { .. })));
}

/// Multivariant playlists are what a player begins with; those of single tracks are taken only for want of one.
#[test]
fn manifests_are_found_in_order() {
    let folder = Scratch::new();
    let write = |name: &str, text: &str| fs::write(folder.file(name), text).unwrap();
    let of = || {
        let player = Player::bind(
            Subject::of_path(folder.path()).unwrap(),
            Options::default(),
            Arc::<Log>::default(),
        );
        let player = player.unwrap();
        let (stopper, url) = (player.stopper(), player.url());
        let thread = thread::spawn(move || player.run());
        let address = url.split('/').nth(2).unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .write_all(format!("GET /info HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes())
            .unwrap();
        let info = Reply::read(stream).unwrap().json();
        stopper.stop();
        thread.join().unwrap();
        info["manifests"].clone()
    };
    write("video.m3u8", "#EXTM3U\n#EXTINF:1,\na.m4s\n");
    assert_eq!(of(), json!(["stream/video.m3u8"]));
    for name in ["main-cenc.m3u8", "main-cbcs.m3u8"] {
        write(name, "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nvideo.m3u8\n");
    }
    write("a film.mpd", "<MPD/>");
    assert_eq!(
        of(),
        json!(["stream/a%20film.mpd", "stream/main-cbcs.m3u8", "stream/main-cenc.m3u8"])
    );
}

#[test]
fn keys_are_not_in_what_is_printed_of_options() {
    let key: Key = KEY.parse().unwrap();
    let options = Options { keys: vec![key], ..Options::default() };
    assert!(!format!("{options:?}").contains("b50d1b25"));
}
