//! Links the library in the folder that `LANELOCK_ISAL_CRYPTO` names: where it was built or installed.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-env-changed=LANELOCK_ISAL_CRYPTO");
    let folder = std::env::var("LANELOCK_ISAL_CRYPTO").expect("LANELOCK_ISAL_CRYPTO");
    let folder = Path::new(&folder);
    let names = ["isa-l_crypto.a", "libisal_crypto.a", "libisal_crypto.so", "isa-l_crypto.so"];
    let found = ["", "bin", "lib", "build", "build/lib", ".libs"]
        .iter()
        .flat_map(|part| names.map(|name| folder.join(part).join(name)))
        .find(|path| path.exists())
        .expect("a library in the folder");
    let headers = ["include", "../include"].map(|part| folder.join(part));
    let headers = headers.iter().find(|part| part.join("isa-l_crypto.h").exists());
    println!("cargo::rerun-if-changed=shim.c");
    cc::Build::new()
        .file("shim.c")
        .include(headers.expect("headers in the folder"))
        .opt_level(2)
        .compile("isa_l_crypto_shim");
    println!("cargo::rustc-link-arg-bins={}", found.display());
    let place = found.parent().expect("a folder").display();
    println!("cargo::rustc-link-arg-bins=-Wl,-rpath,{place}");
}
