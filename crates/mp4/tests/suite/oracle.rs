//! Two other parsers on the same bytes: mp4-atom for sample tables and runs, mp4forge for
//! protection boxes. Only what each of them is known to read right is compared.

use std::io::Cursor;

use crate::common::{boxes, bytes_of, each_fragment, movie};
use lanelock_mp4::Sample;
use lanelock_testkit::{ProtectedClip, all_clips, protected_clips, skip};
use mp4_atom::{Decode, Moof, Moov, StszSamples};
use mp4forge::{
    boxes::iso23001_7::{Pssh, Senc, Tenc},
    extract::extract_box_as,
    walk::BoxPath,
};

/// Sample offsets and sizes the slow and plain way.
fn expand(stbl: &mp4_atom::Stbl) -> Vec<(u64, u32)> {
    let sizes = match &stbl.stsz.samples {
        StszSamples::Identical { count, size } => vec![*size; *count as usize],
        StszSamples::Different { sizes } => sizes.clone(),
    };
    let chunks: Vec<u64> = match (&stbl.stco, &stbl.co64) {
        (Some(stco), _) => stco.entries.iter().map(|&offset| u64::from(offset)).collect(),
        (_, Some(co64)) => co64.entries.clone(),
        _ => Vec::new(),
    };
    let mut sizes = sizes.into_iter();
    let mut out = Vec::new();
    for (number, mut at) in (1..).zip(chunks) {
        let entry = stbl.stsc.entries.iter().rev().find(|entry| entry.first_chunk <= number);
        for size in sizes.by_ref().take(entry.unwrap().samples_per_chunk as usize) {
            out.push((at, size));
            at += u64::from(size);
        }
    }
    out
}

#[test]
fn sample_tables_as_mp4_atom() {
    for clip in all_clips() {
        let (name, file) = (clip.path.display(), clip.read());
        let ours = movie(&file);
        let theirs = match Moov::decode(&mut Cursor::new(ours.bytes())) {
            Ok(theirs) => theirs,
            Err(error) => {
                skip(&format!("mp4-atom does not read {name}: {error}"));
                continue;
            }
        };
        assert_eq!(ours.tracks.len(), theirs.trak.len());
        for (track, trak) in ours.tracks.iter().zip(&theirs.trak) {
            assert_eq!(track.id, trak.tkhd.track_id);
            assert_eq!(track.timescale, trak.mdia.mdhd.timescale);
            assert_eq!(track.duration, trak.mdia.mdhd.duration);
            let stbl = &trak.mdia.minf.stbl;
            let samples: Vec<Sample> =
                ours.samples(track, file.len() as u64).unwrap().collect::<Result<_, _>>().unwrap();
            let places: Vec<_> = samples.iter().map(|s| (s.offset, s.size)).collect();
            assert_eq!(places, expand(stbl), "{name}");
            let deltas = stbl.stts.entries.iter();
            let deltas = deltas.flat_map(|e| vec![e.sample_delta; e.sample_count as usize]);
            assert!(samples.iter().map(|s| s.duration).eq(deltas), "{name}");
            if let Some(stss) = &stbl.stss {
                let sync = (1..).zip(&samples).filter(|(_, s)| s.sync).map(|(number, _)| number);
                assert!(sync.eq(stss.entries.iter().copied()), "{name}");
            }
        }
    }
}

#[test]
fn runs_as_mp4_atom() {
    for ProtectedClip { clip, .. } in protected_clips() {
        let (name, file) = (clip.name.clone(), clip.read());
        each_fragment(&file, |_, fragment| {
            let theirs = Moof::decode(&mut Cursor::new(fragment.bytes())).unwrap();
            assert_eq!(fragment.sequence, theirs.mfhd.sequence_number);
            for (track, traf) in fragment.tracks.iter().zip(&theirs.traf) {
                assert_eq!(track.track_id, traf.tfhd.track_id);
                let time = traf.tfdt.as_ref().map(|tfdt| tfdt.base_media_decode_time);
                assert_eq!(track.decode_time, time);
                for (run, trun) in track.runs().iter().zip(&traf.trun) {
                    let offset =
                        fragment.offset().checked_add_signed(trun.data_offset.unwrap().into());
                    assert_eq!(Some(run.offset), offset, "{name}");
                }
                let default = traf.tfhd.default_sample_size;
                let sizes = traf.trun.iter().flat_map(|trun| trun.samples.iter());
                let sizes: Vec<_> = sizes.map(|sample| sample.size.or(default)).collect();
                for (sample, size) in track.samples().zip(&sizes) {
                    // Without a value in the fragment it is that of `trex`.
                    assert_eq!(sample.size, size.unwrap_or(sample.size), "{name}");
                }
                assert_eq!(track.sample_count, sizes.len() as u64, "{name}");
            }
        });
    }
}

