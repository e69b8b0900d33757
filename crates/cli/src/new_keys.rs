//! `lanelock keys new`.

use std::{
    io::{self, Write},
    path::Path,
};

use lanelock_packager::{Key, KeyError, KeyLine, KeyMap, Selector};
use serde_json::json;
use zeroize::Zeroizing;

use crate::{
    failure::Failure, hide::without_keys, key_args::NewKeysArgs, keys::write_private, report,
    terminal::printable, units,
};

pub(crate) fn new_keys(args: &NewKeysArgs) -> Result<(), Failure> {
    let keys = new(&args.what, args.periods)?;
    let file = args.output.as_deref().filter(|path| *path != Path::new("-"));
    if let Some(path) = file {
        write(path, &keys)?;
    }
    if args.json {
        print_json(&keys, file.is_none())?;
    } else if let Some(path) = file {
        let number = units::count(keys.len() as u64, "key", "keys");
        // The file is there: what cannot be said of it is no failure.
        let path = printable(&without_keys(&path.display().to_string()));
        let _ = writeln!(io::stderr().lock(), "{path}: {number}, for you alone to read");
    } else {
        let mut out = io::stdout().lock();
        lines(&keys, &mut out)?;
        out.flush()?;
    }
    Ok(())
}

/// New keys, and what they are for.
type NewKeys = Vec<(Option<String>, Key)>;

/// As many keys as a number says, or one for each selector and key period.
fn new(what: &[String], periods: Option<u32>) -> Result<NewKeys, Failure> {
    let random = || Key::random().map_err(|error| Failure::unsuitable("keys", error.to_string()));
    if let [number] = what
        && let Ok(number) = number.parse::<u32>()
    {
        if periods.is_some() {
            return Err(Failure::usage(
                "a number of keys, and a number of key periods: which keys are for which tracks is not said",
                "name the tracks: lanelock keys new --periods 24 video audio",
            ));
        }
        if !(1..=MOST_KEYS).contains(&number) {
            let what = format!("the number of keys is 1 to {MOST_KEYS}");
            return Err(Failure::usage(what, "write a number in this range"));
        }
        return (0..number).map(|_| Ok((None, random()?))).collect();
    }
    if what.is_empty() && periods.is_none() {
        return Ok(vec![(None, random()?)]);
    }
    let all = ["all".to_owned()];
    let what = if what.is_empty() { &all } else { what };
    let of_each = periods.map_or_else(|| vec![None], |periods| (0..periods).map(Some).collect());
    if what.len() * of_each.len() > MOST_KEYS as usize {
        let what = format!("the number of keys is 1 to {MOST_KEYS}");
        return Err(Failure::usage(what, "make fewer key periods"));
    }
    let mut keys = KeyMap::new();
    for text in what {
        let selector = text.parse().map_err(KeyError::from).and_then(|selector| match selector {
            // It could as well be a number of keys.
            Selector::Track(_) => Err(KeyError::Selector),
            selector => Ok(selector),
        });
        let mut new = Vec::with_capacity(of_each.len());
        for &period in &of_each {
            new.push((period, random()?));
        }
        let add = |selector: Selector| {
            new.into_iter().try_for_each(|(period, key)| {
                keys.add(KeyLine { selector: selector.clone(), period, key })
            })
        };
        selector.and_then(add).map_err(|error| {
            let what = match error {
                KeyError::Twice(selector) => format!("{selector} is named twice"),
                _ => "the keys are for all, video, audio, text, other, sd, hd, uhd, uhd1, uhd2 or a codec".into(),
            };
            Failure::usage(what, "give one number, or selectors: lanelock keys new video audio")
        })?;
    }
    let keys = keys.entries().map(|line| (Some(line.place()), line.key.clone()));
    Ok(keys.collect())
}

/// The lines of a key file.
fn lines(keys: &NewKeys, out: &mut dyn Write) -> io::Result<()> {
    for (selector, key) in keys {
        if let Some(selector) = selector {
            write!(out, "{selector}=")?;
        }
        writeln!(out, "{}", key.secret_text().as_str())?;
    }
    Ok(())
}

/// Writes a new key file.
fn write(path: &Path, keys: &NewKeys) -> Result<(), Failure> {
    let mut text = Zeroizing::new(Vec::with_capacity(keys.len() * LINE));
    lines(keys, &mut *text)?;
    write_private(path, &text)
}

fn print_json(keys: &NewKeys, with_keys: bool) -> Result<(), Failure> {
    let objects = keys.iter().map(|(selector, key)| {
        let mut object = json!({
            "selector": selector,
            "kid": key.kid_text(),
        });
        if with_keys {
            object["key"] = key.secret_text()[33..].into();
        }
        object
    });
    report::json(&objects.collect::<Vec<_>>().into(), false)?;
    Ok(())
}

const MOST_KEYS: u32 = 10_000;
/// The most bytes of a line.
const LINE: usize = 80;
