//! A cipher that the engine does not know stands beside AES in the batches of the lanes.

use lanelock::{
    Aes128, Aes128Cmac, Aes256, Aes256Cmac, AesLevel, Block, Cmac, Key, Pattern, SizedCipher,
    cipher::{Cipher, CipherKeys, Schedule},
    lanes::{self, Job, KeyRef, LaneCipher, MacJob, Order, OwnedJob, OwnedMacJob, Scheduler},
};
use lanelock_isa::AesClmul;
use lanelock_testkit::Rng;

/// `N` rounds of an exclusive or with a key and a turn of the block by a byte: no cipher to protect anything
/// with, but one whose every key, round and lane shows in the result.
#[derive(Clone, Copy, Debug)]
enum Turns<const N: usize> {}

/// The definition, byte by byte.
fn encrypt_block<const N: usize>(key: &[u8; 16], block: &mut Block) {
    for round in 0..N {
        for (byte, key) in block.iter_mut().zip(key) {
            *byte ^= key.wrapping_mul(2 * round as u8 + 1);
        }
        block.rotate_right(1);
    }
}

impl<const N: usize> SizedCipher for Turns<N> {
    const NAME: &'static str = "Turns";
    type KeyBytes = [u8; 16];
    type TwoKeys = [u8; 32];
    type Cipher = Self;
}

impl<const N: usize> Cipher for Turns<N> {
    const ROUND_KEYS: usize = N;
    const NO_KEYS: [Block; N] = [[0; 16]; N];
    type Rounds<T: Copy> = [T; N];
    type RoundKey<S: AesClmul> = S::V;
    type Begun<S: AesClmul> = S::V;

    fn name(_: usize) -> &'static str {
        Self::NAME
    }
    fn places<T: Copy>(value: T) -> [T; N] {
        [value; N]
    }
    #[inline(always)]
    fn round_key<S: AesClmul>(s: S, key: &Block) -> S::V {
        s.splat(key)
    }
    #[inline(always)]
    fn lane_keys<S: AesClmul>(_: S, keys: S::V) -> S::V {
        keys
    }
    fn expand<S: AesClmul>(_: S, key: &[u8], keys: &mut [Block; N]) {
        for (round, to) in keys.iter_mut().enumerate() {
            for (to, byte) in to.iter_mut().zip(key) {
                *to = byte.wrapping_mul(2 * round as u8 + 1);
            }
        }
    }
    fn invert<S: AesClmul>(_: S, encrypt: Schedule<'_, Self>, decrypt: &mut [Block; N]) {
        *decrypt = *encrypt.keys;
        decrypt.reverse();
    }
    #[inline(always)]
    fn encrypt<S: AesClmul, const V: usize>(
        s: S,
        mut v: [S::V; V],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; V] {
        for round in 0..N {
            for i in 0..V {
                let x = s.xor(v[i], keys.get(s, round, i));
                v[i] = s.xor(s.bytes_up::<1>(x), s.bytes_down::<15>(x));
            }
        }
        v
    }
    #[inline(always)]
    fn decrypt<S: AesClmul, const V: usize>(
        s: S,
        mut v: [S::V; V],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; V] {
        for round in 0..N {
            for i in 0..V {
                let x = s.xor(s.bytes_down::<1>(v[i]), s.bytes_up::<15>(v[i]));
                v[i] = s.xor(x, keys.get(s, round, i));
            }
        }
        v
    }
    #[inline(always)]
    fn begin<S: AesClmul, const V: usize>(
        s: S,
        whitened: [S::V; V],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; V] {
        Self::encrypt(s, whitened, keys)
    }
    #[inline(always)]
    fn end<S: AesClmul>(
        s: S,
        v: S::V,
        joined: S::V,
        _: impl CipherKeys<S, Self>,
        _: usize,
    ) -> S::V {
        s.xor(v, joined)
    }
    #[inline(always)]
    fn begin_decrypt<S: AesClmul, const V: usize>(
        s: S,
        whitened: [S::V; V],
        keys: impl CipherKeys<S, Self>,
    ) -> [S::V; V] {
        Self::decrypt(s, whitened, keys)
    }
    #[inline(always)]
    fn end_decrypt<S: AesClmul>(
        s: S,
        v: S::V,
        joined: S::V,
        _: impl CipherKeys<S, Self>,
        _: usize,
    ) -> S::V {
        s.xor(v, joined)
    }
}

