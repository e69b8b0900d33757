//! CMAC (NIST SP 800-38B, RFC 4493).
//!
//! C_i = E(K, C_(i-1) ^ M_i) with C_0 = 0, and the MAC is E(K, C_(n-1) ^ M_n ^ K1), or with K2 if
//! M_n had to be filled up with a one and zeros. With L = E(K, 0), K1 = L * x and K2 = K1 * x in
//! GF(2^128) (6.1).
//!
//! Nothing in a chain is parallel: with 128-bit keys ten rounds of four cycles, and the exclusive or
//! with the next block, which the kernels move into the last round: about 40 cycles a block.

use core::fmt;

use lanelock_isa::{AesClmul, AesLevel, Block, Blocks as _, Kernel, StackDepth, wipe};
use zeroize::ZeroizeOnDrop;

use crate::{
    Error,
    cipher::{Cipher, EncryptKey, SameKey, Schedule, SizedCipher},
    key_object,
    set_up::SetUp,
    tag::{authenticate, authenticate_wiping},
};

/// CMAC (NIST SP 800-38B): [`Aes128Cmac`](crate::Aes128Cmac), [`Aes192Cmac`](crate::Aes192Cmac),
/// [`Aes256Cmac`](crate::Aes256Cmac).
///
/// ```
/// use lanelock::{Aes128Cmac, Error};
///
/// # fn main() -> Result<(), Error> {
/// let key = Aes128Cmac::new(&[7; 16])?;
/// let mac = key.mac(b"a message");
/// key.verify(b"a message", &mac)?;
/// assert_eq!(key.verify(b"another", &mac), Err(Error::Authentication));
///
/// let mut stream = key.stream(); // piece by piece
/// stream.update(b"a mess");
/// stream.update(b"age");
/// stream.verify(&mac)?;
/// # Ok(())
/// # }
/// ```
///
/// One message is one chain: 40 cycles a block and more. [`lanes::mac`](crate::lanes::mac) takes many at
/// once. A key should be used for at most 2^48 messages (SP 800-38B, appendix B).
///
/// Zeroised on drop.
#[derive(Clone)]
pub struct Cmac<C: SizedCipher>(CmacKey<C::Cipher>);

/// What a CMAC key is made of, whatever its size.
#[derive(Clone)]
pub(crate) struct CmacKey<C: Cipher> {
    key: EncryptKey<C>,
    /// K2 and K1.
    subkeys: [Block; 2],
}

key_object!(Cmac, "Cmac", 0);

impl<C: SizedCipher> SetUp for Cmac<C> {
    const DEPTH: StackDepth = StackDepth::KiB1;

    const NONE: Self = Self(CmacKey { key: EncryptKey::NONE, subkeys: [[0; 16]; 2] });

    fn set(&mut self, key: &[u8], level: AesLevel) {
        let CmacKey { key: schedule, subkeys: [k2, k1] } = &mut self.0;
        schedule.set(key, level);
        schedule.encrypt_block(k1);
        *k1 = double(*k1);
        *k2 = double(*k1);
    }
}

impl<C: SizedCipher> Cmac<C> {
    /// The MAC of `message`.
    pub fn mac(&self, message: &[u8]) -> Block {
        self.0.mac(message)
    }

    /// Checks the MAC of `message`, in constant time.
    ///
    /// # Errors
    /// [`Error::Authentication`] if it is wrong.
    pub fn verify(&self, message: &[u8], mac: &Block) -> Result<(), Error> {
        authenticate(self.level(), StackDepth::KiB0, &mut self.mac(message), mac, &mut [])
    }

    /// Checks a MAC of which only the first `N` bytes were sent, in constant time. `N` is 8 to 16: with
    /// fewer bytes a forger guesses too well (SP 800-38B, A.2). It is part of the type: the length of
    /// what was received does not decide how many bytes are compared.
    ///
    /// # Errors
    /// [`Error::Authentication`] if it is wrong.
    pub fn verify_truncated<const N: usize>(
        &self,
        message: &[u8],
        mac: &[u8; N],
    ) -> Result<(), Error> {
        const { assert!(8 <= N && N <= 16, "a truncated MAC has 8 to 16 bytes") }
        authenticate(self.level(), StackDepth::KiB0, &mut self.mac(message)[..N], mac, &mut [])
    }

