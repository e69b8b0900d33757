//! Many short GCM messages side by side: a lane for each, its counters and its hash.

use lanelock_isa::{AesLevel, Block, Clmul, Kernel, RoundKeys, SameKey};

use super::{
    Gcm,
    batch::{Batch, Message},
    wave::{LANES, MOST_TEXT, Wave, Waves, each},
};
use crate::{
    Error,
    aes::broadcast,
    hash::field::{Factor, multiply},
};

/// Not for all `R` at once: so the kernels are compiled here, and not by every user.
macro_rules! batches {
    ($rounds:literal) => {
        impl Batch for Gcm<$rounds> {
            fn seal_each(messages: &mut [Message<'_, Self>]) {
                each::<Self, true>(messages);
            }

            fn open_each(messages: &mut [Message<'_, Self>]) {
                each::<Self, false>(messages);
            }
        }

        impl Waves for Gcm<$rounds> {
            #[inline(always)]
            fn check(
                &self,
                nonce: &[u8],
                aad: &[u8],
                text: usize,
                tag: usize,
            ) -> Result<(), Error> {
                self.check(nonce, aad, text, tag)
            }

            #[inline(always)]
            fn level(&self) -> AesLevel {
                self.level()
            }

            #[inline(always)]
            fn lengths(aad: usize, text: usize) -> u128 {
                (aad as u128) << 67 | (text as u128) << 3
            }

            #[inline(always)]
            fn run<const SEAL: bool>(keys: &[&Self; LANES], same: bool, wave: &mut Wave) {
                let level = keys[0].level();
                if same {
                    level.run(GcmWave::<_, $rounds, SEAL> { keys: OneKey(keys[0]), wave });
                } else {
                    level.run(GcmWave::<_, $rounds, SEAL> { keys: KeyEach(keys), wave });
                }
            }
        }
    };
}

batches!(11);
batches!(13);
batches!(15);

/// Where the lanes find their keys.
trait Keys<const R: usize> {
    /// The round keys of the lanes of the vector that starts at lane `at`.
    fn rounds<S: Clmul>(&self, s: S, at: usize) -> impl RoundKeys<S>;
    /// Their hash keys.
    fn factor<S: Clmul>(&self, s: S, at: usize) -> Factor<S::V>;
}

/// All lanes have the same key.
struct OneKey<'k, const R: usize>(&'k Gcm<R>);

impl<const R: usize> Keys<R> for OneKey<'_, R> {
    #[inline(always)]
    fn rounds<S: Clmul>(&self, s: S, _: usize) -> impl RoundKeys<S> {
        let (key, _) = self.0.parts();
        SameKey(broadcast(s, key.keys()))
    }

    #[inline(always)]
    fn factor<S: Clmul>(&self, s: S, _: usize) -> Factor<S::V> {
        let (_, powers) = self.0.parts();
        let [h, both] = powers.first();
        Factor::with_both(s.splat(h), s.splat(both))
    }
}

/// Every lane has a key of its own, and reads it where it is.
struct KeyEach<'a, 'k, const R: usize>(&'a [&'k Gcm<R>; LANES]);

impl<const R: usize> Keys<R> for KeyEach<'_, '_, R> {
    #[inline(always)]
    fn rounds<S: Clmul>(&self, _: S, at: usize) -> impl RoundKeys<S> {
        let mut keys = [self.0[at].parts().0.keys(); 4];
        for i in 1..S::WIDTH {
            keys[i] = self.0[at + i].parts().0.keys();
        }
        VectorKeys(keys)
    }

    #[inline(always)]
    fn factor<S: Clmul>(&self, s: S, at: usize) -> Factor<S::V> {
        let [mut h, mut both] = self.0[at].parts().1.first().map(|block| [block; 4]);
        for i in 1..S::WIDTH {
            [h[i], both[i]] = self.0[at + i].parts().1.first();
        }
        Factor::with_both(s.load_each(&h), s.load_each(&both))
    }
}

/// The keys of the lanes of one vector; the vectors of a call are rows of these lanes.
#[derive(Clone, Copy)]
struct VectorKeys<'k, const R: usize>([&'k [Block; R]; 4]);

impl<S: Clmul, const R: usize> RoundKeys<S> for VectorKeys<'_, R> {
    #[inline(always)]
    fn get(&self, s: S, round: usize, _: usize) -> S::K {
        let mut blocks = [&self.0[0][round]; 4];
        for i in 1..S::WIDTH {
            blocks[i] = &self.0[i][round];
        }
        s.as_keys(s.load_each(&blocks))
    }
}