impl<const N: usize> LaneCipher for Turns<N> {}

/// Keys of two sizes of AES and two foreign ciphers, at several levels.
struct Keys<S, L, F, G> {
    small: Vec<S>,
    large: Vec<L>,
    three: Vec<(F, [u8; 16])>,
    five: Vec<(G, [u8; 16])>,
}

/// CBC, or CBCS 1:9, by the definition of the cipher.
fn cbcs<const N: usize>(key: &[u8; 16], iv: &mut Block, pattern: Pattern, data: &mut [u8]) {
    let period = if pattern == Pattern::ALL { 1 } else { 10 };
    let (blocks, _) = data.as_chunks_mut::<16>();
    for at in (0..blocks.len()).step_by(period) {
        for (byte, state) in blocks[at].iter_mut().zip(&*iv) {
            *byte ^= state;
        }
        encrypt_block::<N>(key, &mut blocks[at]);
        *iv = blocks[at];
    }
}

type CbcKeys = Keys<Aes128, Aes256, Key<Turns<3>>, Key<Turns<5>>>;

fn cbc_keys(rng: &mut Rng) -> CbcKeys {
    let levels = AesLevel::available();
    let level =
        |rng: &mut Rng| if rng.one_in(3) { *rng.pick(&levels) } else { levels[levels.len() - 1] };
    Keys {
        small: (0..2).map(|_| Aes128::with_level(&rng.array(), level(rng))).collect(),
        large: (0..2).map(|_| Aes256::with_level(&rng.array(), level(rng))).collect(),
        three: (0..2)
            .map(|_| rng.array())
            .map(|key| (Key::with_level(&key, levels[levels.len() - 1]), key))
            .collect(),
        five: (0..2)
            .map(|_| rng.array())
            .map(|key| (Key::with_level(&key, levels[0]), key))
            .collect(),
    }
}

impl CbcKeys {
    /// A key, and what it makes of `data`.
    fn pick(
        &self,
        rng: &mut Rng,
        iv: Block,
        pattern: Pattern,
        data: &[u8],
    ) -> (KeyRef<'_>, Vec<u8>, Block) {
        let (mut data, mut iv, at) = (data.to_vec(), iv, rng.below(2));
        let key = match rng.below(4) {
            0 => {
                self.small[at].cbcs_encrypt(&mut iv, pattern, &mut data);
                KeyRef::from(&self.small[at])
            }
            1 => {
                self.large[at].cbcs_encrypt(&mut iv, pattern, &mut data);
                KeyRef::from(&self.large[at])
            }
            2 => {
                cbcs::<3>(&self.three[at].1, &mut iv, pattern, &mut data);
                KeyRef::from(&self.three[at].0)
            }
            _ => {
                cbcs::<5>(&self.five[at].1, &mut iv, pattern, &mut data);
                KeyRef::from(&self.five[at].0)
            }
        };
        (key, data, iv)
    }
}

#[test]
fn a_batch_mixes_ciphers_sizes_and_levels() {
    let mut rng = Rng::from_env("a_batch_mixes_ciphers_sizes_and_levels");
    for round in 0..100 {
        let keys = cbc_keys(&mut rng);
        let count = *rng.pick(&[1, 2, 7, 60, 150]);
        let cases: Vec<_> = (0..count)
            .map(|_| {
                let pattern = *rng.pick(&[Pattern::ALL, Pattern::new(1, 9)]);
                let length = rng.below(900);
                let (data, iv) = (rng.bytes(length), rng.array());
                let (key, expected, next_iv) = keys.pick(&mut rng, iv, pattern, &data);
                (key, iv, pattern, data, expected, next_iv)
            })
            .collect();
        let mut outputs: Vec<_> = cases.iter().map(|case| case.3.clone()).collect();
        let mut jobs: Vec<_> = cases
            .iter()
            .zip(&mut outputs)
            .map(|((key, iv, pattern, ..), data)| Job::new(*key, *iv, *pattern, data))
            .collect();
        lanes::encrypt(&mut jobs);
        for (number, (job, case)) in jobs.iter().zip(&cases).enumerate() {
            let what = format!("round {round}, job {number} of {count}, {:?}", job.key);
            assert_eq!((&job.data[..], job.iv), (&case.4[..], case.5), "{what}");
        }

        let mut scheduler = Scheduler::new(Order::Submitted);
        let mut done = Vec::new();
        for (number, (key, iv, pattern, data, ..)) in cases.iter().enumerate() {
            let job = OwnedJob::new(*key, *iv, *pattern, data.clone(), number);
            done.extend(scheduler.submit(job).unwrap());
        }
        scheduler.flush().unwrap();
        done.extend(core::iter::from_fn(|| scheduler.completed()));
        assert_eq!(done.len(), count);
        for job in done {
            let case = &cases[job.tag];
            assert!(job.data == case.4 && job.next_iv == case.5, "round {round}, job {}", job.tag);
        }
    }
}