fn extract<T: mp4forge::codec::CodecBox + Clone + 'static>(bytes: &[u8], path: &str) -> Vec<T> {
    extract_box_as(&mut Cursor::new(bytes), None, BoxPath::parse(path).unwrap()).unwrap()
}

#[test]
fn protection_as_mp4forge() {
    for ProtectedClip { clip, .. } in protected_clips() {
        let (name, file) = (clip.name.clone(), clip.read());
        let ours = movie(&file);
        let mut theirs = Vec::new();
        for entry in ["encv", "enca"] {
            let path = format!("moov/trak/mdia/minf/stbl/stsd/{entry}/sinf/schi/tenc");
            theirs.extend(extract::<Tenc>(ours.bytes(), &path));
        }
        let mut count = 0;
        for encryption in ours.tracks.iter().filter_map(|track| track.encryption(1)) {
            let found = theirs.iter().any(|tenc| {
                tenc.default_kid == encryption.kid
                    && tenc.default_per_sample_iv_size == encryption.iv_size
                    && tenc.default_crypt_byte_block == encryption.crypt_blocks
                    && tenc.default_skip_byte_block == encryption.skip_blocks
                    && (tenc.default_is_protected == 1) == encryption.is_protected
                    && tenc.default_constant_iv
                        == encryption.constant_iv.as_ref().map_or(&[][..], |iv| iv.as_slice())
            });
            assert!(found, "{name}");
            count += 1;
        }
        assert_eq!(count, theirs.len());
        let pssh = extract::<Pssh>(ours.bytes(), "moov/pssh");
        assert_eq!(pssh.len(), ours.pssh.len());
        for (ours, theirs) in ours.pssh.iter().zip(pssh) {
            assert_eq!(ours.system_id, theirs.system_id);
            assert_eq!(ours.data, theirs.data);
        }
    }
}

#[test]
fn senc_as_mp4forge() {
    for ProtectedClip { clip, .. } in protected_clips() {
        let (name, file) = (clip.name.clone(), clip.read());
        let moofs = boxes(&file).into_iter().filter(|header| header.kind == b"moof");
        let bytes: Vec<Vec<u8>> = moofs.map(|header| bytes_of(&file, &header)).collect();
        let mut bytes = bytes.into_iter();
        let mut compared = 0;
        each_fragment(&file, |movie, fragment| {
            let mut theirs = extract::<Senc>(&bytes.next().unwrap(), "moof/traf/senc").into_iter();
            for track in &fragment.tracks {
                let Some(encryption) = movie.tracks[track.track_index].encryption(1) else {
                    continue;
                };
                let senc = theirs.next().unwrap();
                assert_eq!(senc.samples.len() as u64, track.sample_count);
                let aux = track.aux_info(&file).unwrap();
                let mut cursor = aux.cursor();
                for (sample, theirs) in track.samples().zip(&senc.samples) {
                    let aux = cursor.next_sample(encryption.iv_size, sample.size).unwrap();
                    assert_eq!(aux.iv, theirs.initialization_vector);
                    let ours = aux.subsamples.into_iter().flatten();
                    let ours = ours.map(|s| (s.clear, s.protected));
                    let theirs = theirs.subsamples.iter();
                    let theirs = theirs.map(|s| (s.bytes_of_clear_data, s.bytes_of_protected_data));
                    assert!(ours.eq(theirs));
                    compared += 1;
                }
            }
        });
        assert!(compared > 100, "{name}");
    }
}