    /// The MAC of a message that comes piece by piece.
    pub fn stream(&self) -> CmacStream<'_, C::Cipher> {
        CmacStream { cmac: &self.0, state: [0; 16], last: [0; 16], filled: 0 }
    }

    pub(crate) fn cmac_key(&self) -> &CmacKey<C::Cipher> {
        &self.0
    }
}

impl<C: Cipher> CmacKey<C> {
    pub(crate) fn level(&self) -> AesLevel {
        self.key.level()
    }

    /// A call: what comes in registers is stored, and read by the kernel, in the same pieces.
    #[inline(never)]
    pub(crate) fn mac(&self, message: &[u8]) -> Block {
        self.level().run(Whole { cmac: self, state: [0; 16], message })
    }

    pub(crate) fn key(&self) -> &EncryptKey<C> {
        &self.key
    }

    /// The last block as the chain takes it: filled up, and added to a subkey. `last` is at most a block.
    #[inline(always)]
    pub(crate) fn last_block(&self, last: &[u8]) -> Block {
        if let Ok(block) = last.try_into() {
            return xor(block, &self.subkeys[1]);
        }
        let mut block = [0; 16];
        block[..last.len()].copy_from_slice(last);
        block[last.len()] = 0x80;
        xor(&block, &self.subkeys[0])
    }
}

impl<C: Cipher> Drop for CmacKey<C> {
    fn drop(&mut self) {
        wipe(self.subkeys.as_flattened_mut());
    }
}

/// A message on its way through CMAC. Zeroised on drop.
pub struct CmacStream<'k, C: Cipher> {
    cmac: &'k CmacKey<C>,
    state: Block,
    /// The first `filled` bytes of the last block so far; it may be whole.
    last: Block,
    filled: usize,
}

impl<C: Cipher> CmacStream<'_, C> {
    /// The state of no message; nothing stays of the one that came.
    fn wipe(&mut self) {
        wipe(&mut self.state);
        wipe(&mut self.last);
        self.filled = 0;
    }

    /// More of the message.
    pub fn update(&mut self, mut message: &[u8]) {
        if self.filled > 0 {
            // The last block is kept back, even when it is whole: only `finish` can tell that it is
            // the last.
            let (head, rest) = message.split_at(message.len().min(16 - self.filled));
            self.last[self.filled..][..head.len()].copy_from_slice(head);
            self.filled += head.len();
            message = rest;
            if message.is_empty() {
                return;
            }
            // More follows, so the block is whole and not the last.
            absorb_blocks(&self.cmac.key, &mut self.state, &[self.last]);
        }
        let (blocks, last) = split_last(message);
        absorb_blocks(&self.cmac.key, &mut self.state, blocks);
        self.last[..last.len()].copy_from_slice(last);
        self.filled = last.len();
    }

    /// The MAC of all of it. What comes next is another message: CMAC has no nonce, so one stream may
    /// serve for many.
    pub fn finish(&mut self) -> Block {
        let message = &self.last[..self.filled];
        let mac = self.cmac.level().run(Whole { cmac: self.cmac, state: self.state, message });
        self.wipe();
        mac
    }

    /// Checks the MAC of all of it, in constant time. What comes next is another message.
    ///
    /// # Errors
    /// [`Error::Authentication`] if it is wrong.
    pub fn verify(&mut self, mac: &Block) -> Result<(), Error> {
        authenticate_wiping(&mut self.finish(), mac, &mut [])
    }
}

impl<C: Cipher> Drop for CmacStream<'_, C> {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl<C: Cipher> ZeroizeOnDrop for CmacStream<'_, C> {}

impl<C: Cipher> fmt::Debug for CmacStream<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, level) = (self.cmac.key.name(), self.cmac.level());
        write!(f, "CmacStream({name}Cmac({level}))")
    }
}

