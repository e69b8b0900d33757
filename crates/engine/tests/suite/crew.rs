//! A crew that is no cipher: SHA-256 of many messages in the lanes of [`fly`], against the crate `sha2`.

use lanelock::lanes::{Crew, fly};
use lanelock_testkit::{Rng, unhex};
use sha2::{Digest, Sha256, block_api::compress256};

const LANES: usize = 8;

type Words = [u32; LANES];

/// The initial state: the square roots of the first primes (FIPS 180-4, 5.3.3).
const START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The constants of the rounds: the first 32 bits of the fractions of the cube roots of the first 64 primes
/// (FIPS 180-4, 4.2.2), computed.
fn constants() -> [u32; 64] {
    let primes = (2_u128..).filter(|n| (2..*n).all(|divisor| n % divisor != 0));
    let mut constants = [0; 64];
    for (constant, prime) in constants.iter_mut().zip(primes) {
        // floor(cbrt(prime) * 2^32) = floor(cbrt(prime * 2^96)), by bisection.
        let (mut low, mut high) = (0_u128, 1 << 36);
        while high - low > 1 {
            let middle = u128::midpoint(low, high);
            if middle.pow(3) <= prime << 96 { low = middle } else { high = middle }
        }
        *constant = low as u32;
    }
    constants
}

/// A message on its way: whole blocks, and where the state is kept.
struct Message<'m> {
    state: &'m mut [u32; 8],
    blocks: &'m [[u8; 64]],
    /// Blocks that are left in the end.
    left: &'m mut usize,
}

/// SHA-256 over transposed words: word `i` of all lanes is `state[i]`.
struct Hashes<'m> {
    constants: [u32; 64],
    state: [Words; 8],
    seats: [Option<Message<'m>>; LANES],
}

impl Hashes<'_> {
    fn new() -> Self {
        Self { constants: constants(), state: [[0; LANES]; 8], seats: [const { None }; LANES] }
    }
}

fn each(f: impl FnMut(usize) -> u32) -> Words {
    core::array::from_fn(f)
}

impl<'m> Crew for Hashes<'m> {
    type Chain = Message<'m>;

    fn lanes(&self) -> usize {
        LANES
    }

    fn seat(&mut self, lane: usize, message: Message<'m>) {
        assert!(self.seats[lane].is_none(), "lane {lane} is taken");
        for (row, word) in self.state.iter_mut().zip(&*message.state) {
            row[lane] = *word;
        }
        self.seats[lane] = Some(message);
    }

    fn left(&self, lane: usize) -> usize {
        self.seats[lane].as_ref().unwrap().blocks.len()
    }

    /// As the ciphers do, at some numbers of lanes only.
    fn lanes_to_advance(&self, active: usize) -> usize {
        if active < 6 { active.min(4) } else { active }
    }

    /// FIPS 180-4, 6.2.2. Lanes beyond `used` compute too, and keep their states.
    fn advance(&mut self, used: usize, steps: usize) {
        assert!((1..=LANES).contains(&used) && steps > 0);
        for step in 0..steps {
            let mut w = [[0; LANES]; 64];
            for lane in 0..used {
                let block = &self.seats[lane].as_ref().unwrap().blocks[step];
                for (row, word) in w.iter_mut().zip(block.as_chunks().0) {
                    row[lane] = u32::from_be_bytes(*word);
                }
            }
            for t in 16..64 {
                w[t] = each(|l| {
                    let (a, b) = (w[t - 15][l], w[t - 2][l]);
                    let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
                    let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
                    w[t - 16][l].wrapping_add(s0).wrapping_add(w[t - 7][l]).wrapping_add(s1)
                });
            }
            let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.state;
            for t in 0..64 {
                let t1 = each(|l| {
                    let s1 = e[l].rotate_right(6) ^ e[l].rotate_right(11) ^ e[l].rotate_right(25);
                    let choice = e[l] & f[l] ^ !e[l] & g[l];
                    h[l].wrapping_add(s1)
                        .wrapping_add(choice)
                        .wrapping_add(self.constants[t])
                        .wrapping_add(w[t][l])
                });
                let t2 = each(|l| {
                    let s0 = a[l].rotate_right(2) ^ a[l].rotate_right(13) ^ a[l].rotate_right(22);
                    s0.wrapping_add(a[l] & b[l] ^ a[l] & c[l] ^ b[l] & c[l])
                });
                (h, g, f, e) = (g, f, e, each(|l| d[l].wrapping_add(t1[l])));
                (d, c, b, a) = (c, b, a, each(|l| t1[l].wrapping_add(t2[l])));
            }
            for (row, new) in self.state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
                for (word, new) in row[..used].iter_mut().zip(new) {
                    *word = word.wrapping_add(new);
                }
            }
        }
        for message in self.seats[..used].iter_mut().flatten() {
            message.blocks = &message.blocks[steps..];
        }
    }

    fn land(&mut self, lane: usize) {
        let message = self.seats[lane].take().unwrap();
        *message.left = message.blocks.len();
        for (row, word) in self.state.iter().zip(message.state) {
            *word = row[lane];
        }
    }

    fn move_lane(&mut self, from: usize, to: usize) {
        assert!(self.seats[to].is_none() && from > to);
        self.seats[to] = self.seats[from].take();
        for row in &mut self.state {
            row[to] = row[from];
        }
    }
}

