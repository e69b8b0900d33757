//! Modes of AES block by block, as their standards write them, over the `aes` crate: slow, and easy to
//! compare with the standards.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use lanelock::{Block, CounterBits};

/// AES with a key of any length.
pub(crate) enum Aes {
    Aes128(aes::Aes128),
    Aes192(aes::Aes192),
    Aes256(aes::Aes256),
}

/// Blocks `crypt`, then `skip`, and what becomes of a last run that is cut short.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs {
    pub(crate) crypt: u8,
    pub(crate) skip: u8,
    pub(crate) truncated: bool,
}

impl Runs {
    pub(crate) const ALL: Self = Self { crypt: 0, skip: 0, truncated: false };

    /// The blocks that are encrypted, of so many (ISO/IEC 23001-7, 9.6.1).
    pub(crate) fn selected(self, blocks: usize) -> Vec<usize> {
        let (crypt, skip) = (usize::from(self.crypt), usize::from(self.skip));
        if crypt == 0 || skip == 0 {
            return (0..blocks).collect();
        }
        let runs = (0..blocks).step_by(crypt + skip);
        let whole = runs.filter(|start| self.truncated || start + crypt <= blocks);
        whole.flat_map(|start| start..(start + crypt).min(blocks)).collect()
    }

    pub(crate) fn pattern(self) -> lanelock::Pattern {
        let pattern = lanelock::Pattern::new(self.crypt, self.skip);
        if self.truncated { pattern.encrypt_truncated_runs() } else { pattern }
    }
}

impl Aes {
    pub(crate) fn new(key: &[u8]) -> Self {
        match key.len() {
            16 => Self::Aes128(KeyInit::new_from_slice(key).expect("16 bytes")),
            24 => Self::Aes192(KeyInit::new_from_slice(key).expect("24 bytes")),
            _ => Self::Aes256(KeyInit::new_from_slice(key).expect("32 bytes")),
        }
    }

    pub(crate) fn encrypt(&self, block: Block) -> Block {
        let mut block = block.into();
        match self {
            Self::Aes128(aes) => aes.encrypt_block(&mut block),
            Self::Aes192(aes) => aes.encrypt_block(&mut block),
            Self::Aes256(aes) => aes.encrypt_block(&mut block),
        }
        block.into()
    }

    pub(crate) fn ecb(&self, data: &mut [u8]) {
        for block in data.as_chunks_mut().0 {
            *block = self.encrypt(*block);
        }
    }

    /// CBC of the blocks that `runs` selects; the IV becomes the last of them.
    pub(crate) fn cbc(&self, iv: &mut Block, runs: Runs, data: &mut [u8]) {
        let (blocks, _) = data.as_chunks_mut();
        for at in runs.selected(blocks.len()) {
            *iv = self.encrypt(xor(&blocks[at], iv));
            blocks[at] = *iv;
        }
    }

    /// The key stream from block `counter` on, as long as `blocks`.
    fn stream(&self, bits: CounterBits, counter: Block, blocks: usize) -> Vec<Block> {
        (0..blocks as u128).map(|block| self.encrypt(add(bits, counter, block))).collect()
    }

    /// CTR from byte `start` of the stream on.
    pub(crate) fn ctr(&self, bits: CounterBits, counter: Block, start: u128, data: &mut [u8]) {
        let (first, skipped) = (start / 16, usize::try_from(start % 16).expect("below 16"));
        let blocks = (skipped + data.len()).div_ceil(16);
        let stream = self.stream(bits, add(bits, counter, first), blocks);
        for (byte, mask) in data.iter_mut().zip(stream.as_flattened().iter().skip(skipped)) {
            *byte ^= mask;
        }
    }

    /// CTR of the blocks that `runs` selects.
    pub(crate) fn ctr_runs(&self, bits: CounterBits, counter: Block, runs: Runs, data: &mut [u8]) {
        let (blocks, _) = data.as_chunks_mut();
        let selected = runs.selected(blocks.len());
        let stream = self.stream(bits, counter, selected.len());
        for (at, mask) in selected.into_iter().zip(stream) {
            blocks[at] = xor(&blocks[at], &mask);
        }
    }

