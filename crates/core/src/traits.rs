//! `cipher` 0.5: AES as a block cipher with a backend of many blocks, and CTR as a stream cipher.

use core::fmt;

use ::cipher::{
    AlgorithmName, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt,
    BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut,
    InnerIvInit, Iv, IvSizeUser, Key as KeyArray, KeyInit, KeySizeUser, OverflowError, ParBlocks,
    ParBlocksSizeUser, SeekNum, StreamCipher, StreamCipherError, StreamCipherSeek,
    array::Array,
    common::InnerUser,
    consts::{U16, U24, U32},
};
use inout::InOutBuf;
use lanelock_isa::{AesClmul, Block, Kernel};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    CounterBits,
    cipher::{Aes, Cipher, Key, SameKey, Schedule, SizedCipher},
    inout::InOutBlocks,
    modes::{FLIGHT, Mode, ecb::Ecb},
    set_up::detected_level,
};

macro_rules! keys {
    ($bits:literal, $size:ty, $name:literal) => {
        impl KeySizeUser for Key<Aes<$bits>> {
            type KeySize = $size;
        }

        impl KeyInit for Key<Aes<$bits>> {
            fn new(key: &KeyArray<Self>) -> Self {
                Self::with_level(key.as_ref(), detected_level())
            }
        }

        impl AlgorithmName for Key<Aes<$bits>> {
            fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($name)
            }
        }
    };
}

keys!(128, U16, "Aes128");
keys!(192, U24, "Aes192");
keys!(256, U32, "Aes256");

impl<C: SizedCipher> BlockSizeUser for Key<C> {
    type BlockSize = U16;
}

impl<C: SizedCipher> BlockCipherEncrypt for Key<C> {
    fn encrypt_with_backend(&self, closure: impl BlockCipherEncClosure<BlockSize = U16>) {
        self.level().run(Encrypt { keys: self.encrypt_keys(), closure });
    }
}

impl<C: SizedCipher> BlockCipherDecrypt for Key<C> {
    fn decrypt_with_backend(&self, closure: impl BlockCipherDecClosure<BlockSize = U16>) {
        self.level().run(Decrypt { keys: self.decrypt_keys(), closure });
    }
}

/// Runs a closure over a backend: the mode of another crate becomes a kernel.
struct Encrypt<'k, F, C: Cipher> {
    keys: Schedule<'k, C>,
    closure: F,
}

impl<F: BlockCipherEncClosure<BlockSize = U16>, C: Cipher> Kernel for Encrypt<'_, F, C> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        self.closure.call(&AesBackend::<S, C, true>::new(s, self.keys));
    }
}

/// The same for decryption.
struct Decrypt<'k, F, C: Cipher> {
    keys: Schedule<'k, C>,
    closure: F,
}

impl<F: BlockCipherDecClosure<BlockSize = U16>, C: Cipher> Kernel for Decrypt<'_, F, C> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        self.closure.call(&AesBackend::<S, C, false>::new(s, self.keys));
    }
}

/// AES at level `S`, in one direction.
struct AesBackend<'k, S: AesClmul, C: Cipher, const ENCRYPT: bool> {
    s: S,
    wide: SameKey<'k, S, C>,
    keys: Schedule<'k, C>,
}

impl<'k, S: AesClmul, C: Cipher, const ENCRYPT: bool> AesBackend<'k, S, C, ENCRYPT> {
    #[inline(always)]
    fn new(s: S, keys: Schedule<'k, C>) -> Self {
        Self { s, wide: SameKey::new(s, keys), keys }
    }

    /// Whole groups of vectors.
    #[inline(always)]
    fn groups<const N: usize>(&self, data: InOutBlocks<'_, '_>) -> usize {
        Ecb::<ENCRYPT>.groups::<C, S, N>(self.s, self.wide, data)
    }

    #[inline(always)]
    fn singles(&self, data: InOutBlocks<'_, '_>) {
        let n = self.s.narrow();
        let keys = SameKey::new(n, self.keys);
        Ecb::<ENCRYPT>.groups::<C, S::Narrow, 1>(n, keys, data);
    }

