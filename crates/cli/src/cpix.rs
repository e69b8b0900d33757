//! `--cpix`, `--speke` and `lanelock keys cpix`.

use std::{
    io::{self, Write as _},
    path::Path,
};

use lanelock_cpix::{CpixError, Document, KeyPlan, MOST_BYTES, ReadOptions};
use lanelock_packager::{EncryptOptions, Iv, Observer, Scheme, drm::System};

use crate::{
    cpix_args::CpixArgs, failure::Failure, hide::without_keys, key_args::KeysCpixArgs, keys,
    terminal::printable, units, values::PictureLimitsArg, watch::Watch,
};

/// What a document or a key server says, if one is named; also what is for manifests, if there are to be some.
pub(crate) fn plan(
    args: &CpixArgs,
    has_keys: bool,
    schemes: &[Scheme],
    drm: &[System],
    has_manifests: bool,
    observer: &dyn Observer,
) -> Result<Option<KeyPlan>, Failure> {
    let Some(option) = args.given() else {
        #[cfg(feature = "cpix-encrypted")]
        if args.cpix_key.is_some() {
            return Err(Failure::usage("--cpix-key is given, and no document", "add --cpix FILE"));
        }
        return Ok(None);
    };
    if has_keys {
        return Err(Failure::usage(
            format!("keys are given twice, by {option} and by --key or --key-file"),
            "give one of the two",
        ));
    }
    let Some(&scheme) = schemes.first() else { return Ok(None) };
    let options = read_options(args, observer)?;
    let (name, document) = match &args.cpix {
        Some(path) => {
            let (name, text) = keys::read_file(path, MOST_BYTES, observer)?;
            let document = Document::read(text.as_bytes(), &options);
            let document = document.map_err(|error| failure(&name, &error))?;
            (name, document)
        }
        None => ask(args, scheme, drm, &options, observer)?,
    };
    let mut plan = document.key_plan(scheme).map_err(|error| failure(&name, &error))?;
    for &other in &schemes[1..] {
        document.key_plan(other).map_err(|error| failure(&name, &error))?;
    }
    if schemes.len() > 1 && !plan.given.is_empty() {
        return Err(Failure::usage(
            format!("{name}: what protection systems have to say in it is for one scheme"),
            "make a stream of each scheme (--scheme cbcs, --scheme cenc), or leave DRMSystemList out",
        ));
    }
    if plan.has_other_ivs && scheme == Scheme::Cbcs {
        observer.warn(&format!(
            "{name}: its keys have IVs (explicitIV) that differ, and none is taken: the constant IV is random, or \
             that of --iv"
        ));
    }
    if has_manifests {
        plan.given = document.given_systems().map_err(|error| failure(&name, &error))?;
    }
    Ok(Some(plan))
}

/// Puts it into the options, as far as the command line does not say otherwise.
pub(crate) fn apply(plan: KeyPlan, mut options: EncryptOptions) -> Result<EncryptOptions, Failure> {
    let KeyPlan { picture_limits, periods, rotates, given, iv, .. } = plan;
    if let Some(limits) = picture_limits {
        options = options.with_picture_limits(limits);
    }
    if rotates && options.key_periods.rotate() && periods.is_some() {
        return Err(Failure::usage(
            "--rotate is given, and the document says itself when keys change",
            "leave out --rotate",
        ));
    }
    if rotates && !options.key_periods.rotate() {
        let Some(periods) = periods else {
            return Err(Failure::usage(
                "the keys change from key period to key period, and the document does not say when",
                "say how long a period is: --rotate 60s",
            ));
        };
        options = options.with_key_periods(periods);
    }
    if let (Some(iv), Iv::Random, Scheme::Cbcs) = (iv, &options.iv, options.scheme) {
        options = options.with_iv(Iv::Given(iv.to_vec()));
    }
    Ok(options.with_given(given))
}

#[cfg(feature = "cpix-encrypted")]
fn read_options(args: &CpixArgs, observer: &dyn Observer) -> Result<ReadOptions, Failure> {
    let mut options = ReadOptions::default();
    if let Some(path) = &args.cpix_key {
        options.recipient_key = Some(keys::read_file(path, MOST_PEM, observer)?.1);
    }
    if let Some(path) = &args.cpix_signer {
        let text = std::fs::read_to_string(path);
        options.signer = Some(text.map_err(|error| Failure::Io {
            what: format!("cannot read {}", path.display()),
            error,
        })?);
    }
    Ok(options)
}

