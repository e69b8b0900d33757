//! CTR (NIST SP 800-38A, 6.5) with a big-endian counter in the last 4, 8 or 16 bytes of the block.
//!
//! C_j = P_j ^ E(K, T_j), where T_(j+1) is T_j with its counter one higher; decryption is the same.
//!
//! A counter of *m* bits may start anywhere and counts modulo 2^*m*. What must not happen is that a
//! counter block comes a second time under one key: so a message has at most 2^*m* blocks (B.2), and
//! one that is longer is an error.

use core::fmt;

use lanelock_isa::{AesClmul, Block};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{InFlight, Mode, ecb::load_group};
use crate::{
    Error, Pattern,
    cipher::{Cipher, EncryptKey, Key, SameKey, SizedCipher},
    inout::{InOut, InOutBlocks},
};

/// How many low bits of the counter block count, modulo 2 to their number; the others never change.
///
/// The *value* may wrap: that is how the mode is defined, and Common Encryption starts anywhere. The
/// *number* of blocks from one start must not exceed the number of values: that is
/// [`Error::MessageLength`], since the key stream would repeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
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

    /// The number of blocks from one start: as many as the counter has values. With 128 bits one
    /// less, which fits the type and which no message reaches.
    fn most_blocks(self) -> u128 {
        self.mask().saturating_add(1)
    }

    /// Whether a message of so many bytes has no more blocks than that.
    fn check(self, bytes: usize) -> Result<(), Error> {
        let fits = bytes.div_ceil(16) as u128 <= self.most_blocks();
        if fits { Ok(()) } else { Err(Error::MessageLength) }
    }

    /// Adds `n` to `counter`, modulo 2 to the number of bits.
    fn add(self, counter: &mut Block, n: u128) {
        let number = u128::from_be_bytes(*counter);
        let sum = number.wrapping_add(n);
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
struct CtrMode {
    counter: Block,
}

impl Mode for CtrMode {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a group has 32 blocks at most")]
    fn groups<C: Cipher, S: AesClmul, const N: usize>(
        &mut self,
        s: S,
        keys: SameKey<'_, S, C>,
        mut data: InOutBlocks<'_, '_>,
    ) -> usize {
        // Registers, with `N` = 8 and 11 round keys: 8 states, the running counter, 11 keys and the order of
        // bytes for the reversal: 21.
        let mut counter = s.counters(&self.counter);
        let [.., mut last_byte] = self.counter;
        let mut done = 0;
        while data.len() - done >= N * S::WIDTH {
            let first = s.counter_blocks(counter);
            let mut v = [first; N];
            if N > 1 && usize::from(last_byte) + N * S::WIDTH <= 256 {
                // Nothing is carried out of the last byte: numbers are added to the blocks themselves, without a
                // shuffle each.
                for i in 1..N {
                    let number = (i * S::WIDTH) as u64;
                    v[i] = s.add_words(first, s.splat_halves(0, number << 56));
                }
            } else {
                for i in 1..N {
                    v[i] = s.counter_blocks(s.counters_add(counter, (i * S::WIDTH) as u64));
                }
            }
            counter = s.counters_add(counter, (N * S::WIDTH) as u64);
            last_byte = last_byte.wrapping_add((N * S::WIDTH) as u8);
            v = C::encrypt(s, v, keys);
            // The text is loaded behind the rounds, which do not need it: before them it would take
            // `N` registers.
            let text = load_group::<S, N>(s, &data, done);
            let group = &mut data.output()[done..][..N * S::WIDTH];
            for i in 0..N {
                s.store(s.xor(v[i], text[i]), &mut group[i * S::WIDTH..]);
            }
            done += N * S::WIDTH;
        }
        CounterBits::Bits64.add(&mut self.counter, done as u128);
        done
    }
}

impl<C: SizedCipher> Key<C> {
    /// Encrypts or decrypts `data`, a whole message, in place with the key stream that starts at block
    /// `counter`. [`CtrStream`] takes a message in pieces.
    ///
    /// Never use the same counter block twice with one key.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if `data` has more blocks than the counter has values; nothing is
    /// changed then.
    pub fn ctr(&self, bits: CounterBits, counter: &Block, data: &mut [u8]) -> Result<(), Error> {
        self.ctr_inout(bits, counter, data.into())
    }

    /// [`ctr`](Self::ctr), in place or from one buffer to another.
    pub fn ctr_inout(
        &self,
        bits: CounterBits,
        counter: &Block,
        data: InOut<'_, '_>,
    ) -> Result<(), Error> {
        bits.check(data.len())?;
        self.ctr_go_on(bits, &mut counter.clone(), data);
        Ok(())
    }

    /// The key stream that starts at block `counter`, which moves on by the blocks used, a last partial
    /// one included. The caller counts them.
    pub fn ctr_go_on(&self, bits: CounterBits, counter: &mut Block, data: InOut<'_, '_>) {
        self.encrypt_key().ctr(bits, counter, data);
    }
}

impl<C: Cipher> EncryptKey<C> {
    /// See [`Key::ctr_go_on`].
    #[inline(always)]
    pub fn ctr(&self, bits: CounterBits, counter: &mut Block, data: InOut<'_, '_>) {
        let (mut blocks, mut rest) = InOutBlocks::split(data);
        while !blocks.is_empty() {
            // The kernel adds in 64 bits without a carry: so a run ends where the counter wraps.
            let n = blocks.len().min(bits.until_wrap(counter));
            let (now, later) = blocks.split_at(n);
            let mode = &mut CtrMode { counter: *counter };
            self.level().run(InFlight { mode, keys: self.keys(), data: now });
            bits.add(counter, n as u128);
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

/// A CTR key stream (NIST SP 800-38A, 6.5) that is used piece by piece: pieces of any length continue
/// one another.
///
/// ```
/// use lanelock::{Aes128, CounterBits, CtrStream};
///
/// # fn main() -> Result<(), lanelock::Error> {
/// let key = Aes128::new(&[7; 16])?;
/// let mut stream = CtrStream::new(&key, CounterBits::Bits64, [1; 16]);
/// let mut data = [0; 1000];
/// stream.apply(&mut data[..333])?;
/// stream.apply(&mut data[333..])?;
///
/// stream.seek(500)?; // decrypts from byte 500 on
/// stream.apply(&mut data[500..])?;
/// assert_eq!(data[500..], [0; 500]);
/// # Ok(())
/// # }
/// ```
pub struct CtrStream<'k, C: Cipher> {
    key: &'k EncryptKey<C>,
    bits: CounterBits,
    start: Block,
    /// Blocks of the stream that may still be made, and the counter block of the next one.
    blocks_left: u128,
    counter: Block,
    /// The current block of the stream, of which the last `left` bytes are unused.
    block: Block,
    left: usize,
}

impl<'k, C: Cipher> CtrStream<'k, C> {
    /// The key stream that starts at block `counter`.
    pub fn new(
        key: &'k Key<impl SizedCipher<Cipher = C>>,
        bits: CounterBits,
        counter: Block,
    ) -> Self {
        let (key, blocks_left) = (key.encrypt_key(), bits.most_blocks());
        Self { key, bits, start: counter, blocks_left, counter, block: [0; 16], left: 0 }
    }

    /// Encrypts or decrypts `data` in place with the next bytes of the stream.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if the stream has fewer bytes left: as many blocks as the counter has
    /// values. Nothing is changed then.
    pub fn apply(&mut self, data: &mut [u8]) -> Result<(), Error> {
        self.take_blocks(data.len().saturating_sub(self.left).div_ceil(16))?;
        self.apply_counted(data);
        Ok(())
    }

    /// [`apply`](Self::apply), the blocks for which have been taken.
    fn apply_counted(&mut self, data: &mut [u8]) {
        // What is left of the current block; whole blocks by the kernel; the beginning of a new
        // block.
        let (begun, rest) = data.split_at_mut(self.left.min(data.len()));
        xor(begun, &self.block[16 - self.left..]);
        self.left -= begun.len();
        let (whole, partial) = rest.split_at_mut(rest.len() / 16 * 16);
        self.key.ctr(self.bits, &mut self.counter, whole.into());
        if !partial.is_empty() {
            self.next_block();
            xor(partial, &self.block);
            self.left = 16 - partial.len();
        }
    }

    /// Goes to byte `position` of the stream, from its start.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if the stream ends before; nothing is changed then.
    pub fn seek(&mut self, position: u128) -> Result<(), Error> {
        let (blocks, bytes) = (position / 16, (position % 16) as usize);
        let all = self.bits.most_blocks();
        if blocks > all || blocks == all && bytes > 0 {
            return Err(Error::MessageLength);
        }
        self.counter = self.start;
        self.bits.add(&mut self.counter, blocks);
        (self.blocks_left, self.left) = (all - blocks, 0);
        if bytes > 0 {
            self.blocks_left -= 1;
            self.next_block();
            self.left = 16 - bytes;
        }
        Ok(())
    }

    /// Counts blocks that are about to be made against those that the stream still has.
    fn take_blocks(&mut self, blocks: usize) -> Result<(), Error> {
        let left = self.blocks_left.checked_sub(blocks as u128);
        self.blocks_left = left.ok_or(Error::MessageLength)?;
        Ok(())
    }

    /// Makes the next block of the stream.
    fn next_block(&mut self) {
        self.block = self.counter;
        self.key.encrypt_block(&mut self.block);
        self.bits.add(&mut self.counter, 1);
    }
}

impl<C: Cipher> CtrStream<'_, C> {
    /// Encrypts or decrypts in place the blocks of `data` that `pattern` selects, with the next
    /// blocks of the stream; the others use none of it (`cens`, ISO/IEC 23001-7, 10.3).
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn apply_pattern(&mut self, pattern: Pattern, data: &mut [u8]) -> Result<(), Error> {
        let (blocks, _) = data.as_chunks_mut::<16>();
        let (run, period) = (pattern.run(), pattern.period());
        let (first, truncated) = pattern.truncated_run(blocks.len());
        self.take_blocks(pattern.runs(blocks.len()) * run + truncated)?;
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
            self.apply_counted(together[..count].as_flattened_mut());
            for (from, at) in together.iter().zip(places) {
                blocks[at] = *from;
            }
            selected.nth(count - 1);
        }
        together.as_flattened_mut().zeroize();
        Ok(())
    }
}

impl<C: Cipher> Drop for CtrStream<'_, C> {
    fn drop(&mut self) {
        self.block.zeroize();
    }
}

impl<C: Cipher> ZeroizeOnDrop for CtrStream<'_, C> {}

impl<C: Cipher> fmt::Debug for CtrStream<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, bits, .. } = self;
        write!(f, "CtrStream({}({}), {bits:?})", key.name(), key.level())
    }
}

/// XORs the start of `stream` into `data`.
fn xor(data: &mut [u8], stream: &[u8]) {
    for (d, s) in data.iter_mut().zip(stream) {
        *d ^= s;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By numbers, since no test has so long a buffer.
    #[test]
    fn a_message_has_as_many_blocks_as_the_counter_has_values() {
        let most: u64 = 16 << 32;
        if let Ok(most) = usize::try_from(most) {
            assert_eq!(CounterBits::Bits32.check(most), Ok(()));
            assert_eq!(CounterBits::Bits32.check(most + 1), Err(Error::MessageLength));
        }
        for bits in [CounterBits::Bits64, CounterBits::Bits128] {
            assert_eq!(bits.check(usize::MAX), Ok(()));
        }
    }
}
