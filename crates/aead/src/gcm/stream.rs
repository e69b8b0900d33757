//! A message that comes piece by piece.

use core::fmt;

use lanelock_isa::{AesClmul, Block, Blocks as _, Kernel};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{GcmKey, MOST_TEXT, first_counter, hashed, whole_groups_of};
use crate::{Stream, stitch::StitchedText};
use lanelock_core::{InOut, cipher::Cipher, parts::InOutBlocks};
use lanelock_hash::{
    field::{ProductRun, VECTORS},
    universal::HashState,
};

/// A message that comes piece by piece: see [`Gcm::sealer`](super::Gcm::sealer).
pub struct GcmStream<'k, C: Cipher> {
    gcm: &'k GcmKey<C>,
    /// The block that masks the tag.
    mask: Block,
    /// The last counter used.
    counter: Block,
    /// Whether it is public: behind a nonce of 12 bytes it is, and comes from a hash otherwise.
    public_counter: bool,
    hash: HashState<true>,
    /// The current block of the key stream, of which the last `left` bytes are unused.
    stream: Block,
    left: usize,
    aad_bytes: u64,
    text_bytes: u64,
}

impl<'k, C: Cipher> GcmStream<'k, C> {
    pub(super) fn new(gcm: &'k GcmKey<C>, nonce: &[u8]) -> Self {
        let counter = gcm.level().run(FirstCounter { gcm, nonce });
        let mut mask = counter;
        gcm.key.encrypt_block(&mut mask);
        Self {
            gcm,
            mask,
            counter,
            public_counter: nonce.len() == 12,
            hash: HashState::empty(),
            stream: [0; 16],
            left: 0,
            aad_bytes: 0,
            text_bytes: 0,
        }
    }

    fn wipe(&mut self) {
        self.hash.wipe();
        self.mask.zeroize();
        self.stream.zeroize();
    }

    fn update_hash(&mut self, bytes: &[u8]) {
        self.hash.update(&self.gcm.powers, self.gcm.level(), bytes);
    }

    fn crypt<const SEAL: bool>(&mut self, data: InOut<'_, '_>) {
        // The AAD ends with the first text: zeros complete its last block.
        if self.text_bytes == 0 {
            self.hash.pad(&self.gcm.powers, self.gcm.level());
        }
        self.text_bytes += data.len() as u64;
        // First what is left of the current block of key stream; then whole blocks in the kernel;
        // then the beginning of a new block.
        let now = self.left.min(data.len());
        let (begun, rest) = data.split_at(now);
        self.crypt_part::<SEAL>(begun);
        let whole = rest.len() / 16 * 16;
        let (blocks, rest) = rest.split_at(whole);
        if !blocks.is_empty() {
            let Self { gcm, counter, public_counter, hash, .. } = self;
            let (public_counter, hash) = (*public_counter, &mut hash.hash);
            let data = blocks;
            gcm.level().run(GcmPiece::<_, SEAL> { gcm, counter, public_counter, hash, data });
        }
        if !rest.is_empty() {
            advance(&mut self.counter, 1);
            self.stream = self.counter;
            self.gcm.key.encrypt_block(&mut self.stream);
            self.left = 16;
            self.crypt_part::<SEAL>(rest);
        }
    }

    /// At most the bytes that are left of the current block.
    fn crypt_part<const SEAL: bool>(&mut self, mut data: InOut<'_, '_>) {
        if data.is_empty() {
            return;
        }
        // GHASH takes the ciphertext: the input when opening, the output when sealing.
        if !SEAL {
            self.update_hash(data.get_in());
        }
        let start = 16 - self.left;
        data.xor_in2out(&self.stream[start..start + data.len()]);
        self.left -= data.len();
        if SEAL {
            self.update_hash(data.get_out());
        }
    }
}