    /// XTS (IEEE Std 1619, 5.3): `self` is the key of the data.
    pub(crate) fn xts(&self, tweak_key: &Self, tweak: Block, data: &mut [u8]) {
        let mut mask = tweak_key.encrypt(tweak);
        let (blocks, rest) = data.as_chunks_mut();
        for block in &mut *blocks {
            *block = xor(&self.encrypt(xor(block, &mask)), &mask);
            mask = times_alpha(mask);
        }
        if !rest.is_empty() {
            let last = blocks.last_mut().expect("16 bytes at least");
            let stolen = *last;
            last[..rest.len()].copy_from_slice(rest);
            *last = xor(&self.encrypt(xor(last, &mask)), &mask);
            rest.copy_from_slice(&stolen[..rest.len()]);
        }
    }

    /// CMAC (NIST SP 800-38B, 6.2).
    pub(crate) fn cmac(&self, message: &[u8]) -> Block {
        let k1 = double(self.encrypt([0; 16]));
        let (blocks, last) = message.split_at(message.len().saturating_sub(1) / 16 * 16);
        let mut end = [0; 16];
        end[..last.len()].copy_from_slice(last);
        let k = if last.len() == 16 {
            k1
        } else {
            end[last.len()] = 0x80;
            double(k1)
        };
        let mut state = [0; 16];
        for block in blocks.as_chunks().0 {
            state = self.encrypt(xor(&state, block));
        }
        self.encrypt(xor(&xor(&state, &end), &k))
    }

    /// KW and KWP (NIST SP 800-38F, 6.1: `W`), of a check value and semiblocks.
    fn w(&self, check: [u8; 8], key: &[u8]) -> Vec<u8> {
        let (mut a, mut r) = (check, key.as_chunks::<8>().0.to_vec());
        let count = r.len() as u64;
        for t in 1..=6 * count {
            let at = usize::try_from((t - 1) % count).expect("as many as there are");
            let block = self.encrypt(join(a, r[at]));
            let (high, low) = block.split_at(8);
            let sum = u64::from_be_bytes(high.try_into().expect("8 bytes")) ^ t;
            a = sum.to_be_bytes();
            r[at].copy_from_slice(low);
        }
        [&a, r.as_flattened()].concat()
    }

    pub(crate) fn wrap(&self, key: &[u8]) -> Vec<u8> {
        self.w([0xa6; 8], key)
    }

    pub(crate) fn wrap_padded(&self, key: &[u8]) -> Vec<u8> {
        let length = u32::try_from(key.len()).expect("a short key").to_be_bytes();
        let check = [0xa6, 0x59, 0x59, 0xa6, length[0], length[1], length[2], length[3]];
        let mut padded = key.to_vec();
        padded.resize(key.len().next_multiple_of(8), 0);
        if let Ok(one) = <[u8; 8]>::try_from(&padded[..]) {
            return self.encrypt(join(check, one)).to_vec();
        }
        self.w(check, &padded)
    }
}

fn join(a: [u8; 8], b: [u8; 8]) -> Block {
    std::array::from_fn(|at| if at < 8 { a[at] } else { b[at - 8] })
}

fn xor(a: &Block, b: &Block) -> Block {
    std::array::from_fn(|at| a[at] ^ b[at])
}

/// The counter block that many blocks later: the low bits alone count.
pub(crate) fn add(bits: CounterBits, counter: Block, blocks: u128) -> Block {
    let number = u128::from_be_bytes(counter);
    let low = match bits {
        CounterBits::Bits32 => u32::MAX.into(),
        CounterBits::Bits64 => u64::MAX.into(),
        _ => u128::MAX,
    };
    (number & !low | number.wrapping_add(blocks) & low).to_be_bytes()
}

/// In the order of XTS: little-endian.
fn times_alpha(mask: Block) -> Block {
    let number = u128::from_le_bytes(mask);
    (number << 1 ^ if number >> 127 == 1 { 0x87 } else { 0 }).to_le_bytes()
}

/// In the order of CMAC: big-endian.
fn double(block: Block) -> Block {
    let number = u128::from_be_bytes(block);
    (number << 1 ^ if number >> 127 == 1 { 0x87 } else { 0 }).to_be_bytes()
}
