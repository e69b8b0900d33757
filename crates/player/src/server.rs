//! The server: connections, and what answers which path.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use lanelock_packager::{Key, Observer};
use serde_json::json;
use zeroize::Zeroizing;

use crate::{
    answer::{self, Answer, Status},
    files, licence, page,
    request::{Method, Request, Unread},
    subject::{Error, Subject},
};

/// Connections at once. A browser opens six or so.
const CONNECTIONS: usize = 64;

/// How a stream is served.
#[derive(Clone, Debug)]
pub struct Options {
    /// The port; 0 is a free one that the system chooses.
    pub port: u16,
    /// The keys of the licences.
    pub keys: Vec<Key>,
    /// Origins whose pages may ask for licences, too, as `https://player.example.com`: they get the keys.
    pub origins: Vec<String>,
    /// How long a request may take to arrive whole.
    pub patience: Duration,
}

impl Default for Options {
    /// Any port, no keys, no origins, 10 seconds.
    fn default() -> Self {
        let patience = Duration::from_secs(10);
        Self { port: 0, keys: Vec::new(), origins: Vec::new(), patience }
    }
}

/// A server of one stream.
pub struct Player {
    listener: TcpListener,
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
    site: Arc<Site>,
}

/// Ends [`Player::run`].
#[derive(Clone, Debug)]
pub struct Stopper {
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
}

impl Stopper {
    /// Lets `run` return. Answers that are being written break off when the program ends.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        // `accept` waits for a connection: here it is.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }
}

impl Player {
    /// Listens on 127.0.0.1. `observer` is warned of licences that cannot be given.
    ///
    /// # Errors
    /// The port is taken.
    pub fn bind(
        subject: Subject,
        options: Options,
        observer: Arc<dyn Observer + Send>,
    ) -> Result<Self, Error> {
        let Options { port, keys, origins, patience } = options;
        let listen = |error| Error::Listen { port, error };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let port = address.port();
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
        let busy = AtomicUsize::new(0);
        let mut random = [0; 16];
        getrandom::fill(&mut random)
            .map_err(|error| Error::Random { reason: error.to_string() })?;
        let token = base16ct::lower::encode_string(&random);
        let site =
            Arc::new(Site { token, subject, keys, origins, patience, hosts, observer, busy });
        Ok(Self { listener, address, stopped: Arc::default(), site })
    }

    /// Where the page is. What stands behind `#` lets the page have licences: it is secret, as the keys are.
    pub fn url(&self) -> String {
        format!("http://{}/#{}", self.address, self.site.token)
    }

    /// Where licences are, for players that are no page of this server.
    pub fn licence_url(&self) -> String {
        format!("http://{}/licence?{}", self.address, self.site.token)
    }

    /// What ends [`run`](Self::run), from another thread.
    pub fn stopper(&self) -> Stopper {
        Stopper { address: self.address, stopped: self.stopped.clone() }
    }

    /// Answers until it is stopped. A connection that cannot be taken is the end of that connection.
    pub fn run(&self) {
        loop {
            let connection = self.listener.accept();
            if self.stopped.load(Ordering::Acquire) {
                return;
            }
            match connection {
                Ok((stream, _)) => self.site.clone().take(stream),
                // As when there are too many files open: so that this does not turn in a circle.
                Err(_) => thread::sleep(Duration::from_millis(50)),
            }
        }
    }
}

/// What every connection needs.
struct Site {
    /// What a licence request must have as its query: other users of this machine can reach the server.
    token: String,
    subject: Subject,
    keys: Vec<Key>,
    origins: Vec<String>,
    patience: Duration,
    /// The values of `Host` by which this server is called.
    hosts: [String; 2],
    observer: Arc<dyn Observer + Send>,
    /// Connections that are open.
    busy: AtomicUsize,
}

