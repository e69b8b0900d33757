//! Links the library in the folder that `LANELOCK_CRYPTO_MB` names: where it was built or installed.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-env-changed=LANELOCK_CRYPTO_MB");
    let folder = std::env::var("LANELOCK_CRYPTO_MB").expect("LANELOCK_CRYPTO_MB");
    let library = ["lib", "bin", "build/bin", ""]
        .iter()
        .map(|part| Path::new(&folder).join(part).join("libcrypto_mb.so"))
        .find(|path| path.exists())
        .expect("libcrypto_mb.so in the folder");
    println!("cargo::rustc-link-arg-bins={}", library.display());
    let place = library.parent().expect("a folder").display();
    println!("cargo::rustc-link-arg-bins=-Wl,-rpath,{place}");
}
