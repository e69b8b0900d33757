//! The client of SPEKE and a server that answers, delays, fails and lies.

use std::{
    fmt::Write as _,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use lanelock_cpix::{
    At, CpixError, Document, MOST_BYTES, ReadOptions, TrackFacts, TrackSort,
    speke::{Client, Patience, SpekeError, Wish},
};
use lanelock_packager::{Scheme, drm};

const TOKEN: &str = "Bearer 0123-very-secret-4567";

type Handler = dyn Fn(usize, &str) -> Vec<u8> + Send + Sync;

/// A server on this machine. It gives a handler the number and the body of each request, and sends back
/// what comes out.
struct Server {
    url: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn new(handler: impl Fn(usize, &str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!(
            "http://{}/speke/v2.0/copyProtection?tenant=very-secret",
            listener.local_addr().unwrap()
        );
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (handler, seen): (Arc<Handler>, _) = (Arc::new(handler), Arc::clone(&heads));
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let (handler, seen) = (Arc::clone(&handler), Arc::clone(&seen));
                thread::spawn(move || serve(stream.unwrap(), number, &*handler, &seen));
            }
        });
        Self { url, heads }
    }

    fn client(&self, timeout: Duration) -> Client {
        let patience = Patience { timeout, attempts: 3, pause: Duration::from_millis(1) };
        let mut client = Client::new(&self.url, patience).unwrap();
        client.header("Authorization", TOKEN).unwrap();
        client
    }

    fn requests(&self) -> usize {
        self.heads.lock().unwrap().len()
    }
}

fn serve(mut stream: TcpStream, number: usize, handler: &Handler, seen: &Mutex<Vec<String>>) {
    let mut bytes = Vec::new();
    let (head, body) = loop {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).unwrap();
        if read == 0 {
            return;
        }
        bytes.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let len = head.lines().find_map(|line| {
            line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned)
        });
        if body.len() >= len.unwrap().parse().unwrap() {
            break (head.to_owned(), body.to_owned());
        }
    };
    seen.lock().unwrap().push(head);
    // The client may have gone away.
    let _ = stream.write_all(&handler(number, &body));
}

fn http(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let len = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {len}\r\nConnection: close\r\n{headers}\r\n{body}"
    )
    .into_bytes()
}

fn ok(body: &str) -> Vec<u8> {
    http("200 OK", "Content-Type: application/xml; charset=utf-8\r\nX-Speke-Version: 2.0\r\n", body)
}

/// What is done to a right answer.
type Change = fn(String) -> String;