#[cfg(feature = "cpix-encrypted")]
const MOST_PEM: usize = 1 << 16;

#[cfg(not(feature = "cpix-encrypted"))]
#[expect(clippy::unnecessary_wraps, reason = "with the feature, files are read")]
fn read_options(_: &CpixArgs, _: &dyn Observer) -> Result<ReadOptions, Failure> {
    Ok(ReadOptions::default())
}

#[cfg(feature = "speke")]
fn ask(
    args: &CpixArgs,
    scheme: Scheme,
    drm: &[System],
    options: &ReadOptions,
    observer: &dyn Observer,
) -> Result<(String, Document), Failure> {
    use lanelock_cpix::speke::{Client, Patience, SpekeError, Wish};

    let speke = &args.speke;
    let content_id = speke.content_id.clone().unwrap_or_default();
    let mut wish =
        if speke.shared { Wish::shared(content_id, scheme) } else { Wish::new(content_id, scheme) };
    let known = [System::Widevine, System::PlayReady, System::FairPlay];
    wish.systems = drm.iter().filter(|system| known.contains(system)).copied().collect();
    wish.periods = speke.periods.map_or_else(Vec::new, |count| (0..count).collect());
    let fail = |error: SpekeError| match error {
        SpekeError::Url(_) | SpekeError::Header(..) | SpekeError::Wish(_) => {
            Failure::usage(error.to_string(), "lanelock help encrypt tells of --speke")
        }
        error => Failure::unsuitable("--speke", error.to_string()),
    };
    let url = speke.url.as_deref().unwrap_or_default();
    let mut client = Client::new(url, Patience::default()).map_err(fail)?;
    for header in &speke.headers {
        let form = || {
            Failure::usage(
                "--speke-header is NAME=@FILE or NAME=env:VARIABLE; a value on the command line could be seen \
                 by others",
                "put the value into a file that only you can read",
            )
        };
        let (name, from) = header.split_once('=').ok_or_else(form)?;
        let value = match (from.strip_prefix('@'), from.strip_prefix("env:")) {
            (Some(path), _) => keys::read_file(Path::new(path), 1 << 16, observer)?.1,
            (_, Some(variable)) => {
                let value = std::env::var(variable);
                zeroize::Zeroizing::new(value.map_err(|_| {
                    let what = format!(
                        "--speke-header {name}: the environment variable {variable} is not set"
                    );
                    Failure::usage(what, "set it, or give NAME=@FILE")
                })?)
            }
            _ => return Err(form()),
        };
        client.header(name, value.trim_end_matches(['\r', '\n'])).map_err(fail)?;
    }
    let document = client.fetch(&wish.request().map_err(fail)?, options).map_err(fail)?;
    Ok(("--speke".into(), document))
}

#[cfg(not(feature = "speke"))]
fn ask(
    _: &CpixArgs,
    _: Scheme,
    _: &[System],
    _: &ReadOptions,
    _: &dyn Observer,
) -> Result<(String, Document), Failure> {
    Err(Failure::usage("--cpix is missing", "add --cpix FILE"))
}

fn failure(name: &str, error: &CpixError) -> Failure {
    Failure::unsuitable(name, error.to_string())
}

/// Writes a document of keys.
pub(crate) fn keys_cpix(args: &KeysCpixArgs) -> Result<(), Failure> {
    let keys = keys::by_track(&args.keys, &Watch::plain(false))?;
    let limits = args.picture_limits.map(|PictureLimitsArg(limits)| limits).unwrap_or_default();
    let scheme: Option<Scheme> = args.scheme.map(Into::into);
    let fail =
        |error: CpixError| Failure::usage(error.to_string(), "lanelock help keys cpix tells of it");
    let mut document = Document::of_keys(&keys, limits, scheme).map_err(fail)?;
    document.content_id.clone_from(&args.content_id);
    if let Some(scheme) = scheme {
        document.add_boxes(&args.drm, scheme).map_err(fail)?;
    }
    let xml = document.to_xml().map_err(fail)?;
    if let Some(path) = args.output.as_deref().filter(|path| *path != Path::new("-")) {
        keys::write_private(path, xml.as_bytes())?;
        let number = units::count(document.keys.len() as u64, "key", "keys");
        let path = printable(&without_keys(&path.display().to_string()));
        // The file is there: what cannot be said of it is no failure.
        let _ = writeln!(io::stderr().lock(), "{path}: {number}, for you alone to read");
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(xml.as_bytes())?;
    Ok(out.flush()?)
}