/// A message with its padding (FIPS 180-4, 5.1.1).
fn padded(message: &[u8]) -> Vec<[u8; 64]> {
    let mut bytes = message.to_vec();
    bytes.push(0x80);
    bytes.resize((message.len() + 9).next_multiple_of(64) - 8, 0);
    bytes.extend((message.len() as u64 * 8).to_be_bytes());
    bytes.as_chunks().0.to_vec()
}

/// The states after a flight, and the blocks that are left of each message.
fn states(messages: &[Vec<[u8; 64]>], most: usize, stop_early: bool) -> Vec<([u32; 8], usize)> {
    let mut ends: Vec<_> = messages.iter().map(|blocks| (START, blocks.len())).collect();
    let mut chains = messages.iter().zip(&mut ends).map(|(blocks, (state, left))| Message {
        state,
        blocks,
        left,
    });
    fly(&mut Hashes::new(), &mut chains, most, if stop_early { usize::MAX } else { 1 });
    ends
}

fn digest(state: [u32; 8]) -> Vec<u8> {
    state.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// The examples of FIPS 180-4 (NIST, "Example algorithms": SHA256.pdf), and the empty message.
#[test]
fn published_digests() {
    let cases: [(&[u8], &str); 3] = [
        (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        ),
        (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ];
    let messages = cases.map(|(message, _)| padded(message));
    for ((state, left), (_, expected)) in states(&messages, LANES, false).into_iter().zip(cases) {
        assert_eq!((digest(state), left), (unhex(expected), 0));
    }
}

#[test]
fn hashes_are_those_of_another_implementation() {
    let mut rng = Rng::from_env("hashes_are_those_of_another_implementation");
    for round in 0..200 {
        let most_bytes = *rng.pick(&[1, 70, 300, 2000]);
        let messages: Vec<_> = (0..rng.below(40))
            .map(|_| {
                let length = rng.below(most_bytes);
                rng.bytes(length)
            })
            .collect();
        let blocks: Vec<_> = messages.iter().map(|message| padded(message)).collect();
        let most = *rng.pick(&[0, 1, 2, 3, 5, LANES, usize::MAX]);
        for (number, (state, left)) in states(&blocks, most, false).into_iter().enumerate() {
            let what = format!("round {round}, message {number} of {}, {most} lanes", blocks.len());
            assert_eq!(left, 0, "{what}");
            assert_eq!(digest(state), Sha256::digest(&messages[number]).to_vec(), "{what}");
        }
    }
}

/// What is half done when a flight ends early is right as far as it goes, and can go on.
#[test]
fn early_ends() {
    let mut rng = Rng::from_env("early_ends");
    for round in 0..200 {
        let messages: Vec<Vec<[u8; 64]>> =
            (0..rng.below(30)).map(|_| (0..rng.below(20)).map(|_| rng.array()).collect()).collect();
        let most = 1 + rng.below(LANES);
        let ends = states(&messages, most, true);
        let mut unfinished = 0;
        for (number, ((state, left), blocks)) in ends.into_iter().zip(&messages).enumerate() {
            let mut expected = START;
            for block in &blocks[..blocks.len() - left] {
                compress256(&mut expected, core::slice::from_ref(block));
            }
            assert_eq!(state, expected, "round {round}, message {number}, {left} left");
            unfinished += usize::from(left > 0);
        }
        assert!(unfinished < most, "round {round}: {unfinished} of {most} lanes could go on");
    }
}
