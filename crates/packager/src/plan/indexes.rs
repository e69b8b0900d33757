//! Which indexes (`sidx`, `mfra`) of a fragmented file stay, and whether one is made.

use std::cell::Cell;

use lanelock_mp4::{
    METADATA_CAP,
    edit::{parse_sidx, patch_mfra},
};

use crate::{
    Error, IndexPolicy, Observer,
    index::NewIndex,
    io::Input,
    skeleton::{Skeleton, TopBox},
};

/// What becomes of the indexes of a fragmented file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Indexes {
    /// Every `sidx` is left out.
    no_sidx: bool,
    /// Every `mfra` is left out.
    no_mfra: bool,
    /// Where the boxes begin that are left out beside, in file order.
    left_out: Vec<u64>,
    /// How many there are to be set right in the end, as far as that is known.
    count: usize,
    /// Fragments of the index that is made.
    pub(crate) fragments: Option<usize>,
}

impl Indexes {
    /// Does what `policy` says, and leaves out what does not match the file, with a warning: an index is
    /// no media, so the file is not damaged for it. What comes through a pipe is seen when all of it has
    /// come.
    pub(crate) fn new(
        input: &Input<'_>,
        skeleton: &Skeleton,
        policy: IndexPolicy,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let mut this = Self { no_sidx: policy != IndexPolicy::Keep, ..Self::default() };
        let has_movie = skeleton.boxes.iter().any(|found| found.kind == b"moov");
        if policy == IndexPolicy::Build && (input.is_sequential() || !has_movie) {
            let reason = if has_movie {
                "a segment index cannot be built of a pipe: it stands in front of fragments whose number \
                 is not known yet; write the input to a file first, or leave out --sidx build"
            } else {
                "a segment index is built for whole files, and this is a segment alone; leave out \
                 --sidx build"
            };
            return Err(input.unsuitable(reason));
        }
        if input.is_sequential() {
            this.count = 1;
            return Ok(this);
        }
        let mut is_rebuilt = policy == IndexPolicy::Build;
        let mut of_file = Vec::new();
        // The index of the whole file stands in front of the first fragment, and no other behind it.
        let first = skeleton.boxes.iter().position(|found| found.kind == b"moof");
        let behind = &skeleton.boxes[first.unwrap_or(skeleton.boxes.len())..];
        let is_alone = behind.iter().all(|found| found.kind != b"sidx");
        let mut is_head = has_movie && first.is_some() && is_alone;
        for found in &skeleton.boxes {
            match &found.kind.0 {
                b"moof" | b"styp" => is_head = false,
                b"sidx" if this.no_sidx => {}
                b"sidx" | b"mfra" => {
                    let is_of_file = is_head && found.kind == b"sidx";
                    if is_of_file {
                        of_file.push(found.offset);
                    }
                    if matches(input, found, skeleton)? {
                        this.count += 1;
                        continue;
                    }
                    let (kind, at) = (found.kind, found.offset);
                    let becomes = if is_of_file { "built anew" } else { "left out" };
                    observer.warn(&format!(
                        "the {kind} box at file offset {at} does not match its file: it is {becomes}"
                    ));
                    is_rebuilt |= is_of_file;
                    this.left_out.push(at);
                }
                _ => {}
            }
        }
        if is_rebuilt && skeleton.fragments > 0 {
            this.fragments = Some(usize::try_from(skeleton.fragments).unwrap_or(usize::MAX));
            // All tracks get their index from one hand.
            this.left_out.extend(of_file);
            this.left_out.sort_unstable();
            this.count += 1;
        }
        Ok(this)
    }

    /// For a run without output: none is looked at.
    pub(crate) fn ignored() -> Self {
        Self { no_sidx: true, ..Self::default() }
    }

    /// All are left out: for fragments that are made one by one.
    pub(crate) fn none() -> Self {
        Self { no_sidx: true, no_mfra: true, ..Self::default() }
    }

    /// Whether a box is left out, if it is an index.
    pub(crate) fn omits(&self, found: &TopBox) -> bool {
        found.kind == b"sidx" && self.no_sidx
            || found.kind == b"mfra" && self.no_mfra
            || self.left_out.binary_search(&found.offset).is_ok()
    }

    /// How many boxes have the places of others in them, as far as that is known.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The index that is made.
    pub(crate) fn new_index(&self, skeleton: &Skeleton) -> Option<NewIndex> {
        self.fragments.map(|fragments| NewIndex::new(&skeleton.movie, fragments))
    }
}

/// Whether an index agrees with the top-level boxes of its file.
fn matches(input: &Input<'_>, found: &TopBox, skeleton: &Skeleton) -> Result<bool, Error> {
    let bytes = read(input, found)?;
    let at = found.offset;
    let boxes = &skeleton.boxes;
    let kind_at = |at: u64| {
        let index = boxes.binary_search_by_key(&at, |found| found.offset);
        index.ok().map(|index| boxes[index].kind)
    };
    let container = |error| input.container(error);
    if found.kind == b"sidx" {
        let ends = |at: u64| boxes.binary_search_by_key(&at, TopBox::end).is_ok();
        return Ok(parse_sidx(&bytes, at).map_err(container)?.matches_with(kind_at, ends));
    }
    let missing = Cell::new(false);
    let moof = |at: u64| {
        let found = kind_at(at).filter(|kind| kind == b"moof").map(|_| at);
        missing.set(missing.get() || found.is_none());
        found
    };
    match patch_mfra(&bytes, at, moof) {
        Err(_) if missing.get() => Ok(false),
        patched => patched.map(|_| true).map_err(container),
    }
}

/// The bytes of an index.
fn read(input: &Input<'_>, found: &TopBox) -> Result<Vec<u8>, Error> {
    let TopBox { kind, offset, size, .. } = *found;
    let len = match usize::try_from(size) {
        Ok(len) if size <= METADATA_CAP => len,
        _ => {
            return Err(input.unsuitable(format!(
                "the {kind} box at file offset {offset} has {size} bytes; at most {METADATA_CAP} are \
                 read"
            )));
        }
    };
    let mut bytes = vec![0; len];
    input.read(&mut bytes, offset)?;
    Ok(bytes)
}