/// What a key server makes of a request: text is put into it, so that it shares nothing with the client.
fn answer(request: &str) -> String {
    let mut out = String::new();
    let mut system = String::new();
    for (number, line) in request.lines().enumerate() {
        let text = line.trim();
        if let Some(start) =
            text.strip_prefix("<ContentKey ").and_then(|line| line.strip_suffix("/>"))
        {
            let digit = number % 10;
            let _ = write!(
                out,
                "<ContentKey {start}><Data><pskc:Secret><pskc:PlainValue>AAAAAAAAAAAAAAAAAAAA{digit}A==</pskc:PlainValue>\
                 </pskc:Secret></Data></ContentKey>"
            );
            continue;
        }
        if let Some(rest) = text.strip_prefix("<DRMSystem systemId=\"") {
            rest[..36].clone_into(&mut system);
        }
        let more: String = match text {
            "<PSSH/>" => {
                let id: drm::System =
                    if system.starts_with("edef") { "widevine" } else { "playready" }
                        .parse()
                        .unwrap();
                let key = lanelock_packager::Key::new([1; 16], [2; 16]);
                let raw = drm::pssh(id, Scheme::Cbcs, &[key]).unwrap().raw;
                format!("<PSSH>{}</PSSH>", base64(&raw))
            }
            "<ContentProtectionData/>" => {
                "<ContentProtectionData>PGEvPg==</ContentProtectionData>".into()
            }
            "<HLSSignalingData playlist=\"media\"/>" => {
                "<HLSSignalingData playlist=\"media\">I0VYVA==</HLSSignalingData>".into()
            }
            _ => text.into(),
        };
        out.push_str(&more);
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    use base64ct::Encoding as _;
    base64ct::Base64::encode_string(bytes)
}

fn wish() -> Wish {
    let mut wish = Wish::new("content-7", Scheme::Cbcs);
    wish.systems = ["widevine", "playready", "fairplay"].map(|name| name.parse().unwrap()).into();
    wish
}

fn long() -> Duration {
    Duration::from_mins(1)
}

fn fetch(server: &Server) -> Result<Document, SpekeError> {
    let request = wish().request().unwrap();
    let result = server.client(long()).fetch(&request, &ReadOptions::default());
    if let Err(error) = &result {
        let text = format!("{error} {error:?}");
        assert!(!text.contains("secret") && !text.contains("0123"), "{text}");
    }
    result
}

#[test]
fn keys_come_from_a_server() {
    let server = Server::new(|_, body| ok(&answer(body)));
    let document = fetch(&server).unwrap();
    assert_eq!(document.keys.len(), 2);
    assert_eq!(document.drm_systems.len(), 6);
    assert_eq!(document.drm_systems[0].content_protection_data.as_deref(), Some("<a/>"));
    assert_eq!(document.drm_systems[2].hls_signaling[0].lines, "#EXT");
    let sort = TrackSort::Video { pixels: None, frame_rate: None, hdr: None, wcg: None };
    let video = document.key_for(&TrackFacts::new(sort), At::NoPeriod).unwrap();
    let audio = document
        .key_for(&TrackFacts::new(TrackSort::Audio { channels: None }), At::NoPeriod)
        .unwrap();
    assert_ne!(video, audio);
    let heads = server.heads.lock().unwrap();
    let head = heads[0].to_lowercase();
    assert!(
        head.starts_with("post /speke/v2.0/copyprotection?tenant=very-secret http/1.1"),
        "{head}"
    );
    for header in [
        "x-speke-version: 2.0",
        "x-speke-user-agent: lanelock/",
        "content-type: application/xml",
        "authorization: bearer 0123-very-secret-4567",
    ] {
        assert!(head.contains(header), "{head}");
    }
    assert!(!format!("{:?}", server.client(long())).contains("secret"));
}

#[test]
fn keys_for_periods() {
    let server = Server::new(|_, body| ok(&answer(body)));
    let mut wish = Wish::shared("content-7", Scheme::Cenc);
    wish.periods = vec![4, 5, 6];
    let document =
        server.client(long()).fetch(&wish.request().unwrap(), &ReadOptions::default()).unwrap();
    assert_eq!((document.keys.len(), document.periods.len(), document.rules.len()), (3, 3, 3));
    let audio = TrackFacts::new(TrackSort::Audio { channels: None });
    let kids = [4, 5, 6].map(|index| document.key_for(&audio, At::Index(index)).unwrap().kid);
    assert!(kids[0] != kids[1] && kids[1] != kids[2]);
    assert!(document.key_for(&audio, At::Index(7)).is_err());
    wish.periods.push(4);
    assert!(matches!(wish.request(), Err(SpekeError::Wish(_))));
}

#[test]
fn what_passes_is_tried_again() {
    let server = Server::new(|number, body| match number {
        0 => http("503 Service Unavailable", "", "very-secret"),
        1 => Vec::new(),
        _ => ok(&answer(body)),
    });
    assert_eq!(fetch(&server).unwrap().keys.len(), 2);
    assert_eq!(server.requests(), 3);
    let server = Server::new(|_, _| http("500 Oops", "", ""));
    assert_eq!(fetch(&server), Err(SpekeError::Status { status: 500 }));
    assert_eq!(server.requests(), 3);
    // Nobody listens where a listener was.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let patience = Patience { attempts: 2, pause: Duration::ZERO, ..Patience::default() };
    let client = Client::new(&format!("http://{gone}/"), patience).unwrap();
    let error = client.fetch(&wish().request().unwrap(), &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, SpekeError::Connect(_)), "{error}");
}

#[test]
fn a_server_that_is_late() {
    let server = Server::new(|_, _| {
        thread::sleep(long());
        Vec::new()
    });
    let limit = Duration::from_millis(100);
    let request = wish().request().unwrap();
    let result = server.client(limit).fetch(&request, &ReadOptions::default());
    assert_eq!(result, Err(SpekeError::Late(limit)));
    // Or begins, and does not end.
    let server = Server::new(|_, _| {
        b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 99\r\n\r\n<CPIX".to_vec()
    });
    let result = server.client(long()).fetch(&request, &ReadOptions::default());
    assert!(matches!(result, Err(SpekeError::Connect(_))), "{result:?}");
}

#[test]
fn what_the_server_says_is_not_repeated() {
    for status in ["401 Unauthorized", "403 Forbidden", "422 Unprocessable Entity"] {
        let server = Server::new(move |_, _| {
            let again = format!("X-Was: {TOKEN}\r\nContent-Type: application/xml\r\n");
            http(status, &again, &format!("your header was {TOKEN}"))
        });
        let error = fetch(&server).unwrap_err();
        assert!(error.to_string().contains(&status[..3]), "{error}");
        assert_eq!(server.requests(), 1);
    }
}

#[test]
fn redirects_are_not_followed() {
    let other = Server::new(|_, body| ok(&answer(body)));
    let to = other.url.clone();
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let to = to.clone();
        let server = Server::new(move |_, _| http(status, &format!("Location: {to}\r\n"), ""));
        assert!(matches!(fetch(&server), Err(SpekeError::Redirect(_))));
    }
    assert_eq!(other.requests(), 0);
}

