//! Boxes: what a file says is consistent with its bytes, an edit that changes nothing gives the same bytes,
//! one that is taken back too, and what was composed is read as it was meant.

use arbitrary::{Result, Unstructured};
use lanelock_mp4::{
    BoxRef, CodecConfig, FourCc, Fragment, Movie, Pssh, SampleAuxTable, SubsampleMode,
    TrackEncryption,
    compose::{NewSample, NewTrackFragment, SidxReference, moof, sidx},
    edit::{
        FragmentEdit, KeepPssh, Protect, ProtectTrack, RunOffsets, SingleEdit, WriteAux,
        fragment_movie, fragmented_ftyp, iso_movie, parse_sidx, patch_mfra, patch_sidx,
        protect_movie, relocate_meta, relocate_movie, single_track, unprotect_movie,
    },
    item_extents, load, top_level,
};
use lanelock_packager::drm;

/// The most top-level boxes and samples that are looked at: a loop over more says nothing new.
const MOST: usize = 4000;

/// The target. What does not begin like a box says what to compose.
pub fn boxes(data: &[u8]) {
    if let Some((0xff, rest)) = data.split_first() {
        let _ = composed(rest);
        return;
    }
    let (mut movie, mut end) = (None, 0);
    for header in top_level(data).take(MOST) {
        let Ok(header) = header else { break };
        assert_eq!(header.offset, end, "boxes in a row");
        end = header.end();
        assert!(header.payload_offset() <= end && end <= data.len() as u64, "{header:?}");
        let Ok(bytes) = load(data, &header) else { continue };
        assert_eq!(bytes.len() as u64, header.size);
        let at = header.offset;
        match &header.kind.0 {
            b"moov" => {
                nested(&bytes, at);
                if let Ok(parsed) = Movie::parse(bytes, at) {
                    edit_movie(&parsed, data);
                    movie = Some(parsed);
                }
            }
            b"moof" => {
                nested(&bytes, at);
                if let Some(movie) = &movie
                    && let Ok(fragment) = Fragment::parse(&bytes, at, movie, data.len() as u64)
                {
                    edit_fragment(&fragment, movie, data);
                }
            }
            b"sidx" => index(&bytes, at),
            b"mfra" => {
                if let Ok(same) = patch_mfra(&bytes, at, Some) {
                    assert!(same == bytes, "nothing has moved");
                }
            }
            b"meta" => {
                let extents =
                    |bytes: &[u8]| BoxRef::root(bytes, at).and_then(|root| item_extents(&root));
                if let Ok(same) = relocate_meta(&bytes, at, Some) {
                    assert!(same == bytes, "nothing has moved");
                    assert!(extents(&bytes).is_ok(), "items that can be moved have places");
                }
                if let Ok(moved) = relocate_meta(&bytes, at, |at| at.checked_add(1000)) {
                    let new = extents(&moved).expect("places that were moved").into_iter();
                    let old = extents(&bytes).expect("places to move").into_iter();
                    assert!(new.eq(old.map(|old| old.start + 1000..old.end + 1000)), "moved items");
                }
            }
            b"pssh" => pssh(&bytes),
            b"ftyp" | b"styp" => {
                if let Ok(new) = fragmented_ftyp(&bytes, &[FourCc(*b"cmfc")]) {
                    assert_eq!(fragmented_ftyp(&new, &[]).expect("an ftyp"), new, "brands once");
                }
            }
            _ => {}
        }
    }
}

/// Children lie one behind another in their parent, and their sizes are their bytes.
fn nested(bytes: &[u8], offset: u64) {
    const CONTAINERS: [&[u8; 4]; 12] = [
        b"moov", b"trak", b"mdia", b"minf", b"stbl", b"dinf", b"edts", b"mvex", b"moof", b"traf",
        b"sinf", b"schi",
    ];
    fn walk(parent: &BoxRef<'_>, depth: usize) {
        assert!(depth <= 40, "nesting has a limit");
        let mut at = parent.payload_range().start;
        for child in parent.children() {
            let Ok(child) = child else { break };
            assert_eq!(child.range().start, at, "{}: children in a row", child.path());
            at = child.range().end;
            assert!(at <= parent.range().end, "{} ends behind its parent", child.path());
            assert_eq!(child.bytes().len(), child.range().len());
            assert!(child.payload_range().start >= child.range().start + 8);
            assert_eq!(
                child.file_offset() - parent.file_offset(),
                (child.range().start - parent.range().start) as u64
            );
            if CONTAINERS.contains(&&child.kind().0) {
                walk(&child, depth + 1);
            }
        }
    }
    if let Ok(root) = BoxRef::root(bytes, offset) {
        walk(&root, 0);
    }
}

