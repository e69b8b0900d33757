//! CTR (NIST SP 800-38A, 6.5) with a big-endian counter in the last 4, 8 or 16 bytes of the block.

use core::fmt;

use inout::InOutBuf;
use lanelock_isa::{Block, Clmul, SameKey};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{Aes, EncryptKey, InFlight, Mode, ecb::load_group};
use crate::{Pattern, inout::InOutBlocks};

/// How many low bits of the counter block count; the others never change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CounterBits {
    /// 32 bits: GCM (NIST SP 800-38D), RFC 3686.
    Bits32,
    /// 64 bits: Common Encryption (ISO/IEC 23001-7, 9.3).
    Bits64,
    /// All 128 bits: NIST SP 800-38A as OpenSSL implements it.
    Bits128,
}

impl CounterBits {
    fn mask(self) -> u128 {
        match self {
            Self::Bits32 => u32::MAX.into(),
            Self::Bits64 => u64::MAX.into(),
            Self::Bits128 => u128::MAX,
        }
    }

    /// Adds `n` to `counter`, modulo 2 to the number of bits.
    fn add(self, counter: &mut Block, n: usize) {
        let number = u128::from_be_bytes(*counter);
        let sum = number.wrapping_add(n as u128);
        *counter = (number & !self.mask() | sum & self.mask()).to_be_bytes();
    }

    /// How many blocks from `counter` on can be counted in the low 64 bits without a wrap.
    fn until_wrap(self, counter: &Block) -> usize {
        let mask = self.mask() & u128::from(u64::MAX);
        let left = mask - (u128::from_be_bytes(*counter) & mask) + 1;
        usize::try_from(left).unwrap_or(usize::MAX)
    }
}

/// Exclusive or of `data` with the key stream that starts at `counter`. The counter does not wrap.
struct Ctr {
    counter: Block,
}

impl Mode for Ctr {
    #[inline(always)]
    fn groups<S: Clmul, const N: usize, const R: usize>(
        &mut self,
        s: S,
        keys: SameKey<S::K, R>,
        mut data: InOutBlocks<'_, '_>,
    ) -> usize {
        let mut counters = [s.counters(&self.counter); N];
        for i in 1..N {
            counters[i] = s.counters_add(counters[0], (i * S::WIDTH) as u64);
        }
        let mut done = 0;
        while data.len() - done >= N * S::WIDTH {
            let mut v = counters;
            for i in 0..N {
                v[i] = s.counter_blocks(counters[i]);
                counters[i] = s.counters_add(counters[i], (N * S::WIDTH) as u64);
            }
            v = s.encrypt::<N, R>(v, keys);
            let text = load_group::<S, N>(s, &data, done);
            let group = &mut data.output()[done..][..N * S::WIDTH];
            for i in 0..N {
                s.store(s.xor(v[i], text[i]), &mut group[i * S::WIDTH..]);
            }
            done += N * S::WIDTH;
        }
        CounterBits::Bits64.add(&mut self.counter, done);
        done
    }
}

impl<const R: usize> Aes<R> {
    /// Encrypts or decrypts `data` in place with the key stream that starts at block `counter`. Then
    /// `counter` has moved on by the blocks used, a last partial block included.
    ///
    /// Never use the same counter block twice with one key.
    pub fn ctr(&self, bits: CounterBits, counter: &mut Block, data: &mut [u8]) {
        self.ctr_inout(bits, counter, data.into());
    }

    /// [`ctr`](Self::ctr), in place or from one buffer to another.
    pub fn ctr_inout(&self, bits: CounterBits, counter: &mut Block, data: InOutBuf<'_, '_, u8>) {
        self.encrypt.ctr(bits, counter, data);
    }
}

impl<const R: usize> EncryptKey<R> {
    /// See [`Aes::ctr`].
    pub(crate) fn ctr(&self, bits: CounterBits, counter: &mut Block, data: InOutBuf<'_, '_, u8>) {
        let (mut blocks, mut rest) = InOutBlocks::split(data);
        while !blocks.is_empty() {
            let n = blocks.len().min(bits.until_wrap(counter));
            let (now, later) = blocks.split_at(n);
            let mode = &mut Ctr { counter: *counter };
            self.level().run(InFlight { mode, keys: self.keys(), data: now });
            bits.add(counter, n);
            blocks = later;
        }
        if !rest.is_empty() {
            let mut stream = *counter;
            self.encrypt_block(&mut stream);
            rest.xor_in2out(&stream[..rest.len()]);
            stream.zeroize();
            bits.add(counter, 1);
        }
    }
}

/// A CTR key stream that is used piece by piece: pieces of any length continue one another.
pub struct CtrStream<'k, const R: usize> {
    key: &'k Aes<R>,
    bits: CounterBits,
    counter: Block,
    /// The current block of the stream, of which the last `left` bytes are unused.
    block: Block,
    left: usize,
}

impl<'k, const R: usize> CtrStream<'k, R> {
    /// The key stream that starts at block `counter`.
    pub fn new(key: &'k Aes<R>, bits: CounterBits, counter: Block) -> Self {
        Self { key, bits, counter, block: [0; 16], left: 0 }
    }

    /// Encrypts or decrypts `data` in place with the next bytes of the stream.
    pub fn apply(&mut self, data: &mut [u8]) {
        let (data, rest) = data.split_at_mut(self.left.min(data.len()));
        xor(data, &self.block[16 - self.left..]);
        self.left -= data.len();
        let (whole, partial) = rest.split_at_mut(rest.len() / 16 * 16);
        self.key.ctr(self.bits, &mut self.counter, whole);
        if !partial.is_empty() {
            self.block = self.counter;
            self.key.encrypt_block(&mut self.block);
            self.bits.add(&mut self.counter, 1);
            xor(partial, &self.block);
            self.left = 16 - partial.len();
        }
    }
}

impl<const R: usize> CtrStream<'_, R> {
    /// Encrypts or decrypts in place the blocks of `data` that `pattern` selects, with the next
    /// blocks of the stream; the others use none of it (`cens`, ISO/IEC 23001-7, 10.3).
    pub fn apply_pattern(&mut self, pattern: Pattern, data: &mut [u8]) {
        let (blocks, _) = data.as_chunks_mut::<16>();
        let (run, period) = (pattern.run(), pattern.period());
        let (first, truncated) = pattern.truncated_run(blocks.len());
        // The selected blocks side by side, so that their counters run in parallel.
        let mut together = [[0; 16]; 256];
        let mut selected = (0..pattern.runs(blocks.len()))
            .flat_map(|unit| unit * period..unit * period + run)
            .chain(first..first + truncated);
        loop {
            let places = selected.clone().take(together.len());
            let mut count = 0;
            for (to, at) in together.iter_mut().zip(places.clone()) {
                *to = blocks[at];
                count += 1;
            }
            if count == 0 {
                break;
            }
            self.apply(together[..count].as_flattened_mut());
            for (from, at) in together.iter().zip(places) {
                blocks[at] = *from;
            }
            selected.nth(count - 1);
        }
        together.as_flattened_mut().zeroize();
    }
}

impl<const R: usize> Drop for CtrStream<'_, R> {
    fn drop(&mut self) {
        self.block.zeroize();
    }
}

impl<const R: usize> ZeroizeOnDrop for CtrStream<'_, R> {}

impl<const R: usize> fmt::Debug for CtrStream<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CtrStream({:?}, {:?})", self.key, self.bits)
    }
}

/// XORs the start of `stream` into `data`.
fn xor(data: &mut [u8], stream: &[u8]) {
    for (d, s) in data.iter_mut().zip(stream) {
        *d ^= s;
    }
}