/// The blocks before the last one, and the last one, which need not be whole; empty if the message is.
#[inline(always)]
pub(crate) fn split_last(message: &[u8]) -> (&[Block], &[u8]) {
    let (before, last) = message.split_at(message.len().saturating_sub(1) / 16 * 16);
    (before.as_chunks().0, last)
}

/// The MAC of the rest of a message.
struct Whole<'a, C: Cipher> {
    cmac: &'a CmacKey<C>,
    state: Block,
    message: &'a [u8],
}

impl<C: Cipher> Kernel for Whole<'_, C> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let s = s.narrow();
        let Self { cmac, state, message } = self;
        let keys = SameKey::new(s, cmac.key.keys());
        let (blocks, last) = split_last(message);
        let state = s.load(&[state]);
        let state = absorb::<_, C>(s, keys, state, blocks);
        let last = if let Ok(block) = last.try_into() {
            s.xor(s.load(core::slice::from_ref(block)), s.load(&cmac.subkeys[1..]))
        } else {
            let subkey = s.xor(s.load(&cmac.subkeys[..1]), s.load(&END[last.len()..]));
            s.xor(s.load_part(last), subkey)
        };
        let [state] = C::encrypt_xor(s, [last], [state], keys);
        let mut mac = [[0; 16]];
        s.store(state, &mut mac);
        mac[0]
    }
}

/// The one bit that ends a message, behind 0 to 15 bytes.
const END: [Block; 16] = {
    let mut end = [[0; 16]; 16];
    let mut at = 0;
    while at < 16 {
        end[at][at] = 0x80;
        at += 1;
    }
    end
};

/// Takes `blocks` into the chain whose state is `state`.
pub fn absorb_blocks<C: Cipher>(key: &EncryptKey<C>, state: &mut Block, blocks: &[Block]) {
    if !blocks.is_empty() {
        key.level().run(AbsorbBlocks { keys: key.keys(), state, blocks });
    }
}

struct AbsorbBlocks<'a, C: Cipher> {
    keys: Schedule<'a, C>,
    state: &'a mut Block,
    blocks: &'a [Block],
}

impl<C: Cipher> Kernel for AbsorbBlocks<'_, C> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let s = s.narrow();
        let keys = SameKey::new(s, self.keys);
        let state = s.load(core::slice::from_ref(self.state));
        let state = absorb::<_, C>(s, keys, state, self.blocks);
        s.store(state, core::slice::from_mut(self.state));
    }
}

/// CBC-MAC of `blocks`, from `state` on.
#[inline(always)]
pub fn absorb<S: AesClmul, C: Cipher>(
    s: S,
    keys: SameKey<'_, S, C>,
    state: S::V,
    blocks: &[Block],
) -> S::V {
    let Some((first, rest)) = blocks.split_first() else {
        return state;
    };
    // Between two blocks of the chain only rounds are left: round key 0 is added to a block in
    // advance, and the sum to the last round key of the block before, which is added by that round.
    // Registers with 11 round keys: the state, the next block, key 0, keys 1 to 10, a temporary: 14.
    let first = C::whiten(s, s.load(core::slice::from_ref(first)), keys, 0);
    let mut v = s.xor(state, first);
    for block in rest {
        let next = C::whiten(s, s.load(core::slice::from_ref(block)), keys, 0);
        [v] = C::encrypt_whitened_xor(s, [v], [next], keys);
    }
    let [v] = C::encrypt_whitened(s, [v], keys);
    v
}

/// `block` * x: a shift by one bit as a big-endian number, and 0x87 for the bit that falls off (5.3).
fn double(block: Block) -> Block {
    let number = u128::from_be_bytes(block);
    let carry = 0_u128.wrapping_sub(number >> 127) & 0x87;
    ((number << 1) ^ carry).to_be_bytes()
}

/// The exclusive or of two blocks.
#[inline(always)]
pub fn xor(a: &Block, b: &Block) -> Block {
    (u128::from_ne_bytes(*a) ^ u128::from_ne_bytes(*b)).to_ne_bytes()
}
