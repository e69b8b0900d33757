//! PIFF, and sample entries that describe their protection in several ways.

use crate::io_support::{PIFF, Verb, with_sinf};
use crate::support::{AAC, AVC_AAC_FRAGMENTS, AVC_FRAGMENTS, renamed, samples};
use lanelock_packager::{Layout, Report, Scheme, inspect, io::MemorySource};
use lanelock_testkit::boxes::{boxed, find, grow, word, words};

/// User types of the boxes for tracks, for samples and for protection systems.
const TRACK: u128 = 0x8974_dbce_7be7_4c51_84f9_7148_f988_2554;
const SAMPLES: u128 = 0xa239_4f52_5a9b_4f14_a244_6c42_7c64_8df4;
const SYSTEM: u128 = 0xd08a_4f18_10f3_4a82_b6c8_32d8_aba1_83d3;

fn report(bytes: &[u8]) -> Report {
    inspect(&MemorySource::new("memory", bytes)).unwrap()
}

/// Where the boxes of a user type begin.
fn places(bytes: &[u8], user: u128) -> Vec<usize> {
    let user = user.to_be_bytes();
    let found = bytes.windows(16).enumerate().filter(|(_, window)| *window == user);
    found.map(|(at, _)| at - 8).collect()
}

#[test]
fn both_algorithms_are_decrypted_and_encrypted_anew() {
    for (name, clip) in PIFF {
        let seen = report(clip);
        for track in &seen.tracks {
            let protection = track.protection.as_ref().unwrap();
            assert_eq!(protection.scheme, "piff");
            assert_eq!(protection.protected_access_units, track.access_units, "{name}");
        }
        let back = Verb::Decrypt.in_memory(clip, 2).unwrap();
        assert_eq!(samples(&back), samples(AVC_AAC_FRAGMENTS), "{name}");
        for user in [TRACK, SAMPLES, SYSTEM] {
            assert!(places(&back, user).is_empty(), "{name}");
        }
        assert!(report(&back).tracks.iter().all(|t| t.protection.is_none() && !t.leftovers));
        for scheme in Scheme::ALL {
            let anew = Verb::Rewrap(scheme).in_memory(clip, 2).unwrap();
            assert!(places(&anew, SAMPLES).is_empty(), "{name} {scheme}");
            let back = Verb::DecryptAnew.in_memory(&anew, 2).unwrap();
            assert_eq!(samples(&back), samples(AVC_AAC_FRAGMENTS), "{name} {scheme}");
        }
        let encrypt = Verb::Encrypt(Scheme::Cenc, Layout::Keep).in_memory(clip, 1);
        assert!(encrypt.unwrap_err().to_string().contains("encrypted already"));
    }
}

