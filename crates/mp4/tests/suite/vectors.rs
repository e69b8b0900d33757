//! What the published vectors are known to say.

use crate::common::{each_fragment, movie, vector};
use lanelock_mp4::{COMMON_SYSTEM_ID, FourCc};
use lanelock_testkit::{ProtectedClip, protected_clips};

fn hex(text: &str) -> [u8; 16] {
    u128::from_str_radix(text, 16).unwrap().to_be_bytes()
}

#[test]
fn cenc_init() {
    let file = vector("prog_8s_enc_dashinit.mp4");
    let movie = movie(&file);
    assert!(movie.fragmented);
    assert_eq!((movie.timescale, movie.fragment_duration), (90_000, Some(720_000)));
    assert_eq!(movie.pssh.len(), 1);
    assert_eq!(movie.pssh[0].system_id, COMMON_SYSTEM_ID);
    let kid = hex("cd7eb9ff88f34caeb06185b00024e4c2");
    for (track, (format, original, codec)) in
        movie.tracks.iter().zip([("encv", "avc1", "avc1.64001E"), ("enca", "mp4a", "mp4a.40.2")])
    {
        let entry = &track.entries[0];
        assert_eq!(entry.format.to_string(), format);
        assert_eq!(entry.original_format.to_string(), original);
        assert_eq!(entry.codec_string(), codec);
        let protection = entry.protection.as_ref().unwrap();
        assert_eq!(protection.scheme_type, FourCc::new(b"cenc"));
        let tenc = protection.encryption.unwrap();
        assert_eq!((tenc.kid, tenc.iv_size, tenc.is_protected), (kid, 8, true));
    }
    assert!(movie.tracks[0].has_edit_list());
}

#[test]
fn cbcs_init() {
    let file = vector("cbcs.mp4");
    let movie = movie(&file);
    let entry = &movie.tracks[0].entries[0];
    let tenc = entry.protection.as_ref().unwrap().encryption.unwrap();
    assert_eq!((tenc.crypt_blocks, tenc.skip_blocks, tenc.iv_size), (1, 9, 0));
    assert!(tenc.constant_iv.is_some());
    assert_eq!(entry.nal_length_size(), Some(4));
    assert_eq!(movie.tracks[1].entries[0].format, FourCc::new(b"c608"));
    assert!(!movie.tracks[1].is_protected());
    assert_eq!(movie.pssh.len(), 2);
}

#[test]
fn every_sample_has_fitting_aux_info() {
    for ProtectedClip { clip, .. } in protected_clips() {
        let (name, file) = (clip.name.clone(), clip.read());
        let mut count = 0;
        each_fragment(&file, |movie, fragment| {
            for track in &fragment.tracks {
                let aux = track.aux_info(&file).unwrap();
                let mut cursor = aux.cursor();
                let mut samples = track.samples();
                for (run, encryption) in track.encryption_runs(movie) {
                    let iv_size = encryption.map_or(0, |encryption| encryption.iv_size);
                    for sample in samples.by_ref().take(usize::try_from(run).unwrap()) {
                        let aux = cursor.next_sample(iv_size, sample.size).unwrap();
                        count += aux.subsamples.map_or(0, |subsamples| subsamples.len());
                    }
                }
                assert_eq!(samples.len(), 0);
                cursor.finish().unwrap();
            }
        });
        assert!(count > 0, "{name}");
    }
}

#[test]
fn wrong_iv_size_is_noticed() {
    let file = vector("prog_8s_enc_dashinit.mp4");
    each_fragment(&file, |_, fragment| {
        for track in &fragment.tracks {
            let aux = track.aux_info(&file).unwrap();
            for iv_size in [0, 16] {
                let mut cursor = aux.cursor();
                let result = track
                    .samples()
                    .try_for_each(|sample| cursor.next_sample(iv_size, sample.size).map(drop))
                    .and_then(|()| cursor.finish());
                let error = result.unwrap_err();
                assert!(error.path().ends_with("/senc"), "{error}");
            }
        }
    });
}

#[test]
fn saiz_and_saio_lead_to_the_same_bytes_as_senc() {
    // Without its `senc`, the fragment has to be read through `saiz` and `saio`.
    for ProtectedClip { clip, .. } in protected_clips() {
        let file = clip.read();
        let movie = movie(&file);
        for (offset, moof) in crate::common::moofs(&file) {
            let mut hidden = moof.clone();
            for at in 0..moof.len() - 4 {
                if &moof[at..at + 4] == b"senc" {
                    hidden[at..at + 4].copy_from_slice(b"free");
                }
            }
            let len = file.len() as u64;
            let with = lanelock_mp4::Fragment::parse(&moof, offset, &movie, len).unwrap();
            let without = lanelock_mp4::Fragment::parse(&hidden, offset, &movie, len).unwrap();
            for (with, without) in with.tracks.iter().zip(&without.tracks) {
                let iv_size = movie.tracks[with.track_index]
                    .encryption(1)
                    .map_or(0, |encryption| encryption.iv_size);
                let (a, b) = (with.aux_info(&file).unwrap(), without.aux_info(&file).unwrap());
                assert_eq!(a.is_absent(), b.is_absent());
                let (mut a, mut b) = (a.cursor(), b.cursor());
                for sample in with.samples() {
                    let a = a.next_sample(iv_size, sample.size).unwrap();
                    let b = b.next_sample(iv_size, sample.size).unwrap();
                    assert_eq!(a.iv, b.iv);
                    assert_eq!(
                        a.subsamples.map(Iterator::collect::<Vec<_>>),
                        b.subsamples.map(Iterator::collect::<Vec<_>>)
                    );
                }
                b.finish().unwrap();
            }
        }
    }
}
