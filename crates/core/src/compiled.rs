//! Functions over a cipher, named with AES.
//!
//! Builds without full optimisation share generic code between crates: what is named here is compiled in this
//! crate, once, and not again in each test and program that uses it.

use crate::{Aes, Cmac, CtrStream, Key, KeyWrap, Xts, cipher::EncryptKey, lanes::LaneCipher};

/// Addresses of functions, so that they are compiled.
pub fn compiled_here() -> impl IntoIterator<Item = *const ()> {
    macro_rules! functions {
        ($($rounds:literal)+) => {
            [$(
                <Aes<$rounds> as LaneCipher>::kernels as *const (),
                Key::<Aes<$rounds>>::with_level as *const (),
                Key::<Aes<$rounds>>::decrypt_block as *const (),
                Key::<Aes<$rounds>>::ecb_encrypt as *const (),
                Key::<Aes<$rounds>>::ecb_decrypt as *const (),
                Key::<Aes<$rounds>>::cbc_encrypt as *const (),
                Key::<Aes<$rounds>>::cbc_decrypt as *const (),
                Key::<Aes<$rounds>>::cbcs_encrypt as *const (),
                Key::<Aes<$rounds>>::cbcs_decrypt as *const (),
                Key::<Aes<$rounds>>::ctr as *const (),
                EncryptKey::<Aes<$rounds>>::encrypt_block as *const (),
                EncryptKey::<Aes<$rounds>>::encrypt_blocks as *const (),
                CtrStream::<'static, Aes<$rounds>>::apply as *const (),
                CtrStream::<'static, Aes<$rounds>>::apply_pattern as *const (),
                Cmac::<Aes<$rounds>>::with_level as *const (),
                Cmac::<Aes<$rounds>>::mac as *const (),
                KeyWrap::<Aes<$rounds>>::with_level as *const (),
                KeyWrap::<Aes<$rounds>>::wrap as *const (),
                KeyWrap::<Aes<$rounds>>::unwrap as *const (),
                Xts::<Aes<$rounds>>::with_level as *const (),
                Xts::<Aes<$rounds>>::encrypt as *const (),
                Xts::<Aes<$rounds>>::decrypt as *const (),
                Xts::<Aes<$rounds>>::encrypt_sectors as *const (),
                Xts::<Aes<$rounds>>::decrypt_sectors as *const (),
            )+]
        };
    }
    functions!(11 13 15)
}