/// CMAC (SP 800-38B, 6.2) by the definition of the cipher.
fn cmac<const N: usize>(key: &[u8; 16], message: &[u8]) -> Block {
    let double = |block: Block| {
        let x = u128::from_be_bytes(block);
        (x << 1 ^ if x >> 127 == 1 { 0x87 } else { 0 }).to_be_bytes()
    };
    let mut subkey = [0; 16];
    encrypt_block::<N>(key, &mut subkey);
    subkey = double(subkey);
    let mut padded = message.to_vec();
    if message.is_empty() || !message.len().is_multiple_of(16) {
        subkey = double(subkey);
        padded.push(0x80);
        padded.resize(padded.len().next_multiple_of(16), 0);
    }
    let at = padded.len() - 16;
    padded[at..].iter_mut().zip(subkey).for_each(|(byte, key)| *byte ^= key);
    let mut mac = [0; 16];
    cbcs::<N>(key, &mut mac, Pattern::ALL, &mut padded);
    mac
}

#[test]
fn macs_of_several_ciphers() {
    let mut rng = Rng::from_env("macs_of_several_ciphers");
    let level = *AesLevel::available().last().unwrap();
    for round in 0..100 {
        let bytes: [[u8; 16]; 2] = [rng.array(), rng.array()];
        let keys: Keys<Aes128Cmac, Aes256Cmac, Cmac<Turns<3>>, Cmac<Turns<5>>> = Keys {
            small: vec![Aes128Cmac::with_level(&rng.array(), level)],
            large: vec![Aes256Cmac::with_level(&rng.array(), level)],
            three: vec![(Cmac::with_level(&bytes[0], level), bytes[0])],
            five: vec![(Cmac::with_level(&bytes[1], AesLevel::available()[0]), bytes[1])],
        };
        let count = *rng.pick(&[1, 2, 7, 60, 150]);
        let messages: Vec<_> = (0..count)
            .map(|_| {
                let length = rng.below(300);
                rng.bytes(length)
            })
            .collect();
        let (mut jobs, expected): (Vec<_>, Vec<_>) = messages
            .iter()
            .map(|message| match rng.below(4) {
                0 => (MacJob::new(&keys.small[0], message), keys.small[0].mac(message)),
                1 => (MacJob::new(&keys.large[0], message), keys.large[0].mac(message)),
                2 => (MacJob::new(&keys.three[0].0, message), cmac::<3>(&bytes[0], message)),
                _ => (MacJob::new(&keys.five[0].0, message), cmac::<5>(&bytes[1], message)),
            })
            .unzip();
        lanes::mac(&mut jobs);
        assert!(jobs.iter().map(|job| job.mac).eq(expected.iter().copied()), "round {round}");

        let mut scheduler = Scheduler::new(Order::Submitted);
        let mut macs = Vec::new();
        for job in &jobs {
            macs.extend(
                scheduler
                    .submit(OwnedMacJob::new(job.key, job.message, ()))
                    .unwrap()
                    .map(|job| job.mac),
            );
        }
        scheduler.flush().unwrap();
        macs.extend(core::iter::from_fn(|| scheduler.completed()).map(|job| job.mac));
        assert!(macs == expected, "round {round}");
    }
}

/// Those who print a key see which cipher it is.
#[test]
fn references_name_the_cipher() {
    let level = AesLevel::available()[0];
    let key = Key::<Turns<3>>::with_level(&[1; 16], level);
    assert_eq!(format!("{:?}", KeyRef::from(&key)), "Turns(portable)");
    let key = Aes256Cmac::with_level(&[1; 32], level);
    assert_eq!(format!("{:?}", lanes::CmacRef::from(&key)), "Aes256Cmac(portable)");
}
