//! Many short GCM-SIV messages side by side: lane i computes what clause 4 of RFC 8452 defines for
//! message i (see `gcm_siv`). Every message has keys of its own, derived and expanded in its lane:
//! one vector per round key, used for the tag and the text of these lanes and never written to a
//! table.

use lanelock_isa::{AesClmul, AesLevel, Block, Kernel, RoundKeys, SameKey};

use super::{
    GcmSiv,
    batch::{Batch, Message},
    stitch::word,
    wave::{LANES, Wave, Waves, each},
};
use crate::{
    Error,
    aes::broadcast,
    hash::field::{Factor, multiply},
};

/// Not for all `R` at once: so the kernels are compiled here, and not by every user.
macro_rules! batches {
    ($rounds:literal) => {
        impl Batch for GcmSiv<$rounds> {
            fn seal_each(messages: &mut [Message<'_, Self>]) {
                each::<Self, true>(messages);
            }

            fn open_each(messages: &mut [Message<'_, Self>]) {
                each::<Self, false>(messages);
            }
        }

        impl Waves for GcmSiv<$rounds> {
            #[inline(always)]
            fn check(
                &self,
                nonce: &[u8],
                aad: &[u8],
                text: usize,
                tag: usize,
            ) -> Result<(), Error> {
                Self::check(nonce, aad, text, tag).map(|_| ())
            }

            #[inline(always)]
            fn level(&self) -> AesLevel {
                self.level()
            }

            #[inline(always)]
            fn lengths(aad: usize, text: usize) -> u128 {
                (text as u128) << 67 | (aad as u128) << 3
            }

            #[inline(always)]
            fn run<const SEAL: bool>(keys: &[&Self; LANES], same: bool, wave: &mut Wave) {
                keys[0].level().run(SivWave::<$rounds, SEAL> { keys, same, wave });
            }
        }
    };
}

batches!(11);
batches!(15);

struct SivWave<'a, 'k, 'w, const R: usize, const SEAL: bool> {
    keys: &'a [&'k GcmSiv<R>; LANES],
    same: bool,
    wave: &'w mut Wave,
}

impl<const R: usize, const SEAL: bool> Kernel for SivWave<'_, '_, '_, R, SEAL> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { keys, same, wave } = self;
        for at in (0..wave.used).step_by(S::WIDTH) {
            // Key-generating keys of the lanes: of one key they are not gathered.
            let (h, derived) = if same {
                derive::<S, R>(s, SameKey(broadcast(s, keys[0].keys())), wave, at)
            } else {
                let mut own = [keys[at].keys(); 4];
                for i in 1..S::WIDTH {
                    own[i] = keys[at + i].keys();
                }
                derive::<S, R>(s, WaveVectorKeys(own), wave, at)
            };
            if SEAL {
                let tag = tag::<S, R>(s, h, derived, wave, at);
                s.store(tag, &mut wave.tags[at..]);
                crypt::<S, R>(s, derived, wave, at);
            } else {
                crypt::<S, R>(s, derived, wave, at);
                let tag = tag::<S, R>(s, h, derived, wave, at);
                s.store(tag, &mut wave.tags[at..]);
            }
        }
    }
}

/// The round keys of the lanes of one vector, each where it is.
#[derive(Clone, Copy)]
struct WaveVectorKeys<'k, const R: usize>([&'k [Block; R]; 4]);

impl<S: AesClmul, const R: usize> RoundKeys<S> for WaveVectorKeys<'_, R> {
    #[inline(always)]
    fn get(&self, s: S, round: usize, _: usize) -> S::K {
        let mut blocks = [&self.0[0][round]; 4];
        for i in 1..S::WIDTH {
            blocks[i] = &self.0[i][round];
        }
        s.as_keys(s.load_each(&blocks))
    }
}

/// The hash keys and the round keys of the lanes at `at` (clause 4).
#[inline(always)]
fn derive<S: AesClmul, const R: usize>(
    s: S,
    keys: impl RoundKeys<S>,
    wave: &Wave,
    at: usize,
) -> (Factor<S::V>, SameKey<S::K, R>) {
    // A nonce behind a number in the first word.
    let nonce = s.bytes_up::<4>(s.load(&wave.nonces[at..]));
    let mut v = [nonce; 6];
    for i in 0..6 {
        #[expect(clippy::cast_possible_truncation, reason = "5 at most")]
        let number = word(i as u32);
        v[i] = s.xor(nonce, s.splat(&number));
    }
    if R == 11 {
        let [a, b, c, d] = s.encrypt::<4, R>([v[0], v[1], v[2], v[3]], keys);
        [v[0], v[1], v[2], v[3]] = [a, b, c, d];
    } else {
        v = s.encrypt::<6, R>(v, keys);
    }
    // Clause 4: the low halves of blocks 0 and 1 are the hash key, those of 2 to 3 or 5 the other
    // key.
    let hash = low_halves(s, v[0], v[1]);
    let first = low_halves(s, v[2], v[3]);
    let second = low_halves(s, v[4], v[5]);
    (Factor::new(s, hash), SameKey(expand::<S, R>(s, first, second)))
}

