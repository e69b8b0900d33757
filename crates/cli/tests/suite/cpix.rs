//! Keys by CPIX: the same as by key files.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use crate::support::{Dir, lanelock, stderr, succeed};
use lanelock_testkit::{demo_clip, hex};

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

/// Both schemes need keys for both, and the times of a document are its own: nothing is encrypted with a key of
/// another scheme or of another time.
#[test]
fn schemes_and_times_of_a_document() {
    let dir = Dir::new();
    let names = ["keys.txt", "keys.xml", "stream", "times.xml"].map(|name| dir.file(name));
    let [keys, document, stream, times] = names.each_ref().map(|path| path.to_str().unwrap());
    succeed(lanelock().args(["keys", "new", "-o", keys, "all"]));
    succeed(lanelock().args([
        "keys",
        "cpix",
        "--key-file",
        keys,
        "--scheme",
        "cbcs",
        "-o",
        document,
    ]));
    let demo = demo_clip();
    let package =
        ["package", demo.to_str().unwrap(), "-o", stream, "--scheme", "cbcs,cenc", "--cpix"];
    let (code, said) = fault(&[&package[..], &[document]].concat());
    assert!(code != 0 && said.contains("not for cenc"), "{said}");

    let kid = |number: u8| format!("{0}-1111-1111-1111-111111111111", hex(&[number; 4]));
    let period = |number: u8, start: u8, end: u8| {
        format!(
            "<ContentKeyPeriod id=\"p{number}\" index=\"{number}\" startOffset=\"PT{start}S\" \
             endOffset=\"PT{end}S\"/>"
        )
    };
    let key = |number: u8, secret: &str| {
        format!(
            "<ContentKey kid=\"{}\"><Data><pskc:Secret><pskc:PlainValue>{secret}</pskc:PlainValue></pskc:Secret>\
             </Data></ContentKey>",
            kid(number)
        )
    };
    let rule = |number: u8| {
        format!(
            "<ContentKeyUsageRule kid=\"{}\" intendedTrackType=\"ALL\"><KeyPeriodFilter periodId=\"p{number}\"/>\
             </ContentKeyUsageRule>",
            kid(number)
        )
    };
    let text = format!(
        "<CPIX xmlns=\"urn:dashif:org:cpix\" xmlns:pskc=\"urn:ietf:params:xml:ns:keyprov:pskc\">\
         <ContentKeyList>{}{}</ContentKeyList><ContentKeyPeriodList>{}{}</ContentKeyPeriodList>\
         <ContentKeyUsageRuleList>{}{}</ContentKeyUsageRuleList></CPIX>",
        key(1, "AQEBAQEBAQEBAQEBAQEBAQ=="),
        key(2, "AgICAgICAgICAgICAgICAg=="),
        period(1, 0, 2),
        period(2, 2, 4),
        rule(1),
        rule(2),
    );
    fs::write(times, text).unwrap();
    let out = dir.file("out.mp4");
    let encrypt =
        ["encrypt", demo.to_str().unwrap(), out.to_str().unwrap(), "--scheme", "cbcs", "--cpix"];
    // The clip has five seconds.
    let (code, said) = fault(&[&encrypt[..], &[times]].concat());
    assert!(code == 1 && said.contains("key period 2, which begins at 4 s"), "{said}");
    let (code, said) = fault(&[&encrypt[..], &[times, "--rotate", "2s"]].concat());
    assert!(code == 2 && said.contains("leave out --rotate"), "{said}");
}
