//! `lanelock sum`: digests of files, many of them side by side.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, BufRead, BufReader, ErrorKind, Read, Write},
    path::Path,
};

use lanelock_digest::Levels;
use serde_json::{Value, json};

use crate::{
    digests::{self, Algorithm},
    failure::Failure,
    names::{escaped, from_bytes, unescaped},
    sum_args::SumArgs,
    terminal::{self, Label},
    watch::bar,
};

/// The exit code.
pub(crate) fn sum(args: &SumArgs) -> Result<u8, Failure> {
    let levels = Levels::best().map_err(lanelock_packager::Error::from)?;
    if args.check { check(args, levels) } else { print(args, levels) }
}

/// Prints digests.
fn print(args: &SumArgs, levels: Levels) -> Result<u8, Failure> {
    let (mut objects, mut code) = (Vec::new(), 0);
    let mut out = io::stdout().lock();
    let names: Vec<&OsStr> = args.files.iter().map(OsString::as_os_str).collect();
    digests(args, levels, &names, |name, digest| {
        match digest {
            Ok(digest) if args.json => {
                objects.push(json!({ "path": name.to_string_lossy(), "digest": digest }));
            }
            Ok(digest) => {
                let (mark, name) = escaped(name);
                write_line(&mut out, [mark.as_bytes(), digest.as_bytes(), b"  ", &name])?;
            }
            Err(error) => {
                code = 3;
                let path = name.to_string_lossy();
                objects.push(json!({ "path": path, "error": error.to_string() }));
                complain(args, &format!("cannot read {path}: {error}"));
            }
        }
        Ok(())
    })?;
    end(args, &mut out, &objects)?;
    Ok(code)
}

/// Compares digests with those in lists.
fn check(args: &SumArgs, levels: Levels) -> Result<u8, Failure> {
    let mut lines = Vec::new();
    for list in &args.files {
        let shown = list.to_string_lossy();
        let read = |error| Failure::Io { what: format!("cannot read {shown}"), error };
        let before = lines.len();
        for line in BufReader::new(open(list).map_err(read)?).split(b'\n') {
            let line = line.map_err(read)?;
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let line = Line::read(line, args.algorithm()).ok_or_else(|| {
                let hint = "a line is a digest in hexadecimal digits, two spaces, and a name; other hashes have \
                            their options";
                let line = String::from_utf8_lossy(line);
                Failure::usage(format!("{shown}: not a line of {}: {line}", args.algorithm().name()), hint)
            })?;
            lines.push(line);
        }
        if lines.len() == before {
            return Err(Failure::unsuitable(shown, "there is no digest in it"));
        }
    }
    let (mut objects, mut wrong, mut missing) = (Vec::new(), 0, 0);
    let mut out = io::stdout().lock();
    let names: Vec<&OsStr> = lines.iter().map(|line| line.name.as_os_str()).collect();
    let mut expected = lines.iter();
    digests(args, levels, &names, |name, digest| {
        let Some(line) = expected.next() else { return Ok(()) };
        let verdict = match &digest {
            Ok(digest) if *digest == line.digest => "OK",
            Ok(_) => "FAILED",
            Err(_) => "FAILED open or read",
        };
        if let Err(error) = digest {
            missing += 1;
            complain(args, &format!("cannot read {}: {error}", name.display()));
        } else if verdict == "FAILED" {
            wrong += 1;
        }
        if args.json {
            objects.push(json!({ "path": name.to_string_lossy(), "ok": verdict == "OK" }));
        } else if verdict != "OK" || !args.quiet {
            // As GNU has it: the lines of a list escape backslashes too.
            let bytes = name.as_encoded_bytes();
            let (mark, name) = if bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
                escaped(name)
            } else {
                ("", bytes.to_vec())
            };
            write_line(&mut out, [mark.as_bytes(), &name, b": ", verdict.as_bytes()])?;
        }
        Ok(())
    })?;
    end(args, &mut out, &objects)?;
    for (count, what) in [(wrong, "digests do not match"), (missing, "files cannot be read")] {
        if count > 0 {
            complain(args, &format!("{count} of {} {what}", names.len()));
        }
    }
    Ok(if wrong > 0 {
        1
    } else if missing > 0 {
        3
    } else {
        0
    })
}

/// Names need not be text.
fn write_line(out: &mut dyn Write, parts: [&[u8]; 4]) -> io::Result<()> {
    parts.iter().try_for_each(|part| out.write_all(part))?;
    out.write_all(b"\n")
}

