//! The page, which is in the program.

use crate::answer::Answer;

/// Nothing comes from elsewhere but the stream; a page of another site can neither frame it nor be sent to
/// from it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      media-src blob:; connect-src *; frame-ancestors 'none'; base-uri 'none'; \
                      form-action 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

macro_rules! files {
    ($($kind:ident $name:literal,)*) => {
        &[$(($name, $kind, include_bytes!(concat!("../page/", $name)))),*]
    };
}

const FILES: &[(&str, &str, &[u8])] = files! {
    HTML "index.html",
    CSS "style.css",
    JS "main.js",
    JS "bytes.js",
    JS "boxes.js",
    JS "dash.js",
    JS "hls.js",
    JS "file.js",
    JS "model.js",
    JS "net.js",
    JS "stream.js",
    JS "licences.js",
    JS "captions.js",
    JS "problems.js",
    JS "timeline.js",
    JS "view.js",
};

/// A file of the page.
pub(crate) fn file(name: &str) -> Option<Answer> {
    let (_, kind, bytes) = FILES.iter().find(|(other, ..)| *other == name)?;
    let answer = Answer::bytes(bytes, kind);
    Some(answer.with("Content-Security-Policy", POLICY))
}
