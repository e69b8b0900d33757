//! URLs as inputs and outputs: the same bytes as with files; a run that is killed leaves no manifest, and one
//! that is interrupted leaves nothing. Without the feature `cloud` they are refused.

/// A build without the feature says so, and does not show what may be secret.
#[cfg(not(feature = "cloud"))]
#[test]
fn a_build_without_object_storage_says_so() {
    use crate::support::{Dir, lanelock, pair, stderr};

    let dir = Dir::new();
    let clip = lanelock_testkit::demo_clip();
    let clip = clip.to_str().unwrap();
    let url = "https://me:hunter2@a.example/movie.mp4?sig=SECRET";
    let local = dir.file("out.mp4");
    let local = local.to_str().unwrap();
    let pair = pair();
    for args in [
        &["encrypt", clip, url, "--scheme", "cbcs", "--key", &pair][..],
        &["encrypt", url, local, "--scheme", "cbcs", "--key", &pair],
        &["encrypt", clip, clip, "-o", url, "--scheme", "cbcs", "--key", &pair],
        &["decrypt", url, local, "--key", &pair],
        &["rewrap", url, local, "--scheme", "cenc", "--key", &pair, "--to-key", &pair],
        &["inspect", url],
        &["package", clip, "-o", url, "--clear", "all"],
        &["package", url, "-o", local, "--clear", "all"],
    ] {
        let output = lanelock().args(args).output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains("https://a.example/movie.mp4 is a URL"), "{args:?}: {text}");
        assert!(text.contains("--features cloud"), "{args:?}: {text}");
        assert!(!text.contains("hunter2") && !text.contains("SECRET"), "{args:?}: {text}");
        assert_eq!(dir.names(), [""; 0], "{args:?}");
    }
}