fn encryption() -> TrackEncryption {
    TrackEncryption::per_sample([0; 16], 8)
}

/// All that can be done with a movie.
fn edit_movie(movie: &Movie, file: &[u8]) {
    let (len, offset) = (file.len() as u64, movie.offset());
    let again = Movie::parse(movie.bytes().to_vec(), offset).expect("the same bytes");
    assert_eq!(again.tracks.len(), movie.tracks.len());
    let mut tables = Vec::new();
    for track in &movie.tracks {
        let mut table = SampleAuxTable::new(8, SubsampleMode::Absent);
        let aux = movie.aux_info(track, file);
        let mut cursor = aux.as_ref().ok().map(lanelock_mp4::AuxInfo::cursor);
        let mut read = 0;
        for sample in movie.samples(track, len).into_iter().flatten() {
            let Ok(sample) = sample else { break };
            assert!(sample.offset + u64::from(sample.size) <= len, "a sample behind the file");
            table.push(&[0; 8], &[]).expect("an IV of 8 bytes");
            if let Some(Ok(aux)) = cursor.as_mut().map(|cursor| cursor.next_sample(8, sample.size))
            {
                let sum = aux.subsamples.map(|subsamples| subsamples.total());
                let fits = sum.is_none_or(|sum| sum == u64::from(sample.size));
                assert!(fits, "subsamples of another size");
            }
            read += 1;
        }
        assert!(read <= track.sample_count());
        let runs: u64 = movie.encryption_runs(track, 1).map(|(count, _)| count).sum();
        assert_eq!(runs, u64::from(track.sample_count()), "each sample has its parameters");
        tables.push(table);
        for entry in &track.entries {
            let _ = (entry.codec_string(), entry.nal_length_size(), entry.audio());
            let _ =
                (entry.config.as_ref().map(CodecConfig::esds), entry.video(), entry.dolby_vision());
        }
        for edit in [SingleEdit::None, SingleEdit::From(3)] {
            if let Ok(bytes) = single_track(movie, track.id, edit) {
                let one = Movie::parse(bytes, offset).expect("an edited movie is a movie");
                assert_eq!(one.tracks.len(), 1, "one track is left");
            }
        }
    }
    if let Ok(bytes) = relocate_movie(movie, offset, |at, _| Some(at)) {
        assert!(bytes == movie.bytes(), "nothing has moved");
    }
    if let Ok(bytes) = relocate_movie(movie, 0, |at, _| at.checked_add(0xf000_0000)) {
        Movie::parse(bytes, 0).expect("an edited movie is a movie");
    }
    if let Ok(bytes) = fragment_movie(movie) {
        let new = Movie::parse(bytes, offset).expect("an edited movie is a movie");
        assert!(new.fragmented && new.tracks.len() == movie.tracks.len());
    }
    if let Ok(Some((_, bytes))) = iso_movie(movie, None) {
        Movie::parse(bytes, offset).expect("an edited movie is a movie");
    }
    if let Ok(bytes) = unprotect_movie(movie, None, KeepPssh::No) {
        let new = Movie::parse(bytes, offset).expect("an edited movie is a movie");
        assert!(new.tracks.iter().all(|track| !track.is_protected()) && new.pssh.is_empty());
    }
    let plans: Vec<_> = movie
        .tracks
        .iter()
        .zip(&tables)
        .map(|(track, table)| {
            let plan = ProtectTrack::new(track.id, FourCc(*b"cenc"), encryption());
            if movie.fragmented { plan } else { plan.with_aux(table) }
        })
        .collect();
    let common = Pssh::common(&[[7; 16]]);
    if let Ok(bytes) = protect_movie(movie, &plans, &[&common.raw]) {
        let new = Movie::parse(bytes, offset).expect("an edited movie is a movie");
        assert!(new.tracks.iter().all(lanelock_mp4::Track::is_protected));
        assert_eq!(new.pssh.last(), Some(&common));
        // What an earlier protection has left over is gone for good.
        let left_over = |track| movie.has_protection_boxes(track).unwrap_or(true);
        let clean = movie.pssh.is_empty() && !movie.tracks.iter().any(left_over);
        if clean && !movie.tracks.is_empty() {
            let back = unprotect_movie(&new, None, KeepPssh::No).expect("a protected movie");
            assert!(back == movie.bytes(), "protected, then not");
        }
    }
    let plans: Vec<_> = plans.into_iter().map(ProtectTrack::with_clear_entries).collect();
    if let Ok(bytes) = protect_movie(movie, &plans, &[]) {
        let new = Movie::parse(bytes, offset).expect("an edited movie is a movie");
        for (new, old) in new.tracks.iter().zip(&movie.tracks) {
            assert_eq!(new.entries.len(), 2 * old.entries.len(), "protected ones and clear ones");
        }
    }
}