/// The low half of `a`, and above it that of `b`.
#[inline(always)]
fn low_halves<S: AesClmul>(s: S, a: S::V, b: S::V) -> S::V {
    s.xor(s.bytes_down::<8>(s.bytes_up::<8>(a)), s.bytes_up::<8>(b))
}

/// The key expansion (FIPS 197, 5.2) of a key in each lane: `a`, and `b` behind it if it has 32 bytes.
#[inline(always)]
fn expand<S: AesClmul, const R: usize>(s: S, mut a: S::V, mut b: S::V) -> [S::K; R] {
    let mut keys = [s.as_keys(a); R];
    let mut constant = 1_u8;
    if R == 11 {
        for round in 1..R {
            a = s.xor(running_xor(s, a), s.sub_last_words::<true>(a, constant));
            keys[round] = s.as_keys(a);
            constant = (constant << 1) ^ if constant & 0x80 == 0 { 0 } else { 0x1b };
        }
    } else {
        keys[1] = s.as_keys(b);
        for round in 2..R {
            if round % 2 == 0 {
                a = s.xor(running_xor(s, a), s.sub_last_words::<true>(b, constant));
                keys[round] = s.as_keys(a);
                constant <<= 1;
            } else {
                b = s.xor(running_xor(s, b), s.sub_last_words::<false>(a, 0));
                keys[round] = s.as_keys(b);
            }
        }
    }
    keys
}

/// Each word = the exclusive or of it and all words below.
#[inline(always)]
fn running_xor<S: AesClmul>(s: S, v: S::V) -> S::V {
    let v = s.xor(v, s.bytes_up::<4>(v));
    s.xor(v, s.bytes_up::<8>(v))
}

/// The tags that belong to AAD and plaintext (clause 4).
// Y = (Y ^ X) H for each row: every lane has another H, so powers are not worth it. A step waits for
// the one before: three products of five cycles one behind the other (one of halves, two of the
// reduction). Registers with 11 round keys: the keys, 2 of H, Y, and the temporaries of a product.
#[inline(always)]
fn tag<S: AesClmul, const R: usize>(
    s: S,
    h: Factor<S::V>,
    keys: SameKey<S::K, R>,
    wave: &Wave,
    at: usize,
) -> S::V {
    let mut y = s.zero();
    for row in &wave.aad[..wave.aad_blocks] {
        y = multiply(s, s.xor(y, s.load(&row[at..])), h);
    }
    for row in &wave.text[..wave.text_blocks] {
        y = multiply(s, s.xor(y, s.load(&row[at..])), h);
    }
    y = multiply(s, s.xor(y, s.load(&wave.lengths[at..])), h);
    let y = s.xor(y, s.load(&wave.nonces[at..]));
    let [tag] = s.encrypt::<1, R>([s.and(y, s.splat_halves(u64::MAX, u64::MAX >> 1))], keys);
    tag
}

/// CTR over the text, from the counters that `tags` start.
#[inline(always)]
fn crypt<S: AesClmul, const R: usize>(s: S, keys: SameKey<S::K, R>, wave: &mut Wave, at: usize) {
    let tag = s.load(&wave.tags[at..]);
    // There is no bitwise or among the operations: clear the bit, then add it.
    let top = s.splat_halves(0, 1 << 63);
    // The highest bit set: the tag without it, and then it.
    let start = s.xor(s.and(tag, s.splat_halves(u64::MAX, u64::MAX >> 1)), top);
    let mut row = 0;
    while row < wave.text_blocks {
        let left = wave.text_blocks - row;
        if S::VECTORS == 1 || left == 1 {
            rows::<S, 1, R>(s, keys, wave, at, row, start);
            row += 1;
            continue;
        }
        match left {
            2 => rows::<S, 2, R>(s, keys, wave, at, row, start),
            3 => rows::<S, 3, R>(s, keys, wave, at, row, start),
            _ => rows::<S, 4, R>(s, keys, wave, at, row, start),
        }
        row += 4;
    }
}

/// `N` rows of text from `row` on. Registers: at most 4 states and 15 round keys.
#[inline(always)]
fn rows<S: AesClmul, const N: usize, const R: usize>(
    s: S,
    keys: SameKey<S::K, R>,
    wave: &mut Wave,
    at: usize,
    row: usize,
    start: S::V,
) {
    let mut v = [start; N];
    for i in 0..N {
        // The counter is the first word only; `add_words` carries nothing into the next.
        v[i] = s.add_words(start, s.splat_halves((row + i) as u64, 0));
    }
    v = s.encrypt::<N, R>(v, keys);
    for i in 0..N {
        let mut text = s.xor(v[i], s.load(&wave.text[row + i][at..]));
        if row + i + 1 == wave.text_blocks && !wave.whole {
            text = s.and(text, s.load(&wave.mask[at..]));
        }
        s.store(text, &mut wave.text[row + i][at..]);
    }
}
