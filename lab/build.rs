//! Compiles the shim for Debian's libipsec-mb where its header is installed.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(ipsec_mb)");
    println!("cargo::rerun-if-changed=peers/ipsec_mb.c");
    println!("cargo::rerun-if-changed=/usr/include/intel-ipsec-mb.h");
    if std::path::Path::new("/usr/include/intel-ipsec-mb.h").exists() {
        cc::Build::new().file("peers/ipsec_mb.c").opt_level(2).compile("ipsec_mb_shim");
        println!("cargo::rustc-link-lib=IPSec_MB");
        println!("cargo::rustc-cfg=ipsec_mb");
    }
}
