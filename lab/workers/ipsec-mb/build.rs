//! Compiles the shim, for Debian's ipsec-mb (`libipsec-mb-dev`), or in the package `ipsec-mb-newer` for the
//! one in the folder that `LANELOCK_IPSEC_MB` names: where it was built or installed.

use std::path::{Path, PathBuf};

fn main() {
    let shim = "../ipsec-mb/shim.c";
    println!("cargo::rerun-if-changed={shim}");
    println!("cargo::rerun-if-env-changed=LANELOCK_IPSEC_MB");
    let mut build = cc::Build::new();
    build.file(shim).opt_level(2);
    if std::env::var("CARGO_PKG_NAME").is_ok_and(|name| name.ends_with("newer")) {
        let folder = PathBuf::from(std::env::var("LANELOCK_IPSEC_MB").expect("LANELOCK_IPSEC_MB"));
        let header = find(&folder, &["include", "lib"], &["intel-ipsec-mb.h"]);
        let names = ["libIPSec_MB.so", "libIPSec_MB.a"];
        let library = find(&folder, &["lib", "build/lib", ""], &names);
        build.include(header.parent().expect("a folder")).compile("ipsec_mb_shim");
        println!("cargo::rustc-link-arg-bins={}", library.display());
        let place = library.parent().expect("a folder").display();
        println!("cargo::rustc-link-arg-bins=-Wl,-rpath,{place}");
    } else {
        let header = "/usr/include/intel-ipsec-mb.h";
        println!("cargo::rerun-if-changed={header}");
        assert!(Path::new(header).exists(), "ipsec-mb is not installed (Debian: libipsec-mb-dev)");
        build.compile("ipsec_mb_shim");
        println!("cargo::rustc-link-lib=IPSec_MB");
    }
}

fn find(folder: &Path, parts: &[&str], names: &[&str]) -> PathBuf {
    for part in parts {
        for name in names {
            if let Ok(path) = folder.join(part).join(name).canonicalize() {
                return path;
            }
        }
    }
    panic!("{names:?} in {}", folder.display())
}
