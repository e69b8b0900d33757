//! Functions over a cipher, named with AES.
//!
//! Builds without full optimisation share generic code between crates: what is named here is compiled in this
//! crate, once, and not again in each test and program that uses it.

use lanelock_core::cipher::AnyAes;

use crate::{
    Aead, Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, AegisStream,
    Aes128Ccm, Aes128Gcm, Aes128GcmSiv, Aes128Ocb3, Aes192Gcm, Aes256Gcm, CcmStream, GcmStream,
    Ocb3Stream, Stream, batch::Batch,
};

/// Addresses of functions, so that they are compiled: not inlined, or it is only the caller that compiles them.
#[inline(never)]
pub fn compiled_here() -> impl IntoIterator<Item = *const ()> {
    macro_rules! functions {
        ($($key:ident)+; $($alone:ident)+; $($sized:ident)+; $($stream:ty)+) => {
            [
                $(
                    $key::with_level as *const (),
                    <$key as Aead>::seal_inout as *const (),
                    <$key as Aead>::open_inout as *const (),
                    <$key as Batch>::seal_each as *const (),
                    <$key as Batch>::open_each as *const (),
                )+
                $(
                    $alone::with_level as *const (),
                    <$alone as Aead>::seal_inout as *const (),
                    <$alone as Aead>::open_inout as *const (),
                )+
                $(
                    <$sized as Batch>::seal_each as *const (),
                    <$sized as Batch>::open_each as *const (),
                )+
                $(
                    <$stream as Stream>::aad as *const (),
                    <$stream as Stream>::encrypt as *const (),
                    <$stream as Stream>::decrypt as *const (),
                    <$stream as Stream>::finish as *const (),
                )+
            ]
        };
    }
    // The kernels are those of all key sizes, but for batches of GCM.
    functions! {
        Aes128Gcm Aes128GcmSiv Aes128Ccm Aes128Ocb3;
        Aegis128L Aegis128X2 Aegis128X4 Aegis256 Aegis256X2 Aegis256X4;
        Aes192Gcm Aes256Gcm;
        GcmStream<'static, AnyAes> CcmStream<'static, AnyAes> Ocb3Stream<'static, AnyAes>
        AegisStream<128, 1> AegisStream<128, 2> AegisStream<128, 4>
        AegisStream<256, 1> AegisStream<256, 2> AegisStream<256, 4>
    }
}