/// A connection that counts.
struct Turn(Arc<Site>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Site {
    fn take(self: Arc<Self>, mut stream: TcpStream) {
        let open = self.busy.fetch_add(1, Ordering::AcqRel);
        let turn = Turn(self);
        if open >= CONNECTIONS {
            let _ = Answer::words(Status::BUSY, "too many connections").write(&mut stream, false);
            return;
        }
        // Without a thread, the connection is closed.
        let _ = thread::Builder::new().spawn(move || turn.0.serve(stream));
    }

    fn serve(&self, mut stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let done = match Request::read(&mut stream, self.patience) {
            Ok(request) => {
                let head = request.method == Method::Head;
                self.answer(&request).write(&mut stream, head)
            }
            Err(Unread::Refused(answer)) => answer.write(&mut stream, false),
            Err(Unread::Gone) => Err(io::ErrorKind::UnexpectedEof.into()),
        };
        if done.is_ok() {
            answer::linger(&mut stream);
        }
    }

    fn answer(&self, request: &Request) -> Answer {
        // A page of another site whose name resolves to 127.0.0.1 sends that name (DNS rebinding).
        if !self.hosts.iter().any(|host| host.eq_ignore_ascii_case(&request.host)) {
            let say = format!("this server is {}, and no other name is its own", self.hosts[0]);
            return Answer::words(Status::MISDIRECTED, &say);
        }
        let path = request.path.as_str();
        if let (Some(path), Some(root)) = (path.strip_prefix("/stream/"), &self.subject.root) {
            return open_to_all(match request.method {
                Method::Get => files::media(root, path, request.range.as_deref()),
                Method::Head => files::media(root, path, None),
                Method::Options => allow(Answer::empty(Status::NO_CONTENT), "GET, HEAD"),
                Method::Post => Answer::not_allowed("GET, HEAD, OPTIONS"),
            });
        }
        if path == "/licence" {
            return self.licence(request);
        }
        let answer = match path {
            "/" => page::file("index.html"),
            "/info" => Some(self.info()),
            _ => path.strip_prefix("/page/").and_then(page::file),
        };
        match (answer, request.method) {
            (None, _) => Answer::words(Status::NOT_FOUND, "there is nothing here"),
            (Some(answer), Method::Get | Method::Head) => own(answer),
            (Some(_), _) => Answer::not_allowed("GET, HEAD"),
        }
    }

    /// Licences are keys: for the page itself, and for pages of origins that were named.
    fn licence(&self, request: &Request) -> Answer {
        let foreign = request.origin.as_deref().filter(|origin| {
            let own = origin.strip_prefix("http://");
            !own.is_some_and(|own| self.hosts.iter().any(|host| host.eq_ignore_ascii_case(own)))
        });
        let Some(origin) = foreign else {
            return own(match request.method {
                Method::Post => self.licence_for(request),
                _ => Answer::not_allowed("POST"),
            });
        };
        if !self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin)) {
            let say = "licences are for the page of this server; lanelock play --allow-origin names others";
            return own(Answer::words(Status::FORBIDDEN, say));
        }
        let answer = match request.method {
            Method::Post => self.licence_for(request),
            Method::Options => allow(Answer::empty(Status::NO_CONTENT), "POST"),
            _ => Answer::not_allowed("POST, OPTIONS"),
        };
        answer.with("Access-Control-Allow-Origin", origin).with("Vary", "Origin")
    }

    fn licence_for(&self, request: &Request) -> Answer {
        if request.query == self.token {
            return licence::licence(&self.keys, &request.body, &*self.observer);
        }
        let say = "the address of licences ends with what stands behind # in the address of the page: open \
                   that one as it was printed";
        Answer::words(Status::FORBIDDEN, say)
    }

    /// What the page has to know.
    fn info(&self) -> Answer {
        let kids: Vec<_> = self.keys.iter().map(Key::kid_text).collect();
        let Subject { name, manifests, root } = &self.subject;
        let info = json!({
            "name": name,
            "manifests": manifests,
            "local": root.is_some(),
            "kids": kids,
            "version": env!("CARGO_PKG_VERSION"),
        });
        Answer::json(Status::OK, Zeroizing::new(info.to_string()))
    }
}

/// For pages of this server alone.
fn own(answer: Answer) -> Answer {
    answer.with("Cross-Origin-Resource-Policy", "same-origin")
}

/// For pages of every origin: players elsewhere may play the stream.
fn open_to_all(answer: Answer) -> Answer {
    answer
        .with("Access-Control-Allow-Origin", "*")
        .with("Access-Control-Expose-Headers", "Content-Length, Content-Range, Accept-Ranges")
        .with("Cross-Origin-Resource-Policy", "cross-origin")
}

/// What a page of another origin may send (the answer to a preflight request).
fn allow(answer: Answer, methods: &'static str) -> Answer {
    answer
        .with("Access-Control-Allow-Methods", methods)
        .with("Access-Control-Allow-Headers", "Content-Type, Range")
        .with("Access-Control-Max-Age", "600")
}