/// Prints what is left to print: the object of --json.
fn end(args: &SumArgs, out: &mut dyn Write, files: &[Value]) -> io::Result<()> {
    if args.json {
        let all = json!({ "algorithm": args.algorithm().name(), "files": files });
        serde_json::to_writer_pretty(&mut *out, &all)?;
        writeln!(out)?;
    }
    out.flush()
}

/// A line of a list.
struct Line {
    digest: String,
    name: OsString,
}

impl Line {
    /// As this command and those of GNU and BSD write them.
    fn read(line: &[u8], algorithm: Algorithm) -> Option<Self> {
        let (escaped, line) = match line.strip_prefix(b"\\") {
            Some(line) => (true, line),
            None => (false, line),
        };
        let (digest, name) = if let Some(line) = line.strip_prefix(algorithm.name().as_bytes()) {
            // The digits stand behind the last of these: a name may have others.
            let line = line.trim_ascii_start().strip_prefix(b"(")?;
            let end = line.windows(4).rposition(|bytes| bytes == b") = ")?;
            (&line[end + 4..], &line[..end])
        } else {
            let (digest, name) = line.split_at(line.iter().position(|byte| *byte == b' ')?);
            // A second space for text or an asterisk for binary, which is the same here.
            let name = name.strip_prefix(b"  ").or_else(|| name.strip_prefix(b" *"))?;
            (digest, name)
        };
        let digest = String::from_utf8(digest.to_ascii_lowercase()).ok()?;
        let is_digest = digest.len() == 2 * algorithm.bytes()
            && digest.bytes().all(|digit| digit.is_ascii_hexdigit());
        let name = from_bytes(if escaped { unescaped(name)? } else { name.to_vec() })?;
        (is_digest && !name.is_empty()).then_some(Self { digest, name })
    }
}

fn complain(args: &SumArgs, what: &str) {
    // What cannot be printed there is in the exit code.
    if !args.json {
        let _ = Label::Warning.write(&mut terminal::stderr(), what);
    }
}

/// Standard input, or a file.
fn open(name: &OsStr) -> io::Result<Box<dyn Read>> {
    if name == "-" {
        return Ok(Box::new(io::stdin()));
    }
    if Path::new(name).is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder"));
    }
    Ok(Box::new(File::open(name)?))
}

/// The digests of files in hexadecimal digits, or why there is none, each with its name, in their order.
fn digests(
    args: &SumArgs,
    levels: Levels,
    names: &[&OsStr],
    mut take: impl FnMut(&OsStr, io::Result<String>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let length = |name: &&OsStr| std::fs::metadata(name).map_or(0, |file| file.len());
    let bar = bar(args.quiet || args.json, Some(names.iter().map(length).sum()));
    let (open, progress) = (|i: usize| open(names[i]), |bytes| bar.inc(bytes));
    let digests = digests::digests(args.algorithm(), levels, names.len(), &open, &progress);
    for (name, digest) in names.iter().zip(digests) {
        let digest = digest.map(|digest| base16ct::lower::encode_string(&digest));
        bar.suspend(|| take(name, digest))?;
    }
    bar.finish_and_clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
        let read = |line: &[u8]| Line::read(line, Algorithm::Sha256);
        let names = ["a", "a b", " a", "*a", "a\nb", "a\\nb", "\\", "a\rb", "(a) = b"];
        let names = names.map(str::as_bytes).into_iter().chain([&b"\xff\\\n\xfe"[..]]);
        for name in names.filter_map(|name| from_bytes(name.to_vec())) {
            let (mark, shown) = escaped(&name);
            assert!(!shown.contains(&b'\n') && !shown.contains(&b'\r'), "{name:?}");
            let line = read(&[format!("{mark}{digest}  ").as_bytes(), &shown].concat()).unwrap();
            assert_eq!((line.digest.as_str(), line.name), (digest, name));
        }
        let tagged = read(format!("SHA256 (a) = {digest}").as_bytes()).unwrap();
        assert_eq!((tagged.digest.as_str(), tagged.name), (digest, "a".into()));
        for wrong in ["", digest, "abc  name", &format!("{digest} name"), &format!("{digest}  ")] {
            assert!(read(wrong.as_bytes()).is_none(), "{wrong:?}");
        }
    }
}