fn edit_fragment(fragment: &Fragment<'_>, movie: &Movie, file: &[u8]) {
    let (len, offset) = (file.len() as u64, fragment.offset());
    let mut tables = Vec::new();
    for track in &fragment.tracks {
        let mut table = SampleAuxTable::new(8, SubsampleMode::Absent);
        let aux = track.aux_info(file);
        let mut cursor = aux.as_ref().ok().map(lanelock_mp4::AuxInfo::cursor);
        let (mut size, mut samples) = (0, Vec::new());
        for sample in track.samples() {
            assert!(sample.size == 0 || sample.offset + u64::from(sample.size) <= len);
            size += u64::from(sample.size);
            table.push(&[0; 8], &[]).expect("an IV of 8 bytes");
            let _ = cursor.as_mut().map(|cursor| cursor.next_sample(8, sample.size));
            samples.push(NewSample::from(sample));
        }
        assert_eq!((size, table.len() as u64), (track.data_size, track.sample_count));
        let runs: u64 = track.encryption_runs(movie).map(|(count, _)| count).sum();
        assert_eq!(runs, track.sample_count, "each sample has its parameters");
        tables.push(table);
        same_samples(track.track_id, &samples, movie);
    }
    let edit = FragmentEdit::new(fragment);
    if let Ok(bytes) = edit.finish(0) {
        assert!(bytes == fragment.bytes(), "nothing was edited");
    }
    let encryption = encryption();
    let plans: Vec<_> = tables
        .iter()
        .enumerate()
        .map(|(index, table)| Protect::new(index, WriteAux::Full(table)).with_seig(&encryption))
        .collect();
    let parsed = |bytes: &[u8]| {
        let new = Fragment::parse(bytes, offset, movie, u64::MAX).expect("an edited one is one");
        assert_eq!(new.tracks.len(), fragment.tracks.len());
        for (new, old) in new.tracks.iter().zip(&fragment.tracks) {
            assert_eq!((new.sample_count, new.data_size), (old.sample_count, old.data_size));
        }
    };
    if let Ok(bytes) = edit.protect(&plans).finish(0) {
        parsed(&bytes);
        if fragment.pssh.is_empty() {
            let new = Fragment::parse(&bytes, offset, movie, u64::MAX).expect("as before");
            let back = FragmentEdit::new(&new).unprotect(KeepPssh::No).finish(0);
            let back = back.expect("a protected one");
            // All that protection leaves behind is data offsets from the `moof`.
            let explicit = edit.with_run_offsets(RunOffsets::Explicit).finish(0);
            assert!(back == explicit.expect("as when it was protected"), "protected, then not");
        }
    }
    // As where samples are clear.
    let clear = (0..fragment.tracks.len())
        .map(|index| Protect::new(index, WriteAux::EmptySenc).with_description_index(1));
    if let Ok(bytes) = edit.protect(&clear.collect::<Vec<_>>()).finish(0) {
        parsed(&bytes);
    }
    for moved in [0, -1000, 1 << 40, i64::MAX, i64::MIN] {
        let explicit = edit.with_run_offsets(RunOffsets::Explicit).finish(moved);
        let clear = edit.unprotect(KeepPssh::No).finish(moved);
        if moved == 0 {
            [explicit, clear].iter().flatten().for_each(|bytes| parsed(bytes));
        }
    }
}

