//! Builds OpenSSL's libcrypto from the source in the crate `openssl-src`.

fn main() {
    openssl_src::Build::new().build().print_cargo_metadata();
    println!("cargo::rerun-if-changed=build.rs");
}
