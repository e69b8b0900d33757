//! The four schemes against a model that walks the standard's rules byte by byte (ISO/IEC 23001-7,
//! clauses 9.5, 9.6 and 10) over the block cipher of another implementation, the crate `aes`.
#![allow(clippy::unwrap_used, reason = "tests")]

use aes::cipher::{BlockDecrypt as _, BlockEncrypt as _, KeyInit as _};
use lanelock_cenc::map::{Alignment, Mapper, Runs, Subsample};
use lanelock_cenc::{AccessUnit, ApplyError, Cipher, Scheme, ciphertext_bytes, decrypt, encrypt};
use lanelock_core::{Aes128, Pattern};
use lanelock_testkit::{Rng, cavp_cbc, cbcs_kat, hex, pattern, rfc3686_ctr, sp800_38a_ctr};
use std::ops::Range;

const KEY: [u8; 16] = *b"a key, any key..";
const IV: [u8; 16] = *b"an IV of sixteen";

// ---- the model ----

/// What a [`Cipher`] is made of, in the open.
#[derive(Clone, Copy, Debug)]
struct Track {
    scheme: Scheme,
    key: [u8; 16],
    crypt: u8,
    skip: u8,
    truncated: bool,
}

impl Track {
    fn new(scheme: Scheme) -> Self {
        Self { scheme, key: KEY, crypt: 0, skip: 0, truncated: false }
    }

    fn pattern(self, crypt: u8, skip: u8) -> Self {
        Self { crypt, skip, ..self }
    }

    fn cipher(self) -> Cipher {
        let cipher = Cipher::new(self.scheme, Aes128::new(&self.key).unwrap())
            .with_pattern(self.crypt, self.skip);
        if self.truncated { cipher.encrypt_truncated_runs() } else { cipher }
    }

    fn block(self, direction: Direction, block: [u8; 16]) -> [u8; 16] {
        let cipher = aes::Aes128::new(&self.key.into());
        let mut block = block.into();
        match direction {
            Direction::Encrypt => cipher.encrypt_block(&mut block),
            Direction::Decrypt => cipher.decrypt_block(&mut block),
        }
        block.into()
    }

