//! Links Debian's ISA-L (`libisal-dev`).

fn main() {
    let header = "/usr/include/isa-l.h";
    println!("cargo::rerun-if-changed={header}");
    let text = std::fs::read_to_string(header).expect("ISA-L (Debian: libisal-dev)");
    let number = |name: &str| {
        let line =
            text.lines().find(|line| line.starts_with(&format!("#define ISAL_{name}_VERSION ")));
        line.and_then(|line| line.split(' ').nth(2)).unwrap_or("?").to_owned()
    };
    let version = ["MAJOR", "MINOR", "PATCH"].map(number).join(".");
    println!("cargo::rustc-env=ISAL_VERSION={version}");
    println!("cargo::rustc-link-lib=isal");
}