#[cfg(feature = "cloud")]
mod with {
    use std::{
        collections::BTreeMap,
        fs,
        io::{Read as _, Write as _},
        net::{TcpListener, TcpStream},
        path::{Path, PathBuf},
        process::{Child, Command, Output, Stdio},
        sync::{
            Arc, Mutex,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
        time::Duration,
    };

    use lanelock_testkit::{
        Rng, Watchdog, demo_clip, ffmpeg, moto_server,
        object_server::{Answer, ObjectServer, Request},
    };

    use crate::support::{self, Dir, lanelock, other_pair, pair, stderr, succeed};

    const IV: &str = "33333333333333333333333333333333";

    /// The command, with the server as S3.
    fn cloud(server: &ObjectServer, args: &[&str]) -> Command {
        let mut command = lanelock();
        command.args(args).envs(server.s3_variables()).env("NO_PROXY", "127.0.0.1");
        command
    }

    fn fails(server: &ObjectServer, args: &[&str], code: i32, words: &[&str]) {
        let output = cloud(server, args).output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        for word in words {
            assert!(text.contains(word), "{args:?}: {text}");
        }
    }

    /// What a command makes of a local file and in one, and of an object and in one.
    #[test]
    fn objects_are_what_files_are() {
        let dir = Dir::new();
        let server = ObjectServer::new();
        server.store("bucket/in.mp4", fs::read(demo_clip()).unwrap());
        let (pair, other) = (pair(), other_pair());
        let encrypt = ["--scheme", "cbcs", "--iv", IV, "--key", &pair];
        let rewrap = ["--scheme", "cbcs", "--iv", IV, "--key", &pair, "--to-key", &other];
        let steps: [(&str, &str, &str, &[&str]); 4] = [
            ("encrypt", "in", "encrypted", &encrypt),
            ("decrypt", "encrypted", "clear", &["--key", &pair]),
            ("rewrap", "encrypted", "anew", &rewrap),
            ("encrypt", "in", "kept", &[&encrypt[..], &["--layout", "keep"]].concat()),
        ];
        let http = format!("{}/bucket", server.url());
        fs::copy(demo_clip(), dir.file("in.mp4")).unwrap();
        for (verb, from, to, args) in steps {
            let files = [from, to].map(|name| dir.file(&format!("{name}.mp4")));
            succeed(lanelock().arg(verb).args(&files).args(args).arg("-q"));
            let expected = fs::read(&files[1]).unwrap();
            for (source, sink) in
                [("s3://bucket", "s3://bucket"), (&http[..], "s3://bucket"), ("s3://bucket", &http)]
            {
                let paths = [format!("{source}/{from}.mp4"), format!("{sink}/{to}.mp4")];
                let args = [&[verb, &paths[0], &paths[1], "-q"], args].concat();
                succeed(&mut cloud(&server, &args));
                let found = server.object(&format!("bucket/{to}.mp4")).unwrap();
                assert!(*found == expected, "{args:?}");
            }
            // Between a file and an object.
            let (local, object) = (dir.file("local.mp4"), format!("s3://bucket/{from}.mp4"));
            let args = [&[verb, &object, local.to_str().unwrap(), "-q"], args].concat();
            succeed(&mut cloud(&server, &args));
            assert!(fs::read(&local).unwrap() == expected, "{args:?}");
        }
        // Segments with the initialization segment of a server; reports are the same.
        let inspect = |name: &str| {
            String::from_utf8(succeed(&mut cloud(&server, &["inspect", name]))).unwrap()
        };
        let local = dir.file("encrypted.mp4");
        let report = inspect(local.to_str().unwrap()).replacen(local.to_str().unwrap(), "X", 1);
        assert_eq!(
            inspect("s3://bucket/encrypted.mp4").replacen("s3://bucket/encrypted.mp4", "X", 1),
            report
        );
        succeed(&mut cloud(&server, &["inspect", "s3://bucket/encrypted.mp4", "--key", &pair]));
        assert_eq!(server.uploads(), 0);
    }

    /// Several inputs below a prefix, and what is refused.
    #[test]
    fn several_inputs_and_refusals() {
        let dir = Dir::new();
        let server = ObjectServer::new();
        let clip = fs::read(demo_clip()).unwrap();
        server.store("bucket/a.mp4", clip.clone());
        fs::write(dir.file("b.mp4"), &clip).unwrap();
        let (b, pair) = (dir.file("b.mp4"), pair());
        let (b, folder) = (b.to_str().unwrap(), dir.path().to_str().unwrap());
        let with_key = |args: &[&str]| {
            let key = ["--scheme", "cbcs", "-q", "--key", &pair];
            [&["encrypt"], args, &key].concat().into_iter().map(String::from).collect::<Vec<_>>()
        };
        let run = |args: &[&str], code: i32, words: &[&str]| {
            let args = with_key(args);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            fails(&server, &args, code, words);
        };
        run(&["s3://bucket/a.mp4", b, "-o", "s3://bucket/out"], 0, &[]);
        assert_eq!(server.paths(), ["bucket/a.mp4", "bucket/out/a.mp4", "bucket/out/b.mp4"]);
        run(&["s3://bucket/a.mp4", b, "-o", folder], 2, &["same file"]);
        run(&["s3://bucket/a.mp4", "s3://bucket/a.mp4"], 2, &["same file"]);
        run(&["s3://bucket/a.mp4", "-o", "s3://bucket/"], 2, &["same file"]);
        run(&["s3://bucket/folder/", b], 2, &["is a prefix", "folders of segments"]);
        run(&[folder, "s3://bucket/segments"], 2, &["is a folder", "on a disk"]);
        run(&["s3://bucket/absent.mp4", b], 3, &["s3://bucket/absent.mp4", "no such object"]);
        run(&["s3:///a.mp4", b], 2, &["names no bucket"]);
        run(&["s3://bucket/a.mp4", "s3://bucket/x/"], 2, &["s3://bucket/x/"]);
        server.answers(
            |request| {
                if request.method == "PUT" { Answer::Status(403) } else { Answer::Right }
            },
        );
        run(&[b, "s3://bucket/new.mp4"], 3, &["cannot write s3://bucket/new.mp4", "403"]);
        assert!(!server.paths().contains(&"bucket/new.mp4".into()));
        assert!(fs::read(dir.file("b.mp4")).unwrap() == clip);
    }

    fn package<'a>(input: &'a str, output: &'a str, pair: &'a str) -> Vec<&'a str> {
        vec![
            "package",
            input,
            "-o",
            output,
            "--scheme",
            "cbcs",
            "--iv",
            IV,
            "--segment",
            "0.4s",
            "-q",
            "--key",
            pair,
        ]
    }

    fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(inside) = folders.pop() {
            for entry in fs::read_dir(folder.join(&inside)).unwrap() {
                let path = inside.join(entry.unwrap().file_name());
                if folder.join(&path).is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs::read(folder.join(&path)).unwrap();
                    files.insert(path.to_str().unwrap().into(), bytes);
                }
            }
        }
        files
    }

    fn is_manifest(path: &str) -> bool {
        matches!(path.rsplit('.').next(), Some("mpd" | "m3u8"))
    }

    #[test]
    fn streams_are_those_of_files() {
        let dir = Dir::new();
        let server = ObjectServer::new();
        server.store("bucket/in.mp4", fs::read(demo_clip()).unwrap());
        let pair = pair();
        let local = dir.file("stream");
        let (clip, http) = (demo_clip(), format!("{}/bucket/http", server.url()));
        let single = ["--layout", "single"];
        for more in [&[][..], &single] {
            let _ = fs::remove_dir_all(&local);
            let mut args = package(clip.to_str().unwrap(), local.to_str().unwrap(), &pair);
            args.extend(more);
            succeed(lanelock().args(&args));
            let expected = files(&local);
            for (from, to) in
                [("s3://bucket/in.mp4", "s3://bucket/out/"), ("s3://bucket/in.mp4", &http)]
            {
                let mut args = package(from, to, &pair);
                args.extend(more);
                succeed(&mut cloud(&server, &args));
                let prefix = if to.starts_with("s3") { "bucket/out/" } else { "bucket/http/" };
                for (path, bytes) in &expected {
                    let found = server.object(&format!("{prefix}{path}")).unwrap_or_default();
                    assert!(*found == *bytes, "{to}: {path}");
                }
                assert_eq!(server.paths().len(), expected.len() + 1);
                if to.starts_with("s3") {
                    fails(&server, &args, 3, &["s3://bucket/out/", "there are objects below it"]);
                }
                server.clear();
                server.store("bucket/in.mp4", fs::read(demo_clip()).unwrap());
            }
        }
        // A job file names URLs as they are.
        let job = dir.file("job.toml");
        let text =
            "input = [\"s3://bucket/in.mp4\"]\noutput = \"s3://bucket/job\"\nclear = [\"all\"]\n";
        fs::write(&job, text).unwrap();
        succeed(&mut cloud(&server, &["package", "--job", job.to_str().unwrap(), "-q"]));
        assert!(server.object("bucket/job/manifest.mpd").is_some());
    }

    /// Runs a package, and `act` on its process when the request with this number comes, which gets no answer.
    fn until(server: &ObjectServer, number: usize, act: fn(&Child)) -> Output {
        let (pair, clip) = (pair(), demo_clip());
        let child = Arc::new(Mutex::new(None::<Child>));
        let (seen, shared) = (AtomicUsize::new(0), child.clone());
        let mut lock = child.lock().unwrap();
        server.answers(move |_: &Request| {
            if seen.fetch_add(1, Ordering::Relaxed) != number {
                return Answer::Right;
            }
            act(shared.lock().unwrap().as_ref().unwrap());
            Answer::Close
        });
        let args = package(clip.to_str().unwrap(), "s3://bucket/out", &pair);
        let mut command = cloud(server, &args);
        *lock = Some(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        drop(lock);
        // Not under the lock, which the server takes.
        loop {
            if child.lock().unwrap().as_mut().unwrap().try_wait().unwrap().is_some() {
                return child.lock().unwrap().take().unwrap().wait_with_output().unwrap();
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn signal(child: &Child, name: &str) {
        succeed(Command::new("kill").args([name, &child.id().to_string()]));
    }

    /// Killed when any of the requests comes, up to that of the first manifest.
    #[test]
    fn a_killed_run_leaves_no_manifest() {
        let watchdog = Watchdog::new();
        let server = ObjectServer::new();
        until(&server, usize::MAX, |_| {});
        let requests = server.requests();
        let first = requests.iter().position(|request| is_manifest(&request.path)).unwrap();
        assert!(first > 10, "{first} requests before the manifests");
        let whole = server.paths().len();
        let mut rng = Rng::from_env("a_killed_run_leaves_no_manifest");
        for round in 0..24 {
            let number = rng.below(first + 1);
            watchdog.begins(format!("round {round}, request {number} of {first}"));
            server.clear();
            let output = until(&server, number, |child| signal(child, "-KILL"));
            assert!(!output.status.success());
            let found = server.paths();
            assert!(!found.iter().any(|path| is_manifest(path)), "request {number}: {found:?}");
            assert!(found.len() < whole);
        }
    }

    /// Interrupted at any request: nothing is left, and that is told.
    #[test]
    fn an_interrupted_run_leaves_nothing() {
        let watchdog = Watchdog::new();
        let server = ObjectServer::new();
        until(&server, usize::MAX, |_| {});
        let last = server.requests().len();
        for number in (1..last).step_by(4) {
            watchdog.begins(format!("request {number} of {last}"));
            server.clear();
            let output = until(&server, number, |child| signal(child, "-TERM"));
            // The request after the signal may be the last one.
            if output.status.success() {
                assert!(number + 2 > last, "request {number} of {last}");
                continue;
            }
            assert_eq!(output.status.code(), Some(130), "{number}: {}", stderr(&output));
            assert_eq!(server.paths(), [""; 0], "request {number}: {}", stderr(&output));
            assert_eq!(server.uploads(), 0);
        }
    }

    /// The most memory that a process has had, in MiB.
    fn peak(child: &Child) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or(0) >> 10
    }

    /// A file that is larger than what may be in memory, to a server that is slow to take it: 64 MiB are on
    /// their way out, 48 MiB and a block for each thread are read ahead, the pipeline has 24 MiB, and two parts
    /// for each thread wait for bytes.
    #[test]
    fn memory_is_bounded() {
        let Some(ffmpeg) = ffmpeg() else { return };
        let dir = Dir::new();
        let server = ObjectServer::new();
        let path = crate::support::looped(&ffmpeg, &dir, "1300");
        let big = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let (len, mib) = (big.len(), big.len() as u64 >> 20);
        server.store("bucket/big.mp4", big);
        server.answers(|request| {
            let is_part = request.query.contains("partNumber");
            if is_part { Answer::Late(Duration::from_millis(50)) } else { Answer::Right }
        });
        let pair = pair();
        let args = [
            "encrypt",
            "s3://bucket/big.mp4",
            "s3://bucket/out.mp4",
            "--scheme",
            "cbcs",
            "--key",
            &pair,
            "-q",
            "--workers",
            "2",
        ];
        let mut child = cloud(&server, &args).spawn().unwrap();
        let mut most = 0;
        while child.try_wait().unwrap().is_none() {
            most = most.max(peak(&child));
            thread::sleep(Duration::from_millis(1));
        }
        assert!(child.wait().unwrap().success());
        assert!(server.object("bucket/out.mp4").unwrap().len() > len);
        let bound = 64 + (12 + 2) * 4 + 24 + 2 * 2 * 8 + 40; // the last for the program itself
        assert!(mib > bound + 50, "the file has {mib} MiB, which {bound} MiB could hold");
        eprintln!("{most} MiB for a file of {mib} MiB");
        assert!(most <= bound, "{most} MiB, and not {bound}");
    }

    /// The header of a signed request: moto looks who signs, and not at the signature.
    const SIGNED: &str = "Authorization: AWS4-HMAC-SHA256 Credential=testing/20260101/us-east-1/s3/aws4_request, \
        SignedHeaders=host, Signature=0\r\n";

    /// The part of S3 that Python's moto plays.
    struct Moto {
        child: Child,
        address: String,
    }

    impl Moto {
        fn start() -> Option<Self> {
            let program = moto_server()?;
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut command = Command::new(program);
            command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
            let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let this = Self { child, address: format!("127.0.0.1:{port}") };
            while TcpStream::connect(&this.address).is_err() {
                thread::sleep(Duration::from_millis(20));
            }
            let (status, _) = this.ask("PUT", "/bucket");
            assert_eq!(status, 200);
            Some(this)
        }

        /// Status and body.
        fn ask(&self, method: &str, target: &str) -> (u16, Vec<u8>) {
            let mut stream = TcpStream::connect(&self.address).unwrap();
            write!(
                stream,
                "{method} {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: 0\r\n{SIGNED}\r\n",
                self.address
            )
            .unwrap();
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).unwrap();
            let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
            let head = String::from_utf8_lossy(&answer[..end]).into_owned();
            let status = head.split_whitespace().nth(1).unwrap().parse().unwrap();
            (status, answer[end + 4..].to_vec())
        }

        fn keys(&self, prefix: &str) -> Vec<String> {
            let (_, body) = self.ask("GET", &format!("/bucket?list-type=2&prefix={prefix}"));
            let text = String::from_utf8(body).unwrap();
            let keys = text.split("<Key>").skip(1);
            keys.map(|rest| rest.split_once("</Key>").unwrap().0.to_owned()).collect()
        }

        fn uploads(&self) -> usize {
            let (_, body) = self.ask("GET", "/bucket?uploads");
            String::from_utf8(body).unwrap().matches("<UploadId>").count()
        }

        fn command(&self, args: &[&str]) -> Command {
            let mut command = lanelock();
            command.args(args).envs([
                ("AWS_ENDPOINT_URL", &format!("http://{}", self.address)[..]),
                ("AWS_ALLOW_HTTP", "true"),
                ("AWS_REGION", "us-east-1"),
                ("AWS_ACCESS_KEY_ID", "testing"),
                ("AWS_SECRET_ACCESS_KEY", "testing"),
                ("NO_PROXY", "127.0.0.1"),
            ]);
            command
        }
    }

    impl Drop for Moto {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    /// Against a server of S3 that others have written: streams, uploads in parts, runs that end early.
    #[test]
    fn moto_agrees() {
        let Some(moto) = Moto::start() else { return };
        let Some(ffmpeg) = ffmpeg() else { return };
        let watchdog = Watchdog::new();
        let dir = Dir::new();
        let pair = pair();
        let (clip, local) = (demo_clip(), dir.file("stream"));
        let clip = clip.to_str().unwrap();
        succeed(lanelock().args(package(clip, local.to_str().unwrap(), &pair)));
        watchdog.begins("a stream");
        succeed(&mut moto.command(&package(clip, "s3://bucket/out", &pair)));
        let expected = files(&local);
        assert_eq!(moto.keys("out/").len(), expected.len());
        for (path, bytes) in &expected {
            assert!(moto.ask("GET", &format!("/bucket/out/{path}")).1 == *bytes, "{path}");
        }
        let again = moto.command(&package(clip, "s3://bucket/out", &pair)).output().unwrap();
        assert!(stderr(&again).contains("there are objects below it"), "{}", stderr(&again));

        watchdog.begins("a file in parts");
        // moto reads the whole object for each range of it.
        let big = crate::support::looped(&ffmpeg, &dir, "100");
        let encrypt = ["--scheme", "cbcs", "--iv", IV, "--key", &pair, "-q"];
        let local = dir.file("local.mp4");
        succeed(lanelock().arg("encrypt").args([&big, &local]).args(encrypt));
        let expected = fs::read(&local).unwrap();
        assert!(expected.len() > 17 << 20, "too small for three parts");
        let big = big.to_str().unwrap();
        let to_object = [&["encrypt", big, "s3://bucket/big.mp4"], &encrypt[..]].concat();
        succeed(&mut moto.command(&to_object));
        assert!(moto.ask("GET", "/bucket/big.mp4").1 == expected);
        let back = dir.file("back.mp4");
        let decrypt =
            ["decrypt", "s3://bucket/big.mp4", back.to_str().unwrap(), "--key", &pair, "-q"];
        succeed(&mut moto.command(&decrypt));
        assert!(fs::read(&back).unwrap() == fs::read(big).unwrap(), "not what it was");
        assert_eq!(moto.uploads(), 0);

        let mut rng = Rng::from_env("moto_agrees");
        for round in 0..20 {
            watchdog.begins(format!("killed, round {round}"));
            let to = format!("s3://bucket/killed-{round}");
            let mut child = moto.command(&package(clip, &to, &pair)).spawn().unwrap();
            thread::sleep(Duration::from_millis(rng.below(400) as u64));
            child.kill().unwrap();
            let ended = child.wait().unwrap().success();
            let keys = moto.keys(&format!("killed-{round}/"));
            let count = keys.iter().filter(|key| is_manifest(key)).count();
            // A manifest that is there names what is there.
            let media = files(&dir.file("stream")).keys().filter(|path| !is_manifest(path)).count();
            assert!(ended || count == 0 || keys.len() - count == media, "{keys:?}");
        }
        // A part is on its way when the signal comes, or all of it is there.
        for round in 0..4 {
            watchdog.begins(format!("interrupted, round {round}"));
            let to = format!("s3://bucket/interrupted-{round}");
            let args = [&["encrypt", big, &to], &encrypt[..]].concat();
            let mut child = moto.command(&args).spawn().unwrap();
            crate::support::wait_for_handler(&child);
            thread::sleep(Duration::from_millis(rng.below(300) as u64));
            signal(&child, "-TERM");
            let status = child.wait().unwrap();
            let there = !moto.keys(&format!("interrupted-{round}")).is_empty();
            assert_eq!(there, status.success());
            assert_eq!(moto.uploads(), 0, "an upload is left");
        }
    }
}