impl<C: Cipher> Stream for GcmStream<'_, C> {
    fn aad(&mut self, aad: &[u8]) {
        self.aad_bytes += aad.len() as u64;
        self.update_hash(aad);
    }

    fn encrypt(&mut self, data: InOut<'_, '_>) {
        self.crypt::<true>(data);
    }

    fn decrypt(&mut self, data: InOut<'_, '_>) {
        self.crypt::<false>(data);
    }

    fn text_left(&self) -> u64 {
        MOST_TEXT - self.text_bytes
    }

    fn finish(&mut self, tag: &mut [u8]) {
        let (powers, level) = (&self.gcm.powers, self.gcm.level());
        self.hash.pad(powers, level);
        let lengths = u128::from(self.aad_bytes * 8) << 64 | u128::from(self.text_bytes * 8);
        self.hash.update(powers, level, &lengths.to_be_bytes());
        for ((tag, hash), mask) in tag.iter_mut().zip(&self.hash.hash).zip(&self.mask) {
            *tag = hash ^ mask;
        }
        self.wipe();
    }
}

impl<C: Cipher> Drop for GcmStream<'_, C> {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl<C: Cipher> ZeroizeOnDrop for GcmStream<'_, C> {}

impl<C: Cipher> fmt::Debug for GcmStream<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GcmKey { key, .. } = self.gcm;
        write!(f, "GcmStream({}Gcm({}))", key.name(), key.level())
    }
}

/// Whole blocks of a message that comes piece by piece.
struct GcmPiece<'a, 'i, 'o, C: Cipher, const SEAL: bool> {
    gcm: &'a GcmKey<C>,
    counter: &'a mut Block,
    public_counter: bool,
    hash: &'a mut Block,
    data: InOut<'i, 'o>,
}

impl<C: Cipher, const SEAL: bool> Kernel for GcmPiece<'_, '_, '_, C, SEAL> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        // State between pieces: the last counter used, and the hash so far as a block.
        let Self { gcm: GcmKey { key, powers }, counter, public_counter, hash, data } = self;
        let n = s.narrow();
        let first = n.reverse(n.load(&[*counter]));
        let last_byte = public_counter.then(|| counter[15].wrapping_add(1));
        advance(counter, data.len() / 16);
        let mut text = StitchedText::<S, C, true>::new(s, key.keys(), powers, first, last_byte);
        text.y = s.in_first_lane(n.reverse(n.load(&[*hash])));
        let group = VECTORS * S::WIDTH * 16;
        let whole = whole_groups_of::<SEAL>(S::WIDTH, data.len(), 0, group);
        let (groups, rest) = data.split_at(whole);
        text.groups(hashed::<SEAL>(), &mut InOutBlocks::split(groups).0);
        let y = if rest.is_empty() {
            // Nothing is held back where the hash is in one lane.
            s.sum_lanes(text.y)
        } else {
            let mut run = ProductRun::new(s, powers, rest.len() / 16, text.y);
            text.rest(hashed::<SEAL>(), &mut run, rest);
            run.finish()
        };
        n.store(n.reverse(y), core::slice::from_mut(hash));
    }
}

/// Moves a counter block on by `blocks`, in its last 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "modulo 2^32")]
fn advance(counter: &mut Block, blocks: usize) {
    let [.., a, b, c, d] = counter;
    let number = u32::from_be_bytes([*a, *b, *c, *d]).wrapping_add(blocks as u32);
    [*a, *b, *c, *d] = number.to_be_bytes();
}

struct FirstCounter<'a, C: Cipher> {
    gcm: &'a GcmKey<C>,
    nonce: &'a [u8],
}

impl<C: Cipher> Kernel for FirstCounter<'_, C> {
    type Out = Block;

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) -> Block {
        let n = s.narrow();
        let mut block = [[0; 16]];
        n.store(n.reverse(first_counter(s, &self.gcm.powers, self.nonce)), &mut block);
        block[0]
    }
}

#[cfg(test)]
mod tests {
    use crate::{Aes128Gcm, Sealer};
    use lanelock_core::Error;

    use super::*;

    /// 2^39 - 256 bits of text (SP 800-38D, 5.2.1.1), as bytes.
    const TEXT: u64 = 68_719_476_704;

    #[test]
    fn pieces_have_the_limit_of_the_whole() {
        let gcm = Aes128Gcm::new(&[1; 16]).expect("a level");
        let mut stream = GcmStream::new(&gcm.key, &[0; 12]);
        stream.text_bytes = TEXT - 5;
        let mut sealer = Sealer::new(stream, 16);
        assert_eq!(sealer.update(&mut [0; 6]), Err(Error::MessageLength));
        assert_eq!(sealer.update(&mut [0; 5]), Ok(()));
        assert_eq!(sealer.update(&mut [0; 1]), Err(Error::MessageLength));
    }
}