    /// The first bytes of the blocks of a range of `len` bytes that the pattern selects.
    fn selected(self, len: usize) -> Vec<usize> {
        let blocks = len / 16;
        let has_pattern = self.scheme.has_pattern() && self.crypt > 0 && self.skip > 0;
        let (crypt, period) = if has_pattern {
            (usize::from(self.crypt), usize::from(self.crypt) + usize::from(self.skip))
        } else {
            (1, 1)
        };
        (0..blocks)
            .filter(|block| {
                let first_of_run = block - block % period;
                let complete = first_of_run + crypt <= blocks;
                block % period < crypt && (complete || self.truncated)
            })
            .map(|block| block * 16)
            .collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    Encrypt,
    Decrypt,
}

fn block_at(data: &[u8], at: usize) -> [u8; 16] {
    data[at..at + 16].try_into().unwrap()
}

fn xor(a: [u8; 16], b: [u8; 16]) -> [u8; 16] {
    std::array::from_fn(|i| a[i] ^ b[i])
}

/// The counter block `n` blocks after `iv`: only the low 64 bits count, without carry.
fn counter(iv: [u8; 16], n: u64) -> [u8; 16] {
    let low = u64::from_be_bytes(iv[8..].try_into().unwrap()).wrapping_add(n);
    let mut block = iv;
    block[8..].copy_from_slice(&low.to_be_bytes());
    block
}

/// The protected ranges of a unit, in the buffer.
fn protected(unit: &AccessUnit, subsamples: &[Subsample]) -> Vec<Range<usize>> {
    let list = &subsamples[unit.subsamples.clone()];
    if list.is_empty() {
        return vec![unit.range.clone()];
    }
    let mut at = unit.range.start;
    list.iter()
        .map(|s| {
            let start = at + usize::from(s.clear);
            at = start + s.protected as usize;
            start..at
        })
        .collect()
}

fn model(
    direction: Direction,
    buffer: &mut [u8],
    units: &[AccessUnit],
    subsamples: &[Subsample],
    tracks: &[Track],
) {
    for unit in units {
        let track = tracks[unit.cipher];
        let ranges = protected(unit, subsamples);
        match track.scheme {
            Scheme::Cenc => {
                let bytes = ranges.into_iter().flatten();
                for (n, at) in bytes.enumerate() {
                    let stream =
                        track.block(Direction::Encrypt, counter(unit.iv, n as u64 / 16))[n % 16];
                    buffer[at] ^= stream;
                }
            }
            Scheme::Cens => {
                let blocks = ranges.into_iter().flat_map(|range| {
                    track.selected(range.len()).into_iter().map(move |at| range.start + at)
                });
                for (n, at) in blocks.enumerate() {
                    let stream = track.block(Direction::Encrypt, counter(unit.iv, n as u64));
                    let block = xor(block_at(buffer, at), stream);
                    buffer[at..at + 16].copy_from_slice(&block);
                }
            }
            Scheme::Cbc1 | Scheme::Cbcs => {
                let mut chain = unit.iv;
                for range in ranges {
                    if track.scheme == Scheme::Cbcs {
                        chain = unit.iv;
                    }
                    for at in track.selected(range.len()) {
                        let at = range.start + at;
                        let input = block_at(buffer, at);
                        let output = match direction {
                            Direction::Encrypt => track.block(direction, xor(input, chain)),
                            Direction::Decrypt => xor(track.block(direction, input), chain),
                        };
                        chain = if direction == Direction::Encrypt { output } else { input };
                        buffer[at..at + 16].copy_from_slice(&output);
                    }
                }
            }
        }
    }
}

/// Encrypts and decrypts as the model does, and back again.
fn check(buffer: &[u8], units: &[AccessUnit], subsamples: &[Subsample], tracks: &[Track]) {
    let ciphers: Vec<_> = tracks.iter().map(|track| track.cipher()).collect();
    let say = |what: &str, ours: &[u8], theirs: &[u8]| {
        if let Some(at) = ours.iter().zip(theirs).position(|(a, b)| a != b) {
            panic!("{what}: byte {at} differs\n{units:?}\n{subsamples:?}\n{tracks:?}");
        }
    };
    let (mut ours, mut theirs) = (buffer.to_vec(), buffer.to_vec());
    encrypt(&mut ours, units, subsamples, &ciphers).unwrap();
    model(Direction::Encrypt, &mut theirs, units, subsamples, tracks);
    say("encryption", &ours, &theirs);
    decrypt(&mut ours, units, subsamples, &ciphers).unwrap();
    say("round trip", &ours, buffer);
    model(Direction::Decrypt, &mut theirs, units, subsamples, tracks);
    say("round trip of the model", &theirs, buffer);
    // Decryption of what nobody encrypted, too.
    decrypt(&mut ours, units, subsamples, &ciphers).unwrap();
    model(Direction::Decrypt, &mut theirs, units, subsamples, tracks);
    say("decryption", &ours, &theirs);
}

// ---- one unit, written out ----

fn sub(clear: u16, protected: u32) -> Subsample {
    Subsample { clear, protected }
}

/// A unit of those subsamples, from the start of the buffer.
fn unit(subsamples: &[Subsample], iv: [u8; 16]) -> AccessUnit {
    let len: usize = subsamples.iter().map(|s| usize::from(s.clear) + s.protected as usize).sum();
    AccessUnit { range: 0..len, subsamples: 0..subsamples.len(), iv, cipher: 0 }
}

/// Encrypts a unit of those subsamples, after checking it against the model.
fn encrypted(track: Track, iv: [u8; 16], subsamples: &[Subsample]) -> (Vec<u8>, Vec<u8>) {
    let unit = unit(subsamples, iv);
    let clear = pattern(unit.range.end);
    check(&clear, std::slice::from_ref(&unit), subsamples, &[track]);
    let mut buffer = clear.clone();
    encrypt(&mut buffer, &[unit], subsamples, &[track.cipher()]).unwrap();
    (clear, buffer)
}

/// Encrypts a unit of `len` bytes without subsamples, after checking it against the model.
fn whole(track: Track, iv: [u8; 16], len: usize) -> (Vec<u8>, Vec<u8>) {
    let unit = AccessUnit { range: 0..len, subsamples: 0..0, iv, cipher: 0 };
    let clear = pattern(len);
    check(&clear, std::slice::from_ref(&unit), &[], &[track]);
    let mut buffer = clear.clone();
    encrypt(&mut buffer, &[unit], &[], &[track.cipher()]).unwrap();
    (clear, buffer)
}

/// The numbers of the whole blocks that differ.
fn changed(a: &[u8], b: &[u8]) -> Vec<usize> {
    assert_eq!(a.len(), b.len());
    let blocks = a.chunks(16).zip(b.chunks(16)).enumerate();
    blocks.filter(|(_, (a, b))| a != b).map(|(i, _)| i).collect()
}

#[test]
fn published_vectors_pass_through_the_schemes() {
    let mut count = [0; 3];
    let mut case = |kind: usize, track: Track, case: &lanelock_testkit::CipherCase| {
        let unit = AccessUnit {
            range: 0..case.plaintext.len(),
            subsamples: 0..0,
            iv: case.iv[..].try_into().unwrap(),
            cipher: 0,
        };
        let track = Track { key: case.key[..].try_into().unwrap(), ..track };
        let mut buffer = case.plaintext.clone();
        encrypt(&mut buffer, std::slice::from_ref(&unit), &[], &[track.cipher()]).unwrap();
        assert_eq!(hex(&buffer), hex(&case.ciphertext), "{}", case.name);
        decrypt(&mut buffer, &[unit], &[], &[track.cipher()]).unwrap();
        assert_eq!(hex(&buffer), hex(&case.plaintext), "{}", case.name);
        count[kind] += 1;
    };
    for vector in sp800_38a_ctr().iter().chain(&rfc3686_ctr()).filter(|v| v.key.len() == 16) {
        case(0, Track::new(Scheme::Cenc), vector);
    }
    for vector in cavp_cbc().iter().filter(|v| v.key.len() == 16) {
        case(1, Track::new(Scheme::Cbc1), vector);
        case(1, Track::new(Scheme::Cbcs), vector);
    }
    for vector in &cbcs_kat() {
        case(2, Track::new(Scheme::Cbcs).pattern(1, 9), vector);
    }
    assert_eq!(count, [4, 1176, 7]);
}

// ---- the traps of interoperation, by name ----

/// A last crypt run that is cut short stays clear (FFmpeg, mp4ff), or its whole blocks are
/// encrypted (Shaka Packager 3.8, Bento4, GPAC).
#[test]
fn trap_truncated_crypt_run_in_both_readings() {
    for scheme in [Scheme::Cbcs, Scheme::Cens] {
        let track = Track::new(scheme).pattern(5, 5);
        let both = [track, Track { truncated: true, ..track }];
        // 13 blocks: 5 encrypted, 5 clear, 3 in question; then half a block.
        let [short, long] = both.map(|track| {
            let (clear, out) = encrypted(track, IV, &[sub(3, 13 * 16 + 8)]);
            changed(&clear[3..], &out[3..])
        });
        assert_eq!(short, [0, 1, 2, 3, 4], "{scheme}");
        assert_eq!(long, [0, 1, 2, 3, 4, 10, 11, 12], "{scheme}");
        // Fewer blocks than the first run asks for.
        let [short, long] = both.map(|track| {
            let (clear, out) = encrypted(track, IV, &[sub(3, 4 * 16)]);
            changed(&clear[3..], &out[3..])
        });
        assert!(short.is_empty(), "{scheme}");
        assert_eq!(long, [0, 1, 2, 3], "{scheme}");
        // Without clear blocks there is no pattern, and no run that could be truncated (Bento4,
        // Shaka Packager 3.8, mp4ff; FFmpeg leaves the last five blocks clear).
        let (clear, out) = encrypted(Track::new(scheme).pattern(10, 0), IV, &[sub(0, 25 * 16)]);
        assert_eq!(changed(&clear, &out), (0..25).collect::<Vec<_>>(), "{scheme}");
        // 1:9 and N:0 have no truncated runs.
        for (crypt, skip) in [(1, 9), (1, 0), (10, 0), (0, 0)] {
            let track = Track::new(scheme).pattern(crypt, skip);
            let [short, long] = [track, Track { truncated: true, ..track }]
                .map(|track| encrypted(track, IV, &[sub(7, 333)]).1);
            assert_eq!(short, long, "{scheme} {crypt}:{skip}");
        }
    }
}

/// `cbcs` restarts chain and pattern at every subsample; no other scheme restarts its state.
#[test]
fn trap_state_restarts_at_subsamples_in_cbcs_only() {
    let subsamples = [sub(5, 160), sub(5, 160)];
    for scheme in Scheme::ALL {
        let track = Track::new(scheme);
        // Both protected ranges hold the same bytes.
        let mut buffer = [pattern(165), pattern(165)].concat();
        let clear = buffer.clone();
        let units = [unit(&subsamples, IV)];
        check(&buffer, &units, &subsamples, &[track]);
        encrypt(&mut buffer, &units, &subsamples, &[track.cipher()]).unwrap();
        let (first, second) = (&buffer[5..165], &buffer[170..]);
        assert_eq!(first == second, scheme == Scheme::Cbcs, "{scheme}");
        // Where it does not restart, both ranges are one.
        if scheme != Scheme::Cbcs {
            let mut joined = [&clear[5..165], &clear[170..]].concat();
            let unit = AccessUnit { range: 0..320, subsamples: 0..0, iv: IV, cipher: 0 };
            encrypt(&mut joined, &[unit], &[], &[track.cipher()]).unwrap();
            assert_eq!(joined, [first, second].concat(), "{scheme}");
        }
    }
}

/// In `cens` the pattern restarts at every subsample although the counter goes on.
#[test]
fn trap_cens_counter_goes_on_and_pattern_restarts() {
    let track = Track::new(Scheme::Cens).pattern(1, 2);
    let subsamples = [sub(1, 5 * 16), sub(1, 5 * 16)];
    let (clear, out) = encrypted(track, IV, &subsamples);
    assert_eq!(changed(&clear[1..81], &out[1..81]), [0, 3]);
    assert_eq!(changed(&clear[82..], &out[82..]), [0, 3]);
    for (n, at) in [1, 49, 82, 130].into_iter().enumerate() {
        let stream = track.block(Direction::Encrypt, counter(IV, n as u64));
        assert_eq!(block_at(&out, at), xor(block_at(&clear, at), stream), "block {n}");
    }
}

/// The chain of `cbc1` goes on over the clear bytes between its ranges.
#[test]
fn trap_cbc1_chain_goes_on() {
    let track = Track::new(Scheme::Cbc1);
    let (clear, out) = encrypted(track, IV, &[sub(3, 32), sub(9, 0), sub(40, 48), sub(1, 16)]);
    let at = |i: usize| [3, 19, 84, 100, 116, 133][i];
    let mut chain = IV;
    for i in 0..6 {
        chain = track.block(Direction::Encrypt, xor(block_at(&clear, at(i)), chain));
        assert_eq!(block_at(&out, at(i)), chain, "block {i}");
    }
}

/// The block counter wraps in 64 bits; the other half of the IV never changes.
#[test]
fn trap_counter_wraps_in_64_bits_without_carry() {
    for scheme in [Scheme::Cenc, Scheme::Cens] {
        for before in [0, 1, 2, 15, 16, 17, 40] {
            let track = Track::new(scheme);
            let mut iv = [0xa5; 16];
            iv[8..].copy_from_slice(&(u64::MAX - before).to_be_bytes());
            let (clear, out) = whole(track, iv, 100 * 16);
            let wrapped = usize::try_from(before).unwrap() + 1;
            let mut zero = [0xa5; 16];
            zero[8..].fill(0);
            let stream = track.block(Direction::Encrypt, zero);
            let at = wrapped * 16;
            assert_eq!(block_at(&out, at), xor(block_at(&clear, at), stream), "{scheme} {before}");
            // Over subsamples, too.
            let _ = encrypted(track, iv, &[sub(1, 16), sub(2, 320), sub(0, 1024)]);
        }
    }
    let (_, ones) = whole(Track::new(Scheme::Cenc), [0xff; 16], 48);
    let mut high = [0xff; 16];
    high[8..].fill(0);
    let (_, after) = whole(Track::new(Scheme::Cenc), high, 48);
    let stream = |out: &[u8], at| xor(block_at(out, at), block_at(&pattern(48), at));
    assert_eq!(stream(&ones, 16), stream(&after, 0), "the high half keeps its ones");
}

/// An IV of 8 bytes is the high half of the counter block; the low half counts from 0.
#[test]
fn trap_iv_of_eight_bytes_is_the_high_half() {
    let eight = *b"8 bytes!";
    let mut iv = [0; 16];
    iv[..8].copy_from_slice(&eight);
    for scheme in [Scheme::Cenc, Scheme::Cens] {
        let track = Track::new(scheme);
        let (clear, out) = whole(track, iv, 64);
        for n in 0..4_usize {
            let mut counter = [0; 16];
            counter[..8].copy_from_slice(&eight);
            counter[15] = u8::try_from(n).unwrap();
            let stream = track.block(Direction::Encrypt, counter);
            assert_eq!(block_at(&out, n * 16), xor(block_at(&clear, n * 16), stream));
        }
    }
}

/// A constant IV of 8 bytes is padded with zeros behind it.
#[test]
fn trap_constant_iv_of_eight_bytes_is_padded_on_the_right() {
    let mut iv = [0; 16];
    iv[..8].copy_from_slice(b"8 bytes!");
    let track = Track::new(Scheme::Cbcs).pattern(1, 9);
    let (clear, out) = encrypted(track, iv, &[sub(4, 160)]);
    let first =
        track.block(Direction::Encrypt, xor(block_at(&clear, 4), *b"8 bytes!\0\0\0\0\0\0\0\0"));
    assert_eq!(block_at(&out, 4), first);
}

/// Audio in `cbcs`: the last, partial block is clear, and a sample of fewer than 16 bytes is wholly
/// clear although it counts as protected.
#[test]
fn trap_cbcs_audio_with_trailing_partial_block() {
    for scheme in [Scheme::Cbcs, Scheme::Cbc1, Scheme::Cens] {
        for len in 0..100 {
            let (clear, out) = whole(Track::new(scheme), IV, len);
            let (head, tail) = (len / 16 * 16, len % 16);
            assert_eq!(out[head..], clear[len - tail..], "{scheme} {len}");
            assert_eq!(changed(&clear[..head], &out[..head]).len(), len / 16, "{scheme} {len}");
        }
    }
}

/// In `cenc` every byte is encrypted, and what a range leaves of a key stream block is for the next
/// range.
#[test]
fn trap_cenc_key_stream_goes_on_over_odd_ranges() {
    let track = Track::new(Scheme::Cenc);
    let subsamples = [sub(3, 5), sub(0, 1), sub(17, 30), sub(0, 0), sub(2, 0), sub(1, 77)];
    let (clear, out) = encrypted(track, IV, &subsamples);
    let mut n = 0_usize;
    for range in protected(&unit(&subsamples, IV), &subsamples) {
        for at in range {
            let stream = track.block(Direction::Encrypt, counter(IV, n as u64 / 16))[n % 16];
            assert_eq!(out[at], clear[at] ^ stream, "protected byte {n}");
            n += 1;
        }
    }
    assert_eq!(n, 113);
    for len in 0..70 {
        let _ = whole(track, IV, len);
    }
}

/// A slice in `cbcs` with fewer than 16 bytes behind its header is listed, and nothing in it is
/// encrypted.
#[test]
fn trap_cbcs_short_slice_is_listed_and_stays_clear() {
    for short in 1..16_u32 {
        let mut subsamples = Vec::new();
        let mut runs = Runs::new(Alignment::Exact, &mut subsamples);
        runs.clear(11);
        runs.protect(short);
        runs.clear(9);
        runs.protect(64);
        assert_eq!(runs.finish(), 2);
        assert_eq!(subsamples, [sub(11, short), sub(9, 64)], "listed");
        let track = Track::new(Scheme::Cbcs).pattern(1, 9);
        let (clear, out) = encrypted(track, IV, &subsamples);
        let second = 20 + short as usize;
        assert_eq!(out[..second], clear[..second], "nothing encrypted in {short} bytes");
        // And the chain of the next range begins with the IV all the same.
        let block = track.block(Direction::Encrypt, xor(block_at(&clear, second), IV));
        assert_eq!(block_at(&out, second), block);
    }
}

/// Ciphertext that looks like a start code stays as it is: emulation prevention is never redone.
#[test]
fn trap_ciphertext_is_not_escaped() {
    // The model gives the plaintext whose ciphertext is all zeros, start codes and escapes.
    for filler in [[0, 0, 0], [0, 0, 1], [0, 0, 3]] {
        let wanted: Vec<u8> = filler.into_iter().cycle().take(480).collect();
        for scheme in Scheme::ALL {
            let track = Track::new(scheme);
            let units = [AccessUnit { range: 0..480, subsamples: 0..0, iv: IV, cipher: 0 }];
            let mut buffer = wanted.clone();
            model(Direction::Decrypt, &mut buffer, &units, &[], &[track]);
            encrypt(&mut buffer, &units, &[], &[track.cipher()]).unwrap();
            assert_eq!(buffer, wanted, "{scheme}");
        }
    }
}

/// Parameter sets inside an access unit (`avc3`) change how the slices behind them are read.
#[test]
fn trap_in_band_parameter_sets_take_effect() {
    // Baseline, 16x16, frame_num of 4 bits or of 16; pictures of one slice, order count type 2.
    let sps = |frame_num: &str| {
        let bits = format!("01000010 00000000 00011110 1 {frame_num} 011 010 0 1 1 1 1 0 0 1");
        nal(0x67, &bits)
    };
    let [four, sixteen] = [sps("1"), sps("0001101")];
    let pps = nal(0x68, "1 1 0 0 1 1 1 0 00 1 1 1 0 0 0 1");
    let configuration = [
        &[1, 66, 0, 30, 0xff, 0xe1][..],
        &u16::try_from(four.len()).unwrap().to_be_bytes(),
        &four,
        &[1],
        &u16::try_from(pps.len()).unwrap().to_be_bytes(),
        &pps,
    ]
    .concat();
    // first_mb 0, type 7 (I), PPS 0, frame_num, idr_pic_id 0, two marking flags, QP delta 0: with
    // 4 bits of frame_num 19 bits, with 16 bits 31.
    let idr = |header: &str| [nal(0x65, header), vec![0xaa; 64]].concat();
    let short = idr("1 0001000 1 0000 1 0 0 1 1111");
    let long = idr("1 0001000 1 0000000000000000 1 0 0 1");
    let sized = |nal: &[u8]| [&u32::try_from(nal.len()).unwrap().to_be_bytes()[..], nal].concat();
    let mut mapper = Mapper::avc(&configuration).unwrap();
    let mut map = |unit: &[u8]| {
        let mut out = Vec::new();
        mapper.map(unit, Alignment::Exact, &mut out).unwrap();
        out
    };
    let tail = |unit: &[u8]| u32::try_from(unit.len()).unwrap();
    let before = map(&sized(&short));
    let header = u32::from(before[0].clear) - 5;
    assert_eq!(before[0].protected, tail(&short) - 1 - header);
    let changed = map(&[sized(&sixteen), sized(&pps), sized(&long)].concat());
    let clear = u32::from(changed[0].clear);
    let prefix = tail(&sixteen) + 4 + tail(&pps) + 4 + 5;
    assert!(clear - prefix > header, "the header is 12 bits longer: {changed:?}");
    assert_eq!(map(&sized(&long))[0].protected, changed[0].protected, "and stays so");
}

/// A NAL unit of those bits, filled up with zeros, without need of emulation prevention (or with
/// it).
fn nal(header: u8, bits: &str) -> Vec<u8> {
    let mut nal = vec![header];
    let bits: Vec<u8> = bits.bytes().filter(|b| *b != b' ').map(|b| b - b'0').collect();
    for byte in bits.chunks(8) {
        let value = (0..8).fold(0, |value, i| value << 1 | byte.get(i).copied().unwrap_or(0));
        if value <= 3 && nal.ends_with(&[0, 0]) {
            nal.push(3);
        }
        nal.push(value);
    }
    nal
}

/// Subsamples without protected bytes, without clear bytes and without bytes are legal everywhere
/// and change no state.
#[test]
fn trap_zero_length_protected_subsamples() {
    for scheme in Scheme::ALL {
        for crypt_skip in [(0, 0), (1, 9), (5, 5)] {
            let track = Track::new(scheme).pattern(crypt_skip.0, crypt_skip.1);
            let (_, plain) = encrypted(track, IV, &[sub(40, 320), sub(10, 320)]);
            let parts =
                [sub(0, 0), sub(20, 0), sub(20, 320), sub(0, 0), sub(4, 0), sub(6, 320), sub(0, 0)];
            let (_, cut) = encrypted(track, IV, &parts);
            assert_eq!(plain, cut, "{scheme}");
            let (clear, out) = encrypted(track, IV, &[sub(100, 0), sub(33, 0)]);
            assert_eq!(clear, out, "{scheme}: all clear");
        }
    }
}

/// Sums of subsamples that are right modulo 2^32 only are refused.
#[test]
fn trap_subsample_sums_do_not_wrap() {
    let subsamples = [sub(16, u32::MAX - 15), sub(0, 16), sub(16, 0)];
    let units = [AccessUnit { range: 0..32, subsamples: 0..3, iv: IV, cipher: 0 }];
    for scheme in Scheme::ALL {
        refused(&units, &subsamples, scheme, |error| {
            error == ApplyError::SubsampleSum { unit: 0, covered: (1 << 32) + 32, length: 32 }
        });
    }
}

// ---- everything at once, at random ----

/// Patterns that occur, and any other.
fn random_track(rng: &mut Rng) -> Track {
    let (crypt, skip) = match rng.below(8) {
        0 => (0, 0),
        1 | 2 => (1, 9),
        3 => (5, 5),
        4 => (10, 0),
        5 => (1, 0),
        6 => (0, 7),
        _ => (u8::try_from(rng.below(16)).unwrap(), u8::try_from(rng.below(16)).unwrap()),
    };
    Track {
        scheme: *rng.pick(&Scheme::ALL),
        key: rng.array(),
        crypt,
        skip,
        truncated: rng.one_in(3),
    }
}

fn random_iv(rng: &mut Rng) -> [u8; 16] {
    let mut iv = rng.array();
    match rng.below(4) {
        0 => iv[8..].fill(0),
        1 => iv[8..].copy_from_slice(&(u64::MAX - rng.below(40) as u64).to_be_bytes()),
        _ => {}
    }
    iv
}

/// A map, legal for the scheme; empty means the whole unit, whose length comes second.
fn random_map(rng: &mut Rng, scheme: Scheme) -> (Vec<Subsample>, usize) {
    let len = |rng: &mut Rng| match rng.below(6) {
        0 => 0,
        1 => rng.below(16),
        2 => rng.below(33) * 16,
        3 => rng.below(3000),
        _ => rng.below(200),
    };
    if rng.one_in(4) {
        return (Vec::new(), len(rng));
    }
    let clear_only = rng.one_in(10);
    let list: Vec<_> = (0..=rng.below(5))
        .map(|_| {
            let clear = u16::try_from(if rng.one_in(3) { 0 } else { rng.below(90) }).unwrap();
            let mut protected = if clear_only { 0 } else { u32::try_from(len(rng)).unwrap() };
            if scheme == Scheme::Cbc1 {
                protected -= protected % 16;
            }
            sub(clear, protected)
        })
        .collect();
    let len = list.iter().map(|s| usize::from(s.clear) + s.protected as usize).sum();
    (list, len)
}

struct Scene {
    buffer: Vec<u8>,
    units: Vec<AccessUnit>,
    subsamples: Vec<Subsample>,
    tracks: Vec<Track>,
}

/// Units of several tracks in one buffer, with gaps, listed in any order.
fn random_scene(rng: &mut Rng, most: usize) -> Scene {
    let tracks: Vec<_> = (0..=rng.below(4)).map(|_| random_track(rng)).collect();
    let (mut units, mut subsamples, mut at) = (Vec::new(), Vec::new(), 0);
    for _ in 0..=rng.below(most) {
        at += if rng.one_in(2) { 0 } else { rng.below(50) };
        let cipher = rng.below(tracks.len());
        let (map, len) = random_map(rng, tracks[cipher].scheme);
        if rng.one_in(4) {
            subsamples.push(sub(9, 9)); // of nobody
        }
        let first = subsamples.len();
        subsamples.extend(map);
        units.push(AccessUnit {
            range: at..at + len,
            subsamples: first..subsamples.len(),
            iv: random_iv(rng),
            cipher,
        });
        at += len;
    }
    if rng.one_in(2) {
        rng.shuffle(&mut units);
    }
    let tail = rng.below(20);
    let buffer = rng.bytes(at + tail);
    Scene { buffer, units, subsamples, tracks }
}

#[test]
fn random_units_of_several_tracks_follow_the_model() {
    let mut rng = Rng::from_env("random_units");
    for _ in 0..1200 {
        let Scene { buffer, units, subsamples, tracks } = random_scene(&mut rng, 12);
        check(&buffer, &units, &subsamples, &tracks);
    }
}

#[test]
fn many_units_fill_the_lanes() {
    let mut rng = Rng::from_env("many_units");
    for _ in 0..25 {
        let Scene { buffer, units, subsamples, tracks } = random_scene(&mut rng, 200);
        check(&buffer, &units, &subsamples, &tracks);
    }
}

#[test]
fn all_patterns_and_short_ranges_follow_the_model() {
    for scheme in [Scheme::Cbcs, Scheme::Cens] {
        for (crypt, skip) in [(1, 9), (5, 5), (10, 0), (1, 0), (0, 0), (2, 1), (15, 15), (3, 0)] {
            for truncated in [false, true] {
                let track = Track { truncated, ..Track::new(scheme).pattern(crypt, skip) };
                let mut selects = Pattern::new(crypt, skip);
                if truncated {
                    selects = selects.encrypt_truncated_runs();
                }
                for len in 0..34 * 16 {
                    let blocks = track.selected(len as usize).len();
                    let ciphertext = ciphertext_bytes(scheme, selects, len) as usize;
                    assert_eq!(ciphertext, blocks * 16, "{scheme} {crypt}:{skip}, {len} bytes");
                    if len % 16 < 2 || len % 16 == 15 {
                        let _ = encrypted(track, IV, &[sub(5, len), sub(0, 33), sub(1, len)]);
                    }
                }
            }
        }
    }
}

#[test]
fn schemes_without_pattern_ignore_it() {
    for scheme in [Scheme::Cenc, Scheme::Cbc1] {
        let plain = whole(Track::new(scheme), IV, 1000);
        let ciphertext = if scheme == Scheme::Cenc { 1000 } else { 992 };
        assert_eq!(ciphertext_bytes(scheme, Pattern::new(1, 9), 1000), ciphertext);
        assert_eq!(plain, whole(Track::new(scheme).pattern(1, 9), IV, 1000));
    }
}

// ---- errors ----

/// Both directions refuse and leave the buffer alone.
fn refused(
    units: &[AccessUnit],
    subsamples: &[Subsample],
    scheme: Scheme,
    right: impl Fn(ApplyError) -> bool,
) {
    for apply in [encrypt, decrypt] {
        let mut buffer = pattern(1000);
        let ciphers = [Track::new(scheme).cipher()];
        let error = apply(&mut buffer, units, subsamples, &ciphers).unwrap_err();
        assert!(right(error), "{error:?}");
        assert_eq!(buffer, pattern(1000), "{error}: the buffer has changed");
    }
}

fn plain(range: Range<usize>) -> AccessUnit {
    AccessUnit { range, subsamples: 0..0, iv: IV, cipher: 0 }
}

#[test]
fn units_behind_the_buffer_are_refused() {
    let wrong = [
        990..1001,
        1001..1001,
        0..usize::MAX,
        usize::MAX..usize::MAX,
        Range { start: 600, end: 599 },
    ];
    for range in wrong {
        for scheme in Scheme::ALL {
            let units = [plain(0..100), plain(range.clone()), plain(200..300)];
            refused(&units, &[], scheme, |e| e == ApplyError::OutOfBuffer { unit: 1 });
        }
    }
}

#[test]
fn overlapping_units_are_refused() {
    for (first, second, later) in [
        (0..100, 99..200, 2),
        (99..200, 0..100, 1),
        (0..300, 100..101, 2),
        (100..101, 0..300, 1),
        (0..16, 0..16, 2),
    ] {
        for scheme in Scheme::ALL {
            let units = [plain(500..600), plain(first.clone()), plain(second.clone())];
            refused(&units, &[], scheme, |e| e == ApplyError::Overlap { unit: later });
        }
    }
    // Empty units share no bytes with anyone.
    let units = [plain(0..100), plain(50..50), plain(100..100), plain(100..200), plain(0..0)];
    check(&pattern(1000), &units, &[], &[Track::new(Scheme::Cbcs)]);
}

#[test]
fn wrong_sums_are_refused() {
    let subsamples = [sub(20, 80), sub(4, 96), sub(1, 16)];
    for (list, length, covered) in
        [(0..2, 201, 200), (0..2, 199, 200), (0..3, 200, 217), (2..3, 0, 17)]
    {
        for scheme in Scheme::ALL {
            let units = [
                plain(0..100),
                AccessUnit { subsamples: list.clone(), ..plain(100..100 + length) },
            ];
            refused(&units, &subsamples, scheme, |error| {
                error == ApplyError::SubsampleSum { unit: 1, covered, length }
            });
        }
    }
}

#[test]
fn partial_blocks_of_cbc1_are_refused() {
    let subsamples = [sub(20, 80), sub(4, 95), sub(1, 0)];
    let units = [plain(0..100), AccessUnit { subsamples: 0..3, ..plain(100..300) }];
    refused(&units, &subsamples, Scheme::Cbc1, |error| {
        error == ApplyError::PartialBlock { unit: 1, length: 95 }
    });
    for scheme in [Scheme::Cenc, Scheme::Cens, Scheme::Cbcs] {
        check(&pattern(300), &units, &subsamples, &[Track::new(scheme)]);
    }
}

#[test]
fn unknown_references_are_refused() {
    let subsamples = [sub(0, 100)];
    let wrong = [
        AccessUnit { cipher: 1, ..plain(100..200) },
        AccessUnit { cipher: usize::MAX, ..plain(100..200) },
        AccessUnit { subsamples: 0..2, ..plain(100..200) },
        AccessUnit { subsamples: 2..2, ..plain(100..200) },
        AccessUnit { subsamples: Range { start: 1, end: 0 }, ..plain(100..200) },
        AccessUnit { subsamples: usize::MAX..usize::MAX, ..plain(100..200) },
    ];
    for unit in wrong {
        for scheme in Scheme::ALL {
            let units = [plain(0..100), unit.clone()];
            refused(&units, &subsamples, scheme, |error| {
                error == ApplyError::UnknownReference { unit: 1 }
            });
        }
    }
}

#[test]
fn broken_scenes_leave_the_buffer_alone() {
    let mut rng = Rng::from_env("broken_scenes");
    let mut broken = 0;
    for _ in 0..600 {
        let mut scene = random_scene(&mut rng, 8);
        let victim = rng.below(scene.units.len());
        let unit = &mut scene.units[victim];
        match rng.below(5) {
            0 => unit.range.end = scene.buffer.len() + 1 + rng.below(99),
            1 => unit.range.end += 1,
            2 => unit.range.start = unit.range.start.saturating_sub(1 + rng.below(60)),
            3 => unit.cipher = scene.tracks.len(),
            _ => unit.subsamples.end += scene.subsamples.len() + 1,
        }
        let ciphers: Vec<_> = scene.tracks.iter().map(|track| track.cipher()).collect();
        for apply in [encrypt, decrypt] {
            let mut buffer = scene.buffer.clone();
            if apply(&mut buffer, &scene.units, &scene.subsamples, &ciphers).is_err() {
                assert_eq!(buffer, scene.buffer);
                broken += 1;
            }
        }
    }
    assert!(broken > 600, "{broken} of 1200 were broken");
}
