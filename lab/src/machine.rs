//! Where it is measured.

use std::{fs, process::Command};

use serde::{Deserialize, Serialize};

/// What a table has to name.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Machine {
    pub processor: String,
    pub system: String,
    pub compilers: String,
    pub gigahertz: Option<f64>,
    pub date: String,
    pub commit: String,
}

/// The processor that the workers share, and the one that this process stays on: another one, if
/// there are two.
pub fn processors() -> (usize, usize) {
    // SAFETY: the set is plain data, and its size is given.
    let allowed: Vec<usize> = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set);
        (0..libc::CPU_SETSIZE as usize).filter(|i| libc::CPU_ISSET(*i, &set)).collect()
    };
    (allowed.last().copied().unwrap_or(0), allowed.first().copied().unwrap_or(0))
}

pub fn describe(gigahertz: Option<f64>) -> Machine {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line =
            info.lines().find(|line| line.split(':').next().is_some_and(|n| n.trim() == name));
        line.and_then(|line| line.split(':').nth(1)).unwrap_or("?").trim().to_owned()
    };
    let count = info.lines().filter(|line| line.starts_with("processor")).count();
    let hypervisor = if info.contains(" hypervisor ") { ", virtual" } else { "" };
    let processor = format!(
        "{}, family {} model {}{}, {count} cores{hypervisor}",
        field("model name"),
        field("cpu family"),
        field("model"),
        generation(&field("vendor_id"), &field("cpu family"), &field("model")),
    );
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let system = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=\""));
    let versions = [("rustc", "--version"), ("cc", "--version"), ("clang", "--version")];
    Machine {
        processor,
        system: system.unwrap_or("Linux").trim_end_matches('"').into(),
        compilers: versions
            .iter()
            .filter_map(|(program, a)| first_line(program, &[a]))
            .collect::<Vec<_>>()
            .join("; "),
        gigahertz,
        date: first_line("date", &["+%F"]).unwrap_or_default(),
        commit: first_line("git", &["describe", "--always", "--dirty"]).unwrap_or_default(),
    }
}

/// The name of the microarchitecture, where this lab has a use for it.
fn generation(vendor: &str, family: &str, model: &str) -> &'static str {
    match (vendor, family, model.parse().unwrap_or(0)) {
        ("AuthenticAMD", "25", 0x10..=0x1f | 0x60..=0xaf) => " (Zen 4)",
        ("AuthenticAMD", "25", _) => " (Zen 3)",
        ("AuthenticAMD", "26", _) => " (Zen 5)",
        _ => "",
    }
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.lines().next()?.trim().to_owned())
}
