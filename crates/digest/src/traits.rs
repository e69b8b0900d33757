//! The traits of the RustCrypto crate `digest` 0.11: hashes, hashes with output of any length, and HMAC.
//!
//! Their constructors cannot fail, so they take the fastest level whatever `LANELOCK_LEVEL` says.

use ::digest::{
    ExtendableOutput, FixedOutput, FixedOutputReset, HashMarker, InvalidLength, Key, KeyInit,
    MacMarker, Output, OutputSizeUser, Reset, Update, XofReader,
    common::{BlockSizeUser, KeySizeUser},
    consts::{U20, U28, U32, U48, U64, U72, U104, U128, U136, U144, U168},
};

use crate::{
    algorithm::{self, Algorithm, Keccak},
    hash::{self, Hash},
    hmac::{Hmac, HmacKey},
    levels::Levels,
};

macro_rules! sizes {
    ($($algorithm:ident output $output:ident block $block:ident;)+) => {
        $(
            impl OutputSizeUser for Hash<algorithm::$algorithm> {
                type OutputSize = $output;
            }

            impl BlockSizeUser for Hash<algorithm::$algorithm> {
                type BlockSize = $block;
            }

            impl OutputSizeUser for Hmac<algorithm::$algorithm> {
                type OutputSize = $output;
            }

            // As the crate `hmac` has it: a block is the longest key that is taken as it is.
            impl KeySizeUser for Hmac<algorithm::$algorithm> {
                type KeySize = $block;
            }

            impl KeyInit for Hmac<algorithm::$algorithm> {
                fn new(key: &Key<Self>) -> Self {
                    HmacKey::with_levels(Levels::fastest(), key).start()
                }

                fn new_from_slice(key: &[u8]) -> Result<Self, InvalidLength> {
                    Ok(HmacKey::with_levels(Levels::fastest(), key).start())
                }
            }
        )+
    };
}

sizes! {
    Sha1 output U20 block U64;
    Sha224 output U28 block U64;
    Sha256 output U32 block U64;
    Sha384 output U48 block U128;
    Sha512 output U64 block U128;
    Sha512_224 output U28 block U128;
    Sha512_256 output U32 block U128;
    Sha3_224 output U28 block U144;
    Sha3_256 output U32 block U136;
    Sha3_384 output U48 block U104;
    Sha3_512 output U64 block U72;
    Sm3 output U32 block U64;
}

impl<A: Algorithm> Default for Hash<A> {
    fn default() -> Self {
        Self::with_level(Levels::fastest().one)
    }
}

impl<A: Algorithm> HashMarker for Hash<A> {}

impl<A: Algorithm> Update for Hash<A> {
    fn update(&mut self, data: &[u8]) {
        self.update(data);
    }
}

impl<A: Algorithm> Reset for Hash<A> {
    fn reset(&mut self) {
        *self = Self::with_level(self.level());
    }
}

impl<A: Algorithm> FixedOutput for Hash<A>
where
    Self: OutputSizeUser,
{
    fn finalize_into(self, out: &mut Output<Self>) {
        out.copy_from_slice(self.finish().as_ref());
    }
}

impl<A: Algorithm> FixedOutputReset for Hash<A>
where
    Self: OutputSizeUser,
{
    fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
        let fresh = Self::with_level(self.level());
        out.copy_from_slice(core::mem::replace(self, fresh).finish().as_ref());
    }
}

macro_rules! any_length {
    ($($algorithm:ident rate $rate:literal rounds $rounds:literal domain $domain:literal digest $digest:literal block $block:ident;)+) => {
        $(
            impl BlockSizeUser for Hash<Keccak<$rate, $rounds, $domain, $digest>> {
                type BlockSize = $block;
            }

            impl ExtendableOutput for Hash<algorithm::$algorithm> {
                type Reader = hash::Output<$rate, $rounds>;

                fn finalize_xof(self) -> Self::Reader {
                    self.output()
                }
            }
        )+
    };
}

any_length! {
    Shake128 rate 168 rounds 24 domain 0x1f digest 32 block U168;
    Shake256 rate 136 rounds 24 domain 0x1f digest 64 block U136;
    TurboShake128 rate 168 rounds 12 domain 0x1f digest 32 block U168;
    TurboShake256 rate 136 rounds 12 domain 0x1f digest 64 block U136;
}

impl<const RATE: usize, const ROUNDS: usize> XofReader for hash::Output<RATE, ROUNDS> {
    fn read(&mut self, buffer: &mut [u8]) {
        self.read(buffer);
    }
}

impl<A: Algorithm> MacMarker for Hmac<A> {}

impl<A: Algorithm> Update for Hmac<A> {
    fn update(&mut self, data: &[u8]) {
        self.update(data);
    }
}

impl<A: Algorithm> FixedOutput for Hmac<A>
where
    Self: OutputSizeUser,
{
    fn finalize_into(self, out: &mut Output<Self>) {
        out.copy_from_slice(self.finish().as_ref());
    }
}
