//! `lanelock inspect`.

use std::io::{self, Write};

use lanelock_packager::{ProtectionReport, Report, TrackReport};

use crate::{args::InspectArgs, failure::Failure};

pub(crate) fn inspect(args: &InspectArgs) -> Result<(), Failure> {
    let report = lanelock_packager::inspect(&args.input)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        serde_json::to_writer_pretty(&mut out, &report).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{}", args.input.display())?;
        text(&mut out, &report)?;
    }
    Ok(out.flush()?)
}

fn text(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let Report { bytes, layout, brands, duration, tracks, pssh, fragments, .. } = report;
    writeln!(out, "  {layout}, {bytes} bytes, {duration:.3} s, brands {}", brands.join(" "))?;
    for track in tracks {
        write_track(out, track)?;
    }
    for pssh in pssh {
        let system = pssh.system.as_deref().unwrap_or("unknown system");
        write!(out, "  pssh: {system}, {}, version {}", pssh.system_id, pssh.version)?;
        writeln!(out, ", {} bytes of data{}", pssh.data_bytes, list(", KID ", &pssh.kids))?;
    }
    if let Some(fragments) = fragments {
        writeln!(
            out,
            "  fragments: {}, of {} to {} bytes and {:.3} to {:.3} s",
            fragments.count,
            fragments.smallest,
            fragments.largest,
            fragments.shortest,
            fragments.longest
        )?;
    }
    Ok(())
}

fn write_track(out: &mut impl Write, track: &TrackReport) -> io::Result<()> {
    write!(out, "  track {}: {}, {}", track.id, track.kind, track.codec)?;
    if track.width > 0 {
        write!(out, ", {}x{}", track.width, track.height)?;
    }
    if !track.language.is_empty() && track.language != "und" {
        write!(out, ", {}", track.language)?;
    }
    writeln!(
        out,
        ", {:.3} s at {}/s, {} access units, {} bytes",
        track.duration, track.timescale, track.access_units, track.bytes
    )?;
    match &track.protection {
        Some(protection) => write_protection(out, track, protection),
        None => writeln!(out, "    clear ({})", track.sample_entries.join(" ")),
    }
}

fn write_protection(
    out: &mut impl Write,
    track: &TrackReport,
    protection: &ProtectionReport,
) -> io::Result<()> {
    let ProtectionReport { scheme, pattern, kids, iv_size, constant_iv, first_iv, .. } = protection;
    let pattern = pattern.as_ref().map(|p| format!(" {p}")).unwrap_or_default();
    writeln!(
        out,
        "    {scheme}{pattern} ({}){}",
        track.sample_entries.join(" "),
        list(", KID ", kids)
    )?;
    match (constant_iv, first_iv) {
        (Some(iv), _) => writeln!(out, "    constant IV {iv}")?,
        (None, Some(iv)) => writeln!(out, "    IVs of {iv_size} bytes, the first {iv}")?,
        (None, None) => {}
    }
    writeln!(
        out,
        "    {} of {} access units protected, {} bytes protected, {} clear",
        protection.protected_access_units,
        track.access_units,
        protection.protected_bytes,
        protection.clear_bytes
    )?;
    if protection.with_subsamples > 0 {
        writeln!(
            out,
            "    {} subsamples in {} access units, at most {} in one",
            protection.subsamples, protection.with_subsamples, protection.most_subsamples
        )?;
    }
    Ok(())
}

fn list(before: &str, items: &[String]) -> String {
    if items.is_empty() { String::new() } else { format!("{before}{}", items.join(" ")) }
}
