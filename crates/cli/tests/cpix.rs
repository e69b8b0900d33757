//! Keys by CPIX: the same as by key files.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use lanelock_testkit::demo_clip;
use support::{Dir, lanelock, stderr, succeed};

const IV: &str = "00112233445566778899aabbccddeeff";

fn encrypt(out: &Path, args: &[&str]) {
    let mut command = lanelock();
    command.arg("encrypt").args([&demo_clip(), out]).args(["--scheme", "cbcs", "-q", "--iv", IV]);
    succeed(command.args(args));
}

fn fault(args: &[&str]) -> (i32, String) {
    let run = lanelock().args(args).output().unwrap();
    (run.status.code().unwrap(), stderr(&run))
}

#[test]
fn a_document_does_what_its_key_file_does() {
    for (selectors, more) in [
        (&["video", "audio"][..], &[][..]),
        (&["all"], &[]),
        (
            &["sd", "hd", "uhd", "audio"],
            &["--picture-limits", "sd=1x1,hd=9000x9000,uhd1=9001x9001"],
        ),
        (&["--periods", "30", "video", "audio"], &["--rotate", "1s"]),
    ] {
        let dir = Dir::new();
        let names = ["keys.txt", "keys.xml", "a.mp4", "b.mp4"].map(|name| dir.file(name));
        let [keys, document, a, b] = &names;
        let [keys, document] = [keys, document].map(|path| path.to_str().unwrap());
        succeed(lanelock().args(["keys", "new", "-o", keys]).args(selectors));
        let limits: &[&str] = if selectors[0] == "sd" { more } else { &[] };
        let mut command = lanelock();
        command.args(["keys", "cpix", "--key-file", keys, "--scheme", "cbcs", "-o", document]);
        succeed(command.args(limits));
        assert_eq!(fs::metadata(document).unwrap().permissions().mode() & 0o777, 0o600);
        encrypt(a, &[&["--key-file", keys], more].concat());
        // The document has the limits itself.
        let more: &[&str] = if limits.is_empty() { more } else { &[] };
        encrypt(b, &[&["--cpix", document], more].concat());
        assert!(fs::read(a).unwrap() == fs::read(b).unwrap(), "{selectors:?}");
    }
}

#[test]
fn boxes_of_a_document_go_into_the_file() {
    let dir = Dir::new();
    let names = ["keys.txt", "keys.xml", "out.mp4"].map(|name| dir.file(name));
    let [keys, document, out] = &names;
    let [keys, document] = [keys, document].map(|path| path.to_str().unwrap());
    succeed(lanelock().args(["keys", "new", "-o", keys, "all"]));
    let mut command = lanelock();
    command.args(["keys", "cpix", "--key-file", keys, "--scheme", "cbcs", "-o", document]);
    succeed(command.args(["--drm", "widevine", "--content-id", "film"]));
    encrypt(out, &["--cpix", document, "--drm", "widevine,common"]);
    let bytes = fs::read(out).unwrap();
    let count = |id: [u8; 4]| bytes.windows(4).filter(|window| *window == id).count();
    assert_eq!(count(*b"pssh"), 2);
    assert_eq!(count([0xed, 0xef, 0x8b, 0xa9]), 1);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let dir = Dir::new();
    let names = ["keys.txt", "keys.xml", "out.mp4", "periods.txt", "periods.xml"]
        .map(|name| dir.file(name));
    let [keys, document, out, periods, changing] =
        names.each_ref().map(|path| path.to_str().unwrap());
    let clip = demo_clip();
    let clip = clip.to_str().unwrap();
    succeed(lanelock().args(["keys", "new", "-o", keys, "all"]));
    succeed(lanelock().args([
        "keys",
        "cpix",
        "--key-file",
        keys,
        "--scheme",
        "cenc",
        "-o",
        document,
    ]));
    succeed(lanelock().args(["keys", "new", "--periods", "2", "-o", periods, "all"]));
    succeed(lanelock().args([
        "keys",
        "cpix",
        "--key-file",
        periods,
        "--any-scheme",
        "-o",
        changing,
    ]));
    let secret = fs::read_to_string(keys).unwrap();
    let secret = secret.trim().rsplit(':').next().unwrap();
    let encrypt = |args: &[&str]| {
        let (code, text) = fault(&[&["encrypt", clip, out, "--scheme", "cbcs"], args].concat());
        assert!(!text.contains(secret) && !Path::new(out).exists(), "{text}");
        (code, text)
    };
    let (code, text) = encrypt(&["--cpix", document]);
    assert!(code == 1 && text.contains("is for cenc, not for cbcs"), "{text}");
    let (code, text) = encrypt(&["--cpix", document, "--key-file", keys]);
    assert!(code == 2 && text.contains("keys are given twice"), "{text}");
    let (code, text) = encrypt(&["--cpix", changing]);
    assert!(code == 2 && text.contains("--rotate"), "{text}");
    let (code, text) = encrypt(&["--cpix", keys]);
    assert!(code == 1 && text.contains("keys.txt: line 1, column"), "{text}");
    let (code, text) = encrypt(&["--cpix", "nowhere.xml"]);
    assert!(code == 3 && text.contains("nowhere.xml"), "{text}");
    let (code, text) =
        fault(&["keys", "cpix", "--key-file", keys, "--scheme", "cenc", "-o", document]);
    assert!(code == 3 && text.contains("it is there already"), "{text}");
}

#[cfg(feature = "speke")]
#[test]
fn keys_of_a_key_server() {
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
    };
    let dir = Dir::new();
    let names = ["token.txt", "out.mp4", "b.mp4"].map(|name| dir.file(name));
    let [token, out, b] = names.each_ref().map(|path| path.to_str().unwrap());
    fs::write(token, "very-secret-token\n").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        for refuses in [false, true] {
            let (mut stream, _) = listener.accept().unwrap();
            let mut text = String::new();
            while !text.contains("</CPIX>") {
                let mut piece = [0; 4096];
                let len = stream.read(&mut piece).unwrap();
                text.push_str(std::str::from_utf8(&piece[..len]).unwrap());
            }
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.to_lowercase().contains("authorization: very-secret-token"), "{head}");
            let key = "<Data><pskc:Secret><pskc:PlainValue>Dx4tPEtaaXiHlqW0w9Lh8A==</pskc:PlainValue></pskc:Secret></Data>";
            let body = body.replace(
                "commonEncryptionScheme=\"cbcs\"/>",
                &format!("commonEncryptionScheme=\"cbcs\">{key}</ContentKey>"),
            );
            let (status, body) = if refuses { ("403 No", head) } else { ("200 OK", body.as_str()) };
            let len = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nContent-Length: {len}\r\n\r\n{body}"
            );
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let header = format!("Authorization=@{token}");
    let args = ["--speke", &url, "--content-id", "film", "--speke-header", &header];
    encrypt(Path::new(out), &args);
    let clip = demo_clip();
    let (code, text) =
        fault(&[&["encrypt", clip.to_str().unwrap(), b, "--scheme", "cbcs"], &args[..]].concat());
    assert!(code == 1 && text.contains("403") && !text.contains("very-secret"), "{text}");
    server.join().unwrap();
    let kid = String::from_utf8(succeed(lanelock().args(["inspect", "--json", out]))).unwrap();
    assert!(kid.contains("cbcs"), "{kid}");
    let (code, text) = fault(&[
        "encrypt",
        "a",
        "b",
        "--scheme",
        "cbcs",
        "--speke",
        &url,
        "--content-id",
        "c",
        "--speke-header",
        "a=very-secret",
    ]);
    assert!(code != 0 && !text.contains("very-secret"), "{text}");
}
