//! `aead` 0.6: every algorithm with its longest tag and the nonce that is usual for it. Other
//! lengths: [`crate::Aead`].

use ::aead::{
    AeadCore, AeadInOut, Error, Key, KeyInit, KeySizeUser, Nonce, Tag, TagPosition,
    consts::{U12, U16, U24, U32},
};
use inout::InOutBuf;

use crate::{
    Aead, Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, Aes128Gcm,
    Aes128GcmSiv, Aes128Ocb3, Aes192Gcm, Aes192Ocb3, Aes256Gcm, Aes256GcmSiv, Aes256Ocb3,
    ChaCha20Poly1305, XChaCha20Poly1305,
};
use lanelock_core::parts::detected_level;
use lanelock_isa::HashLevel;

/// A key with tags of another length gives an error: the type says how long they are.
macro_rules! aead {
    ($($name:ty, key $key:ty, nonce $nonce:ty, tag $tag:ty, level $level:expr;)+) => {
        $(
            impl KeySizeUser for $name {
                type KeySize = $key;
            }

            impl KeyInit for $name {
                fn new(key: &Key<Self>) -> Self {
                    Self::with_level(key.as_ref(), $level)
                }
            }

            impl AeadCore for $name {
                type NonceSize = $nonce;
                type TagSize = $tag;
                const TAG_POSITION: TagPosition = TagPosition::Postfix;
            }

            impl AeadInOut for $name {
                fn encrypt_inout_detached(
                    &self,
                    nonce: &Nonce<Self>,
                    associated_data: &[u8],
                    buffer: InOutBuf<'_, '_, u8>,
                ) -> Result<Tag<Self>, Error> {
                    let mut tag = Tag::<Self>::default();
                    self.seal_inout(nonce, associated_data, buffer.into(), &mut tag).map_err(|_| Error)?;
                    Ok(tag)
                }

                fn decrypt_inout_detached(
                    &self,
                    nonce: &Nonce<Self>,
                    associated_data: &[u8],
                    buffer: InOutBuf<'_, '_, u8>,
                    tag: &Tag<Self>,
                ) -> Result<(), Error> {
                    self.open_inout(nonce, associated_data, buffer.into(), tag).map_err(|_| Error)
                }
            }
        )+
    };
}

aead! {
    Aes128Gcm, key U16, nonce U12, tag U16, level detected_level();
    Aes192Gcm, key U24, nonce U12, tag U16, level detected_level();
    Aes256Gcm, key U32, nonce U12, tag U16, level detected_level();
    Aes128GcmSiv, key U16, nonce U12, tag U16, level detected_level();
    Aes256GcmSiv, key U32, nonce U12, tag U16, level detected_level();
    Aes128Ocb3, key U16, nonce U12, tag U16, level detected_level();
    Aes192Ocb3, key U24, nonce U12, tag U16, level detected_level();
    Aes256Ocb3, key U32, nonce U12, tag U16, level detected_level();
    Aegis128L, key U16, nonce U16, tag U32, level detected_level();
    Aegis128X2, key U16, nonce U16, tag U32, level detected_level();
    Aegis128X4, key U16, nonce U16, tag U32, level detected_level();
    Aegis256, key U32, nonce U32, tag U32, level detected_level();
    Aegis256X2, key U32, nonce U32, tag U32, level detected_level();
    Aegis256X4, key U32, nonce U32, tag U32, level detected_level();
    ChaCha20Poly1305, key U32, nonce U12, tag U16, level HashLevel::fastest();
    XChaCha20Poly1305, key U32, nonce U24, tag U16, level HashLevel::fastest();
}
