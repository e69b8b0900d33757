//! `lanelock keys pssh`.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
};

use base64ct::{Base64, Encoding as _};
use lanelock_mp4::Pssh;
use lanelock_packager::{
    Key, Scheme,
    drm::{self, Contents},
};
use serde_json::json;

use crate::{
    failure::Failure, key_args::PsshArgs, keys, pssh, report, terminal::printable, watch::Watch,
};

pub(crate) fn pssh(args: &PsshArgs) -> Result<(), Failure> {
    let boxes = match args.scheme {
        Some(scheme) => make(args, scheme.into())?,
        None => read(&args.read)?,
    };
    if args.json {
        let objects: Vec<_> = boxes.iter().map(object).collect();
        return Ok(report::json(&objects.into(), false)?);
    }
    let mut text = String::new();
    for pssh in &boxes {
        let contents = drm::contents(pssh);
        if args.read.is_empty() {
            let system = contents.system.map_or("", drm::System::name);
            let _ = writeln!(text, "{system} {}", Base64::encode_string(&pssh.raw));
        } else {
            describe(pssh, &contents, &mut text);
        }
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

fn make(args: &PsshArgs, scheme: Scheme) -> Result<Vec<Pssh>, Failure> {
    let keys: Vec<Key> = keys::by_kid(&args.keys, &Watch::plain(args.json))?;
    let made = args.drm.iter().map(|system| drm::pssh(*system, scheme, &keys));
    made.collect::<Result<_, _>>().map_err(|error| {
        Failure::usage(error.to_string(), "lanelock help keys pssh tells of the systems")
    })
}

fn read(values: &[String]) -> Result<Vec<Pssh>, Failure> {
    let boxes = pssh::boxes(values)?;
    // They have been parsed once.
    Ok(boxes.iter().filter_map(|bytes| Pssh::parse(bytes).ok()).collect())
}

/// What is in a box, for people.
fn describe(pssh: &Pssh, contents: &Contents, text: &mut String) {
    let name = drm::name(pssh.system_id).unwrap_or("unknown system");
    let _ = writeln!(text, "{name}, version {}, {} bytes", pssh.version, pssh.raw.len());
    let kids = contents.kid_texts();
    let lines = kids.iter().map(|kid| ("KID", kid));
    for (name, value) in lines.chain(contents.details.iter().map(|(name, value)| (*name, value))) {
        let _ = writeln!(text, "  {name:<16}{}", printable(value));
    }
}

fn object(pssh: &Pssh) -> serde_json::Value {
    let contents = drm::contents(pssh);
    json!({
        "system": drm::name(pssh.system_id),
        "system_id": drm::uuid(pssh.system_id),
        "version": pssh.version,
        "kids": contents.kid_texts(),
        "details": contents.details,
        "box": Base64::encode_string(&pssh.raw),
    })
}