/// The counters 1 to `MOST_TEXT` + 1 behind an empty nonce.
static NUMBERS: [Block; MOST_TEXT + 1] = {
    let mut numbers = [[0; 16]; MOST_TEXT + 1];
    let mut i = 0;
    while i <= MOST_TEXT {
        #[expect(clippy::cast_possible_truncation, reason = "17 at most")]
        let number = i as u8 + 1;
        numbers[i][15] = number;
        i += 1;
    }
    numbers
};

struct GcmWave<'w, K, const R: usize, const SEAL: bool> {
    keys: K,
    wave: &'w mut Wave,
}

impl<K: Keys<R>, const R: usize, const SEAL: bool> Kernel for GcmWave<'_, K, R, SEAL> {
    type Out = ();

    #[inline(always)]
    fn run<S: Clmul>(self, s: S) {
        let Self { keys, wave } = self;
        for tag in &mut wave.tags {
            *tag = [0; 16];
        }
        // Both halves of a tag are added where the other may be already.
        if !SEAL {
            hash::<S, K, R>(s, &keys, wave);
        }
        for at in (0..wave.used).step_by(S::WIDTH) {
            let round_keys = keys.rounds(s, at);
            let mut row = 0;
            while row <= wave.text_blocks {
                let left = wave.text_blocks + 1 - row;
                if S::VECTORS == 1 || left == 1 {
                    rows::<S, 1, R>(s, round_keys, wave, at, row);
                    row += 1;
                    continue;
                }
                match left {
                    2 => rows::<S, 2, R>(s, round_keys, wave, at, row),
                    3 => rows::<S, 3, R>(s, round_keys, wave, at, row),
                    _ => rows::<S, 4, R>(s, round_keys, wave, at, row),
                }
                row += 4;
            }
        }
        if SEAL {
            hash::<S, K, R>(s, &keys, wave);
        }
    }
}

/// `N` counters from number `row` on of the lanes at `at`: the first one masks the tag, the
/// others are the key stream.
#[inline(always)]
fn rows<S: Clmul, const N: usize, const R: usize>(
    s: S,
    keys: impl RoundKeys<S>,
    wave: &mut Wave,
    at: usize,
    row: usize,
) {
    let nonce = s.load(&wave.nonces[at..]);
    let mut v = [nonce; N];
    for i in 0..N {
        v[i] = s.xor(nonce, s.splat(&NUMBERS[row + i]));
    }
    v = s.encrypt::<N, R>(v, keys);
    for i in 0..N {
        if row + i == 0 {
            s.store(s.xor(v[i], s.load(&wave.tags[at..])), &mut wave.tags[at..]);
        } else {
            let number = row + i - 1;
            let mut text = s.xor(v[i], s.load(&wave.text[number][at..]));
            if number + 1 == wave.text_blocks && !wave.whole {
                text = s.and(text, s.load(&wave.mask[at..]));
            }
            s.store(text, &mut wave.text[number][at..]);
        }
    }
}

/// The hashes of all lanes into `tags`, four vectors side by side to cover the latency.
#[inline(always)]
fn hash<S: Clmul, K: Keys<R>, const R: usize>(s: S, keys: &K, wave: &mut Wave) {
    let mut at = 0;
    while at < wave.used {
        if S::VECTORS == 1 || wave.used - at <= S::WIDTH {
            hash_vectors::<S, K, 1, R>(s, keys, wave, at);
            at += S::WIDTH;
        } else {
            hash_vectors::<S, K, 4, R>(s, keys, wave, at);
            at += 4 * S::WIDTH;
        }
    }
}

#[inline(always)]
fn hash_vectors<S: Clmul, K: Keys<R>, const N: usize, const R: usize>(
    s: S,
    keys: &K,
    wave: &mut Wave,
    at: usize,
) {
    let mut h = [keys.factor(s, at); N];
    for i in 1..N {
        h[i] = keys.factor(s, at + i * S::WIDTH);
    }
    let mut y = [s.zero(); N];
    for row in &wave.aad[..wave.aad_blocks] {
        for i in 0..N {
            let v = s.reverse(s.load(&row[at + i * S::WIDTH..]));
            y[i] = multiply(s, s.xor(y[i], v), h[i]);
        }
    }
    for row in &wave.text[..wave.text_blocks] {
        for i in 0..N {
            let v = s.reverse(s.load(&row[at + i * S::WIDTH..]));
            y[i] = multiply(s, s.xor(y[i], v), h[i]);
        }
    }
    for i in 0..N {
        let at = at + i * S::WIDTH;
        let hash = multiply(s, s.xor(y[i], s.load(&wave.lengths[at..])), h[i]);
        s.store(s.xor(s.reverse(hash), s.load(&wave.tags[at..])), &mut wave.tags[at..]);
    }
}
