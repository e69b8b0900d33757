//! Many short GCM-SIV messages side by side: lane i computes what clause 4 of RFC 8452 defines for
//! message i (see `gcm_siv`). Every message has keys of its own, derived and expanded in its lane:
//! one vector per round key, used for the tag and the text of these lanes and never written to a
//! table.

use lanelock_isa::{AesClmul, AesLevel, Kernel};

use super::{
    GcmSiv,
    batch::{Batch, Message},
    gcm_siv::SivCipher,
    stitch::word,
    wave::{LANES, Wave, Waves, each},
};
use lanelock_core::{
    Error,
    cipher::{CipherKeys, ExpandLanes, OwnKeys, SameKey, Schedule},
};
use lanelock_hash::field::{Factor, multiply};

impl<C: SivCipher> Batch for GcmSiv<C> {
    fn seal_each(messages: &mut [Message<'_, Self>]) {
        each::<Self, true>(messages);
    }

    fn open_each(messages: &mut [Message<'_, Self>]) {
        each::<Self, false>(messages);
    }
}

impl<C: SivCipher> Waves for GcmSiv<C> {
    #[inline(always)]
    fn check(&self, nonce: &[u8], aad: &[u8], text: usize, tag: usize) -> Result<(), Error> {
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
        let level = keys[0].level();
        let keys = &keys.map(Self::keys);
        level.run(SivWave::<_, SEAL> { keys, same, wave });
    }
}

struct SivWave<'a, 'k, 'w, C: ExpandLanes, const SEAL: bool> {
    keys: &'a [Schedule<'k, C>; LANES],
    same: bool,
    wave: &'w mut Wave,
}

impl<C: ExpandLanes, const SEAL: bool> Kernel for SivWave<'_, '_, '_, C, SEAL> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { keys, same, wave } = self;
        for at in (0..wave.used).step_by(S::WIDTH) {
            // Key-generating keys of the lanes: of one key they are not gathered.
            let (h, derived) = if same {
                derive::<S, C>(s, SameKey::new(s, keys[0]), wave, at)
            } else {
                let mut own = [keys[at]; 4];
                own[..S::WIDTH].copy_from_slice(&keys[at..at + S::WIDTH]);
                derive::<S, C>(s, OwnKeys::<_, 1>(&own), wave, at)
            };
            if SEAL {
                let tag = tag::<S, C>(s, h, derived, wave, at);
                s.store(tag, &mut wave.tags[at..]);
                crypt::<S, C>(s, derived, wave, at);
            } else {
                crypt::<S, C>(s, derived, wave, at);
                let tag = tag::<S, C>(s, h, derived, wave, at);
                s.store(tag, &mut wave.tags[at..]);
            }
        }
    }
}

/// The hash keys and the round keys of the lanes at `at` (clause 4).
#[inline(always)]
fn derive<S: AesClmul, C: ExpandLanes>(
    s: S,
    keys: impl CipherKeys<S, C>,
    wave: &Wave,
    at: usize,
) -> (Factor<S::V>, SameKey<S, C>) {
    // A nonce behind a number in the first word.
    let nonce = s.bytes_up::<4>(s.load(&wave.nonces[at..]));
    let mut v = [nonce; 6];
    for i in 0..6 {
        #[expect(clippy::cast_possible_truncation, reason = "5 at most")]
        let number = word(i as u32);
        v[i] = s.xor(nonce, s.splat(&number));
    }
    let rounds = keys.rounds();
    if C::key_bytes(rounds) == 16 {
        let [a, b, c, d] = C::encrypt::<_, 4>(s, [v[0], v[1], v[2], v[3]], keys);
        [v[0], v[1], v[2], v[3]] = [a, b, c, d];
    } else {
        v = C::encrypt::<_, 6>(s, v, keys);
    }
    // Clause 4: the low halves of blocks 0 and 1 are the hash key, those of 2 to 3 or 5 the other
    // key.
    let hash = low_halves(s, v[0], v[1]);
    let first = low_halves(s, v[2], v[3]);
    let second = low_halves(s, v[4], v[5]);
    (Factor::new(s, hash), C::expand_lanes(s, rounds, first, second))
}

/// The low half of `a`, and above it that of `b`.
#[inline(always)]
fn low_halves<S: AesClmul>(s: S, a: S::V, b: S::V) -> S::V {
    s.xor(s.bytes_down::<8>(s.bytes_up::<8>(a)), s.bytes_up::<8>(b))
}

/// The tags that belong to AAD and plaintext (clause 4).
// Y = (Y ^ X) H for each row: every lane has another H, so powers are not worth it. A step waits for
// the one before: three products of five cycles one behind the other (one of halves, two of the
// reduction). Registers with 11 round keys: the keys, 2 of H, Y, and the temporaries of a product.
#[inline(always)]
fn tag<S: AesClmul, C: ExpandLanes>(
    s: S,
    h: Factor<S::V>,
    keys: SameKey<S, C>,
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
    let [tag] = C::encrypt::<_, 1>(s, [s.and(y, s.splat_halves(u64::MAX, u64::MAX >> 1))], keys);
    tag
}

/// CTR over the text, from the counters that `tags` start.
#[inline(always)]
fn crypt<S: AesClmul, C: ExpandLanes>(s: S, keys: SameKey<S, C>, wave: &mut Wave, at: usize) {
    let tag = s.load(&wave.tags[at..]);
    // There is no bitwise or among the operations: clear the bit, then add it.
    let top = s.splat_halves(0, 1 << 63);
    // The highest bit set: the tag without it, and then it.
    let start = s.xor(s.and(tag, s.splat_halves(u64::MAX, u64::MAX >> 1)), top);
    let mut row = 0;
    while row < wave.text_blocks {
        let left = wave.text_blocks - row;
        if S::VECTORS == 1 || left == 1 {
            rows::<S, 1, C>(s, keys, wave, at, row, start);
            row += 1;
            continue;
        }
        match left {
            2 => rows::<S, 2, C>(s, keys, wave, at, row, start),
            3 => rows::<S, 3, C>(s, keys, wave, at, row, start),
            _ => rows::<S, 4, C>(s, keys, wave, at, row, start),
        }
        row += 4;
    }
}

/// `N` rows of text from `row` on. Registers: at most 4 states and 15 round keys.
#[inline(always)]
fn rows<S: AesClmul, const N: usize, C: ExpandLanes>(
    s: S,
    keys: SameKey<S, C>,
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
    v = C::encrypt::<_, N>(s, v, keys);
    for i in 0..N {
        let mut text = s.xor(v[i], s.load(&wave.text[row + i][at..]));
        if row + i + 1 == wave.text_blocks && !wave.whole {
            text = s.and(text, s.load(&wave.mask[at..]));
        }
        s.store(text, &mut wave.text[row + i][at..]);
    }
}
