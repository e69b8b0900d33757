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
};
use lanelock_core::parts::detected_level;

/// A key with tags of another length gives an error: the type says how long they are.
macro_rules! aead {
    ($($name:ty, key $key:ty, nonce $nonce:ty, tag $tag:ty;)+) => {
        $(
            impl KeySizeUser for $name {
                type KeySize = $key;
            }

            impl KeyInit for $name {
                fn new(key: &Key<Self>) -> Self {
                    Self::with_level(key.as_ref(), detected_level())
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
    Aes128Gcm, key U16, nonce U12, tag U16;
    Aes192Gcm, key U24, nonce U12, tag U16;
    Aes256Gcm, key U32, nonce U12, tag U16;
    Aes128GcmSiv, key U16, nonce U12, tag U16;
    Aes256GcmSiv, key U32, nonce U12, tag U16;
    Aes128Ocb3, key U16, nonce U12, tag U16;
    Aes192Ocb3, key U24, nonce U12, tag U16;
    Aes256Ocb3, key U32, nonce U12, tag U16;
    Aegis128L, key U16, nonce U16, tag U32;
    Aegis128X2, key U16, nonce U16, tag U32;
    Aegis128X4, key U16, nonce U16, tag U32;
    Aegis256, key U32, nonce U32, tag U32;
    Aegis256X2, key U32, nonce U32, tag U32;
    Aegis256X4, key U32, nonce U32, tag U32;
}