/// Samples that are written into a new fragment are read from it.
fn same_samples(track: u32, samples: &[NewSample], movie: &Movie) {
    if samples.len() > MOST {
        return;
    }
    let parts = [NewTrackFragment::new(track, 5, samples, 8)];
    let Ok(bytes) = moof(1, &parts, &[]) else { return };
    let size: u64 = samples.iter().map(|sample| u64::from(sample.size)).sum();
    let Ok(new) = Fragment::parse(&bytes, 0, movie, bytes.len() as u64 + 8 + size) else { return };
    let read: Vec<_> = new.tracks[0].samples().map(NewSample::from).collect();
    assert!(read == samples, "samples of a new fragment");
}

fn index(bytes: &[u8], offset: u64) {
    let Ok(view) = parse_sidx(bytes, offset) else { return };
    let mut at = view.references.first().map_or(0, |first| first.range.start);
    for reference in &view.references {
        assert_eq!(reference.range.start, at, "ranges in a row");
        at = reference.range.end;
    }
    if let Ok(same) = patch_sidx(bytes, offset, offset, Some) {
        assert!(same == bytes, "nothing has moved");
    }
    if let Ok(moved) =
        patch_sidx(bytes, offset, offset / 2, |at| at.checked_sub(offset - offset / 2))
    {
        let new = parse_sidx(&moved, offset / 2).expect("a patched one");
        let moved = new.references.iter().zip(&view.references);
        assert!(
            moved
                .into_iter()
                .all(|(new, old)| new.range.start + offset - offset / 2 == old.range.start)
        );
    }
}

fn pssh(bytes: &[u8]) {
    let Ok(read) = Pssh::parse(bytes) else { return };
    assert_eq!(read.raw, bytes);
    let _ = drm::contents(&read);
    let made = Pssh::new(read.system_id, &read.kids, &read.data);
    let back = Pssh::parse(&made.raw).expect("a new one");
    assert_eq!(back, made);
    assert_eq!((&back.kids, &back.data), (&read.kids, &read.data));
    // Another header, version or flags say the same in another way.
    if bytes.len() == made.raw.len() && read.version == made.version && bytes[9..12] == [0; 3] {
        assert_eq!(made.raw, bytes);
    }
}

/// Boxes from nothing, read again.
fn composed(data: &[u8]) -> Result<()> {
    let u = &mut Unstructured::new(data);
    let (id, timescale, time, first) =
        (u.arbitrary()?, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?);
    let mut references = Vec::new();
    for _ in 0..u.int_in_range(0..=40)? {
        let reference = SidxReference::new(u.arbitrary()?, u.arbitrary()?);
        references.push(reference.with_sap(u.int_in_range(0..=6)?));
    }
    if let Ok(bytes) = sidx(id, timescale, time, first, &references) {
        assert_eq!(
            bytes.len(),
            usize::try_from(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
                .expect("small")
        );
        if let Ok(view) = parse_sidx(&bytes, 0) {
            assert_eq!((view.reference_id, view.timescale), (id, timescale));
            assert_eq!(view.earliest_presentation_time, time);
            assert_eq!(view.references.len(), references.len());
            index(&bytes, 0);
        } else {
            let sum: u128 = references.iter().map(|r| u128::from(r.size)).sum();
            assert!(u128::from(first) + sum > u128::from(u64::MAX) - 10_000, "refused its own");
        }
    }
    let kids: Vec<[u8; 16]> = u.arbitrary()?;
    let made = Pssh::new(u.arbitrary()?, &kids, u.arbitrary()?);
    assert_eq!(Pssh::parse(&made.raw).expect("a new one"), made);
    Ok(())
}
