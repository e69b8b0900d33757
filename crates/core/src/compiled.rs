//! Functions over a cipher, named with AES.
//!
//! Builds without full optimisation share generic code between crates: what is named here is compiled in this
//! crate, once, and not again in each test and program that uses it.

use crate::{
    Aes, Cmac, CtrStream, Key, KeyWrap, Xts,
    cipher::{AnyAes, EncryptKey},
    lanes::{CmacRef, KeyRef},
};

/// Addresses of functions, so that they are compiled: not inlined, or it is only the caller that compiles them.
#[inline(never)]
pub fn compiled_here() -> impl IntoIterator<Item = *const ()> {
    // The kernels are those of all key sizes.
    [
        <KeyRef<'static> as From<&'static Key<Aes<128>>>>::from as *const (),
        <CmacRef<'static> as From<&'static Cmac<Aes<128>>>>::from as *const (),
        Key::<Aes<128>>::with_level as *const (),
        Key::<Aes<128>>::decrypt_block as *const (),
        Key::<Aes<128>>::ecb_encrypt as *const (),
        Key::<Aes<128>>::ecb_decrypt as *const (),
        Key::<Aes<128>>::cbc_encrypt as *const (),
        Key::<Aes<128>>::cbc_decrypt as *const (),
        Key::<Aes<128>>::cbcs_encrypt as *const (),
        Key::<Aes<128>>::cbcs_decrypt as *const (),
        Key::<Aes<128>>::ctr as *const (),
        EncryptKey::<AnyAes>::encrypt_block as *const (),
        EncryptKey::<AnyAes>::encrypt_blocks as *const (),
        CtrStream::<'static, AnyAes>::apply as *const (),
        CtrStream::<'static, AnyAes>::apply_pattern as *const (),
        Cmac::<Aes<128>>::with_level as *const (),
        Cmac::<Aes<128>>::mac as *const (),
        KeyWrap::<Aes<128>>::with_level as *const (),
        KeyWrap::<Aes<128>>::wrap as *const (),
        KeyWrap::<Aes<128>>::unwrap as *const (),
        Xts::<Aes<128>>::with_level as *const (),
        Xts::<Aes<128>>::encrypt as *const (),
        Xts::<Aes<128>>::decrypt as *const (),
        Xts::<Aes<128>>::encrypt_sectors as *const (),
        Xts::<Aes<128>>::decrypt_sectors as *const (),
    ]
}