#[test]
fn lies() {
    let lie = |change: Change| {
        let server = Server::new(move |_, body| ok(&change(answer(body))));
        let error = fetch(&server).unwrap_err();
        assert_eq!(server.requests(), 1, "{error}");
        error
    };
    let cases: [(Change, &str); 14] = [
        (|xml| xml.replacen("content-7", "content-8", 1), "contentId"),
        (|xml| xml.replace("contentId=\"content-7\"", ""), "contentId"),
        (|xml| cut(&xml, "<ContentKey ", "</ContentKey>"), "no ContentKey with the KID"),
        (|xml| double(&xml, "<ContentKey ", "</ContentKey>"), "there twice"),
        (
            |xml| {
                double(&xml, "<ContentKey ", "</ContentKey>").replacen(
                    "kid=\"",
                    "kid=\"00000000-0000-0000-0000-000000000000\" id=\"",
                    1,
                )
            },
            "not in the request",
        ),
        (|xml| cut(&xml, "<Data>", "</Data>"), "has no key"),
        (|xml| xml.replacen("AAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAA", 1), "not 16 bytes"),
        (|xml| xml.replacen("\"cbcs\"", "\"cenc\"", 1), "another scheme"),
        (|xml| cut(&xml, "<DRMSystem ", "</DRMSystem>"), "is missing"),
        (|xml| cut(&xml, "<PSSH>", "</PSSH>"), "no PSSH"),
        (|xml| xml.replacen("\"VIDEO\"", "\"UHD\"", 1), "usage rules are not"),
        (
            |xml| double(&xml, "<ContentKeyUsageRule ", "</ContentKeyUsageRule>"),
            "usage rules are not",
        ),
        (|xml| xml.replacen("<CPIX ", "<!DOCTYPE CPIX [<!ENTITY a \"b\">]><CPIX ", 1), "DOCTYPE"),
        (|_| "<html/>".into(), "root element is not CPIX"),
    ];
    for (number, (change, what)) in cases.into_iter().enumerate() {
        let error = lie(change).to_string();
        assert!(error.contains(what), "{number}: {error}");
    }
    // Keys of video and audio change places: the rules say otherwise.
    let swapped = lie(|xml| {
        xml.replace("\"VIDEO\"", "\"x\"")
            .replace("\"AUDIO\"", "\"VIDEO\"")
            .replace("\"x\"", "\"AUDIO\"")
    });
    assert!(swapped.to_string().contains("usage rules"), "{swapped}");
}

fn cut(xml: &str, start: &str, end: &str) -> String {
    let at = xml.find(start).unwrap();
    let after = at + xml[at..].find(end).unwrap() + end.len();
    format!("{}{}", &xml[..at], &xml[after..])
}

fn double(xml: &str, start: &str, end: &str) -> String {
    let at = xml.find(start).unwrap();
    let after = at + xml[at..].find(end).unwrap() + end.len();
    format!("{}{}{}", &xml[..after], &xml[at..after], &xml[after..])
}

#[test]
fn what_is_no_answer_at_all() {
    let cases: [(Vec<u8>, SpekeError); 4] = [
        (http("200 OK", "Content-Type: text/html\r\n", "<html/>"), SpekeError::ContentType),
        (http("200 OK", "", "<CPIX/>"), SpekeError::ContentType),
        (http("204 No Content", "", ""), SpekeError::Status { status: 204 }),
        (
            http("200 OK", "Content-Type: application/xml\r\nX-Speke-Version: 1.0\r\n", "<CPIX/>"),
            SpekeError::Version,
        ),
    ];
    for (bytes, expected) in cases {
        let server = Server::new(move |_, _| bytes.clone());
        assert_eq!(fetch(&server), Err(expected));
    }
    let server = Server::new(|_, _| ok(&" ".repeat(MOST_BYTES + 2)));
    assert_eq!(fetch(&server), Err(SpekeError::TooLarge));
    let server = Server::new(|_, _| ok("\u{1}<<"));
    assert!(matches!(fetch(&server), Err(SpekeError::Cpix(CpixError::Xml { .. }))));
}

#[test]
fn urls_and_headers() {
    let new = |url: &str| Client::new(url, Patience::default());
    for (url, what) in [
        ("key server", "no URL"),
        ("http://keys.example/", "has to be https"),
        ("http://127.0.0.1.example/", "has to be https"),
        ("ftp://keys.example/", "neither"),
        ("https://me:very-secret@keys.example/", "name or password"),
    ] {
        let error = new(url).unwrap_err().to_string();
        assert!(error.contains(what) && !error.contains("secret"), "{error}");
    }
    for url in ["https://keys.example/a", "http://localhost:1/", "http://[::1]:1/"] {
        assert!(new(url).is_ok());
    }
    let mut client = new("https://keys.example/").unwrap();
    for (name, value) in [
        ("a b", "very-secret"),
        ("x-a", "very-secret\r\nx-b: c"),
        ("Host", "very-secret"),
        ("X-Speke-Version", "1"),
    ] {
        let error = client.header(name, value).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
    }
    client.header("x-api-key", "a").unwrap();
}
