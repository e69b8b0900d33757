//! Key expansion (FIPS 197, 5.2), with SubWord from the level, so that it is constant-time.

use lanelock_isa::{AesLevel, Block, Blocks, Kernel};

use super::Aes;

impl<const R: usize> Aes<R> {
    /// `key` has 4 * (R - 7) bytes.
    pub(super) fn expand(key: &[u8], level: AesLevel) -> Self {
        let mut aes = Self { encrypt: [[0; 16]; R], decrypt: [[0; 16]; R], level };
        let Self { encrypt, decrypt, .. } = &mut aes;
        level.run(Expand { key, encrypt, decrypt });
        aes
    }
}

struct Expand<'a, const R: usize> {
    key: &'a [u8],
    encrypt: &'a mut [Block; R],
    decrypt: &'a mut [Block; R],
}

impl<const R: usize> Kernel for Expand<'_, R> {
    type Out = ();

    #[inline(always)]
    fn run<S: Blocks>(self, s: S) {
        let Self { key, encrypt, decrypt } = self;
        let words = encrypt.as_flattened_mut().as_chunks_mut::<4>().0;
        let (first, _) = key.as_chunks::<4>();
        let key_words = first.len();
        words[..key_words].copy_from_slice(first);
        let mut round_constant = 1_u8;
        for i in key_words..words.len() {
            let mut word = words[i - 1];
            if i % key_words == 0 {
                word.rotate_left(1);
                word = sub_word(s, word);
                word[0] ^= round_constant;
                round_constant =
                    (round_constant << 1) ^ if round_constant & 0x80 != 0 { 0x1b } else { 0 };
            } else if key_words == 8 && i % key_words == 4 {
                word = sub_word(s, word);
            }
            let before = words[i - key_words];
            words[i] = core::array::from_fn(|b| word[b] ^ before[b]);
        }
        // The equivalent inverse cipher (FIPS 197, 5.3.5): reversed, all but the ends unmixed.
        decrypt[0] = encrypt[R - 1];
        decrypt[R - 1] = encrypt[0];
        for round in 1..R - 1 {
            decrypt[round] = s.inv_mix_columns(encrypt[R - 1 - round]);
        }
    }
}

/// SubWord: the S-box on four bytes. All columns are equal, so no `ShiftRows` can disturb them.
#[inline(always)]
fn sub_word<S: Blocks>(s: S, word: [u8; 4]) -> [u8; 4] {
    let block = core::array::from_fn(|i| word[i % 4]);
    let [a, b, c, d, ..] = s.sub_words(block);
    [a, b, c, d]
}