/// The box of the samples may have algorithm, IV size and KID of its own.
#[test]
fn fragments_have_parameters_of_their_own() {
    let (_, clip) = PIFF[0];
    // The first sample encryption box gets the parameters `fields`; its track, those of another KID.
    let with = |fields: [u8; 4], kid: u8| {
        let mut bytes = renamed(clip, "mfra", "free");
        let tenc = places(&bytes, TRACK)[0];
        bytes[tenc + 32..tenc + 48].fill(0xee);
        let at = places(&bytes, SAMPLES)[0];
        let more = [&fields[..], &[kid; 16]].concat();
        bytes[at + 27] |= 1;
        let size = word(&bytes, at) + 20;
        bytes[at..at + 4].copy_from_slice(&size.to_be_bytes());
        grow(&mut bytes, &[b"moof", b"traf"], 20);
        // The data of both tracks lie behind.
        let moof = find(&bytes, b"moof");
        let len = word(&bytes, moof) as usize;
        for at in moof..moof + len {
            if &bytes[at..at + 4] == b"trun" {
                let offset = word(&bytes, at + 12) + 20;
                bytes[at + 12..at + 16].copy_from_slice(&offset.to_be_bytes());
            }
        }
        bytes.splice(at + 28..at + 28, more);
        bytes
    };
    let own = with([0, 0, 1, 8], 0x10);
    // Other fragments of the track have no key now: only the first one is looked at.
    let first = first_fragment(&own);
    let back = Verb::Decrypt.in_memory(&first, 1).unwrap();
    assert_eq!(samples(&back), samples(&first_fragment(AVC_AAC_FRAGMENTS)));
    let protection = report(&first).tracks[0].protection.clone().unwrap();
    assert!(protection.kids.contains(&"10101010-1010-1010-1010-101010101010".to_owned()));
    for (fields, words) in [
        ([0, 0, 2, 16], "another algorithm than its track"),
        ([0, 0, 3, 8], "AlgorithmID"),
        ([0, 0, 1, 7], "IV_size"),
    ] {
        let error = Verb::Decrypt.in_memory(&with(fields, 0x10), 1).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

/// All up to the end of the first `mdat`.
fn first_fragment(bytes: &[u8]) -> Vec<u8> {
    let mdat = find(bytes, b"mdat");
    bytes[..mdat + word(bytes, mdat) as usize].to_vec()
}

/// Its boxes of protection systems are listed, and go with the protection.
#[test]
fn boxes_of_protection_systems() {
    let (_, clip) = PIFF[0];
    let pssh =
        boxed(b"uuid", &[&SYSTEM.to_be_bytes(), &words(&[0]), &[0x9a; 16], &words(&[4]), b"data"]);
    let mut bytes = renamed(clip, "mfra", "free");
    let at = find(&bytes, b"mvex");
    bytes.splice(at..at, pssh.clone());
    grow(&mut bytes, &[b"moov"], pssh.len());
    let seen = report(&bytes);
    assert_eq!(seen.pssh.len(), 1);
    assert_eq!((seen.pssh[0].version, seen.pssh[0].data_bytes), (0, 4));
    let back = Verb::Decrypt.in_memory(&bytes, 1).unwrap();
    assert!(places(&back, SYSTEM).is_empty());
    assert_eq!(samples(&back), samples(AVC_AAC_FRAGMENTS));
}

#[test]
fn the_sinf_of_a_known_scheme_is_taken() {
    for (clip, entry) in [(AVC_FRAGMENTS, *b"encv"), (AAC, *b"enca")] {
        let clip = renamed(clip, "mfra", "free");
        for scheme in Scheme::ALL {
            let sealed = Verb::Encrypt(scheme, Layout::Keep).in_memory(&clip, 1).unwrap();
            for in_front in [true, false] {
                for other in [*b"abcd", scheme.fourcc()] {
                    let two = with_sinf(&sealed, entry, other, in_front);
                    assert_eq!(
                        report(&two).tracks[0].protection.as_ref().unwrap().scheme,
                        scheme.to_string()
                    );
                    assert!(Verb::Decrypt.in_memory(&two, 1).unwrap() == clip, "{scheme}");
                    let anew = Verb::Rewrap(Scheme::Cbcs).in_memory(&two, 1).unwrap();
                    assert_eq!(anew.windows(4).filter(|word| word == b"sinf").count(), 1);
                    assert!(Verb::DecryptAnew.in_memory(&anew, 1).unwrap() == clip, "{scheme}");
                    let error = Verb::Encrypt(scheme, Layout::Keep).in_memory(&two, 1).unwrap_err();
                    assert!(error.to_string().contains("encrypted already"), "{error}");
                }
                // Two known schemes cannot both be what the samples follow.
                let other = Scheme::ALL[(scheme as usize + 1) % 4].fourcc();
                let two = with_sinf(&sealed, entry, other, in_front);
                for verb in [Verb::Decrypt, Verb::Rewrap(Scheme::Cenc)] {
                    let error = verb.in_memory(&two, 1).unwrap_err().to_string();
                    assert!(error.contains("sinf[1]") && error.contains("contradicts"), "{error}");
                }
            }
        }
    }
}

/// `piff` beside `cenc` says the same.
#[test]
fn piff_beside_cenc() {
    let clip = renamed(AVC_FRAGMENTS, "mfra", "free");
    let sealed = Verb::Encrypt(Scheme::Cenc, Layout::Keep).in_memory(&clip, 1).unwrap();
    for (in_front, scheme) in [(true, "piff"), (false, "cenc")] {
        let two = with_sinf(&sealed, *b"encv", *b"piff", in_front);
        assert_eq!(report(&two).tracks[0].protection.as_ref().unwrap().scheme, scheme);
        assert!(Verb::Decrypt.in_memory(&two, 1).unwrap() == clip);
    }
}