    #[inline(always)]
    fn tail(&self, mut data: InOutBlocks<'_, '_>) {
        let done = self.groups::<1>(data.reborrow());
        let (_, rest) = data.split_at(done);
        if !rest.is_empty() {
            self.singles(rest);
        }
    }
}

impl<S: AesClmul, C: Cipher, const ENCRYPT: bool> BlockSizeUser for AesBackend<'_, S, C, ENCRYPT> {
    type BlockSize = U16;
}

/// Whole groups of vectors at every level: 8 vectors of 4 blocks, or more groups of less.
impl<S: AesClmul, C: Cipher, const ENCRYPT: bool> ParBlocksSizeUser
    for AesBackend<'_, S, C, ENCRYPT>
{
    type ParBlocksSize = U32;
}

impl<S: AesClmul, C: Cipher> BlockCipherEncBackend for AesBackend<'_, S, C, true> {
    #[inline(always)]
    fn encrypt_block(&self, block: InOut<'_, '_, Array<u8, U16>>) {
        self.singles(InOutBlocks::split(block.into_buf().into()).0);
    }

    #[inline(always)]
    fn encrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.groups::<FLIGHT>(blocks.into_buf().into());
    }

    #[inline(always)]
    fn encrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Array<u8, U16>>) {
        self.tail(blocks.into());
    }
}

impl<S: AesClmul, C: Cipher> BlockCipherDecBackend for AesBackend<'_, S, C, false> {
    #[inline(always)]
    fn decrypt_block(&self, block: InOut<'_, '_, Array<u8, U16>>) {
        self.singles(InOutBlocks::split(block.into_buf().into()).0);
    }

    #[inline(always)]
    fn decrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.groups::<FLIGHT>(blocks.into_buf().into());
    }

    #[inline(always)]
    fn decrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Array<u8, U16>>) {
        self.tail(blocks.into());
    }
}

/// CTR that owns its key, for the traits of `cipher`: the last `BITS` bits of the block count
/// (32, 64 or 128), big-endian.
///
/// As those traits have it, the last block of the key stream is never used. Without them:
/// [`CtrStream`](crate::CtrStream).
#[derive(Clone)]
pub struct Ctr<C: SizedCipher, const BITS: u32> {
    key: Key<C>,
    iv: Block,
    /// Blocks of the stream that have been made.
    made: u128,
    /// The counter block of the next one.
    counter: Block,
    /// The last one made, of which the last `left` bytes are unused.
    block: Block,
    left: usize,
}

/// AES-128-CTR with a counter of 32 bits.
pub type Aes128Ctr32BE = Ctr<Aes<128>, 32>;
/// AES-128-CTR with a counter of 64 bits.
pub type Aes128Ctr64BE = Ctr<Aes<128>, 64>;
/// AES-128-CTR with a counter of 128 bits.
pub type Aes128Ctr128BE = Ctr<Aes<128>, 128>;
/// AES-192-CTR with a counter of 32 bits.
pub type Aes192Ctr32BE = Ctr<Aes<192>, 32>;
/// AES-192-CTR with a counter of 64 bits.
pub type Aes192Ctr64BE = Ctr<Aes<192>, 64>;
/// AES-192-CTR with a counter of 128 bits.
pub type Aes192Ctr128BE = Ctr<Aes<192>, 128>;
/// AES-256-CTR with a counter of 32 bits.
pub type Aes256Ctr32BE = Ctr<Aes<256>, 32>;
/// AES-256-CTR with a counter of 64 bits.
pub type Aes256Ctr64BE = Ctr<Aes<256>, 64>;
/// AES-256-CTR with a counter of 128 bits.
pub type Aes256Ctr128BE = Ctr<Aes<256>, 128>;

impl<C: SizedCipher, const BITS: u32> Ctr<C, BITS> {
    const COUNTER: CounterBits = match BITS {
        32 => CounterBits::Bits32,
        64 => CounterBits::Bits64,
        128 => CounterBits::Bits128,
        _ => panic!("counters have 32, 64 or 128 bits"),
    };

