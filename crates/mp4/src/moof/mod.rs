//! Movie fragments: `moof` and its track fragments (ISO/IEC 14496-12, 8.8).

mod traf;
mod trun;

pub use traf::{Base, TrackFragment};
pub use trun::{FragmentSamples, TrackRun};

use crate::{BoxRef, ErrorKind, FourCc, Movie, Pssh, Result, protection::is_pssh};

/// A parsed `moof`, borrowing its bytes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fragment<'a> {
    pub(crate) root: BoxRef<'a>,
    /// Sequence number of `mfhd`.
    pub sequence: u32,
    /// Track fragments in file order.
    pub tracks: Vec<TrackFragment<'a>>,
    /// Protection system headers, as key rotation puts them here.
    pub pssh: Vec<Pssh>,
}

impl<'a> Fragment<'a> {
    /// Parses the whole `moof` box (header included) found at `offset` of a file of
    /// `file_len` bytes; `movie` has the defaults.
    ///
    /// Everything is checked here: sums, indices, and that all sample data lies inside the
    /// file. Iterating over samples cannot fail afterwards.
    pub fn parse(moof: &'a [u8], offset: u64, movie: &Movie, file_len: u64) -> Result<Self> {
        let root = BoxRef::root_of(moof, offset, b"moof")?;
        let (mut mfhd, mut tracks, mut pssh) = (None, Vec::new(), Vec::new());
        // End of the data of the previous track fragment.
        let mut previous_end = None;
        for child in root.children() {
            let child = child?;
            match &child.kind().0 {
                b"mfhd" => child.once(&mut mfhd)?,
                b"traf" => {
                    let track = TrackFragment::from_box(&child, movie, previous_end, file_len)?;
                    previous_end = Some(track.data_end);
                    tracks.push(track);
                }
                _ if is_pssh(&child) => pssh.push(Pssh::from_box(&child)?),
                _ => {}
            }
        }
        let Some(mfhd) = mfhd else {
            return Err(root.error(ErrorKind::Missing { kind: FourCc::new(b"mfhd") }));
        };
        let mut reader = mfhd.reader();
        reader.version_upto(0)?;
        let sequence = reader.u32("sequence_number")?;
        Ok(Self { root, sequence, tracks, pssh })
    }

    /// Offset of the `moof` in the file.
    pub fn offset(&self) -> u64 {
        self.root.file_offset()
    }

    /// Bytes of the `moof` box.
    pub fn bytes(&self) -> &'a [u8] {
        self.root.bytes()
    }

    /// The root box, for reading boxes that this crate does not.
    pub fn root(&self) -> BoxRef<'a> {
        self.root
    }

    /// Smallest range of file offsets that holds the data of all track fragments;
    /// `None` when there is no data.
    pub fn data_range(&self) -> Option<std::ops::Range<u64>> {
        self.tracks
            .iter()
            .flat_map(TrackFragment::runs)
            .filter(|run| run.data_size > 0)
            .map(|run| run.offset..run.end())
            .reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))
    }
}