    const MASK: u128 = u128::MAX >> (128 - BITS);

    /// Goes to the start of block number `made`.
    fn go_to(&mut self, made: u128) {
        let iv = u128::from_be_bytes(self.iv);
        let counter = iv & !Self::MASK | iv.wrapping_add(made) & Self::MASK;
        (self.made, self.counter, self.left) = (made, counter.to_be_bytes(), 0);
    }

    /// Makes one block of which `used` bytes are used at once.
    fn make_block(&mut self, used: usize) {
        self.block = [0; 16];
        let block = self.block.as_mut_slice();
        self.key.ctr_go_on(Self::COUNTER, &mut self.counter, block.into());
        self.made = self.made.wrapping_add(1);
        self.left = 16 - used;
    }
}

impl<C: SizedCipher, const BITS: u32> InnerUser for Ctr<C, BITS> {
    type Inner = Key<C>;
}

impl<C: SizedCipher, const BITS: u32> IvSizeUser for Ctr<C, BITS> {
    type IvSize = U16;
}

impl<C: SizedCipher, const BITS: u32> InnerIvInit for Ctr<C, BITS> {
    fn inner_iv_init(key: Key<C>, iv: &Iv<Self>) -> Self {
        const { _ = Self::COUNTER }
        let iv = (*iv).into();
        Self { key, iv, made: 0, counter: iv, block: [0; 16], left: 0 }
    }
}

impl<C: SizedCipher, const BITS: u32> StreamCipher for Ctr<C, BITS> {
    fn check_remaining(&self, data_len: usize) -> Result<(), StreamCipherError> {
        let blocks = data_len.saturating_sub(self.left).div_ceil(16);
        if blocks as u128 > Self::MASK - self.made { Err(StreamCipherError) } else { Ok(()) }
    }

    fn unchecked_apply_keystream_inout(&mut self, data: InOutBuf<'_, '_, u8>) {
        let begun = self.left.min(data.len());
        let (mut data, rest) = data.split_at(begun);
        data.xor_in2out(&self.block[16 - self.left..][..begun]);
        self.left -= begun;
        let whole = rest.len() / 16;
        let (blocks, mut partial) = rest.split_at(16 * whole);
        self.key.ctr_go_on(Self::COUNTER, &mut self.counter, blocks.into());
        self.made = self.made.wrapping_add(whole as u128);
        if !partial.is_empty() {
            let used = partial.len();
            self.make_block(used);
            partial.xor_in2out(&self.block[..used]);
        }
    }

    fn unchecked_write_keystream(&mut self, data: &mut [u8]) {
        data.fill(0);
        self.unchecked_apply_keystream(data);
    }
}

impl<C: SizedCipher, const BITS: u32> StreamCipherSeek for Ctr<C, BITS> {
    #[expect(clippy::cast_possible_truncation, reason = "less than 16 bytes are left")]
    fn try_current_pos<T: SeekNum>(&self) -> Result<T, OverflowError> {
        T::from_block_byte(self.made, 16 - self.left as u8, 16)
    }

    fn try_seek<T: SeekNum>(&mut self, position: T) -> Result<(), StreamCipherError> {
        let (block, byte) = position.into_block_byte::<u128>(16)?;
        if block > Self::MASK || block == Self::MASK && byte > 0 {
            return Err(StreamCipherError);
        }
        self.go_to(block);
        if byte > 0 {
            self.make_block(byte.into());
        }
        Ok(())
    }
}

impl<C: SizedCipher, const BITS: u32> Drop for Ctr<C, BITS> {
    fn drop(&mut self) {
        self.block.zeroize();
    }
}

impl<C: SizedCipher, const BITS: u32> ZeroizeOnDrop for Ctr<C, BITS> {}

impl<C: SizedCipher, const BITS: u32> fmt::Debug for Ctr<C, BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ctr({:?}, {:?})", self.key, Self::COUNTER)
    }
}
